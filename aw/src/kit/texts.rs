//! The embedded texts of the kit: one command for each role, and the rules of the built-in types, in
//! English and Vietnamese.

use std::str::FromStr;

use aw_core::{ByRole, Role};

use crate::policy::{Command, Users};

/// A language that the kit is written in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Vietnamese.
    Vietnamese,
}

impl Language {
    /// All languages.
    pub const ALL: [Language; 2] = [Language::English, Language::Vietnamese];

    /// Its short name.
    pub fn as_str(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Vietnamese => "vi",
        }
    }

    /// The phrases for the origin of rules.
    pub(super) fn origins(self) -> &'static Origins {
        &self.texts().origins
    }

    fn texts(self) -> &'static Texts {
        match self {
            Language::English => &ENGLISH,
            Language::Vietnamese => &VIETNAMESE,
        }
    }
}

impl FromStr for Language {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Language::ALL
            .into_iter()
            .find(|language| language.as_str() == text)
            .ok_or("it must be en or vi")
    }
}

/// The texts in one language.
struct Texts {
    commands: ByRole<&'static str>,
    coding_plan: ByRole<&'static str>,
    general: ByRole<&'static str>,
    /// How the commands map to the tools of MCP.
    tools: &'static str,
    /// How to run commands, and what to do when a `wait` times out.
    running: &'static str,
    /// The text before the rules of the built-in types.
    rules: &'static str,
    /// The phrases for the origin of rules.
    origins: Origins,
    /// The lines for a file that every agent of a project reads.
    notice: &'static str,
    /// The description of each skill.
    descriptions: ByRole<&'static str>,
}

/// The phrases for the origin of rules.
pub(super) struct Origins {
    pub(super) built_in: &'static str,
    pub(super) user: &'static str,
    pub(super) project: &'static str,
    pub(super) creator: &'static str,
    /// Says that they replace built-in rules.
    pub(super) replaces: &'static str,
    /// Explains quoted rules.
    pub(super) quoted: &'static str,
}

macro_rules! texts {
    ($language:literal) => {
        Texts {
            commands: ByRole {
                proposer: text!($language, "commands/proposer.md"),
                opponent: text!($language, "commands/opponent.md"),
                arbitrator: text!($language, "commands/arbitrator.md"),
            },
            coding_plan: ByRole {
                proposer: text!($language, "rules/proposer/coding-plan.md"),
                opponent: text!($language, "rules/opponent/coding-plan.md"),
                arbitrator: text!($language, "rules/arbitrator/coding-plan.md"),
            },
            general: ByRole {
                proposer: text!($language, "rules/proposer/general.md"),
                opponent: text!($language, "rules/opponent/general.md"),
                arbitrator: text!($language, "rules/arbitrator/general.md"),
            },
            tools: text!($language, "parts/tools.md"),
            running: text!($language, "parts/running.md"),
            rules: text!($language, "parts/rules.md"),
            origins: Origins {
                built_in: text!($language, "parts/origin-built-in.md").trim_ascii(),
                user: text!($language, "parts/origin-user.md").trim_ascii(),
                project: text!($language, "parts/origin-project.md").trim_ascii(),
                creator: text!($language, "parts/origin-creator.md").trim_ascii(),
                replaces: text!($language, "parts/replaces.md").trim_ascii(),
                quoted: text!($language, "parts/quoted-rules.md").trim_ascii(),
            },
            notice: text!($language, "parts/notice.md"),
            descriptions: ByRole {
                proposer: text!($language, "parts/proposer.txt"),
                opponent: text!($language, "parts/opponent.txt"),
                arbitrator: text!($language, "parts/arbitrator.txt"),
            },
        }
    };
}

macro_rules! text {
    ($language:literal, $name:literal) => {
        include_str!(concat!("../../agent/", $language, "/", $name))
    };
}

static ENGLISH: Texts = texts!("en");
static VIETNAMESE: Texts = texts!("vi");

/// A type of debate whose rules are part of the kit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuiltIn {
    /// A plan for code.
    CodingPlan,
    /// Anything else.
    General,
}

