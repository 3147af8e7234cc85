//! Asks replicas on their admin ports.

use lockstep_position::Position;
use lockstep_proto::admin::v1 as pb;
use pb::admin_client::AdminClient;
use std::time::Duration;
use tonic::transport::Channel;

use crate::Address;
use crate::ask::{AskError, MESSAGE_BYTES_MAX, connect, in_time};
use crate::positions::read_position;

/// A connection to a replica's admin port.
#[derive(Clone, Debug)]
pub(crate) struct Admin {
    address: Address,
    client: AdminClient<Channel>,
}

/// What a replica says about itself.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(crate) status: pb::StatusReply,
    /// The status' position; of nothing committed where it has none.
    pub(crate) position: Position,
}

/// One replica that was asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Where it was asked.
    pub(crate) address: Address,
    pub(crate) report: Result<Report, AskError>,
}

impl Asked {
    /// The configured name, or the address of a replica that did not tell it.
    pub(crate) fn name(&self) -> String {
        match &self.report {
            Ok(report) if !report.status.name.is_empty() => report.status.name.clone(),
            Ok(_) | Err(_) => self.address.to_string(),
        }
    }
}

impl Admin {
    pub(crate) async fn connect(address: &Address) -> Result<Self, AskError> {
        let channel = connect(address).await?;
        let client = AdminClient::new(channel).max_decoding_message_size(MESSAGE_BYTES_MAX);
        Ok(Self {
            address: address.clone(),
            client,
        })
    }

    pub(crate) async fn status(&mut self) -> Result<Report, AskError> {
        let reply = self.client.status(pb::StatusRequest {}).await;
        let status = reply.map_err(|status| AskError::from_status(&self.address, &status))?;
        let status = status.into_inner();
        let position = status
            .position
            .as_ref()
            .map(|position| self.read(position))
            .transpose()?;
        Ok(Report {
            position: position.unwrap_or_default(),
            status,
        })
    }

    /// Every recent position, oldest first.
    pub(crate) async fn digests(&mut self) -> Result<Vec<Position>, AskError> {
        let reply = self.client.digests(pb::DigestsRequest { from: 0 }).await;
        let reply = reply.map_err(|status| AskError::from_status(&self.address, &status))?;
        reply
            .into_inner()
            .positions
            .iter()
            .map(|position| self.read(position))
            .collect()
    }

    pub(crate) async fn audit(&mut self) -> Result<pb::AuditReply, AskError> {
        let reply = self.client.audit(pb::AuditRequest {}).await;
        let reply = reply.map_err(|status| AskError::from_status(&self.address, &status))?;
        Ok(reply.into_inner())
    }

    /// Has the leader hand over to the voter of this name or id; empty for any.
    pub(crate) async fn transfer_leadership(
        &mut self,
        to: &str,
    ) -> Result<pb::TransferLeadershipReply, AskError> {
        let request = pb::TransferLeadershipRequest { to: to.to_owned() };
        let reply = self.client.transfer_leadership(request).await;
        let reply = reply.map_err(|status| AskError::from_status(&self.address, &status))?;
        Ok(reply.into_inner())
    }

    /// Has the leader change the members.
    pub(crate) async fn change_members(
        &mut self,
        change: pb::change_members_request::Change,
    ) -> Result<pb::ChangeMembersReply, AskError> {
        let change = Some(change);
        let request = pb::ChangeMembersRequest { change };
        let reply = self.client.change_members(request).await;
        let reply = reply.map_err(|status| AskError::from_status(&self.address, &status))?;
        Ok(reply.into_inner())
    }

    fn read(&self, position: &pb::Position) -> Result<Position, AskError> {
        read_position(position).map_err(|error| AskError::Unreadable {
            address: self.address.clone(),
            reason: error.to_string(),
        })
    }
}

/// Asks one replica for its status, all within `within`.
pub(crate) async fn ask_status(address: &Address, within: Duration) -> Asked {
    let report = async { Admin::connect(address).await?.status().await };
    let report = in_time(address, within, report).await;
    Asked {
        address: address.clone(),
        report,
    }
}

/// Asks every replica for its status at the same time.
pub(crate) async fn ask_all(addresses: &[Address], within: Duration) -> Vec<Asked> {
    let asked = addresses.iter().map(|address| ask_status(address, within));
    futures::future::join_all(asked).await
}
