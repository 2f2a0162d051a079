//! Files made up by chance: whatever they say, the kit comes and goes without a trace.

use aw::kit::edit::{Edit, Insertion};
use aw::kit::host::{CODEX_DEADLINE, CODEX_TOOLS, OPENCODE_TOOLS, TOOLS};
use serde_json::{Map, Value, json};
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
            text += &match dice.below(18) {
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
                13 => format!("{a}[mcp_servers]{b}"),
                14 => format!("[mcp_servers . 'd{}'{a}]", dice.below(3)),
                15 => format!("mcp_servers{a}={b}{{ d = {inline}{c}}}"),
                16 => format!("mcp_servers.d{}.{pair}", dice.below(3)),
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
    let block = Edit::Block("## Debates (`aw`)\n\nUse it.".to_owned());
    for _ in 0..4_000 {
        let file = markdown(&mut dice);
        let Ok(Insertion::New { file: with, inserted }) = block.insert(&file, &[]) else {
            panic!("{file:?}")
        };
        assert_eq!(with, format!("{file}{inserted}"));
        let there = Ok(Insertion::Present { inserted: inserted.clone() });
        let inserted = [inserted];
        assert_eq!(block.insert(&with, &inserted), there);
        assert_eq!(block.remove(&with, &inserted), file, "{with:?}");
        // What somebody writes around it stays, and no two lines of theirs become one.
        let (before, after) = (markdown(&mut dice), markdown(&mut dice));
        let left = block.remove(&format!("{before}{with}{after}"), &inserted);
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

/// The file with all of this put into it, and what was put in.
fn with_all(edits: &[Edit], file: &str) -> Option<(String, Vec<String>)> {
    let mut with = file.to_owned();
    let mut texts = Vec::new();
    for edit in edits {
        match edit.insert(&with, &texts) {
            Ok(Insertion::New { file, inserted }) => {
                with = file;
                texts.push(inserted);
            }
            Err(_) => return None,
            other => panic!("{other:?} for {file:?}"),
        }
    }
    Some((with, texts))
}

/// The file without any of it; in whichever order.
fn without_all(edits: &[Edit], file: &str, texts: &[String], dice: &mut Dice) -> String {
    let mut order: Vec<&Edit> = edits.iter().collect();
    if dice.below(2) == 0 {
        order.reverse();
    }
    order.into_iter().fold(file.to_owned(), |file, edit| edit.remove(&file, texts))
}

#[test]
fn the_variable_and_the_entry_go_in_and_out_of_any_settings() {
    let mut dice = Dice::new();
    let mut refused = 0;
    let edits = [CODEX_DEADLINE, CODEX_TOOLS];
    for _ in 0..4_000 {
        let file = settings(&mut dice);
        // There are settings that Codex itself would not take.
        let Some((with, texts)) = with_all(&edits, &file) else {
            refused += 1;
            continue;
        };
        let table: Table = toml::from_str(&with).unwrap();
        let set = &table["shell_environment_policy"]["set"];
        assert_eq!(set["DEBATE_WAIT_DEADLINE"].as_str(), Some("25"), "{file:?} became {with:?}");
        let entry = &table["mcp_servers"]["aw"];
        assert_eq!(entry["command"].as_str(), Some("aw"), "{file:?} became {with:?}");
        for (edit, text) in edits.iter().zip(&texts) {
            let there = Ok(Insertion::Present { inserted: text.clone() });
            assert_eq!(edit.insert(&with, &texts), there, "{with:?}");
        }
        assert_eq!(without_all(&edits, &with, &texts, &mut dice), file, "{with:?}");
        // Somebody who adds a table at the end, or a comment at the beginning, keeps it.
        let edited = format!("{with}\n[added]\nx = 1\n");
        if toml::from_str::<Table>(&edited).is_ok() {
            let left = without_all(&edits, &edited, &texts, &mut dice);
            let was: Table = toml::from_str(&format!("{file}\n[added]\nx = 1\n")).unwrap();
            assert_eq!(toml::from_str::<Table>(&left).unwrap(), was, "{edited:?} became {left:?}");
            assert!(!left.contains("DEBATE_WAIT_DEADLINE") && !left.contains("aw:"), "{left:?}");
        }
    }
    assert!(refused < 600, "{refused} are too many to be odd ones");
}

/// A value as somebody might write it, plainly or with comments and commas to spare, and what it is.
fn any_json(dice: &mut Dice, plain: bool, depth: u64) -> (String, Value) {
    let leaf = dice.below(3 + depth) >= 3;
    let (text, value) = match dice.below(if leaf { 6 } else { 8 }) {
        0 => ("null".to_owned(), Value::Null),
        1 => ("-1.5e3".to_owned(), json!(-1500.0)),
        2 => ("true".to_owned(), json!(true)),
        3 => ("\"// \\\" /* {\"".to_owned(), json!("// \" /* {")),
        4 => ("\"Người 🙂\\u00e9\"".to_owned(), json!("Người 🙂é")),
        5 => ("\"aw\"".to_owned(), json!("aw")),
        6 => {
            let items: Vec<_> =
                (0..dice.below(3)).map(|_| any_json(dice, plain, depth + 1)).collect();
            let texts: Vec<String> = items.iter().map(|item| item.0.clone()).collect();
            let values = items.into_iter().map(|item| item.1).collect();
            (listed(dice, plain, &texts, ['[', ']']), values)
        }
        _ => any_object(dice, plain, depth + 1, &[]),
    };
    (format!("{}{text}{}", blank(dice, plain), blank(dice, plain)), value)
}

/// An object with members that are wanted among others.
fn any_object(
    dice: &mut Dice,
    plain: bool,
    depth: u64,
    wanted: &[(&str, String, Value)],
) -> (String, Value) {
    let mut members: Vec<(String, String, Value)> = Vec::new();
    for nth in 0..dice.below(4) {
        let (text, value) = any_json(dice, plain, depth);
        let name = pick(dice, &["a", "mcp Servers", "aw ", "ê", "x\\\"y"]);
        members.push((format!("{name}{nth}"), text, value));
    }
    for (name, text, value) in wanted {
        let at = usize::try_from(dice.below(members.len() as u64 + 1)).unwrap();
        members.insert(at, ((*name).to_owned(), text.clone(), value.clone()));
    }
    let texts: Vec<String> = members
        .iter()
        .map(|(name, text, _)| {
            let (a, b) = (blank(dice, plain), blank(dice, plain));
            format!("{a}\"{name}\"{b}:{text}")
        })
        .collect();
    let value = members
        .into_iter()
        .map(|(name, _, value)| (serde_json::from_str(&format!("\"{name}\"")).unwrap(), value));
    let value = Value::Object(value.collect::<Map<_, _>>());
    (listed(dice, plain, &texts, ['{', '}']), value)
}

fn listed(dice: &mut Dice, plain: bool, texts: &[String], marks: [char; 2]) -> String {
    let comma = if !plain && !texts.is_empty() && dice.below(3) == 0 { "," } else { "" };
    let end = blank(dice, plain);
    format!("{}{}{comma}{end}{}", marks[0], texts.join(","), marks[1])
}

fn blank(dice: &mut Dice, plain: bool) -> &'static str {
    let plainly = ["", "", " ", "\t", "\n", "\r\n", "\n    "];
    let noted = [" // \"aw\": {\n", "/* , } */", " /**/ ", "\n  // it's {\r\n\t"];
    match dice.below(10) {
        0..4 if !plain => pick(dice, &noted),
        _ => pick(dice, &plainly),
    }
}

/// Settings of a host in JSON, with or without servers in them, and what they say.
fn json_settings(dice: &mut Dice, plain: bool, list: &str) -> (String, Value) {
    let servers = any_object(dice, plain, 1, &[]);
    let text = format!("{}{}", blank(dice, plain), servers.0);
    let wanted = [(list, text, servers.1)];
    let some = usize::from(dice.below(3) > 0);
    let (text, value) = any_object(dice, plain, 0, &wanted[..some]);
    let start = pick(dice, &["", "", "\u{feff}"]);
    (format!("{start}{}{text}{}", blank(dice, plain), blank(dice, plain)), value)
}

/// What a host reads that passes over comments and commas to spare.
fn as_host_reads(text: &str) -> Value {
    let mut plain = String::new();
    let mut rest = text.trim_start_matches('\u{feff}');
    while let Some(next) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").unwrap() + 2
        } else if next == '"' {
            let mut end = 1;
            while !rest[end..].starts_with('"') {
                end += if rest[end..].starts_with('\\') { 2 } else { 1 };
                while !rest.is_char_boundary(end) {
                    end += 1;
                }
            }
            plain.push_str(&rest[..=end]);
            end + 1
        } else {
            if next == '}' || next == ']' {
                let kept = plain.trim_end().strip_suffix(',').map_or(plain.len(), str::len);
                plain.truncate(kept);
            }
            plain.push(next);
            next.len_utf8()
        };
        rest = &rest[length..];
    }
    serde_json::from_str(&plain).unwrap_or_else(|bad| panic!("{bad}: {text:?} is {plain:?}"))
}

