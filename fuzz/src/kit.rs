//! The agent kit, put into whatever somebody's files say and taken out again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use aw::kit::allow::rules;
use aw::kit::edit::{Edit, Edited, without_edits};
use aw::kit::host::{
    CODEX_DEADLINE, CODEX_TOOLS, Host, HostPaths, InstallScope, OPENCODE_TOOLS, TOOLS, ToolEntry,
    edits_of,
};
use aw::kit::json;
use aw::kit::manifest::LockedManifest;
use aw::kit::plan::{self, CannotPlan, Owner, Plan};
use aw::kit::texts::{Language, Voice};
use serde_json::Value;
use toml::Table;

use crate::files::parts;
use crate::scene::folder;

/// Parts a file from what comes after it.
const NEXT: &[u8] = b"\n--8<--\n";

const VOICE: Voice<'static> = Voice { language: Language::English, debate_language: "English" };

/// Any text as JSON with comments.
///
/// - Valid JSON is read, and has the value that every other parser reads.
/// - An error names its line.
/// - Each object and member stands where it is found.
pub fn json(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let plain = serde_json::from_str::<Value>(text);
    let value = match (json::parse(text), plain) {
        (Ok(Some(value)), Ok(plain)) => {
            assert_eq!(value, plain, "{text:?}");
            value
        }
        (Ok(Some(value)), Err(_)) => value,
        (Ok(None), Err(_)) => return,
        (Err(why), Err(_)) => return assert!(why.contains("line "), "{why}"),
        (other, Ok(plain)) => panic!("{plain} is {other:?}"),
    };
    stands(text, &value, &mut Vec::new());
}

fn stands(text: &str, value: &Value, path: &mut Vec<String>) {
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    let object = json::object(text, &names);
    let Some(members) = value.as_object() else { return assert!(object.is_none(), "{text:?}") };
    let object = object.unwrap_or_else(|| panic!("{names:?} of {text:?} is not found"));
    assert_eq!(json::value(&text[object.span]), *value, "{text:?}");
    for member in &object.members {
        let alone = json::value(&format!("{{{}\n}}", &text[member.span.clone()]));
        assert!(alone.get(&member.name).is_some(), "{alone} in {text:?}");
        for comma in [member.comma_before, member.comma_after].into_iter().flatten() {
            assert!(text[comma..].starts_with(','), "{text:?}");
        }
    }
    for (name, value) in members {
        path.push(name.clone());
        stands(text, value, path);
        path.pop();
    }
}

/// Anything as a file of a host, and as what somebody does to it afterwards. The first byte says
/// which kind of file it is, the next three where it is edited.
///
/// - What is put in comes out again without a trace, or nothing is put in at all.
/// - What is put in twice is there once.
/// - A file that is valid stays valid, and keeps all its other values; also when it was edited
///   before ours is taken out.
pub fn edits(data: &[u8]) {
    let [kind, high, low, length, rest @ ..] = data else { return };
    let parts = parts(rest, NEXT);
    let Ok(file) = str::from_utf8(parts[0]) else { return };
    let (edits, says): (Vec<Edit>, Says) = match kind % 5 {
        0 => (vec![Edit::Block(VOICE.notice().to_owned())], Says::Anything),
        1 => (vec![CODEX_DEADLINE, CODEX_TOOLS], Says::Toml),
        2 => (vec![TOOLS], Says::Json("mcpServers")),
        3 => (vec![OPENCODE_TOOLS], Says::Json("mcp")),
        _ => (vec![Edit::Hook], Says::Hooks),
    };
    let Ok(put) = Edited::of(&edits, file, &[]) else { return };
    says.keeps(file, &put.file);
    if !edits.iter().any(|edit| edit.is_in(file)) {
        assert!(edits.iter().all(|edit| edit.is_in(&put.file)), "{file:?} became {put:?}");
        let left = without_edits(&edits, &put.file, &put.texts);
        assert_eq!(left, file, "it went by {put:?}");
    }
    let again = Edited::of(&edits, &put.file, &put.texts).expect("it was put in before");
    assert_eq!((&again.file, &again.texts), (&put.file, &put.texts), "{file:?}");
    let Some(Ok(typed)) = parts.get(1).map(|typed| str::from_utf8(typed)) else { return };
    let at = usize::from(*high) << 8 | usize::from(*low);
    let edited = edited(&put.file, at, usize::from(*length), typed);
    let left = without_edits(&edits, &edited, &put.texts);
    says.keeps(&edited, &left);
    // And it can be put in again, or is in the way in words.
    let _ = Edited::of(&edits, &edited, &put.texts);
}

