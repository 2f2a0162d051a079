//! Unchanged records pass verification.

use aw_core::{Content, Move, Role, Seq};
use aw_record::{Failure, VerifyMark};
use uuid::Uuid;

use super::shapes::{DEBATES, DOCUMENTS, every_shape, without_seats};
use super::{burglar, open, walk};
use crate::old_schemas::as_of_schema;
use crate::world::{World, saying, version};

#[tokio::test]
async fn an_unchanged_record_of_every_shape_passes() {
    let shapes = every_shape().await;
    let engine = open(&shapes.path);
    let found = walk(&engine).await;
    assert_eq!(found.damages, []);
    assert_eq!((found.debates, found.documents, found.left), (DEBATES, DOCUMENTS, 0));
    let all = |table: &str| -> u64 {
        let sql = format!("select count(*) from {table}");
        burglar(&shapes.path).query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!((found.arguments, found.versions), (all("arguments"), all("document_versions")));
    let eventful = engine.verify(shapes.eventful).await.unwrap();
    let transcript = engine.stretch(shapes.eventful, 0, 100).await.unwrap().arguments;
    assert_eq!(eventful.arguments, transcript.len() as u64);
    assert_eq!(eventful.first, transcript[0].hash);
    assert_eq!(eventful.head, transcript.last().unwrap().hash);
    assert!(transcript.iter().any(|argument| argument.event.parked()), "a shape is missing");
    assert!(transcript.iter().any(|argument| argument.event.automatic()), "a shape is missing");
}

#[tokio::test]
async fn a_deleted_debate_is_not_verified_by_its_id() {
    let shapes = every_shape().await;
    let engine = open(&shapes.path);
    let asked = engine.verify(shapes.deleted).await.unwrap_err();
    assert!(matches!(asked, Failure::DebateNotFound { deleted_at: Some(_), .. }), "{asked}");
}

#[tokio::test]
async fn opening_an_earlier_schema_writes_the_checksums() {
    for schema in 1..=3 {
        let shapes = without_seats().await;
        let old = as_of_schema(&shapes.path, schema);
        let engine = open(&old);
        let found = walk(&engine).await;
        assert_eq!(found.damages, [], "schema {schema}");
        assert_eq!((found.debates, found.documents), (DEBATES, DOCUMENTS));
        engine.close().await;
        drop(engine);
        let migrated: i64 =
            burglar(&old).query_row("select count(*) from seals", [], |row| row.get(0)).unwrap();
        let as_written: i64 = burglar(&shapes.path)
            .query_row("select count(*) from seals", [], |row| row.get(0))
            .unwrap();
        assert_eq!(migrated, as_written, "schema {schema}");
        drop(shapes.folder);
    }
}

#[tokio::test]
async fn a_walk_continues_from_its_mark_and_counts_what_is_left() {
    let shapes = every_shape().await;
    let engine = open(&shapes.path);
    let rest = engine.verify_on(Some(VerifyMark::Debates(3))).await.unwrap();
    assert_eq!((rest.debates, rest.documents), (2, DOCUMENTS));
    let last = engine.verify_on(Some(VerifyMark::Documents(2))).await.unwrap();
    assert_eq!((last.debates, last.documents, last.next), (0, 1, None));
    // A mark beyond the newest debate reports no missing debates.
    let all = engine.verify_on(Some(VerifyMark::Debates(u64::MAX))).await.unwrap();
    assert_eq!((all.debates, all.damages.len()), (DEBATES, 0));
    for nothing in [
        VerifyMark::Debates(0),
        VerifyMark::Debates(1),
        VerifyMark::Documents(0),
        VerifyMark::Documents(1),
    ] {
        let rest = engine.verify_on(Some(nothing)).await.unwrap();
        assert_eq!((rest.debates, rest.damages.len(), rest.next), (0, 0, None), "{nothing}");
    }
}

#[test]
fn a_mark_is_parsed_as_it_is_printed() {
    for mark in [VerifyMark::Debates(7), VerifyMark::Documents(0)] {
        assert_eq!(mark.to_string().parse::<VerifyMark>().unwrap(), mark);
    }
    for wrong in ["", "debates", "debates-", "debates--1", "seats-1", "documents-x"] {
        assert!(wrong.parse::<VerifyMark>().is_err(), "{wrong}");
    }
}

#[tokio::test]
async fn a_long_debate_is_verified_in_steps_while_it_grows() {
    let world = World::in_file();
    let (debate, mut newest) = world.opens("Long").await;
    let mut roles = [Role::Opponent, Role::Proposer].into_iter().cycle();
    let text = "x".repeat(1_000_000);
    let mut claim = async || {
        let play = Move::Claim { target: newest };
        let request = saying(debate, roles.next().unwrap(), play, &text);
        newest = world.engine.execute(request).await.unwrap().argument.id;
    };
    for _ in 2..=40 {
        claim().await;
    }
    let growing = async {
        for _ in 0..10 {
            claim().await;
        }
    };
    let (verified, ()) = tokio::join!(world.engine.verify(debate), growing);
    assert!((40..=50).contains(&verified.unwrap().arguments));
    let found = walk(&world.engine).await;
    assert_eq!((found.arguments, found.damages.len()), (50, 0));

    burglar(&world.path).execute("update arguments set author = 'x' where seq = 37", []).unwrap();
    let found = walk(&world.engine).await;
    assert_eq!(found.damages[0].seq, Some(Seq(37)));
}

#[tokio::test]
async fn debates_and_documents_without_an_id_are_counted() {
    let shapes = every_shape().await;
    let engine = open(&shapes.path);
    for table in ["debates", "documents"] {
        let nameless = format!("update {table} set id = 'x' where key = 2");
        assert_eq!(burglar(&shapes.path).execute(&nameless, []).unwrap(), 1);
    }
    let found = walk(&engine).await;
    assert!(found.damages.len() >= 2, "{:?}", found.damages);
    assert_eq!((found.debates, found.documents), (DEBATES, DOCUMENTS));
}

#[tokio::test]
async fn a_long_document_is_verified_in_steps() {
    let world = World::new();
    let plan = world.keeps("Plan").await;
    for number in 2..=12 {
        let mut long = version("Plan");
        long.content = Content::recorded("x".repeat(1_000_000 + number));
        world.engine.add_version(plan, Uuid::now_v7().into(), long).await.unwrap();
    }
    let found = walk(&world.engine).await;
    assert_eq!((found.documents, found.versions, found.damages.len()), (1, 12, 0));
}
