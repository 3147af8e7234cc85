//! The source never goes back: not by its resource versions, and not by what was written.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use lockstep_jepsen_model::{Behind, Change, Cluster, Kind, Name, ObjectKey, Slice};

use crate::{Call, Committed, Guarantee, Payload, Run, Seen, SourceStep, Verdict, What, Written};

/// One version of a slice that somebody wrote.
struct Version {
    ips: BTreeSet<IpAddr>,
    ports: BTreeSet<u16>,
    place: usize,
}

pub(super) fn check(run: &Run<'_>, verdict: &mut Verdict) {
    let written = written(run);
    let mut reached: BTreeMap<&Name, usize> = BTreeMap::new();
    let mut versions: BTreeMap<String, (u64, usize)> = BTreeMap::new();
    for committed in run.timeline.entries() {
        let Payload::Batch {
            term,
            changes,
            source,
            ..
        } = &committed.entry.payload
        else {
            continue;
        };
        if *term != committed.entry.term {
            continue;
        }
        for step in source.iter() {
            observe(step, committed, &mut versions, verdict);
        }
        for change in changes.iter() {
            if let Change::Slice(name, Some(slice)) = change {
                let of_slice = written.get(name).map_or(&[][..], Vec::as_slice);
                let from = reached.entry(name).or_default();
                *from = trace(name, slice, (of_slice, *from), committed, verdict);
            }
        }
    }
}

/// Versions never go back within one source.
fn observe(
    step: &SourceStep,
    committed: &Committed<'_>,
    versions: &mut BTreeMap<String, (u64, usize)>,
    verdict: &mut Verdict,
) {
    let (of, version) = match step {
        SourceStep::NewSource => {
            versions.clear();
            return;
        }
        SourceStep::Object { kind, uid, version } => (format!("{kind:?} {uid}"), *version),
        SourceStep::Cursor { kind, version } => (format!("the cursor of {kind}"), *version),
    };
    verdict.count("versions", 1);
    let (known, place) = *versions
        .entry(of.clone())
        .or_insert((version, committed.place));
    if version < known {
        let what = format!("{of} goes back from version {known} to {version}");
        verdict.violate(Guarantee::NoFalseWithdrawal, what, [place, committed.place]);
    } else {
        versions.insert(of, (version, committed.place));
    }
}

/// Every version of every slice, in the order of writing.
fn written(run: &Run<'_>) -> BTreeMap<Name, Vec<Version>> {
    let mut written: BTreeMap<Name, Vec<Version>> = BTreeMap::new();
    for (place, event) in run.events() {
        let objects: Vec<_> = match &event.what {
            What::Invoke(Call::TruthWrite(write)) => {
                let puts = write.writes.iter().filter_map(|written| match written {
                    Written::Put(object) => Some(object),
                    Written::Delete(_) => None,
                });
                puts.collect()
            }
            What::Seen(Seen::Truth(truth)) => truth.objects.iter().collect(),
            What::Seen(_) | What::Invoke(_) | What::Ok(_) | What::Fail(..) | What::Unknown(..) => {
                continue;
            }
        };
        for object in objects {
            let key = ObjectKey::of(object).ok();
            if let Some(key) = key.filter(|key| key.kind == Kind::EndpointSlice) {
                let shown = Cluster::exposed(object);
                let name = Name::new(&key.namespace, &key.name);
                written.entry(name).or_default().push(Version {
                    ips: shown.iter().map(|it| it.ip).collect(),
                    ports: shown
                        .iter()
                        .flat_map(|it| it.ports.iter().copied())
                        .collect(),
                    place,
                });
            }
        }
    }
    written
}

/// Finds the version that a committed slice comes from: the first possible one that is not older
/// than where the slice has come already. Says where it is now.
fn trace(
    name: &Name,
    slice: &Slice,
    (versions, from): (&[Version], usize),
    committed: &Committed<'_>,
    verdict: &mut Verdict,
) -> usize {
    let shown = slice.endpoints.iter().filter(|endpoint| {
        endpoint.readiness != lockstep_jepsen_model::Readiness::Unready
            && !matches!(endpoint.behind, Behind::External(_))
    });
    let ips: BTreeSet<IpAddr> = shown.map(|endpoint| endpoint.ip).collect();
    if ips.is_empty() || versions.is_empty() {
        return from;
    }
    verdict.count("slices traced", 1);
    let ports: BTreeSet<u16> = slice.ports.iter().map(|port| port.port).collect();
    // Joined with its pods a slice may show less than was written, never more.
    let possible = |version: &&Version| {
        version.place < committed.place
            && ips.is_subset(&version.ips)
            && ports.is_subset(&version.ports)
    };
    let rest = versions.get(from..).unwrap_or_default();
    if let Some(ahead) = rest.iter().position(|version| possible(&version)) {
        return from + ahead;
    }
    let old = versions
        .iter()
        .take(from)
        .rfind(|version| possible(version));
    let (guarantee, what, evidence) = match old {
        Some(old) => (
            Guarantee::NoFalseWithdrawal,
            format!("slice {name} goes back to what was overwritten"),
            vec![old.place, committed.place],
        ),
        None => (
            Guarantee::NoPhantom,
            format!("slice {name} is committed as nobody ever wrote it"),
            vec![committed.place],
        ),
    };
    verdict.violate(guarantee, what, evidence);
    from
}
