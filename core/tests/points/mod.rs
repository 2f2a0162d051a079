//! The proofs of points: the form of statements, quotes, the life of a point, and the end of a debate.

mod ending;
mod form;
mod life;
mod model;
mod quotes;

use std::collections::BTreeMap;

use aw_core::{
    Available, Change, Debate, DocumentId, Entry, Event, Flaw, FlawCode, Ledger, Library, Move,
    Normal, Point, PointId, PointRules, PointState, Quote, QuotePlace, Refusal, ResolutionPolicy,
    Role, Said, Seq, Source, Standing, State, Target, Verdict, mentions, names_missing_version,
    statements,
};

/// The plan of most stories: five lines to quote.
const PLAN: &str = "\
# Charge retries

1. The worker retries the POST up to 3 times.
2. Old rows are deleted after 30 days.
3. The alarm fires after one hour without a charge.
4. A person looks at the alarm on the next working day.";

/// A document by its number.
fn document(number: u8) -> DocumentId {
    format!("00000000-0000-4000-8000-0000000000{number:02}").parse().unwrap()
}

/// A citation of a document's version.
fn cite(number: u8, version: u64) -> String {
    format!("doc_id={} (v{version})", document(number))
}

/// A debate with points that grows by texts. It finds the facts about each text as a server does.
#[derive(Debug, Clone)]
struct Story {
    debate: Debate,
    /// The arguments, each with its text.
    record: Vec<(Entry, String)>,
    /// The versions of each document, the first first.
    documents: BTreeMap<DocumentId, Vec<String>>,
}

impl Story {
    /// A debate about the first document, which the MOTION cites.
    fn of(plan: &str) -> Self {
        Self::opened(PointRules::default(), ResolutionPolicy::Auto, &[plan], &cite(1, 1))
    }

    /// A debate without documents.
    fn about(motion: &str) -> Self {
        Self::opened(PointRules::default(), ResolutionPolicy::Auto, &[], motion)
    }

    /// A debate with these first versions of documents.
    fn opened(
        rules: PointRules,
        policy: ResolutionPolicy,
        documents: &[&str],
        motion: &str,
    ) -> Self {
        let documents = (1..).zip(documents);
        let mut story = Story {
            debate: Debate { policy, standing: Standing::opened(), ledger: None },
            record: vec![(Entry::of(Event::Motion, None), motion.to_owned())],
            documents: documents.map(|(n, text)| (document(n), vec![(*text).to_owned()])).collect(),
        };
        story.debate.ledger = Some(Ledger::opened(rules, &story.cited(motion)));
        story
    }

    /// The next version of a document. No argument cites it yet.
    fn revises(mut self, number: u8, text: &str) -> Self {
        self.documents.get_mut(&document(number)).unwrap().push(text.to_owned());
        self
    }

    fn ledger(&self) -> &Ledger {
        self.debate.ledger.as_ref().unwrap()
    }

    fn point(&self, number: u32) -> &Point {
        self.ledger().point(PointId(number)).unwrap()
    }

    fn state(&self, number: u32) -> PointState {
        self.point(number).state
    }

    /// The versions that a text cites.
    fn cited(&self, text: &str) -> Vec<(DocumentId, u64)> {
        mentions(text)
            .into_iter()
            .filter_map(|mention| {
                let newest = self.documents.get(&mention.document)?.len() as u64;
                Some((mention.document, mention.version.unwrap_or(newest).min(newest)))
            })
            .collect()
    }

    /// The facts about a text of this role.
    fn said(&self, role: Role, text: &str) -> Said {
        let ledger = self.ledger();
        let cites = self.cited(text);
        let mut newest: Vec<(DocumentId, u64)> =
            ledger.documents.iter().map(|known| (known.document, known.version)).collect();
        for (document, version) in cites.iter().filter(|_| role != Role::Opponent) {
            match newest.iter_mut().find(|(known, _)| known == document) {
                Some((_, known)) => *known = (*version).max(*known),
                None => newest.push((*document, *version)),
            }
        }
        let text_of = |document: DocumentId, version: u64| {
            Normal::of(&self.documents[&document][version as usize - 1])
        };
        let version = |(document, version): (DocumentId, u64)| {
            (QuotePlace::Document { document, version }, text_of(document, version))
        };
        let mut current: Vec<(QuotePlace, Normal)> = newest.iter().copied().map(version).collect();
        for (seq, (entry, text)) in (1..).zip(&self.record) {
            if entry.event.role() != role {
                let place = QuotePlace::Argument { seq: Seq(seq) };
                current.push((place, Normal::without_quotes(text)));
            }
        }
        let earlier: Vec<(QuotePlace, Normal)> = newest
            .iter()
            .flat_map(|(document, newest)| (1..*newest).rev().take(10).map(|v| (*document, v)))
            .map(version)
            .collect();
        let examined: Vec<(QuotePlace, Normal)> = ledger
            .documents
            .iter()
            .filter_map(|known| Some((known.document, known.examined?)))
            .map(version)
            .collect();
        let [current, earlier, examined] = [&current, &earlier, &examined].map(|texts| {
            texts.iter().map(|(place, text)| Source { place: *place, text }).collect::<Vec<_>>()
        });
        let library = Library { current: &current, earlier: Some(&earlier), examined: &examined };
        let read = statements(text, role, ledger.count());
        let looked_up = |statement: aw_core::Statement| {
            let quotes = statement.blocks.iter().flat_map(|block| library.check(block).unwrap());
            let quotes = quotes.collect();
            (statement, quotes)
        };
        let stands =
            |quote: &&Quote| newest.iter().any(|(d, v)| text_of(*d, *v).holds(&quote.text));
        let standing = ledger
            .alive()
            .map(|point| (point.id, self.quotes_of(point.id)))
            .filter(|(_, quotes)| !quotes.is_empty() && quotes.iter().all(stands))
            .map(|(id, _)| id)
            .collect();
        Said {
            stated: read.statements.into_iter().map(looked_up).collect(),
            flaws: read.flaws,
            names_missing_version: names_missing_version(text, &cites),
            cites,
            standing,
            readable: library.readable_lines(),
        }
    }

