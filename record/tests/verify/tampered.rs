//! Changes of several cells or rows of the file, and what verification reports. `cells.rs` changes and
//! removes each one alone.

use std::fs;

use aw_core::{DebateId, DocumentId};
use aw_record::{Damage, Engine, Failure, Fault};

use super::shapes::{Shapes, every_shape};
use super::{burglar, open, walk};

/// A record of every shape, whose copies are changed.
struct Scene {
    shapes: Shapes,
}

impl Scene {
    async fn set() -> Self {
        Scene { shapes: every_shape().await }
    }

    /// Opens a copy after this change; `:name` stands for the key of a debate or a document.
    fn after(&self, sql: &str) -> Engine {
        let copy = self.shapes.path.with_file_name(format!("{}.db", uuid::Uuid::now_v7()));
        fs::copy(&self.shapes.path, &copy).unwrap();
        let db = burglar(&copy);
        let key = |table: &str, id: uuid::Uuid| -> i64 {
            let sql = format!("select key from {table} where id = ?1");
            db.query_row(&sql, [id], |row| row.get(0)).unwrap()
        };
        let of_debate = |id: DebateId| key("debates", id.uuid()).to_string();
        let of_document = |id: DocumentId| key("documents", id.uuid()).to_string();
        let sql = sql
            .replace(":eventful", &of_debate(self.shapes.eventful))
            .replace(":ruled", &of_debate(self.shapes.ruled))
            .replace(":gone", &of_debate(self.shapes.deleted))
            .replace(":opened", &of_debate(self.shapes.opened))
            .replace(":plan", &of_document(self.shapes.plan));
        db.execute_batch(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        drop(db);
        open(&copy)
    }

    /// Verifies such a copy.
    async fn found(&self, sql: &str) -> Vec<Damage> {
        let engine = self.after(sql);
        let damages = walk(&engine).await.damages;
        engine.close().await;
        damages
    }

    /// Asserts that verification finds only this damage, at this argument if any.
    async fn expect(&self, sql: &str, debate: DebateId, seq: Option<u64>) {
        let found = self.found(sql).await;
        let places: Vec<_> =
            found.iter().map(|damage| (damage.debate, damage.seq.map(|seq| seq.0))).collect();
        assert_eq!(places, [(Some(debate), seq)], "{sql}: {found:?}");
        if debate != self.shapes.deleted {
            let refused = self.after(sql).verify(debate).await.unwrap_err();
            let Failure::Fault(Fault::Damaged(damage)) = refused else { panic!("{refused}") };
            assert_eq!(damage, found[0], "verifying only this debate finds the same");
        }
    }

    async fn expect_in_document(&self, sql: &str, version: Option<u64>) {
        let found = self.found(sql).await;
        let places: Vec<_> = found.iter().map(|damage| (damage.document, damage.version)).collect();
        assert_eq!(places, [(Some(self.shapes.plan), version)], "{sql}: {found:?}");
    }
}

#[tokio::test]
async fn the_first_of_several_removed_arguments_is_named() {
    let scene = Scene::set().await;
    let sql = "delete from arguments where debate_key = :eventful";
    scene.expect(sql, scene.shapes.eventful, Some(1)).await;
    // The tenth argument has a citation.
    let sql = "delete from arguments where debate_key = :eventful and seq > 8";
    scene.expect(sql, scene.shapes.eventful, Some(9)).await;
}

#[tokio::test]
async fn a_cut_off_end_is_found_by_the_standing() {
    let scene = Scene::set().await;
    let cut = "delete from arguments where debate_key = :eventful and seq = 13;
        update debates set last_seq = 12 where key = :eventful";
    scene.expect(cut, scene.shapes.eventful, None).await;
    let and_open =
        format!("{cut}; update debates set state = 'AWAITING_ARBITRATOR' where key = :eventful");
    let found = scene.found(&and_open).await;
    assert!(found.iter().any(|damage| damage.debate == Some(scene.shapes.eventful)), "{found:?}");
}

/// The limit of verification: it accepts an end that was cut off with all dependent rows. Only a head
/// hash that was kept elsewhere reveals it.
#[tokio::test]
async fn an_end_cut_off_with_all_dependent_rows_is_revealed_by_an_earlier_head() {
    let scene = Scene::set().await;
    let noted = scene.after("").verify(scene.shapes.ruled).await.unwrap();
    let engine = scene.after(
        "delete from arguments where debate_key = :ruled and seq = 3;
         delete from search_words where rowid = (
             select key from search_rows where debate_key = :ruled and seq = 3);
         delete from search_rows where debate_key = :ruled and seq = 3;
         update debates set last_seq = 2, indexed = 2, state = 'AWAITING_PROPOSER', proposer_count = 1,
             proposer_newest = 1, updated_at = (
                 select created_at from arguments where debate_key = :ruled and seq = 2)
         where key = :ruled;
         update debate_counts set awaiting_arbitrator = awaiting_arbitrator - 1,
             awaiting_proposer = awaiting_proposer + 1 where debate_type in ('', 'legal')",
    );
    assert_eq!(walk(&engine).await.damages, []);
    let now = engine.verify(scene.shapes.ruled).await.unwrap();
    assert_ne!((now.head, now.arguments), (noted.head, noted.arguments));
}

#[tokio::test]
async fn swapped_arguments_are_named() {
    let scene = Scene::set().await;
    let sql = "update arguments set seq = -1 where debate_key = :eventful and seq = 4;
        update arguments set seq = 4 where debate_key = :eventful and seq = 11;
        update arguments set seq = 11 where debate_key = :eventful and seq = -1";
    scene.expect(sql, scene.shapes.eventful, Some(4)).await;
}

#[tokio::test]
async fn arguments_swapped_between_debates_are_named_in_both() {
    let scene = Scene::set().await;
    let sql = "update arguments set debate_key = -1 where debate_key = :eventful and seq = 2;
        update arguments set debate_key = :eventful where debate_key = :ruled and seq = 2;
        update arguments set debate_key = :ruled where debate_key = -1";
    let found = scene.found(sql).await;
    let mut places: Vec<_> = found.iter().map(|d| (d.debate, d.seq.map(|seq| seq.0))).collect();
    places.sort();
    let mut both = [(Some(scene.shapes.eventful), Some(2)), (Some(scene.shapes.ruled), Some(2))];
    both.sort();
    assert_eq!(places, both, "{found:?}");
}

#[tokio::test]
async fn the_first_of_several_damaged_arguments_is_named() {
    let scene = Scene::set().await;
    let sql = "update arguments set content = 'x' where debate_key = :eventful and seq in (9, 5);
        update debates set title = 'x' where key = :eventful";
    scene.expect(sql, scene.shapes.eventful, Some(5)).await;
    // A citation of the second argument and the text of the third were changed.
    let sql = "update citations set version = 2 where debate_key = :eventful and seq = 2
            and document_key = :plan;
        update arguments set content = 'x' where debate_key = :eventful and seq = 3";
    scene.expect(sql, scene.shapes.eventful, Some(2)).await;
}

#[tokio::test]
async fn the_fixed_fields_of_a_debate_have_a_checksum() {
    let scene = Scene::set().await;
    let renamed = "update debates set title = 'Sign nothing?' where key = :ruled";
    scene.expect(renamed, scene.shapes.ruled, None).await;
    let texts = "insert into type_texts values (:opened, 'T', 'D', 'P', 'O', 'A')";
    scene.expect(texts, scene.shapes.opened, None).await;
    let moved = "update debates set debate_type = 'general_debate' where key = :ruled;
        update debate_counts set awaiting_arbitrator = awaiting_arbitrator - 1 where debate_type = 'legal';
        update debate_counts set awaiting_arbitrator = awaiting_arbitrator + 1
        where debate_type = 'general_debate'";
    scene.expect(moved, scene.shapes.ruled, None).await;
}

#[tokio::test]
async fn the_standing_must_follow_from_the_arguments() {
    let scene = Scene::set().await;
    let counted = "update debates set proposer_count = 2, opponent_count = 0 where key = :opened";
    scene.expect(counted, scene.shapes.opened, None).await;
    let shorter = "update debates set last_seq = 2, proposer_count = 1 where key = :ruled";
    scene.expect(shorter, scene.shapes.ruled, Some(3)).await;
    let turned = "update debates set state = 'CLOSED' where key = :opened";
    let found = scene.found(turned).await;
    assert!(found.iter().any(|damage| damage.debate == Some(scene.shapes.opened)), "{found:?}");
    assert!(found.iter().any(|damage| damage.debate.is_none()), "the counts too: {found:?}");
}

#[tokio::test]
async fn a_deletion_has_a_checksum() {
    let scene = Scene::set().await;
    let back = "update debates set deleted_at = null where key = :gone;
        update debate_counts set awaiting_proposer = awaiting_proposer + 1
        where debate_type in ('', 'general_debate')";
    scene.expect(back, scene.shapes.deleted, None).await;
    let hidden = "update debates set deleted_at = 1 where key = :opened;
        update debate_counts set awaiting_opponent = awaiting_opponent - 1
        where debate_type in ('', 'general_debate')";
    let found = scene.found(hidden).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].debate, Some(scene.shapes.opened));

    let document = format!("x'{}'", scene.shapes.deleted_document.uuid().simple());
    let back = format!(
        "update documents set deleted_at = null where id = {document};
         update document_counts set live = live + 1, deleted = deleted - 1"
    );
    let found = scene.found(&back).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].document, Some(scene.shapes.deleted_document));
}

