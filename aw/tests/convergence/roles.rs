//! The scripts of the adversaries, and of the honest roles that they meet.

use super::play::{Owed, Seen};

/// The plan that every debate is about.
pub const PLAN: &str = "\
# Charge retries

1. The worker retries the POST up to 3 times.
2. Old rows are deleted after 30 days.
3. The alarm fires after one hour without a charge.
4. A person looks at the alarm on the next working day.
";

/// Lines of the plan that are right as they are.
const SOUND: [&str; 2] = [
    "The alarm fires after one hour without a charge.",
    "A person looks at the alarm on the next working day.",
];

/// Something that is wrong with the plan.
pub struct Defect {
    pub title: &'static str,
    pub line: &'static str,
    mended: &'static str,
}

pub const DEFECTS: [Defect; 2] = [
    Defect {
        title: "A retry can charge twice",
        line: "The worker retries the POST up to 3 times.",
        mended: "The worker retries the POST up to 3 times, with one key a payment.",
    },
    Defect {
        title: "Refunds need the old rows",
        line: "Old rows are deleted after 30 days.",
        mended: "Old rows are deleted after 90 days.",
    },
];

/// A move of the proposer. A plan that goes with it is submitted first, as the next version.
pub enum ProposerMove {
    /// A CLAIM with this text, in which `{cite}` cites the newest version.
    Claim(String, Option<String>),
    Appeal,
    Complete(Option<String>),
}

/// A role, or two, that misbehave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adversary {
    Endless,
    EverythingCritical,
    StubbornPair,
    RubberStamp,
    Hallucinator,
    ChangesNothing,
    SelfApprover,
    Amnesiac,
    OldKit,
    ReRaiser,
}

impl Adversary {
    pub const ALL: [Adversary; 10] = [
        Adversary::Endless,
        Adversary::EverythingCritical,
        Adversary::StubbornPair,
        Adversary::RubberStamp,
        Adversary::Hallucinator,
        Adversary::ChangesNothing,
        Adversary::SelfApprover,
        Adversary::Amnesiac,
        Adversary::OldKit,
        Adversary::ReRaiser,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Adversary::Endless => "endless",
            Adversary::EverythingCritical => "everything critical",
            Adversary::StubbornPair => "stubborn pair",
            Adversary::RubberStamp => "rubber stamp",
            Adversary::Hallucinator => "hallucinator",
            Adversary::ChangesNothing => "accepts and changes nothing",
            Adversary::SelfApprover => "self-approver",
            Adversary::Amnesiac => "amnesiac",
            Adversary::OldKit => "old kit",
            Adversary::ReRaiser => "re-raiser of dismissed points",
        }
    }

    /// The texts that the opponent tries in turn.
    pub fn claims(self, seen: &Seen) -> Vec<String> {
        match self {
            Adversary::Endless => vec![flood(seen, "major", 5)],
            Adversary::EverythingCritical => vec![flood(seen, "critical", 2)],
            Adversary::StubbornPair if seen.rulings == 0 => {
                let points = if seen.owed.is_some() { opening(seen) } else { defects() };
                vec![points + &words(seen, |_| "open") + OBJECT]
            }
            Adversary::RubberStamp => {
                let resolved = words(seen, |_| "resolved");
                vec![resolved.clone() + AGREE, resolved + "Looks good to me.\n"]
            }
            Adversary::Hallucinator => vec![
                "### NEW [critical] The queue forgets jobs\n> The queue keeps jobs in memory only.\n\
                 They are lost.\n"
                    .to_owned()
                    + OBJECT,
                honest(seen),
            ],
            Adversary::ChangesNothing if seen.round > 1 => vec![trusting(seen)],
            Adversary::Amnesiac if seen.round > 1 => {
                let judged = words(seen, |owed| judged(seen, owed));
                vec![judged.clone() + AGREE, judged + OBJECT]
            }
            Adversary::OldKit => vec![old_kit(seen)],
            Adversary::ReRaiser => re_raised(seen),
            Adversary::StubbornPair
            | Adversary::ChangesNothing
            | Adversary::SelfApprover
            | Adversary::Amnesiac => vec![honest(seen)],
        }
    }

    /// The moves that the proposer tries in turn. `slipped`: whether it has put an unread version into
    /// a RESOLUTION before.
    pub fn answers(self, seen: &Seen, slipped: &mut bool) -> Vec<ProposerMove> {
        match self {
            Adversary::StubbornPair if seen.rulings == 0 => {
                vec![ProposerMove::Claim(rejected(seen), None), ProposerMove::Appeal]
            }
            Adversary::ChangesNothing if wants_to_respond(seen) => {
                let accepted = |cite: &str| {
                    topics(seen, |id, _| format!("### {id} [accepted] Done. {cite}\n"))
                };
                let revised = format!("{}\nRevised.\n", seen.plan);
                vec![
                    ProposerMove::Claim(accepted(""), None),
                    ProposerMove::Claim(accepted("{cite}"), Some(revised)),
                ]
            }
            Adversary::SelfApprover if seen.action != "align_to_ruling" => {
                let agreed = seen.newest.contains("[agree]") && !*slipped;
                *slipped |= agreed;
                let spoiled = agreed.then(|| seen.plan.replace(DEFECTS[1].mended, DEFECTS[1].line));
                vec![ProposerMove::Complete(spoiled), response(seen, usize::MAX)]
            }
            Adversary::Amnesiac if wants_to_respond(seen) => vec![response(seen, 1)],
            _ => vec![best_move(seen)],
        }
    }
}

