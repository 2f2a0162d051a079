//! Converts what the engine returns into the types of the API.

use aw_core::{
    ByRole, DebateId, DocumentId, Hash, Held, Kind, Outcome, POINTS_FORM, PointId, QuotePlace,
    Role, State, Time,
};
use aw_record as record;

use crate::api::types::{
    AgreedVersion, Argument, AvailableActions, Checked, CitedDocument, Debate, DebateContext,
    DebateEvent, DebateList, DebateListed, Document, DocumentList, DocumentListed, EndedPoint,
    Flaw, KeptVersion, LastArgument, Ledger, Nearest, News, Nothing, OutcomeText, Point,
    PointAdvice, PointSettings, PointTurn, Points, Poll, Presence, Quote, QuotedPoint, Report,
    ReportAuthor, ReportAuthors, ReportDocument, ReportQuotes, ReportRounds, ReportRuling, Rounds,
    RulesOrigin, Seat, Sign, Stamp, Statement, Text, Transcript, TypeTexts, Version, VersionList,
    Word, Working, Written,
};
use crate::kit::texts::BuiltIn;
use crate::render::report::DebateReport;

/// The most points that an answer lists.
const POINTS_SHOWN: usize = 50;

impl From<&aw_core::Argument> for Argument {
    fn from(argument: &aw_core::Argument) -> Self {
        let event = argument.event;
        Argument {
            id: Text(argument.id),
            debate_id: Text(argument.debate),
            parent_id: argument.parent.map(Text),
            kind: event.kind().into(),
            role: event.role().into(),
            author: argument.author.as_ref().map(|author| author.as_str().to_owned()),
            content: argument.content.as_str().to_owned(),
            client_request_id: Text(argument.request),
            seq: argument.seq.0,
            parked: event.parked(),
            close: event.close(),
            automatic: event.automatic(),
            via: argument.via.into(),
            seat: argument.seat.as_ref().map(|seat| seat.as_str().to_owned()),
            hash: Text(argument.hash),
            created_at: Stamp(argument.at),
        }
    }
}

impl From<&record::Seat> for Seat {
    fn from(seat: &record::Seat) -> Self {
        Seat {
            token_id: seat.id.to_string(),
            name: seat.name.as_str().to_owned(),
            role: seat.role.as_str().to_owned(),
            debate_id: seat.debate.map(Text),
            created_at: Stamp(seat.created_at),
            expires_at: seat.expires_at.map(Stamp),
            revoked_at: seat.revoked_at.map(Stamp),
        }
    }
}

impl From<&aw_core::Debate> for AvailableActions {
    fn from(debate: &aw_core::Debate) -> Self {
        let of = |role| debate.available(role).into_iter().map(Word::Known).collect();
        let ByRole { proposer, opponent, arbitrator } = ByRole::of(of);
        AvailableActions { proposer, opponent, arbitrator }
    }
}

impl From<&record::DebateHead> for Debate {
    fn from(head: &record::DebateHead) -> Self {
        Debate {
            id: Text(head.id),
            title: head.title.as_str().to_owned(),
            debate_type: head.debate_type.as_str().to_owned(),
            state: head.state().into(),
            resolution_policy: head.debate.policy.into(),
            created_at: Stamp(head.created_at),
            updated_at: Stamp(head.updated_at),
            outcome: outcome(head.outcome),
            points: head.debate.ledger.as_ref().map(|ledger| PointSettings {
                rounds: ledger.rules.rounds,
                blocking: ledger.rules.blocking.into(),
            }),
            slug: None,
            project: None,
            archived_at: None,
            abandoned: None,
        }
    }
}

impl From<&record::DebateListed> for Debate {
    fn from(listed: &record::DebateListed) -> Self {
        Debate {
            slug: listed.slug.as_ref().map(ToString::to_string),
            project: listed.origin.as_deref().map(Into::into),
            archived_at: listed.archived_at.map(Stamp),
            ..(&listed.debate).into()
        }
    }
}

