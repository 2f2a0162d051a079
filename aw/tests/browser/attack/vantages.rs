//! The pages of attackers, and the spellings of the address of the server.

use std::fmt;

use super::techniques::{Cost, Technique};
use crate::browser::process::{ELSEWHERE, REBOUND};

/// A page of an attacker, and the address of the server as that page spells it.
#[derive(Debug, Clone)]
pub struct Vantage {
    pub page: String,
    pub server: String,
    kind: VantageKind,
    /// The slowest techniques that are tried.
    slowest: Cost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VantageKind {
    /// From another origin.
    Across,
    /// From a name that leads to the server once the page is loaded.
    Rebound,
    /// With a name and password in the address, which browsers allow for visits only.
    WithPassword,
    /// From the origin of the server.
    Within,
}

impl Vantage {
    fn across(page: &str, server: &str, slowest: Cost) -> Self {
        Vantage {
            page: page.to_owned(),
            server: server.to_owned(),
            kind: VantageKind::Across,
            slowest,
        }
    }

    /// A page of the server itself.
    pub fn within(page: &str, server: &str) -> Self {
        Vantage { kind: VantageKind::Within, ..Vantage::across(page, server, Cost::Slow) }
    }

    pub fn is_rebound(&self) -> bool {
        self.kind == VantageKind::Rebound
    }

    /// Whether its page is at another port of the same address.
    pub fn is_another_port(&self) -> bool {
        self.is_main() && !self.is_foreign()
    }

    /// Whether its page is on another site.
    pub fn is_foreign(&self) -> bool {
        self.page.contains(ELSEWHERE)
    }

    pub fn is_within(&self) -> bool {
        self.kind == VantageKind::Within
    }

    /// Whether all techniques are tried from it.
    pub fn is_main(&self) -> bool {
        self.slowest == Cost::Slow
    }

    pub fn allows(&self, cost: Cost) -> bool {
        cost <= self.slowest
    }

    /// Whether the browser itself refuses to send this.
    pub fn is_stopped_by_the_browser(&self, technique: Technique) -> bool {
        match self.kind {
            VantageKind::Across | VantageKind::Rebound => technique.name == "service worker",
            VantageKind::WithPassword => true,
            VantageKind::Within => false,
        }
    }
}

impl fmt::Display for Vantage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.page, self.server)
    }
}

/// All vantages, for a server and an attacker at these ports.
pub fn vantages(server: u16, attacker: u16) -> Vec<Vantage> {
    let server = |host: &str| format!("http://{host}:{server}");
    let attacker = |host: &str, path: &str| format!("http://{host}:{attacker}/{path}");
    let foreign = attacker(ELSEWHERE, "");
    let mut vantages = Vec::new();
    // Another site, another port, a page without an origin, and other names of the machine.
    for (page, host, slowest) in [
        (foreign.clone(), "127.0.0.1", Cost::Slow),
        (attacker("127.0.0.1", ""), "127.0.0.1", Cost::Slow),
        (attacker(ELSEWHERE, "sandbox"), "127.0.0.1", Cost::Middling),
        (attacker("127.0.0.1", "sandbox"), "127.0.0.1", Cost::Middling),
        (attacker("127.0.0.1", "data"), "127.0.0.1", Cost::Middling),
        (attacker("localhost", ""), "localhost", Cost::Quick),
        (attacker("localhost", ""), "127.0.0.1", Cost::Quick),
        (attacker("[::1]", ""), "[::1]", Cost::Middling),
        (attacker("0.0.0.0", ""), "0.0.0.0", Cost::Middling),
        (foreign.clone(), "localhost", Cost::Quick),
        (foreign.clone(), "[::1]", Cost::Quick),
        (foreign.clone(), "0.0.0.0", Cost::Quick),
    ] {
        vantages.push(Vantage::across(&page, &server(host), slowest));
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
        vantages.push(Vantage::across(&foreign, &server(odd), Cost::Quick));
    }
    for name in ["somebody@127.0.0.1", "127.0.0.1:secret@localhost"] {
        let vantage = Vantage::across(&foreign, &server(name), Cost::Quick);
        vantages.push(Vantage { kind: VantageKind::WithPassword, ..vantage });
    }
    for name in REBOUND {
        let own = server(name);
        let vantage = Vantage::across(&format!("{own}/"), &own, Cost::Middling);
        vantages.push(Vantage { kind: VantageKind::Rebound, ..vantage });
    }
    vantages
}
