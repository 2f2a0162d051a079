//! The commands and tools that `aw agent install --allow` lets agents use without asking, as each host writes it.

use std::fmt::Write as _;

use aw_core::Role;

use super::edit::{Allow, NAME, allow};
use super::host::{Host, ROLES};
use crate::policy::Command;

/// The commands that an agent may run without asking: those of its role, or of any role if it has none. Commands
/// that write a file are not among them, since they would overwrite any file.
fn commands(role: Option<Role>) -> impl Iterator<Item = &'static str> {
    let may = move |command: &Command| match role {
        Some(role) => command.is_for(role),
        None => ROLES.into_iter().any(|role| command.is_for(role)),
    };
    let all = Command::ALL.iter().filter(move |command| may(command) && !command.writes_files());
    all.map(|command| command.name())
}

/// The rules in the JSON settings of a host; none where the host has none or another form.
pub fn rules(host: Host, role: Option<Role>, with_tools: bool) -> Option<Allow> {
    let form = Form::of(host)?;
    let mut rules: Vec<String> =
        commands(role).map(|name| form.rule.replace("NAME", name)).collect();
    rules.extend(form.tools.filter(|_| with_tools).map(str::to_owned));
    Some(Allow { place: form.place, is_list: form.is_list, beside: form.beside, rules })
}

/// The host whose rules an inserted text has, with all of its rules.
pub fn rules_like(text: &str) -> Option<Allow> {
    let begins = |host: Host| {
        let form = Form::of(host)?;
        let (begin, _) = form.rule.split_once("NAME")?;
        let mut quoted = allow::rules_in(text).into_iter();
        let is_it = |rule: String| rule.starts_with(begin) || Some(rule.as_str()) == form.tools;
        quoted.any(is_it).then(|| rules(host, None, true))?
    };
    Host::ALL.into_iter().find_map(begins)
}

/// The rules of Codex, as a file. They also let the commands out of its sandbox.
pub fn codex_rules(role: Option<Role>) -> String {
    let mut families: Vec<(&str, Vec<String>)> = Vec::new();
    for command in commands(role) {
        let (family, name) = command.split_once(' ').unwrap_or((command, ""));
        match families.last_mut() {
            Some((last, names)) if *last == family => names.push(format!("\"{name}\"")),
            _ => families.push((family, vec![format!("\"{name}\"")])),
        }
    }
    let mut text = String::new();
    for (family, names) in families {
        let names = match names.as_slice() {
            [name] if name == "\"\"" => String::new(),
            [name] => format!(", {name}"),
            names => format!(", [{}]", names.join(", ")),
        };
        let _ = writeln!(
            text,
            "prefix_rule(pattern=[\"{NAME}\", \"{family}\"{names}], decision=\"allow\")"
        );
    }
    text
}

/// How a host writes its rules.
struct Form {
    place: [&'static str; 2],
    is_list: bool,
    beside: Option<(&'static str, &'static str)>,
    /// The rule of a command, whose name is in the place of `NAME`.
    rule: &'static str,
    /// The rule of all tools of `aw mcp`, where the entry itself does not say it.
    tools: Option<&'static str>,
}

impl Form {
    fn of(host: Host) -> Option<Self> {
        let place = ["permissions", "allow"];
        Some(match host {
            Host::Claude => Form {
                place,
                is_list: true,
                beside: None,
                rule: "Bash(aw NAME *)",
                tools: Some("mcp__aw"),
            },
            // Its settings name both lists, or none.
            Host::Cursor => Form {
                place,
                is_list: true,
                beside: Some(("deny", "[]")),
                rule: "Shell(aw:NAME*)",
                tools: Some("Mcp(aw:*)"),
            },
            // It ignores the policies of a project, but not this older list.
            Host::Gemini => Form {
                place: ["tools", "allowed"],
                is_list: true,
                beside: None,
                rule: "run_shell_command(aw NAME)",
                tools: None,
            },
            // It asks before no tool unless its user wants it to.
            Host::Opencode => Form {
                place: ["permission", "bash"],
                is_list: false,
                beside: None,
                rule: "aw NAME*",
                tools: None,
            },
            Host::Codex | Host::Agents => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_command_of_a_person_and_none_that_writes_files_is_allowed() {
        for role in [None, Some(Role::Proposer), Some(Role::Opponent), Some(Role::Arbitrator)] {
            let all: Vec<&str> = commands(role).collect();
            assert!(all.contains(&"debate wait") && all.contains(&"agent show"), "{all:?}");
            for never in [
                "debate delete",
                "debate purge",
                "debate archive",
                "debate invite",
                "debate run",
                "docs delete",
                "server",
                "token",
                "mcp",
                "agent install",
                "agent uninstall",
                "debate export",
                "debate result",
                "docs export",
            ] {
                assert!(!all.contains(&never), "{never}");
                // Nor does a shorter rule cover it.
                assert!(!all.iter().any(|rule| never.starts_with(rule)), "{never}: {all:?}");
            }
            assert_eq!(
                all.contains(&"debate ruling"),
                matches!(role, None | Some(Role::Arbitrator))
            );
            assert_eq!(all.contains(&"debate create"), matches!(role, None | Some(Role::Proposer)));
        }
    }

    #[test]
    fn the_host_of_a_rule_is_known_by_its_words() {
        for host in Host::ALL {
            for with_tools in [true, false] {
                let Some(allow) = rules(host, Some(Role::Opponent), with_tools) else { continue };
                for rule in &allow.rules {
                    let known = rules_like(&format!(", \"{rule}\"")).unwrap();
                    assert_eq!(known.place, allow.place, "{rule}");
                }
            }
        }
        assert_eq!(
            rules_like("\"hooks\": [{\"command\": \"aw wake claude\"}]").map(|it| it.place),
            None
        );
    }

    #[test]
    fn the_rules_of_codex_name_each_command() {
        let text = codex_rules(Some(Role::Arbitrator));
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[0].starts_with("prefix_rule(pattern=[\"aw\", \"debate\", [\"generate-id\", ")
        );
        assert!(text.contains("pattern=[\"aw\", \"search\"], decision=\"allow\")"), "{text}");
        assert!(text.contains("pattern=[\"aw\", \"agent\", \"show\"], decision"), "{text}");
        assert!(text.contains("\"ruling\"") && !text.contains("\"create\""), "{text}");
    }
}
