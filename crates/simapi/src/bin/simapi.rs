//! Runs the simulated API server on a socket.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::Parser;
use lockstep_simapi::{Behaviour, Options, SimApi};
use tokio::net::TcpListener;

/// A simulated Kubernetes API server for tests: list, watch, bookmarks,
/// compaction; no authentication, nothing stored.
#[derive(Debug, Parser)]
#[command(name = "lockstep-simapi", version)]
struct Args {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:8001")]
    listen: SocketAddr,
    /// A JSON file to begin with: an object, a List, or an array of objects.
    #[arg(long, value_name = "FILE.json")]
    manifest: Option<PathBuf>,
    /// Where to write a kubeconfig that names this server.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Milliseconds between bookmarks of one watch.
    #[arg(long, value_name = "MS", default_value_t = 60_000)]
    bookmark_interval_ms: u64,
    /// Events of history kept before they are compacted away.
    #[arg(long, value_name = "EVENTS", default_value_t = 10_000)]
    window: usize,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let api = SimApi::new(Options {
        window: args.window,
        behaviour: Behaviour {
            bookmark_interval: Duration::from_millis(args.bookmark_interval_ms),
            ..Behaviour::default()
        },
        ..Options::default()
    });
    if let Some(path) = &args.manifest {
        load(&api, path)?;
    }
    let listener = TcpListener::bind(args.listen)
        .await
        .with_context(|| format!("cannot listen on {}", args.listen))?;
    let server = api.serve(listener)?;
    println!("serving {}", server.url());
    if let Some(path) = &args.kubeconfig {
        server.write_kubeconfig(path)?;
        println!("kubeconfig {}", path.display());
    }
    tokio::signal::ctrl_c()
        .await
        .context("cannot wait for an interrupt")
}

fn load(api: &SimApi, path: &Path) -> anyhow::Result<()> {
    let name = path.display();
    let text = std::fs::read(path).with_context(|| format!("cannot read the manifest {name}"))?;
    let manifest = serde_json::from_slice(&text)
        .with_context(|| format!("the manifest {name} is not JSON"))?;
    api.load(manifest)
        .with_context(|| format!("cannot load the manifest {name}"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_none_is_refused() {
        let error = Args::try_parse_from(["simapi", "--listen", "localhost"]).unwrap_err();
        let text = error.to_string();
        let expected = "error: invalid value 'localhost' for '--listen <IP:PORT>': \
                        invalid socket address syntax\n";
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn a_manifest_is_refused_by_name_and_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.json");
        let name = path.display();
        let api = SimApi::new(Options::default());
        let refused = || format!("{:#}", load(&api, &path).unwrap_err());
        assert_eq!(
            refused(),
            format!("cannot read the manifest {name}: No such file or directory (os error 2)")
        );
        std::fs::write(&path, "{").unwrap();
        assert_eq!(
            refused(),
            format!(
                "the manifest {name} is not JSON: EOF while parsing an object at line 1 column 1"
            )
        );
        std::fs::write(
            &path,
            r#"{"items": [{"apiVersion": "v1", "kind": "Widget"}]}"#,
        )
        .unwrap();
        assert_eq!(
            refused(),
            format!(
                "cannot load the manifest {name}: unknown kind \"v1 Widget\"; the server knows \
                 those listed under /api/v1 and /apis"
            )
        );
    }
}
