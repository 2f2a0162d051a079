//! Searches of the whole record.

use aw_core::{DebateId, Move, Role, SeatName};
use aw_record::{Failure, HitPlace, NewSeat, Search, SearchHit, SearchPage, SeatRole};
use uuid::Uuid;

use crate::world::{World, document, saying};

impl World {
    async fn finds(&self, search: Search) -> SearchPage {
        let limit = if search.limit == 0 { 50 } else { search.limit };
        let page = self.engine.search(Search { limit, ..search }).await.unwrap();
        assert!(page.is_complete);
        page
    }

    /// The hits for these words, as `shown` shows them.
    async fn found(&self, text: &str) -> Vec<String> {
        let page = self.finds(Search { text: text.to_owned(), ..Search::default() }).await;
        page.hits.iter().map(shown).collect()
    }

    async fn says(&self, debate: DebateId, target: aw_core::ArgumentId, words: &str) {
        let claim = saying(debate, Role::Opponent, Move::Claim { target }, words);
        self.engine.execute(claim).await.unwrap();
    }
}

/// Where a hit stands, and its snippet with the matches in brackets.
fn shown(hit: &SearchHit) -> String {
    let parts = hit.snippet.iter().map(|part| match part.is_match {
        true => format!("[{}]", part.text),
        false => part.text.clone(),
    });
    let snippet: String = parts.collect();
    match &hit.place {
        HitPlace::Title { .. } => format!("title: {snippet}"),
        HitPlace::Argument { title, seq, kind, .. } => {
            format!("{} {seq} {kind}: {snippet}", title.as_str())
        }
        HitPlace::Document { name, version, .. } => format!("{name} v{version}: {snippet}"),
    }
}

fn page(text: &str) -> Search {
    Search { text: text.to_owned(), ..Search::default() }
}

#[tokio::test]
async fn a_search_finds_titles_arguments_documents_and_authors() {
    let world = World::new();
    let (debate, motion) = world.opens("Charge retries").await;
    world.says(debate, motion, "A retry may charge twice.\n\nUse a **key**.").await;
    world.plays(debate, Role::Arbitrator, Move::Intervention).await;
    let plan = world.keeps("Plan of retries").await;
    assert_eq!(
        world.found("twice").await,
        ["Charge retries 2 CLAIM: A retry may charge [twice]. Use a **key**."]
    );
    assert_eq!(
        world.found("RETRIES charge").await,
        ["Charge retries 1 MOTION: Motion: [Charge] [retries]", "title: [Charge] [retries]"],
        "the newest first, and all words"
    );
    assert_eq!(world.found("plan retr").await, ["Plan of retries v1: # [Plan] of [retries] "]);
    // The label of an author is no part of the text.
    let hits = world.finds(page("opponent author")).await.hits;
    assert_eq!(hits[0].author.as_ref().unwrap().as_str(), "opponent's author");
    assert_eq!(world.found("intervention").await.len(), 1);
    world.adds(plan, "Plan of budgets").await;
    assert_eq!(world.found("plan retr").await, [""; 0], "only the newest version");
    assert_eq!(world.found("plan budg").await, ["Plan of retries v2: # [Plan] of [budgets] "]);
}

#[tokio::test]
async fn words_are_found_with_and_without_diacritics() {
    let world = World::new();
    let (debate, motion) = world.opens("Kế hoạch").await;
    world.says(debate, motion, "Đường dây nóng bị nghẽn.").await;
    for words in ["đường dây", "duong day", "DUONG DÂY", "nghe\u{303}n", "đuong"] {
        assert_eq!(world.found(words).await.len(), 1, "{words}");
    }
    assert_eq!(world.found("duong").await, ["Kế hoạch 2 CLAIM: [Đường] dây nóng bị nghẽn."]);
    assert_eq!(world.found("đương").await.len(), 1, "a search ignores all marks");
}

