//! The words for headings and options in APPEALs, in English and Vietnamese. A list of phrases is a
//! string with `|` between them.

use comrak::arena_tree::NodeEdge;
use comrak::nodes::NodeValue;
use comrak::{Arena, Options, parse_document};

use super::outline::Topic;

/// The words before the letter or number of an option. Longer ones first.
pub(super) const LABELS: [&str; 14] = [
    "phương án",
    "lựa chọn",
    "tùy chọn",
    "tuỳ chọn",
    "giải pháp",
    "alternative",
    "approach",
    "solution",
    "option",
    "choice",
    "hướng",
    "cách",
    "opt",
    "pa",
];

/// The words that mean an option anywhere. The others do only under a heading for options.
const STRONG: [&str; 6] = ["phương án", "lựa chọn", "tùy chọn", "tuỳ chọn", "option", "choice"];

pub(super) fn is_strong(label: &str) -> bool {
    STRONG.contains(&label)
}

/// A longer title, in characters, is a sentence.
const LONGEST_TITLE: usize = 80;

/// The topic of a heading. The title comes without marks of emphasis.
pub(super) fn topic(title: &str) -> Option<Topic> {
    let title = title.to_lowercase();
    let title = without_number(&title).trim_matches(|c: char| !c.is_alphanumeric());
    if title.is_empty() || title.chars().count() > LONGEST_TITLE || is_free(title) {
        return None;
    }
    let begins = |phrases: &str| phrases.split('|').any(|phrase| begins_with(title, phrase));
    let has = |phrases: &str| phrases.split('|').any(|phrase| has_words(title, phrase));
    if begins(
        "context|background|bối cảnh|ngữ cảnh|hoàn cảnh|điểm tranh chấp|vấn đề|\
        nội dung tranh chấp|tranh chấp|the dispute|dispute|point in dispute|\
        the point in dispute|disputed point|the issue|issue|summary of the dispute|\
        tóm tắt tranh chấp",
    ) {
        return Some(Topic::Context);
    }
    // Alternatives that were rejected before are not offered.
    let is_past =
        has("rejected|considered|discarded|dismissed|excluded|tried|ruled out|đã loại|bị loại|\
        đã bác|đã xem xét|đã cân nhắc|đã thử|không chọn");
    let is_weighing =
        has("comparison|comparing|analysis|criteria|pros|so sánh|phân tích|tiêu chí|đánh giá");
    if has("options|choices|alternatives|possible rulings|possible decisions|ways forward|\
        các phương án|những phương án|các lựa chọn|những lựa chọn|các option|các giải pháp|\
        các hướng|các tùy chọn|các tuỳ chọn|các cách giải quyết")
        && !is_past
    {
        return (!is_weighing).then_some(Topic::Options);
    }
    let proposer =
        has("proposer|proposer's|proposer’s|người đề xuất|bên đề xuất|phía đề xuất|của tôi|\
        my position|our position|my view");
    let opponent =
        has("opponent|opponent's|opponent’s|người phản biện|bên phản biện|phía phản biện|\
        phản biện|their position|their view");
    match (proposer, opponent) {
        (true, false) => return Some(Topic::Proposer),
        (false, true) => return Some(Topic::Opponent),
        (true, true) => return None,
        (false, false) => {}
    }
    let is_offer = begins(
        "phương án đề xuất|đề xuất phương án|phương án giải quyết|phương án|lựa chọn|\
        hướng giải quyết|giải pháp đề xuất|đề xuất giải pháp|proposed solutions|\
        possible solutions|lựa chọn cho arbitrator",
    );
    (is_offer && !is_past && !is_weighing).then_some(Topic::Options)
}

/// Whether an option stands for any other way than those listed.
pub(super) fn is_free(words: &str) -> bool {
    let words = words.to_lowercase();
    let words = words.trim_matches(|c: char| !c.is_alphanumeric());
    let arbitrator =
        "arbitrator|the arbitrator|trọng tài|let the arbitrator|để arbitrator|người phân xử";
    let another = "another|other|different|own|something else|otherwise|khác|riêng|tự quyết";
    let is_short = words.chars().count() <= 120;
    if is_short
        && arbitrator.split('|').any(|who| begins_with(words, who))
        && another.split('|').any(|other| has_words(words, other))
    {
        return true;
    }
    let Some(phrase) = FREE.split('|').find(|phrase| begins_with(words, phrase)) else {
        return false;
    };
    let rest = words[phrase.len()..].trim_start();
    // "Another way: use Redis" is one way, not any way.
    let opens = "(|,|[|…|..|which|that|by|as|if|do|của|mà|nếu|theo";
    let asks = "arbitrator|trọng tài|specify|describe|please|state|your|you|below|explain|nêu|\
        ghi rõ|mô tả|vui lòng|bạn|chỉ định|free text|tự do";
    rest.is_empty()
        || (is_short
            && (opens.split('|').any(|open| rest.starts_with(open))
                || asks.split('|').any(|ask| has_words(rest, ask))))
}

