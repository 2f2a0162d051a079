//! Completions and manual pages, from the same definition as the help.

use std::fs;
use std::path::PathBuf;

use aw_core::{Role, State};
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use serde_json::json;

use super::human;
use super::output::{Answer, CliError, Shown};
use crate::kit::host::Host;
use crate::kit::texts::{BuiltIn, Language};

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
        // These parts are otherwise built only when their command is typed.
        command.build();
        let mut script = Vec::new();
        let mut offered = offering(without_hidden(&command));
        clap_complete::generate(self.shell, &mut offered, "aw", &mut script);
        let script = String::from_utf8_lossy(&script);
        let script = match self.shell {
            Shell::Bash => format!("{script}{BASH}"),
            Shell::Fish => format!("{script}{FISH}"),
            Shell::Zsh => {
                let named = |line: &str| {
                    let has = |words: [&str; 2]| words.iter().any(|words| line.contains(words));
                    match (
                        has([":DEBATE:", " -- The debate"]),
                        has([":DOCUMENT:", " -- The document"]),
                    ) {
                        (true, _) => line.replace(":_default", ":_aw_debates"),
                        (false, true) => line.replace(":_default", ":_aw_documents"),
                        (false, false) => line.to_owned(),
                    }
                };
                let script: String = script.split_inclusive('\n').map(named).collect();
                script.replacen("#compdef aw\n", &format!("#compdef aw\n{ZSH}"), 1)
            }
            _ => script.into_owned(),
        };
        Ok(Shown::Raw(script.into_bytes()))
    }
}

/// Asks for debates and documents, with their titles where there are several to choose from.
const BASH: &str = r#"
_aw_offer() {
    local id title offers=() cur="${COMP_WORDS[COMP_CWORD]}"
    while IFS=$'\t' read -r id title; do
        [[ "$id" == "$cur"* ]] && offers+=("$id  $title")
    done < <(aw complete "$1" 2>/dev/null)
    if (( ${#offers[@]} == 1 )); then
        COMPREPLY=("${offers[0]%%  *}")
    else
        COMPREPLY=("${offers[@]}")
    fi
}

_aw_with_ids() {
    local before="${COMP_WORDS[COMP_CWORD-1]}"
    case "$before" in
        --debate-id|--debate|--resume|--stop)
            _aw_offer debates
            return ;;
    esac
    if [[ "$COMP_CWORD" == 3 && "${COMP_WORDS[COMP_CWORD]}" != -* ]]; then
        case "${COMP_WORDS[1]}:$before" in
            docs:get|docs:submit|docs:history|docs:diff|docs:export|docs:delete|docs:restore)
                _aw_offer documents
                return ;;
            debate:create|debate:generate-id|debate:list|debate:run|debate:types|debate:watch) ;;
            debate:*)
                _aw_offer debates
                return ;;
        esac
    fi
    _aw "$@"
}

complete -F _aw_with_ids -o nosort -o bashdefault -o default aw 2>/dev/null ||
    complete -F _aw_with_ids -o bashdefault -o default aw
"#;

const FISH: &str = r#"
complete -c aw -l debate-id -l debate -x -a '(aw complete debates 2>/dev/null)'
complete -c aw -n '__fish_seen_subcommand_from debate; and __fish_seen_subcommand_from get-context submit wait appeal request-completion ruling intervention open export result points verify archive purge delete invite' -f -a '(aw complete debates 2>/dev/null)'
complete -c aw -n '__fish_seen_subcommand_from docs; and __fish_seen_subcommand_from get submit history diff export delete restore' -f -a '(aw complete documents 2>/dev/null)'
"#;

const ZSH: &str = r#"
_aw_offer() {
    local id title
    local -a offers
    while IFS=$'\t' read -r id title; do
        offers+=("$id:$title")
    done < <(aw complete "$1" 2>/dev/null)
    _describe "$1" offers
}
_aw_debates() { _aw_offer debates }
_aw_documents() { _aw_offer documents }
"#;

/// The program without the commands that only programs run.
fn without_hidden(command: &clap::Command) -> clap::Command {
    clap::Command::new(command.get_name().to_owned())
        .disable_help_flag(true)
        .disable_version_flag(true)
        .disable_help_subcommand(true)
        .version(command.get_version().unwrap_or_default().to_owned())
        .args(command.get_arguments())
        .subcommands(command.get_subcommands().filter(|sub| !sub.is_hide_set()))
}

/// The command with the words that a shell offers for its arguments. The server accepts more words
/// than these.
fn offering(command: clap::Command) -> clap::Command {
    let words: fn(&str) -> Vec<&'static str> = |id| match id {
        "role" => Role::ALL.iter().map(|role| role.as_str()).collect(),
        "state" => State::ALL.iter().map(|state| state.as_str()).collect(),
        "debate_type" => BuiltIn::ALL.map(BuiltIn::name).to_vec(),
        "resolution_policy" => vec!["auto", "arbitrator"],
        "outcome" => vec!["agreed", "ruled", "left_open", "completed", "open"],
        "proposer" | "opponent" => vec!["claude", "codex", "gemini", "opencode"],
        "arbitrator" => vec!["me", "none", "claude", "codex", "gemini", "opencode"],
        "blocking" => vec!["critical", "major"],
        "lang" => Language::ALL.map(Language::as_str).to_vec(),
        "host" => Host::ALL.map(Host::as_str).into_iter().chain(["all"]).collect(),
        _ => Vec::new(),
    };
    let command =
        command.mut_args(|arg| match (arg.get_id().as_str(), words(arg.get_id().as_str())) {
            ("debate_id" | "debate" | "resume" | "stop", _) => arg.value_name("DEBATE"),
            (_, words) if words.is_empty() => arg,
            (_, words) => arg.value_parser(PossibleValuesParser::new(words)),
        });
    command.mut_subcommands(offering)
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
