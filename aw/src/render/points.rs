//! Draws points: the list in a transcript, the state in a statement's heading, the place of a quote.
//!
//! The server looks quotes up, so a page says where one was found, never that it is true.

use std::fmt::Write;

use askama::Template;
use aw_core::{
    DocumentId, Ledger, Outcome, Point, PointId, PointState, QuoteCheck, QuotePlace, Role, Seq,
    Severity,
};
use aw_record::{DebateHead, PointRecord, Stated, StatedQuote};

use super::i18n::{Phrases, put};
use super::markdown::{TextMark, plain};

/// How many characters of a statement stand in the thread of its point.
const EXCERPT: usize = 140;

/// The points of a debate, as a transcript shows them.
#[derive(Template)]
#[template(path = "points.html")]
pub(crate) struct PointsView {
    t: &'static Phrases,
    rounds: String,
    /// How many points block, while the debate goes on.
    blocking: Option<String>,
    is_blocked: bool,
    agrees: bool,
    held: Option<&'static str>,
    /// Blocking points first, then other live ones, then those that are over.
    pub(crate) points: Vec<PointView>,
}

impl PointsView {
    /// None in a debate without points. `records` may lack the history.
    pub(crate) fn of(
        head: &DebateHead,
        records: &[PointRecord],
        t: &'static Phrases,
        href: &dyn Fn(Seq) -> String,
    ) -> Option<Self> {
        let ledger = head.debate.ledger.as_ref()?;
        let is_closed = head.outcome != Outcome::Open;
        let mut points: Vec<PointView> = records
            .iter()
            .map(|record| PointView::of(ledger, record, t, is_closed, href))
            .collect();
        points.sort_by_key(|point| (!point.is_blocking, !point.is_alive));
        let used = t.rounds_used.replace("{n}", &ledger.claims.to_string());
        let blocking = ledger.blocking().len();
        Some(PointsView {
            t,
            rounds: used.replace("{all}", &ledger.limit().to_string()),
            blocking: (!is_closed).then(|| t.blocking(blocking)),
            is_blocked: blocking > 0,
            agrees: ledger.agreed,
            held: head.debate.pending_held().map(|held| t.held(held)),
            points,
        })
    }

    pub(crate) fn html(&self) -> String {
        self.render().unwrap_or_default()
    }
}

/// A point.
pub(crate) struct PointView {
    pub(crate) id: PointId,
    pub(crate) severity: Severity,
    pub(crate) severity_words: &'static str,
    pub(crate) title: String,
    /// The state, as HTML.
    pub(crate) badge: String,
    pub(crate) is_alive: bool,
    pub(crate) is_blocking: bool,
    is_late: bool,
    is_unchanged: bool,
    pub(crate) owes: Option<String>,
    disputes: Option<String>,
    pub(crate) quotes: Vec<QuoteView>,
    turns: Vec<TurnView>,
}

impl PointView {
    pub(crate) fn of(
        ledger: &Ledger,
        record: &PointRecord,
        t: &'static Phrases,
        is_closed: bool,
        href: &dyn Fn(Seq) -> String,
    ) -> Self {
        let point = &record.point;
        let owes = point.state.owes().filter(|_| !is_closed);
        PointView {
            id: point.id,
            severity: point.severity,
            severity_words: t.severity(point.severity),
            title: title_words(&point.title),
            badge: badge(
                point.state,
                t.point_state(point.state, is_closed),
                &now_words(point, is_closed, t),
            ),
            is_alive: point.state.is_alive(),
            // Nothing blocks a debate that is over.
            is_blocking: !is_closed && ledger.blocks(point),
            is_late: point.late,
            is_unchanged: point.unchanged,
            owes: owes.map(|role| put(t.owed_by, t.role(role))),
            disputes: t.disputes(point.disputes),
            quotes: record.quotes.iter().map(|quote| QuoteView::of(quote, t, href)).collect(),
            turns: record
                .turns
                .iter()
                .map(|turn| TurnView {
                    seq: turn.seq,
                    href: href(turn.seq),
                    role: turn.role,
                    role_words: t.role(turn.role),
                    says: t.says(turn.word),
                    excerpt: excerpt(&turn.text),
                })
                .collect(),
        }
    }
}

/// The title of a point without the marks of Markdown, which a title is not drawn with. The parser may have
/// taken the first of a pair.
pub(crate) fn title_words(title: &str) -> String {
    title.replace("**", "").replace('`', "")
}

