//! Where attackers sit, and how they spell the server's address.

use std::fmt;

use super::means::{Means, Pace};
use crate::browser::process::{ELSEWHERE, REBOUND};

/// A page of an attacker's, and the server as it is called from there.
#[derive(Debug, Clone)]
pub struct Way {
    pub page: String,
    pub server: String,
    kind: Kind,
    /// The slowest means that are tried.
    slowest: Pace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// From another origin.
    Across,
    /// From a name that leads to the server once the page is there.
    Rebound,
    /// With a name and password in the address, which browsers take for what somebody visits only.
    WithPassword,
    /// From the server's own origin.
    Within,
}

impl Way {
    fn across(page: &str, server: &str, slowest: Pace) -> Self {
        Way { page: page.to_owned(), server: server.to_owned(), kind: Kind::Across, slowest }
    }

    /// No attack.
    pub fn within(page: &str, server: &str) -> Self {
        Way { kind: Kind::Within, ..Way::across(page, server, Pace::Slow) }
    }

    pub fn is_rebound(&self) -> bool {
        self.kind == Kind::Rebound
    }

    /// Whether its page is at another port of the server's own address.
    pub fn is_another_port(&self) -> bool {
        self.is_main() && !self.is_foreign()
    }

    /// Whether its page is of another site.
    pub fn is_foreign(&self) -> bool {
        self.page.contains(ELSEWHERE)
    }

    pub fn is_within(&self) -> bool {
        self.kind == Kind::Within
    }

    /// Whether everything is tried on it.
    pub fn is_main(&self) -> bool {
        self.slowest == Pace::Slow
    }

    pub fn allows(&self, pace: Pace) -> bool {
        pace <= self.slowest
    }

    /// Whether the browser itself does not send this.
    pub fn is_stopped_by_the_browser(&self, means: Means) -> bool {
        match self.kind {
            Kind::Across | Kind::Rebound => means.name == "service worker",
            Kind::WithPassword => true,
            Kind::Within => false,
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.page, self.server)
    }
}

/// All of them, for a server and an attacker's web server at these ports.
pub fn ways(server: u16, lair: u16) -> Vec<Way> {
    let server = |host: &str| format!("http://{host}:{server}");
    let lair = |host: &str, path: &str| format!("http://{host}:{lair}/{path}");
    let foreign = lair(ELSEWHERE, "");
    let mut ways = Vec::new();
    // Another site, another port, a page of no origin; and the same by the machine's other names.
    for (page, host, slowest) in [
        (foreign.clone(), "127.0.0.1", Pace::Slow),
        (lair("127.0.0.1", ""), "127.0.0.1", Pace::Slow),
        (lair(ELSEWHERE, "sandbox"), "127.0.0.1", Pace::Middling),
        (lair("127.0.0.1", "sandbox"), "127.0.0.1", Pace::Middling),
        (lair("127.0.0.1", "data"), "127.0.0.1", Pace::Middling),
        (lair("localhost", ""), "localhost", Pace::Quick),
        (lair("localhost", ""), "127.0.0.1", Pace::Quick),
        (lair("[::1]", ""), "[::1]", Pace::Middling),
        (lair("0.0.0.0", ""), "0.0.0.0", Pace::Middling),
        (foreign.clone(), "localhost", Pace::Quick),
        (foreign.clone(), "[::1]", Pace::Quick),
        (foreign.clone(), "0.0.0.0", Pace::Quick),
    ] {
        ways.push(Way::across(&page, &server(host), slowest));
    }
    for odd in [
        "LOCALHOST",
        "localhost.",
        "aw.localhost",
        "127.1",
        "2130706433",
        "0x7f.0.0.1",
        "[::ffff:127.0.0.1]",
    ] {
        ways.push(Way::across(&foreign, &server(odd), Pace::Quick));
    }
    for name in ["somebody@127.0.0.1", "127.0.0.1:secret@localhost"] {
        let way = Way::across(&foreign, &server(name), Pace::Quick);
        ways.push(Way { kind: Kind::WithPassword, ..way });
    }
    for name in REBOUND {
        let own = server(name);
        let way = Way::across(&format!("{own}/"), &own, Pace::Middling);
        ways.push(Way { kind: Kind::Rebound, ..way });
    }
    ways
}
