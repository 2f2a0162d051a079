//! Signing in at the page, by a token or by a link; what each seat is offered there; and whose hand
//! an argument is said to be.

use std::time::{Duration, Instant};

use aw::settings::{Guard, Limits};
use futures_util::future::join_all;
use reqwest::Method;
use reqwest::header::SET_COOKIE;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::token_server::TokenServer;
use crate::world::page_client::{PageResponse, see, seen, send};
use crate::world::{World, new_id, text};

/// What a browser says that is on its way to a page.
const VISIT: [(&str, &str); 2] = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];

/// Long before a socket is asked whether it is still there.
const AT_ONCE: Duration = Duration::from_secs(10);

const HOUR: Duration = Duration::from_secs(60 * 60);

/// The cookie of a session that this sets.
fn session(seen: &PageResponse) -> Option<String> {
    let all = seen.headers.get_all(SET_COOKIE).iter().map(|cookie| cookie.to_str().unwrap());
    all.filter(|cookie| cookie.starts_with("aw_session_") && cookie.contains("=aw_"))
        .map(str::to_owned)
        .next()
}

#[tokio::test]
async fn a_session_is_a_cookie_that_no_script_reads_and_no_other_site_sends() {
    let guard = Guard {
        public: vec![
            "https://debates.example.org".parse().unwrap(),
            "http://plain.example.org".parse().unwrap(),
        ],
        ..Guard::sharing("secret")
    };
    let world = World::with(guard, Limits::default()).await;
    for (host, origin, secure) in [
        (None, None, false),
        (Some("debates.example.org"), Some("https://debates.example.org"), true),
        (Some("debates.example.org"), None, true),
        (Some("plain.example.org"), Some("http://plain.example.org"), false),
    ] {
        let with = |method, path| {
            let request = world.request(method, path);
            let request =
                if let Some(host) = host { request.header("host", host) } else { request };
            match origin {
                Some(origin) => request.header("origin", origin),
                None => request,
            }
        };
        let ask = seen(with(Method::GET, "/sign-in")).await;
        let body = format!("csrf={}&token=secret", ask.csrf());
        let form = with(Method::POST, "/sign-in")
            .header("content-type", "application/x-www-form-urlencoded")
            .header("cookie", ask.cookies());
        let signed = seen(form.body(body)).await;
        assert_eq!(signed.status, 303, "{host:?}: {}", signed.body);
        let cookie = session(&signed).expect("a session");
        let mut said: Vec<&str> = cookie.split("; ").skip(1).collect();
        said.sort_unstable();
        let mut expected = vec!["HttpOnly", "Max-Age=43200", "Path=/", "SameSite=Strict"];
        expected.extend(secure.then_some("Secure"));
        assert_eq!(said, expected, "{host:?}");
        let browser = ask.header("set-cookie");
        assert_eq!(browser.contains("; Secure"), secure, "{host:?}: {browser}");
        assert!(browser.contains("HttpOnly") && browser.contains("SameSite=Strict"), "{browser}");
        assert!(!cookie.contains("secret"), "the token itself is not in it");
    }
}

#[tokio::test]
async fn a_session_is_over_after_twelve_hours() {
    let server = TokenServer::start().await;
    let guest = server.guest("secret").await;
    server.world.pass(12 * HOUR - Duration::from_millis(1));
    assert!(guest.is_signed_in().await);
    server.world.pass(Duration::from_millis(1));
    assert!(!guest.is_signed_in().await);
}

#[tokio::test]
async fn a_session_is_over_with_its_token() {
    let server = TokenServer::start().await;
    let (debate, _) = server.debate("T").await;
    let (token, _) = server.seat(json!({"role": "observer", "expires_in": 3600})).await;
    let guest = server.guest(&token).await;
    let mut socket = guest.follows(&format!("/ws?debate_id={debate}")).await.ok().unwrap();
    socket.hears("initial_state").await;
    server.world.pass(HOUR - Duration::from_millis(1));
    assert!(guest.is_signed_in().await);
    server.world.pass(Duration::from_millis(1));
    assert!(!guest.is_signed_in().await);
    assert_eq!(guest.follows("/ws").await.err(), Some(401));
    // The socket gets no more events and closes with the reason.
    server.post(&format!("/debates/{debate}/intervention"), json!({})).await;
    assert_eq!(socket.ends().await, Some(CloseCode::Policy));
}

