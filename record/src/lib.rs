//! What happened in every debate, kept and told.
//!
//! The only door is [`Engine`]: it changes ([`Engine::execute`]), waits ([`Engine::wait`]) and
//! reads. Behind it the store keeps the record, the bell and the feed wake who waits, and presence
//! knows who that is; none can be reached from outside, so nothing can be written without being
//! judged, or missed.

mod bell;
#[cfg(test)]
mod bell_tests;
mod chain;
mod engine;
mod failure;
mod feed;
mod peers;
mod presence;
mod recent;
mod seat;
mod shared_answers;
mod store;
mod types;
mod verified;

/// What the bell is made of. Its tests build the same source with what shuttle knows of.
mod sync {
    pub(crate) use std::sync::{Mutex, MutexGuard};
    pub(crate) use tokio::sync::watch;
}

pub use bell::{Listening, Rung};
pub use engine::{Clock, Engine, Health};
pub use failure::{Damage, Failure, Fault};
pub use feed::{ChangeKind, Changed, Following, TooSlow};
pub use presence::Sign;
pub use seat::{NewSeat, Pass, Seat, SeatRole};
pub use shared_answers::SharedAnswers;
pub use store::{
    OpenError, Place, PostgresUrl, Rehearsal, RestoreError, Restored, Store, StoreOptions,
    TransferError, Transferred, Vitals, backup, rehearse, restore, transfer,
};
pub use types::{
    Ask, Citation, CitedDocument, CitedMark, CitedPage, Context, DebateHead, DebateList,
    DebateListed, Document, DocumentList, DocumentListed, DocumentVersion, Filter, KeptVersion,
    LastArgument, Moment, NewDocument, NewVersion, News, PageData, Poll, Receipt, Request,
    Selection, Stretch, Surroundings, TypeTexts, VersionList, VersionListed, pieces,
};
pub use verified::{Verified, VerifiedPiece, VerifyMark};
