//! Seats: when a token is valid, the passes of browsers, and which documents a seat sees.

use std::collections::BTreeMap;
use std::path::PathBuf;

use aw_core::{DebateId, Hash, Move, Role, SeatName, Time};
use aw_record::{
    DocumentFilter, Failure, NewSeat, Pass, Place, RestoredTokens, Seat, SeatRole, backup, restore,
};
use rusqlite::Connection;
use uuid::Uuid;

use crate::world::{BEGINNING, World, document, saying};

fn seat(name: &str, token: u8) -> NewSeat {
    NewSeat {
        name: SeatName::recorded(name.to_owned()),
        role: SeatRole::Plays(Role::Opponent),
        debate: None,
        expires_at: None,
        token: Hash([token; 32]),
    }
}

#[tokio::test]
async fn a_token_is_valid_until_it_expires_or_is_revoked() {
    let world = World::new();
    let end = Time(BEGINNING + 10);
    let new = NewSeat { expires_at: Some(end), ..seat("An's Codex", 1) };
    let made = world.engine.make_seat(new).await.unwrap();
    assert_eq!((made.name.as_str(), made.role), ("An's Codex", SeatRole::Plays(Role::Opponent)));
    assert_eq!((made.debate, made.expires_at, made.revoked_at), (None, Some(end), None));
    assert_eq!(made.created_at, Time(BEGINNING));
    let token = Hash([1; 32]);
    assert_eq!(world.engine.seat_of(token).await.unwrap(), Some(made.clone()));
    assert_eq!(world.engine.seat_of(Hash([9; 32])).await.unwrap(), None);
    world.at(9);
    assert!(world.engine.seat_of(token).await.unwrap().is_some());
    world.at(10);
    assert_eq!(world.engine.seat_of(token).await.unwrap(), None);

    let lasting = world.engine.make_seat(seat("Bình", 2)).await.unwrap();
    let both = world.engine.seats().await.unwrap();
    assert_eq!(both, [lasting.clone(), made], "the newest first");
    let at = world.at(20);
    let revoked = world.engine.revoke_seat(lasting.id).await.unwrap();
    assert_eq!(revoked.revoked_at, Some(at));
    assert_eq!(world.engine.seat_of(Hash([2; 32])).await.unwrap(), None);
    world.at(30);
    let again = world.engine.revoke_seat(lasting.id).await.unwrap();
    assert_eq!(again.revoked_at, Some(at), "the first revocation counts");
    let nobody = Uuid::from_u128(1);
    let failure = world.engine.revoke_seat(nobody).await.unwrap_err();
    assert!(matches!(failure, Failure::SeatNotFound { id } if id == nobody), "{failure}");
}

#[tokio::test]
async fn a_session_lasts_and_a_link_works_once() {
    let world = World::new();
    let made = world.engine.make_seat(seat("An", 1)).await.unwrap();
    let (holder, session, link) = (Hash([1; 32]), Hash([2; 32]), Hash([3; 32]));
    let pass = |hash, once, end| Pass { hash, holder, once, expires_at: Time(BEGINNING + end) };
    world.engine.give_pass(pass(session, false, 100)).await.unwrap();
    world.engine.give_pass(pass(link, true, 100)).await.unwrap();
    assert_eq!(world.engine.holder(session).await.unwrap(), Some(holder));
    assert_eq!(world.engine.holder(link).await.unwrap(), None, "a link is no session");
    assert_eq!(world.engine.redeem(session).await.unwrap(), None, "a session is no link");
    assert_eq!(world.engine.redeem(link).await.unwrap(), Some(holder));
    assert_eq!(world.engine.redeem(link).await.unwrap(), None);

    for (hash, end) in [(4, 50), (5, 51), (6, 52)] {
        world.engine.give_pass(pass(Hash([hash; 32]), true, end)).await.unwrap();
    }
    world.at(51);
    assert_eq!(world.engine.redeem(Hash([5; 32])).await.unwrap(), None, "it is expired");
    assert_eq!(world.engine.redeem(Hash([6; 32])).await.unwrap(), Some(holder));
    assert_eq!(world.engine.holder(session).await.unwrap(), Some(holder));
    world.at(100);
    assert_eq!(world.engine.holder(session).await.unwrap(), None);

    // A new pass removes expired ones.
    world.engine.give_pass(pass(Hash([7; 32]), false, 200)).await.unwrap();
    if world.path.exists() {
        let db = Connection::open(&world.path).unwrap();
        let kept = || db.query_row("select count(*) from passes", [], |row| row.get::<_, i64>(0));
        assert_eq!(kept().unwrap(), 1);
    }
    world.engine.end_pass(Hash([7; 32])).await.unwrap();
    assert_eq!(world.engine.holder(Hash([7; 32])).await.unwrap(), None);
    world.engine.give_pass(pass(Hash([8; 32]), false, 200)).await.unwrap();
    world.engine.revoke_seat(made.id).await.unwrap();
    assert_eq!(world.engine.holder(Hash([8; 32])).await.unwrap(), None, "its token was revoked");
}

