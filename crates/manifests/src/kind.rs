//! Which documents are objects that answers depend on.

use lockstep_model::FactKind;

/// What a document is, by its `apiVersion` and `kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DocumentKind {
    /// An object that is watched.
    Watched(FactKind),
    /// A list of objects.
    List,
    /// A watched kind in a version that is not read; this is the one that is.
    OtherVersion(&'static str),
    /// Legal, and of no interest: a Deployment, a Namespace.
    Unwatched,
}

/// Tells a document's kind.
pub(crate) fn document_kind(api_version: &str, kind: &str) -> DocumentKind {
    if (api_version, kind) == ("v1", "List") {
        return DocumentKind::List;
    }
    let found = FactKind::ALL.into_iter().find_map(|fact| {
        let (known_version, known_kind) = names(fact);
        let is_same = kind == known_kind && group(api_version) == group(known_version);
        is_same.then_some((fact, known_version))
    });
    match found {
        Some((fact, known)) if known == api_version => DocumentKind::Watched(fact),
        Some((_, known)) => DocumentKind::OtherVersion(known),
        None => DocumentKind::Unwatched,
    }
}

const fn names(kind: FactKind) -> (&'static str, &'static str) {
    match kind {
        FactKind::Node => ("v1", "Node"),
        FactKind::ReplicaSet => ("apps/v1", "ReplicaSet"),
        FactKind::Job => ("batch/v1", "Job"),
        FactKind::Pod => ("v1", "Pod"),
        FactKind::Service => ("v1", "Service"),
        FactKind::EndpointSlice => ("discovery.k8s.io/v1", "EndpointSlice"),
    }
}

/// The group of an API version; empty for the oldest kinds.
fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_told_by_group_version_and_name() {
        use DocumentKind::{List, OtherVersion, Unwatched, Watched};
        for (api_version, kind, expected) in [
            ("v1", "Pod", Watched(FactKind::Pod)),
            ("apps/v1", "ReplicaSet", Watched(FactKind::ReplicaSet)),
            ("v1", "List", List),
            ("v1", "Namespace", Unwatched),
            ("apps/v1", "Deployment", Unwatched),
            ("serving.knative.dev/v1", "Service", Unwatched),
            (
                "discovery.k8s.io/v1beta1",
                "EndpointSlice",
                OtherVersion("discovery.k8s.io/v1"),
            ),
            ("v2", "Service", OtherVersion("v1")),
            ("", "Service", OtherVersion("v1")),
        ] {
            assert_eq!(
                document_kind(api_version, kind),
                expected,
                "{api_version} {kind}"
            );
        }
    }
}
