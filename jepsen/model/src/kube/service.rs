//! Services.

use serde_json::Value;

use super::json::{annotation, label, list, port, text};
use crate::{Service, ServiceKind, ServicePort, Traffic};

const REMOTE: &str = "multicluster.linkerd.io/remote-discovery";
const LOCAL: &str = "multicluster.linkerd.io/local-discovery";

/// What a Service object says.
pub(super) fn read(object: &Value) -> Service {
    let ports = list(object, "/spec/ports").filter_map(|each| {
        let name = text(each, "/name").unwrap_or_default().into();
        port(each, "/port").map(|port| ServicePort { port, name })
    });
    Service {
        kind: kind(object),
        ports: ports.collect(),
        traffic: match text(object, "/spec/internalTrafficPolicy") {
            Some("Local") => Traffic::Local,
            Some(_) | None => Traffic::Cluster,
        },
    }
}

/// A3.2: one key is an annotation of federated services and a label of remote ones.
fn kind(object: &Value) -> ServiceKind {
    let elsewhere = annotation(object, REMOTE)
        .or(annotation(object, LOCAL))
        .or(label(object, REMOTE));
    if elsewhere.is_some() {
        ServiceKind::Elsewhere
    } else if text(object, "/spec/type") == Some("ExternalName") {
        ServiceKind::ExternalName
    } else {
        ServiceKind::Endpoints
    }
}
