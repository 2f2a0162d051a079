//! Where the server wants a token, a person signs in once: by pasting one, or by a link.

use reqwest::Method;
use serde_json::{Value, json};

use super::find::{button, css, field, link, role};
use super::site::Site;
use super::stage::Stage;
use super::{Browser, Page};
use crate::api::guarded_server::GuardedServer;
use crate::loops::machine::Machine;

const RULING: &str = "Text of the ruling";
const OUT: &str = "You are signed out. What you typed is kept.";

/// Takes what a browser says when it is refused like this, and nothing else.
fn only(page: &Page, status: &str) {
    for complaint in page.complaints() {
        let socket = status == "401" && complaint.contains("HTTP Authentication failed");
        assert!(socket || complaint.contains(status), "{complaint}");
    }
}

#[tokio::test]
async fn a_person_signs_in_comes_back_from_elsewhere_and_signs_out() {
    let machine = Machine::fresh().with("AW_AUTH_TOKEN", "a-long-secret");
    let Some((stage, browser)) = Stage::on(machine).await else { return };
    let debate = stage.debate("Behind a door", "Yes.");
    let page = browser.open(&debate.url()).await;
    page.reads("Sign in").await;
    assert!(!page.says().await.contains("Behind a door"));
    page.type_into(field("Token"), "a-wrong-secret").await;
    page.follow(button("Sign in")).await;
    page.reads("This token is not good here").await;
    page.complaints();
    page.type_into(field("Token"), "a-long-secret").await;
    page.follow(button("Sign in")).await;
    page.reads("Behind a door").await;
    assert!(page.url().await.ends_with(&debate.id), "to where one was going");

    // The socket is let in too.
    debate.claims("opponent", "No.");
    page.reads("waiting for the proposer").await;

    // By a link from elsewhere one is still signed in.
    let html = format!(
        "<!doctype html><link rel=icon href='data:,'><a href='{}'>a debate</a>",
        debate.url()
    );
    let site = Site::start(&[("/", "default-src 'none'; img-src data:", &html)]).await;
    let visitor = browser.open(&site.elsewhere()).await;
    visitor.follow(link("a debate")).await;
    visitor.reads("Behind a door").await;

    page.reads("shared token").await;
    page.follow(button("Sign out")).await;
    page.reads("Sign in").await;
    visitor.reads(OUT).await;
    page.goto(&stage.url()).await;
    page.see(field("Token")).await;
    visitor.reload().await;
    visitor.see(field("Token")).await;
    only(&visitor, "401");
    let cookies = page.eval("document.cookie").await;
    assert_eq!(cookies, "", "no script can read who one is");
}

/// What an argument says that is looked at: what is far from the screen is not drawn at all.
async fn said_in(page: &Page, argument: &str) -> String {
    let look = "function() {
        this.scrollIntoView();
        return new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    }";
    page.on(&css(argument), look).await;
    page.text(argument).await
}

#[tokio::test]
async fn a_link_signs_in_once_and_its_code_goes_nowhere() {
    let Some(browser) = Browser::start().await else { return };
    let Some(other) = Browser::start().await else { return };
    let house = GuardedServer::open().await;
    let (debate, _) = house.debate("By a link").await;
    let (token, _) = house.seat(json!({"role": "arbitrator", "name": "An"})).await;
    let path = format!("/debate/{debate}");
    let address = format!("{}{}", house.world.url, house.link(&token, &path).await);
    let code = address.split("code=").nth(1).unwrap().split('&').next().unwrap();

    // From somebody else's site, such as a chat.
    let html = format!("<!doctype html><link rel=icon href='data:,'><a href='{address}'>come</a>");
    let site = Site::start(&[("/", "default-src 'none'; img-src data:", &html)]).await;
    let page = browser.open(&site.elsewhere()).await;
    page.follow(link("come")).await;
    page.reads("By a link").await;
    page.reads("An, Arbitrator").await;
    page.see(role("DisclosureTriangle", "Stop the agents")).await;
    assert_eq!(page.url().await, format!("{}{path}", house.world.url));
    assert!(
        !page.addresses_so_far().await.iter().any(|known| known.contains(code)),
        "in no history"
    );
    for request in page.requests() {
        let referrer = request.headers["Referer"].as_str().unwrap_or_default();
        assert!(!referrer.contains(code), "{request:?}");
    }
    // Whoever clicks again is there already.
    page.goto(&site.elsewhere()).await;
    page.follow(link("come")).await;
    page.reads("An, Arbitrator").await;

    // For anybody else it is used up, and there is another way in.
    let late = other.open(&address).await;
    late.reads("This link was used already or is too old").await;
    assert!(!late.says().await.contains("By a link"));
    late.is_accessible("a link that is used up").await;
    late.type_into(field("Token"), &token).await;
    late.follow(button("Sign in")).await;
    late.reads("By a link").await;
    assert_eq!(late.url().await, format!("{}{path}", house.world.url), "to the same place");
}

