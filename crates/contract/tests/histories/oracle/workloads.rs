//! What is said of one address: the fields of `WeightedAddr` (A5, A8).

use serde_json::{Map, Value, json};
use std::net::SocketAddr;

use super::{
    Oracle, bare, name, namespace,
    ports::{Named, is_listed, lists, of_pod, of_spec},
    reading::{annotation, label, list, owner, port, text},
};

/// The three listeners of a pod's proxy.
struct Listeners {
    inbound: Option<u16>,
    admin: Option<u16>,
    control: Option<u16>,
}

impl Oracle {
    pub(super) fn is_pod_opaque(&self, pod: &Value, port: u16) -> bool {
        let named = of_pod(pod);
        is_listed(pod, &named, port) || self.is_opaque_by_server(pod, "podSelector", &named, port)
    }

    pub(super) fn is_external_opaque(&self, workload: &Value, port: u16) -> bool {
        let named = of_spec(workload);
        is_listed(workload, &named, port)
            || self.is_opaque_by_server(workload, "externalWorkloadSelector", &named, port)
    }

    /// A pod; `None` if it is in the mesh and does not say where its proxy listens.
    pub(super) fn of_pod(&self, pod: &Value, port: u16) -> Option<Value> {
        let mut said = bare();
        let (owner, owner_name) = self.owner_of(pod);
        let labels = &mut said["metric_labels"];
        labels[owner] = owner_name.into();
        labels["pod"] = name(pod).into();
        let account = match text(pod, "/spec/serviceAccountName") {
            "" => "default",
            account => account,
        };
        labels["serviceaccount"] = account.into();
        let control_plane = label(pod, "linkerd.io/control-plane-ns");
        for (key, value) in [
            ("control_plane_ns", control_plane),
            ("pod_template_hash", label(pod, "pod-template-hash")),
        ] {
            if !value.is_empty() {
                labels[key] = value.into();
            }
        }
        let skipped = annotation(pod, "config.linkerd.io/skip-inbound-ports");
        if control_plane.is_empty() || skipped.is_some_and(|it| lists(it, &[], port)) {
            return Some(said);
        }
        said["protocol_hint"] = self.hint(pod, port)?;
        if control_plane == "linkerd" {
            let identity = format!(
                "{account}.{}.serviceaccount.identity.linkerd.cluster.local",
                namespace(pod)
            );
            said["tls_identity"] =
                json!({"dns_like_identity": {"name": identity}, "server_name": {"name": identity}});
        }
        self.put_http2(&mut said);
        Some(said)
    }

    fn hint(&self, pod: &Value, port: u16) -> Option<Value> {
        let listeners = listeners(pod);
        let (admin, control) = (listeners.admin?, listeners.control?);
        let opaque = self.is_pod_opaque(pod, port);
        let mut hint = json!({});
        if opaque {
            hint["opaque"] = json!({});
        } else if self.rules.h2_upgrade {
            hint["h2"] = json!({});
        }
        if (opaque || self.rules.transport_header) && port != admin && port != control {
            hint["opaque_transport"] = json!({"inbound_port": listeners.inbound?});
        }
        Some(hint)
    }

    /// An external workload, its owner's kind in lower case or as it is written.
    pub(super) fn of_external(
        &self,
        workload: &Value,
        port: u16,
        kind_of: impl Fn(&str) -> String,
    ) -> Value {
        let mut said = bare();
        let labels = &mut said["metric_labels"];
        if let Some((kind, name)) = owner(workload) {
            labels[kind_of(kind)] = name.into();
        }
        labels["external_workload"] = name(workload).into();
        let opaque = self.is_external_opaque(workload, port);
        let hint = &mut said["protocol_hint"];
        hint[if opaque { "opaque" } else { "h2" }] = json!({});
        if opaque || self.rules.transport_header {
            let ports = of_spec(workload);
            let proxy = ports.iter().find(|it| it.name == "linkerd-proxy");
            let inbound = proxy.map_or(4143, |it: &Named<'_>| it.port);
            hint["opaque_transport"] = json!({"inbound_port": inbound});
        }
        let named = |field: &str, pointer: &str| match text(workload, pointer) {
            "" => json!({}),
            name => json!({field: name}),
        };
        said["tls_identity"] = json!({
            "uri_like_identity": named("uri", "/spec/meshTLS/identity"),
            "server_name": named("name", "/spec/meshTLS/serverName"),
        });
        self.put_http2(&mut said);
        said
    }

    /// An address without an object: foreign, or a gateway of a mirrored service.
    pub(super) fn of_address(&self, slice: &Value, requested: u16) -> Value {
        let mut said = bare();
        if let Some(service) = annotation(slice, "mirror.linkerd.io/remote-svc-fq-name") {
            let authority = format!("{service}:{requested}");
            said["authority_override"] = json!({"authority_override": authority});
        }
        if let Some(gateway) = annotation(slice, "mirror.linkerd.io/remote-gateway-identity") {
            said["tls_identity"] = json!({"dns_like_identity": {"name": gateway}});
            if self.rules.h2_upgrade {
                said["protocol_hint"] = json!({"h2": {}});
            }
            self.put_http2(&mut said);
        }
        said
    }

    fn put_http2(&self, said: &mut Value) {
        if self.rules.http2 {
            let keep_alive = json!({"interval": "10s", "timeout": "3s", "while_idle": true});
            said["http2"] = json!({"keep_alive": keep_alive});
        }
    }

    /// The key of the label that names the owner, and the owner (A8.11).
    fn owner_of(&self, pod: &Value) -> (String, String) {
        let Some((kind, owner_name)) = owner(pod) else {
            return ("pod".to_owned(), name(pod).to_owned());
        };
        let above = match kind {
            "ReplicaSet" | "Job" => self.find(kind, namespace(pod), owner_name),
            _ => None,
        };
        let above = above.and_then(owner).filter(|(above, _)| {
            kind == "Job" || ["Job", "StatefulSet", "DaemonSet", "Deployment"].contains(above)
        });
        let (kind, name) = above.unwrap_or((kind, owner_name));
        let key = match kind {
            "Job" => "k8s_job".to_owned(),
            kind => kind.to_lowercase(),
        };
        (key, name.to_owned())
    }
}

fn listeners(pod: &Value) -> Listeners {
    let init = list(pod, "/spec/initContainers").iter();
    let mut containers = init.chain(list(pod, "/spec/containers"));
    let proxy = containers.find(|it| text(it, "/name") == "linkerd-proxy");
    let listener = |which: &str| {
        let variable = format!("LINKERD2_PROXY_{which}_LISTEN_ADDR");
        let mut env = list(proxy?, "/env").iter();
        let found = env.find(|it| text(it, "/name") == variable)?;
        let address: SocketAddr = text(found, "/value").parse().ok()?;
        port(&address.port().into())
    };
    Listeners {
        inbound: listener("INBOUND"),
        admin: listener("ADMIN"),
        control: listener("CONTROL"),
    }
}

/// Puts labels beside those that are there.
pub(super) fn put_labels(said: &mut Value, labels: &Map<String, Value>) {
    for (key, value) in labels {
        said["metric_labels"][key] = value.clone();
    }
}