#[test]
fn the_entry_goes_in_and_out_of_any_json() {
    let mut dice = Dice::new();
    for turn in 0..6_000 {
        let plain = turn % 2 == 0;
        let (edit, list) =
            if dice.below(3) == 0 { (OPENCODE_TOOLS, "mcp") } else { (TOOLS, "mcpServers") };
        let (file, value) = json_settings(&mut dice, plain, list);
        assert_eq!(as_host_reads(&file), value, "{file:?}");
        let edits = [edit];
        let (with, texts) = with_all(&edits, &file).unwrap_or_else(|| panic!("{file:?}"));
        // The host finds the entry, and everything else as it was.
        let mut now = as_host_reads(&with);
        if plain {
            let bare = with.trim_start_matches('\u{feff}');
            assert_eq!(serde_json::from_str::<Value>(bare).unwrap(), now, "{with:?}");
        }
        let servers = now[list].as_object_mut().unwrap();
        let entry = servers.remove("aw").unwrap_or_else(|| panic!("{file:?} became {with:?}"));
        assert!(entry["command"] == "aw" || entry["command"] == json!(["aw", "mcp"]), "{with:?}");
        if servers.is_empty() && value.get(list).is_none() {
            now.as_object_mut().unwrap().remove(list);
        }
        assert_eq!(now, value, "{file:?} became {with:?}");
        let [edit] = &edits;
        let there = Ok(Insertion::Present { inserted: texts[0].clone() });
        assert_eq!(edit.insert(&with, &texts), there, "{with:?}");
        assert_eq!(edit.remove(&with, &texts), file, "{with:?}");
        // A host that writes everything anew, and somebody who adds to it, lose nothing either.
        let mut anew = as_host_reads(&with);
        if dice.below(2) == 0 {
            anew["added"] = json!(1);
            anew[list]["other"] = json!({});
        }
        let anew_text = serde_json::to_string_pretty(&anew).unwrap();
        let left = as_host_reads(&edit.remove(&anew_text, &texts));
        anew[list].as_object_mut().unwrap().remove("aw");
        if anew[list] == json!({}) && left.get(list).is_none() {
            anew.as_object_mut().unwrap().remove(list);
        }
        assert_eq!(left, anew, "{anew_text:?}");
    }
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
        for (name, list) in [
            (".mcp.json", "mcpServers"),
            ("~/.claude.json", "mcpServers"),
            (".cursor/mcp.json", "mcpServers"),
            ("~/.gemini/settings.json", "mcpServers"),
            ("opencode.json", "mcp"),
        ] {
            let plain = dice.below(2) == 0;
            home.write(name, json_settings(&mut dice, plain, list).0);
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
