//! Reads: contexts, stretches, pages, lists and citations.

use std::sync::Arc;

use aw_core::{
    ArgumentId, ByRole, Content, DebateId, DebateType, Move, Role, Seq, State, Summary, Time, Title,
};
use aw_record::{Ask, Citation, CitedMark, Failure, Filter, Request, Selection, TypeTexts};
use uuid::Uuid;

use crate::world::{BEGINNING, GO_ON, World, opening, saying};

/// A debate of eight arguments: MOTION, claim, INTERVENTION, RULING, and four claims.
async fn of_eight(world: &World) -> (DebateId, Vec<ArgumentId>) {
    let (debate, motion) = world.opens("Keep one file?").await;
    let claim = world.claims(debate, Role::Opponent, motion).await;
    let stop = world.plays(debate, Role::Arbitrator, Move::Intervention).await.argument.id;
    let ruling = world.plays(debate, Role::Arbitrator, GO_ON).await.argument.id;
    let mut all = vec![motion, claim, stop, ruling];
    for role in [Role::Proposer, Role::Opponent, Role::Proposer, Role::Opponent] {
        all.push(world.claims(debate, role, all[all.len() - 1]).await);
    }
    (debate, all)
}

fn places(arguments: &[aw_core::Argument]) -> Vec<u64> {
    arguments.iter().map(|argument| argument.seq.0).collect()
}

#[tokio::test]
async fn a_context_has_the_motion_the_newest_arguments_and_every_older_ruling() {
    let world = World::new();
    let (debate, all) = of_eight(&world).await;
    let context = world.engine.context(debate, Some(3)).await.unwrap();
    assert_eq!((context.motion.id, places(&context.arguments)), (all[0], vec![6, 7, 8]));
    assert_eq!(places(&context.rulings), [4]);
    assert!(!context.own_rules && context.documents.is_empty());
    assert_eq!(context.debate.id, debate);
    let context = world.engine.context(debate, Some(5)).await.unwrap();
    assert_eq!((places(&context.arguments), context.rulings.len()), (vec![4, 5, 6, 7, 8], 0));
    let whole = world.engine.context(debate, None).await.unwrap();
    assert_eq!((places(&whole.arguments), whole.rulings.len()), (vec![2, 3, 4, 5, 6, 7, 8], 0));
    let none = world.engine.context(debate, Some(0)).await.unwrap();
    assert_eq!((none.arguments.len(), places(&none.rulings)), (0, vec![4]));
}

#[tokio::test]
async fn a_stretch_begins_after_the_given_position() {
    let world = World::new();
    let (debate, all) = of_eight(&world).await;
    assert_eq!(places(&world.engine.stretch(debate, 0, 3).await.unwrap().arguments), [1, 2, 3]);
    let stretch = world.engine.stretch(debate, 3, 100).await.unwrap();
    assert_eq!(places(&stretch.arguments), [4, 5, 6, 7, 8]);
    assert_eq!(stretch.debate.debate.standing.last, Seq(8));
    assert_eq!(world.engine.stretch(debate, 6, 100).await.unwrap().arguments.len(), 2);
    assert_eq!(world.engine.place(debate, all[5]).await.unwrap(), Some(Seq(6)));
    assert_eq!(world.engine.place(debate, Uuid::from_u128(1).into()).await.unwrap(), None);
    let answers = world.engine.surroundings(debate, stretch.arguments.into()).await.unwrap().places;
    let mut answers: Vec<_> = answers.into_iter().map(|(id, seq)| (seq, id)).collect();
    answers.sort_unstable_by_key(|(seq, _)| *seq);
    let answered = |seq: usize| (Seq(seq as u64), all[seq - 1]);
    assert_eq!(answers, [3, 4, 5, 6, 7].map(answered));
}

