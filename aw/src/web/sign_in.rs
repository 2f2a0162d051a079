//! Signing in where the server wants a token, and how somebody likes their pages.

use askama::Template;
use aw_core::{Hash, Time};
use aw_record::Pass;
use axum::extract::State;
use axum::http::header::REFERRER_POLICY;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use serde::Deserialize;

use super::assets;
use super::error_page;
use super::form::Form;
use super::page_request::PageRequest;
use crate::kit::texts::Language;
use crate::render::i18n::Phrases;
use crate::server::cookies::{SESSION_LASTS, sessions_of};
use crate::server::input::Params;
use crate::server::pages::{local_path, redirect, refresh};
use crate::server::{App, Problem};
use crate::token::{Token, digest};

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage<'a> {
    request: &'a PageRequest,
    t: &'static Phrases,
    assets: &'a str,
    to: &'a str,
    /// Why somebody is not signed in yet.
    problem: Option<&'static str>,
}

#[derive(Debug, Deserialize)]
pub(super) struct SignInQuery {
    #[serde(default)]
    to: String,
}

pub(super) async fn ask(request: PageRequest, Params(asked): Params<SignInQuery>) -> Response {
    show(&request, local_path(&asked.to), None)
}

fn show(request: &PageRequest, to: &str, problem: Option<&'static str>) -> Response {
    let (t, assets) = (request.phrases, &assets::FOLDER);
    request.page(&SignInPage { request, t, assets, to, problem })
}

/// Asks once more, unless too many wrong ones came from there.
fn refuse(app: &App, request: &PageRequest, to: &str, why: &'static str) -> Response {
    match app.rate_limiters.check_wrong_token(request.peer) {
        Ok(()) => show(request, to, Some(why)),
        Err(too_often) => error_page::page(request, &too_often.into()),
    }
}

/// Takes a token that was pasted: a seat's, the administrator's or the shared one.
pub(super) async fn sign_in(State(app): State<App>, headers: HeaderMap, form: Form) -> Response {
    let to = local_path(form.get("to"));
    let holder = digest(form.get("token").trim());
    match app.session(holder, &headers).await {
        Ok(Some(session)) => redirect(to, &[form.request.jar.session(&session)]),
        Ok(None) => refuse(&app, &form.request, to, form.request.phrases.wrong_token),
        Err(problem) => error_page::page(&form.request, &problem.into()),
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct LinkQuery {
    #[serde(default)]
    code: String,
    #[serde(default)]
    to: String,
}

#[derive(Template)]
#[template(path = "sign_in_link.html")]
struct LinkPage<'a> {
    request: &'a PageRequest,
    t: &'static Phrases,
    assets: &'a str,
    code: &'a str,
    to: &'a str,
}

/// Signs in whoever follows a link. Programs look at links too, before their user does or instead:
/// only a browser that is on its way to the page uses one up, and everybody else is shown a button.
pub(super) async fn come_by_link(
    State(app): State<App>,
    headers: HeaderMap,
    request: PageRequest,
    Params(came): Params<LinkQuery>,
) -> Response {
    let to = local_path(&came.to);
    if is_visit(&headers) {
        return redeem(&app, &headers, &request, &came.code, to).await;
    }
    let (t, assets) = (request.phrases, &assets::FOLDER);
    let page = LinkPage { request: &request, t, assets, code: &came.code, to };
    let mut response = request.page(&page);
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
    redeem(&app, &headers, &form.request, form.get("code"), local_path(form.get("to"))).await
}

async fn redeem(
    app: &App,
    headers: &HeaderMap,
    request: &PageRequest,
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
        Ok(Some(session)) => redirect(to, &[request.jar.session(&session)]),
        // Whoever comes back to it has used it. From elsewhere nobody shows that they are signed in.
        Ok(None) if says(headers, "sec-fetch-site", "cross-site") => refresh(&request.here),
        Ok(None) if request.signed_in_as().is_some() => redirect(to, &[]),
        Ok(None) => refuse(app, request, to, request.phrases.used_link),
        Err(problem) => error_page::page(request, &problem.into()),
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
        Ok(()) => redirect("/sign-in", &[form.request.jar.end_session()]),
        Err(problem) => error_page::page(&form.request, &problem.into()),
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
    let language = Some(form.get("lang")).filter(|code| code.parse::<Language>().is_ok());
    let theme = form.has("theme").then(|| form.get("theme"));
    let theme = theme.filter(|code| ["", "light", "dark"].contains(code));
    redirect(local_path(form.get("to")), &form.request.choices(language, theme))
}
