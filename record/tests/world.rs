//! A record for tests, used through its engine.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use aw_core::{
    ArgumentId, Author, Content, DebateId, DebateType, DocumentId, Move, RequestId,
    ResolutionPolicy, Role, Summary, Time, Title, Verdict, Via,
};
use aw_record::{
    Ask, Clock, Engine, Failure, KeptVersion, NewDocument, NewVersion, News, Place, Poll, Receipt,
    Request, Store, StoreOptions,
};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use uuid::Uuid;

use crate::postgres;

/// The longest that a test waits.
pub(crate) const CEILING: Duration = Duration::from_secs(10);

/// The time at the beginning of a test.
pub(crate) const BEGINNING: i64 = 1_772_000_000_000;

/// The RULING that lets a debate go on.
pub(crate) const GO_ON: Move<ArgumentId> = Move::Ruling { target: None, verdict: Verdict::GoOn };

/// The RULING that closes it.
pub(crate) const CLOSE: Move<ArgumentId> = Move::Ruling { target: None, verdict: Verdict::Close };

/// An engine on a new record: in a SQLite file, or in the PostgreSQL that `scripts/postgres` starts. The
/// test moves its clock.
pub(crate) struct World {
    pub(crate) engine: Engine,
    /// The path of the SQLite file, if there is one.
    pub(crate) path: PathBuf,
    now: Arc<AtomicI64>,
    _folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        World::with(|_| {})
    }

    /// With other options.
    pub(crate) fn with(change: impl FnOnce(&mut StoreOptions)) -> Self {
        match postgres::new_database() {
            Some(url) => World::at_place(Place::Postgres(url), change),
            None => World::in_file_with(change),
        }
    }

    /// In a SQLite file, for tests of the file.
    pub(crate) fn in_file() -> Self {
        World::in_file_with(|_| {})
    }

    pub(crate) fn in_file_with(change: impl FnOnce(&mut StoreOptions)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data/debate.db");
        let world = World::at_place(Place::File(path.clone()), change);
        World { path, _folder: folder, ..world }
    }

    pub(crate) fn at_place(place: Place, change: impl FnOnce(&mut StoreOptions)) -> Self {
        let mut options = StoreOptions::at(place);
        change(&mut options);
        let now = Arc::new(AtomicI64::new(BEGINNING));
        let clock = {
            let now = now.clone();
            Clock::new(move || Time(now.load(Ordering::Relaxed)))
        };
        let engine = Engine::new(Store::open(&options).unwrap(), clock);
        let _folder = tempfile::tempdir().unwrap();
        World { engine, path: PathBuf::new(), now, _folder }
    }

    /// Sets the clock to this many milliseconds after the beginning.
    pub(crate) fn at(&self, millis: i64) -> Time {
        self.now.store(BEGINNING + millis, Ordering::Relaxed);
        Time(BEGINNING + millis)
    }

    /// Opens a debate and returns the id of its MOTION.
    pub(crate) async fn opens(&self, title: &str) -> (DebateId, ArgumentId) {
        let debate = Uuid::now_v7().into();
        (debate, self.engine.execute(opening(debate, title)).await.unwrap().argument.id)
    }

    /// Makes a move that the rules allow.
    pub(crate) async fn plays(
        &self,
        debate: DebateId,
        role: Role,
        play: Move<ArgumentId>,
    ) -> Receipt {
        self.engine.execute(moving(debate, role, play)).await.unwrap()
    }

    /// Answers an argument.
    pub(crate) async fn claims(
        &self,
        debate: DebateId,
        role: Role,
        target: ArgumentId,
    ) -> ArgumentId {
        self.plays(debate, role, Move::Claim { target }).await.argument.id
    }

    /// Exchanges this many claims, the opponent's first, and returns the last one.
    pub(crate) async fn exchanges(
        &self,
        debate: DebateId,
        mut target: ArgumentId,
        claims: usize,
    ) -> ArgumentId {
        for role in [Role::Opponent, Role::Proposer].into_iter().cycle().take(claims) {
            target = self.claims(debate, role, target).await;
        }
        target
    }

    /// Polls without waiting.
    pub(crate) async fn polls(
        &self,
        debate: DebateId,
        role: Role,
        after: Option<ArgumentId>,
    ) -> Poll {
        self.engine.wait(debate, role, after, Duration::ZERO).await.unwrap()
    }

    /// Begins to wait in a task, and returns once the wait is held.
    pub(crate) async fn waits(
        &self,
        debate: DebateId,
        role: Role,
        after: ArgumentId,
    ) -> JoinHandle<Result<Poll, Failure>> {
        let waiting = self.begins_to_wait(debate, role, after);
        self.until_listened_to(1).await;
        waiting
    }

    pub(crate) fn begins_to_wait(
        &self,
        debate: DebateId,
        role: Role,
        after: ArgumentId,
    ) -> JoinHandle<Result<Poll, Failure>> {
        let engine = self.engine.clone();
        tokio::spawn(async move { engine.wait(debate, role, Some(after), CEILING).await })
    }

    /// The news for a role now; there must be some.
    pub(crate) async fn news(
        &self,
        debate: DebateId,
        role: Role,
        after: Option<ArgumentId>,
    ) -> News {
        match self.polls(debate, role, after).await {
            Poll::News(news) => Arc::unwrap_or_clone(news),
            Poll::Nothing { .. } => panic!("there is nothing for the {role}"),
        }
    }

    /// Waits until this many debates have a listener.
    pub(crate) async fn until_listened_to(&self, debates: usize) {
        let there = async {
            while self.engine.health().await.debates_listened_to != debates {
                tokio::task::yield_now().await;
            }
        };
        timeout(CEILING, there).await.expect("the number of listeners did not change");
    }

    pub(crate) async fn keeps(&self, summary: &str) -> DocumentId {
        self.kept(summary).await.document
    }

    pub(crate) async fn kept(&self, summary: &str) -> KeptVersion {
        self.engine.create_document(document(summary)).await.unwrap()
    }

    pub(crate) async fn adds(&self, document: DocumentId, summary: &str) -> KeptVersion {
        let request = Uuid::now_v7().into();
        self.engine.add_version(document, request, version(summary)).await.unwrap()
    }
}

