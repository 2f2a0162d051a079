//! Takes drawn HTML apart: blocks, and runs of text with inline tags.
//!
//! The HTML is what [`super::super::Drawing`] writes: every tag is closed in order, and `<` and `>`
//! stand in tags only.

/// The elements that are blocks. `code` is one inside of `pre` only.
const BLOCKS: [&str; 20] = [
    "details",
    "summary",
    "p",
    "h3",
    "h4",
    "h5",
    "h6",
    "pre",
    "ul",
    "ol",
    "li",
    "blockquote",
    "div",
    "table",
    "thead",
    "tbody",
    "tr",
    "td",
    "th",
    "hr",
];

/// A part of drawn HTML.
pub(super) enum Part<'h> {
    Block(HtmlBlock<'h>),
    /// Text with inline tags.
    Run(&'h str),
}

/// A block: its tags and its content.
pub(super) struct HtmlBlock<'h> {
    pub(super) name: &'h str,
    pub(super) open: &'h str,
    pub(super) inner: &'h str,
    pub(super) close: &'h str,
    outer: &'h str,
}

impl<'h> Part<'h> {
    pub(super) fn outer(&self) -> &'h str {
        match self {
            Part::Block(block) => block.outer,
            Part::Run(run) => run,
        }
    }

    fn name(&self) -> &'h str {
        match self {
            Part::Block(block) => block.name,
            Part::Run(_) => "",
        }
    }

    pub(super) fn is_heading(&self) -> bool {
        matches!(self.name(), "h3" | "h4" | "h5" | "h6")
    }

    /// Whether one can have become the other: the same element, and tables with the same columns.
    pub(super) fn pairs_with(&self, other: &Part<'_>) -> bool {
        let is_alike = self.name() == other.name() || (self.is_heading() && other.is_heading());
        let has_columns = matches!(self.name(), "div" | "tr");
        is_alike && (!has_columns || cells(self.outer()) == cells(other.outer()))
    }
}

/// The number of cells in the first row.
fn cells(html: &str) -> usize {
    let row = html.split("</tr>").next().unwrap_or_default();
    ["<th>", "<th ", "<td>", "<td "].iter().map(|cell| row.matches(cell).count()).sum()
}

/// The parts of HTML that stands in an element of this name.
pub(super) fn parts<'h>(html: &'h str, parent: &str) -> Vec<Part<'h>> {
    let is_block = |name: &str| BLOCKS.contains(&name) || (name == "code" && parent == "pre");
    let mut found = Vec::new();
    let mut run = 0;
    let mut depth = 0_usize;
    // The start of the current block and the end of its first tag.
    let mut block = (0, 0);
    for tag in tags(html).filter(|tag| is_block(tag.name)) {
        if tag.is_end {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                found.push(Part::Block(HtmlBlock {
                    name: tag.name,
                    open: &html[block.0..block.1],
                    inner: &html[block.1..tag.start],
                    close: &html[tag.start..tag.end],
                    outer: &html[block.0..tag.end],
                }));
                run = tag.end;
            }
            continue;
        }
        if depth == 0 {
            push_run(&mut found, &html[run..tag.start]);
            block = (tag.start, tag.end);
        }
        if tag.name == "hr" {
            if depth == 0 {
                let open = &html[tag.start..tag.end];
                let (name, inner, close, outer) = (tag.name, "", "", open);
                found.push(Part::Block(HtmlBlock { name, open, inner, close, outer }));
                run = tag.end;
            }
        } else {
            depth += 1;
        }
    }
    push_run(&mut found, &html[run..]);
    found
}

fn push_run<'h>(found: &mut Vec<Part<'h>>, run: &'h str) {
    if !run.trim().is_empty() {
        found.push(Part::Run(run));
    }
}

/// A tag in HTML, with its place.
pub(super) struct HtmlTag<'h> {
    pub(super) name: &'h str,
    pub(super) is_end: bool,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The tags of HTML, in order.
pub(super) fn tags(html: &str) -> impl Iterator<Item = HtmlTag<'_>> {
    html.match_indices('<').map(|(start, _)| {
        let end = html[start..].find('>').map_or(html.len(), |at| start + at + 1);
        let tag = html[start + 1..end].trim_end_matches('>');
        let (is_end, tag) = tag.strip_prefix('/').map_or((false, tag), |tag| (true, tag));
        HtmlTag { name: tag.split(' ').next().unwrap_or_default(), is_end, start, end }
    })
}

/// The text of HTML, with a space in place of each tag.
pub(super) fn text_of(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut done = 0;
    for tag in tags(html) {
        text.push_str(&html[done..tag.start]);
        text.push(' ');
        done = tag.end;
    }
    text.push_str(&html[done..]);
    text
}
