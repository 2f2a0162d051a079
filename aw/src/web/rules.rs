//! `/debate/{id}/rules`: what each role goes by in a debate, and where that comes from.

use askama::Template;
use aw_core::{DebateId, Role};
use aw_record::TypeTexts;
use axum::response::Response;

use super::assets;
use super::markdown;
use super::trouble;
use super::visitor::Visitor;
use super::words::{Tongue, Words, put};
use crate::api::types as api;
use crate::kit::rules::Rules;
use crate::kit::texts::{BuiltIn, Language};
use crate::server::input::Segment;
use crate::server::{About, DRAWING, Desk, Problem, input};

#[derive(Template)]
#[template(path = "rules.html")]
struct RulesPage<'a> {
    v: &'a Visitor,
    w: &'static Words,
    assets: &'a str,
    id: String,
    kind: String,
    roles: Vec<OfRole>,
}

/// What one role goes by.
struct OfRole {
    role: Role,
    name: &'static str,
    origin: String,
    is_built_in: bool,
    /// The rules, drawn.
    html: String,
}

pub(super) async fn read(desk: Desk, visitor: Visitor, Segment(id): Segment) -> Response {
    let found = match input::id("debate_id", &id) {
        Ok(debate) => texts(&desk, debate).await,
        Err(problem) => Err(problem),
    };
    let (kind, texts) = match found {
        Ok(found) => found,
        Err(problem) => return trouble::page(&visitor, &problem.into()),
    };
    let drawing = {
        let (visitor, kind) = (visitor.clone(), kind.clone());
        move || {
            Role::ALL
                .iter()
                .filter_map(|role| of_role(&visitor, &kind, *role, texts.as_ref()))
                .collect()
        }
    };
    match DRAWING.run(drawing).await {
        Ok(roles) => {
            let (w, assets) = (visitor.words, &*assets::FOLDER);
            visitor.page(&RulesPage { v: &visitor, w, assets, id, kind, roles })
        }
        Err(problem) => trouble::page(&visitor, &problem.into()),
    }
}

/// The type of a debate and the rules that its creator sent along.
async fn texts(desk: &Desk, debate: DebateId) -> Result<(String, Option<TypeTexts>), Problem> {
    let engine = desk.engine("debate get-context", About::Debate(debate)).await?;
    let (kind, texts) = engine.type_texts(debate).await?;
    Ok((kind.into_string(), texts))
}

/// The rules of a role, as far as the server knows them.
fn of_role(v: &Visitor, kind: &str, role: Role, texts: Option<&TypeTexts>) -> Option<OfRole> {
    let w = v.words;
    let language = match w.tongue {
        Tongue::English => Language::English,
        Tongue::Vietnamese => Language::Vietnamese,
    };
    let rules = match texts.map(api::TypeTexts::from) {
        Some(texts) => Rules::of_creator(kind, role, texts.of(role)),
        None => Rules::built_in(BuiltIn::named(kind)?, role, language),
    };
    let origin = match (rules.is_built_in(), rules.replace_built_in()) {
        (true, _) => w.rules_built_in.to_owned(),
        (false, false) => w.rules_of_creator.to_owned(),
        (false, true) => format!("{} {}", w.rules_of_creator, put(w.rules_replace, kind)),
    };
    let html = markdown::render(rules.text(), &|_| None);
    Some(OfRole { role, name: w.role(role), origin, is_built_in: rules.is_built_in(), html })
}
