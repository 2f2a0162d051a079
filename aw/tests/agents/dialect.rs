//! The model APIs that the programs use, as far as a debate needs them.

use serde_json::{Value, json};

use super::talk::{Step, Talk};

/// The model API of a program.
#[derive(Debug, Clone, Copy)]
pub enum Dialect {
    /// OpenAI's Responses.
    Responses,
    /// OpenAI's Chat Completions, which many others understand.
    Chat,
    /// Anthropic's Messages.
    Messages,
    /// Google's generateContent.
    Gemini,
}

/// An answer of the model.
#[derive(Debug, Clone)]
pub enum Spoken {
    /// A tool call. The name may start with a namespace and a dot.
    Call {
        tool: String,
        arguments: Value,
    },
    Text(String),
}

impl Dialect {
    /// Parses a request.
    pub fn hear(self, body: &Value) -> Talk {
        let mut talk = Talk { bytes: body.to_string().len(), ..Talk::default() };
        for tool in list(&body["tools"]) {
            let declared = list(&tool["functionDeclarations"]).map(|tool| text(&tool["name"]));
            talk.tools.extend(declared);
            let name = tool["name"].as_str().or(tool["function"]["name"].as_str());
            let Some(name) = name else { continue };
            talk.tools.push(name.to_owned());
            let within = list(&tool["tools"]).map(|tool| format!("{name}.{}", text(&tool["name"])));
            talk.tools.extend(within);
        }
        match self {
            Dialect::Responses => {
                talk.instructions.push_str(body["instructions"].as_str().unwrap_or_default());
                for item in list(&body["input"]) {
                    match item["type"].as_str() {
                        Some("function_call") => {
                            talk.steps.push(step(&item["name"], &item["arguments"]));
                        }
                        Some("function_call_output") => finish(&mut talk, &item["output"]),
                        _ => hear_message(&mut talk, &item["role"], &item["content"]),
                    }
                }
            }
            Dialect::Chat => {
                for message in list(&body["messages"]) {
                    for call in list(&message["tool_calls"]) {
                        let call = &call["function"];
                        talk.steps.push(step(&call["name"], &call["arguments"]));
                    }
                    match message["role"].as_str() {
                        Some("tool") => finish(&mut talk, &message["content"]),
                        _ => hear_message(&mut talk, &message["role"], &message["content"]),
                    }
                }
            }
            Dialect::Messages => {
                tell(&mut talk, &body["system"]);
                for message in list(&body["messages"]) {
                    if message["content"].is_string() {
                        hear_message(&mut talk, &message["role"], &message["content"]);
                    }
                    for part in list(&message["content"]) {
                        match part["type"].as_str() {
                            Some("tool_use") => {
                                talk.steps.push(step(&part["name"], &part["input"]));
                            }
                            Some("tool_result") => finish(&mut talk, &part["content"]),
                            _ => hear_message(&mut talk, &message["role"], &part["text"]),
                        }
                    }
                }
            }
            Dialect::Gemini => {
                tell(&mut talk, &body["systemInstruction"]["parts"]);
                for content in list(&body["contents"]) {
                    for part in list(&content["parts"]) {
                        let (call, result) = (&part["functionCall"], &part["functionResponse"]);
                        if call.is_object() {
                            talk.steps.push(step(&call["name"], &call["args"]));
                        } else if result.is_object() {
                            let said = &result["response"];
                            let said = said.get("output").unwrap_or(&said["error"]);
                            finish(&mut talk, said);
                        } else {
                            hear_message(&mut talk, &content["role"], &part["text"]);
                        }
                    }
                }
            }
        }
        talk
    }

