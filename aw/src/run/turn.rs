//! Plays one turn of a seat: prompt, program, final message, argument.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use aw_core::Role;
use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::agents::{Agent, AgentEnvironment};
use super::drive::Floor;
use super::folder::{self, ProcessMark};
use super::helper::{GRACE, HelperNotice};
use super::post::own_flaws;
use super::program::{
    self, End, Ended, FailureKind, ProgramFailure, ProgramSession, ProgramSign, Reader, Tokens,
    Turn,
};
use super::supervisor::{ProgramEvent, ProgramSetup, RunningProgram};
use super::watch::Seen;
use super::{Exit, RunStopped, Runner};

/// How long a program may go on after its final event.
const AFTER_FINAL: Duration = Duration::from_secs(15);

/// How long output may go on after the program has ended.
const AFTER_EXIT: Duration = Duration::from_millis(500);

/// The time between two checks of the clock and of the user's wish to stop.
const LOOK: Duration = Duration::from_millis(50);

/// The most starts of a program in a turn, and the most that fail in a run.
const STARTS: u32 = 4;
const FAILED_STARTS: u32 = 12;

/// The pauses before an overloaded model is asked again.
const OVERLOAD_PAUSES: [Duration; 2] = [Duration::from_secs(30), Duration::from_secs(120)];

/// The repairs of a text that was refused, in one session.
const REPAIRS: u32 = 2;

/// The longest label of presence, in characters.
const LONGEST_LABEL: usize = 80;

/// The longest answer of a command, in bytes. The server takes less.
const LONGEST_ANSWER: usize = 1024 * 1024;

/// The file with the flaws of a final message that the runner has found itself.
pub(super) const FLAWS: &str = "flaws.txt";

/// The final message of an agent, and the plan if it changed that.
#[derive(Debug, Clone)]
pub(super) struct AgentAnswer {
    pub(super) text: String,
    pub(super) plan: Option<String>,
}

/// The end of a program's run.
pub(super) struct Attempt {
    pub(super) ended: Ended,
    pub(super) stderr: String,
}

/// The result of posting a final message.
pub(super) enum Posted {
    /// It is in the record, as this kind of argument.
    Kept(String),
    /// The text has these flaws.
    Refused(Vec<String>),
    /// Another move came first; the text stays on disk.
    Overtaken,
}

/// `outcome.json` of a turn.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct TurnOutcome {
    /// Whether the final message is in the record.
    pub(super) posted: bool,
    pub(super) what: String,
    pub(super) session: Option<String>,
    pub(super) model: Option<String>,
    pub(super) tokens: u64,
    pub(super) cost_usd: Option<f64>,
    pub(super) wall_ms: u64,
}

impl TurnOutcome {
    /// Writes it into the folder of its turn.
    pub(super) fn keep(&self, folder: &Path) -> Result<(), RunStopped> {
        let json = serde_json::to_vec_pretty(self).map_err(io::Error::from)?;
        folder::replace(&folder.join("outcome.json"), &json).map_err(RunStopped::from)
    }

    /// Reads it, if the turn has ended.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>, RunStopped> {
        let json = folder::read_if_there(&folder.join("outcome.json"))?;
        let read = json.map(|json| serde_json::from_str(&json)).transpose();
        Ok(read.map_err(io::Error::from)?)
    }
}

