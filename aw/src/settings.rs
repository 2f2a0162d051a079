//! Settings: flag, then environment, then `config.toml`, then default; settled once.

use std::fs;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;

use crate::home::Home;
use crate::server::{Guard, Limits, PublicUrl};

/// Where a server listens unless told otherwise.
const USUAL_LISTEN: &str = "127.0.0.1:3456";

/// Where the environment is read.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What was typed.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// `--listen`
    pub listen: Option<String>,
    /// `--database`
    pub database: Option<String>,
}

/// What a server is started with.
#[derive(Debug)]
pub struct ServerSettings {
    /// The data folder.
    pub home: Home,
    /// Where it listens.
    pub listen: SocketAddr,
    /// The SQLite file.
    pub database: PathBuf,
    /// Whom it lets in.
    pub guard: Guard,
    /// How much it takes on.
    pub limits: Limits,
}

/// A setting that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadSetting {
    /// Its value makes no sense.
    #[error("{name}: {why}")]
    Value {
        /// What it is called where it was set.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// The server would be open to the network.
    #[error(
        "refusing to listen on {listen}, which others can reach, without a token: \
         set AW_AUTH_TOKEN, or listen on 127.0.0.1"
    )]
    OpenToAll {
        /// The address.
        listen: SocketAddr,
    },
    /// There is no home folder.
    #[error("there is no home folder: set AWEAVE_HOME")]
    NoHome,
    /// A file could not be read or made.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// `config.toml`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Config {
    listen: Option<String>,
    database: Option<String>,
    public_url: Option<OneOrMany>,
    auth_token: Option<String>,
    content_limit: Option<usize>,
    document_limit: Option<usize>,
    max_waits: Option<usize>,
    max_sockets: Option<usize>,
    max_connections: Option<usize>,
    server_url: Option<String>,
    wait_deadline: Option<f64>,
    patience: Option<f64>,
    author: Option<String>,
    autostart: Option<bool>,
    debate_language: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl ServerSettings {
    /// Settles what a server is started with.
    pub fn settle(flags: Flags, environment: Environment<'_>) -> Result<Self, BadSetting> {
        let home = home(environment)?;
        let config = Config::read(&home)?;
        let set = |name: &str| environment(name).filter(|value| !value.is_empty());

        let listen = flags.listen.or_else(|| set("AW_LISTEN")).or(config.listen);
        let listen: SocketAddr =
            parsed("listen address", listen.as_deref().unwrap_or(USUAL_LISTEN))?;

        let database = flags.database.or_else(|| set("AW_DATABASE_URL")).or(config.database);
        let database = match database {
            None => home.database(),
            Some(url) if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
                let why = "this version keeps its record in SQLite only: give a file".to_owned();
                return Err(BadSetting::Value { name: "database".to_owned(), why });
            }
            Some(path) => PathBuf::from(path.strip_prefix("sqlite:").unwrap_or(&path)),
        };

        let public = match (set("AW_PUBLIC_URL"), config.public_url) {
            (Some(several), _) => several.split([',', ' ']).map(str::to_owned).collect(),
            (None, Some(OneOrMany::One(one))) => vec![one],
            (None, Some(OneOrMany::Many(many))) => many,
            (None, None) => Vec::new(),
        };
        let mut public: Vec<PublicUrl> = public
            .iter()
            .filter(|url| !url.is_empty())
            .map(|url| parsed("public URL", url))
            .collect::<Result<_, _>>()?;
        if !listen.ip().is_loopback() && !listen.ip().is_unspecified() {
            // Its own address is a name of it too; nobody can point another name at a number.
            public.push(parsed("listen address", &format!("http://{listen}"))?);
        }
        let guard = Guard { token: set("AW_AUTH_TOKEN").or(config.auth_token), public };
        if !listen.ip().is_loopback() && guard.token.is_none() {
            return Err(BadSetting::OpenToAll { listen });
        }

        let usual = Limits::default();
        let limit = |name: &str, in_file: Option<usize>, usual: usize| match set(name) {
            Some(text) => parsed(name, &text),
            None => Ok(in_file.unwrap_or(usual)),
        };
        let limits = Limits {
            content_bytes: limit("AW_CONTENT_LIMIT", config.content_limit, usual.content_bytes)?,
            document_bytes: limit(
                "AW_DOCUMENT_LIMIT",
                config.document_limit,
                usual.document_bytes,
            )?,
            held_waits: limit("AW_MAX_WAITS", config.max_waits, usual.held_waits)?,
            sockets: limit("AW_MAX_SOCKETS", config.max_sockets, usual.sockets)?,
            connections: limit("AW_MAX_CONNECTIONS", config.max_connections, usual.connections)?,
        };
        Ok(ServerSettings { home, listen, database, guard, limits })
    }
}

