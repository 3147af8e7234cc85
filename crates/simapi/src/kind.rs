//! The kinds of object this server knows, as one table.
//!
//! A kind is added by adding a row; no other file names one, except where the
//! real server treats that kind by rules of its own (`object/`).

/// One kind of object, and how the real server treats it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    /// API group; empty for the core group.
    pub(crate) group: &'static str,
    /// The version objects are stored in, for example `v1`.
    pub(crate) version: &'static str,
    /// The other versions that can be served, newest first.
    pub(crate) older: &'static [&'static str],
    /// Plural name as in paths, for example `services`.
    pub(crate) plural: &'static str,
    /// Kind as in objects, for example `Service`.
    pub(crate) kind: &'static str,
    /// Short name that command line tools accept; may be empty.
    pub(crate) short_name: &'static str,
    pub(crate) scope: Scope,
    pub(crate) origin: Origin,
    pub(crate) status: StatusRule,
    pub(crate) generation: Generation,
    pub(crate) update: UpdateRule,
    pub(crate) deleted: DeleteAnswer,
    /// Dotted paths a field selector may name besides name and namespace.
    pub(crate) field_labels: &'static [&'static str],
}

/// Whether objects live in namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    Namespaced,
    Cluster,
}

/// Whether the real server compiles the kind in or learns it from a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    BuiltIn,
    Custom,
}

/// Who may write `status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StatusRule {
    /// The object has no status subresource: `status` is a field like others.
    Plain,
    /// Only the status subresource writes it.
    Subresource,
    /// As `Subresource`, but a create may carry it (nodes).
    SubresourceOrCreate,
}

/// Whether `metadata.generation` counts changes of the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Generation {
    Counted,
    Absent,
}

/// What a PUT may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum UpdateRule {
    /// Replaces; the resource version may be left out.
    Replace,
    /// As `Replace`, and creates what is not there.
    ReplaceOrCreate,
    /// Replaces, and must name the resource version it replaces.
    Versioned,
}

/// What a finished DELETE answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DeleteAnswer {
    Status,
    Object,
}

const CORE: Kind = Kind {
    group: "",
    version: "v1",
    older: &[],
    plural: "",
    kind: "",
    short_name: "",
    scope: Scope::Namespaced,
    origin: Origin::BuiltIn,
    status: StatusRule::Plain,
    generation: Generation::Absent,
    update: UpdateRule::Replace,
    deleted: DeleteAnswer::Status,
    field_labels: &[],
};

/// A workload of a built-in group: status subresource, generation counted.
const WORKLOAD: Kind = Kind {
    status: StatusRule::Subresource,
    generation: Generation::Counted,
    ..CORE
};

const CUSTOM: Kind = Kind {
    origin: Origin::Custom,
    generation: Generation::Counted,
    update: UpdateRule::Versioned,
    ..CORE
};

