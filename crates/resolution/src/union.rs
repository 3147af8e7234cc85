//! The union of the endpoints of all slices: each address once.

use lockstep_model::{EndpointTarget, PodPhase, SliceRecord};
use lockstep_state::Content;
use std::{
    collections::{BTreeMap, BTreeSet},
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use crate::{
    Described, EndpointSet, Labels,
    labels::{common, of_slice},
    locality::Candidate,
};

/// The union so far. Candidates come slice by slice.
pub(crate) struct Union<'state> {
    content: &'state Content,
    slices: Vec<(&'state SliceRecord, Labels)>,
    found: BTreeMap<SocketAddr, Found<'state>>,
    contested: BTreeSet<IpAddr>,
}

struct Found<'state> {
    candidate: Candidate<'state>,
    /// Which of the slices it comes from.
    slice: usize,
    described: Described,
}

impl<'state> Union<'state> {
    pub(crate) fn of(content: &'state Content) -> Self {
        Self {
            content,
            slices: Vec::new(),
            found: BTreeMap::new(),
            contested: BTreeSet::new(),
        }
    }

    /// Adds a candidate, unless nothing can be said of it or another one with its address
    /// keeps it.
    pub(crate) fn add(
        &mut self,
        candidate: Candidate<'state>,
        describe: impl FnOnce() -> Option<Described>,
    ) {
        let address = SocketAddr::new(candidate.endpoint.ip, candidate.port);
        if let Some(first) = self.found.get(&address).map(|found| found.candidate)
            && !self.yields(first, candidate)
        {
            return;
        }
        let Some(described) = describe() else {
            return;
        };
        let slice = self.slice(candidate.slice);
        let found = Found {
            candidate,
            slice,
            described,
        };
        self.found.insert(address, found);
    }

    /// Whether the first of two candidates with one address yields to the second. It does
    /// unless it alone lives there: clients of one message that has an address twice keep
    /// the last, which is what the controller that they know sends.
    fn yields(&mut self, first: Candidate<'_>, second: Candidate<'_>) -> bool {
        if is_same(&first.endpoint.target, &second.endpoint.target) {
            return true;
        }
        self.contested.insert(first.endpoint.ip);
        self.lives(second) || !self.lives(first)
    }

    /// Whether what stands behind an endpoint has the address by its own account.
    fn lives(&self, candidate: Candidate<'_>) -> bool {
        let ip = &candidate.endpoint.ip;
        match &candidate.endpoint.target {
            EndpointTarget::Pod(workload) => {
                let pod = self.content.pod(&workload.pod);
                pod.is_some_and(|pod| {
                    pod.phase == PodPhase::Running
                        && !pod.terminating
                        && pod.addresses.ips.contains(ip)
                })
            }
            EndpointTarget::External(workload) => {
                let record = self.content.external_workload(&workload.id);
                record.is_some_and(|record| record.ips.contains(ip))
            }
            EndpointTarget::Address => false,
        }
    }

    fn slice(&mut self, slice: &'state SliceRecord) -> usize {
        let last = self.slices.last().map(|(last, _)| *last);
        if !last.is_some_and(|last| std::ptr::eq(last, slice)) {
            self.slices.push((slice, of_slice(slice)));
        }
        self.slices.len().saturating_sub(1)
    }

    /// The set, and the addresses that are contested in it. Labels of the slices that all
    /// of its endpoints share go to the set, the others to the addresses.
    pub(crate) fn into_set(self) -> (EndpointSet, BTreeSet<IpAddr>) {
        let used: BTreeSet<usize> = self.found.values().map(|found| found.slice).collect();
        let used = used.iter().filter_map(|slice| self.slices.get(*slice));
        let labels = common(used.map(|(_, labels)| labels));
        let complete = |(address, found): (SocketAddr, Found<'_>)| {
            let Found {
                slice,
                mut described,
                candidate: _,
            } = found;
            let own = self.slices.get(slice).into_iter().flat_map(|(_, own)| own);
            for (key, value) in own.filter(|(key, _)| !labels.contains_key(*key)) {
                described.labels.insert(key.clone(), value.clone());
            }
            (address, Arc::new(described))
        };
        let endpoints = self.found.into_iter().map(complete).collect();
        (EndpointSet { labels, endpoints }, self.contested)
    }
}

/// Whether two endpoints are about one object, or neither is about any.
fn is_same(one: &EndpointTarget, other: &EndpointTarget) -> bool {
    match (one, other) {
        (EndpointTarget::Pod(one), EndpointTarget::Pod(other)) => one.pod == other.pod,
        (EndpointTarget::External(one), EndpointTarget::External(other)) => one.id == other.id,
        (EndpointTarget::Address, EndpointTarget::Address) => true,
        (
            EndpointTarget::Pod(_) | EndpointTarget::External(_) | EndpointTarget::Address,
            EndpointTarget::Pod(_) | EndpointTarget::External(_) | EndpointTarget::Address,
        ) => false,
    }
}
