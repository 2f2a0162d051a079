//! Quotes: the normal form of texts, and the search for a quote.

use aw_core::{
    Evidence, Library, Normal, Quote, QuoteBlock, QuotePlace, Role, Seq, Source, lines_found,
};
use proptest::prelude::*;

use super::{PLAN, Story, cite, document};

/// A source by its text.
#[derive(Clone)]
struct Text(QuotePlace, Normal);

/// A version of the first document.
fn version(number: u64, text: &str) -> Text {
    Text(QuotePlace::Document { document: document(1), version: number }, Normal::of(text))
}

fn argument(seq: u64, text: &str) -> Text {
    Text(QuotePlace::Argument { seq: Seq(seq) }, Normal::without_quotes(text))
}

fn sources(texts: &[Text]) -> Vec<Source<'_>> {
    texts.iter().map(|Text(place, text)| Source { place: *place, text }).collect()
}

/// The quotes of a block: the lines as they stand behind the `>`.
fn look_up(current: &[Text], earlier: &[Text], block: &str, source: Option<&str>) -> Vec<Quote> {
    let (current, earlier) = (sources(current), sources(earlier));
    let library = Library { current: &current, earlier: Some(&earlier), examined: &[] };
    library.check(&quoted(block, source)).unwrap()
}

fn quoted(block: &str, source: Option<&str>) -> QuoteBlock {
    QuoteBlock {
        line: 10,
        lines: block.split('\n').map(ToOwned::to_owned).collect(),
        source: source.map(ToOwned::to_owned),
    }
}

/// A result in a few words.
fn short(quote: &Quote) -> String {
    let at = |place: &QuotePlace| match place {
        QuotePlace::Document { version, .. } => format!("v{version}"),
        QuotePlace::Argument { seq } => format!("argument {seq}"),
    };
    match &quote.evidence {
        Evidence::Found { place, lines, .. } => {
            format!("found {} {}-{}", at(place), lines.first, lines.last)
        }
        Evidence::Outdated { place, lines } => {
            format!("outdated {} {}-{}", at(place), lines.first, lines.last)
        }
        Evidence::Unchecked => "unchecked".to_owned(),
        Evidence::Missing { .. } => "missing".to_owned(),
        Evidence::TooShort => "too short".to_owned(),
        Evidence::TooLong => "too long".to_owned(),
    }
}

/// The results for a block in one document.
fn results(text: &str, block: &str) -> Vec<String> {
    look_up(&[version(1, text)], &[], block, None).iter().map(short).collect()
}

/// The only result for a block in one document.
fn result(text: &str, block: &str) -> String {
    let results = results(text, block);
    assert_eq!(results.len(), 1, "{block:?} in {text:?}: {results:?}");
    results[0].clone()
}

fn is_found(text: &str, block: &str) -> bool {
    result(text, block).starts_with("found")
}

#[test]
fn the_normal_form_forgives_what_agents_change_when_they_copy() {
    for (what, source, quote) in [
        ("NFC", "Gửi một khoá cho mỗi khoản", "Gu\u{31b}\u{309}i một khoá cho mỗi khoản"),
        ("NFC in the source", "cafe\u{301} is where we met", "café is where we met"),
        (
            "double quotation marks",
            "the so-called “worker” retries",
            "the so-called \"worker\" retries",
        ),
        ("low and angular ones", "the „worker‟ and the «row»", "the \"worker\" and the \"row\""),
        ("single ones", "the worker’s ‘retry’ loop", "the worker's 'retry' loop"),
        ("dashes", "one – two — three ‑ four − five", "one - two - three - four - five"),
        ("spaces", "up\u{a0}to\u{202f}3\u{2009}times a day", "up to 3 times a day"),
        ("zero-width", "the wo\u{200b}rk\u{ad}er re\u{feff}tries it", "the worker retries it"),
        ("direction", "the \u{202e}worker\u{202c} retries\u{200f} it", "the worker retries it"),
        ("joiner before an accent", "cafe\u{200d}\u{301} is where we met", "café is where we met"),
        ("quotation mark", "> the worker retries it", "the worker retries it"),
        ("heading mark", "### The worker retries it", "The worker retries it"),
        ("bullet", "- the worker retries it", "the worker retries it"),
        ("another bullet", "  * the worker retries it", "• the worker retries it"),
        ("number", "12. the worker retries it", "the worker retries it"),
        ("number with a bracket", "the worker retries it", "3) the worker retries it"),
        ("several marks", "> - 1. ## the worker retries it", "the worker retries it"),
        ("indentation", "\t    the worker retries it", "the worker retries it"),
        ("emphasis", "the **worker** _retries_ `it`", "the worker retries it"),
        ("emphasis in the quote", "the worker retries it", "the *worker* __retries__ `it`"),
        ("table cells", "| the worker | retries it |", "the worker retries it"),
        ("names", "the client_request_id is unique", "the clientrequestid is unique"),
        ("white space", "the   worker \t retries  it", "the worker retries it"),
        ("carriage return", "the worker\r\nretries it\r\n", "the worker retries it"),
        ("line ends", "the worker\nretries\nit twice", "the worker retries it twice"),
        ("empty lines", "the worker\n\n---\n\nretries it", "the worker retries it"),
        ("empty list items", "the worker\n1.\n-\nretries it", "the worker retries it"),
        ("fence lines", "the worker\n```rust\nretries it\n```", "the worker retries it"),
        ("outer quotation marks", "The worker retries it.", "\"The worker retries it.\""),
        ("typographic ones", "The worker retries it.", "“The worker retries it.”"),
        ("ellipsis", "The worker retries it twice.", "... worker retries it ..."),
        ("typographic ellipsis", "The worker retries it twice.", "…worker retries it…"),
        ("both", "The worker retries it twice.", "“… worker retries it …”"),
    ] {
        assert!(is_found(source, quote), "{what}: {quote:?} in {source:?}");
    }
}

