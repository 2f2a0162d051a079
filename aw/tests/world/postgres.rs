//! The PostgreSQL that `scripts/postgres` started, if any: then the tests use it.

use std::fs;
use std::path::Path;
use std::thread;

use tempfile::TempDir;
use tokio::runtime::Builder;
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

/// Says of a folder that its record is in a file all the same.
const IN_FILE: &str = "in-a-file";

/// A folder for a story about the file itself.
pub fn folder_with_file() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(IN_FILE), "").unwrap();
    folder
}

/// The database of a data folder, made on first use; none if the record is in a file.
pub fn database_of(folder: &Path) -> Option<String> {
    let address = std::env::var("AW_TEST_POSTGRES_URL").ok().filter(|url| !url.is_empty())?;
    if folder.join(IN_FILE).exists() {
        return None;
    }
    let noted = folder.join("database-url");
    if let Ok(known) = fs::read_to_string(&noted) {
        return Some(known);
    }
    let name = format!("aw_{}", Uuid::now_v7().simple());
    let create = format!("create database {name}");
    let made = address.replace("/postgres?", &format!("/{name}?"));
    ask(&address, async move |client| client.batch_execute(&create).await.unwrap());
    fs::write(noted, &made).unwrap();
    Some(made)
}

/// The first row that a query finds, all of which are numbers.
pub fn numbers(address: &str, sql: &str) -> Vec<i64> {
    let sql = sql.to_owned();
    ask(address, async move |client| {
        let row = client.query_one(&sql, &[]).await.unwrap();
        (0..row.len()).map(|column| row.get(column)).collect()
    })
}

/// A story has a runtime already.
fn ask<T: Send + 'static>(
    address: &str,
    asks: impl AsyncFnOnce(Client) -> T + Send + 'static,
) -> T {
    let address = address.to_owned();
    let asking = thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&address, NoTls).await.unwrap();
            tokio::spawn(connection);
            asks(client).await
        })
    });
    asking.join().unwrap()
}
