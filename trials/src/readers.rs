//! Readers that ask for the longest answers there are, many of them at once: whole debates, exports,
//! documents, diffs, pages, searches. One kind after the other, first at a server without tokens, then
//! with the token of an observer. Meanwhile others debate, whose submits must stay quick, and the
//! server's memory must stay below what docs/reliability.md says.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use aw_trials::line::Line;
use aw_trials::server::Server;
use aw_trials::talk::{Talk, new_id, text};
use futures_util::StreamExt;
use hyper::Method;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_tungstenite::connect_async_with_config;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use crate::Trial;
use crate::hostile::{Bounds, at, say};

/// How long an argument of the long debate is, in bytes: as long as a server takes.
const ARGUMENT: usize = 10_200;

/// What a reader asks for.
#[derive(Debug, Clone, Copy)]
enum Ask {
    /// `GET` this path, in which `{debate}`, `{ruled}` and `{document}` stand for ids.
    Get(&'static str),
    /// A search for so many letters.
    Search(&'static str, usize),
    /// A tool over `/mcp`.
    Tool(&'static str, fn(&Target) -> Value),
    /// A socket on the long debate, whose first message is read.
    Socket(&'static str),
    /// A document that is sent but for its last bytes.
    Upload,
}

/// All kinds, and how many readers of each there are.
const READERS: [(&str, usize, Ask); 22] = [
    ("whole debates", 60, Ask::Get("/debates/{debate}")),
    ("exports as HTML", 30, Ask::Get("/debates/{debate}/export?format=html")),
    ("exports as Markdown", 30, Ask::Get("/debates/{debate}/export?format=markdown")),
    ("exports as JSON", 30, Ask::Get("/debates/{debate}/export?format=json")),
    ("500 arguments", 60, Ask::Get("/debates/{debate}?limit=500")),
    ("every ruling", 60, Ask::Get("/debates/{ruled}?limit=1")),
    ("polls with every ruling unseen", 60, Ask::Get("/debates/{ruled}/poll?role=opponent")),
    ("polls with much unseen", 64, Ask::Get("/debates/{debate}/poll?role=opponent")),
    ("searches for 62,000 letters", 64, Ask::Search("/debates", 62_000)),
    ("searches for 200 letters", 64, Ask::Search("/debates", 200)),
    ("searches for 2 letters", 64, Ask::Search("/debates", 2)),
    ("searches of documents", 64, Ask::Search("/documents", 500)),
    ("lists of 500", 64, Ask::Get("/debates?limit=500")),
    ("documents", 16, Ask::Get("/documents/{document}")),
    ("diffs", 16, Ask::Get("/documents/{document}/diff")),
    ("pages of a debate", 30, Ask::Get("/debate/{debate}")),
    ("pages of a document", 16, Ask::Get("/doc/{document}")),
    ("pages of a diff", 16, Ask::Get("/doc/{document}?from=1&to=2")),
    ("sockets", 30, Ask::Socket("")),
    ("sockets with HTML", 30, Ask::Socket("&html=1")),
    ("tools that read 100 arguments", 16, Ask::Tool("debate_get_context", context)),
    ("half a document each", 60, Ask::Upload),
];

fn context(target: &Target) -> Value {
    json!({"debate_id": target.debate, "limit": 100})
}

/// What readers know and share.
struct Target {
    address: SocketAddr,
    token: Option<String>,
    debate: String,
    /// A debate in which every second argument is a RULING.
    ruled: String,
    document: String,
    answered: AtomicU64,
    busy: AtomicU64,
    cut_off: AtomicU64,
    bytes: AtomicU64,
}

impl Target {
    fn line(&self) -> Line {
        Line::to(self.address).with(self.token.clone())
    }

    fn path(&self, form: &str) -> String {
        form.replace("{debate}", &self.debate)
            .replace("{ruled}", &self.ruled)
            .replace("{document}", &self.document)
    }

    fn counts(&self) -> [u64; 4] {
        [&self.answered, &self.busy, &self.cut_off, &self.bytes]
            .map(|count| count.swap(0, Ordering::Relaxed))
    }
}

/// Tries each kind of reader; the worst of them, in a line.
pub async fn run(trial: &Trial, bounds: &Bounds) -> String {
    let mut worst = (Duration::ZERO, 0);
    for with_tokens in [false, true] {
        let home = tempfile::tempdir().unwrap();
        let server = Server::start_as(&trial.binary, home.path(), |mut command| {
            if with_tokens {
                command.env("AW_AUTH", "required");
            }
            command
        });
        let own = with_tokens.then(|| admin_token(home.path()));
        let target = prepare(trial, server.address, own.clone()).await;
        let who = if with_tokens { "with one observer's token" } else { "without tokens" };
        for (what, many, ask) in READERS {
            if trial.only.as_ref().is_some_and(|only| !what.contains(only)) {
                continue;
            }
            let (p99, memory) =
                besiege(trial, bounds, &server, &target, own.as_ref(), (what, many, ask), who)
                    .await;
            worst = (worst.0.max(p99), worst.1.max(memory));
        }
        assert_eq!(server.stop().code(), Some(0));
    }
    format!(
        "{} kinds of readers, without tokens and with: p99 of a submit at worst {:.1} ms (at most {}), \
         memory at most {} MB (at most {})",
        READERS.len(),
        worst.0.as_secs_f64() * 1e3,
        bounds.slow.as_millis(),
        worst.1 >> 20,
        bounds.memory >> 20,
    )
}

/// One kind of reader for a while: the p99 of a submit, and the most memory. A machine that does much
/// besides may hold up anybody once, so a short try counts when it fails three times.
async fn besiege(
    trial: &Trial,
    bounds: &Bounds,
    server: &Server,
    target: &Arc<Target>,
    own: Option<&String>,
    (what, many, ask): (&str, usize, Ask),
    who: &str,
) -> (Duration, u64) {
    let tries = if trial.long { 1 } else { 3 };
    for tried in 1..=tries {
        let before = server.memory();
        let (times, memory) = try_once(trial, server, target, own, (many, ask)).await;
        let (p50, p99) = (at(&times, 0.5), at(&times, 0.99));
        let [answered, busy, cut_off, bytes] = target.counts();
        println!(
            "  {many} × {what}, {who}: {answered} answers ({} MB), {busy} busy, {cut_off} cut off; \
             {} submits: p50 {:.1} ms, p99 {:.1} ms (at most {}); memory {} MB before, at most {} MB \
             (at most {})",
            bytes >> 20,
            times.len(),
            p50.as_secs_f64() * 1e3,
            p99.as_secs_f64() * 1e3,
            bounds.slow.as_millis(),
            before >> 20,
            memory >> 20,
            bounds.memory >> 20,
        );
        if trial.measure || (p99 < bounds.slow && memory < bounds.memory) {
            return (p99, memory);
        }
        assert!(memory < bounds.memory, "{what}, {who}: memory grew to {} MB", memory >> 20);
        assert!(tried < tries, "{what}, {who}: the p99 of a submit is {p99:?}");
    }
    unreachable!("the last try passes or ends the trial")
}

/// How long each submit took meanwhile, and the most memory.
async fn try_once(
    trial: &Trial,
    server: &Server,
    target: &Arc<Target>,
    own: Option<&String>,
    (many, ask): (usize, Ask),
) -> (Vec<Duration>, u64) {
    let lasts = trial.times.map_or(Duration::from_millis(600), Duration::from_secs);
    let until = Instant::now() + if trial.long { trial.seconds(10, 10) } else { lasts };
    // On threads of their own, so that readers in this process do not slow them down.
    let debaters: Vec<_> = (0..2)
        .map(|_| {
            let (address, own) = (server.address, own.cloned());
            std::thread::spawn(move || submits(address, own, until))
        })
        .collect();
    let mut readers = JoinSet::new();
    for _ in 0..many {
        readers.spawn(read(ask, target.clone(), until));
    }
    let mut memory = 0;
    while Instant::now() < until || !debaters.iter().all(std::thread::JoinHandle::is_finished) {
        memory = memory.max(server.memory());
        sleep(Duration::from_millis(5)).await;
    }
    let mut times = Vec::new();
    for debater in debaters {
        times.extend(debater.join().expect("debaters debate"));
    }
    readers.shutdown().await;
    (times, memory)
}

/// Debates until then; how long each submit took.
fn submits(server: SocketAddr, token: Option<String>, until: Instant) -> Vec<Duration> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // One token may be used a hundred times a second.
    let pause = Duration::from_millis(if token.is_some() { 25 } else { 5 });
    runtime.block_on(async {
        let (mut line, mut talk) = (Line::to(server).with(token), Talk::new(u64::MAX, 500));
        let mut times = Vec::new();
        while Instant::now() < until {
            let began = Instant::now();
            say(&mut line, &mut talk).await;
            times.push(began.elapsed());
            sleep(pause).await;
        }
        times
    })
}

async fn read(ask: Ask, target: Arc<Target>, until: Instant) {
    let mut line = target.line();
    while Instant::now() < until {
        let outcome = match ask {
            Ask::Get(form) => line.drain(Method::GET, &target.path(form), None).await.ok(),
            Ask::Search(path, letters) => {
                let path = format!("{path}?limit=5&q={}", "a".repeat(letters));
                line.drain(Method::GET, &path, None).await.ok()
            }
            Ask::Tool(tool, arguments) => {
                let params = json!({"name": tool, "arguments": arguments(&target)});
                let call =
                    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
                line.drain(Method::POST, "/mcp", Some(&call)).await.ok()
            }
            Ask::Socket(form) => socket(&target, form).await,
            Ask::Upload => upload(&target, until).await,
        };
        let count = match outcome {
            Some((status, length)) => {
                target.bytes.fetch_add(length as u64, Ordering::Relaxed);
                if status == 503 { &target.busy } else { &target.answered }
            }
            None => &target.cut_off,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// Opens a socket on the long debate and reads its first message.
async fn socket(target: &Target, form: &str) -> Option<(hyper::StatusCode, usize)> {
    let url = format!("ws://{}/ws?debate_id={}{form}", target.address, target.debate);
    let mut request = url.into_client_request().ok()?;
    if let Some(token) = &target.token {
        request.headers_mut().insert("authorization", format!("Bearer {token}").parse().ok()?);
    }
    let most = Some(1 << 30);
    let config = WebSocketConfig::default().max_message_size(most).max_frame_size(most);
    let (mut socket, answer) = connect_async_with_config(request, Some(config), true).await.ok()?;
    let first = socket.next().await?.ok()?;
    if first.is_close() {
        return Some((hyper::StatusCode::SERVICE_UNAVAILABLE, 0));
    }
    Some((answer.status(), first.len()))
}

/// Sends most of a document, and no more.
async fn upload(target: &Target, until: Instant) -> Option<(hyper::StatusCode, usize)> {
    let mut stream = TcpStream::connect(target.address).await.ok()?;
    let token = target.token.as_ref().map(|token| format!("authorization: Bearer {token}\r\n"));
    let head = format!(
        "POST /documents HTTP/1.1\r\nhost: {}\r\n{}content-type: application/json\r\n\
         content-length: 30000000\r\n\r\n{{\"content\":\"",
        target.address,
        token.unwrap_or_default(),
    );
    stream.write_all(head.as_bytes()).await.ok()?;
    let piece = [b'x'; 65536];
    for _ in 0..450 {
        stream.write_all(&piece).await.ok()?;
    }
    sleep(until.saturating_duration_since(Instant::now())).await;
    None
}

/// A long debate, one with many rulings, many titles to search, and a document in two long versions.
async fn prepare(trial: &Trial, address: SocketAddr, own: Option<String>) -> Arc<Target> {
    let mut line = Line::to(address).with(own.clone());
    let wait = own.is_some().then_some(Duration::from_millis(11));
    let arguments = if trial.long || trial.measure { 2_560 } else { 400 };
    let mut long = Talk::new(u64::MAX, ARGUMENT - 60);
    for _ in 0..arguments {
        say(&mut line, &mut long).await;
        pause(wait).await;
    }
    let mut ruled = Talk::new(u64::MAX, ARGUMENT - 60);
    for number in 0..arguments / 4 {
        if number > 0 {
            let base = format!("/debates/{}", ruled.debate);
            let why = json!({"content": "Stop."});
            line.post(&format!("{base}/intervention"), &why).await.unwrap().data();
            let ruling = json!({"content": "Go on as you think best. ".repeat(400)});
            line.post(&format!("{base}/ruling"), &ruling).await.unwrap().data();
            pause(wait.map(|wait| wait * 2)).await;
            continue;
        }
        say(&mut line, &mut ruled).await;
    }
    for _ in 0..300 {
        let opening = json!({
            "debate_id": new_id(), "title": "a".repeat(200), "debate_type": "general_debate",
            "motion_content": "Motion.", "client_request_id": new_id(),
        });
        line.post("/debates", &opening).await.unwrap().data();
        pause(wait).await;
    }
    let version = |number: usize| {
        let lines = (0..110_000).map(|line| {
            let word = if line % 7 == 0 { number } else { 0 };
            format!("Step {line}: do what {word} says, and then rest.\n")
        });
        json!({"summary": "a".repeat(500), "content": lines.collect::<String>()})
    };
    let kept = line.post("/documents", &version(1)).await.unwrap().data();
    let document = text(&kept["document_id"]);
    line.post(&format!("/documents/{document}/versions"), &version(2)).await.unwrap().data();
    let token = match own {
        Some(_) => {
            let seat = json!({"role": "observer", "name": "reader"});
            Some(text(&line.post("/tokens", &seat).await.unwrap().data()["token"]))
        }
        None => None,
    };
    Arc::new(Target {
        address,
        token,
        debate: long.debate.clone(),
        ruled: ruled.debate.clone(),
        document,
        answered: AtomicU64::new(0),
        busy: AtomicU64::new(0),
        cut_off: AtomicU64::new(0),
        bytes: AtomicU64::new(0),
    })
}

/// Stays below what one token may ask for.
async fn pause(wait: Option<Duration>) {
    if let Some(wait) = wait {
        sleep(wait).await;
    }
}

/// The token of whoever runs the server.
fn admin_token(home: &Path) -> String {
    std::fs::read_to_string(home.join("admin_token")).unwrap().trim().to_owned()
}
