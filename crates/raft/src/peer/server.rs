//! The peer service over the library's core.

use futures::{Stream, StreamExt};
use lockstep_position::{LogId, ReplicaId};
use lockstep_proto::peer::v1 as wire;
use lockstep_proto::peer::v1::peer_server::{Peer, PeerServer as GrpcServer};
use lockstep_proto::peer::v1::snapshot_part::Part;
use lockstep_storage::SnapshotFolder;
use openraft::ServerState;
use openraft::async_runtime::WatchReceiver;
use openraft::raft::{
    AppendEntriesRequest, StreamAppendError, StreamAppendResult, TransferLeaderRequest, VoteRequest,
};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status, Streaming};

use super::Address;
use super::connection::{CONNECTION_WINDOW_BYTES, STREAM_WINDOW_BYTES};
use super::horizon::Horizon;
use super::route::history_to_wire;
use super::snapshot_stream::{next_part, receive};
use crate::admission::Remedy;
use crate::entry_codec::{ballot_of, entry_from_wire, raw_from_wire, raw_to_wire, vote_from_wire};
use crate::library::{Library, Raft, log_id_of};
use crate::notice::Notices;
use crate::{Limits, Voice, read};

const KEEPALIVE: Duration = Duration::from_secs(2);

/// What the peer service needs.
#[derive(Clone)]
pub(crate) struct PeerServer {
    pub(crate) raft: Raft,
    pub(crate) address: Address,
    pub(crate) snapshots: SnapshotFolder,
    pub(crate) limits: Limits,
    pub(crate) voice: Voice,
    pub(crate) notices: Notices,
    pub(crate) horizon: Horizon,
}

/// Serves peers until `stop` resolves and their open calls have ended.
pub(crate) async fn serve(
    server: PeerServer,
    listener: TcpListener,
    stop: impl Future<Output = ()>,
) -> Result<(), tonic::transport::Error> {
    let bytes = server.limits.message_bytes_max;
    let service = GrpcServer::new(server)
        .max_decoding_message_size(bytes)
        .max_encoding_message_size(bytes);
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    tonic::transport::Server::builder()
        .http2_keepalive_interval(Some(KEEPALIVE))
        .http2_keepalive_timeout(Some(KEEPALIVE))
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .add_service(service)
        .serve_with_incoming_shutdown(incoming, stop)
        .await
}

type AppendStream = Pin<Box<dyn Stream<Item = Result<wire::AppendResponse, Status>> + Send>>;

#[tonic::async_trait]
impl Peer for PeerServer {
    type AppendStream = AppendStream;

    async fn hello(
        &self,
        request: Request<wire::HelloRequest>,
    ) -> Result<Response<wire::HelloResponse>, Status> {
        self.address
            .check_cluster(request.get_ref().route.as_ref())?;
        let is_member = self.raft.is_initialized().await.map_err(stopped)?;
        // One that gave its folder up says that there is a group, and has no vote in it.
        let waits = self.address.joins_only && !is_member;
        let id = self.address.id;
        let learner = self
            .raft
            .with_raft_state(move |state| {
                let known = state.membership_state.effective();
                known.get_node(&id).is_some() && known.voter_ids().all(|voter| voter != id)
            })
            .await
            .map_err(stopped)?;
        Ok(Response::new(wire::HelloResponse {
            id: self.address.id.as_u64(),
            name: self.address.name.as_ref().to_owned(),
            initialized: is_member || waits,
            history: history_to_wire(self.address.history.get().copied()),
            learner: learner || waits,
        }))
    }

    async fn append(
        &self,
        request: Request<Streaming<wire::AppendRequest>>,
    ) -> Result<Response<AppendStream>, Status> {
        let refusal = Refusal::default();
        let guard = (self.address.clone(), self.horizon.clone());
        let input = checked(request.into_inner(), guard, refusal.clone());
        let answers = self.raft.stream_append(input).map(|answer| match answer {
            Ok(answer) => Ok(append_response(answer)),
            Err(fatal) => Err(stopped(fatal)),
        });
        // What ended the input early is told after the answers to what came before it.
        let refused = futures::stream::once(async move { refusal.take() })
            .filter_map(|refused| std::future::ready(refused.map(Err)));
        Ok(Response::new(Box::pin(answers.chain(refused))))
    }

