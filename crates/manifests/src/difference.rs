//! What to tell of two states of a folder. Pure.

use lockstep_catalog::{Listed, SourceEvent};
use lockstep_model::{Cursor, Fact, FactKey, FactKind};
use std::collections::{BTreeMap, BTreeSet};

/// A folder has no history to resume in: whoever follows it is told everything first.
const CURSOR: &str = "manifests";

fn cursor() -> Cursor {
    Cursor(CURSOR.into())
}

/// A list of each kind, in the order of the kinds.
pub(crate) fn lists(facts: &BTreeMap<FactKey, Fact>) -> Vec<Listed> {
    let lists = FactKind::ALL.into_iter().map(|kind| Listed {
        kind,
        facts: facts
            .iter()
            .filter(|(key, _)| key.kind == kind)
            .map(|(key, fact)| (key.clone(), fact.clone()))
            .collect(),
        unread: BTreeSet::new(),
        cursor: cursor(),
    });
    lists.collect()
}

/// The changes that lead from `told` to `now`, in the order of the keys.
pub(crate) fn changes(
    told: &BTreeMap<FactKey, Fact>,
    now: &BTreeMap<FactKey, Fact>,
) -> Vec<SourceEvent> {
    let gone = told.keys().filter(|key| !now.contains_key(*key));
    let gone = gone.map(|key| (key, None));
    let new = now
        .iter()
        .filter(|(key, fact)| told.get(*key) != Some(*fact))
        .map(|(key, fact)| (key, Some(fact)));
    let changes: BTreeMap<&FactKey, Option<&Fact>> = gone.chain(new).collect();
    let events = changes.into_iter().map(|(key, fact)| SourceEvent::Changed {
        key: key.clone(),
        fact: fact.cloned(),
        cursor: cursor(),
    });
    events.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(nodes: &[(&str, &str)]) -> BTreeMap<FactKey, Fact> {
        let fact = |(name, zone): &(&str, &str)| {
            let key = FactKey::named(FactKind::Node, "", name);
            (key, Fact::Node(Some((*zone).into())))
        };
        nodes.iter().map(fact).collect()
    }

    #[test]
    fn only_what_differs_is_told() {
        let told = facts(&[("a", "1"), ("b", "1"), ("c", "1")]);
        let now = facts(&[("a", "2"), ("c", "1"), ("d", "1")]);
        let changed = |name: &str, zone: Option<&str>| SourceEvent::Changed {
            key: FactKey::named(FactKind::Node, "", name),
            fact: zone.map(|zone| Fact::Node(Some(zone.into()))),
            cursor: Cursor("manifests".into()),
        };
        assert_eq!(
            changes(&told, &now),
            [
                changed("a", Some("2")),
                changed("b", None),
                changed("d", Some("1"))
            ],
        );
        assert_eq!(changes(&now, &now), []);
    }

    #[test]
    fn every_kind_is_listed_even_if_there_is_none() {
        let lists = lists(&facts(&[("a", "1")]));
        let sizes: Vec<_> = lists
            .iter()
            .map(|list| (list.kind, list.facts.len()))
            .collect();
        let expected = FactKind::ALL.map(|kind| (kind, usize::from(kind == FactKind::Node)));
        assert_eq!(sizes, expected);
    }
}
