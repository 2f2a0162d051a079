//! Debates with points: the ledger in the record, and the look-up of quotes in documents and arguments.

use aw_core::{
    ArgumentId, Content, DebateId, DocumentId, FlawCode, Held, Kind, Move, Outcome, PointId,
    PointRules, PointState, QuoteCheck, QuotePlace, Refusal, Role, Seq, State, Verdict,
};
use aw_record::{Ask, Engine, Failure, NewVersion, Receipt};
use uuid::Uuid;

use crate::world::{GO_ON, World, document, opening, refused, saying, version};

const PLAN: &str = "# Charge retries\n\n1. The worker retries the POST up to 3 times.\n2. Old rows are deleted after 30 days.\n";

const OBJECTIONS: &str = "### VERDICT [object]\nTwo ways to lose money.\n\
    ### NEW [critical] A retry can charge twice\n> The worker retries the POST up to 3 times.\n\
    A time-out after the charge charges again.\n\
    ### NEW [major] Refunds need the old rows\n> Old rows are deleted after 30 days.\n\
    Refunds are possible for 90 days.\n";

/// A debate with points about a plan.
struct Debate {
    engine: Engine,
    _world: Option<World>,
    id: DebateId,
    plan: DocumentId,
    newest: ArgumentId,
}

/// Writes a debate with points into a record.
pub(crate) async fn write(world: &World) {
    let mut debate = Debate::opened_in(&world.engine).await;
    debate.claims(Role::Opponent, OBJECTIONS).await;
    debate.claims(Role::Proposer, "### P1 [rejected] No.\n### P2 [deferred] Later.").await;
}

impl Debate {
    async fn opened() -> Self {
        let world = World::new();
        let debate = Self::opened_in(&world.engine).await;
        Debate { _world: Some(world), ..debate }
    }

    async fn opened_in(engine: &Engine) -> Self {
        let mut new = document("Charge retries");
        new.version.content = Content::recorded(PLAN.to_owned());
        let plan = engine.create_document(new).await.unwrap().document;
        let id = Uuid::now_v7().into();
        let mut request = opening(id, "Charge retries");
        let Ask::Open { points, motion, .. } = &mut request.ask else { panic!("it opens one") };
        *points = Some(PointRules::default());
        *motion = Content::recorded(format!("Please examine doc_id={plan} (v1)."));
        let newest = engine.execute(request).await.unwrap().argument.id;
        Debate { engine: engine.clone(), _world: None, id, plan, newest }
    }

    async fn tries(
        &self,
        role: Role,
        play: Move<ArgumentId>,
        text: &str,
    ) -> Result<Receipt, Failure> {
        self.engine.execute(saying(self.id, role, play, text)).await
    }

    async fn plays(&mut self, role: Role, play: Move<ArgumentId>, text: &str) -> Receipt {
        let receipt = self.tries(role, play, text).await.unwrap();
        self.newest = receipt.argument.id;
        receipt
    }

    async fn claims(&mut self, role: Role, text: &str) -> Receipt {
        self.plays(role, Move::Claim { target: self.newest }, text).await
    }

    async fn flaws(&self, role: Role, text: &str) -> Vec<(u32, FlawCode)> {
        let failure = refused(self.tries(role, Move::Claim { target: self.newest }, text).await);
        let Failure::Refused { refusal, .. } = failure else { panic!("{failure}") };
        let Refusal::Flawed { flaws, .. } = *refusal else { panic!("{refusal}") };
        flaws.iter().map(|flaw| (flaw.line, flaw.code)).collect()
    }

    /// Adds a version of the plan.
    async fn revises(&self, from: &str, to: &str) -> u64 {
        let content = Content::recorded(PLAN.replace(from, to));
        let new = NewVersion { content, ..version("Revised") };
        let request = Uuid::now_v7().into();
        self.engine.add_version(self.plan, request, new).await.unwrap().version.number
    }

