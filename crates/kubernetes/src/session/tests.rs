//! Followers that die, in time that passes by itself.

use http::Request;
use kube::client::Body;
use lockstep_catalog::{FactSource, Listed};
use lockstep_model::FactKey;
use lockstep_simapi::{Options, SimApi};
use serde_json::{Value, json};
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};
use tower::ServiceExt;

use super::*;
use crate::watch::given;

/// A server whose answer kills who asks for a watch of pods, so many times.
fn deadly(api: &SimApi, times: u32) -> (KubernetesSource, Arc<AtomicU32>) {
    let left = Arc::new(AtomicU32::new(times));
    let (api, deaths) = (api.clone(), left.clone());
    let service = tower::service_fn(move |request: Request<Body>| {
        let uri = request.uri().to_string();
        let is_meant = uri.contains("/pods") && uri.contains("watch=true");
        let one_less = |left: u32| left.checked_sub(1);
        let is_deadly = is_meant
            && deaths
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less)
                .is_ok();
        let api = api.clone();
        async move {
            assert!(!is_deadly, "planned");
            api.oneshot(request).await
        }
    });
    (given(service), left)
}

fn pod(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop"}})
}

/// Learns until a pod is told, and gives the lists of pods before.
async fn until_told(session: &mut KubernetesSession, name: &str) -> usize {
    let wanted = FactKey::named(FactKind::Pod, "shop", name);
    let mut lists = 0;
    loop {
        for event in session.next().await {
            match event {
                SourceEvent::Changed { key, .. } if key == wanted => return lists,
                SourceEvent::Listed(Listed {
                    kind: FactKind::Pod,
                    facts,
                    ..
                }) => {
                    lists += 1;
                    if facts.contains_key(&wanted) {
                        return lists;
                    }
                }
                _ => {}
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_follower_that_dies_is_replaced_within_30_s_and_goes_on_where_it_was() {
    let api = SimApi::new(Options::default());
    api.apply(pod("a")).unwrap();
    let (source, _) = deadly(&api, 0);
    let mut session = source.follow(Resume::new());
    assert_eq!(until_told(&mut session, "a").await, 1);
    let resume = session.reached.clone();
    drop(session);

    for (deaths, lists) in [(1, 0), (2, 0), (3, 1)] {
        let (source, left) = deadly(&api, deaths);
        let name = format!("b{deaths}");
        api.apply(pod(&name)).unwrap();
        let begun = Instant::now();
        let mut session = source.follow(resume.clone());
        assert_eq!(until_told(&mut session, &name).await, lists, "{deaths}");
        assert!(begun.elapsed() <= Duration::from_secs(30));
        assert_eq!(left.load(Ordering::Relaxed), 0);
        let counted = format!("lockstep_source_deaths_total{{kind=\"pods\"}} {deaths}");
        let text = source.metrics().text();
        assert!(text.contains(&counted), "{text}");
        assert_eq!(source.problems(), [""; 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_follower_that_dies_again_and_again_is_named_and_delays_no_other() {
    let api = SimApi::new(Options::default());
    let (source, left) = deadly(&api, u32::MAX);
    let mut session = source.follow(Resume::new());
    let end = Instant::now() + Duration::from_mins(10);
    let mut services = 0;
    while Instant::now() < end {
        let told = session.next().await.into_iter();
        services += told
            .filter(|event| event.proves() == Some(FactKind::Service))
            .count();
    }
    assert!(services > 30, "{services}");
    let deaths = u32::MAX - left.load(Ordering::Relaxed);
    // No rest is longer than 20 s.
    assert!(deaths > 29, "{deaths}");
    let problems = source.problems();
    let [problem] = problems.as_slice() else {
        panic!("{problems:?}");
    };
    let expected = format!("its watch task died {deaths} times in a row: planned");
    assert!(problem.ends_with(&expected), "{problem}");
}
