//! The tools that read debates.

use aw_core::Role;
use serde::Deserialize;
use serde_json::json;

use super::Hand;
use super::next_call::{NextCall, NextCalls, WaitHabits};
use super::quoting::Answer;
use super::refusal::Refusal;
use super::results::{Context, Debates, QUOTED, Said};
use super::tool_args::Arguments;
use super::tools::Tool;
use super::transport::Call;
use crate::api::http::encoded;
use crate::api::types::{
    AvailableActions, CitedDocument, Debate, DebateListed, Presence, RulesOrigin,
};

/// What the API answers about a debate.
#[derive(Debug, Deserialize)]
struct Read {
    debate: Debate,
    motion: Said,
    arguments: Vec<Said>,
    rulings: Vec<Said>,
    documents: Vec<CitedDocument>,
    own_rules: bool,
    #[serde(default)]
    rules_origin: RulesOrigin,
    available_actions: AvailableActions,
    presence: Presence,
}

/// What the API answers to a list.
#[derive(Debug, Deserialize)]
struct Page {
    debates: Vec<DebateListed>,
    total: u64,
    total_is_exact: bool,
}

impl Hand {
    pub(super) async fn context(&self, given: &Arguments) -> Result<Answer, Refusal> {
        let debate = given.text("debate_id")?;
        let limit = given.whole("limit")?.unwrap_or(10);
        let named = |refusal: Refusal| refusal.with_id("debate_id", debate);
        let path = format!("/debates/{}", encoded(debate));
        // First what to do, then what was said: the advice never rests on a text that is not shown.
        let advice = match given.role(self.scope)? {
            Some(role) => {
                let poll = Call::Get(format!("{path}/poll?role={role}"));
                Some((role, self.way.call(poll).await.map_err(named)?))
            }
            None => None,
        };
        let read: Read = self.way.get(format!("{path}?limit={limit}")).await.map_err(named)?;
        let newest = read.arguments.last().unwrap_or(&read.motion).id;
        let hint;
        let mut action = None;
        let mut waits_on = None;
        let mut calls = NextCalls::default();
        match advice {
            Some((role, mut now)) => {
                if now["has_new_argument"] == false {
                    // Everything was just read, so the wait begins after the newest of it.
                    now["next_argument_id_to_wait"] = json!(newest);
                }
                calls = NextCalls::after(&now, debate, role.as_str(), WaitHabits::default());
                action = serde_json::from_value(now["action"].take()).ok();
                waits_on = serde_json::from_value(now["next_argument_id_to_wait"].take()).ok();
                let why = match read.rules_origin {
                    RulesOrigin::BuiltIn => None,
                    RulesOrigin::Creator => Some("its creator sent them along"),
                    RulesOrigin::Unknown => Some("they are those of its type"),
                };
                hint = why.map(|why| {
                    format!(
                        "the rules of this debate are not built in ({why}): \
                         read the resource aw://debates/{debate}/rules/{role}"
                    )
                });
            }
            None => {
                let how = "give role (proposer, opponent or arbitrator) to learn what to call next";
                hint = Some(how.to_owned());
            }
        }
        let url = self.way.url_of(debate);
        let mut words =
            format!("Debate {debate} ({}) is {}.\n", read.debate.debate_type, read.debate.state.0);
        if let Some(url) = &url {
            words.push_str(&format!("A person can watch and rule at {url}\n"));
        }
        for document in &read.documents {
            words.push_str(&format!(
                "It cites doc_id={} (v{}).\n",
                document.document_id.0, document.version
            ));
        }
        if let Some(hint) = &hint {
            words.push_str(&format!("Note: {hint}\n"));
        }
        if action.is_some() {
            words.push_str(&calls.words());
        }
        let context = Context {
            action,
            next: calls.next,
            alternatives: calls.others,
            hint,
            debate: read.debate,
            next_argument_id_to_wait: waits_on,
            available_actions: read.available_actions,
            presence: read.presence,
            url,
            own_rules: read.own_rules,
            rules_origin: read.rules_origin,
            documents: read.documents,
            motion: read.motion,
            rulings: read.rulings,
            arguments: read.arguments,
            quoted: QUOTED,
        };
        let titles: Vec<String> = std::iter::once(context.debate.title.clone())
            .chain(context.documents.iter().map(|document| {
                format!("{} (v{}): {}", document.document_id.0, document.version, document.summary)
            }))
            .collect();
        Ok(Answer::new(&context, words)
            .quoting("The title, and what the cited documents are called", &titles.join("\n"))
            .quoting_all(std::slice::from_ref(&context.motion))
            .quoting_all(&context.rulings)
            .quoting_all(&context.arguments))
    }

