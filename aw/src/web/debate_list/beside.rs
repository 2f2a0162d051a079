//! The list beside a debate, which wide screens show: the groups of the list in short rows.

use askama::Template;

use super::{DebateRow, GroupKind, ListQuery, debates, row};
use crate::render::i18n::Phrases;
use crate::render::markdown::plain;
use crate::server::{Access, Problem};
use crate::web::page_request::PageRequest;

/// How many debates of each group are shown. The list itself has all.
const SHOWN: [(GroupKind, u64); 3] =
    [(GroupKind::Needed, 12), (GroupKind::Active, 12), (GroupKind::Closed, 6)];

/// The list beside a debate.
#[derive(Template)]
#[template(path = "beside.html")]
pub(in crate::web) struct BesideList {
    t: &'static Phrases,
    /// The id of the debate on the page.
    current: String,
    groups: Vec<BesideGroup>,
}

struct BesideGroup {
    name: &'static str,
    title: &'static str,
    total: u64,
    total_is_exact: bool,
    rows: Vec<DebateRow>,
}

impl BesideList {
    /// The list beside this debate, of the debates that the reader may see.
    pub(in crate::web) async fn of(
        access: &Access,
        request: &PageRequest,
        current: &str,
    ) -> Result<Self, Problem> {
        let t = request.phrases;
        let mut groups = Vec::with_capacity(SHOWN.len());
        for (kind, shown) in SHOWN {
            let list = debates(access, &ListQuery::default(), kind, shown).await?;
            let (name, title) = kind.name(t, request.rules());
            let (total, total_is_exact) = (list.total, list.total_is_exact);
            let shown = list.debates.iter().take(usize::try_from(shown).unwrap_or(usize::MAX));
            let rows = shown.map(|listed| row(&access.app, request, listed)).collect();
            groups.push(BesideGroup { name, title, total, total_is_exact, rows });
        }
        Ok(BesideList { t, current: current.to_owned(), groups })
    }
}
