//! A server that shows what is older than what is known: for a moment, and for good.

use lockstep_catalog::{FactSession, FactSource, Listed, Resume};
use lockstep_model::FactKey;
use lockstep_simapi::{Options, SimApi};

use super::*;
use crate::KubernetesSession;
use tokio::time::timeout;

fn pod(name: &str) -> serde_json::Value {
    serde_json::json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop"},
    })
}

fn key(name: &str) -> FactKey {
    FactKey::named(FactKind::Pod, "shop", name)
}

/// A session, and what it told of pods.
struct Pods {
    session: KubernetesSession,
    known: std::collections::BTreeSet<FactKey>,
    newest: Cursor,
    /// How often what was told was older than what had been told.
    regresses: usize,
}

impl Pods {
    fn of(source: &crate::KubernetesSource) -> Self {
        Self {
            session: source.follow(Resume::new()),
            known: [].into(),
            newest: Cursor("1".into()),
            regresses: 0,
        }
    }

    async fn learn(&mut self) {
        for event in self.session.next().await {
            let cursor = match event {
                SourceEvent::Listed(Listed {
                    kind: FactKind::Pod,
                    facts,
                    cursor,
                    ..
                }) => {
                    self.known = facts.into_keys().collect();
                    cursor
                }
                SourceEvent::Changed { key, fact, cursor } if key.kind == FactKind::Pod => {
                    match fact {
                        Some(_) => self.known.insert(key),
                        None => self.known.remove(&key),
                    };
                    cursor
                }
                SourceEvent::Progress {
                    kind: FactKind::Pod,
                    cursor,
                } => cursor,
                _ => continue,
            };
            if cursor.is_surely_older_than(&self.newest) {
                self.regresses += 1;
            }
            self.newest = cursor;
        }
    }

    async fn until(&mut self, names: &[&str]) {
        let wanted = names.iter().map(|name| key(name)).collect();
        let learnt = async {
            while self.known != wanted {
                self.learn().await;
            }
        };
        timeout(Duration::from_secs(3600), learnt).await.unwrap();
    }

    async fn learn_for(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            let _ = timeout(end - Instant::now(), self.learn()).await;
        }
    }
}

fn restored(source: &crate::KubernetesSource) -> usize {
    let text = source.metrics().text();
    let series = "restarts_total{kind=\"pods\",reason=\"restored\"} ";
    let count = text.lines().find_map(|line| line.split_once(series));
    count.map_or(0, |(_, count)| count.parse().unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_store_that_was_restored_is_believed_after_a_minute_and_followed() {
    let api = SimApi::new(Options::default());
    let backup = api.apply(pod("a")).unwrap();
    let source = given(api.clone());
    let mut pods = Pods::of(&source);
    pods.until(&["a"]).await;
    api.delete("Pod", "shop", "a").unwrap();
    for name in ["b", "c", "d"] {
        api.apply(pod(name)).unwrap();
    }
    pods.until(&["b", "c", "d"]).await;
    assert_eq!(pods.regresses, 0);

    api.restore(backup).unwrap();
    let begun = Instant::now();
    pods.until(&["a"]).await;
    let took = begun.elapsed();
    let minute = Duration::from_secs(60);
    assert!(took >= minute && took < 5 * minute, "{took:?}");
    assert_eq!((pods.regresses, restored(&source)), (1, 1));

    // The numbers of the lost changes are given once more, to others.
    api.apply(pod("e")).unwrap();
    pods.until(&["a", "e"]).await;
    assert_eq!((pods.regresses, restored(&source)), (1, 1));
    pods.learn_for(minute).await;
    assert_eq!(source.problems(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_lags_for_half_a_minute_takes_nothing_back() {
    let api = SimApi::new(Options::default());
    api.apply(pod("a")).unwrap();
    let source = given(api.clone());
    let mut pods = Pods::of(&source);
    pods.until(&["a"]).await;
    for _ in 0..5 {
        api.apply(pod("b")).unwrap();
        api.delete("Pod", "shop", "a").unwrap();
        pods.until(&["b"]).await;
        // Lists and watches lead to another server, which knows nothing of this yet.
        api.lag(2);
        api.close_watches();
        pods.learn_for(Duration::from_secs(30)).await;
        assert_eq!(pods.known, [key("b")].into());
        api.lag(0);
        api.apply(pod("a")).unwrap();
        pods.until(&["a", "b"]).await;
        api.delete("Pod", "shop", "b").unwrap();
        pods.until(&["a"]).await;
    }
    assert_eq!((pods.regresses, restored(&source)), (0, 0));
}
