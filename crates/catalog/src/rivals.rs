//! Slices of one service that speak of the same pod.
//!
//! Each says what it knows, so an endpoint is in the answer if any of them has it. But of
//! two that disagree about whether a pod is ready, the newer one is believed: the older one
//! may be what nobody keeps up to date any more.

use lockstep_model::{
    AddressFamily, EndpointFact, Fact, FactKey, PodId, Readiness, ServiceId, SliceFact, SliceId,
    TargetRef, Text,
};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use crate::{
    facts::{Facts, pod_key, service_key},
    known::Known,
    references::References,
};

/// What the newest slice says of each pod, for pods of which a newer slice than this one
/// of the same service and family speaks.
pub(crate) fn newer_words<'a>(
    id: &SliceId,
    slice: &SliceFact,
    known: Known<'a>,
) -> BTreeMap<&'a PodId, Readiness> {
    let age = (slice.created_s, &id.name);
    let mut newest = BTreeMap::new();
    for key in rivals(slice, known.references) {
        let Some(rival) = known.facts.slice_at(key) else {
            continue;
        };
        let rival_age = (rival.created_s, &key.name);
        if rival.family != slice.family || rival_age <= age {
            continue;
        }
        for (pod, readiness) in words(rival, known.facts) {
            // What says ready counts, if one slice says both.
            let word = (rival_age, Reverse(readiness));
            let known = newest.entry(pod).or_insert(word);
            *known = word.max(*known);
        }
    }
    let readiness = |(pod, (_, Reverse(readiness)))| (pod, readiness);
    newest.into_iter().map(readiness).collect()
}

/// The other slices that must be looked at when a slice changes from `old` to `new`: those
/// of the same service that name a pod of which it says something else.
pub(crate) fn touched(
    key: &FactKey,
    old: Option<&Fact>,
    new: Option<&Fact>,
    references: &References,
) -> BTreeSet<FactKey> {
    let (old, new) = (claims(old), claims(new));
    old.symmetric_difference(&new)
        .flat_map(|claim| references.to_both(&service_key(claim.service), &pod_key(claim.pod)))
        .filter(|other| *other != key)
        .cloned()
        .collect()
}

/// The slices of this service that name any of its pods, itself among them.
fn rivals<'a>(slice: &SliceFact, references: &'a References) -> BTreeSet<&'a FactKey> {
    let service = service_key(&slice.service);
    slice
        .endpoints
        .iter()
        .filter_map(named_pod)
        .flat_map(|(pod, _)| references.to_both(&service, &pod_key(pod)))
        .collect()
}

/// What a slice says of pods that exist: of another pod of the same name it says nothing.
fn words<'a>(
    slice: &'a SliceFact,
    facts: &'a Facts,
) -> impl Iterator<Item = (&'a PodId, Readiness)> {
    slice.endpoints.iter().filter_map(|endpoint| {
        let (pod, uid) = named_pod(endpoint)?;
        facts.pod_meant(pod, uid)?;
        Some((pod, endpoint.readiness))
    })
}

/// The pod that an endpoint with an address names.
fn named_pod(endpoint: &EndpointFact) -> Option<(&PodId, Option<&Text>)> {
    match &endpoint.target {
        TargetRef::Pod { pod, uid } if !endpoint.addresses.is_empty() => Some((pod, uid.as_ref())),
        TargetRef::Pod { .. } | TargetRef::Address | TargetRef::External(_) => None,
    }
}

/// All of what a slice says of a pod that may matter to another slice.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Claim<'a> {
    pod: &'a PodId,
    uid: Option<&'a Text>,
    readiness: Readiness,
    service: &'a ServiceId,
    family: AddressFamily,
    created_s: i64,
}

fn claims(fact: Option<&Fact>) -> BTreeSet<Claim<'_>> {
    let Some(Fact::Slice(slice)) = fact else {
        return BTreeSet::new();
    };
    let claim = |endpoint| {
        let (pod, uid) = named_pod(endpoint)?;
        Some(Claim {
            pod,
            uid,
            readiness: endpoint.readiness,
            service: &slice.service,
            family: slice.family,
            created_s: slice.created_s,
        })
    };
    slice.endpoints.iter().filter_map(claim).collect()
}
