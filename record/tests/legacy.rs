//! Imports of databases of the older system.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use aw_core::{
    AUTOMATIC_RULING, ArgumentId, Content, DebateId, DocumentId, Kind, Move, Role, State, Summary,
    Time, Via,
};
use aw_record::{
    Ask, Clock, DocumentFilter, Engine, Filter, NewVersion, OpenError, Poll, Request, Store,
    StoreOptions, rehearse,
};
use rusqlite::Connection;
use tempfile::TempDir;
use uuid::Uuid;

pub(crate) const OPEN: &str = "11111111-1111-4111-8111-111111111111";
pub(crate) const CLOSED: &str = "22222222-2222-4222-8222-222222222222";
pub(crate) const DOCUMENT: &str = "0c5a44a3-42f6-4787-aa53-c5963099fa65";

/// The tables of the older system.
const OLD_SCHEMA: &str = r#"
    create table "debates" (
        "id" text not null primary key, "title" text not null, "debate_type" text not null,
        "state" text not null default 'AWAITING_OPPONENT',
        "created_at" text not null default (datetime('now')),
        "updated_at" text not null default (datetime('now'))
    );
    create table "arguments" (
        "id" text not null primary key, "debate_id" text not null, "parent_id" text,
        "type" text not null, "role" text not null, "content" text not null,
        "client_request_id" text, "seq" integer not null,
        "created_at" text not null default (datetime('now')),
        foreign key ("debate_id") references "debates" ("id"),
        foreign key ("parent_id") references "arguments" ("id")
    );
    create unique index "arguments_debate_id_seq_key" on "arguments" ("debate_id", "seq");
    create unique index "arguments_debate_id_client_request_id_key"
        on "arguments" ("debate_id", "client_request_id");
"#;

const OLD_DOCUMENTS: &str = "
    create table schema_meta (key text primary key, value text not null);
    create table document_versions (
        id text primary key, document_id text not null, summary text not null, content text not null,
        version integer not null, metadata text default '{}', created_at text not null,
        deleted_at text default null, unique (document_id, version)
    );
";

fn argument(number: u8) -> String {
    format!("aaaaaaaa-aaaa-4aaa-8aaa-0000000000{number:02}")
}

/// An open debate and a closed one, in Vietnamese, and a document in three versions.
pub(crate) fn old_files(folder: &TempDir) -> PathBuf {
    let path = folder.path().join("debate.db");
    let db = Connection::open(&path).unwrap();
    db.pragma_update(None, "journal_mode", "wal").unwrap();
    db.execute_batch(OLD_SCHEMA).unwrap();
    let [one, two, three, four, five, six] = [1, 2, 3, 4, 5, 6].map(argument);
    let long = "ế".repeat(9_000);
    db.execute_batch(&format!(
        "insert into debates values
         ('{OPEN}', 'Kế hoạch: giữ một tệp SQLite?', 'coding_plan_debate', 'AWAITING_PROPOSER',
             '2026-02-07 05:32:50', '2026-02-07 05:40:00'),
         ('{CLOSED}', 'Đã xong', 'coding_plan_debate', 'CLOSED',
             '2026-02-07 05:32:50', '2026-02-07 06:00:00');
         insert into arguments values
         ('{one}', '{OPEN}', null, 'MOTION', 'proposer', 'Xem document_id={DOCUMENT} (v1)',
             'r-1', 1, '2026-02-07 05:32:50'),
         ('{two}', '{OPEN}', '{one}', 'CLAIM', 'opponent', '{long}',
             'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb', 2, '2026-02-07 05:40:00'),
         ('{three}', '{CLOSED}', null, 'MOTION', 'proposer', 'Bắt đầu',
             'r-1', 1, '2026-02-07 05:50:00'),
         ('{four}', '{CLOSED}', '{three}', 'CLAIM', 'opponent', 'Không đồng ý',
             'r-2', 2, '2026-02-07 05:55:00'),
         ('{five}', '{CLOSED}', '{four}', 'RESOLUTION', 'proposer', '{DOCUMENT}',
             'r-3', 3, '2026-02-07 06:00:00'),
         ('{six}', '{CLOSED}', null, 'RULING', 'arbitrator', '{AUTOMATIC_RULING}',
             null, 4, '2026-02-07 06:00:00');"
    ))
    .unwrap();
    let documents = Connection::open(folder.path().join("docstore.db")).unwrap();
    documents.execute_batch(OLD_DOCUMENTS).unwrap();
    let ids = [(); 3].map(|()| Uuid::now_v7());
    documents
        .execute_batch(&format!(
            r#"insert into document_versions
                 (id, document_id, summary, content, version, metadata, created_at) values
             ('{}', '{DOCUMENT}', 'Bản đầu', 'Nội dung 1', 1, '{{"debate_id": "x"}}',
                 '2026-02-07 05:30:00'),
             ('{}', '{DOCUMENT}', 'Sửa theo góp ý', 'Nội dung 2', 2, '{{"debate_id": "x"}}',
                 '2026-02-07T05:45:00+00:00'),
             ('{}', '{DOCUMENT}', 'Sau khi đóng', 'Nội dung 3', 3, '{{"debate_id": "x"}}',
                 '2026-02-08 00:00:00');"#,
            ids[0], ids[1], ids[2]
        ))
        .unwrap();
    path
}

