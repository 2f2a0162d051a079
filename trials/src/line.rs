//! An HTTP client with one connection at a time, which may break.

use std::net::SocketAddr;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The longest that an answer may take.
pub const CEILING: Duration = Duration::from_secs(100);

/// The answer did not arrive; the server may or may not have handled the request.
#[derive(Debug)]
pub struct Lost;

/// An answer of a server.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub body: Value,
}

impl Answer {
    /// The data of a successful answer.
    #[track_caller]
    pub fn data(mut self) -> Value {
        assert!(self.status.is_success(), "{}: {}", self.status, self.body);
        self.body["data"].take()
    }

    /// The code of a refusal.
    pub fn code(&self) -> &str {
        self.body["error"]["code"].as_str().unwrap_or_default()
    }
}

/// A client's connection, opened again after it broke.
#[derive(Debug)]
pub struct Line {
    address: SocketAddr,
    /// Sent with every request, if the server requires tokens.
    token: Option<String>,
    open: Option<SendRequest<Full<Bytes>>>,
}

impl Line {
    pub fn to(address: SocketAddr) -> Self {
        Line { address, token: None, open: None }
    }

    /// The same with a token.
    pub fn with(self, token: Option<String>) -> Self {
        Line { token, ..self }
    }

    pub async fn get(&mut self, path: &str) -> Result<Answer, Lost> {
        self.ask(Method::GET, path, None).await
    }

    pub async fn post(&mut self, path: &str, body: &Value) -> Result<Answer, Lost> {
        self.ask(Method::POST, path, Some(body)).await
    }

    /// The bytes of a page, which must exist.
    pub async fn look(&mut self, path: &str) -> Result<Bytes, Lost> {
        let (status, bytes) = self.exchange(Method::GET, path, None).await?;
        assert!(status.is_success(), "{path}: {status}");
        Ok(bytes)
    }

    async fn ask(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Answer, Lost> {
        let (status, bytes) = self.exchange(method, path, body).await?;
        let body = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| panic!("not JSON: {}", String::from_utf8_lossy(&bytes)));
        Ok(Answer { status, body })
    }

    /// Reads an answer to its end and discards it. Returns its status and length.
    pub async fn drain(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(StatusCode, usize), Lost> {
        let (open, mut response) = self.begin(method, path, body).await?;
        let mut length = 0;
        let read = async {
            while let Some(frame) = response.body_mut().frame().await {
                length += frame.map_err(|_| Lost)?.data_ref().map_or(0, Bytes::len);
            }
            Ok(())
        };
        timeout(CEILING, read).await.expect("the server answers in time")?;
        self.open = Some(open);
        Ok((response.status(), length))
    }

    async fn exchange(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(StatusCode, Bytes), Lost> {
        let (open, response) = self.begin(method, path, body).await?;
        let status = response.status();
        let read = timeout(CEILING, response.into_body().collect());
        let bytes = read.await.expect("the server answers in time").map_err(|_| Lost)?.to_bytes();
        self.open = Some(open);
        Ok((status, bytes))
    }

    /// Sends a request and waits until its answer begins.
    async fn begin(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(SendRequest<Full<Bytes>>, Response<Incoming>), Lost> {
        // Taken out: if this request is cancelled, its answer must not be read as that of the next one.
        let mut open = match self.open.take() {
            Some(open) if open.is_ready() => open,
            _ => connect(self.address).await?,
        };
        let mut request =
            Request::builder().method(method).uri(path).header("host", self.address.to_string());
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let body = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
        let request = request.body(Full::new(body)).expect("a request");
        let response = timeout(CEILING, open.send_request(request)).await;
        let response = response.expect("the server answers in time").map_err(|_| Lost)?;
        Ok((open, response))
    }
}

async fn connect(address: SocketAddr) -> Result<SendRequest<Full<Bytes>>, Lost> {
    let stream = TcpStream::connect(address).await.map_err(|_| Lost)?;
    stream.set_nodelay(true).map_err(|_| Lost)?;
    let (open, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|_| Lost)?;
    tokio::spawn(connection);
    Ok(open)
}
