//! A person rules: by an option or in their own words, once, and without losing the text.

use serde_json::json;

use super::cli_debate::{CliDebate, CliServer};
use super::every_page::APPEAL;
use super::find::{Find, button, css, field, link, role};
use super::{Browser, Page};

/// An APPEAL as the older proposer's command prescribes it.
const OLDER: &str = "## Context\n\nCó nên dừng server để import không.\n
## Lập trường Proposer\n\nMột phút lúc nửa đêm rẻ hơn.\n
## Lập trường Opponent\n\nCác agent đang chờ sẽ bị ngắt.\n
## Các phương án đề xuất\n
1. **Option A:** Dừng server, báo trước một ngày
2. **Option B:** Import khi server đang chạy
3. **Option C:** Chỉ dừng khi không ai chờ
4. **Option D:** Arbitrator đưa ra phương án khác
";

const TEXT: &str = "Text of the ruling";
const OPTION_A: &str = "Option A: Stop the server; say so a day before";
const OPTION_B: &str = "Option B: Import while it runs, slowly";

fn appealed<'a>(server: &'a CliServer, appeal: &str) -> CliDebate<'a> {
    let debate = server.debate("Stop the server?", "We import with the server stopped.");
    debate.claims("opponent", "Agents that wait are cut off.");
    debate.appeals(appeal);
    debate
}

fn option(letter: &str) -> Find {
    role("radio", &format!("Option {letter}"))
}

fn panel() -> Find {
    role("region", "The proposer appeals to you")
}

fn dock() -> Find {
    role("region", "Your ruling")
}

/// Sends the ruling by this button. The page stays.
async fn sends(page: &Page, name: &str) {
    page.click(button(name)).await;
    page.reads("Your ruling is argument #").await;
}

/// A tab whose socket never delivers anything.
async fn deaf_tab(browser: &Browser, url: &str) -> Page {
    let page = browser.page().await;
    page.at_first("window.WebSocket = class { close() {} }").await;
    page.goto(url).await;
    page
}

async fn tab_without_scripts(browser: &Browser, url: &str) -> Page {
    let page = browser.page().await;
    page.without_scripts().await;
    page.goto(url).await;
    page
}

/// Waits until the script has restored the draft.
async fn is_restored(page: &Page, text: &str) {
    let code = format!("document.querySelector('#rule textarea').value === {}", json!(text));
    page.wait_for("the draft is restored", &code).await;
}

#[tokio::test]
async fn the_ruling_has_the_chosen_option_and_the_text_in_any_order() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let text = "Because **users** wait.";
    for with_scripts in [true, false] {
        for order in ["text, B", "A, text, B", "A, B"] {
            let debate = appealed(&server, APPEAL);
            let page = match with_scripts {
                true => browser.open(&debate.url()).await,
                false => tab_without_scripts(&browser, &debate.url()).await,
            };
            for step in order.split(", ") {
                match step {
                    "text" => page.type_into(field(TEXT), text).await,
                    letter => page.click(option(letter)).await,
                }
            }
            let typed = if order.contains("text") { text } else { "" };
            assert_eq!(page.value(field(TEXT)).await, typed, "{order}: a choice changes no text");
            match with_scripts {
                true => page.click(button("Rule: Option B")).await,
                false => page.follow(button("Rule: Option B")).await,
            }
            page.reads("Your ruling is argument #4.").await;
            let ruling = [OPTION_B, typed].join("\n\n");
            let newest = debate.newest();
            assert_eq!(newest["content"], ruling.trim_end(), "{order}, scripts: {with_scripts}");
            assert_eq!(newest["close"], false);
        }
    }
}

#[tokio::test]
async fn another_way_needs_a_text_and_an_unknown_option_is_refused() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let debate = appealed(&server, APPEAL);
    let page = browser.open(&debate.url()).await;
    page.click(button("Send ruling")).await;
    page.reads("Choose an option or write what should be done.").await;
    assert!(page.focused().await.1.starts_with(TEXT), "a refusal leaves the focus in the field");
    page.click(role("radio", "Another way")).await;
    page.click(button("Rule: in your own words")).await;
    page.reads("Describe the other way in your own words.").await;

    page.type_into(field(TEXT), "Ask the users.").await;
    page.eval("document.querySelector('[name=choice]').value = 'Option X'").await;
    page.click(css("[name=choice]").number(0)).await;
    page.click(css("button[value=send]")).await;
    page.reads("the APPEAL does not have this option").await;
    assert_eq!(page.value(field(TEXT)).await, "Ask the users.");
    assert_eq!(debate.types().len(), 3, "nothing was sent");

    page.click(role("radio", "Another way")).await;
    page.click(role("checkbox", "Close the debate with this ruling")).await;
    sends(&page, "Rule: in your own words and close the debate").await;
    assert_eq!(debate.newest()["content"], "Ask the users.");
    assert_eq!(debate.state(), "CLOSED");
}

