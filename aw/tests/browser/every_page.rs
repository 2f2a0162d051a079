//! Every page in every state that it knows, pages for those who look at all of them.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::api::token_server::TokenServer;
use crate::world::{DebateFor, World, new_id, text};

/// An APPEAL as the proposer's command prescribes it.
pub const APPEAL: &str = "## Context
Whether the import may **stop the server** for a minute.
## Proposer's position
One minute at night is cheaper than a second code path.
## Opponent's position
Agents that wait are cut off, and their hosts give up.
## Options
1. **Option A:** Stop the server; say so a day before
2. **Option B:** Import while it runs, slowly
3. **Option C:** Stop it, but only when nobody waits
4. **Option D:** Another way, which the Arbitrator describes
";

const MOTION: &str = "We move the record from PostgreSQL to **one SQLite file**.

| what | before | after |
|:--|--:|--:|
| processes | 3 | 1 |
| backup | `pg_dump` | `aw backup` |

- [x] measured: 2,000 writes a second
- [ ] the import of old debates

```rust
fn append(&self, entry: &Entry) -> Result<Seq, Fault> {
    // One writer, so the order is the order.
    self.write(|batch| batch.push(entry))
}
```

> Readers never wait for writers.

See [the plan](https://example.com/plan) and doc_id=";

const LONG: &str = "The batch is written in one transaction. Waiters get an answer after the commit, \
never before it. That costs the slowest of them a millisecond and saves the disk nine syncs out of ten.";

/// A page in one state.
pub struct PageState {
    pub name: &'static str,
    pub path: String,
}

/// Fills a world with debates and documents of every kind, and returns the pages that show them.
pub async fn every_page(world: &World) -> Vec<PageState> {
    let mut pages = Vec::new();
    let mut show = |name: &'static str, path: String| pages.push(PageState { name, path });
    show("sign-in", "/sign-in".to_owned());
    show("new", "/new".to_owned());
    show("not-found", "/debate/nowhere".to_owned());
    show("no-such-debate", format!("/debate/{}", new_id()));
    show("no-such-document", format!("/doc/{}", new_id()));

    let plan = document(world).await;
    show("document", format!("/doc/{plan}"));
    show("document-old", format!("/doc/{plan}?version=1"));
    show("document-plain", format!("/doc/{plan}?plain=1"));
    show("document-changes", format!("/doc/{plan}?from=1&to=2"));

    let opened = opened(world, "Keep one SQLite file?", &plan, "coding_plan_debate").await;
    show("debate-opened", format!("/debate/{}", opened.id));
    show("debate-to-paste", format!("/debate/{}?new=1", opened.id));
    show("debate-delete", format!("/debate/{}/delete", opened.id));

    let claimed =
        opened_with_claim(world, "Should the page be written by the server?", &plan).await;
    show("debate-claimed", format!("/debate/{}", claimed.0.id));

    let (appealed, last) = long(world, &plan).await;
    appealed.ask("appeal", &last, APPEAL).await.created();
    show("debate-appealed", format!("/debate/{}", appealed.id));

    let asks = json!({"resolution_policy": "arbitrator"});
    let held = world.debate_with("Who may close a debate?", asks).await;
    let claim =
        text(&held.claim("opponent", &held.motion, "Nothing to add.").await["argument"]["id"]);
    held.ask("resolution", &claim, "## Summary\nSettled: the arbitrator.").await.created();
    show("debate-held", format!("/debate/{}", held.id));

    let (stopped, claim) = opened_with_claim(world, "Rewrite it in another language?", &plan).await;
    let reason = json!({"content": "You argue about the wrong thing."});
    world.post(&format!("/debates/{}/intervention", stopped.id), reason).await.created();
    show("debate-stopped", format!("/debate/{}", stopped.id));
    show("debate-just-stopped", format!("/debate/{}?stopped=1", stopped.id));

    let (parked, target) = opened_with_claim(world, "Is a minute too long?", &plan).await;
    parked.intervene().await.created();
    parked.claim("proposer", &target, "What I had in hand when I was stopped.").await;
    show("debate-parked", format!("/debate/{}", parked.id));

    let (closed, claim_of_closed) = opened_with_claim(world, "Tabs or spaces?", &plan).await;
    closed.ask("appeal", &claim_of_closed, APPEAL).await.created();
    let ruling = json!({"content": "Option B: import while it runs, slowly.", "close": true});
    closed.rule(ruling).await.created();
    show("debate-closed", format!("/debate/{}", closed.id));
    show("debate-just-ruled", format!("/debate/{}?ruled=4", closed.id));

    let points = PointDebate::disputed(world).await;
    show("debate-points", format!("/debate/{}", points.debate.id));
    show("document-lines", format!("/doc/{}?version=1&lines=3-4", points.plan));
    let points = PointDebate::appealed(world).await;
    show("debate-points-appealed", format!("/debate/{}", points.debate.id));
    let points = PointDebate::opened(world, json!({"points": true})).await;
    points.says("opponent", "I know nothing of points.").await;
    points.completes("Settled.").await;
    show("debate-points-held", format!("/debate/{}", points.debate.id));
    let points = PointDebate::opened(world, json!({"points": true})).await;
    points.says("opponent", RESOLVED).await;
    points.completes("Settled.").await;
    show("debate-points-agreed", format!("/debate/{}", points.debate.id));
    let points = PointDebate::appealed(world).await;
    points.debate.rule(json!({"content": LEFT_OPEN, "close": true})).await.created();
    show("debate-points-left-open", format!("/debate/{}", points.debate.id));

    let gone = world.debate("To be deleted").await;
    world.delete(&format!("/debates/{}", gone.id)).await.ok();
    show("debate-deleted", format!("/debate/{}", gone.id));
    assert!(!claim.is_empty());

    world.pass(Duration::from_secs(95));
    show("list", "/".to_owned());
    show("list-nothing-found", "/?q=zzzz".to_owned());
    show("list-deleted", "/?deleted=1".to_owned());
    pages
}

async fn document(world: &World) -> String {
    let first = json!({
        "summary": "The plan: one SQLite file", "author": "An",
        "content": "# Plan\n\nThree processes become one.\n\n1. Write the store\n2. Import\n3. Switch\n",
    });
    let id = text(&world.post("/documents", first).await.created()["document_id"]);
    world.pass(Duration::from_secs(40));
    let second = json!({
        "summary": "The import no longer stops the server", "author": "An",
        "content": "# Plan\n\nThree processes become one.\n\n1. Write the store\n2. Import slowly, while it runs\n3. Switch over\n4. Measure\n",
    });
    world.post(&format!("/documents/{id}/versions"), second).await.created();
    id
}

async fn opened<'a>(world: &'a World, title: &str, plan: &str, kind: &str) -> DebateFor<'a> {
    let fields = json!({"motion_content": format!("{MOTION}{plan} (v1)"), "debate_type": kind});
    let debate = world.debate_with(title, fields).await;
    world.pass(Duration::from_secs(61));
    debate
}

