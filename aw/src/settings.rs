//! Settings. A flag beats the environment, which beats `config.toml`, which beats the default.

mod agent_programs;
mod backup;
mod guard;
mod limits;
mod mistakes;
mod notify;
mod older;
mod run;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use aw_record::Place;
use serde::Deserialize;

pub use agent_programs::{is_run_by_agent, is_set_by_agent_program};
pub use backup::BackupSettings;
pub use guard::{Guard, Key, PublicUrl};
pub use limits::{Limits, Pace, Rates};
pub use notify::{NotifySettings, Webhook};
pub use older::Ignored;
pub use run::{AgentSettings, RunDefaults, RunSettings};

use agent_programs::agent_program;
use notify::NotifyConfig;

use crate::data_dir::DataDir;

/// The default address of a server.
const USUAL_LISTEN: &str = "127.0.0.1:3456";

/// The default deadline of a wait.
const USUAL_DEADLINE: Duration = Duration::from_secs(110);

/// The default time for an agent to go on waiting.
pub const USUAL_PATIENCE: Duration = Duration::from_secs(30 * 60);

/// Looks up a variable of the environment.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The prefixes of our variables.
const OURS: [&str; 3] = ["AW_", "AWEAVE_", "DEBATE_"];

/// The variable with the password of a PostgreSQL, as other clients of PostgreSQL name it.
pub const PASSWORD: &str = "PGPASSWORD";

/// The environment of this process. A variable of ours, or one of `others`, that is not UTF-8 is an
/// error: otherwise it would count as not set, and a server might start without its token.
pub fn environment(others: &[&str]) -> Result<impl Fn(&str) -> Option<String>, BadSetting> {
    must_be_text(std::env::vars_os(), others)?;
    Ok(|name: &str| std::env::var(name).ok())
}

fn must_be_text(
    variables: impl Iterator<Item = (OsString, OsString)>,
    others: &[&str],
) -> Result<(), BadSetting> {
    for (name, value) in variables {
        let name = name.to_string_lossy().into_owned();
        let is_read = OURS.iter().any(|start| name.starts_with(start));
        if (is_read || others.contains(&name.as_str())) && value.to_str().is_none() {
            return Err(BadSetting::Value { name, why: "it is not UTF-8".to_owned() });
        }
    }
    Ok(())
}

/// The flags of the command line.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// `--listen`
    pub listen: Option<String>,
    /// `--database`
    pub database: Option<String>,
    /// `--auth`
    pub auth: bool,
}

/// The settings of a server.
#[derive(Debug)]
pub struct ServerSettings {
    /// The data folder.
    pub home: DataDir,
    /// The address that it listens on.
    pub listen: SocketAddr,
    /// The database of the record: a SQLite file or PostgreSQL.
    pub database: Place,
    /// The document databases of the older system.
    pub docstores: Vec<PathBuf>,
    /// Settings of the older system that have no effect.
    pub ignored: Vec<Ignored>,
    /// The callers that it accepts.
    pub guard: Guard,
    /// Its limits.
    pub limits: Limits,
    /// Its scheduled backups.
    pub backups: BackupSettings,
    /// The time for an agent to go on waiting.
    pub patience: Duration,
    /// The name of the language that agents debate in.
    pub debate_language: String,
    /// How people are notified when a debate needs a ruling, or is closed.
    pub notify: NotifySettings,
}

/// A setting that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadSetting {
    /// Its value is not valid.
    #[error("{name}: {why}")]
    Value {
        /// The name of the setting.
        name: String,
        /// The fault of the value.
        why: String,
    },
    /// There is no home folder.
    #[error("there is no home folder: set AWEAVE_HOME")]
    NoHome,
    /// A file cannot be read or made.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
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
    auth: Option<String>,
    auth_token: Option<String>,
    content_limit: Option<usize>,
    document_limit: Option<usize>,
    backup_every: Option<String>,
    backup_keep: Option<u64>,
    max_debates: Option<u64>,
    max_documents: Option<u64>,
    max_waits: Option<usize>,
    max_waits_per_token: Option<usize>,
    max_sockets: Option<usize>,
    max_sockets_per_token: Option<usize>,
    max_connections: Option<usize>,
    max_long_answers: Option<usize>,
    token_rate: Option<f64>,
    token_burst: Option<u32>,
    address_rate: Option<f64>,
    address_burst: Option<u32>,
    wrong_token_rate: Option<f64>,
    wrong_token_burst: Option<u32>,
    server_url: Option<String>,
    wait_deadline: Option<f64>,
    patience: Option<f64>,
    author: Option<String>,
    autostart: Option<bool>,
    format: Option<AnswerFormat>,
    debate_language: Option<String>,
    run_keep_days: Option<u64>,
    run: Option<RunDefaults>,
    notify: Option<NotifyConfig>,
    agents: Option<BTreeMap<String, AgentSettings>>,
}

