//! Checks the outcome of a debate: the server's record, and the input of the models.

use aw_core::Role;
use serde_json::Value;

use super::programs::Program;
use super::table::Table;
use crate::world::text;

/// Every argument of the one debate, in order, without a gap.
pub fn record(table: &Table) -> Vec<Value> {
    let debate = text(&table.get("/debates")["debates"][0]["id"]);
    let whole = table.get(&format!("/debates/{debate}?limit=100"));
    let mut record = vec![whole["motion"].clone()];
    record.extend(whole["arguments"].as_array().unwrap().iter().cloned());
    record.dedup_by_key(|argument| argument["seq"].clone());
    for (place, argument) in record.iter().enumerate() {
        assert_eq!(argument["seq"], place + 1, "the record has no gaps and no repeats");
    }
    record
}

/// The role and type of each argument.
pub fn kinds(record: &[Value]) -> Vec<String> {
    let kind = |argument: &Value| {
        let flags = ["parked", "automatic", "close"];
        let flags = flags.iter().filter(|flag| argument[**flag] == true).copied();
        let words = [argument["role"].as_str().unwrap(), argument["type"].as_str().unwrap()];
        words.into_iter().chain(flags).collect::<Vec<_>>().join(" ")
    };
    record.iter().map(kind).collect()
}

/// Asserts what holds after every debate.
pub fn all_is_well(table: &Table, record: &[Value], versions: u64) {
    let listed = table.get("/debates");
    let [debate] = &listed["debates"].as_array().unwrap()[..] else {
        panic!("there is one debate: {listed}");
    };
    assert_eq!(debate["state"], "CLOSED");
    every_role_has_read_the_argument_that_it_answers(table, record);
    every_version_is_cited(table, record, versions);
    the_kit_has_arrived(table);
    assert!(table.model.strays().is_empty(), "{:?}", table.model.strays());
}

/// Each text quotes the one that it answers. The opponent's texts also quote the plan.
pub fn every_role_has_read_the_argument_that_it_answers(table: &Table, record: &[Value]) {
    for argument in record {
        // What the server rules by itself came the way of the RESOLUTION.
        let role: Role = text(&argument["role"]).parse().unwrap();
        let from = if argument["automatic"] == true { Role::Proposer } else { role };
        assert_eq!(argument["via"], table.way(from), "{argument}");
        let target = record.iter().find(|other| other["id"] == argument["parent_id"]);
        let Some(target) = target.filter(|target| target["role"] != argument["role"]) else {
            continue;
        };
        if argument["automatic"] == true {
            continue;
        }
        let (said, answered) = (text(&argument["content"]), text(&target["content"]));
        let quoted = format!("In answer to: {}", answered.lines().next().unwrap());
        assert!(said.contains(&quoted), "{argument} does not quote {target}");
        let reads = argument["role"] == "opponent" && answered.contains("doc_id=");
        assert!(!reads || said.contains("Read: Keep all events in one"), "{argument}");
    }
}

/// The document has this many versions, and an argument cites each.
fn every_version_is_cited(table: &Table, record: &[Value], versions: u64) {
    let listed = table.get("/documents");
    let [document] = &listed["documents"].as_array().unwrap()[..] else {
        panic!("there is one document: {listed}");
    };
    assert_eq!(document["version"], versions, "{document}");
    for version in 1..=versions {
        let citation = format!("doc_id={} (v{version})", text(&document["document_id"]));
        assert!(record.iter().any(|argument| text(&argument["content"]).contains(&citation)));
    }
}

/// Each program listed the skills to its model and sent the requested one whole.
fn the_kit_has_arrived(table: &Table) {
    for role in &table.roles() {
        let (first, _) = table.model.heard(*role).swap_remove(0);
        for kind in Role::ALL {
            let skill = table.skill(*role, *kind);
            let about = skill.lines().find_map(|line| line.strip_prefix("description: ")).unwrap();
            assert!(
                first.instructions.contains(&format!("debate-{kind}")),
                "{}",
                first.instructions
            );
            assert!(first.instructions.contains(about), "{about} is not in {}", first.instructions);
        }
        if table.program(*role) != Program::Claude {
            assert!(
                first.instructions.contains("aw agent show proposer"),
                "{}",
                first.instructions
            );
        }
        let talk = table.talk(*role);
        let skill = table.skill(*role, *role);
        let (_, body) = skill.split_once("\n---\n").unwrap();
        for line in body.lines() {
            let read = talk.steps[0].result.contains(line) || talk.instructions.contains(line);
            assert!(read, "the {role} has not read {line}");
        }
    }
}
