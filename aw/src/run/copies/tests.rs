//! Stories of copies, with real files, links, pipes and hostile repositories.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::stat::Mode;
use nix::unistd::{Uid, mkfifo};
use tempfile::TempDir;

use super::error::PlanFlaw;
use super::source::{PlanFile, WhyAlone};
use super::*;
use crate::run::tree::{Tree, Watched};

/// The plan of a source.
fn plan_of(source: &CopySource) -> &PlanFile {
    source.plan.as_ref().unwrap()
}

/// A project with a plan, and a run's folder beside it.
struct World {
    folder: TempDir,
}

impl World {
    /// A project without a repository.
    fn bare() -> World {
        let world = World { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(world.path("project")).unwrap();
        fs::create_dir(world.path("run")).unwrap();
        world.write("PLAN.md", "# Plan\n");
        world
    }

    /// A project with a repository and one commit.
    fn new() -> World {
        let world = World::bare();
        world.git(&["init", "-q", "-b", "main"]);
        world.write("src/main.rs", "fn main() {}\n");
        world.write("README.md", "read me\n");
        world.commit();
        world
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    fn at(&self, path: &str) -> PathBuf {
        self.path("project").join(path)
    }

    fn base(&self) -> PathBuf {
        self.path("run/base")
    }

    fn seat(&self) -> PathBuf {
        self.path("run/opponent")
    }

    fn write(&self, path: &str, text: &str) {
        put(&self.at(path), text);
    }

    fn git(&self, arguments: &[&str]) -> String {
        git_in(&self.path("project"), arguments)
    }

    /// Adds a submodule with one file, at `sub`.
    fn add_submodule(&self) {
        let inner = self.path("inner");
        put(&inner.join("lib.rs"), "lib");
        git_in(&inner, &["init", "-q"]);
        git_in(&inner, &["add", "-A"]);
        git_in(&inner, &["commit", "-q", "-m", "x"]);
        self.git(&["submodule", "add", "-q", inner.to_str().unwrap(), "sub"]);
    }

    fn commit(&self) {
        self.git(&["add", "-A", "-f"]);
        self.git(&["commit", "-q", "-m", "a commit"]);
    }

    fn source(&self) -> CopySource {
        self.source_with(&[]).unwrap()
    }

    fn source_with(&self, globs: &[&str]) -> Result<CopySource, CopyError> {
        let globs: Vec<String> = globs.iter().map(|glob| (*glob).to_owned()).collect();
        CopySource::of(
            Some(&self.at("PLAN.md")),
            &self.path("run"),
            &globs,
            Some(&self.path("home")),
        )
    }

    /// Makes base and the seat's copy.
    fn seated(&self) -> CopySource {
        let source = self.source();
        source.make_base(&self.base()).unwrap();
        self.refresh();
        source
    }

    fn refresh(&self) {
        let own: [(&str, &[u8]); 1] = [("debate.md", b"said so far")];
        let extras = Extras { plan: Some((Path::new("PLAN.md"), "# Plan 2\n")), own: &own };
        refresh(&self.base(), &self.seat(), &extras).unwrap();
    }

    fn taken(&self) -> Result<String, PlanFlaw> {
        taken_plan(&self.seat(), Path::new("PLAN.md"))
    }

    fn changed(&self) -> Vec<String> {
        let changed =
            changed_files(&self.base(), &self.seat(), Some(Path::new("PLAN.md"))).unwrap();
        assert_eq!(changed.count, changed.first.len());
        changed.first.iter().map(|path| shown(path)).collect()
    }

    /// A program that leaves a file when it is started, as a line for a hostile config.
    fn trap(&self) -> String {
        let trap = self.path("trap.sh");
        let mark = self.path("sprung");
        put(&trap, &format!("#!/bin/sh\ntouch '{}'\nexit 1\n", mark.display()));
        fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
        trap.display().to_string()
    }

    fn assert_trap_untouched(&self) {
        assert!(!self.path("sprung").exists(), "a program of the repository was started");
    }

    /// Copies and compares all that a run does.
    fn whole_run(&self) -> CopySource {
        let source = self.seated();
        let before = self.look();
        assert_eq!(self.look().changes_since(&before), [""; 0]);
        self.refresh();
        source
    }

    fn look(&self) -> Tree {
        Tree::look(&self.path("project"), Watched::Repository, &[&self.at("PLAN.md")]).unwrap()
    }
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn git_in(folder: &Path, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.as_bytes().starts_with(b"GIT_") {
            git.env_remove(name);
        }
    }
    let done = git
        .args(["-c", "user.name=n", "-c", "user.email=e@x", "-c", "protocol.file.allow=always"])
        .args(["-c", "commit.gpgsign=false"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

fn list(source: &CopySource) -> Vec<String> {
    source.files.iter().map(|path| shown(path)).collect()
}

fn tree_of(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                waiting.push(entry.path());
            } else {
                found.push(shown(entry.path().strip_prefix(folder).unwrap()));
            }
        }
    }
    found.sort();
    found
}

// The source.

#[test]
fn a_source_has_tracked_and_new_files_and_no_ignored_ones() {
    let world = World::new();
    world.write(".gitignore", "target/\n");
    world.write("target/out", "x");
    world.write("new.txt", "new");
    let source = world.source();
    assert_eq!(source.extent, CopyExtent::Repository);
    assert_eq!(source.root, world.path("project"));
    assert_eq!(plan_of(&source).path, Path::new("PLAN.md"));
    assert_eq!(list(&source), [".gitignore", "PLAN.md", "README.md", "new.txt", "src/main.rs"]);
    assert_eq!(source.bytes, 8 + 7 + 8 + 3 + 13);
    assert_eq!(source.left_out.total(), 0);
}

#[test]
fn a_deleted_file_and_a_conflict_are_listed_as_the_disk_has_them() {
    let world = World::new();
    world.git(&["checkout", "-q", "-b", "other"]);
    world.write("README.md", "theirs\n");
    world.commit();
    world.git(&["checkout", "-q", "main"]);
    world.write("README.md", "ours\n");
    world.commit();
    let merge = Command::new("git")
        .args(["-c", "user.name=n", "-c", "user.email=e@x", "merge", "other"])
        .current_dir(world.path("project"))
        .output()
        .unwrap();
    assert!(!merge.status.success());
    fs::remove_file(world.at("src/main.rs")).unwrap();
    assert_eq!(list(&world.source()), ["PLAN.md", "README.md"]);
}

#[test]
fn files_of_agents_stay_out_in_any_case_and_are_counted() {
    let world = World::new();
    let out = [
        ".claude/settings.json",
        "deep/.Claude/settings.json",
        "Opencode.JSON",
        "opencode.jsonc",
        ".opencode/plugin/a.ts",
        ".env",
        "web/.ENV.local",
        ".mcp.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".cursor/rules",
        ".agents/a.md",
        ".aw/debate.md",
    ];
    for path in out {
        world.write(path, "x");
    }
    world.commit();
    let source = world.seated();
    assert_eq!(list(&source), ["PLAN.md", "README.md", "src/main.rs"]);
    assert_eq!(source.left_out.total(), out.len());
    assert_eq!(source.left_out.count(".claude"), 2);
    assert_eq!(source.left_out.count(".env*"), 2);
    assert_eq!(source.left_out.count("opencode.json*"), 2);
    assert_eq!(tree_of(&world.base()), ["PLAN.md", "README.md", "src/main.rs"]);
}

#[test]
fn only_links_that_stay_inside_come_in() {
    let world = World::new();
    put(&world.path("secret"), "secret");
    symlink("README.md", world.at("inside")).unwrap();
    symlink("../README.md", world.at("src/up")).unwrap();
    symlink("src", world.at("folder")).unwrap();
    symlink("../secret", world.at("out")).unwrap();
    symlink(world.path("secret"), world.at("absolute")).unwrap();
    symlink(world.at("README.md"), world.at("absolute_inside")).unwrap();
    symlink("folder/../../secret", world.at("tricky")).unwrap();
    symlink(".git/config", world.at("config")).unwrap();
    symlink("nowhere", world.at("dangling")).unwrap();
    world.commit();
    let source = world.seated();
    let links = ["dangling", "folder", "inside", "src/up"];
    for link in links {
        assert!(world.base().join(link).is_symlink(), "{link}");
        assert!(world.seat().join(link).is_symlink(), "{link}");
    }
    assert_eq!(source.left_out.count("links that lead outside"), 5);
    assert_eq!(source.files.len(), 3 + links.len());
}

#[test]
fn nothing_behind_a_link_is_copied_even_if_the_index_lists_it() {
    let world = World::new();
    put(&world.path("outside/main.rs"), "secret");
    fs::remove_dir_all(world.at("src")).unwrap();
    symlink("../outside", world.at("src")).unwrap();
    let source = world.seated();
    assert_eq!(list(&source), ["PLAN.md", "README.md"]);
    assert_eq!(source.left_out.count("links that lead outside"), 1);
}

#[test]
fn special_files_do_not_block() {
    let world = World::new();
    fs::remove_file(world.at("README.md")).unwrap();
    mkfifo(&world.at("README.md"), Mode::S_IRWXU).unwrap();
    mkfifo(&world.at("pipe"), Mode::S_IRWXU).unwrap();
    let source = world.seated();
    assert_eq!(source.left_out.count("special files"), 1);
    assert_eq!(list(&source), ["PLAN.md", "src/main.rs"]);
}

#[test]
fn a_file_that_becomes_a_link_or_a_pipe_after_the_listing_is_not_followed() {
    let world = World::new();
    put(&world.path("secret"), "secret");
    world.write("a", "a");
    let source = world.source();
    fs::remove_file(world.at("README.md")).unwrap();
    symlink("../secret", world.at("README.md")).unwrap();
    fs::remove_file(world.at("a")).unwrap();
    mkfifo(&world.at("a"), Mode::S_IRWXU).unwrap();
    fs::remove_dir_all(world.at("src")).unwrap();
    let left_out = source.make_base(&world.base()).unwrap();
    assert_eq!(tree_of(&world.base()), ["PLAN.md"]);
    assert_eq!(left_out.total(), 3);
}

#[test]
fn nested_repositories_stay_out_with_and_without_commits() {
    let world = World::new();
    for name in ["young", "old"] {
        put(&world.at(&format!("{name}/deep/file")), "x");
        git_in(&world.at(name), &["init", "-q"]);
    }
    git_in(&world.at("old"), &["add", "-A"]);
    git_in(&world.at("old"), &["commit", "-q", "-m", "x"]);
    let source = world.source();
    assert_eq!(list(&source), ["PLAN.md", "README.md", "src/main.rs"]);
    assert_eq!(source.left_out.count("nested repositories"), 2);
}

#[test]
fn tracked_files_of_submodules_come_in() {
    let world = World::new();
    world.add_submodule();
    world.commit();
    put(&world.at("sub/untracked"), "x");
    let source = world.seated();
    let files = [".gitmodules", "PLAN.md", "README.md", "src/main.rs", "sub/lib.rs"];
    assert_eq!(list(&source), files);
    assert_eq!(tree_of(&world.base()), files);
    // A plan in a submodule: the submodule is the work tree.
    put(&world.at("sub/PLAN.md"), "plan");
    let source =
        CopySource::of(Some(&world.at("sub/PLAN.md")), &world.path("run"), &[], None).unwrap();
    assert_eq!(list(&source), ["PLAN.md", "lib.rs", "untracked"]);
    // A submodule whose repository is broken does not stop the run.
    fs::remove_dir_all(world.at(".git/modules")).unwrap();
    let source = world.source();
    assert_eq!(source.extent, CopyExtent::Repository);
    assert!(list(&source).contains(&"src/main.rs".to_owned()), "{source:?}");
}

#[test]
fn unusual_names_are_copied_as_they_are() {
    let world = World::new();
    let names: [&[u8]; 5] = [b"new\nline", b"tab\tquote\"", b"bytes\xff\xfe", b"-rf", b":(glob)**"];
    for name in names {
        let made = fs::write(world.at("").join(OsStr::from_bytes(name)), "x");
        if made.is_err() {
            return; // APFS takes no such names.
        }
    }
    world.seated();
    for name in names {
        assert!(world.seat().join(OsStr::from_bytes(name)).is_file());
    }
    assert_eq!(world.changed(), [""; 0]);
}

#[test]
fn names_that_differ_in_case_both_come_in_where_the_disk_has_both() {
    let world = World::new();
    world.write("readme.md", "other");
    let both = fs::read_to_string(world.at("README.md")).unwrap() != "other";
    world.commit();
    let source = world.seated();
    assert_eq!(source.files.len(), if both { 4 } else { 3 });
}

#[test]
fn detached_head_and_no_commits_are_fine() {
    let world = World::new();
    world.git(&["checkout", "-q", "--detach"]);
    assert_eq!(world.whole_run().files.len(), 3);
    let world = World::bare();
    world.git(&["init", "-q"]);
    assert_eq!(list(&world.whole_run()), ["PLAN.md"]);
}

#[test]
fn sparse_checkouts_and_worktrees_are_listed_as_they_are() {
    let world = World::new();
    world.write("big/a", "x");
    world.write("big/b", "x");
    world.commit();
    world.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "src"]);
    assert!(!world.at("big").exists());
    assert_eq!(list(&world.whole_run()), ["PLAN.md", "README.md", "src/main.rs"]);
    let tree = world.path("tree");
    world.git(&["worktree", "add", "-q", tree.to_str().unwrap(), "-b", "w"]);
    let source =
        CopySource::of(Some(&tree.join("PLAN.md")), &world.path("run"), &[], None).unwrap();
    assert_eq!(source.root, tree);
}

