//! The slugs of debates: unique, and never changed.

use aw_core::Slug;

use super::checksums::{self, Checksum};
use super::db::{Db, values};
use crate::Failure;

/// The slug for a new debate with this title: the words of the title, with the first free number.
///
/// With gaps between the numbers it may take a greater one. It asks the index a few times, however
/// many debates have the same words.
pub(super) fn free(db: &Db<'_>, title: &str) -> Result<Slug, Failure> {
    let words = Slug::of(title);
    let is_free = |number: u64| -> Result<bool, Failure> {
        let slug = words.numbered(number);
        Ok(!db.exists("select 1 from debates where slug = ?1", values![slug.as_str()])?)
    };
    if is_free(1)? {
        return Ok(words);
    }
    let (mut taken, mut next) = (1, 2);
    while !is_free(next)? {
        (taken, next) = (next, next * 2);
    }
    while next - taken > 1 {
        let middle = taken.midpoint(next);
        if is_free(middle)? {
            next = middle;
        } else {
            taken = middle;
        }
    }
    Ok(words.numbered(next))
}

/// Gives every debate its slug that has none, in the order of their opening.
pub(super) fn name_all(db: &Db<'_>) -> Result<(), Failure> {
    let sql = "select key, title from debates where slug is null order by key";
    let nameless: Vec<(i64, String)> =
        db.all(sql, values![], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for (key, title) in nameless {
        let slug = free(db, &title)?;
        db.run("update debates set slug = ?2 where key = ?1", values![key, slug.as_str()])?;
        if Checksum::Names(key).kept(db)?.is_none() {
            checksums::keep_names(db, key)?;
        }
    }
    Ok(())
}

/// The slug of the debate with this key.
pub(super) fn of(db: &Db<'_>, key: i64) -> Result<Option<Slug>, Failure> {
    let sql = "select slug from debates where key = ?1";
    let slug: Option<String> = db.one(sql, values![key], |row| row.get(0))?;
    Ok(slug.map(Slug::recorded))
}
