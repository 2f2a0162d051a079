//! Finds `<details>` in raw HTML, the only block of HTML that is drawn.

/// How many `details` may be open at a time.
const OPEN: usize = 6;

/// A tag of `details`, or the text between two of them.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DetailsTag<'t> {
    Begin { summary: &'t str },
    Text(&'t str),
    End,
}

/// The tags in a block of raw HTML, while so many are open; none if it is anything else.
pub(super) fn tags(html: &str, mut open: usize) -> Option<Vec<DetailsTag<'_>>> {
    let mut tags = Vec::new();
    let mut rest = html.trim();
    while !rest.is_empty() {
        let begin = ["<details>", "<details open>"].iter().find_map(|tag| rest.strip_prefix(tag));
        if let Some(after) = begin.filter(|_| open < OPEN) {
            let after = after.trim_start();
            let (summary, after) = match after.strip_prefix("<summary>") {
                Some(inner) => inner.split_once("</summary>")?,
                None => ("", after),
            };
            open += 1;
            tags.push(DetailsTag::Begin { summary: summary.trim() });
            rest = after.trim_start();
        } else if let Some(after) = rest.strip_prefix("</details>").filter(|_| open > 0) {
            open -= 1;
            tags.push(DetailsTag::End);
            rest = after.trim_start();
        } else if tags.is_empty() || rest.starts_with('<') {
            return None;
        } else {
            let end = rest.find("</details>").unwrap_or(rest.len());
            tags.push(DetailsTag::Text(rest[..end].trim()));
            rest = &rest[end..];
        }
    }
    (!tags.is_empty()).then_some(tags)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_details_are_found() {
        let begin = |summary| DetailsTag::Begin { summary };
        assert_eq!(tags("<details>\n", 0), Some(vec![begin("")]));
        assert_eq!(
            tags("<details open><summary>The log</summary>\nline <b>\n</details>\n", 0),
            Some(vec![begin("The log"), DetailsTag::Text("line <b>"), DetailsTag::End])
        );
        assert_eq!(tags("</details>", 1), Some(vec![DetailsTag::End]));
        for other in [
            "</details>",
            "<div>",
            "<details onclick=x>",
            "<details><summary>a",
            "<details><script>",
            "text",
        ] {
            assert_eq!(tags(other, 0), None, "{other}");
        }
        assert_eq!(tags("<details>", OPEN), None);
    }
}
