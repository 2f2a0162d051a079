//! A wave: requests of a batch that run together, so that a batch costs a few round trips whatever its
//! size.
//!
//! A request is an ordinary function that reads, decides and writes. In a wave it runs without the
//! database. A read whose answer is not there yet ends the run; once the answers have arrived the
//! request runs again. Writes are kept until the wave ends. All reads with the same statement become
//! one query, and all writes with the same statement become one statement.
//!
//! The requests of a wave do not see each other's writes. So a wave has at most one request of each
//! debate or document. A debate's request may read documents that another request of the wave changes:
//! then it counts as the earlier one. A request that a wave cannot serve runs alone afterwards: one that
//! reads a table to which it has written, or whose statement has no form for many rows.

use std::collections::HashMap;
use std::mem::take;
use std::sync::Arc;

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::store::db::Value;
use crate::{Failure, Fault};

/// The parameters of a statement.
pub(super) type Values = Vec<Value<'static>>;

/// The answers, questions and writes of a wave's requests.
#[derive(Debug, Default)]
pub(super) struct Wave {
    reads: HashMap<String, Reads>,
    /// The writes of the requests that are done.
    writes: Vec<Vec<Write>>,
    /// The writes of the running request.
    own: Vec<Write>,
    progress: RunProgress,
}

/// The reads with one statement. A question without rows is not answered yet.
#[derive(Debug, Default)]
struct Reads {
    rows: HashMap<Values, Option<Arc<Vec<Row>>>>,
    asked: Vec<Values>,
}

#[derive(Debug)]
struct Write {
    sql: String,
    values: Values,
    /// How many values, the last ones, are added up over the rows whose other values are equal.
    sums: usize,
}

/// How far a request came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RunProgress {
    /// It ran to its end.
    #[default]
    Done,
    /// It waits for the answers to its questions.
    Waiting,
    /// It must run alone.
    Alone,
}

