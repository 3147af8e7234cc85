//! What single requests meet, one by one.

use std::time::Duration;

use crate::http::Verb;

/// What one request meets instead of, or before, its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The plural resource name of the request, for example `pods`.
    pub resource: String,
    /// What the request does.
    pub on: FaultOn,
    /// What it is answered.
    pub answer: FaultAnswer,
}

/// The requests that a fault can be meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultOn {
    /// A watch.
    Watch,
    /// A list that continues none: the first page.
    FirstPage,
    /// A list with a continue token: the second page or a later one.
    NextPage,
}

/// What a request meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultAnswer {
    /// The usual answer: for counting requests past that should not fail.
    Served,
    /// This HTTP status code, for example 500.
    Code(u16),
    /// 410, as if history were forgotten: a watch in the form of
    /// [`Behaviour::gone`](crate::Behaviour::gone), a later page with a token for going on.
    Expired,
    /// Nothing, for as long as the client waits.
    Never,
    /// The usual answer, after this time.
    Late(Duration),
    /// The usual answer, to a watch in this manner.
    Told(Manner),
}

/// How a watch tells what it has to tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Manner {
    /// As it should.
    #[default]
    Usual,
    /// Each event twice.
    Doubled,
    /// The first piece to the middle, then the end.
    CutOff,
    /// A line that is no event in place of the first piece, then the end.
    Garbled,
}

// === impl FaultOn ===

impl FaultOn {
    pub(super) fn of(verb: Verb, token: &str) -> Option<Self> {
        match verb {
            Verb::Watch => Some(Self::Watch),
            Verb::List if token.is_empty() => Some(Self::FirstPage),
            Verb::List => Some(Self::NextPage),
            Verb::Get
            | Verb::Post
            | Verb::Put
            | Verb::Patch
            | Verb::Apply
            | Verb::Delete
            | Verb::DeleteCollection => None,
        }
    }
}
