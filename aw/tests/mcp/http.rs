//! `/mcp`: both revisions, who is let in, what is held and what is let go.

use std::time::{Duration, Instant};

use aw::settings::{Guard, Limits};
use reqwest::Method;
use serde_json::{Value, json};

use super::ours::{CURRENT, Client, OLDER, PREVIOUS, messages};
use crate::world::{Answer, World, eventually, in_time, new_id, text};

#[tokio::test]
async fn both_revisions_are_spoken_and_the_one_before() {
    let world = World::start().await;
    for revision in [PREVIOUS, OLDER] {
        let mut client = Client::of(&world, "").speaking(revision);
        let hello = client.initialize().await;
        let hello = &hello["result"];
        assert_eq!(hello["protocolVersion"], revision);
        assert_eq!(hello["serverInfo"]["name"], "aw");
        assert!(hello["instructions"].as_str().unwrap().contains("next"), "{hello}");
        client.debate("An older client").await;
        let ping = client.ask("ping", json!({})).await;
        assert_eq!(ping, json!({}));
        client.ask("logging/setLevel", json!({"level": "info"})).await;
    }
    let client = Client::of(&world, "");
    let found = client.ask("server/discover", json!({})).await;
    let versions = found["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&CURRENT.into()) && versions.contains(&PREVIOUS.into()), "{found}");
    for able in ["tools", "prompts", "resources"] {
        assert!(found["capabilities"][able].is_object(), "{found}");
    }
    client.debate("A current client").await;
    let unknown = client.refused("debates/delete", json!({})).await;
    assert_eq!(unknown["code"], -32601);
}

#[tokio::test]
async fn a_foreign_origin_or_host_is_refused_with_our_error() {
    let public = "https://debates.example.org".parse().unwrap();
    let world =
        World::with(Guard { public: vec![public], ..Guard::default() }, Limits::default()).await;
    let host = world.url.trim_start_matches("http://").to_owned();
    let port = host.rsplit_once(':').unwrap().1;
    let client = Client::of(&world, "");
    let sent = |name: &'static str, value: String| {
        client.message(1, "tools/list", json!({})).header(name, value)
    };
    for (name, value, reason) in [
        ("origin", "http://evil.test".to_owned(), "origin"),
        ("origin", "null".to_owned(), "origin"),
        ("origin", format!("http://localhost:{port}"), "origin"),
        ("origin", format!("https://{host}"), "origin"),
        ("host", "evil.test".to_owned(), "host"),
        ("host", format!("evil.test:{port}"), "host"),
        ("sec-fetch-site", "cross-site".to_owned(), "origin"),
    ] {
        let refused = Answer::to(sent(name, value.clone())).await.refused(403, "FORBIDDEN");
        assert_eq!(refused["reason"], reason, "{name}: {value}");
    }
    for (name, value) in [
        ("origin", format!("http://{host}")),
        ("host", "localhost".to_owned()),
        ("host", "127.9.9.9:1".to_owned()),
        ("host", "[::1]:80".to_owned()),
        ("host", "debates.example.org".to_owned()),
    ] {
        let response = sent(name, value.clone()).send().await.unwrap();
        assert_eq!(response.status(), 200, "{name}: {value}");
        assert!(messages(response).await[0]["result"]["tools"].is_array());
    }
    // A link for people has the host under which the caller knows the server.
    let made = json!({"title": "T", "type": "general_debate", "content": "C"});
    let named = client
        .message(1, "tools/call", json!({"name": "debate_create", "arguments": made}))
        .header("host", "debates.example.org");
    let made = messages(named.send().await.unwrap()).await.pop().unwrap();
    let url = text(&made["result"]["structuredContent"]["url"]);
    assert!(url.starts_with("https://debates.example.org/debate/"), "{url}");
}

