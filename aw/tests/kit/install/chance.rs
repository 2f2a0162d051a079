//! Files made up by chance: whatever they say, the kit comes and goes without a trace.

use aw::kit::host::CODEX_DEADLINE;
use aw::kit::splice::{Graft, Put};
use toml::Table;

use super::super::home::{Home, same};
use crate::world::Dice;

fn pick<'a>(dice: &mut Dice, from: &[&'a str]) -> &'a str {
    from[usize::try_from(dice.below(from.len() as u64)).unwrap()]
}

/// Notes in a form that nobody would think of.
fn markdown(dice: &mut Dice) -> String {
    let mut text = pick(dice, &["", "", "\u{feff}", "\n", "\r\n"]).to_owned();
    for _ in 0..dice.below(9) {
        text += pick(
            dice,
            &[
                "# Title",
                "- item",
                "  ",
                "\t",
                "```",
                "<!-- note -->",
                "aw:begin",
                "ends aw:end",
                "Xin chào 🙂",
                "## Debates (`aw`)",
                "\u{2028}",
                "\0",
                "",
                "",
            ],
        );
        text += pick(dice, &["\n", "\n", "\n\n", "\r\n", "\r\n", "\r", " ", ""]);
    }
    text
}

/// Settings of Codex that are valid, in one of the many ways to write them.
fn settings(dice: &mut Dice) -> String {
    loop {
        let end = pick(dice, &["\n", "\n", "\r\n"]);
        let gap = |dice: &mut Dice| pick(dice, &["", " ", "  ", "\t"]).to_owned();
        let mut text = pick(dice, &["", "", "", "\u{feff}", "# first", "model = 'x'"]).to_owned();
        text += if text.len() > 3 { end } else { "" };
        for _ in 0..dice.below(7) {
            let (a, b, c) = (gap(dice), gap(dice), gap(dice));
            let pair = pick(dice, &["A = 'b'", "\"B\"=\"}\"", "C = \"\"\"\n[x]\n\"\"\"", "D='#'"]);
            let inline = match dice.below(4) {
                0 => format!("{{{a}}}"),
                1 => format!("{{{a}E = 'f'{b}}}"),
                2 => format!("{{{a}E = 'f',{b}F=\"{{\"{c}}}"),
                _ => format!("{{E.F = 'x'{b}}}"),
            };
            text += &match dice.below(14) {
                0 => format!("{a}[shell_environment_policy]{b}"),
                1 => format!("{a}[shell_environment_policy.set]{b}"),
                2 => format!("[{a}shell_environment_policy{b}.{c}'set'{a}]"),
                3 => format!("{a}set{b}={c}{inline}"),
                4 => format!("shell_environment_policy{a}={b}{inline}"),
                5 => format!("shell_environment_policy{a}={b}{{ set = {inline}{c}}}"),
                6 => format!("shell_environment_policy.set.{pair}"),
                7 => format!("{a}set.{pair}"),
                8 => "shell_environment_policy.inherit = 'core'".to_owned(),
                9 => format!("[[servers]]{a}"),
                10 => format!("[t{}]", dice.below(3)),
                11 => format!("{a}inherit{b}= 'all'"),
                12 => format!("l = [{end}{a}1,{b}# one{end}{c}]"),
                _ => format!("{a}{pair}{b}"),
            };
            text += pick(dice, &["", "", " # said", "#{[\"'"]);
            text += pick(dice, &[end, end, "\n", "\n\n", "\n\t\n"]);
        }
        if dice.below(3) == 0 {
            text.truncate(text.trim_end().len());
        }
        if toml::from_str::<Table>(&text).is_ok() {
            return text;
        }
    }
}

#[test]
fn a_block_goes_in_and_out_of_any_text() {
    let mut dice = Dice::new();
    let block = Graft::Block("## Debates (`aw`)\n\nUse it.".to_owned());
    for _ in 0..4_000 {
        let file = markdown(&mut dice);
        let Ok(Put::In { file: with, inserted }) = block.put(&file, None) else {
            panic!("{file:?}")
        };
        assert_eq!(with, format!("{file}{inserted}"));
        assert_eq!(
            block.put(&with, Some(&inserted)),
            Ok(Put::There { inserted: inserted.clone() })
        );
        assert_eq!(block.take_out(&with, &inserted), file, "{with:?}");
        // What somebody writes around it stays, and no two lines of theirs become one.
        let (before, after) = (markdown(&mut dice), markdown(&mut dice));
        let left = block.take_out(&format!("{before}{with}{after}"), &inserted);
        let apart = left.strip_prefix(&format!("{before}{file}")).unwrap();
        let unfinished = !file.is_empty() && !file.ends_with('\n');
        let follows = !after.is_empty() && !after.starts_with('\n') && !after.starts_with("\r\n");
        if unfinished && follows {
            let apart = apart.strip_prefix("\r\n").or(apart.strip_prefix('\n'));
            assert_eq!(apart, Some(after.as_str()), "{with:?} became {left:?}");
        } else {
            assert_eq!(apart, after, "{with:?} became {left:?}");
        }
    }
}

#[test]
fn the_variable_goes_in_and_out_of_any_settings() {
    let mut dice = Dice::new();
    let mut refused = 0;
    for _ in 0..4_000 {
        let file = settings(&mut dice);
        let (with, inserted) = match CODEX_DEADLINE.put(&file, None) {
            Ok(Put::In { file, inserted }) => (file, inserted),
            // There are settings that Codex itself would not take.
            Err(_) => {
                refused += 1;
                continue;
            }
            other => panic!("{other:?} for {file:?}"),
        };
        let table: Table = toml::from_str(&with).unwrap();
        let set = &table["shell_environment_policy"]["set"];
        assert_eq!(set["DEBATE_WAIT_DEADLINE"].as_str(), Some("25"), "{file:?} became {with:?}");
        assert_eq!(CODEX_DEADLINE.take_out(&with, &inserted), file, "{with:?}");
        // Somebody who adds a table at the end, or a comment at the beginning, keeps it.
        let edited = format!("{with}\n[added]\nx = 1\n");
        if toml::from_str::<Table>(&edited).is_ok() {
            let left = CODEX_DEADLINE.take_out(&edited, &inserted);
            let was: Table = toml::from_str(&format!("{file}\n[added]\nx = 1\n")).unwrap();
            assert_eq!(toml::from_str::<Table>(&left).unwrap(), was, "{edited:?} became {left:?}");
            assert!(!left.contains("DEBATE_WAIT_DEADLINE") && !left.contains("aw:"), "{left:?}");
        }
    }
    assert!(refused < 400, "{refused} are too many to be odd ones");
}

#[test]
fn a_whole_home_of_chance_comes_back() {
    let mut dice = Dice::new();
    let home = Home::bare();
    for _ in 0..12 {
        for name in ["AGENTS.md", "GEMINI.md", "~/.gemini/GEMINI.md", "~/.codex/AGENTS.md"] {
            if dice.below(5) > 0 {
                home.write(name, markdown(&mut dice));
            }
        }
        for name in [".codex/config.toml", "~/.codex/config.toml"] {
            home.write(name, settings(&mut dice));
        }
        let before = home.tree();
        for scope in ["", "--user"] {
            if home.agent(&format!("install all {scope}")).code == 0 {
                assert_ne!(home.tree(), before);
            }
        }
        home.does("uninstall");
        home.does("uninstall --user");
        same(&home.tree(), &before);
    }
}
