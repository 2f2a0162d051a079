//! Runs attacks and reports what they achieved.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::sleep;

use super::SECRETS;
use super::attacker_server::{self, AttackerServer};
use super::endpoints::{Endpoint, Scenes};
use super::request_log::{LoggedRequest, RequestLog};
use super::server_state::ServerState;
use super::techniques::{TECHNIQUES, Technique};
use super::vantages::{Vantage, vantages};
use crate::browser::process::ANOTHER_ADDRESS;
use crate::browser::{Browser, Page};
use crate::world::page_client::PageClient;
use crate::world::{CEILING, World, eventually, free_listener, text};

/// How long the script waits for an answer, in milliseconds. The log has what reached the server anyway.
const PATIENCE: u32 = 5_000;

/// A server, the browser of a person who uses it, and the attackers.
pub struct Matrix<'a> {
    world: &'a World,
    browser: &'a Browser,
    log: RequestLog,
    endpoints: Vec<Endpoint>,
    vantages: Vec<Vantage>,
    attacker: AttackerServer,
    rebound: AttackerServer,
    _debates: Scenes<'a>,
}

/// A technique that is tried at an endpoint.
pub struct Attempt<'a> {
    number: usize,
    pub technique: Technique,
    pub endpoint: &'a Endpoint,
}

impl Attempt<'_> {
    pub fn name(&self) -> String {
        format!("{}, {}", self.technique.name, self.endpoint.name())
    }
}

/// The result of an attack.
pub struct AttackRun<'a> {
    pub attempts: Vec<Attempt<'a>>,
    seen: Vec<(usize, String)>,
    requests: Vec<LoggedRequest>,
    /// What changed on the server, if anything.
    pub changed: Option<String>,
}

impl<'a> Matrix<'a> {
    /// For a person who has this page with a form open.
    pub async fn new(world: &'a World, browser: &'a Browser, page: &Page, log: RequestLog) -> Self {
        let address = world.url.trim_start_matches("http://");
        let port = address.rsplit(':').next().unwrap().parse().unwrap();
        let listener = free_listener();
        let attacker_port = listener.local_addr().unwrap().port();
        let attacker = AttackerServer::at(listener, address);
        let rebound =
            AttackerServer::at(TcpListener::bind((ANOTHER_ADDRESS, port)).unwrap(), address);
        // Both the server and the attacker have an IPv6 address too.
        AttackerServer::at(TcpListener::bind(("::1", port)).unwrap(), address).rebind(true);
        AttackerServer::at(TcpListener::bind(("::1", attacker_port)).unwrap(), address);

        let debates = Scenes::on(world).await;
        let mut form = PageClient::open(world, "/sign-in").await;
        form.csrf = text(&page.eval("document.querySelector('[name=csrf]').value").await);
        let endpoints = debates.endpoints(&form);
        // Requests from now on change when a role was last seen.
        world.pass(Duration::from_secs(10));
        let vantages = vantages(port, attacker_port);
        Matrix { world, browser, log, endpoints, vantages, attacker, rebound, _debates: debates }
    }

    /// Attacks from these vantages and asserts that nothing is read or changed.
    pub async fn holds(&self, of: &str, chosen: impl Fn(&Vantage) -> bool) {
        let (mut attempts, mut arrived, mut wrong) = (0, 0, Vec::new());
        let mut vantages = 0;
        for vantage in self.vantages.iter().filter(|vantage| chosen(vantage)) {
            let run = self.run(vantage, attempts, |technique| technique.is_tried_on(vantage)).await;
            wrong.extend(run.losses(vantage));
            attempts += run.attempts.len();
            arrived += run.arrived().len();
            vantages += 1;
        }
        // Cookies are shared among ports, so another port of this machine gets ours.
        let heads = [self.attacker.heads(), self.rebound.heads()].concat();
        let foreign = heads.iter().filter(|head| head.contains(".test"));
        wrong.extend(
            foreign
                .filter(|head| head.contains("aw_"))
                .map(|head| format!("cookie leaked: {head}")),
        );
        let worst: Vec<&String> = wrong.iter().take(40).collect();
        assert!(
            wrong.is_empty(),
            "{of}: {} of {attempts} attempts, such as {worst:#?}",
            wrong.len()
        );
        say(&format!(
            "the browser attack matrix, {of}: {attempts} attempts on {vantages} vantages, {arrived} reached the server"
        ));
    }

