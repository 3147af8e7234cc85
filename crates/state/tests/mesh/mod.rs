//! A small mesh to build states from.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use lockstep_model::{
    AddressFamily, Condition, Cursor, DstOverride, EXTERNAL_INBOUND_PORT, Endpoint, EndpointFact,
    EndpointTarget, ExternalWorkload, ExternalWorkloadFact, ExternalWorkloadId,
    ExternalWorkloadRecord, Fact, FactKey, FactKind, Holds, InternalTraffic, LabelSelector, Mirror,
    NamedBy, NamedPort, Owner, OwnerFact, OwnerRef, PodAddresses, PodFact, PodId, PodPhase,
    PodRecord, PortRange, PortRules, Ratio, Readiness, RemoteDiscovery, RequestMatch, Requirement,
    ResponseClass, RetryBudget, Route, ServerFact, ServerPort, ServiceId, ServiceKind, ServicePort,
    ServiceProfileId, ServiceProfileRecord, ServiceRecord, Settings, SliceFact, SliceId, SlicePort,
    SliceRecord, StatusRange, TargetRef, Workload,
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

pub fn external_id(name: &str) -> ExternalWorkloadId {
    ExternalWorkloadId::named("shop", name)
}

pub fn profile_id(name: &str) -> ServiceProfileId {
    ServiceProfileId::named("shop", name)
}

pub fn service(name: &str, port: u16) -> Command {
    Command::PutService(service_id(name), Arc::new(service_record(port)))
}

fn service_record(port: u16) -> ServiceRecord {
    ServiceRecord {
        kind: ServiceKind::Endpoints,
        ports: vec![ServicePort {
            port,
            name: "http".into(),
        }],
        cluster_ips: vec![ip(port.to_be_bytes()[1])],
        internal_traffic: InternalTraffic::Cluster,
        opaque_ports: None,
        remote: Some(RemoteDiscovery {
            cluster: "east".into(),
            service: Some("web".into()),
        }),
        is_federated: false,
    }
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
        opaque_by_server: [PortRange::single(9000)].into_iter().collect(),
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
        readiness: Readiness::Ready,
        zone: Some("zone-a".into()),
        hint_zones: Vec::new(),
        hint_nodes: vec!["node-a".into()],
        target: EndpointTarget::Pod(workload(&format!("pod-{last}"))),
    };
    let outside = Endpoint {
        readiness: Readiness::Leaving,
        target: EndpointTarget::External(outside("vm")),
        ..endpoint(&100)
    };
    let record = SliceRecord {
        service: service_id(of),
        named_by: NamedBy::Label,
        family: AddressFamily::V4,
        ports: vec![SlicePort {
            name: "http".into(),
            port: 8080,
        }],
        endpoints: lasts.iter().map(endpoint).chain([outside]).collect(),
        mirror: Mirror::default(),
    };
    Command::PutSlice(SliceId::named("shop", name), Arc::new(record))
}

fn outside(name: &str) -> Arc<ExternalWorkload> {
    Arc::new(ExternalWorkload {
        id: external_id(name),
        owner: Some(OwnerRef {
            kind: "ExternalGroup".into(),
            name: "vms".into(),
        }),
        identity: "spiffe://shop/vm".into(),
        server_name: "vm.shop".into(),
        inbound_port: EXTERNAL_INBOUND_PORT,
        opaque: None,
        opaque_by_server: [PortRange::single(9000)].into_iter().collect(),
    })
}

/// An external workload at these addresses, each with these ports.
pub fn external(name: &str, lasts: &[u8], ports: &[u16]) -> Command {
    let record = ExternalWorkloadRecord {
        workload: outside(name),
        ips: lasts.iter().copied().map(ip).collect(),
        ports: ports.to_vec(),
    };
    Command::PutExternalWorkload(external_id(name), Arc::new(record))
}

/// A ServiceProfile with something in each field.
fn service_profile() -> Arc<ServiceProfileRecord> {
    let request = |leaf| Condition::Is(leaf);
    let requests = vec![
        Condition::Any(vec![request(RequestMatch::Method("GET".into()))]),
        Condition::Not(Box::new(request(RequestMatch::PathRegex("/.*".into())))),
    ];
    let failures = ResponseClass {
        condition: Condition::Is(StatusRange { min: 500, max: 599 }),
        is_failure: true,
    };
    Arc::new(ServiceProfileRecord {
        routes: vec![Route {
            name: "GET".into(),
            condition: Condition::All(requests),
            response_classes: vec![failures],
            is_retryable: true,
            timeout_ns: Some(-5),
        }],
        retry_budget: Some(RetryBudget {
            retry_ratio: Ratio::new(0.2),
            min_retries_per_second: 10,
            ttl_ns: Some(10_000_000_000),
        }),
        dst_overrides: vec![DstOverride {
            authority: "api.shop:80".into(),
            weight: 5_000,
        }],
    })
}

pub fn profile(name: &str, is_retryable: bool) -> Command {
    let mut record = service_profile();
    for route in &mut Arc::make_mut(&mut record).routes {
        route.is_retryable = is_retryable;
    }
    Command::PutServiceProfile(profile_id(name), record)
}

fn remember(kind: FactKind, name: &str, fact: Fact) -> Command {
    Command::Remember(FactKey::named(kind, "shop", name), Arc::new(fact))
}

