//! A project with a plan, and agents that say what a test gives them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::cli::aw::{Aw, Ran};

pub const PLAN: &str = "# Charge retries\n\n1. The worker retries the POST up to 3 times.\n\
     2. Old rows are deleted after 30 days.\n";

/// The answers of a debate that ends with an agreement in two rounds.
pub const FIRST_CLAIM: &str = "### NEW [critical] A retry can charge twice\n\
     > The worker retries the POST up to 3 times.\nA time-out after the charge charges again.\n\
     ### VERDICT [object]\n";
pub const AGREES: &str = "### P1 [resolved] Step 1 of v2.\n### VERDICT [agree]\n";
pub const ACCEPTS: &str = "### P1 [accepted] One key a payment.\n";
pub const MENDS: &str = "sed -i 's/3 times\\./3 times, with one key a payment./' plan.md";

/// Sends a signal to a command that was left running.
pub fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
}

/// Waits until this holds.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A shell at a project.
pub struct Scene {
    pub aw: Aw,
}

impl Scene {
    /// A repository with a plan. No agent is there yet.
    pub fn new() -> Self {
        let aw = Aw::new();
        aw.config("");
        aw.file("plan.md", PLAN);
        fs::create_dir(aw.desk().join("src")).unwrap();
        aw.file("src/charge.rs", "pub fn charge() {}\n");
        let scene = Scene { aw };
        scene.git(
            "git init -q . && git add . && git -c user.name=A -c user.email=a@b.c commit -qm One",
        );
        scene
    }

    /// The usual agents: the opponent objects once and agrees, the proposer mends the plan.
    pub fn agreeing() -> Self {
        let scene = Scene::new();
        scene.agent("opponent", &[("", FIRST_CLAIM), ("", AGREES)]);
        scene.agent("proposer", &[(MENDS, ACCEPTS)]);
        scene
    }

    pub fn git(&self, line: &str) {
        let ran = self.aw.sh(line);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    }

    /// An agent `NAME` whose n-th turn runs the n-th line and prints the n-th text; then the last again.
    pub fn agent(&self, name: &str, turns: &[(&str, &str)]) {
        let folder = self.script_folder();
        let mut script = format!(
            "#!/bin/sh\nseen='{0}/{name}'\ncat > \"$seen.prompt\"\nn=$(cat \"$seen.count\" 2>/dev/null || echo 0)\n\
             n=$((n + 1))\necho $n > \"$seen.count\"\ncp \"$seen.prompt\" \"$seen.prompt.$n\"\n\
             env > \"$seen.env\"\npwd > \"$seen.folder\"\ncase $n in\n",
            folder.display()
        );
        for (number, (line, text)) in turns.iter().enumerate() {
            let answer = folder.join(format!("{name}.answer.{number}"));
            fs::write(&answer, text).unwrap();
            let label =
                if number + 1 == turns.len() { "*".to_owned() } else { (number + 1).to_string() };
            let line = if line.is_empty() { ":" } else { line };
            script.push_str(&format!("{label}) {line}\ncat '{}' ;;\n", answer.display()));
        }
        script.push_str("esac\n");
        self.command(name, &script);
    }

    /// An agent that is this script.
    pub fn command(&self, name: &str, script: &str) {
        let file = self.script_folder().join(name);
        fs::write(&file, script).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        let config = self.aw.home().join("config.toml");
        let mut text = fs::read_to_string(&config).unwrap_or_default();
        if !text.contains(&format!("[agents.{name}]")) {
            text.push_str(&format!("[agents.{name}]\ncommand = [\"{}\"]\n", file.display()));
            fs::write(config, text).unwrap();
        }
    }

    /// How many turns an agent has played.
    pub fn turns_of(&self, name: &str) -> u32 {
        let count = fs::read_to_string(self.script_folder().join(format!("{name}.count")));
        // The agent may be about to write the number.
        count.map_or(0, |count| count.trim().parse().unwrap_or(0))
    }

    /// What an agent has noted: its prompts, its environment, its folder.
    pub fn noted(&self, what: &str) -> String {
        fs::read_to_string(self.script_folder().join(what)).unwrap_or_default()
    }

    /// `aw debate run plan.md` with the usual agents and these flags.
    pub fn run(&self, more: &[&str]) -> Played {
        Played::of(self.aw.quietly(&Self::line(more)))
    }

    /// The same, left running.
    pub fn spawn(&self, more: &[&str]) -> Child {
        self.aw.spawn(&[], &Self::line(more))
    }

    fn line<'a>(more: &[&'a str]) -> Vec<&'a str> {
        let mut line = vec!["debate", "run"];
        if !more.iter().any(|word| matches!(*word, "--resume" | "--debate-id")) {
            line.extend(["plan.md", "--proposer", "proposer", "--opponent", "opponent"]);
        }
        line.extend(more);
        line
    }

    /// All arguments of a debate, in order.
    pub fn arguments(&self, debate: &str) -> Vec<Value> {
        let line = ["debate", "get-context", "--full", "--debate-id", debate, "--limit", "500"];
        let context = self.aw.quietly(&line).data();
        let mut all = vec![context["motion"].clone()];
        all.extend(context["arguments"].as_array().unwrap().iter().cloned());
        all
    }

    /// The kinds of all arguments of a debate, in order.
    pub fn kinds(&self, debate: &str) -> Vec<String> {
        let all = self.arguments(debate);
        all.iter().map(|one| one["type"].as_str().unwrap().to_owned()).collect()
    }

    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.aw.desk().join(name)).unwrap()
    }

    fn script_folder(&self) -> PathBuf {
        let folder = self.aw.home().join("scripts");
        fs::create_dir_all(&folder).unwrap();
        folder
    }
}

/// A run that has ended. It talks on stderr, and its failures have data.
#[derive(Debug)]
pub struct Played {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    envelope: Value,
}

impl Played {
    /// The outcome of this command.
    pub fn of(ran: Ran) -> Self {
        let envelope = serde_json::from_str(&ran.stdout).unwrap_or_default();
        Played { code: ran.code, stdout: ran.stdout, stderr: ran.stderr, envelope }
    }

    /// The data of a success.
    #[track_caller]
    pub fn data(&self) -> Value {
        assert_eq!(self.envelope["success"], true, "{self:?}");
        self.any_data()
    }

    /// The data, also of a failure.
    pub fn any_data(&self) -> Value {
        self.envelope["content"][0]["data"].clone()
    }

    /// The envelope of a failure with this exit code and error code.
    #[track_caller]
    pub fn refused(&self, exit: i32, code: &str) -> Value {
        assert_eq!((self.code, &self.envelope["error"]["code"]), (exit, &code.into()), "{self:?}");
        self.envelope.clone()
    }
}
