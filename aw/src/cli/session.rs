//! A client command at work: its settings, its server, what it says on stderr.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::answer::{Answer, Problem};
use super::background;
use super::page;
use crate::client::{Call, Client, Trouble};
use crate::home::Home;
use crate::settings::{ClientSettings, reachable};

/// How long a stranger on the port may take to be noticed.
const KNOCK: Duration = Duration::from_millis(300);

/// How often, and after which pause, a server is looked for that is dying or hangs.
const LAST_BREATHS: u32 = 100;
const BREATH: Duration = Duration::from_millis(20);

/// A client command and the server it talks to.
pub(super) struct Session {
    pub(super) settings: ClientSettings,
    pub(super) client: Arc<Client>,
    verbose: bool,
}

impl Session {
    /// Finds the server, or starts it.
    pub(super) fn open(verbose: bool) -> Result<Self, Problem> {
        let settings = settings()?;
        let base = locate(&settings, verbose)?;
        let client = Arc::new(Client::new(&base, settings.token.clone()));
        Ok(Session { settings, client, verbose })
    }

    /// The data of the server's answer, or what went wrong.
    pub(super) fn call(&self, call: Call<'_>) -> Result<Value, Problem> {
        if self.verbose {
            page::note(&match call {
                Call::Get(path) => format!("GET {}{path}", self.client.base()),
                Call::Post(path, body) => format!("POST {}{path} {body}", self.client.base()),
                Call::Delete(path) => format!("DELETE {}{path}", self.client.base()),
            });
        }
        let mut answer = self.client.call(call);
        if matches!(answer, Err(Trouble::Unreachable(_))) && self.settings.server_url.is_none() {
            // It went after it was found. The request carries its id, so asking again is safe.
            let base = locate(&self.settings, self.verbose)?;
            answer = if base == self.client.base() {
                self.client.call(call)
            } else {
                Client::new(&base, self.settings.token.clone()).call(call)
            };
        }
        if self.verbose
            && let Err(trouble) = &answer
        {
            page::note(&format!("{trouble:?}"));
        }
        answer.map_err(|trouble| self.problem(trouble))
    }

    pub(super) fn problem(&self, trouble: Trouble) -> Problem {
        let problem = Problem::of(trouble, self.client.base());
        match self.warning() {
            Some(warning) => problem.with("warning", warning),
            None => problem,
        }
    }

    /// Where a person can watch and rule.
    pub(super) fn url_of(&self, debate: &str) -> String {
        format!("{}/debate/{debate}", self.client.base())
    }

    /// Warns when the server is of another version.
    pub(super) fn checked(&self, answer: Answer) -> Answer {
        match self.warning() {
            Some(warning) => answer.with("warning", warning),
            None => answer,
        }
    }

    fn warning(&self) -> Option<String> {
        let own = env!("CARGO_PKG_VERSION");
        let version = self.client.server_version().filter(|version| version != own)?;
        Some(format!("the server is aw {version}, this is aw {own}: run aw server restart"))
    }
}

/// The settings of a client command.
pub(super) fn settings() -> Result<ClientSettings, Problem> {
    ClientSettings::settle(&|name| std::env::var(name).ok())
        .map_err(|bad| Problem::input(bad.to_string()).suggest("aw doctor"))
}

/// The URL of the server to talk to.
fn locate(settings: &ClientSettings, verbose: bool) -> Result<String, Problem> {
    if let Some(url) = &settings.server_url {
        return Ok(url.clone());
    }
    let home = &settings.home;
    if let Some(url) = answering(home)? {
        return Ok(url);
    }
    if let Some(url) = known_on_port(settings)? {
        return Ok(url);
    }
    if !settings.autostart {
        return Err(Problem::connection(format!("no server runs on {}", home.path().display()))
            .suggest("aw server start"));
    }
    if verbose {
        page::note("no server yet: starting one in the background");
    }
    Ok(background::start(settings)?.url)
}

/// The server of this folder, if it is there and takes connections. One that was killed may keep
/// its lock for a moment longer than its port.
fn answering(home: &Home) -> Result<Option<String>, Problem> {
    let failed =
        |error: io::Error| Problem::connection(format!("{}: {error}", home.path().display()));
    for _ in 0..LAST_BREATHS {
        let Some(running) = home.running().map_err(failed)? else { return Ok(None) };
        let address = running.url.trim_start_matches("http://").parse::<SocketAddr>();
        let there = address.is_ok_and(|at| TcpStream::connect_timeout(&at, KNOCK).is_ok());
        if there {
            return Ok(Some(running.url));
        }
        thread::sleep(BREATH);
    }
    Err(Problem::connection("a server has the lock of this folder, but does not take connections")
        .suggest("aw server restart"))
}

/// Whoever listens where our server would: one of this folder, or a stranger that is left alone.
pub(super) fn known_on_port(settings: &ClientSettings) -> Result<Option<String>, Problem> {
    let address = reachable(settings.listen);
    if TcpStream::connect_timeout(&address, KNOCK).is_err() {
        return Ok(None);
    }
    let url = format!("http://{address}");
    let own = settings.home.id().map_err(|error| Problem::connection(error.to_string()))?;
    let health = Client::of_stranger(&url).once(Call::Get("/health"), Duration::ZERO);
    let who = match health {
        Ok(health) if health["home_id"] == own.as_str() => return Ok(Some(url)),
        Ok(health) if health["home_id"].is_string() => {
            "an aw server of another data folder or user".to_owned()
        }
        Ok(_) | Err(_) => "another program".to_owned(),
    };
    // It may be ours after all, which has the port before it can answer.
    if let Ok(Some(running)) = settings.home.running() {
        return Ok(Some(running.url));
    }
    Err(Problem::connection(format!("{} is taken by {who}; it was left alone", settings.listen))
        .suggest(format!(
            "Choose a free address, for instance AW_LISTEN=127.0.0.1:{}, or set DEBATE_SERVER_URL to talk to that server",
            settings.listen.port().wrapping_add(1).max(1024)
        )))
}
