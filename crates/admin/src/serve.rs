//! One port for everything an operator asks.

use axum::{
    Router,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use lockstep_proto::{FILE_DESCRIPTOR_SET, admin::v1::admin_server::AdminServer};
use std::{future::Future, io, sync::Arc};
use tokio::net::TcpListener;
use tonic::{Status, service::Routes};

use crate::{Operator, health::health, http, service::AdminService};

/// The largest audit: the expected answers of 10,000 services.
const MESSAGE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Serves the admin port until `stop` resolves.
///
/// # Errors
///
/// When the reflection data cannot be read, or the socket fails.
pub async fn serve<O: Operator>(
    listener: TcpListener,
    operator: Arc<O>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let app = router(operator)?;
    axum::serve(listener, app)
        .with_graceful_shutdown(stop)
        .await
}

fn router<O: Operator>(operator: Arc<O>) -> io::Result<Router> {
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .build_v1()
        .map_err(io::Error::other)?;
    let admin = AdminServer::new(AdminService(operator.clone()))
        .max_encoding_message_size(MESSAGE_BYTES_MAX);
    let grpc = Routes::new(admin)
        .add_service(reflection)
        .add_service(health(operator.clone()));
    let routes = http::routes(operator).merge(grpc.prepare().into_axum_router());
    Ok(routes.fallback(nothing_here))
}

/// Each protocol has its own word for a path that is none.
async fn nothing_here(headers: HeaderMap) -> Response {
    let content = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    if content.is_some_and(|content| content.starts_with(b"application/grpc")) {
        return Status::unimplemented("no such method").into_http();
    }
    (
        StatusCode::NOT_FOUND,
        "not found: try /live, /ready, /ping or /metrics\n",
    )
        .into_response()
}
