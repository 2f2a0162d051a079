//! What is typed and what is shown.

mod serve;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Two coding agents debate a plan until it holds
#[derive(Debug, Parser)]
#[command(name = "aw", version)]
struct Typed {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the server in the foreground
    Serve(serve::Serve),
}

/// Does what was typed.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let typed = match Typed::try_parse_from(arguments) {
        Ok(typed) => typed,
        Err(usage) => {
            let code = if usage.use_stderr() { INPUT } else { 0 };
            return match usage.print() {
                Ok(()) => code.into(),
                Err(_) => SERVER.into(),
            };
        }
    };
    match typed.command {
        Command::Serve(serve) => serve.run(),
    }
}

/// The server, or the way to it, failed.
const SERVER: u8 = 3;

/// What was typed or set cannot be used.
const INPUT: u8 = 4;
