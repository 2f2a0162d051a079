//! A server of the older system, which speaks our protocol without what came later.
//!
//! Our server names its version in every answer; the older one does not, and its answers lack fields.
//! The client recognises it by that, answer by answer. The moves of a debate work there: the client
//! fills in what it prints ([`adapted`]) and what it reads ([`completed`]). It refuses everything else
//! and says why.

use std::time::Duration;

use aw_core::{DebateId, Role, State};
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::client::{Call, Operation};
use super::super::error::Code;
use super::Refused;

/// The pause between two polls, which that server answers at once.
pub(super) const PACE: Duration = Duration::from_secs(1);

/// Whether data that came without a version is from the older server.
pub(super) fn is_its_answer(call: &Call, data: &Value) -> bool {
    let lacks = |name: &str| data[name].is_null();
    match call.operation {
        Operation::Health => data["status"] == "ok" && lacks("home_id"),
        Operation::Poll { .. } => {
            data["has_new_argument"].is_boolean()
                && lacks("available_actions")
                && lacks("waiting_since")
        }
        Operation::ListDebates { .. } => data["debates"].is_array() && lacks("total_is_exact"),
        Operation::ReadDebate => lacks("presence"),
        Operation::Write => data["argument"].is_object() && lacks("next_argument_id_to_wait"),
        Operation::Document | Operation::Other => false,
    }
}

/// Its answer in our form, or why there is none.
pub(super) fn adapted(call: &Call, mut data: Value) -> Result<Value, Value> {
    match &call.operation {
        Operation::Poll { role } => return Ok(polled(role, data)),
        Operation::ListDebates { by_state_only: false } => {
            return Err(refusal("it lists debates by their state only"));
        }
        Operation::ReadDebate => data["own_rules"] = false.into(),
        Operation::Write => {
            data["next_argument_id_to_wait"] = data["argument"]["id"].clone();
            data["missed"] = json!([]);
            data["replayed"] = false.into();
        }
        Operation::Health
        | Operation::ListDebates { .. }
        | Operation::Document
        | Operation::Other => {}
    }
    Ok(data)
}

/// Whether this is the refusal of its framework, whose code our server does not have.
pub(super) fn is_its_refusal(refused: &Refused) -> bool {
    refused.data.code == Code::Unknown("HTTP_ERROR".to_owned())
}

/// Its refusal in our form.
pub(super) fn explained(call: &Call, status: u16, refused: Refused) -> Value {
    let said = &refused.data.message;
    match (&refused.data.code, &call.operation) {
        _ if is_its_refusal(&refused) && status == 401 => {
            json!({"code": Code::AuthFailed, "message": said})
        }
        _ if is_its_refusal(&refused) => {
            refusal(&format!("it does not know this command ({said})"))
        }
        (Code::InvalidInput, Operation::Poll { role }) if role == Role::Arbitrator.as_str() => {
            refusal("there the arbitrator cannot wait, and rules on its page")
        }
        _ => refused.json,
    }
}

fn refusal(why: &str) -> Value {
    json!({
        "code": Code::RouteNotFound,
        "message": format!("this server is the older system: {why}"),
        "suggestion": "Stop the older server and unset DEBATE_SERVER_URL: the next command then starts a server \
                       of this aw, which imports its debates",
    })
}

/// It returns the newest argument of any role: one's own argument is no news.
fn polled(role: &str, mut data: Value) -> Value {
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
    let state = data["debate_state"].as_str().and_then(|state| state.parse().ok());
    data["available_actions"] = match (role.parse(), state) {
        (Ok(Role::Proposer), Some(State::AwaitingProposer)) => {
            json!(["SUBMIT_CLAIM", "SUBMIT_APPEAL", "SUBMIT_RESOLUTION"])
        }
        (Ok(Role::Opponent), Some(State::AwaitingOpponent)) => json!(["SUBMIT_CLAIM"]),
        _ => json!([]),
    };
    data["next_argument_id_to_wait"] = argument["id"].clone();
    data["arguments"] = json!([argument]);
    data["omitted"] = 0.into();
    data
}

