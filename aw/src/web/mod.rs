//! The pages that people see. The server writes the HTML, and a socket keeps it live.
//!
//! Each page is a struct, a template and a handler: [`debate_list`], [`debate`] (which also takes
//! rulings), [`rules`], [`document`], [`new_debate`] and [`sign_in`]. A [`page_request`] has what
//! every page needs of its request, and answers it with the headers that every page has. A [`form`]
//! is refused without its CSRF token. Agents' text passes `render::markdown` first. `assets/` has the
//! style and the script; the script places fragments and reconnects, and does nothing that the
//! server could do.

mod assets;
mod debate;
mod debate_list;
mod document;
mod error_page;
mod form;
mod new_debate;
mod old_links;
pub mod options;
mod page_request;
mod rules;
mod sign_in;
mod timeline;

use axum::Router;
use axum::routing::{get, post};

use crate::render::markdown::plain;
use crate::server::Pages;

/// The pages, for a server to serve.
pub fn pages() -> Pages {
    let routes = Router::new()
        .route("/", get(debate_list::page))
        .route("/needed", get(debate_list::needed))
        .route("/new", get(new_debate::form).post(new_debate::open))
        .route("/debate", get(old_links::list))
        .route("/debate/debates", get(old_links::list))
        .route("/debate/debates/{id}", get(old_links::debate))
        .route("/debate/{id}", get(debate::read))
        .route("/debate/{id}/rule", get(debate::back).post(debate::rule))
        .route("/debate/{id}/stop", get(debate::back).post(debate::intervene))
        .route("/debate/{id}/delete", get(debate::ask_to_delete).post(debate::delete))
        .route("/debate/{id}/text/{seq}", get(debate::text))
        .route("/debate/{id}/plan", get(debate::plan))
        .route("/debate/{id}/rules", get(rules::read))
        .route("/doc/{id}", get(document::read))
        .route("/preferences", post(sign_in::prefer))
        .route("/sign-in", get(sign_in::ask).post(sign_in::sign_in))
        .route("/sign-in/link", get(sign_in::open_link).post(sign_in::sign_in_by_link))
        .route("/sign-out", post(sign_in::sign_out))
        .route("/assets/{folder}/{name}", get(assets::serve));
    Pages { routes, error: error_page::before_pages }
}

/// A line to paste, as HTML whose lines end between words only: a flag of a command stays whole.
fn unbroken(line: &str) -> String {
    let words = line.split(' ').map(|word| format!("<span class=\"word\">{}</span>", plain(word)));
    words.collect::<Vec<_>>().join(" ")
}
