//! Whatever is sent, the answer is in our envelope, never a fault of ours, and nothing is written.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::raw_http;
use crate::world::{Answer, World, new_id, text};

/// A body that every write of a debate accepts: each ignores what it does not know.
fn a_body(target: &str) -> Value {
    json!({
        "debate_id": new_id(), "title": "Title", "debate_type": "general_debate",
        "motion_content": "Motion", "client_request_id": new_id(), "role": "opponent",
        "target_id": target, "content": "Content", "summary": "Summary",
    })
}

/// The JSON text of a body with this field written as it stands.
fn with(body: &Value, field: &str, raw: &str) -> String {
    let mut body = body.clone();
    body[field] = json!("@@");
    body.to_string().replace("\"@@\"", raw)
}

async fn send(world: &World, path: &str, body: impl Into<reqwest::Body>) -> Answer {
    let request = world.request(Method::POST, path).header("content-type", "application/json");
    Answer::to(request.body(body)).await
}

#[tokio::test]
async fn a_body_that_is_not_the_right_json_is_invalid_input_on_every_route() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let document = world.post("/documents", json!({"summary": "s", "content": "c"})).await;
    let document = text(&document.created()["document_id"]);
    let before = world.written();
    let nested = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let of_debate = |rest: &str| format!("/debates/{}{rest}", debate.id);
    for path in [
        "/debates".to_owned(),
        of_debate("/arguments"),
        of_debate("/appeal"),
        of_debate("/resolution"),
        of_debate("/ruling"),
        of_debate("/intervention"),
        "/documents".to_owned(),
        format!("/documents/{document}/versions"),
    ] {
        for body in [
            "",
            r#"["content of a ruling", true]"#,
            "{",
            "null",
            "7",
            "\"text\"",
            "true",
            "{\"content\": }",
            "{'content': 'x'}",
            "\u{feff}{}",
            "NaN",
            "{} {}",
            "{\"content\": \"\\ud800\"}",
            "{\"content\": \"\\udc00\\ud800\"}",
            "{\"content\": \"a\u{1}b\"}",
            "{\"content\": 1}",
            "{\"content\": [\"x\"]}",
            "{\"author\": {}}",
            "{\"client_request_id\": 5}",
            &nested,
        ] {
            let answer = send(&world, &path, body.to_owned()).await;
            let error = answer.refused(400, "INVALID_INPUT");
            assert!(error["field"].is_string(), "{path}: {error}");
        }
        // Not UTF-8.
        send(&world, &path, vec![b'{', b'"', 0xff, b'"', b':', b'1', b'}'])
            .await
            .refused(400, "INVALID_INPUT");
        let garbage = format!("{}garbage", a_body(&debate.motion));
        send(&world, &path, garbage).await.refused(400, "INVALID_INPUT");
    }
    assert_eq!(world.written(), before);
}

#[tokio::test]
async fn a_body_that_is_not_utf_8_is_refused_even_where_nobody_reads_it() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let path = format!("/debates/{}/intervention", debate.id);
    let before = world.written();
    for body in [&b"{\"x\":\"\xff\"}"[..], b"{\"\xc3\":1}", b"{\"x\":[{\"y\":\"\xed\xa0\x80\"}]}"] {
        let refused = send(&world, &path, body).await.refused(400, "INVALID_INPUT");
        assert_eq!(refused["field"], "body", "{refused}");
    }
    assert_eq!(world.written(), before);
    send(&world, &path, "{\"x\":\"ế\"}").await.created();
}