/// A debate in which the opponent has answered, and the id of the answer.
async fn opened_with_claim<'a>(
    world: &'a World,
    title: &str,
    plan: &str,
) -> (DebateFor<'a>, String) {
    let debate = opened(world, title, plan, "general_debate").await;
    let words = "**C1 (critical):** the import blocks.\n\nWho waits is cut off, see §2.";
    let claim = id_of(&debate.claim("opponent", &debate.motion, words).await);
    world.pass(Duration::from_secs(30));
    (debate, claim)
}

/// A debate of ten rounds that waits for the proposer, and the id of its newest argument.
async fn long<'a>(world: &'a World, plan: &str) -> (DebateFor<'a>, String) {
    let debate = opened(world, "May the import stop the server?", plan, "coding_plan_debate").await;
    let mut last = debate.motion.clone();
    for turn in 0..19 {
        let role = ["opponent", "proposer"][turn % 2];
        let words = match turn {
            4 => format!("## All of it\n\n{}", [LONG; 40].join("\n\n")),
            _ => format!("Point {turn}. {LONG}"),
        };
        last = id_of(&debate.claim(role, &last, &words).await);
        world.pass(Duration::from_secs(45));
    }
    (debate, last)
}

fn id_of(written: &Value) -> String {
    text(&written["argument"]["id"])
}

