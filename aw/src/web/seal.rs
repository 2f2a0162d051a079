//! Seals: what only this server can have written.
//!
//! Every form carries one that belongs to the browser it was made for, and whoever has signed in
//! carries one instead of the token.

use axum::http::HeaderMap;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use uuid::Uuid;

use super::visitor::{browser, cookie, set_cookie};

/// The cookie of whoever has signed in.
const SESSION: &str = "aw_session";

/// How long one stays signed in, in milliseconds.
const SESSION_LASTS: i64 = 12 * 60 * 60 * 1000;

/// Makes seals and knows its own.
#[derive(Debug)]
pub(crate) struct Seal {
    /// New with every start of the server: forms from before it are out of date.
    secret: [u8; 32],
}

impl Default for Seal {
    fn default() -> Self {
        let mut secret = [0; 32];
        secret[..16].copy_from_slice(Uuid::new_v4().as_bytes());
        secret[16..].copy_from_slice(Uuid::new_v4().as_bytes());
        Seal { secret }
    }
}

impl Seal {
    /// What a form made for this browser carries.
    pub(crate) fn form(&self, browser: &str) -> String {
        sealed(&self.secret, "form", browser)
    }

    /// Whether the form was made by us for the browser that sends it.
    pub(crate) fn is_ours(&self, headers: &HeaderMap, given: &str) -> bool {
        browser(headers).is_some_and(|browser| same(&self.form(&browser), given))
    }
}

/// The cookie of somebody who knows the token, good for some hours.
pub(crate) fn session(token: &str, now: i64) -> String {
    let until = now + SESSION_LASTS;
    let seal = sealed(token.as_bytes(), "session", &until.to_string());
    set_cookie(SESSION, &format!("{until}.{seal}"), false)
}

/// The cookie of somebody who leaves.
pub(crate) fn end_of_session() -> String {
    set_cookie(SESSION, "", false)
}

/// Whether whoever sends this has signed in with the token, and not too long ago.
pub(crate) fn is_signed_in(headers: &HeaderMap, token: &str, now: i64) -> bool {
    let Some(session) = cookie(headers, SESSION) else { return false };
    let Some((until, seal)) = session.split_once('.') else { return false };
    let fresh = until.parse::<i64>().is_ok_and(|until| now < until);
    fresh && same(&sealed(token.as_bytes(), "session", until), seal)
}

fn sealed(secret: &[u8], purpose: &str, words: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("any length will do");
    mac.update(purpose.as_bytes());
    mac.update(&[0]);
    mac.update(words.as_bytes());
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_cookie(text: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let pair = text.split(';').next().unwrap();
        headers.insert("cookie", pair.parse().unwrap());
        headers
    }

    #[test]
    fn a_session_ends_and_belongs_to_its_token() {
        let cookie = with_cookie(&session("secret", 1_000));
        assert!(is_signed_in(&cookie, "secret", 1_000));
        assert!(!is_signed_in(&cookie, "secret", 1_000 + SESSION_LASTS));
        assert!(!is_signed_in(&cookie, "another", 1_000));
        let forged = with_cookie("aw_session=99999999999999.00");
        assert!(!is_signed_in(&forged, "secret", 1_000));
        assert!(!is_signed_in(&HeaderMap::new(), "secret", 1_000));
    }

    #[test]
    fn a_form_belongs_to_its_browser_and_to_this_start_of_the_server() {
        let (seal, another) = (Seal::default(), Seal::default());
        let headers = with_cookie("aw_browser=b1");
        assert!(seal.is_ours(&headers, &seal.form("b1")));
        assert!(!seal.is_ours(&headers, &seal.form("b2")));
        assert!(!seal.is_ours(&headers, &another.form("b1")));
        assert!(!seal.is_ours(&headers, ""));
        assert!(!seal.is_ours(&HeaderMap::new(), &seal.form("b1")));
    }
}
