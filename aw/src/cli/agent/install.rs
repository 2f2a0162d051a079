//! `aw agent install`, `uninstall` and `list`.

use std::collections::BTreeSet;
use std::io::ErrorKind::WouldBlock;
use std::path::{Path, PathBuf};
use std::slice;
use std::thread;
use std::time::Duration;

use aw_core::Role;
use serde::Serialize;
use similar::TextDiff;

use super::super::debate::Shape;
use super::super::human;
use super::super::next_command::CommandLine;
use super::super::output::{Answer, Problem, Shown};
use super::{Whom, project, surroundings};
use crate::files::read_text;
use crate::kit::SETTINGS_LIMIT;
use crate::kit::host::{Host, Piece, Places, Scope, grafts_of};
use crate::kit::ledger::{Entry, Held, Ledger, Part};
use crate::kit::plan::{self, CannotPlan, Change, Fate, Owner, Plan};
use crate::kit::texts::{Language, Voice};
use crate::settings::ClientSettings;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Install {
    #[command(flatten)]
    whom: Whom,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// en or vi; by default as it was installed before, or en
    #[arg(long, value_name = "LANG")]
    lang: Option<Language>,
    /// proposer, opponent or arbitrator: hold these hosts to this role; by default as before
    #[arg(long)]
    role: Option<Role>,
    #[command(flatten)]
    pub(super) shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Uninstall {
    #[command(flatten)]
    whom: Whom,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    pub(super) shape: Shape,
}

impl Install {
    pub(super) fn run(self) -> Result<Shown, Problem> {
        let (settings, places) = surroundings()?;
        let scope = self.whom.scope(&settings)?;
        let hosts = match self.whom.hosts()? {
            Some(hosts) => hosts,
            None => found(&places)?,
        };
        let mut language = Language::default();
        let plan = planned(&settings, self.dry_run, |ledger| {
            recognise(ledger, &settings, &places, &scope, &[]);
            language = self.lang.or_else(|| language_of(ledger, &scope)).unwrap_or_default();
            let voice = Voice { language, debate_language: &settings.debate_language };
            let held = |settings: &Path| self.role.or_else(|| ledger.role_of(settings));
            let pieces = places.pieces(&hosts, &scope, voice, &held);
            let owner = Owner { project: scope.project(), lang: language.as_str() };
            let mut plan = plan::install(&pieces, owner, ledger)?;
            let old = plan::retire(&hosts, scope.project(), &pieces, ledger)?;
            plan.changes.extend(old.changes);
            Ok(plan)
        })?;
        let edited = plan.changes.iter().any(|change| change.fate == Fate::Edited);
        let names = names(&hosts);
        let message = match (self.dry_run, plan.is_empty(), edited) {
            (true, true, _) => format!("Nothing would change: the kit is there for {names}"),
            (true, false, _) => {
                format!("This is what would change for {names}; nothing was written")
            }
            (false, _, true) => format!(
                "The kit is there for {names}, but files marked edited were left as somebody changed them; to have ours, remove what is left of it there and install again"
            ),
            (false, true, false) => format!("The kit was there for {names}; nothing has changed"),
            (false, false, false) => format!("The kit is installed for {names}"),
        };
        let changes = changes(&plan, &hosts, &scope, self.dry_run, Some(language));
        let next = if self.dry_run {
            let line = CommandLine::new("agent install");
            let line = match &self.whom.host {
                Some(host) => line.word(host),
                None => line,
            };
            let line = if self.whom.user { line.word("--user") } else { line };
            line.flag_if("--lang", self.lang.map(Language::as_str))
                .flag_if("--role", self.role.map(Role::as_str))
                .into_string()
        } else {
            "aw agent doctor".to_owned()
        };
        Ok(Shown::Answer(Answer::new(changes, human::kit_changes).message(message).next(next)))
    }
}

impl Uninstall {
    pub(super) fn run(self) -> Result<Shown, Problem> {
        let (settings, places) = surroundings()?;
        let scope = self.whom.scope(&settings)?;
        let hosts = self.whom.hosts()?.unwrap_or_else(|| Host::ALL.to_vec());
        let plan = planned(&settings, self.dry_run, |ledger| {
            recognise(ledger, &settings, &places, &scope, &hosts);
            let voice =
                Voice { language: Language::default(), debate_language: &settings.debate_language };
            let held = |settings: &Path| ledger.role_of(settings);
            let unknown = plan::unknown(&places.pieces(&hosts, &scope, voice, &held), ledger);
            let mut plan = plan::uninstall(&hosts, scope.project(), ledger)?;
            plan.changes.extend(unknown);
            Ok(plan)
        })?;
        let any = |fate: Fate| plan.changes.iter().any(|change| change.fate == fate);
        let message = match (self.dry_run, plan.changes.is_empty()) {
            (_, true) => format!("Nothing of the kit is installed for {}", names(&hosts)),
            (true, false) => "This is what would change; nothing was written".to_owned(),
            (false, false) if any(Fate::Edited) => {
                "What this aw installed is gone; files marked edited are not as it writes them, and were left"
                    .to_owned()
            }
            (false, false) if any(Fate::Kept) => {
                "The kit is gone; in files marked kept, what somebody added was left".to_owned()
            }
            (false, false) if any(Fate::Shared) => format!(
                "The kit is gone for {}; files marked shared are for other hosts too",
                names(&hosts)
            ),
            (false, false) => "The kit is gone".to_owned(),
        };
        let changes = changes(&plan, &hosts, &scope, self.dry_run, None);
        Ok(Shown::Answer(Answer::new(changes, human::kit_changes).message(message)))
    }
}

/// Works out what has to change and does it, unless it is only to be shown.
fn planned(
    settings: &ClientSettings,
    dry_run: bool,
    mut plan: impl FnMut(&mut Ledger) -> Result<Plan, CannotPlan>,
) -> Result<Plan, Problem> {
    if dry_run {
        return plan(&mut read(settings)?).map_err(|cannot| problem(&cannot));
    }
    let mut tries = 0;
    loop {
        let mut held = take(settings)?;
        let plan = plan(&mut held.ledger).map_err(|cannot| problem(&cannot))?;
        tries += 1;
        match plan.carry_out(&held) {
            Ok(()) => return Ok(plan),
            // Claude Code writes its own file whenever it likes.
            Err(CannotPlan::Io(_, busy)) if busy.kind() == WouldBlock && tries < TRIES => {
                thread::sleep(PAUSE);
            }
            Err(cannot) => return Err(problem(&cannot)),
        }
    }
}

/// How often, and after what pause, a file is tried that another program is just changing.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(50);

/// What somebody else installed, in a project that came with it, is recognised by its words.
fn recognise(
    ledger: &mut Ledger,
    settings: &ClientSettings,
    places: &Places,
    scope: &Scope,
    named: &[Host],
) {
    for language in Language::ALL {
        let voice = Voice { language, debate_language: &settings.debate_language };
        let owner = Owner { project: scope.project(), lang: language.as_str() };
        let held = |settings: &Path| ledger.role_of(settings);
        let pieces = places.pieces(&Host::ALL, scope, voice, &held);
        plan::adopt(&pieces, named, owner, ledger);
    }
}

/// All of the kit that is here or elsewhere: what is remembered, and what is recognised.
pub(super) fn known(settings: &ClientSettings, places: &Places) -> Result<Ledger, Problem> {
    let mut ledger = read(settings)?;
    for scope in [Scope::Project(project(settings)?), Scope::User] {
        recognise(&mut ledger, settings, places, &scope, &[]);
    }
    // A project that was removed took its part of the kit with it.
    ledger.files.retain(|entry| entry.project.as_ref().is_none_or(|root| root.is_dir()));
    Ok(ledger)
}

/// What is installed where, and what has drifted.
pub(super) fn list() -> Result<Shown, Problem> {
    let (settings, places) = surroundings()?;
    let files: Vec<KitFile> = states(&known(&settings, &places)?, &settings, &places)
        .into_iter()
        .map(|Standing { entry, state }| KitFile {
            path: entry.path,
            state,
            hosts: entry.hosts,
            project: entry.project,
            lang: entry.lang,
        })
        .collect();
    let total = files.len() as u64;
    let drifted = files.iter().filter(|file| file.state != "current").count();
    let message = match (total, drifted) {
        (0, _) => "The kit is not installed anywhere".to_owned(),
        (_, 0) => "Everything is as this aw would install it".to_owned(),
        (_, 1) => "1 file has drifted".to_owned(),
        (_, drifted) => format!("{drifted} files have drifted"),
    };
    let answer = Answer::new(KitFiles { files }, human::kit_files);
    let answer = answer.message(message).of_total(total, false);
    let next =
        (total == 0 || drifted > 0).then_some("aw agent install --dry-run --format markdown");
    Ok(Shown::Answer(match next {
        Some(next) => answer.next(next),
        None => answer,
    }))
}

/// The files of the kit.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct KitFiles {
    pub(in crate::cli) files: Vec<KitFile>,
}

