//! The transport over HTTP: blocking and lean, because agents call `aw` hundreds of times.
//!
//! Transient failures are retried with the same request, which carries its own id, so a retry is
//! always safe. All tries, pauses and answers of a request share one time limit.

mod exchange;
mod older_server;

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use ureq::Agent;

use super::client::{Call, Method, Operation, Reply, Request};
use super::error::{Code, Error};
use exchange::{LONGEST_JSON, LONGEST_RAW, has_address};

/// How long a command may take in all: tries, pauses and the answer. An answer that is long may take
/// longer while at least 64 kB of it arrive each second, by ten minutes at most.
pub const BUDGET: Duration = Duration::from_secs(30);

/// How often a request is retried.
const RETRIES: u32 = 3;

/// The pause before the second try; it doubles after that.
const PAUSE: Duration = Duration::from_millis(500);

/// How long an unknown program on the port may take to answer.
const INTRODUCTION: Duration = Duration::from_secs(3);

/// Why there is no answer.
#[derive(Debug, Clone)]
pub enum Trouble {
    /// The server could not be reached, or its answer did not arrive.
    Unreachable(Lost),
    /// The server is busy; try again after this time.
    Busy(Box<Refused>, Duration),
    /// The server said no.
    Refused(Box<Refused>),
    /// The program that answered does not speak our protocol.
    Stranger(String),
    /// This version of aw cannot read the server's answer.
    Unreadable(String),
}

/// The server's error, typed and as it came.
pub type Refused = Reply<Error>;

impl Trouble {
    /// The code of a refusal.
    pub fn code(&self) -> Option<&Code> {
        match self {
            Trouble::Refused(refused) => Some(&refused.data.code),
            Trouble::Busy(..)
            | Trouble::Unreachable(_)
            | Trouble::Stranger(_)
            | Trouble::Unreadable(_) => None,
        }
    }
}

impl From<Value> for Refused {
    fn from(json: Value) -> Self {
        /// The fields that every error has.
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Least {
            code: Code,
            message: String,
            suggestion: Option<String>,
        }
        // The other fields may hold words of a newer server.
        let data = Error::deserialize(&json).unwrap_or_else(|_| {
            let Least { code, message, suggestion } = Least::deserialize(&json).unwrap_or_default();
            let message =
                if message.is_empty() { "the server said no".to_owned() } else { message };
            Error { code, message, suggestion, ..Error::default() }
        });
        Reply { data, json }
    }
}

/// The data of an answer, before it is read as a type.
#[derive(Debug, Clone)]
pub struct Data {
    json: Value,
    /// The same with what a server of the older system leaves out.
    completed: Option<Value>,
}

impl Data {
    /// Reads it as the answer to a request.
    pub fn read<A: DeserializeOwned>(self) -> Result<Reply<A>, Trouble> {
        let data = A::deserialize(self.completed.as_ref().unwrap_or(&self.json));
        let data = data.map_err(|error| Trouble::Unreadable(error.to_string()))?;
        Ok(Reply { data, json: self.json })
    }
}

/// The envelope of every answer.
#[derive(Deserialize)]
struct Envelope {
    success: bool,
    #[serde(default)]
    data: Value,
    #[serde(default)]
    error: Value,
}

/// A lost connection.
#[derive(Debug, Clone)]
pub struct Lost {
    /// The reason.
    pub why: String,
    /// Whether the time limit has passed.
    pub timed_out: bool,
    /// A proxy answers that its server is away, and may say when to try again.
    pub proxy: Option<Duration>,
}

/// A client of one server.
pub struct Client {
    agent: Agent,
    base: String,
    /// Whether its host is a name that must be looked up.
    named_host: bool,
    token: Option<String>,
    proof: Option<Proof>,
    via: &'static str,
    /// How long a request may take, besides the time that the server was asked to wait.
    answer: Duration,
    retries_lost: bool,
    version: Mutex<Option<String>>,
    /// Whether a server of the older system has answered.
    older: AtomicBool,
    /// When it last answered a poll.
    polled: Mutex<Option<Instant>>,
}

/// Returns whether the server at the URL is still the one that is meant.
type Proof = Box<dyn Fn() -> bool + Send + Sync>;

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("base", &self.base).finish_non_exhaustive()
    }
}

