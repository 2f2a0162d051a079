//! The ledger of a debate's points: how they live, what makes the debate end, and its completion.
//!
//! [`Ledger::judge`] reads what an argument says about points, and returns the changes or all flaws.
//! [`Ledger::apply`] alone changes the ledger. Both take facts that the engine found, such as where a
//! quote stands, so nothing here reads a document.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::flaw::{Flaw, FlawCode, listed};
use crate::point::{
    PointId, PointRules, PointState, Severity, Statement, Subject, Word, choices_for_point,
    kept_title,
};
use crate::quote::{Evidence, MOST_QUOTES, Nearest, Quote, QuotePlace};
use crate::{DocumentId, Event, Role, Seq, words};

/// The most new points of an argument, and the most minor ones among them.
const MOST_NEW: usize = 12;
const MOST_MINOR: usize = 5;

/// The most points of a debate.
const MOST_POINTS: usize = 200;

/// The lines that an opponent without objections must quote.
const LINES_TO_SHOW: u32 = 3;

/// The opponent's CLAIM from which on a point about unchanged text is late.
const LATE_FROM: u32 = 3;

/// How often the opponent holds an answered point before the proposer should appeal.
const STALEMATE: u32 = 2;

/// A point and its place in its life.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Point {
    /// Its number.
    pub id: PointId,
    /// How bad it is.
    pub severity: Severity,
    /// The objection, in the words of the role that raised it.
    pub title: String,
    /// Where it stands.
    pub state: PointState,
    /// Whether it was raised late, about text that had not changed.
    pub late: bool,
    /// Whether the proposer accepted it while all its quotes still stand.
    pub unchanged: bool,
    /// How often the opponent held it after an answer.
    pub disputes: u32,
    /// Whether a RULING has upheld it.
    pub ruled: bool,
    /// Whether the opponent raised it with a quote that was found.
    pub evidenced: bool,
    /// The document in which a quote of it was found.
    pub document: Option<DocumentId>,
    /// The last word of the opponent, or of an upholding RULING, on it.
    pub demanded: Seq,
    /// The argument that raised it.
    pub raised: Seq,
    /// The argument that last changed it.
    pub last: Seq,
}

/// A document that the proposer or the arbitrator cites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PlanDocument {
    /// The document.
    pub document: DocumentId,
    /// The newest version that they have cited.
    pub version: u64,
    /// The newest that they had cited when the opponent last submitted a CLAIM.
    pub examined: Option<u64>,
}

/// Why a RESOLUTION waits for the arbitrator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Held {
    /// The debate's policy asks for approval.
    Policy,
    /// The opponent has not agreed.
    NotAgreed,
    /// The RESOLUTION cites another version than the one that the opponent agreed to.
    OtherVersion,
}

words!(Held, "policy, not_agreed, other_version", {
    Policy = "policy",
    NotAgreed = "not_agreed",
    OtherVersion = "other_version",
});

/// The verdict of the rules of points on a RESOLUTION.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Completion {
    /// These points block it.
    Refused(Vec<PointId>),
    /// The opponent has agreed to it.
    Agreed,
    /// The arbitrator decides.
    Held(Held),
}

/// The facts about an argument's text that the rules use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Said {
    /// The statements, each with its quotes as they were looked up.
    pub stated: Vec<(Statement, Vec<Quote>)>,
    /// The flaws of the headings that are no statements.
    pub flaws: Vec<Flaw>,
    /// The document versions that the text cites.
    pub cites: Vec<(DocumentId, u64)>,
    /// Whether a RESOLUTION names a version that does not exist. Somebody may submit it later.
    pub names_missing_version: bool,
    /// The points whose quotes all stand in the newest cited versions, this argument's included.
    pub standing: Vec<PointId>,
    /// How many lines there are to read.
    pub readable: u32,
}

