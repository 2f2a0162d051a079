//! The command lines of the texts that agents were given, as they are written there.
//!
//! Each is a line for the shell; `jq` paths are checked on the JSON itself.

use serde_json::Value;

use super::aw::Aw;
use crate::world::text;

/// A shell session with variables, as an agent keeps them.
struct Session {
    aw: Aw,
    variables: Vec<(String, String)>,
}

impl Session {
    fn new() -> Self {
        let aw = Aw::new();
        aw.file("plan.md", "# Plan\n\n1. Keep one file.\n");
        aw.file("response.md", "## Review of Updated Document (v2)\n");
        aw.file("appeal.md", "## Context\n\n1. **Option A**\n2. **Option B**\n");
        Session { aw, variables: Vec::new() }
    }

    fn keep(&mut self, name: &str, value: &str) {
        self.variables.push((format!("<{name}>"), value.to_owned()));
    }

    /// Runs a line with its placeholders filled in; the data of its answer.
    fn run(&self, line: &str) -> Value {
        let mut line = line.to_owned();
        for (name, value) in self.variables.iter().rev() {
            line = line.replace(name, value);
        }
        while line.contains("<UUID>") {
            line = line.replacen("<UUID>", &crate::world::new_id(), 1);
        }
        assert!(!line.contains('<'), "{line}");
        self.aw.sh(&line).data()
    }

    /// The same, keeping the id of what was written; both ways of reading it lead there.
    fn write(&mut self, name: &str, line: &str) -> Value {
        let data = self.run(line);
        let id = text(&data["argument_id"]);
        assert_eq!(data["argument"]["id"], *id, "both spellings");
        assert!(data["argument"].get("content").is_none(), "the text is not sent back");
        self.keep(name, &id);
        data
    }
}

