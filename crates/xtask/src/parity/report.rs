//! What a replay of the recorded scenarios found.

use serde::{Deserialize, Serialize};

/// What a replay found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Which API server held the objects: `simulated` or `real`.
    pub api: String,
    /// How long the replay took; milliseconds.
    pub took_ms: u64,
    /// The scenarios, in the order of their names.
    pub rows: Vec<Row>,
}

/// What was found in one scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Its folder, such as `012-clusterip-basic`.
    pub scenario: String,
    /// One for each stream in each configuration at each client.
    pub streams: Vec<StreamOutcome>,
}

/// What was found of one stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamOutcome {
    /// Its name in the scenario.
    pub stream: String,
    /// The configuration: `chart` or `plain`.
    pub configuration: String,
    /// Whose client it was: `leader` or `follower`.
    pub client: String,
    /// What was found.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What is true of one stream; the text says why or how.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "outcome", content = "text", rename_all = "snake_case")]
pub enum Outcome {
    /// As recorded.
    Equal,
    /// Right where the recording is wrong.
    Right(String),
    /// Part of the contract that is not served yet.
    NotServed(String),
    /// Neither as recorded nor right.
    Different(String),
}

/// How many streams there are of each outcome.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// As recorded.
    pub equal: usize,
    /// Right where the recording is wrong.
    pub right: usize,
    /// Not served yet.
    pub not_served: usize,
    /// Neither.
    pub different: usize,
}

// === impl Report ===

impl Report {
    /// The counts over all scenarios.
    #[must_use]
    pub fn total(&self) -> Counts {
        Counts::of(self.rows.iter().flat_map(|row| &row.streams))
    }

    /// The report and its total as JSON, for programs.
    #[must_use]
    pub fn to_json(&self) -> String {
        let with_total = serde_json::json!({
            "api": self.api,
            "took_ms": self.took_ms,
            "total": self.total(),
            "rows": self.rows,
        });
        format!("{with_total:#}")
    }
}

// === impl Row ===

impl Row {
    /// The counts of this scenario.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts::of(&self.streams)
    }

    /// The worst outcome of its streams.
    #[must_use]
    pub fn worst(&self) -> Outcome {
        let outcomes = self.streams.iter().map(|it| &it.outcome);
        outcomes.max().cloned().unwrap_or(Outcome::Equal)
    }

    /// Why streams are right or not served, each reason once.
    #[must_use]
    pub fn reasons(&self) -> Vec<&str> {
        let mut reasons = Vec::new();
        for stream in &self.streams {
            match &stream.outcome {
                Outcome::Right(reason) | Outcome::NotServed(reason)
                    if !reasons.contains(&reason.as_str()) =>
                {
                    reasons.push(reason.as_str());
                }
                Outcome::Right(_)
                | Outcome::NotServed(_)
                | Outcome::Equal
                | Outcome::Different(_) => {}
            }
        }
        reasons
    }
}

// === impl Counts ===

impl Counts {
    fn of<'a>(streams: impl IntoIterator<Item = &'a StreamOutcome>) -> Self {
        let mut counts = Self::default();
        for stream in streams {
            match stream.outcome {
                Outcome::Equal => counts.equal += 1,
                Outcome::Right(_) => counts.right += 1,
                Outcome::NotServed(_) => counts.not_served += 1,
                Outcome::Different(_) => counts.different += 1,
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(outcome: Outcome) -> StreamOutcome {
        StreamOutcome {
            stream: "get".to_owned(),
            configuration: "chart".to_owned(),
            client: "leader".to_owned(),
            outcome,
        }
    }

    fn report() -> Report {
        let streams = vec![
            stream(Outcome::Equal),
            stream(Outcome::Right("F".to_owned())),
            stream(Outcome::Right("F".to_owned())),
            stream(Outcome::NotServed("A15".to_owned())),
        ];
        let scenario = "018-no-slices".to_owned();
        Report {
            api: "simulated".to_owned(),
            took_ms: 12,
            rows: vec![Row { scenario, streams }],
        }
    }

    #[test]
    fn streams_are_counted_by_outcome_and_a_reason_is_said_once() {
        let report = report();
        let counts = Counts {
            equal: 1,
            right: 2,
            not_served: 1,
            different: 0,
        };
        assert_eq!(report.total(), counts);
        assert_eq!(report.rows[0].counts(), counts);
        assert_eq!(report.rows[0].reasons(), ["F", "A15"]);
        assert_eq!(report.rows[0].worst(), Outcome::NotServed("A15".to_owned()));
    }

    #[test]
    fn what_is_written_reads_the_same() {
        let report = report();
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
        let printed: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
        assert_eq!(printed["total"]["right"], 2);
        assert_eq!(printed["rows"][0]["streams"][1]["outcome"], "right");
        assert_eq!(printed["rows"][0]["streams"][1]["text"], "F");
    }
}
