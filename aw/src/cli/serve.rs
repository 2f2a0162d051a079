//! `aw serve`: builds store, engine and server, and runs them until a signal stops them.

use std::fs;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::net::SocketAddr;
use std::process::ExitCode;

use anyhow::Context;
use aw_record::{Clock, Engine, Store, StoreOptions};
use jiff::Timestamp;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;
use uuid::Uuid;

use super::allocator;
use super::connect::Listener;
use super::scheduled_backup::keep_copies;
use crate::api::error::{INPUT, SERVER};
use crate::data_dir::{Running, Started};
use crate::kit::types::Shelves;
use crate::mcp::{Defaults, TypeSource};
use crate::notify;
use crate::process;
use crate::server::{self, Setup, Stop};
use crate::settings::{BadSetting, Flags, Key, PASSWORD, ServerSettings, environment, reachable};
use crate::web;

/// Run the server in the foreground
///
/// It prints the address it listens on, logs to stderr as JSON lines, and stops on SIGTERM or
/// SIGINT after finishing what it has begun.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  aw serve --listen 127.0.0.1:3456")]
pub(super) struct Serve {
    /// Where to listen, for instance 127.0.0.1:3456; port 0 takes a free one [env: AW_LISTEN]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// The SQLite file, or a postgres:// URL [env: AW_DATABASE_URL] [default: ~/.aweave/db/debate.db]
    ///
    /// Any number of servers may share a PostgreSQL database. A password is better kept in
    /// PGPASSWORD or in config.toml: everybody on this machine can see a command line. The
    /// server of the data folder may run beside a server with this flag.
    #[arg(long, value_name = "FILE OR URL")]
    database: Option<String>,
    /// Require a token of every caller; the administrator's is in the data folder [env: AW_AUTH=required]
    ///
    /// Always on where other machines can reach the server.
    #[arg(long)]
    auth: bool,
    /// Run in a session of its own and inherit nothing
    #[arg(long, hide = true)]
    detached: bool,
    /// A command has started it, as the last one was started
    #[arg(long, hide = true)]
    by_itself: bool,
}

impl Serve {
    pub(super) fn run(self) -> ExitCode {
        allocator::apply();
        if self.detached {
            leave_the_parent();
        }
        let apart = self.database.is_some();
        let flags =
            Flags { listen: self.listen.clone(), database: self.database.clone(), auth: self.auth };
        let loaded = environment(&["HOME", PASSWORD])
            .and_then(|environment| ServerSettings::load(flags, &environment))
            .and_then(|settings| Ok((settings, log_filter("info,rmcp=error")?)));
        let (settings, filter) = match loaded {
            Ok(loaded) => loaded,
            Err(bad) => return fail(INPUT, &bad.into()),
        };
        log(filter);
        match serve(settings, apart, &self) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(SERVER, &error),
        }
    }
}

pub(super) fn fail(code: u8, error: &anyhow::Error) -> ExitCode {
    // An error may repeat its cause.
    let text = error.chain().fold(String::new(), |text, cause| match cause.to_string() {
        cause if text.contains(&cause) => text,
        cause if text.is_empty() => cause,
        cause => format!("{text}: {cause}"),
    });
    // Without stderr there is no reader left.
    let _ = writeln!(io::stderr(), "error: {text}");
    code.into()
}

/// How much is logged. By default the failure of a tool call is not: its caller gets the error.
pub(super) fn log_filter(usual: &str) -> Result<EnvFilter, BadSetting> {
    let set = environment(&[])?("AW_LOG").filter(|set| !set.is_empty());
    EnvFilter::try_new(set.as_deref().unwrap_or(usual))
        .map_err(|error| BadSetting::Value { name: "AW_LOG".to_owned(), why: error.to_string() })
}

fn log(filter: EnvFilter) {
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    if io::stderr().is_terminal() {
        log.init();
    } else {
        log.json().flatten_event(true).init();
    }
}