/// The statement of one argument about a point, in a line.
struct TurnView {
    seq: Seq,
    href: String,
    role: Role,
    role_words: &'static str,
    says: String,
    excerpt: String,
}

/// A quote and its place.
pub(crate) struct QuoteView {
    pub(crate) text: String,
    /// The place, as HTML.
    pub(crate) place: String,
}

impl QuoteView {
    fn of(quote: &StatedQuote, t: &'static Phrases, href: &dyn Fn(Seq) -> String) -> Self {
        QuoteView { text: quote.text.clone(), place: place(quote, t, href) }
    }
}

/// The first words of a statement: the title in its heading, or its first line.
fn excerpt(text: &str) -> String {
    let mut lines = text.lines().map(str::trim);
    let title = title_of(lines.next().unwrap_or_default());
    let is_own = |line: &&str| !line.is_empty() && !line.starts_with('>');
    let words = if title.is_empty() { lines.find(is_own).unwrap_or_default() } else { title };
    match words.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", words.get(..end).unwrap_or_default().trim_end()),
        None => words.to_owned(),
    }
}

/// The title in the heading of a statement.
pub(crate) fn title_of(heading: &str) -> &str {
    let title = heading.find([']', ')']).map_or("", |at| heading.get(at + 1..).unwrap_or_default());
    let title = title.trim_start_matches(|c: char| c.is_whitespace() || ":-–—.*`".contains(c));
    title.trim_end_matches(['#', ' '])
}

/// A state as HTML: a shape and a word. `now` is the same in the heading of a statement.
fn badge(state: PointState, words: &str, now: &str) -> String {
    format!(
        "<span class=\"point-state is-{}\" data-now=\"{now}\"><svg viewBox=\"0 0 16 16\" width=\"14\" \
         height=\"14\" aria-hidden=\"true\">{}</svg>{words}</span>",
        state.as_str(),
        shape(state)
    )
}

/// The state of a point in the heading of a statement.
fn now_words(point: &Point, is_closed: bool, t: &'static Phrases) -> String {
    let words = t.point_now.replace("{point}", &point.id.to_string());
    words.replace("{state}", t.point_state(point.state, is_closed))
}

/// The shape of a state: round while the parties decide, a diamond after a ruling, filled once over.
fn shape(state: PointState) -> &'static str {
    match state {
        PointState::Open => "<circle class=\"stroke\" cx=\"8\" cy=\"8\" r=\"6\"/>",
        PointState::Accepted => {
            "<circle class=\"stroke\" cx=\"8\" cy=\"8\" r=\"6\"/><path d=\"M8 2a6 6 0 0 1 0 12z\"/>"
        }
        PointState::Rejected => {
            "<circle class=\"stroke\" cx=\"8\" cy=\"8\" r=\"6\"/><path class=\"stroke\" d=\"M4 12l8-8\"/>"
        }
        PointState::Deferred => {
            "<circle class=\"stroke\" cx=\"8\" cy=\"8\" r=\"6\"/><path class=\"stroke\" d=\"M8 4.5V8l2.5 2\"/>"
        }
        PointState::Upheld => "<path d=\"M8 1l7 7-7 7-7-7z\"/>",
        PointState::Settled => {
            "<circle cx=\"8\" cy=\"8\" r=\"7\"/><path class=\"cut\" d=\"M4.8 8.2l2.2 2.3 4.2-4.8\"/>"
        }
        PointState::Withdrawn => {
            "<circle cx=\"8\" cy=\"8\" r=\"7\"/><path class=\"cut\" d=\"M11.5 8h-7m2.5-2.7L4.5 8 7 10.7\"/>"
        }
        PointState::Dismissed => {
            "<path class=\"stroke\" d=\"M8 1.5L14.5 8 8 14.5 1.5 8zM6 6l4 4m0-4l-4 4\"/>"
        }
        PointState::SetAside => {
            "<circle cx=\"8\" cy=\"8\" r=\"7\"/><path class=\"cut\" d=\"M6.2 5v6m3.6-6v6\"/>"
        }
    }
}

