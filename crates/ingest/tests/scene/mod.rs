//! A replica's log and a source that do as they are told, and write down in
//! one journal what the ingest asks of them.
#![allow(dead_code, reason = "each test file uses its part")]

use lockstep_catalog::{FactSession, FactSource, Listed, Resume, SourceError, SourceEvent};
use lockstep_ingest::{Ingest, Lead, Metrics};
use lockstep_model::{Cursor, Fact, FactKey, FactKind, Settings};
use lockstep_position::{HistoryId, LogId, Term};
use lockstep_state::{Batch, Command, Outcome, Part, Propose, ProposeError, State};
use prometheus_client::{encoding::text::encode, registry::Registry};
use std::{
    collections::{BTreeMap, BTreeSet},
    future::pending,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
    time::{sleep, timeout},
};

pub(crate) const HISTORY: HistoryId = HistoryId::from_u128(7);

/// How long anything may take on the paused clock, far above what it needs.
pub(crate) const HOUR: Duration = Duration::from_secs(3600);

/// Longer than any other test waits for nothing to happen.
pub(crate) const AUDIT_INTERVAL: Duration = Duration::from_secs(24 * 3600);

/// One thing that the ingest did.
#[derive(Debug, PartialEq)]
pub(crate) enum Seen {
    Settles(Term),
    Follows(Resume),
    /// The session was dropped.
    Leaves,
    Proposes(Term, Vec<Command>),
    /// The source was asked for a list outside a session.
    Lists,
}

type Journal = mpsc::UnboundedSender<Seen>;

/// What becomes of proposals.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) enum Conduct {
    /// They are applied.
    Commits,
    /// They wait until the conduct is another one; so does settling.
    Hangs,
    /// They are refused, and so is settling, though the term goes on.
    LacksQuorum,
    /// Nobody knows, until the next settling finds them applied, or not.
    Loses { commits_later: bool },
    /// They end up in an entry of a later term.
    Overtaken,
    /// They lack the part before them.
    LosesAPart,
    /// The replica stops.
    Stops,
}

/// The log of one replica, with the state that it makes.
#[derive(Clone)]
pub(crate) struct Log(Arc<Shared>);

struct Shared {
    written: Mutex<Written>,
    conduct: watch::Sender<Conduct>,
    journal: Journal,
}

#[derive(Default)]
struct Written {
    state: State,
    index: u64,
    /// Committed once somebody settles.
    late: Vec<Batch>,
}

impl Written {
    fn append(&mut self, term: Term, batch: Batch) -> (LogId, Outcome) {
        self.index += 1;
        let index = self.index;
        let log_id = LogId { term, index };
        (log_id, self.state.apply(log_id, batch).outcome)
    }
}

impl Log {
    fn new(journal: Journal) -> Self {
        Self(Arc::new(Shared {
            written: Mutex::default(),
            conduct: watch::Sender::new(Conduct::Commits),
            journal,
        }))
    }

    pub(crate) fn set(&self, conduct: Conduct) {
        self.0.conduct.send_replace(conduct);
    }

    /// Applies what another leader proposed.
    pub(crate) fn append(&self, term: Term, commands: Vec<Command>) {
        let batch = Batch::whole(term, commands);
        let appended = self.0.written.lock().unwrap().append(term, batch);
        assert_eq!(appended.1, Outcome::Done);
    }

    async fn conduct(&self) -> Conduct {
        let mut conduct = self.0.conduct.subscribe();
        let settled = conduct.wait_for(|now| *now != Conduct::Hangs).await;
        *settled.unwrap()
    }
}

impl Propose for Log {
    async fn propose(
        &self,
        term: Term,
        commands: Vec<Command>,
    ) -> Result<(LogId, Outcome), ProposeError> {
        let seen = Seen::Proposes(term, commands.clone());
        self.0.journal.send(seen).unwrap();
        let conduct = self.conduct().await;
        let mut batch = Batch::whole(term, commands);
        let mut written = self.0.written.lock().unwrap();
        match conduct {
            Conduct::Commits | Conduct::Hangs => Ok(written.append(term, batch)),
            Conduct::LacksQuorum => Err(ProposeError::NotLeader { term, leader: None }),
            Conduct::Loses { commits_later } => {
                written.late.extend(commits_later.then_some(batch));
                let reason = "out of time".to_owned();
                Err(ProposeError::OutcomeUnknown { reason })
            }
            Conduct::Overtaken => Ok(written.append(Term::from_u64(term.as_u64() + 1), batch)),
            Conduct::LosesAPart => {
                batch.part = Part { number: 1, of: 2 };
                Ok(written.append(term, batch))
            }
            Conduct::Stops => Err(ProposeError::Stopped),
        }
    }

