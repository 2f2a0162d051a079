//! A disk that is full, and has room again: a real one, of a few megabytes.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use aw_trials::record;
use aw_trials::server::Server;
use tempfile::TempDir;

use crate::Trial;
use crate::crowd::Crowd;
use crate::faults::{healthy, no_writes};

/// Tried as often as asked; what came of it.
pub(crate) async fn disk(trial: &Trial, rounds: u64) -> String {
    let disk = match SmallDisk::mount() {
        Ok(disk) => disk,
        Err(why) => {
            return format!("left out: this machine forbids mounting a disk: {}", why.trim());
        }
    };
    let home = tempfile::tempdir().unwrap();
    let database = disk.path("debate.db");
    let server = Server::start_as(&trial.binary, home.path(), |mut command| {
        command.env("AW_DATABASE_URL", &database);
        command
    });
    let mut crowd = Crowd::gather(8, &mut trial.dice());
    crowd.at(server.address);
    for _ in 0..rounds {
        crowd.goes_on(30).await;
        disk.fill();
        no_writes(&crowd, &server, "STORAGE_FULL").await;
        disk.free();
        healthy(&mut server.line()).await;
        crowd.goes_on(30).await;
        crowd.finds_everything(&mut server.line()).await;
    }
    crowd.leaves().await;
    assert_eq!(server.stop().code(), Some(0));
    let log = fs::metadata(database.with_extension("db-wal"));
    assert!(log.is_err() || log.unwrap().len() == 0, "the log is left behind");
    crowd.account(&record::sound(&database))
}

/// A file system of a few megabytes, gone when dropped.
struct SmallDisk(TempDir);

impl SmallDisk {
    /// Only root may mount one.
    fn mount() -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=24m,mode=0700", "tmpfs"])
            .arg(folder.path())
            .stderr(Stdio::piped())
            .output()
            .map_err(|error| error.to_string())?;
        if mounted.status.success() {
            Ok(SmallDisk(folder))
        } else {
            Err(String::from_utf8_lossy(&mounted.stderr).into_owned())
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Takes all the room there is, to the last byte.
    fn fill(&self) {
        let mut file = File::create(self.path("big")).unwrap();
        for size in [64 * 1024, 4096, 1] {
            let piece = vec![b'x'; size];
            while file.write_all(&piece).is_ok() {}
        }
    }

    fn free(&self) {
        fs::remove_file(self.path("big")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, so that it goes even while a server that failed still ends.
        let unmounted = Command::new("umount").arg("-l").arg(self.0.path()).status();
        assert!(std::thread::panicking() || unmounted.unwrap().success());
    }
}
