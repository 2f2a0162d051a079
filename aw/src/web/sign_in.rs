//! Signing in where the server wants a token, and how somebody likes their pages.

use askama::Template;
use aw_core::{Hash, Time};
use aw_record::Pass;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, LOCATION, REFERRER_POLICY, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::assets;
use super::cookies::{SESSION_LASTS, sessions_of};
use super::form::Form;
use super::trouble;
use super::visitor::Visitor;
use super::words::{Tongue, Words};
use crate::server::input::Params;
use crate::server::{App, Problem};
use crate::token::{Token, digest};

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignIn<'a> {
    v: &'a Visitor,
    w: &'static Words,
    assets: &'a str,
    to: &'a str,
    /// Why somebody is not signed in yet.
    problem: Option<&'static str>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    to: String,
}

pub(super) async fn ask(visitor: Visitor, Params(asked): Params<Asked>) -> Response {
    show(&visitor, own(&asked.to), None)
}

fn show(visitor: &Visitor, to: &str, problem: Option<&'static str>) -> Response {
    let (w, assets) = (visitor.words, &assets::FOLDER);
    visitor.page(&SignIn { v: visitor, w, assets, to, problem })
}

/// Asks once more, unless too many wrong ones came from there.
fn refuse(app: &App, visitor: &Visitor, to: &str, why: &'static str) -> Response {
    match app.meters.wrong_token(visitor.peer) {
        Ok(()) => show(visitor, to, Some(why)),
        Err(too_often) => trouble::page(visitor, &too_often.into()),
    }
}

