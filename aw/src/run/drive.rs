//! Plays one turn after the other until the debate is closed or the run must stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use aw_core::{Course, Kind, Role, State};

use super::server::{self, Line};
use super::watch::{RunStanding, Seen};
use super::{Exit, RunStopped, Runner};
use crate::api::client::{self, Request, Waiter};
use crate::api::error::Code;
use crate::api::http::{Data, Trouble};
use crate::api::types::{Argument, DebateContext, Points, Poll, SetPresence};

/// The most arguments that are read at once.
const ALL_ARGUMENTS: u64 = 1_000;

/// How long the server holds a wait.
const HOLD: Duration = Duration::from_secs(20);

/// The time between two checks whether the user wants to stop.
const LOOK: Duration = Duration::from_millis(50);

/// The time between two reads of the debate while a program works.
const GLANCE: Duration = Duration::from_secs(2);

/// The time between two signs that a program works, which last a minute.
const SIGN: Duration = Duration::from_secs(20);

/// The most RULINGs of an agent in a run. After that the run asks a person.
const RULINGS: u32 = 3;

/// The debate as a seat sees it on its move.
pub(super) struct Floor {
    /// The argument to answer.
    pub(super) target: String,
    /// Everything that was said.
    pub(super) said: Vec<Argument>,
    /// The points as the seat sees them.
    pub(super) points: Points,
    /// The documents that the debate cites, with their newest cited version.
    pub(super) documents: Vec<(String, u64)>,
}

impl Runner {
    /// Plays the debate to its end.
    pub(super) fn drive(&mut self) -> Result<(), RunStopped> {
        loop {
            if self.stop.asked() > 0 {
                return Err(self.interrupted());
            }
            let context = self.context()?;
            self.show_standing(&context);
            let newest = newest_of(&context).id.0.to_string();
            let floor = match context.debate.state.known() {
                Some(State::Closed) => return Ok(()),
                Some(State::AwaitingOpponent) => Role::Opponent,
                Some(State::AwaitingProposer) => Role::Proposer,
                Some(State::AwaitingArbitrator | State::InterventionPending) => Role::Arbitrator,
                // A newer server has a state that this version cannot play.
                None => {
                    self.hold(&newest)?;
                    continue;
                }
            };
            match floor {
                Role::Proposer if self.drives(floor) => match self.course()? {
                    Course::Respond => self.play(floor)?,
                    Course::Appeal => self.appeal()?,
                    Course::RequestCompletion => self.request_completion()?,
                },
                Role::Opponent if self.drives(floor) => self.play(floor)?,
                Role::Arbitrator if self.drives(floor) && self.seat(floor).turns < RULINGS => {
                    self.play(floor)?;
                }
                Role::Arbitrator => self.await_person(&context, &newest)?,
                Role::Proposer | Role::Opponent => self.hold(&newest)?,
            }
        }
    }

    /// The debate with everything that was said.
    pub(super) fn context(&self) -> Result<DebateContext, RunStopped> {
        let request = client::context(&self.state.debate_id, ALL_ARGUMENTS);
        self.ask(&request)
    }

    /// The debate as this seat sees it on its move.
    pub(super) fn news(&self, seat: Role) -> Result<Floor, RunStopped> {
        let context = self.context()?;
        let waiter = Waiter { debate: &self.state.debate_id, role: seat.as_str(), after: None };
        let poll = self.ask(&client::wait(waiter, Duration::ZERO))?;
        let newest = newest_of(&context).id.0.to_string();
        let (target, points) = match poll {
            Poll::News(news) => {
                let pending = news.pending_argument_id.filter(|_| seat == Role::Arbitrator);
                (pending.map_or(newest, |pending| pending.0.to_string()), news.points)
            }
            Poll::Nothing(_) => (newest, context.points.clone()),
        };
        let documents = context
            .documents
            .iter()
            .filter(|cited| cited.deleted_at.is_none())
            .map(|cited| (cited.document_id.0.to_string(), cited.version))
            .collect();
        let mut said = vec![context.motion];
        said.extend(context.arguments.into_iter().filter(|one| one.seq > 1));
        Ok(Floor { target, said, points, documents })
    }

    /// The proposer's move by the server's advice.
    fn course(&self) -> Result<Course, RunStopped> {
        let floor = self.news(Role::Proposer)?;
        let advice = floor.points.ledger.and_then(|ledger| ledger.advice);
        Ok(advice.and_then(|advice| advice.course.known()).unwrap_or(Course::Respond))
    }