/// The change that a statement makes to the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Change {
    /// The line of the statement.
    pub line: u32,
    /// Its subject.
    pub subject: Subject,
    /// Its word.
    pub word: Word,
    /// The point that it raised or changed.
    pub point: Option<PointId>,
    /// That point's state after it.
    pub state: Option<PointState>,
    /// Its other effect.
    pub effect: Effect,
    /// Its quotes.
    pub quotes: Vec<Quote>,
}

/// The effect of a statement besides the state of its point.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Effect {
    /// A point is raised.
    Raised {
        /// How bad it is.
        severity: Severity,
        /// Its title.
        title: String,
        /// Whether it is late.
        late: bool,
    },
    /// A point moves on.
    Moved {
        /// Whether the quotes of an accepted point still stand.
        unchanged: bool,
    },
    /// The statement repeats what holds already.
    Repeated,
    /// A VERDICT changes no point.
    Verdict,
}

/// The advice to the proposer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Course {
    /// Ask the arbitrator.
    Appeal,
    /// Ask to complete the debate.
    RequestCompletion,
    /// Answer the points.
    Respond,
}

words!(Course, "appeal, request_completion, respond", {
    Appeal = "appeal",
    RequestCompletion = "request_completion",
    Respond = "respond",
});

/// The proposer's best move, and why.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PointAdvice {
    /// The move.
    pub course: Course,
    /// The points that it is about.
    pub points: Vec<PointId>,
    /// The reason, in the server's words.
    pub why: String,
}

/// The points of a debate, and everything that their rules remember.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ledger {
    /// The settings.
    pub rules: PointRules,
    /// The points, by number.
    pub points: Vec<Point>,
    /// The documents that the proposer and the arbitrator cite, in the order of their first citation.
    pub documents: Vec<PlanDocument>,
    /// The newest argument in which they cited a new version.
    pub revised: Option<Seq>,
    /// How many CLAIMs of the opponent count.
    pub claims: u32,
    /// How many RULINGs there are.
    pub rulings: u32,
    /// Whether the newest argument that is not parked is the opponent's agreement.
    pub agreed: bool,
    /// Why the newest RESOLUTION is held, and its position.
    pub held: Option<(Seq, Held)>,
}

impl Ledger {
    /// The ledger of a new debate whose MOTION cites these versions.
    pub fn opened(rules: PointRules, cites: &[(DocumentId, u64)]) -> Self {
        let mut ledger = Ledger {
            rules,
            points: Vec::new(),
            documents: Vec::new(),
            revised: None,
            claims: 0,
            rulings: 0,
            agreed: false,
            held: None,
        };
        ledger.cite(cites, Seq::FIRST);
        ledger
    }

    /// How many points there are.
    pub fn count(&self) -> u32 {
        self.points.len() as u32
    }

    /// A point by its number.
    pub fn point(&self, id: PointId) -> Option<&Point> {
        self.points.get(usize::try_from(id.0).ok()?.checked_sub(1)?)
    }

    fn point_mut(&mut self, id: PointId) -> Option<&mut Point> {
        self.points.get_mut(usize::try_from(id.0).ok()?.checked_sub(1)?)
    }

    /// The points that are not over.
    pub fn alive(&self) -> impl Iterator<Item = &Point> {
        self.points.iter().filter(|point| point.state.is_alive())
    }

    /// Whether a point blocks completion.
    pub fn blocks(&self, point: &Point) -> bool {
        let late_major = point.late && point.severity < Severity::Critical;
        let reaches_the_bar = point.severity >= self.rules.blocking && !late_major;
        point.state.is_alive() && (point.ruled || reaches_the_bar)
    }

    /// The points that block completion.
    pub fn blocking(&self) -> Vec<PointId> {
        self.alive().filter(|point| self.blocks(point)).map(|point| point.id).collect()
    }

    /// The live points on which this role owes a word.
    pub fn owed_by(&self, role: Role) -> Vec<PointId> {
        let owes = |point: &&Point| point.state.owes() == Some(role);
        self.alive().filter(owes).map(|point| point.id).collect()
    }

    /// How many CLAIMs the opponent may have made before the proposer's are refused.
    pub fn limit(&self) -> u32 {
        self.rules.rounds + self.rulings
    }

