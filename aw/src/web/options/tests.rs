//! APPEALs as the kit teaches them, and variations of them.

use super::*;

/// The names and texts of the choices, with a star for the free one.
fn read(appeal: &str) -> Vec<String> {
    let shown = |choice: Choice| {
        let star = if choice.is_free { "*" } else { "" };
        format!("{}{star}: {}", choice.name, choice.words)
    };
    choices(appeal).into_iter().map(shown).collect()
}

const SEED: &str = "## Context\n\nWhere do limits live? Steps so far:\n\n1. We measured.\n2. We argued.\n3. We disagreed.\n\n\
    ## Lập trường Proposer\n\nIn the gateway.\n\n## Lập trường Opponent\n\nIn the service.\n\n\
    ## Các phương án đề xuất\n\n1. **Option A:** Theo hướng Proposer\n2. **Option B:** Theo hướng `Opponent`\n\
    3. **Option C:** Phương án dung hòa\n4. **Option D:** Arbitrator đưa ra phương án khác\n";

const KIT: &str = "## Context\nWhere do limits live?\n## Proposer's position\nIn the gateway.\n## Opponent's position\n\
    In the service.\n## Options\n1. **Option A:** The gateway\n2. **Option B:** The service\n3. **Option C:** Both\n\
    4. **Option D:** Another way, which the Arbitrator describes\n";

#[test]
fn the_seeds_template_is_read() {
    assert_eq!(
        read(SEED),
        [
            "Option A: Theo hướng Proposer",
            "Option B: Theo hướng Opponent",
            "Option C: Phương án dung hòa",
            "Option D*: Arbitrator đưa ra phương án khác",
        ]
    );
    let sections = sections(SEED);
    assert!(sections.context.unwrap().starts_with("Where do limits live?"));
    assert!(sections.context.unwrap().ends_with("3. We disagreed."));
    assert_eq!(sections.proposer, Some("In the gateway."));
    assert_eq!(sections.opponent, Some("In the service."));
}

#[test]
fn the_kits_templates_are_read() {
    assert_eq!(
        read(KIT),
        [
            "Option A: The gateway",
            "Option B: The service",
            "Option C: Both",
            "Option D*: Another way, which the Arbitrator describes",
        ]
    );
    let found = sections(KIT);
    assert_eq!(found.context, Some("Where do limits live?"));
    assert_eq!(found.proposer, Some("In the gateway."));
    assert_eq!(found.opponent, Some("In the service."));
    let vietnamese = KIT.replace(
        "Another way, which the Arbitrator describes",
        "Phương án khác, do Arbitrator đưa ra",
    );
    assert_eq!(read(&vietnamese)[3], "Option D*: Phương án khác, do Arbitrator đưa ra");
}

#[test]
fn the_templates_of_the_kit_are_read_as_they_are() {
    for text in [
        include_str!("../../../agent/en/commands/proposer.md"),
        include_str!("../../../agent/vi/commands/proposer.md"),
    ] {
        let appeal =
            text.split("```markdown\n").find(|part| part.starts_with("## Context")).unwrap();
        let appeal = appeal.split("```").next().unwrap();
        let found = choices(appeal);
        let (last, others) = found.split_last().unwrap();
        assert_eq!(found.len(), 3, "{appeal}");
        assert!(last.is_free && others.iter().all(|choice| !choice.is_free), "{found:?}");
        let sections = sections(appeal);
        assert!(
            sections.context.is_some()
                && sections.proposer.is_some()
                && sections.opponent.is_some()
        );
    }
}

