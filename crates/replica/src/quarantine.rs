//! What a replica does that was found to be wrong: it answers nothing more,
//! keeps what shows it, says so, and ends.

use lockstep_raft::Node;
use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::{
    FreshnessState, ReplicaEnd,
    dispute::{Dispute, Verdict, Word},
    evidence::{Found, evidence},
    probes::Probes,
    published::Published,
};

/// How long a replica that does not lead says on every surface that it is in
/// quarantine before it ends.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Entries of the log that are kept as evidence.
const ENTRIES_KEPT: u64 = 16;

/// Why a replica is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Quarantine {
    why: String,
    dispute: Option<(Dispute, Verdict)>,
}

impl Quarantine {
    /// A dispute that was not decided for this replica.
    pub(crate) fn of(dispute: Dispute, verdict: Verdict) -> Self {
        Self {
            why: divergence(&dispute, verdict),
            dispute: Some((dispute, verdict)),
        }
    }

    /// An entry of the log that this replica cannot apply.
    pub(crate) fn unreadable(why: String) -> Self {
        Self { why, dispute: None }
    }

    /// Begins a quarantine that may end well: this replica answers nothing until it
    /// is known who is wrong, also when it is started again.
    pub(crate) async fn begin(&self, node: &Node, published: &Published) {
        published.suspect();
        let kept = self.kept(node, published).await;
        tracing::error!(why = %self.why, %kept, "this replica answers nothing until it is decided");
    }

    /// Stops answering for good, keeps the evidence, gives up the data if it is known
    /// to be wrong, and gives the reason to end.
    pub(crate) async fn carry_out(
        self,
        node: &Node,
        published: &Arc<Published>,
        probes: &Probes,
    ) -> ReplicaEnd {
        published.break_off(self.why.clone());
        probes.note_entry(FreshnessState::Quarantined);
        let kept = self.kept(node, published).await;
        tracing::error!(why = %self.why, %kept, "this replica answers nothing more");
        let next = self.give_up(node).await;
        // A leader must not go on leading for a second; others can be asked for a while.
        if node.role().borrow().leading().is_none() {
            tokio::time::sleep(LAST_WORDS).await;
        }
        ReplicaEnd::Broken(format!("{}; {kept}{next}", self.why))
    }

    /// Has the next start begin with an empty folder if a majority says that this one is wrong.
    async fn give_up(&self, node: &Node) -> String {
        match &self.dispute {
            Some((_, Verdict::Outvoted)) => match node.give_up(self.why.clone()).await {
                Ok(()) => "; started again, it comes back empty and takes everything from its \
                           group, under a new id"
                    .to_owned(),
                Err(error) => format!("; its data folder could not be given up: {error}"),
            },
            Some((_, Verdict::Upheld | Verdict::Undecided)) | None => String::new(),
        }
    }

    /// Keeps the evidence, and says where.
    async fn kept(&self, node: &Node, published: &Published) -> String {
        match self.keep_evidence(node, published).await {
            Ok(file) => format!("the evidence is in {}", file.display()),
            Err(error) => format!("the evidence could not be kept: {error}"),
        }
    }

    async fn keep_evidence(
        &self,
        node: &Node,
        published: &Published,
    ) -> Result<std::path::PathBuf, lockstep_raft::StorageError> {
        let newest = *published.newest().position();
        let own = self.dispute.as_ref().map(|(it, _)| it.own.position);
        let applied = own.unwrap_or(newest).applied;
        let upto = applied.map_or(0, |log_id| log_id.index);
        let found = Found {
            why: &self.why,
            since_1970: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default(),
            status: node.status(),
            dispute: self.dispute.as_ref(),
            newest,
            recent: published.recent(lockstep_position::Revision::ZERO),
            // Without them the rest is still worth keeping.
            entries: node.entries_until(upto, ENTRIES_KEPT).await,
        };
        node.keep_evidence(evidence(&found)).await
    }
}

fn divergence(dispute: &Dispute, verdict: Verdict) -> String {
    let own = &dispute.own.position;
    let said: Vec<String> = dispute.opponents().map(said).collect();
    let judged = match verdict {
        Verdict::Upheld => "a majority agrees with this replica",
        Verdict::Outvoted => "a majority agrees with each other and not with this replica",
        Verdict::Undecided => "there is no majority for either, and the leader is believed",
    };
    format!(
        "agreement is violated: at {revision} of history {history} this replica has state \
         {state} by path {path}, {others}; {judged}",
        revision = own.revision,
        history = own.history,
        state = own.state_digest,
        path = own.path_digest,
        others = said.join(", "),
    )
}

fn said(word: &Word) -> String {
    format!(
        "{} has state {} by path {}",
        word.replica, word.position.state_digest, word.position.path_digest
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_position::{Digest, HistoryId, Position, ReplicaId, Revision};

    #[test]
    fn the_reason_names_the_revision_who_holds_what_and_how_it_was_decided() {
        let word = |id, digest| Word {
            replica: ReplicaId::from_u64(id),
            position: Position {
                history: HistoryId::from_u128(5),
                revision: Revision::from_u64(4),
                state_digest: Digest::from_u128(digest),
                path_digest: Digest::from_u128(digest + 1),
                applied: None,
            },
        };
        let dispute = Dispute {
            own: word(1, 16),
            others: vec![word(2, 32), word(3, 16)],
            voters: (1..=3).map(ReplicaId::from_u64).collect(),
        };
        assert_eq!(
            Quarantine::of(dispute, Verdict::Undecided).why,
            "agreement is violated: at r4 of history 00000000000000000000000000000005 this replica \
             has state 00000000000000000000000000000010 by path 00000000000000000000000000000011, \
             0000000000000002 has state 00000000000000000000000000000020 by path \
             00000000000000000000000000000021; there is no majority for either, and the leader is \
             believed"
        );
    }
}
