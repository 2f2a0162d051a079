//! `aw demo` leaves nothing behind.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::machine::{Machine, is_gone, until};

#[test]
fn without_a_terminal_the_demo_ends_by_itself_and_leaves_nothing() {
    let machine = Machine::fresh();
    let ran = machine.aw(&["demo"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    for scene in [
        "### NEW [critical]",
        "APPEAL by the proposer",
        "### P3 [upheld]",
        "The plan, version 2",
        "The plan, version 3",
        "RESOLUTION",
        "Both agents agree after 3 rounds: 3 points, 1 ruling",
        "aw debate run PLAN.md",
    ] {
        assert!(ran.out.contains(scene), "{scene} is missing:\n{}", ran.out);
    }
    nothing_is_left(&machine);
}

#[test]
fn a_demo_that_is_killed_leaves_nothing() {
    for (signal, line) in [(Signal::SIGTERM, 1), (Signal::SIGINT, 4), (Signal::SIGTERM, 9)] {
        let machine = Machine::fresh();
        let mut demo = machine.command(&["demo"]).spawn().unwrap();
        let mut out = BufReader::new(demo.stdout.take().unwrap());
        for _ in 0..line {
            out.read_line(&mut String::new()).unwrap();
        }
        kill(Pid::from_raw(i32::try_from(demo.id()).unwrap()), signal).unwrap();
        ended(&mut demo);
        nothing_is_left(&machine);
    }
}

#[test]
fn on_a_terminal_the_demo_runs_until_it_is_stopped() {
    let machine = Machine::fresh();
    let mut command = machine.program("script");
    command.args(["-qec", "stty cols 80; NO_COLOR=1 aw demo --fast", "/dev/null"]);
    let mut terminal = command.spawn().unwrap();
    let mut out = BufReader::new(terminal.stdout.take().unwrap());
    let url = address(&mut out);
    assert!(machine.sh(&format!("curl -fsS {url}/health")).out.contains("home_id"));
    assert!(terminal.try_wait().unwrap().is_none());
    let demo = machine.processes().into_iter();
    let demo = demo.filter(|(_, typed)| typed.starts_with("aw demo")).map(|(pid, _)| pid);
    for pid in demo {
        kill(Pid::from_raw(pid), Signal::SIGINT).unwrap();
    }
    ended(&mut terminal);
    nothing_is_left(&machine);
}

/// The address that the demo prints, on lines that fit 80 columns.
fn address(out: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    while !line.contains("Ctrl-C") {
        line.clear();
        assert_ne!(out.read_line(&mut line).unwrap(), 0, "it ended without a signal");
        assert!(line.trim_end().chars().count() <= 80, "{line}");
    }
    line.split_whitespace().find(|word| word.starts_with("http://")).unwrap().to_owned()
}

#[track_caller]
fn ended(child: &mut Child) {
    until("it ends", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[track_caller]
fn nothing_is_left(machine: &Machine) {
    let running: Vec<_> =
        machine.processes().into_iter().filter(|(pid, _)| !is_gone(*pid)).collect();
    assert_eq!(running, []);
    for folder in ["home", "tmp", "work"] {
        let left: Vec<_> = fs::read_dir(machine.path(folder)).unwrap().flatten().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}
