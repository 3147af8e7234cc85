//! Replicas that say what a test tells them, and a terminal that keeps what a verb prints.

mod destination;

use clap::Parser;
use lockstep_cli::{Exit, Progress, Screen, Verb, run_on};
use lockstep_proto::admin::v1 as pb;
use pb::admin_server::{Admin, AdminServer};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;
use tonic::{Request, Response, Status};

pub(crate) use destination::{Call, Destination, Step, no_endpoints, removed, set};

#[derive(Debug, Parser)]
#[command(name = "lockstep")]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

/// What a verb printed, and how it ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Printed {
    pub(crate) exit: Exit,
    pub(crate) out: String,
    pub(crate) notes: String,
}

impl Printed {
    pub(crate) fn lines(&self) -> Vec<&str> {
        self.out.lines().collect()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap()
    }
}

/// The verb of a command line.
pub(crate) fn parse(arguments: &[&str]) -> Verb {
    Cli::try_parse_from(std::iter::once(&"lockstep").chain(arguments))
        .unwrap()
        .verb
}

/// Runs `lockstep` with these arguments, without colours.
pub(crate) async fn lockstep(arguments: &[&str]) -> Printed {
    let mut out = anstream::StripStream::new(Vec::new());
    let mut notes = anstream::StripStream::new(Vec::new());
    let cli = Cli::parse_from(std::iter::once(&"lockstep").chain(arguments));
    let exit = run_on(
        cli.verb,
        &mut Screen::new(&mut out, &mut notes, Progress::Hidden),
    )
    .await;
    let text =
        |stream: anstream::StripStream<Vec<u8>>| String::from_utf8(stream.into_inner()).unwrap();
    Printed {
        exit,
        out: text(out),
        notes: text(notes),
    }
}

/// The line that says why arguments are refused.
pub(crate) fn refusal(arguments: &[&str]) -> String {
    let error = Cli::try_parse_from(std::iter::once(&"lockstep").chain(arguments)).unwrap_err();
    error.to_string().lines().next().unwrap().to_owned()
}

/// One replica: both ports on one socket.
pub(crate) struct Replica {
    pub(crate) address: String,
    server: JoinHandle<()>,
}

impl Drop for Replica {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// What the admin port of a replica says.
#[derive(Default)]
pub(crate) struct Says {
    pub(crate) status: pb::StatusReply,
    pub(crate) digests: Vec<pb::Position>,
    /// One for each audit; the last one for all that follow.
    pub(crate) audits: VecDeque<Result<pb::AuditReply, Status>>,
    /// To whoever asks for another leader; without one, it hands over to whom was asked for.
    pub(crate) no_transfer: Option<Status>,
    /// To whoever changes the members; without one, it tells what it was asked for.
    pub(crate) no_change: Option<Status>,
}

struct AdminPort {
    says: Mutex<Says>,
}

/// Starts a replica. Without a proxy address in its status, it reports its own.
pub(crate) async fn start(mut says: Says, destination: Destination) -> Replica {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    if says.status.proxy_address.is_empty() {
        says.status.proxy_address.clone_from(&address);
    }
    let admin = AdminServer::new(AdminPort {
        says: Mutex::new(says),
    });
    let serving = Server::builder()
        .add_service(admin)
        .add_service(destination)
        .serve_with_incoming(TcpListenerStream::new(listener));
    let server = tokio::spawn(async { serving.await.unwrap() });
    Replica { address, server }
}

/// A replica that only serves proxies.
pub(crate) async fn start_proxy_port(destination: Destination) -> Replica {
    start(Says::default(), destination).await
}

/// An address where nobody listens.
pub(crate) async fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap().to_string()
}

/// A position of history 1 whose digests are the revision and `salt`.
pub(crate) fn position(revision: u64, salt: u64) -> pb::Position {
    pb::Position {
        history: format!("{:032x}", 1),
        revision,
        state_digest: format!("{revision:012x}{salt:020x}"),
        path_digest: format!("{salt:032x}"),
        applied: Some(pb::LogId {
            term: 2,
            index: revision,
        }),
    }
}

/// What replica `number` of a healthy group says at a revision.
pub(crate) fn healthy(number: u64, revision: u64) -> Says {
    let role = if number == 1 {
        pb::Role::Leader
    } else {
        pb::Role::Follower
    };
    let status = pb::StatusReply {
        replica: format!("{number:016x}"),
        name: format!("replica-{number}"),
        cluster: "dev".to_owned(),
        role: role.into(),
        term: 2,
        position: Some(position(revision, 0)),
        ..pb::StatusReply::default()
    };
    let not_leader = Status::failed_precondition("only the leader audits; the leader is replica-1");
    Says {
        status,
        digests: (1..=revision)
            .map(|revision| position(revision, 0))
            .collect(),
        audits: VecDeque::from([Err(not_leader)]),
        no_transfer: None,
        no_change: None,
    }
}

#[tonic::async_trait]
impl Admin for AdminPort {
    async fn status(
        &self,
        _: Request<pb::StatusRequest>,
    ) -> Result<Response<pb::StatusReply>, Status> {
        Ok(Response::new(self.says.lock().unwrap().status.clone()))
    }

    async fn digests(
        &self,
        _: Request<pb::DigestsRequest>,
    ) -> Result<Response<pb::DigestsReply>, Status> {
        let positions = self.says.lock().unwrap().digests.clone();
        Ok(Response::new(pb::DigestsReply { positions }))
    }

    async fn audit(
        &self,
        _: Request<pb::AuditRequest>,
    ) -> Result<Response<pb::AuditReply>, Status> {
        let audits = &mut self.says.lock().unwrap().audits;
        let next = if audits.len() > 1 {
            audits.pop_front()
        } else {
            audits.front().cloned()
        };
        next.unwrap_or_else(|| Err(Status::unimplemented("no audit")))
            .map(Response::new)
    }

    async fn transfer_leadership(
        &self,
        request: Request<pb::TransferLeadershipRequest>,
    ) -> Result<Response<pb::TransferLeadershipReply>, Status> {
        let says = self.says.lock().unwrap();
        match &says.no_transfer {
            Some(refused) => Err(refused.clone()),
            None => Ok(Response::new(pb::TransferLeadershipReply {
                from: says.status.name.clone(),
                to: request.into_inner().to,
                term: says.status.term + 1,
            })),
        }
    }

    async fn change_members(
        &self,
        request: Request<pb::ChangeMembersRequest>,
    ) -> Result<Response<pb::ChangeMembersReply>, Status> {
        match &self.says.lock().unwrap().no_change {
            Some(refused) => Err(refused.clone()),
            None => Ok(Response::new(pb::ChangeMembersReply {
                done: format!("{:?}", request.into_inner().change.unwrap()),
            })),
        }
    }
}

/// Shares a script between the calls of a service.
type Shared<T> = Arc<Mutex<T>>;
