//! The requests to the API server.

use http::{Request, header};
use kube::client::Body;
use lockstep_model::{Cursor, FactKind};
use std::fmt::Write;

use super::version::Version;

/// How many objects one page of a list holds at most.
const PAGE_OBJECTS_MAX: u32 = 500;

/// Asks for a page of a list as of now. Without a resource version the server answers
/// from a quorum of etcd, never from a cache that lags.
///
/// # Errors
///
/// The request could not be put together.
pub(crate) fn list(version: Version, token: Option<&str>) -> http::Result<Request<Body>> {
    let mut uri = format!("{}?limit={PAGE_OBJECTS_MAX}", version.path());
    if let Some(token) = token {
        uri.push_str("&continue=");
        push_encoded(&mut uri, token);
    }
    ask(uri, of_lists(version))
}

/// Asks for the shortest list, whose own resource version is all that matters.
///
/// # Errors
///
/// The request could not be put together.
pub(crate) fn look(version: Version) -> http::Result<Request<Body>> {
    ask(format!("{}?limit=1", version.path()), of_lists(version))
}

/// The name of the object that is asked for alone: the API server's own Service.
pub(crate) const ONE: &str = "kubernetes";

/// Asks for one object of the namespace `default`, as of now.
///
/// # Errors
///
/// The request could not be put together.
pub(crate) fn one(version: Version) -> http::Result<Request<Body>> {
    ask(version.path_to("default", ONE), "application/json")
}

/// Asks for a watch from a place in history, to be closed after so many seconds.
///
/// # Errors
///
/// The request could not be put together.
pub(crate) fn watch(version: Version, from: &Cursor, seconds: u64) -> http::Result<Request<Body>> {
    let mut uri = format!(
        "{}?watch=true&allowWatchBookmarks=true&timeoutSeconds={seconds}&resourceVersion=",
        version.path()
    );
    push_encoded(&mut uri, &from.0);
    let accept = match form(version.kind()) {
        Form::Whole => "application/json",
        Form::Metadata => "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    };
    ask(uri, accept)
}

fn of_lists(version: Version) -> &'static str {
    match form(version.kind()) {
        Form::Whole => "application/json",
        Form::Metadata => "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    }
}

fn ask(uri: String, accept: &'static str) -> http::Result<Request<Body>> {
    Request::get(uri)
        .header(header::ACCEPT, accept)
        .header(header::ACCEPT_ENCODING, "identity")
        .body(Body::empty())
}

/// How much of an object is needed.
enum Form {
    Whole,
    Metadata,
}

fn form(kind: FactKind) -> Form {
    match kind {
        FactKind::Node | FactKind::ReplicaSet | FactKind::Job => Form::Metadata,
        FactKind::Pod
        | FactKind::Service
        | FactKind::EndpointSlice
        | FactKind::ServiceProfile
        | FactKind::Server
        | FactKind::ExternalWorkload => Form::Whole,
    }
}

/// Tokens are opaque: everything but the unreserved characters of RFC 3986 is encoded.
fn push_encoded(uri: &mut String, text: &str) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            uri.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(request: http::Result<Request<Body>>) -> String {
        let request = request.unwrap();
        let accept = request.headers()[header::ACCEPT].to_str().unwrap();
        format!("{} {} as {accept}", request.method(), request.uri())
    }

    #[test]
    fn a_list_is_consistent_and_paged() {
        assert_eq!(
            shown(list(Version::best(FactKind::Pod), None)),
            "GET /api/v1/pods?limit=500 as application/json",
        );
        assert_eq!(
            shown(list(
                Version::best(FactKind::EndpointSlice),
                Some("a+/=b&c")
            )),
            "GET /apis/discovery.k8s.io/v1/endpointslices?limit=500&continue=a%2B%2F%3Db%26c \
             as application/json",
        );
        assert_eq!(
            shown(list(Version::best(FactKind::ReplicaSet), None)),
            "GET /apis/apps/v1/replicasets?limit=500 \
             as application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
        );
    }

    #[test]
    fn a_look_is_a_short_list() {
        assert_eq!(
            shown(look(Version::best(FactKind::Job))),
            "GET /apis/batch/v1/jobs?limit=1 \
             as application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
        );
    }

    #[test]
    fn one_object_is_asked_for_from_the_quorum_as_a_list_is() {
        assert_eq!(
            shown(one(Version::best(FactKind::Service))),
            "GET /api/v1/namespaces/default/services/kubernetes as application/json",
        );
    }

    #[test]
    fn a_watch_names_its_place_and_its_time() {
        let from = Cursor("41 8".into());
        assert_eq!(
            shown(watch(Version::best(FactKind::Job), &from, 61)),
            "GET /apis/batch/v1/jobs?watch=true&allowWatchBookmarks=true&timeoutSeconds=61\
             &resourceVersion=41%208 \
             as application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        );
        assert_eq!(
            shown(watch(
                Version::best(FactKind::ServiceProfile).next(),
                &from,
                61
            )),
            "GET /apis/linkerd.io/v1alpha1/serviceprofiles?watch=true&allowWatchBookmarks=true\
             &timeoutSeconds=61&resourceVersion=41%208 as application/json",
        );
        assert_eq!(
            shown(watch(Version::best(FactKind::Service), &from, 61)),
            "GET /api/v1/services?watch=true&allowWatchBookmarks=true&timeoutSeconds=61\
             &resourceVersion=41%208 as application/json",
        );
    }
}
