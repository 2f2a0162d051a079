//! `aw debate invite`: all that another person needs to seat their agent.

use serde::Serialize;

use super::super::human;
use super::super::next_command::{CommandLine, quoted};
use super::super::output::{Answer, CliError, Shown};
use super::super::refs::{DebateArg, Wants};
use super::super::session::Session;
use super::super::token::{Lasts, Wish, cautioned, revoking};
use super::Shape;
use crate::api::client::context;
use crate::api::http::is_local;
use crate::api::types::{NewToken, Stamp};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Invite {
    #[command(flatten)]
    debate: DebateArg,
    /// proposer, opponent, arbitrator, or observer, who only reads
    #[arg(long)]
    role: String,
    /// What they are called, which everybody sees on what they write [default: their role]
    #[arg(long)]
    name: Option<String>,
    /// How long the invitation is valid, for instance 45m, 12h or 30d
    #[arg(long, value_name = "TIME", default_value = "7d")]
    expires: Lasts,
    #[command(flatten)]
    pub(super) shape: Shape,
}

impl Invite {
    pub(super) fn run(mut self) -> Result<Shown, CliError> {
        self.debate.settle(Wants { verbose: self.shape.verbose, ..Wants::default() })?;
        let named = |problem: CliError| problem.with("debate_id", self.debate.id.as_str());
        let session = Session::open(self.shape.verbose).map_err(named)?;
        let title = session.call(&context(&self.debate.id, 0)).map_err(named)?.data.debate.title;
        let wish = Wish {
            role: &self.role,
            debate: Some(&self.debate.id),
            name: self.name.as_deref(),
            lasts: Some(self.expires),
        };
        let granted = wish.granted(&session)?.data;
        let server = granted.public_url.as_deref().unwrap_or(session.client.base());
        let data = invitation(&granted, title, server);
        let message = format!(
            "Invitation for the {}. It has the token, which is not shown again: send it in a way that nobody else reads",
            self.role
        );
        let mut answer = Answer::new(data, human::invitation)
            .message(message)
            .with("hint", revoking(&granted.seat));
        answer = cautioned(answer, granted.wanted);
        if is_local(server) {
            answer = answer.warn(format!(
                "{server} is reached from this machine only: for others, set AW_LISTEN to an address of it \
                 and AW_PUBLIC_URL to the URL by which they call it, then run aw server restart"
            ));
        } else if server.starts_with("http://") {
            answer = answer.warn(format!(
                "what is sent to {server} can be read on the way, the token too: \
                 beyond a network you trust, put a proxy with https in front and set AW_PUBLIC_URL to its URL"
            ));
        }
        Ok(Shown::Answer(session.checked(answer)))
    }
}

/// Everything that another person needs.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct Invitation {
    pub(in crate::cli) server_url: String,
    pub(in crate::cli) token: String,
    token_id: String,
    pub(in crate::cli) debate_id: String,
    pub(in crate::cli) title: String,
    pub(in crate::cli) role: String,
    pub(in crate::cli) name: String,
    pub(in crate::cli) expires_at: Option<Stamp>,
    pub(in crate::cli) shell: [String; 3],
    pub(in crate::cli) to_agent: String,
    pub(in crate::cli) mcp: McpServer,
    pub(in crate::cli) page: String,
}

/// How an agent program reaches the tools.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct McpServer {
    pub(in crate::cli) url: String,
    pub(in crate::cli) header: String,
}

/// The sentence that gives an agent this role.
pub(in crate::cli) fn to_agent(role: &str, debate: &str) -> String {
    let show = CommandLine::new("agent show").word(role).flag("--debate-id", debate).into_string();
    format!("Be the {role} in debate {debate}: run `{show}` and follow what it prints.")
}

fn invitation(granted: &NewToken, title: String, server: &str) -> Invitation {
    let NewToken { token, seat, .. } = granted;
    let (role, debate) = (seat.role.as_str(), seat.debate_id.map(|id| id.0.to_string()));
    let debate = debate.unwrap_or_default();
    let plays = Some(role).filter(|role| *role != "observer");
    let read = CommandLine::new("debate get-context")
        .flag("--debate-id", &debate)
        .flag_if("--role", plays)
        .into_string();
    let to_agent = match plays {
        Some(role) => to_agent(role, &debate),
        None => format!("Read debate {debate}, in which you only listen: run `{read}`."),
    };
    let query = plays.map_or(String::new(), |role| format!("?role={role}"));
    Invitation {
        server_url: server.to_owned(),
        token: token.clone(),
        token_id: seat.token_id.clone(),
        title,
        role: role.to_owned(),
        name: seat.name.clone(),
        expires_at: seat.expires_at,
        shell: [
            format!("export DEBATE_SERVER_URL={}", quoted(server)),
            format!("export DEBATE_AUTH_TOKEN={}", quoted(token)),
            read,
        ],
        to_agent,
        mcp: McpServer {
            url: format!("{server}/mcp{query}"),
            header: format!("Authorization: Bearer {token}"),
        },
        page: format!("{server}/debate/{debate}"),
        debate_id: debate,
    }
}
