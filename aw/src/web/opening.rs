//! `/new`: starting a debate, for two agents to take up.

use askama::Template;
use aw_core::{
    Argument, Content, DebateId, DebateType, DocumentId, RequestId, ResolutionPolicy, Summary,
    Title, Via,
};
use aw_record::{Ask, Failure, NewVersion, Request};
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use uuid::Uuid;

use super::assets;
use super::form::Form;
use super::trouble::{self, Trouble};
use super::visitor::Visitor;
use super::words::{Words, put};
use crate::kit::texts::BuiltIn;
use crate::policy::Command;
use crate::server::{Access, App, Problem, input};

#[derive(Template)]
#[template(path = "new.html")]
struct NewPage<'a> {
    v: &'a Visitor,
    w: &'static Words,
    assets: &'a str,
    kinds: [(&'static str, &'static str, &'static str); 2],
    /// What it will come to, and who may be asked before it is closed.
    lead: &'static str,
    asked_first: &'static str,
    hint: String,
    draft: Draft,
    problem: Option<String>,
}

#[derive(Default)]
struct Draft {
    title: String,
    kind: String,
    content: String,
    document: String,
    asks_me: bool,
    debate: String,
    request: String,
}

impl Draft {
    fn new() -> Self {
        let new = || Uuid::new_v4().to_string();
        let kind = BuiltIn::CodingPlan.name().to_owned();
        Draft { kind, debate: new(), request: new(), ..Draft::default() }
    }

    fn of(form: &Form) -> Self {
        Draft {
            title: form.get("title").trim().to_owned(),
            kind: form.get("type").to_owned(),
            content: form.text("content"),
            document: form.text("document"),
            asks_me: form.get("policy") == "arbitrator",
            debate: form.get("debate").to_owned(),
            request: form.get("request").to_owned(),
        }
    }

    /// All that was typed.
    fn texts(&self) -> String {
        let texts = [&self.title, &self.content, &self.document].map(|text| text.trim());
        texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
    }
}

pub(super) async fn form(State(app): State<App>, visitor: Visitor) -> Response {
    if let Err(problem) = visitor.may_open() {
        return trouble::page(&visitor, &problem.into());
    }
    show(&app, &visitor, Draft::new(), None)
}

fn show(app: &App, visitor: &Visitor, draft: Draft, problem: Option<String>) -> Response {
    let w = visitor.words;
    let (lead, asked_first) = match visitor.rules() {
        true => (w.new_words, w.approve_me),
        false => (w.new_words_of_proposer, w.approve_arbitrator),
    };
    visitor.page(&NewPage {
        lead,
        asked_first,
        v: visitor,
        w,
        assets: &assets::FOLDER,
        kinds: BuiltIn::ALL.map(|kind| (kind.name(), kind.title(), kind.description())),
        hint: put(w.motion_hint, app.limits.content_bytes),
        draft,
        problem,
    })
}

pub(super) async fn open(access: Access, form: Form) -> Response {
    let draft = Draft::of(&form);
    // Before a document is kept for it.
    if let Err(problem) = form.visitor.may_open() {
        return trouble::page(&form.visitor, &Trouble::Refused { problem, typed: draft.texts() });
    }
    match opened(&access, &draft).await {
        Ok(debate) => Redirect::to(&format!("/debate/{debate}?new=1")).into_response(),
        Err(problem) => {
            let words = format!("{} {}", form.visitor.words.not_sent, problem.error.message);
            show(&access.app, &form.visitor, draft, Some(words))
        }
    }
}

/// Opens the debate, with its document if there is one. The ids come from the form, so that one
/// that is sent twice opens one debate.
async fn opened(access: &Access, draft: &Draft) -> Result<String, Problem> {
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
    // Checked before the document is kept: nothing is left behind by a form that is refused.
    input::content("motion", motion.clone(), max)?;
    if !draft.document.trim().is_empty() {
        let citing = |document: DocumentId| format!("{motion}\n\ndoc_id={document} (v1)");
        input::content("motion", citing(Uuid::nil().into()), max)?;
        let text = draft.document.clone();
        let content = Content::parse(text, app.limits.document_bytes)
            .map_err(|bad| Problem::text("document", bad))?;
        let summary: String = draft.title.chars().take(Summary::MAX_CHARS).collect();
        match access.debate(Command::DebateGetContext, debate)?.stretch(0, 1).await {
            // The same form once more finds its document again; any other would bring a new one.
            Ok(there) => {
                let cites = format!("{motion}\n\ndoc_id=");
                let by_it = |opened: &Argument| {
                    opened.request == request && opened.content.as_str().starts_with(&cites)
                };
                if !there.arguments.first().is_some_and(by_it) {
                    return Err(Failure::RequestIdReused.into());
                }
            }
            Err(Failure::DebateNotFound { deleted_at: Some(_), id }) => {
                return Err(Failure::DebateIdTaken { id }.into());
            }
            Err(_) => {}
        }
        let version = NewVersion {
            summary: Summary::parse(summary).map_err(|bad| Problem::text("title", bad))?,
            content,
            author: None,
            metadata: "{}".to_owned(),
        };
        let kept = access.create_document(request, version).await?;
        motion = citing(kept.document);
    }
    let request = Request {
        debate,
        id: request,
        author: None,
        via: Via::Page,
        seat: None,
        ask: Ask::Open {
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
