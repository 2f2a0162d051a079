//! The request for a page: language, theme, CSRF token and caller; and the response to it.

use std::io::Write as _;

use askama::Template;
use aw_core::Role;
use aw_record::SeatRole;
use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::HeaderValue;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    HeaderName, REFERRER_POLICY, SET_COOKIE, VARY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::request::Parts;
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use uuid::Uuid;

use crate::policy::Command;
use crate::render::i18n::Phrases;
use crate::render::markdown::plain;
use crate::server::cookies::{BROWSER, CookieJar, LANGUAGE, THEME, cookie};
use crate::server::pages::language;
use crate::server::{App, Caller, Peer, Problem};

/// Shorter bodies are not compressed.
const WORTH_COMPRESSING: usize = 860;

/// The Content-Security-Policy: only our own script, style, pictures and socket.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// A theme that the person chose. Without one the page uses the system's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Theme {
    Light,
    Dark,
}

impl Theme {
    pub(crate) fn code(self) -> &'static str {
        match self {
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    fn of(code: &str) -> Option<Self> {
        [Theme::Light, Theme::Dark].into_iter().find(|theme| theme.code() == code)
    }
}

/// The parts of a request that a page needs.
#[derive(Clone)]
pub(crate) struct PageRequest {
    pub(crate) phrases: &'static Phrases,
    pub(crate) theme: Option<Theme>,
    /// The CSRF token for the forms of the page.
    pub(crate) csrf: String,
    /// The caller, which decides what the page offers.
    pub(crate) caller: Caller,
    /// The path and query of the page, for forms that come back to it.
    pub(crate) here: String,
    /// The cookie to set if the browser has none.
    new_cookie: Option<String>,
    takes_gzip: bool,
    is_script: bool,
    pub(super) jar: CookieJar,
    /// The address of the caller.
    pub(super) peer: Option<Peer>,
}

impl FromRequestParts<App> for PageRequest {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        Ok(PageRequest::of(parts, app))
    }
}

impl PageRequest {
    pub(crate) fn of(parts: &Parts, app: &App) -> Self {
        let headers = &parts.headers;
        let word = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let jar = CookieJar::new(&app.home_id, app.guard.is_by_tls(headers));
        let browser = cookie(headers, BROWSER).filter(|id| Uuid::try_parse(id).is_ok());
        let (browser, new_cookie) = match browser {
            Some(browser) => (browser, None),
            None => {
                let browser = Uuid::new_v4().to_string();
                (browser.clone(), Some(jar.keep(BROWSER, &browser)))
            }
        };
        let caller = Caller::of(parts);
        let here = parts.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        PageRequest {
            phrases: language(headers).phrases(),
            theme: cookie(headers, THEME).and_then(|code| Theme::of(&code)),
            csrf: app.csrf.token(&browser),
            caller,
            here,
            new_cookie,
            takes_gzip: word(ACCEPT_ENCODING).is_some_and(|codings| codings.contains("gzip")),
            is_script: headers.contains_key("x-fragment"),
            jar,
            peer: parts.extensions.get().copied(),
        }
    }

    /// Whether the caller is signed in, or need not be.
    pub(crate) fn is_known(&self) -> bool {
        !matches!(self.caller, Caller::Stranger)
    }

    /// Whether the caller may rule and stop the agents.
    pub(crate) fn rules(&self) -> bool {
        self.may(Command::DebateRuling)
    }

    /// Whether the caller may delete a debate.
    pub(crate) fn deletes(&self) -> bool {
        self.may(Command::DebateDelete)
    }

    /// Whether the caller may open a debate.
    pub(crate) fn opens(&self) -> bool {
        self.may_open().is_ok()
    }

    /// Refuses a caller who may not open a debate. A seat for one debate opens no other.
    pub(crate) fn may_open(&self) -> Result<(), Problem> {
        self.caller.may_use(Command::DebateCreate)?;
        match self.caller.bound_to() {
            Some(own) => {
                Err(Problem::forbidden_role(format!("this token is for debate {own} only")))
            }
            None => Ok(()),
        }
    }

    /// Whether the caller may bring back the agent of this role.
    pub(crate) fn may_bring_back(&self, role: Role) -> bool {
        let own = self.caller.seat().map(|seat| seat.role);
        self.rules() || own == Some(SeatRole::Plays(role))
    }

    fn may(&self, command: Command) -> bool {
        self.caller.may_use(command).is_ok()
    }

    /// The name and role of the caller as HTML, if the caller can sign out.
    pub(crate) fn signed_in_as(&self) -> Option<String> {
        let name = plain(self.caller.name()?.as_str());
        let role = self.caller.seat().map(|seat| self.phrases.seat_role(seat.role));
        let role = role.map_or(String::new(), |role| format!(", {role}"));
        Some(format!("<bdi>{name}</bdi>{role}"))
    }

    /// The note for a signed-in caller who may not rule, as HTML.
    pub(crate) fn read_only_note(&self) -> Option<String> {
        let name = self.signed_in_as().filter(|_| !self.rules())?;
        Some(self.phrases.read_only.replacen("{}", &name, 1))
    }

    /// The cookies for a chosen language and theme. An empty value removes a cookie.
    pub(crate) fn choices(&self, language: Option<&str>, theme: Option<&str>) -> Vec<String> {
        let language = language.map(|code| self.jar.keep(LANGUAGE, code));
        language.into_iter().chain(theme.map(|code| self.jar.keep(THEME, code))).collect()
    }

    /// Whether the person chose this theme.
    pub(crate) fn is_theme(&self, code: &str) -> bool {
        self.theme.is_some_and(|theme| theme.code() == code)
    }

    /// Whether the script of the page asks for a part of it.
    pub(crate) fn is_script(&self) -> bool {
        self.is_script
    }

    /// Responds with a page or a part of one.
    pub(crate) fn page(&self, page: &impl Template) -> Response {
        match page.render() {
            Ok(html) => self.html(html),
            Err(error) => {
                tracing::error!(%error, "a page could not be written");
                self.html(String::new())
            }
        }
    }

    fn html(&self, html: String) -> Response {
        let (body, coding) = match self.takes_gzip && html.len() > WORTH_COMPRESSING {
            true => (gzip(html.as_bytes(), Compression::fast()), Some("gzip")),
            false => (html.into_bytes(), None),
        };
        let mut response = Response::new(Body::from(body));
        let headers = response.headers_mut();
        for (name, value) in [
            (CONTENT_TYPE, "text/html; charset=utf-8"),
            (CONTENT_SECURITY_POLICY, POLICY),
            // Without this header browsers send `Origin: null` with our own forms.
            (REFERRER_POLICY, "same-origin"),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (X_FRAME_OPTIONS, "DENY"),
            (CACHE_CONTROL, "no-store"),
            (VARY, "accept-encoding, accept-language, cookie"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        for (name, value) in [
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("permissions-policy", "camera=(), microphone=(), geolocation=()"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        if let Some(coding) = coding {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
        }
        self.with_cookie(response)
    }

    fn with_cookie(&self, mut response: Response) -> Response {
        if let Some(cookie) = self.new_cookie.as_deref().and_then(|text| text.parse().ok()) {
            response.headers_mut().append(SET_COOKIE, cookie);
        }
        response
    }
}

/// Compresses bytes.
pub(crate) fn gzip(bytes: &[u8], effort: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 3), effort);
    // Writing into memory cannot fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}
