//! Seats on the command line: tokens given out and taken back, invitations, signing a browser in,
//! and the refusal of a caller without a valid token.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use super::aw::{Aw, Ran};
use crate::loops::machine::until;
use crate::world::{ServerProcess, new_id, text};

/// A home whose server asks for tokens, with a debate.
fn guarded() -> (Aw, String) {
    let aw = Aw::new();
    aw.quietly(&["server", "start", "--auth"]).ok();
    let debate = created(&aw, "Keep one SQLite file?");
    aw.call_it("DEBATE", &debate);
    (aw, debate)
}

fn created(aw: &Aw, title: &str) -> String {
    aw.opens(title, "Yes.", &[]).0
}

/// A token of this role, made by the administrator.
fn token(aw: &Aw, role: &str, more: &[&str]) -> Value {
    aw.quietly(&[&["token", "create", "--role", role], more].concat()).data()
}

/// Another person's computer, where this token is set for that server.
fn elsewhere(server: &Aw, token: &Value) -> Aw {
    let url = format!("http://{}", server.listen);
    Aw::new().set("DEBATE_SERVER_URL", &url).set("DEBATE_AUTH_TOKEN", &text(token))
}

fn tokens_come_and_go(format: &str) {
    let (aw, debate) = guarded();
    let run = |arguments: &[&str]| -> Ran {
        let ran = aw.run(&[&["token"], arguments, &["--format", format]].concat());
        // Only a failure in words is for stderr.
        if ran.code == 0 || format == "json" {
            assert_eq!(ran.stderr, "", "{ran:?}");
        }
        ran
    };
    run(&["list"]);
    run(&["create", "--role", "arbitrator"]);
    let name = "Codex | at \"An's\"";
    run(&["create", "--role", "opponent", "--debate", &debate, "--name", name, "--expires", "30d"]);
    token(&aw, "observer", &["--debate-id", &debate, "--expires", "1s", "--name", "guest"]);
    let seats = || aw.quietly(&["token", "list"]).data()["tokens"].take();
    until("the guest's is over", || seats()[0]["state"] == "expired");
    let id = text(&seats()[1]["token_id"]);
    run(&["revoke", &id]);
    let since = seats()[1]["revoked_at"].clone();
    assert_eq!(
        aw.quietly(&["token", "revoke", &id]).data()["revoked_at"],
        since,
        "since the first"
    );
    let listed = run(&["list"]);
    assert!(!listed.stdout.contains("aw_"), "no token is shown twice: {}", listed.stdout);
    run(&["revoke", &new_id()]);
    aw.transcript(&format!("tokens_{format}"));
}

#[test]
fn a_token_that_leaked_is_revoked_by_itself() {
    let (aw, _) = guarded();
    let made = token(&aw, "opponent", &[]);
    let secret = text(&made["token"]);
    let revoked = aw.quietly(&["token", "revoke", &secret]).data();
    assert_eq!(revoked["token_id"], made["token_id"]);
    assert!(revoked["revoked_at"].is_string(), "{revoked}");
    for unknown in [secret.as_str(), "aw_", "aw_nobody"] {
        let refused = aw.quietly(&["token", "revoke", unknown]).refused(4, "INVALID_INPUT");
        assert!(text(&refused["error"]["message"]).contains("no valid token"), "{refused}");
    }
    let refused = aw.quietly(&["token", "revoke", "nobody"]).refused(4, "INVALID_INPUT");
    assert_eq!(refused["error"]["message"], "there is no token nobody");
    let log = fs::read_to_string(aw.home().join("logs/server.log")).unwrap();
    assert!(!log.contains(&secret), "the token stays here");
}

#[test]
fn tokens_come_and_go_in_json() {
    tokens_come_and_go("json");
}

#[test]
fn tokens_come_and_go_in_markdown() {
    tokens_come_and_go("markdown");
}

