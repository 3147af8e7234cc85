//! The admin RPC.

use lockstep_proto::admin::v1 as pb;
use std::sync::Arc;
use tonic::{Request, Response, Status};

use crate::{AuditError, ChangeMembersError, Operator, TransferError};

pub(crate) struct AdminService<O>(pub(crate) Arc<O>);

#[tonic::async_trait]
impl<O: Operator> pb::admin_server::Admin for AdminService<O> {
    async fn status(
        &self,
        _: Request<pb::StatusRequest>,
    ) -> Result<Response<pb::StatusReply>, Status> {
        Ok(Response::new(self.0.status()))
    }

    async fn digests(
        &self,
        request: Request<pb::DigestsRequest>,
    ) -> Result<Response<pb::DigestsReply>, Status> {
        let positions = self.0.digests(request.into_inner().from);
        Ok(Response::new(pb::DigestsReply { positions }))
    }

    async fn audit(
        &self,
        _: Request<pb::AuditRequest>,
    ) -> Result<Response<pb::AuditReply>, Status> {
        self.0
            .audit()
            .await
            .map(Response::new)
            .map_err(audit_status)
    }

    async fn transfer_leadership(
        &self,
        request: Request<pb::TransferLeadershipRequest>,
    ) -> Result<Response<pb::TransferLeadershipReply>, Status> {
        let to = request.into_inner().to;
        let to = (!to.is_empty()).then_some(to.as_str());
        self.0
            .transfer_leadership(to)
            .await
            .map(Response::new)
            .map_err(transfer_status)
    }

    async fn change_members(
        &self,
        request: Request<pb::ChangeMembersRequest>,
    ) -> Result<Response<pb::ChangeMembersReply>, Status> {
        self.0
            .change_members(request.into_inner())
            .await
            .map(Response::new)
            .map_err(change_status)
    }
}

/// As for a transfer; whoever does not know the outcome must look before asking again.
fn change_status(error: ChangeMembersError) -> Status {
    let text = error.to_string();
    match error {
        ChangeMembersError::Empty => Status::invalid_argument(text),
        ChangeMembersError::Unknown(_) => Status::not_found(text),
        ChangeMembersError::Refused(_) => Status::failed_precondition(text),
        ChangeMembersError::NotNow(_) => Status::unavailable(text),
        ChangeMembersError::UnderWay(_) => Status::aborted(text),
        ChangeMembersError::OutcomeUnknown(_) => Status::deadline_exceeded(text),
    }
}

/// What asking again cannot change is a precondition, the rest may pass.
fn transfer_status(error: TransferError) -> Status {
    let text = error.to_string();
    match error {
        TransferError::Unknown(_) => Status::not_found(text),
        TransferError::NotLeader { .. } | TransferError::Refused(_) => {
            Status::failed_precondition(text)
        }
        TransferError::NotNow(_) => Status::unavailable(text),
        TransferError::UnderWay => Status::aborted(text),
    }
}

fn audit_status(error: AuditError) -> Status {
    let text = error.to_string();
    match error {
        AuditError::NotLeader { .. } => Status::failed_precondition(text),
        AuditError::Source(_) | AuditError::NotSynced(_) => Status::unavailable(text),
    }
}