/// A file of the kit and its state.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct KitFile {
    pub(in crate::cli) path: PathBuf,
    pub(in crate::cli) state: &'static str,
    pub(in crate::cli) hosts: Vec<Host>,
    pub(in crate::cli) project: Option<PathBuf>,
    lang: String,
}

/// A file of the kit and how it is.
pub(super) struct Standing {
    pub(super) entry: Entry,
    pub(super) state: &'static str,
}

/// How each file of the kit is, compared with what this aw would write.
pub(super) fn states(ledger: &Ledger, settings: &ClientSettings, places: &Places) -> Vec<Standing> {
    let mut all: Vec<Standing> = Vec::new();
    let kinds: BTreeSet<_> =
        ledger.files.iter().map(|entry| (&entry.project, &entry.lang)).collect();
    for kind in kinds {
        let own = || ledger.files.iter().filter(|entry| (&entry.project, &entry.lang) == kind);
        let scope = kind.0.clone().map_or(Scope::User, Scope::Project);
        let language = kind.1.parse().unwrap_or_default();
        let voice = Voice { language, debate_language: &settings.debate_language };
        let owner = Owner { project: scope.project(), lang: language.as_str() };
        let hosts =
            Host::ALL.into_iter().filter(|host| own().any(|file| file.hosts.contains(host)));
        let held = |settings: &Path| ledger.role_of(settings);
        let pieces = places.pieces(&hosts.collect::<Vec<_>>(), &scope, voice, &held);
        let planned = |piece: &Piece| {
            let mut then = ledger.clone();
            let plan = plan::install(slice::from_ref(piece), owner, &mut then).ok()?;
            Some((plan.changes.first()?.fate, then))
        };
        for entry in own() {
            let is_it = |piece: &&Piece| ledger.of(&piece.path) == Some(entry);
            let state = match pieces.iter().find(is_it).map(planned) {
                Some(Some((Fate::Unchanged, _))) => "current",
                Some(Some((Fate::Created, _))) => "missing",
                Some(Some((Fate::Updated, _))) if is_gone(entry) => "missing",
                Some(Some((Fate::Updated, _))) => "outdated",
                // It is gone, and would not be written now.
                Some(Some((Fate::Omitted, _))) => continue,
                Some(_) => "edited",
                // The host has another place for it now.
                None => "outdated",
            };
            all.push(Standing { entry: entry.clone(), state });
        }
        // What an earlier aw did not write, or what somebody made room for since.
        for piece in pieces.iter().filter(|piece| ledger.of(&piece.path).is_none()) {
            let told = all.iter().any(|file| file.entry.path == piece.path);
            if let Some((Fate::Created | Fate::Updated, then)) = planned(piece)
                && !told
            {
                let entry = then.of(&piece.path).cloned();
                all.extend(entry.map(|entry| Standing { entry, state: "missing" }));
            }
        }
    }
    all
}

