//! Servers that hang: a command still ends within its time.

use std::time::{Duration, Instant};

use nix::unistd::Pid;
use serde_json::json;

use super::fakes::Fake;
use super::machine::{Machine, Paused};
use crate::world::{new_id, text};

/// The time of a command, and what a machine under load may add.
const BUDGET: Duration = Duration::from_secs(30);
const LOAD: Duration = Duration::from_secs(12);

#[test]
fn a_stopped_server_holds_no_command_beyond_its_time() {
    let machine = Machine::fresh();
    let (debate, _) = machine.debate();
    let server = Pid::from_raw(machine.server());
    let _paused = Paused::new(server);
    let began = Instant::now();
    let wait = ["debate", "wait", "--debate-id", &debate, "--role", "proposer"];
    let list = machine.start(&["debate", "list"]);
    let long = machine.start(&wait);
    let short = machine.start(&[&wait[..], &["--deadline", "3"]].concat());
    let doctor = machine.start(&["doctor"]);

    let status = machine.aw(&["server", "status"]).data();
    assert!(text(&status["health"]).contains("did not answer"), "{status}");
    assert!(began.elapsed() < Duration::from_secs(3) + LOAD, "{:?}", began.elapsed());
    let over = short.end().data();
    assert!(began.elapsed() < Duration::from_secs(5) + LOAD, "{:?}", began.elapsed());
    assert_eq!((&over["status"], &over["server_unreachable"]), (&json!("timeout"), &json!(true)));
    assert!(text(&over["message"]).contains("It runs but does not answer"), "{over}");

    let refused = list.end().refused("CONNECTION_ERROR", 3);
    assert!(text(&refused["message"]).contains("did not answer within 30"), "{refused}");
    long.end().refused("CONNECTION_ERROR", 3);
    let doctor = doctor.end();
    assert_eq!(doctor.code, Some(3), "{doctor:?}");
    assert!(doctor.out.contains("did not answer within 30"), "{doctor:?}");
    assert!(began.elapsed() < BUDGET + LOAD, "{:?}", began.elapsed());
}

#[test]
fn half_an_answer_holds_no_command_beyond_its_time() {
    let half =
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{\"suc";
    let fake = Fake::stopping_after(half);
    let far = Machine::fresh().with("DEBATE_SERVER_URL", &fake.url());
    let began = Instant::now();
    let debate = new_id();
    let wait = ["debate", "wait", "--debate-id", &debate, "--role", "proposer"];
    let list = far.start(&["debate", "list"]);
    let export = far.start(&["debate", "export", "--debate-id", &debate]);
    let over = far.aw(&[&wait[..], &["--deadline", "3"]].concat()).data();
    assert!(began.elapsed() < Duration::from_secs(5) + LOAD, "{:?}", began.elapsed());
    assert_eq!((&over["status"], &over["server_unreachable"]), (&json!("timeout"), &json!(true)));
    for command in [list, export] {
        let refused = command.end().refused("CONNECTION_ERROR", 3);
        assert!(text(&refused["message"]).contains("did not answer within 30"), "{refused}");
    }
    assert!(began.elapsed() < BUDGET + LOAD, "{:?}", began.elapsed());
}
