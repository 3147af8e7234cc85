//! What the tests share: a proxy that folds as the real one does, an operator,
//! and patience.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "each test file uses its part"
)]

pub mod api;
pub mod cluster;
#[path = "../../../raft/tests/group/links.rs"]
pub mod links;
pub mod naive;
pub mod process;
pub mod proxy;
pub mod relay;
pub mod scene;
pub mod surfaces;

use lockstep_proto::admin::v1::{
    AuditReply, AuditRequest, Position, StatusReply, StatusRequest, TransferLeadershipReply,
    TransferLeadershipRequest, admin_client::AdminClient,
};
use std::{fmt::Display, net::SocketAddr, time::Duration};
use tokio::time::{Instant, sleep};

/// Long enough for a busy machine; a test that needs it all is failing anyway.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Tries again until it works, or panics with the last reason.
pub async fn eventually<T, E: Display>(
    what: &str,
    mut attempt: impl AsyncFnMut() -> Result<T, E>,
) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match attempt().await {
            Ok(value) => return value,
            Err(reason) if Instant::now() > deadline => panic!("never {what}: {reason}"),
            Err(_) => sleep(Duration::from_millis(20)).await,
        }
    }
}

pub async fn status(admin: SocketAddr) -> Result<StatusReply, String> {
    let client = AdminClient::connect(format!("http://{admin}")).await;
    let mut client = client.map_err(|error| format!("{admin}: {error}"))?;
    let reply = client
        .status(StatusRequest {})
        .await
        .map_err(|error| error.to_string())?;
    Ok(reply.into_inner())
}

pub async fn audit(admin: SocketAddr) -> Result<AuditReply, tonic::Status> {
    let channel = tonic::transport::Endpoint::from_shared(format!("http://{admin}")).unwrap();
    let channel = channel
        .connect()
        .await
        .map_err(|error| tonic::Status::unavailable(error.to_string()))?;
    let mut client = AdminClient::new(channel).max_decoding_message_size(256 << 20);
    Ok(client.audit(AuditRequest {}).await?.into_inner())
}

pub async fn positions(admins: &[SocketAddr]) -> Result<Vec<Position>, String> {
    let mut positions = Vec::new();
    for admin in admins {
        positions.push(status(*admin).await?.position.ok_or("no position")?);
    }
    Ok(positions)
}

/// The position that all replicas have reached: one revision, one digest.
pub async fn agreed(admins: &[SocketAddr], at_least: u64) -> Position {
    let position = eventually("one revision on all replicas", async || {
        let positions = positions(admins).await?;
        let revisions: Vec<u64> = positions.iter().map(|position| position.revision).collect();
        let first = positions.first().cloned().ok_or("no replicas")?;
        let same = revisions.iter().all(|revision| *revision == first.revision);
        if same && first.revision >= at_least {
            Ok(positions)
        } else {
            Err(format!("{revisions:?}"))
        }
    })
    .await;
    let first = position[0].clone();
    for other in &position {
        assert_eq!(other.history, first.history);
        assert_eq!(
            other.state_digest, first.state_digest,
            "equal revisions, other content"
        );
        assert_eq!(
            other.path_digest, first.path_digest,
            "equal revisions, other history"
        );
    }
    first
}

/// Waits until the source equals the committed state, and all replicas agree.
pub async fn settled(admins: &[SocketAddr]) -> u64 {
    eventually("the committed state to equal the source", async || {
        let leads = leader(admins).await;
        let reply = audit(admins[leads])
            .await
            .map_err(|status| status.to_string())?;
        if reply.differences.is_empty() {
            Ok(())
        } else {
            Err(reply.differences.join("; "))
        }
    })
    .await;
    agreed(admins, 1).await.revision
}

/// Has the replica behind this port hand the lead to the one of this name; empty for any.
pub async fn transfer(
    admin: SocketAddr,
    to: &str,
) -> Result<TransferLeadershipReply, tonic::Status> {
    let client = AdminClient::connect(format!("http://{admin}")).await;
    let mut client = client.map_err(|error| tonic::Status::unavailable(error.to_string()))?;
    let request = TransferLeadershipRequest { to: to.to_owned() };
    Ok(client.transfer_leadership(request).await?.into_inner())
}

/// Which of the replicas leads, once exactly one does and the others follow it.
pub async fn leader(admins: &[SocketAddr]) -> usize {
    eventually("one leader", async || {
        let mut leads = Vec::new();
        for (place, admin) in admins.iter().enumerate() {
            let Ok(status) = status(*admin).await else {
                continue;
            };
            if status.leader == status.replica && !status.replica.is_empty() {
                leads.push(place);
            }
        }
        match leads.as_slice() {
            [one] => Ok(*one),
            several => Err(format!("{several:?} lead")),
        }
    })
    .await
}
