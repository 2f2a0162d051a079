//! `/ws` without a debate: sends the changes of all debates.
//!
//! The engine names the debates that changed. Each is read and written once, however many sockets follow.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use aw_record::{ChangeKind, Changed, Failure, Following};
use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::access::{Access, AllDebates};
use super::error::Problem;
use super::socket::{Socket, SocketEnd, SocketEvent, check_access, written};
use crate::api::types::{DebateEvent, ServerEvent, Text};

/// The most messages that are kept for other sockets.
const KEPT: usize = 1_000;

/// Sends every change to a socket until it ends.
pub(super) async fn run(
    access: &Access,
    debates: &AllDebates,
    mut following: Following,
    socket: &mut Socket,
) -> SocketEnd {
    if let Err(end) = check_access(access).await {
        return end;
    }
    loop {
        let step = tokio::select! {
            changes = following.next() => match changes {
                Ok(changes) => send(access, debates, &changes, socket).await,
                Err(aw_record::TooSlow) => Err(SocketEnd::TooSlow),
            },
            event = socket.next_event() => match event {
                Ok(SocketEvent::Text(_) | SocketEvent::NotText) => {
                    let what = "this socket is read-only: to write, open /ws?debate_id=<uuid>";
                    socket.refuse(Problem::input("message", what)).await
                }
                Ok(SocketEvent::AccessChanged) => check_access(access).await,
                Ok(SocketEvent::PingDue) => socket.ping(access).await,
                Err(end) => Err(end),
            },
        };
        if let Err(end) = step {
            return end;
        }
    }
}

async fn send(
    access: &Access,
    debates: &AllDebates,
    changes: &[Changed],
    socket: &mut Socket,
) -> Result<(), SocketEnd> {
    check_access(access).await?;
    let visible = |changed: &&Changed| access.caller.may_see(changed.debate).is_ok();
    for changed in changes.iter().filter(visible) {
        let message = access.app.feed_messages.message(debates, *changed).await?;
        socket.send_text(message).await?;
    }
    Ok(())
}

/// Reads the event of a change.
async fn event_of(
    debates: &AllDebates,
    Changed { debate, change, .. }: Changed,
) -> Result<ServerEvent, SocketEnd> {
    let debate_id = Text(debate);
    let presence = || debates.presence(debate).into();
    let event = |listed| Box::new(DebateEvent::of(&listed, presence()));
    let found = match change {
        ChangeKind::Opened => {
            debates.listed(debate).await.map(|it| ServerEvent::DebateCreated(event(it)))
        }
        ChangeKind::Written => {
            debates.listed(debate).await.map(|it| ServerEvent::DebateUpdated(event(it)))
        }
        ChangeKind::Presence => Ok(ServerEvent::Presence { debate_id, presence: presence() }),
    };
    match found {
        Ok(event) => Ok(event),
        Err(Failure::DebateNotFound { .. }) => Ok(ServerEvent::DebateDeleted { debate_id }),
        Err(failure) => Err(SocketEnd::by(failure)),
    }
}

/// Messages that sockets share.
#[derive(Debug, Default)]
pub(super) struct SharedMessages {
    kept: Mutex<HashMap<Changed, Utf8Bytes>>,
}

impl SharedMessages {
    /// The message of a change, written for the first socket that needs it.
    async fn message(
        &self,
        debates: &AllDebates,
        changed: Changed,
    ) -> Result<Utf8Bytes, SocketEnd> {
        if let Some(message) = self.kept().get(&changed) {
            return Ok(message.clone());
        }
        // Without the lock: two sockets may both read the change, and find the same or something newer.
        let message = written(&event_of(debates, changed).await?)?;
        let mut kept = self.kept();
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(changed, message.clone());
        Ok(message)
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<Changed, Utf8Bytes>> {
        // No code panics half way through a change while it holds the lock.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
