//! Records the requests that reach the server, and their status, in front of the guard.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{COOKIE, HeaderMap};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;

/// The requests of attacks. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct RequestLog(Arc<Mutex<Vec<LoggedRequest>>>);

/// A request of an attack.
#[derive(Debug, Clone)]
pub struct LoggedRequest {
    /// The number of the attempt that sent it.
    pub attempt: usize,
    pub method: String,
    pub status: u16,
    /// `Sec-Fetch-Site`: `same-origin`, `same-site`, `cross-site` or `none`.
    pub site: String,
    /// Whether it has a cookie of ours.
    pub has_cookie: bool,
}

impl RequestLog {
    /// Adds this log to a server.
    pub fn before(&self, router: Router) -> Router {
        router.layer(from_fn_with_state(self.clone(), note))
    }

    /// The answered requests since the last call.
    pub fn take(&self) -> Vec<LoggedRequest> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

async fn note(State(log): State<RequestLog>, request: Request, next: Next) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let attempt = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "attempt");
    let attempt = attempt.and_then(|(_, attempt)| attempt.parse().ok());
    let said = |headers: &HeaderMap, name: &str| {
        headers
            .get(name)
            .map_or(String::new(), |said| String::from_utf8_lossy(said.as_bytes()).into())
    };
    let method = request.method().to_string();
    let site = match said(request.headers(), "sec-fetch-site") {
        // Sockets have an origin only, and so have requests to names that are not loopback.
        nothing if nothing.is_empty() => {
            let origin = said(request.headers(), "origin");
            let host = said(request.headers(), "host");
            let name = |address: &str| address.rsplit_once(':').map(|(name, _)| name.to_owned());
            let is_own = name(&host) == origin.strip_prefix("http://").and_then(name);
            if is_own { "same-site".to_owned() } else { "cross-site".to_owned() }
        }
        site => site,
    };
    let has_cookie = said(request.headers(), COOKIE.as_str()).contains("aw_");
    let response = next.run(request).await;
    if let Some(attempt) = attempt {
        let status = response.status().as_u16();
        log.0.lock().unwrap().push(LoggedRequest { attempt, method, status, site, has_cookie });
    }
    response
}
