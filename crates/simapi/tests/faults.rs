//! Faults that a client must outlive, in the order that a test chooses.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::fmt::Debug;
use std::pin::pin;
use std::time::Duration;

use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, ListParams, WatchEvent, WatchParams};
use kube::{Client, Error};
use lockstep_simapi::{
    Behaviour, Fault, FaultAnswer, FaultOn, GoneForm, Options, Rejection, SimApi, Verb,
};
use serde_json::json;
use tokio::time::timeout;

const DEADLINE: Duration = Duration::from_secs(20);

fn sim() -> (SimApi, Client) {
    let api = SimApi::new(Options::default());
    let client = Client::new(api.clone(), "default");
    (api, client)
}

fn put(api: &SimApi, kind: &str, name: &str) {
    let metadata = json!({"name": name, "namespace": "default"});
    let object = json!({"apiVersion": "v1", "kind": kind, "metadata": metadata});
    api.apply(object).unwrap();
}

fn meant(on: FaultOn, answer: FaultAnswer) -> Fault {
    let resource = "configmaps".to_owned();
    Fault {
        resource,
        on,
        answer,
    }
}

fn code<T: Debug>(result: Result<T, Error>) -> u16 {
    match result {
        Err(Error::Api(status)) => status.code,
        other => panic!("not refused: {other:?}"),
    }
}

async fn next<T: Debug>(
    stream: &mut (impl Stream<Item = Result<WatchEvent<T>, Error>> + Unpin),
) -> Option<WatchEvent<T>> {
    let event = timeout(DEADLINE, stream.next()).await.unwrap();
    event.map(Result::unwrap)
}

/// What a client of a server that was gone for a while goes through.
#[tokio::test]
async fn a_relist_after_deletions_fails_on_its_second_page_and_begins_anew() {
    let (api, client) = sim();
    for name in ["a", "b", "c", "d"] {
        put(&api, "ConfigMap", name);
    }
    let maps: Api<ConfigMap> = Api::all(client);
    let version = api.resource_version().to_string();
    let watch = maps.watch(&WatchParams::default(), &version).await.unwrap();
    let mut watch = pin!(watch);

    // Nobody watches again while the objects go.
    api.set_behaviour(Behaviour {
        reject: Some(Rejection {
            code: 503,
            retry_after: None,
            verb: Some(Verb::Watch),
            resource: None,
        }),
        ..Behaviour::default()
    });
    api.close_watches();
    assert!(next(&mut watch).await.is_none());
    let again = maps.watch(&WatchParams::default(), &version).await;
    assert_eq!(code(again.map(|_| ())), 503);
    api.delete("ConfigMap", "default", "a").unwrap();
    api.set_behaviour(Behaviour {
        gone: GoneForm::HttpStatus,
        faults: vec![
            meant(FaultOn::Watch, FaultAnswer::Expired),
            meant(FaultOn::NextPage, FaultAnswer::Code(500)),
            meant(FaultOn::NextPage, FaultAnswer::Code(500)),
            meant(FaultOn::NextPage, FaultAnswer::Expired),
        ],
        ..Behaviour::default()
    });
    let again = maps.watch(&WatchParams::default(), &version).await;
    assert_eq!(code(again.map(|_| ())), 410);

    let first = ListParams::default().limit(2);
    let page = maps.list(&first).await.unwrap();
    let second = first
        .clone()
        .continue_token(&page.metadata.continue_.unwrap());
    for expected in [500, 500, 410] {
        assert_eq!(code(maps.list(&second).await), expected);
    }
    let page = maps.list(&first).await.unwrap();
    let second = first.continue_token(&page.metadata.continue_.unwrap());
    let page = maps.list(&second).await.unwrap();
    let names: Vec<_> = page
        .items
        .into_iter()
        .map(|map| map.metadata.name.unwrap())
        .collect();
    assert_eq!(names, ["d"]);
    assert_eq!(api.behaviour().faults, []);
}

#[tokio::test]
async fn an_expired_page_tells_how_to_go_on_and_a_watch_may_be_told_in_the_stream() {
    let (api, client) = sim();
    for name in ["a", "b", "c"] {
        put(&api, "ConfigMap", name);
    }
    api.set_behaviour(Behaviour {
        faults: vec![
            meant(FaultOn::NextPage, FaultAnswer::Served),
            meant(FaultOn::NextPage, FaultAnswer::Expired),
            meant(FaultOn::Watch, FaultAnswer::Expired),
            meant(FaultOn::FirstPage, FaultAnswer::Expired),
        ],
        ..Behaviour::default()
    });
    let maps: Api<ConfigMap> = Api::all(client);
    assert_eq!(code(maps.list(&ListParams::default()).await), 410);
    let one = ListParams::default().limit(1);
    let first = maps.list(&one).await.unwrap();
    let second = one
        .clone()
        .continue_token(&first.metadata.continue_.unwrap());
    let second = maps.list(&second).await.unwrap();
    let third = one.continue_token(&second.metadata.continue_.unwrap());
    match maps.list(&third).await {
        Err(Error::Api(status)) => {
            let metadata = status.metadata.unwrap();
            assert_eq!(metadata.continue_.as_deref(), Some("-1:default/b"));
        }
        other => panic!("{other:?}"),
    }
    let watch = maps.watch(&WatchParams::default(), "3").await.unwrap();
    let mut watch = pin!(watch);
    match next(&mut watch).await {
        Some(WatchEvent::Error(status)) => assert_eq!(status.code, 410),
        other => panic!("{other:?}"),
    }
    assert!(next(&mut watch).await.is_none());
}

