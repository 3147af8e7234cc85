//! Paths.

use super::query::decode;
use crate::kind::{KINDS, Kind, Scope};
use crate::object::{Part, Target};
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
        kind: &'static Kind,
        namespace: Option<String>,
    },
    Object(Target),
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
        let kind = |plural: &str| Kind::at_path(group, version, plural);
        let found = match rest {
            [] => KINDS
                .iter()
                .find(|kind| kind.group == group && kind.version == version)
                .map(|kind| Self::Resources {
                    group: kind.group,
                    version: kind.version,
                }),
            ["namespaces", name, "status"] => {
                kind("namespaces").map(|kind| Self::object(kind, ("", name), Part::Status))
            }
            ["namespaces", namespace, plural, rest @ ..] => kind(plural)
                .filter(|kind| kind.scope == Scope::Namespaced)
                .and_then(|kind| Self::in_namespace(kind, namespace, rest)),
            [plural] => kind(plural).map(|kind| Self::Collection {
                kind,
                namespace: None,
            }),
            [plural, rest @ ..] => kind(plural)
                .filter(|kind| kind.scope == Scope::Cluster)
                .and_then(|kind| Self::in_namespace(kind, "", rest)),
        };
        let is_served = KINDS
            .iter()
            .any(|kind| kind.group == group && kind.version == version);
        found.unwrap_or(if is_served {
            Self::UnknownResource
        } else {
            Self::Unknown
        })
    }

    fn in_namespace(kind: &'static Kind, namespace: &str, rest: &[&str]) -> Option<Self> {
        match rest {
            [] => Some(Self::Collection {
                kind,
                namespace: Some(namespace.to_owned()),
            }),
            [name] => Some(Self::object(kind, (namespace, name), Part::Main)),
            [name, "status"] if kind.has_status() => {
                Some(Self::object(kind, (namespace, name), Part::Status))
            }
            _ => None,
        }
    }

    fn object(kind: &'static Kind, (namespace, name): (&str, &str), part: Part) -> Self {
        Self::Object(Target {
            kind,
            key: ObjectKey::new(namespace, name),
            part,
        })
    }

    /// The kind it is about, if it is about objects.
    pub(super) fn kind(&self) -> Option<&'static Kind> {
        match self {
            Self::Collection { kind, .. } | Self::Object(Target { kind, .. }) => Some(kind),
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
            Self::Object(_) => "resource",
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
            Self::Object(Target {
                part: Part::Status, ..
            }) => "status",
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(kind: &str, namespace: &str, name: &str, part: Part) -> Route {
        Route::object(Kind::named(kind).unwrap(), (namespace, name), part)
    }

    fn collection(kind: &str, namespace: Option<&str>) -> Route {
        let kind = Kind::named(kind).unwrap();
        Route::Collection {
            kind,
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
