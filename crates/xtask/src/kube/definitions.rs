//! The custom resource definitions that tests can have installed.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::CrdError;
use super::folder::Folder;
use super::https::{self, Request};

/// The definitions, by name: manifests as YAML.
pub const CRDS: [(&str, &str); 3] = [
    (
        "externalworkloads.workload.linkerd.io",
        include_str!("../../crds/externalworkloads.workload.linkerd.io.yaml"),
    ),
    (
        "servers.policy.linkerd.io",
        include_str!("../../crds/servers.policy.linkerd.io.yaml"),
    ),
    (
        "serviceprofiles.linkerd.io",
        include_str!("../../crds/serviceprofiles.linkerd.io.yaml"),
    ),
];

/// Which custom resource definitions a new server has.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Crds {
    /// None: every path of a custom resource is unknown.
    #[default]
    None,
    /// Those of [`CRDS`].
    All,
}

const COLLECTION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// It takes under a second; a machine busy with builds takes many times that.
const TIMEOUT: Duration = Duration::from_secs(60);

const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Applies every definition and waits until each of its versions is served.
pub(super) fn install(folder: &Folder, port: u16) -> Result<(), CrdError> {
    for (name, manifest) in CRDS {
        let path = format!("{COLLECTION}/{name}?fieldManager=xtask&force=true");
        let request = Request {
            method: "PATCH",
            path: &path,
            body: Some(("application/apply-patch+yaml", manifest)),
        };
        ask(folder, port, (name, request))?;
    }
    for (name, _) in CRDS {
        wait((name, "served"), || is_served(folder, port, name))?;
    }
    Ok(())
}

/// Deletes one definition and waits until it is gone, its objects before it.
pub(super) fn remove(folder: &Folder, port: u16, name: &str) -> Result<(), CrdError> {
    let path = format!("{COLLECTION}/{name}");
    let request = |method| Request {
        method,
        path: &path,
        body: None,
    };
    let text = ask(folder, port, (name, request("GET")))?;
    let paths = served_paths(&serde_json::from_str(&text).unwrap_or_default());
    ask(folder, port, (name, request("DELETE")))?;
    let is_gone = |path: &String| https::get(folder, port, path).is_err();
    wait((name, "gone"), || {
        is_gone(&path) && paths.iter().all(is_gone)
    })
}

fn ask(
    folder: &Folder,
    port: u16,
    (name, request): (&str, Request<'_>),
) -> Result<String, CrdError> {
    https::send(folder, port, request).map_err(|source| CrdError::Request {
        name: name.to_owned(),
        source,
    })
}

/// The server says "established" a moment before it serves, so both are asked.
fn is_served(folder: &Folder, port: u16, name: &str) -> bool {
    let get = |path: &str| https::get(folder, port, path);
    let definition = get(&format!("{COLLECTION}/{name}")).unwrap_or_default();
    let definition = serde_json::from_str(&definition).unwrap_or_default();
    is_established(&definition)
        && served_paths(&definition)
            .iter()
            .all(|path| get(path).is_ok())
}

fn wait((name, awaited): (&str, &'static str), holds: impl Fn() -> bool) -> Result<(), CrdError> {
    let started = Instant::now();
    while started.elapsed() < TIMEOUT {
        if holds() {
            return Ok(());
        }
        thread::sleep(POLL_INTERVAL);
    }
    Err(CrdError::Late {
        name: name.to_owned(),
        awaited,
        seconds: TIMEOUT.as_secs(),
    })
}

fn is_established(definition: &Value) -> bool {
    let conditions = definition.pointer("/status/conditions");
    let conditions = conditions.and_then(Value::as_array).into_iter().flatten();
    let is_true = |condition: &Value| {
        condition.get("type") == Some(&"Established".into())
            && condition.get("status") == Some(&"True".into())
    };
    conditions.into_iter().any(is_true)
}

/// The path of the objects, at each version that is served.
fn served_paths(definition: &Value) -> Vec<String> {
    let text = |path| definition.pointer(path).and_then(Value::as_str);
    let (Some(group), Some(plural)) = (text("/spec/group"), text("/spec/names/plural")) else {
        return Vec::new();
    };
    let versions = definition
        .pointer("/spec/versions")
        .and_then(Value::as_array);
    let versions = versions.into_iter().flatten();
    let served = versions.filter(|version| version.get("served") == Some(&Value::Bool(true)));
    let names = served.filter_map(|version| version.get("name")?.as_str());
    names
        .map(|name| format!("/apis/{group}/{name}/{plural}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_definition_tells_its_paths_and_whether_it_is_established() {
        let mut definition = json!({
            "spec": {
                "group": "a.example", "names": {"plural": "things"},
                "versions": [
                    {"name": "v2", "served": true}, {"name": "v1", "served": false},
                    {"name": "v3", "served": true},
                ],
            },
            "status": {"conditions": [{"type": "Established", "status": "False"}]},
        });
        let paths = ["/apis/a.example/v2/things", "/apis/a.example/v3/things"];
        assert_eq!(served_paths(&definition), paths);
        assert!(!is_established(&definition));
        definition["status"]["conditions"][0]["status"] = "True".into();
        assert!(is_established(&definition));
        assert!(!is_established(&Value::Null));
        assert_eq!(served_paths(&Value::Null), [""; 0]);
    }

    #[test]
    fn a_manifest_defines_what_its_name_says() {
        for (name, manifest) in CRDS {
            assert!(
                manifest.contains(&format!("\n  name: {name}\n")),
                "{manifest}"
            );
        }
    }
}
