//! What to run next: every command that an answer suggests is run, as it is printed, by a shell.

use std::fs;

use serde_json::Value;

use super::aw::{Aw, Ran};
use crate::world::{new_id, text};

/// Where an agent's own text goes.
const PLACEHOLDER: &str = "YOUR_TEXT.md";

/// A debate in which each role runs the command that its last answer advised.
struct Agents {
    aw: Aw,
    debate: String,
    flags: Vec<&'static str>,
}

impl Agents {
    fn new(flags: &[&'static str]) -> Self {
        Agents { aw: Aw::new(), debate: new_id(), flags: flags.to_vec() }
    }

    fn create(&self) -> Ran {
        let title = "It's \"our\" $PLAN; rm -rf `pwd` \\ \u{1f642}";
        self.debate(
            "create",
            &["--title", title, "--type", "general_debate", "--content", "So\nbe it."],
        )
    }

    fn debate(&self, command: &str, rest: &[&str]) -> Ran {
        let mut all = vec!["debate", command, "--debate-id", &self.debate];
        all.extend_from_slice(rest);
        all.extend_from_slice(&self.flags);
        self.aw.quietly(&all)
    }

    fn arguments(&self) -> Vec<Value> {
        let data = self
            .aw
            .quietly(&["debate", "get-context", "--debate-id", &self.debate, "--limit", "100"])
            .data();
        data["arguments"].as_array().unwrap().clone()
    }

    /// Runs a suggested command: as it is, which posts nothing when it has the placeholder, and
    /// then with this text in the place of the placeholder.
    fn follow(&self, line: &str, words: &str) -> Ran {
        if line.contains(PLACEHOLDER) {
            let before = self.arguments().len();
            let literal = self.aw.sh(line);
            literal.refused(4, "FILE_NOT_FOUND");
            assert_eq!(self.arguments().len(), before, "{line} has posted something");
            self.aw.file(PLACEHOLDER, words);
        }
        let ran = self.aw.sh(line);
        let _ = fs::remove_file(self.aw.desk().join(PLACEHOLDER));
        ran.ok();
        ran
    }

    /// The next command of an answer must be this one, for this role or target.
    #[track_caller]
    fn expect(&self, ran: &Ran, command: &str, flags: &[(&str, &str)]) -> String {
        let line = ran.next();
        let mut meant = format!("aw debate {command} --debate-id {}", self.debate);
        for (name, value) in flags {
            meant.push_str(&format!(" {name} {value}"));
        }
        for flag in &self.flags {
            meant.push_str(&format!(" {flag}"));
        }
        assert_eq!(line, meant, "{}", ran.typed);
        line
    }
}

/// A whole debate in which every line that is printed is run, the table of `cli.md` row by row.
fn every_line_works(flags: &[&'static str]) {
    let agents = Agents::new(flags);
    let file = ("--file", PLACEHOLDER);

    // create: the proposer waits.
    let created = agents.create();
    let motion = created.argument();
    let line =
        agents.expect(&created, "wait", &[("--role", "proposer"), ("--argument-id", &motion)]);
    // timeout: the same again, counted.
    let waited = agents.aw.sh(&line);
    let data = waited.data();
    assert_eq!(data["status"], "timeout");
    assert_eq!(data["last_argument_id"], *motion);
    let again = [("--role", "proposer"), ("--argument-id", &motion), ("--attempt", "2")];
    assert_eq!(data["retry_command"], *agents.expect(&waited, "wait", &again));

    // get-context --role says what wait would say, for each of the roles.
    for (role, action) in
        [("opponent", "respond"), ("proposer", "wait_for_opponent"), ("arbitrator", "wait")]
    {
        let read = agents.debate("get-context", &["--role", role]);
        assert_eq!(read.data()["action"], action);
        if role == "opponent" {
            let waited = agents.debate("wait", &["--role", role]);
            assert_eq!(read.next(), waited.next());
            assert_eq!(
                read.data()["next_argument_id_to_wait"],
                waited.data()["next_argument_id_to_wait"]
            );
        } else {
            let wait = [("--role", role), ("--argument-id", motion.as_str())];
            let line = agents.expect(&read, "wait", &wait);
            assert_eq!(agents.aw.sh(&line).data()["status"], "timeout");
        }
    }

    // wait: respond, without alternatives for the opponent.
    let asked = agents.debate("wait", &["--role", "opponent"]);
    assert!(asked.ok()["metadata"]["alternatives"].is_null());
    let line =
        agents.expect(&asked, "submit", &[("--role", "opponent"), ("--target-id", &motion), file]);
    let claimed = agents.follow(&line, "Why 'that'?\n");
    let claim = claimed.argument();
    agents.expect(&claimed, "wait", &[("--role", "opponent"), ("--argument-id", &claim)]);

    // ACTION_NOT_ALLOWED: wait.
    let early = agents
        .debate("submit", &["--role", "opponent", "--target-id", &claim, "--content", "And?"]);
    early.refused(5, "ACTION_NOT_ALLOWED");
    let line = agents.expect(&early, "wait", &[("--role", "opponent"), ("--argument-id", &claim)]);
    agents.aw.sh(&line).ok();

    // wait: respond, with alternatives for the proposer; the claim is the target of each.
    let asked = agents.aw.sh(&created.next());
    let others = alternatives(&asked);
    assert_eq!(others.len(), 2);
    assert!(others.iter().all(|line| line.contains(&claim)), "{others:?}");
    let line =
        agents.expect(&asked, "submit", &[("--role", "proposer"), ("--target-id", &claim), file]);
    let answered = agents.follow(&line, "Because.");
    agents.expect(
        &answered,
        "wait",
        &[("--role", "proposer"), ("--argument-id", &answered.argument())],
    );
    let woken = agents.aw.sh(&claimed.next());
    let replied = agents.follow(&woken.next(), "That is no reason.");

    // The first alternative is the appeal.
    let asked = agents.aw.sh(&answered.next());
    let appealed = agents.follow(&alternatives(&asked)[0], "A or B?");
    assert_eq!(appealed.data()["argument_type"], "APPEAL");
    let appeal = appealed.argument();
    agents.expect(&appealed, "wait", &[("--role", "proposer"), ("--argument-id", &appeal)]);

    // wait: wait_for_ruling, with the new id.
    let waited = agents.aw.sh(&replied.next());
    assert_eq!(waited.data()["action"], "wait_for_ruling");
    let counted = |id| [("--role", "opponent"), ("--argument-id", id), ("--attempt", "2")];
    let line = agents.expect(&waited, "wait", &counted(&appeal));
    assert_eq!(agents.aw.sh(&line).data()["status"], "timeout");

    // wait: rule.
    let called = agents.debate("wait", &["--role", "arbitrator"]);
    assert_eq!(called.data()["action"], "rule");
    let line = agents.expect(&called, "ruling", &[("--target-id", &appeal), file]);
    let ruled = agents.follow(&line, "B.");
    let ruling = ruled.argument();
    agents.expect(&ruled, "wait", &[("--role", "arbitrator"), ("--argument-id", &ruling)]);
    let idle = agents.aw.sh(&ruled.next());
    assert_eq!(idle.data()["action"], "wait");
    let again = [("--role", "arbitrator"), ("--argument-id", &ruling), ("--attempt", "2")];
    agents.expect(&idle, "wait", &again);

    // wait: wait_for_proposer for one, align_to_ruling for the other.
    let waited = agents.aw.sh(&waited.next());
    assert_eq!(waited.data()["action"], "wait_for_proposer");
    let again = [("--role", "opponent"), ("--argument-id", &ruling), ("--attempt", "3")];
    agents.expect(&waited, "wait", &again);
    let waited = agents.aw.sh(&appealed.next());
    assert_eq!(waited.data()["action"], "align_to_ruling");
    agents.expect(&waited, "submit", &[("--role", "proposer"), ("--target-id", &ruling), file]);

    // intervention: the ruling that is owed; meanwhile the proposer's claim is parked.
    let stopped = agents.debate("intervention", &[]);
    let intervention = stopped.argument();
    let line = agents.expect(&stopped, "ruling", &[("--target-id", &intervention), file]);
    let parked = agents.follow(&waited.next(), "B it is.");
    assert_eq!(parked.data()["parked"], true);
    agents.expect(&parked, "wait", &[("--role", "proposer"), ("--argument-id", &intervention)]);
    agents.follow(&line, "Mind the cost.");

    // The parked claim's wait leads to the ruling; its second alternative closes the debate.
    let waited = agents.aw.sh(&parked.next());
    assert_eq!(waited.data()["action"], "align_to_ruling");
    let resolved = agents.follow(&alternatives(&waited)[1], "B, and cheap.");
    assert_eq!(resolved.data()["debate_state"], "CLOSED");
    assert_eq!(resolved.data()["action"], "debate_closed");

    // debate_closed: the report, and never a wait.
    let result = format!("aw debate result --debate-id {}", agents.debate);
    assert_eq!(resolved.next(), result);
    assert!(agents.aw.sh(&result).stdout.contains("Completed on "));
    for ran in [
        agents.debate("wait", &["--role", "proposer"]),
        agents.debate("wait", &["--role", "opponent"]),
        agents.debate("wait", &["--role", "arbitrator"]),
        agents.debate("get-context", &["--role", "opponent"]),
    ] {
        let whole = ran.ok();
        assert_eq!(whole["content"][0]["data"]["action"], "debate_closed");
        assert_eq!(whole["metadata"]["next_command"], *result, "{whole}");
        assert!(whole["metadata"]["alternatives"].is_null(), "{whole}");
    }
    let late = agents
        .debate("submit", &["--role", "opponent", "--target-id", &ruling, "--content", "But"]);
    late.refused(5, "ACTION_NOT_ALLOWED");
    assert_eq!(late.next(), result);
}

fn alternatives(ran: &Ran) -> Vec<String> {
    let whole = ran.ok();
    let lines = whole["metadata"]["alternatives"].as_array().expect("there are alternatives");
    lines.iter().map(text).collect()
}

#[test]
fn every_line_that_is_printed_works_in_a_whole_debate() {
    every_line_works(&["--deadline", "0"]);
}

#[test]
fn no_two_of_many_waits_are_the_same_line() {
    let agents = Agents::new(&["--deadline", "0"]);
    let mut lines = vec![agents.create().next()];
    for _ in 0..22 {
        let waited = agents.aw.sh(lines.last().unwrap());
        assert_eq!(waited.data()["status"], "timeout");
        assert_eq!(waited.data()["retry_command"], waited.next());
        lines.push(waited.next());
    }
    let last = lines.last().unwrap();
    assert!(last.ends_with(" --attempt 23 --deadline 0"), "{last}");
    let mut different = lines.clone();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), lines.len(), "{lines:?}");
    // Another command starts the count anew.
    let read = agents.debate("get-context", &["--role", "proposer"]);
    assert_eq!(read.next(), lines[0]);
}

