//! HTTP to a server: blocking and lean, because agents call `aw` hundreds of times.
//!
//! Transient failures are retried with the same request, which carries its own id, so a retry is
//! always safe. What the server refuses is kept whole. It prints nothing.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use aw_core::{ArgumentId, DebateId, Kind, RequestId, Role};
use serde_json::{Value, json};
use ureq::http::Response;
use ureq::{Agent, Body};

/// How often a request is tried.
const TRIES: u32 = 3;

/// The pause before the second try; it doubles after that.
const PAUSE: Duration = Duration::from_millis(100);

/// The longest pause that a busy server may ask for: whoever calls waits for an answer.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How long a server may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// How long a server may take to answer, besides what it was asked to wait.
const ANSWER: Duration = Duration::from_secs(30);

/// How long somebody who is only asked who it is may take to answer.
const INTRODUCTION: Duration = Duration::from_secs(3);

/// The longest answer that is read.
const LONGEST: u64 = 1 << 30;

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
    /// The server could not be reached.
    Unreachable(String),
    /// It answered, but has no time now; try again after so long.
    Busy(Value, Duration),
    /// It said no. The error object, whole.
    Refused(Value),
    /// Whatever answered does not speak our language.
    Stranger(String),
}

/// A way to one server.
pub struct Client {
    agent: Agent,
    base: String,
    token: Option<String>,
    proof: Option<Proof>,
    via: &'static str,
    answer: Duration,
    version: Mutex<Option<String>>,
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
        // A global time-out would start a thread for the name look-up, also for 127.0.0.1.
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(if is_local(base) { None } else { ureq::Proxy::try_from_env() })
            .timeout_connect(Some(CONNECT))
            .max_redirects(0)
            .input_buffer_size(16 * 1024)
            .output_buffer_size(16 * 1024)
            .user_agent(concat!("aw/", env!("CARGO_PKG_VERSION")))
            .build();
        Client {
            agent: config.into(),
            base: base.to_owned(),
            token,
            proof: None,
            via: "cli",
            answer: ANSWER,
            version: Mutex::new(None),
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

    /// The data of the answer, tried a few times.
    pub fn call(&self, call: Call<'_>) -> Result<Value, Trouble> {
        let mut tries = 0;
        tried(|| {
            tries += 1;
            match self.once(call, Duration::ZERO) {
                // The first try has deleted it, and its answer was lost.
                Err(Trouble::Refused(error))
                    if tries > 1
                        && matches!(call, Call::Delete(_))
                        && error["deleted_at"].is_string() =>
                {
                    Ok(json!({"deleted": true}))
                }
                answer => answer,
            }
        })
    }

    /// The data of the answer, tried once; the server was asked to hold it for so long.
    pub fn once(&self, call: Call<'_>, held: Duration) -> Result<Value, Trouble> {
        let mut response = self.send(call, held)?;
        let status = response.status().as_u16();
        let after = header(&response, "retry-after").and_then(|seconds| seconds.parse().ok());
        let bytes = read(&mut response)?;
        let mut body: Value = serde_json::from_slice(&bytes)
            .map_err(|_| Trouble::Stranger(format!("it answered {status} and not in JSON")))?;
        match (body["success"].as_bool(), status) {
            (Some(true), _) => Ok(body["data"].take()),
            (Some(false), 503) => {
                Err(Trouble::Busy(body["error"].take(), Duration::from_secs(after.unwrap_or(1))))
            }
            (Some(false), _) => Err(Trouble::Refused(body["error"].take())),
            (None, _) => Err(Trouble::Stranger(format!("it answered {status} in another form"))),
        }
    }

    /// The body of an answer that is not in the envelope, tried a few times.
    pub fn raw(&self, path: &str) -> Result<Vec<u8>, Trouble> {
        tried(|| self.raw_once(path))
    }

    fn raw_once(&self, path: &str) -> Result<Vec<u8>, Trouble> {
        let mut response = self.send(Call::Get(path), Duration::ZERO)?;
        let after = header(&response, "retry-after").and_then(|seconds| seconds.parse().ok());
        let bytes = read(&mut response)?;
        if response.status().is_success() {
            return Ok(bytes);
        }
        match serde_json::from_slice::<Value>(&bytes) {
            Ok(mut body) if body["success"] == false && response.status() == 503 => {
                Err(Trouble::Busy(body["error"].take(), Duration::from_secs(after.unwrap_or(1))))
            }
            Ok(mut body) if body["success"] == false => Err(Trouble::Refused(body["error"].take())),
            _ => Err(Trouble::Stranger(format!("it answered {}", response.status()))),
        }
    }

    fn send(&self, call: Call<'_>, held: Duration) -> Result<Response<Body>, Trouble> {
        if self.proof.as_ref().is_some_and(|proven| !proven()) {
            return Err(Trouble::Unreachable("it does not run any more".to_owned()));
        }
        let answer = Some(held + self.answer);
        let bearer = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let headers = [("aw-via", Some(self.via)), ("authorization", bearer.as_deref())];
        let headers = headers.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let url = |path: &str| format!("{}{path}", self.base);
        let sent = match call {
            Call::Get(path) | Call::Delete(path) => {
                let mut request = match call {
                    Call::Delete(_) => self.agent.delete(url(path)),
                    Call::Get(_) | Call::Post(..) => self.agent.get(url(path)),
                };
                for (name, value) in headers {
                    request = request.header(name, value);
                }
                request.config().timeout_recv_response(answer).build().call()
            }
            Call::Post(path, body) => {
                let mut request = self.agent.post(url(path));
                for (name, value) in headers {
                    request = request.header(name, value);
                }
                let request = request.header("content-type", "application/json");
                let body = body.to_string();
                request.config().timeout_recv_response(answer).build().send(body.as_bytes())
            }
        };
        let response = sent.map_err(|error| Trouble::Unreachable(error.to_string()))?;
        let version = header(&response, "aw-version");
        *self.version.lock().unwrap_or_else(PoisonError::into_inner) = version;
        Ok(response)
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
    let debate: DebateId = debate.parse().ok()?;
    let target: Option<ArgumentId> = target.map(str::parse).transpose().ok()?;
    Some(RequestId::derived(debate, role, kind, target, content))
}

/// What comes of this, which is tried again when the server was not reached or is busy.
fn tried<T>(mut once: impl FnMut() -> Result<T, Trouble>) -> Result<T, Trouble> {
    let mut pause = PAUSE;
    for _ in 1..TRIES {
        match once() {
            Err(Trouble::Unreachable(_)) => thread::sleep(jittered(pause)),
            Err(Trouble::Busy(_, after)) => {
                thread::sleep(jittered(pause).max(after.min(LONGEST_PAUSE)));
            }
            answer => return answer,
        }
        pause *= 2;
    }
    once()
}

fn read(response: &mut Response<Body>) -> Result<Vec<u8>, Trouble> {
    response
        .body_mut()
        .with_config()
        .limit(LONGEST)
        .read_to_vec()
        .map_err(|error| Trouble::Unreachable(error.to_string()))
}

fn header(response: &Response<Body>, name: &str) -> Option<String> {
    response.headers().get(name)?.to_str().ok().map(str::to_owned)
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
