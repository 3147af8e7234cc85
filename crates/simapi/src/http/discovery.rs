//! Which groups, versions and resources there are.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::kind::{KINDS, Kind, Scope};

/// The answer of `/version`.
pub(super) fn version() -> Value {
    json!({
        "major": "1",
        "minor": "36",
        "gitVersion": "v1.36.0-simapi",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": "",
    })
}

/// The answer of `/api`.
pub(super) fn core_versions() -> Value {
    json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})
}

/// The answer of `/apis`.
pub(super) fn groups() -> Value {
    let names: BTreeSet<&str> = KINDS
        .iter()
        .map(|kind| kind.group)
        .filter(|group| !group.is_empty())
        .collect();
    let groups: Vec<Value> = names.into_iter().map(group_entry).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// The answer of `/apis/GROUP`.
pub(super) fn group(name: &str) -> Value {
    let mut group = group_entry(name);
    if let Value::Object(fields) = &mut group {
        fields.insert("kind".to_owned(), "APIGroup".into());
        fields.insert("apiVersion".to_owned(), "v1".into());
    }
    group
}

/// The answer of `/apis/GROUP/VERSION`.
pub(super) fn resources(group: &str, version: &str) -> Value {
    let resources: Vec<Value> = KINDS
        .iter()
        .filter(|kind| kind.group == group && kind.version == version)
        .flat_map(resource_entries)
        .collect();
    let group_version = if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    };
    json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version,
        "resources": resources,
    })
}

/// The answer of `/openapi/v3`: where the document of each group version is.
pub(super) fn openapi_index() -> Value {
    let paths: Map<String, Value> = KINDS
        .iter()
        .map(|kind| {
            let path = root_path(kind.group, kind.version);
            let url = format!("/openapi/v3/{path}");
            (path, json!({"serverRelativeURL": url}))
        })
        .collect();
    json!({"paths": paths})
}

/// The answer of `/openapi/v3/apis/GROUP/VERSION`: no schemas, only the
/// parameter by which `kubectl apply` knows that the server judges fields.
pub(super) fn openapi(group: &str, version: &str) -> Value {
    let kinds = KINDS
        .iter()
        .filter(|kind| kind.group == group && kind.version == version);
    let paths: Map<String, Value> = kinds
        .map(|kind| {
            let path = format!("/{}/{}/{{name}}", root_path(group, version), kind.plural);
            let patch = json!({
                "parameters": [{"name": "fieldValidation", "in": "query"}],
                "responses": {},
                "x-kubernetes-action": "patch",
                "x-kubernetes-group-version-kind": {
                    "group": group, "version": version, "kind": kind.kind,
                },
            });
            (path, json!({"patch": patch}))
        })
        .collect();
    json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "simapi"},
        "paths": paths,
    })
}

fn root_path(group: &str, version: &str) -> String {
    if group.is_empty() {
        format!("api/{version}")
    } else {
        format!("apis/{group}/{version}")
    }
}

fn group_entry(name: &str) -> Value {
    let versions: BTreeSet<&str> = KINDS
        .iter()
        .filter(|kind| kind.group == name)
        .map(|kind| kind.version)
        .collect();
    let versions: Vec<Value> = versions
        .into_iter()
        .map(|version| json!({"groupVersion": format!("{name}/{version}"), "version": version}))
        .collect();
    json!({"name": name, "preferredVersion": versions.first(), "versions": versions})
}

fn resource_entries(kind: &Kind) -> Vec<Value> {
    let is_namespaced = kind.scope == Scope::Namespaced;
    let short_names: Vec<&str> = Some(kind.short_name)
        .filter(|name| !name.is_empty())
        .into_iter()
        .collect();
    let mut entries = vec![json!({
        "name": kind.plural,
        "singularName": kind.kind.to_lowercase(),
        "namespaced": is_namespaced,
        "kind": kind.kind,
        "verbs": [
            "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch",
        ],
        "shortNames": short_names,
    })];
    if kind.has_status() {
        entries.push(json!({
            "name": format!("{}/status", kind.plural),
            "singularName": "",
            "namespaced": is_namespaced,
            "kind": kind.kind,
            "verbs": ["get", "patch", "update"],
        }));
    }
    entries
}
