//! `aw agent install`, `uninstall` and `list`.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::ErrorKind::WouldBlock;
use std::path::{Path, PathBuf};
use std::slice;
use std::thread;
use std::time::{Duration, Instant};

use aw_core::Role;
use serde::Serialize;

use super::super::confirm;
use super::super::debate::Shape;
use super::super::human;
use super::super::next_command::CommandLine;
use super::super::output::{Answer, CliError, Format, Shown};
use super::{HostAndScope, project, surroundings};
use crate::differences::unified;
use crate::files::read_text;
use crate::kit::SETTINGS_LIMIT;
use crate::kit::edit::hook;
use crate::kit::host::{Host, HostPaths, InstallScope, KitFile, OTHERS, ToolEntry, others_found};
use crate::kit::manifest::{Extent, InstalledFile, LockedManifest, Manifest};
use crate::kit::plan::{self, CannotPlan, Fate, FileChange, Owner, Plan};
use crate::kit::texts::{Language, Voice};
use crate::settings::ClientSettings;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Install {
    #[command(flatten)]
    target: HostAndScope,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// en or vi; by default as it was installed before, or en
    #[arg(long, value_name = "LANG")]
    lang: Option<Language>,
    /// proposer, opponent or arbitrator: limit these hosts to this role; by default as before
    #[arg(long)]
    role: Option<Role>,
    /// Add the MCP tools also for hosts whose shell reaches the server (--role does too); by default as before
    #[arg(long)]
    tools: bool,
    /// Wake an idle agent when it is its move (Claude Code, Codex); by default as before
    #[arg(long)]
    wake: bool,
    /// Let the agent run its commands of aw, and use the tools, without asking; by default as before
    #[arg(long)]
    allow: bool,
    /// Do not ask on a terminal before writing
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    pub(super) shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Uninstall {
    #[command(flatten)]
    target: HostAndScope,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    pub(super) shape: Shape,
}

impl Install {
    pub(super) fn run(self) -> Result<Shown, CliError> {
        let (settings, paths) = surroundings()?;
        let scope = self.target.scope(&settings)?;
        let hosts = match self.target.hosts()? {
            Some(hosts) => hosts,
            None => found(&paths)?,
        };
        if self.wake && !hosts.iter().any(|host| host.can_be_woken()) {
            let message =
                format!("{} cannot be woken: --wake is for Claude Code and Codex", names(&hosts));
            return Err(CliError::input(message)
                .suggest("Without --wake the agent waits; aw debate run --debate-id ID seats one that is never idle"));
        }
        if self.allow && !hosts.iter().any(|host| host.can_be_allowed()) {
            let message = "other agents have no settings in common: --allow is for the hosts that have a name";
            return Err(CliError::input(message)
                .suggest("Allow aw in the settings of each agent program, or name a host"));
        }
        let mut language = Language::default();
        let is_allowing = Cell::new(false);
        let mut plan_install = |manifest: &mut Manifest| {
            recognise(manifest, &settings, &paths, &scope, &[]);
            language = self.lang.or_else(|| language_of(manifest, &scope)).unwrap_or_default();
            let voice = Voice { language, debate_language: &settings.debate_language };
            let allows = |host: Host| {
                let file = paths.permissions(host, &scope);
                file.is_some_and(|file| self.allow || manifest.allows_in(&file))
            };
            is_allowing.set(hosts.iter().any(|host| allows(*host)));
            let tools_of = |host: Host, settings: &Path| {
                let known = manifest.tools_in(settings).unwrap_or_default();
                let role = self.role.or(known.role);
                let is_known = manifest.tools_in(settings).is_some();
                let wanted = self.tools || role.is_some() || is_known || host.needs_tools();
                let (wake, allow) = (self.wake || known.wake, allows(host));
                wanted.then_some(ToolEntry { role, wake, allow })
            };
            let wakes_claude = self.wake || manifest.wakes_in(&paths.claude_settings_of(&scope));
            let files = paths.files(&hosts, &scope, voice, &tools_of, wakes_claude, &allows);
            let owner = Owner { project: scope.project(), lang: language.as_str() };
            let mut plan = plan::install(&files, owner, manifest)?;
            let old = plan::retire(&hosts, scope.project(), &files, manifest)?;
            plan.changes.extend(old.changes);
            Ok(plan)
        };
        if !self.dry_run && !self.yes && self.shape.format() == Format::Markdown {
            let plan = planned(&settings, true, &mut plan_install)?;
            if !plan.is_empty() && !is_agreed(&plan, &names(&hosts), is_allowing.get()) {
                return Err(CliError::input("nothing was installed")
                    .suggest("To see each change first: aw agent install --dry-run"));
            }
        }
        let plan = planned(&settings, self.dry_run, plan_install)?;
        let edited = plan.changes.iter().any(|change| change.fate == Fate::Edited);
        let names = names(&hosts);
        let message = match (self.dry_run, plan.is_empty(), edited) {
            (true, true, _) => format!("Nothing would change: the kit is installed for {names}"),
            (true, false, _) => {
                format!("These files would change for {names}; nothing was written")
            }
            (false, _, true) => format!(
                "The kit is installed for {names}, but files marked edited were left as they are; to replace their text, remove it and install again"
            ),
            (false, true, false) => {
                format!("The kit was installed for {names} already; nothing has changed")
            }
            (false, false, false) if is_allowing.get() => {
                format!("The kit is installed for {names}. {ALLOWED}")
            }
            (false, false, false) => format!("The kit is installed for {names}"),
        };
        let changes = changes(&plan, &hosts, &scope, self.dry_run, Some(language));
        let next = if self.dry_run {
            let line = CommandLine::new("agent install");
            let line = match &self.target.host {
                Some(host) => line.word(host),
                None => line,
            };
            let line = if self.target.user { line.word("--user") } else { line };
            line.flag_if("--lang", self.lang.map(Language::as_str))
                .flag_if("--role", self.role.map(Role::as_str))
                .word_if("--tools", self.tools)
                .word_if("--wake", self.wake)
                .word_if("--allow", self.allow)
                .into_string()
        } else {
            "aw agent doctor".to_owned()
        };
        let answer = Answer::new(changes, human::kit_changes).message(message).next(next);
        Ok(Shown::Answer(if hosts.contains(&Host::Agents) {
            answer.with("hint", others())
        } else {
            answer
        }))
    }
}

/// Explains `--allow` before an installation.
const ALLOWED: &str = "Agents may run the commands of their roles without asking";

/// Shows a person what an installation would write, and asks once.
fn is_agreed(plan: &Plan, names: &str, is_allowing: bool) -> bool {
    let mut question = format!("aw would write the kit for {names}:\n");
    for change in plan.changes.iter().filter(|change| change.writes()) {
        question += &format!("  {:9} {}\n", change.fate.as_str(), change.path.display());
    }
    if is_allowing {
        question += ALLOWED;
        question += ".\n";
    }
    question += "aw agent uninstall undoes it. Write these files?";
    confirm::agrees(&question, true).unwrap_or(true)
}

/// Which of the other agent programs are here.
fn others() -> String {
    let all: Vec<&str> = OTHERS.iter().map(|(title, _)| *title).collect();
    let found = match others_found().as_slice() {
        [] => "none of them is in PATH".to_owned(),
        found => format!("found here: {}", found.join(", ")),
    };
    format!("agents serves {}; {found}", all.join(", "))
}

impl Uninstall {
    pub(super) fn run(self) -> Result<Shown, CliError> {
        let (settings, paths) = surroundings()?;
        let scope = self.target.scope(&settings)?;
        let hosts = self.target.hosts()?.unwrap_or_else(|| Host::ALL.to_vec());
        let plan = planned(&settings, self.dry_run, |manifest| {
            recognise(manifest, &settings, &paths, &scope, &hosts);
            let voice =
                Voice { language: Language::default(), debate_language: &settings.debate_language };
            let tools_of =
                |_: Host, settings: &Path| Some(manifest.tools_in(settings).unwrap_or_default());
            let files = paths.files(&hosts, &scope, voice, &tools_of, true, &|_| true);
            let unknown = plan::unknown(&files, manifest);
            let mut plan = plan::uninstall(&hosts, scope.project(), manifest)?;
            plan.changes.extend(unknown);
            Ok(plan)
        })?;
        let any = |fate: Fate| plan.changes.iter().any(|change| change.fate == fate);
        let message = match (self.dry_run, plan.changes.is_empty()) {
            (_, true) => format!("Nothing of the kit is installed for {}", names(&hosts)),
            (true, false) => "These files would change; nothing was written".to_owned(),
            (false, false) if any(Fate::Edited) => {
                "The kit is removed, except for files marked edited, which this aw has not written so"
                    .to_owned()
            }
            (false, false) if any(Fate::Kept) => {
                "The kit is removed; files marked kept still have the text that somebody added".to_owned()
            }
            (false, false) if any(Fate::Shared) => format!(
                "The kit is removed for {}; files marked shared are for other hosts too",
                names(&hosts)
            ),
            (false, false) => "The kit is removed".to_owned(),
        };
        let changes = changes(&plan, &hosts, &scope, self.dry_run, None);
        Ok(Shown::Answer(Answer::new(changes, human::kit_changes).message(message)))
    }
}

/// Plans the changes and applies them; a dry run only plans.
fn planned(
    settings: &ClientSettings,
    dry_run: bool,
    mut plan: impl FnMut(&mut Manifest) -> Result<Plan, CannotPlan>,
) -> Result<Plan, CliError> {
    if dry_run {
        return plan(&mut read(settings)?).map_err(|cannot| problem(&cannot));
    }
    let mut tries = 0;
    loop {
        let mut locked = lock(settings)?;
        let plan = plan(&mut locked.manifest).map_err(|cannot| problem(&cannot))?;
        tries += 1;
        match plan.apply(&locked) {
            Ok(()) => return Ok(plan),
            // Claude Code may write its own file at any time.
            Err(CannotPlan::Io(_, busy)) if busy.kind() == WouldBlock && tries < TRIES => {
                thread::sleep(PAUSE);
            }
            Err(cannot) => return Err(problem(&cannot)),
        }
    }
}

/// How often a file is tried that another program is just changing.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(50);

/// Adds the kit that somebody else installed in this project to the manifest.
fn recognise(
    manifest: &mut Manifest,
    settings: &ClientSettings,
    paths: &HostPaths,
    scope: &InstallScope,
    named: &[Host],
) {
    let hooks = read_text(&paths.claude_settings_of(scope), SETTINGS_LIMIT).unwrap_or_default();
    let wakes_claude = hook::is_in(&hooks);
    let allows = |host: Host| paths.has_permissions(host, scope);
    for language in Language::ALL {
        let voice = Voice { language, debate_language: &settings.debate_language };
        let owner = Owner { project: scope.project(), lang: language.as_str() };
        // With the tools for every host, then only for those that need them.
        for with_tools in [true, false] {
            let tools_of = |host: Host, settings: &Path| {
                let known = manifest.tools_in(settings);
                let is_likely = with_tools || host.needs_tools();
                let standing =
                    || ToolEntry { allow: allows(host), ..ToolEntry::standing_in(settings) };
                known.or_else(|| is_likely.then(standing))
            };
            let files = paths.files(&Host::ALL, scope, voice, &tools_of, wakes_claude, &allows);
            plan::adopt(&files, named, owner, manifest);
        }
    }
}

/// The manifest with the files that are recognised here, without those of removed projects.
pub(super) fn known(settings: &ClientSettings, paths: &HostPaths) -> Result<Manifest, CliError> {
    let mut manifest = read(settings)?;
    for scope in [InstallScope::Project(project(settings)?), InstallScope::User] {
        recognise(&mut manifest, settings, paths, &scope, &[]);
    }
    manifest.files.retain(|file| file.project.as_ref().is_none_or(|root| root.is_dir()));
    Ok(manifest)
}

/// `aw agent list`
pub(super) fn list() -> Result<Shown, CliError> {
    let (settings, paths) = surroundings()?;
    let files: Vec<KitFileListed> = states(&known(&settings, &paths)?, &settings, &paths)
        .into_iter()
        .map(|FileState { file, state }| KitFileListed {
            path: file.path,
            state,
            hosts: file.hosts,
            project: file.project,
            lang: file.lang,
        })
        .collect();
    let total = files.len() as u64;
    let drifted = files.iter().filter(|file| file.state != "current").count();
    let message = match (total, drifted) {
        (0, _) => "The kit is not installed anywhere".to_owned(),
        (_, 0) => "All files are as this aw would install them".to_owned(),
        (_, 1) => "1 file has changed".to_owned(),
        (_, drifted) => format!("{drifted} files have changed"),
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
    pub(in crate::cli) files: Vec<KitFileListed>,
}

/// A file of the kit and its state.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct KitFileListed {
    pub(in crate::cli) path: PathBuf,
    pub(in crate::cli) state: &'static str,
    pub(in crate::cli) hosts: Vec<Host>,
    pub(in crate::cli) project: Option<PathBuf>,
    lang: String,
}

/// A file of the kit and its state.
pub(super) struct FileState {
    pub(super) file: InstalledFile,
    pub(super) state: &'static str,
}

/// Compares each file of the kit with the one that this aw would write.
pub(super) fn states(
    manifest: &Manifest,
    settings: &ClientSettings,
    paths: &HostPaths,
) -> Vec<FileState> {
    let mut all: Vec<FileState> = Vec::new();
    let kinds: BTreeSet<_> =
        manifest.files.iter().map(|file| (&file.project, &file.lang)).collect();
    for kind in kinds {
        let installed = || manifest.files.iter().filter(|file| (&file.project, &file.lang) == kind);
        let scope = kind.0.clone().map_or(InstallScope::User, InstallScope::Project);
        let language = kind.1.parse().unwrap_or_default();
        let voice = Voice { language, debate_language: &settings.debate_language };
        let owner = Owner { project: scope.project(), lang: language.as_str() };
        let hosts =
            Host::ALL.into_iter().filter(|host| installed().any(|file| file.hosts.contains(host)));
        let tools_of = |host: Host, settings: &Path| {
            manifest.tools_in(settings).or(host.needs_tools().then(ToolEntry::default))
        };
        let wakes_claude = manifest.wakes_in(&paths.claude_settings_of(&scope));
        let allows = |host: Host| {
            paths.permissions(host, &scope).is_some_and(|file| manifest.allows_in(&file))
        };
        let hosts: Vec<Host> = hosts.collect();
        let wanted = paths.files(&hosts, &scope, voice, &tools_of, wakes_claude, &allows);
        let planned = |file: &KitFile| {
            let mut then = manifest.clone();
            let plan = plan::install(slice::from_ref(file), owner, &mut then).ok()?;
            Some((plan.changes.first()?.fate, then))
        };
        for file in installed() {
            let is_it = |wanted: &&KitFile| manifest.of(&wanted.path) == Some(file);
            let state = match wanted.iter().find(is_it).map(planned) {
                Some(Some((Fate::Unchanged, _))) => "current",
                Some(Some((Fate::Created, _))) => "missing",
                Some(Some((Fate::Updated, _))) if is_gone(file) => "missing",
                Some(Some((Fate::Updated, _))) => "outdated",
                // The file is gone, and this aw would not write it again.
                Some(Some((Fate::Omitted, _))) => continue,
                Some(_) => "edited",
                // This aw writes it to another path.
                None => "outdated",
            };
            all.push(FileState { file: file.clone(), state });
        }
        // An earlier aw did not write these, or could not.
        for wanted in wanted.iter().filter(|wanted| manifest.of(&wanted.path).is_none()) {
            let is_listed = all.iter().any(|known| known.file.path == wanted.path);
            if let Some((Fate::Created | Fate::Updated, then)) = planned(wanted)
                && !is_listed
            {
                let file = then.of(&wanted.path).cloned();
                all.extend(file.map(|file| FileState { file, state: "missing" }));
            }
        }
    }
    all
}

/// Whether an inserted text is gone from its file.
fn is_gone(file: &InstalledFile) -> bool {
    let edits = file.edits();
    let now = read_text(&file.path, SETTINGS_LIMIT).unwrap_or_default();
    file.extent == Extent::Inserted && edits.iter().any(|edit| !edit.is_in(&now))
}

/// The changes to the files of the kit, made or planned.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct KitChanges {
    hosts: Vec<Host>,
    scope: &'static str,
    dry_run: bool,
    pub(in crate::cli) files: Vec<FileChangeListed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lang: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) diff: Option<String>,
}

