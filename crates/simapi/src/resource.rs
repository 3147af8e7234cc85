//! A kind at one of the versions it is served in: what a path names.

use serde_json::Value;

use crate::kind::{KINDS, Kind, Origin};
use crate::refusal::Refusal;

/// A kind at one of its versions. Objects are stored in one version, that of
/// the kind, and differ in the others by nothing but `apiVersion`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Resource {
    pub(crate) kind: &'static Kind,
    pub(crate) version: &'static str,
}

// === impl Resource ===

impl Resource {
    /// Every version of every kind, in the order of discovery.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        KINDS
            .iter()
            .flat_map(|kind| kind.versions().map(move |version| Self { kind, version }))
    }

    /// The resource at a path such as `apps`, `v1`, `replicasets`.
    pub(crate) fn at_path(group: &str, version: &str, plural: &str) -> Option<Self> {
        Self::all()
            .find(|r| r.kind.group == group && r.version == version && r.kind.plural == plural)
    }

    /// The resource of an object with these `apiVersion` and `kind` fields.
    pub(crate) fn of_object(api_version: &str, kind: &str) -> Option<Self> {
        Self::all().find(|r| r.kind.kind == kind && r.api_version() == api_version)
    }

    /// `apiVersion` of its objects, for example `apps/v1`.
    pub(crate) fn api_version(self) -> String {
        self.kind.api_version_of(self.version)
    }

    /// Whether objects are stored as they are shown.
    pub(crate) fn is_stored(self) -> bool {
        self.version == self.kind.version
    }

    /// An object or a patch given at this version, as it would be stored.
    pub(crate) fn stored_form(self, mut body: Value) -> Result<Value, Refusal> {
        let expected = self.api_version();
        let given = body.get("apiVersion").and_then(Value::as_str);
        match (given, self.kind.origin) {
            (Some(given), Origin::Custom) if given != expected => {
                return Err(Refusal::bad_request(format!(
                    "the API version in the data ({given}) does not match the expected API \
                     version ({expected})"
                )));
            }
            (None, _) | (_, Origin::BuiltIn | Origin::Custom) => {}
        }
        if given.is_some()
            && !self.is_stored()
            && let Some(fields) = body.as_object_mut()
        {
            fields.insert("apiVersion".to_owned(), self.kind.api_version().into());
        }
        Ok(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_version_has_a_path_and_objects() {
        let old = Resource::at_path("policy.linkerd.io", "v1beta1", "servers").unwrap();
        assert_eq!(old.api_version(), "policy.linkerd.io/v1beta1");
        assert!(!old.is_stored());
        let found = Resource::of_object("policy.linkerd.io/v1beta1", "Server");
        assert_eq!(found, Some(old));
        let none = Resource::at_path("policy.linkerd.io", "v1", "servers");
        assert_eq!(none, None);
        let set = Resource::at_path("apps", "v1", "replicasets").unwrap();
        assert!(set.is_stored());
    }

    #[test]
    fn only_the_version_of_the_path_is_taken_and_another_is_stored() {
        let old = Resource::at_path("linkerd.io", "v1alpha1", "serviceprofiles").unwrap();
        let body = |version: &str| json!({"apiVersion": format!("linkerd.io/{version}"), "a": 1});
        assert_eq!(old.stored_form(body("v1alpha1")), Ok(body("v1alpha2")));
        assert_eq!(old.stored_form(json!({"a": 1})), Ok(json!({"a": 1})));
        assert_eq!(
            old.stored_form(body("v1alpha2")).unwrap_err().message,
            "the API version in the data (linkerd.io/v1alpha2) does not match the expected API \
             version (linkerd.io/v1alpha1)"
        );
    }
}
