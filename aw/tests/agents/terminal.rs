//! A program on a terminal: `script` gives it one, and the test answers what programs ask of terminals.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

/// What a program asks of its terminal, and what a plain one answers.
const ANSWERS: [(&str, &str); 4] = [
    ("\u{1b}[6n", "\u{1b}[1;1R"),
    ("\u{1b}[c", "\u{1b}[?62;c"),
    ("\u{1b}]10;?", "\u{1b}]10;rgb:ffff/ffff/ffff\u{1b}\\"),
    ("\u{1b}]11;?", "\u{1b}]11;rgb:0000/0000/0000\u{1b}\\"),
];

/// A program on a terminal. It does not outlive its test.
pub struct Terminal {
    child: Child,
    shown: Arc<Mutex<String>>,
}

impl Terminal {
    /// Starts a command that `script` runs.
    pub fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (mut keys, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let shown = Arc::new(Mutex::new(String::new()));
        let kept = shown.clone();
        thread::spawn(move || {
            let mut part = [0; 65536];
            while let Ok(length @ 1..) = screen.read(&mut part) {
                let part = String::from_utf8_lossy(&part[..length]);
                for (asked, answer) in ANSWERS {
                    if part.contains(asked) {
                        // The program may have ended.
                        let _ = keys.write_all(answer.as_bytes());
                    }
                }
                kept.lock().unwrap().push_str(&part);
            }
        });
        Terminal { child, shown }
    }

    /// The last of what it showed, to explain a failure.
    pub fn shown(&self) -> String {
        let shown = self.shown.lock().unwrap();
        let from = shown.char_indices().rev().nth(3000).map_or(0, |(at, _)| at);
        shown[from..].to_owned()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
