//! Paths.

use super::query::decode;
use crate::kind::{KINDS, Origin, Scope};
use crate::object::{Part, Target};
use crate::resource::Resource;
use crate::store::ObjectKey;

/// What a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    Health,
    Version,
    Metrics,
    CoreVersions,
    Groups,
    Group(&'static str),
    Resources {
        group: &'static str,
        version: &'static str,
    },
    OpenApiIndex,
    OpenApi {
        group: &'static str,
        version: &'static str,
    },
    /// All objects of a kind, or those of one namespace.
    Collection {
        resource: Resource,
        namespace: Option<String>,
    },
    Object {
        resource: Resource,
        target: Target,
    },
    /// A group version that is served, and nothing it has.
    UnknownResource,
    Unknown,
}

// === impl Route ===

impl Route {
    pub(super) fn parse(path: &str) -> Self {
        let steps: Vec<String> = path
            .split('/')
            .filter(|step| !step.is_empty())
            .map(decode)
            .collect();
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        match steps.as_slice() {
            ["healthz" | "livez" | "readyz", ..] => Self::Health,
            ["version"] => Self::Version,
            ["metrics"] => Self::Metrics,
            ["api"] => Self::CoreVersions,
            ["apis"] => Self::Groups,
            ["apis", group] => match KINDS.iter().find(|kind| kind.group == *group) {
                Some(kind) => Self::Group(kind.group),
                None => Self::Unknown,
            },
            ["openapi", "v3"] => Self::OpenApiIndex,
            ["openapi", "v3", "api", version] => Self::open_api("", version),
            ["openapi", "v3", "apis", group, version] => Self::open_api(group, version),
            ["api", version, rest @ ..] => Self::of_group("", version, rest),
            ["apis", group, version, rest @ ..] => Self::of_group(group, version, rest),
            _ => Self::Unknown,
        }
    }

    fn open_api(group: &str, version: &str) -> Self {
        match Self::of_group(group, version, &[]) {
            Self::Resources { group, version } => Self::OpenApi { group, version },
            other => other,
        }
    }

    fn of_group(group: &str, version: &str, rest: &[&str]) -> Self {
        let at = |plural: &str| Resource::at_path(group, version, plural);
        let of_version = |r: &Resource| r.kind.group == group && r.version == version;
        let sibling = Resource::all().find(of_version);
        let found = match rest {
            [] => sibling.map(|r| Self::Resources {
                group: r.kind.group,
                version: r.version,
            }),
            ["namespaces", name, "status"] => {
                at("namespaces").map(|r| Self::object(r, ("", name), Part::Status))
            }
            ["namespaces", namespace, plural, rest @ ..] => at(plural)
                .filter(|r| r.kind.scope == Scope::Namespaced)
                .and_then(|r| Self::in_namespace(r, namespace, rest)),
            [plural] => at(plural).map(|resource| Self::Collection {
                resource,
                namespace: None,
            }),
            [plural, rest @ ..] => at(plural)
                .filter(|r| r.kind.scope == Scope::Cluster)
                .and_then(|r| Self::in_namespace(r, "", rest)),
        };
        found.unwrap_or(match sibling.map(|r| r.kind.origin) {
            Some(Origin::BuiltIn) => Self::UnknownResource,
            Some(Origin::Custom) | None => Self::Unknown,
        })
    }

    fn in_namespace(resource: Resource, namespace: &str, rest: &[&str]) -> Option<Self> {
        match rest {
            [] => Some(Self::Collection {
                resource,
                namespace: Some(namespace.to_owned()),
            }),
            [name] => Some(Self::object(resource, (namespace, name), Part::Main)),
            [name, "status"] if resource.kind.has_status() => {
                Some(Self::object(resource, (namespace, name), Part::Status))
            }
            _ => None,
        }
    }

    fn object(resource: Resource, (namespace, name): (&str, &str), part: Part) -> Self {
        let target = Target {
            kind: resource.kind,
            key: ObjectKey::new(namespace, name),
            part,
        };
        Self::Object { resource, target }
    }

