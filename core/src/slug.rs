//! Short names of debates and documents, made from their titles.

use alloc::string::{String, ToString};
use core::fmt;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The short name of a debate: lower-case ASCII words joined by hyphens, such as `charge-retries`.
/// It is made when the debate is opened and never changes. A second debate with the same words gets
/// a number: `charge-retries-2`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Slug(String);

impl Slug {
    /// The most characters before the number.
    pub const MAX_CHARS: usize = 48;

    /// The slug of a title without ASCII letters and digits.
    const NAMELESS: &'static str = "debate";

    /// Takes a slug from the record.
    pub fn recorded(text: String) -> Self {
        Slug(text)
    }

    /// Makes the slug of a title. Letters lose their accents; words that do not fit are left out.
    pub fn of(title: &str) -> Self {
        let words = words(title);
        let mut slug = String::new();
        for word in words.split(' ').filter(|word| !word.is_empty()) {
            let hyphen = usize::from(!slug.is_empty());
            if slug.len() + hyphen + word.len() > Self::MAX_CHARS {
                break;
            }
            if hyphen == 1 {
                slug.push('-');
            }
            slug.push_str(word);
        }
        if slug.is_empty() {
            slug.extend(words.chars().take_while(|letter| *letter != ' ').take(Self::MAX_CHARS));
        }
        if slug.is_empty() {
            slug.push_str(Self::NAMELESS);
        }
        Slug(slug)
    }

    /// The nth slug with these words; the first has no number.
    pub fn numbered(&self, number: u64) -> Self {
        match number {
            0 | 1 => self.clone(),
            _ => Slug([self.0.as_str(), "-", &number.to_string()].concat()),
        }
    }

    /// Whether this is a slug of this title, with or without a number.
    pub fn is_of(&self, title: &str) -> bool {
        let plain = Slug::of(title);
        let rest = self.0.strip_prefix(plain.as_str());
        rest.is_some_and(|rest| {
            let number = rest.strip_prefix('-').and_then(|number| number.parse::<u64>().ok());
            rest.is_empty() || number.is_some_and(|number| self == &plain.numbered(number))
        })
    }

    /// The slug as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The words of a text in lower-case ASCII, with a space for every other character.
fn words(text: &str) -> String {
    let letters = text.nfkd().filter(|letter| !is_combining_mark(*letter));
    letters
        .flat_map(char::to_lowercase)
        .filter(|letter| !matches!(letter, '\'' | '\u{2019}'))
        .flat_map(|letter| {
            let plain = match letter {
                'đ' | 'ð' => "d",
                'ł' => "l",
                'ø' => "o",
                'ı' => "i",
                'ß' => "ss",
                'æ' => "ae",
                'œ' => "oe",
                'þ' => "th",
                letter if letter.is_ascii_alphanumeric() => {
                    return [Some(letter), None].into_iter().flatten();
                }
                _ => " ",
            };
            let mut plain = plain.chars();
            [plain.next(), plain.next()].into_iter().flatten()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::borrow::ToOwned;

    #[test]
    fn a_slug_is_the_title_in_readable_ascii() {
        for (title, slug) in [
            ("Charge retries", "charge-retries"),
            ("Keep one SQLite file?", "keep-one-sqlite-file"),
            ("Có nên thử lại khi thanh toán lỗi?", "co-nen-thu-lai-khi-thanh-toan-loi"),
            ("ĐƯỜNG dẫn tạm", "duong-dan-tam"),
            ("Straße & Œuvre: don't", "strasse-oeuvre-dont"),
            ("…", "debate"),
            ("日本語", "debate"),
            ("2026 budget", "2026-budget"),
        ] {
            assert_eq!(Slug::of(title).as_str(), slug, "{title}");
        }
    }

    #[test]
    fn a_long_title_is_cut_between_words() {
        let slug = Slug::of(&"retry ".repeat(30));
        assert_eq!(slug.as_str(), "retry-retry-retry-retry-retry-retry-retry-retry");
        assert_eq!(Slug::of(&"x".repeat(200)).as_str().len(), Slug::MAX_CHARS);
    }

    #[test]
    fn a_slug_belongs_to_its_title_with_or_without_a_number() {
        let of = |slug: &str| Slug::recorded(slug.to_owned()).is_of("Charge retries");
        assert!(of("charge-retries") && of("charge-retries-2") && of("charge-retries-10"));
        for other in ["charge", "charge-retries-", "charge-retries-02", "charge-retries-x", "x"] {
            assert!(!of(other), "{other}");
        }
    }
}