/// How a command shows its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerFormat {
    /// One JSON object, for agents.
    Json,
    /// Readable text, for people.
    Markdown,
}

impl AnswerFormat {
    /// All formats.
    pub const ALL: [AnswerFormat; 2] = [AnswerFormat::Json, AnswerFormat::Markdown];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            AnswerFormat::Json => "json",
            AnswerFormat::Markdown => "markdown",
        }
    }
}

/// The format that `AW_FORMAT` or `config.toml` sets, if any. A file that cannot be read sets none here: the
/// command reports it when it reads its other settings.
pub fn answer_format(environment: Environment<'_>) -> Result<Option<AnswerFormat>, BadSetting> {
    if let Some(set) = environment("AW_FORMAT").filter(|set| !set.is_empty()) {
        let known =
            AnswerFormat::ALL.into_iter().find(|format| set.eq_ignore_ascii_case(format.as_str()));
        return known.map(Some).ok_or_else(|| BadSetting::Value {
            name: "AW_FORMAT".to_owned(),
            why: format!("{set:?} is no format: write json or markdown"),
        });
    }
    let config = home(environment).and_then(|home| Config::read(&home));
    Ok(config.ok().and_then(|config| config.format))
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl ServerSettings {
    /// Reads the settings of a server.
    pub fn load(flags: Flags, environment: Environment<'_>) -> Result<Self, BadSetting> {
        let home = home(environment)?;
        let config = Config::read(&home)?;
        let set = |name: &str| environment(name).filter(|value| !value.is_empty());
        let limits = limits::load(&config, &set)?;
        let every = set("AW_BACKUP_EVERY").or_else(|| config.backup_every.clone());
        let keep = config.backup_keep.map(|keep| keep.to_string());
        let keep = set("AW_BACKUP_KEEP").or(keep);
        let backups = backup::load(every.as_deref(), keep.as_deref())?;

        let listen = flags.listen.or_else(|| set("AW_LISTEN")).or(config.listen);
        let listen = listen_address(listen.as_deref().unwrap_or(USUAL_LISTEN))?;

        // The documents in the data folder belong to its own record.
        let mut docstores = match flags.database {
            Some(_) => Vec::new(),
            None => vec![older::docstore(&set, &home)],
        };
        let database = flags.database.or_else(|| set("AW_DATABASE_URL")).or(config.database);
        let database: Place = match database {
            None => older::database(&set, &home).unwrap_or_else(|| home.database()).into(),
            Some(text) => with_password(place(&text)?, environment),
        };

        if let Place::File(path) = &database {
            let beside = path.with_file_name("docstore.db");
            docstores.extend((!docstores.contains(&beside)).then_some(beside));
        }

        let public = match (set("AW_PUBLIC_URL"), config.public_url) {
            (Some(several), _) => several.split([',', ' ']).map(str::to_owned).collect(),
            (None, Some(OneOrMany::One(one))) => vec![one],
            (None, Some(OneOrMany::Many(many))) => many,
            (None, None) => Vec::new(),
        };
        let mut public: Vec<PublicUrl> = public
            .iter()
            .filter(|url| !url.is_empty())
            .map(|url| public_url("public URL", url))
            .collect::<Result<_, _>>()?;
        if !listen.ip().is_loopback() && !listen.ip().is_unspecified() {
            // Its own address is also a name of it. DNS cannot point another name at an IP address.
            public.push(public_url("listen address", &format!("http://{listen}"))?);
        }
        // An empty token would accept every request without one.
        let in_file = config.auth_token.filter(|token| !token.trim().is_empty());
        let shared = set("AW_AUTH_TOKEN").or(in_file);
        let asked = match set("AW_AUTH").or(config.auth).as_deref() {
            None | Some("off") => false,
            Some("required") => true,
            Some(other) => {
                let why = format!("{other:?} is neither \"required\" nor \"off\"");
                return Err(BadSetting::Value { name: "auth".to_owned(), why });
            }
        };
        let guard = Guard {
            // A server that other machines can reach always requires tokens.
            wants_token: flags.auth || asked || shared.is_some() || !listen.ip().is_loopback(),
            keys: shared.iter().map(|token| Key::shared(token)).collect(),
            public,
        };
        Ok(ServerSettings {
            home,
            ignored: older::ignored(&set, listen),
            listen,
            database,
            docstores,
            guard,
            limits,
            backups,
            patience: patience(set("AW_PATIENCE"), config.patience)?,
            debate_language: language(config.debate_language.as_deref())?,
            notify: notify::load(&set, config.notify)?,
        })
    }
}

fn parsed<T: FromStr<Err: std::fmt::Display>>(name: &str, text: &str) -> Result<T, BadSetting> {
    text.parse().map_err(|error: T::Err| BadSetting::Value {
        name: name.to_owned(),
        why: format!("{text:?}: {error}"),
    })
}

/// The name of a setting where it was set: a variable, or the line of `config.toml` that has its name
/// in small letters, without the prefix.
fn source(variable: &str, is_in_environment: bool) -> String {
    match variable.split_once('_') {
        Some((_, key)) if !is_in_environment => format!("{} in config.toml", key.to_lowercase()),
        _ => variable.to_owned(),
    }
}

/// Parses a URL. Its error repeats it.
fn public_url(name: &str, text: &str) -> Result<PublicUrl, BadSetting> {
    text.parse().map_err(|why| BadSetting::Value { name: name.to_owned(), why })
}

/// Parses the address of a server. A name other than `localhost` would have to be looked up, and could mean several.
fn listen_address(text: &str) -> Result<SocketAddr, BadSetting> {
    let numbers = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    numbers.as_deref().unwrap_or(text).parse().map_err(|_| BadSetting::Value {
        name: "listen address".to_owned(),
        why: format!("{text:?} is no address with a port: write 127.0.0.1:3456 or localhost:3456"),
    })
}

/// Parses the place of a record, as an absolute path. Errors do not repeat the value: it may contain a
/// password.
fn place(text: &str) -> Result<Place, BadSetting> {
    let name = || "database".to_owned();
    match text.parse().map_err(|why| BadSetting::Value { name: name(), why })? {
        Place::File(path) if path.is_dir() => {
            let why = "it is a folder: write the path of a file, such as /srv/aw/debate.db";
            Err(BadSetting::Value { name: name(), why: why.to_owned() })
        }
        Place::File(path) => std::path::absolute(&path)
            .map(Place::File)
            .map_err(|error| BadSetting::Value { name: name(), why: error.to_string() }),
        postgres => Ok(postgres),
    }
}

/// Adds the password of `PGPASSWORD` to the URL of a PostgreSQL that has none: everybody on this machine can
/// see a command line.
pub fn with_password(database: Place, environment: Environment<'_>) -> Place {
    match environment(PASSWORD).filter(|password| !password.is_empty()) {
        Some(password) => database.or_password(&password),
        None => database,
    }
}

/// The settings of a client command.
#[derive(Debug, Clone)]
pub struct ClientSettings {
    /// The data folder.
    pub home: DataDir,
    /// The URL of a server that was set. A command never starts such a server.
    pub server_url: Option<String>,
    /// The address of the user's own server: as set, or as the last server had it.
    pub listen: SocketAddr,
    /// Whether `listen` was set.
    pub listen_is_set: bool,
    /// The database of the user's own server, if it was set.
    pub database: Option<Place>,
    /// Whether `auth` was set to `off`.
    pub auth_is_off: bool,
    /// The token to send.
    pub token: Option<String>,
    /// The default deadline of a wait.
    pub deadline: Duration,
    /// The time for an agent to go on waiting.
    pub patience: Duration,
    /// The author of arguments and documents.
    pub author: Option<String>,
    /// Whether to start a server if none runs.
    pub autostart: bool,
    /// Settings of the older system that have no effect.
    pub ignored: Vec<Ignored>,
    /// The name of the language that agents debate in.
    pub debate_language: String,
    /// The agents of runs.
    pub runs: RunSettings,
}

impl ClientSettings {
    /// Replaces the address of the last server by the default.
    pub fn without_last(mut self) -> Result<Self, BadSetting> {
        if !self.listen_is_set {
            self.listen = listen_address(USUAL_LISTEN)?;
        }
        Ok(self)
    }

    /// Reads the settings of a client command.
    pub fn load(environment: Environment<'_>) -> Result<Self, BadSetting> {
        let home = home(environment)?;
        let config = Config::read(&home)?;
        let set = |name: &str| environment(name).filter(|value| !value.is_empty());
        let server_url = set("DEBATE_SERVER_URL");
        let url_name = source("DEBATE_SERVER_URL", server_url.is_some());
        let server_url = server_url.or(config.server_url);
        if let Some(url) = &server_url {
            plain_url(&url_name, url)?;
        }
        let token = set("DEBATE_AUTH_TOKEN").map(|token| ("DEBATE_AUTH_TOKEN", token));
        let token = token.or_else(|| Some(("AW_AUTH_TOKEN", set("AW_AUTH_TOKEN")?)));
        let token = token.or_else(|| Some(("auth_token", config.auth_token?)));
        if let Some((name, token)) = &token
            && !token.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
        {
            // Without the token: this message is shown and logged.
            let why = "a token has only visible ASCII characters, and no line break";
            return Err(BadSetting::Value { name: (*name).to_owned(), why: why.to_owned() });
        }
        let listen = set("AW_LISTEN").or(config.listen);
        let listen_is_set = listen.is_some();
        // A file that cannot be read is reported when a server is started.
        let last = || home.last_start().ok().flatten().map(|last| last.listen);
        let listen = listen.or_else(last);
        let database = match set("AW_DATABASE_URL").or(config.database) {
            Some(text) => Some(place(&text)?),
            None => older::database(&set, &home).map(Place::File),
        };
        let autostart = match set("AW_AUTOSTART").as_deref() {
            None => older::autostart(&set).or(config.autostart).unwrap_or(true),
            Some(text) => switch("AW_AUTOSTART", text)?,
        };
        let listen = listen_address(listen.as_deref().unwrap_or(USUAL_LISTEN))?;
        Ok(ClientSettings {
            server_url: server_url.map(|url| url.trim_end_matches('/').to_owned()),
            ignored: older::ignored(&set, listen),
            listen,
            listen_is_set,
            database,
            auth_is_off: set("AW_AUTH").or(config.auth).as_deref() == Some("off"),
            token: token.map(|(_, token)| token),
            deadline: time(
                "DEBATE_WAIT_DEADLINE",
                set("DEBATE_WAIT_DEADLINE"),
                config.wait_deadline,
            )?
            .unwrap_or(USUAL_DEADLINE),
            patience: patience(set("AW_PATIENCE"), config.patience)?,
            author: set("AW_AUTHOR").or(config.author).or_else(|| agent_program(environment)),
            autostart,
            debate_language: language(config.debate_language.as_deref())?,
            runs: run::load(config.run, config.agents, config.run_keep_days)?,
            home,
        })
    }
}

/// Refuses what is no URL, and a URL with a query, a fragment or a password: requests would ignore it or
/// logs would show it.
fn plain_url(name: &str, url: &str) -> Result<(), BadSetting> {
    public_url(name, url)?;
    let refuse = |why: &str| Err(BadSetting::Value { name: name.to_owned(), why: why.to_owned() });
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.contains('@') {
        return refuse(
            "it has a user or a password: write the URL without, and set DEBATE_AUTH_TOKEN",
        );
    }
    if rest.contains(['?', '#']) {
        return refuse(
            "it has a query or a fragment: write it without, such as https://debates.example.org",
        );
    }
    Ok(())
}

/// Reads the patience of agents, which is set in minutes.
fn patience(given: Option<String>, in_file: Option<f64>) -> Result<Duration, BadSetting> {
    Ok(time("AW_PATIENCE", given, in_file)?.map_or(USUAL_PATIENCE, |minutes| minutes * 60))
}

/// Reads a time as a number of seconds, if it was set.
fn time(
    name: &str,
    given: Option<String>,
    in_file: Option<f64>,
) -> Result<Option<Duration>, BadSetting> {
    let name = source(name, given.is_some());
    let number = match given {
        Some(text) => Some(parsed::<f64>(&name, &text)?),
        None => in_file,
    };
    match number {
        Some(number) if !(0.0..1e9).contains(&number) => {
            Err(BadSetting::Value { name, why: "it must be a number, 0 or more".to_owned() })
        }
        number => Ok(number.map(Duration::from_secs_f64)),
    }
}

/// Reads the name of a language, which is inserted into the texts for agents.
fn language(text: Option<&str>) -> Result<String, BadSetting> {
    match text.unwrap_or("en") {
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

/// The address to call from this machine. For a server on all addresses it is a loopback address.
pub fn reachable(listen: SocketAddr) -> SocketAddr {
    let loopback: IpAddr = match listen.ip() {
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    let ip = if listen.ip().is_unspecified() { loopback } else { listen.ip() };
    SocketAddr::new(ip, listen.port())
}

/// Reads a setting that is on or off.
fn switch(name: &str, text: &str) -> Result<bool, BadSetting> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => {
            let why = format!("{text:?} is neither on nor off: write 1 or 0");
            Err(BadSetting::Value { name: name.to_owned(), why })
        }
    }
}

fn home(environment: Environment<'_>) -> Result<DataDir, BadSetting> {
    let set = |name: &str| environment(name).filter(|value| !value.is_empty());
    let path = match set("AWEAVE_HOME") {
        Some(path) => Some(PathBuf::from(path)),
        None => set("HOME").map(|user| PathBuf::from(user).join(".aweave")),
    };
    let path = path.ok_or(BadSetting::NoHome)?;
    // Absolute, because a server changes its working folder.
    std::path::absolute(&path).map(DataDir::at).map_err(|source| BadSetting::File { path, source })
}

impl Config {
    fn read(home: &DataDir) -> Result<Self, BadSetting> {
        let path = home.config();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(missing) if missing.kind() == ErrorKind::NotFound => return Ok(Config::default()),
            Err(source) => return Err(BadSetting::File { path, source }),
        };
        mistakes::read(&text)
            .map_err(|why| BadSetting::Value { name: path.display().to_string(), why })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn load(home: &Path, flags: Flags, set: &[(&str, &str)]) -> Result<ServerSettings, BadSetting> {
        let environment = |name: &str| {
            let home = ("AWEAVE_HOME", home.to_str().unwrap());
            let mut all = set.iter().chain([&home]);
            all.find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        ServerSettings::load(flags, &environment)
    }

    #[test]
    fn a_variable_that_is_not_utf_8_is_named() {
        use std::os::unix::ffi::OsStringExt;
        let check = |name: &str, value: &[u8]| {
            let all = [(name.into(), OsString::from_vec(value.to_vec()))];
            must_be_text(all.into_iter(), &["HOME"]).map_err(|bad| bad.to_string())
        };
        for name in ["AW_AUTH_TOKEN", "AWEAVE_HOME", "DEBATE_SERVER_URL", "HOME", "AW_\u{1F600}"] {
            assert_eq!(check(name, b"tok\xff"), Err(format!("{name}: it is not UTF-8")));
            assert_eq!(check(name, b"token"), Ok(()));
        }
        assert_eq!(check("LESSOPEN", b"\xff"), Ok(()), "a variable that aw does not read");
    }

    #[test]
    fn a_flag_beats_the_environment_which_beats_the_file_which_beats_the_default() {
        let home = tempfile::tempdir().unwrap();
        let port = |flags: Flags, set: &[(&str, &str)]| {
            load(home.path(), flags, set).unwrap().listen.port()
        };
        let typed = || Flags { listen: Some("127.0.0.1:4".to_owned()), ..Flags::default() };
        assert_eq!(port(Flags::default(), &[]), 3456);
        fs::write(home.path().join("config.toml"), "listen = '127.0.0.1:2'").unwrap();
        assert_eq!(port(Flags::default(), &[]), 2);
        assert_eq!(port(Flags::default(), &[("AW_LISTEN", "127.0.0.1:3")]), 3);
        assert_eq!(port(typed(), &[("AW_LISTEN", "127.0.0.1:3")]), 4);
    }

    #[test]
    fn the_author_is_the_agent_program_unless_something_else_is_set() {
        let home = tempfile::tempdir().unwrap();
        let author = |set: &[(&str, &str)]| {
            let environment = |name: &str| {
                let home = ("AWEAVE_HOME", home.path().to_str().unwrap());
                let found = set.iter().chain([&home]).find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            ClientSettings::load(&environment).unwrap().author
        };
        for (name, program) in agent_programs::AGENT_PROGRAMS {
            assert_eq!(author(&[(name, "1")]).as_deref(), Some(program));
        }
        assert_eq!(author(&[]), None);
        assert_eq!(author(&[("CLAUDECODE", "")]), None);
        let codex = [("CODEX_THREAD_ID", "x"), ("CODEX_SANDBOX", "seatbelt")];
        assert_eq!(author(&codex).as_deref(), Some("Codex"));
        // One program started the other, and the variables do not say which.
        assert_eq!(author(&[("CLAUDECODE", "1"), ("GEMINI_CLI", "1")]), None);
        assert_eq!(author(&[("CLAUDECODE", "1"), ("AW_AUTHOR", "Ann")]).as_deref(), Some("Ann"));
        fs::write(home.path().join("config.toml"), "author = 'Bob'").unwrap();
        assert_eq!(author(&[("CLAUDECODE", "1")]).as_deref(), Some("Bob"));
    }

    #[test]
    fn a_server_listens_on_localhost_or_says_what_to_write() {
        let home = tempfile::tempdir().unwrap();
        let listen = |text: &str| {
            load(home.path(), Flags::default(), &[("AW_LISTEN", text)])
                .map(|set| set.listen.to_string())
        };
        assert_eq!(listen("localhost:3456").unwrap(), "127.0.0.1:3456");
        for wrong in
            ["localhost", "localhost:", "localhost:99999", "3456", "example.org:80", "localhost:x"]
        {
            let why = listen(wrong).unwrap_err().to_string();
            assert!(why.contains("write 127.0.0.1:3456 or localhost:3456"), "{why}");
        }
    }

    #[test]
    fn a_server_that_other_machines_can_reach_requires_tokens() {
        let home = tempfile::tempdir().unwrap();
        let wants = |set: &[(&str, &str)], auth: bool| {
            let flags = Flags { auth, ..Flags::default() };
            load(home.path(), flags, set).unwrap().guard.wants_token
        };
        assert!(!wants(&[], false));
        assert!(wants(&[], true));
        assert!(wants(&[("AW_AUTH", "required")], false));
        assert!(wants(&[("AW_AUTH_TOKEN", "t")], false));
        for listen in ["0.0.0.0:3456", "[::]:3456", "192.168.1.7:3456"] {
            assert!(wants(&[("AW_LISTEN", listen)], false), "{listen}");
            assert!(wants(&[("AW_LISTEN", listen), ("AW_AUTH", "off")], false), "{listen}");
        }
        fs::write(home.path().join("config.toml"), "auth = 'required'").unwrap();
        assert!(wants(&[], false));
        // An empty token counts as absent.
        fs::write(home.path().join("config.toml"), "auth = 'required'\nauth_token = ''").unwrap();
        for set in [&[][..], &[("AW_AUTH_TOKEN", "")]] {
            let loaded = load(home.path(), Flags::default(), set).unwrap();
            assert!(loaded.guard.wants_token && loaded.guard.keys.is_empty(), "{set:?}");
        }
        let refused = load(home.path(), Flags::default(), &[("AW_AUTH", "yes")]).unwrap_err();
        assert!(refused.to_string().starts_with("auth"), "{refused}");
    }

    #[test]
    fn every_limit_can_be_set_in_the_file_and_by_the_environment() {
        let home = tempfile::tempdir().unwrap();
        let names = [
            "content_limit",
            "document_limit",
            "max_debates",
            "max_documents",
            "max_waits",
            "max_waits_per_token",
            "max_sockets",
            "max_sockets_per_token",
            "max_connections",
            "max_long_answers",
            "token_rate",
            "token_burst",
            "address_rate",
            "address_burst",
            "wrong_token_rate",
            "wrong_token_burst",
        ];
        let limits = |set: &[(&str, &str)]| {
            let Limits {
                content_bytes,
                document_bytes,
                debates,
                documents,
                held_waits,
                waits_per_token,
                sockets,
                sockets_per_token,
                connections,
                long_answers,
                rates: Rates { token, address, wrong_token },
            } = load(home.path(), Flags::default(), set).unwrap().limits;
            let counts = [
                content_bytes as f64,
                document_bytes as f64,
                debates as f64,
                documents as f64,
                held_waits as f64,
                waits_per_token as f64,
                sockets as f64,
                sockets_per_token as f64,
                connections as f64,
                long_answers as f64,
            ];
            let paces = [token, address, wrong_token];
            let paces = paces.into_iter().flat_map(|it| [it.per_second, it.burst.into()]);
            counts.into_iter().chain(paces).collect::<Vec<f64>>()
        };
        let usual = limits(&[]);
        assert_eq!(
            usual,
            [
                10_240.0,
                5_242_880.0,
                1e6,
                1e6,
                20_000.0,
                1_000.0,
                5_000.0,
                200.0,
                30_000.0,
                67_108_864.0,
                100.0,
                500.0,
                200.0,
                1_000.0,
                5.0,
                50.0,
            ]
        );
        for (place, name) in names.iter().enumerate() {
            let changed = |to: f64| {
                let mut changed = usual.clone();
                changed[place] = to;
                changed
            };
            fs::write(home.path().join("config.toml"), format!("{name} = 7")).unwrap();
            assert_eq!(limits(&[]), changed(7.0), "{name}");
            let variable = format!("AW_{}", name.to_uppercase());
            assert_eq!(limits(&[(&variable, "0")]), changed(0.0), "{name}");
        }
    }

    #[test]
    fn the_password_of_a_postgresql_url_is_never_shown() {
        let home = tempfile::tempdir().unwrap();
        let set = |url| load(home.path(), Flags::default(), &[("AW_DATABASE_URL", url)]);
        let loaded = set("postgres://an:s3cret@db.example:6000/debates").unwrap();
        assert_eq!(loaded.database.to_string(), "postgres://an@db.example:6000/debates");
        assert!(!format!("{loaded:?}").contains("s3cret"));
        let refused = set("postgres://an:s3cret@db.example:port/debates").unwrap_err().to_string();
        assert!(refused.starts_with("database: ") && !refused.contains("s3cret"), "{refused}");
    }

    #[test]
    fn an_invalid_setting_is_named() {
        let home = tempfile::tempdir().unwrap();
        for (set, named) in [
            (("AW_LISTEN", "3456"), "listen address"),
            (("AW_PUBLIC_URL", "example.org"), "public URL"),
            (("AW_MAX_WAITS", "many"), "AW_MAX_WAITS"),
            (("AW_MAX_DEBATES", "-1"), "AW_MAX_DEBATES"),
            (("AW_TOKEN_RATE", "-1"), "AW_TOKEN_RATE"),
            (("AW_ADDRESS_RATE", "NaN"), "AW_ADDRESS_RATE"),
            (("AW_WRONG_TOKEN_RATE", "inf"), "AW_WRONG_TOKEN_RATE"),
            (("AW_TOKEN_BURST", "0.5"), "AW_TOKEN_BURST"),
            (("AW_DATABASE_URL", "postgres://"), "database"),
        ] {
            let refused = load(home.path(), Flags::default(), &[set]).unwrap_err();
            assert!(refused.to_string().starts_with(named), "{refused}");
        }
        // The error names the line, but not its value.
        let torn = "listen = '127.0.0.1:2'\ndatabase = 'postgres://an:s3cret@db/x";
        fs::write(home.path().join("config.toml"), torn).unwrap();
        let error = load(home.path(), Flags::default(), &[]).unwrap_err().to_string();
        assert!(error.contains("line 2 (database)") && !error.contains("s3cret"), "{error}");
        fs::write(home.path().join("config.toml"), "lisen = 'x'").unwrap();
        let refused = load(home.path(), Flags::default(), &[]).unwrap_err();
        assert!(refused.to_string().contains("lisen"), "{refused}");
    }
}
