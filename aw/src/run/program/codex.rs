//! Codex 0.166: `codex exec --json`.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::reader::{End, Seen, number, session_of, text_of};
use super::{FailureKind, ProgramSession, ProgramSign, StartLine, Tokens, Turn};

/// The agent writes in the copy only, and has no network.
const WORKSPACE: &str = "sandbox_workspace_write={exclude_slash_tmp=true,exclude_tmpdir_env_var=true,\
                         network_access=false,writable_roots=[]}";

/// The command line of a turn.
pub(super) fn line(turn: &Turn) -> StartLine {
    let mut line = StartLine::default();
    line.add(["exec"]);
    if let ProgramSession::Later(thread) = turn.session {
        line.add(["resume", thread]);
    }
    let last = turn.folder.join("last-message.md");
    line.add(["--json", "-o"]);
    line.arguments.push(last.clone().into_os_string());
    line.final_file = Some(last);
    line.add(["--skip-git-repo-check", "--ignore-rules"]);
    line.add(["--disable", "apps", "--disable", "plugins", "--disable", "hooks"]);
    // `resume` has no `--sandbox`, so both kinds of turn set it this way.
    match turn.plan {
        Some(_) => line.add(["-c", "sandbox_mode=\"workspace-write\"", "-c", WORKSPACE]),
        None => line.add(["-c", "sandbox_mode=\"read-only\""]),
    }
    // The user's program for notifications would run after each turn.
    line.add(["-c", "web_search=\"disabled\"", "-c", "notify=[]"]);
    for name in turn.mcp_servers {
        line.add(["-c", &format!("mcp_servers.{name}.enabled=false")]);
    }
    if let Some(model) = turn.model {
        line.add(["-m", model]);
    }
    line.add(turn.extra);
    line.add(["-"]);
    line
}

/// The names in the output of `codex mcp list --json`.
pub(super) fn mcp_servers_from(output: &str) -> Option<Vec<String>> {
    let servers: Value = serde_json::from_str(output.trim()).ok()?;
    servers.as_array()?.iter().map(|server| text_of(&server["name"])).collect()
}

/// Reads an event.
pub(super) fn event(seen: &mut Seen, event: &Value) -> Option<ProgramSign> {
    match event["type"].as_str()? {
        "thread.started" => {
            seen.session = session_of(&event["thread_id"]);
            None
        }
        "item.started" | "item.updated" | "item.completed" => {
            let item = &event["item"];
            let kind = item["type"].as_str()?;
            // An item of this type is a warning: the turn goes on.
            if kind == "error" {
                return None;
            }
            seen.answered();
            let is_message = kind == "agent_message";
            if is_message && event["type"] == "item.completed" {
                item["text"].as_str().unwrap_or_default().clone_into(&mut seen.text);
            } else if !is_message && kind != "reasoning" {
                // Words before a tool are no final message.
                seen.text.clear();
            }
            doing(seen, kind, item)
        }
        "turn.completed" => {
            let usage = &event["usage"];
            let tokens =
                Tokens::new(number(&usage["input_tokens"]), number(&usage["output_tokens"]));
            seen.tokens = Some(tokens);
            seen.is_final = true;
            seen.failure = None;
            Some(ProgramSign::Final)
        }
        "turn.failed" => {
            let words = event["error"]["message"].as_str().unwrap_or("the turn failed");
            seen.fail(FailureKind::of_words(words).unwrap_or(FailureKind::Crash), words);
            seen.is_final = true;
            Some(ProgramSign::Final)
        }
        "error" => {
            let words = event["message"].as_str().unwrap_or_default();
            let kind = FailureKind::of_words(words);
            if let Some(retry) = words.strip_prefix("Reconnecting") {
                let kind = kind.unwrap_or(FailureKind::Overload);
                // It gives up after 5 errors of the server, but it waits for a network without end.
                let is_endless = retry.contains("waiting for network");
                let is_hopeless = matches!(kind, FailureKind::Auth | FailureKind::Quota);
                let limit = if is_endless || is_hopeless { 3 } else { u32::MAX };
                // The error stands in brackets: Reconnecting... 1/5 (unexpected status …).
                let error = retry.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
                return Some(seen.retry(kind, error.unwrap_or(words), limit));
            }
            seen.fail(kind.unwrap_or(FailureKind::Crash), words);
            None
        }
        _ => None,
    }
}

/// The tokens of this start. Codex counts those of the whole thread.
pub(super) fn tokens(seen: &Seen, end: &End) -> Option<Tokens> {
    let (all, earlier) = (seen.tokens?, end.earlier);
    // A version that counts each turn by itself reports fewer.
    if all.input < earlier.input || all.output < earlier.output {
        return Some(all);
    }
    Some(Tokens::new(all.input - earlier.input, all.output - earlier.output))
}

/// The final message: the file if it is there, else the last message of the events.
pub(super) fn text(seen: &Seen, end: &End) -> String {
    let file = end.final_file.map(String::from_utf8_lossy);
    let file = file.filter(|text| !text.trim().is_empty());
    file.map_or_else(|| seen.text.clone(), Cow::into_owned)
}

fn doing(seen: &Seen, kind: &str, item: &Value) -> Option<ProgramSign> {
    Some(match kind {
        "agent_message" => ProgramSign::Doing("writes".to_owned()),
        "reasoning" => ProgramSign::Doing("thinks".to_owned()),
        "command_execution" => {
            let command = item["command"].as_str().unwrap_or_default();
            // The command stands behind its shell: /bin/bash -lc 'cat src/a.rs'.
            let inner = command.split_once(" -lc ").or(command.split_once(" -c "));
            let inner = inner.map_or(command, |(_, inner)| inner).trim_matches(['\'', '"']);
            seen.doing("runs", &json!(inner))
        }
        "file_change" => seen.doing("edits", &item["changes"][0]["path"]),
        "mcp_tool_call" => seen.doing("calls", &item["tool"]),
        "web_search" => seen.doing("searches for", &item["query"]),
        _ => return None,
    })
}
