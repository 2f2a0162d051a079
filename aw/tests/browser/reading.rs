//! A debate is read: drawn, folded, followed while it grows, and quick however long it is.

use std::time::Duration;

use aw_core::{Content, Move, Role, Via};
use aw_record::{Ask, Request};
use jiff::Timestamp;
use serde_json::Value;

use super::find::{button, css, link, role};
use super::stage::Stage;
use super::{Browser, Page};
use crate::world::{World, new_id, text};

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

/// Where this is on the screen, from its top.
async fn top(page: &Page, selector: &str) -> f64 {
    let code = format!("document.querySelector('{selector}').getBoundingClientRect().top");
    page.eval(&code).await.as_f64().expect("a place")
}

fn long(words: &str, lines: usize) -> String {
    vec![format!("{words} {}", "and so on ".repeat(12)); lines].join("\n\n")
}

#[tokio::test]
async fn words_are_drawn_linked_folded_and_outlined() {
    let Some((stage, browser)) = Stage::set().await else { return };
    let debate = stage.debate("Keep one SQLite file?", MOTION);
    debate.run("get-context", &["--role", "opponent"]);
    debate.claims("opponent", &long("Too long to read at once,", 30));
    for round in 2..8 {
        debate.claims("proposer", &long(&format!("Answer {round},"), 5));
        debate.claims("opponent", &format!("Question {round}"));
    }
    let page = browser.open(&debate.url()).await;

    let motion = role("article", "Proposer MOTION");
    assert_eq!(page.text(css("table tbody tr").within(&motion)).await, "processes 3 1");
    let ticked =
        "[...document.querySelectorAll('#a-1 li input')].map(box => [box.checked, box.disabled])";
    assert_eq!(page.eval(ticked).await, serde_json::json!([[true, true], [false, true]]));
    let colours = "new Set([...document.querySelectorAll('#a-1 pre span')].map(s => getComputedStyle(s).color)).size";
    assert!(page.eval(colours).await.as_u64().unwrap() >= 3, "code has colours");
    page.see(css("time[datetime]").within(&motion)).await;
    page.see(link("answers #1").within(css("#a-2"))).await;

    // A link of its own.
    page.click(link("#3").within(css("#a-3"))).await;
    let own = page.url().await;
    assert!(own.ends_with("#a-3"), "{own}");
    let other = browser.open(&own).await;
    other.wait_for("it is in sight", "document.querySelector('#a-3:target')").await;
    let at = top(&other, "#a-3").await;
    assert!((0.0..500.0).contains(&at), "{at}");

    // A long one folds, and unfolds.
    let folded = page.eval("document.querySelector('#a-2').offsetHeight").await.as_f64().unwrap();
    assert_eq!(page.count(role("checkbox", "Show all")).await, 1, "only the long one folds");
    page.click(css("#a-2 label")).await;
    page.wait_for(
        "it unfolds",
        &format!("document.querySelector('#a-2').offsetHeight > {folded} * 1.5"),
    )
    .await;
    assert_eq!(page.text("#a-2 label").await, "Show less");
    page.click(css("#a-2 label")).await;
    page.wait_for("it folds", &format!("document.querySelector('#a-2').offsetHeight === {folded}"))
        .await;

    // The outline jumps by round.
    let outline = role("navigation", "Outline");
    assert_eq!(page.count(link("Round").within(&outline)).await, 7);
    page.click(link("Round 5").within(&outline)).await;
    page.wait_for(
        "the fifth round is in sight",
        "(top => top >= 0 && top < innerHeight / 2)(document.querySelector('#a-9').getBoundingClientRect().top)",
    )
    .await;
}

#[tokio::test]
async fn a_new_argument_moves_nothing_that_is_being_read() {
    let Some((stage, browser)) = Stage::set().await else { return };
    let debate = stage.debate("Growing", "It grows.");
    for _ in 0..4 {
        debate.claims("opponent", &long("No,", 6));
        debate.claims("proposer", &long("Yes,", 6));
    }
    let page = browser.open(&debate.url()).await;
    page.eval("document.querySelector('#a-4').scrollIntoView()").await;
    page.wheel(40).await;
    page.wait_for("it stands still", "new Promise(done => { const at = scrollY; setTimeout(() => done(at === scrollY && at > 0), 150) })").await;
    let before = top(&page, "#a-4").await;

    debate.claims("opponent", "First of the new ones");
    page.see(button("1 new")).await;
    debate.claims("proposer", "Second of the new ones");
    page.see(button("2 new")).await;
    debate.claims("opponent", "Third of the new ones");
    debate.appeals(super::gallery::APPEAL);
    page.see(button("4 new")).await;
    // Above it a panel has opened.
    page.see(role("region", "The proposer appeals to you")).await;
    page.eval("new Promise(requestAnimationFrame)").await;
    let after = top(&page, "#a-4").await;
    assert!((after - before).abs() <= 2.0, "what was at {before} is at {after}");

    page.click(button("4 new")).await;
    page.see_no(button("new").within(css("#debate > .new-below"))).await;
    let last = top(&page, "#a-13").await;
    assert!((-5.0..900.0).contains(&last), "{last}");

    // Whoever reads the end is not told of what they see.
    debate.rules("Enough of this.");
    page.reads("Enough of this.").await;
    assert_eq!(page.count(css(".new-below")).await, 0);
}

