//! The options of `serve`, before they are judged: flags with their environment.

use clap::{ArgAction, Args, ValueEnum};
use std::path::PathBuf;

use crate::number::whole;

/// How the verbs end that run replicas.
pub(crate) const EXIT_CODES: &str = "\
Exit codes: 0 it was stopped by Ctrl-C or SIGTERM; 2 it could not start, or a part of it failed.";

/// `lockstep serve`.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = EXIT_CODES)]
pub struct ServeOptions {
    /// A TOML file whose keys are the names of these flags; flags and environment win over it
    #[arg(long, env = "LOCKSTEP_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// This replica's name, one of --peers
    #[arg(long, env = "LOCKSTEP_NAME")]
    pub name: String,
    /// The cluster's name; replicas of another cluster are refused
    #[arg(long, env = "LOCKSTEP_CLUSTER", default_value = "lockstep")]
    pub cluster: String,
    /// The data folder; made on first use
    #[arg(long, env = "LOCKSTEP_DATA", value_name = "DIR")]
    pub data: PathBuf,
    /// Every replica, this one included, in the same order everywhere
    #[arg(
        long,
        env = "LOCKSTEP_PEERS",
        value_delimiter = ',',
        required = true,
        value_name = "NAME=HOST:PORT"
    )]
    pub peers: Vec<String>,
    /// What a replica does that cannot show that it is fresh and sees no other that can
    #[arg(
        long,
        env = "LOCKSTEP_STALENESS_POLICY",
        default_value = "serve",
        value_enum,
        value_name = "POLICY"
    )]
    pub staleness_policy: StalenessPolicyOption,
    /// Where this replica listens.
    #[command(flatten)]
    pub listen: ListenOptions,
    /// Where the facts come from.
    #[command(flatten)]
    pub source: SourceOptions,
    /// What decides answers.
    #[command(flatten)]
    pub mesh: MeshOptions,
    /// How the log is kept.
    #[command(flatten)]
    pub tuning: TuningOptions,
    /// How it logs.
    #[command(flatten)]
    pub log: LogOptions,
}

/// What a stale replica does, as a flag.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum StalenessPolicyOption {
    /// Answer with what it has, marked as stale
    Serve,
    /// Refuse new streams, let open ones go, and not be ready
    Refuse,
}

/// Where a replica listens.
#[derive(Clone, Debug, Args)]
pub struct ListenOptions {
    /// Where peers reach this replica
    #[arg(
        long,
        env = "LOCKSTEP_PEER_LISTEN",
        default_value = "0.0.0.0:8087",
        value_name = "IP:PORT"
    )]
    pub peer_listen: String,
    /// Where proxies reach this replica
    #[arg(
        long,
        env = "LOCKSTEP_PROXY_LISTEN",
        default_value = "0.0.0.0:8086",
        value_name = "IP:PORT"
    )]
    pub proxy_listen: String,
    /// Where operators reach this replica
    #[arg(
        long,
        env = "LOCKSTEP_ADMIN_LISTEN",
        default_value = "0.0.0.0:9996",
        value_name = "IP:PORT"
    )]
    pub admin_listen: String,
}

/// Where the facts come from.
#[derive(Clone, Debug, Default, Args)]
pub struct SourceOptions {
    /// A kubeconfig file; without it and --manifests: $KUBECONFIG, ~/.kube/config, or the pod's own
    /// service account
    #[arg(long, env = "LOCKSTEP_KUBECONFIG", value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// A folder of Kubernetes manifests instead of a cluster
    #[arg(
        long,
        env = "LOCKSTEP_MANIFESTS",
        value_name = "DIR",
        conflicts_with = "kubeconfig"
    )]
    pub manifests: Option<PathBuf>,
}

