//! The signal to end open streams and begin no others.

use futures::{
    FutureExt,
    future::{BoxFuture, FusedFuture, Shared},
};
use std::{
    future::Future,
    task::{Context, Poll, Waker},
};

/// Every stream's own view of the signal.
#[derive(Clone)]
pub(crate) struct Drain(Shared<BoxFuture<'static, ()>>);

impl Drain {
    pub(crate) fn at(signal: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(signal.boxed().shared())
    }

    /// Whether the signal was given; otherwise the task is woken when it is.
    pub(crate) fn poll_begun(&mut self, context: &mut Context<'_>) -> Poll<()> {
        // A shared future must not be polled after it was ready.
        if self.0.is_terminated() {
            return Poll::Ready(());
        }
        self.0.poll_unpin(context)
    }

    /// Whether the signal was given.
    pub(crate) fn has_begun(&self) -> bool {
        let mut own = self.clone();
        own.poll_begun(&mut Context::from_waker(Waker::noop()))
            .is_ready()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signal_reaches_every_clone_and_stays() {
        let (give, signal) = futures::channel::oneshot::channel::<()>();
        let mut first = Drain::at(signal.map(|_| ()));
        let mut second = first.clone();
        assert!(!first.has_begun());
        let mut context = Context::from_waker(Waker::noop());
        assert!(first.poll_begun(&mut context).is_pending());
        let _ = give.send(());
        for _ in 0..2 {
            assert!(first.poll_begun(&mut context).is_ready());
            assert!(second.poll_begun(&mut context).is_ready());
        }
        assert!(second.has_begun());
    }
}
