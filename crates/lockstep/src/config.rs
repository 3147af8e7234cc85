//! The options of one replica after they were judged.

use lockstep_model::Settings;
use lockstep_raft::PeerAddress;
use lockstep_replica::StalenessPolicy;
use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    SourceConfig,
    options::{ListenOptions, ServeOptions, StalenessPolicyOption, TuningOptions},
    settings::{InvalidSettings, settings},
};

/// Everything one replica needs to start.
#[derive(Clone, Debug)]
pub struct ServeConfig {
    /// This replica's name, one of `peers`.
    pub name: String,
    /// The cluster's name.
    pub cluster: String,
    /// The data folder.
    pub data: PathBuf,
    /// Every replica, this one included.
    pub peers: Vec<PeerAddress>,
    /// What it does when it is stale.
    pub staleness: StalenessPolicy,
    /// Where it listens.
    pub endpoints: Endpoints,
    /// Where facts come from.
    pub source: SourceConfig,
    /// What decides answers.
    pub settings: Settings,
    /// How the log is kept.
    pub tuning: Tuning,
}

/// Where one replica listens. Port 0 takes any free port.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Endpoints {
    /// For peers.
    pub peer: SocketAddr,
    /// For proxies.
    pub proxy: SocketAddr,
    /// For operators.
    pub admin: SocketAddr,
}

/// How the log is kept and how patient the group is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Entries after which a snapshot is taken.
    pub snapshot_after: u64,
    /// Entries kept behind a snapshot.
    pub snapshot_keep: u64,
    /// How often a leader makes itself heard.
    pub heartbeat: Duration,
    /// How long a leader may be without its source before it hands the lead to a replica
    /// that has it.
    pub source_patience: Duration,
    /// Time between two audits of the source by the leader, about.
    pub audit_interval: Duration,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            snapshot_after: 10_000,
            snapshot_keep: 1_000,
            heartbeat: Duration::from_millis(100),
            source_patience: Duration::from_secs(30),
            audit_interval: Duration::from_secs(30 * 60),
        }
    }
}

/// Why the options of a replica cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// An address to listen on is none.
    #[error("--{flag}: `{text}` is not IP:PORT, such as 0.0.0.0:8086")]
    Address {
        /// The flag.
        flag: &'static str,
        /// What it said.
        text: String,
    },
    /// A peer is not written as it should be.
    #[error("--peers: `{0}` is not NAME=HOST:PORT, such as replica-1=10.0.0.1:8087")]
    Peer(String),
    /// Two peers have one name, or one address.
    #[error("--peers: `{0}` is named twice")]
    PeerTwice(String),
    /// The replica is not among its peers.
    #[error("--name: `{name}` is not one of --peers: {peers}")]
    NotAPeer {
        /// The name.
        name: String,
        /// The names there are.
        peers: String,
    },
    /// A name is empty or too long.
    #[error("--{flag}: `{text}` must have 1 to 63 letters, digits, dots, dashes or underscores")]
    Name {
        /// The flag.
        flag: &'static str,
        /// What it said.
        text: String,
    },
    /// A setting of the mesh cannot be used.
    #[error(transparent)]
    Settings(#[from] InvalidSettings),
}

// === impl ServeConfig ===

impl TryFrom<ServeOptions> for ServeConfig {
    type Error = ConfigError;

    fn try_from(options: ServeOptions) -> Result<Self, ConfigError> {
        check_name("name", &options.name)?;
        check_name("cluster", &options.cluster)?;
        let peers = parse_peers(&options.peers)?;
        if !peers.iter().any(|peer| peer.name == options.name) {
            let names: Vec<&str> = peers.iter().map(|peer| peer.name.as_str()).collect();
            return Err(ConfigError::NotAPeer {
                name: options.name,
                peers: names.join(", "),
            });
        }
        Ok(Self {
            name: options.name,
            cluster: options.cluster,
            // A bare name has no parent whose names could be made durable.
            data: Path::new(".").join(options.data),
            peers,
            staleness: options.staleness_policy.into(),
            endpoints: parse_listen(&options.listen)?,
            source: options.source.into(),
            settings: settings(&options.mesh)?,
            tuning: options.tuning.into(),
        })
    }
}

impl From<StalenessPolicyOption> for StalenessPolicy {
    fn from(option: StalenessPolicyOption) -> Self {
        match option {
            StalenessPolicyOption::Serve => Self::Serve,
            StalenessPolicyOption::Refuse => Self::Refuse,
        }
    }
}

impl From<TuningOptions> for Tuning {
    fn from(options: TuningOptions) -> Self {
        Self {
            snapshot_after: options.snapshot_after,
            snapshot_keep: options.snapshot_keep,
            heartbeat: Duration::from_millis(options.heartbeat_ms),
            ..Self::default()
        }
    }
}

