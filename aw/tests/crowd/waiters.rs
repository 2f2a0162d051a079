//! Thousands of waits: each is woken by its own news, and by nothing else.

use std::sync::Arc;
use std::time::Duration;

use aw_core::{Move, Role, Verdict};
use aw_record::{Poll, Receipt};
use reqwest::Method;
use serde_json::Value;
use tokio::sync::{Barrier, mpsc};
use tokio::task::JoinHandle;

use super::{held, raise_file_limit};
use crate::world::driver::{answer, open, play};
use crate::world::{Answer, Dice, World, eventually, in_time, text};

/// Longer than any test: a waiter that is not woken fails the test.
const PATIENCE: Duration = Duration::from_secs(600);

/// The answer of a wait.
#[derive(Debug, PartialEq, Eq)]
struct Woken {
    action: String,
    seqs: Vec<u64>,
    newest: String,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_thousand_waiters_on_a_thousand_debates_each_is_woken_by_its_own() {
    raise_file_limit();
    let world = World::start().await;
    let mut dice = Dice::new();
    let mut debates = Vec::new();
    for number in 0..1_000 {
        let motion = open(&world.engine, number).await;
        let waiter = match number % 5 {
            0 | 1 => over_http(&world, &motion, Role::Proposer),
            _ => over_engine(&world, &motion, Role::Proposer),
        };
        debates.push((motion, waiter));
    }
    eventually("400 waits are held over HTTP", async || held(&world).await.0 == 400).await;
    eventually("1000 debates are listened to", async || listened_to(&world).await == 1_000).await;

    // In any order, first for some half of them.
    for last in (1..debates.len()).rev() {
        debates.swap(last, usize::try_from(dice.below(last as u64 + 1)).unwrap());
    }
    let others = debates.split_off(500);
    for (half, left) in [(debates, 500), (others, 0)] {
        let claims: Vec<_> = half
            .iter()
            .map(|(motion, _)| {
                let (engine, motion) = (world.engine.clone(), motion.clone());
                tokio::spawn(async move { answer(&engine, &motion, Role::Opponent).await })
            })
            .collect();
        for ((_, waiter), claim) in half.into_iter().zip(claims) {
            let claim = claim.await.unwrap();
            let woken = in_time("the waiter of a debate with news is woken", waiter).await.unwrap();
            let newest = claim.argument.id.to_string();
            assert_eq!(woken, Woken { action: "respond".to_owned(), seqs: vec![2], newest });
        }
        eventually("only the others wait", async || listened_to(&world).await == left).await;
    }
    eventually("nobody is left behind", async || {
        listened_to(&world).await == 0 && held(&world).await.0 == 0
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_thousand_waiters_on_one_debate_only_the_roles_with_news_are_woken() {
    raise_file_limit();
    let world = World::start().await;
    let motion = open(&world.engine, 0).await;
    let crowd = |size: usize, last: &Receipt, role: Role| -> Vec<JoinHandle<Woken>> {
        let waiter = |number: usize| match number % 3 {
            0 => over_http(&world, last, role),
            _ => over_engine(&world, last, role),
        };
        (0..size).map(waiter).collect()
    };
    let arbitrators = crowd(300, &motion, Role::Arbitrator);
    let proposers = crowd(400, &motion, Role::Proposer);
    eventually("234 waits are held", async || held(&world).await.0 == 100 + 134).await;

    let second = answer(&world.engine, &motion, Role::Opponent).await;
    all_woken(proposers, "respond", &[2], &second).await;
    eventually("the arbitrators are still held", async || held(&world).await.0 == 100).await;

    let opponents = crowd(300, &second, Role::Opponent);
    eventually("200 waits are held", async || held(&world).await.0 == 200).await;
    let third = answer(&world.engine, &second, Role::Proposer).await;
    all_woken(opponents, "respond", &[3], &third).await;
    let fourth = answer(&world.engine, &third, Role::Opponent).await;
    eventually("the arbitrators are still held", async || held(&world).await.0 == 100).await;
    assert!(arbitrators.iter().all(|waiter| !waiter.is_finished()));

    let target = fourth.argument.id;
    let appeal =
        play(&world.engine, motion.debate.id, Role::Proposer, Move::Appeal { target }).await;
    all_woken(arbitrators, "rule", &[2, 3, 4, 5], &appeal).await;

    // The close ends every wait.
    let both = [crowd(50, &appeal, Role::Proposer), crowd(50, &appeal, Role::Opponent)];
    let ruling = Move::Ruling { target: None, verdict: Verdict::Close };
    let closing = play(&world.engine, motion.debate.id, Role::Arbitrator, ruling).await;
    for waiters in both {
        all_woken(waiters, "debate_closed", &[6], &closing).await;
    }
    assert_eq!((held(&world).await.0, listened_to(&world).await), (0, 0));
}

/// The other tests commit after all waits are held; here both happen at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_wakes_waits_that_begin_at_the_same_time() {
    const WAITERS: u64 = 12;
    const ROUNDS: u64 = 800;
    /// About as long as it takes to commit.
    const COMMIT: Duration = Duration::from_micros(1_500);
    let world = World::start().await;
    let mut dice = Dice::new();
    let mut newest = open(&world.engine, 0).await;
    let together = Arc::new(Barrier::new(1 + usize::try_from(WAITERS).unwrap()));
    let (tell, mut seen) = mpsc::channel(64);
    for _ in 0..WAITERS {
        let (engine, debate, motion) = (world.engine.clone(), newest.debate.id, newest.argument.id);
        let (together, tell, mut dice) = (together.clone(), tell.clone(), dice.another());
        tokio::spawn(async move {
            let mut after = motion;
            for round in 0..ROUNDS {
                together.wait().await;
                dice.dawdle(COMMIT).await;
                // The role whose move it is not.
                let role = if round % 2 == 0 { Role::Proposer } else { Role::Opponent };
                let Poll::News(news) =
                    engine.wait(debate, role, Some(after), PATIENCE).await.unwrap()
                else {
                    panic!("a wait ended without news");
                };
                assert_eq!(news.arguments.len(), 1);
                after = news.waits_on;
                tell.send(news.argument.seq.0).await.unwrap();
            }
        });
    }
    for round in 0..ROUNDS {
        let role = if round % 2 == 0 { Role::Opponent } else { Role::Proposer };
        together.wait().await;
        dice.dawdle(COMMIT / 2).await;
        newest = answer(&world.engine, &newest, role).await;
        for _ in 0..WAITERS {
            let seq = in_time("everybody hears of it", seen.recv()).await.unwrap();
            assert_eq!(seq, newest.argument.seq.0);
        }
    }
}

async fn all_woken(waiters: Vec<JoinHandle<Woken>>, action: &str, seqs: &[u64], by: &Receipt) {
    for waiter in waiters {
        let woken = in_time("every waiter of this role is woken", waiter).await.unwrap();
        let newest = by.argument.id.to_string();
        assert_eq!(woken, Woken { action: action.to_owned(), seqs: seqs.to_vec(), newest });
    }
}

/// A wait on the engine for news after `last`.
fn over_engine(world: &World, last: &Receipt, role: Role) -> JoinHandle<Woken> {
    let (engine, debate, after) = (world.engine.clone(), last.debate.id, last.argument.id);
    tokio::spawn(async move {
        match engine.wait(debate, role, Some(after), PATIENCE).await.unwrap() {
            Poll::News(news) => Woken {
                action: news.action.to_string(),
                seqs: news.arguments.iter().map(|argument| argument.seq.0).collect(),
                newest: news.waits_on.to_string(),
            },
            nothing @ Poll::Nothing { .. } => panic!("woken for nothing: {nothing:?}"),
        }
    })
}

/// A wait over HTTP for news after `last`.
fn over_http(world: &World, last: &Receipt, role: Role) -> JoinHandle<Woken> {
    let (debate, after) = (last.debate.id, last.argument.id);
    let path = format!("/debates/{debate}/wait?role={role}&argument_id={after}");
    let request = world.request(Method::GET, &path);
    tokio::spawn(async move {
        let news = Answer::to(request).await.ok();
        assert_eq!(news["has_new_argument"], true, "{news}");
        let seqs = news["arguments"].as_array().unwrap().iter();
        Woken {
            action: text(&news["action"]),
            seqs: seqs.map(|argument: &Value| argument["seq"].as_u64().unwrap()).collect(),
            newest: text(&news["next_argument_id_to_wait"]),
        }
    })
}

async fn listened_to(world: &World) -> usize {
    world.engine.health().await.debates_listened_to
}
