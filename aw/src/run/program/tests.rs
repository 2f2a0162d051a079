//! Real outputs of the programs, shortened, and what they mean.

use std::path::Path;

use serde_json::{Value, json};

use super::*;

/// A recorded start.
struct Recorded {
    signs: Vec<ProgramSign>,
    ended: Ended,
}

impl Recorded {
    fn kind(&self) -> Option<FailureKind> {
        self.ended.failure.as_ref().map(|failure| failure.kind)
    }

    /// The kind of the first failure after which the runner need not wait.
    fn failing(&self) -> Option<FailureKind> {
        self.signs.iter().find_map(|sign| match sign {
            ProgramSign::Failing(failure) => Some(failure.kind),
            ProgramSign::Final | ProgramSign::Doing(_) | ProgramSign::Retrying(_) => None,
        })
    }

    fn doing(&self) -> Vec<&str> {
        let doing = self.signs.iter().filter_map(|sign| match sign {
            ProgramSign::Doing(words) => Some(words.as_str()),
            ProgramSign::Final | ProgramSign::Retrying(_) | ProgramSign::Failing(_) => None,
        });
        doing.collect()
    }
}

/// Reads a fixture: an object is a line of stdout, a text one of stderr, a number the exit code.
fn read(program: AgentProgram, fixture: &str, earlier: Tokens) -> Recorded {
    let mut reader = Reader::new(program, Path::new("/copy"));
    let (mut signs, mut stderr, mut exit) = (Vec::new(), String::new(), None);
    for line in fixture.lines() {
        match serde_json::from_str(line).unwrap() {
            Value::String(words) => {
                signs.extend(reader.stderr_line(words.as_bytes()));
                stderr.push_str(&words);
                stderr.push('\n');
            }
            Value::Number(code) => exit = code.as_i64().map(|code| i32::try_from(code).unwrap()),
            _ => signs.extend(reader.line(line.as_bytes())),
        }
    }
    let end = End { exit, stderr: stderr.as_bytes(), earlier, ..End::default() };
    Recorded { signs, ended: reader.end(&end) }
}

macro_rules! recorded {
    ($program:ident, $name:literal) => {
        recorded!($program, $name, Tokens::default())
    };
    ($program:ident, $name:literal, $earlier:expr) => {
        read(AgentProgram::$program, include_str!(concat!("fixtures/", $name, ".jsonl")), $earlier)
    };
}

#[test]
fn a_turn_has_its_final_text_session_and_tokens() {
    let turns = [
        recorded!(Claude, "claude-first"),
        recorded!(Codex, "codex-first"),
        recorded!(Gemini, "gemini-first"),
        recorded!(Opencode, "opencode-first"),
    ];
    for turn in &turns {
        assert_eq!(turn.ended.text.as_deref(), Some("First words."));
        assert_eq!(turn.ended.tokens, Some(Tokens::new(2001, 41)));
        assert_eq!(turn.ended.failure, None);
        assert!(turn.ended.session.is_some());
        assert_eq!(turn.signs.last(), Some(&ProgramSign::Final));
    }
    let models = turns.each_ref().map(|turn| turn.ended.model.as_deref());
    assert_eq!(models, [Some("claude-opus-5-5"), None, Some("fake"), None]);
    let costs = turns.each_ref().map(|turn| turn.ended.cost_usd);
    assert_eq!(costs, [Some(0.008_824), None, None, Some(0.0)]);
}

#[test]
fn a_later_turn_counts_its_own_tokens_and_cost() {
    let first = Tokens::new(2001, 41);
    let turns = [
        recorded!(Claude, "claude-later", first),
        recorded!(Codex, "codex-later", first),
        recorded!(Gemini, "gemini-later", first),
        recorded!(Opencode, "opencode-later", first),
    ];
    for turn in &turns {
        assert_eq!(turn.ended.text.as_deref(), Some("Second words."));
        assert_eq!(turn.ended.tokens, Some(Tokens::new(2005, 45)));
    }
    assert_eq!(turns[0].ended.cost_usd, Some(0.008_92));
}