/// A request to open a debate.
pub(crate) fn opening(debate: DebateId, title: &str) -> Request {
    Request {
        debate,
        id: Uuid::now_v7().into(),
        author: None,
        via: Via::Cli,
        seat: None,
        ask: Ask::Open {
            points: None,
            origin: None,
            title: Title::recorded(title.to_owned()),
            debate_type: DebateType::recorded("general_debate".to_owned()),
            texts: None,
            policy: ResolutionPolicy::Auto,
            motion: Content::recorded(format!("Motion: {title}")),
        },
    }
}

/// A request to make a move.
pub(crate) fn moving(debate: DebateId, role: Role, play: Move<ArgumentId>) -> Request {
    saying(debate, role, play, &format!("The {role}: {}.", play.kind()))
}

/// A request to make a move with these words.
pub(crate) fn saying(debate: DebateId, role: Role, play: Move<ArgumentId>, words: &str) -> Request {
    Request {
        debate,
        id: Uuid::now_v7().into(),
        author: Some(Author::recorded(format!("{role}'s author"))),
        via: Via::Mcp,
        seat: None,
        ask: Ask::Play { role, play, content: Content::recorded(words.to_owned()) },
    }
}

pub(crate) fn document(summary: &str) -> NewDocument {
    let request: RequestId = Uuid::now_v7().into();
    NewDocument { request, seat: None, version: version(summary) }
}

pub(crate) fn version(summary: &str) -> NewVersion {
    NewVersion {
        title: None,
        summary: Summary::recorded(summary.to_owned()),
        content: Content::recorded(format!("# {summary}\n")),
        author: Some(Author::recorded("An".to_owned())),
        metadata: "{}".to_owned(),
    }
}

/// The failure of a refused request.
pub(crate) fn refused(outcome: Result<Receipt, Failure>) -> Failure {
    outcome.expect_err("the request was accepted")
}
