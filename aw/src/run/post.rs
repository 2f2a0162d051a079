//! Makes a final message an argument of the debate, and writes the arguments that need no model.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use aw_core::{DebateId, FlawCode, Kind, RequestId, Role, Subject, statements};

use super::drive::Floor;
use super::prompt::{self, Scene};
use super::turn::{AgentAnswer, Posted};
use super::watch::Seen;
use super::{Exit, RunStopped, Runner, copies, folder, words};
use crate::api::client::{self, Request, derived_id};
use crate::api::error::Code;
use crate::api::http::Trouble;
use crate::api::types::{
    Argument, CheckMove, DebateContext, KeptVersion, Point, PointIdText, QuotedPoint, SubmitClaim,
    SubmitDocument, SubmitRequest, SubmitRuling, Written,
};
use crate::kit::quoting::{harmless, quoted};
use crate::kit::rules::Rules;
use crate::kit::texts::{BuiltIn, Language};

/// The longest final message, in bytes: the rest of an argument is for the line that cites the plan.
pub(super) const LONGEST: usize = 9_500;

/// The move that a final message asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Claim,
    Appeal,
    Ruling,
    Close,
}

impl Runner {
    /// The prompt of a turn: the whole debate for a new session, else only the news.
    pub(super) fn prompt(
        &self,
        seat: Role,
        floor: &Floor,
        is_later: bool,
    ) -> Result<String, RunStopped> {
        let plan = self.plan_in_copy();
        let rules = self.rules(seat)?;
        let scene = Scene {
            seat,
            debate_language: &self.debate_language,
            plan: plan.as_deref(),
            rules: &rules,
            points: &floor.points,
        };
        if !is_later {
            return Ok(scene.whole(&floor.said));
        }
        let knows = self.seat(seat).knows_seq;
        let new: Vec<Argument> = floor.said.iter().filter(|one| one.seq > knows).cloned().collect();
        Ok(scene.later(&new, self.diff_since(knows, &floor.said)?.as_deref()))
    }

    /// The rules of the debate's type for this seat, with their origin.
    fn rules(&self, seat: Role) -> Result<String, RunStopped> {
        let kind = self.ask(&client::type_of(&self.state.debate_id))?;
        let built_in = BuiltIn::named(&kind.debate_type).unwrap_or(BuiltIn::General);
        let rules = match &kind.type_texts {
            Some(texts) => Rules::of_creator(&kind.debate_type, seat, texts.of(seat)),
            None => Rules::built_in(built_in, seat, Language::English),
        };
        Ok(rules.shown(Language::English))
    }

    /// The change of the plan since the argument at this place.
    fn diff_since(&self, knows: u64, said: &[Argument]) -> Result<Option<String>, RunStopped> {
        let Some(document) = self.document() else { return Ok(None) };
        let newest = self.cited(document, said)?;
        let seen = cited(document, newest, said.iter().filter(|one| one.seq <= knows));
        if seen >= newest {
            return Ok(None);
        }
        Ok(Some(self.ask(&client::diff(document, Some(seen), Some(newest)))?.diff))
    }

    /// The plan's document, once it is made.
    pub(super) fn document(&self) -> Option<&str> {
        self.state.plan.as_ref()?.document_id.as_deref()
    }

    /// The path of the plan in a copy.
    pub(super) fn plan_in_copy(&self) -> Option<String> {
        let plan = self.state.plan.as_ref()?;
        Some(plan.relative.to_string_lossy().into_owned())
    }

    fn newest_version(&self, document: &str) -> Result<u64, RunStopped> {
        Ok(self.ask(&client::document(document, None, true))?.newest_version)
    }