/// The change of a file.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct FileChangeListed {
    pub(in crate::cli) path: String,
    pub(in crate::cli) change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) note: Option<&'static str>,
}

fn changes(
    plan: &Plan,
    hosts: &[Host],
    scope: &InstallScope,
    dry_run: bool,
    language: Option<Language>,
) -> KitChanges {
    let files = plan.changes.iter().map(|change| FileChangeListed {
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

/// After this time a diff is coarser, but still true.
const DIFF_PATIENCE: Duration = Duration::from_secs(10);

/// The change of a file as a unified diff.
fn diff(change: &FileChange) -> String {
    let path = change.path.display().to_string();
    let side = |text: &Option<String>| match text {
        Some(_) => path.clone(),
        None => "/dev/null".to_owned(),
    };
    let (old, new) = (side(&change.before), side(&change.after));
    let before = change.before.as_deref().unwrap_or_default();
    let after = change.after.as_deref().unwrap_or_default();
    unified((&old, before), (&new, after), Instant::now() + DIFF_PATIENCE)
}

/// The hosts on this machine.
fn found(paths: &HostPaths) -> Result<Vec<Host>, CliError> {
    let found: Vec<Host> = Host::ALL.into_iter().filter(|host| paths.has(*host)).collect();
    if found.is_empty() {
        return Err(CliError::input("none of the known agent programs is on this machine")
            .suggest("Name one: aw agent install claude|codex|cursor|gemini|opencode|agents|all"));
    }
    Ok(found)
}

fn language_of(manifest: &Manifest, scope: &InstallScope) -> Option<Language> {
    let of_scope = |file: &&InstalledFile| file.project.as_deref() == scope.project();
    manifest.files.iter().find(of_scope).and_then(|file| file.lang.parse().ok())
}

fn names(hosts: &[Host]) -> String {
    let names: Vec<&str> = hosts.iter().map(|host| host.title()).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => "no host".to_owned(),
    }
}

fn lock(settings: &ClientSettings) -> Result<LockedManifest, CliError> {
    let failed = |error: std::io::Error| CliError::input(error.to_string());
    settings.home.make().and_then(|()| LockedManifest::take(settings.home.path())).map_err(failed)
}

fn read(settings: &ClientSettings) -> Result<Manifest, CliError> {
    Manifest::read(settings.home.path()).map_err(|error| CliError::input(error.to_string()))
}

fn problem(cannot: &CannotPlan) -> CliError {
    CliError::input(cannot.to_string())
        .suggest("Nothing was changed. Correct that and run the same command again")
}
