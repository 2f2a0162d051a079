//! The tools for documents.

use uuid::Uuid;

use super::Toolbox;
use super::inputs::{DocsCreate, DocsDiff, DocsGet, DocsList, DocsSubmit, Flag, Whole};
use super::next_call::NextCall;
use super::quoting::ToolAnswer;
use super::refusal::ToolRefusal;
use super::results::{Document, Documents, Kept, QUOTED};
use super::tool_args::Arguments;
use super::tools::Tool;
use crate::api::client::{self, DocumentFilter, Request};
use crate::api::types::{KeptVersion, SubmitDocument};

impl Toolbox {
    pub(super) async fn create_document(
        &self,
        given: &Arguments,
    ) -> Result<ToolAnswer, ToolRefusal> {
        let DocsCreate { summary, content, metadata, author, client_request_id } = given.parse()?;
        let title = None;
        let body = SubmitDocument { summary, title, content, author, metadata, client_request_id };
        self.keep(body, client::create_document, "Document created").await
    }

    pub(super) async fn submit_document(
        &self,
        given: &Arguments,
    ) -> Result<ToolAnswer, ToolRefusal> {
        let DocsSubmit { document_id, summary, content, metadata, author, client_request_id } =
            given.parse()?;
        let title = None;
        let body = SubmitDocument { summary, title, content, author, metadata, client_request_id };
        let add = |body| client::add_version(&document_id, body);
        let kept = self.keep(body, add, "Version submitted").await;
        kept.map_err(|refusal| refusal.with_id("document_id", &document_id))
    }

    async fn keep(
        &self,
        mut body: SubmitDocument,
        request: impl FnOnce(SubmitDocument) -> Request<KeptVersion>,
        message: &str,
    ) -> Result<ToolAnswer, ToolRefusal> {
        let id = body.client_request_id.unwrap_or_else(|| Uuid::new_v4().to_string());
        body.client_request_id = Some(id.clone());
        body.author = self.author(body.author);
        let request = request(body);
        let sent = self.transport.send(&request).await;
        let KeptVersion { version, replayed } =
            sent.map_err(|refusal| refusal.with_id("client_request_id", &id))?;
        let cite = format!("doc_id={} (v{})", version.document_id.0, version.version);
        let message = match replayed {
            true => format!("{message} before: this is the first answer again"),
            false => message.to_owned(),
        };
        let words = format!("{message}; cite it as {cite}");
        let kept = Kept {
            message,
            cite,
            document_id: version.document_id,
            version: version.version,
            summary: version.summary,
            created_at: version.created_at,
            replayed,
            client_request_id: id,
        };
        Ok(ToolAnswer::brief(&kept, words))
    }

    pub(super) async fn document(&self, given: &Arguments) -> Result<ToolAnswer, ToolRefusal> {
        let DocsGet { document_id: document, version, include_deleted } = given.parse()?;
        let version = version.map(|version| version.0);
        let read = self.read_document(&document, version, Flag::is_set(include_deleted)).await?;
        let words = format!(
            "Version {} of document {document}; the newest is {}.{}",
            read.version,
            read.newest_version,
            if read.deleted_at.is_some() { " It was deleted." } else { "" },
        );
        let author = read.author.as_deref().unwrap_or("somebody unnamed");
        let heading = format!("The text, by {author:?}");
        Ok(ToolAnswer::brief(&read, words)
            .quoting("Its summary", &read.summary)
            .quoting(&heading, &read.content))
    }

    pub(super) async fn read_document(
        &self,
        document: &str,
        version: Option<u64>,
        deleted: bool,
    ) -> Result<Document, ToolRefusal> {
        let request = client::document(document, version, deleted);
        let read = self.transport.send(&request).await;
        read.map(Document::from).map_err(|refusal| refusal.with_id("document_id", document))
    }

    pub(super) async fn documents(&self, given: &Arguments) -> Result<ToolAnswer, ToolRefusal> {
        let input: DocsList = given.parse()?;
        let filter = DocumentFilter {
            debate: None,
            search: input.search.as_deref(),
            include_deleted: Flag::is_set(input.include_deleted),
            limit: input.limit.map_or(50, |limit| limit.0),
            offset: input.offset.map_or(0, |offset| offset.0),
        };
        let page = self.transport.send(&client::documents(filter)).await;
        let page = page.map_err(|refusal| refusal.calling("q", "search"))?;
        let shown = page.documents.len() as u64;
        let has_more = filter.offset.saturating_add(shown) < page.total;
        let next = (has_more && shown > 0).then(|| {
            let more = DocsList {
                search: input.search.clone(),
                include_deleted: filter.include_deleted.then_some(Flag(true)),
                limit: Some(Whole(filter.limit)),
                offset: Some(Whole(filter.offset + shown)),
            };
            NextCall::new(Tool::DocsList, &more)
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
        let answer = ToolAnswer::new(&documents, words);
        if summaries.is_empty() {
            return Ok(answer);
        }
        Ok(answer.quoting("Their summaries", &summaries.join("\n")))
    }

    pub(super) async fn difference(&self, given: &Arguments) -> Result<ToolAnswer, ToolRefusal> {
        let DocsDiff { document_id: document, from, to } = given.parse()?;
        let request = client::diff(&document, from.map(|from| from.0), to.map(|to| to.0));
        let diff = self.transport.send(&request).await;
        let diff = diff.map_err(|refusal| refusal.with_id("document_id", &document))?;
        let words = format!(
            "From version {} to {} of document {document}.{}",
            diff.from,
            diff.to,
            if diff.diff.is_empty() { " The texts are the same." } else { "" },
        );
        Ok(ToolAnswer::new(&diff, words).quoting("The difference", &diff.diff))
    }
}
