//! The library's network traits over the peer service.

use futures::{Stream, StreamExt};
use lockstep_position::ReplicaId;
use lockstep_proto::peer::v1 as wire;
use lockstep_proto::peer::v1::peer_client::PeerClient;
use lockstep_storage::SnapshotFile;
use openraft::RPCTypes;
use openraft::errors::{
    ErrorSource, NetworkError, RPCError, ReplicationClosed, StreamingError, Timeout, Unreachable,
};
use openraft::network::{Backoff, RPCOption, RaftNetworkFactory, RaftNetworkV2};
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, StreamAppendError,
    StreamAppendResult, TransferLeaderRequest, TransferLeaderResponse, VoteRequest, VoteResponse,
};
use openraft::type_config::alias::ErrorSourceOf;
use openraft::vote::RaftLeaderId;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tonic::transport::Channel;
use tonic::{Status, Streaming};

use super::Peers;
use super::connection::Lane;
use super::horizon::Horizon;
use super::matched::Matched;
use super::pause::Pause;
use super::snapshot_stream::parts_of;
use crate::entry_codec::{
    CodecError, ballot_of, entry_to_wire, raw_from_wire, raw_to_wire, vote_from_wire,
};
use crate::library::{Library, Member, Snapshot, Vote, log_id_of};

/// How long a follower may take to make entries durable. A busy disk takes
/// hundreds of milliseconds; a lost peer is noticed by heartbeats anyway.
const APPEND_TIMEOUT: Duration = Duration::from_secs(2);
const APPEND_CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Grows to this between attempts to reach a peer that cannot be reached.
const BACKOFF_MS_MAX: u64 = 500;
const BACKOFF_MS_MIN: u64 = 20;
/// A snapshot may take this long, and one second more for each MiB.
const SNAPSHOT_TIMEOUT_BASE: Duration = Duration::from_secs(30);

type BoxFuture<'s, T> = Pin<Box<dyn Future<Output = T> + Send + 's>>;
type BoxStream<'s, T> = Pin<Box<dyn Stream<Item = T> + Send + 's>>;
type RpcError = RPCError<Library>;
type AppendItem = Result<StreamAppendResult<Library>, RpcError>;

/// Makes a client for each member.
#[derive(Clone)]
pub(crate) struct Network {
    peers: Peers,
    matched: Matched,
    horizon: Horizon,
}

impl Network {
    /// Clients for these peers.
    pub(crate) fn new(peers: Peers, matched: Matched, horizon: Horizon) -> Self {
        Self {
            peers,
            matched,
            horizon,
        }
    }

    fn member(&self, target: ReplicaId, member: &Member, lane: Lane) -> MemberClient {
        MemberClient {
            peers: self.peers.clone(),
            matched: self.matched.clone(),
            horizon: self.horizon.clone(),
            target,
            address: self.peers.address_of(member).to_owned(),
            lane,
            pause: Pause::default(),
        }
    }
}

impl RaftNetworkFactory<Library> for Network {
    type Network = MemberClient;

    async fn new_client(&mut self, target: ReplicaId, node: &Member) -> MemberClient {
        self.member(target, node, Lane::Entries)
    }

    async fn new_heartbeat_client(&mut self, target: ReplicaId, node: &Member) -> MemberClient {
        self.member(target, node, Lane::Quick)
    }

    async fn new_snapshot_client(&mut self, target: ReplicaId, node: &Member) -> MemberClient {
        self.member(target, node, Lane::Snapshots)
    }
}

/// Calls one member.
pub(crate) struct MemberClient {
    peers: Peers,
    matched: Matched,
    horizon: Horizon,
    target: ReplicaId,
    address: String,
    lane: Lane,
    pause: Pause,
}

impl MemberClient {
    /// Waits before entries are tried again. A heartbeat never waits: it is
    /// sent when it is due or not at all.
    async fn rest(&self) {
        if self.lane == Lane::Entries {
            tokio::time::sleep(self.pause.length()).await;
        }
    }

