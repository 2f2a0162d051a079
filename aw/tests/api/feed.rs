//! `/ws` without a debate: all debates, live.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use crate::world::driver::claim;
use crate::world::{Socket, World, in_time, text};

#[tokio::test]
async fn a_feed_sends_every_new_changed_and_deleted_debate() {
    let world = World::start().await;
    let before = world.debate("From before").await;
    let mut feed = Socket::feed(&world).await;
    let debate = world.debate("Keep one SQLite file?").await;
    assert_is_as_listed(feed.hears("debate_created").await, &world).await;

    debate.claim("opponent", &debate.motion, "No.").await;
    let event = feed.hears("debate_updated").await;
    assert_eq!(event["debate"]["id"], debate.id.as_str());
    assert_eq!(event["debate"]["state"], "AWAITING_PROPOSER");
    assert_eq!(event["last_argument"]["seq"], 2);
    assert_is_as_listed(event, &world).await;
    before.intervene().await.created();
    let event = feed.hears("debate_updated").await;
    assert_eq!(event["debate"]["id"], before.id.as_str());
    assert_eq!(event["last_argument"]["type"], "INTERVENTION");
    assert_is_as_listed(event, &world).await;

    world.delete(&format!("/debates/{}", debate.id)).await.ok();
    assert_eq!(feed.hears("debate_deleted").await, json!({"debate_id": debate.id}));
    // It goes on.
    before.rule(json!({"content": "Enough.", "close": true})).await.created();
    assert_eq!(feed.hears("debate_updated").await["debate"]["state"], "CLOSED");
}

/// The event has the same data as the list.
async fn assert_is_as_listed(event: Value, world: &World) {
    let list = world.get("/debates").await.ok();
    let listed = list["debates"].as_array().unwrap().iter();
    let mut listed = listed.filter(|listed| listed["id"] == event["debate"]["id"]);
    let mut listed = listed.next().unwrap().clone();
    let last_argument = listed["last_argument"].take();
    let presence = listed["presence"].take();
    let fields = listed.as_object_mut().unwrap();
    fields.remove("last_argument");
    fields.remove("presence");
    assert!(last_argument.get("content").is_none());
    let expected = json!({"debate": listed, "presence": presence, "last_argument": last_argument});
    assert_eq!(event, expected);
}

#[tokio::test]
async fn a_request_that_changes_nothing_sends_no_event() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let body = claim("opponent", &debate.motion, "No.");
    let path = format!("/debates/{}/arguments", debate.id);
    world.post(&path, body.clone()).await.created();
    let mut feed = Socket::feed(&world).await;
    world.post(&path, body).await.ok();
    debate.try_claim("opponent", &debate.motion, "Again.").await.refused(403, "ACTION_NOT_ALLOWED");
    debate.context().await;
    world.post("/documents", json!({"summary": "s", "content": "c"})).await.created();
    let next = world.debate("Next").await;
    assert_eq!(feed.hears("debate_created").await["debate"]["id"], next.id.as_str());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_feed_misses_nothing_and_ends_with_the_newest_state() {
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
            let event = feed.next().await;
            let data = &event["data"];
            if event["event"] == "debate_deleted" {
                let id = text(&data["debate_id"]);
                newest.remove(&id);
                deleted.insert(id);
                continue;
            }
            let seq = data["last_argument"]["seq"].as_u64().unwrap();
            let before = newest.insert(text(&data["debate"]["id"]), seq);
            match event["event"].as_str().unwrap() {
                "debate_created" => assert_eq!(before, None, "created twice: {event}"),
                "debate_updated" => assert!(before.is_some_and(|it| it <= seq), "{event}"),
                other => panic!("{other}: {event}"),
            }
        }
    };
    let all = async { tokio::join!(some(0), some(1), some(2), some(3), watching) };
    in_time("everything is written and event", all).await;
}

#[tokio::test]
async fn a_feed_refuses_messages_of_its_client() {
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
async fn a_request_without_an_upgrade_is_refused() {
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
