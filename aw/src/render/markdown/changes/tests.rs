//! Changes are drawn as people expect them, and hostile versions stay harmless.

use super::super::tests::{assert_harmless_with, payloads::payloads};
use super::*;
use crate::kit::texts::Language;

const LONG: Duration = Duration::from_secs(60);

/// The elements with their classes that changes add.
const MARKS: [(&str, &str); 9] = [
    ("del", "gone"),
    ("details", "unchanged"),
    ("div", "change"),
    ("ins", ""),
    ("li", "gone"),
    ("li", "task gone"),
    ("p", "unchanged"),
    ("span", "tag"),
    ("summary", ""),
];

fn found(old: &str, new: &str) -> RenderedChanges {
    changes(old, new, 4, Language::English.phrases(), LONG).unwrap()
}

/// The HTML of the changes in short form: `[-gone-]`, `[+new+]`, one line.
fn drawn(old: &str, new: &str) -> String {
    let html = found(old, new).html;
    assert_harmless_with(&html, new, &MARKS);
    let html = html.replace("<del class=\"gone\">", "[-").replace("<ins>", "[+").replace('\n', "");
    html.replace("</del>", "-]").replace("</ins>", "+]")
}

fn change(html: &str) -> String {
    format!("<div class=\"change\">{html}</div>")
}

#[test]
fn changed_words_are_marked_in_the_rendered_text() {
    assert_eq!(
        drawn("Limit of **5** per token.", "Limit of **10** per token and user."),
        change(
            "<p>Limit of [-<strong>5</strong>-][+<strong>10</strong>+] per token[+ and user+].</p>"
        )
    );
    assert_eq!(
        drawn("# The pool\n\nOne of `a` is here.", "# The *pool*\n\nOne of `a` is here."),
        change("<h3>The [-pool-][+<em>pool</em>+]</h3>") + "<p>One of <code>a</code> is here.</p>"
    );
    assert_eq!(
        drawn("Vec<String> & more words", "Vec<str> & more words"),
        change("<p>Vec&lt;[-String-][+str+]&gt; &amp; more words</p>")
    );
    // A text that has little in common with the old one replaces it as a whole.
    assert_eq!(
        drawn("One lock for all of them", "Each row keeps its own lease"),
        change("<p>[-One lock for all of them-]</p><p>[+Each row keeps its own lease+]</p>")
    );
}

#[test]
fn a_paragraph_with_other_line_breaks_is_unchanged() {
    let wrapped = found("one two\nthree four", "one two three\nfour");
    assert_eq!(wrapped.count, 0);
    assert!(!wrapped.html.contains("<ins>"), "{}", wrapped.html);
}

#[test]
fn items_rows_and_lines_of_code_change_one_by_one() {
    assert_eq!(
        drawn("1. keep this\n2. drop that\n3. last", "1. keep this\n2. last\n3. one more item"),
        change(
            "<ol><li>keep this</li><li class=\"gone\">[-drop that-]</li><li>last</li>\
             <li>[+one more item+]</li></ol>"
        )
    );
    let table = |limit: &str| format!("| name | limit |\n|---|---|\n| a | 1 |\n| b | {limit} |");
    let rows = drawn(&table("5"), &table("10"));
    assert!(rows.contains("<tr><td>a</td><td>1</td></tr>"), "{rows}");
    assert!(rows.contains("<tr><td>b</td><td>[-5-][+10+]</td></tr>"), "{rows}");
    let code = |line: &str| format!("```\nfirst line\n{line}\nlast line\n```");
    let lines = found(&code("let a = 1;"), &code("let a = 2;")).html;
    assert!(
        lines.contains("first line\nlet a = <del class=\"gone\">1</del><ins>2</ins>;\nlast line\n"),
        "{lines}"
    );
    assert!(
        drawn("- [ ] test it", "- [x] test it").contains(
            "[-<input type=\"checkbox\" disabled=\"\" aria-label=\"[ ]\">-]\
             [+<input type=\"checkbox\" disabled=\"\" checked=\"\" aria-label=\"[x]\">+] test it"
        ),
        "{}",
        drawn("- [ ] test it", "- [x] test it")
    );
}

#[test]
fn unchanged_sections_are_folded_and_new_ones_say_so() {
    let sections = |from: usize, to: usize| -> String {
        let section = |number| {
            format!("## Section {number}\n\nFirst words of {number}.\n\nSecond of {number}.\n\n")
        };
        (from..=to).map(section).collect()
    };
    let old = sections(1, 9);
    let new = old.replace("Second of 5.", "Second thought of 5.") + "## The pool\n\nIt is new.\n";
    let changed = found(&old, &new);
    assert_eq!((changed.count, changed.left_out, changed.is_coarse), (2, 0, false));
    let html = &changed.html;
    assert_eq!(
        html.matches("<details class=\"unchanged\"><summary>4 sections").count(),
        2,
        "{html}"
    );
    let shown = html.split("<details").map(|part| part.split("</details>").last().unwrap());
    let shown: String = shown.collect();
    assert!(shown.contains("<h3>Section 5</h3>"), "{shown}");
    assert!(shown.contains("Second <ins>thought </ins>of 5."), "{shown}");
    assert!(!shown.contains("Section 4") && !shown.contains("Section 6"), "{shown}");
    assert!(
        shown.contains("<h3><ins>The pool</ins> <span class=\"tag\">new in v4</span></h3>"),
        "{shown}"
    );
    assert_eq!(found(&old, &old).count, 0);
}

