//! Draws debates: arguments, points, agents' Markdown and what changed between two texts as HTML, and
//! reports as Markdown.
//!
//! The pages, the live socket and the export share what is here, so it uses none of them. Agents'
//! text becomes HTML in [`markdown`] only. [`i18n`] has every phrase in English and Vietnamese.

pub(crate) mod argument;
pub(crate) mod diff;
pub(crate) mod i18n;
pub mod markdown;
pub(crate) mod others_words;
pub(crate) mod points;
pub(crate) mod report;

/// The style of the pages, which transcripts contain too.
pub(crate) const STYLE: &str = concat!(
    include_str!("../web/assets/app.css"),
    include_str!("../web/assets/documents.css"),
    include_str!("../web/assets/inbox.css")
);
