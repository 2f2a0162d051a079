//! `aw token`: creates, lists and revokes tokens.

use std::str::FromStr;

use clap::Subcommand;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::debate::Shape;
use super::human;
use super::next_command::CommandLine;
use super::output::{Answer, CliError, Format, Shown};
use super::refs;
use super::session::Session;
use crate::api::client::{self, Reply};
use crate::api::types::{CreateToken, NewToken, Seat, Stamp};
use crate::token;

pub(super) const HELP: &str = "\
Create, list and revoke tokens, which say who may take part

Usage: aw token <command>

  create    Make a token for a role; it is shown only once
  list      List the seats and when they expire; no token is shown
  revoke    Revoke a token: the server refuses it from then on

For instance
  aw token create --role opponent --debate 93d8… --name An --expires 30d
  aw debate invite --debate-id 93d8… --role opponent

The second makes a token too, and prints all that another person needs with it.
A server asks for tokens when it was started with --auth, or with
auth = \"required\" in its config.toml, and always when it can be reached from
other machines. Its administrator needs none: aw finds that token in the data
folder.
aw token <command> --help has its flags and an example.
";

/// The advice for a server that requires no tokens.
const ASKS_NOBODY: &str =
    "this server requires no token: to require one, run aw server restart --auth";

/// Give out tokens, and take them back
#[derive(Debug, Subcommand)]
#[command(defer = true, override_help = HELP)]
pub(super) enum TokenCommand {
    /// Make a token for a role; it is shown only once
    #[command(
        after_help = "Example:\n  aw token create --role opponent --debate 93d8… --expires 30d"
    )]
    Create(Create),
    /// List the seats and when they expire; no token is shown
    #[command(after_help = "Example:\n  aw token list")]
    List(Shape),
    /// Revoke a token: the server refuses it from then on
    #[command(
        after_help = "Give the id: every user of this machine can read a command line. A token that has leaked may stand there itself, if you do not know its id: only its hash is sent to the server.\n\nExample:\n  aw token revoke 5b0c8e0e-3f0a-4b7e-9d0e-0a4f8a2f1c55"
    )]
    Revoke(Revoke),
}

#[derive(Debug, clap::Args)]
pub(super) struct Create {
    /// proposer, opponent, arbitrator, or observer, who only reads
    #[arg(long)]
    role: String,
    /// Only for this debate; without it for all of them
    #[arg(long, visible_alias = "debate-id", value_name = "DEBATE")]
    debate: Option<String>,
    /// Its name, which everybody sees on its arguments [default: its role]
    #[arg(long)]
    name: Option<String>,
    /// How long it is valid, for instance 45m, 12h or 30d; without it until it is revoked
    #[arg(long, value_name = "TIME")]
    expires: Option<Lasts>,
    #[command(flatten)]
    shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(super) struct Revoke {
    /// Its id, from aw token list; or the token itself, if it has leaked
    #[arg(value_name = "ID")]
    token_id: String,
    #[command(flatten)]
    shape: Shape,
}

/// How long a token is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lasts {
    seconds: u64,
}

/// The longest time that a token may be valid, in seconds.
const LONGEST: u64 = 36_500 * 24 * 60 * 60;

impl Lasts {
    /// The same in seconds.
    pub(super) fn seconds(self) -> u64 {
        self.seconds
    }
}

impl FromStr for Lasts {
    type Err = &'static str;

    fn from_str(typed: &str) -> Result<Self, Self::Err> {
        let unit = match typed.chars().last() {
            Some('s') => Some(1),
            Some('m') => Some(60),
            Some('h') => Some(60 * 60),
            Some('d') => Some(24 * 60 * 60),
            Some(_) | None => None,
        };
        let count = unit.and_then(|_| typed[..typed.len() - 1].parse::<u64>().ok());
        let seconds = unit.zip(count).and_then(|(unit, count)| count.checked_mul(unit));
        match seconds {
            Some(seconds @ 1..=LONGEST) => Ok(Lasts { seconds }),
            Some(_) | None => Err(
                "it must be a number with a unit (s, m, h or d), for instance 45m, 12h or 30d, and at most 36500d",
            ),
        }
    }
}

