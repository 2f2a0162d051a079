//! The timeline of short and of long debates.

use aw_core::{Time, Verdict};

use super::*;
use crate::kit::texts::Language;

const MINUTE: i64 = 60_000;

fn claim(role: Role) -> Event {
    match role {
        Role::Proposer => Event::ProposerClaim { parked: false },
        Role::Opponent | Role::Arbitrator => Event::OpponentClaim { parked: false },
    }
}

/// A debate in which each event took this many minutes.
fn debate(events: &[(Event, i64)]) -> Vec<Moment> {
    let mut at = 1_000_000;
    let moment = |(place, (event, minutes)): (usize, &(Event, i64))| {
        at += minutes * MINUTE;
        Moment { seq: Seq(place as u64 + 1), event: *event, at: Time(at) }
    };
    events.iter().enumerate().map(moment).collect()
}

/// Claims back and forth, two minutes each.
fn long(count: usize) -> Vec<Moment> {
    let event = |place: usize| match place {
        0 => Event::Motion,
        place if place % 2 == 1 => claim(Role::Opponent),
        place if place % 50 == 0 => Event::Appeal { parked: false },
        _ => claim(Role::Proposer),
    };
    let mut events = Vec::new();
    for place in 0..count {
        let next = event(place);
        events.push((next, 2));
        if next.kind() == Kind::Appeal {
            events.push((Event::Ruling { verdict: Verdict::GoOn, automatic: false }, 30));
            events.push((claim(Role::Proposer), 2));
        }
    }
    debate(&events)
}

fn drawn(moments: &[Moment]) -> String {
    let now = moments.last().map_or(0, |last| last.at.0 + 5 * MINUTE);
    draw(moments, Language::English.phrases(), now, &|seq| format!("#a-{seq}"))
}

fn width(html: &str) -> u32 {
    let picture = html.split("timeline-picture\" width=\"").nth(1).unwrap();
    picture.split('"').next().unwrap().parse().unwrap()
}

fn appealed() -> Vec<Moment> {
    debate(&[
        (Event::Motion, 0),
        (claim(Role::Opponent), 3),
        (Event::Appeal { parked: false }, 2),
        (Event::Ruling { verdict: Verdict::GoOn, automatic: false }, 14 * 60),
        (claim(Role::Proposer), 5),
    ])
}

#[test]
fn every_argument_is_a_link_with_its_own_shape() {
    let html = drawn(&appealed());
    for seq in 1..=5 {
        assert!(html.contains(&format!("<a href=\"#a-{seq}\" aria-label=\"#{seq} ")), "{html}");
    }
    assert!(
        html.contains(
            "<title>#2 CLAIM · Opponent · 3 min</title><path class=\"mark r-opponent k-claim\""
        ),
        "{html}"
    );
    assert!(
        html.contains("mark r-proposer k-motion") && html.contains("mark r-proposer k-appeal"),
        "{html}"
    );
    assert!(html.contains("mark r-arbitrator k-ruling"), "{html}");
    let kinds = [
        Kind::Motion,
        Kind::Claim,
        Kind::Appeal,
        Kind::Ruling,
        Kind::Intervention,
        Kind::Resolution,
    ];
    let mut shapes: Vec<_> = kinds.iter().map(|kind| marks::path(*kind, 50, 50, 7)).collect();
    shapes.sort();
    shapes.dedup();
    assert_eq!(shapes.len(), kinds.len());
}

#[test]
fn waits_for_the_arbitrator_and_long_pauses_are_drawn() {
    let html = drawn(&appealed());
    assert_eq!(html.matches("class=\"wait\"").count(), 1, "{html}");
    assert_eq!(html.matches("class=\"break\"").count(), 1, "{html}");
    assert!(html.contains(">14 h</text>"), "{html}");
    // The current wait.
    assert!(html.contains("class=\"now r-opponent\"") && html.contains(">5 min</text>"), "{html}");
    let asked = drawn(&appealed()[..3]);
    assert!(asked.contains("class=\"wait\"") && asked.contains("now r-arbitrator"), "{asked}");
}

