//! A small cluster to tell of, and a leader to tell it to.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use lockstep_catalog::{Catalog, Difference, Listed, SourceEvent, audit};
use lockstep_model::{
    AddressFamily, Cursor, EndpointFact, EndpointTarget, Fact, FactKey, FactKind, InternalTraffic,
    Mirror, OwnerFact, OwnerRef, PodAddresses, PodFact, PodId, PodPhase, PortRules, ServiceId,
    ServiceKind, ServicePort, ServiceRecord, Settings, SliceFact, SlicePort, TargetRef,
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
    })
}

pub fn web() -> Fact {
    service(ServiceKind::Endpoints)
}

/// A running pod at `10.0.0.last`, owned by ReplicaSet `rs`.
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
    }
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

pub fn at_address(last: u8) -> EndpointFact {
    EndpointFact {
        addresses: vec![ip(last)],
        ready: true,
        hostname: None,
        zone: Some("zone-a".into()),
        hint_zones: Vec::new(),
        target: TargetRef::Address,
    }
}

pub fn slice(of: &str, endpoints: Vec<EndpointFact>) -> Fact {
    Fact::Slice(SliceFact {
        service: ServiceId::named("shop", of),
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
        Self {
            catalog: Catalog::resume(&state, settings(), HISTORY),
            state,
            events: 0,
        }
    }

    /// A leader that has listed `objects` and committed what they mean.
    pub fn of(objects: &Objects) -> Self {
        let mut leader = Self::new();
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
    /// the pod behind it.
    pub fn endpoints(&self, service: &str) -> Vec<(IpAddr, Option<String>)> {
        let id = ServiceId::named("shop", service);
        let slices = self.state.content().slices_of(&id);
        slices
            .flat_map(|slice| &slice.endpoints)
            .map(|endpoint| match &endpoint.target {
                EndpointTarget::Pod(pod) => (endpoint.ip, Some(pod.service_account.to_string())),
                EndpointTarget::Address => (endpoint.ip, None),
            })
            .collect()
    }
}