impl Runner {
    /// Plays a turn of a seat until its argument is in the record.
    pub(super) fn play(&mut self, seat: Role) -> Result<(), RunStopped> {
        self.within_budget()?;
        let news = self.news(seat)?;
        let target = news.target.clone();
        let number = self.state.next_turn;
        self.state.next_turn += 1;
        // An earlier run of this debate may have left a turn with this number.
        let folder = self.folder.turn(number, seat.as_str())?;
        remove_folder(&folder)?;
        self.begin_turn(number, seat, &target)?;
        let folder = self.folder.turn(number, seat.as_str())?;
        self.look_at_tree()?;
        let agent = self.agent(seat)?.clone();
        (self.watcher)(Seen::Began { seat, agent: agent.name.clone() });
        let began = Instant::now();

        let mut session = self.seat(seat).session.clone().filter(|_| agent.program.has_sessions());
        let mut prompt = self.prompt(seat, &news, session.is_some())?;
        let (mut starts, mut repairs, mut overloads, mut was_empty) = (0, 0, 0, false);
        let (mut keeps_plan, mut restarted) = (false, false);
        let mut last = String::new();
        loop {
            if starts == STARTS || self.state.failed_starts >= FAILED_STARTS {
                return Err(self.gave_up(seat, &folder, &last));
            }
            starts += 1;
            self.within_budget()?;
            // An earlier start may have put a link in place of the copy, or settings of its program into it.
            self.fresh_copy(seat, &news, keeps_plan)?;
            keeps_plan = true;
            let attempt = self.start(seat, &agent, session.as_deref(), &folder, &prompt)?;
            let Attempt { ended, stderr } = attempt;
            self.note_usage(seat, &ended);
            if self.is_over()? {
                let what = "the debate was closed meanwhile";
                return self.end_turn(seat, &folder, (false, what), &ended, began);
            }
            if let Some(failure) = ended.failure {
                self.state.failed_starts += 1;
                self.keep()?;
                last = format!("{}: {}", failure.kind.as_str(), failure.detail);
                let tail: String = tail(&stderr);
                self.trouble(seat, &agent, &failure);
                match failure.kind {
                    FailureKind::Auth | FailureKind::Quota => {
                        return Err(self.failed(seat, &agent, &failure));
                    }
                    FailureKind::Overload if overloads < OVERLOAD_PAUSES.len() => {
                        self.pause(OVERLOAD_PAUSES[overloads])?;
                        overloads += 1;
                        session = ended.session.or(session);
                        continue;
                    }
                    FailureKind::Empty if !was_empty => {
                        was_empty = true;
                        session = ended.session;
                        prompt =
                            self.again(seat, &news, session.is_some(), super::prompt::EMPTY)?;
                        continue;
                    }
                    _ => {}
                }
                if !tail.is_empty() {
                    last = format!("{last}\n{tail}");
                }
                if restarted {
                    return Err(self.gave_up(seat, &folder, &last));
                }
                (session, repairs, keeps_plan, restarted) = (None, 0, false, true);
                prompt = self.prompt(seat, &news, false)?;
                continue;
            }
            let text = ended.text.clone().unwrap_or_default();
            let flaws = match self.keep_answer(seat, &folder, &target, &text)? {
                Ok(()) => {
                    self.check_tree(seat, &agent)?;
                    match self.post(seat, &folder, &target)? {
                        Posted::Kept(what) => {
                            if agent.program.has_sessions() {
                                let known = self.newest_seq()?;
                                let state = self.seat_mut(seat);
                                state.session = ended.session.clone().or(session);
                                state.knows_seq = known;
                            }
                            self.seat_mut(seat).turns += 1;
                            return self.end_turn(seat, &folder, (true, &what), &ended, began);
                        }
                        Posted::Overtaken => {
                            let what = "another move came first; the text was kept";
                            return self.end_turn(seat, &folder, (false, what), &ended, began);
                        }
                        Posted::Refused(flaws) => flaws,
                    }
                }
                Err(flaws) => flaws,
            };
            last = flaws.join("\n");
            let what = match flaws.len() {
                1 => "the text has a flaw".to_owned(),
                many => format!("the text has {many} flaws"),
            };
            (self.watcher)(Seen::Doing { seat, what });
            self.log(&format!("{seat}: refused: {}", flaws.join(" | ")));
            if repairs < REPAIRS && starts < STARTS {
                repairs += 1;
                self.seat_mut(seat).repairs += 1;
                session = ended.session.or(session).filter(|_| agent.program.has_sessions());
                let forgotten = session.is_none().then_some(text.as_str());
                let repair = super::prompt::repair(&flaws, forgotten);
                prompt = self.again(seat, &news, session.is_some(), &repair)?;
            } else {
                self.state.failed_starts += 1;
                (session, repairs, keeps_plan, restarted) = (None, 0, false, true);
                prompt = self.prompt(seat, &news, false)?;
            }
        }
    }

