//! The life of a point: every word in every state, and the rules around them.

use aw_core::{
    Effect, FlawCode, Ledger, Point, PointId, PointRules, PointState, Role, Said, Seq, Severity,
    statements,
};

use super::{PLAN, Story, cite};

/// What each word makes of a point in each state: the next state, `=` for no change, or the flaw.
///
/// A point that was upheld is ruled, and while it lives it is `upheld` or `accepted`: the model
/// proves that the other rows of living points cannot happen, and they hold nevertheless.
const LIFE: &str = "
                     opponent                            proposer                           arbitrator
    state      ruled resolved    open        withdrawn   accepted rejected    deferred      upheld     dismissed deferred
    ---------- ----- ----------- ----------- ----------- -------- ----------- ------------- ---------- --------- ---------
    open       no    settled     =           withdrawn   accepted rejected    deferred      upheld     dismissed set_aside
    accepted   no    settled     open        withdrawn   =        rejected    deferred      upheld     dismissed set_aside
    rejected   no    withdrawn   open        withdrawn   accepted =           deferred      upheld     dismissed set_aside
    deferred   no    set_aside   open        withdrawn   accepted rejected    =             upheld     dismissed set_aside
    settled    no    =           point_over  =           =        =           =             point_over =         =
    withdrawn  no    =           point_over  =           =        =           =             point_over =         =
    dismissed  no    =           point_over  =           =        =           =             point_over =         =
    set_aside  no    =           point_over  =           =        =           =             point_over =         =
    upheld     yes   point_ruled =           point_ruled accepted point_ruled point_ruled   =          dismissed set_aside
    accepted   yes   settled     upheld      point_ruled =        point_ruled point_ruled   upheld     dismissed set_aside
    open       yes   point_ruled upheld      point_ruled accepted point_ruled point_ruled   upheld     dismissed set_aside
    rejected   yes   point_ruled upheld      point_ruled accepted point_ruled point_ruled   upheld     dismissed set_aside
    deferred   yes   point_ruled upheld      point_ruled accepted point_ruled point_ruled   upheld     dismissed set_aside
    settled    yes   =           point_over  =           =        =           =             point_over =         =
    withdrawn  yes   =           point_over  =           =        =           =             point_over =         =
    dismissed  yes   =           point_over  =           =        =           =             point_over =         =
    set_aside  yes   =           point_over  =           =        =           =             point_over =         =
";

const WORDS: [(Role, &str); 9] = [
    (Role::Opponent, "resolved"),
    (Role::Opponent, "open"),
    (Role::Opponent, "withdrawn"),
    (Role::Proposer, "accepted"),
    (Role::Proposer, "rejected"),
    (Role::Proposer, "deferred"),
    (Role::Arbitrator, "upheld"),
    (Role::Arbitrator, "dismissed"),
    (Role::Arbitrator, "deferred"),
];

/// The rows of the table: state, whether ruled, and a cell for each word.
fn rows() -> Vec<(PointState, bool, Vec<&'static str>)> {
    let body = LIFE.lines().skip_while(|line| !line.contains("---")).skip(1);
    body.map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|row| !row.is_empty())
        .map(|row| (row[0].parse().unwrap(), row[1] == "yes", row[2..].to_vec()))
        .collect()
}

/// A ledger with one point in this state.
fn with_point(state: PointState, ruled: bool, severity: Severity) -> Ledger {
    let mut ledger = Ledger::opened(PointRules::default(), &[]);
    ledger.points.push(Point {
        id: PointId(1),
        severity,
        title: "x".to_owned(),
        state,
        late: false,
        unchanged: false,
        disputes: 0,
        ruled,
        evidenced: false,
        document: None,
        demanded: Seq(2),
        raised: Seq(2),
        last: Seq(2),
    });
    ledger
}

/// What a heading does: the next state, `=`, or the only flaw.
fn outcome(ledger: &Ledger, role: Role, text: &str) -> String {
    let read = statements(text, role, ledger.count());
    let stated = read.statements.into_iter().map(|statement| (statement, Vec::new())).collect();
    let said = Said { stated, flaws: read.flaws, ..Said::default() };
    match ledger.judge(role, &said, Seq(9)) {
        Ok(changes) => {
            assert_eq!(changes.len(), 1);
            let state = changes[0].state.unwrap();
            match changes[0].effect {
                Effect::Repeated => {
                    assert_eq!(state, ledger.points[0].state);
                    "=".to_owned()
                }
                _ => state.to_string(),
            }
        }
        Err(flaws) => {
            assert_eq!(flaws.len(), 1, "{flaws:?}");
            flaws[0].code.to_string()
        }
    }
}

