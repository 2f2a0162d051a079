//! A record with debates and documents of every shape in it.

use std::cell::Cell;
use std::path::PathBuf;

use aw_core::{
    ArgumentId, ByRole, Content, DebateId, DebateType, DocumentId, Hash, Move, PointRules,
    ResolutionPolicy, Role, SeatName, Summary, Title, Verdict, Via,
};
use aw_record::{Ask, NewDocument, NewSeat, Place, Search, SeatRole, TypeTexts};
use rusqlite::Connection;
use tempfile::TempDir;
use uuid::Uuid;

use crate::legacy;
use crate::world::{World, document, opening, saying};

/// The record and its contents.
pub(super) struct Shapes {
    pub(super) folder: TempDir,
    pub(super) path: PathBuf,
    /// With claims, an appeal, rulings, an intervention, a parked claim and citations; closed.
    pub(super) eventful: DebateId,
    /// With its own rules, waiting for the arbitrator.
    pub(super) ruled: DebateId,
    pub(super) deleted: DebateId,
    /// Just opened.
    pub(super) opened: DebateId,
    /// With three versions, cited.
    pub(super) plan: DocumentId,
    pub(super) deleted_document: DocumentId,
}

/// The numbers of debates and documents.
pub(super) const DEBATES: u64 = 8;
pub(super) const DOCUMENTS: u64 = 5;

/// Imports a database of the older system and adds more.
pub(super) async fn every_shape() -> Shapes {
    shapes(true).await
}

/// The same without seats, which earlier releases did not have.
pub(super) async fn without_seats() -> Shapes {
    shapes(false).await
}

async fn shapes(seats: bool) -> Shapes {
    let folder = tempfile::tempdir().unwrap();
    let path = legacy::old_files(&folder);
    // Its update time is later than its newest argument.
    Connection::open(&path)
        .unwrap()
        .execute_batch(
            "update debates set updated_at = '2026-02-07 07:00:00' where state = 'CLOSED'",
        )
        .unwrap();
    let world = World::at_place(Place::File(path.clone()), |_| {});
    let hall = Hall { world, seats, now: Cell::new(0) };

    let plan = hall.document("Plan", None).await;
    hall.world.adds(plan, "Plan, with a second file").await;
    let seat = NewSeat {
        name: SeatName::recorded("An's Codex".to_owned()),
        role: SeatRole::Plays(Role::Opponent),
        debate: None,
        expires_at: None,
        token: Hash([7; 32]),
    };
    let seat = hall.world.engine.make_seat(seat).await.unwrap();
    hall.document("Kept from a seat", Some(seat.id).filter(|_| seats)).await;
    let deleted_document = hall.document("Not any more", None).await;
    hall.world.engine.delete_document(deleted_document).await.unwrap();

    let eventful = hall.eventful(plan).await;
    hall.world.adds(plan, "Plan, as agreed").await;
    let ruled = hall.ruled().await;
    hall.with_points().await;
    let (deleted, motion) = hall.open("Never mind", None, ResolutionPolicy::Auto).await;
    hall.claim(deleted, Role::Opponent, motion).await;
    hall.world.engine.delete(deleted).await.unwrap();
    let (opened, _) = hall.open("Mới mở", None, ResolutionPolicy::Auto).await;
    let (stopped, _) = hall.open("Stopped", None, ResolutionPolicy::Auto).await;
    hall.play(stopped, Role::Arbitrator, Move::Intervention, "").await;

    // One imported debate continues, the other does not.
    let target: ArgumentId = "aaaaaaaa-aaaa-4aaa-8aaa-000000000002".parse().unwrap();
    hall.claim(legacy::OPEN.parse().unwrap(), Role::Proposer, target).await;
    let indexed = hall.world.engine.search(Search::default()).await.unwrap();
    assert!(indexed.is_complete);
    hall.world.engine.close().await;
    Shapes { folder, path, eventful, ruled, deleted, opened, plan, deleted_document }
}

/// Writes with a clock that moves with each write.
struct Hall {
    world: World,
    seats: bool,
    now: Cell<i64>,
}

