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
mod openapi_errors;
mod openapi_links;
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
use std::sync::{Arc, LazyLock};

use aw_record::Engine;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tower::Service;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

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

#[derive(OpenApi)]
#[openapi(
    info(
        title = "aw",
        description = "Two agents debate a plan; an arbitrator settles what they cannot."
    ),
    components(schemas(crate::api::error::Failure))
)]
struct Description;

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
    let (router, _) = api().split_for_parts();
    let in_process = router
        .clone()
        .layer(from_fn_with_state(app.clone(), handle_in_process))
        .with_state(app.clone());
    router
        .route("/openapi.json", get(description))
        .route("/mcp", mcp::route(in_process, &app, tool_defaults))
        .merge(pages.routes)
        .fallback(unknown)
        .layer(from_fn_with_state(app.clone(), handle))
        .with_state(app)
}

/// The routes of the API, with their OpenAPI description.
fn api() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(health::health))
        .routes(routes!(health::metrics))
        .routes(routes!(debates::list, moves::create))
        .routes(routes!(debates::context, debates::delete))
        .routes(routes!(debates::type_of))
        .routes(routes!(debates::archive))
        .routes(routes!(purge::preview, purge::purge))
        .routes(routes!(moves::claim))
        .routes(routes!(moves::appeal))
        .routes(routes!(moves::resolution))
        .routes(routes!(moves::ruling))
        .routes(routes!(moves::intervention))
        .routes(routes!(points::list))
        .routes(routes!(points::one))
        .routes(routes!(points::check))
        .routes(routes!(waits::poll))
        .routes(routes!(waits::wait))
        .routes(routes!(waits::set_presence))
        .routes(routes!(debates::set_seen))
        .routes(routes!(export::export))
        .routes(routes!(result::result))
        .routes(routes!(projects::list))
        .routes(routes!(resolve::resolve))
        .routes(routes!(search::search))
        .routes(routes!(verify::debate))
        .routes(routes!(verify::piece))
        .routes(routes!(documents::list, documents::create))
        .routes(routes!(documents::read, documents::delete))
        .routes(routes!(documents::versions, documents::add_version))
        .routes(routes!(documents::diff))
        .routes(routes!(live::follow))
        .routes(routes!(seats::list, seats::create))
        .routes(routes!(seats::revoke))
        .routes(routes!(seats::link))
}

/// The OpenAPI description, built on the first request for it.
async fn description() -> impl IntoResponse {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let (_, description) = api().split_for_parts();
        openapi_links::add_links(description).to_json().expect("the description is plain data")
    });
    ([("content-type", "application/json")], TEXT.as_str())
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
            Ok((answer, page_request)) => {
                let Ok(response) = answer.await;
                match response_budget::counted_length(&response) {
                    Some(length) => {
                        let counted =
                            response_budget::count_response(&app, page_request, response, length);
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

/// Authorizes a request and calls its handler.
async fn authorize(
    app: App,
    request: Request,
    mut next: Next,
) -> Result<(<Next as Service<Request>>::Future, Option<Box<Parts>>), Box<Response>> {
    let request = guard::authorize(&app, request).await.map_err(Box::new)?;
    let (request, page_request) = response_budget::keep_page_request(request);
    Ok((next.call(request), page_request))
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