#[test]
fn the_normal_form_keeps_everything_else() {
    for (what, source, quote) in [
        ("case", "The worker retries it", "the worker retries it"),
        ("punctuation", "The worker retries it, twice", "The worker retries it twice"),
        ("words", "The worker retries it up to 3 times", "The worker retries it 3 times"),
        ("order", "The worker retries the charge", "The charge retries the worker"),
        ("numbers within", "waits for 1.5 seconds now", "waits for 15 seconds now"),
        ("marks within", "a > b and c # d and e", "a b and c d and e"),
        ("an ellipsis within", "The worker retries the charge", "The worker ... the charge"),
        ("accents", "Gửi một khoá cho mỗi khoản", "Gui mot khoa cho moi khoan"),
    ] {
        assert_eq!(result(source, quote), "missing", "{what}: {quote:?} in {source:?}");
    }
}

#[test]
fn the_source_contains_the_quote_and_never_the_other_way() {
    assert!(is_found("Before. The worker retries it. After.", "The worker retries it."));
    assert_eq!(result("The worker retries it.", "We say that The worker retries it."), "missing");
}

#[test]
fn lines_are_those_of_the_source() {
    let at = |quote: &str| result(PLAN, quote);
    assert_eq!(at("Charge retries"), "found v1 1-1");
    assert_eq!(at("The worker retries the POST up to 3 times."), "found v1 3-3");
    assert_eq!(at("up to 3 times. Old rows are deleted"), "found v1 3-4");
    assert_eq!(at("Charge retries\n\n1. The worker retries"), "found v1 1-3");
    let wrapped = "# Plan\n\nThe worker\nretries the POST\n\nand waits.";
    assert_eq!(result(wrapped, "retries the POST and waits."), "found v1 4-6");
    assert_eq!(result(wrapped, "worker retries"), "found v1 3-4");
}

#[test]
fn a_block_that_is_not_found_as_a_whole_is_looked_up_line_by_line() {
    let whole =
        "1. The worker retries the POST up to 3 times.\n2. Old rows are deleted after 30 days.";
    assert_eq!(
        result(
            "The worker retries the POST\nup to 3 times.",
            "The worker retries\nthe POST up to 3 times."
        ),
        "found v1 1-2"
    );
    assert_eq!(results(PLAN, whole), ["found v1 3-4"]);
    let apart = "The worker retries the POST up to 3 times.\n\nA person looks at the alarm";
    let quotes = look_up(&[version(1, PLAN)], &[], apart, None);
    let seen: Vec<_> = quotes.iter().map(|q| (q.line, q.text.as_str(), short(q))).collect();
    assert_eq!(
        seen,
        [
            (10, "The worker retries the POST up to 3 times.", "found v1 3-3".to_owned()),
            (12, "A person looks at the alarm", "found v1 6-6".to_owned()),
        ]
    );
    let mixed = "The worker retries the POST up to 3 times.\nThe worker never retries the POST.";
    assert_eq!(results(PLAN, mixed), ["found v1 3-3", "missing"]);
}

#[test]
fn a_block_without_a_letter_or_digit_is_no_quote() {
    for block in ["", "   ", "---", "***\n```", "\u{200b}", "```rust"] {
        assert_eq!(results(PLAN, block), Vec::<String>::new(), "{block:?}");
    }
}

