//! Files of every earlier schema.

use std::path::{Path, PathBuf};

use aw_core::{ByRole, Content, DebateId, DebateType, Move, Role, Seq, Summary, Time, Title};
use aw_record::{Ask, Clock, Engine, Request, Store, StoreOptions, TypeTexts};
use rusqlite::Connection;
use uuid::Uuid;

use crate::world;

/// Every released migration.
pub(crate) const MIGRATIONS: [&str; 13] = [
    include_str!("../src/store/migrations/0001_record.sql"),
    include_str!("../src/store/migrations/0002_type_texts.sql"),
    include_str!("../src/store/migrations/0003_seats.sql"),
    include_str!("../src/store/migrations/0004_seals.sql"),
    include_str!("../src/store/migrations/0005_passes.sql"),
    include_str!("../src/store/migrations/0006_former_ids.sql"),
    include_str!("../src/store/migrations/0007_points.sql"),
    include_str!("../src/store/migrations/0008_names.sql"),
    include_str!("../src/store/migrations/0009_search.sql"),
    include_str!("../src/store/migrations/0010_seen.sql"),
    include_str!("../src/store/migrations/0011_citing.sql"),
    include_str!("../src/store/migrations/0012_tombstones.sql"),
    include_str!("../src/store/migrations/0013_checks.sql"),
];

/// Copies a record into a file with an earlier schema.
pub(crate) fn as_of_schema(path: &Path, schema: usize) -> PathBuf {
    let old = path.with_file_name(format!("of-schema-{schema}.db"));
    let db = Connection::open(&old).unwrap();
    for migration in &MIGRATIONS[..schema] {
        db.execute_batch(migration).unwrap();
    }
    let header = format!(
        "pragma application_id = 0x61776462; pragma user_version = {schema};
         pragma foreign_keys = off; delete from meta; delete from document_counts;"
    );
    db.execute_batch(&header).unwrap();
    db.execute("attach ?1 as new", [path.to_str().unwrap()]).unwrap();
    let column = |sql: &str| -> Vec<String> {
        let mut names = db.prepare(sql).unwrap();
        names.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    };
    let tables = "select name from pragma_table_list
         where schema = 'main' and type = 'table' and name not like 'sqlite%'";
    for table in column(tables) {
        let columns = column(&format!("select name from pragma_table_info('{table}')")).join(", ");
        // Arguments and versions are copied in their order, as the triggers require.
        let copy = format!("insert into {table} ({columns}) select {columns} from new.{table}");
        db.execute_batch(&copy).unwrap();
    }
    if schema < 9 {
        let names = "insert into debate_titles (rowid, title)
                 select key, title from debates where deleted_at is null;
             insert into document_summaries (rowid, summary) select key, summary from documents";
        db.execute_batch(names).unwrap();
    }
    old
}

fn opening(debate: u128, own: Option<Box<TypeTexts>>) -> Request {
    let id = Uuid::from_u128(1).into();
    let mut request = Request { id, ..world::opening(Uuid::from_u128(debate).into(), "T") };
    let Ask::Open { debate_type, texts, .. } = &mut request.ask else { panic!("it opens one") };
    (*debate_type, *texts) = (DebateType::recorded("legal".to_owned()), own);
    request
}

#[tokio::test]
async fn a_record_of_every_earlier_schema_opens_and_accepts_writes() {
    for schema in 1..=MIGRATIONS.len() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("debate.db");
        let open = |path: &Path| {
            Engine::new(Store::open(&StoreOptions::at(path)).unwrap(), Clock::new(|| Time(1)))
        };
        let engine = open(&path);
        engine.execute(opening(1, None)).await.unwrap();
        engine.close().await;
        drop(engine);
        let engine = open(&as_of_schema(&path, schema));
        let old: DebateId = Uuid::from_u128(1).into();
        let motion = engine.context(old, None).await.unwrap().motion;
        assert_eq!(motion.content.as_str(), "Motion: T", "schema {schema}");
        let claim = Request {
            id: Uuid::from_u128(2).into(),
            ask: Ask::Play {
                role: Role::Opponent,
                play: Move::Claim { target: motion.id },
                content: Content::recorded("C".to_owned()),
            },
            ..opening(1, None)
        };
        let written = engine.execute(claim.clone()).await.unwrap();
        assert_eq!((written.argument.seq, written.replayed), (Seq(2), false), "schema {schema}");
        assert!(engine.execute(claim).await.unwrap().replayed, "schema {schema}");
        assert_eq!(engine.verify(old).await.unwrap().arguments, 2, "schema {schema}");
        assert_eq!(engine.type_texts(old).await.unwrap().1, None);
        let texts = TypeTexts {
            title: Title::recorded("Contract".to_owned()),
            description: Summary::recorded("Clause by clause".to_owned()),
            rules: ByRole::of(|role| Content::recorded(role.as_str().to_owned())),
        };
        let new = engine.execute(opening(2, Some(Box::new(texts.clone())))).await.unwrap();
        let (kind, kept) = engine.type_texts(new.debate.id).await.unwrap();
        assert_eq!((kind.as_str(), kept), ("legal", Some(texts)), "schema {schema}");
        engine.close().await;
    }
}
