//! Those who look at replicas from outside, over the network that no fault touches.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lockstep_jepsen_checkers::{
    Claim, Digest, Final, Observed, Replica, Resources, Rev, Role, RoleKind, Seen, Surface,
    is_suspicious,
};
use lockstep_proto::admin::v1::{Position, Role as RoleTold, StatusReply, freshness::State};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::recorder::Recorder;
use lockstep_jepsen_gear::operator::Operator;

/// How often a replica is looked at.
const EVERY: Duration = Duration::from_millis(200);
/// Looks between two of what changes slowly.
const SELDOM: u32 = 5;
/// How long a page may take.
const LIMIT: Duration = Duration::from_secs(2);
const MILLISECOND: u64 = 1_000_000;

/// What the last look at each replica showed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sight(Arc<Mutex<Vec<Option<StatusReply>>>>);

/// Who looks at one replica.
pub(crate) struct Observer {
    /// Which one.
    pub(crate) replica: Replica,
    /// Its admin port.
    pub(crate) admin: SocketAddr,
    /// What it logs.
    pub(crate) log: PathBuf,
    /// Where the history is written.
    pub(crate) recorder: Recorder,
    /// Where others see what was seen.
    pub(crate) sight: Sight,
}

/// What an observer remembers from look to look.
#[derive(Default)]
struct Memory {
    /// The newest revision whose digests were seen.
    known: u64,
    uptime_ms: u64,
    role: Option<(RoleKind, u64)>,
    read: u64,
    /// The begin of a line that was not whole.
    rest: String,
}

// === impl Sight ===

impl Sight {
    /// Of nothing yet.
    pub(crate) fn of(replicas: usize) -> Self {
        Self(Arc::new(Mutex::new(vec![None; replicas])))
    }

    fn set(&self, replica: Replica, status: Option<StatusReply>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = all.get_mut(usize::from(replica.0) - 1) {
            *slot = status;
        }
    }

    /// The place of who leads, by the newest term.
    pub(crate) fn leader(&self) -> Option<usize> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let leading = all.iter().enumerate().filter_map(|(place, status)| {
            let status = status.as_ref()?;
            (status.role() == RoleTold::Leader).then_some((status.term, place))
        });
        leading.max().map(|(_, place)| place)
    }

    /// Whether every replica is fresh, and votes.
    pub(crate) fn is_whole(&self) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let state =
            |status: &Option<StatusReply>| Some(status.as_ref()?.freshness.as_ref()?.state());
        let voters = all.iter().flatten().map(|status| {
            let members = status.members.iter();
            members.filter(|member| member.voter).count()
        });
        all.iter().all(|status| state(status) == Some(State::Fresh))
            && voters.max() == Some(all.len())
    }
}

// === impl Observer ===

impl Observer {
    /// Looks until dropped.
    pub(crate) async fn observe(self) {
        let Ok(mut operator) = Operator::new(self.admin) else {
            return;
        };
        let mut memory = Memory::default();
        for look in 0_u32.. {
            let asked_at = self.recorder.now();
            let status = operator.status().await.ok();
            if let Some(status) = &status {
                self.status(status, asked_at, &mut memory);
                if look % SELDOM == 0 {
                    self.recorder.saw(self.replica, resources(status));
                    self.metrics().await;
                }
                self.digests(&mut operator, &mut memory).await;
            }
            self.sight.set(self.replica, status);
            self.read_log(&mut memory);
            sleep(EVERY).await;
        }
    }

    fn status(&self, status: &StatusReply, asked_at: u64, memory: &mut Memory) {
        let resources = status.resources.as_ref();
        let uptime_ms = resources.map_or(0, |resources| resources.uptime_ms);
        if uptime_ms < memory.uptime_ms {
            // Another life: what it replays is looked at again.
            memory.known = 0;
            memory.role = None;
        }
        memory.uptime_ms = uptime_ms;
        if let Some(role) = role(status).filter(|role| memory.role != Some((*role, status.term))) {
            memory.role = Some((role, status.term));
            let (replica, term) = (self.replica, status.term);
            let seen = Seen::Role(Role {
                replica,
                term,
                role,
            });
            self.recorder.saw(replica, seen);
        }
        if let Some(claim) = claim(self.replica, status, asked_at) {
            self.recorder.saw(self.replica, Seen::Claim(claim));
        }
    }

    async fn digests(&self, operator: &mut Operator, memory: &mut Memory) {
        let Ok(positions) = operator.digests(memory.known + 1).await else {
            return;
        };
        for position in positions {
            memory.known = memory.known.max(position.revision);
            if let Some((rev, sigma, chi)) = place(&position) {
                let applied = position.applied.unwrap_or_default();
                let seen = Seen::Digest(Observed {
                    replica: self.replica,
                    rev,
                    sigma,
                    chi,
                    term: applied.term,
                    applied: applied.index,
                });
                self.recorder.saw(self.replica, seen);
            }
        }
    }

