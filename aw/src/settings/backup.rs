//! How often a server copies its record, and how many copies it keeps.

use std::time::Duration;

use super::BadSetting;

/// How many copies are kept by default.
const USUAL_KEEP: u64 = 7;

/// The scheduled backups of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackupSettings {
    /// The time between two copies; none for no copies.
    pub every: Option<Duration>,
    /// How many copies are kept.
    pub keep: u64,
}

/// Reads `backup_every` and `backup_keep`, as text from the environment or the file.
pub(super) fn load(every: Option<&str>, keep: Option<&str>) -> Result<BackupSettings, BadSetting> {
    let wrong = |name: &str, why: &str| {
        Err(BadSetting::Value { name: name.to_owned(), why: why.to_owned() })
    };
    let every = match every {
        None | Some("" | "off") => None,
        Some(text) => match span(text) {
            Some(every) if every >= Duration::from_secs(60) => Some(every),
            _ => {
                let why = format!("{text:?} is no time: write 12h or 7d, at least 1m, or off");
                return wrong("backup_every", &why);
            }
        },
    };
    let keep = match keep.map(str::parse::<u64>) {
        None => USUAL_KEEP,
        Some(Ok(keep @ 1..=1000)) => keep,
        Some(_) => return wrong("backup_keep", "it must be a number from 1 to 1000"),
    };
    Ok(BackupSettings { every, keep })
}

fn span(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit = match unit {
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => return None,
    };
    let seconds = number.parse::<u64>().ok()?.checked_mul(unit)?;
    (seconds <= 366 * 24 * 60 * 60).then(|| Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backups_are_off_unless_a_time_is_set() {
        let none = BackupSettings { every: None, keep: USUAL_KEEP };
        assert_eq!(load(None, None).unwrap(), none);
        assert_eq!(load(Some("off"), None).unwrap(), none);
        let day = BackupSettings { every: Some(Duration::from_secs(86_400)), keep: 3 };
        assert_eq!(load(Some("24h"), Some("3")).unwrap(), day);
        for (every, keep, name) in [
            (Some("daily"), None, "backup_every"),
            (Some("0h"), None, "backup_every"),
            (Some("999999d"), None, "backup_every"),
            (Some("é"), None, "backup_every"),
            (Some("1d"), Some("0"), "backup_keep"),
            (Some("1d"), Some("many"), "backup_keep"),
        ] {
            let said = load(every, keep).unwrap_err().to_string();
            assert!(said.starts_with(name), "{said}");
        }
    }
}
