//! Seals: what only this server can have written.
//!
//! Every form carries one that belongs to the browser it was made for.

use axum::http::HeaderMap;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use uuid::Uuid;

use super::visitor::browser;

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
