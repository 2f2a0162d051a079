//! Tokens and sessions that end during a wait, on a socket, or before a retry.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::scene::{Books, Scene, by, by_administrator, revoke, seat, world};
use crate::world::driver::claim;
use crate::world::page_client::PageClient;
use crate::world::{Answer, Socket, World, eventually, in_time, new_id, text};

/// How a token ends.
#[derive(Debug, Clone, Copy)]
enum Ends {
    /// It expires, by the clock of the server.
    Expires,
    /// It is revoked.
    IsRevoked,
}

const WAYS: [Ends; 2] = [Ends::Expires, Ends::IsRevoked];

/// A token that is valid for an hour.
async fn token(world: &World, role: &str, debate: Option<&str>) -> Value {
    seat(world, json!({"role": role, "debate_id": debate, "expires_in": 3600})).await
}

async fn end(world: &World, seat: &Value, how: Ends) {
    match how {
        Ends::Expires => world.pass(Duration::from_secs(3600)),
        Ends::IsRevoked => revoke(world, seat).await,
    }
}

/// Submits a CLAIM with a secret.
async fn write_secret(scene: &Scene<'_>) {
    let claim = claim("opponent", &scene.newest, "Between us: the secret.");
    let path = format!("/debates/{}/arguments", scene.here);
    by_administrator(scene.world, Method::POST, &path, Some(claim)).await.created();
}

#[tokio::test]
async fn a_wait_whose_token_ends_gets_no_argument() {
    for how in WAYS {
        for debate in [false, true] {
            let world = world().await;
            let scene = Scene::with(&world, "AWAITING_OPPONENT").await;
            let made = token(&world, "proposer", debate.then_some(scene.here.as_str())).await;
            let path = format!(
                "/debates/{}/wait?role=proposer&argument_id={}&wait=60",
                scene.here, scene.newest
            );
            let request = world.request(Method::GET, &path).bearer_auth(text(&made["token"]));
            let waiting = tokio::spawn(Answer::to(request));
            eventually("the wait is held", async || world.held().await.0 == 1).await;
            end(&world, &made, how).await;
            write_secret(&scene).await;
            let answer = in_time("the wait ends", waiting).await.unwrap();
            let error = answer.refused(401, "AUTH_FAILED");
            assert!(!error.to_string().contains("secret"), "{how:?}: {error}");
            eventually("its place is free", async || world.held().await.0 == 0).await;
        }
    }
}

#[tokio::test]
async fn revoking_a_token_ends_its_wait() {
    let world = world().await;
    let scene = Scene::with(&world, "AWAITING_OPPONENT").await;
    let (made, other) =
        (token(&world, "proposer", None).await, token(&world, "arbitrator", None).await);
    let path = format!("/debates/{}/wait?role=proposer&wait=60", scene.here);
    let request = world.request(Method::GET, &path).bearer_auth(text(&made["token"]));
    let waiting = tokio::spawn(Answer::to(request));
    eventually("the wait is held", async || world.held().await.0 == 1).await;
    // Revoking another token does not end it.
    revoke(&world, &other).await;
    assert_eq!(world.held().await.0, 1);
    revoke(&world, &made).await;
    in_time("the wait ends", waiting).await.unwrap().refused(401, "AUTH_FAILED");
    assert_eq!(world.held().await.0, 0);
}

#[tokio::test]
async fn a_socket_whose_token_ends_closes_without_a_message() {
    for how in WAYS {
        for all in [false, true] {
            for role in ["opponent", "observer"] {
                let world = world().await;
                let scene = Scene::with(&world, "AWAITING_OPPONENT").await;
                let made = token(&world, role, None).await;
                let header = format!("Bearer {}", text(&made["token"]));
                let mut socket = opened(&scene, all, ("authorization", &header)).await;
                end(&world, &made, how).await;
                write_secret(&scene).await;
                assert_eq!(socket.ends().await, Some(CloseCode::Policy), "{how:?}, {role}, {all}");
                eventually("its place is free", async || world.held().await.1 == 0).await;
            }
        }
    }
}

