//! What a run copies, and the one copy of it, `base`, that all seats' copies equal.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{self, Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use nix::errno::Errno;
use nix::fcntl::readlinkat;
use nix::unistd::symlinkat;

use super::beneath::{self, FileKind, FolderWalk};
use super::error::{CopyError, FolderSize};
use super::git::{self, GitError};
use super::names::{self, LeftOut};
use super::{MAX_BYTES, MAX_FILES, MAX_PLAN};
use crate::files;

/// The files that a run copies.
#[derive(Debug)]
pub struct CopySource {
    /// The folder that the paths below are relative to: the work tree, or the plan's folder. All links resolved.
    pub root: PathBuf,
    /// The plan; none when a run drives seats of a debate that others opened.
    pub plan: Option<PlanFile>,
    /// Files and links to copy, with the plan, sorted.
    pub files: Vec<PathBuf>,
    /// Size of all files.
    pub bytes: u64,
    /// The files that git lists and that stay out.
    pub left_out: LeftOut,
    /// Where the files come from.
    pub extent: CopyExtent,
}

/// The plan of a run.
#[derive(Debug)]
pub struct PlanFile {
    /// Path of the plan in every copy.
    pub path: PathBuf,
    /// Path of the plan as the user gave it, which may be a link.
    pub given: PathBuf,
    /// The plan's file with all links resolved: the results go there.
    pub target: PathBuf,
    /// Text of the plan.
    pub text: String,
}

/// Where the files of a source come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopyExtent {
    /// Git lists them.
    Repository,
    /// The plan, and files beside it that `--files` names.
    PlanAlone(WhyAlone),
}

/// Why a run copies the plan alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhyAlone {
    /// Neither the plan nor the current folder is in a repository.
    NoRepository,
    /// The repository's root is the home folder, or a folder above it.
    Home,
    /// Git is not installed.
    NoGit,
    /// Git refuses the repository, with this message.
    Refused(String),
}

impl fmt::Display for WhyAlone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WhyAlone::NoRepository => f.write_str("there is no git repository"),
            WhyAlone::Home => f.write_str("the repository is that of the home folder"),
            WhyAlone::NoGit => f.write_str("git is not installed"),
            WhyAlone::Refused(why) => write!(f, "git refuses the repository ({why})"),
        }
    }
}

/// A candidate for the copy.
struct Candidate {
    path: PathBuf,
    tracked: bool,
}

impl CopySource {
    /// Finds the files to copy for a plan, or without one for the current folder. `plan` and `current` are
    /// absolute.
    pub fn of(
        plan: Option<&Path>,
        current: &Path,
        globs: &[String],
        home: Option<&Path>,
    ) -> Result<CopySource, CopyError> {
        let globs = if globs.is_empty() { None } else { Some(Globs::parse(globs)?) };
        let plan = plan.map(Found::read).transpose()?;
        let place = Place::of(plan.as_ref(), current, home);
        let alone = place.root.is_none();
        let position = plan.as_ref().map(|plan| if alone { &plan.target } else { &plan.position });
        let folder = position.map_or(current, |position| beneath::split(position).0).to_owned();
        let root = place.root.unwrap_or(folder);
        let mut left_out = LeftOut::default();
        let (candidates, extent): (Vec<_>, _) = match place.listed {
            Ok(listed) => {
                let matching = listed.into_iter().filter(|candidate| {
                    globs.as_ref().is_none_or(|globs| globs.set.is_match(&candidate.path))
                });
                (matching.collect(), CopyExtent::Repository)
            }
            Err(why) => {
                let found = match &globs {
                    Some(globs) => globs.walk(&root, &mut left_out)?,
                    None => Vec::new(),
                };
                (found, CopyExtent::PlanAlone(why))
            }
        };
        if place.too_long {
            let sizes = candidates.iter().map(|candidate| (candidate.path.as_path(), 0));
            return Err(too_large(&sizes.collect::<Vec<_>>()));
        }
        let inside = position.and_then(|position| position.strip_prefix(&root).ok());
        // The plan comes in anyway, also as a link or from a folder that stays out. It is not counted.
        let others = candidates.into_iter().filter(|other| Some(other.path.as_path()) != inside);
        let mut kept = keep(&root, others, &mut left_out)?;
        let path = position.map(|position| plan_path(inside, position, &kept));
        let plan = plan.zip(path).map(|(plan, path)| {
            // The plan goes in with the text that was read, whatever has its place in the listing.
            kept.retain(|(other, _)| *other != path && !other.starts_with(&path));
            let at = kept.partition_point(|(other, _)| *other < path);
            kept.insert(at, (path.clone(), plan.text.len() as u64));
            PlanFile { path, given: plan.given, target: plan.target, text: plan.text }
        });
        let bytes = kept.iter().map(|(_, size)| size).sum();
        if kept.len() > MAX_FILES || bytes > MAX_BYTES {
            let sizes = kept.iter().map(|(path, size)| (path.as_path(), *size));
            return Err(too_large(&sizes.collect::<Vec<_>>()));
        }
        let files = kept.into_iter().map(|(path, _)| path).collect();
        Ok(CopySource { root, plan, files, bytes, left_out, extent })
    }

