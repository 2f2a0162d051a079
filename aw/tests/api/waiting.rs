//! Waiting: what is unseen, who is held and until when, what everybody is told to do.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::world::{DebateFor, World, eventually, new_id, text};

const ROLES: [&str; 3] = ["proposer", "opponent", "arbitrator"];

/// The id of what was written.
fn id(written: &Value) -> String {
    text(&written["argument"]["id"])
}

fn seqs(arguments: &Value) -> Vec<u64> {
    arguments.as_array().unwrap().iter().map(|a| a["seq"].as_u64().unwrap()).collect()
}

/// Every argument of a debate, the MOTION first.
async fn all(debate: &DebateFor<'_>) -> Vec<Value> {
    let mut context = debate.context().await;
    let mut all = vec![context["motion"].take()];
    all.append(context["arguments"].as_array_mut().unwrap());
    all
}

/// Returns once so many waits are held.
async fn held(world: &World, waits: u64) {
    eventually("the waits are held", async || world.held().await.0 == waits).await;
}

/// MOTION, CLAIM, CLAIM, CLAIM, APPEAL: a RULING is owed. Gives the APPEAL.
async fn up_to_the_appeal(debate: &DebateFor<'_>) -> String {
    let second = id(&debate.claim("opponent", &debate.motion, "2").await);
    let third = id(&debate.claim("proposer", &second, "3").await);
    let fourth = id(&debate.claim("opponent", &third, "4").await);
    id(&debate.ask("appeal", &fourth, "5").await.created())
}

/// Asserts for every role and every argument it may name that exactly the later arguments of the
/// others are given. `called` are the roles that are answered even when nothing is unseen.
async fn shows_what_is_unseen(debate: &DebateFor<'_>, called: &[&str], arbitrator_held: bool) {
    let all = all(debate).await;
    for role in ROLES {
        for seen in &all {
            let poll = debate.poll(role, Some(&text(&seen["id"]))).await.ok();
            let of_others = |from: u64| -> Vec<Value> {
                let later = all.iter().filter(|a| a["seq"].as_u64().unwrap() > from);
                later.filter(|a| a["role"] != role).cloned().collect()
            };
            let unseen = of_others(seen["seq"].as_u64().unwrap());
            let waits = unseen.is_empty() && !called.contains(&role);
            if waits || (role == "arbitrator" && arbitrator_held) {
                assert_eq!(poll["has_new_argument"], false, "{role} {}", seen["seq"]);
                assert_eq!(poll["last_seen_seq"], seen["seq"]);
                continue;
            }
            let newest = of_others(0).into_iter().rfind(|a| a["parked"] == false).unwrap();
            assert_eq!(poll["arguments"], json!(unseen), "{role} {}", seen["seq"]);
            assert_eq!(poll["argument"], *unseen.last().unwrap_or(&newest), "{role}");
            assert_eq!(poll["next_argument_id_to_wait"], all.last().unwrap()["id"]);
            assert_eq!(poll["omitted"], 0);
        }
    }
}

#[tokio::test]
async fn unseen_is_what_others_wrote_after_the_argument_that_was_named() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    shows_what_is_unseen(&debate, &["opponent"], true).await;
    let appeal = up_to_the_appeal(&debate).await;
    shows_what_is_unseen(&debate, &["arbitrator"], false).await;
    let ruling = id(&debate.rule(json!({"content": "B", "target_id": appeal})).await.created());
    shows_what_is_unseen(&debate, &["proposer"], true).await;
    debate.ask("resolution", &ruling, "Done.").await.created();
    shows_what_is_unseen(&debate, &ROLES, false).await;
}

#[tokio::test]
async fn without_an_id_it_is_what_others_wrote_after_the_roles_own_newest() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    assert_eq!(seqs(&debate.poll("opponent", None).await.ok()["arguments"]), [1]);
    assert_eq!(debate.poll("proposer", None).await.ok()["has_new_argument"], false);
    up_to_the_appeal(&debate).await;
    // The arbitrator has written nothing: everything is unseen.
    assert_eq!(seqs(&debate.poll("arbitrator", None).await.ok()["arguments"]), [1, 2, 3, 4, 5]);
    assert_eq!(seqs(&debate.poll("opponent", None).await.ok()["arguments"]), [5]);
    assert_eq!(debate.poll("proposer", None).await.ok()["has_new_argument"], false);
    debate.rule(json!({"content": "B"})).await.created();
    assert_eq!(seqs(&debate.poll("proposer", None).await.ok()["arguments"]), [6]);
    assert_eq!(seqs(&debate.poll("opponent", None).await.ok()["arguments"]), [5, 6]);
}

