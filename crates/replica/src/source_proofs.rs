//! When the leader's watches last proved that they deliver, kind by kind.

use lockstep_model::FactKind;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{
    freshness::{BootNs, age_of},
    probes::boot_now,
};

/// Notes the source's proofs while this replica leads. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct SourceProofs(Arc<Mutex<Book>>);

#[derive(Debug, Default)]
struct Book {
    is_expected: bool,
    lead: Option<Lead>,
}

/// What was noted since this replica began to lead.
#[derive(Debug)]
struct Lead {
    since: BootNs,
    proved: BTreeMap<FactKind, BootNs>,
}

impl SourceProofs {
    /// Notes that the source just proved to deliver what it has of a kind.
    /// Means nothing while this replica does not lead.
    pub fn proved(&self, kind: FactKind) {
        self.prove_at(kind, boot_now());
    }

    /// Forgets all proofs: this replica has stopped leading.
    pub fn forget(&self) {
        self.book().lead = None;
    }

    /// From now on the lack of a proof counts.
    pub(crate) fn expect(&self) {
        self.book().is_expected = true;
    }

    /// This replica began to lead. A kind without a proof counts from here.
    pub(crate) fn begin(&self) {
        self.begin_at(boot_now());
    }

    /// The age of each kind's last proof; empty while nobody knows.
    pub(crate) fn ages(&self) -> BTreeMap<FactKind, Duration> {
        let book = self.book();
        let now = boot_now();
        book.ages(now)
    }

    fn begin_at(&self, since: BootNs) {
        self.book().lead = Some(Lead {
            since,
            proved: BTreeMap::new(),
        });
    }

    fn prove_at(&self, kind: FactKind, at: BootNs) {
        if let Some(lead) = &mut self.book().lead {
            lead.proved.insert(kind, at);
        }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // Each change leaves it whole, so a panic of another holder does too.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn ages(&self, now: BootNs) -> BTreeMap<FactKind, Duration> {
        let Some(lead) = self.lead.as_ref().filter(|_| self.is_expected) else {
            return BTreeMap::new();
        };
        let age = |kind: FactKind| {
            let noted = lead.proved.get(&kind).copied().unwrap_or(lead.since);
            (kind, age_of(noted, now))
        };
        FactKind::ALL.map(age).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: BootNs = 1_000_000_000;

    fn ages(proofs: &SourceProofs, at: BootNs) -> Vec<u64> {
        let ages = proofs.book().ages(at);
        let of = |kind: &FactKind| ages.get(kind).map(Duration::as_secs);
        let kinds = [FactKind::Node, FactKind::Pod, FactKind::EndpointSlice];
        kinds.iter().filter_map(of).collect()
    }

    #[test]
    fn a_kind_counts_from_its_last_proof_or_from_the_beginning_of_the_lead() {
        let proofs = SourceProofs::default();
        proofs.expect();
        proofs.begin_at(10 * SECOND);
        assert_eq!(ages(&proofs, 14 * SECOND), [4, 4, 4]);
        proofs.prove_at(FactKind::Pod, 13 * SECOND);
        assert_eq!(ages(&proofs, 14 * SECOND), [4, 1, 4]);
        assert_eq!(
            proofs.book().ages(14 * SECOND).len(),
            FactKind::ALL.len(),
            "every kind is watched"
        );
        // The next lead begins anew: what an earlier one proved says nothing of its watches.
        proofs.begin_at(20 * SECOND);
        assert_eq!(ages(&proofs, 25 * SECOND), [5, 5, 5]);
    }

    #[test]
    fn nothing_is_known_while_nobody_leads_or_nobody_proves() {
        let proofs = SourceProofs::default();
        proofs.begin_at(SECOND);
        assert_eq!(ages(&proofs, 99 * SECOND), [0; 0]);
        proofs.expect();
        assert_eq!(ages(&proofs, 99 * SECOND), [98, 98, 98]);
        proofs.forget();
        // A proof on its way when the lead ended.
        proofs.prove_at(FactKind::Pod, 99 * SECOND);
        assert_eq!(ages(&proofs, 99 * SECOND), [0; 0]);
    }
}
