//! `aw mcp`: a pipe to an agent program, and the server behind it.

use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use aw::api::client::Request;
use aw::api::http::Client;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::ours::{CURRENT, PREVIOUS};
use crate::cli::aw::Aw;
use crate::loops::machine::Paused;
use crate::world::{CEILING, new_id, text};

/// An agent program at the other end of the pipe.
struct Host {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    next: u64,
}

impl Host {
    /// Starts `aw mcp` and shakes hands.
    fn start(aw: &Aw, arguments: &[&str]) -> Self {
        let mut host = Host::silent(aw, arguments);
        let hello = host.ask(
            "initialize",
            json!({
                "protocolVersion": PREVIOUS,
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }),
        );
        assert_eq!(hello["serverInfo"]["name"], "aw");
        host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        host
    }

    /// Starts it and says nothing yet. Whatever it prints must be a message.
    fn silent(aw: &Aw, arguments: &[&str]) -> Self {
        let mut child = aw.converse(&[&["mcp"], arguments].concat());
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (tell, messages) = channel();
        thread::spawn(move || {
            for line in stdout.lines() {
                let Ok(line) = line else { return };
                let message: Value =
                    serde_json::from_str(&line).unwrap_or_else(|_| json!({"printed": line}));
                if tell.send(message).is_err() {
                    return;
                }
            }
        });
        Host { child, stdin, messages, next: 1 }
    }

    fn send(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{message}\n").as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// Sends a request and gives its number.
    #[expect(clippy::needless_pass_by_value, reason = "so that a test can write json! in place")]
    fn begin(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The next message.
    #[track_caller]
    fn hear(&self) -> Value {
        let message = self.messages.recv_timeout(CEILING).expect("there is a message");
        assert_eq!(message["jsonrpc"], "2.0", "this is not the protocol: {message}");
        message
    }

    /// The answer to a request.
    #[track_caller]
    fn answer(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        loop {
            let message = self.hear();
            if message["id"] == id {
                return message;
            }
        }
    }

    #[track_caller]
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.answer(method, params);
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].take()
    }

    #[expect(clippy::needless_pass_by_value, reason = "so that a test can write json! in place")]
    #[track_caller]
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut result = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(result["isError"], false, "{tool}: {result:#}");
        result["structuredContent"].take()
    }

    #[expect(clippy::needless_pass_by_value, reason = "so that a test can write json! in place")]
    #[track_caller]
    fn error(&mut self, tool: &str, arguments: Value) -> Value {
        let mut result = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(result["isError"], true, "{tool}: {result:#}");
        result["structuredContent"]["error"].take()
    }

    /// A debate that waits for its opponent: its id and its motion's.
    fn debate(&mut self) -> (String, String) {
        let opening = json!({"title": "Pipes", "type": "general_debate", "content": "Motion."});
        let made = self.call("debate_create", opening);
        (text(&made["debate_id"]), text(&made["argument_id"]))
    }

    /// How it ends, which must be soon.
    #[track_caller]
    fn ends(mut self) -> i32 {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().expect("it exits");
            }
            assert!(began.elapsed() < Duration::from_secs(10), "it does not end");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn held_waits(aw: &Aw) -> u64 {
    let server = Client::new(&format!("http://{}", aw.listen), None);
    server.call(&Request::<Value>::get("/health")).unwrap().json["held_waits"].as_u64().unwrap()
}

