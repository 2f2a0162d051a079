//! Texts of agents: Markdown, options of an APPEAL, mentions of documents.

use aw::render::markdown::{DocumentLink, render};
use aw::web::options::{choices, sections};
use aw_core::{DocumentId, mentions};

use crate::html::is_harmless_piece;

/// The only document that exists in these tests.
const KNOWN: &str = "0c5a44a3-42f6-4787-aa53-c5963099fa65";

/// The length of a hyphenated UUID.
const UUID_LEN: usize = 36;

/// Any text as an agent's Markdown.
///
/// - The HTML is balanced, so it cannot affect the rest of the page; it has only inert tags and
///   attributes, and links to other sites or to an existing document.
/// - It has no characters that reverse or hide text.
/// - Its length is proportional to the input's.
pub fn markdown(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let known: DocumentId = KNOWN.parse().expect("it is an id");
    let link = || DocumentLink { version: 3, name: "A <plan> of its own".to_owned() };
    let html = render(text, &|id| (id == known).then(link));
    is_harmless_piece(&html, |address| address == format!("/doc/{KNOWN}?version=3"));
    // The factor covers cells of tables and words of code; the constant covers omitted cells and named
    // hidden characters.
    assert!(html.len() < text.len() * 64 + 300_000, "{} of {}", html.len(), text.len());
}

/// Any text as an APPEAL.
///
/// - There are no options, or two to twelve; each has a name and a text, and only the last can be
///   "another way".
/// - Their texts are literal parts of the APPEAL, in its order.
/// - The sides of the dispute are parts of the APPEAL and do not overlap.
pub fn options(data: &[u8]) {
    let Ok(appeal) = str::from_utf8(data) else { return };
    let found = choices(appeal);
    assert!(found.is_empty() || (2..=12).contains(&found.len()), "{found:?}");
    for (number, choice) in found.iter().enumerate() {
        assert!(!choice.name.trim().is_empty(), "{found:?}");
        assert!(!choice.name.contains('\n'), "{found:?}");
        assert!(!choice.is_free || number + 1 == found.len(), "{found:?}");
    }
    // Markdown replaces entities such as `&amp;`.
    if !appeal.contains('&') {
        let mut said = appeal.chars();
        for choice in &found {
            // The name may precede its text, or be a number of a Markdown list.
            for wanted in choice.words.chars().filter(|c| c.is_alphanumeric()) {
                assert!(said.any(|c| c == wanted), "{choice:?} in {appeal:?}");
            }
        }
    }
    let parts = sections(appeal);
    let mut places = Vec::new();
    for part in [parts.context, parts.proposer, parts.opponent].into_iter().flatten() {
        let start = (part.as_ptr() as usize).checked_sub(appeal.as_ptr() as usize);
        let start = start.expect("a part begins in the APPEAL");
        assert_eq!(appeal.get(start..start + part.len()), Some(part), "{parts:?}");
        assert!(!part.trim().is_empty(), "{parts:?}");
        places.push(start..start + part.len());
    }
    places.sort_by_key(|place| place.start);
    assert!(places.windows(2).all(|pair| pair[0].end <= pair[1].start), "{parts:?} in {appeal:?}");
}

/// Any text as one that mentions documents.
///
/// - Every separate UUID is found once, in order, as a search at every position finds it.
/// - The version of a mention occurs after its UUID.
pub fn documents(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let found = mentions(text);
    let mut wanted: Vec<(DocumentId, usize)> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let end = at + UUID_LEN;
        let id = text.get(at..end).and_then(|part| part.parse::<DocumentId>().ok());
        let alone = |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric());
        let bytes = text.as_bytes();
        let is_alone =
            alone(at.checked_sub(1).and_then(|before| bytes.get(before))) && alone(bytes.get(end));
        match id.filter(|_| is_alone) {
            Some(id) => {
                if wanted.iter().all(|(known, _)| *known != id) {
                    wanted.push((id, end));
                }
                at = end;
            }
            None => at += 1,
        }
    }
    let ids = found.iter().map(|mention| mention.document);
    assert!(ids.eq(wanted.iter().map(|(id, _)| *id)), "{found:?} in {text:?}");
    for (mention, (_, end)) in found.iter().zip(&wanted) {
        let Some(version) = mention.version else { continue };
        let digits = version.to_string();
        let after = &text[*end..];
        let named = after
            .match_indices(&digits)
            .any(|(at, _)| after[..at].trim_end_matches(['0', '+']).ends_with(['v', 'V']));
        assert!(version > 0 && named, "{mention:?} in {text:?}");
    }
}