    /// The prompt that asks once more. A program without sessions has forgotten the turn, so it gets all of it.
    fn again(
        &self,
        seat: Role,
        floor: &Floor,
        remembers: bool,
        request: &str,
    ) -> Result<String, RunStopped> {
        Ok(match remembers {
            true => request.to_owned(),
            false => format!("{}\n\n{request}", self.prompt(seat, floor, false)?),
        })
    }

    /// Runs the program once.
    fn start(
        &mut self,
        seat: Role,
        agent: &Agent,
        session: Option<&str>,
        folder: &Path,
        prompt: &str,
    ) -> Result<Attempt, RunStopped> {
        let prompt_file = folder.join("prompt.md");
        folder::replace(&prompt_file, prompt.as_bytes())?;
        let fresh = Uuid::new_v4().to_string();
        let plan = self.plan_in_copy();
        let copy = self.folder.copy(seat);
        // Files from an earlier start of the program are removed.
        let own = folder.join("program");
        remove_folder(&own).and_then(|()| folder::private_folder(&own))?;
        let settings = agent.settings(&self.environment);
        let turn = Turn {
            session: match session {
                Some(session) => ProgramSession::Later(session),
                None => ProgramSession::New(&fresh),
            },
            model: agent.model.as_deref(),
            plan: plan.as_deref().filter(|_| seat == Role::Proposer),
            copy: &copy,
            folder: &own,
            extra: &agent.arguments,
            settings: settings.as_deref(),
            mcp_servers: &agent.mcp_servers,
        };
        let line = agent.program.line(&turn);
        for (file, text) in &line.files {
            folder::replace(file, text.as_bytes())?;
        }
        let program = agent.program_line(&line);
        let environment = agent.whole_environment(&self.environment, &line, &self.state.debate_id);
        let (stdout, stderr) = (folder.join("stdout"), folder.join("stderr"));
        let setup = ProgramSetup {
            program,
            environment,
            folder: &copy,
            prompt: &prompt_file,
            stdout: &stdout,
            stderr: &stderr,
        };
        self.seat_mut(seat).starts += 1;
        let running = RunningProgram::prepare(&setup)?;
        let group = ProcessMark::of(running.group());
        if let Some(current) = &mut self.state.current {
            (current.group, current.program) = (group, None);
        }
        self.keep()?;
        let watched = self.watch_debate(seat, agent);
        let mut reader = Reader::new(agent.program, &copy);
        let end = self.follow(seat, running, &mut reader);
        watched.stop();
        let end = end?;
        let stderr = tail_of_file(&stderr);
        let final_file =
            line.final_file.as_deref().filter(|file| file.is_file()).map(bytes_of_file);
        let earlier = match session {
            Some(_) => self.seat(seat).session_tokens,
            None => Tokens::default(),
        };
        let mut ended = reader.end(&End {
            exit: end.code,
            timed_out: end.timed_out,
            stdout: &end.said,
            stderr: stderr.as_bytes(),
            earlier,
            final_file: final_file.as_deref(),
        });
        let spent = ended.tokens.unwrap_or_default();
        self.seat_mut(seat).session_tokens = earlier.plus(spent);
        if let Some(failure) = end.failure
            && ended.text.is_none()
        {
            ended.failure = Some(failure);
        }
        Ok(Attempt { ended, stderr })
    }

