//! What the actors of the demo say.

pub(super) const TITLE: &str = "Where does the webhook service keep its events?";

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

pub(super) const MOTION: &str = "## Request for review\n\nOur webhook service needs a store for its events. The plan is short; please attack it.\n\n\
     - **Plan:** doc_id={plan} (v1)";

pub(super) const OPPONENT: [&str; 4] = [
    "### NEW [critical] Workers fight over the file\n> Workers open the file and write to it directly.\n\nSeveral writers on one SQLite \
     file wait for each other or fail with SQLITE_BUSY. Let one thread write.\n\n\
     ### NEW [major] Acknowledged events can be lost\n> `synchronous=NORMAL`, it is faster.\n\nNORMAL does not sync the log on commit: \
     a power cut loses what was acknowledged. Use FULL with group commit.\n\n### VERDICT [object]",
    "### P1 [resolved] v2, point 2: one thread writes.\n### P2 [resolved] v2, point 3.\n\n\
     ### NEW [major] The file grows for ever\n> Events are kept for ever.\n\nAt 2 GB a month backups no longer fit the nightly window. \
     Delete after thirty days.\n\n### VERDICT [object]",
    "The archive is better than what I asked for. One question: who notices when a monthly file is missing?",
    "### P3 [resolved] v3, point 4, and the start-up check names a missing month.\n\n### VERDICT [agree]",
];

pub(super) const PROPOSER: [&str; 3] = [
    "### P1 [accepted] One writer.\n### P2 [accepted] I had taken NORMAL for safe in WAL mode; it is not.\n\n\
     - **doc_id={plan}:** v1 → **v2**",
    "### P3 [accepted] As ruled: thirty days, then a monthly archive file; nothing is deleted.\n\n\
     - **doc_id={plan}:** v2 → **v3**",
    "To the question that was parked: the service lists the archive at start-up and names a missing month.\n\n\
     - **doc_id={plan}:** (v3)",
];

pub(super) const APPEAL: &str = "## Context\n\nP3: how long are events kept?\n\n## Proposer\n\nSupport asks for events a year back: keep everything.\n\n\
     ## Opponent\n\nBackups no longer fit: delete after thirty days.\n\n## Options\n\n1. **Option A:** keep everything\n\
     2. **Option B:** thirty days, then an archive file\n3. **Option C:** delete after thirty days\n4. **Option D:** another way";

pub(super) const RULINGS: [&str; 2] = [
    "### P3 [upheld] Option B: thirty days in the live file, then an archive file a month.\n\nSupport can still look a year back.",
    "Go on. Answer the opponent's parked question, then finish.",
];

pub(super) const INTERVENTION: &str = "One moment: keep the next answers to one question.";

pub(super) const RESOLUTION: &str = "## Summary\n\nOne writer, synced commits, thirty days live, monthly archives.\n\n| Document | Final version |\n|---|---|\n| doc_id={plan} | v3 |";
