//! Hostile texts in every field that an agent can write: nothing runs, nothing is loaded, nothing
//! falls out of a phone's screen.

use std::fs;

use reqwest::Method;
use serde_json::{Value, json};

use super::find::{css, role};
use super::payloads::payloads;
use super::{Browser, Page};
use crate::api::guarded_server::GuardedServer;
use crate::world::{World, new_id, text};

/// How many texts a debate has. A page shows 200 arguments.
const BATCH: usize = 180;

/// Whatever is wrong with the page as it is now, as a list of words.
const WRONG: &str = r"(() => {
    const wrong = [];
    if (window.__pwned !== undefined) wrong.push('something ran');
    const where = one => (one.closest('article, li, tr, section')?.id || '') + ' ' + one.outerHTML.slice(0, 200);
    for (const one of document.querySelectorAll('main :is(script, style, link, meta, base, iframe, frame, object, embed, video, audio, img, math, dialog, template:not(#overtaken)), main [style], main .words :is(form, input:not([type=checkbox][disabled]), button, select, textarea, svg, [id], [name])'))
        wrong.push('there is ' + where(one));
    for (const one of document.querySelectorAll('main *'))
        for (const {name} of one.attributes)
            if (name.startsWith('on') || name === 'srcdoc' || name === 'formaction') wrong.push(name + ' in ' + where(one));
    for (const one of document.querySelectorAll('main a[href]')) {
        if (one instanceof SVGElement) { if (!/^[#\/]/.test(one.getAttribute('href'))) wrong.push('a link: ' + where(one)); }
        else if (!['http:', 'https:', 'mailto:'].includes(one.protocol) && location.protocol !== 'file:') wrong.push('a link: ' + where(one));
        else if (one.closest('.words') && one.origin !== location.origin && one.rel !== 'noopener nofollow ugc') wrong.push('rel: ' + where(one));
    }
    // Each is laid out, also where nobody looks.
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

/// The first of it, as long as a field may be.
fn cut(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

/// What can be told in one line.
fn lines(longest: usize) -> Vec<String> {
    let all = payloads().into_iter().map(|text| text.replace(['\n', '\r', '\t'], " "));
    all.filter(|text| text.chars().count() <= longest && !text.trim().is_empty()).collect()
}

/// What comes of this, unless the server finds it wrong.
async fn takes(world: &World, path: &str, body: Value) -> Option<Value> {
    let answer = world.post(path, body).await;
    let is_taken = answer.status.is_success();
    assert!(is_taken || answer.body["error"]["code"] == "INVALID_INPUT", "{}", answer.body);
    is_taken.then(|| answer.body["data"].clone())
}

async fn phone(browser: &Browser, url: &str) -> Page {
    let page = browser.page().await;
    page.width(390).await;
    page.goto(url).await;
    page
}

#[tokio::test]
async fn arguments_and_their_authors_are_harmless_live_and_loaded() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    for (number, batch) in payloads().chunks(BATCH).enumerate() {
        let debate = world.debate(&format!("Batch {number}")).await;
        let url = format!("{}/debate/{}", world.url, debate.id);
        let page = phone(&browser, &url).await;
        let mut last = debate.motion.clone();
        for (turn, words) in batch.iter().enumerate() {
            let role = ["opponent", "proposer"][turn % 2];
            let mut body = json!({
                "role": role, "target_id": last, "content": words, "client_request_id": new_id(),
                "author": cut(words.trim(), 60),
            });
            let path = format!("/debates/{}/arguments", debate.id);
            let written = match takes(&world, &path, body.clone()).await {
                Some(written) => written,
                None => {
                    body.as_object_mut().unwrap().remove("author");
                    takes(&world, &path, body).await.unwrap_or_else(|| panic!("{words:?}"))
                }
            };
            last = text(&written["argument"]["id"]);
        }
        // As they arrived, then as they are loaded.
        page.see(css(&format!("#a-{}", batch.len() + 1))).await;
        is_harmless(&page, &format!("batch {number}, live"), &world.url).await;
        page.reload().await;
        is_harmless(&page, &format!("batch {number}, loaded"), &world.url).await;
        page.goto("about:blank").await;

        // And as a file.
        let export =
            world.request(Method::GET, &format!("/debates/{}/export?format=html", debate.id));
        let file = world.folder.path().join(format!("{number}.html"));
        fs::write(&file, export.send().await.unwrap().bytes().await.unwrap()).unwrap();
        let kept = phone(&browser, &format!("file://{}", file.display())).await;
        is_harmless(&kept, &format!("batch {number}, kept"), "file://").await;
    }
}

#[tokio::test]
async fn titles_are_harmless_in_the_list_and_in_the_tab() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let mut opened = Vec::new();
    for title in lines(200) {
        let body = json!({
            "debate_id": new_id(), "title": title, "debate_type": "general_debate",
            "motion_content": "Yes.", "client_request_id": new_id(),
        });
        if let Some(created) = takes(&world, "/debates", body).await {
            opened.push(text(&created["debate"]["id"]));
        }
    }
    assert!(opened.len() > 100, "{}", opened.len());
    let page = phone(&browser, &world.url).await;
    let older = css(".more-rows a").within(role("region", "Active"));
    let mut pages = 0;
    loop {
        is_harmless(&page, "a list of titles", &world.url).await;
        pages += 1;
        if page.count(&older).await == 0 {
            break;
        }
        page.follow(&older).await;
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
        newest += u64::from(takes(&world, &versions, body).await.is_some());
    }
    assert!(newest > 100, "{newest}");
    let reversed: Vec<String> = all.iter().rev().cloned().collect();
    let last = json!({"summary": "Last", "content": reversed.join("\n\n")});
    world.post(&versions, last).await.created();
    newest += 1;
    let page = phone(&browser, &format!("{}/doc/{id}", world.url)).await;
    is_harmless(&page, "all of it in one document", &world.url).await;
    for query in
        ["version=1", "plain=1", "version=40", &format!("from=1&to={newest}"), "from=40&to=60"]
    {
        page.goto(&format!("{}/doc/{id}?{query}", world.url)).await;
        is_harmless(&page, query, &world.url).await;
    }
    // A debate that cites them says what they are.
    let cited: Vec<String> =
        (2..newest).step_by(6).map(|version| format!("doc_id={id} (v{version})")).collect();
    let motion = json!({"motion_content": cited.join("\n")});
    let debate = world.debate_with("Citing", motion).await;
    page.goto(&format!("{}/debate/{}", world.url, debate.id)).await;
    is_harmless(&page, "documents that are cited", &world.url).await;
}

#[tokio::test]
async fn the_options_of_an_appeal_are_harmless() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let page = browser.page().await;
    page.width(390).await;
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
        // Chosen and previewed, they are still only words.
        if page.count(role("radio", "")).await > 1 {
            page.eval("document.querySelector('[name=choice]').click()").await;
        }
        page.eval("document.querySelector('[data-preview]').click()").await;
        page.see(css("#preview .words")).await;
        is_harmless(&page, &format!("appeal {number}"), &world.url).await;
    }
}