    /// Follows a running program to its end.
    fn follow(
        &mut self,
        seat: Role,
        mut running: RunningProgram,
        reader: &mut Reader,
    ) -> Result<ProgramEnd, RunStopped> {
        let began = Instant::now();
        let limit = Duration::from_secs(self.state.max_turn_s);
        let mut end = ProgramEnd::default();
        let mut ending: Option<Ending> = None;
        let mut final_at: Option<Instant> = None;
        let mut exited_at: Option<Instant> = None;
        let (mut output_ended, mut stopped) = (false, false);
        let mut signs = Vec::new();
        if running.go().is_err() {
            running.kill();
            end.failure = Some(crash("its helper was killed"));
            return Ok(end);
        }
        loop {
            match running.event(LOOK) {
                None => {}
                Some(ProgramEvent::Helper(HelperNotice::Started(pid))) => {
                    if let Some(current) = &mut self.state.current {
                        current.program = ProcessMark::of(pid);
                    }
                    self.keep()?;
                }
                Some(ProgramEvent::Helper(HelperNotice::Failed(why))) => {
                    end.failure = Some(crash(&format!("the program did not start: {why}")));
                    break;
                }
                Some(ProgramEvent::Helper(HelperNotice::Exited { code, signal })) => {
                    end.code = code;
                    if let Some(signal) = signal
                        && end.failure.is_none()
                        && ending.is_none()
                    {
                        end.failure = Some(crash(&format!("it was ended by signal {signal}")));
                    }
                    exited_at = Some(Instant::now());
                }
                Some(ProgramEvent::HelperDied) => {
                    running.kill();
                    end.failure.get_or_insert_with(|| crash("its helper was killed"));
                    return Ok(end);
                }
                Some(ProgramEvent::Line(line)) => {
                    signs.extend(reader.line(&line));
                    // The answer of a command is read from here: its file may lack room.
                    if end.said.len() < LONGEST_ANSWER {
                        end.said.extend_from_slice(&line);
                        end.said.push(b'\n');
                    }
                }
                Some(ProgramEvent::ErrorLine(line)) => signs.extend(reader.stderr_line(&line)),
                Some(ProgramEvent::OutputEnded) => output_ended = true,
                Some(ProgramEvent::NotWritten(why)) => {
                    end.failure
                        .get_or_insert_with(|| crash(&format!("its output was not kept: {why}")));
                }
            }
            for sign in signs.drain(..) {
                match sign {
                    ProgramSign::Final => final_at = final_at.or(Some(Instant::now())),
                    ProgramSign::Doing(what) => {
                        // The program has not finished after all.
                        final_at = None;
                        (self.watcher)(Seen::Doing { seat, what });
                    }
                    ProgramSign::Retrying(what) => {
                        self.log(&format!("{seat}: {what}"));
                        (self.watcher)(Seen::Trouble(format!("{seat}: {what}")));
                    }
                    ProgramSign::Failing(failure) => {
                        end.failure.get_or_insert(failure);
                        ending.get_or_insert_with(|| Ending::with(&running, Signal::SIGTERM));
                    }
                }
            }
            if let Some(at) = exited_at
                && (output_ended || at.elapsed() > AFTER_EXIT)
            {
                break;
            }
            if self.stop.asked() > 0 && !stopped {
                stopped = true;
                ending.get_or_insert_with(|| Ending::with(&running, Signal::SIGINT));
            }
            if self.stop.asked() > 1 {
                running.kill();
                return Err(self.interrupted());
            }
            if self.debate_is_over() {
                ending.get_or_insert_with(|| Ending::with(&running, Signal::SIGTERM));
            }
            if began.elapsed() > limit && ending.is_none() {
                end.timed_out = true;
                ending = Some(Ending::with(&running, Signal::SIGINT));
            }
            if final_at.is_some_and(|at| at.elapsed() > AFTER_FINAL) {
                ending.get_or_insert_with(|| Ending::with(&running, Signal::SIGTERM));
            }
            if ending.as_ref().is_some_and(|ending| ending.since.elapsed() > GRACE) {
                running.kill();
                return if stopped { Err(self.interrupted()) } else { Ok(end) };
            }
        }
        self.leaving.push(running.leave());
        if stopped { Err(self.interrupted()) } else { Ok(end) }
    }