/// Where a quote was found, as HTML.
pub(crate) fn place(
    quote: &StatedQuote,
    t: &'static Phrases,
    href: &dyn Fn(Seq) -> String,
) -> String {
    let lines = quote.lines.map(|(first, last)| match first == last {
        true => put(t.one_line, first),
        false => {
            let lines = t.some_lines.replace("{first}", &first.to_string());
            lines.replace("{last}", &last.to_string())
        }
    });
    let lines = lines.unwrap_or_default();
    let linked = |href: &str, words: String| format!("<a href=\"{}\">{words}</a>", plain(href));
    let words = match (quote.check, quote.place) {
        (QuoteCheck::Found, Some(QuotePlace::Document { document, version })) => {
            let words = t.found_in_document.replace("{version}", &version.to_string());
            let words = words.replace("{lines}", &lines);
            let id = document.to_string();
            let name = quote.document_name.as_deref().unwrap_or(&id);
            let words = words.replace("{document}", &format!("<bdi>{}</bdi>", plain(name)));
            linked(&passage_href(document, version, quote.lines), words)
        }
        (QuoteCheck::Found, Some(QuotePlace::Argument { seq })) => {
            let words = t.found_in_argument.replace("{seq}", &seq.to_string());
            linked(&href(seq), words.replace("{lines}", &lines))
        }
        (QuoteCheck::Outdated, Some(QuotePlace::Document { document, version })) => {
            linked(&passage_href(document, version, quote.lines), put(t.outdated, version))
        }
        _ => match &quote.source {
            Some(source) => put(t.unchecked, format!("<bdi>{}</bdi>", plain(source))),
            None => t.not_in_record.to_owned(),
        },
    };
    format!("<span class=\"quote-place is-{}\">{words}</span>", quote.check.as_str())
}

/// The address of a passage in a version of a document. The page marks its lines.
fn passage_href(document: DocumentId, version: u64, lines: Option<(u32, u32)>) -> String {
    let mut href = format!("/doc/{document}?version={version}");
    if let Some((first, last)) = lines {
        // Writing to a String cannot fail.
        let _ = write!(href, "&lines={first}-{last}#line-{first}");
    }
    href
}

/// The statements of one argument, and the notes that the page adds to them.
pub(crate) struct StatementNotes<'a> {
    stated: Vec<&'a Stated>,
}

impl<'a> StatementNotes<'a> {
    pub(crate) fn of(stated: &'a [Stated], seq: Seq) -> Self {
        StatementNotes { stated: stated.iter().filter(|one| one.seq == seq).collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.stated.is_empty()
    }

    fn quotes(&self) -> impl Iterator<Item = &'a StatedQuote> {
        self.stated.iter().flat_map(|one| &one.quotes)
    }

    /// The text in which each quote ends where the server ended it, and a mark for each note. Without
    /// an empty line, Markdown takes the line below a quote as a part of it.
    pub(crate) fn marked(&self, text: &str) -> (String, Vec<TextMark>) {
        let lines: Vec<&str> = text.split('\n').collect();
        let is_quote = |line: &&&str| line.trim_start().starts_with('>');
        let mut ends: Vec<usize> = self
            .quotes()
            .map(|quote| {
                let before = (quote.line as usize).saturating_sub(1);
                before + lines.iter().skip(before).take_while(is_quote).count()
            })
            .collect();
        ends.sort_unstable();
        ends.dedup();
        let mut spaced = String::with_capacity(text.len() + ends.len());
        for (at, line) in lines.iter().enumerate() {
            if at > 0 {
                spaced.push('\n');
            }
            if at > 0 && ends.binary_search(&at).is_ok() {
                spaced.push('\n');
            }
            spaced.push_str(line);
        }
        let moved = |line: u32| {
            let line = line as usize;
            line + ends.iter().filter(|end| **end > 0 && **end < line).count()
        };
        let headings = self.stated.iter().map(|one| TextMark::Heading(moved(one.line)));
        let quotes = self.quotes().map(|quote| TextMark::Quote(moved(quote.line)));
        (spaced, headings.chain(quotes).collect())
    }

    /// The note of a mark, as HTML.
    pub(crate) fn note(
        &self,
        number: usize,
        ledger: &Ledger,
        is_closed: bool,
        t: &'static Phrases,
        href: &dyn Fn(Seq) -> String,
    ) -> String {
        match self.stated.get(number) {
            Some(one) => {
                let point = one.point.and_then(|id| ledger.point(id));
                point.map_or(String::new(), |point| state_link(point, is_closed, t))
            }
            None => match self.quotes().nth(number - self.stated.len()) {
                Some(quote) => format!("<p>{}</p>\n", place(quote, t, href)),
                None => String::new(),
            },
        }
    }
}

