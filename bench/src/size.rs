//! The size of the binary and its build time.

use std::process::Command;
use std::time::Instant;

use crate::Bench;
use crate::figures::{Figures, Promise};

pub fn measure(bench: &Bench, figures: &mut Figures) {
    let bytes = std::fs::metadata(bench.aw()).unwrap().len();
    figures.alone("binary size", "MB", bytes as f64 / 1e6, Promise::AtMost(18.0));
    if !bench.builds {
        return;
    }
    for (profile, promise) in [
        ("release", Promise::AtMost(210.0)),
        ("dist", Promise::Recorded),
        ("dev", Promise::Recorded),
    ] {
        let folder = tempfile::tempdir_in("target").unwrap();
        let began = Instant::now();
        let status = Command::new("cargo")
            .args(["build", "--quiet", "--locked", "-p", "aw", "--profile", profile])
            .arg("--target-dir")
            .arg(folder.path())
            .status()
            .unwrap();
        assert!(status.success());
        let took = began.elapsed().as_secs_f64();
        figures.alone(format!("clean build, profile {profile}"), "s", took, promise);
    }
}
