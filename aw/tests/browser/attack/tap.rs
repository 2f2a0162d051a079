//! What of an attack reaches the server, and what it is answered: noted in front of the guard.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{COOKIE, HeaderMap};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;

/// Listens at the server's door. Clones hear the same.
#[derive(Debug, Clone, Default)]
pub struct Tap(Arc<Mutex<Vec<Knock>>>);

/// A request of an attack.
#[derive(Debug, Clone)]
pub struct Knock {
    /// Which cell of the matrix sent it.
    pub cell: usize,
    pub method: String,
    /// What it was answered.
    pub status: u16,
    /// Where the browser says it is from: `same-origin`, `same-site`, `cross-site` or `none`.
    pub site: String,
    /// Whether it came with a cookie of ours.
    pub has_cookie: bool,
}

impl Tap {
    /// The same server, with this one at its door.
    pub fn before(&self, router: Router) -> Router {
        router.layer(from_fn_with_state(self.clone(), note))
    }

    /// What came and was answered since it was asked last.
    pub fn take(&self) -> Vec<Knock> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

async fn note(State(tap): State<Tap>, request: Request, next: Next) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let cell = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "cell");
    let cell = cell.and_then(|(_, cell)| cell.parse().ok());
    let said = |headers: &HeaderMap, name: &str| {
        headers
            .get(name)
            .map_or(String::new(), |said| String::from_utf8_lossy(said.as_bytes()).into())
    };
    let method = request.method().to_string();
    let site = match said(request.headers(), "sec-fetch-site") {
        // A socket says its origin only, and so does what goes to a name that is not this machine's.
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
    if let Some(cell) = cell {
        let status = response.status().as_u16();
        tap.0.lock().unwrap().push(Knock { cell, method, status, site, has_cookie });
    }
    response
}
