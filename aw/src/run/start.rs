//! Begins, resumes, stops and checks runs.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use aw_core::{Kind, PointRules, Role, Title};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::agents::{Agent, AgentEnvironment, NoAgent};
use super::copies::{self, CopyError, CopySource};
use super::folder::{self, NotTaken, PlanState, ProcessMark, RunFolder, RunState, SeatState};
use super::helper::GRACE;
use super::post::LONGEST;
use super::program::AgentProgram;
use super::project;
use super::server;
use super::tree::{Tree, Watched};
use super::turn::{self, FLAWS, Posted, TurnOutcome};
use super::watch::Seen;
use super::{Exit, RunStopped, RunSurroundings, Runner, words};
use crate::api::client::{self, derived_id};
use crate::api::error::Code;
use crate::api::http::Trouble;
use crate::api::types::{
    AskedPoints, AskedSettings, CreateDebate, Debate, SubmitDocument, TypeTexts,
};
use crate::settings::RunSettings;

/// The agents that a user asks for.
#[derive(Debug, Clone, Default)]
pub struct Seats {
    /// The proposer's.
    pub proposer: Option<String>,
    /// The opponent's.
    pub opponent: Option<String>,
    /// `me`, `none` or an agent.
    pub arbitrator: Option<String>,
}

/// The limits of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunLimits {
    /// The limit of time, not counting the time that it waits for a person.
    pub max_time: Option<Duration>,
    /// The time of one turn.
    pub max_turn: Option<Duration>,
    /// The tokens that programs report.
    pub max_tokens: Option<u64>,
}

/// The run that a user asks for.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The plan, an absolute path; none with a debate.
    pub plan: Option<PathBuf>,
    /// The debate whose seats are driven; none with a plan.
    pub debate: Option<String>,
    /// The seats.
    pub seats: Seats,
    /// The title; by default the plan's first heading.
    pub title: Option<String>,
    /// The type, and the rules that go along with it.
    pub debate_type: String,
    /// Its texts, when it is not a built-in one.
    pub type_texts: Option<TypeTexts>,
    /// The question that both agents look at.
    pub ask: Option<String>,
    /// The settings of points.
    pub rounds: Option<u64>,
    /// The lowest severity that blocks.
    pub blocking: Option<String>,
    /// The globs of files.
    pub files: Vec<String>,
    /// The limits.
    pub budget: RunLimits,
    /// The file for the newest version.
    pub output: Option<PathBuf>,
    /// Whether files are written.
    pub writes: bool,
    /// The current folder.
    pub current: PathBuf,
    /// The project, to find the run by.
    pub project: PathBuf,
    /// The home folder of the user.
    pub home: Option<PathBuf>,
}

/// Why a run did not begin.
#[derive(Debug)]
pub struct NotStarted {
    /// The code.
    pub code: Code,
    /// The mistake.
    pub message: String,
    /// The next step.
    pub suggestion: String,
}

impl NotStarted {
    fn new(code: Code, message: impl Into<String>, suggestion: impl Into<String>) -> Self {
        NotStarted { code, message: message.into(), suggestion: suggestion.into() }
    }
}

impl From<NoAgent> for NotStarted {
    fn from(no: NoAgent) -> Self {
        NotStarted::new(Code::AgentNotFound, no.message, no.suggestion)
    }
}

impl From<CopyError> for NotStarted {
    fn from(error: CopyError) -> Self {
        let code = match &error {
            CopyError::PlanMissing(_) => Code::FileNotFound,
            CopyError::PlanTooLong(_) => Code::ContentTooLarge,
            _ => Code::InvalidInput,
        };
        let suggestion = match &error {
            CopyError::TooLarge { .. } => "Name the files that matter: --files 'src/**'",
            CopyError::BadGlob { .. } => "Write a pattern such as --files 'src/**/*.rs'",
            CopyError::PlanLeadsOut { .. } => "Look at that file, and name it if it is your plan",
            _ => "Name a plan: a text file in UTF-8 of at most 5 MiB",
        };
        NotStarted::new(code, error.to_string(), suggestion)
    }
}