/// A page for a person who has signed in with this token, or has not signed in.
pub struct SeatPage {
    pub name: &'static str,
    pub token: Option<String>,
    pub path: String,
}

/// The pages that differ from seat to seat.
pub async fn every_page_by_seat(server: &TokenServer) -> Vec<SeatPage> {
    let long = "The laptop of An, which stands in the kitchen and argues with all of its visitors.";
    let (an, _) = server.seat(json!({"role": "arbitrator", "name": "An"})).await;
    let (codex, _) = server.seat(json!({"role": "arbitrator", "name": "codex at An's"})).await;
    let (named, _) = server.seat(json!({"role": "arbitrator", "name": &long[..80]})).await;
    let (proposer, _) = server.seat(json!({"role": "proposer", "name": "Bo"})).await;
    let owed = server.appealed("May the import stop the server?").await;
    let ruled = server.appealed("Who ruled?").await;
    let stop = json!({"content": "You argue about the wrong thing."});
    let fields = json!({"role": "observer", "name": "Dung", "debate_id": ruled});
    let (observer, _) = server.seat(fields).await;

    let page = format!("/debate/{ruled}");
    let guest = server.guest(&an).await;
    let target = guest.sees(&page).await.hidden("target");
    let ruling = [("words", "Option A."), ("request", &new_id()), ("target", &target)];
    assert_eq!(guest.sends(&format!("{page}/rule"), &ruling).await.status, 303);
    for (what, body) in
        [("intervention", stop), ("ruling", json!({"content": "Then argue about X."}))]
    {
        server.ask(&codex, Method::POST, &format!("/debates/{ruled}/{what}"), body).await.created();
    }
    let mut body =
        json!({"client_request_id": new_id(), "content": "Done.", "author": "codex 0.166"});
    let newest = guest.sees(&format!("/debates/{ruled}/export?format=json")).await.body;
    let newest: Value = serde_json::from_str(&newest).unwrap();
    body["target_id"] = newest["arguments"].as_array().unwrap().last().unwrap()["id"].clone();
    let resolution = format!("/debates/{ruled}/resolution");
    server.ask(&proposer, Method::POST, &resolution, body).await.created();

    let seated =
        |name, token: Option<&String>, path: String| SeatPage { name, token: token.cloned(), path };
    vec![
        seated("link-used-up", None, "/sign-in/link?code=x".to_owned()),
        seated("seat-arbitrator-owes", Some(&an), format!("/debate/{owed}")),
        seated("seat-arbitrator-list", Some(&named), "/".to_owned()),
        seated("seat-hands", Some(&named), page.clone()),
        seated("seat-proposer-new", Some(&proposer), "/new".to_owned()),
        seated("seat-proposer-owed", Some(&proposer), format!("/debate/{owed}")),
        seated("seat-observer-debate", Some(&observer), page),
        seated("seat-observer-list", Some(&observer), "/".to_owned()),
        seated("seat-observer-forbidden", Some(&observer), "/new".to_owned()),
    ]
}

/// A CLAIM of an opponent that has read the plan and agrees.
pub const RESOLVED: &str = "### VERDICT [agree]
> # Charge retries
> 1. The worker retries the POST up to 3 times.
> 2. Old rows are deleted after 30 days.
Read all of it.";

