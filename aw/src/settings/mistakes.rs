//! Explains a line of `config.toml` that cannot be used, and what to write instead.

use super::Config;

/// Every setting with a line that can be used.
const EXAMPLES: &[(&str, &str)] = &[
    ("listen", "listen = \"127.0.0.1:3456\""),
    ("database", "database = \"/srv/aw/debate.db\""),
    ("public_url", "public_url = \"https://debates.example.org\""),
    ("auth", "auth = \"required\""),
    ("auth_token", "auth_token = \"a long secret\""),
    ("content_limit", "content_limit = 10240"),
    ("document_limit", "document_limit = 5242880"),
    ("max_debates", "max_debates = 1000000"),
    ("max_documents", "max_documents = 1000000"),
    ("max_waits", "max_waits = 20000"),
    ("max_waits_per_token", "max_waits_per_token = 1000"),
    ("max_sockets", "max_sockets = 5000"),
    ("max_sockets_per_token", "max_sockets_per_token = 200"),
    ("max_connections", "max_connections = 30000"),
    ("max_long_answers", "max_long_answers = 67108864"),
    ("token_rate", "token_rate = 100"),
    ("token_burst", "token_burst = 500"),
    ("address_rate", "address_rate = 200"),
    ("address_burst", "address_burst = 1000"),
    ("wrong_token_rate", "wrong_token_rate = 5"),
    ("wrong_token_burst", "wrong_token_burst = 50"),
    ("server_url", "server_url = \"https://debates.example.org\""),
    ("wait_deadline", "wait_deadline = 110"),
    ("patience", "patience = 30"),
    ("author", "author = \"Ann\""),
    ("autostart", "autostart = false"),
    ("format", "format = \"json\""),
    ("debate_language", "debate_language = \"en\""),
    ("backup_every", "backup_every = \"1d\""),
    ("backup_keep", "backup_keep = 7"),
    ("run_keep_days", "run_keep_days = 14"),
    ("run", "[run]\nopponent = \"codex\""),
    ("agents", "[agents.mine]\ncommand = [\"my-agent\"]"),
    ("notify", "[notify]\ndesktop = true"),
];

/// How similar a setting's name must be to be suggested.
const ALIKE: f64 = 0.8;

/// How a message about a wrong value begins.
const WRONG: [&str; 3] = ["invalid type", "invalid value", "unknown variant"];

/// Reads the file. An error names the line and what to write there. It does not repeat a value,
/// which may be a token or a password.
pub(super) fn read(text: &str) -> Result<Config, String> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let number = before.matches('\n').count();
        let line = text.lines().nth(number).unwrap_or_default();
        let name = line.split_once('=').map_or("", |(name, _)| name.trim());
        let place = match name {
            "" => format!("line {}", number + 1),
            name => format!("line {} ({name})", number + 1),
        };
        format!("{place}: {}", explained(error.message(), name))
    })
}

/// The explanation: what is wrong, and what to write.
fn explained(message: &str, name: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    if message.starts_with("unknown field") {
        let unknown = quoted.next().unwrap_or(name);
        let known: Vec<&str> = quoted.collect();
        let alike = known.iter().map(|known| (strsim::jaro_winkler(unknown, known), known));
        let nearest = alike.max_by(|(one, _), (other, _)| one.total_cmp(other));
        return match nearest.filter(|(likeness, _)| *likeness >= ALIKE) {
            Some((_, meant)) => format!("there is no setting {unknown}: {}", instead(meant)),
            None => format!("there is no setting {unknown}: the settings are {}", known.join(", ")),
        };
    }
    let problem = match message {
        // The message contains the wrong value.
        _ if WRONG.iter().any(|start| message.starts_with(start)) => {
            match message.rsplit_once("expected ") {
                Some((_, expected)) => format!("it must be {}", in_words(expected)),
                None => "it has a wrong type".to_owned(),
            }
        }
        _ => message.to_owned(),
    };
    match example(name) {
        Some(_) => format!("{problem}: {}", instead(name)),
        None => problem,
    }
}

fn in_words(expected: &str) -> String {
    match expected {
        "u32" | "u64" | "usize" | "f64" | "i64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "a list, such as [\"one\", \"two\"]".to_owned(),
        other => other.to_owned(),
    }
}

fn instead(name: &str) -> String {
    match example(name) {
        Some(example) => {
            format!("write, for instance, {}", example.replace('\n', " and below it "))
        }
        None => format!("write {name}"),
    }
}

fn example(name: &str) -> Option<&'static str> {
    EXAMPLES.iter().find(|(known, _)| *known == name).map(|(_, example)| *example)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_an_example_that_works() {
        let all = toml::from_str::<Config>("no_such_setting = 1").unwrap_err();
        let names: Vec<&str> = all.message().split('`').skip(3).step_by(2).collect();
        assert!(names.len() > 20, "{names:?}");
        for name in names {
            let example = example(name).unwrap_or_else(|| panic!("{name} has no example"));
            read(example).unwrap_or_else(|why| panic!("{example}: {why}"));
        }
    }

    #[test]
    fn a_mistake_says_what_to_write() {
        for (text, said) in [
            (
                "\nlistn = \"127.0.0.1:1\"",
                "line 2 (listn): there is no setting listn: write, for instance, listen = \"127.0.0.1:3456\"",
            ),
            ("max_waits = \"many\"", "it must be a number: write, for instance, max_waits = 20000"),
            (
                "autostart = \"no\"",
                "it must be true or false: write, for instance, autostart = false",
            ),
            ("listen = localhost:3456", "write, for instance, listen = \"127.0.0.1:3456\""),
            ("[agents.mine]\ncommand = \"run\"", "(command): it must be a list, such as [\"one\""),
            ("qqqqqq = 1", "there is no setting qqqqqq: the settings are listen, database"),
            (
                "[run]\nopponnt = \"codex\"",
                "line 2 (opponnt): there is no setting opponnt: write opponent",
            ),
            (
                "format = \"html\"",
                "it must be `json` or `markdown`: write, for instance, format = \"json\"",
            ),
        ] {
            let why = read(text).unwrap_err();
            assert!(why.contains(said), "{text}: {why}");
        }
        // A value may be a secret.
        for text in ["auth_token = 123456", "auth_token = [\"s3cret\"]", "auth_token = s3cret"] {
            let why = read(text).unwrap_err();
            assert!(!why.contains("123456") && !why.contains("s3cret"), "{why}");
            assert!(why.contains("auth_token = \"a long secret\""), "{why}");
        }
    }
}
