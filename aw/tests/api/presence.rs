//! Presence: which roles wait in a debate, what each works on, and when it was last seen.

use std::time::{Duration, Instant};

use aw::api::client;
use aw::api::http::Client;
use aw::api::types::SetPresence;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::raw_http;
use crate::world::page_client::see;
use crate::world::{Answer, DebateFor, Socket, World, new_id};

/// How long a poll counts.
const LINGER: Duration = Duration::from_secs(5);

/// The moment at which every story begins.
const BEGINNING: &str = "2026-01-01T00:00:00.000Z";

/// The presence in a debate, which must be the same in the list.
async fn presence(debate: &DebateFor<'_>) -> Value {
    let context = debate.context().await;
    let list = debate.world.get("/debates").await.ok();
    let listed = list["debates"].as_array().unwrap().iter();
    let listed = listed.filter(|listed| listed["id"] == debate.id.as_str()).collect::<Vec<_>>();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["presence"], context["presence"]);
    context["presence"].clone()
}

fn seen(at: &str) -> Value {
    json!({"waiting": false, "last_seen_at": at})
}

fn never() -> Value {
    json!({"waiting": false, "last_seen_at": null})
}

#[tokio::test]
async fn every_write_updates_last_seen_of_its_role() {
    let world = World::start().await;
    let debate = world.debate("Who is here?").await;
    let opened = json!({
        "proposer": seen(BEGINNING), "opponent": never(), "arbitrator": never(),
    });
    assert_eq!(presence(&debate).await, opened);

    world.pass(Duration::from_secs(60));
    debate.claim("opponent", &debate.motion, "I am.").await;
    world.pass(Duration::from_secs(60));
    debate.intervene().await.created();
    world.pass(Duration::from_secs(60));
    // What is refused was not written.
    debate.try_claim("proposer", &new_id(), "Me too.").await.refused(404, "ARGUMENT_NOT_FOUND");
    let now = json!({
        "proposer": seen(BEGINNING),
        "opponent": seen("2026-01-01T00:01:00.000Z"),
        "arbitrator": seen("2026-01-01T00:02:00.000Z"),
    });
    assert_eq!(presence(&debate).await, now);
}

#[tokio::test]
async fn a_refused_wait_leaves_no_presence() {
    let world = World::start().await;
    let debate = world.debate("Who is here?").await;
    let wait = format!("/debates/{}/wait?role=opponent&argument_id={}", debate.id, new_id());
    world.get(&wait).await.refused(404, "ARGUMENT_NOT_FOUND");
    debate.wait("judge", None, 1).await.refused(400, "INVALID_INPUT");
    assert_eq!(presence(&debate).await["opponent"], never());
}

#[tokio::test]
async fn a_poll_counts_as_waiting_for_five_seconds_and_sockets_receive_both_changes() {
    let world = World::start().await;
    let (debate, other) = (world.debate("Here").await, world.debate("There").await);
    let (mut page, begin) = Socket::of(&world, &debate.id).await;
    let (mut elsewhere, _) = Socket::of(&world, &other.id).await;
    let mut feed = Socket::feed(&world).await;
    assert_eq!(begin["presence"]["opponent"], never());

    world.pass(Duration::from_secs(10));
    let began = Instant::now();
    debate.poll("opponent", Some(&debate.motion)).await.ok();
    let at = "2026-01-01T00:00:10.000Z";
    let mut now = json!({
        "proposer": seen(BEGINNING),
        "opponent": {"waiting": true, "last_seen_at": at},
        "arbitrator": never(),
    });
    let event = json!({"debate_id": debate.id, "presence": now});
    assert_eq!(page.hears("presence").await, event);
    assert_eq!(feed.hears("presence").await, event);
    assert_eq!(Socket::of(&world, &debate.id).await.1["presence"], now);

    // The timer sends it, without another request.
    now["opponent"] = seen(at);
    let event = json!({"debate_id": debate.id, "presence": now});
    assert_eq!(page.hears("presence").await, event);
    assert!(began.elapsed() >= LINGER, "after {:?}", began.elapsed());
    assert_eq!(feed.hears("presence").await, event);
    assert_eq!(presence(&debate).await, now);
    other.claim("opponent", &other.motion, "No.").await;
    elsewhere.hears("new_argument").await;
}

#[tokio::test]
async fn a_dead_clients_wait_ends_its_presence() {
    let world = World::start().await;
    let debate = world.debate("Are you there?").await;
    let (mut page, _) = Socket::of(&world, &debate.id).await;
    let mut client = TcpStream::connect(raw_http::address(&world)).await.unwrap();
    let request = format!(
        "GET /debates/{}/wait?role=proposer HTTP/1.1\r\nhost: {}\r\n\r\n",
        debate.id,
        raw_http::address(&world)
    );
    client.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(page.hears("presence").await["presence"]["proposer"]["waiting"], true);
    drop(client);
    let event = page.hears("presence").await;
    assert_eq!(event["presence"]["proposer"]["waiting"], false);
    assert_eq!(presence(&debate).await["proposer"]["waiting"], false);
    assert_eq!(world.held().await.0, 0);
}

