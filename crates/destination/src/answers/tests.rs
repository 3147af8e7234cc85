use super::*;
use linkerd2_proxy_api::destination as api;
use lockstep_model::{
    AddressFamily, Endpoint, EndpointTarget, InternalTraffic, Listeners, Mirror, NamedBy, Owner,
    PodAddresses, PodId, PodPhase, PodRecord, PortRules, PortSet, Readiness, ServiceId,
    ServiceKind, ServiceRecord, Settings, SliceId, SlicePort, SliceRecord, Workload,
};
use lockstep_position::{LogId, Term};
use lockstep_state::{Batch, Command};
use prost::Message;

fn target() -> Target {
    Target {
        service: ServiceId::named("shop", "web"),
        port: 80,
        hostname: None,
    }
}

fn slice(last: u8) -> Command {
    slice_of(vec![endpoint(last, EndpointTarget::Address)])
}

fn endpoint(last: u8, target: EndpointTarget) -> Endpoint {
    Endpoint {
        ip: [10, 1, 0, last].into(),
        hostname: None,
        readiness: Readiness::Ready,
        zone: None,
        hint_zones: Vec::new(),
        hint_nodes: Vec::new(),
        target,
    }
}

fn slice_of(endpoints: Vec<Endpoint>) -> Command {
    let record = SliceRecord {
        service: target().service,
        named_by: NamedBy::Label,
        family: AddressFamily::V4,
        ports: vec![SlicePort {
            name: "http".into(),
            port: 8080,
        }],
        endpoints,
        mirror: Mirror::default(),
    };
    Command::PutSlice(SliceId::named("shop", "web"), record.into())
}

fn service(name: &str) -> Command {
    let record = ServiceRecord {
        kind: ServiceKind::Endpoints,
        ports: Vec::new(),
        cluster_ips: Vec::new(),
        internal_traffic: InternalTraffic::Cluster,
        opaque_ports: None,
        remote: None,
        is_federated: false,
    };
    Command::PutService(ServiceId::named("shop", name), record.into())
}

fn apply(state: &State, commands: Vec<Command>) -> State {
    let mut next = state.clone();
    let term = Term::from_u64(1);
    next.apply(LogId { term, index: 1 }, Batch::whole(term, commands));
    next
}

fn some_state() -> State {
    let settings = Command::PutSettings(Settings::default().into());
    let zone = |node: &str| Command::PutNode(node.into(), "zone-a".into());
    let nodes = [zone("node-a"), zone("node-b")];
    let mut commands = vec![settings, service("web"), slice(1)];
    commands.extend(nodes);
    apply(&State::default(), commands)
}

fn on(node: &str) -> Client {
    Client {
        node: Some(node.into()),
        namespace: None,
    }
}

/// A stream, and what it was told with each message.
#[derive(Default)]
struct Stream {
    cell: Option<Arc<Cell>>,
    machine: EndpointStream,
}

impl Stream {
    fn look(&mut self, answers: &Answers, state: &State, client: &Client) -> Frames {
        let cell = answers.cell(state, &target(), client, self.cell.take());
        let frames = cell.advance(state, &mut self.machine);
        self.cell = Some(cell);
        frames
    }
}

/// The messages in frames.
fn read(frames: &Frames) -> Vec<api::Update> {
    let message = |frame: &Bytes| api::Update::decode(frame.slice(5..)).unwrap();
    frames.iter().map(message).collect()
}

/// What a stream would be told last that shares nothing.
fn alone(states: &[&State], client: &Client) -> Vec<api::Update> {
    let mut machine = EndpointStream::default();
    let mut last = Vec::new();
    for state in states {
        let selection = endpoints(state, &target(), &Place::of(state, &target(), client));
        last = machine
            .advance(selection.answer)
            .iter()
            .map(encode::update)
            .collect();
    }
    last
}

#[test]
fn streams_in_one_place_share_their_messages() {
    let (answers, state) = (Answers::default(), some_state());
    let later = apply(&state, vec![slice(2)]);
    let (mut one, mut two, mut far) = (Stream::default(), Stream::default(), Stream::default());
    for state in [&state, &later] {
        let first = one.look(&answers, state, &on("node-a"));
        let second = two.look(&answers, state, &on("node-b"));
        let third = far.look(&answers, state, &on("nowhere"));
        assert!(Arc::ptr_eq(&first, &second));
        assert!(!Arc::ptr_eq(&first, &third));
        assert!(!first.is_empty() && !third.is_empty());
    }
}

#[test]
fn a_stream_is_told_what_it_would_be_told_alone() {
    let (answers, state) = (Answers::default(), some_state());
    let later = apply(&state, vec![slice(2)]);
    let latest = apply(&later, vec![slice(3)]);
    let client = on("node-a");
    let (quick, slow, new) = (0, 1, 2);
    let mut streams: [Stream; 3] = Default::default();
    for (stream, told, states) in [
        (quick, &state, &[&state][..]),
        (slow, &state, &[&state]),
        (quick, &later, &[&state, &later]),
        (quick, &latest, &[&state, &later, &latest]),
        // One that missed a revision, and one that begins.
        (slow, &latest, &[&state, &latest]),
        (new, &latest, &[&latest]),
    ] {
        let frames = streams[stream].look(&answers, told, &client);
        assert_eq!(read(&frames), alone(states, &client));
    }
    // One that has read an older state is answered from that one.
    let mut behind = Stream::default();
    let frames = behind.look(&answers, &later, &client);
    assert_eq!(read(&frames), alone(&[&later], &client));
}

