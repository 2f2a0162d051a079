//! `aw debate invite`: all that another person needs to seat their agent.

use serde_json::{Value, json};

use super::super::human;
use super::super::next_command::{CommandLine, quoted};
use super::super::output::{Answer, Problem, Shown};
use super::super::session::Session;
use super::super::token::{Lasts, Wish, cautioned, revoking};
use super::Shape;
use crate::api::http::{Call, encoded, is_local};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Invite {
    /// The debate
    #[arg(long, value_name = "UUID")]
    debate_id: String,
    /// proposer, opponent, arbitrator, or observer, who only reads
    #[arg(long)]
    role: String,
    /// What they are called, which everybody sees on what they write [default: their role]
    #[arg(long)]
    name: Option<String>,
    /// How long the invitation is good, for instance 45m, 12h or 30d
    #[arg(long, value_name = "TIME", default_value = "7d")]
    expires: Lasts,
    #[command(flatten)]
    pub(super) shape: Shape,
}

impl Invite {
    pub(super) fn run(self) -> Result<Shown, Problem> {
        let named = |problem: Problem| problem.with("debate_id", self.debate_id.as_str());
        let session = Session::open(self.shape.verbose).map_err(named)?;
        let path = format!("/debates/{}?limit=0", encoded(&self.debate_id));
        let debate = session.call(Call::Get(&path)).map_err(named)?;
        let wish = Wish {
            role: &self.role,
            debate: Some(&self.debate_id),
            name: self.name.as_deref(),
            lasts: Some(self.expires),
        };
        let granted = wish.granted(&session)?;
        let server = granted["public_url"].as_str().unwrap_or(session.client.base());
        let data = invitation(&granted, &debate["debate"]["title"], server);
        let message = format!(
            "Invitation for the {}. It has the token, which is not shown again: send it in a way that nobody else reads",
            self.role
        );
        let mut answer =
            Answer::new(data, human::invitation).message(message).with("hint", revoking(&granted));
        answer = cautioned(answer, &granted);
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

fn invitation(granted: &Value, title: &Value, server: &str) -> Value {
    let word = |name: &str| granted[name].as_str().unwrap_or_default();
    let (token, debate, role) = (word("token"), word("debate_id"), word("role"));
    let plays = Some(role).filter(|role| *role != "observer");
    let read =
        CommandLine::new("debate get-context").flag("--debate-id", debate).flag_if("--role", plays);
    let read = read.into_string();
    let to_agent = match plays {
        Some(role) => {
            let show =
                CommandLine::new("agent show").word(role).flag("--debate-id", debate).into_string();
            format!("Be the {role} in debate {debate}: run `{show}` and go by what it prints.")
        }
        None => format!("Read debate {debate}, in which you only listen: run `{read}`."),
    };
    let query = plays.map_or(String::new(), |role| format!("?role={role}"));
    json!({
        "server_url": server,
        "token": token,
        "token_id": granted["token_id"],
        "debate_id": debate,
        "title": title,
        "role": role,
        "name": granted["name"],
        "expires_at": granted["expires_at"],
        "shell": [
            format!("export DEBATE_SERVER_URL={}", quoted(server)),
            format!("export DEBATE_AUTH_TOKEN={}", quoted(token)),
            read,
        ],
        "to_agent": to_agent,
        "mcp": {
            "url": format!("{server}/mcp{query}"),
            "header": format!("Authorization: Bearer {token}"),
        },
        "page": format!("{server}/debate/{debate}"),
    })
}
