//! Limits of the server: a request over a limit is refused, and accepted once there is room.

use std::process::{Command, Stdio};

use aw::settings::{Guard, Limits};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::handshake::client::Request;

use super::{Holder, SHARED, held};
use crate::world::driver::{claim, opening};
use crate::world::{Answer, ServerProcess, World, eventually, in_time, new_id, text};

#[tokio::test]
async fn a_wait_over_the_limit_is_refused_and_can_be_retried() {
    let limits = Limits { held_waits: 3, ..Limits::default() };
    let world = World::with(Guard::default(), limits).await;
    let debate = world.debate("Room for three?").await;
    let path = format!("/debates/{}/wait?role=proposer", debate.id);
    let waiting: Vec<_> =
        (0..3).map(|_| tokio::spawn(Answer::to(world.request(Method::GET, &path)))).collect();
    eventually("three waits are held", async || held(&world).await.0 == 3).await;

    let busy = world.get(&path).await;
    assert_eq!(busy.headers["retry-after"], "1");
    let error = json!({
        "code": "SERVER_BUSY", "message": "too many held waits", "suggestion": "Try again in a second",
    });
    assert_eq!(busy.refused(503, "SERVER_BUSY"), error);
    // A poll is not held, so it is still answered.
    assert_eq!(debate.poll("proposer", None).await.ok()["has_new_argument"], false);

    waiting[0].abort();
    eventually("the one who left is forgotten", async || held(&world).await.0 == 2).await;
    let fourth = tokio::spawn(Answer::to(world.request(Method::GET, &path)));
    eventually("another is let in", async || held(&world).await.0 == 3).await;
    debate.claim("opponent", &debate.motion, "Yes.").await;
    for waiter in waiting.into_iter().skip(1).chain([fourth]) {
        let woken = in_time("everybody held is woken", waiter).await.unwrap().ok();
        assert_eq!(woken["action"], "respond");
    }
    assert_eq!(held(&world).await.0, 0);
}

#[tokio::test]
async fn a_socket_over_the_limit_is_refused_and_can_be_retried() {
    let limits = Limits { sockets: 2, ..Limits::default() };
    let world = World::with(Guard::default(), limits).await;
    let debate = world.debate("Room for two?").await;
    let url = format!("{}/ws?debate_id={}", world.url.replace("http", "ws"), debate.id);
    let (first, _) = connect_async(&url).await.unwrap();
    let (_second, _) = connect_async(&url).await.unwrap();

    let Err(Error::Http(busy)) = connect_async(&url).await else {
        panic!("a third socket was let in");
    };
    assert_eq!(busy.status(), 503);
    assert_eq!(busy.headers()["retry-after"], "1");
    let body: Value = serde_json::from_slice(busy.body().as_ref().unwrap()).unwrap();
    assert_eq!(body["error"]["code"], "SERVER_BUSY");

    drop(first);
    eventually("the one who left is forgotten", async || held(&world).await.1 == 1).await;
    connect_async(&url).await.unwrap();
}

