//! The script of a model: a careful agent that uses only the kit and the output of `aw`.
//!
//! It has no memory. It decides one step from the conversation in a request: almost always the
//! `next_command` of the last answer, with its own text where one is needed. Every
//! text quotes what it answers, so the record shows what each agent has read.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Mutex;
use std::time::Duration;

use aw_core::Role;
use serde_json::Value;

use super::moves::{Kind, Move, Pause, Slip};
use super::talk::{Step, Talk, data, flag, next_command};

/// The placeholder for an agent's own text.
const PLACEHOLDER: &str = "YOUR_TEXT.md";

/// The last message, after the debate was closed.
pub const LAST_WORDS: &str = "The debate is closed.";

/// The message with which an agent ends its turn because it will be woken.
pub const IDLE: &str = "I wait to be woken.";

/// The message of a model that stops too early.
pub const PROSE: &str = "The plan looks fine to me.";

/// The text of a move that is out of turn.
pub const TOO_SOON: &str = "And another thing.";

/// The id of a debate that does not exist.
pub const WRONG_ID: &str = "00000000-0000-4000-8000-000000000000";

/// The next step of the program.
#[derive(Debug, Clone)]
pub enum Reply {
    /// Load the skill for its role, in the program's own way.
    Skill,
    /// Run a line in the shell, after a pause and with a time limit.
    Run { line: String, limit: Option<Duration>, pause: Option<Pause> },
    /// Call an MCP tool of `aw`, after a pause.
    Call { tool: String, arguments: Value, pause: Option<Pause> },
    /// Show this to the user and stop.
    Say(String),
}

/// The script of one role in a debate.
#[derive(Debug)]
pub struct Script {
    pub role: Role,
    pub plan: &'static str,
    pub opening: &'static str,
    pub moves: Vec<Move>,
    /// Whether it uses MCP tools instead of commands ([`super::tools`]).
    pub by_tools: bool,
    /// Whether it opens a debate with points, and cites the newest plan in its RESOLUTION.
    pub points: bool,
    pub hurry: Option<Duration>,
    /// The mistakes that it has still to make.
    slips: Mutex<VecDeque<Slip>>,
    /// The seconds of each `wait`; absent for the default of `aw`.
    pub seconds: Option<u32>,
}

impl Script {
    /// Opens a debate on this plan, then makes these moves.
    pub fn proposes(plan: &'static str, opening: &'static str, moves: Vec<Move>) -> Self {
        Script { plan, opening, ..Self::playing(Role::Proposer, moves) }
    }

    pub fn opposes(moves: Vec<Move>) -> Self {
        Self::playing(Role::Opponent, moves)
    }

    pub fn arbitrates(moves: Vec<Move>) -> Self {
        Self::playing(Role::Arbitrator, moves)
    }

    fn playing(role: Role, moves: Vec<Move>) -> Self {
        let (plan, opening, by_tools, points) = ("", "", false, false);
        let slips = Mutex::default();
        Script { role, plan, opening, moves, by_tools, points, hurry: None, slips, seconds: None }
    }

    /// Opens a debate with points.
    pub fn with_points(self) -> Self {
        Script { points: true, ..self }
    }

    /// Uses MCP tools instead of a shell.
    pub fn by_tools(self) -> Self {
        Script { by_tools: true, ..self }
    }

    /// Intervenes before anything else.
    pub fn after_stopping_them(self, opening: &'static str) -> Self {
        Script { opening, ..self }
    }

    /// Makes its host cut off the first `wait` after this time.
    pub fn in_a_hurry(self, hurry: Duration) -> Self {
        Script { hurry: Some(hurry), ..self }
    }

    /// Makes every mistake once, at its first move.
    pub fn misbehaving(self) -> Self {
        Script { slips: Mutex::new(Slip::ALL.into()), ..self }
    }

    /// The next mistake, if it is made here.
    pub fn slip(&self, before_a_move: bool) -> Option<Slip> {
        let mut slips = self.slips.lock().unwrap();
        slips.front().filter(|slip| slip.is_before_a_move() == before_a_move)?;
        slips.pop_front()
    }

    /// Whether its moves wait at once, as the kit asks. A script in a hurry waits by itself, so that its host can
    /// cut the wait off; one that misbehaves has not waited when it makes its mistakes.
    pub fn moves_wait(&self) -> bool {
        self.hurry.is_none() && self.slips.lock().unwrap().is_empty()
    }

    /// Waits for so many seconds at a time.
    pub fn waiting_for(self, seconds: u32) -> Self {
        Script { seconds: Some(seconds), ..self }
    }

