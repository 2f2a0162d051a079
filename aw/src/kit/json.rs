//! JSON as people write settings in it, with comments and trailing commas, read together with where
//! everything stands: so a part can be changed and the rest stay as it is.

use std::ops::Range;

use serde_json::{Map, Value};

/// How deep anything may be nested.
const DEEPEST: usize = 128;

/// A value and where it stands.
#[derive(Debug)]
pub struct Node {
    /// From its first byte to after its last.
    pub span: Range<usize>,
    /// What it is.
    pub kind: Kind,
}

/// What a value is.
#[derive(Debug)]
pub enum Kind {
    /// An object with its members in their order.
    Object(Vec<Member>),
    /// An array.
    Array(Vec<Node>),
    /// Anything else.
    Plain(Value),
}

/// A member of an object.
#[derive(Debug)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Where its name begins.
    pub start: usize,
    /// Its value.
    pub value: Node,
    /// Where the comma after it is.
    pub comma: Option<usize>,
}

/// What stands in a text; none when there is nothing but white space and comments.
pub fn read(text: &str) -> Result<Option<Node>, String> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    if text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    let outcome = reader.skip().and_then(|()| match reader.peek() {
        None => Ok(None),
        Some(_) => {
            let node = reader.value()?;
            reader.skip()?;
            match reader.peek() {
                None => Ok(Some(node)),
                Some(_) => Err("something follows the end"),
            }
        }
    });
    outcome.map_err(|why| {
        let line = text[..reader.at].matches('\n').count() + 1;
        format!("line {line}: {why}")
    })
}

/// What a text says, without its places; nothing when it cannot be read.
pub fn value(text: &str) -> Value {
    read(text).ok().flatten().map(|node| node.value()).unwrap_or_default()
}

impl Node {
    /// What it says.
    pub fn value(&self) -> Value {
        match &self.kind {
            Kind::Object(members) => {
                let members = members.iter();
                let map = members.map(|member| (member.name.clone(), member.value.value()));
                Value::Object(map.collect::<Map<_, _>>())
            }
            Kind::Array(nodes) => nodes.iter().map(Node::value).collect(),
            Kind::Plain(value) => value.clone(),
        }
    }

    /// Its members, if it is an object.
    pub fn members(&self) -> Option<&[Member]> {
        match &self.kind {
            Kind::Object(members) => Some(members),
            Kind::Array(_) | Kind::Plain(_) => None,
        }
    }
}

