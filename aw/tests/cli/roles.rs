//! `AW_ROLE` holds an agent to its role, by command and by tool, where no token does.

use serde_json::{Value, json};

use super::aw::{Aw, Ran};
use crate::kit::mcp_process::McpProcess;
use crate::world::text;

/// A debate that waits for the opponent, and its motion.
fn opened(aw: &Aw) -> (String, String) {
    aw.opens("T", "Motion", &[])
}

/// Runs `aw` as an agent that is held to a role.
fn held(aw: &Aw, role: &str, arguments: &[&str]) -> Ran {
    let mut line = format!("AW_ROLE={role} aw");
    for word in arguments {
        line.push_str(&format!(" '{word}'"));
    }
    aw.sh(&line)
}

#[track_caller]
fn forbidden(ran: &Ran) -> Value {
    let refused = ran.refused(6, "FORBIDDEN");
    assert_eq!(refused["metadata"]["reason"], "role", "{refused}");
    refused
}

#[test]
fn a_role_that_is_set_cannot_make_the_moves_of_others() {
    let aw = Aw::new();
    let (debate, motion) = opened(&aw);
    let on = ["--debate-id", &debate];
    let to = ["--target-id", &motion, "--content", "x"];
    let moves: [(&[&str], &[&str]); 6] = [
        (&["debate", "submit", "--role", "proposer"], &["proposer"]),
        (&["debate", "submit", "--role", "opponent"], &["opponent"]),
        (&["debate", "appeal"], &["proposer"]),
        (&["debate", "request-completion"], &["proposer"]),
        (&["debate", "ruling", "--close"], &["arbitrator"]),
        (&["debate", "ruling"], &["arbitrator"]),
    ];
    for (command, theirs) in moves {
        for role in ["proposer", "opponent", "arbitrator"] {
            if theirs.contains(&role) {
                continue;
            }
            let refused = forbidden(&held(&aw, role, &[command, &on, &to].concat()));
            let next = text(&refused["metadata"]["next_command"]);
            assert!(next.contains(&debate) && next.contains(&format!("--role {role}")), "{next}");
            assert!(text(&refused["error"]["message"]).contains(role), "{refused}");
            // The next step is one that the role may take.
            assert_eq!(aw.sh(&format!("AW_ROLE={role} {next}")).code, 0, "{next}");
        }
    }
    for (role, command) in [
        (
            "opponent",
            &["debate", "create", "--title", "T", "--type", "general_debate", "--content", "M"][..],
        ),
        ("opponent", &["docs", "create", "--summary", "S", "--content", "D"]),
        ("arbitrator", &["docs", "create", "--summary", "S", "--content", "D"]),
        ("opponent", &["debate", "intervention", "--debate-id", &debate]),
        ("proposer", &["debate", "delete", "--confirm", "--debate-id", &debate]),
        ("proposer", &["token", "create", "--role", "arbitrator"]),
        ("arbitrator", &["server", "stop"]),
        ("opponent", &["agent", "install", "codex"]),
    ] {
        forbidden(&held(&aw, role, command));
    }
    let context = aw.quietly(&["debate", "get-context", "--debate-id", &debate]).data();
    assert_eq!(context["arguments"], json!([]), "nothing was written");
    assert_eq!(aw.quietly(&["debate", "list"]).ok()["total_count"], 1);
}

#[test]
fn no_advice_names_another_role() {
    let aw = Aw::new();
    let (debate, motion) = opened(&aw);
    for command in [
        &["debate", "wait", "--role", "proposer", "--argument-id", &motion, "--debate-id", &debate]
            [..],
        &["debate", "get-context", "--role", "proposer", "--debate-id", &debate],
    ] {
        let refused = forbidden(&held(&aw, "opponent", command));
        assert!(!refused.to_string().contains("--role proposer"), "{refused}");
    }
    let pending = ["debate", "list", "--pending-first-opponent"];
    let next = |role: &str| held(&aw, role, &pending).ok()["metadata"]["next_command"].clone();
    assert!(text(&next("opponent")).contains("--role opponent"));
    assert_eq!(next("proposer"), Value::Null);
}

