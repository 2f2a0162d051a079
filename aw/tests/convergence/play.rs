//! Plays one debate to its end, or until nobody would wait any longer.

use serde_json::{Value, json};

use super::roles::{Adversary, DEFECTS, PLAN, ProposerMove};
use crate::world::{DebateFor, World, driver, new_id, text};

/// After this many rounds a debate counts as one that does not end.
const PATIENCE: usize = 12;

/// What came of a debate.
pub struct Played {
    pub rounds: usize,
    pub rulings: usize,
    pub outcome: String,
    pub lost: String,
    /// What the server refused, held or marked, each once.
    pub met: Vec<String>,
}

/// A live point that waits for a word of the role.
pub struct Owed {
    pub id: String,
    pub title: String,
    pub state: String,
    pub unchanged: bool,
}

/// What a role sees on its move.
pub struct Seen {
    /// The number of the opponent's next CLAIM, from 1.
    pub round: usize,
    pub rulings: usize,
    /// The newest version that was cited.
    pub plan: String,
    /// The newest text of the other side.
    pub newest: String,
    /// The type of the newest argument.
    pub kind: String,
    pub action: String,
    /// The points of the role; `None` in a debate without points.
    pub owed: Option<Vec<Owed>>,
    /// All live points.
    pub live: Vec<(String, String)>,
    /// The server's advice.
    pub advice: Option<String>,
    /// How often the opponent has raised each title.
    pub raised: Vec<String>,
}

struct Scene<'a> {
    world: &'a World,
    debate: DebateFor<'a>,
    document: String,
    /// The versions of the plan.
    versions: Vec<String>,
    newest: Newest,
    rounds: usize,
    rulings: usize,
    raised: Vec<String>,
    met: Vec<String>,
}

/// The newest argument.
struct Newest {
    id: String,
    kind: &'static str,
    text: String,
}

/// Plays a debate with this adversary.
pub async fn debate(world: &World, adversary: Adversary, with_points: bool) -> Played {
    let body = json!({"summary": "Plan", "content": PLAN, "client_request_id": new_id()});
    let document = text(&world.post("/documents", body).await.created()["document_id"]);
    let motion = format!("Please examine doc_id={document} (v1).");
    let opening = json!({"motion_content": motion, "points": with_points});
    let debate = world.debate_with(adversary.name(), opening).await;
    let newest = Newest { id: debate.motion.clone(), kind: "MOTION", text: motion };
    let versions = vec![PLAN.to_owned()];
    let mut scene = Scene {
        world,
        debate,
        document,
        versions,
        newest,
        rounds: 0,
        rulings: 0,
        raised: Vec::new(),
        met: Vec::new(),
    };
    let mut slipped = false;
    loop {
        let context = scene.debate.context().await;
        match text(&context["debate"]["state"]).as_str() {
            "AWAITING_OPPONENT" if scene.rounds == PATIENCE => break,
            "AWAITING_OPPONENT" => scene.opponent(adversary).await,
            "AWAITING_PROPOSER" => scene.proposer(adversary, &mut slipped).await,
            "AWAITING_ARBITRATOR" => scene.arbitrator().await,
            _ => break,
        }
    }
    scene.end().await
}