/// The outcome of a debate that has ended.
fn outcome(outcome: Outcome) -> Option<OutcomeText> {
    (outcome != Outcome::Open).then(|| outcome.into())
}

impl From<&record::LastArgument> for LastArgument {
    fn from(last: &record::LastArgument) -> Self {
        LastArgument {
            id: Text(last.id),
            seq: last.seq.0,
            role: last.role.into(),
            kind: last.kind.into(),
            parked: last.parked,
            author: last.author.as_ref().map(|author| author.as_str().to_owned()),
            created_at: Stamp(last.at),
        }
    }
}

impl From<ByRole<record::Sign>> for Presence {
    fn from(presence: ByRole<record::Sign>) -> Self {
        let sign = |sign: record::Sign| Sign {
            waiting: sign.waiting,
            last_seen_at: sign.last_seen.map(Stamp),
            working: sign.working.map(|working| Working {
                label: working.label.as_str().to_owned(),
                since: Stamp(working.since),
            }),
        };
        Presence {
            proposer: sign(presence.proposer),
            opponent: sign(presence.opponent),
            arbitrator: sign(presence.arbitrator),
        }
    }
}

impl DebateEvent {
    /// A debate with its presence.
    pub(super) fn of(listed: &record::DebateListed, presence: Presence) -> Self {
        DebateEvent {
            debate: listed.into(),
            presence,
            last_argument: (&listed.last).into(),
            blocking: blocking(listed),
        }
    }
}

/// How many points of a listed debate block completion, if it keeps points.
fn blocking(listed: &record::DebateListed) -> Option<u64> {
    listed.debate.debate.ledger.as_ref().map(|_| listed.blocking)
}

impl From<&record::CitedDocument> for CitedDocument {
    fn from(cited: &record::CitedDocument) -> Self {
        CitedDocument {
            document_id: Text(cited.id),
            version: cited.version,
            summary: cited.summary.as_str().to_owned(),
            deleted_at: cited.deleted_at.map(Stamp),
            content: None,
        }
    }
}

impl From<&record::DocumentListed> for DocumentListed {
    fn from(listed: &record::DocumentListed) -> Self {
        DocumentListed {
            document_id: Text(listed.id),
            version: listed.version,
            summary: listed.summary.as_str().to_owned(),
            title: listed.title.as_ref().map(|title| title.as_str().to_owned()),
            created_at: Stamp(listed.updated_at),
            deleted_at: listed.deleted_at.map(Stamp),
        }
    }
}

impl Version {
    /// A version of this document.
    pub(super) fn of(document: DocumentId, listed: &record::VersionListed) -> Self {
        Version {
            document_id: Text(document),
            version: listed.number,
            summary: listed.summary.as_str().to_owned(),
            author: listed.author.as_ref().map(|author| author.as_str().to_owned()),
            metadata: serde_json::from_str(&listed.metadata).unwrap_or_default(),
            created_at: Stamp(listed.at),
        }
    }
}

impl From<&record::Receipt> for Written {
    fn from(receipt: &record::Receipt) -> Self {
        let event = receipt.argument.event;
        let ledger = receipt.debate.debate.ledger.as_ref();
        let is_resolution = event.kind() == Kind::Resolution && !event.parked();
        Written {
            debate: Debate {
                slug: receipt.slug.as_ref().map(ToString::to_string),
                ..(&receipt.debate).into()
            },
            argument: (&receipt.argument).into(),
            replayed: receipt.replayed,
            missed: receipt.missed.iter().map(Into::into).collect(),
            action: Some(receipt.action.into()),
            next_argument_id_to_wait: Text(receipt.waits_on),
            message: message(receipt),
            statements: ledger.map(|_| receipt.stated.iter().map(Into::into).collect()),
            held: ledger.filter(|_| is_resolution).map(|_| receipt.held.map(Into::into)),
            points: Points::of(&receipt.debate.debate, Some(event.role())),
        }
    }
}

