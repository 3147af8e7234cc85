//! External workloads, as they are found and as endpoints speak of them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod cluster;

use cluster::{
    Leader, Objects, after, at_external, external, external_key, ip, port, service_key, settings,
    slice, slice_key, web,
};
use lockstep_model::{
    EndpointFact, EndpointTarget, ExternalWorkload, ExternalWorkloadFact, ExternalWorkloadId,
    ExternalWorkloadRecord, Fact, OwnerRef, PortSet, Readiness, ServiceId, Settings,
};
use lockstep_state::Command;
use std::{net::IpAddr, sync::Arc};

fn id() -> ExternalWorkloadId {
    ExternalWorkloadId::named("shop", "vm")
}

/// A service with an endpoint of external workload `vm`, which is not there.
fn shop() -> Objects {
    Objects::from([
        (service_key("web"), web()),
        (
            slice_key("web-1"),
            slice("web", vec![at_external(100, "vm")]),
        ),
    ])
}

fn put(fact: ExternalWorkloadFact) -> (lockstep_model::FactKey, Option<Fact>) {
    (external_key("vm"), Some(Fact::ExternalWorkload(fact)))
}

fn shown_at(last: u8, identity: &str) -> (IpAddr, Option<String>) {
    (ip(last), Some(identity.to_owned()))
}

#[test]
fn it_is_found_by_address_with_all_that_is_said_of_it() {
    let mut fact = external(100);
    fact.owner = Some(OwnerRef {
        kind: "ExternalGroup".into(),
        name: "vms".into(),
    });
    fact.ips = [101, 100, 101].map(ip).to_vec();
    fact.ports = vec![
        port("http", 8080, None),
        port("linkerd-proxy", 4999, None),
        port("admin", 80, None),
        port("", 80, None),
    ];
    fact.opaque = Some("25".parse().unwrap());
    let leader = after(shop(), vec![put(fact)]);
    let content = leader.state.content();
    let expected = ExternalWorkloadRecord {
        workload: Arc::new(ExternalWorkload {
            id: id(),
            owner: Some(OwnerRef {
                kind: "ExternalGroup".into(),
                name: "vms".into(),
            }),
            identity: "spiffe://shop/vm-100".into(),
            server_name: "vm.shop".into(),
            inbound_port: 4999,
            opaque: Some("25".parse().unwrap()),
            opaque_by_server: PortSet::default(),
        }),
        ips: vec![ip(100), ip(101)],
        ports: vec![80, 4999, 8080],
    };
    let found = content.external_workload(&id()).unwrap();
    assert_eq!(**found, expected);
    let service = ServiceId::named("shop", "web");
    let shown = content.slices_of(&service);
    let targets: Vec<_> = shown.flat_map(|slice| &slice.endpoints).collect();
    let [endpoint] = targets[..] else {
        panic!("{targets:?}");
    };
    assert_eq!(
        endpoint.target,
        EndpointTarget::External(expected.workload.clone())
    );
    assert_eq!(endpoint.zone, Some("zone-a".into()));
}

#[test]
fn its_proxy_listens_on_4143_unless_a_port_says_otherwise() {
    let leader = after(shop(), vec![put(external(100))]);
    let record = leader.state.content().external_workload(&id()).unwrap();
    assert_eq!(record.workload.inbound_port, 4143);
}

#[test]
fn one_that_no_lookup_can_find_is_only_remembered_and_shows_in_slices() {
    let without = |change: fn(&mut ExternalWorkloadFact)| {
        let mut fact = external(100);
        change(&mut fact);
        fact
    };
    for fact in [
        without(|fact| fact.ips.clear()),
        without(|fact| fact.ports.clear()),
    ] {
        let leader = after(shop(), vec![put(fact)]);
        assert_eq!(leader.state.content().external_workloads().count(), 0);
        assert_eq!(
            leader.endpoints("web"),
            [shown_at(100, "spiffe://shop/vm-100")]
        );
    }
}

#[test]
fn it_shows_when_it_comes_changes_as_it_changes_and_goes_when_it_goes() {
    let leader = after(shop(), Vec::new());
    assert_eq!(leader.endpoints("web"), []);
    let come = vec![put(external(100))];
    let leader = after(shop(), come.clone());
    assert_eq!(
        leader.endpoints("web"),
        [shown_at(100, "spiffe://shop/vm-100")]
    );
    // The slice says where; the workload says who.
    let changed = [come.clone(), vec![put(external(101))]].concat();
    let leader = after(shop(), changed);
    assert_eq!(
        leader.endpoints("web"),
        [shown_at(100, "spiffe://shop/vm-101")]
    );
    let record = leader.state.content().external_workload(&id()).unwrap();
    assert_eq!(record.ips, [ip(101)]);
    let gone = [come, vec![(external_key("vm"), None)]].concat();
    let leader = after(shop(), gone);
    assert_eq!(leader.endpoints("web"), []);
    assert_eq!(leader.state.content().external_workloads().count(), 0);
}

#[test]
fn each_of_its_addresses_is_an_endpoint_and_only_while_it_is_ready() {
    let of = |readiness| EndpointFact {
        addresses: [100, 101].map(ip).to_vec(),
        readiness,
        hostname: Some("vm".into()),
        ..at_external(0, "vm")
    };
    let shown = |readiness, serve_terminating| {
        let mut objects = shop();
        objects.insert(slice_key("web-1"), slice("web", vec![of(readiness)]));
        objects.extend([put(external(100))].map(|(key, fact)| (key, fact.unwrap())));
        let settings = Settings {
            serve_terminating,
            ..Settings::clone(&settings())
        };
        Leader::of_with(&objects, Arc::new(settings)).shown("web")
    };
    let both = |readiness| [100, 101].map(|last| (ip(last), readiness, String::new()));
    for serve_terminating in [false, true] {
        let ready = shown(Readiness::Ready, serve_terminating);
        assert_eq!(ready, both(Readiness::Ready));
        assert_eq!(shown(Readiness::Unready, serve_terminating), []);
    }
    assert_eq!(shown(Readiness::Leaving, false), []);
    let leaving = shown(Readiness::Leaving, true);
    assert_eq!(leaving, both(Readiness::Leaving));
}

#[test]
fn a_service_profile_is_put_replaced_and_removed() {
    let key = cluster::named(lockstep_model::FactKind::ServiceProfile, "web.shop");
    let mut leader = Leader::of(&shop());
    for weight in [1, 2] {
        let fact = cluster::service_profile(weight);
        let commands = leader.learn(key.clone(), Some(fact.clone()));
        let Fact::ServiceProfile(record) = &fact else {
            panic!("{fact:?}");
        };
        let profile = lockstep_model::ServiceProfileId::named("shop", "web.shop");
        let expected = [
            Command::PutServiceProfile(profile, record.clone()),
            Command::Remember(key.clone(), Arc::new(fact)),
        ];
        assert_eq!(commands[..2], expected);
    }
    leader.learn(key, None);
    assert_eq!(leader.state.content().service_profiles().count(), 0);
}
