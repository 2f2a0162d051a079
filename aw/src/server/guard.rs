//! Authenticates every request before its handler runs.
//!
//! Every web page that a user opens can send requests to a local server. So `Host` must be a name of this
//! machine (against DNS rebinding), and `Origin` must be the server's own. If the server requires tokens,
//! every route except `/health` needs one. The [`Caller`] is attached to the request.

use std::net::Ipv4Addr;

use aw_core::Hash;
use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq;

use super::App;
use super::access::{BrowserSession, Record};
use super::caller::Caller;
use super::cookies::{BROWSER, cookie, sessions_of};
use super::error::Problem;
use super::pages;
use super::serve::Peer;
use crate::api::error::Code;
use crate::settings::Guard;
use crate::token::digest;

/// Authenticates a request, or returns the refusal.
pub(super) async fn authorize(app: &App, request: Request) -> Result<Request, Response> {
    let (mut parts, body) = request.into_parts();
    match app.admit(&parts).await {
        Ok(Admission::Admitted(caller, session)) => {
            parts.extensions.insert(caller);
            parts.extensions.insert(session);
            Ok(Request::from_parts(parts, body))
        }
        Ok(Admission::AskAgain) => Err(pages::ask_again(&parts.uri)),
        Ok(Admission::SignIn) => Err(pages::redirect_to_sign_in(&parts.uri)),
        Err(problem) => {
            let has_page = matches!(problem.error.code, Code::AuthFailed | Code::ServerBusy);
            if has_page && pages::is_page(parts.uri.path()) && pages::wants_page(&parts) {
                return Err((app.error_page)(&parts, app, problem));
            }
            Err(problem.into_response())
        }
    }
}

/// The result of authenticating a request that is not refused.
#[derive(Debug)]
enum Admission {
    /// The caller has a valid token or browser session, or needs none.
    Admitted(Caller, BrowserSession),
    /// A browser follows a link from another site and therefore sends no cookie. It has to request the
    /// page again from this site.
    AskAgain,
    /// The person has to sign in first.
    SignIn,
}

impl App {
    /// Authenticates a request and applies the rate limits of its address and token.
    async fn admit(&self, request: &Parts) -> Result<Admission, Problem> {
        let (method, uri, headers) = (&request.method, &request.uri, &request.headers);
        let peer = request.extensions.get::<Peer>().copied();
        self.rate_limiters.check_address(peer)?;
        let judged = self.guard.authenticate(method, uri, headers, &self.record).await;
        let refused = match &judged {
            Ok(Admission::Admitted(caller, _)) => {
                if uri.path() != "/health" {
                    self.rate_limiters.check_token(caller)?;
                }
                false
            }
            Ok(Admission::AskAgain | Admission::SignIn) => true,
            Err(problem) => problem.error.code == Code::AuthFailed,
        };
        if refused && headers.contains_key(AUTHORIZATION) {
            self.rate_limiters.check_wrong_token(peer)?;
        }
        judged
    }
}

impl Guard {
    async fn authenticate(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        record: &Record,
    ) -> Result<Admission, Problem> {
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
        let page = pages::is_page(uri.path());
        let from_elsewhere = says("sec-fetch-site", "cross-site");
        // A browser takes another port of this machine for the same site, but it is another server.
        let from_another = from_elsewhere || says("sec-fetch-site", "same-site");
        // Other sites may only link to pages.
        let by_link = page && method == Method::GET && says("sec-fetch-dest", "document");
        if from_another && !by_link {
            return Err(Problem::forbidden_origin());
        }
        // A browser that follows such a link sends no cookies. A new cookie would replace its own and
        // break the forms that it has open.
        if from_elsewhere && uri.path() != pages::LINK && cookie(headers, BROWSER).is_none() {
            return Ok(Admission::AskAgain);
        }
        if !self.wants_token {
            return Ok(Admission::Admitted(Caller::Anybody, BrowserSession(None)));
        }
        if let Some(given) = bearer(headers)
            && let Some(caller) = self.caller(digest(given), record).await?
        {
            return Ok(Admission::Admitted(caller, BrowserSession(None)));
        }
        // The script of a page sends the cookie instead of a token. It reads, and notes what was on the
        // screen. Everything else is written by forms.
        let path = uri.path();
        let is_document = path.ends_with("/export") || path.ends_with("/result");
        let reads = method == Method::GET && (path == "/ws" || is_document);
        // A browser names the origin of every PUT, and only our own has passed.
        let is_seen = path.starts_with("/debates/") && path.ends_with("/seen");
        let notes = method == Method::PUT && is_seen && headers.contains_key(ORIGIN);
        let sessions = if page || reads || notes { sessions_of(headers) } else { Vec::new() };
        for session in sessions {
            if let Some(holder) = record.holder(session).await?
                && let Some(caller) = self.caller(holder, record).await?
            {
                return Ok(Admission::Admitted(caller, BrowserSession(Some(session))));
            }
        }
        if uri.path() == "/health" || pages::is_public(uri.path()) {
            return Ok(Admission::Admitted(Caller::Stranger, BrowserSession(None)));
        }
        // A script cannot sign in, so its request for a part of a page is refused instead.
        let part = headers.contains_key("x-fragment") || uri.path() == "/needed";
        match (page && method == Method::GET && !part, from_elsewhere) {
            (true, true) => Ok(Admission::AskAgain),
            (true, false) => Ok(Admission::SignIn),
            (false, _) => Err(Problem::unauthorised(headers.contains_key(AUTHORIZATION))),
        }
    }

