//! Clients that others have written: the official Python SDK and the official inspector.
//!
//! The SDK accepts a message only if it is as the protocol says, and a result only if its structured
//! part is as the tool's output schema says, so every answer below was looked at twice.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::programs::Programs;
use super::sdk::{Order, Sdk, http, stdio};
use crate::loops::machine::{Machine, until};
use crate::world::text;

const CURRENT: &str = "2026-07-28";
const PREVIOUS: &str = "2025-11-25";
const NOBODY: &str = "93d81b1a-0e66-4510-abfd-aa33b26cb82e";

#[test]
fn the_python_client_holds_a_whole_debate_in_the_current_revision() {
    a_whole_debate(CURRENT);
}

#[test]
fn the_python_client_holds_a_whole_debate_in_the_previous_revision() {
    a_whole_debate(PREVIOUS);
}

/// The proposer and the arbitrator over stdio, the opponent over HTTP; nobody has started a server.
fn a_whole_debate(revision: &str) {
    let Some(programs) = Programs::find() else { return };
    let machine = Machine::fresh();
    let mut sdk = Sdk::start(&programs);
    let about = sdk.open("proposer", stdio(&machine, &["mcp"]), revision);
    assert_eq!(about["server"]["name"], "aw");
    assert!(text(&about["instructions"]).contains("debate-proposer"), "{about}");

    let plan = "Keep all events in one SQLite file";
    let kept = sdk.call("proposer", "docs_create", json!({"summary": "The plan", "content": plan}));
    let motion = format!("We keep one file: {}", text(&kept["cite"]));
    let created = sdk.call(
        "proposer",
        "debate_create",
        json!({"title": plan, "type": "general_debate", "content": motion}),
    );
    let proposer = sdk.follow("proposer", &created, "");

    sdk.open("opponent", http(&machine, "?role=opponent"), revision);
    let listed = sdk.call("opponent", "debate_list", json!({"pending_first_opponent": true}));
    let joining = sdk.follow("opponent", &listed, "");
    let joined = sdk.result(joining)["structuredContent"].take();
    assert_eq!(
        (&joined["action"], &joined["motion"]["content"]),
        (&json!("respond"), &json!(motion))
    );
    let cited = &joined["documents"][0];
    let wanted = json!({"document_id": cited["document_id"], "version": cited["version"]});
    assert_eq!(sdk.call("opponent", "docs_get", wanted)["content"], plan);
    let opponent = claim(&mut sdk, "opponent", &joined, "C1: nobody copies the file.");

    let turn = turn(&mut sdk, "proposer", proposer);
    assert_eq!(turn["arguments"][0]["content"], "C1: nobody copies the file.");
    let version = json!({
        "document_id": kept["document_id"], "summary": "Copied", "content": format!("{plan}, copied"),
    });
    let second = sdk.call("proposer", "docs_submit", version);
    let proposer =
        claim(&mut sdk, "proposer", &turn, &format!("Copied: {}", text(&second["cite"])));
    let turn = self::turn(&mut sdk, "opponent", opponent);
    let opponent = claim(&mut sdk, "opponent", &turn, "M1: how often?");

    let mut turn = self::turn(&mut sdk, "proposer", proposer);
    turn["next"] = alternative(&turn, "debate_appeal");
    let proposer = claim(&mut sdk, "proposer", &turn, "Every hour or every minute?");
    // The opponent reads it and waits again. After ten seconds both get progress that names the arbitrator.
    let appeal = sdk.result(opponent)["structuredContent"].take();
    assert_eq!(appeal["arguments"][0]["type"], "APPEAL");
    let opponent = sdk.follow("opponent", &appeal, "");
    thread::sleep(Duration::from_secs(11));
    sdk.open("arbitrator", stdio(&machine, &["mcp", "--role", "arbitrator"]), revision);
    let debate = json!({"debate_id": created["debate_id"]});
    let turn = sdk.call("arbitrator", "debate_wait", debate);
    assert_eq!(turn["action"], "rule");
    let ruling = sdk.follow("arbitrator", &turn, "Every hour.");
    let ruled = sdk.result(ruling)["structuredContent"].take();
    assert_eq!(ruled["argument_type"], "RULING");

    let mut woken = Vec::new();
    for order in [proposer, opponent] {
        let mut result = sdk.result(order);
        let [progress] = &result["progress"].as_array().unwrap()[..] else { panic!("{result}") };
        let after = progress["after"].as_f64().unwrap();
        assert!((9.5..12.0).contains(&after), "{progress}");
        assert!(text(&progress["message"]).contains("the arbitrator"), "{progress}");
        woken.push(result["structuredContent"].take());
    }
    assert_eq!(woken[0]["action"], "align_to_ruling");
    let proposer = claim(&mut sdk, "proposer", &woken[0], "Aligned: every hour.");
    let opponent = sdk.follow("opponent", &woken[1], "");
    let turn = self::turn(&mut sdk, "opponent", opponent);
    let opponent = claim(&mut sdk, "opponent", &turn, "No issue is left.");
    let mut turn = self::turn(&mut sdk, "proposer", proposer);
    turn["next"] = alternative(&turn, "debate_request_completion");
    let order = sdk.follow("proposer", &turn, "One file, copied every hour.");
    let closed = sdk.result(order)["structuredContent"].take();
    let end = self::turn(&mut sdk, "opponent", opponent);
    for end in [closed, end] {
        assert_eq!(end["action"], "debate_closed");
        assert_eq!(end["next"]["tool"], "debate_result");
    }

    let record = machine.get(&format!("/debates/{}?limit=100", text(&created["debate_id"])));
    let all: Vec<&Value> =
        std::iter::once(&record["motion"]).chain(record["arguments"].as_array().unwrap()).collect();
    let said = all.iter().map(|one| format!("{} {}", text(&one["role"]), text(&one["type"])));
    let expected = [
        "proposer MOTION",
        "opponent CLAIM",
        "proposer CLAIM",
        "opponent CLAIM",
        "proposer APPEAL",
        "arbitrator RULING",
        "proposer CLAIM",
        "opponent CLAIM",
        "proposer RESOLUTION",
        "arbitrator RULING",
    ];
    assert_eq!(said.collect::<Vec<_>>(), expected);
    assert!(all.iter().all(|one| one["via"] == "mcp"), "{record}");
}