    async fn states(&self) -> Vec<PointState> {
        let (_, points) = self.engine.points(self.id).await.unwrap();
        points.iter().map(|record| record.point.state).collect()
    }
}

#[tokio::test]
async fn a_debate_is_agreed_by_two_keys_and_verifies() {
    let mut debate = Debate::opened().await;
    let receipt = debate.claims(Role::Opponent, OBJECTIONS).await;
    let found: Vec<_> = receipt.stated.iter().flat_map(|stated| &stated.quotes).collect();
    let place = QuotePlace::Document { document: debate.plan, version: 1 };
    assert_eq!(found.len(), 2);
    assert!(
        found.iter().all(|quote| quote.check == QuoteCheck::Found && quote.place == Some(place))
    );
    assert_eq!((found[0].lines, found[1].lines), (Some((3, 3)), Some((4, 4))));

    let early = refused(
        debate.tries(Role::Proposer, Move::Resolution { target: debate.newest }, "Fine.").await,
    );
    let Failure::Refused { refusal, .. } = early else { panic!("{early}") };
    let Refusal::PointsBlock { points, .. } = *refusal else { panic!("{refusal}") };
    assert_eq!(points, [PointId(1), PointId(2)]);

    assert_eq!(
        debate.flaws(Role::Proposer, "### P1 [accepted] Done.").await,
        [(1, FlawCode::VersionNeeded)]
    );
    assert_eq!(debate.revises("3 times.", "3 times, with one key a payment.").await, 2);
    let plan = debate.plan;
    let answer =
        format!("### P1 [accepted] doc_id={plan} (v2)\n### P2 [rejected] Refunds read the ledger.");
    debate.claims(Role::Proposer, &answer).await;
    debate
        .claims(Role::Opponent, "### P1 [resolved] Read v2.\n### P2 [open] It keeps 30 days too.")
        .await;
    debate.plays(Role::Proposer, Move::Appeal { target: debate.newest }, "P2?").await;
    debate.plays(Role::Arbitrator, GO_ON, "### P2 [upheld] 90 days.").await;
    assert_eq!(debate.states().await, [PointState::Settled, PointState::Upheld]);
    debate.revises("30 days", "90 days").await;
    debate.claims(Role::Proposer, &format!("### P2 [accepted] 90 days. doc_id={plan} (v3)")).await;
    debate.claims(Role::Opponent, "### P2 [resolved] Read v3.\n### VERDICT [agree]").await;
    let resolution = Move::Resolution { target: debate.newest };
    let closed = debate.plays(Role::Proposer, resolution, &format!("doc_id={plan} (v3)")).await;
    assert_eq!((closed.debate.state(), closed.held), (State::Closed, None));
    assert_eq!(closed.debate.outcome, Outcome::Agreed);

    let (_, point) = debate.engine.point(debate.id, PointId(2)).await.unwrap();
    let words: Vec<_> = point.turns.iter().map(|turn| (turn.seq, turn.word.as_str())).collect();
    assert_eq!(
        words,
        [
            (Seq(2), "major"),
            (Seq(3), "rejected"),
            (Seq(4), "open"),
            (Seq(6), "upheld"),
            (Seq(7), "accepted"),
            (Seq(8), "resolved"),
        ]
    );
    assert_eq!(point.turns[1].text, "### P2 [rejected] Refunds read the ledger.");
    debate.engine.verify(debate.id).await.unwrap();
}

#[tokio::test]
async fn a_resolution_that_nobody_agreed_to_is_held_for_the_arbitrator() {
    let mut debate = Debate::opened().await;
    debate.claims(Role::Opponent, "Prose alone turns no key.").await;
    let resolution = Move::Resolution { target: debate.newest };
    let held = debate.plays(Role::Proposer, resolution, "Fine.").await;
    assert_eq!(
        (held.debate.state(), held.held),
        (State::AwaitingArbitrator, Some(Held::NotAgreed))
    );
    let close = Move::Ruling { target: None, verdict: Verdict::Close };
    let closed = debate.plays(Role::Arbitrator, close, "Go ahead.").await;
    assert_eq!(closed.debate.outcome, Outcome::Ruled);
    debate.engine.verify(debate.id).await.unwrap();
}