#[test]
fn without_a_repository_the_plan_is_alone() {
    let world = World::bare();
    world.write("notes.txt", "x");
    let source = world.source();
    assert_eq!(source.extent, CopyExtent::PlanAlone(WhyAlone::NoRepository));
    assert_eq!(list(&source), ["PLAN.md"]);
    assert_eq!(source.root, world.path("project"));
}

#[test]
fn a_repository_at_the_home_folder_or_above_is_not_copied() {
    let world = World::new();
    for home in ["project", "project/src"] {
        let home = world.path(home);
        let source =
            CopySource::of(Some(&world.at("PLAN.md")), &world.path("run"), &[], Some(&home))
                .unwrap();
        assert_eq!(source.extent, CopyExtent::PlanAlone(WhyAlone::Home));
        assert_eq!(list(&source), ["PLAN.md"]);
    }
}

#[test]
fn a_plan_outside_a_repository_comes_to_the_current_ones_root_under_a_free_name() {
    let world = World::new();
    let plan = world.path("elsewhere/PLAN.md");
    put(&plan, "other plan");
    let source = CopySource::of(Some(&plan), &world.at("src"), &[], None).unwrap();
    assert_eq!(source.root, world.path("project"));
    assert_eq!(plan_of(&source).path, Path::new("PLAN-2.md"));
    source.make_base(&world.base()).unwrap();
    assert_eq!(fs::read_to_string(world.base().join("PLAN-2.md")).unwrap(), "other plan");
    assert_eq!(fs::read_to_string(world.base().join("PLAN.md")).unwrap(), "# Plan\n");
}