impl From<std::io::Error> for NotStarted {
    fn from(error: std::io::Error) -> Self {
        NotStarted::new(
            Code::ServerError,
            format!("the folder of the run cannot be used: {error}"),
            "Make room on the disk, or make the data folder yours",
        )
    }
}

impl Runner {
    /// Begins a run: makes its folder, its base and its state. Nothing is sent yet.
    pub fn begin(around: RunSurroundings, asked: &Asked) -> Result<Self, NotStarted> {
        check_flags(asked)?;
        let environment = turn::environment();
        let agents = chosen(asked, &around.settings, &environment)?;
        let source = CopySource::of(
            asked.plan.as_deref(),
            &asked.current,
            &asked.files,
            asked.home.as_deref(),
        )?;
        // The debate of others must exist. The run takes its title.
        let theirs = match &asked.debate {
            Some(debate) => Some(read_debate(&around, debate)?),
            None => None,
        };
        let debate_id = match &theirs {
            Some(debate) => debate.id.0.to_string(),
            None => Uuid::new_v4().to_string(),
        };
        folder::forget_older(&around.runs, around.settings.keep);
        let folder = RunFolder::take(&around.runs, &debate_id, true)
            .map_err(|no| not_taken(no, &debate_id))?;
        // Its plan, its seats and a text that was kept would be lost.
        if folder.state().is_ok_and(|state| !state.finished) {
            return Err(NotStarted::new(
                Code::ActionNotAllowed,
                format!("an unfinished run has the debate {debate_id}"),
                format!(
                    "Go on with it, with other agents if you like: aw debate run --resume {debate_id}"
                ),
            ));
        }
        let mut notes = notes_on(&agents);
        let text = source.plan.as_ref().map(|plan| plan.text.clone());
        if let Some(text) = &text {
            folder::replace(&folder.original(), text.as_bytes())?;
        }
        let is_repository = source.extent == copies::CopyExtent::Repository;
        if let Some(log) = is_repository.then(|| copies::git::log(&source.root)).flatten() {
            folder::replace(&folder.path().join("log.txt"), &log)?;
        }
        let more = source.make_base(&folder.base())?;
        let left_out = (source.left_out.total() + more.total()) as u64;
        if left_out > 0 {
            let reasons = source.left_out.iter().chain(more.iter());
            let reasons: Vec<String> =
                reasons.map(|(why, count)| format!("{why} ({count})")).collect();
            notes.push(format!("left out of the agents' copies: {}", reasons.join(", ")));
        }
        if let copies::CopyExtent::PlanAlone(why) = &source.extent {
            notes.push(format!("the agents see the plan alone: {why}"));
        }
        let seats = agents.iter().map(|(role, agent)| (role.to_string(), seat_of(agent))).collect();
        let title = match (theirs, &asked.title) {
            (Some(debate), _) => debate.title,
            (None, Some(title)) => title.clone(),
            (None, None) => title_of(text.as_deref().unwrap_or_default(), asked.plan.as_deref()),
        };
        let arbitrator = match asked.seats.arbitrator.as_deref() {
            None => "me",
            Some(word @ ("me" | "none")) => word,
            Some(_) => "agent",
        };
        let state = RunState {
            debate_id,
            title,
            debate_type: asked.debate_type.clone(),
            type_texts: asked.type_texts.clone(),
            ask: asked.ask.clone(),
            rounds: asked.rounds,
            blocking: asked.blocking.clone(),
            plan: source.plan.as_ref().map(|plan| PlanState {
                file: plan.given.clone(),
                target: plan.target.clone(),
                relative: plan.path.clone(),
                output: asked.output.clone(),
                writes: asked.writes,
                commit: is_repository.then(|| copies::git::commit(&source.root)).flatten(),
                document_request: Uuid::new_v4().to_string(),
                document_id: None,
            }),
            project: asked.project.clone(),
            root: source.root.clone(),
            is_repository,
            files: asked.files.clone(),
            seats,
            arbitrator: arbitrator.to_owned(),
            max_time_s: asked.budget.max_time.unwrap_or(Duration::from_secs(3_600)).as_secs(),
            max_turn_s: asked.budget.max_turn.unwrap_or(Duration::from_secs(1_200)).as_secs(),
            max_tokens: asked.budget.max_tokens,
            used_ms: 0,
            wall_ms: 0,
            next_turn: 1,
            opened: asked.debate.is_some(),
            failed_starts: 0,
            current: None,
            runner: None,
            notes,
            left_out,
            output: None,
            report: None,
            finished: false,
        };
        let mut runner = Runner::of(around, folder, state, agents, environment);
        runner.claim_run()?;
        runner.opened()
    }