    /// What the metrics say of freshness.
    async fn metrics(&self) {
        let asked_at = self.recorder.now();
        let Some(page) = page(self.admin, "/metrics").await else {
            return;
        };
        let gauge = |name: &str| {
            let mut lines = page.lines().filter_map(|line| line.strip_prefix(name));
            lines.find_map(|rest| rest.strip_prefix(' ')?.trim().parse::<f64>().ok())
        };
        let Some(stale) = gauge("lockstep_stale") else {
            return;
        };
        let claim = Claim {
            replica: self.replica,
            surface: Surface::Metrics,
            asked_at,
            fresh: stale < 0.5,
            source_fresh: gauge("lockstep_source_stale").map(|stale| stale < 0.5),
            ready: None,
            rev: None,
            age: None,
        };
        self.recorder.saw(self.replica, Seen::Claim(claim));
    }

    /// Lines that only a bug writes.
    fn read_log(&self, memory: &mut Memory) {
        let Ok(mut file) = File::open(&self.log) else {
            return;
        };
        let mut text = Vec::new();
        if file.seek(SeekFrom::Start(memory.read)).is_err() {
            return;
        }
        let Ok(read) = file.read_to_end(&mut text) else {
            return;
        };
        memory.read += read as u64;
        memory.rest += &String::from_utf8_lossy(&text);
        while let Some((line, rest)) = memory.rest.split_once('\n') {
            if is_suspicious(line) {
                let line = line.to_owned();
                self.recorder.saw(self.replica, Seen::LogLine(line));
            }
            memory.rest = rest.to_owned();
        }
    }
}

/// A page of a replica's admin port, if it is there in time.
async fn page(admin: SocketAddr, path: &str) -> Option<String> {
    let fetch = async {
        let mut stream = TcpStream::connect(admin).await.ok()?;
        let request = format!("GET {path} HTTP/1.0\r\nHost: lab\r\n\r\n");
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.ok()?;
        Some(answer)
    };
    timeout(LIMIT, fetch).await.ok().flatten()
}

fn role(status: &StatusReply) -> Option<RoleKind> {
    match status.role() {
        RoleTold::Leader => Some(RoleKind::Leader),
        RoleTold::Follower => Some(RoleKind::Follower),
        RoleTold::Learner => Some(RoleKind::Learner),
        RoleTold::Unspecified => None,
    }
}

/// Revision and both digests; nothing before bootstrap.
pub(crate) fn place(position: &Position) -> Option<(Rev, Digest, Digest)> {
    let history: Digest = position.history.parse().ok()?;
    let rev = Rev::new(history.0, position.revision);
    let sigma = position.state_digest.parse().ok()?;
    let chi = position.path_digest.parse().ok()?;
    (history.0 != 0).then_some((rev, sigma, chi))
}

fn claim(replica: Replica, status: &StatusReply, asked_at: u64) -> Option<Claim> {
    let told = status.freshness.as_ref()?;
    let state = told.state();
    let fresh = matches!(state, State::Fresh | State::SourceStale);
    let known = fresh && told.source_age_ms.is_some();
    // It is told in whole milliseconds, and was as much as one more.
    let age_ms = told.age_ms.map(|age| (age + 1).min(told.limit_ms.max(age)));
    let position = status.position.as_ref().and_then(place);
    Some(Claim {
        replica,
        surface: Surface::Status,
        asked_at,
        fresh,
        source_fresh: known.then_some(state == State::Fresh),
        ready: Some(told.ready),
        rev: position.map(|(rev, _, _)| rev).filter(|rev| rev.number > 0),
        age: age_ms.map(|age| age * MILLISECOND),
    })
}

fn resources(status: &StatusReply) -> Seen {
    let used = status.resources.unwrap_or_default();
    let streams = status.streams.unwrap_or_default();
    Seen::Resources(Resources {
        rss_bytes: Some(used.memory_bytes),
        fds: None,
        streams: Some(streams.get + streams.get_profile),
        pending_max: None,
        proposals: None,
        disk_bytes: Some(used.log_bytes + used.snapshot_bytes),
    })
}

/// The last read of a replica.
pub(crate) fn last(replica: Replica, status: &StatusReply) -> Option<Final> {
    let (rev, sigma, chi) = place(status.position.as_ref()?)?;
    Some(Final {
        replica,
        rev,
        sigma,
        chi,
        elements: None,
    })
}
