//! The exact `aw debate run` line for what a person chose. The server only writes it; it starts nothing.

use serde::Deserialize;

/// The values of the form, as they stand in the address of the page. An empty one is left out.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default)]
pub(crate) struct RunQuery {
    pub(super) plan: String,
    pub(super) proposer: String,
    pub(super) opponent: String,
    pub(super) arbitrator: String,
    pub(super) rounds: String,
    pub(super) max_time: String,
    pub(super) max_tokens: String,
    pub(super) ask: String,
}

impl RunQuery {
    /// The line for a shell.
    pub(super) fn line(&self) -> String {
        let plan = one_line(&self.plan);
        let plan = match plan.as_str() {
            "" => "PLAN.md".to_owned(),
            // A name that begins with a dash would be a flag.
            name if name.starts_with('-') => format!("./{name}"),
            _ => plan,
        };
        let mut line = format!("aw debate run {}", quoted(&plan));
        for (flag, value) in [
            ("--proposer", &self.proposer),
            ("--opponent", &self.opponent),
            ("--arbitrator", &self.arbitrator),
            ("--rounds", &self.rounds),
            ("--max-time", &self.max_time),
            ("--max-tokens", &self.max_tokens),
            ("--ask", &self.ask),
        ] {
            let value = one_line(value);
            if !value.is_empty() {
                // With `=` a value may begin with a dash.
                let joint = if value.starts_with('-') { '=' } else { ' ' };
                line.push_str(&format!(" {flag}{joint}{}", quoted(&value)));
            }
        }
        line
    }
}

/// The value in one line, without control characters: a terminal would act on them.
fn one_line(value: &str) -> String {
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    value.chars().map(visible).collect::<String>().trim().to_owned()
}

/// A word of a shell, in single quotes unless it is plain.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@+".contains(c);
    match word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_what_was_chosen_and_nothing_else() {
        assert_eq!(RunQuery::default().line(), "aw debate run PLAN.md");
        let chosen = RunQuery {
            plan: "docs/the plan.md".into(),
            proposer: "claude:opus".into(),
            opponent: "codex".into(),
            rounds: "3".into(),
            max_tokens: "400000".into(),
            ask: "Can it lose Ann's data?".into(),
            ..RunQuery::default()
        };
        assert_eq!(
            chosen.line(),
            "aw debate run 'docs/the plan.md' --proposer claude:opus --opponent codex --rounds 3 \
             --max-tokens 400000 --ask 'Can it lose Ann'\\''s data?'"
        );
    }

    #[test]
    fn no_value_can_end_its_word() {
        for value in
            ["x; rm -rf ~", "$(id)", "`id`", "a\nb", "'; id; '", "-x", "--stop", "a\u{1b}[2K"]
        {
            let query =
                RunQuery { plan: value.into(), opponent: value.into(), ..Default::default() };
            let line = query.line();
            assert!(!line.contains(|c: char| c.is_control()), "{line:?}");
            let words = shell_words(&line);
            let plan = one_line(value);
            let dashed = plan.starts_with('-');
            assert_eq!(words[3], if dashed { format!("./{plan}") } else { plan.clone() }, "{line}");
            let opponent: Vec<String> = match dashed {
                true => vec![format!("--opponent={plan}")],
                false => vec!["--opponent".to_owned(), plan],
            };
            assert_eq!(words[4..], opponent, "{line}");
        }
    }

    /// The words that a shell makes of a line.
    fn shell_words(line: &str) -> Vec<String> {
        let list = format!("printf '%s\\0' {line}");
        let output = std::process::Command::new("sh").args(["-c", &list]).output().unwrap();
        let words = String::from_utf8(output.stdout).unwrap();
        words.split_terminator('\0').map(str::to_owned).collect()
    }
}
