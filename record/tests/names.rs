//! What debates are called, and where they were opened.

use aw_core::{DebateOrigin, ProjectId, Role};
use aw_record::{Ask, Filter, ProjectListed};
use rusqlite::Connection;
use uuid::Uuid;

use crate::world::{World, opening};

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
