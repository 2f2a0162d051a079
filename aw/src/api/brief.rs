//! Shortens an answer to what an agent's next step needs: the agent pays for every byte again in
//! each later request of its model.

use serde_json::{Map, Value};

/// The fields that stay in an object, by the name of the field that holds it. A field that is false, null, zero
/// or empty goes, too.
const KEPT: [(&str, &[&str]); 12] = [
    (
        "argument",
        &["id", "debate_id", "seq", "type", "role", "parked", "close", "automatic", "created_at"],
    ),
    (NEWEST, &["id", "seq", "type", "role"]),
    ("motion", TEXT),
    ("arguments", TEXT),
    ("rulings", TEXT),
    ("missed", TEXT),
    (
        "debates",
        &[
            "id",
            "slug",
            "title",
            "debate_type",
            "state",
            "outcome",
            "project",
            "archived_at",
            "abandoned",
            "updated_at",
            "blocking",
            "last_argument",
        ],
    ),
    ("documents", &["document_id", "version", "summary", "deleted_at"]),
    (
        "points",
        &["id", "severity", "title", "state", "owes", "blocking", "late", "unchanged", "disputes"],
    ),
    ("statements", &["line", "target", "word", "point", "state", "quotes"]),
    ("quotes", &["line", "check"]),
    (
        "ledger",
        &["rounds", "blocking", "opponent_agrees", "agreed_to", "yours", "advice", "how", "held"],
    ),
];

/// The newest argument where it is also among the new ones.
const NEWEST: &str = "newest";

/// An argument whose text is shown.
const TEXT: &[&str] = &["id", "seq", "type", "role", "parked", "close", "automatic", "content"];

/// Fields of the data itself that are left out, and those that are left out when they say nothing.
const LEFT_OUT: [&str; 3] = ["presence", "next_before", "created_at"];
const LEFT_OUT_IF_EMPTY: [&str; 4] = ["own_rules", "author", "metadata", "deleted_at"];

/// The data without the fields that no next step needs.
pub fn brief(data: Value) -> Value {
    let Value::Object(mut fields) = data else { return data };
    fields.retain(|name, value| {
        let name = name.as_str();
        let goes_if_empty = LEFT_OUT_IF_EMPTY.contains(&name);
        !(LEFT_OUT.contains(&name) || goes_if_empty && is_nothing(value))
    });
    // The newest argument is among the new ones. Where none is new, its text stands here. A write has none.
    let of_newest = match fields.get("arguments") {
        None => "argument",
        Some(new) if is_nothing(new) => "motion",
        Some(_) => NEWEST,
    };
    let short = |(name, value): (String, Value)| {
        let value = match name.as_str() {
            "argument" => kept(of_newest, value),
            known => kept(known, value),
        };
        (name, value)
    };
    let mut brief: Map<String, Value> = fields.into_iter().map(short).collect();
    // Hosts show the beginning of a long answer: the arguments are the longest part.
    if brief.contains_key("motion")
        && let Some(arguments) = brief.shift_remove("arguments")
    {
        brief.insert("arguments".to_owned(), arguments);
    }
    Value::Object(brief)
}

fn kept(name: &str, value: Value) -> Value {
    let Some((_, fields)) = KEPT.iter().find(|(known, _)| *known == name) else { return value };
    match value {
        Value::Array(all) => all
            .into_iter()
            .map(|one| kept(name, one))
            // A quote that was found needs no further words.
            .filter(|one| name != "quotes" || one["check"] != "found")
            .collect(),
        Value::Object(object) => {
            let stays = |(name, value): &(String, Value)| {
                fields.contains(&name.as_str()) && !is_nothing(value)
            };
            let nested = object.into_iter().map(|(name, value)| {
                let value = if name == "points" { value } else { kept(&name, value) };
                (name, value)
            });
            Value::Object(nested.filter(stays).collect())
        }
        plain => plain,
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_u64() == Some(0),
        Value::Array(all) => all.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_is_kept_once_and_hashes_and_times_go() {
        let said = json!({
            "id": "a", "seq": 2, "type": "CLAIM", "role": "opponent", "content": "No", "hash": "0", "parked": false,
            "close": null, "created_at": "now", "author": "Codex",
        });
        let data = json!({"argument": said, "arguments": [said], "omitted": 0, "missed": []});
        let long =
            json!({"id": "a", "seq": 2, "type": "CLAIM", "role": "opponent", "content": "No"});
        let short = json!({"id": "a", "seq": 2, "type": "CLAIM", "role": "opponent"});
        let expected = json!({"argument": short, "arguments": [long], "omitted": 0, "missed": []});
        assert_eq!(brief(data), expected);
        let written =
            json!({"id": "a", "seq": 2, "type": "CLAIM", "role": "opponent", "created_at": "now"});
        assert_eq!(brief(json!({"argument": said})), json!({"argument": written}));
    }

    #[test]
    fn only_a_quote_that_is_not_as_it_should_be_is_shown() {
        let quotes =
            json!([{"line": 2, "check": "found", "version": 1}, {"line": 4, "check": "unchecked"}]);
        let data =
            json!({"statements": [{"line": 1, "target": "NEW", "point": null, "quotes": quotes}]});
        let expected = json!({"statements": [{"line": 1, "target": "NEW", "quotes": [{"line": 4, "check": "unchecked"}]}]});
        assert_eq!(brief(data), expected);
    }
}