/// Says what the author of an argument should know about it.
fn message(receipt: &record::Receipt) -> Option<String> {
    let event = receipt.argument.event;
    let keeps_points = receipt.debate.debate.ledger.is_some();
    if event.parked() {
        let unread = if keeps_points { " Nothing that it says about points counts." } else { "" };
        return Some(parked_message(receipt) + unread);
    }
    let is_silent = keeps_points && event.kind() == Kind::Claim && receipt.stated.is_empty();
    is_silent.then(|| {
        let how = receipt.debate.debate.ledger.as_ref().map(|ledger| ledger.how(event.role()));
        format!(
            "Submitted as argument {}. The server read no statement about a point in it. {}",
            receipt.argument.seq,
            how.unwrap_or_default()
        )
    })
}

/// Says that an argument was parked, why, and how to go on.
fn parked_message(receipt: &record::Receipt) -> String {
    let seq = receipt.argument.seq;
    match receipt.debate.state() {
        State::Closed => format!(
            "Parked as argument {seq}: the arbitrator intervened while it was being written, so it changed nothing. \
             The debate is closed since."
        ),
        State::InterventionPending => format!(
            "Parked as argument {seq}: the arbitrator intervened while it was being written. It is kept and changes \
             nothing. Wait for the RULING, then answer that; what still holds can be said again there."
        ),
        State::AwaitingOpponent | State::AwaitingProposer | State::AwaitingArbitrator => format!(
            "Parked as argument {seq}: it answers an argument from before the arbitrator's INTERVENTION, so it is kept \
             and changes nothing. The RULING has been made since: read it, and answer the RULING to say this now."
        ),
    }
}

impl From<&record::News> for News {
    fn from(news: &record::News) -> Self {
        News {
            has_new_argument: true,
            action: news.action.into(),
            debate_state: news.state.into(),
            argument: (&news.argument).into(),
            arguments: news.arguments.iter().map(Into::into).collect(),
            omitted: news.omitted,
            next_argument_id_to_wait: Text(news.waits_on),
            pending_argument_id: news.pending.map(Text),
            available_actions: news.available.iter().copied().map(Word::Known).collect(),
            outcome: outcome(news.outcome),
            held: news.held.filter(|_| news.role == Role::Arbitrator).map(Into::into),
            points: Points::with(news.ledger.as_ref(), news.state, news.held, Some(news.role)),
        }
    }
}

impl From<&record::Poll> for Poll {
    fn from(poll: &record::Poll) -> Self {
        match poll {
            record::Poll::News(news) => Poll::News(Box::new(news.as_ref().into())),
            record::Poll::Nothing { debate, state, seen, action, since } => {
                Poll::Nothing(Nothing {
                    has_new_argument: false,
                    debate_id: Text(*debate),
                    debate_state: Some((*state).into()),
                    last_seen_seq: *seen,
                    last_argument_id: None,
                    action: Some((*action).into()),
                    waiting_since: Some(Stamp(*since)),
                })
            }
        }
    }
}

impl DebateContext {
    /// A debate with its presence, and with what the caller has seen of it.
    pub(super) fn of(context: &record::Context, presence: Presence, seen: Option<u64>) -> Self {
        DebateContext {
            debate: (&context.debate).into(),
            motion: (&context.motion).into(),
            arguments: context.arguments.iter().map(Into::into).collect(),
            rulings: context.rulings.iter().map(Into::into).collect(),
            documents: context.documents.iter().map(Into::into).collect(),
            own_rules: context.own_rules,
            rules_origin: RulesOrigin::of(context.debate.debate_type.as_str(), context.own_rules),
            available_actions: (&context.debate.debate).into(),
            presence,
            seen,
            points: Points::of(&context.debate.debate, None),
        }
    }
}

impl Transcript {
    /// A debate with the texts of its type and the seal over both, without arguments and documents.
    pub(super) fn of(
        debate: &record::DebateHead,
        texts: Option<&record::TypeTexts>,
        seal: Option<Hash>,
        points: &[record::PointRecord],
    ) -> Self {
        let ledger = debate.debate.ledger.as_ref();
        Transcript {
            points_form: ledger.map(|_| POINTS_FORM),
            points: ledger.map(|ledger| quoted_points(ledger, points)),
            debate: debate.into(),
            arguments: Vec::new(),
            documents: Vec::new(),
            type_texts: texts.map(Into::into),
            seal: seal.map(Text),
        }
    }
}

