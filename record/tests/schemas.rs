//! Files of every earlier schema open, and keep what is in them.

use aw_core::{ByRole, Content, DebateId, DebateType, Summary, Time, Title, Via};
use aw_record::{Ask, Clock, Engine, Request, Store, StoreOptions, TypeTexts};
use rusqlite::Connection;
use uuid::Uuid;

fn opening(debate: u128, texts: Option<Box<TypeTexts>>) -> Request {
    Request {
        debate: Uuid::from_u128(debate).into(),
        id: Uuid::from_u128(1).into(),
        author: None,
        via: Via::Api,
        ask: Ask::Open {
            title: Title::recorded("T".to_owned()),
            debate_type: DebateType::recorded("legal".to_owned()),
            texts,
            policy: aw_core::ResolutionPolicy::Auto,
            motion: Content::recorded("M".to_owned()),
        },
    }
}

#[tokio::test]
async fn a_record_from_before_types_could_be_kept_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("debate.db");
    let open =
        || Engine::new(Store::open(&StoreOptions::at(&path)).unwrap(), Clock::new(|| Time(1)));
    let engine = open();
    engine.execute(opening(1, None)).await.unwrap();
    engine.close().await;
    drop(engine);
    // As the first release left it.
    let db = Connection::open(&path).unwrap();
    db.execute_batch("drop table type_texts; pragma user_version = 1;").unwrap();
    drop(db);

    let engine = open();
    let old: DebateId = Uuid::from_u128(1).into();
    assert_eq!(engine.context(old, None).await.unwrap().motion.content.as_str(), "M");
    assert_eq!(engine.type_texts(old).unwrap().1, None);
    let texts = TypeTexts {
        title: Title::recorded("Contract".to_owned()),
        description: Summary::recorded("Clause by clause".to_owned()),
        rules: ByRole::of(|role| Content::recorded(role.as_str().to_owned())),
    };
    engine.execute(opening(2, Some(Box::new(texts.clone())))).await.unwrap();
    let (kind, kept) = engine.type_texts(Uuid::from_u128(2).into()).unwrap();
    assert_eq!((kind.as_str(), kept), ("legal", Some(texts)));
    engine.close().await;

    let db = Connection::open(&path).unwrap();
    for sql in ["update type_texts set opponent = 'x'", "delete from type_texts"] {
        assert!(db.execute(sql, []).is_err(), "{sql}");
    }
}
