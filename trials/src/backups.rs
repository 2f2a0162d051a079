//! Backups taken while everybody writes, each restored and verified.

use std::collections::HashMap;
use std::fs;
use std::process::Command;

use aw_trials::record;
use aw_trials::server::{Server, database_in};
use aw_trials::talk::Kept;

use crate::Trial;
use crate::crowd::Crowd;

pub async fn run(trial: &Trial) -> String {
    let backups = trial.times(3, 50);
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(&trial.binary, home.path());
    let mut crowd = Crowd::gather(8, &mut trial.dice());
    crowd.at(server.address);
    let mut restored = 0;
    for _ in 0..backups {
        crowd.goes_on(100).await;
        let before = crowd.promised();
        let folder = tempfile::tempdir().unwrap();
        let copy = database_in(folder.path());
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        let backup = Command::new(&trial.binary)
            .args(["server", "backup"])
            .arg(&copy)
            .env("AWEAVE_HOME", home.path())
            .output()
            .unwrap();
        assert!(backup.status.success(), "{}", String::from_utf8_lossy(&backup.stdout));
        // What had been acknowledged before is in it; what came meanwhile may be.
        let kept: HashMap<String, Kept> =
            record::sound(&copy).into_iter().map(|kept| (kept.id.clone(), kept)).collect();
        for promised in &before {
            assert_eq!(kept.get(&promised.id), Some(promised), "the backup lacks it");
        }
        let again = Server::start(&trial.binary, folder.path());
        restored += verified(&again).await;
        assert_eq!(again.stop().code(), Some(0));
    }
    crowd.leaves().await;
    assert_eq!(server.stop().code(), Some(0));
    let account = crowd.account(&record::sound(&database_in(home.path())));
    format!("{backups} backups under load, {restored} arguments restored and verified; {account}")
}

/// Has the server verify everything it has; how many arguments that is.
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
