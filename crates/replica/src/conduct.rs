//! What a replica does in each state of freshness: the table, and nothing else.

use crate::FreshnessState;

/// What a stale replica does that sees nobody fresher.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum StalenessPolicy {
    /// It serves what it has and says so: an old endpoint beats none.
    #[default]
    Serve,
    /// It refuses new streams and lets the open ones go.
    Refuse,
}

/// What follows from a state.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Conduct {
    /// Whether it is ready for clients.
    pub is_ready: bool,
    /// What becomes of open streams.
    pub open_streams: OpenStreams,
    /// What becomes of those that want to open.
    pub new_streams: NewStreams,
}

/// What becomes of open streams.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum OpenStreams {
    /// They go on.
    #[default]
    Keep,
    /// Each ends after a while of its own, so that its proxy asks another replica.
    EndSoon,
    /// All end now.
    EndNow,
}

/// What becomes of new streams.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum NewStreams {
    /// They are served.
    Serve,
    /// They are refused as unavailable: another replica may serve them, or this one later.
    Refuse,
}

/// The conduct in a state.
#[must_use]
pub const fn conduct(state: FreshnessState, policy: StalenessPolicy) -> Conduct {
    match (state, policy) {
        (FreshnessState::Fresh | FreshnessState::SourceStale, _)
        | (FreshnessState::Stale, StalenessPolicy::Serve) => Conduct {
            is_ready: true,
            open_streams: OpenStreams::Keep,
            new_streams: NewStreams::Serve,
        },
        (FreshnessState::Stale, StalenessPolicy::Refuse) | (FreshnessState::Yielding, _) => {
            Conduct {
                is_ready: false,
                open_streams: OpenStreams::EndSoon,
                new_streams: NewStreams::Refuse,
            }
        }
        // There are none: a stream opens on a complete state, which stays one.
        (FreshnessState::Syncing, _) => Conduct {
            is_ready: false,
            open_streams: OpenStreams::Keep,
            new_streams: NewStreams::Refuse,
        },
        (FreshnessState::Quarantined, _) => Conduct {
            is_ready: false,
            open_streams: OpenStreams::EndNow,
            new_streams: NewStreams::Refuse,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use FreshnessState::{Fresh, Quarantined, SourceStale, Stale, Syncing, Yielding};
    use NewStreams::{Refuse, Serve};
    use OpenStreams::{EndNow, EndSoon, Keep};

    fn rows(policy: StalenessPolicy) -> Vec<(FreshnessState, bool, OpenStreams, NewStreams)> {
        let row = |state| {
            let it = conduct(state, policy);
            (state, it.is_ready, it.open_streams, it.new_streams)
        };
        FreshnessState::ALL.map(row).into()
    }

    #[test]
    fn the_table() {
        let expected = [
            (Syncing, false, Keep, Refuse),
            (Fresh, true, Keep, Serve),
            (SourceStale, true, Keep, Serve),
            (Stale, true, Keep, Serve),
            (Yielding, false, EndSoon, Refuse),
            (Quarantined, false, EndNow, Refuse),
        ];
        assert_eq!(rows(StalenessPolicy::Serve), expected);
    }

    #[test]
    fn whoever_refuses_yields_to_nobody_in_particular_and_nothing_else_changes() {
        let mut expected = rows(StalenessPolicy::Serve);
        expected[3] = (Stale, false, EndSoon, Refuse);
        assert_eq!(rows(StalenessPolicy::Refuse), expected);
    }
}
