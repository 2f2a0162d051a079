//! Documents: their versions, retries, deletion and lists.

use aw_core::{Content, DocumentId, Move, Role, Summary, Time, Title};
use aw_record::{DocumentFilter, DocumentName, Failure, Fault, NewDocument, NewVersion};
use uuid::Uuid;

use crate::verify::burglar;
use crate::world::{BEGINNING, World, document, saying, version};

#[tokio::test]
async fn versions_are_numbered_from_1_and_never_change() {
    let world = World::new();
    let first = world.kept("Plan").await;
    assert_eq!((first.version.number, first.replayed), (1, false));
    world.at(20);
    let second = world.adds(first.document, "Plan, with tests").await;
    assert_eq!((second.version.number, second.document), (2, first.document));
    world.at(10);
    let third = world.adds(first.document, "Plan, as agreed").await;
    assert_eq!(third.version.at, Time(BEGINNING + 20), "time does not run backwards");

    let newest = world.engine.document(first.document, None, false).await.unwrap();
    assert_eq!((newest.id, newest.newest, newest.deleted_at), (first.document, 3, None));
    assert_eq!(newest.version.version, third.version);
    assert_eq!(newest.version.content.as_str(), "# Plan, as agreed\n");
    let chosen = world.engine.document(first.document, Some(1), false).await.unwrap();
    assert_eq!(chosen.version.version, first.version);
    assert_eq!(chosen.version.version.author.unwrap().as_str(), "An");
    assert_eq!(chosen.version.version.metadata, "{}");
    for missing in [0, 4, u64::MAX] {
        let failure =
            world.engine.document(first.document, Some(missing), false).await.unwrap_err();
        let Failure::VersionNotFound { id, version, newest } = failure else { panic!("{failure}") };
        assert_eq!((id, version, newest), (first.document, missing, 3));
    }

    let page = async |limit, offset| {
        let list = world.engine.versions(first.document, false, limit, offset).await.unwrap();
        assert_eq!((list.total, list.deleted_at), (3, None));
        list.versions.iter().map(|version| version.number).collect::<Vec<_>>()
    };
    let pages = (page(9, 0).await, page(1, 1).await, page(9, 3).await);
    assert_eq!(pages, (vec![3, 2, 1], vec![2], vec![]));
}

#[tokio::test]
async fn two_versions_are_by_default_the_newest_and_its_predecessor() {
    let world = World::new();
    let plan = world.keeps("Plan").await;
    let compared = async |from, to| {
        let (old, new) = world.engine.two_versions(plan, from, to).await.unwrap();
        (old.version.number, new.version.number)
    };
    assert_eq!(compared(None, None).await, (1, 1));
    world.adds(plan, "Plan, with tests").await;
    world.adds(plan, "Plan, as agreed").await;
    assert_eq!(compared(None, None).await, (2, 3));
    assert_eq!(compared(None, Some(2)).await, (1, 2));
    assert_eq!(compared(Some(1), None).await, (1, 3));
    assert!(world.engine.two_versions(plan, Some(9), None).await.is_err());
}

#[tokio::test]
async fn a_retried_document_is_recorded_once() {
    let world = World::new();
    let request = document("Plan");
    let first = world.engine.create_document(request.clone()).await.unwrap();
    world.at(5);
    let again = world.engine.create_document(request.clone()).await.unwrap();
    assert_eq!((again.document, again.replayed), (first.document, true));
    assert_eq!(again.version, first.version);

    let second = Uuid::now_v7().into();
    let next = world.engine.add_version(first.document, second, version("Next")).await.unwrap();
    let again = world.engine.add_version(first.document, second, version("Next")).await.unwrap();
    assert_eq!((again.version, again.replayed), (next.version, true));
    for other in others("Next") {
        let failure = world.engine.add_version(first.document, second, other).await.unwrap_err();
        assert!(matches!(failure, Failure::RequestIdReused), "{failure}");
    }
    for other in others("Plan") {
        let other = NewDocument { version: other, ..request.clone() };
        let failure = world.engine.create_document(other).await.unwrap_err();
        assert!(matches!(failure, Failure::RequestIdReused), "{failure}");
    }
    // Request ids of versions are separate for each document.
    let other = world.keeps("Other").await;
    let kept = world.engine.add_version(other, second, version("Next")).await.unwrap();
    assert_eq!((kept.replayed, kept.version.number), (false, 2));
}

