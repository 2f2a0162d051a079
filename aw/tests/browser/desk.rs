//! The desk of the arbitrator: the first screen, the keys, what is new, and the plan.

use std::time::Duration;

use serde_json::json;

use super::every_page::{APPEAL, PointDebate};
use super::find::{button, css, link, role};
use super::{Browser, Page};
use crate::world::{DebateFor, World, text};

async fn open(browser: &Browser, debate: &DebateFor<'_>) -> Page {
    let page = browser.open(&url(debate)).await;
    is_ready(&page).await;
    page
}

fn url(debate: &DebateFor<'_>) -> String {
    format!("{}/debate/{}", debate.world.url, debate.id)
}

/// Waits until the script takes keys.
async fn is_ready(page: &Page) {
    page.see(css("#debate[data-ready]")).await;
}

async fn appealed(world: &World) -> DebateFor<'_> {
    let debate = world.debate_with("Stop it?", json!({"motion_content": long("We do.")})).await;
    let claim = debate.claim("opponent", &debate.motion, &long("No.")).await;
    debate.ask("appeal", &text(&claim["argument"]["id"]), APPEAL).await.created();
    debate
}

fn long(first: &str) -> String {
    format!("{first}\n\n{}", "A paragraph of some length.\n\n".repeat(20))
}

/// Whether the whole element is on the screen.
async fn is_on_screen(page: &Page, selector: &str) -> bool {
    let code = format!(
        "(at => at.height > 0 && at.top >= 0 && at.bottom <= innerHeight)(document.querySelector('{selector}').getBoundingClientRect())"
    );
    page.eval(&code).await == true
}

#[tokio::test]
async fn the_question_and_the_first_option_are_on_the_first_screen() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let debate = appealed(&world).await;
    let page = open(&browser, &debate).await;
    for (width, height) in [(1440, 900), (1024, 768), (390, 844)] {
        page.screen(width, height).await;
        assert!(is_on_screen(&page, "#bar").await, "{width}: the bar");
        assert!(is_on_screen(&page, "#question .dispute").await, "{width}: the question");
        let option = if width == 390 { ".dock-peek" } else { ".choice" };
        assert!(is_on_screen(&page, option).await, "{width}: the first option");
        // The dock stays while a person reads.
        page.eval("scrollTo(0, document.body.scrollHeight / 2)").await;
        assert!(is_on_screen(&page, option).await, "{width}: the dock is pinned");
        assert!(is_on_screen(&page, "#bar").await, "{width}: the bar is pinned");
        page.eval("scrollTo(0, 0)").await;
    }
    let bar = page.eval("document.querySelector('#bar').offsetHeight").await;
    assert!(bar.as_f64().unwrap() <= 48.0, "{bar}");
    // On a phone one bar opens a sheet.
    page.see_no(css("#rule")).await;
    page.click(css(".dock-bar")).await;
    page.click(role("radio", "Option B")).await;
    page.see(button("Rule: Option B")).await;
    page.click(css(".dock-shut")).await;
    page.see_no(css("#rule")).await;
}

#[tokio::test]
async fn the_question_stays_in_sight_while_a_person_rules() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let debate = appealed(&world).await;
    let page = open(&browser, &debate).await;
    for (width, height) in [(1440, 900), (1024, 768)] {
        page.screen(width, height).await;
        for key in ["2", "w", "Tab", "Tab"] {
            page.press(key).await;
            assert_eq!(page.eval("scrollY").await, 0, "{width}: {key}");
        }
        page.eval("document.activeElement.blur()").await;
        // No word of what is asked is cut.
        let whole =
            "(act => act.scrollWidth <= act.clientWidth)(document.querySelector('.bar-act'))";
        assert_eq!(page.eval(whole).await, true, "{width}");
    }
    // The inbox leads to the choice, and to the question too.
    page.goto(&format!("{}/", world.url)).await;
    page.follow(link("Option B").within(css(".needed"))).await;
    is_ready(&page).await;
    page.see(button("Rule: Option B")).await;
    assert!(is_on_screen(&page, "#question .dispute").await);
}

