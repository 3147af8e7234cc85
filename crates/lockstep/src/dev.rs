//! `lockstep dev`: three replicas in one process, for people who want to see it work.

use anyhow::Context;
use clap::Args;
use lockstep_catalog::FactSource;
use lockstep_raft::Role;
use lockstep_replica::Replica;
use std::{
    convert::Infallible,
    future::Future,
    io::Write,
    net::SocketAddr,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    Group, GroupConfig, ServeError, Source, SourceConfig,
    config::Endpoints,
    fresh,
    greeting::{Greeting, Ports, Up, example_authority},
    group::replica_name,
    logging,
    number::whole,
    options::{EXIT_CODES, LogFormat, LogOptions},
    running::Others,
    sample, shutdown,
};

/// The port numbers of two replicas are this far apart.
const STEP: u16 = 100;
const REPLICAS: u16 = 3;
const FIRST_PROXY_PORT: u16 = 8086;
/// The admin port's distance from the proxy port, so that the first one is 9996.
const ADMIN_DISTANCE: u16 = 9996 - FIRST_PROXY_PORT;
const FIRST_PROXY_PORT_MAX: u16 = 63_000;
/// How long people wait before they are told what for.
const PATIENCE: Duration = Duration::from_secs(5);

const _: () = assert!(FIRST_PROXY_PORT_MAX + (REPLICAS - 1) * STEP <= u16::MAX - ADMIN_DISTANCE);

/// Flags of `lockstep dev`.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = EXIT_CODES)]
pub(crate) struct DevArgs {
    /// A folder of Kubernetes manifests to follow
    ///
    /// Default: the sample in examples/shop, or outside the project a copy of it below --data.
    #[arg(
        long,
        env = "LOCKSTEP_MANIFESTS",
        value_name = "DIR",
        conflicts_with = "kubeconfig"
    )]
    manifests: Option<PathBuf>,
    /// A kubeconfig file: follows its cluster instead of a folder
    #[arg(long, env = "LOCKSTEP_KUBECONFIG", value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The folder that holds the data of the replicas
    #[arg(long, default_value = "lockstep-dev", value_name = "DIR")]
    data: PathBuf,
    /// Starts with empty data folders
    #[arg(long)]
    fresh: bool,
    /// The first replica's proxy port
    ///
    /// The others follow in steps of 100; the peer ports are one above, the admin ports 1910 above.
    #[arg(
        long,
        default_value_t = FIRST_PROXY_PORT,
        value_parser = whole(1024..=FIRST_PROXY_PORT_MAX)
    )]
    port: u16,
    /// Which lines: off, error, warn, info, debug, trace, or `crate=level,…`
    #[arg(
        long,
        env = "LOCKSTEP_LOG_LEVEL",
        default_value = "warn",
        value_name = "LEVEL"
    )]
    log_level: String,
}

/// Runs `lockstep dev` until Ctrl-C or a failure.
pub(crate) async fn run(args: DevArgs) -> anyhow::Result<()> {
    let started = Instant::now();
    logging::start(&LogOptions {
        log_level: args.log_level.clone(),
        log_format: LogFormat::Text,
    })?;
    if args.fresh {
        fresh::empty(&args.data, usize::from(REPLICAS))?;
    }
    let source = source_config(&args)?;
    let opened = Arc::new(Source::open(&source).await?);
    let config = GroupConfig {
        endpoints: (0..REPLICAS)
            .map(|number| endpoints(args.port, number))
            .collect(),
        ..GroupConfig::on_free_ports(0, args.data.clone(), source)
    };
    let group = Group::start(config, opened.clone()).await;
    let group = group.map_err(|error| not_started(error, &args))?;
    let replicas = group.replicas.iter();
    let replicas: Vec<(Replica, Endpoints)> = replicas
        .map(|running| (running.replica().clone(), running.endpoints()))
        .collect();
    let greet = async move {
        let source = opened.describe();
        until_ready(&replicas, &source).await;
        greet(&replicas, &source, &args, started.elapsed());
        std::future::pending::<Infallible>().await
    };
    run_until_the_first_ends(group, greet).await
}

fn source_config(args: &DevArgs) -> anyhow::Result<SourceConfig> {
    match (&args.manifests, &args.kubeconfig) {
        (Some(folder), _) => Ok(SourceConfig::Manifests(folder.clone())),
        (None, Some(file)) => Ok(SourceConfig::Kubernetes(Some(file.clone()))),
        (None, None) => {
            let folder = sample::folder(&args.data);
            let folder = folder.with_context(|| {
                format!("cannot write the sample below {}", args.data.display())
            })?;
            Ok(SourceConfig::Manifests(folder))
        }
    }
}

