//! Checks what a caller may do. Handlers reach the record only through this.
//!
//! A handler names the command that it serves. [`Access`] checks the caller and returns a handle that
//! can do only what was allowed ([`granted`]), so no handler can forget the check or do more.

mod granted;

use std::sync::Arc;

use aw_core::{
    ArgumentId, ByRole, Content, DebateId, DocumentId, Hash, Kind, Move, RequestId, Role, Time,
    mentions,
};
use aw_record::{
    ArgumentName, Ask, CitingDebate, DebateList, DebateName, DocumentFilter, DocumentList,
    DocumentName, Engine, Failure, Fault, Filter, Health, KeptVersion, NameScope, NamedArgument,
    NamedDebate, NamedDocument, NewDocument, NewVersion, Pass, ProjectListed, PurgePreview, Purged,
    Receipt, Rehearsed, Request, Search, SearchPage, Sign, Vitals,
};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use tokio::sync::watch;

use super::App;
use super::caller::Caller;
use super::error::Problem;
use super::response_budget::BudgetPermit;
use crate::policy::Command;

pub(crate) use granted::{Administration, AllDebates, OneDebate, OneDocument, RoleWait};

/// The record. Only this module reaches the engine in it.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    engine: Engine,
}

impl Record {
    pub(super) fn new(engine: Engine) -> Self {
        Record { engine }
    }

    /// Changes when a session has ended or a token was revoked, on any server.
    pub(super) fn departures(&self) -> watch::Receiver<()> {
        self.engine.departures()
    }

    /// The time.
    pub(crate) fn now(&self) -> Time {
        self.engine.now()
    }

    /// The presence of each role in a debate.
    pub(crate) fn presence(&self, debate: DebateId) -> ByRole<Sign> {
        self.engine.presence(debate)
    }

    /// The debate that had this id in the older system.
    pub(super) async fn debate_of_former_id(&self, id: &str) -> Result<Option<DebateId>, Failure> {
        self.engine.debate_of_former_id(id).await
    }

    /// Figures of the database.
    pub(super) fn vitals(&self) -> Vitals {
        self.engine.vitals()
    }

    /// Whether the record can be written.
    pub(super) async fn health(&self) -> Health {
        self.engine.health().await
    }

    /// The caller with the token of this SHA-256, if the token is good.
    pub(super) async fn seated(&self, token: Hash) -> Result<Option<Caller>, Failure> {
        let seat = self.engine.seat_of(token).await?;
        Ok(seat.map(|seat| Caller::Seated { seat: Arc::new(seat), holder: token }))
    }

    /// The token that a session stands for.
    pub(super) async fn holder(&self, session: Hash) -> Result<Option<Hash>, Failure> {
        self.engine.holder(session).await
    }

    /// Uses up a sign-in link and returns the token that it stands for.
    pub(crate) async fn redeem(&self, link: Hash) -> Result<Option<Hash>, Failure> {
        self.engine.redeem(link).await
    }

    /// Stores a session or a sign-in link.
    pub(crate) async fn give_pass(&self, pass: Pass) -> Result<(), Failure> {
        self.engine.give_pass(pass).await
    }

    /// Ends a session.
    pub(crate) async fn end_pass(&self, session: Hash) -> Result<(), Failure> {
        self.engine.end_pass(session).await
    }
}

/// The SHA-256 of the caller's browser session, if it has one.
#[derive(Debug, Clone, Copy)]
pub(super) struct BrowserSession(pub(super) Option<Hash>);

/// The server as one caller may use it.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    pub(crate) app: App,
    pub(crate) caller: Caller,
    session: BrowserSession,
}

impl FromRequestParts<App> for Access {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let session = parts.extensions.get().copied().unwrap_or(BrowserSession(None));
        Ok(Access { app: app.clone(), caller: Caller::of(parts), session })
    }
}

impl Caller {
    /// The caller that the guard attached to a request.
    pub(crate) fn of(parts: &Parts) -> Self {
        parts.extensions.get().cloned().unwrap_or(Caller::Stranger)
    }
}

impl Access {
    /// Takes the memory of a message of this size.
    pub(super) fn take_budget(&self, bytes: usize) -> Result<BudgetPermit, Problem> {
        self.app.response_budget.take(self.caller.token_owner(), bytes)
    }

