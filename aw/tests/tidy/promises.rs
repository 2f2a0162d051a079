//! What each room never contains.

use super::source::{Source, read, sources};

/// Where our Rust is.
const EVERYTHING: &[&str] = &[
    "core/src",
    "record/src",
    "aw/src",
    "fuzz/src",
    "core/tests",
    "record/tests",
    "aw/tests",
    "fuzz/tests",
];

const PRODUCT: &[&str] = &["core/src", "record/src", "aw/src"];

/// Words that these folders never contain, some files aside.
struct Promise {
    says: &'static str,
    folders: &'static [&'static str],
    except: &'static [&'static str],
    /// Tokens that never follow each other.
    code: &'static [&'static str],
    /// Texts that no literal contains.
    literals: &'static [&'static str],
}

const PROMISES: &[Promise] = &[
    Promise {
        says: "the core does not touch the world",
        folders: &["core/src"],
        except: &[],
        code: &["std", "async", "serde", "tokio", "tracing", "Instant", "Timestamp", "jiff"],
        literals: &[],
    },
    Promise {
        says: "only the command line prints",
        folders: PRODUCT,
        except: &["aw/src/cli/"],
        code: &["println!", "print!", "eprintln!", "eprint!", "io::stdout", "io::stderr", "dbg!"],
        literals: &[],
    },
    Promise {
        says: "only the engine, the command line and the log of a run read the wall clock",
        folders: PRODUCT,
        except: &["record/src/engine.rs", "aw/src/cli/", "aw/src/run/folder.rs"],
        code: &["Timestamp::now", "SystemTime::now", "Zoned::now"],
        literals: &[],
    },
    Promise {
        says: "only the store has SQL",
        folders: PRODUCT,
        except: &["record/src/store/"],
        code: &["prepare_cached", "rusqlite::Connection", "query_row"],
        literals: &["select ", "insert into", "update debates", "delete from", "pragma "],
    },
    Promise {
        says: "only main exits",
        folders: PRODUCT,
        except: &["aw/src/main.rs"],
        code: &["process::exit", "process::abort"],
        literals: &[],
    },
    Promise {
        says: "only serve builds the store",
        folders: &["aw/src"],
        except: &["aw/src/cli/serve.rs"],
        code: &["Store", "rusqlite"],
        literals: &[],
    },
    Promise {
        says: "the store has no rules, no bell, no JSON and no timer",
        folders: &["record/src/store"],
        except: &[],
        code: &[".decide", ".available", "bell", ".ring", "Instant::now", "serde"],
        literals: &[],
    },
    Promise {
        says: "the record contains neither HTTP nor HTML",
        folders: &["record/src"],
        except: &[],
        code: &["axum", "hyper", "StatusCode", "serde_json"],
        literals: &["<html"],
    },
    Promise {
        says: "the tools reach files and the record through the API only",
        folders: &["aw/src/mcp"],
        except: &[],
        code: &["aw_record", "Engine", "fs"],
        literals: &[],
    },
    Promise {
        says: "the server and the page reach the record through access only",
        folders: &["aw/src/server", "aw/src/web"],
        except: &["aw/src/server/access.rs", "aw/src/server/access/", "aw/src/server/mod.rs"],
        code: &["Engine", "record.engine"],
        literals: &[],
    },
    Promise {
        says: "no loose ends",
        folders: EVERYTHING,
        except: &["aw/tests/tidy/"],
        code: &["todo!", "unimplemented!", "#[ignore]", "dead_code"],
        literals: &[],
    },
];

#[test]
fn the_source_keeps_its_promises() {
    for promise in PROMISES {
        let broken: Vec<String> =
            promise.kept_by().iter().flat_map(|file| promise.broken(file)).collect();
        assert!(broken.is_empty(), "{}, but:\n{}", promise.says, broken.join("\n"));
    }
}

#[test]
fn a_broken_promise_is_found_in_every_file() {
    for promise in PROMISES {
        for file in promise.kept_by() {
            let texts = promise.literals.iter().map(|text| format!("\"{text}\""));
            let planted = promise.code.iter().map(|&code| code.to_owned()).chain(texts);
            let planted: String = planted.map(|one| format!("\nplanted!{{ {one} }}\n")).collect();
            let found = promise.broken(&Source::parse(&file.name, file.text + &planted));
            for word in promise.code.iter().chain(promise.literals) {
                assert!(
                    found.iter().any(|place| place.ends_with(&format!(": {word}"))),
                    "{}: {word} in {} was not found",
                    promise.says,
                    file.name
                );
            }
        }
    }
}

impl Promise {
    /// The files that must keep it.
    fn kept_by(&self) -> Vec<Source> {
        let mut files = sources(self.folders);
        files.retain(|file| !self.except.iter().any(|place| file.name.starts_with(place)));
        files
    }

    /// Where a file breaks it.
    fn broken(&self, file: &Source) -> Vec<String> {
        let found = |word: &str, lines: Vec<usize>| {
            lines
                .into_iter()
                .map(|line| format!("{}:{line}: {word}", file.name))
                .collect::<Vec<_>>()
        };
        let code = self.code.iter().flat_map(|code| found(code, file.lines_with(code)));
        let literals =
            self.literals.iter().flat_map(|text| found(text, file.lines_with_literal(text)));
        code.chain(literals).collect()
    }
}

#[test]
fn the_servers_of_compose_do_not_limit_the_address_of_their_proxy() {
    assert!(read("compose.yaml").contains("AW_ADDRESS_RATE: \"0\""));
}

#[test]
fn one_file_gives_errors_their_status() {
    let allowed = ["OK", "CREATED", "SWITCHING_PROTOCOLS"];
    for file in sources(&["aw/src"]) {
        if file.name == "aw/src/server/error.rs" {
            continue;
        }
        for some in file.tokens.windows(4) {
            if some[0].text == "StatusCode" && some[1].text == ":" {
                let status = &some[3];
                assert!(
                    allowed.contains(&status.text.as_str()),
                    "{}:{}: the status {} belongs in server/error.rs",
                    file.name,
                    status.line,
                    status.text
                );
            }
        }
    }
}

#[test]
fn no_program_is_looked_up_by_the_whole_path() {
    for file in sources(PRODUCT) {
        for some in file.tokens.windows(6) {
            let words: String = some[..5].iter().map(|token| token.text.as_str()).collect();
            assert!(
                words != "Command::new(" || !some[5].is_literal || some[5].text.starts_with("\"/"),
                "{}:{}: {} is found by PATH; use programs::command or an absolute path",
                file.name,
                some[5].line,
                some[5].text
            );
        }
    }
}

#[test]
fn the_core_does_not_link_the_standard_library() {
    assert!(read("core/src/lib.rs").contains("#![no_std]"));
}

#[test]
fn every_crate_forbids_unsafe_code() {
    let workspace = read("Cargo.toml");
    assert!(workspace.contains("unsafe_code = \"forbid\""), "the lints do not forbid it");
    let members = workspace.lines().find_map(|line| line.strip_prefix("members = ["));
    for member in members.expect("the crates are on one line").trim_end_matches(']').split(", ") {
        let manifest = read(&format!("{}/Cargo.toml", member.trim_matches('"')));
        assert!(manifest.contains("[lints]\nworkspace = true"), "{member} has lints of its own");
    }
}

#[test]
fn every_source_file_begins_with_its_purpose() {
    for file in sources(EVERYTHING) {
        assert!(file.text.starts_with("//!"), "{} does not begin with //!", file.name);
    }
}