#[test]
fn a_role_that_is_set_can_make_all_its_own_moves() {
    let aw = Aw::new();
    let (debate, motion) = opened(&aw);
    let on = ["--debate-id", &debate, "--role", "opponent"];
    held(&aw, "opponent", &[&["debate", "get-context"], &on[..]].concat()).ok();
    let answer = ["--target-id", &motion, "--content", "No"];
    held(&aw, "opponent", &[&["debate", "submit"], &on[..], &answer].concat()).ok();
    held(&aw, "opponent", &["debate", "list"]).ok();
    held(&aw, "opponent", &["docs", "list"]).ok();
    held(&aw, "opponent", &["doctor"]).ok();
    assert_eq!(held(&aw, "opponent", &["agent", "show", "opponent"]).code, 0);
    // An empty one is none.
    let (appeal, answered) = (["debate", "appeal", "--content", "x"], ["--target-id", &motion]);
    held(&aw, "", &[&appeal[..], &answered, &["--debate-id", &debate]].concat()).ok();
}

#[test]
fn a_role_that_does_not_exist_is_refused_by_every_command() {
    let aw = Aw::new();
    for role in ["king", "Opponent", "proposer opponent"] {
        let line = format!("AW_ROLE='{role}' aw debate list");
        let refused = aw.sh(&line).refused(4, "INVALID_INPUT");
        assert!(text(&refused["error"]["message"]).contains("AW_ROLE"), "{refused}");
    }
    let odd = aw.sh("AW_ROLE=\"$(printf 'opponent\\377')\" aw debate list");
    odd.refused(4, "INVALID_INPUT");
    let tools = aw.sh("AW_ROLE=king aw mcp </dev/null");
    assert_eq!(tools.code, 4, "{tools:?}");
    assert!(tools.stderr.contains("AW_ROLE"), "{tools:?}");
    let other = aw.sh("AW_ROLE=opponent aw mcp --role arbitrator </dev/null");
    assert_eq!(other.code, 6, "{other:?}");
}

#[test]
fn tools_are_held_to_the_role_that_is_set_too() {
    let aw = Aw::new().set("AW_ROLE", "opponent");
    let mut tools = McpProcess::begin(&aw, &[]);
    let offered = tools.tools();
    assert!(offered.contains(&"debate_submit".to_owned()), "{offered:?}");
    let moves = ["debate_create", "debate_appeal", "debate_ruling", "docs_create"];
    for tool in moves {
        assert!(!offered.contains(&tool.to_owned()), "{offered:?}");
        let refused = tools.ask("tools/call", &json!({"name": tool, "arguments": {}}));
        let error = &refused["structuredContent"]["error"];
        assert_eq!(
            (&error["code"], &error["reason"]),
            (&json!("FORBIDDEN"), &json!("role")),
            "{refused}"
        );
    }
    for tool in ["debate_submit", "debate_wait", "debate_get_context"] {
        let id = "93d81b1a-0e66-4510-abfd-aa33b26cb82e";
        let given = json!({"debate_id": id, "role": "proposer"});
        let refused = tools.ask("tools/call", &json!({"name": tool, "arguments": given}));
        assert_eq!(refused["structuredContent"]["error"]["code"], "FORBIDDEN", "{refused}");
    }
}

#[test]
fn the_text_of_an_agent_is_labelled_with_its_program() {
    let aw = Aw::new();
    let (debate, motion) = opened(&aw);
    let submit = format!(
        "aw debate submit --debate-id {debate} --role opponent --target-id {motion} --content No --full"
    );
    let written = aw.sh(&format!("GEMINI_CLI=1 {submit}"));
    assert_eq!(written.data()["argument"]["author"], "Gemini CLI");
    let aw = Aw::new();
    let mut tools = McpProcess::of(&aw, "codex-mcp-client", &[]);
    let motion = json!({"title": "T", "type": "general_debate", "content": "M"});
    let debate = text(&tools.call("debate_create", &motion)["debate_id"]);
    let context = aw.quietly(&["debate", "get-context", "--debate-id", &debate, "--full"]).data();
    assert_eq!(context["motion"]["author"], "Codex");
}

#[test]
fn gemini_cli_is_offered_no_prompts_that_have_the_names_of_skills() {
    let aw = Aw::new();
    let prompts = |client: &str| {
        let listed = McpProcess::of(&aw, client, &[]).ask("prompts/list", &json!({}));
        listed["prompts"].as_array().unwrap().len()
    };
    assert_eq!(prompts("gemini-cli-mcp-client"), 0);
    assert_eq!(prompts("claude-code"), 3);
}
