//! A person reads a debate: rendered, folded, live, and in parts if it is long.

use aw_core::{Content, Move, Role, Via};
use aw_record::{Ask, Request};
use serde_json::json;

use super::cli_debate::CliServer;
use super::every_page::PointDebate;
use super::find::{button, css, link, role};
use super::{Browser, Page};
use crate::world::{World, new_id};

const MOTION: &str = "We keep **one** file.

| what | before | after |
|:--|--:|--:|
| processes | 3 | 1 |

- [x] measured
- [ ] imported

```rust
fn append(entry: &Entry) -> Result<Seq, Fault> { unreachable!(\"later\") }
```
";

/// The distance of an element from the top of the screen.
async fn top(page: &Page, selector: &str) -> f64 {
    let code = format!("document.querySelector('{selector}').getBoundingClientRect().top");
    page.eval(&code).await.as_f64().expect("a number")
}

fn long(words: &str, lines: usize) -> String {
    vec![format!("{words} {}", "and so on ".repeat(12)); lines].join("\n\n")
}

#[tokio::test]
async fn arguments_are_rendered_linked_folded_and_outlined() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let debate = server.debate("Keep one SQLite file?", MOTION);
    debate.claims("opponent", &long("Too long to read at once,", 30));
    for round in 2..8 {
        debate.claims("proposer", &long(&format!("Answer {round},"), 5));
        debate.claims("opponent", &format!("Question {round}"));
    }
    let page = browser.open(&debate.url()).await;

    let motion = role("article", "Proposer MOTION");
    assert_eq!(page.text(css("table tbody tr").within(&motion)).await, "processes 3 1");
    let boxes =
        "[...document.querySelectorAll('#a-1 li input')].map(box => [box.checked, box.disabled])";
    assert_eq!(page.eval(boxes).await, json!([[true, true], [false, true]]));
    let colours = "new Set([...document.querySelectorAll('#a-1 pre span')].map(s => getComputedStyle(s).color)).size";
    assert!(page.eval(colours).await.as_u64().unwrap() >= 3, "code has colours");
    page.see(css("time[datetime]").within(&motion)).await;
    page.see(link("answers #1").within(css("#a-2"))).await;

    page.click(link("#3").within(css("#a-3"))).await;
    let own = page.url().await;
    assert!(own.ends_with("#a-3"), "{own}");
    let other = browser.open(&own).await;
    other
        .wait_for("the argument of the link is shown", "document.querySelector('#a-3:target')")
        .await;
    let at = top(&other, "#a-3").await;
    assert!((0.0..500.0).contains(&at), "{at}");

    let height = "document.querySelector('#a-2').offsetHeight";
    let folded = page.eval(height).await.as_f64().unwrap();
    assert_eq!(page.count(role("checkbox", "Show all")).await, 1, "only the long one is folded");
    page.click(css("#a-2 label")).await;
    page.wait_for("it unfolds", &format!("{height} > {folded} * 1.5")).await;
    assert_eq!(page.text("#a-2 label").await, "Show less");
    page.click(css("#a-2 label")).await;
    page.wait_for("it folds", &format!("{height} === {folded}")).await;

    // A debate without points lists its turns by their first words.
    let rail = role("navigation", "Turns");
    assert_eq!(page.count(link("#").within(&rail)).await, 14);
    page.click(link("#9 Answer 5").within(&rail)).await;
    page.wait_for(
        "the fifth round is shown",
        "(top => top >= 0 && top < innerHeight / 2)(document.querySelector('#a-9').getBoundingClientRect().top)",
    )
    .await;
}

#[tokio::test]
async fn new_arguments_do_not_move_the_text_that_is_being_read() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let debate = server.debate("Growing", "It grows.");
    for _ in 0..4 {
        debate.claims("opponent", &long("No,", 6));
        debate.claims("proposer", &long("Yes,", 6));
    }
    let page = browser.open(&debate.url()).await;
    page.eval("document.querySelector('#a-4').scrollIntoView({behavior: 'instant'})").await;
    let before = top(&page, "#a-4").await;

    debate.claims("opponent", "First of the new ones");
    page.see(button("1 new")).await;
    debate.claims("proposer", "Second of the new ones");
    debate.claims("opponent", "Third of the new ones");
    debate.appeals(super::every_page::APPEAL);
    page.see(button("4 new")).await;
    // The question opens above the text.
    page.see(role("region", "Your ruling")).await;
    page.eval("new Promise(requestAnimationFrame)").await;
    let after = top(&page, "#a-4").await;
    assert!((after - before).abs() <= 2.0, "the text moved from {before} to {after}");

    // It leads to the first of them.
    page.click(button("4 new")).await;
    page.see_no(css(".new-below")).await;
    let first = top(&page, "#a-10").await;
    assert!((0.0..500.0).contains(&first), "{first}");
}

