//! A server of the older system, which speaks our protocol without what came later.
//!
//! Ours names its version in every answer; the older server does not, and its answers lack fields. It
//! is recognised by that, answer by answer. The moves of a debate work there: what an answer lacks is
//! filled in. Everything else is refused in words that say why.

use std::time::Duration;

use serde_json::{Value, json};

use super::Call;

/// How long it is left in peace after a poll, which it answers at once.
pub(super) const PACE: Duration = Duration::from_secs(1);

/// What a list can be asked for there.
const LISTED_BY: [&str; 3] = ["state", "limit", "offset"];

/// Whether this is a poll.
pub(super) fn is_poll(call: Call<'_>) -> bool {
    matches!(call, Call::Get(path) if path.contains("/poll?"))
}

/// Whether data that came without a version is the older server's.
pub(super) fn is_its_answer(call: Call<'_>, data: &Value) -> bool {
    match call {
        Call::Get(_) if is_poll(call) => {
            data["has_new_argument"].is_boolean()
                && data["available_actions"].is_null()
                && data["waiting_since"].is_null()
        }
        Call::Get(path) if path.starts_with("/debates?") || path == "/debates" => {
            data["debates"].is_array() && data["total_is_exact"].is_null()
        }
        Call::Get(path) => path.starts_with("/debates/") && data["presence"].is_null(),
        Call::Post(..) => {
            data["argument"].is_object() && data["next_argument_id_to_wait"].is_null()
        }
        Call::Delete(_) => false,
    }
}

/// Its answer as ours would be, or why it cannot be.
pub(super) fn adapted(call: Call<'_>, data: Value) -> Result<Value, Value> {
    match call {
        Call::Get(path) if is_poll(call) => Ok(polled(path, data)),
        Call::Get(path) if !path.starts_with("/debates/") => {
            let asked = path.split_once('?').map_or("", |(_, query)| query).split('&');
            let names =
                asked.filter_map(|part| part.split('=').next()).filter(|name| !name.is_empty());
            match names.into_iter().find(|name| !LISTED_BY.contains(name)) {
                Some(_) => Err(refusal("it lists debates by their state only")),
                None => Ok(data),
            }
        }
        Call::Get(_) => {
            let mut data = data;
            data["own_rules"] = false.into();
            Ok(data)
        }
        Call::Delete(_) => Ok(data),
        Call::Post(..) => Ok(written(data)),
    }
}

/// Its refusal as ours would be.
pub(super) fn explained(call: Call<'_>, status: u16, error: Value) -> Value {
    let said = error["message"].as_str().unwrap_or_default();
    match (error["code"].as_str(), status, call) {
        (Some("HTTP_ERROR"), 401, _) => json!({"code": "AUTH_FAILED", "message": said}),
        (Some("HTTP_ERROR"), _, _) => refusal(&format!("it does not know this command ({said})")),
        (Some("INVALID_INPUT"), _, Call::Get(path))
            if is_poll(call) && query(path, "role") == Some("arbitrator") =>
        {
            refusal("there the arbitrator cannot wait, and rules on its page")
        }
        _ => error,
    }
}

fn refusal(why: &str) -> Value {
    json!({
        "code": "ROUTE_NOT_FOUND",
        "message": format!("this server is the older system: {why}"),
        "suggestion": "Stop the older server and unset DEBATE_SERVER_URL: the next command then starts a server \
                       of this aw, which imports its debates",
    })
}

/// The value of a parameter in the query of this path.
fn query<'a>(path: &'a str, name: &str) -> Option<&'a str> {
    let (_, query) = path.split_once('?')?;
    query.split('&').find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
}

fn written(mut data: Value) -> Value {
    data["next_argument_id_to_wait"] = data["argument"]["id"].clone();
    data["missed"] = json!([]);
    data["replayed"] = false.into();
    data
}

/// It hands back the newest argument whoever wrote it: what one wrote oneself is no news.
fn polled(path: &str, mut data: Value) -> Value {
    let role = query(path, "role").unwrap_or_default();
    if data["has_new_argument"] != true {
        return data;
    }
    let argument = data["argument"].clone();
    if argument["role"] == role && data["action"] != "debate_closed" {
        return json!({
            "has_new_argument": false,
            "debate_state": data["debate_state"],
            "last_seen_seq": argument["seq"],
            "last_argument_id": argument["id"],
        });
    }
    let state = data["debate_state"].as_str().unwrap_or_default();
    data["available_actions"] = match (role, state) {
        ("proposer", "AWAITING_PROPOSER") => {
            json!(["SUBMIT_CLAIM", "SUBMIT_APPEAL", "SUBMIT_RESOLUTION"])
        }
        ("opponent", "AWAITING_OPPONENT") => json!(["SUBMIT_CLAIM"]),
        _ => json!([]),
    };
    data["next_argument_id_to_wait"] = argument["id"].clone();
    data["arguments"] = json!([argument]);
    data["omitted"] = 0.into();
    data
}