#[test]
fn every_word_in_every_state_does_what_the_table_says() {
    let rows = rows();
    // The tenth row would be a point that is upheld without a RULING.
    assert_eq!(rows.len(), 17);
    for (state, ruled, cells) in rows {
        assert_eq!(cells.len(), WORDS.len());
        for ((role, word), expected) in WORDS.iter().zip(&cells) {
            let ledger = with_point(state, ruled, Severity::Major);
            let text = format!("### P1 [{word}] A reason");
            let done = outcome(&ledger, *role, &text);
            assert_eq!(done, **expected, "{role}'s {word}: {state}, ruled {ruled}");
        }
    }
}

#[test]
fn repeating_is_harmless_and_needs_no_reason() {
    for (state, ruled, cells) in rows() {
        for ((role, word), expected) in WORDS.iter().zip(&cells) {
            let ledger = with_point(state, ruled, Severity::Major);
            let done = outcome(&ledger, *role, &format!("### P1 [{word}]"));
            match *expected {
                "=" | "point_over" | "point_ruled" => assert_eq!(done, **expected),
                _ => assert_eq!(done, "no_reason", "{role}'s {word}: {state}"),
            }
        }
    }
}

#[test]
fn a_critical_point_cannot_be_deferred_by_the_proposer() {
    for state in ["open", "accepted", "rejected"] {
        let ledger = with_point(state.parse().unwrap(), false, Severity::Critical);
        assert_eq!(outcome(&ledger, Role::Proposer, "### P1 [deferred] Later"), "word");
        assert_eq!(outcome(&ledger, Role::Arbitrator, "### P1 [deferred] Later"), "set_aside");
    }
    let story = Story::of(PLAN)
        .opponent("### NEW [critical] x\n> Old rows are deleted after 30 days.\nA reason.");
    let flaws = story.judges(Role::Proposer, "### P1 [deferred] Later").unwrap_err();
    assert_eq!(flaws[0].allowed, ["accepted", "rejected"]);
}

/// A point without a quote, so that a word needs nothing else.
const NEW: &str = "### NEW [minor] Slow\nIt is slow.";

/// The stories that lead to every row that can happen.
fn stories() -> Vec<(Story, PointState, bool)> {
    use PointState::{
        Accepted, Deferred, Dismissed, Open, Rejected, SetAside, Settled, Upheld, Withdrawn,
    };
    let open = || Story::of(PLAN).opponent(NEW);
    let answered = |word: &str| open().proposer(&format!("### P1 [{word}] A reason"));
    let ruled = |word: &str| open().ruling(&format!("### P1 [{word}] A reason"));
    let upheld = || ruled("upheld");
    let again = |word: &str| upheld().ruling(&format!("### P1 [{word}] A reason"));
    let mended = || upheld().proposer("### P1 [accepted] A reason");
    vec![
        (open(), Open, false),
        (answered("accepted"), Accepted, false),
        (answered("rejected"), Rejected, false),
        (answered("deferred"), Deferred, false),
        (answered("accepted").opponent("### P1 [resolved] Seen"), Settled, false),
        (answered("rejected").opponent("### P1 [resolved] Seen"), Withdrawn, false),
        (answered("deferred").opponent("### P1 [resolved] Seen"), SetAside, false),
        (answered("rejected").opponent("### P1 [open] No"), Open, false),
        (ruled("dismissed"), Dismissed, false),
        (ruled("deferred"), SetAside, false),
        (upheld(), Upheld, true),
        (mended(), Accepted, true),
        (mended().opponent("### P1 [open] No"), Upheld, true),
        (mended().opponent("### P1 [resolved] Seen"), Settled, true),
        (again("dismissed"), Dismissed, true),
        (again("deferred"), SetAside, true),
        (Story::of(PLAN).until(Role::Arbitrator).ruling(NEW), Upheld, true),
    ]
}

#[test]
fn every_word_in_every_story_does_what_the_table_says() {
    let rows = rows();
    for (story, state, ruled) in stories() {
        let point = story.point(1);
        assert_eq!((point.state, point.ruled), (state, ruled));
        let (.., cells) = rows.iter().find(|(s, r, _)| (*s, *r) == (state, ruled)).unwrap();
        for ((role, word), expected) in WORDS.iter().zip(cells) {
            let mut next = story.clone().until(*role);
            let (play, text) = (next.speaking(*role), format!("### P1 [{word}] A reason"));
            let before = next.point(1).clone();
            let done = match next.attempt(*role, play, &text) {
                Ok(()) if next.state(1) == state => "=".to_owned(),
                Ok(()) => next.state(1).to_string(),
                Err(aw_core::Refusal::Flawed { flaws, .. }) => flaws[0].code.to_string(),
                Err(refusal) => panic!("{refusal:?}"),
            };
            assert_eq!(done, **expected, "{role}'s {word}: {state}, ruled {ruled}");
            if done == "=" {
                let disputes = next.point(1).disputes;
                let unmoved = Point { demanded: next.point(1).demanded, disputes, ..before };
                assert_eq!(*next.point(1), unmoved, "{role}'s {word}: {state}");
            }
        }
    }
}

