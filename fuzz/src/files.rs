//! Files that `aw` reads: settings, types of debate, and the kit's own list of its files.

use std::fs;
use std::path::Path;

use aw::kit::manifest::Manifest;
use aw::kit::texts::Language;
use aw::kit::types::{Origin, Shelves};
use aw::settings::{ClientSettings, Flags, ServerSettings};
use aw_core::{DebateType, Role, Summary, Title};
use aw_record::TypeTexts;
use tempfile::TempDir;
use toml::{Table, Value};

use crate::scene::folder;

thread_local! {
    static FOLDER: TempDir = folder();
}

/// Any bytes as `config.toml`.
///
/// - It is accepted as a whole or refused with a message.
/// - Accepted settings mean the same when the file is written in another way.
/// - A server beyond loopback requires tokens, and a configured token is required.
pub fn settings(data: &[u8]) {
    FOLDER.with(|folder| {
        let home = folder.path().join("home");
        fs::create_dir_all(&home).expect("a folder is made");
        let config = home.join("config.toml");
        fs::write(&config, data).expect("a file is written");
        let settled = settled(&home);
        let Ok(table) = str::from_utf8(data)
            .map_err(drop)
            .and_then(|text| toml::from_str::<Table>(text).map_err(drop))
        else {
            assert!(settled.iter().all(Result::is_err), "{settled:?}");
            return;
        };
        fs::write(&config, in_other_words(&table)).expect("a file is written");
        let again = self::settled(&home);
        for (one, other) in settled.iter().zip(&again) {
            match (one, other) {
                (Ok(one), Ok(other)) => assert_eq!(one, other),
                (Err(one), Err(_)) => assert!(!one.trim().is_empty()),
                (Ok(_), Err(_)) | (Err(_), Ok(_)) => panic!("{one:?} became {other:?}"),
            }
        }
    });
}

/// The settings of a server and a client in this folder, or the error.
fn settled(home: &Path) -> [Result<String, String>; 2] {
    let environment = |name: &str| (name == "AWEAVE_HOME").then(|| home.display().to_string());
    let server = ServerSettings::load(Flags::default(), &environment);
    if let Ok(server) = &server {
        let guard = &server.guard;
        assert!(server.listen.ip().is_loopback() || guard.wants_token, "{server:?}");
        assert!(guard.keys.is_empty() || guard.wants_token, "{server:?}");
    }
    let client = ClientSettings::load(&environment);
    [
        server.map(|settings| format!("{settings:?}")).map_err(|bad| bad.to_string()),
        client.map(|settings| format!("{settings:?}")).map_err(|bad| bad.to_string()),
    ]
}

/// The same table with sorted keys in the plainest form.
fn in_other_words(table: &Table) -> String {
    let pairs = table.iter().map(|(name, value)| format!("{} = {}\n", text(name), written(value)));
    pairs.collect()
}

fn written(value: &Value) -> String {
    match value {
        Value::String(said) => text(said),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) if number.is_nan() => "nan".to_owned(),
        Value::Float(number) => format!("{number:?}"),
        Value::Boolean(is) => is.to_string(),
        Value::Datetime(when) => when.to_string(),
        Value::Array(all) => format!("[{}]", all.iter().map(written).collect::<Vec<_>>().join(",")),
        Value::Table(table) => {
            let pairs =
                table.iter().map(|(name, value)| format!("{}={}", text(name), written(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
        }
    }
}

fn text(said: &str) -> String {
    let escaped = said.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// Separates the files of a type.
const NEXT: &str = "\n--8<--\n";

/// Any bytes as the files of a type of debate: `type.toml` and the rules of each role.
///
/// - They are refused with a message, or make a type that every server accepts.
/// - A type that is written again as it was read is the same type.
pub fn types(data: &[u8]) {
    FOLDER.with(|folder| {
        let shelves =
            Shelves { user: folder.path().join("user"), project: folder.path().join("project") };
        let own = shelves.user.join("legal");
        let name_of = |role: Role| format!("{}.md", role.as_str());
        let roles = [Role::Proposer, Role::Opponent, Role::Arbitrator];
        let names = [vec!["type.toml".to_owned()], roles.map(name_of).to_vec()].concat();
        let _ = fs::remove_dir_all(&own);
        fs::create_dir_all(&own).expect("a folder is made");
        for (name, bytes) in names.iter().zip(parts(data, NEXT.as_bytes())) {
            fs::write(own.join(name), bytes).expect("a file is written");
        }
        let found = match shelves.find("legal", Language::English) {
            Ok(found) => found.expect("a folder is a type, or refused"),
            Err(refused) => {
                assert!(!refused.to_string().is_empty());
                return;
            }
        };
        assert!(DebateType::parse(found.name.clone()).is_ok() && found.origin == Origin::User);
        assert!(Title::parse(found.title.clone()).is_ok(), "{:?}", found.title);
        assert!(Summary::parse(found.description.clone()).is_ok(), "{:?}", found.description);
        let rules = roles.map(|role| found.rules_of(role));
        assert!(rules.iter().all(|rules| !rules.trim().is_empty() && !rules.contains('\0')));
        assert!(rules.map(str::len).iter().sum::<usize>() <= TypeTexts::MAX_BYTES);
        let described =
            format!("description={}\ntitle={}", text(&found.description), text(&found.title));
        fs::write(own.join("type.toml"), described).expect("a file is written");
        for role in roles {
            fs::write(own.join(name_of(role)), found.rules_of(role)).expect("a file is written");
        }
        let again = shelves.find("legal", Language::English).expect("it was a type").expect("so");
        assert_eq!(again, found);
    });
}

/// Anything as what the kit remembers of what it has written where.
///
/// - It is refused in words, or remembered: written anew, it says the same.
pub fn manifest(data: &[u8]) {
    FOLDER.with(|folder| {
        let path = folder.path().join("agent-kit.json");
        fs::write(&path, data).expect("a file is written");
        match Manifest::read(folder.path()) {
            Err(refused) => assert!(refused.to_string().contains("agent-kit.json"), "{refused}"),
            Ok(manifest) => {
                let written = serde_json::to_vec(&manifest).expect("it is plain data");
                fs::write(&path, written).expect("a file is written");
                let again = Manifest::read(folder.path()).expect("it was read before");
                assert_eq!(again, manifest);
            }
        }
    });
}

/// The parts of this between separators.
pub(crate) fn parts<'a>(data: &'a [u8], separator: &[u8]) -> Vec<&'a [u8]> {
    let mut parts = Vec::new();
    let mut from = 0;
    let mut at = 0;
    while at < data.len() {
        if data[at..].starts_with(separator) {
            parts.push(&data[from..at]);
            at += separator.len();
            from = at;
        } else {
            at += 1;
        }
    }
    parts.push(&data[from..]);
    parts
}