    /// Keeps the final message and the changed plan on disk, before anything is sent. Returns the flaws
    /// that need no server.
    fn keep_answer(
        &mut self,
        seat: Role,
        folder: &Path,
        target: &str,
        text: &str,
    ) -> Result<Result<(), Vec<String>>, RunStopped> {
        let mut flaws = Vec::new();
        let plan = match self.changed_plan(seat, target)? {
            Ok(plan) => plan,
            Err(flaw) => {
                flaws.push(flaw);
                None
            }
        };
        flaws.extend(own_flaws(seat, text));
        let author = self.agent_author(seat);
        if let Some(current) = &mut self.state.current {
            current.author = author;
        }
        // If there is no room for it, the text is posted all the same.
        let _ = self.keep();
        // The message of an earlier attempt goes first: it must not be posted with a newer plan.
        remove(&folder.join("final.md"))?;
        let kept = keep_file(&folder.join("plan.md"), plan.as_deref())
            .and_then(|()| {
                // A resume must not post a text whose plan was refused.
                let flaws = (!flaws.is_empty()).then(|| flaws.join("\n"));
                keep_file(&folder.join(FLAWS), flaws.as_deref())
            })
            .and_then(|()| folder::replace(&folder.join("final.md"), text.as_bytes()));
        if !flaws.is_empty() {
            return Ok(Err(flaws));
        }
        if let Err(error) = kept {
            // The text is posted all the same, with its plan.
            self.log(&format!("final.md was not written: {error}"));
            self.unkept = Some(AgentAnswer { text: text.to_owned(), plan });
        }
        Ok(Ok(()))
    }

    fn end_turn(
        &mut self,
        seat: Role,
        folder: &Path,
        (posted, what): (bool, &str),
        ended: &Ended,
        began: Instant,
    ) -> Result<(), RunStopped> {
        let file = TurnOutcome {
            posted,
            what: what.to_owned(),
            session: ended.session.clone(),
            model: ended.model.clone(),
            tokens: ended.tokens.as_ref().map_or(0, |tokens| tokens.total),
            cost_usd: ended.cost_usd,
            wall_ms: super::millis(began.elapsed()),
        };
        file.keep(folder)?;
        self.state.current = None;
        self.keep()?;
        self.log(&format!("{seat}: {what}"));
        (self.watcher)(Seen::Ended { seat, what: what.to_owned() });
        Ok(())
    }

    fn note_usage(&mut self, seat: Role, ended: &Ended) {
        let seat = self.seat_mut(seat);
        seat.tokens += ended.tokens.as_ref().map_or(0, |tokens| tokens.total);
        if let Some(cost) = ended.cost_usd {
            seat.cost_usd = Some(seat.cost_usd.unwrap_or(0.0) + cost);
        }
        if ended.model.is_some() {
            seat.model.clone_from(&ended.model);
        }
    }

    fn trouble(&self, seat: Role, agent: &Agent, failure: &ProgramFailure) {
        let words =
            format!("{seat} ({}): {}: {}", agent.name, failure.kind.as_str(), failure.detail);
        self.log(&words);
        (self.watcher)(Seen::Trouble(words));
    }

    /// The end of a run whose user must repair something about a program.
    fn failed(&self, seat: Role, agent: &Agent, failure: &ProgramFailure) -> RunStopped {
        let ProgramFailure { kind, detail, resets_at } = failure;
        let advice = match kind {
            FailureKind::Auth => {
                format!("{} is not logged in: {}", agent.name, agent.program.how_to_log_in())
            }
            _ => match resets_at {
                Some(at) => format!("{} has used up its quota until {at}", agent.name),
                None => format!("{} has used up its quota", agent.name),
            },
        };
        RunStopped {
            exit: Exit::Failed,
            kind: kind.as_str(),
            seat: Some(seat),
            detail: detail.clone(),
            message: advice,
        }
    }

