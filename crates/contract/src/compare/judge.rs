//! Whether what is expected instead of the recorded is what we answer.
//!
//! A rule that says the whole content is all that is compared. One that says a part of it
//! is compared in that part, and in all the rest the recording is right.

use serde_json::{Map, Value};
use std::{collections::BTreeSet, net::SocketAddr};

use super::{
    Question,
    standing::{Standing, comparable, same, set_as_value},
};
use crate::{
    corpus::{Entry, Method, Rule, What},
    fold::{HeldSet, Labels, Told, socket_in_json, told_in_json},
};

/// How much a rule says of what a client holds.
enum Says {
    /// All of it.
    All,
    /// These places only, as pointers into each endpoint or into the profile.
    Part(Vec<String>),
    /// Nothing of the content.
    Nothing,
}

impl Question<'_> {
    /// Whether all of these rules are kept; else the first that is not.
    pub(super) fn satisfies(
        &self,
        rules: &[&Rule],
        recorded: &Standing,
        ours: &Standing,
    ) -> Result<(), String> {
        let mut parts = Vec::new();
        let mut is_whole = false;
        for rule in rules {
            self.keeps(&rule.what, rules, recorded, ours)?;
            match self.says(&rule.what, rules, recorded) {
                Says::All => is_whole = true,
                Says::Part(pointers) => parts.extend(pointers),
                Says::Nothing => {}
            }
        }
        if is_whole || parts.is_empty() {
            return Ok(());
        }
        let shown = |standing: &Standing| masked(self.method, standing, &parts);
        same("the rest", &shown(recorded), &shown(ours))
    }

    fn keeps(
        &self,
        what: &What,
        all: &[&Rule],
        recorded: &Standing,
        ours: &Standing,
    ) -> Result<(), String> {
        let none = HeldSet::new();
        let set = ours.set.as_ref().unwrap_or(&none);
        let profile = ours.profile.as_ref();
        match what {
            What::Set(wanted) => same_set(wanted, ours.set.as_ref()),
            What::Addresses(wanted) => {
                same_addresses("the addresses", wanted.iter(), set.keys())?;
                self.known_content(all, set)
            }
            What::Opaque(wanted) => is_opaque(wanted, set),
            What::SetLabels(wanted) => has_labels(wanted, set),
            What::UriIdentity(wanted) => each(set, "/tls_identity/uri_like_identity/uri", wanted),
            What::DnsIdentity(wanted) => each(set, "/tls_identity/dns_like_identity/name", wanted),
            What::AuthorityOverride(wanted) => {
                each(set, "/authority_override/authority_override", wanted)
            }
            What::First(wanted) => {
                let first = ours.first.clone().unwrap_or_default();
                same("the first message", wanted, &first)
            }
            What::Profile(fields) => fields_of(profile, fields),
            What::Route(label) => has_route(label, profile),
            What::IsEmptyProfile(is_empty) => has_emptiness(*is_empty, profile),
            What::DefaultProfile => self.default_profile(profile),
            What::DefaultProfileIfSilent if recorded.profile.is_none() => {
                self.default_profile(profile)
            }
            What::DefaultProfileIfSilent => recorded.equals(ours, self.method),
            What::Fresh(fresh) if has_the_rest(fresh, all) => {
                let ours = profile.map_or(Value::Null, comparable);
                same("the profile", &comparable(fresh), &ours)
            }
            What::Fresh(_) => Ok(()),
            What::EndCode(code) => {
                let ended = ours.end.as_ref().map_or("open", |it| it.code.as_str());
                same("the end", &code.as_str().into(), &ended.into())
            }
            What::IsOpen(is_open) => {
                let text = || format!("the stream should be open: {is_open}; it is {:?}", ours.end);
                (ours.is_open() == *is_open).then_some(()).ok_or_else(text)
            }
            What::MustNotCrash => {
                let text = || "the server ended the stream as one that dies".to_owned();
                (!ours.is_unavailable()).then_some(()).ok_or_else(text)
            }
        }
    }

    fn says(&self, what: &What, all: &[&Rule], recorded: &Standing) -> Says {
        let part =
            |pointers: &[&str]| Says::Part(pointers.iter().map(|it| (*it).to_owned()).collect());
        match what {
            What::Set(_)
            | What::Addresses(_)
            | What::IsEmptyProfile(true)
            | What::DefaultProfile
            | What::DefaultProfileIfSilent
            | What::EndCode(_) => Says::All,
            What::Fresh(fresh) if has_the_rest(fresh, all) => Says::All,
            // It says what to say instead of silence, and nothing of what follows.
            What::First(_) if recorded.set.is_none() => Says::All,
            What::First(_)
            | What::Fresh(_)
            | What::IsEmptyProfile(false)
            | What::IsOpen(_)
            | What::MustNotCrash => Says::Nothing,
            What::Opaque(_) => part(&["/protocol_hint"]),
            What::SetLabels(_) => part(&["/set_labels"]),
            What::UriIdentity(_) | What::DnsIdentity(_) => part(&["/tls_identity"]),
            // Both name the service in the other cluster.
            What::AuthorityOverride(_) => part(&[
                "/authority_override",
                "/set_labels/target_service",
                "/set_labels/target_service_namespace",
            ]),
            What::Route(_) => part(&["/routes", "/profile_ref"]),
            What::Profile(fields) => Says::Part(fields.keys().flat_map(|it| places(it)).collect()),
        }
    }

    /// Where only addresses are expected, their content is one that was recorded of them or
    /// is expected at another time.
    fn known_content(&self, all: &[&Rule], set: &HeldSet<Value>) -> Result<(), String> {
        if all.iter().any(|rule| matches!(rule.what, What::Set(_))) {
            return Ok(());
        }
        let known = self.known_endpoints();
        for (address, held) in set {
            let mut of_address = known.iter().filter(|it| socket_of(it) == Some(*address));
            let is_known =
                of_address.clone().next().is_none() || of_address.any(|it| *it == held.endpoint);
            if !is_known {
                let text = "was never recorded nor expected with this content";
                return Err(format!("{address} {text}: {:#}", held.endpoint));
            }
        }
        Ok(())
    }

    fn known_endpoints(&self) -> Vec<Value> {
        let mut known = Vec::new();
        for message in self.log.iter().flat_map(|entry: &Entry| &entry.messages) {
            if let Told::Add { endpoints, .. } = told_in_json(message) {
                known.extend(endpoints.into_iter().map(|(_, endpoint)| endpoint));
            }
        }
        for rule in &self.rules {
            if let What::Set(endpoints) = &rule.what {
                known.extend(endpoints.iter().cloned());
            }
        }
        known
    }

    /// Whether this is the profile of a service that has no ServiceProfile.
    fn default_profile(&self, profile: Option<&Value>) -> Result<(), String> {
        let (host, port) = self.path.rsplit_once(':').unwrap_or((self.path, "80"));
        let mut names = host.split('.');
        let (name, namespace) = (names.next(), names.next());
        let port: Value = port.parse::<u16>().map_or(Value::Null, Value::from);
        let wanted = serde_json::json!({
            "fully_qualified_name": host,
            "parent_ref": {"resource": {
                "group": "core", "kind": "Service", "name": name, "namespace": namespace, "port": port,
            }},
            "profile_ref": {"resource": {"group": "linkerd.io"}},
            "retry_budget": {"min_retries_per_second": 10, "retry_ratio": 0.2, "ttl": "10s"},
        });
        let mut ours = profile.map_or(Value::Null, comparable);
        // It may name the object that it does not follow.
        if let Some(Value::Object(resource)) = ours.pointer_mut("/profile_ref/resource") {
            resource.retain(|key, _| key == "group");
        }
        same("the default profile", &wanted, &ours)
    }
}