impl Client {
    /// A client of the server at this URL.
    pub fn new(base: &str, token: Option<String>) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(if is_local(base) { None } else { ureq::Proxy::try_from_env() })
            .max_redirects(0)
            .input_buffer_size(16 * 1024)
            .output_buffer_size(16 * 1024)
            .user_agent(concat!("aw/", env!("CARGO_PKG_VERSION")))
            .build();
        Client {
            agent: config.into(),
            base: base.to_owned(),
            named_host: !has_address(base),
            token,
            proof: None,
            via: "cli",
            answer: BUDGET,
            retries_lost: true,
            version: Mutex::new(None),
            older: AtomicBool::new(false),
            polled: Mutex::new(None),
        }
    }

    /// A client of an unknown program at this URL. It sends no token and does not wait long.
    pub fn of_stranger(base: &str) -> Self {
        Client { answer: INTRODUCTION, ..Client::new(base, None) }
    }

    /// A client that asks for this proof before each request. Without it the server counts as gone:
    /// a program that took its place gets no request, and above all no token.
    pub fn only_while(self, proof: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Client { proof: Some(Box::new(proof)), ..self }
    }

    /// A client that does not retry a lost connection: the caller finds or starts the server again.
    pub fn without_reconnect(self) -> Self {
        Client { retries_lost: false, ..self }
    }

    /// A client for an agent that calls tools.
    pub fn for_tools(self) -> Self {
        Client { via: "mcp", ..self }
    }

    /// A client for the runner, which posts the texts of the agent programs that it starts.
    pub fn for_runner(self) -> Self {
        Client { via: "run", ..self }
    }

    /// The server's URL.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The version of the server that answered last.
    pub fn server_version(&self) -> Option<String> {
        self.version.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the server is one of the older system.
    pub fn is_older(&self) -> bool {
        self.older.load(Ordering::Relaxed)
    }

    /// Sends a request, with retries, within [`BUDGET`].
    pub fn call<A: DeserializeOwned>(&self, request: &Request<A>) -> Result<Reply<A>, Trouble> {
        self.data_until(&request.call, Instant::now() + self.answer, false)?.read()
    }

    /// Sends a request once, after the server was asked to hold it for this long.
    pub fn once<A: DeserializeOwned>(
        &self,
        request: &Request<A>,
        held: Duration,
    ) -> Result<Reply<A>, Trouble> {
        self.once_until(request, Instant::now() + held + self.answer)
    }

    /// Sends a request once and waits until this moment.
    pub fn once_until<A: DeserializeOwned>(
        &self,
        request: &Request<A>,
        ends: Instant,
    ) -> Result<Reply<A>, Trouble> {
        self.data_once(&request.call, ends)?.read()
    }

    /// The data of the answer, with retries until this moment. `sent_before`: the server may have
    /// carried the request out already.
    pub(crate) fn data_until(
        &self,
        call: &Call,
        ends: Instant,
        mut sent_before: bool,
    ) -> Result<Data, Trouble> {
        self.retried(ends, || match self.data_once(call, ends) {
            // An earlier try has deleted it, and its answer was lost.
            Err(Trouble::Refused(refused))
                if sent_before
                    && call.method == Method::Delete
                    && refused.data.deleted_at.is_some() =>
            {
                Ok(Data { json: json!({"deleted": true}), completed: None })
            }
            answer => {
                sent_before = true;
                answer
            }
        })
    }

    /// The data of the answer, tried once until this moment.
    pub(crate) fn data_once(&self, call: &Call, ends: Instant) -> Result<Data, Trouble> {
        let is_poll = matches!(call.operation, Operation::Poll { .. });
        if is_poll {
            self.pause_between_polls(ends);
        }
        let reply = self.exchange(call, ends, LONGEST_JSON)?;
        let is_versioned = self.server_version().is_some();
        let status = reply.status;
        let data = match call.operation {
            Operation::Document => reply.document(),
            _ => reply.data(),
        };
        match data {
            Ok(json) if is_versioned || !older_server::is_its_answer(call, &json) => {
                Ok(Data { json, completed: None })
            }
            Ok(json) => {
                self.older.store(true, Ordering::Relaxed);
                if is_poll {
                    *self.polled.lock().unwrap_or_else(PoisonError::into_inner) =
                        Some(Instant::now());
                }
                let json = older_server::adapted(call, json).map_err(refused)?;
                let completed = Some(older_server::completed(call, json.clone()));
                Ok(Data { json, completed })
            }
            Err(trouble) => Err(self.explained(call, status, trouble)),
        }
    }

    /// A server of the older system sent the refusal, so it is explained in our own words.
    fn explained(&self, call: &Call, status: u16, trouble: Trouble) -> Trouble {
        match trouble {
            Trouble::Refused(error) if self.server_version().is_none() => {
                if older_server::is_its_refusal(&error) {
                    self.older.store(true, Ordering::Relaxed);
                }
                refused(older_server::explained(call, status, *error))
            }
            trouble => trouble,
        }
    }

    /// Pauses between polls: a server of the older system answers each of them at once.
    fn pause_between_polls(&self, ends: Instant) {
        let polled = *self.polled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(polled) = polled {
            let again = (polled + older_server::PACE).min(ends);
            thread::sleep(again.saturating_duration_since(Instant::now()));
        }
    }

    /// The body of an answer that is not in the envelope, tried a few times until this moment.
    pub(crate) fn raw_until(&self, call: &Call, ends: Instant) -> Result<Vec<u8>, Trouble> {
        self.retried(ends, || {
            let reply = self.exchange(call, ends, LONGEST_RAW)?;
            if (200..300).contains(&reply.status) {
                return Ok(reply.body);
            }
            let status = reply.status;
            Err(match reply.data() {
                Err(trouble) => self.explained(call, status, trouble),
                Ok(_) => Trouble::Stranger(format!("it answered {status} with data")),
            })
        })
    }

    /// Retries while the server is unreachable or busy, as long as the time allows.
    fn retried<T>(
        &self,
        ends: Instant,
        mut once: impl FnMut() -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let mut pause = PAUSE;
        for _ in 0..RETRIES {
            let answer = once();
            let after = match &answer {
                Err(Trouble::Unreachable(lost)) if self.retries_lost => lost.proxy,
                Err(Trouble::Busy(_, after)) => Some(*after),
                _ => return answer,
            };
            let pausing = jittered(pause).max(after.unwrap_or_default());
            if Instant::now() + pausing >= ends {
                return answer;
            }
            thread::sleep(pausing);
            pause *= 2;
        }
        once()
    }
}

/// The refusal that this error means.
fn refused(error: Value) -> Trouble {
    Trouble::Refused(Box::new(error.into()))
}

/// Between half and the whole of a pause, so that clients that failed together do not return together.
fn jittered(pause: Duration) -> Duration {
    let dice = RandomState::new().hash_one(0) % 1_000;
    pause.mul_f64(0.5 + dice as f64 / 2_000.0)
}

/// Whether this URL leads to this machine.
pub fn is_local(base: &str) -> bool {
    ["http://127.", "http://localhost", "http://[::1]"].iter().any(|local| base.starts_with(local))
}
