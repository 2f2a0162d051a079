//! The answer of a run, and the files that it writes when the debate is closed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use aw_core::{Kind, State};
use serde::{Deserialize, Serialize};

use super::folder::SeatState;
use super::{Exit, RunStopped, Runner, copies, folder, server};
use crate::api::client::{self, ReportFormat};
use crate::api::types::DebateContext;

/// The `data` of `aw debate run`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunData {
    /// The debate.
    pub debate_id: String,
    /// How the debate or the run ended.
    pub outcome: String,
    /// The state of the debate; null if no server is reachable.
    pub debate_state: Option<String>,
    /// The opponent's rounds.
    pub rounds: Option<RoundsUsed>,
    /// How many RULINGs there are, without the automatic one.
    pub rulings: u64,
    /// The points.
    pub points: PointsData,
    /// The documents, each in its newest version.
    pub documents: Vec<DocumentData>,
    /// The file with the newest plan.
    pub output: Option<PathBuf>,
    /// The file with the report.
    pub report: Option<PathBuf>,
    /// The page.
    pub url: String,
    /// The driven seats, by role.
    pub seats: BTreeMap<String, SeatData>,
    /// Remarks.
    pub notes: Vec<String>,
    /// The time of the run in seconds.
    pub wall_s: f64,
    /// Why it stopped before the debate was closed.
    pub stopped_by: Option<StoppedBy>,
    /// How to go on; null when the debate is closed.
    pub resume_command: Option<String>,
}

/// The opponent's rounds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RoundsUsed {
    /// Used.
    pub used: u32,
    /// Allowed.
    pub limit: u32,
}

/// The points of a debate.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PointsData {
    /// How many were raised.
    pub raised: u64,
    /// Those that are not over.
    pub left_open: Vec<String>,
}

/// A document of a debate.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DocumentData {
    /// The document.
    pub document_id: String,
    /// Its newest version.
    pub version: u64,
    /// The user's file that it comes from.
    pub path: Option<PathBuf>,
}

/// A driven seat.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SeatData {
    /// The agent.
    pub agent: String,
    /// The version of its program.
    pub version: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The family.
    pub family: String,
    /// The file of the program, where it is asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub program: Option<PathBuf>,
    /// The tiny turn, where it is asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub live: Option<LiveData>,
    /// Turns that were posted.
    pub turns: u32,
    /// Starts of its program.
    pub starts: u32,
    /// Repairs of a refused text.
    pub repairs: u32,
    /// Tokens that it reported.
    pub tokens: u64,
    /// The cost that it reported.
    pub cost_usd: Option<f64>,
}

impl SeatData {
    pub(super) fn of(seat: &SeatState) -> Self {
        SeatData {
            agent: seat.agent.clone(),
            version: seat.version.clone(),
            model: seat.model.clone(),
            family: seat.family.clone(),
            program: None,
            live: None,
            turns: seat.turns,
            starts: seat.starts,
            repairs: seat.repairs,
            tokens: seat.tokens,
            cost_usd: seat.cost_usd,
        }
    }
}

/// A tiny turn that was tried.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LiveData {
    /// Whether the program answered.
    pub answered: bool,
    /// Why it did not.
    pub detail: Option<String>,
    /// Tokens that it reported.
    pub tokens: u64,
    /// How long it took.
    pub seconds: f64,
}

/// Why a run has stopped.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StoppedBy {
    /// The kind.
    pub kind: String,
    /// The seat.
    pub seat: Option<String>,
    /// Details.
    pub detail: String,
}

/// The `data` of `aw debate run --check`.
#[derive(Debug, Clone, Serialize)]
pub struct RunCheck {
    /// The seats and the programs that would take them.
    pub seats: BTreeMap<String, SeatData>,
    /// The files that agents would see.
    pub copy: CopyData,
    /// Remarks.
    pub notes: Vec<String>,
}

/// The files that agents would see.
#[derive(Debug, Clone, Serialize)]
pub struct CopyData {
    /// How many.
    pub files: u64,
    /// Their size.
    pub bytes: u64,
    /// How many were left out.
    pub left_out: u64,
}

impl Runner {
    /// Plays the debate to its end, writes the files, and returns the answer.
    pub fn run(mut self) -> (RunData, Option<RunStopped>) {
        let ended = self.recover().and_then(|()| self.drive()).and_then(|()| self.finish());
        let stopped = ended.err();
        if let Some(stopped) = &stopped {
            self.log(&format!("stopped: {}", stopped.message));
        }
        for helper in self.leaving.drain(..) {
            // It ends within a moment, whatever happens to it.
            let _ = helper.join();
        }
        if stopped.as_ref().is_some_and(|stopped| stopped.exit == Exit::Gone) {
            // There is nothing to resume.
            self.state.finished = true;
            self.folder.clean();
        }
        self.state.runner = None;
        // A resume finds out again what cannot be stored now.
        let _ = self.keep();
        (self.data(stopped.as_ref()), stopped)
    }

    /// The answer while the run goes on in the background.
    pub fn running(&self) -> RunData {
        let mut data = self.data(None);
        data.outcome = "running".to_owned();
        data
    }

