//! Highlights code: spans with one of a few classes, whose colours are in the stylesheet.
//!
//! The grammars name hundreds of scopes; `SCOPES` maps them to a few classes. Grammars are regular
//! expressions that some lines can keep busy for long, so size and time are limited. Code beyond the
//! limits is shown without colours, never cut.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use super::invisible_chars;

/// The classes of spans.
pub(super) const CLASSES: [&str; 12] = [
    "c-comment",
    "c-string",
    "c-constant",
    "c-keyword",
    "c-function",
    "c-type",
    "c-tag",
    "c-attribute",
    "c-inserted",
    "c-deleted",
    "c-heading",
    "c-meta",
];

/// The longest block that is highlighted, and the most code of one text, in bytes.
const BLOCK: usize = 16 * 1024;
const ALTOGETHER: usize = 64 * 1024;

/// The longest line that is highlighted, in bytes. The time for a line grows with the square of its
/// length, and parsing one cannot be interrupted.
const LINE: usize = 240;

/// How long highlighting one text may take: ten times what a long text needs, because the first text
/// in a language also compiles its grammar.
const PATIENCE: Duration = Duration::from_millis(300);

/// Grammars that are hundreds of times slower than the others.
const TOO_SLOW: [&str; 1] = ["Makefile"];

/// The class of a scope: that of the first entry that is a prefix of it. An empty class means no
/// colour, also not that of an outer scope.
const SCOPES: [(&str, &str); 36] = [
    ("comment", "c-comment"),
    ("constant.character.escape", "c-constant"),
    ("constant.other.placeholder", "c-constant"),
    ("meta.interpolation", ""),
    ("meta.template.expression", ""),
    ("support.type.property-name", "c-attribute"),
    ("meta.mapping.key", "c-attribute"),
    ("string", "c-string"),
    ("constant", "c-constant"),
    ("keyword.operator.word", "c-keyword"),
    ("keyword.operator.logical.python", "c-keyword"),
    ("keyword.operator.assignment", ""),
    ("keyword.operator.arithmetic", ""),
    ("keyword.operator.comparison", ""),
    ("keyword.operator", ""),
    ("keyword", "c-keyword"),
    ("storage", "c-keyword"),
    ("variable.language", "c-keyword"),
    ("variable.function", "c-function"),
    ("entity.name.function", "c-function"),
    ("entity.name.macro", "c-function"),
    ("support.function", "c-function"),
    ("support.macro", "c-function"),
    ("entity.name.tag", "c-tag"),
    ("entity.other.attribute-name", "c-attribute"),
    ("entity.name", "c-type"),
    ("entity.other.inherited-class", "c-type"),
    ("support.type", "c-type"),
    ("support.class", "c-type"),
    ("markup.inserted", "c-inserted"),
    ("markup.deleted", "c-deleted"),
    ("markup.heading", "c-heading"),
    ("meta.diff", "c-meta"),
    ("meta.annotation", "c-meta"),
    ("meta.preprocessor", "c-meta"),
    ("invalid", ""),
];

/// Names of languages that agents use and the grammars lack.
const ALIASES: [(&str, &str); 16] = [
    ("ts", "js"),
    ("tsx", "js"),
    ("typescript", "js"),
    ("jsx", "js"),
    ("mjs", "js"),
    ("node", "js"),
    ("shell", "sh"),
    ("console", "sh"),
    ("shell-session", "sh"),
    ("zsh", "sh"),
    ("jsonc", "json"),
    ("json5", "json"),
    ("golang", "go"),
    ("patch", "diff"),
    ("vue", "html"),
    ("svelte", "html"),
];

static GRAMMARS: LazyLock<SyntaxSet> = LazyLock::new(SyntaxSet::load_defaults_newlines);

static SCOPE_CLASSES: LazyLock<Vec<(Scope, &str)>> = LazyLock::new(|| {
    let known = |scope| Scope::new(scope).expect("a scope of ours has few and short parts");
    SCOPES.iter().map(|(scope, class)| (known(scope), *class)).collect()
});

/// Highlights the code of one text within its limits.
pub(super) struct Highlighter {
    bytes: usize,
    time: Duration,
}

impl Highlighter {
    pub(super) const fn new() -> Self {
        Highlighter { bytes: ALTOGETHER, time: PATIENCE }
    }

