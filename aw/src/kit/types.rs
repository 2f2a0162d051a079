//! Types of debate: the built-in ones, and those that a user or a project adds or overrides in
//! `debate-types/<type>/{type.toml,proposer.md,opponent.md,arbitrator.md}`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use aw_core::{ByRole, DebateType, Role, Summary, Title};
use aw_record::TypeTexts;
use serde::Deserialize;

use super::texts::{BuiltIn, Language};
use crate::files::{Folder, Links};

/// The origin of a type. A later one overrides an earlier one.
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
    /// Its word in JSON.
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
    /// Its name in debates.
    pub name: String,
    /// Its origin.
    pub origin: Origin,
    /// Its folder, unless it is built in.
    pub folder: Option<PathBuf>,
    /// Its title.
    pub title: String,
    /// Its description.
    pub description: String,
    /// The rules of its roles.
    pub rules: ByRole<String>,
}

/// Why a type cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadType {
    /// The name of the folder is not valid for a type.
    #[error("{}: a type's name begins with a small letter and has small letters, digits and _ only, at most 64", .0.display())]
    Name(PathBuf),
    /// A file is missing.
    #[error("{} is missing: a type needs type.toml, proposer.md, opponent.md and arbitrator.md", .0.display())]
    Missing(PathBuf),
    /// A file has an unknown name.
    #[error("{} is not a file of a type: those are type.toml, proposer.md, opponent.md and arbitrator.md", .0.display())]
    Stray(PathBuf),
    /// A file cannot be read.
    #[error("{path}: {1}", path = .0.display())]
    Unreadable(PathBuf, io::Error),
    /// A file is not text.
    #[error("{} is not UTF-8 text", .0.display())]
    NotText(PathBuf),
    /// A file is blank.
    #[error("{} is blank: write what the role must do, or remove it", .0.display())]
    Blank(PathBuf),
    /// A file contains U+0000.
    #[error("{} contains U+0000", .0.display())]
    Nul(PathBuf),
    /// The rules are too long to be sent with a debate.
    #[error("the rules in {} are {len} bytes together, the limit is {max}", .folder.display())]
    TooLong {
        /// The folder.
        folder: PathBuf,
        /// Their length in bytes.
        len: usize,
        /// The longest length.
        max: usize,
    },
    /// `type.toml` is not valid.
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

/// The folders with types of debate.
#[derive(Debug, Clone)]
pub struct Shelves {
    /// The one in the user's data folder.
    pub user: PathBuf,
    /// The one in the project.
    pub project: PathBuf,
}

impl Shelves {
    /// The folder of this data folder alone.
    pub fn of_user(data_folder: &Path) -> Self {
        let user = data_folder.join("debate-types");
        Shelves { project: user.clone(), user }
    }

    /// The folders of this data folder and this project.
    pub fn of(data_folder: &Path, project: &Path) -> Self {
        Shelves {
            user: data_folder.join("debate-types"),
            project: project.join(".aweave").join("debate-types"),
        }
    }

    /// Finds a type by name. Reads no files of other types.
    pub fn find(&self, name: &str, language: Language) -> Result<Option<Type>, BadType> {
        let known = BuiltIn::ALL.into_iter().find(|kind| kind.name() == name);
        let mut found = Ok(known.map(|kind| built_in(kind, language)));
        for shelf in self.opened() {
            let shelf = shelf?;
            match shelf.folder.folder(OsStr::new(name)) {
                Ok(folder) => {
                    // Files that an override leaves out come from the type that it overrides.
                    let under = found.as_ref().ok().and_then(Option::as_ref);
                    found =
                        read(&folder, &shelf.path.join(name), name, shelf.origin, under).map(Some);
                }
                // A file in the folder is not a type.
                Err(other) if is_no_folder(&other) => {}
                Err(error) => found = Err(BadType::Unreadable(shelf.path.join(name), error)),
            }
        }
        found
    }

    /// All types by name, without those that are overridden.
    pub fn all(&self, language: Language) -> BTreeMap<String, Result<Type, BadType>> {
        let mut names: BTreeSet<String> =
            BuiltIn::ALL.iter().map(|kind| kind.name().to_owned()).collect();
        for shelf in self.opened().flatten() {
            let all = shelf.folder.names().unwrap_or_default();
            let all = all.iter().map(|name| name.to_string_lossy());
            names.extend(all.filter(|name| !name.starts_with('.')).map(String::from));
        }
        let found = |name: String| {
            let found = self.find(&name, language).transpose()?;
            Some((name, found))
        };
        names.into_iter().filter_map(found).collect()
    }

    /// The existing folders, the more general first.
    fn opened(&self) -> impl Iterator<Item = Result<Shelf<'_>, BadType>> {
        let mut shelves = vec![(&self.user, Origin::User)];
        if self.project != self.user {
            shelves.push((&self.project, Origin::Project));
        }
        shelves.into_iter().filter_map(|(path, origin)| {
            let opened = match origin {
                Origin::Project => open_in_project(path),
                Origin::BuiltIn | Origin::User => {
                    Folder::open(path, Links::Follow).map_err(|error| (path.as_path(), error))
                }
            };
            match opened {
                Ok(folder) => Some(Ok(Shelf { folder, path, origin })),
                Err((_, other)) if is_no_folder(&other) => None,
                Err((at, error)) => Some(Err(BadType::Unreadable(at.to_owned(), error))),
            }
        })
    }
}

