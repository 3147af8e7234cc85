//! The verdicts, for scripts.

use lockstep_jepsen_checkers::{Guarantee, Judgement, Run, Validity, Verdict, Violation};
use serde_json::{Value, json};

use crate::clock::real;
use crate::plot::start;

/// The verdicts as JSON: `verdict` and `exit_code` of the whole, one object for each checker, and
/// how much there was. Lines of evidence count from 1.
#[must_use]
pub fn results(run: &Run<'_>, judgement: &Judgement) -> Value {
    let length = run.end().saturating_sub(start(run));
    let checkers: Vec<Value> = judgement.verdicts.iter().map(checker).collect();
    let valid = |verdict: &&Verdict| verdict.validity() == Validity::Valid;
    let passed = judgement.verdicts.iter().filter(valid).count();
    json!({
        "verdict": judgement.validity(),
        "exit_code": judgement.exit_code(),
        "passed": passed,
        "failed": judgement.verdicts.len() - passed,
        "events": run.history.events().len(),
        "seconds": real(length) / 1e9,
        "streams": run.streams.len(),
        "faults": run.faults.spans().len(),
        "checkers": checkers,
    })
}

fn checker(verdict: &Verdict) -> Value {
    let violations: Vec<Value> = verdict.violations.iter().map(violation).collect();
    let exemptions = verdict
        .exemptions
        .iter()
        .map(|it| json!({"what": it.what, "line": it.place + 1, "fault": it.fault}));
    json!({
        "checker": verdict.checker,
        "verdict": verdict.validity(),
        "guarantees": names(verdict.checker.guarantees()),
        "violated": verdict.violated,
        "violations": violations,
        "doubts": verdict.doubts,
        "exemptions": exemptions.collect::<Vec<Value>>(),
        "counts": verdict.counts,
    })
}

fn violation(violation: &Violation) -> Value {
    let lines: Vec<usize> = violation.evidence.iter().map(|place| place + 1).collect();
    json!({
        "guarantee": violation.guarantee.name(),
        "sentence": violation.guarantee.sentence(),
        "what": violation.what,
        "lines": lines,
    })
}

fn names(guarantees: &[Guarantee]) -> Vec<&'static str> {
    guarantees.iter().map(|it| it.name()).collect()
}
