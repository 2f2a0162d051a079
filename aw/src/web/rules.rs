//! `/debate/{id}/rules`: shows the rules of each role in a debate and their origin.

use askama::Template;
use aw_core::{DebateId, Role};
use aw_record::TypeTexts;
use axum::response::Response;

use super::assets;
use super::error_page;
use super::page_request::PageRequest;
use crate::api::types as api;
use crate::kit::rules::Rules;
use crate::kit::texts::BuiltIn;
use crate::policy::Command;
use crate::render::i18n::{Phrases, put};
use crate::render::markdown;
use crate::server::input::Segment;
use crate::server::{Access, DRAWING, Problem, input};

#[derive(Template)]
#[template(path = "rules.html")]
struct RulesPage<'a> {
    request: &'a PageRequest,
    t: &'static Phrases,
    assets: &'a str,
    id: String,
    kind: String,
    roles: Vec<RoleRules>,
}

/// The rules of one role.
struct RoleRules {
    role: Role,
    name: &'static str,
    origin: String,
    is_built_in: bool,
    /// The rendered rules.
    html: String,
}

pub(super) async fn read(access: Access, request: PageRequest, Segment(id): Segment) -> Response {
    let result = match input::id("debate_id", &id) {
        Ok(debate) => texts(&access, debate).await,
        Err(problem) => Err(problem),
    };
    let (kind, texts) = match result {
        Ok(texts) => texts,
        Err(problem) => return error_page::page(&request, &problem.into()),
    };
    let drawing = {
        let (request, kind) = (request.clone(), kind.clone());
        move || {
            Role::ALL
                .iter()
                .filter_map(|role| of_role(&request, &kind, *role, texts.as_ref()))
                .collect()
        }
    };
    match DRAWING.run(drawing).await {
        Ok(roles) => {
            let (t, assets) = (request.phrases, &*assets::FOLDER);
            request.page(&RulesPage { request: &request, t, assets, id, kind, roles })
        }
        Err(problem) => error_page::page(&request, &problem.into()),
    }
}

/// The type of a debate and the rules that its creator sent.
async fn texts(access: &Access, debate: DebateId) -> Result<(String, Option<TypeTexts>), Problem> {
    let debate = access.debate(Command::DebateGetContext, debate)?;
    let (kind, texts) = debate.type_texts().await?;
    Ok((kind.into_string(), texts))
}

/// The rules of a role, if the server has them.
fn of_role(
    request: &PageRequest,
    kind: &str,
    role: Role,
    texts: Option<&TypeTexts>,
) -> Option<RoleRules> {
    let t = request.phrases;
    let rules = match texts.map(api::TypeTexts::from) {
        Some(texts) => Rules::of_creator(kind, role, texts.of(role)),
        None => Rules::built_in(BuiltIn::named(kind)?, role, t.lang),
    };
    let origin = match (rules.is_built_in(), rules.replace_built_in()) {
        (true, _) => t.rules_built_in.to_owned(),
        (false, false) => t.rules_of_creator.to_owned(),
        (false, true) => format!("{} {}", t.rules_of_creator, put(t.rules_replace, kind)),
    };
    let html = markdown::render(rules.text(), &|_| None);
    Some(RoleRules { role, name: t.role(role), origin, is_built_in: rules.is_built_in(), html })
}
