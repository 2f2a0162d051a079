//! The pages over plain HTTP: their headers, forms and access.

use reqwest::Method;
use reqwest::header::{LOCATION, SET_COOKIE};
use serde_json::json;

use super::page_client::{see, seen, send};
use crate::world::{World, new_id};
use aw::settings::{Guard, Limits};

async fn with_token() -> World {
    let guard = Guard::sharing("secret");
    World::with(guard, Limits::default()).await
}

#[tokio::test]
async fn a_page_runs_no_foreign_script() {
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
        assert_eq!(page.header("referrer-policy"), "same-origin", "{path}");
        assert_eq!(page.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(page.header("x-frame-options"), "DENY", "{path}");
        assert_eq!(page.header("cache-control"), "no-store", "{path}");
        assert!(!page.body.contains(" style=") && !page.body.contains("<style"), "{path}");
        assert!(!page.body.contains(" onclick") && !page.body.contains("javascript:"), "{path}");
    }
}

#[tokio::test]
async fn an_unknown_path_is_a_page_for_browsers_and_json_for_programs() {
    let world = World::start().await;
    for path in ["/nowhere", "/debate/93d81b1a-0e66-4510-abfd-aa33b26cb82e", "/debate/x"] {
        let page = see(&world, path, &[("accept", "text/html,*/*")]).await;
        assert!(page.status == 404 || page.status == 400, "{path}: {}", page.status);
        assert!(page.header("content-type").starts_with("text/html"), "{path}");
        assert!(page.body.contains("href=\"/\""), "{path} says how to go on");
    }
    world.get("/nowhere").await.refused(404, "ROUTE_NOT_FOUND");
}

#[tokio::test]
async fn assets_are_named_by_what_is_in_them_and_kept_for_ever() {
    let world = World::start().await;
    let page = see(&world, "/", &[]).await;
    let rest = page.body.split("rel=\"stylesheet\" href=\"").nth(1).unwrap();
    let style = rest.split('"').next().unwrap();
    let asset = see(&world, style, &[]).await;
    assert_eq!((asset.status, asset.header("content-type")), (200, "text/css; charset=utf-8"));
    assert!(asset.header("cache-control").contains("immutable"));
    let gone = see(&world, "/assets/000000000000/app.css", &[]).await;
    assert_eq!(gone.status, 404, "another version is another name");
}

#[tokio::test]
async fn a_form_without_a_valid_csrf_token_changes_nothing_and_keeps_its_text() {
    let world = World::start().await;
    let debate = world.debate("T").await;
    let page = see(&world, &format!("/debate/{}", debate.id), &[]).await;
    let (cookies, csrf) = (page.cookies(), page.csrf());
    let path = format!("/debate/{}/stop", debate.id);
    let typed = ("content", "my long reason");
    for (cookies, csrf) in [(cookies.as_str(), ""), (cookies.as_str(), "00"), ("", csrf.as_str())] {
        let refused = send(&world, &path, cookies, &[("csrf", csrf), typed]).await;
        assert_eq!(refused.status, 403);
        assert!(refused.body.contains("my long reason"), "nothing typed is lost");
    }
    // A form of the server before its restart.
    let other = World::start().await;
    let stale = see(&other, "/new", &[("cookie", cookies.as_str())]).await.csrf();
    assert_eq!(send(&world, &path, &cookies, &[("csrf", &stale), typed]).await.status, 403);
    assert_eq!(debate.context().await["debate"]["state"], "AWAITING_OPPONENT");
    let taken =
        send(&world, &path, &cookies, &[("csrf", &csrf), ("request", &new_id()), typed]).await;
    assert_eq!(taken.status, 303, "{}", taken.body);
    let context = debate.context().await;
    assert_eq!(context["arguments"][0]["content"], "my long reason");
    assert_eq!(context["arguments"][0]["via"], "page");
}

#[tokio::test]
async fn a_form_of_another_origin_is_refused() {
    let world = World::start().await;
    let debate = world.debate("T").await;
    let page = see(&world, &format!("/debate/{}", debate.id), &[]).await;
    let body = format!("csrf={}&content=x", page.csrf());
    for (name, value) in
        [("origin", "http://evil.test"), ("origin", "null"), ("sec-fetch-site", "cross-site")]
    {
        let request = world
            .request(Method::POST, &format!("/debate/{}/stop", debate.id))
            .header("content-type", "application/x-www-form-urlencoded")
            .header("cookie", page.cookies())
            .header(name, value)
            .body(body.clone());
        assert_eq!(seen(request).await.status, 403, "{name}: {value}");
    }
    assert_eq!(debate.context().await["debate"]["state"], "AWAITING_OPPONENT");
}