    /// The place of the newest argument.
    pub(super) fn newest_seq(&self) -> Result<u64, RunStopped> {
        Ok(newest_of(&self.context()?).seq)
    }

    /// Whether the debate was closed or deleted while a program worked.
    pub(super) fn debate_is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// The same, asked of the server.
    pub(super) fn is_over(&self) -> Result<bool, RunStopped> {
        Ok(self.debate_is_over() && self.context()?.debate.state.known() == Some(State::Closed))
    }

    /// Sends a request. If the server is lost, tries again for a while.
    pub(super) fn ask<A: serde::de::DeserializeOwned>(
        &self,
        request: &Request<A>,
    ) -> Result<A, RunStopped> {
        self.try_ask(request).map_err(|trouble| self.no_server(&trouble))
    }

    pub(super) fn try_ask<A: serde::de::DeserializeOwned>(
        &self,
        request: &Request<A>,
    ) -> Result<A, Trouble> {
        let stop = self.stop.clone();
        server::ask(&*self.line, request, &move || stop.asked() < 2)
    }

    /// The end of a run because the server is lost or refuses.
    pub(super) fn no_server(&self, trouble: &Trouble) -> RunStopped {
        let (exit, detail) = match trouble {
            Trouble::Refused(refused) if refused.data.code == Code::AuthFailed => {
                (Exit::Refused, refused.data.message.clone())
            }
            Trouble::Refused(refused) if refused.data.code == Code::DebateNotFound => {
                (Exit::Gone, refused.data.message.clone())
            }
            Trouble::Refused(refused)
                if matches!(refused.data.code, Code::InvalidInput | Code::ContentTooLarge) =>
            {
                (Exit::Input, refused.data.message.clone())
            }
            Trouble::Refused(refused) | Trouble::Busy(refused, _) => {
                (Exit::Server, refused.data.message.clone())
            }
            Trouble::Unreachable(lost) => (Exit::Server, lost.why.clone()),
            Trouble::Stranger(why) | Trouble::Unreadable(why) => (Exit::Server, why.clone()),
        };
        let message = match exit {
            Exit::Gone => "the debate was deleted; its run is over".to_owned(),
            _ => format!("the server did not take the run's request: {detail}"),
        };
        RunStopped { exit, kind: "server", seat: None, detail, message }
    }

    /// Whether a further turn may begin.
    pub(super) fn within_budget(&mut self) -> Result<(), RunStopped> {
        self.keep()?;
        let (used, limit) = (Duration::from_millis(self.state.used_ms), self.state.max_time_s);
        let over_time = used > Duration::from_secs(limit);
        let over_tokens = self.state.max_tokens.is_some_and(|most| self.tokens() >= most);
        let detail = match (over_time, over_tokens) {
            (false, false) => return Ok(()),
            (true, _) => {
                let limit = super::time_in_words(Duration::from_secs(limit));
                format!("--max-time {limit} is used up")
            }
            (false, true) => format!("--max-tokens is used up: {} tokens", self.tokens()),
        };
        Err(RunStopped {
            exit: Exit::Undecided,
            kind: "budget",
            seat: None,
            message: format!("{detail}; go on with a larger one"),
            detail,
        })
    }

    /// Waits until another role has moved.
    fn hold(&mut self, newest: &str) -> Result<(), RunStopped> {
        let began = Instant::now();
        let answer = self.held(newest, None);
        self.awaited += began.elapsed();
        answer.map(|_| ())
    }

    /// Waits for a person's RULING.
    fn await_person(&mut self, context: &DebateContext, newest: &str) -> Result<(), RunStopped> {
        let undecided = |detail: &str| RunStopped {
            exit: Exit::Undecided,
            kind: "arbitrator",
            seat: Some(Role::Arbitrator),
            detail: detail.to_owned(),
            message: format!("a RULING is owed: {detail}"),
        };
        if self.state.arbitrator == "none" {
            return Err(undecided("this run has no arbitrator"));
        }
        let dispute = self.dispute(context)?;
        (self.watcher)(Seen::Owed(dispute));
        let began = Instant::now();
        let came = self.held(newest, self.patience);
        self.awaited += began.elapsed();
        if !came? {
            return Err(undecided("nobody has ruled in time"));
        }
        let context = self.context()?;
        let is_ruling = |one: &&Argument| one.kind.known() == Some(Kind::Ruling);
        let mut new =
            context.arguments.iter().rev().take_while(|one| one.id.0.to_string() != newest);
        let what = match new.find(is_ruling) {
            Some(ruling) => format!("{} {}", ruling.kind, ruling.seq),
            None => "no RULING yet".to_owned(),
        };
        (self.watcher)(Seen::Ended { seat: Role::Arbitrator, what });
        Ok(())
    }

