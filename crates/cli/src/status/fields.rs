//! One look at the replicas as JSON.

use lockstep_position::Revision;
use lockstep_proto::admin::v1::{self as pb, Role, freshness};
use serde::Serialize;

use super::verdict::Verdict;
use crate::admin::{Asked, Report};
use crate::positions::read_log_id;

/// The whole look.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    verdict: &'static str,
    findings: &'a [String],
    replicas: Vec<Replica<'a>>,
}

/// One replica: who and where it is, or why it did not say.
#[derive(Debug, Serialize)]
struct Replica<'a> {
    address: String,
    error: Option<String>,
    #[serde(flatten)]
    identity: Option<Identity<'a>>,
    #[serde(flatten)]
    place: Option<Place>,
    #[serde(flatten)]
    freshness: Option<Freshness>,
    #[serde(flatten)]
    load: Option<Load>,
    log: Option<Log>,
    source: Option<Source<'a>>,
    members: Vec<Member<'a>>,
    warnings: &'a [String],
}

#[derive(Debug, Serialize)]
struct Identity<'a> {
    replica: &'a str,
    name: &'a str,
    cluster: &'a str,
    version: &'a str,
    role: &'static str,
    lacks_quorum: bool,
    term: u64,
    leader: Option<&'a str>,
    proxy_address: &'a str,
}

#[derive(Debug, Serialize)]
struct Place {
    history: String,
    revision: u64,
    behind: u64,
    state_digest: String,
    path_digest: String,
}

#[derive(Debug, Serialize)]
struct Freshness {
    freshness: &'static str,
    ready: bool,
    meaning: String,
    age_ms: Option<u64>,
    limit_ms: u64,
    source_age_ms: Option<u64>,
    source_limit_ms: u64,
}

#[derive(Debug, Serialize)]
struct Load {
    get_streams: u64,
    get_profile_streams: u64,
    memory_bytes: u64,
    log_bytes: u64,
    snapshot_bytes: u64,
    uptime_ms: u64,
}

#[derive(Debug, Serialize)]
struct Log {
    last: Option<String>,
    committed: Option<String>,
    applied: Option<String>,
    snapshot: Option<String>,
    purged: Option<String>,
}

#[derive(Debug, Serialize)]
struct Source<'a> {
    description: &'a str,
    following: bool,
    kinds: Vec<Kind<'a>>,
    problems: &'a [String],
}

#[derive(Debug, Serialize)]
struct Kind<'a> {
    resource: &'a str,
    cursor: &'a str,
    facts: u64,
    age_ms: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Member<'a> {
    replica: &'a str,
    name: &'a str,
    address: &'a str,
    voter: bool,
    matched: Option<u64>,
}

pub(super) fn document<'a>(asked: &'a [Asked], verdict: &'a Verdict) -> Document<'a> {
    let reports = asked.iter().filter_map(|asked| asked.report.as_ref().ok());
    let newest = reports
        .map(|report| report.position.revision)
        .max()
        .unwrap_or_default();
    Document {
        verdict: verdict.word(),
        findings: &verdict.findings,
        replicas: asked.iter().map(|asked| replica(asked, newest)).collect(),
    }
}

fn replica(asked: &Asked, newest: Revision) -> Replica<'_> {
    let report = asked.report.as_ref().ok();
    let status = report.map(|report| &report.status);
    Replica {
        address: asked.address.to_string(),
        error: asked.report.as_ref().err().map(ToString::to_string),
        identity: status.map(identity),
        place: report.map(|report| place(report, newest)),
        freshness: status
            .and_then(|status| status.freshness.as_ref())
            .map(fresh),
        load: status.map(load),
        log: report.map(log),
        source: status.and_then(|status| status.source.as_ref()).map(source),
        members: status
            .into_iter()
            .flat_map(|status| &status.members)
            .map(member)
            .collect(),
        warnings: status.map_or(&[], |status| &status.warnings),
    }
}

fn identity(status: &pb::StatusReply) -> Identity<'_> {
    Identity {
        replica: &status.replica,
        name: &status.name,
        cluster: &status.cluster,
        version: &status.version,
        role: match status.role() {
            Role::Leader => "leader",
            Role::Follower => "follower",
            Role::Learner => "learner",
            Role::Unspecified => "unknown",
        },
        lacks_quorum: status.lacks_quorum,
        term: status.term,
        leader: (!status.leader.is_empty()).then_some(status.leader.as_str()),
        proxy_address: &status.proxy_address,
    }
}

fn place(report: &Report, newest: Revision) -> Place {
    let position = &report.position;
    Place {
        history: position.history.to_string(),
        revision: position.revision.as_u64(),
        behind: position.revision.behind(newest).0,
        state_digest: position.state_digest.to_string(),
        path_digest: position.path_digest.to_string(),
    }
}

/// The state of freshness as one word, as the replica's own metrics say it.
pub(super) fn word(state: freshness::State) -> &'static str {
    match state {
        freshness::State::Syncing => "syncing",
        freshness::State::Fresh => "fresh",
        freshness::State::SourceStale => "source-stale",
        freshness::State::Stale => "stale",
        freshness::State::Yielding => "yielding",
        freshness::State::Quarantined => "quarantined",
        freshness::State::Unspecified => "unknown",
    }
}

fn fresh(freshness: &pb::Freshness) -> Freshness {
    Freshness {
        freshness: word(freshness.state()),
        ready: freshness.ready,
        meaning: freshness.meaning.clone(),
        age_ms: freshness.age_ms,
        limit_ms: freshness.limit_ms,
        source_age_ms: freshness.source_age_ms,
        source_limit_ms: freshness.source_limit_ms,
    }
}

fn load(status: &pb::StatusReply) -> Load {
    let streams = status.streams.unwrap_or_default();
    let resources = status.resources.unwrap_or_default();
    Load {
        get_streams: streams.get,
        get_profile_streams: streams.get_profile,
        memory_bytes: resources.memory_bytes,
        log_bytes: resources.log_bytes,
        snapshot_bytes: resources.snapshot_bytes,
        uptime_ms: resources.uptime_ms,
    }
}

fn log(report: &Report) -> Log {
    let text = |log_id: Option<pb::LogId>| log_id.map(|log_id| read_log_id(&log_id).to_string());
    let log = report.status.log.unwrap_or_default();
    Log {
        last: text(log.last),
        committed: text(log.committed),
        applied: report.position.applied.map(|applied| applied.to_string()),
        snapshot: text(log.snapshot),
        purged: text(log.purged),
    }
}

fn source(source: &pb::Source) -> Source<'_> {
    Source {
        description: &source.description,
        following: source.following,
        kinds: source.kinds.iter().map(kind_fields).collect(),
        problems: &source.problems,
    }
}

fn kind_fields(kind: &pb::Kind) -> Kind<'_> {
    Kind {
        resource: &kind.resource,
        cursor: &kind.cursor,
        facts: kind.facts,
        age_ms: kind.age_ms,
    }
}

fn member(member: &pb::Member) -> Member<'_> {
    Member {
        replica: &member.replica,
        name: &member.name,
        address: &member.address,
        voter: member.voter,
        matched: member.matched,
    }
}
