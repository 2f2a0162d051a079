//! Debates with points, as agents type them. The rules themselves are tested in the core.

use std::fs;

use serde_json::{Value, json};

use super::aw::{Aw, Debate};
use crate::world::text;

/// A claim with a critical point and a minor one.
const CLAIM: &str = "### NEW [critical] A retry can charge twice\n> The worker retries the POST up to 3 times.\n\
                     Send one key a payment.\n### NEW [minor] How long?\nSay it.\n### VERDICT [object]\n";

/// A debate about a MOTION of one line.
fn about_retries(flags: &[&str]) -> Debate {
    Debate::about(Aw::new(), "The worker retries the POST up to 3 times.", flags)
}

#[test]
fn create_sends_the_settings_of_points() {
    let aw = Aw::new();
    let made = ["debate", "create", "-t", "T", "--type", "general_debate", "--content", "c"];
    for (flags, points) in [
        (&[][..], Value::Null),
        (&["--points"], json!({"rounds": 5, "blocking": "major"})),
        (
            &["--points", "--rounds", "2", "--blocking", "critical"],
            json!({"rounds": 2, "blocking": "critical"}),
        ),
    ] {
        let created = aw.quietly(&[&made, flags].concat());
        assert_eq!(created.data()["debate"]["points"], points, "{flags:?}");
        assert!(created.ok()["metadata"]["warning"].is_null(), "{flags:?}");
    }
    for flags in [&["--rounds", "2"][..], &["--blocking", "critical"]] {
        aw.quietly(&[&made, flags].concat()).refused(4, "INVALID_INPUT");
    }
    for (flag, value, allowed) in
        [("--rounds", "21", "a number from 1 to 20"), ("--blocking", "minor", "critical or major")]
    {
        let refused = aw.quietly(&[&made[..], &["--points", flag, value]].concat());
        let message = text(&refused.refused(4, "INVALID_INPUT")["error"]["message"]);
        assert!(message.contains(flag) && message.contains(allowed), "{message}");
    }
}

#[test]
fn writes_and_waits_carry_the_ledger() {
    let debate = about_retries(&["--points"]);
    let claimed = debate.claims("opponent", &debate.motion, CLAIM, &[]);
    let data = claimed.data();
    assert_eq!(data["ledger"]["blocking"], json!(["P1"]));
    let is_short = data["statements"][0].get("quotes").is_none();
    assert!(is_short, "a quote that was found is not repeated: {data}");
    assert_eq!(data["points"][1]["title"], "How long?");
    let waited = debate.run("wait", &["--role", "proposer"]).data();
    assert_eq!(waited["ledger"]["yours"], json!(["P1", "P2"]));
    assert_eq!(waited["points"], data["points"]);
    let read = debate.run("get-context", &["--role", "proposer"]).data();
    assert_eq!(read["ledger"], waited["ledger"]);
    assert!(debate.run("get-context", &[]).data()["ledger"]["yours"].is_null());
}

#[test]
fn the_next_command_follows_the_advice_of_the_ledger() {
    let debate = about_retries(&["--points", "--rounds", "1"]);
    let claim = debate.claims("opponent", &debate.motion, CLAIM, &[]).argument();
    let on = |command: &str| {
        let debate = &debate.id;
        format!("aw debate {command} --debate-id {debate} --target-id {claim} --file YOUR_TEXT.md")
    };
    let waited = debate.run("wait", &["--role", "proposer"]);
    assert_eq!(waited.data()["ledger"]["advice"]["do"], "appeal");
    assert_eq!(waited.next(), on("appeal"));
    assert!(waited.ok()["metadata"]["alternatives"].is_null(), "the rest is refused");
    // Both refusals of the ledger lead there too.
    let words = ["--target-id", &claim, "--content", "Done."];
    for refused in [
        debate.run("request-completion", &words),
        debate.claims("proposer", &claim, "### P1 [rejected] No.", &[]),
    ] {
        let whole = refused.refused(5, "ACTION_NOT_ALLOWED");
        assert_eq!(refused.next(), on("appeal"));
        assert_eq!(whole["error"]["suggestion"], on("appeal"));
        assert_eq!(whole["content"][0]["data"]["server_error"]["advice"]["do"], "appeal");
    }
}

