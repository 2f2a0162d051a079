//! Writes the figures into `docs/performance.md`: the table between two marks, and the pictures.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use crate::figures::{Curve, Figures, HEAD, number};

const PAGE: &str = "docs/performance.md";
const PICTURES: &str = "docs/pictures";
const BEGIN: &str = "<!-- figures: written by scripts/bench --publish -->\n";
const END: &str = "<!-- end of figures -->";

/// The size of a picture.
const WIDE: f64 = 720.0;
const HIGH: f64 = 340.0;

/// The margins for the axes, and for the names on the right.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 18.0;
const BOTTOM: f64 = 40.0;

/// Colours that differ on white and on black.
const COLOURS: [&str; 8] =
    ["#3b82c4", "#d9822b", "#3f9a5f", "#b04a6f", "#7d6bc0", "#8a8a2b", "#4aa3a3", "#8c5a3c"];

pub fn write(profile: &str, figures: &Figures) {
    let page = fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the page has a place for the figures");
    let (_, after) = rest.split_once(END).expect("the place has an end");
    let head = HEAD.join(" | ");
    let mut table = format!(
        "The measured program was built with the profile `{profile}`.\n\n| {head} |\n|---|--:|--:|--:|---|--:|\n"
    );
    for figure in &figures.figures {
        writeln!(table, "| {} |", figure.cells().join(" | ")).expect("a string");
    }
    fs::write(PAGE, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
    let mut pictures: BTreeMap<&str, Vec<&Curve>> = BTreeMap::new();
    for curve in &figures.curves {
        pictures.entry(curve.picture).or_default().push(curve);
    }
    for (name, curves) in pictures {
        fs::write(format!("{PICTURES}/speed-{name}.svg"), picture(&curves)).unwrap();
    }
}

/// Curves on two logarithmic axes.
fn picture(curves: &[&Curve]) -> String {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let across = Axis::over(points().map(|point| point.0), LEFT, WIDE - RIGHT);
    let up = Axis::over(points().map(|point| point.1), HIGH - BOTTOM, TOP);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDE} {HIGH}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDE}\" height=\"{HIGH}\" fill=\"#ffffff\"/>\n"
    );
    let mut put = |text: String| writeln!(svg, "{text}").expect("a string");
    for (at, value) in across.marks() {
        let (top, bottom) = (TOP, HIGH - BOTTOM);
        put(format!("<path d=\"M{at:.1} {top}V{bottom}\" stroke=\"#e3e3e3\"/>"));
        let text = number(value);
        put(format!(
            "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{text}</text>",
            bottom + 18.0
        ));
    }
    for (at, value) in up.marks() {
        let right = WIDE - RIGHT;
        put(format!("<path d=\"M{LEFT} {at:.1}H{right}\" stroke=\"#e3e3e3\"/>"));
        let text = number(value);
        put(format!(
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
            LEFT - 8.0,
            at + 4.0
        ));
    }
    // Names are placed at the ends of their curves, each on its own line.
    let mut named: Vec<(f64, usize)> = curves
        .iter()
        .enumerate()
        .map(|(number, curve)| (up.at(curve.points.last().expect("a point").1), number))
        .collect();
    named.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut lowest = f64::MIN;
    for (at, number) in named {
        let (curve, colour) = (curves[number], COLOURS[number % COLOURS.len()]);
        let path: Vec<String> = curve
            .points
            .iter()
            .map(|(x, y)| format!("{:.1} {:.1}", across.at(*x), up.at(*y)))
            .collect();
        put(format!(
            "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.join("L")
        ));
        lowest = (at + 4.0).max(lowest + 15.0);
        let x = WIDE - RIGHT + 8.0;
        let name = &curve.name;
        put(format!("<text x=\"{x}\" y=\"{lowest:.1}\" fill=\"{colour}\">{name}</text>"));
    }
    svg + "</svg>\n"
}

/// A logarithmic axis between two positions of the picture.
struct Axis {
    least: f64,
    most: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// An axis over whole powers of ten around all values.
    fn over(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (mut least, mut most) = (f64::MAX, f64::MIN);
        for value in values {
            (least, most) = (least.min(value.log10().floor()), most.max(value.log10().ceil()));
        }
        Axis { least, most: most.max(least + 1.0), from, to }
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value.log10() - self.least) / (self.most - self.least);
        self.from + share * (self.to - self.from)
    }

    /// The powers of ten and their positions.
    fn marks(&self) -> impl Iterator<Item = (f64, f64)> {
        let powers = self.least as i32..=self.most as i32;
        powers.map(|power| 10_f64.powi(power)).map(|value| (self.at(value), value))
    }
}
