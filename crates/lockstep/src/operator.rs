//! What operators are told of one replica.

use lockstep_admin::{AuditError, ChangeMembersError, Health, Operator, Readiness, TransferError};
use lockstep_catalog::FactSource;
use lockstep_ingest::Reach;
use lockstep_model::{FactKind, Settings};
use lockstep_position::{LogId, ReplicaId, Revision};
use lockstep_proto::admin::v1 as pb;
use lockstep_raft::{RaftStatus, Role};
use lockstep_replica::{Freshness, FreshnessState, Replica, label_of};
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::watch;

use crate::{
    Source, audit,
    config::Endpoints,
    leadership::Leadership,
    members,
    metrics::ReplicaMetrics,
    readiness::{Stand, Standing},
    transfer,
};

/// One replica as operators see it.
pub(crate) struct ReplicaOperator {
    cluster: String,
    endpoints: Endpoints,
    replica: Replica,
    leadership: Leadership,
    source: Arc<Source>,
    reach: watch::Receiver<Reach>,
    metrics: ReplicaMetrics,
    settings: Arc<Settings>,
    standing: Standing,
    started: Instant,
}

impl ReplicaOperator {
    pub(crate) fn new(
        (cluster, endpoints): (String, Endpoints),
        (standing, leadership): (Standing, Leadership),
        (source, reach): (Arc<Source>, watch::Receiver<Reach>),
        metrics: ReplicaMetrics,
        settings: Arc<Settings>,
    ) -> Self {
        let started = Instant::now();
        Self {
            cluster,
            endpoints,
            replica: standing.replica.clone(),
            leadership,
            source,
            reach,
            metrics,
            settings,
            standing,
            started,
        }
    }

    fn source_status(&self, following: bool) -> pb::Source {
        let state = self.replica.published().newest();
        let memory = state.memory();
        let mut facts: BTreeMap<FactKind, u64> = BTreeMap::new();
        for key in memory.facts().keys() {
            *facts.entry(key.kind).or_default() += 1;
        }
        let ages = self.replica.source_ages();
        let kinds = memory.cursors().iter().map(|(kind, cursor)| pb::Kind {
            resource: kind.resource().to_owned(),
            cursor: cursor.0.to_string(),
            facts: facts.get(kind).copied().unwrap_or_default(),
            age_ms: ages.get(kind).map(|age| ms(*age)),
        });
        pb::Source {
            description: self.source.describe(),
            following,
            kinds: kinds.collect(),
            problems: if following {
                self.source.problems()
            } else {
                Vec::new()
            },
        }
    }

    fn warnings(&self, raft: &RaftStatus, freshness: &Freshness) -> Vec<String> {
        let left_out = raft.outside.left_out.iter();
        let mut warnings: Vec<String> = left_out
            .map(|why| format!("this replica is no member of the group: {why}"))
            .collect();
        match freshness.state {
            FreshnessState::Syncing | FreshnessState::Fresh => {}
            state @ (FreshnessState::SourceStale
            | FreshnessState::Stale
            | FreshnessState::Yielding
            | FreshnessState::Quarantined) => warnings.push(state.meaning().to_owned()),
        }
        if let Reach::Missed { since, reason } = &*self.reach.borrow() {
            let seconds = since.elapsed().as_secs();
            warnings.push(format!(
                "the source does not answer this replica, for {seconds} s: {reason}"
            ));
        }
        let state = self.replica.published().newest();
        if state
            .content()
            .settings()
            .is_some_and(|settings| *settings != self.settings)
        {
            warnings.push(
                "this replica's flags differ from the replicated settings, which the leader's \
                 flags decide"
                    .to_owned(),
            );
        }
        warnings
    }

