//! The rules that make a debate end, the limits of an argument, and completion.

use aw_core::{
    Available, Course, Event, FlawCode, Held, Move, PointId, PointRules, PointState, Refusal,
    ResolutionPolicy, Role, Severity, State, Target, Verdict,
};

use super::{PLAN, Story, cite};

const MAJOR: &str = "### NEW [major] x\n> Old rows are deleted after 30 days.\nA reason.";
const CRITICAL: &str = "### NEW [critical] x\n> Old rows are deleted after 30 days.\nA reason.";
const MINOR: &str = "### NEW [minor] Slow\nIt is slow.";

/// Three lines of the plan, and the agreement.
const AGREE: &str = "### VERDICT [agree]\n> The worker retries the POST up to 3 times.\n> Old rows are deleted after 30 days.\n> The alarm fires after one hour without a charge.";

fn with(rounds: u32, policy: ResolutionPolicy) -> Story {
    let rules = PointRules { rounds, blocking: Severity::Major };
    Story::opened(rules, policy, &[PLAN], &cite(1, 1))
}

fn of_rounds(rounds: u32) -> Story {
    with(rounds, ResolutionPolicy::Auto)
}

fn claim(story: &Story) -> Move<Target> {
    Move::Claim { target: story.newest() }
}

fn resolution(story: &Story) -> Move<Target> {
    Move::Resolution { target: story.newest() }
}

#[test]
fn at_the_limit_of_rounds_the_proposers_claim_is_refused() {
    let story = of_rounds(2).opponent(MAJOR).proposer("### P1 [rejected] No");
    assert_eq!((story.ledger().claims, story.ledger().limit()), (1, 2));
    let story = story.opponent("### P1 [open] Yes");
    let refusal = story.refuses(Role::Proposer, claim(&story), "### P1 [rejected] No");
    let Refusal::RoundsUsed { limit: 2, advice, state: State::AwaitingProposer } = refusal else {
        panic!("{refusal:?}")
    };
    assert_eq!((advice.course, advice.points), (Course::Appeal, vec![PointId(1)]));
    // The rule is about the move: the server does not read the text.
    let refusal = story.refuses(Role::Proposer, claim(&story), "### P9 [accepted]");
    assert!(matches!(refusal, Refusal::RoundsUsed { .. }), "{refusal:?}");
    assert_eq!(story.available(Role::Proposer), [Available::Appeal]);
    assert_eq!(story.debate.standing.state.floor(), Some(Role::Proposer));
}

#[test]
fn a_ruling_allows_one_more_round() {
    let story = of_rounds(1).opponent(MAJOR);
    assert!(!story.available(Role::Proposer).contains(&Available::Claim));
    let story = story.ruling("Go on.");
    assert_eq!(story.ledger().limit(), 2);
    let story = story.proposer("### P1 [rejected] No").opponent("### P1 [open] Yes");
    assert!(!story.available(Role::Proposer).contains(&Available::Claim));
}

// So the opponent's CLAIMs end with `rounds` and the RULINGs, and the proposer may have one more for
// each INTERVENTION that took the opponent's move.
#[test]
fn an_intervention_at_the_opponents_move_gives_the_proposer_another_claim() {
    let twice = of_rounds(1).ruling("Go on.").proposer("A.").ruling("Go on.").proposer("B.");
    assert_eq!((twice.ledger().claims, twice.ledger().limit()), (0, 3));
    let story = twice.opponent("Hm.").proposer("C.").opponent("Hm.").proposer("D.").opponent("Hm.");
    assert_eq!((story.ledger().claims, story.ledger().limit()), (3, 3));
    let refusal = story.refuses(Role::Proposer, claim(&story), "E.");
    assert!(matches!(refusal, Refusal::RoundsUsed { .. }), "{refusal:?}");
}

#[test]
fn a_parked_claim_uses_no_round_and_is_not_refused_at_the_limit() {
    let story = of_rounds(1).intervenes();
    let parked = story.opponent("### P7 [open]\n### NEW [major] No quote");
    assert_eq!(parked.ledger().claims, 0);
    assert_eq!(parked.ledger().count(), 0);
    let story = of_rounds(1).opponent(MAJOR).intervenes();
    let parked = story.clone().proposer("### P9 [accepted]\n> no such text anywhere");
    assert_eq!(parked.record.last().unwrap().0.event, Event::ProposerClaim { parked: true });
    assert_eq!(parked.record.last().unwrap().0.changes, []);
    let target = story.newest();
    let parked = story.plays(Role::Proposer, Move::Resolution { target }, "Fine.");
    assert_eq!(parked.record.last().unwrap().0.event, Event::Resolution { parked: true });
    assert_eq!(parked.record.last().unwrap().0.held, None);
    assert_eq!(parked.ledger().held, None);
}

