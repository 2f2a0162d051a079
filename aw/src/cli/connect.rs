//! Finds the server, or starts it, and decides which token it gets.
//!
//! A token that was set is for the server that was named, or for the one that the lock of this data
//! folder proves to be ours; the administrator's token is for the latter only. A program that merely
//! listens on the port may claim anything: it gets no token.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use super::background::{self, StartOptions};
use super::human;
use super::output::{CliError, is_person_at};
use crate::api::client;
use crate::api::error::Code;
use crate::api::http::Client;
use crate::data_dir::{DataDir, Running};
use crate::settings::{ClientSettings, reachable};

/// How long a program on the port may take to accept a connection.
const KNOCK: Duration = Duration::from_millis(300);

/// How often, and after which pauses, a server that is ending or hangs is tried.
const LAST_BREATHS: Duration = Duration::from_secs(2);
const BREATH: Duration = Duration::from_millis(20);

/// A server that was found, and its token.
pub(super) struct Connection {
    pub(super) client: Client,
    pub(super) token_source: TokenSource,
}

/// Which token a request carries, or why it carries none.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TokenSource {
    /// The one that was set.
    Set,
    /// The administrator's, from the data folder.
    Administrators,
    /// None: the user named the server, and it may not be ours.
    NoneForNamed,
    /// None: there is no file with a token, or it cannot be read.
    NoneFound(Option<String>),
}

/// A server that was found.
struct Found {
    url: String,
    named: bool,
    /// Whether it holds the lock of this folder.
    ours: bool,
}

impl Connection {
    /// Finds the server, or starts it. Trusts the holder of the lock without a trial connection,
    /// which would cost every command time. A command whose request fails looks again.
    pub(super) fn find(settings: &ClientSettings, verbose: bool) -> Result<Self, CliError> {
        Ok(Self::of(locate(settings, verbose, holding)?, settings))
    }

    /// Finds a server that takes connections, or starts it.
    pub(super) fn find_answering(
        settings: &ClientSettings,
        verbose: bool,
    ) -> Result<Self, CliError> {
        Ok(Self::of(locate(settings, verbose, answering)?, settings))
    }

    /// The connection to a server that the user named, or that runs on this folder.
    pub(super) fn at(url: &str, settings: &ClientSettings) -> Self {
        let named = settings.server_url.as_deref() == Some(url);
        Self::of(Found { url: url.to_owned(), named, ours: settings.home.serves(url) }, settings)
    }

    fn of(found: Found, settings: &ClientSettings) -> Self {
        let Found { url, named, ours } = found;
        let (token, token_source) = match &settings.token {
            Some(set) => (Some(set.clone()), TokenSource::Set),
            None if ours => match settings.home.admin_token() {
                Ok(Some(token)) => (Some(token), TokenSource::Administrators),
                Ok(None) => (None, TokenSource::NoneFound(None)),
                Err(error) => (None, TokenSource::NoneFound(Some(error.to_string()))),
            },
            None => (None, TokenSource::NoneForNamed),
        };
        let proof_wanted = match token_source {
            // A user who names both the server and the token means the one for the other.
            TokenSource::Set => !named,
            TokenSource::Administrators => true,
            TokenSource::NoneForNamed | TokenSource::NoneFound(_) => false,
        };
        let mut client = Client::new(&url, token);
        if proof_wanted {
            let home = settings.home.clone();
            client = client.only_while(move || home.serves(&url));
        }
        Connection { client, token_source }
    }
}

impl TokenSource {
    /// Adds to a refused token what to do about it here.
    pub(super) fn explained(&self, problem: CliError, home: &DataDir) -> CliError {
        if problem.code != Code::AuthFailed {
            return problem;
        }
        let file = home.admin_token_file();
        let there = file.exists();
        let file = file.display();
        // A user who has the file may wonder why it was not used.
        let aside = |words: &str| if there { format!(". {file} {words}") } else { String::new() };
        problem.suggest(match self {
            TokenSource::Set => format!(
                "The token that is set (DEBATE_AUTH_TOKEN, AW_AUTH_TOKEN, or auth_token in config.toml) is wrong, \
                 expired or revoked: ask the administrator of the server for another{}",
                aside("is used where none is set")
            ),
            TokenSource::Administrators => {
                format!("The token in {file} is not the server's: aw server restart")
            }
            TokenSource::NoneForNamed => format!(
                "Set DEBATE_AUTH_TOKEN to a token of this server, which its administrator makes with aw token create{}",
                aside("is sent to the server of that folder only")
            ),
            TokenSource::NoneFound(None) => format!(
                "Set DEBATE_AUTH_TOKEN, or have the server make a token of yours in {file}: aw server restart"
            ),
            TokenSource::NoneFound(Some(why)) => {
                format!("Set DEBATE_AUTH_TOKEN: {file} cannot be read ({why})")
            }
        })
    }
}