#[test]
fn a_quote_has_12_to_1000_characters_in_normal_form() {
    let line = "đ".repeat(3_000);
    assert_eq!(result(&line, &"đ".repeat(11)), "too short");
    assert_eq!(result(&line, &"đ".repeat(12)), "found v1 1-1");
    assert_eq!(result(&line, &"đ".repeat(1_000)), "found v1 1-1");
    assert_eq!(result(&line, &"đ".repeat(1_001)), "too long");
    // Marks are no characters of the normal form.
    assert_eq!(result(&line, &format!("- **{}**", "đ".repeat(11))), "too short");
    assert_eq!(result(&line, &format!("- **{}**", "đ".repeat(1_000))), "found v1 1-1");
    // A long block is looked up line by line.
    let long = [line[..1_200].to_owned(), line[..1_200].to_owned()].join("\n");
    assert_eq!(results(&line, &long), ["found v1 1-1", "found v1 1-1"]);
}

#[test]
fn a_shorter_quote_must_be_a_whole_line_of_the_source() {
    let text = "# Rollback\n\nNo rollback.\n- \"Later\"";
    assert_eq!(result(text, "Rollback"), "found v1 1-1");
    assert_eq!(result(text, "## Rollback"), "found v1 1-1");
    assert_eq!(result(text, "Later"), "found v1 4-4");
    assert_eq!(result(text, "rollback"), "too short");
    assert_eq!(result(text, "No"), "too short");
    assert_eq!(result(text, "backNo"), "too short");
}

#[test]
fn a_short_quote_with_a_source_line_is_unchecked_and_a_long_one_is_not() {
    let at = |block: &str| {
        let quotes = look_up(&[version(1, PLAN)], &[], block, Some("src/a.rs"));
        quotes.iter().map(short).collect::<Vec<_>>()
    };
    assert_eq!(at("fn x()"), ["unchecked"]);
    assert_eq!(at("pub fn refund(entry: Entry)"), ["unchecked"]);
    assert_eq!(at("The worker retries the POST"), ["found v1 3-3"]);
    assert_eq!(at(&"x".repeat(1_001)), ["too long"]);
}

#[test]
fn a_quote_of_an_earlier_version_is_outdated() {
    let current = [version(3, "The worker retries once.")];
    let earlier = [
        version(2, "Nothing here.\nThe worker retries twice."),
        version(1, "The worker retries twice."),
    ];
    let at = |block: &str, source| short(&look_up(&current, &earlier, block, source)[0]);
    assert_eq!(at("The worker retries once.", None), "found v3 1-1");
    // The newest of the earlier versions.
    assert_eq!(at("The worker retries twice.", None), "outdated v2 2-2");
    assert_eq!(at("The worker retries twice.", Some("src/a.rs")), "outdated v2 2-2");
    assert_eq!(at("The worker retries thrice.", None), "missing");
    assert_eq!(at("The worker retries thrice.", Some("src/a.rs")), "unchecked");
}

#[test]
fn a_block_whose_lines_all_stand_is_not_outdated() {
    let current = [version(2, "Read the whole file.\nCheck its size.\nWrite the whole file.")];
    let earlier = [version(1, "Read the whole file.\nWrite the whole file.\nDelete the old file.")];
    let at = |block: &str| {
        look_up(&current, &earlier, block, None).iter().map(short).collect::<Vec<_>>()
    };
    let both = ["found v2 1-1", "found v2 3-3"];
    assert_eq!(at("Read the whole file.\nWrite the whole file."), both);
    assert_eq!(at("Write the whole file.\nDelete the old file."), ["outdated v1 2-3"]);
}

#[test]
fn the_earlier_versions_are_asked_for_only_when_they_matter() {
    let texts = [version(1, PLAN)];
    let current = sources(&texts);
    let library = Library { current: &current, earlier: None, examined: &[] };
    assert!(library.check(&quoted("Old rows are deleted", None)).is_some());
    assert!(library.check(&quoted("Old rows are kept here", None)).is_none());
    assert!(library.check(&quoted("---", None)).is_some());
}

#[test]
fn documents_come_before_arguments_in_their_order() {
    let other = Text(
        QuotePlace::Document { document: document(2), version: 7 },
        Normal::of("A second plan.\nBoth plans say this."),
    );
    let texts = [
        version(1, "A first plan.\nBoth plans say this."),
        other,
        argument(1, "The MOTION and\nBoth plans say this. And a motion."),
        argument(3, "The answer has the end of\nthe motion. And a motion."),
    ];
    let at = |block: &str| short(&look_up(&texts, &[], block, None)[0]);
    assert_eq!(at("Both plans say this."), "found v1 2-2");
    assert_eq!(at("A second plan."), "found v7 1-1");
    assert_eq!(at("And a motion."), "found argument 1 2-2");
    assert_eq!(at("The answer has the end"), "found argument 3 1-1");
}

