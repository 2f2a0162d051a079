//! opencode 1.18: `opencode run --format json`.

use serde_json::{Value, json};

use super::reader::{Seen, number, session_of};
use super::{FailureKind, ProgramSession, ProgramSign, StartLine, Tokens, Turn};

/// The agent that every turn runs as. Its rules come after those of the user's `opencode.json`, and the last rule that
/// matches decides. Rules for all agents would come before: a user's `"bash": "allow"` would stay.
const AGENT: &str = "aw-debate";

/// The command line of a turn.
pub(super) fn line(turn: &Turn) -> StartLine {
    let mut line = StartLine::default();
    // Only the log says that it tries again ([`log`]).
    line.add(["run", "--format", "json", "--print-logs", "--log-level", "ERROR"]);
    line.add(["--agent", AGENT]);
    match turn.session {
        // With a title it asks no model for one.
        ProgramSession::New(_) => line.add(["--title", "debate"]),
        ProgramSession::Later(id) => line.add(["-s", id]),
    }
    if let Some(model) = turn.model {
        line.add(["-m", model]);
    }
    line.add(turn.extra);
    let mut permission = json!({
        "*": "deny", "read": "allow", "grep": "allow", "glob": "allow", "list": "allow",
        "external_directory": "deny",
    });
    if let Some(plan) = turn.plan {
        permission["edit"] = json!({"*": "deny", plan: "allow"});
    }
    let agent = json!({"mode": "primary", "permission": permission});
    // A language server or a formatter of the user's configuration may start programs of the copy.
    let mut config = json!({
        "share": "disabled", "permission": permission, "agent": {AGENT: agent},
        "lsp": false, "formatter": false,
    });
    for name in turn.mcp_servers {
        config["mcp"][name] = json!({"enabled": false});
    }
    line.set("OPENCODE_DISABLE_AUTOUPDATE", "1");
    line.set("OPENCODE_CONFIG_CONTENT", &config.to_string());
    line
}

/// The names in the output of `opencode debug config`.
pub(super) fn mcp_servers_from(output: &str) -> Option<Vec<String>> {
    let config: Value = serde_json::from_str(output.trim()).ok()?;
    let servers = config.as_object()?.get("mcp").and_then(Value::as_object);
    Some(servers.into_iter().flat_map(|servers| servers.keys().cloned()).collect())
}

/// Reads an event.
pub(super) fn event(seen: &mut Seen, event: &Value) -> Option<ProgramSign> {
    if let Some(session) = session_of(&event["sessionID"]) {
        seen.session = Some(session);
    }
    let part = &event["part"];
    match event["type"].as_str()? {
        "step_start" => {
            seen.answered();
            // Each step is an answer of the model. The text of the last one is the final message. After it has
            // shortened its context, a step follows one that looked like the last.
            seen.text.clear();
            seen.is_final = false;
            Some(ProgramSign::Doing("thinks".to_owned()))
        }
        "text" => {
            seen.answered();
            if !seen.text.is_empty() {
                seen.text.push_str("\n\n");
            }
            seen.text.push_str(part["text"].as_str().unwrap_or_default());
            Some(ProgramSign::Doing("writes".to_owned()))
        }
        "tool_use" => {
            seen.answered();
            seen.text.clear();
            let input = &part["state"]["input"];
            Some(match part["tool"].as_str()? {
                "read" => seen.doing("reads", &input["filePath"]),
                "edit" | "write" => seen.doing("edits", &input["filePath"]),
                "list" => seen.doing("lists", &input["path"]),
                "glob" => seen.doing("looks for", &input["pattern"]),
                "grep" => seen.doing("searches for", &input["pattern"]),
                _ => seen.doing("tries", &part["tool"]),
            })
        }
        "step_finish" => {
            let tokens = &part["tokens"];
            let (cache, reasoning) = (&tokens["cache"], number(&tokens["reasoning"]));
            let input = [&tokens["input"], &cache["read"], &cache["write"]].map(number);
            let input = input.into_iter().fold(0, u64::saturating_add);
            let output = number(&tokens["output"]).saturating_add(reasoning);
            let so_far = seen.tokens.unwrap_or_default();
            seen.tokens = Some(so_far.plus(Tokens::new(input, output)));
            let cost = part["cost"].as_f64().unwrap_or(0.0) + seen.cost_usd.unwrap_or(0.0);
            seen.cost_usd = Some(cost);
            if part["reason"] == "tool-calls" {
                return None;
            }
            seen.is_final = true;
            seen.failure = None;
            Some(ProgramSign::Final)
        }
        // The turn is done: this may be about a title.
        "error" if seen.is_final => None,
        "error" => {
            let (error, data) = (&event["error"], &event["error"]["data"]);
            let name = error["name"].as_str().unwrap_or("error");
            let words = data["message"].as_str().unwrap_or(name);
            let by_status = data["statusCode"].as_u64().and_then(FailureKind::of_status);
            let by_name = (name == "ProviderAuthError").then_some(FailureKind::Auth);
            let kind = by_status.or(by_name).or_else(|| FailureKind::of_words(words));
            let kind = kind.unwrap_or(FailureKind::Crash);
            let failure = seen.fail(kind, words);
            // After other errors it may go on, for example with a shorter context. If not, it exits.
            let is_hopeless = matches!(kind, FailureKind::Auth | FailureKind::Quota);
            is_hopeless.then_some(ProgramSign::Failing(failure))
        }
        _ => None,
    }
}

/// Reads a line of stderr: `… message="stream error" … error.error="AI_APICallError: Too Many Requests"`.
pub(super) fn log(seen: &mut Seen, line: &str) -> Option<ProgramSign> {
    // A title is asked of a small model, and the turn goes on without one.
    let is_error = line.contains("message=\"stream error\"") && !line.contains("small=true");
    // The exact error has come on stdout when it is one that the program does not repeat.
    if !is_error || seen.is_final || seen.failure.as_ref().is_some_and(|_| seen.retries == 0) {
        return None;
    }
    // A turn without an answer has no event. The log has its session, in which the next start can go on.
    let session = line.split_once("session.id=").and_then(|(_, rest)| rest.split(' ').next());
    seen.session = seen.session.take().or_else(|| session_of(&json!(session)));
    let words = line.split_once("error.error=").map_or(line, |(_, words)| words).trim_matches('"');
    // No status is there, only the server's words.
    let kind = FailureKind::of_words(words).unwrap_or(FailureKind::Overload);
    // It would try without end, after 2, 4, 8 s and so on.
    let limit = match kind {
        FailureKind::Auth | FailureKind::Quota => 2,
        _ => 4,
    };
    Some(seen.retry(kind, words, limit))
}