    /// The newest version of the plan that these arguments cite. A newer one may be there: its text was
    /// refused, and the proposer may have taken it back.
    pub(super) fn cited<'a>(
        &self,
        document: &str,
        said: impl IntoIterator<Item = &'a Argument>,
    ) -> Result<u64, RunStopped> {
        Ok(cited(document, self.newest_version(document)?, said))
    }

    /// The version of the plan that the proposer works on. A parked text cites nothing, but its plan
    /// stays in the proposer's hands until a CLAIM counts.
    fn in_hand(&self, document: &str, said: &[Argument]) -> Result<u64, RunStopped> {
        let counts = |one: &Argument| {
            !one.parked && matches!(one.kind.known(), Some(Kind::Motion | Kind::Claim))
        };
        let own = |one: &&Argument| one.role.known() == Some(Role::Proposer);
        let newest = self.newest_version(document)?;
        let pending = said.iter().rev().filter(own).take_while(|one| !counts(one));
        Ok(named(document, newest, pending).max(cited(document, newest, said)))
    }

    /// Makes the seat's copy equal to the base again, with the newest plan and the files about the
    /// debate. If `keeps_plan`, the proposer's plan stays, unless it cannot be read.
    pub(super) fn fresh_copy(
        &mut self,
        seat: Role,
        floor: &Floor,
        keeps_plan: bool,
    ) -> Result<(), RunStopped> {
        let mut about = vec![
            ("debate.md".to_owned(), transcript(&floor.said)),
            ("points.md".to_owned(), self.points_file()?),
        ];
        if let Some(log) = folder::read_if_there(&self.folder.path().join("log.txt"))? {
            about.push(("log.txt".to_owned(), log));
        }
        let own = self.document().map(str::to_owned);
        let mut plan = None;
        let mut documents = floor.documents.clone();
        if let Some(own) = &own {
            documents.retain(|(id, _)| id != own);
            let version = match seat {
                Role::Proposer => self.in_hand(own, &floor.said)?,
                Role::Opponent | Role::Arbitrator => self.cited(own, &floor.said)?,
            };
            documents.insert(0, (own.clone(), version));
        }
        for (id, newest) in documents {
            let is_plan = own.as_deref() == Some(&id);
            // Documents of one minute have the same first characters.
            let name = if is_plan { "plan" } else { id.as_str() };
            for version in 1..=newest {
                let text = self.version(&id, version)?;
                if is_plan && version == newest {
                    plan = Some(text.clone());
                }
                about.push((format!("{name}.v{version}.md"), text));
            }
        }
        let own: Vec<(&str, &[u8])> =
            about.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
        let (copy, relative) =
            (self.folder.copy(seat), self.state.plan.as_ref().map(|plan| plan.relative.as_path()));
        let left = relative.filter(|_| keeps_plan && seat == Role::Proposer);
        if let Some(text) = left.and_then(|relative| copies::taken_plan(&copy, relative).ok()) {
            plan = Some(text);
        }
        let extras = copies::Extras { plan: relative.zip(plan.as_deref()), own: &own };
        copies::refresh(&self.folder.base(), &copy, &extras).map_err(RunStopped::from)
    }

    /// A version of a document, from the run's folder if it was read before: it never changes.
    fn version(&self, document: &str, version: u64) -> Result<String, RunStopped> {
        let file = self.folder.path().join("documents").join(format!("{document}.v{version}.md"));
        if let Some(text) = folder::read_if_there(&file)? {
            return Ok(text);
        }
        let text = self.ask(&client::document(document, Some(version), true))?.content;
        if let Some(above) = file.parent() {
            // If there is no room, the version is requested again later.
            let _ = folder::private_folder(above)
                .and_then(|()| folder::replace(&file, text.as_bytes()));
        }
        Ok(text)
    }

    fn points_file(&self) -> Result<String, RunStopped> {
        let list = self.ask(&client::points(&self.state.debate_id))?;
        let mut text = "# Points\n".to_owned();
        for QuotedPoint { point, .. } in &list.points {
            let owes =
                point.owes.as_ref().map(|role| format!(", for the {role}")).unwrap_or_default();
            // Writing to a String cannot fail.
            let _ = write!(
                text,
                "\n## {} {}, {}{owes}\n\n{}",
                point.id.0,
                point.severity,
                point.state,
                quoted(&point.title)
            );
        }
        Ok(text)
    }

    /// The plan as the proposer has left it, if it differs from the version that the debate cites; or
    /// the fault of the file. A newer version may be there: that of a text that was refused.
    pub(super) fn changed_plan(
        &mut self,
        seat: Role,
        target: &str,
    ) -> Result<Result<Option<String>, String>, RunStopped> {
        let copy = self.folder.copy(seat);
        let plan = self.state.plan.clone();
        let relative = plan.as_ref().map(|plan| plan.relative.clone());
        let strays = copies::changed_files(&self.folder.base(), &copy, relative.as_deref())?;
        if strays.count > 0 {
            let names: Vec<String> =
                strays.first.iter().take(5).map(|path| copies::shown(path)).collect();
            self.note(format!(
                "the {seat} changed other files in its copy, which were left behind: {}{}",
                names.join(", "),
                if strays.count > names.len() { ", …" } else { "" }
            ));
        }
        let (Some(plan), Some(document)) = (plan, self.document().map(str::to_owned)) else {
            return Ok(Ok(None));
        };
        if seat != Role::Proposer {
            return Ok(Ok(None));
        }
        let text = match copies::taken_plan(&copy, &plan.relative) {
            Ok(text) => text,
            Err(flaw) => {
                return Ok(Err(format!("{flaw}. Your folder has its last posted text again")));
            }
        };
        let (cited, _) = self.cited_before(&document, target)?;
        Ok(Ok((text != self.version(&document, cited)?).then_some(text)))
    }

    /// Posts the final message in this turn's folder. The same message is never posted twice.
    pub(super) fn post(
        &mut self,
        seat: Role,
        folder: &Path,
        target: &str,
    ) -> Result<Posted, RunStopped> {
        match self.unkept.take() {
            Some(answer) => {
                self.post_answer(seat, &answer, target)?;
                // The text was posted; a run that cannot store its state must not go on.
                Err(std::io::Error::from(std::io::ErrorKind::StorageFull).into())
            }
            None => {
                let text = fs::read_to_string(folder.join("final.md"))?;
                let plan = folder::read_if_there(&folder.join("plan.md"))?;
                self.post_answer(seat, &AgentAnswer { text, plan }, target)
            }
        }
    }

    fn post_answer(
        &self,
        seat: Role,
        answer: &AgentAnswer,
        target: &str,
    ) -> Result<Posted, RunStopped> {
        let AgentAnswer { text, plan } = answer;
        let (asked, body) = match asked_move(seat, text) {
            Ok(asked) => asked,
            Err(flaw) => return Ok(Posted::Refused(vec![flaw])),
        };
        if let Some(found) = self.already_said(seat, target, body)? {
            return Ok(found);
        }
        let mut flaws = own_flaws(seat, text);
        flaws.extend(self.quotes_in_base(seat, body)?);
        if !flaws.is_empty() {
            return Ok(Posted::Refused(flaws));
        }
        let mut content = body.to_owned();
        if let (Some(plan), Some(document)) = (plan, self.document().map(str::to_owned)) {
            if let Some(refused) = self.judged(asked, target, body)? {
                return Ok(refused);
            }
            let (before, version) = match self.submit_version(&document, target, plan)? {
                Ok(submitted) => submitted,
                Err(refused) => return Ok(refused),
            };
            let from = if before < version { format!("v{before} → ") } else { String::new() };
            let _ = write!(content, "\n\ndoc_id={document} ({from}v{version})");
        }
        match asked {
            Asked::Claim => self.claim(seat, target, content),
            Asked::Appeal => self.request(Kind::Appeal, target, content),
            Asked::Ruling | Asked::Close => {
                let close = asked == Asked::Close;
                match self.decides_nothing(close, body)? {
                    Some(flaw) => Ok(Posted::Refused(vec![flaw])),
                    None => self.ruling(target, content, close),
                }
            }
        }
    }

    /// Judges the text of a changed plan before the plan is submitted: a refused text must leave no
    /// version behind. What depends on the new version is judged with the post.
    fn judged(&self, asked: Asked, target: &str, body: &str) -> Result<Option<Posted>, RunStopped> {
        let judged = CheckMove {
            kind: if asked == Asked::Appeal { "appeal" } else { "claim" }.to_owned(),
            role: Some(Role::Proposer.to_string()),
            target_id: Some(target.to_owned()),
            content: body.to_owned(),
            close: None,
        };
        let Err(trouble) = self.try_ask(&client::check(&self.state.debate_id, judged)) else {
            return Ok(None);
        };
        let needs_version = [
            FlawCode::VersionNeeded.as_str(),
            FlawCode::QuoteMissing.as_str(),
            FlawCode::QuoteOutdated.as_str(),
        ];
        Ok(match self.refusal(&trouble, &needs_version)? {
            Posted::Refused(flaws) if flaws.is_empty() => None,
            refused => Some(refused),
        })
    }

    /// Whether the seat has answered this argument already: with this text, before the runner was
    /// killed, or with another one. A version of the plan must not come after that.
    fn already_said(
        &self,
        seat: Role,
        target: &str,
        body: &str,
    ) -> Result<Option<Posted>, RunStopped> {
        let context = self.context()?;
        let answer = context.arguments.iter().find(|one| {
            one.role.known() == Some(seat)
                && one.parent_id.as_ref().is_some_and(|parent| parent.0.to_string() == target)
        });
        Ok(answer.map(|one| match one.content.starts_with(body) {
            true => Posted::Kept(format!("{} {}", one.kind, one.seq)),
            false => Posted::Overtaken,
        }))
    }

    /// Looks up the quotes of code in the base: an agent cannot quote a file that it has just made.
    fn quotes_in_base(&self, seat: Role, text: &str) -> Result<Vec<String>, RunStopped> {
        let known = self.ask(&client::points(&self.state.debate_id))?;
        if known.ledger.is_none() {
            return Ok(Vec::new());
        }
        let points = u32::try_from(known.points.len()).unwrap_or(u32::MAX);
        let checked = crate::code_quotes::check(&self.folder.base(), text, seat, points);
        Ok(checked.flaws.iter().map(prompt::flaw).collect())
    }

    /// A RULING on an APPEAL must decide a live point or close, where there is one.
    fn decides_nothing(&self, close: bool, text: &str) -> Result<Option<String>, RunStopped> {
        let context = self.context()?;
        let (alive, all) = match (&context.points.ledger, close) {
            (None, _) | (_, true) => return Ok(None),
            (Some(ledger), false) => (ledger.alive, ledger.alive + ledger.over),
        };
        let pending_appeal = context
            .arguments
            .iter()
            .rev()
            .find(|one| !one.parked && one.kind.known() != Some(Kind::Claim))
            .is_some_and(|one| one.kind.known() == Some(Kind::Appeal));
        let points = u32::try_from(all).unwrap_or(u32::MAX);
        if !pending_appeal || alive == 0 {
            return Ok(None);
        }
        let list = self.ask(&client::points(&self.state.debate_id))?.points;
        let is_alive = |subject| {
            let own = |point: &Point| subject == Subject::Point(point.id.0);
            list.iter().any(|one| own(&one.point) && one.point.owes.is_some())
        };
        let read = statements(text, Role::Arbitrator, points).statements;
        if read.iter().any(|one| is_alive(one.subject)) {
            return Ok(None);
        }
        let point = context.points.points.as_ref().and_then(|points| points.first());
        let point = point.map_or_else(|| "P1".to_owned(), |point| point.id.0.to_string());
        Ok(Some(format!(
            "the ruling decides no live point: write ### {point} [upheld], [dismissed] or [deferred] with \
             the reason, or MOVE: close as the first line"
        )))
    }

    /// Submits the plan as the next version, once. Returns the version that the debate cited before,
    /// and the new one; or the refusal.
    fn submit_version(
        &self,
        document: &str,
        target: &str,
        plan: &str,
    ) -> Result<Result<(u64, u64), Posted>, RunStopped> {
        let (before, seq) = self.cited_before(document, target)?;
        let newest = self.newest_version(document)?;
        if newest > before && self.version(document, newest)? == plan {
            return Ok(Ok((before, newest)));
        }
        let body = SubmitDocument {
            title: None,
            summary: format!("After argument {seq}"),
            content: plan.to_owned(),
            author: self.author(Role::Proposer),
            metadata: None,
            client_request_id: Some(self.version_request(document, target, plan)),
        };
        match self.try_ask(&client::add_version(document, body)) {
            Ok(KeptVersion { version, .. }) => Ok(Ok((before, version.version))),
            Err(trouble) => self.refusal(&trouble, &[]).map(Err),
        }
    }

    /// The newest version of the plan that the debate had cited when this argument came, and the
    /// argument's place. Later arguments do not count: a retry must find the same.
    fn cited_before(&self, document: &str, target: &str) -> Result<(u64, u64), RunStopped> {
        let context = self.context()?;
        let all = || std::iter::once(&context.motion).chain(&context.arguments);
        let target = all().find(|one| one.id.0.to_string() == target);
        let seq = target.unwrap_or(super::drive::newest_of(&context)).seq;
        Ok((self.cited(document, all().filter(|one| one.seq <= seq))?, seq))
    }

    /// The request id of a version, derived like an argument's, so that it is submitted once.
    fn version_request(&self, document: &str, target: &str, plan: &str) -> String {
        let debate: Option<DebateId> = self.state.debate_id.parse().ok();
        let content = format!("document {document}\n{plan}");
        match debate {
            Some(debate) => {
                let target = target.parse().ok();
                RequestId::derived(debate, Role::Proposer, Kind::Claim, target, &content)
                    .to_string()
            }
            None => uuid::Uuid::new_v4().to_string(),
        }
    }

    /// The author of a seat's argument: the agent that wrote the kept text, also if a resume has given
    /// the seat to another.
    fn author(&self, seat: Role) -> Option<String> {
        let current = self.state.current.as_ref().filter(|turn| turn.seat == seat.as_str());
        current.and_then(|turn| turn.author.clone()).or_else(|| self.agent_author(seat))
    }

    /// The author that the seat's agent is now.
    pub(super) fn agent_author(&self, seat: Role) -> Option<String> {
        let agent = self.agents.get(seat.as_str())?;
        Some(agent.author(self.seat(seat).model.as_deref().or(agent.model.as_deref())))
    }

    fn request_id(&self, seat: Role, kind: Kind, target: &str, content: &str) -> String {
        derived_id(&self.state.debate_id, seat, kind, Some(target), content)
            .map_or_else(|| uuid::Uuid::new_v4().to_string(), |id| id.to_string())
    }

    fn claim(&self, seat: Role, target: &str, content: String) -> Result<Posted, RunStopped> {
        let body = SubmitClaim {
            role: seat.to_string(),
            target_id: target.to_owned(),
            client_request_id: self.request_id(seat, Kind::Claim, target, &content),
            content,
            author: self.author(seat),
        };
        self.send(&client::submit(&self.state.debate_id, body))
    }

    fn ruling(&self, target: &str, content: String, close: bool) -> Result<Posted, RunStopped> {
        let body = SubmitRuling {
            client_request_id: Some(self.request_id(
                Role::Arbitrator,
                Kind::Ruling,
                target,
                &content,
            )),
            content,
            close: Some(close),
            target_id: Some(target.to_owned()),
            author: self.author(Role::Arbitrator),
        };
        self.send(&client::rule(&self.state.debate_id, body))
    }

    fn request(&self, kind: Kind, target: &str, content: String) -> Result<Posted, RunStopped> {
        let body = SubmitRequest {
            target_id: target.to_owned(),
            client_request_id: self.request_id(Role::Proposer, kind, target, &content),
            content,
            author: self.author(Role::Proposer),
        };
        self.send(&match kind {
            Kind::Resolution => client::request_completion(&self.state.debate_id, body),
            _ => client::appeal(&self.state.debate_id, body),
        })
    }

    /// Sends a move.
    fn send(&self, request: &Request<Written>) -> Result<Posted, RunStopped> {
        match self.try_ask(request) {
            Ok(written) => {
                let parked = if written.argument.parked { ", parked" } else { "" };
                let (kind, seq) = (&written.argument.kind, written.argument.seq);
                Ok(Posted::Kept(format!("{kind} {seq}{parked}")))
            }
            Err(trouble) => self.refusal(&trouble, &[]),
        }
    }

    /// Sorts the refusals that an agent can mend from the others. Flaws with these codes are left out.
    fn refusal(&self, trouble: &Trouble, except: &[&str]) -> Result<Posted, RunStopped> {
        let Trouble::Refused(refused) = trouble else { return Err(self.no_server(trouble)) };
        let error = &refused.data;
        match error.code {
            Code::InvalidInput | Code::ContentTooLarge => Ok(Posted::Refused(match &error.flaws {
                Some(flaws) if !flaws.is_empty() => flaws
                    .iter()
                    .filter(|flaw| !except.contains(&flaw.code.as_str()))
                    .map(prompt::flaw)
                    .collect(),
                _ => vec![error.message.clone()],
            })),
            Code::ActionNotAllowed | Code::DebateNotFound => Ok(Posted::Overtaken),
            _ => Err(self.no_server(trouble)),
        }
    }

    /// Puts the dispute before the arbitrator, in the runner's own words.
    pub(super) fn appeal(&mut self) -> Result<(), RunStopped> {
        let floor = self.news(Role::Proposer)?;
        let advice = floor.points.ledger.as_ref().and_then(|ledger| ledger.advice.as_ref());
        let (why, ids) = match advice {
            Some(advice) => (advice.why.clone(), advice.points.clone()),
            None => (String::new(), Vec::new()),
        };
        let points = self.points_with_history(&ids)?;
        let posted = self.request(Kind::Appeal, &floor.target, words::appeal(&why, &points))?;
        self.own_move(posted, "APPEAL")
    }

    /// Asks to complete the debate, in the runner's own words.
    pub(super) fn request_completion(&mut self) -> Result<(), RunStopped> {
        let floor = self.news(Role::Proposer)?;
        let list = self.ask(&client::points(&self.state.debate_id))?;
        let Some(document) = self.document().map(str::to_owned) else {
            return self.play(Role::Proposer);
        };
        let version = self.cited(&document, &floor.said)?;
        let content = words::resolution(&document, version, &list.points);
        let posted = self.request(Kind::Resolution, &floor.target, content)?;
        self.own_move(posted, "RESOLUTION")
    }

    fn own_move(&mut self, posted: Posted, kind: &str) -> Result<(), RunStopped> {
        match posted {
            Posted::Kept(what) => {
                self.log(&format!("proposer: {what}"));
                (self.watcher)(Seen::Ended { seat: Role::Proposer, what });
                Ok(())
            }
            // Another role has moved: the debate goes on from there.
            Posted::Overtaken => Ok(()),
            Posted::Refused(flaws) => Err(RunStopped {
                exit: Exit::Failed,
                kind: "flaws",
                seat: Some(Role::Proposer),
                detail: flaws.join("\n"),
                message: format!("the server refused the run's own {kind}: {}", flaws.join("; ")),
            }),
        }
    }

    fn points_with_history(&self, ids: &[PointIdText]) -> Result<Vec<QuotedPoint>, RunStopped> {
        ids.iter()
            .map(|id| {
                let request = client::point(&self.state.debate_id, &id.0.to_string());
                self.ask(&request).map(|one| one.point)
            })
            .collect()
    }

    /// The dispute as a person who must rule sees it, with the lines that rule.
    pub(super) fn dispute(&self, context: &DebateContext) -> Result<String, RunStopped> {
        let debate = &self.state.debate_id;
        let pending = self.news(Role::Arbitrator)?.target;
        let newest = context.arguments.iter().rev().find(|one| one.id.0.to_string() == pending);
        let newest = newest.unwrap_or(&context.motion);
        let mut text = format!("{} by the {}:\n\n", newest.kind, newest.role);
        text.push_str(&quoted(newest.content.trim()));
        let blocking = context.points.ledger.as_ref().map(|ledger| {
            ledger.blocking.iter().map(|id| id.0.to_string()).collect::<Vec<_>>().join(",")
        });
        let uphold = match blocking.filter(|ids| !ids.is_empty()) {
            Some(ids) => format!(" --uphold {ids}"),
            None => String::new(),
        };
        let _ = write!(
            text,
            "\nRule on the page: {}\nor: aw debate ruling --debate-id {debate} --target-id {pending}{uphold} --file YOUR_TEXT.md\n",
            self.line.url_of(debate)
        );
        Ok(text)
    }

    pub(super) fn note(&mut self, note: String) {
        if !self.state.notes.contains(&note) {
            self.log(&note);
            self.state.notes.push(note);
        }
    }
}