#[tokio::test]
async fn a_malformed_message_is_refused_with_our_error() {
    let limits = Limits { document_bytes: 1_000, ..Limits::default() };
    let world = World::with(Guard::default(), limits).await;
    let post = |body: &str| world.request(Method::POST, "/mcp").body(body.to_owned());
    let json = |body: &str| post(body).header("content-type", "application/json");
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    Answer::to(post(list)).await.refused(415, "UNSUPPORTED_MEDIA_TYPE");
    Answer::to(post(list).header("content-type", "text/plain"))
        .await
        .refused(415, "UNSUPPORTED_MEDIA_TYPE");
    for broken in ["", "{", "nothing", "[]", "7", &format!("[{list}]")] {
        let refused = Answer::to(json(broken)).await.refused(400, "INVALID_INPUT");
        assert!(!refused["message"].as_str().unwrap().is_empty(), "{broken}");
    }
    let large = format!("{{\"jsonrpc\":\"{}\"}}", "x".repeat(200_000));
    Answer::to(json(&large)).await.refused(413, "CONTENT_TOO_LARGE");
    for odd in [
        r#"{"jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    ] {
        let response = json(odd).send().await.unwrap();
        assert!(response.status().is_client_error() || response.status() == 200, "{odd}");
        let answered = messages(response).await;
        assert!(answered[0]["error"]["message"].is_string(), "{odd}: {answered:?}");
    }
    for method in [Method::GET, Method::DELETE, Method::PUT] {
        let answer = Answer::to(world.request(method, "/mcp")).await;
        assert_eq!(answer.headers["allow"], "POST");
        answer.refused(405, "METHOD_NOT_ALLOWED");
    }
    let judge = world.request(Method::POST, "/mcp?role=judge").json(&json!({}));
    let refused = Answer::to(judge).await.refused(400, "INVALID_INPUT");
    assert_eq!(refused["field"], "role");
    // A client that sends no Accept header gets an answer too.
    assert_eq!(json(list).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn a_wait_is_woken_by_the_other_side() {
    let world = World::start().await;
    let proposer = Client::of(&world, "proposer");
    let (debate, motion) = proposer.debate("Woken").await;
    let waiting = json!({"debate_id": debate, "argument_id": motion});
    let opponent = Client::of(&world, "opponent");
    let claims = async {
        eventually("the wait is held", async || world.held().await.0 == 1).await;
        let claim = json!({"debate_id": debate, "target_id": motion, "content": "Awake!"});
        opponent.call("debate_submit", claim).await;
        Instant::now()
    };
    let woken = async { (proposer.call("debate_wait", waiting).await, Instant::now()) };
    let (written, (news, heard)) = tokio::join!(claims, woken);
    assert_eq!(news["arguments"][0]["content"], "Awake!");
    assert!(heard.saturating_duration_since(written) < Duration::from_secs(2), "it was polled for");
}

#[tokio::test]
async fn a_wait_without_news_ends_as_it_began_and_says_how_to_go_on() {
    let world = World::start().await;
    let client = Client::of(&world, "proposer");
    let (debate, motion) = client.debate("Patience").await;
    let given = json!({"debate_id": debate, "argument_id": motion, "deadline": 0.3});
    let began = Instant::now();
    let over = client.call("debate_wait", given.clone()).await;
    assert!(began.elapsed() >= Duration::from_millis(300));
    assert_eq!(
        (&over["status"], &over["action"]),
        (&"timeout".into(), &"wait_for_opponent".into())
    );
    let mut again = given;
    again["role"] = "proposer".into();
    again["attempt"] = 2.into();
    assert_eq!(over["next"], json!({"tool": "debate_wait", "arguments": again}));
    assert_eq!(over["retry"], over["next"]);
    assert_eq!(over["patience_left_s"], 1_800);
    world.pass(Duration::from_secs(1_790));
    let over = client.call("debate_wait", again.clone()).await;
    assert_eq!(over["patience_left_s"], 10);
    world.pass(Duration::from_secs(20));
    assert_eq!(over["next"]["arguments"]["attempt"], 3, "no two calls in a row are the same");
    let over = client.call("debate_wait", again.clone()).await;
    assert_eq!(over["patience_left_s"], 0);
    assert!(over["next"].is_null(), "an agent would follow it for ever: {over}");
    again["attempt"] = 3.into();
    assert_eq!(over["retry"], json!({"tool": "debate_wait", "arguments": again}));
    assert!(text(&over["message"]).contains("Tell your user that the opponent"), "{over}");
}

#[tokio::test]
async fn a_caller_that_asks_for_progress_gets_it_every_ten_seconds() {
    let world = World::start().await;
    let client = Client::of(&world, "proposer");
    let (debate, motion) = client.debate("Progress").await;
    let waiting = json!({"debate_id": debate, "argument_id": motion, "deadline": 11});
    let asked = |token: Value| {
        let meta = if token.is_null() { json!({}) } else { json!({"progressToken": token}) };
        json!({"name": "debate_wait", "arguments": waiting, "_meta": meta})
    };
    let older = Client::of(&world, "proposer").speaking(PREVIOUS);
    let (current, older, silent) = tokio::join!(
        client.exchange("tools/call", asked(json!("t-1"))),
        older.exchange("tools/call", asked(json!(7))),
        client.exchange("tools/call", asked(Value::Null)),
    );
    for (received, token) in [(current, json!("t-1")), (older, json!(7))] {
        let [progress, answer] = received.as_slice() else { panic!("{received:?}") };
        assert_eq!(progress["method"], "notifications/progress");
        let params = &progress["params"];
        assert_eq!((&params["progressToken"], &params["total"]), (&token, &11.0.into()));
        let reached = params["progress"].as_f64().unwrap();
        assert!((10.0..10.9).contains(&reached), "{progress}");
        assert_eq!(answer["result"]["structuredContent"]["status"], "timeout");
    }
    assert_eq!(silent.len(), 1, "{silent:?}");
}

#[tokio::test]
async fn a_wait_of_a_client_that_is_gone_is_released() {
    let world = World::start().await;
    let (debate, motion) = Client::of(&world, "proposer").debate("Gone").await;
    let params = json!({
        "name": "debate_wait",
        "arguments": {"debate_id": debate, "argument_id": motion, "deadline": 100},
    });
    for revision in [CURRENT, PREVIOUS] {
        let mut client = Client::of(&world, "proposer").speaking(revision);
        if revision == PREVIOUS {
            client.initialize().await;
        }
        // The connection is closed.
        let held = client.message(5, "tools/call", params.clone()).send();
        let held = async { messages(held.await.unwrap()).await };
        tokio::select! {
            early = held => panic!("{early:?}"),
            () = eventually("the wait is held", async || world.held().await.0 == 1) => {}
        }
        eventually("it is let go", async || world.held().await.0 == 0).await;
    }
}

#[tokio::test]
async fn a_cancelled_wait_is_released_and_the_others_go_on() {
    let world = World::start().await;
    let (debate, motion) = Client::of(&world, "proposer").debate("Cancelled").await;
    let params = json!({
        "name": "debate_wait",
        "arguments": {"debate_id": debate, "argument_id": motion, "deadline": 100},
    });
    let mut one = Client::of(&world, "proposer").speaking(PREVIOUS);
    let mut other = Client::of(&world, "proposer").speaking(PREVIOUS);
    one.initialize().await;
    other.initialize().await;
    // Both use the same number, as clients do.
    let kept = other.message(5, "tools/call", params.clone()).send();
    let kept = async { messages(kept.await.unwrap()).await };
    let held = one.message(5, "tools/call", params).send();
    let held = async { messages(held.await.unwrap()).await };
    let story = async {
        eventually("both waits are held", async || world.held().await.0 == 2).await;
        let cancel = |client: &Client<'_>, id: Value| {
            client.message(0, "notifications/cancelled", json!({"requestId": id})).send()
        };
        let answered = in_time("a notification is taken", cancel(&one, json!(4))).await.unwrap();
        assert_eq!(answered.status(), 202);
        assert_eq!(world.held().await.0, 2, "another call was cancelled");
        cancel(&one, json!(5)).await.unwrap();
        eventually("one is let go", async || world.held().await.0 == 1).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(world.held().await.0, 1, "somebody else's wait went too");
    };
    tokio::select! {
        early = kept => panic!("{early:?}"),
        _ = async { tokio::join!(story, held) } => {}
    }
}

#[tokio::test]
async fn a_server_that_stops_answers_its_waiters() {
    let world = World::start().await;
    let client = Client::of(&world, "proposer");
    let (debate, motion) = client.debate("Stopping").await;
    client.tools().await;
    let waiting = json!({"debate_id": debate, "argument_id": motion, "deadline": 100});
    let stops = async {
        eventually("the wait is held", async || world.held().await.0 == 1).await;
        world.begin_to_stop();
        Instant::now()
    };
    let (stopped, over) = tokio::join!(stops, client.call("debate_wait", waiting));
    assert_eq!(over["status"], "timeout");
    assert!(stopped.elapsed() < Duration::from_secs(3), "it was cut off instead");
}

#[tokio::test]
async fn tool_calls_are_counted_as_their_routes() {
    let world = World::start().await;
    let client = Client::of(&world, "");
    let (debate, _) = client.debate("Counted").await;
    client.error("debate_get_context", json!({"debate_id": new_id()})).await;
    client.call("debate_get_context", json!({"debate_id": debate})).await;
    let metrics = world.request(Method::GET, "/metrics").send().await.unwrap();
    let metrics = metrics.text().await.unwrap();
    for line in [
        r#"aw_http_requests_total{method="POST",route="/debates",status="201"} 1"#,
        r#"aw_http_requests_total{method="GET",route="/debates/{id}",status="404"} 1"#,
        r#"aw_http_requests_total{method="GET",route="/debates/{id}",status="200"} 1"#,
        r#"aw_arguments_total 1"#,
    ] {
        assert!(metrics.contains(line), "{line} is not in\n{metrics}");
    }
    assert!(metrics.contains(r#"route="/mcp""#), "{metrics}");
}
