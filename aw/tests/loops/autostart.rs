//! A fresh machine: the first command starts the server.

use std::collections::HashSet;
use std::fs;
use std::process::Stdio;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::fakes::{Fake, envelope};
use super::machine::{Machine, after_name, is_gone, until};
use crate::world::text;
use serde_json::json;

#[test]
fn on_a_fresh_machine_the_first_command_just_works_and_says_what_to_do_next() {
    let machine = Machine::fresh();
    let created =
        machine.sh("aw debate create --title T --type general_debate --content hi").answer();
    let data = &created["content"][0]["data"];
    assert_eq!(data["debate_state"], "AWAITING_OPPONENT");
    let (debate, motion) = (text(&data["debate_id"]), text(&data["argument_id"]));
    let next = text(&created["metadata"]["next_command"]);
    let wait =
        format!("aw debate wait --debate-id {debate} --role proposer --argument-id {motion}");
    assert_eq!(next, wait);
    let waited = machine.sh(&format!("{next} --deadline 0")).data();
    assert_eq!(
        (&waited["status"], &waited["debate_state"]),
        (&json!("timeout"), &data["debate_state"])
    );
    machine.server();
}

#[test]
fn ten_commands_at_the_same_instant_start_one_server_and_all_succeed() {
    for _ in 0..5 {
        let machine = Machine::fresh();
        let gate = Barrier::new(10);
        let debates: HashSet<String> = thread::scope(|scope| {
            let commands: Vec<_> = (0..10)
                .map(|_| {
                    scope.spawn(|| {
                        gate.wait();
                        machine.debate().0
                    })
                })
                .collect();
            commands.into_iter().map(|command| command.join().unwrap()).collect()
        });
        assert_eq!(debates.len(), 10);
        machine.server();
        let log = fs::read_to_string(machine.data().join("logs").join("server.log")).unwrap();
        assert_eq!(log.matches("listening on http").count(), 1, "{log}");
        assert!(!log.contains("error: "), "{log}");
        assert_eq!(machine.get("/debates")["total"], 10);
    }
}

#[test]
fn another_program_on_the_port_is_named_and_left_alone() {
    let page = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi".to_vec();
    let gibberish = b"220 mail.example.org ESMTP\r\n".to_vec();
    let alike = envelope("200 OK", "", &json!({"success": true, "data": {"status": "fine"}}));
    let failing = envelope("500 Oh", "", &json!({"success": false, "error": {"code": "X"}}));
    for said in [page, gibberish, alike, failing, Vec::new()] {
        let stranger = Fake::answering(move |_, _| said.clone());
        left_alone(&stranger);
    }
}

