//! Finds debates, arguments and documents by what people call them.
//!
//! Every match is returned, up to a few: the caller refuses a name that fits several.

use aw_core::{DebateId, Slug};
use uuid::Uuid;

use super::db::{Db, Row, Value, values};
use super::find::live;
use super::list;
use super::rows::word;
use super::{Store, about};
use crate::{
    ArgumentName, DebateName, DocumentName, Failure, Filter, IdPrefix, NameScope, NamedArgument,
    NamedDebate, NamedDocument, Seat,
};

/// The most matches that are returned.
pub(super) const SHOWN: u64 = 6;

impl Store {
    /// The debates that a name may mean.
    pub(crate) async fn named_debates(
        &self,
        name: &DebateName,
        scope: &NameScope,
    ) -> Result<Vec<NamedDebate>, Failure> {
        let (name, scope) = (name.clone(), scope.clone());
        self.read(move |db| debates(db, &name, &scope)).await
    }

    /// The arguments of a debate that a name may mean.
    pub(crate) async fn named_arguments(
        &self,
        debate: DebateId,
        name: &ArgumentName,
    ) -> Result<Vec<NamedArgument>, Failure> {
        let name = name.clone();
        self.read(move |db| about(debate, arguments(db, debate, &name))).await
    }

    /// The documents that a name may mean.
    pub(crate) async fn named_documents(
        &self,
        name: &DocumentName,
        seen_by: Option<&Seat>,
    ) -> Result<Vec<NamedDocument>, Failure> {
        let (name, seen_by) = (name.clone(), seen_by.cloned());
        self.read(move |db| documents(db, &name, seen_by.as_ref())).await
    }
}

/// The debates that fit a name.
pub(super) fn debates(
    db: &Db<'_>,
    name: &DebateName,
    scope: &NameScope,
) -> Result<Vec<NamedDebate>, Failure> {
    let listed = |filter: Filter| -> Result<Vec<NamedDebate>, Failure> {
        let debates = list::debates(db, &Filter { only: scope.only, ..filter })?.debates;
        Ok(debates.into_iter().map(NamedDebate::from).collect())
    };
    let here = Filter { project: scope.project.clone(), ..Filter::default() };
    match name {
        DebateName::Text(text) => by_text(db, text, scope.only),
        DebateName::Last => {
            let newest = listed(Filter { limit: 1, ..here })?;
            if !newest.is_empty() || scope.project.is_none() {
                return Ok(newest);
            }
            listed(Filter { limit: 1, ..Filter::default() })
        }
        DebateName::OnlyOpen { awaiting } => {
            let open = listed(Filter { open: true, limit: SHOWN, ..here.clone() })?;
            let Some(role) = awaiting.filter(|_| open.len() > 1) else { return Ok(open) };
            let theirs = listed(Filter { awaiting: Some(role), limit: SHOWN, ..here })?;
            Ok(if theirs.len() == 1 { theirs } else { open })
        }
    }
}

/// The debates with this slug, with an id that begins so, or with this id in the older system.
fn by_text(db: &Db<'_>, text: &str, only: Option<DebateId>) -> Result<Vec<NamedDebate>, Failure> {
    let slug = text.to_lowercase();
    let columns = "select id, slug, title, state from debates where deleted_at is null";
    let mut sql = format!(
        "{columns} and slug = ?1
         union {columns} and key = (select debate_key from former_ids where former_ids.id = ?2)"
    );
    let mut params: Vec<Value<'_>> = vec![slug.into(), text.into()];
    if let Some(prefix) = IdPrefix::parse(text) {
        sql += &format!(" union {columns} and id >= ?3 and id <= ?4");
        params.extend([prefix.first.into(), prefix.last.into()]);
    }
    let sql = format!("select * from ({sql}) as named order by id limit {SHOWN}");
    let mut found = db.all(&sql, &params, |row| {
        Ok(NamedDebate {
            id: row.get::<Uuid>(0)?.into(),
            slug: row.get::<Option<String>>(1)?.map(Slug::recorded),
            title: row.get(2)?,
            state: word(row, 3)?,
        })
    })?;
    found.retain(|found| only.is_none_or(|only| only == found.id));
    Ok(found)
}

/// The arguments of a debate that fit a name.
pub(super) fn arguments(
    db: &Db<'_>,
    debate: DebateId,
    name: &ArgumentName,
) -> Result<Vec<NamedArgument>, Failure> {
    let known = live(db, debate)?;
    let columns = "select id, seq, type, role from arguments where debate_key = ?1";
    let named = |row: &Row<'_>| -> Result<NamedArgument, Failure> {
        Ok(NamedArgument {
            id: row.get::<Uuid>(0)?.into(),
            seq: aw_core::Seq(row.get(1)?),
            kind: word(row, 2)?,
            role: word(row, 3)?,
        })
    };
    match name {
        ArgumentName::Number(seq) => {
            db.all(&format!("{columns} and seq = ?2"), values![known.key, *seq], named)
        }
        ArgumentName::Last => {
            let sql = format!("{columns} order by seq desc limit 1");
            db.all(&sql, values![known.key], named)
        }
        ArgumentName::Prefix(prefix) => {
            let sql = format!("{columns} and id >= ?2 and id <= ?3 order by seq limit {SHOWN}");
            db.all(&sql, values![known.key, prefix.first, prefix.last], named)
        }
        ArgumentName::AnsweredBy(role) => {
            let sql = format!(
                "{columns} and role <> ?2 and parked_for is null order by seq desc limit 1"
            );
            db.all(&sql, values![known.key, role.as_str()], named)
        }
    }
}

/// The documents that fit a name; for a seat of one debate, only those it may see.
pub(super) fn documents(
    db: &Db<'_>,
    name: &DocumentName,
    seen_by: Option<&Seat>,
) -> Result<Vec<NamedDocument>, Failure> {
    let seen = list::seen_documents(seen_by);
    let columns = format!(
        "select documents.id, title, summary from documents where deleted_at is null{}",
        seen.as_ref().map_or("", |(sql, _)| sql)
    );
    let mut params: Vec<Value<'_>> = seen.map_or_else(Vec::new, |(_, params)| params);
    let sql = match name {
        DocumentName::Last => format!("{columns} order by updated_at desc, id limit 1"),
        DocumentName::Text(text) => {
            let slug = Slug::of(text).to_string();
            let mut fits = "name = ?".to_owned();
            params.push(slug.into());
            if let Some(prefix) = IdPrefix::parse(text) {
                fits += " or (id >= ? and id <= ?)";
                params.extend([prefix.first.into(), prefix.last.into()]);
            }
            format!("{columns} and ({fits}) order by updated_at desc, id limit {SHOWN}")
        }
    };
    db.all(&sql, &params, |row| {
        Ok(NamedDocument {
            id: row.get::<Uuid>(0)?.into(),
            title: row.get(1)?,
            summary: row.get(2)?,
        })
    })
}
