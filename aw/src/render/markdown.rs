//! Renders agents' Markdown as harmless HTML.
//!
//! The text is parsed, and only the nodes that [`Drawing::enter`] lists are written. Raw HTML is shown
//! as text, an image as its address, and a link must lead to another site. A sanitiser with an
//! allow-list then checks the result, so a mistake here is not yet a hole. Time and output are
//! proportional to the input, even if it is hostile. Begin with [`render`].

mod address;
mod allowed;
mod changes;
mod details;
mod highlight;
mod invisible_chars;

use std::borrow::Cow;
use std::fmt::Write;
use std::time::{Duration, Instant};

use aw_core::DocumentId;
use aw_record::Citation;
use comrak::arena_tree::NodeEdge;
use comrak::nodes::{ListType, Node, NodeLink, NodeValue, TableAlignment};
use comrak::{Arena, Options, try_parse_document};

use self::address::{UUID_LEN, external, ids, looks_like_address, shortened};
use self::allowed::SANITISER;
pub(crate) use self::changes::{RenderedChanges, changes};
use self::details::DetailsTag;
use self::highlight::Highlighter;
pub(crate) use self::invisible_chars::plain;

/// How many bytes of a text are drawn as Markdown. Documents may be twenty times as long; the rest of
/// them is shown as plain text.
const DRAWN: usize = 256 * 1024;

/// How long parsing may take. After that the text is shown as plain text.
const PATIENCE: Duration = Duration::from_millis(500);

/// How deep quotes and lists, and emphasis, are nested. Deeper levels would leave no room on a phone
/// and make the browser slow.
const NESTED: usize = 6;

/// How many cells the tables of a text may lack at the ends of their rows. The parser fills them in,
/// so a short text could make a huge table.
const LEFT_OUT: usize = 5_000;

/// How many bytes of a document are searched for the heading that names it.
const NAMED_FROM: usize = 16 * 1024;

/// How many bytes of a node are read for its name.
const NAME: usize = 1_000;

/// How many characters of a document's name stand in a link.
const LINK_NAME: usize = 80;

/// A document that a text cites, as the link to it shows it.
pub struct DocumentLink {
    /// The cited version.
    pub version: u64,
    /// The document's name. Without a name its id is shown.
    pub name: String,
}

impl From<&Citation> for DocumentLink {
    fn from(citation: &Citation) -> Self {
        DocumentLink { version: citation.version, name: citation.name.clone() }
    }
}

/// Finds the document that an id in a text cites.
pub type FindDocument<'a> = &'a dyn Fn(DocumentId) -> Option<DocumentLink>;

/// Renders an agent's text as HTML. Ids of documents that `links` finds become links with the name of
/// the document; other ids stay text.
pub fn render(text: &str, links: FindDocument<'_>) -> String {
    render_marked(text, links, &[])
}

/// A document as HTML, whose headings have anchors.
pub(crate) struct RenderedDocument {
    pub(crate) html: String,
    pub(crate) headings: Vec<DocumentHeading>,
}

/// A heading of a document.
pub(crate) struct DocumentHeading {
    /// How many headings it stands below.
    pub(crate) depth: usize,
    pub(crate) anchor: String,
    pub(crate) words: String,
}

/// Renders a document as HTML. Its headings have anchors that begin with `s-`.
pub(crate) fn render_document(text: &str) -> RenderedDocument {
    let (drawn, rest) = text.split_at(end_of_drawn(text));
    let mut named = invisible_chars::NAMED;
    let mut headings = Vec::new();
    let drawn = draw_with(drawn, &|_| None, &[], &mut named, Some(&mut headings));
    let (mut html, rest) = match drawn {
        Some(drawing) => (SANITISER.clean(&drawing).to_string(), rest),
        None => (String::new(), text),
    };
    push_rest(&mut html, rest, &mut named);
    RenderedDocument { html, headings }
}

