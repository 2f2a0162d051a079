//! Documents: versions that never change, and the citations that tie them to debates.

use std::time::Duration;

use serde_json::{Value, json};

use crate::world::{World, new_id, text};

/// A document in a world.
struct Kept<'a> {
    world: &'a World,
    id: String,
}

impl Kept<'_> {
    async fn create<'a>(world: &'a World, summary: &str, content: &str) -> Kept<'a> {
        let body = json!({"summary": summary, "content": content});
        let created = world.post("/documents", body).await.created();
        Kept { world, id: text(&created["document_id"]) }
    }

    fn path(&self, rest: &str) -> String {
        format!("/documents/{}{rest}", self.id)
    }

    async fn submit(&self, summary: &str, content: &str) -> Value {
        let body = json!({"summary": summary, "content": content});
        self.world.post(&self.path("/versions"), body).await.created()
    }

    async fn delete(&self) {
        self.world.delete(&self.path("")).await.ok();
    }
}

fn summaries(list: &Value) -> Vec<String> {
    list["documents"].as_array().unwrap().iter().map(|d| text(&d["summary"])).collect()
}

#[tokio::test]
async fn a_document_is_kept_version_by_version() {
    let world = World::start().await;
    let metadata = json!({"tags": ["a", {"b": null}], "số": 1.5, "zz": true, "aa": {}});
    let body = json!({
        "summary": "The plan", "content": "one\ntwo\n", "author": "An", "metadata": metadata,
        "client_request_id": new_id(),
    });
    let first = world.post("/documents", body).await.created();
    let id = text(&first["document_id"]);
    let version = |number: u64, summary: &str, author: Value, metadata: Value, at: &str| {
        json!({
            "document_id": id, "version": number, "summary": summary, "author": author,
            "metadata": metadata, "created_at": at,
        })
    };
    let and = |mut value: Value, more: Value| {
        value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        value
    };
    let one = version(1, "The plan", json!("An"), metadata, "2026-01-01T00:00:00.000Z");
    assert_eq!(first, and(one.clone(), json!({"replayed": false})));
    assert_eq!(uuid::Uuid::parse_str(&id).unwrap().get_version_num(), 7);

    world.pass(Duration::from_secs(1));
    let body = json!({"summary": "Shorter", "content": "one\n"});
    let second = world.post(&format!("/documents/{id}/versions"), body).await.created();
    let two = version(2, "Shorter", Value::Null, json!({}), "2026-01-01T00:00:01.000Z");
    assert_eq!(second, and(two.clone(), json!({"replayed": false})));

    for (query, version, content) in
        [("", &two, "one\n"), ("?version=1", &one, "one\ntwo\n"), ("?version=2", &two, "one\n")]
    {
        let read = world.get(&format!("/documents/{id}{query}")).await.ok();
        let more = json!({"content": content, "newest_version": 2, "deleted_at": null});
        assert_eq!(read, and(version.clone(), more), "{query}");
    }
    let versions = world.get(&format!("/documents/{id}/versions")).await.ok();
    assert_eq!(
        versions,
        json!({"document_id": id, "versions": [two, one], "total": 2, "deleted_at": null})
    );
    let list = world.get("/documents").await.ok();
    assert_eq!(
        list,
        json!({
            "documents": [{
                "document_id": id, "version": 2, "summary": "Shorter",
                "created_at": "2026-01-01T00:00:01.000Z", "deleted_at": null,
            }],
            "total": 1,
            "total_is_exact": true,
        })
    );
}

#[tokio::test]
async fn a_diff_shows_what_changed_between_two_versions() {
    let world = World::start().await;
    let document = Kept::create(&world, "v1", "one\ntwo\nthree\n").await;
    let nothing_before = world.get(&document.path("/diff")).await.ok();
    assert_eq!(nothing_before, json!({"document_id": document.id, "from": 1, "to": 1, "diff": ""}));
    document.submit("v2", "one\n2\nthree\n").await;
    document.submit("v3", "one\n2\nthree\nfour\n").await;
    // The same text is a version of its own only with other data.
    let body = json!({"summary": "v4", "content": "one\n2\nthree\nfour\n", "metadata": {"a": 1}});
    world.post(&document.path("/versions"), body).await.created();
    let diff = async |query: &str| world.get(&document.path(&format!("/diff{query}"))).await.ok();

    let chosen = diff("?from=1&to=2").await;
    let text = "--- v1\n+++ v2\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
    assert_eq!(chosen, json!({"document_id": document.id, "from": 1, "to": 2, "diff": text}));
    let default = diff("").await;
    assert_eq!((&default["from"], &default["to"]), (&json!(3), &json!(4)));
    assert_eq!(default["diff"], "", "nothing changed");
    let to = diff("?to=3").await;
    assert_eq!((&to["from"], &to["to"]), (&json!(2), &json!(3)));
    assert_eq!(to["diff"], "--- v2\n+++ v3\n@@ -1,3 +1,4 @@\n one\n 2\n three\n+four\n");
    let from = diff("?from=1").await;
    assert_eq!((&from["from"], &from["to"]), (&json!(1), &json!(4)));
    let backwards = diff("?from=3&to=2").await;
    assert_eq!(backwards["diff"], "--- v3\n+++ v2\n@@ -1,4 +1,3 @@\n one\n 2\n three\n-four\n");
    assert_eq!(diff("?from=2&to=2").await["diff"], "");
}

