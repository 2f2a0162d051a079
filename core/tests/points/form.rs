//! The form of statements: which headings count, what they say, and which quotes are below them.

use super::{PLAN, Story, outcomes};
use aw_core::{FlawCode, Role, Statement, statements};

/// What a heading is in a debate that has P1 to P3: text, a statement, or a flaw.
#[rustfmt::skip]
const HEADINGS: &[(&str, &str, &str, &str)] = &[
    // heading                                       opponent          proposer          arbitrator
    // The three forms of the rules.
    ("### NEW [major] Retries can charge twice",     "NEW major",      "role",           "NEW major"),
    ("### P2 [rejected] Refunds do not read these",  "role",           "P2 rejected",    "role"),
    ("### VERDICT [agree]",                          "VERDICT agree",  "role",           "role"),
    // The words of each role, and the spellings that mean the same.
    ("### NEW [critical] x",                         "NEW critical",   "role",           "NEW critical"),
    ("### NEW [minor] x",                            "NEW minor",      "role",           "NEW minor"),
    ("### P1 [resolved]",                            "P1 resolved",    "role",           "role"),
    ("### P1 [resolve]",                             "P1 resolved",    "role",           "role"),
    ("### P1 [fixed]",                               "P1 resolved",    "P1 accepted",    "role"),
    ("### P1 [open]",                                "P1 open",        "role",           "role"),
    ("### P1 [still open]",                          "P1 open",        "role",           "role"),
    ("### P1 [unresolved]",                          "P1 open",        "role",           "role"),
    ("### P1 [not fixed]",                           "P1 open",        "role",           "role"),
    ("### P1 [not-fixed]",                           "P1 open",        "role",           "role"),
    ("### P1 [not resolved]",                        "P1 open",        "role",           "role"),
    ("### P1 [withdrawn]",                           "P1 withdrawn",   "role",           "role"),
    ("### P1 [withdraw]",                            "P1 withdrawn",   "role",           "role"),
    ("### VERDICT [agreed]",                         "VERDICT agree",  "role",           "role"),
    ("### VERDICT [approve]",                        "VERDICT agree",  "role",           "role"),
    ("### VERDICT [approved]",                       "VERDICT agree",  "role",           "role"),
    ("### VERDICT [object]",                         "VERDICT object", "role",           "role"),
    ("### VERDICT [disagree]",                       "VERDICT object", "role",           "role"),
    ("### VERDICT [not agreed]",                     "VERDICT object", "role",           "role"),
    ("### P1 [accepted]",                            "role",           "P1 accepted",    "role"),
    ("### P1 [accept]",                              "role",           "P1 accepted",    "role"),
    ("### P1 [reject]",                              "role",           "P1 rejected",    "role"),
    ("### P1 [deferred]",                            "role",           "P1 deferred",    "P1 deferred"),
    ("### P1 [defer]",                               "role",           "P1 deferred",    "P1 deferred"),
    ("### P1 [upheld]",                              "role",           "role",           "P1 upheld"),
    ("### P1 [uphold]",                              "role",           "role",           "P1 upheld"),
    ("### P1 [dismissed]",                           "role",           "role",           "P1 dismissed"),
    ("### P1 [dismiss]",                             "role",           "role",           "P1 dismissed"),
    // Words of no role for the target.
    ("### P1 [confirmed]",                           "word",           "word",           "word"),
    ("### P1 [verified]",                            "word",           "word",           "word"),
    ("### P1 [major]",                               "word",           "word",           "word"),
    ("### P1 [agree]",                               "word",           "word",           "word"),
    ("### P1 []",                                    "word",           "word",           "word"),
    ("### VERDICT [resolved]",                       "word",           "role",           "role"),
    ("### NEW [open] x",                             "word",           "role",           "word"),
    ("### NEW [blocker] x",                          "word",           "text",           "word"),
    ("### NEW [major, minor] x",                     "word",           "text",           "word"),
    ("### VERDICT (round 2)",                        "word",           "text",           "text"),
    ("### NEW [open question] x",                    "word",           "text",           "word"),
    // A bracket with a word of the table counts, whatever the case of the target.
    ("### new [major] x",                            "NEW major",      "role",           "NEW major"),
    ("### New (Major) x",                            "NEW major",      "role",           "NEW major"),
    ("### p1 [RESOLVED] x",                          "P1 resolved",    "role",           "role"),
    ("### Verdict: [Agree]",                         "VERDICT agree",  "role",           "role"),
    ("### P1 (✅ Resolved)",                         "P1 resolved",    "role",           "role"),
    ("### P1 [**accepted**]",                        "role",           "P1 accepted",    "role"),
    // Without one, only capitals of an own target count.
    ("### P1: ✅ Accepted",                          "form",           "form",           "form"),
    ("### P1/P2 [resolved]",                         "form",           "form",           "form"),
    ("### P1 resolved",                              "form",           "form",           "form"),
    ("### P1 [resolved",                             "form",           "form",           "form"),
    ("### P1",                                       "form",           "form",           "form"),
    ("### [P1] [resolved]",                          "form",           "form",           "form"),
    ("### NEW approach",                             "form",           "text",           "form"),
    ("## NEW in v2",                                 "form",           "text",           "form"),
    ("## VERDICT",                                   "form",           "text",           "text"),
    ("### p1: accepted",                             "text",           "text",           "text"),
    ("### p1 [confirmed]",                           "text",           "text",           "text"),
    ("### New approach",                             "text",           "text",           "text"),
    ("## Verdict (round 2)",                         "text",           "text",           "text"),
    ("## Verdict",                                   "text",           "text",           "text"),
    ("### P95 latency",                              "text",           "text",           "text"),
    ("### C1: Retries",                              "text",           "text",           "text"),
    // Points that the debate does not have.
    ("### P4 [major] x",                             "point_unknown",  "point_unknown",  "point_unknown"),
    ("### P4 [resolved]",                            "point_unknown",  "point_unknown",  "point_unknown"),
    ("### p4 (accepted)",                            "point_unknown",  "point_unknown",  "point_unknown"),
    ("### P0 [open]",                                "point_unknown",  "point_unknown",  "point_unknown"),
    ("### P99999999999 [open]",                      "point_unknown",  "point_unknown",  "point_unknown"),
    ("### P4",                                       "text",           "text",           "text"),
    ("### P4 [nonsense]",                            "text",           "text",           "text"),
    // What may stand before the target, between it and the bracket, and after them.
    ("### 1. P1 [resolved]",                         "P1 resolved",    "role",           "role"),
    ("### ✅ **P1** [resolved]",                     "P1 resolved",    "role",           "role"),
    ("### `P1` — [resolved]",                        "P1 resolved",    "role",           "role"),
    ("### P1: - – — . * ` [resolved]: Read v2",      "P1 resolved",    "role",           "role"),
    ("### P1[resolved]",                             "P1 resolved",    "role",           "role"),
    ("### P3 [resolved] ###",                        "P3 resolved",    "role",           "role"),
    ("### Point P1 [resolved]",                      "text",           "text",           "text"),
    ("### Điểm P1 [resolved]",                       "text",           "text",           "text"),
    ("### P1_ [resolved]",                           "text",           "text",           "text"),
    ("### P1a [resolved]",                           "text",           "text",           "text"),
    ("### P [resolved]",                             "text",           "text",           "text"),
    ("### NEWS [major]",                             "text",           "text",           "text"),
    ("### NEW2 [major]",                             "text",           "text",           "text"),
    ("### VERDICTS [agree]",                         "text",           "text",           "text"),
    // What makes a heading.
    ("# P1 [resolved]",                              "P1 resolved",    "role",           "role"),
    ("###### P1 [resolved]",                         "P1 resolved",    "role",           "role"),
    ("####### P1 [resolved]",                        "text",           "text",           "text"),
    ("   ### P1 [resolved]",                         "P1 resolved",    "role",           "role"),
    ("    ### P1 [resolved]",                        "text",           "text",           "text"),
    ("###P1 [resolved]",                             "text",           "text",           "text"),
    ("P1 [resolved]",                                "text",           "text",           "text"),
    ("**P1 [resolved]**",                            "text",           "text",           "text"),
    ("> ### P1 [resolved]",                          "text",           "text",           "text"),
    ("  > ### NEW [major] x",                        "text",           "text",           "text"),
    ("- ### P1 [resolved]",                          "text",           "text",           "text"),
    ("### P1 [resolved]\r",                          "P1 resolved",    "role",           "role"),
];

