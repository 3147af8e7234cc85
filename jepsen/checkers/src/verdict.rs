//! What a checker says of a history.

use serde::Serialize;
use std::collections::BTreeMap;

use crate::{CheckerId, Guarantee};

/// The most violations of one checker that are kept; further ones are counted.
const KEPT_MAX: usize = 50;

/// Whether a property holds.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Validity {
    /// It holds.
    Valid,
    /// The history does not show whether it does. Never counts as passed.
    Unknown,
    /// It does not.
    Invalid,
}

/// What one checker says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Which checker.
    pub checker: CheckerId,
    /// Where the property is broken.
    pub violations: Vec<Violation>,
    /// How often it is broken, those counted that are not kept.
    pub violated: u64,
    /// Why the history does not show enough.
    pub doubts: Vec<String>,
    /// What was excused, and by which fault.
    pub exemptions: Vec<Exemption>,
    /// How much was looked at.
    pub counts: BTreeMap<&'static str, u64>,
}

/// One place where a property is broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// The promise that is broken.
    pub guarantee: Guarantee,
    /// What happened.
    pub what: String,
    /// The events that show it, by their place in the history.
    pub evidence: Vec<usize>,
}

/// Something that would be a violation without a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exemption {
    /// What happened.
    pub what: String,
    /// The event.
    pub place: usize,
    /// The fault that excuses it, by its id.
    pub fault: u64,
}

// === impl Verdict ===

impl Verdict {
    /// Nothing found yet.
    #[must_use]
    pub fn of(checker: CheckerId) -> Self {
        Self {
            checker,
            violations: Vec::new(),
            violated: 0,
            doubts: Vec::new(),
            exemptions: Vec::new(),
            counts: BTreeMap::new(),
        }
    }

    /// One violation makes it invalid, else one doubt unknown.
    #[must_use]
    pub fn validity(&self) -> Validity {
        if self.violated > 0 {
            Validity::Invalid
        } else if self.doubts.is_empty() {
            Validity::Valid
        } else {
            Validity::Unknown
        }
    }

    /// Notes a violation.
    pub(crate) fn violate(
        &mut self,
        guarantee: Guarantee,
        what: impl Into<String>,
        evidence: impl IntoIterator<Item = usize>,
    ) {
        self.violated += 1;
        if self.violations.len() < KEPT_MAX {
            let evidence = evidence.into_iter().collect();
            let what = what.into();
            self.violations.push(Violation {
                guarantee,
                what,
                evidence,
            });
        }
    }

    /// Notes why the history does not show enough.
    pub(crate) fn doubt(&mut self, why: impl Into<String>) {
        let why = why.into();
        if self.doubts.len() < KEPT_MAX && !self.doubts.contains(&why) {
            self.doubts.push(why);
        }
    }

    /// Notes what a fault excuses.
    pub(crate) fn excuse(&mut self, what: impl Into<String>, place: usize, fault: u64) {
        if self.exemptions.len() < KEPT_MAX {
            let what = what.into();
            self.exemptions.push(Exemption { what, place, fault });
        }
        self.count("exemptions", 1);
    }

    /// Counts what was looked at.
    pub(crate) fn count(&mut self, what: &'static str, more: u64) {
        *self.counts.entry(what).or_default() += more;
    }
}