    /// The answer as a stream of events, sent at once.
    pub fn say(self, spoken: &Spoken, number: usize) -> String {
        let call = format!("call_{number}");
        match self {
            Dialect::Responses => {
                let item = match spoken {
                    Spoken::Call { tool, arguments } => {
                        let mut item = json!({
                            "type": "function_call", "id": format!("fc_{number}"), "call_id": call,
                            "name": tool, "arguments": arguments.to_string(),
                        });
                        if let Some((namespace, name)) = tool.split_once('.') {
                            item["namespace"] = json!(namespace);
                            item["name"] = json!(name);
                        }
                        item
                    }
                    Spoken::Text(text) => json!({
                        "type": "message", "id": format!("msg_{number}"), "role": "assistant",
                        "content": [{"type": "output_text", "text": text}],
                    }),
                };
                let usage = json!({"input_tokens": 1, "output_tokens": 1, "total_tokens": 2});
                let id = format!("resp_{number}");
                let events = [
                    json!({"type": "response.created", "response": {"id": id}}),
                    json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
                    json!({"type": "response.completed", "response": {"id": id, "usage": usage}}),
                ];
                events.iter().map(named).collect()
            }
            Dialect::Messages => {
                let (block, delta, reason) = match spoken {
                    Spoken::Call { tool, arguments } => (
                        json!({"type": "tool_use", "id": call, "name": tool, "input": {}}),
                        json!({"type": "input_json_delta", "partial_json": arguments.to_string()}),
                        "tool_use",
                    ),
                    Spoken::Text(text) => (
                        json!({"type": "text", "text": ""}),
                        json!({"type": "text_delta", "text": text}),
                        "end_turn",
                    ),
                };
                let usage = json!({"input_tokens": 1, "output_tokens": 1});
                let message = json!({
                    "id": format!("msg_{number}"), "type": "message", "role": "assistant",
                    "model": "fake", "content": [], "stop_reason": null, "usage": usage,
                });
                let end = json!({"stop_reason": reason, "stop_sequence": null});
                let events = [
                    json!({"type": "message_start", "message": message}),
                    json!({"type": "content_block_start", "index": 0, "content_block": block}),
                    json!({"type": "content_block_delta", "index": 0, "delta": delta}),
                    json!({"type": "content_block_stop", "index": 0}),
                    json!({"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}}),
                    json!({"type": "message_stop"}),
                ];
                events.iter().map(named).collect()
            }
            Dialect::Chat => {
                let (delta, reason) = match spoken {
                    Spoken::Call { tool, arguments } => {
                        let function = json!({"name": tool, "arguments": arguments.to_string()});
                        let call = json!({
                            "index": 0, "id": call, "type": "function", "function": function,
                        });
                        (json!({"role": "assistant", "tool_calls": [call]}), "tool_calls")
                    }
                    Spoken::Text(text) => (json!({"role": "assistant", "content": text}), "stop"),
                };
                let chunk = |delta: Value, reason: Value| {
                    let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
                    let mut chunk = json!({
                        "id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk",
                        "created": 1, "model": "fake", "choices": [choice],
                    });
                    // Continue reads nothing else in a chunk that has it.
                    if !reason.is_null() {
                        chunk["usage"] =
                            json!({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2});
                    }
                    format!("data: {chunk}\n\n")
                };
                let (first, last) = (chunk(delta, Value::Null), chunk(json!({}), json!(reason)));
                format!("{first}{last}data: [DONE]\n\n")
            }
            Dialect::Gemini => {
                let part = match spoken {
                    Spoken::Call { tool, arguments } => {
                        json!({"functionCall": {"name": tool, "args": arguments}})
                    }
                    Spoken::Text(text) => json!({"text": text}),
                };
                let content = json!({"role": "model", "parts": [part]});
                let usage =
                    json!({"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2});
                let answer = json!({
                    "candidates": [{"index": 0, "content": content, "finishReason": "STOP"}],
                    "usageMetadata": usage,
                });
                format!("data: {answer}\n\n")
            }
        }
    }
}

/// An event with its name before it.
fn named(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", text(&event["type"]))
}

/// A step without its result. Some APIs put the arguments into a text, and shells name the line differently.
fn step(tool: &Value, arguments: &Value) -> Step {
    let parsed = arguments.as_str().and_then(|text| serde_json::from_str(text).ok());
    let arguments = parsed.unwrap_or(arguments.clone());
    let line = [&arguments["cmd"], &arguments["command"], &arguments["commands"][0]];
    let line = line.into_iter().find_map(Value::as_str);
    let line = line.unwrap_or_default().to_owned();
    Step { tool: text(tool), line, arguments, result: String::new() }
}

/// Adds a result to the oldest step without one. These models never call two tools at once.
fn finish(talk: &mut Talk, result: &Value) {
    if let Some(step) = talk.steps.last_mut() {
        let said = text(result);
        // Cline puts the output of each command into a list.
        let several: Option<Vec<Value>> = serde_json::from_str(&said).ok();
        let first = several.and_then(|all| Some(all.first()?["result"].as_str()?.to_owned()));
        step.result = first.unwrap_or(said);
    }
}

/// Adds a message to the instructions, and to the model's own texts if it is one.
fn hear_message(talk: &mut Talk, role: &Value, content: &Value) {
    let words = text(content);
    let is_own = matches!(role.as_str(), Some("assistant" | "model"));
    let woken = ["First run:\n", "First call:\n"].iter().find_map(|said| words.rsplit_once(said));
    if let Some((_, line)) = woken.filter(|_| !is_own) {
        let line = line.lines().next().unwrap_or_default();
        talk.woken = Some((talk.steps.len(), line.to_owned()));
    }
    if is_own && !words.is_empty() {
        talk.said.push(words);
    }
    tell(talk, content);
}

fn tell(talk: &mut Talk, content: &Value) {
    talk.instructions.push_str(&text(content));
    talk.instructions.push('\n');
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A text, or the texts of a list of parts.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(|part| text(&part["text"])).collect(),
        _ => String::new(),
    }
}
