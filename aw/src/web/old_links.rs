//! Links of the older system, which people have in their notes and history.
//!
//! The answers are temporary redirects: the older system may listen on the same port another day.

use axum::response::Redirect;

use crate::server::input::Segment;

/// `/debate` and `/debate/debates`: the list.
pub(super) async fn list() -> Redirect {
    Redirect::to("/")
}

/// `/debate/debates/{id}`: a debate.
pub(super) async fn debate(Segment(id): Segment) -> Redirect {
    let id: String = form_urlencoded::byte_serialize(id.as_bytes()).collect();
    Redirect::to(&format!("/debate/{id}"))
}
