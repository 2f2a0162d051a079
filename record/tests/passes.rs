//! What browsers are given instead of a token.

use aw_core::{Hash, Time};
use aw_record::Pass;

use crate::world::{BEGINNING, World};

fn hash(kind: u8, number: u16) -> Hash {
    let mut bytes = [kind; 32];
    bytes[..2].copy_from_slice(&number.to_be_bytes());
    Hash(bytes)
}

#[tokio::test]
async fn a_token_that_asks_for_sessions_without_end_keeps_its_newest_five_hundred() {
    let world = World::new();
    let engine = &world.engine;
    let (greedy, modest) = (hash(1, 0), hash(2, 0));
    let give = async |number: u16, holder, once| {
        let pass = Pass {
            hash: hash(9, number),
            holder,
            once,
            expires_at: Time(BEGINNING + i64::from(number)),
        };
        engine.give_pass(pass).await.unwrap();
    };
    // What somebody else holds stays, and links are counted by themselves.
    give(1, modest, false).await;
    give(2, greedy, true).await;
    for number in 3..513 {
        give(number, greedy, false).await;
    }
    let mut held = Vec::new();
    for number in 1..513 {
        if engine.holder(hash(9, number)).await.unwrap().is_some() {
            held.push(number);
        }
    }
    let expected: Vec<u16> = [1].into_iter().chain(13..513).collect();
    assert_eq!(held, expected);
    assert_eq!(engine.redeem(hash(9, 2)).await.unwrap(), Some(greedy));
    engine.close().await;
}
