//! Links and modes of files stay as they are.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::super::home::{Home, same};

fn install(home: &Home) {
    home.does("install all");
    home.does("install all --user");
}

fn uninstall(home: &Home) {
    home.does("uninstall");
    home.does("uninstall --user");
}

#[test]
fn a_linked_file_stays_a_link_and_its_target_is_written() {
    let home = Home::bare();
    home.write("docs/notes.md", "# Notes\n");
    home.link("docs/notes.md", "AGENTS.md");
    home.write("~/dotfiles/deep/codex.toml", "model = 'x'\n");
    home.link("deep/codex.toml", "~/dotfiles/codex.toml");
    home.link("../dotfiles/codex.toml", "~/.codex/config.toml");
    let before = home.tree();
    install(&home);
    assert!(home.at("AGENTS.md").is_symlink() && home.at("~/.codex/config.toml").is_symlink());
    assert!(home.at("~/dotfiles/codex.toml").is_symlink());
    assert!(home.read("docs/notes.md").contains("aw:begin"));
    assert!(home.read("~/dotfiles/deep/codex.toml").contains("DEBATE_WAIT_DEADLINE"));
    uninstall(&home);
    same(&home.tree(), &before);
}

#[test]
fn a_linked_folder_stays_a_link_and_its_target_is_used() {
    let home = Home::bare();
    home.write("~/dotfiles/claude/settings.json", "{}");
    home.link("dotfiles/claude", "~/.claude");
    home.write("shared/agents/skills/other/SKILL.md", "Be other.\n");
    home.link("shared/agents", ".agents");
    let before = home.tree();
    install(&home);
    assert!(home.has("shared/agents/skills/debate-proposer/SKILL.md"));
    assert!(home.has("~/dotfiles/claude/skills/debate-proposer/SKILL.md"));
    uninstall(&home);
    same(&home.tree(), &before);
}

#[test]
fn modes_are_kept() {
    let home = Home::lived_in();
    for (name, mode) in [("AGENTS.md", 0o600), ("GEMINI.md", 0o755), (".codex/config.toml", 0o620)]
    {
        home.mode(name, mode);
    }
    let before = home.tree();
    home.does("install all");
    for (name, mode) in [("AGENTS.md", 0o600), ("GEMINI.md", 0o755), (".codex/config.toml", 0o620)]
    {
        let now = fs::metadata(home.at(name)).unwrap().permissions().mode();
        assert_eq!(now & 0o777, mode, "{name}");
    }
    home.does("uninstall");
    same(&home.tree(), &before);
}
