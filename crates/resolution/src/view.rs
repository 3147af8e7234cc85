//! The port through which streams read this replica's state.

use futures::{Stream, future::BoxFuture};
use lockstep_model::Text;
use lockstep_position::ReplicaId;
use lockstep_state::State;
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use crate::{Barrier, Claim, Ending, Topic};

/// What this replica has applied, and when to look at it again.
pub trait View: Send + Sync + 'static {
    /// The newest state that this replica has applied. It never goes back.
    fn newest(&self) -> Arc<State>;

    /// Says when to look again: after any of `topics` changed in a state that
    /// [`newest`](Self::newest) already gives.
    fn subscribe(&self, topics: Vec<Topic>) -> Wakes;

    /// Waits until this replica has applied what was committed when the wait
    /// began, or no leader could be asked in time.
    ///
    /// Dropping the future gives up the wait and nothing else.
    fn barrier(&self) -> BoxFuture<'_, Barrier>;

    /// What this replica can say of its answers at this moment. Ask when bytes are
    /// handed over: a process may have been paused since any earlier answer.
    fn claim(&self) -> Claim;

    /// Resolves when a stream that begins now is to end for this replica's sake;
    /// for each stream at its own time, so that not all of them move at once.
    fn ending(&self) -> BoxFuture<'static, Ending>;

    /// Which replica this is.
    fn about(&self) -> About;
}

/// Which replica answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Its identity in the cluster.
    pub replica: ReplicaId,
    /// Its name for people, such as the pod's.
    pub name: Text,
}

/// The view has ended: the replica stops.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the replica stops")]
pub struct ViewClosed;

/// When to look again, for one stream.
///
/// Level-triggered: however many changes there were since the last wake, or
/// since it was made, they are one wake. None is lost while nobody waits.
pub struct Wakes(Pin<Box<dyn Stream<Item = ()> + Send>>);

impl Wakes {
    /// Makes wakes of a stream that has an item ready if and only if a topic
    /// changed since its last item, and that ends when the view does.
    #[must_use]
    pub fn new(wakes: impl Stream<Item = ()> + Send + 'static) -> Self {
        Self(Box::pin(wakes))
    }

    /// Polls for the next wake; see [`changed`](Self::changed).
    ///
    /// # Errors
    ///
    /// [`ViewClosed`] when the replica stops.
    pub fn poll_changed(&mut self, context: &mut Context<'_>) -> Poll<Result<(), ViewClosed>> {
        let woken = self.0.as_mut().poll_next(context);
        woken.map(|wake| wake.ok_or(ViewClosed))
    }

    /// Waits until a topic has changed.
    ///
    /// # Errors
    ///
    /// [`ViewClosed`] when the replica stops.
    ///
    /// # Cancellation
    ///
    /// A wake that was not returned is not lost.
    pub async fn changed(&mut self) -> Result<(), ViewClosed> {
        std::future::poll_fn(|context| self.poll_changed(context)).await
    }
}

impl std::fmt::Debug for Wakes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Wakes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    #[test]
    fn wakes_are_the_items_and_the_end_is_the_views() {
        let mut context = Context::from_waker(Waker::noop());
        let mut wakes = Wakes::new(futures::stream::iter([()]));
        assert_eq!(wakes.poll_changed(&mut context), Poll::Ready(Ok(())));
        assert_eq!(
            wakes.poll_changed(&mut context),
            Poll::Ready(Err(ViewClosed))
        );
        let mut idle = Wakes::new(futures::stream::pending());
        assert_eq!(idle.poll_changed(&mut context), Poll::Pending);
        assert_eq!(ViewClosed.to_string(), "the replica stops");
    }
}
