//! The repository in which a debate was opened.

use alloc::string::String;

use crate::text::{BadText, one_line};

/// Where a debate was opened: the project, and the branch and commit at that time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebateOrigin {
    /// Identifies the project: a hash that its users compute alike.
    pub project: ProjectId,
    /// The project's name for people.
    pub name: String,
    /// The branch, if one was checked out.
    pub branch: Option<String>,
    /// The commit, if there was one.
    pub commit: Option<String>,
}

/// Identifies a project: 8 to 64 lower-case hexadecimal digits. It is a hash, so it reveals neither an
/// address nor a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ProjectId(String);

impl ProjectId {
    /// Accepts an id.
    pub fn parse(text: String) -> Result<Self, BadText> {
        if (8..=64).contains(&text.len()) && text.bytes().all(is_hex) {
            Ok(ProjectId(text))
        } else {
            Err(BadText::NotHex)
        }
    }

    /// Takes an id from the record.
    pub fn recorded(text: String) -> Self {
        ProjectId(text)
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl DebateOrigin {
    /// The most characters of the name.
    pub const NAME_CHARS: usize = 100;
    /// The most characters of the branch.
    pub const BRANCH_CHARS: usize = 200;

    /// Checks the name.
    pub fn check_name(text: &str) -> Result<(), BadText> {
        one_line(text, Self::NAME_CHARS)
    }

    /// Checks a branch.
    pub fn check_branch(text: &str) -> Result<(), BadText> {
        one_line(text, Self::BRANCH_CHARS)
    }

    /// Checks a commit.
    pub fn check_commit(text: &str) -> Result<(), BadText> {
        let is_good = (8..=64).contains(&text.len()) && text.bytes().all(is_hex);
        if is_good { Ok(()) } else { Err(BadText::NotHex) }
    }
}

fn is_hex(byte: u8) -> bool {
    byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::borrow::ToOwned;

    #[test]
    fn a_project_id_is_8_to_64_hexadecimal_digits() {
        for good in ["0123abcd", &"a".repeat(64)] {
            assert!(ProjectId::parse(good.to_owned()).is_ok(), "{good}");
        }
        for bad in ["", "0123abc", "0123ABCD", "0123abcg", "../../etc", &"a".repeat(65)] {
            assert_eq!(ProjectId::parse(bad.to_owned()), Err(BadText::NotHex), "{bad}");
        }
    }
}
