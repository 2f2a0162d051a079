//! The presence of each role in a debate, and the line that brings an agent back.

use aw_core::{Argument, Kind, Role, State, Via};
use aw_record::{DebateHead, PageData, SeatRole};

use crate::render::i18n::{Phrases, put};
use crate::render::markdown::plain;
use crate::server::App;
use crate::web::page_request::PageRequest;

/// How long a role may be unseen before the page offers to bring it back, in milliseconds.
const QUIET: i64 = 3 * 60 * 1000;

/// The presence of one role.
pub(crate) struct RolePresence {
    pub(crate) role: Role,
    pub(crate) name: &'static str,
    /// `waiting`, `working`, `seen`, `quiet` or `unknown`, for the style.
    pub(crate) sign: &'static str,
    /// The same in words, as HTML: a label is somebody else's text.
    pub(crate) words: String,
    pub(crate) waits: bool,
    /// Its current work, in its own words.
    pub(crate) label: Option<String>,
    /// Whether it is this role's move.
    pub(crate) has_floor: bool,
    /// The line to paste to bring the agent back.
    pub(crate) line: Option<String>,
}

/// The presence of the three roles.
pub(crate) fn roles(app: &App, t: &'static Phrases, debate: &DebateHead) -> Vec<RolePresence> {
    let now = app.record.now().0;
    let presence = app.record.presence(debate.id);
    let floor = debate.state().floor();
    let closed = debate.state() == State::Closed;
    let presence_of = |role: Role| {
        let sign = presence.at(role);
        let has_floor = floor == Some(role);
        let away = sign.last_seen.map(|seen| now - seen.0);
        let works = sign.working.as_ref().map(|working| {
            // The label comes last: it may contain a blank.
            let words = t.works.replace("{time}", &t.lasting(now - working.since.0));
            words.replacen("{label}", &format!("<bdi>{}</bdi>", plain(working.label.as_str())), 1)
        });
        let (word, words) = match (sign.waiting, away) {
            _ if works.is_some() => ("working", works.unwrap_or_default()),
            (true, _) => ("waiting", t.is_waiting.to_owned()),
            (false, Some(away)) if has_floor && away < QUIET => {
                ("working", t.is_working.to_owned())
            }
            (false, Some(away)) if away < QUIET => ("seen", put(t.seen, t.ago(away))),
            (false, Some(away)) => ("quiet", put(t.no_sign, t.lasting(away))),
            (false, None) if debate.debate.standing.count.get(role) > 0 => {
                ("unknown", t.not_since_start.to_owned())
            }
            (false, None) => ("unknown", t.never_seen.to_owned()),
        };
        let is_agent = role != Role::Arbitrator;
        let missing = is_agent && !closed && matches!(word, "quiet" | "unknown");
        let line = missing.then(|| {
            let line = t.resume_line.replace("{role}", role.as_str());
            line.replace("{id}", &debate.id.to_string())
        });
        RolePresence {
            role,
            name: t.role(role),
            sign: word,
            words,
            waits: sign.waiting,
            label: sign.working.as_ref().map(|working| working.label.as_str().to_owned()),
            has_floor,
            line,
        }
    };
    [Role::Proposer, Role::Opponent, Role::Arbitrator].map(presence_of).into()
}

/// An agent in the bar of a debate.
pub(super) struct AgentChip {
    pub(super) presence: RolePresence,
    /// The program and model that wrote its newest argument, as it names itself.
    pub(super) author: Option<String>,
}

/// The agents that the reader watches. A person who rules is shown the two debaters only, and nobody
/// reads about their own presence.
pub(super) fn agents(
    app: &App,
    t: &'static Phrases,
    data: &PageData,
    request: &PageRequest,
) -> Vec<AgentChip> {
    let own = request.caller.seat().map(|seat| seat.role);
    let rules = request.rules();
    let others = roles(app, t, &data.debate)
        .into_iter()
        .filter(|one| !(rules && one.role == Role::Arbitrator));
    others
        .map(|mut presence| {
            if own == Some(SeatRole::Plays(presence.role)) {
                presence.words = t.it_is_you.to_owned();
            }
            if !request.may_bring_back(presence.role) {
                presence.line = None;
            }
            AgentChip { author: newest_author(data, presence.role), presence }
        })
        .collect()
}

/// The author of the newest argument of a role, as the author names itself.
fn newest_author(data: &PageData, role: Role) -> Option<String> {
    let all = data.arguments.iter().rev().chain(std::iter::once(&data.motion));
    // The runner writes the MOTION of its agent.
    let by_runner = |one: &&Argument| one.via == Via::Run && one.event.kind() == Kind::Motion;
    let mut of_role =
        all.filter(|one| one.event.role() == role && !one.event.automatic() && !by_runner(one));
    let author = of_role.find_map(|one| one.author.as_ref())?;
    Some(author.as_str().to_owned())
}
