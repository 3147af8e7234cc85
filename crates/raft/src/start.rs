//! Starting a node: checks, recovery, then the tasks.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use lockstep_storage::{DataFolder, OpenAs, StorageError};
use openraft::SnapshotPolicy;

use crate::config::MESSAGE_OVERHEAD_BYTES;
use crate::library::Raft;
use crate::log_store::LogAdapter;
use crate::machine_store::MachineStore;
use crate::node::Inner;
use crate::notice::Notices;
use crate::peer::{Address, Horizon, Matched, Network, PeerServer, Peers};
use crate::read::Reads;
use crate::tasks::{self, NodeTasks, Owned};
use crate::{Config, Listen, Machine, Node, Role, StartError, Voice};

/// Entries in one message to a follower.
const APPEND_ENTRIES_MAX: u64 = 1_024;
/// What an entry takes in a message beside its payload. Unit: bytes.
const ENTRY_OVERHEAD_BYTES: u64 = 60;

// All overheads of a full message fit into the room kept for them.
const _: () = assert!(APPEND_ENTRIES_MAX * ENTRY_OVERHEAD_BYTES <= MESSAGE_OVERHEAD_BYTES as u64);

/// See [`Node::start`].
pub(crate) async fn start(
    config: Config,
    machine: Box<dyn Machine>,
    voice: Voice,
) -> Result<(Node, NodeTasks), StartError> {
    check(&config)?;
    let library_config = library_config(&config)?;
    let folder = open(&config).await?;
    let listener = bind(config.listen).await?;
    let history = OnceLock::new();
    if let Some(known) = folder.history() {
        history.get_or_init(|| known);
    }
    let address = Address {
        cluster: config.cluster.as_str().into(),
        name: config.name.as_str().into(),
        id: folder.id(),
        history: Arc::new(history),
        joins_only: folder.joins_only(),
    };
    let peers = Peers::new(address.clone(), config.limits, &config.peers);
    let (applied, applied_watch) = watch::channel(None);
    let store = MachineStore::new(machine, folder.snapshots().clone(), applied);
    let log = LogAdapter::new(folder.log().clone(), config.limits.entry_bytes_max);
    let (matched, horizon) = (Matched::default(), Horizon::default());
    let network = Network::new(peers.clone(), matched.clone(), horizon.clone());
    // Recovers everything before it returns; nothing runs yet.
    let raft = Raft::build(address.id, Arc::new(library_config), network, log, store)
        .await
        .map_err(|fatal| recovery_error(&folder, &fatal.to_string()))?;
    let notices = Notices::new();
    let (outsiders, outsiders_watch) = watch::channel(Vec::new());
    let server = PeerServer {
        notices: notices.clone(),
        horizon,
        raft: raft.clone(),
        address,
        snapshots: folder.snapshots().clone(),
        limits: config.limits,
        voice: voice.clone(),
    };
    let (reads, asker) = Reads::new(raft.clone(), peers.clone(), voice.probe);
    let (role, role_watch) = watch::channel(role_at_start(&folder));
    let stop = CancellationToken::new();
    let (stopped, stopped_watch) = watch::channel(false);
    let owned = Owned {
        raft: raft.clone(),
        folder: Arc::clone(&folder),
        peers: peers.clone(),
        matched,
        configured: config.peers.clone(),
        outsiders,
        notices: notices.clone(),
        asker,
        role,
        stop: stop.clone(),
        stopped,
    };
    let node = Node(Arc::new(Inner {
        raft,
        folder,
        peers,
        reads,
        lease: config.timing.election_max,
        role: role_watch,
        applied: applied_watch,
        configured: config.peers,
        outsiders: outsiders_watch,
        notices,
        stop,
        stopped: stopped_watch,
    }));
    Ok((node, tasks::spawn(owned, server, listener)))
}

async fn open(config: &Config) -> Result<Arc<DataFolder>, StartError> {
    let (path, cluster, name) = (
        config.data.clone(),
        config.cluster.clone(),
        config.name.clone(),
    );
    let others = config.peers.len().saturating_sub(1);
    let opened = tokio::task::spawn_blocking(move || {
        let who = OpenAs {
            cluster: &cluster,
            name: &name,
        };
        DataFolder::open(&path, who).map_err(|error| lost(&path, who, error, others))
    });
    match opened.await {
        Ok(folder) => Ok(Arc::new(folder?)),
        Err(error) => Err(StartError::Core {
            what: error.to_string(),
        }),
    }
}

/// How many other replicas can be a majority without this one.
const OTHERS_ENOUGH: usize = 2;

/// Gives a folder up that lost data, where others have what was in it.
fn lost(path: &Path, who: OpenAs<'_>, error: StorageError, others: usize) -> StartError {
    if others < OTHERS_ENOUGH {
        return StartError::Storage(error);
    }
    match DataFolder::give_up_lost(path, who, &error) {
        Ok(true) => StartError::GaveUp {
            finding: error.finding(),
        },
        // What was found first is what matters.
        Ok(false) | Err(_) => StartError::Storage(error),
    }
}

async fn bind(listen: Listen) -> Result<TcpListener, StartError> {
    match listen {
        Listen::Bound(listener) => Ok(listener),
        Listen::Address(address) => {
            TcpListener::bind(address)
                .await
                .map_err(|source| StartError::Listen {
                    address: address.to_string(),
                    source,
                })
        }
    }
}