#[test]
fn every_heading_has_its_outcome_for_every_role() {
    assert!(HEADINGS.len() >= 40);
    for (heading, opponent, proposer, arbitrator) in HEADINGS {
        let roles = [Role::Opponent, Role::Proposer, Role::Arbitrator];
        for (role, expected) in roles.iter().zip([opponent, proposer, arbitrator]) {
            let outcome = match outcomes(heading, *role, 3).as_slice() {
                [] => "text".to_owned(),
                [(1, outcome)] => outcome.clone(),
                several => panic!("{heading}: {several:?}"),
            };
            assert_eq!(outcome, **expected, "{role} writes {heading:?}");
        }
    }
}

#[test]
fn a_heading_has_the_same_outcome_among_other_lines() {
    for (heading, opponent, ..) in HEADINGS {
        let text = format!("Some text.\n\n{heading}\nA reason.");
        let outcome = outcomes(&text, Role::Opponent, 3);
        match *opponent {
            "text" => assert_eq!(outcome, [], "{heading}"),
            expected => assert_eq!(outcome, [(3, expected.to_owned())], "{heading}"),
        }
    }
}

#[test]
fn a_flawed_word_or_role_lists_what_may_stand_there() {
    let allowed = |heading: &str, role| statements(heading, role, 1).flaws[0].allowed.clone();
    assert_eq!(allowed("### P1 [done]", Role::Opponent), ["resolved", "open", "withdrawn"]);
    assert_eq!(allowed("### P1 [resolved]", Role::Proposer), ["accepted", "rejected", "deferred"]);
    assert_eq!(allowed("### P1 [open]", Role::Arbitrator), ["upheld", "dismissed", "deferred"]);
    assert_eq!(allowed("### NEW [huge] x", Role::Opponent), ["critical", "major", "minor"]);
    assert_eq!(allowed("### VERDICT [perhaps]", Role::Opponent), ["agree", "object"]);
    assert_eq!(allowed("### NEW [major] x", Role::Proposer), ["P… [accepted|rejected|deferred]"]);
    let unknown = &statements("### P4 [major] x", Role::Opponent, 3).flaws[0];
    assert!(unknown.message.contains("write NEW: the server gives the number"), "{unknown}");
}

