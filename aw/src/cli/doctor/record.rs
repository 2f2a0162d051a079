//! Whether the record is as it was written, as far as a short look can tell.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::super::connect::Connection;
use super::super::debate::{Walk, in_words};
use super::super::output::Problem;
use super::{failed, ok};
use crate::api::http::{Call, Client, Trouble};
use crate::settings::ClientSettings;

const NAME: &str = "record";

/// How long it looks, at most: whoever wants to know it of all has a command for that.
const PATIENCE: Duration = Duration::from_secs(2);

/// Counts the debates and verifies the newest.
pub(super) fn check(settings: &ClientSettings, reached: &Connection, ends: Instant) -> Value {
    let Connection { client, brought } = reached;
    let looked = || -> Result<Value, Trouble> {
        let list = client.once_until(Call::Get("/debates?limit=0"), ends)?;
        let debates = match list["total"].as_u64() {
            Some(1) => "1 debate".to_owned(),
            _ => format!("{} debates", list["total"]),
        };
        let walk = match look(client, ends) {
            Ok(walk) => walk,
            // A seat may not look at everything, and an older server cannot.
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
                "See all that is: aw debate verify. To mend it, restore the newest backup: aw server stop, then \
                 aw server restore PATH (PostgreSQL: pg_restore into an empty database)",
            ),
            (None, None) => ok(NAME, &format!("{debates}, everything as it was written")),
            (None, Some(_)) => ok(
                NAME,
                &format!(
                    "{debates}; the newest {} were looked at and are as they were written, {} are left: aw debate verify",
                    walk.done(),
                    walk.left
                ),
            ),
        })
    };
    looked().unwrap_or_else(|trouble| {
        let problem = brought.explained(Problem::of(trouble, client.base()), &settings.home);
        failed(NAME, &problem.message, &problem.suggestion.unwrap_or_default())
    })
}

fn look(client: &Client, ends: Instant) -> Result<Walk, Trouble> {
    let began = Instant::now();
    let mut walk = Walk::default();
    loop {
        walk.add(&client.once_until(Call::Get(&walk.path()), ends)?);
        if walk.next.is_none() || began.elapsed() > PATIENCE {
            return Ok(walk);
        }
    }
}