/// Whether what a fresh controller said has what the other rules ask for.
fn has_the_rest(fresh: &Value, all: &[&Rule]) -> bool {
    all.iter().all(|rule| match &rule.what {
        What::Profile(fields) => fields_of(Some(fresh), fields).is_ok(),
        What::IsEmptyProfile(is_empty) => (*fresh == Value::Object(Map::new())) == *is_empty,
        // The default is what it would be measured by.
        What::DefaultProfile | What::DefaultProfileIfSilent | What::Route(_) => false,
        What::Set(_)
        | What::Addresses(_)
        | What::Opaque(_)
        | What::SetLabels(_)
        | What::UriIdentity(_)
        | What::DnsIdentity(_)
        | What::AuthorityOverride(_)
        | What::First(_)
        | What::Fresh(_)
        | What::EndCode(_)
        | What::IsOpen(_)
        | What::MustNotCrash => true,
    })
}

fn same_set(wanted: &[Value], held: Option<&HeldSet<Value>>) -> Result<(), String> {
    let Some(held) = held else {
        return Err("nothing was told".to_owned());
    };
    let wanted: Map<String, Value> = wanted
        .iter()
        .map(|it| {
            (
                socket_of(it).map_or_else(String::new, |it| it.to_string()),
                it.clone(),
            )
        })
        .collect();
    let held = held
        .iter()
        .map(|(address, it)| (address.to_string(), it.endpoint.clone()));
    same(
        "the set",
        &wanted.into(),
        &held.collect::<Map<_, _>>().into(),
    )
}

fn socket_of(endpoint: &Value) -> Option<SocketAddr> {
    endpoint.get("addr").and_then(socket_in_json)
}

fn same_addresses<'a>(
    what: &str,
    wanted: impl Iterator<Item = &'a SocketAddr>,
    held: impl Iterator<Item = &'a SocketAddr>,
) -> Result<(), String> {
    let wanted: Value = wanted.map(ToString::to_string).collect();
    let held: Value = held.map(ToString::to_string).collect();
    same(what, &wanted, &held)
}

