//! The hits of a search for people.

use std::fmt::Write as _;

use super::{Paper, QUOTED, ago, shown, word};
use crate::api::client::Reply;
use crate::api::types::{HitKind, SearchHit, SearchPage};

/// The hits of a search, their words quoted.
pub(in crate::cli) fn hits(page: &Reply<SearchPage>, paper: &Paper) -> String {
    let hits = &page.data.hits;
    if hits.is_empty() {
        return "Nothing was found.\n".to_owned();
    }
    let mut text = format!("{}\n", paper.faint(QUOTED));
    for hit in hits {
        let _ = write!(text, "\n{}\n", head(hit, paper));
        let snippet: String = hit
            .snippet
            .iter()
            .map(|part| match part.is_match {
                true => paper.bold(&shown(&part.text)),
                false => shown(&part.text),
            })
            .collect();
        for line in textwrap::wrap(snippet.trim(), paper.width.saturating_sub(2)) {
            let _ = writeln!(text, "{} {line}", paper.faint(">"));
        }
    }
    text
}

fn head(hit: &SearchHit, paper: &Paper) -> String {
    let title = shown(hit.debate_title.as_deref().unwrap_or_default());
    let debate = hit.debate_id.map(|id| id.0.to_string()).unwrap_or_default();
    let (what, id) = match hit.kind {
        HitKind::Title => (format!("debate {title:?}"), debate),
        HitKind::Argument => {
            let kind = hit.argument_type.as_ref().map(word).unwrap_or_default();
            let seq = hit.seq.unwrap_or_default();
            (format!("{kind} {seq} of debate {title:?}"), debate)
        }
        HitKind::Document => {
            let summary = shown(hit.summary.as_deref().unwrap_or_default());
            let version = hit.version.unwrap_or_default();
            let document = hit.document_id.map(|id| id.0.to_string()).unwrap_or_default();
            (format!("document {summary:?} v{version}"), document)
        }
    };
    let by = match &hit.author {
        Some(author) => format!("{}, by {author:?}", ago(hit.created_at)),
        None => ago(hit.created_at),
    };
    format!(
        "{} {}\n{}",
        paper.bold(&what),
        paper.faint(&format!("({by})")),
        paper.faint(&format!("id {id}"))
    )
}
