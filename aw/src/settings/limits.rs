//! Limits of a server.
//!
//! A `max` of 0 lets nothing in; a rate of 0 lets everything through.

use std::fmt::Display;
use std::str::FromStr;

use super::{BadSetting, Config, Environment, parsed, source};

/// Limits of a server.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The longest argument, in bytes.
    pub content_bytes: usize,
    /// The longest version of a document, in bytes.
    pub document_bytes: usize,
    /// The number of debates, without deleted ones.
    pub debates: u64,
    /// The number of documents, without deleted ones.
    pub documents: u64,
    /// The number of held waits.
    pub held_waits: usize,
    /// The number of them with the same token.
    pub waits_per_token: usize,
    /// The number of open sockets.
    pub sockets: usize,
    /// The number of them with the same token.
    pub sockets_per_token: usize,
    /// The number of open connections.
    pub connections: usize,
    /// The bytes of long answers in flight.
    pub long_answers: usize,
    /// Rate limits, where the server wants tokens.
    pub rates: Rates,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            content_bytes: 10_240,
            document_bytes: 5 * 1024 * 1024,
            debates: 1_000_000,
            documents: 1_000_000,
            held_waits: 20_000,
            waits_per_token: 1_000,
            sockets: 5_000,
            sockets_per_token: 200,
            connections: 30_000,
            long_answers: 64 * 1024 * 1024,
            rates: Rates::FREE,
        }
    }
}

/// A rate limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Requests a second on average; 0 sets no limit.
    pub per_second: f64,
    /// Requests at once after a pause.
    pub burst: u32,
}

impl Pace {
    /// No limit.
    pub const FREE: Pace = Pace { per_second: 0.0, burst: 0 };
}

/// Rate limits of a server that wants tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// For one token.
    pub token: Pace,
    /// For one address, except loopback.
    pub address: Pace,
    /// For requests with a wrong token from one address.
    pub wrong_token: Pace,
}

impl Rates {
    /// No limits.
    pub const FREE: Rates =
        Rates { token: Pace::FREE, address: Pace::FREE, wrong_token: Pace::FREE };

    /// The defaults.
    pub const USUAL: Rates = Rates {
        token: Pace { per_second: 100.0, burst: 500 },
        address: Pace { per_second: 200.0, burst: 1000 },
        wrong_token: Pace { per_second: 5.0, burst: 50 },
    };
}

/// Reads the limits from the environment and the config file.
pub(super) fn load(config: &Config, set: Environment<'_>) -> Result<Limits, BadSetting> {
    let usual = Limits::default();
    Ok(Limits {
        content_bytes: one(set, "AW_CONTENT_LIMIT", config.content_limit, usual.content_bytes)?,
        document_bytes: one(set, "AW_DOCUMENT_LIMIT", config.document_limit, usual.document_bytes)?,
        debates: one(set, "AW_MAX_DEBATES", config.max_debates, usual.debates)?,
        documents: one(set, "AW_MAX_DOCUMENTS", config.max_documents, usual.documents)?,
        held_waits: one(set, "AW_MAX_WAITS", config.max_waits, usual.held_waits)?,
        waits_per_token: one(
            set,
            "AW_MAX_WAITS_PER_TOKEN",
            config.max_waits_per_token,
            usual.waits_per_token,
        )?,
        sockets: one(set, "AW_MAX_SOCKETS", config.max_sockets, usual.sockets)?,
        sockets_per_token: one(
            set,
            "AW_MAX_SOCKETS_PER_TOKEN",
            config.max_sockets_per_token,
            usual.sockets_per_token,
        )?,
        connections: one(set, "AW_MAX_CONNECTIONS", config.max_connections, usual.connections)?,
        long_answers: one(set, "AW_MAX_LONG_ANSWERS", config.max_long_answers, usual.long_answers)?,
        rates: Rates {
            token: Pace {
                per_second: rate(set, "AW_TOKEN_RATE", config.token_rate, Rates::USUAL.token)?,
                burst: one(set, "AW_TOKEN_BURST", config.token_burst, Rates::USUAL.token.burst)?,
            },
            address: Pace {
                per_second: rate(
                    set,
                    "AW_ADDRESS_RATE",
                    config.address_rate,
                    Rates::USUAL.address,
                )?,
                burst: one(
                    set,
                    "AW_ADDRESS_BURST",
                    config.address_burst,
                    Rates::USUAL.address.burst,
                )?,
            },
            wrong_token: Pace {
                per_second: rate(
                    set,
                    "AW_WRONG_TOKEN_RATE",
                    config.wrong_token_rate,
                    Rates::USUAL.wrong_token,
                )?,
                burst: one(
                    set,
                    "AW_WRONG_TOKEN_BURST",
                    config.wrong_token_burst,
                    Rates::USUAL.wrong_token.burst,
                )?,
            },
        },
    })
}

fn one<T: FromStr<Err: Display>>(
    set: Environment<'_>,
    name: &str,
    in_file: Option<T>,
    usual: T,
) -> Result<T, BadSetting> {
    match set(name) {
        Some(text) => parsed(name, &text),
        None => Ok(in_file.unwrap_or(usual)),
    }
}

fn rate(
    set: Environment<'_>,
    name: &str,
    in_file: Option<f64>,
    usual: Pace,
) -> Result<f64, BadSetting> {
    let rate = one(set, name, in_file, usual.per_second)?;
    if rate == 0.0 || (0.001..=1e6).contains(&rate) {
        return Ok(rate);
    }
    let why = "it must be a number a second, from 0.001 to 1000000, or 0 for no limit".to_owned();
    Err(BadSetting::Value { name: source(name, set(name).is_some()), why })
}