#[tokio::test]
async fn one_flaw_refuses_the_whole_text_and_all_flaws_are_listed() {
    let debate = Debate::opened().await;
    let text = OBJECTIONS
        .replace("retries the POST up to", "sends the request again")
        .replace("Refunds are possible for 90 days.\n", "");
    assert_eq!(
        debate.flaws(Role::Opponent, &text).await,
        [(4, FlawCode::QuoteMissing), (6, FlawCode::NoReason)]
    );
    assert_eq!(debate.states().await, []);
    let context = debate.engine.context(debate.id, None).await.unwrap();
    assert_eq!(context.debate.debate.standing.last, Seq::FIRST, "nothing was recorded");
}

#[tokio::test]
async fn a_replay_returns_the_recorded_statements_and_is_not_judged_again() {
    let mut debate = Debate::opened().await;
    let claim =
        saying(debate.id, Role::Opponent, Move::Claim { target: debate.newest }, OBJECTIONS);
    let first = debate.engine.execute(claim.clone()).await.unwrap();
    debate.newest = first.argument.id;
    debate.claims(Role::Proposer, "### P1 [rejected] No.\n### P2 [deferred] Later.").await;
    let again = debate.engine.execute(claim).await.unwrap();
    assert!(again.replayed);
    assert_eq!(again.stated, first.stated);
    let ledger = again.debate.debate.ledger.unwrap();
    assert_eq!(ledger.points[0].state, PointState::Rejected, "the ledger is the one of now");
}

#[tokio::test]
async fn a_parked_argument_is_not_judged() {
    let mut debate = Debate::opened().await;
    debate.claims(Role::Opponent, OBJECTIONS).await;
    let target = debate.newest;
    debate.plays(Role::Arbitrator, Move::Intervention, "Stop.").await;
    let text = "### P1 [accepted]\n### P9 [rejected]\n> There is no such text anywhere.";
    let parked = debate.tries(Role::Proposer, Move::Claim { target }, text).await.unwrap();
    assert!(parked.argument.event.parked());
    assert_eq!(parked.stated, []);
    assert_eq!(debate.states().await, [PointState::Open, PointState::Open]);
    debate.engine.verify(debate.id).await.unwrap();
}

#[tokio::test]
async fn a_rehearsal_judges_as_the_move_would_and_writes_nothing() {
    let debate = Debate::opened().await;
    let engine = &debate.engine;
    let claim = Move::Claim { target: debate.newest };
    let text = Content::recorded(OBJECTIONS.to_owned());
    let rehearsed = engine.rehearse(debate.id, Role::Opponent, claim, text).await.unwrap();
    assert_eq!((rehearsed.debate.state(), rehearsed.stated.len()), (State::AwaitingProposer, 3));
    assert_eq!(debate.states().await, []);
    let out_of_turn = Content::recorded("### P1 [accepted]".to_owned());
    let failure = engine.rehearse(debate.id, Role::Proposer, claim, out_of_turn).await.unwrap_err();
    let Failure::Refused { refusal, .. } = failure else { panic!("{failure}") };
    assert!(matches!(*refusal, Refusal::NotTheFloor { kind: Kind::Claim, .. }), "{refusal}");
}

