//! Saying it twice: what is one thing, what is two, and what a killed command leaves behind.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Instant;

use super::aw::{Aw, Debate, Ran};
use crate::world::{CEILING, new_id, text};

fn debate() -> Debate {
    Debate::about(Aw::new(), "c", &[])
}

/// Asserts that the second run found what the first had written.
#[track_caller]
fn same(first: &Ran, second: &Ran) {
    let (first, second) = (first.data(), second.data());
    assert_eq!((&first["replayed"], &second["replayed"]), (&false.into(), &true.into()));
    for name in ["argument_id", "argument_seq", "client_request_id"] {
        assert_eq!(first[name], second[name], "{name}");
    }
}

#[test]
fn the_same_command_without_a_target_writes_once_also_after_an_answer() {
    let debate = debate();
    let why = ["--role", "opponent", "--content", "Why?"];
    let first = debate.run("submit", &why);
    same(&first, &debate.run("submit", &why));
    debate.claims("proposer", &text(&first.data()["argument_id"]), "Because.", &[]).data();
    same(&first, &debate.run("submit", &why));
    assert_eq!(debate.count(), 3);
    debate.run("submit", &["--role", "opponent", "--content", "Why not?"]).data();
    assert_eq!(debate.count(), 4);
}

#[test]
fn the_same_words_to_the_same_target_are_one_argument() {
    let debate = debate();
    let first = debate.claims("opponent", &debate.motion, "Why?", &[]);
    same(&first, &debate.claims("opponent", &debate.motion, "Why?", &[]));
    debate.aw.file("why.md", "Why?");
    let file = ["--role", "opponent", "--target-id", &debate.motion, "--file", "why.md"];
    same(&first, &debate.run("submit", &file));
    assert_eq!(debate.count(), 2);
    let other = debate.claims("opponent", &debate.motion, "Why not?", &[]);
    other.refused(5, "ACTION_NOT_ALLOWED");

    let claim = first.argument();
    let answer = debate.claims("proposer", &claim, "Because.", &[]);
    same(&answer, &debate.claims("proposer", &claim, "Because.", &[]));
    // The upper case is the same id.
    same(&answer, &debate.claims("proposer", &claim.to_uppercase(), "Because.", &[]));
    let more = debate.claims("opponent", &answer.argument(), "Why?", &[]);
    assert_ne!(more.argument(), first.argument(), "to another target it is said anew");

    let appeal = ["--target-id", &more.argument(), "--content", "A or B?"];
    let appealed = debate.run("appeal", &appeal);
    same(&appealed, &debate.run("appeal", &appeal));
    let ruling = ["--target-id", &appealed.argument(), "--content", "A."];
    let ruled = debate.run("ruling", &ruling);
    same(&ruled, &debate.run("ruling", &ruling));
    let completion = ["--target-id", &ruled.argument(), "--content", "A."];
    let resolved = debate.run("request-completion", &completion);
    same(&resolved, &debate.run("request-completion", &completion));
    same(&first, &debate.claims("opponent", &debate.motion, "Why?", &[]));
    assert_eq!(debate.count(), 8, "the closing ruling is the eighth");
}

#[test]
fn a_repeated_request_id_returns_the_first_answer() {
    let debate = debate();
    let claim = debate.claims("opponent", &debate.motion, "No.", &[]).argument();
    debate.claims("proposer", &claim, "Yes.", &[]).ok();
    let again = ["--role", "opponent", "--target-id", &debate.motion, "--content", "No."];
    let id = new_id();
    let with_id: Vec<&str> = again.into_iter().chain(["--client-request-id", &id]).collect();
    let second = debate.run("submit", &with_id);
    assert_eq!(second.data()["replayed"], false);
    assert_eq!(second.data()["client_request_id"], *id);
    assert_ne!(second.argument(), claim);
    same(&second, &debate.run("submit", &with_id));
}

#[test]
fn a_create_with_its_id_is_one_debate_and_without_it_two() {
    let aw = Aw::new();
    let id = new_id();
    let create = ["debate", "create", "-t", "T", "--type", "general_debate", "--content", "c"];
    let with_id: Vec<&str> = create.into_iter().chain(["--debate-id", &id]).collect();
    same(&aw.quietly(&with_id), &aw.quietly(&with_id));
    let made = [aw.quietly(&create).data(), aw.quietly(&create).data()];
    assert_ne!(made[0]["debate_id"], made[1]["debate_id"]);
    assert_eq!(aw.quietly(&["debate", "list"]).ok()["total_count"], 3);
}