#[tokio::test]
async fn without_an_id_a_parked_argument_does_not_count_as_the_roles_newest() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    debate.intervene().await.created();
    let parked = debate.claim("opponent", &debate.motion, "What I was writing.").await;
    assert_eq!(parked["argument"]["parked"], true);
    debate.rule(json!({"content": "Go on."})).await.created();
    assert_eq!(seqs(&debate.poll("opponent", None).await.ok()["arguments"]), [1, 2, 4]);
    // What was parked is news to the others, but never shown when nothing is.
    assert_eq!(seqs(&debate.poll("proposer", None).await.ok()["arguments"]), [2, 3, 4]);
}

#[tokio::test]
async fn when_nothing_is_unseen_the_newest_of_the_others_that_is_not_parked_is_shown() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    debate.intervene().await.created();
    let parked = id(&debate.claim("opponent", &debate.motion, "What I was writing.").await);
    let poll = debate.poll("arbitrator", Some(&parked)).await.ok();
    assert_eq!(poll["action"], "rule");
    assert_eq!(poll["arguments"], json!([]));
    assert_eq!(poll["argument"]["id"], debate.motion);
    assert_eq!(poll["next_argument_id_to_wait"], parked);
}

#[tokio::test]
async fn whoevers_move_it_is_is_answered_at_once_whichever_id_is_named() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let mut newest = debate.motion.clone();
    for (mover, action, next) in [
        ("opponent", "respond", "claim"),
        ("proposer", "respond", "appeal"),
        ("arbitrator", "rule", "ruling"),
        ("proposer", "align_to_ruling", "claim"),
        ("opponent", "respond", "nothing"),
    ] {
        let every = all(&debate).await;
        let named = every.iter().map(|a| Some(text(&a["id"]))).chain([None]);
        for named in named {
            let began = Instant::now();
            let poll = debate.wait(mover, named.as_deref(), 30).await.ok();
            assert_eq!(poll["has_new_argument"], true, "{mover} {named:?}");
            assert_eq!(poll["action"], action, "{mover} {named:?}");
            assert!(began.elapsed() < Duration::from_secs(5));
        }
        newest = match next {
            "claim" => id(&debate.claim(mover, &newest, "x").await),
            "appeal" => id(&debate.ask("appeal", &newest, "x").await.created()),
            "ruling" => id(&debate.rule(json!({"content": "x"})).await.created()),
            _ => newest,
        };
    }
}

/// What each role is told now, by a poll that names the MOTION (so that something is unseen) or,
/// for an arbitrator who would be held, by the replay of a RULING.
async fn told(debate: &DebateFor<'_>, ruling: &Value) -> [(Value, Value); 3] {
    let context = debate.context().await;
    let mut told = [(); 3].map(|()| (Value::Null, Value::Null));
    for (place, role) in told.iter_mut().zip(ROLES) {
        let poll = debate.poll(role, Some(&debate.motion)).await.ok();
        let available = context["available_actions"][role].clone();
        let action = if poll["has_new_argument"] == true {
            assert_eq!(poll["available_actions"], available, "{role}");
            assert_eq!(poll["debate_state"], context["debate"]["state"], "{role}");
            poll["action"].clone()
        } else {
            assert_eq!(role, "arbitrator");
            debate.rule(ruling.clone()).await.ok()["action"].clone()
        };
        *place = (action, available);
    }
    told
}

/// One row of the table: an action and the available moves of each role.
#[track_caller]
fn says(told: &[(Value, Value); 3], row: [(&str, &[&str]); 3]) {
    for ((role, (action, available)), (expected, moves)) in ROLES.iter().zip(told).zip(row) {
        assert_eq!((action, available), (&json!(expected), &json!(moves)), "{role}");
    }
}

