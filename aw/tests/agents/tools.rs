//! The script of a model without a shell: the agent of [`script`](super::script) with MCP tools.
//!
//! Programs differ in what they pass to the model: Codex passes the structured part of a result, opencode the
//! text. So both parts must contain everything.

use std::collections::BTreeSet;

use aw_core::Role;
use serde_json::{Value, json};

use super::moves::{Kind, Pause, Slip};
use super::script::{
    IDLE, LAST_WORDS, PROSE, Reply, Script, TOO_SOON, WRONG_ID, cited, first_line,
};
use super::talk::{Step, Talk};

/// The tools that add to the record.
const MOVES: [&str; 4] =
    ["debate_submit", "debate_appeal", "debate_request_completion", "debate_ruling"];

/// A call to make.
#[derive(Debug, Clone)]
struct Call {
    tool: String,
    arguments: Value,
}

/// The advice in a result.
#[derive(Debug, Default)]
pub struct ToolAnswer {
    next: Option<Call>,
    others: Vec<Call>,
    pub is_closed: bool,
    /// Whether the agent is woken for what comes next.
    wakes: bool,
}

impl ToolAnswer {
    /// Parses a result as the program passed it on.
    pub fn of(result: &str) -> Self {
        match structured(result) {
            Some(answer) => {
                // A refusal says inside itself what to do.
                let answer = if answer["error"].is_object() { &answer["error"] } else { &answer };
                let others = answer["alternatives"].as_array().into_iter().flatten();
                ToolAnswer {
                    next: call(&answer["next"]),
                    others: others.filter_map(call).collect(),
                    is_closed: answer["action"] == "debate_closed",
                    wakes: answer["wake"] == true,
                }
            }
            None => {
                let calls = |start: &str| {
                    let lines = result.lines().filter_map(|line| line.strip_prefix(start));
                    lines.filter_map(in_words).collect::<Vec<_>>()
                };
                // Were there two, somebody's words would have been taken for the tool's own.
                let mut next = calls("Next: ");
                let next = if next.len() == 1 { next.pop() } else { None };
                ToolAnswer {
                    next,
                    others: calls("Or: "),
                    is_closed: result
                        .lines()
                        .any(|line| line.starts_with("Action: debate_closed.")),
                    wakes: result.contains(": end your turn; you will be woken."),
                }
            }
        }
    }

    /// Whether it is an answer of `aw`, which says how to go on or that the debate is closed.
    pub fn says_what_to_do(&self) -> bool {
        self.next.is_some() || self.is_closed || self.wakes
    }

    /// Whether it asks for a text.
    fn is_a_turn(&self) -> bool {
        self.next.as_ref().is_some_and(|next| MOVES.contains(&next.tool.as_str()))
    }
}

impl Script {
    /// The next step after the skill was read.
    pub fn next_call(&self, talk: &Talk) -> Reply {
        let Some(last) = talk.steps.last().filter(|_| talk.steps.len() > 1) else {
            return self.begin_with(talk);
        };
        if name(last) == "docs_create" {
            let text = format!("{}\n\nPlan: {}", self.opening, citation(&last.result));
            let title = first_line(self.plan);
            let mut motion = json!({"title": title, "type": "general_debate", "content": text});
            if self.points {
                motion["points"] = json!(true);
            }
            return calls("debate_create", motion);
        }
        // A document was written or read for the turn in hand.
        let mut newest_first = talk.steps.iter().enumerate().rev();
        let turn = newest_first.find(|(_, step)| !name(step).starts_with("docs_"));
        let Some((number, step)) = turn else { return stuck("there was no turn", last) };
        let answer = ToolAnswer::of(&step.result);
        match &answer.next {
            _ if answer.is_closed => Reply::Say(LAST_WORDS.to_owned()),
            Some(_) if answer.is_a_turn() => self.answer(talk, number, &answer),
            Some(next) if next.tool == "debate_wait" => match self.slip(false) {
                Some(slip) => self.slips_instead_of_calling(talk, slip),
                None => self.calls_next(next.clone()),
            },
            Some(next) => self.calls_next(next.clone()),
            // A host that cuts a call off shows no answer. That is a time-out: the same again.
            None if name(step) == "debate_wait" && !answer.wakes => {
                calls("debate_wait", step.arguments.clone())
            }
            // A list does not know which debate the user has named, and Gemini CLI shows no refusal.
            None if name(step) == "debate_list" || MOVES.contains(&name(step)) => {
                self.begin_with(talk)
            }
            None if answer.wakes => Reply::Say(IDLE.to_owned()),
            None => stuck("it does not say what to do next", step),
        }
    }