    async fn vote(
        &self,
        request: Request<wire::VoteRequest>,
    ) -> Result<Response<wire::VoteResponse>, Status> {
        let request = self.vote_request(request.into_inner())?;
        let answer = self.raft.vote(request).await.map_err(stopped)?;
        Ok(Response::new(vote_response(&answer)))
    }

    async fn pre_vote(
        &self,
        request: Request<wire::VoteRequest>,
    ) -> Result<Response<wire::VoteResponse>, Status> {
        let request = self.vote_request(request.into_inner())?;
        let answer = self.raft.pre_vote(request).await.map_err(stopped)?;
        Ok(Response::new(vote_response(&answer)))
    }

    async fn transfer_leader(
        &self,
        request: Request<wire::TransferLeaderRequest>,
    ) -> Result<Response<wire::TransferLeaderResponse>, Status> {
        let request = request.into_inner();
        self.address.check(request.route.as_ref())?;
        let vote = vote_from_wire(request.ballot).map_err(invalid)?;
        let to = ReplicaId::from_u64(request.to);
        let request = TransferLeaderRequest::new(vote, to, request.last.map(raw_from_wire));
        let answer = self
            .raft
            .handle_transfer_leader(request)
            .await
            .map_err(stopped)?;
        Ok(Response::new(wire::TransferLeaderResponse {
            refused: answer
                .err()
                .map_or_else(String::new, |error| error.to_string()),
        }))
    }

    async fn install_snapshot(
        &self,
        request: Request<Streaming<wire::SnapshotPart>>,
    ) -> Result<Response<wire::SnapshotResponse>, Status> {
        let mut parts = request.into_inner();
        let Part::Head(head) = next_part(&mut parts).await? else {
            return Err(Status::invalid_argument("the first part is not a `head`"));
        };
        self.address.check(head.route.as_ref())?;
        let vote = vote_from_wire(head.ballot).map_err(invalid)?;
        let meta = head
            .meta
            .ok_or_else(|| Status::invalid_argument("`meta` is missing"))?;
        let chunk_bytes = self.limits.snapshot_chunk_bytes;
        let snapshot = receive(meta, &mut parts, &self.snapshots, chunk_bytes).await?;
        let answer = self
            .raft
            .install_full_snapshot(vote, snapshot)
            .await
            .map_err(stopped)?;
        Ok(Response::new(wire::SnapshotResponse {
            ballot: Some(ballot_of(&answer.vote)),
        }))
    }

    async fn read_index(
        &self,
        request: Request<wire::ReadIndexRequest>,
    ) -> Result<Response<wire::ReadIndexResponse>, Status> {
        let route = request.get_ref().route.as_ref();
        self.address.check(route)?;
        self.check_member(route.map(|route| route.from).unwrap_or_default())?;
        let index = read::local_index(&self.raft)
            .await
            .map_err(|error| Status::unavailable(error.to_string()))?;
        Ok(Response::new(wire::ReadIndexResponse {
            index,
            probe: (self.voice.probe)().into(),
        }))
    }

    async fn standing(
        &self,
        request: Request<wire::StandingRequest>,
    ) -> Result<Response<wire::StandingResponse>, Status> {
        let wire::StandingRequest { route, question } = request.into_inner();
        self.address.check(route.as_ref())?;
        let answer = (self.voice.standing)(&question).into();
        Ok(Response::new(wire::StandingResponse { answer }))
    }

    async fn notice(
        &self,
        request: Request<wire::NoticeRequest>,
    ) -> Result<Response<wire::NoticeResponse>, Status> {
        let request = request.into_inner();
        self.address.check(request.route.as_ref())?;
        let says_history = request.route.is_some_and(|route| !route.history.is_empty());
        if self.leads() {
            let name = &self.address.name;
            let what = format!("replica `{name}` leads a group of its own");
            return Err(Status::failed_precondition(what));
        }
        // The check has shown that they are the same where both are known.
        let is_sure = says_history && self.address.history.get().is_some();
        let remedy = if request.start_anew && is_sure {
            Remedy::StartAnew
        } else {
            Remedy::Wait
        };
        self.notices.hear(request.reason, remedy);
        Ok(Response::new(wire::NoticeResponse {}))
    }
}

impl PeerServer {
    /// Whoever was removed must not believe to be fresh.
    fn check_member(&self, from: u64) -> Result<(), Status> {
        let from = ReplicaId::from_u64(from);
        let metrics = self.raft.server_metrics();
        let is_member = metrics
            .borrow_watched()
            .membership_config
            .get_node(&from)
            .is_some();
        if is_member {
            return Ok(());
        }
        Err(Status::failed_precondition(format!(
            "replica {from} is no member of the group"
        )))
    }

