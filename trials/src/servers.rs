//! Three servers on one PostgreSQL. The trial kills servers, the database and the connections for
//! notices, while clients call any of the servers.

use std::collections::HashSet;

use aw_trials::figures::Figures;
use aw_trials::record;
use aw_trials::server::Server;

use crate::Trial;
use crate::crowd::Crowd;
use crate::ground::{Ground, kill_postgres, start_postgres};

const SERVERS: usize = 3;

/// Ends the connections on which servers listen.
const DEAFEN: &str = "select pg_terminate_backend(pid) from pg_stat_activity
     where pid <> pg_backend_pid() and datname = current_database() and query ilike 'listen%'";

pub async fn run(trial: &Trial) -> Figures {
    if !trial.postgres {
        return Figures::left_out("it needs scripts/postgres scripts/trial --postgres");
    }
    let ground = Ground::new(trial).await;
    let mut dice = trial.dice();
    let mut servers: Vec<Option<Server>> =
        (0..SERVERS).map(|number| Some(ground.start(trial, number))).collect();
    // Eight clients write and eight wait.
    let mut crowd = Crowd::gather(8, &mut dice);
    let everybody = |servers: &[Option<Server>]| -> Vec<_> {
        servers.iter().flatten().map(|server| server.address).collect()
    };
    let mut count = [0; 3];
    crowd.at_any(everybody(&servers));
    while count.iter().sum::<u64>() < trial.times() {
        crowd.goes_on(20 + dice.below(80)).await;
        let blow = dice.index(3);
        count[blow] += 1;
        match blow {
            0 => {
                let number = dice.index(SERVERS);
                if let Some(server) = servers[number].take() {
                    server.kill();
                }
                crowd.at_any(everybody(&servers));
                crowd.goes_on(20).await;
                servers[number] = Some(ground.start(trial, number));
                crowd.at_any(everybody(&servers));
            }
            1 => {
                kill_postgres().await;
                tokio::time::sleep(std::time::Duration::from_millis(dice.below(1_500))).await;
                start_postgres().await;
            }
            _ => ground.command(DEAFEN).await,
        }
        crowd.goes_on(20).await;
        let any = servers.iter().flatten().next().expect("one is there");
        crowd.finds_everything(&mut any.line()).await;
    }
    // Continue until two hundred debates were held.
    while crowd.promised().iter().map(|kept| &kept.debate).collect::<HashSet<_>>().len() < 200 {
        crowd.goes_on(100).await;
    }
    crowd.leaves().await;
    for server in servers.into_iter().flatten() {
        assert_eq!(server.stop().code(), Some(0));
    }
    let kept = record::sound(&ground.file().await);
    let [killed, crashed, deafened] = count;
    Figures::default()
        .count(killed, "of three servers killed")
        .count(crashed, "times PostgreSQL killed")
        .count(deafened, "times all listeners cut off")
        .and(&crowd.account(&kept))
}
