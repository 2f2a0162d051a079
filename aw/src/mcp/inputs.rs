//! What each tool is given: names, kinds and the words in which agents are told.
//!
//! Everything is flat and of one type, and no format is named: some hosts take no more than that.

use aw_core::Role;
use serde_json::{Value, json};

use super::tools::{Scope, Tool};

impl Tool {
    /// The schema of its arguments for somebody of this scope.
    pub(super) fn input(self, scope: Scope) -> Value {
        let id = |what: &str| text(&format!("{what}: a UUID"));
        let debate = || ("debate_id", id("The debate"), true);
        let target = |what: &str| ("target_id", id(what), true);
        let content = |what: &str| ("content", said(what), true);
        let request = || {
            let what = "Makes a retry recognisable: a UUID. Leave it out; it is made";
            ("client_request_id", text(what), false)
        };
        let author =
            || ("author", limited("A label of who writes, shown beside the role", 80), false);
        let signed = |mut fields: Vec<Field>| {
            fields.extend([author(), request()]);
            fields
        };
        let role = |of: &[Role], what: &str, wanted: bool| match scope.role() {
            Some(own) => {
                let what = format!("Your role; may be left out, it is {own}");
                ("role", words(&[own.as_str()], &what), false)
            }
            None => {
                let roles: Vec<&str> = of.iter().map(|role| role.as_str()).collect();
                ("role", words(&roles, what), wanted)
            }
        };
        let everybody = [Role::Proposer, Role::Opponent, Role::Arbitrator];
        let limit = |usual: u64| {
            let what = format!("At most so many, 500 at the most; {usual} without it");
            ("limit", number(&what), false)
        };
        let offset = || ("offset", number("Leave out so many"), false);
        let version = |name, what| (name, number(what), false);
        let document = || ("document_id", id("The document"), true);
        let summary = |what| ("summary", limited(what, 500), true);
        let metadata = || {
            let what = "Whatever is to be kept with it";
            ("metadata", json!({"type": "object", "description": what}), false)
        };
        let deleted = |what| ("include_deleted", flag(what), false);
        let fields = match self {
            Tool::DebateCreate => signed(vec![
                ("title", limited("What it is called: one line", 200), true),
                (
                    "type",
                    text(
                        "coding_plan_debate (a plan for code), general_debate (anything else), or a type \
                         of your user's own",
                    ),
                    true,
                ),
                content(
                    "The MOTION in Markdown: what you propose and what it is for, the document that holds \
                     it as doc_id=<document_id> (v1), what is decided already, where you are least sure",
                ),
                (
                    "resolution_policy",
                    words(
                        &["auto", "arbitrator"],
                        "auto (usual): your RESOLUTION closes the debate; arbitrator: it waits for a RULING",
                    ),
                    false,
                ),
                (
                    "debate_id",
                    id("The debate's id, if it must be known before; made without it"),
                    false,
                ),
            ]),
            Tool::DebateGetContext => vec![
                debate(),
                role(&everybody, "Say what this role should call now", false),
                (
                    "limit",
                    number("So many of the newest arguments besides the motion; 10 without it"),
                    false,
                ),
            ],
            Tool::DebateSubmit => signed(vec![
                debate(),
                role(&[Role::Proposer, Role::Opponent], "Your role", true),
                target("The argument that you answer"),
                content("The CLAIM in Markdown, every open issue with its status"),
            ]),
            Tool::DebateWait => vec![
                debate(),
                role(&everybody, "Your role", true),
                (
                    "argument_id",
                    id("The newest argument that you have seen; without it all is new"),
                    false,
                ),
                (
                    "deadline",
                    json!({
                        "type": "number",
                        "minimum": 0,
                        "description":
                            "Seconds to wait, 0 asks once. Without it 110 if progress is reported to you, \
                             else 50: give it only when your host cuts calls off sooner",
                    }),
                    false,
                ),
                (
                    "attempt",
                    number(
                        "Which wait in a row this is. It only makes each call differ from the one before: \
                         count it up",
                    ),
                    false,
                ),
            ],
            Tool::DebateAppeal => signed(vec![
                debate(),
                target("The argument in dispute"),
                content("The APPEAL in Markdown: context, both positions, options"),
            ]),
            Tool::DebateRequestCompletion => signed(vec![
                debate(),
                target("The newest argument of the opponent"),
                content(
                    "The RESOLUTION in Markdown: what was settled, final documents, what is left open",
                ),
            ]),
            Tool::DebateList => vec![
                (
                    "state",
                    words(
                        &[
                            "AWAITING_OPPONENT",
                            "AWAITING_PROPOSER",
                            "AWAITING_ARBITRATOR",
                            "INTERVENTION_PENDING",
                            "CLOSED",
                        ],
                        "Only those in this state",
                    ),
                    false,
                ),
                ("type", text("Only those of this type"), false),
                (
                    "pending_first_opponent",
                    flag("Only those that wait for an opponent who has not spoken yet"),
                    false,
                ),
                ("needs_arbitrator", flag("Only those to which a RULING is owed"), false),
                ("search", text("Only those whose title contains this"), false),
                limit(50),
                offset(),
            ],
            Tool::DebateRuling => signed(vec![
                debate(),
                (
                    "target_id",
                    id(
                        "What is ruled on; without it whatever is pending. With it a retry is recognised",
                    ),
                    false,
                ),
                content(
                    "The RULING in Markdown: the decision, the reasons, what the proposer must do",
                ),
                ("close", flag("End the debate with it"), false),
            ]),
            Tool::DebateIntervention => {
                signed(vec![debate(), ("content", text("Why; may be left out"), false)])
            }
            Tool::DocsCreate => signed(vec![
                summary("What it is, in one line"),
                content("The text, whole"),
                metadata(),
            ]),
            Tool::DocsSubmit => signed(vec![
                document(),
                summary("What this version changes, in one line"),
                content("The text, whole"),
                metadata(),
            ]),
            Tool::DocsGet => vec![
                document(),
                version("version", "This version; without it the newest"),
                deleted("Also when it was deleted"),
            ],
            Tool::DocsList => vec![
                ("search", text("Only those whose summary contains this"), false),
                deleted("Also those that were deleted"),
                limit(50),
                offset(),
            ],
            Tool::DocsDiff => vec![
                document(),
                version("from", "The older side; without it the version before"),
                version("to", "The newer side; without it the newest"),
            ],
        };
        object(fields)
    }
}

/// An argument: its name, its schema, whether it must be there.
type Field = (&'static str, Value, bool);

fn object(fields: Vec<Field>) -> Value {
    let mut properties = json!({});
    let mut required = Vec::new();
    for (name, schema, wanted) in fields {
        properties[name] = schema;
        required.extend(wanted.then_some(name));
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn text(what: &str) -> Value {
    json!({"type": "string", "description": what})
}

fn said(what: &str) -> Value {
    json!({"type": "string", "minLength": 1, "description": what})
}

fn limited(what: &str, longest: u64) -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": longest, "description": what})
}

fn words(all: &[&str], what: &str) -> Value {
    json!({"type": "string", "enum": all, "description": what})
}

fn number(what: &str) -> Value {
    json!({"type": "integer", "minimum": 0, "description": what})
}

fn flag(what: &str) -> Value {
    json!({"type": "boolean", "description": what})
}
