//! Hostile texts: what an agent could write to take over the page that shows it.
//!
//! `payloads.txt` has a JSON string in each line. A line that begins with `§` is a pattern: each
//! payload of its section is put in place of each `§` in it. A payload that runs sets
//! `window.__pwned` or opens a dialog; one that loads something asks `http://evil.invalid`.

/// Every payload. None is blank or contains U+0000, and each fits into an argument of 10,000 bytes.
pub(crate) fn payloads() -> Vec<String> {
    let text = |line: &str| serde_json::from_str::<String>(line).expect("a JSON string");
    let mut all = Vec::new();
    let mut patterns = Vec::new();
    for line in include_str!("payloads.txt").lines() {
        if line.starts_with('#') {
            patterns.clear();
        } else if let Some(pattern) = line.strip_prefix("§ ") {
            patterns.push(text(pattern));
        } else if !line.is_empty() && patterns.is_empty() {
            all.push(text(line));
        } else if !line.is_empty() {
            all.extend(patterns.iter().map(|pattern| pattern.replace('§', &text(line))));
        }
    }
    all.extend(giants());
    // The same again inside of other markup.
    let inner: Vec<String> = all.iter().filter(|text| text.len() < 300).cloned().collect();
    for (number, text) in inner.iter().enumerate() {
        let line = text.replace('\n', " ");
        let evil = format!("http://evil.invalid/{number}");
        all.push(match number % 8 {
            0 => format!("> - {line}"),
            1 => format!("| a | b |\n|---|---|\n| {} | x |", line.replace('|', "\\|")),
            2 => format!("# {line}\n\n{text}"),
            3 => format!("[{line}]({evil})"),
            4 => format!("![{line}]({evil}.png \"{line}\")"),
            5 => format!("```{line}\n{text}\n```"),
            6 => format!("`{line}` **{line}** ~~{line}~~"),
            _ => format!("- [x] {line}\n- [ ] <b>{line}"),
        });
    }
    all.retain(|text| text.len() <= 10_000);
    all
}

/// Texts that are too wide, too deep or too many for the page or the parser.
fn giants() -> Vec<String> {
    let wide = "W".repeat(9_000);
    let mut all: Vec<String> = ["", "    ", "# ", "- [x] ", "999999999. ", "<http://evil.invalid/"]
        .map(|before| format!("{before}{wide}"))
        .into();
    all.extend([
        format!("`{wide}`"),
        format!("```\n{wide}\n```"),
        format!("|a|\n|-|\n|{wide}|"),
        format!("<pre style='white-space:pre'>{wide}</pre>"),
        format!("|{}\n|{}\n|{}", "h|".repeat(500), "-|".repeat(500), "wide cell|".repeat(400)),
        format!("|{}\n|{}\n{}", "h|".repeat(200), "-|".repeat(200), "|\n".repeat(4000)),
        format!("[x](http://a.b/{} 'y')", "%20".repeat(3000)),
        format!("![{}](data:image/png;base64,{})", "W".repeat(3000), "A".repeat(6000)),
        format!("[x]: http://evil.invalid/{}\n\n{}", "long".repeat(1000), "[x] ".repeat(1400)),
        (0..90).map(|depth| format!("{}- {depth}\n", "  ".repeat(depth))).collect(),
    ]);
    for (before, part, times) in [
        ("|a|b|\n|-|-|\n", "|x|y|\n", 1500),
        ("doc_id=", "0c5a44a3-42f6-4787-aa53-c5963099fa65", 200),
        ("<table width=99999>", "<td>", 2000),
        ("a", "\u{489}", 4000),
        ("", "a\u{300}\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}\u{30A}", 450),
        ("", "\u{200B}\u{200C}\u{200D}", 1000),
    ] {
        all.push(format!("{before}{}", part.repeat(times)));
    }
    for part in [
        ">",
        "> ",
        "- ",
        "1. ",
        "> - ",
        "\u{A0}",
        "\u{2003}",
        "\t",
        "\u{FDFD}",
        "𒐫",
        "\u{202E}",
        "x\n\n",
        "\\\n",
        "# #\n",
        "---\n\n",
        "<div>",
        "</div>",
        "<b>",
        "<table><tr><td>",
        "<svg><math>",
        "*",
        "**a ",
        "_a__b_",
        "[",
        "[a](",
        "![",
        "`a``b```",
        "<",
        "&#x",
        "~~a",
    ] {
        all.push(format!("{}deep", part.repeat(9_000 / part.len())));
    }
    all
}
