//! Debates with points over HTTP: the life of a point, and why a RESOLUTION is held.

use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Answer, DebateFor, World, text};

const MOTION: &str = "The worker retries the POST up to 3 times.";

/// A debate with one point, and its newest argument.
struct Story<'a> {
    debate: DebateFor<'a>,
    newest: String,
    state: String,
}

impl<'a> Story<'a> {
    /// A debate in which the opponent has raised P1 with this severity.
    async fn of(world: &'a World, severity: &str) -> Self {
        let fields = json!({"points": {"rounds": 20}, "motion_content": MOTION});
        let debate = world.debate_with("Charge retries", fields).await;
        let newest = debate.motion.clone();
        let mut story = Story { debate, newest, state: "AWAITING_OPPONENT".to_owned() };
        let raised =
            format!("### NEW [{severity}] A retry can charge twice\n> {MOTION}\nSend a key.");
        story.says("opponent", &raised).await;
        story
    }

    /// Sends a text as this role, which has the floor.
    async fn sends(&self, role: &str, words: &str) -> Answer {
        match role {
            "arbitrator" => self.debate.rule(json!({"content": words})).await,
            _ => self.debate.try_claim(role, &self.newest, words).await,
        }
    }

    fn goes_on(&mut self, written: &Value) {
        self.newest = text(&written["argument"]["id"]);
        self.state = text(&written["debate"]["state"]);
    }

    async fn says(&mut self, role: &str, words: &str) -> Value {
        let written = self.sends(role, words).await.created();
        self.goes_on(&written);
        written
    }

    /// Gives this role the floor, by words of the others that say nothing about points.
    async fn until(&mut self, role: &str) {
        loop {
            match (self.state.as_str(), role) {
                ("AWAITING_OPPONENT", "opponent")
                | ("AWAITING_PROPOSER", "proposer")
                | ("AWAITING_ARBITRATOR", "arbitrator") => return,
                ("AWAITING_OPPONENT", _) => self.says("opponent", "Nothing new.").await,
                ("AWAITING_PROPOSER", "arbitrator") => {
                    let asked = self.debate.ask("appeal", &self.newest, "Please rule.").await;
                    let written = asked.created();
                    self.goes_on(&written);
                    written
                }
                ("AWAITING_PROPOSER", _) => self.says("proposer", "Nothing new.").await,
                (state, _) => panic!("{state} is not expected"),
            };
        }
    }

    async fn point(&self) -> Value {
        let path = format!("/debates/{}/points/P1", self.debate.id);
        self.debate.world.get(&path).await.ok()["point"].take()
    }
}

#[tokio::test]
async fn a_word_changes_its_point_and_a_flawed_one_is_refused_with_what_is_allowed() {
    let world = World::start().await;
    let mut story = Story::of(&world, "critical").await;
    let before = story.point().await;
    let deferred = story.sends("proposer", "### P1 [deferred] Later").await;
    let error = deferred.refused(400, "INVALID_INPUT");
    assert_eq!((&error["field"], &error["flaws"][0]["code"]), (&json!("content"), &json!("word")));
    assert_eq!(error["flaws"][0]["allowed"], json!(["accepted", "rejected"]));
    assert_eq!(error["flaws"].as_array().unwrap().len(), 1);
    assert_eq!(story.point().await, before, "nothing is recorded");
    story.says("proposer", "### P1 [rejected] It cannot.").await;
    let held = story.says("opponent", "### P1 [open] It can.").await;
    assert_eq!(held["statements"][0]["state"], "open");
    let point = story.point().await;
    assert_eq!((&point["state"], &point["disputes"]), (&json!("open"), &json!(1)));
    assert_eq!(point["last_seq"], held["argument"]["seq"]);
}

#[tokio::test]
async fn the_ledger_and_the_arbitrators_wait_say_why_a_pending_resolution_is_held() {
    let world = World::start().await;
    let mut story = Story::of(&world, "minor").await;
    let pending = story.debate.ask("resolution", &story.newest, "Done.").await.created();
    assert_eq!(
        (&pending["held"], &pending["ledger"]["held"]),
        (&json!("not_agreed"), &json!("not_agreed"))
    );
    let waited = story.debate.wait("arbitrator", None, 0).await.ok();
    assert_eq!(
        (&waited["held"], &waited["ledger"]["held"]),
        (&json!("not_agreed"), &json!("not_agreed"))
    );
    let waited = story.debate.wait("opponent", None, 0).await.ok();
    assert_eq!((&waited["held"], &waited["ledger"]["held"]), (&json!(null), &json!("not_agreed")));
    assert_eq!(story.debate.context().await["ledger"]["held"], "not_agreed");
    let path = format!("/debates/{}/points", story.debate.id);
    let listed = world.get(&path).await.ok();
    assert_eq!(listed["ledger"]["held"], "not_agreed");

    // The RULING settles it, and an APPEAL is no RESOLUTION.
    story.state = "AWAITING_ARBITRATOR".to_owned();
    let ruled = story.says("arbitrator", "Not yet.").await;
    assert!(ruled["ledger"].get("held").is_none(), "{ruled}");
    story.until("arbitrator").await;
    let waited = story.debate.wait("arbitrator", None, 0).await.ok();
    assert!(waited.get("held").is_none() && waited["ledger"].get("held").is_none(), "{waited}");
}

