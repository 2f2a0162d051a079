//! Handles that [`Access`](super::Access) returns: each can do only what the caller was allowed.

use std::sync::Arc;
use std::time::Duration;

use aw_core::{
    Argument, ArgumentId, ByRole, Content, DebateId, DebateType, DocumentId, Hash, PointId, Role,
    Seq, Time, WorkLabel,
};
use aw_record::{
    CitedDocument, CitedMark, CitedPage, Context, DebateHead, DebateListed, Document,
    DocumentVersion, Engine, Failure, Following, Listening, NewSeat, PageData, PointRecord, Poll,
    ReportData, Seat, Selection, Sign, Stretch, Surroundings, TypeTexts, Verified, VerifiedPiece,
    VerifyMark, VersionList,
};
use uuid::Uuid;

use crate::server::App;

/// Reads one debate. Holds the app rather than the engine, because a clone of it costs one count.
#[derive(Debug, Clone)]
pub(crate) struct OneDebate {
    app: App,
    id: DebateId,
}

impl OneDebate {
    pub(super) fn new(app: App, id: DebateId) -> Self {
        OneDebate { app, id }
    }

    fn engine(&self) -> &Engine {
        &self.app.record.engine
    }

    /// The debate.
    pub(crate) fn id(&self) -> DebateId {
        self.id
    }

    /// The time.
    pub(crate) fn now(&self) -> Time {
        self.engine().now()
    }

    /// The debate with its `limit` newest arguments, or with all of them.
    pub(crate) async fn context(&self, limit: Option<u64>) -> Result<Context, Failure> {
        self.engine().context(self.id, limit).await
    }

    /// The presence of each role.
    pub(crate) fn presence(&self) -> ByRole<Sign> {
        self.engine().presence(self.id)
    }

    /// At most `limit` arguments after `after`, which may be 0, and no more than make a piece.
    pub(crate) async fn stretch(&self, after: u64, limit: u64) -> Result<Stretch, Failure> {
        self.engine().stretch(self.id, after, limit).await
    }

    /// Arguments after `after` and up to `until`, in order: as many as make a piece.
    pub(crate) async fn piece(
        &self,
        which: Selection,
        after: Seq,
        until: Seq,
    ) -> Result<Vec<Argument>, Failure> {
        self.engine().piece(self.id, which, after, until).await
    }

    /// A page of the documents that the debate cites.
    pub(crate) async fn cited(&self, after: CitedMark) -> Result<CitedPage, Failure> {
        self.engine().cited(self.id, after).await
    }

    /// The text of a document in the version that the debate cites; none if it was deleted.
    pub(crate) async fn cited_text(
        &self,
        cited: &CitedDocument,
    ) -> Result<Option<Content>, Failure> {
        match self.engine().document(cited.id, Some(cited.version), false).await {
            Ok(document) => Ok(Some(document.version.content)),
            Err(Failure::DocumentNotFound { .. }) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// The size of the longest of these texts, in bytes.
    pub(crate) async fn longest_cited(&self) -> Result<usize, Failure> {
        let (mut longest, mut next) = (0, Some(CitedMark::default()));
        while let Some(after) = next {
            let page = self.cited(after).await?;
            for cited in page.documents {
                let size = self.engine().document_size(cited.id, Some(cited.version), true).await?;
                longest = longest.max(usize::try_from(size).unwrap_or(usize::MAX));
            }
            next = page.next;
        }
        Ok(longest)
    }

    /// The data of a page: at most `limit` arguments before `before`, or the newest.
    pub(crate) async fn page_data(
        &self,
        before: Option<Seq>,
        limit: u64,
    ) -> Result<PageData, Failure> {
        self.engine().page_data(self.id, before, limit).await
    }

    /// The data of the debate's report.
    pub(crate) async fn report(&self) -> Result<ReportData, Failure> {
        self.engine().report(self.id).await
    }

    /// The place of an argument, if the debate has it.
    pub(crate) async fn place(&self, argument: ArgumentId) -> Result<Option<Seq>, Failure> {
        self.engine().place(self.id, argument).await
    }

    /// The context in which a page shows these arguments, which are in order.
    pub(crate) async fn surroundings(
        &self,
        arguments: Arc<[Argument]>,
    ) -> Result<Surroundings, Failure> {
        self.engine().surroundings(self.id, arguments).await
    }

    /// The debate with all its points and their quotes.
    pub(crate) async fn points(&self) -> Result<(DebateHead, Vec<PointRecord>), Failure> {
        self.engine().points(self.id).await
    }

    /// A point with its history.
    pub(crate) async fn point(&self, id: PointId) -> Result<(DebateHead, PointRecord), Failure> {
        self.engine().point(self.id, id).await
    }

    /// The type of the debate, and the texts of that type if its creator sent them.
    pub(crate) async fn type_texts(&self) -> Result<(DebateType, Option<TypeTexts>), Failure> {
        self.engine().type_texts(self.id).await
    }

    /// The checksum of the debate's own fields.
    pub(crate) async fn checksum(&self) -> Result<Option<Hash>, Failure> {
        self.engine().checksum(self.id).await
    }

    /// Checks that the debate is as it was written.
    pub(crate) async fn verify(&self) -> Result<Verified, Failure> {
        self.engine().verify(self.id).await
    }

    /// Listens for arguments: first this, then [`OneDebate::stretch`], and again after every ring.
    pub(crate) fn listen(&self) -> Listening {
        self.engine().listen(self.id)
    }

    /// Listens for changes of presence.
    pub(crate) fn listen_for_presence(&self) -> Listening {
        self.engine().listen_for_presence(self.id)
    }
}

/// Follows all debates.
#[derive(Debug, Clone)]
pub(crate) struct AllDebates {
    app: App,
}

impl AllDebates {
    pub(super) fn new(app: App) -> Self {
        AllDebates { app }
    }

    /// Follows all changes from now on.
    pub(crate) fn follow(&self) -> Following {
        self.app.record.engine.follow()
    }

    /// A debate as a list shows it.
    pub(crate) async fn listed(&self, debate: DebateId) -> Result<DebateListed, Failure> {
        self.app.record.engine.listed(debate).await
    }

    /// The presence of each role in a debate.
    pub(crate) fn presence(&self, debate: DebateId) -> ByRole<Sign> {
        self.app.record.presence(debate)
    }
}

/// Waits and works in one debate as one role. Borrows, because thousands are held at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoleWait<'a> {
    app: &'a App,
    debate: DebateId,
    role: Role,
}

impl<'a> RoleWait<'a> {
    pub(super) fn new(app: &'a App, debate: DebateId, role: Role) -> Self {
        RoleWait { app, debate, role }
    }

