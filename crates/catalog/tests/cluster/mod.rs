//! A small cluster to tell of, and a leader to tell it to.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

pub mod any;

use lockstep_catalog::{Catalog, Difference, Listed, SourceEvent, audit};
use lockstep_model::{
    AddressFamily, Cursor, DstOverride, EndpointFact, EndpointTarget, ExternalWorkloadFact,
    ExternalWorkloadId, Fact, FactKey, FactKind, Holds, InternalTraffic, LabelSelector, Mirror,
    NamedBy, NamedPort, ObjectLabels, OwnerFact, OwnerRef, PodAddresses, PodFact, PodId, PodPhase,
    PortRules, Readiness, Requirement, ServerFact, ServerPort, ServiceId, ServiceKind, ServicePort,
    ServiceProfileRecord, ServiceRecord, Settings, SliceFact, SlicePort, TargetRef,
};
use lockstep_position::{Digest, HistoryId, LogId, Term};
use lockstep_state::{Batch, Command, Outcome, State};
use std::{
    collections::{BTreeMap, BTreeSet},
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
};

pub const TERM: Term = Term::from_u64(3);
pub const HISTORY: HistoryId = HistoryId::from_u128(7);

/// What the API server holds.
pub type Objects = BTreeMap<FactKey, Fact>;

pub fn ip(last: u8) -> IpAddr {
    Ipv4Addr::new(10, 0, 0, last).into()
}

pub fn named(kind: FactKind, name: &str) -> FactKey {
    let namespace = if kind == FactKind::Node { "" } else { "shop" };
    FactKey::named(kind, namespace, name)
}

pub fn service_key(name: &str) -> FactKey {
    named(FactKind::Service, name)
}

pub fn slice_key(name: &str) -> FactKey {
    named(FactKind::EndpointSlice, name)
}

pub fn pod_key(name: &str) -> FactKey {
    named(FactKind::Pod, name)
}

pub fn server_key(name: &str) -> FactKey {
    named(FactKind::Server, name)
}

pub fn external_key(name: &str) -> FactKey {
    named(FactKind::ExternalWorkload, name)
}

pub fn service(kind: ServiceKind) -> Fact {
    Fact::Service(ServiceRecord {
        kind,
        ports: vec![ServicePort {
            port: 80,
            name: "http".into(),
        }],
        cluster_ips: vec![ip(200)],
        internal_traffic: InternalTraffic::Cluster,
        opaque_ports: None,
        remote: None,
        is_federated: false,
    })
}

pub fn web() -> Fact {
    service(ServiceKind::Endpoints)
}

/// A running pod at `10.0.0.last`, owned by ReplicaSet `rs`, with label `app: web` and a
/// port `http` at 8080 that port 80 of its host leads to.
pub fn pod(uid: &str, last: u8) -> PodFact {
    PodFact {
        uid: uid.into(),
        owner: Some(OwnerRef {
            kind: "ReplicaSet".into(),
            name: "rs".into(),
        }),
        node: Some("node-a".into()),
        service_account: uid.into(),
        control_plane: Some("linkerd".into()),
        template_hash: None,
        rules: PortRules::default(),
        addresses: PodAddresses {
            ips: vec![ip(last)],
            ..PodAddresses::default()
        },
        phase: PodPhase::Running,
        terminating: false,
        labels: labels("web"),
        ports: vec![port("http", 8080, Some(80))],
    }
}

pub fn labels(app: &str) -> ObjectLabels {
    [("app".into(), app.into())].into()
}

pub fn port(name: &str, port: u16, host_port: Option<u16>) -> NamedPort {
    NamedPort {
        name: name.into(),
        port,
        host_port,
    }
}

/// An external workload at `10.0.0.last` with a port `http` at 8080, and label `app: vm`.
pub fn external(last: u8) -> ExternalWorkloadFact {
    ExternalWorkloadFact {
        owner: None,
        labels: labels("vm"),
        ips: vec![ip(last)],
        ports: vec![port("http", 8080, None)],
        identity: format!("spiffe://shop/vm-{last}").into(),
        server_name: "vm.shop".into(),
        opaque: None,
    }
}