/// The place of the member of this name; of several the last one counts, as for everybody.
pub fn position(members: &[Member], name: &str) -> Option<usize> {
    members.iter().rposition(|member| member.name == name)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        if is_there {
            self.at += wanted.len_utf8();
        }
        is_there
    }

    /// Passes white space and comments.
    fn skip(&mut self) -> Result<(), &'static str> {
        loop {
            let rest = &self.text[self.at..];
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            self.at += blank;
            let rest = &rest[blank..];
            self.at += if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").ok_or("a comment does not end")? + 2
            } else {
                return Ok(());
            };
        }
    }

    fn value(&mut self) -> Result<Node, &'static str> {
        let start = self.at;
        let kind = match self.peek() {
            Some('{') => Kind::Object(self.nested(Self::members)?),
            Some('[') => Kind::Array(self.nested(Self::items)?),
            Some('"') => Kind::Plain(Value::String(self.string()?)),
            Some(_) => Kind::Plain(self.word()?),
            None => return Err("a value is missing at the end"),
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, &'static str>,
    ) -> Result<T, &'static str> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("it is nested too deep");
        }
        self.at += 1;
        let inside = read(self);
        self.depth -= 1;
        inside
    }

    fn members(&mut self) -> Result<Vec<Member>, &'static str> {
        let mut members: Vec<Member> = Vec::new();
        loop {
            self.skip()?;
            if self.take('}') {
                return Ok(members);
            }
            if members.last().is_some_and(|last| last.comma.is_none()) {
                return Err("a comma or } is missing");
            }
            let start = self.at;
            if self.peek() != Some('"') {
                return Err("a name in double quotes is missing");
            }
            let name = self.string()?;
            self.skip()?;
            if !self.take(':') {
                return Err("a colon is missing");
            }
            self.skip()?;
            let value = self.value()?;
            self.skip()?;
            let comma = Some(self.at).filter(|_| self.take(','));
            members.push(Member { name, start, value, comma });
        }
    }

    fn items(&mut self) -> Result<Vec<Node>, &'static str> {
        let mut items = Vec::new();
        let mut may_follow = true;
        loop {
            self.skip()?;
            if self.take(']') {
                return Ok(items);
            }
            if !may_follow {
                return Err("a comma or ] is missing");
            }
            items.push(self.value()?);
            self.skip()?;
            may_follow = self.take(',');
        }
    }

    fn string(&mut self) -> Result<String, &'static str> {
        let rest = &self.text[self.at..];
        let mut escaped = false;
        let end = rest.char_indices().skip(1).find(|(_, c)| {
            let ends = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        });
        let (end, _) = end.ok_or("a text in double quotes does not end")?;
        let read = serde_json::from_str(&rest[..=end]);
        let read = read.map_err(|_| "a text in double quotes is not well-formed")?;
        self.at += end + 1;
        Ok(read)
    }

    /// A number, true, false or null.
    fn word(&mut self) -> Result<Value, &'static str> {
        let rest = &self.text[self.at..];
        let ends = |c: char| c.is_whitespace() || ",:{}[]\"/".contains(c);
        let end = rest.find(ends).unwrap_or(rest.len());
        let read = serde_json::from_str(&rest[..end]).map_err(|_| "this is not a value")?;
        self.at += end;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_passed_over() {
        let text = "\u{feff}// \"a\"\r\n{ /* { */ \"a\" /**/ : [1, 2.5e3, /* ] */ null,],\n\
                    \"b//\": \"/*\\\"\\u00e9\", // last\n \"c\": {},}\n/* end */";
        assert_eq!(value(text), json!({"a": [1, 2500.0, null], "b//": "/*\"é", "c": {}}));
        for nothing in ["", " \n", "// only this", "/* and */ // that\n"] {
            assert!(read(nothing).unwrap().is_none(), "{nothing:?}");
        }
    }

    #[test]
    fn everything_stands_where_it_says() {
        let text = "{ \"é\": 1 , \"b\" : {\"c\":\"}\"}}";
        let node = read(text).unwrap().unwrap();
        let members = node.members().unwrap();
        assert_eq!(text[node.span.clone()], *text);
        assert_eq!(&text[members[0].start..members[0].value.span.end], "\"é\": 1");
        assert_eq!(members[0].comma, text.find(','));
        assert_eq!(&text[members[1].value.span.clone()], "{\"c\":\"}\"}");
        assert_eq!((members[1].comma, position(members, "b")), (None, Some(1)));
    }

    #[test]
    fn what_is_not_json_is_refused_with_its_line() {
        for (text, why) in [
            ("{", "name"),
            ("{\"a\"}", "colon"),
            ("{\"a\": }", "not a value"),
            ("{\"a\":", "missing at the end"),
            ("{\"a\": 1 \"b\": 2}", "comma"),
            ("{,}", "name"),
            ("[1 2]", "comma or ]"),
            ("[,]", "not a value"),
            ("{a: 1}", "double quotes"),
            ("{'a': 1}", "double quotes"),
            ("{\"a\": 1} x", "follows"),
            ("{} {}", "follows"),
            ("{\"a\": \"b}", "does not end"),
            ("{\"a\": \"\\x\"}", "well-formed"),
            ("/* {}", "comment"),
            ("nul", "not a value"),
            ("{\"a\": 01}", "not a value"),
        ] {
            let refused = read(&format!("\n{text}")).unwrap_err();
            assert!(refused.starts_with("line 2") && refused.contains(why), "{text}: {refused}");
        }
        let deep = "[".repeat(100_000);
        assert!(read(&deep).unwrap_err().contains("too deep"));
    }
}