#[test]
fn a_silent_program_on_the_port_is_named_before_the_agent_gives_up() {
    let began = Instant::now();
    left_alone(&Fake::silent());
    // Agent programs give a command two minutes.
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[track_caller]
fn left_alone(stranger: &Fake) {
    let machine = Machine::listening_at(&stranger.address).with("DEBATE_AUTH_TOKEN", "secret");
    for command in [
        &["debate", "create", "--title", "T", "--type", "general_debate", "--content", "hi"][..],
        &["server", "start"],
    ] {
        let refused = machine.aw(command).refused("CONNECTION_ERROR", 3);
        let message = text(&refused["message"]);
        assert!(
            message.contains(&stranger.address) && message.contains("another program"),
            "{message}"
        );
    }
    for request in stranger.heard() {
        assert!(request.starts_with("GET /health "), "{request}");
        assert!(!request.contains("secret"), "the token is for our server only: {request}");
    }
    assert_eq!(machine.processes(), []);
}

#[test]
fn the_server_of_another_data_folder_is_left_alone() {
    let theirs = Machine::fresh();
    theirs.debate();
    let pid = theirs.server();
    let ours = Machine::listening_at(&theirs.listen);
    let create =
        ["debate", "create", "--title", "T", "--type", "general_debate", "--content", "ours"];
    for command in [&create[..], &["debate", "list"], &["server", "start"], &["server", "restart"]]
    {
        let refused = ours.aw(command).refused("CONNECTION_ERROR", 3);
        let message = text(&refused["message"]);
        assert!(message.contains("another data folder"), "{message}");
        // What could not be created can be created later under the ids it was given.
        let helps = if command == create { "--debate-id" } else { "AW_LISTEN" };
        assert!(text(&refused["suggestion"]).contains(helps), "{refused}");
    }
    assert_eq!(ours.aw(&["server", "stop"]).data()["running"], false);
    assert_eq!((theirs.server(), &theirs.get("/debates")["total"]), (pid, &json!(1)));
    assert_eq!(ours.processes(), []);
}

#[test]
fn the_files_of_a_killed_server_are_recognised() {
    let machine = Machine::fresh();
    let (debate, _) = machine.debate();
    let killed = machine.server();
    kill(Pid::from_raw(killed), Signal::SIGKILL).unwrap();
    // Its lock goes with the last of its threads.
    until("it is dead", || machine.aw(&["server", "status"]).data()["running"] == false);
    assert!(is_gone(killed));
    assert!(machine.data().join("server.json").exists());
    let context = machine.aw(&["debate", "get-context", "--debate-id", &debate]).data();
    assert_eq!(context["debate"]["id"], debate);
    assert_ne!(machine.server(), killed);
}

#[test]
fn a_host_that_reads_to_the_end_of_the_pipe_is_not_held_by_the_server() {
    let machine = Machine::fresh();
    // The lines end when the last holder of the pipe is gone: descriptors 1 and 2, and a third one
    // that everybody inherits.
    let ran = machine.sh("exec 9>&1 8<.; aw debate list");
    assert_eq!(ran.answer()["total_count"], 0);
    let server = machine.server();
    let open = fs::read_dir(format!("/proc/{server}/fd")).unwrap();
    let open: Vec<String> = open
        .filter_map(|fd| fs::read_link(fd.ok()?.path()).ok())
        .map(|target| target.display().to_string())
        .collect();
    assert!(open.iter().all(|target| !target.ends_with("/work")), "{open:?}");
}

#[test]
fn a_server_in_the_background_is_independent_of_its_starter() {
    let machine = Machine::fresh();
    let mut command = machine.program("sh");
    command.args(["-c", "ulimit -S -n 256; exec aw debate list"]).stdin(Stdio::piped());
    super::machine::Going::start(command).end().data();
    let server = machine.server();
    let proc = |name: &str| format!("/proc/{server}/{name}");

    let stat = fs::read_to_string(proc("stat")).unwrap();
    let fields = after_name(&stat);
    assert_eq!(fields[3], server.to_string(), "it leads a session of its own");
    assert_eq!(fields[4], "0", "it has no terminal");

    let at = |fd: u32| fs::read_link(proc(&format!("fd/{fd}"))).unwrap();
    let log = machine.data().join("logs").join("server.log");
    assert_eq!(at(0).to_str(), Some("/dev/null"));
    assert_eq!((at(1), at(2)), (log.clone(), log));
    for fd in fs::read_dir(proc("fd")).unwrap().flatten() {
        let Ok(target) = fs::read_link(fd.path()) else { continue };
        let target = target.to_str().unwrap().to_owned();
        let own = target.starts_with(machine.data().to_str().unwrap())
            || target.starts_with("anon_inode:")
            || target.starts_with("socket:")
            || target == "/dev/null";
        assert!(own, "{fd:?} is {target}");
    }

    let limits = fs::read_to_string(proc("limits")).unwrap();
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let files: Vec<&str> = files.split_whitespace().collect();
    assert_eq!(files[3], files[4], "the open-file limit is as high as it may be");
}

#[test]
fn autostart_can_be_turned_off() {
    let machine = Machine::fresh().with("AW_AUTOSTART", "0");
    let refused = machine.aw(&["debate", "list"]).refused("CONNECTION_ERROR", 3);
    assert_eq!(refused["suggestion"], "aw server start");
    assert_eq!(machine.processes(), []);

    let machine = Machine::fresh();
    let url = machine.url();
    let machine = machine.with("DEBATE_SERVER_URL", &url);
    let refused = machine.aw(&["debate", "list"]).refused("CONNECTION_ERROR", 3);
    assert!(text(&refused["message"]).contains(&url), "{refused}");
    assert_eq!(machine.processes(), []);
}
