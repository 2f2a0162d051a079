//! Markdown is rendered as agents mean it, and hostile text stays harmless.

use std::time::Instant;

use super::*;

#[path = "../../../tests/browser/payloads.rs"]
pub(super) mod payloads;

const DOC: &str = "0c5a44a3-42f6-4787-aa53-c5963099fa65";

/// Its name, which is another agent's text.
const NAME: &str = "The <b>plan</b>";

/// Rendered, with a citation of version 2 of one document.
fn html(text: &str) -> String {
    let known: DocumentId = DOC.parse().unwrap();
    render(text, &|id| (id == known).then(|| DocumentLink { version: 2, name: NAME.to_owned() }))
}

/// The name of a tag (with a slash in front if it is an end tag) and its attributes.
type Tag = (String, Vec<(String, String)>);

/// The tags of HTML, from `<` to the next `>` outside of quotes.
fn tags(html: &str) -> Vec<Tag> {
    let mut found = Vec::new();
    let mut rest = html;
    while let Some(begin) = rest.find('<') {
        rest = &rest[begin + 1..];
        let name_end = rest.find([' ', '>']).expect("a tag ends");
        let name = rest[..name_end].to_owned();
        rest = &rest[name_end..];
        let mut attributes = Vec::new();
        while let Some(after) = rest.strip_prefix(' ') {
            let (name, value) = after.split_once("=\"").expect("every attribute has a value");
            let (value, after) = value.split_once('"').expect("a value ends");
            assert!(!name.contains(['>', '<', ' ', '"']), "{name} in {html}");
            attributes.push((name.to_owned(), value.to_owned()));
            rest = after;
        }
        rest = rest.strip_prefix('>').expect("a tag ends after its attributes");
        found.push((name, attributes));
    }
    found
}

/// Asserts that every tag and attribute is allowed, and that tags are closed in order.
#[track_caller]
fn assert_harmless(html: &str, from: &str) {
    assert_harmless_with(html, from, &[]);
}

/// The same, with further elements and the class that each may have.
#[track_caller]
pub(super) fn assert_harmless_with(html: &str, from: &str, further: &[(&str, &str)]) {
    const ELEMENTS: &str = "a bdi blockquote br code del details div em h3 h4 h5 h6 hr input label li ol p pre \
        span strong summary sup table tbody td th thead tr ul";
    let mut open: Vec<String> = Vec::new();
    for (name, attributes) in tags(html) {
        if let Some(ended) = name.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(ended), "{from}\n{html}");
            continue;
        }
        let is_further = further.iter().any(|(element, _)| *element == name);
        let is_allowed = is_further || ELEMENTS.split_whitespace().any(|element| element == name);
        assert!(is_allowed, "<{name}> from {from}\n{html}");
        for (attribute, value) in &attributes {
            let classes = further.iter().filter(|(element, _)| *element == name);
            let mut is_class = classes.map(|(_, class)| *class == value);
            let is_fine = match (name.as_str(), attribute.as_str()) {
                (_, "class") if is_class.any(|is_class| is_class) => true,
                ("a", "href") => is_allowed_address(value),
                ("a", "rel") => value == "noopener nofollow ugc",
                ("a", "class") => value == "doc",
                ("div", "class") => value == "scroll",
                ("div", "role") => value == "group",
                ("div", "aria-label") | ("input", "aria-label") => true,
                ("div" | "pre", "tabindex") => value == "0",
                ("input", "type") => value == "checkbox",
                ("input", "checked" | "disabled") => value.is_empty(),
                ("li", "class") => value == "task",
                ("ol", "start") => value.parse::<u32>().is_ok(),
                ("pre", "class") => {
                    ["code", "code mermaid", "raw", "rest"].contains(&value.as_str())
                }
                ("span", "class") => {
                    ["address", "control", "image"].contains(&value.as_str())
                        || highlight::CLASSES.contains(&value.as_str())
                }
                ("td" | "th", "class") => ["center", "right"].contains(&value.as_str()),
                ("th", "scope") => value == "col",
                _ => false,
            };
            assert!(is_fine, "<{name} {attribute}={value:?}> from {from}\n{html}");
        }
        if name == "a" {
            assert!(attributes.iter().any(|(name, _)| name == "rel"), "{from}\n{html}");
            assert!(!open.contains(&name), "a link in a link from {from}\n{html}");
        }
        if !["br", "hr", "input"].contains(&name.as_str()) {
            open.push(name);
        }
        assert!(open.len() < 50, "too deep from {from}");
    }
    assert!(open.is_empty(), "{open:?} left open from {from}\n{html}");
    for hidden in ['\u{202E}', '\u{2066}', '\u{200B}', '\u{1B}', '\u{E0041}'] {
        assert!(!html.contains(hidden), "{hidden:?} from {from}");
    }
}

