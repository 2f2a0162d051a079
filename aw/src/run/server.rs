//! Sends the requests of a run. If the server is lost, tries again for ten minutes.

use std::thread;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use crate::api::client::{Call, Request};
use crate::api::error::Code;
use crate::api::http::{Data, Trouble};

/// How long a lost server is tried again.
const PATIENCE: Duration = Duration::from_secs(600);

/// The pause between two tries.
const PAUSE: Duration = Duration::from_secs(1);

/// The connection to the server. Finds a lost server of this machine again, or starts it.
pub trait Line: Send + Sync {
    /// Sends a request, which the server may hold for this long.
    fn data(&self, call: &Call, held: Duration) -> Result<Data, Trouble>;

    /// Sends a request whose answer is not in the envelope.
    fn raw(&self, call: &Call) -> Result<Vec<u8>, Trouble>;

    /// The page of a debate.
    fn url_of(&self, debate: &str) -> String;
}

/// Sends a request and reads its answer, with retries while the server is lost. `goes_on`: whether
/// the user still wants it.
pub(super) fn ask<A: DeserializeOwned>(
    line: &dyn Line,
    request: &Request<A>,
    goes_on: &dyn Fn() -> bool,
) -> Result<A, Trouble> {
    patiently(goes_on, || {
        line.data(request.call(), Duration::ZERO)?.read::<A>().map(|reply| reply.data)
    })
}

/// The same for an answer that is not in the envelope.
pub(super) fn ask_raw(
    line: &dyn Line,
    request: &Request<Vec<u8>>,
    goes_on: &dyn Fn() -> bool,
) -> Result<Vec<u8>, Trouble> {
    patiently(goes_on, || line.raw(request.call()))
}

fn patiently<T>(
    goes_on: &dyn Fn() -> bool,
    mut once: impl FnMut() -> Result<T, Trouble>,
) -> Result<T, Trouble> {
    let began = Instant::now();
    loop {
        let answer = once();
        let passes = match &answer {
            Err(Trouble::Unreachable(_) | Trouble::Busy(..)) => true,
            Err(trouble) => trouble.code().is_some_and(Code::is_passing),
            Ok(_) => false,
        };
        if !passes || began.elapsed() > PATIENCE || !goes_on() {
            return answer;
        }
        thread::sleep(PAUSE);
    }
}
