//! HTTP to a server: blocking and lean, because agents call `aw` hundreds of times.
//!
//! Transient failures are retried with the same request, which carries its own id, so a retry is
//! always safe. All tries, pauses and answers of a request share one time limit. What the server
//! refuses is kept whole. It prints nothing.

mod exchange;
mod older_server;

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use aw_core::{ArgumentId, DebateId, Kind, RequestId, Role};
use serde_json::{Value, json};
use ureq::Agent;

use exchange::has_address;

/// How long a command may take in all: tries, pauses and the answer. An answer that is long may take
/// longer while at least 64 kB of it arrive each second.
pub const BUDGET: Duration = Duration::from_secs(30);

/// How often a request is tried again.
const RETRIES: u32 = 3;

/// The pause before the second try; it doubles after that.
const PAUSE: Duration = Duration::from_millis(500);

/// How long an unknown program on the port may take to answer.
const INTRODUCTION: Duration = Duration::from_secs(3);

/// A request.
#[derive(Debug, Clone, Copy)]
pub enum Call<'a> {
    /// Read something.
    Get(&'a str),
    /// Write something.
    Post(&'a str, &'a Value),
    /// Hide something.
    Delete(&'a str),
}

/// Why there is no answer.
#[derive(Debug, Clone)]
pub enum Trouble {
    /// The server could not be reached, or its answer did not arrive.
    Unreachable(Lost),
    /// It answered, but has no time now; try again after so long.
    Busy(Value, Duration),
    /// It said no. The error object, whole.
    Refused(Value),
    /// Whatever answered does not speak our language.
    Stranger(String),
}

/// A lost connection.
#[derive(Debug, Clone)]
pub struct Lost {
    /// What happened.
    pub why: String,
    /// Whether the time limit has passed.
    pub timed_out: bool,
    /// A proxy answers that its server is away, and may say when to try again.
    pub proxy: Option<Duration>,
}

/// A way to one server.
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

/// Says whether the server at the URL is still the one that is meant.
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

    /// A client of whoever is at this URL: it tells no secrets and does not wait long.
    pub fn of_stranger(base: &str) -> Self {
        Client { answer: INTRODUCTION, ..Client::new(base, None) }
    }

    /// The same, which asks for this proof before each request. Without it the server is as good as
    /// gone: whoever took its place hears nothing, a token least of all.
    pub fn only_while(self, proof: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Client { proof: Some(Box::new(proof)), ..self }
    }

    /// The same, which does not retry a lost connection: the caller finds or starts the server again.
    pub fn found_again_by_caller(self) -> Self {
        Client { retries_lost: false, ..self }
    }

    /// The same, on behalf of somebody who calls tools.
    pub fn for_tools(self) -> Self {
        Client { via: "mcp", ..self }
    }

    /// The server's URL.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The version of the server that answered last.
    pub fn server_version(&self) -> Option<String> {
        self.version.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the server was found to be of the older system.
    pub fn is_older(&self) -> bool {
        self.older.load(Ordering::Relaxed)
    }

    /// The data of the answer, tried a few times within [`BUDGET`].
    pub fn call(&self, call: Call<'_>) -> Result<Value, Trouble> {
        self.call_until(call, Instant::now() + self.answer)
    }

    /// The data of the answer, tried a few times until this moment.
    pub fn call_until(&self, call: Call<'_>, ends: Instant) -> Result<Value, Trouble> {
        self.tried(call, ends, false)
    }

    /// The same for a request that was sent before, so that it may have been done already.
    pub fn call_again_until(&self, call: Call<'_>, ends: Instant) -> Result<Value, Trouble> {
        self.tried(call, ends, true)
    }

    fn tried(&self, call: Call<'_>, ends: Instant, mut again: bool) -> Result<Value, Trouble> {
        self.retried(ends, || match self.once_until(call, ends) {
            // An earlier try has deleted it, and its answer was lost.
            Err(Trouble::Refused(error))
                if again && matches!(call, Call::Delete(_)) && error["deleted_at"].is_string() =>
            {
                Ok(json!({"deleted": true}))
            }
            answer => {
                again = true;
                answer
            }
        })
    }

    /// The data of the answer, tried once; the server was asked to hold it for so long.
    pub fn once(&self, call: Call<'_>, held: Duration) -> Result<Value, Trouble> {
        self.once_until(call, Instant::now() + held + self.answer)
    }

    /// The data of the answer, tried once until this moment.
    pub fn once_until(&self, call: Call<'_>, ends: Instant) -> Result<Value, Trouble> {
        if older_server::is_poll(call) {
            self.leave_in_peace(ends);
        }
        let reply = self.exchange(call, ends)?;
        let (status, unversioned) = (reply.status, self.server_version().is_none());
        let body = serde_json::from_slice::<Value>(&reply.body);
        match body {
            Ok(mut body) if body["success"] == true => {
                let data = body["data"].take();
                if !unversioned || !older_server::is_its_answer(call, &data) {
                    return Ok(data);
                }
                self.older.store(true, Ordering::Relaxed);
                if older_server::is_poll(call) {
                    *self.polled.lock().unwrap_or_else(PoisonError::into_inner) =
                        Some(Instant::now());
                }
                older_server::adapted(call, data).map_err(Trouble::Refused)
            }
            body => match reply.trouble(body.ok()) {
                Trouble::Refused(error) if unversioned => {
                    Err(Trouble::Refused(older_server::explained(call, status, error)))
                }
                trouble => Err(trouble),
            },
        }
    }

    /// A server of the older system answers each poll at once: it is asked no more often than it expects.
    fn leave_in_peace(&self, ends: Instant) {
        let polled = *self.polled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(polled) = polled {
            let again = (polled + older_server::PACE).min(ends);
            thread::sleep(again.saturating_duration_since(Instant::now()));
        }
    }

    /// The body of an answer that is not in the envelope, tried a few times until this moment.
    pub fn raw_until(&self, path: &str, ends: Instant) -> Result<Vec<u8>, Trouble> {
        self.retried(ends, || {
            let reply = self.exchange(Call::Get(path), ends)?;
            if (200..300).contains(&reply.status) {
                return Ok(reply.body);
            }
            let (status, unversioned) = (reply.status, self.server_version().is_none());
            let body = serde_json::from_slice(&reply.body).ok();
            Err(match reply.trouble(body) {
                Trouble::Refused(error) if unversioned => {
                    Trouble::Refused(older_server::explained(Call::Get(path), status, error))
                }
                trouble => trouble,
            })
        })
    }

    /// Tries this again when the server was not reached or is busy, as long as the time allows.
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

/// A text as a part of a URL.
pub fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}

/// The request id that these words to this target always have, so that a retry is recognised
/// whoever sends it; none when an id cannot be read, which the server will say.
pub fn derived_id(
    debate: &str,
    role: Role,
    kind: Kind,
    target: Option<&str>,
    content: &str,
) -> Option<RequestId> {
    let debate = debate.parse().unwrap_or_else(|_| DebateId::once_called(debate));
    let target: Option<ArgumentId> = target.map(str::parse).transpose().ok()?;
    Some(RequestId::derived(debate, role, kind, target, content))
}

/// Between half and the whole of it, so that many who failed together do not come back together.
fn jittered(pause: Duration) -> Duration {
    let dice = RandomState::new().hash_one(0) % 1_000;
    pause.mul_f64(0.5 + dice as f64 / 2_000.0)
}

/// Whether this URL leads to the machine one is on.
pub fn is_local(base: &str) -> bool {
    ["http://127.", "http://localhost", "http://[::1]"].iter().any(|local| base.starts_with(local))
}
