//! The endpoints of a service for one client (A6, A7, A9, A10).

use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    net::{IpAddr, SocketAddr},
};

use super::{
    Asked, Host, Oracle, Right, name, namespace,
    ports::of_spec,
    reading::{annotation, ips, label, list, port, text},
    workloads::put_labels,
};

/// Where a client is; empty if that is not known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    pub(super) node: String,
    pub(super) zone: String,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Readiness {
    Ready,
    Leaving,
    Unready,
}

/// What an endpoint is about.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Target<'a> {
    Pod(&'a Value),
    External(&'a Value),
    Nothing,
}

/// An address that may be told.
#[derive(Clone, Debug)]
struct Candidate<'a> {
    slice: &'a Value,
    endpoint: &'a Value,
    target: Target<'a>,
    address: SocketAddr,
}

impl Candidate<'_> {
    fn hints(&self, field: &str) -> Vec<&str> {
        let hints = list(&self.endpoint["hints"], field).iter();
        hints.map(|hint| text(hint, "/name")).collect()
    }

    fn pod(&self) -> Option<&str> {
        match self.target {
            Target::Pod(pod) => Some(text(pod, "/metadata/name")),
            Target::External(_) | Target::Nothing => None,
        }
    }

    fn is_six(&self) -> bool {
        text(self.slice, "/addressType") == "IPv6"
    }

    /// Whether what is behind the address has it by its own account.
    fn lives(&self) -> bool {
        let ip = self.address.ip();
        match self.target {
            Target::Pod(pod) => {
                text(pod, "/status/phase") == "Running"
                    && pod["metadata"]["deletionTimestamp"].is_null()
                    && ips(pod, "/status/podIPs", "/status/podIP").contains(&ip)
            }
            // Without ports it is reached nowhere.
            Target::External(workload) => {
                let has = ips(workload, "/spec/workloadIPs", "/none").contains(&ip);
                has && !of_spec(workload).is_empty()
            }
            Target::Nothing => false,
        }
    }
}

impl Oracle {
    /// The endpoints of a service, whatever the service is; none without it.
    pub(crate) fn right(&self, asked: &Asked, place: &Place) -> Right {
        let ready = self.told(asked, place, Readiness::Ready);
        if ready.is_empty() && self.rules.serve_terminating {
            return self.told(asked, place, Readiness::Leaving);
        }
        ready
    }

    fn told(&self, asked: &Asked, place: &Place, readiness: Readiness) -> Right {
        let candidates = self.candidates(asked, readiness);
        let candidates = self.near(asked, place, candidates);
        let candidates = self.one_family(candidates);
        let mut claims: BTreeMap<SocketAddr, Vec<(bool, Value)>> = BTreeMap::new();
        for candidate in candidates {
            if let Some(said) = self.describe(&candidate, asked, place) {
                let claim = (candidate.lives(), said);
                claims.entry(candidate.address).or_default().push(claim);
            }
        }
        // Who has the address by its own account has it.
        let right = claims.into_iter().map(|(address, claims)| {
            let is_inhabited = claims.iter().any(|(lives, _)| *lives);
            let may = claims
                .into_iter()
                .filter(|(lives, _)| *lives || !is_inhabited);
            (address, may.map(|(_, said)| said).collect())
        });
        right.collect()
    }

    /// The slices of a service, by name.
    pub(super) fn slices_of(&self, of_namespace: &str, service: &str) -> Vec<&Value> {
        if self.find("Service", of_namespace, service).is_none() {
            return Vec::new();
        }
        let slices = self.all("EndpointSlice").iter();
        let of_service = slices.filter(|slice| {
            namespace(slice) == of_namespace
                && service_of(slice) == service
                && ["IPv4", "IPv6"].contains(&text(slice, "/addressType"))
        });
        of_service.collect()
    }

