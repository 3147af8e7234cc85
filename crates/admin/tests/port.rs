//! The admin port, asked over real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use lockstep_admin::{
    AuditError, ChangeMembersError, Health, Operator, Readiness, TransferError, serve,
};
use lockstep_proto::admin::v1::{self as pb, admin_client::AdminClient};
use std::{net::SocketAddr, sync::Arc};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tonic::Code;
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

/// A replica in a state that a test chooses.
struct Replica {
    readiness: Readiness,
    audit: fn() -> Result<pb::AuditReply, AuditError>,
    transfer: fn(Option<&str>) -> Result<pb::TransferLeadershipReply, TransferError>,
    change: fn(pb::ChangeMembersRequest) -> Result<pb::ChangeMembersReply, ChangeMembersError>,
}

impl Operator for Replica {
    fn status(&self) -> pb::StatusReply {
        pb::StatusReply {
            name: "replica-1".to_owned(),
            ..pb::StatusReply::default()
        }
    }

    fn digests(&self, from: u64) -> Vec<pb::Position> {
        let position = |revision| pb::Position {
            revision,
            ..pb::Position::default()
        };
        (1..4)
            .filter(|revision| *revision >= from)
            .map(position)
            .collect()
    }

    async fn audit(&self) -> Result<pb::AuditReply, AuditError> {
        (self.audit)()
    }

    async fn transfer_leadership(
        &self,
        to: Option<&str>,
    ) -> Result<pb::TransferLeadershipReply, TransferError> {
        (self.transfer)(to)
    }

    async fn change_members(
        &self,
        request: pb::ChangeMembersRequest,
    ) -> Result<pb::ChangeMembersReply, ChangeMembersError> {
        (self.change)(request)
    }

    fn readiness(&self) -> Readiness {
        self.readiness.clone()
    }

    fn health(&self, service: &str) -> Health {
        match (service, &self.readiness) {
            ("", Readiness::Ready(_)) => Health::Serving,
            ("", Readiness::NotReady(_)) => Health::NotServing,
            (_, _) => Health::Unknown,
        }
    }

    fn metrics(&self) -> String {
        "lockstep_revision 3\n# EOF\n".to_owned()
    }
}

fn ready() -> Replica {
    Replica {
        readiness: Readiness::Ready("fresh".to_owned()),
        audit: || Ok(pb::AuditReply::default()),
        transfer: |to| {
            Ok(pb::TransferLeadershipReply {
                from: "replica-1".to_owned(),
                to: to.unwrap_or("anybody").to_owned(),
                term: 4,
            })
        },
        change: |request| {
            let done = format!("{:?}", request.change);
            Ok(pb::ChangeMembersReply { done })
        },
    }
}

async fn start(replica: Replica) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, Arc::new(replica), std::future::pending()));
    address
}

/// A plain HTTP/1.1 GET: the status line and the body.
async fn get(address: SocketAddr, path: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: replica\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.lines().next().unwrap().to_owned(), body.to_owned())
}

#[tokio::test]
async fn probes_and_metrics_answer_plain_http() {
    let address = start(ready()).await;
    let ok = "HTTP/1.1 200 OK".to_owned();
    assert_eq!(get(address, "/live").await, (ok.clone(), "ok\n".to_owned()));
    assert_eq!(
        get(address, "/ready").await,
        (ok.clone(), "ok: fresh\n".to_owned())
    );
    assert_eq!(
        get(address, "/ping").await,
        (ok.clone(), "pong\n".to_owned())
    );
    assert_eq!(
        get(address, "/metrics").await,
        (ok, "lockstep_revision 3\n# EOF\n".to_owned())
    );
}

#[tokio::test]
async fn a_replica_that_is_not_ready_is_alive_and_says_why() {
    let readiness = Readiness::NotReady("the state was never complete".to_owned());
    let address = start(Replica {
        readiness,
        ..ready()
    })
    .await;
    let (status, body) = get(address, "/ready").await;
    assert_eq!(status, "HTTP/1.1 503 Service Unavailable");
    assert_eq!(body, "not ready: the state was never complete\n");
    assert_eq!(get(address, "/live").await.0, "HTTP/1.1 200 OK");
}

