//! The endpoints of a target, rule by rule.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod mesh;

use lockstep_model::{
    Endpoint, Http2Params, InternalTraffic, Listeners, Mirror, PortRules, Readiness, ServiceKind,
    ServiceRecord, Settings, SliceRecord, Target, Workload,
};
use lockstep_resolution::{
    Answer, Client, Described, EndpointSet, Hint, HintedProtocol, Identity, Place, endpoints,
};
use lockstep_state::{Command, State};
use mesh::*;
use std::net::SocketAddr;

fn target(port: u16) -> Target {
    Target {
        service: web(),
        port,
        hostname: None,
    }
}

fn on(node: &str) -> Client {
    Client {
        node: Some(node.into()),
        namespace: None,
    }
}

fn zones() -> Vec<Command> {
    ["a", "b", "c"]
        .map(|it| Command::PutNode(format!("node-{it}").into(), format!("zone-{it}").into()))
        .into()
}

fn ask(state: &State, target: &Target, client: &Client) -> Answer {
    endpoints(state, target, &Place::of(state, target, client)).answer
}

fn answer(state: &State, target: &Target, client: &Client) -> EndpointSet {
    match ask(state, target, client) {
        Answer::Present(set) => EndpointSet::clone(&set),
        other @ (Answer::Unknown | Answer::Absent) => panic!("{other:?}"),
    }
}

fn addresses(state: &State, target: &Target, client: &Client) -> Vec<SocketAddr> {
    answer(state, target, client)
        .endpoints
        .into_keys()
        .collect()
}

/// What is said of the only endpoint of `web:80`.
fn described(settings: Settings, slice: SliceRecord, port: u16) -> Option<Described> {
    let commands = vec![put_service("web", service()), put_slice("web-1", slice)];
    let set = answer(
        &state_with(settings, commands),
        &target(port),
        &Client::default(),
    );
    let mut all = set.endpoints.into_values();
    assert!(all.len() <= 1);
    all.next().map(|it| Described::clone(&it))
}

const UNKNOWN_ZONE: [(&str, &str); 2] = [("zone", ""), ("zone_locality", "unknown")];

#[test]
fn a_meshed_pod_is_said_with_all_fields() {
    let slice = slice(vec![endpoint("web-1", "10.1.0.1")]);
    let commands = vec![put_service("web", service()), put_slice("web-1", slice)];
    let state = state_with(chart(), commands);
    let expected = EndpointSet {
        labels: labels(&[("namespace", "shop"), ("service", "web")]),
        endpoints: [(at("10.1.0.1:8080"), meshed("web-1", &UNKNOWN_ZONE).into())].into(),
    };
    assert_eq!(
        ask(&state, &target(80), &Client::default()),
        Answer::Present(expected.into())
    );
}

#[test]
fn absent_empty_and_unknown_are_three_answers() {
    let client = Client::default();
    let commands = vec![put_service("cart", service())];
    assert_eq!(
        ask(&State::default(), &target(80), &client),
        Answer::Unknown
    );
    let mut state = state_with(chart(), commands);
    assert_eq!(ask(&state, &target(80), &client), Answer::Absent);
    // A slice without its service is nothing yet, or nothing any more.
    let late = put_slice("web-1", slice(vec![endpoint("web-1", "10.1.0.1")]));
    apply(&mut state, vec![late]);
    assert_eq!(ask(&state, &target(80), &client), Answer::Absent);
    let empty = vec![
        put_service("web", service()),
        put_slice("web-1", slice(vec![])),
    ];
    apply(&mut state, empty);
    let set = answer(&state, &target(80), &client);
    assert_eq!(set, EndpointSet::default());
}

#[test]
fn a_service_turned_into_an_alias_keeps_what_its_slices_say() {
    let alias = ServiceRecord {
        kind: ServiceKind::ExternalName,
        ..service()
    };
    let slice = slice(vec![endpoint("web-1", "10.1.0.1")]);
    let commands = vec![put_service("web", alias), put_slice("web-1", slice)];
    let state = state_with(chart(), commands);
    assert_eq!(
        addresses(&state, &target(80), &Client::default()),
        [at("10.1.0.1:8080")]
    );
}

type Edit = fn(&mut Workload);

/// Changes a workload's rules only.
fn ruled(rules: PortRules) -> Workload {
    Workload {
        rules,
        ..workload("web-1")
    }
}

