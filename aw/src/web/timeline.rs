//! Draws the timeline of a debate: who wrote when, how long each took, and who waited for the
//! arbitrator.
//!
//! There is one lane for each role, and time goes from left to right. Each argument is a mark at the
//! end of a bar. The length of the bar is the logarithm of the time that the answer took, so seconds
//! and minutes differ visibly and a night does not fill the page; a very long bar has a break. The
//! picture fits the column of a laptop while its marks, which are links, keep apart; a longer one
//! scrolls and opens at its end, which is now. It is one Tab stop, and the script moves through its marks
//! with arrows. Beyond [`MARKS`], neighbouring claims are drawn as runs. Colours are in the stylesheet.

mod marks;

use std::fmt::Write;

use aw_core::{ByRole, Event, Kind, Role, Seq, Standing};
use aw_record::Moment;

use crate::render::i18n::Phrases;
use crate::render::markdown::plain;

/// The most single marks.
const MARKS: usize = 800;

/// The bar of an answer that took longer than this has a break: half an hour, in milliseconds.
const IDLE: i64 = 30 * 60 * 1000;

/// The height of the picture, and the top and bottom of the lanes.
const HEIGHT: u32 = 152;
const LANES_FROM: u32 = 24;
const LANES_TO: u32 = 144;

/// The width of the names of the lanes, which do not scroll.
const NAMES: u32 = 88;

/// The width of the column on a laptop, beside the names of the lanes.
const FITS: u32 = 500;

/// The shortest bar of a picture that is made to fit, so that marks do not touch.
const CLOSEST: f64 = 9.0;

/// The numbers of a debate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Summary {
    /// The turns of the proposer.
    pub(crate) rounds: usize,
    pub(crate) arguments: usize,
    pub(crate) appeals: usize,
    pub(crate) interventions: usize,
    pub(crate) rulings: usize,
    /// From the first argument to the last, in milliseconds.
    pub(crate) lasted: i64,
}

/// Counts the arguments of a debate.
pub(crate) fn summary(moments: &[Moment]) -> Summary {
    let count = |kind| moments.iter().filter(|moment| moment.event.kind() == kind).count();
    let lasted = match moments {
        [first, .., last] => last.at.0 - first.at.0,
        [_] | [] => 0,
    };
    Summary {
        rounds: moments.iter().filter(|moment| begins_round(moment.event)).count(),
        arguments: moments.len(),
        appeals: count(Kind::Appeal),
        interventions: count(Kind::Intervention),
        rulings: count(Kind::Ruling),
        lasted,
    }
}

/// Draws the timeline as HTML. `link` returns the address of an argument.
pub(crate) fn draw(
    moments: &[Moment],
    t: &Phrases,
    now: i64,
    link: &dyn Fn(Seq) -> String,
) -> String {
    let groups = groups(moments);
    let Some(last) = moments.last() else { return String::new() };
    let standing = Standing::fold(moments.iter().map(|moment| moment.event));
    let floor = standing.and_then(|standing| standing.state.floor());
    let drawn = |spacing| {
        let mut picture = Picture::new(t, link, spacing);
        groups.iter().for_each(|group| picture.add(group));
        picture.end(floor, now - last.at.0);
        picture
    };
    let spacing = Spacing::of(groups.len());
    let picture = drawn(spacing);
    match spacing.fitted(picture.width(), groups.len()) {
        Some(closer) => drawn(closer).html(),
        None => picture.html(),
    }
}

/// Whether a round begins with this event.
fn begins_round(event: Event) -> bool {
    event.role() == Role::Proposer && !event.parked()
}

/// Splits a debate into single arguments, or into runs of them if there are many.
fn groups(moments: &[Moment]) -> Vec<&[Moment]> {
    if moments.len() <= MARKS {
        return moments.chunks(1).collect();
    }
    let is_plain = |moment: &Moment| moment.event.kind() == Kind::Claim;
    let others = moments.iter().filter(|moment| !is_plain(moment)).count();
    if others > MARKS / 2 {
        return moments.chunks(moments.len().div_ceil(MARKS)).collect();
    }
    let run = (moments.len() - others).div_ceil(MARKS - others).max(4);
    let stretches = moments.chunk_by(|one, next| is_plain(one) && is_plain(next));
    stretches.flat_map(|stretch| stretch.chunks(run)).collect()
}

/// The width of bars and the size of marks.
#[derive(Clone, Copy)]
struct Spacing {
    /// The length of a bar for no time.
    least: f64,
    /// The length of a bar for [`IDLE`] or more.
    most: f64,
    /// Half the size of a mark.
    size: i32,
}

impl Spacing {
    fn of(marks: usize) -> Self {
        match marks {
            ..=40 => Spacing { least: 26.0, most: 92.0, size: 7 },
            41..=150 => Spacing { least: 15.0, most: 46.0, size: 6 },
            _ => Spacing { least: 7.0, most: 18.0, size: 4 },
        }
    }

