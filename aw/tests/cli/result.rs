//! `aw debate result`: the report of a debate, printed or written to a file.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use super::aw::Aw;
use crate::world::{postgres, text};

const PLAN: &str = "1. The worker retries the POST up to 3 times.";

/// A debate with a point that waits for the arbitrator.
struct Debate {
    aw: Aw,
    id: String,
}

impl Debate {
    fn appealed() -> Self {
        let aw = Aw::new();
        let kept = aw.quietly(&["docs", "create", "--summary", "Plan", "--content", PLAN]).data();
        let motion = format!("Please examine doc_id={} (v1).", text(&kept["document_id"]));
        let made = ["debate", "create", "-t", "Retries", "--type", "general_debate", "--points"];
        let made = aw.quietly(&[&made[..], &["--content", &motion]].concat()).data();
        let debate = Debate { aw, id: text(&made["debate_id"]) };
        let claim = format!("### NEW [major] It charges twice\n> {PLAN}\nSend a key.");
        let claim = ["--role", "opponent", "--content", &claim, "--author", "codex"];
        let target = text(&made["argument_id"]);
        let claimed = debate.run("submit", &[&["--target-id", &target][..], &claim].concat());
        let target = claimed.argument();
        debate.run("appeal", &["--target-id", &target, "--content", "1. Yes 2. No"]).ok();
        debate
    }

    fn closed() -> Self {
        let debate = Self::appealed();
        debate.closes();
        debate
    }

    fn closes(&self) {
        let dismissed = ["--dismiss", "P1", "--content", "The gateway has one.", "--close"];
        self.run("ruling", &dismissed).ok();
    }

    fn run(&self, command: &str, rest: &[&str]) -> super::aw::Ran {
        self.aw.quietly(&[&["debate", command, "--debate-id", &self.id], rest].concat())
    }

    /// How often the server was asked for a debate.
    fn asked(&self) -> u64 {
        let mut socket = TcpStream::connect(self.aw.listen).unwrap();
        let request = format!(
            "GET /metrics HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n",
            self.aw.listen
        );
        socket.write_all(request.as_bytes()).unwrap();
        let mut metrics = String::new();
        socket.read_to_string(&mut metrics).unwrap();
        let counts = metrics.lines().filter(|line| {
            line.starts_with("aw_http_requests_total") && line.contains("\"/debates/{id}\"")
        });
        counts.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
    }

    /// The report in each format.
    fn reports(&self, aw: &Aw) -> Vec<String> {
        let formats = ["markdown", "madr", "json"].into_iter();
        let print = |format| {
            let ran =
                aw.quietly(&["debate", "result", "--debate-id", &self.id, "--format", format]);
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
            ran.stdout
        };
        formats.map(print).collect()
    }
}

#[test]
fn the_same_record_gives_the_same_bytes_on_another_server_and_after_a_move() {
    let debate = Debate::closed();
    let first = debate.reports(&debate.aw);
    assert!(first[0].contains("| P1 | major | It charges twice | dismissed |"), "{}", first[0]);
    let copy = debate.aw.desk().join("copy.db");
    debate.aw.quietly(&["server", "backup", copy.to_str().unwrap()]).ok();
    let other = Aw::new().set("AW_DATABASE_URL", copy.to_str().unwrap());
    assert_eq!(debate.reports(&other), first);

    debate.aw.quietly(&["server", "stop"]);
    let file = debate.aw.home().join("db/debate.db");
    let moved = debate.aw.desk().join("moved.db");
    let mut places = vec![moved.to_str().unwrap().to_owned()];
    let folder = tempfile::tempdir().unwrap();
    places.extend(postgres::database_of(folder.path()));
    for place in places {
        let migrate = ["server", "migrate", "--from", file.to_str().unwrap(), "--to", &place];
        debate.aw.quietly(&migrate).ok();
        let there = Aw::new().set("AW_DATABASE_URL", &place);
        assert_eq!(debate.reports(&there), first, "{place}");
    }
}

#[test]
fn a_report_can_wait_until_the_debate_is_closed() {
    let debate = Debate::appealed();
    let open = debate.run("result", &[]);
    assert!(open.stdout.contains("Still open: waiting for the arbitrator since "), "{open:?}");
    let asked = debate.asked();
    let mut waiting =
        debate.aw.spawn(&[], &["debate", "result", "--debate-id", &debate.id, "--wait"]);
    while debate.asked() < asked + 3 {
        assert!(waiting.try_wait().unwrap().is_none(), "it waits");
    }
    debate.closes();
    let mut printed = String::new();
    waiting.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert!(waiting.wait().unwrap().success());
    assert_eq!(printed, debate.run("result", &["--wait"]).stdout);
    assert!(printed.contains("Closed by ruling on "), "{printed}");
}

#[test]
fn a_report_is_written_through_links_of_the_user_but_not_of_the_repository() {
    let debate = Debate::closed();
    let desk = debate.aw.desk();
    let outside = tempfile::tempdir().unwrap();
    for (link, to) in [("docs", outside.path()), ("hooks", Path::new(".git/hooks"))] {
        symlink(to, desk.join(link)).unwrap();
    }
    let git = |arguments: &[&str]| {
        let done = Command::new("git").arg("-C").arg(&desk).args(arguments).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "--quiet"]);
    debate.run("result", &["--output", "docs/own.md"]).data();
    git(&["add", "docs", "hooks"]);
    for (link, file) in [("docs", "docs/x.md"), ("hooks", "hooks/pre-commit")] {
        let refused = debate.run("result", &["--output", file]).refused(4, "INVALID_INPUT");
        let link = desk.canonicalize().unwrap().join(link);
        let reason = format!("the link {} of this repository leads out of it", link.display());
        assert_eq!(refused["error"]["message"], format!("{file} cannot be written: {reason}"));
        let run = ["debate", "run", "plan.md", "--output", file];
        debate.aw.file("plan.md", "A plan.");
        let refused = debate.aw.quietly(&run).refused(4, "INVALID_INPUT");
        assert_eq!(refused["error"]["message"], format!("--output: {reason}"));
    }
    let kept: Vec<_> =
        outside.path().read_dir().unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(kept, ["own.md"]);
}

#[test]
fn a_report_is_written_to_a_file_but_not_through_a_link() {
    let debate = Debate::closed();
    let desk = debate.aw.desk();
    for command in ["result", "export"] {
        let printed = debate.run(command, &[]).stdout;
        debate.aw.file("report.md", "Older.");
        let written = debate.run(command, &["--output", "report.md"]).data();
        assert_eq!(written["bytes"], printed.len());
        assert_eq!(fs::read_to_string(desk.join("report.md")).unwrap(), printed);
        debate.aw.file("theirs", "Keep me.");
        let _ = fs::remove_file(desk.join("link.md"));
        symlink("theirs", desk.join("link.md")).unwrap();
        let refused = debate.run(command, &["--output", "link.md"]).refused(4, "INVALID_INPUT");
        assert_eq!(refused["error"]["message"], "link.md cannot be written: it is a link");
        assert_eq!(fs::read_to_string(desk.join("theirs")).unwrap(), "Keep me.");
    }
    debate.run("result", &["--format", "pdf"]).refused(4, "INVALID_INPUT");
    let nobody = uuid::Uuid::new_v4().to_string();
    let unknown = debate.aw.quietly(&["debate", "result", "--debate-id", &nobody, "--wait"]);
    unknown.refused(2, "DEBATE_NOT_FOUND");
}
