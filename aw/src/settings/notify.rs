//! `[notify]`: how people are notified when a debate needs a ruling, or is closed.

use std::fmt;
use std::path::Path;

use serde::Deserialize;
use ureq::tls::{Certificate, PemItem, parse_pem};

use super::{BadSetting, switch};
use crate::files;

/// The shortest secret of a webhook.
const SHORTEST_SECRET: usize = 16;

/// The longest file of authorities.
const LONGEST_AUTHORITIES: u64 = 1 << 20;

/// `[notify]` in `config.toml`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct NotifyConfig {
    desktop: Option<bool>,
    webhook: Option<String>,
    secret: Option<String>,
    topic: Option<String>,
    authorities: Option<String>,
}

/// How people are notified.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotifySettings {
    /// The desktop of the user whose server it is.
    pub desktop: bool,
    /// A program that takes HTTP requests.
    pub webhook: Option<Webhook>,
}

/// A program that takes HTTP requests.
#[derive(Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Its URL, which may contain a secret of its own.
    pub url: String,
    /// The key of the signature.
    pub secret: Option<String>,
    /// The topic that ntfy asks for.
    pub topic: Option<String>,
    /// The authorities that issue its certificate, in PEM; none for the public authorities.
    pub authorities: Option<String>,
}

impl Webhook {
    /// The certificates of its own authorities; none for the public authorities.
    pub fn certificates(&self) -> Option<Vec<Certificate<'static>>> {
        self.authorities.as_deref().map(certificates)
    }

    /// The host, which can be logged.
    pub fn host(&self) -> &str {
        host(&self.url)
    }
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").field("host", &self.host()).finish_non_exhaustive()
    }
}

/// Reads the settings: the environment, then the file.
pub(super) fn load(
    set: &dyn Fn(&str) -> Option<String>,
    config: Option<NotifyConfig>,
) -> Result<NotifySettings, BadSetting> {
    let wrong = |name: &str, why: &str| {
        Err(BadSetting::Value { name: format!("notify.{name}"), why: why.to_owned() })
    };
    let config = config.unwrap_or_default();
    let desktop = match set("AW_NOTIFY_DESKTOP").as_deref() {
        None => config.desktop.unwrap_or(false),
        Some(text) => switch("AW_NOTIFY_DESKTOP", text)?,
    };
    let secret = set("AW_NOTIFY_SECRET").or(config.secret);
    if secret.as_ref().is_some_and(|secret| secret.len() < SHORTEST_SECRET) {
        return wrong("secret", "it is too short: write at least 16 characters");
    }
    let topic = set("AW_NOTIFY_TOPIC").or(config.topic);
    let authorities = set("AW_NOTIFY_AUTHORITIES").or(config.authorities);
    let webhook = set("AW_NOTIFY_WEBHOOK").or(config.webhook).filter(|url| !url.is_empty());
    let Some(url) = webhook else {
        return match (&secret, &topic, &authorities) {
            (None, None, None) => Ok(NotifySettings { desktop, webhook: None }),
            (Some(_), ..) => {
                wrong("secret", "there is no webhook: write webhook = \"https://…\" too")
            }
            (None, Some(_), _) => {
                wrong("topic", "there is no webhook: write webhook = \"https://ntfy.sh\" too")
            }
            (None, None, Some(_)) => {
                wrong("authorities", "there is no webhook: write webhook = \"https://…\" too")
            }
        };
    };
    // Without the URL: it may contain a secret.
    let is_text = url.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_text || host(&url).is_empty() || url.contains('#') {
        return wrong("webhook", "it is no URL: write webhook = \"https://hooks.example.org/…\"");
    }
    if authority(&url).contains('@') {
        return wrong("webhook", "it has a user or a password: write the URL without");
    }
    let is_loopback = matches!(host(&url), "localhost" | "[::1]") || {
        host(&url).parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback())
    };
    let is_safe = url.starts_with("https://") || url.starts_with("http://") && is_loopback;
    if !is_safe {
        return wrong(
            "webhook",
            "others could read it on the way: write https://, or http:// and a loopback address",
        );
    }
    let authorities = match authorities.as_deref().map(|path| read_authorities(Path::new(path))) {
        None => None,
        Some(Ok(pem)) => Some(pem),
        Some(Err(why)) => return wrong("authorities", &why),
    };
    Ok(NotifySettings { desktop, webhook: Some(Webhook { url, secret, topic, authorities }) })
}