#[tokio::test]
async fn a_person_rules_with_keys_alone() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let debate = appealed(&world).await;
    let page = open(&browser, &debate).await;
    page.press("?").await;
    page.see(role("dialog", "Keys")).await;
    page.press("Escape").await;
    page.press("3").await;
    page.see(button("Rule: Option C")).await;
    page.press("2").await;
    page.see(button("Rule: Option B")).await;
    page.press("w").await;
    page.type_keys("1 of them").await;
    page.press("Control+Enter").await;
    page.reads("Your ruling is argument #4.").await;
    let context = debate.context().await;
    assert_eq!(
        context["arguments"][2]["content"],
        "Option B: Import while it runs, slowly\n\n1 of them"
    );
    assert_eq!(page.count(css("#new-since")).await, 0, "one's own ruling is no news");
    // Stopping asks first.
    page.press("s").await;
    page.see(button("Stop them now")).await;
    page.press("Escape").await;
    page.see_no(button("Stop them now")).await;
}

#[tokio::test]
async fn on_a_phone_what_happened_to_a_ruling_stands_above_its_text() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let debate = PointDebate::appealed(&world).await.debate;
    let page = open(&browser, &debate).await;
    page.screen(390, 600).await;
    page.click(css(".dock-bar")).await;
    assert!(is_on_screen(&page, ".dock-act").await, "the whole sheet is on the screen");
    let types = |words: &str| {
        format!(
            "(text => {{ text.value = {words}; text.dispatchEvent(new Event('input', {{bubbles: true}})); }})(document.querySelector('#rule textarea'))"
        )
    };
    page.click(role("radio", "Uphold")).await;
    page.eval(&types("'x'.repeat(11000)")).await;
    page.click(css(".dock-act .primary")).await;
    page.reads("Shorten it.").await;
    let count = page.text(css("#bytes")).await;
    assert_eq!(
        page.text(css("#dock-error")).await,
        format!("Not sent: it has {count}. Shorten it.")
    );
    let is_above = |one: &str, other: &str| {
        format!(
            "document.querySelector('{one}').getBoundingClientRect().bottom <= document.querySelector('{other}').getBoundingClientRect().top"
        )
    };
    assert!(
        is_on_screen(&page, "#dock-error").await && is_on_screen(&page, "#rule textarea").await
    );
    assert_eq!(page.eval(&is_above("#dock-error", "#rule textarea")).await, true);
    assert_eq!(page.eval(&is_above("#rule textarea", ".dock-act")).await, true);
    assert_eq!(page.eval("document.activeElement.name").await, "words");

    page.eval("window.fetch = () => Promise.reject(new Error('no connection'))").await;
    page.eval(&types("'Because.'")).await;
    page.eval("document.querySelector('#rule').scrollTop = 0").await;
    page.click(css(".dock-act .primary")).await;
    page.see(button("Do not send")).await;
    assert!(is_on_screen(&page, "#dock-status").await);
    assert_eq!(page.eval(&is_above("#dock-status", ".dock-act")).await, true);
}

#[tokio::test]
async fn the_first_argument_is_a_few_tab_stops_away() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let debate = PointDebate::appealed(&world).await.debate;
    let page = open(&browser, &debate).await;
    page.eval("document.querySelector('#main').focus()").await;
    let mut stops = 0;
    while page.eval("document.querySelector('#record').contains(document.activeElement)").await
        != true
    {
        page.press("Tab").await;
        stops += 1;
        assert!(stops <= 12, "{}", page.focused().await.1);
    }
    // The timeline is one of them, fits, opens at now where it does not, and has arrows inside.
    for (width, fits) in [(1440, true), (1024, true), (300, false)] {
        page.width(width).await;
        let code = "(scroll => {
            const [all, last] = [scroll.getBoundingClientRect(), [...scroll.querySelectorAll('a')].at(-1).getBoundingClientRect()];
            return [scroll.scrollWidth <= scroll.clientWidth, last.left >= all.left && last.right <= all.right];
        })(document.querySelector('.timeline .scroll'))";
        assert_eq!(page.eval(code).await, json!([fits, true]), "{width}");
    }
    page.width(1440).await;
    page.focus(css(".timeline .scroll")).await;
    page.press("ArrowLeft").await;
    assert!(page.focused().await.1.starts_with("#5 APPEAL"), "it begins at now");
    page.press("ArrowLeft").await;
    assert!(page.focused().await.1.starts_with("#4 CLAIM"));
}

