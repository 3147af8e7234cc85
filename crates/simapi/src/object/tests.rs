//! What is stamped, filled in, kept, refused and merged.

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::clock::UnixSeconds;
use crate::kind::Kind;
use crate::refusal::Refusal;
use crate::store::{ObjectKey, Store};

const NOW: UnixSeconds = UnixSeconds(1_000_000_000);

fn kind(name: &str) -> &'static Kind {
    Kind::named(name).unwrap()
}

fn store() -> Store {
    let mut store = Store::new(1_000);
    let namespace = json!({"metadata": {"name": "shop"}});
    create(&mut store, kind("Namespace"), "", namespace, NOW).unwrap();
    store
}

fn made(store: &mut Store, kind_name: &str, body: Value) -> Result<Arc<Value>, Refusal> {
    create(store, kind(kind_name), "shop", body, NOW)
}

fn target(kind_name: &str, name: &str, part: Part) -> Target {
    Target {
        kind: kind(kind_name),
        key: ObjectKey::new("shop", name),
        part,
    }
}

fn service(name: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}})
}

fn object(written: Written) -> Arc<Value> {
    match written {
        Written::Created(object) | Written::Updated(object) => object,
    }
}

#[test]
fn a_new_service_is_stamped_and_filled_in() {
    let mut store = store();
    let service = made(&mut store, "Service", service("web")).unwrap();
    assert_eq!(
        *service,
        json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {
                "name": "web",
                "namespace": "shop",
                "uid": "00000000-0000-4000-8000-000000000002",
                "creationTimestamp": "2001-09-09T01:46:40Z",
                "resourceVersion": "3",
            },
            "spec": {
                "type": "ClusterIP",
                "clusterIP": "10.111.0.4",
                "clusterIPs": ["10.111.0.4"],
                "ipFamilies": ["IPv4"],
                "ipFamilyPolicy": "SingleStack",
                "internalTrafficPolicy": "Cluster",
                "sessionAffinity": "None",
                "ports": [{"port": 80, "targetPort": 80, "protocol": "TCP"}],
            },
            "status": {"loadBalancer": {}},
        })
    );
}

#[test]
fn a_service_keeps_its_address_and_its_node_ports() {
    let mut store = store();
    let mut body = service("web");
    body["spec"]["type"] = json!("NodePort");
    let first = made(&mut store, "Service", body.clone()).unwrap();
    let target = target("Service", "web", Part::Main);
    let second = object(replace(&mut store, &target, body.clone(), NOW).unwrap());
    assert_eq!(first, second, "an update that changes nothing is none");
    body["spec"]["clusterIP"] = json!("10.96.9.9");
    let refusal = replace(&mut store, &target, body, NOW).unwrap_err();
    assert_eq!(
        refusal.message,
        "Service \"web\" is invalid: spec.clusterIPs[0]: Invalid value: [\"10.96.9.9\"]: may not \
         change once set"
    );
}

#[test]
fn a_service_of_two_families_has_two_addresses_and_keeps_them() {
    let mut store = store();
    let mut body = service("web");
    body["spec"]["ipFamilyPolicy"] = "PreferDualStack".into();
    let made = made(&mut store, "Service", body.clone()).unwrap();
    let addresses = json!(["10.111.0.4", "fd00:96::f:4"]);
    assert_eq!(made["spec"]["clusterIPs"], addresses);
    assert_eq!(made["spec"]["ipFamilies"], json!(["IPv4", "IPv6"]));
    let target = target("Service", "web", Part::Main);
    let kept = object(replace(&mut store, &target, body, NOW).unwrap());
    assert_eq!(kept["spec"]["clusterIPs"], addresses);
}

#[test]
fn a_headless_service_without_selector_has_both_families() {
    let mut store = store();
    let families = |store: &mut Store, name: &str, selector: Value| {
        let spec = json!({"clusterIP": "None", "selector": selector});
        let body = json!({"metadata": {"name": name}, "spec": spec});
        made(store, "Service", body).unwrap()["spec"]["ipFamilies"].clone()
    };
    let both = json!(["IPv4", "IPv6"]);
    assert_eq!(families(&mut store, "a", Value::Null), both);
    assert_eq!(
        families(&mut store, "b", json!({"app": "b"})),
        json!(["IPv4"])
    );
}

