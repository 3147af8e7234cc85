//! Those who ask: they open streams, fold nothing, and write down all that they are told.
//!
//! ```text
//! watchers  stay with one replica and one question, and come again when their stream ends
//! hoppers   go from replica to replica, and must never be taken back
//! starters  ask once and go: a new proxy at every moment, above all while nobody leads
//! sleepers  open a stream and never read it
//! ```

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fastrand::Rng;
use linkerd2_proxy_api::destination::{
    GetDestination, Update, destination_client::DestinationClient,
};
use lockstep_jepsen_checkers::{
    Call, EndedBy, Open, Opened, Operation, Process, Replica, Return, Rev, Seen, StreamEnd, Told,
    What,
};
use lockstep_jepsen_model::Question;
use tokio::time::{sleep, timeout};
use tonic::metadata::MetadataMap;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status, Streaming};

use crate::recorder::Recorder;
use crate::wire;
use lockstep_jepsen_gear::world::World;

/// How long opening may take; what takes longer ended unknown.
const LIMIT: Duration = Duration::from_secs(5);
/// How long whoever was refused waits.
const PAUSE: Duration = Duration::from_millis(200);
/// How soon a connection that leads nowhere is given up, as the proxy does.
const KEEP_ALIVE: Duration = Duration::from_secs(2);

/// What all clients share.
#[derive(Clone)]
pub(crate) struct Clients {
    /// Where the history is written.
    pub(crate) recorder: Recorder,
    /// What can be asked.
    pub(crate) world: Arc<Mutex<World>>,
    /// Where each replica is.
    pub(crate) replicas: Vec<(Replica, SocketAddr)>,
}

/// Someone who asks, with one connection to each replica that it has met.
struct Client {
    shared: Clients,
    number: u64,
    dice: Rng,
    channels: Vec<Channel>,
}

// === impl Clients ===

impl Clients {
    /// Stays with one replica until dropped.
    pub(crate) async fn watch(self, place: usize, dice: Rng) {
        let mut client = self.client(dice);
        loop {
            let authority = client.authority();
            client.follow(place, &authority, None).await;
            sleep(PAUSE).await;
        }
    }

    /// Goes from replica to replica until dropped.
    pub(crate) async fn hop(self, dice: Rng) {
        let mut client = self.client(dice);
        loop {
            let place = client.dice.usize(..client.shared.replicas.len());
            let authority = client.authority();
            let stay = Duration::from_millis(client.dice.u64(50..3_000));
            client.follow(place, &authority, Some(stay)).await;
            sleep(Duration::from_millis(client.dice.u64(20..200))).await;
        }
    }

    /// A new client each time, until dropped.
    pub(crate) async fn start_cold(self, mut dice: Rng) {
        loop {
            let mut client = self.clone().client(dice.fork());
            let place = dice.usize(..self.replicas.len());
            let authority = client.authority();
            client
                .follow(place, &authority, Some(Duration::from_millis(200)))
                .await;
            sleep(Duration::from_millis(dice.u64(100..600))).await;
        }
    }

    /// Opens so many streams and reads none of them, until dropped.
    pub(crate) async fn sleep(self, place: usize, count: usize, dice: Rng) {
        let mut client = self.client(dice);
        let mut open = Vec::new();
        for _ in 0..count {
            let authority = client.authority();
            let process = client.shared.recorder.stream();
            if let Some(stream) = client.open(process, place, &authority, Reads::No).await {
                open.push(stream);
            }
        }
        std::future::pending::<()>().await;
        drop(open);
    }

    fn client(self, dice: Rng) -> Client {
        let channels = self.replicas.iter().map(|(_, address)| {
            let endpoint = Endpoint::from_shared(format!("http://{address}"));
            endpoint.map(|endpoint| {
                endpoint
                    .connect_timeout(LIMIT)
                    .http2_keep_alive_interval(KEEP_ALIVE)
                    .keep_alive_timeout(KEEP_ALIVE)
                    .keep_alive_while_idle(true)
                    .connect_lazy()
            })
        });
        Client {
            number: self.recorder.client(),
            // A socket address is always a good part of a URL.
            channels: channels.filter_map(Result::ok).collect(),
            shared: self,
            dice,
        }
    }
}

/// Whether a client means to read what it is sent.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Reads {
    Yes,
    No,
}

// === impl Client ===

impl Client {
    /// A question by chance, about something that is there as far as is known.
    fn authority(&mut self) -> String {
        let world = self.shared.world.lock();
        let all = world.unwrap_or_else(PoisonError::into_inner).authorities();
        self.dice.choice(all).unwrap_or_default()
    }

    /// Opens a stream and reads it to its end, or for so long.
    async fn follow(&mut self, place: usize, authority: &str, stay: Option<Duration>) {
        let process = self.shared.recorder.stream();
        let Some((mut stream, mut note)) = self.open(process, place, authority, Reads::Yes).await
        else {
            return;
        };
        let reading = self.read(process, &mut stream);
        note.end = match stay {
            None => reading.await,
            Some(stay) => timeout(stay, reading).await.unwrap_or_else(|_| left()),
        };
    }

