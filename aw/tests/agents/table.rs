//! A debate of agent programs: a server, a model, and a program per role on its own machine.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use aw_core::Role;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tokio::time::sleep;

use super::model::Model;
use super::programs::{self, Program};
use super::script::{LAST_WORDS, PROSE, Reply, Script};
use super::talk::Talk;
use crate::loops::machine::{Going, Machine, is_gone};
use crate::world;

/// The longest time for anything that a test waits for.
const LONGEST: Duration = Duration::from_secs(120);

/// The programs of one debate.
pub struct Table {
    server: Machine,
    pub model: Model,
    seats: Vec<Seat>,
}

struct Seat {
    role: Role,
    by_tools: bool,
    program: Program,
    machine: Machine,
    going: Option<Going>,
}

impl Seat {
    /// The output of its program.
    fn printed(&self) -> PathBuf {
        self.machine.path("printed")
    }
}

/// Whether a command waits.
fn is_wait(typed: &str) -> bool {
    typed.starts_with("aw debate wait ")
        || typed.starts_with("aw debate ") && typed.contains(" --wait")
}

impl Table {
    /// Sets the table. None if these tests were left out.
    pub fn set(scripts: impl Into<Vec<(Program, Script)>>) -> Option<Self> {
        let table = Self::without_kit(scripts)?;
        for seat in &table.seats {
            let flags: &[&str] = match (seat.by_tools, seat.role) {
                (false, _) => &[],
                // Only an arbitrator is offered the tools of one.
                (true, Role::Arbitrator) => &["--tools", "--role", "arbitrator"],
                (true, _) => &["--tools"],
            };
            seat.program.install_kit(&seat.machine, flags);
        }
        Some(table)
    }

    /// The same with programs that do not know `aw`.
    pub fn without_kit(scripts: impl Into<Vec<(Program, Script)>>) -> Option<Self> {
        let scripts = scripts.into();
        if let Err(why) = programs::folder() {
            world::missing("agents", &why);
            return None;
        }
        let server = Machine::fresh();
        server.aw(&["server", "start"]).answer();
        let everybodys = server.data().to_str().expect("a plain path").to_owned();
        let seat = |(program, script): &(Program, Script)| {
            let machine = Machine::listening_at(&server.listen).with("AWEAVE_HOME", &everybodys);
            let (role, by_tools) = (script.role, script.by_tools);
            Seat { role, by_tools, program: *program, machine, going: None }
        };
        let seats: Vec<Seat> = scripts.iter().map(seat).collect();
        let model = Model::start(scripts);
        for seat in &seats {
            seat.program.move_in(&seat.machine, &model.of(seat.role));
        }
        Some(Table { server, model, seats })
    }

    /// Starts the program of this role with this prompt.
    pub fn start(&mut self, role: Role, words: &str) {
        let model = self.model.of(role);
        let seat = self.seat_mut(role);
        let mut command = seat.program.command(&seat.machine, &model, words);
        let printed = File::create(seat.printed()).unwrap();
        command.stdout(printed.try_clone().unwrap()).stderr(printed);
        seat.going = Some(Going::start(command));
    }

    /// Kills (`kill -9`) the program of this role and everything that it started.
    pub async fn kill(&mut self, role: Role) {
        let seat = self.seat_mut(role);
        let all = seat.machine.processes();
        assert!(all.iter().any(|(_, typed)| is_wait(typed)), "{all:?}");
        for (pid, _) in &all {
            // It may have ended meanwhile.
            let _ = kill(Pid::from_raw(*pid), Signal::SIGKILL);
        }
        seat.going = None;
        self.until("they are gone", |_| all.iter().all(|(pid, _)| is_gone(*pid))).await;
    }

    /// Waits until the program of this role has stopped too early, and starts it again with the same words.
    pub async fn comes_back(&mut self, role: Role, words: &str) {
        let mut going = self.seat_mut(role).going.take().expect("it was started");
        self.until("it stops too early", |_| going.has_ended()).await;
        let last = self.model.heard(role).pop().map(|(_, reply)| reply);
        let is_early = matches!(last, Some(Reply::Say(said)) if said == PROSE);
        assert!(is_early, "{}", self.story());
        self.start(role, words);
    }