#[test]
fn of_a_custom_object_only_the_type_of_its_spec_is_judged() {
    let mut store = store();
    let mut put = |spec: Value| {
        let body = json!({"metadata": {"name": "web"}, "spec": spec});
        made(&mut store, "ServiceProfile", body).map_err(|refusal| refusal.message)
    };
    for (spec, found) in [
        (json!("no"), "string"),
        (json!(true), "boolean"),
        (json!(1), "integer"),
        (json!(1.5), "number"),
        (json!([]), "array"),
    ] {
        let expected = format!(
            "ServiceProfile.linkerd.io \"web\" is invalid: spec: Invalid value: \"{found}\": \
             spec in body must be of type object: \"{found}\""
        );
        assert_eq!(put(spec), Err(expected));
    }
    let odd = json!({"routes": [{"condition": {"all": [{"method": 5}]}}], "x": null});
    assert_eq!(put(odd.clone()).unwrap()["spec"], odd);
}

#[test]
fn no_two_services_get_one_address() {
    let mut store = store();
    let first = made(&mut store, "Service", service("web")).unwrap();
    let address = first["spec"]["clusterIP"].clone();
    let mut second = service("api");
    second["spec"]["clusterIP"] = address.clone();
    let refusal = made(&mut store, "Service", second).unwrap_err();
    let address = address.as_str().unwrap();
    assert_eq!(
        refusal.message,
        format!(
            "Service \"api\" is invalid: spec.clusterIPs: Invalid value: [{address:?}]: failed \
             to allocate IP {address}: provided IP is already allocated"
        )
    );
}

#[test]
fn the_status_is_written_by_its_subresource_only() {
    let mut store = store();
    let pod = json!({
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
        "status": {"phase": "Running"},
    });
    let made = made(&mut store, "Pod", pod.clone()).unwrap();
    assert_eq!(made["status"], json!({"phase": "Pending"}));
    let main = target("Pod", "a", Part::Main);
    let kept = object(replace(&mut store, &main, pod.clone(), NOW).unwrap());
    assert_eq!(kept["status"], json!({"phase": "Pending"}));
    let change = Patch::Merge(json!({
        "metadata": {"labels": {"x": "y"}},
        "status": {"phase": "Running", "podIP": "10.0.0.1"},
    }));
    let status = target("Pod", "a", Part::Status);
    let running = object(patch(&mut store, &status, &change, NOW).unwrap());
    assert_eq!(
        running["status"],
        json!({"phase": "Running", "podIP": "10.0.0.1"})
    );
    assert_eq!(running["metadata"]["labels"], Value::Null);
    assert_eq!(running["metadata"]["generation"], json!(1));
    let node = json!({"metadata": {"name": "n"}, "status": {"addresses": []}});
    let node = create(&mut store, kind("Node"), "", node, NOW).unwrap();
    assert_eq!(node["status"], json!({"addresses": []}));
}

#[test]
fn the_generation_counts_changes_of_content() {
    let mut store = store();
    let slice = json!({
        "metadata": {"name": "web-1"},
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.0.0.1"]}],
        "ports": [{"port": 80}],
    });
    made(&mut store, "EndpointSlice", slice).unwrap();
    let target = target("EndpointSlice", "web-1", Part::Main);
    let mut generation = |change: Value| {
        let stored = object(patch(&mut store, &target, &Patch::Merge(change), NOW).unwrap());
        stored["metadata"]["generation"].as_u64().unwrap()
    };
    assert_eq!(
        generation(json!({"metadata": {"annotations": {"a": "b"}}})),
        1
    );
    assert_eq!(generation(json!({"metadata": {"labels": {"a": "b"}}})), 2);
    assert_eq!(generation(json!({"endpoints": []})), 3);
    let key = ObjectKey::new("shop", "web-1");
    let slice = store.find(kind("EndpointSlice"), &key).unwrap();
    assert_eq!(
        slice["endpoints"],
        Value::Null,
        "an empty list is written as null"
    );
}

#[test]
fn a_stale_update_is_a_conflict() {
    let mut store = store();
    let first = made(&mut store, "Service", service("web")).unwrap();
    let target = target("Service", "web", Part::Main);
    let change = Patch::Merge(json!({"spec": {"ports": [{"port": 81}]}}));
    patch(&mut store, &target, &change, NOW).unwrap();
    let refusal = replace(&mut store, &target, Value::clone(&first), NOW).unwrap_err();
    assert_eq!((refusal.code, refusal.reason), (409, "Conflict"));
    assert_eq!(
        refusal.message,
        "Operation cannot be fulfilled on services \"web\": the object has been modified; please \
         apply your changes to the latest version and try again"
    );
}

