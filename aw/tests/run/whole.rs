//! A whole debate by one command.

use serde_json::json;

use super::scene::{ACCEPTS, FIRST_CLAIM, MENDS, Scene};

#[test]
fn a_plan_is_debated_to_its_end_and_comes_back_with_a_report() {
    let scene = Scene::agreeing();
    let ran = scene.run(&[]);
    let data = ran.data();
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert_eq!(data["outcome"], "agreed");
    assert_eq!(data["debate_state"], "CLOSED");
    assert_eq!(data["rounds"], json!({"used": 2, "limit": 5}));
    assert_eq!(data["points"], json!({"raised": 1, "left_open": []}));
    assert_eq!(data["stopped_by"], json!(null));
    assert_eq!(data["resume_command"], json!(null));
    assert_eq!(data["documents"][0]["version"], 2);
    let debate = data["debate_id"].as_str().unwrap();
    assert_eq!(
        scene.kinds(debate),
        ["MOTION", "CLAIM", "CLAIM", "CLAIM", "RESOLUTION", "RULING"],
        "two model turns a round, and no more"
    );
    assert_eq!((scene.turns_of("opponent"), scene.turns_of("proposer")), (2, 1));
    assert!(scene.text("plan.md").contains("3 times, with one key a payment."));
    assert!(scene.text("plan.debate.md").contains("A retry can charge twice"));
    let arguments = scene.arguments(debate);
    assert_eq!(arguments[1]["author"], "opponent");
    assert_eq!(arguments[1]["via"], "run");
    let cited = data["documents"][0]["document_id"].as_str().unwrap();
    let last = arguments[2]["content"].as_str().unwrap().lines().last().unwrap().to_owned();
    assert_eq!(last, format!("doc_id={cited} (v1 → v2)"));
}

