//! The projects in which debates were opened.

use aw_core::ProjectId;

use super::Store;
use super::db::{Db, values};
use crate::{Failure, ProjectListed};

/// The most projects that a list has.
const LISTED: u64 = 200;

impl Store {
    /// The projects with debates.
    pub(crate) async fn projects(&self) -> Result<Vec<ProjectListed>, Failure> {
        self.read(all).await
    }
}

/// The projects with debates, by id. Each is one step in an index, however many debates it has.
pub(super) fn all(db: &Db<'_>) -> Result<Vec<ProjectListed>, Failure> {
    let sql = "with recursive found (project) as (
             select min(project) from debates where deleted_at is null and archived_at is null and project is not null
             union all
             select (select min(project) from debates
                     where deleted_at is null and archived_at is null and project is not null
                       and project > found.project)
             from found where found.project is not null
         )
         select found.project, (
             select project_name from debates
             where deleted_at is null and archived_at is null and debates.project is not null
               and debates.project = found.project
             order by updated_at desc, id limit 1
         )
         from found where found.project is not null limit ?1";
    db.all(sql, values![LISTED], |row| {
        Ok(ProjectListed {
            id: ProjectId::recorded(row.get(0)?),
            name: row.get::<Option<String>>(1)?.unwrap_or_default(),
        })
    })
}