impl Wave {
    /// The rows of a read, if the database has answered it.
    pub(super) fn read(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<Arc<Vec<Row>>, Failure> {
        let is_stale = self.own.iter().filter_map(|write| table(&write.sql));
        if !sql.starts_with("select ") || is_stale.into_iter().any(|table| sql.contains(table)) {
            return self.stop(RunProgress::Alone);
        }
        if !self.reads.contains_key(sql) {
            self.reads.insert(sql.to_owned(), Reads::default());
        }
        let reads = self.reads.get_mut(sql).expect("it was just inserted");
        match reads.rows.get(values) {
            Some(Some(rows)) => return Ok(rows.clone()),
            Some(None) => {}
            None => {
                let values: Values = values.iter().map(Value::kept).collect();
                reads.rows.insert(values.clone(), None);
                reads.asked.push(values);
            }
        }
        self.stop(RunProgress::Waiting)
    }

    /// Keeps a write until the wave ends.
    pub(super) fn write(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        sums: usize,
    ) -> Result<(), Failure> {
        // A statement for many rows changes each row once.
        let again = sql.starts_with("update ") && self.own.iter().any(|write| write.sql == sql);
        if again || table(sql).is_none() {
            return self.stop(RunProgress::Alone);
        }
        let values = values.iter().map(Value::kept).collect();
        self.own.push(Write { sql: sql.to_owned(), values, sums });
        Ok(())
    }

    fn stop<T>(&mut self, progress: RunProgress) -> Result<T, Failure> {
        self.progress = self.progress.max(progress);
        Err(Fault::Busy("the request runs again").into())
    }

    /// Whether the running request has a question that is not answered yet, or must run alone.
    pub(super) fn is_stopped(&self) -> bool {
        self.progress != RunProgress::Done
    }

    /// Ends the run of a request. Its writes count only if it came to its end and they are wanted.
    pub(super) fn end_run(&mut self, wanted: bool) -> RunProgress {
        let (progress, writes) = (take(&mut self.progress), take(&mut self.own));
        if progress == RunProgress::Done && wanted {
            self.writes.push(writes);
        }
        progress
    }

    /// The questions that are not asked yet, by statement.
    pub(super) fn questions(&mut self) -> Vec<(String, Vec<Values>)> {
        let asked = self.reads.iter_mut().filter(|(_, reads)| !reads.asked.is_empty());
        asked.map(|(sql, reads)| (sql.clone(), take(&mut reads.asked))).collect()
    }

    /// Takes the answers to questions with the same statement. A row's last column is the number of
    /// its question, from 1, unless there is only one question without parameters.
    pub(super) fn answer(&mut self, sql: &str, questions: Vec<Values>, rows: Vec<Row>) {
        let mut answers: Vec<Vec<Row>> = questions.iter().map(|_| Vec::new()).collect();
        let numbered = questions.first().is_some_and(|values| !values.is_empty());
        for row in rows {
            let number = if numbered { row.get::<_, i64>(row.len() - 1) } else { 1 };
            let place = usize::try_from(number - 1).ok();
            if let Some(answer) = place.and_then(|place| answers.get_mut(place)) {
                answer.push(row);
            }
        }
        if let Some(reads) = self.reads.get_mut(sql) {
            let answers = answers.into_iter().map(|rows| Some(Arc::new(rows)));
            reads.rows.extend(questions.into_iter().zip(answers));
        }
    }

    /// The writes of all requests by statement, in an order that keeps the order of each request.
    pub(super) fn into_writes(self) -> Vec<(String, Vec<Values>)> {
        let mut groups: Vec<(String, Vec<Values>)> = Vec::new();
        for request in self.writes {
            let mut from = 0;
            for Write { sql, values, sums } in request {
                let known = groups.iter().skip(from).position(|(known, _)| *known == sql);
                from = known.map_or(groups.len(), |place| from + place);
                match groups.get_mut(from) {
                    Some((_, rows)) => add(rows, values, sums),
                    None => groups.push((sql, vec![values])),
                }
            }
        }
        groups
    }
}

/// Adds a row, or adds its sums to the row that it equals otherwise.
fn add(rows: &mut Vec<Values>, row: Values, sums: usize) {
    let names = row.len() - sums;
    let same = |known: &&mut Values| sums > 0 && known[..names] == row[..names];
    let Some(known) = rows.iter_mut().find(same) else { return rows.push(row) };
    for (sum, more) in known[names..].iter_mut().zip(&row[names..]) {
        if let (Value::Integer(sum), Value::Integer(more)) = (sum, more) {
            *sum += more;
        }
    }
}

/// The table that a statement with a form for many rows changes.
fn table(sql: &str) -> Option<&str> {
    let rest = sql.strip_prefix("insert into ").or_else(|| sql.strip_prefix("update "))?;
    rest.split_ascii_whitespace().next()
}

/// The statement for many rows of parameters: they are the rows of a table `k`.
pub(super) fn for_many(sql: &str, kinds: &[Type]) -> Option<String> {
    let list =
        |one: &dyn Fn(usize) -> String| (1..=kinds.len()).map(one).collect::<Vec<_>>().join(", ");
    let arrays = list(&|number| format!("${number}::{}[]", kinds[number - 1].name()));
    let names = list(&|number| format!("p{number}"));
    let sql = numbered(sql, "k.p");
    if sql.starts_with("select ") {
        let rows = format!("unnest({arrays}) with ordinality as k({names}, n)");
        return Some(format!("select q.*, k.n from {rows} cross join lateral ({sql}) as q"));
    }
    let rows = format!("from unnest({arrays}) as k({names})");
    if sql.starts_with("update ") {
        let place = outside(&sql, "where ")?;
        return Some(format!("{}{rows} {}", &sql[..place], &sql[place..]));
    }
    let place = outside(&sql, "values (")?;
    let row = &sql[place + "values ".len()..];
    let end = closing(row)?;
    Some(format!("{}select {} {rows} {}", &sql[..place], &row[1..end], &row[end + 1..]))
}

/// The position of a word outside brackets.
fn outside(sql: &str, word: &str) -> Option<usize> {
    let mut depth = 0;
    sql.char_indices().find_map(|(place, letter)| {
        let found = depth == 0 && sql[place..].starts_with(word);
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        found.then_some(place)
    })
}

/// The position of the bracket that closes the first one.
fn closing(sql: &str) -> Option<usize> {
    let mut depth = 0;
    sql.char_indices().find_map(|(place, letter)| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        (depth == 0).then_some(place)
    })
}