#[tokio::test]
async fn a_removed_version_is_named() {
    let scene = Scene::set().await;
    let remove = |version: u64| {
        format!("delete from document_versions where document_key = :plan and version = {version}")
    };
    scene.expect_in_document(&remove(3), Some(3)).await;
    let shorter = "update documents set version = 2 where key = :plan";
    scene.expect_in_document(shorter, Some(3)).await;
    let adapted = format!(
        "{}; update documents set version = 2, (summary, updated_at) = (
             select summary, created_at from document_versions
             where document_key = :plan and version = 2) where key = :plan",
        remove(3)
    );
    scene.expect_in_document(&adapted, Some(3)).await;
    // An argument cites the first version, so its debate is damaged too.
    let found = scene.found(&remove(1)).await;
    let places: Vec<_> = found.iter().map(|d| (d.document, d.version, d.debate)).collect();
    let cited = (None, None, Some(scene.shapes.eventful));
    assert_eq!(places, [cited, (Some(scene.shapes.plan), Some(1), None)], "{found:?}");
}

#[tokio::test]
async fn the_citations_of_an_argument_have_a_checksum() {
    let scene = Scene::set().await;
    for sql in [
        "delete from citations where debate_key = :eventful and seq = 2 and document_key = :plan",
        "delete from citations where debate_key = :eventful and seq = 2",
        "delete from seals where thing = 'citations' and key = :eventful and number = 2",
        "update citations set version = 3 where debate_key = :eventful and seq = 2
         and document_key = :plan",
        "update citations set version = 99 where debate_key = :eventful and seq = 2
         and document_key = :plan",
        "update citations set seq = 20 where debate_key = :eventful and seq = 2
         and document_key = :plan",
    ] {
        scene.expect(sql, scene.shapes.eventful, Some(2)).await;
    }
    let added = "insert into citations values (:eventful, 3, :plan, 1)";
    scene.expect(added, scene.shapes.eventful, Some(3)).await;
    let beyond = "insert into citations values (:opened, 7, :plan, 1)";
    scene.expect(beyond, scene.shapes.opened, None).await;
    let listed = "update debate_documents set version = 1 where debate_key = :eventful
        and document_key = :plan";
    scene.expect(listed, scene.shapes.eventful, None).await;
}