/// A folder with types.
struct Shelf<'a> {
    folder: Folder,
    path: &'a Path,
    origin: Origin,
}

/// Opens `.aweave/debate-types` of a project. Neither may be a link: a checkout could lead to any file
/// that its user can read, and its text would be sent to others.
fn open_in_project(shelf: &Path) -> Result<Folder, (&Path, io::Error)> {
    let own = shelf.parent().unwrap_or(shelf);
    let root = own.parent().unwrap_or(own);
    let mut folder = Folder::open(root, Links::Refuse).map_err(|error| (root, error))?;
    for path in [own, shelf] {
        let name = path.file_name().unwrap_or_default();
        folder = folder.folder(name).map_err(|error| (path, error))?;
    }
    Ok(folder)
}

fn is_no_folder(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

impl Type {
    /// The texts that are sent with a new debate of this type; none for a built-in one.
    pub fn texts(&self) -> Option<TypeTexts> {
        (self.origin != Origin::BuiltIn).then(|| TypeTexts {
            title: Title::recorded(self.title.clone()),
            description: Summary::recorded(self.description.clone()),
            rules: ByRole::of(|role| aw_core::Content::recorded(of(&self.rules, role).to_owned())),
        })
    }

    /// Whether it replaces a built-in type of the same name.
    pub fn replaces_built_in(&self) -> bool {
        self.origin != Origin::BuiltIn && BuiltIn::named(&self.name).is_some()
    }

    /// The rules of this role.
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

fn read(
    folder: &Folder,
    path: &Path,
    name: &str,
    origin: Origin,
    under: Option<&Type>,
) -> Result<Type, BadType> {
    if DebateType::parse(name.to_owned()).is_err() {
        return Err(BadType::Name(path.to_owned()));
    }
    let known = ["type.toml", "proposer.md", "opponent.md", "arbitrator.md"];
    let names = folder.names().map_err(|error| BadType::Unreadable(path.to_owned(), error))?;
    let stray = names.iter().find(|name| {
        !name.to_string_lossy().starts_with('.') && !known.iter().any(|known| *name == known)
    });
    if let Some(stray) = stray {
        return Err(BadType::Stray(path.join(stray)));
    }
    let (title, description) = match text(folder, path, "type.toml")? {
        Some(toml) => describe(&path.join("type.toml"), &toml)?,
        None => match under {
            Some(under) => (under.title.clone(), under.description.clone()),
            None => return Err(BadType::Missing(path.join("type.toml"))),
        },
    };
    let rules_of = |role: Role| -> Result<String, BadType> {
        let file = format!("{}.md", role.as_str());
        match (text(folder, path, &file)?, under) {
            (Some(text), _) => Ok(text),
            (None, Some(under)) => Ok(under.rules_of(role).to_owned()),
            (None, None) => Err(BadType::Missing(path.join(file))),
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
        return Err(BadType::TooLong { folder: path.to_owned(), len, max });
    }
    Ok(Type {
        name: name.to_owned(),
        origin,
        folder: Some(path.to_owned()),
        title,
        description,
        rules,
    })
}

/// The text of a file, `None` when it does not exist.
fn text(folder: &Folder, path: &Path, name: &str) -> Result<Option<String>, BadType> {
    let path = path.join(name);
    let bytes = match folder.read(OsStr::new(name), TypeTexts::MAX_BYTES as u64) {
        Ok(bytes) => bytes,
        Err(missing) if missing.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(BadType::Unreadable(path, error)),
    };
    match String::from_utf8(bytes) {
        Ok(text) if text.trim().is_empty() => Err(BadType::Blank(path)),
        Ok(text) if text.contains('\0') => Err(BadType::Nul(path)),
        Ok(text) => Ok(Some(text)),
        Err(_) => Err(BadType::NotText(path)),
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
    use std::fs;

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
    fn a_type_of_the_project_overrides_one_of_the_user_and_a_built_in_one() {
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
    fn an_override_keeps_the_files_that_it_leaves_out() {
        let folder = Folder::new().with("project/general_debate/opponent.md", "Be brief.");
        let found = folder.find("general_debate").unwrap().unwrap();
        assert_eq!(found.rules.opponent, "Be brief.");
        assert_eq!(found.title, BuiltIn::General.title());
        assert_eq!(found.rules.proposer, BuiltIn::General.rules(Language::English).proposer);
        assert!(found.texts().is_some(), "an opponent elsewhere must get it too");
    }

    #[test]
    fn a_type_that_cannot_be_used_names_the_file_and_the_fault() {
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
    fn rules_of_the_longest_length_are_accepted() {
        let third = "x".repeat(65_536 / 4);
        let folder = Folder::new().with_type("user", "legal", &third);
        assert!(folder.find("legal").unwrap().is_some());
    }
}