fn opaque_on(ports: &str) -> Workload {
    ruled(PortRules {
        opaque: Some(ports.parse().unwrap()),
        listeners: listeners(),
        ..PortRules::default()
    })
}

fn skipping(ports: &str) -> Workload {
    ruled(PortRules {
        skip_inbound: ports.parse().unwrap(),
        ..opaque_on("8080").rules
    })
}

fn edited(edit: Edit) -> Workload {
    let mut workload = workload("web-1");
    edit(&mut workload);
    workload
}

type Said = (Option<Identity>, Option<Hint>, Option<Http2Params>);

fn said_of(workload: Workload, port: u16) -> Said {
    let slice = slice(vec![endpoint_of(workload, "10.1.0.1")]);
    let said = described(chart(), slice, port).unwrap();
    (said.identity, said.hint, said.http2)
}

#[test]
fn who_meshed_a_pod_decides_what_is_said() {
    let h2 = || hint(Some(HintedProtocol::H2), Some(4143));
    let ours = Some(Identity::Workload(WEB_IDENTITY.into()));
    let unmeshed = edited(|it| it.control_plane = None);
    let foreign = edited(|it| it.control_plane = Some("other".into()));
    let own = workload("web-1");
    assert_eq!(said_of(own, 80), (ours, h2(), Some(params())));
    assert_eq!(said_of(unmeshed, 80), (None, None, None));
    assert_eq!(said_of(foreign, 80), (None, h2(), Some(params())));
    assert_eq!(said_of(skipping("8080"), 80), (None, None, None));
}

#[test]
fn which_port_is_asked_decides_how_to_speak() {
    let (h2, opaque) = (Some(HintedProtocol::H2), Some(HintedProtocol::Opaque));
    let own = || workload("web-1");
    for (case, workload, port, expected) in [
        (
            "skips another",
            skipping("9090"),
            80,
            hint(opaque, Some(4143)),
        ),
        (
            "annotated",
            opaque_on("8000-9000"),
            80,
            hint(opaque, Some(4143)),
        ),
        ("by default", own(), 3306, hint(opaque, Some(4143))),
        ("nothing", opaque_on(""), 3306, hint(h2, Some(4143))),
        ("admin port", own(), 4191, hint(h2, None)),
        ("control port", own(), 4190, hint(h2, None)),
        ("opaque admin", opaque_on("4191"), 4191, hint(opaque, None)),
    ] {
        let ours = Some(Identity::Workload(WEB_IDENTITY.into()));
        let expected = (ours, expected, Some(params()));
        assert_eq!(said_of(workload, port), expected, "{case}");
    }
}

#[test]
fn settings_decide_what_is_said() {
    let (h2, opaque) = (Some(HintedProtocol::H2), Some(HintedProtocol::Opaque));
    let ours = Some(Identity::Workload(WEB_IDENTITY.into()));
    let no_upgrade = |settings| Settings {
        h2_upgrade: false,
        ..settings
    };
    let no_trust = Settings {
        trust_domain: "".into(),
        ..plain()
    };
    let own = workload("web-1");
    for (case, settings, workload, identity, hint) in [
        ("plain", plain(), own.clone(), ours.clone(), hint(h2, None)),
        (
            "plain, opaque",
            plain(),
            opaque_on("8080"),
            ours.clone(),
            hint(opaque, Some(4143)),
        ),
        (
            "no upgrade",
            no_upgrade(plain()),
            own.clone(),
            ours.clone(),
            hint(None, None),
        ),
        (
            "no upgrade, chart",
            no_upgrade(chart()),
            own.clone(),
            ours,
            hint(None, Some(4143)),
        ),
        ("no trust domain", no_trust, own, None, hint(h2, None)),
    ] {
        let slice = slice(vec![endpoint_of(workload, "10.1.0.1")]);
        let said = described(settings, slice, 80).unwrap();
        assert_eq!((said.identity, said.hint), (identity, hint), "{case}");
    }
}

