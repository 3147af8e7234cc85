//! Objects as Kubernetes has them, made of the choices for their knobs.

use serde_json::{Map, Value, json};

use crate::{
    service_profiles,
    universe::{ENDPOINTS, Turned},
};

/// When the objects were made; some are older.
const CREATED: &str = "2026-01-01T00:00:05Z";

pub(crate) fn node(turned: &Turned<'_>) -> Value {
    let mut node = whole(turned, "v1");
    if turned.get("zone") != "none" {
        node["metadata"]["labels"] = json!({"topology.kubernetes.io/zone": turned.get("zone")});
    }
    node
}

pub(crate) fn owner(turned: &Turned<'_>) -> Value {
    let version = match turned.slot.kind {
        "Job" => "batch/v1",
        _ => "apps/v1",
    };
    let mut object = whole(turned, version);
    object["metadata"]["ownerReferences"] = owners(turned.get("owner"));
    object
}

/// The IPv4 address that an object has unless it is turned otherwise.
fn own_ip(name: &str, namespace: &str) -> &'static str {
    match (name, namespace) {
        ("p0", "ns") => "10.0.0.1",
        ("p1", _) => "10.0.0.2",
        ("p2", _) => "10.0.0.3",
        ("p0", _) => "10.0.0.4",
        ("vm0", _) => "10.9.0.1",
        ("vm1", _) => "10.9.0.2",
        _ => "10.0.9.1",
    }
}

/// The IPv6 address beside an IPv4 one.
fn six(ip: &str) -> String {
    format!("fd00::{}", ip.replace('.', ":"))
}

pub(crate) fn pod(turned: &Turned<'_>) -> Value {
    let mut pod = whole(turned, "v1");
    let metadata = &mut pod["metadata"];
    metadata["uid"] = turned.get("uid").into();
    if turned.get("deleted") == "yes" {
        metadata["deletionTimestamp"] = CREATED.into();
    }
    metadata["ownerReferences"] = owners(turned.get("owner"));
    metadata["labels"] = texts([
        ("app", turned.get("app"), "none"),
        ("linkerd.io/control-plane-ns", turned.get("mesh"), "none"),
        ("pod-template-hash", turned.get("hash"), "none"),
    ]);
    metadata["annotations"] = texts([
        (
            "config.linkerd.io/opaque-ports",
            turned.get("opaque"),
            "absent",
        ),
        (
            "config.linkerd.io/skip-inbound-ports",
            turned.get("skip"),
            "absent",
        ),
    ]);
    pod["spec"] = pod_spec(turned);
    pod["status"] = pod_status(turned);
    pod
}

fn pod_spec(turned: &Turned<'_>) -> Value {
    let app = json!({"name": "app", "ports": container_ports(turned)});
    let mut spec = json!({"containers": [app]});
    if let Some(proxy) = proxy(turned.get("proxy")) {
        match turned.get("proxy") {
            "init" => spec["initContainers"] = json!([proxy]),
            _ => spec["containers"] = json!([app, proxy]),
        }
    }
    if turned.get("account") != "none" {
        spec["serviceAccountName"] = turned.get("account").into();
    }
    match (turned.get("node"), turned.slot.name) {
        ("none", _) => {}
        ("own", "p0") => spec["nodeName"] = "node-a".into(),
        ("own", _) => spec["nodeName"] = "node-b".into(),
        (node, _) => spec["nodeName"] = node.into(),
    }
    spec["hostNetwork"] = (turned.get("host network") == "yes").into();
    spec
}

fn container_ports(turned: &Turned<'_>) -> Value {
    match turned.get("ports") {
        "none" => json!([]),
        "web 8080" => json!([{"name": "web", "containerPort": 8080}]),
        "web 8081" => json!([{"name": "web", "containerPort": 8081}]),
        "web 8080 host 18080" => {
            json!([{"name": "web", "containerPort": 8080, "hostPort": 18080}])
        }
        "other 8080 host 18080" => {
            json!([{"name": "other", "containerPort": 8080, "hostPort": 18080}])
        }
        _ => json!([{"containerPort": 9000, "hostPort": 18080}]),
    }
}

