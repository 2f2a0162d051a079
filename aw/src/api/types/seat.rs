//! Seats and their tokens.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{DebateIdText, Stamp};

/// Asks for a seat.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CreateToken {
    /// `proposer`, `opponent`, `arbitrator` or `observer`.
    pub role: String,
    /// The only debate that it is for; without one it is for every debate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debate_id: Option<String>,
    /// Its name: at most 80 characters. Everybody sees it on the arguments that the token writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The seconds for which it is valid; without them it is valid until it is revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<u64>,
}

/// A seat, without its token.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Seat {
    /// Its id, by which it is revoked.
    #[schema(format = Uuid)]
    pub token_id: String,
    /// The name of the token.
    pub name: String,
    /// The role that it may play.
    pub role: String,
    /// The only debate that it is for.
    #[schema(required = true)]
    pub debate_id: Option<DebateIdText>,
    /// When it was made.
    pub created_at: Stamp,
    /// When it expires.
    #[schema(required = true)]
    pub expires_at: Option<Stamp>,
    /// When it was taken back.
    #[schema(required = true)]
    pub revoked_at: Option<Stamp>,
}

/// A new seat with its token, which is shown only once.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct NewToken {
    /// The token itself.
    pub token: String,
    /// Its seat.
    #[serde(flatten)]
    pub seat: Seat,
    /// Whether this server requires tokens.
    pub wanted: bool,
    /// The URL at which others reach the server, if its settings name one.
    #[schema(required = true)]
    pub public_url: Option<String>,
}

/// All seats, the newest first.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct TokenList {
    /// The seats.
    pub tokens: Vec<Seat>,
    /// How many there are.
    pub total: u64,
    /// Whether this server requires tokens.
    pub wanted: bool,
}

/// Asks for a link that signs a browser in.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct CreateLink {
    /// The page that it leads to, for instance `/debate/93d81b1a-0e66-4510-abfd-aa33b26cb82e`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// A link that signs a browser in, once.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Link {
    /// Path and query, to be appended to the server's address.
    pub path: String,
    /// When it expires.
    #[schema(required = true)]
    pub expires_at: Option<Stamp>,
}
