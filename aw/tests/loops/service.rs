//! `aw server install` and `uninstall`.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::machine::Machine;

/// Every path in the home folder.
fn home(machine: &Machine) -> String {
    machine.sh("find $HOME -path $HOME/.aweave -prune -o -print | sort").out
}

#[test]
fn installing_a_service_writes_one_file_and_uninstalling_leaves_no_trace() {
    let machine = Machine::fresh();
    let before = home(&machine);
    let installed = machine.aw(&["server", "install"]).json();
    let file = machine.path("home").join(".config/systemd/user/aw.service");
    let data = &installed["content"][0]["data"];
    assert_eq!(data["file"], file.display().to_string());
    assert_eq!(data["run"][1], "systemctl --user enable --now aw");
    let next = installed["metadata"]["next_command"].as_str().unwrap();
    assert_eq!(next, "systemctl --user daemon-reload && systemctl --user enable --now aw");
    let unit = fs::read_to_string(&file).unwrap();
    let program = machine.path("bin").join("aw").display().to_string();
    assert!(unit.contains(&format!("ExecStart=\"{program}\" serve\n")), "{unit}");
    let again = machine.aw(&["server", "install"]).json();
    assert_eq!(again["metadata"]["message"], "The service is installed already");
    assert_eq!(fs::read_to_string(&file).unwrap(), unit);
    // While systemd starts it with the session, only systemd can undo that.
    let enabled = file.with_file_name("default.target.wants");
    fs::create_dir(&enabled).unwrap();
    symlink(&file, enabled.join("aw.service")).unwrap();
    let refused = machine.aw(&["server", "uninstall"]);
    assert_eq!(refused.code, Some(4));
    assert!(refused.out.contains("systemctl --user disable --now aw"), "{}", refused.out);
    fs::remove_dir_all(&enabled).unwrap();
    let removed = machine.aw(&["server", "uninstall"]).json();
    assert_eq!(removed["content"][0]["data"]["removed"], true);
    assert_eq!(home(&machine), before);
    let nothing = machine.aw(&["server", "uninstall"]).json();
    assert_eq!(nothing["content"][0]["data"]["removed"], false);
}

#[test]
fn the_unit_is_what_systemd_accepts() {
    let machine = Machine::fresh().with("AWEAVE_HOME", "/tmp/a b %n $HOME");
    machine.aw(&["server", "install"]).json();
    let file = machine.path("home").join(".config/systemd/user/aw.service");
    let unit = fs::read_to_string(&file).unwrap();
    assert!(unit.contains("Environment=\"AWEAVE_HOME=/tmp/a b %%n $HOME\"\n"), "{unit}");
    // Not every machine with tests has systemd.
    if let Ok(checked) = Command::new("systemd-analyze").arg("verify").arg(&file).output() {
        let said = String::from_utf8_lossy(&checked.stderr);
        assert!(!said.contains("aw.service"), "{said}");
    }
}

#[test]
fn a_service_file_of_somebody_else_stays_as_it_is() {
    let machine = Machine::fresh();
    let file = machine.path("home").join(".config/systemd/user/aw.service");
    let refused = |text: &str| {
        for command in ["install", "uninstall"] {
            let ran = machine.aw(&["server", command]);
            assert_eq!(ran.code, Some(4), "{command}: {}", ran.out);
            assert!(ran.out.contains("is not as aw server install writes it"), "{}", ran.out);
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    };
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "[Service]\nExecStart=/bin/mine\n").unwrap();
    refused("[Service]\nExecStart=/bin/mine\n");
    fs::remove_file(&file).unwrap();
    machine.aw(&["server", "install"]).json();
    let changed = fs::read_to_string(&file).unwrap().replace("RestartSec=1", "RestartSec=9");
    fs::write(&file, &changed).unwrap();
    refused(&changed);
    let elsewhere = machine.path("work").join("theirs");
    fs::rename(&file, &elsewhere).unwrap();
    symlink(&elsewhere, &file).unwrap();
    refused(&changed);
}

#[test]
fn an_agent_that_is_held_to_its_role_installs_no_service() {
    let machine = Machine::fresh().with("AW_ROLE", "opponent");
    let before = home(&machine);
    assert_eq!(machine.aw(&["server", "install"]).code, Some(6));
    assert_eq!(home(&machine), before);
}
