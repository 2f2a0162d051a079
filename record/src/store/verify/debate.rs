//! Verifies one debate: the chain of its arguments, and everything stored beside them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use aw_core::{
    Argument, ArgumentId, Debate, DebateId, DocumentId, Entry, Event, Hash, Kind, Ledger,
    PointRules, ResolutionPolicy, Said, Seq, Standing, Time,
};
use uuid::Uuid;

use super::Budget;
use crate::store::checksums::{self, Checksum};
use crate::store::db::{Db, Row, values};
use crate::store::find;
use crate::store::points;
use crate::store::purge::Purgeable;
use crate::store::quotes::{self, NormalForms, Text};
use crate::store::rows::{self, ARGUMENT, ARGUMENT_COLUMNS, AUTOMATIC, CLOSE, DebateRow, HEAD};
use crate::store::search;
use crate::{Damage, Failure, Stated, Tombstone, Verified, chain};

/// How many arguments one query reads.
const AT_ONCE: u64 = 200;

/// A verification of a debate, from its MOTION to its newest argument.
#[derive(Debug)]
pub(crate) struct DebateWalk {
    key: i64,
    id: DebateId,
    /// The standing and the points after the arguments verified so far.
    debate: Option<Debate>,
    /// The policy and the settings of points.
    settings: Option<(ResolutionPolicy, Option<PointRules>)>,
    /// How many statements and quotes those arguments have.
    statements: (u64, u64),
    forms: NormalForms,
    first: Hash,
    newest: Option<Newest>,
    /// The last cited version of each document, and the position of that citation.
    cited: BTreeMap<i64, (u64, Seq)>,
}

/// The last verified argument.
#[derive(Debug, Clone, Copy)]
struct Newest {
    id: ArgumentId,
    hash: Hash,
    at: Time,
}

impl DebateWalk {
    /// Begins with a debate that was not deleted, or with what is left of a purged one.
    pub(crate) fn of(db: &Db<'_>, debate: DebateId) -> Result<Self, Failure> {
        let known = match find::find(db, debate)? {
            Some(known) if Purgeable::Debate(known.key).tombstone(db)?.is_some() => known,
            _ => find::live(db, debate)?,
        };
        Ok(Self::beginning(known.key, debate))
    }

    /// Begins with the debate that has this key.
    pub(super) fn at(db: &Db<'_>, key: i64) -> Result<Self, Failure> {
        let sql = "select id from debates where key = ?1";
        let id: Uuid = db.one(sql, values![key], |row| row.get(0))?;
        Ok(Self::beginning(key, id.into()))
    }

    fn beginning(key: i64, id: DebateId) -> Self {
        let cited = BTreeMap::new();
        DebateWalk {
            key,
            id,
            debate: None,
            settings: None,
            statements: (0, 0),
            forms: NormalForms::default(),
            first: Hash::NONE,
            newest: None,
            cited,
        }
    }

    /// How many arguments are verified.
    pub(super) fn arguments(&self) -> u64 {
        self.debate.as_ref().map_or(0, |debate| debate.standing.last.0)
    }

    /// Continues while the budget lasts. Returns the debate once it has reached the end, or the first
    /// damage.
    pub(in crate::store) fn go_on(
        &mut self,
        db: &Db<'_>,
        budget: &mut Budget,
    ) -> Result<Option<Verified>, Failure> {
        let verified = self.verify(db, budget);
        verified.map_err(|failure| failure.placed(|damage| damage.of_debate(self.id)))
    }

    fn verify(&mut self, db: &Db<'_>, budget: &mut Budget) -> Result<Option<Verified>, Failure> {
        if self.debate.is_none() {
            if let Some(stone) = Purgeable::Debate(self.key).tombstone(db)? {
                return self.check_tombstone(db, stone).map(Some);
            }
            self.settings = Some(self.settings(db)?);
        }
        let from = self.arguments().cast_signed();
        let ended = self.follow(db, budget);
        // Citations before the result of `follow`, so that the first damaged argument is named.
        self.check_citations(db, from, self.arguments().cast_signed())?;
        if ended? { self.check_head(db).map(Some) } else { Ok(None) }
    }

