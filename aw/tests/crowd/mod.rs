//! The server in a crowd: rivals for one turn, thousands who wait, hundreds who watch.

mod caps;
mod feeds;
mod rivals;
mod sockets;
mod waiters;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use reqwest::RequestBuilder;

use crate::world::{Answer, World, in_time};

/// Sends all of these at the same time.
async fn all_at_once(requests: Vec<RequestBuilder>) -> Vec<Answer> {
    let sent: Vec<_> =
        requests.into_iter().map(|request| tokio::spawn(Answer::to(request))).collect();
    let mut answers = Vec::new();
    for answer in sent {
        answers.push(in_time("every request is answered", answer).await.unwrap());
    }
    answers
}

/// What `/health` says is open now: waits, then sockets.
async fn held(world: &World) -> (u64, u64) {
    let health = world.get("/health").await.ok();
    let count = |name: &str| health[name].as_u64().unwrap();
    (count("held_waits"), count("open_sockets"))
}

/// Both ends of every connection are open files of this process.
fn raise_file_limit() {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
}
