//! Looks the quotes of a text up: reads its statements, and searches the debate's documents and
//! arguments for what they quote.
//!
//! [`said`] finds the facts that the rules of points use, for a new argument before it is written and
//! for a recorded one when it is verified. `points.rs` stores what the rules make of them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use aw_core::{
    Debate, DocumentId, Kind, Library, Normal, PlanDocument, PointId, Quote, QuotePlace, Role,
    Said, Seq, Source, Statement, Subject, Word, names_missing_version, statements,
};

use super::db::{Db, values};
use crate::Failure;

/// How many earlier versions of a document are searched for a quote.
const EARLIER: u64 = 10;

/// The most bytes of a text that is examined within its request.
const SHORT: usize = 16 << 10;

/// The most bytes that such a text may search: those of the documents, once for each quoted line.
const SEARCHED: usize = 1 << 20;

/// More quotes than most points have.
const QUOTES_OF_A_POINT: usize = 10;

/// The most quotes that are looked up: one more than an argument may have, so that the rules see it.
const LOOKED_UP: usize = 41;

/// The facts about a text that the rules of points use, as they are before the argument that follows
/// `debate.standing.last`.
pub(super) fn said(
    db: &Db<'_>,
    forms: &NormalForms,
    key: i64,
    debate: &Debate,
    argument: Text<'_>,
) -> Result<Said, Failure> {
    let said = facts(db, forms, Reach::All, key, debate, argument)?;
    Ok(said.expect("a search of all texts ends"))
}

/// The same, if it takes microseconds: the normal forms of the documents are kept, as they are for most
/// that a debate quotes. Otherwise `None`.
pub(super) fn said_in_short(
    db: &Db<'_>,
    forms: &NormalForms,
    key: i64,
    debate: &Debate,
    argument: Text<'_>,
) -> Result<Option<Said>, Failure> {
    match argument.content.len() > SHORT {
        true => Ok(None),
        false => facts(db, forms, Reach::Kept, key, debate, argument),
    }
}

/// Which texts are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Documents whose normal forms are kept.
    Kept,
    /// All.
    All,
}

/// The facts about a text, or `None` if they need more texts than are in reach.
fn facts(
    db: &Db<'_>,
    forms: &NormalForms,
    reach: Reach,
    key: i64,
    debate: &Debate,
    argument: Text<'_>,
) -> Result<Option<Said>, Failure> {
    let Text { role, kind, content, cites } = argument;
    let names_missing_version = kind == Kind::Resolution && names_missing_version(content, cites);
    let mut said = Said { cites: cites.to_vec(), names_missing_version, ..Said::default() };
    let Some(ledger) =
        debate.ledger.as_ref().filter(|_| matches!(kind, Kind::Claim | Kind::Ruling))
    else {
        return Ok(Some(said));
    };
    let read = statements(content, role, ledger.count());
    said.flaws = read.flaws;
    let needs_texts = |statement: &Statement| {
        !statement.blocks.is_empty() || matches!(statement.word, Word::Accepted | Word::Agree)
    };
    if !read.statements.iter().any(needs_texts) {
        let unquoted = |statement| (statement, Vec::new());
        said.stated = read.statements.into_iter().map(unquoted).collect();
        return Ok(Some(said));
    }
    let mut newest = ledger.documents.clone();
    if role != Role::Opponent {
        for (document, version) in cites {
            match newest.iter_mut().find(|known| known.document == *document) {
                Some(known) => known.version = known.version.max(*version),
                None => {
                    let (document, version) = (*document, *version);
                    newest.push(PlanDocument { document, version, examined: None });
                }
            }
        }
    }
    if reach == Reach::Kept && !forms.are_quick(&newest, lookups(&read.statements)) {
        return Ok(None);
    }
    let mut shelf = Shelf {
        db,
        forms,
        reach,
        key,
        role,
        last: debate.standing.last,
        newest,
        documents: None,
        arguments: None,
        earlier: None,
        examined: Vec::new(),
    };
    if role == Role::Opponent && ledger.claims >= 2 {
        shelf.read_examined()?;
    }
    let mut looked_up = 0;
    for statement in read.statements {
        let mut quotes = Vec::new();
        for block in &statement.blocks {
            if looked_up >= LOOKED_UP {
                break;
            }
            let Some(found) = shelf.check(block)? else { return Ok(None) };
            looked_up += found.len();
            quotes.extend(found);
        }
        if let (Subject::Point(point), Word::Accepted) = (statement.subject, statement.word)
            && shelf.all_stand(point)?
        {
            said.standing.push(point);
        }
        said.stated.push((statement, quotes));
    }
    let agrees = |(statement, _): &(Statement, Vec<Quote>)| statement.word == Word::Agree;
    if said.stated.iter().any(agrees) {
        said.readable = shelf.readable()?;
    }
    Ok(Some(said))
}

