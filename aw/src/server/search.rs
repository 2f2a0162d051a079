//! `/search`: finds texts in the whole record.

use aw_record::{self as record, Search};
use serde::Deserialize;
use utoipa::IntoParams;

use super::access::Access;
use super::error::Problem;
use super::input::{self, Params};
use super::json::{Json, JsonResult};
use super::openapi::errors::ReadErrors;
use crate::api::types::{HitKind, SearchHit, SearchPage, SnippetPart, Stamp, Success, Text};

/// The most characters of a search.
const MOST_CHARS: usize = 500;

/// The most hits of a page.
const MOST_HITS: u64 = 100;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct SearchParams {
    /// Words that a text must have, all of them; the last one may be the beginning of a word. Case and
    /// diacritics do not matter. Or the beginning of an id. At most 500 characters and 32 different
    /// words.
    #[param(value_type = String)]
    q: Option<String>,
    /// Only in this debate and in the documents that it cites.
    #[param(value_type = Option<String>, format = Uuid)]
    debate_id: Option<String>,
    /// The most hits to return; above 100 counts as 100.
    #[param(value_type = Option<u64>, default = 20)]
    limit: Option<String>,
    /// `next_before` of the previous page.
    before: Option<String>,
}

/// Searches titles, arguments, newest versions of documents, ids and authors.
#[utoipa::path(
    get,
    path = "/search",
    operation_id = "search",
    params(SearchParams),
    responses(
        (status = 200, body = Success<SearchPage>),
        ReadErrors,
    )
)]
pub(super) async fn search(
    access: Access,
    Params(params): Params<SearchParams>,
) -> JsonResult<SearchPage> {
    let text = input::search(params.q)?.unwrap_or_default();
    if !text.contains(char::is_alphanumeric) {
        let message = "there is no word to search for";
        return Err(Problem::input("q", message).suggest("Write a word, or the beginning of an id"));
    }
    if text.chars().nth(MOST_CHARS).is_some() {
        let message = format!("`q` is longer than {MOST_CHARS} characters");
        return Err(Problem::input("q", message).suggest("Search for fewer words"));
    }
    let search = Search {
        text,
        debate: input::optional_id("debate_id", params.debate_id.as_deref())?,
        seen_by: None,
        before: input::optional("before", params.before.as_deref())?,
        limit: input::limit(params.limit.as_deref(), 20)?.min(MOST_HITS),
    };
    Ok(Json(Success::new(access.search(search).await?.into())))
}

impl From<record::SearchPage> for SearchPage {
    fn from(page: record::SearchPage) -> Self {
        SearchPage {
            hits: page.hits.into_iter().map(SearchHit::from).collect(),
            next_before: page.next.map(|mark| mark.to_string()),
            is_complete: page.is_complete,
        }
    }
}

impl From<record::SearchHit> for SearchHit {
    fn from(hit: record::SearchHit) -> Self {
        let snippet = hit.snippet.into_iter();
        let mut shape = SearchHit {
            kind: HitKind::Title,
            debate_id: None,
            debate_title: None,
            argument_id: None,
            seq: None,
            argument_type: None,
            role: None,
            document_id: None,
            version: None,
            summary: None,
            author: hit.author.map(|author| author.as_str().to_owned()),
            created_at: Stamp(hit.at),
            snippet: snippet
                .map(|part| SnippetPart { text: part.text, is_match: part.is_match })
                .collect(),
        };
        match hit.place {
            record::HitPlace::Title { debate, title } => {
                shape.debate_id = Some(Text(debate));
                shape.debate_title = Some(title.as_str().to_owned());
            }
            record::HitPlace::Argument { debate, title, id, seq, kind, role } => {
                shape.kind = HitKind::Argument;
                shape.debate_id = Some(Text(debate));
                shape.debate_title = Some(title.as_str().to_owned());
                shape.argument_id = Some(Text(id));
                shape.seq = Some(seq.0);
                shape.argument_type = Some(kind.into());
                shape.role = Some(role.into());
            }
            record::HitPlace::Document { id, version, summary, .. } => {
                shape.kind = HitKind::Document;
                shape.document_id = Some(Text(id));
                shape.version = Some(version);
                shape.summary = Some(summary.as_str().to_owned());
            }
        }
        shape
    }
}
