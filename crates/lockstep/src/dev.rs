//! `lockstep dev`: three replicas in one process, for people who want to see it work.

use anstyle::{AnsiColor, Style};
use anyhow::Context;
use clap::{Args, value_parser};
use lockstep_catalog::FactSource;
use lockstep_position::Revision;
use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    Group, GroupConfig, Source, SourceConfig,
    config::Endpoints,
    logging,
    options::{LogOptions, SourceOptions},
    sample, shutdown,
};

/// The port numbers of two replicas are this far apart.
const STEP: u16 = 100;
const REPLICAS: u16 = 3;
const FIRST_PROXY_PORT: u16 = 8086;
/// The admin port's distance from the proxy port, so that the first one is 9996.
const ADMIN_DISTANCE: u16 = 9996 - FIRST_PROXY_PORT;

/// Flags of `lockstep dev`.
#[derive(Clone, Debug, Args)]
pub(crate) struct DevArgs {
    /// What to read: by default the sample application
    #[command(flatten)]
    source: SourceOptions,
    /// The folder that holds the data of the replicas
    #[arg(long, default_value = "lockstep-dev", value_name = "DIR")]
    data: PathBuf,
    /// Start with empty data folders
    #[arg(long)]
    fresh: bool,
    /// The first replica's proxy port; the others follow in steps of 100, the
    /// peer ports one above, the admin ports 1910 above
    #[arg(long, default_value_t = FIRST_PROXY_PORT, value_parser = value_parser!(u16).range(1024..=63_000))]
    port: u16,
    #[command(flatten)]
    log: DevLog,
}

/// How `dev` logs: quietly, since people read its output.
#[derive(Clone, Debug, Args)]
struct DevLog {
    /// Which lines: off, error, warn, info, debug, trace, or `crate=level,…`
    #[arg(long, env = "LOCKSTEP_LOG_LEVEL", default_value = "warn")]
    log_level: String,
}

/// Runs `lockstep dev` until Ctrl-C or a failure.
pub(crate) async fn run(args: DevArgs) -> anyhow::Result<()> {
    let started = Instant::now();
    let log_format = crate::options::LogFormat::Text;
    logging::start(&LogOptions {
        log_level: args.log.log_level.clone(),
        log_format,
    })?;
    if args.fresh {
        empty(&args.data)?;
    }
    let source = source_config(&args)?;
    let opened = Arc::new(Source::open(&source).await?);
    let described = opened.describe();
    let config = GroupConfig {
        endpoints: (0..REPLICAS)
            .map(|number| endpoints(args.port, number))
            .collect(),
        ..GroupConfig::on_free_ports(0, args.data.clone(), source)
    };
    let group = Group::start(config, opened.clone())
        .await
        .with_context(|| {
            format!(
                "starting three replicas with their data in {}",
                args.data.display()
            )
        })?;
    until_synced(&group, &opened).await?;
    welcome(&group, &described, &args, started.elapsed());
    run_until_the_first_ends(group).await
}

