//! `/new`: opens a debate for two agents.

use askama::Template;
use aw_core::{
    Argument, Content, DebateId, DebateType, DocumentId, PointRules, RequestId, ResolutionPolicy,
    Summary, Title, Via,
};
use aw_record::{Ask, Failure, NewVersion, Request};
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use uuid::Uuid;

mod run_line;

use self::run_line::RunQuery;
use super::assets;
use super::error_page::{self, PageError};
use super::form::Form;
use super::page_request::PageRequest;
use super::unbroken;
use crate::api::types::{AskedPoints, AskedSettings};
use crate::kit::texts::BuiltIn;
use crate::policy::Command;
use crate::render::i18n::{Phrases, put};
use crate::server::input::Params;
use crate::server::{Access, App, Problem, input, point_settings};

#[derive(Template)]
#[template(path = "new_debate.html")]
struct NewPage<'a> {
    request: &'a PageRequest,
    t: &'static Phrases,
    assets: &'a str,
    kinds: [(&'static str, &'static str, &'static str); 2],
    /// The introduction, and the label of the policy that asks before closing.
    lead: &'static str,
    asked_first: &'static str,
    hint: String,
    draft: DebateDraft,
    problem: Option<FormProblem>,
    run: &'a RunQuery,
    run_line: String,
}

/// Why a form was refused: the words, and the field that is wrong.
struct FormProblem {
    words: String,
    field: String,
}

impl NewPage<'_> {
    /// Whether this field is the wrong one.
    fn is_wrong(&self, field: &str) -> bool {
        self.problem.as_ref().is_some_and(|problem| problem.field == field)
    }
}

#[derive(Default)]
struct DebateDraft {
    title: String,
    kind: String,
    content: String,
    document: String,
    asks_me: bool,
    keeps_points: bool,
    rounds: String,
    /// The lowest severity that blocks.
    blocking: String,
    debate: String,
    request: String,
}

impl DebateDraft {
    fn new() -> Self {
        let new = || Uuid::new_v4().to_string();
        let kind = BuiltIn::CodingPlan.name().to_owned();
        let PointRules { rounds, blocking } = PointRules::default();
        DebateDraft {
            kind,
            keeps_points: true,
            rounds: rounds.to_string(),
            blocking: blocking.as_str().to_owned(),
            debate: new(),
            request: new(),
            ..DebateDraft::default()
        }
    }

    fn of(form: &Form) -> Self {
        DebateDraft {
            title: form.get("title").trim().to_owned(),
            kind: form.get("type").to_owned(),
            content: form.text("content"),
            document: form.text("document"),
            asks_me: form.get("policy") == "arbitrator",
            keeps_points: form.has("points"),
            rounds: form.get("rounds").trim().to_owned(),
            blocking: form.get("blocking").to_owned(),
            debate: form.get("debate").to_owned(),
            request: form.get("request").to_owned(),
        }
    }

    /// The settings of points. A form of an older page has none of them.
    fn points(&self) -> Result<Option<PointRules>, Problem> {
        let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        if !self.keeps_points {
            return Ok(None);
        }
        let rounds = given(&self.rounds)
            .map(|rounds| rounds.parse())
            .transpose()
            .map_err(|_| Problem::input("rounds", "`rounds` must be a number from 1 to 20"))?;
        let settings = AskedSettings { rounds, blocking: given(&self.blocking) };
        point_settings(Some(AskedPoints::Settings(settings)))
    }

    /// All typed texts.
    fn texts(&self) -> String {
        let texts = [&self.title, &self.content, &self.document].map(|text| text.trim());
        texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
    }
}

pub(super) async fn form(
    State(app): State<App>,
    request: PageRequest,
    Params(run): Params<RunQuery>,
) -> Response {
    if let Err(problem) = request.may_open() {
        return error_page::page(&request, &problem.into());
    }
    show(&app, &request, DebateDraft::new(), None, &run)
}

