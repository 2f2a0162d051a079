//! The clients that others have written: where `scripts/mcp-clients` has put them.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::world;

/// The programs, in a folder of their own.
pub struct Programs(PathBuf);

impl Programs {
    /// Finds the programs. None if these tests were left out.
    pub fn find() -> Option<Self> {
        let given = env::var_os("AW_MCP_CLIENTS").map(PathBuf::from);
        let target =
            Path::new(env!("CARGO_BIN_EXE_aw")).ancestors().nth(2).expect("target/debug/aw");
        let folder = given.clone().unwrap_or(target.join("mcp-clients"));
        if folder.join("installed").exists() {
            return Some(Programs(folder));
        }
        let missing = format!("{} has no MCP clients", folder.display());
        assert!(given.is_none(), "AW_MCP_CLIENTS: {missing}");
        world::missing("mcp-clients", &format!("{missing}; scripts/mcp-clients fetches them"));
        None
    }

    /// The official conformance suite.
    pub fn conformance(&self) -> Command {
        self.node("@modelcontextprotocol/conformance/dist/index.js")
    }

    /// The source of the suite, in which its own tools have their names.
    pub fn conformance_source(&self) -> PathBuf {
        self.0.join("node_modules/@modelcontextprotocol/conformance/dist/index.js")
    }

    /// The official inspector.
    pub fn inspector(&self) -> Command {
        let mut command =
            self.node("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
        command.arg("--cli");
        command
    }

    /// A script of ours in the Python of the official SDK.
    pub fn python(&self, script: &str) -> Command {
        let mut command = Command::new(self.0.join("bin/python"));
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp").join(script));
        command
    }

    fn node(&self, script: &str) -> Command {
        let mut command = Command::new(self.0.join("bin/node"));
        let usual = env::var("PATH").unwrap_or_default();
        // They start others of their kind by name.
        command.env("PATH", format!("{}:{usual}", self.0.join("bin").display()));
        command.arg(self.0.join("node_modules").join(script));
        command
    }
}
