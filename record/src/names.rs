//! What people call debates, arguments and documents.

use aw_core::{ArgumentId, DebateId, DocumentId, Kind, ProjectId, Role, Seq, Slug, State};
use uuid::Uuid;

use crate::DebateListed;

/// A caller's name for a debate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DebateName {
    /// A slug, the beginning of an id, or an id in the older system.
    Text(String),
    /// The one that changed last: of the project, if the project has any.
    Last,
    /// The only one of the project that is open.
    OnlyOpen {
        /// If several are open: the only one of them that waits for this role.
        awaiting: Option<Role>,
    },
}

/// Which debates a name may mean.
#[derive(Debug, Clone, Default)]
pub struct NameScope {
    /// Only this one.
    pub only: Option<DebateId>,
    /// The caller's project.
    pub project: Option<ProjectId>,
}

/// A caller's name for an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentName {
    /// Its position.
    Number(u64),
    /// The beginning of its id.
    Prefix(IdPrefix),
    /// The newest of its debate.
    Last,
    /// The newest argument of the other roles that was not parked.
    AnsweredBy(Role),
}

/// A caller's name for a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentName {
    /// Its title, or the beginning of its id.
    Text(String),
    /// The one that changed last.
    Last,
}

/// A debate that fits a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedDebate {
    /// Its id.
    pub id: DebateId,
    /// Its slug.
    pub slug: Option<Slug>,
    /// Its title.
    pub title: String,
    /// The role that it waits for.
    pub state: State,
}

impl From<DebateListed> for NamedDebate {
    fn from(listed: DebateListed) -> Self {
        let DebateListed { debate, slug, .. } = listed;
        let (id, state) = (debate.id, debate.state());
        NamedDebate { id, slug, title: debate.title.into_string(), state }
    }
}

/// An argument that fits a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedArgument {
    /// Its id.
    pub id: ArgumentId,
    /// Its position.
    pub seq: Seq,
    /// Its kind.
    pub kind: Kind,
    /// The role that wrote it.
    pub role: Role,
}

/// A document that fits a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedDocument {
    /// Its id.
    pub id: DocumentId,
    /// Its title.
    pub title: Option<String>,
    /// The summary of its newest version.
    pub summary: String,
}

/// The beginning of an id: at least four hexadecimal digits, with hyphens where a UUID has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdPrefix {
    /// The first id that begins so.
    pub first: Uuid,
    /// The last one.
    pub last: Uuid,
}

impl IdPrefix {
    /// The fewest digits.
    pub const DIGITS: usize = 4;

    /// Reads the beginning of an id.
    pub fn parse(text: &str) -> Option<Self> {
        let filled = |digit: char| -> Option<Uuid> {
            let shape = "00000000-0000-0000-0000-000000000000";
            let rest = shape.get(text.len()..)?;
            let rest: String =
                rest.chars().map(|place| if place == '-' { '-' } else { digit }).collect();
            // The hyphens of a whole UUID stand where they must.
            Uuid::try_parse(&format!("{text}{rest}")).ok()
        };
        let digits = text.bytes().filter(u8::is_ascii_hexdigit).count();
        if digits < Self::DIGITS || !text.is_ascii() {
            return None;
        }
        Some(IdPrefix { first: filled('0')?, last: filled('f')? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_an_id_has_four_digits_and_hyphens_in_their_places() {
        let parsed = |text: &str| {
            IdPrefix::parse(text)
                .map(|IdPrefix { first, last }| (first.to_string(), last.to_string()))
        };
        let bounds = |first: &str, last: &str| Some((first.to_owned(), last.to_owned()));
        assert_eq!(
            parsed("93d8"),
            bounds("93d80000-0000-0000-0000-000000000000", "93d8ffff-ffff-ffff-ffff-ffffffffffff")
        );
        assert_eq!(
            parsed("93D81b1a-0"),
            bounds("93d81b1a-0000-0000-0000-000000000000", "93d81b1a-0fff-ffff-ffff-ffffffffffff")
        );
        let whole = "93d81b1a-0e66-4510-abfd-aa33b26cb82e";
        assert_eq!(parsed(whole), bounds(whole, whole));
        for none in ["", "93d", "93d-8", "93dx", "charge-retries", "93d81b1a0", "{93d8", "ééé93d8"]
        {
            assert_eq!(parsed(none), None, "{none}");
        }
    }
}
