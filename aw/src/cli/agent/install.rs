//! `aw agent install`, `uninstall` and `list`.

use std::path::Path;

use serde_json::{Value, json};
use similar::TextDiff;

use super::super::answer::{Answer, Problem, Shown};
use super::super::debate::Shape;
use super::super::line::Line;
use super::super::page;
use super::{Whom, surroundings};
use crate::kit::host::{Host, Places, Scope};
use crate::kit::ledger::{Held, Ledger};
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
        let mut held = take(&settings)?;
        let language = self.lang.or_else(|| language_of(&held.ledger, &scope)).unwrap_or_default();
        let voice = Voice { language, debate_language: &settings.debate_language };
        let pieces = places.pieces(&hosts, &scope, voice);
        let owner = Owner { project: scope.project(), lang: language.as_str() };
        let plan =
            plan::install(&pieces, owner, &mut held.ledger).map_err(|cannot| problem(&cannot))?;
        if !self.dry_run {
            plan.carry_out(&held).map_err(|cannot| problem(&cannot))?;
        }
        let edited = plan.changes.iter().any(|change| change.fate == Fate::Edited);
        let names = names(&hosts);
        let message = match (self.dry_run, plan.is_empty(), edited) {
            (true, true, _) => format!("Nothing would change: the kit is there for {names}"),
            (true, false, _) => {
                format!("This is what would change for {names}; nothing was written")
            }
            (false, _, true) => format!(
                "The kit is there for {names}, but files marked edited were left as somebody changed them; to have ours, remove them and install again"
            ),
            (false, true, false) => format!("The kit was there for {names}; nothing has changed"),
            (false, false, false) => format!("The kit is installed for {names}"),
        };
        let data = data(&plan, &hosts, &scope, self.dry_run, Some(language));
        let next = if self.dry_run {
            let line = Line::new("agent install");
            let line = match &self.whom.host {
                Some(host) => line.word(host),
                None => line,
            };
            let line = if self.whom.user { line.word("--user") } else { line };
            line.flag_if("--lang", self.lang.map(Language::as_str)).into_string()
        } else {
            "aw agent doctor".to_owned()
        };
        Ok(Shown::Answer(Answer::new(data, page::kit_changes).message(message).next(next)))
    }
}

impl Uninstall {
    pub(super) fn run(self) -> Result<Shown, Problem> {
        let (settings, places) = surroundings()?;
        let scope = self.whom.scope(&settings)?;
        let hosts = self.whom.hosts()?.unwrap_or_else(|| Host::ALL.to_vec());
        let mut held = take(&settings)?;
        // What somebody else installed, in a project that came with it, is recognised by its words.
        for language in Language::ALL {
            let voice = Voice { language, debate_language: &settings.debate_language };
            let owner = Owner { project: scope.project(), lang: language.as_str() };
            plan::adopt(&places.pieces(&hosts, &scope, voice), owner, &mut held.ledger)
                .map_err(|cannot| problem(&cannot))?;
        }
        let plan = plan::uninstall(&hosts, scope.project(), &mut held.ledger)
            .map_err(|cannot| problem(&cannot))?;
        if !self.dry_run {
            plan.carry_out(&held).map_err(|cannot| problem(&cannot))?;
        }
        let kept = plan.changes.iter().any(|change| change.fate == Fate::Kept);
        let message = match (self.dry_run, plan.changes.is_empty(), kept) {
            (_, true, _) => format!("Nothing of the kit is installed for {}", names(&hosts)),
            (true, false, _) => "This is what would change; nothing was written".to_owned(),
            (false, false, true) => {
                "The kit is gone; in files marked kept, what somebody added was left".to_owned()
            }
            (false, false, false) => "The kit is gone".to_owned(),
        };
        let data = data(&plan, &hosts, &scope, self.dry_run, None);
        Ok(Shown::Answer(Answer::new(data, page::kit_changes).message(message)))
    }
}

