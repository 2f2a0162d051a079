//! `/projects`: the repositories in which debates were opened.

use aw_core::{DebateOrigin, ProjectId};
use aw_record::ProjectListed;

use super::access::Access;
use super::error::Problem;
use super::json::{Json, JsonResult};
use super::openapi::errors::ReadErrors;
use crate::api::types::{Project, ProjectList, Success};

/// Lists the projects with debates that the caller may see.
#[utoipa::path(
    get,
    path = "/projects",
    operation_id = "list_projects",
    responses(
        (status = 200, body = Success<ProjectList>),
        ReadErrors,
    )
)]
pub(super) async fn list(access: Access) -> JsonResult<ProjectList> {
    let projects = access.projects().await?.into_iter().map(Project::from).collect();
    Ok(Json(Success::new(ProjectList { projects })))
}

impl From<ProjectListed> for Project {
    fn from(ProjectListed { id, name }: ProjectListed) -> Self {
        Project { id: id.as_str().to_owned(), name, branch: None, commit: None }
    }
}

impl From<&DebateOrigin> for Project {
    fn from(origin: &DebateOrigin) -> Self {
        Project {
            id: origin.project.as_str().to_owned(),
            name: origin.name.clone(),
            branch: origin.branch.clone(),
            commit: origin.commit.clone(),
        }
    }
}

/// Parses the project of a filter; an empty one counts as absent.
pub(crate) fn id(field: &str, text: Option<String>) -> Result<Option<ProjectId>, Problem> {
    let text = text.filter(|text| !text.is_empty());
    let id = text.map(ProjectId::parse).transpose();
    id.map_err(|bad| Problem::text(field, bad).suggest("See which there are: GET /projects"))
}

/// Parses the project in which a debate is opened.
pub(super) fn origin(project: Option<Project>) -> Result<Option<Box<DebateOrigin>>, Problem> {
    let Some(Project { id, name, branch, commit }) = project else { return Ok(None) };
    let bad = |field: &'static str| move |bad| Problem::text(field, bad);
    let project = ProjectId::parse(id).map_err(bad("project.id"))?;
    DebateOrigin::check_name(&name).map_err(bad("project.name"))?;
    branch.as_deref().map_or(Ok(()), DebateOrigin::check_branch).map_err(bad("project.branch"))?;
    commit.as_deref().map_or(Ok(()), DebateOrigin::check_commit).map_err(bad("project.commit"))?;
    Ok(Some(Box::new(DebateOrigin { project, name, branch, commit })))
}
