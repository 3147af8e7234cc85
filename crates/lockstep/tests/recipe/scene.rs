//! A namespace of its own for each recipe, and who writes into it.

use kube::{
    Api,
    api::{
        ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams, PropagationPolicy,
    },
    core::GroupVersionKind,
};
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr};

use super::{
    both::Both,
    listener::Said,
    objects::{api_of, endpoint, endpoint_of, node, pod, service, slice},
    stage::{Sides, Stage},
};

/// The last number of the address that nothing but [`Scene::nothing_else`] uses.
const UNUSED: u8 = 250;

/// A namespace, with addresses that no other has.
pub struct Scene<'a> {
    pub stage: &'a Stage,
    pub name: String,
    number: u16,
}

impl<'a> Scene<'a> {
    /// Makes the namespace `name`; `number` chooses its addresses.
    pub async fn new(stage: &'a Stage, name: &str, number: u16) -> Self {
        let scene = Self {
            stage,
            name: name.to_owned(),
            number,
        };
        scene
            .put(json!({ "kind": "Namespace", "metadata": { "name": name } }))
            .await;
        scene
    }

    pub fn ip(&self, last: u8) -> Ipv4Addr {
        let [high, low] = self.number.to_be_bytes();
        Ipv4Addr::new(10, 64 + high, low, last)
    }

    pub fn at(&self, last: u8) -> SocketAddr {
        SocketAddr::new(self.ip(last).into(), 8080)
    }

    pub fn path(&self, service: &str) -> String {
        format!("{service}.{}.svc.cluster.local:80", self.name)
    }

    fn api(&self, kind: &str) -> Api<DynamicObject> {
        let (version, resource) = api_of(kind);
        let (group, version) = version.rsplit_once('/').unwrap_or(("", version));
        let kind_of_group = GroupVersionKind::gvk(group, version, kind);
        let resource = ApiResource::from_gvk_with_plural(&kind_of_group, resource);
        let client = self.stage.client();
        match kind {
            "Namespace" | "Node" => Api::all_with(client, &resource),
            _ => Api::namespaced_with(client, &self.name, &resource),
        }
    }

    /// Creates an object, with its status if it has one, and returns its uid.
    pub async fn put(&self, object: Value) -> String {
        let object = self.placed(object);
        let status = object.get("status").cloned();
        let object: DynamicObject = serde_json::from_value(object).unwrap();
        let kind = object.types.clone().unwrap().kind;
        let name = object.metadata.name.clone().unwrap();
        let api = self.api(&kind);
        let made = api.create(&PostParams::default(), &object).await;
        let made = made.unwrap_or_else(|error| panic!("{kind} {name}: {error}"));
        if let Some(status) = status {
            let status = Patch::Merge(json!({ "status": status }));
            api.patch_status(&name, &PatchParams::default(), &status)
                .await
                .unwrap();
        }
        made.metadata.uid.unwrap_or_default()
    }

    /// Writes an object that exists anew: a merge in which lists count as one value.
    pub async fn rewrite(&self, object: Value) {
        let object = self.placed(object);
        let kind = object["kind"].as_str().unwrap().to_owned();
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        self.patch(&kind, &name, object).await;
    }

    pub async fn patch(&self, kind: &str, name: &str, merge: Value) {
        let merge = Patch::Merge(merge);
        let (api, plainly) = (self.api(kind), PatchParams::default());
        let patched = api.patch(name, &plainly, &merge).await;
        patched.unwrap_or_else(|error| panic!("{kind} {name}: {error}"));
    }

    pub async fn delete(&self, kind: &str, name: &str) {
        let now = DeleteParams {
            grace_period_seconds: Some(0),
            propagation_policy: Some(PropagationPolicy::Background),
            ..DeleteParams::default()
        };
        let deleted = self.api(kind).delete(name, &now).await;
        deleted.unwrap_or_else(|error| panic!("{kind} {name}: {error}"));
    }

    /// What a controller fills in because it knows where the object is.
    fn placed(&self, mut object: Value) -> Value {
        let kind = object["kind"].as_str().unwrap().to_owned();
        object["apiVersion"] = api_of(&kind).0.into();
        if kind != "Namespace" && kind != "Node" {
            object["metadata"]["namespace"] = self.name.as_str().into();
        }
        let endpoints = object.get_mut("endpoints").and_then(Value::as_array_mut);
        for endpoint in endpoints.into_iter().flatten() {
            if let Some(target) = endpoint.get_mut("targetRef") {
                target["namespace"] = self.name.as_str().into();
            }
        }
        object
    }

    /// A node with a zone, of a name that no other scene has.
    pub async fn node(&self, zone: &str) -> String {
        let name = self.node_name();
        self.put(node(&name, zone)).await;
        name
    }

    pub fn node_name(&self) -> String {
        format!("{}-node", self.name)
    }

    pub async fn service(&self, name: &str) {
        self.put(service(name)).await;
    }

    /// A running pod, and the endpoint that stands for it.
    pub async fn pod(&self, name: &str, last: u8, account: &str) -> Value {
        let uid = self.put(pod(name, self.ip(last), account)).await;
        endpoint_of("Pod", (name, &uid), self.ip(last))
    }

    pub async fn slice(&self, name: &str, service: &str, endpoints: &[Value]) {
        self.put(slice(name, service, endpoints)).await;
    }

    pub async fn rewrite_slice(&self, name: &str, service: &str, endpoints: &[Value]) {
        self.rewrite(slice(name, service, endpoints)).await;
    }

    /// Opens streams of a service on both sides.
    pub async fn open(&self, sides: &Sides, service: &str) -> Both {
        Both::open(sides, &self.path(service), "").await.unwrap()
    }

    /// Nothing is under way to clients that was not heard: after the fleet has caught up,
    /// the next thing that changes is the next thing that they hear.
    pub async fn nothing_else(&self, both: &mut Both, service: &str) {
        self.stage.settled().await;
        let name = format!("{service}-last");
        self.slice(&name, service, &[endpoint(self.ip(UNUSED))])
            .await;
        both.hear(&Said::Added([self.at(UNUSED)].into())).await;
    }
}