fn is_allowed_address(address: &str) -> bool {
    let address = address.replace("&amp;", "&");
    let own = address.strip_prefix("/doc/").and_then(|rest| rest.split_once("?version="));
    match own {
        Some((id, version)) => id.parse::<DocumentId>().is_ok() && version.parse::<u64>().is_ok(),
        None => {
            let scheme =
                ["http://", "https://", "mailto:"].iter().any(|known| address.starts_with(known));
            scheme
                && address::external(&address).is_some()
                && !address.contains(['<', '>', '"', ' '])
        }
    }
}

#[test]
fn every_payload_is_harmless() {
    let all = payloads::payloads();
    assert!(all.len() >= 300, "{}", all.len());
    for payload in &all {
        let html = html(payload);
        assert_harmless(&html, payload);
        let named = payload.len() * 12 + 60 * invisible_chars::NAMED as usize;
        assert!(html.len() < named + 20_000, "{} bytes from {}", html.len(), payload.len());
    }
    // Joined, so that one payload may close what another left open.
    for part in all.chunks(40) {
        for between in ["\n\n", " ", "\n"] {
            let text = part.join(between);
            assert_harmless(&html(&text), &text.chars().take(200).collect::<String>());
        }
    }
}

#[test]
fn parts_of_payloads_are_harmless() {
    for payload in payloads::payloads().iter().filter(|payload| payload.len() < 200) {
        for (cut, _) in payload.char_indices().step_by(7) {
            assert_harmless(&html(&payload[..cut]), payload);
            assert_harmless(&html(&payload[cut..]), payload);
        }
    }
}

#[test]
fn raw_html_is_shown_as_text() {
    assert_eq!(
        html("a <b>bold</b> Vec<String>"),
        "<p>a &lt;b&gt;bold&lt;/b&gt; Vec&lt;String&gt;</p>\n"
    );
    assert_eq!(
        html("<div onclick=x>\nhi\n</div>"),
        "<pre class=\"raw\">&lt;div onclick=x&gt;\nhi\n&lt;/div&gt;</pre>\n"
    );
    assert_eq!(
        html("<script>alert(1)</script>"),
        "<pre class=\"raw\">&lt;script&gt;alert(1)&lt;/script&gt;</pre>\n"
    );
    assert_eq!(html("a<br>b<br />c"), "<p>a<br>b<br>c</p>\n");
}

#[test]
fn links_lead_to_other_sites_and_show_their_address() {
    assert_eq!(
        html("[site](https://example.org/a)"),
        "<p><a href=\"https://example.org/a\" rel=\"noopener nofollow ugc\">site</a></p>\n"
    );
    assert_eq!(
        html("see https://example.org/a."),
        "<p>see <a href=\"https://example.org/a\" rel=\"noopener nofollow ugc\">https://example.org/a</a>.</p>\n"
    );
    for (text, shown) in [
        ("[new](/new)", "<p>new <span class=\"address\">/new</span></p>\n"),
        ("[up](#a-1)", "<p>up <span class=\"address\">#a-1</span></p>\n"),
        (
            "[x](javascript:alert(1))",
            "<p>x <span class=\"address\">javascript:alert(1)</span></p>\n",
        ),
        ("<javascript:alert(1)>", "<p>javascript:alert(1)</p>\n"),
    ] {
        assert_eq!(html(text), shown);
    }
    let disguised = html("[https://github.com](http://evil.invalid/)");
    assert!(
        disguised
            .contains("https://github.com</a> <span class=\"address\">http://evil.invalid/</span>"),
        "{disguised}"
    );
    assert!(html("[](http://evil.invalid/)").contains(">http://evil.invalid/</a>"));
}

#[test]
fn an_image_is_its_text_and_its_address() {
    let image = html("![a chart](https://example.org/c.png)");
    assert_eq!(
        image,
        "<p><span class=\"image\">a chart <span class=\"address\"><a href=\"https://example.org/c.png\" \
         rel=\"noopener nofollow ugc\">https://example.org/c.png</a></span></span></p>\n"
    );
    assert!(
        html("![x](data:image/png;base64,AAAA)").contains("<span class=\"address\">data:image/png")
    );
    // A link contains no other link.
    let badge = html("[![badge](http://a.example/b.svg)](http://c.example/)");
    assert_eq!(badge.matches("<a ").count(), 1, "{badge}");
}