#[tokio::test]
async fn signing_out_ends_the_session_at_once_also_for_a_copied_cookie() {
    let server = TokenServer::start().await;
    let (debate, _) = server.debate("T").await;
    let (guest, other) = (server.guest("secret").await, server.guest("secret").await);
    let mut one = guest.follows(&format!("/ws?debate_id={debate}")).await.ok().unwrap();
    one.hears("initial_state").await;
    let mut all = guest.follows("/ws").await.ok().unwrap();
    let mut others = other.follows("/ws").await.ok().unwrap();
    let began = Instant::now();
    let out = guest.sends("/sign-out", &[]).await;
    assert_eq!((out.status, out.header("location")), (303, "/sign-in"));
    assert!(
        out.header("set-cookie").starts_with("aw_session_")
            && out.header("set-cookie").contains("=; ")
            && out.header("set-cookie").contains("Max-Age=0")
    );
    assert!(!guest.is_signed_in().await, "the same cookie again");
    assert_eq!(guest.follows("/ws").await.err(), Some(401));
    assert_eq!(one.ends().await, Some(CloseCode::Policy));
    assert_eq!(all.ends().await, Some(CloseCode::Policy));
    assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
    // Another browser with the same token stays.
    assert!(other.is_signed_in().await);
    server.post(&format!("/debates/{debate}/intervention"), json!({})).await;
    others.hears("debate_updated").await;
}

#[tokio::test]
async fn a_revoked_token_ends_its_sessions_and_their_sockets_at_once() {
    let server = TokenServer::start().await;
    let (debate, _) = server.debate("T").await;
    let (token, id) = server.seat(json!({"role": "arbitrator"})).await;
    let (lasting, _) = server.seat(json!({"role": "observer"})).await;
    let (guest, other) = (server.guest(&token).await, server.guest(&lasting).await);
    let link = server.link(&token, "/").await;
    let mut one = guest.follows(&format!("/ws?debate_id={debate}")).await.ok().unwrap();
    one.hears("initial_state").await;
    let mut all = guest.follows("/ws").await.ok().unwrap();
    let began = Instant::now();
    server.ask("secret", Method::DELETE, &format!("/tokens/{id}"), Value::Null).await.ok();
    assert_eq!(one.ends().await, Some(CloseCode::Policy));
    assert_eq!(all.ends().await, Some(CloseCode::Policy));
    assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
    assert!(!guest.is_signed_in().await);
    let ruling = guest.sends(&format!("/debate/{debate}/stop"), &[("content", "Stop")]).await;
    assert_eq!(ruling.status, 401);
    assert!(session(&see(&server.world, &link, &VISIT).await).is_none(), "nor does its link");
    assert!(other.is_signed_in().await);
}

#[tokio::test]
async fn a_new_sign_in_ends_the_session_before() {
    let server = TokenServer::start().await;
    let (token, _) = server.seat(json!({"role": "observer"})).await;
    let guest = server.guest("secret").await;
    let anew = guest.sends("/sign-in", &[("token", &token)]).await;
    let cookie = session(&anew).expect("a session");
    assert!(!guest.is_signed_in().await, "the older cookie");
    let page = see(&server.world, "/", &[("cookie", &cookie)]).await;
    assert!(
        page.status == 200 && page.body.contains("<bdi>observer</bdi>, Observer"),
        "{}",
        page.body
    );
}

