//! Copies the record on a schedule while the server runs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use aw_record::Place;
use jiff::Timestamp;

use crate::settings::BackupSettings;

/// The form of a copy's name: `debate-20261118T055300Z.db`.
const NAME: &str = "debate-%Y%m%dT%H%M%SZ.db";

/// The longest pause after a copy that failed.
const AGAIN: Duration = Duration::from_secs(60 * 60);

/// Copies the record whenever a copy is due, until it is dropped.
pub(super) async fn keep_copies(database: Place, folder: PathBuf, settings: BackupSettings) {
    let Some(every) = settings.every else { return };
    let Place::File(database) = database else {
        tracing::warn!("backup_every has no effect on PostgreSQL, which makes its own copies");
        return;
    };
    loop {
        tokio::time::sleep(due_in(newest(&folder), Timestamp::now(), every)).await;
        let (from, to) = (database.clone(), folder.clone());
        let copied = tokio::task::spawn_blocking(move || copy(&from, &to, settings.keep)).await;
        match copied.map_err(|died| died.to_string()).and_then(|copied| copied) {
            Ok(copy) => tracing::info!(copy = %copy.display(), "the record was copied"),
            Err(error) => {
                tracing::error!(%error, "the record was not copied");
                tokio::time::sleep(every.min(AGAIN)).await;
            }
        }
    }
}

/// The time until the next copy is due.
fn due_in(newest: Option<Timestamp>, now: Timestamp, every: Duration) -> Duration {
    let age = newest.map(|newest| now.duration_since(newest));
    match age.map(Duration::try_from) {
        None => Duration::ZERO,
        // A copy from the future was made by a wrong clock.
        Some(Err(_)) => every,
        Some(Ok(age)) => every.saturating_sub(age),
    }
}

/// Writes a copy, and removes the oldest ones beyond `keep`.
fn copy(database: &Path, folder: &Path, keep: u64) -> Result<PathBuf, String> {
    let said = |error: io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(said)?;
    let whole = folder.join(Timestamp::now().strftime(NAME).to_string());
    // An interrupted copy never gets the name of a complete one.
    let part = folder.join("unfinished.part");
    match fs::remove_file(&part) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(said(error)),
        _ => {}
    }
    aw_record::backup(database, &part, |_, _| {}).map_err(|error| error.to_string())?;
    fs::rename(&part, &whole).map_err(said)?;
    let mut copies = copies(folder);
    copies.sort();
    let kept = usize::try_from(keep).unwrap_or(usize::MAX);
    for (_, old) in &copies[..copies.len().saturating_sub(kept)] {
        fs::remove_file(old).map_err(said)?;
    }
    Ok(whole)
}

/// The copies in a folder with their times. Other files there are ignored.
fn copies(folder: &Path) -> Vec<(Timestamp, PathBuf)> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files
        .filter_map(|file| {
            let name = file.file_name().into_string().ok()?;
            let time = name.strip_prefix("debate-")?.strip_suffix(".db")?;
            let time = Timestamp::strptime("%Y%m%dT%H%M%S%z", time.replace('Z', "+0000")).ok()?;
            Some((time, file.path()))
        })
        .collect()
}

fn newest(folder: &Path) -> Option<Timestamp> {
    copies(folder).into_iter().map(|(time, _)| time).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_due_when_the_newest_one_is_old_enough() {
        let now: Timestamp = "2026-11-18T06:00:00Z".parse().unwrap();
        let at = |text: &str| Some(text.parse::<Timestamp>().unwrap());
        let (day, hour) = (Duration::from_secs(86_400), Duration::from_secs(3_600));
        assert_eq!(due_in(None, now, day), Duration::ZERO);
        assert_eq!(due_in(at("2026-11-17T07:00:00Z"), now, day), hour);
        assert_eq!(due_in(at("2026-11-16T07:00:00Z"), now, day), Duration::ZERO);
        assert_eq!(due_in(at("2026-11-19T07:00:00Z"), now, day), day);
    }

    #[test]
    fn the_oldest_copies_go_and_no_other_file_does() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("debate.db");
        drop(aw_record::Store::open(&aw_record::StoreOptions::at(database.as_path())).unwrap());
        let copies_in = folder.path().join("backups");
        fs::create_dir(&copies_in).unwrap();
        let foreign = ["notes.txt", "debate-old.db", "debate-20261118T055300Z.db.bak"];
        let old = ["debate-20240101T000000Z.db", "debate-20250101T000000Z.db"];
        for name in foreign.iter().chain(&old) {
            fs::write(copies_in.join(name), "x").unwrap();
        }
        fs::write(copies_in.join("unfinished.part"), "half").unwrap();
        let made = copy(&database, &copies_in, 2).unwrap();
        assert!(made.exists() && !copies_in.join("unfinished.part").exists());
        let kept = |name: &&&str| copies_in.join(name).exists();
        assert_eq!(foreign.iter().filter(kept).count(), foreign.len());
        assert_eq!(old.iter().filter(kept).collect::<Vec<_>>(), [&old[1]]);
    }
}