#[tokio::test]
async fn a_connection_over_the_limit_is_refused_and_the_server_goes_on() {
    let limits = Limits { connections: 4, ..Limits::default() };
    let world = World::with(Guard::default(), limits).await;
    let mut open = Vec::new();
    for _ in 0..4 {
        let mut stream = connect(&world).await;
        let answer = ask(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        open.push(stream);
    }
    for _ in 0..20 {
        let mut stream = connect(&world).await;
        let request = b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
        // The server may have answered and closed already.
        let _ = stream.write_all(request).await;
        let mut answer = Vec::new();
        in_time("it is refused and closed", stream.read_to_end(&mut answer)).await.unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").expect("a whole answer");
        assert!(head.starts_with("HTTP/1.1 503"), "{head}");
        assert!(head.contains("retry-after: 1"), "{head}");
        assert!(head.contains(&format!("content-length: {}", body.len())), "{head}: {body:?}");
        let body: Value = serde_json::from_str(body).unwrap();
        let error = json!({
            "code": "SERVER_BUSY", "message": "too many open connections",
            "suggestion": "Try again in a second",
        });
        assert_eq!(body, json!({"success": false, "error": error}));
    }
    // Open connections are served, and an ordinary client can read the refusal.
    assert!(ask(&mut open[0]).await.starts_with("HTTP/1.1 200"));
    for _ in 0..20 {
        world.get("/health").await.refused(503, "SERVER_BUSY");
    }
    drop(open.pop());
    eventually("another is let in", async || world.get("/health").await.status.is_success()).await;
}

#[tokio::test]
async fn one_token_cannot_use_up_all_waits() {
    let limits = Limits { held_waits: 5, waits_per_token: 2, ..Limits::default() };
    let world = World::with(Guard::sharing(SHARED), limits).await;
    let shared = Holder::shared(&world);
    let body = opening("Room for others?");
    let motion = text(&shared.post("/debates", &body).await.created()["argument"]["id"]);
    let debate = text(&body["debate_id"]);
    let path = format!("/debates/{debate}/wait?role=proposer&argument_id={motion}");
    let amber = Holder::seated(&world, "proposer", "amber").await;
    let wait = |holder: &Holder<'_>| tokio::spawn(Answer::to(holder.request(Method::GET, &path)));
    let are_held = async |number| {
        eventually("so many waits are held", async || held(&world).await.0 == number).await;
    };

    let first = wait(&amber);
    let second = wait(&amber);
    are_held(2).await;
    let busy = amber.get(&path).await;
    assert_eq!(busy.headers["retry-after"], "1");
    assert_eq!(
        busy.refused(503, "SERVER_BUSY"),
        json!({
            "code": "SERVER_BUSY",
            "message": "too many held waits for the token \"amber\"; the limit is 2",
            "suggestion": "End one and try again in a second; the server's administrator can raise \
                AW_MAX_WAITS_PER_TOKEN",
        })
    );
    for _ in 0..20 {
        amber.get(&path).await.refused(503, "SERVER_BUSY");
    }
    // A poll is not held, and other tokens have their own share.
    amber.get(&format!("{path}&wait=0")).await.ok();
    let other = Holder::seated(&world, "proposer", "other").await;
    let others = [wait(&other), wait(&other), wait(&shared)];
    are_held(5).await;
    // Refused waits do not count.
    for holder in [&amber, &other, &shared] {
        holder.get(&path).await.refused(503, "SERVER_BUSY");
    }
    assert_eq!(held(&world).await.0, 5);

    first.abort();
    are_held(4).await;
    let third = wait(&amber);
    are_held(5).await;
    shared
        .post(&format!("/debates/{debate}/arguments"), &claim("opponent", &motion, "Yes."))
        .await
        .created();
    for waiter in [second, third].into_iter().chain(others) {
        in_time("everybody held is woken", waiter).await.unwrap().ok();
    }
    assert_eq!(held(&world).await.0, 0);

    // Answered and killed clients no longer count.
    let path = format!("/debates/{debate}/wait?role=opponent");
    let again = Holder::seated(&world, "opponent", "again").await;
    for _ in 0..3 {
        let mut killed: Vec<_> = (0..2).map(|_| waits_as_a_command(&again, &debate)).collect();
        are_held(2).await;
        again.get(&path).await.refused(503, "SERVER_BUSY");
        for child in &mut killed {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        are_held(0).await;
    }
}

/// `aw debate wait` in a process of its own.
fn waits_as_a_command(holder: &Holder<'_>, debate: &str) -> std::process::Child {
    Command::new(env!("CARGO_BIN_EXE_aw"))
        .args(["debate", "wait", "--debate-id", debate, "--role", "opponent"])
        .env_clear()
        .env("AWEAVE_HOME", holder.world.folder.path().join("nobody"))
        .env("DEBATE_SERVER_URL", &holder.world.url)
        .env("DEBATE_AUTH_TOKEN", &holder.token)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn one_token_cannot_use_up_all_sockets() {
    let limits = Limits { sockets: 4, sockets_per_token: 2, ..Limits::default() };
    let world = World::with(Guard::sharing(SHARED), limits).await;
    let shared = Holder::shared(&world);
    let body = opening("Room for others?");
    shared.post("/debates", &body).await.created();
    let of_debate = format!("/ws?debate_id={}", text(&body["debate_id"]));
    let amber = Holder::seated(&world, "observer", "amber").await;
    let other = Holder::seated(&world, "observer", "other").await;
    let are_open = async |number| {
        eventually("so many sockets are open", async || held(&world).await.1 == number).await;
    };
    // A handshake that fails, or whose client leaves at once, does not count.
    for _ in 0..20 {
        amber.get("/ws").await.refused(400, "INVALID_INPUT");
        leaves_at_once(&amber).await;
    }
    are_open(0).await;

    for _ in 0..3 {
        let (one, _) = connect_async(amber.socket("/ws")).await.unwrap();
        let (two, _) = connect_async(amber.socket(&of_debate)).await.unwrap();
        let busy = too_many(amber.socket("/ws")).await;
        assert_eq!(
            busy,
            json!({
                "code": "SERVER_BUSY",
                "message": "too many open sockets for the token \"amber\"; the limit is 2",
                "suggestion": "End one and try again in a second; the server's administrator can raise \
                    AW_MAX_SOCKETS_PER_TOKEN",
            })
        );
        too_many(amber.socket(&of_debate)).await;
        let (three, _) = connect_async(other.socket("/ws")).await.unwrap();
        let (four, _) = connect_async(shared.socket("/ws")).await.unwrap();
        let busy = too_many(other.socket("/ws")).await;
        assert_eq!(busy["message"], "too many open sockets");
        are_open(4).await;
        drop((one, two, three, four));
        are_open(0).await;
    }
}

/// What a socket is refused with.
async fn too_many(handshake: Request) -> Value {
    let Err(Error::Http(busy)) = connect_async(handshake).await else {
        panic!("a socket too many was let in");
    };
    assert_eq!(busy.status(), 503);
    assert_eq!(busy.headers()["retry-after"], "1");
    let mut body: Value = serde_json::from_slice(busy.body().as_ref().unwrap()).unwrap();
    assert_eq!(body["success"], false);
    body["error"].take()
}

/// Asks for a socket and is gone before it could open.
async fn leaves_at_once(holder: &Holder<'_>) {
    let mut stream = connect(holder.world).await;
    let handshake = format!(
        "GET /ws HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {}\r\n\
         connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
         sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        holder.token
    );
    stream.write_all(handshake.as_bytes()).await.unwrap();
}

#[tokio::test]
async fn a_debate_over_the_limit_is_refused_and_retries_still_work() {
    let world = World::with(Guard::default(), Limits { debates: 2, ..Limits::default() }).await;
    let (first, second, third) = (opening("First"), opening("Second"), opening("Third"));
    world.post("/debates", first.clone()).await.created();
    world.post("/debates", second.clone()).await.created();
    let before = world.written();
    assert_eq!(
        world.post("/debates", third.clone()).await.refused(507, "STORAGE_FULL"),
        json!({
            "code": "STORAGE_FULL",
            "message": "the server's limit on debates is reached: 2",
            "suggestion": "Delete what is no longer needed, or start the server with a higher \
                limit (AW_MAX_DEBATES, AW_MAX_DOCUMENTS); nothing was written",
        })
    );
    let again = world.post("/debates", first.clone()).await.ok();
    assert_eq!(again["debate"]["id"], first["debate_id"]);
    let mut others_id = opening("Other words");
    others_id["debate_id"] = first["debate_id"].clone();
    world.post("/debates", others_id).await.refused(400, "INVALID_INPUT");
    assert_eq!(world.written(), before);
    // Debates go on, and documents have room of their own.
    let motion = text(&again["argument"]["id"]);
    let arguments = format!("/debates/{}/arguments", text(&first["debate_id"]));
    world.post(&arguments, claim("opponent", &motion, "Yes.")).await.created();
    world.post("/documents", json!({"summary": "s", "content": "c"})).await.created();

    world.delete(&format!("/debates/{}", text(&second["debate_id"]))).await.ok();
    world.post("/debates", third.clone()).await.created();
    world.post("/debates", third).await.ok();
    world.post("/debates", opening("Fourth")).await.refused(507, "STORAGE_FULL");
}

#[tokio::test]
async fn a_document_over_the_limit_is_refused_and_retries_still_work() {
    let world = World::with(Guard::default(), Limits { documents: 1, ..Limits::default() }).await;
    let new =
        |words: &str| json!({"summary": words, "content": words, "client_request_id": new_id()});
    let (first, second) = (new("First"), new("Second"));
    let kept = world.post("/documents", first.clone()).await.created();
    let before = world.written();
    let full = world.post("/documents", second.clone()).await.refused(507, "STORAGE_FULL");
    assert_eq!(full["message"], "the server's limit on documents is reached: 1");
    let again = world.post("/documents", first).await.ok();
    assert_eq!(again["document_id"], kept["document_id"]);
    assert_eq!(world.written(), before);
    // Another version is not another document.
    let document = format!("/documents/{}", text(&kept["document_id"]));
    world.post(&format!("{document}/versions"), new("First, later")).await.created();
    world.delete(&document).await.ok();
    world.post("/documents", second).await.created();
}

#[tokio::test]
async fn a_server_with_limits_of_zero_still_reads() {
    let home = tempfile::tempdir().unwrap();
    let client = reqwest::Client::new();
    let post = |server: &ServerProcess, path: &str, body: &Value| {
        Answer::to(client.post(format!("{}{path}", server.url)).json(body))
    };
    let body = opening("Before");
    let mut server = ServerProcess::start(home.path());
    post(&server, "/debates", &body).await.created();
    server.kill();
    let full = |command: &mut Command| {
        command.env("AW_MAX_DEBATES", "0").env("AW_MAX_DOCUMENTS", "0");
    };
    let mut server = ServerProcess::start_with(home.path(), full);
    post(&server, "/debates", &opening("After")).await.refused(507, "STORAGE_FULL");
    let document = json!({"summary": "s", "content": "c"});
    post(&server, "/documents", &document).await.refused(507, "STORAGE_FULL");
    post(&server, "/debates", &body).await.ok();
    let there = Answer::to(client.get(format!("{}/debates", server.url))).await.ok();
    assert_eq!(there["total"], 1, "{there}");
    server.kill();
}

async fn connect(world: &World) -> TcpStream {
    TcpStream::connect(world.url.strip_prefix("http://").unwrap()).await.unwrap()
}

/// Asks for `/health` and reads the answer's beginning.
async fn ask(stream: &mut TcpStream) -> String {
    stream.write_all(b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n").await.unwrap();
    let mut answer = vec![0; 4096];
    let read = in_time("it is answered", stream.read(&mut answer)).await.unwrap();
    String::from_utf8_lossy(&answer[..read]).into_owned()
}

#[tokio::test]
async fn a_long_head_is_refused_before_it_ends() {
    let world = World::start().await;
    let head = |length: usize| {
        let cookies = "x".repeat(length);
        format!("GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\ncookie: {cookies}")
    };
    for (head, status) in [(head(15_000) + "\r\n\r\n", "200"), (head(16_384), "431")] {
        let mut stream = connect(&world).await;
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = [0; 12];
        in_time("it is answered", stream.read_exact(&mut answer)).await.unwrap();
        assert_eq!(answer, *format!("HTTP/1.1 {status}").as_bytes());
    }
}

/// Asks for this many times on one connection with these headers, and reads nothing of it.
async fn deaf(world: &World, path: &str, headers: &str) -> TcpStream {
    let address = world.url.strip_prefix("http://").unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(address.parse().unwrap()).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n{headers}\r\n");
    stream.write_all(request.repeat(4).as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn unread_responses_use_up_the_memory_budget_and_no_more() {
    let limits = Limits { long_answers: 6 << 20, ..Limits::default() };
    let world = World::with(Guard::default(), limits).await;
    let debate = world.debate("Who reads all this?").await;
    let body = json!({"summary": "Long", "content": "A long line of a plan. ".repeat(220_000)});
    let document = text(&world.post("/documents", body).await.created()["document_id"]);
    let path = format!("/documents/{document}");
    assert_eq!(world.get(&path).await.ok()["version"], 1);

    let stream = deaf(&world, &path, "").await;
    eventually("the room is taken", async || world.get(&path).await.status == 503).await;
    let busy = world.get(&path).await;
    assert_eq!(busy.headers["retry-after"], "1");
    busy.refused(503, "SERVER_BUSY");
    let page =
        world.request(Method::GET, &format!("/doc/{document}")).header("accept", "text/html");
    let page = page.send().await.unwrap();
    assert_eq!(page.status(), 503);
    assert!(page.text().await.unwrap().contains("<!doctype html>"), "a person is shown a page");
    // What agents live on goes on.
    let claimed = debate.claim("opponent", &debate.motion, "I do.").await;
    let polled = debate.poll("proposer", Some(&debate.motion)).await.ok();
    assert_eq!(polled["argument"]["id"], claimed["argument"]["id"]);

    drop(stream);
    eventually("the room is free again", async || world.get(&path).await.status == 200).await;
}

#[tokio::test]
async fn one_token_cannot_use_up_all_long_answers() {
    let world = World::with(Guard::sharing(SHARED), Limits::default()).await;
    let body = json!({"summary": "Long", "content": "A long line of a plan. ".repeat(220_000)});
    let document = Holder::shared(&world).post("/documents", &body).await.created();
    let path = format!("/documents/{}", text(&document["document_id"]));
    let amber = Holder::seated(&world, "observer", "amber").await;
    let other = Holder::seated(&world, "observer", "other").await;

    let bearer = format!("authorization: Bearer {}\r\n", amber.token);
    let mut streams = Vec::new();
    for _ in 0..16 {
        streams.push(deaf(&world, &path, &bearer).await);
    }
    eventually("amber's share is taken", async || amber.get(&path).await.status == 503).await;
    let busy = amber.get(&path).await.refused(503, "SERVER_BUSY");
    assert!(text(&busy["message"]).contains("this token"), "{busy}");
    for _ in 0..5 {
        other.get(&path).await.ok();
    }
    drop(streams);
    eventually("it is free again", async || amber.get(&path).await.status == 200).await;
}
