//! A home and a project with settings of every host: oddly formatted, linked, private.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli::aw::{Aw, Ran};
use crate::world::text;

/// The hosts.
pub const HOSTS: [&str; 6] = ["claude", "codex", "cursor", "gemini", "opencode", "agents"];

/// The hosts whose settings list MCP servers.
pub const WITH_TOOLS: [&str; 5] = ["claude", "codex", "cursor", "gemini", "opencode"];

/// The roles that have a skill.
const ROLES: [&str; 3] = ["proposer", "opponent", "arbitrator"];

/// Somebody's home, with a project in it and a shell.
pub struct Home {
    aw: Aw,
}

/// Everything that stands somewhere: what it is, its mode, its bytes.
pub type Tree = BTreeMap<String, Thing>;

/// The inode of everything, and when it was changed.
pub type Stamps = BTreeMap<String, (u64, i64, i64)>;

/// How everything is, and which file is which.
pub struct State {
    pub tree: Tree,
    files: Stamps,
}

/// A file, a folder, a link, or a pipe and the like.
#[derive(Clone, PartialEq, Eq)]
pub enum Thing {
    File { mode: u32, bytes: Vec<u8> },
    Folder { mode: u32 },
    Link { to: PathBuf },
    Other,
}

impl std::fmt::Debug for Thing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Thing::File { mode, bytes } => {
                write!(f, "{mode:o} {:?}", String::from_utf8_lossy(bytes))
            }
            Thing::Folder { mode } => write!(f, "folder {mode:o}"),
            Thing::Other => write!(f, "something else"),
            Thing::Link { to } => write!(f, "link to {}", to.display()),
        }
    }
}

impl Home {
    /// Nobody has been here: a project that is a Git repository, and an empty home.
    pub fn bare() -> Self {
        Self::of(Aw::new())
    }

    /// The same for an `aw` that was prepared.
    pub fn of(aw: Aw) -> Self {
        fs::create_dir_all(aw.desk().join(".git")).unwrap();
        Home { aw }
    }

    /// Somebody has used every host, in the project and elsewhere.
    pub fn lived_in() -> Self {
        let home = Self::bare();
        for (name, bytes) in LIVED_IN {
            home.write(name, bytes);
        }
        // An agent's notes are one file under several names; settings are kept with other dotfiles.
        symlink("AGENTS.md", home.at("CLAUDE.md")).unwrap();
        symlink("../dotfiles/codex.toml", home.at("~/.codex/config.toml")).unwrap();
        home.mode("~/dotfiles/codex.toml", 0o600);
        home.mode("~/.gemini/GEMINI.md", 0o640);
        home.mode("~/.codex", 0o700);
        home.mode("~/.claude.json", 0o600);
        home.mode("AGENTS.md", 0o664);
        fs::create_dir_all(home.at(".cursor/rules")).unwrap();
        home
    }

    /// With this environment variable; a `~` at its beginning is the home.
    pub fn set(self, name: &str, value: &str) -> Self {
        let value = match value.strip_prefix('~') {
            Some(_) => self.at(value).to_str().unwrap().to_owned(),
            None => value.to_owned(),
        };
        Home { aw: self.aw.set(name, &value) }
    }

    /// The shell.
    pub fn aw(&self) -> &Aw {
        &self.aw
    }

    /// Where this is: `~/…` in the home, anything else in the project.
    pub fn at(&self, name: &str) -> PathBuf {
        match name.strip_prefix("~/") {
            Some(rest) => self.root().join("home").join(rest),
            None => self.aw.desk().join(name),
        }
    }

    /// What holds the home, the project and the programs.
    pub fn root(&self) -> PathBuf {
        self.aw.desk().parent().unwrap().to_owned()
    }

    /// A path in the form that [`Home::at`] takes.
    pub fn name(&self, path: &str) -> String {
        let path = Path::new(path);
        match path.strip_prefix(self.at("~/")) {
            Ok(rest) => format!("~/{}", rest.display()),
            Err(_) => path.strip_prefix(self.aw.desk()).unwrap_or(path).display().to_string(),
        }
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn has(&self, name: &str) -> bool {
        self.at(name).exists()
    }

    pub fn remove(&self, name: &str) {
        fs::remove_file(self.at(name)).unwrap();
    }

    pub fn link(&self, to: &str, name: &str) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        symlink(to, self.at(name)).unwrap();
    }