#[test]
fn the_headings_above_a_change_are_shown() {
    let words = "Words that stay as they are, in a paragraph of its own.\n\n".repeat(9);
    let section = |name: &str| format!("## {name}\n\n{words}### Part of {name}\n\n{words}");
    let old = format!("# Plan\n\n{words}{}{}", section("One"), section("Two"));
    let html = found(&old, &format!("{old}The end.\n")).html;
    let shown = html.split("<details").map(|part| part.split("</details>").last().unwrap());
    let headings: Vec<String> = shown
        .flat_map(|part| part.split("<h").skip(1).map(|heading| heading[..1].to_owned()))
        .collect();
    // The plan, section two and its part; neither section one nor its part.
    assert_eq!(headings, ["3", "4", "5"], "{html}");
}

#[test]
fn without_deletions_the_new_text_is_left_and_without_insertions_the_old_one() {
    let texts = [
        "",
        "one two three",
        "one *two* four",
        "# Head\n\n- a b c\n- d e f\n  - g h\n\n> quoted words",
        "# Head\n\n- a b x\n- g h\n\n> quoted `words` here\n\n---\n",
        "| a | b |\n|---|---|\n| one | two |\n| three | four |",
        "| a | b |\n|---|---|\n| one | 2 |",
        "| a | b | c |\n|---|---|---|\n| one | two | three |",
        "```rust\nfn a() {}\n// <b> &amp;\n```\n\nafter",
        "```rust\nfn a() { b(); }\n// <b>\n\n// c\n```\n\n- [x] after\n- [ ] all",
        "<div>\nraw\n</div>\n\n[a](http://a.example/) and **b [c](http://c.example/)**",
        "1. one\n\n   two\n2. three\n\nשלום \u{202E}x",
    ];
    let text_without = |html: &str, open: &str, close: &str| -> String {
        let mut kept = html.to_owned();
        for (open, close) in
            [(open, close), ("<summary>", "</summary>"), ("<span class=\"tag\">", "</span>")]
        {
            while let Some(begin) = kept.find(open) {
                let end = begin + kept[begin..].find(close).unwrap() + close.len();
                kept.replace_range(begin..end, "");
            }
        }
        let text = text_of(&kept);
        text.split_whitespace().collect::<String>()
    };
    let words = |text: &str| {
        let html = super::super::render(text, &|_| None);
        text_of(&html).split_whitespace().collect::<String>()
    };
    for (old, new) in texts.iter().flat_map(|old| texts.iter().map(move |new| (old, new))) {
        let html = found(old, new).html;
        assert_harmless_with(&html, new, &MARKS);
        assert_eq!(text_without(&html, "<del class=\"gone\">", "</del>"), words(new), "{html}");
        assert_eq!(text_without(&html, "<ins>", "</ins>"), words(old), "{html}");
    }
}

#[test]
fn changes_between_payloads_are_harmless() {
    let all = payloads();
    for (at, payload) in all.iter().enumerate() {
        let other = &all[(at * 7 + 1) % all.len()];
        for (old, new) in [
            (payload.clone(), other.clone()),
            (payload.clone(), format!("{payload} {other}")),
            (format!("a {payload} b"), format!("a {} b", payload.replace('a', "<b>"))),
            (String::new(), payload.clone()),
        ] {
            let Some(changed) = changes(&old, &new, 2, Language::English.phrases(), LONG) else {
                continue;
            };
            assert_harmless_with(&changed.html, &new, &MARKS);
        }
    }
}

#[test]
fn long_and_hostile_texts_take_bounded_time() {
    let begun = Instant::now();
    let quick = Duration::from_millis(200);
    let t = Language::English.phrases();
    let huge = |word: &str| -> String {
        let section = |n: usize| format!("## Section {n}\n\nSome *words* of a plan, {n}.\n\n");
        let all: String = (0..130_000).map(section).collect();
        all.replace("plan, 65000.", word)
    };
    // One change in 5 MiB is drawn: what is equal before and after it is left out.
    let found = changes(&huge("plan."), &huge("scheme."), 2, t, LONG).unwrap();
    assert_eq!(found.count, 1);
    assert!(found.html.starts_with("<p class=\"unchanged\">65000 sections unchanged</p>"));
    assert!(
        found.html.contains("<del class=\"gone\">plan</del><ins>scheme</ins>"),
        "{}",
        found.html
    );
    assert!(found.html.ends_with("<p class=\"unchanged\">64999 sections unchanged</p>"));
    // Too much to draw.
    let other = huge("x").replace("words", "wards");
    assert_eq!(changes(&huge("x"), &other, 2, t, quick), None);
    // The same paragraphs in another order, and one long paragraph.
    let shuffled = |step: usize| -> String {
        (0..20_000).map(|n| format!("{}\n\n", n * step % 20_000)).collect()
    };
    let found = changes(&shuffled(7_919), &shuffled(3_571), 2, t, quick).unwrap();
    assert!(found.html.len() < 4 * 1024 * 1024, "{}", found.html.len());
    let found = changes(&"word ".repeat(50_000), &"ward ".repeat(50_000), 2, t, quick).unwrap();
    assert!(found.html.len() < 2 * 1024 * 1024, "{}", found.html.len());
    // Quadratic work would take hours; a busy machine takes seconds.
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}
