//! Deletion: at once, after a grace period, or after the last finalizer.

use std::sync::Arc;

use serde_json::Value;

use super::metadata;
use crate::clock::UnixSeconds;
use crate::kind::{Generation, Kind};
use crate::refusal::Refusal;
use crate::store::{ObjectKey, Store};

/// What must be true of the object that is deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Preconditions {
    pub(crate) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
}

/// What became of the object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Deletion {
    /// Gone; this was its last state.
    Removed(Arc<Value>),
    /// Marked with `deletionTimestamp`; somebody else has to finish.
    Waiting(Arc<Value>),
}

/// Grace period of a pod that names none, in seconds.
const POD_GRACE_SECONDS: u64 = 30;

/// Deletes one object; `grace_seconds` as the client asked, if it did.
pub(crate) fn delete(
    store: &mut Store,
    (kind, key): (&'static Kind, &ObjectKey),
    grace_seconds: Option<u64>,
    preconditions: &Preconditions,
    now: UnixSeconds,
) -> Result<Deletion, Refusal> {
    let Some(object) = store.find(kind, key).cloned() else {
        return Err(Refusal::not_found(kind, &key.name));
    };
    preconditions.hold_for(kind, &key.name, &object)?;
    let grace = grace_of(kind, &object, grace_seconds);
    let is_final = grace == 0 && !metadata::has_finalizers(&object);
    // The real server tells watchers of a pod's mark even when it goes at once.
    let is_marked = kind.kind == "Pod" || !is_final;
    let object = if is_marked {
        mark(store, (kind, key), object, grace, now)
    } else {
        object
    };
    if !is_final {
        return Ok(Deletion::Waiting(object));
    }
    match store.remove(kind, key) {
        Some(last) => Ok(Deletion::Removed(last)),
        None => Err(Refusal::not_found(kind, &key.name)),
    }
}

/// Sets when the object is to go, unless it is to go sooner already.
fn mark(
    store: &mut Store,
    (kind, key): (&'static Kind, &ObjectKey),
    object: Arc<Value>,
    grace: u64,
    now: UnixSeconds,
) -> Arc<Value> {
    let held = metadata::of(&object).and_then(|m| m.get("deletionGracePeriodSeconds")?.as_u64());
    if held.is_some_and(|held| held <= grace) {
        return object;
    }
    let mut marked = Value::clone(&object);
    metadata::set(
        &mut marked,
        "deletionTimestamp",
        now.plus(grace).to_string().into(),
    );
    metadata::set(&mut marked, "deletionGracePeriodSeconds", grace.into());
    if held.is_none() && kind.generation == Generation::Counted {
        metadata::bump_generation(&mut marked);
    }
    store.put(kind, key.clone(), marked)
}

/// Only a pod that runs on a node has anybody to be graceful to.
fn grace_of(kind: &Kind, object: &Value, asked: Option<u64>) -> u64 {
    let text = |path: &str| {
        object
            .pointer(path)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let is_over = matches!(text("/status/phase"), "Succeeded" | "Failed");
    if kind.kind != "Pod" || text("/spec/nodeName").is_empty() || is_over {
        return 0;
    }
    let own = object
        .pointer("/spec/terminationGracePeriodSeconds")
        .and_then(Value::as_u64);
    asked.or(own).unwrap_or(POD_GRACE_SECONDS)
}

// === impl Preconditions ===

impl Preconditions {
    fn hold_for(&self, kind: &Kind, name: &str, object: &Value) -> Result<(), Refusal> {
        let checks = [
            ("UID", &self.uid, metadata::text(object, "uid")),
            (
                "ResourceVersion",
                &self.resource_version,
                metadata::text(object, "resourceVersion"),
            ),
        ];
        for (what, wanted, held) in checks {
            if let Some(wanted) = wanted.as_deref().filter(|wanted| *wanted != held) {
                let outcome = match what {
                    "UID" => "deleted and then recreated",
                    _ => "modified",
                };
                let detail = format!(
                    "the {what} in the precondition ({wanted}) does not match the {what} in record \
                     ({held}). The object might have been {outcome}"
                );
                return Err(Refusal::conflict(kind, name, &detail));
            }
        }
        Ok(())
    }
}