#[track_caller]
fn until(what: &str, mut so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < CEILING, "it never came to this: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The process of the server in the background.
fn server(aw: &Aw) -> Pid {
    let status = aw.quietly(&["server", "status"]).data();
    Pid::from_raw(i32::try_from(status["pid"].as_i64().unwrap()).unwrap())
}

#[test]
fn nothing_is_started_until_a_tool_needs_it() {
    let aw = Aw::new();
    let mut host = Host::start(&aw, &[]);
    assert_eq!(host.ask("tools/list", json!({}))["tools"].as_array().unwrap().len(), 14);
    assert_eq!(host.ask("prompts/list", json!({}))["prompts"].as_array().unwrap().len(), 3);
    assert_eq!(host.ask("resources/list", json!({}))["resources"].as_array().unwrap().len(), 6);
    host.ask("resources/templates/list", json!({}));
    host.ask("prompts/get", json!({"name": "debate-proposer"}));
    let uri = "aw://rules/proposer/general_debate";
    host.ask("resources/read", json!({"uri": uri}));
    assert_eq!(aw.quietly(&["server", "status"]).data()["running"], false);
    host.debate();
    assert_eq!(aw.quietly(&["server", "status"]).data()["running"], true);
}

#[test]
fn the_current_revision_needs_no_handshake() {
    let aw = Aw::new();
    let mut host = Host::silent(&aw, &["--role", "opponent"]);
    let around = "io.modelcontextprotocol";
    let meta = json!({
        format!("{around}/protocolVersion"): CURRENT,
        format!("{around}/clientInfo"): {"name": "test", "version": "1"},
        format!("{around}/clientCapabilities"): {},
    });
    let listed = host.ask("tools/list", json!({"_meta": meta}));
    let names: Vec<String> =
        listed["tools"].as_array().unwrap().iter().map(|tool| text(&tool["name"])).collect();
    assert!(names.contains(&"debate_submit".to_owned()), "{names:?}");
    assert!(!names.contains(&"debate_create".to_owned()), "{names:?}");
    let ruling = json!({"name": "debate_ruling", "arguments": {}, "_meta": meta});
    let refused = host.ask("tools/call", ruling);
    assert_eq!(refused["structuredContent"]["error"]["reason"], "role");
}

#[test]
fn a_tool_and_a_command_give_the_same_words_the_same_id() {
    let aw = Aw::new();
    let mut debater = Host::start(&aw, &[]);
    let mut arbitrator = Host::start(&aw, &["--role", "arbitrator"]);
    let id = new_id();
    let opening = json!({
        "debate_id": id, "title": "Twice", "type": "general_debate", "content": "Motion.",
    });
    let by_tool = debater.call("debate_create", opening);
    let typed = ["debate", "create", "--debate-id", &id, "--title", "Twice", "--type"];
    let typed = [&typed[..], &["general_debate", "--content", "Motion."]].concat();
    let by_command = aw.run(&typed).data();
    let same = |by_tool: &Value, by_command: &Value| {
        assert_eq!(by_command["replayed"], true, "{by_command}");
        assert_eq!(by_tool["client_request_id"], by_command["client_request_id"]);
        text(&by_tool["argument_id"])
    };
    let motion = same(&by_tool, &by_command);
    let claim = |role: &str, target: &str, content: &str| json!({"debate_id": id, "role": role, "target_id": target, "content": content});
    let submit = |role: &str, target: &str, content: &str| {
        let typed = ["debate", "submit", "--debate-id", &id, "--role", role];
        aw.run(&[&typed[..], &["--target-id", target, "--content", content]].concat()).data()
    };
    let by_tool = debater.call("debate_submit", claim("opponent", &motion, "Không.\n"));
    let first = same(&by_tool, &submit("opponent", &motion, "Không.\n"));
    let ask = |command: &str, target: &str, more: &[&str]| {
        let typed = ["debate", command, "--debate-id", &id, "--target-id", target];
        aw.run(&[&typed[..], &["--content", "Words."], more].concat()).data()
    };
    let words = |target: &str| json!({"debate_id": id, "target_id": target, "content": "Words."});
    let by_tool = debater.call("debate_appeal", words(&first));
    let appeal = same(&by_tool, &ask("appeal", &first, &[]));
    let by_tool = arbitrator.call("debate_ruling", words(&appeal));
    let ruling = same(&by_tool, &ask("ruling", &appeal, &[]));
    let aligned = debater.call("debate_submit", claim("proposer", &ruling, "Aligned."));
    let aligned = text(&aligned["argument_id"]);
    let agreed = debater.call("debate_submit", claim("opponent", &aligned, "Agreed."));
    let agreed = text(&agreed["argument_id"]);
    let by_tool = debater.call("debate_request_completion", words(&agreed));
    same(&by_tool, &ask("request-completion", &agreed, &[]));
}

#[test]
fn a_server_that_was_killed_is_started_again_and_the_debate_goes_on() {
    let aw = Aw::new();
    let mut host = Host::start(&aw, &[]);
    let (debate, motion) = host.debate();
    for round in 0..2 {
        let pid = server(&aw);
        kill(pid, Signal::SIGKILL).unwrap();
        let claim = json!({
            "debate_id": debate, "role": "opponent", "target_id": motion, "content": "Still here?",
        });
        let written = host.call("debate_submit", claim);
        assert_eq!(written["replayed"], round > 0);
        assert_ne!(server(&aw), pid);
    }
}

#[test]
fn a_server_that_was_stopped_on_purpose_stays_so_while_a_wait_is_held() {
    let aw = Aw::new();
    let mut host = Host::start(&aw, &[]);
    let (debate, motion) = host.debate();
    let waiting =
        json!({"debate_id": debate, "role": "proposer", "argument_id": motion, "deadline": 6});
    let id = host.begin("tools/call", json!({"name": "debate_wait", "arguments": waiting}));
    until("the wait is held", || held_waits(&aw) == 1);
    let began = Instant::now();
    aw.quietly(&["server", "stop"]).ok();
    assert!(began.elapsed() < Duration::from_secs(5), "it took {:?}", began.elapsed());
    let answer = host.hear();
    assert_eq!(answer["id"], id);
    let over = &answer["result"]["structuredContent"];
    assert_eq!((&over["status"], &over["server_unreachable"]), (&"timeout".into(), &true.into()));
    assert_eq!(aw.quietly(&["server", "status"]).data()["running"], false);
    // The next call needs one.
    let mut again = over["next"]["arguments"].clone();
    again["deadline"] = 0.into();
    assert_eq!(host.call("debate_wait", again)["server_unreachable"], false);
}

#[test]
fn a_server_that_hangs_holds_no_wait_beyond_its_deadline() {
    let aw = Aw::new();
    let mut host = Host::start(&aw, &[]);
    let (debate, motion) = host.debate();
    let _paused = Paused::new(server(&aw));
    let waiting =
        json!({"debate_id": debate, "role": "proposer", "argument_id": motion, "deadline": 3});
    let began = Instant::now();
    let over = host.call("debate_wait", waiting);
    assert!(began.elapsed() < Duration::from_secs(15), "it took {:?}", began.elapsed());
    assert_eq!((&over["status"], &over["server_unreachable"]), (&"timeout".into(), &true.into()));
    assert_eq!(over["retry"]["arguments"]["attempt"], 2);
}

#[test]
fn a_cancelled_wait_is_released_and_the_session_goes_on() {
    let aw = Aw::new();
    let mut host = Host::start(&aw, &[]);
    let (debate, motion) = host.debate();
    let waiting =
        json!({"debate_id": debate, "role": "proposer", "argument_id": motion, "deadline": 100});
    let params = json!({
        "name": "debate_wait", "arguments": waiting, "_meta": {"progressToken": 1},
    });
    let id = host.begin("tools/call", params);
    until("the wait is held", || held_waits(&aw) == 1);
    // While one call waits, others are answered.
    host.call("debate_list", json!({}));
    let cancelled = json!({"requestId": id, "reason": "enough"});
    host.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled,
    }));
    let began = Instant::now();
    until("it is let go", || held_waits(&aw) == 0);
    assert!(began.elapsed() < Duration::from_secs(5), "it took {:?}", began.elapsed());
    host.call("debate_list", json!({}));
    match host.messages.recv_timeout(Duration::from_millis(200)) {
        Err(RecvTimeoutError::Timeout) => {}
        other => panic!("a cancelled call is answered with nothing, not {other:?}"),
    }
}