#[tokio::test]
async fn a_link_signs_in_once_however_many_follow_it_at_once() {
    let server = TokenServer::start().await;
    let (debate, _) = server.debate("T").await;
    let to = format!("/debate/{debate}");
    for _ in 0..5 {
        let link = server.link("secret", &to).await;
        let visits = (0..20).map(|_| see(&server.world, &link, &VISIT));
        let came = join_all(visits).await;
        let (inside, outside): (Vec<_>, Vec<_>) =
            came.iter().partition(|seen| session(seen).is_some());
        assert_eq!((inside.len(), outside.len()), (1, 19));
        assert_eq!((inside[0].status, inside[0].header("location")), (303, to.as_str()));
        assert_eq!(inside[0].header("referrer-policy"), "no-referrer");
        assert_eq!(inside[0].header("cache-control"), "no-store");
        for late in outside {
            assert!(late.status == 200 && late.body.contains("was used already"), "{}", late.body);
            assert!(late.body.contains("name=\"token\""), "there is the other way in");
            assert_eq!(late.hidden("to"), to, "and it leads to the same place");
        }
        let page = see(&server.world, &to, &[("cookie", &session(inside[0]).unwrap())]).await;
        assert_eq!(page.status, 200);
    }
}

#[tokio::test]
async fn a_link_that_is_only_looked_at_is_not_used_up() {
    let server = TokenServer::start().await;
    let link = server.link("secret", "/new").await;
    let looks: [&[(&str, &str)]; 6] = [
        &[],
        &[("user-agent", "Slackbot-LinkExpanding 1.0"), ("accept", "*/*")],
        &[VISIT[0], VISIT[1], ("sec-purpose", "prefetch")],
        &[VISIT[0], VISIT[1], ("sec-purpose", "prefetch;prerender")],
        &[VISIT[0], VISIT[1], ("x-moz", "prefetch")],
        &[("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "empty")],
    ];
    for look in looks {
        let page = see(&server.world, &link, look).await;
        assert!(page.status == 200 && session(&page).is_none(), "{look:?}");
        assert_eq!(page.header("referrer-policy"), "strict-origin", "the code stays here");
    }
    let head = seen(server.world.request(Method::HEAD, &link)).await;
    assert!(head.status == 200 && session(&head).is_none());
    // A person who is shown that page has a button, for the same link.
    let page = see(&server.world, &link, &[]).await;
    let (csrf, code, to) = (page.csrf(), page.hidden("code"), page.hidden("to"));
    let fields = [("csrf", csrf.as_str()), ("code", &code), ("to", &to)];
    let stranger = send(&server.world, "/sign-in/link", "", &fields).await;
    assert!(stranger.status == 403 && session(&stranger).is_none(), "another browser's form");
    let signed = send(&server.world, "/sign-in/link", &page.cookies(), &fields).await;
    assert_eq!((signed.status, signed.header("location")), (303, "/new"));
    let cookie = session(&signed).expect("a session");
    let again = send(&server.world, "/sign-in/link", &page.cookies(), &fields).await;
    assert!(session(&again).is_none() && again.body.contains("was used already"));
    // A browser that is signed in already goes to the page of the link.
    let mut back = VISIT.to_vec();
    back.push(("cookie", &cookie));
    let back = see(&server.world, &link, &back).await;
    assert_eq!((back.status, back.header("location")), (303, "/new"));
}

#[tokio::test]
async fn a_wrong_or_expired_code_is_reported_and_the_token_form_is_offered() {
    let server = TokenServer::start().await;
    let (token, _) = server.seat(json!({"role": "observer"})).await;
    let guest = server.guest(&token).await;
    let session_code = guest.cookies.split("aw_session_").nth(1).unwrap()[9..].to_owned();
    let expired = server.link("secret", "/").await;
    let fresh = server.link("secret", "/").await;
    let code = fresh.split("code=").nth(1).unwrap().split('&').next().unwrap().to_owned();
    // Neither a session nor a token is a link, and a link is no session.
    for wrong in ["", "aw_0000", "secret", &token, &session_code, &code.to_uppercase(), &code[..66]]
    {
        let page = see(&server.world, &format!("/sign-in/link?code={wrong}"), &VISIT).await;
        assert!(page.status == 200 && session(&page).is_none(), "{wrong}");
        assert!(page.body.contains("was used already or is older"), "{wrong}");
        assert!(page.body.contains("name=\"token\"") && page.body.contains("role=\"alert\""));
    }
    for cookie in [&code, &token, "secret"] {
        let cookie = format!("aw_session={cookie}");
        assert_eq!(see(&server.world, "/", &[("cookie", &cookie)]).await.status, 303, "{cookie}");
    }
    server.world.pass(Duration::from_secs(10 * 60) - Duration::from_millis(1));
    assert!(session(&see(&server.world, &fresh, &VISIT).await).is_some(), "just in time");
    server.world.pass(Duration::from_millis(1));
    let late = see(&server.world, &expired, &VISIT).await;
    assert!(session(&late).is_none() && late.body.contains("is older"), "{}", late.body);
}

#[tokio::test]
async fn an_invalid_token_is_reported() {
    let server = TokenServer::start().await;
    let (token, id) = server.seat(json!({"role": "observer"})).await;
    server.ask("secret", Method::DELETE, &format!("/tokens/{id}"), Value::Null).await.ok();
    for wrong in ["", " ", "guess", &token, "secret\u{0}", "SECRET"] {
        let ask = see(&server.world, "/sign-in?to=%2Fnew", &[]).await;
        let fields = [("csrf", ask.csrf()), ("token", wrong.to_owned()), ("to", "/new".to_owned())];
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, said)| (*name, said.as_str())).collect();
        let page = send(&server.world, "/sign-in", &ask.cookies(), &fields).await;
        assert!(page.status == 200 && session(&page).is_none(), "{wrong:?}");
        assert!(page.body.contains("The server does not accept this token"), "{wrong:?}");
        assert!(wrong.len() < 10 || !page.body.contains(wrong), "what was pasted is not repeated");
    }
    // Somebody pastes more than the token.
    server.guest(" secret\r\n").await;
}

