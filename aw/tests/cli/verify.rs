//! `aw debate verify`, and the doctor's short look at the record.

use rusqlite::Connection;
use serde_json::Value;

use super::aw::Aw;

/// Somebody whose record has two debates, the second with a claim.
fn with_two_debates() -> (Aw, String) {
    let aw = Aw::new();
    aw.opens("First", "We should.", &[]);
    let (newest, motion) = aw.opens("Second", "We should.", &[]);
    let on = ["debate", "submit", "--debate-id", &newest, "--target-id", &motion];
    aw.quietly(&[&on[..], &["--role", "opponent", "--content", "We should not."]].concat()).ok();
    aw.call_it("[second]", &newest);
    (aw, newest)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Changes the record while no server runs.
fn tamper(aw: &Aw, sql: &str) {
    aw.quietly(&["server", "stop"]).ok();
    let db = Connection::open(aw.home().join("db/debate.db")).unwrap();
    for trigger in ["arguments_never_change", "debates_keep_their_titles"] {
        db.execute_batch(&format!("drop trigger if exists {trigger}")).unwrap();
    }
    assert!(db.execute(sql, []).unwrap() > 0);
}

#[test]
fn a_record_is_verified_and_damage_is_found() {
    let (aw, second) = with_two_debates();
    for format in ["json", "markdown"] {
        aw.run(&["debate", "verify", "--format", format]);
        aw.run(&["debate", "verify", "--debate-id", &second, "--format", format]);
    }
    tamper(&aw, "update arguments set content = 'We should.' where seq = 2");
    for format in ["json", "markdown"] {
        for typed in [&["debate", "verify"][..], &["debate", "verify", "--debate-id", &second]] {
            let typed = [typed, &["--format", format]].concat();
            let ran = aw.run(&typed);
            assert_eq!(ran.code, 3);
            if format == "json" {
                let error = ran.envelope()["content"][0]["data"]["server_error"].take();
                let request = error["request_id"].as_str().unwrap_or("no request id");
                aw.call_it("[request]", request);
            }
        }
    }
    aw.transcript("verify");
}

#[test]
fn a_damaged_record_exits_with_the_first_bad_seq() {
    let (aw, second) = with_two_debates();
    tamper(&aw, "update arguments set author = 'x' where seq = 2");
    tamper(&aw, "update debates set title = 'x' where title = 'First'");
    let one =
        aw.quietly(&["debate", "verify", "--debate-id", &second]).refused(3, "RECORD_DAMAGED");
    let all = aw.quietly(&["debate", "verify"]).refused(3, "RECORD_DAMAGED");
    for refused in [&one, &all] {
        let error = &refused["content"][0]["data"]["server_error"];
        assert_eq!((&error["seq"], &error["debate_id"]), (&2.into(), &second.as_str().into()));
    }
    let damaged = all["metadata"]["damaged"].as_array().unwrap();
    assert_eq!(damaged.len(), 2, "{all}");
    assert_eq!(all["metadata"]["verified"]["verified_debates"], 2);
    aw.quietly(&["debate", "verify", "--debate-id", "93d81b1a-0e66-4510-abfd-aa33b26cb82e"])
        .refused(2, "DEBATE_NOT_FOUND");
}

#[test]
fn the_doctor_finds_a_damaged_record() {
    let (aw, second) = with_two_debates();
    let record = |aw: &Aw| {
        let looked = aw.quietly(&["doctor"]);
        let checks = json(&looked.stdout)["content"][0]["data"]["checks"].take();
        let record = checks.as_array().unwrap().iter().find(|check| check["name"] == "record");
        (looked.code, record.unwrap().clone())
    };
    let (code, sound) = record(&aw);
    assert_eq!((code, &sound["status"]), (0, &"ok".into()));
    assert_eq!(sound["message"], "2 debates, everything as it was written");
    tamper(&aw, "update arguments set content = 'x' where seq = 2");
    aw.quietly(&["server", "start"]).ok();
    let (code, damaged) = record(&aw);
    assert_eq!((code, &damaged["status"]), (3, &"failed".into()));
    let message = damaged["message"].as_str().unwrap();
    assert!(message.contains(&format!("debate {second}, argument 2")), "{damaged}");
    assert!(damaged["fix"].as_str().unwrap().contains("aw debate verify"), "{damaged}");
}
