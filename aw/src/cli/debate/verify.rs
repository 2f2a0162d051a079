//! `aw debate verify`: is the record as it was written?

use serde_json::{Value, json};

use super::super::human;
use super::super::output::{Answer, Problem, Shown};
use super::super::session::Session;
use super::Shape;
use crate::api::http::{Call, encoded};

/// So many damages are listed; the rest are only counted.
const LISTED: usize = 100;

/// So many are told in words.
const TOLD: usize = 5;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Verify {
    /// The debate; without it everything, deleted debates and documents included
    #[arg(long, value_name = "UUID")]
    debate_id: Option<String>,
    #[command(flatten)]
    pub(super) shape: Shape,
}

impl Verify {
    pub(super) fn run(self) -> Result<Shown, Problem> {
        let session = Session::open(self.shape.verbose)?;
        let answer = match &self.debate_id {
            Some(debate) => one(&session, debate)
                .map_err(|problem| problem.with("debate_id", debate.as_str()))?,
            None => everything(&session)?,
        };
        Ok(Shown::Answer(session.checked(answer)))
    }
}

fn one(session: &Session, debate: &str) -> Result<Answer, Problem> {
    let data = session.call(Call::Get(&format!("/debates/{}/verify", encoded(debate))))?;
    let answer = Answer::new(data, human::fields).message("The debate is as it was written");
    Ok(answer.with(
        "hint",
        "note head_hash and seal elsewhere (a JSON export has them too): they also tell when the whole debate was rewritten",
    ))
}

fn everything(session: &Session) -> Result<Answer, Problem> {
    let progress = human::Progress::new("verifying");
    let mut walk = Walk::default();
    loop {
        walk.add(&session.call_of_many(Call::Get(&walk.path()))?);
        progress.show(walk.done(), walk.done() + walk.left);
        if walk.next.is_none() {
            break;
        }
    }
    progress.done();
    if walk.damages > 0 {
        return Err(walk.problem());
    }
    Ok(Answer::new(walk.totals(), human::fields).message("Everything is as it was written"))
}

/// A walk over the record, as far as it has come.
#[derive(Debug, Default)]
pub(in crate::cli) struct Walk {
    debates: u64,
    arguments: u64,
    documents: u64,
    versions: u64,
    damages: usize,
    /// The first of them.
    pub(in crate::cli) damaged: Vec<Value>,
    /// So many debates and documents are still to be looked at.
    pub(in crate::cli) left: u64,
    pub(in crate::cli) next: Option<String>,
}

impl Walk {
    /// Where its next piece is.
    pub(in crate::cli) fn path(&self) -> String {
        match &self.next {
            Some(next) => format!("/verify?after={}", encoded(next)),
            None => "/verify".to_owned(),
        }
    }

    /// Adds a piece.
    pub(in crate::cli) fn add(&mut self, piece: &Value) {
        let number = |name: &str| piece[name].as_u64().unwrap_or(0);
        self.debates += number("verified_debates");
        self.arguments += number("verified_arguments");
        self.documents += number("verified_documents");
        self.versions += number("verified_versions");
        self.left = number("left");
        self.next = piece["next"].as_str().map(str::to_owned);
        let damaged = piece["damaged"].as_array().map_or(&[][..], Vec::as_slice);
        self.damages += damaged.len();
        let room = LISTED - self.damaged.len();
        self.damaged.extend(damaged.iter().take(room).cloned());
    }

    /// How many debates and documents it has looked at.
    pub(in crate::cli) fn done(&self) -> u64 {
        self.debates + self.documents
    }

    fn totals(&self) -> Value {
        json!({
            "verified_debates": self.debates,
            "verified_arguments": self.arguments,
            "verified_documents": self.documents,
            "verified_versions": self.versions,
        })
    }

    /// What is damaged, the first of it as the server would say it of a single debate.
    fn problem(&self) -> Problem {
        let told: Vec<String> = self.damaged.iter().take(TOLD).map(in_words).collect();
        let more = match self.damages - told.len() {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let mut problem = Problem::new(
            "RECORD_DAMAGED",
            format!("the record is damaged: {}{more}", told.join("; ")),
        )
        .suggest(
            "Debates and documents that are not named are whole. To mend the others, restore the \
             newest backup: aw server stop, then aw server restore PATH (PostgreSQL: pg_restore into \
             an empty database)",
        )
        .with("verified", self.totals())
        .with("damaged", self.damaged.clone());
        let mut first = json!({"code": problem.code, "message": problem.message});
        if let (Some(error), Some(place)) =
            (first.as_object_mut(), self.damaged.first().and_then(Value::as_object))
        {
            error.extend(place.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        problem.server_error = Some(Box::new(first));
        problem
    }
}

/// A damage in words: where, and what.
pub(in crate::cli) fn in_words(damaged: &Value) -> String {
    let mut words = String::new();
    for (thing, id, part, number) in [
        ("debate", "debate_id", "argument", "seq"),
        ("document", "document_id", "version", "version"),
    ] {
        if let Some(id) = damaged[id].as_str() {
            words += &format!("{thing} {id}");
            if let Some(number) = damaged[number].as_u64() {
                words += &format!(", {part} {number}");
            }
            words += ": ";
        }
    }
    words + damaged["what"].as_str().unwrap_or("it is not as it was written")
}
