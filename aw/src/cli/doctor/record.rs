//! Checks whether the record is unchanged, as far as two seconds allow.

use std::time::{Duration, Instant};

use super::super::connect::Connection;
use super::super::debate::{Walk, in_words};
use super::super::output::CliError;
use super::Check;
use crate::api::client::{DebateFilter, debates};
use crate::api::error::Code;
use crate::api::http::{Client, Trouble};
use crate::settings::ClientSettings;

const NAME: &str = "record";

/// The time for this check. `aw debate verify` checks the whole record.
const PATIENCE: Duration = Duration::from_secs(2);

/// Counts the debates and verifies the newest.
pub(super) fn check(settings: &ClientSettings, reached: &Connection, ends: Instant) -> Check {
    let Connection { client, token_source } = reached;
    let checked = || -> Result<Check, Trouble> {
        let list = client.once_until(&debates(&DebateFilter::default()), ends)?.data;
        let debates = match list.total {
            1 => "1 debate".to_owned(),
            total => format!("{total} debates"),
        };
        let walk = match verify(client, ends) {
            Ok(walk) => walk,
            // A seat may not verify the whole record, and an older server cannot.
            Err(trouble)
                if matches!(trouble.code(), Some(Code::Forbidden | Code::RouteNotFound)) =>
            {
                return Ok(Check::ok(NAME, &debates));
            }
            Err(trouble) => return Err(trouble),
        };
        Ok(match (&walk.first, &walk.next) {
            (Some(first), _) => Check::failed(
                NAME,
                &format!("it is damaged: {}", in_words(first)),
                "List all damage: aw debate verify. To repair it, restore the newest backup: aw server stop, then \
                 aw server restore PATH (PostgreSQL: pg_restore into an empty database)",
            ),
            (None, None) => Check::ok(NAME, &format!("{debates}, everything as it was written")),
            (None, Some(_)) => Check::ok(
                NAME,
                &format!(
                    "{debates}; the newest {} were verified and are as they were written, {} are left: aw debate verify",
                    walk.done(),
                    walk.left
                ),
            ),
        })
    };
    checked().unwrap_or_else(|trouble| {
        let problem = token_source.explained(CliError::of(trouble, client.base()), &settings.home);
        Check::of(NAME, &problem)
    })
}

fn verify(client: &Client, ends: Instant) -> Result<Walk, Trouble> {
    let began = Instant::now();
    let mut walk = Walk::default();
    loop {
        walk.add(&client.once_until(&walk.request(), ends)?);
        if walk.next.is_none() || began.elapsed() > PATIENCE {
            return Ok(walk);
        }
    }
}