    async fn open(
        &self,
        process: Process,
        place: usize,
        authority: &str,
        reads: Reads,
    ) -> Option<(Streaming<Update>, EndNote)> {
        let recorder = &self.shared.recorder;
        let (replica, _) = *self.shared.replicas.get(place)?;
        let call = Call::Open(Open {
            client: self.number,
            replica,
            question: Question {
                authority: authority.into(),
                node: "".into(),
            },
            min: None,
            reads: reads == Reads::Yes,
        });
        let mut client = DestinationClient::new(self.channels.get(place)?.clone());
        let question = GetDestination {
            scheme: "k8s".to_owned(),
            path: authority.to_owned(),
            context_token: String::new(),
        };
        recorder.note(process, What::Invoke(call));
        let mut note = OpenNote {
            recorder: recorder.clone(),
            process,
            outcome: Some(What::Unknown(Operation::Open, "given up".to_owned())),
        };
        let (outcome, stream) = match timeout(LIMIT, client.get(question)).await {
            Ok(Ok(response)) => {
                let opened = opened(response.metadata());
                (What::Ok(Return::Open(opened)), Some(response.into_inner()))
            }
            Ok(Err(status)) => {
                let why = format!("{}: {}", code(status.code()), status.message());
                (What::Fail(Operation::Open, why), None)
            }
            Err(_) => {
                let why = format!("no answer within {LIMIT:?}");
                (What::Unknown(Operation::Open, why), None)
            }
        };
        note.outcome = Some(outcome);
        drop(note);
        let end = EndNote {
            recorder: recorder.clone(),
            process,
            end: left(),
        };
        Some((stream?, end))
    }

    async fn read(&self, process: Process, stream: &mut Streaming<Update>) -> StreamEnd {
        loop {
            match stream.message().await {
                Ok(Some(update)) => {
                    if let Some(message) = wire::message(&update) {
                        let told = Told {
                            rev: None,
                            stale: None,
                            age_ms: None,
                            message,
                        };
                        self.shared.recorder.note(process, Seen::Msg(told));
                    }
                }
                Ok(None) => {
                    return StreamEnd {
                        by: EndedBy::Replica,
                        code: "OK".to_owned(),
                    };
                }
                Err(status) => return ended(&status),
            }
        }
    }
}

/// How the opening of a stream ended: written when dropped, also when its client is gone.
struct OpenNote {
    recorder: Recorder,
    process: Process,
    outcome: Option<What>,
}

/// How a stream ended: written when dropped, also when its client is gone.
struct EndNote {
    recorder: Recorder,
    process: Process,
    end: StreamEnd,
}

impl Drop for OpenNote {
    fn drop(&mut self) {
        if let Some(outcome) = self.outcome.take() {
            self.recorder.note(self.process, outcome);
        }
    }
}

impl Drop for EndNote {
    fn drop(&mut self) {
        self.recorder
            .note(self.process, Seen::End(self.end.clone()));
    }
}

/// The end of a stream whose client went.
fn left() -> StreamEnd {
    StreamEnd {
        by: EndedBy::Client,
        code: "OK".to_owned(),
    }
}

/// A status that the replica sent has no source; one that the transport made has.
fn ended(status: &Status) -> StreamEnd {
    let by = match std::error::Error::source(status) {
        Some(_) => EndedBy::Transport,
        None => EndedBy::Replica,
    };
    StreamEnd {
        by,
        code: format!("{}: {}", code(status.code()), status.message()),
    }
}

/// `UNAVAILABLE` for `Unavailable`.
fn code(code: Code) -> String {
    let mut text = String::new();
    for letter in format!("{code:?}").chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(letter.to_uppercase());
    }
    text
}

fn opened(headers: &MetadataMap) -> Opened {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let history = text("lockstep-history").and_then(|it| u128::from_str_radix(it, 16).ok());
    let number = text("lockstep-revision").and_then(|it| it.trim_start_matches('r').parse().ok());
    Opened {
        rev: history
            .zip(number)
            .map(|(history, number)| Rev::new(history, number)),
        stale: text("lockstep-stale").and_then(|it| it.parse().ok()),
        age_ms: text("lockstep-age-ms").and_then(|it| it.parse().ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_spelled_as_on_the_wire() {
        assert_eq!(code(Code::Unavailable), "UNAVAILABLE");
        assert_eq!(code(Code::DeadlineExceeded), "DEADLINE_EXCEEDED");
    }

    #[test]
    fn headers_are_read_whole() {
        let mut headers = MetadataMap::new();
        let history = format!("{:032x}", 5);
        headers.insert("lockstep-history", history.parse().unwrap());
        headers.insert("lockstep-revision", "r12".parse().unwrap());
        headers.insert("lockstep-stale", "false".parse().unwrap());
        headers.insert("lockstep-age-ms", "212".parse().unwrap());
        let expected = Opened {
            rev: Some(Rev::new(5, 12)),
            stale: Some(false),
            age_ms: Some(212),
        };
        assert_eq!(opened(&headers), expected);
    }
}
