//! What is said of an endpoint (A5, A8).

use crate::{
    Behind, Described, External, Hint, Identity, Labels, Pod, Ports, Protocol, Settings, Slice,
    Text, Transport,
    near::{Candidate, Place},
};

const WEIGHT: u32 = 10_000;

/// What is said of one endpoint to a client at a place; none if it may not be told (A5.5).
/// `requested` is the port of the service that the client asked for.
pub(crate) fn describe(
    settings: &Settings,
    place: Place<'_>,
    candidate: Candidate<'_>,
    requested: u16,
) -> Option<Described> {
    let endpoint = candidate.endpoint;
    let locality = locality(place.zone, endpoint.zone.as_ref());
    let mut described = match &endpoint.behind {
        Behind::Pod(it) => pod(settings, it, candidate.port)?,
        Behind::External(it) => external(settings, it, candidate.port),
        Behind::Nothing => nothing(settings, candidate.slice, requested),
    };
    match &endpoint.behind {
        Behind::Pod(_) | Behind::External(_) => {
            let zone = endpoint.zone.clone().unwrap_or_default();
            described.labels.insert("zone".into(), zone);
            put(&mut described.labels, "zone_locality", locality);
        }
        // A7.8: the zone of a slice's bare address is discarded.
        Behind::Nothing => put(&mut described.labels, "zone_locality", "unknown"),
    }
    if settings.zone_weights
        && described.labels.get("zone_locality").map(AsRef::as_ref) == Some("local")
    {
        described.weight *= 10;
    }
    Some(described)
}

fn bare() -> Described {
    Described {
        weight: WEIGHT,
        labels: Labels::new(),
        identity: None,
        hint: None,
        authority_override: None,
        http2: None,
    }
}

fn pod(settings: &Settings, pod: &Pod, port: u16) -> Option<Described> {
    let mut described = bare();
    let labels = &mut described.labels;
    labels.insert(pod.owner.label.clone(), pod.owner.name.clone());
    labels.insert("pod".into(), pod.name.name.clone());
    labels.insert("serviceaccount".into(), pod.service_account.clone());
    if let Some(control_plane) = &pod.control_plane {
        labels.insert("control_plane_ns".into(), control_plane.clone());
    }
    if let Some(hash) = &pod.template_hash {
        labels.insert("pod_template_hash".into(), hash.clone());
    }
    let Some(control_plane) = &pod.control_plane else {
        return Some(described);
    };
    if pod.skipped.contains(port) {
        return Some(described);
    }
    described.hint = Some(pod_hint(settings, pod, port)?);
    described.http2 = settings.http2;
    if *control_plane == settings.control_plane && !settings.trust_domain.is_empty() {
        described.identity = Some(pod_identity(settings, pod));
    }
    Some(described)
}

/// A8.5, A8.6; none without the listeners that A5.5 asks for.
fn pod_hint(settings: &Settings, pod: &Pod, port: u16) -> Option<Hint> {
    let admin = pod.listeners.admin?;
    let control = pod.listeners.control?;
    let opaque = is_opaque(settings, pod.opaque.as_ref(), &pod.opaque_by_server, port);
    let protocol = if opaque {
        Some(Protocol::Opaque)
    } else {
        settings.h2_upgrade.then_some(Protocol::H2)
    };
    let inbound_port = if through_proxy(settings, opaque) && ![admin, control].contains(&port) {
        Some(pod.listeners.inbound?)
    } else {
        None
    };
    Some(Hint {
        protocol,
        inbound_port,
    })
}

/// A8.7.
fn pod_identity(settings: &Settings, pod: &Pod) -> Identity {
    let name: Text = format!(
        "{}.{}.serviceaccount.identity.{}.{}",
        pod.service_account, pod.name.namespace, settings.control_plane, settings.trust_domain
    )
    .into();
    Identity::Dns {
        server_name: name.clone(),
        name,
    }
}

/// A8.8.
fn external(settings: &Settings, external: &External, port: u16) -> Described {
    let mut described = bare();
    let labels = &mut described.labels;
    if let Some(owner) = &external.owner {
        labels.insert(owner.label.clone(), owner.name.clone());
    }
    labels.insert("external_workload".into(), external.name.name.clone());
    let opaque = is_opaque(
        settings,
        external.opaque.as_ref(),
        &external.opaque_by_server,
        port,
    );
    let through_proxy = through_proxy(settings, opaque);
    described.hint = Some(Hint {
        protocol: Some(if opaque {
            Protocol::Opaque
        } else {
            Protocol::H2
        }),
        inbound_port: through_proxy.then_some(external.inbound),
    });
    described.identity = Some(Identity::Uri {
        uri: external.identity.clone(),
        server_name: external.server_name.clone(),
    });
    described.http2 = settings.http2;
    described
}

/// A8.9, A8.10.
fn nothing(settings: &Settings, slice: &Slice, requested: u16) -> Described {
    let mut described = bare();
    let mirror = &slice.mirror;
    let remote = mirror.remote_service.as_ref();
    described.authority_override = remote.map(|name| format!("{name}:{requested}").into());
    if let Some(gateway) = &mirror.gateway_identity {
        described.identity = Some(Identity::Dns {
            name: gateway.clone(),
            server_name: "".into(),
        });
        described.hint = settings.h2_upgrade.then_some(Hint {
            protocol: Some(Protocol::H2),
            inbound_port: None,
        });
        described.http2 = settings.http2;
    }
    described
}

/// A13.6.
fn is_opaque(settings: &Settings, own: Option<&Ports>, servers: &Ports, port: u16) -> bool {
    own.unwrap_or(&settings.default_opaque).contains(port) || servers.contains(port)
}

fn through_proxy(settings: &Settings, opaque: bool) -> bool {
    opaque || settings.transport == Transport::TransportHeader
}

/// A8.12.
fn locality(client: Option<&Text>, endpoint: Option<&Text>) -> &'static str {
    match (client, endpoint) {
        (Some(client), Some(endpoint)) if client == endpoint => "local",
        (Some(_), Some(_)) => "remote",
        (Some(_) | None, _) => "unknown",
    }
}

fn put(labels: &mut Labels, key: &str, value: &str) {
    labels.insert(key.into(), value.into());
}
