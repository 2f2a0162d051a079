//! What a person sees of a run on stderr: on a terminal a view that is drawn again and again,
//! otherwise a line for each turn.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use aw_core::Role;

use super::super::human::{Paper, cut, shown};
use crate::run::watch::{RunStanding, Seen, Watcher};

/// The time between two drawings.
const TICK: Duration = Duration::from_millis(500);

/// The view of a run; clones share it.
#[derive(Clone)]
pub(super) struct View(Arc<Mutex<Drawing>>);

struct Drawing {
    is_live: bool,
    is_silent: bool,
    paper: Paper,
    began: Instant,
    title: String,
    url: String,
    standing: RunStanding,
    /// For each seat its agent, what it does, and since when it works.
    seats: BTreeMap<&'static str, SeatView>,
    /// The line of a finished turn. It is held back until the new state of the debate is known.
    ended: Option<String>,
    /// How many lines of the terminal the view has now.
    lines_drawn: usize,
    is_over: bool,
}

#[derive(Default)]
struct SeatView {
    agent: String,
    doing: String,
    since: Option<Instant>,
}

impl View {
    /// A view on stderr. A runner in the background writes lines into its log.
    pub(super) fn new(is_background: bool) -> Self {
        Self::of(io::stderr().is_terminal() && !is_background, false)
    }

    /// A view that shows nothing, because the answer of the command says everything.
    pub(super) fn silent() -> Self {
        Self::of(false, true)
    }

    fn of(is_live: bool, is_silent: bool) -> Self {
        let drawing = Drawing {
            is_live,
            is_silent,
            paper: Paper::of_stderr(),
            began: Instant::now(),
            title: String::new(),
            url: String::new(),
            standing: RunStanding::default(),
            seats: BTreeMap::new(),
            ended: None,
            lines_drawn: 0,
            is_over: false,
        };
        let view = View(Arc::new(Mutex::new(drawing)));
        if is_live {
            let ticking = view.clone();
            thread::spawn(move || {
                loop {
                    thread::sleep(TICK);
                    let mut drawing = ticking.drawing();
                    if drawing.is_over {
                        return;
                    }
                    drawing.draw();
                }
            });
        }
        view
    }

    /// The function to which a run reports its steps.
    pub(super) fn watcher(&self) -> Watcher {
        let view = self.clone();
        Arc::new(move |seen| view.drawing().see(seen))
    }

    /// Says that the run is stopping.
    pub(super) fn stopping(&self) {
        let mut drawing = self.drawing();
        if !drawing.is_over {
            drawing.keep_line("Stopping; once more to end the agent at once.");
        }
    }

    /// Draws it a last time.
    pub(super) fn close(&self) {
        let mut drawing = self.drawing();
        if !drawing.is_over {
            drawing.show_ended();
            drawing.draw();
            drawing.is_over = true;
        }
    }

    fn drawing(&self) -> MutexGuard<'_, Drawing> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drawing {
    fn see(&mut self, seen: Seen) {
        match seen {
            Seen::Opened { title, url } => {
                if !self.is_live {
                    self.keep_line(&format!("{title}: {url}"));
                }
                (self.title, self.url) = (title, url);
            }
            Seen::Standing(standing) => {
                self.standing = standing;
                self.show_ended();
            }
            Seen::Began { seat, agent } => {
                let view = self.seats.entry(seat.as_str()).or_default();
                *view = SeatView { agent, doing: "thinks".to_owned(), since: Some(Instant::now()) };
            }
            Seen::Doing { seat, what } => {
                self.seats.entry(seat.as_str()).or_default().doing = what;
            }
            Seen::Ended { seat, what } => {
                let view = self.seats.entry(seat.as_str()).or_default();
                let took = view.since.take().map(|since| since.elapsed());
                view.doing = what;
                let (agent, doing) = (view.agent.clone(), view.doing.clone());
                if !self.is_live {
                    let took = took.map(|took| format!(", {}", brief(took))).unwrap_or_default();
                    let agent =
                        if agent.is_empty() { String::new() } else { format!(" ({agent})") };
                    self.show_ended();
                    self.ended = Some(format!("{seat}{agent}: {doing}{took}"));
                }
            }
            Seen::Trouble(words) => self.keep_line(&words),
            Seen::Owed(dispute) => {
                let view = self.seats.entry(Role::Arbitrator.as_str()).or_default();
                *view = SeatView {
                    agent: "you".to_owned(),
                    doing: "a RULING is owed".to_owned(),
                    since: Some(Instant::now()),
                };
                self.keep_lines(&format!("\nYour ruling is needed.\n\n{dispute}"));
            }
        }
        self.draw();
    }

    /// Writes the line of the turn that has ended, with the standing after it.
    fn show_ended(&mut self) {
        if let Some(line) = self.ended.take() {
            let standing = self.standing_line();
            self.keep_line(&format!("{line}; {standing}"));
        }
    }

    /// Writes a line that stays.
    fn keep_line(&mut self, line: &str) {
        self.keep_lines(&line.replace('\n', " "));
    }

    fn keep_lines(&mut self, text: &str) {
        if self.is_silent {
            return;
        }
        self.erase();
        let _ = writeln!(io::stderr(), "{}", shown(text).trim_end());
    }

    fn erase(&mut self) {
        if self.lines_drawn > 0 {
            let _ = write!(io::stderr(), "\x1b[{}A\r\x1b[J", self.lines_drawn);
            self.lines_drawn = 0;
        }
    }

    fn draw(&mut self) {
        if !self.is_live || self.title.is_empty() {
            return;
        }
        let mut lines = vec![
            self.paper.heading(&self.fitted(&self.title)),
            self.paper.aside(&self.fitted(&self.url)),
            self.fitted(&format!("{}, {}", self.standing_line(), brief(self.began.elapsed()))),
        ];
        for role in Role::ALL {
            let Some(seat) = self.seats.get(role.as_str()) else { continue };
            let since = seat.since.map(|since| format!(" ({})", brief(since.elapsed())));
            let line = format!(
                "{:<11}{:<10} {}{}",
                role.as_str(),
                seat.agent,
                seat.doing,
                since.unwrap_or_default()
            );
            lines.push(self.fitted(&line));
        }
        self.erase();
        let _ = writeln!(io::stderr(), "{}", lines.join("\n"));
        self.lines_drawn = lines.len();
    }

    /// A line without control characters, cut to the width of the terminal.
    fn fitted(&self, line: &str) -> String {
        let line = shown(line).replace('\n', " ");
        cut(&line, textwrap::termwidth().max(20) - 1)
    }

    fn standing_line(&self) -> String {
        let RunStanding { rounds, blocking, tokens } = &self.standing;
        let mut parts = Vec::new();
        if let Some((used, limit)) = rounds {
            parts.push(format!("round {used} of {limit}"));
        }
        parts.push(match blocking.as_slice() {
            [] => "nothing blocks".to_owned(),
            ids => format!("{} blocking", ids.join(", ")),
        });
        if *tokens > 0 {
            parts.push(format!("{} tokens", grouped(*tokens)));
        }
        parts.join(", ")
    }
}

/// A time in a few characters.
fn brief(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds < 60 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// A number with its thousands apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_short() {
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(brief(Duration::from_secs(59)), "59 s");
        assert_eq!(brief(Duration::from_secs(192)), "3 min 12 s");
    }
}