#[test]
fn open_and_upheld_points_are_the_proposers_the_other_living_ones_the_opponents() {
    for (story, state, _) in stories() {
        let owed = |role| !story.ledger().owed_by(role).is_empty();
        let (proposer, opponent) = match state.as_str() {
            "open" | "upheld" => (true, false),
            "accepted" | "rejected" | "deferred" => (false, true),
            _ => (false, false),
        };
        assert_eq!((owed(Role::Proposer), owed(Role::Opponent)), (proposer, opponent), "{state}");
        assert!(!owed(Role::Arbitrator));
        assert_eq!(state.is_alive(), proposer || opponent);
    }
}

#[test]
fn a_point_that_is_over_is_to_be_raised_as_new() {
    let over = Story::of(PLAN).opponent(NEW).ruling("### P1 [dismissed] No");
    let flaws = over.judges(Role::Opponent, "### P1 [open] Still").unwrap_err();
    assert_eq!(flaws[0].code, FlawCode::PointOver);
    assert!(flaws[0].message.contains("raise it as NEW"), "{}", flaws[0]);
    let again = over.until(Role::Opponent).opponent(NEW);
    assert_eq!(again.state(1), PointState::Dismissed);
    assert_eq!(again.state(2), PointState::Open);
}

#[test]
fn a_role_may_list_all_its_points_in_every_argument() {
    let two = "### NEW [minor] a\nA.\n### NEW [minor] b\nB.\n### NEW [minor] c\nC.";
    let story = Story::of(PLAN)
        .opponent(two)
        .proposer("### P1 [accepted] Done\n### P2 [rejected] No\n### P3 [deferred] Later")
        .opponent("### P1 [resolved] Seen\n### P2 [open] Yes\n### P3 [resolved] Fine")
        .proposer("### P1 [accepted]\n### P2 [rejected] No\n### P3 [deferred]")
        .opponent("### P1 [resolved]\n### P2 [resolved] Fine\n### P3 [withdrawn]");
    assert_eq!(story.ledger().alive().count(), 0);
    assert_eq!(story.state(3), PointState::SetAside);
}

#[test]
fn points_that_an_argument_does_not_mention_stay_as_they_are() {
    let two = "### NEW [minor] a\nA.\n### NEW [minor] b\nB.";
    let story = Story::of(PLAN).opponent(two);
    let second = story.point(2).clone();
    let story = story.proposer("### P1 [rejected] No").opponent("### P1 [open] Yes");
    assert_eq!(*story.point(2), second);
}

#[test]
fn disputes_count_how_often_the_opponent_held_an_answered_point() {
    let held = |story: Story, word: &str| {
        story.proposer(&format!("### P1 [{word}] Why")).opponent("### P1 [open] No")
    };
    let story = Story::of(PLAN).opponent(NEW);
    assert_eq!(story.point(1).disputes, 0);
    let story = story.proposer("Nothing.").opponent("### P1 [open] Still");
    assert_eq!(story.point(1).disputes, 0, "nobody had answered");
    let story = held(held(story, "rejected"), "accepted");
    assert_eq!(story.point(1).disputes, 2);
}

#[test]
fn a_ruling_sets_the_disputes_of_every_living_point_to_nothing() {
    let disputed = Story::of(PLAN)
        .opponent("### NEW [minor] a\nA.\n### NEW [minor] b\nB.")
        .proposer("### P1 [rejected] No\n### P2 [rejected] No")
        .opponent("### P1 [open] Yes\n### P2 [open] Yes");
    assert_eq!((disputed.point(1).disputes, disputed.point(2).disputes), (1, 1));
    let ruled = disputed.clone().ruling("### P1 [dismissed] No");
    assert_eq!((ruled.point(1).disputes, ruled.point(2).disputes), (1, 0));
    let silent = disputed.clone().ruling("Go on.");
    assert_eq!((silent.point(1).disputes, silent.point(2).disputes), (0, 0));
    let only_stopped = disputed.intervenes();
    assert_eq!(only_stopped.point(1).disputes, 1);
}

