//! What somebody writes into a file after the kit was installed is theirs, wherever it stands.

use super::super::home::{HOSTS, Home, files_of_all, same};
use crate::world::text;

const SKILL: &str = ".agents/skills/debate-opponent/SKILL.md";

/// A project whose notes say this, with the kit.
fn with_notes(notes: &str) -> Home {
    let home = Home::bare();
    home.write("AGENTS.md", notes);
    home.does("install opencode");
    home
}

#[test]
fn what_is_added_before_and_after_the_block_stays() {
    for (notes, added, left) in [
        ("# Mine\n", "\nMore.\n", "# Yours\n\nMore.\n"),
        ("# Mine\n", "More.\n", "# Yours\nMore.\n"),
        ("# Mine", "More.", "# Yours\nMore."),
        ("# Mine", "\nMore.\n", "# Yours\nMore.\n"),
        ("# Mine\r\n", "More.\r\n", "# Yours\r\nMore.\r\n"),
        ("# Mine\r\nend", "More.\r\n", "# Yours\r\nend\r\nMore.\r\n"),
        ("# Mine\n\n", "\n\n\n", "# Yours\n\n\n\n\n"),
    ] {
        let home = with_notes(notes);
        home.edit("AGENTS.md", "# Mine", "# Yours");
        home.append("AGENTS.md", added);
        let edited = home.read("AGENTS.md");
        assert_eq!(home.does("install opencode")["AGENTS.md"], "unchanged");
        assert_eq!(home.read("AGENTS.md"), edited);
        home.does("uninstall");
        assert_eq!(home.read("AGENTS.md"), left, "{notes:?} {added:?}");
    }
}