/// Makes the move that an answer asks for and begins the wait after it.
#[track_caller]
fn claim(sdk: &mut Sdk, seat: &str, turn: &Value, words: &str) -> Order {
    let order = sdk.follow(seat, turn, words);
    let made = sdk.result(order)["structuredContent"].take();
    assert_eq!(made["next"]["tool"], "debate_wait", "{made}");
    sdk.follow(seat, &made, "")
}

/// Waits until there is something to say, or nothing any more.
#[track_caller]
fn turn(sdk: &mut Sdk, seat: &str, mut wait: Order) -> Value {
    loop {
        let answer = sdk.result(wait)["structuredContent"].take();
        if answer["next"]["tool"] != "debate_wait" {
            return answer;
        }
        wait = sdk.follow(seat, &answer, "");
    }
}

fn alternative(turn: &Value, tool: &str) -> Value {
    let mut open = turn["alternatives"].as_array().unwrap().iter();
    open.find(|call| call["tool"] == tool).unwrap_or_else(|| panic!("no {tool} in {turn}")).clone()
}

#[test]
fn a_wait_that_the_python_client_cancels_is_held_no_longer() {
    let Some(programs) = Programs::find() else { return };
    let machine = Machine::fresh();
    let (debate, _) = machine.debate();
    let mut sdk = Sdk::start(&programs);
    for revision in [CURRENT, PREVIOUS] {
        for (way, server) in [("stdio", stdio(&machine, &["mcp"])), ("http", http(&machine, ""))] {
            let seat = format!("{way} {revision}");
            sdk.open(&seat, server, revision);
            let wait = json!({"debate_id": debate, "role": "proposer", "deadline": 300});
            let waiting = sdk.begin(&seat, "debate_wait", &wait);
            until("the wait is held", || machine.held() == 1);
            sdk.cancel(&seat);
            assert_eq!(sdk.end(waiting)["cancelled"], true);
            until("it is let go", || machine.held() == 0);
            // Over stdio it is asked for in pieces, and no further piece may come.
            let began = Instant::now();
            while began.elapsed() < Duration::from_secs(3) {
                assert_eq!(machine.held(), 0, "{seat}");
                thread::sleep(Duration::from_millis(20));
            }
            // A client that gave up one call can make another.
            assert_eq!(sdk.call(&seat, "debate_list", json!({}))["total"], 1);
        }
    }
}