    /// Resumes a run that has stopped, with larger limits if they are given.
    pub fn resume(
        around: RunSurroundings,
        debate: &str,
        budget: RunLimits,
        asked: &Seats,
    ) -> Result<Self, NotStarted> {
        let folder =
            RunFolder::take(&around.runs, debate, false).map_err(|no| not_taken(no, debate))?;
        let mut state = folder.state()?;
        match asked.arbitrator.as_deref() {
            None => {}
            Some(word @ ("me" | "none")) => {
                state.arbitrator = word.to_owned();
                state.seats.remove(Role::Arbitrator.as_str());
            }
            Some(_) => {
                state.arbitrator = "agent".to_owned();
                state.seats.entry(Role::Arbitrator.to_string()).or_default();
            }
        }
        let environment = turn::environment();
        let mut agents = BTreeMap::new();
        for (role, seat) in &mut state.seats {
            let named = match role.as_str() {
                "proposer" => asked.proposer.as_ref(),
                "opponent" => asked.opponent.as_ref(),
                _ => asked.arbitrator.as_ref(),
            };
            let mut agent = Agent::find(named.unwrap_or(&seat.asked), &around.settings)?;
            agent.introduce(&environment)?;
            if named.is_some() {
                *seat = SeatState { turns: seat.turns, tokens: seat.tokens, ..seat_of(&agent) };
            }
            if let Ok(role) = role.parse::<Role>() {
                agents.insert(role.as_str(), agent);
            }
        }
        state.max_time_s = budget.max_time.map_or(state.max_time_s, |time| time.as_secs());
        state.max_turn_s = budget.max_turn.map_or(state.max_turn_s, |time| time.as_secs());
        state.max_tokens = budget.max_tokens.or(state.max_tokens);
        state.failed_starts = 0;
        end_group(&state);
        let mut runner = Runner::of(around, folder, state, agents, environment);
        runner.remake_base()?;
        runner.claim_run()?;
        runner.opened()
    }

    fn of(
        around: RunSurroundings,
        folder: RunFolder,
        state: RunState,
        agents: BTreeMap<&'static str, Agent>,
        environment: AgentEnvironment,
    ) -> Self {
        Runner {
            line: around.line,
            folder,
            earlier_used: state.used_ms,
            earlier_wall: state.wall_ms,
            state,
            agents,
            environment,
            debate_language: around.debate_language,
            patience: around.patience,
            watcher: around.watcher,
            stop: around.stop,
            over: Arc::default(),
            tree: None,
            unkept: None,
            leaving: Vec::new(),
            began: Instant::now(),
            awaited: Duration::ZERO,
        }
    }

    /// The folder of the run.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The debate.
    pub fn debate_id(&self) -> &str {
        &self.state.debate_id
    }

    /// Notes that this process drives the run.
    fn claim_run(&mut self) -> Result<(), NotStarted> {
        self.state.runner = ProcessMark::of(std::process::id());
        self.keep().map_err(|stopped| NotStarted::from(std::io::Error::other(stopped.detail)))
    }

