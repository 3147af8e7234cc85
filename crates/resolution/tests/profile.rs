//! The profile of names and addresses, rule by rule, and over time.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod mesh;

use lockstep_model::{
    Endpoint, Listeners, PodAddresses, PodId, PodPhase, PodRecord, PortRules, Readiness,
    ServiceKind, ServiceRecord, Settings, Workload,
};
use lockstep_resolution::{
    Answer, Client, Described, EndpointProfile, Place, Profile, ProfileStream, Refusal,
    ServiceProfile, SharedAddress, Topic, endpoints, profile, question, servable, target,
    topics_of_profile,
};
use lockstep_state::{Command, State};
use mesh::*;

const WEB: &str = "web.shop.svc.cluster.local:80";

fn ask(state: &State, path: &str) -> Result<Profile, Refusal> {
    profile(state, &question(state, path, &Client::default())?, None)
}

fn of_service(name: &str, port: u16, opaque: bool) -> Profile {
    Profile::Service(ServiceProfile {
        name: format!("{name}.shop.svc.cluster.local").into(),
        service: lockstep_model::ServiceId::named("shop", name),
        port,
        opaque,
        chosen: None,
    })
}

fn bare(address: &str, opaque: bool) -> Profile {
    Profile::Endpoint(EndpointProfile {
        address: at(address),
        pod: None,
        described: Described::bare(),
        opaque,
    })
}

/// A meshed pod as the chart's settings describe it.
fn of_pod(pod: &str, address: &str) -> Profile {
    Profile::Endpoint(EndpointProfile {
        address: at(address),
        pod: Some(PodId::named("shop", pod)),
        described: meshed(pod, &[("namespace", "shop"), ("zone", "")]),
        opaque: false,
    })
}

fn pods(records: &[PodRecord]) -> State {
    state_with(chart(), records.iter().cloned().map(put_pod).collect())
}

#[test]
fn a_service_is_opaque_by_its_annotation_or_else_by_default() {
    let annotated = |ports: Option<&str>| ServiceRecord {
        ports: vec![service_port(80, "http"), service_port(3306, "db")],
        opaque_ports: ports.map(|it| it.parse().unwrap()),
        ..service()
    };
    for (ports, port, opaque) in [
        (None, 80, false),
        (None, 3306, true),
        (Some("80"), 80, true),
        (Some("80"), 3306, false),
        (Some(""), 3306, false),
    ] {
        let state = state_with(chart(), vec![put_service("web", annotated(ports))]);
        let expected = Ok(of_service("web", port, opaque));
        let by_name = format!("web.shop.svc.cluster.local:{port}");
        assert_eq!(ask(&state, &by_name), expected, "{ports:?} {port}");
        assert_eq!(ask(&state, &format!("10.96.0.1:{port}")), expected);
    }
}

#[test]
fn an_undeclared_port_comes_before_an_alias() {
    let alias = ServiceRecord {
        kind: ServiceKind::ExternalName,
        cluster_ips: Vec::new(),
        ..service()
    };
    let commands = vec![put_service("web", service()), put_service("alias", alias)];
    let state = state_with(chart(), commands);
    let alias = "alias.shop.svc.cluster.local";
    for (path, expected) in [
        ("web.shop.svc.cluster.local:81", Ok(Profile::Undeclared)),
        ("10.96.0.1:81", Ok(Profile::Undeclared)),
        (&format!("{alias}:81"), Ok(Profile::Undeclared)),
        (alias, Err(Refusal::ExternalName { path: alias.into() })),
    ] {
        assert_eq!(ask(&state, path), expected, "{path}");
    }
    let asked = target(&state, alias).unwrap();
    let refused = servable(&state, &asked, alias).unwrap_err();
    assert_eq!(refused.to_string(), format!("Invalid authority: {alias}"));
    assert_eq!(servable(&state, &target(&state, WEB).unwrap(), WEB), Ok(()));
}

