//! Escapes text for HTML and makes invisible characters visible.
//!
//! Some characters change what people read without being seen: they turn the direction of writing, or
//! join or split words. They are replaced by their name in a `span.control`, such as `U+202E`.

use std::fmt::Write;

/// How many invisible characters of one text are named; the others are shown as `�`. Naming all could
/// make a page ten times as long as its text.
pub(super) const NAMED: u32 = 500;

/// Plain text, such as a title, as HTML.
pub(crate) fn plain(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + text.len() / 8);
    push(&mut html, text, &mut NAMED.clone());
    html
}

/// Adds the text to the HTML. The result fits the content of an element, and also a quoted attribute
/// if the text has no invisible characters. `named` counts down.
pub(super) fn push(html: &mut String, text: &str, named: &mut u32) {
    let mut written = 0;
    let mut before = None;
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let entity = match c {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '"' => "&quot;",
            _ if is_invisible(c, before, rest.peek().map(|(_, after)| *after)) => "",
            _ => {
                before = Some(c);
                continue;
            }
        };
        html.push_str(&text[written..at]);
        written = at + c.len_utf8();
        before = Some(c);
        if !entity.is_empty() {
            html.push_str(entity);
        } else if *named > 0 {
            *named -= 1;
            let _ = write!(html, "<span class=\"control\">U+{:04X}</span>", u32::from(c));
        } else {
            html.push(char::REPLACEMENT_CHARACTER);
        }
    }
    html.push_str(&text[written..]);
}

/// The text for a quoted attribute, in one line of at most `most` characters, without invisible ones.
pub(super) fn attribute(text: &str, most: usize) -> String {
    let mut kept = String::new();
    let shown = text.chars().filter(|c| !is_invisible(*c, None, None));
    for (count, c) in shown.enumerate() {
        if count == most {
            kept.push('…');
            break;
        }
        kept.push(if c.is_whitespace() { ' ' } else { c });
    }
    plain(&kept)
}

/// Whether a character between these neighbours is invisible.
fn is_invisible(c: char, before: Option<char>, after: Option<char>) -> bool {
    match c {
        '\t' | '\n' | '\r' | ' '..='~' => false,
        // Joiners belong to some scripts and many emoji, never to ASCII words.
        '\u{200C}' | '\u{200D}' => {
            let joins = |c: char| {
                !c.is_ascii() && !c.is_whitespace() && !('\u{200B}'..='\u{200D}').contains(&c)
            };
            !(before.is_some_and(joins) && after.is_some_and(joins))
        }
        // One variation selector changes how a character looks (⚠️); several can only hide data.
        '\u{FE00}'..='\u{FE0F}' => before.is_none_or(|before| {
            before.is_whitespace() || ('\u{FE00}'..='\u{FE0F}').contains(&before)
        }),
        _ => {
            c.is_control()
                || matches!(c,
                    // Soft hyphen, grapheme joiner, Arabic letter mark, fillers of Hangul and Khmer.
                    '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
                    | '\u{3164}' | '\u{FFA0}'
                    // Marks and embeddings of direction, invisible operators, line separators.
                    | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
                    | '\u{2060}'..='\u{206F}'
                    // Byte order mark, interlinear notes, musical controls, tags, more selectors.
                    | '\u{FEFF}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1D173}'..='\u{1D17A}'
                    | '\u{E0000}'..='\u{E0FFF}')
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_named() {
        assert_eq!(plain("a\u{202E}b"), "a<span class=\"control\">U+202E</span>b");
        for hidden in
            ['\u{200B}', '\u{2066}', '\u{AD}', '\u{FEFF}', '\u{1B}', '\u{E0041}', '\u{85}']
        {
            assert!(!plain(&format!("a{hidden}b")).contains(hidden), "{hidden:?}");
            assert!(!attribute(&format!("a{hidden}b"), 9).contains("span"), "{hidden:?}");
        }
        // A joiner between ASCII letters and a second selector are invisible.
        assert!(plain("pass\u{200D}word").contains("U+200D"));
        assert!(plain("⚠\u{FE0F}\u{FE01}").contains("U+FE01"));
    }

    #[test]
    fn scripts_and_emoji_are_not_changed() {
        for text in
            ["Tiếng Việt, phương án", "⚠️ 1️⃣ 👩‍💻 ❤️‍🔥", "می‌خواهم", "שלום", "日本語", "tab\tand\nline"]
        {
            assert_eq!(plain(text), text);
        }
    }

    #[test]
    fn many_invisible_characters_do_not_make_a_long_page() {
        let flood = "\u{202E}a".repeat(100_000);
        let html = plain(&flood);
        assert!(html.len() < flood.len() * 2, "{}", html.len());
        assert_eq!(html.matches("U+202E").count(), NAMED as usize);
    }
}
