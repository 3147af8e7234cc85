//! The project's own commands, and the real API server as a library for tests.
//!
//! ```text
//! cargo xtask kube ──> kube::binaries (go build, once) ──> etcd <── kube-apiserver <── kubeconfig
//! cargo xtask test ──> checks (fmt, clippy, test, doc, generated code)
//! cargo xtask parity ──> parity (a test that replays recordings, then a table)
//! cargo xtask jepsen ──> jepsen (the lab that breaks real replicas)
//! ```

pub mod checks;
pub mod fuzz;
pub mod jepsen;
pub mod kube;
pub mod parity;
pub mod report;

use std::path::Path;

/// The folder of the workspace: two above this crate's.
fn workspace() -> &'static Path {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.ancestors().nth(2).unwrap_or(crate_folder)
}
