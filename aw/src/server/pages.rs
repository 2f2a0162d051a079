//! The server's side of the pages: which paths are pages, and how a browser gets to one.
//!
//! The pages themselves are in `web`, which uses the server. [`Pages`] is how they are plugged in.

use axum::Router;
use axum::http::header::{
    ACCEPT, ACCEPT_LANGUAGE, CACHE_CONTROL, LOCATION, REFERRER_POLICY, SET_COOKIE,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Uri};
use axum::response::{IntoResponse, Redirect, Response};

use super::App;
use super::cookies::{LANGUAGE, cookie};
use super::error::Problem;
use crate::kit::texts::Language;
use crate::token::Token;

/// The pages that a server serves besides its API.
#[derive(Debug, Clone)]
pub struct Pages {
    pub(crate) routes: Router<App>,
    /// Draws the page for a problem that no page has handled.
    pub(crate) error: fn(&Parts, &App, Problem) -> Response,
}

/// The path of a link that signs a browser in.
pub(crate) const LINK: &str = "/sign-in/link";

/// Whether this path is a page, which links from any site may lead to.
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

/// Whether this path is served without signing in.
pub(crate) fn is_public(path: &str) -> bool {
    matches!(path, "/sign-in" | LINK) || path.starts_with("/assets/")
}

/// Whether a browser asks, which shows errors to a person.
pub(crate) fn wants_page(parts: &Parts) -> bool {
    let accepts = parts.headers.get(ACCEPT).and_then(|kinds| kinds.to_str().ok());
    accepts.is_some_and(|kinds| kinds.contains("text/html"))
}

/// The language that the person chose, or that the browser prefers.
pub(crate) fn language(headers: &HeaderMap) -> Language {
    let chosen = cookie(headers, LANGUAGE).and_then(|code| code.parse().ok());
    chosen.unwrap_or_else(|| {
        let accepted = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        Language::accepted(accepted.unwrap_or_default())
    })
}

/// The address that signs a browser in, once, and leads on to `to`.
pub(crate) fn sign_in_link(code: &Token, to: &str) -> String {
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("code", code.as_str())
        .append_pair("to", to)
        .finish();
    format!("{LINK}?{query}")
}

/// The path if it stays on this server, otherwise `/`.
pub(crate) fn local_path(to: &str) -> &str {
    let is_path = to.starts_with('/') && !to.starts_with("//") && !to.starts_with("/\\");
    if is_path && to.bytes().all(|b| (0x21..0x7f).contains(&b)) { to } else { "/" }
}

/// Redirects to the sign-in page, which leads back to `uri`.
pub(crate) fn redirect_to_sign_in(uri: &Uri) -> Response {
    let query =
        form_urlencoded::Serializer::new(String::new()).append_pair("to", path_of(uri)).finish();
    redirect(&format!("/sign-in?{query}"), &[])
}

/// A page that makes the browser ask for `uri` again, this time from this site and so with cookies.
pub(crate) fn ask_again(uri: &Uri) -> Response {
    refresh(path_of(uri))
}

/// A page that leads on to `to` by itself.
pub(crate) fn refresh(to: &str) -> Response {
    let to = local_path(to).replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    let page = format!(
        "<!doctype html><meta charset=\"utf-8\"><title>aw</title>\
         <meta http-equiv=\"refresh\" content=\"0;url={to}\"><a href=\"{to}\">aw</a>\n"
    );
    let headers = [
        ("content-type", "text/html; charset=utf-8"),
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
        ("referrer-policy", "same-origin"),
        ("cache-control", "no-store"),
    ];
    (headers, page).into_response()
}

/// Redirects and sets these cookies.
pub(crate) fn redirect(to: &str, cookies: &[String]) -> Response {
    let mut response = Redirect::to("/").into_response();
    for (name, value) in [(CACHE_CONTROL, "no-store"), (REFERRER_POLICY, "no-referrer")] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    if let Ok(to) = HeaderValue::from_str(to) {
        response.headers_mut().insert(LOCATION, to);
    }
    for cookie in cookies.iter().filter_map(|cookie| cookie.parse().ok()) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

fn path_of(uri: &Uri) -> &str {
    uri.path_and_query().map_or("/", |path| path.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_stays_on_this_server() {
        assert_eq!(local_path("/debate/1?x=2#a"), "/debate/1?x=2#a");
        for elsewhere in ["", "//evil.test", "/\\evil.test", "https://evil.test", "x", "/a\r\nb: c"]
        {
            assert_eq!(local_path(elsewhere), "/", "{elsewhere}");
        }
    }
}