#[test]
fn a_token_is_valid_for_its_debate_until_it_is_revoked() {
    let (aw, debate) = guarded();
    let other = created(&aw, "Something else?");
    let seat = token(&aw, "opponent", &["--debate", &debate]);
    let opponent = elsewhere(&aw, &seat["token"]);
    let on = |debate: &str, role: &str| {
        opponent.quietly(&["debate", "wait", "--debate-id", debate, "--role", role])
    };
    assert_eq!(on(&debate, "opponent").data()["action"], "respond");
    on(&debate, "proposer").refused(6, "FORBIDDEN");
    on(&other, "opponent").refused(6, "FORBIDDEN");
    opponent.quietly(&["token", "list"]).refused(6, "FORBIDDEN");
    opponent.quietly(&["token", "create", "--role", "arbitrator"]).refused(6, "FORBIDDEN");
    opponent
        .quietly(&["debate", "delete", "--debate-id", &debate, "--confirm"])
        .refused(6, "FORBIDDEN");
    aw.quietly(&["token", "revoke", &text(&seat["token_id"])]).ok();
    on(&debate, "opponent").refused(6, "AUTH_FAILED");
}

#[test]
fn a_malformed_token_is_refused_and_the_right_form_is_named() {
    let (aw, _) = guarded();
    for wrong in [
        &["--role", "judge"][..],
        &["--role", "opponent", "--expires", "30"],
        &["--role", "opponent", "--expires", "0d"],
        &["--role", "opponent", "--expires", "99999d"],
        &["--role", "opponent", "--name", "two\nlines"],
        &[],
    ] {
        aw.run(&[&["token", "create"], wrong].concat()).refused(4, "INVALID_INPUT");
    }
    for nowhere in [new_id().as_str(), "93d8"] {
        let nowhere = ["token", "create", "--role", "opponent", "--debate", nowhere];
        aw.run(&nowhere).refused(2, "DEBATE_NOT_FOUND");
    }
    aw.transcript("tokens_refused");
    assert_eq!(aw.quietly(&["token", "list"]).ok()["total_count"], 0);
}

fn an_invitation(format: &str) {
    let (aw, debate) = guarded();
    let invite = |more: &[&str]| {
        let all = [&["debate", "invite", "--debate-id", &debate], more, &["--format", format]];
        aw.run(&all.concat())
    };
    invite(&["--role", "opponent", "--name", "Codex at An's"]);
    invite(&["--role", "observer", "--expires", "12h"]);
    aw.transcript(&format!("invite_{format}"));
}

#[test]
fn an_invitation_in_json() {
    an_invitation("json");
}

#[test]
fn an_invitation_in_markdown() {
    an_invitation("markdown");
}

#[test]
fn an_invitation_seats_an_agent_on_another_machine_in_this_debate_only() {
    let (aw, debate) = guarded();
    let other = created(&aw, "Something else?");
    for role in ["proposer", "opponent", "arbitrator", "observer"] {
        let typed = ["debate", "invite", "--debate-id", &debate, "--role", role];
        let invitation = aw.quietly(&typed).data();
        let lines: Vec<String> = invitation["shell"].as_array().unwrap().iter().map(text).collect();
        let there = Aw::new();
        let context = there.sh(&lines.join("\n")).data();
        assert_eq!(context["debate"]["id"], debate, "{role}");
        let token = text(&invitation["token"]);
        let shown = text(&invitation["to_agent"]);
        let command = shown.split('`').nth(1).unwrap();
        assert!(!command.contains(&token), "{command}");
        let there = elsewhere(&aw, &invitation["token"]);
        assert_eq!(there.sh(command).code, 0, "{command}");
        let foreign = ["debate", "get-context", "--debate-id", &other];
        there.quietly(&foreign).refused(6, "FORBIDDEN");
        assert_eq!(invitation["mcp"]["header"], format!("Authorization: Bearer {token}"));
    }
}

