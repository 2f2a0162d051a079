//! A webhook: sends the news as signed JSON, with retries while the receiver is unreachable.

use std::io::ErrorKind;
use std::thread;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

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

/// The result of a try.
enum Tried {
    Taken,
    /// The receiver may take it later.
    Later(String),
    Refused(String),
}

impl Sender {
    pub(super) fn new(target: Webhook) -> Self {
        let is_https = target.url.starts_with("https://");
        // Plain HTTP stays on this machine.
        Self::through(if is_https { ureq::Proxy::try_from_env() } else { None }, target)
    }

    fn through(proxy: Option<ureq::Proxy>, target: Webhook) -> Self {
        let roots = target.certificates().map_or(RootCerts::WebPki, RootCerts::from);
        let config = Agent::config_builder()
            .tls_config(TlsConfig::builder().root_certs(roots).build())
            .http_status_as_error(false)
            .proxy(proxy)
            // A redirect is not followed: the news are for this URL alone.
            .max_redirects(0)
            .timeout_global(Some(PATIENCE))
            .user_agent(concat!("aw/", env!("CARGO_PKG_VERSION")))
            .build();
        Sender { agent: config.into(), target }
    }

    /// Sends news, with retries. Logs it if none succeeds.
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
            // What came is not TLS, or the certificate is not trusted.
            Err(ureq::Error::Io(error)) if error.kind() == ErrorKind::InvalidData => {
                Tried::Refused(error.to_string())
            }
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
    use std::io::Read;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn news_for_an_https_url_go_through_tls_or_not_at_all() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://{}/hook", listener.local_addr().unwrap());
        let receiver = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut sent = [0; 2048];
            let read = stream.read(&mut sent).unwrap();
            sent[..read].to_vec()
        });
        let sender =
            Sender::through(None, Webhook { url, secret: None, topic: None, authorities: None });
        assert!(matches!(sender.post("news"), Tried::Later(_)), "the receiver hangs up");
        let sent = receiver.join().unwrap();
        assert_eq!(sent[..2], [0x16, 3], "a handshake of TLS");
        assert!(!sent.windows(4).any(|bytes| bytes == b"news"));
    }

    #[test]
    fn the_signature_is_that_of_rfc_4231() {
        let signed = signature("Jefe", "what do ya want for nothing?");
        assert_eq!(signed, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }
}
