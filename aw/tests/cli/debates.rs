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
        table.run(&[
            "create",
            "--debate-id",
            &table.debate,
            "--title",
            "Keep one SQLite file?",
            "--type",
            "coding_plan_debate",
            "--file",
            "motion.md",
            "--author",
            "codex 0.166",
        ]);
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

/// From the motion to a resolution that closes it.
fn a_debate_is_held(format: &'static str) {
    let table = Table::set(format);
    let motion = table.newest("MOTION");
    let name = |part: &str| format!("debate_{format}_{part}");

    table.on("get-context", &[]);
    table.on("get-context", &["--role", "opponent", "--limit", "5"]);
    table.on("wait", &["--role", "proposer", "--argument-id", &motion, "--deadline", "0"]);
    table.on("wait", &["--role", "opponent"]);
    table.aw.transcript(&name("begins"));

    table.on(
        "submit",
        &[
            "--role",
            "opponent",
            "--target-id",
            &motion,
            "--content",
            "Two machines will fight over it.",
        ],
    );
    let claim = table.newest("CLAIM");
    table.on("wait", &["--role", "proposer", "--argument-id", &motion]);
    table.on(
        "submit",
        &["--role", "proposer", "--target-id", &claim, "--content", "There is one machine."],
    );
    let answer = table.newest("ANSWER");
    table.on("wait", &["--role", "opponent", "--argument-id", &claim, "--deadline", "1"]);
    table.on(
        "submit",
        &["--role", "opponent", "--target-id", &answer, "--content", "For how long?"],
    );
    let question = table.newest("QUESTION");
    table.aw.transcript(&name("goes_back_and_forth"));

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
    table.aw.transcript(&name("is_appealed_and_ruled_on"));

    table.on("intervention", &["--content", "Think of the backups."]);
    let intervention = table.newest("INTERVENTION");
    table.on(
        "submit",
        &["--role", "proposer", "--target-id", &appeal, "--content", "As ruled: one file."],
    );
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
    table.aw.transcript(&name("is_interrupted_and_closes"));
}

#[test]
fn a_debate_is_held_in_json() {
    a_debate_is_held("json");
}

#[test]
fn a_debate_is_held_in_markdown() {
    a_debate_is_held("markdown");
}

#[test]
fn a_resolution_may_wait_for_the_arbitrator_who_closes() {
    let aw = Aw::new();
    let created = aw.run(&[
        "debate",
        "create",
        "-t",
        "May we?",
        "--type",
        "general_debate",
        "--content",
        "We may.",
        "--resolution-policy",
        "arbitrator",
    ]);
    let data = created.data();
    let (debate, motion) = (text(&data["debate_id"]), text(&data["argument_id"]));
    aw.call_it("MADE", &debate);
    aw.call_it("MOTION", &motion);
    let claim = aw
        .quietly(&[
            "debate",
            "submit",
            "--debate-id",
            &debate,
            "--role",
            "opponent",
            "--target-id",
            &motion,
            "--content",
            "Fine.",
        ])
        .argument();
    aw.call_it("CLAIM", &claim);
    let asked = aw.run(&[
        "debate",
        "request-completion",
        "--debate-id",
        &debate,
        "--target-id",
        &claim,
        "--content",
        "Agreed.",
    ]);
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
fn a_debate_is_opened_exported_and_deleted() {
    for format in ["json", "markdown"] {
        let Table { aw, debate, .. } = Table::set(format);
        // Without any folder in PATH there is no browser to be found.
        let aw = aw.without_path();
        let run = |arguments: &[&str]| {
            let mut all = vec!["debate", arguments[0], "--debate-id", &debate];
            all.extend_from_slice(&arguments[1..]);
            aw.run(&all)
        };
        aw.run(&["debate", "open", "--format", format]);
        run(&["open", "--format", format]);
        let markdown = run(&["export"]).stdout;
        let json = run(&["export", "--format", "json"]).stdout;
        run(&["export", "--output", "debate.md"]);
        assert_eq!(std::fs::read_to_string(aw.desk().join("debate.md")).unwrap(), markdown);
        run(&["export", "--format", "json", "-o", "debate.json"]);
        assert_eq!(std::fs::read_to_string(aw.desk().join("debate.json")).unwrap(), json);
        assert_eq!(run(&["export", "--output", "no/such"]).code, 4);
        assert_eq!(run(&["delete", "--format", format]).code, 4);
        run(&["delete", "--confirm", "--format", format]);
        run(&["get-context", "--format", format]);
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