#[test]
fn an_invitation_names_the_address_by_which_others_know_the_server() {
    let aw =
        Aw::new().set("AW_AUTH", "required").set("AW_PUBLIC_URL", "https://debates.example.org");
    let debate = created(&aw, "T");
    let invite = ["debate", "invite", "--debate-id", &debate, "--role", "opponent"];
    let whole = aw.quietly(&invite).ok();
    let data = &whole["content"][0]["data"];
    assert_eq!(data["server_url"], "https://debates.example.org");
    assert_eq!(data["mcp"]["url"], "https://debates.example.org/mcp?role=opponent");
    assert!(whole["metadata"]["warning"].is_null(), "{whole}");

    let aw = aw.set("AW_PUBLIC_URL", "http://debates.example.org");
    aw.quietly(&["server", "restart"]).ok();
    let warning = text(&aw.quietly(&invite).ok()["metadata"]["warning"]);
    assert!(warning.contains("https"), "it can be read on the way: {warning}");

    // A restart takes tokens away only when that is set.
    let aw = aw.set("AW_PUBLIC_URL", "").set("AW_AUTH", "");
    aw.quietly(&["server", "restart"]).ok();
    assert_eq!(aw.quietly(&["server", "status"]).data()["auth"], "required");
    let aw = aw.set("AW_AUTH", "off");
    aw.quietly(&["server", "restart"]).ok();
    let warning = text(&aw.quietly(&invite).ok()["metadata"]["warning"]);
    for part in
        ["requires no token", "aw server restart --auth", "this machine only", "AW_PUBLIC_URL"]
    {
        assert!(warning.contains(part), "{part:?} is not in {warning:?}");
    }
}

#[test]
fn a_refusal_without_a_valid_token_names_the_file_and_the_variable() {
    let (aw, _) = guarded();
    let url = format!("http://{}", aw.listen);
    let listed = |aw: &Aw| aw.run(&["debate", "list", "--format", "markdown"]);
    listed(&aw);
    // Somebody else's computer, with nothing and with the wrong thing.
    let other = Aw::new().set("DEBATE_SERVER_URL", &url);
    aw.note(&other.quietly(&["debate", "list"]));
    let other = other.set("DEBATE_AUTH_TOKEN", "aw_wrong");
    aw.note(&other.quietly(&["debate", "list", "--format", "markdown"]));
    // The file of the folder was changed, or taken away, while the server runs.
    let file = aw.home().join("admin_token");
    fs::write(&file, "aw_changed").unwrap();
    listed(&aw);
    fs::remove_file(&file).unwrap();
    listed(&aw);
    aw.quietly(&["server", "restart"]).ok();
    assert_eq!(listed(&aw).code, 0);
    let transcript_home = other.home();
    aw.call_it(
        "[elsewhere]",
        transcript_home.parent().unwrap().parent().unwrap().to_str().unwrap(),
    );
    aw.transcript("tokens_missing");
}

#[test]
fn a_server_that_was_started_with_auth_requires_tokens() {
    let aw = Aw::new();
    aw.run(&["server", "start", "--format", "markdown"]);
    aw.run(&["server", "start", "--auth", "--format", "markdown"]);
    let auth = || text(&aw.quietly(&["server", "status"]).data()["auth"]);
    assert_eq!(auth(), "off");
    aw.run(&["server", "restart", "--auth", "--format", "markdown"]);
    assert_eq!(auth(), "required");
    aw.quietly(&["server", "restart"]).ok();
    assert_eq!(auth(), "required", "a restart does not open what was closed");
    aw.quietly(&["server", "stop"]).ok();
    aw.quietly(&["server", "start"]).ok();
    assert_eq!(auth(), "off");
    aw.quietly(&["server", "stop"]).ok();
    aw.config("auth = 'required'");
    aw.quietly(&["debate", "list"]).ok();
    assert_eq!(auth(), "required", "one that a command started goes by the settings");
    aw.transcript("server_auth");
}

#[test]
fn a_server_does_not_keep_the_token_of_the_caller_that_started_it() {
    let aw = Aw::new().set("DEBATE_AUTH_TOKEN", "aw_of_a_seat");
    aw.quietly(&["debate", "list"]).ok();
    let pid = aw.quietly(&["server", "status"]).data()["pid"].clone();
    let kept = fs::read(format!("/proc/{pid}/environ")).unwrap();
    assert!(!String::from_utf8_lossy(&kept).contains("aw_of_a_seat"));
}

