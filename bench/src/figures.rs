//! Figures, their limits and promises.

use std::fmt::Write;

use serde::Serialize;

use crate::samples::Samples;

/// The promise of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Promise {
    /// At most this value.
    AtMost(f64),
    /// At least this value.
    AtLeast(f64),
    /// At most this many times its limit.
    Times(f64),
    /// At least this share of its limit.
    Share(f64),
    /// No promise; only recorded.
    Recorded,
}

/// One line of the table.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    pub name: String,
    pub value: f64,
    pub unit: &'static str,
    /// The limit of the machine, measured in the same run.
    pub limit: Option<f64>,
    pub promise: Promise,
    /// The interquartile range as a share of the median.
    pub noise: Option<f64>,
}

impl Figure {
    pub fn ratio(&self) -> Option<f64> {
        self.limit.map(|limit| self.value / limit)
    }

    /// Whether the promise is kept; `None` without a promise.
    pub fn kept(&self) -> Option<bool> {
        match self.promise {
            Promise::AtMost(most) => Some(self.value <= most),
            Promise::AtLeast(least) => Some(self.value >= least),
            Promise::Times(most) => self.ratio().map(|ratio| ratio <= most),
            Promise::Share(least) => self.ratio().map(|ratio| ratio >= least),
            Promise::Recorded => None,
        }
    }

    /// The cells of the figure's row.
    pub fn cells(&self) -> [String; 6] {
        let unit = self.unit;
        let promise = match self.promise {
            Promise::AtMost(most) => format!("≤ {} {unit}", number(most)),
            Promise::AtLeast(least) => format!("≥ {} {unit}", number(least)),
            Promise::Times(most) => format!("≤ {} ×", number(most)),
            Promise::Share(least) => format!("≥ {} ×", number(least)),
            Promise::Recorded => "-".to_owned(),
        };
        let verdict = match self.kept() {
            Some(true) => "kept",
            Some(false) => "MISSED",
            None => "",
        };
        let noise = self.noise.map_or("-".to_owned(), |noise| format!("{:.0} %", noise * 100.0));
        [
            self.name.clone(),
            format!("{} {unit}", number(self.value)),
            self.limit.map_or("-".to_owned(), |limit| format!("{} {unit}", number(limit))),
            self.ratio().map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
            format!("{promise} {verdict}").trim().to_owned(),
            noise,
        ]
    }
}

/// A cost as a function of a size.
#[derive(Debug, Clone, Serialize)]
pub struct Curve {
    /// The picture that it belongs to.
    pub picture: &'static str,
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// Everything that was measured.
#[derive(Debug, Default, Serialize)]
pub struct Figures {
    pub figures: Vec<Figure>,
    pub curves: Vec<Curve>,
}

impl Figures {
    /// Adds a figure and prints it at once.
    pub fn add(&mut self, figure: Figure) {
        eprintln!("  {}", figure.cells().join(" | "));
        self.figures.push(figure);
    }

    /// Adds a median with a limit.
    pub fn beside(
        &mut self,
        name: impl Into<String>,
        unit: &'static str,
        ours: &Samples,
        limit: f64,
        promise: Promise,
    ) {
        let (value, noise) = (ours.median(), Some(ours.noise()));
        self.add(Figure { name: name.into(), value, unit, limit: Some(limit), promise, noise });
    }

    /// Adds a value without a limit.
    pub fn alone(
        &mut self,
        name: impl Into<String>,
        unit: &'static str,
        value: f64,
        promise: Promise,
    ) {
        let name = name.into();
        self.add(Figure { name, value, unit, limit: None, promise, noise: None });
    }

    pub fn curve(
        &mut self,
        picture: &'static str,
        name: impl Into<String>,
        points: Vec<(f64, f64)>,
    ) {
        self.curves.push(Curve { picture, name: name.into(), points });
    }

    /// The whole table, for a terminal.
    pub fn table(&self) -> String {
        let head = HEAD.map(str::to_owned);
        let rows: Vec<_> =
            [head].into_iter().chain(self.figures.iter().map(Figure::cells)).collect();
        let width = |column: usize| {
            rows.iter().map(|cells: &[String; 6]| cells[column].chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..6).map(width).collect();
        let mut table = String::new();
        for cells in &rows {
            for (column, cell) in cells.iter().enumerate() {
                let wide = widths[column];
                // Texts are left-aligned, numbers right-aligned.
                let done = match column {
                    0 | 4 => write!(table, "{cell:<wide$}  "),
                    _ => write!(table, "{cell:>wide$}  "),
                };
                done.expect("a string takes everything");
            }
            table.truncate(table.trim_end().len());
            table.push('\n');
        }
        let missed = self.figures.iter().filter(|figure| figure.kept() == Some(false)).count();
        write!(table, "{missed} of {} promises missed", self.promised()).expect("as above");
        table
    }

    fn promised(&self) -> usize {
        self.figures.iter().filter(|figure| figure.kept().is_some()).count()
    }

    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data")
    }
}

/// The names of the columns.
pub const HEAD: [&str; 6] = ["figure", "aw", "limit", "ratio", "promise", "noise"];

/// A number with its significant digits.
pub fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size >= 1000.0 => {
            let whole = format!("{value:.0}");
            let mut spaced = String::new();
            for (place, digit) in whole.chars().enumerate() {
                if place > 0 && (whole.len() - place).is_multiple_of(3) {
                    spaced.push(',');
                }
                spaced.push(digit);
            }
            spaced
        }
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => trimmed(&format!("{value:.1}")),
        size if size >= 0.1 => trimmed(&format!("{value:.2}")),
        _ => trimmed(&format!("{value:.4}")),
    }
}

fn trimmed(text: &str) -> String {
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
