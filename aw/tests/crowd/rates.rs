//! Rate limits: a client over its limit gets `Retry-After`, and other clients are not affected.

use std::net::IpAddr;
use std::time::Duration;

use aw::mcp::Defaults;
use aw::server::{self, Peer, Setup, Stop};
use aw::settings::{Guard, Limits, Pace, Rates};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request};
use futures_util::{SinkExt, StreamExt};
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;
use tower::ServiceExt;

use super::{Holder, SHARED};
use crate::world::driver::opening;
use crate::world::page_client::{see, send};
use crate::world::{Answer, ServerProcess, World, in_time, text};

async fn world(rates: Rates) -> World {
    let limits = Limits { rates, ..Limits::default() };
    World::with(Guard::sharing(SHARED), limits).await
}

fn pace(per_second: f64, burst: u32) -> Pace {
    Pace { per_second, burst }
}

#[tokio::test]
async fn a_token_over_its_rate_is_refused_until_retry_after() {
    let world = world(Rates { token: pace(0.25, 3), ..Rates::FREE }).await;
    let amber = Holder::seated(&world, "opponent", "amber").await;
    for _ in 0..3 {
        amber.get("/debates").await.ok();
    }
    let busy = amber.get("/debates").await;
    assert_eq!(busy.headers["retry-after"], "4");
    assert_eq!(
        busy.refused(503, "SERVER_BUSY"),
        json!({
            "code": "SERVER_BUSY",
            "message": "the token \"amber\" sent more than 0.25 requests a second",
            "suggestion": "Try again in 4 seconds; the server's administrator can raise \
                AW_TOKEN_RATE, AW_TOKEN_BURST",
        })
    );
    world.pass(Duration::from_secs(3));
    let busy = amber.get("/debates").await;
    assert_eq!(busy.headers["retry-after"], "1");
    busy.refused(503, "SERVER_BUSY");
    world.pass(Duration::from_secs(1));
    amber.get("/debates").await.ok();
    amber.get("/debates").await.refused(503, "SERVER_BUSY");
    world.pass(Duration::from_secs(3600));
    for _ in 0..3 {
        amber.get("/debates").await.ok();
    }
    amber.get("/debates").await.refused(503, "SERVER_BUSY");
}

#[tokio::test]
async fn a_request_over_the_rate_writes_nothing() {
    let world = world(Rates { token: pace(1.0, 1), ..Rates::FREE }).await;
    let amber = Holder::seated(&world, "proposer", "amber").await;
    amber.get("/debates").await.ok();
    let before = world.written();
    let body = opening("Too soon?");
    amber.post("/debates", &body).await.refused(503, "SERVER_BUSY");
    assert_eq!(world.written(), before);
    world.pass(Duration::from_secs(1));
    amber.post("/debates", &body).await.created();
}

#[tokio::test]
async fn tokens_have_separate_rates() {
    let world = world(Rates { token: pace(1.0, 5), ..Rates::FREE }).await;
    let amber = Holder::seated(&world, "opponent", "amber").await;
    // Another one, whatever it is called.
    let other = Holder::seated(&world, "opponent", "amber").await;
    let shared = Holder::shared(&world);
    for _ in 0..5 {
        amber.get("/debates").await.ok();
    }
    for _ in 0..20 {
        amber.get("/debates").await.refused(503, "SERVER_BUSY");
    }
    for _ in 0..5 {
        other.get("/debates").await.ok();
    }
    // It has made the two seats.
    for _ in 0..3 {
        shared.get("/debates").await.ok();
    }
    let busy = shared.get("/debates").await.refused(503, "SERVER_BUSY");
    assert!(text(&busy["message"]).starts_with("the token \"shared token\" "), "{busy}");
    // Whether the server is there can always be asked.
    for _ in 0..20 {
        amber.get("/health").await.ok();
    }
}

#[tokio::test]
async fn wrong_tokens_are_limited_by_address_and_valid_ones_are_served() {
    let world = world(Rates { wrong_token: pace(0.5, 3), ..Rates::FREE }).await;
    let amber = Holder::seated(&world, "opponent", "amber").await;
    let wrong = Holder { token: "wrong".to_owned(), ..amber.clone() };
    for _ in 0..3 {
        wrong.get("/debates").await.refused(401, "AUTH_FAILED");
    }
    let busy = wrong.get("/debates").await;
    assert_eq!(busy.headers["retry-after"], "2");
    assert_eq!(
        busy.refused(503, "SERVER_BUSY"),
        json!({
            "code": "SERVER_BUSY",
            "message": "this token is wrong, and the address 127.0.0.1 sent more than 0.5 wrong \
                tokens a second",
            "suggestion": "Try again in 2 seconds; the server's administrator can raise \
                AW_WRONG_TOKEN_RATE, AW_WRONG_TOKEN_BURST",
        })
    );
    // Other ways to try a token count as well.
    for path in ["/", "/debate/1", "/mcp", "/metrics", "/ws", "/nowhere"] {
        wrong.get(path).await.refused(503, "SERVER_BUSY");
    }
    amber.get("/debates").await.ok();
    world.get("/debates").await.refused(401, "AUTH_FAILED");
    wrong.get("/health").await.ok();

    let elsewhere = Client::builder().local_address(IpAddr::from([127, 0, 0, 2])).build().unwrap();
    let from_elsewhere = || elsewhere.get(format!("{}/debates", world.url)).bearer_auth("wrong");
    for _ in 0..3 {
        Answer::to(from_elsewhere()).await.refused(401, "AUTH_FAILED");
    }
    let busy = Answer::to(from_elsewhere()).await.refused(503, "SERVER_BUSY");
    assert!(text(&busy["message"]).contains("the address 127.0.0.2 "), "{busy}");

    world.pass(Duration::from_secs(2));
    wrong.get("/debates").await.refused(401, "AUTH_FAILED");
    wrong.get("/debates").await.refused(503, "SERVER_BUSY");
}