    /// Copies the source into `base`, if that does not exist yet. Returns what stayed out in addition to
    /// [`left_out`](Source::left_out): files that changed since, or that the disk of the copies cannot hold.
    ///
    /// It is built as `base.part` and renamed, so `base` is whole whenever it exists.
    pub fn make_base(&self, base: &Path) -> Result<LeftOut, CopyError> {
        let failed = |error: io::Error| CopyError::Io(base.to_owned(), error);
        let mut left_out = LeftOut::default();
        let (above, name) = beneath::above(base).map_err(failed)?;
        if beneath::stat(above.as_fd(), &name).map_err(failed)?.is_some() {
            return Ok(left_out);
        }
        let mut part = name.clone();
        part.push(".part");
        beneath::remove(above.as_fd(), &part).map_err(failed)?;
        beneath::make_folder(above.as_fd(), &part).map_err(failed)?;
        let part_folder = beneath::open_folder(above.as_fd(), &part).map_err(failed)?;
        let mut from = FolderWalk::reading(open_root(&self.root)?);
        let mut to = FolderWalk::making(part_folder);
        let mut copier = Copier::default();
        // The plan comes first, so that no other file can take its name on a disk that ignores case.
        let own = self.plan.as_ref().map(|plan| &plan.path);
        if let Some(plan) = &self.plan {
            let (folder, file) = beneath::split(&plan.path);
            let folder = to.folder(folder).map_err(failed)?;
            let mut made = beneath::create(folder, file, false).map_err(failed)?;
            made.write_all(plan.text.as_bytes()).map_err(failed)?;
        }
        for path in self.files.iter().filter(|path| Some(*path) != own) {
            match copier.copy(&mut from, &mut to, path) {
                Ok(None) => {}
                Ok(Some(reason)) => left_out.add(reason),
                Err(error) => return Err(CopyError::Io(path.clone(), error)),
            }
            if copier.bytes > MAX_BYTES {
                let sizes = self.files.iter().map(|path| (path.as_path(), 0));
                return Err(too_large(&sizes.collect::<Vec<_>>()));
            }
        }
        nix::fcntl::renameat(&above, part.as_os_str(), &above, name.as_os_str())
            .map_err(|error| failed(error.into()))?;
        Ok(left_out)
    }
}

/// Lists the files and links of `base`, as paths relative to it.
pub fn files_of_base(base: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut found, mut waiting) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(base.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            match entry.file_type()?.is_dir() {
                true => waiting.push(path),
                false => found.push(path),
            }
        }
    }
    Ok(found)
}

/// Reads the plan and checks that it can be debated.
fn read_plan(plan: &Path) -> Result<String, CopyError> {
    let path = || plan.to_owned();
    let metadata = match fs::metadata(plan) {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Err(CopyError::PlanMissing(path()));
        }
        Err(error) => return Err(CopyError::PlanUnreadable(path(), error)),
    };
    if metadata.is_dir() {
        return Err(CopyError::PlanIsFolder(path()));
    }
    if !metadata.is_file() {
        return Err(CopyError::PlanIsSpecial(path()));
    }
    if metadata.len() > MAX_PLAN {
        return Err(CopyError::PlanTooLong(path()));
    }
    let bytes =
        files::read(plan, MAX_PLAN).map_err(|error| CopyError::PlanUnreadable(path(), error))?;
    let text = String::from_utf8(bytes).map_err(|_| CopyError::PlanNotUtf8(path()))?;
    if text.trim().is_empty() {
        return Err(CopyError::PlanEmpty(path()));
    }
    if text.contains('\0') {
        return Err(CopyError::PlanHasNul(path()));
    }
    Ok(text)
}