    fn resources(&self, raft: &RaftStatus) -> pb::Resources {
        pb::Resources {
            memory_bytes: resident_bytes().unwrap_or(0),
            log_bytes: raft.disk.log_bytes,
            snapshot_bytes: raft.disk.snapshot_bytes,
            uptime_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }
}

// === impl Operator for ReplicaOperator ===

impl Operator for ReplicaOperator {
    fn status(&self) -> pb::StatusReply {
        let raft = self.replica.raft();
        let stand = self.standing.now();
        let freshness = stand.freshness;
        pb::StatusReply {
            replica: raft.id.to_string(),
            name: raft.name.clone(),
            cluster: self.cluster.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            role: role(&raft.role).into(),
            term: raft.role.term().as_u64(),
            leader: leader_of(&raft)
                .map(|leader| leader.to_string())
                .unwrap_or_default(),
            position: Some(label_of(&self.replica.position())),
            log: Some(log_pointers(&raft)),
            freshness: Some(freshness_status(&stand)),
            streams: Some(self.metrics.streams()),
            source: Some(self.source_status(self.metrics.ingest.is_following())),
            members: members::members(&raft),
            outsiders: members::outsiders(&raft),
            dismissed: raft.outside.dismissed.clone(),
            left_out: raft.outside.left_out.clone().unwrap_or_default(),
            resources: Some(self.resources(&raft)),
            lacks_quorum: raft.lacks_quorum(),
            warnings: self.warnings(&raft, &freshness),
            proxy_address: self.endpoints.proxy.to_string(),
        }
    }

    fn digests(&self, from: u64) -> Vec<pb::Position> {
        let positions = self.replica.published().recent(Revision::from_u64(from));
        positions.iter().map(label_of).collect()
    }

    async fn audit(&self) -> Result<pb::AuditReply, AuditError> {
        let raft = self.replica.raft();
        if raft.role.leading().is_none() {
            return Err(AuditError::NotLeader {
                leader: leader_name(&raft),
            });
        }
        audit::audit(&self.replica, &self.source, &self.settings).await
    }

    async fn transfer_leadership(
        &self,
        to: Option<&str>,
    ) -> Result<pb::TransferLeadershipReply, TransferError> {
        transfer::transfer(&self.replica, &self.leadership, to).await
    }

    async fn change_members(
        &self,
        request: pb::ChangeMembersRequest,
    ) -> Result<pb::ChangeMembersReply, ChangeMembersError> {
        members::change(&self.replica, request).await
    }

    fn readiness(&self) -> Readiness {
        self.standing.now().readiness()
    }

    fn health(&self, service: &str) -> Health {
        self.standing.now().health(service)
    }

    fn metrics(&self) -> String {
        self.metrics.text()
    }
}

/// What people call the leader.
pub(crate) fn leader_name(raft: &RaftStatus) -> String {
    leader_of(raft).map_or_else(|| "unknown".to_owned(), |leader| raft.name_of(leader))
}

/// Who leads, as far as this replica knows.
pub(crate) fn leader_of(raft: &RaftStatus) -> Option<ReplicaId> {
    match raft.role {
        Role::Leader { .. } => Some(raft.id),
        Role::Follower { leader, .. } | Role::Learner { leader, .. } => leader,
    }
}

fn role(role: &Role) -> pb::Role {
    match role {
        Role::Leader { .. } => pb::Role::Leader,
        Role::Follower { .. } => pb::Role::Follower,
        Role::Learner { .. } => pb::Role::Learner,
    }
}

fn log_pointers(raft: &RaftStatus) -> pb::LogPointers {
    let label = |log_id: Option<LogId>| {
        log_id.map(|log_id| pb::LogId {
            term: log_id.term.as_u64(),
            index: log_id.index,
        })
    };
    pb::LogPointers {
        last: label(raft.last),
        committed: label(raft.committed),
        snapshot: label(raft.snapshot),
        purged: label(raft.purged),
    }
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn freshness_status(stand: &Stand) -> pb::Freshness {
    use pb::freshness::State;
    let freshness = &stand.freshness;
    let state = match freshness.state {
        FreshnessState::Syncing => State::Syncing,
        FreshnessState::Fresh => State::Fresh,
        FreshnessState::SourceStale => State::SourceStale,
        FreshnessState::Stale => State::Stale,
        FreshnessState::Yielding => State::Yielding,
        FreshnessState::Quarantined => State::Quarantined,
    };
    let meaning = match stand.readiness() {
        Readiness::Ready(_) => freshness.state.meaning().to_owned(),
        Readiness::NotReady(why) => why,
    };
    pb::Freshness {
        state: state.into(),
        age_ms: freshness.age.map(ms),
        limit_ms: ms(freshness.limit),
        source_age_ms: freshness.source_age.map(ms),
        source_limit_ms: ms(freshness.source_limit),
        ready: stand.is_ready(),
        meaning,
    }
}

/// Resident memory of this process, where the system tells it.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}