/// Whether these are opaque; if there are none, whether nothing is.
fn is_opaque(wanted: &BTreeSet<SocketAddr>, set: &HeldSet<Value>) -> Result<(), String> {
    let is_asked = |address: &SocketAddr| wanted.is_empty() || wanted.contains(address);
    let opaque = set.iter().filter(|(address, held)| {
        is_asked(address) && held.endpoint.pointer("/protocol_hint/opaque").is_some()
    });
    let opaque = opaque.map(|(address, _)| address);
    same_addresses("what is opaque", wanted.iter(), opaque)
}

fn has_labels(wanted: &Labels, set: &HeldSet<Value>) -> Result<(), String> {
    let is_right = set.values().all(|held| held.labels == *wanted);
    let text = || {
        format!(
            "the set's labels should be {wanted:?}: {}",
            set_as_value(set)
        )
    };
    is_right.then_some(()).ok_or_else(text)
}

fn has_route(label: &str, profile: Option<&Value>) -> Result<(), String> {
    let routes = profile
        .and_then(|it| it.get("routes"))
        .and_then(Value::as_array);
    let labels = routes.into_iter().flatten();
    let mut labels = labels.filter_map(|it| it.pointer("/metrics_labels/route"));
    let text = || format!("no route is labelled `{label}`: {}", pretty(profile));
    labels.any(|it| it == label).then_some(()).ok_or_else(text)
}

fn has_emptiness(is_empty: bool, profile: Option<&Value>) -> Result<(), String> {
    let is_right = profile.is_some_and(|it| (*it == Value::Object(Map::new())) == is_empty);
    let wanted = if is_empty { "empty" } else { "not empty" };
    let text = || format!("the profile should be {wanted}: {}", pretty(profile));
    is_right.then_some(()).ok_or_else(text)
}

fn pretty(profile: Option<&Value>) -> String {
    profile.map_or("nothing was told".to_owned(), |it| format!("{it:#}"))
}

fn each(set: &HeldSet<Value>, pointer: &str, wanted: &str) -> Result<(), String> {
    let has = |it: &Value| it.pointer(pointer).and_then(Value::as_str) == Some(wanted);
    let is_right = !set.is_empty() && set.values().all(|it| has(&it.endpoint));
    let text = || {
        format!(
            "{pointer} should be `{wanted}` everywhere: {}",
            set_as_value(set)
        )
    };
    is_right.then_some(()).ok_or_else(text)
}

/// Where in a profile a named field is, and what follows from it.
fn places(field: &str) -> Vec<String> {
    let places: &[&str] = match field {
        "opaque_protocol" => &["/opaque_protocol", "/endpoint/protocol_hint"],
        "endpoint_metric_labels" => &[
            "/endpoint/metric_labels",
            "/endpoint/tls_identity",
            "/endpoint/protocol_hint",
            "/endpoint/http2",
        ],
        "routes" => &["/routes", "/profile_ref"],
        "fully_qualified_name" => &["/fully_qualified_name", "/parent_ref", "/profile_ref"],
        other => return vec![format!("/{other}")],
    };
    places.iter().map(|it| (*it).to_owned()).collect()
}

fn fields_of(profile: Option<&Value>, fields: &Map<String, Value>) -> Result<(), String> {
    let Some(profile) = profile else {
        return Err("no profile was told".to_owned());
    };
    for (field, wanted) in fields {
        let found = match field.as_str() {
            "endpoint_metric_labels" => profile.pointer("/endpoint/metric_labels"),
            other => profile.get(other),
        };
        if !is_as_wanted(found.unwrap_or(&Value::Null), wanted) {
            return Err(format!("`{field}` should be {wanted}: {profile:#}"));
        }
    }
    Ok(())
}

/// An absent field has its default; of labels, those that are named.
fn is_as_wanted(found: &Value, wanted: &Value) -> bool {
    let is_default = *wanted == Value::Bool(false)
        || wanted.as_array().is_some_and(Vec::is_empty)
        || wanted.as_object().is_some_and(Map::is_empty);
    match (found, wanted) {
        (Value::Null, _) if is_default => true,
        (Value::Object(found), Value::Object(wanted)) if !wanted.is_empty() => wanted
            .iter()
            .all(|(key, value)| found.get(key) == Some(value)),
        (_, _) => found == wanted,
    }
}

/// What a client holds, without these places.
fn masked(method: Method, standing: &Standing, pointers: &[String]) -> Value {
    match method {
        Method::Get => {
            let none = HeldSet::new();
            let mut set = set_as_value(standing.set.as_ref().unwrap_or(&none));
            for held in set.as_object_mut().into_iter().flat_map(Map::values_mut) {
                for pointer in pointers {
                    take(held, pointer);
                    take(held, &format!("/endpoint{pointer}"));
                }
            }
            set
        }
        Method::GetProfile => {
            let mut profile = standing.profile.as_ref().map_or(Value::Null, comparable);
            pointers.iter().for_each(|it| take(&mut profile, it));
            profile
        }
    }
}

fn take(value: &mut Value, pointer: &str) {
    let Some((parent, key)) = pointer.rsplit_once('/') else {
        return;
    };
    if let Some(Value::Object(fields)) = value.pointer_mut(parent) {
        fields.remove(key);
    }
}