const QUOTED: &str = "### NEW [major] x\n> Old rows are deleted after 30 days.\nA reason.";
const KEPT: &str = "Old rows are kept for 90 days.";

fn accepted(version: u64) -> String {
    format!("### P1 [accepted] Mended: {}", cite(1, version))
}

#[test]
fn accepted_needs_a_new_version_where_a_quote_was_found_in_a_document() {
    let story = Story::of(PLAN).opponent(QUOTED);
    let needed = [(1, FlawCode::VersionNeeded)];
    assert_eq!(story.flaws(Role::Proposer, "### P1 [accepted] Mended"), needed);
    // The version that everybody knows is no new one.
    assert_eq!(story.flaws(Role::Proposer, &accepted(1)), needed);
    let flaws = story.judges(Role::Proposer, &accepted(1)).unwrap_err();
    assert!(
        flaws[0].message.contains("v1") && flaws[0].message.contains(&cite(1, 2)),
        "{}",
        flaws[0]
    );
    let story = story.revises(1, KEPT);
    assert_eq!(story.flaws(Role::Proposer, "### P1 [accepted] Mended"), needed);
    assert_eq!(story.clone().proposer(&accepted(2)).state(1), PointState::Accepted);
    // A new document is a new version as well.
    let mut other = story;
    other.documents.insert(super::document(2), vec!["Another plan.".to_owned()]);
    let text = format!("### P1 [accepted] Mended: {}", cite(2, 1));
    assert_eq!(other.proposer(&text).state(1), PointState::Accepted);
}

#[test]
fn accepted_needs_no_version_where_no_quote_was_found_in_a_document() {
    let motion = "We delete old rows after 30 days.";
    for text in [
        "### NEW [minor] x\nA reason.",
        "### NEW [minor] x\n> pub fn refund(entry: Entry)\n— src/a.rs\nA reason.",
        "### NEW [major] x\n> We delete old rows after 30 days.\nA reason.",
    ] {
        let story = Story::about(motion).opponent(text).proposer("### P1 [accepted] Mended");
        assert_eq!(story.state(1), PointState::Accepted, "{text}");
    }
}

#[test]
fn the_new_version_must_follow_the_last_word_of_the_opponent() {
    let story = Story::of(PLAN).opponent(QUOTED).revises(1, KEPT).proposer(&accepted(2));
    let held = story.clone().opponent("### P1 [open] Not enough");
    let needed = [(1, FlawCode::VersionNeeded)];
    assert_eq!(held.flaws(Role::Proposer, &accepted(2)), needed);
    let held = held.revises(1, "Old rows are kept.");
    assert_eq!(held.proposer(&accepted(3)).state(1), PointState::Accepted);
    // A repeated word of the opponent is a word too.
    let cited = Story::of(PLAN).opponent(QUOTED).revises(1, KEPT).proposer(&cite(1, 2));
    assert!(cited.judges(Role::Proposer, "### P1 [accepted] Mended").is_ok());
    let repeated = cited.opponent("### P1 [open]");
    assert_eq!(repeated.flaws(Role::Proposer, &accepted(2)), needed);
}

#[test]
fn the_new_version_must_follow_the_ruling_that_upholds() {
    let cited = Story::of(PLAN).opponent(QUOTED).revises(1, KEPT).proposer(&cite(1, 2));
    let needed = [(1, FlawCode::VersionNeeded)];
    let upheld = cited.clone().ruling("### P1 [upheld] Mend it");
    assert_eq!(upheld.flaws(Role::Proposer, &accepted(2)), needed);
    let again = upheld.revises(1, "Rows stay.").until(Role::Proposer).appeals();
    let again = again.ruling("### P1 [upheld]");
    assert_eq!(again.clone().proposer(&accepted(3)).state(1), PointState::Accepted);
    // The version in which the RULING saw the point is no change after it.
    let story = Story::of(PLAN).opponent(QUOTED).revises(1, KEPT);
    let shown = story.ruling(&format!("### P1 [upheld] Mend it: {}", cite(1, 2)));
    assert_eq!(shown.flaws(Role::Proposer, &accepted(2)), needed);
    // A RULING that says nothing about the point demands nothing.
    let silent = cited.ruling("Go on.");
    assert!(silent.judges(Role::Proposer, "### P1 [accepted] Mended").is_ok());
}

