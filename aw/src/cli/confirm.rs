//! Asks the person at the terminal.

use std::io::{self, BufRead, Write};

use super::human;
use super::output::is_person_at;

/// Asks a question whose answer is yes or no; anything but yes is no. `None` if no person is there to
/// answer it.
pub(super) fn agrees(question: &str) -> Option<bool> {
    if !is_person_at(&io::stdin()) || !is_person_at(&io::stderr()) {
        return None;
    }
    // When stderr is gone nobody reads the question.
    write!(io::stderr(), "{} [y/N] ", human::shown(question)).ok()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).ok()?;
    Some(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
