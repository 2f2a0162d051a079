//! Whole commands, as an agent calls them.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use aw_trials::server::Server;
use rusqlite::Connection;

use crate::Bench;
use crate::caller::{LoadClient, LoadDebate, find, get, kilobyte};
use crate::figures::{Figures, Promise};
use crate::samples::Samples;

pub async fn measure(bench: &Bench, figures: &mut Figures) {
    start(bench, figures);
    submit(bench, figures).await;
    wake(bench, figures).await;
}

/// The duration of a program.
fn run(command: &mut Command) -> Duration {
    let began = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap();
    let took = began.elapsed();
    assert!(status.success(), "{command:?}: {status}");
    took
}

fn start(bench: &Bench, figures: &mut Figures) {
    let home = tempfile::tempdir().unwrap();
    let (mut ours, mut empty) = (Samples::default(), Samples::default());
    for _ in 0..bench.times(200, 1000) {
        empty.took(run(&mut Command::new(bench.limit("nothing"))));
        let mut command = aw(bench, home.path());
        ours.took(run(command.args(["debate", "generate-id"])));
    }
    let name = "CLI start: aw debate generate-id, beside an empty program";
    figures.beside(name, "ms", &ours, empty.median(), Promise::Times(1.6));
}

async fn submit(bench: &Bench, figures: &mut Figures) {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(bench.aw(), home.path());
    let mut caller = LoadClient::to(server.address).await;
    let mut debate = LoadDebate::open(&mut caller).await;
    let commit = Commit::beside(home.path());
    let (mut ours, mut least) = (Samples::default(), Samples::default());
    for _ in 0..bench.times(100, 500) {
        let empty = run(&mut Command::new(bench.limit("nothing")));
        least.took(empty + commit.one());
        let mut command = aw(bench, home.path());
        command.args(["debate", "submit", "--debate-id", &debate.id, "--content", &kilobyte()]);
        command.args(["--role", debate.next_role(), "--target-id", &debate.newest]);
        let began = Instant::now();
        let output = command.stdin(Stdio::null()).output().unwrap();
        ours.took(began.elapsed());
        assert!(output.status.success(), "{output:?}");
        let context = caller.ask(&debate.context(1)).await.to_vec();
        debate.heard(&newest_first(&context));
    }
    let name = "aw debate submit, whole and durable, beside an empty program + a synced commit";
    figures.beside(name, "ms", &ours, least.median(), Promise::Times(2.5));
    drop(server);
}

/// The newest argument of a context, in the form of the answer to a write.
fn newest_first(context: &[u8]) -> Vec<u8> {
    let mark = br#""arguments":[{"id":""#;
    let place = find(context, mark).expect("an argument") + mark.len();
    [br#""argument":{"id":""#, &context[place..place + 36]].concat()
}

/// A synced commit of one row of a kilobyte.
struct Commit {
    db: Connection,
    words: String,
}

impl Commit {
    fn beside(folder: &Path) -> Self {
        let db = Connection::open(folder.join("commit.db")).unwrap();
        db.pragma_update(None, "journal_mode", "wal").unwrap();
        db.pragma_update(None, "synchronous", "full").unwrap();
        db.execute_batch("create table said (words text not null)").unwrap();
        Commit { db, words: kilobyte() }
    }

    fn one(&self) -> Duration {
        let mut insert = self.db.prepare_cached("insert into said (words) values (?1)").unwrap();
        let began = Instant::now();
        insert.execute([&self.words]).unwrap();
        began.elapsed()
    }
}

/// Measures from the answer to a submit to the end of the waiting process.
async fn wake(bench: &Bench, figures: &mut Figures) {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(bench.aw(), home.path());
    let mut caller = LoadClient::to(server.address).await;
    let mut debate = LoadDebate::open(&mut caller).await;
    let mut woken = Samples::default();
    for _ in 0..bench.times(100, 500) {
        let mut command = aw(bench, home.path());
        command.args(["debate", "wait", "--debate-id", &debate.id, "--role", debate.other_role()]);
        command.args(["--argument-id", &debate.newest]).stdin(Stdio::null()).stdout(Stdio::piped());
        let waiting = command.spawn().unwrap();
        let ended = std::thread::spawn(move || {
            let output = waiting.wait_with_output().unwrap();
            (Instant::now(), output)
        });
        until_held(&mut caller, 1).await;
        debate.goes_on(&mut caller).await;
        let committed = Instant::now();
        let (ended, output) = ended.join().unwrap();
        assert!(find(&output.stdout, debate.newest.as_bytes()).is_some(), "{output:?}");
        woken.took(ended.saturating_duration_since(committed));
    }
    let name = "wake: answer to a submit until aw debate wait has printed and ended";
    figures.alone(format!("{name}, p50"), "ms", woken.median(), Promise::AtMost(5.0));
    figures.alone(format!("{name}, p99"), "ms", woken.quantile(0.99), Promise::AtMost(15.0));
    drop(server);
}

/// Waits until the server holds this many waits.
pub async fn until_held(caller: &mut LoadClient, waits: usize) {
    let held = format!(r#""held_waits":{waits},"#);
    let health = get("/health");
    while find(caller.ask(&health).await, held.as_bytes()).is_none() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

fn aw(bench: &Bench, home: &Path) -> Command {
    let mut command = Command::new(bench.aw());
    command.env_clear().env("AWEAVE_HOME", home);
    command
}
