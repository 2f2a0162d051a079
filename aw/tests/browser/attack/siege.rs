//! Attacks: what is tried on a way, and what came of it.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::sleep;

use super::SECRETS;
use super::doors::{Door, Scenes};
use super::lair::{self, Lair};
use super::ledger::Ledger;
use super::means::{MEANS, Means};
use super::tap::{Knock, Tap};
use super::ways::{Way, ways};
use crate::browser::process::ANOTHER_ADDRESS;
use crate::browser::{Browser, Page};
use crate::seats::page::Browser as Form;
use crate::world::{CEILING, World, eventually, free_listener, text};

/// How long a page waits for what never comes, in milliseconds. Whatever reached the server is known all the
/// same.
const PATIENCE: u32 = 5_000;

/// A server, the browser of somebody who uses it, and the attackers around them.
pub struct Siege<'a> {
    world: &'a World,
    browser: &'a Browser,
    tap: Tap,
    doors: Vec<Door>,
    ways: Vec<Way>,
    lair: Lair,
    rebound: Lair,
    _debates: Scenes<'a>,
}

/// A means that is tried at a door.
pub struct Cell<'a> {
    number: usize,
    pub means: Means,
    pub door: &'a Door,
}

impl Cell<'_> {
    pub fn name(&self) -> String {
        format!("{}, {}", self.means.name, self.door.name())
    }
}

/// What came of an attack.
pub struct Raid<'a> {
    pub cells: Vec<Cell<'a>>,
    seen: Vec<(usize, String)>,
    knocks: Vec<Knock>,
    /// What is otherwise than before, if anything.
    pub changed: Option<String>,
}

impl<'a> Siege<'a> {
    /// Around somebody who looks at this page, which has a form.
    pub async fn lay(world: &'a World, browser: &'a Browser, page: &Page, tap: Tap) -> Self {
        let address = world.url.trim_start_matches("http://");
        let port = address.rsplit(':').next().unwrap().parse().unwrap();
        let listener = free_listener();
        let lair_port = listener.local_addr().unwrap().port();
        let lair = Lair::at(listener, address);
        let rebound = Lair::at(TcpListener::bind((ANOTHER_ADDRESS, port)).unwrap(), address);
        // The server can be called by its other address too, and so can the attacker.
        Lair::at(TcpListener::bind(("::1", port)).unwrap(), address).rebind(true);
        Lair::at(TcpListener::bind(("::1", lair_port)).unwrap(), address);

        let debates = Scenes::on(world).await;
        let mut form = Form::new(world).await;
        form.csrf = text(&page.eval("document.querySelector('[name=csrf]').value").await);
        let doors = debates.doors(&form);
        // Whoever is seen from now on is seen at another time.
        world.pass(Duration::from_secs(10));
        let ways = ways(port, lair_port);
        Siege { world, browser, tap, doors, ways, lair, rebound, _debates: debates }
    }

    /// Attacks on these ways, and asserts that nothing comes of it.
    pub async fn holds(&self, of: &str, chosen: impl Fn(&Way) -> bool) {
        let (mut cells, mut arrived, mut wrong) = (0, 0, Vec::new());
        let mut ways = 0;
        for way in self.ways.iter().filter(|way| chosen(way)) {
            let raid = self.raid(way, cells, |means| means.is_tried_on(way)).await;
            wrong.extend(raid.losses(way));
            cells += raid.cells.len();
            arrived += raid.arrived().len();
            ways += 1;
        }
        // A cookie knows no ports, so what listens at another port of this machine is sent ours.
        let heads = [self.lair.heads(), self.rebound.heads()].concat();
        let foreign = heads.iter().filter(|head| head.contains(".test"));
        wrong.extend(
            foreign.filter(|head| head.contains("aw_")).map(|head| format!("told: {head}")),
        );
        let worst: Vec<&String> = wrong.iter().take(40).collect();
        assert!(wrong.is_empty(), "{of}: {} of {cells} cells, such as {worst:#?}", wrong.len());
        say(&format!(
            "the browser attack matrix, {of}: {cells} cells on {ways} ways, {arrived} reached the server"
        ));
    }

