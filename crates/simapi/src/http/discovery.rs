//! Which groups, versions and resources there are.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::kind::{Kind, Scope};
use crate::resource::Resource;

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

/// The answer of `/apis`, given what is served.
pub(super) fn groups(served: &[Resource]) -> Value {
    let groups = served.iter().map(|r| r.kind.group);
    let names: BTreeSet<&str> = groups.filter(|group| !group.is_empty()).collect();
    let groups: Vec<Value> = names
        .into_iter()
        .filter_map(|name| group_entry(name, served))
        .collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// The answer of `/apis/GROUP`, if there is anything in it.
pub(super) fn group(name: &str, served: &[Resource]) -> Option<Value> {
    let mut group = group_entry(name, served)?;
    if let Value::Object(fields) = &mut group {
        fields.insert("kind".to_owned(), "APIGroup".into());
        fields.insert("apiVersion".to_owned(), "v1".into());
    }
    Some(group)
}

/// The answer of `/apis/GROUP/VERSION`, if there is anything in it.
pub(super) fn resources(group: &str, version: &str, served: &[Resource]) -> Option<Value> {
    let resources: Vec<Value> = kinds_at(group, version, served)
        .flat_map(resource_entries)
        .collect();
    let group_version = if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    };
    let list = json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version,
        "resources": resources,
    });
    (!resources.is_empty()).then_some(list)
}

/// The answer of `/openapi/v3`: where the document of each group version is.
pub(super) fn openapi_index(served: &[Resource]) -> Value {
    let paths: Map<String, Value> = served
        .iter()
        .map(|r| {
            let path = root_path(r.kind.group, r.version);
            let url = format!("/openapi/v3/{path}");
            (path, json!({"serverRelativeURL": url}))
        })
        .collect();
    json!({"paths": paths})
}

/// The answer of `/openapi/v3/apis/GROUP/VERSION`: no schemas, only the
/// parameter by which `kubectl apply` knows that the server judges fields.
pub(super) fn openapi(group: &str, version: &str, served: &[Resource]) -> Option<Value> {
    let kinds = kinds_at(group, version, served);
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
    let document = json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "simapi"},
        "paths": paths,
    });
    (!paths.is_empty()).then_some(document)
}

fn kinds_at<'a>(
    group: &'a str,
    version: &'a str,
    served: &'a [Resource],
) -> impl Iterator<Item = &'static Kind> + 'a {
    let found = served
        .iter()
        .filter(move |r| r.kind.group == group && r.version == version);
    found.map(|r| r.kind)
}

fn root_path(group: &str, version: &str) -> String {
    if group.is_empty() {
        format!("api/{version}")
    } else {
        format!("apis/{group}/{version}")
    }
}

/// The versions are in the order of the resources: the preferred one first.
fn group_entry(name: &str, served: &[Resource]) -> Option<Value> {
    let mut names: Vec<&str> = Vec::new();
    for resource in served.iter().filter(|r| r.kind.group == name) {
        if !names.contains(&resource.version) {
            names.push(resource.version);
        }
    }
    let versions: Vec<Value> = names
        .into_iter()
        .map(|version| json!({"groupVersion": format!("{name}/{version}"), "version": version}))
        .collect();
    let preferred = versions.first()?;
    Some(json!({"name": name, "preferredVersion": preferred, "versions": versions}))
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
