//! An HTTP client that costs as little as possible, because it shares the machine with the server.
//!
//! Requests are bytes; of an answer it reads only the length and searches for a few bytes.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use uuid::Uuid;

/// The text of every argument: one kilobyte.
pub fn kilobyte() -> String {
    "Much is said, and little of it matters to the one who must decide.".repeat(16)[..1024]
        .to_owned()
}

/// A persistent connection.
#[derive(Debug)]
pub struct LoadClient {
    stream: TcpStream,
    heard: Vec<u8>,
}

impl LoadClient {
    pub async fn to(address: SocketAddr) -> Self {
        let stream = loop {
            // The accept queue of the server may be full.
            match TcpStream::connect(address).await {
                Ok(stream) => break stream,
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        };
        stream.set_nodelay(true).unwrap();
        LoadClient { stream, heard: Vec::new() }
    }

    /// Sends a request and returns the body of its answer, which must be a success.
    pub async fn ask(&mut self, request: &[u8]) -> &[u8] {
        self.send(request).await;
        self.answer().await
    }

    pub async fn send(&mut self, request: &[u8]) {
        self.stream.write_all(request).await.unwrap();
    }

    /// The body of the next answer.
    pub async fn answer(&mut self) -> &[u8] {
        self.heard.clear();
        let (begins, ends) = loop {
            let read = self.stream.read_buf(&mut self.heard).await.unwrap();
            assert!(read > 0, "the server hung up: {}", String::from_utf8_lossy(&self.heard));
            if let Some(begins) = find(&self.heard, b"\r\n\r\n") {
                break (begins + 4, begins + 4 + length(&self.heard[..begins]));
            }
        };
        while self.heard.len() < ends {
            assert!(self.stream.read_buf(&mut self.heard).await.unwrap() > 0, "half an answer");
        }
        assert!(self.heard.starts_with(b"HTTP/1.1 2"), "{}", String::from_utf8_lossy(&self.heard));
        &self.heard[begins..ends]
    }
}

pub fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n").into_bytes()
}

pub fn post(path: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// The position of `what` in `text`.
pub fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

fn length(head: &[u8]) -> usize {
    let name = b"content-length: ";
    let place = find(head, name).expect("answers have a length") + name.len();
    let digits = head[place..].iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |length, digit| length * 10 + usize::from(digit - b'0'))
}

/// A debate whose sides take turns.
#[derive(Debug, Clone)]
pub struct LoadDebate {
    pub id: String,
    /// Its newest argument.
    pub newest: String,
    said: u64,
    words: String,
}

impl LoadDebate {
    pub async fn open(caller: &mut LoadClient) -> Self {
        Self::open_with(caller, kilobyte()).await
    }

    pub async fn open_with(caller: &mut LoadClient, words: String) -> Self {
        let mut debate =
            LoadDebate { id: Uuid::new_v4().to_string(), newest: String::new(), said: 0, words };
        let request = debate.opening();
        debate.heard(caller.ask(&request).await);
        debate
    }

    /// An existing debate, with its newest argument and its number of arguments.
    pub fn resumed(id: &str, newest: &str, said: u64) -> Self {
        LoadDebate { id: id.to_owned(), newest: newest.to_owned(), said, words: kilobyte() }
    }

    fn opening(&self) -> Vec<u8> {
        let (id, request, words) = (&self.id, Uuid::new_v4(), &self.words);
        let body = format!(
            r#"{{"debate_id":"{id}","title":"What does {id} cost?","debate_type":"general_debate","motion_content":"{words}","client_request_id":"{request}"}}"#
        );
        post("/debates", &body)
    }

    /// The next CLAIM.
    pub fn claim(&self) -> Vec<u8> {
        let LoadDebate { id, newest, words, .. } = self;
        let (role, request) = (self.next_role(), Uuid::new_v4());
        let body = format!(
            r#"{{"role":"{role}","target_id":"{newest}","content":"{words}","client_request_id":"{request}"}}"#
        );
        post(&format!("/debates/{id}/arguments"), &body)
    }

    /// The role of the next argument.
    pub fn next_role(&self) -> &'static str {
        if self.said.is_multiple_of(2) { "proposer" } else { "opponent" }
    }

    /// The role that waits for it.
    pub fn other_role(&self) -> &'static str {
        if self.said.is_multiple_of(2) { "opponent" } else { "proposer" }
    }

    /// Takes the answer to a write.
    pub fn heard(&mut self, answer: &[u8]) {
        let mark = br#""argument":{"id":""#;
        let place = find(answer, mark).expect("the argument that was written") + mark.len();
        self.newest = String::from_utf8(answer[place..place + 36].to_vec()).expect("an id");
        self.said += 1;
    }

    pub async fn goes_on(&mut self, caller: &mut LoadClient) {
        let request = self.claim();
        self.heard(caller.ask(&request).await);
    }

    /// A wait of the role that is not next.
    pub fn wait(&self, seconds: u64) -> Vec<u8> {
        let LoadDebate { id, newest, .. } = self;
        let role = self.other_role();
        get(&format!("/debates/{id}/wait?role={role}&argument_id={newest}&wait={seconds}"))
    }

    pub fn poll(&self) -> Vec<u8> {
        let LoadDebate { id, newest, .. } = self;
        let role = self.other_role();
        get(&format!("/debates/{id}/poll?role={role}&argument_id={newest}"))
    }

    pub fn context(&self, limit: u64) -> Vec<u8> {
        get(&format!("/debates/{}?limit={limit}", self.id))
    }
}

/// Opens many debates over a few connections.
pub async fn open_many(address: SocketAddr, count: usize) -> Vec<LoadDebate> {
    let lanes = 32.min(count);
    let lane = |lane: usize| async move {
        let mut caller = LoadClient::to(address).await;
        let mut opened = Vec::new();
        for _ in (lane..count).step_by(lanes) {
            opened.push(LoadDebate::open_with(&mut caller, "Shall we?".to_owned()).await);
        }
        opened
    };
    futures_util::future::join_all((0..lanes).map(lane)).await.concat()
}
