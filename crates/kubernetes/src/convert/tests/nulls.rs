//! Null in every place of every kind of object.

use super::*;

pub(super) fn objects() -> Vec<(FactKind, Value)> {
    let owners = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "1"}]);
    let metadata = json!({"name": "web", "namespace": "shop", "uid": "u", "resourceVersion": "7",
        "creationTimestamp": "2026-11-30T00:00:00Z", "deletionTimestamp": "2026-11-30T00:00:00Z",
        "labels": {"kubernetes.io/service-name": "web", "linkerd.io/control-plane-ns": "linkerd"},
        "annotations": {"config.linkerd.io/opaque-ports": "80"}, "ownerReferences": owners});
    let port = json!({"name": "http", "containerPort": 80, "hostPort": 80, "protocol": "TCP"});
    let env = json!([{"name": "LINKERD2_PROXY_ADMIN_LISTEN_ADDR", "value": "0.0.0.0:4191"}]);
    let containers = json!([{"name": "linkerd-proxy", "image": "x", "ports": [port], "env": env,
        "resources": {"limits": {"cpu": "1"}}}]);
    let pod = json!({
        "spec": {"nodeName": "n1", "serviceAccountName": "sa", "hostNetwork": true,
            "containers": containers, "initContainers": containers},
        "status": {"phase": "Running", "podIP": "10.1.0.1", "podIPs": [{"ip": "10.1.0.1"}],
            "hostIP": "10.2.0.1", "hostIPs": [{"ip": "10.2.0.1"}],
            "conditions": [{"type": "Ready", "status": "True"}]},
    });
    let service = json!({
        "spec": {"type": "ClusterIP", "clusterIP": "10.96.0.1", "clusterIPs": ["10.96.0.1"],
            "internalTrafficPolicy": "Local",
            "ports": [{"name": "http", "port": 80, "targetPort": 8080, "protocol": "TCP"}]},
        "status": {"loadBalancer": {"ingress": [{"ip": "10.3.0.1"}]},
            "conditions": [{"type": "Noted", "status": "True", "lastTransitionTime": "2026-11-30T00:00:00Z"}]},
    });
    let target = json!({"kind": "Pod", "namespace": "shop", "name": "web", "uid": "u"});
    let slice = json!({
        "addressType": "IPv4",
        "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
        "endpoints": [{"addresses": ["10.1.0.1"], "hostname": "web", "nodeName": "n1",
            "zone": "z1", "conditions": {"ready": true, "serving": true, "terminating": false},
            "hints": {"forZones": [{"name": "z1"}]}, "targetRef": target}],
    });
    let condition = json!({"all": [{"method": "GET"}], "any": [{"pathRegex": "/a"}],
        "method": "get", "not": {"method": "PUT"}, "pathRegex": "/b"});
    let status = json!({"min": 500, "max": 599});
    let class = json!({"condition": {"all": [{"status": status}], "any": [{"status": status}],
        "status": status, "not": {"status": status}}, "isFailure": true});
    let profile = json!({"spec": {
        "routes": [{"name": "r", "condition": condition, "responseClasses": [class],
            "isRetryable": true, "timeout": "1s"}],
        "retryBudget": {"retryRatio": 0.2, "minRetriesPerSecond": 10, "ttl": "10s"},
        "dstOverrides": [{"authority": "a:80", "weight": "500m"}],
        "opaquePorts": ["80"]}});
    let selector = json!({"matchLabels": {"app": "web"}, "matchExpressions":
        [{"key": "app", "operator": "In", "values": ["web"]}]});
    let server = json!({"spec": {"podSelector": selector, "externalWorkloadSelector": selector,
        "port": 80, "proxyProtocol": "opaque"}});
    let workload = json!({"spec": {"workloadIPs": [{"ip": "10.1.0.9"}],
        "ports": [{"name": "http", "port": 80, "protocol": "TCP"}],
        "meshTLS": {"identity": "spiffe://vm", "serverName": "vm"}}});
    let of = |mut object: Value| {
        object["metadata"] = metadata.clone();
        object
    };
    vec![
        (FactKind::Node, of(json!({}))),
        (FactKind::ReplicaSet, of(json!({}))),
        (FactKind::Job, of(json!({}))),
        (FactKind::Pod, of(pod)),
        (FactKind::Service, of(service)),
        (FactKind::EndpointSlice, of(slice)),
        (FactKind::ServiceProfile, of(profile)),
        (FactKind::Server, of(server)),
        (FactKind::ExternalWorkload, of(workload)),
    ]
}

/// The place of every member of every object below `value`. Items of lists and values of
/// maps are left alone: the API has no list and no map with a null in it.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let at = format!("{at}/{name}");
                if !["labels", "annotations", "limits", "matchLabels"].contains(&&**name) {
                    places(member, &at, found);
                }
                found.push(at);
            }
        }
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                places(item, &format!("{at}/{place}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn null_makes_no_object_undecodable() {
    for (kind, object) in objects() {
        assert!(from_value(kind, object.clone()).is_ok(), "{kind}");
        let mut all = Vec::new();
        places(&object, "", &mut all);
        for place in all {
            let mut odd = object.clone();
            *odd.pointer_mut(&place).unwrap() = Value::Null;
            let refused = from_value(kind, odd.clone()).err();
            let undecodable = matches!(refused, Some(Unusable::Undecodable { .. }));
            assert!(!undecodable, "{kind} {place}: {refused:?}");
            assert_eq!(from_json(kind, &odd.to_string()).err(), refused);
        }
    }
}