    /// Makes the base again, if a finished or older run has lost it.
    fn remake_base(&mut self) -> Result<(), NotStarted> {
        if self.state.finished || self.folder.base().is_dir() {
            return Ok(());
        }
        let plan = self.state.plan.as_ref().map(|plan| plan.file.as_path());
        let source = CopySource::of(plan, &self.state.project, &self.state.files, None)?;
        source.make_base(&self.folder.base())?;
        Ok(())
    }

    /// The run with its debate open. A run whose debate the server refuses leaves nothing to resume.
    fn opened(mut self) -> Result<Self, NotStarted> {
        let Err(stopped) = self.open() else { return Ok(self) };
        let (code, suggestion) = match stopped.exit {
            Exit::Input => {
                // No program has run yet, and the server would refuse the next start too.
                let _ = fs::remove_dir_all(self.folder.path());
                (Code::InvalidInput, "Mend it, and begin again: aw debate run PLAN.md")
            }
            Exit::Refused => (Code::AuthFailed, "aw doctor"),
            _ => (Code::ConnectionError, "aw doctor"),
        };
        Err(NotStarted::new(code, stopped.message, suggestion))
    }

    /// Keeps the plan as a document and opens the debate, each once.
    fn open(&mut self) -> Result<(), RunStopped> {
        if let Some(plan) = self.state.plan.clone()
            && !self.state.opened
        {
            let document = match plan.document_id {
                Some(document) => document,
                None => self.make_document(&plan)?,
            };
            let path = plan.relative.to_string_lossy().into_owned();
            let content =
                words::motion(self.state.ask.as_deref(), &document, &path, plan.commit.as_deref());
            let debate = &self.state.debate_id;
            let request = derived_id(debate, Role::Proposer, Kind::Motion, None, &content);
            let body = CreateDebate {
                debate_id: debate.clone(),
                title: self.state.title.clone(),
                debate_type: self.state.debate_type.clone(),
                motion_content: content,
                client_request_id: request.map(|id| id.to_string()).unwrap_or_default(),
                type_texts: self.state.type_texts.clone(),
                resolution_policy: None,
                points: Some(AskedPoints::Settings(AskedSettings {
                    rounds: self.state.rounds,
                    blocking: self.state.blocking.clone(),
                })),
                project: project::of(&self.state.project),
                author: Some("aw debate run".to_owned()),
            };
            self.ask(&client::open(body))?;
            self.state.opened = true;
            self.keep()?;
        }
        let url = self.line.url_of(&self.state.debate_id);
        (self.watcher)(Seen::Opened { title: self.state.title.clone(), url });
        Ok(())
    }

    fn make_document(&mut self, plan: &PlanState) -> Result<String, RunStopped> {
        let content = fs::read_to_string(self.folder.original())?;
        let mut metadata = Map::new();
        metadata
            .insert("path".to_owned(), Value::from(plan.relative.to_string_lossy().into_owned()));
        if let Some(commit) = &plan.commit {
            metadata.insert("commit".to_owned(), Value::from(commit.as_str()));
        }
        let body = SubmitDocument {
            title: None,
            summary: self.state.title.clone(),
            content,
            author: Some("aw debate run".to_owned()),
            metadata: Some(metadata),
            client_request_id: Some(plan.document_request.clone()),
        };
        let kept = self.ask(&client::create_document(body))?;
        let document = kept.version.document_id.0.to_string();
        if let Some(plan) = &mut self.state.plan {
            plan.document_id = Some(document.clone());
        }
        self.keep()?;
        Ok(document)
    }

