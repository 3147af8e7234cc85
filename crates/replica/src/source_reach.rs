//! Which replicas reach the source: each says it of itself when another one asks.

use lockstep_position::ReplicaId;
use lockstep_proto::replica::v1 as pb;
use prost::Message;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::{
    Replica, fresher,
    freshness::{BootNs, age_of},
    probes::boot_now,
};

/// How long another replica may take to answer.
const ANSWER_LIMIT: Duration = Duration::from_millis(500);

/// Since when the source has answered this replica each time: a time of the boot
/// clock, 0 while it does not.
#[derive(Clone, Default)]
pub(crate) struct SourceReach(Arc<AtomicU64>);

impl SourceReach {
    /// For how long the source has answered; `None` while it does not.
    pub(crate) fn reached_for(&self) -> Option<Duration> {
        let since = self.0.load(Ordering::Acquire);
        (since > 0).then(|| age_of(since, boot_now()))
    }

    fn note(&self, reached_for: Option<Duration>) {
        let since = reached_for.map_or(0, |time| {
            let time = BootNs::try_from(time.as_nanos()).unwrap_or(BootNs::MAX);
            // Zero would say that it was not reached.
            boot_now().saturating_sub(time).max(1)
        });
        self.0.store(since, Ordering::Release);
    }
}

impl Replica {
    /// Notes what this replica says to others: for how long the source has answered it
    /// each time it was asked, `None` while it does not.
    pub fn note_source_reach(&self, reached_for: Option<Duration>) {
        self.reach.note(reached_for);
    }

    /// Asks every other member for how long the source has answered it; `None` while it does
    /// not. Who does not answer within half a second is left out.
    pub async fn ask_source_reach(&self) -> Vec<(ReplicaId, Option<Duration>)> {
        let question = pb::StandingQuestion::default().encode_to_vec();
        let answers = self.node().ask_members(question, ANSWER_LIMIT).await;
        let read = |(id, answer): &(_, Vec<u8>)| {
            let standing = fresher::read(answer)?;
            Some((*id, standing.source_reached_for))
        };
        answers.iter().filter_map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_grows_until_something_else_is() {
        let reach = SourceReach::default();
        assert_eq!(reach.reached_for(), None);
        let hour = Duration::from_secs(3600);
        reach.note(Some(Duration::ZERO));
        assert!(reach.reached_for().is_some_and(|time| time < hour));
        reach.note(Some(hour.min(Duration::from_nanos(boot_now() / 2))));
        let first = reach.reached_for().unwrap();
        assert!(reach.reached_for().unwrap() >= first && !first.is_zero());
        reach.note(None);
        assert_eq!(reach.reached_for(), None);
        // Longer than the machine runs: whoever says so is believed as far as possible.
        reach.note(Some(Duration::MAX));
        assert!(reach.reached_for().is_some());
    }
}
