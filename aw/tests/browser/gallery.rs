//! Every page in every state that it knows, hung for those who look at all of them.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::api::guarded_server::GuardedServer;
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

> Who reads is never held up by who writes.

See [the plan](https://example.com/plan) and doc_id=";

const LONG: &str = "The batch is written in one transaction, and whoever waits for one of its \
entries is told after the commit, never before it. That costs the slowest of them a millisecond \
and saves the disk nine syncs out of ten.";

/// A page to look at.
pub struct Exhibit {
    pub name: &'static str,
    pub path: String,
}

/// Fills a world with debates and documents of every kind; the pages that show them.
pub async fn hang(world: &World) -> Vec<Exhibit> {
    let mut hung = Vec::new();
    let mut show = |name: &'static str, path: String| hung.push(Exhibit { name, path });
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

    let gone = world.debate("To be deleted").await;
    world.delete(&format!("/debates/{}", gone.id)).await.ok();
    show("debate-deleted", format!("/debate/{}", gone.id));
    assert!(!claim.is_empty());

    world.pass(Duration::from_secs(95));
    show("list", "/".to_owned());
    show("list-nothing-found", "/?q=zzzz".to_owned());
    show("list-deleted", "/?deleted=1".to_owned());
    hung
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

/// A debate in which the opponent has answered, and that answer.
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

/// A debate of ten rounds, the proposer's turn, and what it answers.
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

/// A page as somebody sees it who has signed in with this token; without one, a stranger.
pub struct Seated {
    pub name: &'static str,
    pub token: Option<String>,
    pub path: String,
}

/// The pages that look different from seat to seat.
pub async fn hang_by_seat(house: &GuardedServer) -> Vec<Seated> {
    let long = "The laptop of An, which stands in the kitchen and argues with everybody who comes";
    let (an, _) = house.seat(json!({"role": "arbitrator", "name": "An"})).await;
    let (codex, _) = house.seat(json!({"role": "arbitrator", "name": "codex at An's"})).await;
    let (named, _) = house.seat(json!({"role": "arbitrator", "name": &long[..80]})).await;
    let (proposer, _) = house.seat(json!({"role": "proposer", "name": "Bo"})).await;
    let owed = house.appealed("May the import stop the server?").await;
    let ruled = house.appealed("Whose hand was it?").await;
    let stop = json!({"content": "You argue about the wrong thing."});
    let fields = json!({"role": "observer", "name": "Dung", "debate_id": ruled});
    let (observer, _) = house.seat(fields).await;

    let page = format!("/debate/{ruled}");
    let guest = house.guest(&an).await;
    let target = guest.sees(&page).await.hidden("target");
    let ruling = [("words", "Option A."), ("request", &new_id()), ("target", &target)];
    assert_eq!(guest.sends(&format!("{page}/rule"), &ruling).await.status, 303);
    for (what, body) in
        [("intervention", stop), ("ruling", json!({"content": "Then argue about X."}))]
    {
        house.ask(&codex, Method::POST, &format!("/debates/{ruled}/{what}"), body).await.created();
    }
    let mut body =
        json!({"client_request_id": new_id(), "content": "Done.", "author": "codex 0.166"});
    let newest = guest.sees(&format!("/debates/{ruled}/export?format=json")).await.body;
    let newest: Value = serde_json::from_str(&newest).unwrap();
    body["target_id"] = newest["arguments"].as_array().unwrap().last().unwrap()["id"].clone();
    let resolution = format!("/debates/{ruled}/resolution");
    house.ask(&proposer, Method::POST, &resolution, body).await.created();

    let seated =
        |name, token: Option<&String>, path: String| Seated { name, token: token.cloned(), path };
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
