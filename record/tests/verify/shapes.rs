//! A record with debates and documents of every shape in it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use aw_core::{
    ArgumentId, Author, ByRole, Content, DebateId, DebateType, DocumentId, Hash, Move,
    ResolutionPolicy, Role, SeatName, Summary, Time, Title, Verdict, Via,
};
use aw_record::{
    Ask, Clock, Engine, NewDocument, NewSeat, NewVersion, Receipt, Request, SeatRole, Store,
    StoreOptions, TypeTexts,
};
use rusqlite::Connection;
use tempfile::TempDir;
use uuid::Uuid;

use crate::legacy;

/// Where it is, and what is in it.
pub(super) struct Shapes {
    pub(super) folder: TempDir,
    pub(super) path: PathBuf,
    /// Claims, an appeal, rulings, interventions, parked claims, citations; closed by itself.
    pub(super) eventful: DebateId,
    /// With rules of its own, waiting for the arbitrator.
    pub(super) ruled: DebateId,
    pub(super) deleted: DebateId,
    /// Just opened.
    pub(super) opened: DebateId,
    /// In three versions, cited.
    pub(super) plan: DocumentId,
    pub(super) deleted_document: DocumentId,
}

/// How many debates and documents there are.
pub(super) const DEBATES: u64 = 7;
pub(super) const DOCUMENTS: u64 = 4;

/// Imports a database of the older system and goes on from there.
pub(super) async fn every_shape() -> Shapes {
    shapes(true).await
}

/// The same without whatever was written from a seat, which earlier releases did not know.
pub(super) async fn without_seats() -> Shapes {
    shapes(false).await
}

async fn shapes(seats: bool) -> Shapes {
    let folder = tempfile::tempdir().unwrap();
    let path = legacy::old_files(&folder);
    // It was touched after its newest argument.
    Connection::open(&path)
        .unwrap()
        .execute_batch(
            "update debates set updated_at = '2026-02-07 07:00:00' where state = 'CLOSED'",
        )
        .unwrap();
    let now = Arc::new(AtomicI64::new(1_772_000_000_000));
    let clock = Clock::new(move || Time(now.fetch_add(7, Ordering::Relaxed)));
    let store = Store::open(&StoreOptions::at(&path)).unwrap();
    let hall = Hall { engine: Engine::new(store, clock), seats };

    let plan = hall.document("Plan", None).await;
    hall.version(plan, "Plan, with a second file").await;
    let seat = NewSeat {
        name: SeatName::recorded("An's Codex".to_owned()),
        role: SeatRole::Plays(Role::Opponent),
        debate: None,
        expires_at: None,
        token: Hash([7; 32]),
    };
    let seat = hall.engine.make_seat(seat).await.unwrap();
    hall.document("Kept from a seat", Some(seat.id).filter(|_| seats)).await;
    let deleted_document = hall.document("Not any more", None).await;
    hall.engine.delete_document(deleted_document).await.unwrap();

    let eventful = hall.eventful(plan).await;
    hall.version(plan, "Plan, as agreed").await;
    let ruled = hall.ruled().await;
    let (deleted, motion) = hall.open("Never mind", None, ResolutionPolicy::Auto).await;
    hall.claim(deleted, Role::Opponent, motion).await;
    hall.engine.delete(deleted).await.unwrap();
    let (opened, _) = hall.open("Mới mở", None, ResolutionPolicy::Auto).await;
    let (stopped, _) = hall.open("Stopped", None, ResolutionPolicy::Auto).await;
    hall.play(stopped, Role::Arbitrator, Move::Intervention, "").await;

    // One that was imported goes on, the other one rests.
    let target: ArgumentId = "aaaaaaaa-aaaa-4aaa-8aaa-000000000002".parse().unwrap();
    hall.claim(legacy::OPEN.parse().unwrap(), Role::Proposer, target).await;
    hall.engine.close().await;
    Shapes { folder, path, eventful, ruled, deleted, opened, plan, deleted_document }
}

/// A place to hold debates in.
struct Hall {
    engine: Engine,
    seats: bool,
}