#[tokio::test]
async fn everybody_is_told_what_the_table_says() {
    const CLAIM: &[&str] = &["SUBMIT_CLAIM"];
    const PROPOSE: &[&str] = &["SUBMIT_CLAIM", "SUBMIT_APPEAL", "SUBMIT_RESOLUTION"];
    const RULE: &[&str] = &["SUBMIT_RULING", "SUBMIT_RULING_CLOSE"];
    const STOP: &[&str] = &["SUBMIT_INTERVENTION"];
    const WAIT: (&str, &[&str]) = ("wait_for_ruling", &[]);
    let world = World::start().await;
    let debate = world
        .debate_with("Keep one SQLite file?", json!({"resolution_policy": "arbitrator"}))
        .await;
    let appeal = up_to_the_appeal(&debate).await;
    let ruling = json!({"content": "B", "target_id": appeal, "client_request_id": new_id()});
    says(&told(&debate, &ruling).await, [WAIT, WAIT, ("rule", RULE)]);

    let ruled = debate.rule(ruling.clone()).await.created();
    let after_ruling = [("align_to_ruling", PROPOSE), ("wait_for_proposer", &[]), ("wait", STOP)];
    says(&told(&debate, &ruling).await, after_ruling);

    let claim = id(&debate.claim("proposer", &id(&ruled), "I follow.").await);
    let opponents_move = [("wait_for_opponent", &[][..]), ("respond", CLAIM), ("wait", STOP)];
    says(&told(&debate, &ruling).await, opponents_move);

    // Interrupted, the opponent may still hand in what it was writing.
    debate.intervene().await.created();
    let interrupted = [WAIT, ("wait_for_ruling", CLAIM), ("rule", RULE)];
    says(&told(&debate, &ruling).await, interrupted);
    let parked = debate.claim("opponent", &claim, "In hand.").await;
    assert_eq!(parked["argument"]["parked"], true);
    says(&told(&debate, &ruling).await, [WAIT, WAIT, ("rule", RULE)]);

    // After the RULING the parked argument is the newest but one; the RULING counts.
    let second = id(&debate.rule(json!({"content": "Go on."})).await.created());
    says(&told(&debate, &ruling).await, after_ruling);
    let claim = id(&debate.claim("proposer", &second, "I go on.").await);
    let claim = id(&debate.claim("opponent", &claim, "But.").await);
    let proposers_move = [("respond", PROPOSE), ("wait_for_proposer", &[]), ("wait", STOP)];
    says(&told(&debate, &ruling).await, proposers_move);

    debate.intervene().await.created();
    let interrupted = [("wait_for_ruling", PROPOSE), WAIT, ("rule", RULE)];
    says(&told(&debate, &ruling).await, interrupted);
    let third = id(&debate.rule(json!({"content": "Go on."})).await.created());
    says(&told(&debate, &ruling).await, after_ruling);

    // Here a RESOLUTION is held for approval.
    let asked = debate.ask("resolution", &third, "Done?").await.created();
    assert_eq!(asked["debate"]["state"], "AWAITING_ARBITRATOR");
    assert_eq!(asked["argument"]["parent_id"], third);
    says(&told(&debate, &ruling).await, [WAIT, WAIT, ("rule", RULE)]);
    let closed = debate.rule(json!({"content": "Yes.", "close": true})).await.created();
    assert_eq!(closed["debate"]["state"], "CLOSED");
    let over: (&str, &[&str]) = ("debate_closed", &[]);
    says(&told(&debate, &ruling).await, [over; 3]);
    assert_ne!(claim, third);
}

#[tokio::test]
async fn a_parked_argument_after_a_ruling_leaves_the_action_as_it_was() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    debate.intervene().await.created();
    debate.rule(json!({"content": "Go on."})).await.created();
    let parked = debate.claim("opponent", &debate.motion, "Written before I saw it.").await;
    assert_eq!(parked["argument"]["parked"], true);
    let poll = debate.poll("proposer", None).await.ok();
    assert_eq!(poll["action"], "align_to_ruling");
}

