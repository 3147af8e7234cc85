//! One kind of object, followed from a list or a cursor to the end of the session.
//!
//! ```text
//!                 ┌──────────── 410, or the cursor is refused: Lost ──────┐
//!                 ▼                                                       │
//!  start ──▶ [Listing] ──last page: Listed──▶ [Opening] ──opened──▶ [Reading] ──▶ Changed,
//!    │         ▲   │                            ▲    │                 │          Progress
//!    │         │   └──failed──▶ [Waiting] ◀─────┼────┴──failed─────────┤
//!    │         └──────────timer─────┴──timer────┤                      │
//!    └── with a cursor ─────────────────────────┴───── closed ─────────┘
//! ```
//!
//! A kind that a cluster may do without is asked for in each of its versions; while none
//! is served it is listed as empty, and asked for again.
//!
//! [`machine`] decides, without clock, randomness or connection. [`shell`] asks the API
//! server and waits. The rest translates: [`request`] out, [`decode`] and [`failure`] in.

mod ask;
mod decode;
mod failure;
mod lines;
mod machine;
mod once;
mod pace;
mod page;
mod reach;
mod report;
mod request;
mod shell;
mod stream;
mod version;

#[cfg(test)]
pub(crate) use decode::page;
pub(crate) use machine::Begin;
pub(crate) use once::list;
pub(crate) use reach::reach;
pub(crate) use shell::Follower;

/// A source of a server in this process.
#[cfg(test)]
pub(crate) fn given<S, B>(service: S) -> crate::KubernetesSource
where
    S: tower::Service<http::Request<kube::client::Body>, Response = http::Response<B>>
        + Send
        + 'static,
    S::Error: Into<tower::BoxError>,
    S::Future: Send + 'static,
    B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
    B::Error: Into<tower::BoxError>,
{
    let client = kube::Client::new(service, "default");
    crate::KubernetesSource::new(client, crate::connect::Way::Given, "a test")
}