    /// Writes the files of a closed debate that are not there yet.
    fn finish(&mut self) -> Result<(), RunStopped> {
        if self.state.finished {
            return Ok(());
        }
        if let (Some(plan), Some(document)) =
            (self.state.plan.clone(), self.document().map(str::to_owned))
            && plan.writes
        {
            let context = self.context()?;
            let said = std::iter::once(&context.motion).chain(&context.arguments);
            let newest = self.cited(&document, said)?;
            let text = self.ask(&client::document(&document, Some(newest), true))?.content;
            if self.state.output.is_none() {
                let original = folder::read_if_there(&self.folder.original())?;
                let (original, debate) = (original.unwrap_or_default(), &self.state.debate_id);
                let written = match &plan.output {
                    Some(output) => copies::write_new(output, &text, debate),
                    None => copies::write_back(&plan.file, &plan.target, &original, &text, debate)
                        .map(copies::Written::into_path),
                };
                match written {
                    Ok(file) => self.state.output = Some(file),
                    Err(error) => self.note(format!(
                        "the plan was not written ({error}): aw docs export {document} --output FILE"
                    )),
                }
                self.keep()?;
            }
            if self.state.report.is_none() {
                let request = client::result(&self.state.debate_id, ReportFormat::Markdown);
                let report = server::ask_raw(&*self.line, &request, &|| true)
                    .map_err(|trouble| self.no_server(&trouble))?;
                let report = String::from_utf8_lossy(&report);
                let place = copies::beside(&plan.file, "debate");
                match copies::write_new(&place, &report, &self.state.debate_id) {
                    Ok(file) => self.state.report = Some(file),
                    Err(error) => {
                        let debate = self.state.debate_id.clone();
                        self.note(format!(
                            "the report was not written ({error}): aw debate result --debate-id {debate}"
                        ));
                    }
                }
            }
        }
        self.state.finished = true;
        self.keep()?;
        self.folder.clean();
        Ok(())
    }

    fn data(&self, stopped: Option<&RunStopped>) -> RunData {
        let context = match stopped.map(|stopped| stopped.exit) {
            // The server has just failed; asking again would take minutes.
            Some(Exit::Server | Exit::Refused | Exit::Gone) => None,
            _ => self.context().ok(),
        };
        let ledger = context.as_ref().and_then(|context| context.points.ledger.as_ref());
        let is_closed = context
            .as_ref()
            .is_some_and(|context| context.debate.state.known() == Some(State::Closed));
        let outcome = match (stopped.map(|stopped| stopped.exit), &context) {
            (None, Some(context)) => match &context.debate.outcome {
                Some(outcome) => outcome.to_string(),
                None => "open".to_owned(),
            },
            (Some(Exit::Undecided), _) => "undecided".to_owned(),
            (Some(Exit::Interrupted), _) => "interrupted".to_owned(),
            (_, _) => "failed".to_owned(),
        };
        let debate_id = self.state.debate_id.clone();
        RunData {
            outcome,
            debate_state: context.as_ref().map(|context| context.debate.state.to_string()),
            rounds: ledger
                .map(|ledger| RoundsUsed { used: ledger.rounds.used, limit: ledger.rounds.limit }),
            rulings: context.as_ref().map_or(0, rulings),
            points: PointsData {
                raised: ledger.map_or(0, |ledger| ledger.alive + ledger.over),
                left_open: context.as_ref().map(left_open).unwrap_or_default(),
            },
            documents: self.documents(context.as_ref()),
            output: self.state.output.clone(),
            report: self.state.report.clone(),
            url: self.line.url_of(&debate_id),
            seats: self.seats_data(),
            notes: self.state.notes.clone(),
            wall_s: (self.state.wall_ms as f64 / 100.0).round() / 10.0,
            stopped_by: stopped.map(|stopped| StoppedBy {
                kind: stopped.kind.to_owned(),
                seat: stopped.seat.map(|seat| seat.to_string()),
                detail: stopped.detail.clone(),
            }),
            resume_command: (!self.state.finished && (!is_closed || stopped.is_some())).then(
                || format!("aw debate run --resume {debate_id}{}", self.larger_budget(stopped)),
            ),
            debate_id,
        }
    }

    /// The flags of a resume after a budget was used up: twice the amount.
    fn larger_budget(&self, stopped: Option<&RunStopped>) -> String {
        if stopped.is_none_or(|stopped| stopped.kind != "budget") {
            return String::new();
        }
        let mut flags = String::new();
        let used_s = self.state.used_ms / 1_000;
        if used_s >= self.state.max_time_s {
            flags.push_str(&format!(" --max-time {}m", (2 * used_s).div_ceil(60)));
        }
        if self.state.max_tokens.is_some_and(|most| self.tokens() >= most) {
            flags.push_str(&format!(" --max-tokens {}", 2 * self.tokens()));
        }
        flags
    }

    fn documents(&self, context: Option<&DebateContext>) -> Vec<DocumentData> {
        let own = self.document();
        context
            .map(|context| context.documents.as_slice())
            .unwrap_or_default()
            .iter()
            .map(|cited| {
                let document_id = cited.document_id.0.to_string();
                let plan = self.state.plan.as_ref().filter(|_| own == Some(&document_id));
                DocumentData {
                    path: plan.map(|plan| plan.file.clone()),
                    version: cited.version,
                    document_id,
                }
            })
            .collect()
    }

    pub(super) fn seats_data(&self) -> BTreeMap<String, SeatData> {
        let seat = |(role, seat): (&String, &SeatState)| (role.clone(), SeatData::of(seat));
        self.state.seats.iter().map(seat).collect()
    }
}

fn rulings(context: &DebateContext) -> u64 {
    let all = context.arguments.iter().chain(&context.rulings);
    all.filter(|one| one.kind.known() == Some(Kind::Ruling) && !one.automatic).count() as u64
}

fn left_open(context: &DebateContext) -> Vec<String> {
    let points = context.points.points.iter().flatten();
    points.map(|point| point.id.0.to_string()).collect()
}
