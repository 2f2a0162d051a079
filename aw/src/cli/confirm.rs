//! Asks the person at the terminal.

use std::io::{self, BufRead, Write};

use super::human;
use super::output::is_person_at;

/// Asks a yes-or-no question. `usual` is the answer of the return key. Returns `None` if no person
/// is there to answer.
pub(super) fn agrees(question: &str, usual: bool) -> Option<bool> {
    if !is_person_at(&io::stdin()) || !is_person_at(&io::stderr()) {
        return None;
    }
    let keys = if usual { "Y/n" } else { "y/N" };
    // Without stderr nobody reads the question.
    write!(io::stderr(), "{} [{keys}] ", human::on_stderr(question)).ok()?;
    let mut answer = String::new();
    match io::stdin().lock().read_line(&mut answer) {
        // The end of the input is no answer.
        Ok(0) | Err(_) => Some(false),
        Ok(_) => match answer.trim().to_lowercase().as_str() {
            "" => Some(usual),
            answer => Some(matches!(answer, "y" | "yes")),
        },
    }
}