#[test]
fn a_plan_in_a_folder_that_stays_out_comes_to_the_root() {
    let world = World::new();
    world.write(".claude/plans/idea.md", "idea");
    world.write(".gitignore", ".claude\n");
    let source =
        CopySource::of(Some(&world.at(".claude/plans/idea.md")), &world.path("run"), &[], None)
            .unwrap();
    assert_eq!(plan_of(&source).path, Path::new("idea.md"));
    world.write(".env", "plan?");
    let source = CopySource::of(Some(&world.at(".env")), &world.path("run"), &[], None).unwrap();
    assert_eq!(plan_of(&source).path, Path::new("PLAN-2.md"));
}

#[test]
fn a_linked_plan_is_a_file_in_the_copy() {
    let world = World::new();
    put(&world.path("plans/idea.md"), "idea");
    fs::remove_file(world.at("PLAN.md")).unwrap();
    symlink("../plans/idea.md", world.at("PLAN.md")).unwrap();
    let source = world.source();
    assert_eq!(plan_of(&source).target, world.path("plans/idea.md"));
    assert_eq!(plan_of(&source).path, Path::new("PLAN.md"));
    assert_eq!(source.root, world.path("project"));
    source.make_base(&world.base()).unwrap();
    assert!(world.base().join("PLAN.md").symlink_metadata().unwrap().is_file());
    assert_eq!(source.left_out.total(), 0);
}

#[test]
fn a_link_of_the_repository_leads_no_plan_out_of_it() {
    let of = |world: &World, plan: &str| {
        CopySource::of(Some(&world.at(plan)), &world.path("run"), &[], None)
    };
    let refused = |world: &World, plan: &str| matches!(of(world, plan), Err(CopyError::PlanLeadsOut { target, .. }) if target == world.path("home/profile"));
    let world = World::new();
    put(&world.path("home/profile"), "PATH=/bin");
    symlink("../home/profile", world.at("direct.md")).unwrap();
    symlink(world.path("home"), world.at("folder")).unwrap();
    symlink("folder/./profile", world.at("twice.md")).unwrap();
    symlink("README.md", world.at("inside.md")).unwrap();
    symlink(".git/config", world.at("config.md")).unwrap();
    let plans = ["direct.md", "folder/profile", "src/../twice.md"];
    for plan in plans {
        assert!(of(&world, plan).is_ok(), "{plan}: a link that its user has made");
    }
    world.commit();
    for plan in plans {
        assert!(refused(&world, plan), "{plan}");
    }
    assert!(of(&world, "inside.md").is_ok());
    assert!(matches!(of(&world, "config.md"), Err(CopyError::PlanLeadsOut { .. })));
    // A link of the user's to a link of the repository.
    symlink("project/direct.md", world.path("mine.md")).unwrap();
    assert!(refused(&world, "../mine.md"));
    assert!(of(&world, "../home/profile").is_ok(), "the user names the file itself");
    fs::write(world.at(".git/index"), "broken").unwrap();
    assert!(refused(&world, "direct.md"), "git cannot say that the link is the user's");
}

#[test]
fn each_bad_plan_has_its_own_error() {
    let world = World::new();
    let of = |plan: &Path| CopySource::of(Some(plan), &world.path("run"), &[], None).unwrap_err();
    assert!(matches!(of(&world.at("none.md")), CopyError::PlanMissing(_)));
    assert!(matches!(of(&world.at("PLAN.md/x")), CopyError::PlanMissing(_)));
    assert!(matches!(of(&world.at("src")), CopyError::PlanIsFolder(_)));
    world.write("empty.md", " \n");
    assert!(matches!(of(&world.at("empty.md")), CopyError::PlanEmpty(_)));
    fs::write(world.at("bytes.md"), b"\xff").unwrap();
    assert!(matches!(of(&world.at("bytes.md")), CopyError::PlanNotUtf8(_)));
    let long = fs::File::create(world.at("long.md")).unwrap();
    long.set_len(MAX_PLAN + 1).unwrap();
    assert!(matches!(of(&world.at("long.md")), CopyError::PlanTooLong(_)));
    mkfifo(&world.at("pipe.md"), Mode::S_IRWXU).unwrap();
    assert!(matches!(of(&world.at("pipe.md")), CopyError::PlanIsSpecial(_)));
    symlink("nowhere", world.at("dangling.md")).unwrap();
    assert!(matches!(of(&world.at("dangling.md")), CopyError::PlanMissing(_)));
}

