//! A session that writes, and its group commit.
//!
//! It does what [`crate::store::writer`] does for SQLite, and besides: it locks the debates and
//! documents of a batch before it looks at them, tells other servers in the same transaction, does the
//! batch again when another transaction was in the way, and finds out what became of a commit that it
//! lost sight of. That is why a request can be done more than once: the record knows it by its id.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use uuid::Uuid;

use super::session::{Interruption, PostgresSession};
use super::{Connector, Notice, PeerListener};
use crate::store::db::{Db, values};
use crate::store::writer::{Job, LockKey};
use crate::{Failure, Fault};

/// How many times a batch is begun before it is given up.
const TRIES: u32 = 8;

/// The first number of the locks by which writing sessions share out their slots, from 1 on.
const SLOTS: i32 = super::LOCKS;

/// The most bytes that one notification carries; PostgreSQL takes 7,999.
const NOTIFICATION: usize = 7_000;

#[derive(Debug)]
pub(in crate::store) struct PostgresWriter {
    connector: Arc<Connector>,
    session: Option<PostgresSession>,
    /// Something may have been committed that nobody was told of.
    owes_a_look: bool,
}

/// Why a batch was not committed.
enum BatchError {
    /// It may be begun anew.
    Again,
    /// The connection is gone.
    Lost {
        /// After the commit was sent.
        committing: bool,
    },
    /// Trying again is of no use.
    Failed(Fault),
}

impl PostgresWriter {
    pub(super) fn new(connector: Arc<Connector>) -> Self {
        PostgresWriter { connector, session: None, owes_a_look: false }
    }

    /// Does the whole batch in one transaction. After an error nothing of it was acknowledged; and
    /// nothing of it is in the record, unless a commit was lost sight of for longer than we wait. Then
    /// whoever sends it again is answered from the record.
    pub(in crate::store) fn commit(
        &mut self,
        batch: &mut [Box<dyn Job>],
        peers: &OnceLock<Arc<dyn PeerListener>>,
    ) -> Result<(), Fault> {
        let mut unsure = false;
        for attempt in 1..=TRIES {
            let session = match self.session.take().filter(PostgresSession::is_open) {
                Some(session) => session,
                None => match self.begin_session() {
                    Ok(session) => session,
                    Err(fault) => {
                        self.owes_a_look |= unsure;
                        return Err(fault);
                    }
                },
            };
            if std::mem::take(&mut self.owes_a_look)
                && let Some(peers) = peers.get()
            {
                peers.hear(Notice::Anything);
            }
            session.set_unsure(unsure);
            match run_all(&session, batch, self.connector.server, attempt == TRIES) {
                Ok(()) => {
                    self.session = Some(session);
                    return Ok(());
                }
                Err(BatchError::Lost { committing }) => unsure |= committing,
                Err(BatchError::Again) => {
                    self.session = rolled_back(session);
                    // Not in step with whoever was in the way.
                    let pause =
                        u64::from(attempt) * (1 + u64::from(Uuid::now_v7().as_bytes()[15] % 8));
                    thread::sleep(Duration::from_millis(pause));
                }
                Err(BatchError::Failed(fault)) => {
                    self.session = rolled_back(session);
                    self.owes_a_look |= unsure;
                    return Err(fault);
                }
            }
        }
        self.owes_a_look |= unsure;
        Err(Fault::Busy("others write at the same time"))
    }

    /// A session with a slot of its own to count in. Nobody moves the record while it is open.
    fn begin_session(&self) -> Result<PostgresSession, Fault> {
        let session = self.connector.connect_soon().map_err(fault_of)?;
        if !session.join().map_err(fault_of)? {
            return Err(Fault::Busy("the record is being moved to another database"));
        }
        for slot in 1i32.. {
            let sql = "select pg_try_advisory_lock(?1, ?2)";
            let taken = session.ask(sql, &[&SLOTS, &slot]).map_err(fault_of)?;
            if taken.first().is_some_and(|row| row.get::<_, bool>(0)) {
                session.set_slot(i64::from(slot));
                break;
            }
        }
        Ok(session)
    }
}

fn run_all(
    session: &PostgresSession,
    batch: &mut [Box<dyn Job>],
    server: Uuid,
    last: bool,
) -> Result<(), BatchError> {
    session.command("begin");
    lock(session, batch).map_err(|failure| stopped(session, failure, false))?;
    let db = Db::Postgres(session);
    for job in batch.iter_mut() {
        session.command("savepoint request");
        let Err(fault) = job.run(&db) else {
            session.command("release savepoint request");
            continue;
        };
        match session.interruption() {
            Some(Interruption::Lost) => return Err(BatchError::Lost { committing: false }),
            Some(Interruption::Again) if !last => return Err(BatchError::Again),
            Some(Interruption::Again) | None => {}
        }
        match fault {
            // The fault is this request's alone: the others of the batch must not pay for it.
            Fault::Refused(_) | Fault::Damaged(_) => {
                if session.settle().is_err() && session.interruption() == Some(Interruption::Lost) {
                    return Err(BatchError::Lost { committing: false });
                }
                session.command("rollback to savepoint request");
                session.command("release savepoint request");
            }
            fault => return Err(BatchError::Failed(fault)),
        }
    }
    for payload in notifications(server, batch.iter().filter_map(|job| job.news())) {
        db.run("select pg_notify('aw', ?1)", values![payload])
            .map_err(|failure| stopped(session, failure, false))?;
    }
    session.settle().map_err(|failure| stopped(session, failure, false))?;
    session.command("commit");
    session.settle().map_err(|failure| stopped(session, failure, true))
}

