//! Fills a real disk of a few megabytes, and frees it again.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use aw_trials::figures::Figures;
use aw_trials::record;
use aw_trials::server::Server;
use tempfile::TempDir;

use crate::Trial;
use crate::crowd::Crowd;
use crate::faults::{healthy, no_writes};

/// Runs this many rounds and returns the result.
pub(crate) async fn disk(trial: &Trial, rounds: u64) -> Figures {
    let disk = match SmallDisk::mount() {
        Ok(disk) => disk,
        Err(why) => {
            return Figures::left_out(&format!("this machine forbids mounting a disk: {why}"));
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

/// A file system of a few megabytes, unmounted on drop.
pub(crate) struct SmallDisk(TempDir);

impl SmallDisk {
    /// Mounts it, which only root may do.
    pub(crate) fn mount() -> Result<Self, String> {
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

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Fills the disk to the last byte.
    pub(crate) fn fill(&self) {
        let mut file = File::create(self.path("big")).unwrap();
        for size in [64 * 1024, 4096, 1] {
            let piece = vec![b'x'; size];
            while file.write_all(&piece).is_ok() {}
        }
    }

    pub(crate) fn free(&self) {
        fs::remove_file(self.path("big")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, so that it works while a failing server is still ending.
        let unmounted = Command::new("umount").arg("-l").arg(self.0.path()).status();
        assert!(std::thread::panicking() || unmounted.unwrap().success());
    }
}
