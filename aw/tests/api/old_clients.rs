//! The clients of the system that this one replaces, request for request.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::raw_http;
use crate::world::{Answer, World, new_id, text};

/// Its command line: it polls, and takes `data.argument.id` for the next poll.
struct Cli<'a> {
    world: &'a World,
    debate: &'a str,
    role: &'static str,
    /// The last argument it saw.
    seen: String,
}

impl Cli<'_> {
    fn path(&self, rest: &str) -> String {
        format!("/debates/{}/{rest}", self.debate)
    }

    /// One of its polls, which it sends every two seconds.
    async fn poll(&mut self) -> Value {
        let query = [("argument_id", self.seen.as_str()), ("role", self.role)];
        let request = self.world.request(reqwest::Method::GET, &self.path("poll")).query(&query);
        let data = Answer::to(request).await.ok();
        if data["has_new_argument"] == true {
            self.seen = text(&data["argument"]["id"]);
        }
        data
    }

    /// Polls and expects this action and an argument of this type.
    async fn polls(&mut self, action: &str, kind: &str) {
        let data = self.poll().await;
        assert_eq!(data["has_new_argument"], true, "{data}");
        assert_eq!(data["action"], action);
        assert_eq!(data["argument"]["type"], kind);
    }

    /// Polls and expects nothing new.
    async fn hears_nothing(&mut self) {
        assert_eq!(self.poll().await["has_new_argument"], false);
    }

    /// Submits what answers the last argument it saw, and waits on its own from then.
    async fn submits(&mut self, rest: &str, mut body: Value) -> Value {
        body["target_id"] = json!(self.seen);
        body["client_request_id"] = json!(new_id());
        let data = self.world.post(&self.path(rest), body).await.created();
        self.seen = text(&data["argument"]["id"]);
        data
    }
}

/// Its page: one socket.
struct Page {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl Page {
    async fn open(world: &World, debate: &str) -> Page {
        let url = format!("ws://{}/ws?debate_id={debate}", raw_http::address(world));
        Page { socket: connect_async(url).await.unwrap().0 }
    }

    /// The data of the next message, which must be this event. Who is present it does not know of,
    /// and passes over.
    async fn hears(&mut self, event: &str) -> Value {
        let next = async {
            loop {
                match self.socket.next().await.expect("the socket is open").unwrap() {
                    Message::Text(text) => {
                        let message = serde_json::from_str::<Value>(&text).unwrap();
                        if message["event"] != "presence" {
                            break message;
                        }
                    }
                    Message::Ping(_) | Message::Pong(_) => {}
                    other => panic!("{other:?}"),
                }
            }
        };
        let mut message = timeout(Duration::from_secs(10), next).await.expect("a message comes");
        assert_eq!(message["event"], event, "{message}");
        message["data"].take()
    }