/// Chooses what has label `app` with this value.
pub fn app(value: &str) -> LabelSelector {
    LabelSelector(vec![Requirement {
        key: "app".into(),
        holds: Holds::In(vec![value.into()]),
    }])
}

/// A Server that makes this port of these pods opaque.
pub fn server(pods: LabelSelector, port: ServerPort) -> Fact {
    Fact::Server(Some(ServerFact {
        pods: Some(pods),
        external_workloads: None,
        port,
    }))
}

/// A Server that makes this port of these external workloads opaque.
pub fn server_of_external(external_workloads: LabelSelector, port: ServerPort) -> Fact {
    Fact::Server(Some(ServerFact {
        pods: None,
        external_workloads: Some(external_workloads),
        port,
    }))
}

pub fn service_profile(weight: u32) -> Fact {
    let to = DstOverride {
        authority: "api.shop".into(),
        weight,
    };
    Fact::ServiceProfile(Arc::new(ServiceProfileRecord {
        dst_overrides: vec![to],
        ..ServiceProfileRecord::default()
    }))
}

pub fn owned_by(kind: &str, name: &str) -> Fact {
    Fact::Owner(OwnerFact {
        owner: Some(OwnerRef {
            kind: kind.into(),
            name: name.into(),
        }),
    })
}

/// A ready endpoint of a pod; without a uid any pod of the name will do.
pub fn at_pod(last: u8, pod: &str, uid: Option<&str>) -> EndpointFact {
    EndpointFact {
        target: TargetRef::Pod {
            pod: PodId::named("shop", pod),
            uid: uid.map(Into::into),
        },
        ..at_address(last)
    }
}

/// A ready endpoint of an external workload.
pub fn at_external(last: u8, name: &str) -> EndpointFact {
    EndpointFact {
        target: TargetRef::External(ExternalWorkloadId::named("shop", name)),
        ..at_address(last)
    }
}

pub fn at_address(last: u8) -> EndpointFact {
    EndpointFact {
        addresses: vec![ip(last)],
        readiness: Readiness::Ready,
        hostname: None,
        zone: Some("zone-a".into()),
        hint_zones: Vec::new(),
        hint_nodes: Vec::new(),
        target: TargetRef::Address,
    }
}

pub fn slice(of: &str, endpoints: Vec<EndpointFact>) -> Fact {
    slice_of_age(0, of, endpoints)
}

pub fn slice_of_age(created_s: i64, of: &str, endpoints: Vec<EndpointFact>) -> Fact {
    Fact::Slice(SliceFact {
        service: ServiceId::named("shop", of),
        named_by: NamedBy::Label,
        created_s,
        family: AddressFamily::V4,
        ports: vec![SlicePort {
            name: "http".into(),
            port: 8080,
        }],
        endpoints,
        mirror: Mirror::default(),
    })
}

pub fn settings() -> Arc<Settings> {
    Arc::new(Settings::default())
}

/// Every kind, as a list of `objects` would have it.
pub fn listed(objects: &Objects, cursor: &str) -> Vec<Listed> {
    let of = |kind| Listed {
        kind,
        facts: objects
            .iter()
            .filter(|(key, _)| key.kind == kind)
            .map(|(key, fact)| (key.clone(), fact.clone()))
            .collect(),
        unread: BTreeSet::new(),
        cursor: Cursor(cursor.into()),
    };
    FactKind::ALL.map(of).to_vec()
}

pub fn apply(state: &mut State, commands: Vec<Command>) {
    let index = state.position().applied.map_or(1, |last| last.index + 1);
    let log_id = LogId { term: TERM, index };
    let applied = state.apply(log_id, Batch::whole(TERM, commands));
    assert_eq!(applied.outcome, Outcome::Done);
}

pub fn differences(state: &State, objects: &Objects) -> Vec<Difference> {
    audit(state, listed(objects, "audit"), &settings()).unwrap()
}

/// The digest of the content that a fresh start makes of `objects`.
pub fn digest_of(objects: &Objects) -> Digest {
    Leader::of(objects).state.content().digest()
}

