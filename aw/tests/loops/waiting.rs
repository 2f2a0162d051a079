//! `aw debate wait`: held on the server, woken by news, and always with an answer.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use aw::data_dir::DataDir;
use jiff::Timestamp;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::fakes::{Fake, argument, envelope, proxys};
use super::machine::{Going, Machine, Paused, Ran, until};
use crate::world::{new_id, text};

/// Far below the default deadline of 110 s, and enough for a machine under load.
const SOON: Duration = Duration::from_secs(40);

/// A machine with a debate in which the proposer waits.
struct Waiting {
    machine: Machine,
    debate: String,
    motion: String,
}

impl Waiting {
    fn begin() -> Self {
        Self::on(Machine::fresh())
    }

    fn on(machine: Machine) -> Self {
        let (debate, motion) = machine.debate();
        Waiting { machine, debate, motion }
    }

    fn wait(&self, more: &[&str]) -> Going {
        let mut arguments =
            vec!["debate", "wait", "--debate-id", &self.debate, "--role", "proposer"];
        arguments.extend(["--argument-id", &self.motion]);
        arguments.extend(more);
        self.machine.start(&arguments)
    }

    /// A wait that the server holds by now.
    fn held(&self, more: &[&str]) -> Going {
        // It may not have noticed yet that another one has gone.
        until("the server holds nobody", || self.machine.held() == 0);
        let waiting = self.wait(more);
        until("the server holds it", || self.machine.held() == 1);
        waiting
    }

    fn answer(&self, content: &str) -> Ran {
        let target = ["--target-id", &self.motion, "--content", content];
        let role = ["debate", "submit", "--debate-id", &self.debate, "--role", "opponent"];
        self.machine.aw(&[&role[..], &target[..]].concat())
    }

    /// Asserts that this wait has ended as one that can go on.
    #[track_caller]
    fn timed_out(&self, ran: &Ran) -> Value {
        let answer = ran.answer();
        let data = &answer["content"][0]["data"];
        assert_eq!(data["status"], "timeout", "{data}");
        assert_eq!(data["debate_id"], self.debate);
        assert_eq!(data["last_argument_id"], self.motion);
        assert!(text(&data["message"]).starts_with("No response after "), "{data}");
        let retry = text(&data["retry_command"]);
        let usual = format!(
            "aw debate wait --debate-id {} --role proposer --argument-id {}",
            self.debate, self.motion
        );
        assert!(retry.starts_with(&usual), "{retry}");
        let over = data["patience_left_s"] == 0;
        let next = if over { Value::Null } else { retry.into() };
        assert_eq!(answer["metadata"]["next_command"], next);
        data.clone()
    }

    /// Asserts the same, with a reachable server.
    #[track_caller]
    fn timed_out_in_peace(&self, ran: &Ran) -> Value {
        let data = self.timed_out(ran);
        assert!(data.get("server_unreachable").is_none(), "{data}");
        assert!(text(&data["waiting_since"]).parse::<Timestamp>().is_ok(), "{data}");
        let left = data["patience_left_s"].as_u64().unwrap();
        assert!((1..=1800).contains(&left), "{data}");
        assert_eq!(data["last_seen_seq"], 1);
        data
    }
}

#[test]
fn a_wait_is_held_on_the_server_and_woken_by_push() {
    let story = Waiting::begin();
    let requests = || {
        let metrics = story.machine.sh(&format!("curl -s {}/metrics", story.machine.url())).out;
        let polls = metrics.lines().filter(|line| {
            line.contains("requests_total") && line.contains("/poll") && !line.starts_with('#')
        });
        polls.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum::<f64>()
    };
    let waiting = story.held(&[]);
    let before = requests();
    let written = story.answer("No.");
    let news = waiting.end().answer();
    let data = &news["content"][0]["data"];
    assert_eq!((&data["status"], &data["action"]), (&json!("new_argument"), &json!("respond")));
    assert_eq!(data["arguments"][0]["content"], "No.");
    assert_eq!(data["argument"]["id"], written.data()["argument_id"]);
    assert_eq!(story.machine.held(), 0);
    assert!(requests() - before <= 1.0, "it polls");
}

