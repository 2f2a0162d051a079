//! What agents write comes out as what they meant, and nothing else comes out.

use std::time::Instant;

use super::*;

#[path = "../../../tests/browser/payloads.rs"]
mod payloads;

const DOC: &str = "0c5a44a3-42f6-4787-aa53-c5963099fa65";

/// Rendered, with one document known at version 2.
fn html(text: &str) -> String {
    let known: DocumentId = DOC.parse().unwrap();
    render(text, &|id| (id == known).then_some(2))
}

/// A tag of the HTML: its name (with a slash in front, if it ends something) and its attributes.
type Tag = (String, Vec<(String, String)>);

/// Reads the tags as a browser would: everything from `<` to the `>` that no quote holds.
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

/// Fails unless everything in it is harmless and every tag is closed in order.
#[track_caller]
fn assert_harmless(html: &str, from: &str) {
    const EMPTY: [&str; 3] = ["br", "hr", "input"];
    const BLOCKS: [&str; 22] = [
        "blockquote",
        "code",
        "del",
        "em",
        "h3",
        "h4",
        "h5",
        "h6",
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
    let mut open: Vec<String> = Vec::new();
    for (name, attributes) in tags(html) {
        if let Some(ended) = name.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(ended), "{from}\n{html}");
            continue;
        }
        let known = BLOCKS.contains(&name.as_str())
            || ["a", "div", "br", "hr", "input"].contains(&name.as_str());
        assert!(known, "<{name}> from {from}\n{html}");
        for (attribute, value) in &attributes {
            let is_fine = match (name.as_str(), attribute.as_str()) {
                ("a", "href") => leads_out(value),
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
                ("pre", "class") => ["code", "raw", "rest"].contains(&value.as_str()),
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
        if !EMPTY.contains(&name.as_str()) {
            open.push(name);
        }
        assert!(open.len() < 50, "too deep from {from}");
    }
    assert!(open.is_empty(), "{open:?} left open from {from}\n{html}");
    for hidden in ['\u{202E}', '\u{2066}', '\u{200B}', '\u{1B}', '\u{E0041}'] {
        assert!(!html.contains(hidden), "{hidden:?} from {from}");
    }
}

fn leads_out(address: &str) -> bool {
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
fn no_payload_leaves_anything_that_acts() {
    let all = payloads::payloads();
    assert!(all.len() >= 300, "{}", all.len());
    for payload in &all {
        let begun = Instant::now();
        let html = html(payload);
        assert_harmless(&html, payload);
        let named = payload.len() * 12 + 60 * invisible_chars::NAMED as usize;
        assert!(html.len() < named + 20_000, "{} bytes from {}", html.len(), payload.len());
        assert!(begun.elapsed().as_millis() < 1_500, "{:?} for {payload}", begun.elapsed());
    }
    // One after the other in one text: what is left open by one meets the next.
    for part in all.chunks(40) {
        for between in ["\n\n", " ", "\n"] {
            let text = part.join(between);
            assert_harmless(&html(&text), &text.chars().take(200).collect::<String>());
        }
    }
}

#[test]
fn payloads_cut_anywhere_stay_harmless() {
    for payload in payloads::payloads().iter().filter(|payload| payload.len() < 200) {
        for (cut, _) in payload.char_indices().step_by(7) {
            assert_harmless(&html(&payload[..cut]), payload);
            assert_harmless(&html(&payload[cut..]), payload);
        }
    }
}

#[test]
fn raw_html_is_shown_as_the_text_it_is() {
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
fn links_lead_out_and_say_where() {
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
fn an_image_is_its_words_and_its_address() {
    let image = html("![a chart](https://example.org/c.png)");
    assert_eq!(
        image,
        "<p><span class=\"image\">a chart <span class=\"address\"><a href=\"https://example.org/c.png\" \
         rel=\"noopener nofollow ugc\">https://example.org/c.png</a></span></span></p>\n"
    );
    assert!(
        html("![x](data:image/png;base64,AAAA)").contains("<span class=\"address\">data:image/png")
    );
    // In a link there is no second link.
    let badge = html("[![badge](http://a.example/b.svg)](http://c.example/)");
    assert_eq!(badge.matches("<a ").count(), 1, "{badge}");
}

#[test]
fn headings_follow_the_pages_own_without_a_gap() {
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
fn a_mentioned_document_is_a_link_to_the_version_that_was_meant() {
    let link = format!(
        "<a class=\"doc\" href=\"/doc/{DOC}?version=2\" rel=\"noopener nofollow ugc\">{DOC}</a>"
    );
    for (text, shown) in [
        (
            format!("Plan: doc_id={DOC} (v1 → v2)"),
            format!("<p>Plan: doc_id={link} (v1 → v2)</p>\n"),
        ),
        (format!("`doc_id={DOC} (v2)`"), format!("<p><code>doc_id={link} (v2)</code></p>\n")),
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
}

#[test]
fn tables_scroll_in_a_box_that_is_called_like_their_columns() {
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
fn a_table_of_missing_cells_is_no_table() {
    let bomb = format!("|{}\n|{}\n{}", "h|".repeat(1000), "-|".repeat(1000), "|\n".repeat(3000));
    let html = html(&bomb);
    assert!(!html.contains("<td>") && html.len() < bomb.len() * 2, "{}", html.len());
}

#[test]
fn tasks_are_boxes_that_only_show() {
    assert_eq!(
        html("- [x] done\n- [ ] open"),
        "<ul>\n<li class=\"task\"><label><input type=\"checkbox\" disabled=\"\" checked=\"\"> done</label>\n</li>\n\
         <li class=\"task\"><label><input type=\"checkbox\" disabled=\"\"> open</label>\n</li>\n</ul>\n"
    );
    assert!(html("- [x] a\n\n- [ ] b").contains("<p><label><input"));
}

#[test]
fn lists_keep_their_numbers_and_their_spacing() {
    assert_eq!(html("3. a\n4. b"), "<ol start=\"3\">\n<li>a\n</li>\n<li>b\n</li>\n</ol>\n");
    assert_eq!(html("- a\n  - b"), "<ul>\n<li>a\n<ul>\n<li>b\n</li>\n</ul>\n</li>\n</ul>\n");
    assert_eq!(html("- a\n\n- b"), "<ul>\n<li><p>a</p>\n</li>\n<li><p>b</p>\n</li>\n</ul>\n");
    assert_eq!(html("- > a"), "<ul>\n<li><blockquote>\n<p>a</p>\n</blockquote>\n</li>\n</ul>\n");
}

#[test]
fn code_is_coloured_and_stays_code() {
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
fn what_is_nested_too_deep_keeps_its_words() {
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
fn a_huge_document_is_drawn_at_its_beginning_and_shown_to_its_end() {
    let text = "# Part\n\nSome *words* of a <b>plan</b>.\n\n".repeat(5 * 1024 * 1024 / 40);
    let begun = Instant::now();
    let html = html(&text);
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
    let (drawn, rest) = html.split_once("<pre class=\"rest\">").unwrap();
    assert!(drawn.ends_with(">\n") && drawn.contains("<em>words</em>"));
    assert!(rest.ends_with("&lt;/b&gt;.\n\n</pre>"));
    assert!(html.len() < text.len() * 2);
}

#[test]
fn hostile_lengths_stay_in_proportion() {
    for part in [
        "[",
        "![",
        "[a](",
        "*a **b ",
        "`",
        "`a``",
        "> ",
        "- ",
        "1. ",
        "<",
        "<a ",
        "&",
        "|",
        "|-",
        "\\",
        "~~",
        "_a_",
        "[x]: y\n",
        "http://a.b ",
        "www.",
        "a@b.c ",
        "\u{202E}",
        "0c5a44a3-42f6-4787-aa53-c5963099fa65 ",
        "-",
        "# a\n",
        "    x\n",
        "```\n",
        "<!--",
        "[a]\n",
        "|a|b|\n|-|-|\n",
        "\t",
        "<?",
        "<![CDATA[",
        "![a](b)",
        "***",
        "- [x] ",
        ">- ",
    ] {
        let text = part.repeat(DRAWN / part.len());
        let begun = Instant::now();
        let html = html(&text);
        let took = begun.elapsed();
        assert!(took.as_millis() < 3_000, "{took:?} for {part:?}");
        assert!(html.len() < text.len() * 16, "{} for {part:?}", html.len());
    }
}
