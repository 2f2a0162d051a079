//! The server: HTTP and WebSocket on top of the engine.
//!
//! It never touches the database and has no rules of its own: it parses ([`input`]), asks the
//! engine, and shows what came of it ([`to_api`], [`error`]). Begin with [`router`] for what is
//! served and [`serve`] for how connections live and die.

mod access;
pub(crate) mod body;
mod caller;
pub(crate) mod cookies;
pub(crate) mod csrf;
mod debates;
mod documents;
mod drain;
mod error;
mod export;
mod feed;
mod guard;
mod health;
pub(crate) mod input;
mod json;
mod links;
mod live;
mod long;
mod mcp;
pub(crate) mod pages;
mod places;
mod rates;
mod refused;
mod seats;
mod serve;
mod socket;
mod telemetry;
mod to_api;
mod transcript;
mod turns;
mod verify;

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
use long::LongMessages;
pub use pages::Pages;
use places::Places;
use rates::Meters;
pub use serve::{Peer, Stop, Stopping, serve};
use telemetry::Telemetry;

pub(crate) use access::{Access, Record};
pub(crate) use caller::Caller;
pub(crate) use debates::before;
pub(crate) use error::Problem;
pub(crate) use long::Held;
pub(crate) use turns::{COMPARING, DRAWING};

use crate::mcp::Defaults;
use crate::settings::{Guard, Limits, Rates};

/// What every handler is handed. It is cloned several times for each request, so that a clone must
/// cost no more than one count.
#[derive(Debug, Clone)]
pub(crate) struct App(Arc<Shared>);

/// What all of them share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) record: Record,
    pub(crate) guard: Guard,
    pub(crate) limits: Limits,
    pub(crate) csrf: CsrfKey,
    pub(crate) meters: Meters,
    waits: Places,
    sockets: Places,
    long: LongMessages,
    told: feed::Messages,
    told_in_debates: live::ToldInDebates,
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

/// How to make a [`router`].
#[derive(Debug)]
pub struct Setup {
    /// Where everything is kept.
    pub engine: Engine,
    /// Whom it lets in.
    pub guard: Guard,
    /// How much it takes on.
    pub limits: Limits,
    /// Tells the servers of different data folders apart.
    pub home_id: String,
    /// Tells when the server should stop.
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

/// Everything that is served.
pub fn router(setup: Setup) -> Router {
    let Setup { engine, guard, limits, home_id, stopping, tool_defaults, pages } = setup;
    let record = Record::new(engine);
    let rates = if guard.wants_token { limits.rates } else { Rates::FREE };
    let app = App(Arc::new(Shared {
        meters: Meters::new(rates, record.clone()),
        record,
        guard,
        waits: Places::for_waits(limits.held_waits, limits.waits_per_token),
        sockets: Places::for_sockets(limits.sockets, limits.sockets_per_token),
        long: LongMessages::within(limits.long_answers, limits.content_bytes),
        limits,
        csrf: CsrfKey::new(),
        told: feed::Messages::default(),
        told_in_debates: live::ToldInDebates::default(),
        telemetry: Telemetry::default(),
        error_page: pages.error,
        home_id,
        stopping,
    }));
    let (router, _) = api().split_for_parts();
    let own = router
        .clone()
        .layer(from_fn_with_state(app.clone(), attend_inside))
        .with_state(app.clone());
    router
        .route("/openapi.json", get(description))
        .route("/mcp", mcp::route(own, &app, tool_defaults))
        .merge(pages.routes)
        .fallback(unknown)
        .layer(from_fn_with_state(app.clone(), attend))
        .with_state(app)
}

/// What programs call, with its description.
fn api() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(health::health))
        .routes(routes!(health::metrics))
        .routes(routes!(debates::list, debates::create))
        .routes(routes!(debates::context, debates::delete))
        .routes(routes!(debates::type_of))
        .routes(routes!(debates::claim))
        .routes(routes!(debates::appeal))
        .routes(routes!(debates::resolution))
        .routes(routes!(debates::ruling))
        .routes(routes!(debates::intervention))
        .routes(routes!(debates::poll))
        .routes(routes!(debates::wait))
        .routes(routes!(export::export))
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

/// The description of [`api`], which few ask for: put together when the first one does.
async fn description() -> impl IntoResponse {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let (_, description) = api().split_for_parts();
        links::linked(description).to_json().expect("the description is plain data")
    });
    ([("content-type", "application/json")], TEXT.as_str())
}

/// What happens around every request. One layer and no nesting: each layer would be cloned for each
/// request, and a wait holds whatever is kept here while it is answered. So what comes before and
/// after it is boxed, and gone meanwhile, and the request itself is not held at all.
fn attend(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> impl Future<Output = Response> + Send {
    let observed = telemetry::observe(&request);
    let begun = Box::pin(begin(app.clone(), request, next));
    async move {
        let response = match begun.await {
            Ok((answer, person)) => {
                let Ok(response) = answer.await;
                match long::length(&response) {
                    Some(length) => Box::pin(long::bound(&app, person, response, length)).await,
                    None => response,
                }
            }
            Err(response) => *response,
        };
        telemetry::answered(&app, observed, response)
    }
}

/// Lets the request in, and says what will answer it.
async fn begin(
    app: App,
    request: Request,
    mut next: Next,
) -> Result<(<Next as Service<Request>>::Future, Option<Box<Parts>>), Box<Response>> {
    let (request, person) = long::person(guard::stand(&app, request).await.map_err(Box::new)?);
    Ok((next.call(request), person))
}

/// The same for what a tool asks of the server's own routes: the guard has let its caller in.
async fn attend_inside(State(app): State<App>, request: Request, next: Next) -> Response {
    let observed = telemetry::observe(&request);
    let response = next.run(request).await;
    telemetry::answered(&app, observed, response)
}

/// Whatever is not served: told to programs in our envelope, to people as a page.
async fn unknown(State(app): State<App>, request: Request) -> Response {
    let problem = Problem::route_not_found(request.uri().path());
    let (parts, _) = request.into_parts();
    if pages::wants_page(&parts) {
        return (app.error_page)(&parts, &app, problem);
    }
    problem.into_response()
}