    /// The resource it is about, if it is about objects.
    pub(super) fn resource(&self) -> Option<Resource> {
        match self {
            Self::Collection { resource, .. } | Self::Object { resource, .. } => Some(*resource),
            Self::Health
            | Self::Version
            | Self::Metrics
            | Self::CoreVersions
            | Self::Groups
            | Self::Group(_)
            | Self::Resources { .. }
            | Self::OpenApiIndex
            | Self::OpenApi { .. }
            | Self::UnknownResource
            | Self::Unknown => None,
        }
    }

    /// The `scope` label of the real server's metrics.
    pub(super) fn scope(&self) -> &'static str {
        match self {
            Self::Collection {
                namespace: None, ..
            } => "cluster",
            Self::Collection {
                namespace: Some(_), ..
            } => "namespace",
            Self::Object { .. } => "resource",
            Self::Health
            | Self::Version
            | Self::Metrics
            | Self::CoreVersions
            | Self::Groups
            | Self::Group(_)
            | Self::Resources { .. }
            | Self::OpenApiIndex
            | Self::OpenApi { .. }
            | Self::UnknownResource
            | Self::Unknown => "",
        }
    }

    /// The `subresource` label of the real server's metrics.
    pub(super) fn subresource(&self) -> &'static str {
        match self {
            Self::Object { target, .. } if target.part == Part::Status => "status",
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kind;

    fn stored(kind: &str) -> Resource {
        let kind = Kind::named(kind).unwrap();
        let version = kind.version;
        Resource { kind, version }
    }

    fn object(kind: &str, namespace: &str, name: &str, part: Part) -> Route {
        Route::object(stored(kind), (namespace, name), part)
    }

    fn collection(kind: &str, namespace: Option<&str>) -> Route {
        Route::Collection {
            resource: stored(kind),
            namespace: namespace.map(str::to_owned),
        }
    }

    #[test]
    fn every_form_of_path_is_understood() {
        for (path, route) in [
            ("/readyz/ping", Route::Health),
            (
                "/api/v1",
                Route::Resources {
                    group: "",
                    version: "v1",
                },
            ),
            ("/apis/apps", Route::Group("apps")),
            (
                "/openapi/v3/apis/apps/v1",
                Route::OpenApi {
                    group: "apps",
                    version: "v1",
                },
            ),
            ("/api/v1/services", collection("Service", None)),
            ("/api/v1/namespaces", collection("Namespace", None)),
            (
                "/api/v1/namespaces/shop",
                object("Namespace", "", "shop", Part::Main),
            ),
            (
                "/api/v1/namespaces/shop/status",
                object("Namespace", "", "shop", Part::Status),
            ),
            (
                "/api/v1/namespaces/shop/pods",
                collection("Pod", Some("shop")),
            ),
            (
                "/api/v1/namespaces/shop/pods/a/status",
                object("Pod", "shop", "a", Part::Status),
            ),
            ("/api/v1/nodes/n%2D1", object("Node", "", "n-1", Part::Main)),
            (
                "/apis/discovery.k8s.io/v1/namespaces/a/endpointslices/b",
                object("EndpointSlice", "a", "b", Part::Main),
            ),
        ] {
            assert_eq!(Route::parse(path), route, "{path}");
        }
    }

    #[test]
    fn other_paths_are_unknown() {
        for path in [
            "/",
            "/api/v2/services",
            "/apis/none",
            "/openapi/v3/apis/none/v1",
            "/apis/linkerd.io/v1alpha2/widgets",
            "/apis/linkerd.io/v1/serviceprofiles",
        ] {
            assert_eq!(Route::parse(path), Route::Unknown, "{path}");
        }
        for path in [
            "/api/v1/widgets",
            "/api/v1/services/web",
            "/api/v1/namespaces/a/nodes",
            "/api/v1/namespaces/a/endpoints/b/status",
            "/apis/apps/v1/services",
        ] {
            assert_eq!(Route::parse(path), Route::UnknownResource, "{path}");
        }
    }
}