/// A RULING that dismisses a point and leaves another open.
pub const LEFT_OPEN: &str = "### P2 [dismissed] The ledger service keeps them.\n\
    ### NEW [major] Name the owner\nNobody is named.";

pub const RETRIES: &str = "# Charge retries\n\n1. The worker retries the POST up to 3 times.\n2. Old rows are deleted after 30 days.\n";

/// A debate with points about a document.
pub struct PointDebate<'a> {
    pub debate: DebateFor<'a>,
    pub plan: String,
}

impl<'a> PointDebate<'a> {
    /// A debate that waits for its opponent, opened with these fields.
    pub async fn opened(world: &'a World, mut fields: Value) -> Self {
        let plan = json!({"summary": "Charge retries", "content": RETRIES});
        let plan = text(&world.post("/documents", plan).await.created()["document_id"]);
        fields["motion_content"] = format!("Please examine doc_id={plan} (v1).").into();
        PointDebate { debate: world.debate_with("Charge retries", fields).await, plan }
    }

    /// A debate of four arguments in which P2 blocks, and P1 and P3 are over.
    pub async fn disputed(world: &'a World) -> Self {
        let made = Self::opened(world, json!({"points": true})).await;
        let claim = "### VERDICT [object]\nTwo ways to lose money.\n\
            ### NEW [critical] A retry can charge twice\n\
            > The worker retries the POST up to 3 times.\n\
            A time-out after the charge charges again.\n\
            ### NEW [major] Refunds need the old rows\n\
            > Old rows are deleted after 30 days.\n\
            Refunds are possible for 90 days.\n\
            ### NEW [minor] How long does a retry wait?\n\
            > up to 3 times\n\
            Say it, or link the policy.";
        made.says("opponent", claim).await;
        let mended = RETRIES.replace("3 times.", "3 times, with one key a payment.");
        let version = made.next_version(&mended).await;
        let answer = format!(
            "### P1 [accepted] One key a payment. doc_id={} (v{version})\n\
            ### P2 [rejected] Refunds read the ledger service, not these rows.\n\
            > pub fn refund(entry: ledger::Entry) {{\n— src/refund.rs\n\
            ### P3 [deferred] The retry policy is a plan of its own.",
            made.plan
        );
        made.says("proposer", &answer).await;
        let held = "### P1 [resolved] Read v2.\n> The worker retries the POST up to 3 times.\n\
            ### P2 [open]\nThe ledger service keeps 30 days too.\n\
            ### P3 [resolved] Fine.\n### VERDICT [object]";
        made.says("opponent", held).await;
        made
    }

    /// The same debate with an APPEAL.
    pub async fn appealed(world: &'a World) -> Self {
        let made = Self::disputed(world).await;
        made.asks("appeal", APPEAL).await;
        made
    }

    async fn newest(&self) -> String {
        let context = self.debate.context().await;
        let newest = context["arguments"].as_array().and_then(|all| all.last().cloned());
        newest.map_or_else(|| self.debate.motion.clone(), |newest| text(&newest["id"]))
    }

    /// Submits a CLAIM that answers the newest argument.
    pub async fn says(&self, role: &str, words: &str) {
        self.debate.claim(role, &self.newest().await, words).await;
        self.debate.world.pass(Duration::from_secs(40));
    }

    /// Submits an APPEAL or a RESOLUTION that answers the newest argument.
    pub async fn asks(&self, what: &str, words: &str) {
        self.debate.ask(what, &self.newest().await, words).await.created();
    }

    /// Asks to complete the debate.
    pub async fn completes(&self, words: &str) {
        self.asks("resolution", words).await;
    }

    /// Submits a version of the plan and returns its number.
    pub async fn next_version(&self, content: &str) -> u64 {
        let body = json!({"summary": "Mended", "content": content});
        let path = format!("/documents/{}/versions", self.plan);
        self.debate.world.post(&path, body).await.created()["version"].as_u64().unwrap()
    }
}
