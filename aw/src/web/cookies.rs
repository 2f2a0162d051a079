//! Cookies: what a browser keeps for us. No script can read them, and no other site can send them.

use aw_core::Hash;
use axum::http::HeaderMap;
use axum::http::header::COOKIE;

use crate::token::{Token, digest};

/// Ties forms to a browser.
pub(super) const BROWSER: &str = "aw_browser";
pub(super) const LANGUAGE: &str = "aw_lang";
pub(super) const THEME: &str = "aw_theme";

/// The session of a person who has signed in. The cookie's name goes on with a mark of the server: a browser
/// keeps one set of cookies for all ports of a machine, and servers there must not overwrite each other's.
const SESSION: &str = "aw_session";

/// How many sessions of one browser are looked at. Those of other servers on the machine are among them.
const SESSIONS: usize = 16;

/// How long one stays signed in, in milliseconds.
pub(super) const SESSION_LASTS: i64 = 12 * 60 * 60 * 1000;

/// How long a browser and its wishes are known again, in seconds.
const FOR_LONG: i64 = 365 * 24 * 60 * 60;

/// How cookies are given to one browser.
#[derive(Debug, Clone)]
pub(super) struct Jar {
    /// The name of the session's cookie.
    session: String,
    /// Whether it came over TLS, so that its cookies need never go without.
    pub(super) by_tls: bool,
}

impl Jar {
    pub(super) fn new(server: &str, by_tls: bool) -> Self {
        let mark: String = digest(server).to_string().chars().take(8).collect();
        Jar { session: format!("{SESSION}_{mark}"), by_tls }
    }

    /// One that stays for long; an empty one goes.
    pub(super) fn keep(&self, name: &str, value: &str) -> String {
        self.set(name, value, if value.is_empty() { 0 } else { FOR_LONG })
    }

    /// Somebody has signed in.
    pub(super) fn session(&self, session: &Token) -> String {
        self.set(&self.session, session.as_str(), SESSION_LASTS / 1000)
    }

    /// Somebody leaves.
    pub(super) fn end_of_session(&self) -> String {
        self.set(&self.session, "", 0)
    }

    fn set(&self, name: &str, value: &str, seconds: i64) -> String {
        let secure = if self.by_tls { "; Secure" } else { "" };
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}")
    }
}

/// Whether a browser that has cookies of ours shows them.
pub(crate) fn shows_cookies(headers: &HeaderMap) -> bool {
    cookie(headers, BROWSER).is_some()
}

/// The SHA-256 of every session that a request shows. The record knows which is one of its own: servers that
/// share a record have names of their own for the cookie.
pub(crate) fn sessions_of(headers: &HeaderMap) -> Vec<Hash> {
    let is_session = |name: &str| {
        name.strip_prefix(SESSION).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    let sessions = pairs(headers).filter(|(name, _)| is_session(name));
    sessions.take(SESSIONS).map(|(_, session)| digest(session)).collect()
}

/// The value of a cookie.
pub(super) fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
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
        let (one, other) = (Jar::new("home one", false), Jar::new("home two", false));
        assert_ne!(one.session, other.session);
        assert_eq!(one.session, Jar::new("home one", true).session, "the name stays");
        let mut headers = HeaderMap::new();
        let line = format!(
            "{}=a; aw_lang=vi; {}=b; aw_session=c; aw_sessions=d",
            one.session, other.session
        );
        headers.insert(COOKIE, line.parse().unwrap());
        assert_eq!(sessions_of(&headers), ["a", "b", "c"].map(digest));
    }
}
