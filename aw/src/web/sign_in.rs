//! Signing in where the server wants a token, and how somebody likes their pages.

use askama::Template;
use axum::extract::State;
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::http::{HeaderValue, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::assets;
use super::form::Form;
use super::seal::{end_of_session, session};
use super::visitor::{Visitor, choices};
use super::words::{Tongue, Words};
use crate::server::App;
use crate::server::input::Params;

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignIn<'a> {
    v: &'a Visitor,
    w: &'static Words,
    assets: &'a str,
    to: &'a str,
    wrong: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    to: String,
}

pub(super) async fn ask(visitor: Visitor, Params(asked): Params<Asked>) -> Response {
    show(&visitor, own(&asked.to), false)
}

fn show(visitor: &Visitor, to: &str, wrong: bool) -> Response {
    let (w, assets) = (visitor.words, &assets::FOLDER);
    visitor.page(&SignIn { v: visitor, w, assets, to, wrong })
}

pub(super) async fn sign_in(State(app): State<App>, form: Form) -> Response {
    let to = own(form.get("to"));
    match app.guard.token_given(form.get("token").trim()) {
        Some(token) => with_cookies(to, &[session(token, app.engine.now().0)]),
        None => show(&form.visitor, to, true),
    }
}

pub(super) async fn sign_out(_: Form) -> Response {
    with_cookies("/sign-in", &[end_of_session()])
}

/// Remembers a language or a theme.
pub(super) async fn prefer(form: Form) -> Response {
    let language = Some(form.get("lang")).filter(|code| Tongue::of(code).is_some());
    let theme = form.has("theme").then(|| form.get("theme"));
    let theme = theme.filter(|code| ["", "light", "dark"].contains(code));
    with_cookies(own(form.get("to")), &choices(language, theme))
}

/// Sends somebody to sign in, and then back to where they were going.
pub(crate) fn to_sign_in(uri: &Uri) -> Response {
    let to = uri.path_and_query().map_or("/", |path| path.as_str());
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("to", to).finish();
    with_cookies(&format!("/sign-in?{query}"), &[])
}

/// Asks for the same page once more, this time from a page of ours.
pub(crate) fn ask_again(uri: &Uri) -> Response {
    let to = own(uri.path_and_query().map_or("/", |path| path.as_str()));
    let to = to.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
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

/// A way that stays on this server.
fn own(to: &str) -> &str {
    let is_path = to.starts_with('/') && !to.starts_with("//") && !to.starts_with("/\\");
    if is_path && to.bytes().all(|b| (0x21..0x7f).contains(&b)) { to } else { "/" }
}

fn with_cookies(to: &str, cookies: &[String]) -> Response {
    let mut response = Redirect::to("/").into_response();
    if let Ok(to) = HeaderValue::from_str(to) {
        response.headers_mut().insert(LOCATION, to);
    }
    for cookie in cookies.iter().filter_map(|cookie| cookie.parse().ok()) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_sent_back_to_a_page_of_this_server_only() {
        assert_eq!(own("/debate/1?x=2#a"), "/debate/1?x=2#a");
        for elsewhere in ["", "//evil.test", "/\\evil.test", "https://evil.test", "x", "/a\r\nb: c"]
        {
            assert_eq!(own(elsewhere), "/", "{elsewhere}");
        }
    }
}
