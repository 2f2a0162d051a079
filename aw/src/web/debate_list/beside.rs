//! The list beside a debate, which wide screens show: the groups of the list in short rows, with its filters.

use askama::Template;

use super::{DebateRow, FOUND, Filters, FoundText, GroupKind, ListQuery, debates, row};
use crate::render::i18n::{Phrases, put};
use crate::render::markdown::plain;
use crate::server::{Access, Problem};
use crate::web::page_request::PageRequest;

/// How many debates of each group are shown at first.
const fn shown(kind: GroupKind) -> u64 {
    match kind {
        GroupKind::Needed | GroupKind::Active => 12,
        GroupKind::Closed => 6,
    }
}

/// How many are shown when a person asks for all. The list itself has pages.
const MOST: u64 = 100;

/// The list beside a debate.
#[derive(Template)]
#[template(path = "beside.html")]
pub(in crate::web) struct BesideList {
    t: &'static Phrases,
    /// The words of the search.
    words: String,
    filters: Filters,
    /// The id of the debate on the page.
    current: String,
    groups: Vec<BesideGroup>,
    /// Arguments and documents with the words of the search.
    found: Vec<FoundText>,
}

struct BesideGroup {
    name: &'static str,
    title: &'static str,
    total: u64,
    total_is_exact: bool,
    rows: Vec<DebateRow>,
    /// The address of all of them, and the text of the link.
    more: Option<(String, String)>,
}

impl BesideList {
    /// The list beside this debate, of the debates that the reader may see.
    pub(in crate::web) async fn of(
        access: &Access,
        request: &PageRequest,
        current: &str,
        asked: &ListQuery,
    ) -> Result<Self, Problem> {
        let t = request.phrases;
        let mut groups = Vec::new();
        for kind in GroupKind::shown(asked) {
            let shown = if asked.all == "1" { MOST } else { shown(*kind) };
            let list = debates(access, asked, *kind, shown).await?;
            let (name, title) = kind.name(t, request.rules());
            let (total, total_is_exact) = (list.total, list.total_is_exact);
            let more = (list.debates.len() as u64 > shown).then(|| {
                let exact = if total_is_exact { "" } else { "+" };
                (kind.address(asked, ""), put(t.show_all_of, format!("{total}{exact}")))
            });
            let shown = list.debates.iter().take(usize::try_from(shown).unwrap_or(usize::MAX));
            let rows = shown.map(|listed| row(&access.app, request, listed)).collect();
            groups.push(BesideGroup { name, title, total, total_is_exact, rows, more });
        }
        let rows = groups.iter().flat_map(|group| &group.rows);
        let kinds = rows.map(|row| row.kind.clone()).collect();
        let found = match asked.q.trim() {
            "" => Vec::new(),
            words => FoundText::all(access, t, words).await?,
        };
        Ok(BesideList {
            t,
            words: asked.q.clone(),
            filters: Filters::of(access, request, asked, kinds).await?,
            current: current.to_owned(),
            groups,
            found,
        })
    }

    fn is_empty(&self) -> bool {
        self.found.is_empty() && self.groups.iter().all(|group| group.rows.is_empty())
    }
}