#[test]
fn a_parked_argument_changes_nothing_in_the_ledger() {
    let agreed = Story::of(PLAN).opponent(AGREE).intervenes();
    let before = agreed.ledger().clone();
    let parked = agreed.proposer(&format!("{} ### P1 [accepted]", cite(1, 1)));
    assert_eq!(*parked.ledger(), before);
}

#[test]
fn the_advice_is_to_appeal_once_a_blocking_point_was_held_twice() {
    let held = |story: Story| story.proposer("### P1 [rejected] No").opponent("### P1 [open] Yes");
    let once = held(Story::of(PLAN).opponent(MAJOR));
    assert_eq!(once.ledger().advice().course, Course::Respond);
    assert_eq!(once.ledger().advice().points, [PointId(1)]);
    let twice = held(once);
    let advice = twice.ledger().advice();
    assert_eq!((advice.course, advice.points), (Course::Appeal, vec![PointId(1)]));
    assert_eq!(advice.why, "P1 was answered and held 2 times");
    // It is only advice.
    assert!(twice.available(Role::Proposer).contains(&Available::Claim));
    let ruled = twice.ruling("Go on.");
    assert_eq!(ruled.ledger().advice().course, Course::Respond);
    let minor = held(held(Story::of(PLAN).opponent(MINOR)));
    assert_eq!(minor.ledger().advice().course, Course::Respond);
}

#[test]
fn the_advice_is_to_complete_when_nothing_blocks_and_the_opponent_agrees_or_rounds_are_used() {
    let course = |story: &Story| story.ledger().advice().course;
    assert_eq!(course(&Story::of(PLAN).opponent(MINOR)), Course::Respond);
    assert_eq!(course(&Story::of(PLAN).opponent(AGREE)), Course::RequestCompletion);
    assert_eq!(course(&of_rounds(1).opponent(MINOR)), Course::RequestCompletion);
    assert_eq!(course(&of_rounds(1).opponent(MAJOR)), Course::Appeal);
}

/// A story in which the opponent has claimed twice.
fn late() -> Story {
    Story::of(PLAN).opponent("Hm.").proposer("Hm.").opponent("Hm.").proposer("Hm.")
}

#[test]
fn from_the_third_claim_on_a_new_point_about_unchanged_text_is_late() {
    let second = Story::of(PLAN).opponent("Hm.").proposer("Hm.").opponent(MAJOR);
    assert!(!second.point(1).late);
    assert_eq!(second.ledger().blocking(), [PointId(1)]);
    let third = late().opponent(MAJOR);
    assert!(third.point(1).late);
    assert_eq!(third.ledger().blocking(), []);
    let critical = late().opponent(CRITICAL);
    assert!(critical.point(1).late);
    assert_eq!(critical.ledger().blocking(), [PointId(1)]);
    assert!(late().opponent(MINOR).point(1).late);
    // Lateness counts CLAIMs that are not parked.
    let story = Story::of(PLAN).opponent("Hm.").proposer("Hm.").intervenes().opponent("Hm.");
    let story = story.ruling("Go on.").proposer("Hm.").opponent(MAJOR);
    assert!(!story.point(1).late);
    // The arbitrator is never late, and its RULING makes a late point block.
    assert!(!late().ruling(MINOR).point(1).late);
    let upheld = third.ruling("### P1 [upheld] Mend it");
    assert_eq!(upheld.ledger().blocking(), [PointId(1)]);
}

#[test]
fn a_point_with_a_fresh_quote_is_not_late() {
    let fresh = "### NEW [major] x\n> Old rows are kept for 90 days.\nA reason.";
    let story = Story::of(PLAN).opponent("Hm.").proposer("Hm.").opponent("Hm.");
    let story = story.revises(1, &PLAN.replace("deleted after 30", "kept for 90"));
    let story = story.proposer(&cite(1, 2));
    assert!(!story.clone().opponent(fresh).point(1).late);
    // One fresh quote is enough, and an old one alone is not.
    let both =
        fresh.replace("\nA reason", "\n\n> The worker retries the POST up to 3 times.\nA reason");
    assert!(!story.clone().opponent(&both).point(1).late);
    let old = "### NEW [major] x\n> The worker retries the POST up to 3 times.\nA reason.";
    assert!(story.clone().opponent(old).point(1).late);
    // The next CLAIM has seen the version.
    let story = story.opponent("Hm.").proposer("Hm.");
    assert!(story.opponent(fresh).point(1).late);
}