#[tokio::test]
async fn a_ruling_is_previewed_and_a_double_click_sends_it_once() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let debate = appealed(&server, APPEAL);
    let waiting = debate.waits("proposer");
    let page = browser.open(&debate.url()).await;
    let shown = page.text(panel()).await;
    for part in [
        "Whether the import may stop the server for a minute.",
        "One minute at night is cheaper than a second code path.",
        "Agents that wait are cut off, and their hosts give up.",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
    assert_eq!(page.count(role("radio", "Option").within(dock())).await, 3);
    assert_eq!(page.count(role("radio", "").within(dock())).await, 4, "the last is free text");

    page.click(button("Preview")).await;
    page.reads("Choose an option or write what should be done.").await;
    page.click(option("B")).await;
    page.type_into(field(TEXT), "And **measure** it.").await;
    page.click(button("Preview")).await;
    page.see(css("#preview strong")).await;
    assert_eq!(page.text("#preview").await, format!("{OPTION_B} And measure it."));
    assert_eq!(debate.types().len(), 3, "a preview sends nothing");

    page.double_click(button("Rule: Option B")).await;
    page.reads("Your ruling is argument #4.").await;
    page.see_no(panel()).await;
    page.reads("waiting for the proposer").await;
    let news = waiting.end().data();
    assert_eq!(news["action"], "align_to_ruling");
    assert_eq!(news["arguments"][0]["content"], format!("{OPTION_B}\n\nAnd **measure** it."));
    assert_eq!(debate.types(), ["MOTION", "CLAIM", "APPEAL", "RULING"]);
    // The next dispute arrives over the socket, without a draft.
    debate.claims("proposer", "Done.");
    debate.claims("opponent", "Not the backup.");
    debate.appeals(APPEAL);
    page.see(panel()).await;
    assert_eq!(page.value(field(TEXT)).await, "");
    page.see(button("Send ruling")).await;
}

#[tokio::test]
async fn a_draft_survives_reloads_and_new_arguments_until_it_is_sent() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let forgotten = "Object.keys(localStorage).every(key => !key.startsWith('aw:'))";
    let debate = appealed(&server, APPEAL);
    let page = browser.open(&debate.url()).await;
    page.click(option("A")).await;
    page.type_into(field(TEXT), "First half").await;
    page.click(option("C")).await;
    page.reload().await;
    is_restored(&page, "First half").await;
    page.see(button("Rule: Option C")).await;
    page.click(role("radio", "Another way")).await;
    page.reload().await;
    is_restored(&page, "First half").await;
    sends(&page, "Rule: in your own words").await;
    assert_eq!(debate.newest()["content"], "First half");
    page.wait_for("the draft is gone", forgotten).await;

    let debate = server.debate("Rewrite it?", "In another language.");
    debate.run("intervention", &["--content", "Think again."]);
    page.goto(&debate.url()).await;
    page.click(role("checkbox", "Close the debate with this ruling")).await;
    page.type_into(field(TEXT), "First half,").await;
    page.reload().await;
    is_restored(&page, "First half,").await;
    assert_eq!(page.eval("document.querySelector('[name=close]').checked").await, true);
    page.type_into(field(TEXT), " second").await;
    page.press("ArrowLeft").await;
    // An argument arrives while the cursor is in the middle of a word.
    debate.claims("opponent", "What I was writing.");
    page.see(role("article", "Opponent CLAIM")).await;
    page.reads("Opponent submitted what it was writing: argument 3, parked.").await;
    page.type_keys("n").await;
    assert_eq!(page.value(field(TEXT)).await, "First half, seconnd");
    page.press("Backspace").await;
    sends(&page, "Send ruling and close the debate").await;
    assert_eq!(debate.newest()["content"], "First half, second");
    assert_eq!(debate.state(), "CLOSED");
    page.wait_for("the draft is gone", forgotten).await;
}

#[tokio::test]
async fn a_vietnamese_appeal_of_the_older_command_has_choices() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let debate = appealed(&server, OLDER);
    let waiting = [debate.waits("proposer"), debate.waits("opponent")];
    let page = browser.page().await;
    page.speaks("vi").await;
    page.goto(&debate.url()).await;
    page.see(css("#debate[data-ready]")).await;
    let panel = role("region", "Proposer kháng nghị lên bạn");
    let shown = page.text(&panel).await;
    for part in ["Có nên dừng server", "Một phút lúc nửa đêm", "Các agent đang chờ"]
    {
        assert!(shown.contains(part), "{shown}");
    }
    assert_eq!(page.count(role("radio", "").within(role("region", "Ruling của bạn"))).await, 4);
    page.click(option("C")).await;
    page.see(button("Ruling: Option C")).await;
    page.click(role("radio", "Phương án khác")).await;
    assert!(page.focused().await.1.starts_with("Nội dung ruling"));
    page.type_keys("Đừng import. Bắt đầu lại.").await;
    page.click(role("checkbox", "Đóng debate bằng ruling này")).await;
    page.click(button("Ruling: bằng lời của bạn và đóng debate")).await;
    page.reads("đã đóng").await;
    page.see_no(&panel).await;
    page.see_no(role("DisclosureTriangle", "Dừng các agent")).await;
    for waiting in waiting {
        assert_eq!(waiting.end().data()["action"], "debate_closed");
    }
    let ruling = debate.newest();
    assert_eq!(ruling["content"], "Đừng import. Bắt đầu lại.");
    assert_eq!(ruling["via"], "page");
}

