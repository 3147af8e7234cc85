//! Hours in which nothing happens, against the simulation without sockets.

use lockstep_simapi::{Behaviour, Options, SimApi, Verb};

use super::*;

const HOUR: Duration = Duration::from_secs(3600);

/// What a healthy silence leaves behind.
struct Silence {
    longest_without_proof: Duration,
    lists: u64,
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
    let metrics = Metrics::default();
    let follower = Follower::new(Client::new(api.clone(), "default"), kind, metrics.clone());
    let _follower = tokio::spawn(follower.run(None, sender));
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
        restarts: metrics.text().matches("restarts_total{").count(),
    }
}

#[tokio::test(start_paused = true)]
async fn an_hour_of_healthy_silence_is_proved_all_along_and_restarts_nothing() {
    for bookmark_interval in [Duration::from_secs(60), Duration::MAX] {
        let seen = silence(FactKind::Pod, bookmark_interval).await;
        assert!(seen.longest_without_proof <= Duration::from_secs(20));
        assert_eq!((seen.lists, seen.restarts), (1, 0));
    }
}