    /// Whether the rounds are used up.
    pub fn rounds_are_used(&self) -> bool {
        self.claims >= self.limit()
    }

    /// Judges a RESOLUTION that cites these versions.
    pub fn completion(&self, said: &Said) -> Completion {
        let blocking = self.blocking();
        if !blocking.is_empty() {
            return Completion::Refused(blocking);
        }
        if !self.agreed {
            return Completion::Held(Held::NotAgreed);
        }
        let agreed_to = |cited: &(DocumentId, u64)| {
            self.documents.iter().any(|known| (known.document, known.version) == *cited)
        };
        if said.names_missing_version || !said.cites.iter().all(agreed_to) {
            return Completion::Held(Held::OtherVersion);
        }
        Completion::Agreed
    }

    /// The proposer's best move.
    pub fn advice(&self) -> PointAdvice {
        let blocking = self.blocking();
        let held_on = |id: &PointId| self.point(*id).is_some_and(|p| p.disputes >= STALEMATE);
        let disputed: Vec<PointId> = blocking.iter().copied().filter(held_on).collect();
        let used = self.rounds_are_used();
        if let Some(first) = disputed.first() {
            let times = self.point(*first).map_or(0, |point| point.disputes);
            let names = listed(&disputed, "and");
            let why = match disputed.len() {
                1 => format!("{names} was answered and held {times} times"),
                _ => format!("{names} were answered and held {STALEMATE} times or more"),
            };
            return PointAdvice { course: Course::Appeal, points: disputed, why };
        }
        if used && !blocking.is_empty() {
            let verb = if blocking.len() == 1 { "blocks" } else { "block" };
            let why = format!(
                "{}, and {} {verb} completion",
                rounds_used(self.limit()),
                listed(&blocking, "and")
            );
            return PointAdvice { course: Course::Appeal, points: blocking, why };
        }
        if blocking.is_empty() && (self.agreed || used) {
            let why = match self.agreed {
                true => "the opponent agrees and nothing blocks".to_string(),
                false => format!("{} and nothing blocks", rounds_used(self.limit())),
            };
            return PointAdvice { course: Course::RequestCompletion, points: Vec::new(), why };
        }
        let points = self.owed_by(Role::Proposer);
        let why = match points.as_slice() {
            [] => "no point waits for the proposer; answer the newest argument".to_string(),
            [one] => format!("{one} waits for the proposer"),
            several => format!("{} wait for the proposer", listed(several, "and")),
        };
        PointAdvice { course: Course::Respond, points, why }
    }

    /// How this role writes its answer, for an agent that has not read the rules.
    pub fn how(&self, role: Role) -> String {
        if role == Role::Proposer && self.rounds_are_used() {
            return "The rounds are used: follow advice. Headings count in a CLAIM only."
                .to_string();
        }
        let owed: Vec<PointId> = match role {
            Role::Arbitrator => self.alive().map(|point| point.id).collect(),
            Role::Proposer | Role::Opponent => self.owed_by(role),
        };
        let mut how = self.how_to_answer(role, &owed);
        let of_document = |id: &PointId| self.point(*id).is_some_and(|p| p.document.is_some());
        let more = match role {
            Role::Proposer if owed.iter().any(of_document) => {
                " accepted needs a new version: doc_id=… (vN)."
            }
            Role::Proposer if !owed.is_empty() => "",
            Role::Proposer => "No point waits for you.",
            Role::Opponent if owed.is_empty() => {
                "Raise points: ### NEW [critical|major|minor] Title, then a > quote and a reason. \
                 End with ### VERDICT [agree|object]."
            }
            Role::Opponent => {
                " New points: ### NEW [critical|major|minor] Title, a > quote and a reason. \
                 End with ### VERDICT [agree|object]."
            }
            Role::Arbitrator => "",
        };
        how.push_str(more);
        how
    }

