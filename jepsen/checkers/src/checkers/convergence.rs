//! C4: once Kubernetes is quiet, every client holds what Kubernetes holds; and no client waits
//! longer than that while others are served.

mod quiet;
mod starved;

use lockstep_jepsen_model::{Cluster, Content, Difference, Fold, Settings, expect};
use std::sync::Arc;

use crate::{Guarantee, Run, Stream, Verdict};

pub(super) fn check(run: &Run<'_>, verdict: &mut Verdict) {
    quiet::check(run, verdict);
    starved::check(run, verdict);
}

/// One stream with what its client holds, as time goes on.
struct Follower<'r, 'h> {
    stream: &'r Stream<'h>,
    fold: Fold,
    /// How many messages are folded.
    folded: usize,
}

// === impl Follower ===

impl<'r, 'h> Follower<'r, 'h> {
    fn all(run: &'r Run<'h>) -> Vec<Self> {
        let streams = run.streams.iter().filter(|stream| stream.open.reads);
        let followers = streams.map(|stream| Self {
            stream,
            fold: Fold::default(),
            folded: 0,
        });
        followers.collect()
    }

    /// Folds all that was heard up to a moment, which must not decrease.
    fn listen(&mut self, until: u64) {
        let rest = self.stream.heard.get(self.folded..).unwrap_or_default();
        for heard in rest.iter().take_while(|heard| heard.at <= until) {
            self.fold.take(&heard.told.message);
            self.folded += 1;
        }
    }

    /// Whether the stream was open all the time between two moments.
    fn is_open(&self, from: u64, to: u64) -> bool {
        self.stream.at <= from && self.stream.over().is_none_or(|over| over > to)
    }

    /// The last event of it that counts.
    fn place(&self) -> usize {
        let last = self
            .folded
            .checked_sub(1)
            .and_then(|last| self.stream.heard.get(last));
        last.map_or(self.stream.place, |heard| heard.place)
    }

    /// Compares what the client holds with what is true.
    fn compare(&self, content: &Content, quiet: usize, verdict: &mut Verdict) {
        let question = &self.stream.open.question;
        let expected = expect(content, question);
        let differences = expected.set().map(|set| set.differences(&self.fold));
        for difference in differences.into_iter().flatten() {
            let authority = &question.authority;
            let what = match difference {
                Difference::Extra(address) => {
                    format!("{authority}: {address} is gone from Kubernetes and still told")
                }
                Difference::Missing(_) | Difference::Wrong { .. } => {
                    format!("{authority}: {difference}")
                }
            };
            verdict.violate(Guarantee::Convergence, what, [quiet, self.place()]);
        }
    }
}

/// What Kubernetes holds, as content.
fn content(run: &Run<'_>, cluster: &Cluster) -> Content {
    let settings: Arc<Settings> = run.timeline.settings().cloned().unwrap_or_default();
    cluster.content(&settings)
}