    fn client(&self, lane: Lane) -> Result<PeerClient<Channel>, RpcError> {
        self.peers
            .client(&self.address, lane)
            .ok_or_else(|| unreachable(&format!("`{}` is not a `host:port`", self.address)))
    }

    fn route(&self) -> wire::Route {
        self.peers.route_to(Some(self.target))
    }

    fn timeout(&self, action: RPCTypes, timeout: Duration) -> RpcError {
        RPCError::Timeout(Timeout {
            action,
            id: self.peers.address().id,
            target: self.target,
            timeout,
        })
    }

    fn vote_request(&self, rpc: &VoteRequest<Library>) -> wire::VoteRequest {
        wire::VoteRequest {
            route: Some(self.route()),
            ballot: Some(ballot_of(&rpc.vote)),
            last: rpc.last_log_id.as_ref().map(raw_to_wire),
            leadership_transfer: rpc.leadership_transfer,
        }
    }

    /// Refuses to ask for a vote when this replica lacks what is committed.
    fn check_complete(&self, rpc: &VoteRequest<Library>) -> Result<(), RpcError> {
        let last = rpc.last_log_id.as_ref().map(log_id_of);
        let Some(lack) = self.horizon.lack(last) else {
            return Ok(());
        };
        let what = format!(
            "this replica cannot lead: it lacks {}, which a leader called committed",
            lack.committed
        );
        if lack.is_news {
            tracing::warn!("{what}");
        }
        Err(unreachable(&what))
    }

    /// Notes what the follower has acknowledged; a follower that takes it back
    /// is treated as if it could not be reached.
    fn remember(&self, term: u64, answer: StreamAppendResult<Library>) -> AppendItem {
        match &answer {
            Ok(matched) => {
                let last = matched.as_ref().map(log_id_of);
                self.matched.note(self.target, term, last);
            }
            Err(StreamAppendError::Conflict(at)) => {
                let lost = self.matched.lost(self.target, term, log_id_of(at));
                if let Some(lost) = lost {
                    let what = format!(
                        "replica {} at {} no longer holds {}, which it had acknowledged: its \
                         data folder is an older copy",
                        self.target, self.address, lost.last
                    );
                    if lost.is_news {
                        tracing::error!("{what}");
                    }
                    return Err(unreachable(&what));
                }
            }
            Err(StreamAppendError::HigherVote(_)) => {}
        }
        self.pause.answered();
        Ok(answer)
    }

    /// Waits for a call, at most as long as the library allows.
    async fn within<T>(
        &self,
        action: RPCTypes,
        limit: Duration,
        call: impl Future<Output = Result<tonic::Response<T>, Status>>,
    ) -> Result<T, RpcError> {
        match tokio::time::timeout(limit, call).await {
            Ok(Ok(response)) => Ok(response.into_inner()),
            Ok(Err(status)) => Err(of_status(&self.address, &status)),
            Err(_) => Err(self.timeout(action, limit)),
        }
    }
}

impl RaftNetworkV2<Library> for MemberClient {
    type SnapshotData = SnapshotFile;

    async fn append_entries(
        &mut self,
        rpc: AppendEntriesRequest<Library>,
        option: RPCOption,
    ) -> Result<AppendEntriesResponse<Library>, RpcError> {
        let input = Box::pin(futures::stream::once(std::future::ready(rpc)));
        let mut answers = self.stream_append(input, option).await?;
        match answers.next().await {
            Some(answer) => Ok(answer?.into()),
            None => Err(network("the stream ended without an answer")),
        }
    }