/// Takes a token that was pasted: a seat's, the administrator's or the shared one.
pub(super) async fn sign_in(State(app): State<App>, headers: HeaderMap, form: Form) -> Response {
    let to = own(form.get("to"));
    let holder = digest(form.get("token").trim());
    match app.session(holder, &headers).await {
        Ok(Some(session)) => with_cookies(to, &[form.visitor.jar.session(&session)]),
        Ok(None) => refuse(&app, &form.visitor, to, form.visitor.words.wrong_token),
        Err(problem) => trouble::page(&form.visitor, &problem.into()),
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Came {
    #[serde(default)]
    code: String,
    #[serde(default)]
    to: String,
}

/// Where a link leads that signs in.
pub(crate) const LINK: &str = "/sign-in/link";

/// The address that signs a browser in, once.
pub(crate) fn link(code: &Token, to: &str) -> String {
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("code", code.as_str())
        .append_pair("to", to)
        .finish();
    format!("{LINK}?{query}")
}

#[derive(Template)]
#[template(path = "link.html")]
struct LinkPage<'a> {
    v: &'a Visitor,
    w: &'static Words,
    assets: &'a str,
    code: &'a str,
    to: &'a str,
}

/// Signs in whoever follows a link. Programs look at links too, before their user does or instead:
/// only a browser that is on its way to the page uses one up, and everybody else is shown a button.
pub(super) async fn come_by_link(
    State(app): State<App>,
    headers: HeaderMap,
    visitor: Visitor,
    Params(came): Params<Came>,
) -> Response {
    let to = own(&came.to);
    if is_visit(&headers) {
        return redeem(&app, &headers, &visitor, &came.code, to).await;
    }
    let (w, assets) = (visitor.words, &assets::FOLDER);
    let page = LinkPage { v: &visitor, w, assets, code: &came.code, to };
    let mut response = visitor.page(&page);
    // The address has the code in it: nothing that the page asks for may tell it on.
    let origin_only = HeaderValue::from_static("strict-origin");
    response.headers_mut().insert(REFERRER_POLICY, origin_only);
    response
}

/// Takes the button of a link.
pub(super) async fn sign_in_by_link(
    State(app): State<App>,
    headers: HeaderMap,
    form: Form,
) -> Response {
    redeem(&app, &headers, &form.visitor, form.get("code"), own(form.get("to"))).await
}

async fn redeem(
    app: &App,
    headers: &HeaderMap,
    visitor: &Visitor,
    code: &str,
    to: &str,
) -> Response {
    let session = async {
        match app.record.redeem(digest(code)).await? {
            Some(holder) => app.session(holder, headers).await,
            None => Ok(None),
        }
    };
    match session.await {
        Ok(Some(session)) => with_cookies(to, &[visitor.jar.session(&session)]),
        // Whoever comes back to it has used it. From elsewhere nobody shows that they are signed in.
        Ok(None) if says(headers, "sec-fetch-site", "cross-site") => from_here(&visitor.here),
        Ok(None) if visitor.signed_in_as().is_some() => with_cookies(to, &[]),
        Ok(None) => refuse(app, visitor, to, visitor.words.used_link),
        Err(problem) => trouble::page(visitor, &problem.into()),
    }
}

/// Whether a browser asks for this in order to show it now, as far as it says.
fn is_visit(headers: &HeaderMap) -> bool {
    let ahead = ["sec-purpose", "purpose", "x-purpose", "x-moz"];
    says(headers, "sec-fetch-mode", "navigate")
        && says(headers, "sec-fetch-dest", "document")
        && !ahead.iter().any(|name| headers.contains_key(*name))
}

fn says(headers: &HeaderMap, name: &str, word: &str) -> bool {
    headers.get(name).is_some_and(|said| said == word)
}

pub(super) async fn sign_out(State(app): State<App>, headers: HeaderMap, form: Form) -> Response {
    match app.end_session(&headers).await {
        Ok(()) => with_cookies("/sign-in", &[form.visitor.jar.end_of_session()]),
        Err(problem) => trouble::page(&form.visitor, &problem.into()),
    }
}

impl App {
    /// A new session for whoever has the token with this SHA-256, if somebody has. It takes the place
    /// of the one that the browser had.
    async fn session(&self, holder: Hash, headers: &HeaderMap) -> Result<Option<Token>, Problem> {
        if self.guard.caller(holder, &self.record).await?.is_none() {
            return Ok(None);
        }
        let session = Token::new();
        let expires_at = Time(self.record.now().0 + SESSION_LASTS);
        let pass = Pass { hash: session.digest(), holder, once: false, expires_at };
        self.record.give_pass(pass).await?;
        self.end_session(headers).await?;
        Ok(Some(session))
    }

    /// Ends the session of this browser: a copy of its cookie is worth nothing from now on.
    async fn end_session(&self, headers: &HeaderMap) -> Result<(), Problem> {
        for session in sessions_of(headers) {
            self.record.end_pass(session).await?;
        }
        Ok(())
    }
}

/// Remembers a language or a theme.
pub(super) async fn prefer(form: Form) -> Response {
    let language = Some(form.get("lang")).filter(|code| Tongue::of(code).is_some());
    let theme = form.has("theme").then(|| form.get("theme"));
    let theme = theme.filter(|code| ["", "light", "dark"].contains(code));
    with_cookies(own(form.get("to")), &form.visitor.choices(language, theme))
}

/// Sends somebody to sign in, and then back to where they were going.
pub(crate) fn to_sign_in(uri: &Uri) -> Response {
    let to = uri.path_and_query().map_or("/", |path| path.as_str());
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("to", to).finish();
    with_cookies(&format!("/sign-in?{query}"), &[])
}

/// Asks for the same page once more, this time from a page of ours.
pub(crate) fn ask_again(uri: &Uri) -> Response {
    from_here(uri.path_and_query().map_or("/", |path| path.as_str()))
}

fn from_here(to: &str) -> Response {
    let to = own(to).replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
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
pub(crate) fn own(to: &str) -> &str {
    let is_path = to.starts_with('/') && !to.starts_with("//") && !to.starts_with("/\\");
    if is_path && to.bytes().all(|b| (0x21..0x7f).contains(&b)) { to } else { "/" }
}

fn with_cookies(to: &str, cookies: &[String]) -> Response {
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