#[test]
fn what_is_written_into_the_block_is_never_overwritten_and_stays() {
    let home = with_notes("# Mine\n");
    let ours = home.read("AGENTS.md");
    home.edit("AGENTS.md", "## Debates (`aw`)\n", "## Debates (`aw`)\n\nAsk Ann first.\n");
    let (tree, stamps) = (home.tree(), home.stamps());
    for again in ["install opencode", "install all --dry-run", "install opencode --lang vi"] {
        let told = home.agent(again);
        assert_eq!(home.changes(&told.data())["AGENTS.md"], "edited");
        if again == "install opencode" {
            assert!(text(&told.ok()["metadata"]["message"]).contains("edited"), "{told:?}");
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
fn a_block_from_which_somebody_only_took_something_goes_without_a_trace() {
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
fn a_block_that_was_moved_is_found() {
    let home = with_notes("# Mine\n\nText.\n");
    let with = home.read("AGENTS.md");
    let at = with.find("<!-- aw:begin").unwrap();
    home.write("AGENTS.md", format!("{}\n# Mine\n\nText.\n", &with[at..]));
    assert_ne!(home.does("install opencode")["AGENTS.md"], "updated");
    home.does("uninstall");
    assert_eq!(home.read("AGENTS.md"), "\n# Mine\n\nText.\n");
}

#[test]
fn a_block_that_somebody_removed_comes_back_when_asked_for_and_only_then() {
    let home = with_notes("# Mine\n");
    home.write("AGENTS.md", "# Mine\n");
    assert_eq!(home.does("install opencode")["AGENTS.md"], "updated");
    assert!(home.read("AGENTS.md").contains("aw:begin"));
    home.write("AGENTS.md", "# Other\n");
    assert_eq!(home.does("uninstall")["AGENTS.md"], "unchanged");
    assert_eq!(home.read("AGENTS.md"), "# Other\n");
}

#[test]
fn a_file_that_we_made_and_somebody_made_theirs_stays_even_if_it_is_empty() {
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
fn a_newer_block_takes_the_place_of_ours_among_what_is_theirs() {
    let home = with_notes("# Mine");
    home.append("AGENTS.md", "More.\n");
    home.edit("AGENTS.md", "# Mine", "# Yours");
    assert_eq!(home.does("install opencode --lang vi")["AGENTS.md"], "updated");
    let with = home.read("AGENTS.md");
    assert!(with.starts_with("# Yours\n") && with.ends_with("-->\nMore.\n"), "{with:?}");
    home.does("uninstall");
    assert_eq!(home.read("AGENTS.md"), "# Yours\nMore.\n");
}

#[test]
fn an_edited_skill_is_never_overwritten_and_what_was_added_stays() {
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
fn a_skill_that_somebody_wrote_anew_is_theirs_to_the_last_byte() {
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
fn a_skill_that_somebody_deleted_is_no_trouble() {
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
fn a_folder_of_ours_that_somebody_used_stays() {
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

/// A project with these settings of Codex and the kit.
fn with_settings(settings: &str) -> Home {
    let home = Home::bare();
    home.write(".codex/config.toml", settings);
    home.does("install codex");
    home
}

const CONFIG: &str = ".codex/config.toml";

#[test]
fn another_value_of_our_variable_is_somebodys_choice() {
    for settings in ["model = 'x'\n", "[shell_environment_policy]\nset = { A = 'b' }\n"] {
        let home = with_settings(settings);
        home.edit(CONFIG, "\"25\"", "\"20\"");
        let edited = home.read(CONFIG);
        assert_eq!(home.does("install codex")[CONFIG], "edited");
        assert_eq!(home.read(CONFIG), edited);
        home.does("uninstall");
        let left = home.read(CONFIG);
        assert!(left.contains("DEBATE_WAIT_DEADLINE = \"20\""), "{left:?}");
        assert!(left.starts_with(settings.trim_end_matches(" }\n")), "{left:?}");
        assert!(!left.contains("aw:"), "our own comments go: {left:?}");
    }
}

#[test]
fn settings_that_somebody_adds_around_ours_keep_their_meaning() {
    for (settings, old, new, left) in [
        // After our table, a key of the same table.
        (
            "model = 'x'\n",
            "# aw:end\n",
            "# aw:end\nFOO = 'a'\n",
            "model = 'x'\n\n[shell_environment_policy.set]\nFOO = 'a'\n",
        ),
        // Inside our markers.
        (
            "model = 'x'\n",
            "DEBATE_WAIT",
            "FOO = 'a'\nDEBATE_WAIT",
            "model = 'x'\n\n[shell_environment_policy.set]\nFOO = 'a'\n",
        ),
        // A table after ours, in a file that had no end of line.
        ("model = 'x'", "# aw:end\n", "# aw:end\n[a]\nb = 1\n", "model = 'x'\n[a]\nb = 1\n"),
        ("model = 'x'\r\n", "model", "effort = 1\r\nmodel", "effort = 1\r\nmodel = 'x'\r\n"),
        // A neighbour in the same braces goes, or comes, or is all that is left.
        (
            "[shell_environment_policy]\nset = { A = 'b' }\n",
            "A = 'b', ",
            "",
            "[shell_environment_policy]\nset = { }\n",
        ),
        (
            "[shell_environment_policy]\nset = { A = 'b' }\n",
            "\"25\"",
            "\"25\", C = 'd'",
            "[shell_environment_policy]\nset = { A = 'b', C = 'd' }\n",
        ),
        (
            "[shell_environment_policy.set]\nA = 'b'\n",
            "A = 'b'\n",
            "B = 'c'\n",
            "[shell_environment_policy.set]\nB = 'c'\n",
        ),
    ] {
        let home = with_settings(settings);
        home.edit(CONFIG, old, new);
        let edited = home.read(CONFIG);
        home.does("install codex");
        assert_eq!(home.read(CONFIG), edited);
        home.does("uninstall");
        assert_eq!(home.read(CONFIG), left, "{edited:?}");
    }
}

#[test]
fn a_comment_of_ours_that_somebody_changed_leaves_no_empty_table() {
    let home = with_settings("model = 'x'\n");
    home.edit(CONFIG, "Codex gives up", "Codex, says Ann, gives up");
    home.does("uninstall");
    let left = home.read(CONFIG);
    assert!(left.starts_with("model = 'x'\n"), "{left:?}");
    assert!(!left.contains("shell_environment_policy") && !left.contains("aw:end"), "{left:?}");
}

#[test]
fn settings_that_somebody_broke_still_lose_what_is_ours() {
    let home = with_settings("model = 'x'\n");
    home.edit(CONFIG, "model = 'x'", "model = ");
    home.does("uninstall");
    assert_eq!(home.read(CONFIG), "model = \n");
}
