//! Connections that lead nowhere, and credentials that are replaced.

use lockstep_catalog::{FactSource, Resume};
use lockstep_kubernetes::{connect, connect_to};
use lockstep_model::{FactKey, FactKind};
use lockstep_simapi::{Behaviour, Options, SimApi, Verb};
use serde_json::json;
use std::{fs, path::Path};
use tokio::net::TcpListener;

use super::{faults::service, known::Known, relay::Relay};

const ROTATIONS: usize = 100;

/// Every connection is half-open from one moment on, those of open watches and those that
/// wait for the next request.
#[tokio::test]
async fn connections_that_lead_nowhere_are_replaced_and_nothing_is_lost() {
    let api = SimApi::new(Options::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = api.serve(listener).unwrap();
    let relay = Relay::to(server.address()).await;
    let source = connect_to(&relay.url()).unwrap();
    let mut session = source.follow(Resume::new());
    let mut known = Known::default();
    known.learn_until(&mut session, Known::is_complete).await;
    // Lists whose connections are kept.
    source.list().await.unwrap();

    relay.cut();
    api.apply(service("web")).unwrap();
    let key = FactKey::named(FactKind::Service, "shop", "web");
    known
        .learn_until(&mut session, |known| known.fact(&key).is_some())
        .await;
    assert_eq!(known.losses, [].into());
    known.assert_equals(&source.list().await.unwrap());
}

fn write(path: &Path, text: &str) {
    let beside = path.with_extension("new");
    fs::write(&beside, text).unwrap();
    fs::rename(beside, path).unwrap();
}

#[tokio::test]
async fn a_hundred_rotations_of_the_token_lose_nothing_and_leave_nothing_behind() {
    let api = SimApi::new(Options::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = api.serve(listener).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (token, kubeconfig) = (folder.path().join("token"), folder.path().join("config"));
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": server.url()}}],
        "users": [{"name": "c", "user": {"tokenFile": token}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
    });
    write(&kubeconfig, &config.to_string());
    let rotate = |number: usize| {
        write(&token, &format!("token-{number}"));
        // The old one is void at once, which no real server does.
        api.set_behaviour(Behaviour {
            token: Some(format!("token-{number}")),
            ..Behaviour::default()
        });
    };
    rotate(0);
    let source = connect(Some(&kubeconfig)).await.unwrap();
    let mut session = source.follow(Resume::new());
    let mut known = Known::default();
    known.learn_until(&mut session, Known::is_complete).await;

    for number in 1..=ROTATIONS {
        rotate(number);
        api.close_watches();
        let name = format!("web-{number}");
        api.apply(service(&name)).unwrap();
        let key = FactKey::named(FactKind::Service, "shop", &name);
        known
            .learn_until(&mut session, |known| known.fact(&key).is_some())
            .await;
    }
    source.reach().await.unwrap();
    assert_eq!(known.losses, [].into());
    for kind in FactKind::ALL {
        let (counts, resource) = (api.counts(), kind.resource());
        assert!(counts.open_watches(resource) <= 1, "{kind}");
        assert_eq!(counts.requests(Verb::List, resource), 1, "{kind}");
    }
}
