//! What a client asks about, read from the text it sends.

use lockstep_model::{
    Authority, Host, RemoteDiscovery, ServiceKind, ServiceRecord, Settings, Target, Text,
};
use lockstep_state::State;

use crate::{Client, Refusal};

/// What a `GetProfile` asks about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Question {
    /// The text as the client sent it, for refusals.
    pub path: Text,
    /// What it says.
    pub authority: Authority,
    /// The namespace of the client, whose ServiceProfile wins; `None` if it does not say.
    pub namespace: Option<Text>,
}

/// Reads what a `Get` asks about.
///
/// # Errors
///
/// [`Refusal::NotSynced`] before the first sync, when even the cluster's domain
/// is unknown; [`Refusal::InvalidAuthority`] and [`Refusal::IpNotSupported`] for
/// a path that names no service.
pub fn target(state: &State, path: &str) -> Result<Target, Refusal> {
    let Authority { host, port } = authority(state, path)?;
    match host {
        Host::Ip(host) => Err(Refusal::IpNotSupported { host }),
        Host::Service { service, hostname } => Ok(Target {
            service,
            port,
            hostname,
        }),
    }
}

/// Reads what a `GetProfile` asks about.
///
/// # Errors
///
/// [`Refusal::NotSynced`] before the first sync, [`Refusal::InvalidAuthority`]
/// for a path that names neither an address nor a service.
pub fn question(state: &State, path: &str, client: &Client) -> Result<Question, Refusal> {
    Ok(Question {
        path: path.into(),
        authority: authority(state, path)?,
        namespace: client.namespace.clone(),
    })
}

/// Whether a `Get` on a target can begin. A stream that has begun is not
/// asked again: what becomes of its service is then told, not refused.
///
/// # Errors
///
/// [`Refusal::ServiceNotFound`], unless [`Settings::answer_absent`] is on;
/// [`Refusal::Federated`],
/// [`Refusal::RemoteServiceUnnamed`] and [`Refusal::ClusterNotFound`] for a service whose
/// endpoints are in other clusters, none of which is known; [`Refusal::ExternalName`].
pub fn servable(state: &State, target: &Target, path: &str) -> Result<(), Refusal> {
    let Some(service) = state.content().service(&target.service) else {
        let service = target.service.clone();
        return match settings(state)?.answer_absent {
            true => Ok(()),
            false => Err(Refusal::ServiceNotFound { service }),
        };
    };
    if service.is_federated {
        let service = target.service.clone();
        return Err(Refusal::Federated { service });
    }
    is_local(service, path)?;
    match service.kind {
        ServiceKind::Endpoints => Ok(()),
        ServiceKind::ExternalName => Err(Refusal::ExternalName { path: path.into() }),
    }
}

fn is_local(service: &ServiceRecord, path: &str) -> Result<(), Refusal> {
    let Some(RemoteDiscovery { cluster, service }) = &service.remote else {
        return Ok(());
    };
    Err(match service {
        None => Refusal::RemoteServiceUnnamed { path: path.into() },
        Some(_) => Refusal::ClusterNotFound {
            cluster: cluster.clone(),
        },
    })
}

fn authority(state: &State, path: &str) -> Result<Authority, Refusal> {
    let domain = &settings(state)?.cluster_domain;
    let invalid = |_| Refusal::InvalidAuthority { path: path.into() };
    let authority = Authority::parse(path, domain).map_err(invalid)?;
    Ok(Authority {
        host: without_empty_hostname(authority.host),
        ..authority
    })
}

/// An empty name in front of a service asks for nothing special, as in the controller that
/// clients know.
fn without_empty_hostname(host: Host) -> Host {
    match host {
        Host::Service {
            service,
            hostname: Some(hostname),
        } if hostname.is_empty() => Host::Service {
            service,
            hostname: None,
        },
        Host::Service { .. } | Host::Ip(_) => host,
    }
}

pub(crate) fn settings(state: &State) -> Result<&Settings, Refusal> {
    let settings = state.content().settings().filter(|_| state.is_synced());
    settings.map(AsRef::as_ref).ok_or(Refusal::NotSynced)
}
