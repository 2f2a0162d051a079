//! Proves that no request scans: each costs the same in a full file as in an almost empty one.
//!
//! The cost is the number of steps of SQLite's virtual machine, so it is the same on every machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aw_core::{
    ArgumentId, Content, Debate, DebateId, DebateType, DocumentId, Move, RequestId, Role, Seq,
    Standing, State, Summary, Time, Title, Verdict, Via,
};
use rusqlite::Connection;
use tempfile::TempDir;
use uuid::Uuid;

use super::db::{Db, values};
use super::debates::{self, DebateRules, NewArgument, NewDebate, NewMove};
use super::quotes::NormalForms;
use super::{connection, documents, list, migrate, read, search};
use crate::{DocumentFilter, Failure, Filter, NewDocument, NewVersion, Search};

/// How many debates, the oldest, have a rare type.
const RARE: u64 = 12;

/// A file with debates and documents, and a counter of SQLite's steps.
struct MeasuredFile {
    db: Connection,
    steps: Arc<AtomicU64>,
    debate: DebateId,
    newest: ArgumentId,
    /// How many arguments the long debate has: an even number.
    long: u64,
    document: DocumentId,
    _folder: TempDir,
}

impl MeasuredFile {
    /// Creates debates, documents, as many versions of one document, and one debate of `long` arguments.
    fn with(debates: u64, documents: u64, long: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("debate.db");
        std::fs::File::create(&path).unwrap();
        migrate::bring_up_to_date(&path, &[]).unwrap();
        let mut db = connection::writer(&path).unwrap();
        db.execute_batch("begin").unwrap();
        let file = &Db::Sqlite(&db);
        for number in 0..documents {
            create_document(file, number).unwrap();
        }
        let document = id(3, 0).into();
        for number in 1..documents {
            let version = new_version(number);
            documents::add_version(file, document, id(5, number).into(), &version, Time(0))
                .unwrap();
        }
        for number in 0..debates {
            open(file, number);
            if number % 3 > 0 {
                play(file, number, Role::Opponent, 2);
            }
            if number % 3 > 1 {
                play(file, number, Role::Proposer, 3);
            }
        }
        let debate = open(file, u64::MAX);
        let mut newest = id(1, u64::MAX).into();
        for seq in 2..=long {
            let role = if seq % 2 == 0 { Role::Opponent } else { Role::Proposer };
            newest = play(file, u64::MAX, role, seq);
        }
        db.execute_batch("commit").unwrap();
        let steps = Arc::new(AtomicU64::new(0));
        let counter = steps.clone();
        db.progress_handler(
            1,
            Some(move || {
                counter.fetch_add(1, Ordering::Relaxed);
                false
            }),
        )
        .unwrap();
        MeasuredFile { db, steps, debate, newest, long, document, _folder: folder }
    }