#[test]
fn lines_in_code_fences_are_no_headings() {
    for (open, close) in [
        ("```", "```"),
        ("```rust", "````"),
        ("  ~~~", "~~~~"),
        ("~~~ with `ticks`", "\t~~~  "),
        ("`````", "``````"),
    ] {
        let text = format!("{open}\n### NEW [major] x\n> quoted\n{close}\n### P1 [resolved] y");
        let outcome = outcomes(&text, Role::Opponent, 1);
        assert_eq!(outcome, [(5, "P1 resolved".to_owned())], "{text}");
    }
}

#[test]
fn only_as_many_of_the_same_character_and_nothing_else_close_a_fence() {
    for inside in ["``", "```x", "~~~", "``` `", "> ```", "``` ~~~"] {
        let text = format!("```\n{inside}\n### P1 [open]\n```\n### P1 [resolved]");
        let outcome = outcomes(&text, Role::Opponent, 1);
        assert_eq!(outcome, [(5, "P1 resolved".to_owned())], "{text}");
    }
    let longer = "````\n```\n### P1 [open]\n```\n````\n### P1 [resolved]";
    assert_eq!(outcomes(longer, Role::Opponent, 1), [(6, "P1 resolved".to_owned())]);
}

#[test]
fn back_ticks_with_another_behind_them_open_no_fence() {
    for line in ["``` ` x", "```code```", "``", "~~", "> ```", "text ```"] {
        let text = format!("{line}\n### P1 [resolved]");
        assert_eq!(outcomes(&text, Role::Opponent, 1), [(2, "P1 resolved".to_owned())], "{text}");
    }
}

#[test]
fn a_fence_that_never_closes_is_a_flaw_only_where_it_covers_a_heading_that_would_count() {
    let covered = "Text\n```\ncode\n### P1 [resolved] x";
    assert_eq!(outcomes(covered, Role::Opponent, 1), [(2, "form".to_owned())]);
    assert!(statements(covered, Role::Opponent, 1).flaws[0].message.contains("line 4"));
    let misspelt = "```\n### P1: fixed";
    assert_eq!(outcomes(misspelt, Role::Opponent, 1), [(1, "form".to_owned())]);
    for text in ["```\n### New approach", "```\n> ### P1 [open]", "```\n### P1 resolved"] {
        assert_eq!(outcomes(text, Role::Opponent, 0), [], "{text}");
    }
    let after_a_statement = "### P1 [open]\n```\n### VERDICT [object]";
    let expected = [(1, "P1 open".to_owned()), (2, "form".to_owned())];
    assert_eq!(outcomes(after_a_statement, Role::Opponent, 1), expected);
}