#[test]
fn a_turn_shows_the_doing_of_its_agent() {
    assert_eq!(recorded!(Claude, "claude-first").doing(), ["reads src/a.rs", "writes"]);
    let codex = recorded!(Codex, "codex-first");
    assert_eq!(codex.doing(), ["runs cat src/a.rs", "runs cat src/a.rs", "writes"]);
    assert_eq!(recorded!(Gemini, "gemini-first").doing(), ["reads src/a.rs", "writes"]);
    let opencode = recorded!(Opencode, "opencode-first");
    assert_eq!(opencode.doing(), ["thinks", "reads src/a.rs", "thinks", "writes"]);
    let edits = ["reads PLAN.md", "edits PLAN.md", "writes"];
    assert_eq!(recorded!(Claude, "claude-edits").doing(), edits);
    assert_eq!(recorded!(Gemini, "gemini-edits").doing(), edits[1..]);
}

#[test]
fn a_missing_login_is_recognised() {
    let turns = [
        recorded!(Claude, "claude-401"),
        recorded!(Claude, "claude-not-logged-in"),
        recorded!(Codex, "codex-401"),
        recorded!(Gemini, "gemini-401"),
        recorded!(Gemini, "gemini-400-key"),
        recorded!(Gemini, "gemini-not-logged-in"),
        recorded!(Opencode, "opencode-401"),
    ];
    for turn in turns {
        assert_eq!(turn.kind(), Some(FailureKind::Auth), "{:?}", turn.ended);
        assert_eq!(turn.ended.text, None);
    }
}

#[test]
fn a_used_up_quota_is_recognised() {
    let turns = [
        recorded!(Claude, "claude-429"),
        recorded!(Codex, "codex-429"),
        recorded!(Codex, "codex-429-rate"),
        recorded!(Gemini, "gemini-429"),
        recorded!(Gemini, "gemini-429-rate"),
        recorded!(Opencode, "opencode-429"),
    ];
    for turn in turns {
        assert_eq!(turn.kind(), Some(FailureKind::Quota), "{:?}", turn.ended);
    }
    let failure = recorded!(Codex, "codex-429").ended.failure.unwrap();
    assert_eq!(failure.resets_at.as_deref(), Some("Nov 17th, 2026 7:20 AM"));
}

#[test]
fn an_overload_is_recognised() {
    let turns = [
        recorded!(Claude, "claude-529"),
        recorded!(Claude, "claude-refused"),
        recorded!(Codex, "codex-500"),
        recorded!(Codex, "codex-503"),
        recorded!(Codex, "codex-refused"),
        recorded!(Gemini, "gemini-503"),
        recorded!(Opencode, "opencode-500"),
    ];
    for turn in turns {
        assert_eq!(turn.kind(), Some(FailureKind::Overload), "{:?}", turn.ended);
        assert!(turn.ended.session.is_some(), "the next start goes on in the same session");
    }
}

#[test]
fn a_program_that_would_try_for_minutes_is_stopped() {
    assert_eq!(recorded!(Codex, "codex-401").failing(), Some(FailureKind::Auth));
    assert_eq!(recorded!(Codex, "codex-refused").failing(), Some(FailureKind::Overload));
    assert_eq!(recorded!(Gemini, "gemini-429-rate").failing(), Some(FailureKind::Quota));
    assert_eq!(recorded!(Gemini, "gemini-503").failing(), Some(FailureKind::Overload));
    assert_eq!(recorded!(Opencode, "opencode-429").failing(), Some(FailureKind::Quota));
    assert_eq!(recorded!(Opencode, "opencode-500").failing(), Some(FailureKind::Overload));
    // These give up by themselves.
    assert_eq!(recorded!(Claude, "claude-401").failing(), None);
    assert_eq!(recorded!(Codex, "codex-500").failing(), None);
}

#[test]
fn the_third_401_stops_a_program_that_ignores_its_limit_of_retries() {
    let mut reader = Reader::new(AgentProgram::Claude, Path::new("/copy"));
    let retry = br#"{"type":"system","subtype":"api_retry","error_status":401,"error":"authentication_failed"}"#;
    let retrying = ProgramSign::Retrying("auth: authentication_failed (HTTP 401)".to_owned());
    assert_eq!(reader.line(retry), Some(retrying.clone()));
    assert_eq!(reader.line(retry), Some(retrying));
    assert!(
        matches!(reader.line(retry), Some(ProgramSign::Failing(failure)) if failure.kind == FailureKind::Auth)
    );
}