    pub(super) async fn debates(&self, given: &Arguments) -> Result<Answer, Refusal> {
        let limit = given.whole("limit")?.unwrap_or(50);
        let offset = given.whole("offset")?.unwrap_or(0);
        let (first, owed) =
            (given.flag("pending_first_opponent")?, given.flag("needs_arbitrator")?);
        let (state, kind) = (given.optional("state")?, given.optional("type")?);
        let search = given.optional("search")?;
        let mut path = format!("/debates?limit={limit}&offset={offset}");
        for (name, value) in [
            ("state", state),
            ("type", kind),
            ("q", search),
            ("pending_first_opponent", first.then_some("true")),
            ("needs_arbitrator", owed.then_some("true")),
        ] {
            if let Some(value) = value {
                path.push_str(&format!("&{name}={}", encoded(value)));
            }
        }
        let page: Page =
            self.way.get(path).await.map_err(|refusal| refusal.calling("q", "search"))?;
        let shown = page.debates.len() as u64;
        let has_more = offset.saturating_add(shown) < page.total;
        // The only one that waits for somebody is the one to take.
        let role = match (first, owed) {
            (true, false) => Some(Role::Opponent),
            (false, true) => Some(Role::Arbitrator),
            (true, true) | (false, false) => None,
        };
        // Somebody who is held to another role does not take it.
        let role = role.filter(|role| self.scope.role().is_none_or(|own| own == *role));
        let next = match (page.debates.as_slice(), role) {
            ([only], Some(role)) if page.total == 1 => Some(NextCall::new(
                Tool::DebateGetContext,
                json!({"debate_id": only.debate.id, "role": role.as_str(), "limit": 20}),
            )),
            _ if has_more && shown > 0 => Some(NextCall::new(
                Tool::DebateList,
                json!({
                    "state": state,
                    "type": kind,
                    "search": search,
                    "pending_first_opponent": first.then_some(true),
                    "needs_arbitrator": owed.then_some(true),
                    "limit": limit,
                    "offset": offset + shown,
                }),
            )),
            _ => None,
        };
        let mut words = format!("{} debates in all, {shown} of them here.\n", page.total);
        for listed in &page.debates {
            words.push_str(&format!(
                "{} {} {}, updated {}\n",
                listed.debate.id.0,
                listed.debate.debate_type,
                listed.debate.state.0,
                listed.debate.updated_at,
            ));
        }
        if let Some(next) = &next {
            words.push_str(&format!("Next: {}", next.words()));
        }
        let titles: Vec<String> = page
            .debates
            .iter()
            .map(|listed| format!("{}: {}", listed.debate.id.0, listed.debate.title))
            .collect();
        let (total, total_is_exact) = (page.total, page.total_is_exact);
        let debates = Debates {
            next,
            total,
            total_is_exact,
            has_more,
            debates: page.debates,
            quoted: QUOTED,
        };
        let answer = Answer::new(&debates, words);
        if titles.is_empty() {
            return Ok(answer);
        }
        Ok(answer.quoting("Their titles", &titles.join("\n")))
    }
}
