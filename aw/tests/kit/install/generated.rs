//! Generated settings: the kit is inserted into any of them and removed without a trace.

use aw::kit::edit::{Edit, Insertion};
use aw::kit::host::{CODEX_DEADLINE, CODEX_TOOLS, OPENCODE_TOOLS, TOOLS};
use aw::kit::json;
use serde_json::{Map, Value, json};
use toml::Table;

use crate::world::Dice;

fn pick<'a>(dice: &mut Dice, from: &[&'a str]) -> &'a str {
    from[usize::try_from(dice.below(from.len() as u64)).unwrap()]
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
fn any_toml_gets_the_variable_and_the_entry_and_loses_them() {
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

#[test]
fn any_json_gets_the_entry_and_loses_it() {
    let mut dice = Dice::new();
    for turn in 0..6_000 {
        let plain = turn % 2 == 0;
        let (edit, list) =
            if dice.below(3) == 0 { (OPENCODE_TOOLS, "mcp") } else { (TOOLS, "mcpServers") };
        let (file, value) = json_settings(&mut dice, plain, list);
        assert_eq!(json::value(&file), value, "{file:?}");
        let edits = [edit];
        let (with, texts) = with_all(&edits, &file).unwrap_or_else(|| panic!("{file:?}"));
        // The host finds the entry, and everything else as it was.
        let mut now = json::value(&with);
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
        let mut anew = json::value(&with);
        if dice.below(2) == 0 {
            anew["added"] = json!(1);
            anew[list]["other"] = json!({});
        }
        let anew_text = serde_json::to_string_pretty(&anew).unwrap();
        let left = json::value(&edit.remove(&anew_text, &texts));
        anew[list].as_object_mut().unwrap().remove("aw");
        if anew[list] == json!({}) && left.get(list).is_none() {
            anew.as_object_mut().unwrap().remove(list);
        }
        assert_eq!(left, anew, "{anew_text:?}");
    }
}