/// What a page offers.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
struct Offers {
    rule: bool,
    stop: bool,
    delete: bool,
    open: bool,
}

#[tokio::test]
async fn the_page_offers_no_action_that_the_server_would_refuse() {
    const ALL: Offers = Offers { rule: true, stop: true, delete: true, open: true };
    const NONE: Offers = Offers { rule: false, stop: false, delete: false, open: false };
    let server = TokenServer::start().await;
    let (running, _) = server.debate("Running").await;
    let (appealed, stopped) = (server.appealed("Appealed").await, server.debate("Stopped").await.0);
    server.post(&format!("/debates/{stopped}/intervention"), json!({})).await;
    let seats = [
        (json!("administrator"), "", ALL),
        (
            json!({"role": "arbitrator", "name": "An"}),
            "An</bdi>, Arbitrator",
            Offers { rule: true, stop: true, ..NONE },
        ),
        (
            json!({"role": "proposer", "name": "Bo"}),
            "Bo</bdi>, Proposer",
            Offers { open: true, ..NONE },
        ),
        (json!({"role": "opponent", "name": "Chi"}), "Chi</bdi>, Opponent", NONE),
        (json!({"role": "observer", "name": "Dung"}), "Dung</bdi>, Observer", NONE),
        (
            json!({"role": "proposer", "name": "Eve", "debate_id": running}),
            "Eve</bdi>, Proposer",
            NONE,
        ),
    ];
    for (fields, name, offers) in seats {
        let is_administrator = fields.is_string();
        let bound = fields["debate_id"].is_string();
        let token =
            if is_administrator { "secret".to_owned() } else { server.seat(fields).await.0 };
        let guest = server.guest(&token).await;
        let page = guest.sees(&format!("/debate/{running}")).await;
        assert_eq!(page.status, 200, "{name}");
        assert_eq!(page.body.contains("/stop\""), offers.stop, "{name}: stop");
        assert_eq!(page.body.contains("/delete\""), offers.delete, "{name}: delete");
        assert_eq!(page.body.contains("href=\"/new\""), offers.open, "{name}: new");
        assert!(page.body.contains(name), "{name}: who one is");
        let reads = "You can read. Only the arbitrator can rule or stop the agents.";
        assert_eq!(page.body.contains(reads), !offers.rule, "{name}: {reads}");
        let path = format!("/debate/{running}");
        let asked = [("cookie", guest.cookies.as_str()), ("x-fragment", "live")];
        let live = see(&server.world, &path, &asked).await.body;
        assert_eq!(live.contains("<form"), offers.stop, "{name}: the part that is live");
        assert_eq!(guest.sees("/new").await.status, if offers.open { 200 } else { 403 }, "{name}");
        let delete = guest.sees(&format!("/debate/{running}/delete")).await;
        assert_eq!(delete.status, if offers.delete { 200 } else { 403 }, "{name}");
        for owed in [&appealed, &stopped] {
            let page = guest.sees(&format!("/debate/{owed}")).await;
            assert_eq!(page.status, if bound { 403 } else { 200 }, "{name}");
            assert_eq!(page.body.contains("/rule\""), offers.rule, "{name}: rule");
            let standing = page.body.split("class=\"bar-state\"").nth(1).unwrap_or_default();
            let standing = standing.split("</p>").next().unwrap_or_default();
            assert_eq!(standing.contains("Your move"), offers.rule, "{name}: {standing}");
            let is_owed = offers.rule || standing.contains("ruling");
            assert!(bound || is_owed, "{name}: {standing}");
        }
        let list = guest.sees("/").await;
        assert_eq!(list.body.contains("Needs you"), offers.rule, "{name}: the list");
        assert_eq!(list.body.contains("href=\"/new\""), offers.open, "{name}: the list");
        for title in ["Appealed", "Stopped"] {
            assert_eq!(list.body.contains(title), !bound, "{name}: what is on the list");
        }
        assert!(list.body.contains("Running"), "{name}");
        assert_eq!(list.body.contains("for one debate only"), bound, "{name}");
        let needed = guest.sees("/needed").await.body;
        assert_eq!(needed.contains("\"total\":2"), offers.rule, "{name}: {needed}");
    }
}

