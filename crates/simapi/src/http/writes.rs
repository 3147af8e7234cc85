//! Create, replace, patch and delete.

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::answer::{self, SimBody};
use super::exchange::Ask;
use super::render;
use crate::api::SimApi;
use crate::kind::{DeleteAnswer, Origin, Scope};
use crate::object::{self, Deletion, Patch, Preconditions, Target, Written, metadata};
use crate::refusal::{Cause, Refusal};
use crate::resource::Resource;
use crate::store::{ListAt, ObjectKey};

// === writes of Ask ===

impl Ask {
    pub(super) fn create(
        &self,
        api: &SimApi,
        namespace: Option<&str>,
        body: &Bytes,
    ) -> Result<Response<SimBody>, Refusal> {
        let Resource { kind, .. } = self.resource();
        self.not_dry(None)?;
        let namespace = match (kind.scope, namespace) {
            (Scope::Cluster, _) => "",
            (Scope::Namespaced, Some(namespace)) => namespace,
            (Scope::Namespaced, None) => return Err(Refusal::method_not_allowed()),
        };
        let body = self.object_body(body)?;
        let stored = self.write(api, |store, now| {
            object::create(store, kind, namespace, body, now)
        })?;
        Ok(answer::bytes(
            StatusCode::CREATED,
            render::object(self.resource(), &stored, self.view),
        ))
    }

    pub(super) fn replace(
        &self,
        api: &SimApi,
        target: &Target,
        body: &Bytes,
    ) -> Result<Response<SimBody>, Refusal> {
        self.not_dry(None)?;
        let body = self.object_body(body)?;
        let written = self.write(api, |store, now| object::replace(store, target, body, now))?;
        Ok(self.written(&written))
    }

    pub(super) fn patch(
        &self,
        api: &SimApi,
        target: &Target,
        body: &Bytes,
    ) -> Result<Response<SimBody>, Refusal> {
        self.not_dry(None)?;
        let patch = self.parse_patch(body)?;
        let written = self.write(api, |store, now| object::patch(store, target, &patch, now))?;
        Ok(self.written(&written))
    }

    pub(super) fn delete(
        &self,
        api: &SimApi,
        target: &Target,
        body: &Bytes,
    ) -> Result<Response<SimBody>, Refusal> {
        let Target { kind, key, .. } = target;
        let (grace, preconditions) = self.delete_options(body)?;
        let deletion = self.write(api, |store, now| {
            object::delete(store, (kind, key), grace, &preconditions, now)
        })?;
        Ok(match (deletion, kind.deleted) {
            (Deletion::Waiting(object), _) | (Deletion::Removed(object), DeleteAnswer::Object) => {
                answer::bytes(
                    StatusCode::OK,
                    render::object(self.resource(), &object, self.view),
                )
            }
            (Deletion::Removed(object), DeleteAnswer::Status) => answer::json(&json!({
                "kind": "Status",
                "apiVersion": "v1",
                "metadata": {},
                "status": "Success",
                "details": {
                    "name": key.name,
                    "group": kind.group,
                    "kind": kind.plural,
                    "uid": metadata::text(&object, "uid"),
                },
            })),
        })
    }

    pub(super) fn delete_collection(
        &self,
        api: &SimApi,
        namespace: Option<String>,
        body: &Bytes,
    ) -> Result<Response<SimBody>, Refusal> {
        let Resource { kind, .. } = self.resource();
        let (grace, preconditions) = self.delete_options(body)?;
        let selection = self.selection(kind, namespace)?;
        let listing = self.write(api, |store, now| {
            let listing = store.list(kind, &selection, &ListAt::Newest, None)?;
            for found in &listing.items {
                let key = ObjectKey::new(
                    metadata::text(found, "namespace"),
                    metadata::text(found, "name"),
                );
                object::delete(store, (kind, &key), grace, &preconditions, now)?;
            }
            Ok::<_, Refusal>(listing)
        })?;
        Ok(answer::bytes(
            StatusCode::OK,
            render::list(self.resource(), &listing, self.view),
        ))
    }

    fn object_body(&self, body: &Bytes) -> Result<Value, Refusal> {
        let media = self
            .content_type
            .split(';')
            .next()
            .unwrap_or_default()
            .trim();
        if !matches!(media, "" | "application/json") {
            return Err(Refusal::unsupported_media());
        }
        let body = serde_json::from_slice(body).map_err(|error| {
            Refusal::bad_request(format!(
                "the object provided is unrecognized (must be of type {}): couldn't get \
                 version/kind; json parse error: {error}",
                self.resource().kind.kind
            ))
        })?;
        self.resource().stored_form(body)
    }

    fn parse_patch(&self, body: &Bytes) -> Result<Patch, Refusal> {
        let media = self
            .content_type
            .split(';')
            .next()
            .unwrap_or_default()
            .trim();
        let form = match (media, self.resource().kind.origin) {
            ("application/merge-patch+json", _) => Patch::Merge,
            ("application/strategic-merge-patch+json", Origin::BuiltIn) => Patch::Strategic,
            ("application/apply-patch+yaml", _) => {
                if self.query.text("fieldManager").is_empty() {
                    let detail = "is required for apply patch";
                    let cause = Cause::required("fieldManager", detail);
                    return Err(Refusal::invalid_options("PatchOptions", &[cause]));
                }
                Patch::Apply
            }
            (_, Origin::BuiltIn | Origin::Custom) => return Err(Refusal::unsupported_patch()),
        };
        match serde_json::from_slice(body) {
            Ok(body @ Value::Object(_)) => Ok(form(self.resource().stored_form(body)?)),
            Ok(other) => Err(Refusal::bad_request(format!(
                "error decoding patch: json: cannot unmarshal {} into Go value of type \
                 map[string]interface {{}}",
                object::name_of_type(&other)
            ))),
            Err(error) => Err(Refusal::bad_request(format!(
                "error decoding patch: {error}"
            ))),
        }
    }

    /// Grace period and preconditions, from the query and from `DeleteOptions`.
    fn delete_options(&self, body: &Bytes) -> Result<(Option<u64>, Preconditions), Refusal> {
        let options: Value = if body.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(body).map_err(|error| {
                Refusal::bad_request(format!("unable to decode DeleteOptions: {error}"))
            })?
        };
        self.not_dry(options.get("dryRun"))?;
        let grace = self.query.number("gracePeriodSeconds")?;
        let grace = grace.or_else(|| options.get("gracePeriodSeconds")?.as_u64());
        let precondition = |field: &str| {
            let found = options
                .get("preconditions")
                .and_then(|found| found.get(field));
            found.and_then(Value::as_str).map(str::to_owned)
        };
        let preconditions = Preconditions {
            uid: precondition("uid"),
            resource_version: precondition("resourceVersion"),
        };
        Ok((grace, preconditions))
    }

    fn not_dry(&self, option: Option<&Value>) -> Result<(), Refusal> {
        let is_asked = option
            .and_then(Value::as_array)
            .is_some_and(|list| !list.is_empty());
        if is_asked || !self.query.text("dryRun").is_empty() {
            return Err(Refusal::bad_request(
                "dryRun is not supported by the simulated server",
            ));
        }
        Ok(())
    }

    fn written(&self, written: &Written) -> Response<SimBody> {
        match written {
            Written::Created(object) => answer::bytes(
                StatusCode::CREATED,
                render::object(self.resource(), object, self.view),
            ),
            Written::Updated(object) => answer::bytes(
                StatusCode::OK,
                render::object(self.resource(), object, self.view),
            ),
        }
    }
}