#[test]
fn headings_begin_below_those_of_the_page_and_skip_no_level() {
    let levels = |text: &str| -> String {
        let opening = tags(&html(text)).into_iter().map(|(name, _)| name);
        opening.filter(|name| name.starts_with('h') && name != "hr").collect::<Vec<_>>().join(" ")
    };
    assert_eq!(levels("# a\n## b\n### c\n#### d\n##### e"), "h3 h4 h5 h6 h6");
    assert_eq!(levels("### a\n##### b\n### c\n# d"), "h3 h4 h3 h3");
    assert_eq!(levels("#\n\n# <br>"), "");
    assert!(!html("# Ruling").contains("id="));
}

#[test]
fn a_mentioned_document_is_a_link_to_the_cited_version() {
    let link = format!(
        "<a class=\"doc\" href=\"/doc/{DOC}?version=2\" rel=\"noopener nofollow ugc\"><bdi>{}</bdi></a>",
        "The &lt;b&gt;plan&lt;/b&gt;"
    );
    for (text, shown) in [
        (format!("Plan: doc_id={DOC} (v1 → v2)"), format!("<p>Plan: {link} (v1 → v2)</p>\n")),
        (format!("`doc_id={DOC} (v2)`"), format!("<p><code>{link} (v2)</code></p>\n")),
        (
            format!("**document_id={DOC}:** v2"),
            format!("<p><strong>document_id={link}:</strong> v2</p>\n"),
        ),
    ] {
        assert_eq!(html(&text), shown);
    }
    for text in [
        format!("```\n{DOC}\n```"),
        format!("[{DOC}](http://example.org)"),
        format!("doc_id={}", DOC.replace('0', "1")),
        format!("x{DOC}"),
    ] {
        assert!(!html(&text).contains("/doc/"), "{text}");
    }
    assert!(html(&DOC.to_uppercase()).contains(&format!("href=\"/doc/{DOC}?version=2\"")));
    let named =
        |name: &str| render(DOC, &|_| Some(DocumentLink { version: 1, name: name.to_owned() }));
    assert!(named(" ").contains(&format!("<bdi>{DOC}</bdi>")), "a name of spaces shows the id");
    assert!(named(&"é".repeat(200)).contains(&format!("<bdi>{}…</bdi>", "é".repeat(80))));
}

#[test]
fn a_table_scrolls_in_a_box_named_after_its_columns() {
    let table = html("| Document | | Version |\n|---|:-:|--:|\n| a | b | v3 |\n| c |");
    assert!(table.starts_with(
        "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Document, Version\"><table>"
    ), "{table}");
    assert!(table.contains("<th scope=\"col\">Document</th><td class=\"center\"></td><th scope=\"col\" class=\"right\">Version</th>"), "{table}");
    assert!(
        table.contains(
            "<tbody><tr><td>a</td><td class=\"center\">b</td><td class=\"right\">v3</td></tr>"
        ),
        "{table}"
    );
    assert!(table.contains("<tr><td>c</td></tr></tbody>\n</table></div>"), "{table}");
}

#[test]
fn a_table_without_most_of_its_cells_is_shown_as_text() {
    let bomb = format!("|{}\n|{}\n{}", "h|".repeat(1000), "-|".repeat(1000), "|\n".repeat(3000));
    let html = html(&bomb);
    assert!(!html.contains("<td>") && html.len() < bomb.len() * 2, "{}", html.len());
}

#[test]
fn tasks_are_disabled_checkboxes() {
    assert_eq!(
        html("- [x] done\n- [ ] open"),
        "<ul>\n<li class=\"task\"><label><input type=\"checkbox\" disabled=\"\" checked=\"\"> done</label>\n</li>\n\
         <li class=\"task\"><label><input type=\"checkbox\" disabled=\"\"> open</label>\n</li>\n</ul>\n"
    );
    assert!(html("- [x] a\n\n- [ ] b").contains("<p><label><input"));
}

#[test]
fn lists_keep_their_numbers_and_spacing() {
    assert_eq!(html("3. a\n4. b"), "<ol start=\"3\">\n<li>a\n</li>\n<li>b\n</li>\n</ol>\n");
    assert_eq!(html("- a\n  - b"), "<ul>\n<li>a\n<ul>\n<li>b\n</li>\n</ul>\n</li>\n</ul>\n");
    assert_eq!(html("- a\n\n- b"), "<ul>\n<li><p>a</p>\n</li>\n<li><p>b</p>\n</li>\n</ul>\n");
    assert_eq!(html("- > a"), "<ul>\n<li><blockquote>\n<p>a</p>\n</blockquote>\n</li>\n</ul>\n");
}

