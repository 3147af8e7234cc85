//! A small mesh that inputs are put into: one of each kind of object.

use lockstep_model::{Fact, FactKey, FactKind};
use std::collections::BTreeMap;

use crate::object::converted;

/// One object a line; each line is of the kind that it names.
const OBJECTS: &str = include_str!("scene.jsonl");

/// What the objects of the scene say.
pub(crate) fn facts() -> BTreeMap<FactKey, Fact> {
    let lines = OBJECTS.lines();
    let read = lines.filter_map(|line| converted(kind_of(line)?, line));
    read.map(|it| (it.key, it.fact)).collect()
}

fn kind_of(line: &str) -> Option<FactKind> {
    let object: serde_json::Value = serde_json::from_str(line).ok()?;
    let plural = format!("{}s", object.get("kind")?.as_str()?.to_ascii_lowercase());
    FactKind::ALL
        .into_iter()
        .find(|kind| kind.resource() == plural)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_scene_has_every_kind() {
        let kinds: BTreeSet<FactKind> = facts().into_keys().map(|key| key.kind).collect();
        assert_eq!(kinds, FactKind::ALL.into_iter().collect());
        assert_eq!(facts().len(), OBJECTS.lines().count());
    }
}
