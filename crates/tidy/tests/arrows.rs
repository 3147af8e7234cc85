//! Which crate may use which. The arrows and the reasons are explained in docs/architecture.md;
//! a test here keeps that table and this one equal.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::collections::{BTreeMap, BTreeSet};

use lockstep_tidy::{Tree, crate_folder};
use toml::{Table, Value};

/// Which of our crates each crate may use. Dev-dependencies are free.
///
/// What is not listed is forbidden. The rows that matter most:
/// * destination has no arrow to kubernetes, catalog, ingest, state, replica or raft: no path
///   from Kubernetes to a proxy skips the log. This is the product; the compiler should know it.
/// * kubernetes has no arrow to raft, replica or destination: the same, from the other end.
/// * raft and storage have no arrow to model or state: consensus cannot look inside an entry.
/// * manifests uses kubernetes for its parsing of objects only, so that an object means the same
///   in a folder as in a cluster.
/// * contract has an arrow to both ends, kubernetes and destination: it puts the pure middle
///   between them without the log, for tests, and nothing that ships has an arrow to it.
/// * fuzz has an arrow to every crate that reads bytes from outside, and none has one to it.
/// * jepsen-model uses nothing of ours, not even a name: a judge that asks the product what is
///   right agrees with its errors. jepsen-checkers uses that judge alone. jepsen-gear,
///   jepsen-mix and jepsen-lab start replicas as programs, so they name of the product only what a
///   client needs.
/// * nothing but bench (which starts whole replicas) uses the binary's crate.
const ALLOWED: &[(&str, &[&str])] = &[
    ("position", &[]),
    ("model", &[]),
    ("state", &["position", "model"]),
    ("resolution", &["position", "model", "state"]),
    ("catalog", &["position", "model", "state"]),
    ("proto", &[]),
    ("storage", &["position"]),
    ("raft", &["position", "storage", "proto"]),
    (
        "replica",
        &["position", "model", "state", "resolution", "raft", "proto"],
    ),
    ("ingest", &["position", "model", "state", "catalog"]),
    ("kubernetes", &["model", "catalog"]),
    ("manifests", &["model", "catalog", "kubernetes"]),
    ("destination", &["position", "model", "resolution"]),
    ("admin", &["position", "model", "state", "raft", "proto"]),
    ("cli", &["position", "model", "proto"]),
    (
        "lockstep",
        &[
            "position",
            "model",
            "state",
            "resolution",
            "catalog",
            "proto",
            "storage",
            "raft",
            "replica",
            "ingest",
            "kubernetes",
            "manifests",
            "destination",
            "admin",
            "cli",
        ],
    ),
    (
        "contract",
        &[
            "position",
            "model",
            "state",
            "resolution",
            "catalog",
            "kubernetes",
            "destination",
        ],
    ),
    (
        "fuzz",
        &[
            "position",
            "model",
            "state",
            "resolution",
            "catalog",
            "proto",
            "storage",
            "raft",
            "replica",
            "kubernetes",
            "destination",
        ],
    ),
    ("simapi", &[]),
    (
        "bench",
        &["lockstep", "position", "model", "proto", "simapi"],
    ),
    ("xtask", &[]),
    ("tidy", &[]),
    ("jepsen-model", &[]),
    ("jepsen-checkers", &["jepsen-model"]),
    ("jepsen-report", &["jepsen-model", "jepsen-checkers"]),
    ("jepsen-gear", &["proto", "simapi"]),
    (
        "jepsen-mix",
        &[
            "proto",
            "simapi",
            "jepsen-model",
            "jepsen-checkers",
            "jepsen-report",
            "jepsen-gear",
        ],
    ),
    (
        "jepsen-lab",
        &[
            "contract",
            "proto",
            "simapi",
            "jepsen-checkers",
            "jepsen-report",
            "jepsen-gear",
            "jepsen-mix",
        ],
    ),
];