impl Report {
    /// The report of a debate.
    pub(super) fn of(data: &record::ReportData) -> Self {
        let head = &data.debate;
        let report = DebateReport::of(data);
        let ledger = head.debate.ledger.as_ref();
        let ended = |point: QuotedPoint, record: &record::PointRecord| EndedPoint {
            point,
            ended: report.ended(&record.point),
        };
        let authors = |role| report.authors(role).map(Into::into).collect();
        let counts = report.quote_counts();
        Report {
            debate_id: Text(head.id),
            title: head.title.as_str().to_owned(),
            outcome: head.outcome.into(),
            sentence: report.sentence(),
            debate_state: head.state().into(),
            rounds: ReportRounds { used: data.rounds, limit: ledger.map(aw_core::Ledger::limit) },
            rulings: data
                .rulings
                .iter()
                .map(|ruling| ReportRuling {
                    seq: ruling.seq.0,
                    content: ruling.content.as_str().to_owned(),
                    close: ruling.event.close() == Some(true),
                })
                .collect(),
            documents: report
                .documents()
                .into_iter()
                .map(|cited| ReportDocument {
                    document_id: Text(cited.document),
                    version: cited.version,
                })
                .collect(),
            points: ledger
                .map(|ledger| quoted_points(ledger, &data.points))
                .unwrap_or_default()
                .into_iter()
                .zip(&data.points)
                .map(|(point, record)| ended(point, record))
                .collect(),
            authors: ReportAuthors {
                proposer: authors(Role::Proposer),
                opponent: authors(Role::Opponent),
                arbitrator: authors(Role::Arbitrator),
            },
            quotes: ReportQuotes {
                found: counts.found,
                outdated: counts.outdated,
                unchecked: counts.unchecked,
            },
            head: Text(data.newest_hash),
            seal: data.seal.map(Text),
            trailer: report.trailer(),
        }
    }
}

impl From<&record::Authorship> for ReportAuthor {
    fn from(one: &record::Authorship) -> Self {
        ReportAuthor {
            author: one.author.as_ref().map(|author| author.as_str().to_owned()),
            seat: one.seat.as_ref().map(|seat| seat.as_str().to_owned()),
        }
    }
}

impl DebateList {
    /// A page of at most `limit` debates, each with its presence.
    pub(super) fn page(
        list: &record::DebateList,
        limit: u64,
        now: Time,
        presence: impl Fn(DebateId) -> ByRole<record::Sign>,
    ) -> Self {
        let full = limit > 0 && list.debates.len() as u64 == limit;
        let last = list.debates.last().filter(|_| full).map(|listed| &listed.debate);
        DebateList {
            debates: list
                .debates
                .iter()
                .map(|listed| DebateListed {
                    debate: Debate {
                        abandoned: listed.debate.is_abandoned(now).then_some(true),
                        ..listed.into()
                    },
                    last_argument: (&listed.last).into(),
                    presence: presence(listed.debate.id).into(),
                    blocking: blocking(listed),
                    seen: listed.seen,
                })
                .collect(),
            total: list.total,
            total_is_exact: list.total_is_exact,
            next_before: last.map(|last| format!("{},{}", Stamp(last.updated_at), last.id)),
        }
    }
}

impl From<&record::KeptVersion> for KeptVersion {
    fn from(kept: &record::KeptVersion) -> Self {
        KeptVersion { version: Version::of(kept.document, &kept.version), replayed: kept.replayed }
    }
}

impl From<record::Document> for Document {
    fn from(document: record::Document) -> Self {
        Document {
            version: Version::of(document.id, &document.version.version),
            content: document.version.content.into_string(),
            newest_version: document.newest,
            deleted_at: document.deleted_at.map(Stamp),
        }
    }
}