#[test]
fn a_dry_run_judges_a_move_and_writes_nothing() {
    let debate = about_retries(&["--points"]);
    let dry = ["--dry-run"];
    let flawed = debate.claims("opponent", &debate.motion, "### NEW [major] No quote\nWhy.", &dry);
    let whole = flawed.refused(4, "INVALID_INPUT");
    assert_eq!(whole["content"][0]["data"]["server_error"]["flaws"][0]["code"], "quote_needed");
    assert!(flawed.next().ends_with("--file YOUR_TEXT.md --dry-run"), "{}", flawed.next());
    debate.claims("proposer", &debate.motion, "Now?", &dry).refused(5, "ACTION_NOT_ALLOWED");
    let judged = debate.claims("opponent", &debate.motion, CLAIM, &dry);
    assert_eq!(judged.data()["dry_run"], true);
    assert_eq!(judged.data()["statements"][0]["point"], "P1");
    assert_eq!(judged.data()["ledger"]["yours"], json!([]), "the proposer would owe the answer");
    assert_eq!(debate.count(), 1, "nothing is written");
    // What it leads to is the same command in earnest.
    let claim = debate.aw.sh(&judged.next()).argument();
    assert_eq!(debate.count(), 2);

    let words = ["--target-id", &claim, "--content", "Words.", "--dry-run"];
    assert_eq!(debate.run("appeal", &words).data()["debate_state"], "AWAITING_ARBITRATOR");
    debate.run("request-completion", &words).refused(5, "ACTION_NOT_ALLOWED");
    let appeal = debate.run("appeal", &words[..4]).argument();
    let ruled = debate.run("ruling", &["--close", "--content", "Enough.", "--dry-run"]);
    assert_eq!(ruled.data()["debate_state"], "CLOSED");
    let ruling = ["--target-id", &appeal, "--uphold", "P7", "--content", "So.", "--dry-run"];
    debate.run("ruling", &ruling).refused(4, "INVALID_INPUT");
    assert_eq!(debate.count(), 3, "nothing is written");
}

#[test]
fn points_lists_the_live_ones_or_all_or_shows_one() {
    let debate = about_retries(&["--points"]);
    let claim = debate.claims("opponent", &debate.motion, CLAIM, &[]).argument();
    let answer = debate.claims("proposer", &claim, "### P2 [deferred] Later.", &[]).argument();
    debate.claims("opponent", &answer, "### P2 [resolved] Fine.", &[]).ok();
    let ids = |data: &Value| -> Vec<String> {
        data["points"].as_array().unwrap().iter().map(|point| text(&point["id"])).collect()
    };
    assert_eq!(ids(&debate.run("points", &[]).data()), ["P1"]);
    let listed = debate.run("points", &["--all"]);
    let (envelope, all) = (listed.ok(), listed.data());
    assert_eq!((&envelope["total_count"], &envelope["has_more"]), (&json!(2), &json!(false)));
    assert_eq!(ids(&all), ["P1", "P2"]);
    assert_eq!(all["ledger"]["over"], 1);
    let one = debate.run("points", &["--point", "P2"]).data();
    assert_eq!(one["point"]["turns"].as_array().unwrap().len(), 3);
    for name in ["P9", "x"] {
        let missing = debate.run("points", &["--point", name]);
        let server = &missing.refused(2, "POINT_NOT_FOUND")["content"][0]["data"]["server_error"];
        assert_eq!(server["point_id"], name);
        assert_eq!(ids(&debate.aw.sh(&missing.next()).data()), ["P1", "P2"]);
    }
    let plain = about_retries(&[]);
    assert_eq!(plain.run("points", &[]).data(), json!({"points": []}));
    let as_text = ["--format", "markdown"];
    assert_eq!(plain.run("points", &as_text).stdout, "This debate keeps no points.\n");
    let quiet = about_retries(&["--points"]);
    let shown = quiet.run("points", &as_text).stdout;
    assert_eq!(shown, "Round 0 of 5. Nothing blocks.\nNo point was raised yet.\n");
}