#[tokio::test]
async fn a_missing_null_or_mistyped_field_is_named() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let before = world.written();
    let claim = format!("/debates/{}/arguments", debate.id);
    let appeal = format!("/debates/{}/appeal", debate.id);
    let ruling = format!("/debates/{}/ruling", debate.id);
    for (path, fields) in [
        (
            "/debates",
            &["debate_id", "title", "debate_type", "motion_content", "client_request_id"][..],
        ),
        (&claim, &["role", "target_id", "content", "client_request_id"]),
        (&appeal, &["target_id", "content", "client_request_id"]),
        (&ruling, &["content"]),
        ("/documents", &["summary", "content"]),
    ] {
        for field in fields {
            let mut body = a_body(&debate.motion);
            body.as_object_mut().unwrap().remove(*field);
            let missing = world.post(path, body.clone()).await.refused(400, "INVALID_INPUT");
            assert_eq!(missing["field"], *field, "{path}: {missing}");
            for wrong in [Value::Null, json!(7), json!(["x"]), json!({})] {
                body[*field] = wrong;
                let wrong = world.post(path, body.clone()).await.refused(400, "INVALID_INPUT");
                assert_eq!(wrong["field"], *field, "{path}: {wrong}");
            }
        }
    }
    for (path, field, wrong) in [
        (ruling.as_str(), "close", json!("yes")),
        (&ruling, "target_id", json!(4)),
        ("/debates", "resolution_policy", json!("majority")),
        ("/documents", "metadata", json!([1])),
        ("/documents", "metadata", json!("text")),
        (&claim, "role", json!("judge")),
        (&claim, "role", json!("Opponent")),
        (&claim, "role", json!("")),
    ] {
        let mut body = a_body(&debate.motion);
        body[field] = wrong;
        let error = world.post(path, body).await.refused(400, "INVALID_INPUT");
        assert_eq!(error["field"], field, "{path}: {error}");
    }
    assert_eq!(world.written(), before);
}

#[tokio::test]
async fn an_optional_field_may_be_null_and_an_unknown_one_is_ignored() {
    let world = World::start().await;
    let mut body = a_body(&new_id());
    for (field, value) in [
        ("author", Value::Null),
        ("resolution_policy", Value::Null),
        ("seat", json!({"a": [1, {"b": null}]})),
    ] {
        body[field] = value;
    }
    let created = world.post("/debates", body).await.created();
    assert_eq!(created["debate"]["resolution_policy"], "auto");
    assert_eq!(created["argument"]["author"], Value::Null);
    assert!(created["debate"].get("seat").is_none());
}

#[tokio::test]
async fn an_unknown_field_may_be_nested_deeply() {
    let world = World::start().await;
    let nested = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let answer = send(&world, "/debates", with(&a_body(&new_id()), "more", &nested)).await;
    assert!(matches!(answer.status.as_u16(), 201 | 400), "{}", answer.body);
    let nested = format!("{}1{}", "{\"a\":".repeat(10_000), "}".repeat(10_000));
    let body = with(&a_body(&new_id()), "metadata", &nested);
    let error = send(&world, "/documents", body).await.refused(400, "INVALID_INPUT");
    assert!(text(&error["field"]).starts_with("metadata"), "{error}");
}

#[tokio::test]
async fn a_doubled_key_is_refused_rather_than_guessed_at() {
    let world = World::start().await;
    let body = with(&a_body(&new_id()), "title", "\"One\", \"title\": \"Two\"");
    let error = send(&world, "/debates", body).await.refused(400, "INVALID_INPUT");
    assert_eq!(error["field"], "title");
    assert_eq!(world.written()[0], 0);
}

#[tokio::test]
async fn content_is_measured_in_bytes_and_ten_kib_fit() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let before = world.written();
    let eleven_kb = "ế".repeat(11 * 1024 / 3);
    let too_long = debate.try_claim("opponent", &debate.motion, &eleven_kb).await;
    let error = too_long.refused(413, "CONTENT_TOO_LARGE");
    assert_eq!(error["max_length"], 10_240);
    assert!(text(&error["suggestion"]).contains("aw docs"), "{error}");
    let one_more = debate.try_claim("opponent", &debate.motion, &"a".repeat(10_241)).await;
    one_more.refused(413, "CONTENT_TOO_LARGE");
    let mut body = a_body(&new_id());
    body["motion_content"] = json!(eleven_kb);
    let error = world.post("/debates", body).await.refused(413, "CONTENT_TOO_LARGE");
    assert_eq!((&error["field"], &error["max_length"]), (&json!("motion_content"), &json!(10_240)));
    let path = format!("/debates/{}/intervention", debate.id);
    world.post(&path, json!({"content": eleven_kb})).await.refused(413, "CONTENT_TOO_LARGE");
    assert_eq!(world.written(), before);

    let fits = format!("{}a", "ế".repeat(3_413));
    assert_eq!(fits.len(), 10_240);
    let kept = debate.claim("opponent", &debate.motion, &fits).await;
    assert_eq!(kept["argument"]["content"], fits);
    // Each character written as six does not make it longer.
    let escaped = "\\u0061".repeat(10_240);
    let mut body = a_body(&text(&kept["argument"]["id"]));
    body["role"] = json!("proposer");
    let path = format!("/debates/{}/arguments", debate.id);
    let escaped = format!("\"{escaped}\"");
    send(&world, &path, with(&body, "content", &escaped)).await.created();
}

