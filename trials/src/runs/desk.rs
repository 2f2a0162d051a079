//! A home with agents, and projects whose plans they debate.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use aw_trials::dice::Dice;
use aw_trials::server::free_address;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

use super::processes;

const PLAN: &str = "# Charge retries\n\n1. The worker retries the POST up to 3 times.\n";

/// A text that no agent means to send: the server or the runner refuses it.
const FLAWED: &str = "P7";

/// The place in an agent at which all but its answer is done.
const ANSWERS: &str = ": answers\n";

/// The beginning of each agent: which start this is, and how often a role has spoken. Every answer
/// differs, so that a text that was lost or posted twice shows.
const BEGINNING: &str = r####"cat > /dev/null
echo >> "$0.count"
n=$(wc -l < "$0.count")
sleep 0.$(( (n * 7919 + seed) % 4 ))
point=P1
[ $(( (n * 31 + seed) % 5 )) = 0 ] && point=P7
said() { grep -c "^## [0-9]*\. $1 by the $2" .aw/debate.md; }
text="Text ${0##*/}-$n."
"####;

const OPPONENT: &str = r####": answers
if [ $(said CLAIM opponent) = 0 ]; then
    [ $point = P7 ] && echo "### P7 [open] There is no such point."
    echo "### NEW [critical] A retry can charge twice"
    echo "> The worker retries the POST up to 3 times."
    echo "A time-out after the charge charges again. $text"
    echo "### VERDICT [object]"
elif [ $(said RULING arbitrator) = 0 ]; then
    printf '### %s [open]\nIt still charges twice. %s\n### VERDICT [object]\n' $point "$text"
else
    printf '### %s [resolved] The plan has it. %s\n### VERDICT [agree]\n' $point "$text"
fi
"####;

const PROPOSER: &str = r####"claims=$(said CLAIM proposer)
if [ $(said RULING arbitrator) = 0 ] && [ $claims = 1 ] && [ $appeals = 1 ]; then
    [ $point = P7 ] && echo "MOVE: P7"
    printf 'MOVE: appeal\nPlease decide. %s\n' "$text"
    exit
fi
# Each claim has one change of the plan, also when its turn begins again.
grep -q "^Note $claims" plan.md || echo "Note $claims: one key a payment." >> plan.md
: answers
if [ $(said RULING arbitrator) = 0 ]; then
    echo "### $point [rejected] The bank notices it. $text"
else
    echo "### $point [accepted] One key a payment. $text"
fi
"####;

const ARBITRATOR: &str = r####": answers
[ $point = P7 ] && echo "Who knows about P7? $text" && exit
echo "### P1 [upheld] Send one key a payment. $text"
"####;

/// A home with a server of its own, which any command starts again.
pub(super) struct Desk {
    folder: TempDir,
    binary: PathBuf,
    listen: String,
}

/// A repository with a plan, and the agents that debate it.
pub(super) struct Project<'a> {
    pub(super) desk: &'a Desk,
    folder: PathBuf,
    /// The runs that were there before.
    others: BTreeSet<String>,
    /// Whether the proposer appeals, not the runner.
    appeals: bool,
}

impl Desk {
    pub(super) fn new(binary: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let desk = Desk { binary: binary.to_owned(), listen: free_address().to_string(), folder };
        fs::create_dir_all(desk.home().join(".aweave")).unwrap();
        desk
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The folder of all runs.
    pub(super) fn runs(&self) -> PathBuf {
        self.home().join(".aweave/runs")
    }

    /// The process of the server.
    pub(super) fn server(&self) -> Option<Pid> {
        processes::server_of(&self.home())
    }

    /// A new project, whose agents behave by these dice.
    pub(super) fn project(&self, dice: &mut Dice) -> Project<'_> {
        let project = Project {
            desk: self,
            folder: self.folder.path().join(format!("project-{}", dice.below(u64::MAX))),
            others: self.names(),
            appeals: dice.one_in(2),
        };
        fs::create_dir(&project.folder).unwrap();
        fs::write(project.folder.join("plan.md"), PLAN).unwrap();
        let repository =
            "git init -q . && git add . && git -c user.name=A -c user.email=a@b.c commit -qm One";
        let mut shell = self.command(Path::new("/bin/sh"), &project.folder);
        assert!(shell.args(["-c", repository]).status().unwrap().success());
        let seed = dice.below(1_000);
        // Some agents do not end when they are asked to.
        let deaf = if dice.one_in(6) { "trap '' TERM INT\n" } else { "" };
        for (name, script) in
            [("proposer", PROPOSER), ("opponent", OPPONENT), ("arbitrator", ARBITRATOR)]
        {
            let appeals = u8::from(project.appeals);
            project
                .agent(name, &format!("{deaf}seed={seed} appeals={appeals}\n{BEGINNING}{script}"));
        }
        project
    }

