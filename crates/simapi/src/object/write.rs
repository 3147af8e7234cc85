//! Create, replace and patch: judge the body, stamp it, store it.

use std::sync::Arc;

use serde_json::Value;

use super::patch::Patch;
use super::{defaults, metadata, validate};
use crate::clock::UnixSeconds;
use crate::kind::{Generation, Kind, Scope, StatusRule, UpdateRule};
use crate::refusal::{Cause, Refusal};
use crate::store::{ObjectKey, Store};

/// Which part of an object a request writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Everything but the status, where that has a subresource.
    Main,
    /// The status only.
    Status,
}

/// The object a request names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) kind: &'static Kind,
    pub(crate) key: ObjectKey,
    pub(crate) part: Part,
}

/// The stored object, and whether it is new.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Written {
    Created(Arc<Value>),
    Updated(Arc<Value>),
}

/// Stores a new object.
pub(crate) fn create(
    store: &mut Store,
    kind: &'static Kind,
    namespace: &str,
    mut body: Value,
    now: UnixSeconds,
) -> Result<Arc<Value>, Refusal> {
    validate::shape(kind, &body)?;
    if !metadata::text(&body, "resourceVersion").is_empty() {
        let message = "resourceVersion should not be set on objects to be created";
        return Err(Refusal::plain(500, "", message));
    }
    settle_namespace(&mut body, namespace)?;
    generate_name(store, &mut body);
    let name = metadata::text(&body, "name").to_owned();
    namespace_exists(store, kind, namespace)?;
    let key = ObjectKey::new(namespace, &name);
    if store.find(kind, &key).is_some() {
        return Err(Refusal::already_exists(kind, &name));
    }
    for field in [
        "uid",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
    ] {
        metadata::remove(&mut body, field);
    }
    if kind.status == StatusRule::Subresource {
        set_status(&mut body, defaults::first_status(kind));
    }
    metadata::remove(&mut body, "creationTimestamp");
    stamp(store, kind, &mut body, now);
    defaults::address_is_free(store, kind, &body)?;
    defaults::fill(store, kind, &mut body, None)?;
    validate::content(kind, &body)?;
    Ok(store.put(kind, key, body))
}

/// Replaces an object, or creates it where its kind allows that.
pub(crate) fn replace(
    store: &mut Store,
    target: &Target,
    mut body: Value,
    now: UnixSeconds,
) -> Result<Written, Refusal> {
    let Target { kind, key, part } = target;
    validate::shape(kind, &body)?;
    settle_namespace(&mut body, &key.namespace)?;
    name_matches(&body, &key.name)?;
    match store.find(kind, key).cloned() {
        Some(old) => update(store, target, &old, body).map(Written::Updated),
        None if *part == Part::Main && kind.update == UpdateRule::ReplaceOrCreate => {
            metadata::remove(&mut body, "resourceVersion");
            create(store, kind, &key.namespace, body, now).map(Written::Created)
        }
        None => Err(Refusal::not_found(kind, &key.name)),
    }
}

/// Changes an object; an apply creates it when it is not there.
pub(crate) fn patch(
    store: &mut Store,
    target: &Target,
    patch: &Patch,
    now: UnixSeconds,
) -> Result<Written, Refusal> {
    let Target { kind, key, part } = target;
    match (store.find(kind, key).cloned(), patch) {
        (Some(old), patch) => {
            let body = patch.applied_to(&old);
            validate::shape(kind, &body)?;
            name_matches(&body, &key.name)?;
            update(store, target, &old, body).map(Written::Updated)
        }
        (None, Patch::Apply(body)) if *part == Part::Main => {
            let mut body = body.clone();
            if metadata::text(&body, "name").is_empty() {
                metadata::set(&mut body, "name", key.name.as_str().into());
            }
            name_matches(&body, &key.name)?;
            create(store, kind, &key.namespace, body, now).map(Written::Created)
        }
        (None, Patch::Merge(_) | Patch::Strategic(_) | Patch::Apply(_)) => {
            Err(Refusal::not_found(kind, &key.name))
        }
    }
}

/// Stores an object as it is, status included and without judging it; its
/// namespace is made when missing. For tests, which know what they do.
pub(crate) fn apply_whole(
    store: &mut Store,
    kind: &'static Kind,
    mut object: Value,
    now: UnixSeconds,
) -> Arc<Value> {
    let namespace = metadata::text(&object, "namespace").to_owned();
    let key = ObjectKey::new(&namespace, metadata::text(&object, "name"));
    if namespace_exists(store, kind, &namespace).is_err()
        && let Some(namespaces) = Kind::named("Namespace")
    {
        let made = serde_json::json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace},
            "status": {"phase": "Active"},
        });
        apply_whole(store, namespaces, made, now);
    }
    let old = store.find(kind, &key).cloned();
    if let Some(old) = &old {
        for field in ["uid", "creationTimestamp"] {
            if metadata::text(&object, field).is_empty() {
                metadata::copy(&mut object, old, field);
            }
        }
        metadata::copy(&mut object, old, "resourceVersion");
    }
    // A changed address is what the caller asked for.
    let _ = defaults::fill(store, kind, &mut object, old.as_deref());
    object_type(kind, &mut object);
    if let Some(old) = &old {
        count_generation(kind, &mut object, old);
    }
    stamp(store, kind, &mut object, now);
    match old {
        Some(old) if *old == object => old,
        Some(_) | None => store.put(kind, key, object),
    }
}

