//! When revisions were known to be committed: a lower bound that any observer can vouch for.

use std::collections::BTreeMap;

use crate::{Call, Event, History, Return, Rev, Seen, What};

/// By history, the times at which the newest known revision grew, in order.
#[derive(Clone, Debug, Default)]
pub struct Commits {
    grown: BTreeMap<u128, Vec<Growth>>,
}

/// From this moment on a revision was known to be committed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Growth {
    /// When. Unit: nanoseconds.
    pub at: u64,
    /// The revision.
    pub number: u64,
    /// The event that shows it.
    pub place: usize,
}

// === impl Commits ===

impl Commits {
    pub(super) fn of(history: &History) -> Self {
        let mut commits = Self::default();
        for (place, event) in history.events().iter().enumerate() {
            if let Some(rev) = shown(event) {
                commits.note(rev, event.at, place);
            }
        }
        commits
    }

    /// The newest revision of a history that was known at `at`.
    #[must_use]
    pub fn by(&self, history: u128, at: u64) -> Option<Growth> {
        let grown = self.grown.get(&history)?;
        let known = grown.partition_point(|growth| growth.at <= at);
        known
            .checked_sub(1)
            .and_then(|last| grown.get(last))
            .copied()
    }

    /// The first moment at which a revision of a history beyond `number` was known.
    #[must_use]
    pub fn beyond(&self, history: u128, number: u64) -> Option<Growth> {
        let grown = self.grown.get(&history)?;
        let older = grown.partition_point(|growth| growth.number <= number);
        grown.get(older).copied()
    }

    /// Every growth of a history, in order.
    #[must_use]
    pub fn of_history(&self, history: u128) -> &[Growth] {
        self.grown.get(&history).map_or(&[], Vec::as_slice)
    }

    /// The newest revision of each history.
    pub fn newest(&self) -> impl Iterator<Item = (Rev, Growth)> {
        self.grown.iter().filter_map(|(history, grown)| {
            let growth = *grown.last()?;
            Some((Rev::new(*history, growth.number), growth))
        })
    }

    fn note(&mut self, rev: Rev, at: u64, place: usize) {
        let grown = self.grown.entry(rev.history).or_default();
        let known = grown.last().map(|growth| growth.number);
        if known.is_none_or(|known| known < rev.number) {
            let number = rev.number;
            grown.push(Growth { at, number, place });
        }
    }
}

/// The revision that an event shows to be committed, if it shows one.
fn shown(event: &Event) -> Option<Rev> {
    match &event.what {
        What::Ok(returned) => match returned {
            Return::Open(opened) => opened.rev,
            Return::Read { rev, .. }
            | Return::Write { rev }
            | Return::Cas { rev }
            | Return::Add { rev } => *rev,
            Return::TruthWrite(_) => None,
        },
        // A token names what its client has seen.
        What::Invoke(Call::Open(open)) => open.min,
        What::Seen(seen) => seen.rev(),
        What::Invoke(_) | What::Fail(..) | What::Unknown(..) => None,
    }
}

impl Seen {
    /// The committed revision that it shows, if it shows one.
    #[must_use]
    pub fn rev(&self) -> Option<Rev> {
        match self {
            Self::Msg(told) => told.rev,
            Self::Digest(observed) => Some(observed.rev),
            Self::Claim(claim) => claim.rev,
            Self::Entry(entry) => Some(entry.rev),
            Self::Ack(ack) => Some(ack.rev),
            Self::Snapshot(snapshot) => Some(snapshot.rev),
            Self::Final(last) => Some(last.rev),
            Self::End(_)
            | Self::Vote(_)
            | Self::Role(_)
            | Self::Life(_)
            | Self::Resources(_)
            | Self::LogLine(_)
            | Self::Watches(_)
            | Self::Truth(_)
            | Self::FaultStart(_)
            | Self::FaultEnd(_)
            | Self::Phase(_)
            | Self::HarnessFailure(_) => None,
        }
    }

    /// The replica that it is about, if it names one.
    #[must_use]
    pub fn replica(&self) -> Option<crate::Replica> {
        match self {
            Self::Digest(observed) => Some(observed.replica),
            Self::Claim(claim) => Some(claim.replica),
            Self::Ack(ack) => Some(ack.replica),
            Self::Vote(vote) => Some(vote.replica),
            Self::Role(role) => Some(role.replica),
            Self::Life(life) => Some(life.replica),
            Self::Snapshot(snapshot) => Some(snapshot.replica),
            Self::Final(last) => Some(last.replica),
            Self::Msg(_)
            | Self::End(_)
            | Self::Entry(_)
            | Self::Resources(_)
            | Self::LogLine(_)
            | Self::Watches(_)
            | Self::Truth(_)
            | Self::FaultStart(_)
            | Self::FaultEnd(_)
            | Self::Phase(_)
            | Self::HarnessFailure(_) => None,
        }
    }
}
