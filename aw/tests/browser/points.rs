//! Points on the page: the panel and its threads, the marks in arguments, ruling by points.

use reqwest::Method;
use serde_json::{Value, json};

use super::Browser;
use super::every_page::{PointDebate, RESOLVED, RETRIES};
use super::find::{Find, button, css, field, link, role};
use crate::world::{DebateFor, World, text};

fn rail() -> Find {
    role("navigation", "Points")
}

fn point(id: &str) -> Find {
    css(&format!("#point-{id}"))
}

fn url(debate: &DebateFor<'_>) -> String {
    format!("{}/debate/{}", debate.world.url, debate.id)
}

async fn states(debate: &DebateFor<'_>) -> Vec<String> {
    let list = debate.world.get(&format!("/debates/{}/points", debate.id)).await.ok();
    let points = list["points"].as_array().unwrap().iter();
    points.map(|point| format!("{} {}", text(&point["id"]), text(&point["state"]))).collect()
}

async fn newest(debate: &DebateFor<'_>) -> Value {
    let context = debate.context().await;
    context["arguments"].as_array().unwrap().last().unwrap().clone()
}

async fn export(world: &World, id: &str, format: &str) -> String {
    let path = format!("/debates/{id}/export?format={format}");
    world.request(Method::GET, &path).send().await.unwrap().text().await.unwrap()
}

#[tokio::test]
async fn the_rail_groups_points_by_need_and_each_opens_into_its_turns() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let debate = PointDebate::disputed(&world).await.debate;
    for with_scripts in [true, false] {
        let page = browser.page().await;
        if !with_scripts {
            page.without_scripts().await;
        }
        page.goto(&url(&debate)).await;
        let shown = page.text(rail()).await;
        assert!(shown.contains("1 open · 2 settled 1 point blocks"), "{shown}");
        let ids =
            "[...document.querySelectorAll('#rail [id^=point-]')].map(one => one.id).join(' ')";
        assert_eq!(page.eval(ids).await, "point-P2 point-P1 point-P3", "alive first, over last");
        let second = page.text(point("P2")).await;
        for part in [
            "P2 Refunds need the old rows",
            "major open",
            "blocks",
            "Proposer owes a word",
            "2 rounds",
            "1 quote found",
        ] {
            assert!(second.contains(part), "{part}: {second}");
        }
        assert!(page.text(point("P1")).await.contains("critical settled"));
        assert!(page.text(point("P3")).await.contains("minor set aside"));

        let second = link("P2").within(rail());
        match with_scripts {
            true => page.click(second).await,
            false => page.follow(second).await,
        }
        page.see(css("#thread")).await;
        page.see_no(css("#picture")).await;
        let opened = page.text("#thread").await;
        for part in [
            "Old rows are deleted after 30 days.",
            "v1, line 4",
            "Opponent raises it as major #2",
            "Proposer rejects it #3",
            "Opponent holds it: open #4",
            "The ledger service keeps 30 days too.",
        ] {
            assert!(opened.contains(part), "{part}: {opened}");
        }
        assert!(page.url().await.contains("?point=P2"), "{}", page.url().await);
        page.see_no(css("#a-2")).await;
        let whole = link("Whole transcript");
        match with_scripts {
            true => page.click(whole).await,
            false => page.follow(whole).await,
        }
        page.see(css("#a-2")).await;
        page.see_no(css("#thread")).await;
    }
}

#[tokio::test]
async fn headings_carry_the_state_now_and_quotes_their_place() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let made = PointDebate::disputed(&world).await;
    let page = browser.open(&url(&made.debate)).await;
    let claim = page.text(css("#a-2")).await;
    for part in ["P1 now: settled", "P2 now: open", "P3 now: set aside", "v1, line 3"] {
        assert!(claim.contains(part), "{part}: {claim}");
    }
    let quoted = page.text(css("#a-2 blockquote").number(0)).await;
    assert_eq!(quoted, "The worker retries the POST up to 3 times.", "the reason is no quote");
    let answer = page.text(css("#a-3")).await;
    assert!(answer.contains("from src/refund.rs, not in the record"), "{answer}");
    let held = page.text(css("#a-4")).await;
    assert!(held.contains("from v1, changed since"), "{held}");
    assert!(!page.says().await.contains("verified"));

    page.click(link("P2 now: open").within(css("#a-2"))).await;
    page.reads("Proposer rejects it #3").await;
    page.press("a").await;
    let place = link("v1, line 4").within(css("#a-2"));
    page.follow(place).await;
    assert_eq!(page.text("main mark").await, "2. Old rows are deleted after 30 days.");
    assert!(page.url().await.ends_with(&format!("/doc/{}?version=1&lines=4-4#line-4", made.plan)));
}