/// The only statement of an opponent's text.
fn one(text: &str) -> Statement {
    let read = statements(text, Role::Opponent, 3);
    assert_eq!(read.flaws, [], "{text}");
    assert_eq!(read.statements.len(), 1, "{text}");
    read.statements[0].clone()
}

/// Each quote of the only statement: its line, its lines and its source.
fn quoted(text: &str) -> Vec<(u32, Vec<String>, Option<String>)> {
    let blocks = one(text).blocks.into_iter();
    blocks.map(|block| (block.line, block.lines, block.source)).collect()
}

#[test]
fn the_body_ends_before_the_next_heading_that_counts_or_is_not_lower() {
    let lines = |text: &str| {
        let read = statements(text, Role::Opponent, 3).statements;
        read[0].blocks.iter().map(|block| block.line).collect::<Vec<_>>()
    };
    let at = |heading: &str| lines(&format!("### P1 [open]\n> one\n{heading}\n> two"));
    assert_eq!(at("#### Lower"), [2, 4]);
    assert_eq!(at("### The same level"), [2]);
    assert_eq!(at("# Higher"), [2]);
    assert_eq!(at("###### P2 [open] counts"), [2]);
    assert_eq!(at("#### p2 is text"), [2, 4]);
    assert_eq!(at("```\n# Code\n```"), [2, 6]);
    assert_eq!(at("> # Quoted"), [2]);
    // A flawed heading ends a body too.
    let flawed = statements("# P1 [open]\n> one\n###### P2: fixed\n> two", Role::Opponent, 3);
    assert_eq!(flawed.statements[0].blocks.len(), 1);
}

#[test]
fn a_quote_is_a_run_of_lines_outside_fences_that_begin_with_the_mark() {
    let none = None::<String>;
    let block = |line, lines: &[&str]| {
        (line, lines.iter().map(|l| (*l).to_owned()).collect::<Vec<_>>(), none.clone())
    };
    let text = "### NEW [minor] x\n> one\n\t >two\nreason\n  > three\n```\n> four\n```\n> five";
    assert_eq!(
        quoted(text),
        [block(2, &[" one", "two"]), block(5, &[" three"]), block(9, &[" five"])]
    );
    assert_eq!(quoted("> before\n\n### P1 [open] x\nreason"), []);
    let outside = "> before\n### P1 [open] x\n# Another chapter\n> after";
    assert_eq!(quoted(outside), []);
}

#[test]
fn a_source_line_directly_after_a_quote_names_a_path_or_an_address() {
    for (line, source) in [
        ("— src/charge.rs:88", Some("src/charge.rs:88")),
        ("– src/charge.rs", Some("src/charge.rs")),
        ("-- src/charge.rs, line 4", Some("src/charge.rs")),
        ("Source: https://example.org/a", Some("https://example.org/a")),
        ("—src/charge.rs", Some("src/charge.rs")),
        ("  — `src/charge.rs`.", Some("src/charge.rs")),
        ("— README.md", Some("README.md")),
        ("— Makefile", None),
        ("— Knuth.", None),
        ("— Knuth.”", None),
        ("— Knuth…", None),
        ("— etc...", None),
        ("— /", None),
        ("— the file src/charge.rs", None),
        ("---", None),
        ("Sources: src/charge.rs", None),
        ("- src/charge.rs", None),
        ("src/charge.rs", None),
    ] {
        let text = format!("### P1 [open]\n> let key = None;\n{line}");
        let statement = one(&text);
        assert_eq!(statement.blocks[0].source.as_deref(), source, "{line}");
        // Another line with words is a reason.
        let is_reason = source.is_none() && line.contains(char::is_alphanumeric);
        assert_eq!(statement.has_reason, is_reason, "{line}");
    }
    let later = one("### P1 [open]\n> let key = None;\n\n— src/charge.rs");
    assert_eq!(later.blocks[0].source, None);
    let between = one("### P1 [open]\n> one line\n— src/a.rs\n> another line");
    assert_eq!(between.blocks.len(), 2);
    assert_eq!(between.blocks[1].source, None);
}

#[test]
fn a_reason_is_a_line_with_a_letter_or_digit_that_is_no_quote_source_line_or_heading() {
    for (body, has_reason) in [
        ("Because.", true),
        ("42", true),
        ("Đúng", true),
        ("```\ncode is a reason\n```", true),
        ("", false),
        ("---\n***", false),
        ("> only a quote", false),
        ("> a quote\n— src/a.rs", false),
        ("#### A lower heading", false),
        ("```rust\n\n```", false),
        ("# A higher heading\nBecause.", false),
    ] {
        assert_eq!(one(&format!("### P1 [open]\n{body}")).has_reason, has_reason, "{body:?}");
    }
}

