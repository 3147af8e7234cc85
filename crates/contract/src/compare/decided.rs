//! Where we answer otherwise on purpose: `decided.yaml`.

use serde::Deserialize;
use serde_json::Value;

use super::standing::{Standing, comparable, same};
use crate::{
    corpus::Instance,
    shorthand,
    yaml::{self, YamlError},
};

/// Every decision.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Decided(Vec<Decision>);

/// What we answer on one stream after some steps.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// The folder of the scenario.
    pub scenario: String,
    /// The stream.
    pub stream: String,
    /// The steps after which this is what a client holds.
    pub steps: Vec<u32>,
    /// In which configuration; both if not said.
    #[serde(default)]
    pub instance: Option<Instance>,
    /// Why.
    pub reason: String,
    /// What a client holds.
    pub answer: Answer,
}

/// What a client holds, whole.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// Of `Get`: these endpoints.
    Set(Vec<Value>),
    /// Of `GetProfile`: this message.
    Profile(Value),
    /// The stream has ended with this code.
    End(String),
}

impl Decided {
    /// The decisions of this project.
    ///
    /// # Errors
    ///
    /// The file is not of its form; with the place.
    pub fn ours() -> Result<Self, YamlError> {
        Self::read(include_str!("../../decided.yaml"))
    }

    /// Reads decisions.
    ///
    /// # Errors
    ///
    /// The text is not of its form; with the place.
    pub fn read(text: &str) -> Result<Self, YamlError> {
        yaml::read(text)
    }

    /// The decisions about one stream.
    #[must_use]
    pub fn of(&self, scenario: &str, stream: &str, instance: Instance) -> Vec<&Decision> {
        let is_about = |it: &&Decision| {
            it.scenario == scenario
                && it.stream == stream
                && it.instance.is_none_or(|of| of == instance)
        };
        self.0.iter().filter(is_about).collect()
    }

    /// Every decision, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &Decision> {
        self.0.iter()
    }
}

impl Decision {
    pub(crate) fn judge(&self, ours: &Standing) -> Result<(), String> {
        match &self.answer {
            Answer::Set(endpoints) => {
                let mut wanted = Value::Array(endpoints.clone());
                shorthand::expand(&mut wanted);
                let mut held: Vec<Value> = Vec::new();
                held.extend(ours.set.iter().flatten().map(|(_, it)| it.endpoint.clone()));
                same("the decided set", &sorted(wanted), &sorted(held.into()))
            }
            Answer::Profile(profile) => {
                let mut wanted = profile.clone();
                shorthand::expand(&mut wanted);
                let held = ours.profile.as_ref().map_or(Value::Null, comparable);
                same("the decided profile", &comparable(&wanted), &held)
            }
            Answer::End(code) => {
                let ended = ours.end.as_ref().map_or("open", |it| it.code.as_str());
                same("the decided end", &code.as_str().into(), &ended.into())
            }
        }
    }
}

fn sorted(endpoints: Value) -> Value {
    let mut endpoints = endpoints;
    if let Value::Array(endpoints) = &mut endpoints {
        endpoints.sort_by_key(|it| it.get("addr").and_then(crate::fold::socket_in_json));
    }
    endpoints
}
