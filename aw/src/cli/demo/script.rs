//! What the agents of the demo say.

use std::fs;
use std::io::{self, Read, Write};

use anyhow::Context;
use aw_core::Role;

pub(super) const TITLE: &str = "Where does the webhook service keep its events?";

pub(super) const ASK: &str =
    "Our webhook service needs a store for its events. The plan is short; please attack it.";

/// The plan in its three versions.
pub(super) const PLAN: [&str; 3] = [
    "# Webhook events\n\n1. Every event goes into one SQLite file beside the service.\n\
     2. Workers open the file and write to it directly.\n3. `synchronous=NORMAL`, it is faster.\n4. Events are kept for ever.\n",
    "# Webhook events\n\n1. Every event goes into one SQLite file beside the service.\n\
     2. One thread writes; workers hand it their events and wait for the commit.\n\
     3. `synchronous=FULL` with group commit: an acknowledged event survives a power cut.\n4. Events are kept for ever.\n",
    "# Webhook events\n\n1. Every event goes into one SQLite file beside the service.\n\
     2. One thread writes; workers hand it their events and wait for the commit.\n\
     3. `synchronous=FULL` with group commit: an acknowledged event survives a power cut.\n\
     4. Events older than thirty days move to an archive file, one a month, which is opened on demand.\n",
];

const OPPONENT: [&str; 3] = [
    "### NEW [critical] Workers fight over the file\n> Workers open the file and write to it directly.\n\nSeveral writers on one SQLite \
     file wait for each other or fail with SQLITE_BUSY. Let one thread write.\n\n\
     ### NEW [major] Acknowledged events can be lost\n> `synchronous=NORMAL`, it is faster.\n\nNORMAL does not sync the log on commit: \
     a power cut loses what was acknowledged. Use FULL with group commit.\n\n### VERDICT [object]",
    "### P1 [resolved] v2, point 2: one thread writes.\n### P2 [resolved] v2, point 3.\n\n\
     ### NEW [major] The file grows for ever\n> Events are kept for ever.\n\nAt 2 GB a month backups no longer fit the nightly window. \
     Delete after thirty days.\n\n### VERDICT [object]",
    "### P3 [resolved] v3, point 4: the live file stays small, and nothing is lost.\n\n### VERDICT [agree]",
];

/// Each turn of the proposer: its text, and the version that it makes of the plan.
const PROPOSER: [(&str, Option<usize>); 3] = [
    (
        "### P1 [accepted] One writer.\n### P2 [accepted] I had taken NORMAL for safe in WAL mode; it is not.",
        Some(1),
    ),
    (
        "MOVE: appeal\nP3: how long are events kept?\n\nSupport asks for events a year back, so I would keep everything. \
         The opponent would delete after thirty days, because backups no longer fit.\n\n\
         1. Keep everything\n2. Thirty days, then an archive file\n3. Delete after thirty days\n4. Another way",
        None,
    ),
    (
        "### P3 [accepted] As ruled: thirty days, then a monthly archive file; nothing is deleted.",
        Some(2),
    ),
];

const RULING: &str = "### P3 [upheld] Thirty days in the live file, then an archive file a month.\n\nSupport can still look a year back.";

/// Plays the next turn of a role: answers by how often the role has spoken.
pub(super) fn play(role: Role) -> anyhow::Result<()> {
    // A real agent reads its prompt; this one looks at the debate alone.
    io::stdin().read_to_end(&mut Vec::new())?;
    let debate = fs::read_to_string(".aw/debate.md").context("this is not the folder of a run")?;
    let by = format!(" by the {role}");
    let is_own = |line: &&str| line.starts_with("## ") && line.contains(&by);
    let spoken = debate.lines().filter(is_own).count();
    let text = match role {
        Role::Opponent => OPPONENT.get(spoken),
        Role::Arbitrator => Some(&RULING),
        // The MOTION is the run's.
        Role::Proposer => {
            let turn = PROPOSER.get(spoken.saturating_sub(1));
            if let Some((_, Some(version))) = turn {
                fs::write("plan.md", PLAN[*version])?;
            }
            turn.map(|(text, _)| text)
        }
    };
    let text = text.context("the script is over")?;
    writeln!(io::stdout(), "{text}")?;
    Ok(())
}