#[test]
fn a_service_that_is_absent_is_answered_if_the_settings_say_so() {
    let settings = Settings {
        answer_absent: true,
        ..chart()
    };
    let state = state_with(settings, vec![put_service("web", service())]);
    let gone = "gone.shop.svc.cluster.local:80";
    let asked = target(&state, gone).unwrap();
    assert_eq!(servable(&state, &asked, gone), Ok(()));
    let answer = endpoints(&state, &asked, &Place::default()).answer;
    assert_eq!(answer, Answer::Absent);
}

#[test]
fn what_names_nothing_is_refused() {
    let state = state_with(chart(), vec![put_service("web", service())]);
    let missing = |namespace: &str, name: &str| Refusal::ServiceNotFound {
        service: lockstep_model::ServiceId::named(namespace, name),
    };
    let invalid = |path: &str| Refusal::InvalidAuthority { path: path.into() };
    let huge = format!("{}.shop.svc.cluster.local:80", "a".repeat(5_000));
    for (path, expected) in [
        ("", invalid("")),
        ("foo", invalid("foo")),
        (
            "web.shop.svc.cluster.local:0",
            invalid("web.shop.svc.cluster.local:0"),
        ),
        ("fd00::1", invalid("fd00::1")),
        ("WEB.shop.svc.cluster.local", missing("shop", "WEB")),
        ("web..svc.cluster.local", missing("", "web")),
        (&huge, missing("shop", &"a".repeat(5_000))),
    ] {
        assert_eq!(ask(&state, path), Err(expected.clone()), "{path}");
        let of_get = target(&state, path).and_then(|it| servable(&state, &it, path));
        assert_eq!(of_get, Err(expected), "{path}");
    }
    let by_ip = target(&state, "[::ffff:10.1.0.1]:80").unwrap_err();
    assert_eq!(
        by_ip,
        Refusal::IpNotSupported {
            host: ip("10.1.0.1")
        }
    );
    let unsynced = State::default();
    assert_eq!(ask(&unsynced, WEB), Err(Refusal::NotSynced));
    assert_eq!(ask(&unsynced, "foo"), Err(Refusal::NotSynced));
    assert_eq!(target(&unsynced, WEB), Err(Refusal::NotSynced));
}

fn on_host(name: &str, address: &str, ports: &[u16], host_network: bool) -> PodRecord {
    PodRecord {
        addresses: PodAddresses {
            ips: vec![ip(address)],
            host_ips: vec![ip("192.168.0.1")],
            host_ports: ports.to_vec(),
            host_network,
        },
        ..pod(name, address)
    }
}

#[test]
fn an_address_is_a_services_else_a_pods_else_a_hosts_else_unknown() {
    let mut commands: Vec<Command> = [
        pod("clash", "10.96.0.1"),
        pod_of(workload("web-1"), &["10.1.0.1", "fd00::1"]),
        on_host("hp", "10.1.0.2", &[18080], false),
        on_host("net", "192.168.0.1", &[9100], true),
    ]
    .map(put_pod)
    .into();
    commands.push(put_service("web", service()));
    let state = state_with(chart(), commands);
    for (path, expected) in [
        ("10.96.0.1", of_service("web", 80, false)),
        ("10.96.0.1:8080", Profile::Undeclared),
        ("10.1.0.1:8080", of_pod("web-1", "10.1.0.1:8080")),
        ("10.1.0.1:9999", of_pod("web-1", "10.1.0.1:9999")),
        ("[::ffff:10.1.0.1]:80", of_pod("web-1", "10.1.0.1:80")),
        ("[fd00::1]:80", of_pod("web-1", "[fd00::1]:80")),
        ("192.168.0.1:18080", of_pod("hp", "192.168.0.1:18080")),
        ("192.168.0.1:9100", of_pod("net", "192.168.0.1:9100")),
        ("192.168.0.1:80", bare("192.168.0.1:80", false)),
        ("203.0.113.9:3306", bare("203.0.113.9:3306", true)),
    ] {
        assert_eq!(ask(&state, path), Ok(expected), "{path}");
    }
}

