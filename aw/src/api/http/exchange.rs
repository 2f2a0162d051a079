//! One request and its whole answer, within a time limit.

use std::io::{self, Read};
use std::net::IpAddr;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use serde::de::IgnoredAny;
use serde_json::{Value, json};
use ureq::http::{Response, Uri};
use ureq::{Body, Error, RequestBuilder, Timeout};

use super::super::error::Code;
use super::{Call, Client, Envelope, Lost, Method, Trouble, refused};

/// How long a server may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// Bytes a second at which an answer must arrive to go on beyond the time limit.
const SLOWEST: f64 = 64.0 * 1024.0;

/// How much longer than the time limit an answer may take, however quickly it arrives.
const LONGEST_EXTENSION: Duration = Duration::from_secs(600);

/// The longest pause that a server can ask for. A hostile server asks for centuries, which no clock
/// can add.
const LONGEST_PAUSE: Duration = Duration::from_secs(3_600);

/// A longer body is sent only after the server has agreed to take it.
const ASKED: usize = 64 * 1024;

/// The longest transcript that is read, which goes to a file as it is.
pub(super) const LONGEST_RAW: u64 = 1 << 30;

/// The longest answer in JSON that is read. Lists have at most 500 rows, and the longest answer of our
/// server has a document of 5 MiB, which JSON makes up to six times as long.
pub(super) const LONGEST_JSON: u64 = 64 << 20;

/// The most values in an answer in JSON. A value takes up to a hundred times its two bytes of JSON.
const MOST_VALUES: usize = 1_000_000;

/// An answer, read whole.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
    retry_after: Option<Duration>,
}

impl Reply {
    /// The document that this answer is, or the failure.
    pub(super) fn document(self) -> Result<Value, Trouble> {
        if !(200..300).contains(&self.status) {
            return self.data();
        }
        check_values(&self.body)?;
        serde_json::from_slice(&self.body).map_err(|error| Trouble::Unreadable(error.to_string()))
    }

    /// The data in the envelope, or the failure that this answer is.
    pub(super) fn data(self) -> Result<Value, Trouble> {
        let Reply { status, retry_after, body } = self;
        check_values(&body)?;
        let envelope = serde_json::from_slice::<Envelope>(&body).ok();
        Err(match (envelope, status) {
            (Some(Envelope { success: true, data, .. }), _) => return Ok(data),
            (Some(Envelope { error, .. }), 503) => {
                let pause = retry_after.unwrap_or(Duration::from_secs(1));
                Trouble::Busy(Box::new(error.into()), pause)
            }
            (Some(Envelope { error, .. }), _) => refused(error),
            // A proxy accepts shorter bodies than the server behind it.
            (None, 413) => refused(json!({
                "code": Code::ContentTooLarge,
                "message": "a proxy in front of the server refuses a request of this length",
                "suggestion": "Shorten the text, or ask the operator of the proxy to allow longer requests",
            })),
            // A proxy answers this for the server behind it, for instance during a restart.
            (None, 502..=504) => Trouble::Unreachable(Lost {
                why: format!("a proxy in front of it answered {status}"),
                timed_out: false,
                proxy: Some(retry_after.unwrap_or_default()),
            }),
            (None, _) if serde_json::from_slice::<IgnoredAny>(&body).is_ok() => {
                Trouble::Stranger(format!("it answered {status} in another form"))
            }
            (None, _) => Trouble::Stranger(format!("it answered {status} and not in JSON")),
        })
    }
}

