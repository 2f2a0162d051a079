//! A client command: its settings and its server.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use super::background::is_older;
use super::connect::{Connection, Listener, TokenSource};
use super::human;
use super::output::{Answer, CliError};
use crate::api::advice::Advice;
use crate::api::client::{Reply, Request};
use crate::api::http::{BUDGET, Client, Trouble};
use crate::settings::{ClientSettings, environment};

/// How often a lost server of ours is found or started again.
const FINDS: u32 = 3;

/// The pause before the second time; it grows with each.
const PAUSE: Duration = Duration::from_millis(100);

/// A client command and the server it talks to.
pub(super) struct Session {
    pub(super) settings: ClientSettings,
    pub(super) client: Arc<Client>,
    token_source: TokenSource,
    verbose: bool,
    /// When the server was found. The time that it took to start it does not count.
    found: Instant,
}

impl Session {
    /// Finds the server, or starts it, for requests through [`Session::call`].
    pub(super) fn open(verbose: bool) -> Result<Self, CliError> {
        let settings = settings()?;
        let reached = Connection::find(&settings, verbose)?;
        Ok(Self::of(settings, reached, verbose))
    }

    /// Finds a server that answers now, for requests through the client itself.
    pub(super) fn open_answering(verbose: bool) -> Result<Self, CliError> {
        let settings = settings()?;
        let reached = Connection::find_answering(&settings, verbose)?;
        Ok(Self::of(settings, reached, verbose))
    }

    /// Finds a server that answers now. One that does not run is not started.
    pub(super) fn open_running() -> Result<Self, CliError> {
        let settings = ClientSettings { autostart: false, ..settings()? };
        let reached = Connection::find_answering(&settings, false)?;
        Ok(Self::of(settings, reached, false))
    }

    /// Finds a server that answers now, for the MCP tools.
    pub(super) fn for_tools() -> Result<Self, CliError> {
        let settings = settings()?;
        let Connection { client, token_source } = Connection::find_answering(&settings, false)?;
        if settings.server_url.is_some()
            && matches!(Listener::at(client.base()), Listener::OlderSystem)
        {
            // Its answers lack fields that tools promise: a move would be made and then reported as
            // a failure.
            let message =
                "this server is the older system: its debates are for commands, not for tools";
            let fix =
                "Stop the older server and unset DEBATE_SERVER_URL, or use aw debate in a shell";
            return Err(CliError::connection(message).suggest(fix));
        }
        let reached = Connection { client: client.for_tools(), token_source };
        Ok(Self::of(settings, reached, false))
    }

    fn of(settings: ClientSettings, reached: Connection, verbose: bool) -> Self {
        let Connection { client, token_source } = reached;
        let named = settings.server_url.is_some();
        let client = Arc::new(if named { client } else { client.without_reconnect() });
        Session { settings, client, token_source, verbose, found: Instant::now() }
    }

    /// Sends a request within the time of this command.
    pub(super) fn call<A: DeserializeOwned>(
        &self,
        request: &Request<A>,
    ) -> Result<Reply<A>, CliError> {
        self.call_until(request, self.found + BUDGET)
    }

    /// Sends one of several requests. Each has the time of a whole command.
    pub(super) fn call_with_own_limit<A: DeserializeOwned>(
        &self,
        request: &Request<A>,
    ) -> Result<Reply<A>, CliError> {
        self.call_until(request, Instant::now() + BUDGET)
    }

    fn call_until<A: DeserializeOwned>(
        &self,
        request: &Request<A>,
        ends: Instant,
    ) -> Result<Reply<A>, CliError> {
        let call = request.call();
        if self.verbose {
            human::note(&format!("{}: {call}", self.client.base()));
        }
        let answer = self.client.data_until(call, ends, false);
        if self.verbose
            && let Err(trouble) = &answer
        {
            human::note(&format!("{trouble:?}"));
        }
        // The request carries its id, so sending it again is safe.
        let data =
            self.or_reconnect(answer, ends, |client, ends| client.data_until(call, ends, true))?;
        data.read().map_err(|trouble| self.problem(trouble))
    }

    /// Sends a request whose answer is not in the envelope, and returns its body.
    pub(super) fn raw(&self, request: &Request<Vec<u8>>) -> Result<Vec<u8>, CliError> {
        self.raw_until(request, self.found + BUDGET)
    }

