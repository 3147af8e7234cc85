//! Which ports are opaque: by an annotation, by default, by a Server (A13).

use serde_json::Value;

use super::{
    Oracle, namespace,
    reading::{annotation, list, port, text},
};

const DEFAULTS: &str = "25,587,3306,4444,5432,6379,9300,11211";

/// A port by name, with the host's port that leads to it.
pub(super) struct Named<'a> {
    pub(super) name: &'a str,
    pub(super) port: u16,
    host: Option<u16>,
}

/// Whether a text such as `web, 25, 4000-4100` names a port.
pub(super) fn lists(text: &str, named: &[Named<'_>], wanted: u16) -> bool {
    text.split(',').map(str::trim).any(|item| {
        if let Some(named) = named
            .iter()
            .rfind(|it| !it.name.is_empty() && it.name == item)
        {
            return named.port == wanted;
        }
        match item.split_once('-') {
            Some((first, last)) => match (first.parse(), last.parse()) {
                (Ok(first), Ok(last)) => (first..=last).contains(&wanted),
                _ => false,
            },
            None => item.parse() == Ok(wanted),
        }
    })
}

/// The ports of all containers of a pod.
pub(super) fn of_pod(pod: &Value) -> Vec<Named<'_>> {
    let init = list(pod, "/spec/initContainers").iter();
    let containers = init.chain(list(pod, "/spec/containers"));
    let ports = containers.flat_map(|container| list(container, "/ports"));
    ports.filter_map(|it| named(it, "containerPort")).collect()
}

/// The ports of an external workload or a service.
pub(super) fn of_spec(object: &Value) -> Vec<Named<'_>> {
    let ports = list(object, "/spec/ports").iter();
    ports.filter_map(|it| named(it, "port")).collect()
}

fn named<'a>(declared: &'a Value, field: &str) -> Option<Named<'a>> {
    Some(Named {
        name: text(declared, "/name"),
        port: port(&declared[field])?,
        host: port(&declared["hostPort"]),
    })
}

/// By the annotation of an object if it has one, even an empty one; else by default.
pub(super) fn is_listed(object: &Value, named: &[Named<'_>], wanted: u16) -> bool {
    let text = annotation(object, "config.linkerd.io/opaque-ports");
    lists(text.unwrap_or(DEFAULTS), named, wanted)
}

/// Where nothing has an annotation.
pub(super) fn is_default(wanted: u16) -> bool {
    lists(DEFAULTS, &[], wanted)
}

impl Oracle {
    /// Whether any Server makes a port of a workload opaque.
    pub(super) fn is_opaque_by_server(
        &self,
        workload: &Value,
        selector: &str,
        named: &[Named<'_>],
        wanted: u16,
    ) -> bool {
        self.all("Server").iter().any(|server| {
            let spec = &server["spec"];
            namespace(server) == namespace(workload)
                && text(spec, "/proxyProtocol") == "opaque"
                && selects(&spec[selector], workload)
                && leads_to(&spec["port"], named, wanted)
        })
    }
}

fn leads_to(server_port: &Value, named: &[Named<'_>], wanted: u16) -> bool {
    match server_port.as_str() {
        Some(name) => named
            .iter()
            .filter(|it| !name.is_empty() && it.name == name)
            .any(|it| it.port == wanted || it.host == Some(wanted)),
        None => port(server_port) == Some(wanted),
    }
}

fn selects(selector: &Value, workload: &Value) -> bool {
    let label = |key: &str| workload["metadata"]["labels"][key].as_str();
    if selector.is_null() {
        return false;
    }
    let labels = selector["matchLabels"].as_object().into_iter().flatten();
    let mut labels = labels.map(|(key, value)| label(key) == value.as_str());
    let mut expressions = list(selector, "/matchExpressions").iter().map(|it| {
        let value = label(text(it, "/key"));
        let is_in = list(it, "/values").iter().any(|one| value == one.as_str());
        match text(it, "/operator") {
            "In" => is_in,
            "NotIn" => !is_in,
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            // A selector that makes no sense chooses nothing.
            _ => false,
        }
    });
    labels.all(|holds| holds) && expressions.all(|holds| holds)
}