/// A token to be made.
pub(super) struct Wish<'a> {
    pub(super) role: &'a str,
    pub(super) debate: Option<&'a str>,
    pub(super) name: Option<&'a str>,
    pub(super) lasts: Option<Lasts>,
}

impl Wish<'_> {
    /// The token with its seat, whether the server requires it, and the server's public URL.
    pub(super) fn granted(&self, session: &Session) -> Result<Reply<NewToken>, CliError> {
        let body = CreateToken {
            role: self.role.to_owned(),
            debate_id: self.debate.map(str::to_owned),
            name: self.name.map(str::to_owned),
            expires_in: self.lasts.map(|lasts| lasts.seconds),
        };
        session.call(&client::create_token(body)).map_err(|problem| match self.debate {
            Some(debate) => problem.with("debate_id", debate),
            None => problem,
        })
    }
}

/// Adds a warning if the server requires no tokens.
pub(super) fn cautioned(answer: Answer, wanted: bool) -> Answer {
    if wanted { answer } else { answer.warn(ASKS_NOBODY) }
}

/// The command that revokes this token.
pub(super) fn revoking(seat: &Seat) -> String {
    let line = CommandLine::new("token revoke").word(&seat.token_id);
    format!("to revoke it: {}", line.into_string())
}

impl TokenCommand {
    pub(super) fn format(&self) -> Format {
        match self {
            TokenCommand::Create(command) => command.shape.format(),
            TokenCommand::List(shape) => shape.format(),
            TokenCommand::Revoke(command) => command.shape.format(),
        }
    }

    pub(super) fn run(self) -> Result<Shown, CliError> {
        match self {
            TokenCommand::Create(command) => command.run(),
            TokenCommand::List(shape) => list(shape),
            TokenCommand::Revoke(command) => command.run(),
        }
    }
}

impl Create {
    fn run(mut self) -> Result<Shown, CliError> {
        if let Some(name) = &mut self.debate {
            *name = refs::debate(name, self.shape.verbose)?;
        }
        let session = Session::open(self.shape.verbose)?;
        let wish = Wish {
            role: &self.role,
            debate: self.debate.as_deref(),
            name: self.name.as_deref(),
            lasts: self.expires,
        };
        let granted = wish.granted(&session)?;
        let (hint, wanted) = (revoking(&granted.data.seat), granted.data.wanted);
        let answer = Answer::new(granted, human::new_token)
            .message(
                "Token created. It is not shown again: its holder sets DEBATE_AUTH_TOKEN to it, in the \
                 environment and not on a command line",
            )
            .with("hint", hint);
        Ok(Shown::Answer(session.checked(cautioned(answer, wanted))))
    }
}

fn list(shape: Shape) -> Result<Shown, CliError> {
    let session = Session::open(shape.verbose)?;
    let list = session.call(&client::tokens())?;
    let Verbatim { tokens, rest } = list.verbatim();
    let now = Timestamp::now().as_millisecond();
    let states = list.data.tokens.iter().map(|seat| TokenState::of(seat, now));
    let tokens = tokens.into_iter().zip(list.data.tokens.iter().cloned()).zip(states);
    let tokens =
        tokens.map(|((verbatim, seat), state)| TokenListed { verbatim, state, seat }).collect();
    let answer = Answer::new(TokensOutput { tokens, rest }, human::tokens);
    let answer = answer.of_total(list.data.total, false);
    Ok(Shown::Answer(session.checked(cautioned(answer, list.data.wanted))))
}

/// The fields of the server's answer that are printed unchanged.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Verbatim {
    tokens: Vec<Map<String, Value>>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// The tokens with their states.
#[derive(Debug, Serialize)]
pub(super) struct TokensOutput {
    tokens: Vec<TokenListed>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Debug, Serialize)]
struct TokenListed {
    #[serde(flatten)]
    verbatim: Map<String, Value>,
    state: TokenState,
    #[serde(skip)]
    seat: Seat,
}

