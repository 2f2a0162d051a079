//! A person signs in to a server that wants tokens: by a token or by a link.

use reqwest::Method;
use serde_json::{Value, json};

use super::cli_debate::CliServer;
use super::find::{button, css, field, link, role};
use super::site::Site;
use super::{Browser, Page};
use crate::api::token_server::TokenServer;
use crate::loops::machine::Machine;

const RULING: &str = "Text of the ruling";
const OUT: &str = "You are signed out. What you typed is kept.";

/// Takes complaints about this status, and fails for any other.
fn only(page: &Page, status: &str) {
    for complaint in page.complaints() {
        let socket = status == "401" && complaint.contains("HTTP Authentication failed");
        assert!(socket || complaint.contains(status), "{complaint}");
    }
}

/// Signs in by a link for this token that leads to this path.
async fn open_by_link(browser: &Browser, server: &TokenServer, token: &str, path: &str) -> Page {
    browser.open(&format!("{}{}", server.world.url, server.link(token, path).await)).await
}

#[tokio::test]
async fn a_person_signs_in_by_a_token_and_out_again() {
    let machine = Machine::fresh().with("AW_AUTH_TOKEN", "a-long-secret");
    let Some((server, browser)) = CliServer::on(machine).await else { return };
    let debate = server.debate("Behind a door", "Yes.");
    let page = browser.open(&debate.url()).await;
    page.reads("Sign in").await;
    assert!(!page.says().await.contains("Behind a door"));
    page.type_into(field("Token"), "a-wrong-secret").await;
    page.follow(button("Sign in")).await;
    page.reads("The server does not accept this token").await;
    page.complaints();
    page.type_into(field("Token"), "a-long-secret").await;
    page.follow(button("Sign in")).await;
    page.reads("Behind a door").await;
    assert!(page.url().await.ends_with(&debate.id), "sign-in leads back to the page");

    // The socket uses the session too.
    debate.claims("opponent", "No.");
    page.reads("waiting for the proposer").await;

    // A link from another site keeps the session.
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
    page.goto(&server.url()).await;
    page.see(field("Token")).await;
    visitor.reload().await;
    visitor.see(field("Token")).await;
    only(&visitor, "401");
    let cookies = page.eval("document.cookie").await;
    assert_eq!(cookies, "", "scripts cannot read cookies");
}

/// The text of an argument, which must be on the screen to be laid out.
async fn text_of(page: &Page, argument: &str) -> String {
    let look = "function() {
        this.scrollIntoView();
        return new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    }";
    page.on(&css(argument), look).await;
    page.text(argument).await
}

#[tokio::test]
async fn a_link_signs_in_once_and_does_not_leak_its_code() {
    let Some(browser) = Browser::start().await else { return };
    let Some(other) = Browser::start().await else { return };
    let server = TokenServer::start().await;
    let (debate, _) = server.debate("By a link").await;
    let (token, _) = server.seat(json!({"role": "arbitrator", "name": "An"})).await;
    let path = format!("/debate/{debate}");
    let address = format!("{}{}", server.world.url, server.link(&token, &path).await);
    let code = address.split("code=").nth(1).unwrap().split('&').next().unwrap();

    // A link on another site, such as a chat.
    let html = format!("<!doctype html><link rel=icon href='data:,'><a href='{address}'>come</a>");
    let site = Site::start(&[("/", "default-src 'none'; img-src data:", &html)]).await;
    let page = browser.open(&site.elsewhere()).await;
    page.follow(link("come")).await;
    page.reads("By a link").await;
    page.reads("An, Arbitrator").await;
    page.see(role("DisclosureTriangle", "Stop the agents")).await;
    assert_eq!(page.url().await, format!("{}{path}", server.world.url));
    assert!(
        !page.addresses_so_far().await.iter().any(|known| known.contains(code)),
        "in no history"
    );
    for request in page.requests() {
        let referrer = request.headers["Referer"].as_str().unwrap_or_default();
        assert!(!referrer.contains(code), "{request:?}");
    }
    // The same browser may use it again.
    page.goto(&site.elsewhere()).await;
    page.follow(link("come")).await;
    page.reads("An, Arbitrator").await;

    // Another browser cannot, and gets the form for a token.
    let late = other.open(&address).await;
    late.reads("This link was used already or is older").await;
    assert!(!late.says().await.contains("By a link"));
    late.is_accessible("a link that is used up").await;
    late.type_into(field("Token"), &token).await;
    late.follow(button("Sign in")).await;
    late.reads("By a link").await;
    assert_eq!(
        late.url().await,
        format!("{}{path}", server.world.url),
        "sign-in leads to the page of the link"
    );
}

