//! The `aw` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    aw::cli::run(std::env::args_os())
}
