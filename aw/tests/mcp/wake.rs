//! `aw mcp --wake`: an idle Codex is woken by `codex queue`. `agents::wake` does the same with the real program.

use std::fs;

use serde_json::{Value, json};

use crate::cli::aw::Aw;
use crate::kit::mcp_process::McpProcess;
use crate::loops::machine::until;
use crate::world::text;

const THREAD: &str = "01a1edb8-357c-7052-839a-27583dc0ce12";

/// A Codex whose agent is the opponent, and a debate that waits for it.
struct Codex {
    aw: Aw,
    mcp: McpProcess,
    debate: String,
    motion: String,
}

impl Codex {
    fn start(arguments: &[&str]) -> Self {
        let aw = Aw::new();
        aw.program(
            "codex",
            "for word in \"$@\"; do echo \"$word\"; done > queued.part; mv queued.part queued",
        );
        let created = ["debate", "create", "-t", "T", "--type", "general_debate", "--content", "C"];
        let created = aw.quietly(&created).data();
        let mcp = McpProcess::of(&aw, "codex-mcp-client", arguments);
        let (debate, motion) = (text(&created["debate_id"]), text(&created["argument_id"]));
        Codex { aw, mcp, debate, motion }
    }

    /// A call in a turn that was begun like this.
    #[track_caller]
    fn call(&mut self, trigger: &str, tool: &str, mut arguments: Value) -> Value {
        arguments["debate_id"] = json!(self.debate);
        arguments["role"] = json!("opponent");
        let turn = json!({"turn_trigger": trigger});
        let meta = json!({"threadId": THREAD, "x-codex-turn-metadata": turn});
        let call = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let mut result = self.mcp.ask("tools/call", &call);
        assert_eq!(result["isError"], false, "{result:#}");
        result["structuredContent"].take()
    }

    /// The opponent answers the MOTION and waits in vain. Returns its CLAIM and the time-out.
    #[track_caller]
    fn idles(&mut self, trigger: &str) -> (String, Value) {
        let claim = json!({"target_id": self.motion, "content": "No."});
        let claim = text(&self.call(trigger, "debate_submit", claim)["argument_id"]);
        let timeout = self.wait(trigger, &claim);
        (claim, timeout)
    }

    #[track_caller]
    fn wait(&mut self, trigger: &str, claim: &str) -> Value {
        self.call(trigger, "debate_wait", json!({"argument_id": claim, "deadline": 0}))
    }

    #[track_caller]
    fn proposer_answers(&self, target: &str) {
        let submit = ["debate", "submit", "--debate-id", &self.debate, "--role", "proposer"];
        self.aw
            .quietly(&[&submit[..], &["--target-id", target, "--content", "Yes."]].concat())
            .ok();
    }

    /// The arguments of `codex`, once it was run.
    fn queued(&self) -> Option<Vec<String>> {
        let text = fs::read_to_string(self.aw.desk().join("queued")).ok()?;
        Some(text.lines().map(str::to_owned).collect())
    }

    fn note(&self) -> Option<Value> {
        let path = self.aw.home().join(format!("sessions/codex-{THREAD}.json"));
        fs::read(path).ok().map(|text| serde_json::from_slice(&text).unwrap())
    }
}

#[test]
fn an_idle_codex_gets_a_message_when_it_has_the_floor() {
    let mut codex = Codex::start(&["--wake"]);
    let (claim, timeout) = codex.idles("user");
    assert_eq!((&timeout["wake"], &timeout["next"]), (&json!(true), &Value::Null), "{timeout}");
    assert!(text(&timeout["message"]).ends_with("end your turn; you will be woken."));
    codex.proposer_answers(&claim);
    until("a message is queued", || codex.queued().is_some());
    let queued = codex.queued().unwrap();
    let debate = &codex.debate;
    assert_eq!(queued[..4], ["queue", "--thread", THREAD, "--message"]);
    assert_eq!(queued[4], format!("Debate {debate} waits for your move: you are the opponent."));
    let call = queued[6].strip_prefix("debate_wait ").unwrap();
    let arguments: Value = serde_json::from_str(call).unwrap();
    let wanted = json!({"debate_id": debate, "role": "opponent", "argument_id": claim});
    assert_eq!((arguments, queued.len()), (wanted.clone(), 7));
    let news = codex.call("queue", "debate_wait", wanted);
    assert_eq!((&news["action"], &news["wake"]), (&json!("respond"), &Value::Null));
}

#[test]
fn a_codex_that_is_awake_gets_no_message() {
    let mut codex = Codex::start(&["--wake"]);
    let (claim, _) = codex.idles("user");
    let waker = |codex: &Codex| codex.note().is_some_and(|note| note["waker"].is_string());
    until("it is watched", || waker(&codex));
    codex.call("user", "debate_get_context", json!({}));
    assert!(!waker(&codex), "a call of the thread ends the watch");
    codex.proposer_answers(&claim);
    assert_eq!(codex.wait("user", &claim)["action"], "respond");
    assert!(codex.queued().is_none());
}

#[test]
fn a_codex_that_cannot_be_woken_waits_on() {
    // `codex exec` ends with its turn.
    let mut codex = Codex::start(&["--wake"]);
    let (_, timeout) = codex.idles("exec");
    assert!(timeout["wake"].is_null() && timeout["next"].is_object(), "{timeout}");
    assert!(codex.note().is_none());
    // Without --wake there is a note, and nobody who wakes.
    let mut codex = Codex::start(&[]);
    let (claim, timeout) = codex.idles("user");
    assert!(timeout["wake"].is_null() && timeout["next"].is_object(), "{timeout}");
    let noted = codex.note().unwrap();
    assert_eq!(noted["debates"][0]["argument_id"], claim.as_str());
    assert!(noted["waker"].is_null());
}
