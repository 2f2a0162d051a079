//! A command of this version beside a server of an earlier one, which is this server under the older
//! number.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use super::machine::{Machine, until};

/// Makes the server that runs one of version 0.0.9, as far as a command can see.
fn becomes_older(machine: &Machine) -> i32 {
    let file = machine.data().join("server.json");
    let mut running: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    running["version"] = json!("0.0.9");
    fs::write(&file, running.to_string()).unwrap();
    machine.server()
}

#[test]
fn an_idle_server_of_an_earlier_version_is_replaced_and_nothing_is_lost() {
    let machine = Machine::fresh();
    let (debate, _) = machine.debate();
    let older = becomes_older(&machine);
    assert_eq!(machine.aw(&["debate", "list"]).data()["debates"][0]["id"], debate);
    assert_ne!(machine.server(), older);
    let status = machine.aw(&["server", "status"]).data();
    assert_eq!(status["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn many_commands_at_once_replace_an_earlier_server_once() {
    let machine = Machine::fresh();
    machine.debate();
    let older = becomes_older(&machine);
    let commands: Vec<_> = (0..8).map(|_| machine.start(&["debate", "list"])).collect();
    for command in commands {
        assert_eq!(command.end().data()["total"], 1);
    }
    assert_ne!(machine.server(), older);
    let log = fs::read_to_string(machine.data().join("logs/server.log")).unwrap();
    assert_eq!(log.matches(" listening on ").count(), 2, "{log}");
}

#[test]
fn an_earlier_server_in_use_stays_until_it_is_idle() {
    let machine = Machine::fresh();
    let (debate, motion) = machine.debate();
    let wait = ["debate", "wait", &debate, "--role", "proposer", "--argument-id", &motion];
    let waiting = machine.start(&wait);
    until("a wait is held", || machine.held() == 1);
    let older = becomes_older(&machine);
    machine.aw(&["debate", "list"]).data();
    assert_eq!(machine.server(), older);
    drop(waiting);
    until("nobody waits", || machine.held() == 0);
    machine.aw(&["debate", "list"]).data();
    assert_ne!(machine.server(), older);
}

#[test]
fn an_earlier_server_in_a_terminal_or_a_newer_one_is_left_alone() {
    let machine = Machine::fresh();
    let mut serving = machine.command(&["serve"]);
    let mut serving = serving.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("it listens", || machine.data().join("server.json").exists());
    let kept = becomes_older(&machine);
    machine.aw(&["debate", "list"]).data();
    assert_eq!(machine.server(), kept);
    serving.kill().unwrap();
    serving.wait().unwrap();

    machine.aw(&["server", "start"]).data();
    let file = machine.data().join("server.json");
    let newer = fs::read_to_string(&file).unwrap().replace(env!("CARGO_PKG_VERSION"), "99.0.0");
    fs::write(&file, newer).unwrap();
    let kept = machine.server();
    machine.aw(&["debate", "list"]).data();
    assert_eq!(machine.server(), kept);
}
