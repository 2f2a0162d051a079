//! The pages over plain HTTP: their headers, forms and sessions.

use aw::settings::{Guard, Limits};
use reqwest::Method;
use reqwest::header::{LOCATION, SET_COOKIE};
use serde_json::{Value, json};

use crate::browser::every_page::PointDebate;
use crate::world::page_client::{PageClient, see, seen, send};
use crate::world::{DebateFor, World, new_id};

async fn with_token() -> World {
    World::with(Guard::sharing("secret"), Limits::default()).await
}

/// Headers of a link that a person follows on another site.
const LINK: [(&str, &str); 2] = [("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "document")];

async fn appeal(debate: &DebateFor<'_>, words: &str) {
    let claim = debate.claim("opponent", &debate.motion, "No.").await;
    debate.ask("appeal", claim["argument"]["id"].as_str().unwrap(), words).await.created();
}

async fn count(debate: &DebateFor<'_>) -> usize {
    debate.context().await["arguments"].as_array().unwrap().len()
}

#[tokio::test]
async fn every_page_has_the_security_headers() {
    let world = World::start().await;
    let debate = world.debate("T").await;
    for path in ["/", "/new", &format!("/debate/{}", debate.id), "/debate/x", "/nowhere"] {
        let page = see(&world, path, &[("accept", "text/html")]).await;
        let policy = page.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        for word in ["unsafe-inline", "unsafe-eval", "data:", "http:", "https:", "*"] {
            assert!(!policy.contains(word), "{path}: {policy}");
        }
        for word in ["frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"] {
            assert!(policy.contains(word), "{path}: {policy}");
        }
        for (name, value) in [
            ("referrer-policy", "same-origin"),
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(page.header(name), value, "{path}");
        }
        for word in [" style=", "<style", " onclick", "javascript:"] {
            assert!(!page.body.contains(word), "{path}: {word}");
        }
    }
}

#[tokio::test]
async fn errors_are_pages_for_browsers_and_json_for_programs() {
    let world = World::start().await;
    let debate = world.debate("T").await.id;
    for path in ["/nowhere", &format!("/debate/{}", new_id()), "/debate/x"] {
        let page = see(&world, path, &[("accept", "text/html,*/*")]).await;
        assert!(page.status == 404 || page.status == 400, "{path}: {}", page.status);
        assert!(page.header("content-type").starts_with("text/html"), "{path}");
        assert!(page.body.contains("href=\"/\""), "{path} links to the list");
    }
    for path in ["?before=abc", "?before=1&before=2", "/text/abc", "/text/18446744073709551615"]
        .map(|rest| format!("/debate/{debate}{rest}"))
        .iter()
        .map(String::as_str)
        .chain(["/debate/%ff", "/doc/x?version=-1"])
    {
        let page = see(&world, path, &[]).await;
        assert!(page.status == 404 || page.status == 400, "{path}: {}", page.status);
        assert!(!page.body.contains("deserialize"), "{path}: {}", page.body);
    }
    world.get("/nowhere").await.refused(404, "ROUTE_NOT_FOUND");
}

#[tokio::test]
async fn assets_are_named_by_hash_and_cached_for_ever() {
    let world = World::start().await;
    let page = see(&world, "/", &[]).await;
    let style = page.after("rel=\"stylesheet\" href=\"");
    let asset = see(&world, &style, &[]).await;
    assert_eq!((asset.status, asset.header("content-type")), (200, "text/css; charset=utf-8"));
    assert!(asset.header("cache-control").contains("immutable"));
    let other = see(&world, "/assets/000000000000/app.css", &[]).await;
    assert_eq!(other.status, 404, "another version has another name");
}

#[tokio::test]
async fn a_form_without_a_valid_csrf_token_changes_nothing_and_keeps_the_text() {
    let world = World::start().await;
    let debate = world.debate("T").await;
    let client = PageClient::open(&world, &format!("/debate/{}", debate.id)).await;
    let path = format!("/debate/{}/stop", debate.id);
    let typed = ("content", "my long reason");
    // A token of a server with another key.
    let other = World::start().await;
    let stale = see(&other, "/new", &[("cookie", &client.cookies)]).await.csrf();
    for (cookies, csrf) in [
        (client.cookies.as_str(), ""),
        (&client.cookies, "00"),
        (&client.cookies, &stale),
        ("", &client.csrf),
    ] {
        let refused = send(&world, &path, cookies, &[("csrf", csrf), typed]).await;
        assert_eq!(refused.status, 403);
        assert!(refused.body.contains("my long reason"));
    }
    let body = format!("csrf={}&content=x", client.csrf);
    for (name, value) in
        [("origin", "http://evil.test"), ("origin", "null"), ("sec-fetch-site", "cross-site")]
    {
        let request = world
            .request(Method::POST, &path)
            .header("content-type", "application/x-www-form-urlencoded")
            .header("cookie", &client.cookies)
            .header(name, value)
            .body(body.clone());
        assert_eq!(seen(request).await.status, 403, "{name}: {value}");
    }
    assert_eq!(debate.context().await["debate"]["state"], "AWAITING_OPPONENT");
    let accepted = client.sends(&path, &[("request", &new_id()), typed]).await;
    assert_eq!(accepted.status, 303, "{}", accepted.body);
    let context = debate.context().await;
    assert_eq!(context["arguments"][0]["content"], "my long reason");
    assert_eq!(context["arguments"][0]["via"], "page");
}

#[tokio::test]
async fn another_site_may_link_to_pages_and_do_nothing_else() {
    let world = World::start().await;
    assert_eq!(see(&world, "/", &LINK).await.status, 200);
    assert_eq!(see(&world, "/debates", &LINK).await.status, 403, "the API is not a page");
    for site in ["cross-site", "same-site"] {
        for dest in ["iframe", "image", "script", "empty", "style"] {
            let asked = [("sec-fetch-site", site), ("sec-fetch-dest", dest)];
            assert_eq!(see(&world, "/", &asked).await.status, 403, "{site} {dest}");
        }
    }
}

#[tokio::test]
async fn a_link_from_another_site_is_asked_for_again_and_sets_no_cookie() {
    // Browsers send no cookies with such a link. A new cookie would make open forms invalid.
    for world in [World::start().await, with_token().await] {
        for path in ["/", "/new", "/sign-in"] {
            let page = see(&world, path, &LINK).await;
            assert_eq!((page.status, page.cookies().as_str()), (200, ""), "{path}");
            assert!(page.body.contains("http-equiv=\"refresh\""), "{path}: {}", page.body);
        }
        let from_here = [("sec-fetch-site", "same-origin"), ("sec-fetch-dest", "document")];
        let page = see(&world, "/sign-in", &from_here).await;
        assert!(page.cookies().contains("aw_browser="), "{}", page.body);
    }
    let page = see(&with_token().await, "/debate/1?x=%22%3E", &LINK).await;
    assert!(page.body.contains("/debate/1?x=%22%3E") && !page.body.contains("\">\""));
}

#[tokio::test]
async fn a_ruling_sent_twice_is_one_ruling_and_a_late_one_shows_the_first() {
    let world = World::start().await;
    let debate = world.debate("T").await;
    appeal(&debate, "Decide.").await;
    let client = PageClient::open(&world, &format!("/debate/{}", debate.id)).await;
    let (target, request) = (client.page.hidden("target"), client.page.hidden("request"));
    let path = format!("/debate/{}/rule", debate.id);
    for _ in 0..2 {
        let fields = [("target", target.as_str()), ("request", &request), ("words", "Option A")];
        let first = client.sends(&path, &fields).await;
        assert_eq!(first.status, 303, "{}", first.body);
        assert!(first.headers[LOCATION].to_str().unwrap().contains("#a-4"));
        assert_eq!(count(&debate).await, 3);
    }
    let fields = [("target", target.as_str()), ("words", "Option B, because")];
    let late = client.sends(&path, &fields).await;
    assert_eq!(late.status, 200);
    assert!(late.body.contains("Option B, because") && late.body.contains("href=\"#a-4\""));
    assert_eq!(count(&debate).await, 3);
}

#[tokio::test]
async fn a_ruling_is_made_of_a_choice_and_a_text() {
    let world = World::start().await;
    let option = "Option B: Import it slowly";
    let options = "## Options\n\n1. **Option A:** Stop it\n2. **Option B:** Import it slowly\n";
    // The fields, and the ruling or the message of the page.
    type Fields<'a> = &'a [(&'a str, &'a str)];
    let cases: [(Fields, Result<&str, &str>); 9] = [
        (&[], Err("Choose an option or write")),
        (&[("words", " \r\n")], Err("Choose an option or write")),
        (&[("choice", "Option B"), ("words", "")], Ok(option)),
        (
            &[("choice", "Option B"), ("words", "Measure\r\nit.")],
            Ok("Option B: Import it slowly\n\nMeasure\nit."),
        ),
        (&[("words", "Ask them.")], Ok("Ask them.")),
        (&[("choice", "another"), ("words", "Ask them.")], Ok("Ask them.")),
        (&[("choice", "another"), ("words", "")], Err("Describe the other way")),
        (&[("choice", "Option X"), ("words", "My words")], Err("does not have this option")),
        // Older pages sent one text, in which a choice could be lost.
        (&[("choice", "Option B"), ("content", "My words")], Err("This form is out of date")),
    ];
    for (fields, outcome) in cases {
        let debate = world.debate("T").await;
        appeal(&debate, options).await;
        let client = PageClient::open(&world, &format!("/debate/{}", debate.id)).await;
        let (target, request) = (client.page.hidden("target"), client.page.hidden("request"));
        let basis = [("target", target.as_str()), ("request", &request)];
        let path = format!("/debate/{}/rule", debate.id);
        let answer = client.sends(&path, &[&basis[..], fields].concat()).await;
        let context = debate.context().await;
        match outcome {
            Ok(ruling) => assert_eq!(context["arguments"][2]["content"], ruling, "{fields:?}"),
            Err(message) => {
                assert!(answer.body.contains(message), "{fields:?}: {}", answer.body);
                assert_eq!(context["arguments"].as_array().unwrap().len(), 2, "{fields:?}");
                let typed = fields.iter().filter(|(name, _)| ["words", "content"].contains(name));
                for (_, typed) in typed {
                    assert!(answer.body.contains(typed.trim()), "{fields:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn links_of_the_older_system_lead_to_the_pages() {
    let world = World::start().await;
    let debate = world.debate("T").await;
    let (old, new) = (format!("/debate/debates/{}", debate.id), format!("/debate/{}", debate.id));
    for (old, new) in [("/debate", "/"), ("/debate/debates", "/"), (old.as_str(), new.as_str())] {
        let page = see(&world, old, &[]).await;
        assert_eq!((page.status, page.header("location")), (303, new), "{old}");
        assert_eq!(see(&world, new, &[]).await.status, 200, "{new}");
    }
    let odd = see(&world, "/debate/debates/my-debate-1%2F..%2F..%2Fx", &[]).await;
    assert_eq!(odd.header("location"), "/debate/my-debate-1%2F..%2F..%2Fx");
    let asked = see(&with_token().await, &old, &[]).await;
    assert_eq!(asked.header("location"), format!("/sign-in?to={}", old.replace('/', "%2F")));
}

#[tokio::test]
async fn two_servers_on_one_machine_do_not_sign_each_other_out() {
    // A browser sends the cookies of one port to all others of the machine.
    let (one, other) = (with_token().await, with_token().await);
    let mut first = PageClient::open(&one, "/sign-in").await;
    first.signs_in("secret").await;
    let mut second = PageClient::open(&other, "/sign-in").await;
    let signed = second.signs_in("secret").await;
    let name = signed.cookies().split('=').next().unwrap().to_owned();
    assert!(!first.cookies.contains(&name), "{name} overwrites a cookie of the other server");
    let both = format!("{}; {}", first.cookies, second.cookies);
    for world in [&one, &other] {
        assert_eq!(see(world, "/new", &[("cookie", &both)]).await.status, 200);
    }
    let out = send(&one, "/sign-out", &both, &[("csrf", &first.csrf)]).await;
    assert_eq!(out.status, 303);
    assert_eq!(see(&one, "/new", &[("cookie", &both)]).await.status, 303);
    assert_eq!(see(&other, "/new", &[("cookie", &both)]).await.status, 200);
}

#[tokio::test]
async fn a_person_signs_in_with_a_token_and_out_again() {
    let world = with_token().await;
    for path in ["/", "/new", "/debate/93d81b1a-0e66-4510-abfd-aa33b26cb82e", "/doc/x"] {
        let page = see(&world, path, &[]).await;
        assert_eq!(page.status, 303, "{path}");
        assert!(page.header("location").starts_with("/sign-in?to="), "{path}");
    }
    let mut client = PageClient::open(&world, "/sign-in?to=%2Fnew").await;
    let wrong = client.sends("/sign-in", &[("token", "guess")]).await;
    assert_eq!((wrong.status, wrong.cookies().contains("aw_session")), (200, false));
    let signed = client.signs_in("secret").await;
    assert_eq!((signed.status, signed.header("location")), (303, "/new"));
    let cookie = signed.headers[SET_COOKIE].to_str().unwrap();
    for word in ["HttpOnly", "SameSite=Strict", "Max-Age="] {
        assert!(cookie.contains(word), "{cookie}");
    }
    assert!(!cookie.contains("secret"), "the cookie does not contain the token");
    assert_eq!(client.sees("/new").await.status, 200);
    for path in ["/debates", "/metrics"] {
        assert_eq!(client.sees(path).await.status, 401, "{path}: the API wants a token");
    }
    let out = client.sends("/sign-out", &[]).await;
    assert!(out.headers[SET_COOKIE].to_str().unwrap().contains("Max-Age=0"));
    let forged = "aw_session=99999999999999.aaaa";
    assert_eq!(see(&world, "/", &[("cookie", forged)]).await.status, 303);
    for to in ["//evil.test", "https://evil.test", "/\\evil.test"] {
        let signed = client.sends("/sign-in", &[("token", "secret"), ("to", to)]).await;
        assert_eq!(signed.header("location"), "/", "sign-in never leads to another site: {to}");
    }
}

#[tokio::test]
async fn a_signed_out_form_is_an_error_page_and_a_signed_out_script_gets_401() {
    let world = with_token().await;
    let request = world
        .request(Method::POST, "/debate/93d81b1a-0e66-4510-abfd-aa33b26cb82e/rule")
        .header("accept", "text/html")
        .header("content-type", "application/x-www-form-urlencoded")
        .body("content=my+ruling");
    let page = seen(request).await;
    assert_eq!(page.status, 401);
    assert!(page.body.contains("You are signed out"), "{}", page.body);
    assert_eq!(see(&world, "/", &[("x-fragment", "list")]).await.status, 401);
    assert_eq!(see(&world, "/needed", &[]).await.status, 401);
}

#[tokio::test]
async fn language_and_theme_are_remembered() {
    let world = World::start().await;
    let vietnamese = see(&world, "/", &[("accept-language", "vi-VN,vi;q=0.9")]).await;
    assert!(vietnamese.body.contains("<html lang=\"vi\""));
    assert!(vietnamese.body.contains("Chưa có debate"));
    let client = PageClient::open(&world, "/").await;
    for (field, value, expected) in
        [("lang", "en", "<html lang=\"en\""), ("theme", "dark", "data-theme=\"dark\"")]
    {
        let chosen = client.sends("/preferences", &[(field, value), ("to", "/")]).await;
        let cookies = format!("{}; {}", client.cookies, chosen.cookies());
        let page = see(&world, "/", &[("accept-language", "vi"), ("cookie", &cookies)]).await;
        assert!(page.body.contains(expected), "{field}");
    }
}

/// The fields of the form for a new debate, with changes.
fn new_debate<'a>(client: &PageClient, changes: &[(&'a str, &'a str)]) -> Vec<(&'a str, String)> {
    let mut fields = vec![
        ("debate", client.page.hidden("debate")),
        ("request", client.page.hidden("request")),
        ("title", "Keep one file?".to_owned()),
        ("type", "general_debate".to_owned()),
        ("content", "We should.\r\nReally.".to_owned()),
        ("document", "# Plan\r\n\r\nOne file.".to_owned()),
        ("policy", "arbitrator".to_owned()),
    ];
    for (name, value) in changes {
        fields.iter_mut().find(|(known, _)| known == name).unwrap().1 = (*value).to_owned();
    }
    fields
}

async fn send_new(
    client: &PageClient,
    changes: &[(&str, &str)],
) -> crate::world::page_client::PageResponse {
    let fields = new_debate(client, changes);
    let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    client.sends("/new", &fields).await
}

#[tokio::test]
async fn a_form_sent_twice_opens_one_debate_with_one_document() {
    let world = World::start().await;
    let client = PageClient::open(&world, "/new").await;
    let debate = client.page.hidden("debate");
    for _ in 0..2 {
        let opened = send_new(&client, &[]).await;
        assert_eq!(opened.status, 303, "{}", opened.body);
        assert_eq!(opened.header("location"), format!("/debate/{debate}?new=1"));
    }
    assert_eq!(world.get("/debates").await.ok()["total"], 1);
    let context = world.get(&format!("/debates/{debate}")).await.ok();
    assert_eq!(context["debate"]["resolution_policy"], "arbitrator");
    assert_eq!(context["documents"][0]["version"], 1);
    let motion = context["motion"]["content"].as_str().unwrap();
    assert!(motion.starts_with("We should.\nReally.\n\ndoc_id="), "{motion:?}");
    let page = client.sees(&format!("/debate/{debate}?new=1")).await;
    for role in ["proposer", "opponent"] {
        // Each word has an element of its own, so that no line ends within a flag.
        let body = page.body.replace("<span class=\"word\">", "").replace("</span>", "");
        let line = format!("aw agent show {role} --debate-id {debate}");
        assert!(body.contains(&line), "{role}");
    }
    let refused = send_new(&client, &[("title", "")]).await;
    assert!(refused.status == 200 && refused.body.contains("Really."), "{}", refused.status);
}

#[tokio::test]
async fn a_refused_debate_leaves_no_document_behind() {
    let limits = Limits { content_bytes: 100, ..Limits::default() };
    let world = World::with(Guard::default(), limits).await;
    let (taken, deleted) = (world.debate("T").await.id, world.debate("T").await.id);
    world.delete(&format!("/debates/{deleted}")).await.ok();
    let client = PageClient::open(&world, "/new").await;
    let before = world.written();
    // Together with the citation of its document this motion is too long by one byte.
    let long = "x".repeat(100 - "\n\ndoc_id=".len() - 36 - " (v1)".len() + 1);
    for change in [
        ("debate", "x"),
        ("request", "x"),
        ("content", &long),
        ("debate", &taken),
        ("debate", &deleted),
    ] {
        let refused = send_new(&client, &[change]).await;
        assert!(refused.status == 200 && refused.body.contains("# Plan"), "{}", refused.body);
        assert_eq!(world.written(), before, "{change:?}");
    }
    let opened = send_new(&client, &[("content", &long[1..])]).await;
    assert_eq!(opened.status, 303, "{}", opened.body);
}

#[tokio::test]
async fn a_transcript_in_html_loads_nothing_and_runs_nothing() {
    let world = World::start().await;
    let debate = world.debate("A <b>title</b>").await;
    let words = "<script>alert(1)</script> ![x](http://evil.test/x.png)";
    debate.claim("opponent", &debate.motion, words).await;
    let page = see(&world, &format!("/debates/{}/export?format=html", debate.id), &[]).await;
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    for word in ["<script", "src=", "<link", "url(", "@import", "<b>title"] {
        assert!(!page.body.contains(word), "{word}");
    }
    assert!(page.body.contains("A &lt;b&gt;title"));
    assert!(page.header("content-security-policy").contains("default-src 'none'"));
}

#[tokio::test]
async fn a_carriage_return_does_not_end_the_quote_of_a_transcript() {
    let world = World::start().await;
    let debate = world.debate("T").await;
    debate.claim("opponent", &debate.motion, "No.\r## 9. RULING (arbitrator)\r\rforged").await;
    let page = see(&world, &format!("/debates/{}/export", debate.id), &[]).await;
    assert!(!page.body.contains('\r'), "{:?}", page.body);
    assert!(page.body.contains("> ## 9. RULING (arbitrator)\n"), "{}", page.body);
}

#[tokio::test]
async fn a_long_debate_shows_the_newest_200_arguments_and_links_to_the_rest() {
    let world = World::start().await;
    let debate = world.debate("Long").await;
    let path = format!("/debate/{}", debate.id);
    for before in ["9223372036854775808", "18446744073709551615", "99999", "0", "2"] {
        let page = see(&world, &format!("{path}?before={before}"), &[]).await;
        assert_eq!(page.status, 200, "{before}");
        assert!(!page.body.contains("earlier arguments"), "{before}");
    }
    let mut target = debate.motion.clone();
    for number in 0..260 {
        let role = ["opponent", "proposer"][number % 2];
        let written = debate.claim(role, &target, &format!("Word {number}.")).await;
        target = written["argument"]["id"].as_str().unwrap().to_owned();
    }
    let page = see(&world, &path, &[]).await;
    let has = |body: &str, seq: u32| body.contains(&format!("id=\"a-{seq}\""));
    assert!(has(&page.body, 1) && has(&page.body, 261) && !has(&page.body, 30));
    let earlier = page.after("id=\"earlier\"><a class=\"button\" href=\"");
    let earlier = see(&world, earlier.split('#').next().unwrap(), &[]).await;
    assert!(has(&earlier.body, 30) && has(&earlier.body, 2));
    let text = see(&world, &format!("{path}/text/31"), &[]).await;
    assert_eq!(text.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(text.body, "Word 29.");
}

#[tokio::test]
async fn the_page_asks_before_it_deletes_a_debate() {
    let world = World::start().await;
    let debate = world.debate("To go").await;
    let path = format!("/debate/{}/delete", debate.id);
    let client = PageClient::open(&world, &path).await;
    assert!(client.page.body.contains("To go") && client.page.body.contains("(arguments: 1)"));
    assert_eq!(world.get("/debates").await.ok()["total"], 1, "asking deletes nothing");
    let done = client.sends(&path, &[]).await;
    assert_eq!((done.status, done.header("location")), (303, "/?deleted=1"));
    let page = client.sees(&format!("/debate/{}", debate.id)).await;
    assert_eq!(page.status, 404);
    assert!(page.body.contains("was deleted"), "{}", page.body);
}

#[tokio::test]
async fn debates_that_need_the_arbitrator_are_counted() {
    let world = World::start().await;
    let debate = world.debate("T").await;
    let needed = async || -> Value {
        serde_json::from_str(&see(&world, "/needed", &[]).await.body).unwrap()
    };
    assert_eq!(needed().await, json!({"total": 0, "debates": []}));
    debate.intervene().await.created();
    let after = needed().await;
    assert_eq!((&after["total"], &after["debates"][0]["id"]), (&json!(1), &json!(debate.id)));
}

/// A debate in which the opponent knows nothing of points, so that its RESOLUTION is held.
async fn held(world: &World) -> PointDebate<'_> {
    let made = PointDebate::opened(world, json!({"points": true})).await;
    made.says("opponent", "I know nothing of points.").await;
    made.completes(&format!("Settled: doc_id={} (v1).", made.plan)).await;
    made
}

#[tokio::test]
async fn the_list_says_why_a_resolution_is_held_and_what_can_be_done() {
    let world = World::start().await;
    held(&world).await;
    let list = see(&world, "/", &[]).await.body;
    let why = "asks to complete the debate. The resolution waits for the arbitrator: the opponent has not agreed.";
    assert!(list.contains(why) && list.contains(">Approve or send back</a>"), "{list}");
}

#[tokio::test]
async fn a_question_calls_a_document_by_its_name() {
    let world = World::start().await;
    let made = held(&world).await;
    let page = see(&world, &format!("/debate/{}", made.debate.id), &[]).await.body;
    assert_eq!(page.matches("<bdi dir=\"auto\">Settled: Charge retries (v1).</bdi>").count(), 2);
}

#[tokio::test]
async fn the_plan_of_a_debate_is_the_version_that_it_cites() {
    let world = World::start().await;
    let made = held(&world).await;
    made.next_version("# Charge retries\n\nNobody has cited this.\n").await;
    let plan = format!("/debate/{}/plan", made.debate.id);
    let cited = see(&world, &plan, &[]).await.body;
    assert!(cited.contains("data-to=\"1\" data-newest=\"1\""), "{cited}");
    assert!(!cited.contains("Nobody has cited this"));
    let newest = see(&world, &format!("{plan}?to=2"), &[]).await.body;
    assert!(newest.contains("Nobody has cited this"));
}
