//! Quiet moments: no write is under way and no fault in force for long enough.

use std::collections::BTreeSet;

use lockstep_jepsen_model::{Cluster, ObjectKey};

use super::{Follower, content};
use crate::{Call, Operation, Phase, Run, Seen, Verdict, What, Written};

/// Kubernetes, as the writers know it.
#[derive(Default)]
struct Known {
    cluster: Cluster,
    /// Objects whose last write may or may not have taken effect.
    unclear: BTreeSet<ObjectKey>,
    /// How many writes are under way.
    writing: usize,
    /// Since when none is, and the event that ended the last one.
    quiet: Option<(u64, usize)>,
}

pub(super) fn check(run: &Run<'_>, verdict: &mut Verdict) {
    let Some(well) = run.well_from() else {
        verdict.doubt("the phase `warm` was never entered");
        return;
    };
    let mut known = Known::default();
    let mut followers = Follower::all(run);
    for (place, event) in run.events() {
        let begins = matches!(event.what, What::Invoke(Call::TruthWrite(_)));
        if begins && known.writing == 0 {
            known.look(run, &mut followers, (well, event.at), verdict);
        }
        known.learn(run, place);
    }
    let last = known.look(run, &mut followers, (well, run.end()), verdict);
    let healed = run.phase(Phase::Healed).map(|(_, at)| at);
    if last.is_none() || healed.is_some_and(|healed| last < Some(healed)) {
        verdict.doubt("the run did not end quiet, for long enough after the last fault");
    }
}

// === impl Known ===

impl Known {
    /// Compares at the first moment of the quiet time that can be judged; says when it was.
    fn look(
        &self,
        run: &Run<'_>,
        followers: &mut [Follower<'_, '_>],
        (well, until): (u64, u64),
        verdict: &mut Verdict,
    ) -> Option<u64> {
        let (quiet, place) = self.quiet?;
        let converge = run.limits.times.converge;
        let ends = run.faults.spans().iter().map(|span| span.to);
        let starts: BTreeSet<u64> = ends
            .chain([quiet, well])
            .filter(|at| *at >= quiet.max(well))
            .collect();
        let mut starts = starts.into_iter();
        let from = starts.find(|from| {
            let undisturbed = from.saturating_add(1);
            let to = from.saturating_add(converge);
            to <= until && run.faults.any(undisturbed, to).is_none()
        })?;
        if !self.unclear.is_empty() {
            verdict.count("quiet moments that are unclear", 1);
            return None;
        }
        let to = from.saturating_add(converge);
        let content = content(run, &self.cluster);
        for follower in followers {
            follower.listen(to);
            if follower.is_open(from, to) {
                verdict.count("comparisons with Kubernetes", 1);
                follower.compare(&content, place, verdict);
            }
        }
        verdict.count("quiet moments", 1);
        Some(from)
    }

    fn learn(&mut self, run: &Run<'_>, place: usize) {
        let Some(event) = run.history.events().get(place) else {
            return;
        };
        match &event.what {
            What::Invoke(Call::TruthWrite(_)) => self.writing += 1,
            What::Ok(crate::Return::TruthWrite(_))
            | What::Fail(Operation::TruthWrite, _)
            | What::Unknown(Operation::TruthWrite, _) => {
                self.end(run, place);
                self.writing = self.writing.saturating_sub(1);
                self.quiet = Some((event.at, place));
            }
            What::Seen(Seen::Truth(truth)) => {
                self.cluster = Cluster::default();
                self.unclear.clear();
                for object in &truth.objects {
                    // Other kinds are in a store too, and no answer depends on them.
                    drop(self.cluster.put(object.clone()));
                }
                self.quiet.get_or_insert((event.at, place));
            }
            What::Seen(_) | What::Invoke(_) | What::Ok(_) | What::Fail(..) | What::Unknown(..) => {}
        }
    }

    /// A write ended: what it wrote is there, is not, or nobody knows.
    fn end(&mut self, run: &Run<'_>, place: usize) {
        let events = run.history.events();
        let Some(ended) = events.get(place) else {
            return;
        };
        let begun = events.get(..place).unwrap_or_default().iter().rev();
        let mut begun = begun.filter(|event| event.process == ended.process);
        let Some(What::Invoke(Call::TruthWrite(write))) = begun.next().map(|event| &event.what)
        else {
            return;
        };
        for written in &write.writes {
            match (&ended.what, written) {
                (What::Ok(_), Written::Put(object)) => {
                    if let Ok(key) = self.cluster.put(object.clone()) {
                        self.unclear.remove(&key);
                    }
                }
                (What::Ok(_), Written::Delete(key)) => {
                    self.cluster.delete(key);
                    self.unclear.remove(key);
                }
                (What::Unknown(..), Written::Delete(key)) => drop(self.unclear.insert(key.clone())),
                (What::Unknown(..), Written::Put(object)) => {
                    self.unclear.extend(ObjectKey::of(object).ok());
                }
                (What::Fail(..) | What::Invoke(_) | What::Seen(_), _) => {}
            }
        }
    }
}
