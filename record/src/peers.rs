//! Passes on what other servers on the same record announce. Only PostgreSQL has several servers.

use tokio::sync::watch;
use uuid::Uuid;

use crate::bell::Bell;
use crate::feed::{ChangeKind, Feed};
use crate::presence::{PresenceTracker, RoleSign};
use crate::store::{Notice, PeerListener};

/// The parts of this server that a notice from another server wakes.
pub(crate) struct Peers {
    pub(crate) bell: Bell,
    pub(crate) feed: Feed,
    pub(crate) presence: PresenceTracker,
    pub(crate) departures: watch::Sender<()>,
}

impl PeerListener for Peers {
    fn notify(&self, notice: Notice) {
        match notice {
            Notice::Opened(debate) => {
                self.bell.ring(debate);
                self.feed.ring(debate, ChangeKind::Opened);
            }
            Notice::Written(debate) => {
                self.bell.ring(debate);
                self.feed.ring(debate, ChangeKind::Written);
            }
            Notice::Deleted(debate) => {
                self.presence.forget(debate);
                self.bell.ring(debate);
                self.feed.ring(debate, ChangeKind::Written);
            }
            Notice::Seats => {
                self.departures.send_replace(());
            }
            Notice::Anything => {
                self.bell.ring_all();
                self.presence.ring_all();
                self.feed.start_over();
                self.departures.send_replace(());
            }
        }
    }

    fn local_signs(&self, all: bool) -> Vec<RoleSign> {
        self.presence.changes(all)
    }

    fn learn_sign(&self, server: Uuid, sign: RoleSign) {
        self.presence.learn(server, sign);
    }

    fn set_alive(&self, servers: &[Uuid]) {
        self.presence.alive(servers);
    }
}
