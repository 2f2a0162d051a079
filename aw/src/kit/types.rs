//! Types of debate: the built-in ones, and those that a user or a project adds or overrides in
//! `debate-types/<type>/{type.toml,proposer.md,opponent.md,arbitrator.md}`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use aw_core::{ByRole, DebateType, Role, Summary, Title};
use aw_record::TypeTexts;
use serde::Deserialize;

use super::texts::{BuiltIn, Language};

/// Where a type comes from; a later one overrides an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The kit.
    BuiltIn,
    /// The user's data folder.
    User,
    /// The project's `.aweave`.
    Project,
}

impl Origin {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Origin::BuiltIn => "built_in",
            Origin::User => "user",
            Origin::Project => "project",
        }
    }
}

/// A type of debate, ready for use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Type {
    /// As debates name it.
    pub name: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Its folder, unless it is built in.
    pub folder: Option<PathBuf>,
    /// What it is called.
    pub title: String,
    /// What it is for.
    pub description: String,
    /// What its roles go by.
    pub rules: ByRole<String>,
}

/// A type that is there but cannot be used, or is not there.
#[derive(Debug, thiserror::Error)]
pub enum BadType {
    /// The folder's name is not one of a type.
    #[error("{}: a type's name begins with a small letter and has small letters, digits and _ only, at most 64", .0.display())]
    Name(PathBuf),
    /// A file is missing.
    #[error("{} is missing: a type needs type.toml, proposer.md, opponent.md and arbitrator.md", .0.display())]
    Missing(PathBuf),
    /// A file of another name.
    #[error("{} is not a file of a type: those are type.toml, proposer.md, opponent.md and arbitrator.md", .0.display())]
    Stray(PathBuf),
    /// A file cannot be read.
    #[error("{path}: {1}", path = .0.display())]
    Unreadable(PathBuf, io::Error),
    /// A file says nothing.
    #[error("{} is blank: write what the role must do, or remove it", .0.display())]
    Blank(PathBuf),
    /// A file has a character that no text may have.
    #[error("{} contains U+0000", .0.display())]
    Nul(PathBuf),
    /// The texts are too long to go with a debate.
    #[error("the rules in {} are {len} bytes together, the limit is {max}", .folder.display())]
    TooLong {
        /// The folder.
        folder: PathBuf,
        /// How long they are.
        len: usize,
        /// How long they may be.
        max: usize,
    },
    /// `type.toml` is not as it should be.
    #[error("{path}: {1}", path = .0.display())]
    Description(PathBuf, String),
}

/// `type.toml`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TypeFile {
    title: String,
    description: String,
}

/// Where types are looked for.
#[derive(Debug, Clone)]
pub struct Shelves {
    /// In the user's data folder.
    pub user: PathBuf,
    /// In the project.
    pub project: PathBuf,
}

impl Shelves {
    /// Those of this data folder alone.
    pub fn of_user(data_folder: &Path) -> Self {
        let user = data_folder.join("debate-types");
        Shelves { project: user.clone(), user }
    }

    /// Those of this data folder and this project.
    pub fn of(data_folder: &Path, project: &Path) -> Self {
        Shelves {
            user: data_folder.join("debate-types"),
            project: project.join(".aweave").join("debate-types"),
        }
    }

    /// The type of this name, `None` when there is none.
    pub fn find(&self, name: &str, language: Language) -> Result<Option<Type>, BadType> {
        match self.all(language).remove(name) {
            Some(found) => found.map(Some),
            None => Ok(None),
        }
    }

    /// All types by their names; of several with one name, the one that counts.
    pub fn all(&self, language: Language) -> BTreeMap<String, Result<Type, BadType>> {
        let mut all: BTreeMap<String, Result<Type, BadType>> = BuiltIn::ALL
            .iter()
            .map(|kind| (kind.name().to_owned(), Ok(built_in(*kind, language))))
            .collect();
        let mut shelves = vec![(&self.user, Origin::User)];
        if self.project != self.user {
            shelves.push((&self.project, Origin::Project));
        }
        for (shelf, origin) in shelves {
            for folder in folders(shelf) {
                let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                // What an override leaves out is as in what it overrides.
                let under = all.get(&name).and_then(|found| found.as_ref().ok());
                let read = read(&folder, &name, origin, under);
                all.insert(name, read);
            }
        }
        all
    }
}

