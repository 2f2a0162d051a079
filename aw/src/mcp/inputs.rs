//! The arguments of each tool: one struct a tool, which is parsed, described and repeated in `next`.
//!
//! Everything is flat and of one type, and no format is named: some hosts take no more than that.

use std::fmt;
use std::str::FromStr;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::tools::{Scope, Tool};
use crate::api::types::{ResolutionPolicyText, RoleText, StateText};

/// A whole number. Some models write it as 20.0 or as a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(super) struct Whole(pub(super) u64);

/// A number of seconds, 0 or more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Seconds(pub(super) f64);

/// Yes or no. Some models write it as a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(super) struct Flag(pub(super) bool);

impl Flag {
    /// Whether the flag was given and is true.
    pub(super) fn is_set(flag: Option<Self>) -> bool {
        flag == Some(Flag(true))
    }
}

/// Reads a number from a number or a text.
fn number<'de, D: Deserializer<'de>, T: FromStr>(
    deserializer: D,
    wanted: &str,
) -> Result<T, D::Error> {
    let written = match Value::deserialize(deserializer)? {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text,
        _ => return Err(D::Error::custom(wanted)),
    };
    let whole = written.strip_suffix(".0").unwrap_or(&written);
    whole.parse().map_err(|_| D::Error::custom(wanted))
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        number(deserializer, "a whole number, 0 or more").map(Whole)
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        number(deserializer, "a number of seconds, 0 or more").map(Seconds)
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Bool(is_set) => Ok(Flag(is_set)),
            Value::String(text) if text == "true" => Ok(Flag(true)),
            Value::String(text) if text == "false" => Ok(Flag(false)),
            _ => Err(D::Error::custom("true or false")),
        }
    }
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.fract() == 0.0 {
            true => serializer.serialize_u64(self.0 as u64),
            false => serializer.serialize_f64(self.0),
        }
    }
}

macro_rules! described_as {
    ($($name:ident $schema:tt)+) => {$(
        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    )+};
}

described_as! {
    Whole {"type": "integer", "minimum": 0}
    Seconds {"type": "number", "minimum": 0}
    Flag {"type": "boolean"}
}