/// The name of a document: its first heading, if it has one near its beginning.
pub(crate) fn first_heading(text: &str) -> Option<String> {
    let arena = Arena::new();
    let end = (0..=text.len().min(NAMED_FROM)).rev().find(|end| text.is_char_boundary(*end));
    let begin = &text[..end.unwrap_or(0)];
    let root = try_parse_document(&arena, begin, &Options::default(), &|| false).ok()?;
    let heading = root
        .children()
        .find(|node| matches!(node.data().value, NodeValue::Heading(_)) && has_text(node))?;
    Some(words_of(heading).split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A place in a text where the page adds a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextMark {
    /// At the end of the heading in this line.
    Heading(usize),
    /// After the quote that has this line.
    Quote(usize),
}

/// Renders an agent's text as HTML, with a mark for each note. [`fill`] puts the notes there.
pub(crate) fn render_marked(text: &str, links: FindDocument<'_>, marks: &[TextMark]) -> String {
    let (drawn, rest) = text.split_at(end_of_drawn(text));
    let mut named = invisible_chars::NAMED;
    let (mut html, rest) = match draw(drawn, links, marks, &mut named) {
        Some(drawing) => (SANITISER.clean(&drawing).to_string(), rest),
        None => (String::new(), text),
    };
    push_rest(&mut html, rest, &mut named);
    html
}

/// Adds the rest of a long text as plain text.
fn push_rest(html: &mut String, rest: &str, named: &mut u32) {
    if !rest.is_empty() {
        html.push_str("<pre class=\"rest\">");
        invisible_chars::push(html, rest, named);
        html.push_str("</pre>");
    }
}

/// The beginning and the end of a mark. Text of an agent cannot contain them, since `<` is escaped.
const MARK: (&str, &str) = ("<data value=\"", "\"></data>");

/// Replaces each mark in rendered HTML by its note, which must be HTML.
pub(crate) fn fill(html: &str, note: &dyn Fn(usize) -> String) -> String {
    let mut filled = String::with_capacity(html.len() + 256);
    let mut parts = html.split(MARK.0);
    filled.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (number, rest) = part.split_once(MARK.1).unwrap_or(("", part));
        if let Ok(number) = number.parse() {
            filled.push_str(&note(number));
        }
        filled.push_str(rest);
    }
    filled
}

/// Where the drawn part ends: at the end of the text, after a blank line or after a line.
fn end_of_drawn(text: &str) -> usize {
    if text.len() <= DRAWN {
        return text.len();
    }
    let fits = (0..=DRAWN).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let most = &text[..fits];
    let blank = most.rfind("\n\n").filter(|at| *at > DRAWN / 2).map(|at| at + 2);
    blank.or(most.rfind('\n').map(|at| at + 1)).unwrap_or(most.len())
}

fn draw(
    text: &str,
    links: FindDocument<'_>,
    marks: &[TextMark],
    named: &mut u32,
) -> Option<String> {
    draw_with(text, links, marks, named, None)
}

fn draw_with(
    text: &str,
    links: FindDocument<'_>,
    marks: &[TextMark],
    named: &mut u32,
    anchors: Option<&mut Vec<DocumentHeading>>,
) -> Option<String> {
    let mut options = Options::default();
    options.extension.strikethrough = true;
    options.extension.table = tables_are_whole(text);
    options.extension.autolink = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    let arena = Arena::new();
    let begun = Instant::now();
    let root = try_parse_document(&arena, text, &options, &|| begun.elapsed() > PATIENCE).ok()?;
    let mut drawing = Drawing {
        html: String::with_capacity(text.len() * 2),
        links,
        marks,
        named,
        highlighter: Highlighter::new(),
        nesting: Nesting::default(),
        headings: Vec::new(),
        columns: Columns::default(),
        details: 0,
        notes: 0,
        anchors,
    };
    let mut open = Vec::new();
    for edge in root.traverse() {
        match edge {
            NodeEdge::Start(node) => {
                let nesting = drawing.nesting;
                open.push((drawing.enter(node), nesting));
            }
            NodeEdge::End(node) => {
                let (end, nesting) = open.pop().expect("each node starts before it ends");
                if matches!(node.data().value, NodeValue::Document) {
                    drawing.end_notes();
                    drawing.html.push_str(&"</details>\n".repeat(drawing.details));
                }
                drawing.html.push_str(&end);
                drawing.nesting = nesting;
            }
        }
    }
    Some(drawing.html)
}

/// Whether tables have most of their cells. If not, they are shown as text.
fn tables_are_whole(text: &str) -> bool {
    let mut columns = 0;
    let mut left_out = 0;
    for line in text.lines() {
        let bars = line.bytes().filter(|byte| *byte == b'|').count();
        let is_rule = line.contains('-') && line.bytes().all(|byte| b"|:- \t>".contains(&byte));
        if is_rule && bars > 0 {
            columns = columns.max(bars);
        } else if line.trim().is_empty() {
            columns = 0;
        } else {
            left_out += (columns + 1).saturating_sub(bars + 2);
        }
        if left_out > LEFT_OUT {
            return false;
        }
    }
    true
}

/// Writes the HTML of a text.
struct Drawing<'a> {
    html: String,
    links: FindDocument<'a>,
    marks: &'a [TextMark],
    /// How many more invisible characters are named.
    named: &'a mut u32,
    highlighter: Highlighter,
    nesting: Nesting,
    /// The levels of the last heading and of those above it, as the agent wrote them.
    headings: Vec<u8>,
    columns: Columns,
    /// How many `details` are open.
    details: usize,
    /// How many footnotes are drawn.
    notes: u32,
    /// Collects the headings of a document, which then have anchors.
    anchors: Option<&'a mut Vec<DocumentHeading>>,
}

