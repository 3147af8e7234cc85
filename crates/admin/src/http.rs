//! Probes and metrics over plain HTTP.

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::IntoResponse,
    routing::get,
};
use std::sync::Arc;

use crate::{Operator, Readiness};

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(crate) fn routes<O: Operator>(operator: Arc<O>) -> Router {
    Router::new()
        // Alive means that the process answers; it never depends on the cluster,
        // or a quiet night would restart every replica.
        .route("/live", get(|| async { "ok\n" }))
        // The path that the probes of Linkerd's chart use.
        .route("/ping", get(|| async { "pong\n" }))
        .route("/ready", get(ready::<O>))
        .route("/metrics", get(metrics::<O>))
        .with_state(operator)
}

async fn ready<O: Operator>(State(operator): State<Arc<O>>) -> impl IntoResponse {
    match operator.readiness() {
        Readiness::Ready(what) => (StatusCode::OK, format!("ok: {what}\n")),
        Readiness::NotReady(why) => (
            StatusCode::SERVICE_UNAVAILABLE,
            format!("not ready: {why}\n"),
        ),
    }
}

async fn metrics<O: Operator>(State(operator): State<Arc<O>>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, OPENMETRICS)], operator.metrics())
}
