//! The server: HTTP and WebSocket on top of the engine.
//!
//! A handler parses the request ([`input`]), calls the engine through [`access`], and converts the result
//! ([`to_api`], [`error`]). The server never touches the database and has no rules of its own. Start with
//! [`router`] for the routes and [`serve`] for the connections.

mod access;
mod blocking_pool;
pub(crate) mod body;
mod caller;
pub(crate) mod cookies;
pub(crate) mod csrf;
mod debate_stream;
mod debates;
mod documents;
mod drained_body;
mod error;
mod export;
mod feed;
mod guard;
mod health;
pub(crate) mod input;
mod json;
mod live;
mod mcp;
mod moves;
mod openapi;
pub(crate) mod pages;
mod points;
mod projects;
mod purge;
mod quotas;
mod rates;
mod resolve;
mod response_budget;
mod result;
mod search;
mod seats;
mod serve;
mod socket;
mod telemetry;
mod to_api;
mod verify;
mod waits;

use std::ops::Deref;
use std::sync::Arc;

use aw_record::Engine;
use axum::Router;
use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::http::request::Parts;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use tower::Service;
use utoipa::Path as _;
use utoipa::openapi::HttpMethod;
use utoipa_axum::{PathItemExt as _, paste};

use caller::TokenOwner;
use csrf::CsrfKey;
pub use pages::Pages;
use quotas::Quota;
use rates::RateLimiters;
use response_budget::ResponseBudget;
pub use serve::{Peer, Stop, Stopping, serve};
use telemetry::Telemetry;

pub(crate) use access::{Access, Record};
pub(crate) use blocking_pool::{COMPARING, DRAWING};
pub(crate) use caller::Caller;
pub(crate) use debates::before;
pub(crate) use error::Problem;
pub(crate) use points::settings as point_settings;
pub(crate) use response_budget::BudgetPermit;

use crate::mcp::Defaults;
use crate::settings::{Guard, Limits, Rates};

/// The state of the server, which every handler receives. It is cloned several times per request, so a
/// clone only counts a reference.
#[derive(Debug, Clone)]
pub(crate) struct App(Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) record: Record,
    pub(crate) guard: Guard,
    pub(crate) limits: Limits,
    pub(crate) csrf: CsrfKey,
    pub(crate) rate_limiters: RateLimiters,
    waits: Quota,
    sockets: Quota,
    response_budget: ResponseBudget,
    feed_messages: feed::SharedMessages,
    live_messages: live::SharedLiveMessages,
    telemetry: Telemetry,
    error_page: fn(&Parts, &App, Problem) -> Response,
    pub(crate) home_id: String,
    stopping: Stopping,
}

impl Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

/// The parts of a [`router`].
#[derive(Debug)]
pub struct Setup {
    /// Reads and writes the record.
    pub engine: Engine,
    /// The accepted callers.
    pub guard: Guard,
    /// The limits.
    pub limits: Limits,
    /// The id of the data folder, by which clients recognise its server.
    pub home_id: String,
    /// Signals that the server should stop.
    pub stopping: Stopping,
    /// The settings that its tools use.
    pub tool_defaults: Defaults,
    /// The pages, from `web::pages`.
    pub pages: Pages,
}

/// All routes of the server.
pub fn router(setup: Setup) -> Router {
    let Setup { engine, guard, limits, home_id, stopping, tool_defaults, pages } = setup;
    let record = Record::new(engine);
    let rates = if guard.wants_token { limits.rates } else { Rates::FREE };
    let app = App(Arc::new(Shared {
        rate_limiters: RateLimiters::new(rates, record.clone()),
        record,
        guard,
        waits: Quota::for_waits(limits.held_waits, limits.waits_per_token),
        sockets: Quota::for_sockets(limits.sockets, limits.sockets_per_token),
        response_budget: ResponseBudget::new(limits.long_answers, limits.content_bytes),
        limits,
        csrf: CsrfKey::new(),
        feed_messages: feed::SharedMessages::default(),
        live_messages: live::SharedLiveMessages::default(),
        telemetry: Telemetry::default(),
        error_page: pages.error,
        home_id,
        stopping,
    }));
    let in_process =
        api().layer(from_fn_with_state(app.clone(), handle_in_process)).with_state(app.clone());
    api()
        .route("/openapi.json", get(openapi::description))
        .route("/mcp", mcp::route(in_process, &app, tool_defaults))
        .merge(pages.routes)
        .fallback(unknown)
        .layer(from_fn_with_state(app.clone(), handle))
        .with_state(app)
}

