//! Every `aw debate` command in a whole debate, as agents read it and as people do.

use super::aw::{Aw, Ran};
use crate::world::{new_id, text};

/// A debate whose commands and answers go into the transcript.
struct Table {
    aw: Aw,
    format: &'static str,
    debate: String,
}

impl Table {
    /// A debate that was created in this format.
    fn set(format: &'static str) -> Self {
        let table = Table { aw: Aw::new(), format, debate: new_id() };
        table.aw.call_it("DEBATE", &table.debate);
        table.aw.file("motion.md", "# Keep one SQLite file\n\nIt is enough for *one* machine.\n");
        let title = ["--title", "Keep one SQLite file?", "--type", "coding_plan_debate"];
        let text = ["--file", "motion.md", "--author", "codex 0.166"];
        let create = ["create", "--debate-id", table.debate.as_str()];
        table.run(&[&create[..], &title, &text].concat());
        table.newest("MOTION");
        table
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let mut all = vec!["debate"];
        all.extend_from_slice(arguments);
        if self.format != "json" {
            all.extend(["--format", self.format]);
        }
        let ran = self.aw.run(&all);
        assert_eq!(ran.stderr, "", "{ran:?}");
        ran
    }

    /// The same about this debate.
    fn on(&self, command: &str, arguments: &[&str]) -> Ran {
        let mut all = vec![command, "--debate-id", &self.debate];
        all.extend_from_slice(arguments);
        self.run(&all)
    }

    fn submit(&self, role: &str, target: &str, content: &str) {
        self.on("submit", &["--role", role, "--target-id", target, "--content", content]);
    }

    /// The id of the newest argument, which the transcript calls so from now on.
    fn newest(&self, name: &str) -> String {
        let read = ["debate", "get-context", "--debate-id", &self.debate, "--limit", "1"];
        let data = self.aw.quietly(&read).data();
        let newest = data["arguments"].get(0).unwrap_or(&data["motion"]);
        let id = text(&newest["id"]);
        self.aw.call_it(name, &id);
        id
    }
}

/// From the motion to a resolution that closes it. People read the same in the tutorials, which are run.
#[test]
fn a_debate_is_held_in_json() {
    let table = Table::set("json");
    let motion = table.newest("MOTION");

    table.on("get-context", &[]);
    table.on("get-context", &["--role", "opponent", "--limit", "5"]);
    table.on("wait", &["--role", "proposer", "--argument-id", &motion, "--deadline", "0"]);
    table.on("wait", &["--role", "opponent"]);
    table.aw.transcript("debate_json_begins");
    let nothing = ["--role", "proposer", "--argument-id", &motion, "--deadline", "0"];
    let on = ["debate", "wait", "--debate-id", &table.debate, "--format", "markdown"];
    let waited = table.aw.quietly(&[&on, &nothing[..]].concat());
    assert!(waited.stdout.starts_with("No response after 0s. Still waiting"), "{waited:?}");

    table.submit("opponent", &motion, "Two machines will fight over it.");
    let claim = table.newest("CLAIM");
    table.on("wait", &["--role", "proposer", "--argument-id", &motion]);
    table.submit("proposer", &claim, "There is one machine.");
    let answer = table.newest("ANSWER");
    table.on("wait", &["--role", "opponent", "--argument-id", &claim, "--deadline", "1"]);
    table.submit("opponent", &answer, "For how long?");
    let question = table.newest("QUESTION");
    table.aw.transcript("debate_json_goes_back_and_forth");

    table.on("wait", &["--role", "arbitrator", "--deadline", "0"]);
    table.on(
        "appeal",
        &["--target-id", &question, "--content", "A: one file. B: Postgres. C: something else."],
    );
    let appeal = table.newest("APPEAL");
    table.on("wait", &["--role", "opponent", "--argument-id", &question]);
    table.on("wait", &["--role", "arbitrator"]);
    table.on(
        "ruling",
        &["--target-id", &appeal, "--content", "A, until there is a second machine."],
    );
    table.newest("RULING");
    table.on("wait", &["--role", "proposer", "--argument-id", &appeal]);
    table.on("wait", &["--role", "opponent", "--argument-id", &appeal]);
    table.aw.transcript("debate_json_is_appealed_and_ruled_on");

    table.on("intervention", &["--content", "Think of the backups."]);
    let intervention = table.newest("INTERVENTION");
    table.submit("proposer", &appeal, "As ruled: one file.");
    table.newest("PARKED");
    table.on("ruling", &["--content", "Backups every night."]);
    let second = table.newest("RULING_2");
    table.on("wait", &["--role", "proposer", "--argument-id", &intervention, "--deadline", "1"]);
    table.on(
        "request-completion",
        &["--target-id", &second, "--content", "One file, with backups every night."],
    );
    table.newest("CLOSING");
    table.on("wait", &["--role", "opponent", "--argument-id", &second]);
    table.on("get-context", &["--role", "proposer", "--limit", "2"]);
    table.aw.transcript("debate_json_is_interrupted_and_closes");

    table.on("get-context", &["--limit", "4", "--format", "markdown"]);
    table.aw.transcript("debate_markdown_is_read");
}