    /// The caller with the token of this SHA-256. The time that this takes reveals nothing: a client
    /// cannot choose the bytes of the hash that is looked up.
    pub(crate) async fn caller(
        &self,
        token: Hash,
        record: &Record,
    ) -> Result<Option<Caller>, Problem> {
        let key = self.keys.iter().find(|key| bool::from(key.digest.0.ct_eq(&token.0)));
        match key {
            Some(key) => Ok(Some(Caller::Administrator { name: key.name, holder: token })),
            None => Ok(record.seated(token).await?),
        }
    }

    /// Whether this host is this server, on any port, so that port forwarding works.
    fn knows(&self, host: &str) -> bool {
        is_loopback(host) || self.public.iter().any(|url| url.authority == host)
    }

    /// Whether the client uses TLS, which a proxy in front of the server ends. A form has an `Origin`
    /// that says so; other requests have a `Host` that is a public HTTPS URL.
    pub(crate) fn is_by_tls(&self, headers: &HeaderMap) -> bool {
        let said = |name| only(headers, &name).and_then(|value| value.to_str().ok());
        match (said(ORIGIN), said(HOST)) {
            (Some(origin), _) => origin.to_ascii_lowercase().starts_with("https://"),
            (None, Some(host)) => self.public.iter().any(|url| {
                url.authority.eq_ignore_ascii_case(host) && url.origin.starts_with("https://")
            }),
            (None, None) => false,
        }
    }

    /// The URL by which the client reaches the server.
    pub(super) fn url_for(&self, headers: &HeaderMap) -> String {
        let host = only(headers, &HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let public = self.public.iter().find(|url| url.authority.eq_ignore_ascii_case(host));
        public.map_or_else(|| format!("http://{host}"), |url| url.origin.clone())
    }

    /// Whether this origin is this server.
    fn is_own(&self, origin: &str, host: &str) -> bool {
        let origin = origin.to_ascii_lowercase();
        let local = is_loopback(host) && origin.strip_prefix("http://") == Some(host);
        local || self.public.iter().any(|url| url.origin == origin)
    }
}

/// The token in the `Authorization` header.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    only(headers, &AUTHORIZATION)
        .and_then(|value| str::from_utf8(value.as_bytes()).ok())
        .and_then(|value| value.split_at_checked("Bearer ".len()))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("Bearer "))
        .map(|(_, given)| given)
}

/// The header, if there is exactly one: a proxy may have checked only one of two.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

/// Whether this is `localhost`, `127.x.x.x` or `[::1]`, with or without a port, in no other spelling.
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
    use crate::settings::PublicUrl;

    #[test]
    fn only_plain_names_are_loopback() {
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
    fn a_public_url_counts_with_its_scheme_and_host() {
        let guard = Guard {
            public: vec!["https://Debates.example.org/x".parse().unwrap()],
            ..Guard::default()
        };
        assert!(guard.knows("debates.example.org"));
        assert!(!guard.knows("debates.example.org:8443"));
        assert!(guard.is_own("https://debates.example.org", "debates.example.org"));
        assert!(!guard.is_own("http://debates.example.org", "debates.example.org"));
        for broken in ["", "debates.example.org", "ftp://x", "/x"] {
            assert!(broken.parse::<PublicUrl>().is_err(), "{broken}");
        }
    }
}