#[tokio::test]
async fn a_socket_whose_token_ends_gets_no_presence() {
    for how in WAYS {
        let world = world().await;
        let scene = Scene::with(&world, "AWAITING_OPPONENT").await;
        let made = token(&world, "observer", Some(&scene.here)).await;
        let header = format!("Bearer {}", text(&made["token"]));
        let mut socket = opened(&scene, false, ("authorization", &header)).await;
        end(&world, &made, how).await;
        let path = format!("/debates/{}/poll?role=proposer&wait=0", scene.here);
        by_administrator(&world, Method::GET, &path, None).await.ok();
        assert_eq!(socket.ends().await, Some(CloseCode::Policy), "{how:?}");
    }
}

#[tokio::test]
async fn a_message_over_a_socket_whose_token_has_ended_is_not_written() {
    for how in WAYS {
        let world = world().await;
        let scene = Scene::with(&world, "AWAITING_ARBITRATOR").await;
        let made = token(&world, "arbitrator", None).await;
        let header = format!("Bearer {}", text(&made["token"]));
        let mut socket = opened(&scene, false, ("authorization", &header)).await;
        end(&world, &made, how).await;
        let books = Books::of(&world);
        let before = books.read();
        let data = json!({"debate_id": scene.here, "content": "Mine."});
        // It may be closed already.
        socket.tries_to_say(&json!({"event": "submit_ruling", "data": data}).to_string()).await;
        assert_eq!(socket.ends().await, Some(CloseCode::Policy), "{how:?}");
        assert_eq!(books.read(), before);
    }
}

#[tokio::test]
async fn a_socket_closes_when_its_session_ends() {
    /// How a session ends.
    #[derive(Debug, Clone, Copy)]
    enum Leaves {
        With(Ends),
        /// Twelve hours have passed.
        IsOld,
        /// Signing out.
        SignsOut,
        /// A new sign-in in the same browser.
        SignsInAnew,
    }
    let ways = [
        Leaves::With(Ends::Expires),
        Leaves::With(Ends::IsRevoked),
        Leaves::IsOld,
        Leaves::SignsOut,
        Leaves::SignsInAnew,
    ];
    for how in ways {
        for all in [false, true] {
            let world = world().await;
            let scene = Scene::with(&world, "AWAITING_OPPONENT").await;
            let expires = matches!(how, Leaves::With(Ends::Expires)).then_some(3600);
            let made = seat(&world, json!({"role": "arbitrator", "expires_in": expires})).await;
            let mut browser = PageClient::open(&world, "/sign-in").await;
            browser.signs_in(&text(&made["token"])).await;
            let cookies = browser.cookies.clone();
            let mut socket = opened(&scene, all, ("cookie", &cookies)).await;
            match how {
                Leaves::With(how) => end(&world, &made, how).await,
                Leaves::IsOld => world.pass(Duration::from_secs(12 * 60 * 60)),
                Leaves::SignsOut => {
                    let left = browser.fills_in("/sign-out", &[]).send().await.unwrap();
                    assert_eq!(left.status(), 303);
                }
                Leaves::SignsInAnew => {
                    assert!(browser.pastes(&text(&made["token"])).await.is_some());
                }
            }
            write_secret(&scene).await;
            assert_eq!(socket.ends().await, Some(CloseCode::Policy), "{how:?}, {all}");
            // And a copy of the cookie is worth nothing.
            let page = format!("/debate/{}", scene.here);
            let response = browser.visits(&page).send().await.unwrap();
            assert_eq!(response.status(), 303, "{how:?}");
            let form = [("content", "Mine."), ("request", &new_id())];
            let response = browser.fills_in(&format!("{page}/stop"), &form);
            assert_eq!(response.send().await.unwrap().status(), 401, "{how:?}");
        }
    }
}