impl Client {
    /// Sends the request and reads the whole answer, which may be this long if it is no failure.
    pub(super) fn exchange(
        &self,
        call: &Call,
        ends: Instant,
        longest: u64,
    ) -> Result<Reply, Trouble> {
        let lost = |why: String| {
            let timed_out = Instant::now() >= ends;
            Trouble::Unreachable(Lost { why, timed_out, proxy: None })
        };
        if self.proof.as_ref().is_some_and(|proven| !proven()) {
            return Err(lost("it does not run any more".to_owned()));
        }
        let began = Instant::now();
        let left = ends.saturating_duration_since(began);
        if left.is_zero() {
            return Err(lost("there was no time left".to_owned()));
        }
        let failed = |error: Error| match error {
            Error::Timeout(_) => {
                lost(format!("it did not answer within {} s", left.as_secs_f64().round()))
            }
            Error::Io(error) => lost(error.to_string()),
            Error::BodyExceedsLimit(bytes) => {
                Trouble::Unreadable(format!("it is longer than {} MiB", bytes >> 20))
            }
            error => lost(error.to_string()),
        };
        let mut response = self.send(call, left).map_err(failed)?;
        let header = |name: &str| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        *self.version.lock().unwrap_or_else(PoisonError::into_inner) = header("aw-version");
        let seconds = header("retry-after").and_then(|seconds| seconds.parse().ok());
        let retry_after = seconds.map(|seconds| Duration::from_secs(seconds).min(LONGEST_PAUSE));
        let longest = if response.status().is_success() { longest } else { LONGEST_JSON };
        let body = read(&mut response, ends, longest).map_err(|error| failed(error.into()))?;
        let status = response.status().as_u16();
        Ok(Reply { status, body, retry_after })
    }

    fn send(&self, call: &Call, left: Duration) -> Result<Response<Body>, Error> {
        let url = format!("{}{}", self.base, call.path);
        match call.method {
            Method::Get => self.prepared(self.agent.get(url), left).call(),
            Method::Delete => self.prepared(self.agent.delete(url), left).call(),
            Method::Post | Method::Put => {
                let body = call.body.as_ref().map(|body| body.json()).unwrap_or_default();
                let is_put = call.method == Method::Put;
                let request = if is_put { self.agent.put(url) } else { self.agent.post(url) };
                let request = self.prepared(request, left);
                let request = request.header("content-type", "application/json");
                // The server refuses a body that is too long before any of it is sent.
                let asking = body.len() > ASKED;
                let request =
                    if asking { request.header("expect", "100-continue") } else { request };
                request.send(body.as_bytes())
            }
        }
    }

    /// The request with its headers and time limits.
    fn prepared<Any>(&self, request: RequestBuilder<Any>, left: Duration) -> RequestBuilder<Any> {
        let request = request.header("aw-via", self.via);
        let request = match &self.token {
            Some(token) => request.header("authorization", format!("Bearer {token}")),
            None => request,
        };
        // One limit for each part instead of one for all: that would cut off a long answer, and would
        // start a thread that looks up the name, also for 127.0.0.1.
        request
            .config()
            .timeout_resolve(self.named_host.then_some(left))
            .timeout_connect(Some(left.min(CONNECT)))
            .timeout_send_request(Some(left))
            .timeout_send_body(Some(left))
            .timeout_recv_response(Some(left))
            .timeout_per_read(Some(left))
            .build()
    }
}

/// Reads the body, which may take longer than the time limit only while it makes progress.
fn read(response: &mut Response<Body>, ends: Instant, longest: u64) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    let mut reader = response.body_mut().with_config().limit(longest).reader();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        match reader.read(&mut chunk)? {
            0 => return Ok(body),
            read => body.extend_from_slice(&chunk[..read]),
        }
        if Instant::now() > ends + extension(body.len()) {
            return Err(Error::Timeout(Timeout::RecvBody).into_io());
        }
    }
}

/// Refuses JSON with too many values, which would fill the memory.
fn check_values(json: &[u8]) -> Result<(), Trouble> {
    // A value begins after each of these, or is the first.
    let begins = |byte: &&u8| matches!(byte, b',' | b'[' | b'{');
    let (mut is_text, mut is_escaped) = (false, false);
    let outside = json.iter().filter(|byte| {
        let was_text = is_text;
        is_text = match **byte {
            b'"' if !is_escaped => !is_text,
            _ => is_text,
        };
        is_escaped = was_text && **byte == b'\\' && !is_escaped;
        !was_text
    });
    if outside.filter(begins).nth(MOST_VALUES).is_some() {
        return Err(Trouble::Unreadable(format!("it has more than {MOST_VALUES} values")));
    }
    Ok(())
}