#[tokio::test]
async fn the_bar_fits_a_phone_in_every_outcome() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let debate = world.debate("Rename the crate?").await;
    let claim = debate.claim("opponent", &debate.motion, "Neither yes nor no.").await;
    debate.ask("resolution", &text(&claim["argument"]["id"]), "Done.").await.created();
    let page = browser.page().await;
    page.width(390).await;
    for language in ["en", "vi"] {
        page.speaks(language).await;
        page.goto(&url(&debate)).await;
        let height = page.eval("document.querySelector('#bar').offsetHeight").await;
        assert!(height.as_f64().unwrap() <= 60.0, "{language}: {height}");
    }
}

#[tokio::test]
async fn what_is_new_is_counted_marked_and_seen_once_it_was_on_the_screen() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let fields = json!({"motion_content": long("We do.")});
    let debate = world.debate_with("What is new", fields).await;
    let page = open(&browser, &debate).await;
    assert_eq!(page.count("#new-since").await, 0, "on the first visit nothing is new");
    page.goto(&world.url).await;
    let second = debate.claim("opponent", &debate.motion, &long("Second.")).await;
    let third = debate.claim("proposer", &text(&second["argument"]["id"]), &long("Third.")).await;
    debate.claim("opponent", &text(&third["argument"]["id"]), &long("Fourth.")).await;

    page.goto(&url(&debate)).await;
    is_ready(&page).await;
    assert!(is_on_screen(&page, "#new-since").await, "it opens at the first new argument");
    assert_eq!(page.text("#new-since").await, "new since you looked");
    page.press("n").await;
    page.press("n").await;
    let at = "document.activeElement.id";
    page.wait_for("n leads on", &format!("{at} === 'a-3' || {at} === 'a-4'")).await;
    page.press("p").await;
    for article in ["#a-2", "#a-3", "#a-4"] {
        page.eval(&format!("document.querySelector('{article}').scrollIntoView()")).await;
        let seq = &article[3..];
        let seen = format!("Number(localStorage.getItem('aw-seen:{}')) >= {seq}", debate.id);
        page.wait_for("it counts as seen", &seen).await;
    }
    page.see_no(css("#bar-new")).await;
    page.reload().await;
    is_ready(&page).await;
    assert_eq!(page.count("#new-since").await, 0);
}