#[test]
fn nothing_is_late_in_a_debate_without_documents() {
    let motion = "We delete old rows after 30 days.";
    let point = "### NEW [major] x\n> We delete old rows after 30 days.\nA reason.";
    let story = Story::about(motion).opponent("Hm.").proposer("Hm.").opponent("Hm.");
    let story = story.proposer("Hm.").opponent(point);
    assert!(!story.point(1).late);
    // A quote of an argument is never fresh.
    let quoting = "### NEW [major] x\n> Everything is settled now.\nA reason.";
    let story = Story::of(PLAN).opponent("Hm.").proposer("Hm.").opponent("Hm.");
    assert!(story.proposer("Everything is settled now.").opponent(quoting).point(1).late);
}

#[test]
fn an_opponent_without_a_point_shows_three_lines_that_it_read() {
    let story = Story::of(PLAN);
    let flaws = |text: &str| story.flaws(Role::Opponent, text);
    let unread = [(1, FlawCode::AgreeUnread)];
    assert_eq!(flaws("### VERDICT [agree]"), unread);
    assert_eq!(flaws("### VERDICT [agree]\n> Old rows are deleted after 30 days."), unread);
    let twice =
        "### VERDICT [agree]\n> Old rows are deleted\n\n> after 30 days.\n\n> The worker retries";
    assert_eq!(flaws(twice), unread);
    assert!(story.judges(Role::Opponent, AGREE).is_ok());
    let whole = "### VERDICT [agree]\n> Charge retries\n>\n> The worker retries the POST up to 3 times. Old rows are deleted";
    assert!(story.judges(Role::Opponent, whole).is_ok());
    // Quotes elsewhere show nothing, and objecting needs nothing.
    let elsewhere = AGREE.replace("### VERDICT [agree]", "### VERDICT [agree]\n## Checked");
    assert_eq!(flaws(&elsewhere), unread);
    assert!(story.judges(Role::Opponent, "### VERDICT [object]").is_ok());
}

#[test]
fn a_point_with_a_found_quote_shows_that_the_opponent_has_read() {
    let quoted = "### NEW [minor] x\n> Old rows are deleted after 30 days.\nA reason.\n";
    let agree = "### VERDICT [agree]";
    let story = Story::of(PLAN);
    assert!(story.judges(Role::Opponent, &format!("{quoted}{agree}")).is_ok());
    let unread = [(3, FlawCode::AgreeUnread)];
    assert_eq!(story.flaws(Role::Opponent, &format!("{MINOR}\n{agree}")), unread);
    let unchecked = quoted.replace("after 30 days.", "today.\n— src/a.rs");
    let flaws = story.flaws(Role::Opponent, &format!("{unchecked}{agree}"));
    assert_eq!(flaws, [(5, FlawCode::AgreeUnread)]);
    let before = story.opponent(quoted).proposer("Hm.");
    assert!(before.judges(Role::Opponent, agree).is_ok());
    // The arbitrator's points say nothing about the opponent.
    let ruled = Story::of(PLAN).opponent("Hm.").ruling(quoted).ruling("### P1 [dismissed] No");
    assert_eq!(ruled.flaws(Role::Opponent, agree), [(1, FlawCode::AgreeUnread)]);
}

#[test]
fn a_plan_of_fewer_lines_is_shown_whole() {
    let two = "# Plan\n\nOld rows are deleted.";
    let story = Story::of(two);
    let one = "### VERDICT [agree]\n> Old rows are deleted.";
    assert_eq!(story.flaws(Role::Opponent, one), [(1, FlawCode::AgreeUnread)]);
    assert!(story.judges(Role::Opponent, &format!("{one}\n\n> Plan")).is_ok());
    let story = Story::about("We delete old rows.");
    assert_eq!(story.flaws(Role::Opponent, "### VERDICT [agree]"), [(1, FlawCode::AgreeUnread)]);
    assert!(story.judges(Role::Opponent, "### VERDICT [agree]\n> We delete old rows.").is_ok());
}

