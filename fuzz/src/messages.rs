//! Messages of the Model Context Protocol, through the real router.

use std::time::Duration;

use aw::settings::Guard;
use axum::body::Body;
use axum::http::Request;
use serde_json::Value;

use crate::html::hides;
use crate::http::envelope;
use crate::scene::{Answer, Stage, play};

/// The longest wait for a waiting tool.
const HELD: Duration = Duration::from_millis(3);

/// The longest that any other message may take; it ends a hang.
const CEILING: Duration = Duration::from_secs(30);

/// Any bytes as messages to `/mcp`: the first line is the query, each further line a message.
///
/// - The answer is never a 5xx. It is JSON-RPC with a result or an error and the id of the request, or
///   the envelope, or an empty 202.
/// - A refused message has written nothing.
/// - Every line of another party's text is quoted.
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
            // Its name may contain escapes.
            let waits = asked.to_string().contains("wait");
            let patience = if waits { HELD } else { CEILING };
            let Some(answer) = world.send_within(request, patience) else { return };
            assert!(answer.status.as_u16() < 500, "{answer:?}");
            let refused = match last_message(&answer) {
                Some(reply) => is_refused(&reply, &asked, &answer),
                None => answer.status.as_u16() != 202,
            };
            if refused && !written {
                world.is_untouched(&format!("{asked} was answered with {answer:?}"));
            }
            written |= !refused;
        }
    });
}

/// The last message of an answer; `None` for the envelope or an empty answer.
fn last_message(answer: &Answer) -> Option<Value> {
    let kind = answer.headers.get("content-type").and_then(|kind| kind.to_str().ok());
    let body = str::from_utf8(&answer.body).expect("an answer is UTF-8");
    if kind.is_some_and(|kind| kind.starts_with("text/event-stream")) {
        let data = body.lines().filter_map(|line| line.strip_prefix("data:"));
        let reply = data.map(str::trim).filter(|data| !data.is_empty());
        let reply: Vec<Value> = reply
            .map(|data| serde_json::from_str(data).unwrap_or_else(|_| panic!("no JSON: {data}")))
            .collect();
        assert!(reply.iter().all(|message| message["jsonrpc"] == "2.0"), "{answer:?}");
        return reply.into_iter().next_back();
    }
    if body.is_empty() {
        assert_eq!(answer.status.as_u16(), 202, "{answer:?}");
        return None;
    }
    let reply: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("no JSON: {answer:?}"));
    if reply.get("success").is_some() {
        envelope(answer);
        return None;
    }
    assert_eq!(reply["jsonrpc"], "2.0", "{answer:?}");
    Some(reply)
}

/// Whether the request was refused. Asserts that the answer is well-formed.
fn is_refused(reply: &Value, asked: &Value, answer: &Answer) -> bool {
    match (reply.get("result"), reply.get("error")) {
        (None, Some(error)) => {
            assert!(error["code"].is_i64() && error["message"].is_string(), "{answer:?}");
            let id = reply.get("id").unwrap_or(&Value::Null);
            let known = id.is_null() || asked.is_null() || Some(id) == asked.get("id");
            assert!(known, "{asked}: {answer:?}");
            true
        }
        (Some(result), None) => {
            let known = asked.is_null() || reply.get("id") == asked.get("id");
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

/// Asserts that a text is quoted line by line below two lines of ours, wherever any reader sees a line
/// begin.
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
