//! The record of every debate: stores arguments and documents, and wakes the waiters.
//!
//! [`Engine`] is the only way in: it writes ([`Engine::execute`]), waits ([`Engine::wait`]) and
//! reads. Behind it the store keeps the record, the bell and the feed wake waiters, and presence
//! tracks who waits. No other crate can reach those, so every write is judged by the rules and wakes
//! its waiters.

mod bell;
#[cfg(test)]
mod bell_tests;
mod chain;
mod engine;
mod failure;
mod feed;
mod found;
mod long_work;
mod names;
mod peers;
mod presence;
mod recent;
mod seat;
mod shared_answers;
mod store;
mod types;
mod verified;

/// The primitives of the bell. Its tests build the same source with shuttle's versions of them.
mod sync {
    pub(crate) use std::sync::{Mutex, MutexGuard};
    pub(crate) use tokio::sync::watch;
}

pub use bell::{Listening, Rung};
pub use engine::{Clock, Engine, Health};
pub use failure::{Damage, Failure, Fault};
pub use feed::{ChangeKind, Changed, Following, TooSlow};
pub use found::{HitPlace, Search, SearchHit, SearchPage, SnippetPart};
pub use long_work::spawn_long_work;
pub use names::{
    ArgumentName, DebateName, DocumentName, IdPrefix, NameScope, NamedArgument, NamedDebate,
    NamedDocument,
};
pub use presence::{Sign, Working};
pub use seat::{NewSeat, Pass, Seat, SeatRole};
pub use shared_answers::SharedAnswers;
pub use store::{
    OpenError, Place, PostgresUrl, Rehearsal, RestoreError, Restored, RestoredTokens, Store,
    StoreOptions, TransferError, Transferred, Vitals, backup, rehearse, restore, transfer,
};
pub use types::{
    Ask, Authorship, Citation, CitedDocument, CitedMark, CitedPage, CitingDebate, Context,
    DebateHead, DebateList, DebateListed, Document, DocumentFilter, DocumentList, DocumentListed,
    DocumentVersion, Filter, KeptVersion, LastArgument, Moment, NewDocument, NewVersion, News,
    PageData, PointRecord, PointTurn, Poll, ProjectListed, Receipt, Rehearsed, ReportData, Request,
    Selection, Stated, StatedQuote, Stretch, Surroundings, TypeTexts, VersionList, VersionListed,
    pieces,
};
pub use verified::{PurgePreview, Purged, Tombstone, Verified, VerifiedPiece, VerifyMark};