    /// Verifies what is left of a purged debate.
    fn check_tombstone(&self, db: &Db<'_>, stone: Tombstone) -> Result<Verified, Failure> {
        let checksum = Checksum::Opening(self.key).before(db)?;
        Purgeable::Debate(self.key).verify(db, &stone, checksum)?;
        let deleted_at = self.deleted_at(db)?;
        let deleted = deleted_at.map(|at| checksums::deleted_at(checksum, at));
        if Checksum::DebateDeleted(self.key).kept(db)? != deleted {
            return bad("its deletion does not match its checksum");
        }
        let (debate, first, head) = (self.id, Hash::NONE, stone.hash);
        Ok(Verified { debate, arguments: 0, first, head, checksum, tombstone: Some(stone) })
    }

    fn deleted_at(&self, db: &Db<'_>) -> Result<Option<Time>, Failure> {
        let sql = "select deleted_at from debates where key = ?1";
        db.one(sql, values![self.key], |row| Ok(row.get::<Option<i64>>(0)?.map(Time)))
    }

    /// Follows the chain while the budget lasts. Returns whether it has reached the end.
    fn follow(&mut self, db: &Db<'_>, budget: &mut Budget) -> Result<bool, Failure> {
        let sql = format!(
            "select {ARGUMENT}, previous_hash, proposer_count, opponent_count
             from arguments where debate_key = ?1 and seq > ?2 order by seq limit ?3"
        );
        while !budget.is_spent() {
            let mut found = 0;
            db.each(&sql, values![self.key, self.arguments(), AT_ONCE], |row| {
                found += 1;
                let seq = Seq(self.arguments() + 1);
                let length = self
                    .take(db, row, seq)
                    .map_err(|failure| failure.placed(|damage| damage.at_seq(seq)))?;
                budget.pay(length);
                Ok(if budget.is_spent() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                })
            })?;
            if found < AT_ONCE && !budget.is_spent() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Verifies the argument at this position and returns the length of its text.
    fn take(&mut self, db: &Db<'_>, row: &Row<'_>, seq: Seq) -> Result<usize, Failure> {
        if Seq(row.get(0)?) != seq {
            return bad("it is missing");
        }
        let argument = rows::argument(row, self.id)?;
        let previous = self.newest.map_or(Hash::NONE, |newest| newest.hash);
        if chain::link(previous, &argument) != argument.hash {
            return bad("its hash does not match its fields");
        }
        if Hash(row.get(ARGUMENT_COLUMNS)?) != previous {
            return bad("it does not name its predecessor's hash");
        }
        if self.newest.is_some_and(|newest| argument.at < newest.at) {
            return bad("it is older than its predecessor");
        }
        if let Some(parent) = argument.parent
            && self.newest.is_none_or(|newest| newest.id != parent)
            && self.place_of(db, parent)?.is_none_or(|parent| parent >= seq)
        {
            return bad("it does not answer an earlier argument of its debate");
        }
        let event = argument.event;
        let before = self.debate.as_ref().map(|debate| debate.standing);
        let debate = match self.debate.clone() {
            None if event == Event::Motion => self.opened(db)?,
            None => return bad("it is not a MOTION"),
            Some(mut debate) => {
                let (entry, said) = self.entry(db, &debate, &argument)?;
                debate.apply(&entry, &said.cites);
                debate
            }
        };
        let standing = debate.standing;
        self.debate = Some(debate);
        let interrupted = before.and_then(|before| before.interrupted.get(event.role()));
        if rows::parked_for(row)? != interrupted.filter(|_| event.parked()) {
            return bad("its INTERVENTION does not match how it was parked");
        }
        let counts: (u64, u64) = (row.get(ARGUMENT_COLUMNS + 1)?, row.get(ARGUMENT_COLUMNS + 2)?);
        if counts != (standing.count.proposer, standing.count.opponent) {
            return bad("its counts do not match the arguments before it");
        }
        if !row.is_flag(CLOSE)? || !row.is_flag(AUTOMATIC)? {
            return bad("a flag of it is neither 0 nor 1");
        }
        if before.is_none() {
            self.first = argument.hash;
        }
        self.newest = Some(Newest { id: argument.id, hash: argument.hash, at: argument.at });
        Ok(argument.content.as_str().len())
    }

    /// The settings of the debate. Its other columns are checked at the end.
    fn settings(&self, db: &Db<'_>) -> Result<(ResolutionPolicy, Option<PointRules>), Failure> {
        let sql = "select resolution_policy, points_form, points_rounds, points_blocking
             from debates where key = ?1";
        db.one(sql, values![self.key], |row| Ok((rows::word(row, 0)?, points::rules(row, 1)?)))
    }

    /// The debate with its MOTION alone.
    fn opened(&self, db: &Db<'_>) -> Result<Debate, Failure> {
        let (policy, rules) = match self.settings {
            Some(settings) => settings,
            None => self.settings(db)?,
        };
        let ledger = match rules {
            Some(rules) => Some(Ledger::opened(rules, &self.cites(db, Seq::FIRST)?)),
            None => None,
        };
        Ok(Debate { policy, standing: Standing::opened(), ledger })
    }

    /// Works out again what an argument says about points, and compares it with the record.
    fn entry(
        &mut self,
        db: &Db<'_>,
        debate: &Debate,
        argument: &Argument,
    ) -> Result<(Entry, Said), Failure> {
        let event = argument.event;
        let mut entry = Entry::of(event, None);
        if debate.ledger.is_none() {
            return Ok((entry, Said::default()));
        }
        let cites = self.cites(db, argument.seq)?;
        let (role, kind, content) = (event.role(), event.kind(), argument.content.as_str());
        let names_missing_version =
            kind == Kind::Resolution && aw_core::names_missing_version(content, &cites);
        let mut said = Said { cites, names_missing_version, ..Said::default() };
        let is_judged = matches!(kind, Kind::Claim | Kind::Ruling) && !event.parked();
        if is_judged && !event.automatic() {
            let text = Text { role, kind, content, cites: &said.cites };
            said = quotes::said(db, &self.forms, self.key, debate, text)?;
            entry.changes = match debate.judge(role, &said) {
                Ok(changes) => changes,
                Err(_) => return bad("its statements break the rules of points"),
            };
        }
        if kind == Kind::Resolution && !event.parked() {
            entry.held = match debate.holds(&said) {
                Ok(held) => held,
                Err(_) => return bad("it completes a debate that points block"),
            };
        }
        let expected: Vec<Stated> =
            entry.changes.iter().map(|change| Stated::of(argument.seq, change)).collect();
        if points::judged(db, self.key, argument.seq)? != expected {
            return bad("its statements do not follow from its text");
        }
        let quotes: usize = expected.iter().map(|stated| stated.quotes.len()).sum();
        self.statements.0 += expected.len() as u64;
        self.statements.1 += quotes as u64;
        Ok((entry, said))
    }

    /// The versions that an argument cites, in the order of its text.
    fn cites(&self, db: &Db<'_>, seq: Seq) -> Result<Vec<(DocumentId, u64)>, Failure> {
        let sql = "select documents.id, citations.version, content
             from citations
             join documents on documents.key = document_key
             join arguments on arguments.debate_key = citations.debate_key and arguments.seq = citations.seq
             where citations.debate_key = ?1 and citations.seq = ?2";
        let mut text = String::new();
        let mut cited = db.all(sql, values![self.key, seq.0], |row| {
            text = row.get(2)?;
            Ok((DocumentId::from(row.get::<Uuid>(0)?), row.get::<u64>(1)?))
        })?;
        let mentioned = aw_core::mentions(&text);
        cited.sort_by_key(|(document, _)| {
            mentioned.iter().position(|mention| mention.document == *document)
        });
        Ok(cited)
    }

    /// The position of an argument in this debate.
    fn place_of(&self, db: &Db<'_>, argument: ArgumentId) -> Result<Option<Seq>, Failure> {
        let sql = "select seq from arguments where id = ?1 and debate_key = ?2";
        db.optional(sql, values![argument.uuid(), self.key], |row| row.get(0).map(Seq))
    }

    /// Verifies the citations of the arguments in this range against their checksums.
    fn check_citations(&mut self, db: &Db<'_>, from: i64, until: i64) -> Result<(), Failure> {
        let range = values![self.key, from, until];
        let sql = "select number, hash from seals
             where thing = 'citations' and key = ?1 and number > ?2 and number <= ?3";
        let kept = db.all(sql, range, |row| Ok((row.get(0)?, Hash(row.get(1)?))))?;
        let kept: BTreeMap<i64, Hash> = kept.into_iter().collect();
        let mut cited: BTreeMap<i64, Vec<Cited>> = BTreeMap::new();
        let sql = "select seq, citations.document_key, citations.version, documents.id, v.version
             from citations
             left join documents on documents.key = citations.document_key
             left join document_versions as v
               on v.document_key = citations.document_key and v.version = citations.version
             where debate_key = ?1 and seq > ?2 and seq <= ?3
             order by seq, documents.id";
        db.each(sql, range, |row| {
            let there = row.get::<Option<Uuid>>(3)?.zip(row.get::<Option<u64>>(4)?);
            cited.entry(row.get(0)?).or_default().push(Cited {
                key: row.get(1)?,
                version: row.get(2)?,
                there: there.map(|(id, version)| (id.into(), version)),
            });
            Ok(ControlFlow::Continue(()))
        })?;
        let both: BTreeSet<i64> = cited.keys().chain(kept.keys()).copied().collect();
        for seq in both {
            let cited = cited.remove(&seq).unwrap_or_default();
            let checksum = kept.get(&seq).copied();
            let seq = Seq(seq.cast_unsigned());
            self.check_cited(db, seq, &cited, checksum)
                .map_err(|failure| failure.placed(|damage| damage.at_seq(seq)))?;
        }
        Ok(())
    }

    fn check_cited(
        &mut self,
        db: &Db<'_>,
        seq: Seq,
        cited: &[Cited],
        checksum: Option<Hash>,
    ) -> Result<(), Failure> {
        let Some(documents) = cited.iter().map(|cited| cited.there).collect::<Option<Vec<_>>>()
        else {
            return bad("it cites a document that does not exist");
        };
        let hash = find::hash_at(db, self.key, seq)?;
        let expected = (!cited.is_empty()).then(|| chain::citations(hash, &documents));
        if expected != checksum {
            return bad("its citations do not match their checksum");
        }
        self.cited.extend(cited.iter().map(|cited| (cited.key, (cited.version, seq))));
        Ok(())
    }

    /// Verifies the debate's own row, its checksums and its search text.
    fn check_head(&self, db: &Db<'_>) -> Result<Verified, Failure> {
        let missing = |seq| Err(Damage::new("it is missing").at_seq(seq).into());
        let Some((debate, newest)) = self.debate.as_ref().zip(self.newest) else {
            return missing(Seq::FIRST);
        };
        let sql = format!("select {HEAD} from debates where key = ?1");
        let DebateRow { mut head, deleted_at, .. } =
            db.one(&sql, values![self.key], rows::debate_row)?;
        let (kept, standing) = (head.debate.standing, debate.standing);
        if kept.last > standing.last {
            return missing(standing.last.next());
        }
        if kept.last < standing.last {
            let beyond = Damage::new("it comes after the end of its debate");
            return Err(beyond.at_seq(kept.last.next()).into());
        }
        if kept != standing {
            return bad("its state does not follow from its arguments");
        }
        if let Some(ledger) = &mut head.debate.ledger {
            points::complete(db, self.key, ledger)?;
        }
        self.check_points(db, head.debate.ledger.as_ref(), debate.ledger.as_ref())?;
        let checksum = checksums::opening(db, self.key)?.checksum();
        if Checksum::Opening(self.key).kept(db)? != Some(checksum) {
            return bad("its title, type, policy, date or rules do not match their checksum");
        }
        if Checksum::Names(self.key).kept(db)? != checksums::names(db, self.key, checksum)? {
            return bad("its slug or its origin does not match their checksum");
        }
        if head.updated_at != newest.at
            && Checksum::Imported(self.key).kept(db)?
                != Some(checksums::imported_at(checksum, head.updated_at))
        {
            return bad("its update time is not that of its newest argument");
        }
        let deleted = deleted_at.map(|at| checksums::deleted_at(checksum, at));
        if Checksum::DebateDeleted(self.key).kept(db)? != deleted {
            return bad("its deletion does not match its checksum");
        }
        if !search::has_debate(db, self.key, head.title.as_str())? {
            return bad("a search does not find all of it");
        }
        let sql = "select id from former_ids where debate_key = ?1";
        let former: Option<String> = db.optional(sql, values![self.key], |row| row.get(0))?;
        if former.is_some_and(|former| DebateId::of_former_id(&former) != self.id) {
            return bad("its id in the older system does not lead to its id");
        }
        let strays = "select exists (select 1 from arguments where debate_key = ?1 and seq < 1)
             or exists (select 1 from citations where debate_key = ?1 and seq < 1)
             or exists (select 1 from citations where debate_key = ?1 and seq > ?2)
             or exists (select 1 from seals where thing = 'citations' and key = ?1 and number > ?2)";
        if db.one(strays, values![self.key, standing.last.0], |row| row.get(0))? {
            return bad("it has rows before its MOTION or after its newest argument");
        }
        self.check_documents(db)?;
        let arguments = standing.last.0;
        let (first, head) = (self.first, newest.hash);
        Ok(Verified { debate: self.id, arguments, first, head, checksum, tombstone: None })
    }

    /// Verifies that the points follow from the arguments.
    fn check_points(
        &self,
        db: &Db<'_>,
        kept: Option<&Ledger>,
        expected: Option<&Ledger>,
    ) -> Result<(), Failure> {
        if kept != expected {
            return bad("its points do not follow from its arguments");
        }
        let sql = "select 1 from debates where key = ?1 and (
                 (points_held_seq is null) <> (points_held is null)
                 or (points_form is null and (
                     points_rounds is not null or points_blocking is not null
                     or points_claims is not null or points_rulings is not null
                     or points_agreed is not null or points_revised is not null
                     or points_held_seq is not null
                 ))
             )";
        if db.exists(sql, values![self.key])? {
            return bad("it has settings of points without points");
        }
        let sql = "select
                 (select count(*) from points where debate_key = ?1),
                 (select count(*) from points where debate_key = ?1 and blocks),
                 (select count(*) from point_documents where debate_key = ?1),
                 (select count(*) from point_turns where debate_key = ?1),
                 (select count(*) from point_quotes where debate_key = ?1)";
        let found: [u64; 5] = db.one(sql, values![self.key], |row| {
            Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?])
        })?;
        let (points, blocking, documents) = expected.map_or((0, 0, 0), |ledger| {
            (ledger.points.len(), ledger.blocking().len(), ledger.documents.len())
        });
        let (statements, quotes) = self.statements;
        if found != [points as u64, blocking as u64, documents as u64, statements, quotes] {
            return bad("it has rows of points that do not follow from its arguments");
        }
        Ok(())
    }

    /// Verifies that the list of its documents matches its citations.
    fn check_documents(&self, db: &Db<'_>) -> Result<(), Failure> {
        let sql = "select document_key, version, seq from debate_documents where debate_key = ?1";
        let listed = db.all(sql, values![self.key], |row| {
            Ok((row.get(0)?, (row.get(1)?, Seq(row.get(2)?))))
        })?;
        let listed: BTreeMap<i64, (u64, Seq)> = listed.into_iter().collect();
        if listed == self.cited {
            Ok(())
        } else {
            bad("its list of documents does not match its citations")
        }
    }
}