impl VersionList {
    /// The versions of this document.
    pub(super) fn of(document: DocumentId, list: &record::VersionList) -> Self {
        VersionList {
            document_id: Text(document),
            versions: list.versions.iter().map(|listed| Version::of(document, listed)).collect(),
            total: list.total,
            deleted_at: list.deleted_at.map(Stamp),
        }
    }
}

impl From<&record::DocumentList> for DocumentList {
    fn from(list: &record::DocumentList) -> Self {
        DocumentList {
            documents: list.documents.iter().map(Into::into).collect(),
            total: list.total,
            total_is_exact: list.total_is_exact,
        }
    }
}

impl RulesOrigin {
    /// The origin of the rules of a debate, whose creator may have sent its own.
    pub(super) fn of(debate_type: &str, own_rules: bool) -> Self {
        match (own_rules, BuiltIn::named(debate_type)) {
            (true, _) => RulesOrigin::Creator,
            (false, Some(_)) => RulesOrigin::BuiltIn,
            (false, None) => RulesOrigin::Unknown,
        }
    }
}

impl From<&record::TypeTexts> for TypeTexts {
    fn from(texts: &record::TypeTexts) -> Self {
        TypeTexts {
            title: texts.title.as_str().to_owned(),
            description: texts.description.as_str().to_owned(),
            proposer: texts.rules.proposer.as_str().to_owned(),
            opponent: texts.rules.opponent.as_str().to_owned(),
            arbitrator: texts.rules.arbitrator.as_str().to_owned(),
        }
    }
}

impl Points {
    /// The points of a debate, as this role needs them.
    pub(super) fn of(debate: &aw_core::Debate, role: Option<Role>) -> Self {
        Self::with(debate.ledger.as_ref(), debate.standing.state, debate.pending_held(), role)
    }

    fn with(
        ledger: Option<&aw_core::Ledger>,
        state: State,
        held: Option<Held>,
        role: Option<Role>,
    ) -> Self {
        let Some(ledger) = ledger else { return Points::default() };
        let mut live: Vec<Point> = ledger.alive().map(|point| Point::of(ledger, point)).collect();
        live.sort_by_key(|point| !point.blocking);
        let omitted = live.len().saturating_sub(POINTS_SHOWN);
        live.truncate(POINTS_SHOWN);
        Points {
            ledger: Some(Ledger::of(ledger, state, held, role)),
            points: Some(live),
            points_omitted: (omitted > 0).then_some(omitted as u64),
        }
    }
}

impl Ledger {
    /// A ledger, as this role needs it.
    pub(super) fn of(
        ledger: &aw_core::Ledger,
        state: State,
        held: Option<Held>,
        role: Option<Role>,
    ) -> Self {
        let agreed_to = ledger.documents.iter().filter(|_| ledger.agreed);
        let alive = ledger.alive().count() as u64;
        let on_move = role.filter(|role| state.floor() == Some(*role));
        Ledger {
            rounds: Rounds { used: ledger.claims, limit: ledger.limit() },
            blocking: texts(&ledger.blocking()),
            alive,
            over: ledger.points.len() as u64 - alive,
            opponent_agrees: ledger.agreed,
            agreed_to: agreed_to
                .map(|cited| AgreedVersion {
                    document_id: Text(cited.document),
                    version: cited.version,
                })
                .collect(),
            held: held.map(Into::into),
            yours: role.map(|role| texts(&ledger.owed_by(role))),
            advice: on_move
                .filter(|role| *role == Role::Proposer)
                .map(|_| (&ledger.advice()).into()),
            how: on_move.map(|role| ledger.how(role)).filter(|how| !how.is_empty()),
        }
    }
}

fn texts(points: &[PointId]) -> Vec<Text<PointId>> {
    points.iter().copied().map(Text).collect()
}

impl From<&aw_core::PointAdvice> for PointAdvice {
    fn from(advice: &aw_core::PointAdvice) -> Self {
        let aw_core::PointAdvice { course, points, why } = advice;
        PointAdvice { course: (*course).into(), points: texts(points), why: why.clone() }
    }
}

