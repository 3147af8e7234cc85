//! The port to the replica that an operator asks about.

use lockstep_proto::admin::v1 as pb;
use std::future::Future;

/// Whether a replica takes new clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It does, with its state for people.
    Ready(String),
    /// It does not, with the reason for people.
    NotReady(String),
}

/// What the health service says of one name.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// What the name stands for is so.
    Serving,
    /// It is not.
    NotServing,
    /// The name stands for nothing.
    Unknown,
}

/// Why an audit could not be made.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum AuditError {
    /// Only the leader speaks to the source.
    #[error("only the leader audits; the leader is {leader}")]
    NotLeader {
        /// The leader's name, or `unknown`.
        leader: String,
    },
    /// The source could not be listed.
    #[error("the source could not be listed: {0}")]
    Source(String),
    /// The state was never complete: there is nothing to compare.
    #[error("the state was never complete: {0}")]
    NotSynced(String),
}

/// Why the lead was not handed over.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TransferError {
    /// Only the leader can.
    #[error("only the leader hands over the lead; the leader is {leader}")]
    NotLeader {
        /// The leader's name, or `unknown`.
        leader: String,
    },
    /// Nobody is called what was asked for.
    #[error("{0}")]
    Unknown(String),
    /// Who was asked for cannot lead, or nobody else can.
    #[error("{0}")]
    Refused(String),
    /// Not now: who could lead is away, or did not take the lead.
    #[error("{0}")]
    NotNow(String),
    /// Another hand-over is under way.
    #[error("the lead is being handed over already")]
    UnderWay,
}

/// Why the members were not changed; each says it in one sentence.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ChangeMembersError {
    /// The request names no change.
    #[error("no change is asked for: name one of remove, add, promote")]
    Empty,
    /// Nobody is called what was asked for.
    #[error("{0}")]
    Unknown(String),
    /// It is not the leader's to do, or asking again does not make it better.
    #[error("{0}")]
    Refused(String),
    /// Somebody who is needed for it is away or behind.
    #[error("{0}")]
    NotNow(String),
    /// Another change is under way.
    #[error("{0}")]
    UnderWay(String),
    /// It may be done or not.
    #[error("{0}")]
    OutcomeUnknown(String),
}

/// What an operator may ask of one replica.
pub trait Operator: Send + Sync + 'static {
    /// Where the replica is and how it fares.
    fn status(&self) -> pb::StatusReply;

    /// Recent positions from revision `from` on, oldest first.
    fn digests(&self, from: u64) -> Vec<pb::Position>;

    /// Lists the source afresh and compares.
    fn audit(&self) -> impl Future<Output = Result<pb::AuditReply, AuditError>> + Send;

    /// Hands the lead to the voter of this name or id, or to the most caught-up one.
    fn transfer_leadership(
        &self,
        to: Option<&str>,
    ) -> impl Future<Output = Result<pb::TransferLeadershipReply, TransferError>> + Send;

    /// Changes who belongs to the group.
    fn change_members(
        &self,
        request: pb::ChangeMembersRequest,
    ) -> impl Future<Output = Result<pb::ChangeMembersReply, ChangeMembersError>> + Send;

    /// Whether it takes new clients.
    fn readiness(&self) -> Readiness;

    /// What the health service says of `service` at this moment; the empty name
    /// stands for readiness.
    fn health(&self, service: &str) -> Health;

    /// Every metric in the Prometheus text format (OpenMetrics).
    fn metrics(&self) -> String;
}