/// The nodes around the current one. It is restored when a node ends.
#[derive(Clone, Copy, Default)]
struct Nesting {
    /// How many quotes and lists.
    blocks: usize,
    /// Whether it is a quote.
    is_quote: bool,
    /// How many levels of emphasis.
    emphasis: usize,
    /// Whether it is a list without space between its items.
    is_tight: bool,
    is_link: bool,
    is_header: bool,
}

/// The columns of the current table.
#[derive(Default)]
struct Columns {
    alignments: Vec<TableAlignment>,
    /// The column of the next cell.
    next: usize,
    /// How many columns of this row are not empty.
    filled: usize,
}

impl Drawing<'_> {
    /// Writes the beginning of a node and returns its end.
    fn enter<'a>(&mut self, node: Node<'a>) -> Cow<'static, str> {
        let data = node.data();
        match &data.value {
            NodeValue::Paragraph => self.paragraph(node),
            NodeValue::Heading(heading) => {
                if !has_text(node) {
                    return self.wrap("<p>", "</p>\n");
                }
                while self.headings.last().is_some_and(|above| *above >= heading.level) {
                    self.headings.pop();
                }
                self.headings.push(heading.level);
                // The page's own headings end at h2, and no level may be skipped.
                let (begin, end) = match self.headings.len() {
                    1 => ("<h3", "</h3>\n"),
                    2 => ("<h4", "</h4>\n"),
                    3 => ("<h5", "</h5>\n"),
                    _ => ("<h6", "</h6>\n"),
                };
                let line = data.sourcepos.start.line;
                let marked = self.marked(&|mark| *mark == TextMark::Heading(line));
                self.html.push_str(begin);
                if let Some(anchors) = &mut self.anchors {
                    let words = words_of(node);
                    let anchor = format!("s-{}-{}", anchors.len() + 1, slug(&words));
                    let _ = write!(self.html, " id=\"{anchor}\"");
                    let depth = self.headings.len() - 1;
                    anchors.push(DocumentHeading { depth, anchor, words });
                }
                self.html.push('>');
                Cow::Owned(marked + end)
            }
            NodeValue::ThematicBreak => self.wrap("<hr>\n", ""),
            NodeValue::BlockQuote => {
                let is_inner = std::mem::replace(&mut self.nesting.is_quote, true);
                self.nesting.is_tight = false;
                self.nesting.blocks += 1;
                let lines = data.sourcepos.start.line..=data.sourcepos.end.line;
                let of_this =
                    |mark: &TextMark| matches!(mark, TextMark::Quote(line) if lines.contains(line));
                let marked = if is_inner { String::new() } else { self.marked(&of_this) };
                let is_drawn = self.nesting.blocks <= NESTED;
                let end = self.wrap_if(is_drawn, "<blockquote>\n", "</blockquote>\n");
                Cow::Owned(end.into_owned() + &marked)
            }
            NodeValue::List(list) => {
                self.nesting.blocks += 1;
                let is_drawn = self.nesting.blocks <= NESTED;
                self.nesting.is_tight = list.tight && is_drawn;
                match list.list_type {
                    ListType::Bullet => self.wrap_if(is_drawn, "<ul>\n", "</ul>\n"),
                    ListType::Ordered if list.start == 1 => {
                        self.wrap_if(is_drawn, "<ol>\n", "</ol>\n")
                    }
                    ListType::Ordered => {
                        if is_drawn {
                            let _ = writeln!(self.html, "<ol start=\"{}\">", list.start);
                        }
                        self.wrap_if(is_drawn, "", "</ol>\n")
                    }
                }
            }
            NodeValue::Item(_) => self.wrap_if(self.nesting.blocks <= NESTED, "<li>", "</li>\n"),
            NodeValue::TaskItem(task) => {
                let end =
                    self.wrap_if(self.nesting.blocks <= NESTED, "<li class=\"task\">", "</li>\n");
                let is_labelled = node
                    .first_child()
                    .is_some_and(|first| matches!(first.data().value, NodeValue::Paragraph));
                if !is_labelled {
                    self.checkbox(task.symbol.is_some(), true);
                }
                end
            }
            NodeValue::CodeBlock(code) => {
                let is_diagram = code.info.split([' ', ',']).next() == Some("mermaid");
                self.html.push_str(match is_diagram {
                    // Shown as its source, with its name.
                    true => "<pre class=\"code mermaid\" tabindex=\"0\"><code>",
                    false => "<pre class=\"code\" tabindex=\"0\"><code>",
                });
                self.highlighter.push(&mut self.html, &code.info, &code.literal, self.named);
                self.wrap("</code></pre>\n", "")
            }
            NodeValue::FootnoteReference(note) => {
                let _ = write!(self.html, "<sup>[{}]</sup>", note.ix);
                Cow::Borrowed("")
            }
            NodeValue::FootnoteDefinition(_) => {
                self.notes += 1;
                self.nesting = Nesting { blocks: 1, ..Nesting::default() };
                let is_first = self.notes == 1;
                self.wrap_if(is_first, "<hr>\n<ol>\n", "");
                self.wrap("<li>", "</li>\n")
            }
            NodeValue::HtmlBlock(block) if node.parent().is_some_and(is_document) => {
                self.details(&block.literal)
            }
            NodeValue::HtmlBlock(block) => {
                self.html.push_str("<pre class=\"raw\">");
                self.words(block.literal.trim_end());
                self.wrap("</pre>\n", "")
            }
            NodeValue::Table(table) => {
                self.columns =
                    Columns { alignments: table.alignments.clone(), ..Columns::default() };
                let label = invisible_chars::attribute(&names_of_columns(node), 80);
                // Not a region: regions are landmarks, which must have different names.
                let _ = write!(
                    self.html,
                    "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{label}\">"
                );
                self.wrap("<table>\n", "</table></div>\n")
            }
            NodeValue::TableRow(is_header) => {
                let is_filled = |cell: &Node<'_>| cell.first_child().is_some();
                let filled = node.children().collect::<Vec<_>>().iter().rposition(is_filled);
                self.columns.next = 0;
                self.columns.filled = filled.map_or(0, |last| last + 1);
                self.nesting.is_header = *is_header;
                let is_first = node.previous_sibling().is_some_and(is_header_row);
                match (*is_header, is_first, node.next_sibling().is_none()) {
                    (true, _, _) => self.wrap("<thead><tr>", "</tr></thead>\n"),
                    (false, true, true) => self.wrap("<tbody><tr>", "</tr></tbody>\n"),
                    (false, true, false) => self.wrap("<tbody><tr>", "</tr>\n"),
                    (false, false, true) => self.wrap("<tr>", "</tr></tbody>\n"),
                    (false, false, false) => self.wrap("<tr>", "</tr>\n"),
                }
            }
            NodeValue::TableCell => {
                let column = self.columns.next;
                self.columns.next += 1;
                if column >= self.columns.filled {
                    return Cow::Borrowed("");
                }
                let class = match self.columns.alignments.get(column) {
                    Some(TableAlignment::Center) => " class=\"center\"",
                    Some(TableAlignment::Right) => " class=\"right\"",
                    Some(TableAlignment::Left | TableAlignment::None) | None => "",
                };
                // A screen reader would read out a header without text.
                if self.nesting.is_header && has_text(node) {
                    let _ = write!(self.html, "<th scope=\"col\"{class}>");
                    self.wrap("", "</th>")
                } else {
                    let _ = write!(self.html, "<td{class}>");
                    self.wrap("", "</td>")
                }
            }
            NodeValue::Text(text) => {
                self.words(text);
                Cow::Borrowed("")
            }
            NodeValue::Code(code) => {
                self.html.push_str("<code>");
                self.words(&code.literal);
                self.wrap("</code>", "")
            }
            NodeValue::HtmlInline(html) => {
                // The only tag that is understood: agents use it to break lines in table cells.
                if html.starts_with("<br") && matches!(html[3..].trim(), ">" | "/>") {
                    self.html.push_str("<br>");
                } else {
                    self.words(html);
                }
                Cow::Borrowed("")
            }
            NodeValue::SoftBreak => self.wrap("\n", ""),
            NodeValue::LineBreak => self.wrap("<br>", ""),
            NodeValue::Emph => self.emphasis("<em>", "</em>"),
            NodeValue::Strong => self.emphasis("<strong>", "</strong>"),
            NodeValue::Strikethrough => self.emphasis("<del>", "</del>"),
            NodeValue::Link(link) => self.link(node, link),
            NodeValue::Image(image) => {
                let mut end = String::from(" ");
                self.address(&mut end, &image.url);
                end.push_str("</span>");
                self.html.push_str("<span class=\"image\">");
                Cow::Owned(end)
            }
            // The document itself, and nodes of extensions that are off.
            _ => Cow::Borrowed(""),
        }
    }

    /// Raw HTML between blocks: `details` are drawn, everything else is shown as text.
    fn details(&mut self, html: &str) -> Cow<'static, str> {
        let Some(tags) = details::tags(html, self.details) else {
            self.html.push_str("<pre class=\"raw\">");
            self.words(html.trim_end());
            return self.wrap("</pre>\n", "");
        };
        for tag in tags {
            match tag {
                DetailsTag::Begin { summary } => {
                    self.details += 1;
                    self.html.push_str("<details><summary>");
                    self.words(if summary.is_empty() { "…" } else { summary });
                    self.html.push_str("</summary>\n");
                }
                DetailsTag::Text(text) => {
                    self.html.push_str("<p>");
                    self.words(text);
                    self.html.push_str("</p>\n");
                }
                DetailsTag::End => {
                    self.details -= 1;
                    self.html.push_str("</details>\n");
                }
            }
        }
        Cow::Borrowed("")
    }

    /// Ends the list of footnotes, which stands at the end of the text.
    fn end_notes(&mut self) {
        if self.notes > 0 {
            self.html.push_str("</ol>\n");
        }
    }

    /// The marks for which this is so.
    fn marked(&self, is_here: &dyn Fn(&TextMark) -> bool) -> String {
        let here = self.marks.iter().enumerate().filter(|(_, mark)| is_here(mark));
        here.map(|(number, _)| format!("{}{number}{}", MARK.0, MARK.1)).collect()
    }

    fn wrap(&mut self, begin: &str, end: &'static str) -> Cow<'static, str> {
        self.html.push_str(begin);
        Cow::Borrowed(end)
    }

    fn wrap_if(&mut self, is_drawn: bool, begin: &str, end: &'static str) -> Cow<'static, str> {
        if is_drawn { self.wrap(begin, end) } else { Cow::Borrowed("") }
    }

    fn emphasis(&mut self, begin: &str, end: &'static str) -> Cow<'static, str> {
        self.nesting.emphasis += 1;
        self.wrap_if(self.nesting.emphasis <= NESTED, begin, end)
    }

    fn paragraph<'a>(&mut self, node: Node<'a>) -> Cow<'static, str> {
        let parent = node.parent().filter(|_| node.previous_sibling().is_none());
        let task = parent.and_then(|parent| match parent.data().value {
            NodeValue::TaskItem(ref task) => Some(task.symbol.is_some()),
            _ => None,
        });
        let is_tight = self.nesting.is_tight;
        self.wrap_if(!is_tight, "<p>", "");
        if let Some(is_done) = task {
            let is_named = has_text(node);
            self.wrap_if(is_named, "<label>", "");
            self.checkbox(is_done, !is_named);
            return Cow::Borrowed(match (is_named, is_tight) {
                (true, true) => "</label>\n",
                (true, false) => "</label></p>\n",
                (false, true) => "\n",
                (false, false) => "</p>\n",
            });
        }
        Cow::Borrowed(if is_tight { "\n" } else { "</p>\n" })
    }

    /// A disabled checkbox. If it stands alone, its label is what the agent wrote.
    fn checkbox(&mut self, is_done: bool, is_alone: bool) {
        self.html.push_str("<input type=\"checkbox\" disabled");
        self.html.push_str(if is_done { " checked" } else { "" });
        self.html.push_str(match (is_alone, is_done) {
            (true, true) => " aria-label=\"[x]\"> ",
            (true, false) => " aria-label=\"[ ]\"> ",
            (false, _) => "> ",
        });
    }

    /// A link to another site. Any other link is shown as its text and its address.
    fn link<'a>(&mut self, node: Node<'a>, link: &NodeLink) -> Cow<'static, str> {
        let words = words_of(node);
        let is_shown = words == link.url || link.url.strip_prefix("mailto:") == Some(&words);
        let url = if self.nesting.is_link { None } else { external(&link.url) };
        match url {
            Some(url) => {
                self.nesting.is_link = true;
                self.html.push_str("<a href=\"");
                invisible_chars::push(&mut self.html, url.as_str(), self.named);
                self.html.push_str("\">");
                let mut end = String::new();
                if words.trim().is_empty() {
                    invisible_chars::push(&mut end, &shortened(&link.url), self.named);
                }
                end.push_str("</a>");
                // Text that looks like an address must not hide another address.
                if !is_shown && looks_like_address(&words) {
                    end.push(' ');
                    self.address(&mut end, url.as_str());
                }
                Cow::Owned(end)
            }
            None if is_shown => Cow::Borrowed(""),
            None => {
                let mut end = String::from(" ");
                self.address(&mut end, &link.url);
                Cow::Owned(end)
            }
        }
    }

    /// An address as text; also a link if it leads to another site and is not inside a link.
    fn address(&mut self, html: &mut String, address: &str) {
        html.push_str("<span class=\"address\">");
        let url = if self.nesting.is_link { None } else { external(address) };
        if let Some(url) = &url {
            html.push_str("<a href=\"");
            invisible_chars::push(html, url.as_str(), self.named);
            html.push_str("\">");
        }
        invisible_chars::push(html, &shortened(address), self.named);
        html.push_str(if url.is_some() { "</a></span>" } else { "</span>" });
    }

    /// Text, with links to the documents that it mentions.
    fn words(&mut self, text: &str) {
        let mut written = 0;
        if !self.nesting.is_link {
            for (at, id) in ids(text) {
                let Some(DocumentLink { version, name }) = (self.links)(id) else { continue };
                // The form in which an argument cites it is for programs.
                let before = &text[written..at];
                let before = before.strip_suffix("doc_id=").unwrap_or(before);
                invisible_chars::push(&mut self.html, before, self.named);
                written = at + UUID_LEN;
                let _ = write!(
                    self.html,
                    "<a class=\"doc\" href=\"/doc/{id}?version={version}\"><bdi>"
                );
                let shown = if name.trim().is_empty() { &text[at..written] } else { name.trim() };
                let cut = shown.char_indices().nth(LINK_NAME).map(|(end, _)| end);
                let shown = cut.map_or(Cow::Borrowed(shown), |end| {
                    Cow::Owned(format!("{}…", shown[..end].trim_end()))
                });
                invisible_chars::push(&mut self.html, &shown, self.named);
                self.html.push_str("</bdi></a>");
            }
        }
        invisible_chars::push(&mut self.html, &text[written..], self.named);
    }
}