    fn stream_append<'s, S>(
        &'s mut self,
        input: S,
        option: RPCOption,
    ) -> BoxFuture<'s, Result<BoxStream<'s, AppendItem>, RpcError>>
    where
        S: Stream<Item = AppendEntriesRequest<Library>> + Send + Unpin + 'static,
    {
        Box::pin(async move {
            let sent = Unanswered::default();
            let (route, noted) = (self.route(), sent.clone());
            let requests = input.map(move |request| {
                noted.push(request.vote.leader_id.term());
                append_to_wire(&route, request)
            });
            self.rest().await;
            // Until the peer answers, this attempt counts as one that failed.
            self.pause.failed();
            let mut client = self.client(self.lane)?;
            // The answer's head comes before the first entry is written: any delay is the network's.
            let limit = option.hard_ttl().max(CONNECT_LIMIT);
            let answers = self
                .within(RPCTypes::AppendEntries, limit, client.append(requests))
                .await?;
            let answers = Answers {
                client: self,
                answers,
                sent,
                is_done: false,
            };
            let answers: BoxStream<'s, AppendItem> =
                Box::pin(futures::stream::unfold(answers, Answers::next));
            Ok(answers)
        })
    }

    async fn vote(
        &mut self,
        rpc: VoteRequest<Library>,
        option: RPCOption,
    ) -> Result<VoteResponse<Library>, RpcError> {
        self.check_complete(&rpc)?;
        let mut client = self.client(Lane::Quick)?;
        let call = client.vote(self.vote_request(&rpc));
        let answer = self.within(RPCTypes::Vote, option.soft_ttl(), call).await?;
        vote_response(answer).map_err(|error| network(&error.to_string()))
    }

    async fn pre_vote(
        &mut self,
        rpc: VoteRequest<Library>,
        option: RPCOption,
    ) -> Result<VoteResponse<Library>, RpcError> {
        self.check_complete(&rpc)?;
        let mut client = self.client(Lane::Quick)?;
        let call = client.pre_vote(self.vote_request(&rpc));
        let answer = self.within(RPCTypes::Vote, option.soft_ttl(), call).await?;
        vote_response(answer).map_err(|error| network(&error.to_string()))
    }

    async fn full_snapshot(
        &mut self,
        vote: Vote,
        snapshot: Snapshot,
        cancel: impl Future<Output = ReplicationClosed> + Send + 'static,
        _option: RPCOption,
    ) -> Result<SnapshotResponse<Library>, StreamingError<Library>> {
        let (term, covered) = (vote.leader_id.term(), snapshot.snapshot.log_id());
        let mib = snapshot.snapshot.data_bytes() >> 20;
        let limit = SNAPSHOT_TIMEOUT_BASE.saturating_add(Duration::from_secs(mib));
        let chunk_bytes = self.peers.limits().snapshot_chunk_bytes;
        let parts = parts_of(self.route(), ballot_of(&vote), snapshot, chunk_bytes);
        let mut client = self.client(self.lane)?;
        let call = client.install_snapshot(parts);
        let answer = tokio::select! {
            closed = cancel => return Err(StreamingError::Closed(closed)),
            answer = self.within(RPCTypes::InstallSnapshot, limit, call) => answer?,
        };
        let answered = vote_from_wire(answer.ballot);
        let answered = answered.map_err(|error| network(&error.to_string()))?;
        if answered == vote {
            self.matched.note(self.target, term, Some(covered));
        }
        Ok(SnapshotResponse::new(answered))
    }

    async fn transfer_leader(
        &mut self,
        request: TransferLeaderRequest<Library>,
        option: RPCOption,
    ) -> Result<TransferLeaderResponse<Library>, RpcError> {
        let mut client = self.client(Lane::Quick)?;
        let call = client.transfer_leader(wire::TransferLeaderRequest {
            route: Some(self.route()),
            ballot: Some(ballot_of(request.from_leader())),
            to: request.to_node_id().as_u64(),
            last: request.last_log_id().map(raw_to_wire),
        });
        let limit = option.soft_ttl();
        let answer = self.within(RPCTypes::TransferLeader, limit, call).await?;
        if !answer.refused.is_empty() {
            tracing::info!(target = %self.target, refused = %answer.refused, "leadership not taken");
        }
        Ok(Ok(()))
    }

    fn backoff(&self) -> Option<Backoff> {
        let delays = std::iter::successors(Some(BACKOFF_MS_MIN), |delay| {
            Some(delay.saturating_mul(2).min(BACKOFF_MS_MAX))
        });
        Some(Backoff::new(delays.map(Duration::from_millis)))
    }
}

/// The least time that opening a stream is given, since it may include dialling.
const CONNECT_LIMIT: Duration = Duration::from_millis(500);