#[test]
fn variations_of_the_list_are_read() {
    let two = ["Keep SQLite", "Use Postgres"];
    for (list, names) in [
        ("1. Keep SQLite\n2. Use Postgres", ["1", "2"]),
        ("1) Keep SQLite\n2) Use Postgres", ["1", "2"]),
        ("1. Keep SQLite\n1. Use Postgres", ["1", "2"]),
        ("(1) Keep SQLite\n(2) Use Postgres", ["1", "2"]),
        ("A. Keep SQLite\nB. Use Postgres", ["A", "B"]),
        ("a) Keep SQLite\nb) Use Postgres", ["A", "B"]),
        ("**A.** Keep SQLite\n\n**B.** Use Postgres", ["A", "B"]),
        ("- A: Keep SQLite\n- B: Use Postgres", ["A", "B"]),
        ("- **A:** Keep SQLite\n- **B:** Use Postgres", ["A", "B"]),
        ("- Keep SQLite\n- Use Postgres", ["1", "2"]),
        ("* Keep SQLite\n\n* Use Postgres", ["1", "2"]),
        ("- Option A: Keep SQLite\n- Option B: Use Postgres", ["Option A", "Option B"]),
        ("- **Option 1** – Keep SQLite\n- **Option 2** – Use Postgres", ["Option 1", "Option 2"]),
        ("Option A: Keep SQLite\nOption B: Use Postgres", ["Option A", "Option B"]),
        ("**Option A**: Keep SQLite\n\n**Option B**: Use Postgres", ["Option A", "Option B"]),
        ("**Option A: Keep SQLite**\n\n**Option B: Use Postgres**", ["Option A", "Option B"]),
        ("### Option A: Keep SQLite\n### Option B: Use Postgres", ["Option A", "Option B"]),
        ("### Option A\nKeep SQLite\n\n### Option B\nUse Postgres", ["Option A", "Option B"]),
        ("## Option A\nKeep SQLite\n## Option B\nUse Postgres", ["Option A", "Option B"]),
        ("### 1. Keep SQLite\n### 2. Use Postgres", ["1", "2"]),
        (
            "1. **Phương án A:** Keep SQLite\n2. **Phương án B:** Use Postgres",
            ["Phương án A", "Phương án B"],
        ),
        ("- Phương án 1: Keep SQLite\n- Phương án 2: Use Postgres", ["Phương án 1", "Phương án 2"]),
        (
            "1. *Lựa chọn 1*: Keep SQLite\n2. *Lựa chọn 2*: Use Postgres",
            ["Lựa chọn 1", "Lựa chọn 2"],
        ),
        ("PA1: Keep SQLite\nPA2: Use Postgres", ["PA1", "PA2"]),
        ("| Option | What |\n|---|---|\n| A | Keep SQLite |\n| B | Use Postgres |", ["A", "B"]),
        (
            "| | What |\n|---|---|\n| **Option A** | Keep SQLite |\n| **Option B** | Use Postgres |",
            ["Option A", "Option B"],
        ),
    ] {
        for heading in [
            "## Options",
            "### 4. Các phương án đề xuất",
            "**Các phương án:**",
            "Lựa chọn:",
            "# Choices",
            "## Phương án đề xuất cho Arbitrator",
            "Các options:",
        ] {
            let appeal = format!("## Context\n\n1. one\n2. two\n\n{heading}\n\n{list}\n");
            let found = choices(&appeal);
            let found: Vec<_> =
                found.iter().map(|choice| (choice.name.as_str(), choice.words.as_str())).collect();
            let expected: Vec<_> = names.iter().copied().zip(two).collect();
            assert_eq!(found, expected, "{appeal}");
        }
    }
}

#[test]
fn labelled_options_need_no_heading() {
    let appeal = "We disagree on storage.\n\n- **Option A:** Keep SQLite\n  with WAL\n- **Option B:** Use Postgres\n- Other: please describe\n\nI prefer A.";
    assert_eq!(
        read(appeal),
        ["Option A: Keep SQLite with WAL", "Option B: Use Postgres", "Other*: please describe"]
    );
    let appeal = "Phương án 1: giữ nguyên.\nPhương án 2: đổi.\n";
    assert_eq!(read(appeal), ["Phương án 1: giữ nguyên.", "Phương án 2: đổi."]);
}

#[test]
fn an_option_includes_its_further_lines() {
    let appeal = "## Options\n\n1. **Option A:** Keep SQLite\n   - cheap\n   - one writer\n\n   It has worked.\n2. **Option B:** [Postgres](https://example.org) **now**\n\nWe ask for a decision.\n\n1. soon\n2. in writing\n";
    assert_eq!(
        read(appeal),
        ["Option A: Keep SQLite\n- cheap\n- one writer\nIt has worked.", "Option B: Postgres now"]
    );
    let appeal = "## Options\n### Option A: Keep\nBecause:\n\n- cheap\n\n### Option B: Move\nLater.\n\n## Deadline\nToday.";
    assert_eq!(read(appeal), ["Option A: Keep\nBecause:\n- cheap", "Option B: Move\nLater."]);
}