fn parsed<T: FromStr<Err: std::fmt::Display>>(name: &str, text: &str) -> Result<T, BadSetting> {
    text.parse().map_err(|error: T::Err| BadSetting::Value {
        name: name.to_owned(),
        why: format!("{text:?}: {error}"),
    })
}

/// What a client command is run with.
#[derive(Debug)]
pub struct ClientSettings {
    /// The data folder.
    pub home: Home,
    /// The server that was named, which is never started by itself.
    pub server_url: Option<String>,
    /// Where a server of one's own listens.
    pub listen: SocketAddr,
    /// Sent to the server.
    pub token: Option<String>,
    /// How long a wait lasts unless told otherwise.
    pub deadline: Duration,
    /// How long an agent should go on waiting.
    pub patience: Duration,
    /// A label on what is written.
    pub author: Option<String>,
    /// Whether a missing server is started.
    pub autostart: bool,
    /// The language that agents debate in, by its name.
    pub debate_language: String,
}

impl ClientSettings {
    /// Settles what a client command is run with.
    pub fn settle(environment: Environment<'_>) -> Result<Self, BadSetting> {
        let home = home(environment)?;
        let config = Config::read(&home)?;
        let set = |name: &str| environment(name).filter(|value| !value.is_empty());
        let number = |name: &str, in_file: Option<f64>, usual: f64| -> Result<f64, BadSetting> {
            let value = match set(name) {
                Some(text) => parsed(name, &text)?,
                None => in_file.unwrap_or(usual),
            };
            if value.is_finite() && (0.0..1e9).contains(&value) {
                return Ok(value);
            }
            let why = "must be a number that is not negative".to_owned();
            Err(BadSetting::Value { name: name.to_owned(), why })
        };
        let server_url = set("DEBATE_SERVER_URL").or(config.server_url);
        if let Some(url) = &server_url {
            parsed::<PublicUrl>("DEBATE_SERVER_URL", url)?;
        }
        let listen = set("AW_LISTEN").or(config.listen);
        let autostart = match set("AW_AUTOSTART").as_deref() {
            None => config.autostart.unwrap_or(true),
            Some(text) => !matches!(text, "0" | "false" | "no" | "off"),
        };
        Ok(ClientSettings {
            server_url: server_url.map(|url| url.trim_end_matches('/').to_owned()),
            listen: parsed("listen address", listen.as_deref().unwrap_or(USUAL_LISTEN))?,
            token: set("DEBATE_AUTH_TOKEN").or_else(|| set("AW_AUTH_TOKEN")).or(config.auth_token),
            deadline: Duration::from_secs_f64(number(
                "DEBATE_WAIT_DEADLINE",
                config.wait_deadline,
                110.0,
            )?),
            patience: Duration::from_secs_f64(60.0 * number("AW_PATIENCE", config.patience, 30.0)?),
            author: set("AW_AUTHOR").or(config.author),
            autostart,
            debate_language: language(config.debate_language.as_deref().unwrap_or("en"))?,
            home,
        })
    }
}

/// The name of a language, which goes into the texts that agents read.
fn language(text: &str) -> Result<String, BadSetting> {
    match text {
        "en" => Ok("English".to_owned()),
        "vi" => Ok("Vietnamese".to_owned()),
        other => {
            let is_name = |c: char| c.is_alphabetic() || " ()-".contains(c);
            let fits = !other.trim().is_empty() && other.chars().count() <= 40;
            if fits && other.chars().all(is_name) {
                return Ok(other.to_owned());
            }
            let why = format!("{other:?} is not a language: write en, vi or a name such as German");
            Err(BadSetting::Value { name: "debate_language".to_owned(), why })
        }
    }
}

