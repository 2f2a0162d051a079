//! The address of a record in PostgreSQL.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use super::tls::{Mode, Trust};

/// The address of a record in PostgreSQL. Its `Display` and `Debug` omit the password.
#[derive(Clone)]
pub struct PostgresUrl {
    pub(super) config: Arc<Config>,
    pub(super) trust: Trust,
}

impl FromStr for PostgresUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (text, trust) = without_trust(text)?;
        // The parser's message may contain the input, including the password.
        let mut config = text.parse::<Config>().map_err(|_| {
            "it is not a PostgreSQL URL such as \
             postgres://user:password@host:5432/database?sslmode=verify-full"
                .to_owned()
        })?;
        if config.get_hosts().is_empty() {
            return Err("the PostgreSQL URL names no host".to_owned());
        }
        config.ssl_mode(trust.ssl_mode());
        Ok(PostgresUrl { config: Arc::new(config), trust })
    }
}

impl PostgresUrl {
    /// The same with this password, if it has none.
    pub(crate) fn or_password(mut self, password: &str) -> Self {
        if self.config.get_password().is_none() {
            Arc::make_mut(&mut self.config).password(password);
        }
        self
    }
}

/// Removes the parameters about certificates, which the driver does not support.
fn without_trust(text: &str) -> Result<(String, Trust), String> {
    let mut trust = Trust::default();
    // The driver takes everything before the first `@` for the user and the password, so a `?` there
    // would begin the parameters here and not there: `sslmode` would be lost.
    if text.split_once('@').is_some_and(|(credentials, _)| credentials.contains('?')) {
        return Err(
            "the PostgreSQL URL has a ? before an @: write %3F for a ? in the user or the \
                    password, and %40 for an @ in a parameter"
                .to_owned(),
        );
    }
    let Some((address, parameters)) = text.split_once('?') else {
        return Ok((text.to_owned(), trust));
    };
    let mut others = Vec::new();
    for parameter in parameters.split('&') {
        let pair = parameter.split_once('=');
        let pair = pair.map(|(name, value)| (percent_decode_str(name).decode_utf8_lossy(), value));
        match pair.as_ref().map(|(name, value)| (name.as_ref(), *value)) {
            Some(("sslmode", mode)) => {
                trust.mode = Mode::named(mode).ok_or(
                    "its sslmode is none of disable, prefer, require, verify-ca and verify-full",
                )?;
            }
            Some(("sslrootcert", "system")) => trust.authorities = None,
            Some(("sslrootcert", path)) => {
                let path = percent_decode_str(path).decode_utf8_lossy();
                trust.authorities = Some(PathBuf::from(path.as_ref()));
            }
            _ => others.push(parameter),
        }
    }
    let others = others.join("&");
    Ok((if others.is_empty() { address.to_owned() } else { format!("{address}?{others}") }, trust))
}

impl fmt::Display for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        if let Some(user) = self.config.get_user() {
            write!(f, "{user}@")?;
        }
        let ports = self.config.get_ports();
        for (number, host) in self.config.get_hosts().iter().enumerate() {
            f.write_str(if number > 0 { "," } else { "" })?;
            match host {
                Host::Tcp(name) => f.write_str(name)?,
                #[cfg(unix)]
                Host::Unix(path) => write!(f, "{}", path.display())?,
            }
            if let Some(port) = ports.get(number).or(ports.first()) {
                write!(f, ":{port}")?;
            }
        }
        write!(f, "/{}", self.config.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use tokio_postgres::config::SslMode;

    use super::*;
    use crate::store::Place;

    #[test]
    fn a_place_never_shows_its_password() {
        let text = "postgres://an:s3cret@db.example:6000,other/debates?password=s3cret";
        let place: Place = text.parse().unwrap();
        assert_eq!(place.to_string(), "postgres://an@db.example:6000,other:5432/debates");
        assert!(!format!("{place:?}").contains("s3cret"));
        let wrong = "postgres://an:s3cret@db.example:many/debates".parse::<Place>().unwrap_err();
        assert!(!wrong.contains("s3cret"), "{wrong}");
        assert!("postgres://".parse::<Place>().is_err());
        for file in ["sqlite:/tmp/debate.db", "/tmp/debate.db"] {
            assert_eq!(file.parse::<Place>().unwrap().to_string(), "/tmp/debate.db");
        }
    }

    #[test]
    fn no_character_of_a_password_weakens_the_sslmode_of_its_url() {
        let end = "@db.example/debates?sslmode=require";
        for password in ["what?", "?", "a?b=c", "a?sslmode=disable", "a?b&sslmode=prefer"] {
            let refused = format!("postgres://an:{password}{end}").parse::<Place>().unwrap_err();
            assert!(refused.contains("%3F"), "{refused}");
            assert!(!refused.contains(password) || password == "?", "{refused}");
        }
        let refused = "postgres://db.example/debates?sslmode=require&application_name=a@b"
            .parse::<Place>()
            .unwrap_err();
        assert!(refused.contains("%40"), "{refused}");
        for text in [
            format!("postgres://an:what%3F{end}"),
            format!("postgres://an:a/b&sslmode=disable{end}"),
            format!("postgres://an{end}&application_name=a@b"),
            "postgres://an@db.example/debates?ssl%6dode=require".to_owned(),
        ] {
            let url: PostgresUrl = text.parse().unwrap();
            assert_eq!(url.trust.mode, Mode::Require, "{text}");
            assert_eq!(url.config.get_ssl_mode(), SslMode::Require, "{text}");
        }
    }

    #[test]
    fn the_url_sets_how_certificates_are_checked() {
        let trust = |parameters: &str| {
            format!("postgres://an@db/x{parameters}").parse::<PostgresUrl>().map(|url| url.trust)
        };
        let mode = |mode| Ok(Trust { mode, authorities: None });
        assert_eq!(trust(""), mode(Mode::Prefer));
        assert_eq!(trust("?sslmode=disable"), mode(Mode::Disable));
        assert_eq!(trust("?application_name=x&sslmode=require"), mode(Mode::Require));
        assert_eq!(trust("?sslmode=verify-full&sslrootcert=system"), mode(Mode::VerifyFull));
        let (mode, authorities) = (Mode::VerifyCa, Some(PathBuf::from("/etc/ssl/our ca.pem")));
        assert_eq!(
            trust("?sslmode=verify-ca&sslrootcert=/etc/ssl/our%20ca.pem&connect_timeout=3"),
            Ok(Trust { mode, authorities })
        );
        let refused = trust("?sslmode=always").unwrap_err();
        assert!(refused.contains("verify-full"), "{refused}");
        assert!(trust("?sslcert=x").is_err(), "an unknown parameter is refused");
    }
}
