//! `aw serve`: builds store, engine and server, and runs them until told to stop.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::net::SocketAddr;
use std::process::ExitCode;

use anyhow::Context;
use aw_record::{Clock, Engine, Store, StoreOptions};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

use super::{INPUT, SERVER};
use crate::server::{self, Setup, Stop};
use crate::settings::{Flags, ServerSettings};

/// Run the server in the foreground
///
/// It prints the address it listens on, logs to stderr as JSON lines, and stops on SIGTERM or
/// SIGINT after finishing what it has begun.
#[derive(Debug, clap::Args)]
pub(super) struct Serve {
    /// Where to listen, for instance 127.0.0.1:3456; port 0 takes a free one [env: AW_LISTEN]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// The SQLite file [env: AW_DATABASE_URL] [default: ~/.aweave/db/debate.db]
    #[arg(long, value_name = "FILE")]
    database: Option<String>,
}

impl Serve {
    pub(super) fn run(self) -> ExitCode {
        let flags = Flags { listen: self.listen, database: self.database };
        let settings = match ServerSettings::settle(flags, &|name| std::env::var(name).ok()) {
            Ok(settings) => settings,
            Err(bad) => return fail(INPUT, &bad.into()),
        };
        log();
        match serve(settings) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(SERVER, &error),
        }
    }
}

fn fail(code: u8, error: &anyhow::Error) -> ExitCode {
    // When stderr is gone there is nobody left to tell.
    let _ = writeln!(io::stderr(), "error: {error:#}");
    code.into()
}

fn log() {
    let filter = EnvFilter::try_from_env("AW_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    if io::stderr().is_terminal() {
        log.init();
    } else {
        log.json().flatten_event(true).init();
    }
}

#[tokio::main]
async fn serve(settings: ServerSettings) -> anyhow::Result<()> {
    let ServerSettings { home, listen, database, guard, limits } = settings;
    let home_id = home.id()?;
    raise_file_limit();
    // First the port, then the file: whoever has the port may be at work on the file.
    let listener = bind(listen).await?;
    let address = listener.local_addr()?;
    let options = StoreOptions::at(&database);
    let store = tokio::task::spawn_blocking(move || Store::open(&options)).await??;
    let engine = Engine::new(store, Clock::system());

    let stop = Stop::default();
    let connections = limits.connections;
    let router = server::router(Setup {
        engine: engine.clone(),
        guard,
        limits,
        home_id,
        stopping: stop.told(),
    });
    let mut out = io::stdout();
    writeln!(out, "aw {} listening on http://{address}", env!("CARGO_PKG_VERSION"))?;
    out.flush()?;
    tracing::info!(%address, database = %database.display(), "listening");

    let (mut terminated, mut interrupted) =
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let serving = server::serve(listener, router, connections, stop.told());
    let stopping = async {
        tokio::select! {
            _ = terminated.recv() => {}
            _ = interrupted.recv() => {}
        }
        tracing::info!("stopping");
        stop.now();
    };
    tokio::join!(serving, stopping);
    engine.close().await;
    tracing::info!("stopped");
    Ok(())
}

async fn bind(listen: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(listen).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => anyhow::anyhow!(
            "{listen} is taken by another program: stop it, or choose another port with --listen"
        ),
        _ => error.into(),
    })
    .with_context(|| format!("cannot listen on {listen}"))
}

/// Every waiting agent is an open file.
fn raise_file_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum
        && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })
    {
        tracing::warn!(%error, "the open-file limit stays as it is");
    }
}
