//! Counts instructions with callgrind, which do not depend on load.
//!
//! The example `exact` repeats an operation; the cost of one is the difference between two runs.

use std::collections::BTreeMap;
use std::process::{Command, exit};

use crate::Bench;
use crate::figures::number;

/// The recorded counts.
const RECORD: &str = "bench/exact.json";

/// The allowed deviation.
const ALLOWED: f64 = 0.2;

pub fn compare(bench: &Bench) {
    if !Bench::finds("valgrind") {
        eprintln!("bench: callgrind is needed: apt-get install valgrind");
        exit(1);
    }
    let recorded = std::fs::read_to_string(RECORD).unwrap_or_else(|_| "{}".to_owned());
    let mut recorded: BTreeMap<String, f64> = serde_json::from_str(&recorded).unwrap();
    let mut off = Vec::new();
    println!("instructions   counted   on record   ratio");
    for thing in ["submit", "poll", "context", "plain", "points"] {
        let counted = (count(bench, thing, 1_200) - count(bench, thing, 200)) / 1_000.0;
        if bench.record {
            recorded.insert(thing.to_owned(), counted.round());
        }
        let Some(before) = recorded.get(thing) else {
            println!("{thing:<12} {:>9}           -", number(counted));
            off.push(thing);
            continue;
        };
        let ratio = counted / before;
        println!("{thing:<12} {:>9} {:>11} {ratio:>7.2}", number(counted), number(*before));
        if (ratio - 1.0).abs() > ALLOWED {
            off.push(thing);
        }
    }
    if bench.record {
        std::fs::write(RECORD, serde_json::to_string_pretty(&recorded).unwrap() + "\n").unwrap();
    } else if !off.is_empty() {
        println!("More than 20 % off: {}. If that is meant, --exact --record.", off.join(", "));
        exit(1);
    }
}

/// The number of instructions of a run.
fn count(bench: &Bench, thing: &str, times: u32) -> f64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(bench.limit("exact"))
        .args([thing, &times.to_string()])
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{report}");
    let (_, collected) = report.split_once("Collected : ").expect("callgrind counts");
    collected.split_whitespace().next().unwrap().parse().unwrap()
}