#[test]
fn a_pod_is_described_while_it_runs() {
    let phased = |phase| PodRecord {
        phase,
        ..pod("web-1", "10.1.0.1")
    };
    let path = "10.1.0.1:8080";
    for (phase, expected) in [
        (PodPhase::Pending, bare(path, false)),
        (PodPhase::Running, of_pod("web-1", path)),
        (PodPhase::Finished, bare(path, false)),
    ] {
        assert_eq!(
            ask(&pods(&[phased(phase)]), path),
            Ok(expected),
            "{phase:?}"
        );
    }
}

#[test]
fn a_pods_own_annotations_decide_whether_it_is_opaque() {
    let annotated = |opaque: &str, skip: &str| {
        let rules = PortRules {
            opaque: Some(opaque.parse().unwrap()),
            skip_inbound: skip.parse().unwrap(),
            listeners: listeners(),
        };
        pod_of(
            Workload {
                rules,
                ..workload("web-1")
            },
            &["10.1.0.1"],
        )
    };
    for (opaque, skip, path, is_opaque, is_hinted) in [
        ("8080", "", "10.1.0.1:8080", true, true),
        ("8080", "8080", "10.1.0.1:8080", true, false),
        ("", "", "10.1.0.1:3306", false, true),
    ] {
        let Ok(Profile::Endpoint(found)) = ask(&pods(&[annotated(opaque, skip)]), path) else {
            panic!("no endpoint");
        };
        let hinted = found.described.hint.is_some();
        assert_eq!((found.opaque, hinted), (is_opaque, is_hinted), "{path}");
    }
}

#[test]
fn a_pod_whose_proxy_does_not_say_where_it_listens_is_bare_until_it_does() {
    let mute = |workload| Workload {
        rules: PortRules {
            listeners: Listeners::default(),
            ..PortRules::default()
        },
        ..workload
    };
    for (port, opaque) in [(80, false), (3306, true)] {
        let path = format!("10.1.0.1:{port}");
        let mut state = pods(&[pod_of(mute(workload("web-1")), &["10.1.0.1"])]);
        let asked = question(&state, &path, &Client::default()).unwrap();
        let (mut stream, first) = ProfileStream::open(&state, asked).unwrap();
        assert_eq!(first, Some(bare(&path, opaque)));
        apply(&mut state, vec![put_pod(pod("web-1", "10.1.0.1"))]);
        let told = stream.advance(&state);
        let Some(Profile::Endpoint(told)) = told else {
            panic!("not described: {told:?}");
        };
        assert!(told.described.identity.is_some() && told.described.hint.is_some());
        assert_eq!(told.opaque, opaque);
    }
}

fn terminating(record: PodRecord) -> PodRecord {
    PodRecord {
        terminating: true,
        ..record
    }
}

#[test]
fn several_live_owners_are_refused_and_leaving_ones_do_not_count() {
    let (one, two) = (pod("one", "10.1.0.1"), pod("two", "10.1.0.1"));
    let phased = |phase| PodRecord {
        phase,
        ..two.clone()
    };
    let path = "10.1.0.1:8080";
    let ambiguous = |address| Refusal::AmbiguousAddress { count: 2, address };
    let in_pods = || Err(ambiguous(SharedAddress::Pod(ip("10.1.0.1"))));
    for (other, expected) in [
        (two.clone(), in_pods()),
        (phased(PodPhase::Pending), in_pods()),
        (phased(PodPhase::Finished), Ok(of_pod("one", path))),
        (terminating(two.clone()), Ok(of_pod("one", path))),
    ] {
        assert_eq!(ask(&pods(&[one.clone(), other]), path), expected);
    }
    let both_leave = pods(&[terminating(one), terminating(two)]);
    assert_eq!(ask(&both_leave, path), Ok(bare(path, false)));

    let hosts = ["a", "b"].map(|name| on_host(name, &format!("fd00::{name}"), &[80], false));
    let shared = SharedAddress::HostPort(at("192.168.0.1:80"));
    assert_eq!(ask(&pods(&hosts), "192.168.0.1"), Err(ambiguous(shared)));

    let commands = vec![
        put_service("web", service()),
        put_service("cart", service()),
    ];
    let shared = SharedAddress::Cluster(ip("10.96.0.1"));
    let state = state_with(chart(), commands);
    assert_eq!(ask(&state, "10.96.0.1"), Err(ambiguous(shared)));
}