    /// The next step.
    pub fn next(&self, talk: &Talk) -> Reply {
        let Some(last) = talk.steps.last() else { return Reply::Skill };
        let woken = talk.woken.as_ref().filter(|(steps, _)| *steps == talk.steps.len());
        if self.by_tools {
            return match woken {
                Some((_, call)) => self.woken_by(call),
                None => self.next_call(talk),
            };
        }
        if let Some((_, line)) = woken {
            return self.run(talk, line.clone());
        }
        if talk.steps.len() == 1 {
            let line = format!("aw agent show {} --type general_debate --rules", self.role);
            return self.run(talk, line);
        }
        if talk.steps.len() == 2 {
            return self.run(talk, self.begin(talk));
        }
        // Continue shows nothing of a command that has failed but its stderr. The record says what came of it.
        if last.result.contains("Error (exit code")
            && let Some(debate) = talk.named_debate()
        {
            return self.run(talk, self.context(debate));
        }
        // A host that cuts a command off may show no answer. That is a time-out: the same again.
        let Some(answer) = last.answer() else { return self.run(talk, last.line.clone()) };
        let said = data(&answer);
        if let Some(debates) = said["debates"].as_array() {
            let [only] = &debates[..] else { return stuck("it must be one debate", &answer) };
            return self.run(talk, self.context(only["id"].as_str().unwrap_or_default()));
        }
        if said["document_id"].is_string() {
            // It was written or read for the turn in hand; if there is none, to open the debate.
            return match talk.answers().rev().find(|(_, answer)| is_a_turn(answer)) {
                Some((step, turn)) => self.take(talk, step, &turn),
                None => self.run(talk, self.motion(said)),
            };
        }
        match next_command(&answer) {
            _ if said["action"] == "debate_closed" => Reply::Say(LAST_WORDS.to_owned()),
            Some(_) if is_a_turn(&answer) => self.take(talk, talk.steps.len() - 1, &answer),
            Some(line) if line.starts_with("aw debate wait ") => match self.slip(false) {
                Some(slip) => self.slips_instead_of_waiting(talk, slip),
                None => self.run(talk, line.to_owned()),
            },
            Some(line) => self.run(talk, line.to_owned()),
            None if said["wake"] == true => Reply::Say(IDLE.to_owned()),
            None => stuck("it does not say what to do next", &answer),
        }
    }

    /// The first step that the kit prescribes.
    fn begin(&self, talk: &Talk) -> String {
        match (self.role, talk.named_debate()) {
            (Role::Arbitrator, Some(debate)) if !self.opening.is_empty() => {
                let words = self.opening;
                format!("aw debate intervention --debate-id {debate} --content '{words}'")
            }
            (_, Some(debate)) => self.context(debate),
            (Role::Proposer, None) => {
                let create = "aw docs create --summary 'The plan' --file plan.md";
                with_file("plan.md", self.plan, create)
            }
            (Role::Opponent, None) => "aw debate list --pending-first-opponent".to_owned(),
            (Role::Arbitrator, None) => "aw debate list --needs-arbitrator".to_owned(),
        }
    }

    fn context(&self, debate: &str) -> String {
        format!("aw debate get-context --debate-id {debate} --role {} --limit 20", self.role)
    }

    fn motion(&self, document: &Value) -> String {
        let text = format!("{}\n\n{}", self.opening, citation(document));
        let title = first_line(self.plan);
        let points = if self.points { " --points" } else { "" };
        let create = format!("aw debate create --title '{title}' --type general_debate{points}");
        with_file("motion.md", &text, &format!("{create} --file motion.md"))
    }

    /// Makes the next move in answer to the turn of this step, and what has to come before it:
    /// the opponent reads the plan, the proposer writes its new version.
    fn take(&self, talk: &Talk, step: usize, turn: &Value) -> Reply {
        let number = self.moves_made(talk);
        let Some(own) = self.moves.get(number) else { return stuck("no move is left", turn) };
        let usual = next_command(turn).unwrap_or_default();
        let target = flag(usual, "--target-id").unwrap_or_default();
        let answered = talk.content_of(target).unwrap_or_default();
        let since = talk.answers().filter(|(number, _)| *number > step);
        let mut since = since.map(|(_, answer)| data(&answer).clone());

        let mut text = own.words.to_owned();
        if !answered.is_empty() {
            text.push_str(&format!("\n\nIn answer to: {}", first_line(&answered)));
        }
        if self.role == Role::Opponent
            && let Some((document, version)) = cited(&answered)
        {
            let Some(read) = since.find(|document| document["content"].is_string()) else {
                return self.run(talk, format!("aw docs get {document} --version {version}"));
            };
            text.push_str(&format!("\n\nRead: {}", first_line(&plain(&read["content"]))));
        }
        if let Some(plan) = own.plan {
            let Some(written) = since.find(|document| document["version"].is_u64()) else {
                let (id, summary) = (document(talk), first_line(own.words));
                let submit = format!("aw docs submit {id} --summary '{summary}' --file plan.md");
                return self.run(talk, with_file("plan.md", plan, &submit));
            };
            text.push_str(&format!("\n\n{}", citation(&written)));
        }
        if self.points && own.kind == Kind::Completion {
            let versions = talk.answers().rev().map(|(_, answer)| data(&answer).clone());
            let mut versions = versions.filter(|document| document["document_id"].is_string());
            let newest = versions.next().unwrap_or_default();
            text.push_str(&format!("\n\n{}", citation(&newest)));
        }

        let line = match own.kind {
            Kind::Usual => Some(usual.to_owned()),
            Kind::Appeal => alternative(turn, "aw debate appeal "),
            Kind::Completion => alternative(turn, "aw debate request-completion "),
            Kind::Close => Some(format!("{usual} --close")),
        };
        let Some(line) = line else { return stuck("that is not among the choices", turn) };
        let file = format!("text-{}.md", number + 1);
        let line = self.waiting(line.replace(PLACEHOLDER, &file));
        let mut line = with_file(&file, &text, &line);
        match self.slip(true) {
            Some(Slip::WrongId) => {
                let debate = flag(usual, "--debate-id").unwrap_or_default();
                line = line.replace(debate, WRONG_ID);
            }
            Some(_) => return Reply::Say(PROSE.to_owned()),
            None => {}
        }
        Reply::Run { line, limit: None, pause: own.pause.clone() }
    }

