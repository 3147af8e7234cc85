//! The objects that a history is about: few, so that they collide. Each has knobs, and for
//! each knob a few choices of which the first is ordinary.

use serde_json::Value;
use std::fmt::{Display, Formatter, Result};

use crate::objects;

/// One thing about an object that may be otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Knob {
    pub(crate) name: String,
    pub(crate) choices: &'static [&'static str],
}

/// One object, as far as it is always the same.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) kind: &'static str,
    pub(crate) namespace: &'static str,
    pub(crate) name: &'static str,
    pub(crate) knobs: Vec<Knob>,
    /// Whether a history may begin with it.
    pub(crate) is_usual: bool,
    build: fn(&Turned<'_>) -> Value,
}

/// An object with its knobs turned.
pub(crate) struct Turned<'a> {
    pub(crate) slot: &'a Slot,
    turns: &'a [u8],
}

impl Slot {
    /// The object with these turns; knobs without one are as usual.
    pub(crate) fn object(&self, turns: &[u8]) -> Value {
        (self.build)(&Turned { slot: self, turns })
    }

    fn usual(self) -> Self {
        Self {
            is_usual: true,
            ..self
        }
    }
}

impl Display for Slot {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} {}/{}", self.kind, self.namespace, self.name)
    }
}

impl Turned<'_> {
    /// What is chosen for a knob.
    pub(crate) fn get(&self, name: &str) -> &'static str {
        let at = self.slot.knobs.iter().position(|knob| knob.name == name);
        let at = at.unwrap_or_else(|| panic!("{} has no knob {name}", self.slot.kind));
        choice(&self.slot.knobs[at], self.turns.get(at).copied())
    }
}

/// What a turn means for a knob.
pub(crate) fn choice(knob: &Knob, turn: Option<u8>) -> &'static str {
    knob.choices[usize::from(turn.unwrap_or(0)) % knob.choices.len()]
}

/// Every object that there can be.
pub(crate) fn slots() -> Vec<Slot> {
    let of = |kind, namespace, name, knobs: &[_], build| Slot {
        kind,
        namespace,
        name,
        knobs: knobs.iter().map(knob).collect(),
        is_usual: false,
        build,
    };
    let slice = |name| Slot {
        knobs: slice_knobs(),
        ..of("EndpointSlice", "ns", name, &[], objects::slice)
    };
    vec![
        of("Pod", "ns", "p0", POD, objects::pod).usual(),
        of("Pod", "ns", "p1", POD, objects::pod).usual(),
        slice("a").usual(),
        slice("b"),
        of("Service", "ns", "web", SERVICE, objects::service).usual(),
        of("Pod", "ns", "p2", POD, objects::pod),
        of("Pod", "other", "p0", POD, objects::pod),
        slice("c"),
        slice("six"),
        of("Service", "ns", "api", SERVICE, objects::service),
        of("Server", "ns", "s0", SERVER, objects::server),
        of("Server", "ns", "s1", SERVER, objects::server),
        of("Server", "other", "s0", SERVER, objects::server),
        of("ExternalWorkload", "ns", "vm0", EXTERNAL, objects::external).usual(),
        of("ExternalWorkload", "ns", "vm1", EXTERNAL, objects::external),
        of("ServiceProfile", "ns", WEB, PROFILE, objects::profile),
        of("ServiceProfile", "client", WEB, PROFILE, objects::profile),
        of("Node", "", "node-a", NODE_A, objects::node).usual(),
        of("Node", "", "node-b", NODE_B, objects::node).usual(),
        of("ReplicaSet", "ns", "rs", OWNED, objects::owner).usual(),
        of("Job", "ns", "job", OWNED, objects::owner).usual(),
    ]
}

const WEB: &str = "web.ns.svc.cluster.local";

