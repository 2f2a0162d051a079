//! Requests written by hand, where a client library would not send them.

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::world::World;

/// What came back, byte for byte.
#[derive(Debug)]
pub struct RawAnswer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl RawAnswer {
    /// The error of a refusal with this status and code.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        let body: Value = serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"));
        assert_eq!(body["success"], false);
        assert_eq!(body["error"]["code"], code, "{body}");
        body["error"].clone()
    }
}

/// Sends these bytes and reads until the server hangs up.
pub async fn send(world: &World, bytes: &[u8]) -> RawAnswer {
    let mut stream = connect(world).await;
    stream.write_all(bytes).await.unwrap();
    let mut all = Vec::new();
    stream.read_to_end(&mut all).await.unwrap();
    let all = String::from_utf8(all).unwrap();
    let (head, body) = all.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{all:?}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    RawAnswer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
}

/// A connection on which nothing was sent yet.
pub async fn connect(world: &World) -> TcpStream {
    TcpStream::connect(address(world)).await.unwrap()
}

/// `127.0.0.1` and the port.
pub fn address(world: &World) -> &str {
    world.url.strip_prefix("http://").unwrap()
}