#[test]
fn only_some_kinds_are_created_by_an_update() {
    let mut store = store();
    let put = |store: &mut Store, kind: &str, body: Value| {
        replace(store, &target(kind, "web", Part::Main), body, NOW)
    };
    let created = put(&mut store, "Service", service("web")).unwrap();
    assert!(matches!(created, Written::Created(_)));
    let refusal = put(&mut store, "Pod", json!({"metadata": {"name": "web"}})).unwrap_err();
    assert_eq!(refusal.message, "pods \"web\" not found");
    let server = json!({"metadata": {"name": "web"}, "spec": {"port": 1}});
    made(&mut store, "Server", server.clone()).unwrap();
    assert_eq!(
        put(&mut store, "Server", server).unwrap_err().message,
        "Server.policy.linkerd.io \"web\" is invalid: metadata.resourceVersion: Invalid value: \
         0: must be specified for an update"
    );
}

#[test]
fn an_apply_creates_and_then_merges() {
    let mut store = store();
    let apply = |store: &mut Store, name: &str, body: Value| {
        patch(
            store,
            &target("Service", name, Part::Main),
            &Patch::Apply(body),
            NOW,
        )
    };
    assert!(matches!(
        apply(&mut store, "web", service("web")),
        Ok(Written::Created(_))
    ));
    let labels = json!({"metadata": {"name": "web", "labels": {"a": "b"}}});
    let merged = object(apply(&mut store, "web", labels).unwrap());
    assert_eq!(merged["metadata"]["labels"], json!({"a": "b"}));
    assert_eq!(merged["spec"]["ports"][0]["port"], json!(80));
    assert_eq!(
        apply(&mut store, "api", service("web"))
            .unwrap_err()
            .message,
        "the name of the object (web) does not match the name on the URL (api)"
    );
    let merge = Patch::Merge(json!({}));
    let target = target("Service", "none", Part::Main);
    let refusal = patch(&mut store, &target, &merge, NOW).unwrap_err();
    assert_eq!(refusal.message, "services \"none\" not found");
}

/// Kind, body, code and message.
type Case = (&'static str, Value, u16, &'static str);

fn each_is_refused(cases: impl IntoIterator<Item = Case>) {
    let mut store = store();
    made(&mut store, "Service", service("taken")).unwrap();
    for (kind, body, code, message) in cases {
        let refusal = made(&mut store, kind, body).unwrap_err();
        assert_eq!((refusal.code, refusal.message.as_str()), (code, message));
    }
}

#[test]
fn bodies_of_the_wrong_shape_are_refused() {
    let named =
        |name: &str, field: &str, value: &str| json!({"metadata": {"name": name, field: value}});
    each_is_refused([
        (
            "Service",
            json!(5),
            400,
            "Service in version \"v1\" cannot be handled as a Service: json: cannot unmarshal \
             number into an object",
        ),
        (
            "Service",
            json!({"kind": "Pod"}),
            400,
            "Pod in version \"v1\" cannot be handled as a Service",
        ),
        (
            "Service",
            json!({"apiVersion": "v2"}),
            400,
            "Service in version \"v2\" cannot be handled as a Service: no kind \"Service\" is registered \
             for version \"v2\"",
        ),
        (
            "Service",
            json!({"spec": "x"}),
            400,
            "Service in version \"v1\" cannot be handled as a Service: json: cannot unmarshal \
             string into Go struct field Service.spec of type v1.ServiceSpec",
        ),
        (
            "Service",
            named("web", "namespace", "other"),
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            "Service",
            named("web", "resourceVersion", "4"),
            500,
            "resourceVersion should not be set on objects to be created",
        ),
        (
            "Service",
            service("taken"),
            409,
            "services \"taken\" already exists",
        ),
    ]);
}

