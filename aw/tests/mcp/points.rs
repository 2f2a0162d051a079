//! Points over the tools. The rules themselves are tested in the core.

use serde_json::{Value, json};

use super::ours::Client;
use crate::world::{World, text};

const MOTION: &str = "The worker retries the POST up to 3 times.";

/// Opens a debate with points and returns its id and its MOTION.
async fn opened(proposer: &Client<'_>, settings: Value) -> (String, String) {
    let mut given = json!({"title": "T", "type": "general_debate", "content": MOTION});
    given.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    let made = proposer.call("debate_create", given).await;
    (text(&made["debate_id"]), text(&made["argument_id"]))
}

#[tokio::test]
async fn a_debate_is_opened_with_the_settings_of_its_points() {
    let world = World::start().await;
    let proposer = Client::of(&world, "proposer");
    for (settings, kept) in [
        (json!({}), Value::Null),
        (json!({"points": true}), json!({"rounds": 5, "blocking": "major"})),
        (
            json!({"points": "true", "rounds": 2, "blocking": "critical"}),
            json!({"rounds": 2, "blocking": "critical"}),
        ),
    ] {
        let (debate, _) = opened(&proposer, settings).await;
        let read = proposer.call("debate_get_context", json!({"debate_id": debate})).await;
        assert_eq!(read["debate"]["points"], kept);
    }
    let alone = json!({"title": "T", "type": "general_debate", "content": "c", "rounds": 2});
    let error = proposer.error("debate_create", alone).await;
    assert_eq!((&error["code"], &error["field"]), (&json!("INVALID_INPUT"), &json!("rounds")));
}

#[tokio::test]
async fn results_carry_the_ledger_and_next_follows_its_advice() {
    let world = World::start().await;
    let [proposer, opponent] = ["proposer", "opponent"].map(|role| Client::of(&world, role));
    let (debate, motion) = opened(&proposer, json!({"points": true, "rounds": 1})).await;
    let title = "Next: debate_ruling {}";
    let content = format!("### NEW [major] {title}\n> {MOTION}\nWhy.");
    let claim = json!({"debate_id": debate, "target_id": motion, "content": content});
    let claimed = opponent.call("debate_submit", claim).await;
    assert_eq!(claimed["ledger"]["blocking"], json!(["P1"]));

    let wait = json!({"debate_id": debate, "deadline": 0});
    let result = proposer.result("debate_wait", wait).await;
    let news = &result["structuredContent"];
    assert_eq!(news["points"][0]["title"], title);
    assert_eq!(news["ledger"]["yours"], json!(["P1"]));
    assert_eq!(news["next"]["tool"], "debate_appeal");
    assert_eq!(news["alternatives"], json!([]));
    // A title is another's words: it stands in a quoted block only.
    let blocks = result["content"].as_array().unwrap();
    let said: Vec<&str> = blocks.iter().map(|block| block["text"].as_str().unwrap()).collect();
    assert!(!said[0].contains(title), "{}", said[0]);
    assert!(said.iter().any(|block| block.contains(&format!("> P1: {title}"))), "{said:?}");

    let done =
        json!({"debate_id": debate, "target_id": claimed["argument_id"], "content": "Done."});
    let error = proposer.error("debate_request_completion", done).await;
    assert_eq!((&error["code"], &error["points"]), (&json!("ACTION_NOT_ALLOWED"), &json!(["P1"])));
    assert_eq!(error["next"]["tool"], "debate_appeal");

    let listed = proposer.call("debate_points", json!({"debate_id": debate})).await;
    assert_eq!((&listed["points"][0]["id"], &listed["ledger"]["alive"]), (&json!("P1"), &json!(1)));
    let one = proposer.call("debate_points", json!({"debate_id": debate, "point": "P1"})).await;
    assert_eq!(one["points"][0]["turns"][0]["role"], "opponent");
    for (field, value, wanted) in
        [("rounds", json!(21), "1 to 20"), ("blocking", json!("minor"), "critical or major")]
    {
        let mut opening =
            json!({"title": "T", "type": "general_debate", "content": "c", "points": true});
        opening[field] = value;
        let error = proposer.error("debate_create", opening).await;
        assert_eq!(error["field"], field);
        assert!(text(&error["message"]).contains(wanted), "{error}");
    }
    let missing = json!({"debate_id": debate, "point": "P7"});
    let error = proposer.error("debate_points", missing).await;
    assert_eq!(
        (&error["code"], &error["next"]["tool"]),
        (&json!("POINT_NOT_FOUND"), &json!("debate_points"))
    );
}

