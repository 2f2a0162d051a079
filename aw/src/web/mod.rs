//! The pages that people see: written here, kept live over the socket.
//!
//! Each page is a struct, a template and a handler together: [`home`] lists the debates, [`debate`]
//! shows one and takes rulings, [`rules`] says what its roles go by, [`document`] shows versions, [`opening`] starts a debate. What is
//! drawn from agents' words passes [`markdown`] first. [`visitor`] hands pages out, with the policy
//! that lets nothing of anybody else's run, and asks the caller what there is to offer them; [`form`]
//! takes in what they send, if it carries our [`seal`]; [`sign_in`] lets people in, and [`cookies`]
//! are what their browsers keep; [`older`] follows links of the older system. `assets/` has the style and the script; the script places fragments and reconnects, and
//! does nothing that the server could do.

mod argument;
mod assets;
mod cookies;
mod debate;
mod diff;
mod document;
mod form;
mod home;
pub mod markdown;
mod older;
mod opening;
pub mod options;
mod rules;
pub(crate) mod seal;
mod sign_in;
mod timeline;
mod trouble;
mod visitor;
mod words;

use axum::Router;
use axum::routing::{get, post};

pub(crate) use argument::{around_transcript, document_line, exported, fragment, hand};
pub(crate) use cookies::{sessions_of, shows_cookies};
pub(crate) use diff::unified;
pub(crate) use sign_in::{LINK, ask_again, link, own, to_sign_in};
pub(crate) use trouble::{page_of as trouble_page, wants_page};
pub(crate) use visitor::tongue;
pub(crate) use words::Tongue;

use crate::server::App;

/// The pages and what they send.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/", get(home::home))
        .route("/needed", get(home::needed))
        .route("/new", get(opening::form).post(opening::open))
        .route("/debate", get(older::list))
        .route("/debate/debates", get(older::list))
        .route("/debate/debates/{id}", get(older::debate))
        .route("/debate/{id}", get(debate::read))
        .route("/debate/{id}/rule", get(debate::back).post(debate::rule))
        .route("/debate/{id}/stop", get(debate::back).post(debate::intervene))
        .route("/debate/{id}/delete", get(debate::ask_to_delete).post(debate::delete))
        .route("/debate/{id}/text/{seq}", get(debate::text))
        .route("/debate/{id}/rules", get(rules::read))
        .route("/doc/{id}", get(document::read))
        .route("/preferences", post(sign_in::prefer))
        .route("/sign-in", get(sign_in::ask).post(sign_in::sign_in))
        .route("/sign-in/link", get(sign_in::come_by_link).post(sign_in::sign_in_by_link))
        .route("/sign-out", post(sign_in::sign_out))
        .route("/assets/{folder}/{name}", get(assets::serve))
}

/// Whether this path is a page's, which a person may come to from anywhere.
pub(crate) fn is_page(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    matches!(
        first,
        "" | "needed"
            | "new"
            | "debate"
            | "doc"
            | "preferences"
            | "sign-in"
            | "sign-out"
            | "assets"
    )
}

/// Whether this is shown to whoever has not signed in.
pub(crate) fn is_open(path: &str) -> bool {
    matches!(path, "/sign-in" | LINK) || path.starts_with("/assets/")
}