    /// The headings that answer these points: the points that take the same words together.
    fn how_to_answer(&self, role: Role, owed: &[PointId]) -> String {
        let words = |id: &PointId| match (role, self.point(*id)) {
            (Role::Proposer, Some(point)) if point.ruled => "accepted".to_string(),
            (Role::Proposer, Some(point)) if point.severity == Severity::Critical => {
                "accepted|rejected".to_string()
            }
            (Role::Opponent, Some(point)) if point.ruled => "resolved|open".to_string(),
            _ => choices_for_point(role),
        };
        let verb = if role == Role::Arbitrator { "Rule on" } else { "Answer" };
        let mut groups: Vec<(String, Vec<PointId>)> = Vec::new();
        for id in owed {
            let words = words(id);
            match groups.iter_mut().find(|(known, _)| *known == words) {
                Some((_, points)) => points.push(*id),
                None => groups.push((words, [*id].into())),
            }
        }
        let parts = groups.iter().map(|(words, points)| {
            let names = listed(points, "and");
            format!("{verb} {names}: ### {} [{words}] and a reason.", points[0])
        });
        parts.collect::<Vec<_>>().join(" ")
    }

    /// Judges what an argument says about points: the changes in the order of the text, or all flaws.
    pub fn judge(&self, role: Role, said: &Said, seq: Seq) -> Result<Vec<Change>, Vec<Flaw>> {
        let mut judging = Judging {
            next: self.clone(),
            flaws: said.flaws.clone(),
            changes: Vec::new(),
            unread: None,
            role,
            seq,
            said,
        };
        if role != Role::Opponent {
            judging.next.cite(&said.cites, seq);
        }
        let judged = judging.limits();
        for ((statement, quotes), _) in said.stated.iter().zip(judged).filter(|(_, judged)| *judged)
        {
            judging.state(statement, quotes);
        }
        judging.agreement();
        let Judging { mut flaws, changes, .. } = judging;
        if flaws.is_empty() {
            return Ok(changes);
        }
        flaws.sort_by_key(|flaw| flaw.line);
        Err(flaws)
    }

    /// Applies the next argument of the record: what it changes, and the versions that it cites.
    pub fn apply(
        &mut self,
        seq: Seq,
        event: Event,
        cites: &[(DocumentId, u64)],
        changes: &[Change],
        held: Option<Held>,
    ) {
        if event.parked() {
            return;
        }
        let role = event.role();
        if role != Role::Opponent {
            self.cite(cites, seq);
        }
        for change in changes {
            self.change(role, change, seq);
        }
        let agrees =
            |change: &Change| (change.subject, change.word) == (Subject::Verdict, Word::Agree);
        self.agreed = role == Role::Opponent && changes.iter().any(agrees);
        match event {
            Event::OpponentClaim { .. } => {
                self.claims += 1;
                for document in &mut self.documents {
                    document.examined = Some(document.version);
                }
            }
            // The server's own RULING gives nobody another round.
            Event::Ruling { automatic, .. } => {
                self.rulings += u32::from(!automatic);
                for point in self.points.iter_mut().filter(|point| point.state.is_alive()) {
                    point.disputes = 0;
                }
            }
            Event::Resolution { .. } => self.held = held.map(|held| (seq, held)),
            Event::Motion
            | Event::ProposerClaim { .. }
            | Event::Appeal { .. }
            | Event::Intervention => {}
        }
    }

    /// Notes the versions that the proposer or the arbitrator cites.
    fn cite(&mut self, cites: &[(DocumentId, u64)], seq: Seq) {
        for (document, version) in cites {
            match self.documents.iter_mut().find(|known| known.document == *document) {
                Some(known) if known.version >= *version => continue,
                Some(known) => known.version = *version,
                None => self.documents.push(PlanDocument {
                    document: *document,
                    version: *version,
                    examined: None,
                }),
            }
            self.revised = Some(seq);
        }
    }

