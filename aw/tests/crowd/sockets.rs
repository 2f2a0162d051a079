//! Hundreds who watch: each sees every argument once and in order, whatever the others do.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async, connect_async};

use super::held;
use crate::world::{DebateFor, Dice, World, eventually, in_time, new_id, text};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_watchers_who_come_and_go_see_every_argument_once_and_in_order() {
    const LAST: u64 = 500;
    let world = World::start().await;
    let debate = world.debate("Does everybody see everything?").await;
    let mut dice = Dice::new();
    let here = Arc::new(Semaphore::new(0));
    let watchers: Vec<_> = (0..200)
        .map(|_| {
            let (url, here, dice) = (url(&debate), here.clone(), dice.another());
            tokio::spawn(watch(url, LAST, here, dice))
        })
        .collect();
    let _all = in_time("everybody is here", here.acquire_many(200)).await.unwrap();

    let mut newest = debate.motion.clone();
    for seq in 2..=LAST - 2 {
        let role = if seq % 2 == 0 { "opponent" } else { "proposer" };
        let written = debate.claim(role, &newest, &format!("Word {seq}.")).await;
        newest = text(&written["argument"]["id"]);
    }
    debate.ask("resolution", &newest, "Agreed.").await.created();
    let mut returns = 0;
    for watcher in watchers {
        returns += in_time("everybody sees the end", watcher).await.unwrap();
    }
    assert!(returns > 200, "they hardly ever left: {returns}");
    eventually("all of them have left", async || held(&world).await.1 == 0).await;
}

/// Watches until the last argument, now and then leaving and coming back; says how often.
async fn watch(url: String, last: u64, here: Arc<Semaphore>, mut dice: Dice) -> u64 {
    let (mut seen, mut visits) = (0, 0);
    loop {
        let asked = if seen == 0 { url.clone() } else { format!("{url}&after_seq={seen}") };
        let mut socket = Watcher::connect(&asked).await;
        visits += 1;
        let mut first = socket.event("initial_state").await;
        if visits == 1 {
            here.add_permits(1);
        }
        let mut debate = first["debate"].take();
        let mut news = first["arguments"].take().as_array().unwrap().clone();
        let mut messages_left = dice.below(150);
        loop {
            for argument in &news {
                assert_eq!(argument["seq"], seen + 1);
                seen += 1;
            }
            if seen == last {
                let closing = news.last().unwrap();
                assert_eq!(
                    (&closing["type"], &closing["automatic"]),
                    (&json!("RULING"), &json!(true))
                );
                assert_eq!(debate["state"], "CLOSED");
                return visits - 1;
            }
            if messages_left == 0 {
                break;
            }
            messages_left -= 1;
            let mut event = socket.event("new_argument").await;
            debate = event["debate"].take();
            news = vec![event["argument"].take()];
        }
        // Some say goodbye, some are cut off.
        if dice.below(2) == 0 {
            socket.0.close(None).await.unwrap();
        }
    }
}