fn source_config(args: &DevArgs) -> anyhow::Result<SourceConfig> {
    if args.source.manifests.is_some() || args.source.kubeconfig.is_some() {
        return Ok(args.source.clone().into());
    }
    let folder = sample::folder(&args.data).context("writing the sample application")?;
    Ok(SourceConfig::Manifests(folder))
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

/// Removes what earlier runs left, and nothing else: a folder given by mistake survives.
fn empty(data: &Path) -> anyhow::Result<()> {
    for number in 1..=usize::from(REPLICAS) {
        let folder = data.join(crate::group::replica_name(number));
        if folder.exists() {
            std::fs::remove_dir_all(&folder)
                .with_context(|| format!("--fresh: emptying {}", folder.display()))?;
        }
    }
    Ok(())
}

/// Waits until every replica holds a complete state; says now and then what is missing.
async fn until_synced(group: &Group, source: &Source) -> anyhow::Result<()> {
    let patience = Duration::from_secs(5);
    for running in &group.replicas {
        let mut position = running.replica().published().position();
        let synced = position.wait_for(|position| position.revision > Revision::ZERO);
        tokio::pin!(synced);
        while tokio::time::timeout(patience, &mut synced).await.is_err() {
            let waiting = running.replica();
            anstream::eprintln!(
                "still waiting for a complete state from {}: {waiting:?}, {:?}",
                source.describe(),
                waiting.raft().role,
            );
        }
    }
    Ok(())
}

fn welcome(group: &Group, source: &str, args: &DevArgs, took: Duration) {
    let bold = Style::new().bold();
    let green = AnsiColor::Green.on_default();
    let dim = Style::new().dimmed();
    let position = group
        .replicas
        .first()
        .map(|first| first.replica().position());
    anstream::println!(
        "{green}three replicas are up{green:#} after {:.1} s, at {}",
        took.as_secs_f64(),
        position
            .map(|position| position.revision)
            .unwrap_or_default(),
    );
    anstream::println!("  source  {source}");
    anstream::println!("  data    {}", args.data.display());
    for (number, running) in (1..).zip(&group.replicas) {
        let Endpoints { proxy, peer, admin } = running.endpoints();
        let role = if running.replica().raft().role.leading().is_some() {
            "leader"
        } else {
            "follower"
        };
        anstream::println!(
            "  {}  proxies {proxy}  peers {peer}  admin {admin}  {dim}{role}{dim:#}",
            crate::group::replica_name(number),
        );
    }
    anstream::println!("try next:");
    for command in suggestions(group, args) {
        anstream::println!("  {bold}{command}{bold:#}");
    }
    anstream::println!("{dim}Ctrl-C stops them; their data stays, --fresh starts anew{dim:#}");
}

fn suggestions(group: &Group, args: &DevArgs) -> [String; 3] {
    let standard = args.port == FIRST_PROXY_PORT;
    let list = |address: fn(&Endpoints) -> SocketAddr| {
        let all = group
            .replicas
            .iter()
            .map(|running| address(&running.endpoints()).to_string());
        all.collect::<Vec<String>>().join(",")
    };
    let (proxies, admins) = (list(|all| all.proxy), list(|all| all.admin));
    let address = if standard {
        String::new()
    } else {
        format!(" --address {proxies}")
    };
    let admin = if standard {
        String::new()
    } else {
        format!(" --admin {admins}")
    };
    let authority = example_authority(group);
    [
        format!("lockstep resolve {authority} --all{address}"),
        format!("lockstep status{admin}"),
        format!("lockstep check{admin}"),
    ]
}

/// A service that has endpoints, so that the first try shows something.
fn example_authority(group: &Group) -> String {
    let Some(first) = group.replicas.first() else {
        return String::new();
    };
    let state = first.replica().published().newest();
    let content = state.content();
    let domain = content
        .settings()
        .map(|settings| settings.cluster_domain.clone());
    let served = content
        .services()
        .find(|(id, _)| content.slices_of(id).next().is_some());
    match served.or_else(|| content.services().next()) {
        Some((id, record)) => {
            let port = record.ports.first().map_or(80, |port| port.port);
            let domain = domain.as_deref().unwrap_or("cluster.local");
            format!("{}.{}.svc.{domain}:{port}", id.name, id.namespace)
        }
        None => "web.shop.svc.cluster.local:80".to_owned(),
    }
}

async fn run_until_the_first_ends(group: Group) -> anyhow::Result<()> {
    let stop = tokio_util::sync::CancellationToken::new();
    let runs = group.replicas.into_iter().map(|running| {
        let stop = stop.clone();
        Box::pin(async move {
            let result = running.run_until(stop.clone().cancelled_owned()).await;
            // One replica that ends takes the others along: this is one process.
            stop.cancel();
            result
        })
    });
    let all = futures::future::join_all(runs);
    tokio::pin!(all);
    let results = tokio::select! {
        results = &mut all => results,
        () = shutdown::requested() => {
            anstream::eprintln!("stopping");
            stop.cancel();
            all.await
        }
    };
    results.into_iter().collect()
}
