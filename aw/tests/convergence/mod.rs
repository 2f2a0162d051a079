//! Debates whose roles misbehave, played over HTTP with and without points. `docs/convergence.md` has
//! the table of what came of them, and a test compares it.

mod play;
mod roles;

use crate::world::World;
use play::Played;
use roles::Adversary;

/// The rounds of a debate that does not say how many it has.
const ROUNDS: usize = 5;

#[tokio::test]
async fn every_debate_with_points_ends_as_the_page_says() {
    let world = World::start().await;
    let mut table = vec![
        "| adversary | points | rounds | RULINGs | outcome | lost | the server's part |".to_owned(),
        "|---|---|---|---|---|---|---|".to_owned(),
    ];
    for adversary in Adversary::ALL {
        for with_points in [true, false] {
            let Played { rounds, rulings, outcome, lost, met } =
                play::debate(&world, adversary, with_points).await;
            if with_points {
                assert_ne!(outcome, "still open", "{adversary:?}");
                assert!(rounds <= ROUNDS + rulings, "{adversary:?}: {rounds} rounds, {rulings}");
            }
            let (name, points) = (adversary.name(), if with_points { "yes" } else { "no" });
            let met = if met.is_empty() { "–".to_owned() } else { met.join(", ") };
            table.push(format!(
                "| {name} | {points} | {rounds} | {rulings} | {outcome} | {lost} | {met} |"
            ));
        }
    }
    let table = table.join("\n");
    println!("{table}");
    let page = include_str!("../../../docs/convergence.md");
    let printed: Vec<&str> = page.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(
        printed.join("\n"),
        table,
        "docs/convergence.md has another table; it should be\n{table}"
    );
}
