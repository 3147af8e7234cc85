//! Wanted minus committed: the commands that make the state what the facts say.
//!
//! Every function compares with the committed state and gives only what differs,
//! so that repeating it after its commands are applied gives nothing.

use lockstep_model::{
    ExternalWorkloadId, FactKey, FactKind, PodId, ServiceId, ServiceProfileId, Settings, SliceId,
};
use lockstep_position::HistoryId;
use lockstep_state::{Command, Content, State};
use std::{collections::BTreeSet, sync::Arc};

use crate::{
    Resume, external,
    facts::{
        Facts, external_workload_key, key, pod_key, service_key, service_profile_key, slice_key,
    },
    join,
    known::Known,
    pods,
};

/// The keys of all facts, known or remembered, and of all content, which may
/// have lost its fact.
pub(crate) fn everything(facts: &Facts, committed: &State) -> BTreeSet<FactKey> {
    let content = committed.content();
    let node_key = |name| key(FactKind::Node, &"".into(), name);
    facts
        .iter()
        .map(|(key, _)| key.clone())
        .chain(committed.memory().facts().keys().cloned())
        .chain(content.nodes().map(|(name, _)| node_key(name)))
        .chain(content.pods().map(|(id, _)| pod_key(id)))
        .chain(content.services().map(|(id, _)| service_key(id)))
        .chain(content.slices().map(|(id, _)| slice_key(id)))
        .chain(
            content
                .service_profiles()
                .map(|(id, _)| service_profile_key(id)),
        )
        .chain(
            content
                .external_workloads()
                .map(|(id, _)| external_workload_key(id)),
        )
        .collect()
}

/// What a history begins with.
pub(crate) fn history(committed: &State, history: HistoryId) -> Option<Command> {
    let none = committed.position().history == HistoryId::NONE;
    (none && history != HistoryId::NONE).then_some(Command::OpenHistory(history))
}

/// Settings that no leader proposed, or that another one had otherwise.
pub(crate) fn settings(committed: &State, settings: &Arc<Settings>) -> Option<Command> {
    let known = committed.content().settings();
    (known != Some(settings)).then(|| Command::PutSettings(settings.clone()))
}

/// Puts, then removals, of the items that these objects make.
pub(crate) fn content(
    committed: &State,
    known: Known<'_>,
    affected: &BTreeSet<FactKey>,
) -> impl Iterator<Item = Command> {
    let wanted = affected
        .iter()
        .filter_map(|key| item(committed.content(), known, key));
    let (puts, removals): (Vec<Command>, Vec<Command>) = wanted.partition(is_put);
    puts.into_iter().chain(removals)
}

/// What the next leader must know of these objects.
pub(crate) fn memory(
    committed: &State,
    facts: &Facts,
    touched: &BTreeSet<FactKey>,
) -> Vec<Command> {
    let remembered = committed.memory().facts();
    let changed = touched.iter().filter_map(|key| {
        let key = key.clone();
        match (facts.get(&key), remembered.get(&key)) {
            (Some(fact), known) if known != Some(fact) => {
                Some(Command::Remember(key, fact.clone()))
            }
            (None, Some(_)) => Some(Command::Forget(key)),
            (Some(_) | None, _) => None,
        }
    });
    changed.collect()
}

/// How far the watches have come, where the state does not say so.
pub(crate) fn cursors(committed: &State, cursors: &Resume) -> impl Iterator<Item = Command> {
    let known = committed.memory().cursors();
    cursors
        .iter()
        .filter(|(kind, cursor)| known.get(*kind) != Some(*cursor))
        .map(|(kind, cursor)| {
            let before = known.get(kind);
            // Only a source whose own store was restored goes back.
            if before.is_some_and(|before| cursor.is_surely_older_than(before)) {
                Command::OpenIncarnation(*kind, cursor.clone())
            } else {
                Command::Advance(*kind, cursor.clone())
            }
        })
}

