//! Answers that are sent piece by piece: what they say, what room they take, how they end.

use std::time::Duration;

use aw::settings::{Guard, Limits};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::sleep;

use crate::world::driver::seqs;
use crate::world::{DebateFor, Socket, World, eventually, in_time, new_id, text};

/// An argument that is longer than a piece.
const LONG: usize = 250_000;

fn limits() -> Limits {
    Limits { content_bytes: 256 * 1024, ..Limits::default() }
}

/// A text of this length that is not said twice.
fn words(number: usize) -> String {
    let text = format!("Word {number}: \"quoted\"\n\n> and more\u{1} ");
    text.repeat(LONG.div_ceil(text.len()))
}

/// A debate of many long arguments: MOTION, then a CLAIM of each side in turn.
async fn long_debate(world: &World, claims: usize) -> DebateFor<'_> {
    let debate = world.debate("Who reads all this?").await;
    let mut target = debate.motion.clone();
    for number in 0..claims {
        let role = ["opponent", "proposer"][number % 2];
        let claim = debate.claim(role, &target, &words(number)).await;
        target = text(&claim["argument"]["id"]);
    }
    debate
}

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[tokio::test]
async fn a_long_debate_is_answered_in_the_same_form_as_a_short_one() {
    let world = World::with(Guard::default(), limits()).await;
    let short = world.debate("Short").await;
    let plan = json!({"summary": "Plan", "content": "Steps."});
    let plan = text(&world.post("/documents", plan).await.created()["document_id"]);
    let debate = long_debate(&world, 6).await;
    let newest = text(&debate.context().await["arguments"][5]["id"]);
    let cites = format!("doc_id={plan} {}", words(6));
    debate.claim("opponent", &newest, &cites).await;
    debate.intervene().await.created();
    debate.rule(json!({"content": words(7)})).await.created();

    let path = format!("/debates/{}", debate.id);
    let answer = world.get(&path).await;
    assert_eq!(answer.headers["content-type"], "application/json");
    let whole = answer.ok();
    assert_eq!(keys(&whole), keys(&short.context().await));
    assert_eq!(seqs(&whole["arguments"]), (2..=10).collect::<Vec<_>>());
    assert_eq!(whole["arguments"][3]["content"], words(3));
    assert_eq!((&whole["rulings"], &whole["motion"]["seq"]), (&json!([]), &json!(1)));
    assert_eq!(whole["documents"][0]["document_id"], plan.as_str());
    let newest = world.get(&format!("{path}?limit=2")).await.ok();
    assert_eq!((seqs(&newest["arguments"]), seqs(&newest["rulings"])), (vec![9, 10], vec![]));
    let motion = world.get(&format!("{path}?limit=0")).await.ok();
    assert_eq!((seqs(&motion["arguments"]), seqs(&motion["rulings"])), (vec![], vec![10]));

    let (_socket, begin) = Socket::of(&world, &debate.id).await;
    assert_eq!(keys(&begin), ["debate", "arguments", "presence"]);
    let mut all = vec![whole["motion"].clone()];
    all.extend(whole["arguments"].as_array().unwrap().clone());
    assert_eq!(begin["arguments"], json!(all));
    let export = Answer::raw(&world, &format!("{path}/export?format=json")).await;
    let export: Value = serde_json::from_str(&export).unwrap();
    assert_eq!(keys(&export), ["debate", "arguments", "documents", "type_texts", "seal"]);
    // The export has the text of the document too.
    let mut documents = whole["documents"].clone();
    documents[0]["content"] = export["documents"][0]["content"].clone();
    assert!(documents[0]["content"].is_string(), "{documents}");
    assert_eq!((&export["arguments"], &export["documents"]), (&json!(all), &documents));
}

#[tokio::test]
async fn an_export_of_a_long_debate_has_every_argument_in_order_and_an_end() {
    let world = World::with(Guard::default(), limits()).await;
    let debate = long_debate(&world, 5).await;
    let path = format!("/debates/{}/export", debate.id);
    let markdown = Answer::raw(&world, &path).await;
    assert!(markdown.starts_with("# Who reads all this?\n\n- Debate: `"), "{}", &markdown[..80]);
    let heads: Vec<&str> = markdown.lines().filter(|line| line.starts_with("## ")).collect();
    assert_eq!(heads.len(), 6);
    for (number, head) in heads.iter().enumerate() {
        assert!(head.starts_with(&format!("## {}. ", number + 1)), "{head}");
    }
    let html = Answer::raw(&world, &format!("{path}?format=html")).await;
    let places: Vec<usize> =
        (1..=6).map(|seq| html.find(&format!("id=\"a-{seq}\"")).unwrap()).collect();
    assert!(places.is_sorted() && html.trim_end().ends_with("</html>"));
    // What an argument answers may be in an earlier piece.
    assert!(html.contains("<a href=\"#a-5\">answers #5</a>"), "the sixth answers the fifth");
    assert!(!html.contains('\0'));
}

