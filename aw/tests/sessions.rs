//! The tutorials in `docs/sessions` and the README's quick start, run as they are printed.
//!
//! In a block marked `console`, a line `~actor $ command` is run by a shell and what follows is its
//! output. There, `<name>` stands for one word, the same wherever the name comes up again, also in
//! later commands; `…` stands for anything on that line. A last line `(exit 5)` is the exit code
//! where it is not 0.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::world::{free_listener, postgres};

#[test]
fn the_first_debate() {
    Session::tell("docs/sessions/first-debate.md");
}

#[test]
fn appeal_and_ruling() {
    Session::tell("docs/sessions/appeal-and-ruling.md");
}

#[test]
fn intervention() {
    Session::tell("docs/sessions/intervention.md");
}

#[test]
fn documents() {
    Session::tell("docs/sessions/documents.md");
}

#[test]
fn points() {
    Session::tell("docs/sessions/points.md");
}

#[test]
fn a_whole_debate_by_one_command() {
    Session::tell("docs/sessions/run.md");
}

#[test]
fn resuming_after_a_crash() {
    Session::tell("docs/sessions/resuming-after-a-crash.md");
}

#[test]
fn errors_and_what_they_mean() {
    Session::tell("docs/sessions/errors.md");
}

#[test]
fn seating_your_agents() {
    Session::tell("docs/sessions/agents.md");
}

#[test]
fn types_of_debate() {
    Session::tell("docs/sessions/debate-types.md");
}

#[test]
fn seats() {
    Session::tell("docs/sessions/seats.md");
}

#[test]
fn the_quick_start_of_the_readme() {
    Session::tell("README.md");
}

#[test]
fn every_tutorial_is_run() {
    let source = include_str!("sessions.rs");
    for entry in fs::read_dir(root().join("docs/sessions")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(source.contains(&format!("docs/sessions/{name}")), "{name} is not run");
    }
}

/// One tutorial on its own machine.
struct Session {
    name: String,
    home: TempDir,
    listen: String,
    names: HashMap<String, String>,
}

/// A command and what it should print.
struct Step {
    line: usize,
    command: String,
    output: String,
    exit: i32,
}

impl Session {
    fn tell(name: &str) {
        let text = fs::read_to_string(root().join(name)).unwrap();
        let steps = steps(&text);
        assert!(!steps.is_empty(), "{name} has no commands");
        let listen = free_listener().local_addr().unwrap().to_string();
        let home = tempfile::tempdir().unwrap();
        let mut session = Session { name: name.to_owned(), home, listen, names: HashMap::new() };
        for step in &steps {
            session.run(step);
        }
    }

    fn shell(&self, command: &str) -> Command {
        let binary = Path::new(env!("CARGO_BIN_EXE_aw")).parent().unwrap();
        let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        shell
            .arg("-c")
            .arg(command)
            .current_dir(self.home.path())
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.home.path())
            .env("AW_LISTEN", &self.listen)
            .stdin(Stdio::null());
        if let Some(url) = postgres::database_of(self.home.path()) {
            shell.env("AW_DATABASE_URL", url);
        }
        shell
    }

    fn run(&mut self, step: &Step) {
        let place = format!("{}:{}", self.name, step.line);
        let mut command = step.command.clone();
        for (name, value) in &self.names {
            command = command.replace(&format!("<{name}>"), value);
        }
        let done = self.shell(&command).output().unwrap();
        let said = format!(
            "{}{}",
            String::from_utf8(done.stdout).unwrap(),
            String::from_utf8(done.stderr).unwrap()
        );
        let matched = said.trim_end().lines().count() == step.output.trim_end().lines().count()
            && said
                .trim_end()
                .lines()
                .zip(step.output.trim_end().lines())
                .all(|(said, expected)| self.matches(expected.trim_end(), said.trim_end()));
        assert!(
            matched,
            "{place}: $ {command}\n--- printed\n{said}\n--- expected\n{}\n",
            step.output
        );
        let exit = done.status.code().unwrap_or(-1);
        assert_eq!(exit, step.exit, "{place}: $ {command}\n{said}");
    }

    /// Whether this line is as expected. Remembers the names in it.
    fn matches(&mut self, expected: &str, said: &str) -> bool {
        let mut learnt = self.names.clone();
        let fits = fits(expected, said, &mut learnt);
        if fits {
            self.names = learnt;
        }
        fits
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Also when a step failed.
        let _ = self.shell("aw server stop").output();
    }
}

fn fits(expected: &str, said: &str, names: &mut HashMap<String, String>) -> bool {
    if let Some(rest) = expected.strip_prefix('…') {
        return (0..=said.len()).filter(|cut| said.is_char_boundary(*cut)).any(|cut| {
            let mut tried = names.clone();
            let fits = fits(rest, &said[cut..], &mut tried);
            if fits {
                *names = tried;
            }
            fits
        });
    }
    let placeholder =
        expected.strip_prefix('<').and_then(|rest| rest.split_once('>')).filter(|(name, _)| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
        });
    if let Some((name, rest)) = placeholder {
        let word: String = said
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || "-_.:/".contains(*c))
            .collect();
        let known = names.entry(name.to_owned()).or_insert_with(|| word.clone()).clone();
        return !word.is_empty() && known == word && fits(rest, &said[word.len()..], names);
    }
    match (expected.chars().next(), said.chars().next()) {
        (None, None) => true,
        (Some(wanted), Some(got)) if wanted == got => {
            fits(&expected[wanted.len_utf8()..], &said[got.len_utf8()..], names)
        }
        _ => false,
    }
}

fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            inside = line == "```console";
            continue;
        }
        if !inside {
            continue;
        }
        if let Some((_, command)) = line.strip_prefix('~').and_then(|rest| rest.split_once(" $ ")) {
            steps.push(Step {
                line: number + 1,
                command: command.to_owned(),
                output: String::new(),
                exit: 0,
            });
            continue;
        }
        let step = steps.last_mut().expect("a block begins with a command");
        if let Some(more) = line.strip_prefix("> ").filter(|_| step.command.ends_with('\\')) {
            step.command.truncate(step.command.len() - 1);
            step.command.push_str(more);
        } else if let Some(code) =
            line.strip_prefix("(exit ").and_then(|rest| rest.strip_suffix(')'))
        {
            step.exit = code.parse().unwrap();
        } else {
            step.output.push_str(line);
            step.output.push('\n');
        }
    }
    steps
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}