/// Third-party crates that only some of ours may name, and those. Dev-dependencies are free.
const ONLY_IN: &[(&str, &[&str])] = &[
    // Replaceable, and its generics stay in one room.
    ("openraft", &["raft"]),
    // Objects become facts once, in one place.
    ("kube", &["kubernetes"]),
    ("k8s-openapi", &["kubernetes"]),
    // One crate serves the wire; the others are its clients.
    (
        "linkerd2-proxy-api",
        &[
            "destination",
            "cli",
            "bench",
            "contract",
            "jepsen-mix",
            "jepsen-lab",
        ],
    ),
    // One crate decides what durable means.
    ("redb", &["storage"]),
    // Libraries take configs and return typed errors.
    (
        "clap",
        &[
            "lockstep",
            "cli",
            "bench",
            "xtask",
            "simapi",
            "jepsen-gear",
            "jepsen-mix",
            "jepsen-lab",
        ],
    ),
    (
        "anyhow",
        &[
            "lockstep",
            "cli",
            "bench",
            "xtask",
            "simapi",
            "jepsen-gear",
            "jepsen-mix",
            "jepsen-lab",
        ],
    ),
];

/// The crates that decide. Replicas must agree and tests must not wait.
const PURE: &[&str] = &[
    "position",
    "model",
    "state",
    "catalog",
    "resolution",
    "jepsen-model",
];

/// What a pure crate may not name, nor anything that begins with it and a hyphen.
const IMPURE: &[&str] = &[
    "tokio",
    "tonic",
    "prost",
    "kube",
    "k8s-openapi",
    "openraft",
    "rand",
    "getrandom",
    "redb",
];

/// What one crate names, outside its dev-dependencies.
struct Manifest {
    folder: String,
    package: String,
    ours: BTreeSet<String>,
    foreign: BTreeSet<String>,
}

fn parse(folder: &str, text: &str) -> Manifest {
    let table: Table = text
        .parse()
        .unwrap_or_else(|error| panic!("{folder}: {error}"));
    let named = dependency_tables(&table).flat_map(|dependencies| {
        dependencies
            .iter()
            .map(|(key, value)| package_of(key, value))
    });
    let (ours, foreign): (BTreeSet<String>, BTreeSet<String>) =
        named.partition(|name| our_folder(name).is_some());
    Manifest {
        folder: folder.to_owned(),
        package: table["package"]["name"]
            .as_str()
            .expect("a package name")
            .to_owned(),
        ours: ours
            .iter()
            .filter_map(|name| our_folder(name))
            .map(str::to_owned)
            .collect(),
        foreign,
    }
}

/// `[dependencies]` and `[build-dependencies]`, for every target.
fn dependency_tables(table: &Table) -> impl Iterator<Item = &Table> {
    let per_target = table
        .get("target")
        .and_then(Value::as_table)
        .into_iter()
        .flat_map(Table::values);
    std::iter::once(table)
        .chain(per_target.filter_map(Value::as_table))
        .flat_map(|table| [table.get("dependencies"), table.get("build-dependencies")])
        .flatten()
        .filter_map(Value::as_table)
}

/// The package behind a dependency, which `package = "..."` may have renamed.
fn package_of(key: &str, value: &Value) -> String {
    value
        .get("package")
        .and_then(Value::as_str)
        .unwrap_or(key)
        .to_owned()
}

/// The folder of one of our packages; none for the packages of others.
fn our_folder(package: &str) -> Option<&str> {
    match package {
        "lockstep" | "xtask" => Some(package),
        _ => package.strip_prefix("lockstep-"),
    }
}

fn broken_arrows(manifest: &Manifest) -> Vec<String> {
    let folder = manifest.folder.as_str();
    if our_folder(&manifest.package) != Some(folder) {
        let folder = crate_folder(folder);
        return vec![format!("{folder} is named {}", manifest.package)];
    }
    let Some((_, allowed)) = ALLOWED.iter().find(|(from, _)| *from == folder) else {
        return vec![format!(
            "{folder} is not in ALLOWED; add it to the architecture first"
        )];
    };
    let ours = manifest
        .ours
        .iter()
        .filter(|to| !allowed.contains(&to.as_str()));
    ours.map(|to| format!("{folder} -> {to} is not an allowed arrow"))
        .collect()
}

fn broken_borders(manifest: &Manifest) -> Vec<String> {
    let folder = manifest.folder.as_str();
    let restricted = ONLY_IN
        .iter()
        .filter(|(name, users)| manifest.foreign.contains(*name) && !users.contains(&folder));
    let impure = manifest
        .foreign
        .iter()
        .filter(|name| PURE.contains(&folder) && is_impure(name));
    restricted
        .map(|(name, users)| format!("{folder} names {name}, which only {} may", users.join(", ")))
        .chain(impure.map(|name| format!("{folder} is pure and names {name}")))
        .collect()
}

