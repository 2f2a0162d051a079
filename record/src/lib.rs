//! What happened in every debate, kept and told.
//!
//! The only door is [`Engine`]: it changes ([`Engine::execute`]), waits ([`Engine::wait`]) and
//! reads. Behind it the store keeps the record and the bell wakes who waits; neither can be
//! reached from outside, so nothing can be written without being judged, or missed.

mod bell;
mod chain;
mod engine;
mod failure;
mod shape;
mod store;

pub use bell::Listening;
pub use engine::{Clock, Engine, Health};
pub use failure::{Failure, Fault};
pub use shape::{
    Ask, CitedDocument, Context, DebateHead, DebateList, DebateListed, Document, DocumentList,
    DocumentListed, DocumentVersion, Filter, KeptVersion, LastArgument, NewDocument, NewVersion,
    News, Poll, Receipt, Request, Stretch, TypeTexts, VersionList, VersionListed,
};
pub use store::{OpenError, Store, StoreOptions, backup};
