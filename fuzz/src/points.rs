//! Texts with statements about points, and quotes.

use aw_core::{
    DocumentId, Evidence, Library, Normal, Quote, QuoteBlock, QuotePlace, Role, Source, Subject,
};

/// The most points that these debates have.
const POINTS: u32 = 3;

/// Separates a source from the lines that are quoted from it.
const QUOTED: &str = "\n%%\n";

/// Any text as a CLAIM or a RULING in a debate with points.
///
/// - A statement has a heading in its line, is about a point that the debate has, and its title is a
///   part of that line.
/// - A quote is a run of lines with `>` between its statement and the next.
/// - Statements stand in the order of the text; each flaw has a line of the text, and words.
/// - A text has the same statements with any line ends, and none if all its lines are quoted.
pub fn statements(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let lines: Vec<&str> = text.split('\n').collect();
    let at = |line: u32| lines[line as usize - 1];
    for role in Role::ALL {
        for points in [0, POINTS] {
            let read = aw_core::statements(text, *role, points);
            let mut last = 0;
            for statement in &read.statements {
                assert!(statement.line > last, "{statement:?} in {text:?}");
                last = statement.line;
                let heading = at(statement.line).trim_start_matches(' ');
                assert!(heading.starts_with('#'), "{statement:?} in {text:?}");
                assert!(heading.contains(&statement.title), "{statement:?} in {text:?}");
                if let Subject::Point(id) = statement.subject {
                    assert!((1..=points).contains(&id.0), "{statement:?} in {text:?}");
                }
                for block in &statement.blocks {
                    assert!(block.line > last && !block.lines.is_empty(), "{block:?} in {text:?}");
                    for (line, number) in block.lines.iter().zip(block.line..) {
                        last = number;
                        let quoted = at(number).trim_end_matches('\r').trim_start();
                        let quoted = quoted.strip_prefix('>');
                        assert_eq!(quoted, Some(line.as_str()), "{block:?} in {text:?}");
                    }
                }
            }
            for flaw in &read.flaws {
                assert!((1..=lines.len()).contains(&(flaw.line as usize)), "{flaw:?} in {text:?}");
                assert!(!flaw.message.is_empty(), "{flaw:?}");
            }
            if !text.contains('\r') {
                let with_returns = text.replace('\n', "\r\n");
                assert_eq!(aw_core::statements(&with_returns, *role, points), read, "{text:?}");
            }
            let quoted: Vec<String> = lines.iter().map(|line| format!("> {line}")).collect();
            let quoted = aw_core::statements(&quoted.join("\n"), *role, points);
            assert_eq!(quoted, aw_core::Statements::default(), "{text:?}");
        }
    }
}

/// Any text in normal form.
///
/// - Each line alone has the normal form that it has in the text, which contains it.
/// - White space is collapsed.
/// - Its length is proportional to the input's.
pub fn normal(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let whole = Normal::of(text);
    let mut with_form = 0;
    for line in text.split('\n') {
        let alone = Normal::of(line);
        with_form += alone.line_count();
        let form = Quote::normal(line);
        assert!(whole.contains(&form), "{line:?} in {text:?}");
        assert!(!form.contains("  ") && form.trim() == form, "{form:?}");
        assert!(!form.contains(['\n', '\r', '\t', '*', '`', '\u{a0}', '\u{200b}']), "{form:?}");
    }
    assert_eq!(whole.line_count(), with_form, "{text:?}");
    assert!(Normal::without_quotes(text).line_count() <= with_form, "{text:?}");
    // A composed character can become three, and each line has its place.
    let most = text.len() * 4 + (with_form as usize + 1) * 24;
    assert!(whole.size() <= most, "{} of {}", whole.size(), text.len());
}

/// Any text as a source, and lines that are quoted from it.
///
/// - Every line of the source that has a normal form is found in it.
/// - The lines in which a quote was found contain it; a missing one is not in the source, and is never
///   missing where its author names a source outside the debate.
/// - Only a quote of fewer than 12 or more than 1,000 characters has the wrong length.
/// - A quote among invented characters is not found.
pub fn quotes(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let (text, quoted) = text.split_once(QUOTED).unwrap_or((text, text));
    let source = Normal::of(text);
    for line in text.split('\n') {
        let chars = Quote::normal(line).chars().count();
        for quote in look_up(&source, &[line], None) {
            let is_found = matches!(quote.evidence, Evidence::Found { .. });
            assert!(is_found || chars > 1_000, "{quote:?} in {text:?}");
        }
    }
    let lines: Vec<&str> = quoted.split('\n').collect();
    let results = look_up(&source, &lines, None);
    assert!(results.len() <= lines.len());
    for quote in &results {
        let form = Quote::normal(&quote.text);
        let chars = form.chars().count();
        match &quote.evidence {
            Evidence::Found { lines, .. } => {
                let count = (lines.last - lines.first) as usize + 1;
                let held = text.split('\n').skip(lines.first as usize - 1).take(count);
                let held: Vec<&str> = held.collect();
                assert!(Normal::of(&held.join("\n")).contains(&form), "{quote:?} in {text:?}");
                assert!(chars <= 1_000);
                if !text.contains('\u{e000}') {
                    let invented = "\u{e000}".repeat(45);
                    let wrapped = format!("{invented}{}{invented}", quote.text.replace('\n', " "));
                    for quote in look_up(&source, &[&wrapped], None) {
                        assert!(!matches!(quote.evidence, Evidence::Found { .. }), "{quote:?}");
                    }
                }
            }
            Evidence::Missing { nearest } => {
                assert!(!source.contains(&form), "{quote:?} in {text:?}");
                if let Some(nearest) = nearest {
                    assert!(source.contains(&nearest.text), "{nearest:?} in {text:?}");
                    assert!((nearest.line as usize) <= text.split('\n').count());
                }
            }
            Evidence::TooShort => assert!(chars < 12, "{quote:?} in {text:?}"),
            Evidence::TooLong => assert!(chars > 1_000, "{quote:?} in {text:?}"),
            Evidence::Outdated { .. } | Evidence::Unchecked => panic!("{quote:?} in {text:?}"),
        }
    }
    for quote in look_up(&source, &lines, Some("src/a.rs")) {
        assert!(!matches!(quote.evidence, Evidence::Missing { .. }), "{quote:?} in {text:?}");
    }
}

/// Looks lines up in a document that is the only source.
fn look_up(text: &Normal, lines: &[&str], outside: Option<&str>) -> Vec<Quote> {
    let document: DocumentId = "0c5a44a3-42f6-4787-aa53-c5963099fa65".parse().expect("it is an id");
    let current = [Source { place: QuotePlace::Document { document, version: 1 }, text }];
    let library = Library { current: &current, earlier: Some(&[]), examined: &[] };
    let block = QuoteBlock {
        line: 1,
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        source: outside.map(str::to_owned),
    };
    library.check(&block).expect("there are no earlier versions")
}
