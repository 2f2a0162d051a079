//! As much of JSON Schema as the tools use, to hold their answers against. A keyword that is not
//! known here fails: nothing is believed unread.

use serde_json::Value;

/// Whether a value is as this schema says.
pub fn fits(value: &Value, schema: &Value) -> Result<(), String> {
    check(value, schema, &schema["$defs"], "")?;
    // What is not described cannot be relied on.
    let stray =
        value.as_object().unwrap().keys().find(|name| schema["properties"].get(*name).is_none());
    stray.map_or(Ok(()), |stray| Err(format!("{stray} is not described")))
}

fn check(value: &Value, schema: &Value, parts: &Value, place: &str) -> Result<(), String> {
    let Some(schema) = schema.as_object() else { return Err(format!("{place}: no schema")) };
    for (keyword, says) in schema {
        match keyword.as_str() {
            "$defs" | "description" | "format" | "default" => {}
            "$ref" => {
                let name = says.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                check(value, &parts[name], parts, place)?;
            }
            "type" => {
                let one = std::slice::from_ref(says);
                let kinds = says.as_array().map_or(one, Vec::as_slice);
                if !kinds.iter().any(|kind| is(value, kind.as_str().unwrap())) {
                    return Err(format!("{place}: {value} is not of type {says}"));
                }
            }
            "enum" => {
                if !says.as_array().unwrap().contains(value) {
                    return Err(format!("{place}: {value} is none of {says}"));
                }
            }
            "minimum" => {
                if value.as_f64().is_some_and(|number| number < says.as_f64().unwrap()) {
                    return Err(format!("{place}: {value} is below {says}"));
                }
            }
            "properties" => {
                for (name, inner) in says.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        check(value, inner, parts, &format!("{place}/{name}"))?;
                    }
                }
            }
            "required" => {
                for name in says.as_array().unwrap() {
                    if value.get(name.as_str().unwrap()).is_none() {
                        return Err(format!("{place}: {name} is missing"));
                    }
                }
            }
            "items" => {
                for (number, value) in value.as_array().into_iter().flatten().enumerate() {
                    check(value, says, parts, &format!("{place}/{number}"))?;
                }
            }
            "allOf" => {
                for inner in says.as_array().unwrap() {
                    check(value, inner, parts, place)?;
                }
            }
            "anyOf" | "oneOf" => {
                let all = says.as_array().unwrap();
                let tried: Vec<_> =
                    all.iter().map(|inner| check(value, inner, parts, place)).collect();
                let fitting = tried.iter().filter(|outcome| outcome.is_ok()).count();
                if fitting == 0 || (keyword == "oneOf" && fitting > 1) {
                    return Err(format!("{place}: {fitting} of {keyword} fit: {tried:?}"));
                }
            }
            other => return Err(format!("{place}: the keyword {other} is not known here")),
        }
    }
    Ok(())
}

fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("no such type: {other}"),
    }
}