    /// The spacing that makes a picture of this width and of so many marks fit, or that comes nearest to
    /// it; none if it fits.
    fn fitted(self, width: u32, marks: usize) -> Option<Self> {
        if width <= FITS || self.least <= CLOSEST {
            return None;
        }
        // The wait for the next argument has a width of its own.
        let (room, width, marks) = (f64::from(FITS - 50), f64::from(width), marks as f64);
        let least = (self.least * room / width).floor().max(CLOSEST);
        let longer = (width - marks * self.least).max(1.0) / (self.most - self.least);
        let most = least + ((room - marks * least) / longer).floor().max(0.0);
        Some(Spacing { least, most, size: if least < 15.0 { 4 } else { 6 } })
    }

    /// The length of a bar, on a logarithmic scale.
    fn length(self, took: i64) -> u32 {
        let steps = |took: i64| (1.0 + took.clamp(0, IDLE) as f64 / 10_000.0).ln();
        (self.least + (self.most - self.least) * steps(took) / steps(IDLE)).round() as u32
    }
}

/// The height at which the lane of a role is.
fn lane(role: Role) -> u32 {
    match role {
        Role::Proposer => 48,
        Role::Opponent => 86,
        Role::Arbitrator => 124,
    }
}

/// Collects the SVG: a path for all bars of a role, and each mark.
struct Picture<'a> {
    t: &'a Phrases,
    link: &'a dyn Fn(Seq) -> String,
    spacing: Spacing,
    /// The position of the last argument.
    x: u32,
    /// The last argument that was not parked, and its position.
    handed_over: Option<(u32, Moment)>,
    rounds: usize,
    /// The position of the last number of a round.
    numbered: Option<u32>,
    /// The position from which the debate waits for the arbitrator.
    asked: Option<u32>,
    bars: ByRole<String>,
    turns: String,
    breaks: String,
    waits: String,
    texts: String,
    marks: String,
}

impl<'a> Picture<'a> {
    fn new(t: &'a Phrases, link: &'a dyn Fn(Seq) -> String, spacing: Spacing) -> Self {
        Picture {
            t,
            link,
            spacing,
            x: 2,
            handed_over: None,
            rounds: 0,
            numbered: None,
            asked: None,
            bars: ByRole::default(),
            turns: String::new(),
            breaks: String::new(),
            waits: String::new(),
            texts: String::new(),
            marks: String::new(),
        }
    }

    /// Adds a single argument or a run.
    fn add(&mut self, group: &[Moment]) {
        let [first, ..] = group else { return };
        let last = group.last().unwrap_or(first);
        let (begin, took) = match self.handed_over {
            Some((x, before)) => (x, last.at.0 - before.at.0),
            None => (self.x, 0),
        };
        // A parked argument is drawn between a turn and its answer, and does not shorten the bar.
        self.x = match self.handed_over {
            Some(_) => (begin + self.spacing.length(took)).max(self.x + self.spacing.least as u32),
            None => self.x + self.spacing.size as u32 + 4,
        };
        for moment in group.iter().filter(|moment| begins_round(moment.event)) {
            self.rounds += 1;
            self.number(moment.seq == first.seq);
        }
        if let [moment] = group {
            let y = lane(moment.event.role());
            if let Some((_, before)) = self.handed_over {
                let from = lane(before.event.role());
                let _ = write!(self.turns, "M{begin} {from}V{y}");
                self.bar(moment.event.role(), begin, took);
            }
            self.mark(moment, took);
        } else {
            self.run(group, begin, took);
        }
        for moment in group.iter().filter(|moment| !moment.event.parked()) {
            self.handed_over = Some((self.x, *moment));
            if moment.event.kind().asks_for_ruling() {
                self.asked = self.asked.or(Some(self.x));
            } else if let Some(asked) = self.asked.take() {
                self.wait(asked, self.x);
            }
        }
    }

    /// Writes the number of a round above its beginning if there is room.
    fn number(&mut self, is_exact: bool) {
        let digits = self.rounds.to_string().len() as u32;
        let is_free = self.numbered.is_none_or(|last| self.x > last + 10 + 8 * digits);
        if is_exact && is_free {
            let _ = write!(
                self.texts,
                "<text class=\"round\" x=\"{}\" y=\"14\">{}</text>",
                self.x, self.rounds
            );
            self.numbered = Some(self.x);
        }
    }

    /// Draws the bar of an answer.
    fn bar(&mut self, role: Role, begin: u32, took: i64) {
        let (y, end) = (lane(role), self.x);
        let _ = write!(self.bars.of_mut(role), "M{begin} {y}H{end}");
        let middle = (begin + end) / 2;
        if took > IDLE {
            let _ =
                write!(self.breaks, "M{} {}l4 -12M{} {}l4 -12", middle - 4, y + 6, middle, y + 6);
        }
        if end - begin >= 44 {
            let _ = write!(
                self.texts,
                "<text class=\"took\" x=\"{middle}\" y=\"{}\">{}</text>",
                y - 10,
                plain(&self.t.lasting(took))
            );
        }
    }

