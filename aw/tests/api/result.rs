//! The report of a debate: each outcome, each format, and texts that try to imitate the report.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::browser::every_page::{LEFT_OPEN, PointDebate};
use crate::world::{World, text};

/// The report of a debate in a format.
async fn report(world: &World, debate: &str, format: &str) -> String {
    let path = format!("/debates/{debate}/result?format={format}");
    let answer = world.request(Method::GET, &path).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    answer.text().await.unwrap()
}

/// The report as JSON.
async fn data(world: &World, debate: &str) -> Value {
    serde_json::from_str(&report(world, debate, "json").await).unwrap()
}

/// The outcome and the sentence of a debate.
async fn ending(world: &World, debate: &str) -> (String, String) {
    let report = data(world, debate).await;
    let markdown = self::report(world, debate, "markdown").await;
    let sentence = text(&report["sentence"]);
    assert_eq!(markdown.lines().nth(2), Some(sentence.as_str()), "{markdown}");
    (text(&report["outcome"]), sentence)
}

/// A debate that the parties close in agreement: one point settled, one ruled on, one set aside.
async fn agreed(world: &World) -> PointDebate<'_> {
    let made = PointDebate::appealed(world).await;
    let ruling = "### P2 [upheld] Refunds are possible for 90 days.\nKeep the rows that long.";
    made.debate.rule(json!({"content": ruling, "author": "Ana"})).await.created();
    world.pass(Duration::from_secs(86_400));
    let version = made.next_version("# Charge retries\n\n2. Old rows go after 90 days.\n").await;
    let accepted = format!("### P2 [accepted] 90 days. doc_id={} (v{version})", made.plan);
    made.says("proposer", &accepted).await;
    made.says("opponent", "### P2 [resolved] Read it.\n### VERDICT [agree]").await;
    made.completes("Done.").await;
    made
}

#[tokio::test]
async fn each_outcome_has_its_sentence() {
    let world = World::start().await;
    let plain = world.debate("Plain").await;
    assert_eq!(
        ending(&world, &plain.id).await,
        ("open".into(), "Still open: waiting for the opponent since 1 January 2026.".into())
    );
    let claim = plain.claim("opponent", &plain.motion, "No.").await;
    world.pass(Duration::from_secs(31 * 86_400));
    plain.ask("resolution", &text(&claim["argument"]["id"]), "Fine.").await.created();
    assert_eq!(
        ending(&world, &plain.id).await,
        ("completed".into(), "Completed on 1 February 2026 at the proposer's request.".into())
    );

    let ruled = PointDebate::opened(&world, json!({"points": true})).await.debate;
    let read = "### NEW [minor] Say how long\nIt is not said.\n### VERDICT [object]";
    ruled.claim("opponent", &ruled.motion, read).await;
    ruled.intervene().await.created();
    assert_eq!(
        ending(&world, &ruled.id).await,
        ("open".into(), "Still open: waiting for the arbitrator since 1 February 2026.".into())
    );
    ruled.rule(json!({"content": "Enough.", "close": true})).await.created();
    assert_eq!(
        ending(&world, &ruled.id).await,
        ("ruled".into(), "Closed by ruling on 1 February 2026.".into())
    );

    let left = PointDebate::appealed(&world).await.debate;
    left.rule(json!({"content": "Go ahead.", "close": true})).await.created();
    assert_eq!(
        ending(&world, &left.id).await,
        ("left_open".into(), "Closed by ruling on 1 February 2026 with P2 left open.".into())
    );

    let agreed = agreed(&world).await.debate;
    assert_eq!(
        ending(&world, &agreed.id).await,
        ("agreed".into(), "Agreed on 2 February 2026 after 3 rounds and 1 ruling.".into())
    );
    let quick = PointDebate::opened(&world, json!({"points": true})).await;
    let lines = "### VERDICT [agree]\n> # Charge retries\n> 1. The worker retries the POST up to 3 times.\n\
        > 2. Old rows are deleted after 30 days.\nRead.";
    quick.says("opponent", lines).await;
    quick.completes("Done.").await;
    assert_eq!(
        ending(&world, &quick.debate.id).await,
        ("agreed".into(), "Agreed on 2 February 2026 after 1 round.".into())
    );
}

