//! Another user of the same machine: they reach the port and see the processes, and that is all.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use aw::api::client::Request;
use aw::api::http::Client;
use serde_json::Value;

use crate::loops::machine::{Machine, Ran};
use crate::world::{missing, text};

/// The user who owns nothing.
const NEIGHBOUR: u32 = 65534;

/// Somebody with an account of their own, a folder, and their own copy of `aw`.
struct Neighbour {
    folder: PathBuf,
}

impl Neighbour {
    fn on(machine: &Machine) -> Self {
        // The ways to the data folder are open: what keeps others out is what is kept there.
        for part in ["", "home", "bin", "work"] {
            fs::set_permissions(machine.path(part), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let folder = machine.path("neighbour");
        fs::create_dir(&folder).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_aw"), folder.join("aw")).unwrap();
        fs::write(folder.join("open"), "for everybody").unwrap();
        for (name, mode) in [("", 0o755), ("aw", 0o755), ("open", 0o644)] {
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        std::os::unix::fs::chown(&folder, Some(NEIGHBOUR), Some(NEIGHBOUR)).unwrap();
        let neighbour = Neighbour { folder };
        let own = neighbour.runs("cat", &[neighbour.folder.join("open").to_str().unwrap()]);
        assert_eq!(own.stdout, b"for everybody", "they can read at all");
        neighbour
    }

    fn program(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .env("HOME", &self.folder)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .uid(NEIGHBOUR)
            .gid(NEIGHBOUR);
        command
    }

    fn runs(&self, program: &str, arguments: &[&str]) -> Output {
        self.program(program, arguments).output().unwrap()
    }

    /// `aw`, with these settings.
    fn aw(&self, set: &[(&str, &str)], arguments: &[&str]) -> Ran {
        let aw = self.folder.join("aw");
        let mut command = self.program(aw.to_str().unwrap(), arguments);
        let output = command.envs(set.iter().copied()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Whether they can look into this, or change it.
    fn gets_at(&self, path: &Path) -> Vec<&'static str> {
        let name = path.to_str().unwrap();
        let ways: [(&str, &str, &[&str]); 4] = [
            ("read", "cat", &[name]),
            ("list", "ls", &[name]),
            ("append to", "sh", &["-c", "printf x >> \"$0\"", name]),
            ("put a file into", "sh", &["-c", "printf x > \"$0\"/neighbour", name]),
        ];
        let done = ways.iter().filter(|(_, program, arguments)| {
            let output = self.runs(program, arguments);
            output.status.success()
        });
        done.map(|(way, _, _)| *way).collect()
    }
}

/// Whether this process may run commands as another user.
fn can_be_another() -> bool {
    let root = fs::metadata("/proc/self").unwrap().uid() == 0;
    if !root {
        missing("another-user", "only root can run commands as another user of this machine");
    }
    root
}

/// A machine on which everything was done that leaves a file, with the umask that hides least.
fn lived_in() -> (Machine, String) {
    let machine = Machine::fresh().with("AW_AUTH", "required").with("AW_LOG", "debug");
    let opener = machine.path("bin").join("xdg-open");
    fs::write(&opener, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
    let freely = |line: &str| {
        let ran = machine.sh(&format!("umask 000 && {line}"));
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
        ran
    };
    freely("aw server start");
    let created = freely("aw debate create -t T --type general_debate --content hi").data();
    let debate = text(&created["debate_id"]);
    freely(&format!("aw debate invite --debate-id {debate} --role opponent"));
    freely(&format!("aw debate open --debate-id {debate}"));
    freely("aw docs create --summary S --content 'A plan.'");
    freely("aw token create --role arbitrator");
    freely(&format!("aw server backup {}/copy.db", machine.data().display()));
    freely("aw agent install codex --user");
    (machine, debate)
}

/// Everything in this folder, itself included.
fn tree(path: &Path) -> Vec<PathBuf> {
    let mut found = vec![path.to_owned()];
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            found.extend(tree(&entry.unwrap().path()));
        }
    }
    found
}

#[test]
fn nothing_in_the_data_folder_is_open_to_another_user() {
    if !can_be_another() {
        return;
    }
    let (machine, _) = lived_in();
    let neighbour = Neighbour::on(&machine);
    let all = tree(&machine.data());
    for name in
        ["admin_token", "debate.db", "debate.db-wal", "server.json", "server.log", "copy.db"]
    {
        assert!(all.iter().any(|path| path.ends_with(name)), "{name} is not in {all:?}");
    }
    assert!(all.iter().any(|path| path.parent().is_some_and(|folder| folder.ends_with("links"))));
    for path in &all {
        let about = fs::symlink_metadata(path).unwrap();
        let mode = about.permissions().mode() & 0o7777;
        let right = if about.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode, right, "{} is {mode:o}", path.display());
        assert_eq!(neighbour.gets_at(path), [""; 0], "{}", path.display());
    }

    // Each keeps them out by itself: a folder that its owner has opened shows names only.
    for folder in all.iter().filter(|path| path.is_dir()) {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
    for path in all.iter().filter(|path| path.is_file()) {
        let gets_at = neighbour.gets_at(path);
        assert_eq!(gets_at, ["list"], "{}", path.display());
    }
}

#[test]
fn another_user_sees_no_secret_of_the_servers_process() {
    if !can_be_another() {
        return;
    }
    let machine = Machine::fresh().with("AW_AUTH_TOKEN", "a-secret-in-the-environment");
    machine.debate();
    let neighbour = Neighbour::on(&machine);
    let process = PathBuf::from(format!("/proc/{}", machine.server()));
    for name in ["environ", "mem", "maps", "auxv", "stack", "fd/2", "cwd/x", "root/x"] {
        let path = process.join(name);
        let output = neighbour.runs("cat", &[path.to_str().unwrap()]);
        assert!(!output.status.success() && output.stdout.is_empty(), "{name}");
    }
    assert!(!neighbour.runs("ls", &[process.join("fd").to_str().unwrap()]).status.success());
    assert!(!neighbour.runs("kill", &["-0", &machine.server().to_string()]).status.success());
    let cmdline = neighbour.runs("cat", &[process.join("cmdline").to_str().unwrap()]);
    let cmdline = String::from_utf8(cmdline.stdout).unwrap();
    assert!(cmdline.contains("serve"), "that much is everybody's: {cmdline:?}");
    assert!(!cmdline.contains("secret"), "{cmdline:?}");
}

#[test]
fn another_user_needs_a_token_for_every_route_but_health() {
    if !can_be_another() {
        return;
    }
    let (machine, debate) = lived_in();
    let neighbour = Neighbour::on(&machine);
    let admin = fs::read_to_string(machine.data().join("admin_token")).unwrap();
    let client = Client::new(&machine.url(), Some(admin.trim().to_owned()));
    let before = client.call(&Request::<Value>::get(format!("/debates/{debate}"))).unwrap();

    let description = description_of(&machine, admin.trim());
    let mut doors = Vec::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            doors.push(format!("{} {}", method.to_uppercase(), path.replace("{id}", &debate)));
        }
    }
    doors.push("GET /openapi.json".to_owned());
    doors.push("POST /mcp".to_owned());
    assert!(doors.len() > 25, "{doors:?}");
    let (host, port) = machine.listen.split_once(':').unwrap();
    // With nothing but a shell.
    let knock = "exec 3<>/dev/tcp/$0/$1
        printf '%s HTTP/1.1\\r\\nHost: %s:%s\\r\\nContent-Type: application/json\\r\\n' \"$2\" $0 $1 >&3
        printf 'Content-Length: 2\\r\\nConnection: close\\r\\n\\r\\n{}' >&3
        cat <&3";
    for door in &doors {
        let output = neighbour.runs("bash", &["-c", knock, host, port, door]);
        let answer = String::from_utf8(output.stdout).unwrap();
        if door == "GET /health" {
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        } else {
            assert!(answer.starts_with("HTTP/1.1 401"), "{door}: {answer}");
            assert!(answer.contains("AUTH_FAILED"), "{door}: {answer}");
        }
    }

    // With aw itself, and every way of saying which server is meant.
    let url = machine.url();
    let commands: [&[&str]; 8] = [
        &["debate", "list"],
        &["debate", "get-context", "--debate-id", &debate],
        &["debate", "intervention", "--debate-id", &debate],
        &["debate", "wait", "--debate-id", &debate, "--role", "proposer", "--deadline", "0"],
        &["debate", "delete", "--debate-id", &debate, "--confirm"],
        &["docs", "list"],
        &["token", "create", "--role", "arbitrator"],
        &["debate", "invite", "--debate-id", &debate, "--role", "arbitrator"],
    ];
    for command in commands {
        neighbour.aw(&[("DEBATE_SERVER_URL", &url)], command).refused("AUTH_FAILED", 6);
        let guess = [("DEBATE_SERVER_URL", url.as_str()), ("DEBATE_AUTH_TOKEN", "aw_guess")];
        neighbour.aw(&guess, command).refused("AUTH_FAILED", 6);
    }
    let data = machine.data();
    let as_owner = [("AWEAVE_HOME", data.to_str().unwrap()), ("AW_LISTEN", &machine.listen)];
    for command in commands {
        let ran = neighbour.aw(&as_owner, command);
        assert!(ran.code.is_some_and(|code| code != 0), "{ran:?}");
        assert!(!ran.out.contains(admin.trim()) && !ran.err.contains(admin.trim()));
    }
    let after = client.call(&Request::<Value>::get(format!("/debates/{debate}"))).unwrap();
    assert_eq!(before.json["arguments"], after.json["arguments"]);
    assert_eq!(
        client.call(&Request::<Value>::get("/tokens")).unwrap().json["total"],
        2,
        "the two that were made"
    );
}

/// `/openapi.json`, which is no envelope.
fn description_of(machine: &Machine, token: &str) -> Value {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let url = format!("{}/openapi.json", machine.url());
        let request = reqwest::Client::new().get(url).bearer_auth(token);
        request.send().await.unwrap().json().await.unwrap()
    })
}
