//! What a leader starts from after a proposal whose outcome it does not know.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod host;

use host::{Host, eventually, group, leader};
use lockstep_state::{Command, Propose, ProposeError, State};
use std::{sync::Arc, time::Duration};

/// Long enough for the leader to give up sending entries and to wait before it
/// tries again: then it hears that it still leads before the entries arrive.
const PAUSE: Duration = Duration::from_secs(3);

/// Proposes while nobody answers, gives up, and settles when they answer
/// again. `None` if the proposal was refused or the term ended meanwhile.
async fn given_up_then_settled(hosts: &[Host], node: &str) -> Option<Arc<State>> {
    let (leads, term) = leader(hosts).await;
    let proposer = hosts[leads].replica.proposer();
    let others = hosts.iter().enumerate().filter(|(at, _)| *at != leads);
    let frozen: Vec<_> = others.map(|(_, host)| host.freeze()).collect();
    let command = Command::PutNode(node.into(), "zone-a".into());
    let proposal = proposer.propose(term, vec![command]);
    let given_up = tokio::time::timeout(Duration::from_millis(50), proposal).await;
    let settling = tokio::spawn(async move {
        loop {
            match proposer.settle(term).await {
                Ok(state) => return Some(state),
                Err(ProposeError::NotLeader { .. } | ProposeError::Stopped) => return None,
                Err(ProposeError::OutcomeUnknown { .. } | ProposeError::TooLarge { .. }) => {}
            }
        }
    });
    tokio::time::sleep(PAUSE).await;
    drop(frozen);
    let settled = settling.await.unwrap();
    settled.filter(|_| given_up.is_err())
}

/// The next session computes what is missing from the state it starts from. A
/// batch that arrives behind its back would stay for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_given_up_in_the_same_term_is_in_the_state_that_the_next_session_starts_from() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = group(folder.path());
    for round in 0..2 {
        let node = format!("node-{round}");
        let state = eventually("a settled leader of the same term", async || {
            given_up_then_settled(&hosts, &node).await
        })
        .await;
        assert_eq!(
            state.content().zone(&node).map(AsRef::as_ref),
            Some("zone-a"),
            "round {round}"
        );
    }
}
