//! A proxy's connection to one replica.

use linkerd2_proxy_api::destination::{
    DestinationProfile, GetDestination, Update, destination_client::DestinationClient,
};
use lockstep_contract::corpus::{Method, Opening};
use std::{
    fmt::{self, Display, Formatter},
    net::SocketAddr,
    time::Duration,
};
use tokio::time::{sleep, timeout};
use tonic::{Code, Status, Streaming, transport::Channel};

use crate::harness::{PATIENCE, eventually};

/// How often a stream is opened that nobody can answer at the moment.
const ATTEMPTS: usize = 3;

/// What the replica of a client is in its fleet.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Role {
    Leader,
    Follower,
}

impl Display for Role {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Leader => "leader",
            Self::Follower => "follower",
        })
    }
}

/// An open stream of either method.
pub enum Answers {
    Updates(Streaming<Update>),
    Profiles(Streaming<DestinationProfile>),
}

/// One message of either method.
#[derive(Clone, Debug)]
pub enum Answer {
    Update(Update),
    Profile(Box<DestinationProfile>),
}

/// A connection, which does what a proxy's does.
#[derive(Clone)]
pub struct Connection {
    client: DestinationClient<Channel>,
}

impl Connection {
    pub async fn to(address: SocketAddr) -> Self {
        let client = eventually("a connection", async || {
            DestinationClient::connect(format!("http://{address}")).await
        });
        Self {
            client: client.await,
        }
    }

    /// Opens a stream; again, as a proxy would, where the answer is that nobody can say now.
    pub async fn open(&self, asked: &Opening) -> Result<Answers, Status> {
        let mut attempt = 1;
        loop {
            match self.open_once(asked).await {
                Err(status) if status.code() == Code::Unavailable && attempt < ATTEMPTS => {
                    attempt += 1;
                    sleep(Duration::from_millis(200)).await;
                }
                answer => return answer,
            }
        }
    }

    async fn open_once(&self, asked: &Opening) -> Result<Answers, Status> {
        let request = GetDestination {
            scheme: asked.scheme.clone().unwrap_or_default(),
            path: asked.path.clone(),
            context_token: asked.context_token.clone(),
        };
        let mut client = self.client.clone();
        let opened = async {
            Ok(match asked.method {
                Method::Get => Answers::Updates(client.get(request).await?.into_inner()),
                Method::GetProfile => {
                    Answers::Profiles(client.get_profile(request).await?.into_inner())
                }
            })
        };
        timeout(PATIENCE, opened)
            .await
            .unwrap_or_else(|_| Err(Status::deadline_exceeded("no answer")))
    }

    /// The first message of a new stream.
    pub async fn first(&self, asked: &Opening) -> Result<Answer, Status> {
        let mut answers = self.open(asked).await?;
        let first = timeout(PATIENCE, answers.next()).await;
        first.unwrap_or_else(|_| Err(Status::deadline_exceeded("no first message")))
    }
}

impl Answers {
    /// The next message; a stream that ends well ends with the code `Ok`.
    pub async fn next(&mut self) -> Result<Answer, Status> {
        let message = match self {
            Self::Updates(stream) => stream.message().await?.map(Answer::Update),
            Self::Profiles(stream) => {
                let profile = stream.message().await?;
                profile.map(|it| Answer::Profile(Box::new(it)))
            }
        };
        message.ok_or_else(|| Status::ok(""))
    }
}