/// Every kind served, in the order of discovery.
pub(crate) static KINDS: &[Kind] = &[
    Kind {
        plural: "configmaps",
        kind: "ConfigMap",
        short_name: "cm",
        ..CORE
    },
    Kind {
        plural: "endpoints",
        kind: "Endpoints",
        short_name: "ep",
        update: UpdateRule::ReplaceOrCreate,
        ..CORE
    },
    Kind {
        plural: "namespaces",
        kind: "Namespace",
        short_name: "ns",
        scope: Scope::Cluster,
        status: StatusRule::Subresource,
        deleted: DeleteAnswer::Object,
        field_labels: &["status.phase"],
        ..CORE
    },
    Kind {
        plural: "nodes",
        kind: "Node",
        short_name: "no",
        scope: Scope::Cluster,
        status: StatusRule::SubresourceOrCreate,
        field_labels: &["spec.unschedulable"],
        ..CORE
    },
    Kind {
        plural: "pods",
        kind: "Pod",
        short_name: "po",
        deleted: DeleteAnswer::Object,
        field_labels: &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
        ],
        ..WORKLOAD
    },
    Kind {
        plural: "secrets",
        kind: "Secret",
        field_labels: &["type"],
        ..CORE
    },
    Kind {
        plural: "services",
        kind: "Service",
        short_name: "svc",
        status: StatusRule::Subresource,
        update: UpdateRule::ReplaceOrCreate,
        deleted: DeleteAnswer::Object,
        field_labels: &["spec.clusterIP", "spec.type"],
        ..CORE
    },
    Kind {
        group: "apps",
        plural: "daemonsets",
        kind: "DaemonSet",
        short_name: "ds",
        ..WORKLOAD
    },
    Kind {
        group: "apps",
        plural: "deployments",
        kind: "Deployment",
        short_name: "deploy",
        ..WORKLOAD
    },
    Kind {
        group: "apps",
        plural: "replicasets",
        kind: "ReplicaSet",
        short_name: "rs",
        ..WORKLOAD
    },
    Kind {
        group: "apps",
        plural: "statefulsets",
        kind: "StatefulSet",
        short_name: "sts",
        ..WORKLOAD
    },
    Kind {
        group: "batch",
        plural: "cronjobs",
        kind: "CronJob",
        short_name: "cj",
        ..WORKLOAD
    },
    Kind {
        group: "batch",
        plural: "jobs",
        kind: "Job",
        field_labels: &["status.successful"],
        ..WORKLOAD
    },
    Kind {
        group: "coordination.k8s.io",
        plural: "leases",
        kind: "Lease",
        update: UpdateRule::ReplaceOrCreate,
        ..CORE
    },
    Kind {
        group: "discovery.k8s.io",
        plural: "endpointslices",
        kind: "EndpointSlice",
        generation: Generation::Counted,
        ..CORE
    },
    Kind {
        group: "linkerd.io",
        version: "v1alpha2",
        older: &["v1alpha1"],
        plural: "serviceprofiles",
        kind: "ServiceProfile",
        short_name: "sp",
        ..CUSTOM
    },
    Kind {
        group: "policy.linkerd.io",
        version: "v1beta3",
        older: &["v1beta2", "v1beta1", "v1alpha1"],
        plural: "servers",
        kind: "Server",
        short_name: "srv",
        ..CUSTOM
    },
    Kind {
        group: "workload.linkerd.io",
        version: "v1beta1",
        older: &["v1alpha1"],
        plural: "externalworkloads",
        kind: "ExternalWorkload",
        status: StatusRule::Subresource,
        ..CUSTOM
    },
];

// === impl Kind ===

impl Kind {
    /// The kinds that definitions install.
    pub(crate) fn custom() -> impl Iterator<Item = &'static Self> {
        KINDS.iter().filter(|kind| kind.origin == Origin::Custom)
    }

    /// The kind with this `kind` or plural name; unique within the table.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        KINDS.iter().find(|k| k.kind == name || k.plural == name)
    }

    /// The versions that can be served: the stored one, then the older ones.
    pub(crate) fn versions(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.version).chain(self.older.iter().copied())
    }

    /// `apiVersion` of its stored objects, for example `apps/v1`.
    pub(crate) fn api_version(&self) -> String {
        self.api_version_of(self.version)
    }

    /// `apiVersion` of its objects at one of its versions.
    pub(crate) fn api_version_of(&self, version: &str) -> String {
        if self.group.is_empty() {
            version.to_owned()
        } else {
            format!("{}/{version}", self.group)
        }
    }

    /// The name in messages: `services`, or `replicasets.apps`.
    pub(crate) fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.plural.to_owned()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    /// The kind in messages about bad content: `Service`, or `Job.batch`.
    pub(crate) fn qualified_kind(&self) -> String {
        if self.group.is_empty() {
            self.kind.to_owned()
        } else {
            format!("{}.{}", self.kind, self.group)
        }
    }

    /// Whether a status subresource exists.
    pub(crate) fn has_status(&self) -> bool {
        match self.status {
            StatusRule::Plain => false,
            StatusRule::Subresource | StatusRule::SubresourceOrCreate => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_plurals_are_unique() {
        for (index, kind) in KINDS.iter().enumerate() {
            for other in KINDS.iter().skip(index + 1) {
                assert_ne!(kind.kind, other.kind);
                assert_ne!(kind.plural, other.plural);
            }
        }
    }

    #[test]
    fn names_carry_the_group_only_where_there_is_one() {
        let service = Kind::named("Service").unwrap();
        let set = Kind::named("replicasets").unwrap();
        assert_eq!(service.qualified(), "services");
        assert_eq!(service.api_version(), "v1");
        assert_eq!(set.qualified(), "replicasets.apps");
        assert_eq!(set.api_version(), "apps/v1");
    }
}
