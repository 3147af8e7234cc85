//! Every shape of ownership, as the labels want it.

use super::*;
use lockstep_model::{Fact, ObjectLabels, OwnerFact, PodAddresses, PodPhase, PortRules};
use std::sync::Arc;

fn reference(kind: &str, name: &str) -> OwnerRef {
    OwnerRef {
        kind: kind.into(),
        name: name.into(),
    }
}

fn pod(owner: Option<OwnerRef>) -> PodFact {
    PodFact {
        uid: "1".into(),
        owner,
        node: None,
        service_account: "default".into(),
        control_plane: None,
        template_hash: None,
        rules: PortRules::default(),
        addresses: PodAddresses::default(),
        phase: PodPhase::Running,
        terminating: false,
        labels: ObjectLabels::new(),
        ports: Vec::new(),
    }
}

/// The owner of a pod whose owner is `below`, itself owned by `above`.
fn resolved(below: OwnerRef, above: Option<OwnerRef>) -> String {
    let mut facts = Facts::default();
    if let Some(kind) = owner_kind(&below) {
        let key = FactKey::named(kind, "shop", &below.name);
        let fact = Fact::Owner(OwnerFact { owner: above });
        facts.set(&key, Some(Arc::new(fact)));
    }
    print(&pod(Some(below)), &facts)
}

fn print(pod: &PodFact, facts: &Facts) -> String {
    let owner = resolve(&PodId::named("shop", "web-1"), pod, facts);
    format!("{}={}", owner.label, owner.name)
}

#[test]
fn a_pod_without_a_single_owner_is_its_own() {
    assert_eq!(print(&pod(None), &Facts::default()), "pod=web-1");
}

#[test]
fn a_replica_set_gives_way_to_what_stands_above_it() {
    for (kind, expected) in [
        ("Deployment", "deployment=top"),
        ("StatefulSet", "statefulset=top"),
        ("DaemonSet", "daemonset=top"),
        ("Job", "k8s_job=top"),
        ("Rollout", "replicaset=rs"),
        ("ReplicaSet", "replicaset=rs"),
        ("CronJob", "replicaset=rs"),
    ] {
        let above = Some(reference(kind, "top"));
        assert_eq!(resolved(reference("ReplicaSet", "rs"), above), expected);
    }
    assert_eq!(
        resolved(reference("ReplicaSet", "rs"), None),
        "replicaset=rs"
    );
}

#[test]
fn a_job_gives_way_to_whatever_owns_it() {
    for (kind, expected) in [
        ("CronJob", "cronjob=top"),
        ("Workflow", "workflow=top"),
        ("Job", "k8s_job=top"),
    ] {
        let above = Some(reference(kind, "top"));
        assert_eq!(resolved(reference("Job", "job"), above), expected);
    }
    assert_eq!(resolved(reference("Job", "job"), None), "k8s_job=job");
}

#[test]
fn another_kind_stands_for_itself() {
    for (kind, expected) in [
        ("StatefulSet", "statefulset=db"),
        ("DaemonSet", "daemonset=db"),
        ("Deployment", "deployment=db"),
        ("Node", "node=db"),
    ] {
        assert_eq!(resolved(reference(kind, "db"), None), expected);
    }
}

#[test]
fn an_owner_that_is_not_known_stands_for_itself() {
    for (kind, expected) in [("ReplicaSet", "replicaset=x"), ("Job", "k8s_job=x")] {
        let pod = pod(Some(reference(kind, "x")));
        assert_eq!(print(&pod, &Facts::default()), expected);
    }
}

#[test]
fn an_owner_of_the_same_name_in_another_namespace_is_another() {
    let mut facts = Facts::default();
    let key = FactKey::named(FactKind::ReplicaSet, "stage", "rs");
    let owner = Some(reference("Deployment", "web"));
    facts.set(&key, Some(Arc::new(Fact::Owner(OwnerFact { owner }))));
    let pod = pod(Some(reference("ReplicaSet", "rs")));
    assert_eq!(print(&pod, &facts), "replicaset=rs");
}
