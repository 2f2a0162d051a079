//! What debates are called, and where they were opened.

use aw_core::{ArgumentId, DebateId, DebateOrigin, Move, Outcome, ProjectId, Role, Time};
use aw_record::{
    ArgumentName, Ask, DebateHead, DebateName, Filter, IdPrefix, NameScope, ProjectListed,
};
use rusqlite::Connection;
use uuid::Uuid;

use crate::world::{BEGINNING, CLOSE, World, opening};

async fn slug_of(world: &World, title: &str) -> String {
    let request = opening(Uuid::now_v7().into(), title);
    world.engine.execute(request).await.unwrap().slug.unwrap().to_string()
}

#[tokio::test]
async fn a_slug_is_made_from_the_title_and_is_unique_by_number() {
    let world = World::new();
    assert_eq!(slug_of(&world, "Charge retries").await, "charge-retries");
    assert_eq!(slug_of(&world, "Charge retries!").await, "charge-retries-2");
    assert_eq!(slug_of(&world, "Charge retries 3").await, "charge-retries-3");
    for number in 4..=9 {
        let slug = slug_of(&world, "CHARGE, retries").await;
        assert_eq!(slug, format!("charge-retries-{number}"));
    }
    assert_eq!(slug_of(&world, "Có nên thử lại?").await, "co-nen-thu-lai");
}

#[tokio::test]
async fn a_retry_answers_with_the_slug_of_the_first_request_and_ignores_a_new_commit() {
    let world = World::new();
    let mut request = opening(Uuid::now_v7().into(), "Charge retries");
    let first = world.engine.execute(request.clone()).await.unwrap();
    assert_eq!(slug_of(&world, "Charge retries").await, "charge-retries-2");
    let Ask::Open { origin, .. } = &mut request.ask else { panic!("it opens one") };
    *origin = Some(Box::new(of_project("abcdef01")));
    let again = world.engine.execute(request.clone()).await.unwrap();
    assert!(again.replayed);
    assert_eq!(again.slug, first.slug);
    let listed = world.engine.listed(request.debate).await.unwrap();
    assert_eq!((listed.slug, listed.origin), (first.slug, None));
}

#[tokio::test]
async fn the_slug_and_the_origin_of_a_debate_are_never_changed() {
    let world = World::in_file();
    world.opens("Charge retries").await;
    world.engine.close().await;
    let db = Connection::open(&world.path).unwrap();
    for change in ["slug = 'other'", "project = 'abcdef01'", "branch = 'b'", "commit_id = 'c'"] {
        let refused = db.execute(&format!("update debates set {change}"), []).unwrap_err();
        assert!(refused.to_string().contains("never changed"), "{change}: {refused}");
    }
}

fn of_project(id: &str) -> DebateOrigin {
    DebateOrigin {
        project: ProjectId::recorded(id.to_owned()),
        name: format!("Project {id}"),
        branch: Some("retries".to_owned()),
        commit: Some("0123456789abcdef".to_owned()),
    }
}

#[tokio::test]
async fn debates_are_listed_by_project_with_where_they_were_opened() {
    let world = World::new();
    for (title, project) in [("A", "aaaaaaaa"), ("B", "bbbbbbbb"), ("C", "aaaaaaaa")] {
        let mut request = opening(Uuid::now_v7().into(), title);
        let Ask::Open { origin, .. } = &mut request.ask else { panic!("it opens one") };
        *origin = Some(Box::new(of_project(project)));
        world.at(i64::from(title.as_bytes()[0]));
        world.engine.execute(request).await.unwrap();
    }
    let (without, motion) = world.opens("D").await;
    world.claims(without, Role::Opponent, motion).await;
    let list = async |project: &str| {
        let project = Some(ProjectId::recorded(project.to_owned()));
        let list = world.engine.list(&Filter { project, limit: 9, ..Filter::default() }).await;
        let list = list.unwrap();
        assert_eq!((list.total, list.total_is_exact), (list.debates.len() as u64, true));
        list.debates
    };
    let titles = |debates: &[aw_record::DebateListed]| -> Vec<String> {
        debates.iter().map(|listed| listed.debate.title.to_string()).collect()
    };
    let found = list("aaaaaaaa").await;
    assert_eq!(titles(&found), ["C", "A"]);
    assert_eq!(found[0].origin.as_deref(), Some(&of_project("aaaaaaaa")));
    assert_eq!(titles(&list("cccccccc").await), [""; 0]);
    let all = world.engine.list(&Filter { limit: 9, ..Filter::default() }).await.unwrap();
    assert_eq!(all.total, 4);
    let projects = world.engine.projects().await.unwrap();
    let named = |id: &str| {
        let DebateOrigin { project, name, .. } = of_project(id);
        ProjectListed { id: project, name }
    };
    assert_eq!(projects, [named("aaaaaaaa"), named("bbbbbbbb")]);
    world.engine.delete(list("bbbbbbbb").await[0].debate.id).await.unwrap();
    assert_eq!(world.engine.projects().await.unwrap(), [named("aaaaaaaa")]);
}

