//! The list of debates: live, searched, filtered and paged.

use serde_json::json;

use super::Browser;
use super::cli_debate::CliServer;
use super::every_page::APPEAL;
use super::find::{button, css, link, role};
use crate::world::World;

#[tokio::test]
async fn debates_that_need_a_ruling_come_first_and_cause_one_notification_each() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let import = server.debate("May the import stop the server?", "It may.");
    let rewrite = server.debate("Rewrite it?", "In another language.");
    import.claims("opponent", "Who waits is cut off.");
    let page = browser.page().await;
    page.keep_notifications().await;
    page.goto(&server.url()).await;
    page.eval("window.here = 1").await;
    page.reads("Nothing needs you right now.").await;
    page.click(button("Notify me when a debate needs me")).await;
    page.reads("You will get a notification when a debate needs you").await;
    let title = page.title().await;
    let icon = "document.querySelector('link[rel=icon]').href";
    let calm = page.eval(icon).await;

    import.appeals("Please decide.");
    let needed = role("region", "Needs you");
    page.see(link("May the import stop the server?").within(&needed)).await;
    page.wait_for("the title counts", "document.title.startsWith('(1) ')").await;
    assert_ne!(page.eval(icon).await, calm);
    let first = page.text(css("main li a").number(0)).await;
    assert_eq!(first, "May the import stop the server?");
    assert!(page.text(&needed).await.contains("waiting for your ruling"));

    // Other events cause no notification.
    rewrite.claims("opponent", "Why?");
    page.reads("Opponent CLAIM").await;
    rewrite.run("intervention", &[]);
    page.wait_for("the title counts", "document.title.startsWith('(2) ')").await;
    rewrite.claims("proposer", "What I had in hand.");
    page.reads("Proposer CLAIM").await;
    import.rules("It may.");
    page.wait_for("the title counts down", "document.title.startsWith('(1) ')").await;
    page.see(link("May the import stop the server?").within(role("region", "Active"))).await;
    let titles: Vec<_> = page.notifications().await.iter().map(|n| n["title"].clone()).collect();
    assert_eq!(titles, ["May the import stop the server?", "Rewrite it?"]);

    rewrite.run("ruling", &["--content", "No.", "--close"]);
    page.see(link("Rewrite it?").within(role("region", "Closed"))).await;
    page.reads("Nothing needs you right now.").await;
    page.wait_for("nothing is counted", &format!("document.title === {}", json!(title))).await;
    assert_eq!(page.eval(icon).await, calm);
    assert_eq!(page.notifications().await.len(), 2);
    assert_eq!(page.eval("window.here").await, 1, "the page was not reloaded");
}

#[tokio::test]
async fn a_debate_that_needs_a_ruling_shows_its_question_and_options_the_longest_waiting_first() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let titles = ["First of two", "Second of two"];
    let [first, second] = titles.map(|title| {
        let debate = server.debate(title, "Yes.");
        debate.claims("opponent", "No.");
        debate
    });
    first.appeals(APPEAL);
    second.appeals("Please decide.");
    let page = browser.open(&server.url()).await;
    let needed = role("region", "Needs you");
    page.see(link("First of two").within(&needed)).await;
    let shown = "[...document.querySelectorAll('.needed .row-title')].map(one => one.textContent)";
    assert_eq!(page.eval(shown).await, json!(titles));

    // The options lead to the dock, each with its choice.
    let options = "[...document.querySelectorAll('.needed .row-option:not(.all)')].map(one => one.getAttribute('href'))";
    let options = page.eval(options).await;
    let options = options.as_array().unwrap();
    assert!(options.len() >= 2, "{options:?}");
    assert_eq!(options[1], format!("/debate/{}?choose=2", first.id));
    assert!(page.text(&needed).await.contains("Option A"));
    page.reads("Please decide.").await;

    // A search finds words in arguments, and marks them.
    page.goto(&format!("{}/?q=pleas+decide", server.url())).await;
    page.see_no(role("region", "In arguments")).await;
    page.goto(&format!("{}/?q=please+deci", server.url())).await;
    page.see(link("Second of two").within(role("region", "In arguments"))).await;
    assert_eq!(page.text(css(".snippet mark").number(0)).await, "Please");
    page.goto(&server.url()).await;

    // One Tab stop for the group, arrows inside, and keys.
    let stops = "document.querySelectorAll('.needed .rows a[tabindex=\"0\"]').length === 1";
    page.wait_for("the group is one Tab stop", stops).await;
    page.press("/").await;
    assert_eq!(page.eval("document.activeElement.name").await, "q");
    page.press("ArrowDown").await;
    assert_eq!(page.focused().await.1, "First of two");
    page.press("ArrowRight").await;
    assert!(page.focused().await.1.contains("Option A"));
    page.press("ArrowDown").await;
    assert_eq!(page.focused().await.1, "Second of two");

    // Unread: never opened, then three new ones.
    page.wait_for(
        "both are new",
        "[...document.querySelectorAll('.needed .unread')].every(one => one.textContent === 'new')",
    )
    .await;
    page.eval(&format!(
        "localStorage.setItem('aw-seen:{}', '1'); dispatchEvent(new Event('storage'))",
        second.id
    ))
    .await;
    let row = format!("#row-{} .unread", second.id);
    page.wait_for(
        "two are new",
        &format!("document.querySelector('{row}').textContent === '2 new'"),
    )
    .await;

    // The key leads to the one that has waited longest.
    page.press(".").await;
    page.wait_for("it opens", &format!("location.pathname === '/debate/{}'", first.id)).await;
}

