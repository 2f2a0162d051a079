//! The moves of a scripted agent, and the time that it takes to write each.

use tokio::sync::watch;

/// One move.
#[derive(Debug)]
pub struct Move {
    pub kind: Kind,
    pub words: &'static str,
    /// A new version of the plan.
    pub plan: Option<&'static str>,
    pub pause: Option<Pause>,
}

/// The command of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The suggested one: a CLAIM or a RULING.
    Usual,
    Appeal,
    Completion,
    /// A RULING that ends the debate.
    Close,
}

impl Move {
    fn new(kind: Kind, words: &'static str) -> Self {
        Move { kind, words, plan: None, pause: None }
    }

    pub fn claim(words: &'static str) -> Self {
        Self::new(Kind::Usual, words)
    }

    /// A CLAIM together with a new version of the plan.
    pub fn revision(plan: &'static str, words: &'static str) -> Self {
        Move { plan: Some(plan), ..Self::claim(words) }
    }

    pub fn appeal(words: &'static str) -> Self {
        Self::new(Kind::Appeal, words)
    }

    pub fn resolution(words: &'static str) -> Self {
        Self::new(Kind::Completion, words)
    }

    pub fn ruling(words: &'static str) -> Self {
        Self::new(Kind::Usual, words)
    }

    pub fn closing_ruling(words: &'static str) -> Self {
        Self::new(Kind::Close, words)
    }

    /// Pauses until the test ends the pause.
    pub fn slowly(self, pause: &Pause) -> Self {
        Move { pause: Some(pause.clone()), ..self }
    }
}

/// A mistake of a model that misbehaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slip {
    /// It makes its move in a debate that does not exist.
    WrongId,
    /// It says something to its user instead of making its move.
    Prose,
    /// It makes another move at once.
    OutOfTurn,
    /// It makes its move again.
    Twice,
    /// It stops instead of waiting.
    NoWait,
}

impl Slip {
    /// All of them, in the order in which they are made.
    pub const ALL: [Slip; 5] =
        [Slip::WrongId, Slip::Prose, Slip::OutOfTurn, Slip::Twice, Slip::NoWait];

    /// Whether it is made instead of a move. The others are made instead of a wait.
    pub fn is_before_a_move(self) -> bool {
        matches!(self, Slip::WrongId | Slip::Prose)
    }
}

/// A pause before a move, which the test ends.
#[derive(Debug, Clone)]
pub struct Pause(watch::Sender<Stage>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Ahead,
    Writing,
    Over,
}

impl Pause {
    pub fn new() -> Self {
        Pause(watch::Sender::new(Stage::Ahead))
    }

    /// Whether an agent has reached the pause.
    pub fn is_reached(&self) -> bool {
        *self.0.borrow() != Stage::Ahead
    }

    pub fn end(&self) {
        self.0.send_replace(Stage::Over);
    }

    /// Waits until the pause is over.
    pub async fn write(&self) {
        self.0.send_modify(|stage| {
            if *stage == Stage::Ahead {
                *stage = Stage::Writing;
            }
        });
        // It holds a sender itself, so there is somebody to wait for.
        drop(self.0.subscribe().wait_for(|stage| *stage == Stage::Over).await);
    }
}
