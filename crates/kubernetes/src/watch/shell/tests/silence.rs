//! Hours in which nothing happens, against the simulation without sockets.

use lockstep_simapi::{Behaviour, Options, SimApi, Verb};

use super::*;

const HOUR: Duration = Duration::from_secs(3600);

/// What a healthy silence leaves behind.
struct Silence {
    longest_without_proof: Duration,
    /// Whole ones, and short ones that only ask how far the server has come.
    lists: u64,
    whole_lists: usize,
    restarts: usize,
}

/// Follows a kind of which nothing changes.
async fn silence(kind: FactKind, bookmark_interval: Duration) -> Silence {
    let api = SimApi::new(Options {
        behaviour: Behaviour {
            bookmark_interval,
            ..Behaviour::default()
        },
        ..Options::default()
    });
    let (sender, mut events) = mpsc::channel(100);
    let source = given(api.clone());
    let follower = Follower::new(&source, kind);
    let _follower = tokio::spawn(follower.run(Begin::Afresh(None), sender));
    let end = Instant::now() + HOUR;
    let (mut proved, mut longest) = (Instant::now(), Duration::ZERO);
    while Instant::now() < end {
        let event = events.recv().await.unwrap();
        assert_eq!(event.proves(), Some(kind), "{event:?}");
        longest = longest.max(proved.elapsed());
        proved = Instant::now();
    }
    Silence {
        longest_without_proof: longest,
        lists: api.counts().requests(Verb::List, kind.resource()),
        whole_lists: source
            .metrics()
            .text()
            .matches("lists_total{kind=\"pods\"} 1\n")
            .count(),
        restarts: source.metrics().text().matches("restarts_total{").count(),
    }
}

#[tokio::test(start_paused = true)]
async fn an_hour_of_healthy_silence_is_proved_all_along_and_restarts_nothing() {
    for bookmark_interval in [Duration::from_secs(60), Duration::MAX] {
        let seen = silence(FactKind::Pod, bookmark_interval).await;
        assert!(seen.longest_without_proof <= Duration::from_secs(20));
        assert_eq!((seen.whole_lists, seen.restarts), (1, 0));
        assert!((40..=61).contains(&seen.lists), "{} lists", seen.lists);
    }
}

/// An object of which something is kept.
fn object(kind: FactKind) -> serde_json::Value {
    let (api_version, name) = match kind {
        FactKind::Node => ("v1", "Node"),
        FactKind::Pod => ("v1", "Pod"),
        FactKind::Service => ("v1", "Service"),
        FactKind::ReplicaSet => ("apps/v1", "ReplicaSet"),
        FactKind::Job => ("batch/v1", "Job"),
        FactKind::EndpointSlice => ("discovery.k8s.io/v1", "EndpointSlice"),
        FactKind::ServiceProfile => ("linkerd.io/v1alpha2", "ServiceProfile"),
        FactKind::Server => ("policy.linkerd.io/v1beta3", "Server"),
        FactKind::ExternalWorkload => ("workload.linkerd.io/v1beta1", "ExternalWorkload"),
    };
    serde_json::json!({"apiVersion": api_version, "kind": name,
        "metadata": {"name": "a", "namespace": "default"}})
}

#[tokio::test(start_paused = true)]
async fn a_silent_watch_of_any_kind_is_replaced_within_30_s() {
    for kind in FactKind::ALL {
        let api = SimApi::new(Options::default());
        let (sender, mut events) = mpsc::channel(100);
        let source = given(api.clone());
        let follower = Follower::new(&source, kind);
        let _follower = tokio::spawn(follower.run(Begin::Afresh(None), sender));
        let until = async |events: &mut mpsc::Receiver<SourceEvent>,
                           wanted: fn(&SourceEvent) -> bool| {
            while !wanted(&events.recv().await.unwrap()) {}
        };
        until(&mut events, |event| {
            matches!(event, SourceEvent::Alive { .. })
        })
        .await;
        let silent = Instant::now();
        api.silence_watches(kind.resource()).unwrap();
        api.apply(object(kind)).unwrap();
        until(&mut events, |event| {
            matches!(event, SourceEvent::Changed { .. })
        })
        .await;
        assert!(silent.elapsed() <= Duration::from_secs(30), "{kind}");
        let restarts = source.metrics().text();
        let counted = format!(
            "restarts_total{{kind=\"{}\",reason=\"silent\"}} 1",
            kind.resource()
        );
        assert!(restarts.contains(&counted), "{restarts}");
    }
}
