//! `aw server migrate`: a record, moved from one database to another.

use aw_record::{OpenError, Place, TransferError, transfer};
use serde_json::json;

use super::debate::Shape;
use super::human;
use super::output::{Answer, CliError, Shown};
use crate::settings::{PASSWORD, environment, with_password};

#[derive(Debug, clap::Args)]
pub(super) struct Migrate {
    /// Where the record is: a SQLite file, or postgres://user@host/database, with its password in PGPASSWORD
    #[arg(long, value_name = "DATABASE")]
    from: String,
    /// Where it goes: a file that is not there yet, or an empty PostgreSQL database
    #[arg(long, value_name = "DATABASE")]
    to: String,
    #[command(flatten)]
    pub(super) shape: Shape,
}

impl Migrate {
    pub(super) fn run(self) -> Result<Shown, CliError> {
        let environment = environment(&[PASSWORD])
            .map_err(|bad| CliError::input(bad.to_string()).suggest("aw server migrate --help"))?;
        let place = |flag, text| Ok::<_, CliError>(with_password(place(flag, text)?, &environment));
        let from = place("--from", &self.from)?;
        let to = place("--to", &self.to)?;
        let (source, target) = (from.to_string(), to.to_string());
        let runtime = tokio::runtime::Runtime::new()
            .map_err(|error| CliError::input(format!("no threads can be started: {error}")))?;
        let progress = human::Progress::new("moving");
        // Not here: it waits for databases that have runtimes of their own.
        let moving = runtime.spawn_blocking(move || {
            let moved = transfer(&from, &to, |done, all| progress.show(done, all));
            progress.done();
            moved
        });
        let moved = runtime.block_on(moving);
        let moved = moved.map_err(|died| CliError::input(format!("moving it died: {died}")))?;
        let moved = moved.map_err(|error| refused(&error))?;
        let data = json!({
            "from": source,
            "to": target,
            "debates": moved.debates,
            "arguments": moved.arguments,
            "documents": moved.documents,
            "versions": moved.versions,
            "seats": moved.seats,
        });
        let message = "Moved and verified; the source is as it was. Start servers on the target with \
                       AW_DATABASE_URL, or with --database";
        Ok(Shown::Answer(Answer::new(data, human::fields).message(message)))
    }
}

fn place(flag: &str, text: &str) -> Result<Place, CliError> {
    text.parse().map_err(|why| {
        CliError::input(format!("{flag}: {why}")).suggest("aw server migrate --help")
    })
}

/// Says what to do about it.
fn refused(error: &TransferError) -> CliError {
    let message = format!("the record was not moved: {error}");
    let suggestion = match error {
        TransferError::Open(OpenError::InUse { .. }) => {
            "Stop every server on it first: aw server stop"
        }
        TransferError::Open(_) => "Look at the address; aw server migrate --help shows both kinds",
        TransferError::Taken { .. } => "Choose a target that is empty, or does not exist yet",
        TransferError::Same { .. } => "Name another target",
        TransferError::Differs { .. } => {
            "Make the target empty and run it again; if it stays so, aw debate verify on the source"
        }
        TransferError::Failed(_) => "Run the same command again: it goes on where it was",
    };
    let problem = match error {
        TransferError::Open(OpenError::Postgres { .. }) | TransferError::Failed(_) => {
            CliError::connection(message)
        }
        _ => CliError::input(message),
    };
    problem.suggest(suggestion)
}
