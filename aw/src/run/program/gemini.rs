//! Gemini CLI 0.61: `gemini -o stream-json`.

use std::path::Path;

use serde_json::{Value, json};

use super::reader::{Seen, number, session_of, text_of};
use super::{FailureKind, ProgramSession, ProgramSign, StartLine, Tokens, Turn};

/// Denies every tool but those that read.
///
/// Without such a file a headless run approves its own `exit_plan_mode` in every approval mode and then runs shell
/// commands.
const READ_ONLY: &str = r#"[[rule]]
toolName = "*"
decision = "deny"
priority = 900

[[rule]]
toolName = ["read_file", "list_directory", "glob", "grep_search"]
decision = "allow"
priority = 950
"#;

/// The command line of a turn.
pub(super) fn line(turn: &Turn) -> StartLine {
    let mut line = StartLine::default();
    let policy = turn.folder.join("policy.toml");
    line.add(["--skip-trust", "--policy"]);
    line.arguments.push(policy.clone().into_os_string());
    let edits = turn.plan.map(|plan| plan_only(turn.copy, plan)).unwrap_or_default();
    line.files.push((policy, format!("{READ_ONLY}{edits}")));
    line.add(["--allowed-mcp-server-names", "none", "-e", "none"]);
    line.add(["--approval-mode", "default", "-o", "stream-json"]);
    match turn.session {
        ProgramSession::New(id) => line.add(["--session-id", id]),
        ProgramSession::Later(id) => line.add(["--resume", id]),
    }
    if let Some(model) = turn.model {
        line.add(["-m", model]);
    }
    line.add(turn.extra);
    line
}

/// Rules that allow edits of the plan and deny those of other files.
///
/// One rule that allows the plan would not do: a tool that is allowed for some arguments only is not offered at all.
fn plan_only(copy: &Path, plan: &str) -> String {
    // The pattern is matched against the arguments as JSON. Gemini CLI refuses patterns with a quantified group.
    let copy = escaped(&copy.to_string_lossy());
    let pattern = format!(r#""file_path":"(?!(?:{copy}\/|\.\/|){}")"#, escaped(plan));
    // A JSON text is a TOML text, too.
    let pattern = json!(pattern);
    format!(
        "\n[[rule]]\ntoolName = [\"replace\", \"write_file\"]\ndecision = \"allow\"\npriority = 950\n\
         \n[[rule]]\ntoolName = [\"replace\", \"write_file\"]\nargsPattern = {pattern}\n\
         decision = \"deny\"\npriority = 960\n"
    )
}

/// The text as it stands in JSON, as a regular expression.
fn escaped(text: &str) -> String {
    let text = json!(text).to_string();
    let mut pattern = String::new();
    for c in text[1..text.len() - 1].chars() {
        if "\\^$.|?*+()[]{}/".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

/// Reads an event.
pub(super) fn event(seen: &mut Seen, event: &Value) -> Option<ProgramSign> {
    match event["type"].as_str()? {
        "init" => {
            seen.session = session_of(&event["session_id"]);
            seen.model = text_of(&event["model"]);
            None
        }
        "message" if event["role"] == "assistant" => {
            seen.answered();
            seen.text.push_str(event["content"].as_str().unwrap_or_default());
            Some(ProgramSign::Doing("writes".to_owned()))
        }
        "tool_use" => {
            seen.answered();
            seen.text.clear();
            let input = &event["parameters"];
            Some(match event["tool_name"].as_str()? {
                "read_file" => seen.doing("reads", &input["file_path"]),
                "replace" | "write_file" => seen.doing("edits", &input["file_path"]),
                "list_directory" => seen.doing("lists", &input["dir_path"]),
                "glob" => seen.doing("looks for", &input["pattern"]),
                "grep_search" => seen.doing("searches for", &input["pattern"]),
                _ => seen.doing("tries", &event["tool_name"]),
            })
        }
        "tool_result" => {
            seen.text.clear();
            None
        }
        "error" if event["severity"] == "error" => {
            let words = event["message"].as_str().unwrap_or_default();
            let kind = FailureKind::of_words(words).unwrap_or(FailureKind::Crash);
            seen.fail(kind, &plain(words));
            None
        }
        "result" => {
            let stats = &event["stats"];
            let (input, output) = (number(&stats["input_tokens"]), number(&stats["output_tokens"]));
            let mut tokens = Tokens::new(input, output);
            // The total also counts the model's thoughts.
            tokens.total = tokens.total.max(number(&stats["total_tokens"]));
            tokens.output = tokens.total - input;
            seen.tokens = Some(tokens);
            seen.is_final = true;
            if event["status"] == "success" {
                seen.failure = None;
            } else {
                let words = event["error"]["message"].as_str().unwrap_or("the turn failed");
                // Where the words say too little, the exit code decides ([`kind_of_exit`]).
                let kind = FailureKind::of_words(words).unwrap_or(FailureKind::Crash);
                seen.fail(kind, &plain(words));
            }
            Some(ProgramSign::Final)
        }
        _ => None,
    }
}

/// Reads a line of stderr: "Attempt 1 failed with status 503. Retrying with backoff...".
pub(super) fn log(seen: &mut Seen, line: &str) -> Option<ProgramSign> {
    let line = line.strip_prefix("Attempt ").filter(|line| line.contains(" failed"))?;
    if seen.is_final {
        return None;
    }
    let words = line.split_once(' ').map_or(line, |(_, words)| words);
    let status = words.split_once(" status ").and_then(|(_, rest)| rest.get(..3)?.parse().ok());
    let kind = status.and_then(FailureKind::of_status).or_else(|| FailureKind::of_words(words));
    let kind = kind.unwrap_or(FailureKind::Overload);
    // "Retrying after 40000ms..."
    let pause = words.split_once("Retrying after ").and_then(|(_, rest)| rest.split_once("ms"));
    let is_long =
        pause.and_then(|(pause, _)| pause.parse().ok()).is_some_and(|pause: u64| pause > 10_000);
    // It would try 10 times, with pauses of 5 to 30 s.
    let limit = match kind {
        FailureKind::Auth | FailureKind::Quota if is_long => 1,
        FailureKind::Auth | FailureKind::Quota => 2,
        _ => 4,
    };
    Some(seen.retry(kind, &plain(words), limit))
}

/// The message of the server in an error, without the JSON around it.
fn plain(words: &str) -> String {
    let json = words.find('{').map(|start| &words[start..]);
    let json =
        json.and_then(|json| serde_json::Deserializer::from_str(json).into_iter().next()?.ok());
    let error = json.map(|json: Value| json["error"].clone()).unwrap_or_default();
    match (error["status"].as_str(), error["message"].as_str()) {
        (Some(status), Some(message)) => format!("{status}: {message}"),
        (None, Some(message)) => message.to_owned(),
        (_, None) => words.to_owned(),
    }
}

/// The kind by the exit code, which is the HTTP status modulo 256, or 41 without a login.
pub(super) fn kind_of_exit(code: Option<i32>) -> Option<FailureKind> {
    match code? {
        41 | 145 | 147 => Some(FailureKind::Auth), // 401, 403
        173 => Some(FailureKind::Quota),           // 429
        244..=248 => Some(FailureKind::Overload),  // 500 to 504
        17 => Some(FailureKind::Overload),         // 529
        _ => None,
    }
}