    /// Whoever lacks what is committed must not lead, whatever its folder says.
    fn check_complete(&self, from: u64, last: Option<LogId>) -> Result<(), Status> {
        let Some(lack) = self.horizon.lack(last) else {
            return Ok(());
        };
        let from = ReplicaId::from_u64(from);
        let committed = lack.committed;
        let what = format!("replica {from} cannot lead: it lacks {committed}, which is committed");
        if lack.is_news {
            tracing::warn!("{what}");
        }
        Err(Status::failed_precondition(what))
    }

    fn leads(&self) -> bool {
        let metrics = self.raft.server_metrics();
        metrics.borrow_watched().state == ServerState::Leader
    }

    fn vote_request(&self, request: wire::VoteRequest) -> Result<VoteRequest<Library>, Status> {
        let route = request.route.as_ref();
        self.address.check(route)?;
        let from = route.map(|route| route.from).unwrap_or_default();
        let vote = vote_from_wire(request.ballot).map_err(invalid)?;
        let last = request.last.map(raw_from_wire);
        self.check_complete(from, last.as_ref().map(log_id_of))?;
        let mut vote_request = VoteRequest::new(vote, last);
        vote_request.leadership_transfer = request.leadership_transfer;
        Ok(vote_request)
    }
}

/// Why a stream of requests was ended before its end.
#[derive(Clone, Default)]
struct Refusal(Arc<Mutex<Option<Status>>>);

impl Refusal {
    fn set(&self, status: Status) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(status);
    }

    fn take(&self) -> Option<Status> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The requests of a stream, up to the first that is refused.
fn checked(
    requests: Streaming<wire::AppendRequest>,
    (address, horizon): (Address, Horizon),
    refusal: Refusal,
) -> impl Stream<Item = AppendEntriesRequest<Library>> + Send + 'static {
    futures::stream::unfold(
        (requests, address, horizon, refusal),
        |(mut requests, address, horizon, refusal)| async move {
            let request = match requests.message().await {
                Ok(Some(request)) => append_request(&address, request),
                // The peer is gone or has had enough.
                Ok(None) | Err(_) => return None,
            };
            match request {
                Ok(request) => {
                    if let Some(committed) = &request.leader_commit {
                        horizon.note(log_id_of(committed));
                    }
                    Some((request, (requests, address, horizon, refusal)))
                }
                Err(status) => {
                    refusal.set(status);
                    None
                }
            }
        },
    )
}

fn append_request(
    address: &Address,
    request: wire::AppendRequest,
) -> Result<AppendEntriesRequest<Library>, Status> {
    address.check(request.route.as_ref())?;
    let entries = request.entries.into_iter().map(entry_from_wire);
    Ok(AppendEntriesRequest {
        vote: vote_from_wire(request.ballot).map_err(invalid)?,
        prev_log_id: request.previous.map(raw_from_wire),
        entries: entries.collect::<Result<_, _>>().map_err(invalid)?,
        leader_commit: request.committed.map(raw_from_wire),
    })
}

fn append_response(answer: StreamAppendResult<Library>) -> wire::AppendResponse {
    use wire::append_response::Result as Answer;
    let result = match answer {
        Ok(matched) => Answer::Matched(wire::Matched {
            log_id: matched.as_ref().map(raw_to_wire),
        }),
        Err(StreamAppendError::Conflict(at)) => Answer::Conflict(raw_to_wire(&at)),
        Err(StreamAppendError::HigherVote(vote)) => Answer::Higher(ballot_of(&vote)),
    };
    wire::AppendResponse {
        result: Some(result),
    }
}

fn vote_response(answer: &openraft::raft::VoteResponse<Library>) -> wire::VoteResponse {
    wire::VoteResponse {
        ballot: Some(ballot_of(&answer.vote)),
        granted: answer.vote_granted,
        last: answer.last_log_id.as_ref().map(raw_to_wire),
    }
}

fn invalid(error: crate::entry_codec::CodecError) -> Status {
    Status::invalid_argument(error.to_string())
}

fn stopped(error: impl std::fmt::Display) -> Status {
    Status::unavailable(format!("the replica has stopped: {error}"))
}