/// The first words of an option for any other way. Longer ones first.
const FREE: &str = "một phương án khác|phương án khác|một hướng khác|hướng khác|hướng giải quyết khác|\
    một cách khác|cách khác|giải pháp khác|lựa chọn khác|đề xuất khác|ý kiến khác|\
    quyết định khác|option khác|không phương án nào ở trên|khác|another way|another option|\
    another approach|another solution|another ruling|another decision|a different way|\
    a different option|a different approach|a different solution|different way|\
    different approach|some other way|some other|any other way|any other|other way|\
    other option|other approach|other solution|other|others|something else|\
    none of the above|none of these|neither|custom|free text|your own";

/// The name of an option for any other way without a letter: its first words.
pub(super) fn free_name(plain: &str) -> Option<String> {
    let name = plain.split(['(', ',', ':', '.', '–', '—', '\n']).next()?.trim();
    (!name.is_empty() && name.chars().count() <= 40).then(|| name.to_owned())
}

/// Removes marks of emphasis from a line.
pub(super) fn bare(line: &str) -> String {
    let kept = line.trim().replace("__", "");
    kept.chars().filter(|c| !matches!(c, '*' | '`' | '~')).collect::<String>().trim().to_owned()
}

/// The text after the label of an option.
pub(super) fn after_label(plain: &str, name: &str) -> String {
    // White space may differ from that in the name.
    let mut rest = plain.trim_start();
    for word in name.split_whitespace() {
        match rest.trim_start().strip_prefix(word) {
            Some(after) => rest = after,
            None => return plain.trim().to_owned(),
        }
    }
    rest.trim_start_matches([
        ':', '.', ')', ']', '-', '–', '—', '=', '→', '|', ',', ' ', '\u{a0}', '\n',
    ])
    .trim_end()
    .to_owned()
}

/// The Markdown after the label of an option; none if the label and the text share their emphasis.
pub(super) fn markdown_after_label(source: &str, name: &str) -> Option<String> {
    let marks = ['*', '_'];
    let opened = source.trim_start();
    let label = opened.trim_start_matches(marks);
    let opening = &opened[..opened.len() - label.len()];
    let mut rest = label;
    for word in name.split_whitespace() {
        rest = rest.trim_start().strip_prefix(word)?;
    }
    let between = [':', '.', ')', ']', '-', '–', '—', '=', '→', ',', ' ', '\u{a0}', '\n'];
    let after = rest.trim_start_matches(between);
    // `**Option A:** text` closes the emphasis before the text, `**Option A** text` too.
    let after = match opening.is_empty() {
        true => after,
        false => after.strip_prefix(opening)?.trim_start_matches(between),
    };
    Some(after.trim().to_owned())
}

/// Markdown as plain text, with each paragraph and item in its own line.
pub(super) fn plain(source: impl AsRef<str>) -> String {
    let mut options = Options::default();
    options.extension.strikethrough = true;
    let arena = Arena::new();
    let mut text = String::new();
    let line = |text: &mut String| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    };
    for edge in parse_document(&arena, source.as_ref(), &options).traverse() {
        match edge {
            NodeEdge::Start(node) => match &node.data().value {
                NodeValue::Text(words) => text.push_str(&words.replace("**", "")),
                NodeValue::Code(code) => text.push_str(&code.literal),
                NodeValue::HtmlInline(html) => text.push_str(html),
                NodeValue::SoftBreak => text.push(' '),
                NodeValue::LineBreak => text.push('\n'),
                NodeValue::Item(_) => {
                    line(&mut text);
                    text.push_str("- ");
                }
                NodeValue::CodeBlock(code) => {
                    line(&mut text);
                    text.push_str(&code.literal);
                }
                NodeValue::HtmlBlock(html) => {
                    line(&mut text);
                    text.push_str(&html.literal);
                }
                _ => {}
            },
            NodeEdge::End(node) => {
                if node.data().value.block() {
                    line(&mut text);
                }
            }
        }
    }
    text.trim().to_owned()
}

/// The title without a number in front, such as "4." or "IV)".
fn without_number(title: &str) -> &str {
    let Some((number, rest)) = title.split_once(['.', ')', ':']) else { return title };
    let number = number.trim_matches(|c: char| !c.is_alphanumeric());
    let is_roman = number.chars().all(|c| "ivx".contains(c));
    let is_number = number.chars().all(|c| c.is_ascii_digit()) || number.len() == 1 || is_roman;
    if is_number && !rest.trim().is_empty() { rest.trim() } else { title }
}

/// Whether a text begins with these whole words.
fn begins_with(text: &str, words: &str) -> bool {
    text.strip_prefix(words).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// Whether a text contains these whole words.
fn has_words(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        !text[..at].ends_with(char::is_alphanumeric) && begins_with(&text[at..], words)
    })
}
