//! What is said of an external workload: a machine outside of the cluster with a proxy of
//! its own.

use lockstep_model::{ExternalWorkload, OwnerRef, Settings};

use crate::{
    Described, Hint, HintedProtocol, Identity, Labels,
    describe::{is_through_proxy, listed, owner_key},
    labels::put,
};

/// How the kind of an owner becomes the key of a label: the two methods of the API
/// disagree, and each is kept as its clients know it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum OwnerKey {
    /// `deployment`, as `Get` says it.
    LowerCase,
    /// `Deployment`, as `GetProfile` says it.
    AsWritten,
}

impl Described {
    /// An external workload, as it is reached on `port`.
    ///
    /// It is always in the mesh, so it has a hint and an identity whatever its ports are,
    /// and a hint for HTTP/2 whether or not pods have one.
    pub(crate) fn external(
        settings: &Settings,
        workload: &ExternalWorkload,
        port: u16,
        key: OwnerKey,
    ) -> Self {
        let opaque = is_external_opaque(settings, workload, port);
        let protocol = if opaque {
            HintedProtocol::Opaque
        } else {
            HintedProtocol::H2
        };
        let inbound_port = is_through_proxy(settings, opaque).then_some(workload.inbound_port);
        Self {
            labels: labels(workload, key),
            identity: Some(Identity::External {
                uri: workload.identity.clone(),
                server_name: workload.server_name.clone(),
            }),
            hint: Some(Hint {
                protocol: Some(protocol),
                inbound_port,
            }),
            http2: settings.meshed_http2.clone(),
            ..Self::bare()
        }
    }
}

/// Whether an external workload's port carries opaque bytes.
pub(crate) fn is_external_opaque(
    settings: &Settings,
    workload: &ExternalWorkload,
    port: u16,
) -> bool {
    listed(settings, workload.opaque.as_ref(), port) || workload.opaque_by_server.contains(port)
}

fn labels(workload: &ExternalWorkload, key: OwnerKey) -> Labels {
    let mut labels = Labels::new();
    // First, so that no kind of owner can hide a label of ours.
    if let Some(OwnerRef { kind, name }) = &workload.owner {
        let label = match key {
            OwnerKey::LowerCase => owner_key(&kind.to_lowercase()),
            OwnerKey::AsWritten => owner_key(kind),
        };
        labels.insert(label, name.clone());
    }
    put(&mut labels, "external_workload", &workload.id.name);
    labels
}