/// Writes a version as the older command line does.
fn keep_version(documents: &Connection, id: Uuid, version: u32) -> rusqlite::Result<usize> {
    documents.execute(
        "insert into document_versions (id, document_id, summary, content, version, created_at)
         values (?1, ?2, 'Later', ?3, ?4, '2026-02-09T00:00:00.000Z')",
        rusqlite::params![
            Uuid::now_v7().to_string(),
            id.to_string(),
            format!("Version {version}"),
            version
        ],
    )
}

fn everything() -> Filter {
    Filter { limit: 500, ..Filter::default() }
}

/// The proposer's next move in the open debate.
fn claim(content: &str) -> Request {
    Request {
        debate: debate(OPEN),
        id: Uuid::now_v7().into(),
        author: None,
        via: Via::Api,
        seat: None,
        ask: Ask::Play {
            role: Role::Proposer,
            play: Move::Claim { target: argument(2).parse().unwrap() },
            content: Content::recorded(content.to_owned()),
        },
    }
}

fn open(path: &Path) -> Result<Engine, OpenError> {
    let store = Store::open(&StoreOptions::at(path))?;
    Ok(Engine::new(store, Clock::new(|| Time(1_772_000_000_000))))
}

fn debate(id: &str) -> DebateId {
    id.parse().unwrap()
}