    /// The quotes of documents with which the opponent and the arbitrator have spoken on a point.
    fn quotes_of(&self, id: PointId) -> Vec<&Quote> {
        self.record
            .iter()
            .filter(|(entry, _)| entry.event.role() != Role::Proposer)
            .flat_map(|(entry, _)| &entry.changes)
            .filter(|change| change.point == Some(id))
            .flat_map(|change| &change.quotes)
            .filter(|quote| quote.is_of_document())
            .collect()
    }

    /// Makes a move, unless it is refused.
    fn attempt(&mut self, role: Role, play: Move<Target>, text: &str) -> Result<(), Refusal> {
        let said = self.said(role, text);
        for entry in self.debate.decide(role, play, &said)? {
            let text = if entry.event.automatic() { "" } else { text };
            self.debate.apply(&entry, &self.cited(text));
            self.record.push((entry, text.to_owned()));
        }
        Ok(())
    }

    fn plays(mut self, role: Role, play: Move<Target>, text: &str) -> Self {
        if let Err(refusal) = self.attempt(role, play, text) {
            panic!("{role} {play:?} {text:?}: {refusal:?}");
        }
        self
    }

    fn newest(&self) -> Target {
        Target::at(self.debate.standing.last)
    }

    /// The move by which a role makes statements.
    fn speaking(&self, role: Role) -> Move<Target> {
        match role {
            Role::Proposer | Role::Opponent => Move::Claim { target: self.newest() },
            Role::Arbitrator => Move::Ruling { target: None, verdict: Verdict::GoOn },
        }
    }

    fn opponent(self, text: &str) -> Self {
        let play = self.speaking(Role::Opponent);
        self.plays(Role::Opponent, play, text)
    }

    fn proposer(self, text: &str) -> Self {
        let play = self.speaking(Role::Proposer);
        self.plays(Role::Proposer, play, text)
    }

    fn appeals(self) -> Self {
        let play = Move::Appeal { target: self.newest() };
        self.plays(Role::Proposer, play, "Please rule.")
    }

    fn completes(self, text: &str) -> Self {
        let play = Move::Resolution { target: self.newest() };
        self.plays(Role::Proposer, play, text)
    }

    fn intervenes(self) -> Self {
        self.plays(Role::Arbitrator, Move::Intervention, "")
    }

    /// A RULING with this text after an APPEAL, or on what is pending.
    fn ruling(self, text: &str) -> Self {
        let story = match self.debate.standing.state {
            State::AwaitingOpponent => self.intervenes(),
            State::AwaitingProposer => self.appeals(),
            State::AwaitingArbitrator | State::InterventionPending | State::Closed => self,
        };
        let play = story.speaking(Role::Arbitrator);
        story.plays(Role::Arbitrator, play, text)
    }

    /// Gives this role the floor by empty words of the others.
    fn until(self, role: Role) -> Self {
        let mut story = self;
        while story.debate.standing.state.floor() != Some(role) {
            story = match (story.debate.standing.state, role) {
                (State::AwaitingOpponent, Role::Arbitrator) => story.intervenes(),
                (State::AwaitingProposer, Role::Arbitrator) => story.appeals(),
                (State::AwaitingOpponent, _) => story.opponent("Nothing new."),
                (State::AwaitingProposer, _) => story.proposer("Nothing new."),
                (State::AwaitingArbitrator | State::InterventionPending, _) => {
                    story.ruling("Go on.")
                }
                (State::Closed, _) => panic!("the debate is closed"),
            };
        }
        story
    }

    /// The judgement of a text as the ledger gives it, also out of turn.
    fn judges(&self, role: Role, text: &str) -> Result<Vec<Change>, Vec<Flaw>> {
        self.ledger().judge(role, &self.said(role, text), self.debate.standing.last.next())
    }

    /// The flaws of a text: line and code.
    fn flaws(&self, role: Role, text: &str) -> Vec<(u32, FlawCode)> {
        let flaws = self.judges(role, text).expect_err(text);
        flaws.iter().map(|flaw| (flaw.line, flaw.code)).collect()
    }

    fn refuses(&self, role: Role, play: Move<Target>, text: &str) -> Refusal {
        let mut story = self.clone();
        let refusal = story.attempt(role, play, text).expect_err(text);
        assert_eq!(story.debate, self.debate, "a refusal changes nothing");
        refusal
    }

    fn available(&self, role: Role) -> Vec<Available> {
        self.debate.available(role)
    }
}

/// Gives a role's statements and flaws in the order of the text, as short words.
fn outcomes(text: &str, role: Role, points: u32) -> Vec<(u32, String)> {
    let read = statements(text, role, points);
    let sound = read.statements.iter().map(|s| (s.line, format!("{} {}", s.subject, s.word)));
    let flawed = read.flaws.iter().map(|flaw| (flaw.line, flaw.code.to_string()));
    let mut all: Vec<(u32, String)> = sound.chain(flawed).collect();
    all.sort();
    all
}
