//! Arguments and documents in which a search of the list finds its words.

use aw_record::{HitPlace, Search, SearchHit};

use crate::api::error::Code;
use crate::render::i18n::Phrases;
use crate::render::markdown::plain;
use crate::server::{Access, Problem};

/// How many texts are shown.
pub(super) const FOUND: u64 = 20;

/// How many characters of an id are shown.
const SHORT_ID: usize = 8;

/// The most characters of a search.
const MOST_CHARS: usize = 500;

/// A text with the words of the search, as the list shows it.
pub(super) struct FoundText {
    pub(super) href: String,
    /// The title of its debate, or the name of the document.
    pub(super) title: String,
    /// Which argument or version it is.
    pub(super) place: String,
    /// A piece of the text as HTML, with the words marked.
    pub(super) snippet: String,
}

impl FoundText {
    /// The texts that have the words. Titles are left out: the list itself has them.
    pub(super) async fn all(
        access: &Access,
        t: &'static Phrases,
        words: &str,
    ) -> Result<Vec<Self>, Problem> {
        let words = words.trim();
        let is_too_long = words.chars().nth(MOST_CHARS).is_some();
        if is_too_long || words.contains('\0') || !words.contains(char::is_alphanumeric) {
            return Ok(Vec::new());
        }
        let search = Search { text: words.to_owned(), limit: FOUND, ..Search::default() };
        let page = match access.search(search).await {
            Err(problem) if problem.error.code == Code::InvalidInput => return Ok(Vec::new()),
            page => page?,
        };
        Ok(page.hits.into_iter().filter_map(|hit| FoundText::of(hit, t)).collect())
    }

    fn of(hit: SearchHit, t: &'static Phrases) -> Option<Self> {
        let (href, title, place) = match hit.place {
            HitPlace::Title { .. } => return None,
            HitPlace::Argument { debate, title, seq, kind, role, .. } => (
                format!("/debate/{debate}#a-{seq}"),
                title.as_str().to_owned(),
                format!("{} {kind} #{seq}", t.role(role)),
            ),
            HitPlace::Document { id, version, name, .. } => {
                (format!("/doc/{id}?version={version}"), name, format!("{} v{version}", t.document))
            }
        };
        let part = |part: aw_record::SnippetPart| match part.is_match {
            true => format!("<mark>{}</mark>", plain(&part.text)),
            false => plain(&without_marks(&part.text)),
        };
        let snippet = hit.snippet.into_iter().map(part).collect();
        Some(FoundText { href, title, place, snippet })
    }
}

/// A piece of Markdown in one line, without the marks of headings, quotes, tables, code and emphasis. Spaces
/// stay, because a word of the search may be next to it. An id of a document is shortened.
fn without_marks(text: &str) -> String {
    let is_mark = |word: &str| {
        !word.is_empty() && (word.chars().all(|letter| "#>|*`:-".contains(letter)) && word != "-")
    };
    let bare = |word: &str| match word.strip_prefix("doc_id=").and_then(|id| id.get(..SHORT_ID)) {
        _ if is_mark(word) || word.starts_with("```") => String::new(),
        Some(id) => format!("doc_id={id}…"),
        None => word.replace("**", "").replace('`', ""),
    };
    text.split(' ').map(bare).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_shows_no_marks_of_markdown() {
        for (text, shown) in [
            ("## Context P1: lock the **row**", " Context P1: lock the row"),
            ("` for as long `", " for as long "),
            ("in doc_id=01a1f1f3-37f5-7566-bd12-fed62b6ad714 (v2)", "in doc_id=01a1f1f3… (v2)"),
            (
                " answers. ```rust tx.commit(); ``` ### P2 [open] ",
                " answers.  tx.commit();   P2 [open] ",
            ),
            ("| charge | `worker` | |:--|--:| 3 - 2", " charge  worker   3 - 2"),
            ("> C#, 2 * 3 and a_b #4", " C#, 2  3 and a_b #4"),
        ] {
            assert_eq!(without_marks(text), shown);
        }
    }
}