#[tokio::test]
async fn text_comes_back_as_it_was_sent() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let said = "  Dòng 1\r\n\tDòng 2 \u{202e}\u{1f600} <script>&amp;\"'\\ \u{feff}e\u{301}\n";
    let kept = debate.claim("opponent", &debate.motion, said).await;
    assert_eq!(kept["argument"]["content"], said);
    assert_eq!(debate.context().await["arguments"][0]["content"], said);
}

#[tokio::test]
async fn no_text_holds_u0000() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let before = world.written();
    let nul = "\"a\\u0000b\"";
    let claim = format!("/debates/{}/arguments", debate.id);
    let intervention = format!("/debates/{}/intervention", debate.id);
    for (path, field) in [
        ("/debates", "title"),
        ("/debates", "motion_content"),
        ("/debates", "author"),
        ("/debates", "debate_type"),
        (&claim, "content"),
        (&claim, "author"),
        (&claim, "target_id"),
        (&claim, "client_request_id"),
        (&intervention, "content"),
        ("/documents", "summary"),
        ("/documents", "content"),
        ("/documents", "author"),
    ] {
        let body = with(&a_body(&debate.motion), field, nul);
        let error = send(&world, path, body).await.refused(400, "INVALID_INPUT");
        assert_eq!(error["field"], field, "{path}: {error}");
    }
    for path in ["/debates?q=a%00b", "/documents?q=%00"] {
        assert_eq!(world.get(path).await.refused(400, "INVALID_INPUT")["field"], "q");
    }
    assert_eq!(world.written(), before);
}

#[tokio::test]
async fn blank_content_is_refused_except_in_an_intervention() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let before = world.written();
    for blank in ["", " ", "\n\t ", "\u{3000}\u{a0}"] {
        for (path, field) in [
            ("/debates".to_owned(), "motion_content"),
            ("/debates".to_owned(), "title"),
            (format!("/debates/{}/arguments", debate.id), "content"),
            (format!("/debates/{}/appeal", debate.id), "content"),
            (format!("/debates/{}/resolution", debate.id), "content"),
            (format!("/debates/{}/ruling", debate.id), "content"),
            ("/documents".to_owned(), "content"),
            ("/documents".to_owned(), "summary"),
        ] {
            let mut body = a_body(&debate.motion);
            body[field] = json!(blank);
            let error = world.post(&path, body).await.refused(400, "INVALID_INPUT");
            assert_eq!(error["field"], field, "{path}");
        }
    }
    assert_eq!(world.written(), before);
    let path = format!("/debates/{}/intervention", debate.id);
    let stopped = world.post(&path, json!({"content": ""})).await.created();
    assert_eq!(stopped["argument"]["content"], "");
}

#[tokio::test]
async fn titles_labels_and_types_have_limits() {
    let world = World::start().await;
    let tries = [
        ("title", "e".repeat(201), false),
        ("title", "ế".repeat(200), true),
        ("author", "a".repeat(81), false),
        ("author", "ế".repeat(80), true),
        ("debate_type", "General".to_owned(), false),
        ("debate_type", "my_own_9".to_owned(), true),
    ];
    for (field, value, good) in tries {
        let before = world.written();
        let mut body = a_body(&new_id());
        body[field] = json!(value);
        let answer = world.post("/debates", body).await;
        if good {
            answer.created();
        } else {
            assert_eq!(answer.refused(400, "INVALID_INPUT")["field"], field, "{value}");
            assert_eq!(world.written(), before, "{value}");
        }
    }
}