#[test]
fn code_is_highlighted_and_escaped() {
    let code = html("```rust\nfn main() {} // <b>\n```");
    assert!(
        code.starts_with("<pre class=\"code\" tabindex=\"0\"><code><span class=\"c-keyword\">fn"),
        "{code}"
    );
    assert!(code.contains("// &lt;b&gt;"), "{code}");
    assert_eq!(
        html("```\n<b>\n```"),
        "<pre class=\"code\" tabindex=\"0\"><code>&lt;b&gt;\n</code></pre>\n"
    );
}

#[test]
fn footnotes_details_and_diagrams_are_drawn() {
    assert_eq!(
        html("It holds[^a].\n\n[^a]: By *measure*."),
        "<p>It holds<sup>[1]</sup>.</p>\n<hr>\n<ol>\n<li><p>By <em>measure</em>.</p>\n</li>\n</ol>\n"
    );
    assert_eq!(
        html("<details><summary>The log</summary>\n\n- one <b>\n\n</details>\n\nafter"),
        "<details><summary>The log</summary>\n<ul>\n<li>one &lt;b&gt;\n</li>\n</ul>\n</details>\n<p>after</p>\n"
    );
    // One that is never closed ends with the text.
    assert!(html("<details>\n\nopen").ends_with("<p>open</p>\n</details>\n"));
    let diagram = html("```mermaid\ngraph TD; A-->B\n```");
    assert!(
        diagram.starts_with("<pre class=\"code mermaid\" tabindex=\"0\"><code>graph"),
        "{diagram}"
    );
}

#[test]
fn the_headings_of_a_document_have_anchors() {
    let text = "# Move billing, *out*\n\na\n\n## `x` & <b>\n\n# Move billing, *out*\n\n#\n";
    let document = render_document(text);
    let found: Vec<_> = document
        .headings
        .iter()
        .map(|one| (one.depth, one.anchor.as_str(), one.words.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            (0, "s-1-move-billing-out", "Move billing, out"),
            (1, "s-2-x-b", "x & <b>"),
            (0, "s-3-move-billing-out", "Move billing, out"),
        ]
    );
    assert!(
        document.html.contains("<h4 id=\"s-2-x-b\"><code>x</code> &amp; &lt;b&gt;</h4>"),
        "{}",
        document.html
    );
    assert_eq!(first_heading("text\n\n## The *plan*\n").as_deref(), Some("The plan"));
    assert_eq!(first_heading("no heading"), None);
}

#[test]
fn deeply_nested_text_is_kept() {
    for text in [
        "> ".repeat(4000) + "deep",
        "- ".repeat(50) + "deep",
        "*_".repeat(500) + "deep" + &"_*".repeat(500),
    ] {
        let html = html(&text);
        assert!(html.contains("deep"), "{html}");
        assert_harmless(&html, "nesting");
    }
}

#[test]
fn a_huge_document_is_rendered_at_first_and_plain_after_that() {
    let text = "# Part\n\nSome *words* of a <b>plan</b>.\n\n".repeat(5 * 1024 * 1024 / 40);
    let html = html(&text);
    let (drawn, rest) = html.split_once("<pre class=\"rest\">").unwrap();
    assert!(drawn.ends_with(">\n") && drawn.contains("<em>words</em>"));
    assert!(rest.ends_with("&lt;/b&gt;.\n\n</pre>"));
    assert!(html.len() < text.len() * 2);
}

#[test]
fn the_output_is_proportional_to_hostile_input() {
    let words =
        "[ ![ [a]( ` `a`` < <a & | |- \\ ~~ _a_ www. - <!-- \t <? <![CDATA[ ![a](b) *** \u{202E}";
    let lines = [
        "*a **b ",
        "> ",
        "- ",
        "1. ",
        "[x]: y\n",
        "http://a.b ",
        "a@b.c ",
        "# a\n",
        "    x\n",
        "```\n",
        "[a]\n",
        "- [x] ",
        ">- ",
        "\t",
    ];
    let long = ["0c5a44a3-42f6-4787-aa53-c5963099fa65 ", "|a|b|\n|-|-|\n"];
    for part in words.split(' ').chain(lines).chain(long) {
        let text = part.repeat(DRAWN / part.len());
        let begun = Instant::now();
        let html = html(&text);
        // Quadratic work would take hours; a busy machine takes seconds.
        assert!(begun.elapsed().as_secs() < 60, "{part:?}");
        assert!(html.len() < text.len() * 16, "{} for {part:?}", html.len());
    }
}
