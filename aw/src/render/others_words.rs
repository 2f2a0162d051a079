//! The words of others in a Markdown document: escaped in a line, as inline code, or quoted.
//!
//! No text can imitate the document around it.

use std::fmt::Write;

pub(crate) use crate::kit::quoting::quoted;

/// A name as inline code, so that it cannot imitate the document's own words.
pub(crate) fn name(text: &str) -> String {
    let text = visible(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // A backtick at an end would join the fence.
    let room = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{room}{text}{room}{fence}")
}

/// Escapes all Markdown in a line.
pub(crate) fn literal(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in visible(text).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '~' | '|' | '#') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Replaces the characters that end a line or change the direction of a text by their names.
fn visible(line: &str) -> String {
    let harms = |c: char| {
        c.is_control()
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}')
    };
    let mut named = String::with_capacity(line.len());
    for c in line.chars() {
        if harms(c) {
            // Writing to a String cannot fail.
            let _ = write!(named, "U+{:04X}", u32::from(c));
        } else {
            named.push(c);
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_end_its_code_fence() {
        assert_eq!(name("An's laptop"), "`An's laptop`");
        assert_eq!(name("a `b` c"), "``a `b` c``");
        assert_eq!(name("`"), "`` ` ``");
        assert_eq!(name("``x"), "``` ``x ```");
        assert_eq!(name("a\u{202e}b\nc"), "`aU+202EbU+000Ac`");
    }

    #[test]
    fn an_escaped_line_renders_as_it_was_written() {
        for line in ["# <img src=x> ![a](b) `c` *d* _e_ ~f~ | &lt; \\", "Keep one SQLite file?"] {
            let drawn = comrak::markdown_to_html(
                &format!("# {}", literal(line)),
                &comrak::Options::default(),
            );
            let text = drawn.trim().trim_start_matches("<h1>").trim_end_matches("</h1>");
            let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
            assert_eq!(text, line);
        }
    }
}
