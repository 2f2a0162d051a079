//! The hash that chains each argument to its predecessor, and the checksums over the rest: a debate's
//! title and rules, versions of documents, citations, deletions.
//!
//! `docs/record.md` specifies the canonical forms. They use the fields as the API shows them, so that
//! an exported transcript can be checked without `aw`.

use aw_core::{Argument, DebateId, DocumentId, Hash, RequestId, Time};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

/// The hash of an argument after a predecessor with the hash `previous`. It ignores the argument's
/// own `hash`.
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
    // Without a seat the field is left out entirely, because older arguments were hashed without it.
    if let Some(seat) = &argument.seat {
        canonical.field(seat.as_str());
    }
    canonical.hash()
}

/// The fields of a debate that never change.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) id: DebateId,
    pub(crate) title: String,
    pub(crate) debate_type: String,
    pub(crate) policy: String,
    pub(crate) created_at: Time,
    /// The texts of its type: title, description, and the rules of proposer, opponent and arbitrator.
    pub(crate) texts: Option<[String; 5]>,
    /// The settings of its points: the form, the rounds and the bar.
    pub(crate) points: Option<(u64, u64, String)>,
}

impl Opening {
    /// The checksum over these fields.
    pub(crate) fn checksum(&self) -> Hash {
        let mut canonical = Canonical::of("debate");
        canonical.field(&self.id.to_string());
        canonical.field(&self.title);
        canonical.field(&self.debate_type);
        canonical.field(&self.policy);
        canonical.field(&rfc3339(self.created_at));
        for text in 0..5 {
            canonical.optional(self.texts.as_ref().map(|texts| texts[text].as_str()));
        }
        // Without points the fields are left out, because older debates were hashed without them.
        if let Some((form, rounds, blocking)) = &self.points {
            canonical.field(&form.to_string());
            canonical.field(&rounds.to_string());
            canonical.field(blocking);
        }
        canonical.hash()
    }
}

/// A version of a document with the fields that its checksum covers.
#[derive(Debug)]
pub(crate) struct ChainedVersion {
    pub(crate) document: DocumentId,
    pub(crate) number: u64,
    pub(crate) summary: String,
    pub(crate) author: Option<String>,
    pub(crate) metadata: String,
    pub(crate) request: RequestId,
    pub(crate) created_at: Time,
    pub(crate) content: String,
    /// The id of the seat that created the document.
    pub(crate) seat: Option<String>,
}

impl ChainedVersion {
    /// The checksum after a predecessor with the checksum `previous`.
    pub(crate) fn link(&self, previous: Hash) -> Hash {
        let mut canonical = Canonical::of("document");
        canonical.field(&previous.to_string());
        canonical.field(&self.document.to_string());
        canonical.field(&self.number.to_string());
        canonical.field(&self.summary);
        canonical.optional(self.author.as_deref());
        canonical.field(&self.metadata);
        canonical.field(&self.request.to_string());
        canonical.field(&rfc3339(self.created_at));
        canonical.field(&self.content);
        canonical.optional(self.seat.as_deref());
        canonical.hash()
    }
}

/// The checksum over the time of an event, `deleted` or `imported`, of a debate or document whose own
/// checksum is `previous`.
pub(crate) fn moment(what: &str, previous: Hash, at: Time) -> Hash {
    let mut canonical = Canonical::of(what);
    canonical.field(&previous.to_string());
    canonical.field(&rfc3339(at));
    canonical.hash()
}

/// The checksum over the slug and the origin of a debate.
pub(crate) fn names(opening: Hash, names: &[Option<String>]) -> Hash {
    let mut canonical = Canonical::of("names");
    canonical.field(&opening.to_string());
    for name in names {
        canonical.optional(name.as_deref());
    }
    canonical.hash()
}

/// The checksum over the tombstone of a debate or document whose own checksum is `previous`: the time,
/// the number of arguments or versions, and the newest hash.
pub(crate) fn tombstone(previous: Hash, at: Time, pieces: u64, newest: Hash) -> Hash {
    let mut canonical = Canonical::of("purged");
    canonical.field(&previous.to_string());
    canonical.field(&rfc3339(at));
    canonical.field(&pieces.to_string());
    canonical.field(&newest.to_string());
    canonical.hash()
}

/// The checksum over the documents that the argument with this hash cites, ordered by id.
pub(crate) fn citations(argument: Hash, cited: &[(DocumentId, u64)]) -> Hash {
    let mut canonical = Canonical::of("citations");
    canonical.field(&argument.to_string());
    for (document, version) in cited {
        canonical.field(&document.to_string());
        canonical.field(&version.to_string());
    }
    canonical.hash()
}

