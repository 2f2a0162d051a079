//! `/health` and `/metrics`.

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use super::App;
use super::error::Problem;
use super::json::Json;
use crate::api::error::Failure;
use crate::api::types::{Health, Success};

/// Reports whether the server can write to its record.
#[utoipa::path(
    get,
    path = "/health",
    responses(
        (status = 200, body = Success<Health>),
        (status = 500, body = Failure),
        (status = 503, body = Failure),
        (status = 507, body = Failure),
    )
)]
pub(super) async fn health(State(app): State<App>) -> Result<Json<Success<Health>>, Problem> {
    let health = app.record.health().await;
    health.writing?;
    Ok(Json(Success::new(Health {
        status: "ok".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        home_id: app.home_id.to_string(),
        held_waits: app.held_waits() as u64,
        open_sockets: app.open_sockets() as u64,
        database: health.database.kind.to_owned(),
        hears_others: health.database.listening,
    })))
}

/// Metrics for Prometheus.
#[utoipa::path(
    get,
    path = "/metrics",
    responses((status = 200, body = String, content_type = "text/plain"), (status = 401, body = Failure), (status = 500, body = Failure))
)]
pub(super) async fn metrics(State(app): State<App>) -> Result<Response, Problem> {
    let vitals = app.record.vitals();
    let text = app.telemetry.text(app.held_waits(), app.open_sockets(), vitals)?;
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}

impl App {
    fn held_waits(&self) -> usize {
        self.waits.in_use()
    }

    fn open_sockets(&self) -> usize {
        self.sockets.in_use()
    }
}
