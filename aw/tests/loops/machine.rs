//! A machine to run commands on: an empty home, a port, and `aw` in its PATH.

use std::fs;
use std::io::Read;
use std::iter::repeat_with;
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use aw::api::client::Request;
use aw::api::http::Client;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

use crate::world::{CEILING, free_listener, processes_of, text};

/// A machine. Its processes end with it.
pub struct Machine {
    folder: TempDir,
    pub listen: String,
    set: Vec<(&'static str, String)>,
}

impl Machine {
    /// A machine on which nothing was run.
    pub fn fresh() -> Self {
        // A process that another test is just starting may have inherited the listener for a moment.
        let mut free = repeat_with(|| free_listener().local_addr().unwrap());
        let listen = free.find(|listen| TcpStream::connect(listen).is_err()).unwrap();
        Self::listening_at(&listen.to_string())
    }

    /// A machine with this address for its server.
    pub fn listening_at(listen: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for part in ["home", "bin", "work", "tmp"] {
            fs::create_dir(folder.path().join(part)).unwrap();
        }
        symlink(env!("CARGO_BIN_EXE_aw"), folder.path().join("bin").join("aw")).unwrap();
        Machine { folder, listen: listen.to_owned(), set: Vec::new() }
    }

    /// Sets a variable for all commands.
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.set.push((name, value.to_owned()));
        self
    }

    pub fn path(&self, part: &str) -> PathBuf {
        self.folder.path().join(part)
    }

    /// The data folder.
    pub fn data(&self) -> PathBuf {
        self.path("home").join(".aweave")
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.listen)
    }

    /// The command of a program.
    pub fn program(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        command
            .env_clear()
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", self.path("bin").display()))
            .env("AW_LISTEN", &self.listen)
            .envs(self.set.iter().map(|(name, value)| (*name, value)))
            .current_dir(self.path("work"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// The command of `aw` with these arguments.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_aw"));
        command.args(arguments);
        command
    }

    /// Starts `aw`.
    pub fn start(&self, arguments: &[&str]) -> Going {
        Going::start(self.command(arguments))
    }

    /// Runs `aw` to its end.
    #[track_caller]
    pub fn aw(&self, arguments: &[&str]) -> Ran {
        self.start(arguments).end()
    }

    /// Runs a line as an agent does.
    #[track_caller]
    pub fn sh(&self, line: &str) -> Ran {
        let mut command = self.program("sh");
        command.args(["-c", line]);
        Going::start(command).end()
    }

    /// A debate that waits for its opponent: its id, and that of its motion.
    #[track_caller]
    pub fn debate(&self) -> (String, String) {
        let created = self
            .aw(&[
                "debate",
                "create",
                "--title",
                "T",
                "--type",
                "general_debate",
                "--content",
                "hi",
            ])
            .data();
        (text(&created["debate_id"]), text(&created["argument_id"]))
    }

    /// The server's answer to a GET.
    pub fn get(&self, path: &str) -> Value {
        Client::new(&self.url(), None)
            .call(&Request::<Value>::get(path))
            .expect("the server answers")
            .json
    }

    /// The number of held waits; 0 without a server.
    pub fn held(&self) -> u64 {
        let health =
            Client::new(&self.url(), None).once(&Request::<Value>::get("/health"), Duration::ZERO);
        health.map_or(0, |health| health.json["held_waits"].as_u64().unwrap())
    }

    /// Every process of this machine: its id and its command line.
    pub fn processes(&self) -> Vec<(i32, String)> {
        processes_of(&self.path("home"))
    }

    /// The servers that run on this machine.
    pub fn servers(&self) -> Vec<i32> {
        let all = self.processes().into_iter();
        all.filter(|(_, typed)| typed.contains(" serve ")).map(|(pid, _)| pid).collect()
    }

    /// The one server that runs on this machine.
    #[track_caller]
    pub fn server(&self) -> i32 {
        let servers = self.servers();
        assert_eq!(servers.len(), 1, "{:?}", self.processes());
        servers[0]
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        for (pid, _) in self.processes() {
            // It may have ended meanwhile.
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}

/// A command at work, which does not outlive its test.
pub struct Going {
    child: Child,
    out: Option<JoinHandle<Vec<u8>>>,
    err: Option<JoinHandle<Vec<u8>>>,
}

impl Going {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let out = child.stdout.take().map(collected);
        let err = child.stderr.take().map(collected);
        Going { child, out, err }
    }

    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid()), signal).unwrap();
    }

    /// Kills (`kill -9`) it and its process group.
    pub fn kill_group(&mut self) {
        // It may have ended already.
        let _ = killpg(Pid::from_raw(self.pid()), Signal::SIGKILL);
        self.child.wait().unwrap();
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its end and returns its output.
    #[track_caller]
    pub fn end(mut self) -> Ran {
        until("the command ends", || self.child.try_wait().unwrap().is_some());
        let text = |reading: Option<JoinHandle<Vec<u8>>>| {
            let bytes = reading.map_or(Vec::new(), |reading| {
                until("everybody lets go of the pipe", || reading.is_finished());
                reading.join().unwrap()
            });
            String::from_utf8(bytes).expect("what it prints is UTF-8")
        };
        let code = self.child.wait().unwrap().code();
        Ran { code, out: text(self.out.take()), err: text(self.err.take()) }
    }
}

fn collected(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut all = Vec::new();
        pipe.read_to_end(&mut all).unwrap();
        all
    })
}

impl Drop for Going {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The output and exit code of a command.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// The one JSON object it printed.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The whole answer of a command that has succeeded.
    #[track_caller]
    pub fn answer(&self) -> Value {
        let answer = self.json();
        assert_eq!((self.code, &answer["success"]), (Some(0), &Value::Bool(true)), "{self:?}");
        assert_eq!(self.err, "", "words for people were not asked for");
        answer
    }

    /// The data of a command that has succeeded.
    #[track_caller]
    pub fn data(&self) -> Value {
        self.answer()["content"][0]["data"].take()
    }

    /// The error of a command that has failed like this.
    #[track_caller]
    pub fn refused(&self, code: &str, exit: i32) -> Value {
        let mut answer = self.json();
        assert_eq!((self.code, &answer["success"]), (Some(exit), &Value::Bool(false)), "{self:?}");
        assert_eq!(answer["error"]["code"], code, "{self:?}");
        answer["error"].take()
    }
}

/// Sets a stop flag when it is dropped, also when the test fails.
pub struct AtLast<'a>(pub &'a AtomicBool);

impl Drop for AtLast<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A process that is stopped with SIGSTOP until this is dropped, also when the test fails.
pub struct Paused(Pid);

impl Paused {
    pub fn new(pid: Pid) -> Self {
        kill(pid, Signal::SIGSTOP).unwrap();
        Paused(pid)
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        // The process may have been killed.
        let _ = kill(self.0, Signal::SIGCONT);
    }
}

/// Returns once the condition holds.
#[track_caller]
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < CEILING, "it never came to this: {what}");
        thread::sleep(Duration::from_millis(3));
    }
}

/// Whether this process has ended, reaped or not.
pub fn is_gone(pid: i32) -> bool {
    match fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")) {
        Ok(stat) => after_name(&stat).first() == Some(&"Z"),
        Err(_) => true,
    }
}

/// The fields of `/proc/PID/stat` from the third on: the second is a name that may contain spaces.
pub fn after_name(stat: &str) -> Vec<&str> {
    stat.rsplit_once(')').expect("a name in brackets").1.split_whitespace().collect()
}
