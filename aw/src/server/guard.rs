//! Who may call at all.
//!
//! A local server can be reached from every web page that its user opens. So the `Host` must be a
//! name of this machine (a page that points its own name here is refused), an `Origin` must be the
//! server's own, and where a token is set every route but `/health` wants it.

use std::net::Ipv4Addr;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use axum::middleware::Next;
use axum::response::Response;
use subtle::ConstantTimeEq;

use super::App;
use super::error::Problem;
use crate::web::{self, seal};
use crate::wire::Code;

/// Whom the server lets in.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// Every request but `GET /health` must bring it.
    pub token: Option<String>,
    /// Addresses besides loopback under which the server is known.
    pub public: Vec<PublicUrl>,
}

/// The scheme and host of a URL under which the server is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl {
    origin: String,
    authority: String,
}

impl std::str::FromStr for PublicUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("{text:?} is not a URL such as https://debates.example.org");
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        match (uri.scheme_str(), uri.authority()) {
            (Some(scheme @ ("http" | "https")), Some(authority)) => {
                let authority = authority.as_str().to_ascii_lowercase();
                Ok(PublicUrl { origin: format!("{scheme}://{authority}"), authority })
            }
            _ => Err(wrong()),
        }
    }
}

/// Lets a request in or not.
pub(super) async fn stand(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let (method, uri, headers) = (request.method(), request.uri(), request.headers());
    match app.guard.judge(method, uri, headers, app.engine.now().0) {
        Ok(Verdict::ComesIn) => Ok(next.run(request).await),
        Ok(Verdict::ComesAgain) => Ok(web::ask_again(uri)),
        Ok(Verdict::SignsIn) => Ok(web::to_sign_in(uri)),
        Err(problem) => {
            let (parts, _) = request.into_parts();
            let signed_out =
                problem.error.code == Code::AuthFailed && web::is_page(parts.uri.path());
            if signed_out && web::wants_page(&parts) {
                return Ok(web::trouble_page(&parts, &app, problem));
            }
            Err(problem)
        }
    }
}

/// What becomes of a request that is not refused.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    /// It is let in.
    ComesIn,
    /// A person came by a link from elsewhere, for which browsers keep our cookie back: the same
    /// page is asked for once more from here.
    ComesAgain,
    /// A person has to sign in first.
    SignsIn,
}

impl Guard {
    fn judge(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        now: i64,
    ) -> Result<Verdict, Problem> {
        let host = only(headers, &HOST)
            .and_then(|host| host.to_str().ok())
            .map(str::to_ascii_lowercase)
            .filter(|host| {
                uri.authority().is_none_or(|asked| asked.as_str().eq_ignore_ascii_case(host))
            })
            .filter(|host| self.knows(host))
            .ok_or_else(Problem::forbidden_host)?;
        if headers.contains_key(ORIGIN) {
            let origin = only(headers, &ORIGIN).and_then(|origin| origin.to_str().ok());
            let own = origin.is_some_and(|origin| self.is_own(origin, &host));
            if !own {
                return Err(Problem::forbidden_origin());
            }
        }
        let says = |name: &str, word: &str| headers.get(name).is_some_and(|said| said == word);
        let page = web::is_page(uri.path());
        let from_elsewhere = says("sec-fetch-site", "cross-site");
        // A link may lead a person here from anywhere; nothing else may.
        let by_link = page && method == Method::GET && says("sec-fetch-dest", "document");
        if from_elsewhere && !by_link {
            return Err(Problem::forbidden_origin());
        }
        let Some(token) = &self.token else { return Ok(Verdict::ComesIn) };
        if uri.path() == "/health" || web::is_open(uri.path()) || self.admits(headers) {
            return Ok(Verdict::ComesIn);
        }
        // What a page itself asks for brings the cookie instead: it reads and follows, and what it
        // writes goes through its forms.
        let reads =
            method == Method::GET && (uri.path() == "/ws" || uri.path().ends_with("/export"));
        if (page || reads) && seal::is_signed_in(headers, token, now) {
            return Ok(Verdict::ComesIn);
        }
        // A part that the page's script asks for is not a place to sign in.
        let part = headers.contains_key("x-fragment") || uri.path() == "/needed";
        match (page && method == Method::GET && !part, from_elsewhere) {
            (true, true) => Ok(Verdict::ComesAgain),
            (true, false) => Ok(Verdict::SignsIn),
            (false, _) => Err(Problem::unauthorised(headers.contains_key(AUTHORIZATION))),
        }
    }