#[test]
fn a_pod_whose_proxy_does_not_say_where_it_listens_is_left_out() {
    let without = |edit: fn(&mut Listeners)| {
        let mut workload = workload("web-1");
        edit(&mut workload.rules.listeners);
        workload
    };
    let unmeshed = edited(|it| {
        it.control_plane = None;
        it.rules.listeners = Listeners::default();
    });
    for (case, workload, in_chart, in_plain) in [
        ("admin", without(|it| it.admin = None), false, false),
        ("control", without(|it| it.control = None), false, false),
        ("inbound", without(|it| it.inbound = None), false, true),
        ("not meshed", unmeshed, true, true),
    ] {
        for (settings, is_told) in [(chart(), in_chart), (plain(), in_plain)] {
            let slice = slice(vec![endpoint_of(workload.clone(), "10.1.0.1")]);
            let said = described(settings, slice, 80);
            assert_eq!(said.is_some(), is_told, "{case}");
        }
    }
}

fn gateway(identity: Option<&str>, remote: Option<&str>) -> SliceRecord {
    SliceRecord {
        mirror: Mirror {
            gateway_identity: identity.map(Into::into),
            remote_service: remote.map(Into::into),
            cluster: None,
        },
        ..slice(vec![address_only("10.1.0.1")])
    }
}

#[test]
fn an_address_without_a_pod_is_bare_unless_it_is_a_gateway() {
    let unknown = || Described {
        labels: labels(&[("zone_locality", "unknown")]),
        ..Described::bare()
    };
    let named = || Described {
        identity: Some(Identity::Gateway("gw.east".into())),
        hint: hint(Some(HintedProtocol::H2), None),
        http2: Some(params()),
        ..unknown()
    };
    let instead = |authority: &str, described: Described| Described {
        authority_override: Some(authority.into()),
        ..described
    };
    let remote = Some("web.prod.svc.east");
    for (slice, port, expected) in [
        (gateway(None, None), 80, unknown()),
        (gateway(Some("gw.east"), None), 80, named()),
        (
            gateway(Some("gw.east"), remote),
            80,
            instead("web.prod.svc.east:80", named()),
        ),
        (
            gateway(Some("gw.east"), remote),
            99,
            instead("web.prod.svc.east:99", named()),
        ),
        (
            gateway(Some("gw.east"), Some("")),
            80,
            instead(":80", named()),
        ),
        (
            gateway(None, remote),
            80,
            instead("web.prod.svc.east:80", unknown()),
        ),
    ] {
        assert_eq!(described(chart(), slice, port), Some(expected));
    }
    let no_upgrade = Settings {
        h2_upgrade: false,
        ..chart()
    };
    let said = described(no_upgrade, gateway(Some("gw.east"), None), 80).unwrap();
    assert_eq!((said.hint, said.http2), (None, Some(params())));
}

#[test]
fn a_service_port_means_the_slice_port_of_the_same_name() {
    let ported = |ports: &[(&str, u16)], last: u8| SliceRecord {
        ports: ports
            .iter()
            .map(|(name, port)| slice_port(name, *port))
            .collect(),
        ..slice(vec![endpoint(
            &format!("web-{last}"),
            &format!("10.1.0.{last}"),
        )])
    };
    let commands = |service_ports: &[(u16, &str)]| {
        let service = ServiceRecord {
            ports: service_ports
                .iter()
                .map(|(port, name)| service_port(*port, name))
                .collect(),
            ..service()
        };
        vec![
            put_service("web", service),
            put_slice("web-1", ported(&[("http", 8080), ("admin", 9090)], 1)),
            put_slice("web-2", ported(&[("http", 8081)], 2)),
            put_slice("web-3", ported(&[("", 8082)], 3)),
            put_slice("web-4", ported(&[], 4)),
        ]
    };
    let two = [(80, "http"), (81, "admin")];
    for (service_ports, port, expected) in [
        (&two[..], 80, &["10.1.0.1:8080", "10.1.0.2:8081"][..]),
        (&two, 81, &["10.1.0.1:9090"]),
        (&two, 82, &["10.1.0.1:82", "10.1.0.2:82", "10.1.0.3:82"]),
        (&[(80, "")], 80, &["10.1.0.3:8082"]),
        (&[(80, "other")], 80, &[]),
        (
            &[],
            65535,
            &["10.1.0.1:65535", "10.1.0.2:65535", "10.1.0.3:65535"],
        ),
    ] {
        let state = state_with(chart(), commands(service_ports));
        let expected: Vec<SocketAddr> = expected.iter().map(|it| at(it)).collect();
        let found = addresses(&state, &target(port), &Client::default());
        assert_eq!(found, expected, "{service_ports:?} {port}");
    }
}

