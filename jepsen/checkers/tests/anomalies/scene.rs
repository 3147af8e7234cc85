//! A small run in which everything goes as it should, for tests that let one thing go wrong.
//!
//! ```text
//! seconds  0   10    20   30  32──40  45─48  55─58  60     64     90
//! phase    warm           faults                    healed        settled
//! faults                      n3 cut  n1 dead n2 dead
//! leader   n1                         n2     n1
//! revision 1         2        3                            4
//! ```

use lockstep_jepsen_checkers::*;
use lockstep_jepsen_model::{
    Behind, Change, Described, Endpoint, Family, Labels, Message, Mirror, Name, Question,
    Readiness, Service, ServicePort, Slice, SlicePort,
};
use serde_json::{Value, json};
use std::{collections::BTreeSet, net::SocketAddr, sync::Arc};

pub(crate) const HISTORY: u128 = 0xabc;
pub(crate) const REPLICAS: [Replica; 3] = [Replica(1), Replica(2), Replica(3)];
pub(crate) const N1: Replica = REPLICAS[0];
pub(crate) const N2: Replica = REPLICAS[1];
pub(crate) const N3: Replica = REPLICAS[2];

/// What a checker found: the guarantee, what happened, and the events that show it, each as
/// `f@seconds`.
pub(crate) type Found = (Guarantee, String, Vec<String>);

pub(crate) struct Scene {
    pub(crate) events: Vec<Event>,
    pub(crate) limits: Limits,
}

pub(crate) fn rev(number: u64) -> Rev {
    Rev::new(HISTORY, number)
}

pub(crate) fn ns(seconds: f64) -> u64 {
    std::time::Duration::from_secs_f64(seconds)
        .as_nanos()
        .try_into()
        .unwrap()
}

pub(crate) fn address(version: u8) -> SocketAddr {
    ([10, 0, 0, version], 8080).into()
}

pub(crate) fn add(versions: &[u8]) -> Message {
    let described = Described {
        weight: 10_000,
        labels: labels([("zone_locality", "unknown")]),
        identity: None,
        hint: None,
        authority_override: None,
        http2: None,
    };
    let described = Arc::new(described);
    let endpoints = versions
        .iter()
        .map(|version| (address(*version), described.clone()));
    Message::Add {
        labels: labels([("namespace", "shop"), ("service", "web")]).into(),
        endpoints: endpoints.collect(),
    }
}

pub(crate) fn remove(version: u8) -> Message {
    Message::Remove(vec![address(version)])
}

fn labels<const N: usize>(pairs: [(&str, &str); N]) -> Labels {
    pairs.map(|(key, value)| (key.into(), value.into())).into()
}

/// Version `version` of the only slice, as somebody wrote it.
pub(crate) fn slice_object(version: u8) -> Value {
    json!({
        "kind": "EndpointSlice",
        "metadata": {
            "name": "web-a", "namespace": "shop",
            "labels": {"kubernetes.io/service-name": "web"},
        },
        "addressType": "IPv4",
        "ports": [{"name": "http", "port": 8080}],
        "endpoints": [{"addresses": [address(version).ip().to_string()]}],
    })
}

fn service_object() -> Value {
    json!({
        "kind": "Service",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"ports": [{"name": "http", "port": 80}]},
    })
}

/// The same version, as the log has it.
pub(crate) fn slice_change(version: u8) -> Change {
    let endpoint = Endpoint {
        ip: address(version).ip(),
        readiness: Readiness::Ready,
        hostname: None,
        zone: None,
        hint_zones: Vec::new(),
        hint_nodes: Vec::new(),
        behind: Behind::Nothing,
    };
    let port = SlicePort {
        name: "http".into(),
        port: 8080,
    };
    let slice = Slice {
        service: Name::new("shop", "web"),
        family: Family::V4,
        ports: vec![port],
        endpoints: vec![endpoint],
        mirror: Mirror::default(),
        labelled: true,
    };
    Change::Slice(Name::new("shop", "web-a"), Some(slice.into()))
}