    /// Posts the text of an interrupted turn, if the text was complete; otherwise the turn begins
    /// again.
    pub(super) fn recover(&mut self) -> Result<(), RunStopped> {
        let Some(current) = self.state.current.clone() else { return Ok(()) };
        let Ok(seat) = current.seat.parse::<Role>() else { return Ok(()) };
        let folder = self.folder.turn(current.number, &current.seat)?;
        let drives = self.drives(seat);
        if let Some(outcome) = TurnOutcome::read(&folder)? {
            // The runner died before it could note the end of the turn in its state.
            if drives && outcome.posted {
                self.seat_mut(seat).turns += 1;
            }
        } else if drives
            && folder.join("final.md").is_file()
            && !folder.join(FLAWS).is_file()
            && let Posted::Kept(what) = self.post(seat, &folder, &current.target)?
        {
            self.log(&format!("{seat}: {what}, kept from before"));
            let outcome =
                TurnOutcome { posted: true, what: what.clone(), ..TurnOutcome::default() };
            outcome.keep(&folder)?;
            self.seat_mut(seat).turns += 1;
            (self.watcher)(Seen::Ended { seat, what });
        }
        if drives {
            // The session may have seen half a turn.
            self.seat_mut(seat).session = None;
        }
        self.state.current = None;
        self.keep()
    }

    /// Records the state of the user's project before a turn.
    pub(super) fn look_at_tree(&mut self) -> Result<(), RunStopped> {
        self.tree = Some(self.looked_at_tree()?);
        Ok(())
    }

    fn looked_at_tree(&self) -> Result<Tree, RunStopped> {
        let plan = self.state.plan.as_ref();
        let except: Vec<&Path> =
            plan.iter().flat_map(|plan| [plan.file.as_path(), plan.target.as_path()]).collect();
        let files;
        let watched = match self.state.is_repository {
            true => Watched::Repository,
            false => {
                // Those that agents see. There may be any number of others.
                files = copies::files_of_base(&self.folder.base())?;
                Watched::Files(&files)
            }
        };
        Tree::look(&self.state.root, watched, &except).map_err(|why| match self.stop.asked() {
            0 => RunStopped::from(std::io::Error::other(why)),
            // Ctrl-C may reach git before it leads a group of its own.
            _ => self.interrupted(),
        })
    }

    /// Checks whether the user's project has changed during a turn. If it has in the turn of a
    /// command, the run posts nothing: a command can do everything that its user can.
    pub(super) fn check_tree(&mut self, seat: Role, agent: &Agent) -> Result<(), RunStopped> {
        let Some(before) = self.tree.take() else { return Ok(()) };
        let after = self.looked_at_tree()?;
        let changes = after.changes_since(&before);
        // A repair is compared with the project as it is now.
        self.tree = Some(after);
        if changes.is_empty() {
            return Ok(());
        }
        let names = changes.join(", ");
        if agent.program != AgentProgram::Command {
            self.note(format!("your project changed during the {seat}'s turn: {names}"));
            return Ok(());
        }
        Err(RunStopped {
            exit: Exit::Failed,
            kind: "tree",
            seat: Some(seat),
            detail: names.clone(),
            message: format!(
                "your project changed during the {seat}'s turn: {names}. If you changed it yourself, go on; the text is kept"
            ),
        })
    }

    /// Notes the turn that begins.
    pub(super) fn begin_turn(
        &mut self,
        number: u32,
        seat: Role,
        target: &str,
    ) -> Result<(), RunStopped> {
        self.state.current = Some(folder::CurrentTurn {
            number,
            seat: seat.to_string(),
            target: target.to_owned(),
            author: None,
            group: None,
            program: None,
        });
        self.keep()
    }
}