    pub fn mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.at(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Changes a file as somebody with an editor would.
    #[track_caller]
    pub fn edit(&self, name: &str, old: &str, new: &str) {
        let before = self.read(name);
        assert!(before.contains(old), "{old:?} is not in {before:?}");
        fs::write(self.at(name), before.replacen(old, new, 1)).unwrap();
    }

    /// Adds to a file.
    pub fn append(&self, name: &str, more: &str) {
        fs::write(self.at(name), self.read(name) + more).unwrap();
    }

    /// A program in PATH.
    pub fn program(&self, name: &str, script: &str) {
        let path = self.root().join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Runs `aw agent` with these words.
    pub fn agent(&self, words: &str) -> Ran {
        let mut words: Vec<&str> = words.split(' ').filter(|word| !word.is_empty()).collect();
        // With the tools, whose entries are the hardest to write and to remove.
        if words.first() == Some(&"install") {
            words.push("--tools");
        }
        self.aw.quietly(&[&["agent"], &words[..]].concat())
    }

    /// What became of each file.
    #[track_caller]
    pub fn does(&self, words: &str) -> BTreeMap<String, String> {
        self.changes(&self.agent(words).data())
    }

    /// What an answer says of each file.
    pub fn changes(&self, data: &Value) -> BTreeMap<String, String> {
        let files = data["files"].as_array().unwrap();
        let listed: BTreeMap<String, String> = files
            .iter()
            .map(|file| {
                let fate = file["change"].as_str().or(file["state"].as_str()).unwrap();
                (self.name(&text(&file["path"])), fate.to_owned())
            })
            .collect();
        assert_eq!(listed.len(), files.len(), "each file is listed once: {data}");
        listed
    }

    /// Refused, and nothing anywhere has changed; the message.
    #[track_caller]
    pub fn refuses(&self, words: &str) -> String {
        self.refused(&self.state(), &self.agent(words))
    }

    /// The same of a command that has been run, with the state before it.
    #[track_caller]
    pub fn refused(&self, before: &State, ran: &Ran) -> String {
        let refused = ran.refused(4, "INVALID_INPUT");
        let now = self.state();
        same(&now.tree, &before.tree);
        assert_eq!(now.files, before.files, "no file is touched");
        text(&refused["error"]["message"])
    }

    /// How everything is, and which file is which.
    pub fn state(&self) -> State {
        let mut files = self.stamps();
        files.retain(|name, _| !self.root().join(name).is_dir());
        State { tree: self.tree(), files }
    }

    /// Everything but the data folder.
    pub fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        self.walk(&self.root(), &mut |path, name| {
            let about = fs::symlink_metadata(path).unwrap();
            let mode = about.mode() & 0o7777;
            let thing = if about.is_symlink() {
                Thing::Link { to: fs::read_link(path).unwrap() }
            } else if about.is_dir() {
                Thing::Folder { mode }
            } else if about.is_file() {
                Thing::File { mode, bytes: fs::read(path).unwrap() }
            } else {
                Thing::Other
            };
            tree.insert(name, thing);
        });
        tree
    }

    /// Which file each is, and when it was last touched.
    pub fn stamps(&self) -> Stamps {
        let mut stamps = BTreeMap::new();
        self.walk(&self.root(), &mut |path, name| {
            let about = fs::symlink_metadata(path).unwrap();
            // The home itself holds the data folder, which may come and go.
            if path != self.at("~/") {
                stamps.insert(name, (about.ino(), about.mtime(), about.mtime_nsec()));
            }
        });
        stamps
    }

    fn walk(&self, folder: &Path, see: &mut dyn FnMut(&Path, String)) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path == self.aw.home() {
                continue;
            }
            see(&path, path.strip_prefix(self.root()).unwrap().display().to_string());
            if path.is_dir() && !path.is_symlink() {
                self.walk(&path, see);
            }
        }
    }
}