#[tokio::test]
async fn upper_case_ids_are_accepted_and_kept_in_lower_case() {
    let world = World::start().await;
    let mut body = a_body(&new_id());
    let (debate, request) = (new_id(), new_id());
    body["debate_id"] = json!(debate.to_uppercase());
    body["client_request_id"] = json!(request.to_uppercase());
    let created = world.post("/debates", body.clone()).await.created();
    assert_eq!(created["debate"]["id"], debate);
    assert_eq!(created["argument"]["debate_id"], debate);
    assert_eq!(created["argument"]["client_request_id"], request);
    // The same ids in lower case are the same request.
    body["debate_id"] = json!(debate);
    body["client_request_id"] = json!(request);
    assert_eq!(world.post("/debates", body).await.ok()["replayed"], true);

    let motion = text(&created["argument"]["id"]).to_uppercase();
    let path = format!("/debates/{}", debate.to_uppercase());
    let claim = world.post(&format!("{path}/arguments"), a_body(&motion)).await.created();
    assert_eq!(claim["argument"]["parent_id"], motion.to_lowercase());
    world.get(&format!("{path}/poll?role=opponent&argument_id={motion}")).await.ok();
    assert_eq!(world.get(&path).await.ok()["debate"]["id"], debate);
}

#[tokio::test]
async fn a_malformed_id_is_refused_wherever_it_stands() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let before = world.written();
    let good = new_id();
    let malformed = [
        "x".to_owned(),
        "%20".to_owned(),
        good.replace('-', ""),
        format!("{{{good}}}"),
        format!("urn:uuid:{good}"),
        format!("{good}0"),
        good[1..].to_owned(),
        good.replacen(|c: char| c.is_ascii_hexdigit(), "g", 1),
        "a".repeat(5_000),
    ];
    for bad in &malformed {
        for path in [
            format!("/debates/{bad}"),
            format!("/debates/{bad}/poll?role=proposer"),
            format!("/debates/{bad}/wait?role=proposer"),
            format!("/debates/{bad}/export"),
            format!("/debates/{bad}/result"),
            format!("/ws?debate_id={bad}"),
        ] {
            let error = world.get(&path).await.refused(400, "INVALID_INPUT");
            assert_eq!(error["field"], "debate_id", "{path}");
            assert!(text(&error["message"]).len() < 300, "{error}");
        }
        for path in ["", "/versions", "/diff"] {
            let path = format!("/documents/{bad}{path}");
            let error = world.get(&path).await.refused(400, "INVALID_INPUT");
            assert_eq!(error["field"], "document_id", "{path}");
        }
        world.delete(&format!("/debates/{bad}")).await.refused(400, "INVALID_INPUT");
        world.delete(&format!("/documents/{bad}")).await.refused(400, "INVALID_INPUT");
        let poll = format!("/debates/{}/poll?role=proposer&argument_id={bad}", debate.id);
        let error = world.get(&poll).await.refused(400, "INVALID_INPUT");
        assert_eq!(error["field"], "argument_id");
        let claim = format!("/debates/{}/arguments", debate.id);
        let ruling = format!("/debates/{}/ruling", debate.id);
        for (path, field) in [
            ("/debates", "debate_id"),
            ("/debates", "client_request_id"),
            (&claim, "target_id"),
            (&claim, "client_request_id"),
            (&ruling, "target_id"),
            (&ruling, "client_request_id"),
            ("/documents", "client_request_id"),
        ] {
            let mut body = a_body(&debate.motion);
            body[field] = json!(bad);
            let error = world.post(path, body).await.refused(400, "INVALID_INPUT");
            assert_eq!(error["field"], field, "{path} {bad}");
        }
    }
    assert_eq!(world.written(), before);
}

