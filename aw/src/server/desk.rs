//! The desk: what is there for one caller.
//!
//! Handlers reach the engine only here, by saying which command they serve and what it is about, so
//! that none can forget to ask whether the caller may.

use std::sync::Arc;

use aw_core::{ByRole, DebateId, DocumentId, Hash, Kind, Role, Time, mentions};
use aw_record::{
    Ask, DebateList, Engine, Failure, Fault, Filter, Health, Pass, Receipt, Request, Seat, Sign,
    Vitals,
};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use tokio::sync::watch;
use uuid::Uuid;

use super::App;
use super::caller::Caller;
use super::error::Problem;

/// The record, shut to everybody but the desk.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    engine: Engine,
}

impl Record {
    pub(super) fn new(engine: Engine) -> Self {
        Record { engine }
    }

    /// Tells when a session has ended or a token was taken back, on whichever server.
    pub(super) fn departures(&self) -> watch::Receiver<()> {
        self.engine.departures()
    }

    /// Takes a token back.
    pub(super) async fn revoke_seat(&self, id: Uuid) -> Result<Seat, Failure> {
        self.engine.revoke_seat(id).await
    }

    /// What time it is.
    pub(crate) fn now(&self) -> Time {
        self.engine.now()
    }

    /// Who is there in a debate.
    pub(crate) fn presence(&self, debate: DebateId) -> ByRole<Sign> {
        self.engine.presence(debate)
    }

    /// The debate that had this id in the older system.
    pub(super) async fn debate_once_called(&self, id: &str) -> Result<Option<DebateId>, Failure> {
        self.engine.debate_once_called(id).await
    }

    /// How the database is.
    pub(super) fn vitals(&self) -> Vitals {
        self.engine.vitals()
    }

    /// Whether it can be written.
    pub(super) async fn health(&self) -> Health {
        self.engine.health().await
    }

    /// Whoever has the token of a seat with this SHA-256.
    pub(super) async fn seated(&self, token: Hash) -> Result<Option<Caller>, Failure> {
        let seat = self.engine.seat_of(token).await?;
        Ok(seat.map(|seat| Caller::Seated { seat: Arc::new(seat), holder: token }))
    }

    /// For whose token a session stands.
    pub(super) async fn holder(&self, session: Hash) -> Result<Option<Hash>, Failure> {
        self.engine.holder(session).await
    }

    /// For whose token a link stands, which is used up by this.
    pub(crate) async fn redeem(&self, link: Hash) -> Result<Option<Hash>, Failure> {
        self.engine.redeem(link).await
    }

    /// Gives a browser something to show instead of a token.
    pub(crate) async fn give_pass(&self, pass: Pass) -> Result<(), Failure> {
        self.engine.give_pass(pass).await
    }

    /// Ends a session.
    pub(crate) async fn end_pass(&self, session: Hash) -> Result<(), Failure> {
        self.engine.end_pass(session).await
    }
}

/// Whether something was found, or may yet be.
fn is_good<T>(found: &Result<Option<T>, Failure>) -> bool {
    matches!(found, Ok(Some(_)) | Err(Failure::Fault(Fault::Busy(_))))
}

/// What a command is about.
#[derive(Debug, Clone, Copy)]
pub(crate) enum About {
    /// One debate.
    Debate(DebateId),
    /// One document.
    Document(DocumentId),
    /// Whatever there is: what comes of it must be cut to what the caller may see.
    Everything,
}

/// The SHA-256 of the session of the browser that calls, if it is one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Session(pub(super) Option<Hash>);

/// The server as one caller finds it.
#[derive(Debug, Clone)]
pub(crate) struct Desk {
    pub(crate) app: App,
    pub(crate) caller: Caller,
    session: Session,
}

impl FromRequestParts<App> for Desk {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let session = parts.extensions.get().copied().unwrap_or(Session(None));
        Ok(Desk { app: app.clone(), caller: Caller::of(parts), session })
    }
}

impl Caller {
    /// Whoever the guard found out to be calling.
    pub(crate) fn of(parts: &Parts) -> Self {
        parts.extensions.get().cloned().unwrap_or(Caller::Stranger)
    }
}

