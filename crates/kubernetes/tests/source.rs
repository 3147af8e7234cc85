//! The source against API servers: each test runs on the simulation, and with
//! `LOCKSTEP_KUBE=1` on the real one too, so that the two cannot drift apart.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

#[path = "source/faults.rs"]
mod faults;
#[path = "source/known.rs"]
mod known;
#[path = "source/objects.rs"]
mod objects;
#[path = "source/relay.rs"]
mod relay;
#[path = "source/server.rs"]
mod server;
#[path = "source/ways.rs"]
mod ways;

use lockstep_catalog::{FactSource, Resume, SourceEvent};
use lockstep_kubernetes::{KubernetesSession, KubernetesSource};
use lockstep_model::{Cursor, Fact, FactKey, FactKind};
use serde_json::json;

use known::Known;
use objects::Objects;
use server::Server;
use xtask::kube::WatchCache;

/// More than one page of a list holds.
const NODES: usize = 501;

/// Runs a test on the simulation, and on the real server if it is wanted.
macro_rules! on_both {
    ($name:ident, $watch_cache:ident) => {
        mod $name {
            use super::*;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_the_simulation() {
                super::$name(Server::simulated().await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_the_real_server() {
                let name = concat!(stringify!($name), "::on_the_real_server");
                if xtask::kube::wanted_for(name) {
                    super::$name(Server::real(WatchCache::$watch_cache).await).await;
                }
            }
        }
    };
}

on_both!(everything_is_listed_in_pages_and_then_followed, On);
on_both!(
    a_cursor_resumes_with_exactly_what_was_missed_and_without_a_list,
    On
);
on_both!(a_cursor_of_another_source_is_listed_instead, On);
on_both!(forgotten_history_is_listed_once, Off);
on_both!(watches_that_the_server_closes_resume_without_loss, Off);

mod kinds_that_are_installed_later_are_noticed {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn on_the_simulation() {
        super::kinds_that_are_installed_later_are_noticed(
            Server::simulated_without_linkerd().await,
        )
        .await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn on_the_real_server() {
        let name = "kinds_that_are_installed_later_are_noticed::on_the_real_server";
        if xtask::kube::wanted_for(name) {
            let server = Server::real_without_linkerd().await;
            super::kinds_that_are_installed_later_are_noticed(server).await;
        }
    }
}

/// It takes the better half of a minute, so that the simulation is asked in virtual time
/// only, beside the shell.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kind_that_is_removed_is_listed_as_empty_on_the_real_server() {
    let name = "a_kind_that_is_removed_is_listed_as_empty_on_the_real_server";
    if !xtask::kube::wanted_for(name) {
        return;
    }
    let server = Server::real(WatchCache::On).await;
    let objects = Objects::new(server.client());
    objects.create_shop().await;
    let source = server.source().await;
    let (mut session, mut known) = followed(&source).await;
    assert_eq!(known.named(FactKind::Server, "web"), 1);

    server.remove_servers().await;
    let is_gone = |known: &Known| &*known.cursors[&FactKind::Server].0 == "not served";
    known.learn_until(&mut session, is_gone).await;
    assert_eq!(known.losses, [].into());
    known.assert_equals(&source.list().await.unwrap());
}

/// A session that began with nothing, and what it told up to the last first list.
async fn followed(source: &KubernetesSource) -> (KubernetesSession, Known) {
    let mut session = source.follow(Resume::new());
    let mut known = Known::default();
    known.learn_until(&mut session, Known::is_complete).await;
    (session, known)
}

async fn kinds_that_are_installed_later_are_noticed(server: Server) {
    let objects = Objects::new(server.client());
    objects.create_namespace().await;
    let source = server.source().await;
    let (mut session, mut known) = followed(&source).await;
    let custom = FactKind::ALL.into_iter().filter(|kind| kind.is_optional());
    let custom: Vec<FactKind> = custom.collect();
    for kind in &custom {
        assert_eq!(&*known.cursors[kind].0, "not served");
    }
    known.assert_equals(&source.list().await.unwrap());

    server.install_linkerd().await;
    objects.create_custom().await;
    let arrived = |known: &Known| custom.iter().all(|kind| known.named(*kind, "web") == 1);
    known.learn_until(&mut session, arrived).await;
    for kind in FactKind::ALL {
        let lists = if kind.is_optional() { 2 } else { 1 };
        assert_eq!(known.lists[&kind], lists, "lists of {kind}");
    }
    assert_eq!(known.losses, [].into());
    known.assert_equals(&source.list().await.unwrap());

    // Whoever resumes finds them at once.
    drop(session);
    let mut session = source.follow(known.cursors.clone());
    let late = FactKey::named(FactKind::Server, "shop", "web");
    objects.delete(&late).await;
    known
        .learn_until(&mut session, |known| known.fact(&late).is_none())
        .await;
    assert_eq!(known.losses, [].into());
}

async fn everything_is_listed_in_pages_and_then_followed(server: Server) {
    let objects = Objects::new(server.client());
    objects.create_shop().await;
    objects.create_nodes(NODES).await;
    let before = server.lists().await;

    let source = server.source().await;
    let (mut session, mut known) = followed(&source).await;
    let after = server.lists().await;
    for kind in FactKind::ALL {
        let pages = if kind == FactKind::Node { 2 } else { 1 };
        assert_eq!(after[&kind] - before[&kind], pages, "pages of {kind}");
    }
    assert_eq!(known.lists, FactKind::ALL.map(|kind| (kind, 1)).into());
    assert_eq!(known.named(FactKind::Node, "zoned-"), NODES);
    let pod = FactKey::named(FactKind::Pod, "shop", "web-1");
    let Some(Fact::Pod(pod)) = known.fact(&pod) else {
        panic!("no pod");
    };
    assert_eq!(
        pod.addresses.ips,
        ["10.1.0.1".parse::<std::net::IpAddr>().unwrap()]
    );
    assert_eq!(pod.phase, lockstep_model::PodPhase::Running);

    // Live: added, modified, deleted.
    let key = FactKey::named(FactKind::Service, "shop", "late");
    objects
        .create(FactKind::Service, objects::service("late", json!({})))
        .await;
    known
        .learn_until(&mut session, |known| known.fact(&key).is_some())
        .await;
    let opaque = json!({"metadata": {"annotations": {"config.linkerd.io/opaque-ports": "81"}}});
    objects.patch(&key, &opaque).await;
    known
        .learn_until(&mut session, |known| match known.fact(&key) {
            Some(Fact::Service(service)) => service.opaque_ports.is_some(),
            _ => false,
        })
        .await;
    objects.delete(&key).await;
    known
        .learn_until(&mut session, |known| known.fact(&key).is_none())
        .await;
    known.assert_equals(&source.list().await.unwrap());
}

async fn a_cursor_resumes_with_exactly_what_was_missed_and_without_a_list(server: Server) {
    let objects = Objects::new(server.client());
    objects.create_shop().await;
    let source = server.source().await;
    let (session, mut known) = followed(&source).await;
    server.wait_for_watches(1).await;

    // Dropping the session stops every request.
    drop(session);
    server.wait_for_watches(0).await;

    let added = FactKey::named(FactKind::Service, "shop", "added");
    let changed = FactKey::named(FactKind::Service, "shop", "web");
    let deleted = FactKey::named(FactKind::EndpointSlice, "shop", "web-1");
    objects
        .create(FactKind::Service, objects::service("added", json!({})))
        .await;
    let local = json!({"spec": {"internalTrafficPolicy": "Local"}});
    objects.patch(&changed, &local).await;
    objects.delete(&deleted).await;

    let before = server.lists().await;
    let mut session = source.follow(known.cursors.clone());
    let mut missed = Vec::new();
    while missed.len() < 3 {
        let events = known::next(&mut session).await;
        for event in events {
            known.learn(&event);
            match event {
                SourceEvent::Changed { key, fact, .. } => missed.push((key, fact.is_some())),
                SourceEvent::Progress { .. } | SourceEvent::Alive { .. } => {}
                SourceEvent::Listed(_) | SourceEvent::Lost { .. } => panic!("not resumed"),
            }
        }
    }
    missed.sort();
    assert_eq!(missed, [(added, true), (changed, true), (deleted, false)]);
    server.wait_for_watches(1).await;
    assert_eq!(server.lists().await, before);
    known.assert_equals(&source.list().await.unwrap());
}

async fn a_cursor_of_another_source_is_listed_instead(server: Server) {
    let source = server.source().await;
    let cursor = Cursor("manifests".into());
    let foreign = FactKind::ALL.map(|kind| (kind, cursor.clone())).into();
    let mut session = source.follow(foreign);
    let mut known = Known::default();
    known.learn_until(&mut session, Known::is_complete).await;
    assert_eq!(known.lists, FactKind::ALL.map(|kind| (kind, 1)).into());
    assert_eq!(known.losses, FactKind::ALL.map(|kind| (kind, 1)).into());
}

async fn forgotten_history_is_listed_once(server: Server) {
    let objects = Objects::new(server.client());
    objects.create_shop().await;
    let source = server.source().await;
    let (session, mut known) = followed(&source).await;
    drop(session);
    server.wait_for_watches(0).await;

    let deleted = FactKey::named(FactKind::Pod, "shop", "web-1");
    objects.delete(&deleted).await;
    objects
        .create(FactKind::Service, objects::service("added", json!({})))
        .await;
    server.forget_history().await;

    let before = server.lists().await;
    let resume = std::mem::take(&mut known.cursors);
    known.lists.clear();
    let mut session = source.follow(resume);
    known.learn_until(&mut session, Known::is_complete).await;
    assert_eq!(known.fact(&deleted), None);
    assert_eq!(known.losses, FactKind::ALL.map(|kind| (kind, 1)).into());
    server.wait_for_watches(1).await;
    assert_eq!(known.lists, FactKind::ALL.map(|kind| (kind, 1)).into());
    let after = server.lists().await;
    for kind in FactKind::ALL {
        assert_eq!(after[&kind] - before[&kind], 1, "lists of {kind}");
    }
    known.assert_equals(&source.list().await.unwrap());
}

async fn watches_that_the_server_closes_resume_without_loss(mut server: Server) {
    let objects = Objects::new(server.client());
    objects.create_shop().await;
    let source = server.source().await;
    let (mut session, mut known) = followed(&source).await;
    for round in 0..3 {
        server.wait_for_watches(1).await;
        server.close_watches().await;
        let name = format!("round-{round}");
        let key = FactKey::named(FactKind::Service, "shop", &name);
        objects
            .create(FactKind::Service, objects::service(&name, json!({})))
            .await;
        known
            .learn_until(&mut session, |known| known.fact(&key).is_some())
            .await;
    }
    assert_eq!(known.lists, FactKind::ALL.map(|kind| (kind, 1)).into());
    known.assert_equals(&source.list().await.unwrap());
}
