//! What a stream says, whatever its method: a machine of the resolution, with
//! what it still has to say.

use bytes::Bytes;
use linkerd2_proxy_api::destination::GetDestination;
use lockstep_resolution::{Refusal, State, Topic};
use std::sync::Arc;

use crate::{answers::Answers, metrics::Method};

/// One side of a conversation. It decides nothing and waits for nothing.
pub(crate) trait Speaker: Sized + Send + Unpin + 'static {
    /// The method it speaks for.
    const METHOD: Method;

    /// What it was asked.
    type Asked: Send;

    /// Reads the request; `answers` are what streams share.
    fn ask(
        state: &State,
        request: &GetDestination,
        answers: &Arc<Answers>,
    ) -> Result<Self::Asked, Refusal>;

    /// What an answer to the question depends on. The question may keep what was worked
    /// out for that.
    fn topics_of(state: &State, asked: &mut Self::Asked) -> Vec<Topic>;

    /// Begins to speak, with what is true in `state`.
    fn open(state: &State, asked: Self::Asked) -> Result<Self, Refusal>;

    /// What its answer depends on.
    fn topics(&mut self, state: &State) -> Vec<Topic>;

    /// Looks at a newer state. Call when [`next`](Self::next) has no more.
    fn look(&mut self, state: &State);

    /// Takes the next message, as a frame.
    fn next(&mut self) -> Option<Bytes>;
}