#[test]
fn globs_narrow_a_repository_and_widen_a_plan_alone() {
    let world = World::new();
    world.write("src/deep/a.rs", "a");
    world.write("docs/a.md", "a");
    let files = |globs: &[&str]| list(&world.source_with(globs).unwrap());
    assert_eq!(files(&["*.rs"]), ["PLAN.md", "src/deep/a.rs", "src/main.rs"]);
    assert_eq!(files(&["src/*.rs"]), ["PLAN.md", "src/main.rs"]);
    assert_eq!(files(&["src/"]), ["PLAN.md", "src/deep/a.rs", "src/main.rs"]);
    assert_eq!(files(&["./docs", "README.md"]), ["PLAN.md", "README.md", "docs/a.md"]);
    assert!(matches!(world.source_with(&["[a"]), Err(CopyError::BadGlob { .. })));
    assert!(matches!(world.source_with(&["../x"]), Err(CopyError::BadGlob { .. })));

    let world = World::bare();
    world.write("src/deep/a.rs", "a");
    world.write("src/.env", "a");
    world.write("notes.txt", "a");
    mkfifo(&world.at("src/pipe.rs"), Mode::S_IRWXU).unwrap();
    put(&world.path("outside/b.rs"), "secret");
    symlink("../outside", world.at("link")).unwrap();
    put(&world.at("nested/c.rs"), "c");
    git_in(&world.at("nested"), &["init", "-q"]);
    let source = world.source_with(&["*.rs"]).unwrap();
    assert_eq!(list(&source), ["PLAN.md", "src/deep/a.rs"]);
    assert_eq!(source.left_out.count("nested repositories"), 1);
    assert_eq!(source.left_out.count("special files"), 1);
    assert_eq!(list(&world.source_with(&["notes.txt"]).unwrap()), ["PLAN.md", "notes.txt"]);
    assert_eq!(list(&world.source_with(&["src/deep/a.rs"]).unwrap()), ["PLAN.md", "src/deep/a.rs"]);
    assert_eq!(list(&world.source_with(&["link/b.rs"]).unwrap()), ["PLAN.md"]);
    assert_eq!(world.source_with(&["src"]).unwrap().left_out.count(".env*"), 1);
}

#[test]
fn too_many_bytes_name_the_largest_folders() {
    let world = World::new();
    for name in ["data/video/a", "data/video/b", "data/c", "d"] {
        world.write(name, "");
        let file = fs::OpenOptions::new().write(true).open(world.at(name)).unwrap();
        file.set_len(300_000_000).unwrap();
    }
    let Err(CopyError::TooLarge { files, bytes, largest }) = world.source_with(&[]) else {
        panic!("it is not too large");
    };
    assert_eq!((files, bytes / 1_000_000), (7, 1200));
    let paths: Vec<_> = largest.iter().map(|folder| (shown(&folder.path), folder.files)).collect();
    let first = [("data".to_owned(), 3), (String::new(), 3), ("src".to_owned(), 1)];
    assert_eq!(paths, first);
    assert!(world.source_with(&["src"]).is_ok());
}

// Hostile repositories.

#[test]
fn a_hostile_config_starts_no_program() {
    let world = World::new();
    world.write("a.bin", "content");
    world.write(".gitattributes", "* filter=evil diff=evil merge=evil\n*.bin filter=lfs\n");
    world.commit();
    let trap = world.trap();
    for key in [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.gitProxy",
        "core.askPass",
        "core.alternateRefsCommand",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "filter.lfs.clean",
        "filter.lfs.process",
        "diff.external",
        "diff.evil.textconv",
        "diff.evil.command",
        "merge.evil.driver",
        "credential.helper",
        "gpg.program",
        "pager.ls-files",
        "alias.ls-files",
        "alias.rev-parse",
        "sequence.editor",
        "uploadpack.packObjectsHook",
    ] {
        world.git(&["config", key, &trap]);
    }
    world.git(&["config", "alias.ls-files", &format!("!{trap}")]);
    world.git(&["config", "core.fsmonitorHookVersion", "2"]);
    world.git(&["config", "filter.evil.required", "true"]);
    for hook in ["post-index-change", "fsmonitor-watchman", "pre-commit", "post-checkout"] {
        let hook = world.at(".git/hooks").join(hook);
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::copy(world.path("trap.sh"), hook).unwrap();
    }
    // The times differ from those of the index, so that `git status` would run the filter.
    world.write("a.bin", "Content");
    let source = world.whole_run();
    assert_eq!(source.extent, CopyExtent::Repository);
    assert_eq!(fs::read_to_string(world.base().join("a.bin")).unwrap(), "Content");
    world.assert_trap_untouched();
    // The trap works: git does start it without our precautions.
    let _ = Command::new("git").arg("status").current_dir(world.path("project")).output();
    assert!(world.path("sprung").exists());
}

#[test]
fn a_hostile_submodule_starts_no_program() {
    let world = World::new();
    world.add_submodule();
    world.commit();
    let trap = world.trap();
    for key in ["core.fsmonitor", "filter.evil.clean", "core.sshCommand"] {
        git_in(&world.at("sub"), &["config", key, &trap]);
    }
    world.git(&["config", "submodule.sub.update", &format!("!{trap}")]);
    put(&world.at("sub/.gitattributes"), "* filter=evil\n");
    put(&world.at("sub/lib.rs"), "LIB");
    let source = world.whole_run();
    assert!(list(&source).contains(&"sub/lib.rs".to_owned()));
    world.assert_trap_untouched();
}

#[test]
fn a_partial_clone_with_missing_objects_reaches_no_remote() {
    let world = World::new();
    world.write("big/a", "x");
    world.commit();
    let trap = world.trap();
    world.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "src"]);
    world.git(&["config", "extensions.partialClone", "origin"]);
    world.git(&["config", "core.repositoryFormatVersion", "1"]);
    world.git(&["config", "remote.origin.url", &format!("ext::{trap}")]);
    world.git(&["config", "remote.origin.promisor", "true"]);
    world.git(&["config", "protocol.ext.allow", "always"]);
    // All objects are missing.
    fs::remove_dir_all(world.at(".git/objects")).unwrap();
    fs::create_dir(world.at(".git/objects")).unwrap();
    let source = world.whole_run();
    assert_eq!(list(&source), ["PLAN.md", "README.md", "src/main.rs"]);
    world.assert_trap_untouched();
    // The trap works: a plain listing starts it.
    let plain = ["ls-files", "--stage"];
    let _ = Command::new("git").args(plain).current_dir(world.path("project")).output();
    assert!(world.path("sprung").exists());
}

