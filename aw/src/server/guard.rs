//! Who may call at all.
//!
//! A local server can be reached from every web page that its user opens. So the `Host` must be a
//! name of this machine (a page that points its own name here is refused), an `Origin` must be the
//! server's own, and where tokens are wanted every route but `/health` wants one. Who it belongs to
//! goes with the request, as its [`Caller`].

use std::net::Ipv4Addr;

use aw_core::Hash;
use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq;

use super::App;
use super::access::{Record, Session};
use super::caller::Caller;
use super::cookies::{BROWSER, cookie, sessions_of};
use super::error::Problem;
use super::pages;
use super::serve::Peer;
use crate::api::error::Code;
use crate::settings::Guard;
use crate::token::digest;

/// Lets a request in, with whom it found out to be calling; or says what it is answered.
pub(super) async fn stand(app: &App, request: Request) -> Result<Request, Response> {
    let (mut parts, body) = request.into_parts();
    match app.judge(&parts).await {
        Ok(Verdict::ComesIn(caller, session)) => {
            parts.extensions.insert(caller);
            parts.extensions.insert(session);
            Ok(Request::from_parts(parts, body))
        }
        Ok(Verdict::ComesAgain) => Err(pages::ask_again(&parts.uri)),
        Ok(Verdict::SignsIn) => Err(pages::redirect_to_sign_in(&parts.uri)),
        Err(problem) => {
            let is_told = matches!(problem.error.code, Code::AuthFailed | Code::ServerBusy);
            if is_told && pages::is_page(parts.uri.path()) && pages::wants_page(&parts) {
                return Err((app.error_page)(&parts, app, problem));
            }
            Err(problem.into_response())
        }
    }
}

/// What becomes of a request that is not refused.
#[derive(Debug)]
enum Verdict {
    /// It is let in, by its token or by the session of a browser.
    ComesIn(Caller, Session),
    /// A person came by a link from elsewhere, for which browsers keep our cookie back: the same
    /// page is asked for once more from here.
    ComesAgain,
    /// A person has to sign in first.
    SignsIn,
}

impl App {
    /// Whether a request is let in, and not one too many of its address or its token.
    async fn judge(&self, request: &Parts) -> Result<Verdict, Problem> {
        let (method, uri, headers) = (&request.method, &request.uri, &request.headers);
        let peer = request.extensions.get::<Peer>().copied();
        self.meters.address(peer)?;
        let judged = self.guard.judge(method, uri, headers, &self.record).await;
        let refused = match &judged {
            Ok(Verdict::ComesIn(caller, _)) => {
                if uri.path() != "/health" {
                    self.meters.token(caller)?;
                }
                false
            }
            Ok(Verdict::ComesAgain | Verdict::SignsIn) => true,
            Err(problem) => problem.error.code == Code::AuthFailed,
        };
        if refused && headers.contains_key(AUTHORIZATION) {
            self.meters.wrong_token(peer)?;
        }
        judged
    }
}

impl Guard {
    async fn judge(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        record: &Record,
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
        let page = pages::is_page(uri.path());
        let from_elsewhere = says("sec-fetch-site", "cross-site");
        // Another port of this machine is the same site to a browser, and another's all the same.
        let from_another = from_elsewhere || says("sec-fetch-site", "same-site");
        // A link may lead a person here from anywhere; nothing else may.
        let by_link = page && method == Method::GET && says("sec-fetch-dest", "document");
        if from_another && !by_link {
            return Err(Problem::forbidden_origin());
        }
        // A browser that comes by a link keeps our cookies back. Given another one, it could not send the
        // forms any more that are open in it.
        if from_elsewhere && uri.path() != pages::LINK && cookie(headers, BROWSER).is_none() {
            return Ok(Verdict::ComesAgain);
        }
        if !self.wants_token {
            return Ok(Verdict::ComesIn(Caller::Anybody, Session(None)));
        }
        if let Some(given) = bearer(headers)
            && let Some(caller) = self.caller(digest(given), record).await?
        {
            return Ok(Verdict::ComesIn(caller, Session(None)));
        }
        // What a page itself asks for brings the cookie instead: it reads and follows, and what it
        // writes goes through its forms.
        let reads =
            method == Method::GET && (uri.path() == "/ws" || uri.path().ends_with("/export"));
        let sessions = if page || reads { sessions_of(headers) } else { Vec::new() };
        for session in sessions {
            if let Some(holder) = record.holder(session).await?
                && let Some(caller) = self.caller(holder, record).await?
            {
                return Ok(Verdict::ComesIn(caller, Session(Some(session))));
            }
        }
        if uri.path() == "/health" || pages::is_public(uri.path()) {
            return Ok(Verdict::ComesIn(Caller::Stranger, Session(None)));
        }
        // A part that the page's script asks for is not a place to sign in.
        let part = headers.contains_key("x-fragment") || uri.path() == "/needed";
        match (page && method == Method::GET && !part, from_elsewhere) {
            (true, true) => Ok(Verdict::ComesAgain),
            (true, false) => Ok(Verdict::SignsIn),
            (false, _) => Err(Problem::unauthorised(headers.contains_key(AUTHORIZATION))),
        }
    }

    /// Whoever has the token with this SHA-256. A guess learns nothing from how long this takes: what
    /// is looked up and compared is the hash, of which it cannot choose the bytes.
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

    /// Whether this is a name of ours. Any port will do, so that forwarding works.
    fn knows(&self, host: &str) -> bool {
        is_loopback(host) || self.public.iter().any(|url| url.authority == host)
    }

    /// Whether whoever sends this came to us over TLS, which a proxy in front of us speaks: a form
    /// says where it is from, and otherwise the name that was asked for tells.
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

    /// The URL under which whoever sent these knows the server.
    pub(super) fn url_for(&self, headers: &HeaderMap) -> String {
        let host = only(headers, &HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let public = self.public.iter().find(|url| url.authority.eq_ignore_ascii_case(host));
        public.map_or_else(|| format!("http://{host}"), |url| url.origin.clone())
    }

    /// Whether a page of this origin was served by us.
    fn is_own(&self, origin: &str, host: &str) -> bool {
        let origin = origin.to_ascii_lowercase();
        let local = is_loopback(host) && origin.strip_prefix("http://") == Some(host);
        local || self.public.iter().any(|url| url.origin == origin)
    }
}

/// The token that was sent.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    only(headers, &AUTHORIZATION)
        .and_then(|value| str::from_utf8(value.as_bytes()).ok())
        .and_then(|value| value.split_at_checked("Bearer ".len()))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("Bearer "))
        .map(|(_, given)| given)
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
    use crate::settings::PublicUrl;

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
