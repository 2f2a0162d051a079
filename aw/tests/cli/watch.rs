//! Notifications: `aw debate watch`, desktop notifications and the webhook.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use hmac::{Hmac, KeyInit, Mac};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;
use sha2::Sha256;

use super::aw::Aw;
use crate::loops::machine::until;
use crate::world::{CEILING, text};

/// A debate in which the proposer can appeal, and its newest argument.
fn claimed(aw: &Aw, title: &str) -> (String, String) {
    let title = format!("--title={title}");
    let create = ["debate", "create", &title, "--type", "general_debate", "--content", "Yes."];
    let created = aw.quietly(&create).data();
    let (debate, motion) = (text(&created["debate_id"]), text(&created["argument_id"]));
    let submit =
        ["debate", "submit", "--debate-id", &debate, "--role", "opponent", "--target-id", &motion];
    let claim = aw.quietly(&[&submit[..], &["--content", "No."]].concat()).argument();
    (debate, claim)
}

fn appeal(aw: &Aw, debate: &str, claim: &str) {
    let typed = [
        "debate",
        "appeal",
        "--debate-id",
        debate,
        "--target-id",
        claim,
        "--content",
        "Who is right?",
    ];
    aw.quietly(&typed).ok();
}

fn close(aw: &Aw, debate: &str) {
    aw.quietly(&["debate", "ruling", "--debate-id", debate, "--close", "--content", "Yes."]).ok();
}

#[test]
fn in_a_pipe_each_change_is_a_json_object() {
    let aw = Aw::new();
    let (owed, claim) = claimed(&aw, "Owed before");
    appeal(&aw, &owed, &claim);
    let mut watch = aw.spawn(&[], &["debate", "watch"]);
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let first = next();
    assert_eq!(
        (&first["event"], &first["title"]),
        (&"needs_arbitrator".into(), &"Owed before".into())
    );
    close(&aw, &owed);
    let closed = next();
    assert_eq!((&closed["event"], &closed["outcome"]), (&"closed".into(), &"ruled".into()));
    assert_eq!(closed["debate_id"], *owed);
    assert_eq!(closed["argument"]["type"], "RULING");
    assert!(text(&closed["url"]).ends_with(&owed));
    watch.kill().unwrap();
    watch.wait().unwrap();
}

#[test]
fn a_terminal_rings_when_a_ruling_is_needed() {
    let aw = Aw::new();
    let (debate, claim) = claimed(&aw, "Ring me");
    let mut script = aw.settled("script");
    script.env("TERM", "xterm").args([
        "-qec",
        "stty rows 50 cols 80; aw debate watch",
        "/dev/null",
    ]);
    script.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut watch = script.spawn().unwrap();
    let mut out = watch.stdout.take().unwrap();
    let mut shown = Vec::new();
    let mut until_shown = |what: &[u8]| {
        let mut byte = [0];
        while !shown.windows(what.len()).any(|some| some == what) {
            assert_eq!(out.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&shown));
            shown.extend(byte);
        }
        String::from_utf8_lossy(&shown).into_owned()
    };
    assert!(!until_shown(b"Ctrl-C ends it").contains('\u{7}'));
    appeal(&aw, &debate, &claim);
    let rung = until_shown(b"waiting for a ruling");
    assert!(rung.contains('\u{7}'), "{rung:?}");
    watch.kill().unwrap();
    watch.wait().unwrap();
}

/// A program that takes requests: it answers the first with 503, and all others with 200.
fn receiver() -> (String, Receiver<(String, String)>) {
    let (port, heard) = receiver_over(Ok);
    (format!("http://127.0.0.1:{port}/hook?key=s3cret"), heard)
}

/// The same over any kind of stream. A connection that does not become such a stream is dropped.
fn receiver_over<S: Read + Write>(
    accept: impl Fn(TcpStream) -> io::Result<S> + Send + 'static,
) -> (u16, Receiver<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tell, heard) = channel();
    thread::spawn(move || {
        let mut statuses = ["503 Away"].into_iter();
        for stream in listener.incoming() {
            let Ok(stream) = accept(stream.unwrap()) else { continue };
            let mut stream = BufReader::new(stream);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                stream.read_line(&mut head).unwrap();
            }
            let length = head.lines().find_map(|line| {
                line.to_lowercase().strip_prefix("content-length: ").map(|it| it.parse().unwrap())
            });
            let mut body = vec![0; length.unwrap()];
            stream.read_exact(&mut body).unwrap();
            let status = statuses.next().unwrap_or("200 OK");
            let answer =
                format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            stream.get_mut().write_all(answer.as_bytes()).unwrap();
            if tell.send((head, String::from_utf8(body).unwrap())).is_err() {
                return;
            }
        }
    });
    (port, heard)
}