/// Translates `?1` parameters to another sign, which is `$` for PostgreSQL. As in SQLite, a `?` without
/// a number gets the next number after the greatest before it.
pub(super) fn numbered(sql: &str, sign: &str) -> String {
    let mut text = String::with_capacity(sql.len() + 8);
    let (mut greatest, mut rest) = (0, sql);
    while let Some((before, after)) = rest.split_once('?') {
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number = after[..digits].parse().unwrap_or(greatest + 1);
        greatest = greatest.max(number);
        text += before;
        text += &format!("{sign}{number}");
        rest = &after[digits..];
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::db::values;

    #[test]
    fn parameters_are_numbered_as_sqlite_numbers_them() {
        assert_eq!(numbered("select 1", "$"), "select 1");
        assert_eq!(numbered("a = ?1 and b = ?12 or c = ?2", "$"), "a = $1 and b = $12 or c = $2");
        assert_eq!(numbered("a = ? and b = ? limit ?", "$"), "a = $1 and b = $2 limit $3");
        assert_eq!(numbered("a = ?3 and b = ?", "k.p"), "a = k.p3 and b = k.p4");
    }

    #[test]
    fn a_statement_gets_a_form_for_many_rows() {
        let many = |sql| for_many(sql, &[Type::INT8, Type::TEXT]).unwrap();
        assert_eq!(
            many("select a from t where b = ?1 and c = ?2"),
            "select q.*, k.n from unnest($1::int8[], $2::text[]) with ordinality as k(p1, p2, n) \
             cross join lateral (select a from t where b = k.p1 and c = k.p2) as q"
        );
        assert_eq!(
            many(
                "insert into t (a, b) values (?, (select c from u where d = ?)) on conflict do nothing"
            ),
            "insert into t (a, b) select k.p1, (select c from u where d = k.p2) \
             from unnest($1::int8[], $2::text[]) as k(p1, p2)  on conflict do nothing"
        );
        assert_eq!(
            many("update t set a = (select c from u where d = ?2) where b = ?1"),
            "update t set a = (select c from u where d = k.p2) \
             from unnest($1::int8[], $2::text[]) as k(p1, p2) where b = k.p1"
        );
    }

    const A: &str = "insert into a (x) values (?1)";
    const B: &str = "insert into b (x) values (?1)";
    const COUNT: &str = "insert into c (x, y) values (?1, ?2)";

    /// Runs a request that writes these, each with the number of the request.
    fn write(wave: &mut Wave, number: i64, statements: &[&str]) {
        for sql in statements {
            wave.write(sql, values![number], 0).unwrap();
        }
        assert_eq!(wave.end_run(true), RunProgress::Done);
    }

    #[test]
    fn writes_are_grouped_and_keep_the_order_of_each_request() {
        let mut wave = Wave::default();
        write(&mut wave, 1, &[A, B]);
        write(&mut wave, 2, &[A, B]);
        write(&mut wave, 3, &[B, A]);
        let groups: Vec<(String, usize)> =
            wave.into_writes().into_iter().map(|(sql, rows)| (sql, rows.len())).collect();
        assert_eq!(groups, [(A.to_owned(), 2), (B.to_owned(), 3), (A.to_owned(), 1)]);
    }

    #[test]
    fn sums_of_rows_with_the_same_names_are_added_up() {
        let mut wave = Wave::default();
        for (name, more) in [("a", 1_i64), ("b", 5), ("a", 2)] {
            wave.write(COUNT, values![name, more], 1).unwrap();
        }
        wave.end_run(true);
        let rows = vec![values!["a", 3_i64].to_vec(), values!["b", 5_i64].to_vec()];
        assert_eq!(wave.into_writes(), [(COUNT.to_owned(), rows)]);
    }

    #[test]
    fn a_request_that_reads_what_it_wrote_runs_alone_and_leaves_nothing() {
        let mut wave = Wave::default();
        wave.write(A, values![1_i64], 0).unwrap();
        assert!(wave.read("select x from b", values![]).is_err());
        assert_eq!(wave.end_run(true), RunProgress::Waiting);
        wave.write(A, values![1_i64], 0).unwrap();
        assert!(wave.read("select x from a", values![]).is_err());
        assert!(wave.read("select x from b", values![]).is_err());
        assert_eq!(wave.end_run(true), RunProgress::Alone);
        assert!(wave.write("delete from a where x = ?1", values![1_i64], 0).is_err());
        assert_eq!(wave.end_run(true), RunProgress::Alone);
        assert!(wave.read("insert into a (x) values (1) returning x", values![]).is_err());
        assert_eq!(wave.end_run(true), RunProgress::Alone);
        let update = "update a set x = ?1 where y = ?2";
        wave.write(update, values![1_i64, 1_i64], 0).unwrap();
        assert!(wave.write(update, values![2_i64, 2_i64], 0).is_err());
        assert_eq!(wave.end_run(true), RunProgress::Alone);
        assert_eq!(wave.into_writes(), []);
    }

    #[test]
    fn a_question_is_asked_once_and_its_answer_serves_all() {
        let mut wave = Wave::default();
        let sql = "select x from a where y = ?1";
        for number in [1_i64, 2, 1] {
            assert!(wave.read(sql, values![number]).is_err() && wave.is_stopped());
            assert_eq!(wave.end_run(true), RunProgress::Waiting);
        }
        let mut questions = wave.questions();
        let (asked, rows) = questions.pop().unwrap();
        assert_eq!((asked.as_str(), rows.len(), questions.len()), (sql, 2, 0));
        assert!(wave.questions().is_empty());
        wave.answer(sql, rows, Vec::new());
        assert_eq!(wave.read(sql, values![2_i64]).unwrap().len(), 0);
        assert_eq!(wave.end_run(true), RunProgress::Done);
    }
}
