//! Finds the documents that an argument's text cites.
//!
//! Agents cite documents as `doc_id=<uuid> (v2)`, `document_id=<uuid>: v1 → **v2**`,
//! `| document_id=<uuid> | v3 |` or "doc_id=<uuid> updated to v2". Only the record can say whether a
//! UUID names a document.

use alloc::vec::Vec;

use crate::DocumentId;

/// A UUID in a text and the version named beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mention {
    /// The UUID, which may name a document.
    pub document: DocumentId,
    /// The version named beside it; of several (`v1 → v2`), the last.
    pub version: Option<u64>,
}

/// The length of a hyphenated UUID.
const UUID_LEN: usize = 36;

/// How far from the id a version still counts as beside it.
const BESIDE: usize = 80;

/// Every UUID in the text, once each, in order. If one is cited several times, the highest version
/// counts.
pub fn mentions(text: &str) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    let mut rest = text;
    while let Some((document, after)) = next_uuid(rest) {
        rest = after;
        let version = version_beside(after);
        match found.iter_mut().find(|mention| mention.document == document) {
            Some(known) => known.version = known.version.max(version),
            None => found.push(Mention { document, version }),
        }
    }
    found
}

/// Whether the text names a version after the one that it cites, which is the newest there is.
pub fn names_missing_version(text: &str, cites: &[(DocumentId, u64)]) -> bool {
    let is_missing = |mention: Mention| {
        let cited = cites.iter().find(|(document, _)| *document == mention.document);
        cited.is_some_and(|(_, version)| mention.version > Some(*version))
    };
    mentions(text).into_iter().any(is_missing)
}

/// The first UUID of the text, and the text after it.
fn next_uuid(text: &str) -> Option<(DocumentId, &str)> {
    // The first hyphen of a UUID is its ninth byte, and hyphens are rare: look for those only.
    let mut from = 0;
    loop {
        let hyphen = from + text.get(from..)?.find('-')?;
        from = hyphen + 1;
        let Some(start) = hyphen.checked_sub(8) else { continue };
        let Some(candidate) = text.get(start..start + UUID_LEN) else { continue };
        let bytes = text.as_bytes();
        let stands_alone = |byte: Option<&u8>| byte.is_none_or(|b| !b.is_ascii_alphanumeric());
        let alone = stands_alone(start.checked_sub(1).and_then(|before| bytes.get(before)))
            && stands_alone(bytes.get(start + UUID_LEN));
        if let (true, Ok(id)) = (alone, candidate.parse()) {
            return Some((id, &text[start + UUID_LEN..]));
        }
    }
}

/// The version named after an id on the same line. Punctuation and a few connecting words may stand
/// between them.
fn version_beside(after: &str) -> Option<u64> {
    let line = after.lines().next()?;
    let mut version = None;
    let mut walked = 0;
    for word in line.split(|c: char| !c.is_alphanumeric()) {
        walked += word.len() + 1;
        if word.is_empty() {
            continue;
        }
        if walked > BESIDE {
            break;
        }
        match version_number(word) {
            Some(number) => version = Some(number),
            None if is_connecting(word) => {}
            None => break,
        }
    }
    version
}

fn version_number(word: &str) -> Option<u64> {
    let digits = word.strip_prefix(['v', 'V'])?;
    digits.parse().ok().filter(|number| *number > 0)
}

fn is_connecting(word: &str) -> bool {
    const WORDS: [&str; 14] = [
        "and", "at", "from", "has", "in", "is", "now", "to", "updated", "version", "lên", "sang",
        "từ", "và",
    ];
    WORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    const DOC: &str = "0c5a44a3-42f6-4787-aa53-c5963099fa65";
    const OTHER: &str = "93d81b1a-0e66-4510-abfd-aa33b26cb82e";

    fn versions(text: &str) -> Vec<Option<u64>> {
        mentions(text).iter().map(|mention| mention.version).collect()
    }

    #[test]
    fn a_citation_takes_the_version_beside_the_id() {
        for (text, version) in [
            (format!("doc_id={DOC} (v2)"), Some(2)),
            (format!("- **Plan:** document_id={DOC} (v1)"), Some(1)),
            (format!("- **document_id={DOC}:** v1 → **v2**"), Some(2)),
            (format!("doc_id={DOC} v1 -> v3"), Some(3)),
            (format!("| document_id={DOC} | v3 |"), Some(3)),
            (format!("doc_id={DOC} updated to v2"), Some(2)),
            (format!("doc_id={DOC} (v1 and v2)"), Some(2)),
            (format!("Updated doc_id={DOC} to v2, see v9 of the API"), Some(2)),
            (format!("`aw docs get {DOC}`"), None),
            (format!("doc_id={DOC} is better than the v1 API"), None),
            (format!("doc_id={DOC}\n(v2)"), None),
            (format!("doc_id={DOC} (v0)"), None),
        ] {
            assert_eq!(versions(&text), [version], "{text}");
        }
    }

    #[test]
    fn a_version_further_along_the_line_is_not_beside_the_id() {
        let after = |spaces: usize| format!("{DOC}{}v2.", " ".repeat(spaces));
        assert_eq!(versions(&after(BESIDE - "v2.".len())), [Some(2)]);
        assert_eq!(versions(&after(BESIDE - "v2.".len() + 1)), [None]);
    }

    #[test]
    fn each_document_is_listed_once_with_its_highest_named_version() {
        let text = format!("{DOC} (v1), {OTHER} (v5), again {DOC} (v2), not {DOC} (v1), and {DOC}");
        let found = mentions(&text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], Mention { document: DOC.parse().unwrap(), version: Some(2) });
        assert_eq!(found[1], Mention { document: OTHER.parse().unwrap(), version: Some(5) });
    }

    #[test]
    fn a_version_after_the_newest_is_missing() {
        let cites = [(DOC.parse().unwrap(), 2)];
        for (text, missing) in [("", false), (" (v1)", false), (" (v2)", false), (" (v3)", true)] {
            assert_eq!(names_missing_version(&format!("{DOC}{text}"), &cites), missing, "{text}");
        }
        assert!(!names_missing_version(&format!("{OTHER} (v3)"), &cites));
    }

    #[test]
    fn text_that_only_resembles_an_id_is_ignored() {
        for text in
            ["", "-", "a-b-c-d-e", &DOC[1..], &format!("x{DOC}"), &format!("{DOC}9"), "ế-ế-ế"]
        {
            assert_eq!(mentions(text), [], "{text}");
        }
        assert_eq!(mentions(&DOC.to_uppercase()).len(), 1);
    }
}
