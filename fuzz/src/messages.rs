//! Messages of the Model Context Protocol, through the real router.

use std::time::Duration;

use aw::settings::Guard;
use axum::body::Body;
use axum::http::Request;
use serde_json::Value;

use crate::html::hides;
use crate::http::envelope;
use crate::scene::{Answer, Stage, play};

/// How long a tool that waits is waited for.
const HELD: Duration = Duration::from_millis(3);

/// How long any other message may take. It only ends what would otherwise never end.
const CEILING: Duration = Duration::from_secs(30);

/// Anything as messages to `/mcp`: the first line is the query, each further line a message.
///
/// - The answer is never a 5xx. It is JSON-RPC with either a result or an error, under the id of
///   what was asked, or it is the envelope, or nothing but 202.
/// - What is refused has written nothing.
/// - No line of somebody else's words begins without the mark of a quote.
pub fn messages(data: &[u8]) {
    thread_local!(static STAGE: Stage = const { Stage::new(Guard::default) });
    let mut lines = data.split(|byte| *byte == b'\n');
    let Some(query) = lines.next().and_then(|query| str::from_utf8(query).ok()) else { return };
    play(&STAGE, |world| {
        let mut written = false;
        for line in lines.take(6) {
            let body = world.named(line);
            let request = Request::post(format!("/mcp?{query}"))
                .header("host", "localhost")
                .header("content-type", "application/json")
                .header("mcp-protocol-version", "2025-11-25");
            let Ok(request) = request.body(Body::from(body.clone())) else { return };
            let asked = serde_json::from_slice::<Value>(&body).unwrap_or_default();
            // Its name may be written in escapes.
            let waits = asked.to_string().contains("wait");
            let patience = if waits { HELD } else { CEILING };
            let Some(answer) = world.send_within(request, patience) else { return };
            assert!(answer.status.as_u16() < 500, "{answer:?}");
            let refused = match told(&answer) {
                Some(told) => is_refused(&told, &asked, &answer),
                None => answer.status.as_u16() != 202,
            };
            if refused && !written {
                world.is_untouched(&format!("{asked} was answered with {answer:?}"));
            }
            written |= !refused;
        }
    });
}

/// The last message of an answer; none if it is the envelope, or nothing.
fn told(answer: &Answer) -> Option<Value> {
    let kind = answer.headers.get("content-type").and_then(|kind| kind.to_str().ok());
    let body = str::from_utf8(&answer.body).expect("an answer is UTF-8");
    if kind.is_some_and(|kind| kind.starts_with("text/event-stream")) {
        let data = body.lines().filter_map(|line| line.strip_prefix("data:"));
        let told = data.map(str::trim).filter(|data| !data.is_empty());
        let told: Vec<Value> = told
            .map(|data| serde_json::from_str(data).unwrap_or_else(|_| panic!("no JSON: {data}")))
            .collect();
        assert!(told.iter().all(|message| message["jsonrpc"] == "2.0"), "{answer:?}");
        return told.into_iter().next_back();
    }
    if body.is_empty() {
        assert_eq!(answer.status.as_u16(), 202, "{answer:?}");
        return None;
    }
    let told: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("no JSON: {answer:?}"));
    if told.get("success").is_some() {
        envelope(answer);
        return None;
    }
    assert_eq!(told["jsonrpc"], "2.0", "{answer:?}");
    Some(told)
}

/// Whether what was asked was refused. Asserts that it was answered well.
fn is_refused(told: &Value, asked: &Value, answer: &Answer) -> bool {
    match (told.get("result"), told.get("error")) {
        (None, Some(error)) => {
            assert!(error["code"].is_i64() && error["message"].is_string(), "{answer:?}");
            let id = told.get("id").unwrap_or(&Value::Null);
            let known = id.is_null() || asked.is_null() || Some(id) == asked.get("id");
            assert!(known, "{asked}: {answer:?}");
            true
        }
        (Some(result), None) => {
            let known = asked.is_null() || told.get("id") == asked.get("id");
            assert!(known, "{asked}: {answer:?}");
            let blocks = result["content"].as_array().into_iter().flatten().skip(1);
            for block in blocks.filter_map(|block| block["text"].as_str()) {
                is_quoted(block);
            }
            result["isError"] == true
        }
        (None, None) | (Some(_), Some(_)) => panic!("neither one nor the other: {answer:?}"),
    }
}

/// Asserts that somebody's words are quoted line by line, under two lines of ours, wherever any
/// reader would see a line begin.
fn is_quoted(block: &str) {
    let ends =
        |c: char| matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let lines = block.trim_end_matches('\n').split(ends);
    for line in lines.skip(2) {
        assert!(line.starts_with('>'), "{line:?} in {block:?}");
        let shown =
            |c: char| matches!(c, '\u{200b}' | '\u{ad}' | '\u{2060}'..='\u{2065}' | '\u{feff}');
        assert!(!line.contains(|c| hides(c) && !shown(c)), "{line:?} in {block:?}");
    }
}
