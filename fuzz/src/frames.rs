//! Bytes on an open WebSocket of a real server on loopback.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use aw::settings::Guard;
use serde_json::Value;

use crate::scene::{Stage, play};

/// The longest that the server may take; it ends a hang.
const CEILING: Duration = Duration::from_secs(30);

/// The bits of an input's first byte: raw bytes, and the closed debate.
const RAW: u8 = 1;
const CLOSED: u8 = 2;

/// Separates frames. No UTF-8 text contains this byte.
const NEXT: u8 = 0xff;

/// Any bytes on an open socket. The first byte says how they are sent: raw, or as frames separated by
/// `0xff`, each with its first byte and its payload, which is masked. It also says whether the socket
/// follows a closed debate.
///
/// - The server closes the connection after the client, and sends only well-formed frames whose text
///   is events.
/// - Nothing is written into a closed debate.
/// - The server continues to answer others.
pub fn frames(data: &[u8]) {
    thread_local!(static STAGE: Stage = const { Stage::new(Guard::default) });
    let Some((kind, data)) = data.split_first() else { return };
    play(&STAGE, |world| {
        let server = world.address();
        let debate = if kind & CLOSED == 0 { b"$E" } else { b"$D" };
        let debate = String::from_utf8(world.named(debate)).expect("an id is text");
        let sent = world.named(data);
        let sent = if kind & RAW == 0 { framed(&sent) } else { sent };
        let mut socket = opened(server, &debate);
        // The server may close before all of it was sent.
        let _ = socket.write_all(&sent).and_then(|()| socket.shutdown(Shutdown::Write));
        let mut heard = Vec::new();
        let ended = socket.read_to_end(&mut heard);
        let cut = match ended {
            Ok(_) => false,
            Err(why) => {
                let waited = matches!(
                    why.kind(),
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                );
                assert!(!waited, "the server did not end the connection");
                true
            }
        };
        are_well_formed(&heard, cut);
        if kind & CLOSED != 0 {
            world.is_untouched("the debate is closed");
        }
        let health = asked(server, "/health");
        assert!(health.contains("200 OK") && health.contains("\"ok\""), "{health}");
    });
}

/// A socket that follows a debate.
fn opened(server: SocketAddr, debate: &str) -> TcpStream {
    let mut socket = TcpStream::connect(server).expect("the server takes a connection");
    socket.set_read_timeout(Some(CEILING)).expect("a socket has a timeout");
    socket.set_nodelay(true).expect("a socket need not wait");
    let asked = format!(
        "GET /ws?debate_id={debate}&html=1 HTTP/1.1\r\nHost: {server}\r\nConnection: Upgrade\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    socket.write_all(asked.as_bytes()).expect("the server listens");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        socket.read_exact(&mut byte).expect("the server answers");
        head.extend_from_slice(&byte);
    }
    assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
    socket
}

/// The answer to a request on a separate connection.
fn asked(server: SocketAddr, path: &str) -> String {
    let mut other = TcpStream::connect(server).expect("the server takes another connection");
    other.set_read_timeout(Some(CEILING)).expect("a socket has a timeout");
    let asked = format!("GET {path} HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\n\r\n");
    other.write_all(asked.as_bytes()).expect("the server listens");
    let mut answer = String::new();
    other.read_to_string(&mut answer).expect("the server answers others");
    answer
}

/// Frames as a client sends them.
fn framed(data: &[u8]) -> Vec<u8> {
    let mut frames = Vec::new();
    for frame in data.split(|byte| *byte == NEXT) {
        let Some((first, text)) = frame.split_first() else { continue };
        frames.push(*first);
        let masked = 0x80;
        match u16::try_from(text.len()) {
            Ok(short) if short < 126 => frames.push(masked | text.len() as u8),
            Ok(short) => {
                frames.push(masked | 126);
                frames.extend_from_slice(&short.to_be_bytes());
            }
            Err(_) => {
                frames.push(masked | 127);
                frames.extend_from_slice(&(text.len() as u64).to_be_bytes());
            }
        }
        let mask = [7, 11, 13, 17];
        frames.extend_from_slice(&mask);
        frames.extend(text.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    }
    frames
}

/// Asserts that these are well-formed frames of a server; the last may be incomplete if the connection
/// was cut off.
fn are_well_formed(mut heard: &[u8], cut: bool) {
    let mut closed = false;
    while let [first, second, ..] = heard {
        assert!(!closed, "something came after the end");
        assert_eq!(first & 0x70, 0, "a reserved bit is set");
        assert_eq!(second & 0x80, 0, "a server does not mask");
        let (head, length) = match (second & 0x7f, heard.len()) {
            (126, 4..) => (4, usize::from(u16::from_be_bytes([heard[2], heard[3]]))),
            (127, 10..) => {
                let length = heard[2..10].iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
                (10, length)
            }
            (126 | 127, _) => break,
            (short, _) => (2, usize::from(short)),
        };
        let Some(text) = heard.get(head..head + length) else { break };
        let control = first & 0x08 != 0;
        assert!(first & 0x80 != 0 && (!control || length < 126), "a frame in parts");
        match first & 0x0f {
            0x1 => {
                let event: Value = serde_json::from_slice(text).expect("a text is JSON");
                assert!(event["event"].is_string() && event["data"].is_object(), "{event}");
                if event["event"] == "error" {
                    let error = &event["data"]["error"];
                    assert!(
                        error["code"] != "SERVER_ERROR" && error["code"].is_string(),
                        "{event}"
                    );
                }
            }
            0x8 => {
                assert!(length != 1 && length < 126, "a close without a whole code");
                closed = true;
            }
            0x9 | 0xa => {}
            other => panic!("a frame of the unknown kind {other}"),
        }
        heard = &heard[head + length..];
    }
    assert!(heard.is_empty() || cut, "the last frame is not whole: {heard:?}");
}
