//! The corpus as a whole can be read, and every recording is equal to itself.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use lockstep_contract::{
    compare::{Decided, Seen, Verdict, compare},
    corpus::{Instance, Scenario, folder, scenarios},
    edit::Edit,
};
use std::collections::BTreeSet;

fn all() -> Vec<Scenario> {
    scenarios(&folder()).expect("the corpus is readable")
}

/// What the recorded client itself saw.
fn recorded(scenario: &Scenario, instance: Instance) -> Seen {
    let streams = scenario.recordings[&instance].streams.iter();
    streams
        .map(|(name, stream)| (name.clone(), stream.log.clone()))
        .collect()
}

#[test]
fn a_recording_is_equal_to_itself_unless_it_is_called_wrong() {
    let (mut equal, mut wrong) = (0, BTreeSet::new());
    for scenario in all() {
        for instance in Instance::ALL {
            let seen = recorded(&scenario, instance);
            for (stream, verdict) in compare(&scenario, instance, &seen, &Decided::default()) {
                let rules = scenario
                    .expected
                    .as_ref()
                    .and_then(|it| it.streams.get(&stream));
                match (verdict, rules) {
                    (Verdict::Equal, _) => equal += 1,
                    (Verdict::Different(_), Some(_)) => drop(wrong.insert(scenario.name.clone())),
                    (verdict, rules) => {
                        panic!(
                            "{} {instance} {stream}: {verdict}\n{rules:?}",
                            scenario.name
                        )
                    }
                }
            }
        }
    }
    assert!(equal > 800, "{equal}");
    // Right in the end, or by accident: nothing in the recording contradicts what is right.
    let named: BTreeSet<String> = all()
        .into_iter()
        .filter(|it| it.expected.is_some())
        .map(|it| it.name)
        .collect();
    let never_wrong: Vec<&String> = named.difference(&wrong).collect();
    assert_eq!(never_wrong, ["057-dual-stack-targetless-ew"]);
}

#[test]
fn every_step_opens_and_closes_what_the_recordings_have() {
    for scenario in all() {
        let steps = &scenario.script.steps;
        let opened: BTreeSet<&String> = steps
            .iter()
            .flat_map(|step| &step.open)
            .map(|it| &it.stream)
            .collect();
        for instance in Instance::ALL {
            let streams = scenario.recordings[&instance].streams.keys();
            assert_eq!(
                streams.collect::<BTreeSet<_>>(),
                opened,
                "{}",
                scenario.name
            );
        }
        let numbers: Vec<u32> = steps.iter().map(|step| step.step).collect();
        assert_eq!(numbers, (1..).take(steps.len()).collect::<Vec<u32>>());
        let edits = steps.iter().flat_map(|step| step.edits.clone());
        for edit in edits.map(Edit::from) {
            assert!(!matches!(edit, Edit::Relist(_)));
        }
        assert!(!scenario.objects.is_empty(), "{}", scenario.name);
    }
}

#[test]
fn what_we_decided_is_about_streams_that_exist() {
    let scenarios = all();
    let decided = Decided::ours().expect("decided.yaml is readable");
    for decision in decided.iter() {
        let scenario = scenarios.iter().find(|it| it.name == decision.scenario);
        // A clone may lack scenarios; of those that are there, the streams must be.
        let Some(scenario) = scenario else { continue };
        for instance in Instance::ALL {
            let streams = &scenario.recordings[&instance].streams;
            let stream = streams.get(&decision.stream);
            let stream = stream.unwrap_or_else(|| panic!("{decision:?}: no such stream"));
            let steps: BTreeSet<u32> = stream.log.iter().map(|it| it.after_step).collect();
            assert!(
                decision.steps.iter().all(|it| steps.contains(it)),
                "{decision:?}"
            );
        }
    }
}
