//! Files in every form that people leave them in.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use toml::{Table, Value};

use super::super::home::{Home, same};

/// Where the notices go, and where the variable goes.
const NOTICES: [&str; 5] = [
    "AGENTS.md",
    "GEMINI.md",
    "~/.codex/AGENTS.md",
    "~/.gemini/GEMINI.md",
    "~/.config/opencode/AGENTS.md",
];
const SETTINGS: [&str; 2] = [".codex/config.toml", "~/.codex/config.toml"];

fn install(home: &Home) {
    home.does("install all");
    home.does("install all --user");
}

fn uninstall(home: &Home) {
    home.does("uninstall");
    home.does("uninstall --user");
}

#[test]
fn notes_in_any_form_get_a_block_and_lose_it_again() {
    let huge = "A line that is much like any other.\n".repeat(150_000);
    let forms = [
        "",
        "\n",
        " ",
        "\t \n  \n",
        "\r\n",
        "# Mine",
        "# Mine\n",
        "# Mine\n\n",
        "# Mine\n\n\n\n",
        "# Mine  \t \n\ttabs\n  ",
        "# Mine\r\n\r\nWindows\r\n",
        "# Mine\r\nno end",
        "# Mine\r\nmixed\nlines\r\n",
        "mixed\nlines\r\n",
        "an old Mac\rwrote this\r",
        "\u{feff}# With a mark\r\n",
        "\u{feff}",
        "nul \0 and escape \u{1b}[31m\n",
        "```\nan open fence\n",
        "<!-- a comment that is not ours -->\n",
        "We write `<!-- aw:begin -->` and `<!-- aw:end -->` in the middle of a line.\n",
        "Người dùng 🙂 e\u{301}\u{2028}line\u{85}\n",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n",
        &huge,
    ];
    let home = Home::bare();
    // Each file has another form than its neighbour, and each form comes to each file.
    for turn in (0..forms.len()).step_by(NOTICES.len()) {
        let form = |nth: usize| forms[(turn + nth) % forms.len()];
        for (nth, name) in NOTICES.into_iter().enumerate() {
            home.write(name, form(nth));
        }
        let before = home.tree();
        install(&home);
        for (nth, name) in NOTICES.into_iter().enumerate() {
            let with = home.read(name);
            let ours = with.strip_prefix(form(nth)).unwrap_or_else(|| panic!("{name}: {with:?}"));
            assert!(ours.trim_start().starts_with("<!-- aw:begin"), "{ours:?}");
            assert!(ours.trim_end().ends_with("<!-- aw:end -->"), "{ours:?}");
            assert!(ours.contains("debate-opponent"), "{ours:?}");
            if form(nth).split_inclusive('\n').next().is_some_and(|line| line.ends_with("\r\n")) {
                let ends = ours.matches('\n').count();
                assert_eq!(ours.matches("\r\n").count(), ends, "lines end as the file's do");
            }
        }
        uninstall(&home);
        same(&home.tree(), &before);
    }
}

const TOML: &[&str] = &[
    "",
    "\n",
    "  \t\n",
    "# only a comment",
    "# only a comment\r\n",
    "\u{feff}model = \"x\"\n",
    "model = \"x\"",
    "model=\"x\"   \t\n\n\n",
    "model = \"x\"\r\n[a]\r\nb = 1\r\n",
    "[[list]]\nx = 1\n[[list]]\nx = 2",
    "[a]\n\tb = [\n\t\t1, # one\n\t]\n",
    "text = '''\n[shell_environment_policy.set]\n'''\n",
    "[shell_environment_policy]\n",
    "[shell_environment_policy]",
    "[shell_environment_policy]\ninherit = \"core\"\n\n[other]\nx = 1\n",
    "[shell_environment_policy.set]\n",
    "[shell_environment_policy.set]",
    "[shell_environment_policy.set] # mine",
    "[ shell_environment_policy . \"set\" ]\r\n",
    "['shell_environment_policy'.set]\nFOO = 'a'",
    "[shell_environment_policy.set]\n# none yet\n\n[other]\nx = 1\n",
    "  [shell_environment_policy.set]  # mine\n  FOO = \"a\"  # odd\n\n[other]\nx=1\n",
    "[shell_environment_policy.set]\nFOO = \"\"\"\nmany\nlines\"\"\"\n",
    "[shell_environment_policy.set]\n\"DEBATE_WAIT\" = \"1\"\nXDEBATE_WAIT_DEADLINE = \"25\"\n",
    "[shell_environment_policy]\nset = { FOO = \"a\", BAR='b' }\n",
    "[shell_environment_policy]\nset = {FOO='a'}",
    "[shell_environment_policy]\nset = {}\n",
    "[shell_environment_policy]\nset = {\t}\ninherit = 'all' # set = {}\n",
    "[shell_environment_policy]\r\nset.FOO = \"a\"\r\n",
    "[shell_environment_policy]\nset . \"FOO\" = 'a' # { } \n",
    "shell_environment_policy.set.FOO = \"a\"\nmodel = \"x\"\n",
    "shell_environment_policy.inherit = \"core\"\n[z]\n",
    "shell_environment_policy = { inherit = \"core\" }\n",
    "shell_environment_policy = {}",
    "shell_environment_policy = {inherit=\"core\", set={FOO=\"a}\"}} # { }\n",
    "shell_environment_policy = {set.FOO='a'}\n",
    "shell_environment_policy = { set = { } }\r\n",
    "[profiles.x.shell_environment_policy.set]\nDEBATE_WAIT_DEADLINE = \"3\"\n",
    "mcp_servers = { docs = { command = 'npx' } }",
    "mcp_servers = {} # none\r\n",
    "mcp_servers.docs.command = 'npx'\n[z]\n",
    "[mcp_servers]\n[mcp_servers.\"aw2\"]\ncommand = 'aw'\n",
];

