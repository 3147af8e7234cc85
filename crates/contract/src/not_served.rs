//! What is not served yet: `not_served.yaml`.

use serde::Deserialize;

use crate::{
    corpus::{Entry, Scenario},
    yaml::{self, YamlError},
};

/// Every part of the contract that is not served yet.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct NotServed(Vec<Part>);

/// One part of the contract.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The rules of the behaviour spec, or sections of it.
    pub rules: Vec<String>,
    /// The code with which a stream that needs it ends with us, if it is always the same.
    #[serde(default)]
    pub end: Option<String>,
    /// Why, and until when.
    pub reason: String,
}

impl NotServed {
    /// The parts that this project does not serve.
    ///
    /// # Errors
    ///
    /// The file is not of its form; with the place.
    pub fn ours() -> Result<Self, YamlError> {
        Self::read(include_str!("../not_served.yaml"))
    }

    /// Reads parts.
    ///
    /// # Errors
    ///
    /// The text is not of its form; with the place.
    pub fn read(text: &str) -> Result<Self, YamlError> {
        yaml::read(text)
    }

    /// The part that a scenario needs, if it needs one.
    #[must_use]
    pub fn needed_by(&self, scenario: &Scenario) -> Option<&Part> {
        self.0
            .iter()
            .find(|part| part.covers(&scenario.script.rules))
    }
}

impl Part {
    /// Whether a stream that heard this may differ from its recording.
    #[must_use]
    pub fn excuses(&self, heard: &[Entry]) -> bool {
        let mut ends = heard.iter().filter_map(|it| it.end.as_ref());
        self.end
            .as_ref()
            .is_none_or(|code| ends.any(|it| it.code == *code))
    }

    fn covers(&self, touched: &str) -> bool {
        let touched: Vec<String> = touched.split(',').flat_map(spelt_out).collect();
        let is_of = |rule: &String, wanted: &String| {
            let rest = rule.strip_prefix(wanted.as_str());
            rest.is_some_and(|it| it.is_empty() || it.starts_with('.'))
        };
        let mut wanted = self.rules.iter();
        wanted.any(|wanted| touched.iter().any(|rule| is_of(rule, wanted)))
    }
}

/// `A12.7-A12.9` is three rules; what is no such range is itself.
fn spelt_out(rules: &str) -> Vec<String> {
    let rules = rules.trim();
    let range = || {
        let (first, last) = rules.split_once('-')?;
        let (section, first) = first.rsplit_once('.')?;
        let (same, last) = last.rsplit_once('.')?;
        let (first, last) = (first.parse::<u16>().ok()?, last.parse::<u16>().ok()?);
        let range = (first..=last).map(|number| format!("{section}.{number}"));
        (section == same).then(|| range.collect())
    };
    range().unwrap_or_else(|| vec![rules.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::End;

    fn part(rules: &[&str], end: Option<&str>) -> Part {
        Part {
            rules: rules.iter().map(ToString::to_string).collect(),
            end: end.map(str::to_owned),
            reason: "not yet".to_owned(),
        }
    }

    #[test]
    fn a_part_covers_its_rules_and_those_below_a_section() {
        for (rules, touched, covers) in [
            ("A12.8", "A3.2,A4,A12.7-A12.9", true),
            ("A12.8", "A12.8", true),
            ("A15", "A15.2", true),
            ("A12.8", "A12.3", false),
            ("A12.1", "A12.10,A12.11-A12.12", false),
            ("A1", "A15.2,row F,G-Q1", false),
        ] {
            assert_eq!(part(&[rules], None).covers(touched), covers, "{touched}");
        }
    }

    #[test]
    fn a_stream_is_excused_by_the_named_end_only() {
        let ended = |code: &str| {
            let end = End {
                code: code.to_owned(),
                message: String::new(),
            };
            vec![Entry {
                end: Some(end),
                ..Entry::default()
            }]
        };
        let refused = part(&[], Some("UNAVAILABLE"));
        assert!(refused.excuses(&ended("UNAVAILABLE")));
        assert!(!refused.excuses(&ended("NOT_FOUND")));
        assert!(!refused.excuses(&[Entry::default()]));
        assert!(part(&[], None).excuses(&[]));
    }

    #[test]
    fn our_own_list_is_readable_and_a_misspelt_one_is_not() {
        NotServed::ours().unwrap();
        let error = NotServed::read("- {rule: [A1], reason: r}").unwrap_err();
        let expected = "error: line 1 column 4: unknown field `rule`, expected one of rules, end";
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}
