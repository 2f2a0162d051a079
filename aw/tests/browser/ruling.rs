//! A person rules: by an option, in words of their own, once, and never into the void.

use super::find::{button, css, field, link, role};
use super::gallery::APPEAL;
use super::stage::{Debate, Stage};
use super::{Browser, Page};

/// An APPEAL as the older proposer's command prescribes it.
const OLDER: &str = "## Context

Có nên dừng server để import không.

## Lập trường Proposer

Một phút lúc nửa đêm rẻ hơn.

## Lập trường Opponent

Các agent đang chờ sẽ bị ngắt.

## Các phương án đề xuất

1. **Option A:** Dừng server, báo trước một ngày
2. **Option B:** Import khi server đang chạy
3. **Option C:** Chỉ dừng khi không ai chờ
4. **Option D:** Arbitrator đưa ra phương án khác
";

const TEXT: &str = "Text of the ruling";

fn appealed<'a>(stage: &'a Stage, title: &str, appeal: &str) -> Debate<'a> {
    let debate = stage.debate(title, "We import with the server stopped.");
    debate.claims("opponent", "Agents that wait are cut off.");
    debate.appeals(appeal);
    debate
}

fn panel(name: &str) -> super::find::Find {
    role("region", name)
}

/// A tab that hears nothing of what happens elsewhere.
async fn deaf(browser: &Browser, url: &str) -> Page {
    let page = browser.page().await;
    page.at_first("window.WebSocket = class { close() {} }").await;
    page.goto(url).await;
    page
}

const OPTION_A: &str = "Option A: Stop the server; say so a day before";
const OPTION_B: &str = "Option B: Import while it runs, slowly";

/// A tab that may not run scripts, or may.
async fn tab(browser: &Browser, url: &str, with_scripts: bool) -> Page {
    let page = browser.page().await;
    if !with_scripts {
        page.without_scripts().await;
    }
    page.goto(url).await;
    page
}

#[tokio::test]
async fn the_option_and_the_words_are_recorded_whatever_came_first() {
    let Some((stage, browser)) = Stage::set().await else { return };
    for with_scripts in [true, false] {
        for order in ["words, then B", "A, words, then B", "A, B, then words", "A, then B"] {
            let debate = appealed(&stage, &format!("{order}, {with_scripts}"), APPEAL);
            let page = tab(&browser, &debate.url(), with_scripts).await;
            page.see(button("Send ruling")).await;
            let words = "Because **users** wait.";
            for step in order.split(", ") {
                match step.trim_start_matches("then ") {
                    "words" => page.type_into(field(TEXT), words).await,
                    option => page.click(role("radio", &format!("Option {option}"))).await,
                }
            }
            let typed = if order.contains("words") { words } else { "" };
            assert_eq!(page.value(field(TEXT)).await, typed, "{order}: choosing touches no words");
            // What it says is what it sends.
            page.follow(button("Rule: Option B")).await;
            page.reads("Your ruling is argument #4.").await;
            let recorded = if typed.is_empty() {
                OPTION_B.to_owned()
            } else {
                format!("{OPTION_B}\n\n{words}")
            };
            assert_eq!(debate.newest()["content"], recorded, "{order}, scripts: {with_scripts}");
            assert_eq!(debate.newest()["close"], false);
        }
    }
}

#[tokio::test]
async fn words_alone_another_way_and_nothing_at_all() {
    let Some((stage, browser)) = Stage::set().await else { return };
    for with_scripts in [true, false] {
        let debate = appealed(&stage, &format!("Scripts: {with_scripts}"), APPEAL);
        let page = tab(&browser, &debate.url(), with_scripts).await;
        page.follow(button("Send ruling")).await;
        page.reads("Choose an option or write what should be done.").await;
        page.click(role("radio", "Another way")).await;
        page.follow(button("Rule: in your own words")).await;
        page.reads("Describe the other way in your own words.").await;
        assert_eq!(debate.types().len(), 3, "nothing was sent");
        // The choice is still there, and the words are the ruling.
        page.type_into(field(TEXT), "Ask the users.").await;
        page.click(role("checkbox", "Close the debate with this ruling")).await;
        page.follow(button("Rule: in your own words and close the debate")).await;
        page.reads("Your ruling is argument #4.").await;
        assert_eq!(debate.newest()["content"], "Ask the users.");
        assert_eq!(debate.state(), "CLOSED");

        let debate = appealed(&stage, &format!("Words alone, scripts: {with_scripts}"), APPEAL);
        let page = tab(&browser, &debate.url(), with_scripts).await;
        page.type_into(field(TEXT), "Neither.").await;
        page.follow(button("Send ruling")).await;
        assert_eq!(debate.newest()["content"], "Neither.");
    }
}