fn show(
    app: &App,
    request: &PageRequest,
    draft: DebateDraft,
    problem: Option<FormProblem>,
    run: &RunQuery,
) -> Response {
    let t = request.phrases;
    let (lead, asked_first) = match request.rules() {
        true => (t.new_words, t.approve_me),
        false => (t.new_words_of_proposer, t.approve_arbitrator),
    };
    request.page(&NewPage {
        lead,
        asked_first,
        request,
        t,
        assets: &assets::FOLDER,
        kinds: BuiltIn::ALL.map(|kind| (kind.name(), kind.title(), t.about_kind(kind))),
        hint: put(t.motion_hint, t.number(app.limits.content_bytes)),
        draft,
        problem,
        run,
        run_line: run.line(),
    })
}

pub(super) async fn open(access: Access, form: Form) -> Response {
    let draft = DebateDraft::of(&form);
    // Checked first, so that a refusal stores no document.
    if let Err(problem) = form.request.may_open() {
        return error_page::page(
            &form.request,
            &PageError::Refused { problem, typed: draft.texts() },
        );
    }
    match opened(&access, &draft).await {
        Ok(debate) => Redirect::to(&format!("/debate/{debate}?new=1")).into_response(),
        Err(problem) => {
            let words = format!("{} {}", form.request.phrases.not_sent, problem.error.message);
            let field = problem.error.field.unwrap_or_default();
            let problem = FormProblem { words, field };
            show(&access.app, &form.request, draft, Some(problem), &RunQuery::default())
        }
    }
}

/// Opens the debate, and stores its document if there is one. The ids come from the form, so a form
/// that is sent twice opens one debate.
async fn opened(access: &Access, draft: &DebateDraft) -> Result<String, Problem> {
    let app = &access.app;
    let title = Title::parse(draft.title.clone()).map_err(|bad| Problem::text("title", bad))?;
    let debate_type =
        DebateType::parse(draft.kind.clone()).map_err(|bad| Problem::text("type", bad))?;
    let mut motion = draft.content.trim().to_owned();
    if motion.is_empty() && !draft.document.trim().is_empty() {
        motion = draft.title.clone();
    }
    let debate: DebateId = input::id("debate_id", &draft.debate)?;
    let request: RequestId = input::id("client_request_id", &draft.request)?;
    let max = app.limits.content_bytes;
    // Checked before the document is stored, so that a refused form leaves nothing behind.
    let points = draft.points()?;
    input::content("motion", motion.clone(), max)?;
    if !draft.document.trim().is_empty() {
        let citing = |document: DocumentId| format!("{motion}\n\ndoc_id={document} (v1)");
        input::content("motion", citing(Uuid::nil().into()), max)?;
        let text = draft.document.clone();
        let content = Content::parse(text, app.limits.document_bytes)
            .map_err(|bad| Problem::text("document", bad))?;
        let summary: String = draft.title.chars().take(Summary::MAX_CHARS).collect();
        match access.debate(Command::DebateGetContext, debate)?.stretch(0, 1).await {
            // The same form sent again finds its document; another form would store a second one.
            Ok(there) => {
                let cites = format!("{motion}\n\ndoc_id=");
                let is_from_this_form = |opened: &Argument| {
                    opened.request == request && opened.content.as_str().starts_with(&cites)
                };
                if !there.arguments.first().is_some_and(is_from_this_form) {
                    return Err(Failure::RequestIdReused.into());
                }
            }
            Err(Failure::DebateNotFound { deleted_at: deleted_at @ Some(_), id }) => {
                return Err(Failure::DebateIdTaken { id, deleted_at }.into());
            }
            Err(_) => {}
        }
        let version = NewVersion {
            title: None,
            summary: Summary::parse(summary).map_err(|bad| Problem::text("title", bad))?,
            content,
            author: None,
            metadata: "{}".to_owned(),
        };
        let created = access.create_document(request, version).await?;
        motion = citing(created.document);
    }
    let request = Request {
        debate,
        id: request,
        author: None,
        via: Via::Page,
        seat: None,
        ask: Ask::Open {
            origin: None,
            points,
            title,
            debate_type,
            texts: None,
            policy: match draft.asks_me {
                true => ResolutionPolicy::Arbitrator,
                false => ResolutionPolicy::Auto,
            },
            motion: input::content("motion", motion, max)?,
        },
    };
    Ok(access.execute(request).await?.debate.id.to_string())
}