/// Whose token, to which form, what was typed.
type Attempt<'a> = (&'a str, String, &'a [(&'a str, &'a str)]);

#[tokio::test]
async fn a_form_that_a_seat_may_not_send_changes_nothing_and_keeps_its_text() {
    let server = TokenServer::start().await;
    let (running, appealed) = (server.debate("Running").await.0, server.appealed("Appealed").await);
    let (observer, _) = server.seat(json!({"role": "observer"})).await;
    let (elsewhere, _) = server.seat(json!({"role": "arbitrator", "debate_id": running})).await;
    let (bound, _) = server.seat(json!({"role": "proposer", "debate_id": running})).await;
    let before = server.world.written();
    let request = new_id();
    let new = [
        ("title", "A title of mine"),
        ("type", "general_debate"),
        ("content", "my long text"),
        ("document", "# my plan"),
        ("debate", request.as_str()),
        ("request", request.as_str()),
    ];
    let ruling = [("words", "my long text"), ("request", request.as_str())];
    let preview = [("words", "my long text"), ("do", "preview")];
    let stop = [("content", "my long text"), ("request", request.as_str())];
    let refused: [Attempt<'_>; 8] = [
        (&observer, format!("/debate/{appealed}/rule"), &ruling),
        (&observer, format!("/debate/{appealed}/rule"), &preview),
        (&observer, format!("/debate/{running}/stop"), &stop),
        (&observer, "/new".to_owned(), &new),
        (&bound, "/new".to_owned(), &new),
        (&bound, format!("/debate/{running}/stop"), &stop),
        (&elsewhere, format!("/debate/{appealed}/rule"), &ruling),
        (&observer, format!("/debate/{running}/delete"), &[]),
    ];
    for (token, path, fields) in refused {
        let page = server.guest(token).await.sends(&path, fields).await;
        assert_eq!(page.status, 403, "{path}: {}", page.body);
        assert!(page.body.contains("Your seat may not do this"), "{path}");
        let texts = ["title", "content", "words", "document"];
        for (_, typed) in fields.iter().filter(|(name, _)| texts.contains(name)) {
            assert!(page.body.contains(typed), "{path}: {typed} is lost");
        }
    }
    assert_eq!(server.world.written(), before);
    // The one whose debate it is may.
    let taken =
        server.guest(&elsewhere).await.sends(&format!("/debate/{running}/stop"), &stop).await;
    assert_eq!(taken.status, 303, "{}", taken.body);
}