#[tokio::test]
async fn a_link_asks_for_a_click_where_the_browser_does_not_say_what_it_is_about() {
    let Some(browser) = Browser::start().await else { return };
    let house = GuardedServer::open().await;
    let address = format!("{}{}", house.world.url, house.link("secret", "/new").await);
    let page = browser.page().await;
    // As a page that was fetched ahead is shown later.
    page.headers(json!({"Sec-Purpose": "prefetch"})).await;
    page.without_scripts().await;
    page.goto(&address).await;
    page.headers(json!({})).await;
    page.see(button("Sign in")).await;
    page.follow(button("Sign in")).await;
    page.see(button("Open the debate")).await;
    page.reads("shared token").await;
}

#[tokio::test]
async fn a_persons_ruling_and_a_programs_are_told_apart_wherever_they_are_read() {
    let Some(browser) = Browser::start().await else { return };
    let house = GuardedServer::open().await;
    let debate = house.appealed("Whose hand was it?").await;
    let (an, _) = house.seat(json!({"role": "arbitrator", "name": "An"})).await;
    let (codex, _) = house.seat(json!({"role": "arbitrator", "name": "codex at An's"})).await;
    let page = browser
        .open(&format!(
            "{}{}",
            house.world.url,
            house.link(&an, &format!("/debate/{debate}")).await
        ))
        .await;
    page.see_no(link("New debate")).await;
    page.see_no(link("Delete")).await;
    page.type_into(field(RULING), "Option A.").await;
    page.follow(button("Send ruling")).await;
    let said = said_in(&page, "#a-4").await;
    assert!(said.contains("ruled by a person, on the page seat An"), "{said}");

    // A program stops them and rules, while the page is open.
    let path = |what: &str| format!("/debates/{debate}/{what}");
    let stop = json!({"content": "Wait."});
    house.ask(&codex, Method::POST, &path("intervention"), stop).await.created();
    house.ask(&codex, Method::POST, &path("ruling"), json!({"content": "Go on."})).await.created();
    let said = said_in(&page, "#a-6").await;
    assert!(said.contains("ruled by a program, via api seat codex at An's"), "{said}");
    let said = said_in(&page, "#a-5").await;
    assert!(said.contains("stopped by a program, via api seat codex at An's"), "{said}");
    // By shape as well as by words.
    let shape = "function() {
        const {borderLeftStyle} = getComputedStyle(this);
        const {borderRadius, borderStyle} = getComputedStyle(this.querySelector('.hand'));
        return [borderLeftStyle, borderStyle, borderRadius, this.querySelector('.hand svg').innerHTML];
    }";
    let (one, other) = (page.on(&css("#a-4"), shape).await, page.on(&css("#a-6"), shape).await);
    for (number, (one, other)) in
        one.as_array().unwrap().iter().zip(other.as_array().unwrap()).enumerate()
    {
        assert_ne!(one, other, "{number}");
    }
    for (format, words) in [
        (
            "markdown",
            [
                "ruled by a person, on the page, seat `An`",
                "ruled by a program, via api, seat `codex at An's`",
            ],
        ),
        ("html", ["ruled by a person, on the page", "ruled by a program, via api"]),
        (
            "json",
            ["\"via\":\"page\",\"seat\":\"An\"", "\"via\":\"api\",\"seat\":\"codex at An's\""],
        ),
    ] {
        let code =
            format!("fetch('{}?format={format}').then(answer => answer.text())", path("export"));
        let export = page.eval(&code).await;
        for words in words {
            assert!(export.as_str().unwrap().contains(words), "{format}: {words}: {export}");
        }
    }
    // And in Vietnamese.
    page.follow(button("VI")).await;
    page.reads("ruling do một người, trên trang").await;
    page.reads("ruling do một chương trình, qua api").await;
}

