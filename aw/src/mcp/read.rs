//! The tools that read debates.

use std::time::Duration;

use aw_core::{Role, State};

use super::Toolbox;
use super::inputs::{DebateGetContext, DebateList, DebateResult, Flag, Whole};
use super::next_call::{NextCall, NextCalls, NextWait, ToolSeat};
use super::points::{self, quoting_titles, with_titles};
use super::quoting::ToolAnswer;
use super::refusal::ToolRefusal;
use super::results::{Context, Debates, QUOTED, ReportPage, ToolArgument};
use super::tool_args::Arguments;
use super::tools::Tool;
use super::waiting::ended;
use crate::api::advice::Advice;
use crate::api::client::{self, DebateFilter, Waiter};
use crate::api::types::{DebateContext, Point, Poll, RulesOrigin};

impl Toolbox {
    pub(super) async fn report(&self, given: &Arguments) -> Result<ToolAnswer, ToolRefusal> {
        let input: DebateResult = given.parse()?;
        let debate = input.debate_id.as_str();
        let named = |refusal: ToolRefusal| refusal.with_id("debate_id", debate);
        let report = self.transport.send(&client::report(debate)).await.map_err(named)?;
        let mut words = format!("{}\n", report.sentence);
        for point in &report.points {
            let Point { id, severity, state, .. } = &point.point.point;
            let ended = point.ended.clone().unwrap_or_else(|| state.to_string());
            words.push_str(&format!("{} ({severity}): {ended}\n", id.0));
        }
        words.push_str(&report.trailer);
        let page = ReportPage { report, quoted: QUOTED };
        let titles: Vec<&Point> = page.report.points.iter().map(|one| &one.point.point).collect();
        let answer = ToolAnswer::new(&page, words).quoting("The title", &page.report.title);
        let mut answer = quoting_titles(answer, &titles);
        for ruling in &page.report.rulings {
            answer = answer.quoting(&format!("Argument {}, a RULING", ruling.seq), &ruling.content);
        }
        Ok(answer)
    }

