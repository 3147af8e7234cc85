//! What an operator asks replicas.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;
use lockstep_proto::admin::v1::{
    AuditReply, AuditRequest, DigestsRequest, Position, StatusReply, StatusRequest,
    TransferLeadershipReply, TransferLeadershipRequest, admin_client::AdminClient,
};
use tokio::time::timeout;
use tonic::transport::{Channel, Endpoint};

/// How long a healthy replica never takes; a paused one takes for ever.
const LIMIT: Duration = Duration::from_secs(2);
/// How long a hand-over may take.
const HAND_OVER_LIMIT: Duration = Duration::from_secs(10);
/// How long an audit may take.
const AUDIT_LIMIT: Duration = Duration::from_secs(30);

/// The largest audit.
const MESSAGE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// A connection to one replica's admin port, which is made anew when it breaks.
#[derive(Clone, Debug)]
pub struct Operator {
    client: AdminClient<Channel>,
}

// === impl Operator ===

impl Operator {
    /// Must be called in the room from which the port can be reached.
    ///
    /// # Errors
    ///
    /// Never, for a socket address.
    pub fn new(admin: SocketAddr) -> anyhow::Result<Self> {
        let endpoint = Endpoint::from_shared(format!("http://{admin}"))?;
        let channel = endpoint.connect_timeout(LIMIT).connect_lazy();
        let client = AdminClient::new(channel).max_decoding_message_size(MESSAGE_BYTES_MAX);
        Ok(Self { client })
    }

    /// Where the replica is and how it fares.
    ///
    /// # Errors
    ///
    /// When it does not answer in time.
    pub async fn status(&mut self) -> anyhow::Result<StatusReply> {
        let reply = timeout(LIMIT, self.client.status(StatusRequest {}));
        Ok(reply.await.context("no status in time")??.into_inner())
    }

    /// The digests of recent revisions from `from` on.
    ///
    /// # Errors
    ///
    /// When it does not answer in time.
    pub async fn digests(&mut self, from: u64) -> anyhow::Result<Vec<Position>> {
        let reply = timeout(LIMIT, self.client.digests(DigestsRequest { from }));
        let reply = reply.await.context("no digests in time")??;
        Ok(reply.into_inner().positions)
    }

    /// How the committed state differs from the source; only the leader knows.
    ///
    /// # Errors
    ///
    /// When it does not lead, does not reach the source, or does not answer in time.
    pub async fn audit(&mut self) -> anyhow::Result<AuditReply> {
        let reply = timeout(AUDIT_LIMIT, self.client.audit(AuditRequest {}));
        Ok(reply.await.context("no audit in time")??.into_inner())
    }

    /// Asks the leader to hand over to whom it likes best.
    ///
    /// # Errors
    ///
    /// When it does not lead, or does not answer in time.
    pub async fn hand_over(&mut self) -> anyhow::Result<TransferLeadershipReply> {
        let request = TransferLeadershipRequest { to: String::new() };
        let reply = timeout(HAND_OVER_LIMIT, self.client.transfer_leadership(request));
        Ok(reply.await.context("no hand-over in time")??.into_inner())
    }
}
