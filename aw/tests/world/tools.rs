//! Tools that some tests need and a machine may lack.

use std::env;

/// Fails a test whose tool is missing. Returns if its step was left out on purpose, so that the test can end.
#[track_caller]
pub fn missing(step: &str, why: &str) {
    let skipped = env::var("AW_SKIP").unwrap_or_default();
    assert!(
        skipped.split_whitespace().any(|name| name == step),
        "{why}. To leave these tests out, pass --skip {step} to the script, or set AW_SKIP={step}"
    );
}