    fn candidates(&self, asked: &Asked, readiness: Readiness) -> Vec<Candidate<'_>> {
        let Host::Service {
            namespace,
            name,
            hostname,
        } = &asked.host
        else {
            return Vec::new();
        };
        let mut candidates = Vec::new();
        for slice in self.slices_of(namespace, name) {
            let service = self.find("Service", namespace, name);
            let Some(port) = service.and_then(|service| port_in(slice, service, asked.port)) else {
                continue;
            };
            for endpoint in list(slice, "/endpoints") {
                let own = text(endpoint, "/hostname");
                if hostname.as_ref().is_some_and(|asked| asked != own) {
                    continue;
                }
                let Some(target) = self.target(slice, endpoint) else {
                    continue;
                };
                if self.readiness(slice, endpoint, target) != readiness {
                    continue;
                }
                candidates.extend(addresses(slice, endpoint, target).map(|ip| Candidate {
                    slice,
                    endpoint,
                    target,
                    address: SocketAddr::new(ip, port),
                }));
            }
        }
        candidates
    }

    /// What an endpoint is about, if that is there and is what is meant.
    fn target<'a>(&'a self, slice: &'a Value, endpoint: &'a Value) -> Option<Target<'a>> {
        let reference = &endpoint["targetRef"];
        let named = text(reference, "/name");
        match text(reference, "/kind") {
            "" => Some(Target::Nothing),
            "Pod" => {
                let pod = self.find("Pod", text(reference, "/namespace"), named)?;
                let uid = text(reference, "/uid");
                let is_meant = uid.is_empty() || uid == text(pod, "/metadata/uid");
                is_meant.then_some(Target::Pod(pod))
            }
            "ExternalWorkload" => {
                let found = self.find("ExternalWorkload", namespace(slice), named)?;
                Some(Target::External(found))
            }
            _ => None,
        }
    }

    /// The word of the newest slice counts that speaks of the same pod, if that is worse.
    fn readiness(&self, slice: &Value, endpoint: &Value, target: Target<'_>) -> Readiness {
        let own = readiness(endpoint);
        let Target::Pod(pod) = target else {
            return own;
        };
        let age = |slice: &Value| {
            let created = text(slice, "/metadata/creationTimestamp").to_owned();
            (created, name(slice).to_owned())
        };
        let mut newest = (age(slice), Readiness::Ready);
        for other in self.slices_of(namespace(slice), service_of(slice)) {
            if other["addressType"] != slice["addressType"] || age(other) <= newest.0 {
                continue;
            }
            let of_pod = list(other, "/endpoints").iter();
            // Without an address of the slice's family an endpoint says nothing.
            let of_pod = of_pod.filter(|it| {
                self.target(other, it) == Some(Target::Pod(pod))
                    && addresses(other, it, Target::Nothing).next().is_some()
            });
            if let Some(best) = of_pod.map(readiness).min() {
                newest = (age(other), best);
            }
        }
        let is_finished = ["Succeeded", "Failed"].contains(&text(pod, "/status/phase"));
        match own.max(newest.1) {
            Readiness::Leaving if is_finished => Readiness::Unready,
            readiness => readiness,
        }
    }

    /// A10.4 and A10.5, with hints for nodes before those for zones where they count.
    fn near<'a>(
        &self,
        asked: &Asked,
        place: &Place,
        mut candidates: Vec<Candidate<'a>>,
    ) -> Vec<Candidate<'a>> {
        if self.is_local(asked) {
            candidates.retain(|it| match it.target {
                Target::Pod(pod) => {
                    !place.node.is_empty() && text(pod, "/spec/nodeName") == place.node
                }
                Target::External(_) | Target::Nothing => false,
            });
            return candidates;
        }
        let fields = match self.rules.node_hints {
            true => vec![("/forNodes", &place.node), ("/forZones", &place.zone)],
            false => vec![("/forZones", &place.zone)],
        };
        for (field, own) in fields {
            let all_have = candidates.iter().all(|it| !it.hints(field).is_empty());
            let meant =
                |it: &Candidate<'_>| !own.is_empty() && it.hints(field).contains(&own.as_str());
            if all_have && candidates.iter().any(meant) {
                candidates.retain(meant);
                return candidates;
            }
        }
        candidates
    }

    fn is_local(&self, asked: &Asked) -> bool {
        let Host::Service {
            namespace, name, ..
        } = &asked.host
        else {
            return false;
        };
        let service = self.find("Service", namespace, name);
        service.is_some_and(|it| text(it, "/spec/internalTrafficPolicy") == "Local")
    }

    fn one_family<'a>(&self, mut candidates: Vec<Candidate<'a>>) -> Vec<Candidate<'a>> {
        let id = |it: &Candidate<'_>| {
            let pod = it.pod()?.to_owned();
            Some((text(it.endpoint, "/targetRef/namespace").to_owned(), pod))
        };
        let six = candidates.iter().filter(|it| it.is_six());
        let six: BTreeSet<_> = six.filter_map(id).collect();
        candidates.retain(|it| match (id(it), it.is_six()) {
            (None, _) => true,
            (Some(_), true) => self.rules.ipv6,
            (Some(id), false) => !self.rules.ipv6 || !six.contains(&id),
        });
        candidates
    }

    fn describe(&self, it: &Candidate<'_>, asked: &Asked, place: &Place) -> Option<Value> {
        let port = it.address.port();
        let mut said = match it.target {
            Target::Pod(pod) => self.of_pod(pod, port)?,
            Target::External(workload) => self.of_external(workload, port, str::to_lowercase),
            Target::Nothing => self.of_address(it.slice, asked.port),
        };
        let zone = match it.target {
            Target::Pod(_) | Target::External(_) => {
                let zone = text(it.endpoint, "/zone");
                said["metric_labels"]["zone"] = zone.into();
                zone
            }
            Target::Nothing => "",
        };
        let locality = match (zone, place.zone.as_str()) {
            ("", _) | (_, "") => "unknown",
            (one, other) if one == other => "local",
            _ => "remote",
        };
        said["metric_labels"]["zone_locality"] = locality.into();
        if self.rules.zone_weights && locality == "local" {
            said["weight"] = 100_000.into();
        }
        put_labels(&mut said, &set_labels(it.slice));
        said["addr"] = it.address.to_string().into();
        Some(said)
    }
}

