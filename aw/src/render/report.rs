//! The report of a debate: how it ended, what became of each point, and what was ruled.
//!
//! A report has only what is in the record, so the same record gives the same bytes on every server. The
//! documents are in English; the page draws the same parts in its own language ([`ReportView`]).

use askama::Template;
use aw_core::{
    Argument, Ledger, Outcome, Point, PointId, PointState, QuoteCheck, Role, Seq, Time, Word,
};
use aw_record::{Authorship, Citation, PointRecord, PointTurn, ReportData};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::i18n::{Phrases, put};
use super::markdown::{self, DocumentLink, plain};
use super::others_words::{literal, name, quoted};
use super::points::title_words;
use crate::kit::texts::Language;

/// How many digits of the newest hash the line for commits has.
const SHORT_HASH: usize = 12;

/// The data of a report.
#[derive(Clone, Copy)]
pub(crate) struct DebateReport<'a> {
    data: &'a ReportData,
    t: &'static Phrases,
}

/// How many quotes had each result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct QuoteCounts {
    pub(crate) found: u64,
    pub(crate) outdated: u64,
    pub(crate) unchecked: u64,
}

impl<'a> DebateReport<'a> {
    /// The report in English, the language of its documents.
    pub(crate) fn of(data: &'a ReportData) -> Self {
        DebateReport { data, t: Language::English.phrases() }
    }

    fn is_closed(&self) -> bool {
        self.data.debate.outcome != Outcome::Open
    }

    /// The outcome in one sentence.
    pub(crate) fn sentence(&self) -> String {
        let head = &self.data.debate;
        let date = date(self.data.newest_at, self.t.date_form);
        let sentence = match head.outcome {
            Outcome::Agreed => self.t.report_agreed.replace("{after}", &self.rounds_and_rulings()),
            Outcome::Ruled => self.t.report_ruled.to_owned(),
            Outcome::LeftOpen => {
                let blocking = head.debate.ledger.as_ref().map(Ledger::blocking);
                self.t
                    .report_left_open
                    .replace("{points}", &self.listed(&blocking.unwrap_or_default()))
            }
            Outcome::Completed => self.t.report_completed.to_owned(),
            Outcome::Open => {
                let role = head.state().floor().unwrap_or(Role::Arbitrator);
                self.t.report_open.replace("{role}", role.as_str())
            }
        };
        sentence.replace("{date}", &date)
    }

    fn rounds_and_rulings(&self) -> String {
        let rounds = counted(self.data.rounds, self.t.one_round, self.t.many_rounds);
        match self.data.rulings.len() {
            0 => rounds,
            _ => self.listed(&[rounds, self.ruling_count()]),
        }
    }

    fn ruling_count(&self) -> String {
        counted(self.data.rulings.len() as u64, self.t.one_ruling, self.t.many_rulings)
    }

