//! The contents of a disk after a power cut.
//!
//! Synced writes are there. Each other write may be there, missing, or there in part, sector by sector.
//! Of the changes to a folder, a first part is there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aw_trials::dice::Dice;

use super::trace::DiskEvent;

/// The unit in which writes are torn.
const SECTOR: usize = 512;

/// The contents of a file, independent of its name.
#[derive(Debug, Default)]
struct FileContent {
    /// A folder has a name, also while it is empty, and no bytes.
    is_folder: bool,
    synced: Vec<u8>,
    /// Its length for the writing process.
    length: u64,
    /// The changes that were not synced, with their times.
    loose: Vec<(usize, ContentChange)>,
}

#[derive(Debug, Clone)]
enum ContentChange {
    Write { at: u64, bytes: Vec<u8> },
    Cut { length: u64 },
}

/// A change to a folder: the file that a name means from now on, if any.
#[derive(Debug)]
struct Naming {
    at: usize,
    name: PathBuf,
    means: Option<usize>,
}

/// How unsynced changes are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loss {
    All,
    /// A first part stays.
    Tail,
    /// Each is kept or lost at random.
    Some,
    /// Each sector is kept or lost at random.
    Torn,
    Nothing,
}

impl Loss {
    pub(super) const KINDS: [Loss; 5] =
        [Loss::All, Loss::Tail, Loss::Some, Loss::Torn, Loss::Nothing];
}

/// A disk that replays events.
#[derive(Debug, Default)]
pub(super) struct Disk {
    happened: usize,
    contents: Vec<FileContent>,
    /// The file of each name now.
    now: BTreeMap<PathBuf, usize>,
    synced: BTreeMap<PathBuf, usize>,
    loose: Vec<Naming>,
}

impl Disk {
    pub(super) fn happens(&mut self, event: &DiskEvent) {
        let at = self.happened;
        self.happened += 1;
        match event {
            DiskEvent::Make { path, empties } => match self.now.get(path).copied() {
                None => self.make(path.clone(), false),
                Some(content) if *empties => self.change(content, ContentChange::Cut { length: 0 }),
                Some(_) => {}
            },
            DiskEvent::MakeFolder { path } => self.make(path.clone(), true),
            DiskEvent::Remove { path } => self.name(path.clone(), None),
            DiskEvent::Link { from, to } => {
                let means = self.now.get(from).copied();
                self.name(to.clone(), means);
            }
            DiskEvent::Rename { from, to } => {
                let means = self.now.get(from).copied();
                self.name(to.clone(), means);
                self.name(from.clone(), None);
            }
            DiskEvent::Write { path, at, bytes } => {
                // A file outside the data folder.
                let Some(content) = self.now.get(path).copied() else { return };
                let at = at.unwrap_or(self.contents[content].length);
                self.change(content, ContentChange::Write { at, bytes: bytes.clone() });
            }
            DiskEvent::Cut { path, length } => {
                let Some(content) = self.now.get(path).copied() else { return };
                self.change(content, ContentChange::Cut { length: *length });
            }
            DiskEvent::Sync { path, since } => self.sync(path, *since),
            DiskEvent::Acknowledge { .. } => {}
        }
        debug_assert_eq!(self.happened, at + 1);
    }

    /// The files below a folder, with their bytes, if the power fails now.
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
        names
            .iter()
            .filter(|(path, content)| inside(path) && !self.contents[**content].is_folder)
            .map(|(path, content)| (path.clone(), self.contents[*content].after_a_cut(loss, dice)))
            .collect()
    }

    fn make(&mut self, path: PathBuf, is_folder: bool) {
        self.contents.push(FileContent { is_folder, ..FileContent::default() });
        self.name(path, Some(self.contents.len() - 1));
    }

    fn name(&mut self, name: PathBuf, means: Option<usize>) {
        name_in(&mut self.now, &name, means);
        self.loose.push(Naming { at: self.happened, name, means });
    }

    fn change(&mut self, content: usize, change: ContentChange) {
        let at = self.happened;
        let content = &mut self.contents[content];
        content.length = match &change {
            ContentChange::Write { at, bytes } => content.length.max(at + bytes.len() as u64),
            ContentChange::Cut { length } => *length,
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

impl FileContent {
    fn after_a_cut(&self, loss: Loss, dice: &mut Dice) -> Vec<u8> {
        let mut bytes = self.synced.clone();
        for (_, change) in &self.loose[..first(self.loose.len(), loss, dice)] {
            match (loss, change) {
                (Loss::Some, _) if dice.one_in(2) => {}
                (Loss::Torn, ContentChange::Write { at, bytes: written }) => {
                    let mut from = 0;
                    while from < written.len() {
                        // Sectors are aligned to the file, not to the write.
                        let place = (*at as usize + from) % SECTOR;
                        let to = written.len().min(from + SECTOR - place);
                        if !dice.one_in(3) {
                            let piece = written[from..to].to_vec();
                            ContentChange::Write { at: at + from as u64, bytes: piece }
                                .apply(&mut bytes);
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

impl ContentChange {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            ContentChange::Write { at, bytes } => {
                let from = usize::try_from(*at).expect("a small file");
                let to = from + bytes.len();
                if content.len() < to {
                    content.resize(to, 0);
                }
                content[from..to].copy_from_slice(bytes);
            }
            ContentChange::Cut { length } => {
                content.resize(usize::try_from(*length).expect("a small file"), 0);
            }
        }
    }
}

/// How many of the unsynced changes are considered.
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