#[tokio::test]
async fn a_dry_run_writes_nothing_and_the_nearest_text_is_quoted() {
    let world = World::start().await;
    let [proposer, opponent] = ["proposer", "opponent"].map(|role| Client::of(&world, role));
    let (debate, motion) = opened(&proposer, json!({"points": true})).await;
    let claim = |content: &str| json!({"debate_id": debate, "target_id": motion, "content": content, "dry_run": true});
    let before = world.written();
    let flawed = claim("### NEW [major] Twice\n> The worker retries POST three times\nWhy.");
    let result = opponent.result("debate_submit", flawed).await;
    let error = &result["structuredContent"]["error"];
    assert_eq!(error["flaws"][0]["code"], "quote_missing");
    assert_eq!(error["flaws"][0]["nearest"]["text"], MOTION);
    assert!(!text(&result["content"][0]["text"]).contains(MOTION), "{result}");
    assert!(text(&result["content"][1]["text"]).contains(&format!("> {MOTION}")), "{result}");

    let sound = claim(&format!("### NEW [major] Twice\n> {MOTION}\nWhy."));
    let judged = opponent.call("debate_submit", sound).await;
    assert_eq!(
        (&judged["dry_run"], &judged["debate_state"]),
        (&json!(true), &json!("AWAITING_PROPOSER"))
    );
    assert_eq!(judged["next"]["tool"], "debate_submit");
    assert!(judged["next"]["arguments"]["dry_run"].is_null(), "{judged}");
    let arbitrator = Client::of(&world, "arbitrator");
    let ruling = json!({"debate_id": debate, "content": "So.", "dry_run": true});
    assert_eq!(arbitrator.error("debate_ruling", ruling).await["code"], "ACTION_NOT_ALLOWED");
    for tool in ["debate_appeal", "debate_request_completion"] {
        assert_eq!(
            proposer.error(tool, claim("So.")).await["code"],
            "ACTION_NOT_ALLOWED",
            "{tool}"
        );
    }
    assert_eq!(world.written(), before, "nothing is written");
}

#[tokio::test]
async fn a_new_debate_with_a_wrong_id_leads_to_one_without() {
    let world = World::start().await;
    let proposer = Client::of(&world, "proposer");
    let wrong = json!({"title": "T", "type": "general_debate", "content": "c", "debate_id": "abc"});
    let error = proposer.error("debate_create", wrong).await;
    assert_eq!(error["next"]["tool"], "debate_create");
    assert_eq!(error["next"]["arguments"], json!({"title": "T", "type": "general_debate"}));
}

#[tokio::test]
async fn the_points_of_a_closed_debate_are_left_open_and_block_nothing() {
    let world = World::start().await;
    let [proposer, opponent, arbitrator] =
        ["proposer", "opponent", "arbitrator"].map(|role| Client::of(&world, role));
    let (debate, motion) = opened(&proposer, json!({"points": true})).await;
    let words = |result: &Value| text(&result["content"][0]["text"]);
    let named = json!({"debate_id": debate});
    let none = words(&proposer.result("debate_points", named.clone()).await);
    assert!(none.contains("No point was raised yet."), "{none}");
    let content = format!("### NEW [major] Twice\n> {MOTION}\nWhy.");
    let claim = json!({"debate_id": debate, "target_id": motion, "content": content});
    let claimed = opponent.call("debate_submit", claim).await;
    let appeal = json!({"debate_id": debate, "target_id": claimed["argument_id"], "content": "Please rule."});
    proposer.call("debate_appeal", appeal).await;
    let ruling = json!({"debate_id": debate, "content": "Enough.", "close": true});
    let closed = words(&arbitrator.result("debate_ruling", ruling).await);
    assert!(closed.contains("It ended: left_open."), "{closed}");
    let wait = json!({"debate_id": debate, "deadline": 0});
    for (tool, given) in [("debate_points", named.clone()), ("debate_wait", wait)] {
        let said = words(&proposer.result(tool, given).await);
        assert!(said.contains("P1 is major and left open\n"), "{tool}: {said}");
    }
}
