//! A small mesh to build states from.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use lockstep_model::{
    AddressFamily, Endpoint, EndpointTarget, InternalTraffic, Mirror, Owner, PodAddresses, PodId,
    PodPhase, PodRecord, PortRules, ServiceId, ServiceKind, ServicePort, ServiceRecord, Settings,
    SliceId, SlicePort, SliceRecord, Workload,
};
use lockstep_state::{Command, State};
use proptest::prelude::*;
use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
};

pub fn ip(last: u8) -> IpAddr {
    Ipv4Addr::new(10, 0, 0, last).into()
}

pub fn service_id(name: &str) -> ServiceId {
    ServiceId::named("shop", name)
}

pub fn pod_id(name: &str) -> PodId {
    PodId::named("shop", name)
}

pub fn service(name: &str, port: u16) -> Command {
    let record = ServiceRecord {
        kind: ServiceKind::Endpoints,
        ports: vec![ServicePort {
            port,
            name: "http".into(),
        }],
        cluster_ips: vec![ip(port.to_be_bytes()[1])],
        internal_traffic: InternalTraffic::Cluster,
        opaque_ports: None,
    };
    Command::PutService(service_id(name), Arc::new(record))
}

fn workload(name: &str) -> Arc<Workload> {
    Arc::new(Workload {
        pod: pod_id(name),
        owner: Owner {
            label: "deployment".into(),
            name: "web".into(),
        },
        node: Some("node-a".into()),
        service_account: "default".into(),
        control_plane: Some("linkerd".into()),
        template_hash: None,
        rules: PortRules::default(),
    })
}

pub fn pod(name: &str, last: u8) -> Command {
    let record = PodRecord {
        workload: workload(name),
        addresses: PodAddresses {
            ips: vec![ip(last)],
            ..PodAddresses::default()
        },
        phase: PodPhase::Running,
        terminating: false,
    };
    Command::PutPod(pod_id(name), Arc::new(record))
}

pub fn slice(name: &str, of: &str, lasts: &[u8]) -> Command {
    let endpoint = |last: &u8| Endpoint {
        ip: ip(*last),
        hostname: None,
        ready: true,
        zone: Some("zone-a".into()),
        hint_zones: Vec::new(),
        target: EndpointTarget::Pod(workload(&format!("pod-{last}"))),
    };
    let record = SliceRecord {
        service: service_id(of),
        family: AddressFamily::V4,
        ports: vec![SlicePort {
            name: "http".into(),
            port: 8080,
        }],
        endpoints: lasts.iter().map(endpoint).collect(),
        mirror: Mirror::default(),
    };
    Command::PutSlice(SliceId::named("shop", name), Arc::new(record))
}

pub fn some_commands() -> Vec<Command> {
    vec![
        Command::PutSettings(Arc::new(Settings::default())),
        service("web", 80),
        slice("web-1", "web", &[1, 2]),
        pod("pod-1", 1),
        Command::PutNode("node-a".into(), "zone-a".into()),
    ]
}

/// The content as the commands that make it.
pub fn dump(state: &State) -> Vec<Command> {
    let content = state.content();
    let mut commands: Vec<Command> = content
        .settings()
        .cloned()
        .map(Command::PutSettings)
        .into_iter()
        .collect();
    commands.extend(
        content
            .services()
            .map(|(k, v)| Command::PutService(k.clone(), v.clone())),
    );
    commands.extend(
        content
            .slices()
            .map(|(k, v)| Command::PutSlice(k.clone(), v.clone())),
    );
    commands.extend(
        content
            .pods()
            .map(|(k, v)| Command::PutPod(k.clone(), v.clone())),
    );
    commands.extend(
        content
            .nodes()
            .map(|(k, v)| Command::PutNode(k.clone(), v.clone())),
    );
    commands
}

/// Everything but the settings, which cannot be taken away.
pub fn remove_everything(state: &State) -> Vec<Command> {
    let content = state.content();
    let mut commands: Vec<Command> = Vec::new();
    commands.extend(
        content
            .services()
            .map(|(k, _)| Command::RemoveService(k.clone())),
    );
    commands.extend(
        content
            .slices()
            .map(|(k, _)| Command::RemoveSlice(k.clone())),
    );
    commands.extend(content.pods().map(|(k, _)| Command::RemovePod(k.clone())));
    commands.extend(content.nodes().map(|(k, _)| Command::RemoveNode(k.clone())));
    commands
}

/// Commands over a few names, so that they meet.
pub fn any_command() -> impl Strategy<Value = Command> {
    let name = prop::sample::select(vec!["a", "b", "c"]);
    prop_oneof![
        (name.clone(), 1..4u16).prop_map(|(name, port)| service(name, port)),
        (name.clone(), name.clone(), 1..6u8).prop_map(|(s, of, last)| slice(s, of, &[last, 9])),
        (name.clone(), 1..6u8).prop_map(|(name, last)| pod(name, last)),
        name.clone()
            .prop_map(|name| Command::PutNode(name.into(), "zone".into())),
        name.clone()
            .prop_map(|name| Command::RemoveService(service_id(name))),
        name.clone()
            .prop_map(|name| Command::RemoveSlice(SliceId::named("shop", name))),
        name.clone()
            .prop_map(|name| Command::RemovePod(pod_id(name))),
        name.prop_map(|name| Command::RemoveNode(name.into())),
    ]
}
