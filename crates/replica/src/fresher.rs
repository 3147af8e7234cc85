//! Whether another replica is fresher: what a stale replica asks its peers.

use lockstep_position::{Position, ReplicaId, Revision};
use lockstep_proto::replica::v1 as pb;
use lockstep_raft::Node;
use prost::Message;
use std::{convert::Infallible, sync::Arc, time::Duration};

use crate::{
    Freshness, FreshnessState,
    freshness::{FRESH_LIMIT, PROBE_INTERVAL},
    label::{label_of, read_label},
    probes::{Probes, boot_now},
    published::Published,
};

/// Time between two rounds of questions, on average; each is between half and
/// one and a half of it, so that replicas do not ask in step.
const ROUND_INTERVAL: Duration = Duration::from_secs(1);

/// How long a peer may take to answer.
const ANSWER_LIMIT: Duration = Duration::from_millis(500);

/// How long an answer counts.
pub(crate) const SEEN_LIMIT: Duration = Duration::from_secs(4);

/// The age up to which a peer is fresher than a stale replica. Above it the
/// peer is about to become stale too: when a group loses its quorum, all of
/// them do, and none should leave its clients to the other.
const FRESHER_AGE_MAX: Duration = Duration::from_millis(1_500);

// A fresher peer is seen again before its last answer has lost its worth.
const _: () = assert!(
    SEEN_LIMIT.as_millis() >= 2 * (ROUND_INTERVAL.as_millis() * 3 / 2 + ANSWER_LIMIT.as_millis())
);
// Two probes may fail, and a replica is still fresher than one that is stale.
const _: () = assert!(FRESHER_AGE_MAX.as_millis() >= 3 * PROBE_INTERVAL.as_millis());
const _: () = assert!(2 * FRESHER_AGE_MAX.as_millis() <= FRESH_LIMIT.as_millis());

/// What a peer says of itself.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct PeerStanding {
    /// Whether it can show that its copy is fresh.
    pub(crate) is_fresh: bool,
    /// The age of its copy, at most.
    pub(crate) age: Option<Duration>,
    /// Where its state was at the revision that was asked for, if it has it.
    pub(crate) position: Option<Position>,
    /// For how long the source has answered it each time; `None` while it does not.
    pub(crate) source_reached_for: Option<Duration>,
}

/// Whether one of them should be asked rather than a replica that is stale.
pub(crate) fn is_any_fresher(peers: &[PeerStanding]) -> bool {
    let is_fresher =
        |peer: &PeerStanding| peer.is_fresh && peer.age.is_some_and(|age| age <= FRESHER_AGE_MAX);
    peers.iter().any(is_fresher)
}

/// What this replica says of itself when it is asked this.
pub(crate) fn answer(
    question: &[u8],
    freshness: &Freshness,
    published: &Published,
    source_reached_for: Option<Duration>,
) -> Vec<u8> {
    let ms = |age: Duration| u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
    let position = match pb::StandingQuestion::decode(question) {
        Ok(pb::StandingQuestion { revision: None }) => Some(*published.newest().position()),
        Ok(pb::StandingQuestion {
            revision: Some(revision),
        }) => published.at(Revision::from_u64(revision)),
        Err(_) => None,
    };
    pb::StandingAnswer {
        fresh: !freshness.is_stale(),
        age_ms: freshness.age.map(ms),
        position: position.as_ref().map(label_of),
        source_reached_ms: source_reached_for.map(ms),
    }
    .encode_to_vec()
}

/// Asks every other member about itself; whoever does not answer in time is left out.
pub(crate) async fn ask(node: &Node, revision: Option<Revision>) -> Vec<(ReplicaId, PeerStanding)> {
    let revision = revision.map(Revision::as_u64);
    let question = pb::StandingQuestion { revision }.encode_to_vec();
    let answers = node.ask_members(question, ANSWER_LIMIT).await;
    let read = |(id, answer): &(ReplicaId, Vec<u8>)| Some((*id, read(answer)?));
    answers.iter().filter_map(read).collect()
}