#[tokio::test]
async fn times_grow_older_in_the_words_they_were_told_in() {
    let Some((stage, browser)) = Stage::set().await else { return };
    let debate = stage.debate("Growing old", "It does.");
    let page = browser.page().await;
    // Two minutes pass, and the page looks at its clock a hundred times as often.
    let code = "{
        const now = Date.now, every = setInterval;
        Date.now = () => now.call(Date) + (window.passed ?? 0);
        window.setInterval = (act, pause) => every(act, pause / 100);
    }";
    page.at_first(code).await;
    page.goto(&debate.url()).await;
    let time = css("time").within(role("article", "Proposer MOTION"));
    assert_eq!(page.text(&time).await, "just now");
    page.eval("window.passed = 121_000").await;
    page.wait_for(
        "it grows older",
        "document.querySelector('#a-1 time').textContent === '2 min ago'",
    )
    .await;
}

#[tokio::test]
#[expect(clippy::print_stdout, reason = "how long it takes is to be read in the log")]
async fn an_argument_is_on_the_screen_at_once() {
    let Some((stage, browser)) = Stage::set().await else { return };
    let debate = stage.debate("Quick", "Be quick.");
    let page = browser.open(&debate.url()).await;
    page.reads("not seen yet").await;
    let mut took = Vec::new();
    for turn in 0..9 {
        page.watch(&format!("document.getElementById('a-{}')", turn + 2)).await;
        debate.claims(["opponent", "proposer"][turn % 2], &format!("Point {turn}."));
        let seen = page.watched().await;
        let written: Timestamp = text(&debate.newest()["created_at"]).parse().unwrap();
        #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 fit")]
        took.push(seen - written.as_millisecond() as f64);
    }
    took.sort_by(f64::total_cmp);
    println!("on the screen after {took:.0?} ms, median {:.0}", took[4]);
    assert!(took[0] <= 100.0, "{took:?}");
    assert!(took[4] <= 500.0, "{took:?}");
}

#[tokio::test]
#[expect(clippy::print_stdout, reason = "how long it takes is to be read in the log")]
async fn two_thousand_arguments_open_within_a_second() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let debate = world.debate("Long").await;
    let mut target = debate.motion.parse().unwrap();
    for turn in 2..=2_000 {
        let words = format!("**Point {turn}.** It holds because of what was said in {}.", turn - 1);
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
            drawn(&browser, &world, &debate.id, turn).await;
        }
        world.pass(Duration::from_secs(20));
    }
    let page = browser.page().await;
    let url = format!("{}/debate/{}", world.url, debate.id);
    let mut took = Vec::new();
    // The tree for screen readers is built when one is there.
    page.call("Accessibility.disable", serde_json::json!({})).await;
    for _ in 0..5 {
        page.goto(&url).await;
        page.see(css("#a-2000")).await;
        let load = "performance.getEntriesByType('navigation')[0].loadEventEnd";
        took.push(page.eval(load).await.as_f64().unwrap());
    }
    took.sort_by(f64::total_cmp);
    println!("2,000 arguments are open after {took:.0?} ms");
    assert!(took[0] < 1_000.0, "{took:?}");

    page.call("Accessibility.enable", serde_json::json!({})).await;
    // The rest is a click away, and so is every one by its link or round.
    page.follow(link("earlier arguments")).await;
    page.see(css("#a-1700")).await;
    page.follow(link("Back to the newest arguments")).await;
    page.see(css("#a-2000")).await;
    let linked = browser.open(&format!("{url}#a-7")).await;
    linked.wait_for("it is in sight", "document.querySelector('#a-7:target')").await;
    linked.reads("Point 7.").await;
    page.follow(link("Round 3").within(role("navigation", "Outline"))).await;
    page.wait_for("the third round is in sight", "document.querySelector('#a-5:target')").await;
}

/// The picture of the debate shows this many arguments, on a phone too.
async fn drawn(browser: &Browser, world: &World, debate: &str, arguments: usize) {
    let page = browser.open(&format!("{}/debate/{debate}", world.url)).await;
    let picture = role("region", "The debate at a glance");
    let said = page.text(&picture).await;
    assert!(said.contains(&format!("arguments: {arguments}")), "{said}");
    assert_eq!(page.count(css("svg a").within(&picture)).await, arguments);
    page.width(390).await;
    assert!(!page.is_too_wide().await, "{arguments} arguments are too wide");
    let marks: Value = page
        .eval("[...document.querySelectorAll('#picture svg a')].map(a => a.getBoundingClientRect()).every(r => r.width > 1 && r.height > 1)")
        .await;
    assert_eq!(marks, true);
    // What comes later is not for this one.
    page.goto("about:blank").await;
}