    /// "P1, P2 and P3".
    fn listed(&self, things: &[impl ToString]) -> String {
        let things: Vec<String> = things.iter().map(ToString::to_string).collect();
        match things.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, before)) => format!("{} {} {last}", before.join(", "), self.t.and),
            None => String::new(),
        }
    }

    /// The documents that the proposer and the arbitrator cite, each in the newest version that they
    /// cite, in the order of their first citation.
    pub(crate) fn documents(&self) -> Vec<&'a Citation> {
        let mut documents: Vec<&Citation> = Vec::new();
        for cited in &self.data.citations {
            match documents.iter_mut().find(|known| known.document == cited.document) {
                Some(known) if known.version < cited.version => *known = cited,
                Some(_) => {}
                None => documents.push(cited),
            }
        }
        documents
    }

    /// How a point ended; nothing while the debate goes on and the point lives.
    pub(crate) fn ended(&self, point: &Point) -> Option<String> {
        if point.state.is_alive() && !self.is_closed() {
            return None;
        }
        let words = self.t.point_state(point.state, self.is_closed());
        match self.settled_in(point) {
            Some(version) => {
                let words = self.t.settled_in.replace("{state}", words);
                Some(words.replace("{version}", &version.to_string()))
            }
            None => Some(words.to_owned()),
        }
    }

    /// The version of its document in which a point was settled.
    fn settled_in(&self, point: &Point) -> Option<u64> {
        let document = point.document.filter(|_| point.state == PointState::Settled)?;
        let cited = self.data.citations.iter();
        let cited = cited.filter(|cited| cited.document == document && cited.seq <= point.last);
        cited.map(|cited| cited.version).max()
    }

    /// How a point ended or where it stands, and whether it came late.
    fn fate(&self, point: &Point) -> String {
        let ended = self.ended(point);
        let ended = ended.unwrap_or_else(|| self.t.point_state(point.state, false).to_owned());
        if point.late { format!("{ended}, {}", self.t.late) } else { ended }
    }

    /// The statements that ended a rejected or dismissed point: the rejection and the opponent's word on
    /// it, or the ruling.
    fn reasons(&self, record: &'a PointRecord) -> Vec<&'a PointTurn> {
        let point = &record.point;
        let ends = |turn: &&PointTurn| turn.seq == point.last && turn.state == Some(point.state);
        let Some(end) = record.turns.iter().find(ends) else { return Vec::new() };
        match point.state {
            PointState::Dismissed => vec![end],
            PointState::Withdrawn => {
                let mut before =
                    record.turns.iter().filter(|turn| turn.seq < end.seq && turn.state.is_some());
                let last = before.clone().next_back();
                if last.is_none_or(|turn| turn.state != Some(PointState::Rejected)) {
                    return Vec::new();
                }
                before.rfind(|turn| turn.word == Word::Rejected).into_iter().chain([end]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The points for an issue tracker: set aside, left open or late.
    fn for_later(&self) -> impl Iterator<Item = &'a PointRecord> {
        let is_closed = self.is_closed();
        self.data.points.iter().filter(move |record| {
            let Point { state, late, .. } = record.point;
            late || state == PointState::SetAside || (is_closed && state.is_alive())
        })
    }

    pub(crate) fn quote_counts(&self) -> QuoteCounts {
        let mut counts = QuoteCounts::default();
        for quote in self.data.stated.iter().flat_map(|stated| &stated.quotes) {
            match quote.check {
                QuoteCheck::Found => counts.found += 1,
                QuoteCheck::Outdated => counts.outdated += 1,
                QuoteCheck::Unchecked => counts.unchecked += 1,
                QuoteCheck::Missing => {}
            }
        }
        counts
    }

    /// The line for commits.
    pub(crate) fn trailer(&self) -> String {
        let head = &self.data.debate;
        let versions: Vec<String> =
            self.documents().iter().map(|cited| format!("v{}", cited.version)).collect();
        let versions = versions.join(", ");
        let room = if versions.is_empty() { "" } else { " " };
        let points = head
            .debate
            .ledger
            .as_ref()
            .map(|ledger| counted(u64::from(ledger.count()), "1 point, ", "{} points, "));
        let rulings = counted(self.data.rulings.len() as u64, "1 ruling", "{} rulings");
        let hash: String = self.data.newest_hash.to_string().chars().take(SHORT_HASH).collect();
        let points = points.unwrap_or_default();
        format!("Debated: {}{room}{versions} ({points}{rulings}, head {hash}…)", head.id)
    }

    /// The authors of a role.
    pub(crate) fn authors(&self, role: Role) -> impl Iterator<Item = &'a Authorship> {
        self.data.authors.iter().filter(move |one| one.role == role)
    }
}

/// The documents.
impl DebateReport<'_> {
    /// The report as Markdown.
    pub(crate) fn markdown(&self) -> String {
        let t = self.t;
        let head = &self.data.debate;
        let mut text = format!(
            "# {}\n\n{}\n\n- Debate: `{}`\n{}",
            literal(head.title.as_str()),
            self.sentence(),
            head.id,
            self.document_lines(),
        );
        if head.debate.ledger.is_some() {
            text.push_str(&format!("\n## {}\n\n{}", t.points, self.table()));
        }
        text.push_str(&titled(t.why_ended, self.reason_lines()));
        text.push_str(&titled(t.for_later, self.later_lines()));
        text.push_str(&titled(t.rulings, self.ruling_lines()));
        text.push_str(&format!("\n## {}\n\n{}", t.of_the_record, self.record_lines()));
        text.push_str(&format!("\n{}\n", self.trailer()));
        text
    }

    /// The report as a decision record: MADR 4.
    pub(crate) fn madr(&self) -> String {
        let head = &self.data.debate;
        let status = match head.outcome {
            Outcome::Agreed | Outcome::Ruled | Outcome::Completed => "accepted",
            Outcome::LeftOpen | Outcome::Open => "proposed",
        };
        let options = match self.data.points.is_empty() {
            true => format!("{}\n", self.no_points()),
            false => self.data.points.iter().map(|record| self.line("*", record)).collect(),
        };
        let consequences = match self.later_lines() {
            lines if lines.is_empty() => format!("{}\n", self.t.nothing_for_later),
            lines => lines,
        };
        let mut decision = format!("{}\n", self.sentence());
        for part in [self.document_lines(), self.ruling_lines(), self.reason_lines()] {
            if !part.is_empty() {
                decision.push('\n');
                decision.push_str(&part);
            }
        }
        format!(
            "---\nstatus: {status}\ndate: {}\n---\n\n# {}\n\n\
             ## Context and Problem Statement\n\n{}\n\
             ## Considered Options\n\n{options}\n\
             ## Decision Outcome\n\n{decision}\n\
             ### Consequences\n\n{consequences}\n\
             ## More Information\n\n- Debate: `{}`\n{}\n{}\n",
            date(self.data.newest_at, "%Y-%m-%d"),
            literal(head.title.as_str()),
            quoted(self.data.motion.content.as_str()),
            head.id,
            self.record_lines(),
            self.trailer(),
        )
    }

    fn no_points(&self) -> &'static str {
        match &self.data.debate.debate.ledger {
            Some(_) => self.t.no_points_raised,
            None => self.t.keeps_no_points,
        }
    }

    fn document_lines(&self) -> String {
        let line = |cited: &Citation| {
            let Citation { document, version, name, .. } = cited;
            format!("- Document: {} v{version}, `{document}`\n", literal(name))
        };
        self.documents().into_iter().map(line).collect()
    }

    fn table(&self) -> String {
        if self.data.points.is_empty() {
            return format!("{}\n", self.no_points());
        }
        let rows = self.data.points.iter().map(|PointRecord { point, .. }| {
            let (title, fate) = (literal(&point.title), self.fate(point));
            format!("| {} | {} | {title} | {fate} |\n", point.id, point.severity)
        });
        format!(
            "| Point | Severity | Title | How it ended |\n|---|---|---|---|\n{}",
            rows.collect::<String>()
        )
    }

    /// A point in a line. It has no brackets: a quoted text can define what they link to.
    fn line(&self, mark: &str, record: &PointRecord) -> String {
        let point = &record.point;
        let (title, fate) = (literal(&point.title), self.fate(point));
        format!("{mark} {} ({}) {title}: {fate}\n", point.id, point.severity)
    }

    fn reason_lines(&self) -> String {
        let turn_lines = |id, turn: &PointTurn| {
            let says = self.t.says(turn.word);
            let by = format!("{id}: the {} {says} in argument {}", turn.role, turn.seq);
            format!("{by}:\n\n{}", quoted(&turn.text))
        };
        let lines = self.data.points.iter().flat_map(|record| {
            let turns = self.reasons(record).into_iter();
            turns.map(move |turn| turn_lines(record.point.id, turn))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn later_lines(&self) -> String {
        let lines = self.for_later().map(|record| {
            let raised = record.turns.first().map(|turn| quoted(&turn.text)).unwrap_or_default();
            let raised: String = raised.lines().map(|line| format!("  {line}\n")).collect();
            format!("{}\n{raised}", self.line("- [ ]", record))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn ruling_lines(&self) -> String {
        let lines = self.data.rulings.iter().map(|ruling| {
            let closes =
                if ruling.event.close() == Some(true) { ", which closes the debate" } else { "" };
            let on = date(ruling.at, self.t.date_form);
            let heading = format!("Ruling of {on}, argument {}{closes}:", ruling.seq);
            format!("{heading}\n\n{}", quoted(ruling.content.as_str()))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn record_lines(&self) -> String {
        let mut lines = String::new();
        for role in [Role::Proposer, Role::Opponent, Role::Arbitrator] {
            let authors: Vec<String> = self.authors(role).map(author).collect();
            if !authors.is_empty() {
                lines.push_str(&format!("- {}: {}\n", self.t.role(role), authors.join(", ")));
            }
        }
        if self.data.debate.debate.ledger.is_some() {
            lines.push_str(&format!("- {}\n", self.quotes_in_words()));
        }
        lines.push_str(&format!("- Head: `{}`\n", self.data.newest_hash));
        if let Some(seal) = &self.data.seal {
            lines.push_str(&format!("- Seal: `{seal}`\n"));
        }
        lines
    }

    fn quotes_in_words(&self) -> String {
        let QuoteCounts { found, outdated, unchecked } = self.quote_counts();
        let words = self.t.quote_counts.replace("{found}", &found.to_string());
        let words = words.replace("{outdated}", &outdated.to_string());
        words.replace("{unchecked}", &unchecked.to_string())
    }
}

/// An author: the seat, which the record knows, after the label, which the author claims.
fn author(one: &Authorship) -> String {
    match (&one.author, &one.seat) {
        (Some(author), Some(seat)) => {
            format!("{} (seat {})", name(author.as_str()), name(seat.as_str()))
        }
        (Some(author), None) => name(author.as_str()),
        (None, Some(seat)) => format!("seat {}", name(seat.as_str())),
        (None, None) => String::new(),
    }
}

/// A section, unless it has nothing.
fn titled(title: &str, lines: String) -> String {
    if lines.is_empty() { lines } else { format!("\n## {title}\n\n{lines}") }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    if count == 1 { one.to_owned() } else { put(many, count) }
}

/// A day, UTC.
pub(crate) fn date(at: Time, form: &str) -> String {
    let at = Timestamp::from_millisecond(at.0).unwrap_or(Timestamp::MAX);
    at.to_zoned(TimeZone::UTC).strftime(form).to_string()
}

/// The report on the page of a debate, in the language of the page.
#[derive(Template)]
#[template(path = "report.html")]
pub(crate) struct ReportView {
    t: &'static Phrases,
    id: String,
    sentence: String,
    documents: Vec<Citation>,
    keeps_points: bool,
    points: Vec<PointRow>,
    reasons: Vec<Words>,
    for_later: Vec<PointRow>,
    rulings: Vec<Words>,
    /// The name of each role with its authors, as HTML.
    authors: Vec<(&'static str, String)>,
    quotes: String,
    head: String,
    seal: Option<String>,
    trailer: String,
    /// Whether it is on a page, not in an export.
    is_live: bool,
}

struct PointRow {
    id: String,
    severity: &'static str,
    title: String,
    fate: String,
}

/// A text of another party, under a heading of ours that links to its argument.
struct Words {
    heading: String,
    seq: u64,
    href: String,
    html: String,
}

impl ReportView {
    /// The report in the language of these phrases. `href` gives the address of an argument.
    pub(crate) fn of(data: &ReportData, t: &'static Phrases, href: &dyn Fn(Seq) -> String) -> Self {
        let report = DebateReport { data, t };
        let row = |PointRecord { point, .. }: &PointRecord| PointRow {
            id: point.id.to_string(),
            severity: t.severity(point.severity),
            title: title_words(&point.title),
            fate: report.fate(point),
        };
        let drawn = |text: &str| {
            markdown::render(text, &|document| {
                let newest = report.documents();
                newest.into_iter().find(|known| known.document == document).map(DocumentLink::from)
            })
        };
        let reason = |id: PointId, turn: &PointTurn| Words {
            heading: format!("{id}: {} {}", t.role(turn.role), t.says(turn.word)),
            seq: turn.seq.0,
            href: href(turn.seq),
            html: drawn(&turn.text),
        };
        let ruling = |ruling: &Argument| Words {
            heading: put(t.ruling_of, date(ruling.at, t.date_form)),
            seq: ruling.seq.0,
            href: href(ruling.seq),
            html: drawn(ruling.content.as_str()),
        };
        let by = |role| {
            let names: Vec<String> = report.authors(role).map(author_html).collect();
            (!names.is_empty()).then(|| (t.role(role), names.join(", ")))
        };
        ReportView {
            t,
            id: data.debate.id.to_string(),
            sentence: report.sentence(),
            documents: report.documents().into_iter().cloned().collect(),
            keeps_points: data.debate.debate.ledger.is_some(),
            points: data.points.iter().map(row).collect(),
            reasons: data
                .points
                .iter()
                .flat_map(|record| {
                    report.reasons(record).into_iter().map(|turn| reason(record.point.id, turn))
                })
                .collect(),
            for_later: report.for_later().map(row).collect(),
            rulings: data.rulings.iter().map(ruling).collect(),
            authors: [Role::Proposer, Role::Opponent, Role::Arbitrator]
                .into_iter()
                .filter_map(by)
                .collect(),
            quotes: report.quotes_in_words(),
            head: data.newest_hash.to_string(),
            seal: data.seal.map(|seal| seal.to_string()),
            trailer: report.trailer(),
            is_live: true,
        }
    }

    /// The same for an export, which links to no page.
    pub(crate) fn exported(self) -> Self {
        ReportView { is_live: false, ..self }
    }

    pub(crate) fn html(&self) -> String {
        self.render().unwrap_or_default()
    }
}

fn author_html(one: &Authorship) -> String {
    let marked = |text: &str| format!("<bdi>{}</bdi>", plain(text));
    let label = one.author.as_ref().map(|author| marked(author.as_str()));
    let seat = one.seat.as_ref().map(|seat| format!("seat {}", marked(seat.as_str())));
    [label, seat].into_iter().flatten().collect::<Vec<_>>().join(", ")
}
