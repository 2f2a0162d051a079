//! Claude Code 2.1.325: `claude -p --output-format stream-json`.

use serde_json::Value;

use super::reader::{Seen, number, session_of, text_of};
use super::{FailureKind, ProgramSession, ProgramSign, StartLine, Tokens, Turn, is_taken_away};

/// The command line of a turn.
pub(super) fn line(turn: &Turn) -> StartLine {
    let mut line = StartLine::default();
    // No settings of a project, no MCP server, and no question: the program refuses every tool that is not allowed.
    line.add(["-p", "--safe-mode", "--setting-sources", "", "--strict-mcp-config"]);
    line.add(["--permission-mode", "dontAsk"]);
    if let Some(settings) = turn.settings.and_then(login_only) {
        let file = turn.folder.join("settings.json");
        line.add(["--settings"]);
        line.arguments.push(file.clone().into_os_string());
        line.files.push((file, settings));
    }
    match turn.plan {
        Some(plan) => {
            line.add(["--tools", "Read,Grep,Glob,Edit,Write"]);
            line.add(["--allowedTools", &format!("Edit(/{})", pattern(plan))]);
        }
        None => line.add(["--tools", "Read,Grep,Glob"]),
    }
    line.add(["--output-format", "stream-json", "--verbose"]);
    match turn.session {
        ProgramSession::New(id) => line.add(["--session-id", id]),
        ProgramSession::Later(id) => line.add(["--resume", id]),
    }
    if let Some(model) = turn.model {
        line.add(["--model", model]);
    }
    line.add(turn.extra);
    line
}

/// The part of the user's settings that holds the login and the model.
///
/// The rest must not reach the program: a user's `"allow": ["Edit"]` lets a proposer edit every file on the disk.
fn login_only(settings: &str) -> Option<String> {
    const KEYS: [&str; 10] = [
        "apiKeyHelper",
        "awsAuthRefresh",
        "awsCredentialExport",
        "effortLevel",
        "env",
        "forceLoginMethod",
        "forceLoginOrgUUID",
        "gcpAuthRefresh",
        "model",
        "modelOverrides",
    ];
    let mut settings: Value = serde_json::from_str(settings).ok()?;
    let all = settings.as_object_mut()?;
    all.retain(|key, _| KEYS.contains(&key.as_str()));
    if let Some(variables) = all.get_mut("env").and_then(Value::as_object_mut) {
        variables.retain(|name, _| !is_taken_away(name) && name != "CLAUDE_CODE_MAX_RETRIES");
    }
    (!all.is_empty()).then(|| settings.to_string())
}

/// The path as a pattern of a rule.
///
/// Rules unescape a path in one way and match it in another, so no escape holds for all letters. `?` stands for any one
/// letter: such a pattern may match a few more files, in the copy only.
fn pattern(path: &str) -> String {
    path.replace(['*', '?', '[', ']', '\\', '(', ')'], "?")
}