#[test]
fn a_version_that_the_arbitrator_cites_counts_and_one_of_the_opponent_does_not() {
    let story = Story::of(PLAN).opponent(QUOTED).revises(1, KEPT);
    let ruled = story.clone().ruling(&format!("See {}.", cite(1, 2)));
    assert!(ruled.judges(Role::Proposer, "### P1 [accepted] Mended").is_ok());
    let needed = [(1, FlawCode::VersionNeeded)];
    let opponent = story.proposer("Hm.").opponent(&format!("See {}.", cite(1, 2)));
    assert_eq!(opponent.flaws(Role::Proposer, "### P1 [accepted] Mended"), needed);
}

#[test]
fn a_parked_citation_is_no_new_version() {
    let story = Story::of(PLAN).opponent(QUOTED).revises(1, KEPT).intervenes();
    let parked = story.proposer(&accepted(2));
    assert_eq!(parked.state(1), PointState::Open);
    assert_eq!(parked.ledger().documents[0].version, 1);
    let ruled = parked.ruling("Go on.");
    let needed = [(1, FlawCode::VersionNeeded)];
    assert_eq!(ruled.flaws(Role::Proposer, "### P1 [accepted] Mended"), needed);
}

#[test]
fn an_accepted_point_whose_quotes_all_stand_is_unchanged_until_its_next_turn() {
    let elsewhere = format!("{PLAN}\n5. Refunds read the ledger.");
    let story = Story::of(PLAN).opponent(QUOTED).revises(1, &elsewhere).proposer(&accepted(2));
    assert!(story.point(1).unchanged);
    assert!(story.clone().opponent("Nothing.").point(1).unchanged);
    assert!(!story.clone().opponent("### P1 [open] It stands").point(1).unchanged);
    assert!(!story.opponent("### P1 [resolved] Fine").point(1).unchanged);
    let mended = Story::of(PLAN).opponent(QUOTED).revises(1, KEPT).proposer(&accepted(2));
    assert!(!mended.point(1).unchanged);
    let rejected = Story::of(PLAN).opponent(QUOTED).proposer("### P1 [rejected] No");
    assert!(!rejected.point(1).unchanged, "only an accepted point promises a change");
}

#[test]
fn a_short_quote_still_stands_only_as_a_whole_line() {
    let plan = "# Plan\n\nRetries\n\nThe worker sends the POST again.";
    let raised = "### NEW [major] How many?\n> Retries\nSay it.";
    let kept = "# Plan\n\nRetries\n\nThe worker sends the POST 3 times.";
    let gone = "# Plan\n\nRetries are sent 3 times.";
    for (next, unchanged) in [(kept, true), (gone, false)] {
        let story = Story::of(plan).opponent(raised).revises(1, next).proposer(&accepted(2));
        assert_eq!(story.point(1).unchanged, unchanged, "{next}");
    }
}

#[test]
fn a_points_severity_never_changes_and_a_ruling_makes_any_point_block() {
    let minor = Story::of(PLAN).opponent(NEW);
    assert_eq!(minor.ledger().blocking(), []);
    let upheld = minor.ruling("### P1 [upheld] Mend it");
    assert_eq!(upheld.ledger().blocking(), [PointId(1)]);
    assert_eq!(upheld.point(1).severity, Severity::Minor);
    let accepted = upheld.proposer("### P1 [accepted] Mended");
    assert_eq!(accepted.ledger().blocking(), [PointId(1)]);
    assert_eq!(accepted.opponent("### P1 [resolved] Seen").ledger().blocking(), []);
    let own = Story::of(PLAN).opponent("Hm.").ruling("### NEW [minor] Both missed it\nMend it.");
    assert_eq!(own.ledger().blocking(), [PointId(1)]);
    assert!(!own.point(1).evidenced);
}

#[test]
fn a_point_blocks_from_the_severity_of_the_debate_on() {
    for (bar, severity, blocks) in [
        ("major", "critical", true),
        ("major", "major", true),
        ("major", "minor", false),
        ("critical", "critical", true),
        ("critical", "major", false),
        ("critical", "minor", false),
    ] {
        let rules = PointRules { blocking: bar.parse().unwrap(), ..PointRules::default() };
        let policy = aw_core::ResolutionPolicy::Auto;
        let story = Story::opened(rules, policy, &[PLAN], &cite(1, 1));
        let story = story.opponent(&QUOTED.replace("major", severity));
        assert_eq!(!story.ledger().blocking().is_empty(), blocks, "{severity} with bar {bar}");
        for word in ["accepted", "rejected", "deferred"] {
            let mut answered = story.ledger().clone();
            answered.points[0].state = word.parse().unwrap();
            assert_eq!(!answered.blocking().is_empty(), blocks, "{word} lives");
        }
        let over = story.ruling("### P1 [dismissed] No");
        assert_eq!(over.ledger().blocking(), []);
    }
}