/// The service of a slice in its namespace; empty if there is none.
fn service_of(slice: &Value) -> &str {
    let labelled = label(slice, "kubernetes.io/service-name");
    if !labelled.is_empty() {
        return labelled;
    }
    let mut owners = list(slice, "/metadata/ownerReferences").iter();
    let service = owners.find(|owner| text(owner, "/kind") == "Service");
    service.map_or("", |owner| text(owner, "/name"))
}

/// A9: on every address of the slice.
fn set_labels(slice: &Value) -> Map<String, Value> {
    let mut labels = json!({
        "service": label(slice, "kubernetes.io/service-name"),
        "namespace": namespace(slice),
    });
    let cluster = label(slice, "mirror.linkerd.io/cluster-name");
    if !cluster.is_empty() {
        labels["target_cluster"] = cluster.into();
        let remote = annotation(slice, "mirror.linkerd.io/remote-svc-fq-name");
        let parts: Vec<&str> = remote.unwrap_or("").split('.').collect();
        if let [service, namespace, ..] = parts.as_slice() {
            labels["target_service"] = (*service).into();
            labels["target_service_namespace"] = (*namespace).into();
        }
    }
    labels.as_object().cloned().unwrap_or_default()
}

/// A6: by the name of the service's port, or the number itself if it declares no such port.
fn port_in(slice: &Value, service: &Value, requested: u16) -> Option<u16> {
    let ports = list(slice, "/ports");
    let mut usable = ports
        .iter()
        .filter_map(|it| Some((text(it, "/name"), port(&it["port"])?)));
    let declared = of_spec(service);
    match declared.iter().find(|it| it.port == requested) {
        Some(declared) => usable
            .find(|(name, _)| *name == declared.name)
            .map(|it| it.1),
        None => usable.next().map(|_| requested),
    }
}

fn readiness(endpoint: &Value) -> Readiness {
    let condition = |name: &str| endpoint["conditions"][name].as_bool();
    match condition("ready") {
        Some(true) | None => Readiness::Ready,
        Some(false) => {
            if condition("serving") == Some(true) && condition("terminating") == Some(true) {
                Readiness::Leaving
            } else {
                Readiness::Unready
            }
        }
    }
}

/// The addresses of the slice's family; of a pod the last one.
fn addresses<'a>(
    slice: &'a Value,
    endpoint: &'a Value,
    target: Target<'_>,
) -> impl Iterator<Item = IpAddr> + use<'a> {
    let is_six = text(slice, "/addressType") == "IPv6";
    let all = list(endpoint, "/addresses").iter();
    let all = all.filter_map(|text| text.as_str()?.parse::<IpAddr>().ok());
    let all: Vec<IpAddr> = all.filter(|ip| ip.is_ipv6() == is_six).collect();
    let from = match target {
        Target::Pod(_) => all.len().saturating_sub(1),
        Target::External(_) | Target::Nothing => 0,
    };
    all.into_iter().skip(from)
}