    /// Kills (`kill -9`) the waits of this role. Its program goes on.
    pub fn cut_off(&self, role: Role) {
        let all = self.seat(role).machine.processes().into_iter();
        for (pid, _) in all.filter(|(_, typed)| is_wait(typed)) {
            // It may have ended meanwhile.
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }

    /// Restarts the server, as its user does.
    pub fn restart_server(&self) {
        self.server.aw(&["server", "restart"]).answer();
    }

    /// Makes the program of this role give up on each call of a tool after this time.
    pub fn limit_calls(&self, role: Role, limit: Duration) {
        let seat = self.seat(role);
        seat.program.limit_calls(&seat.machine, limit);
    }

    /// Waits until all programs have ended by themselves, because the debate is closed.
    pub async fn everybody_leaves(&mut self) {
        for role in self.roles() {
            let mut going = self.seat_mut(role).going.take().expect("it was started");
            self.until("the program ends", |_| going.has_ended()).await;
            assert_eq!(going.end().code, Some(0), "{}", self.story());
            let printed = fs::read_to_string(self.seat(role).printed()).unwrap();
            assert!(printed.contains(LAST_WORDS), "{}", self.story());
            let talk = self.talk(role);
            let last = talk.steps.last().expect("it did something");
            assert!(last.is_the_end(), "{}", self.story());
        }
    }

    /// The `via` of arguments of this role.
    pub fn way(&self, role: Role) -> &'static str {
        if self.seat(role).by_tools { "mcp" } else { "cli" }
    }

    /// Makes the program of this role call the server's `/mcp` instead of `aw mcp`.
    pub fn over_http(&self, role: Role) {
        let seat = self.seat(role);
        seat.program
            .call_over_http(&seat.machine, &format!("{}/mcp?role={role}", self.server.url()));
    }

    /// The program of this role.
    pub fn program(&self, role: Role) -> Program {
        self.seat(role).program
    }

    /// The skill for a role, as it was installed for this agent.
    pub fn skill(&self, seat: Role, role: Role) -> String {
        let seat = self.seat(seat);
        fs::read_to_string(
            seat.program.skills(&seat.machine).join(format!("debate-{role}/SKILL.md")),
        )
        .unwrap()
    }

    /// The environment of each running `wait` of this role.
    pub fn waits(&self, role: Role) -> Vec<String> {
        let all = self.seat(role).machine.processes().into_iter();
        let waits = all.filter(|(_, typed)| is_wait(typed));
        let environment = |(pid, _)| fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        waits.map(environment).map(|set| String::from_utf8_lossy(&set).into_owned()).collect()
    }

    /// The conversation of this role at its last request.
    pub fn talk(&self, role: Role) -> Talk {
        self.model.heard(role).pop().map(|(talk, _)| talk).unwrap_or_default()
    }

    /// The server's answer to a GET.
    pub fn get(&self, path: &str) -> Value {
        self.server.get(path)
    }

    /// The number of held waits.
    pub fn held(&self) -> u64 {
        self.server.held()
    }

    /// The id of the one debate, as soon as there is one.
    pub async fn debate(&mut self) -> String {
        let found = |table: &Self| table.get("/debates")["debates"][0]["id"].clone();
        self.until("there is a debate", |table| found(table).is_string()).await;
        crate::world::text(&found(self))
    }

    /// Returns once the condition holds.
    pub async fn until(&mut self, what: &str, mut so: impl FnMut(&Self) -> bool) {
        let began = Instant::now();
        while !so(self) {
            let lost = self.roles().into_iter().any(|role| self.is_lost(role));
            if lost || began.elapsed() > LONGEST {
                panic!("it never came to this: {what}\n{}", self.story());
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Whether the program of this role has ended, or is about to, without its last message.
    fn is_lost(&mut self, role: Role) -> bool {
        let has_ended = self.seat_mut(role).going.as_mut().is_some_and(Going::has_ended);
        match self.model.heard(role).pop() {
            Some((_, Reply::Say(words))) => ![LAST_WORDS, PROSE].contains(&words.as_str()),
            _ => has_ended,
        }
    }

    /// The roles that have a program.
    pub fn roles(&self) -> Vec<Role> {
        self.seats.iter().map(|seat| seat.role).collect()
    }

    fn seat(&self, role: Role) -> &Seat {
        self.seats.iter().find(|seat| seat.role == role).expect("the role has a seat")
    }

    fn seat_mut(&mut self, role: Role) -> &mut Seat {
        self.seats.iter_mut().find(|seat| seat.role == role).expect("the role has a seat")
    }

    /// The steps of all agents, to explain a failure.
    fn story(&self) -> String {
        let mut story = format!("== strays: {:?}\n", self.model.strays());
        for seat in &self.seats {
            let _ = writeln!(story, "== {} ({})", seat.role, seat.program.name());
            for step in self.talk(seat.role).steps {
                let _ = writeln!(story, "$ {} {}\n{:.2000}", step.tool, step.line, step.result);
            }
            let reply = self.model.heard(seat.role).pop().map(|(_, reply)| reply);
            let printed = fs::read_to_string(seat.printed()).unwrap_or_default();
            let from = printed.len().saturating_sub(2000);
            let _ = writeln!(story, "-> {reply:?}\n-- it printed");
            let _ = writeln!(story, "{}", String::from_utf8_lossy(&printed.as_bytes()[from..]));
        }
        story
    }
}
