//! A server elsewhere whose answers attack the terminal of the user who has named it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::fakes::{Fake, envelope};
use super::machine::Machine;
use crate::world::{new_id, text};

/// It sets the title of a terminal, colours it by a character beyond ASCII, turns letters round, and begins a line.
const ATTACK: &str = "\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\nFAKE";

/// Passes requests on to a real server. It adds the attack to the texts at one place of each answer.
struct Spoiler {
    fake: Fake,
    /// The place, and all places that were seen.
    places: Arc<Mutex<(Option<String>, Vec<String>)>>,
}

impl Spoiler {
    fn before(server: &Machine) -> Self {
        let places = Arc::new(Mutex::new((None, Vec::new())));
        let (address, shared) = (server.listen.clone(), places.clone());
        let fake = Fake::answering(move |_, request| {
            let mut behind = TcpStream::connect(&address).unwrap();
            let once = request.replacen("\r\n", "\r\nconnection: close\r\n", 1);
            behind.write_all(once.as_bytes()).unwrap();
            let mut answer = String::new();
            behind.read_to_string(&mut answer).unwrap();
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            let mut body: Value = serde_json::from_str(body).unwrap();
            let (place, seen) = &mut *shared.lock().unwrap();
            spoil(&mut body, "", place.as_deref(), seen);
            envelope(head.lines().next().unwrap().split_once(' ').unwrap().1, "", &body)
        });
        Spoiler { fake, places }
    }

    /// The places of the texts in the answers to this command.
    fn places(&self, far: &Machine, command: &[&str]) -> Vec<String> {
        *self.places.lock().unwrap() = (None, Vec::new());
        far.aw(command);
        let mut all = std::mem::take(&mut self.places.lock().unwrap().1);
        all.sort();
        all.dedup();
        all
    }
}

fn spoil(value: &mut Value, place: &str, spoiled: Option<&str>, seen: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                spoil(value, &format!("{place}.{name}"), spoiled, seen);
            }
        }
        Value::Array(values) => {
            for value in values {
                spoil(value, &format!("{place}[]"), spoiled, seen);
            }
        }
        Value::String(text) => {
            seen.push(place.to_owned());
            if spoiled == Some(place) {
                text.push_str(ATTACK);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn no_text_of_a_server_is_obeyed_by_a_terminal_or_begins_a_line() {
    let server = Machine::fresh();
    let (debate, motion) = server.debate();
    let made = server.aw(&["docs", "create", "--summary", "S", "--content", "One plan."]).data();
    let document = text(&made["document_id"]);
    server.aw(&["docs", "submit", &document, "--summary", "S 2", "--content", "Two."]).data();
    let points = ["--points", "--title", "P", "--content", "Two machines fight over it."];
    let create = ["debate", "create", "--type", "general_debate"];
    let created = server.aw(&[&create[..], &points].concat()).data();
    let (pointed, target) = (text(&created["debate_id"]), text(&created["argument_id"]));
    let claim = "### NEW [major] They fight\n> Two machines fight over it.\nSo do we.\n\
                 ### VERDICT [object]\n";
    let submit = ["debate", "submit", "--debate-id", &pointed, "--role", "opponent"];
    server.aw(&[&submit[..], &["--target-id", &target, "--content", claim]].concat()).data();

    let spoiler = Spoiler::before(&server);
    let far = Machine::fresh().with("DEBATE_SERVER_URL", &spoiler.fake.url());
    let wait = ["debate", "wait", "--debate-id", &debate, "--role", "opponent"];
    let commands: [&[&str]; 14] = [
        &["debate", "list"],
        &["debate", "get-context", "--debate-id", &debate],
        &["debate", "get-context", "--debate-id", &pointed],
        &wait,
        &[&wait[..], &["--argument-id", &motion, "--deadline", "0"]].concat(),
        &["debate", "points", "--debate-id", &pointed],
        &["debate", "points", "P1", "--debate-id", &pointed],
        &["docs", "list"],
        &["docs", "get", &document],
        &["docs", "history", &document],
        &["docs", "diff", &document],
        &["search", "machines"],
        &["token", "list"],
        &["debate", "get-context", "--debate-id", &new_id()],
    ];
    let mut tried = 0;
    for command in commands {
        let command = [command, &["--format", "markdown"]].concat();
        for place in spoiler.places(&far, &command) {
            spoiler.places.lock().unwrap().0 = Some(place.clone());
            let ran = far.aw(&command);
            let shown = format!("{}{}", ran.out, ran.err);
            let is_obeyed = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!shown.contains(is_obeyed), "{command:?}, {place}: {shown:?}");
            // A diff has many lines, and so has what the server says of a failure.
            if place != ".data.diff" && !place.starts_with(".error.") {
                assert!(!shown.contains("\nFAKE"), "{command:?}, {place}: {shown}");
            }
            tried += 1;
        }
    }
    assert!(tried > 100, "only {tried} places were tried");
}
