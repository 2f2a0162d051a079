//! Which commands each role may use: one table for the kit's texts, for the tools that agents are
//! offered, and for whoever must hold a caller to its role.

use std::fmt;

use aw_core::Role;

/// A command of `aw` that has to do with debates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tool {
    /// As it is typed, after `aw`.
    pub command: &'static str,
    /// Whose it is.
    pub users: Users,
}

/// Who may use a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Users {
    /// Every role.
    Everybody,
    /// The two who argue.
    Debaters,
    /// The proposer alone.
    Proposer,
    /// The arbitrator alone.
    Arbitrator,
    /// A person, or an agent whose user asked for it.
    Person,
}

/// The table.
pub const TOOLS: &[Tool] = &[
    tool("debate generate-id", Users::Everybody),
    tool("debate get-context", Users::Everybody),
    tool("debate wait", Users::Everybody),
    tool("debate list", Users::Everybody),
    tool("debate types", Users::Everybody),
    tool("debate export", Users::Everybody),
    tool("debate verify", Users::Everybody),
    tool("docs get", Users::Everybody),
    tool("docs list", Users::Everybody),
    tool("docs history", Users::Everybody),
    tool("docs diff", Users::Everybody),
    tool("docs export", Users::Everybody),
    tool("agent show", Users::Everybody),
    tool("doctor", Users::Everybody),
    tool("debate submit", Users::Debaters),
    tool("debate create", Users::Proposer),
    tool("debate appeal", Users::Proposer),
    tool("debate request-completion", Users::Proposer),
    tool("docs create", Users::Proposer),
    tool("docs submit", Users::Proposer),
    tool("docs restore", Users::Proposer),
    tool("debate ruling", Users::Arbitrator),
    tool("debate intervention", Users::Arbitrator),
    tool("debate open", Users::Person),
    tool("debate invite", Users::Person),
    tool("debate delete", Users::Person),
    tool("docs delete", Users::Person),
    tool("server", Users::Person),
    tool("token", Users::Person),
    tool("mcp", Users::Person),
    tool("agent install", Users::Person),
    tool("agent uninstall", Users::Person),
    tool("agent list", Users::Person),
    tool("agent doctor", Users::Person),
];

const fn tool(command: &'static str, users: Users) -> Tool {
    Tool { command, users }
}

impl Tool {
    /// Whether a role may use it without being told to by its user.
    pub fn is_for(self, role: Role) -> bool {
        match self.users {
            Users::Everybody => true,
            Users::Debaters => matches!(role, Role::Proposer | Role::Opponent),
            Users::Proposer => role == Role::Proposer,
            Users::Arbitrator => role == Role::Arbitrator,
            Users::Person => false,
        }
    }
}

/// Why somebody who is held to a role may not do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denied {
    /// The command is for others.
    Command {
        /// The role that it is held to.
        own: Role,
        /// For whom the command is.
        users: Users,
    },
    /// It named another role.
    Role {
        /// The role that it is held to.
        own: Role,
        /// The role that it named.
        named: Role,
    },
}

/// Checks a command, and the role that it names, for somebody who is held to a role. A command that
/// is not in the table has nothing to do with debates.
pub fn check(own: Role, command: &str, named: Option<Role>) -> Result<(), Denied> {
    let family = command.split(' ').next().unwrap_or(command);
    let tool = TOOLS.iter().find(|tool| tool.command == command);
    let tool = tool.or_else(|| TOOLS.iter().find(|tool| tool.command == family));
    match (tool, named) {
        (Some(tool), _) if !tool.is_for(own) => Err(Denied::Command { own, users: tool.users }),
        (_, Some(named)) if named != own => Err(Denied::Role { own, named }),
        (_, _) => Ok(()),
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Denied::Command { own, users } => {
                let whose = match users {
                    Users::Everybody => "everybody",
                    Users::Debaters => "the proposer and the opponent",
                    Users::Proposer => "the proposer",
                    Users::Arbitrator => "the arbitrator",
                    Users::Person => "a person",
                };
                write!(f, "is for {whose}, and you are the {own}")
            }
            Denied::Role { own, named } => {
                write!(f, "cannot be used as the {named}: you are the {own}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_held_to_its_own_commands_and_to_its_own_name() {
        let opponent = |command: &str, named: Option<Role>| {
            check(Role::Opponent, command, named).map_err(|denied| denied.to_string())
        };
        assert_eq!(opponent("debate submit", Some(Role::Opponent)), Ok(()));
        assert_eq!(opponent("debate wait", None), Ok(()));
        assert_eq!(opponent("completions", None), Ok(()));
        for (command, named, said) in [
            ("debate appeal", None, "is for the proposer, and you are the opponent"),
            ("debate ruling", None, "is for the arbitrator, and you are the opponent"),
            ("server stop", None, "is for a person, and you are the opponent"),
            (
                "debate wait",
                Some(Role::Proposer),
                "cannot be used as the proposer: you are the opponent",
            ),
        ] {
            assert_eq!(opponent(command, named), Err(said.to_owned()), "{command}");
        }
    }

    #[test]
    fn the_table_is_the_one_of_the_contract() {
        const EVERY: [Role; 3] = [Role::Proposer, Role::Opponent, Role::Arbitrator];
        let contract: &[(&[&str], &[Role])] = &[
            (
                &[
                    "debate generate-id",
                    "debate get-context",
                    "debate wait",
                    "debate list",
                    "debate export",
                    "docs get",
                    "docs list",
                    "docs history",
                    "docs diff",
                ],
                &EVERY,
            ),
            (&["debate submit"], &[Role::Proposer, Role::Opponent]),
            (
                &[
                    "debate create",
                    "debate appeal",
                    "debate request-completion",
                    "docs create",
                    "docs submit",
                ],
                &[Role::Proposer],
            ),
            (&["debate ruling", "debate intervention"], &[Role::Arbitrator]),
            (&["debate delete", "server", "agent install"], &[]),
        ];
        for (commands, roles) in contract {
            for command in *commands {
                let tool = TOOLS.iter().find(|tool| tool.command == *command);
                let tool = tool.unwrap_or_else(|| panic!("{command} is not in the table"));
                for role in EVERY {
                    assert_eq!(tool.is_for(role), roles.contains(&role), "{command}, {role:?}");
                }
            }
        }
    }
}