#[tokio::test]
async fn a_deleted_document_can_still_be_asked_for() {
    let world = World::start().await;
    let document = Kept::create(&world, "Gone", "text").await;
    document.submit("Gone too", "more").await;
    Kept::create(&world, "Here", "text").await;
    world.pass(Duration::from_secs(3));
    let deleted = world.delete(&document.path("")).await.ok();
    assert_eq!(deleted, json!({"deleted": true}));
    let at = "2026-01-01T00:00:03.000Z";
    let read = world.get(&document.path("?include_deleted=true")).await.ok();
    assert_eq!((&read["content"], &read["deleted_at"]), (&json!("more"), &json!(at)));
    let old = world.get(&document.path("?version=1&include_deleted=true")).await.ok();
    assert_eq!(old["content"], "text");
    let versions = world.get(&document.path("/versions?include_deleted=1")).await.ok();
    assert_eq!((&versions["total"], &versions["deleted_at"]), (&json!(2), &json!(at)));

    let list = world.get("/documents").await.ok();
    assert_eq!((summaries(&list), &list["total"]), (vec!["Here".to_owned()], &json!(1)));
    let list = world.get("/documents?include_deleted=true").await.ok();
    assert_eq!(list["total"], 2);
    let gone = list["documents"].as_array().unwrap().iter().find(|d| d["summary"] == "Gone too");
    assert_eq!(gone.unwrap()["deleted_at"], at);
}

#[tokio::test]
async fn a_document_sent_again_is_the_same_document() {
    let world = World::start().await;
    let body = json!({
        "summary": "s", "content": "c", "metadata": {"b": 1, "a": 2}, "client_request_id": new_id(),
    });
    let first = world.post("/documents", body.clone()).await.created();
    let id = text(&first["document_id"]);
    let next = json!({"summary": "s2", "content": "c2", "client_request_id": new_id()});
    let path = format!("/documents/{id}/versions");
    let second = world.post(&path, next.clone()).await.created();
    assert_eq!(second["version"], 2);
    let before = world.written();
    world.pass(Duration::from_secs(1));
    for (path, body, first) in [("/documents", &body, &first), (&path, &next, &second)] {
        let mut again = world.post(path, body.clone()).await.ok();
        assert_eq!(again["replayed"], true, "{path}");
        again["replayed"] = json!(false);
        assert_eq!(again, *first, "{path}");
        let mut different = body.clone();
        different["content"] = json!("x");
        let error = world.post(path, different).await.refused(400, "INVALID_INPUT");
        assert_eq!(error["field"], "client_request_id", "{path}");
    }
    assert_eq!(world.written(), before);
    // Without an id every request is a new one.
    let bare = json!({"summary": "s", "content": "c"});
    let one = world.post("/documents", bare.clone()).await.created();
    let two = world.post("/documents", bare).await.created();
    assert_ne!(one["document_id"], two["document_id"]);
}

#[tokio::test]
async fn five_mebibytes_fit_and_one_byte_more_does_not() {
    let world = World::start().await;
    let most = 5 * 1024 * 1024;
    let content = "a\n".repeat(most / 2);
    let body = json!({"summary": "s", "content": content});
    let kept = world.post("/documents", body).await.created();
    let path = format!("/documents/{}", text(&kept["document_id"]));
    assert_eq!(world.get(&path).await.ok()["content"].as_str().unwrap().len(), most);
    let before = world.written();
    let body = json!({"summary": "s", "content": format!("{content}b")});
    for path in ["/documents".to_owned(), format!("{path}/versions")] {
        let error = world.post(&path, body.clone()).await.refused(413, "CONTENT_TOO_LARGE");
        assert_eq!((&error["max_length"], &error["field"]), (&json!(most), &json!("content")));
    }
    assert_eq!(world.written(), before);
}

#[tokio::test]
async fn a_debate_lists_its_documents_with_the_version_meant() {
    let world = World::start().await;
    let plan = Kept::create(&world, "Plan 1", "1").await;
    plan.submit("Plan 2", "2").await;
    let motion = format!("Kế hoạch: doc_id={} (v1)", plan.id);
    let debate = world.debate_with("Plan?", json!({"motion_content": motion})).await;
    let cited = |deleted_at: Option<&str>| {
        json!([{
            "document_id": plan.id, "version": 1, "summary": "Plan 1", "deleted_at": deleted_at,
        }])
    };
    assert_eq!(debate.context().await["documents"], cited(None));
    world.pass(Duration::from_secs(1));
    plan.delete().await;
    assert_eq!(debate.context().await["documents"], cited(Some("2026-01-01T00:00:01.000Z")));
    // A reading in part lists them all the same.
    let part = world.get(&format!("/debates/{}?limit=0", debate.id)).await.ok();
    assert_eq!(part["documents"].as_array().unwrap().len(), 1);
}