#[tokio::test]
async fn a_choice_that_the_appeal_does_not_offer_is_refused_and_the_words_are_kept() {
    let Some((stage, browser)) = Stage::set().await else { return };
    let debate = appealed(&stage, "Stale", APPEAL);
    let page = browser.open(&debate.url()).await;
    page.type_into(field(TEXT), "My words").await;
    page.eval("document.querySelector('[name=choice]').value = 'Option X'").await;
    page.click(css("[name=choice]").number(0)).await;
    page.follow(css("button[value=send]")).await;
    page.reads("the APPEAL does not have this option").await;
    assert_eq!(page.value(field(TEXT)).await, "My words");
    assert_eq!(debate.types().len(), 3, "nothing was sent");
    page.click(role("radio", "Option A")).await;
    page.follow(button("Rule: Option A")).await;
    assert_eq!(debate.newest()["content"], format!("{OPTION_A}\n\nMy words"));

    // Ruled on meanwhile, and appealed once more: the words are shown, and are no draft for the next dispute.
    let debate = appealed(&stage, "Overtaken by the next appeal", APPEAL);
    let page = tab(&browser, &debate.url(), false).await;
    page.click(role("radio", "Option B")).await;
    page.type_into(field(TEXT), "My words").await;
    debate.rules("The command line was faster.");
    debate.claims("proposer", "Done.");
    debate.claims("opponent", "Not the backup.");
    debate.appeals(APPEAL);
    page.follow(button("Rule: Option B")).await;
    page.reads("Somebody else has ruled already").await;
    assert_eq!(page.value(field("What you typed")).await, format!("{OPTION_B}\n\nMy words"));
    assert_eq!(page.value(field(TEXT)).await, "");
    page.see(button("Send ruling")).await;
    assert_eq!(debate.newest()["type"], "APPEAL");
}