#[tokio::test]
async fn the_arbitrator_is_held_until_a_ruling_is_owed_and_then_reads_everything() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let story = async {
        held(&world, 1).await;
        up_to_the_appeal(&debate).await
    };
    let (called, appeal) = tokio::join!(debate.wait("arbitrator", None, 30), story);
    let called = called.ok();
    assert_eq!(called["action"], "rule");
    assert_eq!(called["debate_state"], "AWAITING_ARBITRATOR");
    assert_eq!(seqs(&called["arguments"]), [1, 2, 3, 4, 5]);
    assert_eq!(called["argument"]["id"], appeal);
}

#[tokio::test]
async fn the_arbitrator_is_told_when_the_debate_closes() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let story = async {
        held(&world, 1).await;
        let claim = id(&debate.claim("opponent", &debate.motion, "Fine.").await);
        debate.ask("resolution", &claim, "Done.").await.created();
    };
    let wait = debate.wait("arbitrator", Some(&debate.motion), 30);
    let (called, ()) = tokio::join!(wait, story);
    let called = called.ok();
    assert_eq!(called["action"], "debate_closed");
    assert_eq!(called["available_actions"], json!([]));
    // The closing RULING is the arbitrator's own, so it is no news.
    assert_eq!(seqs(&called["arguments"]), [2, 3]);
    let without_id = debate.poll("arbitrator", None).await.ok();
    assert_eq!(without_id["argument"], called["argument"]);
    assert_eq!(called["next_argument_id_to_wait"], all(&debate).await[3]["id"]);
}

#[tokio::test]
async fn a_ruling_wakes_both_sides() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let appeal = up_to_the_appeal(&debate).await;
    let story = async {
        held(&world, 2).await;
        id(&debate.rule(json!({"content": "B"})).await.created())
    };
    let (proposer, opponent, ruling) = tokio::join!(
        debate.wait("proposer", Some(&appeal), 30),
        debate.wait("opponent", Some(&appeal), 30),
        story
    );
    for (woken, action) in [(proposer, "align_to_ruling"), (opponent, "wait_for_proposer")] {
        let woken = woken.ok();
        assert_eq!(woken["action"], action);
        assert_eq!(woken["argument"]["id"], ruling);
        assert_eq!(woken["argument"]["type"], "RULING");
    }
}

#[tokio::test]
async fn a_resolution_and_its_automatic_ruling_arrive_together() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let claim = id(&debate.claim("opponent", &debate.motion, "Fine.").await);
    let story = async {
        held(&world, 1).await;
        debate.ask("resolution", &claim, "Done.").await.created()
    };
    let (woken, _) = tokio::join!(debate.wait("opponent", Some(&claim), 30), story);
    let woken = woken.ok();
    assert_eq!(woken["action"], "debate_closed");
    assert_eq!(seqs(&woken["arguments"]), [3, 4]);
}

#[tokio::test]
async fn an_automatic_ruling_is_not_the_arbitrators_own() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let claim = id(&debate.claim("opponent", &debate.motion, "Fine.").await);
    debate.ask("resolution", &claim, "Done.").await.created();
    assert_eq!(seqs(&debate.poll("arbitrator", None).await.ok()["arguments"]), [1, 2, 3]);

    // One that was its own is where the wait begins.
    let debate = world.debate("Keep two?").await;
    let claim = id(&debate.claim("opponent", &debate.motion, "No.").await);
    debate.ask("appeal", &claim, "1. A 2. B").await.created();
    let ruling = id(&debate.rule(json!({"content": "B"})).await.created());
    let answer = id(&debate.claim("proposer", &ruling, "B it is.").await);
    let claim = id(&debate.claim("opponent", &answer, "Fine.").await);
    debate.ask("resolution", &claim, "Done.").await.created();
    let over = debate.poll("arbitrator", None).await.ok();
    assert_eq!(over["action"], "debate_closed");
    assert_eq!(seqs(&over["arguments"]), [5, 6, 7]);
}

