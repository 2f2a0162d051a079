//! The hash that chains each argument to its predecessor.
//!
//! The canonical form is written down in `docs/record.md`; it uses the fields as the API shows
//! them, so that anybody can check an exported transcript.

use aw_core::{Argument, Hash, Time};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

/// The hash of an argument whose predecessor has this one. The argument's own `hash` is not read.
pub(crate) fn link(previous: Hash, argument: &Argument) -> Hash {
    let mut canonical = Canonical(Sha256::new());
    let event = argument.event;
    canonical.field(&previous.to_string());
    canonical.field(&argument.debate.to_string());
    canonical.field(&argument.seq.to_string());
    canonical.field(&argument.id.to_string());
    canonical.optional(argument.parent.map(|parent| parent.to_string()).as_deref());
    canonical.field(event.kind().as_str());
    canonical.field(event.role().as_str());
    canonical.optional(argument.author.as_ref().map(aw_core::Author::as_str));
    canonical.field(argument.content.as_str());
    canonical.field(&argument.request.to_string());
    canonical.field(word(event.parked()));
    canonical.optional(event.close().map(word));
    canonical.field(word(event.automatic()));
    canonical.field(argument.via.as_str());
    canonical.field(&rfc3339(argument.at));
    Hash(canonical.0.finalize().into())
}

/// A present field is `<length in bytes>:<bytes>,` and an absent one `-,`: no two lists of fields
/// look the same.
struct Canonical(Sha256);

impl Canonical {
    fn field(&mut self, text: &str) {
        self.0.update(text.len().to_string());
        self.0.update(":");
        self.0.update(text);
        self.0.update(",");
    }

    fn optional(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.field(text),
            None => self.0.update("-,"),
        }
    }
}

fn word(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

/// UTC with milliseconds and `Z`.
fn rfc3339(at: Time) -> String {
    let at = Timestamp::from_millisecond(at.0).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{at:.3}")
}

#[cfg(test)]
mod tests {
    use aw_core::{Author, Content, Event, Seq, Via};
    use uuid::Uuid;

    use super::*;

    fn claim() -> Argument {
        Argument {
            id: Uuid::from_u128(2).into(),
            debate: Uuid::from_u128(1).into(),
            seq: Seq(2),
            parent: Some(Uuid::from_u128(3).into()),
            event: Event::OpponentClaim { parked: false },
            content: Content::recorded("Hai máy sẽ tranh nhau.".to_owned()),
            author: Some(Author::recorded("An".to_owned())),
            request: Uuid::from_u128(4).into(),
            via: Via::Cli,
            at: Time(1_767_225_600_123),
            hash: Hash::NONE,
        }
    }

    /// Worked out once with Python's hashlib from the form in `docs/record.md`.
    #[test]
    fn the_hash_is_the_one_that_the_documents_describe() {
        assert_eq!(
            link(Hash([0xab; 32]), &claim()).to_string(),
            "692539e379421dc9fa22c97e76d2e6a2dabe73bbf620b2d067a59ca1975fe9ad"
        );
    }

    #[test]
    fn every_field_counts() {
        let original = link(Hash::NONE, &claim());
        let changes: [fn(&mut Argument); 10] = [
            |a| a.id = Uuid::from_u128(9).into(),
            |a| a.debate = Uuid::from_u128(9).into(),
            |a| a.seq = Seq(3),
            |a| a.parent = None,
            |a| a.event = Event::OpponentClaim { parked: true },
            |a| a.content = Content::recorded("Hai máy".to_owned()),
            |a| a.author = None,
            |a| a.request = Uuid::from_u128(9).into(),
            |a| a.via = Via::Api,
            |a| a.at = Time(1_767_225_600_124),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut changed = claim();
            change(&mut changed);
            assert_ne!(link(Hash::NONE, &changed), original, "change {number}");
        }
        assert_ne!(link(Hash([1; 32]), &claim()), original);
    }
}
