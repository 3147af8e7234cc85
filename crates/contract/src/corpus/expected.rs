//! `expected.json`: what is right where the recording is wrong.

use serde_json::{Map, Value};
use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
};

use super::Instance;
use crate::fold::{Labels, labels_in_json};

/// What is right in one scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// Which wrong behaviour was recorded: a row's letter, a `G-Q` entry, a rule.
    pub quirk: String,
    /// The rules of the behaviour spec.
    pub spec: String,
    /// What is right, in words.
    pub note: String,
    /// What must be, by stream.
    pub streams: BTreeMap<String, Vec<Rule>>,
}

/// One thing that must be.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// In which recording's configuration; both if not said.
    pub instance: Option<Instance>,
    /// When.
    pub when: When,
    /// What.
    pub what: What,
}

/// When something must be.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum When {
    /// After the first step of the stream.
    Opened,
    /// After this step.
    After(u32),
    /// After the last step of the stream.
    Final,
}

/// What must be.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// The folded set is exactly these endpoints.
    Set(Vec<Value>),
    /// The folded set has exactly these addresses.
    Addresses(BTreeSet<SocketAddr>),
    /// The hint of these addresses is opaque; of no address, if there are none.
    Opaque(BTreeSet<SocketAddr>),
    /// The labels of the set, for every endpoint.
    SetLabels(Labels),
    /// The SPIFFE identity of every endpoint.
    UriIdentity(String),
    /// The DNS-like identity of every endpoint.
    DnsIdentity(String),
    /// The authority override of every endpoint.
    AuthorityOverride(String),
    /// The first message of the stream, which has come by then.
    First(Value),
    /// The profile has these fields with these values; an absent field is its default.
    /// `endpoint_metric_labels` are those of the endpoint.
    Profile(Map<String, Value>),
    /// The profile has a route with this label.
    Route(String),
    /// The profile says something, or nothing at all.
    IsEmptyProfile(bool),
    /// The profile is that of a service without a ServiceProfile.
    DefaultProfile,
    /// As [`Self::DefaultProfile`], but only where the recording is silent.
    DefaultProfileIfSilent,
    /// What a fresh controller said: right as a whole if it has what the other rules ask for.
    Fresh(Value),
    /// How the stream ends.
    EndCode(String),
    /// Whether the stream is still open.
    IsOpen(bool),
    /// The process lives.
    MustNotCrash,
}

/// What is not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpectedError {
    /// A field is missing or of another type.
    #[error("`{0}` is missing or not what it should be")]
    Field(String),
    /// A key of a stream that is not known.
    #[error("stream `{stream}` expects `{key}`, which is not understood")]
    Key {
        /// The stream.
        stream: String,
        /// The key.
        key: String,
    },
    /// A key of a stream with a value that does not fit it.
    #[error("stream `{stream}` expects `{key}` to be {value}, which is not understood")]
    Value {
        /// The stream.
        stream: String,
        /// The key.
        key: String,
        /// Its value.
        value: String,
    },
}

impl TryFrom<&Value> for Expected {
    type Error = ExpectedError;

    fn try_from(file: &Value) -> Result<Self, ExpectedError> {
        let text = |field: &str| {
            let value = file.get(field).and_then(Value::as_str);
            let value = value.ok_or_else(|| ExpectedError::Field(field.to_owned()));
            value.map(str::to_owned)
        };
        let named = file.get("streams").and_then(Value::as_object);
        let named = named.ok_or_else(|| ExpectedError::Field("streams".to_owned()))?;
        let mut streams = BTreeMap::new();
        for (stream, keys) in named {
            let keys = keys.as_object();
            let keys = keys.ok_or_else(|| ExpectedError::Field(format!("streams.{stream}")))?;
            let mut rules = Vec::new();
            for (key, value) in keys {
                rules.extend(read(stream, key, value)?);
            }
            streams.insert(stream.clone(), rules);
        }
        Ok(Self {
            quirk: text("quirk")?,
            spec: text("spec")?,
            note: text("note")?,
            streams,
        })
    }
}

/// The rules of one key.
fn read(stream: &str, key: &str, value: &Value) -> Result<Vec<Rule>, ExpectedError> {
    let (when, subject) = split(key);
    let mut rules = Vec::new();
    for (instance, value) in by_instance(value) {
        let what = what(subject, value).map_err(|unknown| match unknown {
            Unknown::Key => ExpectedError::Key {
                stream: stream.to_owned(),
                key: key.to_owned(),
            },
            Unknown::Value => ExpectedError::Value {
                stream: stream.to_owned(),
                key: key.to_owned(),
                value: value.to_string(),
            },
        })?;
        rules.extend(what.map(|what| Rule {
            instance,
            when,
            what,
        }));
    }
    Ok(rules)
}

/// What a profile must have, where nobody says when: from the start.
const FROM_THE_START: [&str; 5] = [
    "endpoint_metric_labels",
    "fully_qualified_name",
    "opaque_protocol",
    "route",
    "routes",
];

/// `after_step_2_addrs` is `addrs` after step 2; without a time it is at the end, but for
/// the fields of a profile.
fn split(key: &str) -> (When, &str) {
    if let Some(number) = key.strip_prefix("first_after_step_") {
        return (number.parse().map_or(When::Final, When::After), "first");
    }
    if let Some(rest) = key.strip_prefix("after_step_") {
        let (number, subject) = rest.split_once('_').unwrap_or((rest, ""));
        if let Ok(number) = number.parse() {
            return (When::After(number), subject);
        }
    }
    if FROM_THE_START.contains(&key) {
        return (When::Opened, key);
    }
    let subject = key.strip_prefix("final").unwrap_or(key);
    (When::Final, subject.trim_start_matches('_'))
}

