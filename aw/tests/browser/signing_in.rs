//! Where the server wants a token, a person signs in once.

use super::find::{button, field, link};
use super::site::Site;
use super::stage::Stage;
use crate::loops::machine::Machine;

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
    page.reads("That is not the token.").await;
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

    page.follow(button("Sign out")).await;
    page.reads("Sign in").await;
    page.goto(&stage.url()).await;
    page.see(field("Token")).await;
    visitor.reload().await;
    visitor.see(field("Token")).await;
    // Its sockets are gone with the session, or will be; what they say now is no news.
    visitor.complaints();
    let cookies = page.eval("document.cookie").await;
    assert_eq!(cookies, "", "no script can read who one is");
}