#[tokio::test]
async fn a_slow_agent_reads_the_newest_twenty_and_every_ruling() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let mut newest = debate.motion.clone();
    for round in 0..25 {
        newest = id(&debate.claim("opponent", &newest, "No.").await);
        if round % 7 == 0 {
            debate.ask("appeal", &newest, "1. A 2. B").await.created();
            newest = id(&debate.rule(json!({"content": "B"})).await.created());
        }
        newest = id(&debate.claim("proposer", &newest, "Yes.").await);
    }
    for role in ["opponent", "proposer"] {
        let unseen: Vec<Value> =
            all(&debate).await.into_iter().skip(1).filter(|a| a["role"] != role).collect();
        let (old, new) = unseen.split_at(unseen.len() - 20);
        let old_rulings = old.iter().filter(|a| a["type"] == "RULING");
        let shown: Vec<Value> = old_rulings.chain(new).cloned().collect();
        assert!(shown.len() > 20, "{role}: a RULING is older than the newest twenty");
        let poll = debate.poll(role, Some(&debate.motion)).await.ok();
        assert_eq!(poll["arguments"], json!(shown), "{role}");
        assert_eq!(poll["omitted"], unseen.len() - shown.len(), "{role}");
        assert_eq!(poll["argument"], *unseen.last().unwrap(), "{role}");
        assert_eq!(poll["next_argument_id_to_wait"], newest, "{role}");
    }
    // To the arbitrator its own RULINGs are no news.
    debate.intervene().await.created();
    let poll = debate.poll("arbitrator", Some(&debate.motion)).await.ok();
    let unseen = all(&debate).await.into_iter().skip(1).filter(|a| a["role"] != "arbitrator");
    let unseen: Vec<Value> = unseen.collect();
    assert_eq!(poll["arguments"], json!(unseen[unseen.len() - 20..]));
    assert_eq!(poll["omitted"], unseen.len() - 20);
}

#[tokio::test]
async fn news_and_no_news_have_their_whole_shape() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let motion = debate.context().await["motion"].take();
    assert_eq!(
        debate.poll("opponent", None).await.ok(),
        json!({
            "has_new_argument": true,
            "action": "respond",
            "debate_state": "AWAITING_OPPONENT",
            "argument": motion,
            "arguments": [motion],
            "omitted": 0,
            "next_argument_id_to_wait": debate.motion,
            "pending_argument_id": null,
            "available_actions": ["SUBMIT_CLAIM"],
        })
    );
    let nothing = |action: &str, seen: u64| {
        json!({
            "has_new_argument": false,
            "debate_id": debate.id,
            "debate_state": "AWAITING_OPPONENT",
            "action": action,
            "waiting_since": "2026-01-01T00:00:00.000Z",
            "last_seen_seq": seen,
        })
    };
    world.pass(Duration::from_secs(9));
    let (proposer, arbitrator) = ("wait_for_opponent", "wait");
    assert_eq!(debate.poll("proposer", None).await.ok(), nothing(proposer, 0));
    assert_eq!(debate.poll("proposer", Some("")).await.ok(), nothing(proposer, 0));
    assert_eq!(debate.poll("proposer", Some(&debate.motion)).await.ok(), nothing(proposer, 1));
    assert_eq!(debate.poll("arbitrator", None).await.ok(), nothing(arbitrator, 0));
}

#[tokio::test]
async fn an_empty_argument_id_counts_as_absent() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    up_to_the_appeal(&debate).await;
    for role in ROLES {
        let (empty, absent) = (debate.poll(role, Some("")).await, debate.poll(role, None).await);
        assert_eq!(empty.ok(), absent.ok(), "{role}");
    }
}

#[tokio::test]
async fn an_argument_of_another_debate_is_not_found_even_when_it_is_ones_move() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let other = world.debate("Another").await;
    for role in ROLES {
        debate.poll(role, Some(&other.motion)).await.refused(404, "ARGUMENT_NOT_FOUND");
        debate.wait(role, Some(&new_id()), 30).await.refused(404, "ARGUMENT_NOT_FOUND");
    }
}

