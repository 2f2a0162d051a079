//! The engine: the only way to the record. It executes, waits and reads.
//!
//! It stamps a request with an id and the time, passes the rules to the store, rings the bell after
//! the commit, holds waits, and tracks presence. It contains no HTTP and no SQL.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use aw_core::{
    AUTOMATIC_RULING, Argument, ArgumentId, ByRole, Content, Debate, DebateId, DebateType,
    DocumentId, Hash, Ledger, Move, PointId, RequestId, Role, Seq, Standing, Time, Via, WorkLabel,
};
use futures_util::future::poll_immediate;
use jiff::Timestamp;
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::bell::{Bell, Listening, Rung};
use crate::feed::{ChangeKind, Feed, Following};
use crate::peers::Peers;
use crate::presence::{PresenceTracker, Sign, Waiting};
use crate::shared_answers::SharedAnswers;
use crate::store::{
    DebateRules, NewArgument, NewDebate, NewMove, Store, VerifyWalk, Vitals, WaitLook, WriteOutcome,
};
use crate::{
    ArgumentName, Ask, CitedMark, CitedPage, CitingDebate, Context, DebateHead, DebateList,
    DebateListed, DebateName, Document, DocumentFilter, DocumentList, DocumentName,
    DocumentVersion, Failure, Fault, Filter, KeptVersion, NameScope, NamedArgument, NamedDebate,
    NamedDocument, NewDocument, NewSeat, NewVersion, News, PageData, Pass, PointRecord, Poll,
    ProjectListed, PurgePreview, Purged, Receipt, Rehearsed, ReportData, Request, Search,
    SearchPage, Seat, Selection, Stretch, Surroundings, TypeTexts, Verified, VerifiedPiece,
    VerifyMark, VersionList,
};

/// How long a successful write counts as proof that writing works.
const FRESH: Duration = Duration::from_secs(5);

/// How long a held wait pauses before it tries an unreachable database again.
const AWAY: Duration = Duration::from_millis(500);

/// How often a move is tried before a busy debate refuses it. The first try may only find out that the
/// text needs an examination.
const TRIES: usize = 4;

/// How long no write must come before the search index catches up, and how long it may lag behind at
/// most while writes keep coming.
const QUIET: Duration = Duration::from_millis(250);
const LAG: Duration = Duration::from_secs(5);

/// The search index takes one part of the time and leaves so many to the writes.
const LEFT_TO_WRITES: u32 = 4;

/// How long one piece of a verification takes. It then still finishes its current debate.
const PIECE: Duration = Duration::from_millis(250);

