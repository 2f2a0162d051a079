//! Tokens never appear in logs, the database, process lists or the output of commands.
//!
//! Real processes play a whole debate at log level `trace`. Then every byte that they left is searched for
//! every secret.

use std::collections::BTreeSet;
use std::fs;
use std::mem;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::{Value, json};

use super::forged_tokens::code_in;
use crate::loops::machine::{AtLast, Going, Machine, Ran, until};
use crate::world::page_client::{PageClient, Remote};
use crate::world::{new_id, text};

/// Secrets of the story, by what they are.
#[derive(Default)]
struct Secrets(Vec<(&'static str, String)>);

impl Secrets {
    fn keep(&mut self, what: &'static str, secret: &str) -> String {
        assert!(secret.len() > 20, "{what} {secret:?} is no secret");
        self.0.push((what, secret.to_owned()));
        secret.to_owned()
    }

    /// Those that can be found in these bytes, in whatever way they are written.
    fn found_in(&self, bytes: &[u8]) -> Vec<&'static str> {
        let is_in = |needle: &[u8]| {
            needle.len() >= 16 && bytes.windows(needle.len()).any(|some| some == needle)
        };
        let mut found = Vec::new();
        for (what, secret) in &self.0 {
            let bare = secret.strip_prefix("aw_").unwrap_or(secret);
            let raw: Option<Vec<u8>> = (0..bare.len() / 2)
                .map(|at| u8::from_str_radix(bare.get(2 * at..2 * at + 2)?, 16).ok())
                .collect();
            let spellings = [
                bare.as_bytes().to_vec(),
                bare.to_uppercase().into_bytes(),
                STANDARD.encode(secret).trim_end_matches('=').as_bytes().to_vec(),
                format!("{:?}", secret.as_bytes()).into_bytes(),
                raw.unwrap_or_default(),
            ];
            // Half of one is too much as well.
            let half = bare.len() / 2;
            let halves = [&bare[..half], &bare[half..]].map(|half| half.as_bytes().to_vec());
            if spellings.iter().chain(&halves).any(|needle| is_in(needle)) {
                found.push(*what);
            }
        }
        found
    }
}

/// Reads what every process of the machine was started with, again and again.
struct Watch {
    ended: &'static AtomicBool,
    seen: Arc<Mutex<BTreeSet<Vec<u8>>>>,
    watching: JoinHandle<()>,
}

impl Watch {
    fn begin() -> Self {
        let ended: &'static AtomicBool = Box::leak(Box::default());
        let seen = Arc::<Mutex<BTreeSet<Vec<u8>>>>::default();
        let noted = Arc::clone(&seen);
        let watching = thread::spawn(move || {
            while !ended.load(Ordering::SeqCst) {
                for entry in fs::read_dir("/proc").unwrap().flatten() {
                    noted.lock().unwrap().extend(fs::read(entry.path().join("cmdline")));
                }
                thread::sleep(Duration::from_millis(1));
            }
        });
        Watch { ended, seen, watching }
    }

    fn has_seen(&self, word: &str) -> bool {
        let seen = self.seen.lock().unwrap();
        seen.iter().any(|cmdline| String::from_utf8_lossy(cmdline).contains(word))
    }

    fn end(self) -> BTreeSet<Vec<u8>> {
        self.ended.store(true, Ordering::SeqCst);
        self.watching.join().unwrap();
        mem::take(&mut self.seen.lock().unwrap())
    }
}

/// The output of commands that must not show a token.
#[derive(Default)]
struct Printed(String);

impl Printed {
    fn note(&mut self, ran: Ran) -> Ran {
        self.0 += &ran.out;
        self.0 += &ran.err;
        ran
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_file_log_output_or_process_list_contains_a_secret() {
    let (mut secrets, mut printed) = (Secrets::default(), Printed::default());
    let shared = secrets.keep("the shared token", &format!("shared-{}", new_id()));
    let machine = Machine::fresh().with("AW_AUTH", "required").with("AW_LOG", "trace");
    let opener = machine.path("bin").join("xdg-open");
    // A browser that stays until it is seen.
    fs::write(
        &opener,
        "#!/bin/sh\nprintf '%s\\n' \"$@\" >> \"$HOME/opened\"\nwhile [ ! -e \"$HOME/seen\" ]; do sleep 0.05; done\n",
    )
    .unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
    let watch = Watch::begin();
    let _ended = AtLast(watch.ended);

    let mut start = machine.command(&["server", "start"]);
    start.env("AW_AUTH_TOKEN", &shared);
    printed.note(Going::start(start).end()).data();
    let admin = fs::read_to_string(machine.data().join("admin_token")).unwrap();
    let admin = secrets.keep("the administrator's token", admin.trim());

    // A new token is shown once.
    let (debate, motion) = machine.debate();
    let made = machine.aw(&["token", "create", "--role", "arbitrator", "--expires", "1d"]).data();
    let arbitrator = secrets.keep("a token", &text(&made["token"]));
    let invite = ["debate", "invite", "--debate-id", &debate, "--role", "opponent"];
    let invited = machine.aw(&invite).data();
    let opponent = secrets.keep("the token of an invitation", &text(&invited["token"]));
    let opened = machine.aw(&["debate", "open", "--debate-id", &debate]).data();
    let link = text(&opened["url"]);
    secrets.keep("the code of a link", &code_in(&link));
    until("the server and the browser are seen", || {
        ["serve", "/links/"].iter().all(|word| watch.has_seen(word))
    });
    fs::write(machine.path("home").join("seen"), "").unwrap();

    // The invited agent plays, by command and over MCP.
    let agent = |arguments: &[&str]| {
        let mut command = machine.command(arguments);
        command.env("DEBATE_AUTH_TOKEN", &opponent).env("DEBATE_SERVER_URL", machine.url());
        Going::start(command)
    };
    let said = ["--role", "opponent", "--target-id", &motion, "--content", "No."];
    let submit = [&["debate", "submit", "--debate-id", &debate], &said[..]].concat();
    printed.note(agent(&submit).end()).data();
    let waits = ["debate", "wait", "--debate-id", &debate, "--role", "opponent", "--deadline", "1"];
    printed.note(agent(&waits).end()).data();
    printed.note(agent(&["token", "list"]).end()).refused("FORBIDDEN", 6);
    let wrong = ["debate", "intervention", "--debate-id", &debate];
    printed.note(agent(&wrong).end()).refused("FORBIDDEN", 6);
    for ordinary in [
        &["token", "list"][..],
        &["token", "list", "--format", "markdown"],
        &["server", "status"],
        &["server", "logs"],
        &["doctor"],
        &["debate", "export", "--debate-id", &debate, "--format", "json"],
        &["debate", "list", "--verbose"],
    ] {
        printed.note(machine.aw(ordinary));
    }

    let server = Remote::at(&machine.url());
    by_browser(&server, &mut secrets, &arbitrator, &link, &debate).await;
    by_mistake(&server, &mut secrets, &opponent, &debate).await;
    over_mcp(&server, &opponent, &debate).await;
    held_and_revoked(&server, &mut secrets, &admin, &debate).await;
    let metrics = server.request(Method::GET, "/metrics").bearer_auth(&shared);
    printed.0 += &metrics.send().await.unwrap().text().await.unwrap();

    // While the server runs there is more than it leaves behind.
    for file in files(&machine.data()) {
        assert_is_clean(&secrets, &file);
    }
    printed.note(machine.aw(&["server", "stop"])).data();
    let cmdlines = watch.end();

    let left = files(&machine.path(""));
    for file in &left {
        assert_is_clean(&secrets, file);
    }
    assert_eq!(secrets.found_in(printed.0.as_bytes()), [""; 0], "printed");
    for cmdline in &cmdlines {
        let typed = String::from_utf8_lossy(cmdline);
        assert_eq!(secrets.found_in(cmdline), [""; 0], "{typed}");
    }
    let opened = fs::read_to_string(machine.path("home").join("opened")).unwrap();
    assert!(opened.contains("/links/"), "the browser is given a file: {opened}");

    // What was to be found is found, so it was looked for in the right places.
    let log = fs::read_to_string(machine.data().join("logs/server.log")).unwrap();
    assert!(log.contains("TRACE") || log.contains("\"level\":\"DEBUG\""), "{log}");
    assert!(log.contains(&format!("/debates/{debate}/arguments")), "every request is in the log");
    assert!(log.contains("/sign-in/link") && log.contains("/mcp"), "of pages and tools too");
    let mut known = Secrets::default();
    known.keep("the debate", &debate.replace('-', ""));
    let database = fs::read(machine.data().join("db/debate.db")).unwrap();
    assert_eq!(known.found_in(&database), ["the debate"], "as bytes, too");
}

/// Signing in by a token and by a link, looking around, ruling, signing out.
async fn by_browser(server: &Remote, secrets: &mut Secrets, token: &str, link: &str, debate: &str) {
    let mut browser = PageClient::open(server, "/sign-in").await;
    browser.signs_in(token).await;
    secrets.keep("a session", &browser.session().unwrap());
    let page = format!("/debate/{debate}");
    assert_eq!(browser.visits(&page).send().await.unwrap().status(), 200);
    let form = [("content", "Stop."), ("request", &new_id())];
    let stopped = browser.fills_in(&format!("{page}/stop"), &form).send().await.unwrap();
    assert_eq!(stopped.status(), 303);
    let left = browser.fills_in("/sign-out", &[]).send().await.unwrap();
    assert_eq!(left.status(), 303);

    let mut other = PageClient::open(server, "/sign-in").await;
    let path = link.split_once("/sign-in").unwrap().1;
    let path = format!("/sign-in{path}");
    // Somebody looks at it before the browser does.
    assert_eq!(other.visits(&path).send().await.unwrap().status(), 200);
    let session = other.comes_by(&path).await.expect("it is good once");
    secrets.keep("the session of a link", &session);
    other.wears(&session);
    assert_eq!(other.comes_by(&path).await, None);
    assert_eq!(other.visits("/").send().await.unwrap().status(), 200);
    // A browser may send the page before as its referer.
    let visit = other.visits("/").header("referer", format!("{link}#x"));
    assert_eq!(visit.send().await.unwrap().status(), 200);
    let wrong = PageClient::open(server, "/sign-in").await;
    let typed = secrets.keep("a mistyped token", &format!("{token}x"));
    assert_eq!(wrong.pastes(&typed).await, None);
}

/// What people send to places where it does not belong.
async fn by_mistake(server: &Remote, secrets: &mut Secrets, token: &str, debate: &str) {
    let wrong = secrets.keep("a wrong token", &format!("aw_{}", "5ca1ab1e".repeat(8)));
    let get = |path: &str| server.request(Method::GET, path);
    for request in [
        get("/debates").bearer_auth(&wrong),
        get(&format!("/debates?token={token}")),
        get(&format!("/ws?debate_id={debate}&access_token={token}")),
        get(&format!("/nowhere?token={token}")),
        get("/debates").header("x-api-key", token),
        get("/debates").header("cookie", format!("aw_session={token}")),
        get("/debates").header("authorization", format!("Basic {}", STANDARD.encode(token))),
        get("/debates").bearer_auth(token).header("host", "evil.test"),
        server
            .request(Method::POST, &format!("/debates/{debate}/ruling"))
            .json(&json!({"content": "x", "token": token})),
        server.request(Method::POST, "/tokens").bearer_auth(token).body("{broken"),
        server.request(Method::POST, "/tokens").bearer_auth(token).json(&json!({"role": "judge"})),
    ] {
        let refused = request.send().await.unwrap();
        assert!(refused.status().is_client_error(), "{}", refused.status());
        let body = refused.text().await.unwrap();
        assert!(!body.contains(token) && !body.contains(&wrong), "{body}");
    }
}

/// An agent with tools instead of a shell.
async fn over_mcp(server: &Remote, token: &str, debate: &str) {
    for (method, params) in [
        ("tools/list", json!({})),
        ("tools/call", json!({"name": "debate_get_context", "arguments": {"debate_id": debate}})),
        ("tools/call", json!({"name": "debate_create", "arguments": {}})),
        ("resources/list", json!({})),
    ] {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let request = server
            .request(Method::POST, "/mcp")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2025-11-25")
            .bearer_auth(token)
            .json(&call);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200, "{method}");
        assert!(!response.text().await.unwrap().contains(token), "{method}");
    }
}

/// A token that is taken back while its owner waits.
async fn held_and_revoked(server: &Remote, secrets: &mut Secrets, admin: &str, debate: &str) {
    let asked = json!({"role": "proposer", "debate_id": debate});
    let request = server.request(Method::POST, "/tokens").bearer_auth(admin).json(&asked);
    let made: Value = request.send().await.unwrap().json().await.unwrap();
    let token = secrets.keep("a revoked token", &text(&made["data"]["token"]));
    let path = format!("/debates/{debate}/wait?role=proposer&wait=1");
    let waiting = server.request(Method::GET, &path).bearer_auth(&token).send();
    let path = format!("/tokens/{}", text(&made["data"]["token_id"]));
    let revoking = server.request(Method::DELETE, &path).bearer_auth(admin).send();
    let (_, revoked) = tokio::join!(waiting, revoking);
    assert_eq!(revoked.unwrap().status(), 200);
    let gone = server.request(Method::GET, "/debates").bearer_auth(&token);
    assert_eq!(gone.send().await.unwrap().status(), 401);
}

/// Every file below this folder, links aside.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(files(&entry.path()));
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
    found
}

/// The administrator's token has a file of its own, and so has a link that was opened.
#[track_caller]
fn assert_is_clean(secrets: &Secrets, file: &Path) {
    // A file may go while the server runs.
    let Ok(bytes) = fs::read(file) else { return };
    let mut found = secrets.found_in(&bytes);
    let own = match file.parent().and_then(Path::file_name).and_then(|name| name.to_str()) {
        Some("links") => "the code of a link",
        _ if file.ends_with(".aweave/admin_token") => "the administrator's token",
        _ => "",
    };
    found.retain(|what| *what != own);
    assert_eq!(found, [""; 0], "in {}", file.display());
}
