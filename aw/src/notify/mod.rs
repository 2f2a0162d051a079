//! Notifies people outside of the page: when a debate needs a ruling, and when it is closed.
//!
//! One task follows the record, as a page does. The desktop and the webhook have a thread and a
//! short queue each: a slow or unreachable one loses news, and never holds the server.

mod desktop;
mod webhook;

use std::collections::HashMap;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread;

use aw_core::{DebateId, Outcome, Seq, State, Time};
use aw_record::{ChangeKind, DebateListed, Engine, Failure, TooSlow};

use crate::api::types::{Happening, Notification, Stamp};
use crate::settings::NotifySettings;

/// The most news that wait for the desktop, or for the webhook.
const QUEUE: usize = 100;

/// The most debates whose latest news is remembered.
const REMEMBERED: usize = 10_000;

/// Starts to notify people, if the settings want it. `page` is the URL under which people reach this server.
pub fn start(engine: Engine, settings: NotifySettings, page: String) {
    let mut queues = Vec::new();
    if settings.desktop {
        match desktop::Desktop::found() {
            Some(desktop) => queues.extend(queue("desktop", move |news| desktop.show(news))),
            None => tracing::warn!(
                "notify.desktop is set, but there is neither notify-send nor osascript"
            ),
        }
    }
    if let Some(target) = settings.webhook {
        let sender = webhook::Sender::new(target);
        queues.extend(queue("webhook", move |news| sender.send(news)));
    }
    if !queues.is_empty() {
        tokio::spawn(follow(engine, page, queues));
    }
}

/// The queue of the desktop or of the webhook, with its name.
type Queue = (&'static str, SyncSender<Notification>);

fn queue(name: &'static str, tell: impl Fn(&Notification) + Send + 'static) -> Option<Queue> {
    let (queue, news) = sync_channel::<Notification>(QUEUE);
    let started = thread::Builder::new()
        .name(format!("notify-{name}"))
        .spawn(move || news.iter().for_each(|news| tell(&news)));
    match started {
        Ok(_) => Some((name, queue)),
        Err(error) => {
            tracing::error!(%error, name, "cannot notify anybody");
            None
        }
    }
}

async fn follow(engine: Engine, page: String, queues: Vec<Queue>) {
    let mut notified = Notified { since: engine.now(), latest: HashMap::new() };
    let mut following = engine.follow();
    loop {
        let changes = match following.next().await {
            Ok(changes) => changes,
            Err(TooSlow) => {
                tracing::warn!("too much has changed at once: some notifications are left out");
                following = engine.follow();
                continue;
            }
        };
        for changed in changes.iter().filter(|changed| changed.change != ChangeKind::Presence) {
            match engine.listed(changed.debate).await {
                Ok(listed) => {
                    if let Some(news) = notified.news(&listed, &page) {
                        tell(&queues, &news);
                    }
                }
                Err(Failure::DebateNotFound { .. }) => {}
                Err(failure) => tracing::warn!(%failure, "a change cannot be read"),
            }
        }
    }
}

fn tell(queues: &[Queue], news: &Notification) {
    for (name, queue) in queues {
        match queue.try_send(news.clone()) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => tracing::warn!(name, "too slow: news are left out"),
            Err(TrySendError::Disconnected(_)) => tracing::error!(name, "has ended"),
        }
    }
}

/// Remembers the notifications that were sent, so that none is sent twice.
struct Notified {
    /// Arguments from before the start of the server are not news.
    since: Time,
    /// The newest argument of each debate that people were notified of.
    latest: HashMap<DebateId, Seq>,
}

impl Notified {
    fn news(&mut self, listed: &DebateListed, page: &str) -> Option<Notification> {
        let DebateListed { debate, last, .. } = listed;
        let happening = match debate.state() {
            State::AwaitingArbitrator | State::InterventionPending => Happening::NeedsArbitrator,
            State::Closed => Happening::Closed,
            State::AwaitingOpponent | State::AwaitingProposer => return None,
        };
        if debate.updated_at < self.since || self.latest.get(&debate.id) == Some(&last.seq) {
            return None;
        }
        if self.latest.len() >= REMEMBERED {
            self.latest.clear();
        }
        self.latest.insert(debate.id, last.seq);
        let outcome = match debate.outcome {
            Outcome::Open => None,
            outcome => Some(outcome),
        };
        let name = debate.title.as_str();
        let (title, message) = match (happening, outcome) {
            (Happening::NeedsArbitrator, _) => ("Your ruling is needed", name.to_owned()),
            (Happening::Closed, None) => ("Debate closed", name.to_owned()),
            (Happening::Closed, Some(outcome)) => {
                ("Debate closed", format!("{name} ({})", outcome.as_str().replace('_', " ")))
            }
        };
        Some(Notification {
            event: happening,
            title: title.to_owned(),
            message,
            click: format!("{page}/debate/{}", debate.id),
            debate_id: debate.id.to_string(),
            debate_title: name.to_owned(),
            debate_state: debate.state().into(),
            outcome: outcome.map(Into::into),
            argument_seq: last.seq.0,
            at: Stamp(last.at),
        })
    }
}
