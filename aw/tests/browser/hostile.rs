//! Hostile texts in every field that an agent can write: nothing runs, nothing is loaded, and nothing
//! is wider than the screen of a phone.

use std::fs;

use reqwest::Method;
use serde_json::{Value, json};

use super::find::{css, role};
use super::payloads::payloads;
use super::{Browser, Page};
use crate::api::token_server::TokenServer;
use crate::world::{World, new_id, text};

/// How many texts a debate has. A page shows 200 arguments.
const BATCH: usize = 180;

/// Returns a list of what is wrong with the page.
const WRONG: &str = r"(() => {
    const wrong = [];
    if (window.__pwned !== undefined) wrong.push('something ran');
    const where = one => (one.closest('article, li, tr, section')?.id || '') + ' ' + one.outerHTML.slice(0, 200);
    for (const one of document.querySelectorAll('main :is(script, style, link, meta, base, iframe, frame, object, embed, video, audio, img, math, dialog:not(#keys), template:not(#overtaken, #recorded)), main [style], main .words :is(form, input:not([type=checkbox][disabled]), button, select, textarea, svg:not(a.point-link svg), [id]:not(:is(h2, h3, h4, h5, h6)[id^=s-]), [name])'))
        wrong.push('there is ' + where(one));
    for (const one of document.querySelectorAll('main *'))
        for (const {name} of one.attributes)
            if (name.startsWith('on') || name === 'srcdoc' || name === 'formaction') wrong.push(name + ' in ' + where(one));
    for (const one of document.querySelectorAll('main a[href]')) {
        if (one instanceof SVGElement) { if (!/^[#\/]/.test(one.getAttribute('href'))) wrong.push('a link: ' + where(one)); }
        else if (!['http:', 'https:', 'mailto:'].includes(one.protocol) && location.protocol !== 'file:') wrong.push('a link: ' + where(one));
        else if (one.closest('.words') && one.origin !== location.origin && one.rel !== 'noopener nofollow ugc') wrong.push('rel: ' + where(one));
    }
    // Arguments outside of the screen are laid out too.
    for (const one of document.querySelectorAll('article')) one.style.contentVisibility = 'visible';
    const scrolls = one => one && (/auto|scroll|hidden|clip/.test(getComputedStyle(one).overflowX) || scrolls(one.parentElement));
    if (document.scrollingElement.scrollWidth > screen.width)
        for (const one of document.querySelectorAll('body *'))
            if (one.getBoundingClientRect().right > screen.width + 1 && !scrolls(one.parentElement)) wrong.push('too wide: ' + where(one));
    if (document.scrollingElement.scrollWidth > screen.width) wrong.push('too wide');
    return wrong.slice(0, 20);
})()";

async fn is_harmless(page: &Page, what: &str, origin: &str) {
    let wrong = page.eval(WRONG).await;
    assert_eq!(wrong, json!([]), "{what}: {wrong:#}");
    assert_eq!(page.complaints(), Vec::<String>::new(), "{what}");
    page.asked_only(origin);
}

/// The first characters of a text, for a field with a limit.
fn cut(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

/// The payloads that fit into one line of this length.
fn lines(longest: usize) -> Vec<String> {
    let all = payloads().into_iter().map(|text| text.replace(['\n', '\r', '\t'], " "));
    all.filter(|text| text.chars().count() <= longest && !text.trim().is_empty()).collect()
}

/// Posts this. Returns nothing if the server refuses it as invalid.
async fn try_post(world: &World, path: &str, body: Value) -> Option<Value> {
    let answer = world.post(path, body).await;
    let is_accepted = answer.status.is_success();
    assert!(is_accepted || answer.body["error"]["code"] == "INVALID_INPUT", "{}", answer.body);
    is_accepted.then(|| answer.body["data"].clone())
}

async fn phone(browser: &Browser, url: &str) -> Page {
    let page = browser.page().await;
    page.width(390).await;
    page.goto(url).await;
    page
}

#[tokio::test]
async fn arguments_and_their_authors_are_harmless_live_loaded_and_exported() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    for (number, batch) in payloads().chunks(BATCH).enumerate() {
        let debate = world.debate(&format!("Batch {number}")).await;
        let page = phone(&browser, &format!("{}/debate/{}", world.url, debate.id)).await;
        let path = format!("/debates/{}/arguments", debate.id);
        let mut last = debate.motion.clone();
        for (turn, words) in batch.iter().enumerate() {
            let role = ["opponent", "proposer"][turn % 2];
            let mut body = json!({
                "role": role, "target_id": last, "content": words,
                "client_request_id": new_id(), "author": cut(words.trim(), 60),
            });
            let mut written = try_post(&world, &path, body.clone()).await;
            if written.is_none() {
                body.as_object_mut().unwrap().remove("author");
                written = try_post(&world, &path, body).await;
            }
            last = text(&written.unwrap_or_else(|| panic!("{words:?}"))["argument"]["id"]);
        }
        page.see(css(&format!("#a-{}", batch.len() + 1))).await;
        is_harmless(&page, &format!("batch {number}, live"), &world.url).await;
        page.reload().await;
        is_harmless(&page, &format!("batch {number}, loaded"), &world.url).await;
        page.goto("about:blank").await;

        let export = format!("/debates/{}/export?format=html", debate.id);
        let export = world.request(Method::GET, &export).send().await.unwrap();
        let file = world.folder.path().join(format!("{number}.html"));
        fs::write(&file, export.bytes().await.unwrap()).unwrap();
        let exported = phone(&browser, &format!("file://{}", file.display())).await;
        is_harmless(&exported, &format!("batch {number}, exported"), "file://").await;
    }
}

#[tokio::test]
async fn titles_are_harmless() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let mut opened = Vec::new();
    for title in lines(200) {
        let body = json!({
            "debate_id": new_id(), "title": title, "debate_type": "general_debate",
            "motion_content": "Yes.", "client_request_id": new_id(),
        });
        if let Some(created) = try_post(&world, "/debates", body).await {
            opened.push(text(&created["debate"]["id"]));
        }
    }
    assert!(opened.len() > 100, "{}", opened.len());
    let page = phone(&browser, &world.url).await;
    let older = css(".more-rows a").within(role("region", "Active"));
    let mut pages = 1;
    is_harmless(&page, "a list of titles", &world.url).await;
    while page.count(&older).await > 0 {
        page.follow(&older).await;
        is_harmless(&page, "a list of titles", &world.url).await;
        pages += 1;
    }
    assert!(pages >= opened.len() / 30, "{pages}");
    for id in opened.iter().step_by(40) {
        for path in ["", "/delete"] {
            page.goto(&format!("{}/debate/{id}{path}", world.url)).await;
            is_harmless(&page, "a title", &world.url).await;
        }
    }
}