/// The text of a file with certificates.
fn read_authorities(path: &Path) -> Result<String, String> {
    let wrong = |why: &str| format!("{}: {why}", path.display());
    if !path.is_absolute() {
        return Err(wrong("it is no absolute path: write authorities = \"/etc/ssl/our-ca.pem\""));
    }
    let pem =
        files::read_text(path, LONGEST_AUTHORITIES).map_err(|error| wrong(&error.to_string()))?;
    match certificates(&pem).is_empty() {
        true => Err(wrong("there is no certificate in it: write the path of a PEM file")),
        false => Ok(pem),
    }
}

fn certificates(pem: &str) -> Vec<Certificate<'static>> {
    let items = parse_pem(pem.as_bytes()).flatten();
    let found = items.filter_map(|item| match item {
        PemItem::Certificate(certificate) => Some(certificate),
        _ => None,
    });
    found.collect()
}

/// The part of a URL that names the server.
fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

fn host(url: &str) -> &str {
    let authority = authority(url);
    match authority.rfind(']') {
        Some(end) => &authority[..=end],
        None => authority.split(':').next().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(lines: &str) -> Result<NotifySettings, String> {
        let config = toml::from_str(lines).unwrap();
        load(&|_| None, Some(config)).map_err(|bad| bad.to_string())
    }

    #[test]
    fn nobody_is_told_by_default_and_the_environment_beats_the_file() {
        assert_eq!(loaded("").unwrap(), NotifySettings::default());
        let set = |name: &str| match name {
            "AW_NOTIFY_WEBHOOK" => Some("https://other.example.org".to_owned()),
            "AW_NOTIFY_DESKTOP" => Some("0".to_owned()),
            _ => None,
        };
        let config = toml::from_str("desktop = true\nwebhook = 'https://example.org'").unwrap();
        let settings = load(&set, Some(config)).unwrap();
        assert!(!settings.desktop);
        assert_eq!(settings.webhook.unwrap().host(), "other.example.org");
    }

    #[test]
    fn a_webhook_is_https_or_on_this_machine() {
        for good in [
            "https://example.org/x?y=1",
            "http://127.0.0.1:80/x",
            "http://localhost:9",
            "http://[::1]:9/",
        ] {
            let settings = loaded(&format!("webhook = '{good}'")).unwrap();
            assert_eq!(settings.webhook.unwrap().url, good);
        }
        for (bad, said) in [
            ("http://example.org", "others could read it on the way"),
            ("http://127.0.0.1.example.org", "others could read it on the way"),
            ("http://localhost.example.org", "others could read it on the way"),
            ("ftp://127.0.0.1", "others could read it on the way"),
            ("https://user:secret@example.org", "it has a user or a password"),
            ("http://127.0.0.1@example.org", "it has a user or a password"),
            ("https:///path", "it is no URL"),
            ("example.net", "it is no URL"),
            ("https://exa mple.org", "it is no URL"),
        ] {
            let why = loaded(&format!("webhook = '{bad}'")).unwrap_err();
            assert!(why.contains(said) && !why.contains(bad), "{bad}: {why}");
        }
        assert!(
            loaded("webhook = 'https://example.org'\nsecret = 'short'").unwrap_err().contains("16")
        );
        assert!(loaded("secret = 'a secret of some length'").unwrap_err().contains("webhook"));
        assert!(loaded("topic = 'x'").unwrap_err().contains("webhook"));
        assert!(loaded("authorities = '/x'").unwrap_err().contains("webhook"));
    }

    #[test]
    fn authorities_are_a_file_with_certificates() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("empty.pem");
        std::fs::write(&path, "no certificate").unwrap();
        let missing = folder.path().join("missing.pem");
        for (path, said) in [
            ("our.pem", "absolute path"),
            (path.to_str().unwrap(), "there is no certificate in it"),
            (missing.to_str().unwrap(), "No such file"),
        ] {
            let lines = format!("webhook = 'https://example.org'\nauthorities = '{path}'");
            let why = loaded(&lines).unwrap_err();
            assert!(why.contains(said) && why.contains(path), "{why}");
        }
    }
}