/// A document that an argument cites.
struct Cited {
    key: i64,
    version: u64,
    /// The document and version, if they exist.
    there: Option<(DocumentId, u64)>,
}

fn bad<T>(what: &str) -> Result<T, Failure> {
    Err(Damage::new(what).into())
}

#[cfg(test)]
mod tests {
    use aw_core::{Argument, Content, Debate, DebateType, ResolutionPolicy, Title, Via};
    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::*;
    use crate::store::debates::{self, KnownVersions, NewArgument, NewDebate};
    use crate::store::{connection, migrate};
    use crate::{Fault, chain};

    /// A file with two debates of three arguments each, without protecting triggers.
    fn unprotected() -> (TempDir, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("debate.db");
        std::fs::File::create(&path).unwrap();
        migrate::bring_up_to_date(&path, &[]).unwrap();
        let db = connection::writer(&path).unwrap();
        for debate in [1, 2] {
            write(&Db::Sqlite(&db), debate);
        }
        for trigger in ["arguments_never_change", "arguments_follow_each_other"] {
            db.execute_batch(&format!("drop trigger {trigger}")).unwrap();
        }
        (folder, db)
    }

    fn new(debate: u128, seq: u64) -> NewArgument {
        let id = Uuid::from_u128(debate * 100 + u128::from(seq));
        NewArgument {
            id: id.into(),
            request: id.into(),
            content: Content::recorded("Index.".to_owned()),
            author: None,
            via: Via::Api,
            seat: None,
            at: Time(10 * i64::try_from(seq).unwrap()),
        }
    }