/// About how many quotes these statements look up. A block is looked up as a whole, and then line by
/// line; for an accepted point its earlier quotes are.
fn lookups(statements: &[Statement]) -> usize {
    let of_one = |statement: &Statement| {
        let earlier = if statement.word == Word::Accepted { QUOTES_OF_A_POINT } else { 1 };
        earlier + statement.blocks.iter().map(|block| 1 + block.lines.len()).sum::<usize>()
    };
    statements.iter().map(of_one).sum()
}

/// A text that the rules of points judge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) role: Role,
    pub(super) kind: Kind,
    pub(super) content: &'a str,
    /// The versions that it cites.
    pub(super) cites: &'a [(DocumentId, u64)],
}

/// A text in which quotes are looked up.
type Shelved = (QuotePlace, Arc<Normal>);

/// The texts in which the quotes of one argument are looked up. Each group is read when a quote needs
/// it.
struct Shelf<'a> {
    db: &'a Db<'a>,
    forms: &'a NormalForms,
    reach: Reach,
    key: i64,
    role: Role,
    last: Seq,
    newest: Vec<PlanDocument>,
    documents: Option<Vec<Shelved>>,
    arguments: Option<Vec<Shelved>>,
    earlier: Option<Vec<Shelved>>,
    examined: Vec<Shelved>,
}

impl Shelf<'_> {
    fn version(&self, document: DocumentId, version: u64) -> Result<Shelved, Failure> {
        let form = self.forms.of(self.db, document, version)?;
        Ok((QuotePlace::Document { document, version }, form))
    }

    fn read_documents(&mut self) -> Result<(), Failure> {
        if self.documents.is_none() {
            let newest = self.newest.iter();
            let read = newest.map(|cited| self.version(cited.document, cited.version));
            self.documents = Some(read.collect::<Result<_, _>>()?);
        }
        Ok(())
    }

    /// The MOTION and the arguments of the other roles, without the lines that they quote.
    fn read_arguments(&mut self) -> Result<(), Failure> {
        if self.arguments.is_some() {
            return Ok(());
        }
        let sql = "select seq, content from arguments
             where debate_key = ?1 and seq >= 1 and seq <= ?2 and (seq = 1 or role <> ?3) order by seq";
        let range = values![self.key, self.last.0, self.role.as_str()];
        let read = self.db.all(sql, range, |row| {
            let seq = Seq(row.get(0)?);
            Ok((QuotePlace::Argument { seq }, Arc::new(Normal::without_quotes(row.text(1)?))))
        })?;
        self.arguments = Some(read);
        Ok(())
    }

    fn read_earlier(&mut self) -> Result<(), Failure> {
        let mut read = Vec::new();
        for cited in &self.newest {
            for version in (1..cited.version).rev().take(EARLIER as usize) {
                read.push(self.version(cited.document, version)?);
            }
        }
        self.earlier = Some(read);
        Ok(())
    }

    fn read_examined(&mut self) -> Result<(), Failure> {
        let examined =
            self.newest.iter().filter_map(|cited| Some((cited.document, cited.examined?)));
        let read = examined.map(|(document, version)| self.version(document, version));
        self.examined = read.collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Looks a block of quoted lines up: first in the documents, then in the arguments, then in the
    /// earlier versions. `None` if those are out of reach.
    fn check(&mut self, block: &aw_core::QuoteBlock) -> Result<Option<Vec<Quote>>, Failure> {
        self.read_documents()?;
        loop {
            let current: Vec<Source<'_>> = [&self.documents, &self.arguments]
                .into_iter()
                .flatten()
                .flatten()
                .map(source)
                .collect();
            let earlier: Option<Vec<Source<'_>>> =
                self.earlier.as_ref().map(|earlier| earlier.iter().map(source).collect());
            let examined: Vec<Source<'_>> = self.examined.iter().map(source).collect();
            let library =
                Library { current: &current, earlier: earlier.as_deref(), examined: &examined };
            if let Some(found) = library.check(block) {
                return Ok(Some(found));
            }
            if self.reach == Reach::Kept {
                return Ok(None);
            }
            if self.arguments.is_none() {
                self.read_arguments()?;
            } else {
                self.read_earlier()?;
            }
        }
    }

    /// Whether all quotes of a point that were found in documents stand in the newest versions.
    fn all_stand(&mut self, point: PointId) -> Result<bool, Failure> {
        let sql = "select q.text from point_turns as t
             join point_quotes as q on q.debate_key = t.debate_key and q.seq = t.seq and q.turn = t.ordinal
             join arguments as a on a.debate_key = t.debate_key and a.seq = t.seq
             where t.debate_key = ?1 and t.number = ?2 and t.seq <= ?3 and q.result = 'found'
               and q.document_key is not null and a.role <> 'proposer'";
        let range = values![self.key, u64::from(point.0), self.last.0];
        let quoted: Vec<String> = self.db.all(sql, range, |row| row.get(0))?;
        self.read_documents()?;
        let documents = self.documents.as_deref().unwrap_or_default();
        let stands = |text: &String| documents.iter().any(|(_, document)| document.holds(text));
        Ok(!quoted.is_empty() && quoted.iter().all(stands))
    }

    /// How many lines the opponent can quote: of the documents, or of the MOTION where there are none.
    fn readable(&mut self) -> Result<u32, Failure> {
        self.read_documents()?;
        if self.newest.is_empty() {
            self.read_arguments()?;
        }
        let texts = if self.newest.is_empty() { &self.arguments } else { &self.documents };
        let current: Vec<Source<'_>> = texts.iter().flatten().map(source).collect();
        Ok(Library { current: &current, ..Library::default() }.readable_lines())
    }
}

