//! The admin RPC.

use lockstep_proto::admin::v1 as pb;
use std::sync::Arc;
use tonic::{Request, Response, Status};

use crate::{AuditError, Operator};

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
}

fn audit_status(error: AuditError) -> Status {
    let text = error.to_string();
    match error {
        AuditError::NotLeader { .. } => Status::failed_precondition(text),
        AuditError::Source(_) | AuditError::NotSynced(_) => Status::unavailable(text),
    }
}
