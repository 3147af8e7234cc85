//! Every surface on which a replica says how old its answers are, in words that can be compared.

use linkerd2_proxy_api::destination::destination_client::DestinationClient;
use serde_json::Value;
use std::{fmt, net::SocketAddr, process::Command};
use tonic::{Code, metadata::MetadataMap, transport::Channel};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use super::{api::plain_get, proxy::ask, status};

/// What one surface says; `None` of what it does not speak of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    pub state: Option<String>,
    pub ready: Option<bool>,
    /// Whether new streams are served.
    pub serves: Option<bool>,
    pub stale: Option<bool>,
    pub source_stale: Option<bool>,
}

/// What all of them have to say.
#[derive(Copy, Clone, Debug)]
pub struct Row {
    pub state: &'static str,
    pub ready: bool,
    pub serves: bool,
    pub stale: bool,
    pub source_stale: bool,
}

impl Row {
    fn agrees(&self, said: &Said) -> bool {
        let is = |said: Option<bool>, row: bool| said.is_none_or(|said| said == row);
        said.state
            .as_deref()
            .is_none_or(|state| state == self.state)
            && is(said.ready, self.ready)
            && is(said.serves, self.serves)
            && is(said.stale, self.stale)
            && is(said.source_stale, self.source_stale)
    }
}

/// The table of the page on freshness.
pub const SYNCING: Row = row("syncing", false, false, true, false);
pub const FRESH: Row = row("fresh", true, true, false, false);
pub const SOURCE_STALE: Row = row("source-stale", true, true, false, true);
pub const STALE: Row = row("stale", true, true, true, false);
pub const STALE_AND_REFUSING: Row = row("stale", false, false, true, false);
pub const YIELDING: Row = row("yielding", false, false, true, false);

const fn row(
    state: &'static str,
    ready: bool,
    serves: bool,
    stale: bool,
    source_stale: bool,
) -> Row {
    Row {
        state,
        ready,
        serves,
        stale,
        source_stale,
    }
}

/// One replica's ports.
#[derive(Copy, Clone, Debug)]
pub struct Ports {
    pub proxy: SocketAddr,
    pub admin: SocketAddr,
}

/// What each surface says, all asked at the same time.
pub async fn look(ports: Ports, path: &str) -> Result<Vec<(&'static str, Said)>, String> {
    let (status, ready, metrics, proxy_health, admin_health, stream, verb) = tokio::join!(
        of_status(ports.admin),
        of_ready(ports.admin),
        of_metrics(ports.admin),
        of_health(ports.proxy),
        of_health(ports.admin),
        of_stream(ports.proxy, path),
        of_verb(ports.admin),
    );
    Ok(vec![
        ("Status", status?),
        ("/ready", ready?),
        ("metrics", metrics?),
        ("health on the proxy port", proxy_health?),
        ("health on the admin port", admin_health?),
        ("response headers", stream?),
        ("lockstep status", verb?),
    ])
}

/// Whether all surfaces say what the row says; an error names those that do not.
pub async fn agree(ports: Ports, path: &str, row: &Row) -> Result<(), String> {
    let said = look(ports, path).await?;
    let differing: Vec<_> = said.iter().filter(|(_, said)| !row.agrees(said)).collect();
    if differing.is_empty() {
        Ok(())
    } else {
        Err(format!("{differing:?}, not {row:?}"))
    }
}

fn text(error: impl fmt::Display) -> String {
    error.to_string()
}

async fn of_status(admin: SocketAddr) -> Result<Said, String> {
    use lockstep_proto::admin::v1::freshness::State;
    let said = status(admin).await?.freshness.ok_or("no freshness")?;
    let state = match said.state() {
        State::Unspecified => "unspecified",
        State::Syncing => "syncing",
        State::Fresh => "fresh",
        State::SourceStale => "source-stale",
        State::Stale => "stale",
        State::Yielding => "yielding",
        State::Quarantined => "quarantined",
    };
    Ok(Said {
        state: Some(state.to_owned()),
        ready: Some(said.ready),
        stale: said.age_ms.map(|age| age > said.limit_ms),
        source_stale: said.source_age_ms.map(|age| age > said.source_limit_ms),
        ..Said::default()
    })
}