    fn change(&mut self, role: Role, change: &Change, seq: Seq) {
        let (Some(id), Some(state)) = (change.point, change.state) else { return };
        let quoted = change.quotes.iter().find_map(|quote| match quote.evidence {
            Evidence::Found { place: QuotePlace::Document { document, .. }, .. } => Some(document),
            _ => None,
        });
        let upholds = change.word == Word::Upheld;
        match &change.effect {
            Effect::Raised { severity, title, late } => self.points.push(Point {
                id,
                severity: *severity,
                title: title.clone(),
                state,
                late: *late,
                unchanged: false,
                disputes: 0,
                ruled: role == Role::Arbitrator,
                evidenced: role == Role::Opponent && change.quotes.iter().any(Quote::counts),
                document: quoted,
                demanded: seq,
                raised: seq,
                last: seq,
            }),
            Effect::Moved { unchanged } => {
                let Some(point) = self.point_mut(id) else { return };
                if role == Role::Opponent && change.word == Word::Open {
                    point.disputes += 1;
                }
                if role == Role::Opponent || upholds {
                    point.demanded = seq;
                }
                if role != Role::Proposer {
                    point.document = point.document.or(quoted);
                }
                point.ruled |= upholds;
                point.unchanged = *unchanged;
                point.state = state;
                point.last = seq;
            }
            Effect::Repeated => {
                if let Some(point) = self.point_mut(id)
                    && (role == Role::Opponent || upholds)
                    && point.state.is_alive()
                {
                    point.demanded = seq;
                }
            }
            Effect::Verdict => {}
        }
    }
}

/// The judgement of one argument.
struct Judging<'a> {
    /// The ledger after the statements so far, flawed ones included.
    next: Ledger,
    flaws: Vec<Flaw>,
    changes: Vec<Change>,
    /// The line of the first quote beyond the limit. Quotes from there on are not looked up.
    unread: Option<u32>,
    role: Role,
    seq: Seq,
    said: &'a Said,
}

