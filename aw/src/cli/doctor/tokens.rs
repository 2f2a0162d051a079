//! Whether the server asks for tokens, and takes the one that this user has.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use super::super::connect::{Connection, TokenSource};
use super::super::output::Problem;
use super::Check;
use crate::api::client::{DebateFilter, debates, tokens};
use crate::api::error::Code;
use crate::api::http::Client;
use crate::settings::ClientSettings;

const NAME: &str = "tokens";

/// Looks at the file that has the administrator's, and asks the server with and without a token.
pub(super) fn check(settings: &ClientSettings, reached: &Connection, ends: Instant) -> Check {
    let file = settings.home.admin_token_file();
    let shown = file.display();
    if fs::metadata(&file).is_ok_and(|about| about.permissions().mode() & 0o077 != 0) {
        return Check::warning(
            NAME,
            &format!("others can read {shown}"),
            &format!("chmod 600 {shown}"),
        );
    }
    let Connection { client, brought } = reached;
    let said = |trouble| {
        let problem = brought.explained(Problem::of(trouble, client.base()), &settings.home);
        Check::of(NAME, &problem)
    };
    let nobody = Client::of_stranger(client.base());
    match nobody.once(&debates(&DebateFilter::default()), Duration::ZERO) {
        Ok(_) => {
            return Check::ok(
                NAME,
                "the server asks nobody for one: whoever is on this machine may do everything",
            );
        }
        Err(trouble) if trouble.code() == Some(&Code::AuthFailed) => {}
        Err(trouble) => return said(trouble),
    }
    // The list is for the administrator.
    match client.once_until(&tokens(), ends) {
        Ok(_) if *brought == TokenSource::Administrators => Check::ok(
            NAME,
            &format!(
                "everybody needs one; yours is the administrator's, in {shown}, which only you can read"
            ),
        ),
        Ok(_) => Check::ok(NAME, "everybody needs one; the one that is set may do everything"),
        Err(trouble) if trouble.code() == Some(&Code::Forbidden) => {
            Check::ok(NAME, "everybody needs one; the one that is set is for a seat")
        }
        Err(trouble) => said(trouble),
    }
}