#[tokio::test]
async fn operators_quotes_and_control_characters_are_no_language() {
    let world = World::new();
    let (debate, motion) = world.opens("Operators").await;
    world.says(debate, motion, "say \"hello\" AND wave; it's 100% -- NEAR(a, b) OR not").await;
    for words in [
        "\"hello\" AND",
        "it's",
        "NEAR(a b)",
        "hello* OR",
        "100% & wave:*",
        "-hello",
        "a\0b\u{7} wave",
    ] {
        assert_eq!(world.found(words).await.len(), 1, "{words}");
    }
    for words in ["hello OR nothing", "he*o", "words:hello", "! hello nobody", "¦1 wave"] {
        assert_eq!(world.found(words).await, [""; 0], "{words}");
    }
    for words in ["¤", "¶§¦", "\"", "*"] {
        assert_eq!(world.found(words).await, [""; 0], "{words}: the index has such marks");
    }
    assert_eq!(world.found(" \0 \u{7} …").await, [""; 0]);
    assert_eq!(world.found(&"long ".repeat(2_000)).await, [""; 0]);
    assert_eq!(world.found(&"x".repeat(10_000)).await, [""; 0]);
}

#[tokio::test]
async fn a_search_of_more_than_32_different_words_is_refused() {
    let world = World::new();
    let words = |count: u32| (1..=count).map(|number| format!("word{number} ")).collect::<String>();
    let (debate, motion) = world.opens("Words").await;
    world.says(debate, motion, &words(40)).await;
    assert_eq!(world.found(&words(32)).await.len(), 1);
    assert_eq!(world.found(&words(32).repeat(9)).await.len(), 1, "each counts once");
    for too_many in [words(33), words(33).repeat(9), "字句".repeat(9) + &words(31)] {
        let refused = world.engine.search(Search { limit: 5, ..page(&too_many) }).await;
        assert!(matches!(refused, Err(Failure::TooManyWords { most: 32 })), "{refused:?}");
    }
}

#[tokio::test]
async fn an_id_is_found_by_its_beginning() {
    let world = World::new();
    let (debate, motion) = world.opens("By id").await;
    let plan = world.keeps("Plan").await;
    for (id, found) in [
        (debate.uuid(), "title: By id"),
        (motion.uuid(), "By id 1 MOTION: Motion: By id"),
        (plan.uuid(), "Plan v1: # Plan "),
    ] {
        let (whole, digits) = (id.to_string(), id.simple().to_string().to_uppercase());
        for piece in [&whole, &whole[..13], &whole[..4], &digits, &format!(" {} ", &digits[..7])] {
            assert!(world.found(piece).await.iter().any(|hit| hit == found), "{piece}");
        }
        assert_eq!(world.found(&whole).await, [found]);
        for wrong in [&whole[1..], &whole[..3], &format!("{whole}0")] {
            assert!(!world.found(wrong).await.iter().any(|hit| hit == found), "{wrong}");
        }
    }
    assert_eq!(world.found(&Uuid::now_v7().to_string()).await, [""; 0]);
    world.engine.archive(debate, true).await.unwrap();
    assert_eq!(world.found(&debate.to_string()).await, ["title: By id"], "archived");
}

#[tokio::test]
async fn an_id_in_a_text_is_found_alone_and_among_words() {
    let world = World::new();
    let (debate, motion) = world.opens("Budgets").await;
    let plan = world.keeps("Plan").await;
    world.says(debate, motion, &format!("Retries of {plan} cost much.")).await;
    let whole = plan.to_string();
    let (piece, last) = (&whole[..13], &whole[24..]);
    let first = &whole[..8];
    let found = world.found(piece).await;
    assert_eq!((found[0].as_str(), found.len()), ("Plan v1: # Plan ", 2), "ids first");
    for mixed in [&format!("cost {piece}"), &format!("{first} retries"), &format!("much {last}")] {
        assert_eq!(world.found(mixed).await.len(), 1, "{mixed}");
    }
    assert_eq!(world.found(&format!("{piece} nothing")).await, [""; 0]);
    assert_eq!(world.found(last).await.len(), 1, "an end of an id is a word of the text only");
}

#[tokio::test]
async fn deleted_debates_and_documents_are_never_found() {
    let world = World::new();
    let (debate, motion) = world.opens("Secret needle").await;
    let plan = world.keeps("Needle plan").await;
    let (late, _) = world.opens("Late needle").await;
    assert_eq!(world.found("needle").await.len(), 5);
    let (never, _) = world.opens("Never indexed needle").await;
    for debate in [debate, late, never] {
        world.engine.delete(debate).await.unwrap();
    }
    world.engine.delete_document(plan).await.unwrap();
    let texts = ["needle".to_owned(), debate.to_string(), motion.to_string(), plan.to_string()];
    for is_purged in [false, true] {
        for text in texts.iter().map(String::as_str).chain([&texts[1][..4]]) {
            assert_eq!(world.found(text).await, [""; 0], "{text}");
        }
        if !is_purged {
            world.engine.purge(debate, false).await.unwrap();
        }
    }
}