#[test]
fn only_ready_endpoints_with_the_hostname_asked_for_are_told() {
    let named = |pod: &str, address: &str| Endpoint {
        hostname: Some(pod.into()),
        ..endpoint(pod, address)
    };
    let unready = Endpoint {
        readiness: Readiness::Unready,
        ..named("web-2", "10.1.0.2")
    };
    let slice = slice(vec![
        named("web-0", "10.1.0.1"),
        endpoint("x", "10.1.0.9"),
        unready,
    ]);
    let commands = vec![put_service("web", service()), put_slice("web-1", slice)];
    let state = state_with(chart(), commands);
    for (hostname, expected) in [
        (None, &["10.1.0.1:8080", "10.1.0.9:8080"][..]),
        (Some("web-0"), &["10.1.0.1:8080"]),
        (Some("web-2"), &[]),
        (Some("WEB-0"), &[]),
    ] {
        let target = Target {
            hostname: hostname.map(Into::into),
            ..target(80)
        };
        let expected: Vec<SocketAddr> = expected.iter().map(|it| at(it)).collect();
        assert_eq!(
            addresses(&state, &target, &Client::default()),
            expected,
            "{hostname:?}"
        );
    }
}

/// Two meshed pods on two nodes and in two zones, and a foreign address, each
/// with the zones it is hinted for.
fn spread(hints: [&[&str]; 3], policy: InternalTraffic) -> State {
    let placed = |letter: &str, address: &str, hints: &[&str]| Endpoint {
        zone: Some(format!("zone-{letter}").into()),
        hint_zones: hints.iter().map(|zone| (*zone).into()).collect(),
        ..endpoint_of(
            Workload {
                node: Some(format!("node-{letter}").into()),
                ..workload(&format!("web-{letter}"))
            },
            address,
        )
    };
    let foreign = Endpoint {
        hint_zones: hints[2].iter().map(|zone| (*zone).into()).collect(),
        ..address_only("10.1.0.3")
    };
    let slice = slice(vec![
        placed("a", "10.1.0.1", hints[0]),
        placed("b", "10.1.0.2", hints[1]),
        foreign,
    ]);
    let service = ServiceRecord {
        internal_traffic: policy,
        ..service()
    };
    let mut commands = zones();
    commands.extend([put_service("web", service), put_slice("web-1", slice)]);
    state_with(chart(), commands)
}

fn lasts(state: &State, client: &Client) -> Vec<u8> {
    let found = addresses(state, &target(80), client);
    let last = |address: SocketAddr| match address {
        SocketAddr::V4(v4) => v4.ip().octets()[3],
        SocketAddr::V6(v6) => v6.ip().octets()[15],
    };
    found.into_iter().map(last).collect()
}

#[test]
fn hints_count_when_all_have_them_and_one_fits() {
    let all: [&[&str]; 3] = [&["zone-a"], &["zone-b"], &["zone-b"]];
    let partial: [&[&str]; 3] = [&["zone-a"], &["zone-b"], &[]];
    let shared: [&[&str]; 3] = [&["zone-a", "zone-b"], &["zone-b"], &["zone-c"]];
    for (hints, node, expected) in [
        (all, "node-a", &[1][..]),
        (all, "node-b", &[2, 3]),
        (all, "node-c", &[1, 2, 3]),
        (all, "nowhere", &[1, 2, 3]),
        (all, "", &[1, 2, 3]),
        (partial, "node-a", &[1, 2, 3]),
        (shared, "node-b", &[1, 2]),
        (shared, "node-c", &[3]),
    ] {
        let state = spread(hints, InternalTraffic::Cluster);
        let client = if node.is_empty() {
            Client::default()
        } else {
            on(node)
        };
        assert_eq!(lasts(&state, &client), expected, "{hints:?} {node}");
    }
}

#[test]
fn a_local_policy_leaves_the_pods_of_the_clients_node_whatever_the_hints() {
    let hints: [&[&str]; 3] = [&["zone-b"], &["zone-a"], &["zone-a"]];
    let state = spread(hints, InternalTraffic::Local);
    assert_eq!(lasts(&state, &on("node-a")), [1]);
    assert_eq!(lasts(&state, &on("node-b")), [2]);
    let nothing: [u8; 0] = [];
    assert_eq!(lasts(&state, &on("node-c")), nothing);
    assert_eq!(lasts(&state, &Client::default()), nothing);
}

