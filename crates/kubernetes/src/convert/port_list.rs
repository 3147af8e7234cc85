//! Port numbers, and the annotations that list them: `admin, 25, 4000-4100`.

use lockstep_model::{PortRange, PortSet};
use std::collections::BTreeMap;

use super::Skipped;

/// The annotation that lists opaque ports, of pods, services and external workloads.
pub(super) const OPAQUE_PORTS: &str = "config.linkerd.io/opaque-ports";
/// The annotation that lists the ports which the proxy does not take.
pub(super) const SKIP_INBOUND_PORTS: &str = "config.linkerd.io/skip-inbound-ports";

/// Ports that an annotation may call by name.
pub(super) type NamedPorts<'a> = BTreeMap<&'a str, u16>;

/// The number as a port; zero and what does not fit is skipped.
pub(super) fn port(
    field: &'static str,
    number: impl Into<i64>,
    skipped: &mut Vec<Skipped>,
) -> Option<u16> {
    let number = number.into();
    let port = u16::try_from(number).ok().filter(|port| *port != 0);
    if port.is_none() {
        skipped.push(Skipped::Port { field, number });
    }
    port
}

/// Reads an annotation's list of ports: names of `named`, numbers, ranges. Blanks around
/// items and one trailing comma are allowed; an item that is none of these is skipped.
pub(super) fn port_list(
    annotation: &'static str,
    text: &str,
    named: &NamedPorts<'_>,
    skipped: &mut Vec<Skipped>,
) -> PortSet {
    let text = text.trim();
    let list = text.strip_suffix(',').unwrap_or(text);
    if list.is_empty() {
        return PortSet::default();
    }
    let mut ranges: Vec<PortRange> = Vec::new();
    for item in list.split(',').map(str::trim) {
        match range(item, named) {
            Some(range) => ranges.push(range),
            None => skipped.push(Skipped::AnnotationItem {
                annotation,
                item: item.to_owned(),
                expected: match annotation {
                    OPAQUE_PORTS => "neither a port's name, nor a port, nor a range of ports",
                    _ => "neither a port nor a range of ports",
                },
            }),
        }
    }
    ranges.into_iter().collect()
}

/// A name wins over a number, though Kubernetes allows no name without a letter.
fn range(item: &str, named: &NamedPorts<'_>) -> Option<PortRange> {
    match named.get(item) {
        Some(port) => Some(PortRange::single(*port)),
        None => item.parse().ok(),
    }
}