#[test]
fn it_ends_when_its_host_goes_even_while_a_wait_is_held() {
    let aw = Aw::new();
    for by_signal in [false, true] {
        let mut host = Host::start(&aw, &[]);
        let (debate, motion) = host.debate();
        let waiting = json!({
            "debate_id": debate, "role": "proposer", "argument_id": motion, "deadline": 100,
        });
        host.begin("tools/call", json!({"name": "debate_wait", "arguments": waiting}));
        until("the wait is held", || held_waits(&aw) == 1);
        if by_signal {
            let pid = Pid::from_raw(i32::try_from(host.child.id()).unwrap());
            kill(pid, Signal::SIGTERM).unwrap();
        } else {
            host.stdin = None;
        }
        assert_eq!(host.ends(), 0);
        until("the wait is let go", || held_waits(&aw) == 0);
    }
    // A host that only looks whether it starts.
    let mut host = Host::silent(&aw, &[]);
    host.stdin = None;
    assert_eq!(host.ends(), 0);
}

#[test]
fn a_tool_reports_that_it_cannot_reach_a_server() {
    let aw = Aw::new().set("AW_AUTOSTART", "0");
    let mut host = Host::start(&aw, &[]);
    let error = host.error("debate_list", json!({}));
    assert_eq!(error["code"], "CONNECTION_ERROR");
    assert!(text(&error["suggestion"]).contains("aw server start"), "{error}");
    // It is there by the next call.
    aw.quietly(&["server", "start"]).ok();
    host.call("debate_list", json!({}));

    let aw = Aw::new().set("DEBATE_SERVER_URL", "http://127.0.0.1:1");
    let error = Host::start(&aw, &[]).error("debate_list", json!({}));
    assert_eq!(error["code"], "CONNECTION_ERROR");

    let aw = Aw::new();
    aw.config("lisen = 'x'");
    let mut host = Host::start(&aw, &[]);
    assert!(!host.ask("tools/list", json!({}))["tools"].as_array().unwrap().is_empty());
    let error = host.error("debate_list", json!({}));
    assert_eq!(error["code"], "INVALID_INPUT");
    assert!(text(&error["message"]).contains("lisen"), "{error}");
}