#[test]
fn only_a_local_policy_tells_the_nodes_of_one_zone_apart() {
    let none: [&[&str]; 3] = [&[], &[], &[]];
    let place = |policy, client: &Client| Place::of(&spread(none, policy), &target(80), client);
    let at = |node: Option<&str>, zone: Option<&str>| Place {
        node: node.map(Into::into),
        zone: zone.map(Into::into),
    };
    for (policy, client, expected) in [
        (
            InternalTraffic::Cluster,
            on("node-a"),
            at(None, Some("zone-a")),
        ),
        (InternalTraffic::Cluster, on("nowhere"), at(None, None)),
        (
            InternalTraffic::Local,
            on("node-a"),
            at(Some("node-a"), Some("zone-a")),
        ),
        (
            InternalTraffic::Local,
            on("nowhere"),
            at(Some("nowhere"), None),
        ),
        (InternalTraffic::Local, Client::default(), at(None, None)),
    ] {
        assert_eq!(place(policy, &client), expected, "{policy:?} {client:?}");
    }
}

#[test]
fn hints_are_judged_after_the_hostname() {
    let hinted = Endpoint {
        hostname: Some("web-0".into()),
        hint_zones: vec!["zone-b".into()],
        ..endpoint("web-0", "10.1.0.1")
    };
    let other = Endpoint {
        hint_zones: vec!["zone-a".into()],
        ..endpoint("web-1", "10.1.0.2")
    };
    let mut commands = zones();
    let slice = slice(vec![hinted, other]);
    commands.extend([put_service("web", service()), put_slice("web-1", slice)]);
    let state = state_with(chart(), commands);
    let target = Target {
        hostname: Some("web-0".into()),
        ..target(80)
    };
    assert_eq!(
        addresses(&state, &target, &on("node-a")),
        [at("10.1.0.1:8080")]
    );
}

#[test]
fn zones_are_said_and_weigh_where_they_shall() {
    let none: [&[&str]; 3] = [&[], &[], &[]];
    let state = spread(none, InternalTraffic::Cluster);
    let weighing = {
        let mut state = state.clone();
        let settings = Settings {
            zone_weights: true,
            ..chart()
        };
        apply(&mut state, vec![Command::PutSettings(settings.into())]);
        state
    };
    let said = |state: &State, client: &Client| -> Vec<(Option<String>, String, u32)> {
        let set = answer(state, &target(80), client);
        let label = |it: &Described, key: &str| it.labels.get(key).map(ToString::to_string);
        set.endpoints
            .values()
            .map(|it| {
                (
                    label(it, "zone"),
                    label(it, "zone_locality").unwrap(),
                    it.weight,
                )
            })
            .collect()
    };
    let zone = |letter: &str| Some(format!("zone-{letter}"));
    let expected = |localities: [&str; 3], first: u32| {
        let [one, two, three] = localities.map(ToOwned::to_owned);
        vec![
            (zone("a"), one, first),
            (zone("b"), two, 10_000),
            (None, three, 10_000),
        ]
    };
    let near = ["local", "remote", "unknown"];
    assert_eq!(said(&state, &on("node-a")), expected(near, 10_000));
    assert_eq!(said(&weighing, &on("node-a")), expected(near, 100_000));
    let unknown = expected(["unknown"; 3], 10_000);
    assert_eq!(said(&weighing, &Client::default()), unknown);
    assert_eq!(said(&weighing, &on("nowhere")), unknown);
}

#[test]
fn a_pod_with_two_families_is_told_once() {
    let v6 = Endpoint {
        hint_zones: vec!["zone-b".into()],
        ..endpoint("web-1", "fd00::1")
    };
    let v4 = Endpoint {
        hint_zones: vec!["zone-a".into()],
        ..endpoint("web-1", "10.1.0.1")
    };
    let only_v4 = Endpoint {
        hint_zones: vec!["zone-a".into()],
        ..endpoint("web-2", "10.1.0.2")
    };
    let foreign = |address: &str| Endpoint {
        hint_zones: vec!["zone-b".into()],
        ..address_only(address)
    };
    let mut commands = zones();
    commands.extend([
        put_service("web", service()),
        put_slice("web-4", slice(vec![v4, only_v4, foreign("10.1.0.9")])),
        put_slice("web-6", slice(vec![v6, foreign("fd00::9")])),
    ]);
    let (one, two, nine) = ("10.1.0.1:8080", "10.1.0.2:8080", "10.1.0.9:8080");
    let (six, nine_six) = ("[fd00::1]:8080", "[fd00::9]:8080");
    for (settings, client, expected) in [
        (plain(), Client::default(), &[two, nine, six, nine_six][..]),
        (chart(), Client::default(), &[one, two, nine, nine_six]),
        // After the zones: in zone a only the IPv4 address is left to choose from.
        (plain(), on("node-a"), &[one, two]),
        (plain(), on("node-b"), &[nine, six, nine_six]),
        (chart(), on("node-b"), &[nine, nine_six]),
    ] {
        let state = state_with(settings, commands.clone());
        let expected: Vec<SocketAddr> = expected.iter().map(|it| at(it)).collect();
        assert_eq!(addresses(&state, &target(80), &client), expected);
    }
}

