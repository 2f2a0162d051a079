//! Any text survives the way to the record and back, and none of it is obeyed on the way out.

use super::aw::Aw;
use crate::world::text;

const EVERYTHING: &str = "Kế hoạch: \"dấu ngoặc\" 'đơn' \\ \\n \\u0041 \u{1f9d1}\u{200d}\u{1f680}\n\
    \ttab, \r\nCR LF, \u{1} \u{8} \u{7f} \u{85} \u{9b}31m\u{1b}[31mred\u{1b}]0;title\u{7}\u{1b}[2J \
    \u{202e}turned\u{2066} \u{2028}line \u{feff}end {{braces}} %s $HOME `x` </script>";

#[test]
fn every_text_comes_back_unchanged() {
    let aw = Aw::new();
    aw.file("all.md", EVERYTHING);
    let create = ["debate", "create", "-t", "Tựa \"đề\" \u{1f642} \\", "--type", "general_debate"];
    for way in [&["--content", EVERYTHING][..], &["--file", "all.md"], &["--stdin"]] {
        let typed: Vec<&str> = create.iter().chain(way).copied().collect();
        let created = aw.piped(EVERYTHING.as_bytes(), &typed);
        let id = text(&created.data()["debate_id"]);
        let read = aw.quietly(&["debate", "get-context", "--debate-id", &id]);
        assert_eq!(read.stdout.trim_end().lines().count(), 1, "one line of JSON");
        let data = read.data();
        assert_eq!(data["motion"]["content"], EVERYTHING, "{way:?}");
        assert_eq!(data["debate"]["title"], "Tựa \"đề\" \u{1f642} \\");
        let waited = aw.quietly(&["debate", "wait", "--debate-id", &id, "--role", "opponent"]);
        assert_eq!(waited.data()["arguments"][0]["content"], EVERYTHING);
    }
    let kept = aw.quietly(&["docs", "create", "--summary", "Mọi thứ", "--file", "all.md"]);
    let id = text(&kept.data()["document_id"]);
    assert_eq!(aw.quietly(&["docs", "get", &id]).data()["content"], EVERYTHING);
    assert_eq!(aw.quietly(&["docs", "get", &id, "--format", "plain"]).stdout, EVERYTHING);
}

#[test]
fn escape_sequences_are_shown_and_not_obeyed_on_every_page() {
    let aw = Aw::new();
    let author = "An\u{1b}[31m";
    let create = ["debate", "create", "-t", "Title\u{1b}[5m", "--type", "general_debate"];
    let more = ["--content", EVERYTHING, "--author", author];
    let created = aw.quietly(&[&create[..], &more[..]].concat());
    // A title or an author may be refused for them; a text may not.
    let created = match created.code {
        0 => created,
        _ => {
            let plain = ["debate", "create", "-t", "Title", "--type", "general_debate"];
            aw.quietly(&[&plain[..], &["--content", EVERYTHING]].concat())
        }
    };
    let data = created.data();
    let (debate, motion) = (text(&data["debate_id"]), text(&data["argument_id"]));
    let claim =
        ["debate", "submit", "--debate-id", &debate, "--role", "opponent", "--target-id", &motion];
    aw.quietly(&[&claim[..], &["--content", EVERYTHING]].concat()).ok();
    let kept = aw.quietly(&["docs", "create", "--summary", "Summary", "--content", EVERYTHING]);
    let document = text(&kept.data()["document_id"]);
    let other = format!("{EVERYTHING} and \u{1b}[0m more");
    aw.quietly(&["docs", "submit", &document, "--summary", "More", "--content", &other]).ok();

    for page in [
        &["debate", "get-context", "--debate-id", &debate][..],
        &["debate", "wait", "--debate-id", &debate, "--role", "proposer"],
        &["debate", "wait", "--debate-id", &debate, "--role", "arbitrator", "--deadline", "0"],
        &["debate", "list"],
        &["debate", "list", "--search", "\u{1b}[31m"],
        &["debate", "list", "--state", "\u{1b}[31m"],
        &[
            "debate",
            "submit",
            "--debate-id",
            &debate,
            "--role",
            "\u{1b}",
            "--target-id",
            &motion,
            "--content",
            "c",
        ],
        &[
            "debate",
            "appeal",
            "--debate-id",
            &debate,
            "--target-id",
            &motion,
            "--file",
            "\u{1b}[31m.md",
        ],
        &["docs", "get", &document],
        &["docs", "diff", &document],
        &["docs", "history", &document],
        &["docs", "list"],
    ] {
        let ran = aw.quietly(&[page, &["--format", "markdown"]].concat());
        for bad in ['\u{1b}', '\u{7}', '\u{8}', '\u{9b}', '\r', '\u{202e}', '\u{2066}'] {
            assert!(!ran.stdout.contains(bad), "{bad:?} in {:?}", ran.stdout);
            assert!(!ran.stderr.contains(bad), "{bad:?} in {:?}", ran.stderr);
        }
    }
    let page = aw.run(&["debate", "get-context", "--debate-id", &debate, "--format", "markdown"]);
    assert!(page.stdout.contains("\\u{1b}[31mred"), "{}", page.stdout);
}
