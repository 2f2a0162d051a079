//! Receives notices from other servers, over one connection for all debates.
//!
//! A notice is passed on as soon as it arrives. If the connection drops, it is opened again, and then
//! everything counts as changed, because notices may have been missed. Over the same connection
//! servers exchange their presence once a second, which also shows that they are alive.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tokio_postgres::{AsyncMessage, Client, Error, Statement};
use uuid::Uuid;

use super::writer::decode;
use super::{Connector, DriverConnection, LOCKS, MOVING, Notice, PeerListener, session};
use crate::Sign;
use crate::presence::RoleSign;

/// How often servers exchange presence.
const BEAT: Duration = Duration::from_secs(1);

/// The longest that the database may not answer.
const SILENCE: Duration = Duration::from_secs(5);

/// The pause before a new attempt to connect.
const PAUSE: Duration = Duration::from_millis(200);

/// How many beats pass between two removals of dead servers' rows.
const SWEEP: u64 = 60;

/// Listens while the store is open. Sends on `up` once it listens.
pub(super) async fn run(
    connector: Arc<Connector>,
    peers: Arc<dyn PeerListener>,
    up: SyncSender<()>,
) {
    let mut up = Some(up);
    let mut connected_before = false;
    loop {
        match connector.dial().await {
            Ok((client, connection)) => {
                let mut connection =
                    tokio::spawn(pass_on(connection, connector.server, peers.clone()));
                if connected_before {
                    connector.reconnects.fetch_add(1, Ordering::Relaxed);
                }
                connected_before = true;
                if let Err(why) =
                    stay(&connector, &client, &mut connection, &*peers, up.take()).await
                {
                    tracing::warn!(why, "lost the connection to notices from other servers");
                }
                connector.listening.store(false, Ordering::Relaxed);
                connection.abort();
            }
            Err(error) => {
                tracing::debug!(
                    error = session::words(&error),
                    "cannot connect to notices from other servers"
                );
            }
        }
        sleep(PAUSE).await;
    }
}

/// Removes this server and its presence, because it stops.
pub(super) async fn leave(connector: &Connector) {
    let leaving = async {
        let (client, connection) = connector.dial().await?;
        let connection = tokio::spawn(connection);
        let server = connector.server.as_bytes().as_slice();
        client.execute("delete from signs where server = $1", &[&server]).await?;
        client.execute("delete from servers where id = $1", &[&server]).await?;
        drop(client);
        connection.abort();
        Ok::<(), Error>(())
    };
    if !matches!(timeout(Duration::from_secs(1), leaving).await, Ok(Ok(()))) {
        tracing::debug!("other servers will notice the stop by the missing beat");
    }
}

/// Polls the connection and passes notices on.
async fn pass_on(mut connection: DriverConnection, own: Uuid, peers: Arc<dyn PeerListener>) {
    while let Some(message) = poll_fn(|cx| connection.poll_message(cx)).await {
        match message {
            Ok(AsyncMessage::Notification(notification)) => {
                let (server, notices) = decode(notification.payload());
                // This server has already handled its own notices.
                if server != Some(own) {
                    notices.into_iter().for_each(|notice| peers.notify(notice));
                }
            }
            Ok(_) => {}
            Err(error) => {
                tracing::debug!(error = session::words(&error), "the listening connection ended");
                return;
            }
        }
    }
}

/// Exchanges presence until the connection ends; returns why it ended.
async fn stay(
    connector: &Connector,
    client: &Client,
    connection: &mut JoinHandle<()>,
    peers: &dyn PeerListener,
    up: Option<SyncSender<()>>,
) -> Result<(), String> {
    let words = |error: Error| session::words(&error);
    timeout(SILENCE, client.batch_execute("set statement_timeout = '5s'; listen aw"))
        .await
        .map_err(|_| "the database does not answer".to_owned())?
        .map_err(words)?;
    // A server that writes nothing must also prevent a move of its record.
    let joined = client.query_one(session::JOIN, &[&LOCKS, &MOVING]).await.map_err(words)?;
    if !joined.get::<_, bool>(0) {
        return Err("the record is being moved to another database".to_owned());
    }
    connector.listening.store(true, Ordering::Relaxed);
    if up.is_none_or(|up| up.try_send(()).is_err()) {
        // Notices were missed before it listened.
        peers.notify(Notice::Anything);
    }
    let signs = PresenceStatements::prepare(client, connector.server).await.map_err(words)?;
    let mut beats = interval(BEAT);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut beat = 0;
    loop {
        tokio::select! {
            _ = beats.tick() => {}
            _ = &mut *connection => return Err("the connection ended".to_owned()),
        }
        timeout(SILENCE, signs.share(client, peers, beat))
            .await
            .map_err(|_| "the database does not answer".to_owned())?
            .map_err(words)?;
        beat += 1;
    }
}

