//! All objects at one moment.

use serde_json::Value;
use std::{collections::BTreeMap, net::IpAddr, sync::Arc};

use super::{
    Kind, ObjectKey, UnnamedObject,
    json::{filled, list, port, text},
    slice::{Workloads, readiness, service_of},
};
use crate::{Behind, Change, Content, Family, Name, Readiness, Settings, Slice, Text};

/// The objects of a cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cluster {
    objects: BTreeMap<ObjectKey, Arc<Value>>,
}

/// One address that one slice shows, whatever stands behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exposure {
    /// The service.
    pub service: Name,
    /// The address.
    pub ip: IpAddr,
    /// The ports of the slice.
    pub ports: Vec<u16>,
    /// The pod or external workload that it names.
    pub workload: Option<Text>,
}

// === impl Cluster ===

impl Cluster {
    /// Creates or replaces an object.
    ///
    /// # Errors
    ///
    /// [`UnnamedObject`] if it is of no kind that matters, or has no name.
    pub fn put(&mut self, object: Arc<Value>) -> Result<ObjectKey, UnnamedObject> {
        let key = ObjectKey::of(&object)?;
        self.objects.insert(key.clone(), object);
        Ok(key)
    }

    /// Deletes an object.
    pub fn delete(&mut self, key: &ObjectKey) {
        self.objects.remove(key);
    }

    /// One object.
    #[must_use]
    pub fn object(&self, key: &ObjectKey) -> Option<&Value> {
        self.objects.get(key).map(Arc::as_ref)
    }

    /// The content that these objects make.
    #[must_use]
    pub fn content(&self, settings: &Arc<Settings>) -> Content {
        let mut content = Content::default();
        content.apply(&Change::Settings(settings.clone()));
        for (name, object) in self.of_kind(Kind::Service) {
            let service = super::service::read(object);
            content.apply(&Change::Service(name, Some(service.into())));
        }
        for (key, object) in self
            .objects
            .iter()
            .filter(|(key, _)| key.kind == Kind::Node)
        {
            let zone = "/metadata/labels/topology.kubernetes.io~1zone";
            content.apply(&Change::Zone(key.name.clone(), filled(object, zone)));
        }
        for (name, slice) in self.slices() {
            content.apply(&Change::Slice(name, Some(slice.into())));
        }
        content
    }

    /// What a slice object shows to anybody who reads it.
    #[must_use]
    pub fn exposed(slice: &Value) -> Vec<Exposure> {
        let namespace = text(slice, "/metadata/namespace").unwrap_or_default();
        let Some((service, _)) = service_of(slice) else {
            return Vec::new();
        };
        let ports: Vec<u16> = list(slice, "/ports")
            .filter_map(|each| port(each, "/port"))
            .collect();
        let shown = |item: &Value, ip| Exposure {
            service: Name::new(namespace, service),
            ip,
            ports: ports.clone(),
            workload: filled(item, "/targetRef/name"),
        };
        let items = list(slice, "/endpoints").filter(|item| readiness(item) != Readiness::Unready);
        items
            .flat_map(|item| {
                let ips = list(item, "/addresses").filter_map(Value::as_str);
                ips.filter_map(|ip| ip.parse().ok())
                    .map(move |ip| (item, ip))
            })
            .map(|(item, ip)| shown(item, ip))
            .collect()
    }

    /// The objects of one kind in one namespace, by name.
    pub(super) fn of_namespace<'a>(
        &'a self,
        kind: Kind,
        namespace: &'a Text,
    ) -> impl Iterator<Item = &'a Value> {
        let of_kind = self.of_kind(kind);
        of_kind
            .filter(move |(name, _)| name.namespace == *namespace)
            .map(|(_, object)| object)
    }

    fn of_kind(&self, kind: Kind) -> impl Iterator<Item = (Name, &Value)> {
        let first = ObjectKey::new(kind, "", "");
        let from = self.objects.range(first..);
        from.take_while(move |(key, _)| key.kind == kind)
            .map(|(key, object)| (Name::new(&key.namespace, &key.name), object.as_ref()))
    }

    /// All slices, joined. Where slices of one service and family name the same pod and
    /// disagree, the one that was created last decides, or of equal age the last by name.
    fn slices(&self) -> Vec<(Name, Slice)> {
        let mut known = Workloads::default();
        let mut slices: Vec<(Age, Name, Slice)> = Vec::new();
        for (name, object) in self.of_kind(Kind::EndpointSlice) {
            if let Some(slice) = self.slice(&name, object, &mut known) {
                let created = text(object, "/metadata/creationTimestamp").unwrap_or_default();
                slices.push(((created.to_owned(), name.clone()), name, slice));
            }
        }
        let mut newest: BTreeMap<PodIn, (Age, Readiness)> = BTreeMap::new();
        for (age, _, slice) in &slices {
            for (pod, readiness) in pods_of(slice) {
                let known = newest
                    .entry(pod)
                    .or_insert_with(|| (age.clone(), readiness));
                if known.0 < *age {
                    *known = (age.clone(), readiness);
                }
            }
        }
        let believed = slices.into_iter().map(|(age, name, mut slice)| {
            let (service, family) = (slice.service.clone(), slice.family);
            slice.endpoints.retain(|endpoint| {
                let Behind::Pod(pod) = &endpoint.behind else {
                    return true;
                };
                let key = (service.clone(), family == Family::V6, pod.name.clone());
                newest.get(&key).is_none_or(|(newest, readiness)| {
                    *newest == age || *readiness == endpoint.readiness
                })
            });
            (name, slice)
        });
        believed.collect()
    }
}

/// When a slice was created, in RFC 3339, and its name.
type Age = (String, Name);

/// A pod as one service shows it in one family; true for IPv6.
type PodIn = (Name, bool, Name);

fn pods_of(slice: &Slice) -> impl Iterator<Item = (PodIn, Readiness)> {
    slice
        .endpoints
        .iter()
        .filter_map(|endpoint| match &endpoint.behind {
            Behind::Pod(pod) => {
                let key = (
                    slice.service.clone(),
                    slice.family == Family::V6,
                    pod.name.clone(),
                );
                Some((key, endpoint.readiness))
            }
            Behind::Nothing | Behind::External(_) => None,
        })
}