fn source((place, text): &Shelved) -> Source<'_> {
    Source { place: *place, text }
}

/// The normal forms of document versions, the most recently added ones.
#[derive(Debug, Default)]
pub(super) struct NormalForms {
    kept: Mutex<KeptForms>,
}

#[derive(Debug, Default)]
struct KeptForms {
    forms: HashMap<(DocumentId, u64), Arc<Normal>>,
    order: VecDeque<(DocumentId, u64)>,
    bytes: usize,
}

impl NormalForms {
    /// The most memory that the kept forms may take.
    const MOST_BYTES: usize = 16 << 20;

    /// Whether there are documents, the forms of all that a lookup in them reads are kept, and so many
    /// lookups are quick.
    fn are_quick(&self, documents: &[PlanDocument], lookups: usize) -> bool {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let versions = documents.iter().flat_map(|cited| {
            let newest = (cited.document, cited.version);
            [Some(newest), cited.examined.map(|version| (cited.document, version))]
        });
        let size = |which| kept.forms.get(&which).map(|form| form.size());
        let sizes: Option<Vec<usize>> = versions.flatten().map(size).collect();
        let searched = sizes.map(|sizes| sizes.iter().sum::<usize>().saturating_mul(lookups));
        !documents.is_empty() && searched.is_some_and(|searched| searched <= SEARCHED)
    }

    /// The normal form of a version. A version never changes, so neither does its form.
    fn of(&self, db: &Db<'_>, document: DocumentId, version: u64) -> Result<Arc<Normal>, Failure> {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(form) = kept().forms.get(&(document, version)) {
            return Ok(form.clone());
        }
        let sql = "select content from document_versions as v
             join documents on documents.key = v.document_key
             where documents.id = ?1 and v.version = ?2";
        let form = db
            .one(sql, values![document.uuid(), version], |row| Ok(Normal::of(row.text(0)?)))
            .map_err(|failure| failure.placed(|damage| damage.of_document(document)))?;
        let form = Arc::new(form);
        kept().keep((document, version), &form);
        Ok(form)
    }
}

impl KeptForms {
    fn keep(&mut self, which: (DocumentId, u64), form: &Arc<Normal>) {
        if self.forms.insert(which, form.clone()).is_none() {
            self.order.push_back(which);
            self.bytes += form.size();
        }
        while self.bytes > NormalForms::MOST_BYTES {
            let Some(oldest) = self.order.pop_front() else { return };
            if let Some(form) = self.forms.remove(&oldest) {
                self.bytes -= form.size();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    /// A CLAIM that raises so many points, each with a quote of so many lines.
    fn claim(points: usize, lines: usize) -> Vec<Statement> {
        let quote = "> A line that is quoted.\n".repeat(lines);
        statements(&format!("### NEW [major] A point\n{quote}\n").repeat(points), Role::Opponent, 0)
            .statements
    }

    #[test]
    fn only_short_searches_of_kept_documents_are_made_within_a_request() {
        let forms = NormalForms::default();
        let plan = |version| PlanDocument { document: Uuid::nil().into(), version, examined: None };
        for (version, bytes) in [(1, 20_000), (2, 200_000)] {
            let form = Arc::new(Normal::of(&"x".repeat(bytes)));
            forms.kept.lock().unwrap().keep((plan(version).document, version), &form);
        }
        let is_quick = |version, points, lines| {
            forms.are_quick(&[plan(version)], lookups(&claim(points, lines)))
        };
        assert!(is_quick(1, 5, 1) && is_quick(2, 1, 1));
        assert!(!is_quick(2, 5, 1) && !is_quick(1, 40, 1) && !is_quick(1, 1, 60), "too long");
        assert!(!is_quick(3, 1, 1), "the form is not kept");
        assert!(!forms.are_quick(&[], 1), "the quotes are of arguments");
        let examined = PlanDocument { examined: Some(3), ..plan(1) };
        assert!(!forms.are_quick(&[examined], 1), "the form of the examined version is not kept");
        let accepted = statements("### P1 [accepted]\n", Role::Proposer, 1).statements;
        assert!(lookups(&accepted) >= QUOTES_OF_A_POINT, "its earlier quotes are looked up");
    }
}