/// The flaws of a final message that need no server.
pub(super) fn own_flaws(seat: Role, text: &str) -> Vec<String> {
    let mut flaws = Vec::new();
    match asked_move(seat, text) {
        Err(flaw) => flaws.push(flaw),
        Ok((_, "")) => flaws.push("the answer is empty".to_owned()),
        Ok(_) => {}
    }
    if text.len() > LONGEST {
        let (long, most) = (text.len(), LONGEST);
        flaws.push(format!("the answer has {long} bytes, and {most} are allowed: shorten it"));
    }
    if text.contains('\0') {
        flaws.push("the answer contains the character U+0000: leave it out".to_owned());
    }
    flaws
}

/// The move that a final message asks for in its first line, and the text without that line.
fn asked_move(seat: Role, text: &str) -> Result<(Asked, &str), String> {
    let usual = match seat {
        Role::Proposer | Role::Opponent => Asked::Claim,
        Role::Arbitrator => Asked::Ruling,
    };
    let text = text.trim();
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let Some(asked) = move_line(first) else { return Ok((usual, text)) };
    let asked = match (asked.as_str(), seat) {
        ("claim", Role::Proposer | Role::Opponent) => Asked::Claim,
        ("appeal", Role::Proposer) => Asked::Appeal,
        ("close", Role::Arbitrator) => Asked::Close,
        ("ruling", Role::Arbitrator) => Asked::Ruling,
        (other, seat) => {
            let allowed = match seat {
                Role::Proposer => "MOVE: claim or MOVE: appeal",
                Role::Opponent => "MOVE: claim",
                Role::Arbitrator => "MOVE: close",
            };
            let other: String = harmless(other).chars().take(40).collect();
            return Err(format!(
                "line 1: there is no move {other:?}: write {allowed}, or leave it out"
            ));
        }
    };
    Ok((asked, rest.trim()))
}