impl Judging<'_> {
    fn flaw(&mut self, line: u32, code: FlawCode, message: impl Into<String>) {
        self.flaws.push(Flaw::new(line, code, message));
    }

    /// Refuses a second statement on the same subject, and more than the limits allow. Returns which
    /// statements are judged: what else is wrong with one too many does not matter.
    fn limits(&mut self) -> Vec<bool> {
        let stated = &self.said.stated;
        let room = MOST_POINTS.saturating_sub(self.next.points.len());
        let (mut new, mut minor, mut quoted) = (0, 0, 0);
        let mut judged = Vec::new();
        for (nth, (statement, quotes)) in stated.iter().enumerate() {
            let Statement { line, subject, word, .. } = *statement;
            let same = |(other, _): &&(Statement, Vec<Quote>)| other.subject == subject;
            let mut flaws = Vec::new();
            let mut is_beyond = false;
            if subject == Subject::New {
                new += 1;
                minor += usize::from(word == Word::Minor);
                let minors = if word == Word::Minor { minor } else { 0 };
                for (count, most, limit) in [
                    (new, MOST_NEW, ("an argument raises", MOST_NEW, "points")),
                    (minors, MOST_MINOR, ("an argument raises", MOST_MINOR, "minor points")),
                    (new, room, ("a debate has", MOST_POINTS, "points")),
                ] {
                    is_beyond |= count > most;
                    if count == most + 1 {
                        let (which, number, what) = limit;
                        let message = format!("{which} at most {number} {what}");
                        flaws.push(Flaw::new(line, FlawCode::TooMany, message));
                    }
                }
            } else if let Some((first, _)) = stated[..nth].iter().find(same) {
                let first = first.line;
                let message =
                    format!("{subject} has a statement in line {first} already: write one");
                flaws.push(Flaw::new(line, FlawCode::Twice, message));
                is_beyond = true;
            }
            let left = MOST_QUOTES.saturating_sub(quoted);
            quoted += quotes.len();
            if let (None, Some(first)) = (self.unread, quotes.get(left)) {
                self.unread = Some(first.line);
                let message = format!("an argument has at most {MOST_QUOTES} quotes");
                flaws.push(Flaw::new(first.line, FlawCode::TooMany, message));
            }
            self.flaws.append(&mut flaws);
            judged.push(!is_beyond);
        }
        judged
    }

    /// Judges one statement, and adds its change.
    fn state(&mut self, statement: &Statement, quotes: &[Quote]) {
        let Statement { line, subject, word, ref title, .. } = *statement;
        let is_read = |line: u32| self.unread.is_none_or(|unread| line < unread);
        let are_read = is_read(line) && quotes.iter().all(|quote| is_read(quote.line));
        let read = quotes.iter().take_while(|quote| is_read(quote.line)).count();
        let flawed_quote = self.role != Role::Arbitrator && self.quotes(&quotes[..read]);
        let (point, state, effect) = match subject {
            Subject::New => {
                let id = PointId(self.next.count() + 1);
                let severity = word.severity().unwrap_or(Severity::Minor);
                let title = kept_title(title);
                if title.is_empty() {
                    self.flaw(
                        line,
                        FlawCode::NoTitle,
                        "a new point needs a title after the bracket",
                    );
                }
                if !statement.has_reason {
                    self.reason(line, "a point");
                }
                let needs_quote = self.role == Role::Opponent && severity > Severity::Minor;
                if needs_quote && are_read && !flawed_quote {
                    self.evidence(statement, quotes);
                }
                let state = match self.role {
                    Role::Arbitrator => PointState::Upheld,
                    Role::Proposer | Role::Opponent => PointState::Open,
                };
                let late = self.is_late(quotes);
                (Some(id), Some(state), Effect::Raised { severity, title, late })
            }
            Subject::Point(id) => match self.answer(statement, id) {
                Some((state, effect)) => (Some(id), Some(state), effect),
                None => return,
            },
            Subject::Verdict => (None, None, Effect::Verdict),
        };
        let change = Change { line, subject, word, point, state, effect, quotes: quotes.to_vec() };
        self.next.change(self.role, &change, self.seq);
        self.changes.push(change);
    }

    /// Judges a word on a point of the debate: the state after it, and its effect.
    fn answer(&mut self, statement: &Statement, id: PointId) -> Option<(PointState, Effect)> {
        let Statement { line, word, .. } = *statement;
        let point = self.next.point(id)?.clone();
        let state = match turn(&point, self.role, word) {
            Ok(Some(state)) => state,
            Ok(None) => return Some((point.state, Effect::Repeated)),
            Err(code) => {
                let role = self.role;
                let message = match code {
                    FlawCode::PointOver => {
                        format!("{id} is over ({}): raise it as NEW", point.state)
                    }
                    FlawCode::PointRuled if word == Word::Resolved => format!(
                        "a RULING has upheld {id}: the proposer must write [accepted] before it is resolved"
                    ),
                    FlawCode::PointRuled => {
                        let own = match role {
                            Role::Proposer => "change the plan and write [accepted]",
                            Role::Opponent | Role::Arbitrator => "only a RULING can give it up",
                        };
                        format!("a RULING has upheld {id}, so it cannot be {word}: {own}")
                    }
                    _ => format!(
                        "{id} is critical and cannot be deferred: write {id} [accepted|rejected]"
                    ),
                };
                let allowed = match code {
                    FlawCode::Word => ["accepted", "rejected"].map(ToString::to_string).to_vec(),
                    _ => Vec::new(),
                };
                self.flaws.push(Flaw { allowed, ..Flaw::new(line, code, message) });
                return None;
            }
        };
        if !statement.has_reason && !statement.title.contains(char::is_alphanumeric) {
            self.reason(line, "an answer");
        }
        if let (Word::Accepted, Some(document)) = (word, point.document)
            && self.next.revised.is_none_or(|revised| revised <= point.demanded)
        {
            let newest = self.next.documents.iter().find(|known| known.document == document);
            let newest = newest.map_or(1, |known| known.version);
            let message = format!(
                "{id} is about document {document}, whose newest cited version is v{newest}: submit a new \
                 version and cite its number in this text, as doc_id={document} (v{})",
                newest + 1
            );
            self.flaw(line, FlawCode::VersionNeeded, message);
        }
        let unchanged = word == Word::Accepted && self.said.standing.contains(&id);
        Some((state, Effect::Moved { unchanged }))
    }

    fn reason(&mut self, line: u32, of: &str) {
        let message = format!("{of} needs a reason: at least one line that is no quote");
        self.flaw(line, FlawCode::NoReason, message);
    }

    /// Refuses quotes that stand nowhere. Returns whether there is one.
    fn quotes(&mut self, quotes: &[Quote]) -> bool {
        let before = self.flaws.len();
        for quote in quotes {
            let (code, message, nearest) = match &quote.evidence {
                Evidence::Missing { nearest } => {
                    let message = match nearest {
                        Some(nearest) => format!(
                            "the debate has no such text. Nearest, {}: \"{}\" Quote exactly; if it is no \
                             quote, leave out the >",
                            place(nearest),
                            nearest.text
                        ),
                        None => "the debate has no such text. Quote exactly; from code, name its file in \
                                 the line below: — src/charge.rs:88; if it is no quote, leave out the >"
                            .to_string(),
                    };
                    (FlawCode::QuoteMissing, message, nearest.clone())
                }
                Evidence::TooShort => (
                    FlawCode::QuoteLength,
                    "this quote has fewer than 12 characters and is no whole line of the debate: \
                     quote more of the line; if it is no quote, leave out the >"
                        .to_string(),
                    None,
                ),
                Evidence::TooLong => (
                    FlawCode::QuoteLength,
                    "this quote has more than 1,000 characters: quote only the words that matter, \
                     also from the middle of a long line"
                        .to_string(),
                    None,
                ),
                Evidence::Found { .. } | Evidence::Outdated { .. } | Evidence::Unchecked => {
                    continue;
                }
            };
            let quoted = Some(quote.text.clone());
            self.flaws.push(Flaw {
                quote: quoted,
                nearest,
                ..Flaw::new(quote.line, code, message)
            });
        }
        self.flaws.len() > before
    }

    /// Refuses a critical or major point without a quote that counts.
    fn evidence(&mut self, statement: &Statement, quotes: &[Quote]) {
        if quotes.iter().any(Quote::counts) {
            return;
        }
        let outdated = quotes.iter().find_map(|quote| match quote.evidence {
            Evidence::Outdated { place: QuotePlace::Document { document, version }, lines } => {
                Some((quote, document, version, lines.first))
            }
            _ => None,
        });
        match outdated {
            Some((quote, document, version, line)) => {
                let newest = self.next.documents.iter().find(|known| known.document == document);
                let message = format!(
                    "this text is not in v{} any more; it was in v{version}, line {line}: quote the newest version",
                    newest.map_or(version + 1, |known| known.version)
                );
                let quoted = Some(quote.text.clone());
                let flaw = Flaw::new(quote.line, FlawCode::QuoteOutdated, message);
                self.flaws.push(Flaw { quote: quoted, ..flaw });
            }
            None => {
                let message = format!(
                    "a {} point needs a quote of the plan or the debate: a line with > that copies it exactly. \
                     For something that is absent, quote the heading or sentence where it belongs",
                    statement.word
                );
                self.flaw(statement.line, FlawCode::QuoteNeeded, message);
            }
        }
    }

    /// Whether a new point of the opponent comes late: about text that it could object to before.
    fn is_late(&self, quotes: &[Quote]) -> bool {
        let fresh = |quote: &Quote| matches!(quote.evidence, Evidence::Found { fresh: true, .. });
        self.role == Role::Opponent
            && self.next.claims + 1 >= LATE_FROM
            && !self.next.documents.is_empty()
            && !quotes.iter().any(fresh)
    }

    /// Judges an agreement by what the argument leaves.
    fn agreement(&mut self) {
        let agrees = |(statement, _): &&(Statement, Vec<Quote>)| {
            (statement.subject, statement.word) == (Subject::Verdict, Word::Agree)
        };
        let stated = &self.said.stated;
        let Some((verdict, quotes)) = stated.iter().find(agrees) else { return };
        // Which of two VERDICTs holds is not known.
        if stated.iter().filter(|(one, _)| one.subject == Subject::Verdict).count() > 1 {
            return;
        }
        let blocking = self.next.blocking();
        if !blocking.is_empty() {
            let verb = if blocking.len() == 1 { "blocks" } else { "block" };
            let message = format!(
                "{} still {verb}: resolve or withdraw, or write VERDICT [object]",
                listed(&blocking, "and")
            );
            let allowed = [Word::Object.to_string()].into();
            let flaw = Flaw::new(verdict.line, FlawCode::AgreeBlocked, message);
            self.flaws.push(Flaw { allowed, ..flaw });
        }
        let to_show = LINES_TO_SHOW.min(self.said.readable);
        let has_read = self.next.points.iter().any(|point| point.evidenced);
        let are_read = self.unread.is_none();
        if are_read && !has_read && crate::quote::lines_found(quotes) < to_show {
            let lines = if to_show == 1 {
                "its line".to_string()
            } else {
                format!("{to_show} lines of it")
            };
            let message = format!(
                "an opponent without objections shows that it has read the plan: quote {lines} below the VERDICT"
            );
            self.flaw(verdict.line, FlawCode::AgreeUnread, message);
        }
    }
}