    /// Attacks from a document of the server that has no policy.
    pub async fn run_from_own_page(&self, tried: impl Fn(Technique) -> bool) -> AttackRun<'_> {
        let url = &self.world.url;
        self.run(&Vantage::within(&format!("{url}/health"), url), 0, tried).await
    }

    /// What these techniques achieve from the first such vantage.
    pub async fn losses(
        &self,
        chosen: impl Fn(&Vantage) -> bool,
        tried: impl Fn(Technique) -> bool,
    ) -> Vec<String> {
        let vantage =
            self.vantages.iter().find(|vantage| chosen(vantage)).expect("there is such a vantage");
        self.run(vantage, 0, tried).await.losses(vantage)
    }

    /// Tries these techniques from a vantage at every endpoint. The first attempt has this number.
    async fn run(
        &self,
        vantage: &Vantage,
        first: usize,
        tried: impl Fn(Technique) -> bool,
    ) -> AttackRun<'_> {
        let technique = TECHNIQUES.into_iter().filter(|technique| tried(*technique));
        let attempts = technique.flat_map(|technique| {
            let endpoints = self.endpoints.iter().filter(move |endpoint| technique.fits(endpoint));
            endpoints.map(move |endpoint| (technique, endpoint))
        });
        let attempts: Vec<Attempt<'_>> = (first..)
            .zip(attempts)
            .map(|(number, (technique, endpoint))| Attempt { number, technique, endpoint })
            .collect();
        let before = ServerState::of(self.world, self.browser).await;
        let tabs = self.browser.tabs().await;
        let page = self.browser.unwatched_page().await;
        self.rebound.rebind(false);
        page.goto(&vantage.page).await;
        self.rebound.rebind(vantage.is_rebound());
        if vantage.is_within() {
            page.eval(&format!("{}; true", attacker_server::SCRIPT)).await;
        }
        let mut seen = Vec::new();
        for some in attempts.chunk_by(|one, next| one.technique.name == next.technique.name) {
            let tried = some.iter().map(|attempt| {
                attempt.endpoint.attempt(&vantage.server, attempt.number, attempt.technique.name)
            });
            let tried: Vec<Value> = tried.collect();
            let plan = json!({"attempts": tried, "patience": PATIENCE});
            let read = page.eval(&format!("attack({plan})")).await;
            seen.extend(serde_json::from_value::<Vec<(usize, String)>>(read).unwrap());
        }
        let mut run = AttackRun { attempts, seen, requests: Vec::new(), changed: None };
        // The script does not wait for some requests.
        let began = Instant::now();
        loop {
            run.requests.extend(self.log.take());
            if run.missing(vantage).is_empty() || began.elapsed() > CEILING {
                break;
            }
            sleep(Duration::from_millis(5)).await;
        }
        self.browser.keep_only(&tabs).await;
        // Pages that links led to have sockets while they are open.
        let held = async || self.world.held().await == before.held;
        eventually("nothing is held open any more", held).await;
        run.requests.extend(self.log.take());
        run.changed = before.differs(&ServerState::of(self.world, self.browser).await);
        run
    }
}

impl AttackRun<'_> {
    /// What the script could read by this attempt.
    pub fn seen_by(&self, attempt: &Attempt<'_>) -> impl Iterator<Item = &str> {
        let number = attempt.number;
        self.seen
            .iter()
            .filter(move |(attempt, _)| *attempt == number)
            .map(|(_, seen)| seen.as_str())
    }

    /// The requests of this attempt that reached the server.
    pub fn requests_of(&self, attempt: &Attempt<'_>) -> impl Iterator<Item = &LoggedRequest> {
        let number = attempt.number;
        self.requests.iter().filter(move |request| request.attempt == number)
    }

    /// The pages that were shown in a frame.
    pub fn framed(&self) -> Vec<String> {
        let attempts = self
            .attempts
            .iter()
            .filter(|attempt| attempt.technique.frames() && attempt.endpoint.is_document);
        attempts
            .filter(|attempt| self.seen_by(attempt).next().is_some())
            .map(Attempt::name)
            .collect()
    }

    /// The attempts that reached the server.
    fn arrived(&self) -> BTreeSet<usize> {
        self.requests.iter().map(|request| request.attempt).collect()
    }

    /// The attempts that should have reached the server and did not.
    fn missing(&self, vantage: &Vantage) -> Vec<&Attempt<'_>> {
        let arrived = self.arrived();
        let attempts = self.attempts.iter().filter(|attempt| !arrived.contains(&attempt.number));
        attempts.filter(|attempt| !vantage.is_stopped_by_the_browser(attempt.technique)).collect()
    }

    /// What the attacker read, changed or got accepted from this vantage.
    fn losses(&self, vantage: &Vantage) -> Vec<String> {
        let mut losses: Vec<String> =
            self.changed.iter().map(|what| format!("{vantage} has changed:\n{what}")).collect();
        let missing = self.missing(vantage);
        losses.extend(
            missing.iter().map(|attempt| format!("{vantage}: {} never came", attempt.name())),
        );
        for attempt in &self.attempts {
            for seen in self.seen_by(attempt) {
                // The answer to a HEAD has a status only.
                let is_refusal = seen.contains("\"FORBIDDEN\"") || seen == "403 ";
                if !is_refusal || SECRETS.iter().any(|secret| seen.contains(secret)) {
                    let seen: String = seen.chars().take(200).collect();
                    losses.push(format!("{vantage}: {} has read: {seen}", attempt.name()));
                }
            }
            for request in self.requests_of(attempt) {
                // Links from any site may lead to a page.
                let is_visit = attempt.technique.is_a_visit() && attempt.endpoint.is_page;
                let LoggedRequest { method, status, site, .. } = request;
                let name = format!("{vantage}: {}, {method} from {site:?}", attempt.name());
                if *status != 403 && !is_visit {
                    losses.push(format!("{name}, was answered {status}"));
                }
                if request.has_cookie && site == "cross-site" {
                    losses.push(format!("{name}, came with a cookie of ours"));
                }
            }
        }
        losses
    }
}

#[expect(clippy::print_stdout, reason = "the log shows how much was tried")]
fn say(what: &str) {
    println!("{what}");
}