    /// Makes the call that a message has named.
    pub fn woken_by(&self, words: &str) -> Reply {
        in_words(words).map_or_else(
            || Reply::Say(format!("This is no call: {words}")),
            |call| self.calls_next(call),
        )
    }

    fn calls_next(&self, mut call: Call) -> Reply {
        if let Some(seconds) = self.seconds.filter(|_| call.tool == "debate_wait") {
            call.arguments["deadline"] = json!(seconds);
        }
        calls(&call.tool, call.arguments)
    }

    fn begin_with(&self, talk: &Talk) -> Reply {
        match (self.role, talk.named_debate()) {
            (role, Some(debate)) => {
                let who = json!({"debate_id": debate, "role": role.as_str(), "limit": 20});
                calls("debate_get_context", who)
            }
            (Role::Proposer, None) => {
                calls("docs_create", json!({"summary": "The plan", "content": self.plan}))
            }
            (Role::Opponent, None) => calls("debate_list", json!({"pending_first_opponent": true})),
            (Role::Arbitrator, None) => calls("debate_list", json!({"needs_arbitrator": true})),
        }
    }

    /// The number of its moves: those that the record showed it, and those that it has made since. The same call twice
    /// is one move.
    fn moves_made_by_calls(&self, talk: &Talk) -> usize {
        let contexts = talk.steps.iter().filter(|step| name(step) == "debate_get_context");
        let shown: String = contexts.map(|step| step.result.as_str()).collect();
        let recorded = self.moves.iter().filter(|own| shown.contains(first_line(own.words)));
        let made = talk.steps.iter().filter(|step| {
            let content = step.arguments["content"].as_str().unwrap_or_default();
            MOVES.contains(&name(step))
                && step.arguments["debate_id"] != WRONG_ID
                && content != TOO_SOON
                && !shown.contains(first_line(content))
        });
        let made: BTreeSet<String> = made.map(|step| step.arguments.to_string()).collect();
        recorded.count() + made.len()
    }

    fn slips_instead_of_calling(&self, talk: &Talk, slip: Slip) -> Reply {
        let mut newest_first = talk.steps.iter().rev();
        let own = newest_first
            .find(|step| MOVES.contains(&name(step)) && step.arguments["content"] != TOO_SOON);
        let Some(own) = own else { return Reply::Say("I have made no move.".to_owned()) };
        let mut arguments = own.arguments.clone();
        match slip {
            Slip::Twice => {}
            Slip::OutOfTurn => arguments["content"] = json!(TOO_SOON),
            _ => return Reply::Say(PROSE.to_owned()),
        }
        calls(name(own), arguments)
    }

