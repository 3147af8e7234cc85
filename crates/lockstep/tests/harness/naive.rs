//! What clients must be told, worked out from a fresh list as plainly as can
//! be, by code that shares nothing with the product.

use k8s_openapi::api::core::v1::{Pod, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::{Api, Client, ResourceExt, api::ListParams};
use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
};

const SERVICE_NAME: &str = "kubernetes.io/service-name";

/// For each `service.namespace.svc.cluster.local:port` its addresses.
pub type Answers = BTreeMap<String, BTreeSet<SocketAddr>>;

/// Lists everything and works out every answer.
pub async fn answers(client: &Client) -> Answers {
    let everything = ListParams::default();
    let services = Api::<Service>::all(client.clone())
        .list(&everything)
        .await
        .unwrap();
    let slices = Api::<EndpointSlice>::all(client.clone())
        .list(&everything)
        .await
        .unwrap();
    let pods = Api::<Pod>::all(client.clone())
        .list(&everything)
        .await
        .unwrap();
    let pods: BTreeSet<(String, String)> = pods
        .iter()
        .map(|pod| (pod.namespace().unwrap(), pod.name_any()))
        .collect();
    let mut answers = Answers::new();
    for service in &services {
        let spec = service.spec.clone().unwrap_or_default();
        if spec.type_.as_deref() == Some("ExternalName") {
            continue;
        }
        for port in spec.ports.unwrap_or_default() {
            let namespace = service.namespace().unwrap();
            let authority = format!(
                "{}.{namespace}.svc.cluster.local:{}",
                service.name_any(),
                port.port
            );
            let name = port.name.unwrap_or_default();
            let own = slices.iter().filter(|slice| {
                slice.namespace().as_deref() == Some(&namespace)
                    && slice.labels().get(SERVICE_NAME) == Some(&service.name_any())
            });
            let addresses = own
                .flat_map(|slice| of_slice(slice, &name, &pods))
                .collect();
            answers.insert(authority, addresses);
        }
    }
    answers
}

fn of_slice(
    slice: &EndpointSlice,
    port_name: &str,
    pods: &BTreeSet<(String, String)>,
) -> Vec<SocketAddr> {
    let ports = slice.ports.iter().flatten();
    let mut named = ports.filter(|port| port.name.as_deref().unwrap_or_default() == port_name);
    let Some(number) = named.next().and_then(|port| port.port) else {
        return Vec::new();
    };
    let number = u16::try_from(number).unwrap();
    let mut addresses = Vec::new();
    for endpoint in slice.endpoints.iter().flatten() {
        let ready = endpoint
            .conditions
            .as_ref()
            .and_then(|conditions| conditions.ready);
        let target = endpoint.target_ref.as_ref();
        let known = target.is_none_or(|target| {
            let namespace = target.namespace.clone().unwrap_or_default();
            pods.contains(&(namespace, target.name.clone().unwrap_or_default()))
        });
        if ready.unwrap_or(true) && known {
            let ips = endpoint.addresses.iter();
            addresses.extend(ips.map(|ip| SocketAddr::new(ip.parse().unwrap(), number)));
        }
    }
    addresses
}