/// Refuses flags that the server would refuse only after it has the plan.
fn check_flags(asked: &Asked) -> Result<(), NotStarted> {
    let wrong =
        |code, message: String, suggestion: &str| Err(NotStarted::new(code, message, suggestion));
    if let Some(Err(bad)) = asked.title.clone().map(Title::parse) {
        return wrong(
            Code::InvalidInput,
            format!("--title {bad}"),
            "Give a title of one line and at most 200 characters",
        );
    }
    let most = u64::from(PointRules::MOST_ROUNDS);
    if let Some(rounds) = asked.rounds.filter(|rounds| !(1..=most).contains(rounds)) {
        let message = format!("--rounds is {rounds}");
        return wrong(Code::InvalidInput, message, &format!("Give 1 to {most} rounds"));
    }
    if let Some(word) =
        asked.blocking.as_deref().filter(|word| !matches!(*word, "critical" | "major"))
    {
        let message = format!("--blocking is {word:?}");
        return wrong(Code::InvalidInput, message, "Write --blocking critical or --blocking major");
    }
    let long = asked.ask.as_ref().map_or(0, String::len);
    if long > LONGEST {
        let message = format!("--ask has {long} bytes, and {LONGEST} are allowed");
        return wrong(Code::ContentTooLarge, message, "Write the rest into the plan");
    }
    Ok(())
}

/// The unfinished runs of a project, the newest first.
pub fn runs_of(runs: &Path, project: &Path) -> Vec<String> {
    folder::all(runs)
        .into_iter()
        .filter(|(_, state)| !state.finished && state.project == project)
        .map(|(_, state)| state.debate_id)
        .collect()
}

/// Removes the files of a run. Returns whether there were any; fails while a runner has them.
pub fn forget(runs: &Path, debate: &str) -> Result<bool, NotStarted> {
    match RunFolder::take(runs, debate, false) {
        Ok(folder) => Ok(std::fs::remove_dir_all(folder.path()).map(|()| true)?),
        Err(NotTaken::Missing) => Ok(false),
        Err(other) => Err(not_taken(other, debate)),
    }
}

/// Ends a run in the background, as Ctrl-C does. Returns whether one was there.
pub fn stop(runs: &Path, debate: &str) -> Result<bool, NotStarted> {
    let state = match folder::read_state(&runs.join(debate)) {
        Ok(state) => state,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(not_taken(NotTaken::Missing, debate));
        }
        Err(error) => return Err(error.into()),
    };
    let Some(runner) = state.runner.filter(ProcessMark::runs) else { return Ok(false) };
    let Ok(pid) = i32::try_from(runner.pid) else { return Ok(false) };
    let _ = kill(Pid::from_raw(pid), Signal::SIGINT);
    let began = Instant::now();
    while runner.runs() && began.elapsed() < GRACE * 4 {
        thread::sleep(Duration::from_millis(20));
    }
    Ok(true)
}

/// The debate of others whose seats a run drives.
fn read_debate(around: &RunSurroundings, debate: &str) -> Result<Debate, NotStarted> {
    match server::ask(&*around.line, &client::context(debate, 1), &|| true) {
        Ok(context) => Ok(context.debate),
        Err(Trouble::Refused(refused)) => {
            let error = &refused.data;
            let suggestion =
                error.suggestion.clone().unwrap_or_else(|| "aw debate list".to_owned());
            Err(NotStarted::new(error.code.clone(), error.message.clone(), suggestion))
        }
        Err(_) => {
            Err(NotStarted::new(Code::ConnectionError, "the server does not answer", "aw doctor"))
        }
    }
}

/// The agents of the seats that the run drives, with their versions.
pub(super) fn chosen(
    asked: &Asked,
    settings: &RunSettings,
    environment: &AgentEnvironment,
) -> Result<BTreeMap<&'static str, Agent>, NotStarted> {
    let Seats { proposer, opponent, arbitrator } = &asked.seats;
    let mut agents = BTreeMap::new();
    if asked.debate.is_some() {
        if let Some(opponent) = opponent {
            agents.insert(Role::Opponent.as_str(), Agent::find(opponent, settings)?);
        }
    } else {
        let (proposer, opponent) = Agent::pair(proposer.as_deref(), opponent.as_deref(), settings)?;
        agents.insert(Role::Proposer.as_str(), proposer);
        agents.insert(Role::Opponent.as_str(), opponent);
    }
    if let Some(name) = arbitrator.as_deref().filter(|name| !matches!(*name, "me" | "none")) {
        agents.insert(Role::Arbitrator.as_str(), Agent::find(name, settings)?);
    }
    Agent::introduce_all(agents.values_mut(), environment)?;
    Ok(agents)
}

