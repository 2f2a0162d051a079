//! Many clients at once: races for one turn, thousands of waits, hundreds of sockets.

mod feeds;
mod limits;
mod races;
mod rates;
mod sockets;
mod waiters;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::handshake::client::Request;

use crate::world::{Answer, World, in_time, text};

/// The shared token.
const SHARED: &str = "our shared secret";

/// A client with a token.
#[derive(Clone)]
struct Holder<'a> {
    world: &'a World,
    token: String,
}

impl<'a> Holder<'a> {
    /// A client with the shared token.
    fn shared(world: &'a World) -> Self {
        Holder { world, token: SHARED.to_owned() }
    }

    /// A client with the token of a new seat.
    async fn seated(world: &'a World, role: &str, name: &str) -> Self {
        let body = json!({"role": role, "name": name});
        let seat = Holder::shared(world).post("/tokens", &body).await.created();
        Holder { world, token: text(&seat["token"]) }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.world.request(method, path).bearer_auth(&self.token)
    }

    async fn get(&self, path: &str) -> Answer {
        Answer::to(self.request(Method::GET, path)).await
    }

    async fn post(&self, path: &str, body: &Value) -> Answer {
        Answer::to(self.request(Method::POST, path).json(body)).await
    }

    /// The handshake of a socket.
    fn socket(&self, path: &str) -> Request {
        let url = format!("{}{path}", self.world.url.replace("http", "ws"));
        let mut request = url.into_client_request().unwrap();
        let bearer = format!("Bearer {}", self.token).parse().unwrap();
        request.headers_mut().insert("authorization", bearer);
        request
    }
}

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

/// The held waits and open sockets, from `/health`.
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
