//! A service `web` with meshed pods.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use lockstep_model::{
    AddressFamily, Endpoint, EndpointTarget, InternalTraffic, Listeners, Mirror, NamedBy, Owner,
    PodAddresses, PodId, PodPhase, PodRecord, PortRules, PortSet, Readiness, ServiceId,
    ServiceKind, ServicePort, ServiceRecord, Settings, SliceId, SlicePort, SliceRecord, Workload,
};
use lockstep_state::Command;
use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
};

pub const WEB: &str = "web.shop.svc.cluster.local:80";

pub fn settings() -> Command {
    Command::PutSettings(Arc::new(Settings::default()))
}

pub fn ip(number: u32) -> IpAddr {
    Ipv4Addr::from(0x0a01_0000 + number).into()
}

pub fn service(name: &str) -> Command {
    service_of(name, ServiceKind::Endpoints, &[80])
}

pub fn service_of(name: &str, kind: ServiceKind, ports: &[u16]) -> Command {
    let port = |port: &u16| ServicePort {
        port: *port,
        name: "http".into(),
    };
    let record = ServiceRecord {
        kind,
        ports: ports.iter().map(port).collect(),
        cluster_ips: vec!["10.96.0.1".parse().unwrap()],
        internal_traffic: InternalTraffic::Cluster,
        opaque_ports: None,
        remote: None,
        is_federated: false,
    };
    Command::PutService(ServiceId::named("shop", name), Arc::new(record))
}

pub fn without_service(name: &str) -> Command {
    Command::RemoveService(ServiceId::named("shop", name))
}

fn workload(number: u32) -> Arc<Workload> {
    Arc::new(Workload {
        pod: PodId::named("shop", &format!("web-{number}")),
        owner: Owner {
            label: "deployment".into(),
            name: "web".into(),
        },
        node: Some("node-a".into()),
        service_account: "web".into(),
        control_plane: Some("linkerd".into()),
        template_hash: None,
        rules: PortRules {
            listeners: Listeners {
                inbound: Some(4143),
                admin: Some(4191),
                control: Some(4190),
            },
            ..PortRules::default()
        },
        opaque_by_server: PortSet::default(),
    })
}

/// The slice of `name` with these pods, in zone `zone-a`.
pub fn slice(name: &str, numbers: &[u32]) -> Command {
    let named = |number: &u32| endpoint(*number, &format!("web-{number}"));
    slice_of(name, numbers.iter().map(named).collect())
}

/// The slice of `web` with one pod, under a hostname.
pub fn renamed_slice(number: u32, hostname: &str) -> Command {
    slice_of("web", vec![endpoint(number, hostname)])
}

fn endpoint(number: u32, hostname: &str) -> Endpoint {
    Endpoint {
        ip: ip(number),
        hostname: Some(hostname.into()),
        readiness: Readiness::Ready,
        zone: Some("zone-a".into()),
        hint_zones: Vec::new(),
        hint_nodes: Vec::new(),
        target: EndpointTarget::Pod(workload(number)),
    }
}

fn slice_of(name: &str, endpoints: Vec<Endpoint>) -> Command {
    let record = SliceRecord {
        service: ServiceId::named("shop", name),
        named_by: NamedBy::Label,
        family: AddressFamily::V4,
        ports: vec![SlicePort {
            name: "http".into(),
            port: 8080,
        }],
        endpoints,
        mirror: Mirror::default(),
    };
    Command::PutSlice(SliceId::named("shop", name), Arc::new(record))
}

pub fn pod(number: u32, address: u32) -> Command {
    let record = PodRecord {
        workload: workload(number),
        addresses: PodAddresses {
            ips: vec![ip(address)],
            ..PodAddresses::default()
        },
        phase: PodPhase::Running,
        terminating: false,
    };
    Command::PutPod(
        PodId::named("shop", &format!("web-{number}")),
        Arc::new(record),
    )
}

/// A mesh with `web` and these pods behind it.
pub fn web(numbers: &[u32]) -> Vec<Command> {
    vec![settings(), service("web"), slice("web", numbers)]
}
