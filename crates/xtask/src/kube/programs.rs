//! Starts etcd and the API server, and asks the latter over TLS.

use std::path::Path;
use std::process::{Command, Stdio};

use super::binaries::Binaries;
use super::child::Child;
use super::folder::Folder;
use super::ports::Ports;
use super::{GetError, StartError, WatchCache, api_server, etcd, ready};

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
    let readyz = format!("https://127.0.0.1:{port}/readyz");
    ready::wait("kube-apiserver", &mut child, || {
        get(binaries, folder, &readyz).is_ok()
    })?;
    Ok(child)
}

fn start_program(program: &Path, arguments: &[String], log: &Path) -> Result<Child, StartError> {
    Child::start(program, arguments, log).map_err(|source| StartError::Execute {
        program: program.to_path_buf(),
        source,
    })
}

/// Sends a GET with full rights and returns the body of a 200.
pub(super) fn get(binaries: &Binaries, folder: &Folder, url: &str) -> Result<String, GetError> {
    let program = binaries.fetch();
    let mut command = Command::new(&program);
    command.arg("-ca").arg(folder.server_certificate());
    command
        .arg("-token")
        .arg(folder.token())
        .arg(url)
        .stdin(Stdio::null());
    let output = command
        .output()
        .map_err(|source| GetError::Execute { program, source })?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(GetError::Failed(
            String::from_utf8_lossy(&output.stderr)
                .trim_end()
                .to_owned(),
        ))
    }
}
