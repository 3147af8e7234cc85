//! What only the simulation can do: refuse on demand, and hold odd objects.

use lockstep_catalog::{FactSource, Resume};
use lockstep_kubernetes::{KubernetesSource, connect_to};
use lockstep_model::{FactKey, FactKind};
use lockstep_simapi::{Behaviour, GoneForm, Options, Rejection, SimApi, Verb};
use serde_json::{Value, json};

use super::{known::Known, objects, server::Server};

fn refusing(code: u16, verb: Option<Verb>, resource: Option<&str>) -> Behaviour {
    Behaviour {
        reject: Some(Rejection {
            code,
            retry_after: None,
            verb,
            resource: resource.map(str::to_owned),
        }),
        ..Behaviour::default()
    }
}

pub(crate) fn service(name: &str) -> Value {
    objects::service(name, json!({}))
}

/// The metrics of a source, as a scrape shows them.
fn page(source: &KubernetesSource) -> String {
    let mut registry = prometheus_client::registry::Registry::default();
    source.metrics().register(&mut registry);
    let mut page = String::new();
    prometheus_client::encoding::text::encode(&mut page, &registry).unwrap();
    page
}

fn key(name: &str) -> FactKey {
    FactKey::named(FactKind::Service, "shop", name)
}

#[tokio::test]
async fn a_kind_that_is_refused_delays_no_other_and_comes_when_it_may() {
    let api = SimApi::new(Options::default());
    api.apply(service("web")).unwrap();
    api.set_behaviour(refusing(403, None, Some("pods")));
    let server = Server::simulating(api.clone()).await;
    let source = server.source().await;
    let mut session = source.follow(Resume::new());
    let mut known = Known::default();
    known
        .learn_until(&mut session, |known| {
            known.lists.len() == FactKind::ALL.len() - 1
        })
        .await;
    assert!(known.fact(&key("web")).is_some());
    assert!(!known.lists.contains_key(&FactKind::Pod));
    let problems = source.problems();
    let [problem] = problems.as_slice() else {
        panic!("{problems:?}");
    };
    assert!(problem.starts_with("pods, for "), "{problem}");
    assert!(
        problem.ends_with(" s: list: status 403: forbidden by the simulation"),
        "{problem}"
    );
    let troubled = "lockstep_source_troubled{kind=\"pods\"}";
    assert!(page(&source).contains(&format!("{troubled} 1")));
    api.set_behaviour(Behaviour::default());
    known.learn_until(&mut session, Known::is_complete).await;
    assert_eq!(source.problems(), [""; 0]);
    assert!(page(&source).contains(&format!("{troubled} 0")));
}

#[tokio::test]
async fn a_server_is_reached_by_whom_it_would_let_follow() {
    let api = SimApi::new(Options::default());
    api.apply(service("web")).unwrap();
    let server = Server::simulating(api.clone()).await;
    let source = server.source().await;
    source.reach().await.unwrap();
    for (code, reached) in [(429, true), (401, false), (403, false), (500, false)] {
        api.set_behaviour(refusing(code, None, None));
        let answer = source.reach().await;
        assert_eq!(answer.is_ok(), reached, "{code}: {answer:?}");
    }
    let nobody = connect_to("http://127.0.0.1:9").unwrap();
    let error = nobody.reach().await.unwrap_err().to_string();
    assert!(
        error.starts_with("services could not be listed: "),
        "{error}"
    );
}

#[tokio::test]
async fn a_server_that_is_too_busy_is_asked_again() {
    for code in [429, 500, 503, 504] {
        let api = SimApi::new(Options::default());
        api.set_behaviour(refusing(code, None, None));
        let server = Server::simulating(api.clone()).await;
        let source = server.source().await;
        let mut session = source.follow(Resume::new());
        let asked_twice = || {
            FactKind::ALL
                .iter()
                .all(|kind| api.counts().requests(Verb::List, kind.resource()) > 1)
        };
        let deadline = tokio::time::Instant::now() + super::known::PATIENCE;
        while !asked_twice() {
            assert!(tokio::time::Instant::now() < deadline, "not asked again");
            tokio::task::yield_now().await;
        }
        api.set_behaviour(Behaviour::default());
        let mut known = Known::default();
        known.learn_until(&mut session, Known::is_complete).await;
        assert_eq!(known.lists, FactKind::ALL.map(|kind| (kind, 1)).into());
    }
}