#[test]
fn all_slices_count_and_of_equal_addresses_the_last() {
    let first = slice(vec![
        endpoint("web-1", "10.1.0.1"),
        endpoint("web-2", "10.1.0.2"),
    ]);
    let second = slice(vec![
        endpoint("other", "10.1.0.1"),
        endpoint("web-3", "10.1.0.3"),
    ]);
    let commands = vec![
        put_service("web", service()),
        put_slice("web-b", second.clone()),
        put_slice("web-a", first),
    ];
    let mut state = state_with(chart(), commands);
    let pods = |state: &State| -> Vec<String> {
        let set = answer(state, &target(80), &Client::default());
        let pod = |it: &Described| it.labels.get("pod").unwrap().to_string();
        set.endpoints.values().map(|it| pod(it)).collect()
    };
    assert_eq!(pods(&state), ["other", "web-2", "web-3"]);
    // Whatever the other slice drops, this one still has it.
    apply(&mut state, vec![put_slice("web-a", slice(vec![]))]);
    assert_eq!(pods(&state), ["other", "web-3"]);
    // A slice that changes its owner counts there and no longer here.
    let moved = SliceRecord {
        service: lockstep_model::ServiceId::named("shop", "cart"),
        ..second
    };
    apply(&mut state, vec![put_slice("web-b", moved)]);
    assert!(pods(&state).is_empty());
}

#[test]
fn a_renamed_port_moves_every_slice_at_once() {
    let both = |pod: &str, address: &str| SliceRecord {
        ports: vec![slice_port("http", 8080), slice_port("web", 9090)],
        ..slice(vec![endpoint(pod, address)])
    };
    let commands = vec![
        put_service("web", service()),
        put_slice("web-1", both("web-1", "10.1.0.1")),
        put_slice("web-2", both("web-2", "10.1.0.2")),
    ];
    let mut state = state_with(chart(), commands);
    let renamed = ServiceRecord {
        ports: vec![service_port(80, "web")],
        ..service()
    };
    apply(&mut state, vec![put_service("web", renamed)]);
    assert_eq!(
        addresses(&state, &target(80), &Client::default()),
        [at("10.1.0.1:9090"), at("10.1.0.2:9090")]
    );
}

#[test]
fn labels_that_slices_disagree_on_go_to_their_addresses() {
    let mirrored = |cluster: &str, address: &str| SliceRecord {
        mirror: Mirror {
            cluster: Some(cluster.into()),
            remote_service: Some("web.prod".into()),
            gateway_identity: None,
        },
        ..slice(vec![address_only(address)])
    };
    let one = vec![
        put_service("web", service()),
        put_slice("web-1", mirrored("east", "10.1.0.1")),
    ];
    let mut state = state_with(chart(), one);
    let shared = [("namespace", "shop"), ("service", "web")];
    let target_of = [
        ("target_service", "web"),
        ("target_service_namespace", "prod"),
    ];
    let set = answer(&state, &target(80), &Client::default());
    let all = [&shared[..], &target_of, &[("target_cluster", "east")]].concat();
    assert_eq!(set.labels, labels(&all));

    apply(
        &mut state,
        vec![put_slice("web-2", mirrored("west", "10.1.0.2"))],
    );
    let set = answer(&state, &target(80), &Client::default());
    assert_eq!(set.labels, labels(&[&shared[..], &target_of].concat()));
    let own: Vec<_> = set.endpoints.values().map(|it| it.labels.clone()).collect();
    let expected = ["east", "west"]
        .map(|cluster| labels(&[("target_cluster", cluster), ("zone_locality", "unknown")]));
    assert_eq!(own, expected);
}
