//! Lists of debates: filters, order, pages, search, and the parts of one debate.

use std::time::Duration;

use serde_json::{Value, json};

use crate::world::driver::id;
use crate::world::{World, text};

/// The titles of a page, in its order.
fn titles(list: &Value) -> Vec<String> {
    list["debates"].as_array().unwrap().iter().map(|debate| text(&debate["title"])).collect()
}

fn ids(list: &Value) -> Vec<String> {
    list["debates"].as_array().unwrap().iter().map(|debate| text(&debate["id"])).collect()
}

/// The titles that a query finds, sorted, and the total, which must be exact.
async fn found(world: &World, query: &[(&str, &str)]) -> (Vec<String>, u64) {
    let request = world.request(reqwest::Method::GET, "/debates").query(query);
    let list = crate::world::Answer::to(request).await.ok();
    assert_eq!(list["total_is_exact"], true, "{query:?}");
    let mut titles = titles(&list);
    titles.sort();
    (titles, list["total"].as_u64().unwrap())
}

/// Asserts that a query finds exactly these titles, and counts them.
async fn finds(world: &World, query: &[(&str, &str)], titles: &[&str]) {
    let mut expected: Vec<String> = titles.iter().map(ToString::to_string).collect();
    expected.sort();
    assert_eq!(found(world, query).await, (expected, titles.len() as u64), "{query:?}");
}

#[tokio::test]
async fn every_filter_can_be_asked_for_alone_and_with_others() {
    let world = World::start().await;
    world.debate("new").await;
    let coding = json!({"debate_type": "coding_plan_debate"});
    let answered = world.debate_with("answered", coding).await;
    answered.claim("opponent", &answered.motion, "No.").await;
    let stopped = world.debate("stopped").await;
    stopped.intervene().await.created();
    for (query, titles) in [
        (&[][..], &["answered", "new", "stopped"][..]),
        (&[("state", "AWAITING_PROPOSER")], &["answered"]),
        (&[("type", "general_debate")], &["new", "stopped"]),
        (&[("type", "unheard_of")], &[]),
        (&[("pending_first_opponent", "true")], &["new"]),
        (&[("needs_arbitrator", "1")], &["stopped"]),
        (
            &[("needs_arbitrator", "false"), ("pending_first_opponent", "false")],
            &["answered", "new", "stopped"],
        ),
        (&[("needs_arbitrator", "true"), ("pending_first_opponent", "true")], &[]),
        (&[("q", "ed"), ("type", "general_debate")], &["stopped"]),
        (&[("q", "ed"), ("state", "AWAITING_PROPOSER")], &["answered"]),
    ] {
        finds(&world, query, titles).await;
    }
}

#[tokio::test]
async fn a_debate_in_a_list_has_its_shape_and_its_newest_argument_without_the_text() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    world.pass(Duration::from_secs(2));
    let claim = debate.claim("opponent", &debate.motion, "No.").await;
    let list = world.get("/debates").await.ok();
    assert_eq!(
        list,
        json!({
            "debates": [{
                "id": debate.id, "title": "Keep one SQLite file?", "debate_type": "general_debate",
                "state": "AWAITING_PROPOSER", "resolution_policy": "auto",
                "created_at": "2026-01-01T00:00:00.000Z", "updated_at": "2026-01-01T00:00:02.000Z",
                "slug": "keep-one-sqlite-file",
                "last_argument": {
                    "id": claim["argument"]["id"], "seq": 2, "role": "opponent", "type": "CLAIM",
                    "parked": false, "author": null, "created_at": "2026-01-01T00:00:02.000Z",
                },
                "presence": {
                    "proposer": {"waiting": false, "last_seen_at": "2026-01-01T00:00:00.000Z"},
                    "opponent": {"waiting": false, "last_seen_at": "2026-01-01T00:00:02.000Z"},
                    "arbitrator": {"waiting": false, "last_seen_at": null},
                },
            }],
            "total": 1,
            "total_is_exact": true,
            "next_before": null,
        })
    );
}

