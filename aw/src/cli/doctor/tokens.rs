//! Checks whether the server requires tokens, and accepts the one of this user.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::super::connect::{Connection, TokenSource};
use super::super::output::Problem;
use super::{failed, ok, warning};
use crate::api::http::{Call, Client, Trouble};
use crate::settings::ClientSettings;

const NAME: &str = "tokens";

/// Checks the file with the administrator's token, and calls the server with and without a token.
pub(super) fn check(settings: &ClientSettings, reached: &Connection, ends: Instant) -> Value {
    let file = settings.home.admin_token_file();
    let shown = file.display();
    if fs::metadata(&file).is_ok_and(|about| about.permissions().mode() & 0o077 != 0) {
        return warning(
            NAME,
            &format!("other users can read {shown}"),
            &format!("chmod 600 {shown}"),
        );
    }
    let Connection { client, brought } = reached;
    let said = |trouble| {
        let problem = brought.explained(Problem::of(trouble, client.base()), &settings.home);
        failed(NAME, &problem.message, &problem.suggestion.unwrap_or_default())
    };
    let is = |trouble: &Trouble, code: &str| matches!(trouble, Trouble::Refused(error) if error["code"] == code);
    let nobody = Client::of_stranger(client.base());
    match nobody.once(Call::Get("/debates?limit=0"), Duration::ZERO) {
        Ok(_) => {
            return ok(
                NAME,
                "the server requires none: everybody on this machine may do everything",
            );
        }
        Err(trouble) if is(&trouble, "AUTH_FAILED") => {}
        Err(trouble) => return said(trouble),
    }
    // Only an administrator may list the tokens.
    match client.once_until(Call::Get("/tokens"), ends) {
        Ok(_) if *brought == TokenSource::Administrators => ok(
            NAME,
            &format!(
                "the server requires one; yours is the administrator's, in {shown}, which only you can read"
            ),
        ),
        Ok(_) => ok(NAME, "the server requires one; the one that is set may do everything"),
        Err(trouble) if is(&trouble, "FORBIDDEN") => {
            ok(NAME, "the server requires one; the one that is set is for a seat")
        }
        Err(trouble) => said(trouble),
    }
}
