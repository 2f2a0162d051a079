//! Imports while the older server writes: the record contains everything that it acknowledges, or the
//! import is refused.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use aw_core::{DebateId, Time};
use aw_record::{Clock, Engine, OpenError, Store, StoreOptions};
use rusqlite::Connection;
use uuid::Uuid;

use crate::legacy::old_files;

/// Set for the process that plays the older server: the path of its database.
const OLDER_SERVER: &str = "AW_TEST_OLDER_SERVER";

/// Opens a debate as the older server does, and returns its id after the commit.
fn acknowledged(db: &mut Connection) -> rusqlite::Result<DebateId> {
    let (debate, motion) = (Uuid::now_v7(), Uuid::now_v7());
    let changes = db.transaction()?;
    changes.execute(
        "insert into debates (id, title, debate_type, state) values (?1, 'T', 'general_debate', 'AWAITING_OPPONENT')",
        [debate.to_string()],
    )?;
    changes.execute(
        "insert into arguments (id, debate_id, parent_id, type, role, content, client_request_id, seq)
         values (?1, ?2, null, 'MOTION', 'proposer', 'x', ?1, 1)",
        [motion.to_string(), debate.to_string()],
    )?;
    changes.commit()?;
    Ok(debate.into())
}

fn connected(path: &Path) -> Connection {
    let db = Connection::open(path).unwrap();
    db.busy_timeout(Duration::from_secs(5)).unwrap();
    db
}

/// Not a test: the process of the older server, which writes until it is killed.
#[test]
fn the_older_server() {
    let Some(path) = std::env::var_os(OLDER_SERVER) else { return };
    let mut db = connected(Path::new(&path));
    while let Ok(debate) = acknowledged(&mut db) {
        writeln!(std::io::stdout(), "\nacknowledged {debate}").unwrap();
    }
}

fn opened(path: &Path) -> Result<Store, OpenError> {
    Store::open(&StoreOptions::at(path))
}

async fn has_all(store: Store, debates: &BTreeSet<DebateId>) {
    let engine = Engine::new(store, Clock::new(|| Time(1_772_000_000_000)));
    for debate in debates {
        engine.context(*debate, None).await.expect("what was acknowledged is in the record");
    }
    engine.close().await;
}

#[tokio::test]
async fn nothing_is_imported_while_the_older_server_runs_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = old_files(&folder);
    let mut server = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "import_beside_older_server::the_older_server", "--nocapture"])
        .env(OLDER_SERVER, &path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut said = lines.map_while(Result::ok).filter_map(|line| {
        line.strip_prefix("acknowledged ").map(|id| id.parse::<DebateId>().unwrap())
    });
    let mut written: BTreeSet<DebateId> = said.by_ref().take(20).collect();
    for _ in 0..3 {
        let refused = opened(&path).map(|_| ()).unwrap_err().to_string();
        assert!(refused.contains("stop the older server, then run this again"), "{refused}");
        assert!(!path.with_file_name("debate.db.before-aw").exists());
        written.extend(said.by_ref().take(20));
    }
    server.kill().unwrap();
    server.wait().unwrap();
    written.extend(said);
    assert!(written.len() >= 80);
    has_all(opened(&path).unwrap(), &written).await;
}

#[tokio::test]
async fn a_writer_that_reconnects_for_each_write_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = old_files(&folder);
    let theirs = path.clone();
    let writer = thread::spawn(move || {
        let mut written = BTreeSet::new();
        // Until the import has removed its tables.
        while let Ok(debate) = acknowledged(&mut connected(&theirs)) {
            written.insert(debate);
        }
        written
    });
    let store = loop {
        match opened(&path) {
            Ok(store) => break store,
            Err(OpenError::OlderServer { .. }) => thread::yield_now(),
            Err(other) => panic!("{other}"),
        }
    };
    has_all(store, &writer.join().unwrap()).await;
}

#[test]
fn an_idle_connection_is_noticed_by_its_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = old_files(&folder);
    // In this process, which the search for other processes skips.
    let mut idle = connected(&path);
    acknowledged(&mut idle).unwrap();
    let refused = opened(&path).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("stop the older server"), "{refused}");
    drop(idle);
    opened(&path).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_has_the_file_open_without_any_lock_is_noticed_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = old_files(&folder);
    let mut idle =
        Command::new("sleep").arg("600").stdin(File::open(&path).unwrap()).spawn().unwrap();
    let refused = opened(&path).map(|_| ()).unwrap_err().to_string();
    idle.kill().unwrap();
    idle.wait().unwrap();
    assert!(refused.contains(&format!("sleep (pid {})", idle.id())), "{refused}");
    assert!(refused.contains("stop the older server, then run this again"), "{refused}");
    opened(&path).unwrap();
}