#[tokio::test]
async fn a_removed_debate_or_document_is_found() {
    let scene = Scene::set().await;
    let found = scene.found("delete from debates where key = :ruled").await;
    assert!(
        found.iter().any(|damage| damage.what.contains("not the one that was counted")),
        "{found:?}"
    );
    assert!(found.iter().any(|damage| damage.what.contains("is missing")), "{found:?}");
    // With all its rows and counts: its key is missing.
    let all = "delete from debates where key = :ruled;
        delete from arguments where debate_key = :ruled;
        delete from type_texts where debate_key = :ruled;
        delete from search_rows where debate_key = :ruled;
        delete from seals where thing = 'debate' and key = :ruled;
        delete from debate_counts where debate_type = 'legal';
        update debate_counts set awaiting_arbitrator = awaiting_arbitrator - 1 where debate_type = ''";
    let found = scene.found(all).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].what.contains("of the debates is missing"), "{found:?}");
    let found = scene.found("delete from documents where key = :plan").await;
    assert!(
        found.iter().any(|damage| damage.what.contains("not the one that was counted")),
        "{found:?}"
    );
    let strays = "insert into arguments select 99, seq, randomblob(16), parent_id, type, role,
            parked_for, close, automatic, via, author, client_request_id, created_at,
            proposer_count, opponent_count, previous_hash, hash, content, seat
        from arguments where debate_key = :opened";
    let found = scene.found(strays).await;
    assert!(found[0].what.contains("arguments has rows of debates that do not exist"), "{found:?}");
}

