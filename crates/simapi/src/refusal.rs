//! What this server refuses, and the `metav1.Status` it says it with.
//!
//! Codes, reasons and messages are those of the real server: clients branch on
//! the first two and people search for the third.

use serde_json::{Map, Value, json};

use crate::kind::Kind;

/// A refusal, as the real server words it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Refusal {
    /// HTTP status code.
    pub(crate) code: u16,
    /// `reason` of the Status; empty where the real server gives none.
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    /// `details` of the Status.
    pub(crate) details: Option<Value>,
    /// `metadata.continue` of the Status, set on an expired page token.
    pub(crate) continuation: Option<String>,
    /// Seconds for the `Retry-After` header.
    pub(crate) retry_after: Option<u32>,
    pub(crate) form: Form,
}

/// How a refusal is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As a `metav1.Status`.
    Status,
    /// As its message only, in plain text.
    Text,
}

/// One wrong field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cause {
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    pub(crate) field: String,
}

// === impl Cause ===

impl Cause {
    pub(crate) fn required(field: &str, detail: &str) -> Self {
        let message = if detail.is_empty() {
            "Required value".to_owned()
        } else {
            format!("Required value: {detail}")
        };
        Self {
            reason: "FieldValueRequired",
            message,
            field: field.to_owned(),
        }
    }

    pub(crate) fn invalid(field: &str, value: &Value, detail: &str) -> Self {
        let message = format!("Invalid value: {value}: {detail}");
        Self {
            reason: "FieldValueInvalid",
            message,
            field: field.to_owned(),
        }
    }

    /// A field of a custom kind that should be an object.
    pub(crate) fn not_of_type(field: &str, found: &str) -> Self {
        let detail = format!("{field} in body must be of type object: {found:?}");
        Self {
            reason: "FieldValueTypeInvalid",
            ..Self::invalid(field, &found.into(), &detail)
        }
    }

    pub(crate) fn forbidden(field: &str, detail: &str) -> Self {
        let message = format!("Forbidden: {detail}");
        Self {
            reason: "FieldValueForbidden",
            message,
            field: field.to_owned(),
        }
    }

    pub(crate) fn not_supported(field: &str, value: &Value, allowed: &[&str]) -> Self {
        let allowed: Vec<String> = allowed.iter().map(|text| format!("{text:?}")).collect();
        let message = format!(
            "Unsupported value: {value}: supported values: {}",
            allowed.join(", ")
        );
        Self {
            reason: "FieldValueNotSupported",
            message,
            field: field.to_owned(),
        }
    }
}

// === impl Refusal ===

