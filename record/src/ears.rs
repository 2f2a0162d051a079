//! What hears other servers on the same record, where PostgreSQL keeps it for several.

use tokio::sync::watch;
use uuid::Uuid;

use crate::bell::Bell;
use crate::feed::{Change, Feed};
use crate::presence::{Presence, Seen};
use crate::store::{Neighbour, News};

/// What is told here when another server says that something happened there.
pub(crate) struct Ears {
    pub(crate) bell: Bell,
    pub(crate) feed: Feed,
    pub(crate) presence: Presence,
    pub(crate) departures: watch::Sender<()>,
}

impl Neighbour for Ears {
    fn hear(&self, news: News) {
        match news {
            News::Opened(debate) => {
                self.bell.ring(debate);
                self.feed.ring(debate, Change::Opened);
            }
            News::Written(debate) => {
                self.bell.ring(debate);
                self.feed.ring(debate, Change::Written);
            }
            News::Deleted(debate) => {
                self.presence.forget(debate);
                self.bell.ring(debate);
                self.feed.ring(debate, Change::Written);
            }
            News::Seats => {
                self.departures.send_replace(());
            }
            News::Anything => {
                self.bell.ring_all();
                self.presence.ring_all();
                self.feed.begin_anew();
                self.departures.send_replace(());
            }
        }
    }

    fn signs(&self, all: bool) -> Vec<Seen> {
        self.presence.changes(all)
    }

    fn learn(&self, server: Uuid, seen: Seen) {
        self.presence.learn(server, seen);
    }

    fn alive(&self, servers: &[Uuid]) {
        self.presence.alive(servers);
    }
}