#[test]
fn a_flag_beats_the_deadline_of_the_environment() {
    let story = Waiting::on(Machine::fresh().with("DEBATE_WAIT_DEADLINE", "0.5"));
    let began = Instant::now();
    let data = story.timed_out_in_peace(&story.wait(&[]).end());
    let took = began.elapsed();
    assert!(took > Duration::from_millis(450) && took < SOON, "{took:?}");
    assert!(!text(&data["retry_command"]).contains("--deadline"), "{data}");
    let data = story.timed_out_in_peace(&story.wait(&["--deadline", "0.1"]).end());
    assert!(text(&data["retry_command"]).ends_with("--deadline 0.1"), "{data}");
}

#[test]
fn deadline_zero_asks_once() {
    let nothing = json!({"success": true, "data": {
        "has_new_argument": false, "debate_id": new_id(), "debate_state": "AWAITING_OPPONENT",
        "last_seen_seq": 1, "action": "wait_for_opponent", "waiting_since": "2026-01-01T00:00:00.000Z",
    }});
    let fake = Fake::answering(move |_, _| envelope("200 OK", "", &nothing));
    let machine = Machine::fresh().with("DEBATE_SERVER_URL", &fake.url());
    let (debate, motion) = (new_id(), new_id());
    let story = Waiting { machine, debate, motion };
    let data = story.timed_out(&story.wait(&["--deadline", "0"]).end());
    assert_eq!(fake.heard().len(), 1);
    assert_eq!(data["patience_left_s"], 0, "somebody has been waiting since the new year");
    assert!(text(&data["message"]).contains("patience is over"), "{data}");
}

#[test]
fn a_server_that_was_never_reached_is_tried_three_times() {
    let fake = Fake::answering(|_, _| Vec::new());
    let machine = Machine::fresh().with("DEBATE_SERVER_URL", &fake.url());
    let story = Waiting { machine, debate: new_id(), motion: new_id() };
    let refused = story.wait(&[]).end();
    refused.refused("CONNECTION_ERROR", 3);
    let metadata = &refused.json()["metadata"];
    assert_eq!(metadata["debate_id"], story.debate);
    assert!(text(&metadata["retry_command"]).ends_with(" --attempt 2"), "{metadata}");
    assert_eq!(fake.heard().len(), 3);
}

#[test]
fn a_wait_goes_on_while_a_proxy_cannot_reach_its_server() {
    let story = Waiting::begin();
    // Each second answer is the proxy's, the first one too: its server was restarting already.
    let proxy = Fake::between(&story.machine.listen, |number| {
        (number % 2 == 0).then(|| proxys("503 Service Unavailable", "retry-after: 1\r\n"))
    });
    let machine = Machine::fresh().with("DEBATE_SERVER_URL", &proxy.url());
    let far = Waiting { machine, debate: story.debate.clone(), motion: story.motion.clone() };
    let waiting = far.wait(&[]);
    until("it was answered by the proxy twice", || proxy.heard().len() >= 3);
    story.answer("After the restart.").data();
    assert_eq!(waiting.end().data()["arguments"][0]["content"], "After the restart.");
}

#[test]
fn a_server_that_was_lost_is_sought_until_the_deadline_and_never_started() {
    let story = Waiting::begin();
    let began = Instant::now();
    let waiting = story.held(&["--deadline", "2"]);
    // It also returns although somebody waits.
    story.machine.aw(&["server", "stop"]).data();
    let data = story.timed_out(&waiting.end());
    assert_eq!(data["server_unreachable"], true);
    assert!(text(&data["message"]).ends_with("Waiting again starts it."), "{data}");
    assert!(data["waiting_since"].is_string() && data["patience_left_s"].is_u64(), "{data}");
    let took = began.elapsed();
    assert!(took > Duration::from_millis(1_900) && took < SOON, "{took:?}");
    assert_eq!(story.machine.processes(), [], "nobody may bring it back");
}

#[test]
fn a_server_that_hangs_does_not_outlast_the_deadline() {
    let story = Waiting::begin();
    let waiting = story.held(&["--deadline", "2"]);
    let server = Pid::from_raw(story.machine.server());
    let _paused = Paused::new(server);
    let began = Instant::now();
    let data = story.timed_out(&waiting.end());
    assert_eq!(data["server_unreachable"], true);
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
}

