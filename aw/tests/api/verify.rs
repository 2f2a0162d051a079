//! Verifying the record over the API, and an export by a separate program.

use std::io::Write;
use std::process::{Command, Stdio};

use reqwest::Method;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::world::driver::{claim, id, reply};
use crate::world::page_client::see;
use crate::world::{Answer, Socket, World, new_id};

/// A connection to the record that its triggers do not stop.
fn burglar(world: &World) -> Connection {
    let db = world.database();
    let triggers: Vec<String> = db
        .prepare("select name from sqlite_schema where type = 'trigger'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    for trigger in triggers {
        db.execute_batch(&format!("drop trigger {trigger}")).unwrap();
    }
    db
}

#[tokio::test]
async fn an_unchanged_debate_is_verified_with_its_hashes() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let claim = debate.claim("opponent", &debate.motion, "No.").await;
    let export = world.get(&format!("/debates/{}/export?format=json", debate.id)).await.body;
    let verified = world.get(&format!("/debates/{}/verify", debate.id)).await.ok();
    assert_eq!(
        verified,
        json!({
            "ok": true,
            "debate_id": debate.id,
            "arguments": 2,
            "first_hash": export["arguments"][0]["hash"],
            "head_hash": claim["argument"]["hash"],
            "seal": export["seal"],
        })
    );
    let all = world.get("/verify").await.ok();
    assert_eq!(
        all,
        json!({
            "verified_debates": 1, "verified_arguments": 2, "verified_documents": 0,
            "verified_versions": 0, "damaged": [], "left": 0, "next": null,
        })
    );
}

#[tokio::test]
async fn a_changed_argument_is_named_with_its_debate_and_its_place() {
    let world = World::in_file().await;
    let sound = world.debate("Sound").await;
    let damaged = world.debate("Damaged").await;
    let claim = damaged.claim("opponent", &damaged.motion, "Once so.").await;
    let target = claim["argument"]["id"].as_str().unwrap();
    damaged.claim("proposer", target, "Answered.").await;
    burglar(&world)
        .execute("update arguments set content = 'Now so.' where content = 'Once so.'", [])
        .unwrap();

    let path = format!("/debates/{}/verify", damaged.id);
    let error = world.get(&path).await.refused(500, "RECORD_DAMAGED");
    assert_eq!((&error["debate_id"], &error["seq"]), (&json!(damaged.id), &json!(2)));
    let has = |value: &Value, words: &str| value.as_str().unwrap().contains(words);
    assert!(has(&error["message"], "argument 2"), "{error}");
    assert!(has(&error["suggestion"], "aw debate verify"), "{error}");
    assert!(has(&error["suggestion"], "aw server restore"), "{error}");
    let all = world.get("/verify").await.ok();
    assert_eq!(all["verified_debates"], 2);
    let named = &all["damaged"][0];
    assert_eq!((&named["debate_id"], &named["seq"]), (&json!(damaged.id), &json!(2)));
    assert_eq!(all["damaged"].as_array().unwrap().len(), 1);
    world.get(&format!("/debates/{}/verify", sound.id)).await.ok();
}

#[tokio::test]
async fn a_changed_version_is_named_with_its_document() {
    let world = World::in_file().await;
    let body = json!({"summary": "Plan", "content": "One.", "client_request_id": new_id()});
    let kept = world.post("/documents", body).await.created();
    burglar(&world).execute("update document_versions set content = 'Two.'", []).unwrap();
    let all = world.get("/verify").await.ok();
    let named = &all["damaged"][0];
    assert_eq!(named["document_id"], kept["document_id"]);
    assert_eq!((&named["version"], named.get("seq")), (&json!(1), None));
}

#[tokio::test]
async fn an_unknown_debate_cannot_be_verified() {
    let world = World::start().await;
    let debate = world.debate("Never mind").await;
    let path = format!("/debates/{}/verify", debate.id);
    world.delete(&format!("/debates/{}", debate.id)).await.ok();
    assert!(world.get(&path).await.refused(404, "DEBATE_NOT_FOUND")["deleted_at"].is_string());
    assert_eq!(world.get("/verify").await.ok()["verified_debates"], 1, "the walk goes over it");
    world.get(&format!("/debates/{}/verify", new_id())).await.refused(404, "DEBATE_NOT_FOUND");
    let wrong = world.get("/verify?after=yesterday").await.refused(400, "INVALID_INPUT");
    assert_eq!(wrong["field"], "after");
}

#[tokio::test]
async fn an_export_is_checked_by_the_program_in_the_documents() {
    let world = World::start().await;
    let texts = json!({
        "title": "Contract", "description": "Clause by clause",
        "proposer": "Đề xuất.", "opponent": "Phản biện.", "arbitrator": "Phân xử.",
    });
    let own = json!({"debate_type": "legal", "type_texts": texts, "author": "An \u{1f600}"});
    let debate = world.debate_with("Ký \"hợp đồng\"?", own).await;
    let claim = debate.claim("opponent", &debate.motion, "Đang viết dở.\nDòng hai.").await;
    let target = claim["argument"]["id"].as_str().unwrap();
    debate.ask("resolution", target, "Agreed.").await.created();
    let path = format!("/debates/{}/export?format=json", debate.id);
    let export = world.get(&path).await.body;
    let verified = world.get(&format!("/debates/{}/verify", debate.id)).await.ok();
    let (whole, said) = checked(&export);
    assert!(whole, "{said}");
    assert!(said.contains(verified["head_hash"].as_str().unwrap()), "{said}");

    for (place, value) in [
        ("/arguments/1/content", json!("x")),
        ("/arguments/2/seat", json!("x")),
        ("/arguments/3/close", json!(false)),
        ("/debate/title", json!("x")),
        ("/type_texts/opponent", json!("x")),
    ] {
        let mut changed = export.clone();
        *changed.pointer_mut(place).unwrap() = value;
        let (whole, said) = checked(&changed);
        assert!(!whole, "{place}: {said}");
    }
}