/// Where a server that listens here is called from this machine: one that listens everywhere is
/// known by its loopback name.
pub fn reachable(listen: SocketAddr) -> SocketAddr {
    let loopback: IpAddr = match listen.ip() {
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    let ip = if listen.ip().is_unspecified() { loopback } else { listen.ip() };
    SocketAddr::new(ip, listen.port())
}

fn home(environment: Environment<'_>) -> Result<Home, BadSetting> {
    let set = |name: &str| environment(name).filter(|value| !value.is_empty());
    match set("AWEAVE_HOME") {
        Some(path) => Ok(Home::at(path)),
        None => {
            let user = set("HOME").ok_or(BadSetting::NoHome)?;
            Ok(Home::at(PathBuf::from(user).join(".aweave")))
        }
    }
}

impl Config {
    fn read(home: &Home) -> Result<Self, BadSetting> {
        let path = home.config();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(missing) if missing.kind() == ErrorKind::NotFound => return Ok(Config::default()),
            Err(source) => return Err(BadSetting::File { path, source }),
        };
        toml::from_str(&text).map_err(|error| BadSetting::Value {
            name: path.display().to_string(),
            why: error.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn settle(
        home: &Path,
        flags: Flags,
        set: &[(&str, &str)],
    ) -> Result<ServerSettings, BadSetting> {
        let environment = |name: &str| {
            let home = ("AWEAVE_HOME", home.to_str().unwrap());
            let mut all = set.iter().chain([&home]);
            all.find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        ServerSettings::settle(flags, &environment)
    }

    #[test]
    fn a_flag_beats_the_environment_which_beats_the_file_which_beats_the_default() {
        let home = tempfile::tempdir().unwrap();
        let port = |flags: Flags, set: &[(&str, &str)]| {
            settle(home.path(), flags, set).unwrap().listen.port()
        };
        let typed = || Flags { listen: Some("127.0.0.1:4".to_owned()), ..Flags::default() };
        assert_eq!(port(Flags::default(), &[]), 3456);
        fs::write(home.path().join("config.toml"), "listen = '127.0.0.1:2'").unwrap();
        assert_eq!(port(Flags::default(), &[]), 2);
        assert_eq!(port(Flags::default(), &[("AW_LISTEN", "127.0.0.1:3")]), 3);
        assert_eq!(port(typed(), &[("AW_LISTEN", "127.0.0.1:3")]), 4);
    }

    #[test]
    fn listening_beyond_loopback_wants_a_token() {
        let home = tempfile::tempdir().unwrap();
        let open = ("AW_LISTEN", "0.0.0.0:3456");
        let refused = settle(home.path(), Flags::default(), &[open]).unwrap_err();
        assert!(refused.to_string().contains("AW_AUTH_TOKEN"), "{refused}");
        let allowed = settle(home.path(), Flags::default(), &[open, ("AW_AUTH_TOKEN", "t")]);
        assert_eq!(allowed.unwrap().guard.token.as_deref(), Some("t"));
    }

    #[test]
    fn a_setting_that_makes_no_sense_is_named() {
        let home = tempfile::tempdir().unwrap();
        for (set, named) in [
            (("AW_LISTEN", "3456"), "listen address"),
            (("AW_PUBLIC_URL", "example.org"), "public URL"),
            (("AW_MAX_WAITS", "many"), "AW_MAX_WAITS"),
            (("AW_DATABASE_URL", "postgres://x"), "database"),
        ] {
            let refused = settle(home.path(), Flags::default(), &[set]).unwrap_err();
            assert!(refused.to_string().starts_with(named), "{refused}");
        }
        fs::write(home.path().join("config.toml"), "lisen = 'x'").unwrap();
        let refused = settle(home.path(), Flags::default(), &[]).unwrap_err();
        assert!(refused.to_string().contains("lisen"), "{refused}");
    }
}