#[tokio::test]
async fn a_choice_and_words_are_previewed_and_sent_once_and_the_debate_goes_on() {
    let Some((stage, browser)) = Stage::set().await else { return };
    let debate = appealed(&stage, "May the import stop the server?", APPEAL);
    let waiting = debate.waits("proposer");
    let page = browser.open(&debate.url()).await;

    let asks = panel("The proposer appeals to you");
    let shown = page.text(&asks).await;
    for part in [
        "Whether the import may stop the server for a minute.",
        "One minute at night is cheaper than a second code path.",
        "Agents that wait are cut off, and their hosts give up.",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
    assert_eq!(page.count(role("radio", "Option").within(&asks)).await, 3);
    page.see(role("radio", "Another way").within(&asks)).await;
    assert_eq!(page.count(role("radio", "").within(&asks)).await, 4, "the last is free text");

    page.click(button("Preview")).await;
    page.reads("Choose an option or write what should be done.").await;
    page.click(role("radio", "Option B")).await;
    page.type_into(field(TEXT), "And **measure** it.").await;
    page.click(button("Preview")).await;
    page.see(css("#preview strong")).await;
    assert_eq!(page.text("#preview").await, format!("{OPTION_B} And measure it."));
    assert_eq!(debate.types().len(), 3, "looking is not sending");
    assert_eq!(page.value(field(TEXT)).await, "And **measure** it.");

    page.double_click(button("Rule: Option B")).await;
    page.reads("Your ruling is argument #4.").await;
    page.see_no(&asks).await;
    page.reads("waiting for the proposer").await;
    let ruling = page.text(role("article", "Arbitrator RULING")).await;
    assert!(ruling.contains("And measure it."), "{ruling}");
    let told = waiting.end().data();
    assert_eq!(told["action"], "align_to_ruling");
    assert_eq!(told["argument"]["content"], format!("{OPTION_B}\n\nAnd **measure** it."));
    assert_eq!(debate.types(), ["MOTION", "CLAIM", "APPEAL", "RULING"], "a double click sends one");

    // Back from there nothing waits to be sent again.
    page.back().await;
    page.reads("waiting for the proposer").await;
    page.see_no(&asks).await;

    // The next dispute arrives by itself and begins with an empty text and no choice.
    debate.claims("proposer", "Done.");
    debate.claims("opponent", "Not the backup.");
    debate.appeals(APPEAL);
    page.see(&asks).await;
    assert_eq!(page.value(field(TEXT)).await, "");
    page.see(button("Send ruling")).await;
}

#[tokio::test]
async fn the_choice_survives_a_reload_like_the_words() {
    let Some((stage, browser)) = Stage::set().await else { return };
    let debate = appealed(&stage, "Reloaded", APPEAL);
    let page = browser.open(&debate.url()).await;
    page.click(role("radio", "Option A")).await;
    page.type_into(field(TEXT), "First half").await;
    page.click(role("radio", "Option C")).await;
    page.reload().await;
    assert_eq!(page.value(field(TEXT)).await, "First half");
    page.see(button("Rule: Option C")).await;
    let chosen = "document.querySelector('[name=choice]:checked').value";
    assert_eq!(page.eval(chosen).await, "Option C");
    page.click(role("radio", "Another way")).await;
    page.reload().await;
    page.see(button("Rule: in your own words")).await;
    page.follow(button("Rule: in your own words")).await;
    assert_eq!(debate.newest()["content"], "First half");
    page.wait_for("the draft is forgotten", "Object.keys(localStorage).length === 0").await;
}

#[tokio::test]
async fn the_older_commands_options_are_choices_too_and_words_of_ones_own_can_close_it() {
    let Some((stage, browser)) = Stage::set().await else { return };
    let debate = appealed(&stage, "Dừng server?", OLDER);
    let waiting = [debate.waits("proposer"), debate.waits("opponent")];
    let page = browser.page().await;
    page.speaks("vi").await;
    page.goto(&debate.url()).await;
    let asks = panel("Proposer kháng nghị lên bạn");
    let shown = page.text(&asks).await;
    for part in ["Có nên dừng server", "Một phút lúc nửa đêm", "Các agent đang chờ"]
    {
        assert!(shown.contains(part), "{shown}");
    }
    assert_eq!(page.count(role("radio", "").within(&asks)).await, 4);
    page.see(button("Gửi ruling")).await;
    page.click(role("radio", "Option C")).await;
    page.see(button("Ruling: Option C")).await;
    assert_eq!(page.value(field("Nội dung ruling")).await, "");
    page.click(role("radio", "Phương án khác")).await;
    assert!(page.focused().await.1.starts_with("Nội dung ruling"));
    page.type_keys("Đừng import. Bắt đầu lại.").await;
    page.click(role("checkbox", "Đóng debate bằng ruling này")).await;
    page.follow(button("Ruling: bằng lời của bạn và đóng debate")).await;
    page.reads("đã đóng").await;
    page.reads("đóng debate").await;
    page.see_no(&asks).await;
    page.see_no(role("DisclosureTriangle", "Dừng các agent")).await;
    for waiting in waiting {
        assert_eq!(waiting.end().data()["action"], "debate_closed");
    }
    let ruling = debate.newest();
    assert_eq!(ruling["content"], "Đừng import. Bắt đầu lại.");
    assert_eq!(ruling["via"], "page");
}

#[tokio::test]
async fn a_held_resolution_is_approved_with_one_click_and_the_words_stay() {
    let Some((stage, browser)) = Stage::set().await else { return };
    let policy = ["--resolution-policy", "arbitrator"];
    let debate = stage.debate_with("Who may close it?", "The arbitrator.", &policy);
    debate.claims("opponent", "Nothing to add.");
    debate.resolves("## Summary\n\nSettled: the arbitrator.");
    let page = browser.open(&debate.url()).await;
    let asks = panel("The proposer asks to complete the debate");
    assert!(page.text(&asks).await.contains("Settled: the arbitrator."));
    page.type_into(field(TEXT), "Well done.").await;
    page.follow(button("Approve and close")).await;
    page.reads("closed").await;
    assert_eq!(debate.state(), "CLOSED");
    assert_eq!(debate.newest()["content"], "Approved.\n\nWell done.");
}

#[tokio::test]
async fn what_was_typed_survives_a_reload_and_arguments_that_arrive() {
    let Some((stage, browser)) = Stage::set().await else { return };
    let debate = stage.debate("Rewrite it?", "In another language.");
    debate.run("intervention", &["--content", "Think again."]);
    let page = browser.open(&debate.url()).await;
    let asks = panel("You have stopped the agents");
    page.see(&asks).await;
    page.click(role("checkbox", "Close the debate with this ruling")).await;
    page.type_into(field(TEXT), "First half,").await;
    page.reload().await;
    assert_eq!(page.value(field(TEXT)).await, "First half,");
    let ticked = "document.querySelector('[name=close]').checked";
    assert_eq!(page.eval(ticked).await, true);

    page.type_into(field(TEXT), " second").await;
    page.press("ArrowLeft").await;
    // What the opponent had in hand comes in while the cursor is in the middle of a word.
    debate.claims("opponent", "What I was writing.");
    page.see(role("article", "Opponent CLAIM")).await;
    page.reads("Opponent submitted what it was writing: argument 3, parked.").await;
    page.type_keys("n").await;
    assert_eq!(page.value(field(TEXT)).await, "First half, seconnd");
    page.press("Backspace").await;
    page.follow(button("Send ruling")).await;
    let arguments = debate.arguments();
    assert_eq!(arguments[3]["content"], "First half, second");
    assert_eq!(debate.state(), "CLOSED");
    // It is not offered again.
    page.wait_for("the draft is forgotten", "Object.keys(localStorage).length === 0").await;
}

#[tokio::test]
async fn of_two_tabs_that_rule_one_is_told_and_keeps_its_text() {
    let Some((stage, browser)) = Stage::set().await else { return };
    let debate = appealed(&stage, "Two tabs", APPEAL);
    let (first, second) =
        (deaf(&browser, &debate.url()).await, deaf(&browser, &debate.url()).await);
    first.click(role("radio", "Option A")).await;
    second.click(role("radio", "Another way")).await;
    second.type_keys("Neither: ask the users.").await;
    first.follow(button("Rule: Option A")).await;
    first.reads("Your ruling is argument #4.").await;
    second.follow(button("Rule: in your own words")).await;
    second.see(role("alert", "")).await;
    second.reads("Somebody else has ruled already").await;
    assert_eq!(second.value(field("What you typed")).await, "Neither: ask the users.");
    assert_eq!(debate.types(), ["MOTION", "CLAIM", "APPEAL", "RULING"]);
    // The page that says so is a page like any other.
    second.click(link("#4").within(role("alert", ""))).await;
    assert!(second.url().await.ends_with(&format!("/debate/{}#a-4", debate.id)));
    second.follow(button("VI")).await;
    second.reads("đang chờ proposer").await;
}

#[tokio::test]
async fn who_is_overtaken_by_the_command_line_is_told_and_keeps_the_text() {
    let Some((stage, browser)) = Stage::set().await else { return };
    let debate = appealed(&stage, "Overtaken", APPEAL);
    let page = browser.open(&debate.url()).await;
    page.type_into(field(TEXT), "I was about to say").await;
    debate.rules("The command line was faster.");
    page.reads(
        "Somebody else has ruled already, so your ruling was not sent. Theirs is argument #4",
    )
    .await;
    page.see_no(panel("The proposer appeals to you")).await;
    assert_eq!(page.value(field("What you typed")).await, "I was about to say");
    page.reads("The command line was faster.").await;
    page.reads("waiting for the proposer").await;
}

#[tokio::test]
async fn a_ruling_that_is_refused_says_why_and_keeps_the_text() {
    let Some((stage, browser)) = Stage::set().await else { return };
    let debate = appealed(&stage, "Too long", "Please decide.");
    let page = browser.open(&debate.url()).await;
    page.reads("Please decide.").await;
    assert_eq!(page.count(role("radio", "")).await, 0, "it offers nothing, so there is no choice");
    page.follow(button("Send ruling")).await;
    page.reads("Choose an option or write what should be done.").await;

    let paste = "{
        const text = document.querySelector('#rule textarea');
        text.value = 'Đủ rồi! '.repeat(1200);
        text.dispatchEvent(new Event('input', {bubbles: true}));
    }";
    page.eval(paste).await;
    let long = page.value(field(TEXT)).await;
    assert!(long.len() > 10_240);
    page.follow(button("Send ruling")).await;
    page.reads("Not sent:").await;
    page.reads("10240").await;
    assert_eq!(page.value(field(TEXT)).await, long);
    assert_eq!(debate.state(), "AWAITING_ARBITRATOR");
    // A reload is not a second try, and still has the text.
    page.forget_requests();
    page.reload().await;
    assert!(page.requests().iter().all(|request| request.method == "GET"));
    assert_eq!(page.value(field(TEXT)).await, long);
    page.focus(field(TEXT)).await;
    page.press("Control+a").await;
    page.type_keys("Short.").await;
    page.follow(button("Send ruling")).await;
    assert_eq!(debate.newest()["content"], "Short.");
}
