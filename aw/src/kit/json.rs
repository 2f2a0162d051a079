//! Reads JSON as people write it in settings: with comments, trailing commas and a byte order mark.
//!
//! `jsonc-parser` finds the tokens and where each object stands; `serde_json` reads the values, so
//! that a file is valid here exactly if it is valid JSON without its comments and trailing commas.

use std::ops::Range;

use jsonc_parser::ast::Value as Node;
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, ParseOptions, Scanner, ScannerOptions, parse_to_ast};
use serde_json::Value;

/// An object or a list of a file.
#[derive(Debug)]
pub struct Object {
    /// Its bytes, braces included.
    pub span: Range<usize>,
    /// Its members in their order.
    pub members: Vec<Member>,
}

/// A member of an object, or an element of a list.
#[derive(Debug)]
pub struct Member {
    /// Its name; empty for an element.
    pub name: String,
    /// Its bytes, from the name to the end of the value.
    pub span: Range<usize>,
    /// The place of the comma before it.
    pub comma_before: Option<usize>,
    /// The place of the comma after it.
    pub comma_after: Option<usize>,
}

/// Parses a file. A file of white space and comments alone has no value.
///
/// The error names the line.
pub fn parse(file: &str) -> Result<Option<Value>, String> {
    let file = without_mark(file);
    let mut plain = file.as_bytes().to_vec();
    // Line breaks stay, so that errors name the right line.
    let mut blank = |range: Range<usize>| {
        for byte in plain[range].iter_mut().filter(|byte| **byte != b'\n') {
            *byte = b' ';
        }
    };
    let options =
        ScannerOptions { allow_single_quoted_strings: false, ..ScannerOptions::default() };
    let mut scanner = Scanner::new(&file, &options);
    let mut follows_value = false;
    let mut last_comma = None;
    while let Some(token) = scanner.scan().map_err(|error| error.to_string())? {
        let range = scanner.token_start()..scanner.token_end();
        match token {
            Token::CommentLine(_) | Token::CommentBlock(_) => {
                blank(range);
                continue;
            }
            Token::Comma if follows_value => last_comma = Some(range),
            Token::CloseBrace | Token::CloseBracket => {
                last_comma.take().map(&mut blank);
            }
            _ => last_comma = None,
        }
        follows_value =
            !matches!(token, Token::Comma | Token::Colon | Token::OpenBrace | Token::OpenBracket);
    }
    if plain.iter().all(|byte| b" \t\r\n".contains(byte)) {
        return Ok(None);
    }
    serde_json::from_slice(&plain).map(Some).map_err(|error| error.to_string())
}

/// The value of a file; null when it has none or is not valid.
pub fn value(file: &str) -> Value {
    parse(file).ok().flatten().unwrap_or_default()
}

/// Finds the object under these names in a valid file. Of members with one name the last counts.
pub fn object(file: &str, path: &[&str]) -> Option<Object> {
    found(file, path, false)
}

/// Finds the list under these names in a valid file.
pub fn array(file: &str, path: &[&str]) -> Option<Object> {
    found(file, path, true)
}

fn found(file: &str, path: &[&str], is_list: bool) -> Option<Object> {
    let file = without_mark(file);
    let collect = CollectOptions { tokens: true, ..CollectOptions::default() };
    let parsed = parse_to_ast(&file, &collect, &ParseOptions::default()).ok()?;
    let tokens = parsed.tokens?;
    let mut root = parsed.value?;
    for name in path {
        let Node::Object(object) = root else { return None };
        let mut named = object.properties.into_iter().rev();
        root = named.find(|member| member.name.as_str() == *name)?.value;
    }
    let comma = |token: usize| {
        tokens.get(token).filter(|token| token.token == Token::Comma).map(Ranged::start)
    };
    let member = |name: &str, span: Range<usize>| {
        let first = tokens.partition_point(|token| token.start() < span.start);
        Member {
            name: name.to_owned(),
            comma_before: first.checked_sub(1).and_then(comma),
            comma_after: comma(tokens.partition_point(|token| token.start() < span.end)),
            span,
        }
    };
    match root {
        Node::Object(object) if !is_list => {
            let all = object.properties.iter();
            let members = all.map(|one| member(one.name.as_str(), one.start()..one.end()));
            Some(Object { span: object.start()..object.end(), members: members.collect() })
        }
        Node::Array(list) if is_list => {
            let members = list.elements.iter().map(|one| member("", one.start()..one.end()));
            Some(Object { span: list.start()..list.end(), members: members.collect() })
        }
        _ => None,
    }
}

/// The same file, with spaces in the place of a byte order mark.
fn without_mark(file: &str) -> String {
    file.replacen('\u{feff}', "   ", usize::from(file.starts_with('\u{feff}')))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_skipped() {
        let text = "\u{feff}// \"a\"\r\n{ /* { */ \"a\" /**/ : [1, 2.5e3, /* ] */ null,],\n\
                    \"b//\": \"/*\\\"\\u00e9\", // last\n \"c\": {},}\n/* end */";
        assert_eq!(value(text), json!({"a": [1, 2500.0, null], "b//": "/*\"é", "c": {}}));
        for nothing in ["", " \n", "// only this", "/* and */ // that\n", "\u{feff}"] {
            assert_eq!(parse(nothing), Ok(None), "{nothing:?}");
        }
    }

    #[test]
    fn an_object_is_found_with_the_places_of_its_members_and_commas() {
        let text = "\u{feff}{ \"é\": 1 , \"b\" : 0, \"b\": {\"c\":\"}\"} // ,\n}";
        let root = object(text, &[]).unwrap();
        assert_eq!(text[root.span.clone()], text[3..]);
        let [first, _, last] = root.members.as_slice() else { panic!("{root:?}") };
        assert_eq!((first.name.as_str(), &text[first.span.clone()]), ("é", "\"é\": 1"));
        assert_eq!((first.comma_before, first.comma_after), (None, text.find(',')));
        assert_eq!(&text[last.span.clone()], "\"b\": {\"c\":\"}\"}");
        assert_eq!(last.comma_before.map(|at| &text[at..last.span.start]), Some(", "));
        assert_eq!(last.comma_after, None);
        assert_eq!(&text[object(text, &["b"]).unwrap().span], "{\"c\":\"}\"}");
        assert!(object(text, &["é"]).is_none() && object(text, &["x"]).is_none());
    }

    #[test]
    fn a_file_that_is_not_json_is_refused_with_its_line() {
        for text in [
            "{",
            "{\"a\"}",
            "{\"a\": }",
            "{\"a\":",
            "{\"a\": 1 \"b\": 2}",
            "{,}",
            "[1 2]",
            "[,]",
            "[1,,]",
            "{\"a\",}",
            "{a: 1}",
            "{'a': 1}",
            "{\"a\": 1} x",
            "{} {}",
            "{\"a\": \"b}",
            "{\"a\": \"\\x41\"}",
            "{\"a\": \"\u{1}\"}",
            "{\u{a0}}",
            "\u{c}",
            "/* {}",
            "nul",
            "{\"a\": 01}",
            "{\"a\": +1}",
            "{\"a\": 0x1}",
        ] {
            let refused = parse(&format!("\n{text}")).unwrap_err();
            assert!(refused.contains("line 2"), "{text}: {refused}");
        }
        assert!(parse(&"[".repeat(100_000)).unwrap_err().contains("recursion limit"));
    }
}
