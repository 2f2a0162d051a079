//! Logs and metrics: every request has an id, is counted, and its failure is logged once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderValue, Method};
use axum::response::Response;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use uuid::Uuid;
use uuid::fmt::Simple;

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
    commits: Counter<u64, AtomicU64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Served {
    method: &'static str,
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
            commits: Counter::default(),
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
        registry.register(
            "commits",
            "Commits; what is written at the same time shares one",
            telemetry.commits.clone(),
        );
        telemetry
    }
}

impl Telemetry {
    pub(super) fn argument_written(&self) {
        self.arguments.inc();
    }

    /// The Prometheus text of all of it.
    pub(super) fn text(
        &self,
        held_waits: usize,
        open_sockets: usize,
        commits: u64,
    ) -> Result<String, Problem> {
        self.commits.inner().store(commits, Ordering::Relaxed);
        self.held_waits.set(i64::try_from(held_waits).unwrap_or(i64::MAX));
        self.open_sockets.set(i64::try_from(open_sockets).unwrap_or(i64::MAX));
        let mut text = String::new();
        encode(&mut text, &self.registry)
            .map_err(|error| Problem::fault(format!("metrics: {error}")))?;
        Ok(text)
    }
}

/// A request that is being answered.
pub(super) struct Observed {
    began: Instant,
    id: Simple,
    method: Method,
    /// A copy: the URI itself is a piece of the whole buffer that was read, and would keep it.
    path: String,
    matched: Option<MatchedPath>,
}

/// Begins to observe a request.
pub(super) fn observe(request: &Request) -> Observed {
    Observed {
        began: Instant::now(),
        id: Uuid::now_v7().simple(),
        method: request.method().clone(),
        path: request.uri().path().to_owned(),
        matched: request.extensions().get().cloned(),
    }
}

/// Counts and logs a request, and gives its failure a body.
pub(super) fn answered(app: &App, observed: Observed, mut response: Response) -> Response {
    let Observed { began, id, method, path, matched } = observed;
    let problem = response
        .extensions_mut()
        .remove::<Problem>()
        .or_else(|| Problem::of_bare(&response, method.as_str(), &path));
    if let Some(problem) = problem {
        match &problem.fault {
            Some(fault) => tracing::error!(request_id = %id, %method, path, fault, "failed"),
            None => {
                let error = &problem.error;
                tracing::debug!(request_id = %id, %method, path, code = ?error.code, "refused");
            }
        }
        response = problem.write(&id.to_string());
    }
    let status = response.status().as_u16();
    let took = began.elapsed();
    tracing::debug!(request_id = %id, %method, path, status, took_us = took.as_micros(), "answered");
    let route = Route { route: matched.as_ref().map_or("none", MatchedPath::as_str).to_owned() };
    app.telemetry.seconds.get_or_create(&route).observe(took.as_secs_f64());
    let served = Served { method: known(&method), route: route.route, status };
    app.telemetry.requests.get_or_create(&served).inc();
    let headers = response.headers_mut();
    let mut text = [0; 32];
    if let Ok(id) = HeaderValue::from_str(id.encode_lower(&mut text)) {
        headers.insert("x-request-id", id);
    }
    headers.insert("aw-version", HeaderValue::from_static(env!("CARGO_PKG_VERSION")));
    response
}

/// Any word can be sent as a method; each new one would stay for ever.
fn known(method: &Method) -> &'static str {
    let known = ["GET", "HEAD", "POST", "DELETE", "PUT", "PATCH", "OPTIONS"];
    known.into_iter().find(|known| method == known).unwrap_or("other")
}
