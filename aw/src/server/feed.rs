//! `/ws` without a debate: all debates, live.
//!
//! The engine names the debates that have changed; each is read once and written down once, however
//! many sockets follow. A socket keeps only how far it was told.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use aw_record::{ChangeKind, Changed, Failure, Following};
use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::access::{Access, AllDebates};
use super::error::Problem;
use super::socket::{End, Socket, Turn, welcome, written};
use crate::api::types::{DebateEvent, ServerEvent, Text};

/// How many messages are kept for the sockets that have yet to send them.
const KEPT: usize = 1_000;

/// Tells a socket of every change until it ends.
pub(super) async fn run(
    access: &Access,
    debates: &AllDebates,
    mut following: Following,
    socket: &mut Socket,
) -> End {
    if let Err(end) = welcome(access).await {
        return end;
    }
    loop {
        let step = tokio::select! {
            changes = following.next() => match changes {
                Ok(changes) => tell(access, debates, &changes, socket).await,
                Err(aw_record::TooSlow) => Err(End::TooSlow),
            },
            turn = socket.turn() => match turn {
                Ok(Turn::Said(_) | Turn::NotText) => {
                    let what = "this socket only tells: to write, open /ws?debate_id=<uuid>";
                    socket.refuse(Problem::input("message", what)).await
                }
                Ok(Turn::Departure) => welcome(access).await,
                Ok(Turn::Ping) => socket.ping(access).await,
                Err(end) => Err(end),
            },
        };
        if let Err(end) = step {
            return end;
        }
    }
}

async fn tell(
    access: &Access,
    debates: &AllDebates,
    changes: &[Changed],
    socket: &mut Socket,
) -> Result<(), End> {
    welcome(access).await?;
    let theirs = |changed: &&Changed| access.caller.may_see(changed.debate).is_ok();
    for changed in changes.iter().filter(theirs) {
        let message = access.app.told.message(debates, *changed).await?;
        socket.say(message).await?;
    }
    Ok(())
}

/// What there is to see of a change.
async fn look(
    debates: &AllDebates,
    Changed { debate, change, .. }: Changed,
) -> Result<ServerEvent, End> {
    let debate_id = Text(debate);
    let presence = || debates.presence(debate).into();
    let told = |listed| Box::new(DebateEvent::of(&listed, presence()));
    let found = match change {
        ChangeKind::Opened => {
            debates.listed(debate).await.map(|it| ServerEvent::DebateCreated(told(it)))
        }
        ChangeKind::Written => {
            debates.listed(debate).await.map(|it| ServerEvent::DebateUpdated(told(it)))
        }
        ChangeKind::Presence => Ok(ServerEvent::Presence { debate_id, presence: presence() }),
    };
    match found {
        Ok(told) => Ok(told),
        Err(Failure::DebateNotFound { .. }) => Ok(ServerEvent::DebateDeleted { debate_id }),
        Err(failure) => Err(End::by(failure)),
    }
}

/// Messages that were written for one socket and serve for all.
#[derive(Debug, Default)]
pub(super) struct Messages {
    kept: Mutex<HashMap<Changed, Utf8Bytes>>,
}

impl Messages {
    /// The message of this change, which is looked at for the first who asks.
    async fn message(&self, debates: &AllDebates, changed: Changed) -> Result<Utf8Bytes, End> {
        if let Some(message) = self.kept().get(&changed) {
            return Ok(message.clone());
        }
        // Not under the lock: two may look at once, and find the same or something newer.
        let message = written(&look(debates, changed).await?)?;
        let mut kept = self.kept();
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(changed, message.clone());
        Ok(message)
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<Changed, Utf8Bytes>> {
        // Nothing that holds the lock can panic half way through a change.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