#[tokio::test]
async fn health_is_what_holds_when_it_is_asked() {
    let healthy = start(ready()).await;
    let ill = start(Replica {
        readiness: Readiness::NotReady("stale".to_owned()),
        ..ready()
    })
    .await;
    for (address, expected) in [
        (healthy, ServingStatus::Serving),
        (ill, ServingStatus::NotServing),
    ] {
        let channel = tonic::transport::Endpoint::from_shared(format!("http://{address}")).unwrap();
        let mut client = HealthClient::new(channel.connect().await.unwrap());
        let asked = |service: &str| HealthCheckRequest {
            service: service.to_owned(),
        };
        let checked = client.check(asked("")).await.unwrap().into_inner();
        assert_eq!(checked.status(), expected);
        let unknown = client.check(asked("no.such.Service")).await.unwrap_err();
        assert_eq!(unknown.code(), Code::NotFound);
        let mut watch = client.watch(asked("")).await.unwrap().into_inner();
        assert_eq!(watch.message().await.unwrap().unwrap().status(), expected);
    }
}

#[tokio::test]
async fn status_and_digests_are_answered_on_the_same_port() {
    let address = start(ready()).await;
    let mut client = AdminClient::connect(format!("http://{address}"))
        .await
        .unwrap();
    let status = client
        .status(pb::StatusRequest {})
        .await
        .unwrap()
        .into_inner();
    assert_eq!(status.name, "replica-1");
    let request = pb::DigestsRequest { from: 2 };
    let digests = client.digests(request).await.unwrap().into_inner();
    let revisions: Vec<u64> = digests
        .positions
        .iter()
        .map(|position| position.revision)
        .collect();
    assert_eq!(revisions, [2, 3]);
}

#[tokio::test]
async fn an_audit_that_cannot_be_made_says_why_and_whom_to_ask() {
    type Failing = fn() -> Result<pb::AuditReply, AuditError>;
    let cases: [(Failing, Code, &str); 3] = [
        (
            || {
                Err(AuditError::NotLeader {
                    leader: "replica-2".to_owned(),
                })
            },
            Code::FailedPrecondition,
            "only the leader audits; the leader is replica-2",
        ),
        (
            || {
                Err(AuditError::Source(
                    "pods could not be listed: forbidden".to_owned(),
                ))
            },
            Code::Unavailable,
            "the source could not be listed: pods could not be listed: forbidden",
        ),
        (
            || {
                Err(AuditError::NotSynced(
                    "no complete list was committed yet".to_owned(),
                ))
            },
            Code::Unavailable,
            "the state was never complete: no complete list was committed yet",
        ),
    ];
    for (audit, code, message) in cases {
        let address = start(Replica { audit, ..ready() }).await;
        let mut client = AdminClient::connect(format!("http://{address}"))
            .await
            .unwrap();
        let refused = client.audit(pb::AuditRequest {}).await.unwrap_err();
        assert_eq!((refused.code(), refused.message()), (code, message));
    }
}

#[tokio::test]
async fn the_lead_goes_to_whom_was_asked_for_or_to_anybody() {
    let address = start(ready()).await;
    let mut client = AdminClient::connect(format!("http://{address}"))
        .await
        .unwrap();
    for (asked, led) in [("", "anybody"), ("replica-3", "replica-3")] {
        let request = pb::TransferLeadershipRequest {
            to: asked.to_owned(),
        };
        let reply = client.transfer_leadership(request).await.unwrap();
        assert_eq!(reply.into_inner().to, led);
    }
}