    /// The same from a document of the server's own that has no policy.
    pub async fn raid_from_within(&self, tried: impl Fn(Means) -> bool) -> Raid<'_> {
        let url = &self.world.url;
        self.raid(&Way::within(&format!("{url}/health"), url), 0, tried).await
    }

    /// What is lost on the first such way, by these means.
    pub async fn losses(
        &self,
        chosen: impl Fn(&Way) -> bool,
        tried: impl Fn(Means) -> bool,
    ) -> Vec<String> {
        let way = self.ways.iter().find(|way| chosen(way)).expect("there is such a way");
        self.raid(way, 0, tried).await.losses(way)
    }

    /// Tries these means on a way at every door; the first cell has this number.
    async fn raid(&self, way: &Way, first: usize, tried: impl Fn(Means) -> bool) -> Raid<'_> {
        let means = MEANS.into_iter().filter(|means| tried(*means));
        let cells = means.flat_map(|means| {
            let doors = self.doors.iter().filter(move |door| means.fits(door));
            doors.map(move |door| (means, door))
        });
        let cells: Vec<Cell<'_>> = (first..)
            .zip(cells)
            .map(|(number, (means, door))| Cell { number, means, door })
            .collect();
        let before = Ledger::of(self.world, self.browser).await;
        let tabs = self.browser.tabs().await;
        let page = self.browser.strangers_page().await;
        self.rebound.rebind(false);
        page.goto(&way.page).await;
        self.rebound.rebind(way.is_rebound());
        if way.is_within() {
            page.eval(&format!("{}; true", lair::STRIKE)).await;
        }
        let mut seen = Vec::new();
        for some in cells.chunk_by(|one, next| one.means.name == next.means.name) {
            let tried =
                some.iter().map(|cell| cell.door.tried(&way.server, cell.number, cell.means.name));
            let tried: Vec<Value> = tried.collect();
            let plan = json!({"cells": tried, "patience": PATIENCE});
            let read = page.eval(&format!("strike({plan})")).await;
            seen.extend(serde_json::from_value::<Vec<(usize, String)>>(read).unwrap());
        }
        let mut raid = Raid { cells, seen, knocks: Vec::new(), changed: None };
        // Some requests are not waited for by the page that sends them.
        let began = Instant::now();
        loop {
            raid.knocks.extend(self.tap.take());
            if raid.missing(way).is_empty() || began.elapsed() > CEILING {
                break;
            }
            sleep(Duration::from_millis(5)).await;
        }
        self.browser.keep_only(&tabs).await;
        // Links have led to pages, which follow the record as long as they are open.
        let held = async || self.world.held().await == before.held;
        eventually("nothing is held open any more", held).await;
        raid.knocks.extend(self.tap.take());
        raid.changed = before.differs(&Ledger::of(self.world, self.browser).await);
        raid
    }
}

impl Raid<'_> {
    /// What a page could read by this cell.
    pub fn seen_by(&self, cell: &Cell<'_>) -> impl Iterator<Item = &str> {
        let number = cell.number;
        self.seen.iter().filter(move |(cell, _)| *cell == number).map(|(_, seen)| seen.as_str())
    }

    /// What this cell sent to the server.
    pub fn knocks_of(&self, cell: &Cell<'_>) -> impl Iterator<Item = &Knock> {
        let number = cell.number;
        self.knocks.iter().filter(move |knock| knock.cell == number)
    }

    /// Which pages were shown within another.
    pub fn framed(&self) -> Vec<String> {
        let cells = self.cells.iter().filter(|cell| cell.means.frames() && cell.door.is_document);
        cells.filter(|cell| self.seen_by(cell).next().is_some()).map(Cell::name).collect()
    }

    /// The cells that reached the server.
    fn arrived(&self) -> BTreeSet<usize> {
        self.knocks.iter().map(|knock| knock.cell).collect()
    }

    /// Those that should have, and did not.
    fn missing(&self, way: &Way) -> Vec<&Cell<'_>> {
        let arrived = self.arrived();
        let cells = self.cells.iter().filter(|cell| !arrived.contains(&cell.number));
        cells.filter(|cell| !way.is_stopped_by_the_browser(cell.means)).collect()
    }

    /// Whatever an attacker has got on this way.
    fn losses(&self, way: &Way) -> Vec<String> {
        let mut losses: Vec<String> =
            self.changed.iter().map(|what| format!("{way} has changed:\n{what}")).collect();
        let missing = self.missing(way);
        losses.extend(missing.iter().map(|cell| format!("{way}: {} never came", cell.name())));
        for cell in &self.cells {
            for seen in self.seen_by(cell) {
                // The answer to a HEAD has nothing but its status.
                let is_refusal = seen.contains("\"FORBIDDEN\"") || seen == "403 ";
                if !is_refusal || SECRETS.iter().any(|secret| seen.contains(secret)) {
                    let seen: String = seen.chars().take(200).collect();
                    losses.push(format!("{way}: {} has read: {seen}", cell.name()));
                }
            }
            for knock in self.knocks_of(cell) {
                // A link may lead a person to a page from anywhere.
                let is_visit = cell.means.is_a_visit() && cell.door.is_page;
                let Knock { method, status, site, .. } = knock;
                let name = format!("{way}: {}, {method} from {site:?}", cell.name());
                if *status != 403 && !is_visit {
                    losses.push(format!("{name}, was answered {status}"));
                }
                if knock.has_cookie && site == "cross-site" {
                    losses.push(format!("{name}, came with a cookie of ours"));
                }
            }
        }
        losses
    }
}

#[expect(clippy::print_stdout, reason = "the size of the proof is part of it")]
fn say(what: &str) {
    println!("{what}");
}
