//! Takes backups under load, restores each over another record, and verifies it.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use aw_trials::figures::Figures;
use aw_trials::record;
use aw_trials::server::{Server, database_in};
use aw_trials::talk::RecordedArgument;

use crate::Trial;
use crate::crowd::Crowd;

pub async fn run(trial: &Trial) -> Figures {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(&trial.binary, home.path());
    let mut crowd = Crowd::gather(8, &mut trial.dice());
    crowd.at(server.address);
    let mut restored = 0;
    for _ in 0..trial.times() {
        crowd.goes_on(100).await;
        let before = crowd.promised();
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("copy.db");
        on_record(trial, home.path(), "backup", &copy);
        // Everything acknowledged before the backup is in it; later arguments may be.
        let kept: HashMap<String, RecordedArgument> =
            record::sound(&copy).into_iter().map(|kept| (kept.id.clone(), kept)).collect();
        for promised in &before {
            assert_eq!(kept.get(&promised.id), Some(promised), "the backup lacks it");
        }
        // Over a record whose server was killed, so that its log is still there.
        let other = folder.path().join("home");
        fs::create_dir(&other).unwrap();
        let killed = Server::start(&trial.binary, &other);
        let mut few = Crowd::gather(2, &mut trial.dice());
        few.at(killed.address);
        few.goes_on(20).await;
        few.leaves().await;
        killed.kill();
        on_record(trial, &other, "restore", &copy);
        let again = Server::start(&trial.binary, &other);
        restored += verified(&again).await;
        assert_eq!(again.stop().code(), Some(0));
        let now: HashMap<String, RecordedArgument> = record::sound(&database_in(&other))
            .into_iter()
            .map(|kept| (kept.id.clone(), kept))
            .collect();
        assert_eq!(now, kept, "the restored record differs from the backup");
    }
    crowd.leaves().await;
    assert_eq!(server.stop().code(), Some(0));
    let account = crowd.account(&record::sound(&database_in(home.path())));
    Figures::default()
        .count(trial.times(), "backups under load")
        .count(restored, "arguments restored and verified")
        .and(&account)
}

/// Runs `aw server backup` or `restore` on the record in this data folder.
fn on_record(trial: &Trial, home: &Path, command: &str, copy: &Path) {
    let ran = Command::new(&trial.binary)
        .args(["server", command])
        .arg(copy)
        .env("AWEAVE_HOME", home)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}

/// Makes the server verify its whole record, and returns the number of arguments.
async fn verified(server: &Server) -> u64 {
    let (mut line, mut path, mut arguments) = (server.line(), "/verify".to_owned(), 0);
    loop {
        let piece = line.get(&path).await.unwrap().data();
        assert_eq!(piece["damaged"].as_array().unwrap().len(), 0, "{piece}");
        arguments += piece["verified_arguments"].as_u64().unwrap();
        match piece["next"].as_str() {
            Some(next) => path = format!("/verify?after={next}"),
            None => return arguments,
        }
    }
}