#[tokio::test]
async fn names_of_seats_are_harmless_live_and_loaded() {
    let Some(browser) = Browser::start().await else { return };
    let house = GuardedServer::open().await;
    let (debate, _) = house.debate("Names").await;
    let path = format!("/debate/{debate}");
    let to = |link: String| format!("{}{link}", house.world.url);
    let page = phone(&browser, &to(house.link("secret", &path).await)).await;
    let all = lines(80);
    let (mut written, mut observers) = (1, Vec::new());
    for name in all.iter().step_by(all.len().div_ceil(BATCH)) {
        let seat = |role: &str| json!({"role": role, "name": name});
        let made = house.ask("secret", Method::POST, "/tokens", seat("arbitrator")).await;
        if !made.status.is_success() {
            made.refused(400, "INVALID_INPUT");
            continue;
        }
        let what = ["ruling", "intervention"][written % 2];
        let move_of = format!("/debates/{debate}/{what}");
        let token = text(&made.created()["token"]);
        house.ask(&token, Method::POST, &move_of, json!({"content": "So."})).await.created();
        written += 1;
        if written % 12 == 0 {
            observers.push(house.seat(seat("observer")).await.0);
        }
    }
    assert!(written > 100 && observers.len() > 8, "{written}");
    page.see(css(&format!("#a-{written}"))).await;
    is_harmless(&page, "names, live", &house.world.url).await;
    page.reload().await;
    is_harmless(&page, "names, loaded", &house.world.url).await;
    // Whoever is called so is told so.
    for observer in observers {
        for path in ["/", &path] {
            // Who signs in anew has left the seat before, and a page that is open would say so.
            page.goto("about:blank").await;
            page.goto(&to(house.link(&observer, path).await)).await;
            page.reads("You can read along").await;
            is_harmless(&page, "a name of one's own", &house.world.url).await;
        }
    }
}
