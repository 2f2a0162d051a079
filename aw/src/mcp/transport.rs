//! How a tool's requests reach the API: over the network, or inside the server's own process.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::task::spawn_blocking;

use super::refusal::ToolRefusal;
use crate::api::client::{Call, Request};
use crate::api::http::{BUDGET, Data, Trouble};
use crate::api::in_process::InProcess;

/// How long the server holds one request of a wait over the network. It notices within this time
/// that the client has given up.
const SLICE: Duration = Duration::from_secs(2);

/// A server elsewhere.
pub trait ApiServer: Send + Sync + 'static {
    /// The data of its answer, within this time. It blocks.
    fn call(&self, call: &Call, within: Duration) -> Result<Data, ToolRefusal>;

    /// Asks again a server that was there. Does not start one: its user may have stopped it on
    /// purpose.
    fn call_again(&self, call: &Call, within: Duration) -> Result<Data, ToolRefusal>;

    /// How a server that is lost comes back, in words.
    fn way_back(&self) -> &'static str;

    /// Its URL, once it was found.
    fn url(&self) -> Option<String>;
}

/// How a caller's requests reach the API.
#[derive(Clone)]
pub enum Transport {
    /// Over the network, on a thread that may block.
    Http(Arc<dyn ApiServer>),
    /// Inside this process.
    InProcess(InProcess),
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Transport::Http(_) => f.write_str("Http"),
            Transport::InProcess(inside) => inside.fmt(f),
        }
    }
}

impl Transport {
    /// Sends a request and returns its answer.
    pub(super) async fn send<A: DeserializeOwned + Send + 'static>(
        &self,
        request: &Request<A>,
    ) -> Result<A, ToolRefusal> {
        self.send_within(request, BUDGET).await
    }

    /// Sends a request that may take this time over the network.
    pub(super) async fn send_within<A: DeserializeOwned + Send + 'static>(
        &self,
        request: &Request<A>,
        within: Duration,
    ) -> Result<A, ToolRefusal> {
        self.send_by(request, move |server, call| server.call(call, within)).await
    }

    /// Sends a request again to a server that was there.
    pub(super) async fn send_again<A: DeserializeOwned + Send + 'static>(
        &self,
        request: &Request<A>,
        within: Duration,
    ) -> Result<A, ToolRefusal> {
        self.send_by(request, move |server, call| server.call_again(call, within)).await
    }

    async fn send_by<A: DeserializeOwned + Send + 'static>(
        &self,
        request: &Request<A>,
        ask: impl FnOnce(&dyn ApiServer, &Call) -> Result<Data, ToolRefusal> + Send + 'static,
    ) -> Result<A, ToolRefusal> {
        match self {
            Transport::Http(server) => {
                let (server, call) = (server.clone(), request.call().clone());
                let called = spawn_blocking(move || ask(&*server, &call)).await;
                read(
                    called
                        .map_err(|died| ToolRefusal::fault(&format!("a call died: {died}")))??,
                )
            }
            Transport::InProcess(inside) => inside.send(request).await.map_err(refused),
        }
    }

    /// How a server that is lost comes back, in words.
    pub(super) fn way_back(&self) -> &'static str {
        match self {
            Transport::Http(server) => server.way_back(),
            Transport::InProcess(_) => "Wait again when it is back.",
        }
    }

    /// How long one question of a wait may be held.
    pub(super) fn slice(&self) -> Duration {
        match self {
            Transport::Http(_) => SLICE,
            // When the caller gives up, its request ends with it.
            Transport::InProcess(_) => Duration::from_secs(60),
        }
    }

    /// Whether the server is known to be there.
    pub(super) fn is_there(&self) -> bool {
        match self {
            Transport::Http(server) => server.url().is_some(),
            Transport::InProcess(_) => true,
        }
    }

    /// Where a person can watch a debate and rule.
    pub(super) fn url_of(&self, debate: &str) -> Option<String> {
        let base = match self {
            Transport::Http(server) => server.url()?,
            Transport::InProcess(inside) => inside.url.clone(),
        };
        Some(format!("{base}/debate/{debate}"))
    }
}

fn refused(trouble: Trouble) -> ToolRefusal {
    match trouble {
        Trouble::Refused(refused) | Trouble::Busy(refused, _) => ToolRefusal::of(*refused),
        Trouble::Unreachable(lost) => ToolRefusal::fault(&lost.why),
        Trouble::Stranger(why) | Trouble::Unreadable(why) => ToolRefusal::fault(&why),
    }
}

fn read<A: DeserializeOwned>(data: Data) -> Result<A, ToolRefusal> {
    match data.read() {
        Ok(reply) => Ok(reply.data),
        Err(Trouble::Unreadable(why)) => Err(ToolRefusal::unreadable(&why)),
        Err(trouble) => Err(refused(trouble)),
    }
}
