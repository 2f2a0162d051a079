//! Kills the server again and again while, in eight debates, one side writes and the other waits.

use std::time::Duration;

use aw_trials::figures::Figures;
use aw_trials::record;

use crate::Trial;
use crate::crowd::Crowd;
use crate::ground::Ground;

pub async fn run(trial: &Trial) -> Figures {
    let ground = Ground::new(trial).await;
    let mut dice = trial.dice();
    let mut crowd = Crowd::gather(8, &mut dice);
    for _ in 0..trial.times() {
        let server = ground.start(trial, 0);
        crowd.finds_everything(&mut server.line()).await;
        crowd.at(server.address);
        crowd.goes_on(1 + dice.below(60)).await;
        // A random moment, between two answers or two steps of a commit.
        tokio::time::sleep(Duration::from_micros(dice.below(3_000))).await;
        server.kill();
        crowd.away();
    }
    // Finally every client sends its unacknowledged write again, and the server stops normally.
    let server = ground.start(trial, 0);
    crowd.finds_everything(&mut server.line()).await;
    crowd.at(server.address);
    crowd.leaves().await;
    assert_eq!(server.stop().code(), Some(0));
    let kills = Figures::default().count(trial.times(), "kills");
    kills.and(&crowd.account(&record::sound(&ground.file().await)))
}