/// Nothing is known yet but the newest term.
fn role_at_start(folder: &DataFolder) -> Role {
    let vote = folder.log().vote();
    Role::Learner {
        leader: None,
        term: vote.map(|vote| vote.term).unwrap_or_default(),
    }
}

/// The store's own error says more than what the library makes of it.
fn recovery_error(folder: &DataFolder, what: &str) -> StartError {
    match folder.log().failure() {
        Some(error) => StartError::Storage(error),
        None => StartError::Core {
            what: tasks::one_line(what),
        },
    }
}

// === checks ===

/// Refuses values that contradict each other.
fn check(config: &Config) -> Result<(), StartError> {
    check_names(config)?;
    check_numbers(config)
}

fn check_names(config: &Config) -> Result<(), StartError> {
    let length = config.cluster.len();
    require((1..=63).contains(&length), || {
        format!("the cluster's name is {length} bytes long, not 1 to 63")
    })?;
    let names: Vec<&str> = config.peers.iter().map(|peer| peer.name.as_str()).collect();
    require(names.contains(&config.name.as_str()), || {
        let names = names.join(", ");
        format!("replica `{}` is not among the peers: {names}", config.name)
    })?;
    let invalid = config
        .peers
        .iter()
        .find(|peer| !is_host_port(&peer.address));
    require(invalid.is_none(), || {
        let (name, address) = invalid.map_or(("", ""), |peer| (&peer.name, &peer.address));
        format!("the address of `{name}` is `{address}`, not `host:port`")
    })?;
    let repeated = (1..names.len()).find(|at| {
        names
            .iter()
            .take(*at)
            .any(|name| Some(name) == names.get(*at))
    });
    require(repeated.is_none(), || {
        let name = repeated.and_then(|at| names.get(at)).unwrap_or(&"");
        format!("replica `{name}` is named twice among the peers")
    })
}

fn is_host_port(address: &str) -> bool {
    let is_dialled = |uri: http::Uri| uri.host().is_some_and(|host| !host.is_empty());
    let has_port = |(_, port): (&str, &str)| port.parse::<u16>().is_ok_and(|port| port > 0);
    format!("http://{address}").parse().is_ok_and(is_dialled)
        && address.rsplit_once(':').is_some_and(has_port)
}

fn check_numbers(config: &Config) -> Result<(), StartError> {
    let (timing, limits) = (&config.timing, &config.limits);
    let heartbeat = timing.heartbeat;
    require(heartbeat >= Duration::from_millis(1), || {
        format!("the heartbeat interval is {heartbeat:?}, not at least 1 ms")
    })?;
    require(timing.election_min >= heartbeat.saturating_mul(3), || {
        let (is, least) = (timing.election_min, heartbeat.saturating_mul(3));
        format!(
            "the shortest election timeout is {is:?}, not at least three heartbeats ({least:?})"
        )
    })?;
    require(timing.election_max > timing.election_min, || {
        let (is, least) = (timing.election_max, timing.election_min);
        format!("the longest election timeout is {is:?}, not more than the shortest ({least:?})")
    })?;
    let carried = limits.entry_bytes_max.max(limits.snapshot_chunk_bytes);
    let least = carried.saturating_add(MESSAGE_OVERHEAD_BYTES);
    require(limits.message_bytes_max >= least, || {
        let is = limits.message_bytes_max;
        format!(
            "the message limit is {is} bytes, not at least {least} bytes to carry an entry or a chunk"
        )
    })?;
    require(
        limits.entry_bytes_max > 0 && limits.snapshot_chunk_bytes > 0,
        || "a limit is 0 bytes".to_owned(),
    )?;
    let after = config.compaction.snapshot_after_entries;
    require(after > 0, || {
        "snapshots are asked for after 0 entries, not at least 1".to_owned()
    })
}

fn require(is_met: bool, what: impl FnOnce() -> String) -> Result<(), StartError> {
    if is_met {
        Ok(())
    } else {
        Err(StartError::Config { what: what() })
    }
}

fn library_config(config: &Config) -> Result<openraft::Config, StartError> {
    let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let compaction = config.compaction;
    let library = openraft::Config {
        cluster_name: config.cluster.clone(),
        heartbeat_interval: millis(config.timing.heartbeat),
        election_timeout_min: millis(config.timing.election_min),
        election_timeout_max: millis(config.timing.election_max),
        max_payload_entries: APPEND_ENTRIES_MAX,
        snapshot_policy: SnapshotPolicy::LogsSinceLast(compaction.snapshot_after_entries),
        max_in_snapshot_log_to_keep: compaction.keep_entries,
        // Whoever is further behind than a whole log has a snapshot sent.
        replication_lag_threshold: compaction
            .snapshot_after_entries
            .saturating_mul(2)
            .saturating_add(compaction.keep_entries),
        enable_pre_vote: Some(true),
        // Followers hear of an entry while the leader's own disk is at work.
        broadcast_submitted_on_append: Some(true),
        // A restarted leader is elected like any other.
        enable_leader_restore: Some(false),
        ..openraft::Config::default()
    };
    library.validate().map_err(|error| StartError::Config {
        what: error.to_string(),
    })
}