#[tokio::test]
async fn a_link_from_anywhere_leads_to_a_page_and_nothing_else_does() {
    let world = World::start().await;
    let link = [("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "document")];
    assert_eq!(see(&world, "/", &link).await.status, 200);
    assert_eq!(see(&world, "/debates", &link).await.status, 403, "the API is not a page");
    for (site, dest) in ["cross-site", "same-site"]
        .into_iter()
        .flat_map(|site| ["iframe", "image", "script", "empty", "style"].map(|dest| (site, dest)))
    {
        let asked = [("sec-fetch-site", site), ("sec-fetch-dest", dest)];
        assert_eq!(see(&world, "/", &asked).await.status, 403, "{site} {dest}");
    }
}

#[tokio::test]
async fn a_link_from_elsewhere_leaves_the_forms_that_are_open_as_they_are() {
    for world in [World::start().await, with_token().await] {
        // Browsers send no cookies with such a link, so the server sets none.
        let link = [("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "document")];
        for path in ["/", "/new", "/sign-in"] {
            let page = see(&world, path, &link).await;
            assert_eq!((page.status, page.cookies().as_str()), (200, ""), "{path}");
            assert!(page.body.contains("http-equiv=\"refresh\""), "{path}: {}", page.body);
        }
        let from_here = [("sec-fetch-site", "same-origin"), ("sec-fetch-dest", "document")];
        let page = see(&world, "/sign-in", &from_here).await;
        assert!(page.cookies().contains("aw_browser="), "{}", page.body);
    }
}

#[tokio::test]
async fn a_ruling_sent_twice_is_one_ruling_and_a_late_one_is_refused() {
    let world = World::start().await;
    let debate = world.debate("T").await;
    let claim = debate.claim("opponent", &debate.motion, "No.").await;
    let target = claim["argument"]["id"].as_str().unwrap();
    debate.ask("appeal", target, "Decide.").await.created();
    let page = see(&world, &format!("/debate/{}", debate.id), &[]).await;
    let (cookies, csrf) = (page.cookies(), page.csrf());
    let (target, request) = (page.hidden("target"), page.hidden("request"));
    let path = format!("/debate/{}/rule", debate.id);
    let fields = |words: &'static str| {
        vec![("csrf", csrf.as_str()), ("target", &target), ("request", &request), ("words", words)]
    };
    let first = send(&world, &path, &cookies, &fields("Option A")).await;
    assert_eq!(first.status, 303, "{}", first.body);
    assert!(first.headers[LOCATION].to_str().unwrap().contains("#a-4"));
    assert_eq!(send(&world, &path, &cookies, &fields("Option A")).await.status, 303);
    assert_eq!(debate.context().await["arguments"].as_array().unwrap().len(), 3);
    // Another tab comes too late: its page says so and keeps its text.
    let late = vec![("csrf", csrf.as_str()), ("target", &target), ("words", "Option B, because")];
    let late = send(&world, &path, &cookies, &late).await;
    assert_eq!(late.status, 200);
    assert!(late.body.contains("Option B, because") && late.body.contains("href=\"#a-4\""));
    assert_eq!(debate.context().await["arguments"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn the_server_makes_a_ruling_of_a_choice_and_words() {
    let world = World::start().await;
    let option = "Option B: Import it slowly";
    let appeal = "## Options\n\n1. **Option A:** Stop it\n2. **Option B:** Import it slowly\n";
    // The fields that are sent, and what comes of them: a ruling, or what the page says instead.
    type Fields<'a> = &'a [(&'a str, &'a str)];
    let cases: [(Fields, Result<&str, &str>); 10] = [
        (&[], Err("Choose an option or write")),
        (&[("words", " \r\n")], Err("Choose an option or write")),
        (&[("choice", "Option B")], Ok(option)),
        (&[("choice", "Option B"), ("words", "")], Ok(option)),
        (
            &[("choice", "Option B"), ("words", "Measure\r\nit.")],
            Ok("Option B: Import it slowly\n\nMeasure\nit."),
        ),
        (&[("words", "Ask them.")], Ok("Ask them.")),
        (&[("choice", "another"), ("words", "Ask them.")], Ok("Ask them.")),
        (&[("choice", "another"), ("words", "")], Err("Describe the other way")),
        (&[("choice", "Option X"), ("words", "My words")], Err("not an option here")),
        // A page of an older version sent one text, in which a choice could be lost.
        (&[("choice", "Option B"), ("content", "My words")], Err("This form is out of date")),
    ];
    for (fields, outcome) in cases {
        let debate = world.debate("T").await;
        let claim = debate.claim("opponent", &debate.motion, "No.").await;
        debate.ask("appeal", claim["argument"]["id"].as_str().unwrap(), appeal).await.created();
        let page = see(&world, &format!("/debate/{}", debate.id), &[]).await;
        let path = format!("/debate/{}/rule", debate.id);
        let (csrf, target, request) = (page.csrf(), page.hidden("target"), page.hidden("request"));
        let basis = [("csrf", csrf.as_str()), ("target", &target), ("request", &request)];
        let answer = send(&world, &path, &page.cookies(), &[&basis[..], fields].concat()).await;
        let context = debate.context().await;
        match outcome {
            Ok(ruling) => {
                assert_eq!(answer.status, 303, "{fields:?}: {}", answer.body);
                assert_eq!(context["arguments"][2]["content"], ruling, "{fields:?}");
            }
            Err(says) => {
                assert!(answer.body.contains(says), "{fields:?}: {}", answer.body);
                assert_eq!(context["arguments"].as_array().unwrap().len(), 2, "{fields:?}");
                let typed = fields.iter().find(|(name, _)| *name == "words" || *name == "content");
                let is_kept = |typed: &str| answer.body.contains(typed.trim());
                assert!(typed.is_none_or(|(_, typed)| is_kept(typed)), "{fields:?}");
            }
        }
    }
}

#[tokio::test]
async fn links_of_the_older_system_lead_to_the_pages_of_today() {
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
    // The same holds after signing in.
    let asked = see(&with_token().await, &old, &[]).await;
    assert_eq!(asked.header("location"), format!("/sign-in?to={}", old.replace('/', "%2F")));
}

#[tokio::test]
async fn two_servers_on_one_machine_do_not_sign_each_other_out() {
    // A browser sends the cookies of one port to all others of the machine.
    let (one, other) = (with_token().await, with_token().await);
    let mut cookies = String::new();
    for world in [&one, &other] {
        let ask = see(world, "/sign-in", &[("cookie", &cookies)]).await;
        let own = format!("{cookies}; {}", ask.cookies());
        let fields = [("csrf", ask.csrf()), ("token", "secret".to_owned())];
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let signed = send(world, "/sign-in", own.trim_start_matches("; "), &fields).await;
        assert_eq!(signed.status, 303, "{}", signed.body);
        let set = signed.cookies();
        let name = set.split('=').next().unwrap().to_owned();
        assert!(!own.contains(&name), "{name} overwrites a cookie of the other server");
        cookies = format!("{}; {set}", own.trim_start_matches("; "));
    }
    for world in [&one, &other] {
        assert_eq!(see(world, "/new", &[("cookie", &cookies)]).await.status, 200);
    }
    // Who signs out of one stays in the other.
    let csrf = see(&one, "/new", &[("cookie", &cookies)]).await.csrf();
    assert_eq!(send(&one, "/sign-out", &cookies, &[("csrf", &csrf)]).await.status, 303);
    assert_eq!(see(&one, "/new", &[("cookie", &cookies)]).await.status, 303);
    assert_eq!(see(&other, "/new", &[("cookie", &cookies)]).await.status, 200);
}

#[tokio::test]
async fn with_a_token_one_signs_in_and_out() {
    let world = with_token().await;
    for path in ["/", "/new", "/debate/93d81b1a-0e66-4510-abfd-aa33b26cb82e", "/doc/x"] {
        let page = see(&world, path, &[]).await;
        assert_eq!(page.status, 303, "{path}");
        assert!(page.header("location").starts_with("/sign-in?to="), "{path}");
    }
    let ask = see(&world, "/sign-in?to=%2Fnew", &[]).await;
    assert_eq!(ask.status, 200);
    let wrong =
        send(&world, "/sign-in", &ask.cookies(), &[("csrf", &ask.csrf()), ("token", "guess")])
            .await;
    assert_eq!((wrong.status, wrong.cookies().contains("aw_session")), (200, false));
    let fields = [("csrf", ask.csrf()), ("token", "secret".to_owned()), ("to", ask.hidden("to"))];
    let fields: Vec<(&str, &str)> =
        fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let signed = send(&world, "/sign-in", &ask.cookies(), &fields).await;
    assert_eq!((signed.status, signed.header("location")), (303, "/new"));
    let cookie = signed.headers[SET_COOKIE].to_str().unwrap();
    for word in ["HttpOnly", "SameSite=Strict", "Max-Age="] {
        assert!(cookie.contains(word), "{cookie}");
    }
    assert!(!cookie.contains("secret"), "the token itself is not in the cookie");
    let cookies = format!("{}; {}", ask.cookies(), signed.cookies());
    assert_eq!(see(&world, "/new", &[("cookie", &cookies)]).await.status, 200);
    // The cookie is for pages; programs bring the token.
    assert_eq!(see(&world, "/debates", &[("cookie", &cookies)]).await.status, 401);
    assert_eq!(see(&world, "/metrics", &[("cookie", &cookies)]).await.status, 401);
    let out = send(&world, "/sign-out", &cookies, &[("csrf", &ask.csrf())]).await;
    assert!(out.headers[SET_COOKIE].to_str().unwrap().contains("Max-Age=0"));
    let forged = "aw_session=99999999999999.aaaa";
    assert_eq!(see(&world, "/", &[("cookie", forged)]).await.status, 303);
}

#[tokio::test]
async fn a_link_from_another_site_finds_the_session() {
    let world = with_token().await;
    // Browsers keep a strict cookie back on such a link, so the page is asked for again from here.
    let link = [("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "document")];
    let page = see(&world, "/debate/1?x=%22%3E", &link).await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("http-equiv=\"refresh\""), "{}", page.body);
    assert!(
        !page.body.contains("\">\"") && page.body.contains("/debate/1?x=%22%3E"),
        "{}",
        page.body
    );
}

#[tokio::test]
async fn signing_in_never_redirects_to_another_site() {
    let world = with_token().await;
    let ask = see(&world, "/sign-in?to=%2F%2Fevil.test", &[]).await;
    let csrf = ask.csrf();
    for to in ["//evil.test", "https://evil.test", "/\\evil.test"] {
        let fields = [("csrf", csrf.as_str()), ("token", "secret"), ("to", to)];
        let signed = send(&world, "/sign-in", &ask.cookies(), &fields).await;
        assert_eq!(signed.header("location"), "/", "{to}");
    }
}

#[tokio::test]
async fn language_and_theme_are_remembered() {
    let world = World::start().await;
    let page = see(&world, "/", &[("accept-language", "vi-VN,vi;q=0.9")]).await;
    assert!(
        page.body.contains("<html lang=\"vi\"") && page.body.contains("Cần bạn")
            || page.body.contains("Chưa có debate")
    );
    let fields = [("csrf", page.csrf()), ("lang", "en".to_owned()), ("to", "/".to_owned())];
    let fields: Vec<(&str, &str)> =
        fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let chosen = send(&world, "/preferences", &page.cookies(), &fields).await;
    let cookies = format!("{}; {}", page.cookies(), chosen.cookies());
    let again = [("accept-language", "vi"), ("cookie", cookies.as_str())];
    assert!(see(&world, "/", &again).await.body.contains("<html lang=\"en\""));
    let csrf = page.csrf();
    let dark = [("csrf", csrf.as_str()), ("theme", "dark"), ("to", "/")];
    let dark = send(&world, "/preferences", &page.cookies(), &dark).await;
    let cookies = format!("{}; {}", page.cookies(), dark.cookies());
    assert!(see(&world, "/", &[("cookie", &cookies)]).await.body.contains("data-theme=\"dark\""));
}

#[tokio::test]
async fn a_new_debate_opened_twice_by_one_form_is_one_debate_with_its_document() {
    let world = World::start().await;
    let form = see(&world, "/new", &[]).await;
    let hidden = |name: &str| form.hidden(name);
    let (csrf, debate, request) = (form.csrf(), hidden("debate"), hidden("request"));
    let fields = [
        ("csrf", csrf.as_str()),
        ("debate", &debate),
        ("request", &request),
        ("title", "Keep one file?"),
        ("type", "general_debate"),
        ("content", "We should.\r\nReally."),
        ("document", "# Plan\r\n\r\nOne file."),
        ("policy", "arbitrator"),
    ];
    for _ in 0..2 {
        let opened = send(&world, "/new", &form.cookies(), &fields).await;
        assert_eq!(opened.status, 303, "{}", opened.body);
        assert_eq!(opened.header("location"), format!("/debate/{debate}?new=1"));
    }
    assert_eq!(world.get("/debates").await.ok()["total"], 1);
    let context = world.get(&format!("/debates/{debate}")).await.ok();
    assert_eq!(context["debate"]["resolution_policy"], "arbitrator");
    assert_eq!(context["documents"][0]["version"], 1);
    let motion = context["motion"]["content"].as_str().unwrap();
    assert!(motion.starts_with("We should.\nReally.\n\ndoc_id="), "{motion:?}");
    let page = see(&world, &format!("/debate/{debate}?new=1"), &[]).await;
    for role in ["proposer", "opponent"] {
        let line = format!("aw agent show {role} --debate-id {debate}");
        assert!(page.body.contains(&line), "{role}");
    }
    // An incomplete form keeps its text and opens nothing.
    let bad = send(&world, "/new", &form.cookies(), &[&fields[..3], &fields[4..6]].concat()).await;
    assert!(bad.status == 200 && bad.body.contains("Really."), "{}", bad.status);
}

#[tokio::test]
async fn a_new_debate_that_is_refused_leaves_no_document_behind() {
    let world =
        World::with(Guard::default(), Limits { content_bytes: 100, ..Limits::default() }).await;
    let taken = world.debate("T").await;
    let deleted = world.debate("T").await;
    world.delete(&format!("/debates/{}", deleted.id)).await.ok();
    let form = see(&world, "/new", &[]).await;
    let (csrf, debate, request) = (form.csrf(), form.hidden("debate"), form.hidden("request"));
    let before = world.written();
    // With the words that cite its document this MOTION is too long by one.
    let long = "x".repeat(100 - "\n\ndoc_id=".len() - 36 - " (v1)".len() + 1);
    for (debate, request, content) in [
        ("x", request.as_str(), "We should."),
        (&debate, "x", "We should."),
        (&debate, &request, &long),
        (&taken.id, &request, "We should."),
        (&deleted.id, &request, "We should."),
    ] {
        let fields = [
            ("csrf", csrf.as_str()),
            ("debate", debate),
            ("request", request),
            ("title", "Keep one file?"),
            ("type", "general_debate"),
            ("content", content),
            ("document", "# Plan"),
        ];
        let refused = send(&world, "/new", &form.cookies(), &fields).await;
        assert!(refused.status == 200 && refused.body.contains("# Plan"), "{}", refused.body);
        assert_eq!(world.written(), before, "{debate} {request} {content}");
    }
    let fits = [
        ("csrf", csrf.as_str()),
        ("debate", &debate),
        ("request", &request),
        ("title", "Keep one file?"),
        ("type", "general_debate"),
        ("content", &long[1..]),
        ("document", "# Plan"),
    ];
    let opened = send(&world, "/new", &form.cookies(), &fits).await;
    assert_eq!(opened.status, 303, "{}", opened.body);
}

#[tokio::test]
async fn a_transcript_in_html_needs_nothing_else_and_runs_nothing() {
    let world = World::start().await;
    let debate = world.debate("A <b>title</b>").await;
    debate
        .claim("opponent", &debate.motion, "<script>alert(1)</script> ![x](http://evil.test/x.png)")
        .await;
    let page = see(&world, &format!("/debates/{}/export?format=html", debate.id), &[]).await;
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    for word in ["<script", "src=", "<link", "url(", "@import", "<b>title"] {
        assert!(!page.body.contains(word), "{word}");
    }
    assert!(page.body.contains("A &#60;b&#62;title") || page.body.contains("A &lt;b&gt;title"));
    assert!(page.header("content-security-policy").contains("default-src 'none'"));
}

#[tokio::test]
async fn a_debate_of_2000_arguments_shows_a_part_and_the_way_to_the_rest() {
    let world = World::start().await;
    let debate = world.debate("Long").await;
    let mut target = debate.motion.clone();
    for number in 0..260 {
        let role = if number % 2 == 0 { "opponent" } else { "proposer" };
        let written = debate.claim(role, &target, &format!("Word {number}.")).await;
        target = written["argument"]["id"].as_str().unwrap().to_owned();
    }
    let page = see(&world, &format!("/debate/{}", debate.id), &[]).await;
    assert!(page.body.contains("id=\"a-1\"") && page.body.contains("id=\"a-261\""));
    assert!(!page.body.contains("id=\"a-30\""));
    let rest = page
        .body
        .split(&format!("/debate/{}?before=", debate.id))
        .find(|rest| rest.contains("#earlier"));
    let before = rest.and_then(|_| {
        page.body
            .split("?before=")
            .find(|rest| rest.split('"').next().unwrap().ends_with("#earlier"))
    });
    let before = before.unwrap().split('#').next().unwrap();
    let earlier = see(&world, &format!("/debate/{}?before={before}", debate.id), &[]).await;
    assert!(earlier.body.contains("id=\"a-30\"") && earlier.body.contains("id=\"a-2\""));
    let text = see(&world, &format!("/debate/{}/text/31", debate.id), &[]).await;
    assert_eq!(
        (text.body.as_str(), text.header("content-type")),
        ("Word 29.", "text/plain; charset=utf-8")
    );
}

#[tokio::test]
async fn deleting_asks_first_and_says_what_goes() {
    let world = World::start().await;
    let debate = world.debate("To go").await;
    let path = format!("/debate/{}/delete", debate.id);
    let ask = see(&world, &path, &[]).await;
    assert!(ask.body.contains("To go") && ask.body.contains("(arguments: 1)"));
    assert_eq!(world.get("/debates").await.ok()["total"], 1, "looking deletes nothing");
    let done = send(&world, &path, &ask.cookies(), &[("csrf", &ask.csrf())]).await;
    assert_eq!((done.status, done.header("location")), (303, "/?deleted=1"));
    let page = see(&world, &format!("/debate/{}", debate.id), &[("accept", "text/html")]).await;
    assert_eq!(page.status, 404);
    assert!(page.body.contains("was deleted"), "{}", page.body);
}

#[tokio::test]
async fn debates_that_need_a_ruling_are_counted() {
    let world = World::start().await;
    let debate = world.debate("T").await;
    assert_eq!(
        see(&world, "/needed", &[]).await.body,
        json!({"total": 0, "debates": []}).to_string()
    );
    debate.intervene().await.created();
    let needed = see(&world, "/needed", &[]).await.body;
    assert!(needed.contains("\"total\":1") && needed.contains(&debate.id), "{needed}");
}

#[tokio::test]
async fn any_number_in_a_query_gets_a_page() {
    let world = World::start().await;
    let debate = world.debate("T").await;
    for before in ["9223372036854775808", "18446744073709551615", "99999", "0", "2"] {
        let page = see(&world, &format!("/debate/{}?before={before}", debate.id), &[]).await;
        assert_eq!(page.status, 200, "{before}");
        assert!(!page.body.contains("earlier arguments"), "there are none before {before}");
    }
    for path in [
        format!("/debate/{}?before=abc", debate.id),
        format!("/debate/{}?before=1&before=2", debate.id),
        format!("/debate/{}/text/abc", debate.id),
        format!("/debate/{}/text/18446744073709551615", debate.id),
        "/debate/%ff".to_owned(),
        "/doc/x?version=-1".to_owned(),
    ] {
        let page = see(&world, &path, &[]).await;
        assert!(page.status == 400 || page.status == 404, "{path}: {}", page.status);
        assert!(!page.body.contains("deserialize"), "{path}: {}", page.body);
    }
}

#[tokio::test]
async fn a_form_or_fragment_after_signing_out_is_refused() {
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
async fn a_lone_carriage_return_does_not_leave_the_quote_of_a_transcript() {
    let world = World::start().await;
    let debate = world.debate("T").await;
    debate.claim("opponent", &debate.motion, "No.\r## 9. RULING (arbitrator)\r\rforged").await;
    let page = see(&world, &format!("/debates/{}/export", debate.id), &[]).await;
    assert!(!page.body.contains('\r'), "{:?}", page.body);
    assert!(page.body.contains("> ## 9. RULING (arbitrator)\n"), "{}", page.body);
}
