//! Checks whether the record is unchanged, as far as two seconds allow.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::super::connect::Connection;
use super::super::debate::{Walk, in_words};
use super::super::output::Problem;
use super::{failed, ok};
use crate::api::http::{Call, Client, Trouble};
use crate::settings::ClientSettings;

const NAME: &str = "record";

/// The time for this check. `aw debate verify` checks the whole record.
const PATIENCE: Duration = Duration::from_secs(2);

/// Counts the debates and verifies the newest.
pub(super) fn check(settings: &ClientSettings, reached: &Connection, ends: Instant) -> Value {
    let Connection { client, brought } = reached;
    let checked = || -> Result<Value, Trouble> {
        let list = client.once_until(Call::Get("/debates?limit=0"), ends)?;
        let debates = match list["total"].as_u64() {
            Some(1) => "1 debate".to_owned(),
            _ => format!("{} debates", list["total"]),
        };
        let walk = match verify(client, ends) {
            Ok(walk) => walk,
            // A seat may not verify the whole record, and an older server cannot.
            Err(Trouble::Refused(error))
                if error["code"] == "FORBIDDEN" || error["code"] == "ROUTE_NOT_FOUND" =>
            {
                return Ok(ok(NAME, &debates));
            }
            Err(trouble) => return Err(trouble),
        };
        Ok(match (walk.damaged.first(), &walk.next) {
            (Some(first), _) => failed(
                NAME,
                &format!("it is damaged: {}", in_words(first)),
                "List all damage: aw debate verify. To repair it, restore the newest backup: aw server stop, then \
                 aw server restore PATH (PostgreSQL: pg_restore into an empty database)",
            ),
            (None, None) => ok(NAME, &format!("{debates}, everything as it was written")),
            (None, Some(_)) => ok(
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
        let problem = brought.explained(Problem::of(trouble, client.base()), &settings.home);
        failed(NAME, &problem.message, &problem.suggestion.unwrap_or_default())
    })
}

fn verify(client: &Client, ends: Instant) -> Result<Walk, Trouble> {
    let began = Instant::now();
    let mut walk = Walk::default();
    loop {
        walk.add(&client.once_until(Call::Get(&walk.path()), ends)?);
        if walk.next.is_none() || began.elapsed() > PATIENCE {
            return Ok(walk);
        }
    }
}