#[test]
fn the_doctor_reports_on_tokens() {
    let aw = Aw::new();
    let look = || aw.run(&["doctor", "--format", "markdown"]);
    aw.quietly(&["debate", "list"]).ok();
    look();
    aw.quietly(&["server", "restart", "--auth"]).ok();
    look();
    let file = aw.home().join("admin_token");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    look();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let seat = token(&aw, "observer", &[]);
    let seated = elsewhere(&aw, &seat["token"]);
    aw.note(&seated.quietly(&["doctor", "--format", "markdown"]));
    let stranger = seated.set("DEBATE_AUTH_TOKEN", "");
    aw.note(&stranger.quietly(&["doctor", "--format", "markdown"]));
    aw.call_it(
        "[elsewhere]",
        stranger.home().parent().unwrap().parent().unwrap().to_str().unwrap(),
    );
    aw.transcript("doctor_of_tokens");
}

/// A browser that notes what it was started with.
fn with_browser() -> Aw {
    let aw = Aw::new();
    aw.program("xdg-open", "printf '%s\\n' \"$@\" > opened.new && mv opened.new opened");
    aw
}

/// What the browser was started with.
fn opened(aw: &Aw) -> String {
    let note = aw.desk().join("opened");
    until("the browser was started", || note.exists());
    let said = fs::read_to_string(&note).unwrap();
    fs::remove_file(note).unwrap();
    said.trim_end().to_owned()
}

#[test]
fn a_browser_that_does_not_open_is_reported() {
    for auth in [&[][..], &["--auth"]] {
        let aw = Aw::new();
        aw.quietly(&[&["server", "start"], auth].concat()).ok();
        for (opener, opened) in [("exit 0", true), ("exit 3", false), ("kill -9 $$", false)] {
            aw.program("xdg-open", opener);
            let answer = aw.quietly(&["debate", "open"]).ok();
            assert_eq!(answer["content"][0]["data"]["opened"], opened, "{opener}");
            let message = text(&answer["metadata"]["message"]);
            assert_eq!(message.starts_with("Opened"), opened, "{message}");
            assert_eq!(message.starts_with("Open this address"), !opened, "{message}");
        }
    }
}

#[test]
fn a_browser_is_signed_in_by_a_link_that_no_list_of_processes_shows() {
    let aw = with_browser();
    aw.quietly(&["server", "start", "--auth"]).ok();
    let debate = created(&aw, "T");
    let answer = aw.quietly(&["debate", "open", "--debate-id", &debate]).ok();
    let data = &answer["content"][0]["data"];
    let url = text(&data["url"]);
    let code = url.split("code=").nth(1).unwrap().split('&').next().unwrap().to_owned();
    assert!(url.starts_with(&format!("http://{}/sign-in/link?code=aw_", aw.listen)), "{url}");
    assert!(url.ends_with(&debate), "{url}");
    assert!(text(&answer["metadata"]["message"]).contains("works once"), "{answer}");

    let file = opened(&aw);
    assert!(!file.contains(&code), "{file}");
    let file = Path::new(&file);
    assert!(file.starts_with(aw.home()), "{}", file.display());
    for (path, mode) in [(file, 0o600), (file.parent().unwrap(), 0o700)] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, mode);
    }
    let page = fs::read_to_string(file).unwrap();
    assert!(page.contains(&url.replace('&', "&amp;")), "{page}");

    aw.quietly(&["debate", "open"]).ok();
    let other = opened(&aw);
    assert_ne!(Path::new(&other), file, "two who open at once do not meet");
}

#[test]
fn without_tokens_a_browser_gets_the_plain_address() {
    let aw = with_browser();
    let debate = created(&aw, "T");
    let data = aw.quietly(&["debate", "open", "--debate-id", &debate]).data();
    let url = format!("http://{}/debate/{debate}", aw.listen);
    assert_eq!(data, json!({"url": url, "opened": true}));
    assert_eq!(opened(&aw), url);
    assert!(!aw.home().join("links").exists());
}

#[test]
fn a_shared_token_signs_in_too_and_is_not_in_the_link() {
    let home = tempfile::tempdir().unwrap();
    let server = ServerProcess::start_with(home.path(), |command| {
        command.env("AW_AUTH_TOKEN", "open-sesame");
    });
    let aw = Aw::new().set("DEBATE_SERVER_URL", &server.url).set("AW_AUTH_TOKEN", "open-sesame");
    let url = text(&aw.quietly(&["debate", "open"]).data()["url"]);
    assert!(url.contains("/sign-in/link?code=aw_") && !url.contains("sesame"), "{url}");
}