/// Sets or clears the label of a role.
async fn set(debate: &DebateFor<'_>, body: Value) -> Answer {
    let path = format!("/debates/{}/presence", debate.id);
    Answer::to(debate.world.request(Method::PUT, &path).json(&body)).await
}

#[tokio::test]
async fn a_label_is_renewed_since_its_beginning_and_sockets_receive_each_change() {
    let world = World::start().await;
    let debate = world.debate("What do you do?").await;
    let (mut page, _) = Socket::of(&world, &debate.id).await;
    let mut feed = Socket::feed(&world).await;
    for (label, at) in [
        ("reads the plan", "2026-01-01T00:00:30.000Z"),
        // The same label again is no news.
        ("reads the plan", "2026-01-01T00:01:00.000Z"),
        ("writes", "2026-01-01T00:01:30.000Z"),
    ] {
        let before = presence(&debate).await;
        world.pass(Duration::from_secs(30));
        let answer = set(&debate, json!({"role": "opponent", "label": label})).await.ok();
        let now = json!({
            "proposer": seen(BEGINNING),
            "opponent": {
                "waiting": false, "last_seen_at": at,
                "working": {"label": label, "since": "2026-01-01T00:00:30.000Z"},
            },
            "arbitrator": never(),
        });
        assert_eq!(answer, json!({"presence": now}));
        assert_eq!(presence(&debate).await, now);
        if before["opponent"]["working"]["label"] != label {
            let event = json!({"debate_id": debate.id, "presence": now});
            assert_eq!(page.hears("presence").await, event);
            assert_eq!(feed.hears("presence").await, event);
        }
    }
    let (_, begin) = Socket::of(&world, &debate.id).await;
    assert_eq!(begin["presence"]["opponent"]["working"]["label"], "writes");

    for cleared in [json!({"role": "opponent"}), json!({"role": "opponent", "label": null})] {
        let now = set(&debate, cleared).await.ok();
        assert_eq!(now["presence"]["opponent"], seen("2026-01-01T00:01:30.000Z"));
    }
    assert_eq!(page.hears("presence").await["presence"]["opponent"]["working"], Value::Null);
    assert_eq!(feed.hears("presence").await["presence"]["opponent"]["working"], Value::Null);
}

#[tokio::test]
async fn a_wrong_label_role_or_debate_is_a_clear_error() {
    let world = World::start().await;
    let debate = world.debate("What do you do?").await;
    set(&debate, json!({"role": "opponent", "label": "ế".repeat(80)})).await.ok();
    for (body, field, why) in [
        (
            json!({"role": "opponent", "label": "e".repeat(81)}),
            "label",
            "longer than 80 characters",
        ),
        (json!({"role": "opponent", "label": "two\nlines"}), "label", "must be one line"),
        (json!({"role": "opponent", "label": " "}), "label", "must not be blank"),
        (json!({"role": "observer", "label": "reads"}), "role", "proposer, opponent"),
        (json!({"label": "reads"}), "role", "missing field `role`"),
    ] {
        let error = set(&debate, body.clone()).await.refused(400, "INVALID_INPUT");
        assert_eq!(error["field"], field, "{body}: {error}");
        assert!(error["message"].as_str().unwrap().contains(why), "{body}: {error}");
    }
    let kept = &presence(&debate).await["opponent"]["working"]["label"];
    assert_eq!(*kept, "ế".repeat(80), "what is refused changes nothing");
    let nowhere = DebateFor { world: &world, id: new_id(), motion: new_id() };
    set(&nowhere, json!({"role": "opponent", "label": "x"})).await.refused(404, "DEBATE_NOT_FOUND");
}

#[tokio::test]
async fn the_page_and_the_list_show_what_a_role_works_on_without_a_script() {
    let world = World::start().await;
    let debate = world.debate("What do you do?").await;
    let label = "reads <b>{time}</b> & thinks";
    set(&debate, json!({"role": "opponent", "label": label})).await.ok();
    world.pass(Duration::from_secs(125));
    for path in [format!("/debate/{}", debate.id), "/".to_owned()] {
        let english = see(&world, &path, &[]).await.body;
        let shown = "<bdi>reads &lt;b&gt;{time}&lt;/b&gt; &amp; thinks</bdi>";
        assert!(english.contains(&format!("works: {shown}, for 2 min")), "{path}: {english}");
        let vietnamese = see(&world, &path, &[("accept-language", "vi")]).await.body;
        let words = format!("đang làm: {shown}, đã 2 phút");
        assert!(vietnamese.contains(&words), "{path}: {vietnamese}");
    }
}

#[tokio::test]
async fn the_runners_client_sets_a_label() {
    let world = World::start().await;
    let debate = world.debate("What do you do?").await;
    let (url, id) = (world.url.clone(), debate.id.clone());
    let answer = tokio::task::spawn_blocking(move || {
        let body = SetPresence { role: "proposer".to_owned(), label: Some("reads".to_owned()) };
        Client::new(&url, None).for_runner().call(&client::set_presence(&id, body)).unwrap().data
    });
    let working = answer.await.unwrap().presence.proposer.working.unwrap();
    assert_eq!((working.label.as_str(), working.since.to_string().as_str()), ("reads", BEGINNING));
}