/// Reads an event.
pub(super) fn event(seen: &mut Seen, event: &Value) -> Option<ProgramSign> {
    match event["type"].as_str()? {
        "system" => match event["subtype"].as_str()? {
            "init" => {
                seen.session = session_of(&event["session_id"]);
                seen.model = text_of(&event["model"]);
                None
            }
            "api_retry" => {
                let error = event["error"].as_str().unwrap_or("unknown");
                let kind = kind(&event["error_status"], error).unwrap_or(FailureKind::Overload);
                let words = match event["error_status"].as_u64() {
                    Some(status) => format!("{error} (HTTP {status})"),
                    None => error.to_owned(),
                };
                Some(seen.retry(kind, &words, 3))
            }
            _ => None,
        },
        "assistant" if event["error"].is_string() => {
            let error = event["error"].as_str().unwrap_or_default();
            let words = event["message"]["content"][0]["text"].as_str().unwrap_or(error);
            let kind = kind(&event["api_error_status"], error)?;
            seen.fail(kind, words);
            None
        }
        // Sub-agents are switched off. If a version brings them back, their words are not the agent's.
        "assistant" if event["parent_tool_use_id"].is_string() => None,
        "assistant" => {
            seen.answered();
            let parts = event["message"]["content"].as_array()?;
            parts.iter().rev().find_map(|part| doing(seen, part))
        }
        // The limits of a subscription. The error itself comes with the next events.
        "rate_limit_event" => {
            let info = &event["rate_limit_info"];
            if info["status"] != "rejected" {
                return None;
            }
            let words = info["rateLimitType"].as_str().unwrap_or("usage limit").replace('_', " ");
            let mut failure = seen.fail(FailureKind::Quota, &format!("limit reached: {words}"));
            failure.resets_at = info["resetsAt"].as_i64().and_then(time);
            seen.failure = Some(failure);
            None
        }
        "result" => {
            seen.session = session_of(&event["session_id"]).or(seen.session.take());
            let usage = &event["usage"];
            let input = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
            let input = input.iter().map(|name| number(&usage[*name]));
            let input = input.fold(0, u64::saturating_add);
            seen.tokens = Some(Tokens::new(input, number(&usage["output_tokens"])));
            seen.cost_usd = cost(event);
            seen.is_final = true;
            let words = event["result"].as_str().unwrap_or_default();
            // `subtype` is "success" after most errors, too.
            if event["is_error"] == true {
                let before = seen.failure.take();
                let words = if words.is_empty() { error_of(event) } else { words.to_owned() };
                let kind = kind(&event["api_error_status"], &words);
                let kind = kind.or(before.as_ref().map(|failure| failure.kind));
                let mut failure = seen.fail(kind.unwrap_or(FailureKind::Crash), &words);
                let resets_at = before.and_then(|before| before.resets_at);
                failure.resets_at = resets_at.or(failure.resets_at);
                seen.failure = Some(failure);
            } else {
                seen.failure = None;
                words.clone_into(&mut seen.text);
            }
            Some(ProgramSign::Final)
        }
        _ => None,
    }
}

/// The cost of this start. `total_cost_usd` also counts the earlier turns of the session.
fn cost(event: &Value) -> Option<f64> {
    let total = event["total_cost_usd"].as_f64()?;
    let Some(models) = event["model_usage_since_last_result"].as_object() else {
        return Some(total);
    };
    let costs = models.values().filter_map(|model| model["costUSD"].as_f64());
    // Not `sum`: the sum of nothing is -0.0 there.
    Some(costs.fold(0.0, |sum, cost| sum + cost))
}

/// The kind of an error, by its HTTP status or by its words.
fn kind(status: &Value, words: &str) -> Option<FailureKind> {
    let by_status = status.as_u64().and_then(FailureKind::of_status);
    by_status.or_else(|| match words {
        "billing_error" => Some(FailureKind::Quota),
        // The server was not reached.
        "unknown" if status.is_null() => Some(FailureKind::Overload),
        words => FailureKind::of_words(words),
    })
}

/// The words of a result without text, such as `error_max_turns`.
fn error_of(event: &Value) -> String {
    let errors = event["errors"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let subtype = event["subtype"].as_str();
    subtype.into_iter().chain(errors).collect::<Vec<_>>().join(": ")
}

fn doing(seen: &Seen, part: &Value) -> Option<ProgramSign> {
    let input = &part["input"];
    match part["type"].as_str()? {
        "text" => Some(ProgramSign::Doing("writes".to_owned())),
        "thinking" => Some(ProgramSign::Doing("thinks".to_owned())),
        "tool_use" => Some(match part["name"].as_str()? {
            "Read" => seen.doing("reads", &input["file_path"]),
            "Edit" | "Write" => seen.doing("edits", &input["file_path"]),
            "Grep" => seen.doing("searches for", &input["pattern"]),
            "Glob" => seen.doing("looks for", &input["pattern"]),
            _ => seen.doing("tries", &part["name"]),
        }),
        _ => None,
    }
}

/// A time in RFC 3339.
fn time(seconds: i64) -> Option<String> {
    jiff::Timestamp::from_second(seconds).ok().map(|time| time.to_string())
}
