//! The real API server: starts, answers, forgets on demand, and is gone after drop.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::fs;
use std::path::Path;

use serde_json::Value;
use xtask::kube::{Kube, Options, WatchCache, wanted_for};

/// A watch from `version` that the server ends after a second.
fn watch_from(version: u64) -> String {
    format!("/api/v1/namespaces?watch=1&timeoutSeconds=1&resourceVersion={version}")
}

/// A version with later writes: those of the other namespaces the server makes.
fn version_of_oldest_namespace(kube: &Kube) -> u64 {
    let list: Value = serde_json::from_str(&kube.get("/api/v1/namespaces").unwrap()).unwrap();
    let versions = list["items"].as_array().unwrap().iter().map(|item| {
        item["metadata"]["resourceVersion"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap()
    });
    versions.min().unwrap()
}

fn gone(pid: u32) -> bool {
    !Path::new("/proc").join(pid.to_string()).exists()
}

#[test]
fn it_starts_answers_and_leaves_nothing_running() {
    if !wanted_for("it_starts_answers_and_leaves_nothing_running") {
        return;
    }
    let kube = Kube::start(&Options::default()).unwrap();
    let config = fs::read_to_string(kube.kubeconfig()).unwrap();
    assert!(
        config.contains(&kube.url()) && config.contains(kube.token()),
        "{config}"
    );
    assert!(kube.get("/version").unwrap().contains("\"minor\": \"36\""));
    assert!(kube.get("/api/v1/nodes").unwrap().contains("\"NodeList\""));
    let error = kube
        .get("/api/v1/namespaces/nowhere/pods/none")
        .unwrap_err()
        .to_string();
    assert!(error.contains("answered 404 Not Found"), "{error}");
    let (pids, data) = (kube.pids(), kube.data().to_path_buf());
    drop(kube);
    assert_eq!(pids.map(gone), [true, true]);
    assert!(!data.exists());
}

#[test]
fn without_the_watch_cache_an_old_version_is_gone_exactly_after_a_compaction() {
    if !wanted_for("without_the_watch_cache_an_old_version_is_gone_exactly_after_a_compaction") {
        return;
    }
    let options = Options {
        watch_cache: WatchCache::Off,
        ..Options::default()
    };
    let kube = Kube::start(&options).unwrap();
    // The server made its own namespaces after version 1.
    let before = kube.get(&watch_from(1)).unwrap();
    assert!(before.contains("\"name\":\"kube-system\""), "{before}");
    let compacted = kube.compact().unwrap();
    let after = kube.get(&watch_from(1)).unwrap();
    assert!(after.contains("\"code\":410"), "{after}");
    let from_there = kube.get(&watch_from(compacted)).unwrap();
    assert!(!from_there.contains("\"code\":410"), "{from_there}");
}

#[test]
fn with_the_watch_cache_a_compaction_alone_changes_nothing() {
    if !wanted_for("with_the_watch_cache_a_compaction_alone_changes_nothing") {
        return;
    }
    let kube = Kube::start(&Options::default()).unwrap();
    let version = version_of_oldest_namespace(&kube);
    assert!(version < kube.compact().unwrap());
    let served = kube.get(&watch_from(version)).unwrap();
    assert!(!served.contains("\"code\":410"), "{served}");
}

#[test]
fn with_the_watch_cache_a_restart_alone_makes_an_old_version_gone() {
    if !wanted_for("with_the_watch_cache_a_restart_alone_makes_an_old_version_gone") {
        return;
    }
    let mut kube = Kube::start(&Options::default()).unwrap();
    let version = version_of_oldest_namespace(&kube);
    kube.restart_api_server().unwrap();
    let refused = kube.get(&watch_from(version)).unwrap();
    assert!(refused.contains("\"code\":410"), "{refused}");
}

#[test]
fn a_folder_that_cannot_be_used_is_named() {
    if !wanted_for("a_folder_that_cannot_be_used_is_named") {
        return;
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    let options = Options {
        data: Some(file.path().join("data")),
        ..Options::default()
    };
    let error = Kube::start(&options).err().unwrap();
    let expected = format!("cannot use {}", file.path().join("data").display());
    assert_eq!(error.to_string(), expected);
}

/// How the server refuses a GET of this path.
fn refusal(kube: &Kube, path: &str) -> String {
    kube.get(path).unwrap_err().to_string()
}

#[test]
fn definitions_are_served_once_installed_and_gone_once_removed() {
    if !wanted_for("definitions_are_served_once_installed_and_gone_once_removed") {
        return;
    }
    let kube = Kube::start(&Options::default()).unwrap();
    let path = "/apis/policy.linkerd.io/v1beta1/servers";
    let unknown = format!("GET {path} answered 404 Not Found: 404 page not found");
    assert_eq!(refusal(&kube, path), unknown);
    kube.install_crds().unwrap();
    for path in [
        path,
        "/apis/policy.linkerd.io/v1beta3/servers",
        "/apis/linkerd.io/v1alpha1/serviceprofiles",
        "/apis/linkerd.io/v1alpha2/serviceprofiles",
        "/apis/workload.linkerd.io/v1alpha1/externalworkloads",
        "/apis/workload.linkerd.io/v1beta1/externalworkloads",
    ] {
        assert!(kube.get(path).unwrap().contains("\"items\":[]"), "{path}");
    }
    kube.remove_crd("servers.policy.linkerd.io").unwrap();
    assert_eq!(refusal(&kube, path), unknown);
    let error = kube.remove_crd("things.example.org").unwrap_err();
    let expected = "cannot change the definition things.example.org";
    assert_eq!(error.to_string(), expected);
}
