//! Three replicas over a folder of manifests: one answer, and every edit on
//! every open stream.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod harness;

use harness::{
    PATIENCE, agreed,
    proxy::{Open, Proxy},
    status,
};
use linkerd2_proxy_api::destination::update::Update as Kind;
use lockstep::{Group, GroupConfig, Source, SourceConfig};
use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tempfile::TempDir;

const WEB: &str = "web.shop.svc.cluster.local:80";
const PROMO: &str = "promo.shop.svc.cluster.local:80";

/// A group of three over a copy of the sample, so that its files can be edited.
struct Shop {
    folder: TempDir,
    group: Group,
}

impl Shop {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let manifests = folder.path().join("shop");
        fs::create_dir(&manifests).unwrap();
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
        for file in fs::read_dir(sample).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), manifests.join(file.file_name())).unwrap();
        }
        let source = SourceConfig::Manifests(manifests);
        let opened = Arc::new(Source::open(&source).await.unwrap());
        let data = folder.path().join("data");
        let config = GroupConfig::on_free_ports(3, data, source);
        let group = Group::start(config, opened).await.unwrap();
        let shop = Self { folder, group };
        agreed(&shop.admins(), 1).await;
        shop
    }

    fn admins(&self) -> Vec<SocketAddr> {
        self.group
            .replicas
            .iter()
            .map(|running| running.endpoints().admin)
            .collect()
    }

    async fn proxies(&self) -> Vec<Proxy> {
        let mut proxies = Vec::new();
        for running in &self.group.replicas {
            proxies.push(Proxy::connect(running.endpoints().proxy).await.unwrap());
        }
        proxies
    }

    async fn streams(&self, path: &str) -> Vec<Open> {
        let mut streams = Vec::new();
        for proxy in self.proxies().await {
            let mut stream = proxy.open(path).await.unwrap();
            stream.next().await.unwrap();
            streams.push(stream);
        }
        streams
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join("shop").join(name)
    }
}

fn set(addresses: &[&str]) -> BTreeSet<SocketAddr> {
    addresses
        .iter()
        .map(|address| address.parse().unwrap())
        .collect()
}