/// The state of a point now, as a link to it.
fn state_link(point: &Point, is_closed: bool, t: &'static Phrases) -> String {
    let words = now_words(point, is_closed, t);
    let id = point.id;
    format!(
        " <a class=\"point-link\" href=\"#point-{id}\" data-point=\"{id}\">{}</a>",
        badge(point.state, &words, &words)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::texts::Language;
    use aw_core::{Subject, Word};

    fn quote(line: u32) -> StatedQuote {
        StatedQuote {
            line,
            text: "x".to_owned(),
            source: None,
            check: QuoteCheck::Found,
            place: Some(QuotePlace::Argument { seq: Seq(1) }),
            lines: Some((3, 3)),
            document_name: None,
        }
    }

    fn stated(line: u32, quotes: Vec<StatedQuote>) -> Stated {
        Stated {
            seq: Seq(2),
            line,
            subject: Subject::New,
            word: Word::Major,
            point: Some(PointId(1)),
            state: Some(PointState::Open),
            quotes,
        }
    }

    #[test]
    fn a_quote_ends_where_the_server_ended_it() {
        let text = "### NEW [major] A\n> one\n> two\nWhy.\n### NEW [minor] B\n> three\n\nWhy.";
        let all = [stated(1, vec![quote(2), quote(3)]), stated(5, vec![quote(6)])];
        let notes = StatementNotes::of(&all, Seq(2));
        let (spaced, marks) = notes.marked(text);
        assert_eq!(
            spaced,
            "### NEW [major] A\n> one\n> two\n\nWhy.\n### NEW [minor] B\n> three\n\n\nWhy."
        );
        assert_eq!(
            marks,
            [
                TextMark::Heading(1),
                TextMark::Heading(6),
                TextMark::Quote(2),
                TextMark::Quote(3),
                TextMark::Quote(7)
            ]
        );
        let html = super::super::markdown::render_marked(&spaced, &|_| None, &marks);
        let filled = super::super::markdown::fill(&html, &|number| format!("[{number}]"));
        assert_eq!(
            filled.replace('\n', ""),
            "<h3>NEW [major] A[0]</h3><blockquote><p>onetwo</p></blockquote>[2][3]<p>Why.</p>\
             <h3>NEW [minor] B[1]</h3><blockquote><p>three</p></blockquote>[4]<p>Why.</p>"
        );
    }

    #[test]
    fn a_text_cannot_imitate_a_note() {
        let text = "<data value=\"0\"></data>\n\n# A <data value=\"0\"></data>\n\n`<data value=\"0\"></data>`";
        let html = super::super::markdown::render_marked(text, &|_| None, &[]);
        assert_eq!(super::super::markdown::fill(&html, &|_| "NOTE".to_owned()), html);
        assert!(!html.contains("<data"), "{html}");
    }

    #[test]
    fn the_place_of_a_quote_is_escaped_and_never_called_verified() {
        let t = Language::English.phrases();
        let href = |seq: Seq| format!("#a-{seq}");
        let found = place(&quote(2), t, &href);
        assert!(found.contains("<a href=\"#a-1\">found in argument #1, line 3</a>"), "{found}");
        let source = Some("src/<img>\u{202e}.rs".to_owned());
        let unchecked =
            StatedQuote { source, check: QuoteCheck::Unchecked, place: None, ..quote(2) };
        let words = place(&unchecked, t, &href);
        assert!(words.contains("src/&lt;img&gt;"), "{words}");
        assert!(words.contains("U+202E") && words.contains("not in the record"), "{words}");
        assert!(!(found + &words).contains("verified"));
    }

    #[test]
    fn an_excerpt_is_the_title_or_the_first_line_of_its_own() {
        assert_eq!(excerpt("### P2 [rejected] Refunds: no.\nMore."), "Refunds: no.");
        assert_eq!(excerpt("### P2 [open]\n> quoted\n\nThe reason."), "The reason.");
        assert_eq!(excerpt("### P2 [open]"), "");
        assert_eq!(excerpt(&"é".repeat(400)), "");
        let long = excerpt(&format!("# P1 [open] {}", "é".repeat(400)));
        assert_eq!(long.chars().count(), EXCERPT + 1);
    }
}