#[test]
fn a_hostname_is_a_pod_ready_or_not() {
    let named = |endpoint: Endpoint, hostname: &str| Endpoint {
        hostname: Some(hostname.into()),
        readiness: Readiness::Unready,
        ..endpoint
    };
    let leaving = terminating(pod("old", "10.1.0.8"));
    let endpoints = vec![
        named(endpoint("web-0", "10.1.0.1"), "web-0"),
        named(endpoint("ghost", "10.1.0.2"), "ghost"),
        named(address_only("10.1.0.3"), "foreign"),
        named(endpoint("old", "10.1.0.8"), "replaced"),
        named(endpoint("new", "10.1.0.9"), "replaced"),
        named(endpoint("old", "10.1.0.8"), "leaving"),
    ];
    let dual = pod_of(workload("web-0"), &["10.1.0.1", "fd00::1"]);
    let mut commands: Vec<Command> = [dual, pod("new", "10.1.0.9"), leaving].map(put_pod).into();
    commands.extend([
        put_service("web", service()),
        put_slice("web-1", slice(endpoints)),
    ]);
    let state = state_with(chart(), commands);
    let missing = |hostname: &str| Refusal::HostnameNotFound {
        service: web(),
        hostname: hostname.into(),
    };
    for (hostname, expected) in [
        ("web-0", Ok(of_pod("web-0", "10.1.0.1:80"))),
        ("replaced", Ok(of_pod("new", "10.1.0.9:80"))),
        ("leaving", Ok(of_pod("old", "10.1.0.8:80"))),
        ("ghost", Err(missing("ghost"))),
        ("foreign", Err(missing("foreign"))),
        ("nobody", Err(missing("nobody"))),
    ] {
        assert_eq!(ask(&state, &format!("{hostname}.{WEB}")), expected);
    }
    let topics = topics_of_profile(
        &state,
        &question(&state, &format!("replaced.{WEB}"), &Client::default()).unwrap(),
    );
    let pod_topic = |name| Topic::Pod(PodId::named("shop", name));
    let expected = [Topic::Service(web()), pod_topic("new"), pod_topic("old")];
    assert_eq!(topics, expected);
}

/// One stream over a changing state.
struct Told {
    state: State,
    stream: ProfileStream,
}

impl Told {
    fn open(state: State, path: &str, first: &Profile) -> Self {
        let asked = question(&state, path, &Client::default()).unwrap();
        let (stream, message) = ProfileStream::open(&state, asked).unwrap();
        assert_eq!(message.as_ref(), Some(first));
        Self { state, stream }
    }

    fn after(&mut self, command: Command) -> Option<Profile> {
        apply(&mut self.state, vec![command]);
        self.stream.advance(&self.state)
    }
}

#[test]
fn a_stream_follows_a_pod_through_its_life() {
    let path = "10.1.0.1:8080";
    let pending = PodRecord {
        phase: PodPhase::Pending,
        ..pod("web-1", "10.1.0.1")
    };
    let running = pod("web-1", "10.1.0.1");
    let mut told = Told::open(pods(&[pending]), path, &bare(path, false));
    let full = of_pod("web-1", path);
    assert_eq!(told.after(put_pod(running.clone())), Some(full));
    // It drains, and nobody has its address yet.
    assert_eq!(told.after(put_pod(terminating(running))), None);
    let next = of_pod("web-2", path);
    assert_eq!(told.after(put_pod(pod("web-2", "10.1.0.1"))), Some(next));
    // Its own end does not take the address from the next one.
    assert_eq!(told.after(remove_pod("web-1")), None);
    assert_eq!(told.after(remove_pod("web-2")), Some(bare(path, false)));
    assert_eq!(told.after(remove_pod("web-2")), None);
}

