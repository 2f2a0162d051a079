//! The turns of one point, shown instead of the transcript.

use aw_core::{PointId, Role, Seq, State};
use aw_record::{Citation, PageData};

use crate::render::i18n::Phrases;
use crate::render::markdown::{self, DocumentLink};
use crate::render::points::{PointView, place, title_of};

/// A point and everything that was said about it.
pub(super) struct PointThread {
    pub(super) point: PointView,
    pub(super) turns: Vec<ThreadTurn>,
}

/// One statement about a point.
pub(super) struct ThreadTurn {
    pub(super) seq: Seq,
    pub(super) href: String,
    pub(super) role: Role,
    pub(super) role_words: &'static str,
    pub(super) says: String,
    pub(super) ago: String,
    /// The text without its heading, as HTML.
    pub(super) html: String,
    /// The place of each quote, as HTML.
    pub(super) places: Vec<String>,
}

impl PointThread {
    /// None if the debate has no such point.
    pub(super) fn of(
        data: &PageData,
        id: PointId,
        t: &'static Phrases,
        now: i64,
        href: &dyn Fn(Seq) -> String,
    ) -> Option<Self> {
        let ledger = data.debate.debate.ledger.as_ref()?;
        let record = data.points.iter().find(|record| record.point.id == id)?;
        let turns = record.turns.iter().map(|turn| {
            let at = data.moments.iter().find(|moment| moment.seq == turn.seq);
            let link = |document| {
                let of = |one: &&Citation| one.seq == turn.seq && one.document == document;
                data.citations.iter().find(of).map(DocumentLink::from)
            };
            ThreadTurn {
                seq: turn.seq,
                href: href(turn.seq),
                role: turn.role,
                role_words: t.role(turn.role),
                says: t.says(turn.word),
                ago: at.map_or(String::new(), |moment| t.ago(now - moment.at.0)),
                html: markdown::render(&own_words(&turn.text), &link),
                places: turn.quotes.iter().map(|quote| place(quote, t, href)).collect(),
            }
        });
        Some(PointThread {
            turns: turns.collect(),
            point: PointView::of(ledger, record, t, data.debate.state() == State::Closed, href),
        })
    }
}

/// A statement with its title as the first line, without the target and the word.
fn own_words(text: &str) -> String {
    let (heading, rest) = text.split_once('\n').unwrap_or((text, ""));
    let title = title_of(heading);
    // Without an empty line Markdown takes the line below a quote as a part of it.
    let mut spaced = String::new();
    let mut was_quote = false;
    for line in rest.lines() {
        let is_quote = line.trim_start().starts_with('>');
        if was_quote && !is_quote {
            spaced.push('\n');
        }
        spaced.push_str(line);
        spaced.push('\n');
        was_quote = is_quote;
    }
    if title.is_empty() { spaced } else { format!("**{title}**\n\n{spaced}") }
}
