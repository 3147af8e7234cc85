//! ServiceProfiles: what the owner or a client of a service says of its traffic.

mod condition;

use serde::{Deserialize, Serialize};

pub use condition::{CONDITION_DEPTH_MAX, Condition, TooDeep};

use crate::Text;

/// A valid ServiceProfile: both the fact and the record, since nothing is joined to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ServiceProfileRecord {
    /// Its routes; the first one whose condition holds counts.
    pub routes: Vec<Route>,
    /// The budget for retries; `None`: the default one.
    pub retry_budget: Option<RetryBudget>,
    /// Where traffic goes instead of to the service itself.
    pub dst_overrides: Vec<DstOverride>,
}

/// One route.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Route {
    /// Its name, for metrics.
    pub name: Text,
    /// Which requests it is about.
    pub condition: Condition<RequestMatch>,
    /// How responses are counted; the first class whose condition holds counts.
    pub response_classes: Vec<ResponseClass>,
    /// Whether failed requests may be tried again.
    pub is_retryable: bool,
    /// How long a request may take. Unit: nanoseconds, never 0; proxies read a negative
    /// one as none.
    pub timeout_ns: Option<i64>,
}

/// What one request may have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RequestMatch {
    /// This method, in upper case.
    Method(Text),
    /// A path that this regular expression describes, as the object has it.
    PathRegex(Text),
}

/// How some responses are counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ResponseClass {
    /// Which responses.
    pub condition: Condition<StatusRange>,
    /// Whether they count as failures.
    pub is_failure: bool,
}

/// Status codes of HTTP.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StatusRange {
    /// The first one. Range: 100 to 599, or 0 for no bound.
    pub min: u32,
    /// The last one. Range: 100 to 599, or 0 for no bound.
    pub max: u32,
}

/// How much may be retried.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RetryBudget {
    /// Retries per request.
    pub retry_ratio: Ratio,
    /// Retries that are always allowed, per second.
    pub min_retries_per_second: u32,
    /// How long requests count. Unit: nanoseconds, never 0.
    pub ttl_ns: Option<i64>,
}

/// A number with a fraction, compared bit by bit: equal ratios are equal bytes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ratio(u32);

impl Ratio {
    /// Takes a number.
    #[must_use]
    pub const fn new(number: f32) -> Self {
        Self(number.to_bits())
    }

    /// Gives it back.
    #[must_use]
    pub const fn get(self) -> f32 {
        f32::from_bits(self.0)
    }
}

/// One destination of split traffic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DstOverride {
    /// A name, with or without a port: without one, the port asked for is meant.
    pub authority: Text,
    /// Its share, in ten-thousandths of the default share.
    pub weight: u32,
}