fn parse_listen(options: &ListenOptions) -> Result<Endpoints, ConfigError> {
    let parse = |flag, text: &str| {
        text.parse().map_err(|_| ConfigError::Address {
            flag,
            text: text.to_owned(),
        })
    };
    Ok(Endpoints {
        peer: parse("peer-listen", &options.peer_listen)?,
        proxy: parse("proxy-listen", &options.proxy_listen)?,
        admin: parse("admin-listen", &options.admin_listen)?,
    })
}

fn parse_peers(texts: &[String]) -> Result<Vec<PeerAddress>, ConfigError> {
    let mut peers: Vec<PeerAddress> = Vec::with_capacity(texts.len());
    for text in texts {
        let peer = parse_peer(text).ok_or_else(|| ConfigError::Peer(text.clone()))?;
        for other in &peers {
            if other.name == peer.name {
                return Err(ConfigError::PeerTwice(peer.name));
            }
            if other.address == peer.address {
                return Err(ConfigError::PeerTwice(peer.address));
            }
        }
        peers.push(peer);
    }
    Ok(peers)
}

fn parse_peer(text: &str) -> Option<PeerAddress> {
    let (name, address) = text.split_once('=')?;
    let address: lockstep_cli::Address = address.parse().ok()?;
    is_name(name).then(|| PeerAddress {
        name: name.to_owned(),
        address: address.to_string(),
    })
}

fn check_name(flag: &'static str, text: &str) -> Result<(), ConfigError> {
    if is_name(text) {
        Ok(())
    } else {
        Err(ConfigError::Name {
            flag,
            text: text.to_owned(),
        })
    }
}