#[tokio::test]
async fn an_unknown_query_value_is_refused_with_its_field() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let document = world.post("/documents", json!({"summary": "s", "content": "c"})).await;
    let document = format!("/documents/{}", text(&document.created()["document_id"]));
    let context = format!("/debates/{}", debate.id);
    let poll = format!("{context}/poll?role=proposer");
    let too_big = "18446744073709551616";
    for (path, field) in [
        ("/debates?state=OPEN".to_owned(), "state"),
        ("/debates?type=Not-A-Type".to_owned(), "type"),
        ("/debates?limit=-1".to_owned(), "limit"),
        ("/debates?limit=ten".to_owned(), "limit"),
        ("/debates?limit=1.5".to_owned(), "limit"),
        (format!("/debates?limit={too_big}"), "limit"),
        ("/debates?offset=-1".to_owned(), "offset"),
        (format!("/debates?offset={too_big}"), "offset"),
        ("/debates?before=yesterday".to_owned(), "before"),
        ("/debates?before=2026-01-01T00:00:00.000Z,x".to_owned(), "before"),
        ("/debates?needs_arbitrator=maybe".to_owned(), "needs_arbitrator"),
        ("/debates?pending_first_opponent=2".to_owned(), "pending_first_opponent"),
        ("/debates?limit=1&limit=2".to_owned(), "limit"),
        (format!("{context}?limit=-1"), "limit"),
        (format!("{context}?limit=x"), "limit"),
        (format!("{context}/export?format=pdf"), "format"),
        (format!("{context}/result?format=html"), "format"),
        (format!("{context}/poll"), "role"),
        (format!("{context}/poll?role="), "role"),
        (format!("{context}/wait?role=judge"), "role"),
        (format!("{poll}&wait=-1"), "wait"),
        (format!("{poll}&wait=NaN"), "wait"),
        (format!("{poll}&wait=-1e308"), "wait"),
        (format!("{poll}&wait=soon"), "wait"),
        (format!("{poll}&argument_id=7"), "argument_id"),
        ("/documents?limit=-1".to_owned(), "limit"),
        ("/documents?offset=x".to_owned(), "offset"),
        ("/documents?include_deleted=perhaps".to_owned(), "include_deleted"),
        (format!("{document}?version=-1"), "version"),
        (format!("{document}?version=two"), "version"),
        (format!("{document}?version={too_big}"), "version"),
        (format!("{document}/diff?from=x"), "from"),
        (format!("{document}/diff?to=-2"), "to"),
        (format!("{document}/versions?limit=x"), "limit"),
        (format!("/ws?debate_id={}&after_seq=-1", debate.id), "after_seq"),
        (format!("/ws?debate_id={}&after_seq={too_big}", debate.id), "after_seq"),
    ] {
        let error = world.get(&path).await.refused(400, "INVALID_INPUT");
        assert_eq!(error["field"], field, "{path}: {error}");
    }
}

#[tokio::test]
async fn huge_numbers_are_accepted() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let document = world.post("/documents", json!({"summary": "s", "content": "c"})).await;
    let document = format!("/documents/{}", text(&document.created()["document_id"]));
    for huge in [u64::MAX, u64::MAX - 1, i64::MAX as u64, i64::MAX as u64 + 1] {
        let list = world.get(&format!("/debates?limit={huge}")).await.ok();
        assert_eq!(list["debates"].as_array().unwrap().len(), 1);
        for path in [
            format!("/debates?limit={huge}&offset={huge}"),
            format!("/debates?q=sqlite&limit={huge}&offset={huge}"),
            format!("/debates?q=s&offset={huge}"),
        ] {
            let none = world.get(&path).await.ok();
            assert_eq!((&none["debates"], &none["total"]), (&json!([]), &json!(1)), "{path}");
        }
        let context = world.get(&format!("/debates/{}?limit={huge}", debate.id)).await.ok();
        assert_eq!(context["motion"]["seq"], 1);
        let list = world.get(&format!("/documents?limit={huge}&offset={huge}")).await.ok();
        assert_eq!(list["documents"], json!([]));
        world.get(&format!("{document}?version={huge}")).await.refused(404, "VERSION_NOT_FOUND");
        let diff = format!("{document}/diff?from={huge}&to={huge}");
        world.get(&diff).await.refused(404, "VERSION_NOT_FOUND");
        let versions = format!("{document}/versions?limit={huge}&offset={huge}");
        assert_eq!(world.get(&versions).await.ok()["versions"], json!([]));
    }
    // It is the opponent's move, so however long the wait may be, it is over at once.
    for wait in ["1e308", "18446744073709551615", "61", "0.001", "1e-300"] {
        let path = format!("/debates/{}/wait?role=opponent&wait={wait}", debate.id);
        assert_eq!(world.get(&path).await.ok()["action"], "respond", "{wait}");
    }
}

#[tokio::test]
async fn a_body_without_the_json_media_type_is_refused() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let before = world.written();
    let body = a_body(&debate.motion);
    for path in [
        "/debates".to_owned(),
        "/documents".to_owned(),
        format!("/debates/{}/arguments", debate.id),
        format!("/debates/{}/ruling", debate.id),
        format!("/debates/{}/intervention", debate.id),
    ] {
        let bare = world.request(Method::POST, &path).body(body.to_string());
        Answer::to(bare).await.refused(415, "UNSUPPORTED_MEDIA_TYPE");
        for other in
            ["text/plain", "application/x-www-form-urlencoded", "", "json", "application/jsonp"]
        {
            let request = world.request(Method::POST, &path).header("content-type", other);
            let answer = Answer::to(request.body(body.to_string())).await;
            answer.refused(415, "UNSUPPORTED_MEDIA_TYPE");
        }
    }
    assert_eq!(world.written(), before);
    for accepted in ["application/json; charset=utf-8", "Application/JSON", "application/json ;x=y"]
    {
        let request = world.request(Method::POST, "/debates").header("content-type", accepted);
        Answer::to(request.body(a_body(&new_id()).to_string())).await.created();
    }
}