#[tokio::test]
async fn a_resolution_is_approved_with_one_click() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let policy = ["--resolution-policy", "arbitrator"];
    let debate = server.debate_with("Who may close it?", "The arbitrator.", &policy);
    debate.claims("opponent", "Nothing to add.");
    debate.resolves("## Summary\n\nSettled: the arbitrator.");
    let page = browser.open(&debate.url()).await;
    let panel = role("region", "The proposer asks to complete the debate");
    assert!(page.text(&panel).await.contains("Settled: the arbitrator."));
    page.type_into(field(TEXT), "Well done.").await;
    sends(&page, "Approve and close").await;
    page.reads("closed").await;
    assert_eq!(debate.state(), "CLOSED");
    assert_eq!(debate.newest()["content"], "Approved.\n\nWell done.");
}

#[tokio::test]
async fn a_person_whose_ruling_comes_too_late_sees_the_first_and_keeps_the_text() {
    let Some((server, browser)) = CliServer::start().await else { return };
    const LATE: &str = "Somebody else has ruled already";
    // The socket reports a ruling of the command line.
    let debate = appealed(&server, APPEAL);
    let page = browser.open(&debate.url()).await;
    page.type_into(field(TEXT), "I was about to say").await;
    debate.rules("The command line was faster.");
    page.reads(
        "Somebody else has ruled already, so your ruling was not sent. Theirs is argument #4",
    )
    .await;
    page.see_no(panel()).await;
    assert_eq!(page.value(field("What you typed")).await, "I was about to say");
    page.reads("waiting for the proposer").await;

    // Without a socket, two tabs send one after the other.
    let debate = appealed(&server, APPEAL);
    let (first, second) =
        (deaf_tab(&browser, &debate.url()).await, deaf_tab(&browser, &debate.url()).await);
    first.click(option("A")).await;
    second.click(role("radio", "Another way")).await;
    second.type_keys("Neither: ask the users.").await;
    sends(&first, "Rule: Option A").await;
    assert_eq!(debate.newest()["content"], OPTION_A);
    second.click(button("Rule: in your own words")).await;
    second.see(role("alert", "")).await;
    second.reads(LATE).await;
    let shown = second.text(css(".overtaken")).await;
    assert!(shown.contains("Stop the server; say so a day before"), "the other ruling: {shown}");
    assert_eq!(second.value(field("What you typed")).await, "Neither: ask the users.");
    assert_eq!(debate.types(), ["MOTION", "CLAIM", "APPEAL", "RULING"]);
    second.click(link("#4").within(role("alert", ""))).await;
    assert!(second.url().await.ends_with(&format!("/debate/{}#a-4", debate.id)));
    second.follow(button("VI")).await;
    second.reads("đang chờ proposer").await;
    second.follow(button("EN")).await;

    // The next APPEAL is another dispute: the text is shown, but is no draft of its ruling.
    let debate = appealed(&server, APPEAL);
    let page = tab_without_scripts(&browser, &debate.url()).await;
    page.click(option("B")).await;
    page.type_into(field(TEXT), "My words").await;
    debate.rules("The command line was faster.");
    debate.claims("proposer", "Done.");
    debate.claims("opponent", "Not the backup.");
    debate.appeals(APPEAL);
    page.follow(button("Rule: Option B")).await;
    page.reads(LATE).await;
    assert_eq!(page.value(field("What you typed")).await, format!("{OPTION_B}\n\nMy words"));
    assert_eq!(page.value(field(TEXT)).await, "");
    assert_eq!(debate.newest()["type"], "APPEAL");
}

#[tokio::test]
async fn a_refused_ruling_says_why_and_keeps_the_text() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let debate = appealed(&server, "Please decide.");
    let page = browser.open(&debate.url()).await;
    page.reads("Please decide.").await;
    assert_eq!(page.count(role("radio", "")).await, 0, "without options there is no choice");
    let paste = "{
        const text = document.querySelector('#rule textarea');
        text.value = 'Đủ rồi! '.repeat(1200);
        text.dispatchEvent(new Event('input', {bubbles: true}));
    }";
    page.eval(paste).await;
    let long = page.value(field(TEXT)).await;
    page.reads("15,599 of 10,240 bytes").await;
    page.click(button("Send ruling")).await;
    page.reads("Not sent: it has 15,599 of 10,240 bytes.").await;
    assert!(page.focused().await.1.starts_with(TEXT));
    assert_eq!(page.value(field(TEXT)).await, long);
    assert_eq!(debate.state(), "AWAITING_ARBITRATOR");
    // A reload sends nothing and keeps the text.
    page.forget_requests();
    page.reload().await;
    assert!(page.requests().iter().all(|request| request.method == "GET"));
    is_restored(&page, &long).await;
    page.focus(field(TEXT)).await;
    page.press("Control+a").await;
    page.type_keys("Short.").await;
    sends(&page, "Send ruling").await;
    assert_eq!(debate.newest()["content"], "Short.");
}