#[test]
fn agreeing_is_a_flaw_while_a_blocking_point_would_stay_alive() {
    let story = Story::of(PLAN).opponent(MAJOR).proposer("### P1 [rejected] No");
    let agree = "### VERDICT [agree]";
    let flaws = story.judges(Role::Opponent, agree).unwrap_err();
    assert_eq!(flaws[0].code, FlawCode::AgreeBlocked);
    assert!(flaws[0].message.contains("P1"), "{}", flaws[0]);
    for word in ["resolved", "withdrawn"] {
        let text = format!("{agree}\n### P1 [{word}] Fine");
        assert!(story.judges(Role::Opponent, &text).is_ok(), "the order does not matter");
    }
    let held = format!("### P1 [open] Yes\n{agree}");
    assert_eq!(story.flaws(Role::Opponent, &held), [(2, FlawCode::AgreeBlocked)]);
    let raised = format!("{agree}\n{CRITICAL}");
    assert_eq!(Story::of(PLAN).flaws(Role::Opponent, &raised), [(1, FlawCode::AgreeBlocked)]);
    let two = format!("{MAJOR}\n{}", MAJOR.replace("major", "critical"));
    let story = Story::of(PLAN).opponent(&two).proposer("Hm.");
    let flaws = story.judges(Role::Opponent, agree).unwrap_err();
    assert!(flaws[0].message.contains("P1 and P2"), "{}", flaws[0]);
    // Minor points and late major ones do not block it.
    let minor = Story::of(PLAN).opponent(&format!("{AGREE}\n{MINOR}"));
    assert!(minor.ledger().agreed);
    assert!(late().judges(Role::Opponent, &format!("{MAJOR}\n{agree}")).is_ok());
}

/// So many minor points with different titles.
fn points(count: usize, severity: &str) -> String {
    let quote = if severity == "minor" { "" } else { "> Old rows are deleted after 30 days.\n" };
    (0..count).map(|n| format!("### NEW [{severity}] x{n}\n{quote}A reason.\n")).collect()
}

#[test]
fn an_argument_raises_at_most_12_points_and_5_minor_ones() {
    let story = Story::of(PLAN);
    let many = format!("{}{}", points(7, "major"), points(5, "minor"));
    assert_eq!(story.judges(Role::Opponent, &many).unwrap().len(), 12);
    let one_more = format!("{many}{}", points(1, "major"));
    assert_eq!(story.flaws(Role::Opponent, &one_more), [(32, FlawCode::TooMany)]);
    let minor = points(6, "minor");
    assert_eq!(story.flaws(Role::Opponent, &minor), [(11, FlawCode::TooMany)]);
    let ruling = Story::of(PLAN).until(Role::Arbitrator);
    assert_eq!(ruling.flaws(Role::Arbitrator, &minor), [(11, FlawCode::TooMany)]);
    assert!(story.judges(Role::Opponent, &points(12, "critical")).is_ok());
    assert_eq!(story.flaws(Role::Opponent, &points(13, "critical")), [(37, FlawCode::TooMany)]);
}

#[test]
fn an_argument_has_at_most_40_quotes() {
    let story = Story::of(PLAN);
    let quotes = |count| {
        let each = "> Old rows are deleted after 30 days.\n\n".repeat(count);
        format!("### NEW [major] x\nA reason.\n{each}")
    };
    assert!(story.judges(Role::Opponent, &quotes(40)).is_ok());
    assert_eq!(story.flaws(Role::Opponent, &quotes(41)), [(83, FlawCode::TooMany)]);
}

#[test]
fn a_debate_has_at_most_200_points() {
    let rules = PointRules { rounds: 20, ..PointRules::default() };
    let mut story = Story::opened(rules, ResolutionPolicy::Auto, &[PLAN], &cite(1, 1));
    for _ in 0..16 {
        story = story.opponent(&points(12, "major")).proposer("Hm.");
    }
    assert_eq!(story.ledger().count(), 192);
    assert!(story.judges(Role::Opponent, &points(8, "major")).is_ok());
    assert_eq!(story.flaws(Role::Opponent, &points(9, "major")), [(25, FlawCode::TooMany)]);
    let full = story.opponent(&points(8, "major"));
    assert_eq!(full.flaws(Role::Arbitrator, MINOR), [(1, FlawCode::TooMany)]);
    assert!(full.judges(Role::Proposer, "### P200 [rejected] No").is_ok());
}

#[test]
fn one_statement_a_point_and_one_verdict() {
    let story = Story::of(PLAN).opponent(MINOR).proposer("Hm.");
    let twice = "### P1 [open]\n### VERDICT [object]\n### p1 [open]\n### VERDICT [object]";
    let flaws = story.flaws(Role::Opponent, twice);
    assert_eq!(flaws, [(3, FlawCode::Twice), (4, FlawCode::Twice)]);
    let ledger = story.until(Role::Proposer);
    let twice = "### P1 [rejected] No\n### P1 [rejected] No";
    assert_eq!(ledger.flaws(Role::Proposer, twice), [(2, FlawCode::Twice)]);
}

