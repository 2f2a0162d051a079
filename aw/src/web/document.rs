//! `/doc/{id}`: a document in one version, or two versions compared.

use std::time::Duration;

use askama::Template;
use aw_core::{Content, DocumentId};
use aw_record::VersionListed;
use axum::response::Response;
use serde::Deserialize;

use super::assets;
use super::diff::{self, Comparison, Row};
use super::markdown::{self, plain};
use super::trouble;
use super::visitor::Visitor;
use super::words::{Words, put};
use crate::api::types::Stamp;
use crate::server::input::{Params, Segment};
use crate::server::{About, COMPARING, DRAWING, Desk, Problem, input};

/// How long a comparison may take.
const PATIENCE: Duration = Duration::from_millis(400);

/// How many versions can be picked from.
const LISTED: u64 = 200;

#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    version: Option<u64>,
    from: Option<u64>,
    to: Option<u64>,
    #[serde(default)]
    plain: String,
}

#[derive(Template)]
#[template(path = "document.html")]
struct DocumentPage<'a> {
    v: &'a Visitor,
    w: &'static Words,
    assets: &'a str,
    id: String,
    summary: String,
    place: String,
    author: String,
    ago: String,
    at: Stamp,
    is_deleted: bool,
    versions: Vec<Listed>,
    shown: u64,
    newest: u64,
    from: u64,
    to: u64,
    body: Body,
}

struct Listed {
    number: u64,
    summary: String,
    author: Option<String>,
    ago: String,
    at: Stamp,
}

impl Listed {
    fn of(version: &VersionListed, w: &'static Words, now: i64) -> Self {
        Listed {
            number: version.number,
            summary: version.summary.as_str().to_owned(),
            author: version.author.as_ref().map(|author| author.as_str().to_owned()),
            ago: w.ago(now - version.at.0),
            at: Stamp(version.at),
        }
    }
}

enum Body {
    /// The text, rendered.
    Words(String),
    /// The text as it is.
    Plain(String),
    /// What changed between two versions, drawn.
    Changes(String),
}

#[derive(Template)]
#[template(path = "changes.html")]
struct Changes<'a> {
    w: &'static Words,
    changes: Comparison<'a>,
    from: u64,
    to: u64,
}

pub(super) async fn read(
    desk: Desk,
    visitor: Visitor,
    Segment(id): Segment,
    Params(asked): Params<Asked>,
) -> Response {
    match page(&desk, &visitor, &id, &asked).await {
        Ok(page) => page,
        Err(problem) => trouble::page(&visitor, &problem.into()),
    }
}

async fn page(
    desk: &Desk,
    visitor: &Visitor,
    id: &str,
    asked: &Asked,
) -> Result<Response, Problem> {
    let w = visitor.words;
    let now = desk.app.record.now().0;
    let id: DocumentId = input::id("document_id", id)?;
    let engine = desk.engine("docs get", About::Document(id)).await?;
    let comparing = asked.from.is_some() && asked.to.is_some();
    // First its turn, then what it is drawn from: pages that wait for theirs hold nothing.
    let turn = if comparing { COMPARING.take().await } else { DRAWING.take().await };
    let mut document = engine.document(id, asked.to.or(asked.version), true).await?;
    let mut versions = Vec::new();
    loop {
        let next = versions.len() as u64;
        let some = engine.versions(id, true, LISTED - next, next).await?.versions;
        if some.is_empty() {
            break;
        }
        versions.extend(some.iter().map(|version| Listed::of(version, w, now)));
    }
    let number = document.version.version.number;
    let from = asked.from.unwrap_or_else(|| number.saturating_sub(1).max(1));
    let content =
        std::mem::replace(&mut document.version.content, Content::recorded(String::new()));
    let source = if comparing {
        drop(content);
        let (old, new) = engine.two_versions(id, Some(from), Some(number)).await?;
        Source::Two(old.content, new.content)
    } else if asked.plain == "1" {
        Source::Plain(content)
    } else {
        Source::Words(content)
    };
    let visitor = visitor.clone();
    let drawing = move || {
        let listed = &document.version.version;
        let author = listed.author.as_ref().map(|author| put(w.written_by, author));
        visitor.page(&DocumentPage {
            v: &visitor,
            w,
            assets: &assets::FOLDER,
            id: id.to_string(),
            summary: listed.summary.as_str().to_owned(),
            place: w
                .version_of
                .replace("{n}", &number.to_string())
                .replace("{all}", &document.newest.to_string()),
            author: author.unwrap_or_else(|| w.no_author.to_owned()),
            ago: w.ago(now - listed.at.0),
            at: Stamp(listed.at),
            is_deleted: document.deleted_at.is_some(),
            versions,
            shown: number,
            newest: document.newest,
            from,
            to: number,
            body: source.drawn(w, from, number),
        })
    };
    turn.run(drawing).await
}

/// What the body of a page is drawn from.
enum Source {
    Words(Content),
    Plain(Content),
    Two(Content, Content),
}

impl Source {
    fn drawn(self, w: &'static Words, from: u64, to: u64) -> Body {
        match self {
            Source::Words(text) => Body::Words(markdown::render(text.as_str(), &|_| None)),
            Source::Plain(text) => Body::Plain(text.into_string()),
            Source::Two(old, new) => {
                let changes = diff::compare(old.as_str(), new.as_str(), PATIENCE);
                Body::Changes(Changes { w, changes, from, to }.render().unwrap_or_default())
            }
        }
    }
}
