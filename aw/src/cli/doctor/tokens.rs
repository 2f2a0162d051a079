//! Checks whether the server requires tokens, and accepts the one of this user.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use super::super::connect::{Connection, TokenSource};
use super::super::output::CliError;
use super::Check;
use crate::api::client::{DebateFilter, debates, tokens};
use crate::api::error::Code;
use crate::api::http::Client;
use crate::settings::ClientSettings;

const NAME: &str = "tokens";

/// Checks the file with the administrator's token, and calls the server with and without a token.
pub(super) fn check(settings: &ClientSettings, reached: &Connection, ends: Instant) -> Check {
    let file = settings.home.admin_token_file();
    let shown = file.display();
    if fs::metadata(&file).is_ok_and(|about| about.permissions().mode() & 0o077 != 0) {
        return Check::warning(
            NAME,
            &format!("other users can read {shown}"),
            &format!("chmod 600 {shown}"),
        );
    }
    let Connection { client, token_source } = reached;
    let said = |trouble| {
        let problem = token_source.explained(CliError::of(trouble, client.base()), &settings.home);
        Check::of(NAME, &problem)
    };
    let nobody = Client::of_stranger(client.base());
    match nobody.once(&debates(&DebateFilter::default()), Duration::ZERO) {
        Ok(_) => {
            return Check::ok(
                NAME,
                "the server requires none: everybody on this machine may do everything",
            );
        }
        Err(trouble) if trouble.code() == Some(&Code::AuthFailed) => {}
        Err(trouble) => return said(trouble),
    }
    // Only an administrator may list the tokens.
    match client.once_until(&tokens(), ends) {
        Ok(_) if *token_source == TokenSource::Administrators => Check::ok(
            NAME,
            &format!(
                "the server requires one; yours is the administrator's, in {shown}, which only you can read"
            ),
        ),
        Ok(_) => Check::ok(NAME, "the server requires one; the one that is set may do everything"),
        Err(trouble) if trouble.code() == Some(&Code::Forbidden) => {
            Check::ok(NAME, "the server requires one; the one that is set is for a seat")
        }
        Err(trouble) => said(trouble),
    }
}
