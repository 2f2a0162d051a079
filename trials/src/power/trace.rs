//! What a server did to its files and told its callers, in order, as strace saw it.
//!
//! What is written counts from the moment of the call: the disk may have it. What is synced counts
//! from the moment of the return, for everything that was written before the call.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use aw_trials::server::inside;
use serde_json::Value;

/// The calls by which files and sockets are changed.
const CALLS: &str = "trace=openat,creat,write,writev,pwrite64,pwritev,pwritev2,sendto,sendmsg,\
    ftruncate,truncate,fallocate,fsync,fdatasync,sync_file_range,msync,rename,renameat,renameat2,\
    unlink,unlinkat,rmdir,link,linkat,symlink,symlinkat,mkdir,mkdirat";

/// Something that happened.
#[derive(Debug, Clone)]
pub(super) enum Event {
    /// A file was opened in a way that makes it when it is not there.
    Make {
        path: PathBuf,
        empties: bool,
    },
    MakeFolder {
        path: PathBuf,
    },
    Remove {
        path: PathBuf,
    },
    Link {
        from: PathBuf,
        to: PathBuf,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    /// Without a place: at the end.
    Write {
        path: PathBuf,
        at: Option<u64>,
        bytes: Vec<u8>,
    },
    Cut {
        path: PathBuf,
        length: u64,
    },
    /// A file or a folder is on the disk as it was when this many events had happened.
    Sync {
        path: PathBuf,
        since: usize,
    },
    /// A caller was told that this argument is in the record.
    Acknowledge {
        id: String,
        content: String,
    },
}

/// Has strace run this command, and write what it sees to a file.
pub(super) fn traced(command: &Command, into: &Path) -> Command {
    let mut strace = Command::new("strace");
    // All text as bytes, all of it.
    strace.args(["-f", "-y", "-xx", "-s", "100000000", "-e", "signal=none", "-e", CALLS]);
    inside(command, strace.arg("-o").arg(into))
}

/// Reads what strace wrote, once it has ended.
pub(super) fn read(file: &Path) -> Vec<Event> {
    let text = std::fs::read_to_string(file).expect("strace has written");
    let mut reader = Reader::default();
    for line in text.lines() {
        reader.line(line);
    }
    reader.events
}

#[derive(Default)]
struct Reader<'a> {
    events: Vec<Event>,
    /// The calls that have not returned yet: by thread, their text and how much had happened.
    open: HashMap<&'a str, (&'a str, usize)>,
    /// What was sent on each socket and is not a whole answer yet.
    sent: HashMap<Vec<u8>, Vec<u8>>,
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &'a str) {
        let Some((thread, call)) = line.split_once(' ') else { return };
        let call = call.trim_start();
        if call.starts_with("+++") || call.starts_with("---") {
            return;
        }
        if call.starts_with("<... ") {
            let (entry, since) = self.open.remove(thread).expect("a call returns once");
            let result = call.rsplit_once(" = ").expect("a result").1;
            self.returned(entry, result, since);
        } else if let Some(entry) = call.strip_suffix(" <unfinished ...>") {
            self.called(entry);
            self.open.insert(thread, (entry, self.events.len()));
        } else if let Some((entry, result)) = call.rsplit_once(" = ") {
            let since = self.events.len();
            self.called(entry);
            self.returned(entry, result, since);
        }
    }

    /// What counts from the moment of the call.
    fn called(&mut self, entry: &str) {
        let (name, arguments) = entry.split_once('(').expect("a call");
        let bytes = || texts(arguments).concat();
        let file = || described(arguments);
        let last = || number(arguments.rsplit(", ").next().expect("arguments"));
        match name {
            "write" | "writev" | "sendto" | "sendmsg" if file().starts_with(b"socket:") => {
                self.send(file(), &bytes());
            }
            "write" | "writev" if file().starts_with(b"/") => {
                self.events.push(Event::Write { path: path(file()), at: None, bytes: bytes() });
            }
            "pwrite64" | "pwritev" => {
                let at = Some(last());
                self.events.push(Event::Write { path: path(file()), at, bytes: bytes() });
            }
            "ftruncate" => self.events.push(Event::Cut { path: path(file()), length: last() }),
            "pwritev2" | "fallocate" | "truncate" | "msync" | "sync_file_range" | "symlink"
            | "symlinkat" | "creat" | "sendmsg" => {
                panic!("strace saw a new way to write: {entry:.300}")
            }
            _ => {}
        }
    }

    /// What counts from the moment of the return.
    fn returned(&mut self, entry: &str, result: &str, since: usize) {
        if result.starts_with('-') {
            return;
        }
        let (name, arguments) = entry.split_once('(').expect("a call");
        let event = match name {
            "fsync" | "fdatasync" => Event::Sync { path: path(described(arguments)), since },
            "openat" if arguments.contains("O_CREAT") => {
                let empties = arguments.contains("O_TRUNC");
                Event::Make { path: named(arguments, 0), empties }
            }
            "mkdir" | "mkdirat" => Event::MakeFolder { path: named(arguments, 0) },
            "unlink" | "unlinkat" | "rmdir" => Event::Remove { path: named(arguments, 0) },
            "link" | "linkat" => Event::Link { from: named(arguments, 0), to: named(arguments, 1) },
            "rename" | "renameat" | "renameat2" => {
                Event::Rename { from: named(arguments, 0), to: named(arguments, 1) }
            }
            _ => return,
        };
        self.events.push(event);
    }

    /// Finds whole answers in what is sent, and in them what is acknowledged.
    fn send(&mut self, socket: Vec<u8>, bytes: &[u8]) {
        let sent = self.sent.entry(socket).or_default();
        sent.extend_from_slice(bytes);
        while let Some(end) = sent.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&sent[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length = length.map_or(0, |length| length.trim().parse().expect("a length"));
            let body = end + 4..end + 4 + length;
            if sent.len() < body.end {
                return;
            }
            let answer: Value = serde_json::from_slice(&sent[body.clone()]).unwrap_or_default();
            sent.drain(..body.end);
            let argument = &answer["data"]["argument"];
            if let (Some(id), Some(content)) =
                (argument["id"].as_str(), argument["content"].as_str())
            {
                let (id, content) = (id.to_owned(), content.to_owned());
                self.events.push(Event::Acknowledge { id, content });
            }
        }
    }
}

/// Every text among the arguments of a call.
fn texts(arguments: &str) -> Vec<Vec<u8>> {
    arguments.split('"').skip(1).step_by(2).map(bytes).collect()
}

/// The file that stands behind the first descriptor: 7<this>.
fn described(arguments: &str) -> Vec<u8> {
    let from = arguments.find('<').map_or(0, |at| at + 1);
    let to = arguments[from..].find('>').map_or(from, |at| from + at);
    bytes(&arguments[from..to])
}

/// The nth text, which is a path.
fn named(arguments: &str, nth: usize) -> PathBuf {
    path(texts(arguments).swap_remove(nth))
}

fn path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(String::from_utf8(bytes).expect("a path in UTF-8"))
}

/// Bytes that strace has written as \x61\x77.
fn bytes(hex: &str) -> Vec<u8> {
    let digit = |digit: u8| (digit as char).to_digit(16).expect("a hex digit") as u8;
    hex.as_bytes().chunks_exact(4).map(|four| digit(four[2]) << 4 | digit(four[3])).collect()
}

fn number(text: &str) -> u64 {
    text.trim_end_matches(')').parse().expect("a number")
}