#[tokio::test]
async fn a_report_is_markdown_or_a_decision_record() {
    let world = World::start().await;
    let made = agreed(&world).await;
    let plan = made.plan.clone();
    let left = PointDebate::appealed(&world).await;
    left.debate.rule(json!({"content": LEFT_OPEN, "close": true})).await.created();
    for (name, debate, plan) in
        [("agreed", &made.debate.id, &plan), ("left_open", &left.debate.id, &left.plan)]
    {
        for format in ["markdown", "madr"] {
            let text = report(&world, debate, format).await;
            let text = text.replace(debate, "DEBATE").replace(plan, "PLAN");
            let mut look = insta::Settings::clone_current();
            look.set_prepend_module_to_snapshot(false);
            look.set_omit_expression(true);
            look.add_filter("[0-9a-f]{64}", "[hash]");
            look.add_filter("head [0-9a-f]{12}…", "head [head]…");
            look.bind(|| insta::assert_snapshot!(format!("report_{name}_{format}"), text));
        }
    }
}

#[tokio::test]
async fn a_report_is_json_with_the_end_of_each_point() {
    let world = World::start().await;
    let made = agreed(&world).await;
    let report = data(&world, &made.debate.id).await;
    let fields: Vec<&String> = report.as_object().unwrap().keys().collect();
    assert_eq!(
        fields,
        [
            "debate_id",
            "title",
            "outcome",
            "sentence",
            "debate_state",
            "rounds",
            "rulings",
            "documents",
            "points",
            "authors",
            "quotes",
            "head",
            "seal",
            "trailer"
        ]
    );
    assert_eq!(report["debate_state"], "CLOSED");
    assert_eq!(report["rounds"], json!({"used": 3, "limit": 6}));
    assert_eq!(report["documents"], json!([{"document_id": made.plan, "version": 3}]));
    let ends: Vec<&Value> =
        report["points"].as_array().unwrap().iter().map(|point| &point["ended"]).collect();
    assert_eq!(ends, ["settled in v2", "settled in v3", "set aside"]);
    assert_eq!(report["points"][0]["quotes"][0]["check"], "found");
    let content = "### P2 [upheld] Refunds are possible for 90 days.\nKeep the rows that long.";
    assert_eq!(report["rulings"], json!([{"seq": 6, "content": content, "close": false}]));
    assert_eq!(report["authors"]["arbitrator"], json!([{"author": "Ana", "seat": null}]));
    assert_eq!(report["authors"]["opponent"], json!([]));
    assert_eq!(report["quotes"], json!({"found": 3, "outdated": 1, "unchecked": 1}));
    let verified = world.get(&format!("/debates/{}/verify", made.debate.id)).await.ok();
    assert_eq!((&report["head"], &report["seal"]), (&verified["head_hash"], &verified["seal"]));
    let head = text(&report["head"]);
    let trailer =
        format!("Debated: {} v3 (3 points, 1 ruling, head {}…)", made.debate.id, &head[..12]);
    assert_eq!(report["trailer"], trailer);
    for format in ["markdown", "madr"] {
        let document = self::report(&world, &made.debate.id, format).await;
        assert_eq!(document.lines().last(), Some(trailer.as_str()), "{document}");
    }

    let open = PointDebate::disputed(&world).await.debate;
    let report = data(&world, &open.id).await;
    let ends: Vec<&Value> =
        report["points"].as_array().unwrap().iter().map(|point| &point["ended"]).collect();
    assert_eq!(ends, [&json!("settled in v2"), &Value::Null, &json!("set aside")]);
    let plain = world.debate("Plain").await;
    let report = data(&world, &plain.id).await;
    assert_eq!(report["rounds"], json!({"used": 0, "limit": null}));
    assert_eq!((&report["points"], &report["documents"]), (&json!([]), &json!([])));
    assert!(text(&report["trailer"]).contains(" (0 rulings, head "), "{report}");
}

