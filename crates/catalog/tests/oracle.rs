//! What is committed is what the rules say, worked out in the most naive way.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod cluster;

use cluster::{
    Leader, Objects,
    any::{any_fact, any_settings, kind, name},
    named,
};
use lockstep_model::{
    EndpointFact, EndpointTarget, Fact, FactKind, LabelSelector, NamedPort, NodeName, ObjectLabels,
    PodFact, PodId, PodPhase, Readiness, ServerFact, ServerPort, Settings, SliceFact, TargetRef,
    Text,
};
use proptest::prelude::*;
use std::{collections::BTreeSet, net::IpAddr};

/// One endpoint of a slice, as far as it is not copied from the object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shown {
    slice: Text,
    ip: IpAddr,
    hostname: Option<Text>,
    readiness: Readiness,
    hint_nodes: Vec<NodeName>,
    /// The name of the pod or external workload, and the ports that are opaque.
    behind: Option<(Text, BTreeSet<u16>)>,
}

/// What stands behind an endpoint, in few words.
type Behind = Option<(Text, BTreeSet<u16>)>;

struct Oracle<'a> {
    objects: &'a Objects,
    settings: &'a Settings,
}

impl Oracle<'_> {
    fn slices(&self) -> Vec<(Text, &SliceFact)> {
        let mut slices = Vec::new();
        for (key, fact) in self.objects {
            if let Fact::Slice(slice) = fact {
                slices.push((key.name.clone(), slice));
            }
        }
        slices
    }

    fn shown(&self) -> BTreeSet<Shown> {
        let mut shown = BTreeSet::new();
        for (name, slice) in self.slices() {
            let service = named(FactKind::Service, &slice.service.name);
            if !self.objects.contains_key(&service) {
                continue;
            }
            for endpoint in &slice.endpoints {
                let Some((readiness, behind)) = self.endpoint(slice, endpoint, &name) else {
                    continue;
                };
                let hint_nodes = endpoint.hint_nodes.iter();
                let hint_nodes = hint_nodes.filter(|_| self.settings.node_hints);
                shown.insert(Shown {
                    slice: name.clone(),
                    ip: endpoint.addresses[0],
                    hostname: endpoint.hostname.clone(),
                    readiness,
                    hint_nodes: hint_nodes.cloned().collect(),
                    behind,
                });
            }
        }
        shown
    }

    fn endpoint(
        &self,
        slice: &SliceFact,
        endpoint: &EndpointFact,
        name: &Text,
    ) -> Option<(Readiness, Behind)> {
        match &endpoint.target {
            TargetRef::Address => Some((self.serves(endpoint.readiness)?, None)),
            TargetRef::External(id) => {
                let key = named(FactKind::ExternalWorkload, &id.name);
                let Some(Fact::ExternalWorkload(fact)) = self.objects.get(&key) else {
                    return None;
                };
                let chooser = |server: &ServerFact| server.external_workloads.clone();
                let opaque = self.opaque(&fact.labels, &fact.ports, chooser);
                let readiness = self.serves(endpoint.readiness)?;
                Some((readiness, Some((id.name.clone(), opaque))))
            }
            TargetRef::Pod { pod: id, uid } => {
                let pod = self.pod(id, uid.as_ref())?;
                let own = endpoint.readiness;
                let readiness = match self.newest_word(slice, name, id) {
                    Some(Readiness::Ready) | None => own,
                    Some(other) => own.max(other),
                };
                let comes = pod.phase != PodPhase::Finished;
                let for_its_name = endpoint.hostname.is_some() && comes;
                let name_only = for_its_name.then_some(Readiness::Unready);
                let serves = self.serves(readiness);
                // A finished pod is no last resort.
                let serves = serves.filter(|it| comes || *it == Readiness::Ready);
                let readiness = serves.or(name_only)?;
                let chooser = |server: &ServerFact| server.pods.clone();
                let opaque = self.opaque(&pod.labels, &pod.ports, chooser);
                Some((readiness, Some((id.name.clone(), opaque))))
            }
        }
    }

    fn serves(&self, readiness: Readiness) -> Option<Readiness> {
        match readiness {
            Readiness::Ready => Some(readiness),
            Readiness::Leaving if self.settings.serve_terminating => Some(readiness),
            Readiness::Leaving | Readiness::Unready => None,
        }
    }

    fn pod(&self, id: &PodId, uid: Option<&Text>) -> Option<&PodFact> {
        match self.objects.get(&named(FactKind::Pod, &id.name)) {
            Some(Fact::Pod(pod)) if uid.is_none_or(|uid| *uid == pod.uid) => Some(pod),
            _ => None,
        }
    }

    /// What the newest slice of the same service says of a pod; `None` if it is this one.
    fn newest_word(&self, of: &SliceFact, name: &Text, id: &PodId) -> Option<Readiness> {
        let mut words = Vec::new();
        for (rival, slice) in self.slices() {
            for endpoint in &slice.endpoints {
                let TargetRef::Pod { pod, uid } = &endpoint.target else {
                    continue;
                };
                let meant = pod == id && self.pod(pod, uid.as_ref()).is_some();
                let alike = slice.service == of.service && slice.family == of.family;
                if meant && alike {
                    words.push((slice.created_s, rival.clone(), endpoint.readiness));
                }
            }
        }
        let newest = words.iter().map(|(age, rival, _)| (*age, rival)).max()?;
        let said = { words.iter() }.filter(|(age, rival, _)| (*age, rival) == newest);
        let best = said.map(|(_, _, readiness)| *readiness).min();
        best.filter(|_| newest.1 != name)
    }

    fn opaque(
        &self,
        labels: &ObjectLabels,
        ports: &[NamedPort],
        chooser: impl Fn(&ServerFact) -> Option<LabelSelector>,
    ) -> BTreeSet<u16> {
        let mut opaque = BTreeSet::new();
        for fact in self.objects.values() {
            let Fact::Server(Some(server)) = fact else {
                continue;
            };
            if !chooser(server).is_some_and(|selector| selector.matches(labels)) {
                continue;
            }
            match &server.port {
                ServerPort::Number(number) => opaque.extend([*number]),
                ServerPort::Name(name) => {
                    for port in ports.iter().filter(|port| port.name == *name) {
                        opaque.insert(port.port);
                        opaque.extend(port.host_port);
                    }
                }
            }
        }
        opaque
    }
}

