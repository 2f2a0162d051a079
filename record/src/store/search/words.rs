//! The words of a text, as the search index holds them: in lower case and without diacritics.
//!
//! Both databases get words that are made here, so they find the same. A language that writes without
//! spaces has a word for each of its characters.

use std::collections::BTreeSet;
use std::ops::Range;

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

/// The most characters of a word; the rest of a longer one is ignored.
const LONGEST: usize = 40;

/// The most bytes of the words of one text. PostgreSQL holds a megabyte.
const MOST_BYTES: usize = 512 * 1024;

/// Marks the pieces of a title. No word of a text contains one of these marks.
pub(super) const TITLE: char = '¶';

/// Marks the pieces of a document's summary.
pub(super) const SUMMARY: char = '§';

/// Marks the key of a debate.
const DEBATE: char = '¦';

/// The word that all documents have.
pub(super) const DOCUMENT: &str = "¤";

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextWord {
    /// The bytes of the text that it stands in.
    pub(super) place: Range<usize>,
    /// The word as the index holds it.
    pub(super) folded: String,
}

/// The words of a text, in order.
pub(super) fn words(text: &str) -> impl Iterator<Item = TextWord> {
    let mut rest = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (begin, first) = rest.find(|(_, letter)| letter.is_alphanumeric())?;
        let (mut folded, mut chars) = (String::new(), 0);
        let mut end = begin + first.len_utf8();
        fold_into(&mut folded, &mut chars, first);
        while let Some((at, letter)) = rest.peek().copied() {
            let goes_on = match is_combining_mark(letter) {
                true => true,
                false => letter.is_alphanumeric() && !stands_alone(first) && !stands_alone(letter),
            };
            if !goes_on {
                break;
            }
            fold_into(&mut folded, &mut chars, letter);
            end = at + letter.len_utf8();
            rest.next();
        }
        Some(TextWord { place: begin..end, folded })
    })
    .filter(|word| !word.folded.is_empty())
}

/// A text in lower case and without diacritics.
pub(super) fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for letter in text.chars() {
        fold(letter, |letter| folded.push(letter));
    }
    folded
}

fn fold_into(word: &mut String, chars: &mut usize, letter: char) {
    fold(letter, |letter| {
        if letter.is_alphanumeric() && *chars < LONGEST {
            word.push(letter);
            *chars += 1;
        }
    });
}

fn fold(letter: char, mut push: impl FnMut(char)) {
    if letter.is_ascii() {
        return push(letter.to_ascii_lowercase());
    }
    for lower in letter.to_lowercase() {
        decompose_compatible(lower, |part| match part {
            // These have no decomposition.
            'đ' | 'ð' => push('d'),
            'ł' => push('l'),
            'ø' => push('o'),
            'ı' => push('i'),
            mark if is_combining_mark(mark) => {}
            // A decomposition may contain a capital letter.
            other => other.to_lowercase().for_each(&mut push),
        });
    }
}

/// Whether the language of this character writes without spaces.
fn stands_alone(letter: char) -> bool {
    matches!(letter,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// The different words of a search row.
#[derive(Debug, Default)]
pub(super) struct WordSet {
    words: BTreeSet<String>,
    bytes: usize,
}

impl WordSet {
    /// Adds the words of a text.
    pub(super) fn add(&mut self, text: &str) {
        words(text).for_each(|word| self.insert(word.folded));
    }

    /// Adds every end of every word of a name, marked, so that a search finds any piece of it.
    pub(super) fn add_name(&mut self, mark: char, name: &str) {
        for word in words(name) {
            for (at, _) in word.folded.char_indices() {
                self.insert(format!("{mark}{}", &word.folded[at..]));
            }
        }
    }

    /// Adds a word that no text has.
    pub(super) fn add_mark(&mut self, word: String) {
        self.insert(word);
    }

    fn insert(&mut self, word: String) {
        if self.bytes + word.len() < MOST_BYTES {
            let bytes = word.len() + 1;
            if self.words.insert(word) {
                self.bytes += bytes;
            }
        }
    }

    /// The words, separated by spaces.
    pub(super) fn joined(&self) -> String {
        let mut joined = String::with_capacity(self.bytes);
        for word in &self.words {
            joined += word;
            joined.push(' ');
        }
        joined.pop();
        joined
    }

    /// The longest word, which few other rows have.
    pub(super) fn longest(&self) -> Option<&str> {
        self.words.iter().map(String::as_str).max_by_key(|word| word.len())
    }
}

/// The word that all search rows of a debate have.
pub(super) fn debate(key: i64) -> String {
    format!("{DEBATE}{key}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        words(text).map(|word| word.folded).collect()
    }

    #[test]
    fn words_have_no_case_diacritics_or_punctuation() {
        assert_eq!(all("Đã TRẢ lời: không!"), ["da", "tra", "loi", "khong"]);
        assert_eq!(all("e\u{301}tude — naïve_Café"), ["etude", "naive", "cafe"]);
        assert_eq!(all("\u{301} … \0 \u{7} \"*\" ¶§¦"), [""; 0]);
        assert_eq!(all("ﬁne ＡＢＣ İstanbul Straße"), ["fine", "abc", "istanbul", "straße"]);
    }

    #[test]
    fn a_language_without_spaces_has_a_word_for_each_character() {
        assert_eq!(all("SQL日本語 が"), ["sql", "日", "本", "語", "か"]);
    }

    #[test]
    fn a_word_knows_its_place_in_the_text() {
        let text = "  Đã trả";
        let places: Vec<&str> = words(text).map(|word| &text[word.place]).collect();
        assert_eq!(places, ["Đã", "trả"]);
    }

    #[test]
    fn a_long_word_is_cut_and_a_long_text_too() {
        let long = "x".repeat(41);
        assert_eq!(all(&long), ["x".repeat(40)]);
        let mut set = WordSet::default();
        set.add(&(0..200_000).map(|number| format!("word{number} ")).collect::<String>());
        assert!(set.joined().len() < MOST_BYTES);
    }

    #[test]
    fn a_name_is_found_by_every_end_of_its_words() {
        let mut set = WordSet::default();
        set.add_name(TITLE, "Đã on");
        assert_eq!(set.joined(), "¶a ¶da ¶n ¶on");
    }
}