#[tokio::test]
async fn a_ruling_says_whether_a_person_or_a_program_made_it() {
    let server = TokenServer::start().await;
    let debate = server.appealed("Whose hand?").await;
    let (an, _) = server.seat(json!({"role": "arbitrator", "name": "An at her desk"})).await;
    let (codex, _) = server.seat(json!({"role": "arbitrator", "name": "codex at An's"})).await;
    let path = format!("/debate/{debate}");
    let guest = server.guest(&an).await;
    let mut live =
        guest.follows(&format!("/ws?debate_id={debate}&after_seq=3&html=1")).await.ok().unwrap();
    live.hears("initial_state").await;
    let request = new_id();
    let page = guest.sees(&path).await;
    let target = page.hidden("target");
    let fields = [("words", "Option A."), ("request", request.as_str()), ("target", &target)];
    assert_eq!(guest.sends(&format!("{path}/rule"), &fields).await.status, 303);
    let event = live.hears("new_argument").await;
    let person = text(&event["argument"]["html"]);
    assert_eq!(
        (&event["argument"]["via"], &event["argument"]["seat"]),
        (&json!("page"), &json!("An at her desk"))
    );

    let body = json!({"content": "Wait."});
    server
        .ask(&codex, Method::POST, &format!("/debates/{debate}/intervention"), body)
        .await
        .created();
    let stopped = text(&live.hears("new_argument").await["argument"]["html"]);
    let api = json!({"content": "Go on."});
    server.ask(&codex, Method::POST, &format!("/debates/{debate}/ruling"), api).await.created();
    let program = text(&live.hears("new_argument").await["argument"]["html"]);

    let by_person = "ruled by a person, on the page";
    let by_program = "ruled by a program, via api";
    assert!(person.contains(by_person) && person.contains("by-person"), "{person}");
    assert!(person.contains("seat <bdi class=\"chip\">An at her desk</bdi>"), "{person}");
    assert!(program.contains(by_program) && program.contains("by-program"), "{program}");
    assert!(program.contains("seat <bdi class=\"chip\">codex at An's</bdi>"), "{program}");
    assert!(stopped.contains("stopped by a program, via api"), "{stopped}");
    assert!(!program.contains("person") && !person.contains("program"));

    // The first load shows the same, and so does each export.
    let page = guest.sees(&path).await.body;
    let export = |format: &str| {
        let request =
            server.world.request(Method::GET, &format!("/debates/{debate}/export?format={format}"));
        seen(request.bearer_auth("secret"))
    };
    let html = export("html").await.body;
    for shown in [&page, &html] {
        assert_eq!((shown.matches(by_person).count(), shown.matches(by_program).count()), (1, 1));
        assert_eq!(shown.matches("codex at An's</bdi>").count(), 2);
        assert!(shown.contains("<span class=\"via\">via api</span>"), "the debaters' door too");
    }
    let markdown = export("markdown").await.body;
    assert!(
        markdown.contains("ruled by a person, on the page, seat `An at her desk`, answers"),
        "{markdown}"
    );
    assert!(
        markdown.contains("ruled by a program, via api, seat `codex at An's`, answers"),
        "{markdown}"
    );
    assert!(markdown.contains("via api, seat `shared token`"), "{markdown}");
    let json: Value = serde_json::from_str(&export("json").await.body).unwrap();
    let rulings =
        json["arguments"].as_array().unwrap().iter().filter(|one| one["type"] == "RULING");
    let hands: Vec<(&Value, &Value)> = rulings.map(|one| (&one["via"], &one["seat"])).collect();
    assert_eq!(
        hands,
        [(&json!("page"), &json!("An at her desk")), (&json!("api"), &json!("codex at An's"))]
    );

    let vietnamese = [("cookie", guest.cookies.as_str()), ("accept-language", "vi")];
    let page = see(&server.world, &path, &vietnamese).await.body;
    assert!(
        page.contains("ruling do một người, trên trang")
            && page.contains("ruling do một chương trình, qua api")
    );
}

