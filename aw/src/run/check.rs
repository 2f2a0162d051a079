//! Checks the programs and files that a run would use, on request with one tiny turn of each
//! program.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use uuid::Uuid;

use super::agents::{Agent, AgentEnvironment};
use super::copies::{self, CopySource, Extras};
use super::folder::{self, CheckFolder};
use super::helper::GRACE;
use super::outcome::{CopyData, LiveData, RunCheck, SeatData};
use super::program::{End, ProgramSession, Reader, Tokens, Turn};
use super::start::{Asked, NotStarted, chosen, notes_on, seat_of};
use super::supervisor::{ProgramEvent, ProgramSetup, RunningProgram};
use super::turn;
use super::watch::StopRequest;
use crate::api::error::Code;
use crate::run::helper::HelperNotice;
use crate::settings::RunSettings;

/// The prompt of the tiny turn.
const PROMPT: &str = "This is a test of the connection. Answer with the single word READY.\n";

/// How long the tiny turn may take.
const LIVE: Duration = Duration::from_secs(120);

/// The surroundings of tiny turns.
#[derive(Debug, Clone, Copy)]
pub struct LiveCheck<'a> {
    /// The folder of all runs.
    pub runs: &'a Path,
    /// Whether the user wants the check to stop.
    pub stop: &'a StopRequest,
}

/// Checks the programs and files that a run would use. `live`: with one tiny turn of each program.
pub fn check(
    settings: &RunSettings,
    asked: &Asked,
    live: Option<LiveCheck<'_>>,
) -> Result<RunCheck, NotStarted> {
    let environment = turn::environment();
    let agents = chosen(asked, settings, &environment)?;
    let source =
        CopySource::of(asked.plan.as_deref(), &asked.current, &asked.files, asked.home.as_deref())?;
    let place = live.map(|live| CheckFolder::make(live.runs)).transpose()?;
    let go_on = || match live.is_some_and(|live| live.stop.asked() > 0) {
        true => Err(interrupted()),
        false => Ok(()),
    };
    let mut seats = std::collections::BTreeMap::new();
    for (role, agent) in &agents {
        go_on()?;
        let live = live
            .zip(place.as_ref())
            .map(|(live, place)| tried(agent, &environment, &place.path().join(role), live.stop));
        let live = live.transpose().map_err(|error| {
            let message = format!("the turn of {} could not be tried: {error}", agent.name);
            NotStarted { code: Code::AgentFailed, message, suggestion: "aw doctor".to_owned() }
        })?;
        let seat =
            SeatData { program: Some(agent.path.clone()), live, ..SeatData::of(&seat_of(agent)) };
        seats.insert((*role).to_owned(), seat);
    }
    go_on()?;
    Ok(RunCheck {
        seats,
        copy: CopyData {
            files: source.files.len() as u64,
            bytes: source.bytes,
            left_out: source.left_out.total() as u64,
        },
        notes: notes_on(&agents),
    })
}

fn interrupted() -> NotStarted {
    NotStarted {
        code: Code::Interrupted,
        message: "the check was stopped".to_owned(),
        suggestion: "Begin it again: aw debate run --check --live".to_owned(),
    }
}

/// Plays one tiny turn in a copy of nothing.
fn tried(
    agent: &Agent,
    environment: &AgentEnvironment,
    folder: &Path,
    stop: &StopRequest,
) -> io::Result<LiveData> {
    let (base, copy, own) = (folder.join("base"), folder.join("copy"), folder.join("program"));
    folder::private_folder(&base)?;
    folder::private_folder(&own)?;
    copies::refresh(&base, &copy, &Extras { plan: None, own: &[] })?;
    let prompt = folder.join("prompt.md");
    folder::replace(&prompt, PROMPT.as_bytes())?;
    let (session, settings) = (Uuid::new_v4().to_string(), agent.settings(environment));
    let line = agent.program.line(&Turn {
        session: ProgramSession::New(&session),
        model: agent.model.as_deref(),
        plan: None,
        copy: &copy,
        folder: &own,
        settings: settings.as_deref(),
        extra: &agent.arguments,
        mcp_servers: &agent.mcp_servers,
    });
    for (file, text) in &line.files {
        folder::replace(file, text.as_bytes())?;
    }
    let (stdout, stderr) = (folder.join("stdout"), folder.join("stderr"));
    let began = Instant::now();
    let mut running = RunningProgram::prepare(&ProgramSetup {
        program: agent.program_line(&line),
        environment: agent.whole_environment(environment, &line, "check"),
        folder: &copy,
        prompt: &prompt,
        stdout: &stdout,
        stderr: &stderr,
    })?;
    running.go()?;
    let mut reader = Reader::new(agent.program, &copy);
    let (mut exit, mut timed_out) = (None, false);
    let (mut has_exited, mut output_ended) = (false, false);
    let mut stopped: Option<Instant> = None;
    // Nobody reads the output of a check that was stopped.
    while !(has_exited && (output_ended || stopped.is_some())) {
        match running.event(Duration::from_millis(100)) {
            Some(ProgramEvent::Helper(HelperNotice::Exited { code, .. })) => {
                (exit, has_exited) = (code, true);
            }
            Some(ProgramEvent::Helper(HelperNotice::Failed(_)) | ProgramEvent::HelperDied) => break,
            Some(ProgramEvent::OutputEnded) => output_ended = true,
            Some(ProgramEvent::Line(line)) => drop(reader.line(&line)),
            Some(ProgramEvent::ErrorLine(line)) => drop(reader.stderr_line(&line)),
            Some(ProgramEvent::Helper(HelperNotice::Started(_)) | ProgramEvent::NotWritten(_))
            | None => {}
        }
        if stop.asked() > 0 && stopped.is_none() {
            running.signal(Signal::SIGINT);
            stopped = Some(Instant::now());
        }
        let is_stubborn = stop.asked() > 1 || stopped.is_some_and(|since| since.elapsed() > GRACE);
        if began.elapsed() > LIVE || is_stubborn {
            timed_out = true;
            break;
        }
    }
    match timed_out {
        true => running.kill(),
        false => drop(running.leave().join()),
    }
    let ended = reader.end(&End {
        exit,
        timed_out,
        stdout: &turn::bytes_of_file(&stdout),
        stderr: &turn::bytes_of_file(&stderr),
        earlier: Tokens::default(),
        final_file: line.final_file.as_deref().map(turn::bytes_of_file).as_deref(),
    });
    Ok(LiveData {
        answered: ended.failure.is_none(),
        detail: ended.failure.map(|failure| failure.to_string()),
        tokens: ended.tokens.map_or(0, |tokens| tokens.total),
        seconds: (began.elapsed().as_secs_f64() * 10.0).round() / 10.0,
    })
}
