//! Names instead of ids: slugs, prefixes, numbers, `@last`, and what may be left out.

use super::aw::Aw;
use crate::world::text;

/// A debate with this title.
fn opened(aw: &Aw, title: &str) -> String {
    aw.opens(title, "We keep one file.", &[]).0
}

#[test]
fn a_debate_is_held_by_names_and_every_answer_has_whole_ids() {
    let aw = Aw::new();
    let debate = opened(&aw, "Charge retries");
    let claim = aw.quietly(&["debate", "submit", "--role", "opponent", "--content", "No."]);
    let taken = &claim.ok()["metadata"]["taken"];
    assert_eq!(taken["debate"]["debate_id"], debate.as_str());
    assert_eq!(taken["argument"]["seq"], 1);
    // The same words again are the same argument: nothing is written twice.
    let again = aw.quietly(&["debate", "submit", "--role", "opponent", "--content", "No."]);
    assert_eq!(again.data()["replayed"], true);
    assert_eq!(again.data()["argument_id"], claim.data()["argument_id"]);
    assert!(again.next().contains(&debate), "{}", again.next());

    let reply = ["--role", "proposer", "--target-id", "#2", "--content", "Yes."];
    let submit = [&["debate", "submit", "charge-retries", "--full"][..], &reply].concat();
    let reply = aw.quietly(&submit);
    assert_eq!(reply.data()["argument"]["parent_id"], claim.data()["argument_id"]);
    assert!(reply.ok()["metadata"].get("taken").is_none(), "everything was named");
    let whole = [
        "debate",
        "submit",
        "--debate-id",
        &debate,
        "--role",
        "proposer",
        "--target-id",
        &text(&claim.data()["argument_id"]),
        "--content",
        "Yes.",
    ];
    assert_eq!(aw.quietly(&whole).data()["replayed"], true, "the request id is the same");

    for name in [&debate[..4], "Charge-Retries", "@last", &debate, &debate.to_uppercase()] {
        let read = aw.quietly(&["debate", "get-context", name, "--role", "opponent"]);
        assert_eq!(read.data()["debate"]["id"], debate.as_str(), "{name}");
        assert!(read.next().contains(&debate), "{name}");
    }
    let wait = ["debate", "wait", &debate[..6], "--role", "opponent", "--argument-id", "2"];
    assert_eq!(aw.quietly(&wait).data()["argument"]["seq"], 3);
    let search = aw.quietly(&["search", "file", "--debate-id", "charge-retries"]);
    assert_eq!(search.data()["hits"][0]["debate_id"], debate.as_str());
    let export = aw.quietly(&["debate", "export", "charge-retries", "--format", "json"]);
    assert!(export.stdout.contains(&debate));
}

#[test]
fn a_name_that_does_not_fit_fails_with_the_candidates() {
    let aw = Aw::new();
    let none = aw.quietly(&["debate", "get-context"]);
    assert!(text(&none.refused(4, "INVALID_INPUT")["error"]["message"]).contains("none is open"));
    let (one, two) = (opened(&aw, "One"), opened(&aw, "Two"));
    let several = aw.quietly(&["debate", "submit", "--role", "opponent", "--content", "No."]);
    let several = several.refused(4, "INVALID_INPUT");
    let message = text(&several["error"]["message"]);
    assert!(message.contains(&one) && message.contains(&two), "{message}");
    assert_eq!(several["error"]["suggestion"], "Name one of them with --debate-id");
    aw.quietly(&["debate", "get-context", "nonsense"]).refused(2, "DEBATE_NOT_FOUND");
    let both = ["debate", "get-context", "one", "--debate-id", "two"];
    aw.quietly(&both).refused(4, "INVALID_INPUT");
    let target = ["debate", "submit", "one", "--role", "opponent", "--content", "No."];
    let far = [&target[..], &["--target-id", "#9"]].concat();
    aw.quietly(&far).refused(2, "ARGUMENT_NOT_FOUND");
    // A role that has nothing to answer yet waits.
    let early = ["debate", "submit", "one", "--role", "proposer", "--content", "And?"];
    let early = aw.quietly(&early).refused(2, "ARGUMENT_NOT_FOUND");
    let advice = text(&early["error"]["suggestion"]);
    let (_, wait) = advice.split_once(": ").unwrap();
    let waited = aw.sh(&format!("{wait} --deadline 0")).data();
    assert_eq!(waited["action"], "wait_for_opponent", "{advice}");
    // What cannot be undone never guesses.
    aw.quietly(&["debate", "delete", "--confirm"]).refused(4, "INVALID_INPUT");
    aw.quietly(&["debate", "archive"]).refused(4, "INVALID_INPUT");
    let list = aw.quietly(&["debate", "list", "--since", "yesterday"]);
    list.refused(4, "INVALID_INPUT");
}