impl Hall {
    fn tick(&self) {
        self.now.set(self.now.get() + 7);
        self.world.at(self.now.get());
    }

    async fn open(
        &self,
        title: &str,
        own: Option<Box<TypeTexts>>,
        by: ResolutionPolicy,
    ) -> (DebateId, ArgumentId) {
        self.tick();
        let mut request = opening(Uuid::now_v7().into(), title);
        let Ask::Open { debate_type, texts, policy, .. } = &mut request.ask else {
            panic!("it opens one")
        };
        if own.is_some() {
            *debate_type = DebateType::recorded("legal".to_owned());
        }
        (*texts, *policy, request.via) = (own, by, Via::Page);
        let debate = request.debate;
        (debate, self.world.engine.execute(request).await.unwrap().argument.id)
    }

    /// The opponent writes from a seat and with a label, the others without.
    async fn play(
        &self,
        debate: DebateId,
        role: Role,
        play: Move<ArgumentId>,
        content: &str,
    ) -> ArgumentId {
        self.tick();
        let mut request = saying(debate, role, play, content);
        if role == Role::Opponent {
            request.seat = self.seats.then(|| SeatName::recorded("An's Codex".to_owned()));
        } else {
            let via = if role == Role::Proposer { Via::Run } else { Via::Cli };
            (request.via, request.author) = (via, None);
        }
        self.world.engine.execute(request).await.unwrap().argument.id
    }

    async fn claim(&self, debate: DebateId, role: Role, target: ArgumentId) -> ArgumentId {
        let text = format!("I, the {role}, answer {target}.");
        self.play(debate, role, Move::Claim { target }, &text).await
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
        // Its author was interrupted, so it is parked.
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

    /// With points: found and missing quotes, an upheld point, and a RESOLUTION that is held.
    async fn with_points(&self) {
        let plan = self.document("Plan with points", None).await;
        self.world.adds(plan, "Plan, with a second file").await;
        let (debate, motion) = self.open_with_points(plan).await;
        let target = motion;
        let text = "### NEW [major] No second file\n> Plan, with a second file\nWhy?\n\
            ### NEW [minor] No tests\n> fn main() {}\n— src/main.rs\nAdd some.\n### VERDICT [object]";
        let claim = self.play(debate, Role::Opponent, Move::Claim { target }, text).await;
        let answer = "### P1 [rejected] One is enough.\n### P2 [deferred] Later.";
        let target = claim;
        let answer = self.play(debate, Role::Proposer, Move::Claim { target }, answer).await;
        let text = "### P1 [open] It is not.\n### P2 [resolved]\nFine.";
        let target = answer;
        let held = self.play(debate, Role::Opponent, Move::Claim { target }, text).await;
        self.play(debate, Role::Proposer, Move::Appeal { target: held }, "P1?").await;
        let goes_on = Move::Ruling { target: None, verdict: Verdict::GoOn };
        let text = "### P1 [dismissed] One is enough.\n> words of nobody at all";
        let ruling = self.play(debate, Role::Arbitrator, goes_on, text).await;
        let resolution = Move::Resolution { target: ruling };
        self.play(debate, Role::Proposer, resolution, "Done.").await;
    }

    async fn open_with_points(&self, plan: DocumentId) -> (DebateId, ArgumentId) {
        self.tick();
        let mut request = opening(Uuid::now_v7().into(), "With points");
        let Ask::Open { points, motion, .. } = &mut request.ask else { panic!("it opens one") };
        *points = Some(PointRules::default());
        *motion = Content::recorded(format!("Please examine doc_id={plan} (v2)."));
        let debate = request.debate;
        (debate, self.world.engine.execute(request).await.unwrap().argument.id)
    }

    async fn document(&self, summary: &str, seat: Option<Uuid>) -> DocumentId {
        self.tick();
        let mut new = NewDocument { seat, ..document(summary) };
        new.version.metadata = r#"{"files":1}"#.to_owned();
        self.world.engine.create_document(new).await.unwrap().document
    }
}