/// Fills in every field that our types want. No command prints these fields.
pub(super) fn completed(call: &Call, mut data: Value) -> Value {
    match call.operation {
        Operation::Health => fill(
            &mut data,
            json!({"version": "", "home_id": "", "held_waits": 0, "open_sockets": 0, "database": ""}),
        ),
        Operation::Poll { .. } if data["has_new_argument"] == true => {
            complete_argument(&mut data["argument"]);
            complete_arguments(&mut data["arguments"]);
        }
        Operation::Poll { .. } => {
            fill(&mut data, json!({"debate_id": Uuid::nil(), "last_seen_seq": 0}));
            complete_id(&mut data["debate_id"]);
        }
        Operation::ListDebates { .. } => {
            fill(&mut data, json!({"total": 0, "total_is_exact": true}));
            for debate in data["debates"].as_array_mut().into_iter().flatten() {
                complete_debate(debate);
                let updated = debate["updated_at"].clone();
                let last = json!({
                    "id": Uuid::nil(), "seq": 0, "role": "proposer", "type": "MOTION",
                    "parked": false, "created_at": updated,
                });
                fill(debate, json!({"last_argument": last, "presence": nobody()}));
            }
        }
        Operation::ReadDebate => {
            let none = json!({"proposer": [], "opponent": [], "arbitrator": []});
            fill(
                &mut data,
                json!({
                    "rulings": [], "documents": [], "rules_origin": "built_in",
                    "available_actions": none, "presence": nobody(),
                }),
            );
            complete_debate(&mut data["debate"]);
            complete_argument(&mut data["motion"]);
            complete_arguments(&mut data["arguments"]);
        }
        Operation::Write => {
            complete_debate(&mut data["debate"]);
            complete_argument(&mut data["argument"]);
        }
        Operation::Document | Operation::Other => {}
    }
    data
}

fn nobody() -> Value {
    let absent = json!({"waiting": false});
    json!({"proposer": absent, "opponent": absent, "arbitrator": absent})
}

fn complete_debate(debate: &mut Value) {
    fill(debate, json!({"resolution_policy": "auto"}));
    complete_id(&mut debate["id"]);
    complete_time(&mut debate["created_at"]);
    complete_time(&mut debate["updated_at"]);
}

fn complete_arguments(arguments: &mut Value) {
    arguments.as_array_mut().into_iter().flatten().for_each(complete_argument);
}

fn complete_argument(argument: &mut Value) {
    let nil = Uuid::nil();
    fill(
        argument,
        json!({
            "debate_id": nil, "client_request_id": nil, "parked": false, "automatic": false,
            "via": "api", "hash": "0".repeat(64),
        }),
    );
    complete_id(&mut argument["debate_id"]);
    complete_time(&mut argument["created_at"]);
}

/// Its debates may have ids that are not UUIDs.
fn complete_id(id: &mut Value) {
    if let Some(name) = id.as_str()
        && name.parse::<DebateId>().is_err()
    {
        *id = DebateId::of_former_id(name).to_string().into();
    }
}

/// It writes times as SQLite does: `2026-02-07 05:32:50`, in UTC.
fn complete_time(time: &mut Value) {
    if let Some(text) = time.as_str()
        && !text.ends_with('Z')
    {
        *time = format!("{}Z", text.replace(' ', "T")).into();
    }
}

/// Adds fields that are missing or null.
fn fill(data: &mut Value, defaults: Value) {
    let (Some(fields), Value::Object(defaults)) = (data.as_object_mut(), defaults) else { return };
    for (name, value) in defaults {
        let field = fields.entry(name).or_insert(Value::Null);
        if field.is_null() {
            *field = value;
        }
    }
}
