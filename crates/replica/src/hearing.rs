//! Asks the others what they hold at a revision that is in dispute.

use lockstep_position::{Position, ReplicaId, Revision};
use lockstep_raft::Node;
use std::{collections::BTreeSet, sync::Arc};

use crate::{
    dispute::{Dispute, Verdict, Word},
    fresher::{ask, round_after},
    published::Published,
    quarantine::Quarantine,
};

/// This replica's position that cannot be true together with another one's.
pub(crate) fn contradiction(other: &Position, published: &Published) -> Option<Position> {
    let own = published.at(other.revision)?;
    own.contradicts(other).then_some(own)
}

/// Hears every other member about the revision of `own`; `known` was said already.
pub(crate) async fn hear(node: &Node, own: Position, known: Option<Word>) -> Dispute {
    let answers = ask(node, Some(own.revision)).await;
    let said = answers.into_iter().filter_map(|(replica, standing)| {
        let position = standing.position?;
        Some(Word { replica, position })
    });
    let mut others: Vec<Word> = said.collect();
    let is_new = |word: &Word| others.iter().all(|other| other.replica != word.replica);
    if let Some(known) = known.filter(is_new) {
        others.push(known);
    }
    let members = node.status().members;
    let voters = members.iter().filter(|member| member.voter);
    Dispute {
        own: Word {
            replica: node.id(),
            position: own,
        },
        others,
        voters: voters
            .map(|member| member.id)
            .collect::<BTreeSet<ReplicaId>>(),
    }
}

/// What a replica does about contradictions, and what it has done so far.
#[derive(Debug, Default)]
pub(crate) struct Inquest {
    complaints: Complaints,
}

impl Inquest {
    /// Compares this replica with what its leader said; `Some` when it is wrong.
    ///
    /// Until it is known who is wrong it answers nothing, and asks again each time.
    pub(crate) async fn hold(
        &mut self,
        node: &Node,
        published: &Published,
        leader: Word,
    ) -> Option<Quarantine> {
        let contradicted = contradiction(&leader.position, published);
        let dispute = match contradicted {
            Some(own) => hear(node, own, Some(leader)).await,
            None if published.is_suspect() => {
                hear(node, *published.newest().position(), None).await
            }
            None => return None,
        };
        match dispute.verdict() {
            Verdict::Upheld => {
                // Whoever is wrong finds out by itself.
                self.complaints.about(&dispute);
                acquit(node, published).await;
                None
            }
            verdict @ Verdict::Outvoted => Some(Quarantine::of(dispute, verdict)),
            Verdict::Undecided if contradicted.is_none() || published.is_suspect() => None,
            verdict @ Verdict::Undecided => {
                let suspicion = Quarantine::of(dispute, verdict);
                suspicion.begin(node, published).await;
                None
            }
        }
    }
}

/// Ends a suspicion, if there is one.
async fn acquit(node: &Node, published: &Published) {
    if !published.is_suspect() {
        return;
    }
    match node.settle_evidence().await {
        Ok(()) => published.trust(),
        // Tried again with the next probe.
        Err(error) => tracing::error!(%error, "a suspicion could not be settled"),
    }
}

/// Compares, while this replica leads, what the others hold with what it holds:
/// its own probe asks itself, and would agree with any error of its own. Ends
/// when it is outvoted.
pub(crate) async fn compare(node: Node, published: Arc<Published>) -> Quarantine {
    let mut complaints = Complaints::default();
    loop {
        tokio::time::sleep(round_after(getrandom::u32().unwrap_or(u32::MAX / 2))).await;
        if node.role().borrow().leading().is_none() {
            continue;
        }
        let dispute = hear(&node, *published.newest().position(), None).await;
        match dispute.verdict() {
            verdict @ Verdict::Outvoted => return Quarantine::of(dispute, verdict),
            // Whoever contradicts its leader finds out by itself, and gives way.
            Verdict::Upheld | Verdict::Undecided => complaints.about(&dispute),
        }
    }
}

/// What was said of replicas that are wrong: once for each revision.
#[derive(Debug, Default)]
pub(crate) struct Complaints(Option<Revision>);

impl Complaints {
    pub(crate) fn about(&mut self, dispute: &Dispute) {
        let opponents = dispute.opponents().map(|word| word.replica.to_string());
        let against = opponents.collect::<Vec<_>>().join(", ");
        let revision = dispute.own.position.revision;
        if against.is_empty() || self.0.replace(revision) == Some(revision) {
            return;
        }
        let verdict = dispute.verdict().word();
        tracing::error!(%revision, %against, verdict, "agreement is violated by another replica");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_position::{Digest, LogId, Term};
    use lockstep_state::{Batch, Changed, Command, State};

    #[test]
    fn another_digest_at_the_same_revision_is_a_contradiction() {
        let published = Published::default();
        let mut state = State::default();
        let log_id = LogId {
            term: Term::from_u64(1),
            index: 3,
        };
        let node = Command::PutNode("node-a".into(), "zone-a".into());
        state.apply(log_id, Batch::whole(log_id.term, vec![node]));
        published.publish(&state, &Changed::everything());
        let own = *state.position();
        assert_eq!(contradiction(&own, &published), None);
        let other = Position {
            state_digest: Digest::from_u128(1),
            ..own
        };
        assert_eq!(contradiction(&other, &published), Some(own));
    }
}
