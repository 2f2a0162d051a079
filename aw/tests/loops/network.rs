//! Lost connections, busy servers, and servers of another version.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::fakes::{Fake, argument, envelope, proxys};
use super::machine::Machine;
use crate::world::{new_id, text};

const CREATE: [&str; 8] =
    ["debate", "create", "--title", "T", "--type", "general_debate", "--content", "hi"];

#[test]
fn a_write_whose_answer_is_lost_twice_is_there_once() {
    let machine = Machine::fresh();
    machine.aw(&["server", "start"]).data();
    let proxy = Fake::cutting(2, &machine.listen);
    let far = Machine::fresh().with("DEBATE_SERVER_URL", &proxy.url());
    let created = far.aw(&CREATE).data();
    assert_eq!(created["replayed"], true, "the first answer was lost");
    assert_eq!(machine.get("/debates")["total"], 1);
    same_request(&proxy, 3);

    let proxy = Fake::cutting(2, &machine.listen);
    let far = Machine::fresh().with("DEBATE_SERVER_URL", &proxy.url());
    let (debate, motion) = (text(&created["debate_id"]), text(&created["argument_id"]));
    // An intervention has an id that is made for it alone; it is kept through its own retries.
    far.aw(&["debate", "intervention", "--debate-id", &debate]).data();
    same_request(&proxy, 3);
    let whole = machine.get(&format!("/debates/{debate}?limit=100"));
    assert_eq!(
        whole["arguments"].as_array().unwrap().len(),
        1 + usize::from(whole["arguments"][0]["id"] == motion)
    );
    assert_eq!(machine.servers().len() + far.processes().len(), 1);
}

#[track_caller]
fn same_request(proxy: &Fake, times: usize) {
    let heard = proxy.heard();
    assert_eq!(heard.len(), times, "{heard:?}");
    let id = |request: &String| {
        let body = request.split_once("\r\n\r\n").unwrap().1;
        text(&serde_json::from_str::<Value>(body).unwrap()["client_request_id"])
    };
    assert!(heard.iter().all(|request| id(request) == id(&heard[0])), "{heard:?}");
}

#[test]
fn after_lost_answers_the_suggestion_is_the_same_command_with_its_ids() {
    let machine = Machine::fresh();
    machine.aw(&["server", "start"]).data();
    let proxy = Fake::cutting(4, &machine.listen);
    let far = Machine::fresh().with("DEBATE_SERVER_URL", &proxy.url());
    let refused = far.aw(&CREATE).refused("CONNECTION_ERROR", 3);
    same_request(&proxy, 4);
    let again = far.sh(&text(&refused["suggestion"])).data();
    assert_eq!(again["replayed"], true);
    assert_eq!(machine.get("/debates")["total"], 1);
}

#[test]
fn reads_are_retried_three_times_too() {
    let machine = Machine::fresh();
    let (debate, _) = machine.debate();
    for command in [
        &["debate", "list"][..],
        &["debate", "get-context", "--debate-id", &debate],
        &["debate", "export", "--debate-id", &debate],
        &["debate", "result", "--debate-id", &debate],
        &["docs", "list"],
    ] {
        let proxy = Fake::cutting(3, &machine.listen);
        let far = Machine::fresh().with("DEBATE_SERVER_URL", &proxy.url());
        let ran = far.aw(command);
        assert_eq!(ran.code, Some(0), "{command:?}: {ran:?}");
        assert_eq!(proxy.heard().len(), 4, "{command:?}");
    }
}

#[test]
fn a_refused_request_is_not_retried() {
    for (status, code, exit) in [
        ("400 Bad Request", "INVALID_INPUT", 4),
        ("401 Unauthorized", "AUTH_FAILED", 6),
        ("404 Not Found", "DEBATE_NOT_FOUND", 2),
        ("409 Conflict", "ACTION_NOT_ALLOWED", 5),
        ("413 Too Large", "CONTENT_TOO_LARGE", 4),
    ] {
        let error = json!({"success": false, "error": {"code": code, "message": "no"}});
        let fake = Fake::answering(move |_, _| envelope(status, "", &error));
        let far = Machine::fresh().with("DEBATE_SERVER_URL", &fake.url());
        far.aw(&CREATE).refused(code, exit);
        assert_eq!(fake.heard().len(), 1, "{code}");
        let wait = ["debate", "wait", "--debate-id", &new_id(), "--role", "proposer"];
        far.aw(&wait).refused(code, exit);
        assert_eq!(fake.heard().len(), 2, "{code}");
    }
}