#[test]
fn custom_types_are_known_and_kept_with_the_debate() {
    let aw = Aw::new().set("AW_AUTHOR", "Bob");
    let folder = aw.desk().join(".aweave/debate-types/house");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("type.toml"), "title = 'House'\ndescription = 'Houses'").unwrap();
    for role in ["proposer", "opponent", "arbitrator"] {
        fs::write(folder.join(format!("{role}.md")), format!("The {role} builds.")).unwrap();
    }
    let mut host = Host::start(&aw, &[]);
    let opening = json!({"title": "T", "type": "house", "content": "M"});
    let made = host.call("debate_create", opening);
    let uri = format!("aw://debates/{}/rules/opponent", text(&made["debate_id"]));
    let rules = host.ask("resources/read", json!({"uri": uri}));
    assert!(text(&rules["contents"][0]["text"]).contains("The opponent builds."), "{rules}");
    let read = ["debate", "get-context", "--full", "--debate-id", &text(&made["debate_id"])];
    assert_eq!(aw.quietly(&read).data()["motion"]["author"], "Bob");
    let error = host.error("debate_create", json!({"title": "T", "type": "hous", "content": "M"}));
    assert_eq!(error["field"], "type");
    assert!(text(&error["message"]).contains("house"), "{error}");
}

#[test]
fn a_large_document_goes_through_the_pipe() {
    let aw = Aw::new();
    let mut host = Host::start(&aw, &[]);
    // Every letter takes six bytes on the way.
    let long = "\u{1}".repeat(4 * 1024 * 1024);
    let kept = host.call("docs_create", json!({"summary": "Long", "content": long}));
    let read = host.call("docs_get", json!({"document_id": kept["document_id"]}));
    assert_eq!(read["content"], long);
}

#[test]
fn a_malformed_message_does_not_end_the_session() {
    let aw = Aw::new();
    let mut host = Host::start(&aw, &[]);
    for noise in ["", "hello", "{", "[]", "7", "\u{feff}", r#"{"jsonrpc":"2.0","id":90}"#] {
        host.stdin.as_mut().unwrap().write_all(format!("{noise}\n").as_bytes()).unwrap();
    }
    assert_eq!(host.ask("tools/list", json!({}))["tools"].as_array().unwrap().len(), 14);
    assert_eq!(host.answer("debates/delete", json!({}))["error"]["code"], -32601);
    assert_eq!(host.answer("tools/call", json!({"name": "nothing"}))["error"]["code"], -32602);
}