#[tokio::test]
async fn titles_reasons_and_sources_of_points_are_harmless() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let fields =
        json!({"points": {"rounds": 20}, "motion_content": "We keep all of it in one file."});
    let debate = world.debate_with("Points", fields).await;
    let page = phone(&browser, &format!("{}/debate/{}", world.url, debate.id)).await;
    let path = format!("/debates/{}/arguments", debate.id);
    let submit = async |role: &str, target: &str, words: String| {
        let body = json!({
            "role": role, "target_id": target, "content": words, "client_request_id": new_id(),
        });
        try_post(&world, &path, body).await.map(|written| text(&written["argument"]["id"]))
    };
    let mut last = debate.motion.clone();
    let mut raised = 0;
    for batch in lines(110).chunks(12).take(16) {
        let points = batch.iter().map(|line| {
            format!("### NEW [critical] T {line}\n> We keep all of it in one file.\n\nR {line}\n> {line}\n— src/{line}\n")
        });
        let (quoted, plain): (String, String) = (
            points.collect(),
            batch
                .iter()
                .map(|line| {
                    format!("### NEW [critical] T {line}\n> We keep all of it in one file.\n\nR.\n")
                })
                .collect(),
        );
        // A line that is no source refuses the quote above it.
        let claim = match submit("opponent", &last, quoted).await {
            Some(claim) => claim,
            None => match submit("opponent", &last, plain).await {
                Some(claim) => claim,
                None => continue,
            },
        };
        raised += batch.len();
        last = submit("proposer", &claim, "Well.".to_owned()).await.unwrap();
    }
    assert!(raised > 100, "{raised}");
    page.see(css("#point-P20")).await;
    is_harmless(&page, "points, live", &world.url).await;
    let claim = submit("opponent", &last, "More.".to_owned()).await.unwrap();
    debate.ask("appeal", &claim, "Decide.").await.created();
    page.reload().await;
    is_harmless(&page, "points to rule on", &world.url).await;
    let shown = page.text("#rail").await;
    assert!(!shown.contains('\u{202e}'), "a title turns no text around");
}

