//! Parses HTML as a browser does, and checks what it contains.

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

/// The tags that an agent's text may be rendered with; none of them is active.
const HARMLESS: [&str; 28] = [
    "a",
    "bdi",
    "blockquote",
    "br",
    "code",
    "del",
    "div",
    "em",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "input",
    "label",
    "li",
    "ol",
    "p",
    "pre",
    "span",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];

/// The tags without an end tag.
const EMPTY: [&str; 3] = ["br", "hr", "input"];

/// The characters that reverse or hide text.
pub(crate) fn hides(c: char) -> bool {
    matches!(c,
        '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{200b}'
        | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
        | '\u{e0000}'..='\u{e007f}')
}

/// Asserts that a piece of HTML is balanced, has no hidden characters, and is inert. `leads` says
/// whether the text may link to an address of this site.
pub(crate) fn is_harmless_piece(html: &str, leads: impl Fn(&str) -> bool) {
    let mut open: Vec<String> = Vec::new();
    for token in tokens(html) {
        match token {
            Piece::Tag(tag) => {
                let name = tag.name.to_string();
                assert!(HARMLESS.contains(&name.as_str()), "<{name}> in {html:?}");
                for attribute in &tag.attrs {
                    may_have(&name, &attribute.name.local, &attribute.value, &leads);
                }
                match tag.kind {
                    TagKind::StartTag if EMPTY.contains(&name.as_str()) => {}
                    TagKind::StartTag => open.push(name),
                    TagKind::EndTag => {
                        let begun = open.pop();
                        assert_eq!(begun.as_ref(), Some(&name), "</{name}> in {html:?}");
                    }
                }
            }
            Piece::Text(text) => {
                assert!(!text.contains(hides), "hidden characters in {html:?}");
            }
            Piece::Other(what) => panic!("{what} in {html:?}"),
        }
    }
    assert!(open.is_empty(), "{open:?} is not ended in {html:?}");
}

fn may_have(tag: &str, name: &str, value: &str, leads: impl Fn(&str) -> bool) {
    let allowed = match (tag, name) {
        ("a", "href") => {
            let outside = ["http://", "https://", "mailto:"];
            outside.iter().any(|scheme| value.starts_with(scheme)) || leads(value)
        }
        ("a", "rel") => value.contains("noopener") && value.contains("nofollow"),
        ("ol", "start") => value.parse::<u64>().is_ok(),
        ("input", "type") => value == "checkbox",
        ("div" | "pre", "tabindex") => value == "0",
        ("div", "role") => value == "group",
        ("th", "scope") => value == "col",
        ("div" | "input", "aria-label") => !value.contains(hides),
        ("input", "checked" | "disabled") => value.is_empty(),
        (_, "class") => value.bytes().all(|b| b.is_ascii_alphanumeric() || b"- _".contains(&b)),
        _ => false,
    };
    assert!(allowed, "<{tag} {name}={value:?}>");
}

/// Asserts that a page runs only our scripts, has no script URLs, and that none of its tags came from
/// the input, whose tags are called `fuzz`.
pub(crate) fn is_our_page(html: &str) {
    let mut script = false;
    for token in tokens(html) {
        match token {
            Piece::Tag(tag) => {
                assert!(!tag.name.starts_with("fuzz"), "<{}> in {html}", tag.name);
                script = &*tag.name == "script" && tag.kind == TagKind::StartTag;
                let of = |name: &str| tag.attrs.iter().find(|known| &*known.name.local == name);
                if script {
                    let from = of("src").map(|from| from.value.to_string()).unwrap_or_default();
                    assert!(from.starts_with("/assets/"), "a script from {from:?} in {html}");
                }
                for attribute in &tag.attrs {
                    let name = &*attribute.name.local;
                    assert!(!name.starts_with("on") && name != "style", "{name} in {html}");
                    if matches!(name, "href" | "src" | "action" | "formaction" | "srcdoc") {
                        leads_on(&attribute.value, html);
                    }
                }
            }
            Piece::Text(text) => {
                assert!(!script || text.trim().is_empty(), "a script {text:?} in {html}");
            }
            Piece::Other(_) => {}
        }
    }
}

/// Asserts that an address is one of this site or a plain external one.
fn leads_on(address: &str, html: &str) {
    let own = address.starts_with(['/', '#', '?']) && !address.starts_with("//");
    let out = ["http://", "https://", "mailto:"].iter().any(|scheme| address.starts_with(scheme));
    assert!(own || out || address.is_empty(), "{address:?} in {html}");
}

enum Piece {
    Tag(Tag),
    Text(StrTendril),
    Other(String),
}

struct Sink(RefCell<Vec<Piece>>);

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        let mut next = TokenSinkResult::Continue;
        let piece = match token {
            Token::TagToken(tag) => {
                if tag.kind == TagKind::StartTag {
                    next = match &*tag.name {
                        "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
                        "style" => TokenSinkResult::RawData(RawKind::Rawtext),
                        "script" => TokenSinkResult::RawData(RawKind::ScriptData),
                        _ => TokenSinkResult::Continue,
                    };
                }
                Piece::Tag(tag)
            }
            Token::CharacterTokens(text) => Piece::Text(text),
            Token::EOFToken => return next,
            other => Piece::Other(format!("{other:?}")),
        };
        self.0.borrow_mut().push(piece);
        next
    }
}

fn tokens(html: &str) -> Vec<Piece> {
    let tokenizer = Tokenizer::new(Sink(RefCell::default()), TokenizerOpts::default());
    let queue = BufferQueue::default();
    queue.push_back(StrTendril::from_slice(html));
    while !queue.is_empty() {
        let _ = tokenizer.feed(&queue);
    }
    tokenizer.end();
    tokenizer.sink.0.take()
}
