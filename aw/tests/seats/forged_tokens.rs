//! Forged, expired and revoked tokens, sessions and links.

use std::time::Duration;

use aw::token::Token;
use aw_core::{SeatName, Time};
use aw_record::{NewSeat, SeatRole};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::{Method, RequestBuilder};
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::task::JoinSet;

use super::api::upgrading;
use super::scene::{ADMINISTRATOR, Books, SHARED, Scene, by, by_administrator, seat, world};
use crate::api::raw_http;
use crate::world::page_client::PageClient;
use crate::world::{Answer, Dice, World, new_id, text};

/// How many requests are under way at a time.
const AT_ONCE: usize = 50;

/// A token for a seat that was made in the record itself, for it is many of them.
async fn seats(world: &World, count: usize, expires_at: Option<Time>) -> Vec<(String, uuid::Uuid)> {
    let mut made = Vec::new();
    while made.len() < count {
        let mut tasks = JoinSet::new();
        for _ in 0..AT_ONCE.min(count - made.len()) {
            let engine = world.engine.clone();
            tasks.spawn(async move {
                let token = Token::new();
                let new = NewSeat {
                    name: SeatName::parse("one of many".to_owned()).unwrap(),
                    role: SeatRole::ALL[2],
                    debate: None,
                    expires_at,
                    token: token.digest(),
                };
                (token.as_str().to_owned(), engine.make_seat(new).await.unwrap().id)
            });
        }
        made.extend(tasks.join_all().await);
    }
    made
}

/// A request at one door or another, still without a token.
fn send(world: &World, debate: &str, turn: usize) -> RequestBuilder {
    let get = |path: &str| world.request(Method::GET, path);
    let post = |path: &str| world.request(Method::POST, path);
    match turn % 10 {
        0 => get("/debates"),
        1 => get(&format!("/debates/{debate}")),
        2 => post(&format!("/debates/{debate}/ruling")).json(&json!({"content": "Mine."})),
        3 => post("/tokens").json(&json!({"role": "arbitrator"})),
        4 => get("/metrics"),
        5 => upgrading(get(&format!("/ws?debate_id={debate}"))),
        6 => world.request(Method::DELETE, &format!("/debates/{debate}")),
        7 => get(&format!("/debates/{debate}/poll?role=arbitrator")),
        8 => post("/documents").json(&json!({"summary": "s", "content": "c"})),
        _ => get("/openapi.json"),
    }
}