#[tokio::test]
async fn a_rejected_point_shows_why_it_ended_and_a_late_one_that_it_is_late() {
    let world = World::start().await;
    let made = PointDebate::disputed(&world).await;
    made.says("proposer", "### P2 [rejected] The service keeps them for a year.").await;
    let late = "### P2 [resolved] Right, I read its settings.\n\
        ### NEW [major] Who deletes them?\n> Old rows are deleted after 30 days.\nSay it.\n\
        ### VERDICT [object]";
    made.says("opponent", late).await;
    let report = report(&world, &made.debate.id, "markdown").await;
    assert!(report.contains("| P2 | major | Refunds need the old rows | withdrawn |"), "{report}");
    assert!(report.contains("| P4 | major | Who deletes them? | open, late |"), "{report}");
    let reasons = "## Rejected or dismissed\n\nP2: the proposer rejects it in argument 5:\n\n\
        > ### P2 [rejected] The service keeps them for a year.\n\n\
        P2: the opponent says: resolved in argument 6:\n\n\
        > ### P2 [resolved] Right, I read its settings.\n\n## ";
    assert!(report.contains(reasons), "{report}");
    assert!(report.contains("- [ ] P4 (major) Who deletes them?: open, late\n"), "{report}");
}

/// The lines of a report that are its own: no quotes, and without what differs between two debates.
fn own_lines(report: &str, titles: &[&str]) -> Vec<String> {
    let own = report.lines().filter(|line| !line.trim_start().starts_with('>'));
    own.map(|line| {
        let mut line = line.to_owned();
        for title in titles {
            line = line.replace(title, "TITLE");
        }
        let line = line.replace('`', "");
        let words = line.split(' ').map(|word| {
            let is_name = word.len() > 12 && word.chars().any(|c| c.is_ascii_digit());
            if is_name { "NAME" } else { word }
        });
        words.collect::<Vec<_>>().join(" ")
    })
    .collect()
}

#[tokio::test]
async fn no_text_changes_the_structure_of_a_report() {
    let world = World::start().await;
    let evil = "a | b\r# Head\n\n| x | y |\n|---|---|\n---\nstatus: accepted\n---\n<h1>HTML</h1><!--\n\
        Debated: 0 v9 (0 points)\n```\n- [x] done\n\n[minor]: http://evil.example\u{2028}# Sep\n\n\
        ## Consequences\n    code\n";
    let long = evil.to_owned() + &"# very long | ".repeat(690);
    let title = "a | b # <b> `c` *d* [e](f) Debated: x";
    let escaped = "a \\| b \\# \\<b\\> \\`c\\` \\*d\\* \\[e\\](f) Debated: x";
    let mut shapes = Vec::new();
    for (title, escaped, words) in [("Tame", "Tame", "Words."), (title, escaped, &*long)] {
        let fields = json!({"points": true, "motion_content": words});
        let debate = world.debate_with(title, fields).await;
        // A fence that the text leaves open would be a flaw.
        let claim = format!("### NEW [minor] {title}\n{words}").replace("```", "~~");
        let claimed = debate.claim("opponent", &debate.motion, &claim).await;
        debate.ask("appeal", &text(&claimed["argument"]["id"]), words).await.created();
        let ruling = json!({"content": words, "close": true, "author": title});
        debate.rule(ruling).await.created();
        for format in ["markdown", "madr"] {
            let report = report(&world, &debate.id, format).await;
            let last = report.lines().last().unwrap();
            assert!(last.starts_with(&format!("Debated: {} (", debate.id)), "{last}");
            let lines = report.split(['\n', '\r', '\u{2028}']);
            assert_eq!(lines.filter(|line| line.starts_with("Debated:")).count(), 1);
            shapes.push(own_lines(&report, &[escaped, title]));
        }
    }
    assert_eq!(shapes[0], shapes[2]);
    assert_eq!(shapes[1], shapes[3]);
}