fn is_name(text: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    (1..=63).contains(&text.len()) && text.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Args, Command};
    use clap::Parser;

    fn config(flags: &[&str]) -> Result<ServeConfig, String> {
        let mut line = vec!["lockstep", "serve"];
        let defaults = ["--name=a", "--data=d", "--peers=a=h:1,b=h:2"];
        let given = |default: &&str| {
            let name = default.split('=').next().unwrap_or_default();
            flags
                .iter()
                .any(|flag| flag.starts_with(&format!("{name}=")))
        };
        line.extend(defaults.iter().filter(|default| !given(default)));
        line.extend(flags);
        match Args::try_parse_from(line)
            .map_err(|error| error.to_string())?
            .command
        {
            Command::Serve(options) => {
                ServeConfig::try_from(*options).map_err(|error| error.to_string())
            }
            Command::Dev(_) | Command::Ask(_) => Err("another verb".to_owned()),
        }
    }

    #[test]
    fn the_defaults_are_those_of_the_statefulset() {
        let config = config(&[]).unwrap();
        assert_eq!(config.endpoints.proxy, "0.0.0.0:8086".parse().unwrap());
        assert_eq!(config.settings, Settings::default());
        assert_eq!(config.tuning, Tuning::default());
        assert_eq!(config.staleness, StalenessPolicy::Serve);
        assert_eq!(config.peers.len(), 2);
    }

    #[test]
    fn staleness_is_refused_when_that_is_asked_for() {
        let config = config(&["--staleness-policy=refuse"]).unwrap();
        assert_eq!(config.staleness, StalenessPolicy::Refuse);
    }

    #[test]
    fn the_data_folder_always_has_a_parent() {
        for data in ["d", "./d", "/d", "e/d"] {
            let config = config(&[&format!("--data={data}")]).unwrap();
            let parent = config.data.parent().unwrap();
            assert_ne!(parent, Path::new(""), "{data}");
        }
    }

    #[test]
    fn a_peer_may_be_an_ipv6_address() {
        let config = config(&["--peers=a=[::1]:8087"]).unwrap();
        assert_eq!(config.peers.first().unwrap().address, "[::1]:8087");
    }

    #[test]
    fn no_trust_domain_is_a_choice() {
        assert!(config(&["--identity-trust-domain="]).is_ok());
    }

    #[test]
    fn what_linkerd_does_not_do_is_off_until_asked_for() {
        let settings = |flags: &[&str]| config(flags).unwrap().settings;
        let default = Settings::default();
        assert!(!default.node_hints && !default.serve_terminating && !default.answer_absent);
        let node_hints = Settings {
            node_hints: true,
            ..default.clone()
        };
        assert_eq!(settings(&["--endpoint-node-hints=true"]), node_hints);
        let serve_terminating = Settings {
            serve_terminating: true,
            ..default.clone()
        };
        let flag = "--serve-terminating-endpoints=true";
        assert_eq!(settings(&[flag]), serve_terminating);
        let answer_absent = Settings {
            answer_absent: true,
            ..default.clone()
        };
        assert_eq!(settings(&["--answer-absent-services=true"]), answer_absent);
        let off = [
            "--answer-absent-services=false",
            "--endpoint-node-hints=false",
            "--serve-terminating-endpoints=false",
        ];
        assert_eq!(settings(&off), default);
    }

    #[test]
    fn what_clap_refuses_names_the_flag_and_what_it_may_be() {
        for (flag, error) in [
            (
                "--snapshot-after=9",
                "error: invalid value '9' for '--snapshot-after <ENTRIES>': must be a whole \
                 number from 10 to 1000000",
            ),
            (
                "--snapshot-keep=many",
                "error: invalid value 'many' for '--snapshot-keep <ENTRIES>': must be a whole \
                 number from 0 to 1000000",
            ),
            (
                "--heartbeat-ms=5001",
                "error: invalid value '5001' for '--heartbeat-ms <MS>': must be a whole number \
                 from 20 to 5000",
            ),
            (
                "--outbound-transport-mode=tcp",
                "error: invalid value 'tcp' for '--outbound-transport-mode <MODE>'\n  \
                 [possible values: transparent, transport-header]",
            ),
            (
                "--enable-ipv6=maybe",
                "error: invalid value 'maybe' for '--enable-ipv6 <true|false>'\n  \
                 [possible values: true, false]",
            ),
            (
                "--endpoint-node-hints=1",
                "error: invalid value '1' for '--endpoint-node-hints <true|false>'\n  \
                 [possible values: true, false]",
            ),
            (
                "--serve-terminating-endpoints=",
                "error: a value is required for '--serve-terminating-endpoints <true|false>' but \
                 none was supplied\n  [possible values: true, false]",
            ),
            (
                "--staleness-policy=maybe",
                "error: invalid value 'maybe' for '--staleness-policy <POLICY>'\n  \
                 [possible values: serve, refuse]",
            ),
            (
                "--log-format=xml",
                "error: invalid value 'xml' for '--log-format <FORMAT>'\n  \
                 [possible values: text, json]",
            ),
        ] {
            let text = config(&[flag]).map(|_| ()).unwrap_err();
            assert!(text.starts_with(error), "{text}");
        }
    }

    #[test]
    fn each_bad_flag_is_named_with_what_it_may_be() {
        for (flag, error) in [
            (
                "--peers=a",
                "--peers: `a` is not NAME=HOST:PORT, such as replica-1=10.0.0.1:8087",
            ),
            (
                "--peers=a=h",
                "--peers: `a=h` is not NAME=HOST:PORT, such as replica-1=10.0.0.1:8087",
            ),
            (
                "--peers=a=h:0",
                "--peers: `a=h:0` is not NAME=HOST:PORT, such as replica-1=10.0.0.1:8087",
            ),
            (
                "--peers=a=http://h:1",
                "--peers: `a=http://h:1` is not NAME=HOST:PORT, such as replica-1=10.0.0.1:8087",
            ),
            ("--peers=a=h:1,a=h:2", "--peers: `a` is named twice"),
            ("--peers=a=h:1,b=h:1", "--peers: `h:1` is named twice"),
            (
                "--name=",
                "--name: `` must have 1 to 63 letters, digits, dots, dashes or underscores",
            ),
            ("--name=c", "--name: `c` is not one of --peers: a, b"),
            (
                "--cluster=not/a/name",
                "--cluster: `not/a/name` must have 1 to 63 letters, digits, dots, dashes or underscores",
            ),
            (
                "--proxy-listen=8086",
                "--proxy-listen: `8086` is not IP:PORT, such as 0.0.0.0:8086",
            ),
            (
                "--peer-listen=localhost:8087",
                "--peer-listen: `localhost:8087` is not IP:PORT, such as 0.0.0.0:8086",
            ),
            (
                "--admin-listen=[::1]:99999",
                "--admin-listen: `[::1]:99999` is not IP:PORT, such as 0.0.0.0:8086",
            ),
            (
                "--cluster-domain=cluster..local",
                "--cluster-domain: `cluster..local` is not a domain such as cluster.local",
            ),
            (
                "--cluster-domain=",
                "--cluster-domain: `` is not a domain such as cluster.local",
            ),
            (
                "--identity-trust-domain=a b",
                "--identity-trust-domain: `a b` is not a domain such as cluster.local",
            ),
            (
                "--controller-namespace=",
                "--controller-namespace: `` is not a namespace such as linkerd",
            ),
            (
                "--meshed-http2-client-params={",
                "--meshed-http2-client-params: EOF while parsing an object at line 1 column 1",
            ),
            (
                "--default-opaque-ports=25,http",
                "--default-opaque-ports: `http` is neither a port (0 to 65535) nor a range of ports \
                 such as `4000-4100`",
            ),
        ] {
            assert_eq!(config(&[flag]).map(|_| ()), Err(error.to_owned()), "{flag}");
        }
    }
}