/// A value for each instance, or one for both.
fn by_instance(value: &Value) -> Vec<(Option<Instance>, &Value)> {
    let named = Instance::ALL.map(|it| (Some(it), value.get(it.to_string())));
    let named: Vec<_> = named
        .into_iter()
        .filter_map(|(it, value)| Some((it, value?)))
        .collect();
    if named.is_empty() {
        vec![(None, value)]
    } else {
        named
    }
}

enum Unknown {
    Key,
    Value,
}

fn what(subject: &str, value: &Value) -> Result<Option<What>, Unknown> {
    let text = || value.as_str().map(str::to_owned).ok_or(Unknown::Value);
    let truth = || value.as_bool().ok_or(Unknown::Value);
    let what = match subject {
        "" | "set" | "profile" | "default_profile" => return content(value).map(Some),
        "first" => What::First(value.clone()),
        "addrs" => What::Addresses(addresses(value)?),
        "opaque_addrs" => What::Opaque(addresses(value)?),
        "set_labels" | "metric_labels" => What::SetLabels(labels_in_json(Some(value))),
        "uri_identity" => What::UriIdentity(text()?),
        "dns_identity" | "dns_like_identity" => What::DnsIdentity(text()?),
        "authority_override" => What::AuthorityOverride(text()?),
        "route" => What::Route(text()?),
        "opaque_protocol" | "endpoint_metric_labels" | "routes" | "fully_qualified_name" => {
            What::Profile([(subject.to_owned(), value.clone())].into_iter().collect())
        }
        "profile_nonempty" => What::IsEmptyProfile(!truth()?),
        "profile_empty" => What::IsEmptyProfile(truth()?),
        "if_silent" if value == "default_profile" => What::DefaultProfileIfSilent,
        "fresh_controller_profile" if value.is_null() => return Ok(None),
        "fresh_controller_profile" => What::Fresh(value.clone()),
        "end_code" => What::EndCode(text()?),
        "state" => What::IsOpen(text()? == "open"),
        "must_not_crash" => return Ok(truth()?.then_some(What::MustNotCrash)),
        "if_silent" => return Err(Unknown::Value),
        "note" | "comment" => return Ok(None),
        _ => return Err(Unknown::Key),
    };
    Ok(Some(what))
}

/// A set, addresses, or a profile, told by its type.
fn content(value: &Value) -> Result<What, Unknown> {
    match value {
        Value::Array(values) if values.iter().all(Value::is_object) => {
            Ok(What::Set(values.clone()))
        }
        Value::Array(_) => addresses(value).map(What::Addresses),
        Value::Object(fields) => Ok(What::Profile(fields.clone())),
        Value::String(text) if text == "default_profile" => Ok(What::DefaultProfile),
        Value::Bool(true) => Ok(What::DefaultProfile),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Err(Unknown::Value),
    }
}

fn addresses(value: &Value) -> Result<BTreeSet<SocketAddr>, Unknown> {
    let values = value.as_array().ok_or(Unknown::Value)?.iter();
    let addresses = values.map(|it| it.as_str().and_then(|text| text.parse().ok()));
    addresses.collect::<Option<_>>().ok_or(Unknown::Value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rules(keys: &Value) -> Result<Vec<Rule>, String> {
        let file = json!({"quirk": "A", "spec": "A1", "note": "n", "streams": {"get": keys}});
        let expected = Expected::try_from(&file).map_err(|error| error.to_string())?;
        Ok(expected.streams.into_values().flatten().collect())
    }

    #[test]
    fn a_key_says_when_and_what() {
        let one = BTreeSet::from(["10.0.0.1:80".parse().unwrap()]);
        let addrs = json!(["10.0.0.1:80"]);
        for (key, value, when, what) in [
            (
                "final_addrs",
                addrs.clone(),
                When::Final,
                What::Addresses(one.clone()),
            ),
            (
                "after_step_12_opaque_addrs",
                addrs,
                When::After(12),
                What::Opaque(one),
            ),
            ("final", json!([]), When::Final, What::Set(Vec::new())),
            ("route", json!("r"), When::Opened, What::Route("r".into())),
            ("state", json!("open"), When::Final, What::IsOpen(true)),
            (
                "final_profile_nonempty",
                json!(true),
                When::Final,
                What::IsEmptyProfile(false),
            ),
            (
                "after_step_3_route",
                json!("r"),
                When::After(3),
                What::Route("r".into()),
            ),
            (
                "after_step_3",
                json!("default_profile"),
                When::After(3),
                What::DefaultProfile,
            ),
            (
                "first_after_step_1",
                json!({}),
                When::After(1),
                What::First(json!({})),
            ),
        ] {
            let rule = Rule {
                instance: None,
                when,
                what,
            };
            assert_eq!(rules(&json!({key: value})), Ok(vec![rule]), "{key}");
        }
    }

    #[test]
    fn an_instance_has_its_own_value() {
        let rule = |instance, value: Value| Rule {
            instance: Some(instance),
            when: When::Final,
            what: What::Set(vec![value]),
        };
        let keys = json!({"final": {"chart": [{"a": 1}], "plain": [{"a": 2}]}});
        let expected = vec![
            rule(Instance::Chart, json!({"a": 1})),
            rule(Instance::Plain, json!({"a": 2})),
        ];
        assert_eq!(rules(&keys), Ok(expected));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (keys, error) in [
            (
                json!({"final_colour": 1}),
                "stream `get` expects `final_colour`, which is not understood",
            ),
            (
                json!({"final_addrs": ["x"]}),
                "stream `get` expects `final_addrs` to be [\"x\"], which is not understood",
            ),
            (
                json!(1),
                "`streams.get` is missing or not what it should be",
            ),
        ] {
            assert_eq!(rules(&keys), Err(error.to_owned()));
        }
    }
}
