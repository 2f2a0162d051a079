//! `/mcp`: the Model Context Protocol over HTTP.
//!
//! The guard lets the caller in before anything here sees a request. A tool's requests go to the
//! server's own routes, in this process, as that same caller: a seat may do here what it may do there.
//!
//! No session is kept, in either revision of the protocol, so clients do not notice a restart of the
//! server. Clients of the older revision get a session id all the same: it tells their calls apart, so
//! that one of them can be cancelled.

use std::sync::{Arc, Mutex, PoisonError};

use aw_core::Role;
use aw_record::SeatRole;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use axum::http::request::Parts;
use axum::response::Response;
use axum::routing::{MethodRouter, post};
use http_body_util::BodyExt;
use rmcp::model::{Extensions, RequestId};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tower::ServiceExt;
use uuid::Uuid;

use super::App;
use super::caller::Caller;
use super::error::Problem;
use super::input;
use super::long::{Held, LongMessages};
use crate::api::in_process::{self, InProcess};
use crate::mcp::{CallSource, CallerInfo, Defaults, Mcp, Scope, Transport};

/// Tells the calls of one client of the older revision from those of another.
const SESSION: &str = "mcp-session-id";

/// The methods that are looked at before they are answered.
const INITIALIZE: &str = "initialize";
const CANCELLED: &str = "notifications/cancelled";

/// The fields of a message that matter before it is answered.
#[derive(Debug, Deserialize)]
struct Message {
    method: Option<String>,
    #[serde(default)]
    params: Option<Cancelled>,
}

/// The parameters of a cancellation, as far as there are any.
#[derive(Debug, Deserialize)]
struct Cancelled {
    #[serde(default, rename = "requestId")]
    request: Option<RequestId>,
}

/// The route, whose tools call these routes.
pub(super) fn route(routes: Router, app: &App, defaults: Defaults) -> MethodRouter<App> {
    let http = Http { routes, app: app.clone() };
    let mcp = Mcp::new(http, defaults);
    // Its own look at Host and Origin is coarser than the guard's, which has been passed.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_legacy_session_mode(false)
        .with_max_request_body_bytes(usize::MAX);
    let made = mcp.clone();
    let manager = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(made.clone()), manager, config);
    post(move |State(app): State<App>, request: Request| async move {
        let (mut parts, body) = request.into_parts();
        scope(&parts)?;
        let request = Request::from_parts(parts.clone(), body);
        let (body, held) = input::read_document(request, &app).await?;
        let body = body.whole();
        let room = Arc::new(Room { long: app.long.clone(), held: Mutex::new(held) });
        parts.extensions.insert(room.clone());
        let message = looked_at(&body)?;
        let method = message.as_ref().and_then(|message| message.method.as_deref());
        let session = parts.headers.get(SESSION).and_then(|id| id.to_str().ok());
        let is_first = method == Some(INITIALIZE);
        if method == Some(CANCELLED)
            && let Some(session) = session
            && let Some(request) = message.and_then(|message| message.params?.request)
        {
            mcp.cancel(session, &request);
        }
        // A client that does not say what it accepts can read both.
        let every = HeaderValue::from_static("application/json, text/event-stream");
        parts.headers.insert(ACCEPT, every);
        let request = Request::from_parts(parts, Body::from(body.clone()));
        let answered = service.oneshot(request).await;
        let mut response: Response = match answered {
            // Its room is held until the last of it has been sent.
            Ok(response) => response.map(move |body| {
                Body::new(body.map_frame(move |frame| {
                    let _ = &room;
                    frame
                }))
            }),
            Err(never) => match never {},
        };
        if !response.status().is_success() && !speaks_json(&response) {
            input::from_json::<IgnoredAny>(&body)?;
            return Err(Problem::no_message(response.status()));
        }
        if is_first && let Ok(id) = HeaderValue::from_str(&Uuid::new_v4().to_string()) {
            response.headers_mut().insert(SESSION, id);
        }
        Ok::<_, Problem>(response)
    })
}

/// The message, if it is one that must be looked at here. The protocol's own parser reads all of them,
/// so that a call is not parsed twice.
fn looked_at(body: &[u8]) -> Result<Option<Message>, Problem> {
    let text = str::from_utf8(body).unwrap_or_default();
    let matters = [INITIALIZE, CANCELLED].iter().any(|method| text.contains(method));
    if matters { input::from_json(body).map(Some) } else { Ok(None) }
}

/// Whether a refusal is one of the protocol's own.
fn speaks_json(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("application/json"))
}

/// The memory that a call and its answer take.
struct Room {
    long: LongMessages,
    held: Mutex<Held>,
}

impl in_process::Room for Room {
    fn take(&self, bytes: usize) -> bool {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        self.long.grow(&mut held, bytes).is_ok()
    }
}

/// Callers over HTTP, which the guard has authenticated.
struct Http {
    routes: Router,
    app: App,
}

impl CallSource for Http {
    fn caller(&self, call: &Extensions) -> CallerInfo {
        let mut caller = axum::http::Extensions::new();
        let mut url = String::new();
        let mut allowed = Scope::Open;
        let mut session = None;
        let mut room: Option<Arc<dyn in_process::Room>> = None;
        if let Some(parts) = call.get::<Parts>() {
            caller.insert(Caller::of(parts));
            room = parts.extensions.get::<Arc<Room>>().map(|room| room.clone() as Arc<_>);
            url = self.app.guard.url_for(&parts.headers);
            // It was looked at before the call was taken.
            allowed = scope(parts).unwrap_or(Scope::Open);
            session = parts.headers.get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
        }
        let inside = InProcess { routes: self.routes.clone(), caller, url, room };
        CallerInfo { transport: Transport::InProcess(inside), scope: allowed, session }
    }

    fn now(&self) -> i64 {
        self.app.record.now().0
    }
}

/// What the caller may call: as the role of its seat, else as the one in the URL.
fn scope(parts: &Parts) -> Result<Scope, Problem> {
    let query = parts.uri.query().unwrap_or_default();
    let asked = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "role");
    let asked = asked.map(|(_, role)| input::value::<Role>("role", &role)).transpose()?;
    let caller = Caller::of(parts);
    if let Some(role) = asked {
        caller.may_be(role)?;
    }
    Ok(match (caller.seat().map(|seat| seat.role), asked) {
        (Some(SeatRole::Observer), _) => Scope::Observer,
        (Some(SeatRole::Plays(role)), _) | (None, Some(role)) => Scope::Role(role),
        (None, None) => Scope::Open,
    })
}