/// A plan on disk, before its place in the copies is known.
struct Found {
    given: PathBuf,
    /// With all links resolved.
    target: PathBuf,
    /// The place that decides its project.
    position: PathBuf,
    text: String,
}

impl Found {
    fn read(plan: &Path) -> Result<Found, CopyError> {
        let text = read_plan(plan)?;
        let unreadable = |error| CopyError::PlanUnreadable(plan.to_owned(), error);
        let target = plan.canonicalize().map_err(unreadable)?;
        if links_on(plan).iter().any(|link| leads_out(link, &target)) {
            return Err(CopyError::PlanLeadsOut { plan: plan.to_owned(), target });
        }
        let is_link = plan.symlink_metadata().map_err(unreadable)?.is_symlink();
        // A link to a plan elsewhere belongs to the project that it lies in. The name of a file is taken as the
        // disk spells it, which may differ in case from what the user typed.
        let position = match (is_link, plan.parent(), plan.file_name()) {
            (true, Some(folder), Some(name)) => {
                folder.canonicalize().map_err(unreadable)?.join(name)
            }
            _ => target.clone(),
        };
        Ok(Found { given: plan.to_owned(), target, position, text })
    }
}

/// The link that a repository brought and that leads a new file out of it. A stranger may have chosen the
/// folder that it leads to.
pub fn link_out(path: &Path) -> Option<PathBuf> {
    let path = path::absolute(path).ok()?;
    let folder = path.parent()?;
    let target = folder.canonicalize().ok()?.join(path.file_name()?);
    links_on(folder).into_iter().find(|link| leads_out(link, &target))
}

/// The links that the system follows on an absolute path, each as a name in a real folder.
fn links_on(path: &Path) -> Vec<PathBuf> {
    let names = |path: &Path| path.iter().rev().map(OsStr::to_owned).collect::<Vec<_>>();
    let (mut links, mut here, mut rest) = (Vec::new(), PathBuf::new(), names(path));
    while let Some(name) = rest.pop() {
        if name == ".." {
            here.pop();
            continue;
        }
        let next = here.join(name);
        match fs::read_link(&next) {
            // The path leads to a file, so the links end. Another process may change that meanwhile.
            Ok(target) if links.len() < MAX_LINKS => {
                rest.extend(names(&target));
                links.push(next);
            }
            _ => here = next,
        }
    }
    links
}

/// The most links on a path. The system follows fewer.
const MAX_LINKS: usize = 100;

/// Whether a repository brought this link, and it leads to a file that is none of the repository's. A run
/// would show that file to models and write it in the end, and a stranger may have chosen it.
fn leads_out(link: &Path, target: &Path) -> bool {
    let (folder, _) = beneath::split(link);
    let Some(root) = git::root_above(folder) else { return false };
    let inside = target.strip_prefix(&root).is_ok_and(|path| names::left_out(path).is_none());
    !inside && link.strip_prefix(&root).is_ok_and(|path| git::has_link(&root, path))
}

/// The repository of a run.
struct Place {
    /// The work tree, or `None` where the plan's folder is the root.
    root: Option<PathBuf>,
    listed: Result<Vec<Candidate>, WhyAlone>,
    /// The listing was cut off.
    too_long: bool,
}

impl Place {
    /// Looks at the plan's place, at the file it links to, and at the current folder, in this order.
    fn of(plan: Option<&Found>, current: &Path, home: Option<&Path>) -> Place {
        let home = home.and_then(|home| home.canonicalize().ok());
        let alone = |why| Place { root: None, listed: Err(why), too_long: false };
        let current = current.canonicalize().unwrap_or_else(|_| current.to_owned());
        let mut why = WhyAlone::NoRepository;
        let plans = plan.iter().flat_map(|plan| [&plan.position, &plan.target]);
        let plans = plans.map(|path| beneath::split(path).0);
        for folder in plans.chain([current.as_path()]) {
            let Some(root) = git::root_above(folder) else { continue };
            // Its listing would be the user's whole life, or at least their dotfiles.
            if home.as_ref().is_some_and(|home| home.starts_with(&root)) {
                why = WhyAlone::Home;
                continue;
            }
            let (listed, too_long) = match git::check_root(&root).and_then(|()| git::list(&root)) {
                Ok(listed) => (listed, false),
                Err(GitError::TooLong(answer)) => (git::cut_listing(&answer), true),
                Err(GitError::NotInstalled) => return alone(WhyAlone::NoGit),
                Err(error @ (GitError::Failed(..) | GitError::TimedOut)) => {
                    return alone(WhyAlone::Refused(error.to_string()));
                }
            };
            let listed = listed
                .into_iter()
                .map(|listed| Candidate { path: listed.path, tracked: !listed.staged.is_empty() });
            return Place { root: Some(root), listed: Ok(listed.collect()), too_long };
        }
        alone(why)
    }
}