#[test]
fn an_intervention_and_a_ruling_without_a_target_are_new_each_time() {
    let debate = debate();
    let mut requests = Vec::new();
    for _ in 0..2 {
        let stopped = debate.run("intervention", &["--content", "Wait."]).data();
        let ruled = debate.run("ruling", &["--content", "Go on."]).data();
        assert_eq!((&stopped["replayed"], &ruled["replayed"]), (&false.into(), &false.into()));
        requests.extend([text(&stopped["client_request_id"]), text(&ruled["client_request_id"])]);
    }
    requests.sort();
    requests.dedup();
    assert_eq!(requests.len(), 4);
    let id = new_id();
    let stop = ["--client-request-id", id.as_str()];
    same(&debate.run("intervention", &stop), &debate.run("intervention", &stop));
}

#[test]
fn a_document_is_kept_twice_unless_its_request_has_an_id() {
    let aw = Aw::new();
    let keep = ["docs", "create", "--summary", "Plan", "--content", "One file."];
    let kept = [aw.quietly(&keep).data(), aw.quietly(&keep).data()];
    assert_ne!(kept[0]["document_id"], kept[1]["document_id"]);
    let id = new_id();
    let named: Vec<&str> = keep.into_iter().chain(["--client-request-id", &id]).collect();
    let answers = [aw.quietly(&named), aw.quietly(&named)];
    assert!(!text(&answers[0].ok()["metadata"]["message"]).contains("Nothing new"));
    assert!(text(&answers[1].ok()["metadata"]["message"]).contains("Nothing new"));
    let kept = answers.map(|answer| answer.data());
    assert_eq!(kept[0]["document_id"], kept[1]["document_id"]);
    assert_eq!((&kept[0]["replayed"], &kept[1]["replayed"]), (&false.into(), &true.into()));
    let document = text(&kept[0]["document_id"]);
    let id = new_id();
    let submit = [
        "docs",
        "submit",
        &document,
        "--summary",
        "v2",
        "--content",
        "Two.",
        "--client-request-id",
        &id,
    ];
    assert_eq!(aw.quietly(&submit).data()["version"], 2);
    assert_eq!(aw.quietly(&submit).data()["version"], 2);
    assert_eq!(aw.quietly(&["docs", "list"]).ok()["total_count"], 3);
}

/// A road to the server that loses its first answer: the request arrives, the reply never does.
fn lossy(server: SocketAddr, listener: TcpListener) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let (mut caller, _) = listener.accept().unwrap();
        let mut onward = TcpStream::connect(server).unwrap();
        let mut there = caller.try_clone().unwrap();
        let mut request = onward.try_clone().unwrap();
        thread::spawn(move || std::io::copy(&mut there, &mut request));
        // The first byte of the answer proves that the write was done.
        std::io::Read::read(&mut onward, &mut [0]).unwrap();
        // Held until the caller has gone.
        let _ = std::io::Read::read(&mut caller, &mut [0]);
    })
}

#[test]
fn a_command_that_is_killed_and_run_again_does_not_write_twice() {
    let debate = debate();
    let listener = crate::world::free_listener();
    let road = format!("http://{}", listener.local_addr().unwrap());
    let lost = lossy(debate.aw.listen, listener);
    let typed = [
        "debate",
        "submit",
        "--debate-id",
        &debate.id,
        "--role",
        "opponent",
        "--target-id",
        &debate.motion,
        "--content",
        "Said once.",
    ];
    let mut first = debate.aw.spawn(&[("DEBATE_SERVER_URL", &road)], &typed);
    let began = Instant::now();
    while debate.count() < 2 {
        assert!(began.elapsed() < CEILING, "the claim never arrived");
    }
    first.kill().unwrap();
    first.wait().unwrap();
    lost.join().unwrap();
    let again = debate.claims("opponent", &debate.motion, "Said once.", &[]);
    assert_eq!(again.data()["replayed"], true);
    assert_eq!(debate.count(), 2);
}
