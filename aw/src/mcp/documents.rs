//! The tools for documents.

use serde::Deserialize;
use serde_json::json;

use super::Hand;
use super::moves::{request_id, shorn};
use super::next_call::NextCall;
use super::quoting::Answer;
use super::refusal::Refusal;
use super::results::{Diff, Document, Documents, Kept, QUOTED};
use super::tool_args::Arguments;
use super::tools::Tool;
use crate::api::http::encoded;
use crate::api::types::{DocumentIdText, DocumentListed, Stamp};

/// What the API answers to a version that was sent.
#[derive(Debug, Deserialize)]
struct Receipt {
    document_id: DocumentIdText,
    version: u64,
    summary: String,
    created_at: Stamp,
    replayed: bool,
}

/// What the API answers to a list.
#[derive(Debug, Deserialize)]
struct Page {
    documents: Vec<DocumentListed>,
    total: u64,
    total_is_exact: bool,
}

impl Hand {
    pub(super) async fn create_document(&self, given: &Arguments) -> Result<Answer, Refusal> {
        self.keep(given, "/documents".to_owned(), "Document created").await
    }

    pub(super) async fn submit_document(&self, given: &Arguments) -> Result<Answer, Refusal> {
        let document = given.text("document_id")?;
        let path = format!("/documents/{}/versions", encoded(document));
        let kept = self.keep(given, path, "Version submitted").await;
        kept.map_err(|refusal| refusal.with_id("document_id", document))
    }

    async fn keep(
        &self,
        given: &Arguments,
        path: String,
        message: &str,
    ) -> Result<Answer, Refusal> {
        let request = request_id(given, || None)?;
        let author = self.author(given)?;
        let mut body = json!({
            "summary": given.text("summary")?,
            "content": given.text("content")?,
            "metadata": given.object("metadata")?,
            "author": author,
            "client_request_id": request,
        });
        shorn(&mut body);
        let identified = |refusal: Refusal| refusal.with_id("client_request_id", &request);
        let receipt: Receipt = self.way.post(path, body).await.map_err(identified)?;
        let cite = format!("doc_id={} (v{})", receipt.document_id.0, receipt.version);
        let message = match receipt.replayed {
            true => format!("{message} before: this is the first answer again"),
            false => message.to_owned(),
        };
        let words = format!("{message}; cite it as {cite}");
        let kept = Kept {
            message,
            cite,
            document_id: receipt.document_id,
            version: receipt.version,
            summary: receipt.summary,
            created_at: receipt.created_at,
            replayed: receipt.replayed,
            client_request_id: request,
        };
        Ok(Answer::new(&kept, words))
    }

    pub(super) async fn document(&self, given: &Arguments) -> Result<Answer, Refusal> {
        let (document, version) = (given.text("document_id")?, given.whole("version")?);
        let read = self.read_document(document, version, given.flag("include_deleted")?).await?;
        let words = format!(
            "Version {} of document {document}; the newest is {}.{}",
            read.version,
            read.newest_version,
            if read.deleted_at.is_some() { " It was deleted." } else { "" },
        );
        let author = read.author.as_deref().unwrap_or("somebody unnamed");
        let heading = format!("The text, by {author:?}");
        Ok(Answer::new(&read, words)
            .quoting("Its summary", &read.summary)
            .quoting(&heading, &read.content))
    }

    pub(super) async fn read_document(
        &self,
        document: &str,
        version: Option<u64>,
        deleted: bool,
    ) -> Result<Document, Refusal> {
        let version = version.map_or(String::new(), |version| format!("&version={version}"));
        let path = format!("/documents/{}?include_deleted={deleted}{version}", encoded(document));
        self.way.get(path).await.map_err(|refusal| refusal.with_id("document_id", document))
    }

    pub(super) async fn documents(&self, given: &Arguments) -> Result<Answer, Refusal> {
        let limit = given.whole("limit")?.unwrap_or(50);
        let offset = given.whole("offset")?.unwrap_or(0);
        let (search, deleted) = (given.optional("search")?, given.flag("include_deleted")?);
        let q = search.map_or(String::new(), |text| format!("&q={}", encoded(text)));
        let path = format!("/documents?limit={limit}&offset={offset}&include_deleted={deleted}{q}");
        let page: Page =
            self.way.get(path).await.map_err(|refusal| refusal.calling("q", "search"))?;
        let shown = page.documents.len() as u64;
        let has_more = offset.saturating_add(shown) < page.total;
        let next = (has_more && shown > 0).then(|| {
            let arguments = json!({
                "search": search,
                "include_deleted": deleted.then_some(true),
                "limit": limit,
                "offset": offset + shown,
            });
            NextCall::new(Tool::DocsList, arguments)
        });
        let mut words = format!("{} documents in all, {shown} of them here.\n", page.total);
        if let Some(next) = &next {
            words.push_str(&format!("Next: {}", next.words()));
        }
        let summaries: Vec<String> = page
            .documents
            .iter()
            .map(|one| format!("{} (v{}): {}", one.document_id.0, one.version, one.summary))
            .collect();
        let documents = Documents {
            next,
            total: page.total,
            total_is_exact: page.total_is_exact,
            has_more,
            documents: page.documents,
            quoted: QUOTED,
        };
        let answer = Answer::new(&documents, words);
        if summaries.is_empty() {
            return Ok(answer);
        }
        Ok(answer.quoting("Their summaries", &summaries.join("\n")))
    }

    pub(super) async fn difference(&self, given: &Arguments) -> Result<Answer, Refusal> {
        let document = given.text("document_id")?;
        let side = |name: &str| -> Result<String, Refusal> {
            Ok(given.whole(name)?.map_or(String::new(), |version| format!("&{name}={version}")))
        };
        let path =
            format!("/documents/{}/diff?{}{}", encoded(document), side("from")?, side("to")?);
        let diff: Diff =
            self.way.get(path).await.map_err(|refusal| refusal.with_id("document_id", document))?;
        let words = format!(
            "From version {} to {} of document {document}.{}",
            diff.from,
            diff.to,
            if diff.diff.is_empty() { " The texts are the same." } else { "" },
        );
        Ok(Answer::new(&diff, words).quoting("The difference", &diff.diff))
    }
}
