//! Asks, while this replica leads, who answers for each name, and carries out what [`admission`] decides.

use futures::future::join_all;
use lockstep_position::ReplicaId;
use openraft::async_runtime::WatchReceiver;
use openraft::{ChangeMembers, Precondition, ServerState};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::PeerAddress;
use crate::admission::{self, Heard, Standing, Step};
use crate::bootstrap::greet;
use crate::library::{Member, Raft, RawLogId};
use crate::peer::Peers;

use crate::tasks::one_line;

const ROUND_INTERVAL: Duration = Duration::from_secs(1);
/// Between a change and the round that looks for the next one.
const NEXT_CHANGE_INTERVAL: Duration = Duration::from_millis(100);
/// How long a change may take to commit before a later round looks at it again.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(5);

type Change = ChangeMembers<ReplicaId, Member>;

/// What a round came to.
enum Outcome {
    /// Nothing to do.
    Rested,
    /// The members are others now.
    Changed,
    /// A replica stays out for now; says why.
    Refused(String),
}

/// Runs until it is dropped.
pub(crate) async fn run(raft: Raft, peers: Peers, configured: Vec<PeerAddress>) {
    let mut told = None;
    let mut pause = ROUND_INTERVAL;
    loop {
        tokio::time::sleep(pause).await;
        let outcome = if leads(&raft) {
            round(&raft, &peers, &configured).await
        } else {
            Outcome::Rested
        };
        pause = match outcome {
            Outcome::Changed => NEXT_CHANGE_INTERVAL,
            Outcome::Rested | Outcome::Refused(_) => ROUND_INTERVAL,
        };
        let problem = match outcome {
            Outcome::Refused(problem) => Some(problem),
            Outcome::Rested | Outcome::Changed => None,
        };
        if let Some(problem) = problem.as_ref().filter(|_| problem != told) {
            tracing::warn!(%problem, "a replica is not taken in");
        }
        told = problem;
    }
}

fn leads(raft: &Raft) -> bool {
    let metrics = raft.server_metrics();
    metrics.borrow_watched().state == ServerState::Leader
}

async fn round(raft: &Raft, peers: &Peers, configured: &[PeerAddress]) -> Outcome {
    let heard = ask(peers, configured).await;
    let (step, judged) = judge(raft, &heard);
    let (what, change) = match step {
        Step::Rest => return Outcome::Rested,
        Step::Refuse(why) => return Outcome::Refused(why),
        Step::Finish(voters) => ("a change of voters was finished", all_voters(voters)),
        Step::Admit(id, member) => {
            let what = "a replica that is no member follows";
            (what, Change::AddNodes(BTreeMap::from([(id, member)])))
        }
        Step::Replace(voters) => ("a new replica votes for a lost one", all_voters(voters)),
        Step::Promote(voters) => ("the group has grown", all_voters(voters)),
        Step::Forget(id) => {
            let what = "a learner that was lost is no member any more";
            (what, Change::RemoveNodes(BTreeSet::from([id])))
        }
    };
    let shown = change.to_string();
    match commit(raft, change, judged).await {
        Ok(()) => {
            tracing::info!(change = %shown, "{what}");
            Outcome::Changed
        }
        Err(why) => Outcome::Refused(why),
    }
}

/// Makes one change, only on the membership that was judged: anybody else's change comes first.
async fn commit(raft: &Raft, change: Change, judged: Option<RawLogId>) -> Result<(), String> {
    let shown = change.to_string();
    let last_membership_log_id = judged;
    let judged = [Precondition::LastMembershipLogId {
        last_membership_log_id,
    }];
    let changed = raft.change_membership_if(change, false, judged);
    match tokio::time::timeout(CHANGE_TIMEOUT, changed).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(one_line(&error.to_string())),
        Err(_) => Err(format!("no quorum within {CHANGE_TIMEOUT:?} for {shown}")),
    }
}

fn all_voters(voters: BTreeSet<ReplicaId>) -> Change {
    Change::ReplaceAllVoters(voters)
}

async fn ask(peers: &Peers, configured: &[PeerAddress]) -> Vec<Heard> {
    let own = peers.address();
    let others = configured.iter().filter(|peer| *peer.name != *own.name);
    let answers = join_all(others.map(|peer| greet(peers, peer))).await;
    let ours = own.history.get().copied();
    let heard = answers
        .into_iter()
        .filter_map(|(peer, answer)| admission::heard(peer, &answer.ok()?, ours));
    heard.collect()
}

/// The next step, and the entry of the membership that it was decided on.
fn judge(raft: &Raft, heard: &[Heard]) -> (Step, Option<RawLogId>) {
    let metrics = raft.metrics();
    let now = metrics.borrow_watched().clone();
    let replication = now.replication.unwrap_or_default();
    let matched = replication
        .into_iter()
        .filter_map(|(id, matched)| Some((id, matched?.index)));
    let at = *now.membership_config.log_id();
    let standing = Standing {
        own: now.id,
        membership: now.membership_config.membership(),
        is_committed: at == *now.committed_membership_config.log_id(),
        last: now.last_log_index.unwrap_or_default(),
        matched: &matched.collect(),
    };
    (admission::decide(&standing, heard), at)
}
