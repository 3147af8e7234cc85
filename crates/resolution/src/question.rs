//! What a client asks about, read from the text it sends.

use lockstep_model::{Authority, Host, ServiceKind, Settings, Target, Text};
use lockstep_state::State;

use crate::Refusal;

/// What a `GetProfile` asks about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Question {
    /// The text as the client sent it, for refusals.
    pub path: Text,
    /// What it says.
    pub authority: Authority,
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
pub fn question(state: &State, path: &str) -> Result<Question, Refusal> {
    Ok(Question {
        path: path.into(),
        authority: authority(state, path)?,
    })
}

/// Whether a `Get` on a target can begin. A stream that has begun is not
/// asked again: what becomes of its service is then told, not refused.
///
/// # Errors
///
/// [`Refusal::ServiceNotFound`] and [`Refusal::ExternalName`].
pub fn servable(state: &State, target: &Target, path: &str) -> Result<(), Refusal> {
    match state.content().service(&target.service) {
        None => Err(Refusal::ServiceNotFound {
            service: target.service.clone(),
        }),
        Some(service) => match service.kind {
            ServiceKind::Endpoints => Ok(()),
            ServiceKind::ExternalName => Err(Refusal::ExternalName { path: path.into() }),
        },
    }
}

fn authority(state: &State, path: &str) -> Result<Authority, Refusal> {
    let domain = &settings(state)?.cluster_domain;
    Authority::parse(path, domain).map_err(|_| Refusal::InvalidAuthority { path: path.into() })
}

pub(crate) fn settings(state: &State) -> Result<&Settings, Refusal> {
    let settings = state.content().settings().filter(|_| state.is_synced());
    settings.map(AsRef::as_ref).ok_or(Refusal::NotSynced)
}
