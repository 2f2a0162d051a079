//! Removes one defence of a server, to prove that the matrix notices.

use axum::Router;
use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_SECURITY_POLICY, HOST, ORIGIN, SET_COOKIE, X_FRAME_OPTIONS};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;

/// A missing defence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weakness {
    /// Every `Host` is accepted.
    Host,
    Origin,
    /// `Sec-Fetch-Site` is ignored.
    Site,
    /// Links from other sites send cookies.
    Cookies,
    /// Pages may be in frames.
    Frames,
}

impl Weakness {
    /// The server with this weakness.
    pub fn before(self, router: Router) -> Router {
        router.layer(from_fn_with_state(self, weaken))
    }
}

async fn weaken(State(weakness): State<Weakness>, mut request: Request, next: Next) -> Response {
    let headers = request.headers_mut();
    match weakness {
        Weakness::Host => drop(headers.insert(HOST, HeaderValue::from_static("127.0.0.1"))),
        Weakness::Origin => drop(headers.remove(ORIGIN)),
        Weakness::Site => drop(headers.remove("sec-fetch-site")),
        Weakness::Cookies | Weakness::Frames => {}
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    if weakness == Weakness::Cookies {
        let given: Vec<HeaderValue> = headers.get_all(SET_COOKIE).iter().cloned().collect();
        headers.remove(SET_COOKIE);
        for cookie in given {
            let lax = cookie.to_str().unwrap().replace("SameSite=Strict", "SameSite=Lax");
            headers.append(SET_COOKIE, lax.parse().unwrap());
        }
    }
    if weakness == Weakness::Frames {
        headers.remove(CONTENT_SECURITY_POLICY);
        headers.remove(X_FRAME_OPTIONS);
    }
    response
}