    async fn settle(&self, term: Term) -> Result<Arc<State>, ProposeError> {
        self.0.journal.send(Seen::Settles(term)).unwrap();
        match self.conduct().await {
            Conduct::LacksQuorum => return Err(ProposeError::NotLeader { term, leader: None }),
            Conduct::Stops => return Err(ProposeError::Stopped),
            Conduct::Commits
            | Conduct::Hangs
            | Conduct::Loses { .. }
            | Conduct::Overtaken
            | Conduct::LosesAPart => {}
        }
        let mut written = self.0.written.lock().unwrap();
        for batch in std::mem::take(&mut written.late) {
            written.append(batch.term, batch);
        }
        written.append(term, Batch::whole(term, Vec::new()));
        Ok(Arc::new(written.state.clone()))
    }

    fn applied(&self) -> Arc<State> {
        Arc::new(self.0.written.lock().unwrap().state.clone())
    }
}

/// What the next list is; the one after it fails.
pub(crate) type Lists = Arc<Mutex<Option<Vec<Listed>>>>;

/// A source whose newest session tells what the test says.
struct Source {
    tells: watch::Sender<Option<mpsc::UnboundedSender<SourceEvent>>>,
    lists: Lists,
    journal: Journal,
}

struct Session {
    events: mpsc::UnboundedReceiver<SourceEvent>,
    journal: Journal,
}

impl FactSource for Source {
    type Session = Session;

    fn follow(&self, resume: Resume) -> Session {
        let (tells, events) = mpsc::unbounded_channel();
        self.tells.send_replace(Some(tells));
        self.journal.send(Seen::Follows(resume)).unwrap();
        let journal = self.journal.clone();
        Session { events, journal }
    }

    async fn list(&self) -> Result<Vec<Listed>, SourceError> {
        self.journal.send(Seen::Lists).unwrap();
        let mut lists = self.lists.lock().unwrap();
        lists.take().ok_or_else(|| SourceError {
            kind: FactKind::Node,
            reason: "a test".to_owned(),
        })
    }

    async fn reach(&self) -> Result<(), SourceError> {
        Ok(())
    }

    fn describe(&self) -> String {
        "a test".to_owned()
    }
}

impl FactSession for Session {
    async fn next(&mut self) -> Vec<SourceEvent> {
        let mut events = Vec::new();
        if self.events.recv_many(&mut events, 100).await == 0 {
            pending::<()>().await;
        }
        events
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The test may be over.
        let _ = self.journal.send(Seen::Leaves);
    }
}

/// An ingest that runs, and all that it touches.
pub(crate) struct Scene {
    pub(crate) log: Log,
    pub(crate) lead: watch::Sender<Lead>,
    pub(crate) ingest: JoinHandle<()>,
    pub(crate) lists: Lists,
    tells: watch::Receiver<Option<mpsc::UnboundedSender<SourceEvent>>>,
    seen: mpsc::UnboundedReceiver<Seen>,
    proved: Arc<Mutex<Vec<FactKind>>>,
    metrics: Metrics,
    registry: Registry,
}

impl Scene {
    /// A replica that leads nothing yet.
    pub(crate) fn open() -> Self {
        let (journal, seen) = mpsc::unbounded_channel();
        let (tells, told) = watch::channel(None);
        let (lead, leading) = watch::channel(None);
        let log = Log::new(journal.clone());
        let lists = Lists::default();
        let proved: Arc<Mutex<Vec<FactKind>>> = Arc::default();
        let proofs = proved.clone();
        let (metrics, mut registry) = (Metrics::default(), Registry::default());
        metrics.register(&mut registry);
        let ingest = Ingest {
            source: Arc::new(Source {
                tells,
                lists: lists.clone(),
                journal,
            }),
            proposer: log.clone(),
            settings: Arc::new(Settings::default()),
            history: HISTORY,
            alive: Arc::new(move |kind| proofs.lock().unwrap().push(kind)),
            audit_interval: AUDIT_INTERVAL,
            metrics: metrics.clone(),
        };
        Self {
            log,
            lead,
            ingest: tokio::spawn(ingest.run(leading)),
            lists,
            tells: told,
            seen,
            proved,
            metrics,
            registry,
        }
    }

