//! Purging: the texts of a debate are gone, and the record still verifies.

use std::fs;

use aw_core::{DebateId, DocumentId, Move, Role};
use aw_record::{DocumentFilter, Engine, Failure, Filter, Search};
use rusqlite::Connection;
use uuid::Uuid;

use crate::verify::burglar;
use crate::world::{CLOSE, World, document, opening, saying};

/// A word that stands nowhere else.
const SECRET: &str = "Zweckentfremdungsverbot";

/// A closed debate with the secret in its title, in its claims and in a document that only it cites.
pub(crate) async fn with_secret(world: &World) -> (DebateId, DocumentId) {
    let debate: DebateId = Uuid::now_v7().into();
    let secret = world.engine.create_document(document(SECRET)).await.unwrap().document;
    let mut target = world.engine.execute(opening(debate, SECRET)).await.unwrap().argument.id;
    for (number, role) in [Role::Opponent, Role::Proposer].into_iter().cycle().take(8).enumerate() {
        let words = format!("{SECRET} in {secret}. {}", "and so on ".repeat(number * 40));
        let claim = saying(debate, role, Move::Claim { target }, &words);
        target = world.engine.execute(claim).await.unwrap().argument.id;
        // Between the rows of another debate, so that SQLite moves them from page to page.
        world.opens(&format!("Other {number}")).await;
    }
    world.plays(debate, Role::Arbitrator, Move::Intervention).await;
    world.plays(debate, Role::Arbitrator, CLOSE).await;
    (debate, secret)
}

/// How often the secret is found.
async fn hits(world: &World) -> usize {
    let search = Search { text: SECRET.to_owned(), limit: 100, ..Search::default() };
    world.engine.search(search).await.unwrap().hits.len()
}

async fn is_whole(engine: &Engine) -> bool {
    engine.verify_on(None).await.unwrap().damages.is_empty()
}

#[tokio::test]
async fn a_purged_debate_leaves_nothing_but_a_tombstone_with_its_last_hash() {
    let world = World::new();
    let (debate, secret) = with_secret(&world).await;
    assert!(hits(&world).await > 1);
    let before = world.engine.verify(debate).await.unwrap();
    let preview = world.engine.preview_purge(debate).await.unwrap();
    assert_eq!((preview.arguments, preview.documents), (before.arguments, 1));
    assert!(preview.bytes > 5_000 && preview.only_here == [secret] && preview.tombstone.is_none());

    let purged = world.engine.purge(debate, false).await.unwrap();
    assert_eq!((purged.tombstone.pieces, purged.tombstone.hash), (before.arguments, before.head));
    world.at(1_000);
    assert_eq!(world.engine.purge(debate, false).await.unwrap(), purged, "done again");
    let left = world.engine.verify(debate).await.unwrap();
    assert_eq!((left.head, left.checksum), (before.head, before.checksum));
    assert_eq!((left.arguments, left.tombstone), (0, Some(purged.tombstone)));
    assert!(is_whole(&world.engine).await);

    let gone = world.engine.context(debate, None).await.unwrap_err();
    assert!(matches!(gone, Failure::DebateNotFound { deleted_at: Some(_), .. }), "{gone}");
    let taken = world.engine.execute(opening(debate, "New")).await.unwrap_err();
    assert!(matches!(taken, Failure::DebateIdTaken { .. }), "{taken}");
    let seen = world.engine.note_seen(debate, before.head, 1).await.unwrap_err();
    assert!(matches!(seen, Failure::DebateNotFound { .. }), "{seen}");
    // A deleted debate can be purged too, and its slug is free again.
    let (hidden, _) = with_secret(&world).await;
    world.engine.delete(hidden).await.unwrap();
    world.engine.purge(hidden, true).await.unwrap();
    let filter = Filter { search: Some(SECRET.to_owned()), ..Filter::default() };
    let found = world.engine.list(&filter);
    assert_eq!(
        (found.await.unwrap().total, hits(&world).await),
        (0, 1),
        "a document was not asked for"
    );
    assert!(is_whole(&world.engine).await);
}

#[tokio::test]
async fn an_open_or_unknown_debate_is_not_purged() {
    let world = World::new();
    let (debate, _) = world.opens("Open").await;
    let open = world.engine.purge(debate, false).await.unwrap_err();
    assert!(matches!(open, Failure::StillOpen { .. }), "{open}");
    assert_eq!(world.engine.verify(debate).await.unwrap().arguments, 1);
    for unknown in [
        world.engine.purge(Uuid::from_u128(1).into(), false).await.map(drop),
        world.engine.preview_purge(Uuid::from_u128(1).into()).await.map(drop),
    ] {
        let unknown = unknown.unwrap_err();
        assert!(matches!(unknown, Failure::DebateNotFound { deleted_at: None, .. }), "{unknown}");
    }
}

