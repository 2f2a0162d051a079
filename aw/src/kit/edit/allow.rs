//! Rules in the JSON of a host's settings that allow commands of `aw` without asking. They join the rules of others.

use serde_json::Value;

use super::json::{Layout, new_document, room, without};
use super::{Allow, CannotEdit, Insertion, only, replaced};
use crate::kit::json::{self, Object};

pub(super) fn insert(
    file: &str,
    allow: &Allow,
    before: &[String],
) -> Result<Insertion, CannotEdit> {
    let wanted: Vec<&str> = allow.rules.iter().map(String::as_str).collect();
    let Some(root) = json::parse(file).map_err(CannotEdit::NotJson)? else {
        return Ok(new_document(file, &[allow.lines(&wanted, 2)]));
    };
    let there = rules_at(&root, allow);
    if let Some(known) = before.iter().find(|text| is_ours(text)) {
        let said = rules_in(known);
        let is_whole = said.iter().all(|rule| there.contains(rule));
        let is_current = wanted.iter().all(|rule| there.iter().any(|one| one == rule))
            && said.iter().all(|rule| wanted.contains(&rule.as_str()));
        return match (is_whole, is_current) {
            (true, true) => Ok(Insertion::Present { inserted: known.clone() }),
            // The rules of an earlier aw, or of another role, are replaced.
            (true, false) => insert(&remove(file, allow, before), allow, &[]),
            (false, _) if there.iter().any(|rule| said.contains(rule)) => Ok(Insertion::Foreign),
            (false, _) => insert(file, allow, &[]),
        };
    }
    let missing: Vec<&str> =
        wanted.iter().copied().filter(|rule| !there.iter().any(|one| one == rule)).collect();
    if missing.is_empty() {
        return Ok(match as_written(file, allow) {
            Some(inserted) => Insertion::Present { inserted },
            None => Insertion::Foreign,
        });
    }
    let [outer, inner] = allow.place;
    let (container, made) = if root.get(outer).is_none() {
        (json::object(file, &[]), 2)
    } else if root[outer].get(inner).is_none() {
        (json::object(file, &[outer]), 1)
    } else {
        (allow.container(file), 0)
    };
    let no_room = || CannotEdit::NoRoom {
        what: Layout::OneLine.join(&allow.lines(&missing, 0)),
        place: allow.place.join("."),
    };
    let (at, inserted) = room(file, &container.ok_or_else(no_room)?, &allow.lines(&missing, made));
    let with = replaced(file, at..at, &inserted);
    // The change must add exactly these rules and nothing else.
    let now = json::value(&with);
    let said: Vec<String> = missing.iter().map(|rule| (*rule).to_owned()).collect();
    let there = rules_at(&now, allow);
    let is_added = said.iter().all(|rule| there.contains(rule));
    if is_added && allow.without_rules(now, &said) == allow.without_rules(root, &said) {
        Ok(Insertion::New { file: with, inserted })
    } else {
        Err(no_room())
    }
}

pub(super) fn remove(file: &str, allow: &Allow, inserted: &[String]) -> String {
    let Some(text) = inserted.iter().find(|text| is_ours(text)) else { return file.to_owned() };
    let said = rules_in(text);
    let exactly = only(file, text).map(|at| replaced(file, at, ""));
    let Ok(Some(root)) = json::parse(file) else {
        // The file is broken, but our own text may still stand in it.
        return exactly.unwrap_or_else(|| file.to_owned());
    };
    if let Some(left) = exactly.filter(|left| allow.is_rest(left, &root, &said)) {
        return left;
    }
    let made_file = text.trim_start().starts_with('{');
    match allow.without_each(file, &said, allow.made(text)) {
        Some(left) if made_file && json::value(&left) == json::value("{}") => String::new(),
        Some(left) => left,
        None => file.to_owned(),
    }
}

/// Whether the file has a rule of ours, no matter who wrote it.
pub(super) fn is_in(file: &str, allow: &Allow) -> bool {
    rules_at(&json::value(file), allow).iter().any(|rule| is_rule(rule))
}

/// Whether an inserted text has rules.
pub fn is_ours(text: &str) -> bool {
    !rules_in(text).is_empty()
}

/// The rules of ours in an inserted text. None has a quotation mark or a backslash.
pub fn rules_in(text: &str) -> Vec<String> {
    let quoted = text.split('"').skip(1).step_by(2);
    quoted.filter(|text| is_rule(text)).map(str::to_owned).collect()
}

/// Whether a rule is about `aw`, in the words of any host.
fn is_rule(rule: &str) -> bool {
    ["Bash(aw ", "Shell(aw:", "run_shell_command(aw "].iter().any(|begin| rule.starts_with(begin))
        || ["mcp__aw", "Mcp(aw:*)"].contains(&rule)
        || rule.starts_with("aw ") && rule.ends_with('*')
}

