//! Several servers on one PostgreSQL. Runs where `scripts/postgres` has
//! started one.

use std::fs;
use std::process::Command;
use std::time::Duration;

use reqwest::Client;
use serde_json::{Value, json};

use crate::world::driver::claim;
use crate::world::{ServerProcess, new_id, postgres};

async fn get(url: &str) -> String {
    Client::new().get(url).send().await.unwrap().text().await.unwrap()
}

async fn data(url: &str) -> Value {
    serde_json::from_str::<Value>(&get(url).await).unwrap()["data"].take()
}

async fn post(url: String, body: Value) -> Value {
    let answer = Client::new().post(url).json(&body).send().await.unwrap();
    answer.json::<Value>().await.unwrap()["data"].take()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_on_one_database_act_as_one() {
    let homes = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let Some(url) = postgres::database_of(homes[0].path()) else { return };
    // Any password will do there; it must not be seen anywhere.
    let url = url.replace("aw@", "aw:s3cret@");
    let [a, b] = homes.each_ref().map(|home| {
        ServerProcess::start_with(home.path(), |command| {
            command.env("AW_DATABASE_URL", &url);
        })
    });

    let debate = new_id();
    let opened = post(
        format!("{}/debates", a.url),
        json!({
            "debate_id": debate, "title": "Two servers?", "debate_type": "general_debate",
            "motion_content": "We run two.", "client_request_id": new_id(),
        }),
    )
    .await;
    let motion = opened["argument"]["id"].as_str().unwrap().to_owned();
    let wait =
        format!("{}/debates/{debate}/wait?role=proposer&argument_id={motion}&wait=30", b.url);
    let waiting = tokio::spawn(async move { data(&wait).await });
    while data(&format!("{}/health", b.url)).await["held_waits"] != 1 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    let claim = claim("opponent", &motion, "One is enough.");
    post(format!("{}/debates/{debate}/arguments", a.url), claim).await;
    // A waiter that is not woken gets no argument when its time is over.
    let news = waiting.await.unwrap();
    assert_eq!((&news["action"], &news["has_new_argument"]), (&json!("respond"), &json!(true)));

    let health = data(&format!("{}/health", b.url)).await;
    assert_eq!((&health["database"], &health["hears_others"]), (&json!("postgres"), &json!(true)));
    let metrics = get(&format!("{}/metrics", a.url)).await;
    for name in ["batches", "writes", "sessions", "hears_others 1", "listener_reconnects"] {
        assert!(metrics.contains(&format!("aw_database_{name}")), "{name}: {metrics}");
    }

    let home = homes[0].path();
    let typed = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_aw"));
        let done = command.args(words).env("AWEAVE_HOME", home).output().unwrap();
        String::from_utf8([done.stdout, done.stderr].concat()).unwrap()
    };
    let backup = typed(&["server", "backup", "copy.db"]);
    assert!(backup.contains("pg_dump"), "{backup}");
    let status = typed(&["server", "status"]);
    assert!(status.contains("postgres://aw@127.0.0.1"), "{status}");
    for said in [backup, status] {
        assert!(!said.contains("s3cret"), "{said}");
    }
    for entry in fs::read_dir(home).unwrap() {
        let text = fs::read(entry.unwrap().path()).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&text).contains("s3cret"));
    }
}
