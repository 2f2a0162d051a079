//! `aw debate verify`: checks that the record is as it was written.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::human;
use super::super::output::{Answer, CliError, Shown};
use super::super::refs::DebateArg;
use super::super::session::Session;
use super::Shape;
use crate::api::client::{Reply, Request, verify, verify_debate};
use crate::api::error::Code;
use crate::api::types::{Damaged, VerifiedPiece};

/// The most damages that are listed. Others are only counted.
const LISTED: usize = 100;

/// The most damages that the message names.
const NAMED: usize = 5;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Verify {
    // Without a debate everything is verified, deleted debates and documents included.
    #[command(flatten)]
    debate: DebateArg,
    #[command(flatten)]
    pub(super) shape: Shape,
}

impl Verify {
    pub(super) fn run(mut self) -> Result<Shown, CliError> {
        let debate = self.debate.settle_if_named(self.shape.verbose)?;
        let session = Session::open(self.shape.verbose)?;
        let answer = match debate {
            Some(debate) => {
                one(&session, debate).map_err(|problem| problem.with("debate_id", debate))?
            }
            None => everything(&session)?,
        };
        Ok(Shown::Answer(session.checked(answer)))
    }
}

fn one(session: &Session, debate: &str) -> Result<Answer, CliError> {
    let verified = session.call(&verify_debate(debate))?;
    if verified.data.tombstone.is_some() {
        let message = "The texts of the debate were purged, and its tombstone is as it was written";
        return Ok(Answer::new(verified, human::fields).message(message));
    }
    let answer = Answer::new(verified, human::fields).message("The debate is as it was written");
    Ok(answer.with(
        "hint",
        "note head_hash and seal elsewhere (a JSON export has them too): they also tell when the whole debate was rewritten",
    ))
}

fn everything(session: &Session) -> Result<Answer, CliError> {
    let progress = human::Progress::new("verifying");
    let mut walk = Walk::default();
    loop {
        walk.add(&session.call_with_own_limit(&walk.request())?);
        progress.show(walk.done(), walk.done() + walk.left);
        if walk.next.is_none() {
            break;
        }
    }
    progress.done();
    if walk.damages > 0 {
        return Err(walk.problem());
    }
    Ok(Answer::new(walk.totals, human::fields).message("Everything is as it was written"))
}

/// A verification of the whole record, as far as it has come.
#[derive(Debug, Default)]
pub(in crate::cli) struct Walk {
    totals: Totals,
    damages: usize,
    /// The first damage.
    pub(in crate::cli) first: Option<Damaged>,
    /// The first damages in words.
    in_words: Vec<String>,
    /// The first damages as the server sent them.
    listed: Vec<Value>,
    /// How many debates and documents are left.
    pub(in crate::cli) left: u64,
    pub(in crate::cli) next: Option<String>,
}

/// How much was looked at.
#[derive(Debug, Default, Clone, Copy, Serialize)]
struct Totals {
    verified_debates: u64,
    verified_arguments: u64,
    verified_documents: u64,
    verified_versions: u64,
}

impl Walk {
    /// Asks for its next piece.
    pub(in crate::cli) fn request(&self) -> Request<VerifiedPiece> {
        verify(self.next.as_deref())
    }

    /// Adds a piece.
    pub(in crate::cli) fn add(&mut self, reply: &Reply<VerifiedPiece>) {
        /// The damages as the server sent them.
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Verbatim {
            damaged: Vec<Value>,
        }
        let piece = &reply.data;
        self.totals.verified_debates += piece.verified_debates;
        self.totals.verified_arguments += piece.verified_arguments;
        self.totals.verified_documents += piece.verified_documents;
        self.totals.verified_versions += piece.verified_versions;
        self.left = piece.left;
        self.next = piece.next.clone();
        self.damages += piece.damaged.len();
        self.first = self.first.take().or_else(|| piece.damaged.first().cloned());
        let room = NAMED - self.in_words.len();
        self.in_words.extend(piece.damaged.iter().take(room).map(in_words));
        let room = LISTED - self.listed.len();
        self.listed.extend(reply.verbatim::<Verbatim>().damaged.into_iter().take(room));
    }

    /// How many debates and documents it has looked at.
    pub(in crate::cli) fn done(&self) -> u64 {
        self.totals.verified_debates + self.totals.verified_documents
    }

    /// The error for the damages. The first one is reported as that of a single debate would be.
    fn problem(self) -> CliError {
        let more = match self.damages - self.in_words.len() {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let mut problem = CliError::new(
            Code::RecordDamaged,
            format!("the record is damaged: {}{more}", self.in_words.join("; ")),
        )
        .suggest(
            "Debates and documents that are not named are whole. To mend the others, restore the \
             newest backup: aw server stop, then aw server restore PATH (PostgreSQL: pg_restore into \
             an empty database)",
        )
        .with("verified", json!(self.totals))
        .with("damaged", self.listed);
        /// The error of one debate or document.
        #[derive(Serialize)]
        struct Error<'a> {
            code: &'a Code,
            message: &'a str,
            #[serde(flatten)]
            place: Option<Damaged>,
        }
        let CliError { code, message, .. } = &problem;
        let first = json!(Error { code, message, place: self.first });
        problem.refused = Some(Box::new(first.into()));
        problem
    }
}

/// The place of a damage, and what is wrong.
pub(in crate::cli) fn in_words(damaged: &Damaged) -> String {
    let mut words = String::new();
    if let Some(debate) = damaged.debate_id {
        let argument = damaged.seq.map_or(String::new(), |seq| format!(", argument {seq}"));
        words += &format!("debate {}{argument}: ", debate.0);
    }
    if let Some(document) = damaged.document_id {
        let version = damaged.version.map_or(String::new(), |number| format!(", version {number}"));
        words += &format!("document {}{version}: ", document.0);
    }
    words + &damaged.what
}