impl Desk {
    /// The engine, for a caller who may use this command on that.
    pub(crate) async fn engine(&self, command: &str, about: About) -> Result<&Engine, Problem> {
        self.caller.may_use(command)?;
        match about {
            About::Debate(debate) => self.caller.may_see(debate)?,
            About::Document(document) => self.may_see_document(document).await?,
            About::Everything => {}
        }
        Ok(&self.app.record.engine)
    }

    /// The engine, for whoever waits in a debate as this role.
    pub(crate) fn waits(&self, role: Role, debate: DebateId) -> Result<&Engine, Problem> {
        self.caller.may_use("debate wait")?;
        self.caller.may_see(debate)?;
        self.caller.may_be(role)?;
        Ok(&self.app.record.engine)
    }

    /// The engine, for whoever runs the server.
    pub(crate) fn administers(&self) -> Result<&Engine, Problem> {
        self.caller.must_administer()?;
        Ok(&self.app.record.engine)
    }

    /// A page of the debates that the caller may see.
    pub(crate) async fn list(&self, filter: Filter) -> Result<DebateList, Problem> {
        let engine = self.engine("debate list", About::Everything).await?;
        Ok(engine.list(&Filter { only: self.caller.bound_to(), ..filter }).await?)
    }

    /// Writes what is asked, if the caller may ask for it and the rules allow it; signed with the
    /// caller's name.
    pub(crate) async fn execute(&self, mut request: Request) -> Result<Receipt, Problem> {
        let (command, role, content) = match &request.ask {
            Ask::Open { motion, .. } => ("debate create", Role::Proposer, motion),
            Ask::Play { role, play, content } => {
                let command = match play.kind() {
                    Kind::Motion => "debate create",
                    Kind::Claim => "debate submit",
                    Kind::Appeal => "debate appeal",
                    Kind::Resolution => "debate request-completion",
                    Kind::Ruling => "debate ruling",
                    Kind::Intervention => "debate intervention",
                };
                (command, *role, content)
            }
        };
        let engine = self.engine(command, About::Debate(request.debate)).await?;
        self.caller.may_be(role)?;
        if self.caller.bound_to().is_some() {
            // What is imported for its sake must be known before it is asked what it may cite.
            engine.bring_documents(content).await?;
            // What its debate cites it may see: so it must not cite what it may not. Most ids in a
            // text are those of arguments, which anybody may mention.
            for mention in mentions(content.as_str()) {
                match engine.versions(mention.document, true, 0, 0).await {
                    Ok(_) => self.may_see_document(mention.document).await?,
                    Err(Failure::DocumentNotFound { .. }) => {}
                    Err(failure) => return Err(failure.into()),
                }
            }
        }
        request.seat = self.caller.name();
        let receipt = engine.execute(request).await?;
        if !receipt.replayed {
            self.app.telemetry.argument_written();
        }
        Ok(receipt)
    }

    /// Whether the caller is still let in: a token may have ended or been taken back meanwhile, or
    /// the browser's session is over. While the database is away nobody can tell, and nothing can be
    /// read either: who was let in is kept.
    pub(crate) async fn is_still_welcome(&self) -> bool {
        if self.is_always_welcome() {
            return true;
        }
        // In a box, because some wait for long until they ask.
        Box::pin(self.is_welcome_now()).await
    }

    /// Whether nothing can be taken back from the caller.
    fn is_always_welcome(&self) -> bool {
        let unbound = matches!(self.caller, Caller::Anybody | Caller::Administrator { .. });
        unbound && self.session.0.is_none()
    }

    async fn is_welcome_now(&self) -> bool {
        if let Some(session) = self.session.0
            && !is_good(&self.app.record.holder(session).await)
        {
            return false;
        }
        match &self.caller {
            Caller::Stranger => false,
            Caller::Anybody | Caller::Administrator { .. } => true,
            Caller::Seated { holder, .. } => is_good(&self.app.record.seated(*holder).await),
        }
    }

    /// Returns once somebody has taken the caller's token back or ended their session.
    pub(crate) async fn unwelcome(&self) {
        let mut departures = self.app.record.departures();
        while self.is_still_welcome().await && departures.changed().await.is_ok() {}
    }

    async fn may_see_document(&self, document: DocumentId) -> Result<(), Problem> {
        let Some(seat) = self.caller.seat() else { return Ok(()) };
        if self.app.record.engine.sees(seat, document).await? {
            return Ok(());
        }
        Err(Problem::forbidden_role(format!(
            "this token is for one debate only, which does not cite document {document}"
        )))
    }
}