impl Type {
    /// What is sent along when a debate of this type is opened: nothing when everybody has it.
    pub fn texts(&self) -> Option<TypeTexts> {
        (self.origin != Origin::BuiltIn).then(|| TypeTexts {
            title: Title::recorded(self.title.clone()),
            description: Summary::recorded(self.description.clone()),
            rules: ByRole::of(|role| aw_core::Content::recorded(of(&self.rules, role).to_owned())),
        })
    }

    /// What this role goes by.
    pub fn rules_of(&self, role: Role) -> &str {
        of(&self.rules, role)
    }
}

fn of(rules: &ByRole<String>, role: Role) -> &str {
    match role {
        Role::Proposer => &rules.proposer,
        Role::Opponent => &rules.opponent,
        Role::Arbitrator => &rules.arbitrator,
    }
}

fn built_in(kind: BuiltIn, language: Language) -> Type {
    let rules = kind.rules(language);
    Type {
        name: kind.name().to_owned(),
        origin: Origin::BuiltIn,
        folder: None,
        title: kind.title().to_owned(),
        description: kind.description().to_owned(),
        rules: ByRole::of(|role| rules.get(role).to_owned()),
    }
}

fn folders(shelf: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(shelf) else { return Vec::new() };
    let mut folders: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.retain(|path| !is_hidden(path));
    folders.sort();
    folders
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

fn read(folder: &Path, name: &str, origin: Origin, under: Option<&Type>) -> Result<Type, BadType> {
    if DebateType::parse(name.to_owned()).is_err() {
        return Err(BadType::Name(folder.to_owned()));
    }
    let known = ["type.toml", "proposer.md", "opponent.md", "arbitrator.md"];
    let entries =
        fs::read_dir(folder).map_err(|error| BadType::Unreadable(folder.to_owned(), error))?;
    for entry in entries.flatten() {
        let named = known.iter().any(|name| entry.file_name() == **name);
        if !named && !is_hidden(&entry.path()) {
            return Err(BadType::Stray(entry.path()));
        }
    }
    let (title, description) = match text(&folder.join("type.toml"))? {
        Some(toml) => describe(&folder.join("type.toml"), &toml)?,
        None => match under {
            Some(under) => (under.title.clone(), under.description.clone()),
            None => return Err(BadType::Missing(folder.join("type.toml"))),
        },
    };
    let rules_of = |role: Role| -> Result<String, BadType> {
        let path = folder.join(format!("{}.md", role.as_str()));
        match (text(&path)?, under) {
            (Some(text), _) => Ok(text),
            (None, Some(under)) => Ok(under.rules_of(role).to_owned()),
            (None, None) => Err(BadType::Missing(path)),
        }
    };
    let rules = ByRole {
        proposer: rules_of(Role::Proposer)?,
        opponent: rules_of(Role::Opponent)?,
        arbitrator: rules_of(Role::Arbitrator)?,
    };
    let len = rules.proposer.len() + rules.opponent.len() + rules.arbitrator.len();
    let max = TypeTexts::MAX_BYTES;
    if len > max {
        return Err(BadType::TooLong { folder: folder.to_owned(), len, max });
    }
    Ok(Type {
        name: name.to_owned(),
        origin,
        folder: Some(folder.to_owned()),
        title,
        description,
        rules,
    })
}

/// What a file says, `None` when it is not there.
fn text(path: &Path) -> Result<Option<String>, BadType> {
    match fs::read_to_string(path) {
        Ok(text) if text.trim().is_empty() => Err(BadType::Blank(path.to_owned())),
        Ok(text) if text.contains('\0') => Err(BadType::Nul(path.to_owned())),
        Ok(text) => Ok(Some(text)),
        Err(missing) if missing.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(BadType::Unreadable(path.to_owned(), error)),
    }
}

fn describe(path: &Path, toml: &str) -> Result<(String, String), BadType> {
    let bad = |why: String| BadType::Description(path.to_owned(), why);
    let file: TypeFile = toml::from_str(toml).map_err(|error| {
        bad(format!(
            "{} (it has two lines: title = \"…\" and description = \"…\")",
            error.message()
        ))
    })?;
    Title::parse(file.title.clone()).map_err(|error| bad(format!("title {error}")))?;
    Summary::parse(file.description.clone())
        .map_err(|error| bad(format!("description {error}")))?;
    Ok((file.title, file.description))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            Folder(tempfile::tempdir().unwrap())
        }

        fn with(self, name: &str, text: &str) -> Self {
            let path = self.0.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
            self
        }

        fn with_type(self, shelf: &str, name: &str, words: &str) -> Self {
            let at = |file: &str| format!("{shelf}/{name}/{file}");
            self.with(&at("type.toml"), "title = 'T'\ndescription = 'D'\n")
                .with(&at("proposer.md"), words)
                .with(&at("opponent.md"), words)
                .with(&at("arbitrator.md"), words)
        }

        fn find(&self, name: &str) -> Result<Option<Type>, BadType> {
            let shelves = Shelves {
                user: self.0.path().join("user"),
                project: self.0.path().join("project"),
            };
            shelves.find(name, Language::English)
        }

        fn refusal(&self, name: &str) -> String {
            self.find(name).unwrap_err().to_string()
        }
    }

    #[test]
    fn the_projects_type_beats_the_users_which_beats_the_built_in_one() {
        let folder = Folder::new();
        assert_eq!(folder.find("general_debate").unwrap().unwrap().origin, Origin::BuiltIn);
        let folder = folder.with_type("user", "general_debate", "the user's");
        assert_eq!(folder.find("general_debate").unwrap().unwrap().rules.opponent, "the user's");
        let folder = folder.with_type("project", "general_debate", "the project's");
        let found = folder.find("general_debate").unwrap().unwrap();
        assert_eq!(
            (found.origin, found.rules.opponent.as_str()),
            (Origin::Project, "the project's")
        );
        assert!(folder.find("unheard_of").unwrap().is_none());
    }

    #[test]
    fn an_override_keeps_what_it_does_not_mention() {
        let folder = Folder::new().with("project/general_debate/opponent.md", "Be brief.");
        let found = folder.find("general_debate").unwrap().unwrap();
        assert_eq!(found.rules.opponent, "Be brief.");
        assert_eq!(found.title, BuiltIn::General.title());
        assert_eq!(found.rules.proposer, BuiltIn::General.rules(Language::English).proposer);
        assert!(found.texts().is_some(), "an opponent elsewhere must get it too");
    }

    #[test]
    fn a_type_that_is_not_whole_says_which_file_and_what() {
        let whole = || Folder::new().with_type("user", "legal", "x");
        let missing = whole();
        fs::remove_file(missing.0.path().join("user/legal/opponent.md")).unwrap();
        for (folder, said) in [
            (missing, "opponent.md is missing"),
            (whole().with("user/legal/oponent.md", "x"), "oponent.md is not a file of a type"),
            (whole().with("user/legal/opponent.md", " \n"), "opponent.md is blank"),
            (whole().with("user/legal/opponent.md", "a\0b"), "U+0000"),
            (whole().with("user/legal/type.toml", "title = 'T'"), "missing field `description`"),
            (
                whole().with("user/legal/type.toml", "title = ''\ndescription = 'D'"),
                "title must not",
            ),
            (whole().with("user/legal/opponent.md", &"x".repeat(65_536)), "the limit is 65536"),
        ] {
            let refusal = folder.refusal("legal");
            assert!(refusal.contains(said), "{refusal}");
        }
        let named = Folder::new().with_type("user", "Not-A-Name", "x");
        assert!(named.refusal("Not-A-Name").contains("small letter"));
    }

    #[test]
    fn the_longest_texts_that_fit_are_taken() {
        let third = "x".repeat(65_536 / 4);
        let folder = Folder::new().with_type("user", "legal", &third);
        assert!(folder.find("legal").unwrap().is_some());
    }
}