/// The statements that exchange presence.
struct PresenceStatements {
    server: Uuid,
    beat: Statement,
    tell: Statement,
    learn: Statement,
    alive: Statement,
}

impl PresenceStatements {
    async fn prepare(client: &Client, server: Uuid) -> Result<Self, Error> {
        Ok(PresenceStatements {
            server,
            beat: client
                .prepare(
                    "insert into servers (id, beat_at) values ($1, clock_timestamp())
                     on conflict (id) do update set beat_at = excluded.beat_at",
                )
                .await?,
            tell: client
                .prepare(
                    "insert into signs (server, debate_id, role, waiting, last_seen)
                     select $1, * from unnest($2::bytea[], $3::text[], $4::bool[], $5::int8[])
                     on conflict (server, debate_id, role) do update set
                         waiting = excluded.waiting, last_seen = excluded.last_seen,
                         changed_at = clock_timestamp()",
                )
                .await?,
            // Ten seconds, so that a late commit is read as well.
            learn: client
                .prepare(
                    "select server, debate_id, role, waiting, last_seen from signs
                     where server <> $1
                       and ($2 or changed_at > clock_timestamp() - interval '10 seconds')",
                )
                .await?,
            alive: client
                .prepare(
                    "select id from servers
                     where id <> $1 and beat_at > clock_timestamp() - interval '3 seconds'",
                )
                .await?,
        })
    }

    async fn share(
        &self,
        client: &Client,
        peers: &dyn PeerListener,
        beat: u64,
    ) -> Result<(), Error> {
        let own = self.server.as_bytes().as_slice();
        let first = beat == 0;
        client.execute(&self.beat, &[&own]).await?;
        let here = peers.local_signs(first);
        for some in here.chunks(1_000) {
            let ids: Vec<Uuid> = some.iter().map(|seen| seen.debate.uuid()).collect();
            let debates: Vec<&[u8]> = ids.iter().map(|id| id.as_bytes().as_slice()).collect();
            let roles: Vec<&str> = some.iter().map(|seen| seen.role.as_str()).collect();
            let waiting: Vec<bool> = some.iter().map(|seen| seen.sign.waiting).collect();
            let last: Vec<Option<i64>> =
                some.iter().map(|seen| seen.sign.last_seen.map(|at| at.0)).collect();
            client.execute(&self.tell, &[&own, &debates, &roles, &waiting, &last]).await?;
        }
        for row in client.query(&self.learn, &[&own, &first]).await? {
            let ids = (Uuid::from_slice(row.get(0)), Uuid::from_slice(row.get(1)));
            let (Ok(server), Ok(debate)) = ids else { continue };
            let Ok(role) = row.get::<_, &str>(2).parse() else { continue };
            let last_seen = row.get::<_, Option<i64>>(4).map(aw_core::Time);
            let sign = Sign { waiting: row.get(3), last_seen, working: None };
            peers.learn_sign(server, RoleSign { debate: debate.into(), role, sign });
        }
        let alive = client.query(&self.alive, &[&own]).await?;
        let alive: Vec<Uuid> =
            alive.iter().filter_map(|row| Uuid::from_slice(row.get(0)).ok()).collect();
        peers.set_alive(&alive);
        if beat % SWEEP == SWEEP - 1 {
            client
                .batch_execute(
                    "delete from servers where beat_at < clock_timestamp() - interval '1 minute';
                     delete from signs where server not in (select id from servers)
                         or (not waiting and changed_at < clock_timestamp() - interval '1 day')",
                )
                .await?;
        }
        Ok(())
    }
}