#[tokio::test]
async fn an_automatic_ruling_is_neither_a_persons_nor_a_programs() {
    let world = World::start().await;
    let debate = world.debate("T").await;
    let claim = debate.claim("opponent", &debate.motion, "Agreed.").await;
    debate.ask("resolution", &text(&claim["argument"]["id"]), "Done.").await.created();
    for path in
        [format!("/debate/{}", debate.id), format!("/debates/{}/export?format=html", debate.id)]
    {
        let page = see(&world, &path, &[]).await.body;
        let ruling = page.split("id=\"a-4\"").nth(1).unwrap();
        assert!(ruling.contains("automatic") && page.contains("by-server"), "{ruling}");
        assert!(!page.contains("ruled by"), "{path}");
    }
    let markdown = see(&world, &format!("/debates/{}/export", debate.id), &[]).await.body;
    assert!(markdown.contains("automatic") && !markdown.contains("ruled by"), "{markdown}");
}

#[tokio::test]
async fn the_name_of_a_seat_is_a_name_and_nothing_else() {
    let server = TokenServer::start().await;
    let debate = server.appealed("T").await;
    for name in [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "</bdi></span><form action=//evil.test>",
        "a\u{202e}b",
        "`, ruled by a person, on the page, `",
        "[x](javascript:alert(1)) ![y](http://evil.test/y.png)",
    ] {
        let (token, _) = server.seat(json!({"role": "arbitrator", "name": name})).await;
        let stop = json!({"content": ""});
        server
            .ask(
                &token,
                Method::POST,
                &format!("/debates/{debate}/ruling"),
                json!({"content": "Go."}),
            )
            .await
            .created();
        server
            .ask(&token, Method::POST, &format!("/debates/{debate}/intervention"), stop)
            .await
            .created();
        let guest = server.guest(&token).await;
        let (page, list) = (guest.sees(&format!("/debate/{debate}")).await, guest.sees("/").await);
        let export = guest.sees(&format!("/debates/{debate}/export?format=html")).await;
        for seen in [&page, &list, &export] {
            assert_eq!(seen.status, 200, "{name}");
            for raw in ["<script>a", "<img", "<form action=//", "\u{202e}"] {
                assert!(!seen.body.contains(raw), "{name}: {raw}");
            }
        }
        let (observer, _) = server.seat(json!({"role": "observer", "name": name})).await;
        let reads = server.guest(&observer).await.sees("/").await;
        assert!(reads.body.contains("You can read."), "{name}");
        for raw in ["<script>a", "<img", "<form action=//", "\u{202e}"] {
            assert!(!reads.body.contains(raw), "{name}: {raw}");
        }
        let markdown = guest.sees(&format!("/debates/{debate}/export")).await.body;
        assert!(!markdown.contains('\u{202e}'), "{markdown}");
        let drawn = comrak::markdown_to_html(&markdown, &comrak::Options::default());
        for raw in ["<script", "<img", "<form", "<a ", "<!--"] {
            assert!(!drawn.contains(raw), "{name}: {raw} in {drawn}");
        }
        let fakes = drawn.replace("<code>", "\n<code>").replace("</code>", "</code>\n");
        let fakes = fakes.lines().filter(|line| !line.starts_with("<code>"));
        assert!(!fakes.collect::<String>().contains("by a person"), "{name}: {drawn}");
        server.world.pass(Duration::from_secs(1));
    }
}
