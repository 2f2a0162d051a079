//! `aw docs`: long texts, in versions.

use std::fs;
use std::path::PathBuf;

use clap::Subcommand;
use serde_json::{Value, json};
use uuid::Uuid;

use super::SERVER;
use super::debate::Shape;
use super::human;
use super::next_command::{CommandLine, YOUR_TEXT, quoted};
use super::output::{Answer, Format, Problem, Shown};
use super::session::Session;
use super::text::Text;
use crate::api::http::{Call, encoded};

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
  aw docs diff 0c5a… --format markdown

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
    #[command(after_help = "Example:\n  aw docs diff 0c5a44a3-… --from 1 --to 3 --format markdown")]
    Diff(Diff),
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
    /// The document
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
    /// A JSON object to keep with it
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,
    /// Makes a retry recognisable
    #[arg(long, value_name = "UUID")]
    client_request_id: Option<String>,
    /// A label of who writes, at most 80 characters [env: AW_AUTHOR]
    #[arg(long, value_name = "LABEL")]
    author: Option<String>,
    #[command(flatten)]
    text: Text,
}

#[derive(Debug, clap::Args)]
pub(super) struct Get {
    /// The document
    document_id: String,
    /// This version; without it the newest
    #[arg(long, value_name = "N")]
    version: Option<u64>,
    /// Also when it was deleted
    #[arg(long)]
    include_deleted: bool,
    /// json for agents, markdown for people, plain for the text alone
    #[arg(long, value_enum, default_value_t, hide_possible_values = true, help_heading = "Output")]
    format: GetFormat,
    /// Say on stderr what is being done
    #[arg(long, help_heading = "Output")]
    verbose: bool,
}

