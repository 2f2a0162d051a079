//! `aw search`, as agents read it and as people do.

use serde_json::json;

use super::aw::Aw;
use crate::world::text;

#[test]
fn a_search_shows_its_hits_and_leads_on() {
    let aw = Aw::new();
    let (debate, motion) = aw.opens("Charge retries", "A retry may charge\u{1b}[31m twice.", &[]);
    aw.call_it("DEBATE", &debate);
    aw.call_it("MOTION", &motion);
    let kept = aw.quietly(&["docs", "create", "--summary", "Retry plan", "--content", "# Budget"]);
    aw.call_it("DOCUMENT", &text(&kept.data()["document_id"]));
    let whole = aw.run(&["search", "charge", "TWICE"]).ok();
    assert_eq!((&whole["total_count"], &whole["has_more"]), (&json!(1), &json!(false)));
    let first = aw.quietly(&["search", "retr", "--limit", "1"]).ok();
    assert_eq!((&first["total_count"], &first["has_more"]), (&json!(null), &json!(true)));
    aw.run(&["search", "retr", "--limit", "1", "--format", "markdown"]);
    aw.run(&["search", "budget", "--format", "markdown"]);
    aw.run(&["search", "nothing like it", "--format", "markdown"]);
    aw.transcript("search");
}

#[test]
fn a_search_without_words_is_refused() {
    let aw = Aw::new();
    for typed in
        [&["search"][..], &["search", ""], &["search", "\"* --"], &["search", "a", "--limit", "x"]]
    {
        aw.run(typed).refused(4, "INVALID_INPUT");
    }
    let gone = crate::world::new_id();
    aw.run(&["search", "word", "--debate-id", &gone]).refused(2, "DEBATE_NOT_FOUND");
}