/// All rules at the place, no matter whose. Of an object only those that allow.
fn rules_at(root: &Value, allow: &Allow) -> Vec<String> {
    let [outer, inner] = allow.place;
    match &root[outer][inner] {
        Value::Array(list) if allow.is_list => {
            list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        Value::Object(members) if !allow.is_list => {
            let allowed = members.iter().filter(|(_, decision)| **decision == ALLOW);
            allowed.map(|(rule, _)| rule.clone()).collect()
        }
        _ => Vec::new(),
    }
}

/// The decision of a rule that is the member of an object.
const ALLOW: &str = "allow";

impl Allow {
    /// The rules as lines, each with its depth, inside so many of the places that lead to them.
    fn lines(&self, rules: &[&str], places: usize) -> Vec<(usize, String)> {
        let (open, close) = if self.is_list { ("[", "]") } else { ("{", "}") };
        let last = rules.len().saturating_sub(1);
        let mut lines: Vec<(usize, String)> = rules
            .iter()
            .enumerate()
            .map(|(at, rule)| {
                let value = if self.is_list { String::new() } else { format!(": \"{ALLOW}\"") };
                let comma = if at == last { "" } else { "," };
                (places, format!("\"{rule}\"{value}{comma}"))
            })
            .collect();
        let [outer, inner] = self.place;
        if places > 0 {
            lines.insert(0, (places - 1, format!("\"{inner}\": {open}")));
            let beside = self.beside.filter(|_| places > 1);
            lines.push((places - 1, format!("{close}{}", if beside.is_some() { "," } else { "" })));
            lines.extend(beside.map(|(name, value)| (places - 1, format!("\"{name}\": {value}"))));
        }
        if places > 1 {
            lines.insert(0, (0, format!("\"{outer}\": {{")));
            lines.push((0, "}".to_owned()));
        }
        lines
    }

    /// How many of the places an inserted text made.
    fn made(&self, text: &str) -> usize {
        let [outer, inner] = self.place.map(|name| text.contains(&format!("\"{name}\":")));
        match (outer, inner) {
            (true, true) => 2,
            (false, true) => 1,
            (_, false) => 0,
        }
    }

    fn container(&self, file: &str) -> Option<Object> {
        if self.is_list { json::array(file, &self.place) } else { json::object(file, &self.place) }
    }

    /// The same value without these rules, and without places that are empty then.
    fn without_rules(&self, mut root: Value, rules: &[String]) -> Value {
        let [outer, inner] = self.place;
        let is_one = |rule: &str| rules.iter().any(|one| one == rule);
        let Some(members) = root.get_mut(outer).and_then(Value::as_object_mut) else { return root };
        let is_empty = match members.get_mut(inner) {
            Some(Value::Array(list)) if self.is_list => {
                list.retain(|rule| !rule.as_str().is_some_and(is_one));
                list.is_empty()
            }
            Some(Value::Object(map)) if !self.is_list => {
                map.retain(|rule, decision| !is_one(rule) || *decision != ALLOW);
                map.is_empty()
            }
            _ => false,
        };
        if is_empty {
            members.shift_remove(inner);
        }
        let is_beside = |(name, value): (&String, &Value)| {
            self.beside.is_some_and(|(own, text)| name == own && *value == json::value(text))
        };
        let is_empty = members.iter().all(is_beside);
        if let Some(root) = root.as_object_mut().filter(|_| is_empty) {
            root.shift_remove(outer);
        }
        root
    }

    /// Whether this file says the same as the earlier value, without these rules.
    fn is_rest(&self, left: &str, earlier: &Value, rules: &[String]) -> bool {
        let rest = self.without_rules(earlier.clone(), rules);
        match json::parse(left) {
            Ok(Some(now)) => {
                let there = rules_at(&now, self);
                !there.iter().any(|rule| rules.contains(rule))
                    && self.without_rules(now, rules) == rest
            }
            Ok(None) => rest == json::value("{}"),
            Err(_) => false,
        }
    }

    /// The file without these rules, one after the other, and without the places that we made and that have nothing
    /// else in them. None if it cannot be done.
    fn without_each(&self, file: &str, rules: &[String], made: usize) -> Option<String> {
        let mut file = file.to_owned();
        for rule in rules {
            let root = json::parse(&file).ok()??;
            let at = match &root[self.place[0]][self.place[1]] {
                Value::Array(list) => list.iter().position(|one| one == rule),
                Value::Object(map) => map.get(rule).filter(|it| **it == ALLOW).map(|_| 0),
                _ => None,
            };
            let Some(at) = at else { continue };
            let container = self.container(&file)?;
            let member = match self.is_list {
                true => container.members.get(at)?,
                false => container.members.iter().rfind(|one| one.name == *rule)?,
            };
            let one = std::slice::from_ref(rule);
            let left = without(&file, member);
            file = left.into_iter().find(|left| self.is_rest(left, &root, one))?;
        }
        for depth in (0..2).rev().take(made) {
            let root = json::parse(&file).ok()??;
            let name = self.place[depth];
            let parent = json::object(&file, &self.place[..depth])?;
            let member = parent.members.iter().rfind(|one| one.name == name)?;
            let own = member.span.clone();
            // A comment in it is somebody's, so the place stays for it.
            if !self.is_bare(&file[own], depth) {
                break;
            }
            let left = without(&file, member);
            let Some(left) = left.into_iter().find(|left| self.is_rest(left, &root, &[])) else {
                break;
            };
            file = left;
        }
        Some(file)
    }

    /// Whether a member of this depth has nothing but what we put there.
    fn is_bare(&self, member: &str, depth: usize) -> bool {
        let Some((_, value)) = member.split_once(':') else { return false };
        let value: String = value.chars().filter(|c| !c.is_whitespace() && *c != ',').collect();
        let beside = self.beside.filter(|_| depth == 0);
        let own = beside.map(|(name, value)| format!("{{\"{name}\":{value}}}"));
        ["{}", "[]"].contains(&value.as_str()) || own.is_some_and(|own| own == value)
    }
}

/// The text that we would have inserted, if all rules stand exactly so.
fn as_written(file: &str, allow: &Allow) -> Option<String> {
    let without = (0..=2).rev().filter_map(|made| allow.without_each(file, &allow.rules, made));
    let mut earlier = [String::new()].into_iter().chain(without);
    earlier.find_map(|earlier| match insert(&earlier, allow, &[]) {
        Ok(Insertion::New { file: with, inserted }) if with == file => Some(inserted),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(all: &[&str]) -> Vec<String> {
        all.iter().map(|rule| (*rule).to_owned()).collect()
    }

    fn list() -> Allow {
        let rules = rules(&["Bash(aw debate wait *)", "Bash(aw search *)", "mcp__aw"]);
        Allow { place: ["permissions", "allow"], is_list: true, beside: None, rules }
    }

    fn with_beside() -> Allow {
        let rules = rules(&["Shell(aw:debate wait*)", "Mcp(aw:*)"]);
        Allow { beside: Some(("deny", "[]")), rules, ..list() }
    }

    fn members() -> Allow {
        let rules = rules(&["aw debate wait*", "aw search*"]);
        Allow { place: ["permission", "bash"], is_list: false, beside: None, rules }
    }

    fn with(file: &str, allow: &Allow) -> (String, [String; 1]) {
        match insert(file, allow, &[]) {
            Ok(Insertion::New { file, inserted }) => (file, [inserted]),
            other => panic!("{other:?} for {file:?}"),
        }
    }

    const FILES: [&str; 20] = [
        "",
        "\n",
        "// nothing yet\n",
        "{}",
        "{}\n",
        "{\n}\n",
        "{\"a\":1}",
        "\u{feff}{\r\n\t\"model\": \"opus\"\r\n}\r\n",
        "{\n  \"a\": 1 // more\n}\n",
        "{\"permissions\": {}, \"permission\": {}}",
        "{\n  \"permissions\": {\n    \"deny\": []\n  },\n  \"permission\": {\n    \"edit\": \"ask\"\n  }\n}\n",
        "{\"permissions\":{\"allow\":[]},\"permission\":{\"bash\":{}}}",
        "{\n  \"permissions\": {\n    \"allow\": [\n    ]\n  }\n}\n",
        "{\"permissions\":{\"allow\":[\"Bash(ls)\"]},\"permission\":{\"bash\":{\"ls\":\"ask\"}}}",
        "{\n\t\"permissions\": {\"allow\": [\"Bash(make:*)\"]},\n\t\"env\": {}\n}\n",
        "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(ls)\",\n      \"Read\"\n    ],\n    \"ask\": []\n  }\n}\n",
        "{\n  \"permissions\": {\n    \"allow\": [\n      // mine\n      \"Bash(ls)\", // too\n    ]\n  }\n}\n",
        "{\n  \"permission\": {\n    \"bash\": {\n      \"*\": \"ask\",\n      \"git *\": \"allow\"\n    }\n  }\n}\n",
        "{\n  \"permissions\": {\n    \"allow\": [\n      // none yet\n    ]\n  }\n}\n",
        "{\"x\": {\"permissions\": {\"allow\": []}}, \"permissions\": {\"allow\": [3, {}]}}",
    ];

    #[test]
    fn rules_join_any_settings_and_leave_them_without_a_trace() {
        for allow in [list(), with_beside(), members()] {
            for file in FILES {
                let (with, inserted) = with(file, &allow);
                let there = rules_at(&json::value(&with), &allow);
                assert!(allow.rules.iter().all(|rule| there.contains(rule)), "{with}");
                let present = Insertion::Present { inserted: inserted[0].clone() };
                assert_eq!(insert(&with, &allow, &inserted).unwrap(), present, "{with}");
                // Without a manifest, what we would have inserted is ours.
                let Ok(Insertion::Present { inserted: seen }) = insert(&with, &allow, &[]) else {
                    panic!("{with}")
                };
                let left = remove(&with, &allow, &[seen]);
                assert!(allow.is_rest(&left, &json::value(&with), &allow.rules), "{left}");
                assert_eq!(remove(&with, &allow, &inserted), file, "{with}");
                if file.contains("\r\n") {
                    assert!(!with.replace("\r\n", "").contains('\n'), "{with:?}");
                }
            }
        }
    }

    #[test]
    fn rules_are_set_as_their_neighbours_are() {
        let (with, _) = with(FILES[15], &list());
        let wanted = FILES[15].replace(
            "\"Read\"",
            "\"Read\",\n      \"Bash(aw debate wait *)\",\n      \"Bash(aw search *)\",\n      \"mcp__aw\"",
        );
        assert_eq!(with, wanted);
    }

    #[test]
    fn rules_that_somebody_has_written_before_stay() {
        let file = "{\"permissions\": {\"allow\": [\"mcp__aw\"]}}";
        let (with, inserted) = with(file, &list());
        assert_eq!(with.matches("mcp__aw").count(), 1);
        assert_eq!(remove(&with, &list(), &inserted), file);
        let anew = serde_json::to_string_pretty(&json::value(&with)).unwrap();
        assert_eq!(json::value(&remove(&anew, &list(), &inserted)), json::value(file));
    }

    #[test]
    fn rules_are_removed_after_others_have_edited_the_file() {
        for allow in [list(), with_beside(), members()] {
            for file in FILES {
                let (with, inserted) = with(file, &allow);
                let anew = serde_json::to_string_pretty(&json::value(&with)).unwrap();
                let left = remove(&anew, &allow, &inserted);
                assert!(allow.is_rest(&left, &json::value(&with), &allow.rules), "{anew} {left}");
            }
        }
        let (with, inserted) = with("{\"permissions\":{\"allow\":[]}}", &list());
        let more = with.replace("\"mcp__aw\"", "\"mcp__aw\", \"Read\"");
        let left = remove(&more, &list(), &inserted);
        assert_eq!(json::value(&left), json::value("{\"permissions\":{\"allow\":[\"Read\"]}}"));
        let broken = with.replace("\"permissions\":", "\"permissions\"");
        assert_eq!(remove(&broken, &list(), &inserted), "{\"permissions\"{\"allow\":[]}}");
    }

    #[test]
    fn rules_of_another_role_are_replaced_and_edited_ones_stay() {
        for allow in [list(), members()] {
            let narrow = Allow { rules: allow.rules[..1].to_vec(), ..allow.clone() };
            for (first, then) in [(&allow, &narrow), (&narrow, &allow)] {
                let (with, inserted) = with("{\n  \"a\": 1\n}\n", first);
                let Ok(Insertion::New { file, inserted }) = insert(&with, then, &inserted) else {
                    panic!("{with}")
                };
                assert_eq!(rules_at(&json::value(&file), then), then.rules);
                assert_eq!(remove(&file, then, &[inserted]), "{\n  \"a\": 1\n}\n");
            }
            let (with, inserted) = with("{}", &allow);
            let edited = with.replace("aw search", "aw searches");
            assert_eq!(insert(&edited, &allow, &inserted).unwrap(), Insertion::Foreign);
        }
    }

    #[test]
    fn settings_that_have_no_place_for_rules_are_refused() {
        for file in ["[]", "3", "{\"permissions\": []}", "{\"permissions\": {\"allow\": {}}}"] {
            let refused = insert(file, &list(), &[]).unwrap_err().to_string();
            assert!(refused.contains("yourself") && refused.contains("mcp__aw"), "{refused}");
        }
        for file in ["{\"permission\": \"ask\"}", "{\"permission\": {\"bash\": \"ask\"}}"] {
            let refused = insert(file, &members(), &[]).unwrap_err().to_string();
            assert!(refused.contains("permission.bash yourself"), "{refused}");
        }
        assert!(insert("{\"a\" 1}", &list(), &[]).is_err());
    }
}