    /// Draws the mark of an argument.
    fn mark(&mut self, moment: &Moment, took: i64) {
        let event = moment.event;
        let (role, kind) = (event.role(), event.kind());
        let mut words = format!("#{} {kind} · {}", moment.seq, self.t.role(role));
        if took > 0 {
            let _ = write!(words, " · {}", self.t.lasting(took));
        }
        let mut class = format!("mark r-{role} k-{}", kind.as_str().to_lowercase());
        if event.parked() {
            let _ = write!(words, " · {}", self.t.parked);
            class.push_str(" parked");
        }
        if event.close() == Some(true) {
            let _ = write!(words, " · {}", self.t.closes);
            class.push_str(" closes");
        }
        let path = marks::path(kind, self.x as i32, lane(role) as i32, self.spacing.size);
        self.linked(moment.seq, &words, &format!("<path class=\"{class}\" d=\"{path}\"/>"));
    }

    /// Draws many arguments as one block.
    fn run(&mut self, group: &[Moment], begin: u32, took: i64) {
        let ([first, ..], [.., last]) = (group, group) else { return };
        let words = format!("#{}–#{} · {}", first.seq, last.seq, self.t.lasting(took));
        let is_asked = group.iter().any(|moment| moment.event.kind() != Kind::Claim);
        let class = if is_asked { "run k-appeal" } else { "run" };
        let (top, bottom) = (lane(Role::Proposer) - 6, lane(Role::Opponent) + 6);
        let (left, right) = (begin + 1, self.x.max(begin + 3));
        let path = format!("M{left} {top}H{right}V{bottom}H{left}Z");
        self.linked(first.seq, &words, &format!("<path class=\"{class}\" d=\"{path}\"/>"));
    }

    fn linked(&mut self, seq: Seq, words: &str, drawn: &str) {
        let (href, words) = (plain(&(self.link)(seq)), plain(words));
        let _ = writeln!(
            self.marks,
            "<a href=\"{href}\" aria-label=\"{words}\" tabindex=\"-1\"><title>{words}</title>{drawn}</a>"
        );
    }

    /// Draws the time in which the debate waited for the arbitrator.
    fn wait(&mut self, from: u32, to: u32) {
        let _ = write!(self.waits, "M{from} {LANES_FROM}H{to}V{LANES_TO}H{from}Z");
    }

    /// Draws the current wait, or the end of a closed debate.
    fn end(&mut self, floor: Option<Role>, since: i64) {
        let begin = self.handed_over.map_or(self.x, |(x, _)| x);
        let Some(role) = floor else {
            let x = self.x + self.spacing.size as u32 + 5;
            let _ = write!(self.texts, "<path class=\"end\" d=\"M{x} {LANES_FROM}V{LANES_TO}\"/>");
            self.x = x + 4;
            return;
        };
        self.x = self.x.max(begin + self.spacing.length(since).max(40));
        if let Some(asked) = self.asked.take() {
            self.wait(asked, self.x);
        }
        let (y, end) = (lane(role), self.x);
        let _ = write!(
            self.texts,
            "<path class=\"now r-{role}\" d=\"M{begin} {y}H{end}\"/><text class=\"took\" x=\"{}\" y=\"{}\">{}</text>",
            (begin + end) / 2,
            y - 10,
            plain(&self.t.lasting(since))
        );
        self.x += 6;
    }

    fn width(&self) -> u32 {
        self.x + 6
    }

    fn html(self) -> String {
        let width = self.width();
        let Picture { t, bars, turns, breaks, waits, texts, marks, .. } = self;
        let roles = [Role::Proposer, Role::Opponent, Role::Arbitrator];
        let mut html = format!(
            "<div class=\"timeline\"><svg class=\"timeline-names\" width=\"{NAMES}\" height=\"{HEIGHT}\" \
             viewBox=\"0 0 {NAMES} {HEIGHT}\" aria-hidden=\"true\">"
        );
        for role in roles {
            let y = lane(role) + 4;
            let name = plain(t.role(role));
            let _ =
                write!(html, "<text class=\"lane-name r-{role}\" x=\"0\" y=\"{y}\">{name}</text>");
        }
        let label = plain(t.picture);
        let _ = writeln!(
            html,
            "</svg><div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{label}\">\
             <svg class=\"timeline-picture\" width=\"{width}\" height=\"{HEIGHT}\" \
             viewBox=\"0 0 {width} {HEIGHT}\">"
        );
        let path = |html: &mut String, class: &str, d: &str| {
            if !d.is_empty() {
                let _ = writeln!(html, "<path class=\"{class}\" d=\"{d}\"/>");
            }
        };
        let lanes: String = roles.map(|role| format!("M0 {}H{width}", lane(role))).concat();
        path(&mut html, "wait", &waits);
        path(&mut html, "lane", &lanes);
        path(&mut html, "turn", &turns);
        path(&mut html, "bar r-proposer", &bars.proposer);
        path(&mut html, "bar r-opponent", &bars.opponent);
        path(&mut html, "bar r-arbitrator", &bars.arbitrator);
        path(&mut html, "break", &breaks);
        html.push_str(&texts);
        html.push('\n');
        html.push_str(&marks);
        html.push_str("</svg></div></div>\n");
        html
    }
}

#[cfg(test)]
mod tests;