/// The command for the one item that an object makes, if it must change.
fn item(content: &Content, known: Known<'_>, key: &FactKey) -> Option<Command> {
    let facts = known.facts;
    match key.kind {
        FactKind::Node => node(content, facts, key),
        FactKind::ReplicaSet | FactKind::Job | FactKind::Server => None,
        FactKind::Pod => pod(content, facts, key),
        FactKind::Service => service(content, facts, key),
        FactKind::EndpointSlice => slice(content, known, key),
        FactKind::ServiceProfile => service_profile(content, facts, key),
        FactKind::ExternalWorkload => external_workload(content, facts, key),
    }
}

fn node(content: &Content, facts: &Facts, key: &FactKey) -> Option<Command> {
    let wanted = facts.zone(key);
    let known = content.zone(&key.name);
    let name = key.name.clone();
    match wanted {
        Some(zone) => (known != Some(zone)).then(|| Command::PutNode(name, zone.clone())),
        None => known.map(|_| Command::RemoveNode(name)),
    }
}

fn pod(content: &Content, facts: &Facts, key: &FactKey) -> Option<Command> {
    let id = PodId {
        namespace: key.namespace.clone(),
        name: key.name.clone(),
    };
    let wanted = pods::record(&id, facts).map(Arc::new);
    let committed = content.pod(&id);
    difference(id, wanted, committed, Command::PutPod, Command::RemovePod)
}

fn service(content: &Content, facts: &Facts, key: &FactKey) -> Option<Command> {
    let id = ServiceId {
        namespace: key.namespace.clone(),
        name: key.name.clone(),
    };
    let known = content.service(&id).map(AsRef::as_ref);
    match facts.service(&id) {
        Some(record) => {
            (known != Some(record)).then(|| Command::PutService(id, Arc::new(record.clone())))
        }
        None => known.map(|_| Command::RemoveService(id)),
    }
}

fn slice(content: &Content, known: Known<'_>, key: &FactKey) -> Option<Command> {
    let id = SliceId {
        namespace: key.namespace.clone(),
        name: key.name.clone(),
    };
    let wanted = join::record(&id, known).map(Arc::new);
    let committed = content.slice(&id);
    difference(
        id,
        wanted,
        committed,
        Command::PutSlice,
        Command::RemoveSlice,
    )
}

fn service_profile(content: &Content, facts: &Facts, key: &FactKey) -> Option<Command> {
    let id = ServiceProfileId {
        namespace: key.namespace.clone(),
        name: key.name.clone(),
    };
    let wanted = facts.service_profile(&id).cloned();
    let committed = content.service_profile(&id);
    let (put, remove) = (Command::PutServiceProfile, Command::RemoveServiceProfile);
    difference(id, wanted, committed, put, remove)
}

fn external_workload(content: &Content, facts: &Facts, key: &FactKey) -> Option<Command> {
    let id = ExternalWorkloadId {
        namespace: key.namespace.clone(),
        name: key.name.clone(),
    };
    let wanted = external::record(&id, facts).map(Arc::new);
    let committed = content.external_workload(&id);
    let (put, remove) = (
        Command::PutExternalWorkload,
        Command::RemoveExternalWorkload,
    );
    difference(id, wanted, committed, put, remove)
}

/// Puts an item that is not committed as it is wanted, or takes away one that is not wanted.
fn difference<Id, Record: PartialEq>(
    id: Id,
    wanted: Option<Record>,
    committed: Option<&Record>,
    put: impl FnOnce(Id, Record) -> Command,
    remove: impl FnOnce(Id) -> Command,
) -> Option<Command> {
    match wanted {
        Some(record) => (committed != Some(&record)).then(|| put(id, record)),
        None => committed.map(|_| remove(id)),
    }
}

fn is_put(command: &Command) -> bool {
    match command {
        Command::PutSettings(_)
        | Command::PutService(..)
        | Command::PutSlice(..)
        | Command::PutPod(..)
        | Command::PutNode(..)
        | Command::PutServiceProfile(..)
        | Command::PutExternalWorkload(..) => true,
        Command::OpenHistory(_)
        | Command::RemoveService(_)
        | Command::RemoveSlice(_)
        | Command::RemovePod(_)
        | Command::RemoveNode(_)
        | Command::RemoveServiceProfile(_)
        | Command::RemoveExternalWorkload(_)
        | Command::Remember(..)
        | Command::Forget(_)
        | Command::Advance(..)
        | Command::OpenIncarnation(..) => false,
    }
}
