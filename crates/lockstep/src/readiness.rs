//! Whether a replica is ready, and what the health service says: one decision
//! for all surfaces, from what holds at the moment of the question.

use lockstep_admin::{Health, Readiness};
use lockstep_raft::Role;
use lockstep_replica::{Freshness, FreshnessState, NewStreams, Replica, StalenessPolicy, conduct};
use tokio_util::sync::CancellationToken;

/// The names under which the health service is asked.
pub(crate) mod health_name {
    /// Readiness, as `/ready` says it.
    pub(crate) const READINESS: &str = "";
    /// Whether new streams are served.
    pub(crate) const DESTINATION: &str = "io.linkerd.proxy.destination.Destination";
    /// Whether operators are answered, which is always so.
    pub(crate) const ADMIN: &str = "lockstep.admin.v1.Admin";
    /// Whether the copy is fresh, as the header `lockstep-stale` says it.
    pub(crate) const COPY: &str = "lockstep.fresh.Copy";
    /// Whether the source is fresh, as the header `lockstep-source-stale` says it.
    pub(crate) const SOURCE: &str = "lockstep.fresh.Source";
}

/// Whom to ask what the replica stands for.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    pub(crate) replica: Replica,
    /// It takes no new clients.
    pub(crate) leaving: CancellationToken,
}

/// What a replica stands for at one moment.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Stand {
    pub(crate) role: Role,
    /// Whether it was asked to end and takes no new clients.
    pub(crate) is_leaving: bool,
    pub(crate) freshness: Freshness,
    pub(crate) policy: StalenessPolicy,
}

impl Standing {
    /// What the replica stands for now.
    pub(crate) fn now(&self) -> Stand {
        Stand {
            role: *self.replica.role().borrow(),
            is_leaving: self.leaving.is_cancelled(),
            freshness: self.replica.freshness(),
            policy: self.replica.policy(),
        }
    }
}

impl Stand {
    pub(crate) fn readiness(&self) -> Readiness {
        let state = self.freshness.state;
        // Why it stops is worth more than that it does.
        if self.is_leaving && state != FreshnessState::Quarantined {
            return Readiness::NotReady("it is stopping".to_owned());
        }
        let said = match state {
            FreshnessState::Fresh => state.word().to_owned(),
            FreshnessState::Syncing
            | FreshnessState::SourceStale
            | FreshnessState::Stale
            | FreshnessState::Yielding
            | FreshnessState::Quarantined => format!("{}: {}", state.word(), state.meaning()),
        };
        if !conduct(state, self.policy).is_ready {
            return Readiness::NotReady(said);
        }
        match self.role {
            // A replica that came back empty answers well before it votes. Were it ready by
            // then, a rolling restart would go on to the next one and lose the majority.
            Role::Learner { .. } => Readiness::NotReady("it has no vote yet".to_owned()),
            Role::Leader { .. } | Role::Follower { .. } => Readiness::Ready(said),
        }
    }

    pub(crate) fn is_ready(&self) -> bool {
        matches!(self.readiness(), Readiness::Ready(_))
    }

    pub(crate) fn health(&self, service: &str) -> Health {
        let is_serving = match service {
            health_name::READINESS => self.is_ready(),
            health_name::DESTINATION => {
                !self.is_leaving
                    && conduct(self.freshness.state, self.policy).new_streams == NewStreams::Serve
            }
            health_name::ADMIN => true,
            health_name::COPY => !self.freshness.is_stale(),
            health_name::SOURCE => !self.freshness.is_source_stale(),
            _ => return Health::Unknown,
        };
        if is_serving {
            Health::Serving
        } else {
            Health::NotServing
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_position::Term;
    use std::time::Duration;

    const FOLLOWER: Role = Role::Follower {
        leader: None,
        term: Term::from_u64(3),
    };

    fn stand(state: FreshnessState) -> Stand {
        let second = Duration::from_secs(1);
        let source_age = match state {
            FreshnessState::SourceStale => 31 * second,
            _ => second,
        };
        Stand {
            role: FOLLOWER,
            is_leaving: false,
            freshness: Freshness {
                state,
                age: Some(second),
                limit: 3 * second,
                source_age: Some(source_age),
                source_limit: 30 * second,
            },
            policy: StalenessPolicy::Serve,
        }
    }

    #[test]
    fn every_state_has_its_readiness_and_its_health() {
        use Health::{NotServing as No, Serving as Yes};
        let names = [
            health_name::READINESS,
            health_name::DESTINATION,
            health_name::ADMIN,
            health_name::COPY,
            health_name::SOURCE,
        ];
        let rows = FreshnessState::ALL.map(|state| names.map(|name| stand(state).health(name)));
        assert_eq!(
            rows,
            [
                [No, No, Yes, No, Yes],
                [Yes, Yes, Yes, Yes, Yes],
                [Yes, Yes, Yes, Yes, No],
                [Yes, Yes, Yes, No, Yes],
                [No, No, Yes, No, Yes],
                [No, No, Yes, No, Yes],
            ]
        );
        assert_eq!(
            stand(FreshnessState::Fresh).health("no.such.Service"),
            Health::Unknown
        );
    }

    #[test]
    fn ready_is_who_votes_and_should_be_asked_with_the_state_in_words() {
        let (leader, term) = (None, Term::default());
        let said = |stand: Stand| stand.readiness();
        assert_eq!(
            said(stand(FreshnessState::Fresh)),
            Readiness::Ready("fresh".to_owned())
        );
        assert_eq!(
            said(stand(FreshnessState::Stale)),
            Readiness::Ready(
                "stale: no leader has confirmed within the limit how far the group is".to_owned()
            )
        );
        assert_eq!(
            said(stand(FreshnessState::Yielding)),
            Readiness::NotReady(
                "yielding: this replica is stale and another one is fresh".to_owned()
            )
        );
        assert_eq!(
            said(Stand {
                role: Role::Learner { leader, term },
                ..stand(FreshnessState::Fresh)
            }),
            Readiness::NotReady("it has no vote yet".to_owned())
        );
        let leaving = Stand {
            is_leaving: true,
            ..stand(FreshnessState::Fresh)
        };
        assert_eq!(
            said(leaving),
            Readiness::NotReady("it is stopping".to_owned())
        );
        assert_eq!(leaving.health(health_name::DESTINATION), Health::NotServing);
        let quarantined = Stand {
            is_leaving: true,
            ..stand(FreshnessState::Quarantined)
        };
        assert_eq!(
            said(quarantined),
            Readiness::NotReady(
                "quarantined: this replica's state contradicts the group's".to_owned()
            )
        );
        assert!(
            !Stand {
                policy: StalenessPolicy::Refuse,
                ..stand(FreshnessState::Stale)
            }
            .is_ready()
        );
    }
}
