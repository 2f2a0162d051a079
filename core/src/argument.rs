//! An argument as the record keeps it.

use core::fmt;
use core::str::FromStr;

use crate::{
    ArgumentId, Author, Content, DebateId, Event, RequestId, SeatName, Seq, UnknownWord, words,
};

/// A time in milliseconds since 1970 (UTC). The rules never read a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

/// The interface through which an argument was submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Via {
    /// The command line.
    Cli,
    /// The tools of an MCP client.
    Mcp,
    /// The runner, for an agent program that it started.
    Run,
    /// The web page.
    Page,
    /// HTTP or WebSocket, from another program.
    Api,
}

words!(Via, "cli, mcp, run, page, api", {
    Cli = "cli",
    Mcp = "mcp",
    Run = "run",
    Page = "page",
    Api = "api",
});

/// A recorded argument with all its fields. It never changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Its id.
    pub id: ArgumentId,
    /// The debate it belongs to.
    pub debate: DebateId,
    /// Its position in the debate.
    pub seq: Seq,
    /// The argument it answers.
    pub parent: Option<ArgumentId>,
    /// Its kind, its role, and whether it was parked.
    pub event: Event,
    /// Its text.
    pub content: Content,
    /// The author's label.
    pub author: Option<Author>,
    /// The request that wrote it.
    pub request: RequestId,
    /// The interface it was submitted through.
    pub via: Via,
    /// The seat whose token wrote it, if the server requires tokens.
    pub seat: Option<SeatName>,
    /// When it was committed; never earlier than its predecessor.
    pub at: Time,
    /// The hash over its fields and its predecessor's hash.
    pub hash: Hash,
}

/// A SHA-256 that chains an argument to its predecessor.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// Stands for the predecessor of the first argument.
    pub const NONE: Hash = Hash([0; 32]);
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // In one call: a serializer scans each piece for characters to escape.
        let mut text = [0; 64];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
        }
        f.write_str(str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

/// The hexadecimal digit of a number below 16.
fn digit(number: u8) -> u8 {
    if number < 10 { b'0' + number } else { b'a' + number - 10 }
}

impl FromStr for Hash {
    type Err = UnknownWord;

    fn from_str(hex: &str) -> Result<Self, Self::Err> {
        let wrong = UnknownWord { expected: "64 hexadecimal digits" };
        let mut hash = [0; 32];
        if hex.len() != 64 || !hex.is_ascii() {
            return Err(wrong);
        }
        for (number, byte) in hash.iter_mut().enumerate() {
            let digits = &hex[2 * number..2 * number + 2];
            *byte = u8::from_str_radix(digits, 16).map_err(|_| wrong)?;
        }
        Ok(Hash(hash))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    /// The SHA-256 of nothing.
    const OF_NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn a_hash_is_written_and_read_as_64_hexadecimal_digits() {
        let hash: Hash = OF_NOTHING.parse().unwrap();
        assert_eq!((hash.0[0], hash.0[1], hash.0[31]), (0xe3, 0xb0, 0x55));
        assert_eq!(hash.to_string(), OF_NOTHING);
        assert_eq!(alloc::format!("{hash:?}"), OF_NOTHING);
    }

    #[test]
    fn nothing_else_is_read_as_a_hash() {
        let without = |count| &OF_NOTHING[count..];
        let with = |more| alloc::format!("{}{more}", without(2));
        for wrong in
            ["", without(1), &with("5"), &with("000"), &with("0g"), &with("é"), &with("éé")]
        {
            assert!(wrong.parse::<Hash>().is_err(), "{wrong:?}");
        }
    }
}