#[tokio::test]
async fn documents_go_only_if_asked_and_only_if_no_other_debate_cites_them() {
    let world = World::new();
    let (kept, of_kept) = with_secret(&world).await;
    world.engine.purge(kept, false).await.unwrap();
    assert!(world.engine.document(of_kept, None, false).await.is_ok(), "it was not asked for");

    let (debate, own) = with_secret(&world).await;
    let (citing, motion) = world.opens("Citing").await;
    let cites = |document| format!("As in {document}.");
    let claim = saying(citing, Role::Opponent, Move::Claim { target: motion }, &cites(own));
    let target = world.engine.execute(claim).await.unwrap().argument.id;
    assert!(world.engine.preview_purge(debate).await.unwrap().only_here.is_empty());
    world.engine.purge(debate, true).await.unwrap();
    assert!(world.engine.document(own, None, false).await.is_ok(), "another debate cites it");

    let (debate, own) = with_secret(&world).await;
    world.engine.purge(debate, true).await.unwrap();
    let gone = world.engine.document(own, None, true).await.unwrap_err();
    assert!(matches!(gone, Failure::DocumentNotFound { deleted_at: Some(_), .. }), "{gone}");
    let filter = DocumentFilter { include_deleted: true, limit: 500, ..Default::default() };
    let list = world.engine.list_documents(filter).await.unwrap();
    let purged = list.documents.iter().find(|listed| listed.id == own).unwrap();
    assert_eq!(purged.summary.as_str(), "(purged)");
    // An argument that names a purged document cites nothing.
    let claim = saying(citing, Role::Proposer, Move::Claim { target }, &cites(own));
    world.engine.execute(claim).await.unwrap();
    assert_eq!(world.engine.context(citing, None).await.unwrap().documents.len(), 1);
    assert!(is_whole(&world.engine).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_byte_of_a_purged_text_stays_in_the_files() {
    let world = World::in_file();
    let (debate, _) = with_secret(&world).await;
    let files = || -> String {
        let folder = world.path.parent().unwrap();
        let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        // In lower case: so the slug and the index of words have it.
        let text = |file| String::from_utf8_lossy(&fs::read(file).unwrap()).to_lowercase();
        files.map(text).collect()
    };
    assert!(hits(&world).await > 1);
    assert!(files().contains(&SECRET.to_lowercase()));
    let purged = world.engine.purge(debate, true).await.unwrap();
    assert!(purged.scrubbed);
    assert!(!files().contains(&SECRET.to_lowercase()));
    // The server goes on writing into the new file.
    let (after, motion) = world.opens("After").await;
    world.exchanges(after, motion, 3).await;
    assert!(is_whole(&world.engine).await);
}

#[tokio::test]
async fn a_changed_tombstone_and_words_that_came_back_are_damage() {
    for change in [
        "update tombstones set pieces = 3",
        "update tombstones set hash = zeroblob(32)",
        "update tombstones set purged_at = 1",
        "update debates set title = 'Back' where title = ''",
        "update debates set deleted_at = null where title = ''",
        "update documents set summary = 'Back'",
        "insert into type_texts values ((select key from tombstones where thing = 'debate'), '', '', '', '', '')",
        "delete from tombstones where thing = 'debate'",
        "delete from tombstones where thing = 'document'",
    ] {
        let world = World::in_file();
        let (debate, _) = with_secret(&world).await;
        world.engine.purge(debate, true).await.unwrap();
        burglar(&world.path).execute_batch(change).unwrap();
        assert!(!is_whole(&world.engine).await, "{change}");
    }
}

#[tokio::test]
async fn only_a_debate_with_a_tombstone_loses_its_texts() {
    let world = World::in_file();
    with_secret(&world).await;
    world.engine.close().await;
    let db = Connection::open(&world.path).unwrap();
    for change in [
        "delete from arguments",
        "delete from citations",
        "delete from document_versions",
        "update debates set title = ''",
        "update debates set slug = null",
        "update debates set project = 'x'",
    ] {
        let refused = db.execute(change, []).unwrap_err();
        assert!(refused.to_string().contains("never"), "{change}: {refused}");
    }
}
