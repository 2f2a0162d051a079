//! `aw debate points`: the points of a debate, and one of them with its history.

use aw_core::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::human;
use super::super::next_command::CommandLine;
use super::super::output::{Answer, CliError, Shown};
use super::super::refs::{DebateArg, Wants};
use super::super::session::Session;
use super::Shape;
use crate::api::client;
use crate::api::error::Code;
use crate::api::types::{Ledger, QuotedPoint};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct PointsCommand {
    #[command(flatten)]
    debate: DebateArg,
    /// Show those that are over too, by number
    #[arg(long)]
    all: bool,
    /// Show this one with its history, for instance P2
    #[arg(long, value_name = "POINT", conflicts_with = "all")]
    point: Option<String>,
    #[command(flatten)]
    pub(super) shape: Shape,
}

/// Points as the server sent them, or those of them that are alive.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct PointsOutput {
    #[serde(flatten)]
    verbatim: Verbatim,
    #[serde(skip)]
    pub(in crate::cli) ledger: Option<Ledger>,
    #[serde(skip)]
    pub(in crate::cli) points: Vec<QuotedPoint>,
    #[serde(skip)]
    pub(in crate::cli) is_closed: bool,
}

/// The fields of the server's answer that are printed unchanged.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Verbatim {
    #[serde(skip_serializing_if = "Option::is_none")]
    ledger: Option<Value>,
    points: Vec<Value>,
}

/// A point as the server sent it.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct PointOutput {
    #[serde(flatten)]
    verbatim: Value,
    #[serde(skip)]
    pub(in crate::cli) point: QuotedPoint,
    #[serde(skip)]
    pub(in crate::cli) is_closed: bool,
}

impl PointsCommand {
    pub(super) fn run(mut self) -> Result<Shown, CliError> {
        self.debate.settle(Wants { verbose: self.shape.verbose, ..Wants::default() })?;
        let named = |problem: CliError| problem.with("debate_id", self.debate.id.as_str());
        let session = Session::open(self.shape.verbose).map_err(named)?;
        let debate = self.debate.id.as_str();
        let head = session.call(&client::context(debate, 0)).map_err(named)?.data.debate;
        let is_closed = head.state.known() == Some(State::Closed);
        let Some(point) = self.point.as_deref().map(str::trim) else {
            let reply = session.call(&client::points(debate)).map_err(named)?;
            let verbatim: Verbatim = reply.verbatim();
            let both = reply.data.points.into_iter().zip(verbatim.points);
            let mut both: Vec<(QuotedPoint, Value)> =
                both.filter(|(one, _)| self.all || one.point.owes.is_some()).collect();
            if !self.all {
                both.sort_by_key(|(one, _)| !one.point.blocking);
            }
            let (points, printed) = both.into_iter().unzip();
            let output = PointsOutput {
                verbatim: Verbatim { ledger: verbatim.ledger, points: printed },
                ledger: reply.data.ledger,
                points,
                is_closed,
            };
            let total = output.points.len() as u64;
            let answer = Answer::new(output, human::points).of_total(total, false);
            return Ok(Shown::Answer(session.checked(answer)));
        };
        let reply = session.call(&client::point(debate, point)).map_err(|problem| {
            let list = CommandLine::new("debate points").flag("--debate-id", debate).word("--all");
            let list = list.format(self.shape.format()).into_string();
            match problem.code {
                Code::PointNotFound => named(problem).with("next_command", list),
                _ => named(problem),
            }
        })?;
        let output = PointOutput { verbatim: reply.json, point: reply.data.point, is_closed };
        Ok(Shown::Answer(session.checked(Answer::new(output, human::point))))
    }
}
