//! `steps.yaml`: what is done, step by step.

use serde::Deserialize;
use serde_json::Value;

use crate::edit::{Delete, Edit, Patch};

/// A scenario's steps.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The scenario's name without its number.
    pub scenario: String,
    /// The rules of the behaviour spec that it touches.
    pub rules: String,
    /// What it is about.
    pub about: String,
    /// Whether the controller ran for this scenario alone, and was there before the objects.
    #[serde(default)]
    pub own_controller: bool,
    /// Whether the controller was allowed to write slices of its own.
    #[serde(default)]
    pub writer_lease_free: bool,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// One step: edits, then closings, then openings, then silence.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Its number, from 1.
    pub step: u32,
    /// What happens, in words.
    #[serde(default)]
    pub note: String,
    /// What happens to the objects, in order.
    #[serde(default)]
    pub edits: Vec<CorpusEdit>,
    /// The streams that the client gives up.
    #[serde(default)]
    pub close: Vec<String>,
    /// The streams that it opens.
    #[serde(default)]
    pub open: Vec<Opening>,
    /// How much longer the recorder waited; milliseconds.
    #[serde(default)]
    pub settle_ms: u64,
}

/// A stream to be opened.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opening {
    /// Its name in the scenario.
    pub stream: String,
    /// The method.
    pub method: Method,
    /// The path of the request.
    pub path: String,
    /// The context token of the request.
    #[serde(default)]
    pub context_token: String,
    /// The scheme of the request, which changes nothing.
    #[serde(default)]
    pub scheme: Option<String>,
}

/// A method of the destination API.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Method {
    /// Endpoints.
    Get,
    /// Profile.
    GetProfile,
}

/// An edit in the corpus's own form.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase", deny_unknown_fields)]
pub enum CorpusEdit {
    /// Create, or replace when it exists.
    Apply {
        /// The whole object.
        object: Value,
    },
    /// A JSON merge patch.
    Patch {
        /// The kind of the object.
        kind: String,
        /// Its namespace; empty for a Node.
        #[serde(default)]
        namespace: String,
        /// Its name.
        name: String,
        /// What to merge.
        merge: Value,
        /// The subresource that was patched, for an API server that wants to know.
        #[serde(default)]
        subresource: Option<String>,
    },
    /// A deletion.
    Delete {
        /// The kind of the object.
        kind: String,
        /// Its namespace; empty for a Node.
        #[serde(default)]
        namespace: String,
        /// Its name.
        name: String,
        /// As the API has it; 0 is at once.
        #[serde(default, rename = "gracePeriodSeconds")]
        grace_period_seconds: u64,
    },
}

impl From<CorpusEdit> for Edit {
    fn from(edit: CorpusEdit) -> Self {
        match edit {
            CorpusEdit::Apply { object } => Self::Apply(object),
            CorpusEdit::Patch {
                kind,
                namespace,
                name,
                merge,
                subresource: _,
            } => Self::Patch(Patch {
                kind,
                namespace,
                name,
                merge,
            }),
            CorpusEdit::Delete {
                kind,
                namespace,
                name,
                grace_period_seconds: grace,
            } => Self::Delete(Delete {
                kind,
                namespace,
                name,
                grace,
                unseen: false,
            }),
        }
    }
}