#[tokio::test]
async fn choices_become_statements_of_the_ruling_with_and_without_scripts() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    for with_scripts in [true, false] {
        let debate = PointDebate::appealed(&world).await.debate;
        let page = browser.page().await;
        if !with_scripts {
            page.without_scripts().await;
        }
        page.goto(&url(&debate)).await;
        let offered = role("group", "Refunds need the old rows");
        page.click(role("DisclosureTriangle", "What both sides say")).await;
        let shown = page.text(&offered).await;
        for part in [
            "Old rows are deleted after 30 days.",
            "Refunds read the ledger service, not these rows.",
            "The ledger service keeps 30 days too.",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert_eq!(page.count(role("radio", "").within(&offered)).await, 4);
        page.click(role("radio", "Uphold").within(&offered)).await;
        page.type_into(field("Reason for P2"), "Refunds need them.").await;
        page.click(role("radio", "Option B")).await;
        page.type_into(field("Text of the ruling"), "Ninety days.").await;
        match with_scripts {
            true => {
                page.click(button("Preview")).await;
                page.see(css("#preview h3")).await;
            }
            false => page.follow(button("Preview")).await,
        }
        assert!(page.text("#preview").await.ends_with("P2 [upheld] Refunds need them."));
        match with_scripts {
            true => page.click(button("Rule: Option B, uphold P2")).await,
            false => page.follow(button("Rule: Option B")).await,
        }
        page.reads("Your ruling is argument #6.").await;
        let ruling = newest(&debate).await;
        let words = "Option B: Import while it runs, slowly\n\nNinety days.\n\n### P2 [upheld] Refunds need them.";
        assert_eq!(ruling["content"], words, "scripts: {with_scripts}");
        assert_eq!(states(&debate).await, ["P1 settled", "P2 upheld", "P3 set_aside"]);
        assert!(page.text(point("P2")).await.contains("upheld"));
        if with_scripts {
            page.wait_for(
                "drafts are forgotten",
                "Object.keys(localStorage).every(key => !key.startsWith('aw:'))",
            )
            .await;
        }
    }
}

#[tokio::test]
async fn a_ruling_is_offered_on_the_points_that_block_first() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let made = PointDebate::opened(&world, json!({"points": true})).await;
    let raised = "### NEW [minor] A small thing\nSay it.\n### NEW [major] Refunds need the old rows\n\
        > Old rows are deleted after 30 days.\nRefunds are possible for 90 days.";
    made.says("opponent", raised).await;
    made.asks("appeal", "Please decide.").await;
    let page = browser.open(&url(&made.debate)).await;
    let names = "[...document.querySelectorAll('[name^=reason-P]')].map(one => one.name).join(' ')";
    assert_eq!(page.eval(names).await, "reason-P2 reason-P1");
}

#[tokio::test]
async fn many_points_are_counted_where_their_ids_are_too_long() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let made = PointDebate::opened(&world, json!({"points": true})).await;
    let raised = |number: u32| {
        format!(
            "### NEW [major] Reason {number}\n> Old rows are deleted after 30 days.\nNumber {number}."
        )
    };
    made.says("opponent", &(1..=5).map(raised).collect::<Vec<_>>().join("\n")).await;
    made.asks("appeal", "Which of them?").await;
    let page = browser.open(&url(&made.debate)).await;
    assert!(page.text(css(".bar-act")).await.contains("rule on 5 points"));
    page.width(390).await;
    assert_eq!(page.text(css(".dock-bar .button")).await, "Rule on 5 points");
    page.width(1440).await;
    for choice in 0..4 {
        page.click(css("[value=uphold]").number(choice)).await;
    }
    page.see(button("Uphold P1, P2, P3, P4")).await;
    page.click(css("[value=uphold]").number(4)).await;
    page.see(button("Uphold 5 points")).await;
}

#[tokio::test]
async fn a_choice_alone_is_a_ruling_and_all_points_left_need_words() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let debate = PointDebate::appealed(&world).await.debate;
    let page = browser.open(&url(&debate)).await;
    page.click(button("Send ruling")).await;
    page.reads("Choose an option or write what should be done.").await;
    page.click(role("radio", "Dismiss")).await;
    page.reload().await;
    page.wait_for("the choice is restored", "document.querySelector('[value=dismiss]').checked")
        .await;
    page.click(role("checkbox", "Close the debate with this ruling")).await;
    page.click(button("Dismiss P2 and close the debate")).await;
    page.reads("Your ruling is argument #6.").await;
    assert_eq!(newest(&debate).await["content"], "### P2 [dismissed] By this ruling.");
    page.reads("closed ruled").await;
}