#[test]
fn a_statement_that_changes_a_point_needs_a_reason() {
    let story = Story::of(PLAN).opponent("### NEW [minor] Slow\nIt is slow.");
    let flaws = |role, text: &str| story.flaws(role, text);
    assert_eq!(flaws(Role::Proposer, "### P1 [rejected]"), [(1, FlawCode::NoReason)]);
    assert_eq!(flaws(Role::Proposer, "### P1 [rejected] —"), [(1, FlawCode::NoReason)]);
    assert_eq!(
        flaws(Role::Proposer, "### P1 [rejected]\n> It is"),
        [(1, FlawCode::NoReason), (2, FlawCode::QuoteLength)]
    );
    assert_eq!(flaws(Role::Arbitrator, "### P1 [dismissed]"), [(1, FlawCode::NoReason)]);
    assert_eq!(flaws(Role::Arbitrator, "### NEW [minor] x"), [(1, FlawCode::NoReason)]);
    assert_eq!(flaws(Role::Opponent, "### NEW [minor] x"), [(1, FlawCode::NoReason)]);
    assert!(story.judges(Role::Proposer, "### P1 [rejected] The title is the reason").is_ok());
    assert!(story.judges(Role::Proposer, "### P1 [rejected]\nThe body has it.").is_ok());
    assert!(story.judges(Role::Opponent, "### VERDICT [object]").is_ok());
}

#[test]
fn a_byte_order_mark_before_the_first_heading_is_no_text() {
    assert_eq!(one("\u{feff}### NEW [minor] Say it\nWhy.").title, "Say it");
}

#[test]
fn an_unknown_point_is_answered_with_those_there_are_and_new_for_the_roles_that_may() {
    let message = |role, points| {
        statements("### P99999999999 [open] x", role, points).flaws[0].message.clone()
    };
    assert_eq!(
        message(Role::Proposer, 2),
        "this debate has no such point: the points are P1 to P2"
    );
    let opponent = message(Role::Opponent, 0);
    assert!(opponent.contains("no points yet; to raise one write NEW"), "{opponent}");
}

#[test]
fn a_new_point_needs_a_title() {
    let story = Story::of(PLAN);
    for heading in ["### NEW [minor]", "### NEW [minor] —", "### NEW [minor] ###"] {
        let text = format!("{heading}\nA reason.");
        assert_eq!(story.flaws(Role::Opponent, &text), [(1, FlawCode::NoTitle)], "{heading}");
    }
    for invisible in
        ["\u{202e}\u{200f}", "\u{200b}", "\u{2060} \u{feff}", "\u{3164}", "\u{2800}", "\u{fe0f}"]
    {
        let text = format!("### NEW [minor] {invisible}\nA reason.");
        assert_eq!(story.flaws(Role::Opponent, &text), [(1, FlawCode::NoTitle)], "{invisible:?}");
    }
    assert!(story.judges(Role::Opponent, "### NEW [minor] 🔥\nA reason.").is_ok());
}

#[test]
fn the_ledger_keeps_120_characters_of_a_title_without_control_and_direction_characters() {
    let title = |title: &str| {
        let story = Story::of(PLAN).opponent(&format!("### NEW [minor] {title}\nA reason."));
        story.point(1).title.clone()
    };
    assert_eq!(title("Rows: **gone** after `30` days"), "Rows: **gone** after `30` days");
    assert_eq!(title("safe\u{202e}gnp.exe"), "safegnp.exe");
    let hidden = "a\u{61c}b\u{200e}c\u{200f}d\u{202a}e\u{2066}f\u{2069}g\u{7}h\u{1b}[31mi";
    assert_eq!(title(hidden), "abcdefgh[31mi");
    assert_eq!(title(&"đ".repeat(120)), "đ".repeat(120));
    assert_eq!(title(&"đ".repeat(121)), "đ".repeat(120));
}

#[test]
fn the_number_of_a_new_point_is_the_next_one() {
    let two = "### NEW [minor] one\nA.\n### NEW [minor] two\nB.";
    let story = Story::of(PLAN).opponent(two).proposer("I see.").opponent(two);
    let titles: Vec<&str> = story.ledger().points.iter().map(|p| p.title.as_str()).collect();
    assert_eq!(titles, ["one", "two", "one", "two"]);
    let ids: Vec<u32> = story.ledger().points.iter().map(|p| p.id.0).collect();
    assert_eq!(ids, [1, 2, 3, 4]);
}
