//! The profile of a name or an address (B2 to B6), and what is left of one on a stream that
//! is open when what it is about goes away.

use serde_json::{Value, json};
use std::net::{IpAddr, SocketAddr};

use super::{
    Asked, Host, Oracle, bare, name, namespace,
    ports::{is_default, is_listed, of_spec},
    reading::{ips, list, port, text},
};
use crate::service_profiles;

/// What may be said, or why a stream is refused.
pub(crate) type Profiles = Result<Vec<Value>, &'static str>;

const SHARED: &str = "FAILED_PRECONDITION";

impl Oracle {
    /// The profile that a new stream is told.
    pub(crate) fn profile(&self, asked: &Asked, token: &str) -> Profiles {
        self.profile_for(asked, token, &Value::Null)
    }

    /// The profile that a client has after a look at these objects, which was told `held`
    /// on the same stream.
    pub(crate) fn profile_after(&self, asked: &Asked, token: &str, held: &Value) -> Vec<Value> {
        match self.profile_for(asked, token, held) {
            Ok(right) => right,
            Err("NOT_FOUND") => vec![self.left_of(asked, token, held)],
            // What a new stream would be refused for leaves the last profile in force.
            Err(_) => vec![held.clone()],
        }
    }

    fn profile_for(&self, asked: &Asked, token: &str, held: &Value) -> Profiles {
        match &asked.host {
            Host::Ip(ip) => self.of_ip(*ip, asked.port, token, held),
            Host::Service {
                namespace,
                name,
                hostname: None,
            } => {
                let service = self.find("Service", namespace, name).ok_or("NOT_FOUND")?;
                self.of_service(service, asked.port, token)
            }
            Host::Service {
                namespace,
                name,
                hostname: Some(hostname),
            } => self.of_hostname((namespace, name), hostname, asked.port),
        }
    }

    fn of_service(&self, service: &Value, requested: u16, token: &str) -> Profiles {
        let named = of_spec(service);
        if !named.iter().any(|it| it.port == requested) {
            return Ok(vec![json!({})]);
        }
        if text(service, "/spec/type") == "ExternalName" {
            return Err("INVALID_ARGUMENT");
        }
        let opaque = is_listed(service, &named, requested);
        let id = (namespace(service), name(service));
        Ok(vec![self.service_message(id, requested, token, opaque)])
    }

    fn service_message(
        &self,
        (in_namespace, service): (&str, &str),
        requested: u16,
        token: &str,
        opaque: bool,
    ) -> Value {
        let full = format!("{service}.{in_namespace}.svc.cluster.local");
        let token: Value = serde_json::from_str(token).unwrap_or_default();
        let mut candidates = [text(&token, "/ns"), in_namespace].into_iter();
        let chosen = candidates.find_map(|candidate| {
            let found = self.find("ServiceProfile", candidate, &full)?;
            Some((candidate, service_profiles::told(&found["spec"])?))
        });
        let (reference, said) = match chosen {
            Some((candidate, said)) => {
                let kind = "ServiceProfile";
                let id = json!({"kind": kind, "name": full, "namespace": candidate});
                (id, said)
            }
            None => {
                let budget = default_budget();
                (json!({}), json!({"retry_budget": budget}))
            }
        };
        let mut message = said;
        message["fully_qualified_name"] = full.into();
        if opaque {
            message["opaque_protocol"] = true.into();
        }
        message["parent_ref"] = json!({"resource": {
            "group": "core", "kind": "Service", "name": service, "namespace": in_namespace,
            "port": requested,
        }});
        message["profile_ref"] = json!({"resource": reference});
        message["profile_ref"]["resource"]["group"] = "linkerd.io".into();
        message
    }

    fn of_ip(&self, ip: IpAddr, requested: u16, token: &str, held: &Value) -> Profiles {
        let services = self.all("Service").iter();
        let services: Vec<_> = services
            .filter(|it| cluster_ips(it).contains(&ip))
            .collect();
        match services.as_slice() {
            [] => {}
            [service] => return self.of_service(service, requested, token),
            _ => return Err(SHARED),
        }
        let address = SocketAddr::new(ip, requested);
        let at_ip = |pod: &Value| pod["spec"]["hostNetwork"] != true && pod_ips(pod).contains(&ip);
        let at_host = |pod: &Value| {
            let host_ips = ips(pod, "/status/hostIPs", "/status/hostIP");
            host_ips.contains(&ip) && host_ports(pod).contains(&requested)
        };
        for has in [&at_ip as &dyn Fn(&Value) -> bool, &at_host] {
            let pods = self
                .all("Pod")
                .iter()
                .filter(|it| has(it) && !is_finished(it));
            let (live, leaving): (Vec<_>, Vec<_>) = pods.partition(|pod| is_live(pod));
            match live.as_slice() {
                [] => {}
                [pod] => return Ok(vec![self.pod_message(pod, address)]),
                _ => return Err(SHARED),
            }
            // A stream that was told of a pod keeps it until it is gone or replaced, or
            // nothing can be said of it.
            let mut kept = leaving.into_iter().filter(|pod| is_told_of(held, pod));
            let message = kept.find_map(|pod| {
                let message = self.pod_message(pod, address);
                (message != bare_message(address)).then_some(message)
            });
            if let Some(message) = message {
                return Ok(vec![message]);
            }
        }
        let external = self.all("ExternalWorkload").iter().filter(|it| {
            ips(it, "/spec/workloadIPs", "/none").contains(&ip)
                && of_spec(it).iter().any(|port| port.port == requested)
        });
        match external.collect::<Vec<_>>().as_slice() {
            [] => Ok(vec![bare_message(address)]),
            [workload] => Ok(vec![self.external_message(workload, address)]),
            _ => Err(SHARED),
        }
    }