#[test]
fn a_revision_that_changes_nothing_for_a_target_says_nothing() {
    let (answers, state) = (Answers::default(), some_state());
    let later = apply(&state, vec![service("cart")]);
    let client = on("node-a");
    let (mut one, mut two) = (Stream::default(), Stream::default());
    let first = one.look(&answers, &state, &client);
    assert!(one.look(&answers, &later, &client).is_empty());
    // The answer is the same one still, and so is its first message.
    assert!(Arc::ptr_eq(&two.look(&answers, &later, &client), &first));
}

#[test]
fn a_client_whose_node_moves_changes_its_cell() {
    let (answers, state) = (Answers::default(), some_state());
    let moved = Command::PutNode("node-a".into(), "zone-b".into());
    let later = apply(&state, vec![moved]);
    let (mut one, mut two) = (Stream::default(), Stream::default());
    one.look(&answers, &state, &on("node-a"));
    one.look(&answers, &later, &on("node-a"));
    two.look(&answers, &later, &on("node-b"));
    let zone = |stream: Stream| stream.cell.unwrap().key.1.zone.clone();
    assert_eq!(zone(one), Some("zone-b".into()));
    assert_eq!(zone(two), Some("zone-a".into()));
}

#[test]
fn few_steps_are_kept() {
    let answers = Answers::default();
    let mut state = some_state();
    let client = on("node-a");
    let mut lagging = Vec::new();
    for last in 2..20 {
        let mut stream = Stream::default();
        stream.look(&answers, &state, &client);
        lagging.push((stream, state.clone()));
        state = apply(&state, vec![slice(last)]);
    }
    for (stream, told) in &mut lagging {
        let frames = stream.look(&answers, &state, &client);
        assert_eq!(read(&frames), alone(&[told, &state], &client));
        let cell = stream.cell.as_ref().unwrap();
        let steps = locked(&cell.newest).as_ref().unwrap().steps.len();
        assert!(steps <= STEPS_MAX);
    }
}

#[test]
fn cells_without_a_stream_are_thrown_out() {
    let (answers, state) = (Answers::default(), some_state());
    let kept = answers.cell(&state, &target(), &on("node-a"), None);
    for port in 1..1_000 {
        let target = Target { port, ..target() };
        answers.cell(&state, &target, &on("node-a"), None);
    }
    let cells = locked(&answers.0).by_key.len();
    assert!(cells <= 3, "{cells}");
    let again = answers.cell(&state, &target(), &on("node-a"), None);
    assert!(Arc::ptr_eq(&kept, &again));
}

fn workload(name: &str) -> Arc<Workload> {
    Arc::new(Workload {
        pod: PodId::named("shop", name),
        owner: Owner {
            label: "pod".into(),
            name: name.into(),
        },
        node: None,
        service_account: "default".into(),
        control_plane: None,
        template_hash: None,
        rules: PortRules {
            listeners: Listeners::default(),
            ..PortRules::default()
        },
        opaque_by_server: PortSet::default(),
    })
}

fn pod(name: &str, terminating: bool) -> Command {
    let record = PodRecord {
        workload: workload(name),
        addresses: PodAddresses {
            ips: vec![[10, 1, 0, 1].into()],
            ..PodAddresses::default()
        },
        phase: PodPhase::Running,
        terminating,
    };
    Command::PutPod(PodId::named("shop", name), record.into())
}

#[test]
fn a_contested_address_is_known_at_every_revision() {
    let (answers, state) = (Answers::default(), some_state());
    let cell = answers.cell(&state, &target(), &on("node-a"), None);
    let contested = |state: &State| -> Vec<String> {
        let contested = cell.contested(state);
        contested.iter().map(ToString::to_string).collect()
    };
    assert!(contested(&state).is_empty());
    let claims = ["one", "two"].map(|name| endpoint(1, EndpointTarget::Pod(workload(name))));
    let slice_of_both = slice_of(claims.into());
    let commands = vec![slice_of_both, pod("one", false), pod("two", false)];
    let both = apply(&state, commands);
    assert_eq!(contested(&both), ["10.1.0.1"]);
    let mut machine = EndpointStream::default();
    assert_eq!(read(&cell.advance(&both, &mut machine)).len(), 1);
    // Only a pod changes, and with it the owner of the address.
    let leaving = apply(&both, vec![pod("two", true)]);
    assert_eq!(read(&cell.advance(&leaving, &mut machine)).len(), 1);
    assert_eq!(contested(&leaving), ["10.1.0.1"]);
    // An equal answer may be contested no longer.
    let alone = slice_of(vec![endpoint(1, EndpointTarget::Pod(workload("one")))]);
    let alone = apply(&leaving, vec![alone]);
    assert!(cell.advance(&alone, &mut machine).is_empty());
    assert!(contested(&alone).is_empty());
}