/// Locks what the batch is about, everywhere in the same order. What is not there yet cannot be
/// locked; of two who make it, the second finds it when it tries again.
fn lock(session: &PostgresSession, batch: &[Box<dyn Job>]) -> Result<(), Failure> {
    let (mut debates, mut documents) = (BTreeSet::new(), BTreeSet::new());
    for job in batch {
        match job.about() {
            LockKey::Debate(id) => drop(debates.insert(*id.uuid().as_bytes())),
            LockKey::Document(id) => drop(documents.insert(*id.uuid().as_bytes())),
            LockKey::Nothing => {}
        }
    }
    for (ids, sql) in [
        (debates, "select 1 from debates where id = any(?1) order by id for no key update"),
        (documents, "select 1 from documents where id = any(?1) order by id for no key update"),
    ] {
        if !ids.is_empty() {
            let ids: Vec<&[u8]> = ids.iter().map(<[u8; 16]>::as_slice).collect();
            session.ask(sql, &[&ids])?;
        }
    }
    Ok(())
}

fn stopped(session: &PostgresSession, failure: Failure, committing: bool) -> BatchError {
    match (session.interruption(), failure) {
        (Some(Interruption::Lost), _) => BatchError::Lost { committing },
        (Some(Interruption::Again), _) => BatchError::Again,
        (None, failure) => BatchError::Failed(fault_of(failure)),
    }
}

fn rolled_back(session: PostgresSession) -> Option<PostgresSession> {
    // What was on its way fails with what went wrong; that was told already.
    let _ = session.settle();
    session.command("rollback");
    let settled = session.settle();
    let interruption = session.interruption();
    (settled.is_ok() && interruption.is_none()).then_some(session)
}

fn fault_of(failure: Failure) -> Fault {
    match failure {
        Failure::Fault(fault) => fault,
        other => Fault::Storage(other.to_string()),
    }
}

/// What other servers are told: from whom, and then for each debate what happened to it. A long batch
/// takes several.
fn notifications(server: Uuid, news: impl Iterator<Item = Notice>) -> Vec<String> {
    let begin = || server.simple().to_string();
    let mut payloads: Vec<String> = Vec::new();
    for news in news {
        let word = spelled(news);
        match payloads.last_mut().filter(|last| last.len() + word.len() < NOTIFICATION) {
            Some(last) => *last += &word,
            None => payloads.push(begin() + &word),
        }
    }
    payloads
}

fn spelled(news: Notice) -> String {
    match news {
        Notice::Opened(debate) => format!(" o{}", debate.uuid().simple()),
        Notice::Written(debate) => format!(" w{}", debate.uuid().simple()),
        Notice::Deleted(debate) => format!(" d{}", debate.uuid().simple()),
        Notice::Seats => " s".to_owned(),
        Notice::Anything => " a".to_owned(),
    }
}

/// Who tells something, and what. What a newer server says that is not known here may be anything.
pub(super) fn understood(payload: &str) -> (Option<Uuid>, Vec<Notice>) {
    let mut words = payload.split_ascii_whitespace();
    let server = words.next().and_then(|word| word.parse().ok());
    let news = words.map(|word| {
        let (kind, id) = word.split_at_checked(1).unwrap_or_default();
        match (kind, id.parse::<Uuid>()) {
            ("o", Ok(id)) => Notice::Opened(id.into()),
            ("w", Ok(id)) => Notice::Written(id.into()),
            ("d", Ok(id)) => Notice::Deleted(id.into()),
            ("s", _) => Notice::Seats,
            _ => Notice::Anything,
        }
    });
    (server, news.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_server_spells_the_others_understand() {
        let server = Uuid::from_u128(9);
        let debate = |number| Uuid::from_u128(number).into();
        let all: Vec<Notice> = (0..500)
            .map(|number| match number % 5 {
                0 => Notice::Opened(debate(number)),
                1 => Notice::Written(debate(number)),
                2 => Notice::Deleted(debate(number)),
                3 => Notice::Seats,
                _ => Notice::Anything,
            })
            .collect();
        let payloads = notifications(server, all.iter().copied());
        assert!(payloads.len() > 1 && payloads.iter().all(|payload| payload.len() < 8_000));
        let heard: Vec<Notice> = payloads
            .iter()
            .flat_map(|payload| {
                let (from, news) = understood(payload);
                assert_eq!(from, Some(server));
                news
            })
            .collect();
        assert_eq!(heard, all);
        assert!(notifications(server, std::iter::empty()).is_empty());
        assert_eq!(understood("x yz").1, [Notice::Anything]);
    }
}