fn update(
    store: &mut Store,
    target: &Target,
    old: &Arc<Value>,
    body: Value,
) -> Result<Arc<Value>, Refusal> {
    let Target { kind, key, part } = target;
    version_matches(kind, &key.name, old, &body)?;
    let mut object = match part {
        Part::Main => {
            let mut object = body;
            if kind.has_status() {
                set_status(&mut object, old.get("status").cloned());
            }
            object
        }
        Part::Status => {
            let mut object = Value::clone(old);
            set_status(&mut object, body.get("status").cloned());
            object
        }
    };
    for field in [
        "uid",
        "namespace",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "resourceVersion",
    ] {
        metadata::copy(&mut object, old, field);
    }
    object_type(kind, &mut object);
    if *part == Part::Main {
        defaults::fill(store, kind, &mut object, Some(old))?;
        validate::content(kind, &object)?;
        count_generation(kind, &mut object, old);
    }
    if *old.as_ref() == object {
        return Ok(Arc::clone(old));
    }
    let is_last_finalizer_gone = !metadata::text(&object, "deletionTimestamp").is_empty()
        && metadata::has_finalizers(old)
        && !metadata::has_finalizers(&object);
    let stored = store.put(kind, key.clone(), object);
    match is_last_finalizer_gone {
        true => Ok(store.remove(kind, key).unwrap_or(stored)),
        false => Ok(stored),
    }
}

/// What every stored object has; keeps what is there already.
fn stamp(store: &mut Store, kind: &'static Kind, object: &mut Value, now: UnixSeconds) {
    object_type(kind, object);
    if metadata::text(object, "uid").is_empty() {
        let uid = format!("00000000-0000-4000-8000-{:012x}", store.next_birth());
        metadata::set(object, "uid", uid.into());
    }
    if metadata::text(object, "creationTimestamp").is_empty() {
        metadata::set(object, "creationTimestamp", now.to_string().into());
    }
    let is_counted = metadata::of(object).is_some_and(|m| m.contains_key("generation"));
    if kind.generation == Generation::Counted && !is_counted {
        metadata::set(object, "generation", 1.into());
    }
}

fn object_type(kind: &Kind, object: &mut Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert("apiVersion".to_owned(), kind.api_version().into());
        fields.insert("kind".to_owned(), kind.kind.into());
    }
}

/// Counts a change of anything but the status and the metadata; of an
/// endpoint slice, the labels count too.
fn count_generation(kind: &Kind, object: &mut Value, old: &Value) {
    metadata::copy(object, old, "generation");
    let content = |object: &Value| {
        let mut content = object.clone();
        if let Some(fields) = content.as_object_mut() {
            fields.remove("status");
            fields.remove("metadata");
        }
        let metadata = metadata::of(object).filter(|_| kind.kind == "EndpointSlice");
        (
            content,
            metadata
                .and_then(|metadata| metadata.get("labels"))
                .cloned(),
        )
    };
    if kind.generation == Generation::Counted && content(object) != content(old) {
        metadata::bump_generation(object);
    }
}

fn set_status(object: &mut Value, status: Option<Value>) {
    if let Some(fields) = object.as_object_mut() {
        match status {
            Some(status) => fields.insert("status".to_owned(), status),
            None => fields.remove("status"),
        };
    }
}

fn settle_namespace(body: &mut Value, namespace: &str) -> Result<(), Refusal> {
    let given = metadata::text(body, "namespace");
    if given.is_empty() && !namespace.is_empty() {
        metadata::set(body, "namespace", namespace.into());
    } else if given != namespace {
        return Err(Refusal::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    Ok(())
}

fn name_matches(body: &Value, name: &str) -> Result<(), Refusal> {
    let given = metadata::text(body, "name");
    if given == name {
        return Ok(());
    }
    Err(Refusal::bad_request(format!(
        "the name of the object ({given}) does not match the name on the URL ({name})"
    )))
}

fn generate_name(store: &mut Store, body: &mut Value) {
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let prefix = metadata::text(body, "generateName").to_owned();
    if prefix.is_empty() || !metadata::text(body, "name").is_empty() {
        return;
    }
    let mut number = usize::try_from(store.next_birth()).unwrap_or_default();
    let mut name = prefix;
    for _ in 0..5 {
        name.extend(LETTERS.get(number % LETTERS.len()).copied().map(char::from));
        number /= LETTERS.len();
    }
    metadata::set(body, "name", name.into());
}

fn namespace_exists(store: &Store, kind: &Kind, namespace: &str) -> Result<(), Refusal> {
    let Some(namespaces) = Kind::named("Namespace") else {
        return Ok(());
    };
    match kind.scope {
        Scope::Cluster => Ok(()),
        Scope::Namespaced => match store.find(namespaces, &ObjectKey::new("", namespace)) {
            Some(_) => Ok(()),
            None => Err(Refusal::not_found(namespaces, namespace)),
        },
    }
}

fn version_matches(kind: &Kind, name: &str, old: &Value, body: &Value) -> Result<(), Refusal> {
    let given = metadata::text(body, "resourceVersion");
    if given.is_empty() && kind.update == UpdateRule::Versioned {
        let detail = "must be specified for an update";
        let cause = Cause::invalid("metadata.resourceVersion", &0.into(), detail);
        return Err(Refusal::invalid(kind, name, &[cause]));
    }
    if !given.is_empty() && given != metadata::text(old, "resourceVersion") {
        let detail = "the object has been modified; please apply your changes to the latest \
                      version and try again";
        return Err(Refusal::conflict(kind, name, detail));
    }
    let uid = metadata::text(body, "uid");
    let held = metadata::text(old, "uid");
    if !uid.is_empty() && uid != held {
        let detail =
            format!("Precondition failed: UID in precondition: {uid}, UID in object meta: {held}");
        return Err(Refusal::conflict(kind, name, &detail));
    }
    Ok(())
}
