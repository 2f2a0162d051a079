//! Everything can be done with the keyboard alone, and the focus is visible.

use super::cli_debate::CliServer;
use super::every_page::APPEAL;
use super::find::{button, css, role};
use super::page::Page;

/// Whether the focus is visible, on the element or on its label.
const IS_VISIBLE: &str = "(() => {
    const at = document.activeElement;
    const shows = one => one && getComputedStyle(one).outlineStyle !== 'none' && parseFloat(getComputedStyle(one).outlineWidth) > 0;
    const box = at.getBoundingClientRect();
    const inSight = box.bottom > 0 && box.top < innerHeight;
    return inSight && at.matches(':focus-visible') && (shows(at) || shows(at.parentElement.querySelector(`label[for='${at.id}']`)) || shows(at.closest('label')));
})()";

/// Presses Tab until this element has the focus. Returns the names of the elements before it.
async fn tab_to(page: &Page, name: &str) -> Vec<String> {
    let mut passed = Vec::new();
    for _ in 0..120 {
        page.press("Tab").await;
        let called = page.focused().await.1;
        // After the last element the browser itself has the focus, then the first element.
        if page.eval("document.activeElement !== document.body").await == true {
            let at = page.eval("document.activeElement.outerHTML.slice(0, 300)").await;
            let is_visible = page.eval(IS_VISIBLE).await;
            assert_eq!(is_visible, true, "the focus on {at} is invisible");
        }
        if called.contains(name) {
            return passed;
        }
        passed.push(called);
    }
    panic!("{name} cannot be reached: {passed:?}");
}

#[tokio::test]
async fn a_person_rules_and_stops_without_a_mouse() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let debate = server.debate("Without a mouse", &"A paragraph of some length.\n\n".repeat(150));
    debate.claims("opponent", "No.");
    debate.appeals(APPEAL);
    let page = browser.open(&debate.url()).await;

    // The first link skips the head of the page.
    page.press("Tab").await;
    assert_eq!(page.focused().await.1, "Skip to content");
    assert_eq!(page.eval(IS_VISIBLE).await, true);
    page.press("Enter").await;
    page.wait_for("the content has the focus", "document.activeElement.id === 'main'").await;

    // Choices by arrow keys, then the text, the checkbox and the buttons.
    tab_to(&page, "Option A").await;
    page.press("ArrowDown").await;
    assert!(page.focused().await.1.contains("Option B"));
    tab_to(&page, "Text of the ruling").await;
    page.type_keys("Please.").await;
    tab_to(&page, "Close the debate").await;
    let passed = tab_to(&page, "Rule: Option B").await;
    assert!(passed.is_empty(), "{passed:?}");
    page.press("Control+Enter").await;
    page.reads("Your ruling is argument #4.").await;
    page.wait_for("it has the focus", "document.activeElement.id === 'a-4'").await;
    let ruling = debate.newest();
    assert!(ruling["content"].as_str().unwrap().ends_with("slowly\n\nPlease."), "{ruling}");

    // An intervention.
    tab_to(&page, "Stop the agents").await;
    page.press("Enter").await;
    tab_to(&page, "Reason").await;
    page.type_keys("Enough").await;
    tab_to(&page, "Stop them now").await;
    page.press("Enter").await;
    page.reads("The agents are stopped.").await;

    // Unfolding a long argument.
    page.goto(&debate.url()).await;
    let height = "document.querySelector('#a-1').offsetHeight";
    let folded = page.eval(height).await.as_f64().unwrap();
    tab_to(&page, "Show all").await;
    page.press(" ").await;
    page.wait_for("it unfolds", &format!("{height} > {folded} * 1.5")).await;

    // A live update does not move the focus.
    page.goto(&debate.url()).await;
    tab_to(&page, "#1 A paragraph").await;
    debate.arguments();
    debate.rules("Go on.");
    page.see(css("#a-6")).await;
    page.reads("waiting for the proposer").await;
    assert!(page.focused().await.1.starts_with("#1 A paragraph"));
}

#[tokio::test]
async fn language_and_theme_are_switched_and_remembered() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let debate = server.debate("Switches", "Yes.");
    let page = browser.open(&debate.url()).await;
    let back = "getComputedStyle(document.body).backgroundColor";
    let light = page.eval(back).await;
    page.follow(button("VI")).await;
    page.reads("đang chờ opponent").await;
    assert_eq!(page.eval("document.documentElement.lang").await, "vi");
    assert!(page.url().await.ends_with(&debate.id), "the page stays the same");
    page.follow(button("Tối")).await;
    let dark = page.eval(back).await;
    assert_ne!(dark, light);
    page.goto(&server.url()).await;
    page.reads("Các debate").await;
    assert_eq!(page.eval(back).await, dark);
    // Live updates have the same language.
    page.goto(&debate.url()).await;
    debate.claims("opponent", "No.");
    page.see(role("article", "Opponent CLAIM")).await;
    page.reads("trả lời #1").await;
    page.follow(button("EN")).await;
    page.follow(button("System")).await;
    assert_eq!(page.eval(back).await, light);
    page.reads("waiting for the proposer").await;
    let pressed = "[...document.querySelectorAll('[aria-pressed=true]')].map(one => one.ariaLabel || one.textContent)";
    assert_eq!(page.eval(pressed).await, serde_json::json!(["EN", "System"]));
}