    /// Takes the memory of a stream, and of `extra` bytes that are in memory with it.
    pub(super) fn take_for_stream(&self, extra: usize) -> Result<BudgetPermit, Problem> {
        self.app.response_budget.take_for_stream(self.caller.token_owner(), extra)
    }

    fn engine(&self) -> &Engine {
        &self.app.record.engine
    }

    /// Reads one debate, for a command that reads.
    pub(crate) fn debate(&self, command: Command, debate: DebateId) -> Result<OneDebate, Problem> {
        self.caller.may_use(command)?;
        self.caller.may_see(debate)?;
        Ok(OneDebate::new(self.app.clone(), debate))
    }

    /// Follows all debates. The caller of this must skip debates that may not be seen.
    pub(crate) fn all_debates(&self) -> Result<AllDebates, Problem> {
        self.caller.may_use(Command::DebateList)?;
        Ok(AllDebates::new(self.app.clone()))
    }

    /// Waits and works in a debate as this role.
    pub(crate) fn waiter(&self, role: Role, debate: DebateId) -> Result<RoleWait<'_>, Problem> {
        self.caller.may_use(Command::DebateWait)?;
        self.caller.may_see(debate)?;
        self.caller.may_be(role)?;
        Ok(RoleWait::new(&self.app, debate, role))
    }

    /// Administers the server.
    pub(crate) fn administration(&self) -> Result<Administration<'_>, Problem> {
        self.caller.must_administer()?;
        Ok(Administration::new(self.engine()))
    }

    /// A page of the debates that the caller may see.
    pub(crate) async fn list(&self, filter: Filter) -> Result<DebateList, Problem> {
        self.caller.may_use(Command::DebateList)?;
        let (only, reader) = (self.caller.bound_to(), self.caller.holder());
        Ok(self.engine().list(&Filter { only, reader, ..filter }).await?)
    }

    /// The projects of the debates that the caller may see.
    pub(crate) async fn projects(&self) -> Result<Vec<ProjectListed>, Problem> {
        self.caller.may_use(Command::DebateList)?;
        let Some(only) = self.caller.bound_to() else { return Ok(self.engine().projects().await?) };
        let origin = self.engine().listed(only).await?.origin;
        let project = origin.map(|origin| ProjectListed { id: origin.project, name: origin.name });
        Ok(project.into_iter().collect())
    }

    /// A page of what a search finds among what the caller may see.
    pub(crate) async fn search(&self, search: Search) -> Result<SearchPage, Problem> {
        self.caller.may_use(Command::Search)?;
        if let Some(debate) = search.debate {
            self.caller.may_see(debate)?;
        }
        let seen_by = self.caller.seat().filter(|seat| seat.debate.is_some()).cloned();
        Ok(self.engine().search(Search { seen_by, ..search }).await?)
    }

    /// The debates that a name may mean, of those that the caller may see.
    pub(super) async fn named_debates(
        &self,
        name: &DebateName,
        scope: NameScope,
    ) -> Result<Vec<NamedDebate>, Problem> {
        self.caller.may_use(Command::DebateList)?;
        let scope = NameScope { only: self.caller.bound_to(), ..scope };
        Ok(self.engine().named_debates(name, &scope).await?)
    }

    /// The arguments of a debate that a name may mean.
    pub(super) async fn named_arguments(
        &self,
        debate: DebateId,
        name: &ArgumentName,
    ) -> Result<Vec<NamedArgument>, Problem> {
        self.caller.may_use(Command::DebateGetContext)?;
        self.caller.may_see(debate)?;
        Ok(self.engine().named_arguments(debate, name).await?)
    }

    /// The documents that a name may mean, of those that the caller may see.
    pub(super) async fn named_documents(
        &self,
        name: &DocumentName,
    ) -> Result<Vec<NamedDocument>, Problem> {
        self.caller.may_use(Command::DocsList)?;
        let seen_by = self.caller.seat().filter(|seat| seat.debate.is_some());
        Ok(self.engine().named_documents(name, seen_by).await?)
    }

    /// Leaves a debate out of lists, or brings it back.
    pub(crate) async fn archive_debate(
        &self,
        debate: DebateId,
        archived: bool,
    ) -> Result<(), Problem> {
        self.caller.may_use(Command::DebateArchive)?;
        self.caller.may_see(debate)?;
        Ok(self.engine().archive(debate, archived).await?)
    }

    /// The newest argument of a debate that the caller has seen. `None` for a caller without a token:
    /// the server cannot tell who it is.
    pub(crate) async fn seen(&self, debate: DebateId) -> Result<Option<u64>, Problem> {
        self.caller.may_use(Command::DebateGetContext)?;
        self.caller.may_see(debate)?;
        let Some(holder) = self.caller.holder() else { return Ok(None) };
        Ok(Some(self.engine().seen(debate, holder).await?))
    }

    /// Notes that the caller has seen the arguments up to this one. Returns the newest argument seen.
    pub(crate) async fn note_seen(
        &self,
        debate: DebateId,
        seq: u64,
    ) -> Result<Option<u64>, Problem> {
        self.caller.may_use(Command::DebateGetContext)?;
        self.caller.may_see(debate)?;
        match self.caller.holder() {
            Some(holder) => Ok(Some(self.engine().note_seen(debate, holder, seq).await?)),
            None => {
                // An unknown debate is reported to every caller.
                self.engine().stretch(debate, 0, 0).await?;
                Ok(None)
            }
        }
    }

    /// Deletes a debate.
    pub(crate) async fn delete_debate(&self, debate: DebateId) -> Result<(), Problem> {
        self.caller.may_use(Command::DebateDelete)?;
        self.caller.may_see(debate)?;
        Ok(self.engine().delete(debate).await?)
    }

    /// Says what a purge of a debate would remove, to an administrator.
    pub(crate) async fn preview_purge(&self, debate: DebateId) -> Result<PurgePreview, Problem> {
        self.caller.must_administer()?;
        Ok(self.engine().preview_purge(debate).await?)
    }

    /// Removes the texts of a debate for good. Only an administrator may.
    pub(crate) async fn purge_debate(
        &self,
        debate: DebateId,
        with_documents: bool,
    ) -> Result<Purged, Problem> {
        self.caller.must_administer()?;
        Ok(self.engine().purge(debate, with_documents).await?)
    }

    /// Reads one document, for a command that reads.
    pub(crate) async fn document(
        &self,
        command: Command,
        document: DocumentId,
    ) -> Result<OneDocument, Problem> {
        self.caller.may_use(command)?;
        self.may_see_document(document).await?;
        Ok(OneDocument::new(self.app.clone(), document))
    }

    /// The debates that cite a document, the newest first, of those that the caller may see.
    pub(crate) async fn citing(
        &self,
        document: DocumentId,
        limit: u64,
    ) -> Result<Vec<CitingDebate>, Problem> {
        self.caller.may_use(Command::DebateList)?;
        self.may_see_document(document).await?;
        Ok(self.engine().citing(document, self.caller.bound_to(), limit).await?)
    }

    /// A page of the documents that the caller may see.
    pub(crate) async fn list_documents(
        &self,
        filter: DocumentFilter,
    ) -> Result<DocumentList, Problem> {
        self.caller.may_use(Command::DocsList)?;
        if let Some(debate) = filter.of_debate {
            self.caller.may_see(debate)?;
        }
        let seen_by = self.caller.seat().filter(|seat| seat.debate.is_some()).cloned();
        Ok(self.engine().list_documents(DocumentFilter { seen_by, ..filter }).await?)
    }

    /// Stores a new document.
    pub(crate) async fn create_document(
        &self,
        request: RequestId,
        version: NewVersion,
    ) -> Result<KeptVersion, Problem> {
        self.caller.may_use(Command::DocsCreate)?;
        let seat = self.caller.seat().map(|seat| seat.id);
        Ok(self.engine().create_document(NewDocument { request, seat, version }).await?)
    }

    /// Stores the next version of a document.
    pub(crate) async fn add_version(
        &self,
        document: DocumentId,
        request: RequestId,
        version: NewVersion,
    ) -> Result<KeptVersion, Problem> {
        self.caller.may_use(Command::DocsSubmit)?;
        self.may_see_document(document).await?;
        Ok(self.engine().add_version(document, request, version).await?)
    }

    /// Deletes a document.
    pub(crate) async fn delete_document(&self, document: DocumentId) -> Result<(), Problem> {
        self.caller.may_use(Command::DocsDelete)?;
        self.may_see_document(document).await?;
        Ok(self.engine().delete_document(document).await?)
    }

    /// Executes a request to write, signed with the caller's name, if the caller may send it and the
    /// rules allow it.
    pub(crate) async fn execute(&self, mut request: Request) -> Result<Receipt, Problem> {
        match &request.ask {
            Ask::Open { motion, .. } => {
                self.may_write(request.debate, Role::Proposer, Kind::Motion, motion).await?;
            }
            Ask::Play { role, play, content } => {
                self.may_write(request.debate, *role, play.kind(), content).await?;
            }
        }
        request.seat = self.caller.name();
        let receipt = self.engine().execute(request).await?;
        if !receipt.replayed {
            self.app.telemetry.argument_written();
        }
        Ok(receipt)
    }

    /// Judges a move without making it, if the caller may make it.
    pub(crate) async fn rehearse(
        &self,
        debate: DebateId,
        role: Role,
        play: Move<ArgumentId>,
        content: Content,
    ) -> Result<Rehearsed, Problem> {
        self.may_write(debate, role, play.kind(), &content).await?;
        Ok(self.engine().rehearse(debate, role, play, content).await?)
    }

    /// Checks that the caller may write such an argument, and may see what it cites.
    async fn may_write(
        &self,
        debate: DebateId,
        role: Role,
        kind: Kind,
        content: &Content,
    ) -> Result<(), Problem> {
        self.caller.may_use(match kind {
            Kind::Motion => Command::DebateCreate,
            Kind::Claim => Command::DebateSubmit,
            Kind::Appeal => Command::DebateAppeal,
            Kind::Resolution => Command::DebateRequestCompletion,
            Kind::Ruling => Command::DebateRuling,
            Kind::Intervention => Command::DebateIntervention,
        })?;
        self.caller.may_see(debate)?;
        self.caller.may_be(role)?;
        if self.caller.bound_to().is_some() {
            // The older system's documents are imported first: the check below must find them.
            self.engine().bring_documents(content).await?;
            // A token may see what its debate cites, so it must not cite what it may not see. Most
            // ids in a text are those of arguments, which every caller may mention.
            for mention in mentions(content.as_str()) {
                match self.engine().versions(mention.document, true, 0, 0).await {
                    Ok(_) => self.may_see_document(mention.document).await?,
                    Err(Failure::DocumentNotFound { .. }) => {}
                    Err(failure) => return Err(failure.into()),
                }
            }
        }
        Ok(())
    }

    /// Whether the caller is still authenticated: its token may have expired or been revoked since,
    /// or its session may have ended. If the database is unreachable, the caller is kept.
    pub(crate) async fn is_still_allowed(&self) -> bool {
        if self.is_always_allowed() {
            return true;
        }
        // Boxed, because a held wait keeps this future's room until it checks.
        Box::pin(self.is_allowed_now()).await
    }

    /// Whether the caller has nothing that could be revoked.
    fn is_always_allowed(&self) -> bool {
        let unbound = matches!(self.caller, Caller::Anybody | Caller::Administrator { .. });
        unbound && self.session.0.is_none()
    }

    async fn is_allowed_now(&self) -> bool {
        if let Some(session) = self.session.0
            && !may_be_good(&self.app.record.holder(session).await)
        {
            return false;
        }
        match &self.caller {
            Caller::Stranger => false,
            Caller::Anybody | Caller::Administrator { .. } => true,
            Caller::Seated { holder, .. } => may_be_good(&self.app.record.seated(*holder).await),
        }
    }

    /// Returns once the caller's token was revoked or its session has ended.
    pub(crate) async fn access_lost(&self) {
        let mut departures = self.app.record.departures();
        while self.is_still_allowed().await && departures.changed().await.is_ok() {}
    }

    async fn may_see_document(&self, document: DocumentId) -> Result<(), Problem> {
        let Some(seat) = self.caller.seat() else { return Ok(()) };
        if self.engine().sees(seat, document).await? {
            return Ok(());
        }
        Err(Problem::forbidden_role(format!(
            "this token is for one debate only, which does not cite document {document}"
        )))
    }
}

/// Whether a token or session is valid, or could not be looked up.
fn may_be_good<T>(found: &Result<Option<T>, Failure>) -> bool {
    matches!(found, Ok(Some(_)) | Err(Failure::Fault(Fault::Busy(_))))
}