#[test]
fn a_work_tree_that_lies_elsewhere_is_refused() {
    let world = World::new();
    put(&world.path("private/secret"), "secret");
    let elsewhere = world.path("private");
    world.git(&["config", "core.worktree", elsewhere.to_str().unwrap()]);
    let source = world.source();
    assert!(
        matches!(&source.extent, CopyExtent::PlanAlone(WhyAlone::Refused(why)) if !why.is_empty())
    );
    assert_eq!(list(&source), ["PLAN.md"]);
    // A folder above the project.
    let above = world.path("");
    world.git(&["config", "core.worktree", above.to_str().unwrap()]);
    assert_eq!(list(&world.source()), ["PLAN.md"]);
}

#[test]
fn a_folder_that_looks_like_a_bare_repository_is_only_a_folder() {
    let world = World::new();
    let trap = world.trap();
    world.write("evil/HEAD", "ref: refs/heads/main\n");
    let config = format!("[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = {trap}\n");
    world.write("evil/config", &config);
    world.write("evil/objects/x", "");
    world.write("evil/refs/x", "");
    world.write("evil/PLAN.md", "plan");
    let source =
        CopySource::of(Some(&world.at("evil/PLAN.md")), &world.at("evil"), &[], None).unwrap();
    assert_eq!(source.root, world.path("project"));
    assert_eq!(plan_of(&source).path, Path::new("evil/PLAN.md"));
    // The same without the repository around it.
    fs::remove_dir_all(world.at(".git")).unwrap();
    let source =
        CopySource::of(Some(&world.at("evil/PLAN.md")), &world.at("evil"), &[], None).unwrap();
    assert_eq!(source.extent, CopyExtent::PlanAlone(WhyAlone::NoRepository));
    world.assert_trap_untouched();
}

#[test]
fn a_broken_repository_leaves_the_plan_alone_with_gits_message() {
    let world = World::new();
    fs::write(world.at(".git/index"), "broken").unwrap();
    let source = world.source();
    assert!(
        matches!(&source.extent, CopyExtent::PlanAlone(WhyAlone::Refused(why)) if why.contains("index"))
    );
    fs::remove_dir_all(world.at(".git")).unwrap();
    fs::create_dir(world.at(".git")).unwrap();
    assert!(matches!(world.source().extent, CopyExtent::PlanAlone(WhyAlone::Refused(_))));
}

#[test]
fn a_repository_of_another_user_is_refused_as_git_does() {
    if !Uid::effective().is_root() {
        return; // Only root can make one.
    }
    let world = World::new();
    let other = Some(nix::unistd::Uid::from_raw(65534));
    for path in ["project", "project/.git"] {
        nix::unistd::chown(&world.path(path), other, None).unwrap();
    }
    let why = world.source().extent;
    assert!(
        matches!(&why, CopyExtent::PlanAlone(WhyAlone::Refused(why)) if why.contains("ownership")),
        "{why:?}"
    );
}

#[test]
fn a_pipe_that_git_would_read_forever_stops_nothing_for_long() {
    let world = World::new();
    let pipe = world.path("pipe");
    mkfifo(&pipe, Mode::S_IRWXU).unwrap();
    world.git(&["config", "core.excludesFile", pipe.to_str().unwrap()]);
    let asked = git::ask_within(
        &world.path("project"),
        &["ls-files", "--others", "--exclude-standard"],
        std::time::Duration::from_millis(300),
    );
    assert!(matches!(asked, Err(git::GitError::TimedOut)), "{asked:?}");
}

#[test]
fn an_aw_folder_that_is_a_link_is_replaced_by_our_own() {
    let world = World::new();
    fs::create_dir(world.path("outside")).unwrap();
    symlink("../outside", world.at(".aw")).unwrap();
    world.commit();
    world.seated();
    assert_eq!(tree_of(&world.path("outside")), [""; 0]);
    assert!(world.seat().join(".aw").symlink_metadata().unwrap().is_dir());
}

/// Runs an ignored test in a process of its own, with these variables.
fn in_another_environment(test: &str, variables: &[(&str, &str)]) {
    let done = Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            &format!("{}::{test}", module_path!().split_once("::").unwrap().1),
        ])
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn without_git_the_plan_is_alone() {
    in_another_environment("part_without_git", &[("PATH", "bin:/nonexistent")]);
}

#[test]
#[ignore = "a part of another test"]
fn part_without_git() {
    let world = World::bare();
    fs::create_dir(world.at(".git")).unwrap();
    assert_eq!(world.source().extent, CopyExtent::PlanAlone(WhyAlone::NoGit));
}

#[test]
fn git_variables_of_the_environment_play_no_part() {
    let variables = [
        ("GIT_DIR", "/nonexistent"),
        ("GIT_WORK_TREE", "/"),
        ("GIT_INDEX_FILE", "/nonexistent"),
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "core.worktree"),
        ("GIT_CONFIG_VALUE_0", "/"),
        ("GIT_LITERAL_PATHSPECS", "nonsense"),
        ("GIT_CEILING_DIRECTORIES", "/"),
    ];
    in_another_environment("part_with_git_variables", &variables);
}

#[test]
#[ignore = "a part of another test"]
fn part_with_git_variables() {
    let world = World::new();
    assert_eq!(list(&world.whole_run()), ["PLAN.md", "README.md", "src/main.rs"]);
}

// base and the copies.

