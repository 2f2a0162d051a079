//! Which commands each role may use: one table for the kit's texts, the MCP tools, the command line and
//! the server.

use std::fmt;

use aw_core::Role;

/// The users of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Users {
    /// Every role.
    Everybody,
    /// The proposer and the opponent.
    Debaters,
    /// The proposer alone.
    Proposer,
    /// The arbitrator alone.
    Arbitrator,
    /// A person, or an agent whose user asked for it.
    Person,
}

/// Makes the enum of commands from their table.
macro_rules! commands {
    ($($command:ident = $name:literal, $users:ident;)*) => {
        /// A command of `aw` that concerns debates.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Command {
            $(#[doc = concat!("`aw ", $name, "`.")] $command,)*
        }

        impl Command {
            /// All commands, in the order of the table.
            pub const ALL: &[Command] = &[$(Command::$command,)*];

            /// The command as a user types it, after `aw`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Command::$command => $name,)*
                }
            }

            /// The users of the command.
            pub const fn users(self) -> Users {
                match self {
                    $(Command::$command => Users::$users,)*
                }
            }
        }
    };
}

commands! {
    DebateGenerateId = "debate generate-id", Everybody;
    DebateGetContext = "debate get-context", Everybody;
    DebateWait = "debate wait", Everybody;
    DebateList = "debate list", Everybody;
    DebateTypes = "debate types", Everybody;
    DebateResult = "debate result", Everybody;
    DebateExport = "debate export", Everybody;
    DebateVerify = "debate verify", Everybody;
    DebatePoints = "debate points", Everybody;
    Search = "search", Everybody;
    DocsGet = "docs get", Everybody;
    DocsList = "docs list", Everybody;
    DocsHistory = "docs history", Everybody;
    DocsDiff = "docs diff", Everybody;
    DocsExport = "docs export", Everybody;
    AgentShow = "agent show", Everybody;
    Doctor = "doctor", Everybody;
    DebateSubmit = "debate submit", Debaters;
    DebateCreate = "debate create", Proposer;
    DebateAppeal = "debate appeal", Proposer;
    DebateRequestCompletion = "debate request-completion", Proposer;
    DocsCreate = "docs create", Proposer;
    DocsSubmit = "docs submit", Proposer;
    DocsRestore = "docs restore", Proposer;
    DebateRuling = "debate ruling", Arbitrator;
    DebateIntervention = "debate intervention", Arbitrator;
    DebateRun = "debate run", Person;
    DebateOpen = "debate open", Person;
    DebateWatch = "debate watch", Person;
    DebateInvite = "debate invite", Person;
    DebateArchive = "debate archive", Person;
    DebateDelete = "debate delete", Person;
    DebatePurge = "debate purge", Person;
    DocsDelete = "docs delete", Person;
    Server = "server", Person;
    Token = "token", Person;
    Mcp = "mcp", Person;
    AgentInstall = "agent install", Person;
    AgentUninstall = "agent uninstall", Person;
    AgentList = "agent list", Person;
    AgentDoctor = "agent doctor", Person;
}

impl Command {
    /// Finds a command by the words that a user types.
    pub fn named(name: &str) -> Option<Self> {
        Command::ALL.iter().copied().find(|command| command.name() == name)
    }

    /// Whether the command writes a file that its caller names.
    pub fn writes_files(self) -> bool {
        matches!(self, Command::DebateExport | Command::DebateResult | Command::DocsExport)
    }

    /// Whether a role may use the command without its user's order.
    pub fn is_for(self, role: Role) -> bool {
        match self.users() {
            Users::Everybody => true,
            Users::Debaters => matches!(role, Role::Proposer | Role::Opponent),
            Users::Proposer => role == Role::Proposer,
            Users::Arbitrator => role == Role::Arbitrator,
            Users::Person => false,
        }
    }
}

/// Why a caller that is bound to a role may not run a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denied {
    /// The command belongs to other users.
    Command {
        /// The caller's role.
        own: Role,
        /// The users of the command.
        users: Users,
    },
    /// The command names another role.
    Role {
        /// The caller's role.
        own: Role,
        /// The role in the command.
        named: Role,
    },
}

/// Checks a command, and the role in it, for a caller that is bound to a role. A command outside the
/// table concerns no debate and is free.
pub fn check(own: Role, command: &str, named: Option<Role>) -> Result<(), Denied> {
    let family = command.split(' ').next().unwrap_or(command);
    match (Command::named(command).or_else(|| Command::named(family)), named) {
        (Some(command), _) if !command.is_for(own) => {
            Err(Denied::Command { own, users: command.users() })
        }
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
    fn a_role_may_use_only_its_own_commands_under_its_own_name() {
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
    fn the_table_agrees_with_the_contract() {
        const EVERY: [Role; 3] = [Role::Proposer, Role::Opponent, Role::Arbitrator];
        let contract: &[(&[&str], &[Role])] = &[
            (
                &[
                    "debate generate-id",
                    "debate get-context",
                    "debate wait",
                    "debate list",
                    "debate result",
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
                let found = Command::named(command);
                let found = found.unwrap_or_else(|| panic!("{command} is not in the table"));
                for role in EVERY {
                    assert_eq!(found.is_for(role), roles.contains(&role), "{command}, {role:?}");
                }
            }
        }
    }
}