#[test]
fn the_python_client_gets_refusals_with_a_suggestion() {
    let Some(programs) = Programs::find() else { return };
    let machine = Machine::fresh();
    let (debate, motion) = machine.debate();
    let mut sdk = Sdk::start(&programs);
    for revision in [CURRENT, PREVIOUS] {
        for (way, server) in [("stdio", stdio(&machine, &["mcp"])), ("http", http(&machine, ""))] {
            let seat = format!("{way} {revision}");
            sdk.open(&seat, server, revision);
            let error = sdk.refused(&seat, "debate_get_context", json!({"debate_id": NOBODY}));
            assert_eq!(
                (&error["code"], &error["debate_id"]),
                (&json!("DEBATE_NOT_FOUND"), &json!(NOBODY))
            );
            let early = json!({
                "debate_id": debate, "role": "proposer", "target_id": motion, "content": "Me again.",
            });
            let error = sdk.refused(&seat, "debate_submit", early);
            assert_eq!(error["code"], "ACTION_NOT_ALLOWED");
            assert_eq!(error["current_state"], "AWAITING_OPPONENT");
            let ruling = json!({"debate_id": debate, "content": "I rule."});
            let error = sdk.refused(&seat, "debate_ruling", ruling);
            assert_eq!((&error["code"], &error["reason"]), (&json!("FORBIDDEN"), &json!("role")));
            let wordless = json!({"debate_id": debate, "role": "opponent", "target_id": motion});
            let error = sdk.refused(&seat, "debate_submit", wordless);
            assert_eq!(
                (&error["code"], &error["field"]),
                (&json!("INVALID_INPUT"), &json!("content"))
            );

            for (what, more, named) in [
                (
                    "call",
                    json!({"tool": "debate_win", "arguments": {}, "progress": false}),
                    "debate_submit",
                ),
                ("prompt", json!({"name": "debate-winner", "arguments": {}}), "debate-opponent"),
                ("read", json!({"uri": "aw://elsewhere"}), "aw://docs/"),
            ] {
                let order = sdk.order(&seat, what, more);
                let answer = sdk.end(order);
                let message = answer["error"]["message"].as_str().unwrap_or_default();
                assert!(message.contains(named), "{what} over {seat}: {answer}");
            }
        }
    }
}

#[test]
fn the_python_client_reads_prompts_and_resources() {
    let Some(programs) = Programs::find() else { return };
    let machine = Machine::fresh();
    let mut sdk = Sdk::start(&programs);
    for revision in [CURRENT, PREVIOUS] {
        for (way, server) in [("stdio", stdio(&machine, &["mcp"])), ("http", http(&machine, ""))] {
            let seat = format!("{way} {revision}");
            sdk.open(&seat, server, revision);
            let plan = format!("The plan of {seat}");
            let kept = sdk.call(&seat, "docs_create", json!({"summary": "Plan", "content": plan}));

            let listed = sdk.ask(&seat, "prompts", json!({}));
            let names = ["debate-proposer", "debate-opponent", "debate-arbitrator"];
            assert_eq!(each(&listed["prompts"], "name"), names);
            let opponent =
                json!({"name": "debate-opponent", "arguments": {"type": "general_debate"}});
            let prompt = sdk.ask(&seat, "prompt", opponent);
            let words = text(&prompt["messages"][0]["content"]["text"]);
            assert!(words.contains("debate_wait"), "{words}");

            let listed = sdk.ask(&seat, "resources", json!({}));
            let rules = "aw://rules/opponent/general_debate";
            assert!(each(&listed["resources"], "uri").contains(&rules.to_owned()), "{listed}");
            let read = sdk.ask(&seat, "read", json!({"uri": rules}));
            let rules = text(&read["contents"][0]["text"]);
            assert!(words.contains(rules.lines().last().unwrap()), "the prompt holds the rules");
            let templates = sdk.ask(&seat, "templates", json!({}));
            let templates = each(&templates["resourceTemplates"], "uriTemplate");
            assert!(templates.contains(&"aw://docs/{document_id}{?version}".to_owned()));
            let uri = format!("aw://docs/{}?version=1", text(&kept["document_id"]));
            let read = sdk.ask(&seat, "read", json!({"uri": uri}));
            assert!(text(&read["contents"][0]["text"]).contains(&plan), "{read}");
        }
    }
}

/// This field of each.
#[track_caller]
fn each(list: &Value, field: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|one| text(&one[field])).collect()
}