/// How a document is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum GetFormat {
    /// One JSON object, for agents
    #[default]
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
    /// Also those that were deleted
    #[arg(long)]
    include_deleted: bool,
    /// At most so many
    #[arg(long, short, value_name = "N", default_value_t = 50)]
    limit: u64,
    /// Leave out so many
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u64,
    #[command(flatten)]
    shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(super) struct History {
    /// The document
    document_id: String,
    /// Also when it was deleted
    #[arg(long)]
    include_deleted: bool,
    /// At most so many
    #[arg(long, short, value_name = "N", default_value_t = 100)]
    limit: u64,
    /// Leave out so many
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u64,
    #[command(flatten)]
    shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(super) struct Diff {
    /// The document
    document_id: String,
    /// The older side; by default the version before
    #[arg(long, value_name = "N")]
    from: Option<u64>,
    /// The newer side; by default the newest
    #[arg(long, value_name = "N")]
    to: Option<u64>,
    #[command(flatten)]
    shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(super) struct Export {
    /// The document
    document_id: String,
    /// Where to write it
    #[arg(long, short, value_name = "PATH")]
    output: PathBuf,
    /// This version; without it the newest
    #[arg(long, value_name = "N")]
    version: Option<u64>,
    /// Write over a file that holds something else
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(super) struct Delete {
    /// The document
    document_id: String,
    /// Do it
    #[arg(long)]
    confirm: bool,
    #[command(flatten)]
    shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(super) struct Restore {
    /// The document
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
            Docs::Create(command) => command.shape.format,
            Docs::Submit(command) => command.shape.format,
            Docs::Get(command) => match command.format {
                GetFormat::Markdown => Format::Markdown,
                GetFormat::Json | GetFormat::Plain => Format::Json,
            },
            Docs::List(command) => command.shape.format,
            Docs::History(command) => command.shape.format,
            Docs::Diff(command) => command.shape.format,
            Docs::Export(command) => command.shape.format,
            Docs::Delete(command) => command.shape.format,
            Docs::Restore(command) => command.shape.format,
        }
    }

    pub(super) fn run(self) -> Result<Shown, Problem> {
        match self {
            Docs::Create(Create { version, shape }) => version.keep(
                shape,
                CommandLine::new("docs create"),
                "/documents",
                "Document created",
            ),
            Docs::Submit(Submit { document_id, version, shape }) => {
                let line = CommandLine::new("docs submit").word(&document_id);
                let path = format!("{}/versions", path_of(&document_id));
                version
                    .keep(shape, line, &path, "Version submitted")
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
        path: &str,
        message: &str,
    ) -> Result<Shown, Problem> {
        let format = (shape.format != Format::Json).then(|| shape.format.as_str());
        let line = line
            .flag("--summary", &self.summary)
            .flag_if("--metadata", self.metadata.as_deref())
            .flag_if("--author", self.author.as_deref());
        let content = self.text.read().map_err(|problem| {
            let line = line.clone().flag("--file", YOUR_TEXT).flag_if("--format", format);
            problem.with("next_command", line.into_string())
        })?;
        let body = self.body(&content)?;
        let request = body["client_request_id"].as_str().unwrap_or_default().to_owned();
        keep(shape, path, body, message).map_err(|problem| {
            if problem.exit() != SERVER {
                return problem;
            }
            let line = line.clone().flag("--client-request-id", &request);
            let line = self.text.repeated(line, &content).flag_if("--format", format);
            problem.with("retry_command", line.into_string())
        })
    }

    fn body(&self, content: &str) -> Result<Value, Problem> {
        let metadata = match &self.metadata {
            None => json!({}),
            Some(text) => serde_json::from_str::<Value>(text)
                .ok()
                .filter(Value::is_object)
                .ok_or_else(|| {
                    Problem::input(format!("--metadata is not a JSON object: {text}"))
                        .suggest("Use for instance --metadata '{\"debate_id\": \"…\"}'")
                })?,
        };
        let mut body = json!({
            "summary": self.summary,
            "content": content,
            "metadata": metadata,
            "client_request_id":
                self.client_request_id.clone().unwrap_or_else(|| Uuid::new_v4().to_string()),
        });
        if let Some(author) = &self.author {
            body["author"] = author.as_str().into();
        }
        Ok(body)
    }
}

/// Sends a document or a version.
fn keep(shape: Shape, path: &str, mut body: Value, message: &str) -> Result<Shown, Problem> {
    let request = body["client_request_id"].clone();
    let identified = |problem: Problem| problem.with("client_request_id", request.clone());
    let session = Session::open(shape.verbose).map_err(identified)?;
    if body["author"].is_null()
        && let Some(author) = &session.settings.author
    {
        body["author"] = author.as_str().into();
    }
    let mut data = session.call(Call::Post(path, &body)).map_err(identified)?;
    data["client_request_id"] = request.clone();
    let (id, version) = (data["document_id"].clone(), data["version"].clone());
    let cite = format!("doc_id={} (v{version})", id.as_str().unwrap_or_default());
    let answer = Answer::new(data, human::fields)
        .message(format!("{message}; cite it as {cite}"))
        .with("client_request_id", request);
    Ok(Shown::Answer(session.checked(answer)))
}

impl Get {
    fn run(self) -> Result<Shown, Problem> {
        let session = Session::open(self.verbose)?;
        let data = fetch(&session, &self.document_id, self.version, self.include_deleted)?;
        if self.format == GetFormat::Plain {
            let text = data["content"].as_str().unwrap_or_default();
            return Ok(Shown::Raw(text.as_bytes().to_vec()));
        }
        Ok(Shown::Answer(session.checked(Answer::new(data, human::document))))
    }
}

fn fetch(
    session: &Session,
    document: &str,
    version: Option<u64>,
    include_deleted: bool,
) -> Result<Value, Problem> {
    let version = version.map_or(String::new(), |version| format!("&version={version}"));
    let path = format!("{}?include_deleted={include_deleted}{version}", path_of(document));
    session.call(Call::Get(&path)).map_err(|problem| problem.with("document_id", document))
}

impl List {
    fn run(self) -> Result<Shown, Problem> {
        let session = Session::open(self.shape.verbose)?;
        let search =
            self.search.as_deref().map_or(String::new(), |text| format!("&q={}", encoded(text)));
        let path = format!(
            "/documents?limit={}&offset={}&include_deleted={}{search}",
            self.limit, self.offset, self.include_deleted
        );
        let data = session.call(Call::Get(&path))?;
        let line = CommandLine::new("docs list").flag_if("--search", self.search.as_deref());
        let line = if self.include_deleted { line.word("--include-deleted") } else { line };
        let page = Page { rows: "documents", limit: self.limit, offset: self.offset, line };
        paged(&session, data, page, self.shape, human::documents)
    }
}

impl History {
    fn run(self) -> Result<Shown, Problem> {
        let session = Session::open(self.shape.verbose)?;
        let path = format!(
            "{}/versions?limit={}&offset={}&include_deleted={}",
            path_of(&self.document_id),
            self.limit,
            self.offset,
            self.include_deleted
        );
        let data = session
            .call(Call::Get(&path))
            .map_err(|problem| problem.with("document_id", self.document_id.as_str()))?;
        let line = CommandLine::new("docs history").word(&self.document_id);
        let line = if self.include_deleted { line.word("--include-deleted") } else { line };
        let page = Page { rows: "versions", limit: self.limit, offset: self.offset, line };
        paged(&session, data, page, self.shape, human::history)
    }
}

/// Which part of a list was asked for.
struct Page {
    rows: &'static str,
    limit: u64,
    offset: u64,
    /// The command, without what leads to the next page.
    line: CommandLine,
}

fn paged(
    session: &Session,
    data: Value,
    page: Page,
    shape: Shape,
    drawn: fn(&Value, &human::Paper) -> String,
) -> Result<Shown, Problem> {
    let shown = data[page.rows].as_array().map_or(0, Vec::len) as u64;
    let total = data["total"].as_u64().unwrap_or(shown);
    let end = page.offset.saturating_add(shown);
    let mut answer = Answer::new(data, drawn).of_total(total, end < total);
    // A page of nothing leads to itself.
    if end < total && shown > 0 {
        let format = (shape.format != Format::Json).then(|| shape.format.as_str());
        let next = page.line.flag("--limit", &page.limit.to_string());
        let next = next.flag("--offset", &end.to_string()).flag_if("--format", format);
        answer = answer.next(next.into_string());
    }
    Ok(Shown::Answer(session.checked(answer)))
}

impl Diff {
    fn run(self) -> Result<Shown, Problem> {
        let session = Session::open(self.shape.verbose)?;
        let side = |name: &str, version: Option<u64>| {
            version.map_or(String::new(), |version| format!("&{name}={version}"))
        };
        let path = format!(
            "{}/diff?{}{}",
            path_of(&self.document_id),
            side("from", self.from),
            side("to", self.to)
        );
        let data = session
            .call(Call::Get(&path))
            .map_err(|problem| problem.with("document_id", self.document_id.as_str()))?;
        Ok(Shown::Answer(session.checked(Answer::new(data, human::diff))))
    }
}

impl Export {
    fn run(self) -> Result<Shown, Problem> {
        let session = Session::open(self.shape.verbose)?;
        let data = fetch(&session, &self.document_id, self.version, false)?;
        let text = data["content"].as_str().unwrap_or_default();
        // Somebody may have worked on the file since it was exported.
        let there = fs::read(&self.output).ok().filter(|there| there != text.as_bytes());
        if there.is_some() && !self.force {
            let shown = self.output.display().to_string();
            let again = CommandLine::new("docs export")
                .word(&self.document_id)
                .flag("--output", &shown)
                .flag_if("--version", self.version.map(|version| version.to_string()).as_deref())
                .word("--force");
            return Err(Problem::input(format!(
                "{shown} is there and holds something else than version {}",
                data["version"]
            ))
            .suggest(format!(
                "Give another path with --output, or write over it: {}",
                again.into_string()
            ))
            .with("document_id", self.document_id.as_str()));
        }
        fs::write(&self.output, text).map_err(|error| {
            Problem::input(format!("{} cannot be written: {error}", self.output.display()))
                .suggest("Give another path with --output")
                .with("document_id", self.document_id.as_str())
        })?;
        let data = json!({
            "document_id": data["document_id"],
            "version": data["version"],
            "output": self.output.display().to_string(),
            "bytes": text.len(),
        });
        Ok(Shown::Answer(
            session.checked(Answer::new(data, human::fields).message("Document written")),
        ))
    }
}

impl Delete {
    fn run(self) -> Result<Shown, Problem> {
        if !self.confirm {
            return Err(Problem::input("this hides the document, so it wants --confirm")
                .suggest(format!("aw docs delete {} --confirm", quoted(&self.document_id)))
                .with("document_id", self.document_id.as_str()));
        }
        let session = Session::open(self.shape.verbose)?;
        let mut data = session
            .call(Call::Delete(&path_of(&self.document_id)))
            .map_err(|problem| problem.with("document_id", self.document_id.as_str()))?;
        data["document_id"] = self.document_id.as_str().into();
        Ok(Shown::Answer(
            session.checked(Answer::new(data, human::fields).message("Document deleted")),
        ))
    }
}

impl Restore {
    fn run(self) -> Result<Shown, Problem> {
        let session = Session::open(self.shape.verbose)?;
        let old = fetch(&session, &self.document_id, Some(self.version), false)?;
        let summary = old["summary"].as_str().unwrap_or_default();
        let restored: String =
            format!("Restored v{}: {summary}", self.version).chars().take(500).collect();
        let body = json!({
            "summary": restored,
            "content": old["content"],
            "metadata": old["metadata"],
            "client_request_id": Uuid::new_v4().to_string(),
        });
        let path = format!("{}/versions", path_of(&self.document_id));
        keep(self.shape, &path, body, "Version restored")
            .map_err(|problem| problem.with("document_id", self.document_id.as_str()))
    }
}

fn path_of(document: &str) -> String {
    format!("/documents/{}", encoded(document))
}
