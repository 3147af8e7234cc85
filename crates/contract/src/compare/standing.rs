//! Where a client stands after a step.

use serde_json::Value;
use std::collections::BTreeMap;

use crate::{
    corpus::{End, Entry, Method},
    difference,
    fold::{Folded, HeldSet, Told, told_in_json},
};

/// What a client knows after a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    /// Of `Get`: the folded set; `None` before the first message that counts.
    pub set: Option<HeldSet<Value>>,
    /// Of `GetProfile`: the last message.
    pub profile: Option<Value>,
    /// How the stream ended, if it has.
    pub end: Option<End>,
    /// The first message of the stream.
    pub first: Option<Value>,
}

/// Where a client stands after each step in which its stream was open.
#[must_use]
pub fn standings(method: Method, log: &[Entry]) -> BTreeMap<u32, Standing> {
    let mut folded = Folded::<Value>::default();
    let mut standing = Standing::default();
    let mut standings = BTreeMap::new();
    for entry in log {
        for message in &entry.messages {
            standing.first.get_or_insert_with(|| message.clone());
            match method {
                Method::Get => folded.obey(told_in_json(message)),
                Method::GetProfile => standing.profile = Some(message.clone()),
            }
        }
        standing.set = folded.set().cloned();
        standing.end = entry.end.clone().or(standing.end);
        standings.insert(entry.after_step, standing.clone());
    }
    standings
}

impl Standing {
    pub(crate) const fn is_open(&self) -> bool {
        self.end.is_none()
    }

    pub(crate) fn is_unavailable(&self) -> bool {
        self.end.as_ref().is_some_and(|it| it.code == "UNAVAILABLE")
    }

    /// Whether we stand where this recorded client stands; else how not.
    pub(crate) fn equals(&self, ours: &Self, method: Method) -> Result<(), String> {
        same_end(self.end.as_ref(), ours.end.as_ref(), method)?;
        match method {
            Method::Get => self.same_set(ours),
            Method::GetProfile => self.same_profile(ours),
        }
    }

    fn same_set(&self, ours: &Self) -> Result<(), String> {
        let is_denied = ours.first.as_ref().map(told_in_json);
        if self.set.is_none() && is_denied == Some(Told::NoEndpoints { exists: false }) {
            return Err(
                "the recording is silent, and we say that the service does not exist".into(),
            );
        }
        // Silence and an empty set are the same to whoever has held nothing yet.
        let empty = HeldSet::new();
        let (recorded, ours) = (
            self.set.as_ref().unwrap_or(&empty),
            ours.set.as_ref().unwrap_or(&empty),
        );
        same("the set", &set_as_value(recorded), &set_as_value(ours))
    }

    fn same_profile(&self, ours: &Self) -> Result<(), String> {
        let shown = |profile: &Option<Value>| profile.as_ref().map_or(Value::Null, comparable);
        same("the profile", &shown(&self.profile), &shown(&ours.profile))
    }
}

fn same_end(recorded: Option<&End>, ours: Option<&End>, method: Method) -> Result<(), String> {
    const CONTRACT: &str = "Invalid authority: ";
    let is_equal = match (recorded, ours) {
        (Some(recorded), Some(ours)) => {
            let is_absent = method == Method::GetProfile
                && (recorded.code.as_str(), ours.code.as_str()) == ("UNKNOWN", "NOT_FOUND");
            let is_text = method == Method::Get && recorded.message.starts_with(CONTRACT);
            (recorded.code == ours.code || is_absent)
                && (!is_text || recorded.message == ours.message)
        }
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    let shown = |end: Option<&End>| {
        end.map_or("open".to_owned(), |it| {
            format!("{} `{}`", it.code, it.message)
        })
    };
    let text = || {
        format!(
            "the stream was recorded {}, ours is {}",
            shown(recorded),
            shown(ours)
        )
    };
    is_equal.then_some(()).ok_or_else(text)
}

/// The difference of two values as a line of words and a picture.
pub(crate) fn same(what: &str, wanted: &Value, ours: &Value) -> Result<(), String> {
    if wanted == ours {
        return Ok(());
    }
    let picture = difference::of_values(wanted, ours);
    Err(format!("{what} differs (- wanted, + ours)\n{picture}"))
}

/// A profile without what depends on how the controller heard of it: the kind that
/// `profile_ref` names.
pub(crate) fn comparable(profile: &Value) -> Value {
    let mut profile = profile.clone();
    let resource = profile.pointer_mut("/profile_ref/resource");
    if let Some(Value::Object(resource)) = resource {
        resource.remove("kind");
    }
    profile
}

pub(crate) fn set_as_value(set: &HeldSet<Value>) -> Value {
    let entries = set.iter().map(|(address, held)| {
        let labels = held.labels.iter();
        let labels = labels.map(|(key, value)| (key.clone(), value.as_str().into()));
        let held = [
            ("endpoint".to_owned(), held.endpoint.clone()),
            ("set_labels".to_owned(), Value::Object(labels.collect())),
        ];
        (
            address.to_string(),
            Value::Object(held.into_iter().collect()),
        )
    });
    Value::Object(entries.collect())
}
