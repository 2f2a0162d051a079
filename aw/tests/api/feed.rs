//! `/ws` without a debate: all debates, live.

use std::collections::{HashMap, HashSet};

use aw::settings::{Guard, Limits};
use serde_json::{Value, json};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::by_hand;
use crate::world::{Socket, World, in_time, new_id, text};

#[tokio::test]
async fn a_feed_tells_of_every_debate_as_it_opens_moves_and_goes() {
    let world = World::start().await;
    let before = world.debate("From before").await;
    let mut feed = Socket::feed(&world).await;
    let debate = world.debate("Keep one SQLite file?").await;
    assert_told(feed.hears("debate_created").await, &world).await;

    debate.claim("opponent", &debate.motion, "No.").await;
    let told = feed.hears("debate_updated").await;
    assert_eq!(told["debate"]["id"], debate.id.as_str());
    assert_eq!(told["debate"]["state"], "AWAITING_PROPOSER");
    assert_eq!(told["last_argument"]["seq"], 2);
    assert_told(told, &world).await;
    before.intervene().await.created();
    let told = feed.hears("debate_updated").await;
    assert_eq!(told["debate"]["id"], before.id.as_str());
    assert_eq!(told["last_argument"]["type"], "INTERVENTION");
    assert_told(told, &world).await;

    world.delete(&format!("/debates/{}", debate.id)).await.ok();
    assert_eq!(feed.hears("debate_deleted").await, json!({"debate_id": debate.id}));
    // It goes on.
    before.rule(json!({"content": "Enough.", "close": true})).await.created();
    assert_eq!(feed.hears("debate_updated").await["debate"]["state"], "CLOSED");
}

/// What was told of a debate is what the list says of it now, and nothing else.
async fn assert_told(told: Value, world: &World) {
    let list = world.get("/debates").await.ok();
    let listed = list["debates"].as_array().unwrap().iter();
    let mut listed = listed.filter(|listed| listed["id"] == told["debate"]["id"]);
    let mut listed = listed.next().unwrap().clone();
    let last_argument = listed["last_argument"].take();
    let presence = listed["presence"].take();
    let fields = listed.as_object_mut().unwrap();
    fields.remove("last_argument");
    fields.remove("presence");
    assert!(last_argument.get("content").is_none());
    let expected = json!({"debate": listed, "presence": presence, "last_argument": last_argument});
    assert_eq!(told, expected);
}

#[tokio::test]
async fn what_changed_nothing_is_not_told() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let claim = json!({
        "role": "opponent", "target_id": debate.motion, "content": "No.",
        "client_request_id": new_id(),
    });
    let path = format!("/debates/{}/arguments", debate.id);
    world.post(&path, claim.clone()).await.created();
    let mut feed = Socket::feed(&world).await;
    world.post(&path, claim).await.ok();
    debate.try_claim("opponent", &debate.motion, "Again.").await.refused(403, "ACTION_NOT_ALLOWED");
    debate.context().await;
    world.post("/documents", json!({"summary": "s", "content": "c"})).await.created();
    let next = world.debate("Next").await;
    assert_eq!(feed.hears("debate_created").await["debate"]["id"], next.id.as_str());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_feed_misses_nothing_and_its_last_word_is_the_newest() {
    const DEBATES: usize = 40;
    const ROUNDS: u64 = 25;
    let world = World::start().await;
    let mut feed = Socket::feed(&world).await;
    // Several at a time, so that their commits mix; every fourth debate is deleted.
    let some = async |first: usize| {
        for number in (first..DEBATES).step_by(4) {
            let debate = world.debate(&format!("Debate {number}")).await;
            let mut newest = debate.motion.clone();
            for seq in 2..=ROUNDS {
                let role = if seq % 2 == 0 { "opponent" } else { "proposer" };
                newest = text(&debate.claim(role, &newest, "x").await["argument"]["id"]);
            }
            if first == 0 {
                world.delete(&format!("/debates/{}", debate.id)).await.ok();
            }
        }
    };
    let watching = async {
        let mut newest = HashMap::<String, u64>::new();
        let mut deleted = HashSet::new();
        loop {
            let finished = newest.values().filter(|seq| **seq == ROUNDS).count();
            if deleted.len() == DEBATES / 4 && finished == DEBATES - DEBATES / 4 {
                break;
            }
            let told = feed.next().await;
            let data = &told["data"];
            if told["event"] == "debate_deleted" {
                let id = text(&data["debate_id"]);
                newest.remove(&id);
                deleted.insert(id);
                continue;
            }
            let seq = data["last_argument"]["seq"].as_u64().unwrap();
            let before = newest.insert(text(&data["debate"]["id"]), seq);
            match told["event"].as_str().unwrap() {
                "debate_created" => assert_eq!(before, None, "created twice: {told}"),
                "debate_updated" => assert!(before.is_some_and(|it| it <= seq), "{told}"),
                other => panic!("{other}: {told}"),
            }
        }
    };
    let all = async { tokio::join!(some(0), some(1), some(2), some(3), watching) };
    in_time("everything is written and told", all).await;
}

