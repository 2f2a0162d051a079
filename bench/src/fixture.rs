//! Full files: written once through the engine and kept in `target/bench`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aw_core::{Content, DebateType, Move, ResolutionPolicy, Role, Title, Via};
use aw_record::{Ask, Clock, Engine, Request, Store, StoreOptions};
use aw_trials::server::database_in;
use futures_util::future::join_all;
use uuid::Uuid;

/// The number of arguments in each debate of a full file.
const EACH: u64 = 10;

/// The number of concurrent writers.
const LANES: u64 = 256;

/// The data folder of a server with this many arguments, ten in each debate.
pub async fn full(arguments: u64) -> PathBuf {
    made(&format!("{arguments}-arguments"), arguments / EACH, EACH).await
}

/// The data folder of a server with one debate of this many arguments.
pub async fn long(arguments: u64) -> PathBuf {
    made(&format!("one-debate-of-{arguments}"), 1, arguments).await
}

/// Their folder. Files to compare with are created there too, on the same disk.
pub fn folder() -> &'static Path {
    let folder = Path::new("target/bench");
    std::fs::create_dir_all(folder).unwrap();
    folder
}

async fn made(name: &str, debates: u64, each: u64) -> PathBuf {
    let home = folder().join(name);
    if home.join("whole").exists() {
        return home;
    }
    eprintln!("  (writing {} once)", home.display());
    let _ = std::fs::remove_dir_all(&home);
    let store = Store::open(&StoreOptions::at(database_in(&home))).unwrap();
    let engine = Engine::new(store, Clock::system());
    let next = Arc::new(AtomicU64::new(0));
    join_all((0..LANES.min(debates)).map(|_| async {
        while next.fetch_add(1, Ordering::Relaxed) < debates {
            hold_debate(&engine, each).await;
        }
    }))
    .await;
    engine.close().await;
    std::fs::write(home.join("whole"), "").unwrap();
    home
}

async fn hold_debate(engine: &Engine, arguments: u64) {
    let debate = Uuid::new_v4();
    let mut newest = None;
    for seq in 1..=arguments {
        let words = format!("Word {seq}: {}", "much is said and little of it matters. ".repeat(3));
        let words = Content::parse(words, 10_240).unwrap();
        let ask = match newest {
            None => Ask::Open {
                origin: None,
                points: None,
                title: Title::parse(format!("Does {debate} still matter?")).unwrap(),
                debate_type: DebateType::parse("general_debate".to_owned()).unwrap(),
                texts: None,
                policy: ResolutionPolicy::default(),
                motion: words,
            },
            Some(target) => Ask::Play {
                role: if seq % 2 == 0 { Role::Opponent } else { Role::Proposer },
                play: Move::Claim { target },
                content: words,
            },
        };
        let request = Request {
            debate: debate.into(),
            id: Uuid::new_v4().into(),
            author: None,
            via: Via::Api,
            seat: None,
            ask,
        };
        newest = Some(engine.execute(request).await.unwrap().argument.id);
    }
}