    /// Waits for a new argument. Returns false once patience is over.
    fn held(&self, newest: &str, patience: Option<Duration>) -> Result<bool, RunStopped> {
        let began = Instant::now();
        let role = [Role::Proposer, Role::Opponent, Role::Arbitrator]
            .into_iter()
            .find(|role| self.drives(*role))
            .unwrap_or(Role::Proposer);
        loop {
            let (answers, answer) = mpsc::channel();
            let (line, debate, after) =
                (self.line.clone(), self.state.debate_id.clone(), newest.to_owned());
            let stop = self.stop.clone();
            thread::spawn(move || {
                let waiter = Waiter { debate: &debate, role: role.as_str(), after: Some(&after) };
                let request = client::wait(waiter, HOLD);
                let _ = answers.send(held_once(&*line, &request, &stop));
            });
            loop {
                if self.stop.asked() > 0 {
                    return Err(self.interrupted());
                }
                if patience.is_some_and(|patience| began.elapsed() > patience) {
                    return Ok(false);
                }
                match answer.recv_timeout(LOOK) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                    // The server holds no wait of the role that has the floor.
                    Ok(Ok(Poll::News(news)))
                        if news.next_argument_id_to_wait.0.to_string() == newest =>
                    {
                        self.pause(GLANCE)?;
                        break;
                    }
                    Ok(Ok(Poll::News(_))) => return Ok(true),
                    Ok(Ok(Poll::Nothing(_))) => break,
                    Ok(Err(trouble)) => return Err(self.no_server(&trouble)),
                }
            }
        }
    }

    /// Lets some time pass, unless the user stops the run.
    pub(super) fn pause(&self, time: Duration) -> Result<(), RunStopped> {
        let began = Instant::now();
        while began.elapsed() < time {
            if self.stop.asked() > 0 {
                return Err(self.interrupted());
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }

    fn show_standing(&self, context: &DebateContext) {
        let ledger = context.points.ledger.as_ref();
        (self.watcher)(Seen::Standing(RunStanding {
            rounds: ledger.map(|ledger| (ledger.rounds.used, ledger.rounds.limit)),
            blocking: ledger
                .map(|ledger| ledger.blocking.iter().map(|id| id.0.to_string()).collect())
                .unwrap_or_default(),
            tokens: self.tokens(),
        }));
    }
}

/// The newest argument of a debate.
pub(super) fn newest_of(context: &DebateContext) -> &Argument {
    context.arguments.last().unwrap_or(&context.motion)
}

fn held_once(
    line: &dyn Line,
    request: &Request<Poll>,
    stop: &super::watch::StopRequest,
) -> Result<Poll, Trouble> {
    match line.data(request.call(), HOLD).and_then(Data::read::<Poll>) {
        Ok(reply) => Ok(reply.data),
        // A lost server is found in the usual way.
        Err(Trouble::Unreachable(_) | Trouble::Busy(..)) => {
            let stop = stop.clone();
            server::ask(line, request, &move || stop.asked() == 0)
        }
        Err(trouble) => Err(trouble),
    }
}

/// Watches a debate while a program works: notes when it is over, and tells its page who works.
pub(super) fn watch_debate(
    line: &dyn Line,
    over: &AtomicBool,
    debate: &str,
    seat: Role,
    label: &str,
    stopped: &Receiver<()>,
) {
    over.store(false, Ordering::Relaxed);
    let mut signed: Option<Instant> = None;
    loop {
        if signed.is_none_or(|at| at.elapsed() > SIGN) {
            let sign = SetPresence { role: seat.to_string(), label: Some(label.to_owned()) };
            let _ = line.data(client::set_presence(debate, sign).call(), Duration::ZERO);
            signed = Some(Instant::now());
        }
        if let Err(RecvTimeoutError::Disconnected) = stopped.recv_timeout(GLANCE) {
            let sign = SetPresence { role: seat.to_string(), label: None };
            let _ = line.data(client::set_presence(debate, sign).call(), Duration::ZERO);
            return;
        }
        let context = line
            .data(client::context(debate, 1).call(), Duration::ZERO)
            .and_then(Data::read::<DebateContext>);
        let is_over = match context {
            Ok(context) => context.data.debate.state.known() == Some(State::Closed),
            Err(trouble) => trouble.code() == Some(&Code::DebateNotFound),
        };
        if is_over {
            over.store(true, Ordering::Relaxed);
        }
    }
}
