//! The input of a model: the instructions of its program, and the result of each step so far.

use serde_json::{Value, json};

use super::tools::ToolAnswer;

/// The conversation that a request carries.
#[derive(Debug, Clone, Default)]
pub struct Talk {
    /// All text besides steps and results: instructions, skills, AGENTS.md, the prompt.
    pub instructions: String,
    /// The tools that the program offers.
    pub tools: Vec<String>,
    pub steps: Vec<Step>,
    /// The texts that the model itself has said.
    pub said: Vec<String>,
    /// The line or call of the last message that woke the agent, with the number of steps before it.
    pub woken: Option<(usize, String)>,
    /// The size of the whole request.
    pub bytes: usize,
}

/// A tool call and its result.
#[derive(Debug, Clone)]
pub struct Step {
    /// The program's name for the tool.
    pub tool: String,
    /// The line that was run; empty when the tool was not the shell.
    pub line: String,
    pub arguments: Value,
    pub result: String,
}

impl Step {
    /// The answer of `aw`, if the host returned it.
    pub fn answer(&self) -> Option<Value> {
        let mut newest_first = self.result.lines().rev();
        newest_first.find_map(|line| {
            // Gemini CLI and Qwen Code put a word before it.
            let line = line.strip_prefix("Output: ").unwrap_or(line);
            let object = Some(line).filter(|line| line.starts_with("{\"success\":"));
            serde_json::from_str(object?).ok()
        })
    }

    /// Whether this result says that the debate is closed.
    pub fn is_the_end(&self) -> bool {
        match self.answer() {
            Some(answer) => data(&answer)["action"] == "debate_closed",
            None => ToolAnswer::of(&self.result).is_closed,
        }
    }

    /// Whether the host cut this `wait` off.
    pub fn was_cut_off(&self) -> bool {
        let said_so = [
            "was moved to the background (ID",
            "running with session ID",
            "terminated command after",
            "timed out after",
        ];
        self.line.contains("aw debate wait ") && said_so.iter().any(|so| self.result.contains(so))
    }

    /// Whether this wait has ended without an answer, because the host cut it off or somebody killed it.
    pub fn waited_in_vain(&self) -> bool {
        let is_call = self.tool.ends_with("debate_wait");
        let is_wait = is_call || self.line.starts_with("aw debate wait ");
        let is_lost = self.answer().is_none() && !ToolAnswer::of(&self.result).says_what_to_do();
        self.was_cut_off() || is_wait && is_lost
    }
}

impl Talk {
    /// Every answer of `aw`, with the number of its step.
    pub fn answers(&self) -> impl DoubleEndedIterator<Item = (usize, Value)> {
        let steps = self.steps.iter().enumerate();
        steps.filter_map(|(number, step)| Some((number, step.answer()?)))
    }

    /// Every argument that was shown, with repetitions.
    pub fn arguments(&self) -> Vec<Value> {
        let mut found = Vec::new();
        for (_, answer) in self.answers() {
            let data = data(&answer);
            found.extend(["motion", "argument"].iter().map(|name| data[*name].clone()));
            // A move that waited names its argument.
            let written = &data["written"];
            found.push(json!({
                "id": written["argument_id"], "type": written["argument_type"], "role": "own",
            }));
            for several in ["arguments", "missed"] {
                found.extend(data[several].as_array().into_iter().flatten().cloned());
            }
        }
        found.retain(|argument| argument["id"].is_string());
        found
    }

    /// The text of this argument, if it was shown.
    pub fn content_of(&self, id: &str) -> Option<String> {
        let mut all = self.arguments().into_iter().filter(|argument| argument["id"] == id);
        all.find_map(|argument| argument["content"].as_str().map(str::to_owned))
    }

    /// The debate that the user has named.
    pub fn named_debate(&self) -> Option<&str> {
        let after = self.instructions.split("in debate ").skip(1);
        let mut words = after.filter_map(|rest| rest.get(..36));
        words.find(|word| uuid::Uuid::try_parse(word).is_ok())
    }
}

/// The data of an answer.
pub fn data(answer: &Value) -> &Value {
    &answer["content"][0]["data"]
}

/// The next command of an answer.
pub fn next_command(answer: &Value) -> Option<&str> {
    answer["metadata"]["next_command"].as_str()
}

/// The value of this flag in a line.
pub fn flag<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let mut words = line.split_whitespace();
    words.find(|word| *word == name)?;
    words.next()
}