#[tokio::test]
async fn what_the_runner_posts_is_verified_and_shown_in_plain_words() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let path = |rest: &str| format!("/debates/{}{rest}", debate.id);
    let run = async |rest: &str, body: Value| {
        let request = world.request(Method::POST, &path(rest)).header("aw-via", "run");
        Answer::to(request.json(&body)).await.created()
    };
    let claimed = run("/arguments", claim("opponent", &debate.motion, "No.")).await;
    run("/appeal", reply(&id(&claimed), "Who is right?")).await;
    run("/ruling", json!({"content": "Go on."})).await;
    run("/intervention", json!({})).await;

    world.get(&path("/verify")).await.ok();
    let (whole, said) = checked(&world.get(&path("/export?format=json")).await.body);
    assert!(whole, "{said}");
    let page = format!("/debate/{}", debate.id);
    for (path, language, by) in [
        (&page, "en", "by an agent that aw debate run started"),
        (&page, "vi", "do một agent mà aw debate run đã chạy"),
        (&path("/export?format=html"), "en", "by an agent that aw debate run started"),
        (&path("/export?format=markdown"), "en", "by an agent that aw debate run started"),
    ] {
        let shown = see(&world, path, &[("accept-language", language)]).await.body;
        assert_eq!(shown.matches(by).count(), 4, "{path}, {language}: {shown}");
        let [ruled, stopped] = match language {
            "vi" => ["ruling", "dừng"],
            _ => ["ruled", "stopped"],
        };
        for word in [ruled, stopped] {
            assert_eq!(shown.matches(&format!("{word} {by}")).count(), 1, "{path}, {language}");
        }
    }
}

#[tokio::test]
async fn the_program_in_the_documents_checks_the_settings_of_points() {
    let world = World::start().await;
    let settings = json!({"points": {"rounds": 3, "blocking": "critical"}});
    let debate = world.debate_with("Keep one SQLite file?", settings).await;
    debate.claim("opponent", &debate.motion, "### NEW [minor] Why?\nNobody says.").await;
    let export = world.get(&format!("/debates/{}/export?format=json", debate.id)).await.body;
    let (whole, said) = checked(&export);
    assert!(whole, "{said}");
    for (place, value) in [
        ("/debate/points/rounds", json!(4)),
        ("/debate/points/blocking", json!("major")),
        ("/debate/points", json!(null)),
        ("/points_form", json!(2)),
    ] {
        let mut changed = export.clone();
        *changed.pointer_mut(place).unwrap() = value;
        let (whole, said) = checked(&changed);
        assert!(!whole, "{place}: {said}");
    }
}

#[tokio::test]
async fn a_purged_debate_is_gone_everywhere_and_its_tombstone_verifies() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let path = format!("/debates/{}/purge", debate.id);
    let open = world.post(&path, json!({"confirm": true})).await.refused(403, "ACTION_NOT_ALLOWED");
    assert_eq!(open["current_state"], "AWAITING_OPPONENT");
    debate.intervene().await;
    debate.rule(json!({"content": "Enough.", "close": true})).await;
    let export = world.get(&format!("/debates/{}/export?format=json", debate.id)).await.body;
    let unsure = world.post(&path, json!({"confirm": false})).await.refused(400, "INVALID_INPUT");
    assert_eq!(unsure["field"], "confirm");
    let preview = world.get(&path).await.ok();
    assert_eq!((&preview["arguments"], &preview["title"]), (&json!(3), &export["debate"]["title"]));

    let (mut socket, _) = Socket::of(&world, &debate.id).await;
    let purged = world.post(&path, json!({"confirm": true})).await.ok();
    assert_eq!(socket.hears("debate_deleted").await, json!({"debate_id": debate.id}));
    assert_eq!(purged["tombstone"]["head_hash"], export["arguments"][2]["hash"]);
    let mut verified = world.get(&format!("/debates/{}/verify", debate.id)).await.ok();
    assert_eq!(
        (&verified["tombstone"], &verified["seal"]),
        (&purged["tombstone"], &export["seal"])
    );
    let (whole, said) = checked(&verified);
    assert!(whole && said.contains("purged"), "{said}");
    verified["tombstone"]["arguments"] = json!(2);
    assert!(!checked(&verified).0);

    for read in ["", "/export", "/result", "/poll?role=opponent", "/points"] {
        let path = format!("/debates/{}{read}", debate.id);
        let gone = world.get(&path).await.refused(404, "DEBATE_NOT_FOUND");
        assert!(gone["deleted_at"].is_string(), "{read}: {gone}");
    }
    assert_eq!(world.get("/debates").await.ok()["total"], 0);
    let title = "/resolve?debate=keep-one-sqlite-file";
    world.get(title).await.refused(404, "DEBATE_NOT_FOUND");
    let page = see(&world, &format!("/debate/{}", debate.id), &[]).await;
    assert_eq!(page.status, 404);
    assert!(!page.body.contains("SQLite"), "{}", page.body);
    assert_eq!(world.get("/verify").await.ok()["damaged"], json!([]));
}

/// Whether the program in `docs/record.md` finds an export to be whole, and what it says.
fn checked(export: &Value) -> (bool, String) {
    let page = include_str!("../../../docs/record.md");
    let program = page.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    let mut python = Command::new("python3")
        .args(["-c", program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    python.stdin.take().unwrap().write_all(export.to_string().as_bytes()).unwrap();
    let ended = python.wait_with_output().unwrap();
    let said = [ended.stdout, ended.stderr].concat();
    (ended.status.success(), String::from_utf8(said).unwrap())
}
