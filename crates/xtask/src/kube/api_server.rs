//! kube-apiserver: how it is started.

use super::WatchCache;
use super::folder::Folder;

/// The command line for a server on `port` of loopback that stores in etcd on `etcd_port`.
pub(super) fn arguments(
    port: u16,
    etcd_port: u16,
    folder: &Folder,
    watch_cache: WatchCache,
) -> Vec<String> {
    let key = folder.server_key().display().to_string();
    let watch_cache = match watch_cache {
        WatchCache::On => "--watch-cache=true",
        WatchCache::Off => "--watch-cache=false",
    };
    vec![
        format!("--etcd-servers=http://127.0.0.1:{etcd_port}"),
        "--bind-address=127.0.0.1".to_owned(),
        "--advertise-address=127.0.0.1".to_owned(),
        format!("--secure-port={port}"),
        // The server writes its self-signed certificate and key there before it reads
        // the two service account keys, so that one key serves for all three.
        format!("--cert-dir={}", folder.certificates().display()),
        format!("--service-account-key-file={key}"),
        format!("--service-account-signing-key-file={key}"),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        format!("--token-auth-file={}", folder.tokens().display()),
        "--authorization-mode=RBAC".to_owned(),
        // Nobody creates service accounts here, and a pod without one would be refused.
        "--disable-admission-plugins=ServiceAccount".to_owned(),
        "--allow-privileged=true".to_owned(),
        // Both families, so that a Service may have both; those of the recorded scenarios.
        "--service-cluster-ip-range=10.96.0.0/12,fd00:96::/108".to_owned(),
        // A loopback address is no valid endpoint of the `kubernetes` service.
        "--endpoint-reconciler-type=none".to_owned(),
        // History goes only when a test says so; the server would compact every five minutes.
        "--etcd-compaction-interval=0".to_owned(),
        watch_cache.to_owned(),
    ]
}
