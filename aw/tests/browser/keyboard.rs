//! With a keyboard alone: everything can be reached, in order, and one sees where one is.

use super::find::{button, css, role};
use super::gallery::APPEAL;
use super::page::Page;
use super::stage::Stage;

/// Whether one sees where the focus is: on it, or on what stands for it.
const IS_SEEN: &str = "(() => {
    const at = document.activeElement;
    const shows = one => one && getComputedStyle(one).outlineStyle !== 'none' && parseFloat(getComputedStyle(one).outlineWidth) > 0;
    const box = at.getBoundingClientRect();
    const inSight = box.bottom > 0 && box.top < innerHeight;
    return inSight && at.matches(':focus-visible') && (shows(at) || shows(at.parentElement.querySelector(`label[for='${at.id}']`)) || shows(at.closest('label')));
})()";

/// Presses Tab until this has the focus; what was passed on the way.
async fn tab_to(page: &Page, name: &str) -> Vec<String> {
    let mut passed = Vec::new();
    for _ in 0..120 {
        page.press("Tab").await;
        let called = page.focused().await.1;
        // Beyond the last there is the browser itself, and then the first again.
        if page.eval("document.activeElement !== document.body").await == true {
            let at = page.eval("document.activeElement.outerHTML.slice(0, 300)").await;
            let is_seen = page.eval(IS_SEEN).await;
            assert_eq!(is_seen, true, "one does not see that {at} has the focus");
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
    let Some((stage, browser)) = Stage::set().await else { return };
    let debate = stage.debate("Without a mouse", &"A paragraph of some length.\n\n".repeat(150));
    debate.claims("opponent", "No.");
    debate.appeals(APPEAL);
    let page = browser.open(&debate.url()).await;

    // Past the head of the page with one key.
    page.press("Tab").await;
    assert_eq!(page.focused().await.1, "Skip to content");
    assert_eq!(page.eval(IS_SEEN).await, true);
    page.press("Enter").await;
    page.wait_for("the content has the focus", "document.activeElement.id === 'main'").await;

    // Choices by arrows, then the text, the box and the buttons.
    tab_to(&page, "Option A").await;
    page.press("ArrowDown").await;
    assert!(page.focused().await.1.contains("Option B"));
    tab_to(&page, "Text of the ruling").await;
    page.type_keys("Please.").await;
    tab_to(&page, "Close the debate").await;
    let passed = tab_to(&page, "Rule: Option B").await;
    assert!(passed.is_empty(), "{passed:?}");
    page.press("Enter").await;
    page.reads("Your ruling is argument #4.").await;
    page.wait_for("it is in sight", "document.activeElement.id === 'a-4'").await;
    let ruling = debate.newest();
    assert!(ruling["content"].as_str().unwrap().ends_with("slowly\n\nPlease."), "{ruling}");

    // Stopping: opened, filled in and sent.
    tab_to(&page, "Stop the agents").await;
    page.press("Enter").await;
    tab_to(&page, "Reason").await;
    page.type_keys("Enough").await;
    tab_to(&page, "Stop them now").await;
    page.press("Enter").await;
    page.reads("The agents are stopped.").await;

    // A long argument unfolds.
    page.goto(&debate.url()).await;
    let height = "document.querySelector('#a-1').offsetHeight";
    let folded = page.eval(height).await.as_f64().unwrap();
    tab_to(&page, "Show all").await;
    page.press(" ").await;
    page.wait_for("it unfolds", &format!("{height} > {folded} * 1.5")).await;

    // What changes around it leaves the focus where it is.
    page.goto(&debate.url()).await;
    tab_to(&page, "Round 1").await;
    debate.arguments();
    debate.rules("Go on.");
    page.see(css("#a-6")).await;
    page.reads("waiting for the proposer").await;
    assert_eq!(page.focused().await.1, "Round 1");
}

#[tokio::test]
async fn language_and_theme_are_switched_and_stay() {
    let Some((stage, browser)) = Stage::set().await else { return };
    let debate = stage.debate("Switches", "Yes.");
    let page = browser.open(&debate.url()).await;
    let back = "getComputedStyle(document.body).backgroundColor";
    let light = page.eval(back).await;
    page.follow(button("VI")).await;
    page.reads("đang chờ opponent").await;
    assert_eq!(page.eval("document.documentElement.lang").await, "vi");
    assert!(page.url().await.ends_with(&debate.id), "one stays where one was");
    page.follow(button("Tối")).await;
    let dark = page.eval(back).await;
    assert_ne!(dark, light);
    page.goto(&stage.url()).await;
    page.reads("Các debate").await;
    assert_eq!(page.eval(back).await, dark);
    // What arrives speaks the same language.
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
