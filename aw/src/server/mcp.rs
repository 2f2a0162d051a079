//! `/mcp`: the Model Context Protocol over HTTP.
//!
//! The guard has authenticated the caller. A tool calls the server's own routes in this process as that
//! caller, so a seat has the same rights here as in the API.
//!
//! The server keeps no session, so clients do not notice a restart. A client of the older revision still gets
//! a session id: a cancellation names it, so that it cancels the call of the right client.

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
use super::caller::{Caller, TokenOwner};
use super::error::Problem;
use super::input;
use super::response_budget::{BudgetPermit, ResponseBudget};
use crate::api::in_process::{self, InProcess};
use crate::mcp::{CallSource, CallerInfo, Defaults, Mcp, Scope, Transport};

/// Identifies a client of the older revision.
const SESSION: &str = "mcp-session-id";

/// The methods that the server itself reads.
const INITIALIZE: &str = "initialize";
const CANCELLED: &str = "notifications/cancelled";

/// The parts of an MCP message that the server reads itself.
#[derive(Debug, Deserialize)]
struct McpMessage {
    method: Option<String>,
    #[serde(default)]
    params: Option<Cancelled>,
}

/// The parameters of a cancellation.
#[derive(Debug, Deserialize)]
struct Cancelled {
    #[serde(default, rename = "requestId")]
    request: Option<RequestId>,
}

/// The route `/mcp`. Its tools call `routes`.
pub(super) fn route(routes: Router, app: &App, defaults: Defaults) -> MethodRouter<App> {
    let http = Http { routes, app: app.clone() };
    let mcp = Mcp::new(http, defaults);
    // The guard checks Host and Origin more strictly.
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
        let (body, permit) = input::read_document(request, &app).await?;
        let body = body.whole();
        let budget = Arc::new(CallBudget {
            budget: app.response_budget.clone(),
            owner: Caller::of(&parts).token_owner(),
            permit: Mutex::new(permit),
        });
        parts.extensions.insert(budget.clone());
        let message = message_for_server(&body)?;
        let method = message.as_ref().and_then(|message| message.method.as_deref());
        let session = parts.headers.get(SESSION).and_then(|id| id.to_str().ok());
        let is_first = method == Some(INITIALIZE);
        if method == Some(CANCELLED)
            && let Some(session) = session
            && let Some(request) = message.and_then(|message| message.params?.request)
        {
            mcp.cancel(session, &request);
        }
        // Clients that do not send this header can read both kinds.
        let every = HeaderValue::from_static("application/json, text/event-stream");
        parts.headers.insert(ACCEPT, every);
        let request = Request::from_parts(parts, Body::from(body.clone()));
        let answered = service.oneshot(request).await;
        let mut response: Response = match answered {
            // The budget is held until the last frame was sent.
            Ok(response) => response.map(move |body| {
                Body::new(body.map_frame(move |frame| {
                    let _ = &budget;
                    frame
                }))
            }),
            Err(never) => match never {},
        };
        if !response.status().is_success() && !speaks_json(&response) {
            input::from_json::<IgnoredAny>(&body)?;
            return Err(Problem::bad_mcp_message(response.status()));
        }
        if is_first && let Ok(id) = HeaderValue::from_str(&Uuid::new_v4().to_string()) {
            response.headers_mut().insert(SESSION, id);
        }
        Ok::<_, Problem>(response)
    })
}

/// Parses a message that the server itself must read. MCP's own parser reads all messages, so a call is
/// not parsed twice.
fn message_for_server(body: &[u8]) -> Result<Option<McpMessage>, Problem> {
    let text = str::from_utf8(body).unwrap_or_default();
    let matters = [INITIALIZE, CANCELLED].iter().any(|method| text.contains(method));
    if matters { input::from_json(body).map(Some) } else { Ok(None) }
}

/// Whether an error is one of MCP's own.
fn speaks_json(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("application/json"))
}

/// The share of the memory budget for a call and its response.
struct CallBudget {
    budget: ResponseBudget,
    owner: Option<TokenOwner>,
    permit: Mutex<BudgetPermit>,
}

impl in_process::Room for CallBudget {
    fn take(&self, bytes: usize) -> bool {
        let mut permit = self.permit.lock().unwrap_or_else(PoisonError::into_inner);
        self.budget.grow(&mut permit, self.owner, bytes).is_ok()
    }
}

/// MCP callers over HTTP.
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
            let budget = parts.extensions.get::<Arc<CallBudget>>();
            room = budget.map(|budget| budget.clone() as Arc<_>);
            url = self.app.guard.url_for(&parts.headers);
            // The route has checked it before the call.
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

/// The tools that the caller may call: those of its seat's role, else of the role in the URL.
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
