//! `aw debate purge`: removes the texts of a debate for good.

use aw_core::State;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::super::confirm;
use super::super::human;
use super::super::next_command::CommandLine;
use super::super::output::{Answer, CliError, Shown};
use super::super::refs::DebateArg;
use super::super::session::Session;
use super::Shape;
use crate::api::client;
use crate::api::error::Code;
use crate::api::types::{PurgePreview, Word};
use crate::run;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Purge {
    #[command(flatten)]
    debate: DebateArg,
    /// Remove the documents too that no other debate cites
    #[arg(long)]
    documents: bool,
    /// Do not ask: nothing brings the texts back
    #[arg(long, alias = "confirm")]
    yes: bool,
    #[command(flatten)]
    pub(super) shape: Shape,
}

/// The server's answer, the debate, and whether a run has left files on this machine.
#[derive(Debug, Serialize)]
struct PurgedOutput {
    #[serde(flatten)]
    purged: Value,
    debate_id: String,
    run_removed: bool,
}

impl Purge {
    pub(super) fn run(mut self) -> Result<Shown, CliError> {
        self.debate.settle_named(self.shape.verbose)?;
        let id = Uuid::try_parse(&self.debate.id)
            .map_or_else(|_| self.debate.id.clone(), |id| id.to_string());
        let named = |problem: CliError| problem.with("debate_id", id.as_str());
        let session = Session::open(self.shape.verbose).map_err(named)?;
        let preview = session.call(&client::preview_purge(&id)).map_err(named)?.data;
        if preview.deleted_at.is_none() && preview.debate_state != Word::Known(State::Closed) {
            let open = format!("debate {id} is still open, so it is not purged");
            return Err(named(CliError::new(Code::ActionNotAllowed, open).suggest(format!(
                "Close it with a ruling, or hide it first: aw debate delete --debate-id {id} --confirm"
            ))));
        }
        if !self.yes {
            let lost = self.lost(&preview);
            match confirm::agrees(&format!("{lost}\nRemove it?"), false) {
                Some(true) => {}
                Some(false) => {
                    let kept = CliError::input("nothing was removed");
                    return Err(named(
                        kept.suggest("To remove it, run the command again and answer y"),
                    ));
                }
                None => {
                    let again = CommandLine::new("debate purge").word(&id);
                    let again = again.word_if("--documents", self.documents).word("--yes");
                    let refused = CliError::input(format!("{lost} Add --yes to do it"));
                    return Err(named(refused.suggest(again.into_string())));
                }
            }
        }
        let purged = session.call(&client::purge_debate(&id, self.documents)).map_err(named)?;
        let run_removed = run::forget(&session.settings.home.path().join("runs"), &id);
        let message = format!(
            "Debate purged: the texts of {} are gone. A tombstone with the hash of the last one stays",
            counted(purged.data.tombstone.arguments)
        );
        let mut hint = "backups, exports and copies made before still have the texts".to_owned();
        if !purged.data.scrubbed {
            hint += ", and so do parts of the database that are free now: PostgreSQL reuses them in \
                     time (vacuum full removes them), for SQLite run the same command again";
        }
        let output = PurgedOutput {
            purged: purged.json,
            debate_id: id.clone(),
            run_removed: *run_removed.as_ref().unwrap_or(&false),
        };
        let mut answer = Answer::new(output, human::fields).message(message).with("hint", hint);
        if let Err(why) = run_removed {
            answer = answer.warn(format!(
                "the files of its run on this machine are still there: {}",
                why.message
            ));
        }
        Ok(Shown::Answer(session.checked(answer)))
    }

    /// The texts that a purge removes, in words.
    fn lost(&self, preview: &PurgePreview) -> String {
        let PurgePreview { title, arguments, bytes, documents, only_here, .. } = preview;
        let own = only_here.len();
        let arguments = counted(*arguments);
        let documents = match (documents, own, self.documents) {
            (0, ..) => String::new(),
            (_, 1, true) => ", and the document that no other debate cites".to_owned(),
            (_, _, true) => format!(", and {own} documents that no other debate cites"),
            (1, 0, false) => "; the document that it cites stays".to_owned(),
            (1, _, false) => {
                "; the document that it cites stays (--documents removes it)".to_owned()
            }
            (all, _, false) => {
                format!(
                    "; the {all} documents that it cites stay (--documents removes {own} of them)"
                )
            }
        };
        format!(
            "This removes for good the title {title:?}, {arguments} ({bytes} bytes of text), \
             and all points and rules of the debate{documents}. Nothing brings them back."
        )
    }
}

fn counted(arguments: u64) -> String {
    match arguments {
        1 => "1 argument".to_owned(),
        many => format!("{many} arguments"),
    }
}