#[tokio::test]
async fn whoever_may_only_read_sees_it_live_and_is_asked_for_nothing() {
    let Some(browser) = Browser::start().await else { return };
    let house = GuardedServer::open().await;
    let (debate, motion) = house.debate("To be read").await;
    house.debate("Another").await;
    let fields = json!({"role": "observer", "name": "Dung", "debate_id": debate});
    let (token, _) = house.seat(fields).await;
    let page = browser.open(&format!("{}{}", house.world.url, house.link(&token, "/").await)).await;
    page.reads("Your seat is for one debate only.").await;
    page.see(link("To be read")).await;
    assert!(!page.says().await.contains("Another"));
    page.see_no(link("New debate")).await;
    page.follow(link("To be read")).await;
    page.reads("Signed in as Dung, Observer. You can read along").await;
    assert_eq!(page.count("main form").await, 0);

    let claim = json!({
        "role": "opponent", "target_id": motion, "content": "Live.",
        "client_request_id": crate::world::new_id(),
    });
    let claim = house.post(&format!("/debates/{debate}/arguments"), claim).await;
    page.reads("Live.").await;
    let appeal = json!({
        "target_id": claim["argument"]["id"], "content": super::gallery::APPEAL,
        "client_request_id": crate::world::new_id(),
    });
    house.post(&format!("/debates/{debate}/appeal"), appeal).await;
    page.reads("waiting for a ruling").await;
    assert_eq!(page.count("main form").await, 0);
    assert_eq!(page.title().await, "To be read · aw", "nothing needs them");
    // What they are not offered is refused, and what they typed comes back.
    page.eval(&format!(
        "{{ const form = document.querySelector('.leave').cloneNode(true);
            form.action = '/debate/{debate}/rule';
            form.insertAdjacentHTML('beforeend', '<input name=words value=\"All mine\">');
            document.querySelector('main').append(form); }}"
    ))
    .await;
    page.follow(button("Sign out").within(css("main"))).await;
    page.reads("Your seat may not do this").await;
    assert_eq!(page.value(field("What you typed")).await, "All mine");
    only(&page, "403");
}

#[tokio::test]
async fn a_seat_that_is_taken_away_says_so_and_nothing_typed_is_lost() {
    let Some(browser) = Browser::start().await else { return };
    let house = GuardedServer::open().await;
    let debate = house.appealed("Taken away").await;
    let (token, id) = house.seat(json!({"role": "arbitrator"})).await;
    let page = browser.page().await;
    // Pauses take no time here: whoever tries again for ever does so at once.
    page.at_first(
        "window.opened = 0;
        const [Socket, later] = [WebSocket, setTimeout];
        window.WebSocket = class extends Socket { constructor(...given) { super(...given); window.opened += 1; } };
        window.setTimeout = (work, pause, ...rest) => later(work, pause > 300 ? 1 : pause, ...rest);
        window.later = later;",
    )
    .await;
    let link_to = house.link(&token, &format!("/debate/{debate}")).await;
    page.goto(&format!("{}{link_to}", house.world.url)).await;
    page.type_into(field(RULING), "Half a thought").await;
    house.ask("secret", Method::DELETE, &format!("/tokens/{id}"), Value::Null).await.ok();
    page.reads(OUT).await;
    let still = "{ const before = window.opened; new Promise(done => later(done, 300)).then(() => window.opened === before) }";
    assert_eq!(page.eval(still).await, true, "it tries again for ever");
    page.is_accessible("signed out").await;
    only(&page, "401");

    // With another token one is back where one was.
    let (token, _) = house.seat(json!({"role": "arbitrator", "name": "An"})).await;
    page.follow(link("Sign in").within(css("#connection"))).await;
    page.type_into(field("Token"), &token).await;
    page.follow(button("Sign in")).await;
    page.reads("An, Arbitrator").await;
    assert_eq!(page.value(field(RULING)).await, "Half a thought");
    page.follow(button("Send ruling")).await;
    page.reads("Your ruling is argument #4.").await;
    only(&page, "401");
}

#[tokio::test]
async fn signing_in_on_one_tab_brings_the_others_back() {
    let Some(browser) = Browser::start().await else { return };
    let house = GuardedServer::open().await;
    let (debate, motion) = house.debate("Two tabs").await;
    let page =
        browser.open(&format!("{}{}", house.world.url, house.link("secret", "/").await)).await;
    let other = browser.open(&format!("{}/debate/{debate}", house.world.url)).await;
    page.follow(button("Sign out")).await;
    other.reads(OUT).await;
    page.type_into(field("Token"), "secret").await;
    page.follow(button("Sign in")).await;
    let claim = json!({
        "role": "opponent", "target_id": motion, "content": "Meanwhile.",
        "client_request_id": crate::world::new_id(),
    });
    house.post(&format!("/debates/{debate}/arguments"), claim).await;
    other.eval("document.dispatchEvent(new Event('visibilitychange'))").await;
    other.reads("Connected again").await;
    other.reads("Meanwhile.").await;
    only(&other, "401");
}