/// What is like a good token without being it.
fn near_misses(good: &str, dice: &mut Dice) -> Vec<String> {
    let mut found = Vec::new();
    for place in 0..good.len() {
        let (before, after) = good.split_at(place);
        let (here, after) = after.split_at(1);
        let other = b"0123456789abcdef_-ABCDEF"[usize::try_from(dice.below(24)).unwrap()] as char;
        let other = if here == other.to_string() { '~' } else { other };
        found.push(format!("{before}{other}{after}"));
        found.push(format!("{before}{after}"));
        found.push(format!("{before}{here}{here}{after}"));
        found.push(before.to_owned());
        found.push(format!("{here}{after}x"));
        found.push(format!("{before}\u{200b}{here}{after}"));
        found.push(format!("{before}%{:02x}{after}", here.as_bytes()[0]));
    }
    // Letters that look the same, and others that fold or normalise to the same.
    for (letter, like) in [
        ('a', 'а'),
        ('e', 'е'),
        ('c', 'ϲ'),
        ('0', 'О'),
        ('1', '１'),
        ('_', '＿'),
        ('w', 'ω'),
        ('a', 'ａ'),
        ('d', 'ԁ'),
        ('f', 'ſ'),
    ] {
        found.push(good.replace(letter, &like.to_string()));
        found.push(good.replacen(letter, &like.to_string(), 1));
    }
    let digest = Sha256::digest(good);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    found.extend([
        good.to_uppercase(),
        good.replace("aw_", "AW_"),
        good.replace("aw_", "Aw_"),
        good.chars().rev().collect(),
        format!("{good}{good}"),
        format!("{good},{good}"),
        format!("{good} {good}"),
        format!("Bearer {good}"),
        format!("\"{good}\""),
        format!(" {good}"),
        format!("\t{good}"),
        format!("{good}\u{a0}"),
        // What is kept of it opens nothing, should the database be read.
        hex.clone(),
        format!("aw_{hex}"),
        hex.to_uppercase(),
        STANDARD.encode(good),
        STANDARD.encode(digest),
    ]);
    found.retain(|near| near != good && !good.is_empty());
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_token_that_is_not_valid_is_accepted() {
    let (world, elsewhere) = (world().await, world().await);
    let scene = Scene::with(&world, "AWAITING_ARBITRATOR").await;
    let mut dice = Dice::new();

    let good = seats(&world, 3, None).await;
    let mut tokens: Vec<String> = Vec::new();
    for (token, _) in &good {
        tokens.extend(near_misses(token, &mut dice));
    }
    tokens.extend(near_misses(ADMINISTRATOR, &mut dice));
    tokens.extend(near_misses(SHARED, &mut dice));

    let foreign = seats(&elsewhere, 2_000, None).await;
    for (token, _) in foreign.iter().step_by(200) {
        by(&elsewhere, token, Method::GET, "/debates", None).await.ok();
    }
    tokens.extend(foreign.into_iter().map(|(token, _)| token));

    let end = Time(world.engine.now().0 + 60_000);
    let ending = seats(&world, 2_000, Some(end)).await;
    let revoked = seats(&world, 2_000, None).await;
    for (token, _) in ending.iter().chain(&revoked).step_by(200) {
        by(&world, token, Method::GET, "/debates", None).await.ok();
    }
    for (_, seat) in &revoked {
        world.engine.revoke_seat(*seat).await.unwrap();
    }
    // At the very moment it is over.
    world.pass(Duration::from_secs(60));
    tokens.extend(ending.into_iter().chain(revoked).map(|(token, _)| token));
    while tokens.len() < 10_000 {
        tokens.push(Token::new().as_str().to_owned());
    }

    let books = Books::of(&world);
    let before = books.read();
    for (chunk, some) in tokens.chunks(AT_ONCE).enumerate() {
        let mut sent = JoinSet::new();
        for (turn, token) in some.iter().enumerate() {
            let header = format!("Bearer {token}");
            let request =
                send(&world, &scene.here, chunk + turn).header("authorization", header.as_bytes());
            let token = token.clone();
            sent.spawn(async move { (token, Answer::to(request).await) });
        }
        for (token, answer) in sent.join_all().await {
            assert_eq!(answer.status, 401, "{token:?}: {}", answer.body);
            assert_eq!(answer.body["error"]["code"], "AUTH_FAILED");
        }
    }
    assert_eq!(books.read(), before, "nothing was written");
    for (token, _) in &good {
        by(&world, token, Method::GET, "/debates", None).await.ok();
    }
    by(&world, SHARED, Method::GET, "/debates", None).await.ok();
}

#[tokio::test]
async fn a_token_counts_in_its_header_only() {
    let world = world().await;
    let scene = Scene::with(&world, "AWAITING_ARBITRATOR").await;
    let own = raw_http::address(&world);
    let made = seat(&world, json!({"role": "arbitrator"})).await;
    let basic = |user: &str, token: &str| STANDARD.encode(format!("{user}:{token}"));
    for token in [&text(&made["token"]), ADMINISTRATOR, SHARED] {
        let places: Vec<Vec<String>> = vec![
            vec![format!("authorization: {token}")],
            vec![format!("authorization: Token {token}")],
            vec![format!("authorization: Bearer{token}")],
            vec![format!("authorization: Bearer  {token}")],
            vec![format!("authorization: Bearer token={token}")],
            vec![format!("authorization: Basic {token}")],
            vec![format!("authorization: Basic {}", basic("aw", token))],
            vec![format!("authorization: Basic {}", basic(token, ""))],
            vec![format!("authorization: Bearer {token}"); 2],
            vec![format!("authorization: Bearer {token}"), "authorization: Bearer x".to_owned()],
            vec!["authorization: Bearer x".to_owned(), format!("authorization: Bearer {token}")],
            vec![format!("authorization: Bearer {token}, Bearer x")],
            vec![format!("proxy-authorization: Bearer {token}")],
            vec![format!("x-forwarded-authorization: Bearer {token}")],
            vec![format!("x-api-key: {token}")],
            vec![format!("x-auth-token: {token}")],
            vec![format!("sec-websocket-protocol: {token}")],
            vec![format!("cookie: authorization=Bearer {token}")],
            vec![format!("cookie: token={token}; access_token={token}")],
            vec![format!("cookie: aw_session={token}")],
            vec![format!("cookie: aw_browser={token}")],
        ];
        for lines in places {
            let mut head = format!("GET /debates HTTP/1.1\r\nhost: {own}\r\nconnection: close\r\n");
            for line in &lines {
                head += &format!("{line}\r\n");
            }
            let answer = raw_http::send(&world, format!("{head}\r\n").as_bytes()).await;
            let answer = answer.refused(401, "AUTH_FAILED");
            assert!(!answer.to_string().contains(token), "{lines:?}");
        }
        for query in ["token", "access_token", "authorization", "auth", "aw_session"] {
            let path = format!("/debates?{query}={token}");
            world.get(&path).await.refused(401, "AUTH_FAILED");
            let path = format!("/ws?debate_id={}&{query}={token}", scene.here);
            let socket = upgrading(world.request(Method::GET, &path));
            Answer::to(socket).await.refused(401, "AUTH_FAILED");
        }
        let body = json!({"content": "Mine.", "token": token, "authorization": token});
        let path = format!("/debates/{}/ruling", scene.here);
        world.post(&path, body).await.refused(401, "AUTH_FAILED");
    }
}

#[tokio::test]
async fn a_public_route_leads_to_no_other() {
    let world = world().await;
    let scene = Scene::with(&world, "AWAITING_OPPONENT").await;
    let own = raw_http::address(&world);
    let debate = &scene.here;
    for path in [
        "/health/",
        "//health",
        "/HEALTH",
        "/%68ealth",
        "/health;/../debates",
        "/health/../debates",
        "/debates?/health",
        "/debates#/health",
        "/assets/../debates",
        "/assets/%2e%2e/debates",
        "/assets/..%2fdebates",
        "/sign-in/../debates",
        "/sign-in/link/../../debates",
        "/sign-in%2f..%2fdebates",
        "//debates",
        "/debates/",
        "/Debates",
        "/debates/export",
        &format!("/assets/x/../../debates/{debate}"),
        &format!("/sign-in/../debate/{debate}"),
        &format!("//debate/{debate}"),
        &format!("/debate/{debate}/../{debate}"),
        &format!("/debates/{debate}/export"),
        &format!("/debates/{debate}/export?/sign-in"),
        &format!("http://{own}/debates/{debate}"),
    ] {
        for method in ["GET", "HEAD", "POST", "OPTIONS"] {
            let bytes =
                format!("{method} {path} HTTP/1.1\r\nhost: {own}\r\nconnection: close\r\n\r\n");
            let answer = raw_http::send(&world, bytes.as_bytes()).await;
            let is_refused = matches!(answer.status, 303 | 400 | 401 | 403 | 404 | 405);
            assert!(is_refused, "{method} {path}: {answer:?}");
            assert!(!answer.body.contains("SQLite"), "{method} {path}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn a_token_is_shown_once() {
    let world = world().await;
    let made = seat(&world, json!({"role": "observer", "name": "An", "expires_in": 60})).await;
    let token = text(&made["token"]);
    let listed = by_administrator(&world, Method::GET, "/tokens", None).await.ok();
    let path = format!("/tokens/{}", text(&made["token_id"]));
    let revoked = by_administrator(&world, Method::DELETE, &path, None).await.ok();
    let hash: String = Sha256::digest(&token).iter().map(|byte| format!("{byte:02x}")).collect();
    for answer in [listed.to_string(), revoked.to_string()] {
        assert!(answer.contains("An"), "{answer}");
        assert!(!answer.contains(&token) && !answer.contains(&token[3..]), "{answer}");
        assert!(!answer.contains(&hash), "{answer}");
    }
    let books = Books::of(&world);
    let before = books.read();
    for senseless in [
        json!({"role": "administrator"}),
        json!({"role": "observer", "expires_in": 0}),
        json!({"role": "observer", "expires_in": u64::MAX}),
        json!({"role": "observer", "expires_in": -1}),
        json!({"role": "observer", "expires_in": "30d"}),
        json!({"role": "observer", "debate_id": "x"}),
        json!({"role": "observer", "name": "two\nlines"}),
        json!({"role": "observer", "name": "n".repeat(81)}),
        json!({}),
    ] {
        let asked = Some(senseless.clone());
        let answer = by_administrator(&world, Method::POST, "/tokens", asked).await;
        answer.refused(400, "INVALID_INPUT");
    }
    assert_eq!(books.read(), before, "none was made");
}

#[tokio::test]
async fn a_forged_session_opens_no_page() {
    let world = world().await;
    let scene = Scene::with(&world, "AWAITING_ARBITRATOR").await;
    let made = seat(&world, json!({"role": "arbitrator"})).await;
    let token = text(&made["token"]);
    let mut browser = PageClient::open(&world, "/sign-in").await;
    browser.signs_in(&token).await;
    let session = browser.session().unwrap();
    let link = link_of(&world, &token).await;
    let code = code_in(&link);

    let mut dice = Dice::new();
    let mut forged = near_misses(&session, &mut dice);
    // Nothing stands for something else.
    forged.extend([token.clone(), ADMINISTRATOR.to_owned(), SHARED.to_owned(), code.clone()]);
    forged.extend([String::new(), text(&made["token_id"]), "null".to_owned(), "*".to_owned()]);
    forged.extend((0..500).map(|_| Token::new().as_str().to_owned()));
    // A header cannot carry these, nor can a cookie have them in its middle.
    forged.retain(|word| word.is_ascii() && !word.contains([' ', '\t', ';', '"', ',']));
    let books = Books::of(&world);
    let before = books.read();
    let page = format!("/debate/{}", scene.here);
    for word in &forged {
        let mut thief = browser.clone();
        thief.wears(word);
        let response = thief.visits(&page).send().await.unwrap();
        assert_eq!(response.status(), 303, "{word}");
        let export = thief.visits(&format!("/debates/{}/export", scene.here));
        Answer::to(export).await.refused(401, "AUTH_FAILED");
    }
    for word in forged.iter().step_by(10) {
        let mut thief = browser.clone();
        thief.wears(word);
        let fields = [("content", "Mine."), ("request", &new_id())];
        let response = thief.fills_in(&format!("{page}/rule"), &fields).send().await.unwrap();
        assert_eq!(response.status(), 401, "{word}");
        let path = format!("/ws?debate_id={}", scene.here);
        let socket = upgrading(thief.visits(&path));
        Answer::to(socket).await.refused(401, "AUTH_FAILED");
    }
    assert_eq!(books.read(), before);

    // A session is no token, and neither is the code of a link.
    for word in [&session, &code] {
        by(&world, word, Method::GET, "/debates", None).await.refused(401, "AUTH_FAILED");
        assert_eq!(browser.pastes(word).await, None);
    }
    // A session opens pages, what they show and what they follow; not the API.
    for path in ["/debates", "/tokens", "/metrics", "/openapi.json", "/documents"] {
        Answer::to(browser.visits(path)).await.refused(401, "AUTH_FAILED");
    }
    let response = browser.visits(&page).send().await.unwrap();
    assert_eq!(response.status(), 200, "the one that was given still does");
}

#[tokio::test]
async fn a_token_that_is_not_valid_does_not_sign_in() {
    let world = world().await;
    let made = seat(&world, json!({"role": "observer"})).await;
    let good = text(&made["token"]);
    let browser = PageClient::open(&world, "/sign-in").await;
    let mut dice = Dice::new();
    let mut wrong: Vec<String> = near_misses(&good, &mut dice).into_iter().step_by(5).collect();
    wrong.extend(["", " ", "aw_", "null", "administrator"].map(str::to_owned));
    // Who pastes a token may catch the blanks around it.
    wrong.retain(|word| word.trim() != good);
    let books = Books::of(&world);
    let before = books.read();
    for word in &wrong {
        assert_eq!(browser.pastes(word).await, None, "{word:?}");
    }
    assert_eq!(books.read(), before);
    assert!(browser.pastes(&good).await.is_some());
}

#[tokio::test]
async fn a_link_works_once_within_ten_minutes_and_cannot_be_guessed() {
    let world = world().await;
    let made = seat(&world, json!({"role": "arbitrator"})).await;
    let token = text(&made["token"]);
    let link = link_of(&world, &token).await;
    let code = code_in(&link);
    let browser = PageClient::open(&world, "/sign-in").await;
    let mut signed_in = browser.clone();
    signed_in.signs_in(&token).await;
    let session = signed_in.session().unwrap();

    let mut dice = Dice::new();
    let mut forged = near_misses(&code, &mut dice);
    forged.extend([token.clone(), session, ADMINISTRATOR.to_owned(), String::new()]);
    forged.extend((0..500).map(|_| Token::new().as_str().to_owned()));
    for word in &forged {
        assert_eq!(browser.comes_by(&with_code(word)).await, None, "{word:?}");
        let fields = [("code", word.as_str())];
        assert_eq!(browser.sends("/sign-in/link", &fields).await.session(), None, "{word:?}");
    }
    assert!(browser.comes_by(&link).await.is_some(), "the guesses did not use it up");
    assert_eq!(browser.comes_by(&link).await, None, "once");

    let late = link_of(&world, &token).await;
    world.pass(Duration::from_secs(10 * 60));
    assert_eq!(browser.comes_by(&late).await, None, "ten minutes are over");

    let orphan = link_of(&world, &token).await;
    let path = format!("/tokens/{}", text(&made["token_id"]));
    by_administrator(&world, Method::DELETE, &path, None).await.ok();
    assert_eq!(browser.comes_by(&orphan).await, None, "its token was taken back");
}

/// A link that signs in with this token.
pub async fn link_of(world: &World, token: &str) -> String {
    let made = by(world, token, Method::POST, "/links", Some(json!({"to": "/"}))).await.created();
    text(&made["path"])
}

/// What makes a link good.
pub fn code_in(link: &str) -> String {
    let query = link.split_once('?').unwrap().1;
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs.find(|(name, _)| name == "code").unwrap().1.into_owned()
}

fn with_code(code: &str) -> String {
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("code", code).finish();
    format!("/sign-in/link?{query}")
}