#[tokio::test]
async fn a_prefetched_link_asks_for_a_click() {
    let Some(browser) = Browser::start().await else { return };
    let server = TokenServer::start().await;
    let address = format!("{}{}", server.world.url, server.link("secret", "/new").await);
    let page = browser.page().await;
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
async fn rulings_of_people_and_of_programs_look_different_everywhere() {
    let Some(browser) = Browser::start().await else { return };
    let server = TokenServer::start().await;
    let debate = server.appealed("Who ruled?").await;
    let (an, _) = server.seat(json!({"role": "arbitrator", "name": "An"})).await;
    let (codex, _) = server.seat(json!({"role": "arbitrator", "name": "codex at An's"})).await;
    let page = open_by_link(&browser, &server, &an, &format!("/debate/{debate}")).await;
    page.see_no(link("New debate")).await;
    page.see_no(link("Delete")).await;
    page.type_into(field(RULING), "Option A.").await;
    page.click(button("Send ruling")).await;
    page.reads("Your ruling is argument #4.").await;
    let said = text_of(&page, "#a-4").await;
    assert!(said.contains("ruled by a person, on the page seat An"), "{said}");

    // A program intervenes and rules while the page is open.
    let path = |what: &str| format!("/debates/{debate}/{what}");
    let stop = json!({"content": "Wait."});
    server.ask(&codex, Method::POST, &path("intervention"), stop).await.created();
    server.ask(&codex, Method::POST, &path("ruling"), json!({"content": "Go on."})).await.created();
    let said = text_of(&page, "#a-6").await;
    assert!(said.contains("ruled by a program, via api seat codex at An's"), "{said}");
    let said = text_of(&page, "#a-5").await;
    assert!(said.contains("stopped by a program, via api seat codex at An's"), "{said}");
    // They differ in shape too.
    let shape = "function() {
        const {borderLeftStyle} = getComputedStyle(this);
        const {borderRadius, borderStyle} = getComputedStyle(this.querySelector('.written-by'));
        return [borderLeftStyle, borderStyle, borderRadius, this.querySelector('.written-by svg').innerHTML];
    }";
    let (one, other) = (page.on(&css("#a-4"), shape).await, page.on(&css("#a-6"), shape).await);
    for (one, other) in one.as_array().unwrap().iter().zip(other.as_array().unwrap()) {
        assert_ne!(one, other);
    }
    for (format, person, program) in [
        ("markdown", "by a person, on the page, seat `An`", "via api, seat `codex at An's`"),
        ("html", "ruled by a person, on the page", "ruled by a program, via api"),
        ("json", r#""via":"page","seat":"An""#, r#""via":"api","seat":"codex at An's""#),
    ] {
        let code =
            format!("fetch('{}?format={format}').then(answer => answer.text())", path("export"));
        let export = page.eval(&code).await;
        for words in [person, program] {
            assert!(export.as_str().unwrap().contains(words), "{format}: {words}: {export}");
        }
    }
    // And in Vietnamese.
    page.follow(button("VI")).await;
    page.reads("ruling do một người, trên trang").await;
    page.reads("ruling do một chương trình, qua api").await;
}

#[tokio::test]
async fn an_observer_follows_a_debate_and_has_no_forms() {
    let Some(browser) = Browser::start().await else { return };
    let server = TokenServer::start().await;
    let (debate, motion) = server.debate("To be read").await;
    server.debate("Another").await;
    let fields = json!({"role": "observer", "name": "Dung", "debate_id": debate});
    let (token, _) = server.seat(fields).await;
    let page = open_by_link(&browser, &server, &token, "/").await;
    page.reads("Your seat is for one debate only.").await;
    page.see(link("To be read")).await;
    assert!(!page.says().await.contains("Another"));
    page.see_no(link("New debate")).await;
    page.follow(link("To be read")).await;
    page.reads("Signed in as Dung, Observer. You can read.").await;
    assert_eq!(page.count("main form").await, 0);

    let claim = server.claim(&debate, &motion, "Live.").await;
    page.reads("Live.").await;
    server.appeal(&debate, &claim, super::every_page::APPEAL).await;
    page.reads("waiting for a ruling").await;
    assert_eq!(page.count("main form").await, 0);
    assert_eq!(page.title().await, "To be read · aw", "the title has no count");
    // A forged form is refused, and its text is shown.
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
async fn a_person_whose_seat_is_revoked_keeps_the_text() {
    let Some(browser) = Browser::start().await else { return };
    let server = TokenServer::start().await;
    let debate = server.appealed("Taken away").await;
    let (token, id) = server.seat(json!({"role": "arbitrator"})).await;
    let page = browser.page().await;
    // Pauses take no time, so that a page that reconnects for ever does so at once.
    page.at_first(
        "window.opened = 0;
        const [Socket, later] = [WebSocket, setTimeout];
        window.WebSocket = class extends Socket { constructor(...given) { super(...given); window.opened += 1; } };
        window.setTimeout = (work, pause, ...rest) => later(work, pause > 300 ? 1 : pause, ...rest);
        window.later = later;",
    )
    .await;
    let link_to = server.link(&token, &format!("/debate/{debate}")).await;
    page.goto(&format!("{}{link_to}", server.world.url)).await;
    page.type_into(field(RULING), "Half a thought").await;
    server.ask("secret", Method::DELETE, &format!("/tokens/{id}"), Value::Null).await.ok();
    page.reads(OUT).await;
    let still = "{ const before = window.opened; new Promise(done => later(done, 300)).then(() => window.opened === before) }";
    assert_eq!(page.eval(still).await, true, "the page does not reconnect");
    page.is_accessible("signed out").await;
    only(&page, "401");

    // With another token the person is back on the same page.
    let (token, _) = server.seat(json!({"role": "arbitrator", "name": "An"})).await;
    page.follow(link("Sign in").within(css("#connection"))).await;
    page.type_into(field("Token"), &token).await;
    page.follow(button("Sign in")).await;
    page.reads("An, Arbitrator").await;
    let restored = "document.querySelector('#rule textarea').value === 'Half a thought'";
    page.wait_for("the draft is restored", restored).await;
    page.click(button("Send ruling")).await;
    page.reads("Your ruling is argument #4.").await;
    only(&page, "401");
}

#[tokio::test]
async fn signing_in_on_one_tab_reconnects_the_others() {
    let Some(browser) = Browser::start().await else { return };
    let server = TokenServer::start().await;
    let (debate, motion) = server.debate("Two tabs").await;
    let page = open_by_link(&browser, &server, "secret", "/").await;
    let other = browser.open(&format!("{}/debate/{debate}", server.world.url)).await;
    page.follow(button("Sign out")).await;
    other.reads(OUT).await;
    page.type_into(field("Token"), "secret").await;
    page.follow(button("Sign in")).await;
    server.claim(&debate, &motion, "Meanwhile.").await;
    other.eval("document.dispatchEvent(new Event('visibilitychange'))").await;
    other.reads("Connected again").await;
    other.reads("Meanwhile.").await;
    only(&other, "401");
}

#[tokio::test]
async fn the_server_remembers_what_a_signed_in_person_has_seen() {
    let Some(browser) = Browser::start().await else { return };
    let server = TokenServer::start().await;
    let (debate, motion) = server.debate("Unread").await;
    let (token, _) = server.seat(json!({"role": "observer", "name": "Dung"})).await;
    let path = format!("/debate/{debate}");
    let page = open_by_link(&browser, &server, &token, "/").await;
    assert_eq!(page.text(css("#list .unread")).await, "new", "it was never opened");
    page.goto(&format!("{}{path}", server.world.url)).await;
    // The server has what was on the screen.
    let seen = async |page: &Page, count: u64| {
        let code = format!(
            "fetch('/', {{headers: {{'x-fragment': 'list'}}}}).then(answer => answer.text())
                 .then(html => html.includes('data-seen=\"{count}\"'))"
        );
        page.wait_for(&format!("#{count} is seen"), &code).await;
    };
    page.see(css("#debate[data-ready]")).await;
    page.wheel(1).await;
    seen(&page, 1).await;
    let claim = server.claim(&debate, &motion, "No.").await;
    seen(&page, 2).await;

    // Another browser of the same person knows it, that of another person does not.
    page.goto(&server.world.url).await;
    server.appeal(&debate, &claim, "Please decide.").await;
    page.reads("1 new").await;
    let other = Browser::start().await.unwrap();
    let list = open_by_link(&other, &server, &token, "/").await;
    assert_eq!(list.text(css("#list .unread")).await, "1 new");
    list.goto(&format!("{}{path}", server.world.url)).await;
    list.see(css("#new-since + #a-3")).await;
    list.wheel(1).await;
    seen(&list, 3).await;
    list.goto(&server.world.url).await;
    list.see_no(css("#list .unread")).await;
    let (stranger, _) = server.seat(json!({"role": "observer", "name": "Em"})).await;
    let third = Browser::start().await.unwrap();
    let list = open_by_link(&third, &server, &stranger, "/").await;
    assert_eq!(list.text(css("#list .unread")).await, "new");
}
