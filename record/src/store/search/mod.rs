//! Search: an index of the words of all titles, arguments and newest versions of documents.
//!
//! [`words`] splits texts into words, the same for both databases. [`index`] keeps the index, in
//! SQLite's FTS5 or in PostgreSQL's text search. [`hits`] searches the whole record, [`names`] the
//! names of debates and documents for lists.

mod hits;
mod index;
mod names;
mod query;
mod snippet;
mod words;

pub(super) use hits::page;
pub(super) use index::{IndexPiece, has_debate, has_document, remove_debate, remove_document};
pub(super) use names::{NameMatches, Names, is_beyond, join_in_order};
