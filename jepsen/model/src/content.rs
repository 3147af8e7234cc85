//! Everything that answers are made of, at one moment.

use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{Name, Service, Settings, Slice, Text};

/// All content: of a revision, or of Kubernetes at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    settings: Option<Arc<Settings>>,
    services: BTreeMap<Name, Arc<Service>>,
    slices: BTreeMap<Name, Arc<Slice>>,
    zones: BTreeMap<Text, Text>,
    other: BTreeMap<Text, u64>,
    slices_of: BTreeMap<Name, BTreeSet<Name>>,
}

/// One change of content, as the log has it. A missing value takes the thing away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// The settings of the mesh.
    Settings(Arc<Settings>),
    /// A service.
    Service(Name, Option<Arc<Service>>),
    /// A slice.
    Slice(Name, Option<Arc<Slice>>),
    /// The zone of a node.
    Zone(Text, Option<Text>),
    /// Content that no `Get` depends on, by any unique key, with any hash of its value: only
    /// whether it changes matters.
    Other(Text, Option<u64>),
}

// === impl Content ===

impl Content {
    /// Makes one change, and says whether anything is different now.
    pub fn apply(&mut self, change: &Change) -> bool {
        match change {
            Change::Settings(settings) => {
                let old = self.settings.replace(settings.clone());
                old.as_ref() != Some(settings)
            }
            Change::Service(name, value) => put(&mut self.services, name, value.as_ref()),
            Change::Slice(name, value) => self.put_slice(name, value.as_ref()),
            Change::Zone(node, value) => put(&mut self.zones, node, value.as_ref()),
            Change::Other(key, value) => put(&mut self.other, key, value.as_ref()),
        }
    }

    /// The settings; none before the first complete sync.
    #[must_use]
    pub fn settings(&self) -> Option<&Settings> {
        self.settings.as_deref()
    }

    /// One service.
    #[must_use]
    pub fn service(&self, name: &Name) -> Option<&Service> {
        self.services.get(name).map(Arc::as_ref)
    }

    /// One slice.
    #[must_use]
    pub fn slice(&self, name: &Name) -> Option<&Slice> {
        self.slices.get(name).map(Arc::as_ref)
    }

    /// The slices of one service, by name.
    pub fn slices_of(&self, service: &Name) -> impl Iterator<Item = &Slice> {
        let names = self.slices_of.get(service).into_iter().flatten();
        names.filter_map(|name| self.slice(name))
    }

    /// The zone of a node.
    #[must_use]
    pub fn zone(&self, node: &str) -> Option<&Text> {
        self.zones.get(node)
    }

    fn put_slice(&mut self, name: &Name, value: Option<&Arc<Slice>>) -> bool {
        let old = self.slices.get(name);
        if old == value {
            return false;
        }
        if let Some(names) = old.and_then(|old| self.slices_of.get_mut(&old.service)) {
            names.remove(name);
        }
        if let Some(slice) = value {
            let names = self.slices_of.entry(slice.service.clone()).or_default();
            names.insert(name.clone());
        }
        put(&mut self.slices, name, value)
    }
}

/// Puts a value or takes it away; says whether that changes anything.
fn put<K: Ord + Clone, V: PartialEq + Clone>(
    map: &mut BTreeMap<K, V>,
    key: &K,
    value: Option<&V>,
) -> bool {
    match value {
        Some(value) => map.insert(key.clone(), value.clone()).as_ref() != Some(value),
        None => map.remove(key).is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, Content};
    use crate::{Family, Mirror, Name, Slice};

    fn slice(service: &Name) -> Slice {
        Slice {
            service: service.clone(),
            family: Family::V4,
            ports: Vec::new(),
            endpoints: Vec::new(),
            mirror: Mirror::default(),
            labelled: true,
        }
    }

    #[test]
    fn a_change_says_whether_it_changes_anything() {
        let mut content = Content::default();
        let name = Name::new("shop", "web");
        let put = Change::Service(name.clone(), Some(<_>::default()));
        let take = Change::Service(name, None);
        let changed = [&put, &put, &take, &take].map(|change| content.apply(change));
        assert_eq!(changed, [true, false, true, false]);
    }

    #[test]
    fn slices_are_found_by_their_service_and_not_by_their_name() {
        let mut content = Content::default();
        let (web, cart) = (Name::new("shop", "web"), Name::new("shop", "cart"));
        for (name, service) in [("a", &web), ("cart-b", &web), ("c", &cart)] {
            let value = Some(slice(service).into());
            content.apply(&Change::Slice(Name::new("shop", name), value));
        }
        assert_eq!(content.slices_of(&web).count(), 2);
        assert_eq!(content.slices_of(&cart).count(), 1);
        assert_eq!(content.slices_of(&Name::new("other", "web")).count(), 0);
    }
}
