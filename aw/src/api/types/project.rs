//! The repositories in which debates are opened.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The repository in which a debate was opened, and where it stood then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Project {
    /// Identifies it: a hash of its address without credentials, or of its folder.
    #[schema(pattern = "^[0-9a-f]{8,64}$")]
    pub id: String,
    /// Its name for people.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// The branch; absent when none was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 200)]
    pub branch: Option<String>,
    /// The commit; absent when there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[0-9a-f]{8,64}$")]
    pub commit: Option<String>,
}

/// `GET /projects`
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ProjectList {
    /// The projects with debates, each without branch and commit.
    pub projects: Vec<Project>,
}