#[tokio::main]
async fn serve(settings: ServerSettings, apart: bool, typed: &Serve) -> anyhow::Result<()> {
    let ServerSettings {
        home,
        listen,
        database,
        docstores,
        ignored,
        mut guard,
        limits,
        backups,
        patience,
        debate_language,
        notify,
    } = settings;
    for ignored in ignored {
        tracing::warn!("{}. {}", ignored.what, ignored.instead);
    }
    // A server with --database does not belong to the data folder.
    let home_id = if apart { Uuid::new_v4().to_string() } else { home.id()? };
    if guard.wants_token {
        guard.keys.push(Key::of_administrator(&home.make_admin_token()?));
    }
    let wants_token = guard.wants_token;
    let public = guard.public.first().map(|url| url.origin().to_owned());
    raise_file_limit();
    let held = if apart { None } else { Some(home.lock()?) };
    // The port first, then the file: the process on the port may be using the file.
    let listener = bind(listen).await?;
    let address = listener.local_addr()?;
    let options = StoreOptions {
        most_debates: limits.debates,
        most_documents: limits.documents,
        docstores,
        ..StoreOptions::at(database.clone())
    };
    let store = tokio::task::spawn_blocking(move || Store::open(&options)).await??;
    if typed.detached {
        // The server must not keep the folder in which it was started from being removed or
        // unmounted.
        std::env::set_current_dir("/")?;
    }
    let engine = Engine::new(store, Clock::system());

    let stop = Stop::default();
    let connections = limits.connections;
    let router = server::router(Setup {
        engine: engine.clone(),
        guard,
        limits,
        home_id,
        stopping: stop.subscribe(),
        pages: web::pages(),
        tool_defaults: Defaults {
            debate_language,
            patience,
            types: TypeSource::OfUser(Shelves::of_user(home.path())),
            ..Defaults::default()
        },
    });
    let page = public.unwrap_or_else(|| format!("http://{}", reachable(address)));
    notify::start(engine.clone(), notify, page);
    // A program that reads the address may stop the server at once.
    let (mut terminated, mut interrupted) =
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    if let Some(held) = &held {
        if !typed.by_itself {
            held.remember_start(&Started {
                listen: listen.to_string(),
                database: database.to_string(),
                auth: wants_token,
                auth_flag: typed.auth,
            })?;
        }
        held.describe(&Running {
            pid: std::process::id(),
            url: format!("http://{}", reachable(address)),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            database: database.to_string(),
            started_at: format!("{:.3}", Timestamp::now()),
            wants_token,
            auth_flag: typed.auth,
            process_began: process::began(std::process::id()),
        })?;
    }
    let mut out = io::stdout();
    writeln!(out, "aw {} listening on http://{address}", env!("CARGO_PKG_VERSION"))?;
    out.flush()?;
    tracing::info!(%address, %database, "listening");

    let copying = keep_copies(database.clone(), home.path().join("backups"), backups);
    let copying = tokio::spawn(copying);
    let serving = server::serve(listener, router, connections, stop.subscribe());
    let stopping = async {
        tokio::select! {
            _ = terminated.recv() => {}
            _ = interrupted.recv() => {}
        }
        tracing::info!("stopping");
        stop.now();
    };
    let indexing = tokio::spawn({
        let engine = engine.clone();
        async move { engine.keep_index().await }
    });
    tokio::join!(serving, stopping);
    indexing.abort();
    copying.abort();
    engine.close().await;
    if let Some(held) = held {
        held.remove_description()?;
    }
    tracing::info!("stopped");
    Ok(())
}

/// Starts a session of its own, so that no terminal's signals reach the server, and closes all
/// inherited descriptors: a host waits until the last holder of its pipe is gone.
fn leave_the_parent() {
    let open: Vec<i32> = fs::read_dir("/dev/fd")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|descriptor| *descriptor > 2)
        .collect();
    for descriptor in open {
        // The descriptor that listed the others is closed already.
        let _ = nix::unistd::close(descriptor);
    }
    // It fails only for the leader of a group, which needs no session.
    let _ = nix::unistd::setsid();
}

async fn bind(listen: SocketAddr) -> anyhow::Result<TcpListener> {
    let bound = match TcpListener::bind(listen).await {
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            let url = format!("http://{}", reachable(listen));
            match tokio::task::spawn_blocking(move || Listener::at(&url)).await? {
                Listener::OlderSystem => Err(anyhow::anyhow!(
                    "{listen} is taken by the server of the older system: stop it, then run this again; \
                     to keep both, choose another port with --listen and another folder with AWEAVE_HOME"
                )),
                Listener::Aw(_) | Listener::Other => Err(anyhow::anyhow!(
                    "{listen} is taken by another program: stop it, or choose another port with --listen"
                )),
            }
        }
        bound => bound.map_err(Into::into),
    };
    bound.with_context(|| format!("cannot listen on {listen}"))
}

/// Raises the limit of open files: every waiting agent needs one.
fn raise_file_limit() {
    let raised = getrlimit(Resource::RLIMIT_NOFILE)
        .and_then(|(_, hard)| setrlimit(Resource::RLIMIT_NOFILE, hard, hard));
    if let Err(error) = raised {
        tracing::warn!(%error, "the open-file limit stays as it is");
    }
}