#[test]
fn the_quoted_lines_of_an_argument_are_no_source() {
    let text =
        argument(2, "I answer:\n  > The opponent wrote this line.\nThe proposer wrote this line.");
    let at = |block: &str| short(&look_up(std::slice::from_ref(&text), &[], block, None)[0]);
    assert_eq!(at("The opponent wrote this line."), "missing");
    assert_eq!(at("The proposer wrote this line."), "found argument 2 3-3");
}

#[test]
fn the_opponent_cannot_quote_itself_or_its_documents() {
    let own = "### NEW [major] x\n> An own sentence of the opponent.\nA reason.";
    let mine = format!("An own sentence of the opponent. {}", cite(2, 1));
    let story = Story::opened(
        aw_core::PointRules::default(),
        aw_core::ResolutionPolicy::Auto,
        &[PLAN, "An own sentence of the opponent."],
        &cite(1, 1),
    );
    let story = story.opponent(&mine).proposer("I see.");
    let missing = [(2, aw_core::FlawCode::QuoteMissing)];
    assert_eq!(story.flaws(Role::Opponent, own), missing);
    assert_eq!(story.flaws(Role::Opponent, &format!("{own}\n{}", cite(2, 1))), missing);
    // The proposer may quote the opponent, and cites the document for both.
    let answer = "### P1 [rejected] No\n> An own sentence of the opponent.";
    assert!(
        story
            .clone()
            .ruling("### NEW [minor] y\nReason.")
            .judges(Role::Proposer, &answer.replace("P1 [rejected]", "P1 [accepted]"))
            .is_ok()
    );
    let cited = story.opponent("Hm.").proposer(&cite(2, 1));
    assert!(cited.judges(Role::Opponent, own).is_ok());
}

#[test]
fn a_missing_quote_names_the_nearest_text_and_its_place() {
    let texts = [version(1, PLAN), argument(2, "The worker retries forever.")];
    let quotes = look_up(&texts, &[], "The worker retries POST three times", None);
    let Evidence::Missing { nearest: Some(nearest) } = &quotes[0].evidence else {
        panic!("{quotes:?}")
    };
    assert_eq!(nearest.text, "The worker retries the POST up to 3 times.");
    assert_eq!((nearest.place, nearest.line), (texts[0].0, 3));
    let quotes = look_up(&texts, &[], "zzz qqq xxx vvv www", None);
    assert_eq!(quotes[0].evidence, Evidence::Missing { nearest: None });
}

#[test]
fn a_quote_is_fresh_where_the_examined_version_of_its_document_lacks_it() {
    let texts =
        [version(2, "Old rows are kept.\nNew rows are kept."), argument(1, "Only a motion.")];
    let examined = [version(1, "Old rows are kept.")];
    let fresh = |examined: &[Text], block: &str| {
        let (current, examined) = (sources(&texts), sources(examined));
        let library = Library { current: &current, earlier: Some(&[]), examined: &examined };
        match library.check(&quoted(block, None)).unwrap()[0].evidence {
            Evidence::Found { fresh, .. } => fresh,
            ref other => panic!("{other:?}"),
        }
    };
    assert!(!fresh(&examined, "Old rows are kept."));
    assert!(fresh(&examined, "New rows are kept."));
    // Nobody cited this document at the previous CLAIM.
    assert!(fresh(&[], "Old rows are kept."));
    assert!(!fresh(&examined, "Only a motion."));
    assert!(!fresh(&[], "Only a motion."));
}

#[test]
fn found_lines_are_counted_once() {
    let count = |blocks: &[&str]| {
        let quotes = blocks.iter().flat_map(|b| look_up(&[version(1, PLAN)], &[], b, None));
        lines_found(&quotes.collect::<Vec<_>>())
    };
    assert_eq!(count(&["Old rows are deleted"]), 1);
    assert_eq!(count(&["Old rows are deleted", "deleted after 30 days."]), 1);
    assert_eq!(count(&["Charge retries\nThe worker retries"]), 2);
    assert_eq!(count(&["Old rows are deleted", "The worker retries the POST"]), 2);
    assert_eq!(count(&["Old rows are not deleted at all"]), 0);
}

