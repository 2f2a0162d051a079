//! `/sign-in`, `/sign-out` and `/preferences`.

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
    /// Why signing in failed.
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

/// Shows the form again, unless this address has failed too often.
fn refuse(app: &App, request: &PageRequest, to: &str, why: &'static str) -> Response {
    match app.rate_limiters.check_wrong_token(request.peer) {
        Ok(()) => show(request, to, Some(why)),
        Err(too_often) => error_page::page(request, &too_often.into()),
    }
}

/// Takes a pasted token: a seat's, the administrator's or the shared one.
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

/// Signs in by a link. Programs such as chat previews open links too, so only a browser that is
/// about to show the page uses the link up. All others get a page with a button.
pub(super) async fn open_link(
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
    // The address contains the code, which must not be in the referrer of further requests.
    let origin_only = HeaderValue::from_static("strict-origin");
    response.headers_mut().insert(REFERRER_POLICY, origin_only);
    response
}

/// Signs in by the button of that page.
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
        // A browser that is signed in has used this link. It sends its cookies from this site only.
        Ok(None) if has_value(headers, "sec-fetch-site", "cross-site") => refresh(&request.here),
        Ok(None) if request.signed_in_as().is_some() => redirect(to, &[]),
        Ok(None) => refuse(app, request, to, request.phrases.used_link),
        Err(problem) => error_page::page(request, &problem.into()),
    }
}

/// Whether a browser is about to show the answer.
fn is_visit(headers: &HeaderMap) -> bool {
    let ahead = ["sec-purpose", "purpose", "x-purpose", "x-moz"];
    has_value(headers, "sec-fetch-mode", "navigate")
        && has_value(headers, "sec-fetch-dest", "document")
        && !ahead.iter().any(|name| headers.contains_key(*name))
}

fn has_value(headers: &HeaderMap, name: &str, word: &str) -> bool {
    headers.get(name).is_some_and(|said| said == word)
}

pub(super) async fn sign_out(State(app): State<App>, headers: HeaderMap, form: Form) -> Response {
    match app.end_session(&headers).await {
        Ok(()) => redirect("/sign-in", &[form.request.jar.end_session()]),
        Err(problem) => error_page::page(&form.request, &problem.into()),
    }
}

impl App {
    /// A new session for the holder of the token with this SHA-256, if there is one. It replaces the
    /// session that the browser had.
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

    /// Ends the session of this browser, so that a copy of its cookie is useless.
    async fn end_session(&self, headers: &HeaderMap) -> Result<(), Problem> {
        for session in sessions_of(headers) {
            self.record.end_pass(session).await?;
        }
        Ok(())
    }
}

/// Stores a language or a theme in cookies.
pub(super) async fn prefer(form: Form) -> Response {
    let language = Some(form.get("lang")).filter(|code| code.parse::<Language>().is_ok());
    let theme = form.has("theme").then(|| form.get("theme"));
    let theme = theme.filter(|code| ["", "light", "dark"].contains(code));
    redirect(local_path(form.get("to")), &form.request.choices(language, theme))
}