fn service_change() -> Change {
    let port = ServicePort {
        port: 80,
        name: "http".into(),
    };
    let service = Service {
        ports: vec![port],
        ..Service::default()
    };
    Change::Service(Name::new("shop", "web"), Some(service.into()))
}

pub(crate) fn batch(term: u64, changes: Vec<Change>) -> Payload {
    Payload::Batch {
        term,
        part: Part::WHOLE,
        changes: changes.into(),
        source: Arc::default(),
    }
}

pub(crate) fn effect(set: impl FnOnce(&mut Effect)) -> Effect {
    let mut effect = Effect::default();
    set(&mut effect);
    effect
}

pub(crate) fn fault(id: u64, class: &str, effect: Effect) -> Fault {
    Fault {
        id,
        class: class.into(),
        installed: Installed::Yes,
        effect,
    }
}

// === impl Scene ===

impl Scene {
    /// Everything goes as it should.
    pub(crate) fn new() -> Self {
        let mut scene = Self {
            events: Vec::new(),
            limits: Limits::default(),
        };
        scene.limits.coverage = Coverage {
            faults: [("cut".into(), 1), ("kill".into(), 2)].into(),
            operations_under_each_fault: 1,
            messages: 5,
            warm_operations_per_second: 0,
            ..Coverage::default()
        };
        scene.phases_and_faults();
        scene.log();
        scene.truth();
        scene.streams();
        scene.observers();
        scene.operations();
        scene.end();
        scene
    }

    pub(crate) fn push(&mut self, seconds: f64, process: Process, what: What) {
        let at = ns(seconds);
        self.events.push(Event { at, process, what });
    }

    pub(crate) fn nemesis(&mut self, seconds: f64, seen: Seen) {
        self.push(seconds, Process::Nemesis, What::Seen(seen));
    }

    pub(crate) fn observed(&mut self, seconds: f64, replica: Replica, seen: Seen) {
        self.push(seconds, Process::Observer(replica), What::Seen(seen));
    }

    pub(crate) fn told(&mut self, seconds: f64, stream: u64, number: u64, message: Message) {
        let told = Told {
            rev: Some(rev(number)),
            stale: None,
            age_ms: None,
            message,
        };
        self.push(
            seconds,
            Process::Stream(stream),
            What::Seen(Seen::Msg(told)),
        );
    }

    pub(crate) fn open(&mut self, seconds: f64, stream: u64, client: u64, replica: Replica) {
        let open = Open {
            client,
            replica,
            question: Question {
                authority: "web.shop.svc.cluster.local:80".into(),
                node: "".into(),
            },
            min: None,
            reads: true,
        };
        self.push(
            seconds,
            Process::Stream(stream),
            What::Invoke(Call::Open(open)),
        );
        let opened = Opened {
            rev: None,
            stale: Some(false),
            age_ms: Some(100),
        };
        self.push(
            seconds + 0.01,
            Process::Stream(stream),
            What::Ok(Return::Open(opened)),
        );
    }

    pub(crate) fn ended(&mut self, seconds: f64, stream: u64, by: EndedBy) {
        let end = StreamEnd {
            by,
            code: "UNAVAILABLE".into(),
        };
        self.push(seconds, Process::Stream(stream), What::Seen(Seen::End(end)));
    }

    /// An operation of a client of its own.
    pub(crate) fn call(&mut self, from: f64, to: f64, call: Call, end: impl Into<What>) {
        let clients = self.events.iter().filter_map(|event| match event.process {
            Process::Client(number) => Some(number + 1),
            _ => None,
        });
        let process = Process::Client(clients.max().unwrap_or(0));
        self.push(from, process, What::Invoke(call));
        self.push(to, process, end.into());
    }

