//! A client command at work: its settings, its server, what it says on stderr.

use std::sync::Arc;

use serde_json::Value;

use super::answer::{Answer, Problem};
use super::page;
use super::reach::{Brought, Reached};
use crate::client::{Call, Client, Trouble};
use crate::settings::ClientSettings;

/// A client command and the server it talks to.
pub(super) struct Session {
    pub(super) settings: ClientSettings,
    pub(super) client: Arc<Client>,
    brought: Brought,
    verbose: bool,
}

impl Session {
    /// Finds the server, or starts it, for whoever talks to it through [`Session::call`].
    pub(super) fn open(verbose: bool) -> Result<Self, Problem> {
        let settings = settings()?;
        let Reached { client, brought } = Reached::find(&settings, verbose)?;
        Ok(Session { settings, client: Arc::new(client), brought, verbose })
    }

    /// The same for whoever talks to it in a way of their own, so that it must be there now.
    pub(super) fn open_answering(verbose: bool) -> Result<Self, Problem> {
        let settings = settings()?;
        let Reached { client, brought } = Reached::find_answering(&settings, verbose)?;
        Ok(Session { settings, client: Arc::new(client), brought, verbose })
    }

    /// The same on behalf of somebody who calls tools.
    pub(super) fn for_tools() -> Result<Self, Problem> {
        let settings = settings()?;
        let Reached { client, brought } = Reached::find_answering(&settings, false)?;
        let client = Arc::new(client.for_tools());
        Ok(Session { settings, client, brought, verbose: false })
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
        let answer = self.client.call(call);
        if matches!(answer, Err(Trouble::Unreachable(_))) && self.settings.server_url.is_none() {
            // It was gone, or went. The request carries its id, so asking again is safe.
            let Reached { client, brought } =
                Reached::find_answering(&self.settings, self.verbose)?;
            return client.call(call).map_err(|trouble| {
                brought.explained(Problem::of(trouble, client.base()), &self.settings.home)
            });
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
        let problem = self.brought.explained(problem, &self.settings.home);
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
            Some(warning) => answer.warn(warning),
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