fn committed(leader: &Leader) -> BTreeSet<Shown> {
    let numbers = |set: &lockstep_model::PortSet| {
        let all = 0..=u16::MAX;
        all.filter(|port| set.contains(*port)).collect()
    };
    let mut shown = BTreeSet::new();
    for (id, slice) in leader.state.content().slices() {
        for endpoint in &slice.endpoints {
            let behind = match &endpoint.target {
                EndpointTarget::Address => None,
                EndpointTarget::Pod(workload) => Some((
                    workload.pod.name.clone(),
                    numbers(&workload.opaque_by_server),
                )),
                EndpointTarget::External(workload) => Some((
                    workload.id.name.clone(),
                    numbers(&workload.opaque_by_server),
                )),
            };
            shown.insert(Shown {
                slice: id.name.clone(),
                ip: endpoint.ip,
                hostname: endpoint.hostname.clone(),
                readiness: endpoint.readiness,
                hint_nodes: endpoint.hint_nodes.clone(),
                behind,
            });
        }
    }
    shown
}

fn any_objects() -> impl Strategy<Value = Objects> {
    let object = (kind(), name()).prop_flat_map(|(kind, name)| {
        any_fact(kind).prop_map(move |fact| (named(kind, name), fact))
    });
    prop::collection::vec(object, 0..30).prop_map(|objects| objects.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn what_is_committed_is_what_the_rules_say(
        objects in any_objects(),
        settings in any_settings(),
    ) {
        let leader = Leader::of_with(&objects, settings.clone());
        let oracle = Oracle { objects: &objects, settings: &settings };
        prop_assert_eq!(committed(&leader), oracle.shown());
    }
}