#[test]
fn lines_repeat_deadline_and_format_as_given() {
    let aw = Aw::new();
    let debate = new_id();
    let flags = ["--deadline", "0.05", "--format", "markdown"];
    let run = |command: &str, rest: &[&str]| {
        let mut all = vec!["debate", command, "--debate-id", &debate];
        all.extend_from_slice(rest);
        all.extend(flags);
        aw.quietly(&all)
    };
    let printed = |ran: &Ran| {
        // A refusal is words for people, on stderr.
        let mut lines = ran.stdout.lines().chain(ran.stderr.lines());
        let next = lines.find_map(|line| line.strip_prefix("Next: "));
        next.unwrap_or_else(|| panic!("{ran:?}")).to_owned()
    };
    let repeated = |ran: &Ran| {
        let line = printed(ran);
        assert!(line.ends_with(" --deadline 0.05 --format markdown"), "{line}");
        line
    };
    let created = run("create", &["-t", "T", "--type", "general_debate", "--content", "c"]);
    let waited = aw.sh(&repeated(&created));
    repeated(&waited);
    let read = run("get-context", &["--role", "opponent"]);
    aw.file(PLACEHOLDER, "A claim.");
    let claimed = aw.sh(&repeated(&read));
    repeated(&claimed);
    let stopped = run("intervention", &[]);
    let ruled = aw.sh(&repeated(&stopped));
    repeated(&ruled);
    let waited = run("wait", &["--role", "proposer"]);
    repeated(&waited);
    let others: Vec<&str> =
        waited.stdout.lines().filter_map(|line| line.strip_prefix("  or: ")).collect();
    assert_eq!(others.len(), 2, "{}", waited.stdout);
    assert!(others.iter().all(|line| line.ends_with("--deadline 0.05 --format markdown")));
    let refused = run("ruling", &["--content", "Once more."]);
    assert_eq!(refused.code, 5);
    repeated(&refused);
}

