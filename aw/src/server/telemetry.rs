//! Logs and metrics. Every request has an id and is counted, and a failure is logged once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use aw_record::Vitals;
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

/// Histogram buckets in seconds. A wait may take a minute.
const BUCKETS: [f64; 10] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1.0, 10.0, 60.0];

/// The metrics of the server.
#[derive(Debug)]
pub(super) struct Telemetry {
    registry: Registry,
    requests: Family<Served, Counter>,
    seconds: Family<Route, Histogram, fn() -> Histogram>,
    held_waits: Gauge,
    open_sockets: Gauge,
    arguments: Counter<u64, AtomicU64>,
    database: Database,
}

/// The metrics of the database, read from its counters when they are collected.
#[derive(Debug, Default)]
struct Database {
    batches: Counter<u64, AtomicU64>,
    writes: Counter<u64, AtomicU64>,
    round_trips: Counter<u64, AtomicU64>,
    sessions: Gauge,
    most_sessions: Gauge,
    hears_others: Gauge,
    reconnects: Counter<u64, AtomicU64>,
}

impl Database {
    fn register(&self, registry: &mut Registry) {
        let registry = registry.sub_registry_with_prefix("database");
        registry.register("batches", "Batches of writes committed", self.batches.clone());
        registry.register("writes", "Writes in those batches", self.writes.clone());
        let help = "How often writing waited for PostgreSQL; 0 with a file";
        registry.register("round_trips", help, self.round_trips.clone());
        let help = "Sessions of the pool that are reading now";
        registry.register("sessions", help, self.sessions.clone());
        let help = "The most sessions that may read at once; 0 where there is no pool";
        registry.register("sessions_limit", help, self.most_sessions.clone());
        let help =
            "Whether other servers on the same record are heard; 1 also where there are none";
        registry.register("hears_others", help, self.hears_others.clone());
        let help = "Reconnections of the listener for other servers";
        registry.register("listener_reconnects", help, self.reconnects.clone());
    }

    fn set(&self, vitals: Vitals) {
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        self.batches.inner().store(vitals.batches, Ordering::Relaxed);
        self.writes.inner().store(vitals.writes, Ordering::Relaxed);
        self.round_trips.inner().store(vitals.round_trips, Ordering::Relaxed);
        self.reconnects.inner().store(vitals.reconnects, Ordering::Relaxed);
        let (sessions, most) = vitals.sessions.unwrap_or_default();
        self.sessions.set(count(sessions));
        self.most_sessions.set(count(most));
        self.hears_others.set(i64::from(vitals.listening.unwrap_or(true)));
    }
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
            database: Database::default(),
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
        telemetry.database.register(registry);
        telemetry
    }
}

impl Telemetry {
    pub(super) fn argument_written(&self) {
        self.arguments.inc();
    }

    /// All metrics as Prometheus text.
    pub(super) fn text(
        &self,
        held_waits: usize,
        open_sockets: usize,
        database: Vitals,
    ) -> Result<String, Problem> {
        self.database.set(database);
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
    /// A copy, because the URI would keep the whole read buffer in memory.
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

/// Counts and logs a request, and writes the body of its error.
pub(super) fn answered(app: &App, observed: Observed, mut response: Response) -> Response {
    let Observed { began, id, method, path, matched } = observed;
    let problem = response
        .extensions_mut()
        .remove::<Problem>()
        .or_else(|| Problem::of_router(&response, method.as_str(), &path));
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

/// Maps unknown methods to one label, because each label stays in memory.
fn known(method: &Method) -> &'static str {
    let known = ["GET", "HEAD", "POST", "DELETE", "PUT", "PATCH", "OPTIONS"];
    known.into_iter().find(|known| method == known).unwrap_or("other")
}