    pub(crate) fn write_truth(&mut self, from: f64, to: f64, objects: Vec<Value>) {
        let versions = vec![1; objects.len()];
        let writes = objects
            .into_iter()
            .map(|object| Written::Put(object.into()));
        let write = TruthWrite {
            writes: writes.collect(),
        };
        let end = What::Ok(Return::TruthWrite(versions));
        self.call(from, to, Call::TruthWrite(write), end);
    }

    /// At one place of the log, of one term, and the revision after it.
    pub(crate) fn entry(
        &mut self,
        seconds: f64,
        (index, term, number): (u64, u64, u64),
        payload: Payload,
    ) {
        let entry = Entry {
            index,
            term,
            rev: rev(number),
            sigma: None,
            chi: None,
            payload,
        };
        self.observed(seconds, N1, Seen::Entry(entry));
    }

    pub(crate) fn claim(&mut self, seconds: f64, replica: Replica, fresh: bool, number: u64) {
        let claim = Claim {
            replica,
            surface: Surface::Status,
            asked_at: ns(seconds),
            fresh,
            source_fresh: Some(true),
            ready: Some(true),
            rev: Some(rev(number)),
            age: fresh.then(|| ns(0.2)),
        };
        self.observed(seconds + 0.01, replica, Seen::Claim(claim));
    }

    pub(crate) fn digest(&mut self, seconds: f64, replica: Replica, number: u64) {
        let observed = Observed {
            replica,
            rev: rev(number),
            sigma: Digest(u128::from(number)),
            chi: Digest(100 + u128::from(number)),
            term: 1,
            applied: 3 + number,
        };
        self.observed(seconds, replica, Seen::Digest(observed));
    }

    pub(crate) fn life(&mut self, seconds: f64, replica: Replica, state: LifeState) {
        self.observed(seconds, replica, Seen::Life(Life { replica, state }));
    }

    pub(crate) fn role(&mut self, seconds: f64, replica: Replica, term: u64, role: RoleKind) {
        let seen = Seen::Role(Role {
            replica,
            term,
            role,
        });
        self.observed(seconds, replica, seen);
    }

    pub(crate) fn vote(
        &mut self,
        seconds: f64,
        replica: Replica,
        term: u64,
        voted_for: Option<u64>,
    ) {
        let vote = Vote {
            replica,
            id: u64::from(replica.0),
            term,
            voted_for,
        };
        self.observed(seconds, replica, Seen::Vote(vote));
    }

    pub(crate) fn used(
        &mut self,
        seconds: f64,
        replica: Replica,
        set: impl FnOnce(&mut Resources),
    ) {
        let mut used = Resources {
            rss_bytes: Some(100 << 20),
            fds: Some(50),
            pending_max: Some(1),
            ..Resources::default()
        };
        set(&mut used);
        self.observed(seconds, replica, Seen::Resources(used));
    }

    fn phases_and_faults(&mut self) {
        for (seconds, phase) in [
            (0.0, Phase::Warm),
            (30.0, Phase::Faults),
            (60.0, Phase::Healed),
            (90.0, Phase::Settled),
            (95.0, Phase::Done),
        ] {
            self.nemesis(seconds, Seen::Phase(phase));
        }
        let cut = effect(|effect| effect.isolated = [N3].into());
        let killed = |replica| effect(|effect| effect.down = [replica].into());
        for (from, to, fault) in [
            (32.0, 40.0, fault(1, "cut", cut)),
            (45.0, 48.0, fault(2, "kill", killed(N1))),
            (55.0, 58.0, fault(3, "kill", killed(N2))),
        ] {
            self.nemesis(from, Seen::FaultStart(fault.clone()));
            self.nemesis(to, Seen::FaultEnd(fault));
        }
        for replica in REPLICAS {
            self.life(0.0, replica, LifeState::Up);
        }
        for (replica, down, up) in [(N1, 45.0, 48.0), (N2, 55.0, 58.0)] {
            self.life(down, replica, LifeState::Down(None));
            self.life(up, replica, LifeState::Up);
        }
        for (seconds, replica, term) in [(0.1, N1, 1), (45.5, N2, 2), (55.5, N1, 3)] {
            self.role(seconds, replica, term, RoleKind::Leader);
        }
    }

