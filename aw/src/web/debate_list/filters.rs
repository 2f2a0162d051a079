//! The fields that filter the list, on its page and beside a debate.

use askama::Template;
use aw_core::Outcome;
use aw_record::ProjectListed;

use super::ListQuery;
use crate::kit::texts::BuiltIn;
use crate::render::i18n::Phrases;
use crate::server::{Access, Problem};
use crate::web::page_request::PageRequest;

/// The choices by state, outcome, type and project.
#[derive(Template)]
#[template(path = "filters.html")]
pub(super) struct Filters {
    t: &'static Phrases,
    asked: ListQuery,
    states: Vec<(&'static str, &'static str)>,
    outcomes: Vec<(&'static str, &'static str)>,
    kinds: Vec<String>,
    projects: Vec<ProjectListed>,
}

impl Filters {
    /// The filters as they were asked for. Besides the built-in types, `kinds` are offered.
    pub(super) async fn of(
        access: &Access,
        request: &PageRequest,
        asked: &ListQuery,
        mut kinds: Vec<String>,
    ) -> Result<Self, Problem> {
        let t = request.phrases;
        kinds.extend(BuiltIn::ALL.map(|kind| kind.name().to_owned()));
        kinds.extend((!asked.kind.is_empty()).then(|| asked.kind.clone()));
        kinds.sort();
        kinds.dedup();
        let outcomes = [Outcome::Agreed, Outcome::Ruled, Outcome::LeftOpen, Outcome::Completed];
        Ok(Filters {
            t,
            asked: asked.clone(),
            states: vec![
                ("needed", if request.rules() { t.needs_you } else { t.needs_arbitrator }),
                ("active", t.active),
                ("AWAITING_OPPONENT", t.awaiting_opponent),
                ("AWAITING_PROPOSER", t.awaiting_proposer),
                ("CLOSED", t.closed_group),
            ],
            outcomes: outcomes
                .into_iter()
                .filter_map(|outcome| Some((outcome.as_str(), t.outcome(outcome)?)))
                .collect(),
            kinds,
            projects: access.projects().await?,
        })
    }
}