#[test]
fn readable_lines_are_those_of_the_documents_or_else_of_the_motion() {
    let lines = |texts: &[Text]| {
        let current = sources(texts);
        Library { current: &current, ..Library::default() }.readable_lines()
    };
    assert_eq!(lines(&[]), 0);
    assert_eq!(lines(&[version(1, PLAN), argument(1, "One\nTwo")]), 5);
    assert_eq!(lines(&[version(1, PLAN), version(1, "---\nOne\n")]), 6);
    assert_eq!(lines(&[argument(1, "One\n> Two\n\nThree"), argument(3, "Four")]), 2);
}

/// Texts with the characters that matter to the normal form.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z0-9]{1,8}",
        2 => Just(" ".to_owned()),
        2 => Just("\n".to_owned()),
        3 => proptest::sample::select(vec![
            ">", "#", "- ", "1. ", "*", "_", "|", "`", "```", "~~~", "...", "…", "\"", "'", "“", "”",
            "–", "\u{a0}", "\u{200b}", "\u{301}", "\u{202e}", "\r\n", "\t", "é", "đ", "Ω", "한", "🎉",
            "--", "—", "\u{2028}", "\u{85}", ".", "!", "e\u{31b}\u{309}", "\u{feff}", "İ", "ﬁ",
        ]).prop_map(ToOwned::to_owned),
        1 => any::<char>().prop_map(|c| c.to_string()),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_text_makes_the_reader_or_the_search_panic(text in texts(), quote in texts()) {
        for role in Role::ALL {
            let read = aw_core::statements(&text, *role, 3);
            prop_assert!(read.statements.iter().all(|s| s.line as usize <= text.split('\n').count()));
        }
        for found in look_up(&[version(1, &text)], &[version(1, &quote)], &quote, None) {
            prop_assert!(found.line >= 10);
            prop_assert!(!found.text.is_empty());
        }
    }

    #[test]
    fn every_line_that_has_a_normal_form_is_found(text in texts()) {
        for line in text.split('\n') {
            let chars = Quote::normal(line).chars().count();
            for found in results(&text, line) {
                // Longer than a quote may be: no line of these texts.
                prop_assert!(chars <= 1_000);
                prop_assert!(found.starts_with("found"), "{line:?}: {found}");
            }
            // The last line of a block decides nothing: without a normal form there is no quote.
            prop_assert_eq!(results(&text, line).is_empty(), Normal::of(line).line_count() == 0
                || chars == 0);
        }
    }

    #[test]
    fn the_whole_text_is_found_in_itself(text in texts()) {
        let chars = Quote::normal(&text).chars().count();
        if (12..=1_000).contains(&chars) {
            prop_assert!(is_found(&text, &text), "{text:?}");
        }
    }

    #[test]
    fn a_real_sentence_among_ninety_invented_characters_is_missing(
        before in "[q-z]{45}",
        after in "[q-z]{45}",
    ) {
        let sentence = "The worker retries the POST up to 3 times.";
        prop_assert!(is_found(PLAN, sentence));
        prop_assert_eq!(result(PLAN, &format!("{before} {sentence} {after}")), "missing");
        prop_assert_eq!(result(PLAN, &format!("{before}{after} {sentence}")), "missing");
        prop_assert_eq!(result(PLAN, &format!("{sentence} {before}{after}")), "missing");
    }

    #[test]
    fn the_lines_of_a_found_quote_hold_it(text in texts(), from in 0_usize..200, length in 1_usize..40) {
        let normal = Quote::normal(&text);
        let quote: String = normal.chars().skip(from).take(length).collect();
        for found in look_up(&[version(1, &text)], &[], &quote, None) {
            if let Evidence::Found { lines, .. } = found.evidence {
                let count = (lines.last - lines.first) as usize + 1;
                let held: Vec<&str> =
                    text.split('\n').skip(lines.first as usize - 1).take(count).collect();
                prop_assert!(Normal::of(&held.join("\n")).holds(&found.text));
            }
        }
    }
}

#[test]
fn a_long_block_is_looked_up_only_until_it_has_too_many_quotes() {
    let plan = Normal::of("The worker retries the POST up to 3 times.");
    let place = QuotePlace::Argument { seq: Seq(1) };
    let current = [Source { place, text: &plan }];
    let library = Library { current: &current, earlier: Some(&[]), examined: &[] };
    let lines = (0..500).map(|number| format!("an invented sentence, number {number}")).collect();
    let block = QuoteBlock { line: 1, lines, source: None };
    assert_eq!(library.check(&block).unwrap().len(), 41);
}