    fn open(db: &Db<'_>, debate: u128) -> Argument {
        let policy = ResolutionPolicy::Auto;
        let opened = NewDebate {
            id: Uuid::from_u128(debate).into(),
            title: Title::recorded("T".to_owned()),
            debate_type: DebateType::recorded("general_debate".to_owned()),
            texts: None,
            debate: Debate { policy, standing: Standing::opened(), ledger: None },
            origin: None,
            motion: new(debate, 1),
        };
        debates::open(db, &opened, u64::MAX).unwrap().argument
    }

    fn write(db: &Db<'_>, debate: u128) {
        let mut newest = open(db, debate);
        let key = i64::try_from(debate).unwrap();
        let mut standing = Standing::opened();
        for event in
            [Event::OpponentClaim { parked: false }, Event::ProposerClaim { parked: false }]
        {
            standing.apply(event);
            let next = new(debate, standing.last.0);
            let at = next.at;
            let next = next.placed(newest.debate, standing.last, event, Some(newest.id), at);
            let now = KnownVersions::Now;
            newest = debates::append(db, key, next, None, &standing, newest.hash, now).unwrap();
        }
        let sql =
            "update debates set state = 'AWAITING_OPPONENT', last_seq = 3, proposer_count = 2,
             opponent_count = 1, proposer_newest = 3, opponent_newest = 2, updated_at = 30
             where key = ?1";
        db.run(sql, values![key]).unwrap();
    }

