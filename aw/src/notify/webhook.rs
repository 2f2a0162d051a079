//! A webhook: the news as JSON, signed, sent again while the receiver is away.

use std::thread;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use ureq::Agent;

use crate::api::types::Notification;
use crate::settings::Webhook;

/// The pauses before each further try.
const PAUSES: [Duration; 4] = [
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(120),
];

/// How long one try may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sends news to a webhook.
pub(super) struct Sender {
    agent: Agent,
    target: Webhook,
}

/// What came of a try.
enum Tried {
    Taken,
    /// The receiver may take it later.
    Later(String),
    Refused(String),
}

impl Sender {
    pub(super) fn new(target: Webhook) -> Self {
        let is_https = target.url.starts_with("https://");
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // Plain HTTP stays on this machine.
            .proxy(if is_https { ureq::Proxy::try_from_env() } else { None })
            // The news are for this URL and for no other.
            .max_redirects(0)
            .timeout_global(Some(PATIENCE))
            .user_agent(concat!("aw/", env!("CARGO_PKG_VERSION")))
            .build();
        Sender { agent: config.into(), target }
    }

    /// Sends news, again and again while the receiver is away; logs it where nothing helps.
    pub(super) fn send(&self, news: &Notification) {
        let body = news.json(self.target.topic.as_deref());
        let host = self.target.host();
        let mut pauses = PAUSES.iter();
        loop {
            let why = match self.post(&body) {
                Tried::Taken => return,
                Tried::Refused(why) => {
                    tracing::warn!(host, why, "the webhook refused news");
                    return;
                }
                Tried::Later(why) => why,
            };
            let Some(pause) = pauses.next() else {
                tracing::warn!(host, why, "the webhook does not answer: news are left out");
                return;
            };
            thread::sleep(*pause);
        }
    }

    fn post(&self, body: &str) -> Tried {
        let mut request =
            self.agent.post(&self.target.url).header("Content-Type", "application/json");
        if let Some(secret) = &self.target.secret {
            request =
                request.header("X-Aw-Signature", format!("sha256={}", signature(secret, body)));
        }
        match request.send(body) {
            Ok(answer) => match answer.status().as_u16() {
                200..=299 => Tried::Taken,
                status @ (408 | 425 | 429 | 500..=599) => Tried::Later(format!("status {status}")),
                status => Tried::Refused(format!("status {status}")),
            },
            // Errors of ureq name the host and never the path.
            Err(error) => Tried::Later(error.to_string()),
        }
    }
}

/// The HMAC-SHA256 of the body, in hexadecimal digits.
fn signature(secret: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key of any length");
    mac.update(body.as_bytes());
    aw_core::Hash(mac.finalize().into_bytes().into()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_that_of_rfc_4231() {
        let signed = signature("Jefe", "what do ya want for nothing?");
        assert_eq!(signed, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }
}