    fn cost<T>(&self, request: impl Fn(&Db<'_>, &Self) -> Result<T, Failure>) -> u64 {
        // The first call compiles the statements, which is not measured.
        request(&Db::Sqlite(&self.db), self).unwrap();
        self.steps.store(0, Ordering::Relaxed);
        request(&Db::Sqlite(&self.db), self).unwrap();
        self.steps.load(Ordering::Relaxed)
    }
}

#[test]
fn no_request_scans() {
    let (small, large) = (MeasuredFile::with(60, 10, 60), MeasuredFile::with(3_000, 300, 3_000));
    let same_cost =
        |name: &str, request: &dyn Fn(&Db<'_>, &MeasuredFile) -> Result<(), Failure>| {
            let (few, many) = (small.cost(request), large.cost(request));
            assert!(few > 0, "{name} does nothing");
            assert!(
                many * 10 <= few * 13,
                "{name}: {few} steps in a small file, {many} in a large one"
            );
        };

    same_cost("a poll without news", &|db, file| {
        read::look(db, file.debate, Role::Opponent, Some(file.newest), |_, unseen| unseen)?;
        Ok(())
    });
    same_cost("a poll with everything unseen", &|db, file| {
        read::look(db, file.debate, Role::Arbitrator, None, |_, unseen| unseen)?;
        Ok(())
    });
    same_cost("a wait from the beginning", &|db, file| {
        let motion = Some(id(1, u64::MAX).into());
        read::look(db, file.debate, Role::Proposer, motion, |_, unseen| unseen)?;
        Ok(())
    });
    same_cost("the last ten arguments", &|db, file| {
        read::context(db, file.debate, Some(10))?;
        Ok(())
    });
    same_cost("what a socket reads", &|db, file| {
        read::stretch(db, file.debate, Seq(20), 20)?;
        Ok(())
    });
    same_cost("a refused move", &|db, file| {
        let claim = Move::Claim { target: file.newest };
        let refused = move_in(db, u64::MAX, claim, Role::Arbitrator, u64::MAX - 1);
        assert!(matches!(refused, Err(Failure::Refused { .. })), "{refused:?}");
        Ok(())
    });
    same_cost("a move", &|db, _| {
        db.run("savepoint one", values![])?;
        play(db, 0, Role::Opponent, 2);
        db.run("rollback to one", values![])?;
        db.run("release one", values![])
    });
    same_cost("a move in a long debate", &|db, file| {
        db.run("savepoint one", values![])?;
        play(db, u64::MAX, Role::Proposer, file.long + 1);
        db.run("rollback to one", values![])?;
        db.run("release one", values![])
    });

    let types = [None, Some("general_debate"), Some("rare_debate")];
    for debate_type in types {
        for state in [None, Some(State::AwaitingProposer), Some(State::Closed)] {
            for (pending_first_opponent, needs_arbitrator) in
                [(false, false), (true, false), (false, true)]
            {
                for before in [None, Some((Time(1_000_000), Some(id(0, 0).into())))] {
                    let filter = Filter {
                        state,
                        debate_type: debate_type.map(|name| DebateType::recorded(name.to_owned())),
                        pending_first_opponent,
                        needs_arbitrator,
                        limit: 5,
                        before,
                        longest_first: needs_arbitrator,
                        ..Filter::default()
                    };
                    if pending_first_opponent {
                        // This filter counts its total row by row, up to a limit.
                        continue;
                    }
                    if list::debates(&Db::Sqlite(&small.db), &filter).unwrap().debates.is_empty() {
                        continue;
                    }
                    same_cost(&format!("a list page: {filter:?}"), &|db, _| {
                        list::debates(db, &filter)?;
                        Ok(())
                    });
                }
            }
        }
    }
    for digits in [13, 36] {
        same_cost(&format!("a search for {digits} characters of an id"), &|db, file| {
            for id in [file.debate.uuid(), file.newest.uuid(), file.document.uuid()] {
                let text = id.to_string()[..digits].to_owned();
                let (found, _) = search::page(db, &Search { text, limit: 5, ..Search::default() })?;
                assert!(!found.is_empty(), "{id}");
            }
            Ok(())
        });
    }
    same_cost("a list for a seat of one debate", &|db, file| {
        let filter = Filter { only: Some(file.debate), limit: 5, ..Filter::default() };
        list::debates(db, &filter)?;
        Ok(())
    });
    same_cost("a page of documents", &|db, _| {
        list::documents(db, &DocumentFilter { limit: 5, ..Default::default() })?;
        Ok(())
    });
    same_cost("a document", &|db, file| {
        documents::get(db, file.document, None, false)?;
        Ok(())
    });
    same_cost("a page of versions", &|db, file| {
        documents::versions(db, file.document, false, 5, 0)?;
        Ok(())
    });
}

fn id(kind: u16, number: u64) -> Uuid {
    Uuid::from_u64_pair(u64::from(kind), number)
}

fn open(db: &Db<'_>, number: u64) -> DebateId {
    let debate: DebateId = id(0, number).into();
    let debate_type = if number < RARE { "rare_debate" } else { "general_debate" };
    let new = NewDebate {
        id: debate,
        title: Title::recorded(format!("Debate number {number}")),
        debate_type: DebateType::recorded(debate_type.to_owned()),
        texts: None,
        debate: Debate {
            policy: aw_core::ResolutionPolicy::Auto,
            standing: Standing::opened(),
            ledger: None,
        },
        origin: None,
        motion: new_argument(number, 1),
    };
    debates::open(db, &new, u64::MAX).unwrap();
    debate
}

/// A claim that answers the argument before it.
fn play(db: &Db<'_>, number: u64, role: Role, seq: u64) -> ArgumentId {
    let target = new_argument(number, seq - 1).id;
    move_in(db, number, Move::Claim { target }, role, seq).unwrap()
}

fn move_in(
    db: &Db<'_>,
    number: u64,
    play: Move<ArgumentId>,
    role: Role,
    seq: u64,
) -> Result<ArgumentId, Failure> {
    let new = NewMove {
        debate: id(0, number).into(),
        role,
        play,
        argument: new_argument(number, seq),
        rules: DebateRules {
            is_open: |_, _, _| true,
            judge: Debate::decide,
            automatic_ruling: |_, _| unreachable!("no decision adds one"),
        },
    };
    debates::play(db, &NormalForms::default(), &new, None).map(|written| written.argument.id)
}

fn new_argument(number: u64, seq: u64) -> NewArgument {
    let own = if seq == 1 {
        id(1, number)
    } else {
        id(1 + u16::try_from(seq % 30_000).unwrap() * 2, number)
    };
    NewArgument {
        id: own.into(),
        request: own.into(),
        content: Content::recorded(format!("Argument {seq} of {number}")),
        author: None,
        via: Via::Api,
        seat: None,
        at: Time(i64::try_from(number % 1_000).unwrap()),
    }
}

fn create_document(db: &Db<'_>, number: u64) -> Result<(), Failure> {
    let request: RequestId = id(2, number).into();
    let new = NewDocument { request, seat: None, version: new_version(number) };
    let at = Time(i64::try_from(number).unwrap());
    documents::create(db, id(3, number).into(), &new, at, u64::MAX)?;
    Ok(())
}

fn new_version(number: u64) -> NewVersion {
    NewVersion {
        title: None,
        summary: Summary::recorded(format!("Plan {number}")),
        content: Content::recorded("Text".to_owned()),
        author: None,
        metadata: "{}".to_owned(),
    }
}

#[test]
fn a_search_longer_than_any_title_reads_nothing() {
    let file = MeasuredFile::with(30, 3, 2);
    for letters in [201, 62_000] {
        let steps = file.cost(|db: &Db<'_>, _: &MeasuredFile| {
            let search = Some("a".repeat(letters));
            list::debates(db, &Filter { search, limit: 5, ..Filter::default() }).map(drop)
        });
        assert_eq!(steps, 0, "{letters} letters");
    }
    let steps = file.cost(|db: &Db<'_>, _: &MeasuredFile| {
        let search = Some("a".repeat(501));
        list::documents(db, &DocumentFilter { search, limit: 5, ..Default::default() }).map(drop)
    });
    assert_eq!(steps, 0);
}