    /// Verifies the debate with this key.
    fn verified(db: &Db<'_>, key: i64) -> Result<Verified, Damage> {
        let mut walk = DebateWalk::at(db, key).unwrap();
        match walk.go_on(db, &mut Budget::of_a_step()) {
            Ok(verified) => Ok(verified.unwrap()),
            Err(Failure::Fault(Fault::Damaged(damage))) => Err(damage),
            Err(other) => panic!("{other}"),
        }
    }

    /// Changes the last argument and computes its hash again.
    fn forge(db: &Db<'_>, change: impl FnOnce(&mut Argument)) {
        let debate = Uuid::from_u128(1).into();
        let known = find::live(db, debate).unwrap();
        let mut argument = find::argument_at(db, &known, Seq(3)).unwrap();
        change(&mut argument);
        let previous = find::hash_at(db, known.key, Seq(2)).unwrap();
        let hash = chain::link(previous, &argument);
        let parent = argument.parent.map(ArgumentId::uuid);
        let sql = "update arguments set parent_id = ?1, created_at = ?2, hash = ?3
             where debate_key = 1 and seq = 3";
        db.run(sql, values![parent, argument.at.0, hash.0]).unwrap();
        let sql = "update debates set updated_at = ?1 where key = 1";
        db.run(sql, values![argument.at.0]).unwrap();
    }

