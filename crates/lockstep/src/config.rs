//! The options of one replica after they were judged.

use lockstep_model::Settings;
use lockstep_raft::PeerAddress;
use std::{net::SocketAddr, path::PathBuf, time::Duration};

use crate::{
    SourceConfig,
    options::{ListenOptions, ServeOptions, TuningOptions},
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
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            snapshot_after: 10_000,
            snapshot_keep: 1_000,
            heartbeat: Duration::from_millis(100),
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
    /// Two peers have one name.
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
        let peers = parse_peers(&options.peers)?;
        check_name("name", &options.name)?;
        check_name("cluster", &options.cluster)?;
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
            data: options.data,
            peers,
            endpoints: parse_listen(&options.listen)?,
            source: options.source.into(),
            settings: settings(&options.mesh)?,
            tuning: options.tuning.into(),
        })
    }
}

impl From<TuningOptions> for Tuning {
    fn from(options: TuningOptions) -> Self {
        Self {
            snapshot_after: options.snapshot_after,
            snapshot_keep: options.snapshot_keep,
            heartbeat: Duration::from_millis(options.heartbeat_ms),
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
        if peers.iter().any(|other| other.name == peer.name) {
            return Err(ConfigError::PeerTwice(peer.name));
        }
        peers.push(peer);
    }
    Ok(peers)
}

fn parse_peer(text: &str) -> Option<PeerAddress> {
    let (name, address) = text.split_once('=')?;
    let (host, port) = address.rsplit_once(':')?;
    let port: u16 = port.parse().ok()?;
    let plausible = is_name(name) && !host.is_empty() && port > 0;
    plausible.then(|| PeerAddress {
        name: name.to_owned(),
        address: address.to_owned(),
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
        assert_eq!(config.peers.len(), 2);
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
            ("--peers=a=h:1,a=h:2", "--peers: `a` is named twice"),
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
                "--default-opaque-ports=25,http",
                "--default-opaque-ports: `http` is neither a port (0 to 65535) nor a range of ports \
                 such as `4000-4100`",
            ),
        ] {
            assert_eq!(config(&[flag]).map(|_| ()), Err(error.to_owned()), "{flag}");
        }
    }
}
