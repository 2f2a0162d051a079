//! `aw docs`: long texts, in versions.

use std::fs;
use std::path::PathBuf;

use clap::Subcommand;
use serde::Serialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::debate::Shape;
use super::human::{self, Paper};
use super::next_command::{CommandLine, YOUR_TEXT, quoted};
use super::output::{Answer, CliError, Detail, Format, Shown};
use super::refs;
use super::session::Session;
use super::text::TextInput;
use crate::api::client::{self, DocumentFilter, Reply, Request};
use crate::api::error::SERVER;
use crate::api::types::{Document, KeptVersion, SubmitDocument};

pub(super) const HELP: &str = "\
Keep long texts as documents in versions

Usage: aw docs <command>

Write
  create    Keep a new document (version 1)
  submit    Keep the next version of a document
  restore   Make an older version's text the newest version
  delete    Hide a document

Read
  get       Read a document, in its newest or a chosen version
  diff      Show what changed between two versions
  history   List the versions of a document, the newest first
  list      List documents, the most recently updated first
  export    Write a version to a file

How it goes
  aw docs create --summary \"Plan, first draft\" --file plan.md
  aw docs submit 0c5a… --summary \"v2: one writer\" --file plan.md
  aw docs diff 0c5a…

An argument cites a document as doc_id=0c5a… (v2).
aw docs <command> --help has its flags and an example.
";

/// Keep long texts as documents in versions
#[derive(Debug, Subcommand)]
#[command(defer = true, override_help = HELP)]
pub(super) enum Docs {
    /// Keep a new document (version 1)
    #[command(
        after_help = "Example:\n  aw docs create --summary \"Plan, first draft\" --file plan.md"
    )]
    Create(Create),
    /// Keep the next version of a document
    #[command(
        after_help = "Example:\n  aw docs submit 0c5a44a3-… --summary \"v2: one writer\" --file plan.md"
    )]
    Submit(Submit),
    /// Read a document, in its newest or a chosen version
    #[command(after_help = "Example:\n  aw docs get 0c5a44a3-… --version 1 --format plain")]
    Get(Get),
    /// List documents, the most recently updated first
    #[command(after_help = "Example:\n  aw docs list --search plan")]
    List(List),
    /// List the versions of a document, the newest first
    #[command(after_help = "Example:\n  aw docs history 0c5a44a3-…")]
    History(History),
    /// Show what changed between two versions
    #[command(after_help = "Example:\n  aw docs diff 0c5a44a3-… --from 1 --to 3")]
    Diff(DiffCommand),
    /// Write a version to a file
    #[command(after_help = "Example:\n  aw docs export 0c5a44a3-… --output plan.md")]
    Export(Export),
    /// Hide a document
    #[command(after_help = "Example:\n  aw docs delete 0c5a44a3-… --confirm")]
    Delete(Delete),
    /// Make an older version's text the newest version
    #[command(after_help = "Example:\n  aw docs restore 0c5a44a3-… --version 1")]
    Restore(Restore),
}

#[derive(Debug, clap::Args)]
pub(super) struct Create {
    #[command(flatten)]
    version: NewVersion,
    #[command(flatten)]
    shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(super) struct Submit {
    /// The document: its id, at least 4 characters of it, its title, or @last
    #[arg(value_name = "DOCUMENT")]
    document_id: String,
    #[command(flatten)]
    version: NewVersion,
    #[command(flatten)]
    shape: Shape,
}

#[derive(Debug, clap::Args)]
struct NewVersion {
    /// What it is, or what it changes, in one line
    #[arg(long, value_name = "TEXT")]
    summary: String,
    /// What the document is called [default: the first heading of its first version]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// A JSON object to keep with it
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,
    /// Makes a retry recognisable
    #[arg(long, value_name = "UUID")]
    client_request_id: Option<String>,
    /// A label for the author, at most 80 characters [env: AW_AUTHOR]
    #[arg(long, value_name = "LABEL")]
    author: Option<String>,
    #[command(flatten)]
    text: TextInput,
    #[command(flatten)]
    detail: Detail,
}

#[derive(Debug, clap::Args)]
pub(super) struct Get {
    /// The document: its id, at least 4 characters of it, its title, or @last
    #[arg(value_name = "DOCUMENT")]
    document_id: String,
    /// The version; by default the newest
    #[arg(long, value_name = "N")]
    version: Option<u64>,
    /// Show a deleted document too
    #[arg(long)]
    include_deleted: bool,
    /// json for agents, markdown for people, plain for the text alone [default: markdown on a
    /// terminal, else json]
    #[arg(long, value_enum, hide_possible_values = true, help_heading = "Output")]
    format: Option<GetFormat>,
    /// Log each step on stderr
    #[arg(long, help_heading = "Output")]
    verbose: bool,
    #[command(flatten)]
    detail: Detail,
}

/// How a document is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum GetFormat {
    /// One JSON object, for agents
    Json,
    /// Readable text, for people
    Markdown,
    /// The text and nothing else
    Plain,
}

