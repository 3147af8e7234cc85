//! Labels of objects, and the selectors that choose by them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::Text;

/// Labels of an object, by key.
pub type ObjectLabels = BTreeMap<Text, Text>;

/// Chooses objects by their labels: all requirements must hold, so that one
/// without requirements matches everything. Source: `LabelSelector` of the Kubernetes API.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LabelSelector(pub Vec<Requirement>);

/// What must hold of one label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Requirement {
    /// The key of the label.
    pub key: Text,
    /// What must hold of its value.
    pub holds: Holds,
}

/// What must hold of the value of a label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Holds {
    /// There is one, and it is one of these.
    In(Vec<Text>),
    /// There is none, or it is none of these.
    NotIn(Vec<Text>),
    /// There is one.
    Exists,
    /// There is none.
    DoesNotExist,
}

impl LabelSelector {
    /// Whether it chooses an object with these labels.
    #[must_use]
    pub fn matches(&self, labels: &ObjectLabels) -> bool {
        self.0.iter().all(|requirement| requirement.matches(labels))
    }
}

impl Requirement {
    fn matches(&self, labels: &ObjectLabels) -> bool {
        let value = labels.get(&self.key);
        match &self.holds {
            Holds::In(values) => value.is_some_and(|value| values.contains(value)),
            Holds::NotIn(values) => !value.is_some_and(|value| values.contains(value)),
            Holds::Exists => value.is_some(),
            Holds::DoesNotExist => value.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(holds: Holds) -> [bool; 3] {
        let requirement = Requirement {
            key: "app".into(),
            holds,
        };
        let selector = LabelSelector(vec![requirement]);
        [None, Some("web"), Some("cart")].map(|app| {
            let label = app.map(|app| ("app".into(), app.into()));
            selector.matches(&label.into_iter().collect())
        })
    }

    #[test]
    fn each_operator_reads_the_label_and_its_absence() {
        let web = || vec!["web".into(), "api".into()];
        assert_eq!(chosen(Holds::In(web())), [false, true, false]);
        assert_eq!(chosen(Holds::NotIn(web())), [true, false, true]);
        assert_eq!(chosen(Holds::Exists), [false, true, true]);
        assert_eq!(chosen(Holds::DoesNotExist), [true, false, false]);
    }

    #[test]
    fn all_requirements_must_hold_and_none_is_everything() {
        assert!(LabelSelector::default().matches(&ObjectLabels::new()));
        let exists = |key: &str| Requirement {
            key: key.into(),
            holds: Holds::Exists,
        };
        let both = LabelSelector(vec![exists("app"), exists("tier")]);
        let labels: ObjectLabels = [("app".into(), "web".into())].into();
        assert!(!both.matches(&labels));
    }
}
