//! The profile of a name or an address: what a client should know of where it
//! is about to send.

use lockstep_model::{
    EndpointTarget, ExternalWorkload, Host, PodId, PodPhase, PodRecord, ServiceId, ServiceKind,
    Settings, Text,
};
use lockstep_state::{Content, State};
use std::net::{IpAddr, SocketAddr};

use crate::{
    ChosenProfile, Described, Labels, Question, Refusal, SharedAddress,
    chosen::{chosen, full_name},
    describe::{is_opaque, listed},
    external::{OwnerKey, is_external_opaque},
    labels::put,
    question::settings,
};

/// What is true of a name or an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Profile {
    /// A service.
    Service(ServiceProfile),
    /// One address: a pod's, a host's, or one of which nothing is known.
    Endpoint(EndpointProfile),
    /// A service that does not declare the port: the proxy then asks the
    /// policy API, which forbids it.
    Undeclared,
}

/// The profile of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceProfile {
    /// Its full name, without a port: `web.shop.svc.cluster.local`.
    pub name: Text,
    /// The service.
    pub service: ServiceId,
    /// The port asked for.
    pub port: u16,
    /// Whether the port carries opaque bytes.
    pub opaque: bool,
    /// What its owner or its client says of its traffic, if anybody does.
    pub chosen: Option<ChosenProfile>,
}

/// The profile of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointProfile {
    /// The address asked for, or the pod's primary one if asked by hostname.
    pub address: SocketAddr,
    /// The pod that is described; `None` if the address is bare or an external workload's.
    pub pod: Option<PodId>,
    /// What is said of it.
    pub described: Described,
    /// Whether the port carries opaque bytes.
    pub opaque: bool,
}

impl EndpointProfile {
    /// An address of which nothing is known.
    pub(crate) fn bare(settings: &Settings, address: SocketAddr) -> Self {
        Self {
            address,
            pod: None,
            described: Described::bare(),
            opaque: settings.default_opaque_ports.contains(address.port()),
        }
    }
}

/// What is true of what is asked about.
///
/// An address is a service's cluster IP, else a pod's, else a port of a pod's
/// host, else one that an external workload declares, else unknown. Pods that terminate have left their address, except for
/// a stream that has been `told` of one: it keeps the pod until another takes
/// the address or the pod is gone, so that draining traffic keeps its identity.
///
/// # Errors
///
/// [`Refusal::NotSynced`]; [`Refusal::ServiceNotFound`],
/// [`Refusal::HostnameNotFound`] and [`Refusal::ExternalName`] for names;
/// [`Refusal::AmbiguousAddress`] for an address with several live owners.
pub fn profile(
    state: &State,
    question: &Question,
    told: Option<&PodId>,
) -> Result<Profile, Refusal> {
    let asked = Asked {
        content: state.content(),
        settings: settings(state)?,
        question,
        told,
    };
    match &question.authority.host {
        Host::Ip(ip) => asked.of_address(*ip),
        Host::Service {
            service,
            hostname: None,
        } => asked.of_service(service),
        Host::Service {
            service,
            hostname: Some(hostname),
        } => asked.of_hostname(service, hostname),
    }
}

/// The pods that answer to a hostname of a service, ready or not, by slice.
pub(crate) fn pods_named<'state>(
    content: &'state Content,
    service: &ServiceId,
    hostname: &'state str,
) -> impl Iterator<Item = &'state PodId> {
    let slices = content.slices_of(service);
    let endpoints = slices.flat_map(|slice| &slice.endpoints);
    let named = endpoints.filter(move |it| it.hostname.as_deref() == Some(hostname));
    named.filter_map(|endpoint| match &endpoint.target {
        EndpointTarget::Pod(workload) => Some(&workload.pod),
        EndpointTarget::Address | EndpointTarget::External(_) => None,
    })
}

/// One question to one state.
struct Asked<'state> {
    content: &'state Content,
    settings: &'state Settings,
    question: &'state Question,
    told: Option<&'state PodId>,
}