async fn found(world: &World, name: &str) -> Vec<DebateId> {
    let name = DebateName::Text(name.to_owned());
    let found = world.engine.named_debates(&name, &NameScope::default()).await.unwrap();
    found.into_iter().map(|debate| debate.id).collect()
}

#[tokio::test]
async fn a_debate_is_found_by_its_slug_and_by_the_beginning_of_its_id() {
    let world = World::new();
    let [one, two]: [DebateId; 2] =
        [0xabcd_1111_u128, 0xabcd_2222].map(|n| Uuid::from_u128(n << 96).into());
    for (debate, title) in [(one, "Charge retries"), (two, "ABCD")] {
        world.engine.execute(opening(debate, title)).await.unwrap();
    }
    assert_eq!(found(&world, "charge-retries").await, [one]);
    assert_eq!(found(&world, "Charge-Retries").await, [one]);
    assert_eq!(found(&world, "abcd1").await, [one]);
    assert_eq!(found(&world, &one.to_string()).await, [one]);
    // A slug that looks like the beginning of an id never hides the ids that begin so.
    assert_eq!(found(&world, "abcd").await, [one, two]);
    for none in ["abc", "charge", "abcd3", "", "%", "charge_retries"] {
        assert_eq!(found(&world, none).await, [], "{none}");
    }
    let only = NameScope { only: Some(two), project: None };
    let bound = world.engine.named_debates(&DebateName::Text("abcd".to_owned()), &only).await;
    assert_eq!(bound.unwrap().into_iter().map(|debate| debate.id).collect::<Vec<_>>(), [two]);
    world.engine.delete(one).await.unwrap();
    assert_eq!(found(&world, "charge-retries").await, []);
}

#[tokio::test]
async fn the_last_and_the_only_open_debate_are_those_of_the_project_if_it_has_any() {
    let world = World::new();
    let opens = async |title: &str, project: Option<&str>| -> DebateId {
        let mut request = opening(Uuid::now_v7().into(), title);
        let Ask::Open { origin, .. } = &mut request.ask else { panic!("it opens one") };
        *origin = project.map(|project| Box::new(of_project(project)));
        world.engine.execute(request.clone()).await.unwrap();
        request.debate
    };
    let here = opens("Here", Some("aaaaaaaa")).await;
    world.at(5);
    let elsewhere = opens("Elsewhere", None).await;
    let take = async |name: DebateName, project: Option<&str>| -> Vec<DebateId> {
        let project = project.map(|project| ProjectId::recorded(project.to_owned()));
        let scope = NameScope { only: None, project };
        let found = world.engine.named_debates(&name, &scope).await.unwrap();
        found.into_iter().map(|debate| debate.id).collect()
    };
    let only_open = |awaiting| DebateName::OnlyOpen { awaiting };
    assert_eq!(take(DebateName::Last, None).await, [elsewhere]);
    assert_eq!(take(DebateName::Last, Some("aaaaaaaa")).await, [here]);
    assert_eq!(take(DebateName::Last, Some("bbbbbbbb")).await, [elsewhere]);
    assert_eq!(take(only_open(None), Some("aaaaaaaa")).await, [here]);
    assert_eq!(take(only_open(None), Some("bbbbbbbb")).await, []);
    assert_eq!(take(only_open(None), None).await, [elsewhere, here]);
    world.plays(here, Role::Arbitrator, Move::Intervention).await;
    assert_eq!(take(only_open(Some(Role::Opponent)), None).await, [elsewhere]);
    assert_eq!(take(only_open(Some(Role::Arbitrator)), None).await, [here]);
    assert_eq!(take(only_open(Some(Role::Proposer)), None).await.len(), 2);
    world.plays(here, Role::Arbitrator, CLOSE).await;
    assert_eq!(take(only_open(None), None).await, [elsewhere]);
}

#[tokio::test]
async fn an_argument_is_found_by_its_number_and_as_the_one_that_a_role_answers() {
    let world = World::new();
    let (debate, motion) = world.opens("T").await;
    let claim = world.claims(debate, Role::Opponent, motion).await;
    let reply = world.claims(debate, Role::Proposer, claim).await;
    let take = async |name: ArgumentName| -> Vec<ArgumentId> {
        let found = world.engine.named_arguments(debate, &name).await.unwrap();
        found.into_iter().map(|argument| argument.id).collect()
    };
    assert_eq!(take(ArgumentName::Number(2)).await, [claim]);
    assert_eq!(take(ArgumentName::Number(9)).await, []);
    assert_eq!(take(ArgumentName::Last).await, [reply]);
    // Also just after its own argument, so that a command that is run again means the same.
    assert_eq!(take(ArgumentName::AnsweredBy(Role::Proposer)).await, [claim]);
    assert_eq!(take(ArgumentName::AnsweredBy(Role::Opponent)).await, [reply]);
    let prefix = IdPrefix::parse(&claim.to_string()).unwrap();
    assert_eq!(take(ArgumentName::Prefix(prefix)).await, [claim]);
    let stop = world.plays(debate, Role::Arbitrator, Move::Intervention).await.argument.id;
    let parked = world.plays(debate, Role::Opponent, Move::Claim { target: reply }).await;
    assert!(parked.argument.event.parked());
    assert_eq!(take(ArgumentName::AnsweredBy(Role::Proposer)).await, [stop]);
}

