//! Writes JSON responses, whole or piece by piece.

use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::error::Problem;
use crate::api::types::Success;

/// The size of most responses.
const USUAL: usize = 2048;

/// The result of a handler that answers with `data`.
pub(super) type JsonResult<T> = Result<Json<Success<T>>, Problem>;

/// A JSON response. axum's own type starts with 128 bytes and doubles them, which reallocates seven times
/// for a transcript of ten arguments.
#[derive(Debug)]
pub(super) struct Json<T>(pub(super) T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        let mut text = Vec::with_capacity(USUAL);
        match serde_json::to_writer(&mut text, &self.0) {
            Ok(()) => {
                let kind = HeaderValue::from_static("application/json");
                ([(CONTENT_TYPE, kind)], text).into_response()
            }
            Err(error) => Problem::fault(format!("writing JSON: {error}")).into_response(),
        }
    }
}

/// Splits the JSON of `whole` at its gaps: empty lists or texts whose content is sent piece by piece. A gap
/// is given by its start, such as `"arguments":[`. There is one part more than there are gaps.
pub(super) fn around<const PARTS: usize>(
    whole: &impl Serialize,
    gaps: &[&str],
) -> Result<[String; PARTS], Problem> {
    let fault = |why: &str| Problem::fault(format!("writing JSON: {why}"));
    let mut text = serde_json::to_string(whole).map_err(|error| fault(&error.to_string()))?;
    let mut parts = Vec::with_capacity(PARTS);
    // From the end, because a document's metadata comes before its text and may look like a gap.
    for gap in gaps.iter().rev() {
        let end = if gap.ends_with('[') { "]" } else { "\"" };
        let at = text.rfind(&format!("{gap}{end}")).ok_or_else(|| fault(gap))? + gap.len();
        parts.push(text.split_off(at));
    }
    parts.push(text);
    parts.reverse();
    parts.try_into().map_err(|_| fault("the number of gaps is wrong"))
}

/// Writes the items of a JSON list piece by piece, with a comma before each but the first.
#[derive(Debug, Default)]
pub(super) struct Items {
    is_begun: bool,
}

impl Items {
    /// Writes the next items.
    pub(super) fn write<T: Serialize>(
        &mut self,
        items: impl IntoIterator<Item = T>,
    ) -> Result<Vec<u8>, Problem> {
        let mut text = Vec::with_capacity(USUAL);
        for item in items {
            if std::mem::replace(&mut self.is_begun, true) {
                text.push(b',');
            }
            serde_json::to_writer(&mut text, &item)
                .map_err(|error| Problem::fault(format!("writing JSON: {error}")))?;
        }
        Ok(text)
    }
}

/// Escapes a part of a text, without the quotes around it.
pub(super) fn quoted(text: &str) -> Result<String, Problem> {
    let mut quoted = serde_json::to_string(text)
        .map_err(|error| Problem::fault(format!("writing JSON: {error}")))?;
    quoted.pop();
    quoted.remove(0);
    Ok(quoted)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_parts_with_content_in_the_gaps_are_valid_json() {
        let whole = json!({"metadata": {"content": ""}, "content": "", "versions": [], "end": 1});
        let [head, middle, end] =
            around(&whole, &["\"content\":\"", "\"versions\":["]).expect("both are there");
        let mut items = Items::default();
        let first = String::from_utf8(items.write([1, 2]).unwrap()).unwrap();
        let rest = String::from_utf8(items.write([3]).unwrap()).unwrap();
        let text = format!("{head}{}{middle}{first}{rest}{end}", quoted("a \"b\"\n").unwrap());
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        let kept = json!({"content": ""});
        let expected =
            json!({"metadata": kept, "content": "a \"b\"\n", "versions": [1, 2, 3], "end": 1});
        assert_eq!(read, expected);
        around::<2>(&whole, &["\"nothing\":["]).unwrap_err();
    }
}