fn proxy(choice: &str) -> Option<Value> {
    let variable = |name: &str, value: &str| json!({"name": format!("LINKERD2_PROXY_{name}_LISTEN_ADDR"), "value": value});
    let admin = match choice {
        "no admin" => variable("OTHER", "0.0.0.0:1"),
        "value from" => {
            let name = "LINKERD2_PROXY_ADMIN_LISTEN_ADDR";
            json!({"name": name, "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}})
        }
        "admin on 8080" => variable("ADMIN", "[::]:8080"),
        "none" => return None,
        _ => variable("ADMIN", "0.0.0.0:4191"),
    };
    let inbound = match choice {
        "no inbound" => variable("INBOUND", "nowhere"),
        _ => variable("INBOUND", "0.0.0.0:4143"),
    };
    let control = variable("CONTROL", "0.0.0.0:4190");
    Some(json!({"name": "linkerd-proxy", "env": [admin, inbound, control]}))
}

fn pod_status(turned: &Turned<'_>) -> Value {
    let (name, namespace) = (turned.slot.name, turned.slot.namespace);
    let ip = match turned.get("ip") {
        "own" => own_ip(name, namespace),
        "p0's" => "10.0.0.1",
        "p1's" => "10.0.0.2",
        "vm's" => "10.9.0.1",
        _ => "",
    };
    let host = match name {
        "p0" => "192.168.0.1",
        _ => "192.168.0.2",
    };
    let mut status = json!({"hostIP": host, "phase": turned.get("phase")});
    let ips = match (ip, turned.get("family")) {
        ("", _) => return status,
        (ip, "single field") => {
            status["podIP"] = ip.into();
            return status;
        }
        (ip, "dual") => vec![ip.to_owned(), six(ip)],
        (ip, "v6") => vec![six(ip)],
        (ip, _) => vec![ip.to_owned()],
    };
    status["podIP"] = ips[0].as_str().into();
    status["podIPs"] = ips.iter().map(|ip| json!({"ip": ip})).collect();
    status["hostIPs"] = json!([{"ip": host}]);
    status
}

pub(crate) fn service(turned: &Turned<'_>) -> Value {
    let mut service = whole(turned, "v1");
    let (kind, name) = (turned.get("kind"), turned.slot.name);
    service["metadata"]["annotations"] = texts([(
        "config.linkerd.io/opaque-ports",
        turned.get("opaque"),
        "absent",
    )]);
    let discovery = "multicluster.linkerd.io/remote-discovery";
    match kind {
        "federated" => service["metadata"]["annotations"][discovery] = "".into(),
        "remote" => {
            let remote = "multicluster.linkerd.io/remote-service";
            service["metadata"]["labels"] = json!({discovery: "east", remote: name});
        }
        "unnamed remote" => service["metadata"]["labels"] = json!({discovery: "east"}),
        _ => {}
    }
    service["spec"] = json!({"ports": named_ports(turned.get("ports"))});
    if turned.get("policy") != "absent" {
        service["spec"]["internalTrafficPolicy"] = turned.get("policy").into();
    }
    if kind == "ExternalName" {
        service["spec"]["type"] = kind.into();
        service["spec"]["externalName"] = "example.org".into();
        return service;
    }
    let own = match name {
        "web" => "10.96.0.1",
        _ => "10.96.0.2",
    };
    let ips = match turned.get("ip") {
        "shared" => json!(["10.96.0.3"]),
        "None" => json!(["None"]),
        "two" => json!([own, six(own)]),
        "single field" => json!([]),
        _ => json!([own]),
    };
    service["spec"]["clusterIPs"] = ips.clone();
    service["spec"]["clusterIP"] = ips.get(0).cloned().unwrap_or_else(|| own.into());
    service
}

/// `http 80, admin 443`: names with numbers; ` 80` has no name.
fn named_ports(text: &str) -> Value {
    let ports = text.split(", ").filter_map(|port| port.split_once(' '));
    let ports = ports.map(|(name, number)| match (name, number.parse::<u16>()) {
        ("", Ok(number)) => json!({"port": number}),
        (name, Ok(number)) => json!({"name": name, "port": number}),
        // Every port, which is nothing that could be asked for.
        (name, Err(_)) => json!({"name": name}),
    });
    ports.collect()
}

pub(crate) fn server(turned: &Turned<'_>) -> Value {
    let mut server = whole(turned, "policy.linkerd.io/v1beta3");
    let port: Value = match turned.get("port") {
        "zero" => 0.into(),
        port => port.parse::<u16>().map_or_else(|_| port.into(), Into::into),
    };
    server["spec"] = json!({"port": port});
    if turned.get("protocol") != "absent" {
        server["spec"]["proxyProtocol"] = turned.get("protocol").into();
    }
    let is = |operator: &str, key: &str, values: &[&str]| json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]});
    let mut select = |field: &str, choice: &str| {
        server["spec"][field] = match choice {
            "app web" => json!({"matchLabels": {"app": "web"}}),
            "vm a" => json!({"matchLabels": {"vm": "a"}}),
            "all" => json!({}),
            "app in api web" => is("In", "app", &["api", "web"]),
            "app exists not" => is("DoesNotExist", "app", &[]),
            "vm not a" => is("NotIn", "vm", &["a"]),
            "nonsense" => is("Nearly", "app", &["web"]),
            _ => return,
        }
    };
    select("podSelector", turned.get("pods"));
    select("externalWorkloadSelector", turned.get("externals"));
    server
}

