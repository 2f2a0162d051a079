//! Source files as tokens, without comments and without tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A source file of the product.
pub struct Source {
    /// Its path, from the root of the repository.
    pub name: String,
    pub text: String,
    pub tokens: Vec<Token>,
    /// Names of modules that the file declares for tests only.
    test_modules: Vec<String>,
}

/// A word, a literal or a sign, and its line.
#[derive(Debug)]
pub struct Token {
    pub text: String,
    pub line: usize,
    pub is_literal: bool,
}

impl Source {
    pub fn parse(name: &str, text: String) -> Self {
        let stream: TokenStream =
            text.parse().unwrap_or_else(|error| panic!("{name} is not Rust: {error}"));
        let (mut tokens, mut test_modules) = (Vec::new(), Vec::new());
        flatten(stream, &mut tokens, &mut test_modules);
        Source { name: name.to_owned(), text, tokens, test_modules }
    }

    /// The lines on which these words follow each other.
    pub fn lines_with(&self, words: &str) -> Vec<usize> {
        let mut wanted = Vec::new();
        flatten(words.parse().unwrap(), &mut wanted, &mut Vec::new());
        self.tokens
            .windows(wanted.len())
            .filter(|some| some.iter().zip(&wanted).all(|(one, other)| one.text == other.text))
            .map(|some| some[0].line)
            .collect()
    }

    /// The lines with a literal that contains this text.
    pub fn lines_with_literal(&self, text: &str) -> Vec<usize> {
        let contains = |token: &&Token| token.is_literal && token.text.contains(text);
        self.tokens.iter().filter(contains).map(|token| token.line).collect()
    }

    /// The path of the file's module in its crate: `aw/src/server/live.rs` is `server`, `live`.
    pub fn module(&self) -> Vec<&str> {
        let (_, path) = self.name.split_once("/src/").unwrap_or(("", &self.name));
        let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
        path.split('/').filter(|part| !matches!(*part, "lib" | "main")).collect()
    }
}

/// All source files below these folders, without those that only tests use.
pub fn sources(places: &[&str]) -> Vec<Source> {
    let mut found = Vec::new();
    for place in places {
        walk(&root().join(place), &mut found);
    }
    assert!(!found.is_empty(), "nothing to read in {places:?}");
    let tests: BTreeSet<String> = found.iter().flat_map(files_of_tests).collect();
    found.retain(|source| !tests.contains(&source.name));
    found
}

fn files_of_tests(source: &Source) -> Vec<String> {
    let folder = source.name.trim_end_matches(".rs").trim_end_matches("/mod");
    let folder = folder.strip_suffix("/lib").unwrap_or(folder);
    source.test_modules.iter().map(|module| format!("{folder}/{module}.rs")).collect()
}

fn walk(path: &Path, found: &mut Vec<Source>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            walk(&entry.unwrap().path(), found);
        }
    } else if path.extension().is_some_and(|ending| ending == "rs") {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap();
        found.push(Source::parse(name, fs::read_to_string(path).unwrap()));
    }
}

/// Lists tokens in their order, groups opened, without attributes that document and without items
/// that are compiled for tests only.
fn flatten(stream: TokenStream, tokens: &mut Vec<Token>, test_modules: &mut Vec<String>) {
    let mut trees = stream.into_iter().peekable();
    while let Some(tree) = trees.next() {
        let line = tree.span().start().line;
        let mut push = |text: String, is_literal| tokens.push(Token { text, line, is_literal });
        match tree {
            TokenTree::Punct(hash) if hash.as_char() == '#' => {
                while trees.next_if(|tree| tree.to_string() == "!").is_some() {}
                let Some(TokenTree::Group(attribute)) = trees.next() else { continue };
                let text = attribute.stream().to_string().replace(' ', "");
                if text == "cfg(test)" {
                    skip_item(&mut trees, test_modules);
                } else if !text.starts_with("doc=") {
                    push("#".to_owned(), false);
                    flatten(attribute.stream(), tokens, test_modules);
                }
            }
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                push(open.to_owned(), false);
                flatten(group.stream(), tokens, test_modules);
                let line = group.span_close().start().line;
                tokens.push(Token { text: close.to_owned(), line, is_literal: false });
            }
            TokenTree::Literal(literal) => push(literal.to_string(), true),
            TokenTree::Ident(_) | TokenTree::Punct(_) => push(tree.to_string(), false),
        }
    }
}

/// Leaves out an item up to its body or its semicolon, and notes a module that stands in a file of its
/// own.
fn skip_item(trees: &mut impl Iterator<Item = TokenTree>, test_modules: &mut Vec<String>) {
    let mut words: Vec<String> = Vec::new();
    for tree in trees {
        match tree {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return,
            TokenTree::Punct(sign) if sign.as_char() == ';' => break,
            // A field or a variant ends at its comma; a function may have commas in its generics.
            TokenTree::Punct(sign) if sign.as_char() == ',' => {
                if !words.iter().any(|word| word == "fn" || word == "impl") {
                    break;
                }
            }
            other => words.push(other.to_string()),
        }
    }
    if let Some(module) = words.iter().position(|word| word == "mod") {
        test_modules.push(words[module + 1].clone());
    }
}

pub fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}
