//! The settings of a row: those of a default installation, with some replaced.

use lockstep_model::{PortSet, Settings};
use serde_json::{Map, Value};

use crate::corpus::Instance;

/// The key that names a set of settings to begin with.
const LIKE: &str = "like";

/// Why settings cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// A setting that does not exist.
    #[error("there is no setting `{name}`; settings are `like`, {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// `like` is none of the recorded instances.
    #[error("`like` is `chart` or `plain`, not {0}")]
    Like(String),
    /// A value that does not fit.
    #[error("the settings cannot be used: {0}")]
    Value(String),
}

/// The default settings, or those of a recorded instance (`like: chart`), with these
/// replaced. Names and values are those of the model; ports are written as in annotations.
///
/// # Errors
///
/// See [`SettingsError`].
pub fn settings(overrides: &Map<String, Value>) -> Result<Settings, SettingsError> {
    let base = match overrides.get(LIKE) {
        Some(like) => serde_json::from_value::<Instance>(like.clone())
            .map_err(|_| SettingsError::Like(like.to_string()))?
            .settings(),
        None => Settings::default(),
    };
    let unusable = |error: &dyn std::fmt::Display| SettingsError::Value(error.to_string());
    let mut all = serde_json::to_value(base).map_err(|error| unusable(&error))?;
    let fields = all.as_object_mut().into_iter().next();
    let fields = fields.ok_or_else(|| unusable(&"they are no object"))?;
    for (name, value) in overrides.iter().filter(|(name, _)| *name != LIKE) {
        let known: Vec<String> = fields.keys().map(|it| format!("`{it}`")).collect();
        let Some(field) = fields.get_mut(name) else {
            return Err(SettingsError::Unknown {
                name: name.clone(),
                known: known.join(", "),
            });
        };
        *field = match (name.as_str(), value) {
            ("default_opaque_ports", Value::String(ports)) => {
                let ports: PortSet = ports.parse().map_err(|error| unusable(&error))?;
                serde_json::to_value(ports).map_err(|error| unusable(&error))?
            }
            (_, value) => value.clone(),
        };
    }
    serde_json::from_value(all).map_err(|error| unusable(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_model::TransportMode;
    use serde_json::json;

    fn read(overrides: &Value) -> Result<Settings, String> {
        let overrides = overrides.as_object().cloned().unwrap();
        settings(&overrides).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_not_replaced_is_as_in_a_default_installation() {
        assert_eq!(read(&json!({})), Ok(Settings::default()));
        let replaced = read(&json!({"ipv6": false, "default_opaque_ports": "25,100-200"}));
        let expected = Settings {
            ipv6: false,
            default_opaque_ports: "25,100-200".parse().unwrap(),
            ..Settings::default()
        };
        assert_eq!(replaced, Ok(expected));
    }

    #[test]
    fn a_recorded_instance_can_be_taken_as_it_is() {
        let plain = read(&json!({"like": "plain", "ipv6": false})).unwrap();
        assert_eq!(plain.transport_mode, TransportMode::Transparent);
        assert!(!plain.ipv6);
    }

    #[test]
    fn what_is_no_setting_is_named() {
        let error = read(&json!({"ipv4": true})).unwrap_err();
        let begin = "there is no setting `ipv4`; settings are `like`, `answer_absent`, ";
        assert!(error.starts_with(begin), "{error}");
        for (overrides, error) in [
            (
                json!({"like": "both"}),
                "`like` is `chart` or `plain`, not \"both\"",
            ),
            (
                json!({"default_opaque_ports": "http"}),
                "the settings cannot be used: `http` is neither a port (0 to 65535) nor a range \
                 of ports such as `4000-4100`",
            ),
            (
                json!({"ipv6": "yes"}),
                "the settings cannot be used: invalid type: string \"yes\", expected a boolean",
            ),
        ] {
            assert_eq!(read(&overrides), Err(error.to_owned()));
        }
    }
}