    pub(super) async fn context(&self, given: &Arguments) -> Result<ToolAnswer, ToolRefusal> {
        let input: DebateGetContext = given.parse()?;
        let debate = input.debate_id.as_str();
        let limit = input.limit.map_or(10, |limit| limit.0);
        let named = |refusal: ToolRefusal| refusal.with_id("debate_id", debate);
        // First what to do, then what was said: the advice never rests on a text that is not shown.
        let poll = match given.role(self.scope)? {
            Some(role) => {
                let waiter = Waiter { debate, role: role.as_str(), after: None };
                let request = client::wait(waiter, Duration::ZERO);
                Some((role, self.transport.send(&request).await.map_err(named)?))
            }
            None => None,
        };
        let read: DebateContext =
            self.transport.send(&client::context(debate, limit)).await.map_err(named)?;
        let newest = read.arguments.last().unwrap_or(&read.motion).id;
        let hint;
        let mut action = None;
        let mut waits_on = None;
        let mut points = read.points;
        let mut calls = NextCalls::default();
        match poll {
            Some((role, poll)) => {
                let advice = match poll {
                    Poll::News(news) => {
                        action = Some(news.action.clone());
                        waits_on = Some(news.next_argument_id_to_wait);
                        let advice = Advice::after(&news);
                        // The ledger as this role needs it.
                        points.ledger = news.points.ledger.or(points.ledger);
                        advice
                    }
                    Poll::Nothing(nothing) => {
                        action = nothing.action;
                        // Everything was just read, so the wait begins after the newest of it.
                        waits_on = Some(newest);
                        Advice::wait(Some(newest))
                    }
                };
                calls = NextCalls::of(advice, ToolSeat { debate, role }, NextWait::default());
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
        let url = self.transport.url_of(debate);
        let mut words =
            format!("Debate {debate} ({}) is {}.\n", read.debate.debate_type, read.debate.state);
        match (&url, read.debate.state.known()) {
            (_, Some(State::Closed)) => words.push_str(&ended(read.debate.outcome.as_ref())),
            (Some(url), _) => words.push_str(&format!("A person can watch and rule at {url}\n")),
            (None, _) => {}
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
        let held = points.ledger.as_ref().and_then(|ledger| ledger.held.as_ref());
        words.push_str(&points::held_in_words(held));
        words.push_str(&points::in_words(&points, &read.debate.state));
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
            points,
            documents: read.documents,
            motion: read.motion.into(),
            rulings: read.rulings.into_iter().map(ToolArgument::from).collect(),
            arguments: read.arguments.into_iter().map(ToolArgument::from).collect(),
            quoted: QUOTED,
        };
        let titles: Vec<String> = std::iter::once(context.debate.title.clone())
            .chain(context.documents.iter().map(|document| {
                format!("{} (v{}): {}", document.document_id.0, document.version, document.summary)
            }))
            .collect();
        let answer = ToolAnswer::brief(&context, words)
            .quoting("The title, and what the cited documents are called", &titles.join("\n"))
            .quoting_all(std::slice::from_ref(&context.motion))
            .quoting_all(&context.rulings)
            .quoting_all(&context.arguments);
        Ok(with_titles(answer, &context.points))
    }

    pub(super) async fn debates(&self, given: &Arguments) -> Result<ToolAnswer, ToolRefusal> {
        let input: DebateList = given.parse()?;
        let (first, owed) =
            (Flag::is_set(input.pending_first_opponent), Flag::is_set(input.needs_arbitrator));
        let filter = DebateFilter {
            project_first: None,
            outcome: None,
            since: None,
            archived: false,
            state: input.state.as_deref(),
            debate_type: input.debate_type.as_deref(),
            search: input.search.as_deref(),
            pending_first_opponent: first,
            needs_arbitrator: owed,
            limit: input.limit.map_or(50, |limit| limit.0),
            offset: input.offset.map_or(0, |offset| offset.0),
        };
        let page = self.transport.send(&client::debates(&filter)).await;
        let page = page.map_err(|refusal| refusal.calling("q", "search"))?;
        let shown = page.debates.len() as u64;
        let has_more = filter.offset.saturating_add(shown) < page.total;
        // The only one that waits for somebody is the one to take.
        let role = match (first, owed) {
            (true, false) => Some(Role::Opponent),
            (false, true) => Some(Role::Arbitrator),
            (true, true) | (false, false) => None,
        };
        // A caller that is held to another role does not take it.
        let role = role.filter(|role| self.scope.role().is_none_or(|own| own == *role));
        let next = match (page.debates.as_slice(), role) {
            ([only], Some(role)) if page.total == 1 => {
                let read = DebateGetContext {
                    debate_id: only.debate.id.0.to_string(),
                    role: Some(role.as_str().to_owned()),
                    limit: Some(Whole(4)),
                };
                Some(NextCall::new(Tool::DebateGetContext, &read))
            }
            _ if has_more && shown > 0 => {
                let (limit, offset) = (Whole(filter.limit), Whole(filter.offset + shown));
                let more = DebateList {
                    pending_first_opponent: first.then_some(Flag(true)),
                    needs_arbitrator: owed.then_some(Flag(true)),
                    limit: Some(limit),
                    offset: Some(offset),
                    ..input
                };
                Some(NextCall::new(Tool::DebateList, &more))
            }
            _ => None,
        };
        let mut words = format!("{} debates in all, {shown} of them here.\n", page.total);
        for listed in &page.debates {
            words.push_str(&format!(
                "{} {} {}, updated {}\n",
                listed.debate.id.0,
                listed.debate.debate_type,
                listed.debate.state,
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
        let answer = ToolAnswer::brief(&debates, words);
        if titles.is_empty() {
            return Ok(answer);
        }
        Ok(answer.quoting("Their titles", &titles.join("\n")))
    }
}