/// The names of the columns of a table.
fn names_of_columns<'a>(table: Node<'a>) -> String {
    let Some(header) = table.first_child() else { return String::new() };
    let names = header.children().take(20).map(words_of);
    names.filter(|name| !name.trim().is_empty()).collect::<Vec<_>>().join(", ")
}

fn is_document<'a>(node: Node<'a>) -> bool {
    matches!(node.data().value, NodeValue::Document)
}

/// The letters and digits of a heading, for its anchor.
fn slug(words: &str) -> String {
    let mut slug = String::new();
    for c in words.chars().flat_map(char::to_lowercase) {
        if slug.len() >= 48 {
            break;
        }
        match c {
            c if c.is_alphanumeric() => slug.push(c),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
    }
    slug.trim_end_matches('-').to_owned()
}

fn is_header_row<'a>(row: Node<'a>) -> bool {
    matches!(row.data().value, NodeValue::TableRow(true))
}

/// Whether a node has text.
fn has_text<'a>(node: Node<'a>) -> bool {
    node.descendants().any(|part| match &part.data().value {
        NodeValue::Text(text) => !text.trim().is_empty(),
        NodeValue::Code(code) => !code.literal.trim().is_empty(),
        NodeValue::HtmlInline(html) => !html.starts_with("<br"),
        NodeValue::Image(_) => true,
        _ => false,
    })
}

/// The plain text of a node, cut after about [`NAME`] bytes.
fn words_of<'a>(node: Node<'a>) -> String {
    let mut words = String::new();
    for part in node.descendants() {
        match &part.data().value {
            NodeValue::Text(text) => words.push_str(text),
            NodeValue::Code(code) => words.push_str(&code.literal),
            NodeValue::Image(image) => words.push_str(&image.url),
            NodeValue::HtmlInline(html) => words.push_str(html),
            NodeValue::SoftBreak | NodeValue::LineBreak => words.push(' '),
            _ => {}
        }
        if words.len() > NAME {
            break;
        }
    }
    words
}

#[cfg(test)]
mod tests;