/// What decides answers. The leader's values are replicated; equal flags on
/// all replicas keep a change of leader from changing an answer.
#[derive(Clone, Debug, Args)]
pub struct MeshOptions {
    /// The suffix of service names after `svc`
    #[arg(
        long,
        env = "LOCKSTEP_CLUSTER_DOMAIN",
        default_value = "cluster.local",
        value_name = "DOMAIN"
    )]
    pub cluster_domain: String,
    /// The namespace of the mesh's control plane
    #[arg(
        long,
        env = "LOCKSTEP_CONTROLLER_NAMESPACE",
        default_value = "linkerd",
        value_name = "NAMESPACE"
    )]
    pub controller_namespace: String,
    /// The suffix of workload identities; empty for none
    #[arg(
        long,
        env = "LOCKSTEP_IDENTITY_TRUST_DOMAIN",
        default_value = "cluster.local",
        value_name = "DOMAIN"
    )]
    pub identity_trust_domain: String,
    /// Ports that are opaque unless a pod or service says otherwise
    #[arg(
        long,
        env = "LOCKSTEP_DEFAULT_OPAQUE_PORTS",
        default_value = "25,587,3306,4444,5432,6379,9300,11211",
        value_name = "PORT|FIRST-LAST,…"
    )]
    pub default_opaque_ports: String,
    /// How clients reach meshed endpoints
    #[arg(
        long,
        env = "LOCKSTEP_OUTBOUND_TRANSPORT_MODE",
        default_value = "transport-header",
        value_enum,
        value_name = "MODE"
    )]
    pub outbound_transport_mode: TransportModeOption,
    /// Whether meshed endpoints are hinted to speak HTTP/2
    #[arg(long, env = "LOCKSTEP_ENABLE_H2_UPGRADE", default_value_t = true, action = ArgAction::Set, value_name = "true|false")]
    pub enable_h2_upgrade: bool,
    /// Whether IPv6 addresses of pods are sent
    #[arg(long, env = "LOCKSTEP_ENABLE_IPV6", default_value_t = true, action = ArgAction::Set, value_name = "true|false")]
    pub enable_ipv6: bool,
    /// Whether endpoints in the client's zone weigh ten times as much
    #[arg(long, env = "LOCKSTEP_EXT_ENDPOINT_ZONE_WEIGHTS", default_value_t = false, action = ArgAction::Set, value_name = "true|false")]
    pub ext_endpoint_zone_weights: bool,
    /// HTTP/2 parameters of clients of meshed endpoints, as JSON
    #[arg(long, env = "LOCKSTEP_MESHED_HTTP2_CLIENT_PARAMS", value_name = "JSON")]
    pub meshed_http2_client_params: Option<String>,
    /// What Linkerd's controller does not do.
    #[command(flatten)]
    pub beyond: BeyondOptions,
}

/// What Linkerd's controller does not do, and nobody gets who does not ask for it.
#[derive(Clone, Debug, Args)]
pub struct BeyondOptions {
    /// Whether hints for nodes (`hints.forNodes`) count before hints for zones
    #[arg(long, env = "LOCKSTEP_ENDPOINT_NODE_HINTS", default_value_t = false, action = ArgAction::Set, value_name = "true|false")]
    pub endpoint_node_hints: bool,
    /// Whether endpoints that still serve while they terminate are the last resort when nothing is
    /// ready
    #[arg(long, env = "LOCKSTEP_SERVE_TERMINATING_ENDPOINTS", default_value_t = false, action = ArgAction::Set, value_name = "true|false")]
    pub serve_terminating_endpoints: bool,
    /// Whether services that do not exist are answered as empty and followed, not refused as not
    /// found
    #[arg(long, env = "LOCKSTEP_ANSWER_ABSENT_SERVICES", default_value_t = false, action = ArgAction::Set, value_name = "true|false")]
    pub answer_absent_services: bool,
}

/// How clients reach meshed endpoints, as a flag.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum TransportModeOption {
    /// Straight to the application's port
    Transparent,
    /// Through the proxy's inbound port
    TransportHeader,
}

/// How the log is kept.
#[derive(Clone, Debug, Args)]
pub struct TuningOptions {
    /// Entries after which a snapshot is taken
    #[arg(long, env = "LOCKSTEP_SNAPSHOT_AFTER", default_value_t = 10_000, value_parser = whole(10_u64..=1_000_000), value_name = "ENTRIES")]
    pub snapshot_after: u64,
    /// Entries kept behind a snapshot for followers that are a little late
    #[arg(long, env = "LOCKSTEP_SNAPSHOT_KEEP", default_value_t = 1_000, value_parser = whole(0_u64..=1_000_000), value_name = "ENTRIES")]
    pub snapshot_keep: u64,
    /// How often a leader makes itself heard; elections take three to six times as long
    #[arg(long, env = "LOCKSTEP_HEARTBEAT_MS", default_value_t = 100, value_parser = whole(20_u64..=5_000), value_name = "MS")]
    pub heartbeat_ms: u64,
}

/// How it logs.
#[derive(Clone, Debug, Args)]
pub struct LogOptions {
    /// Which lines: off, error, warn, info, debug, trace, or `crate=level,…`
    #[arg(
        long,
        env = "LOCKSTEP_LOG_LEVEL",
        default_value = "info",
        value_name = "LEVEL"
    )]
    pub log_level: String,
    /// Lines for people or for machines
    #[arg(
        long,
        env = "LOCKSTEP_LOG_FORMAT",
        default_value = "text",
        value_enum,
        value_name = "FORMAT"
    )]
    pub log_format: LogFormat,
}

/// The form of log lines.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people
    Text,
    /// One JSON object a line
    Json,
}