#[test]
fn a_resolution_may_wait_for_the_arbitrator_who_closes() {
    let aw = Aw::new();
    let typed =
        "debate create -t May? --type general_debate --content Yes --resolution-policy arbitrator";
    let created = aw.run(&typed.split(' ').collect::<Vec<_>>()).data();
    let (debate, motion) = (text(&created["debate_id"]), text(&created["argument_id"]));
    aw.call_it("MADE", &debate);
    aw.call_it("MOTION", &motion);
    let submit = ["debate", "submit", "--debate-id", &debate, "--role", "opponent"];
    let fine = ["--target-id", motion.as_str(), "--content", "Fine."];
    let claim = aw.quietly(&[&submit[..], &fine].concat()).argument();
    aw.call_it("CLAIM", &claim);
    let complete = ["debate", "request-completion", "--debate-id", &debate];
    let agreed = ["--target-id", claim.as_str(), "--content", "Agreed."];
    let asked = aw.run(&[&complete[..], &agreed].concat());
    aw.call_it("RESOLUTION", &asked.argument());
    let ruled =
        aw.run(&["debate", "ruling", "--debate-id", &debate, "--close", "--content", "So be it."]);
    assert_eq!(ruled.ok()["metadata"]["closed"], true);
    aw.run(&["debate", "wait", "--debate-id", &debate, "--role", "arbitrator"]);
    aw.transcript("debate_waits_for_approval");
}

fn debates_are_listed(format: &str) {
    let aw = Aw::new();
    let create = |title: &str, kind: &str| {
        let made = ["debate", "create", "-t", title, "--type", kind, "--content", "Yes."];
        let id = text(&aw.quietly(&made).data()["debate_id"]);
        aw.call_it(&title.to_uppercase().replace(' ', "_"), &id);
        id
    };
    let first = create("First plan", "coding_plan_debate");
    create("Second | plan", "general_debate");
    create("Third", "general_debate");
    aw.quietly(&["debate", "intervention", "--debate-id", &first]);
    for flags in [
        &[][..],
        &["--state", "AWAITING_OPPONENT"],
        &["--type", "general_debate", "--limit", "1"],
        &["-l", "1", "--offset", "2"],
        &["--pending-first-opponent", "--search", "plan"],
        &["--needs-arbitrator"],
        &["--search", "no such"],
    ] {
        let mut all = vec!["debate", "list"];
        all.extend_from_slice(flags);
        all.extend(["--format", format]);
        aw.run(&all);
    }
    aw.transcript(&format!("debate_{format}_lists"));
}

#[test]
fn debates_are_listed_in_json() {
    debates_are_listed("json");
}

#[test]
fn debates_are_listed_in_markdown() {
    debates_are_listed("markdown");
}

#[test]
fn a_debate_is_exported() {
    let Table { aw, debate, .. } = Table::set("json");
    let export = |arguments: &[&str]| {
        aw.run(&[&["debate", "export", "--debate-id", &debate], arguments].concat())
    };
    let markdown = export(&[]).stdout;
    let json = export(&["--format", "json"]).stdout;
    export(&["--output", "debate.md"]);
    assert_eq!(std::fs::read_to_string(aw.desk().join("debate.md")).unwrap(), markdown);
    export(&["--format", "json", "-o", "debate.json"]);
    assert_eq!(std::fs::read_to_string(aw.desk().join("debate.json")).unwrap(), json);
    assert_eq!(export(&["--output", "no/such"]).code, 4);
    aw.transcript("debate_is_exported");
}

#[test]
fn a_debate_is_opened_and_deleted() {
    for format in ["json", "markdown"] {
        let Table { aw, debate, .. } = Table::set(format);
        // Without any folder in PATH there is no browser to be found.
        let aw = aw.without_path();
        let run = |command: &str, more: &[&str]| {
            aw.run(&[&["debate", command, "--format", format], more].concat())
        };
        let on = ["--debate-id", debate.as_str()];
        run("open", &[]);
        run("open", &on);
        assert_eq!(run("delete", &on).code, 4);
        run("delete", &["--debate-id", &debate, "--confirm"]);
        run("get-context", &on);
        aw.transcript(&format!("debate_{format}_is_taken_away"));
    }
}

#[test]
fn an_id_is_made_without_a_server() {
    let aw = Aw::new();
    let ids: Vec<String> =
        (0..2).map(|_| text(&aw.run(&["debate", "generate-id"]).data()["id"])).collect();
    assert_ne!(ids[0], ids[1]);
    aw.run(&["debate", "generate-id", "--format", "markdown"]);
    aw.transcript("generate_id");
    assert!(!aw.home().exists(), "a data folder was made");
}