#[tokio::test]
async fn the_opponent_cannot_quote_itself_and_the_proposer_can_be_quoted() {
    let mut debate = Debate::opened().await;
    let own = "This sentence stands only in the opponent's own words.";
    debate.claims(Role::Opponent, own).await;
    debate
        .claims(Role::Proposer, "The worker sends one idempotency key.\n> A quote of another text")
        .await;
    let quoting = |line: &str| format!("### NEW [major] Title\n> {line}\nReason.");
    assert_eq!(debate.flaws(Role::Opponent, &quoting(own)).await, [(2, FlawCode::QuoteMissing)]);
    assert_eq!(
        debate.flaws(Role::Opponent, &quoting("A quote of another text")).await,
        [(2, FlawCode::QuoteMissing)],
        "quoted lines of an argument are no source"
    );
    let receipt = debate.claims(Role::Opponent, &quoting("sends one idempotency key")).await;
    let place = receipt.stated[0].quotes[0].place;
    assert_eq!(place, Some(QuotePlace::Argument { seq: Seq(3) }));
}

#[tokio::test]
async fn a_quote_of_an_earlier_version_is_outdated() {
    let mut debate = Debate::opened().await;
    debate.claims(Role::Opponent, "### NEW [minor] A title\nA reason.").await;
    debate.revises("30 days", "90 days").await;
    let plan = debate.plan;
    debate.claims(Role::Proposer, &format!("See doc_id={plan} (v2).")).await;
    let quoting = "### NEW [major] Title\n> Old rows are deleted after 30 days.\nReason.";
    assert_eq!(debate.flaws(Role::Opponent, quoting).await, [(2, FlawCode::QuoteOutdated)]);
    let minor = quoting.replace("major", "minor");
    let receipt = debate.claims(Role::Opponent, &minor).await;
    let quote = &receipt.stated[0].quotes[0];
    assert_eq!(quote.check, QuoteCheck::Outdated);
    assert_eq!(quote.place, Some(QuotePlace::Document { document: plan, version: 1 }));
}

#[tokio::test]
async fn deleting_a_document_changes_no_result() {
    let mut debate = Debate::opened().await;
    debate.engine.delete_document(debate.plan).await.unwrap();
    let receipt = debate.claims(Role::Opponent, OBJECTIONS).await;
    let found = receipt.stated.iter().flat_map(|stated| &stated.quotes);
    assert!(
        found.clone().count() == 2
            && found.into_iter().all(|quote| quote.check == QuoteCheck::Found)
    );
    debate.engine.verify(debate.id).await.unwrap();
}

#[tokio::test]
async fn two_servers_in_a_race_for_a_turn_number_each_point_once() {
    let debate = Debate::opened().await;
    let claim = |number: u32| {
        let text = format!("### NEW [minor] Point of request {number}\nReason.");
        saying(debate.id, Role::Opponent, Move::Claim { target: debate.newest }, &text)
    };
    let engine = &debate.engine;
    let (a, b) = tokio::join!(engine.execute(claim(1)), engine.execute(claim(2)));
    let loser = a.and(b).expect_err("one of them lost the race");
    assert!(matches!(loser, Failure::Refused { .. }), "{loser}");
    assert_eq!(debate.states().await, [PointState::Open]);
    engine.verify(debate.id).await.unwrap();
}

#[tokio::test]
async fn page_data_has_the_threads_of_all_points_whatever_its_window() {
    let mut debate = Debate::opened().await;
    debate.claims(Role::Opponent, OBJECTIONS).await;
    debate.claims(Role::Proposer, "### P1 [rejected] No.\n### P2 [deferred] Later.").await;
    let page = debate.engine.page_data(debate.id, None, 1).await.unwrap();
    assert_eq!((page.arguments.len(), page.stated.len()), (1, 5));
    let second = &page.points[1];
    assert_eq!((second.point.id, second.quotes.len()), (PointId(2), 1));
    let turns = second.turns.iter().map(|turn| (turn.seq.0, turn.role, turn.text.as_str()));
    let raised = "### NEW [major] Refunds need the old rows\n> Old rows are deleted after 30 days.\n\
        Refunds are possible for 90 days.";
    let expected = [(2, Role::Opponent, raised), (3, Role::Proposer, "### P2 [deferred] Later.")];
    assert!(turns.eq(expected), "{:?}", second.turns);
}
