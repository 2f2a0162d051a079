//! Checks what the older system left on this machine: settings without effect, debates and documents
//! that are not imported yet. The import is tried on a copy, which is then removed.

use std::path::Path;

use aw_record::{OpenError, Place, Rehearsal, rehearse};

use super::Check;
use crate::settings::{ClientSettings, Flags, ServerSettings, environment};

const NAME: &str = "older system";

/// How many documents are named that cannot be imported.
const NAMED: usize = 3;

/// The checks that found something.
pub(super) fn checks(settings: &ClientSettings, running: bool) -> Vec<Check> {
    let ignored = settings.ignored.iter();
    let mut checks: Vec<Check> =
        ignored.map(|ignored| Check::warning(NAME, &ignored.what, &ignored.instead)).collect();
    // The checks of the server and of the settings report what cannot be read.
    let (Ok(last), Ok(environment)) = (settings.home.last_start(), environment(&["HOME"])) else {
        return checks;
    };
    let load =
        |database| ServerSettings::load(Flags { database, ..Flags::default() }, &environment);
    // The next start uses the database of the last one.
    let server = match (load(None), last) {
        (Ok(server), Some(last)) if last.database != server.database.to_string() => {
            load(Some(last.database))
        }
        (server, _) => server,
    };
    let Ok(ServerSettings { database: Place::File(path), docstores, .. }) = server else {
        return checks;
    };
    match rehearse(&path, &docstores) {
        Ok(rehearsal) => checks.extend(found(&path, &rehearsal, running)),
        Err(OpenError::Unreadable { problems, .. }) => checks.push(Check::failed(
            NAME,
            &format!("{} cannot be imported: {}", path.display(), problems.join("; ")),
            "Correct or delete the named rows, or move the file away to begin with an empty record",
        )),
        Err(error) => checks.push(Check::failed(
            NAME,
            &format!("the import was tried and failed: {error}"),
            "Move the file away to begin with an empty record",
        )),
    }
    checks
}

fn found(path: &Path, rehearsal: &Rehearsal, running: bool) -> Vec<Check> {
    let mut checks = Vec::new();
    let path = path.display();
    let versions = match rehearsal.versions {
        1 => "1 version of a document".to_owned(),
        many => format!("{many} versions of documents"),
    };
    if let (Some(debates), [first, ..]) = (rehearsal.debates, rehearsal.open_in.as_slice()) {
        checks.push(Check::failed(
            NAME,
            &format!("{path} holds {debates} debates of the older system, and {first} has it open"),
            "Stop the older server; the next command of this aw then imports its debates",
        ));
    } else if let Some(debates) = rehearsal.debates {
        let message = format!(
            "{path} holds {debates} debates of the older system, and its documents {versions}; the next start \
             imports them, which was tried and works"
        );
        checks.push(Check::ok(NAME, &message));
    } else if rehearsal.versions > 0 && running {
        let message = format!("{versions} were written by the older aw docs and are not here yet");
        let fix = "aw server restart imports them; a debate that cites one does so too";
        checks.push(Check::warning(NAME, &message, fix));
    } else if rehearsal.versions > 0 {
        let message =
            format!("{versions} were written by the older aw docs; the next start imports them");
        checks.push(Check::ok(NAME, &message));
    }
    if !rehearsal.left_out.is_empty() {
        let named = rehearsal.left_out.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; ");
        let more = match rehearsal.left_out.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        checks.push(Check::warning(
            NAME,
            &format!("documents that cannot be imported are left out: {named}{more}"),
            "Repair the file, or write them again with aw docs create",
        ));
    }
    checks
}