#[test]
fn a_busy_server_is_retried_three_times() {
    let busy = json!({"success": false, "error": {"code": "SERVER_BUSY", "message": "full"}});
    let fake = Fake::answering(move |_, _| envelope("503 Busy", "retry-after: 0\r\n", &busy));
    let far = Machine::fresh().with("DEBATE_SERVER_URL", &fake.url());
    far.aw(&CREATE).refused("SERVER_BUSY", 3);
    same_request(&fake, 4);
}

#[test]
fn a_pause_of_centuries_that_a_server_asks_for_is_an_answer() {
    let busy = json!({"success": false, "error": {"code": "SERVER_BUSY", "message": "full"}});
    let centuries = "retry-after: 18446744073709551615\r\n";
    let fake = Fake::answering(move |_, _| envelope("503 Busy", centuries, &busy));
    let far = Machine::fresh().with("DEBATE_SERVER_URL", &fake.url());
    far.aw(&CREATE).refused("SERVER_BUSY", 3);
    let wait = ["debate", "wait", "--debate-id", &new_id(), "--role", "proposer"];
    let over = far.aw(&[&wait[..], &["--deadline", "1"]].concat());
    assert_ne!(over.code, Some(101), "{over:?}");
    let fake = Fake::answering(move |_, _| proxys("503 Service Unavailable", centuries));
    let far = Machine::fresh().with("DEBATE_SERVER_URL", &fake.url());
    far.aw(&["debate", "list"]).refused("CONNECTION_ERROR", 3);
}

#[test]
fn the_pauses_between_retries_double_and_a_proxys_retry_after_is_honoured() {
    for (headers, least) in [("", [250, 500, 1_000]), ("retry-after: 2\r\n", [2_000; 3])] {
        let came = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let noted = came.clone();
        let fake = Fake::answering(move |_, _| {
            noted.lock().unwrap().push(Instant::now());
            proxys("503 Service Unavailable", headers)
        });
        let far = Machine::fresh().with("DEBATE_SERVER_URL", &fake.url());
        far.aw(&["debate", "list"]).refused("CONNECTION_ERROR", 3);
        let came = came.lock().unwrap();
        let pauses: Vec<Duration> = came.windows(2).map(|two| two[1] - two[0]).collect();
        assert_eq!(pauses.len(), 3, "{pauses:?}");
        for (pause, least) in pauses.iter().zip(least) {
            assert!(*pause >= Duration::from_millis(least), "{pauses:?}");
        }
    }
}

#[test]
fn a_retry_that_would_come_too_late_is_not_waited_for() {
    let fake = Fake::answering(|_, _| proxys("503 Service Unavailable", "retry-after: 3600\r\n"));
    let far = Machine::fresh().with("DEBATE_SERVER_URL", &fake.url());
    far.aw(&["debate", "list"]).refused("CONNECTION_ERROR", 3);
    assert_eq!(fake.heard().len(), 1);
}

#[test]
fn a_write_behind_a_proxy_whose_server_restarts_is_there_once() {
    let machine = Machine::fresh();
    machine.aw(&["server", "start"]).data();
    let answers = ["502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout"];
    let proxy = Fake::between(&machine.listen, move |number| {
        answers.get(number).map(|status| proxys(status, ""))
    });
    let far = Machine::fresh().with("DEBATE_SERVER_URL", &proxy.url());
    assert_eq!(far.aw(&CREATE).data()["replayed"], true);
    same_request(&proxy, 4);
    assert_eq!(machine.get("/debates")["total"], 1);
}

#[test]
fn a_proxy_that_never_reaches_its_server_is_a_lost_connection() {
    for status in ["502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout"] {
        let fake = Fake::answering(move |_, _| proxys(status, ""));
        let far = Machine::fresh().with("DEBATE_SERVER_URL", &fake.url());
        let refused = far.aw(&CREATE).refused("CONNECTION_ERROR", 3);
        let message = text(&refused["message"]);
        assert!(message.contains(&format!("a proxy in front of it answered {}", &status[..3])));
        assert!(!message.contains("not an aw server"), "{message}");
        same_request(&fake, 4);
    }
}