#[test]
fn what_is_one_too_many_has_no_other_flaw() {
    let story = Story::of(PLAN).opponent(MAJOR).proposer("### P1 [rejected] No");
    let flaws = |text: &str| story.flaws(Role::Opponent, text);
    let agree = "### VERDICT [agree]";
    assert_eq!(flaws(&format!("### VERDICT [object]\n{agree}")), [(2, FlawCode::Twice)]);
    let empty = "### P1 [open] Yes\n### P1 [resolved]\n> The worker never retries.";
    assert_eq!(flaws(empty), [(2, FlawCode::Twice)]);
    let bare = "### NEW [major] x\n".repeat(2);
    let many = format!("{}{bare}", points(12, "major"));
    assert_eq!(flaws(&many), [(37, FlawCode::TooMany)]);
    let minor = format!("{}### NEW [minor]\n", points(5, "minor"));
    assert_eq!(flaws(&minor), [(11, FlawCode::TooMany)]);
    // No quote beyond the limit is looked up, so nobody knows whether it counts.
    let quotes = "> Old rows are deleted after 30 days.\n\n".repeat(40);
    let beyond =
        "### NEW [major] y\nA reason.\n> Nothing of the kind.\n### NEW [major] z\nA reason.";
    let quoted = format!("### NEW [major] x\nA reason.\n{quotes}{beyond}");
    assert_eq!(flaws(&quoted), [(85, FlawCode::TooMany)]);
    let unread = format!("{agree}\n{quotes}> Old rows are deleted after 30 days.");
    assert_eq!(Story::of(PLAN).flaws(Role::Opponent, &unread), [(82, FlawCode::TooMany)]);
    // What stands before the limit is judged.
    let both = format!("### NEW [minor] y\n### NEW [minor] x\nA reason.\n{quotes}> A line of 12.");
    assert_eq!(flaws(&both), [(1, FlawCode::NoReason), (84, FlawCode::TooMany)]);
}

#[test]
fn a_critical_or_major_point_needs_a_quote_that_counts() {
    let story = Story::of(PLAN);
    let new = |body: &str| format!("### NEW [major] x\nA reason.\n{body}");
    let flaws = |body: &str| story.flaws(Role::Opponent, &new(body));
    assert_eq!(flaws(""), [(1, FlawCode::QuoteNeeded)]);
    assert_eq!(flaws("> let key = None;\n— src/a.rs"), [(1, FlawCode::QuoteNeeded)]);
    // One flaw is enough: the missing quote is the one that should count.
    assert_eq!(flaws("> The worker retries forever."), [(3, FlawCode::QuoteMissing)]);
    assert_eq!(flaws("> The"), [(3, FlawCode::QuoteLength)]);
    let minor = new("").replace("major", "minor");
    assert!(story.judges(Role::Opponent, &minor).is_ok());
    let missing = new("> The worker retries forever.").replace("major", "minor");
    assert_eq!(story.flaws(Role::Opponent, &missing), [(3, FlawCode::QuoteMissing)]);
    // The arbitrator needs none, and no quote of the arbitrator is refused.
    assert!(story.judges(Role::Arbitrator, &new("")).is_ok());
    assert!(story.judges(Role::Arbitrator, &new("> The worker retries forever.\n\n> x")).is_ok());
}

#[test]
fn an_outdated_quote_does_not_count_and_names_its_place() {
    let story =
        Story::of(PLAN).opponent("Hm.").revises(1, "Old rows are kept.").proposer(&cite(1, 2));
    let flaws = story.judges(Role::Opponent, MAJOR).unwrap_err();
    assert_eq!((flaws[0].line, flaws[0].code), (2, FlawCode::QuoteOutdated));
    assert!(flaws[0].message.contains("not in v2 any more; it was in v1, line 4"), "{}", flaws[0]);
    let both = MAJOR.replace("A reason", "\n> Old rows are kept.\nA reason");
    assert!(story.judges(Role::Opponent, &both).is_ok(), "one that counts is enough");
    assert!(story.judges(Role::Opponent, &MAJOR.replace("major", "minor")).is_ok());
}

#[test]
fn a_missing_quote_is_refused_in_every_statement() {
    let story = Story::of(PLAN).opponent(MINOR);
    let wrong = "> The worker retries POST three times";
    for (role, heading) in [
        (Role::Proposer, "### P1 [rejected] No"),
        (Role::Opponent, "### P1 [withdrawn] Fine"),
        (Role::Opponent, "### P1 [open]"),
        (Role::Opponent, "### VERDICT [object]"),
    ] {
        let flaws = story.judges(role, &format!("{heading}\n{wrong}")).unwrap_err();
        assert_eq!((flaws[0].line, flaws[0].code), (2, FlawCode::QuoteMissing), "{heading}");
        let nearest = flaws[0].nearest.as_ref().unwrap();
        assert_eq!(nearest.text, "The worker retries the POST up to 3 times.");
        assert_eq!(flaws[0].quote.as_deref(), Some("The worker retries POST three times"));
        assert!(flaws[0].message.contains("if it is no quote, leave out the >"));
    }
    assert!(story.judges(Role::Opponent, wrong).is_ok(), "outside statements it is text");
}

