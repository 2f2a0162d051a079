//! The server's cookies. Scripts cannot read them, and other sites cannot send them.

use aw_core::Hash;
use axum::http::HeaderMap;
use axum::http::header::COOKIE;

use crate::token::{Token, digest};

/// Identifies a browser, for CSRF tokens.
pub(crate) const BROWSER: &str = "aw_browser";
pub(crate) const LANGUAGE: &str = "aw_lang";
pub(crate) const THEME: &str = "aw_theme";

/// The start of the session cookie's name. A mark of the server follows, because a browser sends a cookie
/// to all ports of a machine, and two servers there must not overwrite each other's.
const SESSION: &str = "aw_session";

/// The most session cookies that are read from a request. Other servers on the machine may have set some.
const SESSIONS: usize = 16;

/// The lifetime of a session, in milliseconds.
pub(crate) const SESSION_LASTS: i64 = 12 * 60 * 60 * 1000;

/// The lifetime of the other cookies, in seconds.
const YEAR: i64 = 365 * 24 * 60 * 60;

/// Writes cookies for one browser.
#[derive(Debug, Clone)]
pub(crate) struct CookieJar {
    /// The name of the session cookie.
    session: String,
    /// Whether the request came over TLS, so that its cookies are sent over TLS only.
    by_tls: bool,
}

impl CookieJar {
    pub(crate) fn new(server: &str, by_tls: bool) -> Self {
        let mark: String = digest(server).to_string().chars().take(8).collect();
        CookieJar { session: format!("{SESSION}_{mark}"), by_tls }
    }

    /// A cookie that lasts a year. An empty value removes it.
    pub(crate) fn keep(&self, name: &str, value: &str) -> String {
        self.set(name, value, if value.is_empty() { 0 } else { YEAR })
    }

    /// The session cookie.
    pub(crate) fn session(&self, session: &Token) -> String {
        self.set(&self.session, session.as_str(), SESSION_LASTS / 1000)
    }

    /// Removes the session cookie.
    pub(crate) fn end_session(&self) -> String {
        self.set(&self.session, "", 0)
    }

    fn set(&self, name: &str, value: &str, seconds: i64) -> String {
        let secure = if self.by_tls { "; Secure" } else { "" };
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}")
    }
}

/// The SHA-256 of every session cookie of a request. Servers that share a record use different names, so
/// only a lookup in the record finds the valid one.
pub(crate) fn sessions_of(headers: &HeaderMap) -> Vec<Hash> {
    let is_session = |name: &str| {
        name.strip_prefix(SESSION).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    let sessions = pairs(headers).filter(|(name, _)| is_session(name));
    sessions.take(SESSIONS).map(|(_, session)| digest(session)).collect()
}

/// The value of a cookie.
pub(crate) fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    pairs(headers).find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
}

fn pairs(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let all = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_servers_of_one_machine_name_their_sessions_differently_and_read_both() {
        let (one, other) = (CookieJar::new("home one", false), CookieJar::new("home two", false));
        assert_ne!(one.session, other.session);
        assert_eq!(one.session, CookieJar::new("home one", true).session, "the name stays");
        let line = format!(
            "{}=a; aw_lang=vi; {}=b; aw_session=c; aw_sessions=d",
            one.session, other.session
        );
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, line.parse().unwrap());
        assert_eq!(sessions_of(&headers), ["a", "b", "c"].map(digest));
    }
}
