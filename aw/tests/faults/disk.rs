//! A disk that is full, and has room again.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Caller, ended, new_claim, new_debate, record, signal};
use crate::world::{ServerProcess, eventually, new_id, text};

/// A file system of a few megabytes, gone when dropped.
struct SmallDisk(TempDir);

impl SmallDisk {
    /// Only root may mount one.
    fn mount() -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=3m,mode=0700", "tmpfs"])
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
        // Lazily, so that it goes even while a server that failed the test still ends.
        let unmounted = Command::new("umount").arg("-l").arg(self.0.path()).status();
        assert!(std::thread::panicking() || unmounted.unwrap().success());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::print_stdout, reason = "a proof that is skipped says so")]
async fn a_full_disk_refuses_writes_and_nothing_else_until_there_is_room_again() {
    let disk = match SmallDisk::mount() {
        Ok(disk) => disk,
        Err(why) => {
            println!("skipped: a small disk cannot be mounted here: {}", why.trim());
            return;
        }
    };
    let home = tempfile::tempdir().unwrap();
    let database = disk.path("debate.db");
    let mut server = ServerProcess::start_with(home.path(), |command| {
        command.env("AW_DATABASE_URL", &database);
    });
    let caller = Caller::of(&server);
    let mut story = Story::begin(&caller).await;
    for _ in 0..20 {
        story.go_on(&caller).await.created();
    }

    // Twice, so that recovering is not a thing that works once.
    for _ in 0..2 {
        disk.fill();
        let refused = story.until_refused(&caller).await;
        full(&caller, &story, &refused).await;

        disk.free();
        eventually("the server recovers by itself", async || {
            caller.get("/health").await.status.is_success()
        })
        .await;
        let retried = caller.post(&story.path, &refused).await.created();
        assert_eq!(retried["replayed"], false, "what was refused had been written");
        story.heard(&retried);
        for _ in 0..20 {
            story.go_on(&caller).await.created();
        }
        story.is_all_there_is(&caller).await;
    }
    signal(&server, Signal::SIGTERM);
    assert_eq!(ended(&mut server).await.code(), Some(0));
    let kept: Vec<_> = record::sound(&database).into_iter().map(|kept| kept.content).collect();
    assert_eq!(kept, story.said);
    left_tidy(&database);
}

/// What a server on a full disk does and does not do.
async fn full(caller: &Caller, story: &Story, refused: &Value) {
    let mut sent = Vec::new();
    for number in 0..20 {
        let caller = caller.clone();
        let (path, body) = match number % 4 {
            0 => ("/debates".to_owned(), new_debate(&new_id(), "Never written.")),
            1 => {
                ("/documents".to_owned(), json!({"summary": "Never", "content": "Never written."}))
            }
            _ => (story.path.clone(), refused.clone()),
        };
        sent.push(tokio::spawn(async move { caller.post(&path, &body).await }));
    }
    for answer in sent {
        let error = answer.await.unwrap().refused(507, "STORAGE_FULL");
        assert!(text(&error["message"]).contains("nothing was written"), "{error}");
    }
    let health = caller.get("/health").await;
    assert!(!health.status.is_success(), "{}", health.body);
    assert_eq!(health.body["success"], false);

    story.is_all_there_is(caller).await;
    assert_eq!(caller.get("/debates").await.ok()["total"], 1);
    assert_eq!(caller.get("/documents").await.ok()["total"], 0);
    let polled = caller.get(&format!("/debates/{}/poll?role=arbitrator", story.debate)).await;
    assert_eq!(polled.ok()["has_new_argument"], false);
}

fn left_tidy(database: &Path) {
    let log = fs::metadata(database.with_extension("db-wal"));
    assert!(log.is_err() || log.unwrap().len() == 0);
}

/// One debate and everything that was said in it.
struct Story {
    debate: String,
    path: String,
    newest: String,
    said: Vec<String>,
}

impl Story {
    async fn begin(caller: &Caller) -> Self {
        let debate = new_id();
        let created = caller.post("/debates", &new_debate(&debate, "Word 1.")).await.created();
        let path = format!("/debates/{debate}/arguments");
        let mut story = Story { debate, path, newest: String::new(), said: Vec::new() };
        story.heard(&created);
        story
    }

    fn next(&self) -> Value {
        let seq = self.said.len() + 1;
        let role = if seq.is_multiple_of(2) { "opponent" } else { "proposer" };
        let padding = "Much is said. ".repeat(100);
        new_claim(role, &self.newest, &format!("Word {seq}. {padding}"))
    }

    fn heard(&mut self, written: &Value) {
        let argument = &written["argument"];
        self.newest = text(&argument["id"]);
        self.said.push(text(&argument["content"]));
        assert_eq!(argument["seq"], self.said.len());
    }

    /// Says the next thing; what came of it.
    async fn go_on(&mut self, caller: &Caller) -> crate::world::Answer {
        let answer = caller.post(&self.path, &self.next()).await;
        if answer.status.is_success() {
            self.heard(&answer.body["data"]);
        }
        answer
    }

    /// Goes on until there is no room; the request that was refused.
    async fn until_refused(&mut self, caller: &Caller) -> Value {
        for _ in 0..200 {
            let request = self.next();
            let answer = caller.post(&self.path, &request).await;
            if !answer.status.is_success() {
                answer.refused(507, "STORAGE_FULL");
                return request;
            }
            self.heard(&answer.body["data"]);
        }
        panic!("the disk is never full");
    }

    /// Nothing is lost, and nothing that was refused is there.
    async fn is_all_there_is(&self, caller: &Caller) {
        let whole = caller.get(&format!("/debates/{}", self.debate)).await.ok();
        let arguments = whole["arguments"].as_array().unwrap();
        let there: Vec<_> =
            [&whole["motion"]].into_iter().chain(arguments).map(|a| text(&a["content"])).collect();
        assert_eq!(there, self.said);
    }
}
