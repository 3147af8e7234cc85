//! Starts etcd and the API server.

use std::path::Path;

use super::binaries::Binaries;
use super::child::Child;
use super::folder::Folder;
use super::ports::Ports;
use super::{StartError, WatchCache, api_server, etcd, https, ready};

/// Starts etcd and waits until it is healthy.
pub(super) fn start_etcd(
    binaries: &Binaries,
    ports: Ports,
    folder: &Folder,
) -> Result<Child, StartError> {
    let arguments = etcd::arguments(ports.etcd, &folder.etcd_data());
    let mut child = start_program(&binaries.etcd(), &arguments, &folder.etcd_log())?;
    let client = etcd::Client::new(ports.etcd.client);
    ready::wait("etcd", &mut child, || client.healthy())?;
    Ok(child)
}

/// Starts the API server and waits until `/readyz` is ok.
pub(super) fn start_api_server(
    binaries: &Binaries,
    ports: Ports,
    folder: &Folder,
    watch_cache: WatchCache,
) -> Result<Child, StartError> {
    let port = ports.api_server;
    let arguments = api_server::arguments(port, ports.etcd.client, folder, watch_cache);
    let program = binaries.api_server();
    let mut child = start_program(&program, &arguments, &folder.api_server_log())?;
    ready::wait("kube-apiserver", &mut child, || {
        https::get(folder, port, "/readyz").is_ok()
    })?;
    Ok(child)
}

fn start_program(program: &Path, arguments: &[String], log: &Path) -> Result<Child, StartError> {
    Child::start(program, arguments, log).map_err(|source| StartError::Execute {
        program: program.to_path_buf(),
        source,
    })
}