#[tokio::test]
async fn the_ledger_names_the_versions_that_the_opponent_agrees_to() {
    let world = World::start().await;
    let plan = json!({"summary": "Retries", "content": MOTION});
    let plan = text(&world.post("/documents", plan).await.created()["document_id"]);
    let motion = format!("Please examine doc_id={plan} (v1).");
    let fields = json!({"points": true, "motion_content": motion});
    let debate = world.debate_with("Charge retries", fields).await;
    let agrees = format!("### VERDICT [agree]\n> {MOTION}");
    let written = debate.claim("opponent", &debate.motion, &agrees).await;
    let versions = json!([{"document_id": plan, "version": 1}]);
    assert_eq!(written["ledger"]["agreed_to"], versions);
    let answer = text(&written["argument"]["id"]);
    let next = debate.claim("proposer", &answer, "One more thing.").await;
    assert!(next["ledger"].get("agreed_to").is_none(), "{next}");
}

#[tokio::test]
async fn an_answer_lists_fifty_live_points_and_counts_the_rest() {
    let world = World::start().await;
    let mut story = Story::of(&world, "minor").await;
    let twelve = format!("### NEW [major] One more\n> {MOTION}\nWhy.\n").repeat(12);
    for _ in 0..5 {
        story.until("opponent").await;
        story.says("opponent", &twelve).await;
    }
    let context = story.debate.context().await;
    assert_eq!(context["points"].as_array().unwrap().len(), 50);
    assert_eq!((&context["points_omitted"], &context["ledger"]["alive"]), (&json!(11), &json!(61)));
    assert_eq!(context["points"][0]["id"], "P2", "the minor one does not block");
    let all = world.get(&format!("/debates/{}/points", story.debate.id)).await.ok();
    assert_eq!(all["points"].as_array().unwrap().len(), 61);
}

#[tokio::test]
async fn a_point_that_is_not_there_is_not_found_whatever_it_is_called() {
    let world = World::start().await;
    let story = Story::of(&world, "minor").await;
    for name in ["P2", "P0", "X", "P99999999999"] {
        let path = format!("/debates/{}/points/{name}", story.debate.id);
        let error = world.get(&path).await.refused(404, "POINT_NOT_FOUND");
        assert_eq!(error["point_id"], name);
    }
    let nobody = format!("/debates/{}/points/X", crate::world::new_id());
    world.get(&nobody).await.refused(404, "DEBATE_NOT_FOUND");
}

#[tokio::test]
async fn a_wait_with_twenty_live_points_stays_below_8_kb() {
    let world = World::start().await;
    let mut story = Story::of(&world, "minor").await;
    let title = "x".repeat(40);
    let mut answered = String::new();
    for count in [10, 9] {
        story.until("opponent").await;
        answered = story.newest.clone();
        let points = format!("### NEW [major] {title}\n> {MOTION}\nWhy.\n").repeat(count);
        story.says("opponent", &points).await;
    }
    let waited = story.debate.wait("proposer", Some(&answered), 0).await.ok();
    assert_eq!(waited["points"].as_array().unwrap().len(), 20);
    let whole = waited.to_string().len();
    let points = waited["points"].to_string().len() + waited["ledger"].to_string().len();
    assert!(whole <= 8_000 && points <= 5_400, "{whole} bytes, {points} of them for points");
}

#[tokio::test]
async fn the_severity_of_a_point_is_no_link_in_an_export() {
    let world = World::start().await;
    let mut story = Story::of(&world, "minor").await;
    story.until("opponent").await;
    let raised = format!("### NEW [major] [major]: x\n> {MOTION}\n[major]: https://example.org");
    story.says("opponent", &raised).await;
    let path = format!("/debates/{}/export", story.debate.id);
    let export = world.request(Method::GET, &path).send().await.unwrap().text().await.unwrap();
    assert!(export.contains("- P2 (major) \\[major\\]: x: open"), "{export}");
}