#[tokio::test]
async fn a_body_that_never_ends_is_cut_off() {
    let world = World::start().await;
    let before = world.written();
    for (path, length) in [("/debates", 1 << 20), ("/documents", 40 << 20)] {
        let body = "x".repeat(length);
        let error = send(&world, path, body).await.refused(413, "CONTENT_TOO_LARGE");
        assert!(error["max_length"].as_u64().unwrap() < length as u64);
    }
    assert_eq!(world.written(), before);
}

#[tokio::test]
async fn head_is_answered_like_get_without_a_body() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    for (path, status) in [
        ("/health".to_owned(), 200),
        ("/debates".to_owned(), 200),
        (format!("/debates/{}", debate.id), 200),
        (format!("/debates/{}", new_id()), 404),
        ("/nowhere".to_owned(), 404),
        (format!("/debates/{}/arguments", debate.id), 405),
    ] {
        let answer = world.request(Method::HEAD, &path).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{path}");
        assert!(answer.bytes().await.unwrap().is_empty(), "{path}");
    }
}

#[tokio::test]
async fn percent_encoded_nonsense_is_answered_in_the_envelope() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let before = world.written();
    for part in ["%ff", "%c3%28", "%00", "%2e%2e%2f", "%zz", "%", "%e2%80%ae", "a%0d%0ab", "%25ff"]
    {
        for (method, path) in [
            ("GET", format!("/debates/{part}")),
            ("DELETE", format!("/debates/{part}")),
            ("GET", format!("/debates/{part}/poll?role=proposer")),
            ("GET", format!("/debates/{part}/wait?role=proposer")),
            ("GET", format!("/debates/{part}/export")),
            ("GET", format!("/debates/{part}/result")),
            ("POST", format!("/debates/{part}/arguments")),
            ("POST", format!("/debates/{part}/appeal")),
            ("POST", format!("/debates/{part}/resolution")),
            ("POST", format!("/debates/{part}/ruling")),
            ("POST", format!("/debates/{part}/intervention")),
            ("PUT", format!("/debates/{part}/presence")),
            ("GET", format!("/documents/{part}")),
            ("DELETE", format!("/documents/{part}")),
            ("GET", format!("/documents/{part}/versions")),
            ("POST", format!("/documents/{part}/versions")),
            ("GET", format!("/documents/{part}/diff")),
            ("GET", format!("/debates?limit={part}")),
            ("GET", format!("/debates?state={part}")),
            ("GET", format!("/ws?debate_id={part}")),
            ("GET", format!("/debates/{}/poll?role={part}", debate.id)),
        ] {
            let body = a_body(&debate.motion).to_string();
            let request = format!(
                "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\
                 content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                raw_http::address(&world),
                body.len(),
            );
            let answer = raw_http::send(&world, request.as_bytes()).await;
            let error = answer.refused(400, "INVALID_INPUT");
            assert!(error["field"].is_string(), "{path}: {error}");
        }
        let unknown = format!(
            "GET /{part} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n",
            raw_http::address(&world)
        );
        raw_http::send(&world, unknown.as_bytes()).await.refused(404, "ROUTE_NOT_FOUND");
    }
    for query in ["q=%ff%fe", "q=%", "q=%zz", "&&&=&x", "%ff=%ff", "q=a+b%20c"] {
        let answer = world.get(&format!("/debates?{query}")).await;
        assert_eq!(answer.status, StatusCode::OK, "{query}: {}", answer.body);
    }
    assert_eq!(world.written(), before);
}

#[tokio::test]
async fn an_empty_query_value_counts_as_absent() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let list = world.get("/debates?state=&type=&q=&limit=&offset=").await.ok();
    assert_eq!(list["total"], 1);
    let poll = format!("/debates/{}/poll?role=opponent&argument_id=&wait=", debate.id);
    assert_eq!(world.get(&poll).await.ok()["action"], "respond");
}
