//! A proxy: asks as the real one does, and folds what it is told by its rules.

use linkerd2_proxy_api::destination::{
    DestinationProfile, GetDestination, Update, destination_client::DestinationClient,
    update::Update as Kind,
};
use lockstep_contract::fold::Folded;
use std::{collections::BTreeSet, net::SocketAddr, time::Duration};
use tonic::{Code, Status, Streaming, transport::Channel};

/// What a client is told once, with the labels of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub set: BTreeSet<SocketAddr>,
    pub revision: u64,
    pub digest: String,
    pub history: String,
    pub stale: bool,
}

/// A connection to one replica.
#[derive(Clone)]
pub struct Proxy {
    client: DestinationClient<Channel>,
}

/// An open `Get` stream and what it has told so far.
pub struct Open {
    updates: Streaming<Update>,
    pub told: Option<BTreeSet<SocketAddr>>,
    folded: Folded,
    pub opened: Told,
    pub messages: usize,
}

pub fn ask(path: &str) -> GetDestination {
    GetDestination {
        scheme: String::new(),
        path: path.to_owned(),
        context_token: String::new(),
    }
}

impl Proxy {
    pub async fn connect(address: SocketAddr) -> Result<Self, Status> {
        let client = DestinationClient::connect(format!("http://{address}")).await;
        client
            .map(|client| Self { client })
            .map_err(|error| Status::unavailable(format!("{address}: {error}")))
    }

    pub async fn open(&self, path: &str) -> Result<Open, Status> {
        let response = self.client.clone().get(ask(path)).await?;
        let header = |name: &str| {
            let value = response.metadata().get(name);
            value
                .and_then(|value| value.to_str().ok())
                .unwrap_or_default()
                .to_owned()
        };
        let opened = Told {
            set: BTreeSet::new(),
            revision: header("lockstep-revision")
                .trim_start_matches('r')
                .parse()
                .unwrap_or(0),
            digest: header("lockstep-digest"),
            history: header("lockstep-history"),
            stale: header("lockstep-stale") == "true",
        };
        Ok(Open {
            updates: response.into_inner(),
            told: None,
            folded: Folded::default(),
            opened,
            messages: 0,
        })
    }

    /// The whole answer: the first message of a new stream.
    pub async fn get(&self, path: &str) -> Result<Told, Status> {
        let mut stream = self.open(path).await?;
        stream.next().await?;
        Ok(Told {
            set: stream.told.unwrap_or_default(),
            ..stream.opened
        })
    }

    pub async fn profile(&self, path: &str) -> Result<DestinationProfile, Status> {
        let mut stream = self
            .client
            .clone()
            .get_profile(ask(path))
            .await?
            .into_inner();
        stream
            .message()
            .await?
            .ok_or_else(|| Status::unavailable("the stream ended"))
    }
}

impl Open {
    /// Takes the next message and folds it; the kind is returned for the curious.
    pub async fn next(&mut self) -> Result<Kind, Status> {
        let wait = tokio::time::timeout(super::PATIENCE, self.updates.message());
        let message = wait
            .await
            .map_err(|_| Status::deadline_exceeded("no message"))??;
        let update = message.ok_or_else(|| Status::unavailable("the stream ended"))?;
        self.messages += 1;
        self.folded.take(&update);
        assert_eq!(self.folded.violations(), [], "{update:?}");
        self.told = self.folded.set().map(|set| set.keys().copied().collect());
        update
            .update
            .ok_or_else(|| Status::internal("an update without kind"))
    }

    /// Whether nothing more comes within `wait`.
    pub async fn is_quiet_for(&mut self, wait: Duration) -> bool {
        tokio::time::timeout(wait, self.updates.message())
            .await
            .is_err()
    }

    /// Follows until the folded set is `expected`.
    pub async fn until(&mut self, expected: &BTreeSet<SocketAddr>) {
        while self.told.as_ref() != Some(expected) {
            let told = self.told.clone();
            if let Err(status) = self.next().await {
                panic!("{status:?} while told {told:?}, expecting {expected:?}");
            }
        }
    }
}

/// Whether a proxy would give up discovery for good because of this status.
pub fn is_terminal(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::InvalidArgument | Code::FailedPrecondition
    )
}
