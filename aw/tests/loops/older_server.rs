//! Our command line with a fake server of the older system, whose answers lack the newer fields.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::fakes::{Fake, envelope};
use super::machine::Machine;
use crate::world::{new_id, text};

/// One debate, as it keeps it.
#[derive(Default)]
struct Record {
    debate: Value,
    arguments: Vec<Value>,
}

/// An answer and its status.
type Said = Result<Value, (&'static str, &'static str, String)>;

impl Record {
    fn write(&mut self, kind: &str, role: &str, parent: &Value, body: &Value, state: &str) -> Said {
        let known = |argument: &&Value| {
            argument["client_request_id"] == body["client_request_id"]
                && !body["client_request_id"].is_null()
        };
        if let Some(known) = self.arguments.iter().find(known) {
            return Ok(json!({"debate": self.debate, "argument": known}));
        }
        let content = match kind {
            "MOTION" => &body["motion_content"],
            _ => &body["content"],
        };
        let argument = json!({
            "id": new_id(), "debate_id": self.debate["id"], "parent_id": parent, "type": kind,
            "role": role, "content": content, "client_request_id": body["client_request_id"],
            "seq": self.arguments.len() + 1, "created_at": "2026-02-07 05:32:50",
        });
        self.arguments.push(argument.clone());
        self.debate["state"] = state.into();
        Ok(json!({"debate": self.debate, "argument": argument}))
    }

    /// A move, if the state allows it.
    fn play(&mut self, rest: &str, body: &Value) -> Said {
        let state = text(&self.debate["state"]);
        let target = &body["target_id"];
        let role = body["role"].as_str().unwrap_or_default();
        match (rest, state.as_str()) {
            ("arguments", "AWAITING_OPPONENT") if role == "opponent" => {
                self.write("CLAIM", role, target, body, "AWAITING_PROPOSER")
            }
            ("arguments", "AWAITING_PROPOSER") if role == "proposer" => {
                self.write("CLAIM", role, target, body, "AWAITING_OPPONENT")
            }
            ("appeal", "AWAITING_PROPOSER") => {
                self.write("APPEAL", "proposer", target, body, "AWAITING_ARBITRATOR")
            }
            ("resolution", "AWAITING_PROPOSER") => {
                let done = self.write("RESOLUTION", "proposer", target, body, "CLOSED");
                let ruling =
                    json!({"content": "Auto-approved: Debate completed as requested by proposer."});
                self.write("RULING", "arbitrator", &Value::Null, &ruling, "CLOSED")?;
                done
            }
            ("ruling", "AWAITING_ARBITRATOR" | "INTERVENTION_PENDING") => {
                let state = if body["close"] == true { "CLOSED" } else { "AWAITING_PROPOSER" };
                self.write("RULING", "arbitrator", &Value::Null, body, state)
            }
            ("intervention", "AWAITING_OPPONENT" | "AWAITING_PROPOSER") => {
                self.write("INTERVENTION", "arbitrator", &Value::Null, body, "INTERVENTION_PENDING")
            }
            _ => {
                let why = format!("Role '{role}' cannot perform '{rest}' in state '{state}'");
                Err(("403 Forbidden", "ACTION_NOT_ALLOWED", why))
            }
        }
    }