/// How much longer than the time limit an answer may take of which so many bytes have arrived.
fn extension(bytes: usize) -> Duration {
    Duration::from_secs_f64(bytes as f64 / SLOWEST).min(LONGEST_EXTENSION)
}

/// Whether the host of this URL is an IP address.
pub(super) fn has_address(base: &str) -> bool {
    let host = base.parse::<Uri>().ok().and_then(|url| url.host().map(str::to_owned));
    host.is_some_and(|host| host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok())
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;
    use std::thread;

    use super::super::Request;
    use super::*;

    /// A client of a server that answers with a body in pieces of this size, one every 100 ms.
    fn piecewise(piece: usize, pieces: usize) -> Client {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = Client::new(&format!("http://{}", listener.local_addr().unwrap()), None);
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            // A socket that is closed with unread bytes drops what it has not sent yet.
            let _ = std::io::Read::read(&mut stream, &mut [0; 4096]);
            let length = piece * pieces;
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
            let mut sent = stream.write_all(head.as_bytes());
            for _ in 0..pieces {
                if sent.is_err() {
                    return;
                }
                thread::sleep(Duration::from_millis(100));
                sent = stream.write_all(&vec![b'x'; piece]);
            }
        });
        client
    }

    #[test]
    fn a_long_answer_that_makes_progress_may_take_longer_than_the_limit() {
        let ends = Instant::now() + Duration::from_secs(2);
        let body =
            piecewise(64 * 1024, 30).raw_until(Request::<Value>::get("/").call(), ends).unwrap();
        assert_eq!(body.len(), 30 * 64 * 1024);
        assert!(Instant::now() > ends);
    }

    #[test]
    fn an_answer_that_drips_ends_with_the_limit() {
        let ends = Instant::now() + Duration::from_secs(2);
        let trouble =
            piecewise(1, 1_000).raw_until(Request::<Value>::get("/").call(), ends).unwrap_err();
        assert!(matches!(trouble, Trouble::Unreachable(lost) if lost.timed_out));
        assert!(Instant::now() < ends + Duration::from_secs(20));
    }

    #[test]
    fn an_answer_without_end_ends_ten_minutes_after_the_limit() {
        assert_eq!(extension(128 * 1024), Duration::from_secs(2));
        assert_eq!(extension(LONGEST_RAW as usize), LONGEST_EXTENSION);
    }

    #[test]
    fn an_answer_that_would_fill_the_memory_is_refused() {
        let answer = |data: &str| {
            let body = format!(r#"{{"success": true, "data": {data}}}"#).into_bytes();
            Reply { status: 200, body, retry_after: None }
        };
        let many = format!("[{}0]", "0,".repeat(MOST_VALUES));
        let Err(Trouble::Unreadable(why)) = answer(&many).data() else { panic!("it was read") };
        assert!(why.contains("1000000 values"), "{why}");
        assert!(matches!(answer(&many).document(), Err(Trouble::Unreadable(_))));
        let text = format!(r#""{}\\\"[,""#, "[,{".repeat(MOST_VALUES));
        assert!(answer(&text).data().is_ok(), "a text is one value");

        let long = piecewise((LONGEST_JSON >> 4) as usize + 1, 16);
        let ends = Instant::now() + Duration::from_secs(20);
        let refused = long.data_once(&Request::<Value>::get("/").call, ends).unwrap_err();
        assert!(
            matches!(&refused, Trouble::Unreadable(why) if why.contains("64 MiB")),
            "{refused:?}"
        );
    }

    #[test]
    fn the_address_of_a_server_is_not_looked_up() {
        for base in ["http://127.0.0.1:3456", "http://[::1]:3456", "https://10.0.0.1/aw"] {
            assert!(has_address(base), "{base}");
        }
        for base in ["http://localhost:3456", "https://aw.example.org"] {
            assert!(!has_address(base), "{base}");
        }
    }
}