#[tokio::test]
async fn page_data_is_a_window_of_arguments_and_the_outline_of_all() {
    let world = World::new();
    let (debate, all) = of_eight(&world).await;
    let page = world.engine.page_data(debate, None, 3).await.unwrap();
    assert_eq!((page.motion.id, places(&page.arguments)), (all[0], vec![6, 7, 8]));
    assert_eq!(page.earlier, 4);
    let outline: Vec<u64> = page.moments.iter().map(|moment| moment.seq.0).collect();
    assert_eq!(outline, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(page.moments[7].event.role(), Role::Opponent);
    assert_eq!(page.moments[2].event, aw_core::Event::Intervention);
    assert_eq!((page.moments[0].at, page.pending), (Time(BEGINNING), None));

    let older = world.engine.page_data(debate, Some(Seq(6)), 3).await.unwrap();
    assert_eq!((places(&older.arguments), older.earlier), (vec![3, 4, 5], 1));
    let oldest = world.engine.page_data(debate, Some(Seq(3)), 3).await.unwrap();
    assert_eq!((places(&oldest.arguments), oldest.earlier), (vec![2], 0));
    for nothing in [Seq(0), Seq(1), Seq(2)] {
        let page = world.engine.page_data(debate, Some(nothing), 3).await.unwrap();
        assert_eq!((page.arguments.len(), page.earlier), (0, 0), "{nothing:?}");
    }
    let beyond = world.engine.page_data(debate, Some(Seq(99)), 2).await.unwrap();
    assert_eq!((places(&beyond.arguments), beyond.earlier), (vec![7, 8], 5));

    let appeal = Move::Appeal { target: all[7] };
    let appeal = world.plays(debate, Role::Proposer, appeal).await.argument;
    let page = world.engine.page_data(debate, None, 1).await.unwrap();
    assert_eq!(page.pending, Some(appeal));
}

#[tokio::test]
async fn a_citation_is_recorded_with_its_version() {
    let world = World::new();
    let plan = world.keeps("Plan").await;
    world.adds(plan, "Plan, with tests").await;
    let other = world.keeps("Other").await;
    let (debate, motion) = world.opens("Keep one file?").await;
    let words = format!("doc_id={plan} (v1), {other}, {other} (v7), {}", Uuid::from_u128(5));
    let claim = saying(debate, Role::Opponent, Move::Claim { target: motion }, &words);
    let claim = world.engine.execute(claim).await.unwrap().argument;
    world.adds(plan, "Plan, as agreed").await;
    let words = format!("document_id={plan}: v1 → v2");
    let answer = saying(debate, Role::Proposer, Move::Claim { target: claim.id }, &words);
    world.engine.execute(answer).await.unwrap();

    // A document keeps the name that its first version gave it.
    let citation = |seq, document, version| {
        let name = if document == plan { "Plan" } else { "Other" }.to_owned();
        Citation { seq: Seq(seq), document, version, name }
    };
    // Version 7 does not exist, so the newest is meant.
    let first = [citation(2, plan, 1), citation(2, other, 1)];
    for (seq, cited) in [(1, &[][..]), (2, &first), (3, &[citation(3, plan, 2)])] {
        let one = world.engine.stretch(debate, seq - 1, 1).await.unwrap().arguments;
        let around = world.engine.surroundings(debate, one.into()).await.unwrap();
        assert_eq!(around.citations, cited, "{seq}");
    }
    let newest = world.engine.page_data(debate, None, 1).await.unwrap();
    assert_eq!(newest.citations, [citation(3, plan, 2)]);
    let all = world.engine.page_data(debate, None, 9).await.unwrap();
    assert_eq!(all.citations.len(), 3);

    let cited = world.engine.context(debate, Some(0)).await.unwrap().documents;
    let listed: Vec<_> =
        cited.iter().map(|document| (document.id, document.version, &document.summary)).collect();
    let summary = |text: &str| Summary::recorded(text.to_owned());
    assert_eq!(listed, [(other, 1, &summary("Other")), (plan, 2, &summary("Plan, with tests"))]);
    let at = world.at(5);
    world.engine.delete_document(plan).await.unwrap();
    let cited = world.engine.context(debate, Some(0)).await.unwrap().documents;
    assert_eq!((cited[0].deleted_at, cited[1].deleted_at), (None, Some(at)));
}

#[tokio::test]
async fn the_debates_that_cite_a_document_are_found_the_newest_first() {
    let world = World::new();
    let plan = world.keeps("Plan").await;
    let cite = async |title: &str, words: &[&str]| {
        let (debate, mut target) = world.opens(title).await;
        for (words, role) in words.iter().zip([Role::Opponent, Role::Proposer]) {
            let claim = saying(debate, role, Move::Claim { target }, words);
            target = world.engine.execute(claim).await.unwrap().argument.id;
        }
        debate
    };
    let mention = format!("doc_id={plan} (v1)");
    let twice = cite("Twice", &[&mention, &mention]).await;
    cite("Never", &["No document."]).await;
    let once = cite("Once", &[&mention]).await;
    let gone = cite("Gone", &[&mention]).await;
    let citing = async |only, limit| {
        let citing = world.engine.citing(plan, only, limit).await.unwrap();
        citing.into_iter().map(|one| (one.id, one.seq.0, one.version)).collect::<Vec<_>>()
    };
    assert_eq!(citing(None, 9).await, [(gone, 2, 1), (once, 2, 1), (twice, 3, 1)]);
    world.engine.delete(gone).await.unwrap();
    assert_eq!(citing(None, 9).await, [(once, 2, 1), (twice, 3, 1)]);
    assert_eq!(citing(None, 1).await, [(once, 2, 1)]);
    assert_eq!(citing(Some(twice), 9).await, [(twice, 3, 1)]);
    assert_eq!(citing(Some(gone), 9).await, []);
    let unknown = Uuid::from_u128(5).into();
    assert!(world.engine.citing(unknown, None, 9).await.is_err());
}

#[tokio::test]
async fn the_texts_of_a_type_are_stored_with_the_debate() {
    let world = World::new();
    let texts = TypeTexts {
        title: Title::recorded("Contract".to_owned()),
        description: Summary::recorded("Clause by clause".to_owned()),
        rules: ByRole::of(|role| Content::recorded(format!("Rules of the {role}"))),
    };
    let (plain, _) = world.opens("Keep one file?").await;
    let request = opening(Uuid::now_v7().into(), "Sign it?");
    let Ask::Open { title, policy, motion, .. } = request.ask else { panic!("it opens one") };
    let debate_type = DebateType::recorded("legal".to_owned());
    let (given, own) = (Some(Box::new(texts.clone())), debate_type.clone());
    let ask = Ask::Open {
        title,
        debate_type: own,
        texts: given,
        policy,
        points: None,
        origin: None,
        motion,
    };
    let legal = request.debate;
    world.engine.execute(Request { ask, ..request }).await.unwrap();

    assert_eq!(world.engine.type_texts(legal).await.unwrap(), (debate_type, Some(texts)));
    let general = DebateType::recorded("general_debate".to_owned());
    assert_eq!(world.engine.type_texts(plain).await.unwrap(), (general, None));
    assert!(world.engine.context(legal, Some(1)).await.unwrap().own_rules);
    let checksum = async |debate| world.engine.checksum(debate).await.unwrap().unwrap();
    assert_ne!(checksum(plain).await, checksum(legal).await);
    assert_eq!(TypeTexts::MAX_BYTES, 65_536, "64 KiB for the rules of all roles together");
    assert_eq!(world.engine.now(), Time(BEGINNING));
}

#[tokio::test]
async fn every_read_of_a_deleted_debate_returns_its_deletion_time() {
    let world = World::new();
    let (debate, _) = world.opens("Never mind").await;
    let at = world.at(7);
    world.engine.delete(debate).await.unwrap();
    let engine = &world.engine;
    let gone = [
        engine.listed(debate).await.map(drop),
        engine.stretch(debate, 0, 1).await.map(drop),
        engine.place(debate, Uuid::from_u128(1).into()).await.map(drop),
        engine.surroundings(debate, Arc::new([])).await.map(drop),
        engine.piece(debate, Selection::All, Seq(0), Seq(1)).await.map(drop),
        engine.cited(debate, CitedMark::default()).await.map(drop),
        engine.type_texts(debate).await.map(drop),
        engine.checksum(debate).await.map(drop),
        engine.context(debate, Some(1)).await.map(drop),
        engine.page_data(debate, None, 1).await.map(drop),
        engine.delete(debate).await,
    ];
    for outcome in gone {
        let Err(Failure::DebateNotFound { id, deleted_at }) = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!((id, deleted_at), (debate, Some(at)));
    }
}

/// The titles of a page, and the total.
async fn page(world: &World, filter: &Filter) -> (Vec<String>, u64) {
    let list = world.engine.list(filter).await.unwrap();
    assert!(list.total_is_exact);
    let title = |listed: &aw_record::DebateListed| listed.debate.title.as_str().to_owned();
    (list.debates.iter().map(title).collect(), list.total)
}

#[tokio::test]
async fn a_list_shows_the_most_recently_updated_first_in_pages() {
    let world = World::new();
    let mut ids = Vec::new();
    for (number, title) in ["one", "two", "three", "four"].into_iter().enumerate() {
        world.at(i64::try_from(number).unwrap() * 10);
        ids.push(world.opens(title).await);
    }
    world.at(100);
    world.claims(ids[0].0, Role::Opponent, ids[0].1).await;
    let filter = Filter { limit: 3, ..Filter::default() };
    let titles = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    assert_eq!(page(&world, &filter).await, (titles(&["one", "four", "three"]), 4));
    let second = Filter { offset: 3, ..filter.clone() };
    assert_eq!(page(&world, &second).await, (titles(&["two"]), 4));
    let older = Filter { before: Some((Time(BEGINNING + 30), None)), ..filter.clone() };
    assert_eq!(page(&world, &older).await, (titles(&["three", "two"]), 4));
    // The total does not depend on the page.
    let found = Filter { search: Some("o".to_owned()), ..older };
    assert_eq!(page(&world, &found).await, (titles(&["two"]), 3));

    let last = world.engine.list(&filter).await.unwrap().debates.remove(0).last;
    assert_eq!((last.seq, last.role, last.parked), (Seq(2), Role::Opponent, false));
    assert_eq!((last.kind, last.at), (aw_core::Kind::Claim, Time(BEGINNING + 100)));
    assert_eq!(last.author.unwrap().as_str(), "opponent's author");
}

#[tokio::test]
async fn debates_with_the_same_time_are_ordered_by_id() {
    let world = World::new();
    for _ in 0..3 {
        world.opens("At once").await;
    }
    let filter = Filter { limit: 9, ..Filter::default() };
    let all = world.engine.list(&filter).await.unwrap().debates;
    assert!(all.is_sorted_by_key(|listed| listed.debate.id));
    let first = Some((Time(BEGINNING), Some(all[0].debate.id)));
    let rest = world.engine.list(&Filter { before: first, ..filter }).await.unwrap().debates;
    assert_eq!(rest.len(), 2);
    assert_eq!(rest[0].debate.id, all[1].debate.id);
}

#[tokio::test]
async fn filters_and_searches_select_and_count_debates() {
    let world = World::new();
    let (fresh, _) = world.opens("Fresh").await;
    let (answered, motion) = world.opens("Đã trả lời").await;
    let claim = world.claims(answered, Role::Opponent, motion).await;
    let (again, motion) = world.opens("Answered \"twice\"").await;
    let target = world.exchanges(again, motion, 2).await;
    assert!(target != motion);
    let (stopped, _) = world.opens("Stopped").await;
    world.plays(stopped, Role::Arbitrator, Move::Intervention).await;
    let (appealed, motion) = world.opens("Appealed").await;
    let target = world.claims(appealed, Role::Opponent, motion).await;
    world.plays(appealed, Role::Proposer, Move::Appeal { target }).await;
    assert!(claim != target);

    let all = Filter { limit: 9, ..Filter::default() };
    let found = async |filter: &Filter| {
        let (mut titles, total) = page(&world, filter).await;
        titles.sort();
        assert_eq!(titles.len() as u64, total, "{filter:?}");
        titles
    };
    assert_eq!(found(&all).await.len(), 5);
    let waiting = Filter { state: Some(State::AwaitingOpponent), ..all.clone() };
    assert_eq!(found(&waiting).await, ["Answered \"twice\"", "Fresh"]);
    assert_eq!(found(&Filter { pending_first_opponent: true, ..all.clone() }).await, ["Fresh"]);
    let owed = Filter { needs_arbitrator: true, ..all.clone() };
    assert_eq!(found(&owed).await, ["Appealed", "Stopped"]);
    let neither = Filter { state: Some(State::Closed), needs_arbitrator: true, ..all.clone() };
    assert_eq!(found(&neither).await, [""; 0]);
    assert_eq!(found(&Filter { only: Some(fresh), ..all.clone() }).await, ["Fresh"]);
    let of_type = |name: &str| Filter {
        debate_type: Some(DebateType::recorded(name.to_owned())),
        ..all.clone()
    };
    assert_eq!(found(&of_type("general_debate")).await.len(), 5);
    assert_eq!(found(&of_type("other")).await.len(), 0);
    let search = |words: &str| Filter { search: Some(words.to_owned()), ..all.clone() };
    for (words, titles) in [
        ("ANSWERED", &["Answered \"twice\""][..]),
        ("\"twice\"", &["Answered \"twice\""]),
        ("đã trả", &["Đã trả lời"]),
        ("ĐÃ", &["Đã trả lời"]),
        ("op", &["Stopped"]),
        ("s", &["Answered \"twice\"", "Fresh", "Stopped"]),
        ("nothing", &[]),
    ] {
        assert_eq!(found(&search(words)).await, titles, "{words}");
    }
    let both = Filter { needs_arbitrator: true, ..search("pe") };
    assert_eq!(found(&both).await, ["Appealed", "Stopped"]);
    world.engine.delete(stopped).await.unwrap();
    assert_eq!(found(&owed).await, ["Appealed"]);
    assert_eq!(found(&search("Stopped")).await, [""; 0]);
    assert_eq!(found(&search("op")).await, [""; 0]);
}

/// The positions of all arguments, read in pieces.
async fn in_pieces(
    world: &World,
    debate: DebateId,
    which: Selection,
    after: u64,
    until: u64,
) -> Vec<u64> {
    let (mut all, mut after, mut pieces) = (Vec::new(), Seq(after), 0);
    loop {
        let piece = world.engine.piece(debate, which, after, Seq(until)).await.unwrap();
        let Some(last) = piece.last() else { break };
        let bytes: usize = piece.iter().map(|argument| argument.content.as_str().len()).sum();
        assert!(bytes < 2 * 64 * 1024, "a piece of {bytes} bytes");
        (after, pieces) = (last.seq, pieces + 1);
        all.extend(places(&piece));
    }
    assert!(pieces > 1, "it was read in one piece");
    all
}

#[tokio::test]
async fn a_long_debate_is_read_in_pieces() {
    let world = World::new();
    let (debate, motion) = world.opens("Who reads all this?").await;
    let mut target = motion;
    for number in 0..40 {
        let role = [Role::Opponent, Role::Proposer][number % 2];
        let claim = saying(debate, role, Move::Claim { target }, &"much ".repeat(1_000));
        target = world.engine.execute(claim).await.unwrap().argument.id;
    }
    for _ in 0..20 {
        world.plays(debate, Role::Arbitrator, Move::Intervention).await;
        let ruling = saying(debate, Role::Arbitrator, GO_ON, &"so ".repeat(3_000));
        world.engine.execute(ruling).await.unwrap();
    }
    let whole = world.engine.context(debate, None).await.unwrap();
    assert_eq!((whole.rest, whole.arguments.len(), whole.motion.id), (Some(Seq(2)), 0, motion));
    assert_eq!(
        in_pieces(&world, debate, Selection::All, 0, 81).await,
        (1..=81).collect::<Vec<_>>()
    );
    // The newest two are short, but the rulings before them are not.
    let newest = world.engine.context(debate, Some(2)).await.unwrap();
    assert_eq!((newest.rest, newest.arguments.len()), (Some(Seq(80)), 0));
    let rulings: Vec<u64> = (43..=79).step_by(2).collect();
    assert_eq!(in_pieces(&world, debate, Selection::Rulings, 1, 79).await, rulings);
    let stretch = world.engine.stretch(debate, 0, 500).await.unwrap().arguments;
    assert!(stretch.len() < 20, "{} arguments in passing", stretch.len());
}