    /// Returns when the role has something to do or to read, or after `patience`.
    pub(crate) fn wait(
        self,
        after: Option<ArgumentId>,
        patience: Duration,
    ) -> impl Future<Output = Result<Poll, Failure>> + use<'a> {
        self.app.record.engine.wait(self.debate, self.role, after, patience)
    }

    /// Sets what the role works on, or clears it. Returns the presence.
    pub(crate) async fn set_working(
        self,
        label: Option<WorkLabel>,
    ) -> Result<ByRole<Sign>, Failure> {
        self.app.record.engine.set_working(self.debate, self.role, label).await
    }

    /// Reads the debate.
    pub(crate) fn debate(self) -> OneDebate {
        OneDebate::new(self.app.clone(), self.debate)
    }
}

/// Reads one document.
#[derive(Debug, Clone)]
pub(crate) struct OneDocument {
    app: App,
    id: DocumentId,
}

impl OneDocument {
    pub(super) fn new(app: App, id: DocumentId) -> Self {
        OneDocument { app, id }
    }

    fn engine(&self) -> &Engine {
        &self.app.record.engine
    }

    /// The document in this version, or in its newest.
    pub(crate) async fn read(
        &self,
        version: Option<u64>,
        include_deleted: bool,
    ) -> Result<Document, Failure> {
        self.engine().document(self.id, version, include_deleted).await
    }

    /// How many bytes [`OneDocument::read`] would read.
    pub(crate) async fn size(
        &self,
        version: Option<u64>,
        include_deleted: bool,
    ) -> Result<u64, Failure> {
        self.engine().document_size(self.id, version, include_deleted).await
    }

    /// The document with its text in pieces, for versions of any length.
    pub(crate) async fn in_pieces(
        &self,
        version: Option<u64>,
        include_deleted: bool,
    ) -> Result<(Document, Vec<String>), Failure> {
        self.engine().document_in_pieces(self.id, version, include_deleted).await
    }

    /// Two versions to compare: by default the newest and its predecessor.
    pub(crate) async fn two_versions(
        &self,
        from: Option<u64>,
        to: Option<u64>,
    ) -> Result<(DocumentVersion, DocumentVersion), Failure> {
        self.engine().two_versions(self.id, from, to).await
    }

    /// A page of the versions: at most `limit`, and no more than make a piece.
    pub(crate) async fn versions(
        &self,
        include_deleted: bool,
        limit: u64,
        offset: u64,
    ) -> Result<VersionList, Failure> {
        self.engine().versions(self.id, include_deleted, limit, offset).await
    }
}

/// Administers the server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Administration<'a> {
    engine: &'a Engine,
}

impl<'a> Administration<'a> {
    pub(super) fn new(engine: &'a Engine) -> Self {
        Administration { engine }
    }

    /// The time.
    pub(crate) fn now(self) -> Time {
        self.engine.now()
    }

    /// Makes a seat.
    pub(crate) async fn make_seat(self, new: NewSeat) -> Result<Seat, Failure> {
        self.engine.make_seat(new).await
    }

    /// All seats, the newest first.
    pub(crate) async fn seats(self) -> Result<Vec<Seat>, Failure> {
        self.engine.seats().await
    }

    /// The seat of the token with this SHA-256, if the token is valid now.
    pub(crate) async fn seat_of(self, token: Hash) -> Result<Option<Seat>, Failure> {
        self.engine.seat_of(token).await
    }

    /// Revokes the token of a seat, and every session that stands for it.
    pub(crate) async fn revoke_seat(self, id: Uuid) -> Result<Seat, Failure> {
        self.engine.revoke_seat(id).await
    }

    /// Verifies a piece of the whole record, deleted debates included.
    pub(crate) async fn verify_on(
        self,
        after: Option<VerifyMark>,
    ) -> Result<VerifiedPiece, Failure> {
        self.engine.verify_on(after).await
    }
}