#[test]
fn a_closed_debate_has_an_end_and_a_parked_claim_is_hollow() {
    let moments = debate(&[
        (Event::Motion, 0),
        (Event::Intervention, 1),
        (Event::OpponentClaim { parked: true }, 1),
        (Event::Ruling { verdict: Verdict::Close, automatic: false }, 4),
    ]);
    let html = drawn(&moments);
    assert!(html.contains("k-claim parked\"") && html.contains(" · parked</title>"), "{html}");
    assert!(html.contains("k-ruling closes\"") && html.contains("class=\"end\""), "{html}");
    assert!(!html.contains("class=\"now"), "{html}");
    // The parked claim does not end the wait for the ruling.
    let wait = html.split("class=\"wait\" d=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(wait.matches('M').count(), 1, "{wait}");
}

#[test]
fn longer_answers_have_longer_bars_up_to_a_limit() {
    for marks in [5, 100, 500] {
        let spacing = Spacing::of(marks);
        let lengths: Vec<u32> = [0, 10_000, MINUTE, 10 * MINUTE, IDLE]
            .iter()
            .map(|took| spacing.length(*took))
            .collect();
        assert!(lengths.windows(2).all(|pair| pair[0] < pair[1]), "{lengths:?}");
        assert_eq!(spacing.length(IDLE * 1000), spacing.length(IDLE));
        assert_eq!(spacing.length(-5), spacing.length(0));
    }
}

#[test]
fn numbers_of_rounds_do_not_overlap() {
    for count in [5, 60, 500] {
        let html = drawn(&long(count));
        let places: Vec<(u32, String)> = html
            .split("<text class=\"round\" x=\"")
            .skip(1)
            .map(|rest| {
                let (x, rest) = rest.split_once('"').unwrap();
                let number = rest.split_once('>').unwrap().1.split('<').next().unwrap();
                (x.parse().unwrap(), number.to_owned())
            })
            .collect();
        assert_eq!(places[0].1, "1");
        assert!(places.len() >= 2, "{html}");
        assert!(
            places.windows(2).all(|pair| pair[0].0 + 8 * pair[0].1.len() as u32 + 4 <= pair[1].0),
            "{places:?}"
        );
    }
}

#[test]
fn the_picture_fits_a_column_and_then_grows_with_the_debate() {
    for count in [3, 10, 20, 30, 40] {
        let width = width(&drawn(&long(count)));
        assert!(width <= FITS, "{width} for {count}");
    }
    let wide = width(&drawn(&debate(&[(Event::Motion, 0), (claim(Role::Opponent), 3)])));
    assert!(wide > 100, "a short one is not made closer: {wide}");
    let five_hundred = drawn(&long(500));
    assert!((2_000..8_000).contains(&width(&five_hundred)), "{}", width(&five_hundred));
    assert!(five_hundred.contains("tabindex=\"-1\""));
    assert!(five_hundred.len() < 150_000, "{}", five_hundred.len());
    // Marks in one lane do not overlap.
    let spacing = Spacing::of(500);
    assert!(2 * spacing.length(0) as i32 >= 2 * spacing.size);
}

#[test]
fn thousands_of_claims_are_drawn_as_runs_and_appeals_are_not() {
    let moments = long(5_000);
    let html = drawn(&moments);
    let appeals = moments.iter().filter(|moment| moment.event.kind() == Kind::Appeal).count();
    assert_eq!(html.matches("mark r-proposer k-appeal").count(), appeals);
    assert!(html.matches("<a ").count() <= 2 * MARKS && html.contains("class=\"run\""));
    assert!(width(&html) < 25_000, "{}", width(&html));
    // The limit also holds without claims.
    let ruled: Vec<_> = (0..20_000)
        .map(|place| match place % 2 {
            0 => (Event::Appeal { parked: false }, 1),
            _ => (Event::Ruling { verdict: Verdict::GoOn, automatic: false }, 1),
        })
        .collect();
    assert!(drawn(&debate(&ruled)).matches("<a ").count() <= MARKS);
}

#[test]
fn the_html_has_no_style_no_script_and_escapes_addresses() {
    let html = drawn(&long(100));
    assert!(
        !html.contains("style=") && !html.contains("<script") && !html.contains(" on"),
        "{html}"
    );
    assert_eq!(draw(&[], Language::English.phrases(), 0, &|_| String::new()), "");
    let hostile = draw(&appealed(), Language::English.phrases(), 0, &|_| "\"><script>".to_owned());
    assert!(!hostile.contains("<script"), "{hostile}");
}

#[test]
fn the_summary_counts_arguments() {
    assert_eq!(
        summary(&appealed()),
        Summary {
            rounds: 3,
            arguments: 5,
            appeals: 1,
            interventions: 0,
            rulings: 1,
            lasted: 850 * MINUTE
        }
    );
    assert_eq!(summary(&[]).lasted, 0);
}