/// What is installed where, and what has drifted.
pub(super) fn list() -> Result<Shown, Problem> {
    let (settings, places) = surroundings()?;
    let ledger = read(&settings)?;
    let files: Vec<Value> = states(&ledger, &settings, &places)?
        .into_iter()
        .map(|(path, state)| {
            let entry = ledger.of(&path);
            json!({
                "path": path,
                "state": state,
                "hosts": entry.map(|entry| entry.hosts.clone()),
                "project": entry.and_then(|entry| entry.project.clone()),
                "lang": entry.map(|entry| entry.lang.clone()),
            })
        })
        .collect();
    let total = files.len() as u64;
    let drifted = files.iter().filter(|file| file["state"] != "current").count();
    let message = match (total, drifted) {
        (0, _) => "The kit is not installed anywhere".to_owned(),
        (_, 0) => "Everything is as this aw would install it".to_owned(),
        (_, 1) => "1 file has drifted".to_owned(),
        (_, drifted) => format!("{drifted} files have drifted"),
    };
    let answer = Answer::new(json!({"files": files}), page::kit_files);
    let answer = answer.message(message).of_total(total, false);
    let next =
        (total == 0 || drifted > 0).then_some("aw agent install --dry-run --format markdown");
    Ok(Shown::Answer(match next {
        Some(next) => answer.next(next),
        None => answer,
    }))
}

/// How each file of the kit is, compared with what this aw would write.
pub(super) fn states(
    ledger: &Ledger,
    settings: &ClientSettings,
    places: &Places,
) -> Result<Vec<(std::path::PathBuf, &'static str)>, Problem> {
    let mut all = Vec::new();
    for entry in &ledger.files {
        let scope = match &entry.project {
            Some(root) => Scope::Project(root.clone()),
            None => Scope::User,
        };
        let language = entry.lang.parse().unwrap_or_default();
        let voice = Voice { language, debate_language: &settings.debate_language };
        let wanted = places.pieces(&entry.hosts, &scope, voice);
        let wanted: Vec<_> =
            wanted.into_iter().filter(|piece| piece.path == entry.path).take(1).collect();
        let owner = Owner { project: scope.project(), lang: language.as_str() };
        let now = plan::install(&wanted, owner, &mut ledger.clone());
        let fate = now.ok().and_then(|plan| plan.changes.first().map(|change| change.fate));
        let state = match fate {
            Some(Fate::Unchanged) => "current",
            Some(Fate::Created) => "missing",
            Some(Fate::Updated) if is_gone(&entry.path, &entry.text) => "missing",
            Some(Fate::Updated) => "outdated",
            Some(_) => "edited",
            // The host has another place for it now, or the file cannot be read.
            None => "outdated",
        };
        all.push((entry.path.clone(), state));
    }
    Ok(all)
}

/// Whether what was put into a file is not there any more.
fn is_gone(path: &Path, text: &str) -> bool {
    std::fs::read_to_string(path).is_ok_and(|now| !now.contains(text) && !now.contains("aw:begin"))
}

fn data(
    plan: &Plan,
    hosts: &[Host],
    scope: &Scope,
    dry_run: bool,
    language: Option<Language>,
) -> Value {
    let files: Vec<Value> = plan
        .changes
        .iter()
        .map(|change| {
            let mut file = json!({"path": change.path, "change": change.fate.as_str()});
            if let Some(note) = change.note {
                file["note"] = note.into();
            }
            file
        })
        .collect();
    let mut data = json!({
        "hosts": hosts,
        "scope": if scope.project().is_some() { "project" } else { "user" },
        "dry_run": dry_run,
        "files": files,
    });
    if let Some(root) = scope.project() {
        data["project"] = json!(root);
    }
    if let Some(language) = language {
        data["lang"] = language.as_str().into();
    }
    if dry_run {
        let diffs = plan.changes.iter().filter(|change| change.writes()).map(diff);
        data["diff"] = diffs.collect::<String>().into();
    }
    data
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
    let of_scope = |entry: &&crate::kit::ledger::Entry| entry.project.as_deref() == scope.project();
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

pub(super) fn read(settings: &ClientSettings) -> Result<Ledger, Problem> {
    Ledger::read(settings.home.path()).map_err(|error| Problem::input(error.to_string()))
}

fn problem(cannot: &CannotPlan) -> Problem {
    Problem::input(cannot.to_string())
        .suggest("Nothing was changed. Mend that and run the same command again")
}
