//! Tokens: made here, shown once, and known by their SHA-256 everywhere else.

use std::fmt;

use aw_core::Hash;
use sha2::{Digest, Sha256};

/// What a token begins with, so that people and scanners recognise one that went astray.
const PREFIX: &str = "aw_";

/// A secret of 256 bits that proves who calls.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A new one.
    ///
    /// # Panics
    ///
    /// When the system has no randomness to give: then nothing may be kept secret with it.
    pub fn new() -> Self {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).expect("the system gives randomness");
        Token(format!("{PREFIX}{}", Hash(secret)))
    }

    /// The text, for whoever it was made for.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What is kept of it.
    pub fn digest(&self) -> Hash {
        digest(&self.0)
    }
}

impl Default for Token {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// The SHA-256 of a token as somebody sent it.
pub fn digest(token: &str) -> Hash {
    Hash(Sha256::digest(token).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_long_new_every_time_and_never_shown_by_accident() {
        let (one, other) = (Token::new(), Token::new());
        assert_eq!(one.as_str().len(), PREFIX.len() + 64);
        assert_ne!(one.as_str(), other.as_str());
        assert_ne!(one.digest(), other.digest());
        assert_eq!(one.digest(), digest(one.as_str()));
        assert!(!format!("{one:?}").contains(&one.as_str()[PREFIX.len()..]));
    }
}
