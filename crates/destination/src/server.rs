//! The service `io.linkerd.proxy.destination.Destination`.

use linkerd2_proxy_api::destination::destination_server::SERVICE_NAME;
use lockstep_resolution::View;
use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Instant,
};
use tonic::{Status, body::Body, server::NamedService};

use crate::{
    Metrics,
    answers::Answers,
    drain::Drain,
    get::GetSpeaker,
    get_profile::ProfileSpeaker,
    metrics::Method,
    opening::open,
    request::{labelling, read},
    speaker::Speaker,
};

/// What all streams of a service share.
pub(crate) struct Served<V> {
    pub(crate) view: Arc<V>,
    pub(crate) metrics: Metrics,
    pub(crate) drain: Drain,
    pub(crate) answers: Arc<Answers>,
}

/// The service, to be added to a tonic or hyper server. A clone serves the
/// same view.
pub struct DestinationService<V>(Arc<Served<V>>);

/// Makes the service that answers from `view`.
///
/// When `drain` is ready, open streams end with `OK` between two messages, and
/// new ones are refused as unavailable; the server's own shutdown is not its
/// business. It sets no limit on streams: neither should the server, since one
/// connection carries those of many proxies.
pub fn service<V: View>(
    view: Arc<V>,
    metrics: Metrics,
    drain: impl Future<Output = ()> + Send + 'static,
) -> DestinationService<V> {
    DestinationService(Arc::new(Served {
        view,
        metrics,
        drain: Drain::at(drain),
        answers: Arc::default(),
    }))
}

impl<V> Clone for DestinationService<V> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<V> NamedService for DestinationService<V> {
    const NAME: &'static str = SERVICE_NAME;
}

impl<V, B> tower::Service<http::Request<B>> for DestinationService<V>
where
    V: View,
    B: http_body::Body + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let served = Arc::clone(&self.0);
        match request.uri().path().strip_prefix('/').and_then(method) {
            Some(Method::Get) => Box::pin(serve::<V, GetSpeaker, B>(served, request)),
            Some(Method::GetProfile) => Box::pin(serve::<V, ProfileSpeaker, B>(served, request)),
            None => Box::pin(async { Ok(Status::unimplemented("").into_http()) }),
        }
    }
}

fn method(path: &str) -> Option<Method> {
    match path.strip_prefix(SERVICE_NAME)? {
        "/Get" => Some(Method::Get),
        "/GetProfile" => Some(Method::GetProfile),
        _ => None,
    }
}

async fn serve<V, S, B>(
    served: Arc<Served<V>>,
    request: http::Request<B>,
) -> Result<http::Response<Body>, Infallible>
where
    V: View,
    S: Speaker,
    B: http_body::Body + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let begun = Instant::now();
    let labelling = labelling(request.headers());
    let opened = match read(request.into_body()).await {
        Ok(asked) => open::<V, S>(&served, asked, labelling, begun).await,
        Err(status) => Err(status),
    };
    Ok(opened.unwrap_or_else(|status| {
        served.metrics.refused(S::METHOD, status.code());
        tracing::debug!(code = ?status.code(), message = status.message(), "request refused");
        status.into_http()
    }))
}