#[derive(Debug, clap::Args)]
pub(super) struct List {
    /// Only those whose summary contains this
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Only those that this debate cites
    #[arg(long, value_name = "DEBATE")]
    debate: Option<String>,
    /// List deleted documents too
    #[arg(long)]
    include_deleted: bool,
    /// Show at most N
    #[arg(long, short, value_name = "N", default_value_t = 50)]
    limit: u64,
    /// Skip the first N
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u64,
    #[command(flatten)]
    shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(super) struct History {
    /// The document: its id, at least 4 characters of it, its title, or @last
    #[arg(value_name = "DOCUMENT")]
    document_id: String,
    /// Show a deleted document too
    #[arg(long)]
    include_deleted: bool,
    /// Show at most N
    #[arg(long, short, value_name = "N", default_value_t = 100)]
    limit: u64,
    /// Skip the first N
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u64,
    #[command(flatten)]
    shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(super) struct DiffCommand {
    /// The document: its id, at least 4 characters of it, its title, or @last
    #[arg(value_name = "DOCUMENT")]
    document_id: String,
    /// The older version; by default the one before --to
    #[arg(long, value_name = "N")]
    from: Option<u64>,
    /// The newer version; by default the newest
    #[arg(long, value_name = "N")]
    to: Option<u64>,
    #[command(flatten)]
    shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(super) struct Export {
    /// The document: its id, at least 4 characters of it, its title, or @last
    #[arg(value_name = "DOCUMENT")]
    document_id: String,
    /// Where to write it
    #[arg(long, short, value_name = "PATH")]
    output: PathBuf,
    /// The version; by default the newest
    #[arg(long, value_name = "N")]
    version: Option<u64>,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(super) struct Delete {
    /// The document: its id, at least 4 characters of it, its title, or @last
    #[arg(value_name = "DOCUMENT")]
    document_id: String,
    /// Confirm the deletion
    #[arg(long)]
    confirm: bool,
    #[command(flatten)]
    shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(super) struct Restore {
    /// The document: its id, at least 4 characters of it, its title, or @last
    #[arg(value_name = "DOCUMENT")]
    document_id: String,
    /// The version whose text becomes the newest
    #[arg(long, value_name = "N")]
    version: u64,
    #[command(flatten)]
    shape: Shape,
}

impl Docs {
    pub(super) fn format(&self) -> Format {
        match self {
            Docs::Create(command) => command.shape.format(),
            Docs::Submit(command) => command.shape.format(),
            Docs::Get(command) => match command.format {
                Some(GetFormat::Markdown) => Format::Markdown,
                Some(GetFormat::Json) => Format::Json,
                Some(GetFormat::Plain) | None => Format::usual(),
            },
            Docs::List(command) => command.shape.format(),
            Docs::History(command) => command.shape.format(),
            Docs::Diff(command) => command.shape.format(),
            Docs::Export(command) => command.shape.format(),
            Docs::Delete(command) => command.shape.format(),
            Docs::Restore(command) => command.shape.format(),
        }
    }

    pub(super) fn run(self) -> Result<Shown, CliError> {
        match self {
            Docs::Create(Create { version, shape }) => {
                let line = CommandLine::new("docs create");
                version.keep(shape, line, client::create_document, "Document created")
            }
            Docs::Submit(Submit { document_id, version, shape }) => {
                let document_id = refs::document(document_id, shape.verbose)?;
                let line = CommandLine::new("docs submit").word(&document_id);
                let add = |body| client::add_version(&document_id, body);
                version
                    .keep(shape, line, add, "Version submitted")
                    .map_err(|problem| problem.with("document_id", document_id.as_str()))
            }
            Docs::Get(command) => command.run(),
            Docs::List(command) => command.run(),
            Docs::History(command) => command.run(),
            Docs::Diff(command) => command.run(),
            Docs::Export(command) => command.run(),
            Docs::Delete(command) => command.run(),
            Docs::Restore(command) => command.run(),
        }
    }
}

impl NewVersion {
    /// Keeps it, or fails with the command that leads on.
    fn keep(
        &self,
        shape: Shape,
        line: CommandLine,
        request: impl FnOnce(SubmitDocument) -> Request<KeptVersion>,
        done: &str,
    ) -> Result<Shown, CliError> {
        let line = line
            .flag("--summary", &self.summary)
            .flag_if("--title", self.title.as_deref())
            .flag_if("--metadata", self.metadata.as_deref())
            .flag_if("--author", self.author.as_deref());
        let content = self.text.read().map_err(|problem| {
            let line = line.clone().flag("--file", YOUR_TEXT).format(shape.format());
            problem.with("next_command", line.into_string())
        })?;
        let id = self.client_request_id.clone().unwrap_or_else(|| Uuid::new_v4().to_string());
        let body = SubmitDocument {
            summary: self.summary.clone(),
            title: self.title.clone(),
            content: content.clone(),
            author: self.author.clone(),
            metadata: Some(self.metadata()?),
            client_request_id: Some(id.clone()),
        };
        let kept = keep(shape, self.detail, body, request, done);
        if kept.is_ok() {
            self.text.is_kept();
        }
        kept.map_err(|problem| {
            let problem = match self.text.draft() {
                Some(path) => problem.with("hint", format!("your text is in {}", path.display())),
                None => problem,
            };
            if problem.exit() != SERVER {
                return problem;
            }
            let line = line.clone().flag("--client-request-id", &id);
            let line = self.text.repeated(line, &content).format(shape.format());
            problem.with("retry_command", line.into_string())
        })
    }

    fn metadata(&self) -> Result<Map<String, Value>, CliError> {
        let Some(text) = &self.metadata else { return Ok(Map::new()) };
        serde_json::from_str(text).map_err(|_| {
            CliError::input(format!("--metadata is not a JSON object: {text}"))
                .suggest("Use for instance --metadata '{\"debate_id\": \"…\"}'")
        })
    }
}

/// Sends a document or a version.
fn keep(
    shape: Shape,
    detail: Detail,
    mut body: SubmitDocument,
    request: impl FnOnce(SubmitDocument) -> Request<KeptVersion>,
    done: &str,
) -> Result<Shown, CliError> {
    let id = body.client_request_id.clone().unwrap_or_default();
    let identified = |problem: CliError| problem.with("client_request_id", id.as_str());
    let session = Session::open(shape.verbose).map_err(identified)?;
    body.author = body.author.or_else(|| session.settings.author.clone());
    let kept = session.call(&request(body)).map_err(identified)?;
    let version = &kept.data.version;
    let cite = format!("doc_id={} (v{})", version.document_id.0, version.version);
    let output = KeptOutput { kept: kept.json, client_request_id: id.clone() };
    let answer = Answer::new(output, human::fields)
        .message(format!("{done}; cite it as {cite}"))
        .with("client_request_id", id)
        .detailed(detail);
    Ok(Shown::Answer(session.checked(answer)))
}

/// The server's answer, and the request that it answers.
#[derive(Debug, Serialize)]
struct KeptOutput {
    #[serde(flatten)]
    kept: Value,
    client_request_id: String,
}

impl Get {
    fn run(mut self) -> Result<Shown, CliError> {
        self.document_id = refs::document(self.document_id, self.verbose)?;
        let session = Session::open(self.verbose)?;
        let document = fetch(&session, &self.document_id, self.version, self.include_deleted)?;
        if self.format == Some(GetFormat::Plain) {
            return Ok(Shown::Raw(document.data.content.into_bytes()));
        }
        Ok(Shown::Answer(
            session.checked(Answer::new(document, human::document).detailed(self.detail)),
        ))
    }
}

fn fetch(
    session: &Session,
    document: &str,
    version: Option<u64>,
    include_deleted: bool,
) -> Result<Reply<Document>, CliError> {
    session
        .call(&client::document(document, version, include_deleted))
        .map_err(|problem| problem.with("document_id", document))
}

impl List {
    fn run(self) -> Result<Shown, CliError> {
        let session = Session::open(self.shape.verbose)?;
        let name = self.debate.as_deref();
        let debate = name.map(|name| refs::debate(name, self.shape.verbose)).transpose()?;
        let filter = DocumentFilter {
            debate: debate.as_deref(),
            search: self.search.as_deref(),
            include_deleted: self.include_deleted,
            limit: self.limit,
            offset: self.offset,
        };
        let list = session.call(&client::documents(filter))?;
        let line = CommandLine::new("docs list")
            .flag_if("--search", filter.search)
            .flag_if("--debate", filter.debate);
        let page = Page { shown: list.data.documents.len(), total: list.data.total, filter, line };
        Ok(Shown::Answer(session.checked(page.answer(list, human::documents, self.shape))))
    }
}

impl History {
    fn run(mut self) -> Result<Shown, CliError> {
        self.document_id = refs::document(self.document_id, self.shape.verbose)?;
        let session = Session::open(self.shape.verbose)?;
        let filter = DocumentFilter {
            debate: None,
            search: None,
            include_deleted: self.include_deleted,
            limit: self.limit,
            offset: self.offset,
        };
        let list = session
            .call(&client::versions(&self.document_id, filter))
            .map_err(|problem| problem.with("document_id", self.document_id.as_str()))?;
        let line = CommandLine::new("docs history").word(&self.document_id);
        let page = Page { shown: list.data.versions.len(), total: list.data.total, filter, line };
        Ok(Shown::Answer(session.checked(page.answer(list, human::history, self.shape))))
    }
}

/// A page of a list.
struct Page<'a> {
    shown: usize,
    total: u64,
    filter: DocumentFilter<'a>,
    /// The command, without the flags that lead to the next page.
    line: CommandLine,
}

impl Page<'_> {
    fn answer<T: Serialize + 'static>(
        self,
        list: T,
        draw: fn(&T, &Paper) -> String,
        shape: Shape,
    ) -> Answer {
        let Page { shown, total, filter, line } = self;
        let end = filter.offset.saturating_add(shown as u64);
        let answer = Answer::new(list, draw).of_total(total, end < total);
        // A page of nothing leads to itself.
        if end >= total || shown == 0 {
            return answer;
        }
        let next = line
            .word_if("--include-deleted", filter.include_deleted)
            .flag("--limit", &filter.limit.to_string())
            .flag("--offset", &end.to_string());
        answer.next(next.format(shape.format()).into_string())
    }
}

impl DiffCommand {
    fn run(mut self) -> Result<Shown, CliError> {
        self.document_id = refs::document(self.document_id, self.shape.verbose)?;
        let session = Session::open(self.shape.verbose)?;
        let diff = session
            .call(&client::diff(&self.document_id, self.from, self.to))
            .map_err(|problem| problem.with("document_id", self.document_id.as_str()))?;
        Ok(Shown::Answer(session.checked(Answer::new(diff, human::diff))))
    }
}

impl Export {
    fn run(mut self) -> Result<Shown, CliError> {
        self.document_id = refs::document(self.document_id, self.shape.verbose)?;
        let session = Session::open(self.shape.verbose)?;
        let Document { version, content: text, .. } =
            fetch(&session, &self.document_id, self.version, false)?.data;
        // The user may have changed the file since it was exported.
        let there = fs::read(&self.output).ok().filter(|there| there != text.as_bytes());
        if there.is_some() && !self.force {
            let shown = self.output.display().to_string();
            let again = CommandLine::new("docs export")
                .word(&self.document_id)
                .flag("--output", &shown)
                .flag_if("--version", self.version.map(|version| version.to_string()).as_deref())
                .word("--force");
            return Err(CliError::input(format!(
                "{shown} is there and holds something else than version {}",
                version.version
            ))
            .suggest(format!(
                "Give another path with --output, or write over it: {}",
                again.into_string()
            ))
            .with("document_id", self.document_id.as_str()));
        }
        fs::write(&self.output, &text).map_err(|error| {
            CliError::input(format!("{} cannot be written: {error}", self.output.display()))
                .suggest("Give another path with --output")
                .with("document_id", self.document_id.as_str())
        })?;
        let data = json!({
            "document_id": version.document_id,
            "version": version.version,
            "output": self.output.display().to_string(),
            "bytes": text.len(),
        });
        Ok(Shown::Answer(
            session.checked(Answer::new(data, human::fields).message("Document written")),
        ))
    }
}

impl Delete {
    fn run(mut self) -> Result<Shown, CliError> {
        self.document_id = refs::document(self.document_id, self.shape.verbose)?;
        if !self.confirm {
            return Err(CliError::input("this hides the document, so it wants --confirm")
                .suggest(format!("aw docs delete {} --confirm", quoted(&self.document_id)))
                .with("document_id", self.document_id.as_str()));
        }
        let session = Session::open(self.shape.verbose)?;
        let deleted = session
            .call(&client::delete_document(&self.document_id))
            .map_err(|problem| problem.with("document_id", self.document_id.as_str()))?;
        let output = DeletedOutput { deleted: deleted.json, document_id: self.document_id };
        Ok(Shown::Answer(
            session.checked(Answer::new(output, human::fields).message("Document deleted")),
        ))
    }
}

/// The server's answer, and the document that is hidden now.
#[derive(Debug, Serialize)]
struct DeletedOutput {
    #[serde(flatten)]
    deleted: Value,
    document_id: String,
}

impl Restore {
    fn run(mut self) -> Result<Shown, CliError> {
        self.document_id = refs::document(self.document_id, self.shape.verbose)?;
        let session = Session::open(self.shape.verbose)?;
        let Document { version: old, content, .. } =
            fetch(&session, &self.document_id, Some(self.version), false)?.data;
        let restored: String =
            format!("Restored v{}: {}", self.version, old.summary).chars().take(500).collect();
        let body = SubmitDocument {
            summary: restored,
            title: None,
            content,
            author: None,
            metadata: Some(old.metadata),
            client_request_id: Some(Uuid::new_v4().to_string()),
        };
        let add = |body| client::add_version(&self.document_id, body);
        keep(self.shape, Detail::default(), body, add, "Version restored")
            .map_err(|problem| problem.with("document_id", self.document_id.as_str()))
    }
}
