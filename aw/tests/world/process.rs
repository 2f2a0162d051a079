//! The real binary as a server process.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::free_listener;

/// `aw serve` as a process.
pub struct ServerProcess {
    pub url: String,
    pub child: Child,
}

impl ServerProcess {
    /// Starts it on this data folder and waits until it listens.
    pub fn start(home: &Path) -> Self {
        Self::start_with(home, |_| {})
    }

    /// Starts it with more settings.
    pub fn start_with(home: &Path, more: impl Fn(&mut Command)) -> Self {
        for _ in 0..20 {
            let address = free_listener().local_addr().unwrap();
            let mut command = Command::new(env!("CARGO_BIN_EXE_aw"));
            command
                .args(["serve", "--listen", &address.to_string()])
                .env("AWEAVE_HOME", home)
                .env_remove("AW_AUTH_TOKEN")
                .env_remove("AW_DATABASE_URL")
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::null());
            more(&mut command);
            let mut child = command.spawn().unwrap();
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            if let Some(url) = line.split_whitespace().find(|word| word.starts_with("http://")) {
                return ServerProcess { url: url.to_owned(), child };
            }
            // Another process took the port.
            child.wait().unwrap();
        }
        panic!("the server did not start");
    }

    /// `kill -9`
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Every process with this home: its id and its command line.
pub fn processes_of(home: &Path) -> Vec<(i32, String)> {
    let home = format!("HOME={}", home.display());
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let file = |name: &str| fs::read(entry.path().join(name)).unwrap_or_default();
        if file("environ").split(|byte| *byte == 0).any(|set| set == home.as_bytes()) {
            let typed = String::from_utf8_lossy(&file("cmdline")).replace('\0', " ");
            found.push((pid, typed));
        }
    }
    found
}
