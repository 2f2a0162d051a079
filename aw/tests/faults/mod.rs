//! The server under faults: damaged records, signals, wrong settings and broken clients.

mod command;
mod damage;
mod slow_clients;
mod stop;

use std::process::ExitStatus;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use reqwest::{Client, Method, StatusCode};
use serde_json::Value;

use crate::world::{Answer, CEILING, ServerProcess};

/// A client of a server that may go away.
#[derive(Debug, Clone)]
struct Caller {
    client: Client,
    url: String,
}

impl Caller {
    fn of(server: &ServerProcess) -> Self {
        let client = Client::builder().timeout(CEILING).build().unwrap();
        Caller { client, url: server.url.clone() }
    }

    async fn get(&self, path: &str) -> Answer {
        Answer::to(self.client.get(format!("{}{path}", self.url))).await
    }

    async fn post(&self, path: &str, body: &Value) -> Answer {
        Answer::to(self.client.post(format!("{}{path}", self.url)).json(body)).await
    }

    /// Posts to a server that may not answer.
    async fn try_post(&self, path: &str, body: &Value) -> Option<(StatusCode, Value)> {
        let request = self.client.request(Method::POST, format!("{}{path}", self.url));
        let response = request.json(body).send().await.ok()?;
        let status = response.status();
        let bytes = response.bytes().await.ok()?;
        Some((status, serde_json::from_slice(&bytes).expect("what arrives whole is JSON")))
    }
}

/// Sends the server this signal.
fn signal(server: &ServerProcess, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(server.child.id()).unwrap());
    kill(pid, signal).unwrap();
}

/// Waits for the server to end by itself.
async fn ended(server: &mut ServerProcess) -> ExitStatus {
    let began = Instant::now();
    loop {
        if let Some(status) = server.child.try_wait().unwrap() {
            return status;
        }
        assert!(began.elapsed() < CEILING, "the server did not end");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
