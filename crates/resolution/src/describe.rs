//! What is said of one address: the fields of `WeightedAddr`.

use lockstep_model::{
    Http2Params, Mirror, PortSet, Settings, SliceRecord, Text, TransportMode, Workload,
};
use std::borrow::Cow;

use crate::labels::{Labels, put};

/// The weight of an address without a reason for another one.
///
/// Unit: ten-thousandths of the default share. Source: `WeightedAddr.weight`.
pub const WEIGHT_DEFAULT: u32 = 10_000;

/// Everything that is said of one address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Described {
    /// Relative share of traffic, in ten-thousandths of the default share.
    pub weight: u32,
    /// Labels of this address alone.
    pub labels: Labels,
    /// The name to expect in its certificate; `None`: no TLS.
    pub identity: Option<Identity>,
    /// How to speak to it; `None` is another message than an empty hint.
    pub hint: Option<Hint>,
    /// The authority to ask it for instead of the client's own.
    pub authority_override: Option<Text>,
    /// HTTP/2 parameters for connections to it.
    pub http2: Option<Http2Params>,
}

/// The name in the certificate of whoever answers at an address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Identity {
    /// A workload of this mesh: its name is also the server name to ask for.
    Workload(Text),
    /// The gateway of another cluster: no server name is said.
    Gateway(Text),
    /// An external workload: a URI such as `spiffe://root.example/vm`.
    External {
        /// The URI.
        uri: Text,
        /// The server name to ask for, perhaps empty.
        server_name: Text,
    },
}

/// Which protocol an address speaks.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hint {
    /// The protocol, if one is hinted.
    pub protocol: Option<HintedProtocol>,
    /// The port of its proxy that takes opaque transport. Range: 1 to 65535.
    pub inbound_port: Option<u16>,
}

/// A protocol that an address is said to speak.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HintedProtocol {
    /// HTTP/2, between proxies.
    H2,
    /// Unknown bytes.
    Opaque,
}

impl Described {
    /// An address of which nothing is known.
    #[must_use]
    pub fn bare() -> Self {
        Self {
            weight: WEIGHT_DEFAULT,
            labels: Labels::new(),
            identity: None,
            hint: None,
            authority_override: None,
            http2: None,
        }
    }

    /// A pod, as it is reached on `port`.
    ///
    /// `None` for a meshed pod whose proxy does not say where it listens: a
    /// client that was told of it could only fail.
    pub(crate) fn pod(settings: &Settings, workload: &Workload, port: u16) -> Option<Self> {
        let mut described = Self {
            labels: of_workload(workload),
            ..Self::bare()
        };
        let skipped = workload.rules.skip_inbound.contains(port);
        if workload.control_plane.is_none() || skipped {
            return Some(described);
        }
        described.hint = Some(pod_hint(settings, workload, port)?);
        described.identity = identity(settings, workload);
        described.http2.clone_from(&settings.meshed_http2);
        Some(described)
    }

    /// An address without a pod behind it: foreign, or a mirror's gateway.
    /// `requested` is the port that the client asked for.
    pub(crate) fn address(settings: &Settings, slice: &SliceRecord, requested: u16) -> Self {
        let Mirror {
            gateway_identity,
            remote_service,
            cluster: _,
        } = &slice.mirror;
        let mut described = Self::bare();
        described.authority_override = remote_service
            .as_ref()
            .map(|remote| format!("{remote}:{requested}").into());
        if let Some(gateway) = gateway_identity {
            described.identity = Some(Identity::Gateway(gateway.clone()));
            described.http2.clone_from(&settings.meshed_http2);
            described.hint = settings.h2_upgrade.then_some(Hint {
                protocol: Some(HintedProtocol::H2),
                inbound_port: None,
            });
        }
        described
    }
}

/// Whether a pod's port carries opaque bytes.
pub(crate) fn is_opaque(settings: &Settings, workload: &Workload, port: u16) -> bool {
    let own = workload.rules.opaque.as_ref();
    listed(settings, own, port) || workload.opaque_by_server.contains(port)
}

/// Whether a port is opaque by the annotation of an object, or by default without one.
pub(crate) fn listed(settings: &Settings, annotated: Option<&PortSet>, port: u16) -> bool {
    annotated
        .unwrap_or(&settings.default_opaque_ports)
        .contains(port)
}

/// Whether an address is reached through its proxy.
pub(crate) fn is_through_proxy(settings: &Settings, opaque: bool) -> bool {
    match settings.transport_mode {
        TransportMode::TransportHeader => true,
        TransportMode::Transparent => opaque,
    }
}

fn pod_hint(settings: &Settings, workload: &Workload, port: u16) -> Option<Hint> {
    let listeners = workload.rules.listeners;
    let (admin, control) = (listeners.admin?, listeners.control?);
    let opaque = is_opaque(settings, workload, port);
    let protocol = match (opaque, settings.h2_upgrade) {
        (true, _) => Some(HintedProtocol::Opaque),
        (false, true) => Some(HintedProtocol::H2),
        (false, false) => None,
    };
    let through_proxy = is_through_proxy(settings, opaque);
    // The proxy answers on these two itself; its inbound port would not lead there.
    let inbound_port = if through_proxy && port != admin && port != control {
        Some(listeners.inbound?)
    } else {
        None
    };
    Some(Hint {
        protocol,
        inbound_port,
    })
}

/// A pod of another control plane has an identity that this one cannot name.
fn identity(settings: &Settings, workload: &Workload) -> Option<Identity> {
    let ours = workload.control_plane.as_ref() == Some(&settings.control_plane);
    (ours && !settings.trust_domain.is_empty()).then(|| {
        let name = format!(
            "{}.{}.serviceaccount.identity.{}.{}",
            workload.service_account,
            workload.pod.namespace,
            settings.control_plane,
            settings.trust_domain
        );
        Identity::Workload(name.into())
    })
}

fn of_workload(workload: &Workload) -> Labels {
    let mut labels = Labels::new();
    // First, so that no kind of owner can hide a label of ours.
    labels.insert(
        owner_key(&workload.owner.label),
        workload.owner.name.clone(),
    );
    put(&mut labels, "pod", &workload.pod.name);
    put(&mut labels, "serviceaccount", &workload.service_account);
    if let Some(control_plane) = &workload.control_plane {
        put(&mut labels, "control_plane_ns", control_plane);
    }
    if let Some(hash) = &workload.template_hash {
        put(&mut labels, "pod_template_hash", hash);
    }
    labels
}

pub(crate) fn owner_key(label: &str) -> Cow<'static, str> {
    const BUILT_IN: [&str; 7] = [
        "pod",
        "deployment",
        "replicaset",
        "statefulset",
        "daemonset",
        "k8s_job",
        "cronjob",
    ];
    let known = BUILT_IN.into_iter().find(|known| *known == label);
    known.map_or_else(|| Cow::Owned(label.to_owned()), Cow::Borrowed)
}