/// The structs of the tools. A tool that writes also has an author and a request id.
macro_rules! inputs {
    ($(#[$of:meta])* $name:ident {$($body:tt)*} $($rest:tt)*) => {
        inputs!(@struct $(#[$of])* $name {$($body)*});
        inputs!($($rest)*);
    };
    ($(#[$of:meta])* signed $name:ident {$($body:tt)*} $($rest:tt)*) => {
        inputs!(@struct $(#[$of])* $name {
            $($body)*
            /// A label of who writes, shown beside the role
            #[schemars(length(min = 1, max = 80))]
            pub(super) author: Option<String>,
            /// Makes a retry recognisable: a UUID. Leave it out; it is made
            pub(super) client_request_id: Option<String>,
        });
        inputs!($($rest)*);
    };
    (@struct $(#[$of:meta])* $name:ident {$($body:tt)*}) => {
        $(#[$of])*
        #[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
        pub(super) struct $name {$($body)*}
    };
    () => {};
}

inputs! {
    /// Opens a debate.
    signed DebateCreate {
        /// What it is called: one line
        #[schemars(length(min = 1, max = 200))]
        pub(super) title: String,
        /// coding_plan_debate (a plan for code), general_debate (anything else), or a type of your user's own
        #[serde(rename = "type")]
        pub(super) debate_type: String,
        #[schemars(length(min = 1), description = "The MOTION in Markdown: what you propose and what it is for, \
            the document that holds it as doc_id=<document_id> (v1), what is decided already, where you are least sure")]
        pub(super) content: String,
        /// auto (usual): your RESOLUTION closes the debate; arbitrator: it waits for a RULING
        #[schemars(with = "Option<ResolutionPolicyText>")]
        pub(super) resolution_policy: Option<String>,
        /// The debate's id, if it must be known before; made without it: a UUID
        pub(super) debate_id: Option<String>,
    }

    /// Reads a debate.
    DebateGetContext {
        /// The debate: a UUID
        pub(super) debate_id: String,
        /// Say what this role should call now
        #[schemars(with = "Option<RoleText>")]
        pub(super) role: Option<String>,
        /// So many of the newest arguments besides the motion; 10 without it
        pub(super) limit: Option<Whole>,
    }

    /// Answers the other side.
    signed DebateSubmit {
        /// The debate: a UUID
        pub(super) debate_id: String,
        /// Your role
        #[schemars(required, extend("enum" = ["proposer", "opponent"]))]
        pub(super) role: Option<String>,
        /// The argument that you answer: a UUID
        pub(super) target_id: String,
        /// The CLAIM in Markdown, every open issue with its status
        #[schemars(length(min = 1))]
        pub(super) content: String,
    }

    /// Waits for one's move.
    DebateWait {
        /// The debate: a UUID
        pub(super) debate_id: String,
        /// Your role
        #[schemars(required, with = "RoleText")]
        pub(super) role: Option<String>,
        /// The newest argument that you have seen; without it all is new: a UUID
        pub(super) argument_id: Option<String>,
        #[schemars(description = "Seconds to wait, 0 asks once. Without it 110 if progress is reported to you, \
            else 50: give it only when your host cuts calls off sooner")]
        pub(super) deadline: Option<Seconds>,
        /// Which wait in a row this is. It only makes each call differ from the one before: count it up
        pub(super) attempt: Option<Whole>,
    }

    /// Puts a dispute before the arbitrator.
    signed DebateAppeal {
        /// The debate: a UUID
        pub(super) debate_id: String,
        /// The argument in dispute: a UUID
        pub(super) target_id: String,
        /// The APPEAL in Markdown: context, both positions, options
        #[schemars(length(min = 1))]
        pub(super) content: String,
    }

    /// Asks to complete the debate.
    signed DebateRequestCompletion {
        /// The debate: a UUID
        pub(super) debate_id: String,
        /// The newest argument of the opponent: a UUID
        pub(super) target_id: String,
        /// The RESOLUTION in Markdown: what was settled, final documents, what is left open
        #[schemars(length(min = 1))]
        pub(super) content: String,
    }

    /// Lists debates.
    DebateList {
        /// Only those in this state
        #[schemars(with = "Option<StateText>")]
        pub(super) state: Option<String>,
        /// Only those of this type
        #[serde(rename = "type")]
        pub(super) debate_type: Option<String>,
        /// Only those that wait for an opponent who has not spoken yet
        pub(super) pending_first_opponent: Option<Flag>,
        /// Only those to which a RULING is owed
        pub(super) needs_arbitrator: Option<Flag>,
        /// Only those whose title contains this
        pub(super) search: Option<String>,
        /// At most so many, 500 at the most; 50 without it
        pub(super) limit: Option<Whole>,
        /// Leave out so many
        pub(super) offset: Option<Whole>,
    }

    /// Settles what is pending.
    signed DebateRuling {
        /// The debate: a UUID
        pub(super) debate_id: String,
        /// What is ruled on; without it whatever is pending. With it a retry is recognised: a UUID
        pub(super) target_id: Option<String>,
        /// The RULING in Markdown: the decision, the reasons, what the proposer must do
        #[schemars(length(min = 1))]
        pub(super) content: String,
        /// End the debate with it
        pub(super) close: Option<Flag>,
    }

    /// Stops both agents.
    signed DebateIntervention {
        /// The debate: a UUID
        pub(super) debate_id: String,
        /// Why; may be left out
        pub(super) content: Option<String>,
    }

    /// Keeps a new document.
    signed DocsCreate {
        /// What it is, in one line
        #[schemars(length(min = 1, max = 500))]
        pub(super) summary: String,
        /// The text, whole
        #[schemars(length(min = 1))]
        pub(super) content: String,
        /// Whatever is to be kept with it
        pub(super) metadata: Option<Map<String, Value>>,
    }

    /// Keeps the next version of a document.
    signed DocsSubmit {
        /// The document: a UUID
        pub(super) document_id: String,
        /// What this version changes, in one line
        #[schemars(length(min = 1, max = 500))]
        pub(super) summary: String,
        /// The text, whole
        #[schemars(length(min = 1))]
        pub(super) content: String,
        /// Whatever is to be kept with it
        pub(super) metadata: Option<Map<String, Value>>,
    }

    /// Reads a document.
    DocsGet {
        /// The document: a UUID
        pub(super) document_id: String,
        /// This version; without it the newest
        pub(super) version: Option<Whole>,
        /// Also when it was deleted
        pub(super) include_deleted: Option<Flag>,
    }

    /// Lists documents.
    DocsList {
        /// Only those whose summary contains this
        pub(super) search: Option<String>,
        /// Also those that were deleted
        pub(super) include_deleted: Option<Flag>,
        /// At most so many, 500 at the most; 50 without it
        pub(super) limit: Option<Whole>,
        /// Leave out so many
        pub(super) offset: Option<Whole>,
    }

    /// Compares two versions.
    DocsDiff {
        /// The document: a UUID
        pub(super) document_id: String,
        /// The older side; without it the version before
        pub(super) from: Option<Whole>,
        /// The newer side; without it the newest
        pub(super) to: Option<Whole>,
    }
}

impl Tool {
    /// The schema of its arguments for a caller of this scope.
    pub(super) fn input(self, scope: Scope) -> Value {
        let mut schema = match self {
            Tool::DebateCreate => schema_of::<DebateCreate>(),
            Tool::DebateGetContext => schema_of::<DebateGetContext>(),
            Tool::DebateSubmit => schema_of::<DebateSubmit>(),
            Tool::DebateWait => schema_of::<DebateWait>(),
            Tool::DebateAppeal => schema_of::<DebateAppeal>(),
            Tool::DebateRequestCompletion => schema_of::<DebateRequestCompletion>(),
            Tool::DebateList => schema_of::<DebateList>(),
            Tool::DebateRuling => schema_of::<DebateRuling>(),
            Tool::DebateIntervention => schema_of::<DebateIntervention>(),
            Tool::DocsCreate => schema_of::<DocsCreate>(),
            Tool::DocsSubmit => schema_of::<DocsSubmit>(),
            Tool::DocsGet => schema_of::<DocsGet>(),
            Tool::DocsList => schema_of::<DocsList>(),
            Tool::DocsDiff => schema_of::<DocsDiff>(),
        };
        if let Some(own) = scope.role()
            && let Some(role) = schema.properties.get_mut("role")
        {
            let what = format!("Your role; may be left out, it is {own}");
            *role = json!({"type": "string", "enum": [own.as_str()], "description": what});
            schema.required.retain(|name| name != "role");
        }
        json!(schema)
    }

    /// The names of its arguments.
    pub(super) fn arguments(self) -> Vec<String> {
        let schema = self.input(Scope::Open);
        let properties = schema.get("properties").and_then(Value::as_object);
        properties.into_iter().flatten().map(|(name, _)| name.clone()).collect()
    }
}

/// The schema of a struct.
#[derive(Debug, Serialize, Deserialize)]
struct ObjectSchema {
    #[serde(rename = "type")]
    kind: String,
    properties: Map<String, Value>,
    #[serde(default)]
    required: Vec<String>,
    #[serde(rename = "additionalProperties", default)]
    additional_properties: bool,
}

fn schema_of<T: JsonSchema>() -> ObjectSchema {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut schema: ObjectSchema =
        serde_json::from_value(schema.into()).expect("a struct is described by its properties");
    schema.properties.values_mut().for_each(simplify);
    schema
}

/// Removes what some hosts do not understand: null as a second type, defaults, formats.
fn simplify(property: &mut Value) {
    let Value::Object(fields) = property else { return };
    fields.retain(|name, value| match name.as_str() {
        "default" | "format" => false,
        "additionalProperties" => *value != true,
        _ => true,
    });
    if let Some(Value::Array(kinds)) = fields.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        let kind = kinds.first().cloned().unwrap_or_default();
        fields.insert("type".to_owned(), kind);
    }
    // An option of a type of ours is written as one of two schemas.
    if let Some(Value::Array(any)) = fields.shift_remove("anyOf") {
        let some = any.into_iter().find(|one| *one != json!({"type": "null"}));
        if let Some(Value::Object(some)) = some {
            fields.extend(some);
        }
    }
    if let Some(Value::Array(words)) = fields.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
}

impl fmt::Display for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_flags_may_be_written_as_texts() {
        let given = json!({"limit": "20", "offset": 3.0, "needs_arbitrator": "true"});
        let list: DebateList = serde_json::from_value(given).unwrap();
        assert_eq!((list.limit, list.offset), (Some(Whole(20)), Some(Whole(3))));
        assert!(Flag::is_set(list.needs_arbitrator));
        assert!(!Flag::is_set(list.pending_first_opponent));
        for bad in [json!({"limit": -1}), json!({"limit": "x"}), json!({"offset": 1.5})] {
            let error = serde_json::from_value::<DebateList>(bad).unwrap_err();
            assert_eq!(error.to_string(), "a whole number, 0 or more");
        }
    }

    #[test]
    fn an_argument_is_described_by_one_plain_type() {
        for tool in Tool::ALL {
            let schema = tool.input(Scope::Open);
            assert_eq!(schema["additionalProperties"], false);
            for (name, property) in schema["properties"].as_object().unwrap() {
                assert!(property["type"].is_string(), "{name} of {}: {property}", tool.name());
                assert!(property["description"].is_string(), "{name} of {}", tool.name());
                for odd in ["anyOf", "oneOf", "$ref", "format", "default"] {
                    assert!(property.get(odd).is_none(), "{name} of {}: {property}", tool.name());
                }
            }
        }
    }
}
