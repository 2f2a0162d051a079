//! Cookies: what a browser keeps for us. No script can read them, and no other site can send them.

use aw_core::Hash;
use axum::http::HeaderMap;
use axum::http::header::COOKIE;

use crate::token::{Token, digest};

/// Ties forms to a browser.
pub(super) const BROWSER: &str = "aw_browser";
pub(super) const LANGUAGE: &str = "aw_lang";
pub(super) const THEME: &str = "aw_theme";

/// What whoever has signed in shows instead of a token, until it is over.
const SESSION: &str = "aw_session";

/// How long one stays signed in, in milliseconds.
pub(super) const SESSION_LASTS: i64 = 12 * 60 * 60 * 1000;

/// How long a browser and its wishes are known again, in seconds.
const FOR_LONG: i64 = 365 * 24 * 60 * 60;

/// How cookies are given to one browser.
#[derive(Debug, Clone, Copy)]
pub(super) struct Jar {
    /// Whether it came over TLS, so that its cookies need never go without.
    pub(super) by_tls: bool,
}

impl Jar {
    /// One that stays for long; an empty one goes.
    pub(super) fn keep(self, name: &str, value: &str) -> String {
        self.set(name, value, if value.is_empty() { 0 } else { FOR_LONG })
    }

    /// Somebody has signed in.
    pub(super) fn session(self, session: &Token) -> String {
        self.set(SESSION, session.as_str(), SESSION_LASTS / 1000)
    }

    /// Somebody leaves.
    pub(super) fn end_of_session(self) -> String {
        self.set(SESSION, "", 0)
    }

    fn set(self, name: &str, value: &str, seconds: i64) -> String {
        let secure = if self.by_tls { "; Secure" } else { "" };
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}")
    }
}

/// Whether a browser that has cookies of ours shows them.
pub(crate) fn shows_cookies(headers: &HeaderMap) -> bool {
    cookie(headers, BROWSER).is_some()
}

/// The SHA-256 of the session that whoever sends this claims to have.
pub(crate) fn session_of(headers: &HeaderMap) -> Option<Hash> {
    cookie(headers, SESSION).map(|session| digest(&session))
}

/// The value of a cookie.
pub(super) fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let all = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = all.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(known, _)| *known == name).map(|(_, value)| value.to_owned()).next()
}
