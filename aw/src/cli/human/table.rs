//! Tables: in Markdown for a file or a pipe, and fitted to the width of a terminal.

use std::fmt::Write as _;

use textwrap::core::display_width;

use super::{Paper, whole_words};

/// The spaces between two columns on a terminal.
const GAP: usize = 2;

/// No column is wrapped to less than this: a column of single words is hard to read.
const NARROW: usize = 20;

/// A table whose columns are as wide as they need to be, or as the terminal allows.
pub(super) fn table(header: &[&str], rows: &[Vec<String>], paper: &Paper) -> String {
    if !paper.is_terminal {
        return markdown(header, rows, paper);
    }
    let heads: Vec<String> = header.iter().map(|head| (*head).to_owned()).collect();
    match fitted(&heads, rows, paper.columns) {
        Some(widths) => {
            let heads = line(&heads, &widths);
            let mut text = format!("{}\n", paper.faint(heads.trim_end()));
            text.extend(rows.iter().map(|row| line(row, &widths)));
            text
        }
        None => rows.iter().map(|row| stacked(row, paper)).collect::<Vec<_>>().join("\n"),
    }
}

/// Rows without a header, whose cells stand below each other.
pub(super) fn lines<const N: usize>(
    rows: impl Iterator<Item = [String; N]>,
    paper: &Paper,
) -> String {
    let rows: Vec<Vec<String>> = rows.map(Vec::from).collect();
    let none = vec![String::new(); N];
    let columns = if paper.is_terminal { paper.columns } else { usize::MAX };
    match fitted(&none, &rows, columns) {
        Some(widths) => rows.iter().map(|row| line(row, &widths)).collect(),
        None => rows.iter().map(|row| stacked(row, paper)).collect(),
    }
}

fn markdown(header: &[&str], rows: &[Vec<String>], paper: &Paper) -> String {
    let widths: Vec<usize> = (0..header.len())
        .map(|column| {
            let cells = rows.iter().map(|row| display_width(&row[column]));
            cells.chain([display_width(header[column])]).max().unwrap_or(0)
        })
        .collect();
    let line = |cells: &[String]| {
        let padded: Vec<String> =
            cells.iter().zip(&widths).map(|(cell, wide)| padded(cell, *wide)).collect();
        format!("| {} |\n", padded.join(" | "))
    };
    let heads: Vec<String> = header.iter().map(|head| (*head).to_owned()).collect();
    let rule: Vec<String> = widths.iter().map(|wide| "-".repeat((*wide).max(3))).collect();
    let mut text = paper.bold(line(&heads).trim_end());
    text.push('\n');
    text.push_str(&line(&rule));
    for row in rows {
        text.push_str(&line(row));
    }
    text
}

/// The widths of columns that together fit, or none if a column would be too narrow for its words.
fn fitted(header: &[String], rows: &[Vec<String>], columns: usize) -> Option<Vec<usize>> {
    let most = |column: usize, measure: fn(&str) -> usize| {
        let cells = rows.iter().map(|row| measure(&row[column]));
        cells.chain([measure(&header[column])]).max().unwrap_or(0)
    };
    let longest_word = |cell: &str| cell.split(' ').map(display_width).max().unwrap_or(0);
    let mut widths: Vec<usize> =
        (0..header.len()).map(|column| most(column, display_width)).collect();
    let floors: Vec<usize> = (0..header.len())
        .map(|column| match widths[column] {
            narrow @ ..=NARROW => narrow,
            _ => most(column, longest_word).max(NARROW),
        })
        .collect();
    let gaps = GAP * header.len().saturating_sub(1);
    while widths.iter().sum::<usize>().saturating_add(gaps) > columns {
        let shrinkable = (0..widths.len()).filter(|column| widths[*column] > floors[*column]);
        let widest = shrinkable.max_by_key(|column| widths[*column])?;
        widths[widest] -= 1;
    }
    Some(widths)
}

/// A row, each cell wrapped in its column.
fn line(cells: &[String], widths: &[usize]) -> String {
    let wrapped: Vec<Vec<String>> = cells
        .iter()
        .zip(widths)
        .map(|(cell, wide)| {
            let pieces = textwrap::wrap(cell, whole_words((*wide).max(1)));
            pieces.into_iter().map(std::borrow::Cow::into_owned).collect()
        })
        .collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
    let mut text = String::new();
    for at in 0..height {
        let mut line = String::new();
        for (cell, wide) in wrapped.iter().zip(widths) {
            let piece = cell.get(at).map_or("", String::as_str);
            let _ = write!(line, "{}{}", padded(piece, *wide), " ".repeat(GAP));
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// A row that no width can hold: its first cell, and the others below it.
fn stacked(row: &[String], paper: &Paper) -> String {
    let Some((first, others)) = row.split_first() else { return String::new() };
    let others: Vec<&str> =
        others.iter().map(String::as_str).filter(|cell| !cell.is_empty()).collect();
    format!("{}\n{}\n", paper.bold(first), paper.wrapped(&others.join(", "), "  "))
}

fn padded(cell: &str, wide: usize) -> String {
    format!("{cell}{}", " ".repeat(wide.saturating_sub(display_width(cell))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "93d81b1a-0e66-4510-abfd-aa33b26cb82e";

    fn drawn(columns: usize) -> String {
        let paper = Paper { width: columns.min(110), columns, colour: false, is_terminal: true };
        let row = |title: &str| -> Vec<String> {
            [title, "waiting for the opponent", "2 min ago", ID].map(str::to_owned).to_vec()
        };
        let rows = [row("Keep one SQLite file for all the events?"), row("Kế hoạch")];
        table(&["title", "state", "when", "id"], &rows, &paper)
    }

    #[test]
    fn a_table_fits_every_width_of_a_terminal() {
        for columns in 40..=220 {
            let text = drawn(columns);
            assert!(text.contains(ID), "{text}");
            for line in text.lines() {
                assert!(display_width(line) <= columns, "{columns}: {text}");
            }
        }
        assert_eq!(drawn(200).lines().count(), 3, "{}", drawn(200));
        assert!(drawn(100).starts_with("title"), "{}", drawn(100));
        assert!(drawn(80).starts_with("Keep one"), "{}", drawn(80));
    }
}
