//! Values that are sent as text: words of the protocol, ids, times.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;

use aw_core::{
    Action, ArgumentId, Available, Course, DebateId, DocumentId, Hash, Held, Kind, Outcome,
    PointId, PointState, QuoteCheck, RequestId, ResolutionPolicy, Role, Severity, State, Time, Via,
    Word as StatementWord,
};
use jiff::Timestamp;
use schemars::{JsonSchema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

/// A value that is written in its usual spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Text<T>(pub T);

impl<T: Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map(Text).map_err(D::Error::custom)
    }
}

/// A word of the protocol. A newer server may send a word that this version does not know. The
/// client keeps it as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word<T> {
    /// A word that this version knows.
    Known(T),
    /// Any other word.
    Unknown(String),
}

impl<T: Copy> Word<T> {
    /// The value, if this version knows the word.
    pub fn known(&self) -> Option<T> {
        match self {
            Word::Known(value) => Some(*value),
            Word::Unknown(_) => None,
        }
    }
}

impl<T> From<T> for Word<T> {
    fn from(value: T) -> Self {
        Word::Known(value)
    }
}

impl<T: Display> Display for Word<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Word::Known(value) => value.fmt(f),
            Word::Unknown(word) => word.fmt(f),
        }
    }
}

impl<T: Display> Serialize for Word<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, T: FromStr> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        Ok(word.parse().map_or_else(|_| Word::Unknown(word), Word::Known))
    }
}

/// Short names for them, which the description of the API uses too.
macro_rules! texts {
    ($($name:ident = $text:ident<$inner:ident>),+ $(,)?) => {$(
        #[doc = concat!("A [`", stringify!($inner), "`] as text.")]
        pub type $name = $text<$inner>;
    )+};
}

texts! {
    ActionText = Word<Action>,
    ArgumentIdText = Text<ArgumentId>,
    AvailableText = Word<Available>,
    CourseText = Word<Course>,
    DebateIdText = Text<DebateId>,
    DocumentIdText = Text<DocumentId>,
    HashText = Text<Hash>,
    HeldText = Word<Held>,
    KindText = Word<Kind>,
    OutcomeText = Word<Outcome>,
    PointIdText = Text<PointId>,
    PointStateText = Word<PointState>,
    QuoteCheckText = Word<QuoteCheck>,
    RequestIdText = Text<RequestId>,
    ResolutionPolicyText = Word<ResolutionPolicy>,
    RoleText = Word<Role>,
    SeverityText = Word<Severity>,
    StateText = Word<State>,
    StatementWordText = Word<StatementWord>,
    ViaText = Word<Via>,
}

/// A moment: UTC, RFC 3339 with milliseconds and `Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(pub Time);

impl Display for Stamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = Timestamp::from_millisecond(self.0.0).unwrap_or(Timestamp::MAX);
        write!(f, "{at:.3}")
    }
}

impl FromStr for Stamp {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse::<Timestamp>().map(|at| Stamp(Time(at.as_millisecond())))
    }
}

impl Serialize for Stamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // In one call: a serializer scans each piece for characters to escape.
        serializer.serialize_str(&self.to_string())
    }
}

impl<'de> Deserialize<'de> for Stamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

fn string(format: Option<KnownFormat>, words: Option<Vec<&'static str>>) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .format(format.map(SchemaFormat::KnownFormat))
        .enum_values(words)
        .into()
}

macro_rules! schema_of_words {
    ($($name:ident),+) => {$(
        impl PartialSchema for Word<$name> {
            fn schema() -> RefOr<Schema> {
                string(None, Some($name::ALL.iter().map(|word| word.as_str()).collect()))
            }
        }

        impl ToSchema for Word<$name> {
            fn name() -> Cow<'static, str> {
                stringify!($name).into()
            }
        }

        impl JsonSchema for Word<$name> {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> schemars::Schema {
                let words: Vec<&str> = $name::ALL.iter().map(|word| word.as_str()).collect();
                json_schema!({"type": "string", "enum": words})
            }
        }
    )+};
}

macro_rules! schema_of_ids {
    ($($name:ident),+) => {$(
        impl PartialSchema for Text<$name> {
            fn schema() -> RefOr<Schema> {
                string(Some(KnownFormat::Uuid), None)
            }
        }

        impl ToSchema for Text<$name> {
            fn name() -> Cow<'static, str> {
                stringify!($name).into()
            }
        }
    )+};
}

schema_of_words!(
    Action,
    Available,
    Course,
    Held,
    Kind,
    Outcome,
    PointState,
    QuoteCheck,
    ResolutionPolicy,
    Role,
    Severity,
    State,
    StatementWord,
    Via
);
schema_of_ids!(ArgumentId, DebateId, DocumentId, RequestId);

impl PartialSchema for Text<PointId> {
    fn schema() -> RefOr<Schema> {
        string(None, None)
    }
}

impl ToSchema for Text<PointId> {
    fn name() -> Cow<'static, str> {
        "PointId".into()
    }
}

impl PartialSchema for Text<Hash> {
    fn schema() -> RefOr<Schema> {
        string(None, None)
    }
}

impl ToSchema for Text<Hash> {
    fn name() -> Cow<'static, str> {
        "Hash".into()
    }
}

impl PartialSchema for Stamp {
    fn schema() -> RefOr<Schema> {
        string(Some(KnownFormat::DateTime), None)
    }
}

impl ToSchema for Stamp {
    fn name() -> Cow<'static, str> {
        "Time".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_milliseconds_and_z() {
        for (millis, text) in
            [(0, "1970-01-01T00:00:00.000Z"), (1_767_225_600_120, "2026-01-01T00:00:00.120Z")]
        {
            assert_eq!(Stamp(Time(millis)).to_string(), text);
            assert_eq!(text.parse::<Stamp>().unwrap(), Stamp(Time(millis)));
        }
    }

    #[test]
    fn a_word_of_a_newer_server_is_kept() {
        for (word, known) in [("CLOSED", Some(State::Closed)), ("AWAITING_JURY", None)] {
            let json = format!("{word:?}");
            let state: StateText = serde_json::from_str(&json).unwrap();
            assert_eq!(state.known(), known);
            assert_eq!(serde_json::to_string(&state).unwrap(), json);
        }
    }
}
