//! A command of the user's `config.toml`: the prompt on stdin, the answer on stdout, exit code 0.

use super::reader::End;
use super::{StartLine, Turn};

/// The command line of a turn. A command has no sessions and no model, only its own arguments.
pub(super) fn line(turn: &Turn) -> StartLine {
    let mut line = StartLine::default();
    line.add(turn.extra);
    line
}

/// The final message. The server refuses U+FFFD no more than other letters, so broken UTF-8 passes in this form.
pub(super) fn text(end: &End) -> String {
    String::from_utf8_lossy(end.stdout).into_owned()
}
