//! `aw debate run`: a whole debate by one command.

use std::env;
use std::fs;
use std::io::{self, IsTerminal};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use uuid::Uuid;

use super::super::agent::{find_type, shelves};
use super::super::connect::Connection;
use super::super::human;
use super::super::output::{Answer, CliError, Shown, leads_out};
use super::super::refs;
use super::super::session::settings;
use super::Shape;
use super::run_view::View;
use super::write::{blocking, rounds};
use crate::api::client::Call;
use crate::api::error::Code;
use crate::api::http::{BUDGET, Client, Data, Trouble};
use crate::api::types::TypeTexts;
use crate::data_dir::private;
use crate::kit::project_of;
use crate::kit::texts::Language;
use crate::programs;
use crate::run::server::Line;
use crate::run::watch::StopRequest;
use crate::run::{
    self, Asked, Exit, LiveCheck, NotStarted, RunData, RunLimits, RunStopped, RunSurroundings,
    Runner, Seats,
};
use crate::settings::ClientSettings;

/// The exit code of a debate that was closed with blocking points left open.
const LEFT_OPEN: u8 = 9;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Run {
    /// The plan to debate
    #[arg(value_name = "PLAN.md", conflicts_with_all = ["debate_id", "resume", "stop"])]
    plan: Option<PathBuf>,
    /// Drive seats of this debate; the others stay open
    #[arg(long, value_name = "DEBATE", conflicts_with_all = ["resume", "stop"])]
    debate_id: Option<String>,
    /// Go on where a run stopped; without an id, in the newest unfinished run of this project
    #[arg(long, value_name = "DEBATE", num_args = 0..=1, default_missing_value = "", conflicts_with = "stop")]
    resume: Option<String>,
    /// End a run in the background, as Ctrl-C does
    #[arg(long, value_name = "DEBATE")]
    stop: Option<String>,
    /// Show the programs and files that a run would use
    #[arg(long, conflicts_with_all = ["resume", "stop", "detach"])]
    check: bool,
    /// With --check: one tiny real turn of each program
    #[arg(long, requires = "check")]
    live: bool,
    /// The proposer: claude, codex, gemini, opencode or an agent of yours, with :MODEL if you like
    #[arg(long, value_name = "AGENT", help_heading = "Seats", conflicts_with = "debate_id")]
    proposer: Option<String>,
    /// The opponent [default: the first program of another family]
    #[arg(long, value_name = "AGENT", help_heading = "Seats")]
    opponent: Option<String>,
    /// The arbitrator: me (default), none or an agent
    #[arg(long, value_name = "AGENT", help_heading = "Seats")]
    arbitrator: Option<String>,
    /// The title [default: the plan's first heading]
    #[arg(long, value_name = "TEXT", help_heading = "Debate", conflicts_with_all = ["debate_id", "resume", "stop"])]
    title: Option<String>,
    /// coding_plan_debate (default), general_debate, or a type of your own
    #[arg(
        long = "type",
        value_name = "TYPE",
        default_value = "coding_plan_debate",
        hide_default_value = true,
        help_heading = "Debate",
        conflicts_with_all = ["debate_id", "resume", "stop"]
    )]
    debate_type: String,
    /// What to look at
    #[arg(long, value_name = "TEXT", help_heading = "Debate", conflicts_with_all = ["debate_id", "resume", "stop"])]
    ask: Option<String>,
    /// The rounds that the opponent has, 1 to 20 [default: 5]
    #[arg(long, value_name = "N", help_heading = "Debate", conflicts_with_all = ["debate_id", "resume", "stop"], value_parser = rounds)]
    rounds: Option<u64>,
    /// The lowest severity that blocks: critical or major (default)
    #[arg(long, value_name = "SEVERITY", help_heading = "Debate", conflicts_with_all = ["debate_id", "resume", "stop"], value_parser = blocking)]
    blocking: Option<String>,
    /// The files that agents see, instead of all that git lists; may be repeated
    #[arg(long, value_name = "GLOB", help_heading = "Debate", conflicts_with_all = ["resume", "stop"])]
    files: Vec<String>,
    /// The longest time of the whole run, not counting the time that it waits for you [default: 60m]
    #[arg(long, value_name = "TIME", help_heading = "Limits")]
    max_time: Option<Span>,
    /// The longest time of one turn [default: 20m]
    #[arg(long, value_name = "TIME", help_heading = "Limits")]
    max_turn: Option<Span>,
    /// The most tokens, as the programs report them
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_tokens: Option<u64>,
    /// The file for the final plan [default: the plan itself]
    #[arg(long, value_name = "FILE", help_heading = "Files", conflicts_with_all = ["debate_id", "resume", "stop"])]
    output: Option<PathBuf>,
    /// Write no file
    #[arg(long, help_heading = "Files", conflicts_with_all = ["output", "resume", "stop"])]
    no_write: bool,
    /// Go on in the background
    #[arg(long)]
    detach: bool,
    /// This is the runner in the background
    #[arg(long, hide = true)]
    background: bool,
    #[command(flatten)]
    pub(super) shape: Shape,
}

