//! Another user's program on the port of our stopped server, which claims to be our server. It gets no token.

use std::fs;
use std::net::TcpListener;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::fakes::{Fake, envelope};
use super::machine::{Going, Machine, until};
use crate::world::text;

/// A machine whose server requires tokens, with a debate.
fn guarded() -> (Machine, String) {
    let machine = Machine::fresh().with("AW_AUTH", "required");
    let (debate, _) = machine.debate();
    assert!(!admin_token(&machine).is_empty());
    (machine, debate)
}

fn admin_token(machine: &Machine) -> String {
    fs::read_to_string(machine.data().join("admin_token")).unwrap()
}

/// Takes the port of the machine's server and copies its public id.
fn impostor(machine: &Machine) -> Fake {
    let home_id = fs::read_to_string(machine.data().join("home_id")).unwrap();
    let data = json!({
        "status": "ok", "home_id": home_id, "debates": [], "total": 0,
        "has_new_argument": false, "last_seen_seq": 0,
    });
    let said = envelope("200 OK", "", &json!({"success": true, "data": data}));
    Fake::at(TcpListener::bind(&machine.listen).unwrap(), move |_, _| said.clone())
}

#[track_caller]
fn received_no_token(fake: &Fake) {
    for request in fake.heard() {
        assert!(!request.to_lowercase().contains("authorization"), "{request}");
    }
}

#[test]
fn a_program_on_the_port_of_a_stopped_server_gets_no_token() {
    let (machine, _) = guarded();
    machine.aw(&["server", "stop"]).data();
    let fake = impostor(&machine);
    let create = ["debate", "create", "--title", "T", "--type", "general_debate", "--content", "x"];
    for token in ["", "aw_of_a_seat"] {
        let mut command = machine.command(&create);
        command.env("DEBATE_AUTH_TOKEN", token);
        let refused = Going::start(command).end().refused("CONNECTION_ERROR", 3);
        assert!(text(&refused["message"]).contains("does not hold its lock"), "{refused}");
    }
    for request in fake.heard() {
        assert!(request.starts_with("GET /health "), "{request}");
    }
    received_no_token(&fake);
}

#[test]
fn a_program_that_takes_the_port_during_a_wait_gets_no_token() {
    let (machine, debate) = guarded();
    let motion = newest(&machine, &debate);
    let deadline = ["--deadline", "3"];
    let wait = waiting(&machine, &debate, &motion, &deadline);
    kill(Pid::from_raw(machine.server()), Signal::SIGKILL).unwrap();
    until("the port is free", || TcpListener::bind(&machine.listen).is_ok());
    let fake = impostor(&machine);
    let over = wait.end().data();
    assert_eq!((&over["status"], &over["server_unreachable"]), (&json!("timeout"), &json!(true)));
    assert_eq!(fake.heard(), Vec::<String>::new());
}

#[test]
fn a_wait_goes_on_when_our_own_server_is_back_at_its_place() {
    let (machine, debate) = guarded();
    let motion = newest(&machine, &debate);
    let wait = waiting(&machine, &debate, &motion, &["--deadline", "60"]);
    kill(Pid::from_raw(machine.server()), Signal::SIGKILL).unwrap();
    until("it is dead", || machine.aw(&["server", "status"]).data()["running"] == false);
    machine.aw(&["server", "start"]).data();
    let claim = ["debate", "submit", "--debate-id", &debate, "--role", "opponent"];
    let content = ["--target-id", &motion, "--content", "No."];
    machine.aw(&[&claim[..], &content[..]].concat()).data();
    assert_eq!(wait.end().data()["action"], "respond");
}

#[test]
fn the_administrators_token_is_for_the_server_of_its_folder_only() {
    let (machine, _) = guarded();
    let url = machine.url();
    let theirs = envelope("200 OK", "", &json!({"success": true, "data": {"debates": []}}));
    let fake = Fake::answering(move |_, _| theirs.clone());
    let there = fake.url();
    let machine = machine.with("DEBATE_SERVER_URL", &there);
    machine.aw(&["debate", "list"]).data();
    received_no_token(&fake);
    // A token that is set with a server URL is meant for that server.
    let machine = machine.with("DEBATE_AUTH_TOKEN", "aw_of_a_seat");
    machine.aw(&["debate", "list"]).data();
    assert!(fake.heard().last().unwrap().contains("Bearer aw_of_a_seat"), "{:?}", fake.heard());
    let machine = machine.with("DEBATE_AUTH_TOKEN", "").with("DEBATE_SERVER_URL", &url);
    assert_eq!(machine.aw(&["debate", "list"]).answer()["total_count"], 1);
}

fn newest(machine: &Machine, debate: &str) -> String {
    let context = machine.aw(&["debate", "get-context", "--debate-id", debate]).data();
    text(&context["motion"]["id"])
}

/// A proposer's wait that the server holds.
fn waiting(machine: &Machine, debate: &str, motion: &str, more: &[&str]) -> Going {
    let wait = ["debate", "wait", "--debate-id", debate, "--role", "proposer"];
    let wait = machine.start(&[&wait[..], &["--argument-id", motion], more].concat());
    until("the server holds it", || machine.held() == 1);
    wait
}