/// Tells a leader of `changes`, each settled by itself, and checks that the
/// state ends as a fresh start would have it.
pub fn after(mut objects: Objects, changes: Vec<(FactKey, Option<Fact>)>) -> Leader {
    let mut leader = Leader::of(&objects);
    for (key, fact) in changes {
        match &fact {
            Some(fact) => objects.insert(key.clone(), fact.clone()),
            None => objects.remove(&key),
        };
        leader.learn(key, fact);
    }
    assert_eq!(differences(&leader.state, &objects), []);
    assert_eq!(leader.state.content().digest(), digest_of(&objects));
    leader
}

/// A catalogue and the state that its commands go to.
pub struct Leader {
    pub catalog: Catalog,
    pub state: State,
    events: u64,
}

impl Leader {
    /// A leader that knows nothing.
    pub fn new() -> Self {
        Self::resume(State::default())
    }

    /// A leader that follows another one.
    pub fn resume(state: State) -> Self {
        Self::resume_with(state, settings())
    }

    /// A leader with other settings that follows another one.
    pub fn resume_with(state: State, settings: Arc<Settings>) -> Self {
        Self {
            catalog: Catalog::resume(&state, settings, HISTORY),
            state,
            events: 0,
        }
    }

    /// A leader that has listed `objects` and committed what they mean.
    pub fn of(objects: &Objects) -> Self {
        Self::of_with(objects, settings())
    }

    /// The same with other settings.
    pub fn of_with(objects: &Objects, settings: Arc<Settings>) -> Self {
        let mut leader = Self::resume_with(State::default(), settings);
        leader.list(objects);
        leader.settle();
        leader
    }

    pub fn list(&mut self, objects: &Objects) {
        for listed in listed(objects, "listed") {
            self.catalog.observe(SourceEvent::Listed(listed));
        }
    }

    /// Tells of one change.
    pub fn tell(&mut self, key: FactKey, fact: Option<Fact>) {
        self.events += 1;
        let cursor = Cursor(self.events.to_string().into());
        self.catalog
            .observe(SourceEvent::Changed { key, fact, cursor });
    }

    /// Reconciles, and applies the commands as one change.
    pub fn settle(&mut self) -> Vec<Command> {
        let commands = self.catalog.reconcile(&self.state);
        if !commands.is_empty() {
            apply(&mut self.state, commands.clone());
        }
        assert_eq!(self.catalog.reconcile(&self.state), [], "done once is done");
        commands
    }

    /// Tells of one change and settles.
    pub fn learn(&mut self, key: FactKey, fact: Option<Fact>) -> Vec<Command> {
        self.tell(key, fact);
        self.settle()
    }

    /// Where the endpoints of a service are, each with the service account of
    /// the pod behind it, or the identity of the external workload.
    pub fn endpoints(&self, service: &str) -> Vec<(IpAddr, Option<String>)> {
        let id = ServiceId::named("shop", service);
        let slices = self.state.content().slices_of(&id);
        slices
            .flat_map(|slice| &slice.endpoints)
            .map(|endpoint| match &endpoint.target {
                EndpointTarget::Pod(pod) => (endpoint.ip, Some(pod.service_account.to_string())),
                EndpointTarget::External(workload) => {
                    (endpoint.ip, Some(workload.identity.to_string()))
                }
                EndpointTarget::Address => (endpoint.ip, None),
            })
            .collect()
    }

    /// The address of each endpoint of a service, how it shows, and the ports that
    /// Servers make opaque on what stands behind it.
    pub fn shown(&self, service: &str) -> Vec<(IpAddr, Readiness, String)> {
        let id = ServiceId::named("shop", service);
        let slices = self.state.content().slices_of(&id);
        slices
            .flat_map(|slice| &slice.endpoints)
            .map(|endpoint| {
                let opaque = match &endpoint.target {
                    EndpointTarget::Pod(pod) => pod.opaque_by_server.to_string(),
                    EndpointTarget::External(workload) => workload.opaque_by_server.to_string(),
                    EndpointTarget::Address => String::new(),
                };
                (endpoint.ip, endpoint.readiness, opaque)
            })
            .collect()
    }
}