const AGREE: &str = "### VERDICT [agree]\nNothing is left.\n";
const OBJECT: &str = "### VERDICT [object]\nNot yet.\n";
const LOOKED: &str = "We have looked.\n";

fn new(severity: &str, title: &str, quote: &str) -> String {
    format!("### NEW [{severity}] {title}\n> {quote}\nIt will fail.\n")
}

fn stands(seen: &Seen, title: &str) -> bool {
    DEFECTS.iter().any(|defect| defect.title == title && seen.plan.contains(defect.line))
}

fn defects() -> String {
    DEFECTS.iter().map(|defect| new("major", defect.title, defect.line)).collect()
}

/// The defects as points, in the first round.
fn opening(seen: &Seen) -> String {
    if seen.round == 1 { defects() } else { String::new() }
}

/// A word on each point that the role owes one.
fn words(seen: &Seen, word: impl Fn(&Owed) -> &'static str) -> String {
    let owed = seen.owed.iter().flatten();
    owed.map(|owed| format!("### {} [{}] I looked.\n", owed.id, word(owed))).collect()
}

fn judged(seen: &Seen, owed: &Owed) -> &'static str {
    if stands(seen, &owed.title) { "open" } else { "resolved" }
}

/// An opponent that reads, raises what is wrong, and agrees when nothing is.
fn honest(seen: &Seen) -> String {
    let knows_points = seen.owed.is_some();
    let standing = DEFECTS.iter().filter(|defect| seen.plan.contains(defect.line));
    let points: String = standing
        .filter(|defect| !knows_points || !seen.live.iter().any(|(_, title)| title == defect.title))
        .map(|defect| new("major", defect.title, defect.line))
        .collect();
    let is_sound = DEFECTS.iter().all(|defect| !seen.plan.contains(defect.line));
    points + &words(seen, |owed| judged(seen, owed)) + if is_sound { AGREE } else { OBJECT }
}

/// An opponent that takes the proposer's word, unless the server says that nothing has changed.
fn trusting(seen: &Seen) -> String {
    let doubts = |owed: &Owed| owed.unchanged || owed.state != "accepted";
    let doubted = seen.owed.iter().flatten().any(doubts);
    words(seen, |owed| if doubts(owed) { "open" } else { "resolved" })
        + if doubted { OBJECT } else { AGREE }
}

/// The defects, then new points about sound text in every round.
fn flood(seen: &Seen, severity: &str, many: usize) -> String {
    let noise = (0..many).map(|nth| {
        new(severity, &format!("Doubt {nth} of round {}", seen.round), SOUND[nth % SOUND.len()])
    });
    opening(seen) + &noise.collect::<String>() + OBJECT
}

fn old_kit(seen: &Seen) -> String {
    let standing = DEFECTS.iter().enumerate().filter(|(_, defect)| stands(seen, defect.title));
    let issues: String = standing
        .map(|(nth, it)| format!("### C{}: {}\n**Place:** the plan\n", nth + 1, it.title))
        .collect();
    let verdict = if issues.is_empty() { "I agree." } else { "It does not hold." };
    format!("## Verdict\n{verdict}\n## Issues\n{issues}")
}