/// Whether something that was put into a file is not there any more.
fn is_gone(entry: &Entry) -> bool {
    let grafts = grafts_of(&entry.path, entry.role());
    let now = read_text(&entry.path, SETTINGS_LIMIT).unwrap_or_default();
    entry.part == Part::Inserted && grafts.iter().any(|graft| !graft.is_in(&now))
}

/// What was done to the files of the kit, or would be.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct KitChanges {
    hosts: Vec<Host>,
    scope: &'static str,
    dry_run: bool,
    pub(in crate::cli) files: Vec<FileChange>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lang: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) diff: Option<String>,
}

/// The change of a file.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct FileChange {
    pub(in crate::cli) path: String,
    pub(in crate::cli) change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) note: Option<&'static str>,
}

fn changes(
    plan: &Plan,
    hosts: &[Host],
    scope: &Scope,
    dry_run: bool,
    language: Option<Language>,
) -> KitChanges {
    let files = plan.changes.iter().map(|change| FileChange {
        path: change.path.display().to_string(),
        change: change.fate.as_str(),
        note: change.note,
    });
    KitChanges {
        hosts: hosts.to_vec(),
        scope: if scope.project().is_some() { "project" } else { "user" },
        dry_run,
        files: files.collect(),
        project: scope.project().map(|root| root.display().to_string()),
        lang: language.map(Language::as_str),
        diff: dry_run
            .then(|| plan.changes.iter().filter(|change| change.writes()).map(diff).collect()),
    }
}

/// What changes in a file, as a unified diff.
fn diff(change: &Change) -> String {
    let path = change.path.display().to_string();
    let side = |text: &Option<String>| match text {
        Some(_) => path.clone(),
        None => "/dev/null".to_owned(),
    };
    let (old, new) = (side(&change.before), side(&change.after));
    let before = change.before.as_deref().unwrap_or_default();
    let after = change.after.as_deref().unwrap_or_default();
    TextDiff::from_lines(before, after).unified_diff().header(&old, &new).to_string()
}

/// The hosts that are on this machine.
fn found(places: &Places) -> Result<Vec<Host>, Problem> {
    let found: Vec<Host> = Host::ALL.into_iter().filter(|host| places.has(*host)).collect();
    if found.is_empty() {
        return Err(Problem::input("none of the known agent programs is on this machine")
            .suggest("Name one: aw agent install claude|codex|cursor|gemini|opencode|all"));
    }
    Ok(found)
}

fn language_of(ledger: &Ledger, scope: &Scope) -> Option<Language> {
    let of_scope = |entry: &&Entry| entry.project.as_deref() == scope.project();
    ledger.files.iter().find(of_scope).and_then(|entry| entry.lang.parse().ok())
}

fn names(hosts: &[Host]) -> String {
    let names: Vec<&str> = hosts.iter().map(|host| host.title()).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => "no host".to_owned(),
    }
}

fn take(settings: &ClientSettings) -> Result<Held, Problem> {
    let failed = |error: std::io::Error| Problem::input(error.to_string());
    settings.home.make().and_then(|()| Held::take(settings.home.path())).map_err(failed)
}

fn read(settings: &ClientSettings) -> Result<Ledger, Problem> {
    Ledger::read(settings.home.path()).map_err(|error| Problem::input(error.to_string()))
}

fn problem(cannot: &CannotPlan) -> Problem {
    Problem::input(cannot.to_string())
        .suggest("Nothing was changed. Mend that and run the same command again")
}