/// The debate that a name means: that of a run on this machine, or one on the server.
fn run_named(runs: &Path, name: &str, verbose: bool) -> Result<String, CliError> {
    if name.is_empty() || Uuid::try_parse(name).is_ok() {
        return Ok(name.to_owned());
    }
    let folders = fs::read_dir(runs).into_iter().flatten().flatten();
    let folders = folders.filter_map(|folder| folder.file_name().into_string().ok());
    let fits = |folder: &String| {
        name.len() >= 4 && folder.starts_with(name) && Uuid::try_parse(folder).is_ok()
    };
    let mut fitting: Vec<String> = folders.filter(fits).collect();
    match (fitting.pop(), fitting.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(one), false) => {
            fitting.push(one);
            fitting.sort();
            Err(CliError::input(format!("{name:?} fits several runs: {}", fitting.join(", ")))
                .suggest("Give more of the id, or all of it"))
        }
        (None, _) => match refs::debate(name, verbose) {
            // There is no such run either. The caller reports that.
            Err(problem) if problem.code == Code::DebateNotFound => Ok(name.to_owned()),
            found => found,
        },
    }
}

/// A time as a person writes it: `90s`, `20m`, `2h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span(Duration);

impl FromStr for Span {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = "it must be a time, such as 90s, 20m or 2h";
        let unit = text.chars().last().ok_or(wrong)?;
        let seconds = match unit {
            's' => 1,
            'm' => 60,
            'h' => 3_600,
            _ => return Err(wrong),
        };
        let number: u64 = text[..text.len() - unit.len_utf8()].parse().map_err(|_| wrong)?;
        let all = number.checked_mul(seconds).filter(|all| (1..=31_536_000).contains(all));
        all.map(|all| Span(Duration::from_secs(all))).ok_or("it must be between 1s and a year")
    }
}