#[test]
fn the_last_one_may_be_any_other_way() {
    for last in [
        "Other",
        "Other (please describe)",
        "Others…",
        "Something else",
        "Another way",
        "None of the above",
        "Another approach, as the Arbitrator sees fit",
        "Phương án khác",
        "Phương án khác (Arbitrator nêu rõ)",
        "Phương án khác do Arbitrator đưa ra",
        "Arbitrator đưa ra phương án khác",
        "Hướng khác",
        "Khác",
        "The Arbitrator decides otherwise",
        "Arbitrator proposes a different solution",
        "Một phương án khác, nếu có",
        "Ý kiến khác: vui lòng mô tả",
        "Other: describe your own ruling",
        "A different approach",
    ] {
        let found = choices(&format!("## Options\n\n1. Keep\n2. Move\n3. {last}\n"));
        assert!(found.len() == 3 && found[2].is_free, "{last}: {found:?}");
        let found = choices(&format!(
            "## Options\n\n1. **Option A:** Keep\n2. **Option B:** Move\n3. **Option C:** {last}\n"
        ));
        assert!(found.len() == 3 && found[2].is_free && !found[1].is_free, "{last}: {found:?}");
    }
    for last in [
        "Other teams use Postgres, so do we",
        "Another way: use Redis for the counters",
        "Keep",
        "Khác với A, dùng Redis",
        "The Arbitrator's limit of 5 stays",
    ] {
        let found = choices(&format!("## Options\n\n1. {last}\n2. Move\n3. {last}\n"));
        assert!(found.iter().all(|choice| !choice.is_free), "{last}: {found:?}");
    }
    // Only at the end.
    assert!(choices("## Options\n\n1. Other\n2. Keep\n").iter().all(|choice| !choice.is_free));
}

#[test]
fn a_list_that_may_be_something_else_is_no_choice() {
    for appeal in [
        "",
        "Please decide.",
        "## Context\n\n1. We did this.\n2. We did that.\n",
        "1. We did this.\n2. We did that.\n",
        "## Steps\n\n1. Keep\n2. Move\n\n## Options\n\nNone that we can see.\n",
        "## Options\n\n1. Only one\n",
        "## Options\n\nOption A was refused before.\n",
        "Option A was refused before.\nOption B was not.\n",
        "We looked at option A: it is slow.\n",
        "## Alternatives considered\n\n1. Redis\n2. Memcached\n",
        "## Comparison of the options\n\n- speed\n- cost\n",
        "## Context\n\nApproach 1: failed.\nApproach 2: failed too.\n",
        "```\n## Options\n1. Option A: x\n2. Option B: y\n```\n",
        "## Options\n\nKeep:\n\n- cheap\n- fast\n\nMove:\n\n- safe\n- slow\n",
        "Phase 1: a\nPhase 2: b\n",
        "1. Option A\n",
        "## Options\n\n```\n1. a\n2. b\n```\n",
    ] {
        assert_eq!(read(appeal), [""; 0], "{appeal}");
    }
    let many: String = (1..=13).map(|number| format!("{number}. x\n")).collect();
    assert_eq!(read(&format!("## Options\n{many}")), [""; 0]);
}

#[test]
fn the_later_list_of_options_counts() {
    let appeal = "## Context\n\nOption A: old\nOption B: old\n\n## Options\n\n- Option A: new\n- Option B: newer\n\n**Option A** is ours.\n";
    assert_eq!(read(appeal), ["Option A: new", "Option B: newer"]);
}

#[test]
fn both_sides_are_found_under_many_headings() {
    for (proposer, opponent) in [
        ("## Lập trường Proposer\n\n", "## Lập trường Opponent\n\n"),
        ("## 2. Quan điểm của Proposer\n", "## 3. Quan điểm của Opponent\n"),
        ("### Proposer’s position\n", "### Opponent’s position\n"),
        ("**Proposer:** ", "**Opponent:** "),
        ("- **Lập trường của Proposer:** ", "- **Lập trường của Opponent:** "),
        ("Proposer's view:\n", "Opponent's view:\n"),
        ("## My position\n", "## Opponent\n"),
        ("## Bên đề xuất\n", "## Bên phản biện\n"),
    ] {
        let appeal = format!(
            "# Appeal\n\nIntro.\n\n{proposer}Keep it.\n\n{opponent}Move it.\n\n## Options\n1. a\n2. b\n"
        );
        let found = sections(&appeal);
        assert_eq!(
            (found.proposer, found.opponent),
            (Some("Keep it."), Some("Move it.")),
            "{appeal}"
        );
        assert_eq!(choices(&appeal).len(), 2, "{appeal}");
    }
    assert_eq!(sections("Just words about the proposer and the opponent."), Sections::default());
    let deeper = "## Proposer's position\nWords.\n### Why\nBecause.\n## Opponent's position\nNo.";
    assert_eq!(sections(deeper).proposer, Some("Words.\n### Why\nBecause."));
}