/// Asserts that two trees are the same, and says where they are not.
#[track_caller]
pub fn same(now: &Tree, before: &Tree) {
    let names: BTreeSet<&String> = now.keys().chain(before.keys()).collect();
    let differ = names.into_iter().filter(|name| now.get(*name) != before.get(*name));
    let differ: Vec<String> = differ
        .map(|name| format!("{name}\n   was {:?}\n    is {:?}", before.get(name), now.get(name)))
        .collect();
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

/// The files that the kit has for a host, as the host's makers say where it looks.
pub fn files_of(host: &str, user: bool) -> BTreeSet<String> {
    let root = if user { "~/" } else { "" };
    let skills = |folder: &str| {
        ROLES.map(|role| format!("{root}{folder}/skills/debate-{role}/SKILL.md")).to_vec()
    };
    let mut files = match host {
        "claude" => skills(".claude"),
        _ => skills(".agents"),
    };
    let more: &[&str] = match (host, user) {
        ("claude", false) => &[".mcp.json"],
        ("claude", true) => &["~/.claude.json"],
        ("codex", false) => &["AGENTS.md", ".codex/config.toml"],
        ("codex", true) => &["~/.codex/AGENTS.md", "~/.codex/config.toml"],
        ("cursor", false) => &["AGENTS.md", ".cursor/mcp.json"],
        ("cursor", true) => &["~/.cursor/mcp.json"],
        ("opencode", false) => &["AGENTS.md", "opencode.json"],
        ("opencode", true) => &["~/.config/opencode/AGENTS.md", "~/.config/opencode/opencode.json"],
        ("agents", false) => &["AGENTS.md"],
        ("gemini", false) => &["GEMINI.md", ".gemini/settings.json"],
        ("gemini", true) => &["~/.gemini/GEMINI.md", "~/.gemini/settings.json"],
        _ => &[],
    };
    files.extend(more.iter().map(|name| (*name).to_owned()));
    if host == "gemini" {
        files.extend(ROLES.map(|role| format!("{root}.gemini/commands/debate/{role}.toml")));
    }
    files.into_iter().collect()
}

/// The same for several.
pub fn files_of_all(hosts: &[&str], user: bool) -> BTreeSet<String> {
    hosts.iter().flat_map(|host| files_of(host, user)).collect()
}

const LIVED_IN: &[(&str, &str)] = &[
    ("README.md", "# A project\n"),
    (
        "AGENTS.md",
        "# Notes for agents   \n\n- run `make test`\t\n- ask Ann\n\n\n<!-- end of notes -->",
    ),
    ("GEMINI.md", "@AGENTS.md\r\n\r\nNói tiếng Việt.\r\n"),
    (
        ".codex/config.toml",
        "# project settings, keep in step with CI\nmodel   = 'gpt-5'\n\n\
         [shell_environment_policy]\n  inherit = \"core\"   # no secrets\n\n\
         [mcp_servers.docs]\ncommand = \"npx\"\nargs = [\n  \"-y\",\n  \"docs\", # trailing\n]\n",
    ),
    (".gemini/commands/review.toml", "description = \"Review\"\nprompt = \"Review {{args}}\"\n"),
    (".gemini/settings.json", "{\n  // ours\n  \"context\": {\"fileName\": [\"GEMINI.md\"]},\n}\n"),
    (
        ".claude/settings.json",
        "{\n\t\"permissions\": {\"allow\": [\"Bash(make:*)\"]},\n\t\"env\": {}\n}\n",
    ),
    (
        ".claude/skills/other/SKILL.md",
        "---\nname: other\ndescription: Something else\n---\n\nBe other.\n",
    ),
    (".claude/commands/deploy.md", "Deploy it.\n"),
    (".mcp.json", "{\r\n\t\"mcpServers\": {\r\n\t\t\"docs\": {\"command\": \"npx\"}\r\n\t}\r\n}"),
    (
        ".agents/skills/other/SKILL.md",
        "---\nname: other\ndescription: Something else\n---\r\nBe other.",
    ),
    (".cursor/rules/style.mdc", "---\nalwaysApply: true\n---\nTabs.\n"),
    (".cursor/cli.json", "{\"permissions\":{\"allow\":[\"Shell(ls)\"]}}"),
    (".opencode/commands/test.md", "---\ndescription: Test\n---\nRun the tests.\n"),
    ("opencode.json", "{ \"$schema\": \"https://opencode.ai/config.json\" }\n"),
    (
        "~/dotfiles/codex.toml",
        "# vim: ft=toml\r\nmodel = \"gpt-5\"\r\n\r\n[shell_environment_policy.set]\r\n\
         \tEDITOR = \"true\"\t# never open one\r\n\r\n[projects.\"/srv/x\"]\r\ntrust_level = \"trusted\"\r\n",
    ),
    ("~/.codex/AGENTS.md", "Answer briefly.\n"),
    ("~/.codex/rules/default.rules", "prefix_rule(pattern=[\"ls\"], decision=\"allow\")\n"),
    ("~/.claude/settings.json", "{\"model\": \"opus\"}"),
    (
        "~/.claude.json",
        "{\n  \"numStartups\": 7,\n  \"projects\": {\n    \"/srv/x\": {\n      \"mcpServers\": {}\n    }\n  }\n}",
    ),
    ("~/.claude/CLAUDE.md", "Always write tests.\n"),
    ("~/.claude/skills/other/SKILL.md", "---\nname: other\ndescription: x\n---\n"),
    ("~/.agents/skills/other/SKILL.md", "---\nname: other\ndescription: x\n---\n"),
    ("~/.gemini/settings.json", "{\"ui\": {\"theme\": \"GitHub\"}}\n"),
    ("~/.gemini/GEMINI.md", "\u{feff}## Gemini Added Memories\n- I like tea"),
    ("~/.gemini/commands/review.toml", "prompt = '''Review {{args}}'''"),
    ("~/.config/opencode/opencode.json", "{\n  // mine\n  \"theme\": \"system\",\n}\n"),
    ("~/.config/opencode/AGENTS.md", "  \n\t\n"),
    ("~/.cursor/mcp.json", "{\"mcpServers\": {}}\n"),
    ("~/.cursor/sandbox.json", "{\"type\":\"workspace_readwrite\"}"),
];
