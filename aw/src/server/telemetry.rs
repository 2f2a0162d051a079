//! Logs and metrics: every request has an id, is counted, and its failure is logged once.

use std::sync::atomic::AtomicU64;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::HeaderValue;
use axum::middleware::Next;
use axum::response::Response;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use uuid::Uuid;

use super::App;
use super::error::Problem;

/// Seconds; a wait may take a minute.
const BUCKETS: [f64; 10] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1.0, 10.0, 60.0];

/// What the server counts.
#[derive(Debug)]
pub(super) struct Telemetry {
    registry: Registry,
    requests: Family<Served, Counter>,
    seconds: Family<Route, Histogram, fn() -> Histogram>,
    held_waits: Gauge,
    open_sockets: Gauge,
    arguments: Counter<u64, AtomicU64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Served {
    method: String,
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    route: String,
}

impl Default for Telemetry {
    fn default() -> Self {
        let mut telemetry = Telemetry {
            registry: Registry::with_prefix("aw"),
            requests: Family::default(),
            seconds: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            held_waits: Gauge::default(),
            open_sockets: Gauge::default(),
            arguments: Counter::default(),
        };
        let registry = &mut telemetry.registry;
        registry.register("http_requests", "Requests answered", telemetry.requests.clone());
        registry.register(
            "http_request_seconds",
            "Time from a request to its answer; waits are held on purpose",
            telemetry.seconds.clone(),
        );
        registry.register("held_waits", "Waits that are held now", telemetry.held_waits.clone());
        registry.register(
            "open_sockets",
            "Sockets that are open now",
            telemetry.open_sockets.clone(),
        );
        registry.register("arguments", "Arguments written", telemetry.arguments.clone());
        telemetry
    }
}

impl Telemetry {
    pub(super) fn argument_written(&self) {
        self.arguments.inc();
    }

    /// The Prometheus text of all of it.
    pub(super) fn text(&self, held_waits: usize, open_sockets: usize) -> Result<String, Problem> {
        self.held_waits.set(i64::try_from(held_waits).unwrap_or(i64::MAX));
        self.open_sockets.set(i64::try_from(open_sockets).unwrap_or(i64::MAX));
        let mut text = String::new();
        encode(&mut text, &self.registry)
            .map_err(|error| Problem::fault(format!("metrics: {error}")))?;
        Ok(text)
    }
}

/// Counts and logs a request, and gives its failure a body.
pub(super) async fn observe(State(app): State<App>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = Uuid::now_v7().simple().to_string();
    let method = request.method().to_string();
    let path = request.uri().path().to_owned();
    let route =
        request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();

    let mut response = next.run(request).await;
    let problem = response
        .extensions_mut()
        .remove::<Problem>()
        .or_else(|| Problem::of_bare(&response, &method, &path));
    if let Some(problem) = problem {
        match &problem.fault {
            Some(fault) => tracing::error!(request_id = id, method, path, fault, "failed"),
            None => {
                let error = &problem.error;
                tracing::debug!(request_id = id, method, path, code = ?error.code, "refused");
            }
        }
        response = problem.write(&id);
    }
    let status = response.status().as_u16();
    let took = began.elapsed();
    tracing::debug!(request_id = id, method, path, status, took_us = took.as_micros(), "answered");
    app.telemetry
        .seconds
        .get_or_create(&Route { route: route.clone() })
        .observe(took.as_secs_f64());
    // Any word can be sent as a method; each new one would stay for ever.
    let known = ["GET", "HEAD", "POST", "DELETE", "PUT", "PATCH", "OPTIONS"];
    let method = if known.contains(&method.as_str()) { method } else { "other".to_owned() };
    app.telemetry.requests.get_or_create(&Served { method, route, status }).inc();
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert("x-request-id", id);
    }
    response
        .headers_mut()
        .insert("aw-version", HeaderValue::from_static(env!("CARGO_PKG_VERSION")));
    response
}
