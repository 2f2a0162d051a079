//! Redirects links of the older system, which people have in their notes and history.
//!
//! The redirects are temporary, because the older system may listen on the same port another day.

use axum::response::Redirect;

use crate::server::input::Segment;

/// `/debate` and `/debate/debates`.
pub(super) async fn list() -> Redirect {
    Redirect::to("/")
}

/// `/debate/debates/{id}`.
pub(super) async fn debate(Segment(id): Segment) -> Redirect {
    let id: String = form_urlencoded::byte_serialize(id.as_bytes()).collect();
    Redirect::to(&format!("/debate/{id}"))
}