/// Reads what a peer says; `None` if it cannot be read.
pub(crate) fn read(answer: &[u8]) -> Option<PeerStanding> {
    let answer = pb::StandingAnswer::decode(answer).ok()?;
    Some(PeerStanding {
        is_fresh: answer.fresh,
        age: answer.age_ms.map(Duration::from_millis),
        position: answer.position.as_ref().and_then(read_label),
        source_reached_for: answer.source_reached_ms.map(Duration::from_millis),
    })
}

/// Asks, while this replica is stale and until it ends, who is fresher.
pub(crate) async fn seek(node: Node, published: Arc<Published>, probes: Arc<Probes>) -> Infallible {
    loop {
        tokio::time::sleep(round_after(getrandom::u32().unwrap_or(u32::MAX / 2))).await;
        match probes.freshness(&published).state {
            FreshnessState::Stale | FreshnessState::Yielding => {}
            FreshnessState::Syncing
            | FreshnessState::Fresh
            | FreshnessState::SourceStale
            | FreshnessState::Quarantined => continue,
        }
        let asked_at = boot_now();
        let answers = ask(&node, None).await;
        let peers: Vec<_> = answers.into_iter().map(|(_, peer)| peer).collect();
        if is_any_fresher(&peers) {
            probes.saw_fresher(asked_at);
        }
    }
}

/// The wait for a random number.
pub(crate) fn round_after(random: u32) -> Duration {
    let spread = f64::from(random) / f64::from(u32::MAX);
    ROUND_INTERVAL / 2 + ROUND_INTERVAL.mul_f64(spread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::freshness::Evidence;

    fn peer(is_fresh: bool, age_ms: Option<u64>) -> PeerStanding {
        PeerStanding {
            is_fresh,
            age: age_ms.map(Duration::from_millis),
            position: None,
            source_reached_for: None,
        }
    }

    #[test]
    fn fresher_is_who_says_so_and_is_not_about_to_be_stale() {
        for (peers, expected) in [
            (vec![], false),
            (vec![peer(false, Some(0))], false),
            (vec![peer(true, None)], false),
            (vec![peer(true, Some(1_500))], true),
            (vec![peer(true, Some(1_501))], false),
            (vec![peer(false, None), peer(true, Some(90))], true),
        ] {
            assert_eq!(is_any_fresher(&peers), expected, "{peers:?}");
        }
    }

    #[test]
    fn what_a_replica_says_reads_back_and_old_answers_mean_nothing() {
        let freshness = Freshness::judge(&Evidence {
            is_synced: true,
            age: Some(Duration::from_millis(212)),
            ..Evidence::default()
        });
        let published = Published::default();
        let newest = pb::StandingQuestion::default().encode_to_vec();
        let said = read(&answer(&newest, &freshness, &published, None));
        let expected = PeerStanding {
            position: Some(Position::default()),
            ..peer(true, Some(212))
        };
        assert_eq!(said, Some(expected));
        // Whoever is not there yet says so, and a question that cannot be read is one for the age.
        let stale = Freshness::judge(&Evidence::default());
        let ahead = pb::StandingQuestion { revision: Some(7) }.encode_to_vec();
        for question in [&ahead[..], b"\xff"] {
            let said = read(&answer(question, &stale, &published, None));
            assert_eq!(said, Some(peer(false, None)));
        }
        let reached = Some(Duration::from_secs(9));
        let said = read(&answer(&newest, &stale, &published, reached)).unwrap();
        assert_eq!(said.source_reached_for, reached);
        assert_eq!(read(b""), Some(peer(false, None)));
        assert_eq!(read(b"\xff"), None);
    }

    #[test]
    fn rounds_are_spread_around_a_second() {
        let millis = |random| round_after(random).as_millis();
        assert_eq!([millis(0), millis(u32::MAX)], [500, 1_500]);
    }
}