#[tokio::test]
async fn pages_follow_each_other_from_the_newest_hit() {
    let world = World::new();
    let (debate, mut target) = world.opens("Long").await;
    for number in 2..=7 {
        let role = if number % 2 == 0 { Role::Opponent } else { Role::Proposer };
        let claim = saying(debate, role, Move::Claim { target }, &format!("common number{number}"));
        target = world.engine.execute(claim).await.unwrap().argument.id;
    }
    let mut seqs = Vec::new();
    let mut before = None;
    loop {
        let page = world.finds(Search { before, limit: 4, ..page("common") }).await;
        seqs.extend(page.hits.iter().map(|hit| match hit.place {
            HitPlace::Argument { seq, .. } => seq.0,
            _ => 0,
        }));
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(seqs, [7, 6, 5, 4, 3, 2]);
    let none = Search { limit: 0, ..page("common") };
    assert!(world.engine.search(none).await.unwrap().hits.is_empty());
}

#[tokio::test]
async fn a_search_in_a_debate_finds_only_it_and_its_documents() {
    let world = World::new();
    let (debate, motion) = world.opens("First needle").await;
    let (other, others_motion) = world.opens("Other needle").await;
    let cited = world.keeps("Cited needle").await;
    let own = NewSeat {
        name: SeatName::recorded("An".to_owned()),
        role: SeatRole::Plays(Role::Opponent),
        debate: Some(debate),
        expires_at: None,
        token: aw_core::Hash([1; 32]),
    };
    let seat = world.engine.make_seat(own).await.unwrap();
    let mut written = document("Own needle");
    written.seat = Some(seat.id);
    world.engine.create_document(written).await.unwrap();
    world.keeps("Foreign needle").await;
    world.says(debate, motion, &format!("See {cited}.")).await;
    let count = async |search: Search| world.finds(search).await.hits.len();
    assert_eq!(count(page("needle")).await, 7);
    assert_eq!(count(Search { debate: Some(debate), ..page("needle") }).await, 3);
    let of_seat = |text: &str| Search { seen_by: Some(seat.clone()), ..page(text) };
    let hits = world.finds(of_seat("needle")).await.hits;
    let mut hits: Vec<String> = hits.iter().map(shown).collect();
    hits.sort();
    assert_eq!(
        hits,
        [
            "Cited needle v1: # Cited [needle] ",
            "First needle 1 MOTION: Motion: First [needle]",
            "Own needle v1: # Own [needle] ",
            "title: First [needle]",
        ]
    );
    assert_eq!(count(of_seat(&other.to_string())).await, 0);
    assert_eq!(count(of_seat(&others_motion.to_string())).await, 0);
    assert!(count(of_seat(&debate.to_string())).await > 0);
    world.engine.delete(debate).await.unwrap();
    let gone = world.engine.search(Search { debate: Some(debate), ..page("x") }).await;
    assert!(matches!(gone, Err(Failure::DebateNotFound { .. })));
}

#[tokio::test]
async fn a_backlog_is_indexed_in_pieces_and_a_search_says_what_it_lacks() {
    let world = World::new();
    let (debate, mut target) = world.opens("Backlog").await;
    for number in 2..=300 {
        let role = if number % 2 == 0 { Role::Opponent } else { Role::Proposer };
        target = world.claims(debate, role, target).await;
    }
    let first = world.engine.search(Search { limit: 1, ..page("backlog") }).await.unwrap();
    assert!(!first.is_complete && first.hits.len() == 1);
    world.engine.search(page("backlog")).await.unwrap();
    assert!(world.engine.search(page("backlog")).await.unwrap().is_complete);
    assert_eq!(world.engine.verify(debate).await.unwrap().arguments, 300);
}

#[tokio::test]
async fn a_long_document_is_found_by_its_words() {
    let world = World::new();
    let text: String = (0..120_000).map(|number| format!("word{number} ")).collect();
    let mut long = document("Long one");
    long.version.content = aw_core::Content::recorded(text);
    world.engine.create_document(long).await.unwrap();
    assert_eq!(world.found("word7 word41").await.len(), 1);
}
