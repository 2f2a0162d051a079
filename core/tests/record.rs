//! A debate in memory that grows only through `Debate::decide` and `Standing::apply`.

use std::convert::Infallible;

use aw_core::{
    Debate, Entry, Event, Kind, Move, Refusal, ResolutionPolicy, Role, Said, Seq, Standing, Target,
    Verdict,
};

/// All entries, and the standing that was applied step by step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Record {
    pub debate: Debate,
    pub entries: Vec<Entry>,
}

impl Record {
    /// Only the MOTION so far.
    pub fn opened(policy: ResolutionPolicy) -> Self {
        Record {
            debate: Debate { policy, standing: Standing::opened(), ledger: None },
            entries: vec![Entry::of(Event::Motion, None)],
        }
    }

    /// Looks up the target as a server does, and judges the move.
    pub fn judge(&self, role: Role, play: Move<Seq>) -> Result<Vec<Entry>, Refusal> {
        self.debate.decide(role, self.locate(play), &Said::default())
    }

    /// The move with its target found in the record.
    pub fn locate(&self, play: Move<Seq>) -> Move<Target> {
        let Ok(located) = play.locate(|seq| Ok::<_, Infallible>(self.target(seq)));
        located
    }

    /// Makes a move and returns its position.
    pub fn play(&mut self, role: Role, play: Move<Seq>) -> Result<Seq, Refusal> {
        let entries = self.judge(role, play)?;
        let seq = self.newest().next();
        self.add(&entries);
        Ok(seq)
    }

    /// Adds the entries of a decision.
    pub fn add(&mut self, entries: &[Entry]) {
        for entry in entries {
            self.debate.apply(entry, &[]);
            self.entries.push(entry.clone());
        }
    }

    /// The newest argument.
    pub fn newest(&self) -> Seq {
        Seq(self.entries.len() as u64)
    }

    /// The argument at this position.
    pub fn at(&self, seq: Seq) -> &Entry {
        &self.entries[seq.0 as usize - 1]
    }

    /// The arguments with their positions.
    pub fn lines(&self) -> impl DoubleEndedIterator<Item = (Seq, &Entry)> {
        (1..=self.newest().0).map(|n| (Seq(n), self.at(Seq(n))))
    }

    /// An argument as a target, with the RULING on it.
    pub fn target(&self, seq: Seq) -> Target {
        let ruled = self
            .lines()
            .find(|(_, e)| e.event.kind() == Kind::Ruling && e.parent == Some(seq))
            .map(|(ruling, _)| ruling);
        Target { seq, ruled }
    }

    /// Every possible move: each kind, each target, each verdict.
    pub fn attempts(&self) -> Vec<Move<Seq>> {
        let rulings = |target| {
            [Verdict::GoOn, Verdict::Close].map(|verdict| Move::Ruling { target, verdict })
        };
        let mut all = vec![Move::Intervention];
        all.extend(rulings(None));
        for (target, _) in self.lines() {
            all.extend([
                Move::Claim { target },
                Move::Appeal { target },
                Move::Resolution { target },
            ]);
            all.extend(rulings(Some(target)));
        }
        all
    }
}