#[tokio::test]
async fn the_plan_is_beside_the_arguments_with_what_changed() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let made = PointDebate::disputed(&world).await;
    let words = format!("### P2 [rejected] See doc_id={} (v1 → v2).", made.plan);
    made.says("proposer", &words).await;
    let page = open(&browser, &made.debate).await;
    let plan = role("complementary", "Charge retries");
    page.see(&plan).await;
    page.see(css("#plan ins")).await;
    assert!(page.text(&plan).await.contains("since v1 → v2"));
    page.press("]").await;
    page.wait_for("a change has the focus", "document.activeElement.matches('#plan .change')")
        .await;
    page.click(link("Read").within(&plan)).await;
    page.wait_for("it is read", "document.querySelector('#plan').dataset.view === 'read'").await;
    page.click(link("v1").within(&plan)).await;
    page.wait_for("v1 is shown", "document.querySelector('#plan').dataset.to === '1'").await;
    let marked = "[...CSS.highlights.get('quotes')].map(range => range.toString()).join()";
    assert_eq!(page.eval(marked).await, "Old rows are deleted after 30 days.");

    // A link in an argument opens that difference here.
    page.click(css("#a-5 a.doc")).await;
    page.wait_for("the difference", "document.querySelector('#plan').dataset.view === 'changes'")
        .await;
    page.press("d").await;
    page.see_no(css("#plan")).await;
    page.press("d").await;
    page.see(css("#plan")).await;

    // On a smaller screen it is a tab.
    page.width(390).await;
    page.see_no(css("#plan")).await;
    page.click(link("Plan").within(css(".desk-tabs"))).await;
    page.see(css("#plan")).await;
    page.see_no(css("#record")).await;

    let plain = browser.page().await;
    plain.without_scripts().await;
    plain.goto(&format!("{}/debate/{}/plan", world.url, made.debate.id)).await;
    plain.see(css("#plan ins")).await;
    plain.follow(link("Back to the debate")).await;
    plain.see(css("#a-1")).await;
}

#[tokio::test]
async fn an_event_reads_what_changed_and_no_arguments() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let debate = world.debate_with("Short", json!({"motion_content": long("We do.")})).await;
    let page = open(&browser, &debate).await;
    page.forget_requests();
    debate.claim("opponent", &debate.motion, &long("No.")).await;
    page.reads("waiting for the proposer").await;
    let code = format!(
        "fetch('/debate/{}?first=2', {{headers: {{'x-fragment': 'live'}}}}).then(answer => answer.text())",
        debate.id
    );
    let fragment = text(&page.eval(&code).await);
    assert!(!fragment.contains("<article") && fragment.contains("id=\"bar\""), "{fragment}");
    let asked = page.requests();
    let pages: Vec<_> = asked.iter().filter(|one| one.url.contains("/debate/")).collect();
    assert!(pages.iter().all(|one| one.url.contains("first=")), "{pages:?}");
}

#[tokio::test]
async fn the_list_stays_beside_the_debate_on_a_wide_screen() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let (debate, other) = (appealed(&world).await, world.debate("The other one").await);
    let page = open(&browser, &debate).await;
    page.screen(1440, 900).await;
    page.see_no(css("#beside")).await;
    page.screen(1760, 900).await;
    let list = role("navigation", "Debates");
    let row = |title: &str| link(title).within(&list);
    page.see(row("Stop it?")).await;
    assert_eq!(page.text(css("#beside [aria-current=page] .rail-title")).await, "Stop it?");
    page.see(css("#beside .unread").number(0)).await;
    assert!(!page.is_too_wide().await);
    for selector in [".choice", "#question .dispute", "#beside"] {
        assert!(is_on_screen(&page, selector).await, "{selector}");
    }
    page.is_accessible("the list beside a debate").await;

    // It follows what happens, is one Tab stop with arrows inside, and leads on.
    world.pass(Duration::from_secs(1));
    world.debate("Opened later").await;
    page.see(row("Opened later")).await;
    let stops = "document.querySelectorAll('#beside a[tabindex=\"0\"]').length";
    assert_eq!(page.eval(stops).await, 1);
    page.focus(row("Stop it?")).await;
    page.press("ArrowDown").await;
    assert!(page.focused().await.1.starts_with("Opened later"));
    page.press("l").await;
    page.see_no(css("#beside")).await;
    page.reload().await;
    is_ready(&page).await;
    page.see_no(css("#beside")).await;
    page.press("l").await;
    page.follow(row("The other one")).await;
    assert!(page.url().await.ends_with(&other.id));

    let plain = browser.page().await;
    plain.without_scripts().await;
    plain.screen(1760, 900).await;
    plain.goto(&url(&debate)).await;
    plain.follow(row("The other one")).await;
    assert!(plain.url().await.ends_with(&other.id));
}