fn place(nearest: &Nearest) -> String {
    match nearest.place {
        QuotePlace::Document { document, version } => {
            format!("{document} v{version}, line {}", nearest.line)
        }
        QuotePlace::Argument { seq } => format!("argument {seq}, line {}", nearest.line),
    }
}

/// Says that the opponent has no round left.
pub(crate) fn rounds_used(limit: u32) -> String {
    match limit {
        1 => "the only round is used".to_string(),
        _ => format!("all {limit} rounds are used"),
    }
}

/// The next state of a point after a word; nothing where the word repeats the state.
fn turn(point: &Point, role: Role, word: Word) -> Result<Option<PointState>, FlawCode> {
    use PointState::{
        Accepted, Deferred, Dismissed, Open, Rejected, SetAside, Settled, Upheld, Withdrawn,
    };
    if !point.state.is_alive() {
        return match word {
            Word::Open | Word::Upheld => Err(FlawCode::PointOver),
            _ => Ok(None),
        };
    }
    let held = if point.ruled { Upheld } else { Open };
    let next = match (role, word, point.state) {
        (Role::Proposer, Word::Accepted, _) => Accepted,
        (Role::Proposer, Word::Rejected | Word::Deferred, _) if point.ruled => {
            return Err(FlawCode::PointRuled);
        }
        (Role::Proposer, Word::Rejected, _) => Rejected,
        (Role::Proposer, Word::Deferred, _) if point.severity == Severity::Critical => {
            return Err(FlawCode::Word);
        }
        (Role::Proposer, Word::Deferred, _) => Deferred,

        (Role::Opponent, Word::Resolved, state) if point.ruled && state != Accepted => {
            return Err(FlawCode::PointRuled);
        }
        (Role::Opponent, Word::Resolved, Rejected) => Withdrawn,
        (Role::Opponent, Word::Resolved, Deferred) => SetAside,
        (Role::Opponent, Word::Resolved, _) => Settled,
        (Role::Opponent, Word::Open, _) => held,
        (Role::Opponent, Word::Withdrawn, _) if point.ruled => return Err(FlawCode::PointRuled),
        (Role::Opponent, Word::Withdrawn, _) => Withdrawn,

        (Role::Arbitrator, Word::Upheld, _) => Upheld,
        (Role::Arbitrator, Word::Dismissed, _) => Dismissed,
        (Role::Arbitrator, Word::Deferred, _) => SetAside,

        // The grammar gives no role any other word.
        _ => point.state,
    };
    Ok((next != point.state).then_some(next))
}