/// Keeps the candidates that are files on disk, with their sizes, sorted.
fn keep(
    root: &Path,
    candidates: impl Iterator<Item = Candidate>,
    left_out: &mut LeftOut,
) -> Result<Vec<(PathBuf, u64)>, CopyError> {
    let mut walk = FolderWalk::reading(open_root(root)?);
    let mut nested = Nested::default();
    let mut kept = Vec::new();
    for Candidate { path, tracked } in candidates {
        if !names::goes_down(&path) {
            continue;
        }
        if let Some(reason) = names::left_out(&path) {
            left_out.add(reason);
            continue;
        }
        let (parent, name) = beneath::split(&path);
        // A tracked file that is not on disk, or lies behind a link that has replaced its folder, is deleted.
        let Ok(folder) = walk.folder(parent) else { continue };
        let stat = match beneath::stat(folder, name) {
            Ok(Some(stat)) => stat,
            Ok(None) => continue,
            Err(_) => {
                left_out.add(names::UNREADABLE);
                continue;
            }
        };
        let size = match beneath::kind(&stat) {
            FileKind::File => u64::try_from(stat.st_size).unwrap_or(0),
            FileKind::Link => {
                let inside = readlinkat(folder, name)
                    .is_ok_and(|target| names::stays_inside(&path, Path::new(&target)));
                if !inside {
                    left_out.add(names::LINKS);
                    continue;
                }
                0
            }
            FileKind::Folder => {
                left_out.add(names::NESTED);
                continue;
            }
            FileKind::Special => {
                left_out.add(names::SPECIAL);
                continue;
            }
        };
        // Git lists the files of a nested repository without commits one by one.
        if !tracked && let Some(first) = nested.holds(root, parent) {
            if first {
                left_out.add(names::NESTED);
            }
            continue;
        }
        kept.push((path, size));
    }
    kept.sort();
    Ok(kept)
}

/// Which folders are in a nested repository.
#[derive(Default)]
struct Nested {
    /// The nested repository of each folder that was asked for.
    known: HashMap<PathBuf, Option<PathBuf>>,
    counted: HashSet<PathBuf>,
}

impl Nested {
    /// Whether this folder is in a nested repository: `Some(true)` the first time for that repository.
    fn holds(&mut self, root: &Path, folder: &Path) -> Option<bool> {
        let repository = self.find(root, folder)?;
        Some(self.counted.insert(repository))
    }

    fn find(&mut self, root: &Path, folder: &Path) -> Option<PathBuf> {
        if folder.as_os_str().is_empty() {
            return None;
        }
        if let Some(known) = self.known.get(folder) {
            return known.clone();
        }
        let found = self.find(root, beneath::split(folder).0).or_else(|| {
            let git = root.join(folder).join(".git");
            git.symlink_metadata().is_ok().then(|| folder.to_owned())
        });
        self.known.insert(folder.to_owned(), found.clone());
        found
    }
}

/// Chooses the plan's path in the copies.
fn plan_path(inside: Option<&Path>, position: &Path, kept: &[(PathBuf, u64)]) -> PathBuf {
    if let Some(inside) = inside
        && names::left_out(inside).is_none()
    {
        return inside.to_owned();
    }
    // A plan outside the root, or in a folder such as `.claude/plans`, comes to the root, under a free name.
    let name = position.file_name().unwrap_or(OsStr::new("PLAN.md"));
    let fits = names::left_out(Path::new(name)).is_none();
    let name = if fits { Path::new(name) } else { Path::new("PLAN.md") };
    let first = |path: &Path| path.components().next().map(|first| names::fold(first.as_os_str()));
    let taken: HashSet<_> = kept.iter().filter_map(|(path, _)| first(path)).collect();
    let is_free = |path: &Path| first(path).is_some_and(|first| !taken.contains(&first));
    if is_free(name) {
        return name.to_owned();
    }
    let mut number = 2;
    loop {
        let other = super::results::with_suffix(name, &format!("-{number}"));
        if is_free(&other) {
            return other;
        }
        number += 1;
    }
}