pub(super) fn seat_of(agent: &Agent) -> SeatState {
    SeatState {
        asked: agent.asked.clone(),
        agent: agent.name.clone(),
        version: agent.version.clone(),
        model: agent.model.clone(),
        family: agent.family.clone(),
        ..SeatState::default()
    }
}

/// Notes about the agents, for the user.
pub(super) fn notes_on(agents: &BTreeMap<&'static str, Agent>) -> Vec<String> {
    let mut notes = Vec::new();
    if let (Some(proposer), Some(opponent)) = (agents.get("proposer"), agents.get("opponent"))
        && proposer.family == opponent.family
    {
        notes.push(format!(
            "proposer and opponent are of one family ({}): they may make the same mistakes",
            proposer.family
        ));
    }
    for (role, agent) in agents {
        if let (Some(tried), Some(version)) = (agent.is_other_version(), &agent.version) {
            notes.push(format!("the {role}'s {} is {version}; {tried} was tried", agent.name));
        }
        match agent.program {
            AgentProgram::Codex => notes.push(format!(
                "the {role}'s {} can read every file that you can: a hostile plan could make it quote one",
                agent.name
            )),
            AgentProgram::Command => notes.push(format!(
                "the {role}'s {} is a command: it can do all that you can",
                agent.name
            )),
            _ => {}
        }
    }
    notes
}

/// The title of a plan: its first heading, else the name of its file.
fn title_of(text: &str, file: Option<&Path>) -> String {
    let heading = text.lines().find_map(|line| {
        let title = line.strip_prefix('#')?.trim_start_matches('#').trim();
        (!title.is_empty()).then(|| title.to_owned())
    });
    let name = || {
        let stem = file.and_then(Path::file_stem).unwrap_or_default();
        stem.to_string_lossy().into_owned()
    };
    let title = heading.unwrap_or_else(name);
    let title: String = title.chars().filter(|c| !c.is_control()).take(200).collect();
    if title.trim().is_empty() { "Plan".to_owned() } else { title }
}

fn not_taken(no: NotTaken, debate: &str) -> NotStarted {
    match no {
        NotTaken::Busy => NotStarted::new(
            Code::ActionNotAllowed,
            format!("another runner has the debate {debate}"),
            format!("Wait for it, or stop it: aw debate run --stop {debate}"),
        ),
        NotTaken::Missing => NotStarted::new(
            Code::RunNotFound,
            format!("there is no run of the debate {debate} on this machine"),
            format!(
                "Begin one: aw debate run PLAN.md, or drive a seat of it: aw debate run --debate-id {debate} --opponent AGENT"
            ),
        ),
        NotTaken::Io(error) => error.into(),
    }
}

/// Ends the processes that a runner left behind when it died.
fn end_group(state: &RunState) {
    let Some(current) = &state.current else { return };
    let leader = current.group.as_ref().filter(|leader| leader.runs());
    let program = current.program.as_ref().filter(|program| program.runs());
    let group = match (leader, program, &current.group) {
        (Some(leader), _, _) => leader.pid,
        // The helper was killed too: the program still belongs to its group.
        (None, Some(_), Some(leader)) => leader.pid,
        (None, _, _) => return,
    };
    let Ok(group) = i32::try_from(group) else { return };
    let group = Pid::from_raw(group);
    let lives = || leader.is_some_and(ProcessMark::runs) || program.is_some_and(ProcessMark::runs);
    let _ = killpg(group, Signal::SIGTERM);
    let began = Instant::now();
    while lives() && began.elapsed() < GRACE {
        thread::sleep(Duration::from_millis(20));
    }
    if lives() {
        let _ = killpg(group, Signal::SIGKILL);
    }
}