#[tokio::test]
async fn wrong_tokens_and_links_on_the_sign_in_page_count_too() {
    let world = world(Rates { wrong_token: pace(0.5, 3), ..Rates::FREE }).await;
    let page = see(&world, "/sign-in", &[]).await;
    let (cookies, csrf) = (page.cookies(), page.csrf());
    let sign_in = async |token: &str| {
        send(&world, "/sign-in", &cookies, &[("csrf", &csrf), ("token", token)]).await
    };
    assert_eq!(sign_in("wrong").await.status, 200);
    assert_eq!(sign_in("wrong").await.status, 200);
    let visit = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
    assert_eq!(see(&world, "/sign-in/link?code=wrong", &visit).await.status, 200);
    assert_eq!(see(&world, "/sign-in/link?code=wrong", &visit).await.status, 503);
    let busy = sign_in("wrong").await;
    assert_eq!(busy.status, 503);
    assert!(busy.body.contains("sent more than 0.5 wrong tokens a second"), "{}", busy.body);
    assert_eq!(sign_in(SHARED).await.status, 303);
    world.pass(Duration::from_secs(2));
    assert_eq!(sign_in("wrong").await.status, 200);
}

/// A server on the world's record, to which requests come from wherever one says.
struct Crossroads {
    router: Router,
    _stop: Stop,
}

impl Crossroads {
    fn of(world: &World, rates: Rates) -> Self {
        let stop = Stop::default();
        let router = server::router(Setup {
            engine: world.engine.clone(),
            guard: Guard::sharing(SHARED),
            limits: Limits { rates, ..Limits::default() },
            home_id: "test-home".to_owned(),
            stopping: stop.subscribe(),
            tool_defaults: Defaults::default(),
            pages: aw::web::pages(),
        });
        Crossroads { router, _stop: stop }
    }

    async fn get(&self, from: &str, path: &str) -> (u16, HeaderMap, Value) {
        let [.., a, b] = *uuid::Uuid::new_v4().as_bytes();
        let forged = format!("198.51.{a}.{b}");
        let request = Request::get(path)
            .header("host", "127.0.0.1")
            .header("authorization", format!("Bearer {SHARED}"))
            // A header that names another client is ignored.
            .header("x-forwarded-for", &forged)
            .header("x-real-ip", &forged)
            .header("forwarded", format!("for={forged}"))
            .extension(Peer(from.parse().unwrap()))
            .body(Body::empty())
            .unwrap();
        let answer = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = answer.into_parts();
        let body = to_bytes(body, 1 << 20).await.unwrap();
        (parts.status.as_u16(), parts.headers, serde_json::from_slice(&body).unwrap())
    }
}

#[tokio::test]
async fn an_address_over_its_rate_is_refused_until_retry_after() {
    let world = World::start().await;
    let server = Crossroads::of(&world, Rates { address: pace(0.1, 4), ..Rates::FREE });
    for from in ["192.0.2.1", "192.0.2.2", "2001:db8:1:2::1", "2001:db8:1:3::1"] {
        for path in ["/debates", "/documents", "/health", "/openapi.json"] {
            assert_eq!(server.get(from, path).await.0, 200, "{from} {path}");
        }
        for path in ["/debates", "/health", "/assets/none", "/nowhere"] {
            let (status, headers, body) = server.get(from, path).await;
            assert_eq!(status, 503, "{from} {path}");
            assert_eq!(headers["retry-after"], "10");
            assert_eq!(body["success"], false);
            assert_eq!(body["error"]["code"], "SERVER_BUSY");
        }
    }
    // All addresses of such a network count as one.
    let (status, _, body) = server.get("2001:db8:1:2:3:4:5:6", "/debates").await;
    assert_eq!(status, 503);
    assert_eq!(
        body["error"],
        json!({
            "code": "SERVER_BUSY",
            "message": "the address 2001:db8:1:2::/64 sent more than 0.1 requests a second",
            "suggestion": "Try again in 10 seconds; the server's administrator can raise \
                AW_ADDRESS_RATE, AW_ADDRESS_BURST",
        })
    );
    world.pass(Duration::from_secs(9));
    let (status, headers, _) = server.get("192.0.2.1", "/health").await;
    assert_eq!((status, headers["retry-after"].to_str().unwrap()), (503, "1"));
    world.pass(Duration::from_secs(1));
    assert_eq!(server.get("192.0.2.1", "/health").await.0, 200);
    assert_eq!(server.get("192.0.2.1", "/health").await.0, 503);
}