pub(crate) fn external(turned: &Turned<'_>) -> Value {
    let mut external = whole(turned, "workload.linkerd.io/v1beta1");
    let metadata = &mut external["metadata"];
    metadata["labels"] = json!({"vm": turned.get("vm")});
    metadata["ownerReferences"] = owners(turned.get("owner"));
    metadata["annotations"] = texts([(
        "config.linkerd.io/opaque-ports",
        turned.get("opaque"),
        "absent",
    )]);
    let own = own_ip(turned.slot.name, "ns");
    let ips = match turned.get("ip") {
        "shared" => json!([{"ip": "10.9.0.3"}]),
        "dual" => json!([{"ip": own}, {"ip": six(own)}]),
        "p0's" => json!([{"ip": "10.0.0.1"}]),
        _ => json!([{"ip": own}]),
    };
    let identity = match turned.get("identity") {
        "none" => json!({}),
        _ => json!({"identity": "spiffe://vms.example/vm", "serverName": "vm.cluster.local"}),
    };
    let ports = named_ports(turned.get("ports"));
    external["spec"] = json!({"meshTLS": identity, "workloadIPs": ips, "ports": ports});
    external
}

pub(crate) fn profile(turned: &Turned<'_>) -> Value {
    let mut profile = whole(turned, "linkerd.io/v1alpha2");
    profile["spec"] = service_profiles::spec(turned.get("says"));
    profile
}

pub(crate) fn slice(turned: &Turned<'_>) -> Value {
    let mut slice = whole(turned, "discovery.k8s.io/v1");
    let name = turned.slot.name;
    let created = match (turned.get("created"), name) {
        ("own", "a") => "5",
        ("own", "b") => "6",
        ("own", _) => "7",
        (second, _) => second,
    };
    slice["metadata"]["creationTimestamp"] = format!("2026-01-01T00:00:0{created}Z").into();
    put_service(&mut slice, turned.get("service"));
    put_mirror(&mut slice, turned.get("mirror"));
    let family = match (turned.get("type"), name) {
        ("own", "six") => "IPv6",
        ("own", _) => "IPv4",
        (family, _) => family,
    };
    slice["addressType"] = family.into();
    if turned.get("ports") != "absent" {
        slice["ports"] = named_ports(turned.get("ports"));
    }
    let endpoints = (0..ENDPOINTS).filter_map(|number| endpoint(turned, number, family));
    slice["endpoints"] = endpoints.collect();
    slice
}

fn put_service(slice: &mut Value, choice: &str) {
    let label = "kubernetes.io/service-name";
    let metadata = &mut slice["metadata"];
    match choice {
        "label web" => metadata["labels"] = json!({label: "web"}),
        "label api" => metadata["labels"] = json!({label: "api"}),
        "owner web" => metadata["ownerReferences"] = owners("Service/web"),
        "none" => {}
        _ => {
            metadata["labels"] = json!({label: ""});
            metadata["ownerReferences"] = owners("Service/web");
        }
    }
}

fn put_mirror(slice: &mut Value, choice: &str) {
    let metadata = &mut slice["metadata"];
    if matches!(choice, "identity" | "all") {
        metadata["annotations"]["mirror.linkerd.io/remote-gateway-identity"] =
            "gateway.east".into();
    }
    if matches!(choice, "service" | "all") {
        let service = "web.prod.svc.east.local";
        metadata["annotations"]["mirror.linkerd.io/remote-svc-fq-name"] = service.into();
    }
    if matches!(choice, "cluster" | "all") {
        metadata["labels"]["mirror.linkerd.io/cluster-name"] = "east".into();
    }
}