    /// Adds the code to the HTML. `info` is the text after the fence.
    pub(super) fn push(&mut self, html: &mut String, info: &str, code: &str, named: &mut u32) {
        let fits = code.len() <= BLOCK && code.len() <= self.bytes && !self.time.is_zero();
        let Some(grammar) = (if fits { grammar(info) } else { None }) else {
            return invisible_chars::push(html, code, named);
        };
        self.bytes -= code.len();
        let begun = Instant::now();
        let mut state = ParseState::new(grammar);
        let mut scopes = ScopeStack::new();
        let mut rest = code;
        let mut class = "";
        while !rest.is_empty() {
            let (line, after) = rest.split_at(rest.find('\n').map_or(rest.len(), |at| at + 1));
            if begun.elapsed() > self.time {
                break;
            }
            if line.len() > LINE {
                span(html, &mut class, "");
                invisible_chars::push(html, line, named);
                rest = after;
                continue;
            }
            let Ok(changes) = state.parse_line(line, &GRAMMARS) else { break };
            let mut written = 0;
            for (at, change) in &changes {
                if *at > written {
                    span(html, &mut class, class_of(&scopes));
                    invisible_chars::push(html, &line[written..*at], named);
                    written = *at;
                }
                if scopes.apply(change).is_err() {
                    break;
                }
            }
            span(html, &mut class, class_of(&scopes));
            invisible_chars::push(html, &line[written..], named);
            rest = after;
        }
        span(html, &mut class, "");
        invisible_chars::push(html, rest, named);
        self.time = self.time.saturating_sub(begun.elapsed());
    }
}

/// Ends a span and begins the next if the class changes.
fn span(html: &mut String, class: &mut &str, next: &'static str) {
    if *class == next {
        return;
    }
    if !class.is_empty() {
        html.push_str("</span>");
    }
    if !next.is_empty() {
        html.push_str("<span class=\"");
        html.push_str(next);
        html.push_str("\">");
    }
    *class = next;
}

fn class_of(scopes: &ScopeStack) -> &'static str {
    let innermost_first = scopes.as_slice().iter().rev();
    innermost_first
        .filter_map(|scope| SCOPE_CLASSES.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope)))
        .map(|(_, class)| *class)
        .next()
        .unwrap_or("")
}

/// The grammar for the first word after a fence: `rust`, `rust,ignore`, `{.rust}`.
fn grammar(info: &str) -> Option<&'static SyntaxReference> {
    let word = info.split([' ', '\t', ',', '{', '}', ':']).find(|word| !word.is_empty())?;
    let word = word.trim_start_matches('.').to_ascii_lowercase();
    let alias = ALIASES.iter().find(|(name, _)| *name == word);
    let word = alias.map_or(word.as_str(), |(_, known)| known);
    let found = GRAMMARS.find_syntax_by_token(word)?;
    let is_useful = found.name != "Plain Text" && !TOO_SLOW.contains(&found.name.as_str());
    is_useful.then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn highlighted(info: &str, code: &str) -> String {
        let mut html = String::new();
        Highlighter::new().push(&mut html, info, code, &mut 100);
        html
    }

    #[test]
    fn code_is_highlighted_with_listed_classes_only() {
        let rust = highlighted("rust", "// why\nfn main() { let x = \"<b>\"; }\n");
        assert!(rust.contains("<span class=\"c-comment\">// why\n</span>"), "{rust}");
        assert!(rust.contains("c-keyword") && rust.contains("c-function"), "{rust}");
        assert!(rust.contains("&lt;b&gt;"), "{rust}");
        for (info, code) in [
            ("ts", "const x: number = 1; // y"),
            ("json", "{\"a\": [1, true, null]}"),
            ("bash", "for f in *; do echo \"$f\" # all\ndone"),
            ("diff", "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n"),
            ("python", "def f(x):\n    return not x  # no"),
            ("sql", "select 'a' from b where c = 1 -- d"),
            ("yaml", "a: 1\nb: [x, 'y']\n"),
            ("html", "<p class=\"x\">a</p>"),
        ] {
            let html = highlighted(info, code);
            assert!(html.contains("<span class=\"c-"), "{info}: {html}");
            for class in html.split("class=\"").skip(1).map(|rest| rest.split('"').next().unwrap())
            {
                assert!(CLASSES.contains(&class), "{class}");
            }
            assert_eq!(html.matches("<span").count(), html.matches("</span>").count(), "{html}");
        }
    }

    #[test]
    fn code_of_an_unknown_language_is_not_highlighted() {
        for info in ["", "text", "txt", "mermaid", "\"><script>"] {
            assert_eq!(highlighted(info, "fn <a>"), "fn &lt;a&gt;", "{info}");
        }
    }

    #[test]
    fn code_beyond_the_limits_is_not_highlighted() {
        let long = format!("// {}\nfn x() {{}}\n", "y".repeat(LINE));
        let html = highlighted("rust", &long);
        assert!(
            html.starts_with("// yyy") && html.contains("<span class=\"c-keyword\">fn"),
            "{html}"
        );
        let big = "fn x() {}\n".repeat(BLOCK / 10 + 1);
        assert_eq!(highlighted("rust", &big), big);
    }

    #[test]
    fn every_scope_has_a_listed_class() {
        for (scope, class) in SCOPES {
            assert!(class.is_empty() || CLASSES.contains(&class), "{scope}");
        }
    }
}