    async fn sends(&mut self, event: &str, data: Value) {
        let message = json!({"event": event, "data": data}).to_string();
        self.socket.send(Message::text(message)).await.unwrap();
    }
}

#[tokio::test]
async fn a_whole_debate_of_the_old_command_line_and_the_old_page() {
    let world = World::start().await;
    let debate = new_id();
    let mut created = world
        .post(
            "/debates",
            json!({
                "debate_id": debate, "title": "Old and new", "debate_type": "coding_plan_debate",
                "motion_content": "Our plan.", "client_request_id": new_id(),
            }),
        )
        .await
        .created();
    assert_eq!(created["debate"]["id"], debate);
    // Only lists and the answer to an opening have it.
    created["debate"].as_object_mut().unwrap().remove("slug").unwrap();
    let motion = text(&created["argument"]["id"]);

    let mut page = Page::open(&world, &debate).await;
    let begin = page.hears("initial_state").await;
    assert_eq!(begin["debate"], created["debate"]);
    assert_eq!(begin["arguments"], json!([created["argument"]]));

    let mut proposer = Cli { world: &world, debate: &debate, role: "proposer", seen: motion };
    let mut opponent =
        Cli { world: &world, debate: &debate, role: "opponent", seen: String::new() };
    proposer.hears_nothing().await;
    opponent.polls("respond", "MOTION").await;
    let claim = opponent.submits("arguments", json!({"role": "opponent", "content": "No."})).await;
    let message = page.hears("new_argument").await;
    assert_eq!((&message["debate"], &message["argument"]), (&claim["debate"], &claim["argument"]));
    opponent.hears_nothing().await;
    proposer.polls("respond", "CLAIM").await;
    proposer.submits("arguments", json!({"role": "proposer", "content": "Yes."})).await;
    page.hears("new_argument").await;
    opponent.polls("respond", "CLAIM").await;
    opponent.submits("arguments", json!({"role": "opponent", "content": "Still no."})).await;
    page.hears("new_argument").await;
    proposer.polls("respond", "CLAIM").await;

    let appeal = proposer.submits("appeal", json!({"content": "1. A 2. B"})).await;
    assert_eq!(page.hears("new_argument").await["debate"]["state"], "AWAITING_ARBITRATOR");
    opponent.polls("wait_for_ruling", "APPEAL").await;
    page.sends("submit_ruling", json!({"debate_id": debate, "content": "B"})).await;
    let ruling = page.hears("new_argument").await;
    assert_eq!(ruling["argument"]["type"], "RULING");
    assert_eq!(ruling["argument"]["parent_id"], appeal["argument"]["id"]);
    assert_eq!(ruling["argument"]["close"], false);
    proposer.polls("align_to_ruling", "RULING").await;
    opponent.polls("wait_for_proposer", "RULING").await;

    page.sends("submit_intervention", json!({"debate_id": debate})).await;
    let stop = page.hears("new_argument").await;
    assert_eq!(stop["argument"]["type"], "INTERVENTION");
    assert_eq!(stop["argument"]["content"], "");
    assert_eq!(stop["debate"]["state"], "INTERVENTION_PENDING");
    proposer.polls("wait_for_ruling", "INTERVENTION").await;
    opponent.polls("wait_for_ruling", "INTERVENTION").await;
    let go_on = json!({"debate_id": debate, "content": "Go on.", "close": false});
    page.sends("submit_ruling", go_on).await;
    page.hears("new_argument").await;
    proposer.polls("align_to_ruling", "RULING").await;

    let done = proposer.submits("resolution", json!({"content": "Done."})).await;
    assert_eq!(done["debate"]["state"], "CLOSED");
    assert_eq!(page.hears("new_argument").await["argument"]["type"], "RESOLUTION");
    let closing = page.hears("new_argument").await;
    assert_eq!(closing["argument"]["type"], "RULING");
    assert_eq!(closing["argument"]["close"], true);
    assert_eq!(closing["debate"]["state"], "CLOSED");
    opponent.polls("debate_closed", "RULING").await;

    // A page that is opened now shows all of it, in order.
    let mut late = Page::open(&world, &debate).await;
    let seqs: Vec<u64> = late.hears("initial_state").await["arguments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|argument| argument["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seqs, (1..=10).collect::<Vec<u64>>());
}

#[tokio::test]
async fn the_old_page_closes_a_debate_with_a_ruling() {
    let world = World::start().await;
    let debate = world.debate("Old page").await;
    let mut page = Page::open(&world, &debate.id).await;
    page.hears("initial_state").await;
    let why = json!({"debate_id": debate.id, "content": "Enough."});
    page.sends("submit_intervention", why).await;
    assert_eq!(page.hears("new_argument").await["argument"]["content"], "Enough.");
    let close = json!({"debate_id": debate.id, "content": "Closed.", "close": true});
    page.sends("submit_ruling", close).await;
    let closed = page.hears("new_argument").await;
    assert_eq!(closed["argument"]["close"], true);
    assert_eq!(closed["debate"]["state"], "CLOSED");
}

#[tokio::test]
async fn the_old_arbitrator_rules_and_intervenes_without_ids() {
    let world = World::start().await;
    let debate = world.debate("Old arbitrator").await;
    let stop = debate.intervene().await.created();
    assert_eq!(stop["argument"]["content"], "");
    let ruling = debate.rule(json!({"content": "Go on.", "close": false})).await.created();
    assert_eq!(ruling["argument"]["parent_id"], stop["argument"]["id"]);
    assert_eq!(ruling["debate"]["state"], "AWAITING_PROPOSER");
    debate.intervene().await.created();
    let closed = debate.rule(json!({"content": "Closed.", "close": true})).await.created();
    assert_eq!(closed["debate"]["state"], "CLOSED");
}

#[tokio::test]
async fn a_refused_message_returns_an_error_and_the_socket_stays_open() {
    let world = World::start().await;
    let debate = world.debate("Old page").await;
    let other = world.debate("Another").await;
    let before = world.written();
    let mut page = Page::open(&world, &debate.id).await;
    page.hears("initial_state").await;
    for (event, data, code) in [
        ("submit_ruling", json!({"debate_id": debate.id, "content": "B"}), "ACTION_NOT_ALLOWED"),
        ("submit_ruling", json!({"debate_id": debate.id, "content": " "}), "INVALID_INPUT"),
        ("submit_ruling", json!({"debate_id": debate.id}), "INVALID_INPUT"),
        ("submit_ruling", json!({"content": "B"}), "INVALID_INPUT"),
        ("submit_intervention", json!({"debate_id": "x"}), "INVALID_INPUT"),
        ("submit_intervention", json!({"debate_id": other.id}), "INVALID_INPUT"),
        ("submit_intervention", json!({"debate_id": debate.id, "content": 5}), "INVALID_INPUT"),
        ("submit_argument", json!({"debate_id": debate.id}), "INVALID_INPUT"),
        (
            "submit_intervention",
            json!({"debate_id": debate.id, "content": "a".repeat(10_241)}),
            "CONTENT_TOO_LARGE",
        ),
    ] {
        page.sends(event, data).await;
        let error = page.hears("error").await;
        assert_eq!(error["error"]["code"], code, "{event}: {error}");
        assert!(error["error"]["message"].is_string());
    }
    for broken in ["", "null", "[", "{\"event\": 1}", "{}"] {
        page.socket.send(Message::text(broken)).await.unwrap();
        assert_eq!(page.hears("error").await["error"]["code"], "INVALID_INPUT", "{broken}");
    }
    page.socket.send(Message::binary(vec![1, 2, 3])).await.unwrap();
    assert_eq!(page.hears("error").await["error"]["code"], "INVALID_INPUT");
    assert_eq!(world.written(), before);

    page.sends("submit_intervention", json!({"debate_id": debate.id})).await;
    page.hears("new_argument").await;
    page.sends("submit_intervention", json!({"debate_id": debate.id})).await;
    let error = page.hears("error").await;
    assert_eq!(error["error"]["code"], "ACTION_NOT_ALLOWED");
    assert_eq!(error["error"]["current_state"], "INTERVENTION_PENDING");
    assert_eq!(error["error"]["allowed_roles"], json!(["arbitrator"]));
}

#[tokio::test]
async fn a_socket_that_sends_again_writes_once() {
    let world = World::start().await;
    let debate = world.debate("Old page").await;
    let mut page = Page::open(&world, &debate.id).await;
    page.hears("initial_state").await;
    let stop = json!({"debate_id": debate.id, "client_request_id": new_id()});
    page.sends("submit_intervention", stop.clone()).await;
    page.sends("submit_intervention", stop).await;
    let go_on = json!({"debate_id": debate.id, "content": "Go on."});
    page.sends("submit_ruling", go_on).await;
    assert_eq!(page.hears("new_argument").await["argument"]["seq"], 2);
    assert_eq!(page.hears("new_argument").await["argument"]["seq"], 3);
    assert_eq!(world.written()[2], 3);
}

#[tokio::test]
async fn a_socket_starts_after_its_seq_and_receives_a_deletion() {
    let world = World::start().await;
    let debate = world.debate("Old page").await;
    debate.claim("opponent", &debate.motion, "No.").await;
    for (after, seqs) in [("0", &[1, 2][..]), ("1", &[2]), ("2", &[]), ("99", &[])] {
        let mut page = Page::open(&world, &format!("{}&after_seq={after}", debate.id)).await;
        let begin = page.hears("initial_state").await;
        let found: Vec<u64> = begin["arguments"]
            .as_array()
            .unwrap()
            .iter()
            .map(|argument| argument["seq"].as_u64().unwrap())
            .collect();
        assert_eq!(found, seqs, "{after}");
    }
    // A number beyond all arguments is a place after the last one, however large.
    let mut far = Page::open(&world, &format!("{}&after_seq={}", debate.id, u64::MAX)).await;
    assert_eq!(far.hears("initial_state").await["arguments"], json!([]));

    let mut page = Page::open(&world, &debate.id).await;
    page.hears("initial_state").await;
    world.delete(&format!("/debates/{}", debate.id)).await.ok();
    assert_eq!(page.hears("debate_deleted").await, json!({"debate_id": debate.id}));
    let end = timeout(Duration::from_secs(10), page.socket.next()).await.expect("it closes");
    assert!(matches!(end, None | Some(Ok(Message::Close(_)) | Err(_))), "{end:?}");
}

#[tokio::test]
async fn an_unknown_debate_is_refused_before_the_upgrade() {
    use tokio_tungstenite::tungstenite::Error;
    let world = World::start().await;
    let url = format!("ws://{}/ws?debate_id={}", raw_http::address(&world), new_id());
    let Err(Error::Http(answer)) = connect_async(url).await else { panic!("it was upgraded") };
    assert_eq!(answer.status().as_u16(), 404);
    let body: Value = serde_json::from_slice(answer.body().as_ref().unwrap()).unwrap();
    assert_eq!(body["error"]["code"], "DEBATE_NOT_FOUND");
}

#[tokio::test]
async fn a_client_that_reads_one_argument_per_poll_gets_the_newest() {
    let world = World::start().await;
    let debate = world.debate("Old and new").await;
    let claim = debate.claim("opponent", &debate.motion, "No.").await;
    let claim = text(&claim["argument"]["id"]);
    debate.ask("appeal", &claim, "1. A 2. B").await.created();
    debate.rule(json!({"content": "B"})).await.created();
    let mut opponent = Cli { world: &world, debate: &debate.id, role: "opponent", seen: claim };
    opponent.polls("wait_for_proposer", "RULING").await;
    opponent.hears_nothing().await;
}