#[test]
fn services_that_break_the_rules_are_refused() {
    let spec = |spec: Value| json!({"metadata": {"name": "web"}, "spec": spec});
    each_is_refused([
        (
            "Service",
            service("Web"),
            422,
            "Service \"Web\" is invalid: metadata.name: Invalid value: \"Web\": a lowercase RFC \
             1123 label must consist of lower case alphanumeric characters or '-', and must \
             start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex \
             used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        ),
        (
            "Service",
            json!({"spec": {"ports": [{"port": 80}]}}),
            422,
            "Service \"\" is invalid: metadata.name: Required value: name or generateName is \
             required",
        ),
        (
            "Service",
            spec(json!({})),
            422,
            "Service \"web\" is invalid: spec.ports: Required value",
        ),
        (
            "Service",
            spec(json!({"ports": [{"port": 70_000}]})),
            422,
            "Service \"web\" is invalid: [spec.ports[0].port: Invalid value: 70000: must be \
             between 1 and 65535, inclusive, spec.ports[0].targetPort: Invalid value: 70000: must \
             be between 1 and 65535, inclusive]",
        ),
        (
            "Service",
            spec(json!({"ports": [{"port": 1, "name": "a"}, {"port": 2}]})),
            422,
            "Service \"web\" is invalid: spec.ports[1].name: Required value",
        ),
        (
            "Service",
            spec(json!({"type": "Magic", "ports": [{"port": 1}]})),
            422,
            "Service \"web\" is invalid: spec.type: Unsupported value: \"Magic\": supported \
             values: \"ClusterIP\", \"ExternalName\", \"LoadBalancer\", \"NodePort\"",
        ),
    ]);
}

#[test]
fn slices_and_pods_that_break_the_rules_are_refused() {
    let slice = |address_type: &str, endpoint: Value| json!({"metadata": {"name": "s"}, "addressType": address_type, "endpoints": [endpoint]});
    each_is_refused([
        (
            "EndpointSlice",
            json!({"metadata": {"name": "s"}}),
            422,
            "EndpointSlice.discovery.k8s.io \"s\" is invalid: addressType: Required value",
        ),
        (
            "EndpointSlice",
            slice("IPv5", json!({"addresses": ["a"]})),
            422,
            "EndpointSlice.discovery.k8s.io \"s\" is invalid: addressType: Unsupported value: \
             \"IPv5\": supported values: \"FQDN\", \"IPv4\", \"IPv6\"",
        ),
        (
            "EndpointSlice",
            slice("IPv4", json!({"addresses": ["::1"]})),
            422,
            "EndpointSlice.discovery.k8s.io \"s\" is invalid: [endpoints[0].addresses: Invalid \
             value: \"::1\": must be an IPv4 address, endpoints[0].addresses[0]: Invalid value: \
             \"::1\": may not be in the loopback range (127.0.0.0/8, ::1/128)]",
        ),
        (
            "EndpointSlice",
            slice("IPv4", json!({})),
            422,
            "EndpointSlice.discovery.k8s.io \"s\" is invalid: endpoints[0].addresses: Required \
             value: must contain at least 1 address",
        ),
        (
            "Pod",
            json!({"metadata": {"name": "a"}}),
            422,
            "Pod \"a\" is invalid: spec.containers: Required value",
        ),
    ]);
}

#[test]
fn addresses_that_mean_something_else_everywhere_are_refused() {
    for (address_type, address, rule) in [
        ("IPv4", "0.0.0.0", "unspecified (0.0.0.0)"),
        (
            "IPv4",
            "127.0.0.1",
            "in the loopback range (127.0.0.0/8, ::1/128)",
        ),
        (
            "IPv4",
            "169.254.1.1",
            "in the link-local range (169.254.0.0/16, fe80::/10)",
        ),
        (
            "IPv6",
            "fe80::1",
            "in the link-local range (169.254.0.0/16, fe80::/10)",
        ),
        (
            "IPv4",
            "224.0.0.9",
            "in the link-local multicast range (224.0.0.0/24, ff02::/10)",
        ),
        (
            "IPv6",
            "ff02::1",
            "in the link-local multicast range (224.0.0.0/24, ff02::/10)",
        ),
    ] {
        let slice = json!({
            "metadata": {"name": "s"},
            "addressType": address_type,
            "endpoints": [{"addresses": [address]}],
        });
        let refusal = made(&mut store(), "EndpointSlice", slice).unwrap_err();
        assert_eq!(
            refusal.message,
            format!(
                "EndpointSlice.discovery.k8s.io \"s\" is invalid: endpoints[0].addresses[0]: \
                 Invalid value: \"{address}\": may not be {rule}"
            )
        );
    }
}

#[test]
fn a_namespace_must_exist() {
    let refusal = create(&mut store(), kind("Service"), "void", service("web"), NOW).unwrap_err();
    assert_eq!(
        (refusal.code, refusal.message.as_str()),
        (404, "namespaces \"void\" not found")
    );
}

#[test]
fn a_name_may_be_generated() {
    let mut store = store();
    let body = json!({"metadata": {"generateName": "web-"}, "addressType": "IPv4"});
    let mut name = || {
        let made = made(&mut store, "EndpointSlice", body.clone()).unwrap();
        made["metadata"]["name"].as_str().unwrap().to_owned()
    };
    let (first, second) = (name(), name());
    assert_ne!(first, second);
    assert_eq!(
        (first.len(), first.starts_with("web-")),
        (9, true),
        "{first}"
    );
}

fn bound_pod(store: &mut Store) -> ObjectKey {
    let spec = json!({"nodeName": "n1", "containers": [{"name": "c", "image": "i"}]});
    made(
        store,
        "Pod",
        json!({"metadata": {"name": "a"}, "spec": spec}),
    )
    .unwrap();
    ObjectKey::new("shop", "a")
}

#[test]
fn a_pod_on_a_node_is_marked_first_and_removed_without_grace() {
    let mut store = store();
    let key = bound_pod(&mut store);
    let mut end = |grace| {
        delete(
            &mut store,
            (kind("Pod"), &key),
            grace,
            &Preconditions::default(),
            NOW,
        )
        .unwrap()
    };
    let Deletion::Waiting(marked) = end(None) else {
        panic!("removed at once")
    };
    assert_eq!(
        marked["metadata"]["deletionTimestamp"],
        json!("2001-09-09T01:47:10Z")
    );
    assert_eq!(marked["metadata"]["deletionGracePeriodSeconds"], json!(30));
    assert_eq!(marked["metadata"]["generation"], json!(2));
    assert_eq!(
        end(Some(60)),
        Deletion::Waiting(Arc::clone(&marked)),
        "only shorter counts"
    );
    let Deletion::Waiting(sooner) = end(Some(5)) else {
        panic!("removed at once")
    };
    assert_eq!(sooner["metadata"]["deletionGracePeriodSeconds"], json!(5));
    let Deletion::Removed(last) = end(Some(0)) else {
        panic!("still there")
    };
    assert_eq!(last["metadata"]["deletionGracePeriodSeconds"], json!(0));
    let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
    assert_eq!(
        (version(&sooner), version(&last)),
        (json!("5"), json!("7")),
        "marked, then gone"
    );
}

#[test]
fn an_object_goes_with_its_last_finalizer() {
    let mut store = store();
    let body = json!({"metadata": {"name": "web", "finalizers": ["x/y"]}});
    made(&mut store, "ConfigMap", body).unwrap();
    let key = ObjectKey::new("shop", "web");
    let none = Preconditions::default();
    let ended = delete(&mut store, (kind("ConfigMap"), &key), None, &none, NOW).unwrap();
    assert!(matches!(ended, Deletion::Waiting(_)));
    let release = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    patch(
        &mut store,
        &target("ConfigMap", "web", Part::Main),
        &release,
        NOW,
    )
    .unwrap();
    assert_eq!(store.find(kind("ConfigMap"), &key), None);
}

#[test]
fn a_deletion_may_insist_on_one_object() {
    let mut store = store();
    made(&mut store, "Service", service("web")).unwrap();
    let key = ObjectKey::new("shop", "web");
    let other = Preconditions {
        uid: Some("other".to_owned()),
        resource_version: None,
    };
    let refusal = delete(&mut store, (kind("Service"), &key), None, &other, NOW).unwrap_err();
    assert_eq!(
        refusal.message,
        "Operation cannot be fulfilled on services \"web\": the UID in the precondition (other) does \
         not match the UID in record (00000000-0000-4000-8000-000000000002). The object might have \
         been deleted and then recreated"
    );
}

#[test]
fn what_is_applied_whole_is_stored_whole() {
    let mut store = store();
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "a", "namespace": "new", "uid": "own"},
        "spec": "not even an object", "status": {"podIP": "10.0.0.1"},
    });
    let stored = apply_whole(&mut store, kind("Pod"), pod.clone(), NOW);
    assert_eq!(stored["spec"], json!("not even an object"));
    assert_eq!(stored["status"], json!({"podIP": "10.0.0.1"}));
    assert_eq!(stored["metadata"]["uid"], json!("own"));
    assert!(
        store
            .find(kind("Namespace"), &ObjectKey::new("", "new"))
            .is_some()
    );
    let revision = store.revision();
    assert_eq!(apply_whole(&mut store, kind("Pod"), pod, NOW), stored);
    assert_eq!(store.revision(), revision, "the same again changes nothing");
}
