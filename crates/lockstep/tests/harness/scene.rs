//! A fleet of processes whose source is a folder of manifests that a test edits.

use std::{collections::BTreeSet, fs, net::SocketAddr, path::Path};

use super::{
    agreed, eventually,
    process::Fleet,
    proxy::{Open, Proxy},
};

/// What a scene's service is asked for.
pub const MANY: &str = "many.shop.svc.cluster.local:80";

/// A service with `count` addresses.
fn write_service(folder: &Path, count: u8) {
    let endpoints: String = (1..=count)
        .map(|last| format!("- addresses: [\"10.7.0.{last}\"]\n  conditions: {{ready: true}}\n"))
        .collect();
    let text = format!(
        "apiVersion: v1\nkind: Service\nmetadata: {{name: many, namespace: shop}}\n\
         spec:\n  ports: [{{name: http, port: 80}}]\n---\n\
         apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata:\n  name: many-1\n  \
         namespace: shop\n  labels: {{kubernetes.io/service-name: many}}\naddressType: IPv4\n\
         ports: [{{name: http, port: 8080, protocol: TCP}}]\nendpoints:\n{endpoints}"
    );
    // As editors save: a reader never sees half a file.
    fs::write(folder.join("many.new"), text).unwrap();
    fs::rename(folder.join("many.new"), folder.join("many.yaml")).unwrap();
}

pub fn addresses(count: u8) -> BTreeSet<SocketAddr> {
    (1..=count)
        .map(|last| SocketAddr::from(([10, 7, 0, last], 8080)))
        .collect()
}

/// A stream of the scene's service that has had its first message.
pub async fn open(proxy: SocketAddr) -> Open {
    eventually("an open stream", async || {
        let mut stream = Proxy::connect(proxy).await?.open(MANY).await?;
        stream.next().await?;
        Ok::<Open, tonic::Status>(stream)
    })
    .await
}

/// A fleet and its folder.
pub struct Scene {
    folder: tempfile::TempDir,
    pub fleet: Fleet,
}

impl Scene {
    pub fn new(flags: &[&str]) -> Self {
        Self::started(|data, source| Fleet::start(data, source, flags))
    }

    /// None of its replicas runs yet.
    pub fn prepared() -> Self {
        Self::started(|data, source| Fleet::prepare(data, source, &[]))
    }

    /// What its replicas say is kept.
    pub fn watched(flags: &[&str]) -> Self {
        Self::started(|data, source| Fleet::start_watched(data, source, flags))
    }

    fn started(start: impl FnOnce(&Path, &[&str]) -> Fleet) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let manifests = folder.path().join("manifests");
        fs::create_dir(&manifests).unwrap();
        write_service(&manifests, 1);
        let source = ["--manifests", manifests.to_str().unwrap()];
        let fleet = start(&folder.path().join("data"), &source);
        Self { folder, fleet }
    }

    /// The service has `count` addresses from now on.
    pub fn write(&self, count: u8) {
        write_service(&self.folder.path().join("manifests"), count);
    }

    /// The revision that all replicas have reached.
    pub async fn revision(&self, at_least: u64) -> u64 {
        agreed(&self.fleet.admins(), at_least).await.revision
    }
}