    fn of_hostname(&self, service: (&str, &str), hostname: &str, port: u16) -> Profiles {
        let mut found = Vec::new();
        for slice in self.slices_of(service.0, service.1) {
            let endpoints = list(slice, "/endpoints").iter();
            let named = endpoints.filter(|it| text(it, "/hostname") == hostname);
            for endpoint in named.filter(|it| text(it, "/targetRef/kind") == "Pod") {
                let Some(pod) = self.pod_of(endpoint) else {
                    continue;
                };
                if !has_address_of(slice, endpoint) || is_finished(pod) {
                    continue;
                }
                found.extend(pod_ips(pod).first().map(|ip| (pod, *ip)));
            }
        }
        let is_any_live = found.iter().any(|(pod, _)| is_live(pod));
        let may = found.iter().filter(|(pod, _)| is_live(pod) || !is_any_live);
        let may = may.map(|(pod, ip)| self.pod_message(pod, SocketAddr::new(*ip, port)));
        let may: Vec<Value> = may.collect();
        if may.is_empty() {
            Err("NOT_FOUND")
        } else {
            Ok(may)
        }
    }

    fn pod_of(&self, endpoint: &Value) -> Option<&Value> {
        let reference = &endpoint["targetRef"];
        let (in_namespace, named) = (text(reference, "/namespace"), text(reference, "/name"));
        let pod = self.find("Pod", in_namespace, named)?;
        let uid = text(reference, "/uid");
        (uid.is_empty() || uid == text(pod, "/metadata/uid")).then_some(pod)
    }

    fn pod_message(&self, pod: &Value, address: SocketAddr) -> Value {
        let said = match text(pod, "/status/phase") {
            "Running" => self.of_pod(pod, address.port()),
            _ => None,
        };
        let Some(mut said) = said else {
            return bare_message(address);
        };
        said["metric_labels"]["namespace"] = namespace(pod).into();
        said["metric_labels"]["zone"] = "".into();
        let opaque = self.is_pod_opaque(pod, address.port());
        endpoint_message(said, address, opaque)
    }

    fn external_message(&self, workload: &Value, address: SocketAddr) -> Value {
        let mut said = self.of_external(workload, address.port(), str::to_owned);
        said["metric_labels"]["namespace"] = namespace(workload).into();
        said["metric_labels"]["zone"] = "".into();
        let opaque = self.is_external_opaque(workload, address.port());
        endpoint_message(said, address, opaque)
    }

    /// What is left on an open stream when its service, or the pod of its hostname, is gone.
    fn left_of(&self, asked: &Asked, token: &str, held: &Value) -> Value {
        if held == &json!({}) {
            return held.clone();
        }
        if let Some(address) = held.pointer("/endpoint/addr").and_then(Value::as_str) {
            return bare_message(address.parse().expect("an address"));
        }
        let service = &held["parent_ref"]["resource"];
        let id = (text(service, "/namespace"), text(service, "/name"));
        self.service_message(id, asked.port, token, is_default(asked.port))
    }
}

fn default_budget() -> Value {
    json!({"retry_ratio": 0.2, "min_retries_per_second": 10, "ttl": "10s"})
}

fn endpoint_message(mut said: Value, address: SocketAddr, opaque: bool) -> Value {
    said["addr"] = address.to_string().into();
    let mut message = json!({"retry_budget": default_budget(), "endpoint": said});
    if opaque {
        message["opaque_protocol"] = true.into();
    }
    message
}

fn bare_message(address: SocketAddr) -> Value {
    endpoint_message(bare(), address, is_default(address.port()))
}

/// Whether an endpoint has an address of its slice's family at all.
fn has_address_of(slice: &Value, endpoint: &Value) -> bool {
    let is_six = text(slice, "/addressType") == "IPv6";
    let mut all = list(endpoint, "/addresses").iter();
    all.any(|it| {
        let ip = it.as_str().and_then(|text| text.parse::<IpAddr>().ok());
        ip.is_some_and(|ip| ip.is_ipv6() == is_six)
    })
}

fn cluster_ips(service: &Value) -> Vec<IpAddr> {
    let many = list(service, "/spec/clusterIPs").iter();
    let many: Vec<&str> = many.filter_map(Value::as_str).collect();
    let texts = match many.as_slice() {
        [] => vec![text(service, "/spec/clusterIP")],
        _ => many,
    };
    texts.iter().filter_map(|text| text.parse().ok()).collect()
}

fn pod_ips(pod: &Value) -> Vec<IpAddr> {
    ips(pod, "/status/podIPs", "/status/podIP")
}

fn host_ports(pod: &Value) -> Vec<u16> {
    let init = list(pod, "/spec/initContainers").iter();
    let containers = init.chain(list(pod, "/spec/containers"));
    let ports = containers.flat_map(|container| list(container, "/ports"));
    ports.filter_map(|it| port(&it["hostPort"])).collect()
}

fn is_finished(pod: &Value) -> bool {
    ["Succeeded", "Failed"].contains(&text(pod, "/status/phase"))
}

fn is_live(pod: &Value) -> bool {
    !is_finished(pod) && pod["metadata"]["deletionTimestamp"].is_null()
}

fn is_told_of(held: &Value, pod: &Value) -> bool {
    let labels = &held["endpoint"]["metric_labels"];
    labels["pod"] == name(pod) && labels["namespace"] == namespace(pod)
}