impl Asked<'_> {
    fn port(&self) -> u16 {
        self.question.authority.port
    }

    fn of_service(&self, id: &ServiceId) -> Result<Profile, Refusal> {
        let Some(service) = self.content.service(id) else {
            let service = id.clone();
            return Err(Refusal::ServiceNotFound { service });
        };
        if service.port(self.port()).is_none() {
            return Ok(Profile::Undeclared);
        }
        match service.kind {
            ServiceKind::Endpoints => {}
            ServiceKind::ExternalName => {
                let path = self.question.path.clone();
                return Err(Refusal::ExternalName { path });
            }
        }
        Ok(Profile::Service(ServiceProfile {
            name: full_name(self.settings, id),
            service: id.clone(),
            port: self.port(),
            opaque: listed(self.settings, service.opaque_ports.as_ref(), self.port()),
            chosen: chosen(self.content, self.settings, self.question, id),
        }))
    }

    fn of_address(&self, ip: IpAddr) -> Result<Profile, Refusal> {
        let services: Vec<_> = self.content.services_at(ip).map(|(id, _)| id).collect();
        match services.as_slice() {
            [] => {}
            [service] => return self.of_service(service),
            several => return Err(ambiguous(several.len(), SharedAddress::Cluster(ip))),
        }
        let address = SocketAddr::new(ip, self.port());
        let pods = self.content.pods_at(ip).map(|(_, pod)| pod.as_ref());
        let own = pods.filter(|pod| !pod.addresses.host_network);
        if let Some(pod) = self.owner(own, SharedAddress::Pod(ip))? {
            return Ok(self.of_pod(pod, address));
        }
        let on_host = self.content.pods_at_host_port(ip, self.port());
        let on_host = on_host.map(|(_, pod)| pod.as_ref());
        if let Some(pod) = self.owner(on_host, SharedAddress::HostPort(address))? {
            return Ok(self.of_pod(pod, address));
        }
        let external: Vec<_> = self
            .content
            .external_workloads_at(ip, self.port())
            .collect();
        match external.as_slice() {
            [] => Ok(self.bare(address)),
            [(_, record)] => Ok(self.of_external(&record.workload, address)),
            several => Err(ambiguous(several.len(), SharedAddress::External(address))),
        }
    }

    fn of_hostname(&self, service: &ServiceId, hostname: &Text) -> Result<Profile, Refusal> {
        let ids = pods_named(self.content, service, hostname);
        let pods = ids.filter_map(|id| self.content.pod(id));
        let found: Vec<(&PodRecord, IpAddr)> = pods
            .filter_map(|pod| Some((pod.as_ref(), *pod.addresses.ips.first()?)))
            .collect();
        let live = found.iter().find(|(pod, _)| is_live(pod));
        match live.or(found.first()) {
            Some((pod, ip)) => Ok(self.of_pod(pod, SocketAddr::new(*ip, self.port()))),
            None => Err(Refusal::HostnameNotFound {
                service: service.clone(),
                hostname: hostname.clone(),
            }),
        }
    }

    /// The pod that has an address: the only live one, or without one the pod
    /// that the stream was told of. One of which nothing can be said is not kept: the
    /// stream would be told of no pod, and think otherwise the next time it looks.
    fn owner<'pod>(
        &self,
        pods: impl Iterator<Item = &'pod PodRecord>,
        address: SharedAddress,
    ) -> Result<Option<&'pod PodRecord>, Refusal> {
        let (live, leaving): (Vec<_>, Vec<_>) = pods.partition(|pod| is_live(pod));
        match live.as_slice() {
            [] => Ok(leaving
                .into_iter()
                .filter(|pod| Some(&pod.workload.pod) == self.told)
                .find(|pod| self.describe(pod, self.port()).is_some())),
            [pod] => Ok(Some(pod)),
            several => Err(ambiguous(several.len(), address)),
        }
    }

    /// `None` for a pod that does not run, and for a meshed one whose proxy does not say
    /// where it listens.
    fn describe(&self, pod: &PodRecord, port: u16) -> Option<Described> {
        match pod.phase {
            PodPhase::Running => Described::pod(self.settings, &pod.workload, port),
            PodPhase::Pending | PodPhase::Finished => None,
        }
    }

    fn of_pod(&self, pod: &PodRecord, address: SocketAddr) -> Profile {
        let workload = &pod.workload;
        let Some(mut described) = self.describe(pod, address.port()) else {
            // Silence would leave the client without an answer for as long as the pod
            // lives; a name or a hint would lead to a proxy that cannot be found.
            return self.bare(address);
        };
        place(&mut described.labels, &workload.pod.namespace);
        Profile::Endpoint(EndpointProfile {
            address,
            pod: Some(workload.pod.clone()),
            described,
            opaque: is_opaque(self.settings, workload, address.port()),
        })
    }

    fn of_external(&self, workload: &ExternalWorkload, address: SocketAddr) -> Profile {
        let port = address.port();
        let mut described = Described::external(self.settings, workload, port, OwnerKey::AsWritten);
        place(&mut described.labels, &workload.id.namespace);
        Profile::Endpoint(EndpointProfile {
            address,
            pod: None,
            described,
            opaque: is_external_opaque(self.settings, workload, port),
        })
    }

    fn bare(&self, address: SocketAddr) -> Profile {
        Profile::Endpoint(EndpointProfile::bare(self.settings, address))
    }
}

fn place(labels: &mut Labels, namespace: &Text) {
    put(labels, "namespace", namespace);
    // Zones belong to slices, and no slice was asked.
    put(labels, "zone", &Text::default());
}

fn is_live(pod: &PodRecord) -> bool {
    match pod.phase {
        PodPhase::Pending | PodPhase::Running => !pod.terminating,
        PodPhase::Finished => false,
    }
}

fn ambiguous(count: usize, address: SharedAddress) -> Refusal {
    Refusal::AmbiguousAddress { count, address }
}