fn endpoint(turned: &Turned<'_>, number: usize, family: &str) -> Option<Value> {
    let get = |name: &str| turned.get(&format!("e{number} {name}"));
    let target = match (get("target"), number) {
        ("own", 0) => "p0",
        ("own", 1) => "p1",
        ("own", _) => "vm0",
        ("absent", _) => return None,
        (target, _) => target,
    };
    let mut endpoint = json!({"addresses": addresses(get("addresses"), target, family)});
    if let Some(reference) = target_ref(target) {
        endpoint["targetRef"] = reference;
    }
    let conditions = match get("ready") {
        "yes" => json!({"ready": true, "serving": true, "terminating": false}),
        "no" => json!({"ready": false, "serving": false, "terminating": false}),
        "absent" => Value::Null,
        "leaving" => json!({"ready": false, "serving": true, "terminating": true}),
        _ => json!({"ready": true, "serving": true, "terminating": true}),
    };
    endpoint["conditions"] = conditions;
    if get("hostname") != "none" {
        endpoint["hostname"] = get("hostname").into();
    }
    if get("zone") != "none" {
        endpoint["zone"] = get("zone").into();
    }
    let hint = match get("hints") {
        "all" => turned.get("all hints"),
        hint => hint,
    };
    if hint != "absent" {
        endpoint["hints"] = hints(hint);
    }
    Some(endpoint)
}

fn hints(choice: &str) -> Value {
    let named = |prefix: &str| -> Value {
        let names = choice.split(' ').filter(|name| name.starts_with(prefix));
        names.map(|name| json!({"name": name})).collect()
    };
    json!({"forZones": named("z"), "forNodes": named("node")})
}

fn target_ref(target: &str) -> Option<Value> {
    let pod =
        |namespace: &str, name: &str| json!({"kind": "Pod", "namespace": namespace, "name": name});
    let external =
        |name: &str| json!({"kind": "ExternalWorkload", "namespace": "elsewhere", "name": name});
    Some(match target {
        "none" => return None,
        "empty" => json!({}),
        "other p0" => pod("other", "p0"),
        "vm0" | "vm1" => external(target),
        "Foo" => json!({"kind": "Foo", "namespace": "ns", "name": "p0"}),
        "p0 of another uid" => {
            let mut reference = pod("ns", "p0");
            reference["uid"] = "second".into();
            reference
        }
        "p0 without namespace" => json!({"kind": "Pod", "name": "p0"}),
        name => pod("ns", name),
    })
}

fn addresses(choice: &str, target: &str, family: &str) -> Vec<String> {
    let own = match target {
        "other p0" => own_ip("p0", "other"),
        "p0 of another uid" | "p0 without namespace" => own_ip("p0", "ns"),
        name => own_ip(name, "ns"),
    };
    let of_family = |ip: &str| match family {
        "IPv6" => six(ip),
        _ => ip.to_owned(),
    };
    match choice {
        "target's" => vec![of_family(own)],
        "p0's" => vec![of_family(own_ip("p0", "ns"))],
        "two" => vec![of_family("10.0.9.8"), of_family(own)],
        "bad" => vec!["nowhere.example".to_owned()],
        "other family" if family == "IPv6" => vec![own.to_owned()],
        "other family" => vec![six(own)],
        ip => vec![of_family(ip)],
    }
}

fn owners(choice: &str) -> Value {
    let reference = |kind: &str, name: &str| json!({"apiVersion": "v1", "kind": kind, "name": name, "uid": "u"});
    match choice.split_once('/') {
        Some((kind, name)) => json!([reference(kind, name)]),
        None if choice == "two" => json!([reference("Foo", "a"), reference("Bar", "b")]),
        None => json!([]),
    }
}

/// Those of the texts that are not the one which means none.
fn texts<const N: usize>(texts: [(&str, &str, &str); N]) -> Value {
    let given = texts.into_iter().filter(|(_, text, none)| text != none);
    let given: Map<String, Value> = given
        .map(|(key, text, _)| (key.to_owned(), text.into()))
        .collect();
    Value::Object(given)
}

fn whole(turned: &Turned<'_>, api_version: &str) -> Value {
    let slot = turned.slot;
    let mut metadata = json!({"name": slot.name, "creationTimestamp": CREATED});
    if !slot.namespace.is_empty() {
        metadata["namespace"] = slot.namespace.into();
    }
    json!({"apiVersion": api_version, "kind": slot.kind, "metadata": metadata})
}
