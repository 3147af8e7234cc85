//! The ServiceProfile that counts for one client.

use lockstep_model::{ServiceId, ServiceProfileId, ServiceProfileRecord, Settings, Text};
use lockstep_state::Content;
use std::sync::Arc;

use crate::Question;

/// The ServiceProfile that counts for one client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenProfile {
    /// Which one.
    pub id: ServiceProfileId,
    /// What it says.
    pub record: Arc<ServiceProfileRecord>,
}

/// The ServiceProfiles of a service that may count for a client, the first that exists
/// does: that of the client's own namespace, then that of the service's.
pub(crate) fn candidates(
    settings: &Settings,
    question: &Question,
    service: &ServiceId,
) -> impl Iterator<Item = ServiceProfileId> + use<> {
    let name = full_name(settings, service);
    let namespaces = [question.namespace.clone(), Some(service.namespace.clone())];
    namespaces
        .into_iter()
        .flatten()
        .map(move |namespace| ServiceProfileId {
            namespace,
            name: name.clone(),
        })
}

/// The one that counts.
pub(crate) fn chosen(
    content: &Content,
    settings: &Settings,
    question: &Question,
    service: &ServiceId,
) -> Option<ChosenProfile> {
    candidates(settings, question, service).find_map(|id| {
        let record = content.service_profile(&id)?.clone();
        Some(ChosenProfile { id, record })
    })
}

/// The full name of a service, without a port: `web.shop.svc.cluster.local`.
pub(crate) fn full_name(settings: &Settings, service: &ServiceId) -> Text {
    let ServiceId { namespace, name } = service;
    format!("{name}.{namespace}.svc.{}", settings.cluster_domain).into()
}