/// The requests that have no answer yet: when they were sent, and in which term.
#[derive(Clone, Default)]
struct Unanswered(Arc<Mutex<VecDeque<(Instant, u64)>>>);

impl Unanswered {
    fn push(&self, term: u64) {
        self.lock().push_back((Instant::now(), term));
    }

    /// The term of the request that was answered.
    fn pop(&self) -> u64 {
        self.lock().pop_front().map_or(0, |(_, term)| term)
    }

    fn oldest_age(&self) -> Duration {
        let oldest = self.lock().front().copied();
        oldest.map_or(Duration::ZERO, |(sent, _)| sent.elapsed())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<(Instant, u64)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answers to a stream of appends; a peer that stops answering ends it.
struct Answers<'s> {
    client: &'s MemberClient,
    answers: Streaming<wire::AppendResponse>,
    sent: Unanswered,
    is_done: bool,
}

impl<'s> Answers<'s> {
    async fn next(mut self) -> Option<(AppendItem, Answers<'s>)> {
        if self.is_done {
            return None;
        }
        let item = self.receive().await?;
        let term = self.sent.pop();
        let item = item.and_then(|answer| self.client.remember(term, answer));
        self.is_done = !matches!(item, Ok(Ok(_)));
        Some((item, self))
    }

    async fn receive(&mut self) -> Option<AppendItem> {
        loop {
            let answer = tokio::time::timeout(APPEND_CHECK_INTERVAL, self.answers.message()).await;
            return match answer {
                Ok(Ok(Some(answer))) => Some(append_answer(answer)),
                Ok(Ok(None)) => None,
                Ok(Err(status)) => Some(Err(of_status(&self.client.address, &status))),
                Err(_) if self.sent.oldest_age() < APPEND_TIMEOUT => continue,
                Err(_) => {
                    let timeout = self.client.timeout(RPCTypes::AppendEntries, APPEND_TIMEOUT);
                    Some(Err(timeout))
                }
            };
        }
    }
}

fn append_to_wire(
    route: &wire::Route,
    request: AppendEntriesRequest<Library>,
) -> wire::AppendRequest {
    wire::AppendRequest {
        route: Some(route.clone()),
        ballot: Some(ballot_of(&request.vote)),
        previous: request.prev_log_id.as_ref().map(raw_to_wire),
        entries: request.entries.into_iter().map(entry_to_wire).collect(),
        committed: request.leader_commit.as_ref().map(raw_to_wire),
    }
}

fn append_answer(answer: wire::AppendResponse) -> AppendItem {
    use wire::append_response::Result as Answer;
    let answer = match answer.result {
        Some(Answer::Matched(matched)) => Ok(matched.log_id.map(raw_from_wire)),
        Some(Answer::Conflict(at)) => Err(StreamAppendError::Conflict(raw_from_wire(at))),
        Some(Answer::Higher(ballot)) => {
            let vote = vote_from_wire(Some(ballot)).map_err(|error| network(&error.to_string()))?;
            Err(StreamAppendError::HigherVote(vote))
        }
        None => return Err(network(&CodecError::Missing("result").to_string())),
    };
    Ok(answer)
}

fn vote_response(answer: wire::VoteResponse) -> Result<VoteResponse<Library>, CodecError> {
    let vote = vote_from_wire(answer.ballot)?;
    let last = answer.last.map(raw_from_wire);
    Ok(VoteResponse::new(vote, last, answer.granted))
}

fn of_status(address: &str, status: &Status) -> RpcError {
    unreachable(&format!(
        "{address}: {:?}: {}",
        status.code(),
        status.message()
    ))
}

/// An error after which the peer is left alone for a while.
fn unreachable(what: &str) -> RpcError {
    let source = ErrorSourceOf::<Library>::from_string(what);
    RPCError::Unreachable(Unreachable::new(&source))
}

/// An error after which the call may be repeated at once.
fn network(what: &str) -> RpcError {
    let source = ErrorSourceOf::<Library>::from_string(what);
    RPCError::Network(NetworkError::new(&source))
}