/// Gives the handlers of the API to a macro.
macro_rules! with_handlers {
    ($takes_them:ident) => {
        $takes_them!(
            health::health,
            health::metrics,
            debates::list,
            moves::create,
            debates::context,
            debates::delete,
            debates::type_of,
            debates::archive,
            purge::preview,
            purge::purge,
            moves::claim,
            moves::appeal,
            moves::resolution,
            moves::ruling,
            moves::intervention,
            points::list,
            points::one,
            points::check,
            waits::poll,
            waits::wait,
            waits::set_presence,
            debates::set_seen,
            export::export,
            result::result,
            projects::list,
            resolve::resolve,
            search::search,
            verify::debate,
            verify::piece,
            documents::list,
            documents::create,
            documents::read,
            documents::delete,
            documents::versions,
            documents::add_version,
            documents::diff,
            live::follow,
            seats::list,
            seats::create,
            seats::revoke,
            seats::link,
        )
    };
}
#[cfg(test)]
use with_handlers;

/// The routes of the API.
fn api() -> Router<App> {
    macro_rules! routed {
        ($($module:ident::$handler:ident,)*) => {
            paste! {
                Router::new()$(.route(
                    &$module::[<__path_ $handler>]::path(),
                    on(&$module::[<__path_ $handler>]::methods(), &$module::$handler),
                ))*
            }
        };
    }
    with_handlers!(routed)
}

/// Answers these methods with a handler.
fn on<H: Handler<T, App>, T: 'static>(methods: &[HttpMethod], handler: &H) -> MethodRouter<App> {
    methods.iter().fold(MethodRouter::new(), |router, method| {
        router.on(method.to_method_filter(), handler.clone())
    })
}

/// Authorizes, answers and counts every request.
///
/// It is one layer because every layer is cloned per request. The work before and after the handler is
/// boxed and the request is not kept, because a held wait keeps this future in memory.
fn handle(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> impl Future<Output = Response> + Send {
    let observed = telemetry::observe(&request);
    let begun = Box::pin(authorize(app.clone(), request, next));
    async move {
        let response = match begun.await {
            Ok((answer, page_request, owner)) => {
                let Ok(response) = answer.await;
                match response_budget::counted_length(&response) {
                    Some(length) => {
                        let counted = response_budget::count_response(
                            &app,
                            page_request,
                            owner,
                            response,
                            length,
                        );
                        Box::pin(counted).await
                    }
                    None => response,
                }
            }
            Err(response) => *response,
        };
        telemetry::answered(&app, observed, response)
    }
}

/// The answer of a handler, the request if it is for a page, and the owner of its token.
type Begun = (<Next as Service<Request>>::Future, Option<Box<Parts>>, Option<TokenOwner>);

/// Authorizes a request and calls its handler.
async fn authorize(app: App, request: Request, mut next: Next) -> Result<Begun, Box<Response>> {
    let request = guard::authorize(&app, request).await.map_err(Box::new)?;
    let owner = request.extensions().get().and_then(Caller::token_owner);
    let (request, page_request) = response_budget::keep_page_request(request);
    Ok((next.call(request), page_request, owner))
}

/// Handles a call of an MCP tool to the server's own routes. The guard has authorized the caller before.
async fn handle_in_process(State(app): State<App>, request: Request, next: Next) -> Response {
    let observed = telemetry::observe(&request);
    let response = next.run(request).await;
    telemetry::answered(&app, observed, response)
}

/// Answers a request for an unknown path: JSON to programs, a page to browsers.
async fn unknown(State(app): State<App>, request: Request) -> Response {
    let problem = Problem::route_not_found(request.uri().path());
    let (parts, _) = request.into_parts();
    if pages::wants_page(&parts) {
        return (app.error_page)(&parts, &app, problem);
    }
    problem.into_response()
}