#[test]
fn lists_show_this_repository_first_and_leave_out_what_is_archived() {
    let aw = Aw::new();
    aw.sh("git init -q -b retries && git -c user.name=A -c user.email=a@b.c commit -q --allow-empty -m x");
    let here = opened(&aw, "Here");
    aw.sh("mkdir -p ../elsewhere && cd ../elsewhere && aw debate create --title Elsewhere --type general_debate --content Yes.");
    let titles = |more: &[&str]| -> Vec<String> {
        let list = aw.quietly(&[&["debate", "list"], more].concat()).data();
        list["debates"].as_array().unwrap().iter().map(|one| text(&one["title"])).collect()
    };
    assert_eq!(titles(&[]), ["Here", "Elsewhere"]);
    assert_eq!(titles(&["--all"]), ["Elsewhere", "Here"]);
    assert_eq!(titles(&["--since", "1h", "--state", "Awaiting-Opponent"]).len(), 2);
    assert_eq!(titles(&["--outcome", "ruled"]).len(), 0);
    let listed = &aw.quietly(&["debate", "list"]).data()["debates"][0];
    assert_eq!(listed["project"]["branch"], "retries");
    assert_eq!(text(&listed["project"]["commit"]).len(), 40);
    // The only open debate of this repository is taken, whatever is open elsewhere.
    let read = aw.quietly(&["debate", "get-context"]);
    assert_eq!(read.data()["debate"]["id"], here.as_str());
    let archived = aw.quietly(&["debate", "archive", "here"]);
    assert_eq!(archived.data()["debate_id"], here.as_str());
    assert_eq!(titles(&[]), ["Elsewhere"]);
    assert_eq!(titles(&["--archived"]), ["Here"]);
    aw.quietly(&["debate", "archive", "here", "--undo"]).ok();
    assert_eq!(titles(&[]).len(), 2);
}

#[test]
fn documents_have_titles_and_equal_versions_are_not_made_twice() {
    let aw = Aw::new();
    let create = ["docs", "create", "--summary", "Plan", "--content", "# Charge plan\n\nRetry."];
    let plan = text(&aw.quietly(&create).data()["document_id"]);
    let submit = |text: &str| {
        let submit = ["docs", "submit", "charge-plan", "--summary", "v2", "--content", text];
        aw.quietly(&submit).data()
    };
    let same = submit("# Charge plan\n\nRetry.");
    assert_eq!((&same["version"], &same["replayed"]), (&1.into(), &true.into()));
    assert_eq!(submit("Twice.")["version"], 2);
    let read = aw.quietly(&["docs", "get", "@last"]);
    assert_eq!(read.data()["document_id"], plan.as_str());
    let list = aw.quietly(&["docs", "list"]).data();
    assert_eq!(list["documents"][0]["title"], "Charge plan");
    let debate = opened(&aw, "T");
    assert_eq!(aw.quietly(&["docs", "list", "--debate", "@last"]).data()["total"], 0);
    let cite = format!("See doc_id={plan} (v2).");
    aw.quietly(&["debate", "submit", "--role", "opponent", "--content", &cite]).ok();
    let cited = aw.quietly(&["docs", "list", "--debate", &debate]).data();
    assert_eq!(cited["total"], 1);
    aw.quietly(&["docs", "get", "nonsense"]).refused(2, "DOCUMENT_NOT_FOUND");
}

#[test]
fn the_status_of_the_server_counts_what_is_in_the_record() {
    let aw = Aw::new();
    opened(&aw, "Charge retries");
    let status = aw.quietly(&["server", "status"]).data();
    assert_eq!((&status["debates"], &status["documents"]), (&1.into(), &0.into()));
    assert!(status["bytes"].as_u64().unwrap() > 0, "{status}");
}
