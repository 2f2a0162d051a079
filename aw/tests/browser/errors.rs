//! Error pages, and attacks from other sites.

use super::Browser;
use super::every_page::APPEAL;
use super::find::{button, css, field, link, role};
use super::site::Site;
use crate::world::{World, new_id, text};

#[tokio::test]
async fn pages_that_do_not_exist_say_so_and_link_to_the_list() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let gone = world.debate("Gone").await;
    world.delete(&format!("/debates/{}", gone.id)).await.ok();
    let page = browser.page().await;
    for (path, says) in [
        ("/nowhere".to_owned(), "There is no such page"),
        (format!("/debate/{}", new_id()), "There is no such debate"),
        ("/debate/nonsense".to_owned(), "There is no such debate"),
        (format!("/debate/{}", gone.id), "It was deleted on 1 January 2026."),
        (format!("/debate/{}/delete", gone.id), "This debate was deleted"),
        (format!("/doc/{}", new_id()), "There is no such document"),
        ("/doc/nonsense".to_owned(), "There is no such document"),
    ] {
        page.goto(&format!("{}{path}", world.url)).await;
        page.reads(says).await;
        assert_eq!(page.count(role("heading", "")).await, 1, "{path}");
        page.follow(link("To the debates")).await;
        page.reads("Needs you").await;
        for complaint in page.complaints() {
            assert!(complaint.contains("404") || complaint.contains("400"), "{path}: {complaint}");
        }
        // An empty list has another text.
        world.debate("There").await;
    }
}

#[tokio::test]
async fn a_form_with_an_invalid_csrf_token_keeps_the_text() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let debate = world.debate("Stale").await;
    debate.intervene().await.created();
    let page = browser.open(&format!("{}/debate/{}", world.url, debate.id)).await;
    page.type_into(field("Text of the ruling"), "My words").await;
    page.eval("document.querySelectorAll('[name=csrf]').forEach(one => { one.value = 'another' })")
        .await;
    page.see(css("#debate[data-ready]")).await;
    page.click(button("Send ruling")).await;
    page.reads("This form is out of date").await;
    assert_eq!(page.value(field("Text of the ruling")).await, "My words");
    assert!(page.complaints().iter().all(|complaint| complaint.contains("403")));
    // The form gets another token by itself.
    let renewed = "document.querySelector('#rule [name=csrf]').value !== 'another'";
    page.wait_for("the token is renewed", renewed).await;
    page.click(button("Send ruling")).await;
    page.reads("Your ruling is argument #3.").await;
}

#[tokio::test]
async fn another_site_cannot_frame_send_or_listen() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let debate = world.debate("Ours").await;
    let claim = debate.claim("opponent", &debate.motion, "No.").await;
    debate.ask("appeal", &text(&claim["argument"]["id"]), APPEAL).await.created();
    // A person has our page open, with its cookies.
    let own = browser.open(&format!("{}/debate/{}", world.url, debate.id)).await;
    own.reads("Your move for").await;
    let csrf = text(&own.eval("document.querySelector('[name=csrf]').value").await);
    let before = world.written();

    let (url, id) = (&world.url, &debate.id);
    let frame = format!(
        "<!doctype html><link rel=icon href='data:,'><iframe src='{url}/debate/{id}'></iframe>"
    );
    let form = |path: &str, fields: &str| {
        format!(
            "<!doctype html><link rel=icon href='data:,'><form method=post action='{url}{path}'>{fields}<button>Win a prize</button></form>"
        )
    };
    let field =
        |name: &str, value: &str| format!("<input type=hidden name='{name}' value='{value}'>");
    let fields = field("words", "Owned") + &field("close", "1") + &field("do", "send");
    let rule = form(&format!("/debate/{id}/rule"), &fields);
    // Even with a stolen CSRF token.
    let with_token = form(&format!("/debate/{id}/rule"), &(fields.clone() + &field("csrf", &csrf)));
    let stop = form(&format!("/debate/{id}/stop"), &field("content", "x"));
    let delete = form(&format!("/debate/{id}/delete"), &field("csrf", &csrf));
    let open = form("/new", &(field("title", "Owned") + &field("content", "Owned")));
    let api = form(&format!("/debates/{id}/ruling"), &field("content", "Owned"));
    let blank = "<!doctype html><link rel=icon href='data:,'><p>evil</p>";
    let site = Site::start(&[
        ("/frame", "", &frame),
        ("/rule", "", &rule),
        ("/with-token", "", &with_token),
        ("/stop", "", &stop),
        ("/delete", "", &delete),
        ("/open", "", &open),
        ("/api", "", &api),
        ("/", "", blank),
    ])
    .await;
    let evil = browser.open(&format!("{}/frame", site.elsewhere())).await;
    let framed = "document.querySelector('iframe').contentDocument === null";
    evil.wait_for("the frame is refused", framed).await;
    assert!(!evil.read_out().await.iter().any(|line| line.contains("appeals to you")));
    for path in ["rule", "with-token", "stop", "delete", "open", "api"] {
        evil.goto(&format!("{}/{path}", site.elsewhere())).await;
        evil.follow(button("Win a prize")).await;
        let said = evil.says().await;
        assert!(!said.contains("Your ruling") && !said.contains("is deleted"), "{path}: {said}");
    }
    evil.goto(&site.elsewhere()).await;
    let tries = format!(
        "Promise.all([
            fetch('{url}/debates/{id}').then(() => 'read', () => 'no'),
            fetch('{url}/debate/{id}').then(() => 'read', () => 'no'),
            fetch('{url}/debates/{id}/intervention', {{method: 'POST', mode: 'no-cors', body: '{{}}'}}).then(() => 'sent', () => 'no'),
            fetch('{url}/debates/{id}', {{method: 'DELETE'}}).then(() => 'sent', () => 'no'),
            new Promise(done => {{ const socket = new WebSocket('{}/ws?debate_id={id}'); socket.onopen = () => done('open'); socket.onerror = () => done('no') }}),
        ])",
        url.replacen("http", "ws", 1),
    );
    let came = evil.eval(&tries).await;
    assert_eq!(
        (&came[0], &came[1], &came[3], &came[4]),
        (&"no".into(), &"no".into(), &"no".into(), &"no".into())
    );
    assert_eq!(world.written(), before, "nothing has changed");
    evil.complaints();
}
