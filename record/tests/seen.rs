//! What each person has seen of a debate.

use aw_core::{Hash, Role, SeatName};
use aw_record::{Failure, Filter, NewSeat, SeatRole};

use crate::world::World;

const AN: Hash = Hash([1; 32]);
const BINH: Hash = Hash([2; 32]);

#[tokio::test]
async fn a_mark_never_goes_back_and_never_beyond_the_newest_argument() {
    let world = World::new();
    let (debate, motion) = world.opens("Long").await;
    world.exchanges(debate, motion, 4).await;
    assert_eq!(world.engine.seen(debate, AN).await.unwrap(), 0);
    for (seq, seen) in [(0, 0), (2, 2), (1, 2), (4, 4), (99, 5), (3, 5), (u64::MAX, 5)] {
        assert_eq!(world.engine.note_seen(debate, AN, seq).await.unwrap(), seen, "{seq}");
        assert_eq!(world.engine.seen(debate, AN).await.unwrap(), seen, "{seq}");
    }
    assert_eq!(world.engine.seen(debate, BINH).await.unwrap(), 0, "each has marks of their own");
    let (other, _) = world.opens("Other").await;
    let list = async |reader| {
        let filter = Filter { reader, limit: 9, ..Filter::default() };
        let page = world.engine.list(&filter).await.unwrap().debates;
        let mut seen: Vec<_> = page.iter().map(|listed| (listed.debate.id, listed.seen)).collect();
        seen.sort();
        seen
    };
    assert_eq!(list(Some(AN)).await, [(debate, Some(5)), (other, Some(0))]);
    assert_eq!(list(Some(BINH)).await, [(debate, Some(0)), (other, Some(0))]);
    assert_eq!(list(None).await, [(debate, None), (other, None)]);
    world.engine.delete(debate).await.unwrap();
    for failure in [
        world.engine.seen(debate, AN).await.unwrap_err(),
        world.engine.note_seen(debate, AN, 9).await.unwrap_err(),
    ] {
        assert!(matches!(failure, Failure::DebateNotFound { .. }), "{failure}");
    }
}

#[tokio::test]
async fn the_marks_of_a_revoked_token_are_deleted() {
    let world = World::new();
    let (debate, _) = world.opens("Seats").await;
    let seat = NewSeat {
        name: SeatName::recorded("An".to_owned()),
        role: SeatRole::Plays(Role::Opponent),
        debate: None,
        expires_at: None,
        token: AN,
    };
    let seat = world.engine.make_seat(seat).await.unwrap();
    for holder in [AN, BINH] {
        assert_eq!(world.engine.note_seen(debate, holder, 1).await.unwrap(), 1);
    }
    world.engine.revoke_seat(seat.id).await.unwrap();
    assert_eq!(world.engine.seen(debate, AN).await.unwrap(), 0);
    assert_eq!(world.engine.seen(debate, BINH).await.unwrap(), 1);
}