#[test]
fn errors_before_an_answer_are_forgotten() {
    let mut reader = Reader::new(AgentProgram::Codex, Path::new("/copy"));
    let retry =
        br#"{"type":"error","message":"Reconnecting... 1/5 (unexpected status 401 Unauthorized)"}"#;
    let message = br#"{"type":"item.completed","item":{"type":"agent_message","text":"Good."}}"#;
    for _ in 0..5 {
        assert!(matches!(reader.line(retry), Some(ProgramSign::Retrying(_))));
        reader.line(message);
    }
    reader.line(br#"{"type":"turn.completed"}"#);
    let ended = reader.end(&End { exit: Some(0), ..End::default() });
    assert_eq!(ended.text.as_deref(), Some("Good."));
}

#[test]
fn lines_after_a_failure_that_stops_the_program_change_nothing() {
    let mut reader = Reader::new(AgentProgram::Opencode, Path::new("/copy"));
    reader.line(br#"{"type":"error","error":{"data":{"message":"No key","statusCode":401}}}"#);
    reader.line(br#"{"type":"text","part":{"text":"Words."}}"#);
    reader.line(br#"{"type":"step_finish","part":{"reason":"stop"}}"#);
    let ended = reader.end(&End { exit: Some(0), ..End::default() });
    assert_eq!(ended.failure.unwrap().to_string(), "auth: No key");
}

#[test]
fn a_step_after_the_last_one_replaces_it() {
    let mut reader = Reader::new(AgentProgram::Opencode, Path::new("/copy"));
    let finish =
        br#"{"type":"step_finish","part":{"reason":"stop","tokens":{"input":7,"output":2}}}"#;
    reader.line(br#"{"type":"text","part":{"text":"A summary."}}"#);
    assert_eq!(reader.line(finish), Some(ProgramSign::Final));
    assert!(matches!(reader.line(br#"{"type":"step_start"}"#), Some(ProgramSign::Doing(_))));
    reader.line(br#"{"type":"text","part":{"text":"Words."}}"#);
    assert_eq!(reader.line(finish), Some(ProgramSign::Final));
    let ended = reader.end(&End { exit: Some(0), ..End::default() });
    assert_eq!(ended.text.as_deref(), Some("Words."));
    assert_eq!(ended.tokens, Some(Tokens::new(14, 4)));
}

#[test]
fn an_id_that_looks_like_an_option_is_no_session() {
    let mut reader = Reader::new(AgentProgram::Codex, Path::new("/copy"));
    reader.line(br#"{"type":"thread.started","thread_id":"--dangerously"}"#);
    assert_eq!(reader.end(&End::default()).session, None);
}

#[test]
fn a_subscription_says_when_its_limit_ends() {
    let mut reader = Reader::new(AgentProgram::Claude, Path::new("/copy"));
    reader.line(br#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1794900000,"rateLimitType":"five_hour"}}"#);
    reader.line(br#"{"type":"result","is_error":true,"api_error_status":429,"result":"You've hit your session limit"}"#);
    let failure = reader.end(&End::default()).failure.unwrap();
    assert_eq!(failure.kind, FailureKind::Quota);
    assert_eq!(failure.resets_at.as_deref(), Some("2026-11-17T07:20:00Z"));
}

#[test]
fn an_end_without_a_final_event_is_a_crash() {
    for program in AgentProgram::KNOWN {
        let ended = |end: &End| Reader::new(program, Path::new("/copy")).end(end);
        let kind = |end: &End| ended(end).failure.unwrap().kind;
        assert_eq!(kind(&End::default()), FailureKind::Crash);
        assert_eq!(kind(&End { exit: Some(0), ..End::default() }), FailureKind::Crash);
        assert_eq!(kind(&End { timed_out: true, ..End::default() }), FailureKind::Timeout);
        let end =
            End { exit: Some(1), stderr: b"some\nError: out of memory\n\n", ..End::default() };
        let failure = ended(&end).failure.unwrap();
        assert_eq!(failure.to_string(), "crash: exit code 1: Error: out of memory");
    }
}

#[test]
fn a_program_that_is_ended_after_its_final_event_has_done_its_turn() {
    let mut reader = Reader::new(AgentProgram::Claude, Path::new("/copy"));
    reader.line(br#"{"type":"result","is_error":false,"result":" Words.\n"}"#);
    let ended = reader.end(&End { exit: None, timed_out: true, ..End::default() });
    assert_eq!(ended.text.as_deref(), Some("Words."));
}

#[test]
fn an_end_without_text_is_empty() {
    let mut reader = Reader::new(AgentProgram::Claude, Path::new("/copy"));
    reader.line(br#"{"type":"result","is_error":false,"result":" \n"}"#);
    let ended = reader.end(&End { exit: Some(0), ..End::default() });
    assert_eq!((ended.text, ended.failure.unwrap().kind), (None, FailureKind::Empty));
}

#[test]
fn words_before_the_last_tool_are_not_the_final_message() {
    let tools: [(AgentProgram, &[&str]); 3] = [
        (
            AgentProgram::Codex,
            &[
                r#"{"type":"item.completed","item":{"type":"agent_message","text":"I look."}}"#,
                r#"{"type":"item.started","item":{"type":"command_execution","command":"ls"}}"#,
                r#"{"type":"turn.completed"}"#,
            ],
        ),
        (
            AgentProgram::Gemini,
            &[
                r#"{"type":"message","role":"assistant","content":"I look.","delta":true}"#,
                r#"{"type":"tool_use","tool_name":"glob","parameters":{"pattern":"*"}}"#,
                r#"{"type":"result","status":"success"}"#,
            ],
        ),
        (
            AgentProgram::Opencode,
            &[
                r#"{"type":"text","part":{"text":"I look."}}"#,
                r#"{"type":"tool_use","part":{"tool":"glob","state":{"input":{"pattern":"*"}}}}"#,
                r#"{"type":"step_finish","part":{"reason":"stop"}}"#,
            ],
        ),
    ];
    for (program, lines) in tools {
        let mut reader = Reader::new(program, Path::new("/copy"));
        for line in lines {
            reader.line(line.as_bytes());
        }
        let ended = reader.end(&End { exit: Some(0), ..End::default() });
        assert_eq!(ended.failure.unwrap().kind, FailureKind::Empty, "{program:?}");
    }
}

#[test]
fn a_command_answers_on_stdout() {
    let end = End { exit: Some(0), stdout: b"\nAn answer.\xff\n", ..End::default() };
    let ended = Reader::new(AgentProgram::Command, Path::new("/copy")).end(&end);
    assert_eq!(ended.text.as_deref(), Some("An answer.\u{fffd}"));
    // A command's words are not known: "quota" may mean anything.
    let end = End { exit: Some(2), stdout: b"half", stderr: b"quota", ..End::default() };
    let ended = Reader::new(AgentProgram::Command, Path::new("/copy")).end(&end);
    assert_eq!((ended.text, ended.failure.unwrap().kind), (None, FailureKind::Crash));
}

/// The value with each value in it replaced by those of other types.
fn variants(value: &Value) -> Vec<Value> {
    let other =
        [json!(null), json!(-1), json!(u64::MAX), json!("\u{7}"), json!([[]]), json!({"a": {}})];
    let mut all = Vec::from(other);
    let mut keep = |place: &dyn Fn(&mut Value, Value), inner: &Value| {
        all.extend(variants(inner).into_iter().map(|inner| {
            let mut changed = value.clone();
            place(&mut changed, inner);
            changed
        }));
    };
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, inner)| keep(&|value, new| value[key] = new, inner));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(at, inner)| keep(&|value, new| value[at] = new, inner));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    all
}

#[test]
fn garbage_is_ignored() {
    let deep = "[".repeat(100_000);
    let long = format!(r#"{{"type":"error","message":"{}"}}"#, "ä\u{202e}".repeat(100_000));
    let fixtures = [
        include_str!("fixtures/claude-first.jsonl"),
        include_str!("fixtures/codex-first.jsonl"),
        include_str!("fixtures/gemini-first.jsonl"),
        include_str!("fixtures/opencode-first.jsonl"),
        include_str!("fixtures/opencode-429.jsonl"),
        include_str!("fixtures/gemini-503.jsonl"),
    ];
    let odd =
        ["", "null", "[]", "{}", "\u{0}", "{\"type\":7}", "{\"type\":\"result\"}", &deep, &long];
    let odd = odd.into_iter().map(|line| line.as_bytes().to_vec());
    // Each line cut off at each place, and with every value of another type.
    let lines: Vec<&str> = fixtures.iter().flat_map(|fixture| fixture.lines()).collect();
    let cut = lines
        .iter()
        .flat_map(|line| (0..line.len()).step_by(7).map(|end| line.as_bytes()[..end].to_vec()));
    let types = lines.iter().flat_map(|line| {
        let all = variants(&serde_json::from_str(line).unwrap());
        all.into_iter().map(|value| value.to_string().into_bytes())
    });
    let all: Vec<Vec<u8>> = odd.chain(cut).chain(types).chain([vec![0xff, 0xfe, b'{']]).collect();
    for program in AgentProgram::KNOWN.into_iter().chain([AgentProgram::Command]) {
        let mut reader = Reader::new(program, Path::new("/copy"));
        for line in &all {
            for sign in [reader.line(line), reader.stderr_line(line)].into_iter().flatten() {
                let words = match sign {
                    ProgramSign::Final => continue,
                    ProgramSign::Doing(words) | ProgramSign::Retrying(words) => words,
                    ProgramSign::Failing(failure) => failure.detail,
                };
                assert!(words.chars().count() <= 500 && !words.contains(char::is_control));
            }
        }
        let end = End { stderr: &all.concat(), stdout: &[0xff], ..End::default() };
        reader.end(&end);
    }
}

#[test]
fn agents_do_not_inherit_our_variables_nor_those_of_a_surrounding_agent() {
    let taken = [
        "AW_TOKEN",
        "AW_RUN",
        "DEBATE_URL",
        "AWEAVE_HOME",
        "PGPASSWORD",
        "GIT_DIR",
        "CLAUDECODE",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_MESSAGING_SOCKET",
        "CLAUDE_CODE_SESSION_ID",
        "CODEX_SANDBOX_NETWORK_DISABLED",
        "CODEX_THREAD_ID",
        "GEMINI_CLI",
        "OPENCODE",
        "AGENT",
    ];
    assert!(taken.into_iter().all(is_taken_away));
    let kept = [
        "PATH",
        "HOME",
        "ANTHROPIC_API_KEY",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "CODEX_API_KEY",
        "GEMINI_API_KEY",
        "OPENCODE_CONFIG",
        "GITHUB_TOKEN",
    ];
    assert!(!kept.into_iter().any(is_taken_away));
}

#[test]
fn versions_are_found_in_what_programs_print() {
    let version = |program: AgentProgram, output| program.version_from(output);
    assert_eq!(
        version(AgentProgram::Claude, "2.1.325 (Claude Code)\n").as_deref(),
        Some("2.1.325")
    );
    assert_eq!(version(AgentProgram::Codex, "codex-cli 0.166.0\n").as_deref(), Some("0.166.0"));
    assert_eq!(version(AgentProgram::Gemini, "Warning: x.y\nv0.61.0").as_deref(), Some("0.61.0"));
    assert_eq!(version(AgentProgram::Opencode, "").as_deref(), None);
    assert_eq!(version(AgentProgram::Opencode, "1.\u{1b}[31m").as_deref(), None);
    assert!(AgentProgram::Codex.is_tested("0.166.3") && !AgentProgram::Codex.is_tested("0.1660"));
    assert!(AgentProgram::Command.is_tested("7"));
}

const NEW: &str = "11111111-2222-4333-8444-555555555555";

fn turn<'a>(session: ProgramSession<'a>, plan: Option<&'a str>) -> Turn<'a> {
    Turn {
        session,
        model: None,
        plan,
        copy: Path::new("/copy"),
        folder: Path::new("/turn"),
        settings: None,
        extra: &[],
        mcp_servers: &[],
    }
}

fn words(line: &StartLine) -> String {
    let words: Vec<_> = line.arguments.iter().map(|word| word.to_str().unwrap()).collect();
    words.join(" ")
}

#[test]
fn only_a_proposer_may_edit() {
    for program in AgentProgram::KNOWN {
        let reads = program.line(&turn(ProgramSession::New(NEW), None));
        let edits = program.line(&turn(ProgramSession::New(NEW), Some("PLAN.md")));
        assert_ne!(reads, edits);
        let all = format!("{reads:?}");
        for word in ["Edit", "Write", "workspace-write", "write_file", "PLAN.md", "\"edit\""] {
            assert!(!all.contains(word), "{program:?}: {word}");
        }
    }
}

#[test]
fn a_later_turn_goes_on_in_its_session() {
    let line = |program: AgentProgram, session| words(&program.line(&turn(session, None)));
    assert!(
        line(AgentProgram::Claude, ProgramSession::New(NEW))
            .contains(&format!("--session-id {NEW}"))
    );
    assert!(
        line(AgentProgram::Claude, ProgramSession::Later(NEW)).contains(&format!("--resume {NEW}"))
    );
    assert!(
        line(AgentProgram::Gemini, ProgramSession::New(NEW))
            .contains(&format!("--session-id {NEW}"))
    );
    assert!(
        line(AgentProgram::Gemini, ProgramSession::Later(NEW)).contains(&format!("--resume {NEW}"))
    );
    assert!(line(AgentProgram::Codex, ProgramSession::New(NEW)).starts_with("exec --json"));
    assert!(
        line(AgentProgram::Codex, ProgramSession::Later("T")).starts_with("exec resume T --json")
    );
    assert!(!line(AgentProgram::Opencode, ProgramSession::New(NEW)).contains(NEW));
    assert!(line(AgentProgram::Opencode, ProgramSession::Later("ses_1")).contains("-s ses_1"));
}

#[test]
fn the_users_model_arguments_and_servers_reach_the_line() {
    let (extra, servers) = (["--effort".to_owned(), "high".to_owned()], ["mine".to_owned()]);
    for program in AgentProgram::KNOWN {
        let turn = Turn {
            model: Some("opus"),
            extra: &extra,
            mcp_servers: &servers,
            ..turn(ProgramSession::New(NEW), None)
        };
        let line = program.line(&turn);
        assert!(words(&line).contains("opus --effort high"), "{program:?}");
        let is_off = format!("{line:?}").contains("mine");
        assert_eq!(is_off, program.mcp_list().is_some(), "{program:?}");
    }
}

#[test]
fn only_the_login_of_the_users_claude_settings_is_passed_on() {
    let settings = r#"{"permissions": {"allow": ["Edit"]}, "hooks": {}, "model": "opus",
        "env": {"ANTHROPIC_BASE_URL": "http://x", "AW_TOKEN": "secret"}, "apiKeyHelper": "key"}"#;
    let line = |settings| {
        let turn = Turn { settings: Some(settings), ..turn(ProgramSession::New(NEW), None) };
        AgentProgram::Claude.line(&turn)
    };
    let passed = r#"{"model":"opus","env":{"ANTHROPIC_BASE_URL":"http://x"},"apiKeyHelper":"key"}"#;
    let file = PathBuf::from("/turn/settings.json");
    assert_eq!(line(settings).files, [(file, passed.to_owned())]);
    assert!(words(&line(settings)).contains("--settings /turn/settings.json"));
    for nothing in ["", "[]", r#"{"hooks": {}}"#] {
        assert!(line(nothing).files.is_empty());
        assert!(!words(&line(nothing)).contains("--settings "));
    }
    let variable = |name: &str| (name == "HOME").then(|| OsString::from("/home/me"));
    let file = AgentProgram::Claude.settings_file(&variable);
    assert_eq!(file, Some(PathBuf::from("/home/me/.claude/settings.json")));
}

#[test]
fn odd_names_of_plans_are_escaped() {
    let line =
        |program: AgentProgram, plan| program.line(&turn(ProgramSession::New(NEW), Some(plan)));
    let claude = words(&line(AgentProgram::Claude, "docs/my plan (v1) [x].md"));
    assert!(claude.contains("Edit(/docs/my plan ?v1? ?x?.md)"));
    let policy = &line(AgentProgram::Gemini, "a \"b\\+.md").files[0].1;
    assert!(
        policy.contains(r#"(?!(?:\\/copy\\/|\\.\\/|)a \\\\\"b\\\\\\\\\\+\\.md\")"#),
        "{policy}"
    );
    let config = &line(AgentProgram::Opencode, "a \"b.md").environment;
    let config = config.iter().find(|(name, _)| *name == "OPENCODE_CONFIG_CONTENT").unwrap();
    let config: Value = serde_json::from_str(&config.1).unwrap();
    assert_eq!(config["agent"]["aw-debate"]["permission"]["edit"]["a \"b.md"], "allow");
    assert_eq!([&config["lsp"], &config["formatter"]], [false, false]);
}

#[test]
fn the_names_of_mcp_servers_are_read() {
    let names = |program: AgentProgram, output| program.mcp_servers_from(output);
    let some = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    assert_eq!(names(AgentProgram::Codex, "[]\n"), some(&[]));
    assert_eq!(
        names(AgentProgram::Codex, r#"[{"name": "a"}, {"name": "b-c"}]"#),
        some(&["a", "b-c"])
    );
    assert_eq!(names(AgentProgram::Codex, "No MCP servers"), None);
    assert_eq!(names(AgentProgram::Opencode, r#"{"mcp": {"a": {}, "b": {}}}"#), some(&["a", "b"]));
    assert_eq!(names(AgentProgram::Opencode, r#"{"provider": {}}"#), some(&[]));
}
