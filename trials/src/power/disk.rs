//! What a disk has after a power cut.
//!
//! What was synced is there. Of what was not, each write may be there, missing, or there in part,
//! sector by sector; of the changes to a folder, some first ones are there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aw_trials::dice::Dice;

use super::trace::Event;

/// No disk tears less than this.
const SECTOR: usize = 512;

/// A file's contents, whatever it is called.
#[derive(Debug, Default)]
struct Content {
    synced: Vec<u8>,
    /// How long it is for the one who writes.
    length: u64,
    /// What the disk need not have, with when it happened.
    loose: Vec<(usize, Change)>,
}

#[derive(Debug, Clone)]
enum Change {
    Write { at: u64, bytes: Vec<u8> },
    Cut { length: u64 },
}

/// A change to a folder: what a name in it stands for from now on, if anything.
#[derive(Debug)]
struct Naming {
    at: usize,
    name: PathBuf,
    means: Option<usize>,
}

/// What is left of the things that were not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loss {
    All,
    /// Some first ones stay.
    Tail,
    /// Each goes its own way.
    Some,
    /// The same, sector by sector.
    Torn,
    Nothing,
}

impl Loss {
    pub(super) const KINDS: [Loss; 5] =
        [Loss::All, Loss::Tail, Loss::Some, Loss::Torn, Loss::Nothing];
}

/// A disk on which things happen.
#[derive(Debug, Default)]
pub(super) struct Disk {
    happened: usize,
    contents: Vec<Content>,
    /// What each name stands for now.
    now: BTreeMap<PathBuf, usize>,
    synced: BTreeMap<PathBuf, usize>,
    loose: Vec<Naming>,
}

impl Disk {
    pub(super) fn happens(&mut self, event: &Event) {
        let at = self.happened;
        self.happened += 1;
        match event {
            Event::Make { path, empties } => match self.now.get(path).copied() {
                None => self.make(path.clone()),
                Some(content) if *empties => self.change(content, Change::Cut { length: 0 }),
                Some(_) => {}
            },
            Event::MakeFolder { path } => self.make(path.clone()),
            Event::Remove { path } => self.name(path.clone(), None),
            Event::Link { from, to } => {
                let means = self.now.get(from).copied();
                self.name(to.clone(), means);
            }
            Event::Rename { from, to } => {
                let means = self.now.get(from).copied();
                self.name(to.clone(), means);
                self.name(from.clone(), None);
            }
            Event::Write { path, at, bytes } => {
                // A file outside of what is watched, such as the log.
                let Some(content) = self.now.get(path).copied() else { return };
                let at = at.unwrap_or(self.contents[content].length);
                self.change(content, Change::Write { at, bytes: bytes.clone() });
            }
            Event::Cut { path, length } => {
                let Some(content) = self.now.get(path).copied() else { return };
                self.change(content, Change::Cut { length: *length });
            }
            Event::Sync { path, since } => self.sync(path, *since),
            Event::Acknowledge { .. } => {}
        }
        debug_assert_eq!(self.happened, at + 1);
    }

    /// What lies below a folder if the power goes now: each file with its bytes.
    pub(super) fn after_a_cut(
        &self,
        folder: &Path,
        loss: Loss,
        dice: &mut Dice,
    ) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut names = self.synced.clone();
        for naming in &self.loose[..first(self.loose.len(), loss, dice)] {
            name_in(&mut names, &naming.name, naming.means);
        }
        let whole = |path: &Path| {
            path.ancestors()
                .skip(1)
                .take_while(|above| *above != folder)
                .all(|above| names.contains_key(above))
        };
        let inside = |path: &Path| path.starts_with(folder) && whole(path);
        // A folder is a name like any other, and has no bytes.
        names
            .iter()
            .filter(|(path, _)| inside(path) && !self.is_folder(path))
            .map(|(path, content)| (path.clone(), self.contents[*content].after_a_cut(loss, dice)))
            .collect()
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.now.keys().any(|other| other.parent() == Some(path))
    }

    fn make(&mut self, path: PathBuf) {
        self.contents.push(Content::default());
        self.name(path, Some(self.contents.len() - 1));
    }

    fn name(&mut self, name: PathBuf, means: Option<usize>) {
        name_in(&mut self.now, &name, means);
        self.loose.push(Naming { at: self.happened, name, means });
    }

    fn change(&mut self, content: usize, change: Change) {
        let at = self.happened;
        let content = &mut self.contents[content];
        content.length = match &change {
            Change::Write { at, bytes } => content.length.max(at + bytes.len() as u64),
            Change::Cut { length } => *length,
        };
        content.loose.push((at, change));
    }

    fn sync(&mut self, path: &Path, since: usize) {
        let (settled, loose): (Vec<_>, Vec<_>) = std::mem::take(&mut self.loose)
            .into_iter()
            .partition(|naming| naming.at <= since && naming.name.parent() == Some(path));
        self.loose = loose;
        for naming in settled {
            name_in(&mut self.synced, &naming.name, naming.means);
        }
        let Some(content) = self.now.get(path).copied() else { return };
        let content = &mut self.contents[content];
        let settled = content.loose.partition_point(|(at, _)| *at <= since);
        for (_, change) in content.loose.drain(..settled) {
            change.apply(&mut content.synced);
        }
    }
}

impl Content {
    fn after_a_cut(&self, loss: Loss, dice: &mut Dice) -> Vec<u8> {
        let mut bytes = self.synced.clone();
        for (_, change) in &self.loose[..first(self.loose.len(), loss, dice)] {
            match (loss, change) {
                (Loss::Some, _) if dice.one_in(2) => {}
                (Loss::Torn, Change::Write { at, bytes: written }) => {
                    let mut from = 0;
                    while from < written.len() {
                        // Sectors of the disk, not of the write.
                        let place = (*at as usize + from) % SECTOR;
                        let to = written.len().min(from + SECTOR - place);
                        if !dice.one_in(3) {
                            let piece = written[from..to].to_vec();
                            Change::Write { at: at + from as u64, bytes: piece }.apply(&mut bytes);
                        }
                        from = to;
                    }
                }
                _ => change.apply(&mut bytes),
            }
        }
        bytes
    }
}

impl Change {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Change::Write { at, bytes } => {
                let from = usize::try_from(*at).expect("a small file");
                let to = from + bytes.len();
                if content.len() < to {
                    content.resize(to, 0);
                }
                content[from..to].copy_from_slice(bytes);
            }
            Change::Cut { length } => {
                content.resize(usize::try_from(*length).expect("a small file"), 0);
            }
        }
    }
}

/// How many of so many loose things are looked at.
fn first(all: usize, loss: Loss, dice: &mut Dice) -> usize {
    match loss {
        Loss::All => 0,
        Loss::Tail | Loss::Torn => dice.index(all + 1),
        Loss::Some | Loss::Nothing => all,
    }
}

fn name_in(names: &mut BTreeMap<PathBuf, usize>, name: &Path, means: Option<usize>) {
    match means {
        Some(content) => names.insert(name.to_owned(), content),
        None => names.remove(name),
    };
}
