//! A small mesh to ask questions of.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use lockstep_model::{
    AddressFamily, Endpoint, EndpointTarget, ExternalWorkload, ExternalWorkloadId,
    ExternalWorkloadRecord, Http2Params, InternalTraffic, KeepAlive, Listeners, Mirror, NamedBy,
    Owner, PodAddresses, PodId, PodPhase, PodRecord, PortRules, PortSet, Readiness, ServiceId,
    ServiceKind, ServicePort, ServiceRecord, Settings, SliceId, SlicePort, SliceRecord,
    TransportMode, Workload,
};
use lockstep_position::{LogId, Term};
use lockstep_resolution::{Described, Hint, HintedProtocol, Identity, Labels};
use lockstep_state::{Batch, Command, State};
use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

pub const WEB_IDENTITY: &str = "web-sa.shop.serviceaccount.identity.linkerd.cluster.local";

/// The settings that Linkerd's chart gives.
pub fn chart() -> Settings {
    Settings {
        ipv6: false,
        meshed_http2: Some(params()),
        ..Settings::default()
    }
}

/// The settings of a process without flags.
pub fn plain() -> Settings {
    Settings {
        transport_mode: TransportMode::Transparent,
        ..Settings::default()
    }
}

pub fn params() -> Http2Params {
    Http2Params {
        keep_alive: Some(KeepAlive {
            interval_ms: 10_000,
            timeout_ms: 3_000,
            while_idle: true,
        }),
    }
}

pub fn state_with(settings: Settings, commands: Vec<Command>) -> State {
    let mut state = State::default();
    apply(&mut state, vec![Command::PutSettings(Arc::new(settings))]);
    apply(&mut state, commands);
    state
}

pub fn apply(state: &mut State, commands: Vec<Command>) {
    let term = Term::from_u64(1);
    let index = state.position().applied.map_or(1, |last| last.index + 1);
    state.apply(LogId { term, index }, Batch::whole(term, commands));
}

pub fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