type Row = (&'static str, &'static [&'static str]);

fn knob((name, choices): &Row) -> Knob {
    Knob {
        name: (*name).to_owned(),
        choices,
    }
}

const NODE_A: &[Row] = &[("zone", &["za", "zb", "none"])];
const NODE_B: &[Row] = &[("zone", &["zb", "za", "none"])];

const OWNED: &[Row] = &[(
    "owner",
    &[
        "Deployment/web",
        "none",
        "StatefulSet/web",
        "CronJob/nightly",
        "Job/job",
        "Workflow/flow",
        "two",
    ],
)];

const POD: &[Row] = &[
    ("ip", &["own", "p0's", "p1's", "none", "vm's"]),
    ("family", &["v4", "dual", "v6", "single field"]),
    (
        "phase",
        &["Running", "Pending", "Succeeded", "Failed", "Odd"],
    ),
    ("deleted", &["no", "yes"]),
    ("mesh", &["linkerd", "none", "foreign"]),
    (
        "proxy",
        &[
            "container",
            "init",
            "no admin",
            "no inbound",
            "none",
            "value from",
            "admin on 8080",
        ],
    ),
    (
        "opaque",
        &[
            "absent",
            "8080",
            "web",
            "",
            "8000-8100 ,",
            "bad,8081",
            "18080",
        ],
    ),
    ("skip", &["absent", "8080", "8000-9000,", "web"]),
    (
        "ports",
        &[
            "web 8080 host 18080",
            "web 8080",
            "none",
            "web 8081",
            "other 8080 host 18080",
            "unnamed 9000 host 18080",
        ],
    ),
    ("host network", &["no", "yes"]),
    (
        "owner",
        &[
            "ReplicaSet/rs",
            "none",
            "Job/job",
            "StatefulSet/web",
            "two",
            "ReplicaSet/gone",
        ],
    ),
    ("account", &["web", "none"]),
    ("node", &["own", "node-a", "node-b", "none"]),
    ("hash", &["none", "abc"]),
    ("app", &["web", "api", "none"]),
    ("uid", &["first", "second"]),
];

const SERVICE: &[Row] = &[
    (
        "ports",
        &[
            "http 80",
            "http 80, admin 443",
            "web 80",
            " 80",
            "http 443",
            "none",
            "admin 80, http 443",
        ],
    ),
    ("policy", &["Cluster", "Local", "absent"]),
    ("ip", &["own", "shared", "None", "two", "single field"]),
    ("opaque", &["absent", "80", "http", "", "443,"]),
    (
        "kind",
        &[
            "ClusterIP",
            "ClusterIP",
            "ExternalName",
            "federated",
            "remote",
            "unnamed remote",
        ],
    ),
];

const SERVER: &[Row] = &[
    ("port", &["web", "8080", "18080", "9990", "8081", "zero"]),
    ("protocol", &["opaque", "HTTP/2", "absent"]),
    (
        "pods",
        &[
            "app web",
            "all",
            "absent",
            "app in api web",
            "app exists not",
            "nonsense",
        ],
    ),
    ("externals", &["absent", "all", "vm a", "vm not a"]),
];

const EXTERNAL: &[Row] = &[
    ("ip", &["own", "shared", "dual", "p0's"]),
    (
        "ports",
        &[
            "web 8080",
            "web 8080, linkerd-proxy 5555",
            "web 8081",
            "none",
        ],
    ),
    ("opaque", &["absent", "8080", "web", ""]),
    ("owner", &["none", "Group/vms", "two"]),
    ("vm", &["a", "b"]),
    ("identity", &["full", "none"]),
];

const PROFILE: &[Row] = &[(
    "says",
    &[
        "nothing",
        "routes",
        "budget",
        "overrides",
        "empty condition",
        "bad status",
        "bad type",
        "opaque ports",
    ],
)];

const SLICE: &[Row] = &[
    (
        "service",
        &[
            "label web",
            "label api",
            "owner web",
            "none",
            "label empty, owner web",
        ],
    ),
    ("type", &["own", "IPv4", "IPv6", "FQDN"]),
    (
        "ports",
        &[
            "http 8080",
            "http 8080, admin 9990",
            " 8080",
            "absent",
            "http ?",
            "web 8080",
            "http 8081",
            "none",
        ],
    ),
    ("created", &["own", "1", "9"]),
    (
        "all hints",
        &["absent", "za", "zb", "za zb", "node-a zb", "node-b za"],
    ),
    ("mirror", &["none", "identity", "all", "cluster", "service"]),
];

const ENDPOINT: &[Row] = &[
    (
        "target",
        &[
            "own",
            "absent",
            "p0",
            "p1",
            "p2",
            "other p0",
            "vm0",
            "vm1",
            "none",
            "Foo",
            "p0 of another uid",
            "p0 without namespace",
            "empty",
        ],
    ),
    ("ready", &["yes", "no", "absent", "leaving", "yes, leaving"]),
    ("hostname", &["h0", "none", "h1"]),
    ("zone", &["za", "none", "zb"]),
    (
        "hints",
        &[
            "all",
            "absent",
            "za",
            "zb",
            "za zb",
            "node-a",
            "node-a za",
            "node-b za",
            "none",
        ],
    ),
    (
        "addresses",
        &["target's", "p0's", "two", "bad", "10.0.9.9", "other family"],
    ),
];

/// How many endpoints a slice can have.
pub(crate) const ENDPOINTS: usize = 3;

fn slice_knobs() -> Vec<Knob> {
    let endpoints = (0..ENDPOINTS).flat_map(|number| {
        ENDPOINT.iter().map(move |(name, choices)| Knob {
            name: format!("e{number} {name}"),
            choices,
        })
    });
    SLICE.iter().map(knob).chain(endpoints).collect()
}
