//! All verdicts of one history.

use std::{collections::BTreeMap, fmt};

use crate::{CheckerId, Event, History, Limits, Process, Run, Validity, Verdict, What};

/// What all checkers say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// One verdict for each checker that was run.
    pub verdicts: Vec<Verdict>,
}

/// Runs all checkers.
#[must_use]
pub fn judge(history: &History, limits: &Limits) -> Judgement {
    judge_by(history, limits, &CheckerId::ALL)
}

/// Runs some checkers. A history that contradicts itself makes every verdict unknown.
#[must_use]
pub fn judge_by(history: &History, limits: &Limits, checkers: &[CheckerId]) -> Judgement {
    let run = Run::of(history, limits);
    let faults = malformed(history);
    let verdicts = checkers.iter().map(|checker| {
        let mut verdict = checker.check(&run);
        for fault in &faults {
            verdict.doubt(fault.clone());
        }
        verdict
    });
    Judgement {
        verdicts: verdicts.collect(),
    }
}

/// How a history contradicts itself: time goes back, a process does two things at once, or one
/// that was retired returns.
fn malformed(history: &History) -> Vec<String> {
    let mut faults = Vec::new();
    let mut before = 0;
    let mut open: BTreeMap<Process, Option<crate::Operation>> = BTreeMap::new();
    for (place, event) in history.events().iter().enumerate() {
        if event.at < before {
            faults.push(format!("time goes back at event {place}"));
        }
        before = event.at;
        if let Some(fault) = follows(&mut open, event) {
            faults.push(format!("event {place}: {} {fault}", event.process));
        }
    }
    // One is enough to distrust the rest.
    faults.truncate(5);
    faults
}

/// What is wrong with an event after what its process did before; none if nothing is.
fn follows(
    open: &mut BTreeMap<Process, Option<crate::Operation>>,
    event: &Event,
) -> Option<&'static str> {
    /// A process that is retired, or never began.
    const IDLE: Option<crate::Operation> = None;
    let process = event.process;
    match &event.what {
        What::Seen(_) => None,
        What::Invoke(call) => match open.insert(process, Some(call.operation())) {
            None => None,
            Some(None) => Some("was retired and comes again"),
            Some(Some(_)) => Some("begins before it ended"),
        },
        What::Ok(returned) => ends(open.remove(&process), returned.operation()),
        What::Fail(operation, _) => ends(open.remove(&process), *operation),
        What::Unknown(operation, _) => ends(open.insert(process, IDLE), *operation),
    }
}

fn ends(
    open: Option<Option<crate::Operation>>,
    operation: crate::Operation,
) -> Option<&'static str> {
    (open.flatten() != Some(operation)).then_some("ends what it did not begin")
}

// === impl Judgement ===

impl Judgement {
    /// Invalid if one verdict is, else unknown if one is.
    #[must_use]
    pub fn validity(&self) -> Validity {
        let validities = self.verdicts.iter().map(Verdict::validity);
        validities.max().unwrap_or(Validity::Unknown)
    }

    /// 0 if valid, 1 if invalid, 2 if unknown.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self.validity() {
            Validity::Valid => 0,
            Validity::Invalid => 1,
            Validity::Unknown => 2,
        }
    }
}

/// One line for each verdict, with what is wrong below it, and last `N passed, N failed`; an
/// unknown verdict has not passed.
impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for verdict in &self.verdicts {
            write!(f, "{verdict}")?;
        }
        let all = self.verdicts.len();
        let valid = |verdict: &&Verdict| verdict.validity() == Validity::Valid;
        let passed = self.verdicts.iter().filter(valid).count();
        writeln!(f, "{passed} passed, {} failed", all - passed)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let guarantees: Vec<&str> = self
            .checker
            .guarantees()
            .iter()
            .map(|it| it.name())
            .collect();
        let about = match guarantees.as_slice() {
            [] => String::new(),
            names => format!(" ({})", names.join(", ")),
        };
        writeln!(f, "{}{about}: {}", self.checker.name(), self.validity())?;
        for violation in &self.violations {
            writeln!(
                f,
                "  {}: {}",
                violation.guarantee,
                violation.guarantee.sentence()
            )?;
            let lines: Vec<String> = violation
                .evidence
                .iter()
                .map(|at| (at + 1).to_string())
                .collect();
            writeln!(f, "    {} (lines {})", violation.what, lines.join(", "))?;
        }
        let more = self.violated - self.violations.len() as u64;
        if more > 0 {
            writeln!(f, "  and {more} more")?;
        }
        for doubt in &self.doubts {
            writeln!(f, "  unknown: {doubt}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Validity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Valid => "valid",
            Self::Unknown => "unknown",
            Self::Invalid => "invalid",
        })
    }
}