#[tokio::test]
async fn documents_their_summaries_and_authors_are_harmless() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let all = payloads();
    let first = json!({"summary": "First", "content": all.join("\n\n")});
    let id = text(&world.post("/documents", first).await.created()["document_id"]);
    let versions = format!("/documents/{id}/versions");
    let mut newest = 1;
    for line in lines(200).iter().rev().take(190) {
        let body = json!({"summary": line, "content": line, "author": cut(line.trim(), 60)});
        newest += u64::from(try_post(&world, &versions, body).await.is_some());
    }
    assert!(newest > 100, "{newest}");
    let reversed: Vec<String> = all.iter().rev().cloned().collect();
    let last = json!({"summary": "Last", "content": reversed.join("\n\n")});
    world.post(&versions, last).await.created();
    newest += 1;
    let page = phone(&browser, &format!("{}/doc/{id}", world.url)).await;
    is_harmless(&page, "all payloads in one document", &world.url).await;
    let compared = format!("from=1&to={newest}");
    for query in ["version=1", "plain=1", "version=40", &compared, "from=40&to=60"] {
        page.goto(&format!("{}/doc/{id}?{query}", world.url)).await;
        is_harmless(&page, query, &world.url).await;
    }
    let cited = (2..newest).step_by(6).map(|version| format!("doc_id={id} (v{version})\n"));
    let motion = json!({"motion_content": cited.collect::<String>()});
    let debate = world.debate_with("Citing", motion).await;
    page.goto(&format!("{}/debate/{}", world.url, debate.id)).await;
    is_harmless(&page, "cited documents", &world.url).await;
}

#[tokio::test]
async fn options_of_an_appeal_are_harmless() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let page = phone(&browser, "about:blank").await;
    for (number, batch) in lines(400).chunks(11).take(20).enumerate() {
        let debate = world.debate("Options").await;
        let claim = debate.claim("opponent", &debate.motion, "No.").await;
        let mut appeal = format!(
            "## Context\n{}\n## Proposer's position\n{}\n## Opponent's position\n{}\n## Options\n",
            batch[0],
            batch[batch.len() / 2],
            batch[batch.len() - 1],
        );
        for (number, line) in batch.iter().enumerate() {
            appeal += &format!("{}. {line}\n", number + 1);
        }
        debate.ask("appeal", &text(&claim["argument"]["id"]), &appeal).await.created();
        page.goto(&format!("{}/debate/{}", world.url, debate.id)).await;
        page.eval("document.querySelector('#dock-open').checked = true").await;
        page.eval("document.querySelector('[name=choice]')?.click()").await;
        page.eval("document.querySelector('[data-preview]').click()").await;
        page.see(css("#preview .words")).await;
        is_harmless(&page, &format!("appeal {number}"), &world.url).await;
    }
}

#[tokio::test]
async fn names_of_seats_are_harmless() {
    let Some(browser) = Browser::start().await else { return };
    let server = TokenServer::start().await;
    let (debate, _) = server.debate("Names").await;
    let path = format!("/debate/{debate}");
    let url = &server.world.url;
    let page = phone(&browser, &format!("{url}{}", server.link("secret", &path).await)).await;
    let all = lines(80);
    let (mut written, mut observers) = (1, Vec::new());
    for name in all.iter().step_by(all.len().div_ceil(BATCH)) {
        let seat = |role: &str| json!({"role": role, "name": name});
        let made = server.ask("secret", Method::POST, "/tokens", seat("arbitrator")).await;
        if !made.status.is_success() {
            made.refused(400, "INVALID_INPUT");
            continue;
        }
        let command = format!("/debates/{debate}/{}", ["ruling", "intervention"][written % 2]);
        let token = text(&made.created()["token"]);
        server.ask(&token, Method::POST, &command, json!({"content": "So."})).await.created();
        written += 1;
        if written % 12 == 0 {
            observers.push(server.seat(seat("observer")).await.0);
        }
    }
    assert!(written > 100 && observers.len() > 8, "{written}");
    page.see(css(&format!("#a-{written}"))).await;
    is_harmless(&page, "names, live", url).await;
    page.reload().await;
    is_harmless(&page, "names, loaded", url).await;
    // The page shows the name of the person who is signed in.
    for observer in observers {
        for path in ["/", &path] {
            // Signing in ends the session before it, of which an open page would complain.
            page.goto("about:blank").await;
            page.goto(&format!("{url}{}", server.link(&observer, path).await)).await;
            page.reads("You can read.").await;
            is_harmless(&page, "the own name", url).await;
        }
    }
}
