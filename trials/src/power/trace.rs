//! Reads from strace, in order, what a server did to its files and acknowledged to its callers.
//!
//! A write counts from its call: the disk may have it. A sync counts from its return, for everything
//! that was written before its call.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use aw_trials::server::inside;
use serde_json::Value;

/// The system calls that change files and sockets.
const CALLS: &str = "trace=openat,creat,write,writev,pwrite64,pwritev,pwritev2,sendto,sendmsg,\
    ftruncate,truncate,fallocate,fsync,fdatasync,sync_file_range,msync,rename,renameat,renameat2,\
    unlink,unlinkat,rmdir,link,linkat,symlink,symlinkat,mkdir,mkdirat";

/// An event of a server's run.
#[derive(Debug, Clone)]
pub(super) enum DiskEvent {
    /// A file was opened with `O_CREAT`.
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
    /// The position; `None` is the end.
    Write {
        path: PathBuf,
        at: Option<u64>,
        bytes: Vec<u8>,
    },
    Cut {
        path: PathBuf,
        length: u64,
    },
    /// A file or folder was synced as of this many events.
    Sync {
        path: PathBuf,
        since: usize,
    },
    /// The server acknowledged an argument.
    Acknowledge {
        id: String,
        content: String,
    },
}

/// Wraps a command in strace, which writes to a file.
pub(super) fn traced(command: &Command, into: &Path) -> Command {
    let mut strace = Command::new("strace");
    // Print all strings completely and as bytes.
    strace.args(["-f", "-y", "-xx", "-s", "100000000", "-e", "signal=none", "-e", CALLS]);
    inside(command, strace.arg("-o").arg(into))
}

/// Parses strace's output.
pub(super) fn read(file: &Path) -> Vec<DiskEvent> {
    let text = std::fs::read_to_string(file).expect("strace has written");
    let mut reader = Reader::default();
    for line in text.lines() {
        reader.line(line);
    }
    reader.events
}

#[derive(Default)]
struct Reader<'a> {
    events: Vec<DiskEvent>,
    /// The unfinished calls by thread, with their text and the number of events before them.
    open: HashMap<&'a str, (&'a str, usize)>,
    /// The bytes of each socket that are not a complete answer yet.
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

    /// Handles the call of a write.
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
                self.events.push(DiskEvent::Write { path: path(file()), at: None, bytes: bytes() });
            }
            "pwrite64" | "pwritev" => {
                let at = Some(last());
                self.events.push(DiskEvent::Write { path: path(file()), at, bytes: bytes() });
            }
            "ftruncate" => self.events.push(DiskEvent::Cut { path: path(file()), length: last() }),
            "pwritev2" | "fallocate" | "truncate" | "msync" | "sync_file_range" | "symlink"
            | "symlinkat" | "creat" | "sendmsg" => {
                panic!("strace saw a new way to write: {entry:.300}")
            }
            _ => {}
        }
    }

    /// Handles the return of a call.
    fn returned(&mut self, entry: &str, result: &str, since: usize) {
        if result.starts_with('-') {
            return;
        }
        let (name, arguments) = entry.split_once('(').expect("a call");
        let event = match name {
            "fsync" | "fdatasync" => DiskEvent::Sync { path: path(described(arguments)), since },
            "openat" if arguments.contains("O_CREAT") => {
                let empties = arguments.contains("O_TRUNC");
                DiskEvent::Make { path: named(arguments, 0), empties }
            }
            "mkdir" | "mkdirat" => DiskEvent::MakeFolder { path: named(arguments, 0) },
            "unlink" | "unlinkat" | "rmdir" => DiskEvent::Remove { path: named(arguments, 0) },
            "link" | "linkat" => {
                DiskEvent::Link { from: named(arguments, 0), to: named(arguments, 1) }
            }
            "rename" | "renameat" | "renameat2" => {
                DiskEvent::Rename { from: named(arguments, 0), to: named(arguments, 1) }
            }
            _ => return,
        };
        self.events.push(event);
    }

    /// Finds complete answers, and the acknowledged arguments in them.
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
                self.events.push(DiskEvent::Acknowledge { id, content });
            }
        }
    }
}

/// Every string among the arguments of a call.
fn texts(arguments: &str) -> Vec<Vec<u8>> {
    arguments.split('"').skip(1).step_by(2).map(bytes).collect()
}

/// The file of the first descriptor: `7<this>`.
fn described(arguments: &str) -> Vec<u8> {
    let from = arguments.find('<').map_or(0, |at| at + 1);
    let to = arguments[from..].find('>').map_or(from, |at| from + at);
    bytes(&arguments[from..to])
}

/// The nth string, a path.
fn named(arguments: &str, nth: usize) -> PathBuf {
    path(texts(arguments).swap_remove(nth))
}

fn path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(String::from_utf8(bytes).expect("a path in UTF-8"))
}

/// Decodes strace's \x61\x77.
fn bytes(hex: &str) -> Vec<u8> {
    let digit = |digit: u8| (digit as char).to_digit(16).expect("a hex digit") as u8;
    hex.as_bytes().chunks_exact(4).map(|four| digit(four[2]) << 4 | digit(four[3])).collect()
}

fn number(text: &str) -> u64 {
    text.trim_end_matches(')').parse().expect("a number")
}
