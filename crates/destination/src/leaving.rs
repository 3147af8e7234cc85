//! When one stream ends for its replica's sake.

use futures::{
    FutureExt,
    future::{BoxFuture, Fuse},
};
use lockstep_resolution::Ending;
use std::task::{Context, Poll};
use tonic::Status;

/// One stream's word from its replica to end.
pub(crate) struct Leaving {
    word: Fuse<BoxFuture<'static, Ending>>,
    told: Option<Ending>,
}

impl Leaving {
    pub(crate) fn when(word: BoxFuture<'static, Ending>) -> Self {
        Self {
            word: word.fuse(),
            told: None,
        }
    }

    /// The status that ends the stream before another message.
    pub(crate) fn poll_at_once(&mut self, context: &mut Context<'_>) -> Option<Status> {
        if let Poll::Ready(ending) = self.word.poll_unpin(context) {
            self.told = Some(ending);
        }
        match self.told? {
            Ending::AtOnce(why) => Some(Status::unavailable(why)),
            Ending::Gentle => None,
        }
    }

    /// The status that ends the stream when it has nothing more to say.
    pub(crate) fn gently(&self) -> Option<Status> {
        match self.told? {
            Ending::AtOnce(_) => None,
            // Not an error: the proxy asks another replica at once.
            Ending::Gentle => Some(Status::ok("")),
        }
    }
}
