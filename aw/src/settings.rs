//! Settings: flag, then environment, then `config.toml`, then default; settled once.

use std::fs;
use std::io::{ErrorKind, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Deserialize;
use uuid::Uuid;

use crate::server::{Guard, Limits, PublicUrl};

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
        let home = Home::settle(environment)?;
        let config = home.config()?;
        let set = |name: &str| environment(name).filter(|value| !value.is_empty());

        let listen = flags.listen.or_else(|| set("AW_LISTEN")).or(config.listen);
        let listen: SocketAddr =
            parsed("listen address", listen.as_deref().unwrap_or("127.0.0.1:3456"))?;

        let database = flags.database.or_else(|| set("AW_DATABASE_URL")).or(config.database);
        let database = match database {
            None => home.path.join("db").join("debate.db"),
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
        let public = public
            .iter()
            .filter(|url| !url.is_empty())
            .map(|url| parsed::<PublicUrl>("public URL", url))
            .collect::<Result<_, _>>()?;
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

/// The data folder: `AWEAVE_HOME`, or `~/.aweave`.
#[derive(Debug, Clone)]
pub struct Home {
    path: PathBuf,
}

impl Home {
    fn settle(environment: Environment<'_>) -> Result<Self, BadSetting> {
        let set = |name: &str| environment(name).filter(|value| !value.is_empty());
        let path = match set("AWEAVE_HOME") {
            Some(path) => PathBuf::from(path),
            None => PathBuf::from(set("HOME").ok_or(BadSetting::NoHome)?).join(".aweave"),
        };
        Ok(Home { path })
    }

    fn config(&self) -> Result<Config, BadSetting> {
        let path = self.path.join("config.toml");
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

    /// The id of this folder, made on first use: tells the servers of different folders apart.
    pub fn id(&self) -> Result<String, BadSetting> {
        let path = self.path.join("home_id");
        let io = |source| BadSetting::File { path: path.clone(), source };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.path).map_err(io)?;
        match make_private(&path) {
            Ok(mut file) => {
                let id = Uuid::new_v4().to_string();
                file.write_all(id.as_bytes()).map_err(io)?;
                Ok(id)
            }
            Err(there) if there.kind() == ErrorKind::AlreadyExists => {
                fs::read_to_string(&path).map(|id| id.trim().to_owned()).map_err(io)
            }
            Err(source) => Err(io(source)),
        }
    }
}

fn make_private(path: &Path) -> std::io::Result<fs::File> {
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn the_id_of_a_folder_stays() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home { path: folder.path().join("new") };
        assert_eq!(home.id().unwrap(), home.id().unwrap());
    }
}