async fn of_ready(admin: SocketAddr) -> Result<Said, String> {
    let answer = plain_get(admin, "/ready").await.map_err(text)?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("no body")?;
    let ready = head.lines().next().is_some_and(|line| line.contains("200"));
    let words = body
        .trim()
        .strip_prefix(if ready { "ok: " } else { "not ready: " });
    let state = words.and_then(|words| words.split(':').next());
    Ok(Said {
        state: Some(state.ok_or(answer.clone())?.to_owned()),
        ready: Some(ready),
        ..Said::default()
    })
}

async fn of_metrics(admin: SocketAddr) -> Result<Said, String> {
    let answer = plain_get(admin, "/metrics").await.map_err(text)?;
    let is = |name: &str| {
        let line = answer.lines().find(|line| line.starts_with(name));
        line.map(|line| line.ends_with(" 1"))
    };
    let state = answer.lines().find_map(|line| {
        let line = line.strip_prefix("lockstep_freshness{state=\"")?;
        line.strip_suffix("\"} 1")
    });
    Ok(Said {
        state: Some(state.ok_or("no state")?.to_owned()),
        ready: is("lockstep_ready "),
        stale: is("lockstep_stale "),
        source_stale: is("lockstep_source_stale "),
        ..Said::default()
    })
}

async fn of_health(address: SocketAddr) -> Result<Said, String> {
    let endpoint = Channel::from_shared(format!("http://{address}")).map_err(text)?;
    let client = HealthClient::new(endpoint.connect().await.map_err(text)?);
    let serving = async |service: &str| {
        let request = HealthCheckRequest {
            service: service.to_owned(),
        };
        let answer = client.clone().check(request).await.map_err(text)?;
        Ok::<bool, String>(answer.into_inner().status() == ServingStatus::Serving)
    };
    Ok(Said {
        state: None,
        ready: Some(serving("").await?),
        serves: Some(serving("io.linkerd.proxy.destination.Destination").await?),
        stale: Some(!serving("lockstep.fresh.Copy").await?),
        source_stale: Some(!serving("lockstep.fresh.Source").await?),
    })
}

/// What the headers of a new stream say, or those of its refusal.
async fn of_stream(proxy: SocketAddr, path: &str) -> Result<Said, String> {
    let client = DestinationClient::connect(format!("http://{proxy}")).await;
    let opened = client.map_err(text)?.get(ask(path)).await;
    let (serves, headers) = match &opened {
        Ok(response) => (true, response.metadata()),
        Err(status) => (false, status.metadata()),
    };
    if let Err(status) = &opened {
        let pause = headers.get("grpc-retry-pushback-ms");
        if status.code() != Code::Unavailable || pause.is_none() {
            return Err(format!("refused for good: {status:?}"));
        }
    }
    for name in ["lockstep-revision", "lockstep-history"] {
        headers.get(name).ok_or(format!("no {name}: {headers:?}"))?;
    }
    Ok(Said {
        serves: Some(serves),
        stale: flag(headers, "lockstep-stale"),
        source_stale: flag(headers, "lockstep-source-stale"),
        ..Said::default()
    })
}

fn flag(headers: &MetadataMap, name: &str) -> Option<bool> {
    match headers.get(name)?.to_str().ok()? {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// What an operator sees who types `lockstep status`.
async fn of_verb(admin: SocketAddr) -> Result<Said, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockstep"));
    command.args(["status", "--output=json", "--admin", &admin.to_string()]);
    let output = tokio::task::spawn_blocking(move || command.output());
    let output = output.await.map_err(text)?.map_err(text)?;
    let said: Value = serde_json::from_slice(&output.stdout).map_err(text)?;
    let replica = &said["replicas"][0];
    let age = |name: &str| replica[name].as_u64();
    Ok(Said {
        state: replica["freshness"].as_str().map(ToOwned::to_owned),
        ready: replica["ready"].as_bool(),
        stale: age("age_ms")
            .zip(age("limit_ms"))
            .map(|(age, limit)| age > limit),
        source_stale: age("source_age_ms")
            .zip(age("source_limit_ms"))
            .map(|(age, limit)| age > limit),
        ..Said::default()
    })
}