fn a_pod() -> PodFact {
    PodFact {
        uid: "a1".into(),
        owner: None,
        node: None,
        service_account: "default".into(),
        control_plane: None,
        template_hash: None,
        rules: PortRules::default(),
        addresses: PodAddresses::default(),
        phase: PodPhase::Pending,
        terminating: true,
        labels: [("app".into(), "web".into())].into(),
        ports: vec![port("http", Some(80))],
    }
}

fn port(name: &str, host_port: Option<u16>) -> NamedPort {
    NamedPort {
        name: name.into(),
        port: 8080,
        host_port,
    }
}

fn a_slice() -> SliceFact {
    let targets = [
        TargetRef::Address,
        TargetRef::External(external_id("vm")),
        TargetRef::Pod {
            pod: pod_id("a"),
            uid: Some("a1".into()),
        },
    ];
    let endpoint = |target| EndpointFact {
        addresses: vec![ip(1)],
        readiness: Readiness::Unready,
        hostname: Some("a".into()),
        zone: None,
        hint_zones: vec!["zone-a".into()],
        hint_nodes: vec!["node-a".into()],
        target,
    };
    SliceFact {
        service: service_id("web"),
        named_by: NamedBy::Owner,
        created_s: 1_796_000_000,
        family: AddressFamily::V4,
        ports: Vec::new(),
        endpoints: targets.map(endpoint).to_vec(),
        mirror: Mirror::default(),
    }
}

fn a_server() -> ServerFact {
    let requirement = |key: &str, holds| Requirement {
        key: key.into(),
        holds,
    };
    ServerFact {
        pods: Some(LabelSelector(vec![
            requirement("app", Holds::In(vec!["web".into()])),
            requirement("tier", Holds::NotIn(vec!["back".into()])),
            requirement("team", Holds::Exists),
            requirement("old", Holds::DoesNotExist),
        ])),
        external_workloads: None,
        port: ServerPort::Name("http".into()),
    }
}

fn an_external() -> ExternalWorkloadFact {
    ExternalWorkloadFact {
        owner: None,
        labels: [("app".into(), "vm".into())].into(),
        ips: vec![ip(100)],
        ports: vec![port("http", None)],
        identity: "spiffe://shop/vm".into(),
        server_name: "vm.shop".into(),
        opaque: None,
    }
}

/// One fact of each kind, and a cursor.
pub fn some_facts() -> Vec<Command> {
    let node = Fact::Node(Some("zone-a".into()));
    let owner = Fact::Owner(OwnerFact { owner: None });
    let numbered = ServerFact {
        port: ServerPort::Number(9000),
        ..a_server()
    };
    vec![
        remember(FactKind::Node, "node-a", node),
        remember(FactKind::ReplicaSet, "rs", owner.clone()),
        remember(FactKind::Job, "job", owner),
        remember(FactKind::Pod, "a", Fact::Pod(a_pod())),
        remember(FactKind::Service, "web", Fact::Service(service_record(80))),
        remember(FactKind::EndpointSlice, "web-1", Fact::Slice(a_slice())),
        remember(
            FactKind::ServiceProfile,
            "web.shop.svc.cluster.local",
            Fact::ServiceProfile(service_profile()),
        ),
        remember(FactKind::Server, "a", Fact::Server(Some(a_server()))),
        remember(FactKind::Server, "b", Fact::Server(Some(numbered))),
        remember(FactKind::Server, "c", Fact::Server(None)),
        remember(
            FactKind::ExternalWorkload,
            "vm",
            Fact::ExternalWorkload(an_external()),
        ),
        Command::Advance(FactKind::Server, Cursor("7".into())),
    ]
}

/// Content of each kind.
pub fn some_commands() -> Vec<Command> {
    vec![
        Command::PutSettings(Arc::new(Settings::default())),
        service("web", 80),
        slice("web-1", "web", &[1, 2]),
        pod("pod-1", 1),
        Command::PutNode("node-a".into(), "zone-a".into()),
        profile("web.shop.svc.cluster.local", true),
        external("vm", &[100], &[8080, 9000]),
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
    commands.extend(
        content
            .service_profiles()
            .map(|(k, v)| Command::PutServiceProfile(k.clone(), v.clone())),
    );
    commands.extend(
        content
            .external_workloads()
            .map(|(k, v)| Command::PutExternalWorkload(k.clone(), v.clone())),
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
    commands.extend(
        content
            .service_profiles()
            .map(|(k, _)| Command::RemoveServiceProfile(k.clone())),
    );
    commands.extend(
        content
            .external_workloads()
            .map(|(k, _)| Command::RemoveExternalWorkload(k.clone())),
    );
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
        name.clone()
            .prop_map(|name| Command::RemoveNode(name.into())),
        (name.clone(), any::<bool>()).prop_map(|(name, retryable)| profile(name, retryable)),
        name.clone()
            .prop_map(|name| Command::RemoveServiceProfile(profile_id(name))),
        (name.clone(), 1..4u8, 1..4u16).prop_map(|(name, last, port)| external(
            name,
            &[last, 9],
            &[port, 9]
        )),
        name.prop_map(|name| Command::RemoveExternalWorkload(external_id(name))),
    ]
}
