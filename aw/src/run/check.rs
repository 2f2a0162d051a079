//! Checks the programs and files that a run would use, on request with one tiny turn of each
//! program.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::agents::{Agent, AgentEnvironment};
use super::copies::CopySource;
use super::outcome::{CopyData, LiveData, RunCheck, SeatData};
use super::program::{End, ProgramSession, Reader, Tokens, Turn};
use super::start::{Asked, NotStarted, chosen, notes_on, seat_of};
use super::supervisor::{ProgramEvent, ProgramSetup, RunningProgram};
use super::turn;
use crate::api::error::Code;
use crate::run::helper::HelperNotice;
use crate::settings::RunSettings;

/// The prompt of the tiny turn.
const PROMPT: &str = "This is a test of the connection. Answer with the single word READY.\n";

/// How long the tiny turn may take.
const LIVE: Duration = Duration::from_secs(120);

/// Checks the programs and files that a run would use. `live`: a folder for one tiny turn of each program.
pub fn check(
    settings: &RunSettings,
    asked: &Asked,
    live: Option<&Path>,
) -> Result<RunCheck, NotStarted> {
    let environment = turn::environment();
    let agents = chosen(asked, settings, &environment)?;
    let source =
        CopySource::of(asked.plan.as_deref(), &asked.current, &asked.files, asked.home.as_deref())?;
    let mut seats = std::collections::BTreeMap::new();
    for (role, agent) in &agents {
        let live = live.map(|folder| tried(agent, &environment, &folder.join(role)));
        let live = live.transpose().map_err(|error| {
            let message = format!("the turn of {} could not be tried: {error}", agent.name);
            NotStarted { code: Code::AgentFailed, message, suggestion: "aw doctor".to_owned() }
        })?;
        let seat =
            SeatData { program: Some(agent.path.clone()), live, ..SeatData::of(&seat_of(agent)) };
        seats.insert((*role).to_owned(), seat);
    }
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

/// Plays one tiny turn in an empty folder.
fn tried(agent: &Agent, environment: &AgentEnvironment, folder: &Path) -> io::Result<LiveData> {
    let (copy, own) = (folder.join("copy"), folder.join("program"));
    fs::create_dir_all(&copy)?;
    fs::create_dir_all(&own)?;
    let copy = fs::canonicalize(copy)?;
    let prompt = folder.join("prompt.md");
    fs::write(&prompt, PROMPT)?;
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
        super::folder::replace(file, text.as_bytes())?;
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
    while !(has_exited && output_ended) {
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
        if began.elapsed() > LIVE {
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