impl Run {
    pub(super) fn run(mut self) -> Result<Shown, CliError> {
        let settings = settings()?;
        let runs = settings.home.path().join("runs");
        if let Some(name) = &mut self.debate_id {
            *name = refs::debate(name, self.shape.verbose)?;
        }
        for name in [&mut self.resume, &mut self.stop].into_iter().flatten() {
            *name = run_named(&runs, name, self.shape.verbose)?;
        }
        if let Some(debate) = &self.stop {
            return stop(&runs, debate);
        }
        let current = env::current_dir().map_err(|error| {
            CliError::input(format!("the current folder cannot be used: {error}"))
        })?;
        let project = self.project(&current, settings.home.path());
        if self.check {
            let asked = self.asked(&settings, current, project, None)?;
            return self.checked(&settings, &asked, &runs);
        }
        let budget = self.budget();
        let line = RunLine::open(&settings, self.shape.verbose)?;
        let view = match self.detach {
            true => View::silent(),
            false => View::new(self.background),
        };
        let stop = StopRequest::default();
        watch_signals(&stop, &view);
        let around = RunSurroundings {
            line: Arc::new(line),
            runs: runs.clone(),
            settings: settings.runs.clone(),
            debate_language: settings.debate_language.clone(),
            patience: match self.background || io::stderr().is_terminal() {
                true => None,
                false => Some(settings.patience),
            },
            watcher: view.watcher(),
            stop,
        };
        let runner = match &self.resume {
            Some(debate) => {
                let debate = match debate.as_str() {
                    "" => newest_run(&runs, &project)?,
                    debate => debate.to_owned(),
                };
                Runner::resume(around, &debate, budget, &self.seats())
            }
            None => {
                let texts = match self.debate_id {
                    Some(_) => None,
                    None => type_texts(&self.debate_type, &settings)?,
                };
                let asked = self.asked(&settings, current, project, texts)?;
                Runner::begin(around, &asked)
            }
        };
        let runner = runner.map_err(|no| {
            view.close();
            not_started(no)
        })?;
        if self.detach {
            view.close();
            return detach(runner);
        }
        let (data, stopped) = runner.run();
        view.close();
        answered(data, stopped)
    }

    /// The project of the run: the plan's, or that of the current folder if the plan is in none.
    fn project(&self, current: &Path, data_folder: &Path) -> PathBuf {
        let plan = self.plan.as_ref().map(|plan| current.join(plan));
        let folder =
            plan.as_deref().and_then(Path::parent).and_then(|folder| fs::canonicalize(folder).ok());
        let own = folder.map(|folder| project_of(&folder, data_folder));
        let is_marked =
            |project: &PathBuf| [".git", ".aweave"].iter().any(|mark| project.join(mark).exists());
        own.filter(is_marked).unwrap_or_else(|| project_of(current, data_folder))
    }

    /// The answer of `--check`.
    fn checked(
        &self,
        settings: &ClientSettings,
        asked: &Asked,
        runs: &Path,
    ) -> Result<Shown, CliError> {
        let stop = StopRequest::default();
        if self.live {
            watch_signals(&stop, &View::new(false));
        }
        let live = self.live.then_some(LiveCheck { runs, stop: &stop });
        let check = run::check(&settings.runs, asked, live).map_err(not_started)?;
        let answers = |seat: &run::SeatData| seat.live.as_ref().is_none_or(|live| live.answered);
        let failed = Code::AgentFailed.exit();
        let all_answer = check.seats.values().all(answers);
        let answer = Answer::new(check, human::run_check);
        Ok(if all_answer { Shown::Answer(answer) } else { Shown::WithExit(answer, failed) })
    }

    fn seats(&self) -> Seats {
        Seats {
            proposer: self.proposer.clone(),
            opponent: self.opponent.clone(),
            arbitrator: self.arbitrator.clone(),
        }
    }

    fn budget(&self) -> RunLimits {
        RunLimits {
            max_time: self.max_time.map(|span| span.0),
            max_turn: self.max_turn.map(|span| span.0),
            max_tokens: self.max_tokens,
        }
    }