    /// Makes the next move in answer to the turn of this step, and what has to come before it.
    fn answer(&self, talk: &Talk, turn: usize, answer: &ToolAnswer) -> Reply {
        let Some(own) = self.moves.get(self.moves_made_by_calls(talk)) else {
            return stuck("no move is left", &talk.steps[turn]);
        };
        let usual = answer.next.as_ref().expect("it is a turn");
        let target = usual.arguments["target_id"].as_str().unwrap_or_default();
        let said = talk.steps.iter().find_map(|step| content_of(&step.result, target));
        let Some(answered) = said else { return stuck("nobody said that", &talk.steps[turn]) };
        let since = |tool: &str| talk.steps[turn..].iter().find(|step| name(step) == tool);

        let mut text = format!("{}\n\nIn answer to: {}", own.words, first_line(&answered));
        if self.role == Role::Opponent
            && let Some((document, version)) = cited(&answered)
        {
            let Some(read) = since("docs_get") else {
                let version: u64 = version.parse().unwrap_or_default();
                return calls("docs_get", json!({"document_id": document, "version": version}));
            };
            let plan = content_of(&read.result, document).unwrap_or_default();
            text.push_str(&format!("\n\nRead: {}", first_line(&plan)));
        }
        if let Some(plan) = own.plan {
            let Some(written) = since("docs_submit") else {
                let created = talk.steps.iter().find(|step| name(step) == "docs_create");
                let id = created.and_then(|step| cited(&step.result)).map(|(id, _)| id);
                let summary = first_line(own.words);
                let version = json!({"document_id": id, "summary": summary, "content": plan});
                return calls("docs_submit", version);
            };
            text.push_str(&format!("\n\nPlan: {}", citation(&written.result)));
        }
        if self.points && own.kind == Kind::Completion {
            let mut newest_first = talk.steps.iter().rev();
            let kept =
                newest_first.find(|step| ["docs_create", "docs_submit"].contains(&name(step)));
            let kept = kept.map(|step| citation(&step.result)).unwrap_or_default();
            text.push_str(&format!("\n\nPlan: {kept}"));
        }

        let tool = match own.kind {
            Kind::Usual | Kind::Close => &usual.tool,
            Kind::Appeal => "debate_appeal",
            Kind::Completion => "debate_request_completion",
        };
        // Another RULING may be among the others, such as the one that closes the debate.
        let mut open = answer.next.iter().chain(&answer.others);
        let Some(call) = open.find(|call| call.tool == tool) else {
            return stuck("that is not among the choices", &talk.steps[turn]);
        };
        let mut arguments = call.arguments.clone();
        arguments["content"] = json!(text);
        // A move waits for as long as the tool likes.
        if self.seconds.is_none() && self.moves_wait() {
            arguments["wait"] = json!(true);
        }
        match self.slip(true) {
            Some(Slip::WrongId) => arguments["debate_id"] = json!(WRONG_ID),
            Some(_) => return Reply::Say(PROSE.to_owned()),
            None => {}
        }
        Reply::Call { tool: call.tool.clone(), arguments, pause: own.pause.clone() }
    }
}

/// The tool of a step by our name for it. Programs put the name of the server before it.
fn name(step: &Step) -> &str {
    step.tool.rsplit_once("aw_").map_or(&step.tool, |(_, name)| name.trim_start_matches('_'))
}

/// The structured part of a result, if that is what the program passes on.
fn structured(result: &str) -> Option<Value> {
    let mut lines = result.lines().filter(|line| line.starts_with('{'));
    lines.find_map(|line| serde_json::from_str(line).ok())
}

fn call(next: &Value) -> Option<Call> {
    let tool = next["tool"].as_str()?.to_owned();
    Some(Call { tool, arguments: next["arguments"].clone() })
}

/// A call in words: the tool, its arguments, and perhaps what is missing.
fn in_words(words: &str) -> Option<Call> {
    let (tool, rest) = words.split_once(' ')?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter();
    Some(Call { tool: tool.to_owned(), arguments: values.next()?.ok()? })
}

/// The text of an argument or a document, if this result shows it.
fn content_of(result: &str, id: &str) -> Option<String> {
    match structured(result) {
        Some(answer) => find(&answer, id),
        None => {
            // A document's text is the last that is quoted; an argument's has its id in the heading.
            let heading = format!("(id {id},");
            let of_document = format!(" of document {id};");
            let at = match result.find(&heading) {
                Some(at) => at,
                None if result.contains(&of_document) => result.rfind("The text, by ")?,
                None => return None,
            };
            let lines = result[at..].lines().skip(1).skip_while(|line| !line.starts_with('>'));
            let quoted = lines.map_while(|line| line.strip_prefix('>'));
            let lines: Vec<&str> =
                quoted.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
            Some(lines.join("\n"))
        }
    }
}

fn find(value: &Value, id: &str) -> Option<String> {
    match value {
        Value::Object(fields) => {
            let named = fields.get("id").or(fields.get("document_id"));
            match fields.get("content") {
                Some(Value::String(content)) if named.is_some_and(|named| named == id) => {
                    Some(content.clone())
                }
                _ => fields.values().find_map(|value| find(value, id)),
            }
        }
        Value::Array(all) => all.iter().find_map(|value| find(value, id)),
        _ => None,
    }
}

/// The citation of a document, from the result of storing it.
fn citation(result: &str) -> String {
    let (id, version) = cited(result).unwrap_or_default();
    format!("doc_id={id} (v{version})")
}

fn calls(tool: &str, arguments: Value) -> Reply {
    Reply::Call { tool: tool.to_owned(), arguments, pause: None::<Pause> }
}

fn stuck(why: &str, step: &Step) -> Reply {
    Reply::Say(format!("I do not know how to go on, because {why}: {}", step.result))
}