impl Scene<'_> {
    async fn seen(&self, role: &str) -> Seen {
        let poll = self.debate.poll(role, None).await.ok();
        let live: Vec<&Value> = poll["points"].as_array().into_iter().flatten().collect();
        let owed = poll["ledger"].as_object().map(|ledger| {
            let is_owed = |point: &&&Value| {
                ledger["yours"].as_array().is_some_and(|yours| yours.contains(&point["id"]))
            };
            live.iter().filter(is_owed).map(|point| Owed::of(point)).collect()
        });
        Seen {
            round: self.rounds + 1,
            rulings: self.rulings,
            plan: self.versions.last().unwrap().clone(),
            newest: self.newest.text.clone(),
            kind: self.newest.kind.to_owned(),
            action: text(&poll["action"]),
            owed,
            live: live.iter().map(|point| (text(&point["id"]), text(&point["title"]))).collect(),
            advice: poll["ledger"]["advice"]["do"].as_str().map(str::to_owned),
            raised: self.raised.clone(),
        }
    }

    /// Lets the opponent try its texts in turn.
    async fn opponent(&mut self, adversary: Adversary) {
        for content in adversary.claims(&self.seen("opponent").await) {
            let answer = self.debate.try_claim("opponent", &self.newest.id, &content).await;
            if answer.status.is_success() {
                let titles = content.lines().filter_map(|line| line.strip_prefix("### NEW ["));
                self.raised.extend(titles.map(str::to_owned));
                self.rounds += 1;
                return self.note("CLAIM", content, &answer.created());
            }
            self.refused("CLAIM", &answer.refused(400, "INVALID_INPUT"));
        }
        panic!("{adversary:?} knows nothing more to write");
    }

    /// Lets the proposer try its moves in turn.
    async fn proposer(&mut self, adversary: Adversary, slipped: &mut bool) {
        let seen = self.seen("proposer").await;
        if seen.advice.as_deref() == Some("appeal") {
            self.meet("advice: appeal");
        }
        for action in adversary.answers(&seen, slipped) {
            let (kind, words, plan) = match action {
                ProposerMove::Claim(words, plan) => ("CLAIM", words, plan),
                ProposerMove::Appeal => ("APPEAL", "1. Yes 2. No 3. Another way".to_owned(), None),
                ProposerMove::Complete(plan) => ("RESOLUTION", "Done: {cite}".to_owned(), plan),
            };
            if let Some(plan) = plan {
                self.revise(plan).await;
            }
            let cite = format!("doc_id={} (v{})", self.document, self.versions.len());
            let words = words.replace("{cite}", &cite);
            let target = self.newest.id.clone();
            let answer = match kind {
                "CLAIM" => self.debate.try_claim("proposer", &target, &words).await,
                "APPEAL" => self.debate.ask("appeal", &target, &words).await,
                _ => self.debate.ask("resolution", &target, &words).await,
            };
            if answer.status.is_success() {
                return self.note(kind, words, &answer.created());
            }
            self.refused(kind, &answer.body["error"]);
        }
        panic!("{adversary:?} knows no other move");
    }

    /// A careful person rules: upholds what is wrong, dismisses the rest, and reads the plan of a
    /// RESOLUTION. With the second RULING on an APPEAL the debate is over.
    async fn arbitrator(&mut self) {
        let seen = self.seen("arbitrator").await;
        let stands = |title: &str| {
            DEFECTS.iter().any(|defect| defect.title == title && seen.plan.contains(defect.line))
        };
        let mut words = "## Decision\nAs follows.\n".to_owned();
        let close = if seen.kind == "RESOLUTION" {
            let unseen = DEFECTS.iter().filter(|defect| stands(defect.title));
            let unseen = unseen.map(|it| format!("### NEW [major] {}\nMend it.\n", it.title));
            let unseen: Vec<String> = unseen.collect();
            words.push_str(&unseen.concat());
            unseen.is_empty()
        } else {
            for (id, title) in &seen.live {
                let word = if stands(title) { "upheld" } else { "dismissed" };
                words.push_str(&format!("### {id} [{word}] So it is.\n"));
            }
            seen.rulings > 0
        };
        let target = &self.newest.id;
        let body = json!({"content": words, "close": close, "target_id": target});
        let answer = self.debate.rule(body).await.created();
        self.rulings += 1;
        self.note("RULING", words, &answer);
    }

    async fn revise(&mut self, plan: String) {
        let body = json!({"summary": "Next", "content": plan, "client_request_id": new_id()});
        let path = format!("/documents/{}/versions", self.document);
        self.world.post(&path, body).await.created();
        self.versions.push(plan);
    }

    fn meet(&mut self, what: &str) {
        if !self.met.iter().any(|met| met == what) {
            self.met.push(what.to_owned());
        }
    }

    fn refused(&mut self, kind: &str, error: &Value) {
        match (text(&error["code"]).as_str(), kind) {
            ("INVALID_INPUT", _) => {
                for flaw in error["flaws"].as_array().unwrap() {
                    self.meet(&format!("`{}`", text(&flaw["code"])));
                }
            }
            ("ACTION_NOT_ALLOWED", "CLAIM") => self.meet("rounds used"),
            ("ACTION_NOT_ALLOWED", "RESOLUTION") => self.meet("points block"),
            other => panic!("{other:?}: {error}"),
        }
    }

    fn note(&mut self, kind: &'static str, text: String, written: &Value) {
        for mark in ["late", "unchanged"] {
            let points = written["points"].as_array();
            if points.is_some_and(|points| points.iter().any(|point| point[mark] == true)) {
                self.meet(&format!("`{mark}`"));
            }
        }
        if let Some(held) = written["held"].as_str() {
            self.meet(&format!("held: `{held}`"));
        }
        self.newest = Newest { id: driver::id(written), kind, text };
    }

    async fn end(&self) -> Played {
        let context = self.debate.context().await;
        let outcome = context["debate"]["outcome"].as_str().unwrap_or("still open").to_owned();
        let plan = self.versions.last().unwrap();
        let live = context["points"].as_array().cloned().unwrap_or_default();
        let standing = DEFECTS.iter().filter(|defect| plan.contains(defect.line));
        let (known, unseen): (Vec<_>, Vec<_>) =
            standing.partition(|it| live.iter().any(|point| point["title"] == it.title));
        let lost = match (known.len(), unseen.len()) {
            _ if outcome == "still open" => "the end".to_owned(),
            (0, 0) => "nothing".to_owned(),
            (known, 0) => format!("{known} of {} defects, listed as left open", DEFECTS.len()),
            (_, unseen) => format!("{unseen} of {} defects", DEFECTS.len()),
        };
        Played { rounds: self.rounds, rulings: self.rulings, outcome, lost, met: self.met.clone() }
    }
}

impl Owed {
    fn of(point: &Value) -> Self {
        Owed {
            id: text(&point["id"]),
            title: text(&point["title"]),
            state: text(&point["state"]),
            unchanged: point["unchanged"] == true,
        }
    }
}