impl Refusal {
    pub(crate) fn plain(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason,
            message: message.into(),
            details: None,
            continuation: None,
            retry_after: None,
            form: Form::Status,
        }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::plain(400, "BadRequest", message)
    }

    pub(crate) fn unknown_path() -> Self {
        let refusal = Self::plain(
            404,
            "NotFound",
            "the server could not find the requested resource",
        );
        Self {
            details: Some(json!({})),
            ..refusal
        }
    }

    /// A path that nobody serves, such as that of a kind not installed: the
    /// real server has no Status there.
    pub(crate) fn page_not_found() -> Self {
        Self {
            form: Form::Text,
            ..Self::plain(404, "", "404 page not found\n")
        }
    }

    pub(crate) fn not_found(kind: &Kind, name: &str) -> Self {
        let message = format!("{} {name:?} not found", kind.qualified());
        Self::plain(404, "NotFound", message).about(kind, name)
    }

    pub(crate) fn already_exists(kind: &Kind, name: &str) -> Self {
        let message = format!("{} {name:?} already exists", kind.qualified());
        Self::plain(409, "AlreadyExists", message).about(kind, name)
    }

    pub(crate) fn conflict(kind: &Kind, name: &str, detail: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} {name:?}: {detail}",
            kind.qualified()
        );
        Self::plain(409, "Conflict", message).about(kind, name)
    }

    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self {
            details: Some(json!({})),
            ..Self::plain(405, "MethodNotAllowed", message)
        }
    }

    /// The `Accept` header names nothing we can write.
    pub(crate) fn not_acceptable() -> Self {
        let message = "406: Not Acceptable\n\nAvailable representations: application/json";
        Self {
            details: Some(json!({})),
            ..Self::plain(406, "NotAcceptable", message)
        }
    }

    /// A patch of a form that the resource does not take.
    pub(crate) fn unsupported_patch() -> Self {
        let message = "415: Unsupported Media Type";
        Self {
            details: Some(json!({})),
            ..Self::plain(415, "UnsupportedMediaType", message)
        }
    }

    /// A body that is no JSON.
    pub(crate) fn unsupported_media() -> Self {
        let message = "the body of the request was in an unknown format - accepted media types \
                       include: application/json";
        Self::plain(415, "UnsupportedMediaType", message)
    }

    pub(crate) fn too_large(limit_bytes: usize) -> Self {
        let message = format!("Request entity too large: limit is {limit_bytes}");
        Self::plain(413, "RequestEntityTooLarge", message)
    }

    /// History before `oldest` is forgotten; a watch asked from `asked`.
    pub(crate) fn expired_watch(asked: u64, oldest: u64) -> Self {
        Self::plain(
            410,
            "Expired",
            format!("too old resource version: {asked} ({oldest})"),
        )
    }

    pub(crate) fn expired_list() -> Self {
        Self::plain(
            410,
            "Expired",
            "The resourceVersion for the provided list is too old.",
        )
    }

    /// A page token's revision is forgotten; `token` continues at the newest.
    pub(crate) fn expired_continue(token: String) -> Self {
        let message = "The provided continue parameter is too old to display a consistent list \
                       result. You can start a new list without the continue parameter, or use \
                       the continue token in this response to retrieve the remainder of the \
                       results. Continuing with the provided token results in an inconsistent \
                       list - objects that were created, modified, or deleted between the time \
                       the first chunk was returned and now may show up in the list.";
        Self {
            continuation: Some(token),
            ..Self::plain(410, "Expired", message)
        }
    }

    /// The asked resource version lies in the future.
    pub(crate) fn too_new(asked: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
        let cause = json!({
            "reason": "ResourceVersionTooLarge",
            "message": "Too large resource version",
        });
        Self {
            details: Some(json!({"causes": [cause], "retryAfterSeconds": 1})),
            retry_after: Some(1),
            ..Self::plain(504, "Timeout", message)
        }
    }

    /// Wrong fields in an object of `kind`.
    pub(crate) fn invalid(kind: &Kind, name: &str, causes: &[Cause]) -> Self {
        Self::invalid_named(
            (&kind.qualified_kind(), kind.group, kind.kind),
            name,
            causes,
        )
    }

    /// Wrong options of a request, `options` being `ListOptions` and the like.
    pub(crate) fn invalid_options(options: &str, causes: &[Cause]) -> Self {
        let qualified = format!("{options}.meta.k8s.io");
        Self::invalid_named((&qualified, "meta.k8s.io", options), "", causes)
    }

    fn invalid_named(subject: (&str, &str, &str), name: &str, causes: &[Cause]) -> Self {
        let (qualified, group, kind) = subject;
        let texts: Vec<String> = causes
            .iter()
            .map(|cause| format!("{}: {}", cause.field, cause.message))
            .collect();
        let summary = match texts.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let causes: Vec<Value> = causes
            .iter()
            .map(|c| json!({"reason": c.reason, "message": c.message, "field": c.field}))
            .collect();
        let mut details = named_details(name, group, kind);
        details.insert("causes".to_owned(), causes.into());
        let details = Value::Object(details);
        let message = format!("{qualified} {name:?} is invalid: {summary}");
        Self {
            details: Some(details),
            ..Self::plain(422, "Invalid", message)
        }
    }

    fn about(self, kind: &Kind, name: &str) -> Self {
        let details = named_details(name, kind.group, kind.plural);
        Self {
            details: Some(Value::Object(details)),
            ..self
        }
    }

    /// The refusal as a `metav1.Status` object.
    pub(crate) fn status(&self) -> Value {
        let metadata = match &self.continuation {
            Some(token) => json!({"continue": token}),
            None => json!({}),
        };
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": metadata,
            "status": "Failure",
            "message": self.message,
            "code": self.code,
        });
        if let Value::Object(fields) = &mut status {
            if !self.reason.is_empty() {
                fields.insert("reason".to_owned(), self.reason.into());
            }
            if let Some(details) = &self.details {
                fields.insert("details".to_owned(), details.clone());
            }
        }
        status
    }
}

/// `details` of a Status; the real server leaves out what is empty.
fn named_details(name: &str, group: &str, kind: &str) -> Map<String, Value> {
    [("name", name), ("group", group), ("kind", kind)]
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(field, text)| (field.to_owned(), text.into()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_object_is_named_with_its_group() {
        let kind = Kind::named("ReplicaSet").unwrap();
        assert_eq!(
            Refusal::not_found(kind, "web").status(),
            json!({
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "message": "replicasets.apps \"web\" not found", "reason": "NotFound",
                "details": {"name": "web", "group": "apps", "kind": "replicasets"}, "code": 404,
            })
        );
    }

    #[test]
    fn several_wrong_fields_are_listed_in_brackets() {
        let causes = [
            Cause::required("spec.ports", ""),
            Cause::forbidden("x", "because"),
        ];
        let refusal = Refusal::invalid(Kind::named("Service").unwrap(), "web", &causes);
        assert_eq!(
            refusal.message,
            "Service \"web\" is invalid: [spec.ports: Required value, x: Forbidden: because]"
        );
        assert_eq!((refusal.code, refusal.reason), (422, "Invalid"));
    }
}
