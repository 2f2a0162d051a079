//! Text that somebody writes into a file after the installation stays.

use super::super::home::{HOSTS, Home, files_of_all, same};
use crate::world::text;

const SKILL: &str = ".agents/skills/debate-opponent/SKILL.md";

/// A project with these notes and the kit.
fn with_notes(notes: &str) -> Home {
    let home = Home::bare();
    home.write("AGENTS.md", notes);
    home.does("install opencode");
    home
}

#[test]
fn lines_written_into_the_block_are_never_overwritten() {
    let home = with_notes("# Mine\n");
    let ours = home.read("AGENTS.md");
    home.edit("AGENTS.md", "## Debates (`aw`)\n", "## Debates (`aw`)\n\nAsk Ann first.\n");
    let (tree, stamps) = (home.tree(), home.stamps());
    for again in ["install opencode", "install all --dry-run", "install opencode --lang vi"] {
        let ran = home.agent(again);
        assert_eq!(home.changes(&ran.data())["AGENTS.md"], "edited");
        if again == "install opencode" {
            assert!(text(&ran.ok()["metadata"]["message"]).contains("edited"), "{ran:?}");
            same(&home.tree(), &tree);
            assert_eq!(home.stamps(), stamps);
        }
        assert!(home.read("AGENTS.md").contains("Ask Ann first."));
    }
    assert_eq!(home.does("uninstall")["AGENTS.md"], "kept");
    let left = home.read("AGENTS.md");
    assert!(left.starts_with("# Mine\n") && left.contains("Ask Ann first.\n"), "{left:?}");
    let ours = ours.lines().filter(|line| !line.is_empty() && *line != "# Mine");
    for line in ours {
        assert!(!left.contains(line), "{line:?} is ours: {left:?}");
    }
}

#[test]
fn a_block_with_deleted_lines_is_removed_without_a_trace() {
    for notes in ["# Mine\n", "# Mine", "\n", "# Mine\r\n"] {
        let home = with_notes(notes);
        home.edit("AGENTS.md", "## Debates (`aw`)", "");
        assert_eq!(home.does("install opencode")["AGENTS.md"], "edited");
        home.does("uninstall");
        assert_eq!(home.read("AGENTS.md").trim_end(), notes.trim_end());
        assert!(!home.read("AGENTS.md").contains("aw:"), "{:?}", home.read("AGENTS.md"));
    }
    let home = Home::bare();
    let before = home.tree();
    home.does("install opencode");
    home.edit("AGENTS.md", "## Debates (`aw`)\n", "");
    home.does("uninstall");
    same(&home.tree(), &before);
}

#[test]
fn a_deleted_block_comes_back_only_with_the_next_install() {
    let home = with_notes("# Mine\n");
    home.write("AGENTS.md", "# Mine\n");
    assert_eq!(home.does("install opencode")["AGENTS.md"], "updated");
    assert!(home.read("AGENTS.md").contains("aw:begin"));
    home.write("AGENTS.md", "# Other\n");
    assert_eq!(home.does("uninstall")["AGENTS.md"], "unchanged");
    assert_eq!(home.read("AGENTS.md"), "# Other\n");
}

#[test]
fn a_file_of_ours_that_somebody_replaced_stays_even_if_it_is_empty() {
    let home = Home::bare();
    home.does("install opencode");
    home.append("AGENTS.md", "Theirs.\n");
    home.does("uninstall");
    assert_eq!(home.read("AGENTS.md"), "Theirs.\n");
    home.remove("AGENTS.md");
    home.does("install opencode");
    home.remove("AGENTS.md");
    home.write("AGENTS.md", "");
    home.does("install opencode");
    home.does("uninstall");
    assert_eq!(home.read("AGENTS.md"), "", "the empty file was theirs");
}

#[test]
fn an_edited_skill_is_never_overwritten() {
    let home = Home::bare();
    home.does("install codex");
    let ours = home.read(SKILL);
    home.append(SKILL, "\nBe kind to Ann.\n");
    home.edit(SKILL, "---\n\n", "---\n\nSpeak German.\n");
    let edited = home.read(SKILL);
    home.aw().config("debate_language = 'German'");
    for again in ["install codex", "install all", "install codex --lang vi"] {
        assert_eq!(home.does(again)[SKILL], "edited");
        assert_eq!(home.read(SKILL), edited);
    }
    assert_eq!(home.does("uninstall")[SKILL], "kept");
    let left = home.read(SKILL);
    assert!(left.contains("Speak German.\n") && left.ends_with("Be kind to Ann.\n"), "{left:?}");
    assert!(ours.lines().filter(|line| line.len() > 20).all(|line| !left.contains(line)));
    for name in files_of_all(&HOSTS, false) {
        assert!(name == SKILL || !home.has(&name), "{name} is gone");
    }
}

#[test]
fn a_rewritten_skill_stays_to_the_last_byte() {
    let home = Home::bare();
    home.does("install codex");
    let front: String = home.read(SKILL).lines().take(4).map(|line| format!("{line}\n")).collect();
    let own = format!("{front}\nOppose.\n\n- kindly\n\n---\n");
    home.write(SKILL, &own);
    assert_eq!(home.does("install codex")[SKILL], "edited");
    assert_eq!(home.does("uninstall")[SKILL], "edited");
    assert_eq!(home.read(SKILL), own);
}

#[test]
fn a_deleted_skill_is_written_again() {
    let home = Home::bare();
    let before = home.tree();
    home.does("install codex");
    home.remove(SKILL);
    assert_eq!(home.does("install codex")[SKILL], "created");
    home.remove(SKILL);
    home.does("uninstall");
    same(&home.tree(), &before);
}

#[test]
fn a_folder_with_files_of_others_stays() {
    let home = Home::bare();
    home.does("install all");
    home.write(".agents/skills/debate-opponent/notes.txt", "Mine.\n");
    home.write(".gemini/settings.json", "{}");
    home.does("uninstall");
    assert_eq!(home.read(".agents/skills/debate-opponent/notes.txt"), "Mine.\n");
    assert_eq!(home.read(".gemini/settings.json"), "{}");
    for gone in [SKILL, ".gemini/commands", ".claude", ".agents/skills/debate-proposer"] {
        assert!(!home.has(gone), "{gone}");
    }
}