#[tokio::test]
async fn both_names_of_the_wait_are_held_and_woken() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let path = |rest: &str| format!("/debates/{}/{rest}", debate.id);
    let (by_poll, by_wait) = (path("poll?role=proposer&wait=60"), path("wait?role=proposer"));
    let story = async {
        // Without `wait`, the one is held and the other is not.
        assert_eq!(debate.poll("proposer", None).await.ok()["has_new_argument"], false);
        held(&world, 2).await;
        id(&debate.claim("opponent", &debate.motion, "No.").await)
    };
    let (poll, wait, claim) = tokio::join!(world.get(&by_poll), world.get(&by_wait), story);
    let (poll, wait) = (poll.ok(), wait.ok());
    assert_eq!(poll["argument"]["id"], claim);
    assert_eq!(poll, wait);
}

#[tokio::test]
async fn when_the_time_is_over_there_is_nothing_new() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    for name in ["poll", "wait"] {
        let path = format!("/debates/{}/{name}?role=proposer&wait=0.05", debate.id);
        let began = Instant::now();
        let over = world.get(&path).await.ok();
        assert!(began.elapsed() >= Duration::from_millis(50), "{name} was not held");
        assert_eq!(over["has_new_argument"], false);
    }
}

#[tokio::test]
async fn a_deletion_wakes_whoever_is_held_with_the_time_of_it() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let story = async {
        held(&world, 2).await;
        world.pass(Duration::from_secs(5));
        world.delete(&format!("/debates/{}", debate.id)).await.ok();
    };
    let (proposer, arbitrator, ()) =
        tokio::join!(debate.wait("proposer", None, 30), debate.wait("arbitrator", None, 30), story);
    for woken in [proposer, arbitrator] {
        let error = woken.refused(404, "DEBATE_NOT_FOUND");
        assert_eq!(error["deleted_at"], "2026-01-01T00:00:05.000Z");
        assert_eq!(error["debate_id"], debate.id);
    }
}

#[tokio::test]
async fn a_server_that_stops_answers_whoever_is_held_and_is_gone_in_time() {
    let world = World::start().await;
    let began = {
        let debate = world.debate("Keep one SQLite file?").await;
        let story = async {
            held(&world, 2).await;
            world.begin_to_stop();
            Instant::now()
        };
        let (proposer, arbitrator, began) = tokio::join!(
            debate.wait("proposer", Some(&debate.motion), 60),
            debate.wait("arbitrator", None, 60),
            story
        );
        for (answer, seen) in [(proposer, 1), (arbitrator, 0)] {
            let nothing = answer.ok();
            assert_eq!(nothing["has_new_argument"], false);
            assert_eq!(nothing["debate_id"], debate.id);
            assert_eq!(nothing["debate_state"], "AWAITING_OPPONENT");
            assert_eq!(nothing["last_seen_seq"], seen);
        }
        began
    };
    world.stop().await;
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_waiter_that_hangs_up_is_forgotten() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let listened_to = || async { world.engine.health().await.debates_listened_to };
    {
        let waiter = debate.wait("proposer", None, 60);
        let held = eventually("it is held", async || listened_to().await == 1);
        tokio::select! {
            _ = waiter => panic!("nothing happened"),
            () = held => {}
        }
    }
    eventually("it is forgotten", async || listened_to().await == 0).await;
    eventually("its place is free", async || world.held().await.0 == 0).await;
}

#[tokio::test]
async fn a_held_wait_reads_nothing_while_nothing_happens() {
    let world = World::in_file().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let waiter = debate.wait("proposer", None, 30);
    tokio::pin!(waiter);
    tokio::select! {
        _ = &mut waiter => panic!("nothing happened"),
        () = eventually("it is held", async || {
            world.engine.health().await.debates_listened_to == 1
        }) => {}
    }
    // Behind the server's back: whoever looked now would find the debate gone.
    let hide = "update debates set deleted_at = ?1";
    world.database().execute_batch("drop trigger debates_stay_deleted").unwrap();
    world.database().execute(hide, [Some(1)]).unwrap();
    assert!(timeout(Duration::from_millis(400), &mut waiter).await.is_err(), "it looked");
    world.database().execute(hide, [None::<i64>]).unwrap();
    let (woken, _) = tokio::join!(waiter, debate.claim("opponent", &debate.motion, "No."));
    assert_eq!(woken.ok()["action"], "respond");
}