/// One small service with as many ready addresses as `ips`, behind no pods.
fn extra(ips: &[&str]) -> String {
    let endpoints: Vec<String> = ips
        .iter()
        .map(|ip| format!("- addresses: [\"{ip}\"]\n  conditions: {{ready: true}}\n"))
        .collect();
    let endpoints = if ips.is_empty() {
        "[]\n".to_owned()
    } else {
        format!("\n{}", endpoints.concat())
    };
    format!(
        "apiVersion: v1\nkind: Service\nmetadata: {{name: extra, namespace: shop}}\n\
         spec:\n  ports: [{{name: http, port: 80}}]\n---\n\
         apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n\
         metadata:\n  name: extra-1\n  namespace: shop\n  \
         labels: {{kubernetes.io/service-name: extra}}\n\
         addressType: IPv4\nports: [{{name: http, port: 8080, protocol: TCP}}]\nendpoints: {endpoints}"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_replicas_give_one_answer_at_one_revision() {
    let shop = Shop::open().await;
    let position = agreed(&shop.admins(), 1).await;
    let mut answers = Vec::new();
    for proxy in shop.proxies().await {
        answers.push(proxy.get(WEB).await.unwrap());
    }
    for answer in &answers {
        assert_eq!(answer, &answers[0]);
        assert_eq!(answer.revision, position.revision);
        assert_eq!(answer.digest, position.state_digest);
        assert_eq!(answer.history, position.history);
        assert!(!answer.stale && !answer.set.is_empty());
    }
    shop.group.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_without_endpoints_is_said_to_exist() {
    let shop = Shop::open().await;
    for proxy in shop.proxies().await {
        let mut stream = proxy.open(PROMO).await.unwrap();
        match stream.next().await.unwrap() {
            Kind::NoEndpoints(said) => assert!(said.exists),
            other => panic!("{other:?}"),
        }
    }
    shop.group.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_edit_reaches_every_open_stream_as_the_right_message() {
    let shop = Shop::open().await;
    let file = shop.file("99-extra.yaml");
    fs::write(&file, extra(&["10.9.0.1", "10.9.0.2"])).unwrap();
    agreed(&shop.admins(), 2).await;
    let extra_service = "extra.shop.svc.cluster.local:80";
    let mut streams = shop.streams(extra_service).await;
    for stream in &mut streams {
        stream
            .until(&set(&["10.9.0.1:8080", "10.9.0.2:8080"]))
            .await;
    }

    // One leaves and one comes: the addition is told first.
    fs::write(&file, extra(&["10.9.0.2", "10.9.0.3"])).unwrap();
    for stream in &mut streams {
        let kinds = [stream.next().await.unwrap(), stream.next().await.unwrap()];
        assert!(
            matches!(kinds, [Kind::Add(_), Kind::Remove(_)]),
            "{kinds:?}"
        );
        assert_eq!(stream.told, Some(set(&["10.9.0.2:8080", "10.9.0.3:8080"])));
    }

    // The endpoint of one pod is taken away.
    fs::write(&file, extra(&["10.9.0.3"])).unwrap();
    for stream in &mut streams {
        match stream.next().await.unwrap() {
            Kind::Remove(gone) => {
                let gone: Vec<_> = gone
                    .addrs
                    .into_iter()
                    .map(|gone| SocketAddr::try_from(gone).unwrap())
                    .collect();
                assert_eq!(gone, ["10.9.0.2:8080".parse().unwrap()]);
            }
            other => panic!("{other:?}"),
        }
    }

    // The service is emptied, filled, and taken away altogether.
    fs::write(&file, extra(&[])).unwrap();
    for stream in &mut streams {
        stream.until(&set(&[])).await;
    }
    fs::write(&file, extra(&["10.9.0.4"])).unwrap();
    for stream in &mut streams {
        stream.until(&set(&["10.9.0.4:8080"])).await;
    }
    fs::remove_file(&file).unwrap();
    for stream in &mut streams {
        stream.until(&set(&[])).await;
    }
    agreed(&shop.admins(), 7).await;
    let refused = shop.proxies().await[0]
        .get(extra_service)
        .await
        .unwrap_err();
    assert_eq!(refused.code(), tonic::Code::NotFound);
    shop.group.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_that_changes_no_answer_makes_no_revision_and_no_message() {
    let shop = Shop::open().await;
    let mut streams = shop.streams(WEB).await;
    let before = agreed(&shop.admins(), 1).await;
    let file = shop.file("10-web.yaml");
    let text = fs::read_to_string(&file).unwrap();
    let annotated = text.replace(
        "metadata:\n",
        "metadata:\n  annotations: {example.com/note: edited}\n",
    );
    assert_ne!(annotated, text);
    fs::write(&file, annotated).unwrap();
    // A second, real change behind it shows that the first one was read.
    fs::write(shop.file("99-extra.yaml"), extra(&["10.9.0.1"])).unwrap();
    let after = agreed(&shop.admins(), before.revision + 1).await;
    assert_eq!(after.revision, before.revision + 1);
    for stream in &mut streams {
        assert!(stream.is_quiet_for(Duration::from_millis(100)).await);
    }
    shop.group.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_does_not_parse_is_named_and_its_last_good_version_stays() {
    let shop = Shop::open().await;
    let before = agreed(&shop.admins(), 1).await;
    fs::write(
        shop.file("10-web.yaml"),
        "apiVersion: v1\nkind: [unfinished\n",
    )
    .unwrap();
    let problem = harness::eventually("a problem in the status", async || {
        for admin in shop.admins() {
            let source = status(admin).await?.source.ok_or("no source")?;
            if let Some(problem) = source.problems.first() {
                return Ok(problem.clone());
            }
        }
        Err("none is named".to_owned())
    })
    .await;
    assert!(
        problem.contains("10-web.yaml") && problem.contains("line"),
        "{problem}"
    );
    let after = agreed(&shop.admins(), 1).await;
    assert_eq!(after.revision, before.revision);
    for proxy in shop.proxies().await {
        assert!(!proxy.get(WEB).await.unwrap().set.is_empty());
    }
    shop.group.stop().await.unwrap();
}

/// Connections on which nobody goes on, as a probe that was paused leaves them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_open_connections_do_not_keep_a_group_from_stopping() {
    let shop = Shop::open().await;
    let mut held = Vec::new();
    for running in &shop.group.replicas {
        let ports = running.endpoints();
        for port in [ports.peer, ports.proxy, ports.admin] {
            let mut connection = TcpStream::connect(port).unwrap();
            connection.write_all(b"GET /live HT").unwrap();
            held.push(connection);
        }
    }
    let stopped = tokio::time::timeout(PATIENCE, shop.group.stop()).await;
    stopped.expect("a stop that ends").unwrap();
}