#[test]
fn broken_appeals_do_not_panic() {
    for appeal in [
        "#",
        "# ",
        "**",
        "****",
        "- ",
        "|",
        "|-",
        "## Options\n|",
        "## Options\n| |",
        "## Options\n||\n|--|\n||",
        "Option",
        "Option ",
        "Phương án",
        "ƯƠPhương án A",
        "İOption A: x\nİOption B: y",
        "1.",
        "(",
        "(1",
        "## Options\n1.\n2.\n",
        "\u{202E}Option A:\n",
        "## Options\r\n\r\n1. a\r\n2. b\r\n",
        "Options:",
        "**Options:** a",
        "PHƯƠNG ÁN A: x\nPHƯƠNG ÁN B: y",
    ] {
        let _ = choices(appeal);
        let _ = sections(appeal);
        for (cut, _) in KIT.char_indices().chain(SEED.char_indices()).step_by(5) {
            let text =
                format!("{appeal}{}", KIT.get(cut..).or(SEED.get(cut..)).unwrap_or_default());
            let _ = choices(&text);
        }
    }
    assert_eq!(read("## Options\r\n\r\n1. a\r\n2. b\r\n"), ["1: a", "2: b"]);
    assert_eq!(read("PHƯƠNG ÁN A: x\nPHƯƠNG ÁN B: y").len(), 2);
}

#[test]
fn a_turn_is_named_by_its_first_heading_or_line() {
    for (text, heading) in [
        ("## The **lock**\n\nIt waits.", "The lock"),
        ("It waits.\n\n### Later `on`\n", "Later on"),
        ("```\n# no heading\n```\nIt waits.", "It waits."),
        ("#hash is no heading", "#hash is no heading"),
        ("", ""),
    ] {
        assert_eq!(first_heading(text), heading, "{text}");
    }
    assert_eq!(first_heading(&"ấ".repeat(200)).chars().count(), HEADING + 1);
}

#[test]
fn an_appeal_without_a_heading_for_its_context_has_the_text_before_the_sides() {
    let appeal = "## Lock the row, or lease it?\n\nBoth keep two workers apart.\n\n\
        **Proposer:** Lock it.\n\n**Opponent:** Lease it.\n\n\
        - Option A: lock\n- Option B: lease\n";
    let found = sections(appeal);
    let lead = "## Lock the row, or lease it?\n\nBoth keep two workers apart.";
    assert_eq!(found.context, Some(lead));
    assert_eq!((found.proposer, found.opponent), (Some("Lock it."), Some("Lease it.")));
    assert_eq!(choices(appeal).len(), 2);
    assert_eq!(question(appeal), "Lock the row, or lease it?");
    // A heading that does not ask is no question.
    let named = appeal.replacen("Lock the row, or lease it?", "Appeal", 1);
    assert_eq!(question(&named), "Both keep two workers apart.");
}

#[test]
fn sections_that_are_not_the_whole_appeal_are_no_sections() {
    let sides = "**Proposer:** Lock it.\n\n**Opponent:** Lease it.\n";
    let whole = format!("## Context\nThe lock.\n\n{sides}\n## Options\nChoose one.\n1. a\n2. b\n");
    assert_eq!(sections(&whole).proposer, Some("Lock it."));
    for more in [
        format!("{whole}\n## Another dispute\n\n{sides}"),
        format!("{whole}\n## Deadline\nToday.\n"),
        format!("The deadline is today.\n\n{whole}"),
        whole.replace("1. a\n2. b\n", "Lock it, or lease it."),
        whole.replace("**Opponent:**", "**Proposer:** Or both.\n\n**Opponent:**"),
    ] {
        assert_eq!(sections(&more), Sections::default(), "{more}");
    }
}

#[test]
fn the_appeal_of_a_run_asks_about_its_point() {
    let side = |role, words| format!("\nThe {role}, in argument 6:\n\n> {words}\n");
    let sides = side("opponent", "### P2 [open]\n> Why?") + &side("proposer", "### P2 [rejected]");
    let why = "P2 was answered and held 2 times.\n";
    let asks = "Decide: uphold, dismiss, defer, or another way.";
    let one =
        format!("## Dispute\n\nP2 (major): Refunds need the old rows\n\n{why}{sides}\n{asks}");
    assert_eq!(question(&one), "P2 (major): Refunds need the old rows");
    let found = sections(&one);
    assert!(found.context.unwrap().ends_with("held 2 times."), "{found:?}");
    assert_eq!(found.opponent, Some("> ### P2 [open]\n> Why?"));
    assert_eq!(found.proposer, Some(format!("> ### P2 [rejected]\n\n{asks}").as_str()));
    let two = format!("## Dispute\n\nP2\n\nP3\n\n{why}\n## P2\n{sides}\n## P3\n{sides}\n{asks}");
    assert_eq!(sections(&two), Sections::default());
}