#[test]
fn a_list_is_walked_by_its_next_command() {
    let aw = Aw::new();
    for number in 0..3 {
        let title = format!("It's \"plan\" $number {number}");
        aw.opens(&title, "c", &[]);
        aw.quietly(&["docs", "create", "--summary", &title, "--content", "c"]).ok();
    }
    let listed = aw.quietly(&["docs", "list", "--limit", "1"]).data();
    let document = text(&listed["documents"][0]["document_id"]);
    for more in ["d", "e"] {
        aw.quietly(&["docs", "submit", &document, "--summary", "More", "--content", more]).ok();
    }
    let search = "It's \"plan\" $number";
    for (rows, first) in [
        ("debates", &["debate", "list", "--search", search, "--pending-first-opponent"][..]),
        ("documents", &["docs", "list", "--include-deleted"]),
        ("versions", &["docs", "history", &document]),
    ] {
        let mut ran = aw.quietly(&[first, &["--limit", "1"]].concat());
        let mut seen = Vec::new();
        loop {
            let whole = ran.ok();
            seen.extend(whole["content"][0]["data"][rows].as_array().unwrap().clone());
            assert_eq!(whole["total_count"], 3, "{whole}");
            assert_eq!(whole["has_more"] == true, seen.len() < 3, "{whole}");
            assert_eq!(whole["metadata"]["next_command"].is_string(), seen.len() < 3, "{whole}");
            if seen.len() == 3 {
                break;
            }
            ran = aw.sh(&ran.next());
        }
        seen.dedup();
        assert_eq!(seen.len(), 3, "{rows}");
    }
}

#[test]
fn a_flag_that_the_advised_line_has_already_may_be_added_again() {
    let aw = Aw::new();
    let (debate, motion) = aw.opens("T", "c", &[]);
    let claim = format!("debate submit --debate-id {debate} --role opponent --target-id {motion}");
    let flags = "--content No. --wait --deadline 100 --wait --deadline 0";
    let waited = aw.sh(&format!("aw {claim} {flags}"));
    let line = waited.next();
    assert!(line.ends_with(" --attempt 2 --deadline 0"), "the last one counts: {line}");
    let again = aw.sh(&format!("{line} --attempt 3 --deadline 0")).next();
    assert!(again.ends_with(" --attempt 4 --deadline 0"), "{again}");
}
