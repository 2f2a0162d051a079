//! Tokens. They are made here and shown once; everything else stores only their SHA-256.

use std::fmt;

use aw_core::Hash;
use sha2::{Digest, Sha256};

/// The start of every token, by which people and scanners recognise a leaked one.
const PREFIX: &str = "aw_";

/// A secret of 256 bits that authenticates a caller.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A random token.
    ///
    /// # Panics
    ///
    /// If the system has no randomness.
    pub fn new() -> Self {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).expect("the system gives randomness");
        Token(format!("{PREFIX}{}", Hash(secret)))
    }

    /// The secret text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The SHA-256 of the text.
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

/// Whether a text looks like a token.
pub fn is_token(text: &str) -> bool {
    text.starts_with(PREFIX)
}

/// The SHA-256 of a token in a request.
pub fn digest(token: &str) -> Hash {
    Hash(Sha256::digest(token).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_long_and_random_and_debug_does_not_show_it() {
        let (one, other) = (Token::new(), Token::new());
        assert_eq!(one.as_str().len(), PREFIX.len() + 64);
        assert_ne!(one.as_str(), other.as_str());
        assert_ne!(one.digest(), other.digest());
        assert_eq!(one.digest(), digest(one.as_str()));
        assert!(!format!("{one:?}").contains(&one.as_str()[PREFIX.len()..]));
    }
}
