//! Deletes a debate, after a question.

use askama::Template;
use aw_core::DebateId;
use aw_record::DebateHead;
use axum::response::{IntoResponse, Redirect, Response};

use super::super::assets;
use super::super::error_page;
use super::super::form::Form;
use super::super::page_request::PageRequest;
use crate::policy::Command;
use crate::render::i18n::Phrases;
use crate::render::markdown::plain;
use crate::server::input::Segment;
use crate::server::{Access, Problem, input};

#[derive(Template)]
#[template(path = "delete.html")]
struct DeletePage<'a> {
    request: &'a PageRequest,
    t: &'static Phrases,
    assets: &'a str,
    id: String,
    title: String,
    words: String,
}

/// Asks whether to delete a debate.
pub(in crate::web) async fn ask_to_delete(
    access: Access,
    request: PageRequest,
    Segment(id): Segment,
) -> Response {
    let head = match access.caller.may_use(Command::DebateDelete) {
        Ok(()) => head(&access, &id).await,
        Err(problem) => Err(problem),
    };
    let head = match head {
        Ok(head) => head,
        Err(problem) => return error_page::page(&request, &problem.into()),
    };
    let t = request.phrases;
    request.page(&DeletePage {
        request: &request,
        t,
        assets: &assets::FOLDER,
        id: head.id.to_string(),
        title: head.title.as_str().to_owned(),
        words: t.delete_words.replace("{n}", &head.debate.standing.last.to_string()),
    })
}

async fn head(access: &Access, id: &str) -> Result<DebateHead, Problem> {
    let debate: DebateId = input::id("debate_id", id)?;
    Ok(access.debate(Command::DebateGetContext, debate)?.stretch(0, 0).await?.debate)
}

pub(in crate::web) async fn delete(access: Access, Segment(id): Segment, form: Form) -> Response {
    let deleted = match input::id("debate_id", &id) {
        Ok(debate) => access.delete_debate(debate).await,
        Err(problem) => Err(problem),
    };
    match deleted {
        Ok(()) => Redirect::to("/?deleted=1").into_response(),
        Err(problem) => error_page::page(&form.request, &problem.into()),
    }
}
