//! One run of watches: a task for each kind, and another one for a task that died.

use lockstep_catalog::{FactSession, Resume, SourceEvent};
use lockstep_model::{Cursor, FactKind};
use std::{any::Any, time::Duration};
use tokio::{
    sync::mpsc,
    task::{Id, JoinError, JoinSet},
    time::{Instant, sleep},
};

use crate::{
    KubernetesSource,
    watch::{Begin, Follower},
};

/// How many events wait before the followers do: what one batch may hold.
const EVENTS_MAX: usize = 1000;
/// How long a follower rests that died, for each time that it died in a row.
const REST: Duration = Duration::from_secs(1);
/// The longest rest: a kind must not go unwatched for longer than its silence may last.
const REST_MAX: Duration = Duration::from_secs(20);
/// How long a follower lives whose death does not count as one in a row.
const LIFE: Duration = Duration::from_mins(5);
/// From so many deaths in a row on, a kind is listed: what it died of may be one event.
const DEATHS_BY_ONE_EVENT: u32 = 3;

/// One run of watches against an API server. Dropping it ends every request.
#[derive(Debug)]
pub struct KubernetesSession {
    source: KubernetesSource,
    events: mpsc::Receiver<SourceEvent>,
    /// For followers that begin later; so the channel stays open.
    sender: mpsc::Sender<SourceEvent>,
    followers: JoinSet<()>,
    /// Who follows what.
    lives: Vec<Life>,
    /// How far each kind was told.
    reached: Resume,
}

/// The life of one kind's follower.
#[derive(Debug)]
struct Life {
    kind: FactKind,
    task: Id,
    since: Instant,
    /// How many died in a row before it.
    deaths: u32,
}

impl KubernetesSession {
    /// Must be called within a tokio runtime.
    pub(crate) fn begin(source: KubernetesSource, resume: Resume) -> Self {
        source.troubles.clear_all();
        let (sender, events) = mpsc::channel(EVENTS_MAX);
        let mut session = Self {
            source,
            events,
            sender,
            followers: JoinSet::new(),
            lives: Vec::new(),
            reached: resume,
        };
        for kind in FactKind::ALL {
            session.give_life(kind, 0);
        }
        session
    }

    fn give_life(&mut self, kind: FactKind, deaths: u32) {
        let follower = Follower::new(&self.source, kind);
        let begin = match self.reached.get(&kind).cloned() {
            None => Begin::Afresh(None),
            Some(at) if deaths >= DEATHS_BY_ONE_EVENT => Begin::Afresh(Some(at)),
            Some(at) => Begin::After(at),
        };
        let (sender, rest) = (self.sender.clone(), rest(deaths));
        let task = self.followers.spawn(async move {
            sleep(rest).await;
            follower.run(begin, sender).await;
        });
        self.lives.push(Life {
            kind,
            task: task.id(),
            since: Instant::now(),
            deaths,
        });
    }

    /// Everything that the follower told before it died was passed on.
    fn died(&mut self, ended: Result<(Id, ()), JoinError>) {
        let (task, reason) = match ended {
            Ok((task, ())) => (task, "it ended".to_owned()),
            Err(error) => (error.id(), reason(error)),
        };
        let Some(place) = self.lives.iter().position(|life| life.task == task) else {
            return;
        };
        let life = self.lives.swap_remove(place);
        let before = if life.since.elapsed() < LIFE {
            life.deaths
        } else {
            0
        };
        let (kind, deaths) = (life.kind, before.saturating_add(1));
        tracing::error!(%kind, reason, deaths, rest = ?rest(deaths), "a watch task died, another one follows");
        self.source.metrics().died(kind);
        let what = format!("its watch task died {deaths} times in a row: {reason}");
        self.source.troubles.note(kind, what);
        self.give_life(kind, deaths);
    }

    fn note(&mut self, told: &[SourceEvent]) {
        for (kind, cursor) in told.iter().filter_map(place) {
            self.reached.insert(kind, cursor.clone());
        }
    }
}

impl FactSession for KubernetesSession {
    async fn next(&mut self) -> Vec<SourceEvent> {
        let mut told = Vec::new();
        loop {
            tokio::select! {
                // What was told is passed on first, so that whoever follows a dead
                // follower begins where that one stopped.
                biased;
                1.. = self.events.recv_many(&mut told, EVENTS_MAX) => {
                    self.note(&told);
                    return told;
                }
                Some(ended) = self.followers.join_next_with_id() => self.died(ended),
                // The sender is here and there is a follower for each kind.
                else => std::future::pending().await,
            }
        }
    }
}

fn rest(deaths: u32) -> Duration {
    REST.saturating_mul(deaths).min(REST_MAX)
}

fn place(event: &SourceEvent) -> Option<(FactKind, &Cursor)> {
    match event {
        SourceEvent::Changed { key, cursor, .. } => Some((key.kind, cursor)),
        SourceEvent::Progress { kind, cursor } => Some((*kind, cursor)),
        SourceEvent::Listed(listed) => Some((listed.kind, &listed.cursor)),
        SourceEvent::Lost { .. } | SourceEvent::Alive { .. } => None,
    }
}

fn reason(error: JoinError) -> String {
    match error.try_into_panic() {
        Ok(panic) => words(panic.as_ref()).to_owned(),
        Err(error) => error.to_string(),
    }
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without words")
}

#[cfg(test)]
mod tests;