#[tokio::test]
async fn a_wait_returns_all_unseen_rulings() {
    let world = World::with(Guard::default(), limits()).await;
    let debate = world.debate("Rule on").await;
    for number in 0..24 {
        debate.intervene().await.created();
        let long = if number < 4 { words(number) } else { "Go on.".to_owned() };
        debate.rule(json!({"content": long})).await.created();
    }
    let news = debate.poll("proposer", None).await.ok();
    // The newest twenty, and before them every ruling; the other interventions are left out.
    let rulings: Vec<u64> = (3..30).step_by(2).collect();
    let expected: Vec<u64> = rulings.into_iter().chain(30..=49).collect();
    assert_eq!((seqs(&news["arguments"]), &news["omitted"]), (expected, &json!(14)));
    assert_eq!(news["arguments"][0]["content"], words(0));
    assert_eq!(news["argument"]["seq"], 49);
}

#[tokio::test]
async fn a_long_debate_takes_the_memory_of_a_few_pieces() {
    // Less than the debate has, and enough for the pieces of two answers.
    let limits = Limits { long_answers: 3 << 20, ..limits() };
    let world = World::with(Guard::default(), limits).await;
    let debate = long_debate(&world, 40).await;
    let path = format!("/debates/{}", debate.id);
    let _deaf = deaf(&world, &path).await;
    let whole = world.get(&path).await.ok();
    assert_eq!(whole["arguments"].as_array().unwrap().len(), 40);
    let _deaf = deaf(&world, &path).await;
    eventually("the room is taken", async || world.get(&path).await.status == 503).await;
    world.get(&path).await.refused(503, "SERVER_BUSY");
    // What agents live on goes on.
    let newest = text(&whole["arguments"][39]["id"]);
    let claimed = debate.claim("opponent", &newest, "I do.").await;
    let polled = debate.poll("proposer", Some(&newest)).await.ok();
    assert_eq!(polled["argument"]["id"], claimed["argument"]["id"]);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_an_error() {
    let world = World::with(Guard::default(), limits()).await;
    let debate = long_debate(&world, 60).await;
    for form in ["", "/export?format=markdown", "/export?format=html"] {
        let path = format!("/debates/{}{form}", debate.id);
        let mut begun = world.request(Method::GET, &path).send().await.unwrap();
        assert!(begun.chunk().await.unwrap().is_some());
        if form.ends_with("html") {
            // Nothing more can be read of it.
            world.delete(&format!("/debates/{}", debate.id)).await.ok();
            let rest = in_time("it ends", begun.bytes()).await;
            assert!(rest.is_err(), "{form}: a part passes for the whole");
        }
    }
    world.get(&format!("/debates/{}", debate.id)).await.refused(404, "DEBATE_NOT_FOUND");
}

#[tokio::test]
async fn an_upload_takes_its_share_of_memory_as_it_arrives() {
    let limits = Limits { long_answers: 2 << 20, ..Limits::default() };
    let world = World::with(Guard::default(), limits).await;
    let document = json!({"summary": "Long", "content": "word ".repeat(200_000)});
    let kept = world.post("/documents", document.clone()).await.created();
    let path = format!("/documents/{}", text(&kept["document_id"]));
    world.get(&path).await.ok();
    let mut half = half_a_document(&world).await;
    let mut pause = Duration::from_millis(5);
    eventually("its room is taken", async || {
        // A half that comes while another answer is on its way is refused, so the next half gets more time to come.
        sleep(pause).await;
        if half.try_read(&mut [0; 16]).is_ok() {
            half = half_a_document(&world).await;
            pause *= 2;
            return false;
        }
        world.get(&path).await.status == 503
    })
    .await;
    world.post("/documents", document).await.refused(503, "SERVER_BUSY");
    world.debate("Moves go on").await;
    drop(half);
    eventually("its share is returned", async || world.get(&path).await.status == 200).await;
}

#[tokio::test]
async fn versions_with_long_metadata_are_listed_in_pages() {
    let world = World::start().await;
    let beside = json!({"note": "x".repeat(60_000)});
    let version = |number: usize| json!({"summary": format!("v{number}"), "content": number.to_string(), "metadata": beside});
    let kept = world.post("/documents", version(1)).await.created();
    let path = format!("/documents/{}/versions", text(&kept["document_id"]));
    for number in 2..=9 {
        world.post(&path, version(number)).await.created();
    }
    let list = world.get(&path).await.ok();
    assert_eq!(keys(&list), ["document_id", "versions", "total", "deleted_at"]);
    let numbers = |list: &Value| -> Vec<u64> {
        let versions = list["versions"].as_array().unwrap();
        versions.iter().map(|version| version["version"].as_u64().unwrap()).collect()
    };
    assert_eq!(numbers(&list), [9, 8, 7, 6, 5, 4, 3, 2, 1]);
    assert_eq!((&list["total"], &list["versions"][8]["metadata"]), (&json!(9), &beside));
    let some = world.get(&format!("{path}?limit=3&offset=2")).await.ok();
    assert_eq!(numbers(&some), [7, 6, 5]);
}

#[tokio::test]
async fn long_documents_and_diffs_are_answered_in_the_same_form_as_short_ones() {
    let world = World::start().await;
    let old: String = (0..30_000).map(|line| format!("\"Line\" {line} của kế hoạch\n")).collect();
    let new = old.replace("\"Line\" 7 ", "Zeile 7 ").replace(" 29999 ", " 30000 ");
    let metadata = json!({"content": "", "diff": ""});
    let body = |text: &str| json!({"summary": "s", "content": text, "metadata": metadata});
    let kept = world.post("/documents", body(&old)).await.created();
    let path = format!("/documents/{}", text(&kept["document_id"]));
    world.post(&format!("{path}/versions"), body(&new)).await.created();
    let read = world.get(&path).await.ok();
    assert_eq!((&read["content"], &read["metadata"]), (&json!(new), &metadata));
    assert_eq!(read["newest_version"], 2);
    let diff = text(&world.get(&format!("{path}/diff")).await.ok()["diff"]);
    // On a busy machine a comparison may end early, and then more lines than these count as changed.
    assert!(diff.starts_with("--- v1\n+++ v2\n@@ -"), "{diff}");
    let changed = ["-\"Line\" 7 của", "+Zeile 7 của", "-\"Line\" 29999 của", "+\"Line\" 30000 của"];
    for line in changed {
        assert!(diff.lines().any(|found| found.starts_with(line)), "{line}: {diff}");
    }
    let other = world.post(&format!("{path}/versions"), body(&old.replace('L', "l"))).await;
    other.created();
    let diff = text(&world.get(&format!("{path}/diff")).await.ok()["diff"]);
    assert!(diff.len() > 1_500_000 && diff.ends_with("+\"line\" 29999 của kế hoạch\n"));
}

/// A search that is longer than any title or summary finds nothing, and what could be found is found.
#[tokio::test]
async fn a_search_longer_than_any_title_finds_nothing() {
    let world = World::start().await;
    let title = "ế".repeat(200);
    world.debate(&title).await;
    let summary = "ế".repeat(500);
    world.post("/documents", json!({"summary": summary, "content": "c"})).await.created();
    let found = async |path: &str, q: &str| {
        let query: String = form_urlencoded::byte_serialize(q.as_bytes()).collect();
        let list = world.get(&format!("{path}?q={query}")).await.ok();
        assert_eq!(list["total_is_exact"], true);
        list["total"].as_u64().unwrap()
    };
    // Some keyboards write a letter and its marks one after the other.
    let apart = "e\u{302}\u{301}";
    assert_eq!(found("/debates", &title).await, 1);
    assert_eq!(found("/debates", &apart.repeat(200)).await, 1);
    assert_eq!(found("/debates", &format!("{title}x")).await, 0);
    assert_eq!(found("/documents", &apart.repeat(500)).await, 1);
    assert_eq!(found("/documents", &"a".repeat(10_000)).await, 0);
}

/// Sends the first bytes of a document.
async fn half_a_document(world: &World) -> TcpStream {
    let address = world.url.strip_prefix("http://").unwrap();
    let mut half = TcpStream::connect(address).await.unwrap();
    let text = format!(
        "POST /documents HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         content-length: 5000000\r\n\r\n{{\"content\":\"{}",
        "x".repeat(900_000)
    );
    half.write_all(text.as_bytes()).await.unwrap();
    half
}

struct Answer;

impl Answer {
    /// The body of an answer that is not in the envelope.
    async fn raw(world: &World, path: &str) -> String {
        let response = world.request(Method::GET, path).send().await.unwrap();
        assert_eq!(response.status(), 200);
        response.text().await.unwrap()
    }
}

/// Asks for this, and reads only that there is an answer.
async fn deaf(world: &World, path: &str) -> TcpStream {
    let address = world.url.strip_prefix("http://").unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(address.parse().unwrap()).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nx-id: {}\r\n\r\n", new_id());
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut begin = [0; 12];
    in_time("it is answered", stream.read_exact(&mut begin)).await.unwrap();
    assert_eq!(&begin, b"HTTP/1.1 200");
    stream
}