    fn gave_up(&self, seat: Role, folder: &Path, last: &str) -> RunStopped {
        let kind = last.split(':').next().unwrap_or_default();
        let kind =
            [FailureKind::Timeout, FailureKind::Empty, FailureKind::Overload, FailureKind::Crash]
                .into_iter()
                .map(FailureKind::as_str)
                .find(|known| *known == kind)
                .unwrap_or("flaws");
        let mut message =
            format!("the {seat}'s turn failed: {}", last.lines().next().unwrap_or("no answer"));
        let text = folder.join("final.md");
        if text.is_file() {
            message += &format!("; its last text is in {}", text.display());
        }
        RunStopped { exit: Exit::Failed, kind, seat: Some(seat), detail: last.to_owned(), message }
    }

    /// Watches the debate while a program works, and tells its page who works.
    fn watch_debate(&self, seat: Role, agent: &Agent) -> Watched {
        let (stop, stopped) = mpsc::channel::<()>();
        let (line, over) = (self.line.clone(), self.over.clone());
        let label = match self.seat(seat).tokens {
            0 => agent.name.clone(),
            tokens => format!("{}, {tokens} tokens so far", agent.name),
        };
        let label: String = label.chars().take(LONGEST_LABEL).collect();
        let debate = self.state.debate_id.clone();
        let thread = thread::spawn(move || {
            super::drive::watch_debate(&*line, &over, &debate, seat, &label, &stopped);
        });
        Watched { stop, thread }
    }
}

/// A thread that watches the debate.
struct Watched {
    stop: mpsc::Sender<()>,
    thread: thread::JoinHandle<()>,
}

impl Watched {
    fn stop(self) {
        drop(self.stop);
        // It may be sending a request. Nobody waits for the answer.
        drop(self.thread);
    }
}

/// How a program ended.
#[derive(Default)]
struct ProgramEnd {
    code: Option<i32>,
    /// Whether it was ended for taking too long.
    timed_out: bool,
    failure: Option<ProgramFailure>,
    /// Its stdout, up to the longest answer.
    said: Vec<u8>,
}

/// A program that was asked to end.
struct Ending {
    since: Instant,
}

impl Ending {
    fn with(running: &RunningProgram, signal: Signal) -> Self {
        running.signal(signal);
        Ending { since: Instant::now() }
    }
}

fn crash(detail: &str) -> ProgramFailure {
    ProgramFailure::new(FailureKind::Crash, detail)
}

impl From<io::Error> for RunStopped {
    fn from(error: io::Error) -> Self {
        RunStopped {
            exit: Exit::Server,
            kind: "disk",
            seat: None,
            detail: error.to_string(),
            message: format!("a file of the run cannot be written: {error}"),
        }
    }
}

pub(super) fn bytes_of_file(file: impl AsRef<Path>) -> Vec<u8> {
    crate::files::read(file.as_ref(), LONGEST_ANSWER as u64).unwrap_or_default()
}

fn tail_of_file(file: &PathBuf) -> String {
    use std::io::{Read, Seek, SeekFrom};
    let mut text = Vec::new();
    if let Ok(mut file) = fs::File::open(file) {
        let len = file.metadata().map(|about| about.len()).unwrap_or_default();
        let _ = file.seek(SeekFrom::Start(len.saturating_sub(64 * 1024)));
        let _ = file.read_to_end(&mut text);
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Writes a file, or removes it.
fn keep_file(file: &Path, text: Option<&str>) -> io::Result<()> {
    match text {
        Some(text) => folder::replace(file, text.as_bytes()),
        None => remove(file),
    }
}

/// Removes a folder that may be missing.
fn remove_folder(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes a file that may be missing.
fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The last lines of a text.
fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}

/// The environment of agent programs: the user's, without what marks a seat or a surrounding agent.
pub(super) fn environment() -> AgentEnvironment {
    let taken = |name: &OsString| name.to_str().is_some_and(program::is_taken_away);
    let mut all: Vec<_> = std::env::vars_os()
        .filter(|(name, _)| !taken(name) && name != "PATH")
        .filter(|(name, _)| !program::SET.iter().any(|(set, _)| name == set))
        .collect();
    all.push(("PATH".into(), crate::programs::path()));
    all.extend(program::SET.iter().map(|(name, value)| ((*name).into(), (*value).into())));
    all
}