#[test]
fn a_stream_keeps_its_pod_when_another_claims_the_address() {
    let path = "10.1.0.1:8080";
    let first = of_pod("web-1", path);
    let mut told = Told::open(pods(&[pod("web-1", "10.1.0.1")]), path, &first);
    assert_eq!(told.after(put_pod(pod("web-2", "10.1.0.1"))), None);
    let left = told.after(remove_pod("web-1"));
    assert_eq!(left, Some(of_pod("web-2", path)));
}

#[test]
fn a_stream_follows_the_edits_of_a_running_pod() {
    let path = "10.1.0.1:8080";
    let first = of_pod("web-1", path);
    let mut told = Told::open(pods(&[pod("web-1", "10.1.0.1")]), path, &first);
    let opaque = Workload {
        rules: PortRules {
            opaque: Some("8080".parse().unwrap()),
            listeners: listeners(),
            ..PortRules::default()
        },
        ..workload("web-1")
    };
    let Some(Profile::Endpoint(now)) = told.after(put_pod(pod_of(opaque, &["10.1.0.1"]))) else {
        panic!("nothing told");
    };
    assert!(now.opaque);
}

#[test]
fn a_stream_follows_the_ports_of_its_service() {
    let with_ports = |ports: &[u16]| {
        let ports = ports.iter().map(|port| service_port(*port, "http"));
        put_service(
            "web",
            ServiceRecord {
                ports: ports.collect(),
                ..service()
            },
        )
    };
    let state = state_with(chart(), vec![with_ports(&[80])]);
    let mut told = Told::open(state, "10.96.0.1:81", &Profile::Undeclared);
    let declared = told.after(with_ports(&[80, 81]));
    assert_eq!(declared, Some(of_service("web", 81, false)));
    assert_eq!(told.after(with_ports(&[80])), Some(Profile::Undeclared));
    assert_eq!(told.after(with_ports(&[80, 82])), None);
}

#[test]
fn a_service_that_goes_away_keeps_its_name_and_loses_its_annotation() {
    let opaque = ServiceRecord {
        opaque_ports: Some("80".parse().unwrap()),
        ..service()
    };
    let put = || put_service("web", opaque.clone());
    let state = state_with(chart(), vec![put()]);
    let mut told = Told::open(state, WEB, &of_service("web", 80, true));
    let gone = told.after(Command::RemoveService(web()));
    assert_eq!(gone, Some(of_service("web", 80, false)));
    assert_eq!(told.after(put()), Some(of_service("web", 80, true)));
    let alias = ServiceRecord {
        kind: ServiceKind::ExternalName,
        ..service()
    };
    assert_eq!(told.after(put_service("web", alias)), None);
}

#[test]
fn a_stream_by_cluster_ip_follows_the_address() {
    let state = state_with(chart(), vec![put_service("web", service())]);
    let mut told = Told::open(state, "10.96.0.1", &of_service("web", 80, false));
    let gone = told.after(Command::RemoveService(web()));
    assert_eq!(gone, Some(bare("10.96.0.1:80", false)));
    let taken = told.after(put_service("cart", service()));
    assert_eq!(taken, Some(of_service("cart", 80, false)));
}

#[test]
fn a_stream_by_hostname_follows_the_name() {
    let named = |pod: &str, address: &str| {
        let endpoint = Endpoint {
            hostname: Some("web-0".into()),
            ..endpoint(pod, address)
        };
        put_slice("web-1", slice(vec![endpoint]))
    };
    let commands = vec![
        put_service("web", service()),
        put_pod(pod("web-0", "10.1.0.1")),
        named("web-0", "10.1.0.1"),
    ];
    let path = format!("web-0.{WEB}");
    let first = of_pod("web-0", "10.1.0.1:80");
    let mut told = Told::open(state_with(chart(), commands), &path, &first);
    let gone = told.after(remove_pod("web-0"));
    assert_eq!(gone, Some(bare("10.1.0.1:80", false)));
    let back = told.after(put_pod(pod("web-0", "10.1.0.2")));
    assert_eq!(back, Some(of_pod("web-0", "10.1.0.2:80")));
}