    fn slips_instead_of_waiting(&self, talk: &Talk, slip: Slip) -> Reply {
        let mut newest_first = talk.steps.iter().rev();
        let own = newest_first.find(|step| step.line.contains(" --file text-"));
        let line = own.map(|step| step.line.clone()).unwrap_or_default();
        match slip {
            Slip::Twice => self.run(talk, line),
            Slip::OutOfTurn => {
                let (_, submit) = line.rsplit_once("\n").unwrap_or_default();
                let (submit, _) = submit.split_once(" --file ").unwrap_or_default();
                self.run(talk, format!("{submit} --content '{TOO_SOON}'"))
            }
            _ => Reply::Say(PROSE.to_owned()),
        }
    }

    /// The number of its moves in the record that it was shown.
    fn moves_made(&self, talk: &Talk) -> usize {
        let own = talk.arguments().into_iter().filter(|argument| {
            let kind = argument["type"].as_str().unwrap_or_default();
            (argument["role"] == self.role.as_str() || argument["role"] == "own")
                && argument["automatic"] != true
                && !["MOTION", "INTERVENTION"].contains(&kind)
        });
        own.map(|argument| plain(&argument["id"])).collect::<BTreeSet<_>>().len()
    }

    /// The move that also waits.
    fn waiting(&self, mut line: String) -> String {
        if self.moves_wait() && !line.contains(" --wait") {
            line.push_str(" --wait");
        }
        if let Some(seconds) = self.seconds
            && flag(&line, "--deadline").is_none()
        {
            line.push_str(&format!(" --deadline {seconds}"));
        }
        line
    }

    fn run(&self, talk: &Talk, mut line: String) -> Reply {
        let knows_better = talk.steps.iter().any(Step::was_cut_off);
        let waits = line.starts_with("aw debate wait ");
        let hurries = waits && !knows_better;
        if let Some(seconds) = self.seconds
            && waits
            && flag(&line, "--deadline").is_none()
        {
            line.push_str(&format!(" --deadline {seconds}"));
        }
        Reply::Run { line, limit: self.hurry.filter(|_| hurries), pause: None }
    }
}

/// Whether an answer asks for a text.
fn is_a_turn(answer: &Value) -> bool {
    next_command(answer).is_some_and(|line| line.contains(PLACEHOLDER))
}

/// The command that begins like this, among the next one and its alternatives.
fn alternative(turn: &Value, start: &str) -> Option<String> {
    let others = turn["metadata"]["alternatives"].as_array().into_iter().flatten().map(plain);
    let mut lines = next_command(turn).map(str::to_owned).into_iter().chain(others);
    lines.find(|line| line.starts_with(start))
}

/// The document that the debate is about.
fn document(talk: &Talk) -> String {
    let named = |(_, answer): (usize, Value)| {
        let data = data(&answer);
        let id = data["document_id"].as_str().or(data["documents"][0]["document_id"].as_str());
        id.map(str::to_owned)
    };
    talk.answers().find_map(named).unwrap_or_default()
}

/// A line that writes a file before it runs another line.
fn with_file(name: &str, text: &str, line: &str) -> String {
    format!("cat > {name} <<'END_OF_TEXT'\n{text}\nEND_OF_TEXT\n{line}")
}

fn citation(document: &Value) -> String {
    format!("Plan: doc_id={} (v{})", plain(&document["document_id"]), document["version"])
}

/// The document and the version that a text cites.
pub fn cited(text: &str) -> Option<(&str, &str)> {
    let (id, rest) = text.split_once("doc_id=")?.1.split_once(" (v")?;
    Some((id, rest.split_once(')')?.0))
}

pub fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn plain(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn stuck(why: &str, answer: &Value) -> Reply {
    Reply::Say(format!("I do not know how to go on, because {why}: {answer}"))
}
