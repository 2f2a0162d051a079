//! Tokens and invitations for people.

use std::fmt::Write as _;

use jiff::Timestamp;
use serde_json::Value;

use super::{Paper, ago, cell, list, shown, table, word};

/// A token that was just made.
pub(in crate::cli) fn new_token(data: &Value, paper: &Paper) -> String {
    format!(
        "{}\n\nFor the {}, {}, good until {}.\n",
        paper.bold(word(data, "token")),
        called(data),
        match data["debate_id"].as_str() {
            Some(debate) => format!("in debate {debate} only"),
            None => "in every debate".to_owned(),
        },
        end(data),
    )
}

/// The tokens that there are, without themselves.
pub(in crate::cli) fn tokens(data: &Value, paper: &Paper) -> String {
    let rows: Vec<Vec<String>> = list(data, "tokens")
        .iter()
        .map(|seat| {
            let state = match (word(seat, "state"), seat["expires_at"].as_str()) {
                ("revoked", _) => format!("revoked {}", ago(word(seat, "revoked_at"))),
                ("expired", Some(end)) => format!("expired {}", ago(end)),
                (_, Some(end)) => format!("open, ends {}", ahead(end)),
                (_, None) => "open".to_owned(),
            };
            vec![
                state,
                word(seat, "role").to_owned(),
                cell(word(seat, "name"), 30),
                seat["debate_id"].as_str().unwrap_or("every").to_owned(),
                ago(word(seat, "created_at")),
                word(seat, "token_id").to_owned(),
            ]
        })
        .collect();
    if rows.is_empty() {
        return "There are no tokens but the administrator's.\n".to_owned();
    }
    table(&["state", "role", "name", "debate", "made", "id"], &rows, paper)
}

/// What another person is sent.
pub(in crate::cli) fn invitation(data: &Value, paper: &Paper) -> String {
    let mut text = String::new();
    let debate = format!("{} ({})", word(data, "debate_id"), shown(word(data, "title")));
    for (name, value) in [
        ("server", word(data, "server_url")),
        ("debate", &debate),
        ("role", &called(data)),
        ("token", word(data, "token")),
        ("good until", &end(data)),
    ] {
        let _ = writeln!(text, "{} {value}", paper.bold(&format!("{name}:")));
    }
    let mut part = |title: &str, lines: &[&str]| {
        let _ = writeln!(text, "\n{}", paper.bold(title));
        for line in lines {
            let _ = writeln!(text, "    {line}");
        }
    };
    let shell: Vec<&str> = list(data, "shell").iter().filter_map(Value::as_str).collect();
    part("In the shell that starts the agent, where aw is installed", &shell);
    part("To the agent", &[word(data, "to_agent")]);
    let mcp = &data["mcp"];
    part(
        "Or, in an agent program that takes MCP servers by URL",
        &[word(mcp, "url"), word(mcp, "header")],
    );
    part("Or in a browser, where the token signs in", &[word(data, "page")]);
    text
}

/// The role, and what they are called besides.
fn called(data: &Value) -> String {
    match (word(data, "role"), word(data, "name")) {
        (role, name) if role == name => role.to_owned(),
        (role, name) => format!("{role}, called {}", shown(name)),
    }
}

/// When a token ceases to be good.
fn end(data: &Value) -> String {
    data["expires_at"].as_str().unwrap_or("it is revoked").to_owned()
}

/// How far ahead a moment is.
fn ahead(moment: &str) -> String {
    let Ok(at) = moment.parse::<Timestamp>() else { return shown(moment) };
    let seconds = at.as_second() - Timestamp::now().as_second();
    let whole = |unit: i64| (seconds + unit / 2) / unit;
    match seconds {
        ..60 => format!("in {} s", seconds.max(0)),
        60..3_600 => format!("in {} min", whole(60)),
        3_600..86_400 => format!("in {} h", whole(3_600)),
        86_400.. => format!("in {} d", whole(86_400)),
    }
}