/// Issues a certificate of this name in this folder with openssl.
fn issue(folder: &Path, name: &str, more: &str) {
    let line = format!(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
         -subj /CN={name} -keyout {name}.key -out {name}.pem {more}"
    );
    let ran = Command::new("sh").args(["-c", &line]).current_dir(folder).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// What a TLS server shows, with a certificate for `localhost` that the authority of this folder issued.
fn shown_to_clients(folder: &Path) -> Arc<ServerConfig> {
    issue(folder, "authority", "");
    issue(
        folder,
        "receiver",
        "-CA authority.pem -CAkey authority.key -addext subjectAltName=DNS:localhost \
         -addext basicConstraints=critical,CA:false",
    );
    let chain = CertificateDer::pem_file_iter(folder.join("receiver.pem")).unwrap();
    let chain: Vec<_> = chain.map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(folder.join("receiver.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Arc::new(config.unwrap().with_no_client_auth().with_single_cert(chain, key).unwrap())
}

/// Does the handshake of TLS as the server.
fn over_tls(
    config: &Arc<ServerConfig>,
    stream: TcpStream,
) -> io::Result<StreamOwned<ServerConnection, TcpStream>> {
    let connection = ServerConnection::new(config.clone()).unwrap();
    let mut stream = StreamOwned::new(connection, stream);
    stream.flush()?;
    Ok(stream)
}

/// The signature that belongs to a body.
fn signed(secret: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body.as_bytes());
    let digits: String =
        mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("x-aw-signature: sha256={digits}\r\n")
}

#[test]
fn a_webhook_hears_over_tls_from_an_authority_of_ones_own() {
    let aw = Aw::new();
    let folder = tempfile::tempdir().unwrap();
    let config = shown_to_clients(folder.path());
    let (port, heard) = receiver_over(move |stream| over_tls(&config, stream));
    let secret = "a secret of some length";
    aw.config(&format!(
        "[notify]\nwebhook = 'https://localhost:{port}/hook?key=s3cret'\nsecret = '{secret}'\n\
         authorities = '{}'\n",
        folder.path().join("authority.pem").display()
    ));
    let (debate, claim) = claimed(&aw, "T");
    appeal(&aw, &debate, &claim);
    let (head, body) = heard.recv_timeout(CEILING).unwrap();
    assert!(head.starts_with("POST /hook?key=s3cret "), "{head}");
    assert!(head.to_lowercase().contains(&signed(secret, &body)), "{head}");
    let (again, same) = heard.recv_timeout(CEILING).unwrap();
    assert_eq!(same, body, "it was away, so it hears the same again");
    assert!(again.to_lowercase().contains(&signed(secret, &body)), "{again}");
    close(&aw, &debate);
    let news: Value = serde_json::from_str(&heard.recv_timeout(CEILING).unwrap().1).unwrap();
    assert_eq!((&news["event"], &news["debate_id"]), (&"closed".into(), &debate.as_str().into()));
}

#[test]
fn a_certificate_that_is_not_trusted_hears_nothing_and_is_logged() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("authority.pem");
    let config = shown_to_clients(folder.path());
    issue(folder.path(), "other", "");
    let other = folder.path().join("other.pem");
    for (host, authorities, why) in [
        ("localhost", None, "UnknownIssuer"),
        ("localhost", Some(&other), "UnknownIssuer"),
        ("127.0.0.1", Some(&own), "not valid for name"),
    ] {
        let aw = Aw::new();
        let config = config.clone();
        let (port, heard) = receiver_over(move |stream| over_tls(&config, stream));
        let authorities = authorities.map(|file| format!("authorities = '{}'\n", file.display()));
        aw.config(&format!(
            "[notify]\nwebhook = 'https://{host}:{port}/s3cret'\n{}",
            authorities.unwrap_or_default()
        ));
        let (debate, claim) = claimed(&aw, "T");
        appeal(&aw, &debate, &claim);
        let log = || fs::read_to_string(aw.home().join("logs/server.log")).unwrap();
        until("the log says so", || log().contains("the webhook refused news"));
        assert!(log().contains(why), "{}", log());
        assert!(!log().contains("s3cret"), "{}", log());
        assert!(heard.try_recv().is_err(), "nothing was sent");
    }
}

#[test]
fn a_webhook_hears_of_a_debate_that_needs_a_ruling_and_of_one_that_is_closed() {
    let aw = Aw::new();
    let (url, heard) = receiver();
    let secret = "a secret of some length";
    aw.config(&format!("[notify]\nwebhook = '{url}'\nsecret = '{secret}'\ntopic = 'debates'\n"));
    let (debate, claim) = claimed(&aw, "Is <!channel> & \"all\" so?");
    appeal(&aw, &debate, &claim);
    let (head, body) = heard.recv_timeout(CEILING).unwrap();
    assert!(head.starts_with("POST /hook?key=s3cret "), "{head}");
    assert!(head.to_lowercase().contains(&signed(secret, &body)), "{head}");
    let news: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(news["event"], "needs_arbitrator");
    assert_eq!(news["topic"], "debates");
    assert_eq!(news["title"], "Your ruling is needed");
    assert_eq!(news["message"], "Is <!channel> & \"all\" so?");
    assert!(
        text(&news["text"])
            .starts_with("Your ruling is needed: Is &lt;!channel&gt; &amp; \"all\" so?")
    );
    assert_eq!(news["click"], format!("http://{}/debate/{debate}", aw.listen));
    assert_eq!(
        heard.recv_timeout(CEILING).unwrap().1,
        body,
        "it was away, so it hears the same again"
    );
    close(&aw, &debate);
    let news: Value = serde_json::from_str(&heard.recv_timeout(CEILING).unwrap().1).unwrap();
    assert_eq!((&news["event"], &news["outcome"]), (&"closed".into(), &"ruled".into()));
    // The URL is a secret too.
    let log = fs::read_to_string(aw.home().join("logs/server.log")).unwrap();
    assert!(!log.contains("s3cret"), "{log}");
}

#[test]
fn a_receiver_that_does_not_answer_holds_nobody() {
    let aw = Aw::new();
    // Nobody accepts its connections.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    aw.config(&format!("[notify]\nwebhook = 'http://{}'\n", listener.local_addr().unwrap()));
    for _ in 0..3 {
        let (debate, claim) = claimed(&aw, "T");
        appeal(&aw, &debate, &claim);
        close(&aw, &debate);
    }
    aw.quietly(&["server", "stop"]).ok();
}

#[test]
fn a_desktop_shows_what_needs_you_and_obeys_no_text() {
    let aw = Aw::new();
    aw.program(
        "notify-send",
        "printf '%s\\n' \"$@\" > \"$HOME/told.new\" && mv \"$HOME/told.new\" \"$HOME/told\"",
    );
    aw.config("[notify]\ndesktop = true\n");
    let (debate, claim) = claimed(&aw, "--help <b>$(touch pwned)</b>");
    appeal(&aw, &debate, &claim);
    let told = aw.home().parent().unwrap().join("told");
    until("the desktop shows it", || told.exists());
    let told = fs::read_to_string(told).unwrap();
    let words =
        "--app-name=aw\n--\nYour ruling is needed\n--help &lt;b&gt;$(touch pwned)&lt;/b&gt;\n";
    assert_eq!(told, words);
    assert!(!aw.desk().join("pwned").exists());
}

#[test]
fn wrong_settings_of_notifications_say_what_to_write() {
    for (lines, said) in [
        ("webhook = 'http://example.org'", "write https://, or http:// and a loopback address"),
        ("desktop = 'yes'", "it must be true or false"),
        ("webhok = 'https://example.org'", "write webhook"),
        ("webhook = 'https://example.org'\nauthorities = '/no/ca.pem'", "/no/ca.pem: No such file"),
    ] {
        let aw = Aw::new();
        aw.config(&format!("[notify]\n{lines}\n"));
        let refused = aw.quietly(&["debate", "list"]).envelope();
        let message = text(&refused["error"]["message"]);
        assert!(message.contains(said), "{message}");
    }
}
