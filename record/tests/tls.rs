//! TLS to PostgreSQL.

use aw_record::{OpenError, Place, Store, StoreOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::postgres::Database;
use crate::world::World;

/// The authority that issued the database's certificate, which is for `localhost` only.
fn authority() -> String {
    std::env::var("AW_TEST_POSTGRES_CA").unwrap()
}

fn place(database: &Database, host: &str, parameters: &str) -> Place {
    let server = database.server.replace("127.0.0.1", host);
    format!("{server}/{}?{parameters}", database.name).parse().unwrap()
}

/// The error of opening this place, which must come at once.
async fn refused(place: Place) -> String {
    let opening = tokio::task::spawn_blocking(move || Store::open(&StoreOptions::at(place)));
    let opened = tokio::time::timeout(std::time::Duration::from_secs(10), opening);
    match opened.await.expect("it fails at once").unwrap() {
        Err(OpenError::Postgres { why, .. }) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_connection_uses_tls_as_the_url_requires() {
    let Some(database) = Database::new() else { return };
    let authority = authority();
    for (host, parameters, encrypted) in [
        ("127.0.0.1", "sslmode=disable", false),
        ("127.0.0.1", "", true),
        ("127.0.0.1", "sslmode=require", true),
        ("127.0.0.1", &format!("sslmode=require&sslrootcert={authority}"), true),
        ("127.0.0.1", &format!("sslmode=verify-ca&sslrootcert={authority}"), true),
        ("localhost", &format!("sslrootcert={authority}&sslmode=verify-full"), true),
    ] {
        let world = World::at_place(place(&database, host, parameters), |_| {});
        let (debate, motion) = world.opens("Keep one file?").await;
        world.exchanges(debate, motion, 3).await;
        let seen = "select bool_and(ssl), bool_or(ssl), count(*) from pg_stat_ssl
            join pg_stat_activity using (pid)
            where datname = current_database() and application_name = 'aw'";
        let row = database.ask(seen).await;
        let (all, any, count): (bool, bool, i64) = (row.get(0), row.get(1), row.get(2));
        assert_eq!((all, any), (encrypted, encrypted), "{host} {parameters}");
        assert!(count >= 3, "a reader, a writer and a listener: {count}");
        world.engine.close().await;
        drop(world);
        database.wait_until_left().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_the_required_certificate_is_refused_at_once() {
    let Some(database) = Database::new() else { return };
    let authority = authority();
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "").unwrap();
    let (empty, missing) = (empty.display(), folder.path().join("missing.pem"));
    for (host, parameters, why) in [
        ("127.0.0.1", format!("sslmode=verify-full&sslrootcert={authority}"), "not valid for name"),
        ("localhost", "sslmode=verify-full".to_owned(), "UnknownIssuer"),
        ("127.0.0.1", "sslmode=verify-ca".to_owned(), "UnknownIssuer"),
        ("127.0.0.1", "sslmode=verify-ca&sslrootcert=system".to_owned(), "UnknownIssuer"),
        ("localhost", format!("sslmode=verify-full&sslrootcert={empty}"), "no certificate in it"),
        ("localhost", format!("sslmode=require&sslrootcert={}", missing.display()), "missing.pem"),
    ] {
        let failure = refused(place(&database, host, &parameters)).await;
        assert!(failure.contains(why), "{host} {parameters}: {failure}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_without_tls_gets_no_password_if_tls_is_required() {
    let plain = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = plain.local_addr().unwrap().port();
    let heard = tokio::spawn(async move {
        let (mut client, _) = plain.accept().await.unwrap();
        let mut asked = [0; 8];
        client.read_exact(&mut asked).await.unwrap();
        client.write_all(b"N").await.unwrap();
        let mut rest = Vec::new();
        client.read_to_end(&mut rest).await.unwrap();
        rest
    });
    let url = format!("postgres://an:s3cret@127.0.0.1:{port}/debates?sslmode=require");
    let failure = refused(url.parse().unwrap()).await;
    assert!(failure.contains("does not support TLS"), "{failure}");
    assert_eq!(heard.await.unwrap(), b"", "nothing follows");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn channel_binding_works() {
    let Some(database) = Database::new() else { return };
    // scripts/postgres accepts this role only with a password and TLS.
    let made = "do $$ begin create role aw_bound superuser login password 's3cret';
        exception when duplicate_object then null; end $$";
    database.tell(made).await.unwrap();
    let (_, host) = database.server.rsplit_once('@').unwrap();
    let url = |password: &str, parameters: &str| {
        format!("postgres://aw_bound:{password}@{host}/{}?{parameters}", database.name)
    };
    let bound = url("s3cret", "sslmode=require&channel_binding=require");
    let world = World::at_place(bound.parse().unwrap(), |_| {});
    world.opens("Keep one file?").await;
    let failure = refused(url("wrong", "sslmode=require").parse().unwrap()).await;
    assert!(failure.contains("password") && !failure.contains("wrong"), "{failure}");
}