#[tokio::test]
async fn the_search_index_is_verified() {
    let scene = Scene::set().await;
    let title = "select key from search_rows where debate_key = :opened and seq = 0";
    let motion = "select key from search_rows where debate_key = :opened and seq = 1";
    let plan = "select key from search_rows where document_key = :plan";
    for sql in [
        format!("delete from search_words where rowid = ({title})"),
        format!("delete from search_words where rowid = ({motion})"),
        format!(
            "delete from search_words where rowid = ({title});
             insert into search_words (rowid, words) select key, 'x ¦' || :opened
             from search_rows where key = ({title})"
        ),
        format!("delete from search_rows where key = ({motion})"),
        "update debates set indexed = last_seq + 1 where key = :opened".to_owned(),
    ] {
        scene.expect(&sql, scene.shapes.opened, None).await;
    }
    for sql in [
        format!("delete from search_words where rowid = ({plan})"),
        "delete from search_rows where document_key = :plan".to_owned(),
        "update search_rows set version = 1 where document_key = :plan".to_owned(),
    ] {
        scene.expect_in_document(&sql, None).await;
    }
}

#[tokio::test]
async fn an_ordinary_read_names_the_damaged_argument() {
    let scene = Scene::set().await;
    let engine = scene.after(
        "update arguments set via = 'pigeon' where debate_key = :eventful and seq = 4;
         update debates set proposer_count = 99 where key = :opened;
         update document_versions set summary = x'00' where document_key = :plan and version = 2",
    );
    let damage = |failure: Failure| {
        let Failure::Fault(Fault::Damaged(damage)) = failure else { panic!("{failure}") };
        damage
    };
    let read = damage(engine.context(scene.shapes.eventful, None).await.unwrap_err());
    assert_eq!((read.debate, read.seq.unwrap().0), (Some(scene.shapes.eventful), 4));
    assert!(read.what.contains("pigeon"), "{read}");
    let head = damage(engine.listed(scene.shapes.opened).await.unwrap_err());
    assert_eq!((head.debate, head.seq), (Some(scene.shapes.opened), None));
    let version = engine.document(scene.shapes.plan, Some(2), false).await.unwrap_err();
    let version = damage(version);
    assert_eq!((version.document, version.version), (Some(scene.shapes.plan), Some(2)));
}
