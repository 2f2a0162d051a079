//! The callers that a server accepts.

use aw_core::Hash;
use hyper::Uri;

use crate::token::digest;

/// The callers that the server accepts.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// Whether every request but `GET /health` must bring a token.
    pub wants_token: bool,
    /// The administrator's tokens. The tokens of seats are in the record.
    pub keys: Vec<Key>,
    /// The public URLs of the server, besides loopback addresses.
    pub public: Vec<PublicUrl>,
}

impl Guard {
    /// Accepts this token and those of seats.
    pub fn sharing(token: &str) -> Self {
        Guard { wants_token: true, keys: vec![Key::shared(token)], ..Guard::default() }
    }
}

/// A token with every right.
#[derive(Debug, Clone)]
pub struct Key {
    pub(crate) name: &'static str,
    pub(crate) digest: Hash,
}

impl Key {
    /// The token that the server makes when it starts.
    pub fn of_administrator(token: &str) -> Self {
        Key { name: "administrator", digest: digest(token) }
    }

    /// The token that all users of a shared server have.
    pub fn shared(token: &str) -> Self {
        Key { name: "shared token", digest: digest(token) }
    }
}

/// The scheme and host of a public URL of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl {
    pub(crate) origin: String,
    pub(crate) authority: String,
}

impl PublicUrl {
    /// The origin as a browser sends it.
    pub fn origin(&self) -> &str {
        &self.origin
    }
}

impl std::str::FromStr for PublicUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("{text:?} is not a URL such as https://debates.example.org");
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        match (uri.scheme_str(), uri.authority()) {
            (Some(scheme @ ("http" | "https")), Some(authority)) => {
                let authority = authority.as_str().to_ascii_lowercase();
                Ok(PublicUrl { origin: format!("{scheme}://{authority}"), authority })
            }
            _ => Err(wrong()),
        }
    }
}