#[tokio::test]
async fn a_feed_only_tells() {
    let world = World::start().await;
    let debate = world.debate("May I?").await;
    let before = world.written();
    let mut feed = Socket::feed(&world).await;
    let stop = json!({"event": "submit_intervention", "data": {"debate_id": debate.id}});
    for said in [stop.to_string(), "{".to_owned(), String::new()] {
        feed.says(&said).await;
        let error = feed.hears("error").await["error"].take();
        assert_eq!(error["code"], "INVALID_INPUT");
        assert!(text(&error["message"]).contains("/ws?debate_id="), "{error}");
    }
    assert_eq!(world.written(), before);
    debate.intervene().await.created();
    feed.hears("debate_updated").await;
}

#[tokio::test]
async fn feeds_are_counted_and_limited_like_every_socket() {
    let limits = Limits { sockets: 2, ..Limits::default() };
    let world = World::with(Guard::default(), limits).await;
    let debate = world.debate("Room for two?").await;
    let _feed = Socket::feed(&world).await;
    let _page = Socket::of(&world, &debate.id).await;
    assert_eq!(world.held().await.1, 2);
    let metrics = world.request(reqwest::Method::GET, "/metrics").send().await.unwrap();
    let metrics = metrics.text().await.unwrap();
    assert!(metrics.contains("aw_open_sockets 2"), "{metrics}");
    let url = format!("ws://{}/ws", by_hand::address(&world));
    let Err(Error::Http(busy)) = connect_async(url).await else { panic!("a third was let in") };
    assert_eq!(busy.status(), 503);
}

#[tokio::test]
async fn a_feed_wants_the_token_and_no_foreign_page() {
    let guard = Guard::sharing("secret");
    let world = World::with(guard, Limits::default()).await;
    let url = format!("ws://{}/ws", by_hand::address(&world));
    let with = |name: &'static str, value: &'static str| {
        let mut request = url.clone().into_client_request().unwrap();
        request.headers_mut().insert(name, value.parse().unwrap());
        request
    };
    for (request, status) in [
        (url.clone().into_client_request().unwrap(), 401),
        (with("authorization", "Bearer wrong"), 401),
        (with("origin", "http://evil.test"), 403),
    ] {
        let Err(Error::Http(refused)) = connect_async(request).await else {
            panic!("it was let in")
        };
        assert_eq!(refused.status(), status);
    }
    connect_async(with("authorization", "Bearer secret")).await.unwrap();
}

#[tokio::test]
async fn a_stopping_server_says_goodbye_to_its_feeds() {
    let world = World::start().await;
    let mut feeds = Vec::new();
    for _ in 0..20 {
        feeds.push(Socket::feed(&world).await);
    }
    world.begin_to_stop();
    for feed in &mut feeds {
        assert_eq!(feed.ends().await, Some(CloseCode::Away));
    }
    in_time("the server stops", world.stop()).await;
}

#[tokio::test]
async fn a_request_that_is_no_upgrade_is_told_so() {
    let world = World::start().await;
    for path in ["/ws", "/ws?debate_id="] {
        let error = world.get(path).await.refused(400, "INVALID_INPUT");
        assert_eq!(error["field"], "upgrade");
    }
    let error = world.get("/ws?html=perhaps").await.refused(400, "INVALID_INPUT");
    assert_eq!(error["field"], "html");
    let debate = world.debate("As a page?").await;
    let path = format!("/ws?debate_id={}&html=1", debate.id);
    Socket::open(&world, &path).await.hears("initial_state").await;
}
