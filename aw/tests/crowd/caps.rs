//! More than the server takes on: told so, and let in when others have left.

use aw::server::{Guard, Limits};
use reqwest::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Error;

use super::held;
use crate::world::{Answer, World, eventually, in_time};

#[tokio::test]
async fn a_wait_too_many_is_told_to_come_back_and_can() {
    let limits = Limits { held_waits: 3, ..Limits::default() };
    let world = World::with(Guard::default(), limits).await;
    let debate = world.debate("Room for three?").await;
    let path = format!("/debates/{}/wait?role=proposer", debate.id);
    let waiting: Vec<_> =
        (0..3).map(|_| tokio::spawn(Answer::to(world.request(Method::GET, &path)))).collect();
    eventually("three waits are held", async || held(&world).await.0 == 3).await;

    let busy = world.get(&path).await;
    assert_eq!(busy.headers["retry-after"], "1");
    busy.refused(503, "SERVER_BUSY");
    // Whoever does not want to be held is served all the same.
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
async fn a_socket_too_many_is_told_to_come_back_and_can() {
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
    let body: serde_json::Value = serde_json::from_slice(busy.body().as_ref().unwrap()).unwrap();
    assert_eq!(body["error"]["code"], "SERVER_BUSY");

    drop(first);
    eventually("the one who left is forgotten", async || held(&world).await.1 == 1).await;
    connect_async(&url).await.unwrap();
}

#[tokio::test]
async fn a_connection_too_many_is_told_so_and_the_server_goes_on() {
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
        // It may be told before it has asked.
        let _ = stream.write_all(request).await;
        let mut answer = Vec::new();
        in_time("it is told and let go", stream.read_to_end(&mut answer)).await.unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").expect("a whole answer");
        assert!(head.starts_with("HTTP/1.1 503"), "{head}");
        assert!(head.contains("retry-after: 1"), "{head}");
        assert!(head.contains(&format!("content-length: {}", body.len())), "{head}: {body:?}");
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["success"], false);
        assert_eq!(body["error"]["code"], "SERVER_BUSY");
    }
    // Those who are in are served, and an ordinary client understands what it is told.
    assert!(ask(&mut open[0]).await.starts_with("HTTP/1.1 200"));
    for _ in 0..20 {
        world.get("/health").await.refused(503, "SERVER_BUSY");
    }
    drop(open.pop());
    eventually("another is let in", async || world.get("/health").await.status.is_success()).await;
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