#[tokio::test]
async fn pages_by_offset_and_by_before_give_everything_once() {
    let world = World::start().await;
    for n in 0..11 {
        world.debate(&format!("Debate {n}")).await;
        if n % 4 == 3 {
            world.pass(Duration::from_millis(1));
        }
    }
    for filter in ["", "&state=AWAITING_OPPONENT", "&q=debate", "&q=de", "&type=general_debate"] {
        let everything = ids(&world.get(&format!("/debates?limit=500{filter}")).await.ok());
        assert_eq!(everything.len(), 11);
        for limit in [1, 2, 3, 5, 11, 12] {
            let mut by_offset = Vec::new();
            while by_offset.len() < everything.len() {
                let offset = by_offset.len();
                let path = format!("/debates?limit={limit}&offset={offset}{filter}");
                let page = world.get(&path).await.ok();
                assert_eq!(page["total"], 11, "{path}");
                by_offset.extend(ids(&page));
            }
            assert_eq!(by_offset, everything, "{filter} {limit}");

            let mut by_before = Vec::new();
            let mut before = String::new();
            loop {
                let page = world.get(&format!("/debates?limit={limit}{filter}{before}")).await.ok();
                assert_eq!(page["total"], 11, "{filter} {limit}");
                by_before.extend(ids(&page));
                let Some(next) = page["next_before"].as_str() else { break };
                before = format!("&before={next}");
            }
            assert_eq!(by_before, everything, "{filter} {limit}");
        }
    }
}

#[tokio::test]
async fn before_may_be_a_plain_time() {
    let world = World::start().await;
    world.debate("Old").await;
    world.pass(Duration::from_secs(1));
    world.debate("New").await;
    let list = world.get("/debates?before=2026-01-01T00:00:01.000Z").await.ok();
    assert_eq!(titles(&list), ["Old"]);
}

#[tokio::test]
async fn a_search_finds_text_anywhere_in_a_title() {
    let world = World::start().await;
    for title in [
        "Keep one SQLite file?",
        "Chọn cơ sở dữ liệu nào?",
        "100% coverage",
        "100 percent",
        "snake_case names",
        "snakeXcase names",
        "say \"hello\" AND wave",
        "C++ or Rust*",
        "NEAR(a b) title:x",
        "(brackets) - minus",
        "it's -- a; drop table debates",
    ] {
        world.debate(title).await;
    }
    for (q, title) in [
        ("SQLite", "Keep one SQLite file?"),
        ("sqlite", "Keep one SQLite file?"),
        ("QLI", "Keep one SQLite file?"),
        ("e file?", "Keep one SQLite file?"),
        ("cơ sở dữ liệu", "Chọn cơ sở dữ liệu nào?"),
        ("CƠ SỞ", "Chọn cơ sở dữ liệu nào?"),
        ("co so du lieu", "Chọn cơ sở dữ liệu nào?"),
        ("Chon", "Chọn cơ sở dữ liệu nào?"),
        ("họn", "Chọn cơ sở dữ liệu nào?"),
        ("nào", "Chọn cơ sở dữ liệu nào?"),
        ("100%", "100% coverage"),
        ("0%", "100% coverage"),
        ("%", "100% coverage"),
        ("e_c", "snake_case names"),
        ("_", "snake_case names"),
        ("\"hello\"", "say \"hello\" AND wave"),
        ("\"", "say \"hello\" AND wave"),
        ("\"hello", "say \"hello\" AND wave"),
        ("\" AND wave", "say \"hello\" AND wave"),
        ("C++", "C++ or Rust*"),
        ("Rust*", "C++ or Rust*"),
        ("or Rust", "C++ or Rust*"),
        ("NEAR(a b)", "NEAR(a b) title:x"),
        ("title:x", "NEAR(a b) title:x"),
        ("(bra", "(brackets) - minus"),
        ("- minus", "(brackets) - minus"),
        ("it's -- a;", "it's -- a; drop table debates"),
        ("'", "it's -- a; drop table debates"),
    ] {
        finds(&world, &[("q", q)], &[title]).await;
    }
    for nothing in [
        "SQLite OR Rust",
        "hello AND wave",
        "keep*",
        "NOT sqlite",
        "xyz",
        "zz",
        "one  SQLite",
        "^Keep",
        "{a b}",
        "keep file",
        "title : x",
        "%%",
        "sna%",
        "\\",
        "''",
        "\"\"\"",
    ] {
        finds(&world, &[("q", nothing)], &[]).await;
    }
    finds(&world, &[("q", "100")], &["100% coverage", "100 percent"]).await;
    finds(&world, &[("q", "case names")], &["snake_case names", "snakeXcase names"]).await;
}