    fn asked(
        &self,
        settings: &ClientSettings,
        current: PathBuf,
        project: PathBuf,
        type_texts: Option<TypeTexts>,
    ) -> Result<Asked, CliError> {
        if self.plan.is_none() && self.debate_id.is_none() && !self.check {
            return Err(CliError::input("name a plan, or a debate with --debate-id")
                .suggest("aw debate run PLAN.md"));
        }
        let arbitrates = !matches!(self.arbitrator.as_deref(), None | Some("me" | "none"));
        if self.debate_id.is_some() && self.opponent.is_none() && !arbitrates {
            return Err(CliError::input("name the seats that this run drives")
                .suggest("Add --opponent AGENT, --arbitrator AGENT, or both"));
        }
        let defaults = &settings.runs.defaults;
        let own = self.debate_id.is_none();
        let default = |said: &Option<String>, set: &Option<String>| {
            said.clone().or_else(|| set.clone().filter(|_| own))
        };
        let absolute = |path: &PathBuf| current.join(path);
        let plan = self.plan.as_ref().map(absolute);
        let output = self.output.as_ref().map(absolute);
        if let Some(output) = &output {
            let folder = output.parent().filter(|folder| folder.is_dir());
            if folder.is_none() || output.is_dir() {
                return Err(CliError::input(format!(
                    "--output {} is no file in a folder that exists",
                    human::shown(&output.to_string_lossy())
                ))
                .suggest("Make the folder first, and name a file in it"));
            }
            if let Some(link) = run::copies::link_out(output) {
                return Err(CliError::input(format!("--output: {}", leads_out(&link)))
                    .suggest("Give another path with --output"));
            }
        }
        let is_plan = |output: &PathBuf| {
            let real = |path: &PathBuf| fs::canonicalize(path).ok();
            real(output).is_some_and(|output| plan.as_ref().and_then(real) == Some(output))
        };
        let output = output.filter(|output| !is_plan(output));
        Ok(Asked {
            plan,
            debate: self.debate_id.clone(),
            seats: Seats {
                proposer: default(&self.proposer, &defaults.proposer),
                opponent: default(&self.opponent, &defaults.opponent),
                arbitrator: default(&self.arbitrator, &defaults.arbitrator),
            },
            title: self.title.clone(),
            debate_type: self.debate_type.clone(),
            type_texts,
            ask: self.ask.clone(),
            rounds: self.rounds.or(defaults.rounds),
            blocking: self.blocking.clone(),
            files: self.files.clone(),
            budget: self.budget(),
            output,
            writes: !self.no_write,
            project,
            home: env::var_os("HOME").map(PathBuf::from),
            current,
        })
    }
}

/// The texts of a type that is not built in.
fn type_texts(name: &str, settings: &ClientSettings) -> Result<Option<TypeTexts>, CliError> {
    let kind = find_type(name, &shelves(settings)?, Language::English)?;
    Ok(kind.texts().as_ref().map(TypeTexts::from))
}

fn newest_run(runs: &Path, project: &Path) -> Result<String, CliError> {
    run::runs_of(runs, project).into_iter().next().ok_or_else(|| {
        CliError::new(Code::RunNotFound, "no run of this project is unfinished")
            .suggest("Begin one: aw debate run PLAN.md")
    })
}

fn stop(runs: &Path, debate: &str) -> Result<Shown, CliError> {
    let was_there = run::stop(runs, debate).map_err(not_started)?;
    let message = match was_there {
        true => "The run was stopped; the debate is kept",
        false => "No runner had this debate",
    };
    let data = serde_json::json!({"debate_id": debate, "stopped": was_there});
    let answer = Answer::new(data, human::fields).message(message);
    Ok(Shown::Answer(answer.next(format!("aw debate run --resume {debate}"))))
}

fn not_started(no: NotStarted) -> CliError {
    CliError::new(no.code, no.message).suggest(no.suggestion)
}

/// The answer of a run that has ended.
fn answered(data: RunData, stopped: Option<RunStopped>) -> Result<Shown, CliError> {
    let resume = data.resume_command.clone();
    if let Some(stopped) = stopped {
        let code = match stopped.exit {
            Exit::Undecided => Code::Undecided,
            Exit::Failed => Code::AgentFailed,
            Exit::Interrupted => Code::Interrupted,
            Exit::Server => Code::ConnectionError,
            Exit::Refused => Code::AuthFailed,
            Exit::Input => Code::InvalidInput,
            Exit::Gone => Code::DebateNotFound,
        };
        let problem = CliError::new(code, stopped.message);
        let problem = match &resume {
            Some(resume) => {
                problem.suggest(format!("Go on: {resume}")).with("next_command", resume.as_str())
            }
            None => problem.suggest("Begin another debate: aw debate run PLAN.md"),
        };
        return Err(problem.with_data(serde_json::json!(data)));
    }
    let left_open = data.outcome == "left_open";
    let next = format!("aw debate result --debate-id {}", data.debate_id);
    let answer = Answer::new(data, human::run).next(next);
    Ok(if left_open { Shown::WithExit(answer, LEFT_OPEN) } else { Shown::Answer(answer) })
}

