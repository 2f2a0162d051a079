//! Tokens and invitations for people.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::super::debate::Invitation;
use super::super::token::{TokenState, TokensOutput};
use super::{Paper, ago, cell, shown, table};
use crate::api::client::Reply;
use crate::api::types::{NewToken, Stamp};

/// A token that was just made.
pub(in crate::cli) fn new_token(new: &Reply<NewToken>, paper: &Paper) -> String {
    let NewToken { token, seat, .. } = &new.data;
    format!(
        "{}\n\nFor the {}, {}, valid until {}.\n",
        paper.bold(token),
        called(&seat.role, &seat.name),
        match &seat.debate_id {
            Some(debate) => format!("in debate {} only", debate.0),
            None => "in every debate".to_owned(),
        },
        end(seat.expires_at),
    )
}

/// The seats, without their tokens.
pub(in crate::cli) fn tokens(output: &TokensOutput, paper: &Paper) -> String {
    let rows: Vec<Vec<String>> = output
        .seats()
        .map(|(seat, state)| {
            let state = match (state, seat.expires_at, seat.revoked_at) {
                (TokenState::Revoked, _, Some(at)) => format!("revoked {}", ago(at)),
                (TokenState::Expired, Some(end), _) => format!("expired {}", ago(end)),
                (TokenState::Open, Some(end), _) => format!("open, ends {}", ahead(end)),
                (state, ..) => state.as_str().to_owned(),
            };
            vec![
                state,
                seat.role.clone(),
                if seat.name == seat.role { "-".to_owned() } else { cell(&seat.name, 30, paper) },
                seat.debate_id.map_or_else(|| "every".to_owned(), |debate| debate.0.to_string()),
                ago(seat.created_at),
                seat.token_id.clone(),
            ]
        })
        .collect();
    if rows.is_empty() {
        return "There are no tokens but the administrator's.\n".to_owned();
    }
    table(&["state", "role", "name", "debate", "made", "id"], &rows, paper)
}

/// An invitation, as it is sent to another person.
pub(in crate::cli) fn invitation(invitation: &Invitation, paper: &Paper) -> String {
    let mut text = String::new();
    let debate = format!("{} ({})", invitation.debate_id, shown(&invitation.title));
    for (name, value) in [
        ("server", &invitation.server_url),
        ("debate", &debate),
        ("role", &called(&invitation.role, &invitation.name)),
        ("token", &invitation.token),
        ("valid until", &end(invitation.expires_at)),
    ] {
        let _ = writeln!(text, "{} {value}", paper.bold(&format!("{name}:")));
    }
    let mut part = |title: &str, lines: &[&str]| {
        let _ = writeln!(text, "\n{}", paper.bold(title));
        for line in lines {
            let _ = writeln!(text, "    {line}");
        }
    };
    let shell: Vec<&str> = invitation.shell.iter().map(String::as_str).collect();
    part("In the shell that starts the agent, where aw is installed", &shell);
    part("To the agent", &[&invitation.to_agent]);
    part(
        "Or, in an agent program that takes MCP servers by URL",
        &[&invitation.mcp.url, &invitation.mcp.header],
    );
    part("Or in a browser, where the token signs in", &[&invitation.page]);
    text
}

/// The role, and the name if that is another word.
fn called(role: &str, name: &str) -> String {
    if role == name { role.to_owned() } else { format!("{role}, called {}", shown(name)) }
}

/// When a token expires.
fn end(expires_at: Option<Stamp>) -> String {
    expires_at.map_or_else(|| "it is revoked".to_owned(), |at| at.to_string())
}

/// How far ahead a moment is.
pub(super) fn ahead(moment: Stamp) -> String {
    let seconds = moment.0.0.div_euclid(1_000) - Timestamp::now().as_second();
    let whole = |unit: i64| (seconds + unit / 2) / unit;
    match seconds {
        ..60 => format!("in {} s", seconds.max(0)),
        60..3_600 => format!("in {} min", whole(60)),
        3_600..86_400 => format!("in {} h", whole(3_600)),
        86_400.. => format!("in {} d", whole(86_400)),
    }
}