/// The move that a line names, in lower case. Agents write the line in bold, as code or as a heading.
fn move_line(line: &str) -> Option<String> {
    let mark = |c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`' | '#');
    let (name, asked) = line.split_once(':')?;
    let (name, asked) = (name.trim_matches(mark), asked.trim_matches(mark).to_ascii_lowercase());
    // In other cases it may be the beginning of a sentence.
    let is_move = ["claim", "appeal", "close", "ruling"].contains(&asked.as_str());
    (name == "MOVE" || (is_move && name.eq_ignore_ascii_case("move"))).then_some(asked)
}

/// The newest version of the plan that these arguments cite. The opponent's words set no version, and
/// neither do those of a parked argument.
fn cited<'a>(document: &str, newest: u64, said: impl IntoIterator<Item = &'a Argument>) -> u64 {
    let counts = |one: &&Argument| !one.parked && one.role.known() != Some(Role::Opponent);
    named(document, newest, said.into_iter().filter(counts))
}

/// The newest version of the plan that these arguments name. One that was never submitted does not
/// count.
fn named<'a>(document: &str, newest: u64, said: impl Iterator<Item = &'a Argument>) -> u64 {
    said.flat_map(|one| aw_core::mentions(&one.content))
        .filter(|mention| mention.document.to_string() == document)
        .filter_map(|mention| mention.version)
        .filter(|version| (1..=newest).contains(version))
        .max()
        .unwrap_or(1)
}

/// Everything that was said, as a file.
fn transcript(said: &[Argument]) -> String {
    let mut text = "# Debate\n".to_owned();
    for one in said {
        let parked = if one.parked { ", parked" } else { "" };
        let _ = write!(
            text,
            "\n## {}. {} by the {}{parked}\n\n{}",
            one.seq,
            one.kind,
            one.role,
            quoted(one.content.trim())
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_may_name_a_move_of_the_seat() {
        let asked = |seat, text| asked_move(seat, text).map_err(|flaw| flaw.contains("line 1"));
        for (seat, text, wanted) in [
            (Role::Opponent, "Text.", Ok((Asked::Claim, "Text."))),
            (Role::Opponent, "MOVE: claim\n\nText.", Ok((Asked::Claim, "Text."))),
            (Role::Opponent, "MOVE: appeal\nText.", Err(true)),
            (Role::Proposer, "\n MOVE: Appeal \nText.", Ok((Asked::Appeal, "Text."))),
            (Role::Proposer, "**MOVE: appeal**\n\nText.", Ok((Asked::Appeal, "Text."))),
            (Role::Proposer, "**Move:** `appeal`\r\nText.", Ok((Asked::Appeal, "Text."))),
            (Role::Proposer, "Move: the steps.", Ok((Asked::Claim, "Move: the steps."))),
            (Role::Proposer, "MOVE: close\nText.", Err(true)),
            (Role::Arbitrator, "Text.", Ok((Asked::Ruling, "Text."))),
            (Role::Arbitrator, "MOVE: close\nText.", Ok((Asked::Close, "Text."))),
            (Role::Arbitrator, "MOVE: claim\nText.", Err(true)),
            (Role::Proposer, "Text.\nMOVE: appeal", Ok((Asked::Claim, "Text.\nMOVE: appeal"))),
        ] {
            assert_eq!(asked(seat, text), wanted, "{seat}: {text:?}");
        }
    }
}
