//! What hears other servers on the same record, where PostgreSQL keeps it for several.

use tokio::sync::watch;
use uuid::Uuid;

use crate::bell::Bell;
use crate::feed::{ChangeKind, Feed};
use crate::presence::{PresenceTracker, RoleSign};
use crate::store::{Notice, PeerListener};

/// What is told here when another server says that something happened there.
pub(crate) struct Peers {
    pub(crate) bell: Bell,
    pub(crate) feed: Feed,
    pub(crate) presence: PresenceTracker,
    pub(crate) departures: watch::Sender<()>,
}

impl PeerListener for Peers {
    fn hear(&self, news: Notice) {
        match news {
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
                self.feed.begin_anew();
                self.departures.send_replace(());
            }
        }
    }

    fn signs(&self, all: bool) -> Vec<RoleSign> {
        self.presence.changes(all)
    }

    fn learn(&self, server: Uuid, seen: RoleSign) {
        self.presence.learn(server, seen);
    }

    fn alive(&self, servers: &[Uuid]) {
        self.presence.alive(servers);
    }
}
