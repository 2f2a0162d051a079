//! Completions and manual pages, from the same definition as the help.

use std::fs;
use std::path::PathBuf;

use clap_complete::Shell;
use serde_json::json;

use super::human;
use super::output::{Answer, CliError, Shown};

#[derive(Debug, clap::Args)]
pub(super) struct Completions {
    /// bash, zsh, fish, elvish or powershell
    #[arg(hide_possible_values = true)]
    shell: Shell,
}

#[derive(Debug, clap::Args)]
pub(super) struct Man {
    /// Write a page for every command into this folder, instead of the first one to stdout
    #[arg(long, short, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

impl Completions {
    pub(super) fn run(self, mut command: clap::Command) -> Result<Shown, CliError> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "aw", &mut script);
        Ok(Shown::Raw(script))
    }
}

impl Man {
    pub(super) fn run(self, command: &clap::Command) -> Result<Shown, CliError> {
        let failed = |error: std::io::Error| {
            CliError::input(format!("the manual cannot be written: {error}"))
        };
        let Some(folder) = &self.output else {
            let mut page = Vec::new();
            clap_mangen::Man::new(command.clone()).render(&mut page).map_err(failed)?;
            return Ok(Shown::Raw(page));
        };
        fs::create_dir_all(folder).map_err(failed)?;
        clap_mangen::generate_to(command.clone(), folder).map_err(failed)?;
        let data = json!({"output": folder.display().to_string()});
        Ok(Shown::Answer(Answer::new(data, human::fields).message("Manual pages written")))
    }
}
