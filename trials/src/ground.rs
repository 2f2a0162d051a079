//! The database of a trial: a SQLite file, or the PostgreSQL that `scripts/postgres` starts.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use aw_record::{Place, transfer};
use aw_trials::server::{Server, database_in};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid};
use tempfile::TempDir;
use tokio::time::sleep;
use tokio_postgres::{Client, NoTls};

use crate::Trial;

/// A new record and the data folders of its servers.
pub struct Ground {
    folder: TempDir,
    /// The PostgreSQL database, if there is one.
    url: Option<String>,
}

impl Ground {
    pub async fn new(trial: &Trial) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = if trial.postgres { Some(new_database().await) } else { None };
        Ground { folder, url }
    }

    /// Starts server number `number` on it.
    pub fn start(&self, trial: &Trial, number: usize) -> Server {
        let home = self.home(number);
        std::fs::create_dir_all(&home).unwrap();
        Server::start_as(&trial.binary, &home, |mut command| {
            if let Some(url) = &self.url {
                command.env("AW_DATABASE_URL", url);
            }
            command
        })
    }

    /// The record as a SQLite file, for checks. A record in PostgreSQL is moved into one.
    pub async fn file(&self) -> PathBuf {
        let Some(url) = &self.url else { return database_in(&self.home(0)) };
        let file = self.folder.path().join("moved.db");
        let (from, to): (Place, Place) = (url.parse().unwrap(), file.clone().into());
        let moved = tokio::task::spawn_blocking(move || transfer(&from, &to, |_, _| {}));
        moved.await.unwrap().unwrap();
        file
    }

    /// Runs a statement in the database, without a server.
    pub async fn command(&self, sql: &str) {
        let url = self.url.as_deref().expect("the record is in PostgreSQL");
        connected(url).await.batch_execute(sql).await.unwrap();
    }

    fn home(&self, number: usize) -> PathBuf {
        self.folder.path().join(format!("home-{number}"))
    }
}

/// Kills PostgreSQL with `kill -9`.
pub async fn kill_postgres() {
    let pid = std::fs::read_to_string(data().join("postmaster.pid")).unwrap();
    let pid = Pid::from_raw(pid.lines().next().unwrap().trim().parse().unwrap());
    kill(pid, Signal::SIGKILL).unwrap();
    while kill(pid, None).is_ok() {
        sleep(Duration::from_millis(5)).await;
    }
}

/// Starts PostgreSQL again.
pub async fn start_postgres() {
    // It refuses to start until the children of the killed process have ended.
    for _ in 0..100 {
        let mut command = match Uid::effective().is_root() {
            true => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid=postgres", "--regid=postgres", "--init-groups", "pg_ctl"]);
                command
            }
            false => Command::new("pg_ctl"),
        };
        let log = data().with_file_name("log");
        command.arg("-D").arg(data()).arg("-l").arg(log).args(["-s", "-w", "restart"]);
        if command.current_dir("/").output().unwrap().status.success() {
            return;
        }
        sleep(Duration::from_millis(50)).await;
    }
    panic!("PostgreSQL does not start again");
}

fn data() -> PathBuf {
    Path::new(&set("AW_TEST_POSTGRES_DATA")).to_owned()
}

async fn new_database() -> String {
    let url = set("AW_TEST_POSTGRES_URL");
    let name = format!("aw_{}", uuid::Uuid::new_v4().simple());
    connected(&url).await.batch_execute(&format!("create database {name}")).await.unwrap();
    url.replace("/postgres?", &format!("/{name}?"))
}

async fn connected(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

fn set(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: see scripts/postgres"))
}