#[test]
fn needs_arbitrator_lists_only_debates_that_await_a_ruling() {
    let file = MeasuredFile::with(3, 1, 2);
    let db = &Db::Sqlite(&file.db);
    let appeal = Move::Appeal { target: file.newest };
    move_in(db, u64::MAX, appeal, Role::Proposer, 3).unwrap();
    let owed = Filter { needs_arbitrator: true, limit: 5, ..Filter::default() };
    assert_eq!(list::debates(db, &owed).unwrap().total, 1);
    let ruling = Move::Ruling { target: None, verdict: Verdict::Close };
    move_in(db, u64::MAX, ruling, Role::Arbitrator, 4).unwrap();
    assert_eq!(list::debates(db, &owed).unwrap().total, 0);
}

#[test]
fn no_check_builds_a_table_of_its_words() {
    let file = MeasuredFile::with(1, 1, 2);
    for sql in [
        "insert into arguments (type, role) values ('x', 'y')",
        "update debates set state = 'x' where key = 1",
        "insert into seals (thing) values ('x')",
        "insert into point_turns (subject) values ('x')",
    ] {
        let mut explained = file.db.prepare(&format!("explain {sql}")).unwrap();
        let steps = explained.query_map([], |row| row.get::<_, String>(1)).unwrap();
        let steps: Vec<String> = steps.map(Result::unwrap).collect();
        assert!(
            !steps.is_empty() && !steps.contains(&"OpenEphemeral".to_owned()),
            "{sql}: {steps:?}"
        );
    }
}