impl TokensOutput {
    /// The seats with the states of their tokens.
    pub(super) fn seats(&self) -> impl Iterator<Item = (&Seat, TokenState)> {
        self.tokens.iter().map(|listed| (&listed.seat, listed.state))
    }
}

/// Whether a token is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TokenState {
    Open,
    Expired,
    Revoked,
}

impl TokenState {
    fn of(seat: &Seat, now_ms: i64) -> Self {
        Self::at(seat.expires_at, seat.revoked_at, now_ms)
    }

    fn at(expires: Option<Stamp>, revoked: Option<Stamp>, now_ms: i64) -> Self {
        match (revoked, expires) {
            (Some(_), _) => TokenState::Revoked,
            (None, Some(end)) if end.0.0 <= now_ms => TokenState::Expired,
            (None, _) => TokenState::Open,
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            TokenState::Open => "open",
            TokenState::Expired => "expired",
            TokenState::Revoked => "revoked",
        }
    }
}

/// The id of a token, found by the beginning of the id or by the name of its holder.
fn token_named(session: &Session, name: &str) -> Result<String, CliError> {
    if Uuid::try_parse(name).is_ok() {
        return Ok(name.to_owned());
    }
    let begins = name.len() >= 4;
    let fits = |seat: &Seat| seat.name == name || (begins && seat.token_id.starts_with(name));
    let mut seats = session.call(&client::tokens())?.data.tokens;
    seats.retain(|seat| seat.revoked_at.is_none() && fits(seat));
    match seats.as_slice() {
        [only] => Ok(only.token_id.clone()),
        [] => Err(CliError::input(format!("there is no token {name}"))
            .suggest("See which there are: aw token list")),
        several => {
            let several: Vec<String> =
                several.iter().map(|seat| format!("{} ({})", seat.token_id, seat.name)).collect();
            Err(CliError::input(format!("{name:?} fits several tokens: {}", several.join(", ")))
                .suggest("Give more of the id, or all of it"))
        }
    }
}

impl Revoke {
    fn run(self) -> Result<Shown, CliError> {
        let session = Session::open(self.shape.verbose)?;
        // The token itself is not sent: its hash names it, and authenticates nobody.
        let id = match self.token_id.trim() {
            token if token::is_token(token) => token::digest(token).to_string(),
            id => token_named(&session, id)?,
        };
        let seat = session.call(&client::revoke_token(&id))?;
        let since = seat.data.revoked_at.map_or(String::new(), |at| at.to_string());
        let message = format!("Token revoked: the server refuses it since {since}");
        let answer = Answer::new(seat, human::fields).message(message);
        Ok(Shown::Answer(session.checked(answer)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_with_a_unit() {
        let seconds = |typed: &str| typed.parse::<Lasts>().map(|lasts| lasts.seconds);
        for (typed, meant) in
            [("90s", 90), ("45m", 2_700), ("12h", 43_200), ("30d", 2_592_000), ("1d", 86_400)]
        {
            assert_eq!(seconds(typed), Ok(meant), "{typed}");
        }
        for wrong in ["", "d", "30", "0d", "-1d", "1.5h", "30 d", "30D", "é", "3é"] {
            let said = seconds(wrong).unwrap_err();
            assert!(said.contains("30d"), "{wrong}: {said}");
        }
        assert_eq!(seconds("36500d"), Ok(LONGEST));
        for long in ["36501d", "999999999999999999d", "99999999999999999999d"] {
            assert!(seconds(long).unwrap_err().contains("36500d"), "{long}");
        }
    }

    #[test]
    fn a_token_is_open_until_it_ends_or_is_revoked() {
        let stamp = |ms| Some(Stamp(aw_core::Time(ms)));
        let (before, after) = (stamp(1_000), stamp(1_001));
        let at = |expires, revoked| TokenState::at(expires, revoked, 1_000);
        assert_eq!(at(None, None), TokenState::Open);
        assert_eq!(at(after, None), TokenState::Open);
        assert_eq!(at(before, None), TokenState::Expired);
        assert_eq!(at(before, before), TokenState::Revoked);
        assert_eq!(at(after, before), TokenState::Revoked);
    }
}