    /// A leader that has synced an empty cluster, with every cursor at `1`.
    pub(crate) async fn synced(term: Term) -> Self {
        let mut scene = Self::open();
        scene.lead.send_replace(Some(term));
        scene.expect(Seen::Settles(term)).await;
        scene.expect(Seen::Follows(Resume::new())).await;
        scene.tell(FactKind::ALL.map(listed));
        scene.expect(Seen::Proposes(term, first_sync())).await;
        scene
    }

    /// Makes the session that follows now tell these events.
    pub(crate) fn tell(&self, events: impl IntoIterator<Item = SourceEvent>) {
        let tells = self.tells.borrow();
        for event in events {
            tells.as_ref().unwrap().send(event).unwrap();
        }
    }

    /// The next thing that the ingest does.
    pub(crate) async fn next(&mut self) -> Seen {
        let next = timeout(HOUR, self.seen.recv()).await;
        next.expect("the ingest does nothing").unwrap()
    }

    pub(crate) async fn expect(&mut self, expected: Seen) {
        assert_eq!(self.next().await, expected);
    }

    /// Waits until the next audit asks for lists.
    pub(crate) async fn expect_audit(&mut self) {
        let next = timeout(2 * AUDIT_INTERVAL, self.seen.recv()).await;
        assert_eq!(next.expect("no audit"), Some(Seen::Lists));
    }

    /// Lets time pass in which the ingest does nothing.
    pub(crate) async fn expect_nothing(&mut self, during: Duration) {
        sleep(during).await;
        assert_eq!(self.seen.try_recv().ok(), None);
    }

    /// The kinds that were proved since the last time.
    pub(crate) fn proved(&self) -> Vec<FactKind> {
        std::mem::take(&mut *self.proved.lock().unwrap())
    }

    /// Whether the replica says that it follows the source.
    pub(crate) fn follows(&self) -> bool {
        let follows = self.metrics.is_following();
        let gauge = self.metric("lockstep_ingest_following");
        assert_eq!(gauge, u64::from(follows));
        follows
    }

    /// The value of a metric, as a scrape shows it.
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let mut text = String::new();
        encode(&mut text, &self.registry).unwrap();
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        let (_, value) = lines.find(|(named, _)| *named == name).unwrap();
        value.parse().unwrap()
    }
}

fn cursor(at: u64) -> Cursor {
    Cursor(at.to_string().into())
}

/// Nothing of this kind exists, as of cursor `1`.
fn listed(kind: FactKind) -> SourceEvent {
    SourceEvent::Listed(Listed {
        kind,
        facts: BTreeMap::new(),
        unread: BTreeSet::new(),
        cursor: cursor(1),
    })
}

fn first_sync() -> Vec<Command> {
    let settings = Arc::new(Settings::default());
    let begin = [
        Command::OpenHistory(HISTORY),
        Command::PutSettings(settings),
    ];
    let cursors = resume(1).into_iter();
    let cursors = cursors.map(|(kind, cursor)| Command::Advance(kind, cursor));
    begin.into_iter().chain(cursors).collect()
}

/// Where every kind is after the first sync, but for the nodes.
pub(crate) fn resume(nodes_at: u64) -> Resume {
    let at = |kind| if kind == FactKind::Node { nodes_at } else { 1 };
    FactKind::ALL.map(|kind| (kind, cursor(at(kind)))).into()
}

pub(crate) fn progress(nodes_at: u64) -> SourceEvent {
    SourceEvent::Progress {
        kind: FactKind::Node,
        cursor: cursor(nodes_at),
    }
}

pub(crate) fn advance(nodes_at: u64) -> Command {
    Command::Advance(FactKind::Node, cursor(nodes_at))
}

/// A node appears, as the change `at` in the history of nodes.
pub(crate) fn node(name: &str, at: u64) -> SourceEvent {
    SourceEvent::Changed {
        key: FactKey::named(FactKind::Node, "", name),
        fact: Some(Fact::Node(Some("zone-a".into()))),
        cursor: cursor(at),
    }
}

/// What to propose when these nodes appear, the last as the change `at`.
pub(crate) fn put_nodes(names: &[&str], at: u64) -> Vec<Command> {
    let put = |name: &&str| Command::PutNode((*name).into(), "zone-a".into());
    let remember = |name: &&str| {
        let key = FactKey::named(FactKind::Node, "", name);
        Command::Remember(key, Arc::new(Fact::Node(Some("zone-a".into()))))
    };
    let commands = names.iter().map(put).chain(names.iter().map(remember));
    commands.chain([advance(at)]).collect()
}
