//! A kind that comes and goes, against the simulation without sockets.

use lockstep_simapi::{Behaviour, Crds, Fault, FaultAnswer, FaultOn, Options, SimApi};
use serde_json::{Value, json};

use super::*;
use crate::watch::{list, machine::nothing};
use tokio::time::timeout_at;

const KIND: FactKind = FactKind::Server;

struct Life {
    api: SimApi,
    events: mpsc::Receiver<SourceEvent>,
    _follower: JoinHandle<()>,
}

impl Life {
    fn begin(crds: Crds, resume: Option<Cursor>) -> Self {
        let options = Options {
            crds,
            ..Options::default()
        };
        Self::of(SimApi::new(options), resume)
    }

    fn of(api: SimApi, resume: Option<Cursor>) -> Self {
        let (sender, events) = mpsc::channel(100);
        let follower = Follower::new(&given(api.clone()), KIND);
        Self {
            api,
            events,
            _follower: tokio::spawn(follower.run(begin(resume), sender)),
        }
    }

    fn apply(&self, api_version: &str, name: &str) {
        let object = server(api_version, name);
        self.api.apply(object).unwrap();
    }

    /// The next event that tells of objects, in words.
    async fn next(&mut self) -> String {
        loop {
            match self.events.recv().await.unwrap() {
                SourceEvent::Changed { key, fact, .. } => {
                    let verb = if fact.is_some() { "is" } else { "is gone" };
                    return format!("{} {verb}", key.name);
                }
                SourceEvent::Listed(listed) => {
                    let names = listed.facts.keys().map(|key| &*key.name);
                    let names: Vec<&str> = names.collect();
                    let is_served = listed.cursor != nothing(KIND).cursor;
                    return format!("listed {names:?}, served: {is_served}");
                }
                SourceEvent::Lost { .. } => return "lost".to_owned(),
                SourceEvent::Progress { .. } | SourceEvent::Alive { .. } => {}
            }
        }
    }

    /// The events of so long.
    async fn told_within(&mut self, time: Duration) -> Vec<String> {
        let mut told = Vec::new();
        let deadline = Instant::now() + time;
        while let Ok(event) = timeout_at(deadline, self.next()).await {
            told.push(event);
        }
        told
    }
}

fn server(api_version: &str, name: &str) -> Value {
    json!({
        "apiVersion": format!("policy.linkerd.io/{api_version}"), "kind": "Server",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"podSelector": {}, "port": 80, "proxyProtocol": "opaque"},
    })
}

#[tokio::test(start_paused = true)]
async fn a_kind_is_absent_arrives_leaves_and_comes_back() {
    let mut life = Life::begin(Crds::None, None);
    assert_eq!(life.next().await, "listed [], served: false");
    let hour = Duration::from_secs(3600);
    assert_eq!(life.told_within(hour).await, [""; 0]);

    life.api.install_crd("Server").unwrap();
    let installed = Instant::now();
    assert_eq!(life.next().await, "listed [], served: true");
    assert!(installed.elapsed() <= Duration::from_secs(20));
    life.apply("v1beta3", "a");
    assert_eq!(life.next().await, "a is");

    life.api.remove_crd("Server").unwrap();
    assert_eq!(life.next().await, "a is gone");
    let removed = Instant::now();
    assert_eq!(life.next().await, "listed [], served: false");
    assert!(removed.elapsed() >= Duration::from_secs(30));
    assert_eq!(life.told_within(hour).await, [""; 0]);

    life.api.install_crd("Server").unwrap();
    life.apply("v1beta3", "b");
    assert_eq!(life.next().await, "listed [\"b\"], served: true");
}

#[tokio::test(start_paused = true)]
async fn the_best_version_that_is_served_is_followed_and_changed_without_a_list() {
    let mut life = Life::begin(Crds::None, None);
    let serve = |life: &Life, versions: &[&str]| {
        life.api.install_crd_versions("Server", versions).unwrap();
    };
    serve(&life, &["v1beta1", "v1alpha1"]);
    life.apply("v1beta1", "a");
    assert_eq!(life.next().await, "listed [\"a\"], served: true");
    serve(&life, &["v1beta3"]);
    life.apply("v1beta3", "b");
    assert_eq!(life.next().await, "b is");
    assert_eq!(life.told_within(Duration::from_secs(600)).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_denies_for_a_moment_what_it_serves_takes_nothing_back() {
    let mut life = Life::begin(Crds::All, None);
    life.apply("v1beta3", "a");
    let told = life.told_within(Duration::from_secs(1)).await;
    assert!(!told.is_empty());
    // Two rounds of four versions, for the watch and for whoever resumes.
    let denied = Fault {
        resource: "servers".to_owned(),
        on: FaultOn::Watch,
        answer: FaultAnswer::Code(404),
    };
    let faults = vec![denied; 8];
    life.api.set_behaviour(Behaviour {
        faults: faults.clone(),
        ..Behaviour::default()
    });
    life.api.close_watches();
    life.apply("v1beta3", "b");
    assert_eq!(life.next().await, "b is");
    assert_eq!(life.api.behaviour().faults, []);

    let here = Cursor(life.api.resource_version().to_string().into());
    life.api.set_behaviour(Behaviour {
        faults,
        ..Behaviour::default()
    });
    let mut other = Life::of(life.api.clone(), Some(here));
    life.apply("v1beta3", "c");
    assert_eq!(other.next().await, "c is");
    assert_eq!(life.next().await, "c is");
}

#[tokio::test(start_paused = true)]
async fn an_audit_lists_a_kind_that_is_not_served_as_empty_and_others_as_refused() {
    let options = Options {
        crds: Crds::None,
        ..Options::default()
    };
    let api = SimApi::new(options);
    let source = given(api.clone());
    let (access, metrics) = (&source.access, source.metrics());
    let listed = list(access, KIND, metrics).await.unwrap();
    assert_eq!(listed, nothing(KIND));

    api.install_crd_versions("Server", &["v1alpha1"]).unwrap();
    api.apply(server("v1alpha1", "a")).unwrap();
    let listed = list(access, KIND, metrics).await.unwrap();
    assert_eq!(listed.facts.len(), 1);

    let denied = Fault {
        resource: "pods".to_owned(),
        on: FaultOn::FirstPage,
        answer: FaultAnswer::Code(404),
    };
    api.set_behaviour(Behaviour {
        faults: vec![denied],
        ..Behaviour::default()
    });
    let refused = list(access, FactKind::Pod, metrics).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "pods could not be listed: status 404: refused by the simulation",
    );
}