/// A source of the current time.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Time + Send + Sync>);

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        Clock::new(|| Time(Timestamp::now().as_millisecond()))
    }

    /// A clock for tests.
    pub fn new(now: impl Fn() -> Time + Send + Sync + 'static) -> Self {
        Clock(Arc::new(now))
    }

    fn now(&self) -> Time {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// Whether the record can be written, and its load.
#[derive(Debug, Clone)]
pub struct Health {
    /// Whether a write succeeds, or why not.
    pub writing: Result<(), Fault>,
    /// How many debates have a waiter or a socket.
    pub debates_listened_to: usize,
    /// Metrics of the database.
    pub database: Vitals,
}

/// The question of a wait: the debate, the role, and the last argument it has seen.
type WaitQuestion = (DebateId, Role, Option<ArgumentId>);

/// The record and its waiters; clones share it.
#[derive(Debug, Clone)]
pub struct Engine {
    store: Store,
    bell: Bell,
    feed: Feed,
    presence: PresenceTracker,
    clock: Clock,
    /// Answers shared by waiters that the same ring woke.
    answers: Arc<SharedAnswers<WaitQuestion, Arc<News>>>,
    /// Signals that a token was revoked or a session ended, without saying which.
    departures: watch::Sender<()>,
    /// The time of the last successful write.
    wrote: Arc<Mutex<Option<Instant>>>,
    /// Wakes the task that keeps the search index.
    unindexed: Arc<Notify>,
}

impl Engine {
    /// Creates the engine of a store.
    pub fn new(store: Store, clock: Clock) -> Self {
        let (bell, feed) = (Bell::default(), Feed::default());
        let presence = PresenceTracker::new(feed.clone());
        let departures = watch::Sender::default();
        if store.is_shared() {
            presence.share();
            let (bell, feed, presence) = (bell.clone(), feed.clone(), presence.clone());
            let departures = departures.clone();
            store.listen(Arc::new(Peers { bell, feed, presence, departures }));
        }
        let (answers, wrote, unindexed) = (Arc::default(), Arc::default(), Arc::default());
        Engine { store, bell, feed, presence, clock, answers, departures, wrote, unindexed }
    }

    /// Writes a request into the record, if the rules allow it, and wakes the waiters.
    pub async fn execute(&self, request: Request) -> Result<Receipt, Failure> {
        let Request { debate, id, author, via, seat, ask } = request;
        let (Ask::Open { motion: content, .. } | Ask::Play { content, .. }) = &ask;
        self.bring_documents(content).await?;
        let at = self.clock.now();
        let argument = move |content| NewArgument {
            id: new_id().into(),
            request: id,
            content,
            author,
            via,
            seat,
            at,
        };
        let engine = self.clone();
        self.finish_even_if_cancelled(async move {
            let (role, change, written) = match ask {
                Ask::Open { title, debate_type, texts, policy, points, origin, motion } => {
                    let ledger = points.map(|rules| Ledger::opened(rules, &[]));
                    let opened = Debate { policy, standing: Standing::opened(), ledger };
                    let motion = argument(motion);
                    let id = debate;
                    let debate = opened;
                    let new = NewDebate { id, title, debate_type, texts, debate, origin, motion };
                    (Role::Proposer, ChangeKind::Opened, engine.store.open_debate(new).await?)
                }
                Ask::Play { role, play, content } => {
                    let argument = argument(content);
                    let new = NewMove { debate, role, play, argument, rules: RULES };
                    (role, ChangeKind::Written, engine.play(new).await?)
                }
            };
            engine.presence.wrote(debate, role, engine.clock.now());
            if !written.replayed {
                engine.unindexed.notify_one();
                engine.bell.ring(debate);
                engine.feed.ring(debate, change);
            }
            Ok(receipt(role, written))
        })
        .await
    }

    /// Makes a move. A text whose examination takes long is examined before it is written; if the
    /// debate changes meanwhile, once more.
    async fn play(&self, new: NewMove) -> Result<WriteOutcome, Failure> {
        let mut examined = None;
        for _ in 0..TRIES {
            match self.store.play(new.clone(), examined).await {
                Err(Failure::Unexamined) => examined = self.store.examine(&new).await?,
                written => return written,
            }
        }
        Err(Fault::Busy("the debate changed while the text was examined").into())
    }

    /// Judges a move without making it.
    pub async fn rehearse(
        &self,
        debate: DebateId,
        role: Role,
        play: Move<ArgumentId>,
        content: Content,
    ) -> Result<Rehearsed, Failure> {
        self.bring_documents(&content).await?;
        let (via, at) = (Via::Api, self.clock.now());
        let (id, request) = (new_id().into(), new_id().into());
        let argument = NewArgument { id, request, content, author: None, via, seat: None, at };
        let new = NewMove { debate, role, play, argument, rules: RULES };
        self.store.rehearse(new).await
    }

    /// The debate with all its points and their quotes.
    pub async fn points(
        &self,
        debate: DebateId,
    ) -> Result<(DebateHead, Vec<PointRecord>), Failure> {
        self.store.points(debate, None).await
    }

    /// A point with its history.
    pub async fn point(
        &self,
        debate: DebateId,
        id: PointId,
    ) -> Result<(DebateHead, PointRecord), Failure> {
        let (head, mut points) = self.store.points(debate, Some(id)).await?;
        let point = points.pop().ok_or(Failure::PointNotFound { id })?;
        Ok((head, point))
    }

    /// The debates that a name may mean: a few at most.
    pub async fn named_debates(
        &self,
        name: &DebateName,
        scope: &NameScope,
    ) -> Result<Vec<NamedDebate>, Failure> {
        self.store.named_debates(name, scope).await
    }

    /// The arguments of a debate that a name may mean: a few at most.
    pub async fn named_arguments(
        &self,
        debate: DebateId,
        name: &ArgumentName,
    ) -> Result<Vec<NamedArgument>, Failure> {
        self.store.named_arguments(debate, name).await
    }

    /// The documents that a name may mean, a few at most; for a seat of one debate, only those it may
    /// see.
    pub async fn named_documents(
        &self,
        name: &DocumentName,
        seen_by: Option<&Seat>,
    ) -> Result<Vec<NamedDocument>, Failure> {
        self.store.named_documents(name, seen_by).await
    }

    /// The projects with debates.
    pub async fn projects(&self) -> Result<Vec<ProjectListed>, Failure> {
        self.store.projects().await
    }

    /// Deletes a debate: hides it for good and wakes its waiters.
    pub async fn delete(&self, debate: DebateId) -> Result<(), Failure> {
        let engine = self.clone();
        self.finish_even_if_cancelled(async move {
            engine.store.delete_debate(debate, engine.clock.now()).await?;
            engine.presence.forget(debate);
            engine.bell.ring(debate);
            engine.feed.ring(debate, ChangeKind::Written);
            Ok(())
        })
        .await
    }

    /// Says what a purge of a debate would remove.
    pub async fn preview_purge(&self, debate: DebateId) -> Result<PurgePreview, Failure> {
        self.store.preview_purge(debate).await
    }

    /// Removes the texts of a closed or deleted debate for good, and with `with_documents` those of the
    /// documents that no other debate cites. Hides the debate first, if it was not hidden, and wakes its
    /// waiters. A tombstone with the hash of its newest argument stays.
    pub async fn purge(&self, debate: DebateId, with_documents: bool) -> Result<Purged, Failure> {
        let engine = self.clone();
        self.finish_even_if_cancelled(async move {
            let at = engine.clock.now();
            let tombstone = engine.store.purge_debate(debate, with_documents, at).await?;
            engine.presence.forget(debate);
            engine.bell.ring(debate);
            engine.feed.ring(debate, ChangeKind::Written);
            Ok(Purged { tombstone, scrubbed: engine.store.scrub().await })
        })
        .await
    }

    /// Leaves a debate out of lists, or brings it back. A move brings it back too.
    pub async fn archive(&self, debate: DebateId, archived: bool) -> Result<(), Failure> {
        let engine = self.clone();
        self.finish_even_if_cancelled(async move {
            let at = archived.then(|| engine.clock.now());
            engine.store.archive_debate(debate, at).await
        })
        .await
    }

    /// Runs the work to its end even if the caller is cancelled: after a commit the waiters must be
    /// woken. Remembers whether writing works.
    async fn finish_even_if_cancelled<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Failure>> + Send + 'static,
    ) -> Result<T, Failure> {
        let mut work = Box::pin(work);
        // Often it ends at once, on this thread. Otherwise it goes on in a task of its own.
        let written = match poll_immediate(&mut work).await {
            Some(written) => written,
            None => tokio::spawn(work)
                .await
                .unwrap_or_else(|died| Err(Fault::Storage(format!("a write died: {died}")).into())),
        };
        self.noted(written)
    }

    /// Waits until this role has something to do or to read, or the debate is closed; returns
    /// [`Poll::Nothing`] after `patience`.
    pub async fn wait(
        &self,
        debate: DebateId,
        role: Role,
        after: Option<ArgumentId>,
        patience: Duration,
    ) -> Result<Poll, Failure> {
        let waiting: OnceLock<Waiting> = OnceLock::new();
        let waits = &waiting;
        let look = move || async move {
            let ends = move |standing: &Standing, unseen| standing.ends_wait(role, unseen);
            let look = self.store.look(debate, role, after, ends).await?;
            // Only now it is certain that the debate exists.
            waits.get_or_init(|| self.presence.arrives(debate, role, self.clock.now()));
            Ok::<_, Failure>(look)
        };
        let mut found = None;
        if !patience.is_zero() {
            let question = (debate, role, after);
            let look = move |rung: Option<Rung>| async move {
                if let Some(shared) = rung.and_then(|rung| self.answers.get(&question, rung)) {
                    return Ok(Some(shared));
                }
                let look = loop {
                    match look().await {
                        // The database is unreachable: a held wait stays held.
                        Err(Failure::Fault(Fault::Busy(_))) if waits.get().is_some() => {
                            sleep(AWAY).await;
                        }
                        look => break look?,
                    }
                };
                let news = news(role, &look).map(Arc::new);
                if let (Some(rung), Some(news)) = (rung, &news) {
                    self.answers.keep(question, rung, news.clone());
                }
                Ok::<_, Failure>(news)
            };
            // Boxed, so that a held wait does not reserve memory for the read.
            let news = self.bell.until(debate, |rung| Box::pin(look(rung)));
            found = timeout(patience, news).await.ok().transpose()?;
        }
        let poll = match found {
            Some(news) => Poll::News(news),
            None => {
                let now = Box::pin(look()).await?;
                match news(role, &now) {
                    Some(news) => Poll::News(Arc::new(news)),
                    None => Poll::Nothing {
                        debate,
                        state: now.head.state(),
                        seen: now.seen.map_or(0, |seq| seq.0),
                        action: now.head.debate.standing.action(role),
                        since: now.head.updated_at,
                    },
                }
            }
        };
        if let Some(waiting) = waiting.into_inner() {
            waiting.answered(matches!(poll, Poll::News(_)), self.clock.now());
        }
        Ok(poll)
    }

    /// Listens to a debate. Call this first, then [`Engine::stretch`], and again after every ring.
    pub fn listen(&self, debate: DebateId) -> Listening {
        self.bell.listen(debate)
    }

    /// Follows all debates. Call this first, then read the debates, and read each again that it names.
    pub fn follow(&self) -> Following {
        self.feed.follow()
    }

    /// Signals when a session has ended or a token was revoked.
    pub fn departures(&self) -> watch::Receiver<()> {
        self.departures.subscribe()
    }

    /// Sets what a role works on, which lasts for a minute; none clears it. Returns the presence.
    pub async fn set_working(
        &self,
        debate: DebateId,
        role: Role,
        label: Option<WorkLabel>,
    ) -> Result<ByRole<Sign>, Failure> {
        // Presence must not remember debates that do not exist.
        self.stretch(debate, 0, 0).await?;
        self.presence.works(debate, role, label, self.clock.now());
        Ok(self.presence.of(debate))
    }

    /// Each role's presence in a debate: whether it waits, its work, and when it was last seen there.
    pub fn presence(&self, debate: DebateId) -> ByRole<Sign> {
        self.presence.of(debate)
    }

    /// Listens for roles that begin or stop waiting, and for their labels. Call this first, then [`Engine::presence`].
    pub fn listen_for_presence(&self, debate: DebateId) -> Listening {
        self.presence.listen(debate)
    }

    /// Imports new documents of the older system, if this text may cite one.
    pub async fn bring_documents(&self, text: &Content) -> Result<(), Failure> {
        self.store.bring_documents(text).await
    }

    /// The imported debate that had this id in the older system.
    pub async fn debate_of_former_id(&self, id: &str) -> Result<Option<DebateId>, Failure> {
        self.store.debate_of_former_id(id).await
    }

    /// A debate as an entry of a list.
    pub async fn listed(&self, debate: DebateId) -> Result<DebateListed, Failure> {
        self.store.listed(debate).await
    }

    /// At most `limit` arguments after `after`, which may be 0, and at most one piece of text.
    pub async fn stretch(
        &self,
        debate: DebateId,
        after: u64,
        limit: u64,
    ) -> Result<Stretch, Failure> {
        self.store.stretch(debate, Seq(after), limit).await
    }

    /// The debate with its `limit` newest arguments, or with all. If that is too long for one read,
    /// `rest` is set, and [`Engine::piece`] and [`Engine::cited`] read the rest.
    pub async fn context(&self, debate: DebateId, limit: Option<u64>) -> Result<Context, Failure> {
        self.store.context(debate, limit).await
    }

    /// The next piece of the arguments after `after` and up to `until`, in order. Empty at the end.
    pub async fn piece(
        &self,
        debate: DebateId,
        which: Selection,
        after: Seq,
        until: Seq,
    ) -> Result<Vec<Argument>, Failure> {
        self.store.piece(debate, which, after, until).await
    }

    /// A page of the documents that a debate cites.
    pub async fn cited(&self, debate: DebateId, after: CitedMark) -> Result<CitedPage, Failure> {
        self.store.cited(debate, after).await
    }

    /// The data of a debate's web page: the MOTION and at most `limit` arguments before `before`, or
    /// the newest.
    pub async fn page_data(
        &self,
        debate: DebateId,
        before: Option<Seq>,
        limit: u64,
    ) -> Result<PageData, Failure> {
        self.store.page_data(debate, before, limit).await
    }

    /// The data of a debate's report.
    pub async fn report(&self, debate: DebateId) -> Result<ReportData, Failure> {
        self.store.report(debate).await
    }

    /// The position of an argument, if the debate has it.
    pub async fn place(
        &self,
        debate: DebateId,
        argument: ArgumentId,
    ) -> Result<Option<Seq>, Failure> {
        self.store.place(debate, argument).await
    }

    /// The data that the page shows beside these arguments, which must be in order.
    pub async fn surroundings(
        &self,
        debate: DebateId,
        arguments: Arc<[Argument]>,
    ) -> Result<Surroundings, Failure> {
        self.store.surroundings(debate, arguments).await
    }

    /// The current time.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// The debate's type, and the texts of that type, if the creator sent them.
    pub async fn type_texts(
        &self,
        debate: DebateId,
    ) -> Result<(DebateType, Option<TypeTexts>), Failure> {
        self.store.type_texts(debate).await
    }

    /// The checksum over a debate's title, type, policy and rules, for checking an export.
    pub async fn checksum(&self, debate: DebateId) -> Result<Option<Hash>, Failure> {
        self.store.checksum(debate).await
    }

    /// A page of debates.
    pub async fn list(&self, filter: &Filter) -> Result<DebateList, Failure> {
        self.store.list(filter).await
    }

    /// Finds texts and ids in the whole record.
    pub async fn search(&self, search: Search) -> Result<SearchPage, Failure> {
        self.store.search(search).await
    }

    /// Keeps the search index up to date, and never ends. It works in the pauses between writes, because
    /// a search itself adds the latest writes.
    pub async fn keep_index(&self) {
        loop {
            let began = Instant::now();
            match self.store.index_piece().await {
                Ok(true) => sleep(began.elapsed() * LEFT_TO_WRITES).await,
                Ok(false) => {
                    self.unindexed.notified().await;
                    let quiet =
                        async { while timeout(QUIET, self.unindexed.notified()).await.is_ok() {} };
                    // After this time it works between the writes.
                    let _ = timeout(LAG, quiet).await;
                }
                Err(error) => {
                    tracing::warn!(%error, "the search index lags behind");
                    sleep(LAG).await;
                    self.unindexed.notified().await;
                }
            }
        }
    }

    /// Creates a document.
    pub async fn create_document(&self, new: NewDocument) -> Result<KeptVersion, Failure> {
        let (id, at) = (new_id().into(), self.clock.now());
        self.unindexed.notify_one();
        self.noted(self.store.create_document(id, new, at).await)
    }

    /// Adds the next version of a document.
    pub async fn add_version(
        &self,
        document: DocumentId,
        request: RequestId,
        new: NewVersion,
    ) -> Result<KeptVersion, Failure> {
        let at = self.clock.now();
        self.unindexed.notify_one();
        self.noted(self.store.add_version(document, request, new, at).await)
    }

    /// Deletes a document: hides it.
    pub async fn delete_document(&self, document: DocumentId) -> Result<(), Failure> {
        let at = self.clock.now();
        self.noted(self.store.delete_document(document, at).await)
    }

    /// A document in this version or its newest.
    pub async fn document(
        &self,
        id: DocumentId,
        version: Option<u64>,
        include_deleted: bool,
    ) -> Result<Document, Failure> {
        self.store.document(id, version, include_deleted).await
    }

    /// The same with its text in pieces, for versions of any length.
    pub async fn document_in_pieces(
        &self,
        id: DocumentId,
        version: Option<u64>,
        include_deleted: bool,
    ) -> Result<(Document, Vec<String>), Failure> {
        self.store.document_in_pieces(id, version, include_deleted).await
    }

    /// How many bytes [`Engine::document`] would read.
    pub async fn document_size(
        &self,
        id: DocumentId,
        version: Option<u64>,
        include_deleted: bool,
    ) -> Result<u64, Failure> {
        self.store.document_size(id, version, include_deleted).await
    }

    /// How many bytes [`Engine::two_versions`] would read.
    pub async fn two_versions_size(
        &self,
        id: DocumentId,
        from: Option<u64>,
        to: Option<u64>,
    ) -> Result<u64, Failure> {
        self.store.two_versions_size(id, from, to).await
    }

    /// Two versions to compare: by default the newest and its predecessor.
    pub async fn two_versions(
        &self,
        id: DocumentId,
        from: Option<u64>,
        to: Option<u64>,
    ) -> Result<(DocumentVersion, DocumentVersion), Failure> {
        self.store.two_versions(id, from, to).await
    }

    /// A page of a document's versions: at most `limit`, and at most one piece of text.
    pub async fn versions(
        &self,
        id: DocumentId,
        include_deleted: bool,
        limit: u64,
        offset: u64,
    ) -> Result<VersionList, Failure> {
        self.store.versions(id, include_deleted, limit, offset).await
    }

    /// The debates that cite a document, the newest first, archived ones too; or only this one, if it does.
    pub async fn citing(
        &self,
        document: DocumentId,
        only: Option<DebateId>,
        limit: u64,
    ) -> Result<Vec<CitingDebate>, Failure> {
        self.store.citing(document, only, limit).await
    }

    /// A page of documents.
    pub async fn list_documents(&self, filter: DocumentFilter) -> Result<DocumentList, Failure> {
        self.store.list_documents(filter).await
    }

    /// Creates a seat.
    pub async fn make_seat(&self, new: NewSeat) -> Result<Seat, Failure> {
        let at = self.clock.now();
        self.noted(self.store.make_seat(new_id(), new, at).await)
    }

    /// Revokes a seat's token and every session and link made with it.
    pub async fn revoke_seat(&self, id: Uuid) -> Result<Seat, Failure> {
        let at = self.clock.now();
        let revoked = self.noted(self.store.revoke_seat(id, at).await);
        self.departures.send_replace(());
        revoked
    }

    /// All seats, the newest first.
    pub async fn seats(&self) -> Result<Vec<Seat>, Failure> {
        self.store.seats().await
    }

    /// The seat of the token with this SHA-256, if the token is valid now.
    pub async fn seat_of(&self, token: Hash) -> Result<Option<Seat>, Failure> {
        let seat = self.store.seat_of(token).await?;
        Ok(seat.filter(|seat| seat.is_open(self.clock.now())))
    }

    /// Stores a pass for a browser: a session or a link.
    pub async fn give_pass(&self, pass: Pass) -> Result<(), Failure> {
        let now = self.clock.now();
        self.noted(self.store.give_pass(pass, now).await)
    }

    /// The token hash that a session stands for, if the session is valid.
    pub async fn holder(&self, session: Hash) -> Result<Option<Hash>, Failure> {
        self.store.holder(session, self.clock.now()).await
    }

    /// The token hash that a link stands for. This uses the link up.
    pub async fn redeem(&self, link: Hash) -> Result<Option<Hash>, Failure> {
        let now = self.clock.now();
        self.noted(self.store.redeem(link, now).await)
    }

    /// Ends a session.
    pub async fn end_pass(&self, session: Hash) -> Result<(), Failure> {
        let ended = self.noted(self.store.end_pass(session).await);
        self.departures.send_replace(());
        ended
    }

    /// Whether a seat may see a document. A seat of one debate sees the documents that this debate
    /// cites and those it wrote itself.
    pub async fn sees(&self, seat: &Seat, document: DocumentId) -> Result<bool, Failure> {
        match seat.debate {
            Some(_) => self.store.sees(seat, document).await,
            None => Ok(true),
        }
    }

    /// The newest argument of a debate that the holder of a token has seen; 0 for none.
    pub async fn seen(&self, debate: DebateId, holder: Hash) -> Result<u64, Failure> {
        self.store.seen(debate, holder).await
    }

    /// Notes that the holder of a token has seen the arguments up to this one. The mark never goes back
    /// and never beyond the newest argument. Returns the mark.
    pub async fn note_seen(
        &self,
        debate: DebateId,
        holder: Hash,
        seq: u64,
    ) -> Result<u64, Failure> {
        self.noted(self.store.note_seen(debate, holder, seq).await)
    }

    /// Verifies a debate from its MOTION to its newest argument.
    pub async fn verify(&self, debate: DebateId) -> Result<Verified, Failure> {
        self.store.verify(debate).await
    }

    /// Verifies a piece of the whole record, including deleted debates, from the beginning or from
    /// where an earlier piece ended.
    pub async fn verify_on(&self, after: Option<VerifyMark>) -> Result<VerifiedPiece, Failure> {
        let began = Instant::now();
        let mut walk = VerifyWalk::from(after);
        loop {
            let last = began.elapsed() > PIECE;
            walk = self.store.walk(walk, last).await?;
            if !last && !walk.is_over() {
                continue;
            }
            match walk.rest() {
                Ok(piece) => return Ok(piece),
                Err(unfinished) => walk = *unfinished,
            }
        }
    }

    /// Checks whether writing works, with a test write unless a write has just succeeded.
    pub async fn health(&self) -> Health {
        let fresh = self.wrote().is_some_and(|wrote| wrote.elapsed() < FRESH);
        let writing = match self.store.is_whole() {
            Ok(()) if !fresh => {
                let pulse = self.store.pulse().await;
                *self.wrote() = pulse.is_ok().then(Instant::now);
                pulse
            }
            whole => whole,
        };
        Health {
            writing,
            debates_listened_to: self.bell.debates_listened_to(),
            database: self.store.vitals(),
        }
    }

    /// Metrics of the database.
    pub fn vitals(&self) -> Vitals {
        self.store.vitals()
    }

    /// Finishes the queued writes and closes the record.
    pub async fn close(&self) {
        self.store.close().await;
    }

    /// Remembers whether writing works.
    fn noted<T>(&self, written: Result<T, Failure>) -> Result<T, Failure> {
        match &written {
            Err(Failure::Fault(_)) => *self.wrote() = None,
            Ok(_) | Err(_) => *self.wrote() = Some(Instant::now()),
        }
        written
    }

    fn wrote(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.wrote.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn new_id() -> Uuid {
    Uuid::now_v7()
}

/// The rules of debates.
const RULES: DebateRules = DebateRules {
    is_open: |debate, role, kind| debate.available(role).iter().any(|open| open.kind() == kind),
    judge: Debate::decide,
    automatic_ruling,
};

/// The RULING with which the server closes a debate.
fn automatic_ruling(via: Via, at: Time) -> NewArgument {
    NewArgument {
        id: new_id().into(),
        request: new_id().into(),
        content: Content::recorded(AUTOMATIC_RULING.to_owned()),
        author: None,
        via,
        seat: None,
        at,
    }
}

fn receipt(role: Role, written: WriteOutcome) -> Receipt {
    let WriteOutcome { head, argument, replayed, missed, parked_for, stated, held, slug } = written;
    Receipt {
        action: head.debate.standing.action(role),
        // Everything after this argument is unseen. The author of a parked argument had not seen the
        // INTERVENTION, so everything after that is unseen too.
        waits_on: parked_for.unwrap_or(argument.id),
        debate: head,
        argument,
        replayed,
        missed,
        stated,
        held,
        slug,
    }
}

/// The answer to a wait, if the wait is over.
fn news(role: Role, look: &WaitLook) -> Option<News> {
    let found = look.answer.as_ref()?;
    let debate = &look.head.debate;
    Some(News {
        action: debate.standing.action(role),
        state: debate.standing.state,
        argument: found.argument.clone(),
        arguments: found.unseen.clone(),
        earlier: found.earlier,
        omitted: found.omitted,
        waits_on: found.newest,
        pending: found.pending,
        available: debate.available(role),
        role,
        outcome: look.head.outcome,
        ledger: debate.ledger.clone(),
        held: debate.pending_held(),
    })
}
