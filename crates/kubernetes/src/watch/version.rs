//! The versions of the API in which a kind may be served.

use lockstep_model::FactKind;

/// One version of a kind's API.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    kind: FactKind,
    place: usize,
}

impl Version {
    /// The version that is asked for first.
    pub(crate) const fn best(kind: FactKind) -> Self {
        Self { kind, place: 0 }
    }

    /// The one to ask for if this is not served; after the last the first.
    pub(crate) fn next(self) -> Self {
        let next = self.place.saturating_add(1);
        Self {
            place: if next < Self::count(self.kind) {
                next
            } else {
                0
            },
            ..self
        }
    }

    /// How many there are; at least one.
    pub(crate) const fn count(kind: FactKind) -> usize {
        prefixes(kind).len()
    }

    /// Where the objects of all namespaces are: `/apis/apps/v1/replicasets`.
    pub(crate) fn path(self) -> String {
        format!("{}/{}", self.prefix(), self.kind.resource())
    }

    /// Where one object is: `/api/v1/namespaces/default/services/kubernetes`.
    pub(crate) fn path_to(self, namespace: &str, name: &str) -> String {
        let (prefix, resource) = (self.prefix(), self.kind.resource());
        format!("{prefix}/namespaces/{namespace}/{resource}/{name}")
    }

    /// As manifests write it: `apps/v1`.
    pub(crate) fn name(self) -> &'static str {
        let prefix = self.prefix();
        let name = prefix.strip_prefix("/apis/");
        name.or_else(|| prefix.strip_prefix("/api/"))
            .unwrap_or(prefix)
    }

    pub(crate) const fn kind(self) -> FactKind {
        self.kind
    }

    fn prefix(self) -> &'static str {
        prefixes(self.kind)
            .get(self.place)
            .copied()
            .unwrap_or_default()
    }
}

/// The best first. What is read of an object is the same in all of them.
const fn prefixes(kind: FactKind) -> &'static [&'static str] {
    match kind {
        FactKind::Node | FactKind::Pod | FactKind::Service => &["/api/v1"],
        FactKind::ReplicaSet => &["/apis/apps/v1"],
        FactKind::Job => &["/apis/batch/v1"],
        FactKind::EndpointSlice => &["/apis/discovery.k8s.io/v1"],
        FactKind::ServiceProfile => &["/apis/linkerd.io/v1alpha2", "/apis/linkerd.io/v1alpha1"],
        FactKind::Server => &[
            "/apis/policy.linkerd.io/v1beta3",
            "/apis/policy.linkerd.io/v1beta2",
            "/apis/policy.linkerd.io/v1beta1",
            "/apis/policy.linkerd.io/v1alpha1",
        ],
        FactKind::ExternalWorkload => &[
            "/apis/workload.linkerd.io/v1beta1",
            "/apis/workload.linkerd.io/v1alpha1",
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_the_last_version_comes_the_first() {
        for kind in FactKind::ALL {
            let best = Version::best(kind);
            let mut version = best;
            for place in 0..Version::count(kind) {
                assert_eq!(version.place, place);
                version = version.next();
            }
            assert_eq!(version, best);
        }
    }

    #[test]
    fn a_version_has_a_path_and_a_name() {
        let shown = |version: Version| (version.path(), version.name());
        let pods = Version::best(FactKind::Pod);
        assert_eq!(shown(pods), ("/api/v1/pods".to_owned(), "v1"));
        let service = Version::best(FactKind::Service).path_to("default", "kubernetes");
        assert_eq!(service, "/api/v1/namespaces/default/services/kubernetes");
        let servers = Version::best(FactKind::Server).next();
        let path = "/apis/policy.linkerd.io/v1beta2/servers".to_owned();
        assert_eq!(shown(servers), (path, "policy.linkerd.io/v1beta2"));
    }
}