#[tokio::test]
async fn loopback_has_no_rate_because_it_may_be_a_proxy() {
    let rates = Rates { address: pace(1.0, 1), ..Rates::FREE };
    let world = world(rates).await;
    let shared = Holder::shared(&world);
    for _ in 0..20 {
        shared.get("/debates").await.ok();
    }
    let server = Crossroads::of(&world, rates);
    for from in ["127.0.0.1", "127.9.9.9", "::1"] {
        for _ in 0..20 {
            assert_eq!(server.get(from, "/debates").await.0, 200, "{from}");
        }
    }
}

#[tokio::test]
async fn a_server_without_tokens_has_no_rates() {
    let least = pace(0.001, 1);
    let rates = Rates { token: least, address: least, wrong_token: least };
    let limits = Limits { rates, ..Limits::default() };
    let world = World::with(Guard::default(), limits).await;
    for _ in 0..100 {
        world.get("/debates").await.ok();
        Answer::to(world.request(Method::GET, "/debates").bearer_auth("any")).await.ok();
    }
}

#[tokio::test]
async fn messages_on_a_socket_count() {
    let world = world(Rates { token: pace(1.0, 4), ..Rates::FREE }).await;
    let body = opening("May I?");
    Holder::shared(&world).post("/debates", &body).await.created();
    let debate = text(&body["debate_id"]);
    let judge = Holder::seated(&world, "arbitrator", "judge").await;
    let handshake = judge.socket(&format!("/ws?debate_id={debate}"));
    let (mut socket, _) = connect_async(handshake).await.unwrap();
    let mut heard = Vec::new();
    // The first message is where the debate stands.
    while heard.len() < 7 {
        if heard.len() < 6 {
            let says = json!({"event": "submit_ruling", "data": {"debate_id": debate}});
            socket.send(Message::text(says.to_string())).await.unwrap();
        }
        let message = in_time("a message arrives", socket.next()).await.unwrap().unwrap();
        let Message::Text(message) = message else { continue };
        let message: Value = serde_json::from_str(&message).unwrap();
        heard.push(message["data"]["error"]["code"].as_str().unwrap_or("none").to_owned());
    }
    let wrong = "INVALID_INPUT";
    let busy = "SERVER_BUSY";
    assert_eq!(heard, ["none", wrong, wrong, wrong, busy, busy, busy]);
}

#[tokio::test]
async fn a_browser_over_its_rate_gets_a_page() {
    let world = world(Rates { token: pace(0.5, 1), ..Rates::FREE }).await;
    let shared = Holder::shared(&world);
    let ask = || shared.request(Method::GET, "/").header("accept", "text/html").send();
    assert_eq!(ask().await.unwrap().status(), 200);
    let busy = ask().await.unwrap();
    assert_eq!(busy.status(), 503);
    assert_eq!(busy.headers()["retry-after"], "2");
    let page = busy.text().await.unwrap();
    assert!(page.contains("<html"), "{page}");
    assert!(page.contains("sent more than 0.5 requests a second"), "{page}");
}

#[tokio::test]
async fn a_server_that_requires_tokens_has_the_default_rates() {
    let home = tempfile::tempdir().unwrap();
    let started = |more: &[(&str, &str)]| {
        ServerProcess::start_with(home.path(), |command| {
            command.env("AW_AUTH_TOKEN", SHARED).envs(more.iter().copied());
        })
    };
    let client = Client::new();
    let refused = async |server: &ServerProcess, token: &str, times: usize| {
        let asks = (0..times).map(|_| client.get(format!("{}/debates", server.url)));
        let answers = super::all_at_once(asks.map(|ask| ask.bearer_auth(token)).collect()).await;
        let busy = answers.into_iter().filter(|answer| answer.status == 503);
        let refused: Vec<_> = busy.map(|answer| answer.refused(503, "SERVER_BUSY")).collect();
        refused.len()
    };
    let mut server = started(&[]);
    // Some may be forgiven on a slow machine, but not so many.
    assert!(refused(&server, "wrong", 200).await > 50);
    assert_eq!(refused(&server, SHARED, 100).await, 0);
    server.kill();
    let slow = [("AW_TOKEN_RATE", "0.01"), ("AW_TOKEN_BURST", "10"), ("AW_WRONG_TOKEN_RATE", "0")];
    let mut server = started(&slow);
    assert_eq!(refused(&server, "wrong", 200).await, 0);
    assert_eq!(refused(&server, SHARED, 30).await, 20);
    server.kill();
}