#[test]
fn a_time_out_says_how_a_server_comes_back_that_no_command_starts() {
    let story = Waiting::begin();
    let named = story.machine.url();
    for (setting, value, way_back) in [
        ("AW_AUTOSTART", "0", "Start it with aw server start, then wait again."),
        ("DEBATE_SERVER_URL", named.as_str(), "Wait again when it is back."),
    ] {
        story.machine.aw(&["server", "start"]).data();
        let mut command = story.machine.command(&["debate", "wait", "--role", "proposer"]);
        command.args(["--debate-id", &story.debate, "--argument-id", &story.motion]);
        command.args(["--deadline", "2"]).env(setting, value);
        let waiting = Going::start(command);
        until("the server holds it", || story.machine.held() == 1);
        story.machine.aw(&["server", "stop"]).data();
        let data = story.timed_out(&waiting.end());
        assert!(text(&data["message"]).ends_with(way_back), "{data}");
    }
}

#[test]
fn a_server_that_dies_when_a_wait_begins_is_started_again() {
    // It accepts the connection of the first look and dies with its first request.
    let machine = Machine::fresh();
    let held = DataDir::at(machine.data()).lock().unwrap();
    let dying = Arc::new(Mutex::new(None));
    let last = dying.clone();
    let fake = Fake::answering(move |_, _| {
        drop(last.lock().unwrap().take());
        Vec::new()
    });
    let running = json!({
        "pid": std::process::id(), "url": fake.url(), "version": "1", "database": "x",
        "started_at": "now",
    });
    held.describe(&serde_json::from_value(running).unwrap()).unwrap();
    *dying.lock().unwrap() = Some(held);
    let story = Waiting { machine, debate: new_id(), motion: new_id() };
    story.wait(&[]).end().refused("DEBATE_NOT_FOUND", 2);
    assert!(!fake.heard().is_empty());
    assert_eq!(story.machine.servers().len(), 1);
}

#[test]
fn a_wait_survives_a_restart() {
    let story = Waiting::begin();
    let waiting = story.held(&[]);
    story.machine.aw(&["server", "restart"]).data();
    until("it is held again", || story.machine.held() == 1);
    story.answer("After the restart.").data();
    assert_eq!(waiting.end().data()["arguments"][0]["content"], "After the restart.");
}

#[test]
fn a_wait_survives_a_killed_server_that_is_started_again() {
    let story = Waiting::begin();
    let waiting = story.held(&[]);
    kill(Pid::from_raw(story.machine.server()), Signal::SIGKILL).unwrap();
    story.answer("After the crash.").data();
    assert_eq!(waiting.end().data()["arguments"][0]["content"], "After the crash.");
}

#[test]
fn a_busy_server_counts_as_lost_and_says_when_to_come_back() {
    let story = Waiting::on(Machine::fresh().with("AW_MAX_WAITS", "1"));
    let first = story.held(&[]);
    let began = Instant::now();
    story.timed_out(&story.wait(&["--deadline", "1.5"]).end());
    assert!(began.elapsed() > Duration::from_millis(1_400), "{:?}", began.elapsed());
    let mut third = story.wait(&[]);
    assert!(!third.has_ended());
    story.answer("For both.").data();
    for waiting in [first, third] {
        assert_eq!(waiting.end().data()["arguments"][0]["content"], "For both.");
    }
}

#[test]
fn retry_after_is_honoured() {
    let busy = json!({"success": false, "error": {"code": "SERVER_BUSY", "message": "full"}});
    let news = json!({"success": true, "data": {
        "has_new_argument": true, "action": "debate_closed", "debate_state": "CLOSED",
        "argument": argument(), "arguments": [], "omitted": 0, "available_actions": [],
        "next_argument_id_to_wait": new_id(), "pending_argument_id": null,
    }});
    let asked = Mutex::new(Vec::new());
    let (tell, hear) = std::sync::mpsc::channel();
    let fake = Fake::answering(move |number, _| {
        asked.lock().unwrap().push(Instant::now());
        let busy = envelope("503 Busy", "retry-after: 1\r\n", &busy);
        if number == 0 {
            return busy;
        }
        let asked = asked.lock().unwrap();
        tell.send(asked[1].duration_since(asked[0])).unwrap();
        envelope("200 OK", "", &news)
    });
    let machine = Machine::fresh().with("DEBATE_SERVER_URL", &fake.url());
    let story = Waiting { machine, debate: new_id(), motion: new_id() };
    assert_eq!(story.wait(&[]).end().data()["action"], "debate_closed");
    let pause = hear.recv().unwrap();
    assert!(pause >= Duration::from_secs(1), "{pause:?}");
}