#[tokio::test]
async fn gone_as_a_status_is_listed_once_too() {
    for gone in [GoneForm::ErrorEvent, GoneForm::HttpStatus] {
        let api = SimApi::new(Options::default());
        let behaviour = Behaviour {
            gone,
            ..Behaviour::default()
        };
        api.set_behaviour(behaviour);
        let server = Server::simulating(api.clone()).await;
        let source = server.source().await;
        let mut known = Known::default();
        let mut session = source.follow(Resume::new());
        known.learn_until(&mut session, Known::is_complete).await;
        drop(session);
        api.apply(service("web")).unwrap();
        api.compact();
        known.lists.clear();
        let mut session = source.follow(std::mem::take(&mut known.cursors));
        known.learn_until(&mut session, Known::is_complete).await;
        assert_eq!(known.lists, FactKind::ALL.map(|kind| (kind, 1)).into());
        assert!(known.fact(&key("web")).is_some());
    }
}

#[tokio::test]
async fn a_bookmark_is_progress() {
    let options = Options {
        behaviour: Behaviour {
            bookmark_interval: std::time::Duration::from_millis(20),
            ..Behaviour::default()
        },
        ..Options::default()
    };
    let api = SimApi::new(options);
    let server = Server::simulating(api.clone()).await;
    let source = server.source().await;
    let mut session = source.follow(Resume::new());
    let mut known = Known::default();
    known.learn_until(&mut session, Known::is_complete).await;
    // A change of one kind moves the cursors of all.
    let newest = api.apply(service("web")).unwrap();
    known
        .learn_until(&mut session, |known| {
            known
                .cursors
                .values()
                .all(|cursor| *cursor.0 == newest.to_string())
        })
        .await;
}

#[tokio::test]
async fn an_odd_object_spoils_nothing_else_and_is_counted() {
    let mut bad = service("bad");
    bad["spec"]["ports"] = json!("eighty");
    let mut fqdn = json!({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {"name": "names", "namespace": "shop"}, "addressType": "IPv4"});
    fqdn["metadata"]["labels"] = json!({"kubernetes.io/service-name": "web"});
    let api = SimApi::new(Options::default());
    api.load(json!([bad, service("web"), fqdn])).unwrap();
    let server = Server::simulating(api.clone()).await;
    let source = server.source().await;
    let mut session = source.follow(Resume::new());
    let mut known = Known::default();
    known.learn_until(&mut session, Known::is_complete).await;
    let slice = FactKey::named(FactKind::EndpointSlice, "shop", "names");
    assert_eq!(known.fact(&key("bad")), None);
    assert!(known.fact(&key("web")).is_some() && known.fact(&slice).is_some());

    // A good object that cannot be decoded any more keeps its last good fact; one that
    // says nothing usable any more is gone.
    let before = known.fact(&key("web")).cloned();
    let mut web = service("web");
    web["spec"]["ports"] = json!("eighty");
    fqdn["addressType"] = "FQDN".into();
    api.load(json!([web, service("last"), fqdn])).unwrap();
    known
        .learn_until(&mut session, |known| {
            known.fact(&key("last")).is_some() && known.fact(&slice).is_none()
        })
        .await;
    assert_eq!(known.fact(&key("web")).cloned(), before);
    // An audit meets them again, and neither names nor counts them.
    source.list().await.unwrap();
    let page = page(&source);
    for line in [
        "lockstep_source_unusable_objects_total{kind=\"services\",reason=\"undecodable\"} 2",
        "lockstep_source_unusable_objects_total{kind=\"endpointslices\",reason=\"address_type\"} 1",
        "lockstep_source_lists_total{kind=\"services\"} 2",
        "lockstep_source_watches_total{kind=\"services\"} 1",
    ] {
        assert!(page.lines().any(|found| found == line), "{line} in\n{page}");
    }
}

#[tokio::test]
async fn an_audit_names_the_kind_and_the_reason() {
    let api = SimApi::new(Options::default());
    api.set_behaviour(refusing(403, None, Some("jobs")));
    let server = Server::simulating(api).await;
    let error = server.source().await.list().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "jobs could not be listed: status 403: forbidden by the simulation"
    );
    drop(server);
    // Nobody listens on port 1.
    let error = connect_to("http://127.0.0.1:1")
        .unwrap()
        .list()
        .await
        .unwrap_err();
    let reason = error.to_string();
    assert!(
        reason.starts_with("nodes could not be listed: "),
        "{reason}"
    );
    assert!(reason.contains("Connection refused"), "{reason}");
}