/// Versions that differ from the one with this summary in one field.
fn others(summary: &str) -> [NewVersion; 3] {
    let same = version(summary);
    [
        NewVersion { summary: Summary::recorded("Else".to_owned()), ..same.clone() },
        NewVersion { content: Content::recorded("Else".to_owned()), ..same.clone() },
        NewVersion { metadata: r#"{"else":1}"#.to_owned(), ..same },
    ]
}

#[tokio::test]
async fn a_deleted_document_is_hidden_but_readable_on_request() {
    let world = World::new();
    let plan = world.keeps("Plan").await;
    let at = world.at(30);
    world.engine.delete_document(plan).await.unwrap();
    let gone = [
        world.engine.document(plan, None, false).await.map(drop),
        world.engine.versions(plan, false, 9, 0).await.map(drop),
        world.engine.two_versions(plan, None, None).await.map(drop),
        world.engine.add_version(plan, Uuid::now_v7().into(), version("More")).await.map(drop),
        world.engine.delete_document(plan).await,
    ];
    for outcome in gone {
        let Err(Failure::DocumentNotFound { id, deleted_at }) = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!((id, deleted_at), (plan, Some(at)));
    }
    let kept = world.engine.document(plan, None, true).await.unwrap();
    assert_eq!((kept.deleted_at, kept.newest), (Some(at), 1));
    assert_eq!(world.engine.versions(plan, true, 9, 0).await.unwrap().deleted_at, Some(at));
    let nowhere: DocumentId = Uuid::from_u128(1).into();
    let failure = world.engine.document(nowhere, None, true).await.unwrap_err();
    assert!(matches!(failure, Failure::DocumentNotFound { deleted_at: None, .. }), "{failure}");
}

#[tokio::test]
async fn documents_are_listed_newest_first_and_found_by_their_newest_summary() {
    let world = World::new();
    let mut ids = Vec::new();
    for (number, summary) in ["Plan of work", "Kế hoạch", "Notes"].into_iter().enumerate() {
        world.at(i64::try_from(number).unwrap());
        ids.push(world.keeps(summary).await);
    }
    world.at(50);
    world.adds(ids[0], "Plan as agreed").await;
    let listed = async |search: Option<&str>, deleted, limit, offset| {
        let search = search.map(str::to_owned);
        let page = DocumentFilter { limit, offset, ..Default::default() };
        let filter = DocumentFilter { search, include_deleted: deleted, ..page };
        let list = world.engine.list_documents(filter).await.unwrap();
        assert!(list.total_is_exact);
        let summaries = list.documents.iter().map(|it| it.summary.as_str().to_owned());
        (summaries.collect::<Vec<_>>(), list.total)
    };
    let all = listed(None, false, 2, 0).await;
    assert_eq!(all, (vec!["Plan as agreed".to_owned(), "Notes".to_owned()], 3));
    assert_eq!(listed(None, false, 9, 2).await, (vec!["Kế hoạch".to_owned()], 3));
    assert_eq!(listed(Some("AGREED"), false, 9, 0).await.1, 1);
    assert_eq!(listed(Some("work"), false, 9, 0).await.1, 0, "that is an older summary");
    assert_eq!(listed(Some("KẾ"), false, 9, 0).await, (vec!["Kế hoạch".to_owned()], 1));
    assert_eq!(listed(Some("no"), false, 9, 0).await.0, ["Notes"]);

    let at = world.at(60);
    world.engine.delete_document(ids[2]).await.unwrap();
    assert_eq!(listed(None, false, 9, 0).await.1, 2);
    assert_eq!(listed(Some("no"), false, 9, 0).await.1, 0);
    assert_eq!(listed(Some("Notes"), false, 9, 0).await.1, 0);
    let (summaries, total) = listed(None, true, 9, 0).await;
    assert_eq!((summaries.len(), total), (3, 3));
    assert_eq!(listed(Some("Notes"), true, 9, 0).await.1, 1);
    let search = Some("no".to_owned());
    let filter = DocumentFilter { search, include_deleted: true, limit: 9, ..Default::default() };
    let list = world.engine.list_documents(filter).await.unwrap();
    let notes = &list.documents[0];
    assert_eq!((notes.id, notes.version, notes.deleted_at), (ids[2], 1, Some(at)));
    assert_eq!(notes.updated_at, Time(BEGINNING + 2));
}

#[tokio::test]
async fn a_removed_version_is_damage() {
    let world = World::in_file();
    let plan = world.keeps("Plan").await;
    world.adds(plan, "Plan, with tests").await;
    let thief = burglar(&world.path);
    assert_eq!(thief.execute("delete from document_versions where version = 1", []).unwrap(), 1);
    let failure = world.engine.document(plan, Some(1), false).await.unwrap_err();
    let Failure::Fault(Fault::Damaged(damage)) = failure else { panic!("{failure}") };
    assert_eq!((damage.document, damage.version), (Some(plan), Some(1)));
}

#[tokio::test]
async fn a_version_that_equals_the_newest_is_not_made_twice() {
    let world = World::new();
    let plan = world.keeps("Plan").await;
    let other_words =
        NewVersion { summary: Summary::recorded("Again".to_owned()), ..version("Plan") };
    let request = Uuid::now_v7().into();
    let again = world.engine.add_version(plan, request, other_words.clone()).await.unwrap();
    assert_eq!((again.version.number, again.replayed), (1, true));
    assert_eq!(again.version.summary.as_str(), "Plan");
    let next =
        world.engine.add_version(plan, Uuid::now_v7().into(), version("Next")).await.unwrap();
    assert_eq!((next.version.number, next.replayed), (2, false));
    // A retry of that request still means the first version, although another is the newest now.
    let retry = world.engine.add_version(plan, request, other_words).await.unwrap();
    assert_eq!((retry.version.number, retry.replayed), (1, true));
    let reused = world.engine.add_version(plan, request, version("Else")).await.unwrap_err();
    assert!(matches!(reused, Failure::RequestIdReused), "{reused}");
    // An older text is a new version, and so is the same text with other data.
    let back =
        world.engine.add_version(plan, Uuid::now_v7().into(), version("Plan")).await.unwrap();
    assert_eq!(back.version.number, 3);
    let data = NewVersion { metadata: r#"{"a":1}"#.to_owned(), ..version("Plan") };
    let data = world.engine.add_version(plan, Uuid::now_v7().into(), data).await.unwrap();
    assert_eq!(data.version.number, 4);
}

#[tokio::test]
async fn a_document_is_found_by_its_title_or_its_first_heading() {
    let world = World::new();
    let plan = world.keeps("Charge retries").await;
    let titled =
        NewVersion { title: Some(Title::recorded("Ngân sách".to_owned())), ..version("x") };
    let titled = NewDocument { version: titled, ..document("x") };
    let titled = world.engine.create_document(titled).await.unwrap().document;
    let found = async |name: &str| -> Vec<DocumentId> {
        let name = DocumentName::Text(name.to_owned());
        let found = world.engine.named_documents(&name, None).await.unwrap();
        found.into_iter().map(|document| document.id).collect()
    };
    assert_eq!(found("Charge retries").await, [plan]);
    assert_eq!(found("charge-retries").await, [plan]);
    assert_eq!(found("ngan-sach").await, [titled]);
    assert_eq!(found(&titled.to_string()[..13]).await, [titled]);
    assert_eq!(found("x").await, []);
    let renamed = NewVersion { title: Some(Title::recorded("Budget".to_owned())), ..version("x") };
    world.engine.add_version(titled, Uuid::now_v7().into(), renamed).await.unwrap();
    assert_eq!((found("budget").await, found("ngan-sach").await), (vec![titled], vec![]));
    let last = world.engine.named_documents(&DocumentName::Last, None).await.unwrap();
    assert_eq!(last.len(), 1);
    world.engine.delete_document(plan).await.unwrap();
    assert_eq!(found("charge-retries").await, []);
}

#[tokio::test]
async fn documents_are_listed_by_the_debate_that_cites_them() {
    let world = World::new();
    let (cited, other) = (world.keeps("Cited").await, world.keeps("Other").await);
    let (debate, motion) = world.opens("T").await;
    let claim = Move::Claim { target: motion };
    let words = format!("See doc_id={cited}.");
    world.engine.execute(saying(debate, Role::Opponent, claim, &words)).await.unwrap();
    let filter = DocumentFilter { of_debate: Some(debate), limit: 9, ..Default::default() };
    let list = world.engine.list_documents(filter).await.unwrap();
    let ids: Vec<DocumentId> = list.documents.iter().map(|document| document.id).collect();
    assert_eq!((ids, list.total), (vec![cited], 1));
    assert_ne!(cited, other);
}