#[tokio::test]
async fn a_flawed_ruling_keeps_its_text_and_shows_every_flaw() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let debate = PointDebate::appealed(&world).await.debate;
    for with_scripts in [true, false] {
        let page = browser.page().await;
        if !with_scripts {
            page.without_scripts().await;
        }
        page.goto(&url(&debate)).await;
        let wrong = "Well.\n### P9 [upheld] <b>None</b>\n### P1 [resolved] x";
        page.type_into(field("Text of the ruling"), wrong).await;
        page.click(role("radio", "Defer")).await;
        page.type_into(field("Reason for P2"), "Later.").await;
        match with_scripts {
            true => page.click(button("Defer P2")).await,
            false => page.follow(button("Send ruling")).await,
        }
        page.reads("Not sent:").await;
        let flaws = page.text("#flaws").await;
        assert!(flaws.contains("line 2: ") && flaws.contains("line 3: "), "{flaws}");
        assert_eq!(page.count("#flaws li").await, 2, "{flaws}");
        assert_eq!(page.value(field("Text of the ruling")).await, wrong);
        assert_eq!(page.value(field("Reason for P2")).await, "Later.");
        assert_eq!(page.eval("document.querySelector('[value=defer]').checked").await, true);
        assert_eq!(page.count("#flaws b").await, 0);
        page.eval("localStorage.clear()").await;
    }
    assert_eq!(newest(&debate).await["type"], "APPEAL", "nothing was sent");
}

#[tokio::test]
async fn a_held_resolution_says_why() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let page = browser.page().await;
    let not_agreed = PointDebate::opened(&world, json!({"points": true})).await;
    not_agreed.says("opponent", "I know nothing of points.").await;
    not_agreed.completes("Done.").await;
    page.goto(&url(&not_agreed.debate)).await;
    page.reads("The resolution waits for the arbitrator: the opponent has not agreed.").await;
    assert!(page.text(rail()).await.contains("No points yet."));

    let policy = json!({"points": true, "resolution_policy": "arbitrator"});
    let policy = PointDebate::opened(&world, policy).await;
    policy.says("opponent", RESOLVED).await;
    policy.completes("Done.").await;
    page.goto(&url(&policy.debate)).await;
    page.reads("this debate always asks before it closes.").await;
    assert!(!page.text(rail()).await.contains("the opponent agrees"), "it is not the newest word");

    let other = PointDebate::opened(&world, json!({"points": true})).await;
    other.says("opponent", RESOLVED).await;
    page.goto(&url(&other.debate)).await;
    assert!(page.text(rail()).await.contains("the opponent agrees"));
    let second = other.next_version("Another plan.\n").await;
    other.completes(&format!("Done: doc_id={} (v{second})", other.plan)).await;
    page.reads("it cites another version than the one that the opponent agreed to.").await;
}

#[tokio::test]
async fn the_rail_marks_points_that_deserve_a_look() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let made = PointDebate::opened(&world, json!({"points": true})).await;
    let raised = "### NEW [major] Refunds need the old rows\n\
        > Old rows are deleted after 30 days.\nRefunds are possible for 90 days.";
    made.says("opponent", raised).await;
    let next = made.next_version(&format!("{RETRIES}\nNothing else has changed.\n")).await;
    made.says("proposer", &format!("### P1 [accepted] See doc_id={} (v{next}).", made.plan)).await;
    let page = browser.open(&url(&made.debate)).await;
    let accepted = page.text(point("P1")).await;
    assert!(accepted.contains("not checked yet text unchanged"), "{accepted}");
    made.says("opponent", "Nothing new.").await;
    made.says("proposer", "Nothing new.").await;
    made.says("opponent", raised).await;
    page.goto(&url(&made.debate)).await;
    let late = page.text(point("P2")).await;
    assert!(late.contains("late") && !late.contains("blocks"), "{late}");
    assert!(!page.text(point("P1")).await.contains("late"));
}

