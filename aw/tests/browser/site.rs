//! A web site of the test's own: pages that are served as they are given, and what was sent there.

use std::sync::{Arc, Mutex};

use aw::server::{self, Stop};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;

use super::process::ELSEWHERE;
use crate::world::free_listener;

/// A web server that runs as long as this is held.
pub struct Site {
    pub url: String,
    heard: Arc<Mutex<Vec<String>>>,
    _running: Stop,
}

#[derive(Clone)]
struct Served {
    pages: Arc<Vec<(String, String, String)>>,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Site {
    /// Serves these pages: path, policy, HTML. Everything else is not found.
    pub async fn start(pages: &[(&str, &str, &str)]) -> Self {
        let own =
            |page: &(&str, &str, &str)| (page.0.to_owned(), page.1.to_owned(), page.2.to_owned());
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let served =
            Served { pages: Arc::new(pages.iter().map(own).collect()), heard: heard.clone() };
        let router = Router::new().fallback(answer).with_state(served);
        let listener = free_listener();
        let url = format!("http://{}", listener.local_addr().unwrap());
        listener.set_nonblocking(true).unwrap();
        let running = Stop::default();
        let listener = TcpListener::from_std(listener).unwrap();
        tokio::spawn(server::serve(listener, router, 1_000, running.subscribe()));
        Site { url, heard, _running: running }
    }

    /// The same site under a name that is not ours.
    pub fn elsewhere(&self) -> String {
        self.url.replace("127.0.0.1", ELSEWHERE)
    }

    /// What it was sent so far: method, path, the language asked for, the header `x-test`, the body.
    pub fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

async fn answer(
    State(served): State<Served>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let header = |name: &str| headers.get(name).map_or("-", |value| value.to_str().unwrap_or("?"));
    let (language, own) = (header("accept-language"), header("x-test"));
    let body = String::from_utf8_lossy(&body);
    served.heard.lock().unwrap().push(format!("{method} {uri} {language} {own} {body}"));
    match served.pages.iter().find(|page| page.0 == uri.path()) {
        Some((_, policy, html)) => {
            let headers = [
                (header::CONTENT_TYPE, "text/html; charset=utf-8"),
                (header::CONTENT_SECURITY_POLICY, policy.as_str()),
            ];
            (headers, html.clone()).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
