//! The first membership.
//!
//! The replica that is named first in the configuration greets all others.
//! When every one has answered, and none was ever a member of a group, it
//! makes the group of the ids that it was told. All others wait for it.
//!
//! A replica that has lost its folder, the first one too, hears that others
//! belong to a group and waits until its leader takes it in: see
//! [`crate::admission`]. One that gave its folder up waits in any case, and says
//! that it belongs to one: were all of them to begin anew, what they held would
//! be forgotten in silence.

use lockstep_position::ReplicaId;
use lockstep_proto::peer::v1 as wire;
use std::collections::BTreeMap;
use std::time::Duration;

use crate::library::{Member, Raft};
use crate::peer::{Lane, Peers};
use crate::{PeerAddress, wall_clock};

const ROUND_INTERVAL: Duration = Duration::from_millis(200);
const HELLO_TIMEOUT: Duration = Duration::from_millis(500);
/// Rounds between two log lines about what is missing: 10 s.
const ROUNDS_PER_REPORT: u32 = 50;

/// What a round of greetings has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Round {
    /// All are there and new.
    Complete(BTreeMap<ReplicaId, Member>),
    /// Somebody is missing or strange; says who and how.
    Waiting(String),
}

/// Keeps trying until this replica is a member of a group, made here or by another.
pub(crate) async fn run(raft: Raft, peers: Peers, configured: Vec<PeerAddress>) {
    let is_first = configured
        .first()
        .is_some_and(|first| *first.name == *peers.address().name);
    let mut reported = String::new();
    for round in 0_u32.. {
        // An error means that the core has stopped, which others report.
        let is_done = raft.is_initialized().await.unwrap_or(true);
        if is_done {
            return;
        }
        if peers.address().joins_only {
            tracing::info!("it gave up its data folder before, waiting to be taken in");
            return;
        }
        if !is_first {
            let by = configured.first().map(|first| first.name.as_str());
            tracing::info!(by, "no member of a group yet, waiting to be taken in");
            return;
        }
        match greet_all(&peers, &configured).await {
            Round::Complete(mut members) => {
                let now = wall_clock::unix_ms();
                for member in members.values_mut() {
                    member.since_unix_ms = now;
                }
                tracing::info!(members = members.len(), "bootstrapping the group");
                if let Err(error) = raft.initialize(members).await {
                    tracing::warn!(%error, "bootstrap was refused");
                }
            }
            Round::Waiting(why) => {
                if why != reported || round.is_multiple_of(ROUNDS_PER_REPORT) {
                    tracing::info!(%why, "waiting to bootstrap");
                    reported = why;
                }
            }
        }
        tokio::time::sleep(ROUND_INTERVAL).await;
    }
}

async fn greet_all(peers: &Peers, configured: &[PeerAddress]) -> Round {
    let others = configured
        .iter()
        .filter(|peer| *peer.name != *peers.address().name);
    let answers = futures::future::join_all(others.map(|peer| greet(peers, peer))).await;
    judge(
        peers.address().id,
        &peers.address().name,
        configured,
        answers,
    )
}

/// Asks one peer who it is; an error says why there is no answer.
pub(crate) async fn greet(
    peers: &Peers,
    peer: &PeerAddress,
) -> (PeerAddress, Result<wire::HelloResponse, String>) {
    let Some(mut client) = peers.client(&peer.address, Lane::Quick) else {
        let what = format!("`{}` is not a `host:port`", peer.address);
        return (peer.clone(), Err(what));
    };
    let request = wire::HelloRequest {
        route: Some(peers.route_to(None)),
    };
    let answer = match tokio::time::timeout(HELLO_TIMEOUT, client.hello(request)).await {
        Ok(Ok(answer)) => Ok(answer.into_inner()),
        Ok(Err(status)) => Err(status.message().to_owned()),
        Err(_) => Err(format!("no answer within {HELLO_TIMEOUT:?}")),
    };
    (peer.clone(), answer)
}

/// Decides on the answers of one round.
fn judge(
    own_id: ReplicaId,
    own_name: &str,
    configured: &[PeerAddress],
    answers: Vec<(PeerAddress, Result<wire::HelloResponse, String>)>,
) -> Round {
    let own = configured.iter().find(|peer| peer.name == own_name);
    let mut members: BTreeMap<ReplicaId, Member> =
        own.map(|own| (own_id, member(own))).into_iter().collect();
    for (peer, answer) in answers {
        let PeerAddress { name, address } = &peer;
        let answer = match answer {
            Ok(answer) => answer,
            Err(what) => return Round::Waiting(format!("`{name}` at {address}: {what}")),
        };
        if answer.name != *name {
            let found = answer.name;
            return Round::Waiting(format!("`{name}` at {address} calls itself `{found}`"));
        }
        if answer.initialized {
            return Round::Waiting(format!("`{name}` already belongs to a group"));
        }
        let id = ReplicaId::from_u64(answer.id);
        if members.insert(id, member(&peer)).is_some() {
            return Round::Waiting(format!("`{name}` has the id {id} of another replica"));
        }
    }
    Round::Complete(members)
}

fn member(peer: &PeerAddress) -> Member {
    Member {
        name: peer.name.clone(),
        address: peer.address.clone(),
        ..Member::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(name: &str) -> PeerAddress {
        PeerAddress {
            name: name.to_owned(),
            address: format!("{name}:4100"),
        }
    }

    fn hello(name: &str, id: u64) -> wire::HelloResponse {
        wire::HelloResponse {
            id,
            name: name.to_owned(),
            initialized: false,
            history: bytes::Bytes::new(),
            learner: true,
        }
    }

    fn judged(answer: Result<wire::HelloResponse, String>) -> Round {
        let configured = [peer("a"), peer("b")];
        let answers = vec![(peer("b"), answer)];
        judge(ReplicaId::from_u64(1), "a", &configured, answers)
    }

    #[test]
    fn a_group_is_made_only_of_all_and_only_of_new_replicas() {
        let members = BTreeMap::from([
            (ReplicaId::from_u64(1), member(&peer("a"))),
            (ReplicaId::from_u64(2), member(&peer("b"))),
        ]);
        assert_eq!(judged(Ok(hello("b", 2))), Round::Complete(members));

        let waiting = |what: &str| Round::Waiting(what.to_owned());
        assert_eq!(
            judged(Err("no answer within 500ms".to_owned())),
            waiting("`b` at b:4100: no answer within 500ms")
        );
        assert_eq!(
            judged(Ok(hello("c", 2))),
            waiting("`b` at b:4100 calls itself `c`")
        );
        assert_eq!(
            judged(Ok(hello("b", 1))),
            waiting("`b` has the id 0000000000000001 of another replica")
        );
        let old = wire::HelloResponse {
            initialized: true,
            ..hello("b", 2)
        };
        assert_eq!(judged(Ok(old)), waiting("`b` already belongs to a group"));
    }
}