    fn log(&mut self) {
        let voters: BTreeSet<u64> = [1, 2, 3].into();
        let settings = Change::Settings(Arc::default());
        let first = vec![settings, service_change(), slice_change(1)];
        self.entry(0.1, (1, 1, 0), Payload::Membership(vec![voters]));
        self.entry(0.1, (2, 1, 0), Payload::Blank);
        self.entry(0.5, (3, 1, 1), batch(1, first));
        self.entry(20.2, (4, 1, 2), batch(1, vec![slice_change(2)]));
        self.entry(34.2, (5, 1, 3), batch(1, vec![slice_change(3)]));
        self.entry(45.6, (6, 2, 3), Payload::Blank);
        self.entry(55.6, (7, 3, 3), Payload::Blank);
        self.entry(64.2, (8, 3, 4), batch(3, vec![slice_change(4)]));
        for (seconds, number) in [(0.6, 1), (20.3, 2), (34.3, 3), (64.3, 4)] {
            let ack = Ack {
                replica: N1,
                rev: rev(number),
                index: 0,
                proposed_at: ns(seconds - 0.2),
            };
            self.observed(seconds, N1, Seen::Ack(ack));
        }
    }

    fn truth(&mut self) {
        self.write_truth(0.2, 0.3, vec![service_object(), slice_object(1)]);
        for (seconds, version) in [(20.0, 2), (34.0, 3), (64.0, 4)] {
            self.write_truth(seconds, seconds + 0.1, vec![slice_object(version)]);
        }
    }

    /// Two clients; the first one's replica dies, so it goes to another.
    fn streams(&mut self) {
        self.open(12.0, 1, 1, N1);
        self.told(12.1, 1, 1, add(&[1]));
        self.open(12.0, 2, 2, N3);
        self.told(12.1, 2, 1, add(&[1]));
        for stream in [1, 2] {
            self.told(20.3, stream, 2, add(&[2]));
            self.told(20.31, stream, 2, remove(1));
        }
        self.told(34.3, 1, 3, add(&[3]));
        self.told(34.31, 1, 3, remove(2));
        // It was cut off and caught up.
        self.told(41.3, 2, 3, add(&[3]));
        self.told(41.31, 2, 3, remove(2));
        self.ended(45.1, 1, EndedBy::Transport);
        self.open(45.3, 3, 1, N3);
        self.told(45.4, 3, 3, add(&[3]));
        for stream in [2, 3] {
            self.told(64.3, stream, 4, add(&[4]));
            self.told(64.31, stream, 4, remove(3));
        }
    }

    fn observers(&mut self) {
        for replica in REPLICAS {
            for (seconds, number) in [(1.0, 1), (21.0, 2), (65.0, 4)] {
                self.digest(seconds, replica, number);
            }
            for second in (12..=90).step_by(2) {
                let seconds = f64::from(second);
                let cut = replica == N3 && (36..42).contains(&second);
                let down = (replica == N1 && (45..49).contains(&second))
                    || (replica == N2 && (55..59).contains(&second));
                let number = match second {
                    ..21 => 1,
                    21..35 => 2,
                    35..65 => 3,
                    65.. => 4,
                };
                if !down {
                    self.claim(seconds, replica, !cut, if cut { 2 } else { number });
                }
            }
            for second in [5, 15, 25, 50, 92] {
                self.used(f64::from(second), replica, |_| ());
            }
            for (seconds, term, voted_for) in [(1.0, 1, 1), (50.0, 2, 2), (70.0, 3, 1)] {
                self.vote(seconds, replica, term, Some(voted_for));
            }
        }
        for (seconds, leader) in [(10.0, N1), (50.0, N2), (70.0, N1)] {
            self.observed(seconds, N1, Seen::Watches(vec![leader]));
        }
        let snapshot = Snapshot {
            replica: N3,
            act: SnapshotAct::Installed,
            rev: rev(3),
            index: 5,
        };
        self.observed(41.0, N3, Seen::Snapshot(snapshot));
    }

