//! A cluster's objects, written as its controllers would write them.

use k8s_openapi::api::core::v1::{Namespace, Node, Pod, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::{
    Api, Client, Resource,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::{fmt::Debug, net::Ipv4Addr};

pub const NAMESPACE: &str = "mesh";

/// Writes objects to an API server, real or simulated.
#[derive(Clone)]
pub struct Writer {
    client: Client,
}

impl Writer {
    pub fn new(client: Client) -> Self {
        Self { client }
    }

    pub fn client(&self) -> Client {
        self.client.clone()
    }

    fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = k8s_openapi::NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    async fn create<K>(&self, api: &Api<K>, object: Value)
    where
        K: Clone + Debug + Serialize + DeserializeOwned,
    {
        let object: K = serde_json::from_value(object).unwrap();
        api.create(&PostParams::default(), &object).await.unwrap();
    }

    /// The namespace and three nodes in three zones.
    pub async fn ground(&self) {
        let namespace = json!({ "metadata": { "name": NAMESPACE } });
        self.create(&Api::<Namespace>::all(self.client()), namespace)
            .await;
        for zone in ["a", "b", "c"] {
            let labels = json!({ "topology.kubernetes.io/zone": format!("zone-{zone}") });
            let node = json!({ "metadata": { "name": format!("node-{zone}"), "labels": labels } });
            self.create(&Api::<Node>::all(self.client()), node).await;
        }
    }

    pub async fn service(&self, name: &str) {
        let spec = json!({
            "selector": { "app": name },
            "ports": [{ "name": "http", "port": 80, "targetPort": 8080 }],
        });
        let service = json!({ "metadata": { "name": name }, "spec": spec });
        self.create(&self.api::<Service>(), service).await;
    }

    /// A running pod at `ip`; returns its uid.
    pub async fn pod(&self, name: &str, ip: Ipv4Addr) -> String {
        let labels = json!({ "linkerd.io/control-plane-ns": "linkerd" });
        let listen = |name: &str, port: u16| json!({ "name": format!("LINKERD2_PROXY_{name}_LISTEN_ADDR"), "value": format!("0.0.0.0:{port}") });
        let proxy = json!({
            "name": "linkerd-proxy",
            "image": "proxy",
            "env": [listen("INBOUND", 4143), listen("ADMIN", 4191), listen("CONTROL", 4190)],
        });
        let app = json!({ "name": "app", "image": "app", "ports": [{ "containerPort": 8080 }] });
        let pod = json!({
            "metadata": { "name": name, "labels": labels },
            "spec": { "nodeName": "node-a", "containers": [app, proxy] },
        });
        let pod: Pod = serde_json::from_value(pod).unwrap();
        let pods = self.api::<Pod>();
        let made = pods.create(&PostParams::default(), &pod).await.unwrap();
        let ip = ip.to_string();
        let status =
            json!({ "status": { "phase": "Running", "podIP": ip, "podIPs": [{ "ip": ip }] } });
        pods.patch_status(name, &PatchParams::default(), &Patch::Merge(status))
            .await
            .unwrap();
        made.metadata.uid.unwrap()
    }

    pub async fn delete_pod(&self, name: &str) {
        let now = DeleteParams {
            grace_period_seconds: Some(0),
            ..DeleteParams::default()
        };
        self.api::<Pod>().delete(name, &now).await.unwrap();
    }

    /// A slice of `service` with these pods: name, uid, address.
    pub async fn slice(&self, name: &str, service: &str, pods: &[(String, String, Ipv4Addr)]) {
        self.create(&self.api::<EndpointSlice>(), slice(name, service, pods))
            .await;
    }

    /// Writes a slice anew.
    pub async fn rewrite_slice(
        &self,
        name: &str,
        service: &str,
        pods: &[(String, String, Ipv4Addr)],
    ) {
        let whole = Patch::Merge(slice(name, service, pods));
        self.api::<EndpointSlice>()
            .patch(name, &PatchParams::default(), &whole)
            .await
            .unwrap();
    }

    pub async fn delete_service(&self, name: &str) {
        self.api::<Service>()
            .delete(name, &DeleteParams::default())
            .await
            .unwrap();
    }
}

fn slice(name: &str, service: &str, pods: &[(String, String, Ipv4Addr)]) -> Value {
    let endpoint = |(pod, uid, ip): &(String, String, Ipv4Addr)| {
        let target = json!({ "kind": "Pod", "namespace": NAMESPACE, "name": pod, "uid": uid });
        json!({
            "addresses": [ip.to_string()],
            "conditions": { "ready": true, "serving": true, "terminating": false },
            "targetRef": target,
            "nodeName": "node-a",
            "zone": "zone-a",
        })
    };
    json!({
        "metadata": { "name": name, "labels": { "kubernetes.io/service-name": service } },
        "addressType": "IPv4",
        "ports": [{ "name": "http", "port": 8080, "protocol": "TCP" }],
        "endpoints": pods.iter().map(endpoint).collect::<Vec<Value>>(),
    })
}

/// The address of the pod with this number.
pub fn ip(number: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(Ipv4Addr::new(10, 128, 0, 0).to_bits() + number)
}
