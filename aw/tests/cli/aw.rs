//! `aw` as it is typed: a new home, a clean environment, a port of its own, and a transcript.
//!
//! The server and the runs that commands start in the background end when the [`Aw`] is dropped.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::{free_listener, processes_of, text};

/// Where the system keeps `sh`, `cat` and the like.
const SYSTEM: &str = "/usr/bin:/bin";

/// Somebody at a shell.
pub struct Aw {
    folder: TempDir,
    pub listen: SocketAddr,
    set: Vec<(String, String)>,
    names: RefCell<Vec<(String, String)>>,
    transcript: RefCell<String>,
}

impl Aw {
    /// A new home on a free port. Nothing runs yet.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "bin", "desk"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        symlink(env!("CARGO_BIN_EXE_aw"), folder.path().join("bin/aw")).unwrap();
        let listen = free_listener().local_addr().unwrap();
        Aw {
            folder,
            listen,
            set: Vec::new(),
            names: RefCell::default(),
            transcript: RefCell::default(),
        }
    }

    /// With this environment variable.
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.set.retain(|(known, _)| known != name);
        self.set.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Where programs are found, `aw` aside: nowhere.
    pub fn without_path(self) -> Self {
        self.set("PATH", "/nowhere")
    }

    /// The data folder.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home/.aweave")
    }

    /// The folder in which the commands are typed.
    pub fn desk(&self) -> PathBuf {
        self.folder.path().join("desk")
    }

    /// Puts a file on the desk.
    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.desk().join(name), bytes).unwrap();
    }

    /// Writes `config.toml`.
    pub fn config(&self, text: &str) {
        fs::create_dir_all(self.home()).unwrap();
        fs::write(self.home().join("config.toml"), text).unwrap();
    }

    /// Puts a program of this name into the PATH, which does this on the desk.
    pub fn program(&self, name: &str, script: &str) {
        let path = self.folder.path().join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// From now on the transcript calls this id so.
    pub fn call_it(&self, name: &str, id: &str) {
        self.names.borrow_mut().push((id.to_owned(), name.to_owned()));
    }

    /// Runs `aw` with these arguments.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.piped(b"", arguments)
    }

    /// The same with this on stdin.
    pub fn piped(&self, stdin: &[u8], arguments: &[&str]) -> Ran {
        let ran = self.finish(self.aw(arguments), stdin, &as_typed(arguments));
        self.note(&ran);
        ran
    }

    /// The same without a place in the transcript.
    pub fn quietly(&self, arguments: &[&str]) -> Ran {
        self.finish(self.aw(arguments), b"", &as_typed(arguments))
    }

    /// Opens a debate with this title and MOTION, quietly: its id, and its MOTION's.
    #[track_caller]
    pub fn opens(&self, title: &str, motion: &str, flags: &[&str]) -> (String, String) {
        let typed = ["debate", "create", "-t", title, "--type", "general_debate", "--content"];
        let data = self.quietly(&[&typed[..], &[motion], flags].concat()).data();
        (text(&data["debate_id"]), text(&data["argument_id"]))
    }

    /// Runs a line through the shell, which finds `aw` in its PATH.
    pub fn sh(&self, line: &str) -> Ran {
        let mut command = self.settled("/bin/sh");
        command.args(["-c", line]);
        self.finish(command, b"", line)
    }

    /// Runs a line on a terminal that is so wide, and returns what the terminal shows.
    pub fn terminal(&self, columns: usize, line: &str) -> Ran {
        self.typing(columns, line, "")
    }

    /// The same, with keys that a person presses there.
    pub fn typing(&self, columns: usize, line: &str, keys: &str) -> Ran {
        let line = format!("stty rows 50 cols {columns}; {line}");
        let mut command = self.settled("script");
        command.env("TERM", "xterm").args(["-qec", &line, "/dev/null"]);
        command.envs(self.set.iter().map(|(name, value)| (name, value)));
        let mut ran = self.finish(command, keys.as_bytes(), &line);
        ran.stdout = ran.stdout.replace("\r\n", "\n");
        ran
    }

    /// Starts `aw`, with more in its environment, and leaves it running.
    pub fn spawn(&self, set: &[(&str, &str)], arguments: &[&str]) -> Child {
        let mut command = self.aw(arguments);
        command.envs(set.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Starts `aw` with a pipe at each end and leaves it running.
    pub fn converse(&self, arguments: &[&str]) -> Child {
        let mut command = self.aw(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        command.spawn().unwrap()
    }

    fn aw(&self, arguments: &[&str]) -> Command {
        let mut command = self.settled(env!("CARGO_BIN_EXE_aw"));
        command.args(arguments);
        command
    }

    /// A command on the desk, with nothing in its environment that was not put there.
    pub fn settled(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = format!("{}:{SYSTEM}", self.folder.path().join("bin").display());
        command
            .current_dir(self.desk())
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.folder.path().join("home"))
            .env("AW_LISTEN", self.listen.to_string())
            .envs(self.set.iter().map(|(name, value)| (name, value)));
        command
    }

    fn finish(&self, mut command: Command, stdin: &[u8], typed: &str) -> Ran {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        // A command that does not read its stdin may be gone before it is written.
        let _ = pipe.write_all(stdin);
        drop(pipe);
        Ran::new(typed, child.wait_with_output().unwrap())
    }

    /// Adds a command to the transcript.
    pub fn note(&self, ran: &Ran) {
        let mut transcript = self.transcript.borrow_mut();
        let _ = writeln!(transcript, "$ {}", ran.typed);
        match serde_json::from_str::<Value>(&ran.stdout) {
            Ok(json) => {
                assert_eq!(ran.stdout.trim_end().lines().count(), 1, "one object on one line");
                let _ = match unwrapped(&json) {
                    Some(lines) => write!(transcript, "{lines}"),
                    None => writeln!(transcript, "{}", laid_out(&json, 0)),
                };
            }
            Err(_) => transcript.push_str(&ran.stdout),
        }
        for line in ran.stderr.lines() {
            let _ = writeln!(transcript, "stderr: {line}");
        }
        if ran.code != 0 {
            let _ = writeln!(transcript, "exit: {}", ran.code);
        }
        transcript.push('\n');
    }

    /// Compares what was typed and printed so far with the kept transcript, and begins a new one.
    #[track_caller]
    pub fn transcript(&self, name: &str) {
        let mut text = self.transcript.take();
        for (id, name) in self.names.borrow().iter() {
            text = text.replace(id, name);
        }
        text = text.replace(&self.listen.to_string(), "[listen]");
        text = text.replace(self.folder.path().to_str().unwrap(), "[folder]");
        text = text.replace(env!("CARGO_BIN_EXE_aw"), "[binary]");
        text = text.replace(env!("CARGO_PKG_VERSION"), "[version]");
        let mut look = insta::Settings::clone_current();
        look.set_prepend_module_to_snapshot(false);
        look.set_omit_expression(true);
        for (pattern, instead) in [
            (r"[0-9a-f]{64}", "[hash]"),
            (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "[id]"),
            (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", "[time]"),
            (r"\b\d+ s ago", "[ago]"),
            // Which roles wait depends on the speed of the machine.
            (r#""waiting": (true|false)"#, r#""waiting": [now]"#),
            (r"127\.0\.0\.1:2\d{4}", "[address]"),
            (r#""bytes": \d{5,}"#, r#""bytes": [bytes]"#),
            (r"size: \d+ kB", "size: [size]"),
            (r#""pid": \d+"#, r#""pid": [pid]"#),
            (r"pid: \d+", "pid: [pid]"),
            (r"pid \d+", "pid [pid]"),
            (r#""uptime_s": \d+"#, r#""uptime_s": [seconds]"#),
            (r"uptime s: \d+", "uptime s: [seconds]"),
            (r#""patience_left_s": 1?\d{3}\b"#, r#""patience_left_s": [seconds]"#),
        ] {
            look.add_filter(pattern, instead);
        }
        look.bind(|| insta::assert_snapshot!(name, text));
    }
}

impl Drop for Aw {
    fn drop(&mut self) {
        // A run in the background could start the server once more.
        let runs = processes_of(&self.folder.path().join("home"));
        for (pid, _) in runs.iter().filter(|(_, typed)| !typed.contains(" serve ")) {
            let _ = kill(Pid::from_raw(*pid), Signal::SIGKILL);
        }
        let mut stop = Command::new(env!("CARGO_BIN_EXE_aw"));
        stop.args(["server", "stop"]).env_clear().env("HOME", self.folder.path().join("home"));
        // A test may have left settings that no command can read.
        let _ = fs::remove_file(self.home().join("config.toml"));
        let stopped = stop.output().unwrap();
        if !std::thread::panicking() {
            assert!(stopped.status.success(), "{}", String::from_utf8_lossy(&stopped.stdout));
        }
    }
}

/// A debate, and somebody at a shell who takes part in it.
pub struct Debate {
    pub aw: Aw,
    pub id: String,
    pub motion: String,
}

impl Debate {
    /// A debate about this MOTION.
    #[track_caller]
    pub fn about(aw: Aw, motion: &str, flags: &[&str]) -> Self {
        let (id, motion) = aw.opens("T", motion, flags);
        Debate { aw, id, motion }
    }

    /// Runs a command of this debate, quietly.
    pub fn run(&self, command: &str, rest: &[&str]) -> Ran {
        self.aw.quietly(&[&["debate", command, "--debate-id", &self.id], rest].concat())
    }

    /// Submits a CLAIM.
    pub fn claims(&self, role: &str, target: &str, content: &str, rest: &[&str]) -> Ran {
        let usual = ["--role", role, "--target-id", target, "--content", content];
        self.run("submit", &[&usual, rest].concat())
    }

    /// How many arguments it has.
    pub fn count(&self) -> u64 {
        let listed = self.aw.quietly(&["debate", "list"]).data();
        listed["debates"][0]["last_argument"]["seq"].as_u64().unwrap()
    }
}

/// A command that has ended.
#[derive(Debug)]
pub struct Ran {
    pub typed: String,
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
}

impl Ran {
    pub fn new(typed: &str, output: Output) -> Self {
        Ran {
            typed: typed.to_owned(),
            stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
            code: output.status.code().expect("it exits"),
        }
    }

    /// The envelope, which is as promised.
    #[track_caller]
    pub fn envelope(&self) -> Value {
        let whole: Value =
            serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        let content = whole["content"].as_array().expect("there is content");
        assert_eq!(content.len(), 1, "{whole}");
        assert_eq!(content[0]["type"], "json", "{whole}");
        assert!(content[0]["data"].is_object(), "{whole}");
        assert!(whole["metadata"].is_object(), "{whole}");
        assert_eq!(whole["success"] == true, self.code == 0, "{self:?}");
        assert_eq!(whole["success"] == false, whole["error"].is_object(), "{whole}");
        whole
    }

    /// The envelope of a success.
    #[track_caller]
    pub fn ok(&self) -> Value {
        assert_eq!(self.code, 0, "{self:?}");
        assert_eq!(self.stderr, "", "{self:?}");
        self.envelope()
    }

    /// The data of a success.
    #[track_caller]
    pub fn data(&self) -> Value {
        self.ok()["content"][0]["data"].take()
    }

    /// The id of the argument that was written.
    #[track_caller]
    pub fn argument(&self) -> String {
        text(&self.data()["argument_id"])
    }

    /// The command to run next.
    #[track_caller]
    pub fn next(&self) -> String {
        text(&self.envelope()["metadata"]["next_command"])
    }

    /// The envelope of a failure with this exit code and error code.
    #[track_caller]
    pub fn refused(&self, exit: i32, code: &str) -> Value {
        assert_eq!(self.code, exit, "{self:?}");
        let whole = self.envelope();
        assert_eq!(whole["error"]["code"], code, "{whole}");
        assert!(whole["error"]["message"].is_string(), "{whole}");
        let data = whole["content"][0]["data"].as_object().unwrap();
        match data.get("server_error") {
            Some(server) => assert_eq!(server["code"], code, "{whole}"),
            None => assert!(data.is_empty(), "{whole}"),
        }
        whole
    }
}

/// What an envelope holds, a line for each field: without the wrapping, which every answer has, and
/// without what the server's error only repeats of the error. None for JSON that is no envelope.
fn unwrapped(whole: &Value) -> Option<String> {
    let fields = whole.as_object().filter(|fields| fields.contains_key("success"))?;
    let (error, content) = (fields.get("error"), &fields["content"]);
    assert_eq!(fields["success"], error.is_none(), "{whole}");
    assert_eq!(content, &json!([{"type": "json", "data": content[0]["data"]}]), "{whole}");
    let mut lines = String::new();
    for (name, value) in error.and_then(Value::as_object).into_iter().flatten() {
        let _ = writeln!(lines, "{name}: {}", value.as_str().unwrap_or(&value.to_string()));
    }
    for (name, value) in fields {
        match name.as_str() {
            "success" | "error" => {}
            "metadata" => put_fields(&mut lines, "metadata", value),
            "content" => {
                let mut data = content[0]["data"].clone();
                if let (Some(error), Some(server)) = (error, data.get_mut("server_error")) {
                    assert_eq!(server["code"], error["code"], "{whole}");
                    let known = error.as_object().unwrap();
                    let same = |name: &String, value: &Value| known.get(name) == Some(value);
                    server.as_object_mut().unwrap().retain(|name, value| !same(name, value));
                }
                put_fields(&mut lines, "data", &data);
            }
            name => {
                let _ = writeln!(lines, "{name}: {value}");
            }
        }
    }
    Some(lines)
}

/// A line for each field, and for each item of a list in it.
fn put_fields(lines: &mut String, of: &str, fields: &Value) {
    for (name, value) in fields.as_object().expect("it has fields") {
        let _ = writeln!(lines, "{of}.{name}: {}", laid_out(value, 0));
    }
}

/// JSON with a line for each item of a list or field of an object; what is deeper stands on one line.
fn laid_out(value: &Value, depth: usize) -> String {
    let parts: Vec<String> = match value {
        Value::Object(fields) => {
            let field =
                |(name, value)| format!("{}: {}", Value::from(name), laid_out(value, depth + 1));
            fields.iter().map(|(name, value)| field((name.as_str(), value))).collect()
        }
        Value::Array(items) => items.iter().map(|item| laid_out(item, depth + 1)).collect(),
        plain => return plain.to_string(),
    };
    let (open, close) = if value.is_object() { ('{', '}') } else { ('[', ']') };
    let is_wide = depth == 0 && value.is_array() && parts.len() > 1;
    if !is_wide {
        return format!("{open}{}{close}", parts.join(", "));
    }
    format!("{open}\n  {}\n{close}", parts.join(",\n  "))
}

/// A command line as it would be typed.
fn as_typed(arguments: &[&str]) -> String {
    let mut line = "aw".to_owned();
    for word in arguments {
        let plain = |c: char| c.is_alphanumeric() || "-_.:/=".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            let _ = write!(line, " {word}");
        } else {
            let _ = write!(line, " '{}'", word.replace('\n', "\\n"));
        }
    }
    line
}