#[test]
fn files_keep_only_their_executable_bit_and_folders_are_private() {
    let world = World::new();
    for (name, mode) in [("run.sh", 0o755), ("odd", 0o4777), ("plain", 0o664), ("read", 0o444)] {
        world.write(name, "x");
        fs::set_permissions(world.at(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    world.seated();
    for folder in [world.base(), world.seat()] {
        let mode = |name: &str| folder.join(name).metadata().unwrap().mode() & 0o7777;
        assert_eq!(mode("run.sh"), 0o700);
        assert_eq!(mode("odd"), 0o700);
        assert_eq!(mode("plain"), 0o600);
        assert_eq!(mode("read"), 0o600);
        assert_eq!(mode("src"), 0o700);
        assert_eq!(mode(""), 0o700);
    }
}

#[test]
fn base_is_made_once_and_a_cut_off_part_is_made_again() {
    let world = World::new();
    put(&world.path("run/base.part/old/leftover"), "x");
    let source = world.source();
    source.make_base(&world.base()).unwrap();
    assert!(!world.path("run/base.part").exists());
    assert!(!world.base().join("old").exists());
    world.write("README.md", "changed");
    source.make_base(&world.base()).unwrap();
    assert_eq!(fs::read_to_string(world.base().join("README.md")).unwrap(), "read me\n");
}

#[test]
fn a_fresh_copy_has_base_the_newest_plan_our_folder_and_an_empty_repository() {
    let world = World::new();
    world.seated();
    let seat = world.seat();
    assert_eq!(fs::read_to_string(seat.join("PLAN.md")).unwrap(), "# Plan 2\n");
    assert_eq!(fs::read_to_string(seat.join(".aw/debate.md")).unwrap(), "said so far");
    assert_eq!(fs::read_to_string(seat.join("src/main.rs")).unwrap(), "fn main() {}\n");
    assert_eq!(fs::read_to_string(world.base().join("PLAN.md")).unwrap(), "# Plan\n");
    let top = git_in(&seat, &["rev-parse", "--show-toplevel"]);
    assert_eq!(Path::new(top.trim_end()), seat);
    assert!(git_in(&seat, &["status", "--short"]).contains("?? README.md"));
    assert_eq!(world.changed(), [""; 0]);
    assert_eq!(world.taken().unwrap(), "# Plan 2\n");
}

#[test]
fn a_refresh_keeps_equal_files_and_undoes_every_change() {
    let world = World::new();
    world.write("same", "same");
    world.write("sized", "abcd");
    world.write("long", &"x".repeat(600_000));
    symlink("same", world.at("link")).unwrap();
    world.write("folder/file", "x");
    world.write("gone/file", "x");
    world.seated();
    let seat = world.seat();
    let inode = seat.join("same").metadata().unwrap().ino();
    let times = seat.join("sized").metadata().unwrap().modified().unwrap();
    // Same size, same mtime.
    fs::write(seat.join("sized"), "abcD").unwrap();
    fs::File::options().write(true).open(seat.join("sized")).unwrap().set_modified(times).unwrap();
    fs::write(seat.join("long"), format!("{}y", "x".repeat(599_999))).unwrap();
    fs::remove_file(seat.join("link")).unwrap();
    symlink("/etc", seat.join("link")).unwrap();
    fs::remove_dir_all(seat.join("folder")).unwrap();
    fs::write(seat.join("folder"), "a file now").unwrap();
    fs::remove_dir_all(seat.join("gone")).unwrap();
    fs::remove_file(seat.join("README.md")).unwrap();
    mkfifo(&seat.join("README.md"), Mode::S_IRWXU).unwrap();
    put(&seat.join(".claude/settings.json"), "{}");
    put(&seat.join("src/new.rs"), "x");
    fs::set_permissions(seat.join("src/main.rs"), fs::Permissions::from_mode(0o4700)).unwrap();
    let mut changed = world.changed();
    changed.sort();
    let expected = [
        ".claude",
        "README.md",
        "folder",
        "gone",
        "link",
        "long",
        "sized",
        "src/main.rs",
        "src/new.rs",
    ];
    assert_eq!(changed, expected);
    world.refresh();
    assert_eq!(world.changed(), [""; 0]);
    assert_eq!(fs::read_to_string(seat.join("sized")).unwrap(), "abcd");
    assert_eq!(fs::read_link(seat.join("link")).unwrap(), Path::new("same"));
    assert_eq!(seat.join("same").metadata().unwrap().ino(), inode);
}

#[test]
fn nothing_outside_the_copy_is_touched_by_a_refresh() {
    let world = World::new();
    world.write("deep/er/file", "x");
    world.seated();
    let seat = world.seat();
    let outside = world.path("outside");
    for name in ["a", ".aw/debate.md", "PLAN.md", "er/file", "main.rs", "HEAD"] {
        put(&outside.join(name), "mine");
    }
    for name in ["deep", "src", ".aw", ".git"] {
        fs::remove_dir_all(seat.join(name)).unwrap();
        symlink(&outside, seat.join(name)).unwrap();
    }
    fs::remove_file(seat.join("PLAN.md")).unwrap();
    symlink(outside.join("PLAN.md"), seat.join("PLAN.md")).unwrap();
    // A second name of a file outside.
    fs::remove_file(seat.join("README.md")).unwrap();
    fs::write(outside.join("hard"), "read me\n").unwrap();
    fs::hard_link(outside.join("hard"), seat.join("README.md")).unwrap();
    put(&seat.join("trash/x"), "x");
    symlink(&outside, seat.join("trash/out")).unwrap();
    assert_eq!(world.taken(), Err(PlanFlaw::Link));
    let changed = world.changed();
    assert_eq!(changed, ["trash", "README.md", "deep", "src"]);
    world.refresh();
    assert_eq!(world.changed(), [""; 0]);
    assert_eq!(outside.join("hard").metadata().unwrap().nlink(), 1);
    for name in ["a", ".aw/debate.md", "PLAN.md", "er/file", "main.rs", "HEAD"] {
        assert_eq!(fs::read_to_string(outside.join(name)).unwrap(), "mine", "{name}");
    }
    assert_eq!(tree_of(&outside).len(), 7);
    // The whole copy as a link.
    fs::remove_dir_all(&seat).unwrap();
    symlink(&outside, &seat).unwrap();
    assert_eq!(world.changed(), ["."]);
    assert_eq!(world.taken(), Err(PlanFlaw::Link));
    world.refresh();
    assert!(seat.symlink_metadata().unwrap().is_dir());
    assert_eq!(tree_of(&outside).len(), 7);
}

#[test]
fn folders_without_rights_many_files_and_deep_folders_go() {
    let world = World::new();
    world.write("locked/file", "x");
    world.seated();
    let seat = world.seat();
    for number in 0..10_000 {
        put(&seat.join(format!("many/{number}")), "");
    }
    put(&seat.join("shut/inner/deeper/file"), "x");
    for name in ["shut/inner/deeper", "shut/inner", "shut", "locked", ""] {
        fs::set_permissions(seat.join(name), fs::Permissions::from_mode(0o0)).unwrap();
    }
    world.refresh();
    assert_eq!(world.changed(), [""; 0]);
    fs::set_permissions(seat.join("locked/file"), fs::Permissions::from_mode(0o0)).unwrap();
    assert_eq!(world.changed(), ["locked/file"]);
    // 3,000 folders deep: more than descriptors, and longer than any path.
    let mut folder: std::os::fd::OwnedFd = fs::File::open(&seat).unwrap().into();
    for _ in 0..3_000 {
        use std::os::fd::AsFd;
        beneath::make_folder(folder.as_fd(), OsStr::new("d")).unwrap();
        folder = beneath::open_folder(folder.as_fd(), OsStr::new("d")).unwrap();
    }
    assert_eq!(world.changed(), ["d", "locked/file"]);
    world.refresh();
    assert_eq!(world.changed(), [""; 0]);
    assert_eq!(fs::read_dir(world.path("run")).unwrap().count(), 2);
}

#[test]
fn many_changes_are_counted_and_the_first_are_named() {
    let world = World::new();
    world.seated();
    for number in 0..80 {
        put(&world.seat().join(format!("n{number}")), "");
    }
    let changed = changed_files(&world.base(), &world.seat(), Some(Path::new("PLAN.md"))).unwrap();
    assert_eq!((changed.first.len(), changed.count), (50, 80));
}

#[test]
fn each_flaw_of_the_plan_has_its_own_name() {
    let world = World::new();
    world.seated();
    let plan = world.seat().join("PLAN.md");
    let again = || {
        let _ = fs::remove_file(&plan);
    };
    again();
    assert_eq!(world.taken(), Err(PlanFlaw::Missing));
    fs::write(&plan, "\n").unwrap();
    assert_eq!(world.taken(), Err(PlanFlaw::Empty));
    fs::write(&plan, b"\xff").unwrap();
    assert_eq!(world.taken(), Err(PlanFlaw::NotUtf8));
    fs::File::create(&plan).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(world.taken(), Err(PlanFlaw::TooLong));
    again();
    mkfifo(&plan, Mode::S_IRWXU).unwrap();
    assert_eq!(world.taken(), Err(PlanFlaw::NotAFile));
    again();
    // The path of a socket is limited to 104 bytes on macOS.
    if let Ok(_socket) = std::os::unix::net::UnixListener::bind(&plan) {
        assert_eq!(world.taken(), Err(PlanFlaw::NotAFile));
    }
    again();
    fs::create_dir(&plan).unwrap();
    assert_eq!(world.taken(), Err(PlanFlaw::NotAFile));
    fs::remove_dir(&plan).unwrap();
    fs::hard_link(world.at("README.md"), &plan).unwrap();
    assert_eq!(world.taken(), Err(PlanFlaw::Link));
    again();
    fs::write(&plan, "x").unwrap();
    fs::set_permissions(&plan, fs::Permissions::from_mode(0o0)).unwrap();
    if !Uid::effective().is_root() {
        assert!(matches!(world.taken(), Err(PlanFlaw::Unreadable(_))));
    }
    world.refresh();
    // A link in the middle of the path.
    let deep = |plan: &str| taken_plan(&world.seat(), Path::new(plan));
    assert_eq!(deep("src/main.rs").unwrap(), "fn main() {}\n");
    symlink("src", world.seat().join("s")).unwrap();
    assert_eq!(deep("s/main.rs"), Err(PlanFlaw::Link));
    assert_eq!(deep("PLAN.md/x"), Err(PlanFlaw::Missing));
}

// The user's tree.

#[test]
fn each_change_of_the_users_tree_is_seen_except_the_plans() {
    let world = World::new();
    world.write("gone", "x");
    world.write("linked", "x");
    world.commit();
    world.write("untracked", "x");
    let before = world.look();
    world.write("PLAN.md", "the user goes on writing");
    assert_eq!(world.look().changes_since(&before), [""; 0]);
    // A `git status` of the user rewrites the index file. That is no change.
    world.git(&["update-index", "-q", "--refresh"]);
    assert_eq!(world.look().changes_since(&before), [""; 0]);
    world.write("src/main.rs", "fn main() { }");
    world.write("new\nline", "x");
    fs::remove_file(world.at("gone")).unwrap();
    world.git(&["add", "untracked"]);
    fs::set_permissions(world.at("linked"), fs::Permissions::from_mode(0o755)).unwrap();
    let changes = world.look().changes_since(&before);
    let expected = [
        "removed: gone",
        "changed: linked",
        "new: new\\nline",
        "changed: src/main.rs",
        "staged: untracked",
    ];
    assert_eq!(changes, expected);
    let before = world.look();
    world.git(&["checkout", "-q", "-b", "other"]);
    let changes = world.look().changes_since(&before);
    assert_eq!(changes.len(), 1);
    assert!(changes[0].starts_with("HEAD: refs/heads/main "), "{changes:?}");
    assert!(changes[0].contains("→ refs/heads/other"));
}

#[test]
fn a_change_of_a_file_that_names_programs_for_git_is_seen() {
    let world = World::new();
    world.add_submodule();
    world.write(".gitignore", ".husky/_\n");
    world.write(".husky/_/pre-commit", "");
    world.git(&["config", "core.hooksPath", ".husky/_"]);
    world.commit();
    let _ = fs::remove_dir_all(world.at(".git/hooks"));
    for (path, expected) in [
        (".git/config", "changed"),
        (".git/config.worktree", "new"),
        (".git/commondir", "new"),
        (".git/hooks/pre-commit", "new"),
        (".git/hooks/pre-commit", "changed"),
        (".git/info/attributes", "new"),
        (".git/modules/sub/config", "changed"),
        (".git/modules/sub/hooks/post-checkout", "new"),
        ("sub/.git", "changed"),
        (".husky/_/pre-commit", "changed"),
        (".husky/_/post-merge", "new"),
    ] {
        let (before, text) = (world.look(), fs::read_to_string(world.at(path)));
        world.write(path, &format!("{}\n", text.as_deref().unwrap_or_default()));
        assert_eq!(world.look().changes_since(&before), [format!("{expected}: {path}")]);
        if path == ".git/commondir" {
            fs::remove_file(world.at(path)).unwrap();
        }
    }
}

#[test]
fn a_change_of_a_file_that_names_programs_for_git_is_seen_in_a_worktree() {
    let world = World::new();
    let tree = world.path("tree");
    world.git(&["worktree", "add", "-q", tree.to_str().unwrap(), "-b", "w"]);
    let look = || Tree::look(&tree, Watched::Repository, &[]).unwrap();
    let outside = |path: &str| shown(&world.at(path));
    for (path, expected) in [
        (world.at(".git/config"), format!("changed: {}", outside(".git/config"))),
        (world.at(".git/hooks/pre-push"), format!("new: {}", outside(".git/hooks/pre-push"))),
        (
            world.at(".git/worktrees/tree/config.worktree"),
            format!("new: {}", outside(".git/worktrees/tree/config.worktree")),
        ),
        (tree.join(".git"), "changed: .git".to_owned()),
    ] {
        let (before, text) = (look(), fs::read_to_string(&path));
        put(&path, &format!("{}\n", text.as_deref().unwrap_or_default()));
        assert_eq!(look().changes_since(&before), [expected]);
    }
}

#[test]
fn a_change_that_keeps_size_and_mtime_is_seen() {
    let world = World::new();
    let before = world.look();
    let path = world.at("README.md");
    let times = path.metadata().unwrap().modified().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(20));
    world.write("README.md", "READ ME\n");
    fs::File::options().write(true).open(&path).unwrap().set_modified(times).unwrap();
    assert_eq!(world.look().changes_since(&before), ["changed: README.md"]);
}

#[test]
fn without_a_repository_the_copied_files_are_compared() {
    let world = World::bare();
    world.write("notes.txt", "x");
    let source = world.source_with(&["*.txt"]).unwrap();
    let look = || {
        Tree::look(&source.root, Watched::Files(&source.files), &[&plan_of(&source).target])
            .unwrap()
    };
    let before = look();
    world.write("PLAN.md", "x");
    world.write("other.txt", "x");
    assert_eq!(look().changes_since(&before), [""; 0]);
    world.write("notes.txt", "xy");
    assert_eq!(look().changes_since(&before), ["changed: notes.txt"]);
}

// Results.

const ID: &str = "93d8a1b2-0e66-4510-abfd-aa33b26cb82e";

#[test]
fn the_newest_version_replaces_an_unchanged_plan_and_keeps_its_mode() {
    let world = World::bare();
    let plan = world.at("PLAN.md");
    fs::set_permissions(&plan, fs::Permissions::from_mode(0o640)).unwrap();
    for _ in 0..2 {
        let written = write_back(&plan, &plan, "# Plan\n", "# Better\n", ID).unwrap();
        assert_eq!(written, Written::Replaced(plan.clone()));
    }
    assert_eq!(fs::read_to_string(&plan).unwrap(), "# Better\n");
    assert_eq!(plan.metadata().unwrap().mode() & 0o7777, 0o640);
    assert_eq!(tree_of(&world.path("project")), ["PLAN.md"]);
}

#[test]
fn a_changed_plan_stays_and_the_version_goes_beside_it() {
    let world = World::bare();
    let plan = world.at("PLAN.md");
    let write = |newest: &str| write_back(&plan, &plan, "what it was", newest, ID);
    for _ in 0..2 {
        let beside = Written::Beside(world.at("PLAN.debated.md"));
        assert_eq!(write("# Better\n").unwrap(), beside);
    }
    let beside = Written::Beside(world.at("PLAN.debated-93d8a1b2.md"));
    assert_eq!(write("# Other\n").unwrap(), beside);
    assert_eq!(write("# Third\n").unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(fs::read_to_string(&plan).unwrap(), "# Plan\n");
    assert_eq!(fs::read_to_string(world.at("PLAN.debated.md")).unwrap(), "# Better\n");
    // A plan that is gone.
    fs::remove_file(&plan).unwrap();
    assert_eq!(write("# Better\n").unwrap(), Written::Beside(world.at("PLAN.debated.md")));
}

#[test]
fn a_linked_plan_stays_a_link() {
    let world = World::bare();
    let (link, target) = (world.at("link.md"), world.path("plans/idea.md"));
    put(&target, "idea");
    symlink("../plans/idea.md", &link).unwrap();
    let written = write_back(&link, &target, "idea", "better", ID).unwrap();
    assert_eq!(written, Written::Replaced(link.clone()));
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("../plans/idea.md"));
    assert_eq!(fs::read_to_string(&target).unwrap(), "better");
    // The link leads elsewhere now, to the same text.
    put(&world.path("plans/other.md"), "better");
    fs::remove_file(&link).unwrap();
    symlink("../plans/other.md", &link).unwrap();
    let written = write_back(&link, &target, "better", "best", ID).unwrap();
    assert_eq!(written, Written::Beside(world.at("link.debated.md")));
    // A second name would be parted from the file.
    fs::hard_link(world.at("PLAN.md"), world.at("twin.md")).unwrap();
    let plan = world.at("PLAN.md");
    let written = write_back(&plan, &plan, "# Plan\n", "best", ID).unwrap();
    assert_eq!(written, Written::Beside(world.at("PLAN.debated.md")));
}

#[test]
fn a_taken_name_is_never_replaced() {
    let world = World::bare();
    let report = beside(&world.at("PLAN.md"), "debate");
    assert_eq!(report, world.at("PLAN.debate.md"));
    put(&world.path("outside"), "mine");
    symlink("../outside", &report).unwrap();
    let written = write_new(&report, "report", ID).unwrap();
    assert_eq!(written, world.at("PLAN.debate-93d8a1b2.md"));
    assert_eq!(fs::read_to_string(world.path("outside")).unwrap(), "mine");
    assert_eq!(beside(Path::new("/a/PLAN"), "debate"), Path::new("/a/PLAN.debate"));
    let odd = Path::new(OsStr::from_bytes(b"/a/\xff.md"));
    assert_eq!(beside(odd, "debate"), Path::new(OsStr::from_bytes(b"/a/\xff.debate.md")));
}

#[test]
fn a_plan_or_folder_that_is_not_writable_is_an_error() {
    if Uid::effective().is_root() {
        return; // Root may write everywhere.
    }
    let world = World::bare();
    let plan = world.at("PLAN.md");
    fs::set_permissions(&plan, fs::Permissions::from_mode(0o444)).unwrap();
    let error = write_back(&plan, &plan, "# Plan\n", "new", ID).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    fs::set_permissions(&plan, fs::Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(world.at(""), fs::Permissions::from_mode(0o555)).unwrap();
    let error = write_back(&plan, &plan, "# Plan\n", "new", ID).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    let error = write_new(&world.at("PLAN.debate.md"), "new", ID).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    fs::set_permissions(world.at(""), fs::Permissions::from_mode(0o755)).unwrap();
}