#[tokio::test]
async fn a_seat_of_one_debate_sees_the_documents_it_cites_and_its_own() {
    let world = World::new();
    let (debate, motion) = world.opens("Keep one file?").await;
    let new = NewSeat { debate: Some(debate), ..seat("Guest", 1) };
    let guest = world.engine.make_seat(new).await.unwrap();
    let host = world.engine.make_seat(seat("Host", 2)).await.unwrap();
    assert_eq!((guest.debate, host.debate), (Some(debate), None));

    let cited = world.keeps("Cited").await;
    let hidden = world.keeps("Hidden").await;
    let mut own = document("Own");
    own.seat = Some(guest.id);
    let own = world.engine.create_document(own).await.unwrap().document;
    let words = format!("See {cited}.");
    let claim = saying(debate, Role::Opponent, Move::Claim { target: motion }, &words);
    world.engine.execute(claim).await.unwrap();

    let sees = async |document| world.engine.sees(&guest, document).await.unwrap();
    assert_eq!((sees(cited).await, sees(own).await, sees(hidden).await), (true, true, false));
    assert!(world.engine.sees(&host, hidden).await.unwrap());
    let listed = async |search: Option<&str>, seat: &Seat| {
        let (search, seen_by) = (search.map(str::to_owned), Some(seat.clone()));
        let filter = DocumentFilter { search, seen_by, limit: 9, ..Default::default() };
        let list = world.engine.list_documents(filter).await.unwrap();
        (list.documents.len() as u64, list.total)
    };
    assert_eq!((listed(None, &guest).await, listed(None, &host).await), ((2, 2), (3, 3)));
    assert_eq!(
        (listed(Some("Hidden"), &guest).await, listed(Some("Own"), &guest).await),
        ((0, 0), (1, 1))
    );

    let nowhere: DebateId = Uuid::from_u128(1).into();
    let lost = NewSeat { debate: Some(nowhere), ..seat("Lost", 3) };
    let failure = world.engine.make_seat(lost).await.unwrap_err();
    assert!(matches!(failure, Failure::DebateNotFound { .. }), "{failure}");
}

#[tokio::test]
async fn a_restored_backup_lets_nobody_in_whom_the_record_has_shut_out_since() {
    let world = World::in_file();
    let end = Some(Time(BEGINNING + 1_000));
    let made =
        async |name: &str, token| world.engine.make_seat(seat(name, token)).await.unwrap().id;
    let (kept, revoked) = (made("kept", 1).await, made("revoked", 2).await);
    let expired = NewSeat { expires_at: end, ..seat("expired", 3) };
    world.engine.make_seat(expired).await.unwrap();
    for holder in 1..=2 {
        for once in [false, true] {
            let hash = Hash([10 * holder + u8::from(once); 32]);
            let (holder, expires_at) = (Hash([holder; 32]), Time(i64::MAX));
            world.engine.give_pass(Pass { hash, holder, once, expires_at }).await.unwrap();
        }
    }
    let copy = |name: &str| world.path.with_file_name(name);
    backup(&world.path, &copy("early"), |_, _| {}).unwrap();
    let at = world.at(10);
    world.engine.revoke_seat(revoked).await.unwrap();
    let later = made("later", 4).await;
    backup(&world.path, &copy("late"), |_, _| {}).unwrap();
    world.engine.close().await;
    drop(world.engine);

    let now = Time(BEGINNING + 2_000);
    let restored = async |database: PathBuf, name: &str| {
        let (copy, place) = (copy(name), database.clone());
        let restoring = move || restore(&place, &copy, "now", false, now, |_, _| {});
        let restored = tokio::task::spawn_blocking(restoring).await.unwrap().unwrap();
        let seats = World::at_place(Place::File(database), |_| {}).engine;
        for session in [10, 20] {
            assert_eq!(seats.holder(Hash([session; 32])).await.unwrap(), None);
        }
        assert_eq!(seats.redeem(Hash([11; 32])).await.unwrap(), None);
        let revoked =
            seats.seats().await.unwrap().into_iter().map(|seat| (seat.id, seat.revoked_at));
        seats.close().await;
        (restored.tokens, revoked.collect::<BTreeMap<_, _>>())
    };
    let tokens = |valid, revoked| RestoredTokens { valid, revoked };

    let (counted, seats) = restored(world.path.clone(), "early").await;
    assert_eq!(counted, tokens(1, 1));
    assert_eq!((seats[&kept], seats[&revoked]), (None, Some(at)));

    // The restored record does not have the seat, so nothing proves that it was not revoked.
    let (counted, seats) = restored(world.path.clone(), "late").await;
    assert_eq!(counted, tokens(1, 1));
    assert_eq!((seats[&kept], seats[&revoked], seats[&later]), (None, Some(at), Some(now)));

    // A record that cannot be read does not prove it either.
    std::fs::write(&world.path, "no record").unwrap();
    assert_eq!(restored(world.path.clone(), "late").await.0, tokens(0, 2));

    // Without a record, or on one in which nothing was ever written, the tokens of the backup are valid.
    let folder = tempfile::tempdir().unwrap();
    let empty = World::in_file();
    empty.engine.close().await;
    drop(empty.engine);
    for database in [folder.path().join("debate.db"), empty.path.clone()] {
        let (counted, seats) = restored(database, "early").await;
        assert_eq!(counted, tokens(2, 0));
        assert_eq!((seats[&kept], seats[&revoked]), (None, None));
    }
}

#[test]
fn a_seat_is_for_a_role_or_for_reading() {
    let words = ["proposer", "opponent", "arbitrator", "observer"];
    assert_eq!(SeatRole::ALL.map(SeatRole::as_str), words);
    for (role, word) in SeatRole::ALL.into_iter().zip(words) {
        assert_eq!((word.parse(), role.to_string().as_str()), (Ok(role), word));
    }
    let wrong = "judge".parse::<SeatRole>().unwrap_err();
    assert_eq!(wrong.expected, words.join(", "));
}

fn hash(kind: u8, number: u16) -> Hash {
    let mut bytes = [kind; 32];
    bytes[..2].copy_from_slice(&number.to_be_bytes());
    Hash(bytes)
}

#[tokio::test]
async fn a_token_keeps_its_newest_five_hundred_sessions() {
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
    // The sessions of other tokens stay, and links are counted separately.
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