    /// A forger can compute hashes, so the rules are verified as well.
    #[test]
    fn a_forgery_with_right_hashes_is_found_by_the_rules() {
        let (_folder, file) = unprotected();
        let db = Db::Sqlite(&file);
        assert_eq!(verified(&db, 1).unwrap().arguments, 3);
        forge(&db, |argument| argument.at = Time(31));
        assert_eq!(verified(&db, 1).unwrap().arguments, 3, "a forgery is not found by its hash");
        for (forgery, what) in [
            (
                (|argument| argument.at = Time(19)) as fn(&mut Argument),
                "it is older than its predecessor",
            ),
            (
                |argument| argument.parent = Some(Uuid::from_u128(202).into()),
                "it does not answer an earlier argument of its debate",
            ),
            (
                |argument| argument.parent = Some(argument.id),
                "it does not answer an earlier argument of its debate",
            ),
        ] {
            forge(&db, |argument| {
                argument.at = Time(30);
                argument.parent = Some(Uuid::from_u128(102).into());
                forgery(argument);
            });
            let damage = verified(&db, 1).unwrap_err();
            assert_eq!((damage.seq, damage.what.as_str()), (Some(Seq(3)), what));
        }
    }

    #[test]
    fn a_debate_that_does_not_begin_with_a_motion_is_damaged() {
        let (_folder, file) = unprotected();
        let db = Db::Sqlite(&file);
        let mut first = open(&db, 3);
        assert_eq!(verified(&db, 3).unwrap().arguments, 1);
        first.event = Event::ProposerClaim { parked: false };
        file.execute_batch("pragma ignore_check_constraints = on").unwrap();
        let sql = "update arguments set type = 'CLAIM', hash = ?1 where debate_key = 3";
        db.run(sql, values![chain::link(Hash::NONE, &first).0]).unwrap();
        let damage = verified(&db, 3).unwrap_err();
        assert_eq!((damage.seq, damage.what.as_str()), (Some(Seq(1)), "it is not a MOTION"));
    }
}
