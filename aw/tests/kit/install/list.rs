//! `aw agent list`: the installed files and their states.

use std::fs;

use super::super::home::{HOSTS, Home, files_of, files_of_all};
use super::all_are;

#[test]
fn the_list_has_current_outdated_edited_and_missing_files() {
    let home = Home::lived_in();
    let empty = home.agent("list");
    assert_eq!(empty.ok()["total_count"], 0);
    home.does("install all");
    home.does("install codex --user");
    let listed = home.agent("list");
    all_are(&home.changes(&listed.data()), "current");
    let total = files_of_all(&HOSTS, false).len() + files_of("codex", true).len();
    assert_eq!(listed.ok()["total_count"], total);
    // What the skills say depends on it, so it is as if aw had a newer text.
    home.aw().config("debate_language = 'German'");
    home.edit(".agents/skills/debate-opponent/SKILL.md", "---\n\n", "---\n\nBe kind.\n\n");
    home.edit("GEMINI.md", "Debates", "Our debates");
    home.remove(".agents/skills/debate-arbitrator/SKILL.md");
    home.write(".codex/config.toml", "model = 'gpt-5'\n");
    home.write("~/.codex/AGENTS.md", "Answer briefly.\n");
    let states = home.changes(&home.agent("list").data());
    for (name, state) in [
        ("AGENTS.md", "current"),
        (".agents/skills/debate-proposer/SKILL.md", "outdated"),
        (".claude/skills/debate-proposer/SKILL.md", "outdated"),
        (".agents/skills/debate-opponent/SKILL.md", "edited"),
        ("GEMINI.md", "edited"),
        (".agents/skills/debate-arbitrator/SKILL.md", "missing"),
        (".codex/config.toml", "missing"),
        ("~/.codex/AGENTS.md", "missing"),
        ("~/.codex/config.toml", "current"),
    ] {
        assert_eq!(states[name], state, "{name}");
    }
    let page = home.agent("list --format markdown").stdout;
    for word in ["current", "outdated", "edited", "missing", "codex, cursor"] {
        assert!(page.contains(word), "{word}: {page}");
    }
}

#[test]
fn a_deleted_project_is_not_listed() {
    let home = Home::bare();
    fs::create_dir_all(home.at("gone/.git")).unwrap();
    home.aw().sh("cd gone && aw agent install claude").ok();
    fs::remove_dir_all(home.at("gone")).unwrap();
    home.does("install claude");
    all_are(&home.changes(&home.agent("list").data()), "current");
}