#[test]
fn a_server_of_another_version_comes_with_a_warning() {
    let (argument, time) = (argument(), "2026-11-16T12:00:00.000Z");
    let data = json!({
        "has_new_argument": true, "action": "respond", "debate_state": "AWAITING_PROPOSER",
        "argument": argument, "arguments": [argument], "omitted": 0, "available_actions": [],
        "debate": {
            "id": new_id(), "title": "T", "debate_type": "general_debate",
            "state": "AWAITING_PROPOSER", "resolution_policy": "auto",
            "created_at": time, "updated_at": time,
        },
        "replayed": false, "missed": [], "next_argument_id_to_wait": new_id(),
        "debates": [], "total": 0, "total_is_exact": true, "documents": [],
    });
    let body = json!({"success": true, "data": data});
    let debate = new_id();
    let commands: [&[&str]; 4] = [
        &["debate", "list"],
        &CREATE,
        &["debate", "wait", "--debate-id", &debate, "--role", "proposer"],
        &["docs", "list"],
    ];
    for (version, warned) in [("99.1.2", true), (env!("CARGO_PKG_VERSION"), false)] {
        let body = body.clone();
        let header = format!("aw-version: {version}\r\n");
        let fake = Fake::answering(move |_, _| envelope("200 OK", &header, &body));
        let far = Machine::fresh().with("DEBATE_SERVER_URL", &fake.url());
        for command in commands {
            let answer = far.aw(command).answer();
            match answer["metadata"]["warning"].as_str() {
                Some(warning) => {
                    assert!(warned, "{command:?}: {warning}");
                    assert!(
                        warning.contains("99.1.2") && warning.contains("aw server restart"),
                        "{warning}"
                    );
                }
                None => assert!(!warned, "{command:?}: {answer}"),
            }
        }
    }
}

/// The answers of an aw before points: it ignores unknown fields, and knows no dry run.
fn without_points(request: &str, header: &str) -> Vec<u8> {
    if request.contains("/check ") {
        let message = "there is nothing here";
        let error =
            json!({"success": false, "error": {"code": "ROUTE_NOT_FOUND", "message": message}});
        return envelope("404 Not Found", header, &error);
    }
    let time = "2026-11-16T12:00:00.000Z";
    let debate = json!({
        "id": new_id(), "title": "T", "debate_type": "general_debate", "state": "AWAITING_OPPONENT",
        "resolution_policy": "auto", "created_at": time, "updated_at": time,
    });
    let data = json!({
        "argument": argument(), "debate": debate, "replayed": false, "missed": [],
        "action": "wait_for_response", "next_argument_id_to_wait": new_id(),
    });
    envelope("201 Created", header, &json!({"success": true, "data": data}))
}

#[test]
fn points_on_a_server_that_keeps_none_come_with_a_warning() {
    for version in ["0.0.1", env!("CARGO_PKG_VERSION")] {
        let header = format!("aw-version: {version}\r\n");
        let fake = Fake::answering(move |_, request| without_points(request, &header));
        let far = Machine::fresh().with("DEBATE_SERVER_URL", &fake.url());
        let answer = far.aw(&[&CREATE[..], &["--points"]].concat()).answer();
        let warning = text(&answer["metadata"]["warning"]);
        assert!(
            warning.contains("keeps no points in this debate: run aw server restart"),
            "{warning}"
        );
        assert!(fake.heard()[0].contains("\"points\":true"), "{:?}", fake.heard());
        let plain = far.aw(&CREATE).answer();
        let warning = plain["metadata"]["warning"].as_str().unwrap_or_default();
        assert!(!warning.contains("points"), "{warning}");
    }
}

#[test]
fn a_dry_run_on_a_server_that_knows_none_submits_nothing_and_says_why() {
    let header = format!("aw-version: {}\r\n", env!("CARGO_PKG_VERSION"));
    let fake = Fake::answering(move |_, request| without_points(request, &header));
    let far = Machine::fresh().with("DEBATE_SERVER_URL", &fake.url());
    let (debate, target) = (new_id(), new_id());
    let on = ["--debate-id", debate.as_str(), "--target-id", target.as_str(), "--content", "x"];
    for command in [
        &["debate", "submit", "--role", "opponent"][..],
        &["debate", "appeal"],
        &["debate", "request-completion"],
        &["debate", "ruling"],
    ] {
        let refused =
            far.aw(&[command, &on, &["--dry-run"]].concat()).refused("ROUTE_NOT_FOUND", 3);
        let suggestion = text(&refused["suggestion"]);
        assert!(suggestion.contains("cannot judge a move without making it"), "{suggestion}");
    }
    let heard = fake.heard();
    assert!(heard.iter().all(|request| request.contains("/check ")), "{heard:?}");
}

#[test]
fn a_refusal_by_a_server_of_another_version_comes_with_the_warning_too() {
    let error = json!({"success": false, "error": {"code": "INVALID_INPUT", "message": "what?"}});
    let fake = Fake::answering(move |_, _| envelope("400 Bad", "aw-version: 99.1.2\r\n", &error));
    let far = Machine::fresh().with("DEBATE_SERVER_URL", &fake.url());
    let debate = new_id();
    for command in [&CREATE[..], &["debate", "wait", "--debate-id", &debate, "--role", "proposer"]]
    {
        let ran = far.aw(command);
        ran.refused("INVALID_INPUT", 4);
        assert!(text(&ran.json()["metadata"]["warning"]).contains("aw server restart"), "{ran:?}");
    }
}