#[tokio::test]
async fn relative_times_are_updated() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let debate = server.debate("Growing old", "It does.");
    let page = browser.page().await;
    // The test moves the clock of the page, which checks it a hundred times as often.
    let code = "{
        const now = Date.now, every = setInterval;
        Date.now = () => now.call(Date) + (window.passed ?? 0);
        window.setInterval = (act, pause) => every(act, pause / 100);
    }";
    page.at_first(code).await;
    page.goto(&debate.url()).await;
    assert_eq!(page.text("#a-1 time").await, "just now");
    page.eval("window.passed = 121_000").await;
    let older = "document.querySelector('#a-1 time').textContent === '2 min ago'";
    page.wait_for("the time is updated", older).await;
}

#[tokio::test]
async fn a_new_argument_is_shown_without_a_further_request() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let debate = server.debate("Quick", "Be quick.");
    let page = browser.page().await;
    // Requests of the script never end. The socket alone delivers the argument.
    page.at_first("window.fetch = () => new Promise(() => {})").await;
    page.goto(&debate.url()).await;
    for (turn, role) in ["opponent", "proposer", "opponent"].into_iter().enumerate() {
        debate.claims(role, &format!("Point {turn}."));
        page.see(css(&format!("#a-{}", turn + 2))).await;
    }
}

#[tokio::test]
async fn a_debate_of_2000_arguments_opens_at_its_end_and_links_to_the_rest() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let debate = world.debate("Long").await;
    let mut target = debate.motion.parse().unwrap();
    for turn in 2..=2_000 {
        let words = format!("**Point {turn}.** It holds because of {}.", turn - 1);
        let request = Request {
            debate: debate.id.parse().unwrap(),
            id: new_id().parse().unwrap(),
            author: None,
            via: Via::Api,
            seat: None,
            ask: Ask::Play {
                role: [Role::Opponent, Role::Proposer][turn % 2],
                play: Move::Claim { target },
                content: Content::parse(words, 1_000).unwrap(),
            },
        };
        target = world.engine.execute(request).await.unwrap().argument.id;
        if turn == 5 || turn == 500 {
            timeline_shows(&browser, &world, &debate.id, turn).await;
        }
    }
    let url = format!("{}/debate/{}", world.url, debate.id);
    let page = browser.open(&url).await;
    page.see(css("#a-2000")).await;
    page.follow(link("earlier arguments")).await;
    page.see(css("#a-1700")).await;
    page.follow(link("Back to the newest arguments")).await;
    page.see(css("#a-2000")).await;
    let linked = browser.open(&format!("{url}#a-7")).await;
    linked
        .wait_for("the argument of the link is shown", "document.querySelector('#a-7:target')")
        .await;
    linked.reads("Point 7.").await;
}

/// Asserts that the timeline has a mark for each argument, also on a phone.
async fn timeline_shows(browser: &Browser, world: &World, debate: &str, arguments: usize) {
    let page = browser.open(&format!("{}/debate/{debate}", world.url)).await;
    let picture = role("region", "The debate at a glance");
    let text = page.text(&picture).await;
    assert!(text.contains(&format!("arguments: {arguments}")), "{text}");
    assert_eq!(page.count(css("svg a").within(&picture)).await, arguments);
    page.width(390).await;
    assert!(!page.is_too_wide().await, "{arguments} arguments are too wide");
    let marks = "[...document.querySelectorAll('#picture svg a')].map(a => a.getBoundingClientRect()).every(r => r.width > 1 && r.height > 1)";
    assert_eq!(page.eval(marks).await, true);
    // The page must not follow the rest of the debate.
    page.goto("about:blank").await;
}

#[tokio::test]
async fn a_first_visit_transfers_at_most_60_kb() {
    let world = World::start().await;
    for number in 0..40 {
        world
            .debate(&format!("Another debate, number {number}, with a title of some length"))
            .await;
    }
    let debate = PointDebate::appealed(&world).await.debate;
    for path in ["/".to_owned(), format!("/debate/{}", debate.id)] {
        // A browser that has nothing in its cache.
        let Some(browser) = Browser::start().await else { return };
        let page = browser.open(&format!("{}{path}", world.url)).await;
        page.wait_for("the script runs", "document.documentElement.matches('.script')").await;
        page.wait_for("all scripts are here", "document.readyState == 'complete'").await;
        let code = "['navigation', 'resource'].flatMap(kind => performance.getEntriesByType(kind))
            .reduce((sum, one) => sum + one.transferSize, 0)";
        let bytes = page.eval(code).await.as_f64().unwrap();
        assert!((5_000.0..60_000.0).contains(&bytes), "{path}: {bytes}");
    }
}