#[test]
fn the_flags_of_a_ruling_become_headings_with_its_reason() {
    let debate = about_retries(&["--points"]);
    let claim = debate.claims("opponent", &debate.motion, CLAIM, &[]).argument();
    let appeal = debate.run("appeal", &["--target-id", &claim, "--content", "?"]).argument();
    let on = ["--target-id", &appeal, "--uphold", "P1", "--defer", "P2", "--content"];
    let own = debate.run("ruling", &[&on[..], &["### NEW [major] Mine\nSo."]].concat());
    own.refused(4, "INVALID_INPUT");
    let ruled = debate.run("ruling", &[&on[..], &["One key is cheap."]].concat()).data();
    let said: Vec<(&Value, &Value)> = ruled["statements"]
        .as_array()
        .unwrap()
        .iter()
        .map(|statement| (&statement["point"], &statement["state"]))
        .collect();
    assert_eq!(said, [(&json!("P1"), &json!("upheld")), (&json!("P2"), &json!("set_aside"))]);
    let said = |point: &str| {
        let one = debate.run("points", &["--point", point]).data();
        text(&one["point"]["turns"].as_array().unwrap().last().unwrap()["text"])
    };
    assert_eq!(said("P2"), "### P2 [deferred]\n\nOne key is cheap.");
    assert_eq!(
        said("P1"),
        "### P1 [upheld] For the reason given under P2",
        "the text stands there once"
    );
}

#[test]
fn the_reason_of_a_ruling_may_have_headings_of_its_own() {
    let debate = about_retries(&["--points"]);
    let claim = debate.claims("opponent", &debate.motion, CLAIM, &[]).argument();
    let mut target = claim;
    for (flag, reason, kept) in [
        (
            "--uphold",
            "Cheap.\n\n## Why\n\nOne key.",
            "# P1 [upheld]\n\nCheap.\n\n## Why\n\nOne key.",
        ),
        ("--defer", "# Why\n\nOne key.", "# P1 [deferred] For the reason below"),
    ] {
        target = debate.run("appeal", &["--target-id", &target, "--content", "?"]).argument();
        let on = ["--target-id", &target, flag, "P1", "--content", reason];
        target = debate.run("ruling", &on).argument();
        let one = debate.run("points", &["--point", "P1"]).data();
        let turns = one["point"]["turns"].as_array().unwrap();
        assert_eq!(turns.last().unwrap()["text"], kept);
    }
}

#[test]
fn the_flags_of_a_ruling_take_points_in_any_case_and_each_once() {
    let debate = about_retries(&["--points"]);
    let claim = debate.claims("opponent", &debate.motion, CLAIM, &[]).argument();
    debate.run("appeal", &["--target-id", &claim, "--content", "?"]).ok();
    for (flags, why) in [
        (&["--uphold", "x"][..], "a point is P and its number, such as P2"),
        (&["--uphold", "P1", "--dismiss", "p1"], "two flags name P1"),
        (&["--uphold", "P1,P3"], "this debate has no point P3: it has P1 to P2"),
    ] {
        let refused = debate.run("ruling", &[flags, &["--content", "So."]].concat());
        let message = text(&refused.refused(4, "INVALID_INPUT")["error"]["message"]);
        assert!(message.contains(why), "{message}");
    }
    let ruled = debate.run("ruling", &["--uphold", "p1, P2,P1", "--content", "So."]).data();
    assert_eq!(ruled["statements"].as_array().unwrap().len(), 2, "{ruled}");
}

#[test]
fn a_quote_from_code_is_looked_up_before_anything_is_sent() {
    let debate = about_retries(&["--points"]);
    let claim = debate.claims("opponent", &debate.motion, CLAIM, &[]).argument();
    let desk = debate.aw.desk();
    fs::create_dir(desk.join("src")).unwrap();
    fs::write(desk.join("src/pay.rs"), "// Pays.\nlet key = payment.id();\n").unwrap();
    let answer = |quote: &str, source: &str| {
        format!("### P1 [rejected] There is one.\n> {quote}\n— {source}\n### P2 [deferred] Later.")
    };
    let wrong = answer("let key = customer.id();", "src/pay.rs:2");
    for rest in [&[][..], &["--dry-run"]] {
        let refused = debate.claims("proposer", &claim, &wrong, rest);
        let whole = refused.refused(4, "INVALID_INPUT");
        assert_eq!(whole["metadata"]["flaws"][0]["code"], "quote_missing", "{whole}");
        assert_eq!(whole["metadata"]["flaws"][0]["line"], 2);
    }
    let both = wrong.replace("Later.", "Later.\n> Nothing of the kind is there.");
    let whole = debate.claims("proposer", &claim, &both, &[]).refused(4, "INVALID_INPUT");
    let lines: Vec<_> =
        whole["metadata"]["flaws"].as_array().unwrap().iter().map(|f| &f["line"]).collect();
    assert_eq!(lines, [2, 5], "the server's flaws are listed too: {whole}");
    assert_eq!(debate.count(), 2, "nothing is sent");
    let gone =
        debate.claims("proposer", &claim, &answer("let x = 1;", "src/gone.rs"), &["--dry-run"]);
    assert!(text(&gone.ok()["metadata"]["warning"]).contains("src/gone.rs"));
    let right = answer("let key = payment.id();", "src/pay.rs#L2");
    let sent = debate.claims("proposer", &claim, &right, &[]).data();
    let found = json!([{"line": 2, "path": "src/pay.rs", "first_line": 2, "last_line": 2}]);
    assert_eq!(sent["looked_up"], found);
    assert_eq!(sent["statements"][0]["quotes"][0]["check"], "unchecked");

    // In a debate without points the same text is plain words.
    let plain = about_retries(&[]);
    fs::create_dir(plain.aw.desk().join("src")).unwrap();
    fs::write(plain.aw.desk().join("src/pay.rs"), "").unwrap();
    plain.claims("opponent", &plain.motion, &wrong, &[]).ok();
}