impl Hall {
    async fn open(
        &self,
        title: &str,
        texts: Option<Box<TypeTexts>>,
        policy: ResolutionPolicy,
    ) -> (DebateId, ArgumentId) {
        let debate = Uuid::now_v7().into();
        let debate_type = if texts.is_some() { "legal" } else { "general_debate" };
        let ask = Ask::Open {
            title: Title::recorded(title.to_owned()),
            debate_type: DebateType::recorded(debate_type.to_owned()),
            texts,
            policy,
            motion: Content::recorded(format!("Motion: {title}")),
        };
        (debate, self.execute(debate, Via::Page, ask).await.argument.id)
    }

    async fn play(
        &self,
        debate: DebateId,
        role: Role,
        play: Move<ArgumentId>,
        content: &str,
    ) -> ArgumentId {
        let content = Content::recorded(content.to_owned());
        let via = if role == Role::Opponent { Via::Mcp } else { Via::Cli };
        self.execute(debate, via, Ask::Play { role, play, content }).await.argument.id
    }

    async fn claim(&self, debate: DebateId, role: Role, target: ArgumentId) -> ArgumentId {
        let text = format!("I, the {role}, answer {target}.");
        self.play(debate, role, Move::Claim { target }, &text).await
    }

    async fn execute(&self, debate: DebateId, via: Via, ask: Ask) -> Receipt {
        let told = via == Via::Mcp;
        let request = Request {
            debate,
            id: Uuid::now_v7().into(),
            author: told.then(|| Author::recorded("Codex".to_owned())),
            via,
            seat: (told && self.seats).then(|| SeatName::recorded("An's Codex".to_owned())),
            ask,
        };
        self.engine.execute(request).await.unwrap()
    }

    async fn eventful(&self, plan: DocumentId) -> DebateId {
        let (debate, motion) = self.open("Keep one file?", None, ResolutionPolicy::Auto).await;
        let cites = format!("See doc_id={plan} (v1) and {} (v2).", legacy::DOCUMENT);
        let claim = Move::Claim { target: motion };
        let first = self.play(debate, Role::Opponent, claim, &cites).await;
        let second = self.claim(debate, Role::Proposer, first).await;
        let third = self.claim(debate, Role::Opponent, second).await;
        let appeal = Move::Appeal { target: third };
        self.play(debate, Role::Proposer, appeal, "Which one?").await;
        let goes_on = Move::Ruling { target: None, verdict: Verdict::GoOn };
        let ruling = self.play(debate, Role::Arbitrator, goes_on, "The second.").await;
        self.play(debate, Role::Arbitrator, Move::Intervention, "Wait.").await;
        // Written while it was interrupted, so it is parked.
        self.claim(debate, Role::Proposer, ruling).await;
        let ruling = self.play(debate, Role::Arbitrator, goes_on, "Go on.").await;
        let answer = Move::Claim { target: ruling };
        let answer = self.play(debate, Role::Proposer, answer, &format!("As in {plan}.")).await;
        let last = self.claim(debate, Role::Opponent, answer).await;
        let resolution = Move::Resolution { target: last };
        self.play(debate, Role::Proposer, resolution, "Agreed.").await;
        debate
    }

    async fn ruled(&self) -> DebateId {
        let texts = TypeTexts {
            title: Title::recorded("Contract".to_owned()),
            description: Summary::recorded("Clause by clause".to_owned()),
            rules: ByRole::of(|role| Content::recorded(format!("Rules of the {role}"))),
        };
        let policy = ResolutionPolicy::Arbitrator;
        let (debate, motion) = self.open("Sign it?", Some(Box::new(texts)), policy).await;
        let claim = self.claim(debate, Role::Opponent, motion).await;
        self.play(debate, Role::Proposer, Move::Resolution { target: claim }, "Signed.").await;
        debate
    }

    async fn document(&self, summary: &str, seat: Option<Uuid>) -> DocumentId {
        let request = Uuid::now_v7().into();
        let new = NewDocument { request, seat, version: version(summary) };
        self.engine.create_document(new).await.unwrap().document
    }

    async fn version(&self, document: DocumentId, summary: &str) {
        let request = Uuid::now_v7().into();
        self.engine.add_version(document, request, version(summary)).await.unwrap();
    }
}

fn version(summary: &str) -> NewVersion {
    NewVersion {
        summary: Summary::recorded(summary.to_owned()),
        content: Content::recorded(format!("# {summary}\n")),
        author: Some(Author::recorded("Bình".to_owned())),
        metadata: r#"{"files":1}"#.to_owned(),
    }
}
