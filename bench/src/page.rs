//! The page of a long debate: the server's time, the bytes sent, and when it is readable in a real
//! browser; and how soon that shows a new argument.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use aw_trials::server::Server;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use uuid::Uuid;

use crate::Bench;
use crate::caller::{LoadClient, LoadDebate, get, post};
use crate::figures::{Figures, Promise};
use crate::samples::Samples;

pub async fn measure(bench: &Bench, figures: &mut Figures) {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(bench.aw(), home.path());
    let mut caller = LoadClient::to(server.address).await;
    let mut browser = Browser::start().await;
    let mut curves = [Vec::new(), Vec::new()];
    for arguments in [10, 500, 2_000] {
        let mut debate = LoadDebate::open(&mut caller).await;
        for _ in 1..arguments {
            debate.goes_on(&mut caller).await;
        }
        let path = format!("/debate/{}", debate.id);
        let request = page(&path);
        let (mut drawn, mut bytes) = (Samples::default(), 0);
        for _ in 0..bench.times(10, 40) {
            let began = Instant::now();
            bytes = caller.ask(&request).await.len();
            drawn.took(began.elapsed());
        }
        let promise =
            |most| if arguments == 2_000 { Promise::AtMost(most) } else { Promise::Recorded };
        let name = format!("page of {arguments} arguments of 1 kB");
        figures.alone(format!("{name}: server"), "ms", drawn.median(), promise(100.0));
        figures.alone(format!("{name}: sent"), "kB", bytes as f64 / 1e3, Promise::Recorded);
        curves[0].push((arguments as f64, drawn.median()));
        let Some(browser) = &mut browser else { continue };
        let mut readable = Samples::default();
        for _ in 0..bench.times(3, 11) {
            readable.add(browser.readable(&format!("http://{}{path}", server.address)).await);
        }
        let name = format!("{name}: readable in Chromium");
        figures.alone(name, "ms", readable.median(), promise(1_000.0));
        curves[1].push((arguments as f64, readable.median()));
    }
    if let Some(browser) = &mut browser {
        let mut debate = LoadDebate::open(&mut caller).await;
        browser.opens(&format!("http://{}/debate/{}", server.address, debate.id)).await;
        // The first one comes by the socket for certain once it is on the screen.
        browser.watches(2).await;
        debate.goes_on(&mut caller).await;
        browser.painted().await;
        let mut shown = Samples::default();
        for seq in 3..3 + bench.times(20, 100) as u64 {
            browser.watches(seq).await;
            // From before the commit, so the figure is an upper bound.
            let sent = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            debate.goes_on(&mut caller).await;
            shown.add(browser.painted().await - sent.as_secs_f64() * 1e3);
        }
        let name = "new argument: on the screen in Chromium";
        figures.alone(name, "ms", shown.median(), Promise::AtMost(50.0));
    }
    let path = format!("/debate/{}", of_points(&mut caller).await);
    let (request, mut drawn) = (page(&path), Samples::default());
    for _ in 0..bench.times(10, 40) {
        let began = Instant::now();
        caller.ask(&request).await;
        drawn.took(began.elapsed());
    }
    let name = "page of 200 points";
    figures.alone(format!("{name}: server"), "ms", drawn.median(), Promise::Recorded);
    if let Some(browser) = &mut browser {
        let mut readable = Samples::default();
        for _ in 0..bench.times(3, 11) {
            readable.add(browser.readable(&format!("http://{}{path}", server.address)).await);
        }
        let name = format!("{name}: readable in Chromium");
        figures.alone(name, "ms", readable.median(), Promise::AtMost(1_000.0));
    }
    let [drawn, readable] = curves;
    figures.curve("page", "the server, ms", drawn);
    if browser.is_some() {
        figures.curve("page", "readable in Chromium, ms", readable);
    }
}

/// Opens a debate with the most points that one may have, and returns its id.
async fn of_points(caller: &mut LoadClient) -> String {
    let id = Uuid::new_v4().to_string();
    let motion = "We keep all of it in one file.";
    let opening = json!({
        "debate_id": id, "title": "What do points cost?", "debate_type": "general_debate",
        "motion_content": motion, "points": {"rounds": 20}, "client_request_id": Uuid::new_v4(),
    });
    let mut debate = LoadDebate::resumed(&id, "", 0);
    debate.heard(caller.ask(&post("/debates", &opening.to_string())).await);
    let mut raised = 0;
    while raised < 200 {
        let points = (raised..200).take(12).map(|number| {
            format!("### NEW [critical] What of case {number}?\n> {motion}\n\nIt is left out.\n")
        });
        let points: Vec<String> = points.collect();
        raised += points.len();
        for words in [points.concat(), "We keep it.".to_owned()] {
            let claim = json!({
                "role": debate.next_role(), "target_id": debate.newest, "content": words,
                "client_request_id": Uuid::new_v4(),
            });
            let path = format!("/debates/{id}/arguments");
            debate.heard(caller.ask(&post(&path, &claim.to_string())).await);
        }
    }
    id
}

