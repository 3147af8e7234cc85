//! The endpoints of a target, for one client.
//!
//! Recomputed from all current slices of the service every time: what an
//! earlier answer was plays no part, so no order of events can leave a stale
//! address or lose a good one.

use lockstep_model::{
    EndpointTarget, Readiness, ServiceRecord, Settings, SliceRecord, Target, Text,
};
use lockstep_state::{Content, State};
use std::{collections::BTreeSet, net::IpAddr};

use crate::{
    Answer, Described, EndpointSet,
    external::OwnerKey,
    labels::put,
    locality::{Candidate, Place, near, one_family},
    union::Union,
};

/// How much more an endpoint in the client's zone weighs, where zones weigh.
const LOCAL_ZONE_FACTOR: u32 = 10;

/// What is true of a target, and what more than its slices it depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// What is true.
    pub answer: Answer,
    /// The addresses that several objects claim, all of them visible: whoever lives there
    /// in truth has them, so the answer depends on the pods at these addresses too.
    pub contested: BTreeSet<IpAddr>,
}

impl From<Answer> for Selection {
    fn from(answer: Answer) -> Self {
        Self {
            answer,
            contested: BTreeSet::new(),
        }
    }
}

/// What is true of a target for clients in one [`Place`].
///
/// Of two endpoints with the same address and port that of a running pod counts which has
/// the address by its own account, or of such an external workload; else, or between two
/// of them, the last one in the order of the slices' names and of the endpoints in a slice.
#[must_use]
pub fn endpoints(state: &State, target: &Target, place: &Place) -> Selection {
    let content = state.content();
    let Some(settings) = content.settings().filter(|_| state.is_synced()) else {
        return Answer::Unknown.into();
    };
    let Some(service) = content.service(&target.service) else {
        return Answer::Absent.into();
    };
    let asked = Asked {
        content,
        settings,
        service,
        target,
        place,
    };
    let ready = asked.set(Readiness::Ready);
    let (set, contested) = if ready.0.is_empty() && settings.serve_terminating {
        // The last resort: what still serves while it terminates is better than nothing.
        asked.set(Readiness::Leaving)
    } else {
        ready
    };
    Selection {
        answer: Answer::Present(set.into()),
        contested,
    }
}

/// One question to one state.
struct Asked<'state> {
    content: &'state Content,
    settings: &'state Settings,
    service: &'state ServiceRecord,
    target: &'state Target,
    place: &'state Place,
}

impl<'state> Asked<'state> {
    /// The endpoints of one readiness, with the addresses that are contested among them.
    fn set(&self, readiness: Readiness) -> (EndpointSet, BTreeSet<IpAddr>) {
        let candidates = self.candidates(readiness);
        let candidates = near(self.service.internal_traffic, self.place, candidates);
        let mut union = Union::of(self.content);
        for candidate in one_family(self.settings, candidates) {
            union.add(candidate, || self.describe(candidate));
        }
        union.into_set()
    }

    fn candidates(&self, readiness: Readiness) -> Vec<Candidate<'state>> {
        let mut candidates = Vec::new();
        for slice in self.content.slices_of(&self.target.service) {
            let Some(port) = port_in(slice, self.service, self.target.port) else {
                continue;
            };
            let hostname = &self.target.hostname;
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

    fn describe(&self, candidate: Candidate<'_>) -> Option<Described> {
        let Candidate {
            slice,
            endpoint,
            port,
        } = candidate;
        let settings = self.settings;
        let mut described = match &endpoint.target {
            EndpointTarget::Pod(workload) => Described::pod(settings, workload, port)?,
            EndpointTarget::External(workload) => {
                Described::external(settings, workload, port, OwnerKey::LowerCase)
            }
            EndpointTarget::Address => Described::address(settings, slice, self.target.port),
        };
        match endpoint.target {
            EndpointTarget::Pod(_) | EndpointTarget::External(_) => {
                let zone = endpoint.zone.clone().unwrap_or_default();
                put(&mut described.labels, "zone", &zone);
            }
            EndpointTarget::Address => {}
        }
        let locality = zone_locality(self.place.zone.as_ref(), endpoint.zone.as_ref());
        put(&mut described.labels, "zone_locality", &locality.into());
        if settings.zone_weights && locality == "local" {
            described.weight *= LOCAL_ZONE_FACTOR;
        }
        Some(described)
    }
}

/// The port that a slice's endpoints listen on for a requested port: matched
/// by the service port's name. A port that the service does not declare means
/// itself, on every slice that has ports at all.
fn port_in(slice: &SliceRecord, service: &ServiceRecord, requested: u16) -> Option<u16> {
    match service.port(requested) {
        Some(declared) => slice
            .ports
            .iter()
            .find(|port| port.name == declared.name)
            .map(|port| port.port),
        None => (!slice.ports.is_empty()).then_some(requested),
    }
}

fn zone_locality(client: Option<&Text>, endpoint: Option<&Text>) -> &'static str {
    match (client, endpoint) {
        (Some(client), Some(endpoint)) if client == endpoint => "local",
        (Some(_), Some(_)) => "remote",
        (Some(_) | None, _) => "unknown",
    }
}