/// Nothing follows that could make up for what was missed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_socket_that_opens_while_something_is_committed_sees_it() {
    const COMMIT: Duration = Duration::from_millis(3);
    let world = World::start().await;
    let debate = world.debate("Was I here?").await;
    let mut dice = Dice::new();
    let mut newest = debate.motion.clone();
    for seq in 2..=150 {
        let watchers: Vec<_> = (0..8)
            .map(|_| {
                let (url, mut dice) = (url(&debate), dice.another());
                tokio::spawn(async move {
                    dice.dawdle(COMMIT).await;
                    let mut socket = Watcher::connect(&url).await;
                    let first = socket.event("initial_state").await;
                    let before = first["arguments"].as_array().unwrap().len() as u64;
                    for missing in before + 1..=seq {
                        let event = socket.event("new_argument").await;
                        assert_eq!(event["argument"]["seq"], missing);
                    }
                })
            })
            .collect();
        dice.dawdle(COMMIT).await;
        let role = if seq % 2 == 0 { "opponent" } else { "proposer" };
        let written = debate.claim(role, &newest, &format!("Word {seq}.")).await;
        newest = text(&written["argument"]["id"]);
        for watcher in watchers {
            in_time("it is seen by all", watcher).await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watchers_who_do_not_read_slow_nobody_and_are_dropped() {
    const LAST: u64 = 401;
    let world = World::start().await;
    let debate = world.debate("Who is slow?").await;
    let mut stuck = Vec::new();
    for _ in 0..20 {
        stuck.push(Watcher::connect_narrowly(&debate).await);
    }
    let mut reader = Watcher::connect(&url(&debate)).await;
    reader.event("initial_state").await;
    let reading = tokio::spawn(async move {
        for seq in 2..=LAST {
            assert_eq!(reader.event("new_argument").await["argument"]["seq"], seq);
        }
        reader
    });

    // More than the kernel keeps for somebody who does not read.
    let long = "word ".repeat(2_000);
    let mut newest = debate.motion.clone();
    for seq in 2..=LAST {
        let role = if seq % 2 == 0 { "opponent" } else { "proposer" };
        let began = Instant::now();
        let written = debate.claim(role, &newest, &long).await;
        // The server gives a stuck socket ten seconds; a writer that waited for one would show it.
        assert!(began.elapsed() < Duration::from_secs(8), "a writer was held up");
        newest = text(&written["argument"]["id"]);
    }
    let _reader = in_time("who reads sees everything", reading).await.unwrap();
    eventually("those who do not read are dropped", async || held(&world).await.1 == 1).await;

    // Who was dropped reads what it was sent, then comes back for the rest.
    let mut seen = 0;
    let mut late = stuck.pop().unwrap();
    while let Some(event) = late.any().await {
        if event["event"] == "new_argument" {
            assert_eq!(event["data"]["argument"]["seq"], seen + 1);
            seen += 1;
        } else {
            seen = 1;
        }
    }
    assert!((1..LAST).contains(&seen), "it was never behind: {seen}");
    let mut back = Watcher::connect(&format!("{}&after_seq={seen}", url(&debate))).await;
    let rest = back.event("initial_state").await;
    let rest: Vec<_> =
        rest["arguments"].as_array().unwrap().iter().map(|a| a["seq"].as_u64().unwrap()).collect();
    assert_eq!(rest, (seen + 1..=LAST).collect::<Vec<_>>());
}

#[tokio::test]
async fn the_sockets_of_a_deleted_debate_are_told_and_closed() {
    let world = World::start().await;
    let (debate, other) = (world.debate("Gone").await, world.debate("Kept").await);
    let mut sockets = Vec::new();
    for _ in 0..10 {
        let mut socket = Watcher::connect(&url(&debate)).await;
        socket.event("initial_state").await;
        sockets.push(socket);
    }
    let mut bystander = Watcher::connect(&url(&other)).await;
    bystander.event("initial_state").await;
    world.delete(&format!("/debates/{}", debate.id)).await.ok();
    for socket in &mut sockets {
        assert_eq!(socket.event("debate_deleted").await, json!({"debate_id": debate.id}));
        assert_eq!(socket.end().await, Some(CloseCode::Normal));
    }
    other.claim("opponent", &other.motion, "Still here.").await;
    assert_eq!(bystander.event("new_argument").await["argument"]["seq"], 2);

    let Err(Error::Http(gone)) = connect_async(url(&debate)).await else {
        panic!("a deleted debate was opened");
    };
    assert_eq!(gone.status(), 404);
}

#[tokio::test]
async fn an_unknown_debate_is_told_before_the_upgrade() {
    let world = World::start().await;
    let id = new_id();
    let Err(Error::Http(answer)) =
        connect_async(format!("{}/ws?debate_id={id}", world.url.replace("http", "ws"))).await
    else {
        panic!("an unknown debate was opened");
    };
    assert_eq!(answer.status(), 404);
    let body: Value = serde_json::from_slice(answer.body().as_ref().unwrap()).unwrap();
    assert_eq!(body["error"]["code"], "DEBATE_NOT_FOUND");
    assert_eq!(body["error"]["debate_id"], id.as_str());
    assert_eq!(held(&world).await.1, 0);
}

#[tokio::test]
async fn the_arbitrators_moves_can_be_made_over_a_socket_and_a_refusal_comes_back() {
    let world = World::start().await;
    let debate = world.debate("May I?").await;
    let mut socket = Watcher::connect(&url(&debate)).await;
    socket.event("initial_state").await;

    socket
        .say(json!({"event": "submit_ruling", "data": {"debate_id": debate.id, "content": "No."}}))
        .await;
    let refused = socket.event("error").await["error"].take();
    assert_eq!(refused["code"], "ACTION_NOT_ALLOWED");
    assert_eq!(refused["current_state"], "AWAITING_OPPONENT");
    assert_eq!(refused["last_argument"]["id"], debate.motion.as_str());
    socket.say(json!({"event": "dance", "data": {}})).await;
    assert_eq!(socket.event("error").await["error"]["code"], "INVALID_INPUT");
    socket.0.send(Message::text("{")).await.unwrap();
    assert_eq!(socket.event("error").await["error"]["code"], "INVALID_INPUT");
    let other = json!({"event": "submit_intervention", "data": {"debate_id": new_id()}});
    socket.say(other).await;
    assert_eq!(socket.event("error").await["error"]["code"], "INVALID_INPUT");

    // Sent twice, it is written once; nothing of the above has ended the socket.
    let stop = json!({
        "event": "submit_intervention",
        "data": {"debate_id": debate.id, "client_request_id": new_id()},
    });
    socket.say(stop.clone()).await;
    let stopped = socket.event("new_argument").await;
    assert_eq!(stopped["argument"]["type"], "INTERVENTION");
    assert_eq!(stopped["debate"]["state"], "INTERVENTION_PENDING");
    socket.say(stop).await;
    let ruling = json!({
        "event": "submit_ruling",
        "data": {"debate_id": debate.id, "content": "Enough.", "close": true},
    });
    socket.say(ruling).await;
    let ruled = socket.event("new_argument").await;
    assert_eq!((&ruled["argument"]["seq"], &ruled["argument"]["close"]), (&json!(3), &json!(true)));
    assert_eq!(ruled["debate"]["state"], "CLOSED");
}

#[tokio::test]
async fn a_stopping_server_says_goodbye_to_its_sockets() {
    let world = World::start().await;
    let debate = world.debate("Until when?").await;
    let mut sockets = Vec::new();
    for _ in 0..50 {
        let mut socket = Watcher::connect(&url(&debate)).await;
        socket.event("initial_state").await;
        sockets.push(socket);
    }
    world.begin_to_stop();
    for socket in &mut sockets {
        assert_eq!(socket.end().await, Some(CloseCode::Away));
    }
    in_time("the server stops", world.stop()).await;
}

fn url(debate: &DebateFor<'_>) -> String {
    format!("{}/ws?debate_id={}", debate.world.url.replace("http", "ws"), debate.id)
}

/// Somebody at a socket.
struct Watcher(WebSocketStream<TcpStream>);

impl Watcher {
    async fn connect(url: &str) -> Self {
        let host = url.strip_prefix("ws://").unwrap().split('/').next().unwrap();
        let stream = TcpStream::connect(host).await.unwrap();
        let (socket, _) = in_time("a socket opens", client_async(url, stream)).await.unwrap();
        Watcher(socket)
    }

    /// With little room for what was sent and not read.
    async fn connect_narrowly(debate: &DebateFor<'_>) -> Self {
        let narrow = TcpSocket::new_v4().unwrap();
        narrow.set_recv_buffer_size(4096).unwrap();
        let host = debate.world.url.strip_prefix("http://").unwrap();
        let stream = narrow.connect(host.parse().unwrap()).await.unwrap();
        let (socket, _) = client_async(url(debate), stream).await.unwrap();
        Watcher(socket)
    }

    async fn say(&mut self, what: Value) {
        self.0.send(Message::text(what.to_string())).await.unwrap();
    }

    /// The next event, whatever it is; nothing when the socket has ended.
    async fn any(&mut self) -> Option<Value> {
        loop {
            match in_time("something is told", self.0.next()).await {
                Some(Ok(Message::Text(text))) => return Some(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(_) | Err(_)) | None => return None,
            }
        }
    }

    /// The data of the next event, which must be this one.
    async fn event(&mut self, name: &str) -> Value {
        let mut event = self.any().await.unwrap_or_else(|| panic!("ended instead of {name}"));
        assert_eq!(event["event"], name, "{event}");
        event["data"].take()
    }

    /// How it ended, with nothing more said.
    async fn end(&mut self) -> Option<CloseCode> {
        match in_time("the socket ends", self.0.next()).await {
            Some(Ok(Message::Close(close))) => close.map(|frame| frame.code),
            other => panic!("not closed but {other:?}"),
        }
    }
}