#[test]
fn a_point_that_is_held_twice_goes_to_the_arbitrator_without_a_model_turn() {
    let scene = Scene::new();
    let holds = "### P1 [open]\nIt still charges twice.\n### VERDICT [object]\n";
    let rejects = "### P1 [rejected] The bank notices it.\n";
    scene.agent(
        "opponent",
        &[("", FIRST_CLAIM), ("", holds), ("", holds), ("", super::scene::AGREES)],
    );
    scene.agent("proposer", &[("", rejects), ("", rejects), (MENDS, ACCEPTS)]);
    scene.agent("judge", &[("", "### P1 [upheld] Send one key a payment.\n")]);
    let data = scene.run(&["--arbitrator", "judge"]).data();
    assert_eq!((&data["outcome"], &data["rulings"]), (&json!("agreed"), &json!(1)));
    let arguments = scene.arguments(data["debate_id"].as_str().unwrap());
    let appeal = arguments.iter().find(|one| one["type"] == "APPEAL").unwrap();
    let text = appeal["content"].as_str().unwrap();
    for part in ["P1", "It still charges twice.", "The bank notices it.", "uphold, dismiss, defer"]
    {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    assert_eq!((scene.turns_of("proposer"), scene.turns_of("judge")), (3, 1));
}

#[test]
fn a_flawed_text_is_repaired_with_all_its_flaws() {
    let scene = Scene::new();
    let flawed = FIRST_CLAIM.replace("The worker retries the POST", "The worker repeats the POST");
    scene.agent("opponent", &[("", &flawed), ("", FIRST_CLAIM), ("", super::scene::AGREES)]);
    scene.agent("proposer", &[(MENDS, ACCEPTS)]);
    let data = scene.run(&[]).data();
    assert_eq!(data["outcome"], "agreed");
    assert_eq!(data["seats"]["opponent"]["repairs"], 1);
    assert_eq!(data["seats"]["opponent"]["starts"], 3);
    let repair = scene.noted("opponent.prompt.2");
    assert!(repair.contains("was not posted") && repair.contains("line 2: "), "{repair}");
    assert!(
        repair.contains("\nIt was:\n\n> "),
        "an agent without sessions has forgotten its text: {repair}"
    );
}

#[test]
fn a_repaired_text_cites_the_version_of_the_refused_one() {
    let scene = Scene::new();
    scene.agent("opponent", &[("", FIRST_CLAIM), ("", super::scene::AGREES)]);
    scene.agent("proposer", &[(MENDS, "### P7 [accepted] One key a payment.\n"), ("", ACCEPTS)]);
    let data = scene.run(&[]).data();
    assert_eq!((&data["outcome"], &data["documents"][0]["version"]), (&json!("agreed"), &json!(2)));
    let arguments = scene.arguments(data["debate_id"].as_str().unwrap());
    assert!(arguments[2]["content"].as_str().unwrap().ends_with("(v1 → v2)"), "{}", arguments[2]);
}

#[test]
fn a_quote_from_code_must_stand_in_the_project() {
    let scene = Scene::new();
    let quoting = |line: &str| {
        FIRST_CLAIM.replace(
            "A time-out",
            &format!("See the code:\n> {line}\n— src/charge.rs:1\nA time-out"),
        )
    };
    // The file that the agent writes into its copy is no evidence.
    let invents = "printf 'pub fn refund_everything() {}\\n' > src/charge.rs";
    scene.agent(
        "opponent",
        &[
            (invents, &quoting("pub fn refund_everything() {}")),
            ("", &quoting("pub fn charge() {}")),
            ("", super::scene::AGREES),
        ],
    );
    scene.agent("proposer", &[(MENDS, ACCEPTS)]);
    let data = scene.run(&[]).data();
    assert_eq!(data["outcome"], "agreed");
    assert_eq!(data["seats"]["opponent"]["repairs"], 1);
    let repair = scene.noted("opponent.prompt.2");
    assert!(repair.contains("src/charge.rs has no such text"), "{repair}");
}

#[test]
fn without_an_arbitrator_a_dispute_ends_the_run_undecided() {
    let scene = Scene::new();
    scene.agent("opponent", &[("", FIRST_CLAIM)]);
    scene.agent("proposer", &[("", "MOVE: appeal\nP1: is it worth a key? Uphold or dismiss.\n")]);
    let ran = scene.run(&["--arbitrator", "none"]);
    ran.refused(7, "UNDECIDED");
    let data = ran.any_data();
    assert_eq!(data["stopped_by"]["kind"], "arbitrator");
    assert_eq!(
        (&data["outcome"], &data["debate_state"]),
        (&json!("undecided"), &json!("AWAITING_ARBITRATOR"))
    );
    let debate = data["debate_id"].as_str().unwrap();
    assert_eq!(data["resume_command"], format!("aw debate run --resume {debate}"));
    // A person rules and the run goes on.
    let ruling = [
        "debate",
        "ruling",
        "--debate-id",
        debate,
        "--dismiss",
        "P1",
        "--close",
        "--content",
        "No.",
    ];
    scene.aw.quietly(&ruling).ok();
    let resumed = scene.run(&["--resume", debate]).data();
    assert_eq!(resumed["outcome"], "ruled");
}

#[test]
fn a_debate_that_is_closed_with_a_blocking_point_exits_with_9() {
    let scene = Scene::new();
    scene.agent("opponent", &[("", FIRST_CLAIM)]);
    scene.agent("proposer", &[("", "MOVE: appeal\nP1: uphold or dismiss?\n")]);
    scene.agent("judge", &[("", "MOVE: close\nGo ahead as it is.\n")]);
    let ran = scene.run(&["--arbitrator", "judge"]);
    assert_eq!(ran.code, 9, "{}", ran.stdout);
    let data = ran.data();
    assert_eq!(data["outcome"], "left_open");
    assert_eq!(data["points"]["left_open"], json!(["P1"]));
}

#[test]
fn a_ruling_that_decides_nothing_is_repaired() {
    let scene = Scene::new();
    scene.agent("opponent", &[("", FIRST_CLAIM), ("", super::scene::AGREES)]);
    scene.agent("proposer", &[("", "MOVE: appeal\nP1: uphold or dismiss?\n"), (MENDS, ACCEPTS)]);
    scene.agent("judge", &[("", "Both have a point.\n"), ("", "### P1 [upheld] A key.\n")]);
    let data = scene.run(&["--arbitrator", "judge"]).data();
    assert_eq!(data["outcome"], "agreed");
    assert_eq!(data["seats"]["arbitrator"]["repairs"], 1);
}

#[test]
fn the_arbitrator_reads_why_a_resolution_waits_and_how_to_approve_it() {
    let scene = Scene::new();
    scene.agent("opponent", &[("", "I have nothing to say about points.\n")]);
    scene.agent("proposer", &[("", "Nothing either.\n")]);
    scene.agent("judge", &[("", "MOVE: close\nIt is good as it is.\n")]);
    let data = scene.run(&["--rounds", "1", "--arbitrator", "judge"]).data();
    assert_eq!(data["outcome"], "ruled");
    let prompt = scene.noted("judge.prompt");
    let why =
        "The RESOLUTION waits for you: the opponent has not agreed. `MOVE: close` approves it.";
    assert!(prompt.contains(why), "{prompt}");
}

#[test]
fn the_opponent_reads_that_an_accepted_point_stands_unchanged() {
    let scene = Scene::new();
    scene.agent("opponent", &[("", FIRST_CLAIM), ("", super::scene::AGREES)]);
    scene.agent("proposer", &[("sed -i 's/30 days/90 days/' plan.md", ACCEPTS)]);
    assert_eq!(scene.run(&[]).data()["outcome"], "agreed");
    let prompt = scene.noted("opponent.prompt");
    let stands = "- P1 critical, accepted, for the opponent, its quotes still stand:";
    assert!(prompt.contains(stands), "{prompt}");
}

#[test]
fn a_ruling_on_a_point_that_is_over_decides_nothing() {
    let scene = Scene::new();
    let two = format!("### NEW [minor] How long?\nSay it.\n{FIRST_CLAIM}");
    let drops = "### P1 [withdrawn] It is clear.\n### P2 [open] It still charges twice.\n";
    let agrees = "### P2 [resolved] Step 1 of v2.\n### VERDICT [agree]\n";
    scene.agent("opponent", &[("", &two), ("", drops), ("", agrees)]);
    scene.agent(
        "proposer",
        &[
            ("", "### P1 [rejected] It says so.\n### P2 [rejected] The bank notices it.\n"),
            ("", "MOVE: appeal\nP2: uphold or dismiss?\n"),
            (MENDS, "### P2 [accepted] One key a payment.\n"),
        ],
    );
    scene.agent("judge", &[("", "### P1 [dismissed] Over.\n"), ("", "### P2 [upheld] A key.\n")]);
    let data = scene.run(&["--arbitrator", "judge"]).data();
    assert_eq!(data["outcome"], "agreed");
    assert_eq!(data["seats"]["arbitrator"]["repairs"], 1);
}

#[test]
fn the_plan_goes_beside_if_its_user_has_changed_it_meanwhile() {
    let scene = Scene::new();
    let plan = scene.aw.desk().join("plan.md");
    scene.agent("opponent", &[("", FIRST_CLAIM), ("", super::scene::AGREES)]);
    let edits = format!("{MENDS}; printf '# Mine\\n' > '{}'", plan.display());
    scene.agent("proposer", &[(&edits, ACCEPTS)]);
    let data = scene.run(&[]).data();
    assert_eq!(data["outcome"], "agreed", "{data}");
    assert_eq!(scene.text("plan.md"), "# Mine\n");
    assert!(scene.text("plan.debated.md").contains("one key a payment"));
}

#[test]
fn no_file_is_written_where_none_is_wanted() {
    let scene = Scene::agreeing();
    let data = scene.run(&["--no-write"]).data();
    assert_eq!((&data["output"], &data["report"]), (&json!(null), &json!(null)));
    assert_eq!(scene.text("plan.md"), super::scene::PLAN);
    let scene = Scene::agreeing();
    let data = scene.run(&["--output", "better.md"]).data();
    assert_eq!(scene.text("plan.md"), super::scene::PLAN);
    assert!(scene.text("better.md").contains("one key a payment"), "{data}");
}

#[test]
fn a_run_can_drive_the_opponent_of_a_debate_that_others_opened() {
    let scene = Scene::agreeing();
    let made =
        scene.aw.quietly(&["docs", "create", "--file", "plan.md", "--summary", "Plan"]).data();
    let document = made["document_id"].as_str().unwrap();
    let motion = format!("Please examine doc_id={document} (v1).");
    let created = scene.aw.quietly(&[
        "debate",
        "create",
        "--title",
        "T",
        "--type",
        "general_debate",
        "--points",
        "--content",
        &motion,
    ]);
    let debate = created.data()["debate_id"].as_str().unwrap().to_owned();
    let ran = scene.run(&["--debate-id", &debate, "--opponent", "opponent", "--detach"]);
    assert_eq!(ran.data()["outcome"], "running");
    let waited = scene.aw.quietly(&[
        "debate",
        "wait",
        "--debate-id",
        &debate,
        "--role",
        "proposer",
        "--argument-id",
        created.data()["argument_id"].as_str().unwrap(),
        "--deadline",
        "60",
        "--full",
    ]);
    assert_eq!(waited.data()["argument"]["role"], "opponent", "{}", waited.stdout);
    assert_eq!(waited.data()["argument"]["via"], "run");
    let stopped = scene.aw.quietly(&["debate", "run", "--stop", &debate]).data();
    assert_eq!(stopped["stopped"], true);
    assert_eq!(scene.turns_of("proposer"), 0, "the proposer's seat stays open");
}

#[test]
fn documents_that_were_made_in_one_moment_lie_side_by_side() {
    let scene = Scene::new();
    let [one, two] = ["One", "Two"].map(|summary| {
        let line = ["docs", "create", "--file", "src/charge.rs", "--summary", summary];
        scene.aw.quietly(&line).data()["document_id"].as_str().unwrap().to_owned()
    });
    let cites = format!("See doc_id={one} (v1) and doc_id={two} (v1).\n{FIRST_CLAIM}");
    scene.agent("opponent", &[("", &cites), ("", super::scene::AGREES)]);
    scene.agent("proposer", &[(&format!("ls .aw > \"$seen.files\"; {MENDS}"), ACCEPTS)]);
    assert_eq!(scene.run(&[]).data()["outcome"], "agreed");
    let files = scene.noted("proposer.files");
    for document in [one, two] {
        assert!(files.contains(&format!("{document}.v1.md")), "{files}");
    }
}

#[test]
fn a_version_that_only_the_opponent_names_is_not_the_plan() {
    let scene = Scene::new();
    let wishes =
        "printf '%s (v99) would be better.\\n' \"$(grep -om1 'doc_id=[0-9a-f-]*' .aw/debate.md)\"";
    scene.agent("opponent", &[(wishes, FIRST_CLAIM), ("", super::scene::AGREES)]);
    scene.agent("proposer", &[(MENDS, ACCEPTS)]);
    let data = scene.run(&[]).data();
    assert_eq!((&data["outcome"], &data["documents"][0]["version"]), (&json!("agreed"), &json!(2)));
    let arguments = scene.arguments(data["debate_id"].as_str().unwrap());
    assert!(arguments[1]["content"].as_str().unwrap().contains("(v99) would be better."));
    assert!(arguments[2]["content"].as_str().unwrap().ends_with("(v1 → v2)"), "{}", arguments[2]);
}

#[test]
fn a_plan_that_the_proposer_took_back_is_neither_kept_nor_written() {
    let scene = Scene::new();
    let withdraws = "### P1 [withdrawn] It does.\n### VERDICT [agree]\n\
         > The worker retries the POST up to 3 times.\n> Old rows are deleted after 30 days.\n";
    scene.agent("opponent", &[("", FIRST_CLAIM), ("cp plan.md \"$seen.plan\"", withdraws)]);
    let adds = "echo '3. Drop the payments table.' >> plan.md";
    let flawed = "### P1 [accepted] Done.\n### P9 [accepted] Done.\n";
    let rejects = "### P1 [rejected] The bank notices it.\n";
    scene.agent("proposer", &[(adds, flawed), ("cp .aw/plan.v1.md plan.md", rejects)]);
    scene.agent("judge", &[("", "MOVE: close\nEnough.\n")]);
    let data = scene.run(&["--arbitrator", "judge"]).data();
    assert_eq!(data["debate_state"], "CLOSED");
    assert_eq!(scene.noted("opponent.plan"), super::scene::PLAN);
    assert_eq!(scene.text("plan.md"), super::scene::PLAN);
    let document = data["documents"][0]["document_id"].as_str().unwrap();
    let versions = scene.aw.quietly(&["docs", "history", document]).data();
    assert_eq!(versions["versions"].as_array().unwrap().len(), 1, "{versions}");
}

#[test]
fn a_repair_asks_the_proposer_to_edit_the_file_and_not_to_submit_a_version() {
    let scene = Scene::new();
    scene.agent("opponent", &[("", FIRST_CLAIM), ("", super::scene::AGREES)]);
    scene.agent("proposer", &[("", ACCEPTS), (MENDS, ACCEPTS)]);
    assert_eq!(scene.run(&[]).data()["outcome"], "agreed");
    let repair = scene.noted("proposer.prompt.2");
    assert!(repair.contains("edit its file in your folder"), "{repair}");
    assert!(!repair.contains("submit a new version"), "{repair}");
}

#[test]
fn an_output_is_the_plan_itself_or_a_file_in_a_folder_that_exists() {
    let scene = Scene::agreeing();
    scene.run(&["--output", "new/out.md"]).refused(4, "INVALID_INPUT");
    assert_eq!(scene.turns_of("opponent"), 0, "it is refused before a turn is played");
    let data = scene.run(&["--output", "./plan.md"]).data();
    assert!(scene.text("plan.md").contains("one key a payment"), "{data}");
}
