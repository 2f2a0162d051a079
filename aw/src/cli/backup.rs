//! `aw server backup` and `aw server restore`: copies the record to a file, and brings it back.

use std::path::PathBuf;

use aw_core::Time;
use aw_record::{OpenError, Place, RestoreError, Restored, RestoredTokens};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

use super::background;
use super::connect::unusable;
use super::debate::Shape;
use super::human;
use super::next_command::quoted;
use super::output::{Answer, CliError, Shown};
use super::server::running;
use crate::api::error::Code;
use crate::settings::ClientSettings;

#[derive(Debug, clap::Args)]
pub(super) struct Backup {
    /// Where to put the copy; must not exist yet
    path: PathBuf,
    #[command(flatten)]
    pub(super) shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(super) struct Restore {
    /// The backup; it stays as it is
    path: PathBuf,
    /// Restore it even if some of its debates or documents are not as they were written
    #[arg(long)]
    accept_damage: bool,
    #[command(flatten)]
    pub(super) shape: Shape,
}

impl Backup {
    pub(super) fn run(self, settings: &ClientSettings) -> Result<Shown, CliError> {
        let path = self.path.display();
        let database = file(settings, |url| {
            CliError::input(format!(
                "the record is kept in PostgreSQL ({url}), which makes its copies by itself"
            ))
            .suggest(format!("pg_dump --format=custom --file {path} \"$AW_DATABASE_URL\""))
        })?;
        if !database.exists() {
            return Err(CliError::new(
                Code::FileNotFound,
                format!("there is no database at {} yet", database.display()),
            )
            .suggest("The first server on this data folder makes it: aw server start"));
        }
        let progress = human::Progress::new("copying");
        let bytes = aw_record::backup(&database, &self.path, |done, all| progress.show(done, all))
            .map_err(|error| {
                CliError::input(format!("the backup failed: {error}"))
                    .suggest("Choose a path that does not exist yet, with room for the database")
            })?;
        progress.done();
        let data = json!({
            "database": database.display().to_string(),
            "backup": path.to_string(),
            "bytes": bytes,
        });
        let whole = std::path::absolute(&self.path).unwrap_or_else(|_| self.path.clone());
        Ok(Shown::Answer(
            Answer::new(data, human::fields)
                .message("Backup written and checked. Stop the server before you restore it")
                .next(format!("aw server restore {}", quoted(&whole.display().to_string()))),
        ))
    }
}

/// The restored record, and the file that keeps the one it replaced.
#[derive(Debug, Serialize)]
struct RestoreOutput {
    database: String,
    backup: String,
    bytes: u64,
    debates: u64,
    arguments: u64,
    tokens_valid: u64,
    tokens_revoked: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<String>,
}

impl Restore {
    pub(super) fn run(self, settings: &ClientSettings) -> Result<Shown, CliError> {
        let database = file(settings, |url| {
            CliError::input(format!("the record is kept in PostgreSQL ({url})")).suggest(
                "Restore a copy made by pg_dump into an empty database with pg_restore, and name that in AW_DATABASE_URL",
            )
        })?;
        let failed = |error: std::io::Error| unusable(&settings.home, &error);
        // Commands that find no server wait for this, and then start one on the restored record.
        let _turn = settings.home.lock_start().map_err(failed)?;
        if let Some(running) = background::alive(settings)? {
            return Err(CliError::input(format!(
                "a server runs on this data folder (pid {}): nothing was changed",
                running.pid
            ))
            .suggest("aw server stop"));
        }
        let (backup, place) = (self.path.clone(), database.clone());
        let now = Timestamp::now();
        let ending = now.strftime("%Y%m%dT%H%M%SZ").to_string();
        let now = Time(now.as_millisecond());
        let runtime = tokio::runtime::Runtime::new()
            .map_err(|error| CliError::input(format!("no threads can be started: {error}")))?;
        let progress = human::Progress::new("copying");
        // Not on this thread: it waits for a database that has threads of its own.
        let restoring = runtime.spawn_blocking(move || {
            let tell = |done, all| progress.show(done, all);
            let restored =
                aw_record::restore(&place, &backup, &ending, self.accept_damage, now, tell);
            progress.done();
            restored
        });
        let restored = runtime
            .block_on(restoring)
            .map_err(|died| CliError::input(format!("restoring it died: {died}")))?
            .map_err(|error| refused(&error))?;
        let shown = |path: &PathBuf| path.display().to_string();
        let Restored { bytes, kept, finished, debates, arguments, tokens, damages } = restored;
        let mut data = RestoreOutput {
            database: shown(&database),
            backup: shown(&self.path),
            bytes,
            debates,
            arguments,
            tokens_valid: tokens.valid,
            tokens_revoked: tokens.revoked,
            kept: None,
        };
        let mut message = "Backup restored and verified".to_owned();
        if let Some(kept) = kept {
            message += &format!("; the record before it is {}", kept.display());
            data.kept = Some(shown(&kept));
        }
        message += &about_tokens(tokens);
        let mut answer = Answer::new(data, human::fields).message(message).next("aw server start");
        if let Some(first) = damages.first() {
            answer = answer.warn(format!("it is damaged: {first}. See all: aw debate verify"));
        }
        if let Some(old) = finished {
            answer = answer.warn(format!(
                "an earlier restore was interrupted and has been finished first; the record before it is {}",
                old.display()
            ));
        }
        Ok(Shown::Answer(answer))
    }
}

/// What a message says about the tokens of the backup; nothing if it has none.
fn about_tokens(tokens: RestoredTokens) -> String {
    let mut about = String::new();
    if tokens.revoked > 0 {
        about += &format!(
            ". Revoked tokens: {}, which the record before it had revoked or did not have",
            tokens.revoked
        );
    }
    if tokens.valid > 0 {
        about += &format!(
            ". Valid tokens: {}; see them with aw token list, and revoke one with aw token revoke ID",
            tokens.valid
        );
    }
    about
}

/// The SQLite file of this data folder's server, or the error for a record in PostgreSQL.
fn file(
    settings: &ClientSettings,
    of_postgres: impl FnOnce(&str) -> CliError,
) -> Result<PathBuf, CliError> {
    let unusable = |why: String| CliError::input(why).suggest("aw doctor");
    let database: Place = match running(settings)? {
        Some(running) => running.database.parse().map_err(unusable)?,
        None => match (&settings.database, background::last_start(settings)?) {
            (Some(set), _) => set.clone(),
            (None, Some(last)) => last.database.parse().map_err(unusable)?,
            (None, None) => settings.home.database().into(),
        },
    };
    match database {
        Place::File(database) => Ok(database),
        Place::Postgres(url) => Err(of_postgres(&url.to_string())),
    }
}

/// The error, with what to do about it.
fn refused(error: &RestoreError) -> CliError {
    let message = format!("nothing was restored: {error}");
    match error {
        RestoreError::Open(OpenError::InUse { .. }) => {
            CliError::input(message).suggest("Stop the server on it first: aw server stop")
        }
        RestoreError::Damaged { .. } => CliError::new(Code::RecordDamaged, message)
            .suggest("Choose another backup, or restore this one as it is with --accept-damage"),
        RestoreError::Open(_) | RestoreError::Unusable { .. } | RestoreError::Failed(_) => {
            CliError::input(message).suggest("Choose a file that aw server backup has made")
        }
    }
}
