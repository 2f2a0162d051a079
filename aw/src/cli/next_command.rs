//! Builds command lines to run next, quoted for a POSIX shell.

use std::fmt::Write;

use super::output::Format;

/// The placeholder for the agent's own file. It does not exist, so a command that is run as printed
/// posts nothing.
pub(super) const YOUR_TEXT: &str = "YOUR_TEXT.md";

/// A command line of `aw`.
#[derive(Debug, Clone)]
pub(super) struct CommandLine(String);

impl CommandLine {
    /// `aw` with this command.
    pub(super) fn new(command: &str) -> Self {
        CommandLine(format!("aw {command}"))
    }

    /// With this flag and its value.
    pub(super) fn flag(mut self, name: &str, value: &str) -> Self {
        // A value that looks like a flag must not be taken for one.
        let joint = if value.starts_with('-') { '=' } else { ' ' };
        // Writing to a String cannot fail.
        let _ = write!(self.0, " {name}{joint}{}", quoted(value));
        self
    }

    /// With this flag, if it has a value.
    pub(super) fn flag_if(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.flag(name, value),
            None => self,
        }
    }

    /// With this word.
    pub(super) fn word(mut self, word: &str) -> Self {
        self.0.push(' ');
        self.0.push_str(&quoted(word));
        self
    }

    /// With this word, if `wanted`.
    pub(super) fn word_if(self, word: &str, is_wanted: bool) -> Self {
        if is_wanted { self.word(word) } else { self }
    }

    /// With this format, unless it is the default of the next command.
    pub(super) fn format(self, format: Format) -> Self {
        self.flag_if("--format", (format != Format::usual()).then(|| format.as_str()))
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}

/// The word, quoted for a shell if needed.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        for word in [
            "",
            "plain",
            "two words",
            "it's",
            "$HOME `x` \\ \"q\" ; & | < > * ? ~ # !",
            "Kế hoạch\nhai dòng",
        ] {
            let printed = Command::new("sh")
                .arg("-c")
                .arg(format!("printf %s {}", quoted(word)))
                .output()
                .unwrap();
            assert_eq!(String::from_utf8(printed.stdout).unwrap(), word);
        }
    }
}
