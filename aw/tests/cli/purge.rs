//! `aw debate purge`: it says what is lost, asks, and removes it.

use std::fs;
use std::path::Path;

use super::aw::Aw;
use crate::world::{new_id, text};

/// A word that stands nowhere else.
const SECRET: &str = "Zweckentfremdungsverbot";

/// A person with a debate about the secret, and its id. It is closed if so.
fn with_secret(is_closed: bool) -> (Aw, String) {
    let aw = Aw::new();
    let (debate, _) = aw.opens(SECRET, SECRET, &[]);
    if is_closed {
        aw.quietly(&["debate", "intervention", &debate]).ok();
        aw.quietly(&["debate", "ruling", &debate, "--close", "--content", "Enough."]).ok();
    }
    (aw, debate)
}

/// Whether a file below this folder has the secret in any case.
fn has_secret(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return has_secret(&path);
        }
        let bytes = fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&bytes).to_lowercase().contains(&SECRET.to_lowercase())
    })
}

#[test]
fn without_a_person_it_says_what_is_lost_and_wants_yes() {
    let (aw, debate) = with_secret(true);
    let refused = aw.quietly(&["debate", "purge", &debate]).refused(4, "INVALID_INPUT");
    let message = text(&refused["error"]["message"]);
    assert!(message.contains(SECRET) && message.contains("3 arguments"), "{message}");
    let line = format!("aw debate purge {debate} --yes");
    assert_eq!(refused["error"]["suggestion"], line);
    assert!(has_secret(&aw.home()));
    let run = aw.home().join("runs").join(&debate);
    fs::create_dir_all(&run).unwrap();
    fs::write(run.join("run.json"), SECRET).unwrap();

    let purged = aw.sh(&line).ok();
    assert!(text(&purged["metadata"]["message"]).contains("3 arguments are gone"), "{purged}");
    let data = &purged["content"][0]["data"];
    assert_eq!((&data["scrubbed"], &data["run_removed"]), (&true.into(), &true.into()), "{data}");
    assert!(!has_secret(&aw.home()));
    let verified = aw.quietly(&["debate", "verify", &debate]);
    assert_eq!(verified.data()["tombstone"], data["tombstone"]);
    let message = text(&verified.ok()["metadata"]["message"]);
    assert!(message.contains("were purged"), "no text is left to be as it was: {message}");
    aw.quietly(&["debate", "verify"]).ok();
    aw.quietly(&["debate", "export", &debate]).refused(2, "DEBATE_NOT_FOUND");
    aw.quietly(&["debate", "get-context", "zweckentfremdungsverbot"])
        .refused(2, "DEBATE_NOT_FOUND");
}

#[test]
fn a_person_is_asked_once_and_only_yes_removes() {
    let (aw, debate) = with_secret(true);
    let line = "aw debate purge zweckentfremdungsverbot";
    for keys in ["n\n", "\n"] {
        let asked = aw.typing(80, line, keys);
        assert!(asked.stdout.contains("Remove it? [y/N]"), "{}", asked.stdout);
        assert!(asked.stdout.contains("nothing was removed"), "{}", asked.stdout);
    }
    assert!(has_secret(&aw.home()));
    let purged = aw.typing(80, line, "y\n");
    assert!(purged.stdout.contains("Debate purged"), "{}", purged.stdout);
    assert!(!has_secret(&aw.home()));
    aw.quietly(&["debate", "verify", &debate]).ok();
}

#[test]
fn an_open_debate_stays_until_it_is_hidden() {
    let (aw, debate) = with_secret(false);
    let purge = ["debate", "purge", &debate, "--yes"];
    let open = aw.quietly(&purge).refused(5, "ACTION_NOT_ALLOWED");
    assert_eq!(
        open["error"]["suggestion"],
        format!(
            "Close it with a ruling, or hide it first: aw debate delete --debate-id {debate} --confirm"
        )
    );
    let unasked = aw.typing(80, &format!("aw debate purge {debate}"), "y\n").stdout;
    assert!(!unasked.contains("Remove it?") && unasked.contains("is still open"), "{unasked}");
    aw.quietly(&["debate", "delete", "--debate-id", &debate, "--confirm"]).ok();
    let purged = text(&aw.quietly(&purge).ok()["metadata"]["message"]);
    assert!(purged.contains("the texts of 1 argument are gone"), "{purged}");
    assert!(!has_secret(&aw.home()));
    aw.quietly(&["debate", "purge", &new_id(), "--yes"]).refused(2, "DEBATE_NOT_FOUND");
}