#[tokio::test]
async fn rail_turns_and_headings_follow_new_arguments() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let made = PointDebate::disputed(&world).await;
    let page = browser.open(&url(&made.debate)).await;
    page.see(css("#debate[data-ready]")).await;
    page.press("j").await;
    page.press("Enter").await;
    page.reads("Opponent holds it: open #4").await;
    made.says("proposer", "### P2 [rejected] The bank says so.").await;
    page.reads("Proposer rejects it #5").await;
    let rejected = page.text(point("P2")).await;
    assert!(rejected.contains("rejected") && rejected.contains("no evidence"), "{rejected}");
    page.press("a").await;
    page.see(link("P2 now: rejected").within(css("#a-2"))).await;
    // The browser does not draw what is far outside of the screen.
    let new = "document.querySelector('#a-5 a[data-point]').textContent === 'P2 now: rejected'";
    page.wait_for("the new argument has the state too", new).await;
    assert_eq!(page.count(link("P2 now: open")).await, 0);
    made.says("opponent", "### P2 [withdrawn] Fine.\n### VERDICT [agree]").await;
    page.reads("the opponent agrees").await;
    page.see(link("P2 now: withdrawn").within(css("#a-2"))).await;
    made.completes("Done.").await;
    page.reads("closed agreed").await;
}

#[tokio::test]
async fn the_list_the_form_and_the_exports_know_points_and_outcomes() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let disputed = PointDebate::disputed(&world).await;
    let page = browser.open(&world.url).await;
    page.reads("1 point blocks").await;
    let exported = export(&world, &disputed.debate.id, "markdown").await;
    assert!(exported.contains("## Points\n\n- P1 (critical) A retry can charge twice: settled\n"));
    assert!(exported.contains("- P2 (major) Refunds need the old rows: open, blocks\n"));
    assert!(!exported.contains("- Outcome:"));

    disputed.asks("appeal", "Please decide.").await;
    let close = json!({"content": "Enough.", "close": true});
    disputed.debate.rule(close).await.created();
    let exported = export(&world, &disputed.debate.id, "markdown").await;
    assert!(exported.contains("- State: CLOSED\n- Outcome: left open\n"), "{exported}");
    assert!(exported.contains("- P2 (major) Refunds need the old rows: left open, blocks\n"));
    let exported = export(&world, &disputed.debate.id, "html").await;
    assert!(exported.contains("o-left_open") && exported.contains("id=\"point-P2\""), "{exported}");

    let agreed = PointDebate::opened(&world, json!({"points": true})).await;
    agreed.says("opponent", RESOLVED).await;
    agreed.completes("Done.").await;
    let ruled = world.debate("Ruled").await;
    let claim = text(&ruled.claim("opponent", &ruled.motion, "No.").await["argument"]["id"]);
    ruled.ask("appeal", &claim, "Decide.").await.created();
    ruled.rule(json!({"content": "Yes.", "close": true})).await.created();
    let completed = world.debate("Completed").await;
    let claim = completed.claim("opponent", &completed.motion, "Fine.").await;
    completed.ask("resolution", &text(&claim["argument"]["id"]), "Done.").await.created();
    page.goto(&world.url).await;
    for (debate, words) in [
        (&disputed.debate, "left open"),
        (&agreed.debate, "agreed"),
        (&ruled, "ruled"),
        (&completed, "completed at the proposer's request"),
    ] {
        let tag = format!("#row-{} .outcome", debate.id);
        assert_eq!(page.text(css(&tag)).await, words);
    }
    assert_eq!(page.count(css(".row .tag.strong")).await, 0, "nothing blocks a closed debate");

    for (ticked, kept) in
        [(true, json!({"rounds": 3, "blocking": "critical"})), (false, Value::Null)]
    {
        page.goto(&format!("{}/new", world.url)).await;
        page.type_into(field("Title"), "By hand").await;
        page.type_into(field("Motion"), "A motion.").await;
        page.click(css(".point-settings summary")).await;
        page.eval("document.querySelector('[name=rounds]').value = '3'").await;
        page.pick(role("combobox", "Points that block"), "only critical ones").await;
        assert_eq!(page.eval("document.querySelector('[name=points]').checked").await, true);
        if !ticked {
            page.click(role("checkbox", "Keep points")).await;
        }
        page.follow(button("Open the debate")).await;
        page.reads("The debate is open.").await;
        let id = page.url().await.split("/debate/").nth(1).unwrap()[..36].to_owned();
        let debate = world.get(&format!("/debates/{id}")).await.ok()["debate"].take();
        assert_eq!(debate["points"], kept);
        assert_eq!(page.count(rail()).await, usize::from(ticked));
    }
}