#[tokio::test]
async fn a_retry_is_answered_only_to_tokens_that_may_write_it() {
    let world = world().await;
    let scene = Scene::with(&world, "AWAITING_OPPONENT").await;
    let path = format!("/debates/{}/arguments", scene.here);
    let first = seat(&world, json!({"role": "opponent", "name": "first"})).await;
    let claim = claim("opponent", &scene.newest, "The secret.");
    let tries = |seat: Value, claim: Value| {
        let (world, path) = (&world, &path);
        async move { by(world, &text(&seat["token"]), Method::POST, path, Some(claim)).await }
    };
    let written = tries(first.clone(), claim.clone()).await.created();
    assert_eq!(written["argument"]["seat"], "first");
    let books = Books::of(&world);

    let second = seat(&world, json!({"role": "opponent", "name": "second"})).await;
    let here = json!({"role": "opponent", "debate_id": scene.here});
    let here = seat(&world, here).await;
    let before = books.read();
    for other in [&first, &second, &here] {
        let replayed = tries(other.clone(), claim.clone()).await.ok();
        assert_eq!(replayed["replayed"], true);
        assert_eq!(replayed["argument"]["id"], written["argument"]["id"]);
        assert_eq!(replayed["argument"]["seat"], "first", "it was not theirs");
    }
    assert_eq!(books.read(), before, "a retry writes nothing");

    for role in ["proposer", "arbitrator", "observer"] {
        let other = seat(&world, json!({"role": role})).await;
        let error = tries(other.clone(), claim.clone()).await.refused(403, "FORBIDDEN");
        assert!(!error.to_string().contains("secret"));
        // Nor can they say it is theirs.
        let mut own = claim.clone();
        own["role"] = json!("proposer");
        let answer = tries(other, own).await;
        match role {
            "proposer" => answer.refused(400, "INVALID_INPUT"),
            _ => answer.refused(403, "FORBIDDEN"),
        };
    }
    let there = json!({"role": "opponent", "debate_id": scene.there});
    let there = seat(&world, there).await;
    let error = tries(there, claim.clone()).await.refused(403, "FORBIDDEN");
    assert!(!error.to_string().contains("secret"));

    revoke(&world, &first).await;
    let error = tries(first, claim.clone()).await.refused(401, "AUTH_FAILED");
    assert!(!error.to_string().contains("secret"), "not even its own");
    let ending = token(&world, "opponent", None).await;
    tries(ending.clone(), claim.clone()).await.ok();
    end(&world, &ending, Ends::Expires).await;
    tries(ending, claim).await.refused(401, "AUTH_FAILED");
}

#[tokio::test]
async fn a_token_is_valid_until_it_expires_and_a_clock_set_back_revives_no_revoked_one() {
    let world = world().await;
    let made = token(&world, "observer", None).await;
    let good = text(&made["token"]);
    world.pass(Duration::from_millis(3_599_999));
    by(&world, &good, Method::GET, "/debates", None).await.ok();
    world.pass(Duration::from_millis(1));
    by(&world, &good, Method::GET, "/debates", None).await.refused(401, "AUTH_FAILED");

    let taken = token(&world, "observer", None).await;
    let path = format!("/tokens/{}", text(&taken["token_id"]));
    let once = by_administrator(&world, Method::DELETE, &path, None).await.ok();
    world.turn_back(Duration::from_secs(30 * 60));
    by(&world, &text(&taken["token"]), Method::GET, "/debates", None)
        .await
        .refused(401, "AUTH_FAILED");
    world.pass(Duration::from_secs(2 * 60 * 60));
    let twice = by_administrator(&world, Method::DELETE, &path, None).await.ok();
    assert_eq!(once["revoked_at"], twice["revoked_at"], "the first time counts");
}

/// A socket that has begun.
async fn opened(scene: &Scene<'_>, all: bool, header: (&str, &str)) -> Socket {
    let path = match all {
        true => "/ws".to_owned(),
        false => format!("/ws?debate_id={}", scene.here),
    };
    let mut socket = Socket::with(&scene.world.url, &path, &[header]).await.expect("it is let in");
    if !all {
        socket.hears("initial_state").await;
    }
    socket
}
