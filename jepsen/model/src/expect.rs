//! What is true of a question: the projection of content to one client.

use std::sync::Arc;

use crate::{
    Asked, Content, Expected, ExpectedSet, Labels, Name, Question, Readiness, Service, ServiceKind,
    Settings, Slice,
    describe::describe,
    near::{Candidate, Place, near},
};

/// What is true of a question.
#[must_use]
pub fn expect(content: &Content, question: &Question) -> Expected {
    let Some(settings) = content.settings() else {
        return Expected::Unsynced;
    };
    let Ok(asked) = Asked::parse(&question.authority, &settings.cluster_domain) else {
        return Expected::Refused;
    };
    let Some(service) = content.service(&asked.service) else {
        return Expected::Absent;
    };
    let projection = Projection {
        content,
        settings,
        service,
        asked: &asked,
        place: Place::of(content, &question.node),
    };
    match service.kind {
        ServiceKind::ExternalName => Expected::Alias(projection.set()),
        ServiceKind::Elsewhere => Expected::Elsewhere,
        ServiceKind::Endpoints => Expected::Present(projection.set()),
    }
}

struct Projection<'a> {
    content: &'a Content,
    settings: &'a Settings,
    service: &'a Service,
    asked: &'a Asked,
    place: Place<'a>,
}

impl Projection<'_> {
    fn set(&self) -> ExpectedSet {
        let ready = self.of_readiness(Readiness::Ready);
        if ready.endpoints.is_empty() && self.settings.serve_leaving {
            return self.of_readiness(Readiness::Leaving);
        }
        ready
    }

    /// The union of all slices, keyed by address and port (G-Q2, G-Q3).
    fn of_readiness(&self, readiness: Readiness) -> ExpectedSet {
        let mut set = ExpectedSet {
            labels: self.labels(),
            ..ExpectedSet::default()
        };
        let candidates = self.candidates(readiness);
        for candidate in near(self.settings, self.service, self.place, candidates) {
            let described = describe(self.settings, self.place, candidate, self.asked.port);
            if let Some(described) = described {
                let address = (candidate.endpoint.ip, candidate.port).into();
                let claims = set.endpoints.entry(address).or_default();
                claims.push(Arc::new(described));
            }
        }
        set
    }

    fn candidates(&self, readiness: Readiness) -> Vec<Candidate<'_>> {
        let mut candidates = Vec::new();
        for slice in self.content.slices_of(&self.asked.service) {
            let Some(port) = port_in(slice, self.service, self.asked.port) else {
                continue;
            };
            let hostname = &self.asked.hostname;
            let asked = slice.endpoints.iter().filter(|endpoint| {
                endpoint.readiness == readiness
                    && (hostname.is_none() || endpoint.hostname == *hostname)
            });
            candidates.extend(asked.map(|endpoint| Candidate {
                slice,
                endpoint,
                port,
            }));
        }
        candidates
    }

    /// A9: any current slice may give them.
    fn labels(&self) -> Vec<Arc<Labels>> {
        let mut labels: Vec<Arc<Labels>> = Vec::new();
        for slice in self.content.slices_of(&self.asked.service) {
            let of_slice = set_labels(&self.asked.service, slice);
            if !labels.iter().any(|known| **known == of_slice) {
                labels.push(of_slice.into());
            }
        }
        labels
    }
}

/// The number that a slice's endpoints listen on for a requested port (A6).
fn port_in(slice: &Slice, service: &Service, requested: u16) -> Option<u16> {
    let declared = service.ports.iter().find(|port| port.port == requested);
    match declared {
        Some(declared) => {
            let named = slice.ports.iter().find(|port| port.name == declared.name);
            named.map(|port| port.port)
        }
        None => (!slice.ports.is_empty()).then_some(requested),
    }
}

fn set_labels(service: &Name, slice: &Slice) -> Labels {
    let mut labels = Labels::new();
    let name = if slice.labelled {
        service.name.clone()
    } else {
        "".into()
    };
    labels.insert("service".into(), name);
    labels.insert("namespace".into(), service.namespace.clone());
    let Some(cluster) = &slice.mirror.cluster else {
        return labels;
    };
    labels.insert("target_cluster".into(), cluster.clone());
    let remote = slice.mirror.remote_service.as_deref().unwrap_or_default();
    if let Some((name, rest)) = remote.split_once('.') {
        let namespace = rest.split('.').next().unwrap_or_default();
        labels.insert("target_service".into(), name.into());
        labels.insert("target_service_namespace".into(), namespace.into());
    }
    labels
}