#[tokio::test]
async fn an_archived_debate_is_left_out_of_lists_until_it_comes_back_or_somebody_moves() {
    let world = World::new();
    let (one, motion) = world.opens("One").await;
    let (two, _) = world.opens("Two").await;
    let listed = async |archived: bool| {
        let list = world.engine.list(&Filter { archived, limit: 9, ..Filter::default() }).await;
        let list = list.unwrap();
        assert_eq!(list.total, list.debates.len() as u64);
        let mut titles: Vec<String> =
            list.debates.iter().map(|listed| listed.debate.title.to_string()).collect();
        titles.sort();
        titles
    };
    for _ in 0..2 {
        world.engine.archive(one, true).await.unwrap();
        assert_eq!(
            (listed(false).await, listed(true).await),
            (vec!["Two".to_owned()], vec!["One".to_owned()])
        );
    }
    assert_eq!(found(&world, "one").await, [one], "it is still found by name");
    world.engine.archive(one, false).await.unwrap();
    assert_eq!((listed(false).await.len(), listed(true).await.len()), (2, 0));
    world.engine.archive(one, true).await.unwrap();
    world.claims(one, Role::Opponent, motion).await;
    assert_eq!((listed(false).await.len(), listed(true).await.len()), (2, 0));
    world.engine.archive(two, true).await.unwrap();
    world.engine.delete(two).await.unwrap();
    assert_eq!((listed(false).await.len(), listed(true).await.len()), (1, 0));
    let verified = world.engine.verify_on(None).await.unwrap();
    assert_eq!(verified.damages.len(), 0, "{:?}", verified.damages);
    assert!(world.engine.archive(two, true).await.is_err());
}

#[tokio::test]
async fn debates_are_listed_by_outcome_and_since_a_time_and_one_project_first() {
    let world = World::new();
    let (ruled, motion) = world.opens("Ruled").await;
    let target = world.claims(ruled, Role::Opponent, motion).await;
    world.plays(ruled, Role::Proposer, Move::Appeal { target }).await;
    world.plays(ruled, Role::Arbitrator, CLOSE).await;
    world.at(10);
    let (completed, motion) = world.opens("Completed").await;
    let target = world.claims(completed, Role::Opponent, motion).await;
    world.plays(completed, Role::Proposer, Move::Resolution { target }).await;
    let now = world.at(20);
    let mut request = opening(Uuid::now_v7().into(), "Open");
    let Ask::Open { origin, .. } = &mut request.ask else { panic!("it opens one") };
    *origin = Some(Box::new(of_project("aaaaaaaa")));
    world.engine.execute(request).await.unwrap();
    world.at(30);
    world.opens("Newer").await;
    let listed = async |filter: Filter| -> Vec<String> {
        let filter = Filter { limit: if filter.limit == 0 { 9 } else { filter.limit }, ..filter };
        let list = world.engine.list(&filter).await.unwrap();
        list.debates.iter().map(|listed| listed.debate.title.to_string()).collect()
    };
    let ended = |outcome| Filter { outcome: Some(outcome), ..Filter::default() };
    assert_eq!(listed(ended(Outcome::Ruled)).await, ["Ruled"]);
    assert_eq!(listed(ended(Outcome::Completed)).await, ["Completed"]);
    assert_eq!(listed(ended(Outcome::Agreed)).await, [""; 0]);
    assert_eq!(listed(ended(Outcome::LeftOpen)).await, [""; 0]);
    assert_eq!(listed(ended(Outcome::Open)).await, ["Newer", "Open"]);
    let since = Filter { since: Some(now), ..Filter::default() };
    assert_eq!(listed(since).await, ["Newer", "Open"]);
    let first = Filter {
        project_first: Some(ProjectId::recorded("aaaaaaaa".to_owned())),
        ..Filter::default()
    };
    assert_eq!(listed(first.clone()).await, ["Open", "Newer", "Completed", "Ruled"]);
    let mut pages = Vec::new();
    for offset in 0..5 {
        pages.extend(listed(Filter { offset, limit: 1, ..first.clone() }).await);
    }
    assert_eq!(pages, ["Open", "Newer", "Completed", "Ruled"]);
    assert_eq!(world.engine.list(&first).await.unwrap().total, 4);
}

#[tokio::test]
async fn an_open_debate_without_a_move_for_14_days_is_abandoned() {
    let world = World::new();
    let (debate, motion) = world.opens("T").await;
    let head = async || world.engine.listed(debate).await.unwrap().debate;
    let later = |millis| Time(BEGINNING + millis);
    assert!(!head().await.is_abandoned(later(DebateHead::ABANDONED_AFTER - 1)));
    assert!(head().await.is_abandoned(later(DebateHead::ABANDONED_AFTER)));
    let target = world.claims(debate, Role::Opponent, motion).await;
    world.plays(debate, Role::Proposer, Move::Resolution { target }).await;
    assert!(!head().await.is_abandoned(later(DebateHead::ABANDONED_AFTER)));
}
