//! The official inspector on the command line, over stdio and HTTP, in both eras of the protocol.

use serde_json::{Value, json};

use super::programs::Programs;
use crate::loops::machine::{Going, Machine, Ran};
use crate::world::text;

const READING: [&str; 8] = [
    "debate_get_context",
    "debate_wait",
    "debate_points",
    "debate_result",
    "debate_list",
    "docs_get",
    "docs_list",
    "docs_diff",
];
const PROPOSING: [&str; 5] =
    ["debate_create", "debate_appeal", "debate_request_completion", "docs_create", "docs_submit"];

/// An inspector of one machine.
struct Inspector {
    programs: Programs,
    machine: Machine,
}

/// How it comes to the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Stdio,
    Http,
}

impl Inspector {
    /// With a server.
    fn new() -> Option<Self> {
        let inspector = Inspector { programs: Programs::find()?, machine: Machine::fresh() };
        inspector.machine.aw(&["server", "start"]).answer();
        Some(inspector)
    }

    /// What it prints and how it ends.
    fn run(&self, way: Way, era: &str, role: Option<&str>, arguments: &[&str]) -> Ran {
        let mut command = self.programs.inspector();
        let home = self.machine.path("home");
        command.env("HOME", &home).env("AW_LISTEN", &self.machine.listen);
        command.args(["--format", "json", "--protocol-era", era]);
        command.args(arguments);
        match (way, role) {
            (Way::Stdio, role) => {
                let set = format!("AW_LISTEN={}", self.machine.listen);
                command.args(["-e", &set, "-e", &format!("HOME={}", home.display()), "--"]);
                command.args([env!("CARGO_BIN_EXE_aw"), "mcp"]);
                command.args(role.iter().flat_map(|role| ["--role", role]));
            }
            (Way::Http, role) => {
                let role = role.map_or(String::new(), |role| format!("?role={role}"));
                command.args(["--transport", "http", "--server-url"]);
                command.arg(format!("{}/mcp{role}", self.machine.url()));
            }
        }
        command.stdin(std::process::Stdio::null());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        Going::start(command).end()
    }

    /// The result of a method.
    #[track_caller]
    fn ask(&self, way: Way, era: &str, arguments: &[&str]) -> Value {
        let ran = self.run(way, era, None, arguments);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.json()["result"].take()
    }
}

#[test]
fn the_inspector_sees_the_tools_of_its_role_and_finds_no_fault_with_them() {
    let Some(inspector) = Inspector::new() else { return };
    let submitting = ["debate_submit"];
    let ruling = ["debate_ruling", "debate_intervention"];
    for (role, groups) in [
        (None, vec![&READING[..], &submitting, &PROPOSING]),
        (Some("proposer"), vec![&READING[..], &submitting, &PROPOSING]),
        (Some("opponent"), vec![&READING[..], &submitting]),
        (Some("arbitrator"), vec![&READING[..], &ruling]),
    ] {
        for (way, era) in [(Way::Stdio, "modern"), (Way::Http, "legacy")] {
            let ran = inspector.run(way, era, role, &["--method", "tools/list", "--strict"]);
            assert_eq!(ran.code, Some(0), "{ran:?}");
            assert_eq!(ran.err, "", "what another client could not read of their schemas");
            let tools = ran.json()["result"]["tools"].take();
            let mut names: Vec<String> =
                tools.as_array().unwrap().iter().map(|tool| text(&tool["name"])).collect();
            names.sort();
            let mut expected = groups.concat();
            expected.sort_unstable();
            assert_eq!(names, expected, "{role:?} over {way:?}");
        }
    }
}

#[test]
fn the_inspector_calls_tools_and_reads_prompts_and_resources() {
    let Some(inspector) = Inspector::new() else { return };
    for (way, era) in [(Way::Stdio, "legacy"), (Way::Http, "modern")] {
        let call = |tool: &str, arguments: &Value| {
            let arguments = arguments.to_string();
            let method = ["--method", "tools/call", "--tool-name", tool];
            let arguments = ["--tool-args-json", &arguments];
            inspector.run(way, era, None, &[&method[..], &arguments].concat())
        };
        let plan = json!({"summary": "The plan", "content": "One file."});
        let kept = call("docs_create", &plan);
        assert_eq!(kept.code, Some(0), "{kept:?}");
        let kept = kept.json()["result"]["structuredContent"].take();
        assert_eq!(kept["version"], 1);

        // It ends with 5 when a tool says that it failed.
        let nobody = json!({"debate_id": "93d81b1a-0e66-4510-abfd-aa33b26cb82e"});
        let ran = call("debate_get_context", &nobody);
        assert_eq!(ran.code, Some(5), "{ran:?}");
        assert!(ran.out.contains("DEBATE_NOT_FOUND"), "{ran:?}");
        // What is not for it, it does not even find.
        let ran = call("debate_ruling", &nobody);
        assert!(ran.err.contains("tool_not_found"), "{ran:?}");

        let prompts = inspector.ask(way, era, &["--method", "prompts/list"]);
        assert_eq!(prompts["prompts"].as_array().unwrap().len(), 3);
        let get = ["--method", "prompts/get", "--prompt-name", "debate-opponent"];
        let prompt = inspector.ask(way, era, &get);
        assert!(prompt["messages"].to_string().contains("debate_wait"), "{prompt}");

        let resources = inspector.ask(way, era, &["--method", "resources/list"]);
        assert!(
            resources.to_string().contains("aw://rules/opponent/general_debate"),
            "{resources}"
        );
        let uri = format!("aw://docs/{}", text(&kept["document_id"]));
        let read = inspector.ask(way, era, &["--method", "resources/read", "--uri", &uri]);
        assert!(read.to_string().contains("One file."), "{read}");
    }
}