#[tokio::test]
async fn the_events_of_one_kind_wait_until_they_are_released() {
    let (api, client) = sim();
    let maps: Api<ConfigMap> = Api::all(client.clone());
    let secrets: Api<Secret> = Api::all(client);
    let version = api.resource_version().to_string();
    let parameters = WatchParams::default().timeout(1);
    let held = maps.watch(&parameters, &version).await.unwrap();
    api.hold_watches("configmaps").unwrap();
    put(&api, "ConfigMap", "first");
    let mut other = pin!(
        secrets
            .watch(&WatchParams::default(), &version)
            .await
            .unwrap()
    );
    put(&api, "Secret", "second");
    assert!(matches!(next(&mut other).await, Some(WatchEvent::Added(_))));
    // A watch that ends meanwhile has told nothing; one from the same version goes on.
    let mut held = pin!(held);
    assert!(next(&mut held).await.is_none());
    let mut held = pin!(maps.watch(&WatchParams::default(), &version).await.unwrap());
    api.release_watches("ConfigMap").unwrap();
    match next(&mut held).await {
        Some(WatchEvent::Added(map)) => assert_eq!(map.metadata.name.as_deref(), Some("first")),
        other => panic!("{other:?}"),
    }
}

/// What a list shows, and at which resource version.
async fn listed(client: &Client) -> (Vec<String>, String) {
    let maps = Api::<ConfigMap>::namespaced(client.clone(), "default");
    let list = maps.list(&ListParams::default()).await.unwrap();
    let names = list.items.iter();
    let names = names.filter_map(|map| map.metadata.name.clone());
    (names.collect(), list.metadata.resource_version.unwrap())
}

async fn watch_from(
    client: &Client,
    at: &str,
) -> Result<impl Stream<Item = Result<WatchEvent<ConfigMap>, Error>> + Unpin + use<>, Error> {
    let maps = Api::<ConfigMap>::namespaced(client.clone(), "default");
    let stream = maps.watch(&WatchParams::default(), at).await?;
    Ok(Box::pin(stream))
}

#[tokio::test]
async fn a_lost_event_is_shown_by_lists_alone() {
    let (api, client) = sim();
    let before = listed(&client).await.1;
    let mut watch = watch_from(&client, &before).await.unwrap();
    api.lose_events("ConfigMap", 2).unwrap();
    put(&api, "ConfigMap", "a");
    put(&api, "Secret", "not-lost");
    api.delete("ConfigMap", "default", "a").unwrap();
    put(&api, "ConfigMap", "b");
    for watch in [&mut watch, &mut watch_from(&client, &before).await.unwrap()] {
        match next(watch).await {
            Some(WatchEvent::Added(map)) => assert_eq!(map.metadata.name.unwrap(), "b"),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(listed(&client).await.0, ["b"]);
}

#[tokio::test]
async fn a_server_that_lags_shows_what_was_and_catches_up() {
    let (api, client) = sim();
    put(&api, "ConfigMap", "a");
    let (_, at_a) = listed(&client).await;
    put(&api, "ConfigMap", "b");
    let (_, at_b) = listed(&client).await;
    api.lag(1);
    assert_eq!(listed(&client).await, (vec!["a".to_owned()], at_a.clone()));
    let mut watch = watch_from(&client, &at_a).await.unwrap();
    api.lag(0);
    match next(&mut watch).await {
        Some(WatchEvent::Added(map)) => assert_eq!(map.metadata.name.unwrap(), "b"),
        other => panic!("{other:?}"),
    }
    assert_eq!(listed(&client).await.1, at_b);
}

#[tokio::test]
async fn a_restored_store_is_as_it_was_and_counts_from_there() {
    let (api, client) = sim();
    put(&api, "ConfigMap", "a");
    let (_, backup) = listed(&client).await;
    put(&api, "ConfigMap", "b");
    api.delete("ConfigMap", "default", "a").unwrap();
    let (_, late) = listed(&client).await;
    let mut open = watch_from(&client, &late).await.unwrap();
    api.restore(backup.parse().unwrap()).unwrap();
    assert!(next(&mut open).await.is_none());
    assert_eq!(
        listed(&client).await,
        (vec!["a".to_owned()], backup.clone())
    );
    put(&api, "ConfigMap", "c");
    let (names, now) = listed(&client).await;
    assert_eq!(names, ["a", "c"]);
    assert_eq!(now.parse(), backup.parse::<u64>().map(|it| it + 1));
    let forgotten = api.restore(0).unwrap_err().to_string();
    assert_eq!(
        forgotten,
        "resource version 0 is older than the history of the server"
    );
}