    /// The newest argument after the named one, of any role, without waiting.
    fn poll(&self, query: &str) -> Said {
        let value = |name: &str| {
            query.split('&').find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
        };
        let role = value("role").unwrap_or_default();
        if role != "proposer" && role != "opponent" {
            return Err(("400 Bad Request", "INVALID_INPUT", "Invalid role".to_owned()));
        }
        let seen = value("argument_id").map_or(0, |id| {
            let known = self.arguments.iter().find(|argument| argument["id"] == id);
            known.expect("the argument is known")["seq"].as_u64().unwrap()
        });
        let latest = self.arguments.last().filter(|newest| newest["seq"].as_u64().unwrap() > seen);
        let Some(latest) = latest else {
            return Ok(json!({
                "has_new_argument": false, "debate_id": self.debate["id"], "last_seen_seq": seen,
            }));
        };
        let action = match (text(&latest["type"]).as_str(), role, &self.debate["state"]) {
            (_, _, state) if state == "CLOSED" => "debate_closed",
            ("APPEAL" | "RESOLUTION" | "INTERVENTION", ..) => "wait_for_ruling",
            ("RULING", "proposer", _) => "align_to_ruling",
            ("RULING", ..) => "wait_for_proposer",
            _ => "respond",
        };
        let mut argument = latest.clone();
        let unsaid = ["debate_id", "client_request_id"];
        argument.as_object_mut().unwrap().retain(|name, _| !unsaid.contains(&name.as_str()));
        Ok(json!({
            "has_new_argument": true, "action": action, "debate_state": self.debate["state"],
            "argument": argument,
        }))
    }

    fn answer(&mut self, method: &str, path: &str, body: &Value) -> Said {
        let (route, query) = path.split_once('?').unwrap_or((path, ""));
        let parts: Vec<&str> = route.split('/').skip(1).collect();
        match (method, parts.as_slice()) {
            ("GET", ["health"]) => Ok(json!({"status": "ok"})),
            ("GET", ["debates"]) => Ok(json!({"debates": [self.debate], "total": 1})),
            ("POST", ["debates"]) => {
                self.debate = json!({
                    "id": body["debate_id"], "title": body["title"],
                    "debate_type": body["debate_type"], "state": "AWAITING_OPPONENT",
                    "created_at": "2026-02-07 05:32:50", "updated_at": "2026-02-07 05:32:50",
                });
                self.write("MOTION", "proposer", &Value::Null, body, "AWAITING_OPPONENT")
            }
            ("GET", ["debates", _]) => Ok(json!({
                "debate": self.debate, "motion": self.arguments[0], "arguments": self.arguments[1..],
            })),
            ("GET", ["debates", _, "poll"]) => self.poll(query),
            (
                "POST",
                [
                    "debates",
                    _,
                    rest @ ("arguments" | "appeal" | "resolution" | "ruling" | "intervention"),
                ],
            ) => self.play(rest, body),
            _ => Err(("404 Not Found", "HTTP_ERROR", format!("Cannot {method} {path}"))),
        }
    }
}

fn older_server() -> Fake {
    let record = Arc::new(Mutex::new(Record::default()));
    Fake::answering(move |_, request| {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let mut line = head.lines().next().unwrap().split(' ');
        let (method, path) = (line.next().unwrap(), line.next().unwrap());
        let body = serde_json::from_str(body).unwrap_or_default();
        match record.lock().unwrap().answer(method, path, &body) {
            Ok(data) => envelope("200 OK", "", &json!({"success": true, "data": data})),
            Err((status, code, message)) => {
                let error = json!({"code": code, "message": message});
                envelope(status, "", &json!({"success": false, "error": error}))
            }
        }
    })
}

/// Runs the line that an answer advises, with this text.
fn follow(machine: &Machine, line: &Value, words: &str) -> Value {
    let line = text(line).replace("--file YOUR_TEXT.md", &format!("--content '{words}'"));
    machine.sh(&line).answer()
}