    fn operations(&mut self) {
        let rev = |number| Some(rev(number));
        let write = Call::Write { key: 1, value: 5 };
        self.call(20.0, 20.3, write, Return::Write { rev: rev(2) });
        let read = Call::Read {
            key: 1,
            mode: ReadMode::Linearizable,
        };
        for (from, to, number) in [(21.0, 21.1, 2), (33.0, 36.0, 3), (46.0, 57.0, 3)] {
            let seen = Return::Read {
                value: Some(5),
                rev: rev(number),
                sigma: Some(Digest(u128::from(number))),
            };
            self.call(from, to, read.clone(), seen);
        }
        self.call(64.0, 64.3, Call::Add(7), Return::Add { rev: rev(4) });
        let unknown = What::Unknown(Operation::Add, "timed out".into());
        self.call(55.0, 56.0, Call::Add(8), unknown);
    }

    fn end(&mut self) {
        for replica in REPLICAS {
            let last = Final {
                replica,
                rev: rev(4),
                sigma: Digest(4),
                chi: Digest(104),
                elements: Some(vec![7]),
            };
            self.observed(91.0, replica, Seen::Final(last));
        }
    }

    /// Changes every event for which `edit` says so; at least one.
    pub(crate) fn edit(&mut self, edit: impl FnMut(&mut Event) -> bool) {
        let edited: Vec<bool> = self.events.iter_mut().map(edit).collect();
        assert!(edited.contains(&true), "nothing was edited");
    }

    /// Takes events out; at least one.
    pub(crate) fn drop_events(&mut self, which: impl Fn(&Event) -> bool) {
        let before = self.events.len();
        self.events.retain(|event| !which(event));
        assert!(self.events.len() < before, "nothing was dropped");
    }

    pub(crate) fn history(&self) -> History {
        let mut events = self.events.clone();
        events.sort_by_key(|event| event.at);
        events.into()
    }

    pub(crate) fn verdict(&self, checker: CheckerId) -> Verdict {
        let mut judgement = judge_by(&self.history(), &self.limits, &[checker]);
        judgement.verdicts.pop().unwrap()
    }

    pub(crate) fn found(&self, checker: CheckerId) -> Vec<Found> {
        let history = self.history();
        let violations = self.verdict(checker).violations.into_iter();
        let found = violations.map(|violation| {
            assert!(checker.guarantees().contains(&violation.guarantee));
            let evidence = violation
                .evidence
                .iter()
                .map(|place| shown(&history, *place));
            (
                violation.guarantee,
                violation.what.clone(),
                evidence.collect(),
            )
        });
        found.collect()
    }

    /// The doubts, if there is no violation.
    pub(crate) fn doubts(&self, checker: CheckerId) -> Vec<String> {
        let verdict = self.verdict(checker);
        assert_eq!(verdict.violations, []);
        assert_eq!(verdict.validity(), Validity::Unknown);
        verdict.doubts
    }
}

fn shown(history: &History, place: usize) -> String {
    let event = &history.events()[place];
    let line: Value = serde_json::from_str(&to_line(place, event)).unwrap();
    let milliseconds = event.at / 1_000_000;
    let f = line["f"].as_str().unwrap();
    format!("{f}@{}.{:03}", milliseconds / 1000, milliseconds % 1000)
}

/// One violation, written down in a test.
pub(crate) fn violation(guarantee: Guarantee, what: &str, evidence: &[&str]) -> Found {
    let evidence = evidence.iter().map(|&event| event.to_owned());
    (guarantee, what.to_owned(), evidence.collect())
}