#[test]
fn the_author_of_a_quote_that_resembles_nothing_learns_how_to_name_its_file() {
    let story = Story::of(PLAN).opponent(MINOR);
    let code = "### P1 [rejected] No\n> pub fn refund(entry: ledger::Entry) {\nIn src/refund.rs.";
    let flaws = story.judges(Role::Proposer, code).unwrap_err();
    assert_eq!((flaws[0].code, &flaws[0].nearest), (FlawCode::QuoteMissing, &None));
    assert!(flaws[0].message.contains("— src/charge.rs:88"), "{}", flaws[0].message);
}

#[test]
fn all_flaws_are_listed_in_the_order_of_their_lines_and_nothing_is_recorded() {
    let text = "\
### VERDICT [agree]
### P1 [accepted]
### NEW [critical] A retry can charge twice
> The worker retries POST three times
A reason.
### NEW [major] Refunds need the old rows
> Old rows are deleted after 30 days.
Refunds are possible for 90 days.
### NEW [minor] How long does a retry wait?
> up to 3 times
### P7 [open]
### NEW: no bracket
```
### NEW [minor] in a fence";
    let story = Story::of(PLAN);
    let refusal = story.refuses(Role::Opponent, claim(&story), text);
    let Refusal::Flawed { flaws, state: State::AwaitingOpponent } = &refusal else {
        panic!("{refusal:?}")
    };
    let seen: Vec<(u32, &str)> = flaws.iter().map(|f| (f.line, f.code.as_str())).collect();
    assert_eq!(
        seen,
        [
            (1, "agree_blocked"),
            (2, "point_unknown"),
            (4, "quote_missing"),
            (9, "no_reason"),
            (11, "point_unknown"),
            (12, "form"),
            (13, "form"),
        ]
    );
    assert!(refusal.to_string().starts_with("nothing was submitted: 7 flaws in the text; line 1:"));
}

#[test]
fn out_of_turn_the_move_is_refused_before_the_text_is_read() {
    let story = Story::of(PLAN).opponent("Hm.");
    let refusal = story.refuses(Role::Opponent, claim(&story), "### P7 [open]");
    assert!(matches!(refusal, Refusal::NotTheFloor { .. }), "{refusal:?}");
}

#[test]
fn headings_in_a_motion_an_appeal_a_resolution_or_an_intervention_are_text() {
    let flawed = "### P7 [accepted]\n### NEW [major] x";
    let rules = PointRules::default();
    let story = Story::opened(rules, ResolutionPolicy::Auto, &[PLAN], flawed).opponent("Hm.");
    let target = story.newest();
    for play in [Move::Appeal { target }, Move::Resolution { target }] {
        let done = story.clone().plays(Role::Proposer, play, flawed);
        assert_eq!(done.record.last().unwrap().0.changes, []);
        assert_eq!(done.ledger().count(), 0);
    }
    let done = story.plays(Role::Arbitrator, Move::Intervention, flawed);
    assert_eq!(done.ledger().count(), 0);
}

/// The reason why a RESOLUTION waits; `None` if it closed the debate.
fn held(story: &Story, text: &str) -> Option<Held> {
    let before = story.record.len();
    let done = story.clone().completes(text);
    let held = done.record[before].0.held;
    let state = if held.is_some() { State::AwaitingArbitrator } else { State::Closed };
    assert_eq!(done.debate.standing.state, state);
    assert_eq!(done.record.len(), before + if held.is_some() { 1 } else { 2 });
    let seq = done.record.len() as u64;
    assert_eq!(done.ledger().held, held.map(|held| (aw_core::Seq(seq), held)));
    held
}

#[test]
fn completion_is_refused_while_a_point_blocks() {
    for policy in ResolutionPolicy::ALL {
        let story = with(5, *policy).opponent(&format!("{MAJOR}\n{CRITICAL}"));
        let refusal = story.refuses(Role::Proposer, resolution(&story), "Fine as it is.");
        let Refusal::PointsBlock { points, advice, .. } = &refusal else { panic!("{refusal:?}") };
        assert_eq!(*points, [PointId(1), PointId(2)]);
        assert_eq!(advice.course, Course::Respond);
        assert_eq!(refusal.to_string(), "P1 and P2 block completion");
        assert!(!story.available(Role::Proposer).contains(&Available::Resolution));
        assert!(story.available(Role::Proposer).contains(&Available::Claim));
    }
}

#[test]
fn completion_closes_at_once_when_the_opponent_has_agreed() {
    let story = with(5, ResolutionPolicy::Auto).opponent(AGREE);
    assert_eq!(held(&story, &cite(1, 1)), None);
    assert_eq!(held(&story, "Without a citation."), None);
    let closed = story.completes("Done.");
    let (closing, _) = closed.record.last().unwrap();
    assert_eq!(closing.event, Event::Ruling { verdict: Verdict::Close, automatic: true });
}

#[test]
fn completion_waits_for_the_arbitrator_where_the_policy_says_so() {
    let story = with(5, ResolutionPolicy::Arbitrator).opponent(AGREE);
    assert_eq!(held(&story, &cite(1, 1)), Some(Held::Policy));
}

#[test]
fn completion_without_the_opponents_agreement_waits_for_the_arbitrator() {
    for policy in ResolutionPolicy::ALL {
        let story = with(5, *policy);
        let not_agreed = Some(Held::NotAgreed);
        assert_eq!(held(&story.clone().opponent("I agree."), "Done."), not_agreed);
        assert_eq!(held(&story.clone().opponent("### VERDICT [object]"), "Done."), not_agreed);
        assert_eq!(held(&story.clone().opponent(MINOR), "Done."), not_agreed);
        // The agreement must be the newest argument.
        let answered = story.clone().opponent(AGREE).proposer("Thank you.").opponent("Welcome.");
        assert_eq!(held(&answered, "Done."), not_agreed);
        // It comes before the version in the list of reasons.
        let story = story.opponent("I agree.").revises(1, "Another plan.");
        assert_eq!(held(&story, &cite(1, 2)), not_agreed);
    }
}

#[test]
fn a_ruling_or_an_intervention_after_the_agreement_turns_the_key_back() {
    let agreed = with(5, ResolutionPolicy::Auto).opponent(AGREE);
    assert!(agreed.ledger().agreed);
    let ruled = agreed.clone().ruling("Go on.");
    assert!(!ruled.ledger().agreed);
    assert_eq!(held(&ruled, "Done."), Some(Held::NotAgreed));
    let stopped = agreed.intervenes();
    assert!(!stopped.ledger().agreed);
    assert_eq!(held(&stopped.ruling("Go on."), "Done."), Some(Held::NotAgreed));
}

#[test]
fn an_argument_that_is_parked_leaves_the_key_turned() {
    let parked = with(5, ResolutionPolicy::Auto).intervenes().ruling("Go on.").proposer("Hm.");
    let agreed = parked.opponent(AGREE);
    assert!(agreed.ledger().agreed);
    // A text of the opponent that the INTERVENTION overtook agrees to nothing.
    let story = with(5, ResolutionPolicy::Auto).intervenes().opponent(AGREE).ruling("Go on.");
    assert_eq!(held(&story, "Done."), Some(Held::NotAgreed));
}

#[test]
fn completion_with_another_version_than_the_one_agreed_to_waits_for_the_arbitrator() {
    for policy in ResolutionPolicy::ALL {
        let other = Some(Held::OtherVersion);
        let story = with(5, *policy).opponent("Hm.").revises(1, PLAN).proposer(&cite(1, 2));
        let story = story.opponent(AGREE).revises(1, "A newer plan.");
        assert_eq!(held(&story, &cite(1, 3)), other, "a newer one was never examined");
        assert_eq!(held(&story, &cite(1, 1)), other, "an older one is not the one agreed to");
        let agreed = if *policy == ResolutionPolicy::Auto { None } else { Some(Held::Policy) };
        assert_eq!(held(&story, &cite(1, 2)), agreed);
        let mut two = story;
        two.documents.insert(super::document(2), vec!["Another plan.".to_owned()]);
        let text = format!("{} and {}", cite(1, 2), cite(2, 1));
        assert_eq!(held(&two, &text), other, "every cited version counts");
        let text = format!("{}, formerly {}", cite(1, 3), cite(1, 2));
        assert_eq!(held(&two, &text), other, "of several versions of a document too");
        assert_eq!(held(&two, &cite(1, 4)), other, "also one that does not exist yet");
    }
}

#[test]
fn completion_is_not_available_over_a_blocking_point_also_after_an_intervention() {
    let story = Story::of(PLAN).opponent(MAJOR).intervenes().ruling("Go on.");
    assert_eq!(story.debate.available(Role::Proposer), [Available::Claim, Available::Appeal]);
}

#[test]
fn how_names_the_words_that_each_point_takes() {
    let how = |story: &Story| story.ledger().how(Role::Proposer);
    let claim = format!("{CRITICAL}\n{MAJOR}");
    let open = Story::of(PLAN).opponent(&claim);
    assert_eq!(
        how(&open),
        "Answer P1: ### P1 [accepted|rejected] and a reason. Answer P2: ### P2 \
         [accepted|rejected|deferred] and a reason. accepted needs a new version: doc_id=… (vN)."
    );
    let ruled = open.appeals().ruling("### P2 [upheld] So.");
    assert!(how(&ruled).contains("### P2 [accepted] and a reason."), "{}", how(&ruled));
    let accepted =
        ruled.revises(1, "Another.").proposer(&format!("### P2 [accepted] {}", cite(1, 2)));
    let opponents = accepted.ledger().how(Role::Opponent);
    assert!(opponents.contains("### P2 [resolved|open] and a reason."), "{opponents}");
    let used = with(1, ResolutionPolicy::Auto).opponent(MAJOR);
    assert_eq!(used.ledger().advice().why, "the only round is used, and P1 blocks completion");
    assert_eq!(how(&used), "The rounds are used: follow advice. Headings count in a CLAIM only.");
}

#[test]
fn a_closing_ruling_closes_over_living_points_which_stay_as_they_are() {
    let story = Story::of(PLAN).opponent(MAJOR).appeals();
    let close = Move::Ruling { target: None, verdict: Verdict::Close };
    let closed = story.plays(Role::Arbitrator, close, "Enough.");
    assert_eq!(closed.debate.standing.state, State::Closed);
    assert_eq!(closed.state(1), PointState::Open);
    assert_eq!(closed.ledger().blocking(), [PointId(1)]);
}

#[test]
fn a_held_resolution_that_is_sent_back_leaves_the_debate_open() {
    let story = Story::of(PLAN).opponent(MINOR).completes("Done.").ruling("Not yet.");
    assert_eq!(story.debate.standing.state, State::AwaitingProposer);
    assert_eq!(held(&story, "Done now."), Some(Held::NotAgreed));
}

#[test]
fn the_debate_of_the_rules_goes_as_they_tell_it() {
    let plan = "# Charge retries\n\n1. The worker retries the POST up to 3 times.\n2. Old rows are deleted after 30 days.\n";
    let claim = "### VERDICT [object]\nTwo ways to lose money.\n### NEW [critical] A retry can charge twice\n> The worker retries POST three times\nA time-out after the charge charges again. Send one key a payment.\n### NEW [major] Refunds need the old rows\n> Old rows are deleted after 30 days.\nRefunds are possible for 90 days.\n### NEW [minor] How long does a retry wait?\n> up to 3 times";
    let story = Story::of(plan);
    let flaws = [(4, FlawCode::QuoteMissing), (9, FlawCode::NoReason)];
    assert_eq!(story.flaws(Role::Opponent, claim), flaws);
    let claim = claim.replace("retries POST three times", "retries the POST up to 3 times.");
    let story = story.opponent(&format!("{claim}\nSay it, or link the policy."));
    let refusal = story.refuses(Role::Proposer, resolution(&story), "Fine as it is.");
    assert_eq!(refusal.to_string(), "P1 and P2 block completion");
    let plan = plan.replace("3 times.", "3 times, with one key a payment.");
    let story = story.revises(1, &plan).proposer(&format!(
        "### P1 [accepted] One key a payment, step 1. {}\n### P2 [rejected] Refunds read the ledger service, not these rows.\n> pub fn refund(entry: ledger::Entry) -> Result<(), Error> {{\n— src/refund.rs\n### P3 [deferred] The retry policy is a plan of its own.",
        cite(1, 2)
    ));
    let second = "### P1 [resolved] Read v2, step 1.\n### P2 [open]\nThe ledger service keeps 30 days too.\n### P3 [resolved]\n### VERDICT [object]\n";
    assert_eq!(story.flaws(Role::Opponent, second), [(4, FlawCode::NoReason)]);
    let story = story.opponent(&second.replace("P3 [resolved]", "P3 [resolved] Fine"));
    let story = story.proposer("### P2 [rejected] It does not").opponent("### P2 [open] It does");
    let advice = story.ledger().advice();
    assert_eq!(
        (advice.course, advice.why.as_str()),
        (Course::Appeal, "P2 was answered and held 2 times")
    );
    let story = story.ruling("### P2 [upheld]\n90 days, as refunds are possible that long.");
    let story = story.revises(1, &plan.replace("30 days", "90 days"));
    let story = story.proposer(&format!("### P2 [accepted] 90 days. {}", cite(1, 3)));
    let story = story.opponent("### P2 [resolved] Read v3, step 2.\n### VERDICT [agree]");
    assert_eq!(story.ledger().advice().course, Course::RequestCompletion);
    assert_eq!(held(&story, &format!("Settled: {}.", cite(1, 3))), None);
}