fn is_impure(name: &str) -> bool {
    IMPURE.iter().any(|impure| {
        name.strip_prefix(impure)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    })
}

/// The arrows written in a document, as lines `from -> a, b` (or `nothing`) in a text block.
fn documented_arrows(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let lines = text.lines().filter_map(|line| line.split_once(" -> "));
    lines
        .filter(|(from, _)| {
            let mut chars = from.trim().chars();
            chars.all(|char| char.is_ascii_lowercase() || char == '-')
        })
        .map(|(from, to)| {
            let to = to.split(',').map(|name| name.trim().to_owned());
            (
                from.trim().to_owned(),
                to.filter(|name| name != "nothing").collect(),
            )
        })
        .collect()
}

fn manifests() -> Vec<Manifest> {
    let tree = Tree::of_workspace().expect("the workspace is readable");
    tree.crate_manifests()
        .map(|(name, text)| parse(&name, text))
        .collect()
}

const NOTHING: &[String] = &[];

#[test]
fn every_arrow_is_allowed() {
    let broken: Vec<String> = manifests().iter().flat_map(broken_arrows).collect();
    assert_eq!(broken, NOTHING);
}

#[test]
fn every_allowed_crate_exists() {
    let folders: BTreeSet<String> = manifests().into_iter().map(|each| each.folder).collect();
    let allowed: BTreeSet<String> = ALLOWED.iter().map(|(from, _)| (*from).to_owned()).collect();
    assert_eq!(allowed, folders);
}

#[test]
fn foreign_crates_stay_behind_their_borders() {
    let broken: Vec<String> = manifests().iter().flat_map(broken_borders).collect();
    assert_eq!(broken, NOTHING);
}

#[test]
fn the_document_shows_the_arrows_that_are_enforced() {
    let tree = Tree::of_workspace().expect("the workspace is readable");
    let text = tree
        .text("docs/architecture.md")
        .expect("docs/architecture.md exists");
    let enforced = ALLOWED
        .iter()
        .map(|(from, to)| {
            (
                (*from).to_owned(),
                to.iter().map(|&name| name.to_owned()).collect(),
            )
        })
        .collect::<BTreeMap<String, BTreeSet<String>>>();
    assert_eq!(documented_arrows(text), enforced);
}

#[test]
fn a_forbidden_arrow_is_found_in_every_kind_of_table() {
    for table in [
        "dependencies",
        "build-dependencies",
        "target.'cfg(unix)'.dependencies",
    ] {
        let text = format!("[package]\nname='lockstep-state'\n[{table}]\nlockstep-raft='1'");
        let broken = broken_arrows(&parse("state", &text));
        assert_eq!(broken, ["state -> raft is not an allowed arrow"], "{table}");
    }
}

#[test]
fn a_dev_dependency_is_free() {
    let text = "[package]\nname='lockstep-state'\n[dev-dependencies]\nlockstep-raft='1'\nkube='1'";
    let manifest = parse("state", text);
    assert_eq!(broken_arrows(&manifest), NOTHING);
    assert_eq!(broken_borders(&manifest), NOTHING);
}

#[test]
fn an_unknown_or_misnamed_crate_is_found() {
    let broken = broken_arrows(&parse("shared", "[package]\nname='lockstep-shared'"));
    assert_eq!(
        broken,
        ["shared is not in ALLOWED; add it to the architecture first"]
    );
    let broken = broken_arrows(&parse("state", "[package]\nname='lockstep-model'"));
    assert_eq!(broken, ["crates/state is named lockstep-model"]);
}

#[test]
fn a_foreign_crate_is_found_under_another_name() {
    let text = "[package]\nname='lockstep-admin'\n[dependencies]\nx = { package = 'openraft' }";
    let broken = broken_borders(&parse("admin", text));
    assert_eq!(broken, ["admin names openraft, which only raft may"]);
}

#[test]
fn a_pure_crate_that_waits_is_found() {
    let text = "[package]\nname='lockstep-model'\n[dependencies]\ntokio-util='1'\ntokioish='1'";
    let broken = broken_borders(&parse("model", text));
    assert_eq!(broken, ["model is pure and names tokio-util"]);
}