/// Continues the run in a process of its own, which outlives the terminal.
fn detach(runner: Runner) -> Result<Shown, CliError> {
    let data = runner.running();
    let (debate, folder) = (runner.debate_id().to_owned(), runner.path().to_owned());
    // The other process takes the lock now.
    drop(runner);
    let failed = |error: io::Error| {
        CliError::connection(format!("the runner did not start: {error}"))
            .suggest(format!("Go on here: aw debate run --resume {debate}"))
    };
    let open = |name: &str| private().create(true).truncate(true).open(folder.join(name));
    let program = programs::own().map_err(failed)?;
    Command::new(program)
        .args(["debate", "run", "--background", "--resume", &debate])
        .stdin(Stdio::null())
        .stdout(open("answer.json").map_err(failed)?)
        .stderr(open("runner.log").map_err(failed)?)
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    let answer = Answer::new(data, human::run).message("The run goes on in the background");
    Ok(Shown::Answer(answer.next(format!("aw debate result --debate-id {debate} --wait"))))
}

/// Asks the run to stop on Ctrl-C and similar signals.
fn watch_signals(stop: &StopRequest, view: &View) {
    let (stop, view) = (stop.clone(), view.clone());
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    thread::spawn(move || {
        for _ in signals.forever() {
            stop.ask();
            view.stopping();
        }
    });
}

/// The connection to the server. Finds or starts a lost server again.
pub(in crate::cli) struct RunLine {
    settings: ClientSettings,
    client: Mutex<Arc<Client>>,
}

impl RunLine {
    pub(in crate::cli) fn open(settings: &ClientSettings, verbose: bool) -> Result<Self, CliError> {
        let settings = settings.clone();
        let Connection { client, .. } = Connection::find_answering(&settings, verbose)?;
        Ok(RunLine { client: Mutex::new(Arc::new(client.for_runner())), settings })
    }

    fn client(&self) -> Arc<Client> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sends a request. If the server was lost, finds or starts it once.
    fn ask<T>(&self, ask: impl Fn(&Client, bool) -> Result<T, Trouble>) -> Result<T, Trouble> {
        let answer = ask(&self.client(), false);
        match &answer {
            Err(Trouble::Unreachable(lost))
                if !lost.timed_out && self.settings.server_url.is_none() =>
            {
                let Ok(Connection { client, .. }) =
                    Connection::find_answering(&self.settings, false)
                else {
                    return answer;
                };
                let client = Arc::new(client.for_runner());
                *self.client.lock().unwrap_or_else(PoisonError::into_inner) = client.clone();
                ask(&client, true)
            }
            _ => answer,
        }
    }
}

impl Line for RunLine {
    fn data(&self, call: &Call, held: Duration) -> Result<Data, Trouble> {
        self.ask(|client, again| match held.is_zero() {
            true => client.data_until(call, Instant::now() + BUDGET, again),
            false => client.data_once(call, Instant::now() + held + BUDGET),
        })
    }

    fn raw(&self, call: &Call) -> Result<Vec<u8>, Trouble> {
        self.ask(|client, _| client.raw_until(call, Instant::now() + BUDGET))
    }

    fn url_of(&self, debate: &str) -> String {
        format!("{}/debate/{debate}", self.client().base())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_number_and_a_unit() {
        for (text, seconds) in [("90s", Some(90)), ("20m", Some(1_200)), ("2h", Some(7_200))] {
            assert_eq!(text.parse::<Span>().ok().map(|span| span.0.as_secs()), seconds, "{text}");
        }
        for text in ["", "s", "20", "-1m", "1.5h", "0s", "20 m", "99999999999999999999h", "2d"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }
}