#[test]
fn a_wait_that_is_signalled_prints_its_answer() {
    let story = Waiting::begin();
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let waiting = story.held(&["--deadline", "100"]);
        let began = Instant::now();
        waiting.signal(signal);
        let ran = waiting.end();
        assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
        story.timed_out_in_peace(&ran);
    }
    // Whatever it printed last resumes.
    let waiting = story.held(&["--deadline", "100"]);
    waiting.signal(Signal::SIGTERM);
    let retry = text(&story.timed_out_in_peace(&waiting.end())["retry_command"]);
    let answered = thread::scope(|scope| {
        let resumed = scope.spawn(|| story.machine.sh(&retry));
        until("it is held again", || story.machine.held() == 1);
        story.answer("Here I am.").data();
        resumed.join().unwrap()
    });
    assert_eq!(answered.data()["arguments"][0]["content"], "Here I am.");
}

#[test]
fn a_wait_that_is_signalled_without_a_server_prints_its_answer() {
    let story = Waiting::begin();
    let waiting = story.held(&["--deadline", "100"]);
    story.machine.aw(&["server", "stop"]).data();
    let began = Instant::now();
    waiting.signal(Signal::SIGTERM);
    let ran = waiting.end();
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    story.timed_out(&ran);
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let story = Waiting::begin();
    let mut command = story.machine.command(&[
        "debate",
        "wait",
        "--debate-id",
        &story.debate,
        "--role",
        "proposer",
        "--argument-id",
        &story.motion,
    ]);
    let (reader, writer) = std::io::pipe().unwrap();
    command.stdout(writer);
    let waiting = Going::start(command);
    until("the server holds it", || story.machine.held() == 1);
    drop(reader);
    waiting.signal(Signal::SIGTERM);
    let ran = waiting.end();
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
}

#[test]
fn a_debate_that_is_deleted_meanwhile_is_not_found() {
    let story = Waiting::begin();
    let waiting = story.held(&[]);
    story.machine.aw(&["debate", "delete", "--debate-id", &story.debate, "--confirm"]).data();
    let ran = waiting.end();
    let refused = ran.refused("DEBATE_NOT_FOUND", 2);
    assert!(refused["message"].is_string());
    let whole = &ran.json()["content"][0]["data"]["server_error"];
    assert!(whole["deleted_at"].is_string(), "{whole}");
}

#[test]
fn the_advised_ruling_names_the_pending_argument_also_after_a_parked_one() {
    let story = Waiting::begin();
    let machine = &story.machine;
    let run = |command: &str, more: &[&str]| {
        machine.aw(&[&["debate", command, "--debate-id", &story.debate], more].concat()).answer()
    };
    let named = |answer: &Value| {
        let line = text(&answer["metadata"]["next_command"]);
        assert!(line.starts_with("aw debate ruling "), "{line}");
        line
    };
    std::fs::write(machine.path("work").join("YOUR_TEXT.md"), "So be it.").unwrap();

    // The INTERVENTION is the arbitrator's own, so it is nothing new to the arbitrator.
    run("intervention", &[]);
    let line = named(&run("wait", &["--role", "arbitrator"]));
    assert_eq!(named(&run("get-context", &["--role", "arbitrator"])), line);
    let ruled = machine.sh(&line).data();
    assert_eq!(ruled["argument_type"], "RULING");

    // The opponent was interrupted and has not seen the RULING; meanwhile the proposer appeals.
    let ruling = text(&ruled["argument_id"]);
    run("appeal", &["--target-id", &ruling, "--content", "Really?"]);
    assert_eq!(story.answer("What I was about to say.").data()["parked"], true);
    let line = named(&run("wait", &["--role", "arbitrator", "--argument-id", &ruling]));
    assert_eq!(named(&run("get-context", &["--role", "arbitrator"])), line);
    assert_eq!(machine.sh(&line).data()["debate_state"], "AWAITING_PROPOSER");
}
