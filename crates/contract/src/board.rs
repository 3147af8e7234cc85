//! A replica's view without a replica: a state in memory that changes by applying commands.

use futures::{FutureExt, Stream, future::BoxFuture, task::AtomicWaker};
use lockstep_position::{HistoryId, LogId, ReplicaId, Term};
use lockstep_resolution::{
    About, Admission, Barrier, Claim, Ending, Freshness, Topic, View, Wakes, wakes,
};
use lockstep_state::{Batch, Command, State};
use std::{
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};
use tokio::sync::watch;

/// What a board claims until it is told otherwise.
const FRESH: Claim = Claim {
    copy: Freshness::Fresh,
    source: Freshness::Fresh,
    age: Some(Duration::from_millis(3)),
    admission: Admission::Open,
};

/// The view of a replica that is not there.
pub struct Board {
    state: Mutex<Arc<State>>,
    watchers: Mutex<Vec<Weak<Watcher>>>,
    is_stale: AtomicBool,
    claim: Mutex<Claim>,
    ending: watch::Sender<Option<Ending>>,
    is_closed: AtomicBool,
    barrier: watch::Sender<bool>,
    barriers: AtomicUsize,
    before_subscribing: Mutex<Vec<Command>>,
}

/// One stream that waits for changes.
struct Watcher {
    topics: Vec<Topic>,
    has_changed: AtomicBool,
    is_closed: AtomicBool,
    /// Whether it was told, when it asked last, that there is nothing new.
    is_waiting: AtomicBool,
    waker: AtomicWaker,
}

struct Watch(Arc<Watcher>);

impl Watcher {
    fn wake(&self) {
        self.has_changed.store(true, Ordering::SeqCst);
        self.waker.wake();
    }

    /// Whether it has been told of every change and waits for the next.
    fn is_quiet(&self) -> bool {
        // In this order: whoever takes a change has left off waiting before.
        !self.has_changed.load(Ordering::SeqCst) && self.is_waiting.load(Ordering::SeqCst)
    }
}

impl Stream for Watch {
    type Item = ();

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<()>> {
        let watcher = &self.0;
        watcher.is_waiting.store(false, Ordering::SeqCst);
        watcher.waker.register(context.waker());
        if watcher.is_closed.load(Ordering::SeqCst) {
            return Poll::Ready(None);
        }
        if watcher.has_changed.swap(false, Ordering::SeqCst) {
            return Poll::Ready(Some(()));
        }
        watcher.is_waiting.store(true, Ordering::SeqCst);
        Poll::Pending
    }
}

impl Board {
    /// A board whose history begins with these commands; with none of them it has not
    /// synced.
    #[must_use]
    pub fn with(commands: Vec<Command>) -> Arc<Self> {
        let board = Arc::new(Self {
            state: Mutex::default(),
            watchers: Mutex::default(),
            is_stale: AtomicBool::new(false),
            claim: Mutex::new(FRESH),
            ending: watch::Sender::new(None),
            is_closed: AtomicBool::new(false),
            barrier: watch::Sender::new(true),
            barriers: AtomicUsize::new(0),
            before_subscribing: Mutex::default(),
        });
        if !commands.is_empty() {
            board.change(vec![Command::OpenHistory(HistoryId::from_u128(0xabc))]);
            board.change(commands);
        }
        board
    }

    /// Applies commands as one batch and wakes whom they concern.
    pub fn change(&self, commands: Vec<Command>) {
        let changed = {
            let mut state = locked(&self.state);
            let mut next = State::clone(&state);
            let term = Term::from_u64(1);
            let index = next.position().applied.map_or(1, |last| last.index + 1);
            let applied = next.apply(LogId { term, index }, Batch::whole(term, commands));
            *state = Arc::new(next);
            applied.changed
        };
        self.each_watcher(|watcher| {
            if watcher.topics.iter().any(|topic| wakes(&changed, topic)) {
                watcher.wake();
            }
        });
    }

    /// Ends every stream, as a replica does that stops.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        self.each_watcher(|watcher| {
            watcher.is_closed.store(true, Ordering::SeqCst);
            watcher.waker.wake();
        });
    }

    /// From now on barriers are not passed in time.
    pub fn set_stale(&self) {
        self.is_stale.store(true, Ordering::SeqCst);
    }

    /// Claims something else from now on.
    pub fn set_claim(&self, claim: Claim) {
        *locked(&self.claim) = claim;
    }

    /// Has the streams end, open ones and later ones.
    pub fn end_streams(&self, ending: Ending) {
        self.ending.send_replace(Some(ending));
    }

    /// From now on barriers wait, or pass.
    pub fn set_barrier(&self, is_passable: bool) {
        self.barrier.send_replace(is_passable);
    }

    /// Has a change come in just before the next stream is to be woken by one.
    pub fn change_before_subscribing(&self, commands: Vec<Command>) {
        *locked(&self.before_subscribing) = commands;
    }

    /// How many barriers were asked for.
    pub fn barriers(&self) -> usize {
        self.barriers.load(Ordering::SeqCst)
    }

    /// How many streams wait for changes.
    pub fn watchers(&self) -> usize {
        let mut count = 0;
        self.each_watcher(|_| count += 1);
        count
    }

    /// Whether every stream has been told of every change, and has handed over all that it
    /// had to say of it: a stream asks for the next change only after its last message.
    pub fn is_quiet(&self) -> bool {
        let mut is_quiet = true;
        self.each_watcher(|watcher| is_quiet &= watcher.is_quiet());
        is_quiet
    }

    fn each_watcher(&self, mut visit: impl FnMut(&Watcher)) {
        let mut watchers = locked(&self.watchers);
        watchers.retain(|watcher| watcher.strong_count() > 0);
        for watcher in watchers.iter().filter_map(Weak::upgrade) {
            visit(&watcher);
        }
    }
}

/// A test that panicked with a lock in its hand has failed already.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl View for Board {
    fn newest(&self) -> Arc<State> {
        locked(&self.state).clone()
    }

    fn subscribe(&self, topics: Vec<Topic>) -> Wakes {
        let commands = std::mem::take(&mut *locked(&self.before_subscribing));
        if !commands.is_empty() {
            self.change(commands);
        }
        let watcher = Arc::new(Watcher {
            topics,
            has_changed: AtomicBool::new(false),
            is_closed: AtomicBool::new(self.is_closed.load(Ordering::SeqCst)),
            is_waiting: AtomicBool::new(false),
            waker: AtomicWaker::new(),
        });
        locked(&self.watchers).push(Arc::downgrade(&watcher));
        Wakes::new(Watch(watcher))
    }

    fn barrier(&self) -> BoxFuture<'_, Barrier> {
        let mut passable = self.barrier.subscribe();
        self.barriers.fetch_add(1, Ordering::SeqCst);
        async move {
            let _ = passable.wait_for(|it| *it).await;
            if self.is_stale.load(Ordering::SeqCst) {
                Barrier::Missed
            } else {
                Barrier::Passed
            }
        }
        .boxed()
    }

    fn claim(&self) -> Claim {
        *locked(&self.claim)
    }

    fn ending(&self) -> BoxFuture<'static, Ending> {
        let mut told = self.ending.subscribe();
        async move {
            loop {
                if let Some(ending) = *told.borrow_and_update() {
                    return ending;
                }
                if told.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        }
        .boxed()
    }

    fn about(&self) -> About {
        About {
            replica: ReplicaId::from_u64(7),
            name: "lockstep-0".into(),
        }
    }
}