#[tokio::test]
async fn the_list_beside_a_debate_is_searched_and_filtered() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let debate = appealed(&world).await;
    for number in 1..=14 {
        world.debate(&format!("Active {number:02}")).await;
    }
    let page = open(&browser, &debate).await;
    page.screen(1760, 900).await;
    let rows = "[...document.querySelectorAll('#beside [data-id] .rail-title')].map((row) => row.textContent)";
    let shows = async |count: usize| {
        page.wait_for("the list", &format!("{rows}.length === {count}")).await;
    };
    shows(1 + 12).await;
    page.click(link("Show all 14")).await;
    shows(1 + 14).await;

    page.press("/").await;
    page.type_keys("active 07").await;
    page.wait_for("one is found", &format!("{rows}.join() === 'Active 07'")).await;
    page.press("Control+a").await;
    page.type_keys("minute").await;
    let found = css("#beside .snippet");
    page.see(found.number(0)).await;
    page.press("Control+a").await;
    page.press("Backspace").await;
    page.click(css("#beside summary")).await;
    page.pick(role("combobox", "State"), "Needs you").await;
    shows(1).await;
    page.is_accessible("the filtered list beside a debate").await;

    // The filters stay: after a change, beside another debate, and from the list itself.
    world.debate("Opened later").await;
    page.goto(&world.url).await;
    page.pick(role("combobox", "State"), "Active").await;
    page.wait_for("the active ones", "document.querySelectorAll('#list .row').length === 15").await;
    page.follow(link("Active 03")).await;
    shows(12).await;
    assert_eq!(page.value(role("combobox", "State")).await, "active");
    page.screen(1440, 900).await;
    page.press("/").await;
    page.wait_for("the search of the list", "document.activeElement.name === 'q'").await;
}

#[tokio::test]
async fn after_a_ruling_the_next_debate_that_waits_is_one_step_away() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let (first, second) = (appealed(&world).await, appealed(&world).await);
    let page = open(&browser, &first).await;
    page.screen(390, 844).await;
    page.click(css(".dock-bar")).await;
    page.click(role("radio", "Option B")).await;
    page.click(button("Rule: Option B")).await;
    page.reads("Your ruling is argument #4.").await;
    page.see(link("next: 1 waiting").within(css(".recorded"))).await;
    assert!(is_on_screen(&page, ".recorded").await);
    // The bar is drawn anew, and still leads there.
    page.screen(1440, 900).await;
    let ruling = text(&first.context().await["arguments"][2]["id"]);
    first.claim("proposer", &ruling, "As ruled.").await;
    page.reads("waiting for the opponent").await;
    page.see(css("#bar-next")).await;
    page.click(button("Dismiss")).await;
    page.see_no(css(".recorded")).await;
    page.press(".").await;
    page.wait_for("it opens", &format!("location.pathname.endsWith('{}')", second.id)).await;
}

#[tokio::test]
async fn the_newest_turn_of_a_debate_without_points_is_in_view() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let debate = world.debate("Many turns").await;
    let mut last = debate.motion.clone();
    let mut says = async |turn: usize| {
        let words = format!("## Turn {turn}\n\nA paragraph.");
        let claim = debate.claim(["opponent", "proposer"][turn % 2], &last, &words).await;
        last = text(&claim["argument"]["id"]);
    };
    for turn in 0..24 {
        says(turn).await;
    }
    let page = open(&browser, &debate).await;
    page.screen(1440, 900).await;
    page.reload().await;
    is_ready(&page).await;
    assert!(is_on_screen(&page, "#rail-turns [data-seq=\"25\"]").await);
    page.focus(css("#rail-turns [data-seq='25'] a")).await;
    page.press("ArrowUp").await;
    assert!(page.focused().await.1.starts_with("#24"));
    says(24).await;
    page.see(css("#rail-turns [data-seq='26']")).await;
    assert!(is_on_screen(&page, "#rail-turns [data-seq=\"26\"]").await);
}