    fn names(&self) -> BTreeSet<String> {
        let entries = fs::read_dir(self.runs()).into_iter().flatten().flatten();
        entries
            .filter(|entry| entry.path().join("run.json").is_file())
            .map(|entry| entry.file_name().to_str().unwrap().to_owned())
            .collect()
    }

    /// A command with nothing of the trial's environment.
    fn command(&self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(folder)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.home())
            .env("AW_LISTEN", &self.listen)
            .stdin(Stdio::null());
        command
    }

    /// The data of a command that must succeed.
    fn data(&self, arguments: &[&str]) -> Value {
        let output =
            self.command(&self.binary, self.folder.path()).args(arguments).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        assert_eq!(answer["success"], true, "{arguments:?}: {output:?}");
        answer["content"][0]["data"].clone()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        if let Some(server) = self.server() {
            let _ = kill(server, Signal::SIGKILL);
        }
    }
}

impl Project<'_> {
    /// Makes this script an agent.
    pub(super) fn agent(&self, name: &str, script: &str) {
        let folder = self.folder.with_extension("agents");
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join(name);
        fs::write(&file, format!("#!/bin/sh\n{script}")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        let agents: String = ["proposer", "opponent", "arbitrator"]
            .iter()
            .map(|name| format!("[agents.{name}]\ncommand = [{:?}]\n", folder.join(name)))
            .collect();
        fs::write(self.desk.home().join(".aweave/config.toml"), agents).unwrap();
    }

    /// Adds lines to an agent that run just before its answer.
    pub(super) fn before_answer(&self, name: &str, lines: &str) {
        let file = self.folder.with_extension("agents").join(name);
        let script = fs::read_to_string(&file).unwrap();
        fs::write(file, script.replacen(ANSWERS, lines, 1)).unwrap();
    }

    /// Starts the run, or goes on with it, in a process group of its own.
    pub(super) fn start(&self, debate: Option<&str>) -> Child {
        let mut command = self.desk.command(&self.desk.binary, &self.folder);
        command.args(["debate", "run"]);
        match debate {
            Some(debate) => command.args(["--resume", debate]),
            None => command.args([
                "plan.md",
                "--proposer",
                "proposer",
                "--opponent",
                "opponent",
                "--arbitrator",
                "arbitrator",
            ]),
        };
        let seen = fs::File::options().create(true).append(true).open(self.seen()).unwrap();
        command.stdout(Stdio::piped()).stderr(seen).process_group(0).spawn().unwrap()
    }

    fn seen(&self) -> PathBuf {
        self.folder.with_extension("seen")
    }

    /// The answer of a runner that has ended.
    pub(super) fn answer(&self, child: &mut Child) -> String {
        let mut answer = String::new();
        // A killed runner has said nothing.
        let _ = child.stdout.take().map(|mut stdout| stdout.read_to_string(&mut answer));
        answer
    }

    /// What the runners have shown.
    pub(super) fn said(&self) -> String {
        let seen = fs::read_to_string(self.seen()).unwrap_or_default();
        match self.debate() {
            Some(debate) => {
                let log = fs::read_to_string(self.run_folder(&debate).join("run.log"));
                format!("{seen}\n{}", log.unwrap_or_default())
            }
            None => seen,
        }
    }

    /// The debate, once its run can go on.
    pub(super) fn debate(&self) -> Option<String> {
        let new: Vec<String> = self.desk.names().difference(&self.others).cloned().collect();
        assert!(new.len() < 2, "one plan has two runs: {new:?}");
        new.into_iter().next()
    }

    pub(super) fn run_folder(&self, debate: &str) -> PathBuf {
        self.desk.runs().join(debate)
    }

    /// All arguments, in order.
    pub(super) fn arguments(&self, debate: &str) -> Vec<Value> {
        let line = ["debate", "get-context", "--full", "--debate-id", debate, "--limit", "500"];
        let context = self.desk.data(&line);
        let mut all = vec![context["motion"].clone()];
        all.extend(context["arguments"].as_array().unwrap().iter().cloned());
        all
    }

    /// Checks a finished run in which so many texts could not be kept, and returns how many arguments
    /// it has.
    pub(super) fn sound(&self, debate: &str, after: &str, unkept: usize) -> u64 {
        let after = format!("{debate} after {after}: {}", self.said());
        let arguments = self.arguments(debate);
        let word = |one: &Value, name: &str| one[name].as_str().unwrap_or_default().to_owned();
        let moves: Vec<String> = arguments
            .iter()
            .map(|one| format!("{} {}", word(one, "type"), &word(one, "role")[..1]))
            .collect();
        let wanted: &[&str] = match self.appeals {
            true => &[
                "MOTION p",
                "CLAIM o",
                "CLAIM p",
                "CLAIM o",
                "APPEAL p",
                "RULING a",
                "CLAIM p",
                "CLAIM o",
                "RESOLUTION p",
                "RULING a",
            ],
            false => &[
                "MOTION p",
                "CLAIM o",
                "CLAIM p",
                "CLAIM o",
                "CLAIM p",
                "CLAIM o",
                "APPEAL p",
                "RULING a",
                "CLAIM p",
                "CLAIM o",
                "RESOLUTION p",
                "RULING a",
            ],
        };
        assert_eq!(moves, wanted, "{after}");

        // Each text of an agent is in the record once, and so is each text that a turn has kept.
        let spoken: Vec<String> = arguments
            .iter()
            .filter(|one| self.appeals || one["type"] != "APPEAL")
            .map(|one| word(one, "content"))
            .filter(|text| text.contains("Text "))
            .collect();
        assert_eq!(spoken.len(), if self.appeals { 7 } else { 8 }, "{after}");
        let mut posted = 0;
        let turns = fs::read_dir(self.run_folder(debate).join("turns")).unwrap();
        for turn in turns.map(|entry| entry.unwrap().path()) {
            let outcome: Value = fs::read(turn.join("outcome.json"))
                .map(|bytes| serde_json::from_slice(&bytes).unwrap())
                .unwrap_or_default();
            let Ok(text) = fs::read_to_string(turn.join("final.md")) else { continue };
            let body = text.trim().trim_start_matches("MOVE: appeal\n");
            let found = spoken.iter().filter(|one| one.starts_with(body)).count();
            let is_flawed = body.contains(FLAWED);
            let turn = turn.display();
            assert_eq!(found, usize::from(!is_flawed), "{turn}: {after}\n{text}\n{spoken:#?}");
            assert_eq!(outcome["posted"] == true, !is_flawed, "{turn}: {outcome} {after}");
            posted += found;
        }
        // Without room a text is posted that no turn has kept.
        assert!(posted + unkept >= spoken.len(), "{posted} kept texts: {after}");

        self.versions(debate, &arguments, &after);
        self.files(&after);
        let verified = self.desk.data(&["debate", "verify", "--debate-id", debate]);
        assert_ne!(verified["ok"], false, "{verified} {after}");
        arguments.len() as u64
    }

    /// Each claim of the proposer has changed the plan once and cites its version.
    fn versions(&self, debate: &str, arguments: &[Value], after: &str) {
        let state = fs::read(self.run_folder(debate).join("run.json")).unwrap();
        let state: Value = serde_json::from_slice(&state).unwrap();
        let document = state["plan"]["document_id"].as_str().unwrap();
        let claims: Vec<&str> = arguments
            .iter()
            .filter(|one| one["type"] == "CLAIM" && one["role"] == "proposer")
            .map(|one| one["content"].as_str().unwrap())
            .collect();
        for (before, claim) in (1..).zip(&claims) {
            let line = format!("doc_id={document} (v{before} → v{})", before + 1);
            assert_eq!(claim.lines().last(), Some(line.as_str()), "{after}");
        }
        let newest = self.desk.data(&["docs", "get", document]);
        assert_eq!(newest["version"], claims.len() + 1, "{newest} {after}");
        let plan = fs::read_to_string(self.folder.join("plan.md")).unwrap();
        assert_eq!(newest["content"].as_str(), Some(plan.as_str()), "{after}");
        for number in 0..claims.len() {
            let note = format!("Note {number}:");
            assert_eq!(plan.matches(&note).count(), 1, "{plan} {after}");
        }
    }

    /// The plan and the report are there, and nothing else.
    fn files(&self, after: &str) {
        let entries = fs::read_dir(&self.folder).unwrap();
        let names: BTreeSet<String> =
            entries.map(|one| one.unwrap().file_name().to_str().unwrap().to_owned()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(names, [".git", "plan.debate.md", "plan.md"], "{after}");
    }
}