#[tokio::test]
async fn an_import_keeps_ids_order_times_and_texts() {
    let folder = tempfile::tempdir().unwrap();
    let path = old_files(&folder);
    let engine = open(&path).unwrap();

    let list = engine.list(&Filter { limit: 10, ..Filter::default() }).await.unwrap();
    assert_eq!(list.total, 2);
    let found = Filter { search: Some("ke hoach".to_owned()), limit: 10, ..Filter::default() };
    assert_eq!(engine.list(&found).await.unwrap().total, 1);

    let open = engine.context(debate(OPEN), None).await.unwrap();
    assert_eq!(open.debate.title.as_str(), "Kế hoạch: giữ một tệp SQLite?");
    assert_eq!(open.debate.state(), State::AwaitingProposer);
    assert_eq!(open.debate.created_at, Time(1_770_442_370_000));
    assert_eq!(open.debate.updated_at, Time(1_770_442_800_000));
    assert_eq!(open.motion.id.to_string(), argument(1));
    assert_eq!(open.arguments[0].content.as_str().len(), 27_000);
    assert_eq!(open.arguments[0].parent, Some(open.motion.id));
    assert_eq!(open.arguments[0].request.to_string(), "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb");
    assert_eq!((open.documents[0].version, open.documents[0].summary.as_str()), (1, "Bản đầu"));

    let closed = engine.context(debate(CLOSED), None).await.unwrap();
    let kinds: Vec<Kind> = closed.arguments.iter().map(|argument| argument.event.kind()).collect();
    assert_eq!(kinds, [Kind::Claim, Kind::Resolution, Kind::Ruling]);
    let ruling = closed.arguments[2].event;
    assert_eq!((ruling.close(), ruling.automatic()), (Some(true), true));
    assert_eq!(closed.documents[0].version, 2, "the newest when it was cited");

    let document = engine.document(DOCUMENT.parse().unwrap(), None, false).await.unwrap();
    assert_eq!((document.newest, document.version.content.as_str()), (3, "Nội dung 3"));
    assert_eq!(document.version.version.metadata, r#"{"debate_id": "x"}"#);
}

#[tokio::test]
async fn an_imported_debate_continues() {
    let folder = tempfile::tempdir().unwrap();
    let path = old_files(&folder);
    let engine = open(&path).unwrap();
    let target: ArgumentId = argument(2).parse().unwrap();
    let waiting = engine.wait(
        debate(OPEN),
        Role::Proposer,
        Some(argument(1).parse().unwrap()),
        Duration::ZERO,
    );
    assert!(matches!(waiting.await.unwrap(), Poll::News(news) if news.argument.id == target));
    let receipt = engine.execute(claim("Tiếp tục")).await.unwrap();
    assert_eq!(receipt.argument.seq.0, 3);
    assert_eq!(receipt.debate.state(), State::AwaitingOpponent);
    drop(receipt);
    engine.close().await;
    drop(engine);
    let again = open(&path).unwrap();
    assert_eq!(again.context(debate(OPEN), None).await.unwrap().arguments.len(), 2);
}

#[tokio::test]
async fn the_old_file_is_copied_before_the_import() {
    let folder = tempfile::tempdir().unwrap();
    let path = old_files(&folder);
    fs::write(folder.path().join("debate.db.before-aw"), "an older copy").unwrap();
    open(&path).unwrap();
    let older = fs::read_to_string(folder.path().join("debate.db.before-aw")).unwrap();
    assert_eq!(older, "an older copy", "a copy is never overwritten");
    let copy = Connection::open(folder.path().join("debate.db.before-aw.2")).unwrap();
    let count: i64 =
        copy.query_row("select count(*) from arguments", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 6);
    let old: i64 = copy.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(old, 0);
}

#[test]
fn a_failed_import_leaves_the_file_unchanged_and_no_copy() {
    let folder = tempfile::tempdir().unwrap();
    let path = old_files(&folder);
    let db = Connection::open(&path).unwrap();
    // Two ids that are the same UUID: they can be read but not written.
    db.pragma_update(None, "foreign_keys", false).unwrap();
    let twice =
        "update arguments set id = upper((select id from arguments where seq = 1)) where seq = 4";
    db.execute(twice, []).unwrap();
    let rows = || -> i64 {
        let db = Connection::open(&path).unwrap();
        db.query_row("select count(*) from arguments", [], |row| row.get(0)).unwrap()
    };
    drop(db);
    let refused = open(&path).map(|_| ()).unwrap_err();
    assert!(matches!(refused, OpenError::Unfinished { .. }), "{refused}");
    assert_eq!(rows(), 6);
    let left: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("before-aw"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn a_debate_whose_id_was_not_a_uuid_gets_one_and_is_found_by_both() {
    let folder = tempfile::tempdir().unwrap();
    let path = old_files(&folder);
    let db = Connection::open(&path).unwrap();
    db.pragma_update(None, "foreign_keys", false).unwrap();
    db.execute("update debates set id = 'my-debate-1' where state = 'CLOSED'", []).unwrap();
    db.execute("update arguments set debate_id = 'my-debate-1' where debate_id = ?1", [CLOSED])
        .unwrap();
    drop(db);
    let rehearsed = rehearse(&path, &[]).unwrap();
    assert_eq!(rehearsed.debates, Some(2));

    let engine = open(&path).unwrap();
    // UUIDv5 of "my-debate-1" in the namespace 61776465-6261-7465-8000-6f6c64696473: docs/record.md.
    let id = debate("1cf77995-fa9c-5042-838d-01e09f1a6a72");
    assert_eq!(engine.debate_of_former_id("my-debate-1").await.unwrap(), Some(id));
    assert_eq!(engine.debate_of_former_id("my-debate").await.unwrap(), None);
    assert_eq!(engine.context(id, None).await.unwrap().arguments.len(), 3);
    for (search, found) in [("my-debate-1", 1), ("my-debate", 0), ("xong", 1)] {
        let filter = Filter { search: Some(search.to_owned()), ..everything() };
        let list = engine.list(&filter).await.unwrap();
        assert_eq!((list.total, list.debates.len()), (found, found as usize), "{search}");
    }
    assert!(engine.verify_on(None).await.unwrap().damages.is_empty());
    engine.close().await;
    drop(engine);

    let db = Connection::open(&path).unwrap();
    db.execute_batch("drop trigger former_ids_never_change; update former_ids set id = 'mine'")
        .unwrap();
    drop(db);
    let engine = open(&path).unwrap();
    let damages = engine.verify_on(None).await.unwrap().damages;
    assert_eq!(damages[0].debate, Some(id), "a changed old id is found: {damages:?}");
}

#[test]
fn an_unreadable_debate_is_named_and_the_file_is_left_untouched() {
    for (spoil, named) in [
        ("update arguments set type = 'SHOUT' where seq = 2", "SHOUT"),
        ("update arguments set role = 'judge' where seq = 2", "judge"),
        ("update arguments set created_at = 'yesterday' where seq = 1", "yesterday"),
        ("update arguments set seq = 7 where seq = 2", "argument 2 is missing"),
        ("update arguments set id = 'x' where seq = 4", "id is \"x\""),
        (
            "update debates set state = 'AWAITING_OPPONENT' where state = 'CLOSED'",
            "AWAITING_OPPONENT",
        ),
        ("update debates set state = 'PAUSED'", "PAUSED"),
        ("update debates set id = 'mine' where state = 'CLOSED'", "mine"),
        ("delete from debates where state = 'CLOSED'", CLOSED),
        ("delete from arguments where debate_id like '1%'", "no MOTION"),
        (
            "update arguments set parent_id = (select id from arguments where debate_id like '1%')
             where seq = 2 and debate_id like '2%'",
            "argument 2 does not answer an earlier one",
        ),
        (
            "update arguments set parent_id = id where seq = 2 and debate_id like '2%'",
            "argument 2 does not answer an earlier one",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = old_files(&folder);
        let db = Connection::open(&path).unwrap();
        db.pragma_update(None, "foreign_keys", false).unwrap();
        db.pragma_update(None, "journal_mode", "delete").unwrap();
        db.execute_batch(spoil).unwrap();
        drop(db);
        let before = fs::read(&path).unwrap();
        let refused = open(&path).map(|_| ()).unwrap_err();
        assert!(refused.to_string().contains(named), "{spoil}: {refused}");
        assert!(refused.to_string().contains("untouched"), "{refused}");
        assert_eq!(fs::read(&path).unwrap(), before, "{spoil}");
        assert!(!folder.path().join("debate.db.before-aw").exists());
    }
}

#[tokio::test]
async fn unreadable_documents_are_left_out_and_do_not_block_the_import() {
    for spoil in [
        "update document_versions set metadata = '[]'",
        "update document_versions set version = 9 where version = 2",
        "update document_versions set document_id = 'plan'",
        "update document_versions set id = 'x' where version = 2",
        "drop table document_versions",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = old_files(&folder);
        let good = Uuid::now_v7();
        let documents = Connection::open(folder.path().join("docstore.db")).unwrap();
        documents.execute_batch(spoil).unwrap();
        let kept = keep_version(&documents, good, 1);
        drop(documents);
        let engine = open(&path).unwrap();
        assert_eq!(engine.list(&everything()).await.unwrap().total, 2, "{spoil}");
        let spoiled = engine.document(DOCUMENT.parse().unwrap(), None, false).await;
        assert!(spoiled.is_err(), "{spoil}");
        assert_eq!(
            engine.document(good.into(), None, false).await.is_ok(),
            kept.is_ok(),
            "{spoil}"
        );
        engine.close().await;
    }
}

#[tokio::test]
async fn a_damaged_file_of_documents_does_not_block_the_import() {
    for damage in [&b"not a database at all"[..], b"", &[0; 4096]] {
        let folder = tempfile::tempdir().unwrap();
        let path = old_files(&folder);
        fs::write(folder.path().join("docstore.db"), damage).unwrap();
        let engine = open(&path).unwrap();
        assert_eq!(engine.list(&everything()).await.unwrap().total, 2);
        engine.close().await;
        drop(engine);
        let again = open(&path).unwrap();
        assert_eq!(again.list(&everything()).await.unwrap().total, 2);
    }
}

#[tokio::test]
async fn later_documents_are_imported_at_the_next_start_and_when_they_are_cited() {
    let folder = tempfile::tempdir().unwrap();
    let path = old_files(&folder);
    let engine = open(&path).unwrap();
    let documents = Connection::open(folder.path().join("docstore.db")).unwrap();
    let cited = Uuid::now_v7();
    keep_version(&documents, cited, 1).unwrap();
    let content = format!("Read document_id={cited} and {DOCUMENT}.");
    let receipt = engine.execute(claim(&content)).await.unwrap();
    let context = engine.context(receipt.debate.id, None).await.unwrap();
    let found: Vec<_> = context.documents.iter().map(|document| document.id).collect();
    assert!(found.contains(&cited.into()), "{found:?}");

    // A new version of an imported document is imported at the next start too.
    let uncited = Uuid::now_v7();
    keep_version(&documents, uncited, 1).unwrap();
    keep_version(&documents, DOCUMENT.parse().unwrap(), 4).unwrap();
    assert!(engine.document(uncited.into(), None, false).await.is_err());
    engine.close().await;
    drop(engine);
    for _ in 0..2 {
        let again = open(&path).unwrap();
        assert!(again.document(uncited.into(), None, false).await.is_ok());
        let newest = again.document(DOCUMENT.parse().unwrap(), None, false).await.unwrap();
        assert_eq!((newest.newest, newest.version.content.as_str()), (4, "Version 4"));
        assert_eq!(again.list_documents(DocumentFilter::default()).await.unwrap().total, 3);
        assert!(again.verify_on(None).await.unwrap().damages.is_empty());
        again.close().await;
    }
}

#[tokio::test]
async fn versions_written_on_both_sides_are_both_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = old_files(&folder);
    let engine = open(&path).unwrap();
    let ours = NewVersion {
        title: None,
        summary: Summary::recorded("Ours".to_owned()),
        content: Content::recorded("Ours".to_owned()),
        author: None,
        metadata: "{}".to_owned(),
    };
    let document: DocumentId = DOCUMENT.parse().unwrap();
    engine.add_version(document, Uuid::now_v7().into(), ours).await.unwrap();
    engine.close().await;
    drop(engine);
    let documents = Connection::open(folder.path().join("docstore.db")).unwrap();
    keep_version(&documents, DOCUMENT.parse().unwrap(), 4).unwrap();
    let again = open(&path).unwrap();
    for (version, content) in [(4, "Ours"), (5, "Version 4")] {
        let kept = again.document(document, Some(version), false).await.unwrap();
        assert_eq!(kept.version.content.as_str(), content);
    }
}

#[tokio::test]
async fn documents_are_imported_without_debates() {
    let folder = tempfile::tempdir().unwrap();
    let path = old_files(&folder);
    for leftover in ["debate.db", "debate.db-wal", "debate.db-shm"] {
        let leftover = folder.path().join(leftover);
        if leftover.exists() {
            fs::remove_file(leftover).unwrap();
        }
    }
    let engine = open(&path).unwrap();
    assert_eq!(engine.list_documents(DocumentFilter::default()).await.unwrap().total, 1);
}

#[test]
fn a_rehearsal_reports_the_result_and_leaves_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = old_files(&folder);
    let docstore = folder.path().join("docstore.db");
    let files = || {
        let files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = files.map(|path| (path.clone(), fs::read(path).unwrap())).collect();
        files.sort();
        files
    };
    let before = files();
    let good = rehearse(&path, std::slice::from_ref(&docstore)).unwrap();
    assert_eq!((good.debates, good.versions, good.left_out.len()), (Some(2), 3, 0));
    fs::write(&docstore, "not a database at all").unwrap();
    let damaged = rehearse(&path, std::slice::from_ref(&docstore)).unwrap();
    assert_eq!((damaged.debates, damaged.left_out.len()), (Some(2), 1), "{damaged:?}");
    fs::write(&docstore, &before.iter().find(|(path, _)| *path == docstore).unwrap().1).unwrap();
    assert!(files() == before, "a file was changed, added or removed");

    let db = Connection::open(&path).unwrap();
    db.execute("update arguments set type = 'SHOUT' where seq = 2", []).unwrap();
    drop(db);
    let refused = rehearse(&path, &[]).unwrap_err();
    assert!(refused.to_string().contains("SHOUT"), "{refused}");

    let none = rehearse(&folder.path().join("none.db"), &[]).unwrap();
    assert_eq!((none.debates, none.versions), (None, 0));
    assert!(!folder.path().join("none.db").exists());
}

#[tokio::test]
async fn a_rehearsal_on_our_own_file_counts_new_versions() {
    let folder = tempfile::tempdir().unwrap();
    let path = old_files(&folder);
    open(&path).unwrap().close().await;
    let docstore = folder.path().join("docstore.db");
    let look = || rehearse(&path, std::slice::from_ref(&docstore)).unwrap();
    assert_eq!((look().debates, look().versions), (None, 0));
    let documents = Connection::open(&docstore).unwrap();
    keep_version(&documents, Uuid::now_v7(), 1).unwrap();
    assert_eq!((look().debates, look().versions), (None, 1));
}

#[tokio::test]
async fn only_the_last_ruling_of_a_closed_debate_closes_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("debate.db");
    let db = Connection::open(&path).unwrap();
    db.execute_batch(OLD_SCHEMA).unwrap();
    let at = "2026-02-07 05:32:50";
    db.execute(
        "insert into debates values (?1, 'T', 'general_debate', 'CLOSED', ?2, ?2)",
        [CLOSED, at],
    )
    .unwrap();
    let arguments = [
        ("MOTION", "proposer"),
        ("CLAIM", "opponent"),
        ("APPEAL", "proposer"),
        ("RULING", "arbitrator"),
        ("APPEAL", "proposer"),
        ("RULING", "arbitrator"),
    ];
    for (seq, (kind, role)) in (1..).zip(arguments) {
        db.execute(
            "insert into arguments values (?1, ?2, null, ?3, ?4, 'x', null, ?5, ?6)",
            rusqlite::params![argument(seq), CLOSED, kind, role, seq, at],
        )
        .unwrap();
    }
    drop(db);
    let engine =
        Engine::new(Store::open(&StoreOptions::at(&path)).unwrap(), Clock::new(|| Time(1)));
    let all = engine.stretch(CLOSED.parse().unwrap(), 0, 9).await.unwrap().arguments;
    let closing: Vec<_> = all.iter().filter_map(|argument| argument.event.close()).collect();
    assert_eq!(closing, [false, true]);
    assert!(all.iter().all(|argument| !argument.event.automatic()), "a person wrote them");
}
