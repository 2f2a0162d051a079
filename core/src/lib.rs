//! The rules of a debate: who may make which move, when, and what each role should do next.
//!
//! Nothing here waits, reads a clock, draws random numbers or touches a file: a rule takes the state
//! and a move, and returns the result. Start with [`Debate::decide`], which alone judges a move, and
//! [`Standing::apply`], which alone changes the state.
#![no_std]

extern crate alloc;

mod argument;
mod debate;
mod document;
mod event;
mod flaw;
mod id;
mod ledger;
mod origin;
mod play;
mod point;
mod quote;
mod refusal;
mod role;
mod slug;
mod text;
mod turn;

pub use argument::{Argument, Hash, Time, Via};
pub use debate::{AUTOMATIC_RULING, Debate, Entry, Outcome, ResolutionPolicy, Standing, State};
pub use document::{Mention, mentions, names_missing_version};
pub use event::{Event, Kind};
pub use flaw::{Flaw, FlawCode};
pub use id::{ArgumentId, DebateId, DocumentId, RequestId, Seq};
pub use ledger::{
    Change, Completion, Course, Effect, Held, Ledger, PlanDocument, Point, PointAdvice, Said,
};
pub use origin::{DebateOrigin, ProjectId};
pub use play::{Move, Target, Verdict};
pub use point::{
    POINTS_FORM, PointId, PointRules, PointState, QuoteBlock, Severity, Statement, Statements,
    Subject, Word, passages, statements,
};
pub use quote::{
    Evidence, Library, Lines, Nearest, Normal, Quote, QuoteCheck, QuotePlace, Source, lines_found,
};
pub use refusal::Refusal;
pub use role::{ByRole, Role};
pub use slug::Slug;
pub use text::{Author, BadText, Content, DebateType, SeatName, Summary, Title, WorkLabel};
pub use turn::{Action, Available};

/// A text that is not one of the protocol's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not one of {expected}")]
pub struct UnknownWord {
    /// The words that are accepted, for the message.
    pub expected: &'static str,
}

/// Gives each variant its protocol word, used in the record, in JSON and in messages.
macro_rules! words {
    ($name:ident, $expected:literal, { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $name {
            /// Every value, in the protocol's order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The protocol's word for it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl core::str::FromStr for $name {
            type Err = crate::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(crate::UnknownWord { expected: $expected }),
                }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use words;