#[test]
fn code_that_changes_refuses_no_retry_no_parked_text_and_no_turn() {
    let debate = about_retries(&["--points"]);
    let file = debate.aw.desk().join("pay.rs");
    fs::write(&file, "let key = payment.id();\n").unwrap();
    let claim = format!("{CLAIM}> let key = payment.id();\n— pay.rs\n");
    let written = debate.claims("opponent", &debate.motion, &claim, &[]).data();
    fs::write(&file, "").unwrap();
    let again = debate.claims("opponent", &debate.motion, &claim, &[]).data();
    assert_eq!(again["argument_id"], written["argument_id"], "a retry is not judged");

    let answer = "### P1 [rejected] It has one.\n> let key = payment.id();\n— pay.rs\n### P2 [deferred] Later.";
    let other = "### P1 [open] Still.\n> let key = payment.id();\n— pay.rs\n";
    let target = text(&written["argument_id"]);
    debate.claims("opponent", &target, other, &[]).refused(5, "ACTION_NOT_ALLOWED");
    debate.claims("proposer", &target, answer, &[]).refused(4, "INVALID_INPUT");
    debate.run("intervention", &["--content", "Wait."]).ok();
    let judged = debate.claims("proposer", &target, answer, &["--dry-run"]).ok();
    let message = text(&judged["metadata"]["message"]);
    assert!(message.contains("nothing that it says about points would count"), "{message}");
    let parked = debate.claims("proposer", &target, answer, &["--full"]).data();
    assert_eq!(parked["parked"], true, "{parked}");
}

#[test]
fn live_points_that_block_come_first() {
    let debate = about_retries(&["--points"]);
    let claim = format!("### NEW [minor] A small thing\nSay it.\n{CLAIM}");
    debate.claims("opponent", &debate.motion, &claim, &[]).ok();
    let listed = debate.run("points", &[]).data();
    let ids: Vec<String> =
        listed["points"].as_array().unwrap().iter().map(|point| text(&point["id"])).collect();
    assert_eq!(ids, ["P2", "P1", "P3"]);
}

#[test]
fn the_flags_of_a_ruling_are_refused_in_a_debate_without_points() {
    let debate = about_retries(&[]);
    let claim = debate.claims("opponent", &debate.motion, "No.", &[]).argument();
    debate.run("appeal", &["--target-id", &claim, "--content", "?"]).ok();
    for rest in [&[][..], &["--dry-run"]] {
        let words = ["--uphold", "P1", "--close", "--content", "So."];
        let refused = debate.run("ruling", &[&words[..], rest].concat());
        let message = text(&refused.refused(4, "INVALID_INPUT")["error"]["message"]);
        assert!(message.contains("this debate keeps no points"), "{message}");
        assert!(refused.next().ends_with("--file YOUR_TEXT.md --close"), "{}", refused.next());
    }
    assert_eq!(debate.count(), 3, "nothing is written");
}