#[tokio::test]
async fn closed_debates_are_filtered_by_their_outcome() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let (ruled, completed) = (server.debate("Ruled", "Yes."), server.debate("Completed", "Yes."));
    ruled.run("intervention", &[]);
    ruled.run("ruling", &["--content", "No.", "--close"]);
    completed.claims("opponent", "Fine.");
    completed.resolves("Done.");
    let page = browser.open(&server.url()).await;
    page.see(link("Completed")).await;
    page.pick(role("combobox", "Outcome"), "ruled").await;
    page.see_no(link("Completed")).await;
    page.see(link("Ruled")).await;
    assert!(page.url().await.ends_with("?outcome=ruled"));
}

#[tokio::test]
async fn what_a_role_works_on_appears_live_on_its_page_and_in_the_list() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let debate = server.debate("Keep one SQLite file?", "Yes.");
    let (list, page) = (browser.open(&server.url()).await, browser.open(&debate.url()).await);
    for page in [&list, &page] {
        page.eval("window.here = 1").await;
    }
    for label in ["reads the plan", "writes its answer"] {
        debate.works("opponent", Some(label)).await;
        list.reads(&format!("Opponent: works: {label}, for")).await;
        page.reads(&format!("works: {label}, for")).await;
    }
    debate.works("opponent", None).await;
    for page in [&list, &page] {
        page.wait_for("no label", "!document.body.innerText.includes('works:')").await;
        assert_eq!(page.eval("window.here").await, 1, "the page was not reloaded");
    }
}

#[tokio::test]
async fn new_debates_moves_and_presence_appear_live() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let page = browser.open(&server.url()).await;
    page.reads("No debates yet").await;
    page.eval("window.here = 1").await;

    let debate = server.debate("Keep one SQLite file?", "Yes.");
    let row = role("listitem", "").within(role("region", "Active"));
    page.see(link("Keep one SQLite file?").within(&row)).await;
    let said = page.text(&row).await;
    for part in ["general_debate", "waiting for the opponent", "round 1", "Proposer MOTION"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(said.contains("Opponent: not seen yet"), "{said}");

    let waits = debate.waits("proposer");
    page.reads("Proposer: waiting").await;
    debate.claims("opponent", "Two machines will fight over it.");
    page.reads("Opponent CLAIM").await;
    page.reads("waiting for the proposer").await;
    assert_eq!(waits.end().data()["action"], "respond");
    page.reads("Proposer: has the floor").await;
    debate.claims("proposer", "There is one machine.");
    page.reads("round 2").await;

    server.debate("Another one", "Yes.");
    page.see(link("Another one")).await;
    assert_eq!(page.text(css("main li a").number(0)).await, "Another one", "the newest first");
    debate.run("delete", &["--confirm"]);
    page.see_no(link("Keep one SQLite file?")).await;
    assert_eq!(page.eval("window.here").await, 1, "the page was not reloaded");
}

#[tokio::test]
async fn debates_are_searched_filtered_and_paged() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    for number in 0..65 {
        let kind = if number % 5 == 0 { "coding_plan_debate" } else { "general_debate" };
        let title = format!("Plan {number:02}{}", if number == 7 { " SQLite" } else { "" });
        let debate = world.debate_with(&title, json!({"debate_type": kind})).await;
        if number % 4 == 0 {
            debate.claim("opponent", &debate.motion, "No.").await;
        }
        if number % 10 == 1 {
            debate.intervene().await.created();
            debate.rule(json!({"content": "Enough.", "close": true})).await.created();
        }
        world.pass(std::time::Duration::from_secs(60));
    }
    let page = browser.open(&world.url).await;
    page.eval("window.here = 1").await;
    let rows = css("#list li[data-id]");
    assert_eq!(page.count(&rows).await, 30 + 7, "a page of the active, all the closed");

    page.click(role("searchbox", "Search titles")).await;
    page.type_keys("sqlite").await;
    page.wait_for("one is found", "document.querySelectorAll('#list li[data-id]').length === 1")
        .await;
    page.see(link("Plan 07 SQLite").number(0)).await;
    assert!(page.url().await.ends_with("?q=sqlite"), "the address has the search");
    page.reload().await;
    assert_eq!(page.value(role("searchbox", "Search titles")).await, "sqlite");
    assert_eq!(page.count(&rows).await, 1);
    page.focus(role("searchbox", "Search titles")).await;
    page.press("Control+a").await;
    page.type_keys("nothing like it").await;
    page.reads("No debate matches.").await;
    page.follow(link("Show all debates")).await;

    page.pick(role("combobox", "State"), "Closed").await;
    page.wait_for("only the closed", "document.querySelectorAll('#list li').length === 7").await;
    page.pick(role("combobox", "Type"), "coding").await;
    page.reads("No debate matches.").await;
    page.pick(role("combobox", "State"), "waiting for the prop").await;
    // Every fifth debate has this type and every fourth was answered.
    page.wait_for("both filters", "document.querySelectorAll('#list li').length === 4").await;

    page.goto(&world.url).await;
    let mut seen = Vec::new();
    let titles = "[...document.querySelectorAll('#list li a')].map(a => a.textContent)";
    let active = role("region", "Active");
    loop {
        let shown = page.eval(titles).await;
        seen.extend(shown.as_array().unwrap().iter().map(ToString::to_string));
        if page.count(link("Older debates").within(&active)).await == 0 {
            break;
        }
        page.follow(link("Older debates").within(&active)).await;
    }
    seen.sort();
    assert_eq!(seen.len(), 65, "{seen:?}");
    seen.dedup();
    assert_eq!(seen.len(), 65, "each debate once");
    world.debate("Newest").await;
    page.goto(&world.url).await;
    page.see(link("Newest")).await;
}