fn open_root(root: &Path) -> Result<OwnedFd, CopyError> {
    let opened = File::open(root).map_err(|error| CopyError::Io(root.to_owned(), error))?;
    Ok(opened.into())
}

/// The error for a source over a limit. It descends into the folder that holds nearly everything, and names
/// the largest entries there.
fn too_large(sizes: &[(&Path, u64)]) -> CopyError {
    let files = sizes.len();
    let bytes = sizes.iter().map(|(_, size)| size).sum();
    let mut within = PathBuf::new();
    loop {
        let mut folders: BTreeMap<&Path, (usize, u64)> = BTreeMap::new();
        for (path, size) in sizes.iter().filter(|(path, _)| path.starts_with(&within)) {
            let depth = within.components().count() + 1;
            let parent = beneath::split(path).0;
            let folder = parent.ancestors().find(|folder| folder.components().count() <= depth);
            let entry = folders.entry(folder.unwrap_or(parent)).or_default();
            entry.0 += 1;
            entry.1 += size;
        }
        let mut largest: Vec<_> = folders.into_iter().collect();
        // The share of the limit that a folder takes, in files or bytes, is its weight.
        let weight =
            |files: usize, bytes: u64| (files as u64 * (MAX_BYTES / MAX_FILES as u64)).max(bytes);
        largest.sort_by_key(|(_, (files, bytes))| std::cmp::Reverse(weight(*files, *bytes)));
        if let [(path, (inner_files, inner_bytes)), ..] = largest.as_slice()
            && **path != *within
            && weight(*inner_files, *inner_bytes) * 10 > weight(files, bytes) * 9
        {
            within = path.to_path_buf();
            continue;
        }
        let largest = largest.into_iter().take(5).map(|(path, (files, bytes))| FolderSize {
            path: path.to_owned(),
            files,
            bytes,
        });
        return CopyError::TooLarge { files, bytes, largest: largest.collect() };
    }
}

/// The patterns of `--files`.
struct Globs {
    set: GlobSet,
    /// Folders that can hold matches.
    starts: Vec<PathBuf>,
}

/// A walk for `--files` ends after this many entries: it may have begun in a home folder.
const MAX_WALK: usize = 1_000_000;

impl Globs {
    /// A pattern without a slash matches a name at any depth, one with a slash a path from the root. A pattern
    /// that matches a folder matches all in it.
    fn parse(globs: &[String]) -> Result<Globs, CopyError> {
        let mut set = GlobSetBuilder::new();
        let mut starts = Vec::new();
        for glob in globs {
            let bad = |why: String| CopyError::BadGlob { glob: glob.clone(), why };
            let pattern = glob.strip_prefix("./").unwrap_or(glob);
            let anchored = pattern.trim_end_matches('/').contains('/');
            let pattern = pattern.trim_matches('/');
            if pattern.is_empty() {
                return Err(bad("it is empty".to_owned()));
            }
            if Path::new(pattern).components().any(|part| part.as_os_str() == "..") {
                return Err(bad("it leaves the project".to_owned()));
            }
            let whole = if anchored { pattern.to_owned() } else { format!("**/{pattern}") };
            for pattern in [whole.clone(), format!("{whole}/**")] {
                let built = GlobBuilder::new(&pattern).literal_separator(true).build();
                set.add(built.map_err(|error| bad(error.kind().to_string()))?);
            }
            let wild = |part: &&str| !part.contains(['*', '?', '[', '{', '\\']);
            starts.push(whole.split('/').take_while(wild).collect::<PathBuf>());
        }
        starts.sort();
        starts.dedup_by(|next, kept| next.starts_with(kept));
        let set = set.build().map_err(|error| CopyError::BadGlob {
            glob: globs.join(" "),
            why: error.to_string(),
        })?;
        Ok(Globs { set, starts })
    }

