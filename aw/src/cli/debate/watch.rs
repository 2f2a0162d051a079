//! `aw debate watch`: all debates, a line for each change, until it is stopped.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Write};
use std::thread;
use std::time::{Duration, Instant};

use aw_core::State;
use serde::Serialize;

use super::super::human;
use super::super::output::{CliError, Format, Shown};
use super::super::session::Session;
use super::Shape;
use crate::api::client::{self, DebateFilter};
use crate::api::http::{BUDGET, Trouble};
use crate::api::types::{
    DebateIdText, DebateListed, KindText, OutcomeText, RoleText, Stamp, StateText,
};

/// The time between two looks at the debates.
const PACE: Duration = Duration::from_secs(1);

/// How many debates are read at a time, the most recently changed first.
const PAGE: u64 = 50;

/// The most pages that are read at a time.
const PAGES: u64 = 20;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Watch {
    #[command(flatten)]
    pub(super) shape: Shape,
}

/// A change of a debate.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct WatchedChange {
    pub(in crate::cli) event: WatchedEvent,
    debate_id: DebateIdText,
    pub(in crate::cli) title: String,
    debate_type: String,
    pub(in crate::cli) debate_state: StateText,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) outcome: Option<OutcomeText>,
    pub(in crate::cli) argument: WatchedArgument,
    pub(in crate::cli) at: Stamp,
    pub(in crate::cli) url: String,
}

/// A change that matters to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::cli) enum WatchedEvent {
    Changed,
    NeedsArbitrator,
    Closed,
}

/// The newest argument of a debate.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct WatchedArgument {
    pub(in crate::cli) seq: u64,
    pub(in crate::cli) role: RoleText,
    #[serde(rename = "type")]
    pub(in crate::cli) kind: KindText,
}

impl Watch {
    pub(super) fn run(self) -> Result<Shown, CliError> {
        let session = Session::open_answering(self.shape.verbose)?;
        let is_text = self.shape.format() == Format::Markdown;
        let mut seen: HashMap<DebateIdText, u64> = HashMap::new();
        let mut is_first = true;
        let mut is_lost = false;
        loop {
            let changed = match changed(&session, &seen) {
                Ok(changed) => changed,
                // The server comes back, or its user has stopped it on purpose. So it is not
                // started here.
                Err(Trouble::Unreachable(_) | Trouble::Busy(..)) if !is_first => {
                    if is_text && !std::mem::replace(&mut is_lost, true) {
                        human::note("The server is away; this goes on when it is back.");
                    }
                    thread::sleep(PACE);
                    continue;
                }
                Err(trouble) => return Err(session.problem(trouble)),
            };
            is_lost = false;
            if is_first && is_text {
                human::note(&format!(
                    "Watching all debates at {}. Ctrl-C ends it.",
                    session.client.base()
                ));
            }
            for listed in changed.iter().rev() {
                let change = WatchedChange::of(listed, &session);
                seen.insert(listed.debate.id, listed.last_argument.seq);
                // Earlier changes are not news; a ruling that is still owed is.
                if is_first && change.event != WatchedEvent::NeedsArbitrator {
                    continue;
                }
                match show(&change, is_text) {
                    Ok(()) => {}
                    Err(gone) if gone.kind() == ErrorKind::BrokenPipe => return Ok(Shown::Nothing),
                    Err(error) => {
                        return Err(CliError::connection(format!(
                            "stdout cannot be written: {error}"
                        )));
                    }
                }
            }
            is_first = false;
            thread::sleep(PACE);
        }
    }
}

/// The debates that have changed since they were seen, the most recently changed first.
fn changed(
    session: &Session,
    seen: &HashMap<DebateIdText, u64>,
) -> Result<Vec<DebateListed>, Trouble> {
    let mut changed = Vec::new();
    for page in 0..PAGES {
        let filter = DebateFilter { limit: PAGE, offset: page * PAGE, ..DebateFilter::default() };
        let request = client::debates(&filter);
        let list = session.client.once_until(&request, Instant::now() + BUDGET)?;
        let found = list.data.debates.len() as u64;
        let news = list.data.debates.into_iter();
        let news: Vec<DebateListed> = news
            .filter(|listed| seen.get(&listed.debate.id) != Some(&listed.last_argument.seq))
            .collect();
        let is_all_new = news.len() as u64 == found;
        changed.extend(news);
        if found < PAGE || !is_all_new {
            break;
        }
    }
    Ok(changed)
}

impl WatchedChange {
    fn of(listed: &DebateListed, session: &Session) -> Self {
        let DebateListed { debate, last_argument: last, .. } = listed;
        let event = match debate.state.known() {
            Some(State::AwaitingArbitrator | State::InterventionPending) => {
                WatchedEvent::NeedsArbitrator
            }
            Some(State::Closed) => WatchedEvent::Closed,
            Some(State::AwaitingOpponent | State::AwaitingProposer) | None => WatchedEvent::Changed,
        };
        WatchedChange {
            event,
            debate_id: debate.id,
            title: debate.title.clone(),
            debate_type: debate.debate_type.clone(),
            debate_state: debate.state.clone(),
            outcome: debate.outcome.clone(),
            argument: WatchedArgument {
                seq: last.seq,
                role: last.role.clone(),
                kind: last.kind.clone(),
            },
            at: debate.updated_at,
            url: session.url_of(&debate.id.0.to_string()),
        }
    }
}

fn show(change: &WatchedChange, is_text: bool) -> io::Result<()> {
    let line = match is_text {
        true => human::watched(change, &human::Paper::of_stdout()),
        false => serde_json::json!(change).to_string(),
    };
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