#[test]
fn settings_in_any_form_get_the_variable_and_the_entry_and_lose_them_again() {
    let home = Home::bare();
    for pair in TOML.chunks(2) {
        let form = |nth: usize| pair[nth % pair.len()];
        for (nth, name) in SETTINGS.into_iter().enumerate() {
            home.write(name, form(nth));
        }
        let before = home.tree();
        home.does("install codex");
        home.does("install codex --user");
        for (nth, name) in SETTINGS.into_iter().enumerate() {
            let with = home.read(name);
            let mut now: Table =
                toml::from_str(&with).unwrap_or_else(|bad| panic!("{bad}: {with}"));
            let policy = now["shell_environment_policy"].as_table_mut().unwrap();
            let set = policy["set"].as_table_mut().unwrap();
            assert_eq!(set.remove("DEBATE_WAIT_DEADLINE"), Some(Value::from("25")), "{with}");
            let servers = now["mcp_servers"].as_table_mut().unwrap();
            let entry = servers.remove("aw").unwrap_or_else(|| panic!("{with}"));
            assert_eq!(entry["command"].as_str(), Some("aw"), "{with}");
            // Tables that hold nothing are no difference that anybody could notice.
            let without = |mut table: Table| {
                if let Some(Value::Table(policy)) = table.get_mut("shell_environment_policy") {
                    policy.retain(|_, value| value.as_table().is_none_or(|set| !set.is_empty()));
                }
                table.retain(|name, value| {
                    !["shell_environment_policy", "mcp_servers"].contains(&name)
                        || value.as_table().is_none_or(|policy| !policy.is_empty())
                });
                table
            };
            let was: Table = toml::from_str(form(nth)).unwrap();
            assert_eq!(without(now), without(was), "{:?} became {with:?}", form(nth));
            assert!(super::is_supersequence(&with, form(nth)), "{with:?}");
        }
        uninstall(&home);
        same(&home.tree(), &before);
    }
}

#[test]
fn a_variable_that_somebody_has_set_already_is_theirs() {
    for file in [
        "[shell_environment_policy.set]\nDEBATE_WAIT_DEADLINE = \"9\"\n",
        "[shell_environment_policy.set]\nDEBATE_WAIT_DEADLINE = \"25\"\n",
        "shell_environment_policy = {set={DEBATE_WAIT_DEADLINE='25'}}",
    ] {
        let home = Home::bare();
        home.write(".codex/config.toml", file);
        let before = home.tree();
        home.does("install codex");
        let now = home.read(".codex/config.toml");
        let ours = now.strip_prefix(file).unwrap_or_else(|| panic!("{now:?}"));
        assert!(!ours.contains("DEBATE_WAIT_DEADLINE") && ours.contains("[mcp_servers.aw]"));
        home.does("uninstall");
        same(&home.tree(), &before);
    }
}

#[test]
fn a_linked_file_stays_a_link_and_what_it_leads_to_is_written() {
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
fn a_linked_folder_stays_a_link_and_what_it_leads_to_is_used() {
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
fn modes_are_kept_and_a_closed_file_is_never_open_to_others() {
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