fn locate(
    settings: &ClientSettings,
    verbose: bool,
    look: fn(&DataDir) -> Result<Option<Running>, CliError>,
) -> Result<Found, CliError> {
    let home = &settings.home;
    if let Some(url) = &settings.server_url {
        return Ok(Found { url: url.clone(), named: true, ours: home.serves(url) });
    }
    let ours = |url: String| Found { url, named: false, ours: true };
    if let Some(running) = look(home)? {
        return Ok(ours(background::replace_older(settings, running)?.url));
    }
    if let Some(url) = server_on_port(settings)? {
        return Ok(ours(url));
    }
    if !settings.autostart {
        return Err(CliError::connection(format!("no server runs on {}", home.path().display()))
            .suggest("aw server start"));
    }
    if verbose {
        human::note("no server yet: starting one in the background");
    }
    let url = background::start(settings, &StartOptions::of_last_start(settings)?)?.url;
    if is_person_at(&io::stderr()) {
        human::note(&format!("Started a server at {url}. To stop it: aw server stop"));
    }
    Ok(ours(url))
}

/// The server that holds the lock of this folder.
fn holding(home: &DataDir) -> Result<Option<Running>, CliError> {
    home.running().map_err(|error: io::Error| {
        CliError::connection(format!("{}: {error}", home.path().display()))
            .suggest("Make the folder yours, or set DEBATE_SERVER_URL and DEBATE_AUTH_TOKEN")
    })
}

/// The same, once it accepts connections. A server that was killed may keep its lock for a moment
/// longer than its port.
fn answering(home: &DataDir) -> Result<Option<Running>, CliError> {
    let began = Instant::now();
    while began.elapsed() < LAST_BREATHS {
        let Some(running) = holding(home)? else { return Ok(None) };
        let address = running.url.trim_start_matches("http://").parse::<SocketAddr>();
        let there = address.is_ok_and(|at| TcpStream::connect_timeout(&at, KNOCK).is_ok());
        if there {
            return Ok(Some(running));
        }
        thread::sleep(BREATH);
    }
    Err(CliError::connection("a server has the lock of this folder, but does not take connections")
        .suggest("aw server restart"))
}

/// The error of a data folder that cannot be read or written.
pub(super) fn unusable(home: &DataDir, error: &io::Error) -> CliError {
    CliError::connection(format!("{}: {error}", home.path().display())).suggest("aw doctor")
}

/// The program on a port, by its own words. They prove nothing.
pub(super) enum Listener {
    /// An aw server, of the data folder with this id.
    Aw(String),
    /// A server of the older system, whose `/health` knows no data folder.
    OlderSystem,
    Other,
}

impl Listener {
    pub(super) fn at(url: &str) -> Self {
        let client = Client::of_stranger(url);
        match client.once(&client::health(), Duration::ZERO) {
            _ if client.is_older() => Listener::OlderSystem,
            Ok(health) => Listener::Aw(health.data.home_id),
            Err(_) => Listener::Other,
        }
    }
}

/// The program at our server's address: our server, if it has started meanwhile; otherwise the
/// error that names a stranger. What a stranger says proves nothing: everybody can ask our server
/// for its id.
pub(super) fn server_on_port(settings: &ClientSettings) -> Result<Option<String>, CliError> {
    let address = reachable(settings.listen);
    if TcpStream::connect_timeout(&address, KNOCK).is_err() {
        return Ok(None);
    }
    let url = format!("http://{address}");
    let own = settings.home.id().map_err(|error| unusable(&settings.home, &error))?;
    let listener = Listener::at(&url);
    if let Ok(Some(running)) = settings.home.running() {
        return Ok(Some(running.url));
    }
    // A killed server of ours may keep its port for a moment longer than its lock.
    thread::sleep(BREATH);
    if TcpStream::connect_timeout(&address, KNOCK).is_err() {
        return Ok(None);
    }
    let who = match listener {
        Listener::Aw(home) if home == own => {
            "a program that says it is the server of this data folder, but does not hold its lock"
        }
        Listener::Aw(_) => "an aw server of another data folder or user",
        Listener::OlderSystem => {
            let message = format!(
                "{} is taken by the server of the older system; it was left alone",
                settings.listen
            );
            return Err(CliError::connection(message).suggest(format!(
                "Stop the older server (its own aw server stop), then run this again: its debates are imported. \
                 To use it as it is, set DEBATE_SERVER_URL={url}. To keep both, give this one a port and a \
                 folder of its own: AW_LISTEN and AWEAVE_HOME"
            )));
        }
        Listener::Other => "another program",
    };
    Err(CliError::connection(format!("{} is taken by {who}; it was left alone", settings.listen))
        .suggest(format!(
            "Choose a free address, for instance AW_LISTEN=127.0.0.1:{}, or set DEBATE_SERVER_URL to talk to that server",
            settings.listen.port().wrapping_add(1).max(1024)
        )))
}