impl Point {
    fn of(ledger: &aw_core::Ledger, point: &aw_core::Point) -> Self {
        Point {
            id: Text(point.id),
            severity: point.severity.into(),
            title: point.title.clone(),
            state: point.state.into(),
            owes: point.state.owes().map(Into::into),
            blocking: ledger.blocks(point),
            late: point.late,
            unchanged: point.unchanged,
            disputes: point.disputes,
            raised_seq: point.raised.0,
            last_seq: point.last.0,
        }
    }
}

/// Points with their quotes.
pub(super) fn quoted_points(
    ledger: &aw_core::Ledger,
    points: &[record::PointRecord],
) -> Vec<QuotedPoint> {
    points.iter().map(|record| QuotedPoint::of(ledger, record)).collect()
}

impl QuotedPoint {
    fn of(ledger: &aw_core::Ledger, record: &record::PointRecord) -> Self {
        let with_text = |quote: &record::StatedQuote| Quote {
            text: Some(quote.text.clone()),
            ..Quote::from(quote)
        };
        QuotedPoint {
            point: Point::of(ledger, &record.point),
            quotes: record.quotes.iter().map(with_text).collect(),
            turns: None,
        }
    }

    /// A point with its history.
    pub(super) fn with_history(ledger: &aw_core::Ledger, record: &record::PointRecord) -> Self {
        let turns = record.turns.iter().map(|turn| PointTurn {
            seq: turn.seq.0,
            role: turn.role.into(),
            word: turn.word.into(),
            state: turn.state.map(Into::into),
            text: turn.text.clone(),
        });
        QuotedPoint { turns: Some(turns.collect()), ..Self::of(ledger, record) }
    }
}

impl From<&record::Stated> for Statement {
    fn from(stated: &record::Stated) -> Self {
        Statement {
            line: stated.line,
            target: stated.subject.to_string(),
            word: stated.word.into(),
            point: stated.point.map(Text),
            state: stated.state.map(Into::into),
            quotes: stated.quotes.iter().map(Into::into).collect(),
        }
    }
}

impl From<&record::StatedQuote> for Quote {
    fn from(quote: &record::StatedQuote) -> Self {
        let (document_id, version, seq) = match quote.place {
            Some(QuotePlace::Document { document, version }) => {
                (Some(Text(document)), Some(version), None)
            }
            Some(QuotePlace::Argument { seq }) => (None, None, Some(seq.0)),
            None => (None, None, None),
        };
        Quote {
            line: quote.line,
            check: quote.check.into(),
            document_id,
            version,
            seq,
            first_line: quote.lines.map(|(first, _)| first),
            last_line: quote.lines.map(|(_, last)| last),
            source: quote.source.clone(),
            text: None,
        }
    }
}

impl Checked {
    /// The rehearsal of a move as the role that would make it sees the outcome.
    pub(super) fn of(rehearsed: &record::Rehearsed, role: Role) -> Self {
        let debate = &rehearsed.debate;
        Checked {
            dry_run: true,
            debate: debate.into(),
            debate_state: debate.state().into(),
            parked: rehearsed.parked,
            held: rehearsed.held.map(Into::into),
            statements: rehearsed.stated.iter().map(Into::into).collect(),
            points: Points::of(&debate.debate, Some(role)),
        }
    }
}

impl From<&aw_core::Flaw> for Flaw {
    fn from(flaw: &aw_core::Flaw) -> Self {
        Flaw {
            line: flaw.line,
            code: flaw.code.as_str().to_owned(),
            message: flaw.message.clone(),
            allowed: flaw.allowed.clone(),
            quote: flaw.quote.clone(),
            nearest: flaw.nearest.as_ref().map(|nearest| {
                let (document_id, version, seq) = match nearest.place {
                    QuotePlace::Document { document, version } => {
                        (Some(Text(document)), Some(version), None)
                    }
                    QuotePlace::Argument { seq } => (None, None, Some(seq.0)),
                };
                let line = Some(nearest.line);
                Nearest { document_id, version, line, seq, text: nearest.text.clone() }
            }),
        }
    }
}