fn endpoints(first: u16, number: u16) -> Endpoints {
    let at = |port| SocketAddr::from(([127, 0, 0, 1], port));
    let proxy = first + number * STEP;
    Endpoints {
        proxy: at(proxy),
        peer: at(proxy + 1),
        admin: at(proxy + ADMIN_DISTANCE),
    }
}

/// The likeliest mistake is to start it twice.
fn not_started(error: ServeError, args: &DevArgs) -> anyhow::Error {
    let is_port = matches!(error, ServeError::Listen(_));
    let error = anyhow::Error::new(error);
    if is_port {
        anyhow::anyhow!(
            "{error:#}; if another `lockstep dev` runs there, stop it or choose other ports with \
             --port"
        )
    } else {
        error.context(format!(
            "three replicas cannot start with their data in {}",
            args.data.display()
        ))
    }
}

/// Waits until every replica knows a leader and holds a complete state; says now and then what
/// is missing.
async fn until_ready(replicas: &[(Replica, Endpoints)], source: &str) {
    for (number, (replica, _)) in (1..).zip(replicas) {
        let mut role = replica.role();
        let led = async { drop(role.wait_for(knows_leader).await) };
        patiently(led, || lack_of_leader(number, &replica.raft().role)).await;
        let mut position = replica.published().position();
        let synced = async {
            let is_synced = |_: &_| replica.published().newest().is_synced();
            drop(position.wait_for(is_synced).await);
        };
        let lack = || format!("still waiting for a first complete list of {source}");
        patiently(synced, lack).await;
    }
}

/// A learner that nobody leads has lost its data: the group knows it by another id.
fn lack_of_leader(number: usize, role: &Role) -> String {
    let name = replica_name(number);
    match role {
        Role::Learner { leader: None, .. } => format!(
            "{name} has no data and waits until a majority of the others takes it back; --fresh \
             starts all of them anew"
        ),
        Role::Leader { .. } | Role::Follower { .. } | Role::Learner { .. } => {
            format!("{name} is still waiting for a leader")
        }
    }
}

fn knows_leader(role: &Role) -> bool {
    match role {
        Role::Leader { .. } => true,
        Role::Follower { leader, .. } | Role::Learner { leader, .. } => leader.is_some(),
    }
}

async fn patiently(wait: impl Future<Output = ()>, lack: impl Fn() -> String) {
    tokio::pin!(wait);
    while tokio::time::timeout(PATIENCE, &mut wait).await.is_err() {
        say(&lack());
    }
}

fn greet(replicas: &[(Replica, Endpoints)], source: &str, args: &DevArgs, took: Duration) {
    let up = (1..)
        .zip(replicas)
        .map(|(number, (replica, endpoints))| Up {
            name: replica_name(number),
            endpoints: *endpoints,
            leads: replica.raft().role.leading().is_some(),
        });
    let first = replicas
        .first()
        .map(|(first, _)| first.published().newest());
    let example = first.as_ref().map(|state| example_authority(state));
    let greeting = Greeting {
        replicas: &up.collect::<Vec<_>>(),
        took,
        revision: first
            .map(|state| state.position().revision)
            .unwrap_or_default(),
        source,
        data: &args.data,
        example: &example.unwrap_or_default(),
        ports: match args.port {
            FIRST_PROXY_PORT => Ports::Standard,
            _ => Ports::Other,
        },
    };
    // The replicas run on, whether or not anybody reads this.
    let _ = write!(anstream::stdout(), "{greeting}");
}

fn say(line: &str) {
    // The replicas run on, whether or not anybody reads this.
    let _ = writeln!(anstream::stderr(), "{line}");
}

async fn run_until_the_first_ends(
    group: Group,
    greet: impl Future<Output = Infallible>,
) -> anyhow::Result<()> {
    let stop = tokio_util::sync::CancellationToken::new();
    let runs = group.replicas.into_iter().map(|running| {
        let stop = stop.clone();
        Box::pin(async move {
            let stopped = stop.clone().cancelled_owned();
            let result = running.run_until(stopped, Others::StopToo).await;
            // One replica that ends takes the others along: this is one process.
            stop.cancel();
            result
        })
    });
    let all = futures::future::join_all(runs);
    tokio::pin!(all);
    let results = tokio::select! {
        results = &mut all => results,
        never = greet => match never {},
        () = shutdown::requested() => {
            say("stopping");
            stop.cancel();
            all.await
        }
    };
    results.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_position::Term;

    #[test]
    fn a_replica_without_its_data_is_told_from_an_election() {
        let (leader, term) = (None, Term::default());
        assert_eq!(
            lack_of_leader(3, &Role::Learner { leader, term }),
            "replica-3 has no data and waits until a majority of the others takes it back; \
             --fresh starts all of them anew"
        );
        assert_eq!(
            lack_of_leader(3, &Role::Follower { leader, term }),
            "replica-3 is still waiting for a leader"
        );
    }
}
