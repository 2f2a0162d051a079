//! Fake programs on the network: silent programs, servers with scripted answers, broken proxies.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::world::{free_listener, new_id};

/// A program on a port that records its requests.
pub struct Fake {
    pub address: String,
    heard: Arc<Mutex<Vec<String>>>,
    over: Arc<AtomicBool>,
}

impl Fake {
    /// Answers the n-th request, counted from 0, with these bytes; with none it hangs up.
    pub fn answering(answer: impl Fn(usize, &str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::at(free_listener(), answer)
    }

    /// Answers on a listener that exists already.
    pub fn at(
        listener: TcpListener,
        answer: impl Fn(usize, &str) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        Self::on(listener, move |number, request, mut stream| {
            // The other side may be gone.
            let _ = stream.write_all(&answer(number, request));
            let _ = stream.shutdown(Shutdown::Both);
        })
    }

    /// Accepts connections and never answers.
    pub fn silent() -> Self {
        let kept = Mutex::new(Vec::new());
        Self::on(free_listener(), move |_, _, stream| kept.lock().unwrap().push(stream))
    }

    /// Sends these bytes and then nothing more, without hanging up.
    pub fn stopping_after(bytes: &[u8]) -> Self {
        let (bytes, kept) = (bytes.to_vec(), Mutex::new(Vec::new()));
        Self::on(free_listener(), move |_, _, mut stream| {
            // The other side may be gone.
            let _ = stream.write_all(&bytes);
            kept.lock().unwrap().push(stream);
        })
    }

    fn on(
        listener: TcpListener,
        reply: impl Fn(usize, &str, TcpStream) + Send + Sync + 'static,
    ) -> Self {
        let address = listener.local_addr().unwrap().to_string();
        let (heard, over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (all, reply) = (heard.clone(), Arc::new(reply));
        let ended = over.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(mut stream), all, reply) = (stream, all.clone(), reply.clone()) else {
                    return;
                };
                thread::spawn(move || {
                    let request = request(&mut stream);
                    if request.is_empty() {
                        return;
                    }
                    let number = {
                        let mut all = all.lock().unwrap();
                        all.push(request.clone());
                        all.len() - 1
                    };
                    reply(number, &request, stream);
                });
            }
        });
        Fake { address, heard, over }
    }

    /// Passes requests on to this server, but hangs up instead of passing back its first answers.
    pub fn cutting(first: usize, server: &str) -> Self {
        Self::between(server, move |number| (number < first).then(Vec::new))
    }

    /// Passes requests on to this server, and replaces the answer to the n-th, counted from 0. The server
    /// still receives that request.
    pub fn between(
        server: &str,
        instead: impl Fn(usize) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> Self {
        let server = server.to_owned();
        Self::answering(move |number, request| {
            let mut behind = TcpStream::connect(&server).unwrap();
            let once = request.replacen("\r\n", "\r\nconnection: close\r\n", 1);
            behind.write_all(once.as_bytes()).unwrap();
            let mut answer = Vec::new();
            behind.read_to_end(&mut answer).unwrap();
            instead(number).unwrap_or(answer)
        })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far.
    pub fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // It ends when it is called once more.
        let _ = TcpStream::connect(&self.address);
    }
}

/// An answer in our envelope with these headers.
pub fn envelope(status: &str, headers: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n{headers}\r\n{body}"
    )
    .into_bytes()
}

/// An answer of a proxy that cannot reach its server.
pub fn proxys(status: &str, headers: &str) -> Vec<u8> {
    let body = "<html><body><h1>Service unavailable</h1></body></html>";
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {length}\r\n\
         connection: close\r\n{headers}\r\n{body}"
    )
    .into_bytes()
}

/// One request with its body, or whatever came before the other side stopped.
fn request(stream: &mut TcpStream) -> String {
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.trim().parse().unwrap()) {
                return text;
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return text,
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
        }
    }
}

/// An argument, whole.
pub fn argument() -> Value {
    json!({
        "id": new_id(), "debate_id": new_id(), "parent_id": null, "type": "MOTION",
        "role": "proposer", "author": null, "content": "Yes.", "client_request_id": new_id(),
        "seq": 1, "parked": false, "close": null, "automatic": false, "via": "cli", "seat": null,
        "hash": "0".repeat(64), "created_at": "2026-11-16T12:00:00.000Z",
    })
}