impl BuiltIn {
    /// All built-in types.
    pub const ALL: [BuiltIn; 2] = [BuiltIn::CodingPlan, BuiltIn::General];

    /// Finds a built-in type by its name in debates.
    pub fn named(name: &str) -> Option<Self> {
        BuiltIn::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Its name in debates.
    pub fn name(self) -> &'static str {
        match self {
            BuiltIn::CodingPlan => "coding_plan_debate",
            BuiltIn::General => "general_debate",
        }
    }

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            BuiltIn::CodingPlan => "Coding plan",
            BuiltIn::General => "General debate",
        }
    }

    /// Its description.
    pub fn description(self) -> &'static str {
        match self {
            BuiltIn::CodingPlan => "A plan for code, examined against the code it touches",
            BuiltIn::General => "Any claim that could be wrong: a decision, a design, a text",
        }
    }

    /// The rules of its roles.
    pub fn rules(self, language: Language) -> ByRole<&'static str> {
        match self {
            BuiltIn::CodingPlan => language.texts().coding_plan,
            BuiltIn::General => language.texts().general,
        }
    }
}

/// The languages of a text of the kit.
#[derive(Debug, Clone, Copy)]
pub struct Voice<'a> {
    /// The language of the kit.
    pub language: Language,
    /// The language that agents debate in.
    pub debate_language: &'a str,
}

impl Voice<'_> {
    /// The command of a role and these rules in one text. Without rules, the command says how to read those of a
    /// debate.
    pub fn guide(&self, role: Role, rules: &str) -> String {
        self.command(role, rules.trim())
    }

    /// The rules of all built-in types, and how to get others.
    pub fn built_in_rules(&self, role: Role) -> String {
        let opening = self.language.texts().rules.replace("{{role}}", role.as_str());
        let rules = BuiltIn::ALL.map(|kind| kind.rules(self.language).get(role).trim());
        format!("{}\n\n{}\n", opening.trim(), rules.join("\n\n"))
    }

    /// The command of a role as a skill.
    pub fn skill(&self, role: Role) -> String {
        format!(
            "---\nname: {}\ndescription: {}\n---\n\n{}",
            skill_name(role),
            self.description(role),
            self.guide(role, ""),
        )
    }

    /// When an agent should take this role, in one line.
    pub fn description(&self, role: Role) -> &'static str {
        self.language.texts().descriptions.get(role).trim()
    }

    /// A few lines for a file that every agent of a project reads.
    pub fn notice(&self) -> &'static str {
        self.language.texts().notice.trim()
    }

    fn command(&self, role: Role, rules: &str) -> String {
        let texts = self.language.texts();
        // Commands of one group follow its name: `aw docs` get, list.
        let commands = |wanted: &dyn Fn(Command) -> bool| {
            let group_of = |name: &'static str| name.split(' ').next();
            let mut names: Vec<&str> =
                Command::ALL.iter().filter(|it| wanted(**it)).map(|it| it.name()).collect();
            let groups: Vec<_> = names.iter().map(|name| group_of(name)).collect();
            names.sort_by_key(|name| groups.iter().position(|group| *group == group_of(name)));
            let mut typed: Vec<String> = Vec::new();
            let mut group = "";
            for name in names {
                match name.split_once(' ') {
                    Some((same, name)) if same == group => typed.push(name.to_owned()),
                    Some((new, name)) => {
                        group = new;
                        typed.push(format!("`aw {new}` {name}"));
                    }
                    None => typed.push(format!("`aw {name}`")),
                }
            }
            typed.join(", ")
        };
        let persons = |command: Command| command.users() == Users::Person;
        let mut text = texts
            .commands
            .get(role)
            .replace("{{debate_language}}", self.debate_language)
            .replace("{{yours}}", &commands(&|command| command.is_for(role)))
            .replace("{{others}}", &commands(&|it| !it.is_for(role) && !persons(it)))
            .replace("{{tools}}", texts.tools.replace("{{role}}", role.as_str()).trim())
            .replace("{{running}}", texts.running.trim())
            .replace("{{rules}}", rules);
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }
}

/// The name of a role's skill.
pub fn skill_name(role: Role) -> String {
    format!("debate-{}", role.as_str())
}