#[test]
fn a_whole_debate_by_following_what_the_answers_advise() {
    let server = older_server();
    let machine = Machine::fresh().with("DEBATE_SERVER_URL", &server.url());
    let create =
        ["debate", "create", "--title", "T", "--type", "general_debate", "--content", "Plan."];
    let created = machine.aw(&create).answer();
    let data = &created["content"][0]["data"];
    let (debate, motion) = (text(&data["debate_id"]), text(&data["argument_id"]));
    let next = text(&created["metadata"]["next_command"]);
    assert!(next.contains(&format!("--argument-id {motion}")), "it names the id: {next}");
    assert_eq!(data["url"], format!("{}/debate/debates/{debate}", server.url()));

    let join = ["debate", "get-context", "--debate-id", &debate, "--role", "opponent"];
    let joined = machine.aw(&join).answer();
    let claimed = follow(&machine, &joined["metadata"]["next_command"], "No.");
    let news = machine.sh(&next).answer();
    assert_eq!(news["content"][0]["data"]["action"], "respond", "{news}");
    assert_eq!(news["content"][0]["data"]["arguments"][0]["type"], "CLAIM");
    let others = news["metadata"]["alternatives"].as_array().unwrap();
    let appeal = others.iter().find(|line| text(line).contains("appeal")).unwrap();
    follow(&machine, appeal, "1. A 2. B");
    let pending = machine.sh(&text(&claimed["metadata"]["next_command"])).answer();
    assert_eq!(pending["content"][0]["data"]["action"], "wait_for_ruling");
    let rule = ["debate", "ruling", "--debate-id", &debate, "--content", "B"];
    machine.aw(&rule).data();
    let ruled = machine.sh(&text(&pending["metadata"]["next_command"])).answer();
    assert_eq!(ruled["content"][0]["data"]["action"], "wait_for_proposer");
    let wait = ["debate", "wait", "--debate-id", &debate, "--role", "proposer"];
    let aligned = machine.aw(&wait).answer();
    assert_eq!(aligned["content"][0]["data"]["action"], "align_to_ruling");
    let others = aligned["metadata"]["alternatives"].as_array().unwrap();
    let complete = others.iter().find(|line| text(line).contains("request-completion")).unwrap();
    follow(&machine, complete, "Done.");
    let over = machine.sh(&text(&ruled["metadata"]["next_command"])).answer();
    assert_eq!(over["content"][0]["data"]["action"], "debate_closed");
    assert!(over["metadata"]["next_command"].is_null(), "{over}");
    assert_eq!(machine.aw(&["debate", "list", "--state", "CLOSED"]).code, Some(0));
}

#[test]
fn a_wait_asks_once_a_second_and_ones_own_argument_is_no_news() {
    let server = older_server();
    let machine = Machine::fresh().with("DEBATE_SERVER_URL", &server.url());
    let (debate, motion) = machine.debate();
    for after in [&[][..], &["--argument-id", &motion]] {
        let polls = || server.heard().iter().filter(|request| request.contains("/poll?")).count();
        let before = polls();
        let began = Instant::now();
        let wait =
            ["debate", "wait", "--debate-id", &debate, "--role", "proposer", "--deadline", "3"];
        let over = machine.aw(&[&wait[..], after].concat()).data();
        assert_eq!(over["status"], "timeout", "{over}");
        assert!(text(&over["retry_command"]).contains(&motion), "it names the id: {over}");
        let most = began.elapsed().as_secs() + 1;
        let polled = (polls() - before) as u64;
        assert!((2..=most).contains(&polled), "{polled} polls in {:?}", began.elapsed());
        assert!(began.elapsed() >= Duration::from_secs(3));
    }
}

#[test]
fn an_older_server_refuses_unknown_requests_with_a_reason() {
    let server = older_server();
    let machine = Machine::fresh().with("DEBATE_SERVER_URL", &server.url());
    let (debate, _) = machine.debate();
    for line in [
        &["docs", "create", "--summary", "s", "--content", "c"][..],
        &["docs", "list"],
        &["debate", "export", "--debate-id", &debate],
        &["debate", "result", "--debate-id", &debate],
        &["debate", "verify"],
        &["debate", "list", "--search", "plan"],
        &["debate", "wait", "--debate-id", &debate, "--role", "arbitrator"],
        &["token", "list"],
    ] {
        let refused = machine.aw(line).refused("ROUTE_NOT_FOUND", 3);
        let said = text(&refused["message"]);
        assert!(said.starts_with("this server is the older system: "), "{line:?}: {said}");
        assert!(text(&refused["suggestion"]).contains("DEBATE_SERVER_URL"), "{refused}");
    }
    let doctor = machine.aw(&["doctor"]);
    assert!(doctor.out.contains("is a server of the older system"), "{doctor:?}");
}
