//! A WebSocket client.

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderName;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use super::{World, in_time};

/// An open socket.
pub struct Socket(WebSocketStream<TcpStream>);

impl Socket {
    /// Follows all debates.
    pub async fn feed(world: &World) -> Self {
        Self::open(world, "/ws").await
    }

    /// Follows this debate. Also returns the data of its first message.
    pub async fn of(world: &World, debate: &str) -> (Self, Value) {
        let mut socket = Self::open(world, &format!("/ws?debate_id={debate}")).await;
        let begin = socket.hears("initial_state").await;
        (socket, begin)
    }

    pub async fn open(world: &World, path: &str) -> Self {
        Self::at(&world.url, path).await
    }

    /// Opens a path of the server at this URL.
    pub async fn at(url: &str, path: &str) -> Self {
        let host = url.strip_prefix("http://").unwrap();
        Self::on(TcpStream::connect(host).await.unwrap(), host, path).await
    }

    /// Opens a path with these headers, or returns the status of the refusal.
    pub async fn with(url: &str, path: &str, headers: &[(&str, &str)]) -> Result<Self, u16> {
        let host = url.strip_prefix("http://").unwrap();
        let mut request = format!("ws://{host}{path}").into_client_request().unwrap();
        for (name, value) in headers {
            let name: HeaderName = name.parse().unwrap();
            request.headers_mut().append(name, value.parse().unwrap());
        }
        let stream = TcpStream::connect(host).await.unwrap();
        match in_time("a socket is opened or refused", client_async(request, stream)).await {
            Ok((socket, _)) => Ok(Socket(socket)),
            Err(Error::Http(refused)) => Err(refused.status().as_u16()),
            Err(other) => panic!("{other}"),
        }
    }

    /// Opens a path with a small receive buffer.
    pub async fn narrow(world: &World, path: &str) -> Self {
        let narrow = TcpSocket::new_v4().unwrap();
        narrow.set_recv_buffer_size(4096).unwrap();
        let host = world.url.strip_prefix("http://").unwrap();
        Self::on(narrow.connect(host.parse().unwrap()).await.unwrap(), host, path).await
    }

    async fn on(stream: TcpStream, host: &str, path: &str) -> Self {
        let opens = client_async(format!("ws://{host}{path}"), stream);
        Socket(in_time("a socket opens", opens).await.unwrap().0)
    }

    pub async fn says(&mut self, text: &str) {
        self.0.send(Message::text(text)).await.unwrap();
    }

    /// Sends a text to a server that may have closed the socket.
    pub async fn tries_to_say(&mut self, text: &str) {
        let _ = self.0.send(Message::text(text)).await;
    }

    pub async fn close(&mut self) {
        self.0.close(None).await.unwrap();
    }

    /// The next message.
    pub async fn next(&mut self) -> Value {
        self.any().await.unwrap_or_else(|end| panic!("the socket has ended: {end:?}"))
    }

    /// The data of the next message, which must be this event.
    pub async fn hears(&mut self, event: &str) -> Value {
        let mut message = self.next().await;
        assert_eq!(message["event"], event, "{message}");
        message["data"].take()
    }

    /// The close code, without another message before it.
    pub async fn ends(&mut self) -> Option<CloseCode> {
        match self.any().await {
            Ok(message) => panic!("not closed, but sent {message}"),
            Err(end) => end,
        }
    }

    /// The next message, or the close code.
    pub async fn any(&mut self) -> Result<Value, Option<CloseCode>> {
        loop {
            match in_time("a message arrives", self.0.next()).await {
                Some(Ok(Message::Text(text))) => return Ok(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(Message::Close(close))) => return Err(close.map(|frame| frame.code)),
                Some(Ok(_) | Err(_)) | None => return Err(None),
            }
        }
    }
}