    /// The same, with the time of a whole command: for a request after a wait.
    pub(super) fn raw_with_own_limit(
        &self,
        request: &Request<Vec<u8>>,
    ) -> Result<Vec<u8>, CliError> {
        self.raw_until(request, Instant::now() + BUDGET)
    }

    fn raw_until(&self, request: &Request<Vec<u8>>, ends: Instant) -> Result<Vec<u8>, CliError> {
        let call = request.call();
        let answer = self.client.raw_until(call, ends);
        self.or_reconnect(answer, ends, |client, ends| client.raw_until(call, ends))
    }

    /// Whether the request failed because the server was lost, and the command may find or start it
    /// again. Pauses, because a dying server may take a moment to end.
    pub(super) fn may_reconnect(&self, trouble: &Trouble, times: &mut u32) -> bool {
        let lost = matches!(trouble, Trouble::Unreachable(lost) if !lost.timed_out);
        if !lost || self.settings.server_url.is_some() || *times == FINDS {
            return false;
        }
        thread::sleep(PAUSE * *times);
        *times += 1;
        true
    }

    /// Returns the answer. If the server was lost, finds or starts it and sends the request again.
    fn or_reconnect<T>(
        &self,
        mut answer: Result<T, Trouble>,
        mut ends: Instant,
        ask: impl Fn(&Client, Instant) -> Result<T, Trouble>,
    ) -> Result<T, CliError> {
        let (mut reached, mut times) = (None, 0);
        while let Err(trouble) = &answer
            && self.may_reconnect(trouble, &mut times)
        {
            let lost = Instant::now();
            let Connection { client, token_source } =
                Connection::find_answering(&self.settings, self.verbose)?;
            ends += lost.elapsed();
            let client = client.without_reconnect();
            answer = ask(&client, ends);
            reached = Some(Connection { client, token_source });
        }
        answer.map_err(|trouble| match &reached {
            None => self.problem(trouble),
            Some(Connection { client, token_source }) => {
                token_source.explained(CliError::of(trouble, client.base()), &self.settings.home)
            }
        })
    }

    /// How a lost server comes back, in words.
    pub(super) fn way_back(&self) -> &'static str {
        let runs = matches!(self.settings.home.running(), Ok(Some(_)));
        match (&self.settings.server_url, runs, self.settings.autostart) {
            (Some(_), _, _) => "Wait again when it is back.",
            (None, true, _) => {
                "It runs but does not answer: wait again; if that does not help, run aw server restart."
            }
            (None, false, true) => "Waiting again starts it.",
            (None, false, false) => "Start it with aw server start, then wait again.",
        }
    }

    pub(super) fn problem(&self, trouble: Trouble) -> CliError {
        let problem = CliError::of(trouble, self.client.base());
        let problem = self.token_source.explained(problem, &self.settings.home);
        match self.warning() {
            Some(warning) => problem.with("warning", warning),
            None => problem,
        }
    }

    /// Where a person can watch and rule.
    pub(super) fn url_of(&self, debate: &str) -> String {
        let folder = if self.client.is_older() { "debate/debates" } else { "debate" };
        format!("{}/{folder}/{debate}", self.client.base())
    }

    /// The part of this advice that the server supports.
    pub(super) fn followable(&self, advice: Advice) -> Advice {
        if self.client.is_older() { advice.without_result() } else { advice }
    }

    /// Adds a warning if the server has another version.
    pub(super) fn checked(&self, answer: Answer) -> Answer {
        match self.warning() {
            Some(warning) => answer.warn(warning),
            None => answer,
        }
    }

    fn warning(&self) -> Option<String> {
        let own = env!("CARGO_PKG_VERSION");
        let version = self.client.server_version().filter(|version| version != own)?;
        let upgrade = if is_older(&version) { "" } else { "upgrade this aw, then " };
        Some(format!(
            "the server is aw {version}, this is aw {own}: {upgrade}run aw server restart"
        ))
    }
}

/// The settings of a client command.
pub(super) fn settings() -> Result<ClientSettings, CliError> {
    environment(&["HOME"])
        .and_then(|environment| ClientSettings::load(&environment))
        .map_err(|bad| CliError::input(bad.to_string()).suggest("aw doctor"))
}