/// A request of a browser, without compression.
fn page(path: &str) -> Vec<u8> {
    let plain = String::from_utf8(get(path)).expect("text");
    plain.replacen("\r\n\r\n", "\r\naccept: text/html\r\n\r\n", 1).into_bytes()
}

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A browser with one page, driven over its DevTools protocol.
struct Browser {
    child: Child,
    socket: Socket,
    session: String,
    asked: u64,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// `None` if Chromium is not installed.
    async fn start() -> Option<Self> {
        if !Bench::finds("chromium") {
            eprintln!("  (no chromium: scripts/browser installs it)");
            return None;
        }
        let profile = tempfile::tempdir().unwrap();
        let child = Command::new("chromium")
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args(["--disable-background-networking", "--disable-component-update"])
            .args(["--disable-sync", "--no-first-run", "--remote-debugging-port=0"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .env("HOME", profile.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let address = address(&profile.path().join("DevToolsActivePort")).await;
        let (socket, _) = connect_async(address).await.unwrap();
        let mut browser =
            Browser { child, socket, session: String::new(), asked: 0, _profile: profile };
        let blank = json!({"url": "about:blank"});
        let target = browser.call("Target.createTarget", blank).await["targetId"].take();
        let attach = json!({"targetId": target, "flatten": true});
        let session = browser.call("Target.attachToTarget", attach).await["sessionId"].take();
        browser.session = session.as_str().expect("a session").to_owned();
        browser.call("Page.enable", json!({})).await;
        Some(browser)
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let mut message = json!({"id": self.asked, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = self.session.as_str().into();
        }
        self.socket.send(Message::text(message.to_string())).await.unwrap();
        loop {
            let message = self.socket.next().await.expect("the browser stays").unwrap();
            let mut reply: Value = serde_json::from_slice(&message.into_data()).unwrap_or_default();
            if reply["id"] == self.asked {
                assert!(reply["error"].is_null(), "{method}: {reply}");
                return reply["result"].take();
            }
        }
    }

    async fn eval(&mut self, code: &str) -> Value {
        let asked = json!({"expression": code, "awaitPromise": true, "returnByValue": true});
        self.call("Runtime.evaluate", asked).await["result"]["value"].take()
    }

    /// Opens a debate and waits until its script runs.
    async fn opens(&mut self, url: &str) {
        self.call("Page.navigate", json!({"url": url})).await;
        while self.eval("Boolean(document.querySelector('#debate[data-ready]'))").await != true {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Begins to watch for this argument.
    async fn watches(&mut self, seq: u64) {
        let code = format!(
            "window.painted = new Promise(done => {{
                const look = (_, watcher) => {{
                    if (!document.getElementById('a-{seq}')) return;
                    watcher?.disconnect();
                    // After the next frame.
                    requestAnimationFrame(() => setTimeout(() => done(performance.timeOrigin + performance.now())));
                }};
                new MutationObserver(look).observe(document.getElementById('arguments'), {{childList: true}});
            }}); true"
        );
        assert_eq!(self.eval(&code).await, true);
    }

    /// The time at which the watched argument was painted, in milliseconds since 1970.
    async fn painted(&mut self) -> f64 {
        self.eval("window.painted").await.as_f64().expect("a time")
    }

    /// Milliseconds from the navigation until the document is loaded and the first content is painted.
    async fn readable(&mut self, url: &str) -> f64 {
        self.call("Page.navigate", json!({"url": url})).await;
        let painted = "(() => {
            const navigation = performance.getEntriesByType('navigation')[0];
            const paint = performance.getEntriesByName('first-contentful-paint')[0];
            const there = document.querySelectorAll('article').length;
            return location.href !== 'about:blank' && paint && there
                && navigation.domContentLoadedEventEnd > 0
                ? Math.max(paint.startTime, navigation.domContentLoadedEventEnd) : 0;
        })()";
        for _ in 0..500 {
            let evaluated = self.call("Runtime.evaluate", json!({"expression": painted})).await;
            if let Some(ms) = evaluated["result"]["value"].as_f64().filter(|ms| *ms > 0.0) {
                self.call("Page.navigate", json!({"url": "about:blank"})).await;
                return ms;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("{url} was not painted in ten seconds");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The address of the browser's DevTools, once it has written it.
async fn address(file: &Path) -> String {
    for _ in 0..1_000 {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        if let Some((port, path)) = text.trim().split_once('\n') {
            return format!("ws://127.0.0.1:{port}{path}");
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the browser did not start");
}
