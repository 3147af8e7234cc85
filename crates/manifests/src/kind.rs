//! Which documents are objects that answers depend on.

use lockstep_model::FactKind;

/// What a document is, by its `apiVersion` and `kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DocumentKind {
    /// An object that is watched.
    Watched(FactKind),
    /// A list of objects.
    List,
    /// A watched kind in a version that is not read; this is the best of those that are.
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
        let (versions, known_kind) = names(fact);
        let (best, _) = versions.split_first()?;
        let is_same = kind == known_kind && group(api_version) == group(best);
        is_same.then_some((fact, versions, best))
    });
    match found {
        Some((fact, versions, _)) if versions.contains(&api_version) => DocumentKind::Watched(fact),
        Some((_, _, best)) => DocumentKind::OtherVersion(best),
        None => DocumentKind::Unwatched,
    }
}

/// The versions that are read, the best first, and the kind.
const fn names(kind: FactKind) -> (&'static [&'static str], &'static str) {
    match kind {
        FactKind::Node => (&["v1"], "Node"),
        FactKind::ReplicaSet => (&["apps/v1"], "ReplicaSet"),
        FactKind::Job => (&["batch/v1"], "Job"),
        FactKind::Pod => (&["v1"], "Pod"),
        FactKind::Service => (&["v1"], "Service"),
        FactKind::EndpointSlice => (&["discovery.k8s.io/v1"], "EndpointSlice"),
        FactKind::ServiceProfile => (
            &["linkerd.io/v1alpha2", "linkerd.io/v1alpha1"],
            "ServiceProfile",
        ),
        FactKind::Server => (
            &[
                "policy.linkerd.io/v1beta3",
                "policy.linkerd.io/v1beta2",
                "policy.linkerd.io/v1beta1",
                "policy.linkerd.io/v1alpha1",
            ],
            "Server",
        ),
        FactKind::ExternalWorkload => (
            &[
                "workload.linkerd.io/v1beta1",
                "workload.linkerd.io/v1alpha1",
            ],
            "ExternalWorkload",
        ),
    }
}

/// The group of an API version; empty for the oldest kinds.
fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

#[cfg(test)]
mod tests {
    use super::*;
    use DocumentKind::{List, OtherVersion, Unwatched, Watched};

    fn assert_kinds(cases: &[(&str, &str, DocumentKind)]) {
        for (api_version, kind, expected) in cases {
            let found = document_kind(api_version, kind);
            assert_eq!(found, *expected, "{api_version} {kind}");
        }
    }

    #[test]
    fn a_kind_is_told_by_group_version_and_name() {
        let slices = OtherVersion("discovery.k8s.io/v1");
        assert_kinds(&[
            ("v1", "Pod", Watched(FactKind::Pod)),
            ("apps/v1", "ReplicaSet", Watched(FactKind::ReplicaSet)),
            ("v1", "List", List),
            ("v1", "Namespace", Unwatched),
            ("apps/v1", "Deployment", Unwatched),
            ("serving.knative.dev/v1", "Service", Unwatched),
            ("discovery.k8s.io/v1beta1", "EndpointSlice", slices),
            ("v2", "Service", OtherVersion("v1")),
            ("", "Service", OtherVersion("v1")),
        ]);
    }

    #[test]
    fn custom_resources_are_read_in_every_version_that_was_ever_served() {
        for (group, kind, versions, fact) in [
            (
                "linkerd.io",
                "ServiceProfile",
                &["v1alpha2", "v1alpha1"] as &[&str],
                FactKind::ServiceProfile,
            ),
            (
                "policy.linkerd.io",
                "Server",
                &["v1beta3", "v1beta2", "v1beta1", "v1alpha1"],
                FactKind::Server,
            ),
            (
                "workload.linkerd.io",
                "ExternalWorkload",
                &["v1beta1", "v1alpha1"],
                FactKind::ExternalWorkload,
            ),
        ] {
            for version in versions {
                let api_version = format!("{group}/{version}");
                assert_kinds(&[(&api_version, kind, Watched(fact))]);
            }
        }
        let servers = OtherVersion("policy.linkerd.io/v1beta3");
        let workloads = OtherVersion("workload.linkerd.io/v1beta1");
        assert_kinds(&[
            (
                "linkerd.io/v1",
                "ServiceProfile",
                OtherVersion("linkerd.io/v1alpha2"),
            ),
            ("policy.linkerd.io/v1", "Server", servers),
            ("workload.linkerd.io/v2", "ExternalWorkload", workloads),
            ("policy.linkerd.io/v1beta3", "HTTPRoute", Unwatched),
            ("example.com/v1", "Server", Unwatched),
        ]);
    }
}