pub fn at(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

pub fn web() -> ServiceId {
    ServiceId::named("shop", "web")
}

/// A service `web` with port 80 named `http`.
pub fn service() -> ServiceRecord {
    ServiceRecord {
        kind: ServiceKind::Endpoints,
        ports: vec![service_port(80, "http")],
        cluster_ips: vec![ip("10.96.0.1")],
        internal_traffic: InternalTraffic::Cluster,
        opaque_ports: None,
        remote: None,
        is_federated: false,
    }
}

pub fn service_port(port: u16, name: &str) -> ServicePort {
    ServicePort {
        port,
        name: name.into(),
    }
}

pub fn put_service(name: &str, record: ServiceRecord) -> Command {
    Command::PutService(ServiceId::named("shop", name), Arc::new(record))
}

pub fn put_slice(name: &str, record: SliceRecord) -> Command {
    Command::PutSlice(SliceId::named("shop", name), Arc::new(record))
}

/// A slice of `web` with port 8080 named `http`.
pub fn slice(endpoints: Vec<Endpoint>) -> SliceRecord {
    let family = match endpoints.first().map(|endpoint| endpoint.ip) {
        Some(IpAddr::V6(_)) => AddressFamily::V6,
        Some(IpAddr::V4(_)) | None => AddressFamily::V4,
    };
    SliceRecord {
        service: web(),
        named_by: NamedBy::Label,
        family,
        ports: vec![slice_port("http", 8080)],
        endpoints,
        mirror: Mirror::default(),
    }
}

pub fn slice_port(name: &str, port: u16) -> SlicePort {
    SlicePort {
        name: name.into(),
        port,
    }
}

/// A meshed pod of the deployment `web`.
pub fn workload(pod: &str) -> Workload {
    Workload {
        pod: PodId::named("shop", pod),
        owner: Owner {
            label: "deployment".into(),
            name: "web".into(),
        },
        node: Some("node-a".into()),
        service_account: "web-sa".into(),
        control_plane: Some("linkerd".into()),
        template_hash: Some("abc".into()),
        rules: PortRules {
            listeners: listeners(),
            ..PortRules::default()
        },
        opaque_by_server: PortSet::default(),
    }
}

pub fn listeners() -> Listeners {
    Listeners {
        inbound: Some(4143),
        admin: Some(4191),
        control: Some(4190),
    }
}

pub fn endpoint_of(workload: Workload, address: &str) -> Endpoint {
    Endpoint {
        target: EndpointTarget::Pod(Arc::new(workload)),
        ..address_only(address)
    }
}

/// An endpoint of the meshed pod `pod`.
pub fn endpoint(pod: &str, address: &str) -> Endpoint {
    endpoint_of(workload(pod), address)
}

/// An external workload of nobody, on port 8080.
pub fn external(name: &str) -> ExternalWorkload {
    ExternalWorkload {
        id: ExternalWorkloadId::named("shop", name),
        owner: None,
        identity: "spiffe://root.example/vm".into(),
        server_name: "vm.example".into(),
        inbound_port: 4143,
        opaque: None,
        opaque_by_server: PortSet::default(),
    }
}

pub fn external_endpoint(workload: ExternalWorkload, address: &str) -> Endpoint {
    Endpoint {
        target: EndpointTarget::External(Arc::new(workload)),
        ..address_only(address)
    }
}

pub fn put_external(workload: ExternalWorkload, ips: &[&str], ports: &[u16]) -> Command {
    let id = workload.id.clone();
    let record = ExternalWorkloadRecord {
        workload: Arc::new(workload),
        ips: ips.iter().map(|it| ip(it)).collect(),
        ports: ports.to_vec(),
    };
    Command::PutExternalWorkload(id, Arc::new(record))
}

pub fn remove_external(name: &str) -> Command {
    Command::RemoveExternalWorkload(ExternalWorkloadId::named("shop", name))
}

/// An endpoint that names no object.
pub fn address_only(address: &str) -> Endpoint {
    Endpoint {
        ip: ip(address),
        hostname: None,
        readiness: Readiness::Ready,
        zone: None,
        hint_zones: Vec::new(),
        hint_nodes: Vec::new(),
        target: EndpointTarget::Address,
    }
}

/// The record of a running pod.
pub fn pod_of(workload: Workload, ips: &[&str]) -> PodRecord {
    PodRecord {
        workload: Arc::new(workload),
        addresses: PodAddresses {
            ips: ips.iter().map(|it| ip(it)).collect(),
            host_ips: vec![ip("192.168.0.1")],
            ..PodAddresses::default()
        },
        phase: PodPhase::Running,
        terminating: false,
    }
}

pub fn pod(name: &str, address: &str) -> PodRecord {
    pod_of(workload(name), &[address])
}

pub fn put_pod(record: PodRecord) -> Command {
    Command::PutPod(record.workload.pod.clone(), Arc::new(record))
}

pub fn remove_pod(name: &str) -> Command {
    Command::RemovePod(PodId::named("shop", name))
}

pub fn labels(pairs: &[(&'static str, &str)]) -> Labels {
    let pair = |(key, value): &(&'static str, &str)| ((*key).into(), (*value).into());
    pairs.iter().map(pair).collect()
}

/// What the chart's settings say of the meshed pod `pod`, with more labels.
pub fn meshed(pod: &str, more: &[(&'static str, &str)]) -> Described {
    let mut own = labels(&[
        ("control_plane_ns", "linkerd"),
        ("deployment", "web"),
        ("pod", pod),
        ("pod_template_hash", "abc"),
        ("serviceaccount", "web-sa"),
    ]);
    own.extend(labels(more));
    Described {
        labels: own,
        identity: Some(Identity::Workload(WEB_IDENTITY.into())),
        hint: hint(Some(HintedProtocol::H2), Some(4143)),
        http2: Some(params()),
        ..Described::bare()
    }
}

/// What the chart's settings say of the external workload `name`, with more labels.
pub fn outside(name: &str, more: &[(&'static str, &str)]) -> Described {
    let mut own = labels(&[("external_workload", name)]);
    own.extend(labels(more));
    Described {
        labels: own,
        identity: Some(Identity::External {
            uri: "spiffe://root.example/vm".into(),
            server_name: "vm.example".into(),
        }),
        hint: hint(Some(HintedProtocol::H2), Some(4143)),
        http2: Some(params()),
        ..Described::bare()
    }
}

#[allow(clippy::unnecessary_wraps, reason = "reads as the field does")]
pub fn hint(protocol: Option<HintedProtocol>, inbound_port: Option<u16>) -> Option<Hint> {
    Some(Hint {
        protocol,
        inbound_port,
    })
}