    /// Whether callers have to know a token.
    pub(crate) fn wants_token(&self) -> bool {
        self.token.is_some()
    }

    /// The token, if this is it.
    pub(crate) fn token_given(&self, given: &str) -> Option<&str> {
        let token = self.token.as_deref()?;
        bool::from(given.as_bytes().ct_eq(token.as_bytes())).then_some(token)
    }

    /// Whether this is a name of ours. Any port will do, so that forwarding works.
    fn knows(&self, host: &str) -> bool {
        is_loopback(host) || self.public.iter().any(|url| url.authority == host)
    }

    /// Whether a page of this origin was served by us.
    fn is_own(&self, origin: &str, host: &str) -> bool {
        let origin = origin.to_ascii_lowercase();
        let local = is_loopback(host) && origin.strip_prefix("http://") == Some(host);
        local || self.public.iter().any(|url| url.origin == origin)
    }

    fn admits(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        only(headers, &AUTHORIZATION)
            .and_then(|value| value.as_bytes().split_at_checked("Bearer ".len()))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"Bearer "))
            .is_some_and(|(_, given)| given.ct_eq(token.as_bytes()).into())
    }
}

/// The header, if it is there exactly once: of two, a proxy may have judged the other.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

/// `localhost`, `127.x.x.x` or `[::1]`, each with or without a port, in no other spelling.
fn is_loopback(host: &str) -> bool {
    let (name, port) = match host.strip_prefix('[') {
        Some(v6) => match v6.split_once(']') {
            Some(("::1", port)) => ("localhost", port),
            _ => return false,
        },
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let port_is_fine = port.is_empty()
        || port.strip_prefix(':').is_some_and(|digits| {
            digits.bytes().all(|b| b.is_ascii_digit()) && digits.parse::<u16>().is_ok()
        });
    let name_is_fine =
        name == "localhost" || name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback());
    port_is_fine && name_is_fine
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_known_by_its_plain_names_only() {
        for host in [
            "localhost",
            "localhost:3456",
            "127.0.0.1",
            "127.0.0.1:1",
            "127.9.9.9",
            "[::1]",
            "[::1]:80",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "",
            "evil.test",
            "evil.test:3456",
            "localhost.",
            "localhost.evil.test",
            "127.0.0.1.evil.test",
            "127.1",
            "0x7f.0.0.1",
            "2130706433",
            "0.0.0.0",
            "0.0.0.0:3456",
            "[::]",
            "[::1",
            "[::1]x",
            "[::ffff:127.0.0.1]",
            "localhost:",
            "localhost:99999",
            "localhost:80:80",
            "localhost:+8",
            "user@localhost",
            "localhost/x",
            "192.168.1.1",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn a_public_url_is_known_by_its_scheme_and_host() {
        let guard =
            Guard { token: None, public: vec!["https://Debates.example.org/x".parse().unwrap()] };
        assert!(guard.knows("debates.example.org"));
        assert!(!guard.knows("debates.example.org:8443"));
        assert!(guard.is_own("https://debates.example.org", "debates.example.org"));
        assert!(!guard.is_own("http://debates.example.org", "debates.example.org"));
        for broken in ["", "debates.example.org", "ftp://x", "/x"] {
            assert!(broken.parse::<PublicUrl>().is_err(), "{broken}");
        }
    }
}
