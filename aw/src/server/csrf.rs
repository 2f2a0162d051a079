//! CSRF tokens: each form carries one that proves this server made it for the browser that sends it.

use axum::http::HeaderMap;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use super::cookies::{BROWSER, cookie};

/// The key of the CSRF tokens. It is new with every start of the server, so older forms are refused.
pub(crate) struct CsrfKey(Hmac<Sha256>);

impl CsrfKey {
    /// A random key.
    pub(crate) fn new() -> Self {
        let mut key = [0; 32];
        getrandom::fill(&mut key).expect("the system gives randomness");
        CsrfKey(Hmac::new_from_slice(&key).expect("HMAC takes a key of any length"))
    }

    /// The token for the forms of this browser.
    pub(crate) fn token(&self, browser: &str) -> String {
        let bytes = self.0.clone().chain_update(browser).finalize().into_bytes();
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether this is the token of the browser that sends these headers.
    pub(crate) fn accepts(&self, headers: &HeaderMap, token: &str) -> bool {
        let Some(browser) = cookie(headers, BROWSER) else { return false };
        self.token(&browser).as_bytes().ct_eq(token.as_bytes()).into()
    }
}

impl std::fmt::Debug for CsrfKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CsrfKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_good_for_one_browser_and_one_start_of_the_server() {
        let (key, another) = (CsrfKey::new(), CsrfKey::new());
        let mut headers = HeaderMap::new();
        assert!(!key.accepts(&headers, &key.token("b1")), "no cookie");
        headers.insert("cookie", "aw_browser=b1".parse().unwrap());
        assert!(key.accepts(&headers, &key.token("b1")));
        for wrong in [key.token("b2"), another.token("b1"), String::new()] {
            assert!(!key.accepts(&headers, &wrong), "{wrong}");
        }
    }
}
