//! Many concurrent readers of the longest answers: whole debates, exports, documents, diffs, pages,
//! searches. One kind runs after the other, first on a server without tokens, then with an observer's
//! token. Meanwhile other clients debate: their submits must stay quick, and the server's memory below
//! the limit in docs/reliability.md.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use aw_trials::figures::Figures;
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

use crate::hostile::{Bounds, at, say};
use crate::{Trial, megabytes, milliseconds};

/// The length of an argument of the long debate in bytes: the most that a server accepts.
const ARGUMENT: usize = 10_200;

/// What a reader requests.
#[derive(Debug, Clone, Copy)]
enum ReaderKind {
    /// `GET` this path, in which `{debate}`, `{ruled}` and `{document}` stand for ids.
    Get(&'static str),
    /// A search for a text of this length.
    Search(&'static str, usize),
    /// A tool call over `/mcp`.
    Tool(&'static str, fn(&ReadTarget) -> Value),
    /// A socket on the long debate, whose first message is read.
    Socket(&'static str),
    /// A document that is sent without its last bytes.
    Upload,
}

/// All kinds, with the number of readers of each.
const READERS: [(&str, usize, ReaderKind); 22] = [
    ("whole debates", 60, ReaderKind::Get("/debates/{debate}")),
    ("exports as HTML", 30, ReaderKind::Get("/debates/{debate}/export?format=html")),
    ("exports as Markdown", 30, ReaderKind::Get("/debates/{debate}/export?format=markdown")),
    ("exports as JSON", 30, ReaderKind::Get("/debates/{debate}/export?format=json")),
    ("500 arguments", 60, ReaderKind::Get("/debates/{debate}?limit=500")),
    ("every ruling", 60, ReaderKind::Get("/debates/{ruled}?limit=1")),
    ("polls with every ruling unseen", 60, ReaderKind::Get("/debates/{ruled}/poll?role=opponent")),
    ("polls with much unseen", 64, ReaderKind::Get("/debates/{debate}/poll?role=opponent")),
    ("searches for 62,000 letters", 64, ReaderKind::Search("/debates", 62_000)),
    ("searches for 200 letters", 64, ReaderKind::Search("/debates", 200)),
    ("searches for 2 letters", 64, ReaderKind::Search("/debates", 2)),
    ("searches of documents", 64, ReaderKind::Search("/documents", 500)),
    ("lists of 500", 64, ReaderKind::Get("/debates?limit=500")),
    ("documents", 16, ReaderKind::Get("/documents/{document}")),
    ("diffs", 16, ReaderKind::Get("/documents/{document}/diff")),
    ("pages of a debate", 30, ReaderKind::Get("/debate/{debate}")),
    ("pages of a document", 16, ReaderKind::Get("/doc/{document}")),
    ("pages of a diff", 16, ReaderKind::Get("/doc/{document}?from=1&to=2")),
    ("sockets", 30, ReaderKind::Socket("")),
    ("sockets with HTML", 30, ReaderKind::Socket("&html=1")),
    ("tools that read 100 arguments", 16, ReaderKind::Tool("debate_get_context", context)),
    ("half a document each", 60, ReaderKind::Upload),
];

fn context(target: &ReadTarget) -> Value {
    json!({"debate_id": target.debate, "limit": 100})
}

/// The state that readers share.
struct ReadTarget {
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

impl ReadTarget {
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

/// Runs each kind of reader and returns the worst result.
pub async fn run(trial: &Trial, bounds: &Bounds) -> Figures {
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
    Figures::default()
        .count(READERS.len() as u64, "kinds of readers, without tokens and with")
        .peak(
            milliseconds(worst.0),
            &format!("ms p99 of a submit beside readers ({} allowed)", bounds.slow.as_millis()),
        )
        .peak(megabytes(worst.1), &format!("MB beside readers ({} allowed)", bounds.memory >> 20))
}

/// Runs one kind of reader; returns the p99 of a submit and the most memory. On a busy machine a short
/// try may fail by chance, so it fails only after three tries.
async fn besiege(
    trial: &Trial,
    bounds: &Bounds,
    server: &Server,
    target: &Arc<ReadTarget>,
    own: Option<&String>,
    (what, many, ask): (&str, usize, ReaderKind),
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

/// One try: the duration of each submit, and the most memory.
async fn try_once(
    trial: &Trial,
    server: &Server,
    target: &Arc<ReadTarget>,
    own: Option<&String>,
    (many, ask): (usize, ReaderKind),
) -> (Vec<Duration>, u64) {
    let lasts = trial.times.map_or(Duration::from_millis(600), Duration::from_secs);
    let until = Instant::now() + if trial.long { Duration::from_secs(10) } else { lasts };
    // On their own threads, so that readers in this process do not slow them down.
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

/// Debates until then; returns the duration of each submit.
fn submits(server: SocketAddr, token: Option<String>, until: Instant) -> Vec<Duration> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // The rate limit of a token is a hundred requests a second.
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

async fn read(ask: ReaderKind, target: Arc<ReadTarget>, until: Instant) {
    let mut line = target.line();
    while Instant::now() < until {
        let outcome = match ask {
            ReaderKind::Get(form) => line.drain(Method::GET, &target.path(form), None).await.ok(),
            ReaderKind::Search(path, letters) => {
                let path = format!("{path}?limit=5&q={}", "a".repeat(letters));
                line.drain(Method::GET, &path, None).await.ok()
            }
            ReaderKind::Tool(tool, arguments) => {
                let params = json!({"name": tool, "arguments": arguments(&target)});
                let call =
                    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
                line.drain(Method::POST, "/mcp", Some(&call)).await.ok()
            }
            ReaderKind::Socket(form) => socket(&target, form).await,
            ReaderKind::Upload => upload(&target, until).await,
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
async fn socket(target: &ReadTarget, form: &str) -> Option<(hyper::StatusCode, usize)> {
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

/// Sends most of a document and then waits.
async fn upload(target: &ReadTarget, until: Instant) -> Option<(hyper::StatusCode, usize)> {
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

/// Writes a long debate, one with many rulings, many titles, and a document in two long versions.
async fn prepare(trial: &Trial, address: SocketAddr, own: Option<String>) -> Arc<ReadTarget> {
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
    Arc::new(ReadTarget {
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

/// Stays below the rate limit of a token.
async fn pause(wait: Option<Duration>) {
    if let Some(wait) = wait {
        sleep(wait).await;
    }
}

/// The administrator's token.
fn admin_token(home: &Path) -> String {
    std::fs::read_to_string(home.join("admin_token")).unwrap().trim().to_owned()
}