#[tokio::test]
async fn a_lead_that_stays_says_why_and_whether_to_ask_again() {
    type Refusing = fn(Option<&str>) -> Result<pb::TransferLeadershipReply, TransferError>;
    let cases: [(Refusing, Code, &str); 5] = [
        (
            |_| {
                Err(TransferError::NotLeader {
                    leader: "replica-2".to_owned(),
                })
            },
            Code::FailedPrecondition,
            "only the leader hands over the lead; the leader is replica-2",
        ),
        (
            |_| Err(TransferError::Unknown("no member is called `x`".to_owned())),
            Code::NotFound,
            "no member is called `x`",
        ),
        (
            |_| Err(TransferError::Refused("no other replica votes".to_owned())),
            Code::FailedPrecondition,
            "no other replica votes",
        ),
        (
            |_| {
                Err(TransferError::NotNow(
                    "no other voter has answered".to_owned(),
                ))
            },
            Code::Unavailable,
            "no other voter has answered",
        ),
        (
            |_| Err(TransferError::UnderWay),
            Code::Aborted,
            "the lead is being handed over already",
        ),
    ];
    for (transfer, code, message) in cases {
        let address = start(Replica {
            transfer,
            ..ready()
        })
        .await;
        let mut client = AdminClient::connect(format!("http://{address}"))
            .await
            .unwrap();
        let request = pb::TransferLeadershipRequest::default();
        let refused = client.transfer_leadership(request).await.unwrap_err();
        assert_eq!((refused.code(), refused.message()), (code, message));
    }
}

#[tokio::test]
async fn a_change_of_members_arrives_and_a_refusal_says_whether_to_ask_again() {
    use pb::change_members_request::Change;
    let ask = async |replica, change| {
        let url = format!("http://{}", start(replica).await);
        let mut client = AdminClient::connect(url).await.unwrap();
        let request = pb::ChangeMembersRequest { change };
        client.change_members(request).await
    };
    let promote = Some(Change::Promote("replica-3".to_owned()));
    let reply = ask(ready(), promote).await.unwrap().into_inner();
    assert_eq!(reply.done, "Some(Promote(\"replica-3\"))");

    type Refusing =
        fn(pb::ChangeMembersRequest) -> Result<pb::ChangeMembersReply, ChangeMembersError>;
    let cases: [(Refusing, Code); 6] = [
        (|_| Err(ChangeMembersError::Empty), Code::InvalidArgument),
        (
            |_| Err(ChangeMembersError::Unknown("no".to_owned())),
            Code::NotFound,
        ),
        (
            |_| Err(ChangeMembersError::Refused("no".to_owned())),
            Code::FailedPrecondition,
        ),
        (
            |_| Err(ChangeMembersError::NotNow("no".to_owned())),
            Code::Unavailable,
        ),
        (
            |_| Err(ChangeMembersError::UnderWay("no".to_owned())),
            Code::Aborted,
        ),
        (
            |_| Err(ChangeMembersError::OutcomeUnknown("no".to_owned())),
            Code::DeadlineExceeded,
        ),
    ];
    for (change, code) in cases {
        let replica = Replica { change, ..ready() };
        assert_eq!(ask(replica, None).await.unwrap_err().code(), code);
    }
}

#[tokio::test]
async fn unknown_paths_and_services_are_refused() {
    let address = start(ready()).await;
    let (status, body) = get(address, "/no-such-page").await;
    assert_eq!(status, "HTTP/1.1 404 Not Found");
    assert_eq!(body, "not found: try /live, /ready, /ping or /metrics\n");
    // A gRPC client of a service that is not served here.
    let channel = tonic::transport::Endpoint::from_shared(format!("http://{address}")).unwrap();
    let channel = channel.connect().await.unwrap();
    let mut peer = lockstep_proto::peer::v1::peer_client::PeerClient::new(channel);
    let refused = peer
        .hello(lockstep_proto::peer::v1::HelloRequest::default())
        .await
        .unwrap_err();
    assert_eq!(
        (refused.code(), refused.message()),
        (Code::Unimplemented, "no such method")
    );
}