#[test]
fn the_proposer_and_the_opponent_follow_their_texts() {
    let mut shell = Session::new();

    // 001, sections 2 and 11: create.
    let id = text(&shell.run("aw debate generate-id")["id"]);
    shell.keep("DEBATE_ID", &id);
    let document =
        shell.run(r#"aw docs create --file ./plan.md --summary "Implementation Plan v1""#);
    assert_eq!(document["version"], 1);
    shell.keep("DOC_ID", &text(&document["document_id"]));
    let created = shell.write(
        "MOTION_ID",
        r###"aw debate create \
  --debate-id <DEBATE_ID> \
  --title "Review: Implementation Plan for Feature X" \
  --type coding_plan_debate \
  --content "## Request for Review

- **Plan:** document_id=<DOC_ID> (v1)
- Command: aw docs get" \
  --client-request-id <UUID>"###,
    );
    assert_eq!(created["debate"]["state"], "AWAITING_OPPONENT");
    assert_eq!(created["debate"]["debate_type"], "coding_plan_debate");

    // 003, sections 2 and 3: join.
    let context = shell.run("aw debate get-context --debate-id <DEBATE_ID> --limit 20");
    assert_eq!(context["debate"]["state"], "AWAITING_OPPONENT");
    assert_eq!(context["debate"]["debate_type"], "coding_plan_debate");
    assert_eq!(context["motion"]["id"], created["argument_id"]);
    assert!(context["motion"]["content"].as_str().unwrap().contains("Request for Review"));
    assert_eq!(context["documents"][0]["document_id"], document["document_id"]);
    let read = shell.run("aw docs get <DOC_ID>");
    assert_eq!(read["content"], "# Plan\n\n1. Keep one file.\n");
    assert_eq!(read["version"], 1);
    shell.write(
        "CLAIM_ID",
        r###"aw debate submit \
  --debate-id <DEBATE_ID> \
  --role opponent \
  --target-id <MOTION_ID> \
  --content "## Issues Found" \
  --client-request-id <UUID>"###,
    );

    // 001, section 4: process the claim.
    let waited = shell.run(
        "aw debate wait \\\n  --debate-id <DEBATE_ID> \\\n  --argument-id <MOTION_ID> \\\n  --role proposer",
    );
    assert_eq!(waited["action"], "respond");
    assert_eq!(waited["argument"]["type"], "CLAIM");
    assert_eq!(waited["arguments"][0]["content"], "## Issues Found");
    shell.keep("OPPONENT_ARG_ID", &text(&waited["argument"]["id"]));
    shell.aw.file("plan.md", "# Plan\n\n1. Keep two files.\n");
    let submitted = shell
        .run(r#"aw docs submit <DOC_ID> --summary "Updated based on feedback" --file ./plan.md"#);
    assert_eq!(submitted["version"], 2);
    let answered = shell.write(
        "RESPONSE_ID",
        r###"aw debate submit \
  --debate-id <DEBATE_ID> \
  --role proposer \
  --target-id <OPPONENT_ARG_ID> \
  --content "- **document_id=<DOC_ID>:** v1 → **v2**" \
  --client-request-id <UUID>"###,
    );
    assert_eq!(answered["debate_state"], "AWAITING_OPPONENT");

    // 003, section 5: the opponent goes on; 001, section 5: the appeal.
    let woken = shell
        .run("aw debate wait --debate-id <DEBATE_ID> --argument-id <CLAIM_ID> --role opponent");
    assert_eq!(woken["action"], "respond");
    shell.keep("PROPOSER_ARG_ID", &text(&woken["argument"]["id"]));
    shell.write(
        "NEW_ARG_ID",
        r###"aw debate submit --debate-id <DEBATE_ID> --role opponent --target-id <PROPOSER_ARG_ID> --content "..." --client-request-id <UUID>"###,
    );
    shell.write(
        "APPEAL_ID",
        r###"aw debate appeal \
  --debate-id <DEBATE_ID> \
  --target-id <NEW_ARG_ID> \
  --content "## Context" \
  --client-request-id <UUID>"###,
    );
    let waited = shell
        .run("aw debate wait --debate-id <DEBATE_ID> --argument-id <NEW_ARG_ID> --role opponent");
    assert_eq!(
        (&waited["action"], &waited["argument"]["type"]),
        (&"wait_for_ruling".into(), &"APPEAL".into())
    );
    let ruled = shell.write(
        "RULING_ARG_ID",
        r###"aw debate ruling --debate-id <DEBATE_ID> --content "Option A""###,
    );
    assert_eq!(ruled["debate_state"], "AWAITING_PROPOSER");
    let waited = shell
        .run("aw debate wait --debate-id <DEBATE_ID> --argument-id <APPEAL_ID> --role opponent");
    assert_eq!(waited["action"], "wait_for_proposer");
    let waited = shell
        .run("aw debate wait --debate-id <DEBATE_ID> --argument-id <APPEAL_ID> --role proposer");
    assert_eq!(waited["action"], "align_to_ruling");

    // 001, section 6: the end.
    shell.write(
        "RESOLUTION_ID",
        r###"aw debate request-completion \
  --debate-id <DEBATE_ID> \
  --target-id <RULING_ARG_ID> \
  --content "## Summary" \
  --client-request-id <UUID>"###,
    );
    let over = shell.run(
        "aw debate wait --debate-id <DEBATE_ID> --argument-id <RESOLUTION_ID> --role proposer",
    );
    assert_eq!(over["action"], "debate_closed");
    let over = shell.run(
        "aw debate wait --debate-id <DEBATE_ID> --argument-id <RULING_ARG_ID> --role opponent",
    );
    assert_eq!(over["action"], "debate_closed");
}

#[test]
fn the_command_references_hold() {
    let mut shell = Session::new();
    let id = text(&shell.run("aw debate generate-id --format json")["id"]);
    shell.keep("uuid", &id);

    // 004: the other spelling of the type; a pipe.
    let created = shell.write(
        "MOTION",
        r#"cat plan.md | aw debate create --debate-id <uuid> --title "Review implementation plan" --debate-type coding_plan_debate --stdin"#,
    );
    for name in ["id", "title", "debate_type", "state", "created_at", "updated_at"] {
        assert!(created["debate"][name].is_string(), "{name}: {created}");
    }
    for name in ["id", "debate_id", "type", "role", "created_at"] {
        assert!(created["argument"][name].is_string(), "{name}: {created}");
    }
    assert_eq!(created["argument"]["seq"], 1);
    shell.run("aw debate create --debate-id <UUID> -t Short --type general_debate -f ./plan.md");
    shell.run(
        "aw debate create --debate-id <UUID> --title Long --debate-type general_debate --file ./plan.md",
    );

    // 002 and 004: every spelling of the limit.
    for limit in ["--limit 10", "-l 10", "--argument-limit 10", "--limit 20"] {
        let read = shell.run(&format!("aw debate get-context --debate-id <uuid> {limit}"));
        assert_eq!(read["motion"]["seq"], 1);
        assert_eq!(read["arguments"], Value::Array(Vec::new()));
    }
    let first = shell.run("aw debate wait --debate-id <uuid> --role opponent");
    assert_eq!((&first["status"], &first["action"]), (&"new_argument".into(), &"respond".into()));
    shell.write(
        "CLAIM",
        "cat response.md | aw debate submit --debate-id <uuid> --role opponent --target-id <MOTION> --stdin",
    );
    shell.write(
        "ANSWER",
        r###"aw debate submit \
  --debate-id <uuid> \
  --role proposer \
  --target-id <CLAIM> \
  --content "My response...""###,
    );
    shell.write(
        "CLAIM2",
        "aw debate submit --debate-id <uuid> --role opponent --target-id <ANSWER> -f response.md",
    );
    shell.write(
        "APPEAL",
        "cat appeal.md | aw debate appeal --debate-id <uuid> --target-id <CLAIM2> --stdin",
    );
    shell.write("RULING", r###"aw debate ruling --debate-id <uuid> --content "My ruling is...""###);
    shell.write("INTERVENTION", "aw debate intervention --debate-id <uuid>");
    let closed = shell.write(
        "LAST",
        r###"aw debate ruling \
  --debate-id <uuid> \
  --content "My ruling is..." \
  --close  # optional"###,
    );
    assert_eq!(closed["debate_state"], "CLOSED");

    let all = shell.aw.sh("aw debate list").ok();
    assert_eq!((&all["total_count"], &all["has_more"]), (&3.into(), &false.into()));
    let some = shell.aw.sh("aw debate list --state AWAITING_OPPONENT -l 1 --offset 0").ok();
    assert_eq!((&some["total_count"], &some["has_more"]), (&2.into(), &true.into()));
    assert_eq!(some["content"][0]["data"]["debates"][0]["debate_type"], "general_debate");
    shell.run("aw debate list --state AWAITING_PROPOSER --limit 20");
}

#[test]
fn the_polling_interval_of_the_older_program_has_no_effect() {
    for value in ["2", "0", "soon"] {
        let aw = Aw::new().set("DEBATE_POLL_INTERVAL", value);
        aw.quietly(&["debate", "list"]).ok();
    }
}