    /// Finds matching files below a folder that is no repository.
    fn walk(&self, root: &Path, left_out: &mut LeftOut) -> Result<Vec<Candidate>, CopyError> {
        let mut found = Vec::new();
        let mut waiting = self.starts.clone();
        let mut seen = 0;
        let mut walk = FolderWalk::reading(open_root(root)?);
        while let Some(folder) = waiting.pop() {
            // A start can be a file.
            let (parent, name) = beneath::split(&folder);
            let start = walk.folder(parent).and_then(|parent| beneath::stat(parent, name));
            if let Ok(Some(stat)) = &start
                && beneath::kind(stat) != FileKind::Folder
            {
                if self.set.is_match(&folder) {
                    found.push(Candidate { path: folder, tracked: false });
                }
                continue;
            }
            // A folder that is missing or not readable, or a link, has no files for this run.
            let Ok(opened) = walk.folder(&folder) else { continue };
            let Ok(inner) = beneath::names(opened) else { continue };
            seen += inner.len();
            if seen > MAX_WALK {
                return Err(CopyError::Io(
                    root.join(&folder),
                    io::Error::other(format!(
                        "--files looked at {MAX_WALK} files here; name a folder"
                    )),
                ));
            }
            let nested = !folder.as_os_str().is_empty() && inner.iter().any(|name| name == ".git");
            if nested {
                left_out.add(names::NESTED);
                continue;
            }
            for name in inner {
                let path = folder.join(&name);
                let Ok(Some(stat)) = beneath::stat(opened, &name) else { continue };
                match beneath::kind(&stat) {
                    FileKind::Folder if names::left_out(&path).is_some() => {
                        if self.set.is_match(&path) {
                            left_out.add(names::left_out(&path).unwrap_or(names::SPECIAL));
                        }
                    }
                    FileKind::Folder => waiting.push(path),
                    FileKind::File | FileKind::Link | FileKind::Special => {
                        if self.set.is_match(&path) {
                            found.push(Candidate { path, tracked: false });
                        }
                    }
                }
            }
        }
        Ok(found)
    }
}

/// Copies files from one tree to another.
#[derive(Default)]
pub(crate) struct Copier {
    buffer: Vec<u8>,
    /// Number of bytes copied.
    bytes: u64,
}

/// Files up to this size are read whole. It saves the calls that a copy in the kernel needs.
const SMALL: u64 = 256 * 1024;

impl Copier {
    /// Copies one path. Returns why it stays out, if it does. An error is one of the target's disk.
    fn copy(
        &mut self,
        from: &mut FolderWalk,
        to: &mut FolderWalk,
        path: &Path,
    ) -> io::Result<Option<&'static str>> {
        let (parent, name) = beneath::split(path);
        let Ok(source) = from.folder(parent) else { return Ok(Some(names::CHANGED)) };
        let file = match beneath::open_file(source, name) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                return Ok(Some(names::UNREADABLE));
            }
            // Not a file, or gone. A link is read, never opened.
            Err(_) => {
                let Ok(link) = readlinkat(source, name) else { return Ok(Some(names::CHANGED)) };
                if !names::stays_inside(path, Path::new(&link)) {
                    return Ok(Some(names::LINKS));
                }
                let done = to
                    .folder(parent)
                    .and_then(|target| Ok(symlinkat(link.as_os_str(), target, name)?));
                return same_name(done);
            }
        };
        let Ok(metadata) = file.metadata() else { return Ok(Some(names::UNREADABLE)) };
        if !metadata.is_file() {
            return Ok(Some(names::SPECIAL));
        }
        let executable = metadata.permissions().mode() & 0o111 != 0;
        let target = to.folder(parent).and_then(|target| beneath::create(target, name, executable));
        let mut target = match target {
            Ok(target) => target,
            Err(error) => return same_name(Err(error)),
        };
        self.bytes += metadata.len();
        if self.bytes > MAX_BYTES {
            return Ok(None); // The caller stops here.
        }
        self.pour(file, metadata.size(), &mut target)?;
        Ok(None)
    }

    /// Copies this many bytes. A file that grows meanwhile is cut there.
    pub(crate) fn pour(&mut self, mut from: File, size: u64, to: &mut File) -> io::Result<()> {
        if size > SMALL {
            io::copy(&mut from.take(size), to)?;
            return Ok(());
        }
        self.buffer.clear();
        Read::by_ref(&mut from).take(size).read_to_end(&mut self.buffer)?;
        to.write_all(&self.buffer)
    }
}

/// On a disk that ignores case, `readme` finds the name `README` taken, or a file in place of its folder.
fn same_name(done: io::Result<()>) -> io::Result<Option<&'static str>> {
    match done {
        Ok(()) => Ok(None),
        Err(error) => match error.kind() {
            ErrorKind::AlreadyExists | ErrorKind::NotADirectory => Ok(Some(names::SAME_NAME)),
            ErrorKind::InvalidFilename => Ok(Some(names::TOO_LONG)),
            // APFS takes no name that is not UTF-8.
            _ if error.raw_os_error() == Some(Errno::EILSEQ as i32) => Ok(Some(names::NOT_UTF8)),
            _ => Err(error),
        },
    }
}