#[tokio::test]
async fn a_limit_above_500_counts_as_500_and_50_is_usual() {
    let world = World::start().await;
    for n in 0..501 {
        world.debate(&format!("{n}")).await;
    }
    for (query, shown) in [
        ("", 50),
        ("?limit=501", 500),
        ("?limit=100000", 500),
        ("?limit=500", 500),
        ("?limit=7", 7),
    ] {
        let list = world.get(&format!("/debates{query}")).await.ok();
        assert_eq!(list["debates"].as_array().unwrap().len(), shown, "{query}");
        assert_eq!(list["total"], 501, "{query}");
    }
    let none = world.get("/debates?limit=0").await.ok();
    assert_eq!((&none["debates"], &none["total"]), (&json!([]), &json!(501)));
}

#[tokio::test]
async fn of_a_long_debate_at_most_500_are_read_when_a_limit_is_given_and_all_when_not() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let mut newest = debate.motion.clone();
    for role in ["opponent", "proposer"].iter().cycle().take(504) {
        newest = id(&debate.claim(role, &newest, "x").await);
    }
    let path = format!("/debates/{}", debate.id);
    for (query, first) in [("", 2), ("?limit=501", 6), ("?limit=9999999", 6), ("?limit=500", 6)] {
        let read = world.get(&format!("{path}{query}")).await.ok();
        let arguments = read["arguments"].as_array().unwrap();
        assert_eq!(arguments[0]["seq"], first, "{query}");
        assert_eq!(arguments.last().unwrap()["seq"], 505, "{query}");
    }
}

#[tokio::test]
async fn debates_are_filtered_by_the_project_in_which_they_were_opened() {
    let world = World::start().await;
    let project = json!({
        "id": "0123abcd", "name": "charge", "branch": "retries", "commit": "0123456789abcdef",
    });
    world.debate("elsewhere").await;
    world.debate_with("here", json!({"project": project})).await;
    finds(&world, &[("project", "0123abcd")], &["here"]).await;
    finds(&world, &[("project", "ffffffff")], &[]).await;
    finds(&world, &[("project", "")], &["elsewhere", "here"]).await;
    let list = world.get("/debates?project=0123abcd").await.ok();
    assert_eq!(list["debates"][0]["project"], project);
    let projects = world.get("/projects").await.ok();
    assert_eq!(projects, json!({"projects": [{"id": "0123abcd", "name": "charge"}]}));
}

#[tokio::test]
async fn a_project_that_is_none_is_refused_by_the_field_that_is_wrong() {
    let world = World::start().await;
    let refused = world.get("/debates?project=../etc").await.refused(400, "INVALID_INPUT");
    assert_eq!(refused["field"], "project");
    let good = json!({"id": "0123abcd", "name": "charge"});
    for (field, bad) in [
        ("id", json!("https://an:pw@example.com/x")),
        ("name", json!("two\nlines")),
        ("name", json!("")),
        ("branch", json!("b".repeat(201))),
        ("commit", json!("HEAD")),
    ] {
        let mut project = good.clone();
        project[field] = bad;
        let mut body = crate::world::driver::opening("Bad");
        body["project"] = project;
        let refused = world.post("/debates", body).await.refused(400, "INVALID_INPUT");
        assert_eq!(refused["field"], format!("project.{field}"));
    }
    assert_eq!(world.get("/debates").await.ok()["total"], 0);
}
