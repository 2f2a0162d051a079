//! Kills the runner of a debate, its helper, its agents and its server, or fills its disk, until the
//! debate is over.

mod desk;
mod disk;
mod processes;

use std::path::Path;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use aw_trials::dice::Dice;
use aw_trials::figures::Figures;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use crate::Trial;
use desk::{Desk, Project};

/// The longest wait for the end of a run that nobody disturbs.
const END: Duration = Duration::from_secs(180);

/// The longest life of a process whose runner is gone.
const LEFT: Duration = Duration::from_secs(10);

/// How many runs go on at once. Most of their time is waiting.
const AT_ONCE: u64 = 4;

/// What is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Runner,
    Helper,
    Agent,
    Server,
    /// SIGHUP to the runner's group, as when a terminal is closed.
    Terminal,
}

impl Victim {
    const ALL: [Victim; 5] =
        [Victim::Runner, Victim::Helper, Victim::Agent, Victim::Server, Victim::Terminal];

    /// The name of its count.
    fn killed(self) -> &'static str {
        match self {
            Victim::Runner => "of the runner",
            Victim::Helper => "of the helper",
            Victim::Agent => "of an agent",
            Victim::Server => "of the server",
            Victim::Terminal => "of the terminal",
        }
    }
}

pub async fn run(trial: &Trial) -> Figures {
    let (kills, mut dice) = (trial.times(), trial.dice());
    let workers: Vec<_> = (0..AT_ONCE.min(kills))
        .map(|worker| {
            let share = kills / AT_ONCE + u64::from(worker < kills % AT_ONCE);
            let (binary, dice) = (trial.binary.canonicalize().unwrap(), dice.another());
            tokio::task::spawn_blocking(move || killed(&binary, share, dice))
        })
        .collect();
    let mut figures = Figures::default();
    for worker in workers {
        figures = figures.and(&worker.await.unwrap());
    }
    let (binary, dice) = (trial.binary.canonicalize().unwrap(), dice.another());
    let full = tokio::task::spawn_blocking(move || disk::full(&binary, 1, dice));
    figures.and(&full.await.unwrap())
}

/// Plays runs with this many kills.
fn killed(binary: &Path, kills: u64, mut dice: Dice) -> Figures {
    let desk = Desk::new(binary);
    let mut figures = Figures::default();
    let mut left = kills;
    while left > 0 {
        let project = desk.project(&mut dice);
        let mut here = left.min(2 + dice.below(5));
        let asked = here;
        let mut blows = Vec::new();
        let mut child = project.start(None);
        // A run whose runner has died this early has nothing to go on from.
        let mut debate: Option<String> = None;
        while here > 0 {
            thread::sleep(Duration::from_millis(dice.below(1_400)));
            debate = debate.or_else(|| project.debate());
            let victim = Victim::ALL[dice.index(Victim::ALL.len())];
            if let Some(status) = child.try_wait().unwrap() {
                if status.success() {
                    break;
                }
                expected(&project, status, &mut child, &blows);
                child = project.start(debate.as_deref());
                continue;
            }
            if !strike(&project, &child, victim) {
                continue;
            }
            here -= 1;
            blows.push(victim);
            figures = figures.count(1, "kills").count(1, victim.killed());
            if matches!(victim, Victim::Runner | Victim::Terminal) {
                let status = ended(&project, &mut child, &blows);
                debate = debate.or_else(|| project.debate());
                if status.success() {
                    break;
                }
                expected(&project, status, &mut child, &blows);
                // Sometimes nobody goes on at once: the helper alone ends its group.
                if dice.one_in(4) {
                    nothing_left(debate.as_deref(), &project, &blows);
                }
                child = project.start(debate.as_deref());
            }
        }
        loop {
            let status = ended(&project, &mut child, &blows);
            debate = debate.or_else(|| project.debate());
            if status.success() {
                break;
            }
            expected(&project, status, &mut child, &blows);
            child = project.start(debate.as_deref());
        }
        let debate = debate.expect("a run that has ended has a debate");
        let arguments = project.sound(&debate, &format!("{blows:?}"), 0);
        nothing_left(Some(&debate), &project, &blows);
        figures = figures.count(1, "runs").count(arguments, "arguments");
        left -= asked - here;
    }
    figures
}

/// Kills it, if it is there or comes within a second.
fn strike(project: &Project<'_>, runner: &Child, victim: Victim) -> bool {
    let own = Pid::from_raw(i32::try_from(runner.id()).unwrap());
    let found = || match victim {
        Victim::Runner | Victim::Terminal => Some(own),
        Victim::Helper => processes::helper_of(own),
        Victim::Agent => processes::helper_of(own).and_then(processes::child_of),
        Victim::Server => project.desk.server(),
    };
    let began = Instant::now();
    loop {
        match (found(), victim) {
            (Some(group), Victim::Terminal) => return killpg(group, Signal::SIGHUP).is_ok(),
            (Some(pid), _) => return kill(pid, Signal::SIGKILL).is_ok(),
            (None, _) if began.elapsed() > Duration::from_secs(1) => return false,
            (None, _) => thread::sleep(Duration::from_millis(2)),
        }
    }
}

/// Waits for the end of a runner.
fn ended(project: &Project<'_>, child: &mut Child, blows: &[Victim]) -> ExitStatus {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        assert!(began.elapsed() < END, "{blows:?}: the run does not end: {}", project.said());
        thread::sleep(Duration::from_millis(10));
    }
}

/// Panics unless a runner may end like this after these blows.
fn expected(project: &Project<'_>, status: ExitStatus, child: &mut Child, blows: &[Victim]) {
    let answer = project.answer(child);
    let struck = |victim| blows.contains(&victim);
    let allowed = match status.code() {
        None => struck(Victim::Runner) || struck(Victim::Terminal),
        Some(130) => struck(Victim::Terminal),
        // A server that was killed while it started ends the command that started it.
        Some(3) => struck(Victim::Server) && answer.contains("the server did not start"),
        // Too many starts of one turn have failed.
        Some(8) => struck(Victim::Agent) || struck(Victim::Helper),
        _ => false,
    };
    assert!(allowed, "{blows:?}: {status}: {answer}\n{}", project.said());
}

/// Panics if a process of the run is left.
fn nothing_left(debate: Option<&str>, project: &Project<'_>, blows: &[Victim]) {
    let Some(debate) = debate else { return };
    let folder = project.run_folder(debate);
    let began = Instant::now();
    loop {
        let left = processes::of_run(debate, &folder);
        if left.is_empty() {
            return;
        }
        assert!(began.elapsed() < LEFT, "{blows:?}: left: {left:?}");
        thread::sleep(Duration::from_millis(50));
    }
}