/// Holds a wrong point until a RULING dismisses it, and raises it again after that.
fn re_raised(seen: &Seen) -> Vec<String> {
    const WRONG: &str = "One hour is too long";
    let again = new("major", WRONG, SOUND[0]);
    let word = |owed: &Owed| if owed.title == WRONG { "open" } else { judged(seen, owed) };
    let words = words(seen, word);
    match (seen.round, &seen.owed) {
        (1, _) => vec![opening(seen) + &again + OBJECT],
        (_, Some(_)) if seen.rulings == 0 => vec![words + OBJECT],
        (_, Some(_)) => {
            let anyway = "### P3 [open] I still think so.\n".to_owned();
            vec![anyway + OBJECT, words + &again + OBJECT]
        }
        (_, None) => vec![again + OBJECT],
    }
}

/// What the newest CLAIM is about: the points that the proposer owes an answer, or the headings.
fn topics(seen: &Seen, line: impl Fn(&str, &str) -> String) -> String {
    let lines: String = subjects(seen).iter().map(|(id, title)| line(id, title)).collect();
    format!("{LOOKED}{lines}")
}

fn subjects(seen: &Seen) -> Vec<(String, String)> {
    let owed: Vec<(String, String)> =
        seen.owed.iter().flatten().map(|owed| (owed.id.clone(), owed.title.clone())).collect();
    if !owed.is_empty() {
        return owed;
    }
    let heading = |line: &str| {
        let text = line.strip_prefix("### ")?;
        let (_, title) = text
            .split_once("] ")
            .filter(|_| text.starts_with("NEW"))
            .or_else(|| text.split_once(": "))?;
        Some(title.to_owned())
    };
    let numbered = seen.newest.lines().filter_map(heading).enumerate();
    // In a debate with points, what is no point has no number either.
    let name = |nth: usize| if seen.owed.is_some() { format!("C{nth}") } else { format!("P{nth}") };
    numbered.map(|(nth, title)| (name(nth + 1), title)).collect()
}

fn rejected(seen: &Seen) -> String {
    topics(seen, |id, _| format!("### {id} [rejected] It is right as it is.\n"))
}

/// A CLAIM that mends what is wrong, and rejects the rest, about the first subjects.
fn response(seen: &Seen, most: usize) -> ProposerMove {
    let mut plan = seen.plan.clone();
    let mut text = LOOKED.to_owned();
    for (id, title) in subjects(seen).iter().take(most) {
        let defect = DEFECTS.iter().find(|it| it.title == title && seen.plan.contains(it.line));
        match defect {
            Some(defect) => {
                plan = plan.replace(defect.line, defect.mended);
                text.push_str(&format!("### {id} [accepted] Mended. {{cite}}\n"));
            }
            None => text.push_str(&format!("### {id} [rejected] It is right as it is.\n")),
        }
    }
    let revised = (plan != seen.plan).then_some(plan);
    ProposerMove::Claim(text, revised)
}

/// Whether the kit's proposer would answer with a CLAIM.
fn wants_to_respond(seen: &Seen) -> bool {
    matches!(best_move(seen), ProposerMove::Claim(..))
}

/// The move of a proposer that follows the kit.
fn best_move(seen: &Seen) -> ProposerMove {
    if seen.action == "align_to_ruling" {
        return response(seen, usize::MAX);
    }
    let agreed = seen.newest.contains("[agree]") || seen.newest.contains("I agree");
    let repeated = |title: &String| seen.raised.iter().filter(|it| *it == title).count() > 2;
    match seen.advice.as_deref() {
        Some("appeal") => ProposerMove::Appeal,
        Some("request_completion") => ProposerMove::Complete(None),
        Some(_) if subjects(seen).is_empty() => ProposerMove::Complete(None),
        None if agreed => ProposerMove::Complete(None),
        // The kit's rule without points: the same for three rounds goes to the arbitrator.
        None if seen.raised.iter().any(repeated) => ProposerMove::Appeal,
        _ => response(seen, usize::MAX),
    }
}
