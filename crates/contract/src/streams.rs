//! Open streams of real clients, and what came on them.
//!
//! To know that nothing more comes, nobody sleeps. A stream of the server asks the board
//! for the next change only after it has handed over all its messages; so when every one
//! of them waits, all was handed over, and the server's own counter says how many messages
//! that were. When the clients have received as many, nothing is under way.

use linkerd2_proxy_api::destination::destination_client::DestinationClient;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::task::JoinHandle;
use tonic::{Status, Streaming, transport::Channel};

use crate::{
    code,
    corpus::{End, Method},
    fold::{Folded, Violation},
    json,
    serve::{Served, asking, until, within},
};

/// One thing that came on a stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// A message, in the form of [`crate::json`].
    Message(Value),
    /// The end.
    End(End),
}

/// Streams of one connection, by name.
pub struct Streams<'a> {
    served: &'a Served,
    client: DestinationClient<Channel>,
    open: BTreeMap<String, Ear>,
    /// How many messages were received on streams that are no longer open.
    received_before: u64,
}

struct Ear {
    inbox: Arc<Mutex<Inbox>>,
    reader: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Inbox {
    fresh: Vec<Heard>,
    folded: Folded,
    received: u64,
    has_ended: bool,
}

impl Inbox {
    fn message(&mut self, message: Value) {
        self.received += 1;
        self.fresh.push(Heard::Message(message));
    }

    fn end(&mut self, status: &Status) {
        self.has_ended = true;
        self.fresh.push(Heard::End(End {
            code: code::name(status.code()).to_owned(),
            message: status.message().to_owned(),
        }));
    }
}

/// A reader that panicked has failed its test already.
fn locked(inbox: &Mutex<Inbox>) -> MutexGuard<'_, Inbox> {
    inbox.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Streams<'a> {
    /// No streams yet, and a connection for them.
    pub async fn to(served: &'a Served) -> Self {
        Self {
            served,
            client: served.client().await,
            open: BTreeMap::new(),
            received_before: 0,
        }
    }

    /// Opens a stream; what it says, or why it was refused, is heard later.
    pub async fn open(&mut self, name: &str, method: Method, path: &str, token: &str) {
        let inbox = Arc::new(Mutex::new(Inbox::default()));
        let request = asking(path, token);
        let reader = match method {
            Method::Get => match within(self.client.get(request)).await {
                Ok(opened) => Some(read(&inbox, opened.into_inner(), |inbox, update| {
                    inbox.folded.take(&update);
                    inbox.message(json::update(&update));
                })),
                Err(status) => refused(&inbox, &status),
            },
            Method::GetProfile => match within(self.client.get_profile(request)).await {
                Ok(opened) => Some(read(&inbox, opened.into_inner(), |inbox, profile| {
                    inbox.message(json::profile(&profile));
                })),
                Err(status) => refused(&inbox, &status),
            },
        };
        self.open.insert(name.to_owned(), Ear { inbox, reader });
    }

    /// Gives up a stream.
    pub fn close(&mut self, name: &str) {
        if let Some(ear) = self.open.remove(name) {
            if let Some(reader) = ear.reader {
                reader.abort();
            }
            self.received_before += locked(&ear.inbox).received;
        }
    }

    /// Waits until every stream has said all that it has to say of what is committed.
    pub async fn settle(&self) {
        until(|| self.is_settled()).await;
    }

    /// What came on each stream since it was asked last; streams that heard nothing are
    /// there with nothing.
    pub fn take(&mut self) -> BTreeMap<String, Vec<Heard>> {
        let ears = self.open.iter();
        let fresh = ears.map(|(name, ear)| {
            let fresh = std::mem::take(&mut locked(&ear.inbox).fresh);
            (name.clone(), fresh)
        });
        fresh.collect()
    }

    /// What was sent on a `Get` stream and should not have been.
    #[must_use]
    pub fn violations(&self) -> BTreeMap<String, Vec<Violation>> {
        let ears = self.open.iter();
        let violations = ears.map(|(name, ear)| {
            let inbox = locked(&ear.inbox);
            (name.clone(), inbox.folded.violations().to_vec())
        });
        violations.filter(|(_, them)| !them.is_empty()).collect()
    }

    fn is_settled(&self) -> bool {
        let board = &self.served.board;
        let (mut listening, mut received) = (0, self.received_before);
        for ear in self.open.values() {
            let inbox = locked(&ear.inbox);
            listening += usize::from(!inbox.has_ended);
            received += inbox.received;
        }
        board.is_quiet() && board.watchers() == listening && self.served.messages() == received
    }
}

fn refused(inbox: &Mutex<Inbox>, status: &Status) -> Option<JoinHandle<()>> {
    locked(inbox).end(status);
    None
}

fn read<T: Send + 'static>(
    inbox: &Arc<Mutex<Inbox>>,
    mut stream: Streaming<T>,
    mut take: impl FnMut(&mut Inbox, T) + Send + 'static,
) -> JoinHandle<()> {
    let inbox = Arc::clone(inbox);
    tokio::spawn(async move {
        let end = loop {
            match stream.message().await {
                Ok(Some(message)) => take(&mut locked(&inbox), message),
                Ok(None) => break Status::ok(""),
                Err(status) => break status,
            }
        };
        locked(&inbox).end(&end);
    })
}