/// Encodes a present field as `<length in bytes>:<bytes>,` and an absent one as `-,`, so that two
/// different lists of fields never have the same encoding.
struct Canonical(Sha256);

impl Canonical {
    /// Begins with a word that separates the kinds of checksums.
    fn of(kind: &str) -> Self {
        let mut canonical = Canonical(Sha256::new());
        canonical.field(kind);
        canonical
    }

    fn hash(self) -> Hash {
        Hash(self.0.finalize().into())
    }

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

/// UTC with milliseconds and `Z`; or the plain number if it is out of range.
fn rfc3339(at: Time) -> String {
    match Timestamp::from_millisecond(at.0) {
        Ok(time) => format!("{time:.3}"),
        Err(_) => at.0.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use aw_core::{Author, Content, Event, SeatName, Seq, Via};
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
            seat: None,
            at: Time(1_767_225_600_123),
            hash: Hash::NONE,
        }
    }

    /// Computed once with Python's hashlib from the form in `docs/record.md`.
    #[test]
    fn the_hash_is_the_one_that_the_docs_specify() {
        assert_eq!(
            link(Hash([0xab; 32]), &claim()).to_string(),
            "692539e379421dc9fa22c97e76d2e6a2dabe73bbf620b2d067a59ca1975fe9ad"
        );
    }

    #[test]
    fn every_field_changes_the_hash() {
        let original = link(Hash::NONE, &claim());
        let changes: [fn(&mut Argument); 11] = [
            |a| a.id = Uuid::from_u128(9).into(),
            |a| a.debate = Uuid::from_u128(9).into(),
            |a| a.seq = Seq(3),
            |a| a.parent = None,
            |a| a.event = Event::OpponentClaim { parked: true },
            |a| a.content = Content::recorded("Hai máy".to_owned()),
            |a| a.author = None,
            |a| a.request = Uuid::from_u128(9).into(),
            |a| a.via = Via::Api,
            |a| a.seat = Some(SeatName::recorded("An".to_owned())),
            |a| a.at = Time(1_767_225_600_124),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut changed = claim();
            change(&mut changed);
            assert_ne!(link(Hash::NONE, &changed), original, "change {number}");
        }
        assert_ne!(link(Hash([1; 32]), &claim()), original);
    }

    fn opening() -> Opening {
        Opening {
            id: Uuid::from_u128(1).into(),
            title: "Một tệp?".to_owned(),
            debate_type: "legal".to_owned(),
            policy: "auto".to_owned(),
            created_at: Time(1_767_225_600_123),
            points: None,
            texts: Some(["T", "D", "P", "O", "A"].map(str::to_owned)),
        }
    }

    fn version() -> ChainedVersion {
        ChainedVersion {
            document: Uuid::from_u128(5).into(),
            number: 2,
            summary: "Plan".to_owned(),
            author: Some("An".to_owned()),
            metadata: "{}".to_owned(),
            request: Uuid::from_u128(4).into(),
            created_at: Time(1_767_225_600_123),
            content: "# Plan\n".to_owned(),
            seat: Some(Uuid::from_u128(6).to_string()),
        }
    }

    /// Computed in the same way.
    #[test]
    fn the_checksums_are_those_that_the_docs_specify() {
        let before = Hash([0xab; 32]);
        let cited = [(Uuid::from_u128(5).into(), 2), (Uuid::from_u128(6).into(), 1)];
        for (checksum, described) in [
            (
                opening().checksum(),
                "e83037719082cd7014c6fcf462250d60320063318bee96ab76f21fa51f378a14",
            ),
            (
                Opening { texts: None, ..opening() }.checksum(),
                "c8d798213142250ce11d51aa4ea9cfd2a5d1efd4f57a7fc72b034999f789e457",
            ),
            (
                version().link(before),
                "fc48312dce396348b1e3c1649dc12ab66157c0f925eaabbde45497787c4ceb56",
            ),
            (
                moment("deleted", before, Time(1_767_225_600_123)),
                "d1047cdaad5dbf243f4eaa056bd14d2c22383914c60327c4e40f6ce5cc5dcea5",
            ),
            (
                citations(before, &cited),
                "9aa0828fd2ec57142dc77f3a23fc5e9c51b628ba22023cf04cb82f41a5444946",
            ),
        ] {
            assert_eq!(checksum.to_string(), described);
        }
    }
}