/// The file with something typed in the place of some of it.
fn edited(file: &str, at: usize, length: usize, typed: &str) -> String {
    let boundary = |at: usize| (0..=at.min(file.len())).rev().find(|at| file.is_char_boundary(*at));
    let from = boundary(at).unwrap_or(0);
    let to = boundary(from + length).unwrap_or(from).max(from);
    format!("{}{typed}{}", &file[..from], &file[to..])
}

/// The content of a host's file.
enum Says {
    Anything,
    Toml,
    Json(&'static str),
    Hooks,
}

impl Says {
    /// Asserts that a file that was valid is so still, and says the same apart from what is ours.
    fn keeps(&self, before: &str, after: &str) {
        match self {
            Says::Anything => {}
            Says::Toml => {
                let Ok(before) = toml::from_str::<Table>(before) else { return };
                let now = toml::from_str::<Table>(after);
                let now = now.unwrap_or_else(|bad| panic!("{bad}: {after:?}"));
                let own = |table: &Table| {
                    let mut table = table.clone();
                    without(
                        &mut table,
                        &["shell_environment_policy", "set", "DEBATE_WAIT_DEADLINE"],
                    );
                    without(&mut table, &["mcp_servers", "aw"]);
                    table
                };
                assert_eq!(own(&before), own(&now), "{after:?}");
            }
            Says::Hooks => {
                if json::parse(before).is_err() {
                    return;
                }
                assert!(json::parse(after).is_ok(), "{before:?} became {after:?}");
                let [before_it, after_it] = [before, after].map(without_hook);
                assert_eq!(before_it, after_it, "{before:?} became {after:?}");
            }
            Says::Json(list) => {
                if json::parse(before).is_err() {
                    return;
                }
                assert!(json::parse(after).is_ok(), "{before:?} became {after:?}");
                let own = |text: &str| {
                    let mut value = json::value(text);
                    if let Some(root) = value.as_object_mut() {
                        if let Some(servers) = root.get_mut(*list).and_then(Value::as_object_mut) {
                            servers.remove("aw");
                            if servers.is_empty() {
                                root.remove(*list);
                            }
                        }
                        // A file that is made for the entry says what it is.
                        if json::value(before).is_null() || json::value(after).is_null() {
                            root.remove("$schema");
                        }
                    }
                    if value == serde_json::json!({}) { Value::Null } else { value }
                };
                assert_eq!(own(before), own(after), "{before:?} became {after:?}");
                let [before, after] =
                    [before, after].map(|file| file.trim_start_matches('\u{feff}'));
                let is_json = |file: &str| serde_json::from_str::<Value>(file).is_ok();
                if is_json(before) && !after.trim().is_empty() {
                    assert!(is_json(after), "{before:?} became {after:?}");
                }
            }
        }
    }
}

/// The value of settings without the hook, and without the places that only held it.
fn without_hook(file: &str) -> Value {
    let mut value = json::value(file);
    if let Some(events) = value.get_mut("hooks").and_then(Value::as_object_mut) {
        if let Some(stop) = events.get_mut("Stop").and_then(Value::as_array_mut) {
            stop.retain(|one| !one.to_string().contains("\"aw wake claude\""));
            if stop.is_empty() {
                events.remove("Stop");
            }
        }
        if events.is_empty() {
            value.as_object_mut().map(|root| root.remove("hooks"));
        }
    }
    if value == serde_json::json!({}) { Value::Null } else { value }
}

/// Takes what stands there out of a table, and the tables that only held it.
fn without(table: &mut Table, path: &[&str]) {
    let [first, rest @ ..] = path else { return };
    if rest.is_empty() {
        table.remove(*first);
    } else if let Some(inner) = table.get_mut(*first).and_then(toml::Value::as_table_mut) {
        without(inner, rest);
        if inner.is_empty() {
            table.remove(*first);
        }
    }
}

/// The files that hosts keep and the kit writes into.
const FILES: [&str; 14] = [
    "desk/AGENTS.md",
    "desk/.codex/config.toml",
    "desk/.mcp.json",
    "desk/opencode.jsonc",
    "desk/GEMINI.md",
    "desk/.gemini/settings.json",
    "home/.codex/AGENTS.md",
    "home/.codex/config.toml",
    "home/.claude.json",
    "home/.cursor/mcp.json",
    "home/.gemini/GEMINI.md",
    "home/.config/opencode/opencode.json",
    "desk/.claude/settings.json",
    "home/.claude/settings.json",
];

/// A part that says this is a file that is not there.
const NONE: &[u8] = b"-";

/// Anything as the files of all hosts, in a project and at home, with the whole kit installed into
/// them and uninstalled. The first byte says whether for the project or for the user.
///
/// - It is installed, or refused with every file as it was.
/// - Installing it once more changes nothing.
/// - Uninstalled, every file and every folder is as it was.
pub fn install(data: &[u8]) {
    let Some((kind, data)) = data.split_first() else { return };
    let folder = folder();
    let root = folder.path();
    for place in ["desk/.git", "home"] {
        fs::create_dir_all(root.join(place)).expect("a folder is made");
    }
    let mut ours = false;
    for (name, bytes) in FILES.iter().zip(parts(data, NEXT)) {
        if bytes != NONE {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("it is in a folder"))
                .expect("a folder is made");
            fs::write(&path, bytes).expect("a file is written");
            let text = String::from_utf8_lossy(bytes);
            let edits = edits_of(&path, ToolEntry::default());
            let rules = Host::ALL.into_iter().filter_map(|host| rules(host, None, true));
            let others = rules.map(Edit::Allow).chain([Edit::Hook]);
            ours |= edits.into_iter().chain(others).any(|edit| edit.is_in(&text));
        }
    }
    let before = snapshot(root);
    let scope =
        if kind % 2 == 0 { InstallScope::Project(root.join("desk")) } else { InstallScope::User };
    let installs = || {
        applied(root, |paths, manifest| {
            let owner = Owner { project: scope.project(), lang: "en" };
            plan::install(
                &paths.files(
                    &Host::ALL,
                    &scope,
                    VOICE,
                    &|_, _| Some(ToolEntry::default()),
                    true,
                    &|_| true,
                ),
                owner,
                manifest,
            )
        })
    };
    if let Err(refused) = installs() {
        assert!(!refused.to_string().is_empty());
        assert_eq!(snapshot(root), before, "{refused}");
        return;
    }
    let with = snapshot(root);
    let again = installs().expect("it was installed before");
    assert!(again.is_empty(), "{:?}", again.changes);
    assert_eq!(snapshot(root), with);
    applied(root, |_, manifest| plan::uninstall(&Host::ALL, scope.project(), manifest))
        .expect("what was put in comes out");
    if !ours {
        assert_eq!(snapshot(root), before);
    }
}

fn applied(
    root: &Path,
    work: impl FnOnce(&HostPaths, &mut aw::kit::manifest::Manifest) -> Result<Plan, CannotPlan>,
) -> Result<Plan, CannotPlan> {
    let home = root.join("home").display().to_string();
    let environment = |name: &str| (name == "HOME").then(|| home.clone());
    let paths = HostPaths::of(&environment).expect("there is a home");
    let mut locked =
        LockedManifest::take(&root.join("data")).expect("nobody else has the manifest");
    let plan = work(&paths, &mut locked.manifest)?;
    plan.apply(&locked)?;
    Ok(plan)
}

/// Every file with what it says, and every folder, besides those of `aw` itself.
fn snapshot(root: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.join("desk"), root.join("home")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder can be read") {
            let path = entry.expect("an entry can be read").path();
            if path.is_dir() {
                folders.push(path.clone());
                found.insert(path, None);
            } else {
                let bytes = fs::read(&path).expect("a file can be read");
                found.insert(path, Some(bytes));
            }
        }
    }
    found
}
