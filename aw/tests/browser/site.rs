//! A web site that serves the pages of a test.

use std::sync::{Arc, Mutex};

use aw::server::{self, Stop};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;

use super::process::ELSEWHERE;
use crate::world::free_listener;

/// A web server that runs until this is dropped.
pub struct Site {
    pub url: String,
    requests: Arc<Mutex<Vec<String>>>,
    _running: Stop,
}

#[derive(Clone)]
struct SitePages {
    pages: Arc<Vec<(String, String, String)>>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Site {
    /// Serves these pages: path, policy and HTML.
    pub async fn start(pages: &[(&str, &str, &str)]) -> Self {
        let own =
            |page: &(&str, &str, &str)| (page.0.to_owned(), page.1.to_owned(), page.2.to_owned());
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let served = SitePages {
            pages: Arc::new(pages.iter().map(own).collect()),
            requests: requests.clone(),
        };
        let router = Router::new().fallback(answer).with_state(served);
        let listener = free_listener();
        let url = format!("http://{}", listener.local_addr().unwrap());
        listener.set_nonblocking(true).unwrap();
        let running = Stop::default();
        let listener = TcpListener::from_std(listener).unwrap();
        tokio::spawn(server::serve(listener, router, 1_000, running.subscribe()));
        Site { url, requests, _running: running }
    }

    /// The address of the site under a name that is not ours.
    pub fn elsewhere(&self) -> String {
        self.url.replace("127.0.0.1", ELSEWHERE)
    }

    /// The requests so far: method, path, `accept-language` and `x-test`.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn answer(
    State(site): State<SitePages>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let header = |name: &str| headers.get(name).map_or("-", |value| value.to_str().unwrap_or("?"));
    let (language, own) = (header("accept-language"), header("x-test"));
    site.requests.lock().unwrap().push(format!("{method} {uri} {language} {own}"));
    match site.pages.iter().find(|page| page.0 == uri.path()) {
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