#[test]
fn people_read_that_a_point_is_late_or_its_quotes_still_stand() {
    let aw = Aw::new();
    let plan = "The worker retries the POST up to 3 times.\n";
    aw.file("plan.md", plan);
    let made = aw.quietly(&["docs", "create", "--file", "plan.md", "--summary", "Plan"]).data();
    let plan_id = text(&made["document_id"]);
    let motion = format!("See doc_id={plan_id} (v1).");
    let debate = Debate::about(aw, &motion, &["--points"]);
    let shown = || {
        let ran = debate.run("points", &["--format", "markdown"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.stdout
    };
    let raised = format!("### NEW [major] It can charge twice\n> {plan}Send a key.");
    let mut newest = debate.claims("opponent", &debate.motion, &raised, &[]).argument();
    debate.aw.file("plan.md", format!("{plan}Nothing else has changed.\n"));
    let next = ["docs", "submit", &plan_id, "--file", "plan.md", "--summary", "Next"];
    debate.aw.quietly(&next).ok();
    let accepted = format!("### P1 [accepted] See doc_id={plan_id} (v2).");
    newest = debate.claims("proposer", &newest, &accepted, &[]).argument();
    assert!(shown().contains("accepted, for the opponent, its quotes still stand"), "{}", shown());
    for role in ["opponent", "proposer"] {
        newest = debate.claims(role, &newest, "Nothing new.", &[]).argument();
    }
    debate.claims("opponent", &newest, &raised, &[]).ok();
    assert!(shown().contains("open, for the proposer, late"), "{}", shown());
}

#[test]
fn people_read_why_a_resolution_waits_for_a_ruling() {
    let debate = about_retries(&["--points"]);
    let claim = debate.claims("opponent", &debate.motion, "Fine.", &[]).argument();
    let completes = ["--target-id", &claim, "--content", "Done."];
    let message = |more: &[&str]| {
        let ran = debate.run("request-completion", &[&completes[..], more].concat());
        ran.ok()["metadata"]["message"].as_str().unwrap().to_owned()
    };
    let why = "for the arbitrator: the opponent has not agreed";
    for (more, waits) in [
        (&["--dry-run"][..], "It would wait "),
        (&[], "Resolution submitted. It waits "),
        (&[], "It waits "),
    ] {
        let message = message(more);
        assert!(message.ends_with(&format!("{waits}{why}")), "{message}");
    }
    let waited = debate.run("wait", &["--role", "arbitrator"]).data();
    assert_eq!(
        (&waited["held"], &waited["ledger"]["held"]),
        (&json!("not_agreed"), &json!("not_agreed"))
    );
    let waited = debate.run("wait", &["--role", "arbitrator", "--format", "markdown"]).stdout;
    let why = "The RESOLUTION waits for the arbitrator: the opponent has not agreed.";
    assert_eq!(waited.matches(why).count(), 1, "{waited}");
    debate.run("ruling", &["--content", "Go on."]).ok();
    let again = message(&[]);
    assert!(!again.contains("arbitrator"), "the RULING has been made: {again}");
}

#[test]
fn a_dry_run_says_that_a_resolution_would_close_the_debate() {
    let debate = about_retries(&["--points"]);
    let agrees = "### VERDICT [agree]\n> The worker retries the POST up to 3 times.\n";
    let claim = debate.claims("opponent", &debate.motion, agrees, &[]).argument();
    let completes = ["--target-id", &claim, "--content", "Done.", "--dry-run"];
    let ran = debate.run("request-completion", &completes);
    let message = ran.ok()["metadata"]["message"].as_str().unwrap().to_owned();
    assert!(message.ends_with("It would close the debate"), "{message}");
}

#[test]
fn people_read_how_a_debate_ended() {
    let debate = about_retries(&["--points"]);
    let claim = debate.claims("opponent", &debate.motion, CLAIM, &[]).argument();
    debate.run("appeal", &["--target-id", &claim, "--content", "?"]).ok();
    debate.run("ruling", &["--close", "--content", "Enough."]).ok();
    let page = |command: &[&str]| {
        let ran = debate.aw.quietly(&[command, &["--format", "markdown"]].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.stdout
    };
    let on = |command: &'static str| ["debate", command, "--debate-id", debate.id.as_str()];
    assert!(page(&["debate", "list"]).contains("closed: left open"));
    assert!(page(&on("get-context")).contains("closed: left open"));
    let waited = page(&[&on("wait")[..], &["--role", "opponent"]].concat());
    assert!(waited.starts_with("The debate is closed: left open."), "{waited}");
    assert!(page(&on("points")).contains("left open"), "a live point of a closed debate");
}
